"""Targets made of poses, and what the engine says a pose costs."""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot import kinematics
from surefoot.motion import rotation
from surefoot.robots.robot import Robot

Item = kinematics.Target


def engine_poses(robot: Robot, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and orientations of all bodies, from MuJoCo, frame by frame."""
    data = mujoco.MjData(robot.model)
    pos = np.empty((len(qpos), robot.model.nbody, 3))
    quat = np.empty((len(qpos), robot.model.nbody, 4))
    for i, q in enumerate(qpos):
        data.qpos[:] = q
        mujoco.mj_kinematics(robot.model, data)
        pos[i], quat[i] = data.xpos, data.xquat
    return pos, quat


def random_poses(robot: Robot, n: int, seed: int) -> np.ndarray:
    """n poses: joints within limits and ±1.5, free roots within 3 m and in any orientation."""
    rng = np.random.default_rng(seed)
    qpos = np.tile(robot.home, (n, 1))
    low, high = np.maximum(robot.joint_min, -1.5), np.minimum(robot.joint_max, 1.5)
    qpos[:, robot.joint_qposadr] = rng.uniform(low, high, (n, len(low)))
    if robot.root_kind == "free":
        qpos[:, :3] = rng.uniform(-3.0, 3.0, (n, 3))
        qpos[:, 3:7] = rotation.unit(rng.normal(size=(n, 4)))
    else:
        qpos[:, :3] = rng.uniform(-1.5, 1.5, (n, 3))
    return qpos


def moved(robot: Robot, qpos: np.ndarray, by: float, seed: int) -> np.ndarray:
    """The poses with every degree of freedom changed by up to `by`, joints inside their limits."""
    rng = np.random.default_rng(seed)
    out = np.array(qpos)
    for q in out:
        mujoco.mj_integratePos(robot.model, q, rng.uniform(-by, by, robot.nv), 1.0)
    at = robot.joint_qposadr
    out[:, at] = np.clip(out[:, at], robot.joint_min, robot.joint_max)
    return out


def all_frames(robot: Robot, qpos: np.ndarray, *, turn: float = 0.3) -> list[Item]:
    """Position and orientation of every link, as they are in the poses."""
    pos, quat = engine_poses(robot, qpos)
    targets: list[Item] = []
    for name in robot.link_names:
        b = robot.link_id(name)
        targets.append(kinematics.PointTarget(name, np.zeros(3), pos[:, b]))
        targets.append(kinematics.OrientationTarget(name, quat[:, b], turn))
    return targets


def torn(robot: Robot, qpos: np.ndarray, seed: int) -> list[Item]:
    """Targets of all kinds and weights that no pose can meet: each is off by some 0.1."""
    rng = np.random.default_rng(seed)
    n = len(qpos)
    pos, quat = engine_poses(robot, qpos)
    links = [name for name in robot.link_names if name != "rock"]
    a, b, c = links[0], links[-1], links[len(links) // 2]
    ia, ib, ic = (robot.link_id(name) for name in (a, b, c))
    along = pos[:, ib] - pos[:, ia]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    turn = rotation.from_rotvec(rng.uniform(-0.1, 0.1, (n, 3)))
    tilt = rotation.from_rotvec(rng.uniform(-0.1, 0.1, (n, 3)))
    return [
        kinematics.PointTarget(
            b, np.array([0.1, -0.05, 0.02]), pos[:, ib] + rng.uniform(-0.1, 0.1, (n, 3)), 3.0
        ),
        kinematics.PointTarget(c, np.zeros(3), pos[:, ic] + rng.uniform(-0.1, 0.1, (n, 3)), 2.0),
        kinematics.PointTarget(a, np.zeros(3), pos[:, ia]),
        kinematics.DirectionTarget(
            a, np.zeros(3), b, np.zeros(3), along + rng.uniform(-0.1, 0.1, (n, 3)), 1.5
        ),
        kinematics.DirectionTarget(
            c, np.array([0.0, 0.1, 0.0]), a, np.array([0.2, 0.0, 0.3]), -along, 0.5
        ),
        kinematics.OrientationTarget(
            b, rotation.multiply(quat[:, ib], turn), np.array([0.2, 1.0, 0.6])
        ),
        kinematics.OrientationTarget(
            a, rotation.multiply(quat[:, ia], tilt), rng.uniform(0.2, 1.0, (n, 3))
        ),
    ]


def engine_cost(
    robot: Robot, targets: list[Item], i: int, qpos: np.ndarray, options: kinematics.Options
) -> float:
    """Σ |w r|² of frame i at a pose, and the posture's share, by MuJoCo and numpy."""
    pos, quat = (value[0] for value in engine_poses(robot, qpos[None]))
    total = 0.0
    for target in targets:
        if isinstance(target, kinematics.DirectionTarget):
            a, b = robot.link_id(target.link_a), robot.link_id(target.link_b)
            start = pos[a] + rotation.rotate(quat[a], target.point_a_l)
            end = pos[b] + rotation.rotate(quat[b], target.point_b_l)
            off = (end - start) / np.linalg.norm(end - start) - target.direction_w[i]
        elif isinstance(target, kinematics.OrientationTarget):
            goal = rotation.conjugate(target.quat_wl[i])
            off = rotation.as_rotvec(rotation.multiply(goal, quat[robot.link_id(target.link)]))
        else:
            b = robot.link_id(target.link)
            off = pos[b] + rotation.rotate(quat[b], target.point_l) - target.position_w[i]
        weight = np.asarray(target.weight)
        total += float(np.sum((weight[i] if len(weight.shape) == 2 else weight) ** 2 * off**2))
    posture = robot.home if options.posture_qpos is None else options.posture_qpos
    at = robot.joint_qposadr
    return total + options.posture_weight**2 * float(np.sum((qpos[at] - posture[at]) ** 2))


def slopes(
    robot: Robot, targets: list[Item], i: int, qpos: np.ndarray, options: kinematics.Options
) -> np.ndarray:
    """Derivatives of the cost along each degree of freedom, by central differences."""
    step = 1e-5
    out = np.empty(robot.nv)
    for d in range(robot.nv):
        way = np.zeros(robot.nv)
        way[d] = step
        ahead, behind = np.array(qpos), np.array(qpos)
        mujoco.mj_integratePos(robot.model, ahead, way, 1.0)
        mujoco.mj_integratePos(robot.model, behind, way, -1.0)
        rise = engine_cost(robot, targets, i, ahead, options)
        out[d] = (rise - engine_cost(robot, targets, i, behind, options)) / (2.0 * step)
    return out
