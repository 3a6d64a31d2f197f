"""The kernel against the engine's own mj_contactForce, contact by contact."""

from __future__ import annotations

import pathlib

import mujoco
import numpy as np
import pytest

from make.robots import biped
from surefoot.motion.contact import Surface, Terrain
from surefoot.simulation.forces import ContactForces
from surefoot.simulation.scene import scene_of

GROUND = Terrain(
    (
        Surface("plane", np.zeros(3), np.array([0.1, 0.0, np.sqrt(0.99)])),
        Surface("box", np.array([0.05, 0.2, 0.0]), size=np.array([0.2, 0.3, 0.02]), yaw=0.2),
    )
)


@pytest.mark.parametrize("steps", [1, 7, 40])
def test_forces_are_those_of_the_engine(steps: int, tmp_path: pathlib.Path) -> None:
    """A biped that collapses on a slope and a box; sums over contacts, link by link."""
    robot = biped(tmp_path)
    scene = scene_of(robot, GROUND, friction=0.5)
    model, data = scene.model, mujoco.MjData(scene.model)
    data.qpos[:] = robot.home
    data.qvel[:2] = [0.3, -0.2]
    mujoco.mj_step(model, data, nstep=steps)
    feet = np.array([robot.link_id("left_foot"), robot.link_id("right_foot")])
    found = ContactForces(scene, feet)
    found.read(data)
    assert data.ncon > 0
    expected, pressed = np.zeros((2, model.nbody, 3))
    load = np.zeros(model.nbody)
    for i in range(data.ncon):
        one, contact = np.zeros(6), data.contact[i]
        mujoco.mj_contactForce(model, data, i, one)
        world = contact.frame.reshape(3, 3).T @ one[:3]
        first, second = (int(scene.geom_link[g]) for g in contact.geom)
        link, sign = (second, 1.0) if first < 0 else (first, -1.0)
        expected[link] += sign * world
        pressed[link] += one[0] * contact.pos
        load[link] += one[0]
    np.testing.assert_allclose(found.force_w, expected, atol=1e-10)
    np.testing.assert_allclose(found.load_n, load, atol=1e-10)
    np.testing.assert_array_equal(found.carried_w, found.force_w[feet])
    np.testing.assert_array_equal(found.carried_n, found.load_n[feet])
    for c, link in enumerate(feet):
        cop = pressed[link] / load[link] if load[link] > 0 else np.zeros(3)
        np.testing.assert_allclose(found.cop_w[c], cop, atol=1e-12)
    assert found.vertical_n == pytest.approx(expected[:, 2].sum())


def test_a_standing_robot_presses_with_its_weight_under_its_centre_of_mass(
    tmp_path: pathlib.Path,
) -> None:
    """16 kg · 9.81 m/s² = 156.96 N on the ground, after one second with stiff servos."""
    robot = biped(tmp_path)
    m = len(robot.joint_names)
    scene = scene_of(
        robot, Terrain(), drive="servo", servo_gains=(np.full(m, 3000.0), np.full(m, 100.0))
    )
    data = mujoco.MjData(scene.model)
    data.qpos[:] = robot.home
    data.ctrl[:] = robot.home[robot.joint_qposadr]
    mujoco.mj_step(scene.model, data, nstep=1000)
    found = ContactForces(scene)
    found.read(data)
    assert found.vertical_n == pytest.approx(156.96, rel=1e-3)
    np.testing.assert_allclose(found.total_cop_w, data.subtree_com[0, :2], atol=1e-3)
    points = data.contact.pos
    assert np.all(points.min(axis=0)[:2] < found.total_cop_w)
    assert np.all(points.max(axis=0)[:2] > found.total_cop_w)


def test_nothing_touches_in_the_air(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    scene = scene_of(robot, Terrain())
    data = mujoco.MjData(scene.model)
    data.qpos[:] = robot.home
    data.qpos[2] += 1.0
    mujoco.mj_step(scene.model, data)
    found = ContactForces(scene, np.array([robot.link_id("left_foot")]))
    found.read(data)
    assert not found.force_w.any()
    assert found.total_cop_w == (0.0, 0.0)
