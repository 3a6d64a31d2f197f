"""What limits a sample: cases whose limit is known by how they are made.

The biped's soles at home are x −0.06 to 0.14 m, y ±0.05 to ±0.15 m, its weight here is 700 N. A
vertical force tips where it passes outside the support; a force through the middle of a sole that
leans more than friction slides; a moment about the vertical turns.
"""

from __future__ import annotations

import numpy as np
import pytest

from make.pushes import MIDDLE, WEIGHT, Case, limits_of, stances, touching, turned_biped
from make.robots import biped
from surefoot.index.reasons import Limits
from surefoot.robots.robot import Robot

W = WEIGHT
LEFT, RIGHT = ("left_foot",), ("right_foot",)
BOTH = ("left_foot", "right_foot")


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("robots"))


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return turned_biped(tmp_path_factory.mktemp("robots"))


def said(limits: Limits) -> tuple[str | None, str | None, tuple[str, ...]]:
    return limits.limit(0), limits.edge_word(0), limits.links(0)


EDGES = {"toe": (0.17, 0.1), "heel": (-0.09, 0.1), "outer": (0.04, 0.18), "inner": (0.04, 0.02)}


@pytest.mark.parametrize("axes", ["robot", "turned"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("edge", list(EDGES))
def test_weight_three_cm_beyond_an_edge_tips_over_it(
    request: pytest.FixtureRequest, axes: str, side: str, edge: str
) -> None:
    robot: Robot = request.getfixturevalue(axes)
    x, y = EDGES[edge]
    through = (x, y if side == "left" else -y, 0.0)
    limits, found = limits_of(robot, Case(stances(robot, side), through=through))
    assert found.lower[0] > 0.0
    assert said(limits) == ("tipping", edge, (f"{side}_foot",))
    assert limits.sentence(0) == (
        f"The robot tips over the {edge} edge of the {side} foot:"
        " the zero-moment point lies 30 mm beyond it."
    )


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    ("corner", "at"),
    [
        ("outer toe", (0.17, 0.18)),
        ("inner toe", (0.17, 0.02)),
        ("outer heel", (-0.09, 0.18)),
        ("inner heel", (-0.09, 0.02)),
    ],
)
def test_weight_beyond_a_corner_tips_over_the_corner(
    robot: Robot, side: str, corner: str, at: tuple[float, float]
) -> None:
    """3 cm beyond both edges: 42 mm from the corner."""
    through = (at[0], at[1] if side == "left" else -at[1], 0.0)
    limits, _ = limits_of(robot, Case(stances(robot, side), through=through))
    assert said(limits) == ("tipping", "corner", (f"{side}_foot",))
    assert f"over the {corner} corner of the {side} foot" in limits.sentence(0)
    assert "lies 42 mm from it" in limits.sentence(0)


STAGGERED = {"left_foot": (0.3, 0.0, 0.0)}
TOES = (
    "from the outer toe corner of the left foot to the outer toe corner of the right foot:"
    " the zero-moment point lies 30 mm beyond that line."
)


@pytest.mark.parametrize(
    ("case", "edge", "links", "words"),
    [
        (Case((), through=(0.17, 0.0, 0.0)), None, BOTH, f"tips forward over the line {TOES}"),
        (Case((), through=(-0.09, 0.0, 0.0)), None, BOTH, "tips back over the line from the outer"),
        (Case((), through=(0.04, 0.18, 0.0)), "outer", LEFT, "30 mm beyond it"),
        (Case((), through=(0.04, -0.18, 0.0)), "outer", RIGHT, "30 mm beyond it"),
        (
            Case((), through=(0.4, -0.05, 0.0), shift=STAGGERED),
            None,
            BOTH,
            "forward and right over the line from the inner toe corner of the left foot"
            " to the outer toe corner of the right foot",
        ),
        (Case((), through=(0.1, -0.2, 0.0), shift=STAGGERED), "outer", RIGHT, "50 mm beyond it"),
    ],
    ids=["forward", "back", "left", "right", "staggered", "staggered right"],
)
def test_two_feet_tip_over_an_edge_or_the_line_between_them(
    robot: Robot, case: Case, edge: str | None, links: tuple[str, ...], words: str
) -> None:
    case = Case(stances(robot, "left", "right"), through=case.through, shift=case.shift)
    limits, found = limits_of(robot, case)
    assert found.lower[0] > 0.0
    assert said(limits) == ("tipping", edge, links)
    assert words in limits.sentence(0)


@pytest.mark.parametrize(
    ("through", "edge", "links", "words"),
    [
        ((0.0, 0.08, 0.0), None, BOTH, "tips left over the line from the outer toe corner of the"),
        ((0.0, -0.08, 0.0), None, BOTH, "tips right over the line from the inner toe corner of"),
        (
            (0.28, 0.0, 0.2),
            "toe",
            LEFT,
            "toe edge of the left foot: the zero-moment point lies 30 mm",
        ),
        (
            (-0.28, 0.0, 0.0),
            "heel",
            RIGHT,
            "heel edge of the right foot: the zero-moment point lies 30 mm",
        ),
    ],
)
def test_feet_at_different_heights(
    robot: Robot,
    through: tuple[float, float, float],
    edge: str | None,
    links: tuple[str, ...],
    words: str,
) -> None:
    """The lines of known answer 10: heel edge at (−0.25, ±0.05, 0), toe edge at (0.25, ±0.05, 0.2).

    There the side lines are facets, since μ tan β = 0.28 is less than 1.
    """
    toe = touching(robot, "left_foot", [(0.14, 0.05, 0.0), (0.14, 0.15, 0.0)])
    heel = touching(robot, "right_foot", [(-0.06, -0.05, 0.0), (-0.06, -0.15, 0.0)])
    shift = {"left_foot": (0.11, -0.1, 0.2), "right_foot": (-0.19, 0.1, 0.0)}
    limits, found = limits_of(
        robot, Case((toe, heel), through=through, shift=shift, ref=(0.0, 0.0, 0.9))
    )
    assert found.lower[0] > 0.0
    assert said(limits) == ("tipping", edge, links)
    assert words in limits.sentence(0)
    assert ("N m turn it over" in limits.sentence(0)) == (edge is None)


@pytest.mark.parametrize(
    ("force", "way"),
    [
        ((-600.0, 0.0, W), "forward"),
        ((600.0, 0.0, W), "back"),
        ((0.0, 600.0, W), "right"),
        ((0.0, -600.0, W), "left"),
        ((450.0, 450.0, W), "back and right"),
    ],
)
def test_feet_slide_against_the_force_that_friction_does_not_give(
    robot: Robot, force: tuple[float, float, float], way: str
) -> None:
    limits, _ = limits_of(robot, Case(stances(robot, "left"), force=force, through=MIDDLE))
    assert said(limits) == ("sliding", None, LEFT)
    assert limits.sentence(0).startswith(f"The left foot slides {way}: 0.")
    assert "friction gives 0.70" in limits.sentence(0)


def test_directions_are_those_of_the_robots_facing(robot: Robot) -> None:
    case = Case(
        stances(robot, "left"), force=(-600.0, 0.0, W), through=MIDDLE, facing=(0.0, 1.0, 0.0)
    )
    limits, _ = limits_of(robot, case)
    assert limits.sentence(0).startswith("The left foot slides right:")
    np.testing.assert_allclose(limits.direction_w[0, 0], 1.0, atol=0.02)


def test_sliding_is_the_nearest_limit_of_a_leaning_force_within_friction(robot: Robot) -> None:
    case = Case(
        stances(robot, "left", friction=0.2), force=(-130.0, 0.0, W), through=MIDDLE, ref=MIDDLE
    )
    limits, found = limits_of(robot, case)
    assert found.upper[0] < 0.0
    assert said(limits) == ("sliding", None, LEFT)
    assert limits.sentence(0) == "The nearest limit is the left foot sliding forward."


@pytest.mark.parametrize(("moment", "sense"), [(-90.0, "counter-clockwise"), (90.0, "clockwise")])
def test_a_moment_about_the_vertical_turns_the_foot_against_it(
    robot: Robot, moment: float, sense: str
) -> None:
    """A sole holds μ ρ F = 0.7 · 0.112 · 700 = 55 N m at most."""
    case = Case(stances(robot, "left"), through=MIDDLE, moment=(0.0, 0.0, moment))
    limits, found = limits_of(robot, case)
    assert found.lower[0] > 0.0
    assert said(limits) == ("yaw", None, LEFT)
    assert limits.sentence(0) == (
        f"The left foot turns {sense} seen from above:"
        " the motion needs 90.0 N m about the normal of the ground."
    )


def test_both_feet_turn_together(robot: Robot) -> None:
    case = Case(
        stances(robot, "left", "right"), through=(0.04, 0.0, 0.0), moment=(0.0, 0.0, -190.0)
    )
    limits, _ = limits_of(robot, case)
    assert said(limits) == ("yaw", None, BOTH)
    assert limits.sentence(0).startswith("Both feet turn counter-clockwise seen from above")


def test_yaw_is_the_nearest_limit_at_rest_on_slippery_ground(robot: Robot) -> None:
    """Known answer 7: at rest with μ ≤ 0.3, yaw limits a sole of this shape."""
    case = Case(stances(robot, "left", friction=0.2), through=MIDDLE, moment=(0.0, 0.0, -5.0))
    limits, found = limits_of(robot, case)
    assert found.upper[0] < 0.0
    assert said(limits) == ("yaw", None, LEFT)
    assert "counter-clockwise" in limits.sentence(0)


def test_a_force_towards_the_ground_is_pulling(robot: Robot) -> None:
    limits, _ = limits_of(robot, Case(stances(robot, "left"), force=(0.0, 0.0, -690.0)))
    assert said(limits) == ("pulling", None, LEFT)
    assert limits.sentence(0) == "The robot would have to pull on the ground with 690 N."


def test_rest_on_one_foot_is_nearest_to_tipping_sideways(robot: Robot) -> None:
    """Half the width is 5 cm, half the length 10 cm; 1 cm inwards decides between the sides."""
    limits, found = limits_of(robot, Case(stances(robot, "left"), through=(0.04, 0.09, 0.0)))
    assert found.upper[0] < 0.0
    assert said(limits) == ("tipping", "inner", LEFT)
    assert limits.sentence(0) == (
        "The nearest limit is tipping over the inner edge of the left foot:"
        " the zero-moment point lies 40 mm inside it."
    )


def test_rest_on_two_feet_is_nearest_to_tipping_forward(robot: Robot) -> None:
    limits, found = limits_of(robot, Case(stances(robot, "left", "right"), through=(0.06, 0, 0)))
    assert found.upper[0] < 0.0
    assert said(limits) == ("tipping", None, BOTH)
    assert limits.sentence(0).startswith("The nearest limit is tipping forward over the line")
    assert "80 mm inside that line" in limits.sentence(0)


def test_without_contacts_it_is_flight(robot: Robot) -> None:
    limits, _ = limits_of(robot, Case(()))
    assert said(limits) == ("flight", None, ())
    assert limits.sentence(0) == "The robot touches nothing, but its motion needs 700 N."


def test_ballistic_flight_needs_nothing(robot: Robot) -> None:
    limits, found = limits_of(robot, Case((), force=(0.0, 0.0, 0.0)))
    assert found.upper[0] == 0.0
    assert limits.limit(0) == "flight"
    assert limits.sentence(0) == ("The robot touches nothing and needs nothing: it falls freely.")


def test_weight_on_a_corner_with_a_moment_pivots_on_it(robot: Robot) -> None:
    case = Case(stances(robot, "left"), through=(0.14, 0.15, 0.0), moment=(0.0, 0.0, -60.0))
    limits, _ = limits_of(robot, case)
    assert said(limits) == ("yaw", None, LEFT)
    assert limits.pivot[0] >= 0
    assert limits.sentence(0).startswith(
        "Pivoting on the outer toe corner of the left foot, it turns counter-clockwise"
    )


POINT = [(0.14, 0.15, 0.0)]
EDGE = [(0.14, 0.05, 0.0), (0.14, 0.15, 0.0)]


@pytest.mark.parametrize(
    ("points", "case", "limit", "edge", "words"),
    [
        (POINT, Case((), through=(0.14, 0.15, 0)), "tipping", "corner", "point lies on it"),
        (POINT, Case((), through=(0.14, 0.2, 0)), "tipping", "corner", "lies 50 mm from it"),
        (POINT, Case((), (-600, 0, W), (0.14, 0.15, 0)), "sliding", None, "slides forward"),
        (POINT, Case((), through=(0.14, 0.15, 0), moment=(0, 0, 20)), "yaw", None, "clockwise"),
        (EDGE, Case((), through=(0.14, 0.1, 0)), "tipping", "toe", "lies on it"),
        (EDGE, Case((), through=(0.1, 0.1, 0)), "tipping", "toe", "40 mm beyond it"),
        (EDGE, Case((), through=(0.2, 0.1, 0)), "tipping", "toe", "60 mm beyond it"),
        (EDGE, Case((), through=(0.14, 0.2, 0)), "tipping", "corner", "outer toe corner"),
        (EDGE, Case((), through=(0.14, 0.1, 0), moment=(0, 0, -60)), "yaw", None, "counter-"),
        (EDGE, Case((), (0, 600, W), (0.14, 0.1, 0)), "sliding", None, "slides right"),
    ],
)
def test_a_foot_on_a_point_or_an_edge(
    robot: Robot,
    points: list[tuple[float, float, float]],
    case: Case,
    limit: str,
    edge: str | None,
    words: str,
) -> None:
    standing = touching(robot, "left_foot", points)
    case = Case((standing,), case.force, case.through, case.moment)
    limits, _ = limits_of(robot, case)
    assert said(limits) == (limit, edge, LEFT)
    assert words in limits.sentence(0)


def test_the_rear_of_a_forefoot_is_named_as_a_part(robot: Robot) -> None:
    """Only the front 6 cm stand; the line behind them lies 14 cm before the heel."""
    front = touching(
        robot, "left_foot", [(x, y, 0.0) for x, y in ((0.08, 0.05), (0.14, 0.05), (0.14, 0.15))]
        + [(0.08, 0.15, 0.0)],
    )  # fmt: skip
    limits, _ = limits_of(robot, Case((front,), through=(0.05, 0.1, 0.0)))
    assert said(limits) == ("tipping", "heel", LEFT)
    assert "over the heel side of the part of the left foot that stands" in limits.sentence(0)


@pytest.mark.parametrize(
    ("case", "limit", "edge", "words"),
    [
        (Case((), through=MIDDLE), "sliding", None, "sliding."),
        (Case((), (50, 0, W), (0.04, 0.1, 0.8)), "sliding", None, "slides back"),
        (Case((), (50, 0, W), MIDDLE), "sliding", None, "slides back"),
        (Case((), through=(0.17, 0.1, 0)), "tipping", "toe", "30 mm beyond it"),
        (Case((), through=MIDDLE, moment=(0, 0, 9)), "yaw", None, "9.00 N m"),
    ],
    ids=["rest", "push high", "push low", "toe", "yaw"],
)
def test_a_foot_on_a_frictionless_floor(
    robot: Robot, case: Case, limit: str, edge: str | None, words: str
) -> None:
    """50 N at 0.8 m move the zero-moment point by 57 mm only: it stays within the sole."""
    case = Case(stances(robot, "left", friction=0.0), case.force, case.through, case.moment)
    limits, _ = limits_of(robot, case)
    assert said(limits) == (limit, edge, LEFT)
    assert words in limits.sentence(0)


RAYS = {"left_foot": (-0.7, 0.0, 1.0)}  # it slides forward, so friction points back


@pytest.mark.parametrize(
    ("force", "through", "limit", "edge"),
    [
        ((-490.0, 0.0, W), (0.17, 0.1, 0.0), "tipping", "toe"),
        ((-490.0, 0.0, W), (0.04, 0.18, 0.0), "tipping", "outer"),
        ((-490.0, 100.0, W), MIDDLE, "sliding", None),
        ((-700.0, 0.0, W), MIDDLE, "sliding", None),
    ],
)
def test_a_foot_that_slides_already_tips_or_slides_otherwise(
    robot: Robot,
    force: tuple[float, float, float],
    through: tuple[float, float, float],
    limit: str,
    edge: str | None,
) -> None:
    limits, _ = limits_of(robot, Case(stances(robot, "left"), force, through, rays=RAYS))
    assert said(limits) == (limit, edge, LEFT)


WALL = [(0.5, 0.1, 1.0), (0.5, -0.1, 1.0), (0.5, -0.1, 1.2), (0.5, 0.1, 1.2)]


@pytest.mark.parametrize(
    ("feet", "case", "limit", "links", "words"),
    [
        (True, Case((), through=(-0.1, 0, 0)), "tipping", BOTH, "back over the line from"),
        (False, Case((), (-300, 0, W), (0.5, 0, 1.1)), "sliding", ("pelvis",), "slides down"),
        (
            False,
            Case((), (-1200, 0, W), (0.5, 0, 1.1), (300, 0, 0)),
            "yaw",
            ("pelvis",),
            "seen from the robot",
        ),
        (False, Case((), (300, 0, 0), (0.5, 0, 1.1)), "pulling", ("pelvis",), "what it touches"),
        (False, Case((), (-1200, 0, 0), (0.5, 0, 1.3)), "tipping", ("pelvis",), "edge of pelvis"),
        (False, Case((), (-1200, 0, 0), (0.5, 0.2, 1.3)), "tipping", ("pelvis",), "a corner of"),
    ],
)
def test_a_hand_on_a_wall(
    robot: Robot, feet: bool, case: Case, limit: str, links: tuple[str, ...], words: str
) -> None:
    hand = touching(robot, "pelvis", WALL, normal=(-1.0, 0.0, 0.0))
    standing = stances(robot, "left", "right") if feet else ()
    limits, _ = limits_of(robot, Case((*standing, hand), case.force, case.through, case.moment))
    assert limits.limit(0) == limit
    assert limits.links(0) == links
    assert words in limits.sentence(0)


def test_hands_on_opposite_walls_tip_about_the_line_between_them(robot: Robot) -> None:
    """Known answer 16: only the moment about the line cannot be given, here 9 N m."""
    one = touching(robot, "pelvis", [(0.4, 0.0, 0.55)], normal=(-1.0, 0.0, 0.0))
    other = touching(robot, "left_thigh", [(-0.4, 0.0, 0.55)], normal=(1.0, 0.0, 0.0))
    case = Case((one, other), (10.0, 20.0, -700.0), (0.0, 0.0, 0.85), (15.0, 30.0, 5.0))
    limits, _ = limits_of(robot, case)
    assert limits.limit(0) == "tipping"
    assert limits.links(0) == ("left_thigh", "pelvis")
    assert "9.00 N m turn it over" in limits.sentence(0)


@pytest.mark.parametrize("length", [0.2, 5.0])
@pytest.mark.parametrize("ref", [(0.0, 0.0, 0.0), (1.0, -2.0, 0.3)])
def test_the_named_edge_stays_under_other_references_and_lengths(
    robot: Robot, length: float, ref: tuple[float, float, float]
) -> None:
    case = Case(stances(robot, "left"), through=(0.145, 0.1, 0.0), ref=ref, length=length)
    limits, _ = limits_of(robot, case)
    assert said(limits) == ("tipping", "toe", LEFT)
    assert "5.0 mm beyond it" in limits.sentence(0)
