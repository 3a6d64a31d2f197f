"""Which contacts carry: by schedule at the start, later by schedule and load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from make.walkers import swaying_clip, walker
from surefoot.control.contact_set import ContactSet, Options, joints_between
from surefoot.control.reference import Reference, reference_of
from surefoot.control.target import State
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

LEFT, FIRST, SECOND = 1, 0, 2  # patches: the left foot's, and the right foot's two


@pytest.fixture(scope="module")
def robot() -> Robot:
    return walker()


@pytest.fixture(scope="module")
def reference(robot: Robot) -> Reference:
    """On both feet until 1 s, on the left until 1.5 s, then the right foot's edge slides."""
    return reference_of(swaying_clip(robot), robot, rate_hz=100.0)


def stepped(
    contacts: ContactSet, reference: Reference, step: int, right_n: float
) -> tuple[int, int]:
    """One step with 200 N on the left foot; which patch carries the right one, which is late."""
    right = reference.patches.link_names.index("right_foot")
    force_w = np.zeros((2, 3))
    force_w[:, 2] = 200.0
    force_w[right, 2] = right_n
    state = State(0.0, reference.qpos[0], reference.qvel[0], force_w, np.zeros((2, 3)))
    contacts.update(state, reference.at(step))
    assert contacts.carrying[1 - right] == LEFT
    return int(contacts.carrying[right]), int(contacts.late[right])


@pytest.fixture
def contacts(robot: Robot, reference: Reference) -> ContactSet:
    found = ContactSet(robot, reference.patches)
    assert stepped(found, reference, -1, 0.0) == (FIRST, -1)  # believed at first, without load
    return found


def test_a_foot_stays_by_schedule_without_load(contacts: ContactSet, reference: Reference) -> None:
    assert stepped(contacts, reference, 50, 0.0) == (FIRST, -1)


def test_lift_off_is_by_schedule_alone(contacts: ContactSet, reference: Reference) -> None:
    """It still bears 100 N, and would be pinned by its own rows."""
    assert stepped(contacts, reference, 105, 100.0) == (-1, -1)


def test_a_foot_without_load_leaves_with_its_reference(
    contacts: ContactSet, reference: Reference
) -> None:
    """At 0.1 m/s off the ground: with 100 N it stays, with none it goes, and is not late."""
    right = reference.patches.link_names.index("right_foot")
    target = reference.at(98)
    velocity = np.array(target.link_vel_w)
    velocity[reference.patches.link_body[right], 2] = 0.1
    target.link_vel_w = velocity
    for load, patch in ((100.0, FIRST), (0.0, -1)):
        force_w = np.full((2, 3), [0.0, 0.0, 200.0])
        force_w[right, 2] = load
        state = State(0.0, reference.qpos[0], reference.qvel[0], force_w, np.zeros((2, 3)))
        contacts.update(state, target)
        assert contacts.carrying[right] == patch
        assert contacts.late[right] == -1


def test_early_touch_down_counts_after_most_of_the_swing(
    contacts: ContactSet, reference: Reference
) -> None:
    """The swing lasts from 1 s to 1.5 s: 60 % of it are over at 1.3 s."""
    assert stepped(contacts, reference, 128, 100.0) == (-1, -1)
    assert stepped(contacts, reference, 132, 15.0) == (-1, -1)
    assert stepped(contacts, reference, 133, 25.0) == (SECOND, -1)
    assert stepped(contacts, reference, 134, 0.0) == (SECOND, -1)  # and stays
    assert stepped(contacts, reference, 155, 0.0) == (SECOND, -1)


def test_late_touch_down_waits_for_load(contacts: ContactSet, reference: Reference) -> None:
    stepped(contacts, reference, 149, 0.0)
    assert stepped(contacts, reference, 151, 0.0) == (-1, SECOND)
    assert stepped(contacts, reference, 160, 19.0) == (-1, SECOND)
    assert stepped(contacts, reference, 161, 21.0) == (SECOND, -1)


def test_the_load_can_be_chosen(robot: Robot, reference: Reference) -> None:
    contacts = ContactSet(robot, reference.patches, Options(touch_load_n=5.0))
    stepped(contacts, reference, 149, 0.0)
    assert stepped(contacts, reference, 151, 6.0) == (SECOND, -1)


def test_after_a_reset_the_schedule_is_believed(contacts: ContactSet, reference: Reference) -> None:
    stepped(contacts, reference, 149, 0.0)
    contacts.reset()
    assert stepped(contacts, reference, 151, 0.0) == (SECOND, -1)


def test_only_changes_are_told(robot: Robot, reference: Reference) -> None:
    contacts = ContactSet(robot, reference.patches)
    state = State(0.0, reference.qpos[0], reference.qvel[0], np.zeros((2, 3)), np.zeros((2, 3)))
    told = [contacts.update(state, reference.at(step)) for step in (-2, -1, 99, 100, 101)]
    assert told == [True, False, False, True, False]


def test_a_toe_has_landed_when_its_foot_has() -> None:
    """human25: one joint lies between them, fourteen between the feet."""
    robot = load_robot("human25")
    foot, toe = robot.link_id("left_foot"), robot.link_id("left_toe")
    assert joints_between(robot, foot, toe) == 1
    assert joints_between(robot, toe, foot) is None
    assert joints_between(robot, robot.link_id("right_foot"), toe) is None


def test_links_of_one_foot_share_their_load(robot: Robot, reference: Reference) -> None:
    """Both late; 15 N on each: too little for one, enough for a foot with its toe."""
    human = load_robot("human25")
    patches = replace(
        reference.patches,
        link_names=("left_foot", "left_toe"),
        link_body=np.array([human.link_id("left_foot"), human.link_id("left_toe")]),
        patch_link=np.array([0, 1, 1]),
    )
    contacts = ContactSet(human, patches)
    target = reference.at(0)
    target.swing, target.coming = np.zeros(2), np.full(2, -1)
    force_w = np.array([[0.0, 0.0, 15.0]] * 2)
    state = State(0.0, reference.qpos[0], reference.qvel[0], force_w, np.zeros((2, 3)))
    target.holds = np.zeros(3, dtype=np.bool_)
    contacts.update(state, target)
    target.holds = np.array([True, True, False])
    contacts.update(state, target)
    assert tuple(contacts.carrying) == (0, 1)
