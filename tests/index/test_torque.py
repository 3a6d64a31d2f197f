"""The smallest torques: by hand, by another solver, and by the engine's forward dynamics."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import surefoot as sf
from make.statics import HOPPER, Stood, by_clarabel, engine, shaken, stood
from make.trees import robot_of
from surefoot.dynamics.batch import Batch
from surefoot.robots.robot import Robot

AGREED = 1e-4  # relative, as the documents promise
POINT = np.zeros((1, 3))


@pytest.fixture(scope="module")
def robot() -> Robot:
    return sf.load_robot("human25")


def hopper(limits: tuple[float, float] = (10.0, 5.0)) -> Robot:
    return replace(robot_of(HOPPER), joint_torque=np.array(limits))


def at_rest(robot: Robot, qpos: np.ndarray | None = None) -> Batch:
    still = np.zeros((1, robot.nv))
    return Batch(robot, robot.home[None] if qpos is None else qpos, still, still)


def soles(robot: Robot) -> dict[str, np.ndarray]:
    return {sole.link: sole.polygon_l for sole in robot.soles if "foot" in sole.link}


def compared(state: Stood, least: int) -> None:
    """All feasible samples agree with the other solver; there must be enough of them."""
    found = state.torques()
    feasible = np.flatnonzero(found.feasible)
    assert len(feasible) >= least
    assert found.unconverged == 0
    for i in feasible:
        assert found.ratio[i] == pytest.approx(by_clarabel(state, int(i)), rel=AGREED)


def test_on_a_point_the_torque_is_that_of_the_trunk_about_the_hip() -> None:
    """8 kg 0.1 m before the hip: 8 · 9.81 · 0.1 = 7.848 N m of 10; about the toe nothing."""
    robot = hopper()
    found = stood(at_rest(robot), {"toe": POINT}).torques()
    assert found.ratio[0] == pytest.approx(0.7848, rel=1e-6)
    assert found.joint == ("hip",)
    assert np.abs(np.abs(found.torque[0]) - [7.848, 0.0]).max() < 1e-6
    assert np.abs(found.force_w[0] - [0.0, 0.0, 12.0 * 9.81]).max() < 1e-6


def test_an_edge_shares_the_load_so_that_the_larger_ratio_is_smallest() -> None:
    """Two toes' ends ±0.1 m about the curl joint, which is limited to 5 N m.

    The centre of mass lies above the joint at 0.05 m before the hip: both ends carry alike, since
    balance leaves no choice, and the torques are those of the point.
    """
    ends = np.array([[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]])
    found = stood(at_rest(hopper()), {"toe": ends}).torques()
    assert found.ratio[0] == pytest.approx(0.7848, rel=AGREED)
    assert np.abs(found.force_w[:, 2] - 6.0 * 9.81).max() < 1e-3


def test_a_hundred_standing_states_agree_with_another_solver(robot: Robot) -> None:
    """Seed 1: of 240 shaken states on both feet, eight vertices, friction 0.7."""
    compared(stood(shaken(robot, 240, seed=1), soles(robot)), least=100)


@pytest.mark.parametrize("friction", [0.0, 1e-3, 0.3, 10.0])
def test_little_and_much_friction_agree(robot: Robot, friction: float) -> None:
    """Seed 2; without friction only upright wrenches are carried: the robot at rest."""
    batch = shaken(robot, 60, seed=2)
    if friction < 0.1:
        rest = np.zeros((60, robot.nv))
        batch = Batch(robot, batch.qpos, rest, rest)
    compared(stood(batch, soles(robot), friction=friction), least=10)


def test_feet_on_different_slopes_and_a_hand_on_a_wall_agree(robot: Robot) -> None:
    """Seed 3; normals lean by 0.3 and −0.2 rad, the hand pushes against a wall beside it."""
    feet = soles(robot)
    left, right = list(feet)
    hand = next(name for name in robot.link_names if "hand" in name or "wrist" in name)
    normals = {
        left: np.array([np.sin(0.3), 0.0, np.cos(0.3)]),
        right: np.array([0.0, np.sin(-0.2), np.cos(0.2)]),
        hand: np.array([0.0, -1.0, 0.0]),
    }
    compared(stood(shaken(robot, 30, seed=3), {**feet, hand: POINT}, normals=normals), least=10)


def test_hands_between_opposite_walls_agree(robot: Robot) -> None:
    """Seed 4: the cone contains a line, and forces could grow without bound were it not for t."""
    hands = [name for name in robot.link_names if "hand" in name or "wrist" in name][:2]
    normals = dict(zip(hands, np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]), strict=True))
    feet = soles(robot)
    normals |= dict.fromkeys(feet, np.array([0.0, 0.0, 1.0]))
    both = {**feet, **dict.fromkeys(hands, POINT)}
    compared(stood(shaken(robot, 20, seed=4), both, normals=normals), least=10)


def test_one_foot_agrees(robot: Robot) -> None:
    """Seed 5; each pose is moved so that the centre of mass comes above the sole's middle."""
    batch = shaken(robot, 30, seed=5)
    link, polygon = next(iter(soles(robot).items()))
    still = np.zeros((30, robot.nv))
    qpos = batch.qpos.copy()
    vertices = polygon * [3.0, 3.0, 1.0]  # so wide that many poses stand on it
    compared(stood(Batch(robot, qpos, still, still), {link: vertices}), least=5)


