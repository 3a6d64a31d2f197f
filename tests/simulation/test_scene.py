"""The simulated world against closed forms: friction on slopes, flight, what touches what."""

from __future__ import annotations

import math
import pathlib
from typing import Any

import mujoco
import numpy as np
import pytest

from make.robots import BIPED, biped, planar, written
from surefoot.errors import BadOption, BadRobot, UnknownName
from surefoot.motion.contact import Surface, Terrain
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot
from surefoot.simulation.scene import Scene, Settings, scene_of

G = 9.81
SLOPE = math.radians(20.0)
BLOCK = """
<mujoco model="block">
  <worldbody>
    <body name="block" pos="0 0 0.1">
      <freejoint name="root"/>
      <inertial pos="0 0 0" mass="30" diaginertia="0.5 0.5 0.5"/>
      {shapes}
    </body>
  </worldbody>
</mujoco>
"""
FEET = {
    "box": '<geom type="box" size="0.15 0.1 0.1" friction="1 1 1"/>',
    "capsules": '<geom type="capsule" fromto="-0.15 0.1 -0.08 0.15 0.1 -0.08" size="0.02"/>'
    '<geom type="capsule" fromto="-0.15 -0.1 -0.08 0.15 -0.1 -0.08" size="0.02"/>',
    "spheres": "".join(
        f'<geom type="sphere" pos="{x} {y} -0.08" size="0.02"/>'
        for x in (-0.15, 0.15)
        for y in (-0.1, 0.1)
    ),
    "cylinder": '<geom type="cylinder" size="0.12 0.1"/>',
}


def _block(folder: pathlib.Path, shapes: str = FEET["box"]) -> Robot:
    return load_robot(written(BLOCK.format(shapes=shapes), folder, "block.xml"))


def _slope(angle: float = SLOPE) -> Terrain:
    return Terrain(
        (Surface("plane", np.zeros(3), np.array([math.sin(angle), 0, math.cos(angle)])),)
    )


def _placed(scene: Scene, height: float = 0.1, angle: float = SLOPE) -> Any:
    """Data with the block lying on the slope."""
    data = mujoco.MjData(scene.model)
    half = angle / 2.0
    data.qpos[:] = [
        height * math.sin(angle), 0, height * math.cos(angle), math.cos(half), 0, math.sin(half), 0
    ]  # fmt: skip
    return data


def _along(data: Any, angle: float = SLOPE) -> float:
    """How far down the slope the block is, m."""
    return float(data.qpos[0] * math.cos(angle) - data.qpos[2] * math.sin(angle))


@pytest.mark.parametrize("kind", FEET)
def test_a_block_on_a_slope_of_20_degrees_stays_at_friction_0_7(
    kind: str, tmp_path: pathlib.Path
) -> None:
    """tan 20° = 0.364 < 0.7. Creep below 0.02 mm/s between 1 and 10 s."""
    scene = scene_of(_block(tmp_path, FEET[kind]), _slope(), friction=0.7)
    data = _placed(scene)
    mujoco.mj_step(scene.model, data, nstep=1000)
    before = _along(data)
    mujoco.mj_step(scene.model, data, nstep=9000)
    assert abs(_along(data) - before) / 9.0 < 2e-5


@pytest.mark.parametrize("kind", ["box", "capsules", "spheres"])
def test_a_block_on_a_slope_of_20_degrees_slides_at_friction_0_3(
    kind: str, tmp_path: pathlib.Path
) -> None:
    """a = g (sin 20° − 0.3 cos 20°) = 0.5897 m/s², from the 1.18 m of the first 2 s: s = a t² / 2.

    Over shorter spans the engine's soft contacts let a sliding block hop, and its speed wavers.
    """
    theory = G * (math.sin(SLOPE) - 0.3 * math.cos(SLOPE))
    scene = scene_of(_block(tmp_path, FEET[kind]), _slope(), friction=0.3)
    data = _placed(scene)
    before = _along(data)
    mujoco.mj_step(scene.model, data, nstep=2000)
    assert (_along(data) - before) * 2.0 / 2.0**2 == pytest.approx(theory, rel=5e-3)


def test_the_friction_of_every_contact_is_the_one_asked_for(tmp_path: pathlib.Path) -> None:
    """The block's own friction is 1 and would count otherwise: the engine takes the larger one."""
    scene = scene_of(_block(tmp_path), Terrain(), friction=0.2)
    data = mujoco.MjData(scene.model)
    data.qpos[2] = 0.1 - 1e-4
    mujoco.mj_forward(scene.model, data)
    assert data.ncon == 4
    np.testing.assert_array_equal(data.contact.friction[:, :2], 0.2)
    np.testing.assert_array_equal(data.contact.dim, 3)


