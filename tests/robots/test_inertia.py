"""Inertias as files of real robots have them: rounding, rods, negative moments, links without."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from make.robots import BIPED, URDF, written
from surefoot.errors import BadRobot
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

FOOT = '<mass value="0.5"/>\n      <inertia ixx="0.0005" iyy="0.001" izz="0.001" ixy="0"'


def _stilts(folder: pathlib.Path, mass: str, **entries: str) -> Robot:
    """The stilts with another mass and other moments for both feet."""
    given = {"ixx": "0", "iyy": "0", "izz": "0", "ixy": "0"} | entries
    inertia = " ".join(f'{key}="{value}"' for key, value in given.items())
    assert FOOT in URDF
    text = URDF.replace(FOOT, f'<mass value="{mass}"/>\n      <inertia {inertia}')
    return load_robot(written(text, folder, "stilts.urdf"))


def _repairs(robot: Robot) -> list[str]:
    return [n.sentence for n in robot.notices if n.kind == "repair"]


@pytest.mark.parametrize(
    "entries",
    [
        {"ixx": "2.7e-20", "iyy": "5.4e-20", "izz": "1.4e-20", "ixy": "-1.7e-21"},
        {"ixy": "1.4e-20"},  # moments −1.4e-20, 0, 1.4e-20: as iCub's ankles
        {"ixx": "-5.4e-20", "iyy": "-5.4e-20"},
    ],
)
def test_inertia_of_rounding_is_none(tmp_path: pathlib.Path, entries: dict[str, str]) -> None:
    """The engine refuses each of these; a link that moves gets the least that it takes."""
    robot = _stilts(tmp_path, "0.5", **entries)
    assert robot.mass == 7.0
    np.testing.assert_array_equal(robot.model.body("left_foot").inertia, 1e-12)
    assert _repairs(robot) == [
        "links that move without inertia given 1e-12 kg m² and at least 1e-12 kg: 'left_foot'; "
        "'right_foot'"
    ]


def test_thin_rod_stays_one(tmp_path: pathlib.Path) -> None:
    """Moments 0, 0.02, 0.02 along (1, 1, 0): xx = yy = 0.01, xy = −0.01, zz = 0.02."""
    robot = _stilts(tmp_path, "0.5", ixx="0.01", iyy="0.01", izz="0.02", ixy="-0.01")
    got = np.sort(robot.model.body("left_foot").inertia)
    np.testing.assert_allclose(got, [0.0, 0.02, 0.02], atol=1e-9)
    assert _repairs(robot) == []


def test_negative_moment_is_balanced_and_the_link_named(tmp_path: pathlib.Path) -> None:
    """Moments −0.002, 0.005, 0.009: a mean of 0.004. Their sum is the file's."""
    robot = _stilts(tmp_path, "0.5", ixx="-0.002", iyy="0.005", izz="0.009")
    np.testing.assert_allclose(robot.model.body("left_foot").inertia, 0.004)
    assert _repairs(robot)[0] == (
        "inertia of link 'left_foot' is impossible (-0.002, 0.005, 0.009 kg m²: the largest "
        "exceeds the sum of the others): replaced by the mean 0.004 for all three"
    )


def test_inertia_of_which_nothing_is_positive_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadRobot, match="left_foot"):
        _stilts(tmp_path, "0.5", ixx="-0.002", iyy="-0.005", izz="-0.009")


def test_link_that_moves_without_mass_is_given_next_to_none(tmp_path: pathlib.Path) -> None:
    """Between two joints at one place, as in hips of three axes: 7 − 2 · 0.5 = 6 kg remain."""
    robot = _stilts(tmp_path, "0")
    assert robot.mass == pytest.approx(6.0, abs=1e-11)
    assert "'left_foot'; 'right_foot'" in _repairs(robot)[0]


def test_link_without_mass_that_carries_a_fixed_one_with_mass_is_left_alone(
    tmp_path: pathlib.Path,
) -> None:
    """The trunk's base: the engine itself adds up what is fixed together."""
    base = (
        '<link name="base"/><joint name="glue" type="fixed"><parent link="base"/>'
        '<child link="trunk"/></joint><link name="trunk">'
    )
    text = URDF.replace('<link name="trunk">', base)
    robot = load_robot(written(text, tmp_path, "stilts.urdf"))
    assert robot.root_link == "base"
    assert robot.mass == 7.0
    assert _repairs(robot) == []


def test_moments_of_a_link_without_mass_are_kept(tmp_path: pathlib.Path) -> None:
    robot = load_robot(written(BIPED.replace('mass="0.5"', 'mass="0"'), tmp_path))
    assert robot.mass == pytest.approx(15.0, abs=1e-11)
    np.testing.assert_allclose(np.sort(robot.model.body("left_foot").inertia),
                               [0.0005, 0.001, 0.001])  # fmt: skip


def test_robot_without_any_mass_is_refused(tmp_path: pathlib.Path) -> None:
    parts = URDF.split("<inertial>")
    text = "".join([parts[0], *(part.split("</inertial>")[1] for part in parts[1:])])
    with pytest.raises(BadRobot, match="no link has a mass"):
        load_robot(written(text, tmp_path, "stilts.urdf"))


def test_least_mass_that_the_file_asks_for_is_said(tmp_path: pathlib.Path) -> None:
    """Feet of 0.5 kg are made 1 kg by the engine: 16 + 2 · 0.5 = 17 kg."""
    text = BIPED.replace("<compiler", '<compiler boundmass="1"')
    robot = load_robot(written(text, tmp_path))
    assert robot.mass == pytest.approx(17.0)
    assert _repairs(robot)[0] == (
        "the file asks for at least 1 kg a link: 'left_foot'; 'right_foot'"
    )


def test_impossible_inertia_is_balanced_and_the_link_named(tmp_path: pathlib.Path) -> None:
    """(0.1, 0.02, 0.05): 0.1 > 0.02 + 0.05. The mean of the three is 0.0567; others stay."""
    robot = load_robot(written(BIPED.replace("0.1 0.08 0.05", "0.1 0.02 0.05"), tmp_path))
    np.testing.assert_allclose(robot.model.body("pelvis").inertia, 0.17 / 3)
    np.testing.assert_allclose(robot.model.body("left_thigh").inertia, [0.03, 0.03, 0.004])
    notices = [n for n in robot.notices if n.kind == "repair"]
    assert [n.part for n in notices] == ["pelvis"]
    assert notices[0].sentence == (
        "inertia of link 'pelvis' is impossible (0.02, 0.05, 0.1 kg m²: the largest exceeds the "
        "sum of the others): replaced by the mean 0.0567 for all three"
    )
