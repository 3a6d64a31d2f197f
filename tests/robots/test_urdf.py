"""URDF facts that the engine drops, faults of the text, and where meshes are looked for."""

from __future__ import annotations

import pathlib
import re
import sys

import numpy as np
import pytest

from make.robots import URDF, written
from surefoot.errors import BadFile, BadRobot
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot
from surefoot.robots.urdf import find_mesh
from surefoot.robots.zoo import load_robot

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def _load(text: str, folder: pathlib.Path) -> Robot:
    return load_robot(written(text, folder, "stilts.urdf"))


def _refusal(text: str, folder: pathlib.Path) -> str:
    with pytest.raises(BadFile) as caught:
        _load(text, folder)
    return str(caught.value)


def test_joint_speeds_are_read_from_the_text(tmp_path: pathlib.Path) -> None:
    robot = _load(URDF, tmp_path)
    assert robot.joint_names == ("left_hip", "left_ankle", "right_hip", "right_ankle")
    assert robot.joint_speed.tolist() == [9.5, 7.0, 9.5, 7.0]
    assert robot.joint_torque.tolist() == [60.0, 30.0, 60.0, 30.0]
    assert robot.joint_min.tolist() == [-1.5, -0.9, -1.5, -0.9]


def test_joint_that_mimics_another_stays_a_joint_and_is_said(tmp_path: pathlib.Path) -> None:
    limit = '<limit lower="-0.9" upper="0.9" effort="30" velocity="7"/>'
    mimic = '<mimic joint="left_hip" multiplier="-2" offset="0.1"/>'
    robot = _load(URDF.replace(limit, limit + mimic, 1), tmp_path)
    assert robot.nv == 10
    model = robot.model
    assert model.neq == 1
    assert int(model.eq_type[0]) == int(mujoco.mjtEq.mjEQ_JOINT)
    assert model.eq_obj1id[0] == model.joint("left_ankle").id
    assert model.eq_obj2id[0] == model.joint("left_hip").id
    assert model.eq_data[0, :3].tolist() == [0.1, -2.0, 0.0]
    assert any(
        n.sentence == "joints that mimic others (left_ankle) are kept as joints of their own, tied "
        "by the engine in simulation only"
        for n in robot.notices
    )


@pytest.mark.parametrize("leader", ["left_hp", "left_ankle"])
def test_tie_to_what_does_not_move_beside_it_is_dropped(
    tmp_path: pathlib.Path, leader: str
) -> None:
    """To nobody, to a fixed joint, to itself: the joint stays, the tie is of no use."""
    limit = '<limit lower="-0.9" upper="0.9" effort="30" velocity="7"/>'
    robot = _load(URDF.replace(limit, f'{limit}<mimic joint="{leader}"/>', 1), tmp_path)
    assert "left_ankle" in robot.joint_names
    assert robot.model.neq == 0
    assert any(
        n.sentence
        == f"ties to what is no other joint that moves dropped: 'left_ankle' mimics '{leader}'"
        for n in robot.notices
    )


@pytest.mark.parametrize(("low", "high"), [("0.9", "-0.9"), ("0.3", "0.3")])
def test_position_limits_that_leave_no_room_are_dropped(
    tmp_path: pathlib.Path, low: str, high: str
) -> None:
    """The engine drops them without a word."""
    robot = _load(URDF.replace('lower="-0.9" upper="0.9"', f'lower="{low}" upper="{high}"', 1),
                  tmp_path)  # fmt: skip
    assert robot.joint_max[robot.joint_names.index("left_ankle")] == float("inf")
    assert robot.joint_max[robot.joint_names.index("right_ankle")] == 0.9
    assert any(
        n.kind == "dropped" and f"'left_ankle' ({low} … {high})" in n.sentence
        for n in robot.notices
    )


@pytest.mark.parametrize("entry", ['mass value="3"', 'velocity="9.5"'])
def test_number_that_is_empty_is_a_fault(tmp_path: pathlib.Path, entry: str) -> None:
    empty = f'{entry.split("=")[0]}=""'
    assert empty.split()[-1] in _refusal(URDF.replace(entry, empty), tmp_path)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ('velocity="9.5"', 'limit velocity="9.5 3"'),
        ('<mass value="3"/>', 'mass value="3 3"'),
    ],
)
def test_two_numbers_where_one_belongs_are_a_fault(
    tmp_path: pathlib.Path, entry: str, text: str
) -> None:
    doubled = re.sub(r'="([^"]*)"', r'="\1 3"', entry)
    assert text in _refusal(URDF.replace(entry, doubled), tmp_path)


def test_limits_of_zero_are_taken_for_none_and_said(tmp_path: pathlib.Path) -> None:
    """As exporters of CAD programs write them: effort="0" velocity="0" on every joint."""
    robot = _load(URDF.replace('velocity="9.5"', 'velocity="0"', 1), tmp_path)
    assert np.isinf(robot.joint_speed[robot.joint_names.index("left_hip")])
    said = [n.sentence for n in robot.notices if n.part == "limit"]
    assert said == ["speed limits of 0 taken for none: 'left_hip'"]
    limit = '<limit lower="-0.9" upper="0.9" effort="30" velocity="7"/>'
    robot = _load(URDF.replace(limit, limit.replace("30", "0.0")), tmp_path)
    assert np.isinf(robot.joint_torque[robot.joint_names.index("left_ankle")])
    said = [n.sentence for n in robot.notices if n.part == "limit"]
    assert said == ["torque limits of 0 taken for none: 'left_ankle'; 'right_ankle'"]


