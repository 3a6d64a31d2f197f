"""The robot as a value: names, engine's order there and back, JSON, pickles."""

from __future__ import annotations

import json
import pathlib
import pickle

import numpy as np
import pytest

from make.robots import biped, planar
from surefoot.errors import BadMotion, UnknownName
from surefoot.motion import rotation
from surefoot.motion.curves import Rates
from surefoot.motion.motion import Motion
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot


@pytest.fixture(scope="module")
def walker(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("biped"))


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return planar(tmp_path_factory.mktemp("planar"))


def _random_motion(robot: Robot, *, seed: int = 0, n: int = 20) -> Motion:
    """n random poses; of a planar robot in its plane."""
    rng = np.random.default_rng(seed)
    place, turn = rng.normal(size=(n, 3)), rng.normal(size=(n, 4))
    if robot.root_kind == "planar":
        place[:, 1] = 0.0
        turn[:, [1, 3]] = 0.0
    joints = rng.normal(size=(n, len(robot.joint_names)))
    return Motion(np.arange(float(n)), place, rotation.unit(turn), robot.joint_names, joints)


def test_names_lead_to_the_engines_numbers(walker: Robot) -> None:
    assert walker.link_names[0] == "pelvis"
    assert len(walker.link_names) == walker.model.nbody - 1
    for name in walker.link_names:
        assert walker.model.body(walker.link_id(name)).name == name
    for j, name in enumerate(walker.joint_names):
        joint = walker.model.joint(name)
        assert walker.joint_ids[j] == joint.id
        assert walker.joint_qposadr[j] == joint.qposadr[0]
        assert walker.joint_dofadr[j] == joint.dofadr[0]


def test_unknown_link_is_answered_with_the_nearest(walker: Robot) -> None:
    with pytest.raises(UnknownName) as caught:
        walker.link_id("left_fot")
    assert str(caught.value).startswith(
        "link 'left_fot' is not in robot 'biped'. Did you mean 'left_foot'"
    )
    with pytest.raises(UnknownName):
        walker.link_id("world")


@pytest.mark.parametrize("which", ["walker", "flat"])
def test_motion_survives_the_way_to_the_engine_and_back(
    which: str, request: pytest.FixtureRequest
) -> None:
    robot: Robot = request.getfixturevalue(which)
    motion = _random_motion(robot)
    again = robot.motion(robot.qpos(motion), motion.time)
    np.testing.assert_allclose(again.root_pos, motion.root_pos, atol=1e-14)
    np.testing.assert_array_equal(again.joint_pos, motion.joint_pos)
    same = np.abs(np.sum(again.root_quat * motion.root_quat, axis=1))
    np.testing.assert_allclose(same, 1.0, atol=1e-14)


@pytest.mark.parametrize("which", ["walker", "flat"])
def test_root_is_where_the_engine_puts_it(which: str, request: pytest.FixtureRequest) -> None:
    """The engine's kinematics of qpos: the root link's place and orientation are the motion's."""
    robot: Robot = request.getfixturevalue(which)
    motion = _random_motion(robot, seed=1)
    data = mujoco.MjData(robot.model)
    for i, qpos in enumerate(robot.qpos(motion)):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(robot.model, data)
        np.testing.assert_allclose(data.xpos[1], motion.root_pos[i], atol=1e-13)
        matrix = rotation.as_matrix(motion.root_quat[i])
        np.testing.assert_allclose(data.xmat[1].reshape(3, 3), matrix, atol=1e-13)


@pytest.mark.parametrize("which", ["walker", "flat"])
def test_velocities_are_those_of_the_engine(which: str, request: pytest.FixtureRequest) -> None:
    """qvel against mj_differentiatePos of two poses a small step apart, and the root's velocity
    against the engine's (mj_objectVelocity in world axes)."""
    robot: Robot = request.getfixturevalue(which)
    rng = np.random.default_rng(2)
    motion = _random_motion(robot, n=1)
    lin, ang = rng.normal(size=(1, 3)), rng.normal(size=(1, 3))
    if robot.root_kind == "planar":
        lin[:, 1], ang[:, [0, 2]] = 0.0, 0.0
    joint = rng.normal(size=(1, len(robot.joint_names)))
    zero = np.zeros((1, 3))
    rates = Rates(motion.time, lin, ang, joint, zero, zero, 0.0 * joint, robot.joint_names)
    step = 1e-6
    turned = rotation.multiply(motion.root_quat, rotation.from_rotvec(ang * step))
    later = Motion(
        motion.time, motion.root_pos + lin * step, turned, robot.joint_names,
        motion.joint_pos + joint * step,
    )  # fmt: skip
    qvel = np.zeros(robot.nv)
    mujoco.mj_differentiatePos(robot.model, qvel, step, robot.qpos(motion)[0], robot.qpos(later)[0])
    np.testing.assert_allclose(robot.qvel(rates)[0], qvel, atol=1e-8)
    data = mujoco.MjData(robot.model)
    data.qpos[:], data.qvel[:] = robot.qpos(motion)[0], robot.qvel(rates)[0]
    mujoco.mj_forward(robot.model, data)
    velocity = np.zeros(6)
    body = int(mujoco.mjtObj.mjOBJ_XBODY)
    mujoco.mj_objectVelocity(robot.model, data, body, 1, velocity, 0)
    np.testing.assert_allclose(velocity[3:], lin[0], atol=1e-12)
    np.testing.assert_allclose(velocity[:3], rotation.rotate(motion.root_quat, ang)[0], atol=1e-12)


