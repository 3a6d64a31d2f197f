"""Pinocchio as a third witness beside MuJoCo: another author's recursion of the same tree."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from make.trees import BRANCHED, random_states, robot_of, worst
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.wrench import required_wrench
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

pin = pytest.importorskip("pinocchio", reason="Pinocchio absent: pip install '.[test-pin]'")

AGREED = 1e-10


def twin(robot: Robot) -> pin.Model:
    """Pinocchio's model of a robot with one joint a link, built link by link."""
    source = robot.model
    model = pin.Model()
    model.gravity.linear[:] = source.opt.gravity
    joints = {0: 0}
    frames = {0: pin.SE3.Identity()}  # of each link in its joint's frame
    for b in range(1, source.nbody):
        up = int(source.body_parentid[b])
        placed = frames[up] * pin.SE3(matrix(source.body_quat[b]), source.body_pos[b].copy())
        joints[b], frames[b] = joints[up], placed
        for j in range(source.body_jntadr[b], source.body_jntadr[b] + source.body_jntnum[b]):
            kind, anchor = int(source.jnt_type[j]), source.jnt_pos[j].copy()
            if kind == 0:
                joints[b] = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), str(j))
                frames[b] = pin.SE3.Identity()
                continue
            axis = source.jnt_axis[j].copy()
            one = pin.JointModelRevoluteUnaligned if kind == 3 else pin.JointModelPrismaticUnaligned
            at = frames[b] * pin.SE3(np.eye(3), anchor)
            joints[b] = model.addJoint(joints[b], one(axis), at, str(j))
            frames[b] = pin.SE3(np.eye(3), -anchor)
        if source.body_weldid[b] != 0 and source.body_mass[b] > 0.0:
            R = matrix(source.body_iquat[b])
            inertia = R @ np.diag(source.body_inertia[b]) @ R.T
            body = pin.Inertia(float(source.body_mass[b]), source.body_ipos[b].copy(), inertia)
            model.appendBodyToJoint(joints[b], body, frames[b])
    return model


def matrix(quat: np.ndarray) -> np.ndarray:
    w, x, y, z = quat
    return pin.Quaternion(float(w), float(x), float(y), float(z)).toRotationMatrix()


def test_wrench_momentum_and_inertia_are_those_of_pinocchio() -> None:
    """Its free joint has velocities in body axes, quaternions (x, y, z, w); armature added here."""
    robot = robot_of(BRANCHED)
    model = twin(robot)
    data = model.createData()
    states = random_states(robot.model, 200, seed=41)
    batch = Batch(robot, states.qpos, states.qvel, states.qacc)
    R_wb = batch.link_rot_wl[:, 1]
    rows: list[np.ndarray] = []
    torques, momenta = [], []
    for i in range(batch.n):
        R, q, v, a = R_wb[i], states.qpos[i].copy(), states.qvel[i].copy(), states.qacc[i].copy()
        q[3:7] = np.roll(q[3:7], -1)
        q[7:] -= robot.model.qpos0[7:]
        a[:3] = R.T @ (a[:3] - np.cross(R @ v[3:6], v[:3]))  # acceleration of a moving frame
        v[:3] = R.T @ v[:3]
        tau = pin.rnea(model, data, q, v, a)
        rows.append(np.concatenate([R @ tau[:3], R @ tau[3:6]]))
        torques.append(tau[6:] + robot.model.dof_armature[6:] * a[6:])
        pin.computeCentroidalMomentum(model, data, q, v)
        momenta.append(np.concatenate([data.hg.linear, data.hg.angular]))
    assert worst(required_wrench(batch, states.qpos[:, :3]), np.stack(rows)) < AGREED
    assert worst(batch.inverse_dynamics()[:, 6:], np.stack(torques)) < AGREED
    assert worst(batch.momentum, np.stack(momenta)) < AGREED


@pytest.mark.shared
@pytest.mark.parametrize(
    "file",
    [
        "talos/talos_reduced_box.urdf",
        "variants/g1_urdf/g1_29dof_rev_1_0.urdf",
        "variants/t1_urdf/T1_serial.urdf",
        "variants/talos_full/talos_full_v2.urdf",
    ],
)
def test_robot_of_a_urdf_is_that_of_pinocchios_own_reader(file: str, shared: pathlib.Path) -> None:
    """The file read by another program: mass, joints and limits by name, centre and inertia.

    Two inertias of talos are impossible; the engine replaces 2e-4 kg m² of the grippers, so there
    the entries of the mass matrix may differ by that much.
    """
    path = shared / "data" / "robots" / file
    robot = load_robot(path)
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    assert sorted(model.names[2:]) == sorted(robot.joint_names)
    assert pin.computeTotalMass(model) == pytest.approx(robot.mass, rel=1e-12)
    order = [model.joints[model.getJointId(name)].idx_v for name in robot.joint_names]
    place = [model.joints[model.getJointId(name)].idx_q for name in robot.joint_names]
    np.testing.assert_allclose(robot.joint_min, model.lowerPositionLimit[place])
    np.testing.assert_allclose(robot.joint_max, model.upperPositionLimit[place])
    np.testing.assert_allclose(robot.joint_speed, model.velocityLimit[order])
    np.testing.assert_allclose(robot.joint_torque, model.effortLimit[order])
    states = random_states(robot.model, 50, seed=43)
    batch = Batch(robot, states.qpos)
    tolerance = 3e-4 if "talos" in file else 1e-10
    for i in range(batch.n):
        q = np.zeros(model.nq)
        q[:7] = states.qpos[i, [0, 1, 2, 4, 5, 6, 3]]
        q[place] = states.qpos[i, robot.joint_qposadr]
        com = pin.centerOfMass(model, data, q)
        np.testing.assert_allclose(batch.com_w[i], com, atol=1e-10)
        pin.crba(model, data, q)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        got = batch.mass_matrix[i][np.ix_(robot.joint_dofadr, robot.joint_dofadr)]
        np.testing.assert_allclose(got, M[np.ix_(order, order)], atol=tolerance)