def test_chain_that_nobody_can_follow_is_refused(tmp_path: pathlib.Path) -> None:
    links = "".join(f'<link name="l{i}"/>' for i in range(1201))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(1200)
    )
    said = _refusal(f'<robot name="chain">{links}{joints}</robot>', tmp_path)
    assert said.startswith("more than 400 joints in a row")


def test_link_called_world_inside_the_tree_is_refused(tmp_path: pathlib.Path) -> None:
    """The engine would take it for the ground and lose it."""
    text = URDF.replace("left_leg", "world").replace('<mass value="1.5"/>', '<mass value="0"/>')
    with pytest.raises(BadRobot, match="link 'world' hangs on another"):
        _load(text, tmp_path)


def test_shapes_without_an_inertia_add_no_mass(tmp_path: pathlib.Path) -> None:
    """A link without an inertial has no mass in URDF; the engine would weigh its shapes."""
    ball = (
        '<link name="ball"><collision><geometry><sphere radius="0.1"/></geometry></collision>'
        "</link>"
        '<joint name="glue" type="fixed"><parent link="trunk"/><child link="ball"/></joint></robot>'
    )
    assert _load(URDF.replace("</robot>", ball), tmp_path).mass == pytest.approx(7.0)


def test_settings_for_the_engine_in_the_file_do_not_lose_links(tmp_path: pathlib.Path) -> None:
    own = '<mujoco><compiler fusestatic="true" discardvisual="true" meshdir="x"/></mujoco></robot>'
    assert _load(URDF.replace("</robot>", own), tmp_path).mass == pytest.approx(7.0)


def test_all_faults_of_a_file_are_said_together(tmp_path: pathlib.Path) -> None:
    text = URDF.replace('child link="left_foot"', 'child link="left_fot"').replace(
        'joint name="right_hip"', 'joint name="left_hip"'
    )
    said = _refusal(text, tmp_path)
    assert "joint 'left_hip' is there 2 times" in said
    assert (
        "joint 'left_ankle' has child 'left_fot', which is no link. Did you mean 'left_foot'"
        in said
    )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('type="revolute"', 'type="hinge"', "joint 'left_hip' has type 'hinge'"),
        ('ixx="0.05"', 'ixx="nan"', "link 'trunk': inertia ixx=\"nan\""),
        ('<mass value="3"/>', '<mass value="heavy"/>', "link 'trunk': mass value=\"heavy\""),
        ('velocity="9.5"', 'velocity="inf"', "joint 'left_hip': limit velocity=\"inf\""),
        ('link name="trunk"', 'link name="left_leg"', "link 'left_leg' is there 2 times"),
        (
            'parent link="left_leg"',
            'parent link="left_foot"',
            "link 'left_foot' hangs in a loop, not on 'trunk'",
        ),
        (
            '<link name="trunk">',
            '<link name="bell"/><link name="trunk">',
            "expected one root link, got 2: bell, trunk",
        ),
        ('child link="left_foot"', 'child link="left_leg"', "link 'left_leg' has 2 parents"),
        ('<link name="trunk">', "<link>", "link without a name"),
    ],
)
def test_each_fault_of_the_tree_has_its_sentence(
    tmp_path: pathlib.Path, old: str, new: str, sentence: str
) -> None:
    assert old in URDF
    assert sentence in _refusal(URDF.replace(old, new), tmp_path)


def test_xacro_is_recognised(tmp_path: pathlib.Path) -> None:
    text = URDF.replace(
        '<robot name="stilts">',
        '<robot name="stilts" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="a"/>',
    )
    assert _refusal(text, tmp_path).endswith("Expand it first: xacro FILE.xacro > FILE.urdf")


# -- meshes ------------------------------------------------------------------------------------


def test_mesh_beside_the_model_is_found(tmp_path: pathlib.Path) -> None:
    mesh = written(OBJ, tmp_path, "meshes/hull.obj")
    assert find_mesh("meshes/hull.obj", tmp_path) == mesh.resolve()
    assert find_mesh(f"file://{mesh}", tmp_path) == mesh.resolve()
    assert find_mesh("meshes/none.obj", tmp_path) is None


def test_mesh_of_a_kind_that_the_engine_cannot_decode_is_not_found(tmp_path: pathlib.Path) -> None:
    written("<COLLADA/>", tmp_path, "hull.dae")
    assert find_mesh("hull.dae", tmp_path) is None


@pytest.mark.parametrize("name", ["package://biped/meshes/h.obj", "package:/biped/meshes/h.obj"])
def test_package_is_a_folder_above_the_model(tmp_path: pathlib.Path, name: str) -> None:
    mesh = written(OBJ, tmp_path, "biped/meshes/h.obj")
    assert find_mesh(name, tmp_path / "biped" / "urdf") == mesh.resolve()


