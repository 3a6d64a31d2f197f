"""The balance controller: its pendulum against scipy, its observer, its forms on a point mass."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_are
from scipy.signal import place_poles

from surefoot.control.balance import (
    Balance,
    BalanceParameters,
    Form,
    Pendulum,
    discretised,
    pendulum,
)
from surefoot.errors import BadOption

G = 9.81
HEIGHT = 0.88
OMEGA = np.sqrt(G / HEIGHT)


@pytest.fixture(scope="module")
def model() -> Pendulum:
    """A person of 1.6 m."""
    return pendulum(HEIGHT, G, BalanceParameters())


def test_state_equation_is_the_pendulum_on_a_base(model: Pendulum) -> None:
    """c̈ = ω² (c − b) and b̈ = u, by hand."""
    c, b, dc, db, u = 0.03, -0.01, 0.2, 0.4, 5.0
    rate = model.A0 @ [c, b, dc, db] + model.B0 * u
    assert np.allclose(rate, [dc, db, G / HEIGHT * (c - b), u], rtol=1e-14)


def test_gains_solve_the_riccati_equation_in_seconds(model: Pendulum) -> None:
    """The same cost in s and m, solved anew: Q = diag(q_c, q_p, 0, 0), R = ω^-4."""
    p = BalanceParameters()
    Q, R = np.diag([p.com_weight, p.cop_weight, 0.0, 0.0]), np.array([[OMEGA**-4]])
    P = solve_continuous_are(model.A0, model.B0[:, None], Q, R)
    assert np.allclose(model.K, (model.B0 @ P) * OMEGA**4, rtol=1e-8)


def test_gains_are_those_of_the_prototype(model: Pendulum) -> None:
    """K and poles for Ω = 7, σ = 1.3 and 0.88 m as found with other code."""
    assert np.allclose(model.K, [-1724.98, 829.09, -470.84, 40.72], rtol=2e-5)
    poles = np.sort_complex(np.linalg.eigvals(model.regulated[0]))
    want = [-16.52 - 16.52j, -16.52 + 16.52j, -3.84 - 1.89j, -3.84 + 1.89j]
    assert np.allclose(poles, want, atol=0.01)


def test_poles_are_the_stable_roots_of_the_symmetric_polynomial(model: Pendulum) -> None:
    """(s² − 1)² (s⁴ + q_p) + q_c = 0 for rate weights of zero, s in ω."""
    p = BalanceParameters()
    square = np.polymul([1.0, 0.0, -1.0], [1.0, 0.0, -1.0])
    whole = np.polymul(square, [1.0, 0.0, 0.0, 0.0, p.cop_weight])
    whole[-1] += p.com_weight
    roots = np.roots(whole)
    stable = np.sort_complex(roots[roots.real < 0.0])
    found = np.sort_complex(np.linalg.eigvals(model.regulated[0]) / OMEGA)
    assert np.allclose(found, stable, atol=1e-6)


def test_placing_the_same_poles_gives_the_same_gains(model: Pendulum) -> None:
    poles = np.linalg.eigvals(model.regulated[0])
    placed = place_poles(model.A0, model.B0[:, None], poles)
    assert np.allclose(placed.gain_matrix[0], model.K, rtol=1e-6)


def test_observer_poles_are_double_and_as_asked(model: Pendulum) -> None:
    """A double root of a computed matrix splits by the root of the rounding: 1e-6 of 20."""
    poles = np.sort(np.linalg.eigvals(model.A0 - model.L @ model.H).real) / OMEGA
    assert np.allclose(poles, [-6.0, -6.0, -2.0, -2.0], atol=1e-5)
    assert np.allclose(model.L, [[40.07, 0.0], [0.0, 13.36], [412.5, 0.0], [0.0, 44.59]], rtol=1e-3)


def test_observer_finds_velocities_from_positions(model: Pendulum) -> None:
    """Truth and estimate side by side for 1 s; the truth falls, the estimate catches up with it.

    The slow double pole −2 ω leaves (1 + 2 ω t) e^{−2 ω t} of 1: 1 % at 1 s.
    """
    A = np.zeros((8, 8))
    A[:4, :4] = model.A0
    A[4:, :4] = model.L @ model.H
    A[4:, 4:] = model.A0 - model.L @ model.H
    both = np.array([0.01, 0.0, 0.1, -0.2, 0.0, 0.0, 0.0, 0.0])
    late = expm(A * 1.0) @ both
    left = (1.0 + 2.0 * OMEGA) * np.exp(-2.0 * OMEGA)
    assert np.abs(late[:4]).max() > 0.3
    assert np.abs(late[4:] - late[:4]).max() < 2.0 * left * 0.2


def test_step_of_25_is_the_solution_of_1(model: Pendulum) -> None:
    """1000 small steps of Euler's rule on the exact rate, extrapolated twice, in one of 5 ms."""
    A, B = model.regulated
    x0, u = np.array([0.02, -0.01, 0.1, 0.3]), np.array([0.05])

    def euler(steps: int) -> np.ndarray:
        x = x0.copy()
        for _ in range(steps):
            x = x + 0.005 / steps * (A @ x + B @ u)
        return x

    fine = euler(2000)
    finer = euler(4000)
    Ad, Bd = discretised(A, B, 0.005)
    assert np.allclose(Ad @ x0 + Bd @ u, 2.0 * finer - fine, atol=1e-8)


