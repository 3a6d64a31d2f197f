"""A human clip made into a robot clip: the plain method, by limb directions and without pins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.contacts.detect import detect
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, BadOption, BadRobot, Notice
from surefoot.kinematics import (
    DirectionTarget,
    OrientationTarget,
    PointTarget,
    Solution,
    solve,
)
from surefoot.kinematics import Options as SolverOptions
from surefoot.motion import rotation
from surefoot.motion.contact import Terrain
from surefoot.motion.curves import even_times, resample
from surefoot.motion.human import HumanClip
from surefoot.motion.motion import Clip, Meta, Motion
from surefoot.motion.smoothing import smooth
from surefoot.retargeting.anatomy import LEGS, Anatomy, anatomy
from surefoot.retargeting.ground import on_ground, scaled
from surefoot.robots.robot import Robot

Progress = Callable[[int, int, str], None]

LIMBS = tuple(
    (f"{side}_{upper}", f"{side}_{lower}")
    for upper, lower in (
        ("hip", "knee"),
        ("knee", "ankle"),
        ("shoulder", "elbow"),
        ("elbow", "wrist"),
    )
    for side in ("left", "right")
)
# Weights of the comparison on eight CMU clips with G1: feet at 0.5 cost the legs 1.3°, at 2 they
# cost 2.5°; trunk above 2 costs the arms.
DIRECTION_WEIGHT = 1.0
FOOT_WEIGHT = 0.5
TOE_WEIGHT = 0.2
TRUNK_WEIGHT = 0.7
PLACE_WEIGHT_PER_M = 3.0
HIP_MIDDLE_RAD = (
    1.4  # beyond, the two Euler branches of a three-axis hip meet and the solution flips
)
SPEED_WEIGHT_S = 0.010  # of the same comparison: 2 ms leave jumps, 10 ms leave none
NEARLY = 1.001  # costs this near are equal: rounding must not choose between two ways
# Usual for the movements of people (Winter). Unsmoothed, the accelerations of recorded markers put
# the ZMP of standing people hundreds of metres away: docs/retargeting.md.
SMOOTH_HZ = 6.0
SHORTEST_LIMB_M = 0.02  # shorter ones tell no direction
HIGHEST_RATE_HZ = 1000.0  # beyond, interpolation adds rows and no motion


@dataclass(frozen=True, slots=True)
class Options:
    """How a person becomes a robot."""

    scale: float | None = None
    """Robot's path over the person's; None: leg length over leg length at rest."""
    rate_hz: float | None = None
    """Frames a second of the clip; None: those of the human clip."""
    smooth_hz: float | None = SMOOTH_HZ
    """Cut-off of the low pass without phase; None: no smoothing."""

    def __post_init__(self) -> None:
        """Refuse what is no size, no rate and no cut-off."""
        for name in ("scale", "rate_hz", "smooth_hz"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < np.inf:
                raise BadOption(what=f"{name} must be positive, got {value}")
        if self.rate_hz is not None and self.rate_hz > HIGHEST_RATE_HZ:
            raise BadOption(
                what=f"rate_hz must be at most {HIGHEST_RATE_HZ:g} frames a second,"
                f" got {self.rate_hz:g}"
            )


def retarget(
    human: HumanClip,
    robot: Robot,
    *,
    terrain: Terrain | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Clip:
    """The robot clip in which every limb points where the person's limb points.

    Directions of the limbs, orientations of pelvis, chest and feet, and the scaled path of the hips
    are matched by least squares at every frame, from the frame before and within the speeds of the
    joints; the whole clip is then set on the ground by one constant height, smoothed, and contacts
    are detected. Feet are not pinned.

    Args:
        terrain: the ground of the person, in the human clip's world; the clip has it scaled as its
            path is. None: a level floor.

    Example:
        >>> import surefoot as sf
        >>> from surefoot.samples.bundled import load
        >>> clip = sf.retarget(load("sidestep"), sf.load_robot("human25"))
        >>> clip.robot
        'human25'

    Raises:
        UnknownSkeleton: hips, knees or ankles of the person are not known.
        BadRobot: hips, knees or ankles of the robot are not known, or it has no soles.
        BadMotion: fewer than two frames besides a T-pose; a terrain that nobody is above.
    """
    options = options or Options()
    say = progress or (lambda done, total, text: None)
    _require_landmarks(robot)
    say(0, 3, "reading the person")
    person = anatomy(human)
    if len(person.time) < 2:
        raise BadMotion(
            what="retargeting needs at least 2 frames besides a T-pose",
            where=human.source or "human clip",
            todo="give a longer clip",
        )
    scale = options.scale or _leg_length(robot) / person.leg_m
    ground = Terrain() if terrain is None else scaled(terrain, scale)
    say(1, 3, "solving the poses")
    solution = _best_way(person, robot, scale)
    motion = robot.motion(solution.qpos, person.time)
    say(2, 3, "finding the contacts")
    motion = on_ground(motion, robot, ground)
    motion, changes = _smoothed(motion, robot, ground, options.smooth_hz)
    error_deg = float(np.degrees(np.mean(limb_errors(motion, robot, person))))
    if options.rate_hz is not None:
        times = even_times(float(motion.time[0]), float(motion.time[-1]), options.rate_hz)
        motion = resample(motion, times)
    clip = Clip(
        motion=motion,
        contacts=detect(motion, robot, terrain=ground),
        robot=robot.name,
        terrain=ground,
        meta=Meta(source=human.source).then(
            "retarget",
            method="plain",
            scale=float(scale),
            smooth_hz=options.smooth_hz,
            limb_error_deg=error_deg,
        ),
        notices=(*human.notices, *person.notices, *_unsolved(solution, person.time), *changes),
    )
    say(3, 3, "retargeted")
    return clip


def _unsolved(solution: Solution, time: Float64[Array, " n"]) -> tuple[Notice, ...]:
    """Frames that did not converge; the solver's own notice may have its times backwards."""
    late = np.flatnonzero(~solution.converged)
    if not len(late):
        return ()
    sentence = f"{len(late)} of {len(time)} frames did not settle within the iterations"
    span = float(time[late[0]]), float(time[late[-1]])
    return (Notice("limit", "solver", sentence, *span, value=float(len(late)), limit=0.0),)


