"""Model files as they come: what is mended with a notice, and what is refused with a sentence."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from make.robots import BIPED, PLANAR, URDF, URDF_ON_WORLD, biped, planar, written
from surefoot.errors import BadRobot
from surefoot.robots.engine import mujoco
from surefoot.robots.load import compiled, read_model
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot


def _said(robot: Robot, kind: str) -> str:
    return " | ".join(n.sentence for n in robot.notices if n.kind == kind)


def _biped_with(folder: pathlib.Path, *changes: tuple[str, str]) -> pathlib.Path:
    text = BIPED
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return written(text, folder)


# -- what the file holds is all there ------------------------------------------------------------


def test_mass_and_freedoms_are_those_of_the_file(tmp_path: pathlib.Path) -> None:
    """8 + 2 (2 + 1.5 + 0.5) = 16 kg; 8 hinges and six."""
    robot = biped(tmp_path)
    assert robot.mass == pytest.approx(16.0, abs=1e-12)
    assert (robot.nq, robot.nv, robot.model.nu) == (15, 14, 8)
    assert robot.root_link == "pelvis"
    assert robot.root_kind == "free"


def test_trunk_of_a_urdf_is_not_welded_to_the_world(tmp_path: pathlib.Path) -> None:
    """3 + 2 (1.5 + 0.5) = 7 kg; loaded plainly the engine keeps 4."""
    plain = mujoco.MjSpec.from_string(URDF).compile()
    assert float(np.sum(plain.body_mass)) == pytest.approx(4.0)
    robot = load_robot(written(URDF, tmp_path, "stilts.urdf"))
    assert robot.mass == pytest.approx(7.0, abs=1e-12)
    assert robot.nv == 4 + 6
    assert "link 'trunk' is fixed in the file: floating base added" in _said(robot, "assumption")


def test_link_called_world_is_dropped_and_the_base_floats(tmp_path: pathlib.Path) -> None:
    robot = load_robot(written(URDF_ON_WORLD, tmp_path, "stilts.urdf"))
    assert robot.mass == pytest.approx(7.0)
    assert robot.root_link == "trunk"
    assert robot.nv == 10
    assert "joint 'mount' fixes the robot to the link 'world': dropped" in _said(
        robot, "assumption"
    )


def test_floating_joint_to_the_world_is_the_base(tmp_path: pathlib.Path) -> None:
    text = URDF_ON_WORLD.replace('type="fixed"', 'type="floating"')
    robot = load_robot(written(text, tmp_path, "stilts.urdf"))
    assert (robot.mass, robot.nv) == (pytest.approx(7.0), 10)


def test_world_with_a_mass_is_refused(tmp_path: pathlib.Path) -> None:
    inertial = '<inertial><mass value="3"/></inertial>'
    text = URDF_ON_WORLD.replace('<link name="world"/>', f'<link name="world">{inertial}</link>')
    with pytest.raises(BadRobot) as caught:
        load_robot(written(text, tmp_path, "stilts.urdf"))
    assert str(caught.value).startswith(
        "link 'world' has a mass of 3 kg, but a link of that name is the ground to the engine: its "
        "mass would be lost ("
    )
    assert str(caught.value).endswith("). Rename the link")


def test_fixed_links_keep_their_names_and_masses(tmp_path: pathlib.Path) -> None:
    head = (
        '<link name="head"><inertial><mass value="1.25"/><inertia ixx="0.01" iyy="0.01" izz="0.01" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="neck" type="fixed">'
        '<parent link="trunk"/><child link="head"/></joint></robot>'
    )
    robot = load_robot(written(URDF.replace("</robot>", head), tmp_path, "stilts.urdf"))
    assert "head" in robot.link_names
    assert robot.mass == pytest.approx(8.25)
    assert robot.nv == 10


def test_fixed_base_of_an_mjcf_is_freed_even_where_it_asks_for_fusing(
    tmp_path: pathlib.Path,
) -> None:
    path = _biped_with(
        tmp_path,
        ('<freejoint name="root"/>', ""),
        ("<compiler", '<compiler fusestatic="true"'),
    )
    robot = load_robot(path)
    assert (robot.mass, robot.nv) == (pytest.approx(16.0), 14)


def test_keyframe_of_a_fixed_base_keeps_its_joints(tmp_path: pathlib.Path) -> None:
    key = '<keyframe><key name="home" qpos="0 0 0.5 0 0 0 0.5 0"/></keyframe><actuator>'
    robot = load_robot(_biped_with(tmp_path, ('<freejoint name="root"/>', ""), ("<actuator>", key)))
    assert robot.home[robot.joint_qposadr].tolist() == [0, 0, 0.5, 0, 0, 0, 0.5, 0]


def test_link_that_is_gone_after_loading_is_refused(tmp_path: pathlib.Path) -> None:
    draft = read_model(written(BIPED, tmp_path))
    draft.masses["trunk"] = 11.7
    with pytest.raises(BadRobot, match=r"link 'trunk' \(11.7 kg\) was lost while loading"):
        compiled(draft)


def test_link_of_another_mass_after_loading_is_refused(tmp_path: pathlib.Path) -> None:
    draft = read_model(written(BIPED, tmp_path))
    draft.spec.body("pelvis").mass = 5.0
    with pytest.raises(BadRobot, match="link 'pelvis' has 8 kg in the file, but 5 kg as loaded"):
        compiled(draft)


def test_joint_that_is_gone_after_loading_is_refused(tmp_path: pathlib.Path) -> None:
    draft = read_model(written(BIPED, tmp_path))
    draft.spec.delete(draft.spec.joint("left_ankle"))
    for actuator in list(draft.spec.actuators):
        draft.spec.delete(actuator)
    with pytest.raises(BadRobot, match="joint 'left_ankle' was lost while loading"):
        compiled(draft)


def test_freedom_that_the_file_does_not_have_is_refused(tmp_path: pathlib.Path) -> None:
    draft = read_model(written(BIPED, tmp_path))
    draft.spec.body("left_foot").add_joint(name="extra", axis=[1, 0, 0])
    with pytest.raises(BadRobot, match="expected 14 degrees of freedom, got 15"):
        compiled(draft)


# -- what is mended, and said ----------------------------------------------------------------------


def test_servos_become_torque_motors_in_the_order_of_the_joints(tmp_path: pathlib.Path) -> None:
    servos = '<actuator><position joint="right_knee" kp="500"/><position joint="left_ankle"/>'
    robot = load_robot(_biped_with(tmp_path, ("<actuator>", servos)))
    model = robot.model
    assert tuple(model.actuator(k).name for k in range(model.nu)) == robot.joint_names
    np.testing.assert_array_equal(model.actuator_trnid[:, 0], robot.joint_ids)
    np.testing.assert_array_equal(model.actuator_gear[:, 0], 1.0)
    data = mujoco.MjData(model)
    data.ctrl[:] = np.arange(1.0, 9.0)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.qfrc_actuator[robot.joint_dofadr], np.arange(1.0, 9.0))
    assert "2 servos replaced by torque motors" in _said(robot, "repair")


def test_torque_limits_come_from_what_drove_the_joint(tmp_path: pathlib.Path) -> None:
    """A motor of gear 40 with |ctrl| ≤ 1: 40 N m; one with a force range of 90 N: 90 N m."""
    robot = biped(tmp_path)
    torque = dict(zip(robot.joint_names, robot.joint_torque, strict=True))
    assert torque["left_hip_roll"] == 40.0
    assert torque["left_knee"] == 90.0
    assert torque["right_knee"] == np.inf


def test_limit_of_the_joint_itself_comes_first(tmp_path: pathlib.Path) -> None:
    robot = load_robot(
        _biped_with(
            tmp_path,
            ('<joint name="left_knee"', '<joint name="left_knee" actuatorfrcrange="-70 60"'),
        )
    )
    assert robot.joint_torque[robot.joint_names.index("left_knee")] == 60.0


def test_free_joint_is_cleaned_of_inherited_damping(tmp_path: pathlib.Path) -> None:
    path = _biped_with(
        tmp_path,
        ('<freejoint name="root"/>', '<joint name="root" type="free"/>'),
        ('armature="0.01"', 'armature="0.01" damping="3" frictionloss="0.2" stiffness="5"'),
    )
    robot = load_robot(path)
    model = robot.model
    for name in ("dof_damping", "dof_armature", "dof_frictionloss"):
        np.testing.assert_array_equal(getattr(model, name)[:6], 0.0)
    assert model.jnt_stiffness[0] == 0.0
    np.testing.assert_array_equal(model.dof_damping[6:], 3.0)
    assert "damping 3 of the free joint 'root' set to 0" in _said(robot, "repair")


def test_broken_sensors_are_dropped_and_named(tmp_path: pathlib.Path) -> None:
    sensor = '<sensor><gyro name="imu-gyro" site="imu"/></sensor><actuator>'
    robot = load_robot(_biped_with(tmp_path, ("<actuator>", sensor)))
    assert "sensors dropped (imu-gyro), because MuJoCo refuses them: unrecognized name 'imu'" in (
        _said(robot, "dropped")
    )


def test_good_sensors_stay_when_other_blocks_are_broken(tmp_path: pathlib.Path) -> None:
    blocks = (
        '<sensor><jointpos name="knee" joint="left_knee"/></sensor>'
        '<equality><joint name="tie" joint1="nobody"/></equality><actuator>'
    )
    robot = load_robot(_biped_with(tmp_path, ("<actuator>", blocks)))
    assert "equalities dropped (tie)" in _said(robot, "dropped")
    assert robot.model.nsensor == 1
    assert robot.model.neq == 0


def test_missing_mesh_is_dropped_with_its_shapes(tmp_path: pathlib.Path) -> None:
    path = _biped_with(
        tmp_path,
        ("<worldbody>", '<asset><mesh name="hull" file="hull.stl"/></asset><worldbody>'),
        (
            '<geom type="box" size="0.08',
            '<geom type="mesh" mesh="hull"/><geom type="box" size="0.08',
        ),
    )
    robot = load_robot(path)
    assert robot.mass == pytest.approx(16.0)
    assert robot.model.nmesh == 0
    assert (
        "shapes dropped (1), because their meshes are not there or cannot be read: 'hull.stl'"
        in (_said(robot, "dropped"))
    )


def test_mesh_that_cannot_be_decoded_is_dropped_too(tmp_path: pathlib.Path) -> None:
    written("this is no STL", tmp_path, "hull.stl")
    path = _biped_with(
        tmp_path,
        ("<worldbody>", '<asset><mesh name="hull" file="hull.stl"/></asset><worldbody>'),
        (
            '<geom type="box" size="0.08',
            '<geom type="mesh" mesh="hull"/><geom type="box" size="0.08',
        ),
    )
    assert "shapes dropped (1)" in _said(load_robot(path), "dropped")


def test_link_that_would_lose_its_mass_with_a_mesh_is_refused(tmp_path: pathlib.Path) -> None:
    path = _biped_with(
        tmp_path,
        ("<worldbody>", '<asset><mesh name="hull" file="hull.stl"/></asset><worldbody>'),
        (
            '<inertial pos="0 0 0.1" mass="8" diaginertia="0.1 0.08 0.05"/>',
            '<geom type="mesh" mesh="hull"/>',
        ),
    )
    with pytest.raises(BadRobot) as caught:
        load_robot(path)
    assert str(caught.value).startswith(
        "link 'pelvis' has no inertia of its own, and the mesh 'hull.stl' that would give it "
        "cannot be read ("
    )


def test_textures_and_unknown_materials_are_dropped(tmp_path: pathlib.Path) -> None:
    path = _biped_with(
        tmp_path,
        (
            "<worldbody>",
            '<asset><texture name="t" type="2d" file="t.png"/><material name="skin" texture="t"/>'
            "</asset><worldbody>",
        ),
        ('<geom type="box" size="0.08', '<geom material="gold" type="box" size="0.08'),
    )
    assert "because they are not there: 't.png', 'gold'" in _said(load_robot(path), "dropped")


def test_keyframe_of_another_length_is_dropped(tmp_path: pathlib.Path) -> None:
    """The engine would fill it up with the zero pose without a word."""
    key = '<keyframe><key name="home" qpos="1 2"/></keyframe><actuator>'
    robot = load_robot(_biped_with(tmp_path, ("<actuator>", key)))
    assert "keyframe 'home' dropped: expected 15 positions, got 2" in _said(robot, "dropped")
    assert robot.model.nkey == 0


@pytest.mark.parametrize(
    ("qpos", "fault"),
    [
        ("0 0 1 1 0 0 0 nan 0 0 0 0 0 0 0", "it holds a position that is no finite number"),
        ("0 0 1 0 0 0 0 0 0 0 0 0 0 0 0", "its quaternion is zero"),
    ],
)
def test_keyframe_that_is_no_pose_is_dropped(tmp_path: pathlib.Path, qpos: str, fault: str) -> None:
    key = f'<keyframe><key name="home" qpos="{qpos}"/></keyframe><actuator>'
    robot = load_robot(_biped_with(tmp_path, ("<actuator>", key)))
    assert f"keyframe 'home' dropped: {fault}" in _said(robot, "dropped")
    assert robot.home_height == pytest.approx(0.85)


def test_room_for_keyframes_is_no_home_pose(tmp_path: pathlib.Path) -> None:
    robot = load_robot(_biped_with(tmp_path, ("<compiler", '<size nkey="3"/><compiler')))
    assert "keyframe" not in _said(robot, "assumption")


def test_actuators_that_drive_no_joint_are_named(tmp_path: pathlib.Path) -> None:
    robot = load_robot(_biped_with(tmp_path, ('<motor joint="left_knee"', '<motor joint="ghost"')))
    assert "drive no joint of the robot dropped: 'ghost'" in _said(robot, "dropped")
    assert robot.joint_torque[robot.joint_names.index("left_knee")] == np.inf


def test_range_that_is_not_finite_is_refused_with_its_joint(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadRobot, match="jnt_range of 'left_knee' of the compiled model is not"):
        load_robot(_biped_with(tmp_path, ('range="0 2.4"', 'range="nan 2.4"')))


def test_names_are_given_where_there_are_none(tmp_path: pathlib.Path) -> None:
    robot = load_robot(
        _biped_with(tmp_path, (' name="right_knee"', ""), (' name="right_shank"', ""))
    )
    assert "link6" in robot.link_names
    assert "link6_joint" in robot.joint_names
    assert "link number 6 has no name: called 'link6'" in _said(robot, "repair")


def test_jacobian_is_dense(tmp_path: pathlib.Path) -> None:
    dense = int(mujoco.mjtJacobian.mjJAC_DENSE)
    assert int(biped(tmp_path).model.opt.jacobian) == dense


def test_angles_in_degrees_are_radians_in_the_robot(tmp_path: pathlib.Path) -> None:
    robot = load_robot(
        _biped_with(tmp_path, ('angle="radian"', 'angle="degree"'), ("0 2.4", "0 90"))
    )
    assert robot.joint_max[2] == pytest.approx(np.pi / 2)


# -- planar base -------------------------------------------------------------------------------


def test_two_slides_and_a_hinge_are_a_planar_base(tmp_path: pathlib.Path) -> None:
    """3 + 2 (1.2 + 0.5) = 6.4 kg; four hinges and three."""
    robot = planar(tmp_path)
    assert robot.root_kind == "planar"
    assert robot.mass == pytest.approx(6.4)
    assert (robot.nq, robot.nv) == (7, 7)
    assert robot.joint_names == ("left_hip", "left_ankle", "right_hip", "right_ankle")


def test_pivot_of_a_planar_base_moves_to_the_origin(tmp_path: pathlib.Path) -> None:
    text = PLANAR.replace('axis="0 -1 0"/>', 'axis="0 -1 0" pos="0 0 0.3"/>')
    robot = load_robot(written(text, tmp_path))
    np.testing.assert_array_equal(robot.model.joint("root_pitch").pos, 0.0)
    assert "pivot of the planar base moved to the link's origin" in _said(robot, "repair")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('axis="1 0 0"/>', 'axis="0 1 0"/>'),
        ('type="hinge" axis="0 -1 0"', 'type="hinge" axis="1 0 0"'),
        ('<joint name="root_x" type="slide" axis="1 0 0"/>', ""),
    ],
)
def test_base_that_is_neither_is_refused(tmp_path: pathlib.Path, old: str, new: str) -> None:
    assert old in PLANAR
    with pytest.raises(
        BadRobot,
        match=r"link 'torso' moves against the world by 'root_z', .*: neither a floating "
        "base nor a planar one",
    ):
        load_robot(written(PLANAR.replace(old, new), tmp_path))


def test_planar_base_that_is_turned_is_refused(tmp_path: pathlib.Path) -> None:
    text = PLANAR.replace('pos="0 0 0.6">', 'pos="0 0 0.6" euler="0 0 1">')
    with pytest.raises(BadRobot, match="the planar base of link 'torso' is turned in the world"):
        load_robot(written(text, tmp_path))


# -- what is refused -----------------------------------------------------------------------------


def test_two_robots_in_one_world_are_refused(tmp_path: pathlib.Path) -> None:
    ball = '<worldbody><body name="ball"><freejoint/><geom size="0.1"/></body>'
    with pytest.raises(
        BadRobot, match="expected one robot in the world, got 2 links: 'ball', 'pelv"
    ):
        load_robot(_biped_with(tmp_path, ("<worldbody>", ball)))


@pytest.mark.parametrize(
    "place", ['<freejoint name="root"/>', '<body name="left_foot" pos="0 0 -0.37">']
)
def test_two_free_joints_are_refused_by_name(tmp_path: pathlib.Path, place: str) -> None:
    path = _biped_with(tmp_path, (place, place + '<freejoint name="second"/>'))
    with pytest.raises(
        BadRobot, match="a robot has one free joint and no other, got 'root', 'second'"
    ):
        load_robot(path)


def test_ball_joint_is_refused_by_name(tmp_path: pathlib.Path) -> None:
    path = _biped_with(
        tmp_path,
        (
            '<joint name="left_ankle" axis="0 1 0" range="-0.9 0.9"/>',
            '<joint name="left_ankle" type="ball"/>',
        ),
    )
    with pytest.raises(BadRobot, match=r"joint 'left_ankle' is a ball joint .*Write it as three"):
        load_robot(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.1 0.08 0.05", "nan 0.08 0.05"),
        ('mass="8"', 'mass="nan"'),
        ('mass="8"', 'mass="-8"'),
        ('pos="0 0 0.1" mass', 'pos="0 0 inf" mass'),
    ],
)
def test_inertia_that_no_link_can_have_is_refused(
    tmp_path: pathlib.Path, old: str, new: str
) -> None:
    with pytest.raises(BadRobot, match="link 'pelvis' has an inertia that no link can have: mass"):
        load_robot(_biped_with(tmp_path, (old, new)))


@pytest.mark.parametrize("weight", ['mass="-3"', 'density="-3"'])
def test_shape_that_weighs_less_than_nothing_is_refused(
    tmp_path: pathlib.Path, weight: str
) -> None:
    """A link that gets its mass from it must not become one without mass."""
    text = (
        '<mujoco><worldbody><body name="trunk" pos="0 0 1"><freejoint/>'
        f'<geom type="box" size="0.1 0.1 0.1" {weight}/>'
        '<body name="foot" pos="0 0 -0.5"><joint name="ankle"/><geom size="0.1" mass="1"/></body>'
        "</body></worldbody></mujoco>"
    )
    with pytest.raises(BadRobot, match="mass, inertia or density are negative in geom"):
        load_robot(written(text, tmp_path, "light.xml"))


def test_what_the_engine_warns_of_while_reading_is_said(tmp_path: pathlib.Path) -> None:
    """It takes a mass of NaN for none given, and the shape's volume for it."""
    path = _biped_with(tmp_path, ('name="left_ankle"', 'name="left_ankle" user="nan"'))
    assert "MuJoCo warns: XML contains a 'NaN'" in _said(load_robot(path), "engine")


def test_place_that_is_not_finite_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadRobot, match=r"body_pos .* of the compiled model is not finite"):
        load_robot(_biped_with(tmp_path, ('pos="0 0 -0.37"', 'pos="0 0 inf"')))
