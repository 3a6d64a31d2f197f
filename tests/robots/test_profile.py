"""Profile files: what they set, and each fault with its sentence."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

from make.robots import BIPED, written
from surefoot.errors import BadFile, BadRobot, NoFile
from surefoot.robots.profile import KEYS, read_profile
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

FEET = """
[[sole]]
link = "left_foot"
side = "left"
[[sole]]
link = "right_foot"
side = "right"
"""


def _with(profile: str, folder: pathlib.Path, model: str = BIPED) -> Robot:
    written(f"schema = 1\n{profile}", folder, "biped.robot.toml")
    return load_robot(written(model, folder, "biped.xml"))


def _refusal(
    profile: str,
    folder: pathlib.Path,
    error: type[Exception] = BadRobot,
    schema: str = "schema = 1",
) -> str:
    written(f"{schema}\n{profile}", folder, "biped.robot.toml")
    with pytest.raises(error) as caught:
        load_robot(written(BIPED, folder, "biped.xml"))
    return str(caught.value)


# -- what a profile sets -----------------------------------------------------------------------


def test_name_is_the_profiles(tmp_path: pathlib.Path) -> None:
    assert _with('name = "tom"', tmp_path).name == "tom"
    assert _with("", tmp_path).name == "biped"


def test_home_pose_stands_on_the_ground(tmp_path: pathlib.Path) -> None:
    """Both knees bent by a, hips and ankles by −a/2, feet level: the sole is lower by
    0.05 + 0.4 cos(a/2) + 0.37 cos(a/2) + 0.03."""
    joints = ", ".join(
        f"{s}_hip_pitch = -0.3, {s}_knee = 0.6, {s}_ankle = -0.3" for s in ("left", "right")
    )
    robot = _with(f"[home]\njoint_pos_rad = {{ {joints} }}\n{FEET}", tmp_path)
    assert robot.home_height == pytest.approx(0.08 + 0.77 * np.cos(0.3), abs=1e-12)
    assert robot.home[robot.joint_qposadr].tolist() == [0, -0.3, 0.6, -0.3, 0, -0.3, 0.6, -0.3]


def test_polygon_of_the_profile_wins_over_the_shapes(tmp_path: pathlib.Path) -> None:
    corners = "[[-0.05, -0.03, -0.04], [0.1, -0.03, -0.04], [0.1, 0.03, -0.04]]"
    soles = FEET.replace('side = "left"', f'side = "left"\npolygon_m = {corners}')
    robot = _with(soles, tmp_path)
    np.testing.assert_array_equal(
        robot.soles[0].polygon_l, [[-0.05, -0.03, -0.04], [0.1, -0.03, -0.04], [0.1, 0.03, -0.04]]
    )
    assert len(robot.soles[1].polygon_l) == 4
    assert robot.home_height == pytest.approx(0.82 + 0.04)


def test_spare_polygon_is_used_only_for_a_foot_without_shapes(tmp_path: pathlib.Path) -> None:
    spare = (
        "polygon_if_none_m = [[-0.1, -0.05, -0.06], [0.1, -0.05, -0.06], [0.1, 0.05, -0.06], "
        '[-0.1, 0.05, -0.06]]\nsource = "measured"'
    )
    soles = FEET.replace('side = "left"', f'side = "left"\n{spare}').replace(
        'side = "right"', f'side = "right"\n{spare}'
    )
    bare = BIPED.replace(
        '<geom name="left_sole" type="box" pos="0.04 0 -0.015" size="0.1 0.05 0.015" density="0"/>',
        "",
    )
    robot = _with(soles, tmp_path, model=bare)
    left, right = robot.soles
    assert left.polygon_l[:, 2].tolist() == [-0.06] * 4
    assert right.polygon_l[:, 2].tolist() == [-0.03] * 4
    assert robot.mass == pytest.approx(16.0)
    assert robot.model.geom("left_foot_sole").size.tolist() == pytest.approx([0.1, 0.05, 0.01])
    assert any(
        n.sentence == "foot 'left_foot' has no collision shape: a box of 20 by 10 cm put in its "
        "place (measured)"
        for n in robot.notices
    )


def test_limits_fill_what_the_model_does_not_say(tmp_path: pathlib.Path) -> None:
    """The model gives the left hip roll 40 N m: it stays; the right one has none."""
    rules = '[[limits]]\njoints = ["*_hip_roll"]\ntorque_nm = 25\nspeed_rad_s = 6\nsource = "me"'
    robot = _with(rules, tmp_path)
    torque = dict(zip(robot.joint_names, robot.joint_torque, strict=True))
    assert (torque["left_hip_roll"], torque["right_hip_roll"]) == (40.0, 25.0)
    speed = dict(zip(robot.joint_names, robot.joint_speed, strict=True))
    assert (speed["left_hip_roll"], speed["left_knee"]) == (6.0, np.inf)
    said = [n.sentence for n in robot.notices if n.kind == "limit"]
    assert said == [
        "speed of 2 joints by the profile (me)",
        "torque of joint 'right_hip_roll' by the profile (me)",
    ]


def test_override_replaces_what_the_model_says(tmp_path: pathlib.Path) -> None:
    rules = (
        '[[override]]\njoints = ["left_*"]\ntorque_nm = 11\nmax_rad = 0.5\nstiffness_nm_rad = 0\n'
        'damping_nms_rad = 0.25\narmature_kg_m2 = 0.02\nfriction_loss_nm = 0.1\nsource = "me"'
    )
    model = BIPED.replace('armature="0.01"', 'armature="0.01" stiffness="100" damping="10"')
    robot = _with(rules, tmp_path, model=model)
    left = [j for j, name in enumerate(robot.joint_names) if name.startswith("left")]
    dofs, ids = robot.joint_dofadr[left], robot.joint_ids[left]
    assert robot.joint_torque[left].tolist() == [11.0] * 4
    assert robot.joint_max[left].tolist() == [0.5] * 4
    assert robot.joint_min[left].tolist() == [-0.6, -1.5, 0.0, -0.9]
    np.testing.assert_array_equal(robot.model.jnt_stiffness[ids], 0.0)
    np.testing.assert_array_equal(robot.model.dof_damping[dofs], 0.25)
    np.testing.assert_array_equal(robot.model.dof_armature[dofs], 0.02)
    np.testing.assert_array_equal(robot.model.dof_frictionloss[dofs], 0.1)
    assert robot.model.jnt_stiffness[robot.joint_ids[-1]] == 100.0
    said = [n.sentence for n in robot.notices if n.kind == "override"]
    assert "stiffness of 4 joints set to 0 (me)" in said
    assert "torque of 4 joints by the profile (me)" in said


def test_limits_in_radians_reach_a_model_in_degrees(tmp_path: pathlib.Path) -> None:
    rules = '[[override]]\njoints = ["*_knee"]\nmin_rad = 0\nmax_rad = 1.25\nsource = "me"'
    robot = _with(rules, tmp_path, model=BIPED.replace('angle="radian"', 'angle="degree"'))
    assert robot.joint_max[robot.joint_names.index("left_knee")] == pytest.approx(1.25)


def test_landmarks_are_points_of_links(tmp_path: pathlib.Path) -> None:
    robot = _with(
        '[landmarks]\npelvis = { link = "pelvis" }\n'
        'left_toe = { link = "left_foot", point_m = [0.1, 0.0, -0.03] }',
        tmp_path,
    )
    assert robot.landmarks["pelvis"].point_l.tolist() == [0.0, 0.0, 0.0]
    assert robot.landmarks["left_toe"].link == "left_foot"
    assert robot.landmarks["left_toe"].point_l.tolist() == [0.1, 0.0, -0.03]


def test_every_key_stands_in_the_document() -> None:
    """docs/robots.md, field by field, against what the reader takes."""
    text = (pathlib.Path(__file__).parents[2] / "docs" / "robots.md").read_text(encoding="utf-8")
    for key in sorted(KEYS):
        assert re.search(rf"`[^`]*\b{key}\b[^`]*`", text), key


def test_profile_of_the_document_is_one(tmp_path: pathlib.Path) -> None:
    text = (pathlib.Path(__file__).parents[2] / "docs" / "robots.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    profile = read_profile(written(example, tmp_path, "walker.robot.toml"))
    assert profile.name == "walker"
    assert profile.home == {"left_knee": 0.3, "right_knee": 0.3}
    assert [rule.values for rule in profile.limits] == [{"speed": 12.0}]


# -- faults --------------------------------------------------------------------------------------


def test_unknown_keys_are_all_said_with_the_nearest(tmp_path: pathlib.Path) -> None:
    said = _refusal('nam = "tom"\n[landmarks]\nleft_to = { link = "left_foot" }', tmp_path)
    assert "unknown key 'nam'. Did you mean 'name'?" in said
    assert "landmarks: unknown key 'left_to'. Did you mean 'left_toe'" in said
    assert said.endswith("biped.robot.toml)")


def test_names_that_the_model_has_not_are_all_said_with_the_nearest(
    tmp_path: pathlib.Path,
) -> None:
    profile = (
        "[home]\njoint_pos_rad = { left_kne = 0.1 }\n"
        '[[sole]]\nlink = "left_fot"\nside = "left"\n'
        '[[limits]]\njoints = ["*_elbow"]\nspeed_rad_s = 1\nsource = "me"\n'
        '[landmarks]\nhead = { link = "skull" }\n'
    )
    said = _refusal(profile, tmp_path)
    assert "home: no joint 'left_kne'. Did you mean 'left_knee'" in said
    assert "sole of 'left_fot': no link 'left_fot'. Did you mean 'left_foot'" in said
    assert "no joint '*_elbow'" in said
    assert "landmark head: no link 'skull'" in said


@pytest.mark.parametrize(
    ("profile", "sentence"),
    [
        ("name = 3", "name must be a text"),
        ('joints = "left_knee"', "joints must be a list of texts"),
        ("home = 1", "home must be a table"),
        ("[home]\njoint_pos_rad = { left_knee = nan }", "joint_pos_rad must be a table of numbers"),
        ("sole = 1", "sole must be a list of tables: [[sole]]"),
        ('[[sole]]\nlink = "left_foot"', "sole 0: side must be 'left' or 'right'"),
        ('[[sole]]\nside = "left"', "sole 0: link must be a text"),
        (
            '[[sole]]\nlink = "left_foot"\nside = "left"\npolygon_m = [[0, 0]]',
            "sole 0: polygon_m must be a list of points [x, y, z]",
        ),
        (
            '[[limits]]\njoints = ["*"]\nspeed_rad_s = -1\nsource = "me"',
            "limits 0: speed_rad_s = -1",
        ),
        ('[[limits]]\njoints = ["*"]\nsource = "me"', "limits 0: none of min_rad, max_rad"),
        ('[[override]]\njoints = ["*"]\nspeed_rad_s = 1', "override 0: source is missing"),
        (
            '[[limits]]\njoints = ["*"]\nstiffness_nm_rad = 0\nsource = "me"',
            "limits 0: unknown key 'stiffness_nm_rad'",
        ),
        ("[landmarks]\npelvis = 3", "landmarks.pelvis: expected a table with link and point_m"),
    ],
)
def test_each_fault_has_its_sentence(tmp_path: pathlib.Path, profile: str, sentence: str) -> None:
    assert sentence in _refusal(profile, tmp_path)


def test_newer_schema_is_refused_with_what_is_known(tmp_path: pathlib.Path) -> None:
    said = _refusal("", tmp_path, BadFile, schema="schema = 2")
    assert said.startswith("the profile has schema 2, but this surefoot knows 1 only (")
    assert said.endswith("). Update surefoot")


@pytest.mark.parametrize("schema", ["", 'schema = "1"', "schema = true", "schema = 0"])
def test_missing_schema_is_refused(tmp_path: pathlib.Path, schema: str) -> None:
    said = _refusal("", tmp_path, BadFile, schema=schema)
    assert said.startswith("expected schema = 1, got ")


def test_text_that_is_no_toml(tmp_path: pathlib.Path) -> None:
    assert "this is no TOML: " in _refusal("name = [", tmp_path, BadFile)


def test_file_that_is_no_text(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.robot.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadFile, match="this is no text in UTF-8"):
        read_profile(tmp_path / "x.robot.toml")


def test_profile_that_is_not_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NoFile, match=r"cannot be read: No such file .*x\.robot\.toml"):
        read_profile(tmp_path / "x.robot.toml")


def test_home_pose_outside_the_limits_is_refused(tmp_path: pathlib.Path) -> None:
    said = _refusal("[home]\njoint_pos_rad = { left_knee = -0.2 }", tmp_path)
    assert said.startswith(
        "home position -0.2 of joint 'left_knee' is outside its limits 0 … 2.4 ("
    )
    assert "Mend " in said


def test_foot_without_any_shape_is_refused(tmp_path: pathlib.Path) -> None:
    written(f"schema = 1\n{FEET}".replace("left_foot", "left_hand"), tmp_path, "biped.robot.toml")
    hand = (
        '<body name="left_hand"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
        '<body name="left_thigh"'
    )
    path = written(BIPED.replace('<body name="left_thigh"', hand), tmp_path, "biped.xml")
    with pytest.raises(BadRobot) as caught:
        load_robot(path)
    assert str(caught.value).startswith("foot 'left_hand' has no shape to stand on (")
    assert str(caught.value).endswith(
        "Give its sole as polygon_m in a profile beside the model (docs/robots.md)"
    )
