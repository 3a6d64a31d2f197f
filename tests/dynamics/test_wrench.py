"""Required wrench, momentum rate, ZMP and path coefficients against laws and known answers."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from make.trees import (
    BALL,
    BRANCHED,
    PLANAR,
    States,
    engine_values,
    random_states,
    robot_of,
    worst,
)
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.wrench import (
    momentum_rate,
    path_coefficients,
    required_wrench,
    weight_w,
    zmp,
)
from surefoot.errors import BadMotion
from surefoot.robots.robot import Robot

AGREED = 1e-10  # relative, as issue 12 asks
STEP_S = 1e-4  # central differences: error h² times the third derivative, about 1e-7 relative
DIFFERENCE = 1e-5  # what such differences are held to, relative


def batch_of(robot: Robot, states: States, **options: int) -> Batch:
    return Batch(robot, states.qpos, states.qvel, states.qacc, **options)


def stepped(robot: Robot, states: States, dt: float) -> States:
    """The states a moment later, to second order: q ∘ exp(v dt + a dt²/2), v + a dt."""
    qpos = states.qpos.copy()
    for q, v, a in zip(qpos, states.qvel, states.qacc, strict=True):
        mujoco.mj_integratePos(robot.model, q, v * dt + 0.5 * a * dt * dt, 1.0)
    return States(qpos, states.qvel + dt * states.qacc, states.qacc)


def momentum_about(batch: Batch, point_w: np.ndarray) -> np.ndarray:
    """Linear momentum, and angular momentum about a point that stands still."""
    out = batch.momentum.copy()
    out[:, 3:] += np.cross(batch.com_w - point_w, out[:, :3])
    return out


def rate_by_difference(robot: Robot, states: States, point_w: np.ndarray) -> np.ndarray:
    before, after = (batch_of(robot, stepped(robot, states, dt)) for dt in (-STEP_S, STEP_S))
    return (momentum_about(after, point_w) - momentum_about(before, point_w)) / (2.0 * STEP_S)


def test_the_root_rows_of_the_engine_are_the_power_of_the_required_wrench(robot: Robot) -> None:
    """For a free root: force in world axes, then moment about its origin turned into body axes."""
    states = random_states(robot.model, 1000, seed=21)
    root = robot.link_id(robot.root_link)
    want = engine_values(robot.model, states, root, np.zeros(3))
    rows = int(robot.model.body_dofnum[root])
    wrench = required_wrench(batch_of(robot, states), want["link_pos_w"][:, root])
    power = np.einsum("nij,ni->nj", want["jacobian"][:, :, :rows], wrench)
    assert worst(power, want["inverse_dynamics"][:, :rows]) < AGREED
    if robot.root_kind == "free":
        moment_b = np.einsum("nji,nj->ni", want["link_rot_wl"][:, root], wrench[:, 3:])
        assert worst(np.hstack([wrench[:, :3], moment_b]), power) < AGREED


def test_momentum_rate_is_required_wrench_plus_gravity_about_the_centre_of_mass(
    robot: Robot,
) -> None:
    states = random_states(robot.model, 100, seed=23)
    batch = batch_of(robot, states)
    want = required_wrench(batch, batch.com_w).copy()
    want[:, :3] += robot_mass(robot) * robot.model.opt.gravity
    assert worst(momentum_rate(batch), want) < AGREED


def robot_mass(robot: Robot) -> float:
    return float(np.sum(robot.model.body_mass[robot.model.body_weldid != 0]))


def test_momentum_rate_is_the_finite_difference_of_momentum(robot: Robot) -> None:
    states = random_states(robot.model, 50, seed=24)
    batch = batch_of(robot, states)
    got = momentum_rate(batch)
    slow = rate_by_difference(robot, states, batch.com_w)
    # about a point that stands where the centre of mass passes, the rate is the same
    assert worst(got[:, :3], slow[:, :3]) < DIFFERENCE
    assert worst(got[:, 3:], slow[:, 3:]) < DIFFERENCE


def test_required_wrench_moves_to_another_point_by_its_force(robot: Robot) -> None:
    batch = batch_of(robot, random_states(robot.model, 20, seed=25))
    a, b = np.full((20, 3), 0.3), np.tile([1.0, -2.0, 0.5], (20, 1))
    at_a, at_b = required_wrench(batch, a), required_wrench(batch, b)
    assert np.array_equal(at_a[:, :3], at_b[:, :3])
    assert worst(at_b[:, 3:], at_a[:, 3:] + np.cross(a - b, at_a[:, :3])) < AGREED


def test_armature_never_enters_the_required_wrench() -> None:
    """Neither of a free nor of a planar root, whose slides would seem to have mass."""
    for xml in (BRANCHED, PLANAR):
        robot = robot_of(xml)
        heavy = robot_of(
            xml.replace("<worldbody>", "<default><joint armature='9'/></default><worldbody>")
        )
        states = random_states(robot.model, 10, seed=26)
        plain, rotors = batch_of(robot, states), batch_of(heavy, states)
        assert np.array_equal(plain.com_wrench, rotors.com_wrench)
        assert np.abs(plain.inverse_dynamics() - rotors.inverse_dynamics()).max() > 1.0


def test_in_free_fall_nothing_is_required() -> None:
    """All points fall alike: the base with gravity, in world axes, the joints at rest."""
    robot = robot_of(BRANCHED)
    states = random_states(robot.model, 10, seed=27)
    falling = np.zeros_like(states.qacc)
    falling[:, :3] = robot.model.opt.gravity
    batch = Batch(robot, states.qpos, np.zeros_like(falling), falling)
    assert np.abs(required_wrench(batch, states.qpos[:, :3])).max() < 1e-12 * 14.0 * 9.7
    assert not zmp(batch, 0.0).defined.any()


def still(robot: Robot, states: States) -> Batch:
    rest = np.zeros_like(states.qvel)
    return Batch(robot, states.qpos, rest, rest)


def test_standing_still_the_zmp_lies_below_the_centre_of_mass_along_gravity(robot: Robot) -> None:
    """Gravity of one of the made robots is tilted, on purpose."""
    batch = still(robot, random_states(robot.model, 20, seed=28))
    point = zmp(batch, -0.2)
    assert point.defined.all()
    down = robot.model.opt.gravity / robot.model.opt.gravity[2]
    want = batch.com_w + (-0.2 - batch.com_w[:, 2:]) * down
    assert np.abs(point.point_w - want).max() < 1e-12


def test_the_zmp_of_a_ball_is_that_of_the_cart_and_table() -> None:
    """x = c_x − (c_z − h) a_x / (a_z + g), less the rate of spin over the vertical force.

    Mass 5 kg, radius 0.1 m, I = 2/5 m r² = 0.02 kg m²; c = (1, 2, 0.8), a = (0.5, −0.25, 1.19),
    spin rate (3, −4, 0) rad/s², h = 0.05: F_z = 5 · 11 = 55, x = 1 − (−0.08 + 0.75 · 2.5)/55,
    y = 2 + (0.06 + 0.75 · 1.25)/55.
    """
    robot = robot_of(BALL)
    qpos = np.array([[1.0, 2.0, 0.8, 1.0, 0.0, 0.0, 0.0]])
    qacc = np.array([[0.5, -0.25, 1.19, 3.0, -4.0, 0.0]])
    batch = Batch(robot, qpos, np.zeros((1, 6)), qacc)
    want = [1.0 - (-0.08 + 0.75 * 2.5) / 55.0, 2.0 + (0.06 + 0.75 * 1.25) / 55.0, 0.05]
    assert np.abs(zmp(batch, np.array([0.05])).point_w[0] - want).max() < 1e-12


def test_about_the_zmp_the_required_wrench_has_no_horizontal_moment(robot: Robot) -> None:
    states = random_states(robot.model, 200, seed=29)
    batch = batch_of(robot, states)
    point = zmp(batch, 0.1)
    assert point.defined.any()
    about = required_wrench(batch, point.point_w)[point.defined]
    # near free fall the point is far away: the moment is small against the arm times the force
    arm = np.linalg.norm(point.point_w - batch.com_w, axis=1)[point.defined]
    force = np.linalg.norm(about[:, :3], axis=1)
    assert np.max(np.abs(about[:, 3:5]).max(axis=1) / (arm * force)) < AGREED


def test_where_nothing_presses_the_zmp_is_marked_and_finite() -> None:
    """Vertical force 1e-6 of the weight is the edge; pulling is not pressing."""
    robot = robot_of(BALL)
    weight = 5.0 * 9.81
    press = np.array([1.0, 2e-6, 0.5e-6, 0.0, -1.0]) * weight
    qacc = np.zeros((5, 6))
    qacc[:, 0], qacc[:, 2] = 1.0, press / 5.0 - 9.81
    qpos = np.tile([0.3, 0.4, 0.5, 1.0, 0.0, 0.0, 0.0], (5, 1))
    point = zmp(Batch(robot, qpos, np.zeros((5, 6)), qacc), 0.0)
    assert point.defined.tolist() == [True, True, False, False, False]
    assert np.isfinite(point.point_w).all()
    assert np.array_equal(point.point_w[2:], np.tile([0.3, 0.4, 0.0], (3, 1)))


def test_path_coefficients_are_three_inverse_dynamics(robot: Robot) -> None:
    """a = W(q, 0, V) − W(q, 0, 0), b = W(q, V, V′) − W(q, 0, 0), c = W(q, 0, 0)."""
    states = random_states(robot.model, 100, seed=30)
    rest = np.zeros_like(states.qvel)
    ref = np.tile([0.4, -0.3, 0.2], (100, 1))

    def wrench(qvel: np.ndarray, qacc: np.ndarray) -> np.ndarray:
        return required_wrench(Batch(robot, states.qpos, qvel, qacc), ref)

    held = wrench(rest, rest)
    path = path_coefficients(batch_of(robot, states), ref)
    assert worst(path.c, held) < AGREED
    assert worst(path.a, wrench(rest, states.qvel) - held) < AGREED
    assert worst(path.b, wrench(states.qvel, states.qacc) - held) < AGREED


def test_path_coefficients_give_the_wrench_of_any_timing_of_the_path(robot: Robot) -> None:
    """q̇ = V ṡ and q̈ = V s̈ + V′ ṡ²; ṡ and s̈ differ from frame to frame."""
    states = random_states(robot.model, 100, seed=31)
    rng = np.random.default_rng(32)
    speed, change = rng.uniform(0.2, 3.0, (100, 1)), rng.normal(size=(100, 1)) * 4.0
    ref = np.tile([0.4, -0.3, 0.2], (100, 1))
    path = path_coefficients(batch_of(robot, states), ref)
    timed = Batch(
        robot,
        states.qpos,
        states.qvel * speed,
        states.qvel * change + states.qacc * speed**2,
    )
    want = required_wrench(timed, ref)
    assert worst(path.a * change + path.b * speed**2 + path.c, want) < AGREED


def test_path_coefficients_give_the_finite_difference_of_a_warped_motion(robot: Robot) -> None:
    """About a fixed point, dL/dt − gravity, with s(t) = ṡ t + s̈ t²/2 walked along the path."""
    states = random_states(robot.model, 30, seed=33)
    speed, change = 1.7, -2.3
    warped = States(states.qpos, states.qvel * speed, states.qvel * change + states.qacc * speed**2)
    fixed = np.tile([0.4, -0.3, 0.2], (30, 1))
    batch = batch_of(robot, states)
    path = path_coefficients(batch, fixed)
    weight = np.zeros((30, 6))
    weight[:, :3] = weight_w(batch)
    weight[:, 3:] = np.cross(batch.com_w - fixed, weight[:, :3])
    want = rate_by_difference(robot, warped, fixed) - weight
    assert worst(path.a * change + path.b * speed**2 + path.c, want) < DIFFERENCE


def test_about_a_fixed_point_b_is_the_derivative_of_a(robot: Robot) -> None:
    """a is the momentum per unit of ṡ, so b = da/ds (feasibility notes, section 7)."""
    states = random_states(robot.model, 30, seed=34)
    fixed = np.tile([0.4, -0.3, 0.2], (30, 1))
    want = rate_by_difference(robot, states, fixed)
    assert worst(path_coefficients(batch_of(robot, states), fixed).b, want) < DIFFERENCE


def test_uniform_speed_up_scales_what_motion_adds_to_the_weight(robot: Robot) -> None:
    """Known answer 17 of the feasibility notes: w_k = c + k² (w − c)."""
    states = random_states(robot.model, 20, seed=35)
    k = 1.3
    ref = np.zeros((20, 3))
    faster = Batch(robot, states.qpos, k * states.qvel, k * k * states.qacc)
    w, c = required_wrench(batch_of(robot, states), ref), required_wrench(still(robot, states), ref)
    assert worst(required_wrench(faster, ref), c + k * k * (w - c)) < AGREED


def test_results_are_locked(robot: Robot) -> None:
    batch = batch_of(robot, random_states(robot.model, 3, seed=36))
    ref = np.zeros((3, 3))
    path, point = path_coefficients(batch, ref), zmp(batch, 0.0)
    values = (path.a, path.b, path.c, point.point_w, point.defined)
    assert not any(value.flags.writeable for value in values)


def test_a_wrench_without_accelerations_is_refused() -> None:
    batch = Batch(robot_of(PLANAR), np.zeros((2, 5)), np.zeros((2, 5)))
    for ask in (
        lambda: required_wrench(batch, np.zeros((2, 3))),
        lambda: momentum_rate(batch),
        lambda: zmp(batch, 0.0),
        lambda: path_coefficients(batch, np.zeros((2, 3))),
    ):
        with pytest.raises(BadMotion) as caught:
            ask()
        assert caught.value.sentence == (
            "this quantity needs accelerations, and the batch has none. "
            "Make it as Batch(robot, qpos, qvel, qacc)"
        )