def test_forward_dynamics_with_torques_and_forces_gives_the_motion_back(robot: Robot) -> None:
    """Seed 6: the engine moves as the motion says when it is given exactly what was found."""
    state = stood(shaken(robot, 20, seed=6), soles(robot))
    found = state.torques()
    model = robot.model
    for i in np.flatnonzero(found.judged):
        data, need, jacobians = engine(state, int(i))
        rows = slice(*state.cones.start[i : i + 2])
        given = sum(J.T @ f for J, f in zip(jacobians, found.force_w[rows], strict=True))
        given[robot.joint_dofadr] += found.torque[i]
        assert np.abs(given - need).max() < 1e-6 * np.abs(need).max()
        acc = np.zeros((1, robot.nv))
        mujoco.mj_solveM(model, data, acc, (given - data.qfrc_bias)[None])
        assert np.abs(acc[0] - state.batch.qacc[i]).max() < 1e-4


def test_forces_lie_inside_their_friction_cones(robot: Robot) -> None:
    found = (state := stood(shaken(robot, 40, seed=7), soles(robot), friction=0.4)).torques()
    weight = robot.mass * 9.81
    normal = found.force_w[:, 2]
    assert np.all(np.hypot(*found.force_w[:, :2].T) <= 0.4 * normal + 1e-7 * weight)
    assert found.ratio[found.judged] == pytest.approx(
        np.abs(found.torque[found.judged] / robot.joint_torque).max(axis=1)
    )
    assert not np.isnan(found.ratio).any()
    assert np.all(found.torque[~found.judged] == 0.0)
    assert np.all(found.judged == (state.upper() <= state.tolerance))


def test_more_contacts_never_ask_for_more(robot: Robot) -> None:
    feet = soles(robot)
    batch = shaken(robot, 30, seed=8)
    fewer = {link: vertices[[0, 2]] for link, vertices in feet.items()}
    all_of_them, few = stood(batch, feet).torques(), stood(batch, fewer).torques()
    both = all_of_them.judged & few.judged
    assert both.sum() > 3
    assert np.all(all_of_them.ratio[both] <= few.ratio[both] * (1.0 + AGREED))


def test_where_the_contacts_cannot_carry_there_is_no_ratio() -> None:
    robot = hopper()
    qpos = robot.home[None].copy()
    found = stood(at_rest(robot, qpos), {"leg": np.array([[0.3, 0.0, -0.6]])}).torques()
    assert found.ratio[0] == np.inf
    assert found.joint == (None,)
    summary = found.summary()
    assert summary["worst_ratio"] is None
    assert summary["reason"] == "at no sample can the contacts give the required wrench"
    assert summary["unconverged"] == 0


def test_in_free_fall_the_ratio_is_that_of_the_bent_joint() -> None:
    """Nothing carries and nothing is required of it; M q̈ + bias holds the joints as they fall."""
    robot = hopper()
    acc = np.zeros((1, robot.nv))
    acc[0, 2] = -9.81
    batch = Batch(robot, robot.home[None], np.zeros((1, robot.nv)), acc)
    found = stood(batch, {}).torques()
    assert found.feasible.all()
    assert found.ratio[0] == pytest.approx(0.0, abs=1e-12)


def test_joints_without_a_limit_are_left_out_and_said() -> None:
    found = stood(at_rest(hopper((np.inf, 5.0))), {"toe": POINT}).torques()
    assert found.unknown_joints == ("hip",)
    assert found.ratio[0] == pytest.approx(0.0, abs=1e-6)
    assert abs(found.torque[0, 0]) == pytest.approx(7.848)
    assert [notice.sentence for notice in found.notices] == [
        "1 joint has no known torque limit and was not judged: hip"
    ]


def test_round_soles_spare_two_joints_all_torque(robot: Robot) -> None:
    """32 vertices and two known limits: forces can spare both joints, and many ratios are 0."""
    angle = np.arange(16) * np.pi / 8
    ring = 0.06 * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(16)])
    feet = {link: ring + corners.mean(axis=0) for link, corners in soles(robot).items()}
    limits = np.full(len(robot.joint_names), np.inf)
    limits[[robot.joint_names.index(name) for name in ("left_hip_roll", "left_knee")]] = 60.0
    found = stood(shaken(replace(robot, joint_torque=limits), 60, seed=5), feet).torques()
    assert found.feasible.sum() > 10
    assert found.unconverged == 0
    assert np.all(found.ratio[found.feasible] >= 0.0)


def test_without_any_known_limit_the_answer_is_null_with_a_reason() -> None:
    found = stood(at_rest(hopper((np.inf, np.inf))), {"toe": POINT}).torques()
    assert found.ratio[0] == np.inf
    summary = found.summary()
    assert summary["worst_ratio"] is None
    assert summary["fraction_beyond"] is None
    assert summary["reason"] == "no joint has a known torque limit"
    assert summary["unconverged"] == 0


def test_on_the_very_edge_of_the_support_a_ratio_is_found_or_counted() -> None:
    """The centre of mass above one side of the sole: only that side can carry."""
    robot = hopper()
    sole = np.array([[0.0, -0.05, 0.0], [0.0, 0.05, 0.0], [0.1, 0.05, 0.0], [0.1, -0.05, 0.0]])
    found = stood(at_rest(robot), {"toe": sole}).torques()
    if found.judged[0]:
        assert found.ratio[0] == pytest.approx(0.7848, rel=AGREED)
    else:
        assert found.unconverged + int(not found.feasible[0]) == 1


def test_samples_are_judged_alike_alone_and_among_others(robot: Robot) -> None:
    state = stood(shaken(robot, 20, seed=9), soles(robot))
    together = state.torques()
    for i in range(0, 20, 5):
        keep = np.arange(20) == i
        assert state.only(keep).torques().ratio[0] == pytest.approx(together.ratio[i], rel=AGREED)
