"""Infeasible stretches: where they begin and end, and what they say."""

from __future__ import annotations

import json

import numpy as np
import pytest

from make.pushes import MIDDLE, WEIGHT, Case, stances, together
from make.robots import biped
from surefoot.errors import BadOption
from surefoot.index.distance import signed_distances
from surefoot.index.reasons import find_limits
from surefoot.index.segments import Segment, segments
from surefoot.robots.robot import Robot

TIME = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.4, 0.5, 0.6])


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("robots"))


def found(
    robot: Robot, ways: str, *, gap_s: float = 0.0, tolerance_n: float = 1e-6
) -> tuple[Segment, ...]:
    """Segments of samples: `.` rest, `t` `T` 1 and 3 cm beyond the toe, `h` beyond the heel, `s`
    sliding, `f` flight.
    """
    left = stances(robot, "left")
    cases = {
        ".": Case(left, through=MIDDLE),
        "t": Case(left, through=(0.15, 0.1, 0.0)),
        "T": Case(left, through=(0.17, 0.1, 0.0)),
        "s": Case(left, force=(-500.0, 0.0, WEIGHT), through=MIDDLE),
        "h": Case(left, through=(-0.09, 0.1, 0.0)),
        "f": Case(()),
    }
    cones, schedule, wrench, ref, facing = together(robot, [cases[way] for way in ways])
    distances = signed_distances(cones, wrench, ref)
    limits = find_limits(cones, schedule, robot, distances, wrench, ref, 1.0, facing_w=facing)
    return segments(TIME[: len(ways)], distances.upper, tolerance_n, limits, gap_s=gap_s)


def test_a_feasible_motion_has_no_segments(robot: Robot) -> None:
    assert found(robot, "........") == ()


def test_a_stretch_has_its_ends_and_its_worst_sample(robot: Robot) -> None:
    (only,) = found(robot, "..tTt...")
    assert (only.start_s, only.end_s, only.worst_at_s) == (0.2, 0.4, 0.3)
    assert only.worst_n == pytest.approx(15.91, abs=0.01)
    assert (only.limit, only.link, only.edge) == ("tipping", ("left_foot",), "toe")
    assert only.text == (
        "The robot tips over the toe edge of the left foot:"
        " the zero-moment point lies 30 mm beyond it. d is 15.9 N there."
    )


def test_the_summary_has_the_keys_of_the_public_face(robot: Robot) -> None:
    (only,) = found(robot, "..T.....")
    summary = json.loads(json.dumps(only.summary()))
    assert list(summary) == [
        "start_s", "end_s", "worst_n", "worst_at_s", "limit", "link", "edge", "text",
    ]  # fmt: skip
    assert summary["link"] == ["left_foot"]


def test_one_sample_on_one_side_of_a_contact_change_is_a_segment(robot: Robot) -> None:
    (before,) = found(robot, "....T...")
    (after,) = found(robot, ".....T..")
    assert (before.start_s, before.end_s) == (after.start_s, after.end_s) == (0.4, 0.4)


def test_a_limit_that_changes_is_said(robot: Robot) -> None:
    (only,) = found(robot, "..tTss..")
    assert only.text.endswith(
        "Limits on the way: tipping over the toe edge of the left foot;"
        " the left foot sliding forward."
    )


def test_every_limit_on_the_way_is_named_once(robot: Robot) -> None:
    (only,) = found(robot, "tsftsfts")
    assert only.limit == "flight"
    assert only.link == ()
    assert only.text.endswith("left foot; the left foot sliding forward; flight.")


def test_limits_beyond_three_are_counted(robot: Robot) -> None:
    (only,) = found(robot, "tsfhffff")
    assert only.text.endswith("flight; and 1 more.")


def test_stretches_are_joined_only_across_gaps_shorter_than_asked(robot: Robot) -> None:
    assert len(found(robot, "tt..tt..")) == 2
    assert len(found(robot, "tt..tt..", gap_s=0.29)) == 2
    (joined,) = found(robot, "tt..tt..", gap_s=0.31)
    assert (joined.start_s, joined.end_s) == (0.0, 0.4)


def test_the_first_and_last_samples_are_in(robot: Robot) -> None:
    first, last = found(robot, "t......t")
    assert (first.start_s, last.end_s) == (0.0, 0.6)


def test_tolerance_decides_what_is_infeasible(robot: Robot) -> None:
    """1 cm beyond the toe is d = 5.3 N, 3 cm is 15.9 N."""
    (only,) = found(robot, "..tTt...", tolerance_n=10.0)
    assert (only.start_s, only.end_s) == (0.3, 0.3)


def test_a_negative_gap_is_refused(robot: Robot) -> None:
    with pytest.raises(BadOption, match="gap_s must be 0 or more, got -1"):
        found(robot, "t", gap_s=-1.0)
