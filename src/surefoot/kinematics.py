"""The one inverse-kinematics front: weighted targets on any links, limits, pins, all frames at once.

Per frame the pose of least cost is sought,

    Σ |w r|² + w_posture² Σ (q_j − posture_j)²,

with r the distance of a point, the chord of a direction or the rotation vector of an orientation,
inside the position limits (and, when asked, the speed limits) of the joints. Pins are met exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, door, locked
from surefoot.dynamics.tree import read_tree
from surefoot.errors import BadMotion, BadOption, Notice, UnknownName, nearest
from surefoot.kernels import tasks as kinds
from surefoot.kernels.reach import Problem, reach
from surefoot.kernels.tasks import SHORTEST_M, Tasks
from surefoot.kernels.tree import Tree
from surefoot.motion.motion import checked, checked_time, checked_unit_quat
from surefoot.robots.robot import Robot

PIN_RATIO = 1e3  # a pin's weight over the largest other: a pull of 1 m moves it by 1 µm
PIN_MISSED_M = 1e-4  # a pin farther off is said: 0.1 mm is what a reachable pin is promised

Weight = float | Float64[Array, "..."]


@dataclass(frozen=True, slots=True)
class PointTarget:
    """A point of a link that should be somewhere."""

    link: str
    point_l: Float64[Array, " 3"]
    """Which point, in the link's frame, m."""
    position_w: Float64[Array, "n 3"]
    """Where it should be, m."""
    weight: Weight = 1.0
    """1/m, the same for all frames or per frame (n); 0 switches the target off."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no target."""
        where = _place("point target", self.link)
        _lock(self, "point_l", checked("point_l", self.point_l, (3,), where=where))
        _lock(self, "position_w", _finite("position_w", self.position_w, 3, where=where))
        _lock(self, "weight", _checked_weight(self.weight, len(self.position_w), 1, where=where))


@dataclass(frozen=True, slots=True)
class DirectionTarget:
    """A line from one link's point to another's that should point somewhere."""

    link_a: str
    point_a_l: Float64[Array, " 3"]
    """Where the line begins, in the frame of link_a, m."""
    link_b: str
    point_b_l: Float64[Array, " 3"]
    """Where it ends, in the frame of link_b, m."""
    direction_w: Float64[Array, "n 3"]
    """Where it should point; brought to unit length here."""
    weight: Weight = 1.0
    """Over the chord between unit vectors, the same for all frames or per frame (n)."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no direction."""
        where = _place("direction target", f"{self.link_a}' to '{self.link_b}")
        _lock(self, "point_a_l", checked("point_a_l", self.point_a_l, (3,), where=where))
        _lock(self, "point_b_l", checked("point_b_l", self.point_b_l, (3,), where=where))
        direction = _finite("direction_w", self.direction_w, 3, where=where)
        length = np.linalg.norm(direction, axis=1, keepdims=True)
        if np.any(length < SHORTEST_M):
            i = int(np.argmin(length[:, 0]))
            raise BadMotion(
                what=f"direction_w has no length in frame {i}",
                where=where,
                todo="Give any other vector and weight 0 there",
            )
        _lock(self, "direction_w", locked(direction / length))
        _lock(self, "weight", _checked_weight(self.weight, len(direction), 1, where=where))
        apart = np.linalg.norm(self.point_b_l - self.point_a_l)
        if self.link_a == self.link_b and apart < SHORTEST_M:
            raise BadMotion(what="a direction from a point to itself", where=where)


@dataclass(frozen=True, slots=True)
class OrientationTarget:
    """A link that should be turned somehow."""

    link: str
    quat_wl: Float64[Array, "n 4"]
    """How it should be turned (w, x, y, z)."""
    weight: Weight = 1.0
    """1/rad: one for all, per axis of the link (3), per frame (n, 1), or both (n, 3)."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no orientation."""
        where = _place("orientation target", self.link)
        quat = _finite("quat_wl", self.quat_wl, 4, where=where)
        _lock(self, "quat_wl", checked_unit_quat("quat_wl", quat, (-1, 4), where=where))
        _lock(self, "weight", _checked_weight(self.weight, len(quat), 3, where=where))


