"""Small robots made as text: a biped, a planar walker, and robots with one fault each."""

from __future__ import annotations

import pathlib

from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

# A free-floating biped of 16 kg with eight joints and box feet of 0.20 by 0.10 m. Zero pose: the
# soles (z −0.03 in the foot's frame) are 0.85 m below the pelvis, the feet 0.2 m apart.
_LEG = """
<body name="{s}_thigh" pos="0 {y} -0.05">
  <inertial pos="0 0 -0.2" mass="2" diaginertia="0.03 0.03 0.004"/>
  <joint name="{s}_hip_roll" axis="1 0 0" range="-0.6 0.6"/>
  <joint name="{s}_hip_pitch" axis="0 1 0" range="-1.5 0.8"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05" density="0"/>
  <body name="{s}_shank" pos="0 0 -0.4">
    <inertial pos="0.01 0 -0.18" mass="1.5" diaginertia="0.02 0.02 0.002"/>
    <joint name="{s}_knee" axis="0 1 0" range="0 2.4"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.32" size="0.04" density="0"/>
    <body name="{s}_foot" pos="0 0 -0.37">
      <inertial pos="0.03 0 -0.02" mass="0.5" diaginertia="0.0005 0.001 0.001"/>
      <joint name="{s}_ankle" axis="0 1 0" range="-0.9 0.9"/>
      <geom name="{s}_sole" type="box" pos="0.04 0 -0.015" size="0.1 0.05 0.015" density="0"/>
    </body>
  </body>
</body>"""

BIPED = f"""
<mujoco model="biped">
  <compiler angle="radian" autolimits="true"/>
  <default><joint armature="0.01"/></default>
  <worldbody>
    <body name="pelvis" pos="0 0 0.85">
      <freejoint name="root"/>
      <inertial pos="0 0 0.1" mass="8" diaginertia="0.1 0.08 0.05"/>
      <geom type="box" size="0.08 0.12 0.1" pos="0 0 0.1" density="0"/>
      {_LEG.format(s="left", y=0.1)}
      {_LEG.format(s="right", y=-0.1)}
    </body>
  </worldbody>
  <actuator>
    <motor joint="left_hip_roll" ctrlrange="-1 1" gear="40"/>
    <motor joint="left_knee" forcerange="-90 90"/>
  </actuator>
</mujoco>
"""

# The same legs without roll on a base that slides along x and z and turns about −y: 6.4 kg.
_FLAT_LEG = """
<body name="{s}_leg" pos="0 0 -0.1">
  <inertial pos="0 0 -0.2" mass="1.2" diaginertia="0.02 0.02 0.002"/>
  <joint name="{s}_hip" axis="0 1 0" range="-1.5 0.8"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.35" size="0.04" density="0"/>
  <body name="{s}_foot" pos="0 0 -0.4">
    <inertial pos="0.03 0 -0.02" mass="0.5" diaginertia="0.0005 0.001 0.001"/>
    <joint name="{s}_ankle" axis="0 1 0" range="-0.9 0.9"/>
    <geom type="box" pos="0.04 0 -0.015" size="0.1 0.05 0.015" density="0"/>
  </body>
</body>"""

# Zero pose: soles 0.53 m below the torso's origin.
PLANAR = f"""
<mujoco model="planar">
  <compiler angle="radian"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="torso" pos="0 0 0.6">
      <joint name="root_z" type="slide" axis="0 0 1" ref="0.6"/>
      <joint name="root_x" type="slide" axis="1 0 0"/>
      <joint name="root_pitch" type="hinge" axis="0 -1 0"/>
      <inertial pos="0 0 0.2" mass="3" diaginertia="0.05 0.05 0.01"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.06" density="0"/>
      {_FLAT_LEG.format(s="left")}
      {_FLAT_LEG.format(s="right")}
    </body>
  </worldbody>
</mujoco>
"""

# A URDF biped whose trunk the engine would weld to the world: 7 kg in all, 3 of them in the trunk.
_URDF_LEG = """
  <link name="{s}_leg">
    <inertial><origin xyz="0 0 -0.2"/><mass value="1.5"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="{s}_foot">
    <inertial><mass value="0.5"/>
      <inertia ixx="0.0005" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision>
      <origin xyz="0.04 0 -0.015"/><geometry><box size="0.2 0.1 0.03"/></geometry>
    </collision>
  </link>
  <joint name="{s}_hip" type="revolute">
    <parent link="trunk"/><child link="{s}_leg"/><origin xyz="0 {y} -0.1"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="0.8" effort="60" velocity="9.5"/>
  </joint>
  <joint name="{s}_ankle" type="revolute">
    <parent link="{s}_leg"/><child link="{s}_foot"/><origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/>
    <limit lower="-0.9" upper="0.9" effort="30" velocity="7"/>
  </joint>"""

URDF = f"""<?xml version="1.0"?>
<robot name="stilts">
  <link name="trunk">
    <inertial><origin xyz="0 0 0.1"/><mass value="3"/>
      <inertia ixx="0.05" iyy="0.05" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  {_URDF_LEG.format(s="left", y=0.1)}
  {_URDF_LEG.format(s="right", y=-0.1)}
</robot>
"""

URDF_ON_WORLD = URDF.replace(
    '<link name="trunk">',
    '<link name="world"/>\n  <joint name="mount" type="fixed"><parent link="world"/>'
    '<child link="trunk"/></joint>\n  <link name="trunk">',
)


def written(text: str, folder: pathlib.Path, name: str = "robot.xml") -> pathlib.Path:
    """The path of a file in a folder with this text in it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def biped(folder: pathlib.Path) -> Robot:
    """The loaded biped: 16 kg, 8 joints."""
    return load_robot(written(BIPED, folder, "biped.xml"))


def planar(folder: pathlib.Path) -> Robot:
    """The loaded planar walker: 6.4 kg, 4 joints, moves in the x-z plane."""
    return load_robot(written(PLANAR, folder, "planar.xml"))