def limb_errors(motion: Motion, robot: Robot, person: Anatomy) -> Float64[Array, "n l"]:
    """Angle between each limb of the robot and of the person at the person's frames, rad."""
    batch = Batch(robot, robot.qpos(motion))
    columns = []
    for upper, lower in _limbs(robot, person):
        a, b = robot.landmarks[upper], robot.landmarks[lower]
        along = batch.points_w(b.link, b.point_l[None])[:, 0]
        along = along - batch.points_w(a.link, a.point_l[None])[:, 0]
        wanted = person.points_w[lower] - person.points_w[upper]
        sine = np.linalg.norm(np.cross(along, wanted), axis=1)
        columns.append(np.arctan2(sine, np.sum(along * wanted, axis=1)))
    return np.stack(columns, axis=1)


def _limbs(robot: Robot, person: Anatomy) -> list[tuple[str, str]]:
    """The limbs that both have, of some length in every frame."""
    known = robot.landmarks.keys() & person.points_w.keys()
    return [
        (upper, lower)
        for upper, lower in LIMBS
        if known.issuperset((upper, lower))
        and np.linalg.norm(person.points_w[lower] - person.points_w[upper], axis=1).min()
        > SHORTEST_LIMB_M
    ]


def _require_landmarks(robot: Robot) -> None:
    missing = [part for part in ("pelvis", *LEGS) if part not in robot.landmarks]
    if missing:
        raise BadRobot(
            what=f"nobody says which link is {', '.join(missing)}",
            where=f"robot '{robot.name}'",
            todo="name them under [landmarks] in its profile (docs/robots.md)",
        )


def _rest_batch(robot: Robot) -> Batch:
    """The robot with all joints at zero and the root level, facing +x."""
    zero = Motion(
        time=np.zeros(1),
        root_pos=np.zeros((1, 3)),
        root_quat=np.array([[1.0, 0.0, 0.0, 0.0]]),
        joint_names=robot.joint_names,
        joint_pos=np.zeros((1, len(robot.joint_names))),
    )
    return Batch(robot, robot.qpos(zero))


def _point_w(rest: Batch, robot: Robot, part: str) -> Float64[Array, " 3"]:
    mark = robot.landmarks[part]
    point_w: Array = rest.points_w(mark.link, mark.point_l[None])[0, 0]
    return point_w


def _leg_length(robot: Robot) -> float:
    """Hip to knee to ankle, mean of both sides, m."""
    rest = _rest_batch(robot)
    pairs = [
        (f"{s}_{a}", f"{s}_{b}")
        for s in ("left", "right")
        for a, b in (("hip", "knee"), ("knee", "ankle"))
    ]
    lengths = [
        np.linalg.norm(_point_w(rest, robot, a) - _point_w(rest, robot, b)) for a, b in pairs
    ]
    return float(np.sum(lengths) / 2.0)


def _best_way(person: Anatomy, robot: Robot, scale: float) -> Solution:
    """The poses solved from the first frame on, or from the last one back where that fits better.

    Whoever begins in a wrong branch of the joints stays in it for long: with G1 the limbs of
    140_08, who begins on his back, are off by 1.3° forwards and by 0.8° backwards.
    """
    forth = _solve(person, robot, scale)
    found = _solve(person.backwards(), robot, scale)
    back = replace(
        found,
        qpos=found.qpos[::-1],
        iterations=found.iterations[::-1],
        converged=found.converged[::-1],
        residual=found.residual[::-1],
        pin_error_m=found.pin_error_m[::-1],
    )
    costs = [_cost(way, person, robot) for way in (forth, back)]
    return forth if costs[0] <= NEARLY * costs[1] else back