Target = PointTarget | DirectionTarget | OrientationTarget


@dataclass(frozen=True, slots=True)
class Pin:
    """A point of a link that must be somewhere, whatever the targets want."""

    link: str
    point_l: Float64[Array, " 3"]
    """Which point, in the link's frame, m."""
    position_w: Float64[Array, "n 3"]
    """Where it is held, m; of no effect in frames that are not active."""
    active: Bool[BoolArray, " n"]
    """In which frames."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no pin."""
        where = _place("pin", self.link)
        _lock(self, "point_l", checked("point_l", self.point_l, (3,), where=where))
        _lock(self, "position_w", _finite("position_w", self.position_w, 3, where=where))
        active = np.array(self.active, dtype=np.bool_)
        if active.shape != (len(self.position_w),):
            raise BadMotion(
                what=f"expected active ({len(self.position_w)},), got {active.shape}", where=where
            )
        active.flags.writeable = False
        _lock(self, "active", active)


@dataclass(frozen=True, slots=True)
class Options:
    """How to solve."""

    iterations: int = 50
    """At most so many steps a frame; 3 to 5 are usual from a near start."""
    tolerance: float = 1e-6
    """A frame has converged when a step moves no coordinate by more, rad or m."""
    damping: float = 1e-6
    """Added to the normal matrix: keeps a step finite where nothing is asked of a coordinate."""
    step_cap: float = 0.7
    """Largest turn of one step, rad."""
    posture_weight: float = 0.03
    """1/rad (1/m for a slide): pull of every joint towards the posture."""
    posture_qpos: Float64[Array, " nq"] | None = None
    """The posture, in the engine's order; None: the robot's home pose."""
    start: Literal["warm", "fixed"] = "warm"
    """`warm`: from the frame before. `fixed`: every frame from its own start, independently."""
    limit_speed: bool = False
    """Keep each joint's change from frame to frame within its speed; needs `warm`."""
    joint_range: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Narrower limits by joint name, rad or m; they never widen the robot's own."""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if self.iterations < 1:
            raise BadOption(what=f"expected iterations of at least 1, got {self.iterations}")
        for name in ("tolerance", "damping", "step_cap"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise BadOption(what=f"expected {name} above 0, got {value}")
        if not (np.isfinite(self.posture_weight) and self.posture_weight >= 0.0):
            raise BadOption(what=f"expected posture_weight of at least 0, got {self.posture_weight}")
        if self.start not in ("warm", "fixed"):
            raise BadOption(what=f"expected start 'warm' or 'fixed', got '{self.start}'")
        if self.limit_speed and self.start == "fixed":
            raise BadOption(
                what="limit_speed ties each frame to the one before, start='fixed' keeps them apart",
                todo="Use start='warm'",
            )
        if self.posture_qpos is not None:
            _lock(self, "posture_qpos", locked(self.posture_qpos))


@dataclass(frozen=True, slots=True)
class Solution:
    """Poses, and how well they do what was asked."""

    qpos: Float64[Array, "n nq"]
    iterations: Int64[IntArray, " n"]
    """Steps tried, refused ones included."""
    converged: Bool[BoolArray, " n"]
    residual: Float64[Array, " n"]
    """√(Σ |w r|²) over the targets, without posture and pins."""
    pin_error_m: Float64[Array, " n"]
    """Largest distance of an active pin from its point, m; 0 where none is active."""
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("qpos", "residual", "pin_error_m"):
            _lock(self, name, locked(getattr(self, name)))
        self.iterations.flags.writeable = False
        self.converged.flags.writeable = False


def solve(
    robot: Robot,
    targets: Sequence[Target],
    *,
    time: Float64[Array, " n"],
    start_qpos: Float64[Array, "*n nq"],
    pins: Sequence[Pin] = (),
    options: Options | None = None,
) -> Solution:
    """Poses of least cost, frame after frame, inside the limits and with the pins on their points.

    Damped Gauss-Newton with refused steps (Levenberg) and an active set for the limits. Frames
    that did not converge, and pins out of reach, are said in `notices`.

    Args:
        time: s, strictly increasing, not necessarily even; used by the speed limits.
        start_qpos: one pose for all frames, or one a frame; warm, only the first frame uses it.

    Raises:
        UnknownName: a link or joint that the robot does not have.
        BadMotion: shapes that do not fit, or values that are not finite.
        BadOption: joint_range that leaves a joint no room, or a posture that does not fit.
    """
    options = options or Options()
    time = checked_time(time, where="inverse kinematics")
    n = len(time)
    asked = [*targets, *pins]
    for item in asked:
        _check_frames(item, n)
    start = _start(robot, start_qpos, n)
    problem = _problem(robot, targets, pins, options)
    qpos = np.empty((n, robot.nq))
    iterations, converged = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    residual, missed = np.empty(n), np.empty(n)
    reach(
        problem,
        door(time),
        door(start),
        door(_goals(asked, n)),
        door(_weights(asked, n, problem.pin_weight)),
        qpos,
        iterations,
        converged,
        residual,
        missed,
    )
    notices = _notices(time, options, converged, missed)
    return Solution(qpos, iterations, converged, residual, missed, notices)


def warm_up(robot: Robot) -> None:
    """Compile the kernel, or load it from the cache, on one frame."""
    held = PointTarget(robot.root_link, np.zeros(3), np.zeros((1, 3)))
    solve(robot, (held,), time=np.zeros(1), start_qpos=robot.home, options=Options(iterations=1))


def _place(kind: str, link: str) -> str:
    return f"{kind} on '{link}'"


def _lock(value: object, name: str, array: object) -> None:
    object.__setattr__(value, name, array)


def _finite(name: str, values: object, width: int, *, where: str) -> Array:
    """A locked (n, width) array; a value that is not finite is refused with its frame.

    Raises:
        BadMotion: another shape, or a value that is not finite.
    """
    array = locked(values)  # type: ignore[arg-type]  # whatever numpy takes
    if array.ndim != 2 or array.shape[1] != width:
        raise BadMotion(what=f"expected {name} ('n', {width}), got {array.shape}", where=where)
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        i = int(np.argmax(bad))
        raise BadMotion(
            what=f"{name} is not finite in frame {i}",
            where=where,
            todo="Fill the gap, and give the target weight 0 there",
        )
    return array


def _checked_weight(weight: object, n: int, axes: int, *, where: str) -> float | Array:
    """The weight as a float or a locked array that broadcasts to (n, axes).

    Raises:
        BadMotion: a shape that says neither frame nor axis, or a value that is no weight.
    """
    array = locked(weight)  # type: ignore[arg-type]  # whatever numpy takes
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise BadMotion(what="expected weights that are finite and not negative", where=where)
    if array.ndim == 0:
        return float(array)
    allowed = [(n,)] if axes == 1 else [(3,), (n, 1), (n, 3)]
    if array.shape not in allowed:
        said = ", ".join(str(shape) for shape in allowed)
        raise BadMotion(what=f"expected a weight of shape (), {said}, got {array.shape}", where=where)
    return array


def _goal(item: Target | Pin) -> Array:
    if isinstance(item, DirectionTarget):
        return item.direction_w
    return item.quat_wl if isinstance(item, OrientationTarget) else item.position_w


def _label(item: Target | Pin) -> str:
    if isinstance(item, DirectionTarget):
        return _place("direction target", f"{item.link_a}' to '{item.link_b}")
    kind = {PointTarget: "point target", OrientationTarget: "orientation target", Pin: "pin"}
    return _place(kind[type(item)], item.link)


def _check_frames(item: Target | Pin, n: int) -> None:
    """Refuse a target of another number of frames.

    Raises:
        BadMotion: the numbers differ.
    """
    found = len(_goal(item))
    if found != n:
        raise BadMotion(what=f"expected {n} frames, as time has, got {found}", where=_label(item))


def _start(robot: Robot, start_qpos: Array, n: int) -> Array:
    """Start poses (1 or n, nq).

    Raises:
        BadMotion: another shape, or values that are not finite.
    """
    start = np.atleast_2d(start_qpos)
    if start.shape not in ((1, robot.nq), (n, robot.nq)) or np.ndim(start_qpos) > 2:
        raise BadMotion(
            what=f"expected start_qpos ({robot.nq},) or ({n}, {robot.nq}), got {np.shape(start_qpos)}",
            where="inverse kinematics",
        )
    return _finite("start_qpos", start, robot.nq, where="inverse kinematics")


def _goals(asked: Sequence[Target | Pin], n: int) -> Array:
    """Goals of all tasks and frames (n, t, 4); three numbers are followed by a 0."""
    goals = np.zeros((n, len(asked), 4))
    for t, item in enumerate(asked):
        goal = _goal(item)
        goals[:, t, : goal.shape[1]] = goal
    return goals


def _weights(asked: Sequence[Target | Pin], n: int, pin_weight: float) -> Array:
    """Weights of all tasks (1 or n, t, 3): one row where none changes over the frames."""
    columns = []
    for item in asked:
        if isinstance(item, Pin):
            columns.append(pin_weight * item.active[:, None])
        else:
            weight = np.asarray(item.weight)
            per_frame = weight.ndim == 1 and not isinstance(item, OrientationTarget)
            columns.append(weight[:, None] if per_frame else np.atleast_2d(weight))
    rows = n if any(len(column) > 1 for column in columns) else 1
    weights = np.zeros((rows, len(asked), 3))
    for t, column in enumerate(columns):
        weights[:, t, :] = column
    return weights


def _problem(
    robot: Robot, targets: Sequence[Target], pins: Sequence[Pin], options: Options
) -> Problem:
    """What the kernel is given besides goals and weights."""
    tree = read_tree(robot.model)
    strongest = max([1.0, options.posture_weight, *(float(np.max(t.weight)) for t in targets)])
    return Problem(
        tree=tree,
        tasks=_tasks(robot, tree, [*targets, *pins]),
        soft=len(targets),
        pin_weight=PIN_RATIO * strongest,
        limits=door(_limits(robot, options)),
        posture=door(_posture(robot, options)),
        iterations=int(options.iterations),
        tolerance=float(options.tolerance),
        damping=float(options.damping),
        step_cap=float(options.step_cap),
        warm=options.start == "warm",
    )


def _limits(robot: Robot, options: Options) -> Array:
    """Lowest and highest position and largest speed of each degree of freedom (nv, 3).

    Raises:
        UnknownName: joint_range names a joint that is not there.
        BadOption: joint_range leaves a joint no room.
    """
    low, high = np.array(robot.joint_min), np.array(robot.joint_max)
    for name, (narrow_low, narrow_high) in options.joint_range.items():
        if name not in robot.joint_names:
            raise UnknownName(
                what=f"joint '{name}' is not in robot '{robot.name}'",
                where="joint_range",
                todo=nearest(name, robot.joint_names),
            )
        j = robot.joint_names.index(name)
        low_j, high_j = max(low[j], narrow_low), min(high[j], narrow_high)
        if not low_j <= high_j:
            raise BadOption(
                what=f"joint '{name}' has no room: {narrow_low:g} to {narrow_high:g} asked, "
                f"{low[j]:g} to {high[j]:g} in robot '{robot.name}'",
                where="joint_range",
            )
        low[j], high[j] = low_j, high_j
    limits = np.tile([-np.inf, np.inf, np.inf], (robot.nv, 1))
    dofs = robot.joint_dofadr
    limits[dofs, 0], limits[dofs, 1] = low, high
    if options.limit_speed:
        limits[dofs, 2] = robot.joint_speed
    return limits


def _posture(robot: Robot, options: Options) -> Array:
    """Reference position and weight of each degree of freedom (nv, 2); the root's weight is 0.

    Raises:
        BadOption: posture_qpos of another shape, or not finite.
    """
    reference = robot.home if options.posture_qpos is None else options.posture_qpos
    if reference.shape != (robot.nq,) or not np.all(np.isfinite(reference)):
        raise BadOption(what=f"expected posture_qpos ({robot.nq},), finite, got {reference.shape}")
    posture = np.zeros((robot.nv, 2))
    posture[robot.joint_dofadr, 0] = reference[robot.joint_qposadr]
    posture[robot.joint_dofadr, 1] = options.posture_weight
    return posture


def _chain(tree: Tree, link: int) -> set[int]:
    """Degrees of freedom that move a link."""
    while link > 0 and tree.link_dofs[link] == 0:
        link = int(tree.link_parent[link])
    dof = int(tree.link_dof[link] + tree.link_dofs[link] - 1) if link > 0 else -1
    chain = set()
    while dof >= 0:
        chain.add(dof)
        dof = int(tree.dof_parent[dof])
    return chain


def _moving(tree: Tree, item: Target | Pin, end: set[int], start: set[int]) -> list[int]:
    """Degrees of freedom that change a task: no slide turns a link or a line that it carries."""
    if isinstance(item, OrientationTarget):
        return sorted(d for d in end if tree.dof_turns[d])
    return sorted(d for d in end | start if tree.dof_turns[d] or not (d in end and d in start))


def _tasks(robot: Robot, tree: Tree, asked: Sequence[Target | Pin]) -> Tasks:
    """Targets and pins as the kernel reads them."""
    kind, link, from_link = [], [], []
    point, from_point = np.zeros((len(asked), 3)), np.zeros((len(asked), 3))
    starts, dofs, end_share, from_share = [0], [], [], []
    for t, item in enumerate(asked):
        end, start = set[int](), set[int]()
        from_link.append(0)
        if isinstance(item, DirectionTarget):
            kind.append(kinds.DIRECTION)
            link.append(robot.link_id(item.link_b))
            from_link[t] = robot.link_id(item.link_a)
            point[t], from_point[t] = item.point_b_l, item.point_a_l
            start = _chain(tree, from_link[t])
        else:
            turned = isinstance(item, OrientationTarget)
            kind.append(kinds.ORIENTATION if turned else kinds.POINT)
            link.append(robot.link_id(item.link))
            if not isinstance(item, OrientationTarget):
                point[t] = item.point_l
        end = _chain(tree, link[t])
        for d in _moving(tree, item, end, start):
            dofs.append(d)
            end_share.append(float(d in end))
            from_share.append(float(d in start))
        starts.append(len(dofs))
    return Tasks(
        kind=_whole(kind),
        link=_whole(link),
        point=door(point),
        from_link=_whole(from_link),
        from_point=door(from_point),
        chain_start=_whole(starts),
        chain_dof=_whole(dofs),
        chain_end_share=door(end_share),
        chain_from_share=door(from_share),
    )


def _whole(values: Sequence[int]) -> IntArray:
    array = np.array(values, dtype=np.int64)
    array.flags.writeable = False
    return array


def _notices(
    time: Array, options: Options, converged: BoolArray, missed: Array
) -> tuple[Notice, ...]:
    """What the caller should know: frames that did not converge, pins that were missed."""
    notices = []
    n = len(time)
    if not converged.all():
        first, last = np.flatnonzero(~converged)[[0, -1]]
        notices.append(
            Notice(
                kind="unconverged",
                part="inverse kinematics",
                sentence=f"{n - int(converged.sum())} of {n} frames did not converge in "
                f"{options.iterations} iterations",
                t0=float(time[first]),
                t1=float(time[last]),
                value=float(n - converged.sum()),
            )
        )
    if np.any(missed > PIN_MISSED_M):
        off = np.flatnonzero(missed > PIN_MISSED_M)
        worst = int(np.argmax(missed))
        notices.append(
            Notice(
                kind="pin",
                part="inverse kinematics",
                sentence=f"a pin is missed by up to {1e3 * missed[worst]:.2g} mm, most at "
                f"{time[worst]:.3f} s: out of reach in {len(off)} of {n} frames",
                t0=float(time[off[0]]),
                t1=float(time[off[-1]]),
                value=float(missed[worst]),
                limit=PIN_MISSED_M,
            )
        )
    return tuple(notices)
