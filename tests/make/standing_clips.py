"""Clips of robots that stand on their soles, in their home pose or in one that moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.arrays import Array
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip, Meta
from surefoot.robots.robot import Robot


def still_clip(robot: Robot, *, seconds: float = 1.0, rate_hz: float = 50.0) -> Clip:
    """The home pose on all soles."""
    n = round(seconds * rate_hz) + 1
    time = np.linspace(0.0, seconds, n)
    motion = robot.motion(np.repeat(np.array(robot.home)[None], n, axis=0), time)
    return Clip(motion, standing(robot, seconds), robot=robot.name, meta=Meta("still"))


def standing(robot: Robot, seconds: float) -> ContactSchedule:
    """All soles flat on the ground, all the time."""
    return ContactSchedule(
        tuple(Stance(sole.link, 0.0, seconds, "face", sole.polygon_l) for sole in robot.soles)
    )


def with_poses(clip: Clip, robot: Robot, qpos: Array) -> Clip:
    """The same clip with other poses."""
    return replace(clip, motion=robot.motion(qpos, clip.motion.time))
