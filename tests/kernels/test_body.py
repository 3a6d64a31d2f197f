"""One frame of a tree for controllers, against MuJoCo on random states."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from make.trees import BRANCHED, PLANAR, engine_values, random_states, rigid_copy, robot_of, worst
from surefoot.arrays import door
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.tree import read_tree
from surefoot.kernels import body
from surefoot.robots.robot import Robot

FRAMES = 20
EXACT = 1e-10  # of the engine's own sums in another order


def measured(robot: Robot, qpos: np.ndarray, qvel: np.ndarray) -> body.Body:
    """The body at one state."""
    room = body.room_for(robot.model.nbody, robot.nv)
    body.measure(read_tree(robot.model), door(qpos), door(qvel), room)
    return room


@pytest.fixture(params=[BRANCHED, PLANAR], ids=["branched", "planar"])
def robot(request: Any) -> Robot:
    """A made robot with a free root, and one in the plane."""
    return robot_of(request.param)


def test_every_quantity_is_the_engines(robot: Robot) -> None:
    """Inertia, bias, centre, velocities and the Jacobian of a point at random states."""
    states = random_states(robot.model, FRAMES, seed=11)
    link, point_l = int(robot.model.dof_bodyid[-1]), np.array([0.1, -0.2, 0.3])
    want = engine_values(robot.model, states, link, point_l)
    found = [measured(robot, q, v) for q, v in zip(states.qpos, states.qvel, strict=True)]

    def rows(name: str) -> np.ndarray:
        return np.array([getattr(one, name) for one in found])

    armature = np.diag(read_tree(robot.model).dof_armature - robot.model.dof_armature)
    assert worst(rows("mass_matrix"), want["mass_matrix"] + armature) < EXACT
    assert worst(rows("bias"), want["bias"]) < EXACT
    assert worst(rows("pos"), want["link_pos_w"]) < EXACT
    assert worst(rows("vel"), want["link_vel_w"]) < EXACT
    assert worst(rows("com"), want["com_w"]) < EXACT
    assert worst(rows("mass") * rows("com_vel"), want["linear_momentum"]) < EXACT
    assert worst(rows("spin"), want["angular_momentum"]) < 1e-8  # a difference of large numbers
    out = np.empty((FRAMES, 6, robot.nv))
    for i, one in enumerate(found):
        body.jacobian(read_tree(robot.model), one, link, *want["point_w"][i], out[i])
    assert worst(out, want["jacobian"]) < EXACT


def test_drift_is_the_engines_jacobian_rate_times_velocity(robot: Robot) -> None:
    """J̇ q̇ of every link's origin by mj_jacDot."""
    states = random_states(robot.model, FRAMES, seed=12)
    model = rigid_copy(robot.model)
    data = mujoco.MjData(model)
    for qpos, qvel in zip(states.qpos, states.qvel, strict=True):
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        drift = measured(robot, qpos, qvel).drift
        want, rows = np.zeros_like(drift), np.zeros((6, robot.nv))
        for b in range(1, model.nbody):
            mujoco.mj_jacDot(model, data, rows[:3], rows[3:], data.xpos[b].copy(), b)
            want[b] = rows @ qvel
        assert np.abs(drift - want).max() < 1e-9 * max(1.0, np.abs(want).max())


def test_accelerations_of_links_are_drift_and_jacobian_times_acceleration(robot: Robot) -> None:
    """`Batch.link_acc_w` = J q̈ + J̇ q̇, with J of the batch and J̇ q̇ of the one frame."""
    states = random_states(robot.model, FRAMES, seed=13)
    batch = Batch(robot, states.qpos, states.qvel, states.qacc)
    for name in robot.link_names:
        link = robot.link_id(name)
        J = batch.jacobian(name, np.zeros(3))
        drift = [measured(robot, q, v).drift[link] for q, v in zip(states.qpos, states.qvel,
                                                                 strict=True)]  # fmt: skip
        want = np.einsum("nij,nj->ni", J, states.qacc) + np.array(drift)
        assert np.allclose(batch.link_acc_w[:, link], want, atol=1e-9)
