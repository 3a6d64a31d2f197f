"""Columns to joints: names, missing groups, the order of joints, all that a file does not say."""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np
import pytest

from make.robot_files import gmr, holosoma, mjlab, saved, turning
from surefoot.errors import BadFile
from surefoot.formats.fitting import columns_of
from surefoot.formats.record import Record
from surefoot.formats.registry import describe, read
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("human25")


@pytest.fixture(scope="module")
def motion(robot: Robot) -> Motion:
    return turning(robot)


def _sentence(path: pathlib.Path, robot: Robot | None = None) -> str:
    with pytest.raises(BadFile) as raised:
        read(path, robot=robot)
    assert "\n" not in str(raised.value)
    return str(raised.value)


# joints without names


def _columns(names: tuple[str, ...], got: int, robot: Robot) -> tuple[list[int], list[str]]:
    record = Record("x", 30.0, np.zeros((2, 3)), np.zeros((2, 4)), np.zeros((2, got)), "xyzw")
    columns, said = columns_of(record, dataclasses.replace(robot, joint_names=names), "x.csv")
    return columns.tolist(), [n.sentence for n in said]


ARM = ("shoulder", "elbow", "wrist_roll", "wrist_yaw")
NAMES = ("hip", "waist", *(f"left_{j}" for j in ARM), *(f"right_{j}" for j in ARM))


def test_missing_wrists_stay_at_zero_and_are_named(robot: Robot) -> None:
    columns, (said,) = _columns(NAMES, 6, robot)
    assert columns == [0, 1, 2, 3, -1, -1, 4, 5, -1, -1]
    assert said == (
        "6 joint columns for the 10 joints of robot 'human25': the wrists are taken to be missing"
        " and stay at 0 (left_wrist_roll, left_wrist_yaw, right_wrist_roll, right_wrist_yaw); if"
        " others are missing, give the robot without them"
    )


def test_missing_groups_may_come_together(robot: Robot) -> None:
    names = (*NAMES, "left_thumb", "right_thumb", "head_yaw")
    assert _columns(names, 11, robot)[0] == [*range(10), -1, -1, 10]
    assert _columns(names, 6, robot)[0] == [0, 1, 2, 3, -1, -1, 4, 5, -1, -1, -1, -1, -1]


def test_a_choice_of_groups_that_is_ambiguous_is_refused(robot: Robot) -> None:
    names = (*NAMES, *(f"finger{k}" for k in range(4)))
    with pytest.raises(BadFile) as raised:
        _columns(names, 10, robot)
    assert str(raised.value) == (
        "expected 14 joint columns for robot 'human25', got 10; it may lack the wrists or the"
        " hands (x.csv). Give the robot whose joints these are"
    )
    for got in (1, 9, 13, 15):
        with pytest.raises(BadFile, match=f"expected 14 joint columns .*, got {got} "):
            _columns(names, got, robot)


def test_names_that_the_robot_has_not_are_refused_with_the_nearest(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    table = holosoma(motion)
    table["joint_names"] = np.array(
        [name.replace("left_knee", "left_kne") for name in table["joint_names"]]
    )
    said = _sentence(saved(tmp_path / "x.npz", table), robot)
    assert said.startswith("joint 'left_kne' is not in robot 'human25'. Did you mean 'left_knee'")
    table["joint_names"][0] = table["joint_names"][1]
    said = _sentence(saved(tmp_path / "x.npz", table), robot)
    assert said.startswith(f"joint '{table['joint_names'][1]}' is named twice")
    short = holosoma(motion)
    short["joint_names"] = short["joint_names"][1:]
    short["joint_pos"] = np.delete(short["joint_pos"], 7, axis=1)
    said = _sentence(saved(tmp_path / "x.npz", short), robot)
    assert said.startswith("joint 'right_elbow' of robot 'human25' is missing")


# the order of joints


def test_a_file_in_the_order_of_isaac_is_refused(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    path = saved(tmp_path / "x.npz", mjlab(motion, robot, isaac=True))
    said = _sentence(path, robot)
    assert said.startswith(
        "joints and bodies are in the breadth-first order of Isaac, as BeyondMimic writes them:"
        " bodies lie 0.000 m from the robot's links so, "
    )
    assert said.endswith(f"in the order of the model ({path}). That format is not read yet")
    notices = describe(path)["notices"]
    assert isinstance(notices, list)
    assert "seem to be in the breadth-first order of Isaac" in notices[0]["sentence"]
    with pytest.raises(BadFile):
        describe(path, robot=robot)


def test_bodies_of_another_robot_are_refused(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    table = mjlab(motion, robot)
    root = table["body_pos_w"][:, :1]
    table["body_pos_w"] = root + 0.5 * (table["body_pos_w"] - root)
    said = _sentence(saved(tmp_path / "x.npz", table), robot)
    assert "m (median) from the links of robot 'human25', at most 0.05 m are expected" in said


def test_a_robot_that_keeps_still_hides_the_order_of_its_joints(
    robot: Robot, tmp_path: pathlib.Path
) -> None:
    """All joints at zero: both orders are right."""
    qpos = np.tile(robot.home, (5, 1))
    qpos[:, 7:] = 0.0
    still = robot.motion(qpos, np.arange(5) / 50.0)
    table = mjlab(still, robot, isaac=True)
    assert read(saved(tmp_path / "x.npz", table), robot=robot).motion.n == 5  # type: ignore[union-attr]


def test_a_fixed_order_of_quaternions_that_the_feet_contradict_is_said(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    clip = read(saved(tmp_path / "x.pkl", gmr(motion, root_rot=motion.root_quat)), robot=robot)
    said = [n.sentence for n in clip.notices if n.kind == "suspicious"]
    assert any(s.startswith("the quaternions do not look like xyzw: sliding times") for s in said)
