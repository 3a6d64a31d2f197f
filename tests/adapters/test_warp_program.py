"""The convex program of the best warp: known optima, bounds, another solver, and what it keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from make.courses import onto_a_foot, random_course, socp, straight, zmp_of
from surefoot.adapters.warp_duration import best_warp
from surefoot.adapters.warp_program import Course, Freedom, Judge, Program
from surefoot.errors import BadOption
from surefoot.index.distance import signed_distances

LEAST_ZMP = 0.0694244165
"""Z* = (A C − (v/ω) S) / (C − 1), C = cosh(ω T / 2), S = sinh(ω T / 2), v = 2 A / T: the sway
y = A (2 s/T − 1) of a pendulum with the ends' acceleration free has a bang-bang ZMP −Z*, +Z*;
A = 0.1 m, T = 1 s, h = 0.9 m, g = 9.81 m/s² (ω² = g / h)."""


def exact(course: Course, x: np.ndarray) -> float:
    """The worst d over the weight, asked of every point without any memory."""
    found = signed_distances(course.cones, course.wrenches(x), course.ref_w)
    return float(found.upper.max() / course.weight_n)


@pytest.mark.parametrize(("n", "less"), [(50, -3.2e-5), (100, -8.1e-6)])
def test_the_sway_with_free_ends_has_its_known_optimum(n: int, less: float) -> None:
    """The grid's optimum lies under Z* by what the midpoints do not see: 1/N², as computed by
    another program; 5e-7 is the digit that is known of it."""
    course = straight(n)
    best = best_warp(Judge(course), Freedom(smooth_ends=False, tolerance=1e-7))
    assert zmp_of(best.value, 0.05) - LEAST_ZMP == pytest.approx(less, abs=5e-7)
    assert best.gap <= 1e-6
    assert best.case == "relaxed"


@pytest.mark.parametrize("n", [50, 100])
def test_the_sway_with_held_ends_cannot_be_mended(n: int) -> None:
    """With s̈ = 0 at both ends z = y there, at the midpoint of the first cell: A (1 − 1/N)."""
    best = best_warp(Judge(straight(n)), Freedom(tolerance=1e-6))
    assert zmp_of(best.bound, 0.05) == pytest.approx(0.1 * (1.0 - 1.0 / n), abs=1e-9)
    assert zmp_of(best.value, 0.05) == pytest.approx(0.1 * (1.0 - 1.0 / n), abs=1e-9)


@pytest.mark.parametrize("slowest", [0.3, 0.9])
def test_the_sway_onto_a_foot_reaches_the_middle_of_the_foot(slowest: float) -> None:
    """The ZMP comes to the middle of the foot, 0.04 m from its edges; the clip is as long."""
    course = onto_a_foot(80)
    best = best_warp(Judge(course), Freedom(slowest=slowest))
    assert zmp_of(best.bound, 0.04) - 0.04 == pytest.approx(-0.04, abs=2e-4)
    assert best.gap <= 1e-4
    assert course.lasts(best.x) == pytest.approx(course.duration, rel=1e-12)


def test_where_the_duration_binds_from_below_the_secant_bound_is_better() -> None:
    """Speeds of 0.95 and more: the sway wants to be faster than its duration allows."""
    course, freedom = onto_a_foot(80), Freedom(slowest=0.95)
    rough = best_warp(Judge(course), freedom, secant=False)
    fine = best_warp(Judge(course), freedom)
    assert (rough.case, fine.case) == ("bisected", "bisected")
    assert rough.bound + 1e-4 < fine.bound <= fine.value
    assert exact(course, np.ones(81)) > fine.value + 0.01


@pytest.mark.parametrize("first", range(0, 200, 25))
@pytest.mark.slow
def test_the_bound_is_never_above_what_is_achieved(first: int) -> None:
    """200 random stretches, seeds 0 to 199, with their duration, speeds and rates kept."""
    for seed in range(first, first + 25):
        rng = np.random.default_rng(seed)
        course = random_course(seed)
        bend = float(rng.choice([np.inf, 1000.0, 100.0]))
        freedom = Freedom(0.5, 2.0, bend, smooth_ends=bool(seed % 2))
        best = best_warp(Judge(course), freedom, tighten=False)
        achieved = exact(course, best.x)
        assert best.bound <= achieved + 1e-9, seed  # 1e-9: rounding of d over the weight
        assert achieved <= best.value + 1e-4 * abs(best.value) + 1e-9, seed  # their tolerance
        assert achieved <= exact(course, np.ones(course.count + 1)) + 1e-4, seed
        assert abs(course.lasts(best.x) - course.duration) <= 1e-9, seed
        box = course.bounds(freedom)
        assert np.all((best.x >= box[:, 0] - 1e-9) & (best.x <= box[:, 1] + 1e-9)), seed
        bent = np.abs(np.diff(best.x, 2)).max()
        assert bent <= bend * course.step**2 + 1e-7, seed  # the solver's own tolerance


@pytest.mark.slow
def test_another_solver_finds_the_same_optimum() -> None:
    """20 random stretches, the convex program as one cone program; those with t > 0 count."""
    judged = 0
    for seed in range(300, 320):
        course, freedom = random_course(seed), Freedom(0.5, 2.0, 500.0, tolerance=1e-5)
        least = socp(course, freedom)
        found = Program(Judge(course), freedom).lowest(np.ones(course.count + 1))
        if least > 1e-3:
            judged += 1
            slack = 1e-6 + 1e-2 * max(found.bound, 0.0)  # beyond feasible, 1 % is enough
            assert found.bound <= least + 1e-6, seed  # of the other solver
            assert least <= found.value + 1e-6, seed
            assert found.value - least <= 1e-5 + slack, seed
        else:
            assert found.bound <= 1e-3 + 1e-6, seed
    assert judged >= 5


def test_a_longer_duration_is_used_where_it_helps_and_no_more_is() -> None:
    course = straight(50)
    same = best_warp(Judge(course), Freedom(smooth_ends=False))
    longer = best_warp(Judge(course), Freedom(smooth_ends=False, longest=1.2))
    assert longer.value < same.value - 1e-3
    assert course.duration <= course.lasts(longer.x) <= 1.2 * course.duration * (1.0 + 1e-12)


def test_no_speed_is_above_its_ceiling() -> None:
    """The free sway is 1.43 times as fast in the middle: 1.2 is allowed."""
    ceiling = np.full(51, 1.2**2)
    course = replace(straight(50), ceiling=ceiling)
    best = best_warp(Judge(course), Freedom(smooth_ends=False))
    assert best.x.max() <= 1.2**2 + 1e-12
    assert zmp_of(best.bound, 0.05) > LEAST_ZMP


def test_the_answer_is_the_same_every_time() -> None:
    one, other = (best_warp(Judge(random_course(7)), Freedom()) for _ in range(2))
    assert one.x.tobytes() == other.x.tobytes()
    assert (one.value, one.bound) == (other.value, other.bound)


def test_time_along_a_cell_is_the_integral_of_its_speed() -> None:
    """∫ ds / √x by the trapezoid rule at 10⁵ points: its error is some 1e-10 of the whole."""
    course = straight(20)
    x = 1.0 + 0.5 * np.sin(np.linspace(0.0, 6.0, 21))
    s = np.linspace(0.0, course.duration, 100_001)
    slow = 1.0 / np.sqrt(np.interp(s, course.step * np.arange(21), x))
    assert course.lasts(x) == pytest.approx(np.trapezoid(slow, s), rel=1e-8)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"slowest": 1.2}, "speeds over the clip's own must allow 1 and be positive, got 1.2 to 3"),
        ({"bend": 0.0}, "the rate bound must be positive, got 0 1/s²"),
        ({"longest": 0.9}, "the longest duration must be 1 or more, got 0.9"),
        ({"tolerance": 0.0}, "the tolerance must lie between 1e-7 and 1, got 0"),
    ],
)
def test_freedom_that_does_not_allow_the_clip_itself_is_refused(
    options: dict[str, float], sentence: str
) -> None:
    with pytest.raises(BadOption, match=sentence.replace("²", ".")):
        Freedom(**options)
