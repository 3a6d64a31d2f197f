"""The strict controller's problem from MuJoCo's own quantities, dense, over (q̈, λ).

The centre of mass and the momentum are told in the forces here, not in q̈, as the controller does:
the two agree only because of the root's equations of motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
import piqp

from surefoot.arrays import Array
from surefoot.control.strict import Options
from surefoot.control.target import State, Target
from surefoot.kernels.whole_body import EDGE, FACE, HUNG, Footing
from surefoot.robots.robot import Robot


@dataclass
class Problem:
    """min ½ yᵀ H y + fᵀ y, A y = b, low ≤ C y ≤ high; y holds nv accelerations, then λ."""

    H: Array
    f: Array
    A: Array
    b: Array
    C: Array
    low: Array
    high: Array
    torque_rows: Array
    """(m, y) and what is added: torques of an answer."""
    torque_rest: Array

    def cost(self, y: Array) -> float:
        return float(0.5 * y @ self.H @ y + self.f @ y)

    def torque(self, y: Array) -> Array:
        return self.torque_rows @ y + self.torque_rest

    def by_piqp(self) -> Array:
        """The optimum by an interior-point method; fails where there is none."""
        solver = piqp.DenseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
        solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-11
        solver.settings.max_iter = 500
        parts = (self.H, self.f, self.A, self.b, self.C, self.low, self.high)
        solver.setup(*(np.asfortranarray(part) for part in parts))
        status = solver.solve()
        assert status == piqp.PIQP_SOLVED, status
        return np.array(solver.result.x)


class Frame:
    """One state of the engine, and rows of twists of points."""

    def __init__(self, robot: Robot, qpos: Array, qvel: Array) -> None:
        self.robot, self.model = robot, robot.model
        self.data = mujoco.MjData(self.model)
        self.data.qpos, self.data.qvel = qpos, qvel
        mujoco.mj_forward(self.model, self.data)

    def twist(self, link: int, point_w: Array) -> tuple[Array, Array, Array]:
        """Jacobian (6, nv), velocity and J̇ q̇ of a point, linear rows first."""
        J, dJ = np.zeros((6, self.model.nv)), np.zeros((6, self.model.nv))
        mujoco.mj_jac(self.model, self.data, J[:3], J[3:], point_w, link)
        mujoco.mj_jacDot(self.model, self.data, dJ[:3], dJ[3:], point_w, link)
        return J, J @ self.data.qvel, dJ @ self.data.qvel

    def point_w(self, link: int, point_l: Array) -> Array:
        return self.data.xpos[link] + self.data.xmat[link].reshape(3, 3) @ point_l


def problem_of(
    robot: Robot, state: State, target: Target, footing: Footing, options: Options
) -> Problem:
    """The whole program of one step; stances must not be moving ones."""
    frame = Frame(robot, state.qpos, state.qvel)
    nv = robot.nv
    corners = zip(footing.vertex_stance, footing.vertex_l, strict=True)
    points = [frame.point_w(footing.link[s], place) for s, place in corners]
    forces, G = _generators(frame, footing, np.array(points).reshape(-1, 3), options)
    size = nv + len(forces)
    H, f = np.zeros((size, size)), np.zeros(size)
    for rows, goal, weight in _objectives(frame, target, footing, options, points, forces):
        wide = np.zeros((len(rows), size))
        wide[:, : rows.shape[1]] = rows
        H += weight * wide.T @ wide
        f -= weight * wide.T @ goal
    M, load = _motion(frame)
    whole = np.concatenate([M, -G], axis=1)
    joints = robot.joint_dofadr
    root = np.setdiff1d(np.arange(nv), joints)
    still, right = _stances(frame, footing, options)
    A = np.concatenate([whole[root], np.pad(still, ((0, 0), (0, len(forces))))])
    b = np.concatenate([-load[root], right])
    low_a, high_a = _limits(robot, state, options)
    C = np.concatenate([whole[joints], np.eye(size)[joints], np.eye(size)[nv:]])
    low = np.concatenate([-robot.joint_torque - load[joints], low_a, np.zeros(len(forces))])
    high = np.concatenate([robot.joint_torque - load[joints], high_a, np.full(len(forces), np.inf)])
    return Problem(H, f, A, b, C, low, high, whole[joints], load[joints])


def _motion(frame: Frame) -> tuple[Array, Array]:
    M = np.zeros((frame.model.nv, frame.model.nv))
    mujoco.mj_fullM(frame.model, frame.data, M)
    free = [int(j) for j in range(frame.model.njnt) if int(frame.model.jnt_type[j]) == 0]
    for j in free:  # as in dynamics.tree: nothing drives the root, so it has no rotor
        d = int(frame.model.jnt_dofadr[j])
        M[range(d, d + 6), range(d, d + 6)] -= frame.model.dof_armature[d : d + 6]
    return M, frame.data.qfrc_bias - frame.data.qfrc_passive


def _generators(
    frame: Frame, footing: Footing, points: Array, options: Options
) -> tuple[Array, Array]:
    """Where each generator acts and its force (g, 6), and its generalized force (nv, g)."""
    rows, columns = [], []
    for v, point in enumerate(points):
        s = footing.vertex_stance[v]
        n = footing.normal_w[s]
        x = np.array([1.0, 0.0, 0.0]) - n[0] * n
        x /= np.linalg.norm(x)
        y = np.cross(n, x)
        J = frame.twist(footing.link[s], point)[0][:3]
        for k in range(options.cone_sides):
            a = 2.0 * np.pi * (k + 0.5) / options.cone_sides
            mu = options.friction_share * footing.friction[s]
            force = n + mu * (np.cos(a) * x + np.sin(a) * y)
            rows.append(np.concatenate([point, force]))
            columns.append(J.T @ force)
    return np.array(rows).reshape(-1, 6), np.array(columns).reshape(-1, frame.model.nv).T


def _objectives(frame, target, footing, o, points, forces):  # type: ignore[no-untyped-def]
    """Rows over (q̈, λ), what they should give, and their weight."""
    robot, data, nv = frame.robot, frame.data, frame.model.nv
    dofs, adr = robot.joint_dofadr, robot.joint_qposadr
    there = np.clip(target.qpos[adr], robot.joint_min, robot.joint_max)
    goal = target.qacc[dofs] + o.joint_stiffness * (there - data.qpos[adr])
    goal += o.joint_damping * (target.qvel - data.qvel)[dofs]
    yield np.eye(nv)[dofs], goal, o.joint_weight
    mass, com = robot.mass, np.array(data.subtree_com[1])
    J = np.zeros((3, nv))
    mujoco.mj_jacSubtreeCom(frame.model, data, J, 1)
    mujoco.mj_subtreeVel(frame.model, data)
    gravity = np.array(frame.model.opt.gravity)
    rows = np.concatenate([np.zeros((3, nv)), forces[:, 3:].T / mass], axis=1)
    goal = target.com_acc_w - gravity + o.com_stiffness * (target.com_w - com)
    goal += o.com_damping * (target.com_vel_w - J @ data.qvel)
    yield rows, goal, o.com_weight
    turning = np.cross(forces[:, :3] - com, forces[:, 3:])
    rows = np.concatenate([np.zeros((3, nv)), turning.T], axis=1)
    goal = target.spin_rate_w + o.spin_damping * (target.spin_w - data.subtree_angmom[1])
    yield rows, goal, o.spin_weight
    yield np.eye(nv + len(forces))[nv:], np.zeros(len(forces)), o.force_weight
    trunk = robot.link_id(robot.root_link)
    rows, goal = _towards(frame, target, trunk, o.trunk_stiffness, o.trunk_damping)
    yield rows[:3], goal[:3], o.trunk_weight
    yield rows[3:], goal[3:], o.trunk_turn_weight
    for link in footing.tracked:
        yield *_towards(frame, target, link, o.swing_stiffness, o.swing_damping), o.swing_weight


def _towards(frame, target, link, kp, kd):  # type: ignore[no-untyped-def]
    J, vel, drift = frame.twist(link, frame.data.xpos[link])
    turn, difference = np.zeros(3), np.zeros(4)
    inverse = frame.data.xquat[link] * np.array([1.0, -1.0, -1.0, -1.0])
    mujoco.mju_mulQuat(difference, np.array(target.link_quat_w[link]), inverse)
    mujoco.mju_quat2Vel(turn, difference, 1.0)
    away = np.concatenate([target.link_pos_w[link] - frame.data.xpos[link], turn])
    goal = target.link_acc_w[link] + kp * away + kd * (target.link_vel_w[link] - vel) - drift
    return J, goal


def _stances(frame: Frame, footing: Footing, options: Options) -> tuple[Array, Array]:
    rows, right = [np.zeros((0, frame.model.nv))], [np.zeros(0)]
    for s, link in enumerate(footing.link):
        if footing.mode[s] == HUNG:
            continue
        J, vel, drift = frame.twist(link, frame.point_w(link, footing.point_l[s]))
        keep = np.eye(6)[:3]
        if footing.mode[s] == FACE:
            keep = np.eye(6)
        if footing.mode[s] == EDGE:
            along = frame.data.xmat[link].reshape(3, 3) @ footing.edge_l[s]
            across = np.cross(footing.normal_w[s], along)
            across /= np.linalg.norm(across)
            turns = np.stack([across, footing.normal_w[s]])
            keep = np.concatenate([keep, np.pad(turns, ((0, 0), (3, 0)))])
        rows.append(keep @ J)
        right.append(keep @ (-options.stance_damping * vel - drift))
    held = footing.held_dof
    rows.append(np.eye(frame.model.nv)[held])
    right.append(-options.stance_damping * frame.data.qvel[held])
    return np.concatenate(rows), np.concatenate(right)


def _limits(robot: Robot, state: State, o: Options) -> tuple[Array, Array]:
    q, v = state.qpos[robot.joint_qposadr], state.qvel[robot.joint_dofadr]
    speed = o.speed_share * robot.joint_speed
    fastest = np.minimum(speed, np.maximum(o.limit_rate * (robot.joint_max - q), -0.5))
    slowest = np.maximum(-speed, np.minimum(o.limit_rate * (robot.joint_min - q), 0.5))
    high = o.speed_rate * (fastest - v)
    return np.minimum(o.speed_rate * (slowest - v), high), high
