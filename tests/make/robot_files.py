"""Robot motions as other tools write them, made from one motion: files for the readers."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import numpy as np

from surefoot.dynamics.batch import Batch
from surefoot.formats import doubts
from surefoot.motion import rotation
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot

N = 40
XYZW = [1, 2, 3, 0]


def turning(robot: Robot) -> Motion:
    """A robot that stands, turns on the spot and waves its arms: its feet keep their height."""
    t = np.arange(N) / 50.0
    qpos = np.tile(robot.home, (N, 1))
    turn = np.zeros((N, 3))
    turn[:, 2] = 0.5 * np.sin(4.0 * t)
    qpos[:, 3:7] = rotation.from_rotvec(turn)
    arms = robot.joint_qposadr[[robot.joint_names.index(f"{s}_elbow") for s in ("left", "right")]]
    qpos[:, arms] += np.stack([-0.5 * t, -0.8 * t], axis=1)
    twist = robot.joint_qposadr[robot.joint_names.index("torso_yaw")]
    qpos[:, twist] += 0.4 * t
    return robot.motion(qpos, t)


def gmr(motion: Motion, **more: object) -> dict[str, object]:
    """What GMR pickles."""
    table = {
        "fps": np.float64(50.0),
        "root_pos": motion.root_pos,
        "root_rot": motion.root_quat[:, XYZW],
        "dof_pos": motion.joint_pos,
        "local_body_pos": None,
        "link_body_list": ["pelvis"],
    }
    return table | more


def asap(motion: Motion, robot: Robot, **more: object) -> dict[str, object]:
    """What ASAP dumps, under a name that must not be printed."""
    axes = np.asarray(robot.model.jnt_axis)[robot.joint_ids]
    turns = np.zeros((motion.n, 1 + len(axes) + 3, 3))
    turns[:, 1:-3] = motion.joint_pos[:, :, None] * axes
    inner = {
        "root_trans_offset": motion.root_pos.astype(np.float32),
        "pose_aa": turns,
        "dof": np.asfortranarray(motion.joint_pos.astype(np.float32)),
        "root_rot": motion.root_quat[:, XYZW],
        "smpl_joints": np.zeros((motion.n, 24, 3), dtype=np.float32),
        "fps": 50,
    }
    return {"/home/somebody/\x1b[31mwalk": inner | more}


def mjlab(motion: Motion, robot: Robot, *, isaac: bool = False) -> dict[str, Any]:
    """What mjlab saves, or BeyondMimic; velocities are no numbers, for nobody may read them."""
    batch = Batch(robot, robot.qpos(motion))
    bodies, order = np.arange(1, robot.model.nbody), np.arange(len(robot.joint_names))
    if isaac:
        order = doubts.breadth_first(robot)
        parent = np.asarray(robot.model.body_parentid)
        depth = [0] * robot.model.nbody
        for b in range(1, robot.model.nbody):
            depth[b] = depth[parent[b]] + 1
        bodies = np.array(sorted(bodies, key=lambda b: depth[b]))
    return {
        "fps": np.array([50.0]),
        "joint_pos": motion.joint_pos[:, order].astype(np.float32),
        "joint_vel": np.full((motion.n, len(order)), np.nan),
        "body_pos_w": batch.link_pos_w[:, bodies].astype(np.float32),
        "body_quat_w": batch.link_quat_w[:, bodies],
        "body_lin_vel_w": np.full((motion.n, len(bodies), 3), np.inf),
    }


def holosoma(motion: Motion) -> dict[str, Any]:
    """What holosoma saves, joints the other way round."""
    order = np.arange(len(motion.joint_names))[::-1]
    pose = [motion.root_pos, motion.root_quat, motion.joint_pos[:, order]]
    return {
        "fps": np.array([50]),
        "joint_pos": np.concatenate(pose, axis=1),
        "joint_vel": np.full((motion.n, 6 + len(order)), np.nan),
        "joint_names": np.array(motion.joint_names)[order],
        "body_names": np.array(["world", "pelvis"]),
    }


def saved(path: pathlib.Path, value: dict[str, Any]) -> pathlib.Path:
    """The path, with an archive or a pickle in it, by its ending."""
    if path.suffix == ".npz":
        np.savez(path, **value)
    else:
        path.write_bytes(pickle.dumps(value, 4))
    return path