def test_package_is_found_by_ros_package_path(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = written(OBJ, tmp_path / "ws", "biped/meshes/h.obj")
    elsewhere = tmp_path / "elsewhere"
    assert find_mesh("package://biped/meshes/h.obj", elsewhere) is None
    for entry in (tmp_path / "ws", tmp_path / "ws" / "biped"):
        monkeypatch.setenv("ROS_PACKAGE_PATH", str(entry))
        assert find_mesh("package://biped/meshes/h.obj", elsewhere) == mesh.resolve()


def test_package_is_an_installed_python_package(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = written(OBJ, tmp_path / "site", "made_biped/meshes/h.obj")
    written("raise AssertionError('must not be run')", tmp_path / "site", "made_biped/__init__.py")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    found = find_mesh("package://made-biped/meshes/h.obj", tmp_path / "elsewhere")
    assert found == mesh.resolve()


def test_package_is_found_by_ament_prefix_path(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = written(OBJ, tmp_path, "install/share/biped/meshes/h.obj")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    for scheme in ("package", "model"):
        found = find_mesh(f"{scheme}://biped/meshes/h.obj", tmp_path / "elsewhere")
        assert found == mesh.resolve()


def test_package_is_the_folder_whose_manifest_says_so(tmp_path: pathlib.Path) -> None:
    mesh = written(OBJ, tmp_path, "biped-main/meshes/h.obj")
    written("<package><name>biped</name></package>", tmp_path, "biped-main/package.xml")
    found = find_mesh("package://biped/meshes/h.obj", tmp_path / "biped-main" / "urdf")
    assert found == mesh.resolve()


def test_meshes_of_one_name_in_two_folders_are_two(tmp_path: pathlib.Path) -> None:
    """Engines before 4 take both for the first: the sole would be that of the drawing.

    The collision mesh lies 0.5 m lower; of it, (0, 0, −0.5) and two others are the lowest.
    """
    written(OBJ, tmp_path, "visual/foot.obj")
    written(OBJ.replace("v 0 0 0", "v 0 0 -0.5"), tmp_path, "collision/foot.obj")
    box = '<collision>\n      <origin xyz="0.04 0 -0.015"/><geometry><box size="0.2 0.1 0.03"/>'
    assert box in URDF
    mesh = '<{0}><geometry><mesh filename="{0}/foot.obj"/>'
    both = mesh.format("visual") + "</geometry></visual>" + mesh.format("collision")
    (left, _) = _load(URDF.replace(box, both), tmp_path).soles
    np.testing.assert_allclose(left.polygon_l, [[0.0, 0.0, -0.5]], atol=1e-6)


def test_shapes_of_one_name_are_no_talk_of_the_engine(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _load(URDF.replace("<collision>", '<collision name="shape">'), tmp_path)
    assert capfd.readouterr() == ("", "")


def test_found_mesh_is_loaded_and_missing_one_dropped(tmp_path: pathlib.Path) -> None:
    written(OBJ, tmp_path, "hull/h.obj")
    shapes = "".join(
        f'<visual><geometry><mesh filename="package://hull/{n}.obj"/></geometry></visual>'
        for n in ("h", "none")
    )
    text = URDF.replace('<link name="trunk">', f'<link name="trunk">{shapes}')
    robot = _load(text, tmp_path / "robots")
    assert robot.model.nmesh == 1
    assert robot.mass == pytest.approx(7.0)
    assert any("(1)" in n.sentence and "'package://hull/none.obj'" in n.sentence
               for n in robot.notices if n.kind == "dropped")  # fmt: skip


def test_robot_that_lost_its_feet_with_its_meshes_names_them(tmp_path: pathlib.Path) -> None:
    box = '<box size="0.2 0.1 0.03"/>'
    mesh = '<mesh filename="package://biped/foot.dae"/>'
    with pytest.raises(BadRobot) as caught:
        _load(URDF.replace(box, mesh), tmp_path)
    assert str(caught.value) == (
        "no feet found: no link has a shape; shapes dropped (2), because their meshes are not "
        f"there or cannot be read: 'package://biped/foot.dae' ({tmp_path / 'stilts.urdf'}). Put "
        "the meshes where they are looked for (docs/robots.md). Give the soles in a profile beside "
        "the model (docs/robots.md)"
    )


def test_foot_of_a_mesh_stands_on_the_lowest_vertices(tmp_path: pathlib.Path) -> None:
    """A tetrahedron with corners (0,0,0), (1,0,0), (0,1,0), (0,0,1): the sole is its base."""
    written(OBJ, tmp_path, "foot.obj")
    box = '<geometry><box size="0.2 0.1 0.03"/></geometry>'
    text = URDF.replace(box, '<geometry><mesh filename="foot.obj" scale="0.1 0.1 0.1"/></geometry>')
    (left, _) = _load(text, tmp_path).soles
    corners = {(0.04, 0.0, -0.015), (0.14, 0.0, -0.015), (0.04, 0.1, -0.015)}
    assert {tuple(p) for p in left.polygon_l.round(6)} == corners
