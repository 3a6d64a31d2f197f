"""Uniform speeds at which a motion is feasible, where they are known and against a search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from make.robots import biped
from make.standing import stiff
from make.verdicts import (
    HALF_X,
    HEIGHT,
    G,
    box,
    clip_of,
    faster,
    lifting,
    lively,
    pushed,
    sole_stance,
)
from surefoot.index.distance import Scales, signed_distances
from surefoot.index.index import Feasibility, Options, feasibility
from surefoot.index.speed import Speeds, spans
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

COM = Options(reference="com")


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return box(tmp_path_factory.mktemp("box"))


@pytest.fixture(scope="module")
def two_legs(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("biped"))


def test_a_motion_sped_up_is_known_answer_17(pendulum: Robot) -> None:
    """w_k = c + k² (w − c): ax = −0.6 at k² = 2.5 is ax = −1.5, d = 12.1655339592."""
    slow = pushed(pendulum, (-0.6, 0.0, 0.0), "left")
    found = feasibility(faster(slow, np.sqrt(2.5)), pendulum, COM)
    assert found.d == pytest.approx(12.1655339592, abs=1e-6)
    own = feasibility(slow, pendulum, COM)
    predicted = own.samples.still + 2.5 * (own.samples.wrench - own.samples.still)
    assert found.samples.wrench[0] == pytest.approx(predicted[0], abs=1e-7)


@pytest.mark.parametrize("acc", [-1.3, -1.5, -4.0])
def test_the_feasible_speed_of_a_pendulum_is_the_closed_form(pendulum: Robot, acc: float) -> None:
    """It crosses at |ax| k² = g a / h = 1.22625 m/s²."""
    found = feasibility(pushed(pendulum, (acc, 0.0, 0.0), "left"), pendulum, COM)
    k = np.sqrt(G * HALF_X / HEIGHT / abs(acc))
    assert found.speeds.feasible_speed == pytest.approx(k, rel=1e-8)
    assert found.summary()["feasible_speed"] == pytest.approx(k, rel=1e-8)
    assert found.speeds.words(found.time) == f"{k:.3f} of its own"
    assert not found.speeds.never.any()


def test_a_clip_slowed_by_its_feasible_speed_is_feasible_and_a_little_faster_not(
    pendulum: Robot,
) -> None:
    clip = pushed(pendulum, (0.9, 0.8, 0.0), "left")
    k = feasibility(clip, pendulum, COM).speeds.feasible_speed
    assert k is not None
    assert 0.3 < k < 1.0
    assert feasibility(faster(clip, k * (1.0 - 1e-6)), pendulum, COM).all_feasible
    assert not feasibility(faster(clip, k * (1.0 + 1e-6)), pendulum, COM).feasible.any()


def test_a_feasible_motion_may_be_as_fast_as_it_is(pendulum: Robot) -> None:
    found = feasibility(pushed(pendulum, (-0.6, 0.0, 0.0), "left"), pendulum, COM)
    assert found.speeds.feasible_speed == 1.0
    assert np.all(found.speeds.slowest == 0.0)


def test_a_pose_that_falls_when_held_has_no_speed_and_is_counted(two_legs: Robot) -> None:
    """From 0.5 s on one foot, its centre of mass beside it: 101 of 202 samples."""
    found = feasibility(lifting(two_legs), two_legs)
    summary = found.summary()
    assert summary["feasible_speed"] is None
    assert summary["infeasible_when_still"] == int(np.sum(found.samples.cones.count == 4)) == 101
    assert summary["infeasible_when_still_s"] == [[0.5, 1.0]]
    assert summary["infeasible_at_any_speed"] == 101
    words = found.speeds.words(found.time)
    assert words == (
        "none: 101 samples are infeasible at any speed up to its own, the first at 0.500 s"
    )


def test_a_swaying_robot_must_keep_its_pace(two_legs: Robot) -> None:
    """On the left foot an acceleration to the right holds it up; held still it falls.

    The zero-moment point lies at −h ay κ / g and must reach the inner edge at 0.05 m.
    """
    clip = pushed(two_legs, (0.0, -2.0, 0.0), "left", friction=1.0)
    found = feasibility(clip, two_legs)
    h = float(found.samples.batch.com_w[0, 2])
    assert found.all_feasible
    assert found.speeds.slowest == pytest.approx(np.sqrt(0.05 * G / (2.0 * h)), rel=1e-7)
    assert found.speeds.feasible_speed == 1.0
    assert found.summary()["infeasible_when_still"] == found.samples.n


def test_samples_that_need_different_speeds_leave_none(two_legs: Robot) -> None:
    """One half falls when slow, the other when fast."""
    slow = feasibility(pushed(two_legs, (0.0, -2.0, 0.0), "left", friction=1.0), two_legs)
    fast = feasibility(pushed(two_legs, (6.0, 0.0, 0.0), "left", "right", friction=1.0), two_legs)
    needed, allowed = float(slow.speeds.slowest[0]), float(fast.speeds.fastest[0])
    assert allowed < needed
    both = Speeds(np.array([needed, 0.0]), np.array([1.0, allowed]))
    assert both.feasible_speed is None
    assert not both.never.any()
    assert both.words(np.array([0.0, 2.0])) == (
        f"none: {needed:.3f} or more is needed at 0.000 s, {allowed:.3f} or less at 2.000 s"
    )


def test_a_free_fall_can_be_no_slower(two_legs: Robot) -> None:
    found = feasibility(pushed(two_legs, (0.0, 0.0, -G)), two_legs)
    assert found.speeds.feasible_speed == 1.0
    assert found.speeds.slowest == pytest.approx(1.0, abs=1e-8)


def test_what_the_tolerance_lets_pass_is_passed_at_its_own_speed_too(two_legs: Robot) -> None:
    """Nearly a fall: 0.8 % of the weight is missing, 1 % may be, and held still all of it is."""
    clip = pushed(two_legs, (0.0, 0.0, -0.992 * G))
    found = feasibility(clip, two_legs, Options(reference="com", tolerance_over_weight=0.01))
    assert found.all_feasible
    assert found.speeds.feasible_speed == 1.0


def _searched(found: Feasibility, i: int) -> np.ndarray:
    """d over what counts as feasible at 401 ratios κ, by distances alone."""
    kappa = np.linspace(0.0, 1.0, 401)
    still, wrench = found.samples.still[i], found.samples.wrench[i]
    which = np.full(len(kappa), i)
    at = still + kappa[:, None] * (wrench - still)
    scales = Scales(found.options.length_scale_m)
    cones, ref_w = found.samples.cones.picked(which), found.samples.ref_w[which]
    return signed_distances(cones, at, ref_w, scales=scales).upper / found.tolerance_n


@pytest.mark.parametrize(
    "options",
    [
        Options(rate_hz=20.0),
        Options(rate_hz=20.0, cone_sides=6, length_scale_m=0.4),
        Options(rate_hz=20.0, tolerance_over_weight=0.01),
    ],
)
def test_intervals_are_those_of_a_search(two_legs: Robot, options: Options) -> None:
    """Random motion and contacts: between the ends feasible, beyond them not by a clear margin."""
    clip = _random(two_legs)
    found = feasibility(clip, two_legs, options)
    kappa = np.linspace(0.0, 1.0, 401)
    kinds = set()
    for i in range(found.samples.n):
        low, high = found.speeds.slowest[i] ** 2, found.speeds.fastest[i] ** 2
        over = _searched(found, i)
        if found.speeds.never[i]:
            assert over.min() > 0.89, i
            kinds.add("never")
            continue
        assert np.all(over[(kappa > low + 1e-9) & (kappa < high - 1e-9)] <= 1.0), i
        assert np.all(over[(kappa < low - 1e-9) | (kappa > high + 1e-9)] > 0.89), i
        kinds.add((low > 0.0, high < 1.0))
    assert len(kinds) >= 3


def _random(robot: Robot) -> Clip:
    motion = lively(robot)
    motion = replace(motion, time=1.3 * motion.time)
    end = float(motion.time[-1])
    return clip_of(
        motion,
        robot,
        sole_stance(robot, "left", 0.0, 0.7 * end),
        sole_stance(robot, "right", 0.3 * end, end),
    )


def test_runs_of_flagged_samples() -> None:
    time = np.array([0.0, 0.1, 0.1, 0.2, 0.3])
    assert spans(time, np.array([True, True, False, False, True])) == [[0.0, 0.1], [0.3, 0.3]]
    assert spans(time, np.zeros(5, dtype=np.bool_)) == []
    assert spans(time, np.ones(5, dtype=np.bool_)) == [[0.0, 0.3]]


def test_standing_still_has_the_speed_one(two_legs: Robot) -> None:
    t = np.arange(5) / 10.0
    both = (sole_stance(two_legs, side, 0.0, 0.4) for side in ("left", "right"))
    found = feasibility(clip_of(stiff(two_legs, t), two_legs, *both), two_legs)
    assert found.speeds.feasible_speed == 1.0