def test_every_surface_can_have_a_friction_of_its_own(tmp_path: pathlib.Path) -> None:
    ground = Terrain(
        (
            Surface("plane", np.zeros(3)),
            Surface("box", np.array([0.0, 0.0, 0.1]), size=np.array([1.0, 1.0, 0.2]), yaw=0.3),
        )
    )
    scene = scene_of(_block(tmp_path), ground, friction=[0.2, 0.9])
    data = mujoco.MjData(scene.model)
    data.qpos[2] = 0.3 - 1e-4
    mujoco.mj_forward(scene.model, data)
    assert data.ncon == 4
    np.testing.assert_array_equal(data.contact.friction[:, 0], 0.9)


@pytest.mark.parametrize("make", [biped, planar])
def test_free_flight_keeps_momentum_and_energy(make: Any, tmp_path: pathlib.Path) -> None:
    """RK4, 1 ms, 0.3 s: relative drift below 1e-9 (5e-14 was measured over 1 s on other robots)."""
    robot = make(tmp_path)
    scene = scene_of(robot, Terrain(), settings=Settings(integrator="RK4"))
    model, data = scene.model, mujoco.MjData(scene.model)
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    rng = np.random.default_rng(0)
    data.qpos[:] = robot.home
    data.qpos[2 if robot.root_kind == "free" else 0] += 5.0
    data.qvel[:] = 0.5 * rng.standard_normal(robot.nv)

    def momenta() -> tuple[Any, Any, float]:
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        mass = model.body_subtreemass[0]
        linear = mass * data.subtree_linvel[0] + [0.0, 0.0, mass * G * data.time]
        return linear.copy(), data.subtree_angmom[0].copy(), float(data.energy.sum())

    linear, angular, energy = momenta()
    mujoco.mj_step(model, data, nstep=300)
    later = momenta()
    assert data.ncon == 0
    np.testing.assert_allclose(later[0], linear, atol=1e-9 * np.linalg.norm(linear))
    np.testing.assert_allclose(later[1], angular, atol=1e-9 * np.linalg.norm(angular))
    assert later[2] == pytest.approx(energy, rel=1e-9)