def test_two_half_steps_are_a_whole_one(model: Pendulum) -> None:
    A, B = model.observed
    half, part = discretised(A, B, 0.001)
    whole, input_ = discretised(A, B, 0.002)
    assert np.allclose(half @ half, whole, atol=1e-12)
    assert np.allclose(half @ part + part, input_, atol=1e-12)


def test_a_new_reference_moves_the_pressure_the_other_way_first(model: Pendulum) -> None:
    """Step of 1 m in steps of 5 ms: −0.93 m after 22, back through 0 after 50, 0.85 m at 100."""
    A, B = discretised(*model.regulated, 0.005)
    x, path = np.zeros(4), [0.0]
    for _ in range(100):
        x = A @ x + B[:, 0]
        path.append(x[1])
    assert int(np.argmin(path)) == 22
    assert min(path) == pytest.approx(-0.93, abs=0.005)
    assert path[50] < 0.0 < path[53]
    assert path[100] == pytest.approx(0.85, abs=0.005)


def follow(form: Form, amplitude: float, seconds: float = 6.0) -> float:
    """Largest late error of a point mass that sways at 0.5 Hz, in m."""
    dt, omega = 0.002, OMEGA
    balance = Balance(form, BalanceParameters(), dt=dt)
    rate = 2.0 * np.pi * 0.5
    com, vel, cop, worst = np.zeros(2), np.zeros(2), np.zeros(2), 0.0
    vel[1] = amplitude * rate
    for i in range(int(seconds / dt)):
        t = i * dt
        place = np.array([0.0, amplitude * np.sin(rate * t), HEIGHT])
        speed = np.array([0.0, amplitude * rate * np.cos(rate * t), 0.0])
        zmp = np.array([0.0, place[1] * (1.0 + rate**2 / omega**2), 0.0])
        full = np.array([com[0], com[1], HEIGHT])
        fast = np.array([vel[0], vel[1], 0.0])
        cop = balance.desired_cop(full, fast, cop, (place, speed, zmp), gravity=G)
        c, s = np.cosh(omega * dt), np.sinh(omega * dt)
        off = com - cop
        com, vel = cop + c * off + s / omega * vel, omega * s * off + c * vel
        if t > seconds / 2.0:
            worst = max(worst, float(np.abs(com - place[:2]).max()))
    return worst


def test_fed_forward_and_capture_follow_a_sway() -> None:
    """What is left is the reference held over 2 ms steps."""
    assert follow("feedforward", 0.05) < 0.001
    assert follow("capture", 0.05) < 0.001


def test_literal_form_lags_behind_a_sway() -> None:
    """The reference's place alone: a regulator of that bandwidth lags by centimetres."""
    assert follow("literal", 0.05) > 0.01


@pytest.mark.parametrize("form", ["literal", "feedforward", "capture"])
def test_all_forms_answer_a_standing_robot_with_its_place(form: Form) -> None:
    balance = Balance(form, BalanceParameters(), dt=0.002)
    place = np.array([0.4, -0.3, HEIGHT])
    rest = (place, np.zeros(3), np.array([0.4, -0.3, 0.0]))
    for _ in range(50):
        cop = balance.desired_cop(place, np.zeros(3), place[:2], rest, gravity=G)
    assert np.allclose(cop, [0.4, -0.3], atol=1e-9)


def test_without_a_measured_pressure_the_observer_believes_itself() -> None:
    """One step without measurement: as if what it expects had been measured."""
    rest = (np.array([0.0, 0.0, HEIGHT]), np.zeros(3), np.zeros(3))
    com = np.array([0.01, 0.0, HEIGHT])
    found = []
    for cop in (None, "expected"):
        balance = Balance("feedforward", BalanceParameters(), dt=0.002)
        balance.desired_cop(com, np.zeros(3), np.zeros(2), rest, gravity=G)
        assert balance.state is not None
        measured = None if cop is None else balance.state[1]
        found.append(balance.desired_cop(com, np.zeros(3), measured, rest, gravity=G))
    assert np.array_equal(found[0], found[1])


def test_reset_forgets_the_height() -> None:
    balance = Balance("capture", BalanceParameters(), dt=0.002)
    off, fast = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])

    def ask(height: float) -> float:
        ref = (np.array([0.0, 0.0, height]), np.zeros(3), np.zeros(3))
        return float(balance.desired_cop(off, fast, None, ref, gravity=G)[0])

    high = ask(1.0)
    assert ask(0.25) == high
    balance.reset()
    assert ask(0.25) == pytest.approx(high / 2.0, rel=1e-12)


def test_unknown_form_is_refused() -> None:
    with pytest.raises(BadOption, match="no balance form 'lqr', there are: literal, feedforward"):
        Balance("lqr", BalanceParameters(), dt=0.002)


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(BadOption, match="balance cop_weight must be positive, got 0"):
        BalanceParameters(cop_weight=0.0)
    with pytest.raises(BadOption, match="balance com_weight must be zero or more, got -1"):
        BalanceParameters(com_weight=-1.0)
