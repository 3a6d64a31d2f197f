"""How well the feet of a clip keep to the ground: the same figures for every motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.contacts.support import stance_points_w
from surefoot.dynamics.batch import Batch
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

JUMP_RAD = 0.5  # a joint that turns by more within one frame of 30/s jumps
JUMP_FRAME_S = 1.0 / 30.0


@dataclass(frozen=True, slots=True)
class Quality:
    """Feet and joints of a clip, in figures that do not depend on how it was made."""

    skate_mean_mps: float
    """Mean horizontal speed of the stillest vertex of each stance: pivoting is allowed."""
    penetration_max_m: float
    """Deepest standing vertex below its surface."""
    float_median_m: float
    """Median height of standing vertices above their surface, where they are above it."""
    joint_jumps: int
    """Turns of a joint by more than 0.5 rad within 1/30 s."""
    position_limit_violations: int
    """Frames times joints beyond a position limit (by more than 1e-9 rad)."""
    contact_fraction: float
    """Share of the frames at which anything stands."""


def judge(clip: Clip, robot: Robot) -> Quality:
    """The figures of a clip on its own contacts and terrain."""
    motion, time = clip.motion, clip.motion.time
    batch = Batch(robot, robot.qpos(motion))
    speeds: list[Array] = [np.zeros(0)]
    heights: list[Array] = [np.zeros(0)]
    standing = np.zeros(motion.n, dtype=bool)
    for stance in clip.contacts.stances:
        frames = np.flatnonzero((time >= stance.start) & (time <= stance.end))
        standing[frames] = True
        points = stance_points_w(batch, stance, frames)
        flat = np.ascontiguousarray(points[:, :, :2].reshape(-1, 2))
        ground = clip.terrain.surfaces[stance.surface].height(flat).reshape(points.shape[:2])
        gap = points[:, :, 2] - ground
        heights.append(gap[np.isfinite(gap)])
        if len(frames) > 1 and not stance.moving:
            step = np.linalg.norm(np.diff(points[:, :, :2], axis=0), axis=2).min(axis=1)
            speeds.append(step / np.diff(time[frames]))
    skate, gap = np.concatenate(speeds), np.concatenate(heights)
    above = gap[gap > 0.0]
    return Quality(
        skate_mean_mps=float(skate.mean()) if len(skate) else 0.0,
        penetration_max_m=float(max(0.0, -gap.min(initial=0.0))),
        float_median_m=float(np.median(above)) if len(above) else 0.0,
        joint_jumps=_joint_jumps(time, motion.joint_pos),
        position_limit_violations=_violations(robot, motion.joint_pos, motion.joint_names),
        contact_fraction=float(standing.mean()),
    )


def _joint_jumps(time: Float64[Array, " n"], joint_pos: Float64[Array, "n m"]) -> int:
    """Number of frames after which a joint turns by more than 0.5 rad within 1/30 s."""
    if len(time) < 2:
        return 0
    later = np.minimum(np.searchsorted(time, time + JUMP_FRAME_S - 1e-9), len(time) - 1)
    turn = np.abs(joint_pos[later] - joint_pos)
    allowed = JUMP_RAD * np.maximum(1.0, (time[later] - time) / JUMP_FRAME_S)
    return int(np.sum(turn > allowed[:, None]))


def _violations(
    robot: Robot, joint_pos: Float64[Array, "n m"], joint_names: tuple[str, ...]
) -> int:
    order = [robot.joint_names.index(name) for name in joint_names]
    low, high = robot.joint_min[order] - 1e-9, robot.joint_max[order] + 1e-9
    return int(np.sum((joint_pos < low) | (joint_pos > high)))
