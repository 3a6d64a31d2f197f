"""The closed form against Z written down term by term in numpy, and against a minimiser of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

from surefoot.kernels import analytic, body, desire

DOFS, JOINTS, CARRYING = 10, 4, 2
UNKNOWNS = JOINTS + 6 * CARRYING
SEEDS = range(5)


@dataclass
class Case:
    """Random data of a small robot: ten degrees of freedom, four joints, two feet that carry."""

    rng: np.random.Generator
    body: body.Body
    feet: desire.Feet
    wish: analytic.Wish
    room: analytic.Room
    weights: analytic.Weights
    acc: np.ndarray


def case(seed: int, **weights: object) -> Case:
    rng = np.random.default_rng(seed)
    room = analytic.room_for(range(6, 10), np.full(JOINTS, np.inf), DOFS, CARRYING)
    one = body.room_for(2, DOFS)
    root = rng.normal(size=(DOFS, DOFS))
    one.mass_matrix[:] = root @ root.T + 3.0 * np.eye(DOFS)
    one.bias[:] = 10.0 * rng.normal(size=DOFS)
    feet = desire.feet_room([1, 1], DOFS)
    for name in ("jac", "drift", "wanted", "point"):
        getattr(feet, name)[:] = rng.normal(size=getattr(feet, name).shape)
    feet.weight[:] = rng.uniform(1.0, 100.0, 12)
    wish = analytic.wish_room(CARRYING)
    wish.foot[:] = (0, 1)
    wish.point[:] = feet.point
    for name in ("cop", "foot_cop", "force", "com"):
        getattr(wish, name)[:] = rng.normal(size=getattr(wish, name).shape)
    wish.sharp[:] = (1.0, 7.0)
    every: dict[str, object] = {
        "q": rng.uniform(0.1, 10.0, DOFS),
        "torque": rng.uniform(1e-3, 1e-2, JOINTS),
        "force": 0.02,
        "moment": 0.03,
        "cop": 0.5,
        "foot_cop": 0.7,
        "spin": 0.1,
    }
    every.update(weights)
    return Case(rng, one, feet, wish, room, analytic.Weights(**every), rng.normal(size=DOFS))


def closed_form(c: Case) -> tuple[np.ndarray, np.ndarray]:
    """A and b by the kernels."""
    assert analytic.respond(c.body, c.feet, CARRYING, c.wish, c.room)
    analytic.assemble(c.acc, c.feet, CARRYING, c.wish, c.weights, c.room)
    A = np.tril(c.room.A)
    return A + np.tril(A, -1).T, c.room.b.copy()


def crossed(a: np.ndarray) -> np.ndarray:
    """[a ×]."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def to_cop(about: np.ndarray) -> np.ndarray:
    """C of (11), corrected, for a point at any height."""
    x, y, z = about
    return np.array([[0.0, z, -y, 1.0, 0.0, 0.0], [-z, 0.0, x, 0.0, 1.0, 0.0]])


