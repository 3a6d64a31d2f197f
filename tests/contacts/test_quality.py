"""Figures of feet and joints against what was put in by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import surefoot as sf
from make.standing import only, stiff
from surefoot.contacts.detect import detect
from surefoot.contacts.quality import Quality, judge
from surefoot.motion.motion import Clip, Motion
from surefoot.robots.robot import Robot

TIME = np.arange(61) / 30.0


@pytest.fixture(scope="module")
def robot() -> Robot:
    return sf.load_robot("human25")


def _judged(robot: Robot, motion: Motion) -> Quality:
    return judge(Clip(motion, detect(motion, robot), robot=robot.name), robot)


def test_a_robot_that_stands_has_nothing_to_blame(robot: Robot) -> None:
    quality = _judged(robot, stiff(robot, TIME))
    assert quality.skate_mean_mps < 1e-12
    assert quality.penetration_max_m < 1e-9
    assert quality.float_median_m < 1e-9
    assert quality.joint_jumps == 0
    assert quality.position_limit_violations == 0
    assert quality.contact_fraction == 1.0


def test_skate_is_the_speed_of_the_feet(robot: Robot) -> None:
    quality = _judged(robot, stiff(robot, TIME, only(61, 1, 0.1 * TIME)))
    assert quality.skate_mean_mps == pytest.approx(0.1, rel=1e-9)


def test_a_moving_stance_does_not_count_as_skate(robot: Robot) -> None:
    motion = stiff(robot, TIME, only(61, 1, 0.1 * TIME))
    found = detect(motion, robot)
    stances = tuple(dataclasses.replace(s, moving=True) for s in found.stances)
    clip = Clip(motion, sf.ContactSchedule(stances), robot=robot.name)
    assert judge(clip, robot).skate_mean_mps == 0.0


@pytest.mark.parametrize("height", [-0.012, 0.007])
def test_penetration_and_float_are_heights_over_the_terrain(robot: Robot, height: float) -> None:
    quality = _judged(robot, stiff(robot, TIME, only(61, 2, np.full(61, height))))
    assert quality.penetration_max_m == pytest.approx(max(0.0, -height), abs=1e-9)
    assert quality.float_median_m == pytest.approx(max(0.0, height), abs=1e-9)


@pytest.mark.parametrize(("fps", "expected"), [(30.0, 2), (120.0, 8)])
def test_jumps_are_counted_over_a_thirtieth_of_a_second(
    robot: Robot, fps: float, expected: int
) -> None:
    """A joint steps by 0.6 rad there and back within one frame.

    At 30/s these are two steps; at 120/s each of the four frames before a step sees it.
    """
    time = np.arange(round(2 * fps) + 1) / fps
    motion = stiff(robot, time)
    joint_pos = motion.joint_pos.copy()
    middle = len(time) // 2
    joint_pos[middle : middle + round(fps / 3), 0] += 0.6
    jumping = dataclasses.replace(motion, joint_pos=joint_pos)
    assert judge(Clip(jumping, robot=robot.name), robot).joint_jumps == expected


def test_a_joint_beyond_its_limit_is_counted_at_every_frame(robot: Robot) -> None:
    motion = stiff(robot, TIME)
    joint_pos = motion.joint_pos.copy()
    joint_pos[10:15, 3] = robot.joint_max[3] + 0.01
    beyond = dataclasses.replace(motion, joint_pos=joint_pos)
    assert judge(Clip(beyond, robot=robot.name), robot).position_limit_violations == 5
