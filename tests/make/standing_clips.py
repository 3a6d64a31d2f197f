"""Clips of robots that stand on their soles, in their home pose or in one that moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.dynamics.batch import Batch
from surefoot.kinematics import Options, OrientationTarget, PointTarget, Target, solve
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


def moved_clip(robot: Robot, motion: str, *, seconds: float = 2.0) -> Clip:
    """human25 squats (knees 0.5 rad further) or sways (4 cm to each side) and comes back.

    Its feet stay where they are: by inverse kinematics, pose by pose, from the home pose.
    """
    clip = still_clip(robot, seconds=seconds)
    qpos = np.array(robot.qpos(clip.motion))
    batch = Batch(robot, qpos)
    phase = clip.motion.time / seconds
    rise = 0.5 * (1.0 - np.cos(2.0 * np.pi * phase))
    root_w = np.array(qpos[:, :3])
    if motion == "squat":
        root_w[:, 2] -= 0.06 * rise
    else:
        root_w[:, 1] += 0.04 * np.sin(2.0 * np.pi * phase) * rise
    qpos[:, :3] = root_w
    targets: list[Target] = [PointTarget(robot.root_link, np.zeros(3), root_w, weight=10.0)]
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(qpos), 1))
    targets.append(OrientationTarget(robot.root_link, still, 10.0))
    for link in ("left_foot", "right_foot"):
        b = robot.link_id(link)
        targets.append(PointTarget(link, np.zeros(3), batch.link_pos_w[:, b], weight=10.0))
        targets.append(OrientationTarget(link, batch.link_quat_w[:, b], 10.0))
    options = Options(iterations=100, posture_weight=1e-4)
    found = solve(robot, targets, time=clip.motion.time, start_qpos=qpos[0], options=options)
    return replace(clip, motion=robot.motion(found.qpos, clip.motion.time))
