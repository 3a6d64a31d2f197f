"""URDF facts that the engine drops, faults of the text, and where meshes are looked for."""

from __future__ import annotations

import pathlib
import sys

import pytest

from make.robots import URDF, written
from surefoot.errors import BadFile
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


def test_joint_that_mimics_nobody_is_refused(tmp_path: pathlib.Path) -> None:
    limit = '<limit lower="-0.9" upper="0.9" effort="30" velocity="7"/>'
    said = _refusal(URDF.replace(limit, limit + '<mimic joint="left_hp"/>', 1), tmp_path)
    assert said.startswith("joint 'left_ankle' mimics 'left_hp', which is no joint that moves (")
    assert "Did you mean 'left_hip'" in said


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


def test_foot_of_a_mesh_stands_on_the_lowest_vertices(tmp_path: pathlib.Path) -> None:
    """A tetrahedron with corners (0,0,0), (1,0,0), (0,1,0), (0,0,1): the sole is its base."""
    written(OBJ, tmp_path, "foot.obj")
    box = '<geometry><box size="0.2 0.1 0.03"/></geometry>'
    text = URDF.replace(box, '<geometry><mesh filename="foot.obj" scale="0.1 0.1 0.1"/></geometry>')
    (left, _) = _load(text, tmp_path).soles
    corners = {(0.04, 0.0, -0.015), (0.14, 0.0, -0.015), (0.04, 0.1, -0.015)}
    assert {tuple(p) for p in left.polygon_l.round(6)} == corners
