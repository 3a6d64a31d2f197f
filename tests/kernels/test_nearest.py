"""The nearest points of cones against slow twins in numpy, and how the bounds move on the way.

Few samples, so that all of it also runs with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from make.stances import FAMILIES, columns_of, problems
from surefoot.arrays import Array, door
from surefoot.kernels import cone as cone_kernels
from surefoot.kernels import nearest
from surefoot.kernels.columns import columns, shapes
from surefoot.kernels.cone import Cone
from surefoot.kernels.nearest import INSIDE, OPEN, SETTLED, nearest_points

TURNS = 720
CASES = [(family, how) for family in FAMILIES for how in ("far", "near", "close")]


class Asked:
    """Problems as the kernel takes them, and its answers."""

    def __init__(self, a: Array, friction: Array, inward: Array, w: Array, sides: int = 0) -> None:
        n, k, dim = len(w), a.shape[1], w.shape[1]
        self.first = k * np.arange(n + 1)
        self.a, self.friction = door(a.reshape(n * k, 3, dim)), door(friction.reshape(-1))
        self.inward, self.w, self.sides, self.dim = door(inward), door(w), sides, dim
        self.least, self.common = np.zeros(n * k), np.zeros(n, dtype=np.bool_)
        self.rank, self.rays = np.zeros(n, dtype=np.int64), np.zeros((n, dim, dim))
        shapes(
            self.first, self.a, self.friction, sides, self.inward,
            self.least, self.common, self.rank, self.rays,
        )  # fmt: skip
        self.lower, self.upper, self.dual = np.zeros(n), np.zeros(n), np.zeros((n, dim))
        self.status, self.carriers = np.zeros(n, dtype=np.int64), np.zeros((n, dim + 1, dim))

    def solve(self, tol: float = 1e-9, wanted: Array | None = None) -> Asked:
        every = np.ones(len(self.w), dtype=np.bool_)
        nearest_points(
            every if wanted is None else wanted, self.first, self.a, self.friction, self.sides,
            self.inward, door(self.least), self.w, tol,
            self.lower, self.upper, self.dual, self.carriers, self.status,
        )  # fmt: skip
        return self


def asked(family: str, how: str, count: int = 6, sides: int = 0) -> Asked:
    given = problems(family, how, count, seed=21)
    a = columns_of(given.pos, given.normal, given.ref)
    inward = np.zeros((count, 6))
    inward[:, :3] = given.normal.mean(axis=1)
    inward /= np.linalg.norm(inward, axis=1, keepdims=True)
    return Asked(a, np.full((count, 8), given.friction), inward, given.wrench, sides)


def rays_of(given: Asked, i: int, turns: int) -> Array:
    rows = slice(given.first[i], given.first[i + 1])
    angle = 2.0 * np.pi * np.arange(turns) / turns
    slip = given.friction[rows, None, None]
    a = given.a[rows]
    tilt = np.cos(angle)[:, None] * a[:, None, 1] + np.sin(angle)[:, None] * a[:, None, 2]
    return (a[:, None, 0] + slip * tilt).reshape(-1, given.dim)


def test_columns_are_the_wrenches_of_unit_forces() -> None:
    given = problems("slopes and heights", "far", 5, seed=1)
    found, length = np.empty((40, 3, 6)), 0.4
    pos, normal = given.pos.reshape(-1, 3), given.normal.reshape(-1, 3)
    columns(8 * np.arange(6), door(pos), door(normal), door(given.ref), length, found)
    expected = columns_of(given.pos, given.normal, given.ref).reshape(-1, 3, 6)
    expected[:, :, 3:] /= length
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("sides", [0, 3, 4, 7])
def test_the_support_of_a_vertex_is_the_best_of_its_rays(sides: int) -> None:
    """Of 720 turns round the circle for circular cones: short of the best by 1e-5 at most."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        a, x, mu = rng.normal(size=(1, 3, 6)), rng.normal(size=6), float(rng.uniform(0.0, 2.0))
        cone = Cone(door(a), door([mu]), sides, door(x), door([1.0]))
        angle = 2.0 * np.pi * np.arange(sides or TURNS) / (sides or TURNS)
        tilt = np.cos(angle)[:, None] * a[0, 1] + np.sin(angle)[:, None] * a[0, 2]
        for sign in (1.0, -1.0):
            best = np.max(sign * (a[0, 0] + mu * tilt) @ x)
            product, c, s = cone_kernels.support(cone, 0, sign, door(x))
            slack = 1e-12 if sides else 1e-5 * np.linalg.norm(a) * np.linalg.norm(x) * mu + 1e-12
            assert best - 1e-12 <= product <= best + slack
            ray = np.empty(6)
            size = cone_kernels.write_ray(cone, 0, c, s, ray)
            assert sign * (ray @ x) == pytest.approx(product, abs=1e-12)
            assert size == pytest.approx(np.linalg.norm(ray), rel=1e-14)
        assert cone_kernels.reach(cone, 0, door(x)) == pytest.approx(
            cone_kernels.support(cone, 0, 1.0, door(x))[0], abs=1e-12
        )


@pytest.mark.parametrize(("family", "how"), CASES)
def test_pyramids_have_the_distance_of_non_negative_least_squares(family: str, how: str) -> None:
    """The twin takes all rays at once; its residual is right to 1e-9 of the wrench."""
    given = asked(family, how, sides=6).solve()
    for i, w in enumerate(given.w):
        _, distance = nnls(rays_of(given, i, 6).T, w, maxiter=10_000)
        size = np.linalg.norm(w)
        assert given.lower[i] - 1e-9 * size <= distance <= given.upper[i] + 1e-9 * size


