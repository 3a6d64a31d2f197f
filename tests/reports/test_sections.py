"""What a report says about clips and balances, on clips whose answers are known."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from make.walkers import SOLE, swaying_clip, walker
from surefoot.contacts.balance import balance
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip, Meta, Motion
from surefoot.reports.parts import Context, Part
from surefoot.reports.sections import balance_part, clip_part
from surefoot.robots.robot import Robot

TURNED = "0 0 0 1"  # half a turn about z


def part_of(clip: Clip, robot: Robot) -> Part:
    return clip_part(clip, Context(clip, robot))


def rows_of(part: Part, title: str) -> tuple[tuple[str, ...], ...]:
    return next(block.rows for block in part.blocks if block.title == title)


@pytest.mark.parametrize(
    ("vertices", "words"),
    [(SOLE, "face (toe and heel)"), (SOLE[1:3], "edge (toe)"), (SOLE[[0, 3]], "edge (heel)")],
)
def test_a_stance_is_on_toe_or_heel_by_its_vertices(vertices, words):
    robot = walker()
    stance = Stance("right_foot", 0.25, 1.0, "face" if len(vertices) > 2 else "edge", vertices)
    clip = replace(swaying_clip(robot), contacts=ContactSchedule((stance,)))
    assert rows_of(part_of(clip, robot), "Contacts") == (
        ("right_foot", "right", "0.25 s", "1.00 s", "0.75 s", words, "0.70"),
    )


def test_toe_and_heel_follow_the_robots_facing_not_the_frame_of_its_foot():
    """In a foot whose frame looks backwards, the vertices at +x are the heel."""
    robot = walker(right_foot=TURNED)
    stance = Stance("right_foot", 0.0, 1.0, "edge", SOLE[1:3])
    clip = replace(swaying_clip(robot), contacts=ContactSchedule((stance,)))
    assert rows_of(part_of(clip, robot), "Contacts")[0][5] == "edge (heel)"


def test_joints_are_counted_as_near_or_beyond_their_limits():
    """Limits are -1 and 1 rad: 0.92 lies 4 % of the range from one, 1.1 lies beyond it."""
    robot = walker()
    clip = swaying_clip(robot)
    joints = np.zeros((clip.motion.n, 5))
    joints[3, robot.joint_names.index("waist")] = 0.92
    joints[4, robot.joint_names.index("left_hip")] = -1.1
    motion = Motion(
        clip.motion.time, clip.motion.root_pos, clip.motion.root_quat, robot.joint_names, joints
    )
    part = part_of(replace(clip, motion=motion), robot)
    (figure,) = [item for item in part.figures if item.label == "Joints at a limit"]
    assert (figure.value, figure.note, figure.bad) == ("2 of 5", "1 beyond it", True)
    (block,) = [block for block in part.blocks if block.title == "Joints near their limits"]
    assert block.text.endswith("of 5. 2 come within 5 % of the range.")


def test_the_path_of_the_root_is_measured_on_the_ground():
    """Along 3 m and 4 m, 5 m in all; rising does not count."""
    robot = walker()
    clip = swaying_clip(robot, n=2)
    root = np.array([[0.0, 0.0, 0.8], [3.0, 4.0, 1.8]])
    motion = Motion(
        clip.motion.time, root, clip.motion.root_quat, robot.joint_names, np.zeros((2, 5))
    )
    part = part_of(replace(clip, motion=motion), robot)
    assert ("Path of the root", "5.00 m") in [(item.label, item.value) for item in part.figures]


def test_a_report_does_not_tell_the_folders_of_its_writer():
    robot = replace(walker(), source=str(Path("/home/somebody/models/walker.xml").absolute()))
    clip = replace(swaying_clip(robot), meta=Meta(str(Path("/home/somebody/a.bvh").absolute())))
    shown = dict(part_of(clip, robot).provenance)
    assert shown["clip"] == "a.bvh"
    assert shown["robot"] == f"walker, {robot.mass:.2f} kg, from walker.xml"


def test_a_robot_that_stands_still_presses_with_its_weight_and_straight_down():
    """No acceleration: the force is the weight, upwards, and the steepest slope is 0."""
    robot = walker()
    clip = swaying_clip(robot)
    still = robot.motion(np.repeat(np.array(robot.home)[None], clip.motion.n, 0), clip.motion.time)
    clip = replace(clip, motion=still)
    part = balance_part(balance(clip, robot), Context(clip, robot))
    shown = {item.label: item.value for item in part.figures}
    assert shown["Strongest press"] == "1.00"
    assert shown["Steepest force"] == "0.00"


@pytest.mark.parametrize(("walked", "axes"), [(0, ["forward", "left"]), (1, ["right", "forward"])])
def test_the_view_from_above_lies_along_the_walk(walked, axes):
    robot = walker()
    clip = swaying_clip(robot, sway_m=0.0)
    root = np.array(clip.motion.root_pos)
    root[:, walked] += np.linspace(0.0, 2.0, clip.motion.n)
    motion = Motion(
        clip.motion.time, root, clip.motion.root_quat, robot.joint_names, clip.motion.joint_pos
    )
    clip = replace(clip, motion=motion)
    part = balance_part(balance(clip, robot), Context(clip, robot))
    (block,) = [block for block in part.blocks if block.title == "Paths over the footprints"]
    assert re.findall(r">(forward|left|right), m<", block.svgs[0]) == axes


def test_contact_rows_stand_left_before_right_and_toe_before_heel():
    robot = walker()
    clip = swaying_clip(robot)
    part = balance_part(balance(clip, robot), Context(clip, robot))
    svg = part.blocks[0].svgs[0]
    assert re.findall(r">((?:left|right) (?:toe|heel))<", svg) == [
        "left toe",
        "left heel",
        "right toe",
        "right heel",
    ]
