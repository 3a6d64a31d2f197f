"""A robot whose feet go where they are told, and walks of it whose stances are known by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from make.trees import robot_of
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot, Sole

SOLE = np.array([[-0.1, -0.04, 0.0], [0.1, -0.04, 0.0], [0.1, 0.04, 0.0], [-0.1, 0.04, 0.0]])
FOOT = """
    <body name="{side}_foot" pos="0 {y} -0.8">
      <joint name="{side}_x" type="slide" axis="1 0 0"/>
      <joint name="{side}_z" type="slide" axis="0 0 1"/>
      <joint name="{side}_pitch" axis="0 1 0"/>
      <geom type="box" size="0.1 0.04 0.02" pos="0 0 0.02" mass="0.5"/></body>
"""
XML = f"""
<mujoco><worldbody><body name="pelvis" pos="0 0 0.8"><freejoint/>
  <geom type="box" size="0.1 0.1 0.1" mass="30"/>
  {FOOT.format(side="left", y=0.1)}
  {FOOT.format(side="right", y=-0.1)}
</body></worldbody></mujoco>
"""
HEIGHT = 0.8  # m, of the pelvis over the feet


def puppet() -> Robot:
    """A pelvis of 30 kg and two feet of 0.5 kg on slides; it stands on z = 0."""
    robot = robot_of(XML)
    soles = (Sole("left_foot", "left", SOLE), Sole("right_foot", "right", SOLE))
    return replace(robot, name="puppet", soles=soles)


@dataclass(frozen=True, slots=True)
class Walk:
    """A motion, and when each foot stands in it."""

    motion: Motion
    spans: dict[str, list[tuple[float, float]]]
    """First and last moment of every rest of each foot, s."""


def walk(
    robot: Robot,
    *,
    fps: float = 120.0,
    steps: int = 4,
    length: float = 0.4,
    lift: float = 0.1,
    swing_s: float = 0.4,
    both_s: float = 0.3,
    rise: float = 0.0,
    pitch: float = 0.0,
    height: float = 0.0,
    jitter: float = 0.0,
    skate: float = 0.0,
    seed: int = 0,
) -> Walk:
    """Step after step, left first; each foot rests, then swings by `length` along x.

    Args:
        rise: of each swing, m; pitch: of the soles, rad, so that a slope has both.
        height: constant error of all heights, m.
        jitter: standard deviation of the root's noise, m.
        skate: speed of everything along x, m/s.
    """
    duration = both_s + steps * (swing_s + both_s)
    time = np.arange(round(duration * fps) + 1) / fps
    place = {"left": np.zeros((len(time), 2)), "right": np.zeros((len(time), 2))}
    lands: dict[str, list[float]] = {"left": [0.0], "right": [0.0]}
    spans: dict[str, list[tuple[float, float]]] = {"left": [], "right": []}
    for i in range(steps):
        side = ("left", "right")[i % 2]
        start = both_s + i * (swing_s + both_s)
        s = np.clip((time - start) / swing_s, 0.0, 1.0)
        smooth = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        place[side] += np.stack([length * smooth, rise * smooth], axis=1)
        place[side][:, 1] += lift * np.sin(np.pi * s) ** 2
        spans[side].append((lands[side][-1], start))
        lands[side].append(start + swing_s)
    root = np.zeros((len(time), 3))
    mean = (place["left"] + place["right"]) / 2.0
    root[:, 0], root[:, 2] = mean[:, 0] + skate * time, mean[:, 1] + HEIGHT + height
    root += jitter * np.random.default_rng(seed).normal(size=root.shape)
    joints = np.zeros((len(time), len(robot.joint_names)))
    for side in ("left", "right"):
        spans[side].append((lands[side][-1], float(time[-1])))
        joints[:, robot.joint_names.index(f"{side}_x")] = place[side][:, 0] - mean[:, 0]
        joints[:, robot.joint_names.index(f"{side}_z")] = place[side][:, 1] - mean[:, 1]
        joints[:, robot.joint_names.index(f"{side}_pitch")] = pitch
    quat = np.tile([1.0, 0.0, 0.0, 0.0], (len(time), 1))
    motion = Motion(time, root, quat, robot.joint_names, joints)
    return Walk(motion, {f"{side}_foot": found for side, found in spans.items()})


def gap(found: list[tuple[float, float]], meant: list[tuple[float, float]]) -> float:
    """Largest difference of a first or last moment, s; inf where the number of spans differs."""
    if len(found) != len(meant):
        return float("inf")
    return float(np.max(np.abs(np.array(found) - np.array(meant))))


def joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Spans that touch or overlap made one: when a foot stands, with whatever corners."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