def _cost(way: Solution, person: Anatomy, robot: Robot) -> float:
    """Mean squares of what the targets miss and of the joints' speeds."""
    joint_pos = robot.motion(way.qpos, person.time).joint_pos
    speed = np.diff(joint_pos, axis=0) / np.diff(person.time)[:, None]
    swift = np.mean(np.sum((SPEED_WEIGHT_S * speed) ** 2, axis=1))
    return float(np.mean(way.residual**2) + swift)


def _solve(person: Anatomy, robot: Robot, scale: float) -> Solution:
    rest = _rest_batch(robot)
    hips = scale * (person.points_w["left_hip"] + person.points_w["right_hip"]) / 2.0
    targets: list[PointTarget | DirectionTarget | OrientationTarget] = []
    for upper, lower in _limbs(robot, person):
        a, b = robot.landmarks[upper], robot.landmarks[lower]
        along = person.points_w[lower] - person.points_w[upper]
        along = along / np.linalg.norm(along, axis=1, keepdims=True)
        targets.append(
            DirectionTarget(a.link, a.point_l, b.link, b.point_l, along, DIRECTION_WEIGHT)
        )
    weights = {"pelvis": TRUNK_WEIGHT, "chest": TRUNK_WEIGHT}
    for side in ("left", "right"):
        weights[f"{side}_ankle"] = FOOT_WEIGHT
        toe, ankle = robot.landmarks.get(f"{side}_toe"), robot.landmarks[f"{side}_ankle"]
        if toe is not None and toe.link != ankle.link:
            weights[f"{side}_toe"] = TOE_WEIGHT
    for part, weight in weights.items():
        if part in person.frames_wp and part in robot.landmarks:
            link = robot.landmarks[part].link
            rest_wl = rest.link_quat_w[:1, robot.link_id(link)]
            wanted = rotation.multiply(person.frames_wp[part], rest_wl)
            targets.append(OrientationTarget(link, wanted, weight))
    pelvis = robot.landmarks["pelvis"].link
    k = robot.link_id(pelvis)
    middle_w = (_point_w(rest, robot, "left_hip") + _point_w(rest, robot, "right_hip")) / 2.0
    middle_l = rest.link_rot_wl[0, k].T @ (middle_w - rest.link_pos_w[0, k])
    targets.append(PointTarget(pelvis, middle_l, hips, PLACE_WEIGHT_PER_M))
    return solve(
        robot,
        targets,
        time=person.time,
        start_qpos=_start(person, robot, hips[:1] - middle_w),
        # Frames solved apart flip where two branches of the joints meet: 2.8 rad within 8 ms in
        # the shoulder of 49_19, 4.2 rad in the hip of 22_14.
        options=SolverOptions(limit_speed=True, joint_range=_hip_ranges(robot)),
    )


def _start(
    person: Anatomy, robot: Robot, root_pos: Float64[Array, "1 3"]
) -> Float64[Array, "1 nq"]:
    """Home joints with the root where the person's pelvis begins, heading its way."""
    forward = rotation.rotate(person.frames_wp["pelvis"][:1], np.array([1.0, 0.0, 0.0]))
    yaw = np.arctan2(forward[:, 1], forward[:, 0])
    home = robot.motion(robot.home[None], np.zeros(1))
    return robot.qpos(
        replace(home, root_pos=root_pos, root_quat=rotation.from_euler("z", yaw[:, None]))
    )


def _hip_ranges(robot: Robot) -> dict[str, tuple[float, float]]:
    """A narrower range for the middle axis of each three-axis hip."""
    model, ranges = robot.model, {}
    joint_of = {
        int(body): name for body, name in zip(_joint_bodies(robot), robot.joint_names, strict=True)
    }
    for side in ("left", "right"):
        body = int(model.body_parentid[robot.link_id(robot.landmarks[f"{side}_knee"].link)])
        stop = robot.link_id(robot.landmarks["pelvis"].link)
        chain: list[str] = []
        while body not in (0, stop):
            if body in joint_of:
                chain.append(joint_of[body])
            body = int(model.body_parentid[body])
        if len(chain) == 3:
            j = robot.joint_names.index(chain[1])
            low, high = float(robot.joint_min[j]), float(robot.joint_max[j])
            ranges[chain[1]] = (max(low, -HIP_MIDDLE_RAD), min(high, HIP_MIDDLE_RAD))
    return ranges


def _joint_bodies(robot: Robot) -> Array:
    """MuJoCo body of each joint of `joint_names`."""
    return np.asarray(robot.model.dof_bodyid[robot.joint_dofadr])


def _smoothed(
    motion: Motion, robot: Robot, ground: Terrain, cutoff_hz: float | None
) -> tuple[Motion, tuple[Notice, ...]]:
    """The motion without its quick parts, joints inside their limits, and what that changed."""
    if cutoff_hz is None:
        return motion, ()
    found, notices = smooth(motion, cutoff_hz, detect(motion, robot, terrain=ground))
    order = [robot.joint_names.index(name) for name in found.joint_names]
    joint_pos = np.clip(found.joint_pos, robot.joint_min[order], robot.joint_max[order])
    return replace(found, joint_pos=joint_pos), notices
