"""Distances of random wrenches from random stances, against cone programs and hulls.

Wrong is a reference whose own proven bounds do not meet the bounds that are given: none may be.
"""

from __future__ import annotations

import numpy as np
import pytest

from make import references
from make.stances import FAMILIES, HOW_FAR, WEIGHT, columns_of, cones_of, problems, soles
from surefoot.arrays import Array
from surefoot.index.distance import Distances, Scales, signed_distances

ROUNDING = 1e-13  # of the wrench: a product of six terms of its size
OUTSIDE_EACH = 60  # 18 sets: 1,080 problems
INSIDE_EACH = 34  # 6 sets: 204 problems
CASES = [(family, how) for family in FAMILIES for how in HOW_FAR]


def supports(out: Distances, columns: Array, friction: float, w: Array) -> None:
    """The dual is a unit that no ray goes along with, and its product with w is the lower bound."""
    s = np.einsum("nkbd,nd->nkb", columns, out.dual)
    most = s[..., 0] + friction * np.linalg.norm(s[..., 1:], axis=2)
    assert np.max(most) <= 1e-9
    np.testing.assert_allclose(np.linalg.norm(out.dual, axis=1), 1.0, rtol=0.0, atol=1e-12)
    product = np.einsum("nd,nd->n", out.dual, w)
    np.testing.assert_allclose(
        product / np.linalg.norm(w, axis=1), out.lower / np.linalg.norm(w, axis=1), atol=1e-11
    )
    assert np.all(out.lower <= out.upper)


@pytest.mark.parametrize(("family", "how"), CASES)
def test_outside_bounds_meet_those_of_a_cone_program(family: str, how: str) -> None:
    given = problems(family, how, OUTSIDE_EACH, seed=13)
    columns = columns_of(given.pos, given.normal, given.ref)
    out = signed_distances(given.cones, given.wrench, given.ref)
    low, high = references.nearest(columns, given.friction, given.wrench)
    slack = ROUNDING * np.linalg.norm(given.wrench, axis=1)
    assert not np.any(np.maximum(out.lower, 0.0) > high + slack)
    assert not np.any(np.maximum(out.upper, 0.0) < low - slack)
    supports(out, columns, given.friction, given.wrench)
    outside = out.lower > 0.0
    assert np.all(out.converged[outside])
    gap = (out.upper - out.lower)[outside]
    assert np.all(gap <= 1e-9 * out.upper[outside])


@pytest.mark.parametrize("family", list(FAMILIES))
def test_inside_no_ascent_finds_a_nearer_boundary(family: str) -> None:
    """Four random starts each; every answer of the ascent is a proven bound of the margin."""
    given = problems(family, "inside", INSIDE_EACH, seed=13)
    columns = columns_of(given.pos, given.normal, given.ref)
    out = signed_distances(given.cones, given.wrench, given.ref)
    supports(out, columns, given.friction, given.wrench)
    rng, met = np.random.default_rng(13), 0
    inside = np.flatnonzero(out.upper < 0.0)
    assert len(inside) > 0.9 * given.n
    for i in inside:
        starts = rng.normal(size=(4, 6))
        found, _ = references.ascent(columns[i], given.friction, given.wrench[i], starts)
        assert found >= -out.upper[i] - ROUNDING * np.linalg.norm(given.wrench[i])
        met += found <= -out.lower[i] * (1.0 + 1e-9)
    assert met > 0.5 * len(inside)  # else the search would prove nothing
    assert np.all(out.converged[inside])
    assert np.all((out.upper - out.lower)[inside] <= -1e-4 * out.lower[inside])


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.1, 0.3, 0.7])
def test_inside_the_margin_lies_between_inner_and_outer_hulls(friction: float) -> None:
    """Pyramids of 64 sides inside the circular cones, and around them (μ / cos(π/64)); 21 stances.

    The soles are turned: Qhull gets through only with joggled input, which moved a facet by 6e-6 N.
    """
    rng, joggle = np.random.default_rng(64), 2e-5
    pos, normal = soles("flat", 7, rng)
    ref = np.tile([0.0, 0.0, 0.8], (7, 1))
    columns = columns_of(pos, normal, ref)
    wrench = np.tile([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0], (7, 1))
    wrench[:, 3:5] += 3.0 * rng.normal(size=(7, 2))
    out = signed_distances(
        cones_of(pos, normal, friction), wrench, ref, scales=Scales(tolerance=1e-6)
    )
    for i in range(7):
        inner = references.hull_margin(columns[i], friction, wrench[i], 64, "QJ")
        wide = friction / np.cos(np.pi / 64)
        outer = references.hull_margin(columns[i], wide, wrench[i], 64, "QJ")
        assert inner - joggle <= -out.lower[i]
        assert -out.upper[i] <= outer + joggle


@pytest.mark.parametrize("sides", [3, 4, 5, 8])
def test_pyramids_have_the_facets_of_their_hull(sides: int) -> None:
    """To 1e-9, for the rounding of Qhull's facets."""
    rng = np.random.default_rng(sides)
    pos, normal = soles("flat", 10, rng)
    ref = np.tile([0.0, 0.0, 0.8], (10, 1))
    columns = columns_of(pos, normal, ref)
    wrench = np.tile([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0], (10, 1)) + 5.0 * rng.normal(size=(10, 6))
    for friction in (0.2, 0.7):
        cones = cones_of(pos, normal, friction)
        out = signed_distances(cones, wrench, ref, scales=Scales(cone_sides=sides))
        assert np.all(out.converged)
        for i in range(10):
            hull = references.hull_margin(columns[i], friction, wrench[i], sides)
            if hull > 0.0:
                np.testing.assert_allclose([-out.lower[i], -out.upper[i]], hull, rtol=1e-9)
            else:
                assert out.upper[i] > 0.0
