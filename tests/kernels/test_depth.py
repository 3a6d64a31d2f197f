"""How deep wrenches lie inside cones, against facets from Qhull and a slow twin in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from make import references
from make.stances import WEIGHT, columns_of, feasible, soles
from surefoot.arrays import Array, door
from surefoot.kernels.columns import shapes
from surefoot.kernels.depth import depths
from surefoot.kernels.nearest import SETTLED

UP = np.array([0.0, 0.0, 1.0])


def answers(
    a: Array, friction: float, w: Array, shift: Array, tol: float, sides: int = 0
) -> tuple[Array, Array, Array, Array]:
    """(lower, upper, dual, status) for columns a (n, k, 3, 6) about a point of the contacts."""
    n, k, dim = len(w), a.shape[1], w.shape[1]
    first, flat = k * np.arange(n + 1), door(a.reshape(n * k, 3, dim))
    inward = np.zeros((n, dim))
    inward[:, 2] = 1.0
    least, rays, mu = np.zeros(n * k), np.zeros((n, dim, dim)), door(np.full(n * k, friction))
    rank = np.zeros(n, dtype=np.int64)
    shapes(first, flat, mu, sides, door(inward), least, np.zeros(n, np.bool_), rank, rays)
    assert np.all(rank == dim)
    lower, upper, dual = np.zeros(n), np.zeros(n), np.zeros((n, dim))
    status = np.full(n, -1, dtype=np.int64)
    depths(
        np.ones(n, dtype=np.bool_), first, flat, mu, sides, door(inward), door(least), door(rays),
        door(w), door(shift), tol, lower, upper, dual, status,
    )  # fmt: skip
    return lower, upper, dual, status


def stances(count: int, friction: float, seed: int) -> tuple[Array, Array, Array, Array]:
    """Columns about the first vertex and about a reference, wrenches about the first vertex."""
    rng = np.random.default_rng(seed)
    pos, normal = soles("flat", count, rng)
    ref = pos.mean(axis=1) + 0.8 * UP
    near, about = columns_of(pos, normal, pos[:, 0]), columns_of(pos, normal, ref)
    w = feasible(near, friction, 1.0, rng)
    return near, about, w, ref - pos[:, 0]


def about_reference(w: Array, shift: Array) -> Array:
    moved = w.copy()
    moved[:, 3:] -= np.cross(shift, w[:, :3])
    return moved


@pytest.mark.parametrize("sides", [3, 4, 6])
@pytest.mark.parametrize("friction", [0.2, 0.7])
def test_pyramids_have_the_margin_of_their_hull(sides: int, friction: float) -> None:
    near, about, w, shift = stances(4, friction, sides)
    lower, upper, dual, status = answers(near, friction, w, shift, 0.0, sides)
    moved = about_reference(w, shift)
    assert np.all(status == SETTLED)
    for i in range(4):
        hull = references.hull_margin(about[i], friction, moved[i], sides)
        np.testing.assert_allclose([lower[i], upper[i]], hull, rtol=1e-9, atol=1e-10 * WEIGHT)
        rays = references.pyramid_rays(about[i], friction, sides)
        assert np.max(rays @ dual[i]) <= 1e-11
        assert -dual[i] @ moved[i] == pytest.approx(upper[i], abs=1e-10 * WEIGHT)


@pytest.mark.parametrize("friction", [0.3, 0.7])
def test_the_margin_of_circular_cones_is_more_than_that_of_pyramids_inside(friction: float) -> None:
    near, about, w, shift = stances(3, friction, 1)
    _, upper, _, _ = answers(near, friction, w, shift, 1e-4)
    moved = about_reference(w, shift)
    for i in range(3):
        for sides in (8, 16):
            inner = references.hull_margin(about[i], friction, moved[i], sides, "QJ")
            assert inner <= upper[i] + 1e-6 * WEIGHT


@pytest.mark.parametrize("friction", [0.2, 0.7])
def test_the_lower_bound_never_falls_as_the_tolerance_gets_finer(friction: float) -> None:
    """Each sample from nothing: a finer tolerance makes the same cuts and then more."""
    near, _, w, shift = stances(4, friction, 2)
    for i in range(4):
        rows = slice(i, i + 1)
        before_low, before_high = 0.0, np.inf
        for tol in (0.5, 0.2, 0.1, 3e-2, 1e-2, 1e-3, 1e-4):
            low, high, _, _ = answers(near[rows], friction, w[rows], shift[rows], tol)
            assert before_low <= low[0] <= high[0] <= before_high
            before_low, before_high = low[0], high[0]


def test_facets_that_are_used_again_give_the_same_margin() -> None:
    """One stance, 30 wrenches and references: from one to the next, and each from nothing."""
    near, _, _, _ = stances(1, 0.5, 3)
    rng = np.random.default_rng(3)
    many = np.repeat(near, 30, axis=0)
    w, shift = feasible(many, 0.5, 0.8, rng), rng.uniform(-0.2, 0.2, (30, 3)) + 0.8 * UP
    low, high, dual, _ = answers(many, 0.5, w, shift, 1e-4)
    assert np.all(high - low <= 1e-4 * high + 1e-11 * WEIGHT)
    for i in range(30):
        rows = slice(i, i + 1)
        lone, lone_high, _, _ = answers(near, 0.5, w[rows], shift[rows], 1e-4)
        assert max(low[i], lone[0]) <= min(high[i], lone_high[0]) + 1e-12 * WEIGHT
    moved = about_reference(w, shift)
    np.testing.assert_allclose(-np.einsum("nd,nd->n", dual, moved), high, atol=1e-11 * WEIGHT)