def test_links_of_the_robot_do_not_touch_each_other_but_the_ground(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    scene = scene_of(robot, Terrain())
    data = mujoco.MjData(scene.model)
    data.qpos[:] = robot.home
    data.qpos[robot.joint_qposadr[robot.joint_names.index("left_hip_roll")]] = -0.5  # legs cross
    data.qpos[robot.joint_qposadr[robot.joint_names.index("right_hip_roll")]] = 0.5
    data.qpos[2] += 1.0
    mujoco.mj_forward(scene.model, data)
    assert data.ncon == 0
    data.qpos[2] = -0.05  # the pelvis in the ground
    mujoco.mj_forward(scene.model, data)
    links = {int(scene.geom_link[g]) for pair in data.contact.geom for g in pair}
    assert {-1, robot.link_id("pelvis")} <= links
    assert all((scene.geom_link[pair] == -1).sum() == 1 for pair in data.contact.geom)


def test_shapes_that_are_only_drawn_touch_nothing(tmp_path: pathlib.Path) -> None:
    """The whole block is drawn 1 m deep; only its box of 0.1 m collides."""
    drawn = '<geom type="box" size="0.1 0.1 1" contype="0" conaffinity="0"/>'
    scene = scene_of(_block(tmp_path, FEET["box"] + drawn), Terrain())
    data = mujoco.MjData(scene.model)
    data.qpos[2] = 0.2
    mujoco.mj_forward(scene.model, data)
    assert data.ncon == 0


MESH = '<mesh name="m" vertex="{}"/>'.format(
    " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.05, 0.05) for z in (-0.03, 0.0))
)
MESH_BLOCK = BLOCK.replace("<worldbody>", f"<asset>{MESH}</asset><worldbody>")


@pytest.mark.parametrize("surface", ["plane", "box"])
def test_a_sole_that_was_a_mesh_stands_on_a_prism(surface: str, tmp_path: pathlib.Path) -> None:
    """The mesh is 0.2 by 0.1 m, 0.03 m below the origin: 294.3 N at rest, 0.1 mm deep."""
    shapes = '<geom type="mesh" mesh="m" density="0"/>'
    robot = load_robot(written(MESH_BLOCK.format(shapes=shapes), tmp_path, "block.xml"))
    ground = Terrain()
    if surface == "box":
        box = Surface("box", np.array([0.0, 0.0, -0.1]), size=np.array([1.0, 1.0, 0.2]))
        ground = Terrain((box,))
    scene = scene_of(robot, ground)
    data = mujoco.MjData(scene.model)
    data.qpos[2] = 0.03
    mujoco.mj_step(scene.model, data, nstep=500)
    assert [notice.part for notice in scene.notices] == ["block"]
    assert "prism over the sole's polygon" in scene.notices[0].sentence
    assert data.qpos[2] == pytest.approx(0.03, abs=3e-4)
    assert np.abs(data.qvel).max() < 5e-3
    assert data.ncon == 4  # the studs
    points = data.contact.pos[:, :2]
    np.testing.assert_allclose(points.max(axis=0), [0.1, 0.05], atol=1e-3)


def test_a_prism_carries_where_the_ground_has_an_edge_between_the_corners(
    tmp_path: pathlib.Path,
) -> None:
    """A ridge 4 cm wide under the middle of the sole: no stud is on it."""
    shapes = '<geom type="mesh" mesh="m" density="0"/>'
    robot = load_robot(written(MESH_BLOCK.format(shapes=shapes), tmp_path, "block.xml"))
    ridge = Surface("box", np.array([0.0, 0.0, 0.0]), size=np.array([0.04, 1.0, 0.1]))
    scene = scene_of(robot, Terrain((ridge,)))
    data = mujoco.MjData(scene.model)
    data.qpos[2] = 0.08
    mujoco.mj_step(scene.model, data, nstep=200)
    assert data.qpos[2] == pytest.approx(0.08, abs=1e-3)
    assert np.abs(data.contact.pos[:, 0]).max() < 0.021


def test_a_sole_of_many_corners_stands_on_eight_of_them(tmp_path: pathlib.Path) -> None:
    """A disc of 24 corners, 0.1 m in radius: the studs lie on its rim."""
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    corners = " ".join(
        f"{0.1 * math.cos(a)} {0.1 * math.sin(a)} {z}" for a in angle for z in (-0.03, 0)
    )
    text = BLOCK.format(shapes='<geom type="mesh" mesh="m" density="0"/>').replace(
        "<worldbody>", f'<asset><mesh name="m" vertex="{corners}"/></asset><worldbody>'
    )
    scene = scene_of(load_robot(written(text, tmp_path, "block.xml")), Terrain())
    data = mujoco.MjData(scene.model)
    data.qpos[2] = 0.03
    mujoco.mj_step(scene.model, data, nstep=500)
    assert data.ncon == 8
    np.testing.assert_allclose(np.linalg.norm(data.contact.pos[:, :2], axis=1), 0.1, atol=1e-3)
    assert np.abs(data.qvel).max() < 1e-3


def test_a_scene_is_its_text(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    scene = scene_of(robot, _slope(0.1), friction=0.4)
    again = mujoco.MjModel.from_xml_string(scene.xml)
    for name in ("body_mass", "body_inertia", "geom_pos", "geom_quat", "jnt_actfrcrange"):
        np.testing.assert_array_equal(getattr(again, name), getattr(scene.model, name))
    assert again.opt.timestep == 0.001
    assert again.opt.impratio == 100.0
    assert again.opt.cone == int(mujoco.mjtCone.mjCONE_ELLIPTIC)
    assert again.opt.jacobian == int(mujoco.mjtJacobian.mjJAC_DENSE)
    assert again.opt.integrator == int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    assert again.opt.disableflags == int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)


def test_what_the_model_says_of_joints_and_links_is_simulated(tmp_path: pathlib.Path) -> None:
    text = BIPED.replace(
        '<joint armature="0.01"/>', '<joint armature="0.01" frictionloss="0.2" damping="0.3"/>'
    )
    robot = load_robot(written(text, tmp_path, "biped.xml")).with_link_mass("pelvis", 9.5)
    model = scene_of(robot, Terrain()).model
    for name in ("dof_armature", "dof_frictionloss", "dof_damping", "jnt_range", "jnt_stiffness",
                 "body_mass", "body_inertia", "body_ipos", "body_pos", "jnt_axis"):  # fmt: skip
        np.testing.assert_array_equal(
            getattr(model, name), getattr(robot.model, name), err_msg=name
        )
    np.testing.assert_array_equal(
        model.jnt_actfrcrange[robot.joint_ids[:4], 1],
        np.where(np.isfinite(robot.joint_torque[:4]), robot.joint_torque[:4], 0.0),
    )


def test_mass_errors_are_in_the_scene_only(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    scene = scene_of(robot, Terrain(), mass_factor={"pelvis": 1.1})
    link = robot.link_id("pelvis")
    assert scene.model.body_mass[link] == pytest.approx(8.8)
    np.testing.assert_allclose(scene.model.body_inertia[link], 1.1 * robot.model.body_inertia[link])
    assert scene.robot.mass == pytest.approx(16.0)


def test_surfaces_are_moved_in_the_scene_only(tmp_path: pathlib.Path) -> None:
    scene = scene_of(biped(tmp_path), Terrain(), shift_m=[0.02])
    assert scene.terrain.height(np.zeros((1, 2)))[0] == pytest.approx(0.02)
    assert scene.planned_terrain.height(np.zeros((1, 2)))[0] == 0.0
    assert scene.model.geom_pos[0, 2] == 0.02


def test_a_scene_that_cannot_be_is_refused(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    with pytest.raises(BadOption, match="expected 1 finite shifts of surfaces"):
        scene_of(robot, Terrain(), shift_m=[0.0, 0.1])
    with pytest.raises(BadOption, match=r"friction must be 0 or more, got -0\.1"):
        scene_of(robot, Terrain(), friction=-0.1)
    with pytest.raises(BadOption, match="servos need gains"):
        scene_of(robot, Terrain(), drive="servo")
    with pytest.raises(UnknownName, match="link 'pelviss' is not in robot 'biped'"):
        scene_of(robot, Terrain(), mass_factor={"pelviss": 1.1})
    with pytest.raises(
        BadOption, match=r"a control step of 0\.003 s is no whole number of physics"
    ):
        Settings(control_hz=1.0 / 0.003, timestep_s=0.002)
    with pytest.raises(BadOption, match="impratio must be positive, got 0"):
        Settings(impratio=0.0)


@pytest.mark.shared
@pytest.mark.parametrize(
    "path",
    ["g1/g1_bm_no_mesh_box_feet.xml", "t1/t1.xml", "talos/talos_reduced_box.urdf",
     "variants/g1_menagerie/g1.xml", "variants/g1_urdf/g1_29dof_rev_1_0.urdf",
     "variants/t1_urdf/T1_serial.urdf", "variants/talos_full/talos_full_v2.urdf"],
)  # fmt: skip
def test_real_robots_stand_on_their_soles(path: str, shared: pathlib.Path) -> None:
    """With stiff servos: from 0.2 to 0.5 s the ground carries the weight on average, within 3 %.

    The servos shake; a change of the vertical speed by 0.05 m/s would be 2 % of the weight.
    """
    robot = load_robot(shared / "data" / "robots" / path)
    m = len(robot.joint_names)
    gains = (np.full(m, 1e4), np.full(m, 300.0))
    scene = scene_of(robot, Terrain(), drive="servo", servo_gains=gains)
    for name in ("dof_armature", "dof_frictionloss", "dof_damping", "jnt_stiffness", "jnt_range",
                 "body_mass", "body_inertia", "eq_data"):  # fmt: skip
        given = getattr(robot.model, name)
        np.testing.assert_array_equal(getattr(scene.model, name), given, err_msg=name)
    data = mujoco.MjData(scene.model)
    data.qpos[:] = robot.home
    data.ctrl[:] = robot.home[robot.joint_qposadr]
    mujoco.mj_step(scene.model, data, nstep=200)
    force, total = np.zeros(6), np.zeros(3)
    for _ in range(300):
        mujoco.mj_step(scene.model, data)
        for i in range(data.ncon):
            mujoco.mj_contactForce(scene.model, data, i, force)
            total += data.contact.frame[i].reshape(3, 3).T @ force[:3] / 300
    assert total[2] == pytest.approx(robot.mass * G, rel=0.03)
    assert not scene.notices


def test_a_model_that_the_engine_refuses_says_so(tmp_path: pathlib.Path) -> None:
    import dataclasses

    robot = dataclasses.replace(
        biped(tmp_path), mjcf="<mujoco><worldbody><geom/></worldbody></mujoco>"
    )
    with pytest.raises(BadRobot, match=r"MuJoCo refuses the scene: .* \(biped\)"):
        scene_of(robot, Terrain())
