"""The shared models and their variants, against the figures of their own README."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

from surefoot.errors import BadRobot
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

pytestmark = pytest.mark.shared

FILES = {
    "g1": "g1/g1_bm_no_mesh_box_feet.xml",
    "t1": "t1/t1.xml",
    "talos": "talos/talos_reduced_box.urdf",
    "g1_menagerie": "variants/g1_menagerie/g1.xml",
    "g1_urdf": "variants/g1_urdf/g1_29dof_rev_1_0.urdf",
    "t1_urdf": "variants/t1_urdf/T1_serial.urdf",
    "talos_full": "variants/talos_full/talos_full_v2.urdf",
}
# Name, nq, nv, mass in kg as written there to four digits.
SIZES = {
    "g1": ("g1", 36, 35, 33.3411),
    "t1": ("t1", 30, 29, 31.6144),
    "talos": ("talos", 39, 38, 90.2722),
    "g1_menagerie": ("g1", 36, 35, 33.3411),
    "g1_urdf": ("g1", 36, 35, 33.3411),
    "t1_urdf": ("t1", 30, 29, 31.6144),
    "talos_full": ("talos", 51, 50, 93.3357),
}
_G1_SPHERES = [(-0.05, -0.025), (-0.05, 0.025), (0.12, -0.03), (0.12, 0.03)]


def _box(x0: float, x1: float, y: float) -> list[tuple[float, float]]:
    return [(x0, -y), (x0, y), (x1, -y), (x1, y)]


# Left foot, corners x and y sorted, and z, in the foot's frame, m.
SOLES = {
    "g1": ("left_ankle_roll_link", _box(-0.054, 0.132, 0.0365), -0.025),
    "t1": ("left_foot_link", _box(-0.1015, 0.1215, 0.05), -0.030),
    "talos": ("leg_left_6_link", _box(-0.105, 0.105, 0.065), -0.110),
    "g1_menagerie": ("left_ankle_roll_link", _G1_SPHERES, -0.035),
    "g1_urdf": ("left_ankle_roll_link", _G1_SPHERES, -0.035),
    "t1_urdf": ("left_foot_link", _box(-0.1015, 0.1215, 0.05), -0.030),
}
# Root height with the soles on z = 0: zero joints, but T1's MJCF in its keyframe `home`.
HEIGHTS = {"g1": 0.7819, "t1": 0.6659, "talos": 1.0861, "t1_urdf": 0.6734, "g1_menagerie": 0.7919}


@pytest.fixture(scope="module")
def robots(shared: pathlib.Path) -> dict[str, Robot]:
    return {key: load_robot(shared / "data" / "robots" / file) for key, file in FILES.items()}


def _said(robot: Robot, kind: str) -> str:
    return " | ".join(n.sentence for n in robot.notices if n.kind == kind)


def _table(shared: pathlib.Path, heading: str) -> list[list[str]]:
    """The rows of one joint table of the README, cells as text."""
    text = (shared / "data" / "robots" / "README.md").read_text(encoding="utf-8")
    block = text.split(heading)[1].split("\n\n")[1]
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in block.splitlines()]
    return [row for row in rows if row[0].isdigit()]


@pytest.mark.parametrize("key", list(FILES))
def test_sizes_and_mass(robots: dict[str, Robot], key: str) -> None:
    robot = robots[key]
    name, nq, nv, mass = SIZES[key]
    assert (robot.name, robot.nq, robot.nv) == (name, nq, nv)
    assert robot.mass == pytest.approx(mass, abs=1e-4)
    assert robot.model.nu == len(robot.joint_names) == nv - 6
    assert np.all(np.diff(robot.joint_qposadr) > 0)
    assert f"the joints are those of robot '{name}'" in _said(robot, "assumption")


@pytest.mark.parametrize("key", list(SOLES))
def test_soles_are_those_of_the_file(robots: dict[str, Robot], key: str) -> None:
    link, corners, z = SOLES[key]
    left, right = robots[key].soles
    assert (left.link, left.side) == (link, "left")
    assert right.side == "right"
    assert sorted(tuple(p) for p in left.polygon_l[:, :2].round(6)) == sorted(corners)
    np.testing.assert_allclose(left.polygon_l[:, 2], z, atol=1e-6)
    np.testing.assert_allclose(right.polygon_l[:, 2], z, atol=1e-6)


@pytest.mark.parametrize("key", list(HEIGHTS))
def test_home_height(robots: dict[str, Robot], key: str) -> None:
    assert robots[key].home_height == pytest.approx(HEIGHTS[key], abs=5.1e-5)


@pytest.mark.parametrize(
    ("key", "heading", "torque", "speed"),
    [
        ("g1", "### G1 joints", 4, 6),
        ("t1", "### T1 joints", 4, 5),
        ("talos", "### Talos joints", 4, 5),
        ("t1_urdf", "### T1 joints", 4, 5),
    ],
)
def test_limits_of_every_joint(
    robots: dict[str, Robot], shared: pathlib.Path, key: str, heading: str, torque: int, speed: int
) -> None:
    robot, rows = robots[key], _table(shared, heading)
    assert robot.joint_names == tuple(row[1] for row in rows)
    for j, row in enumerate(rows):
        assert robot.joint_min[j] == pytest.approx(float(row[2]), abs=5.1e-5), row[1]
        assert robot.joint_max[j] == pytest.approx(float(row[3]), abs=5.1e-5), row[1]
        assert robot.joint_torque[j] == pytest.approx(float(row[torque])), row[1]
        assert robot.joint_speed[j] == pytest.approx(float(row[speed])), row[1]


def test_torques_of_the_g1_variants(robots: dict[str, Robot], shared: pathlib.Path) -> None:
    for j, row in enumerate(_table(shared, "### G1 joints")):
        menagerie, urdf = (float(x) for x in row[5].split("/"))
        assert robots["g1_menagerie"].joint_torque[j] == menagerie
        assert robots["g1_urdf"].joint_torque[j] == urdf


def test_servo_gains_of_g1_are_overridden_with_their_source(robots: dict[str, Robot]) -> None:
    model = robots["g1"].model
    assert not np.any(model.jnt_stiffness)
    assert not np.any(model.dof_damping)
    assert np.all(model.dof_armature[6:] == 0.03)
    said = _said(robots["g1"], "override")
    assert "stiffness of 29 joints set to 0 (model of the MuJoCo Menagerie" in said
    assert "damping of 29 joints set to 0" in said


def test_broken_sensors_of_g1_are_dropped(robots: dict[str, Robot]) -> None:
    assert "sensors dropped (imu-angular-velocity, imu-linear-acceleration)" in _said(
        robots["g1"], "dropped"
    )


@pytest.mark.parametrize(
    ("key", "count"),
    [("t1", 24), ("talos", 92), ("g1_menagerie", 59), ("g1_urdf", 59), ("t1_urdf", 24)],
)
def test_lost_meshes_are_counted(robots: dict[str, Robot], key: str, count: int) -> None:
    assert f"shapes dropped ({count})" in _said(robots[key], "dropped")


@pytest.mark.parametrize(("key", "count"), [("t1", 23), ("g1_menagerie", 29)])
def test_servos_become_motors(robots: dict[str, Robot], key: str, count: int) -> None:
    assert f"{count} servos replaced by torque motors" in _said(robots[key], "repair")
    model = robots[key].model
    assert not np.any(model.actuator_biasprm)
    assert np.all(model.actuator_gainprm[:, 0] == 1.0)


def test_impossible_inertias_of_talos_are_named(robots: dict[str, Robot]) -> None:
    parts = [n.part for n in robots["talos"].notices if "is impossible" in n.sentence]
    assert parts == ["gripper_left_motor_single_link", "gripper_right_motor_single_link"]
    inertia = robots["talos"].model.body("gripper_left_motor_single_link").inertia
    np.testing.assert_allclose(inertia, 1.527e-4, rtol=5e-4)


def test_fixed_frames_of_talos_keep_their_names(robots: dict[str, Robot]) -> None:
    """61 bodies with the world, as the README counts without fusing."""
    assert robots["talos"].model.nbody == 61
    assert "left_sole_link" in robots["talos"].link_names


def test_talos_without_foot_meshes_gets_soles_from_its_profile(robots: dict[str, Robot]) -> None:
    robot = robots["talos_full"]
    left, right = robot.soles
    assert (left.link, right.link) == ("leg_left_6_link", "leg_right_6_link")
    frame = robot.model.body("left_sole_link")
    np.testing.assert_allclose(left.polygon_l[:, 2], frame.pos[2], atol=1e-9)
    assert "foot 'leg_left_6_link' has no collision shape: a box" in _said(robot, "repair")
    assert "joint 'arm_left_2_joint' is at 0 in the home pose, outside its limits" in _said(
        robot, "repair"
    )


def test_talos_without_profile_and_meshes_has_no_feet(
    shared: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Its grippers are the lowest shapes left: they must not be taken for feet."""
    text = (shared / "data" / "robots" / FILES["talos_full"]).read_text(encoding="utf-8")
    (tmp_path / "talos.urdf").write_text(text, encoding="utf-8")
    (tmp_path / "robot.toml").write_text("schema = 1\n", encoding="utf-8")
    with pytest.raises(BadRobot, match=r"no feet found: link '.*' hangs lower than any collision"):
        load_robot(tmp_path / "talos.urdf")


