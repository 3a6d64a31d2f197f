"""Laws of the limits: many samples at once, mirrored problems, and the ends of the range."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from make.pushes import WEIGHT, Case, limits_of, stances, together, touching, turned_biped
from make.robots import biped
from surefoot.contacts.cones import Cones
from surefoot.index.distance import signed_distances
from surefoot.index.reasons import Limits, find_limits
from surefoot.index.words import LIMIT_EDGES, LIMITS
from surefoot.motion.contact import ContactSchedule
from surefoot.robots.robot import Robot

W = WEIGHT
LEFT, RIGHT = ("left_foot",), ("right_foot",)
BOTH = ("left_foot", "right_foot")

WALL = [(0.5, 0.1, 1.0), (0.5, -0.1, 1.0), (0.5, -0.1, 1.2), (0.5, 0.1, 1.2)]
EDGE = [(0.14, 0.05, 0.0), (0.14, 0.15, 0.0)]


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("robots"))


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return turned_biped(tmp_path_factory.mktemp("robots"))


def said(limits: Limits) -> tuple[str | None, str | None, tuple[str, ...]]:
    return limits.limit(0), limits.edge_word(0), limits.links(0)


def random_cases(robot: Robot, seed: int, count: int) -> list[Case]:
    """Stances, frictions, places and wrenches of every kind."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        mu = float(rng.choice([0.0, 1e-3, 0.1, 0.3, 0.7, 10.0]))
        kinds = [
            *stances(robot, "left", friction=mu),
            *stances(robot, "right", friction=mu),
            touching(robot, "left_shank", [(0.2, 0.3, 0.5)], normal=(0, -1, 0), friction=mu),
            touching(robot, "pelvis", WALL, normal=(-1, 0, 0), friction=mu),
            touching(robot, "right_shank", EDGE, friction=mu),
        ]
        chosen = tuple(s for s in kinds if rng.random() < 0.4)
        size = float(10.0 ** rng.uniform(-6, 6)) if rng.random() < 0.3 else W
        force, moment = rng.standard_normal((2, 3)) * (0.4, 0.1)[0] * size
        force[2] = size if rng.random() < 0.8 else -size * rng.random()
        through = (*rng.uniform(-0.3, 0.3, 2), 0.0)
        free = tuple(0.1 * moment) if rng.random() < 0.5 else (0.0, 0.0, 0.0)
        lift = {"left_foot": tuple(rng.uniform(-0.2, 0.2, 3))} if rng.random() < 0.5 else {}
        rays = {"right_foot": tuple([*rng.uniform(-1, 1, 2), 1.0])} if rng.random() < 0.2 else {}
        yaw = rng.uniform(-np.pi, np.pi)
        facing = (float(np.cos(yaw)), float(np.sin(yaw)), 0.0)
        out.append(Case(chosen, tuple(force), through, free, lift, rays, facing))
    return out


@pytest.mark.slow
def test_every_sample_of_random_problems_has_a_limit_and_a_sentence(robot: Robot) -> None:
    """400 problems, seed 1: none raises, all are finite, a line has ends where something tips."""
    cones, schedule, wrench, ref, facing = together(robot, random_cases(robot, 1, 400))
    found = signed_distances(cones, wrench, ref)
    limits = find_limits(cones, schedule, robot, found, wrench, ref, 1.0, facing_w=facing)
    for i in range(len(wrench)):
        limit, sentence = limits.limit(i), limits.sentence(i)
        assert limit in LIMITS or (limit is None and found.lower[i] == -np.inf)
        assert limits.edge_word(i) in (*LIMIT_EDGES, None)
        assert sentence.endswith(".")
        assert "nan" not in sentence
        assert "  " not in sentence
        assert (limit == "flight") == (cones.count[i] == 0)
        assert bool(limits.links(i)) == (limit not in ("flight", None))
        assert (limits.ends[i, 0] >= 0) == (limit == "tipping")
    assert np.all(np.isfinite(limits.direction_w))


def test_samples_are_judged_together_as_they_are_alone(robot: Robot) -> None:
    cases = random_cases(robot, 2, 30)
    cones, schedule, wrench, ref, facing = together(robot, cases)
    found = signed_distances(cones, wrench, ref)
    limits = find_limits(cones, schedule, robot, found, wrench, ref, 1.0, facing_w=facing)
    for i, case in enumerate(cases):
        alone, own = limits_of(robot, case)
        if abs(own.upper[0]) < 1e-3 or np.abs(own.dual[0] - found.dual[i]).max() > 1e-6:
            continue  # inside, another start of the cuts may end at another nearest facet
        assert (alone.limit(0), alone.edge_word(0)) == (limits.limit(i), limits.edge_word(i))
        assert set(alone.links(0)) == set(limits.links(i))


