"""A small biped with every kind of shape, and a clip of it that sways too far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from make.trees import robot_of
from surefoot.errors import Notice
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip, Meta, Motion
from surefoot.robots.robot import Robot, Sole

SOLE = np.array(
    [[-0.1, -0.04, -0.05], [0.1, -0.04, -0.05], [0.1, 0.04, -0.05], [-0.1, 0.04, -0.05]]
)
LEG = """
      <body name="{side}_leg" pos="0 {y} -0.05"><joint name="{side}_hip" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 -0.05 0 0 -0.7" size="0.05" mass="5"/>
        <body name="{side}_foot" pos="0 0 -0.75" quat="{foot}">
          <joint name="{side}_ankle" axis="1 0 0"/>
          <geom type="box" size="0.1 0.04 0.025" pos="0 0 -0.025" mass="1"/></body></body>
"""


def walker_xml(right_foot: str = "1 0 0 0") -> str:
    """The model's text; the right foot's frame may be turned in its leg."""
    return f"""
<mujoco><worldbody>
  <geom name="floor" type="plane" size="5 5 0.1"/>
  <body name="pelvis" pos="0 0 0.85"><freejoint/>
    <geom type="box" size="0.08 0.14 0.06" mass="8" rgba="0.2 0.4 0.6 1"/>
    <body name="chest" pos="0 0 0.15"><joint name="waist" axis="0 0 1"/>
      <geom type="ellipsoid" size="0.1 0.16 0.2" pos="0 0 0.15" mass="12"/>
      <geom type="cylinder" size="0.05 0.04" pos="0 0 0.38" mass="1"/>
      <geom type="sphere" size="0.11" pos="0 0 0.52" mass="4"/></body>
    {LEG.format(side="left", y=0.1, foot="1 0 0 0")}
    {LEG.format(side="right", y=-0.1, foot=right_foot)}
  </body>
</worldbody></mujoco>
"""


def walker(right_foot: str = "1 0 0 0") -> Robot:
    """A biped of 37 kg with two soles; in its home pose they lie on z = 0."""
    robot = robot_of(walker_xml(right_foot))
    reach = np.full(len(robot.joint_names), 1.0)
    soles = (Sole("left_foot", "left", SOLE), Sole("right_foot", "right", SOLE))
    limits = {"joint_min": -reach, "joint_max": reach}
    return replace(robot, name="walker", soles=soles, **limits)


def swaying_clip(
    robot: Robot, *, n: int = 61, sway_m: float = 0.25, source: str = "sway.bvh"
) -> Clip:
    """Two seconds on both feet, then on the left, with the whole body moved from side to side."""
    time = np.linspace(0.0, 2.0, n)
    motion = robot.motion(np.repeat(np.array(robot.home)[None], n, axis=0), time)
    angle = 0.3 * np.sin(np.pi * time)
    joints = np.array(motion.joint_pos)
    joints[:, motion.joint_names.index("left_hip")] = angle
    joints[:, motion.joint_names.index("left_ankle")] = -angle
    root = np.array(motion.root_pos)
    root[:, 1] += sway_m * np.sin(np.pi * time)
    stances = (
        Stance("left_foot", 0.0, 2.0, "face", SOLE),
        Stance("right_foot", 0.0, 1.0, "face", SOLE),
        Stance("right_foot", 1.5, 2.0, "edge", SOLE[1:3], moving=True),
    )
    return Clip(
        Motion(time, root, motion.root_quat, motion.joint_names, joints),
        ContactSchedule(stances),
        robot=robot.name,
        meta=Meta(source).then("retarget", scale=0.9),
        notices=(Notice("repair", source, "frame 3 was filled", 0.1, 0.2),),
    )
