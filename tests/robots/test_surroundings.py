"""What a file puts around its robot is taken away, and said."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from make.robots import BIPED, URDF, written
from surefoot.errors import BadRobot
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot


def _biped(folder: pathlib.Path, old: str, new: str) -> Robot:
    assert old in BIPED
    return load_robot(written(BIPED.replace(old, new), folder))


def _said(robot: Robot, kind: str) -> str:
    return " | ".join(n.sentence for n in robot.notices if n.kind == kind)


@pytest.mark.parametrize(
    "thing",
    [
        '<body name="thing"><geom type="plane" size="1 1 1"/></body>',
        '<body name="thing" pos="2 0 0"><geom type="box" size="1 1 1" mass="20"/></body>',
        '<body name="thing" mocap="true"><inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/>'
        "</body>",
    ],
)
def test_things_that_stand_still_are_dropped(tmp_path: pathlib.Path, thing: str) -> None:
    robot = _biped(tmp_path, "<worldbody>", f"<worldbody>{thing}")
    assert robot.mass == pytest.approx(16.0)
    assert robot.root_link == "pelvis"
    assert "thing" not in robot.link_names
    assert "'thing'" in _said(robot, "dropped")


def test_thing_that_moves_is_a_second_robot(tmp_path: pathlib.Path) -> None:
    ball = '<body name="ball"><freejoint/><geom size="0.1"/></body></worldbody>'
    with pytest.raises(BadRobot, match="expected one robot in the world, got 2 links"):
        _biped(tmp_path, "</worldbody>", ball)


@pytest.mark.parametrize(
    "tie",
    [
        '<weld body1="pelvis"/>',
        '<connect body1="pelvis" body2="world" anchor="0 0 0"/>',
        '<connect site1="hook" site2="ceiling"/>',
    ],
)
def test_robot_is_taken_off_its_hook(tmp_path: pathlib.Path, tie: str) -> None:
    sites = '<worldbody><site name="ceiling" pos="0 0 2"/><body name="pelvis" pos="0 0 0.85">'
    text = BIPED.replace('<worldbody>\n    <body name="pelvis" pos="0 0 0.85">',
                         f'{sites}<site name="hook"/>')  # fmt: skip
    text = text.replace("</worldbody>", f"</worldbody><equality>{tie}</equality>")
    robot = load_robot(written(text, tmp_path))
    assert robot.model.neq == 0
    assert _said(robot, "dropped") == "constraint that ties link 'pelvis' to the world dropped"


def test_tie_between_two_links_stays(tmp_path: pathlib.Path) -> None:
    tie = '</worldbody><equality><connect body1="left_foot" body2="right_foot" anchor="0 0 0"/>'
    assert _biped(tmp_path, "</worldbody>", f"{tie}</equality>").model.neq == 1


def test_gravity_that_is_no_number_is_mended(tmp_path: pathlib.Path) -> None:
    robot = _biped(tmp_path, "<compiler", '<option gravity="0 0 nan"/><compiler')
    np.testing.assert_array_equal(robot.model.opt.gravity, [0.0, 0.0, -9.81])
    assert "gravity [ 0.  0. nan] set to" in _said(robot, "repair")


def test_gravity_of_the_moon_is_kept(tmp_path: pathlib.Path) -> None:
    robot = _biped(tmp_path, "<compiler", '<option gravity="0 0 -1.62"/><compiler')
    np.testing.assert_array_equal(robot.model.opt.gravity, [0.0, 0.0, -1.62])


def test_gravity_that_is_switched_off_is_switched_on(tmp_path: pathlib.Path) -> None:
    flags = '<option><flag gravity="disable" contact="disable"/></option><compiler'
    robot = _biped(tmp_path, "<compiler", flags)
    assert int(robot.model.opt.disableflags) == 0
    assert "switches off: gravity, contact" in _said(robot, "repair")


def test_water_and_weightless_links_do_not_carry_the_robot(tmp_path: pathlib.Path) -> None:
    """At rest nothing but its weight acts on the base: 16 kg · 9.81 m/s² = 156.96 N."""
    text = BIPED.replace("<compiler", '<option density="1000" wind="3 0 0"/><compiler')
    text = text.replace('<body name="pelvis"', '<body name="pelvis" gravcomp="1"')
    robot = load_robot(written(text, tmp_path))
    data = mujoco.MjData(robot.model)
    mujoco.mj_inverse(robot.model, data)
    np.testing.assert_allclose(data.qfrc_inverse[:3], [0.0, 0.0, 156.96], atol=1e-9)
    assert "density, wind of the air set to 0" in _said(robot, "dropped")
    assert "gravity compensation of links taken away (1)" in _said(robot, "dropped")


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_root_link_without_mass_is_the_ground(tmp_path: pathlib.Path, kind: str) -> None:
    """As ROS writes it: a link `odom` on which the robot floats, or slides in a plane."""
    odom = (
        f'<link name="odom"/><joint name="base" type="{kind}"><parent link="odom"/>'
        '<child link="trunk"/><axis xyz="0 1 0"/></joint><link name="trunk">'
    )
    text = URDF.replace('<link name="trunk">', odom)
    robot = load_robot(written(text, tmp_path, "stilts.urdf"))
    assert robot.root_link == "trunk"
    assert robot.nv == (10 if kind == "floating" else 7)
    assert robot.mass == 7.0


def test_free_joint_inside_the_tree_is_refused_by_name(tmp_path: pathlib.Path) -> None:
    text = URDF.replace('name="left_hip" type="revolute"', 'name="left_hip" type="floating"')
    with pytest.raises(BadRobot, match="free joint 'left_hip' is not on the root link 'trunk'"):
        load_robot(written(text, tmp_path, "stilts.urdf"))


def test_floor_and_targets_are_taken_out_of_the_world(tmp_path: pathlib.Path) -> None:
    robot = _biped(
        tmp_path,
        "<worldbody>",
        '<worldbody><geom name="floor" type="plane" size="1 1 1"/>'
        '<body name="target" mocap="true"/>',
    )
    assert robot.model.ngeom == 7
    assert "shapes of the world dropped: floor" in _said(robot, "dropped")
    assert "mocap body 'target' dropped" in _said(robot, "dropped")


def test_gravity_points_down(tmp_path: pathlib.Path) -> None:
    robot = _biped(tmp_path, "<compiler", '<option gravity="0 0 0"/><compiler')
    np.testing.assert_array_equal(robot.model.opt.gravity, [0.0, 0.0, -9.81])
    assert "gravity" in _said(robot, "repair")