def mirrored(case: Case, robot: Robot) -> Case:
    """The same problem in the mirror y → −y; soles of left and right are each other's mirror."""

    def flip(v: tuple[float, float, float]) -> tuple[float, float, float]:
        return (v[0], -v[1], v[2])

    sides = tuple("right" if s.link == "left_foot" else "left" for s in case.stances)
    moment = (-case.moment[0], case.moment[1], -case.moment[2])
    return Case(
        stances(robot, *sides, friction=case.stances[0].friction),
        flip(case.force),
        flip(case.through),
        moment,
        {other_side(k): flip(v) for k, v in case.shift.items()},
        {other_side(k): flip(v) for k, v in case.rays.items()},
    )


def other_side(text: str) -> str:
    swapped = text.replace("left", "@").replace("right", "left").replace("@", "right")
    turned = swapped.replace("counter-clockwise", "@").replace("clockwise", "counter-clockwise")
    return turned.replace("counter-counter-clockwise", "counter-clockwise").replace(
        "@", "clockwise"
    )


@pytest.mark.slow
def test_mirrored_problems_have_mirrored_words(robot: Robot) -> None:
    """200 infeasible problems, seed 3; inside, two facets may be equally near."""
    rng = np.random.default_rng(3)
    judged = 0
    for _ in range(200):
        sides = [("left",), ("right",), ("left", "right")][rng.integers(3)]
        case = Case(
            stances(robot, *sides, friction=float(rng.choice([0.1, 0.7]))),
            (*rng.uniform(-300.0, 300.0, 2), W),
            (*rng.uniform(-0.3, 0.3, 2), 0.0),
            (0.0, 0.0, float(rng.uniform(-80.0, 80.0))),
            {"left_foot": tuple(rng.uniform(-0.1, 0.1, 3))},
        )
        here, found = limits_of(robot, case)
        there, _ = limits_of(robot, mirrored(case, robot))
        if found.lower[0] <= 1e-3:
            continue
        judged += 1
        assert here.limit(0) == there.limit(0)
        assert here.edge_word(0) == there.edge_word(0)
        assert {other_side(link) for link in here.links(0)} == set(there.links(0))
        assert np.allclose(here.direction_w[0] * (1, -1, 1), there.direction_w[0], atol=1e-5)
        assert here.sense[0] == -there.sense[0]
    assert judged > 100


def test_contacts_that_give_every_wrench_limit_nothing(robot: Robot) -> None:
    """Squares on the floor and on a ceiling straight above it."""
    floor = touching(robot, "left_foot", [(x, y, 0.0) for x in (-1, 1) for y in (-1, 1)])
    ceiling = touching(
        robot, "pelvis", [(x, y, 2.0) for x in (-1, 1) for y in (-1, 1)], normal=(0, 0, -1)
    )
    limits, found = limits_of(robot, Case((floor, ceiling)))
    assert found.lower[0] == -np.inf
    assert limits.limit(0) is None
    assert limits.links(0) == ()
    assert limits.sentence(0) == "The contacts can give every wrench: nothing limits."


def test_no_wrench_at_all_is_feasible_and_has_a_word(robot: Robot) -> None:
    limits, _ = limits_of(robot, Case(stances(robot, "left"), force=(0.0, 0.0, 0.0)))
    assert limits.limit(0) in LIMITS
    assert limits.sentence(0).startswith("The nearest limit is ")


def test_no_samples_have_no_limits(robot: Robot) -> None:
    cones = Cones(np.zeros(1, dtype=np.int64), *([np.zeros((0, 3))] * 2), np.zeros(0),
                  np.zeros(0, dtype=np.int64), np.zeros((0, 3)))  # fmt: skip
    none, ref = np.zeros((0, 6)), np.zeros((0, 3))
    found = signed_distances(cones, none, ref)
    limits = find_limits(
        cones, ContactSchedule(), robot, found, none, ref, 1.0, facing_w=np.zeros((0, 3))
    )
    assert len(limits.kind) == 0


def test_the_made_robot_has_turned_axes(
    turned: Robot, robot: Robot, tmp_path: pathlib.Path
) -> None:
    """Its soles reach as far, but their long side lies along y of the foot's frame."""
    for made, long in ((robot, 0), (turned, 1)):
        size = np.ptp(made.soles[0].polygon_l, axis=0)
        assert np.isclose(size[long], 0.2)