def test_accelerations_stand_in_the_order_of_velocities(walker: Robot) -> None:
    rng = np.random.default_rng(3)
    a, b, c = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 8))
    zero, time = np.zeros((5, 3)), np.arange(5.0)
    as_velocity = Rates(time, a, b, c, zero, zero, 0 * c, walker.joint_names)
    as_acceleration = Rates(time, zero, zero, 0 * c, a, b, c, walker.joint_names)
    np.testing.assert_array_equal(walker.qacc(as_acceleration), walker.qvel(as_velocity))


def test_joints_in_another_order_find_their_places(walker: Robot) -> None:
    motion = _random_motion(walker)
    order = np.random.default_rng(4).permutation(8)
    shuffled = Motion(
        motion.time,
        motion.root_pos,
        motion.root_quat,
        tuple(walker.joint_names[k] for k in order),
        motion.joint_pos[:, order],
    )
    np.testing.assert_array_equal(walker.qpos(shuffled), walker.qpos(motion))


def test_foreign_and_missing_joints_are_named(walker: Robot) -> None:
    motion = _random_motion(walker)
    names = ("left_kne", *walker.joint_names[1:])
    wrong = Motion(motion.time, motion.root_pos, motion.root_quat, names, motion.joint_pos)
    with pytest.raises(BadMotion) as caught:
        walker.qpos(wrong)
    assert str(caught.value).startswith(
        "joint 'left_kne' is not in robot 'biped'. Did you mean 'left_knee'"
    )
    short = Motion(
        motion.time,
        motion.root_pos,
        motion.root_quat,
        walker.joint_names[1:],
        motion.joint_pos[:, 1:],
    )
    with pytest.raises(BadMotion, match="joint 'left_hip_roll' of robot 'biped' is missing"):
        walker.qpos(short)


@pytest.mark.parametrize(
    ("place", "quat"),
    [
        ((0.0, 0.01, 0.0), (1.0, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, 0.0), (np.cos(0.1), 0.0, 0.0, np.sin(0.1))),
    ],
)
def test_planar_robot_refuses_to_leave_its_plane(
    flat: Robot, place: tuple[float, ...], quat: tuple[float, ...]
) -> None:
    motion = Motion(
        np.zeros(1), np.array([place]), np.array([quat]), flat.joint_names, np.zeros((1, 4))
    )
    with pytest.raises(
        BadMotion, match="robot 'planar' moves in the x-z plane, but the root leaves"
    ):
        flat.qpos(motion)


def test_planar_pitch_goes_on_past_half_a_turn(flat: Robot) -> None:
    pitch = np.linspace(0.0, 7.0, 50)
    turn = np.stack([np.cos(pitch / 2), 0 * pitch, np.sin(pitch / 2), 0 * pitch], axis=-1)
    motion = Motion(np.arange(50.0), np.zeros((50, 3)), turn, flat.joint_names, np.zeros((50, 4)))
    np.testing.assert_allclose(flat.qpos(motion)[:, 2], -pitch, atol=1e-12)  # its axis is −y


@pytest.mark.parametrize("which", ["walker", "flat"])
def test_home_pose_stands_on_the_ground(which: str, request: pytest.FixtureRequest) -> None:
    """Zero pose. Biped: 0.05 + 0.4 + 0.37 + 0.03 = 0.85 m. Planar: 0.1 + 0.4 + 0.03 = 0.53 m."""
    robot: Robot = request.getfixturevalue(which)
    assert robot.home_height == pytest.approx({"walker": 0.85, "flat": 0.53}[which], abs=1e-12)


def test_summary_is_json_without_infinities(walker: Robot) -> None:
    summary = json.loads(json.dumps(walker.summary(), allow_nan=False))
    assert list(summary) == [
        "name", "source", "mass_kg", "dof", "joints", "soles", "home_height_m", "notices",
    ]  # fmt: skip
    assert summary["mass_kg"] == pytest.approx(16.0)
    assert summary["dof"] == 14
    assert summary["joints"][0] == {
        "name": "left_hip_roll", "min": -0.6, "max": 0.6, "speed": None, "torque": 40.0,
    }  # fmt: skip
    assert summary["soles"][0]["side"] == "left"
    assert len(summary["soles"][0]["polygon_m"][0]) == 3


def test_pickled_robot_is_the_same_and_locked(walker: Robot) -> None:
    again = pickle.loads(pickle.dumps(walker))
    assert again.summary() == walker.summary()
    np.testing.assert_array_equal(again.model.body_mass, walker.model.body_mass)
    for array in (again.home, again.joint_min, again.soles[0].polygon_l):
        assert not array.flags.writeable


def test_landmarks_survive_a_pickle_locked() -> None:
    again = pickle.loads(pickle.dumps(load_robot("human25")))
    assert not again.landmarks["left_toe"].point_l.flags.writeable


def test_robots_are_told_apart_by_identity(walker: Robot, tmp_path: pathlib.Path) -> None:
    other = biped(tmp_path)
    assert walker == walker
    assert walker != other
    assert len({walker, other}) == 2
