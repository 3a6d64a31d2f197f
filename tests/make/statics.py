"""Robots in contact for which the smallest torques are known, or asked of another solver."""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import mujoco
import numpy as np
from scipy import sparse

from surefoot.contacts.cones import Cones
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.wrench import required_wrench
from surefoot.index.distance import signed_distances
from surefoot.index.torque import Torques, joint_torques
from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.robots.robot import Robot

# A trunk of 8 kg, its mass 0.1 m before the hip, on one leg of 4 kg whose mass lies 0.05 m behind:
# together 0.05 m before the hip, above the toe.
HOPPER = """
<mujoco model="hopper">
  <compiler angle="radian"/>
  <worldbody>
    <body name="trunk" pos="0 0 0.6">
      <freejoint/>
      <inertial pos="0.1 0 0.2" mass="8" diaginertia="0.1 0.1 0.05"/>
      <body name="leg">
        <joint name="hip" axis="0 1 0"/>
        <inertial pos="-0.05 0 -0.3" mass="4" diaginertia="0.05 0.05 0.01"/>
        <body name="toe" pos="0.05 0 -0.6">
          <joint name="curl" axis="0 1 0"/>
          <inertial pos="0 0 0" mass="1e-9" diaginertia="1e-9 1e-9 1e-9"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@dataclass(frozen=True)
class Stood:
    """Samples of a robot with the contacts that carry it."""

    batch: Batch
    cones: Cones
    contacts: ContactSchedule

    @property
    def time(self) -> np.ndarray:
        return 0.01 * np.arange(self.batch.n)

    def torques(self) -> Torques:
        upper = self.upper()
        return joint_torques(
            self.batch, self.cones, self.contacts, upper, self.tolerance, self.time
        )

    def upper(self) -> np.ndarray:
        """Signed distance of what is required from what the contacts can give, N."""
        ref = self.batch.com_w
        return signed_distances(self.cones, required_wrench(self.batch, ref), ref).upper

    @property
    def tolerance(self) -> float:
        return 1e-9 * self.batch.robot.mass * 9.81

    def only(self, keep: np.ndarray) -> Stood:
        batch = self.batch
        kept = Batch(batch.robot, batch.qpos[keep], batch.qvel[keep], batch.qacc[keep])
        return Stood(kept, self.cones.picked(np.flatnonzero(keep)), self.contacts)


def stood(
    batch: Batch,
    feet: dict[str, np.ndarray],
    *,
    friction: float | dict[str, float] = 0.7,
    normals: dict[str, np.ndarray] | None = None,
) -> Stood:
    """Links that stand at every sample with vertices of their own frames, wherever these are."""
    pos, normal, mu, stance, local, stances = [], [], [], [], [], []
    for number, (link, vertices) in enumerate(feet.items()):
        k = batch.robot.link_id(link)
        turned = rotation.rotate(batch.link_quat_w[:, None, k], vertices)
        pos.append(batch.link_pos_w[:, None, k] + turned)
        up = np.array([0.0, 0.0, 1.0]) if normals is None else normals[link]
        slip = friction if isinstance(friction, float) else friction[link]
        shape = pos[-1].shape
        normal.append(np.broadcast_to(up, shape))
        mu.append(np.full(shape[:2], slip))
        stance.append(np.full(shape[:2], number))
        local.append(np.broadcast_to(vertices, shape))
        mode = {1: "point", 2: "edge"}.get(len(vertices), "face")
        stances.append(Stance(link, 0.0, 1e9, mode, vertices, normal=up, friction=slip))
    count = sum(len(vertices) for vertices in feet.values())

    def rows(parts: list[np.ndarray], *width: int) -> np.ndarray:
        none = np.zeros((batch.n, 0, *width))
        return np.concatenate([none, *parts], axis=1).reshape(-1, *width)

    cones = Cones(
        start=count * np.arange(batch.n + 1),
        vertex_pos=rows(pos, 3),
        vertex_normal=rows(normal, 3),
        vertex_friction=rows(mu),
        vertex_stance=rows(stance).astype(np.int64),
        vertex_l=rows(local, 3),
    )
    return Stood(batch, cones, ContactSchedule(tuple(stances)))


def shaken(robot: Robot, n: int, seed: int) -> Batch:
    """The home pose with joints bent by up to 0.3 rad, moving and accelerating moderately."""
    rng = np.random.default_rng(seed)
    qpos = np.repeat(robot.home[None], n, axis=0)
    qpos[:, robot.joint_qposadr] += rng.uniform(-0.3, 0.3, (n, len(robot.joint_names)))
    qpos[:, 3:7] = rotation.unit(qpos[:, 3:7] + rng.normal(size=(n, 4)) * 0.03)
    qvel = rng.normal(size=(n, robot.nv)) * 0.3
    qacc = rng.normal(size=(n, robot.nv)) * 0.5
    return Batch(robot, qpos, qvel, qacc)


def engine(state: Stood, i: int) -> tuple[mujoco.MjData, np.ndarray, list[np.ndarray]]:
    """The engine at sample i, M q̈ + bias, and what turns qvel into each vertex's velocity."""
    batch, model = state.batch, state.batch.robot.model
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = batch.qpos[i], batch.qvel[i], batch.qacc[i]
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    inertial = np.zeros(model.nv)
    mujoco.mj_mulM(model, data, inertial, batch.qacc[i])
    jacobians = []
    for row in range(*state.cones.start[i : i + 2]):
        link = state.contacts.stances[state.cones.vertex_stance[row]].link
        out = np.zeros((3, model.nv))
        point = state.cones.vertex_pos[row]
        mujoco.mj_jac(model, data, out, None, point, batch.robot.link_id(link))
        jacobians.append(out)
    return data, inertial + data.qfrc_bias, jacobians


