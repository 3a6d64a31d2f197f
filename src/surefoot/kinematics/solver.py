"""Poses that do what is asked of them, and how well.

Per frame the pose of least cost is sought,

    Σ |w r|² + w_posture² Σ (q_j − posture_j)²,

with r the distance of a point, the chord of a direction or the rotation vector of an orientation,
inside the position limits (and, when asked, the speed limits) of the joints. Pins are met exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, door, locked
from surefoot.dynamics.tree import read_tree
from surefoot.errors import BadMotion, Notice
from surefoot.kernels.reach import reach, scratch
from surefoot.kinematics.options import Options
from surefoot.kinematics.problem import (
    course_of,
    goals_of,
    joints_of,
    strongest,
    tasks_of,
    weights_of,
)
from surefoot.kinematics.targets import Pin, PointTarget, Target, check_frames, finite
from surefoot.motion.motion import checked_time
from surefoot.robots.robot import Robot

PIN_RATIO = 1e4  # a pin's weight over the largest other: what it gives way is 1e-8 of the pull
PIN_MISSED_M = 1e-4  # a pin farther off is said: 0.1 mm is what a reachable pin is promised


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
            object.__setattr__(self, name, locked(getattr(self, name)))
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
        check_frames(item, n)
    start = _start(robot, start_qpos, n)
    tree = read_tree(robot.model)
    qpos = np.empty((n, robot.nq))
    iterations, converged = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    residual, missed = np.empty(n), np.empty(n)
    pose, room = scratch(len(tree.link_parent), robot.nv, robot.nq)
    reach(
        tree,
        tasks_of(robot, tree, targets),
        tasks_of(robot, tree, pins),
        joints_of(robot, options),
        course_of(options),
        door(time),
        door(start),
        door(goals_of(targets, n)),
        door(weights_of(targets, n)),
        door(goals_of(pins, n)),
        door(weights_of(pins, n, PIN_RATIO * strongest(targets, options))),
        pose,
        room,
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


def _start(robot: Robot, start_qpos: Array, n: int) -> Array:
    """Start poses (1 or n, nq).

    Raises:
        BadMotion: another shape, or values that are not finite.
    """
    start = np.atleast_2d(start_qpos)
    if start.shape not in ((1, robot.nq), (n, robot.nq)) or np.ndim(start_qpos) > 2:
        raise BadMotion(
            what=f"expected start_qpos ({robot.nq},) or ({n}, {robot.nq}), "
            f"got {np.shape(start_qpos)}",
            where="inverse kinematics",
        )
    return finite("start_qpos", start, robot.nq, where="inverse kinematics", todo="")


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
