"""Flags of a file as stances, and the agreement of two schedules."""

from __future__ import annotations

import numpy as np
import pytest

from make.puppets import SOLE, puppet, walk
from surefoot.contacts.detect import detect
from surefoot.contacts.flags import agreement, from_flags, without_sole
from surefoot.errors import BadMotion, UnknownName
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.robots.robot import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return puppet()


def test_flags_are_taken_to_the_frame(robot: Robot) -> None:
    motion = walk(robot).motion
    rng = np.random.default_rng(3)
    flags = {link: rng.random(motion.n) < 0.5 for link in ("left_foot", "right_foot")}
    found = from_flags(motion, robot, flags)
    for link, meant in flags.items():
        assert np.array_equal(found.standing(link, motion.time), meant)


def test_a_flat_foot_stands_on_its_sole_and_a_tilted_one_on_its_low_edge(robot: Robot) -> None:
    for pitch, corners in ((0.0, [0, 1, 2, 3]), (0.3, [1, 2]), (-0.3, [0, 3])):
        motion = walk(robot, pitch=pitch, height=0.2).motion
        found = from_flags(motion, robot, {"left_foot": np.ones(motion.n, dtype=bool)})
        (stance,) = found.stances
        assert np.array_equal(stance.vertices, SOLE[corners])
        assert (stance.start, stance.end) == (0.0, motion.time[-1])


def test_links_without_a_sole_are_named(robot: Robot) -> None:
    n = walk(robot).motion.n
    flags = {"pelvis": np.ones(n, dtype=bool), "left_foot": np.zeros(n, dtype=bool)}
    assert without_sole(robot, flags) == ("pelvis",)
    assert from_flags(walk(robot).motion, robot, flags).stances == ()


def test_an_unknown_link_is_refused_with_the_nearest(robot: Robot) -> None:
    motion = walk(robot).motion
    with pytest.raises(
        UnknownName, match=r"'left_fot' is not in robot .* Did you mean 'left_foot'"
    ):
        from_flags(motion, robot, {"left_fot": np.ones(motion.n, dtype=bool)})


def test_flags_that_are_not_one_a_frame_are_refused(robot: Robot) -> None:
    motion = walk(robot).motion
    with pytest.raises(BadMotion, match=r"expected flags of 'left_foot' \(373\), got \(3,\)"):
        from_flags(motion, robot, {"left_foot": np.ones(3, dtype=bool)})


def test_agreement_counts_pairs_of_link_and_moment() -> None:
    """Left agrees at 10 of 10 moments, right at 5: 15 of 20."""
    time = np.arange(10) / 10.0
    left = Stance("left_foot", 0.0, 1.0, "face", SOLE)
    right = Stance("right_foot", 0.0, 0.45, "face", SOLE)
    assert agreement(ContactSchedule((left, right)), ContactSchedule((left,)), time) == 0.75
    assert agreement(ContactSchedule(), ContactSchedule(), time) == 1.0


def test_a_schedule_agrees_with_itself(robot: Robot) -> None:
    motion = walk(robot, jitter=0.01).motion
    found = detect(motion, robot)
    assert agreement(found, found, motion.time) == 1.0
