"""Small models that hold every case of a tree, random states, and what the engine says of them."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco
import numpy as np

from surefoot.robots.robot import Robot

# Two joints in one link, axes beside the origin, zeros elsewhere than at 0, a slide, turned frames,
# full inertias, a fixed link with and one without mass, a mass that is part of the world.
BRANCHED = """
<mujoco><compiler angle="radian"/><option gravity="0.3 -0.2 -9.7"/>
<worldbody>
  <body name="base" pos="0.1 0.2 0.9" quat="0.9 0.1 -0.3 0.2"><freejoint/>
    <inertial pos="0.02 -0.01 0.03" mass="7" fullinertia="0.11 0.13 0.09 0.01 -0.02 0.015"/>
    <body name="thigh" pos="0.1 -0.05 -0.1" quat="0.7 0.5 0.1 -0.2">
      <joint name="hip" axis="0.3 1 0.2" pos="0.02 0.01 -0.03" ref="0.4" armature="0.02"/>
      <joint name="twist" axis="1 0.1 0" pos="-0.01 0.02 0.01" armature="0.01"/>
      <inertial pos="0 0.01 -0.2" mass="3" diaginertia="0.03 0.04 0.02" quat="0.8 0.2 0.1 0.4"/>
      <body name="plate" pos="0.03 0 -0.1" quat="0.5 -0.1 0.7 0.1">
        <inertial pos="0.01 0 0" mass="0.4" diaginertia="0.001 0.002 0.0015"/>
        <body name="mark" pos="0 0.1 0.02"/>
        <body name="rail" pos="0 0.02 -0.1">
          <joint name="reach" type="slide" axis="0.1 0.2 1" pos="0.3 0 0" ref="-0.1"/>
          <joint name="wrist" axis="0 1 1" pos="0.02 0 0.01"/>
          <inertial pos="0.05 0 0" mass="1.1" diaginertia="0.004 0.005 0.006"/>
        </body>
      </body>
    </body>
    <body name="arm" pos="-0.1 0.2 0.3">
      <joint name="shoulder" axis="0 1 0" armature="0.03"/>
      <inertial pos="0 0 -0.2" mass="2" diaginertia="0.02 0.03 0.01"/>
      <body name="hand" pos="0 0 -0.3"><joint name="turn" axis="0 0 1"/>
        <inertial pos="0 0.03 0" mass="0.5" diaginertia="0.001 0.001 0.001"/></body>
    </body>
  </body>
  <body name="rock" pos="3 0 0"><geom type="sphere" size="0.2" mass="70"/></body>
</worldbody></mujoco>
"""

PLANAR = """
<mujoco><compiler angle="radian"/>
<worldbody>
  <body name="trunk" pos="0 0 0.8">
    <joint name="root_x" type="slide" axis="1 0 0"/>
    <joint name="root_z" type="slide" axis="0 0 1"/>
    <joint name="root_pitch" axis="0 1 0"/>
    <inertial pos="0.01 0 0.1" mass="9" diaginertia="0.2 0.3 0.1"/>
    <body name="leg" pos="0 0.1 -0.1"><joint name="hip" axis="0 1 0" armature="0.01"/>
      <inertial pos="0 0 -0.2" mass="4" diaginertia="0.05 0.05 0.01"/>
      <body name="foot" pos="0 0 -0.4"><joint name="ankle" axis="0 1 0"/>
        <inertial pos="0.05 0 -0.02" mass="1" diaginertia="0.002 0.004 0.004"/></body>
    </body>
  </body>
</worldbody></mujoco>
"""

# A base of six scalar joints has as many degrees of freedom as a free joint and is none; turns of
# 1e-9 rad leave w at 1 to the last bit.
SIX = """
<mujoco><compiler angle="radian"/>
<worldbody>
  <body name="base" pos="0 0 1">
    <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><joint name="yaw" axis="0 0 1"/>
    <joint name="pitch" axis="0 1 0"/><joint name="roll" axis="1 0 0"/>
    <inertial pos="0.01 0 0.1" mass="9" diaginertia="0.2 0.3 0.1"/>
    <body name="leg" pos="0 0.1 -0.1" quat="1 1e-9 2e-9 0"><joint name="hip" axis="0 1 0"/>
      <inertial pos="0 0 -0.2" mass="4" diaginertia="0.05 0.05 0.01"/></body>
  </body>
</worldbody></mujoco>
"""

BALL = """
<mujoco><worldbody><body name="point" pos="0 0 0.5"><freejoint/>
  <geom type="sphere" size="0.1" mass="5"/></body></worldbody></mujoco>