@pytest.mark.parametrize("key", list(FILES))
def test_home_pose_is_within_the_limits(robots: dict[str, Robot], key: str) -> None:
    robot = robots[key]
    joints = robot.home[robot.joint_qposadr]
    assert np.all(joints >= robot.joint_min)
    assert np.all(joints <= robot.joint_max)


@pytest.mark.parametrize("key", list(FILES))
def test_landmarks_are_on_links_of_every_variant(robots: dict[str, Robot], key: str) -> None:
    robot = robots[key]
    assert len(robot.landmarks) == 18
    for mark in robot.landmarks.values():
        robot.link_id(mark.link)


def test_legs_are_as_long_as_measured(robots: dict[str, Robot]) -> None:
    """Hip to knee and knee to ankle of the retargeting notes: G1 0.3061 and 0.3176, T1 0.2163 and
    0.2920 m, between the points that the profiles name."""
    from surefoot.robots import soles

    for key, thigh, shank in (("g1", 0.3061, 0.3176), ("t1", 0.2163, 0.2920)):
        robot = robots[key]
        data = soles.posed(robot.model, np.array(robot.model.qpos0))
        points = [
            data.xpos[robot.link_id(robot.landmarks[f"left_{part}"].link)]
            for part in ("hip", "knee", "ankle")
        ]
        assert np.linalg.norm(points[1] - points[0]) == pytest.approx(thigh, abs=1e-4)
        assert np.linalg.norm(points[2] - points[1]) == pytest.approx(shank, abs=1e-4)


def test_text_of_the_model_names_no_file(robots: dict[str, Robot]) -> None:
    for robot in robots.values():
        assert not re.search(r"file=|<mesh ", robot.mjcf)
