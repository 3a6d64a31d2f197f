"""Clips for which the feasibility index is known by hand, on robots that move as one stiff body."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from make.robots import written
from make.standing import only, stiff
from surefoot.arrays import Array
from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip, Meta, Motion
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

G = 9.81
WEIGHT = 700.0
HALF_X, HALF_Y, HEIGHT = 0.1, 0.05, 0.8  # of the sole, and of the centre of mass above it, m

# 700 N in one point 0.8 m above the middle of two soles that lie in one place.
_FOOT = """
<body name="{s}_foot" pos="0 0 -0.75">
  <inertial pos="0 0 0" mass="1e-9" diaginertia="1e-9 1e-9 1e-9"/>
  <joint name="{s}_ankle" axis="0 1 0" range="-0.5 0.5"/>
  <geom type="box" pos="0 0 -0.025" size="0.1 0.05 0.025" density="0"/>
</body>"""
BOX = f"""
<mujoco model="box">
  <compiler angle="radian" autolimits="true"/>
  <worldbody>
    <body name="trunk" pos="0 0 0.8">
      <freejoint/>
      <inertial pos="0 0 0" mass="{WEIGHT / G - 2e-9!r}" diaginertia="3 3 1"/>
      <geom type="box" size="0.1 0.1 0.1" density="0"/>
      {_FOOT.format(s="left")}
      {_FOOT.format(s="right")}
    </body>
  </worldbody>
</mujoco>
"""


def box(folder: Path) -> Robot:
    """The pendulum of the known answers: 700 N, 0.8 m above soles of 0.2 by 0.1 m."""
    return load_robot(written(BOX, folder, "box.xml"))


def sole_stance(
    robot: Robot, side: str, start: float, end: float, *, friction: float = 0.7
) -> Stance:
    """A foot on its whole sole for a while."""
    sole = next(sole for sole in robot.soles if sole.side == side)
    return Stance(sole.link, start, end, "face", sole.polygon_l, friction=friction)


def clip_of(motion: Motion, robot: Robot, *stances: Stance) -> Clip:
    """A motion with its stances."""
    return Clip(motion, ContactSchedule(stances), robot=robot.name, meta=Meta("made"))


def pushed(
    robot: Robot,
    acc: tuple[float, float, float],
    *sides: str,
    time: Array | None = None,
    friction: float = 0.7,
) -> Clip:
    """A stiff robot that is accelerated evenly, with its feet and the ground under them."""
    t = np.arange(11) / 20.0 if time is None else time
    shift = sum(only(len(t), axis, 0.5 * acc[axis] * (t - t[0]) ** 2) for axis in range(3))
    stances = (
        sole_stance(robot, side, float(t[0]), float(t[-1]), friction=friction) for side in sides
    )
    return clip_of(stiff(robot, t, np.asarray(shift)), robot, *stances)


def faster(clip: Clip, k: float) -> Clip:
    """The clip at another uniform speed."""
    return replace(
        clip,
        motion=replace(clip.motion, time=clip.motion.time / k),
        contacts=clip.contacts.retimed(lambda t: t / k),
    )


def lifting(robot: Robot, *, lift: float = 0.5, end: float = 1.0) -> Clip:
    """A robot that stands still on two feet, and from a moment on, by its contacts, on the left."""
    t = np.arange(21) * end / 20.0
    return clip_of(
        stiff(robot, t),
        robot,
        sole_stance(robot, "left", 0.0, end),
        sole_stance(robot, "right", 0.0, lift),
    )


def lively(robot: Robot, n: int = 40) -> Motion:
    """A robot that shifts, turns and bends all its joints smoothly, at uneven frame times."""
    rng = np.random.default_rng(3)
    t = np.concatenate([[0.0], np.cumsum(rng.uniform(0.02, 0.05, n - 1))])
    qpos = np.repeat(robot.home[None], n, axis=0)
    qpos[:, :3] += 0.05 * np.sin(rng.uniform(1, 4, 3) * t[:, None] + rng.uniform(0, 6, 3))
    turn = 0.4 * np.sin(rng.uniform(1, 4, 3) * t[:, None] + rng.uniform(0, 6, 3))
    qpos[:, 3:7] = rotation.from_rotvec(turn)
    m = len(robot.joint_names)
    wave = np.sin(rng.uniform(1, 5, m) * t[:, None] + rng.uniform(0, 6, m))
    qpos[:, robot.joint_qposadr] += 0.3 * wave
    return robot.motion(qpos, t)
