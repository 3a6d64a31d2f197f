"""Canonical functions: their conditions, their region, and the proof that time runs forward."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.adapters.bases import BASES, Basis, bspline, from_functions, named, polynomial, smooth
from surefoot.adapters.region import Region, region_of, spread
from surefoot.errors import BadOption, UnknownName

FINE = np.linspace(0.0, 1.0, 4001)


def coefficients(region: Region, count: int = 64, seed: int = 1) -> np.ndarray:
    return region.coefficients(region.drawn(count, seed))


def poly3_lambda(region: Region, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """λ of the cubic with f'(0) = u and f'(1) = v: c = (u, 3 − 2u − v, u + v − 2)."""
    c = np.stack([u, 3.0 - 2.0 * u - v, u + v - 2.0], axis=1)
    return (c - region.particular) @ np.linalg.pinv(region.null).T


@pytest.mark.parametrize("name", sorted(BASES))
def test_every_function_of_a_region_begins_at_0_and_ends_at_1_and_increases(name: str) -> None:
    region = region_of(named(name), 0.2)
    c = coefficients(region)
    assert len(c) == 64
    ends = region.basis.evaluate(np.array([0.0, 1.0]), 0) @ c.T
    np.testing.assert_allclose(ends, np.tile([[0.0], [1.0]], (1, 64)), atol=1e-12)
    assert (region.basis.evaluate(FINE, 1) @ c.T).min() > 0.2 - 1e-9


@pytest.mark.parametrize("name", ["smooth", "smooth3", "smooth4", "bspline"])
def test_smooth_ends_have_speed_one_and_no_acceleration(name: str) -> None:
    region = region_of(named(name), 0.2)
    c = coefficients(region)
    ends = np.array([0.0, 1.0])
    np.testing.assert_allclose(region.basis.evaluate(ends, 1) @ c.T, 1.0, atol=1e-10)
    np.testing.assert_allclose(region.basis.evaluate(ends, 2) @ c.T, 0.0, atol=1e-8)


@pytest.mark.parametrize("seed", range(30))
def test_time_runs_forward_with_random_bases(seed: int) -> None:
    """Polynomials of degree 2 to 7 and splines of 1 to 6 knots; slopes at 4,001 points."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        rows = rng.normal(size=(int(rng.integers(3, 6)), int(rng.integers(3, 9))))
        basis = polynomial("random", np.concatenate([np.eye(rows.shape[1])[1:2], rows]))
    else:
        basis = bspline(
            np.sort(rng.uniform(0.05, 0.95, int(rng.integers(1, 7)))).tolist(), smooth_ends=False
        )
    floor = float(rng.uniform(0.0, 0.5))
    region = region_of(basis, floor)
    c = coefficients(region)
    assert len(c) > 0
    assert (basis.evaluate(FINE, 1) @ c.T).min() > floor - 1e-9


def test_the_region_of_poly3_is_the_known_one() -> None:
    """u, v > 0 and u + v − √(uv) < 3 (notes, section 7), at 20,000 points of [0, 4]²."""
    u, v = np.random.default_rng(0).uniform(0.0, 4.0, (2, 20_000))
    region = region_of(named("poly3"), 0.0)
    expected = u + v - np.sqrt(u * v) < 3.0
    np.testing.assert_array_equal(region.increasing(poly3_lambda(region, u, v)), expected)


def test_its_box_holds_the_known_region() -> None:
    region = region_of(named("poly3"), 0.0)
    corners = poly3_lambda(region, np.array([4.0, 1.0, 0.0]), np.array([1.0, 4.0, 0.0]))
    assert np.all(corners >= region.low - 1e-3)
    assert np.all(corners <= region.high + 1e-3)


def test_a_dip_between_sample_points_is_seen() -> None:
    """f' of degree 2 that is 0.1 at 65 points and more, and dips below 0 between two of them."""
    dip = (np.arange(65) + 0.5)[30] / 64.0
    slope = np.polynomial.polynomial.polyfromroots([dip, dip]) * 400.0
    slope[0] -= 1e-3
    rows = np.zeros((2, 4))
    rows[0, 1:] = slope / np.array([1.0, 2.0, 3.0])
    rows[1, 1] = 1.0
    rows[0] /= rows[0].sum()
    region = region_of(polynomial("dip", rows), 0.0)
    wanted = np.array([1.0, 0.0])
    lam = (wanted - region.particular) @ np.linalg.pinv(region.null).T
    at_points = region.basis.evaluate(np.linspace(0.0, 1.0, 65), 1) @ wanted
    assert at_points.min() > 0.0
    assert not region.increasing(lam[None])[0]