"""


def robot_of(xml: str) -> Robot:
    """A robot of a model's text, with nothing but what the dynamics look at."""
    model = mujoco.MjModel.from_xml_string(xml)
    root = next(b for b in range(model.nbody) if model.body_dofnum[b] > 0)
    first = model.body_jntadr[root] + model.body_jntnum[root]
    joints = range(int(first), model.njnt)
    free = int(model.jnt_type[model.body_jntadr[root]]) == int(mujoco.mjtJoint.mjJNT_FREE)
    unlimited = np.full(len(joints), np.inf)
    return Robot(
        name="made",
        source="tests",
        model=model,
        root_link=model.body(root).name,
        root_kind="free" if free else "planar",
        joint_names=tuple(model.joint(j).name for j in joints),
        joint_min=-unlimited,
        joint_max=unlimited,
        joint_speed=unlimited,
        joint_torque=unlimited,
        soles=(),
        landmarks={},
        home=np.array(model.qpos0),
    )


@dataclass(frozen=True)
class States:
    """Random positions, velocities and accelerations in the engine's order."""

    qpos: np.ndarray
    qvel: np.ndarray
    qacc: np.ndarray


def random_states(model: mujoco.MjModel, n: int, seed: int) -> States:
    """n states: joints within ±1.5 of zero, free roots anywhere in 3 m and in any orientation."""
    rng = np.random.default_rng(seed)
    qpos = model.qpos0 + rng.uniform(-1.5, 1.5, (n, model.nq))
    for j in range(model.njnt):
        if int(model.jnt_type[j]) == int(mujoco.mjtJoint.mjJNT_FREE):
            a = int(model.jnt_qposadr[j])
            quat = rng.normal(size=(n, 4))
            qpos[:, a : a + 3] = rng.uniform(-3.0, 3.0, (n, 3))
            qpos[:, a + 3 : a + 7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    return States(qpos, rng.normal(size=(n, model.nv)), 5.0 * rng.normal(size=(n, model.nv)))


def rigid_copy(model: mujoco.MjModel) -> mujoco.MjModel:
    """The model without springs, damping, friction loss and constraints: rigid bodies alone."""
    plain = copy.copy(model)
    off = mujoco.mjtDisableBit
    plain.opt.disableflags |= int(off.mjDSBL_CONSTRAINT)
    plain.opt.disableflags |= int(off.mjDSBL_SPRING) | int(off.mjDSBL_DAMPER)
    return plain


def engine_values(
    model: mujoco.MjModel, states: States, link: int, point_l: np.ndarray
) -> dict[str, np.ndarray]:
    """What MuJoCo says of every state, one frame after the other."""
    plain = rigid_copy(model)
    data = mujoco.MjData(plain)
    root = next(b for b in range(model.nbody) if model.body_dofnum[b] > 0)
    mass = float(model.body_subtreemass[root])
    rows: dict[str, list[np.ndarray]] = {}
    for qpos, qvel, qacc in zip(states.qpos, states.qvel, states.qacc, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = qpos, qvel, qacc
        mujoco.mj_inverse(plain, data)
        mujoco.mj_subtreeVel(plain, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(plain, data, full)
        jacobian, com_jacobian = np.zeros((6, model.nv)), np.zeros((3, model.nv))
        point = data.xpos[link] + data.xmat[link].reshape(3, 3) @ point_l
        mujoco.mj_jac(plain, data, jacobian[:3], jacobian[3:], point, link)
        mujoco.mj_jacSubtreeCom(plain, data, com_jacobian, root)
        velocity = np.zeros((model.nbody, 6))
        for b in range(model.nbody):
            turned = np.zeros(6)
            kind = int(mujoco.mjtObj.mjOBJ_XBODY)
            mujoco.mj_objectVelocity(plain, data, kind, b, turned, 0)
            velocity[b] = np.roll(turned, 3)
        one = {
            "link_pos_w": data.xpos,
            "link_quat_w": data.xquat,
            "link_rot_wl": data.xmat.reshape(-1, 3, 3),
            "link_vel_w": velocity,
            "point_w": point,
            "point_velocity_w": jacobian[:3] @ qvel,
            "com_w": data.subtree_com[root],
            "jacobian": jacobian,
            "com_jacobian": com_jacobian,
            "mass_matrix": full,
            "bias": data.qfrc_bias,
            "inverse_dynamics": data.qfrc_inverse,
            "linear_momentum": mass * data.subtree_linvel[root],
            "angular_momentum": data.subtree_angmom[root],
        }
        for name, value in one.items():
            rows.setdefault(name, []).append(np.array(value))
    return {name: np.stack(values) for name, values in rows.items()}


def worst(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference over the largest entry, of the worst frame."""
    assert got.shape == want.shape
    over = tuple(range(1, want.ndim))
    return float(np.max(np.max(np.abs(got - want), axis=over) / np.max(np.abs(want), axis=over)))