def by_clarabel(state: Stood, i: int) -> float:
    """The smallest ratio of sample i: all forces as unknowns, root rows as equations."""
    robot, cones = state.batch.robot, state.cones
    _, need, jacobians = engine(state, i)
    weight, k, m = robot.mass * 9.81, len(jacobians), len(robot.joint_names)
    gives = np.zeros((robot.nv, 3 * k))
    cone, held, presses, kinds = [], [], [], []
    for v, row in enumerate(range(*cones.start[i : i + 2])):
        normal = cones.vertex_normal[row]
        side = np.linalg.svd(normal[None])[2][1:]
        gives[:, 3 * v : 3 * v + 3] = jacobians[v].T * weight
        rows = np.zeros((3, 3 * k + 1))
        rows[:, 3 * v : 3 * v + 3] = [cones.vertex_friction[row] * normal, *side]
        if cones.vertex_friction[row] > 0.0:
            cone.append(rows)
            kinds.append(clarabel.SecondOrderConeT(3))
            continue
        rows[0, 3 * v : 3 * v + 3] = normal  # a cone without an inside solvers do not solve
        presses.append(rows[:1])
        held.append(rows[1:])
    limit = robot.joint_torque[:, None]
    joints, h = gives[robot.joint_dofadr] / limit, need[robot.joint_dofadr] / limit[:, 0]
    root = np.hstack([gives[:6] / weight, np.zeros((6, 1))])
    both = np.vstack(
        [np.hstack([-joints, -np.ones((m, 1))]), np.hstack([joints, -np.ones((m, 1))])]
    )
    A = np.vstack([root, *held, both, *(-rows for rows in presses), *(-rows for rows in cone)])
    b = np.zeros(len(A))
    zero, bounds = 6 + 2 * len(held), 2 * m + len(presses)
    b[:6], b[zero : zero + 2 * m] = need[:6] / weight, np.concatenate([-h, h])
    cost = np.zeros(3 * k + 1)
    cost[-1] = 1.0
    options = clarabel.DefaultSettings()
    options.verbose = False
    kinds = [clarabel.ZeroConeT(zero), clarabel.NonnegativeConeT(bounds), *kinds]
    nothing = sparse.csc_matrix((3 * k + 1, 3 * k + 1))
    solver = clarabel.DefaultSolver(nothing, cost, sparse.csc_matrix(A), b, kinds, options)
    found = solver.solve()
    assert str(found.status) in ("Solved", "AlmostSolved")
    assert abs(found.obj_val - found.obj_val_dual) < 1e-6 * found.obj_val
    return float(found.obj_val)