def moved(c: Case, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and r̈ by (6) and (4)."""
    S = np.zeros((DOFS, JOINTS))
    S[6:] = np.eye(JOINTS)
    push = S @ y[:JOINTS] + c.feet.jac.T @ y[JOINTS:] - c.body.bias
    acc = np.linalg.solve(c.body.mass_matrix, push)
    return acc, c.feet.jac @ acc + c.feet.drift


def terms(c: Case, y: np.ndarray) -> dict[str, float]:
    """Every term of (7) by its own formula."""
    tau, f = y[:JOINTS], y[JOINTS:]
    acc, foot = moved(c, y)
    T = [np.block([[np.eye(3), np.zeros((3, 3))], [crossed(r), np.eye(3)]]) for r in c.wish.point]
    P = to_cop(c.wish.cop) @ np.hstack(T)
    V = np.hstack([np.hstack([crossed(r - c.wish.com), np.eye(3)]) for r in c.wish.point])
    W_f = np.tile([c.weights.force] * 3 + [c.weights.moment] * 3, CARRYING)
    feet = [
        k * np.sum((to_cop(p) @ t @ f[6 * s : 6 * s + 6]) ** 2)
        for s, (p, t, k) in enumerate(zip(c.wish.foot_cop, T, c.wish.sharp, strict=True))
    ]
    return {
        "b": 0.5 * c.weights.cop * float(np.sum((P @ f) ** 2)),
        "q": 0.5 * float(c.weights.q @ (c.acc - acc) ** 2),
        "c": 0.5 * float(c.feet.weight @ (c.feet.wanted - foot) ** 2),
        "tau": 0.5 * float(c.weights.torque @ tau**2),
        "f": 0.5 * float(W_f @ (c.wish.force.ravel() - f) ** 2),
        "p": 0.5 * c.weights.foot_cop * float(sum(feet)),
        "m": 0.5 * c.weights.spin * float(np.sum((V @ f) ** 2)),
    }


ALONE = {
    "b": ("cop",),
    "q": ("q",),
    "c": (),
    "tau": ("torque",),
    "f": ("force", "moment"),
    "p": ("foot_cop",),
    "m": ("spin",),
}


@pytest.mark.parametrize("term", ALONE)
@pytest.mark.parametrize("seed", SEEDS)
def test_each_term_alone_is_its_formula(term: str, seed: int) -> None:
    """All other weights zero: ½ yᵀ A y + yᵀ b and the term differ by a constant."""
    full = case(seed).weights
    off = {n: getattr(full, n) * 0.0 for n in full._fields if n not in ALONE[term]}
    c = case(seed, **off)
    if term != "c":
        c.feet.weight[:] = 0.0
    A, b = closed_form(c)
    y1, y2 = c.rng.normal(size=(2, UNKNOWNS))

    def value(y: np.ndarray) -> float:
        return float(0.5 * y @ A @ y + y @ b)

    want = terms(c, y1)[term] - terms(c, y2)[term]
    assert value(y1) - value(y2) == pytest.approx(want, rel=1e-9)
    assert want != 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_all_terms_together(seed: int) -> None:
    c = case(seed)
    A, b = closed_form(c)
    y1, y2 = c.rng.normal(size=(2, UNKNOWNS))
    found = 0.5 * y1 @ A @ y1 + y1 @ b - 0.5 * y2 @ A @ y2 - y2 @ b
    want = sum(terms(c, y1).values()) - sum(terms(c, y2).values())
    assert found == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_minimiser_of_z_finds_the_same_torques_and_forces(seed: int) -> None:
    """BFGS on Z itself; to the accuracy of its differences."""
    c = case(seed)
    closed_form(c)
    assert analytic.solve(UNKNOWNS, 1e3, 1, c.room) == 0

    def cost(y: np.ndarray) -> float:
        return sum(terms(c, y).values())

    found = minimize(cost, np.zeros(UNKNOWNS), method="BFGS", options={"gtol": 1e-9})
    assert cost(c.room.y) <= found.fun + 1e-9
    assert np.allclose(c.room.y, found.x, atol=2e-3 * np.abs(found.x).max())


def test_wrench_at_the_pressure_costs_nothing() -> None:
    """(11) corrected: a wrench of 544 N and 40 N across, at height 0.1 m, about where it acts."""
    force = np.array([40.0, -25.0, 544.0])
    cop = np.array([0.32, -0.20, 0.1])
    link = np.array([0.3, -0.1, 0.2])
    row, out = np.concatenate([force, np.cross(cop - link, force)]), np.zeros(6)
    for i in range(2):
        analytic._moment_row(link, cop, i, out)
        assert out @ row == pytest.approx(0.0, abs=1e-10)
    printed = np.array([-cop[0], -cop[1], 0.0])
    analytic._moment_row(link, printed, 0, out)
    assert out @ row == pytest.approx(2.0 * -0.20 * 544.0 - 0.1 * -25.0, rel=1e-12)


def test_torque_beyond_its_limit_is_set_to_it() -> None:
    """Solved again with the limit as its goal: others take over, and Z is less than if cut."""
    c = case(3)
    closed_form(c)
    analytic.solve(UNKNOWNS, 1e6, 1, c.room)
    free = c.room.y.copy()
    over = int(np.argmax(np.abs(free[:JOINTS])))
    c.room.limit[over] = 0.5 * abs(free[over])
    assert analytic.solve(UNKNOWNS, 1e6, 3, c.room) >= 1
    again = c.room.y.copy()
    assert again[over] == pytest.approx(np.sign(free[over]) * c.room.limit[over], rel=1e-3)
    cut = free.copy()
    cut[over] = again[over]
    assert sum(terms(c, again).values()) < sum(terms(c, cut).values())


def test_torques_never_leave_their_limits() -> None:
    c = case(4)
    closed_form(c)
    c.room.limit[:] = 1e-3
    analytic.solve(UNKNOWNS, 1e3, 1, c.room)
    assert np.all(np.abs(c.room.y[:JOINTS]) <= 1e-3)


def test_not_a_number_is_said() -> None:
    c = case(0)
    c.body.mass_matrix[0, 0] = np.nan
    assert not analytic.respond(c.body, c.feet, CARRYING, c.wish, c.room)