@pytest.mark.parametrize(("family", "how"), CASES)
def test_circular_cones_lie_between_pyramids_inside_and_around_them(family: str, how: str) -> None:
    inner, circle = asked(family, how, sides=64).solve(), asked(family, how).solve()
    outer = asked(family, how, sides=64)
    wide = Asked(
        outer.a.reshape(-1, 8, 3, 6), outer.friction / np.cos(np.pi / 64),
        outer.inward, outer.w, 64,
    ).solve()  # fmt: skip
    size = 1e-12 * np.linalg.norm(circle.w, axis=1)
    assert np.all(circle.lower <= inner.upper + size)
    assert np.all(wide.lower <= circle.upper + size)


@pytest.mark.parametrize(("family", "how"), CASES)
def test_settled_bounds_are_proven_by_their_dual_and_carriers(family: str, how: str) -> None:
    given = asked(family, how).solve()
    for i, w in enumerate(given.w):
        if given.status[i] == INSIDE:
            assert given.upper[i] <= 1e-12 * np.linalg.norm(w)
            continue
        assert given.status[i] == SETTLED
        assert given.upper[i] - given.lower[i] <= 1e-9 * given.upper[i]
        rays = rays_of(given, i, TURNS)
        assert np.max(rays @ given.dual[i] / np.linalg.norm(rays, axis=1)) <= 1e-12
        assert given.dual[i] @ w == pytest.approx(given.lower[i], abs=1e-12 * np.linalg.norm(w))
        weights, rest = nnls(given.carriers[i].T, w)
        assert rest <= given.upper[i] + 1e-12 * np.linalg.norm(w)
        assert np.all(weights >= 0.0)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_the_upper_bound_falls_with_every_step_and_the_lower_one_never(
    family: str,
) -> None:
    """The loop in Python over the compiled or plain steps, as `_nearest` takes them."""
    given = asked(family, "near", 3)
    active = workspace(6)
    for i, w in enumerate(given.w):
        cone, m = one_cone(given, i), np.int64(0)
        lower, uppers, lowers = 0.0, [], []
        for _ in range(nearest.MOST_STEPS):
            upper = nearest.make_rest(active, door(w), m)
            lower, j, c, s = nearest._judge(cone, door(w), active.row[0], lower, active)
            uppers.append(upper)
            lowers.append(lower)
            if upper <= 1e-12 * np.linalg.norm(w) or upper - lower <= 1e-6 * upper or j < 0:
                break
            m = nearest.add(cone, door(w), j, c, s, m, active)
            assert m >= 0
        assert np.all(np.diff(uppers) < 0.0)
        assert np.all(np.diff(lowers) >= 0.0)
        assert lowers[-1] <= uppers[-1] * (1.0 + 1e-12)


def one_cone(given: Asked, i: int) -> Cone:
    rows = slice(given.first[i], given.first[i + 1])
    return Cone(given.a[rows], given.friction[rows], 0, given.inward[i], door(given.least[rows]))


def workspace(dim: int) -> nearest.Active:
    return nearest.Active(
        np.zeros(dim + 1, np.int64),
        np.zeros((dim + 1, 4)),
        np.zeros((dim + 1, dim)),
        np.zeros((dim + 1, dim)),
        np.zeros((dim + 1, dim + 1)),
        np.zeros((4, dim)),
        np.zeros((3, dim + 1, dim)),
    )


def test_a_looser_tolerance_stops_earlier_around_the_same_distance() -> None:
    for family in FAMILIES:
        fine = asked(family, "near").solve()
        before = np.full(len(fine.w), np.inf)
        for tol in (0.5, 0.1, 1e-2, 1e-4, 1e-9):
            given = asked(family, "near")
            for i in range(len(given.w)):  # each from nothing: a memory may begin anywhere
                wanted = np.zeros(len(given.w), dtype=np.bool_)
                wanted[i] = True
                given.solve(tol, wanted)
            size = 1e-12 * np.linalg.norm(given.w, axis=1)
            assert np.all(given.upper <= before + size)
            assert np.all(given.lower <= fine.upper + size)
            assert np.all(fine.lower <= given.upper + size)
            before = given.upper.copy()


def test_only_wanted_samples_are_touched() -> None:
    given = asked("two flat soles", "far")
    given.lower[:], given.status[:] = 7.0, 9
    wanted = np.array([True, False, True, False, False, True])
    given.solve(wanted=wanted)
    assert np.all(given.lower[~wanted] == 7.0)
    assert np.all(given.status[~wanted] == 9)
    assert np.all(given.status[wanted] == SETTLED)


@pytest.mark.parametrize("dim", [1, 2, 3, 7])
def test_other_dimensions_agree_with_non_negative_least_squares(dim: int) -> None:
    rng = np.random.default_rng(dim)
    a = 0.3 * rng.normal(size=(5, 4, 3, dim))
    a[:, :, 0, 0] += 2.0
    inward = np.zeros((5, dim))
    inward[:, 0] = 1.0
    w = rng.normal(size=(5, dim))
    given = Asked(a, np.full((5, 4), 0.5), inward, w, 5)
    assert np.all(given.common)
    given.solve()
    for i in range(5):
        _, distance = nnls(rays_of(given, i, 5).T, w[i])
        assert given.lower[i] - 1e-9 <= distance <= given.upper[i] + 1e-9


def test_close_to_slippery_soles_dependent_rays_are_gathered() -> None:
    """Friction 0.001: of 3,000 such problems every 30th was left open by a ray between two."""
    given = problems("friction 0.001", "close", 200, seed=1)
    a = columns_of(given.pos, given.normal, given.ref)
    inward = np.tile([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (200, 1))
    out = Asked(a, np.full((200, 8), 0.001), inward, given.wrench).solve()
    assert not np.any(out.status == OPEN)
