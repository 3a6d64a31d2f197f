"""Bounds of d for crowds of timings: never above what is exact, and the best is the best."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.adapters.bases import named
from surefoot.adapters.oracle import Oracle
from surefoot.adapters.path import Path, Window
from surefoot.adapters.region import region_of
from surefoot.index.index import Feasibility


@pytest.fixture
def window(path: Path) -> Window:
    """The part around the first lift-off, every fifth sample."""
    whole = path.window(1.5, 2.6)
    return whole.picked(np.arange(0, len(whole.samples), 5))


def crowd(window: Window, count: int, seed: int) -> np.ndarray:
    """Random warps of the window: shifts of its frames."""
    region = region_of(named("smooth"), 0.3)
    tau = (window.frame_time - 1.5) / 1.1
    c = region.coefficients(region.drawn(count, seed))
    return 1.1 * (c @ region.basis.evaluate(tau, 0).T - tau)


def exact(window: Window, shift: np.ndarray) -> np.ndarray:
    w = window.wrenches(*window.rates(shift))
    rows = np.arange(w.shape[1])
    return np.array([window.distances(one, rows).upper.max() for one in w])


def known(window: Window, sidestep: Feasibility) -> Oracle:
    oracle = Oracle(window)
    oracle.knows(sidestep.upper[window.samples], sidestep.dual[window.samples])
    return oracle


def test_bounds_are_never_above_what_is_exact(window: Window, sidestep: Feasibility) -> None:
    """200 random timings, at first with the directions of the clip alone, then with eight more."""
    shift = crowd(window, 200, 5)
    true = exact(window, shift)
    rates = window.rates(shift)
    oracle = known(window, sidestep)
    room = 1e-9 * sidestep.weight_n
    first = oracle.bounds(*rates)
    assert np.all(first <= true + room)
    for i in range(8):
        oracle.worst_of(rates[0][i], rates[1][i])
    second = oracle.bounds(*rates)
    assert np.all(second <= true + room)
    assert np.all(second >= first - room)


def test_bounds_from_rates_are_those_from_wrenches(window: Window, sidestep: Feasibility) -> None:
    rates = window.rates(crowd(window, 30, 2))
    oracle = known(window, sidestep)
    oracle.worst_of(rates[0][3], rates[1][3])
    expected = oracle.lower(window.wrenches(*rates)).max(axis=1)
    np.testing.assert_allclose(oracle.bounds(*rates), expected, atol=1e-9 * sidestep.weight_n)


def test_the_worst_of_a_timing_is_exact(window: Window, sidestep: Feasibility) -> None:
    """The samples that are not asked are proven smaller; bounds inside meet to 1e-4."""
    shift = crowd(window, 20, 7)
    rates = window.rates(shift)
    oracle = known(window, sidestep)
    found = np.array([oracle.worst_of(s, r)[0] for s, r in zip(*rates, strict=True)])
    np.testing.assert_allclose(found, exact(window, shift), rtol=2e-4, atol=1e-6)
    assert oracle.samples_asked < 20 * len(window.samples)


def test_the_best_of_a_crowd_is_the_best(window: Window, sidestep: Feasibility) -> None:
    shift = crowd(window, 120, 9)
    rates = window.rates(shift)
    true = exact(window, shift)
    best, value = known(window, sidestep).best_of(*rates, most=120)
    assert true[best] <= true.min() + 2e-4 * abs(true.min())
    assert value == pytest.approx(true.min(), rel=3e-4)


def test_none_is_below_what_none_reaches(window: Window, sidestep: Feasibility) -> None:
    rates = window.rates(crowd(window, 50, 9))
    best, value = known(window, sidestep).best_of(*rates, most=50, below=-sidestep.weight_n)
    assert best == -1
    assert value == -sidestep.weight_n


def test_nothing_is_known_at_first(window: Window) -> None:
    rates = window.rates(crowd(window, 5, 1))
    assert np.all(np.isneginf(Oracle(window).bounds(*rates)))


def test_of_a_sample_only_what_exceeds_its_allowance_counts(
    window: Window, sidestep: Feasibility
) -> None:
    """Allowances of 0 to 5 % of the weight, in turn: the worst and the best are those of d less
    them, and no bound is above it."""
    allowed = 0.01 * sidestep.weight_n * (np.arange(len(window.samples)) % 6)
    shift = crowd(window, 60, 3)
    rates = window.rates(shift)
    w, rows = window.wrenches(*rates), np.arange(len(window.samples))
    true = np.array([(window.distances(one, rows).upper - allowed).max() for one in w])
    oracle = Oracle(window, allowed)
    oracle.knows(sidestep.upper[window.samples], sidestep.dual[window.samples])
    assert np.all(oracle.bounds(*rates) <= true + 1e-9 * sidestep.weight_n)
    assert oracle.worst_of(rates[0][4], rates[1][4])[0] == pytest.approx(true[4], rel=2e-4)
    assert oracle.best_of(*rates, most=60)[1] == pytest.approx(true.min(), rel=3e-4)
