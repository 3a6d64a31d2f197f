"""Motions of a robot that moves as one stiff body: contacts and ZMP are known by hand."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import rotation
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot


def stiff(
    robot: Robot,
    time: Array,
    shift: Array | None = None,
    *,
    pitch: Array | None = None,
    about_w: Array | None = None,
) -> Motion:
    """The home pose, shifted by (n, 3) m, and pitched by (n) rad about a point of the world."""
    n = len(time)
    home = robot.motion(np.repeat(robot.home[None], n, axis=0), time)
    root_pos, root_quat = home.root_pos, home.root_quat
    if pitch is not None:
        turn = rotation.from_euler("y", np.asarray(pitch)[:, None])
        pivot = np.zeros(3) if about_w is None else about_w
        root_pos = pivot + rotation.rotate(turn, root_pos - pivot)
        root_quat = rotation.multiply(turn, root_quat)
    if shift is not None:
        root_pos = root_pos + shift
    return Motion(time, root_pos, root_quat, home.joint_names, home.joint_pos)


def only(n: int, axis: int, values: Array) -> Array:
    """Shifts along one axis: (n, 3)."""
    shift = np.zeros((n, 3))
    shift[:, axis] = values
    return shift