def test_a_row_that_vanishes_does_no_harm() -> None:
    """t, t², t³ are all 0 at 0: the first row of (10) says nothing."""
    region = region_of(named("poly3"), 0.2)
    assert region.free == 2
    np.testing.assert_allclose(region.coefficients(np.zeros((1, 2)))[0], [1.0, 0.0, 0.0], atol=1e-9)


def test_a_function_given_twice_adds_no_freedom() -> None:
    twice = polynomial(
        "twice", np.array([[0.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    )
    assert region_of(twice, 0.2).free == 2


def test_bases_that_cannot_reach_one_are_refused() -> None:
    hump = polynomial("hump", np.array([[0.0, 1.0, -1.0], [0.0, 2.0, -2.0]]))
    with pytest.raises(BadOption, match=r"no coefficients of basis 'hump' give f\(1\) = 1"):
        region_of(hump)


def test_bases_without_a_choice_are_refused() -> None:
    with pytest.raises(BadOption, match="leaves nothing to choose"):
        region_of(polynomial("line", np.array([[0.0, 1.0]])))


def test_a_floor_of_one_leaves_no_function() -> None:
    with pytest.raises(BadOption, match=r"no function has f′ > 1\.5 everywhere"):
        region_of(named("poly3"), 1.5)


def test_conditions_at_the_ends_may_be_too_many() -> None:
    with pytest.raises(BadOption, match=r"no coefficients of basis 'cubic'"):
        region_of(polynomial("cubic", np.eye(4)[2:], smooth_ends=True))


def test_unknown_bases_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no basis is called 'poly'\. Did you mean 'poly3'"):
        named("poly")


@pytest.mark.parametrize("knots", [(0.5, 0.4), (0.0, 0.5), (0.5, 0.5)])
def test_knots_must_increase_inside(knots: tuple[float, float]) -> None:
    with pytest.raises(BadOption, match="knots must increase inside 0 to 1"):
        bspline(knots)


def test_a_smooth_basis_has_one_to_six_coefficients() -> None:
    with pytest.raises(BadOption, match="1 to 6 free coefficients, got 7"):
        smooth(7)


def waves(**known: object) -> Basis:
    """t, sin 2πt and sin 4πt."""
    w = 2.0 * np.pi
    return from_functions(
        [lambda t: t, lambda t: np.sin(w * t), lambda t: np.sin(2.0 * w * t)],
        name="waves",
        **known,  # type: ignore[arg-type]  # as the test says
    )


def test_functions_with_bounds_are_proven_between_samples() -> None:
    w = 2.0 * np.pi
    basis = waves(
        derivatives=[
            np.ones_like,
            lambda t: w * np.cos(w * t),
            lambda t: 2 * w * np.cos(2 * w * t),
        ],
        bend_bounds=[0.0, w**2, 4.0 * w**2],
    )
    region = region_of(basis, 0.2)
    assert basis.proven
    assert region.free == 2
    c = coefficients(region)
    many = np.linspace(0.0, 1.0, 20_001)
    assert (basis.evaluate(many, 1) @ c.T).min() > 0.2


def test_functions_alone_increase_at_samples() -> None:
    basis = waves()
    assert not basis.proven
    c = coefficients(region_of(basis, 0.2))
    assert (basis.evaluate(np.linspace(0.0, 1.0, 513), 1) @ c.T).min() > 0.2 - 1e-6


def test_as_many_derivatives_as_functions() -> None:
    with pytest.raises(BadOption, match="expected 3 derivatives, got 1"):
        waves(derivatives=[np.ones_like])


def test_samples_are_the_same_for_a_seed_and_differ_for_another() -> None:
    region = region_of(named("smooth"), 0.2)
    np.testing.assert_array_equal(region.drawn(100, 3), region.drawn(100, 3))
    assert not np.array_equal(region.drawn(100, 3), region.drawn(100, 4))


def test_spread_points_leave_smaller_holes_than_chance() -> None:
    """Counts in 8 × 8 cells of 1,024 points: 16 each; by chance they scatter by 4."""
    points = spread(1024, 2, np.array([0.3, 0.7]))
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=8, range=[[0, 1], [0, 1]])
    assert counts.std() < 1.5
