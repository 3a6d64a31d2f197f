"""Servos with a stabiliser: feedback, torques, contacts, and the robot that stands."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.signal import place_poles

import surefoot as sf
from make.standing_clips import still_clip
from surefoot.arrays import Array, door
from surefoot.control.reference import Reference, reference_of
from surefoot.control.stabiliser import Options, StabilisedServos, feedback, make
from surefoot.control.target import State
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.tree import read_tree
from surefoot.errors import BadOption
from surefoot.kernels import body, pressing, sharing
from surefoot.motion import rotation
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import Push
from surefoot.simulation.simulator import simulate


@pytest.mark.parametrize("omega", [2.5, 3.5, 6.0])
def test_feedback_is_that_of_pole_placement(omega: float) -> None:
    """scipy's place_poles on c̈ = ω² (c − p), ṗ = (p* − p)/T, without any formula of ours."""
    options = Options(poles_over_omega=(3.9, 1.2, 1.0), pressure_lag_s=0.07)
    A = np.array([[0, 1, 0], [omega**2, 0, -(omega**2)], [0, 0, -1 / 0.07]])
    B = np.array([[0], [0], [1 / 0.07]])
    poles = -omega * np.array(options.poles_over_omega)
    k = np.array(feedback(omega, options))
    assert np.allclose(k, place_poles(A, B, poles).gain_matrix[0], rtol=1e-8)
    assert np.allclose(np.sort(np.linalg.eigvals(A - B @ k[None]).real), np.sort(poles))


def _at_rest() -> tuple[Robot, Reference, StabilisedServos]:
    robot = sf.load_robot("human25")
    reference = reference_of(still_clip(robot, seconds=0.2), robot)
    driver = make(robot, reference.patches, dt=reference.dt)
    return robot, reference, driver


def _state(robot: Robot, reference: Reference, speed: Array, *, bare: str = "") -> State:
    """At home with a root that moves; every link carries alike but those named `bare`."""
    qvel = np.zeros(robot.nv)
    qvel[:3] = speed
    target = reference.at(0)
    names = reference.patches.link_names
    loaded = np.array([not (bare and name.startswith(bare)) for name in names])
    force_w = np.zeros((len(names), 3))
    force_w[loaded, 2] = robot.mass * 9.81 / loaded.sum()
    cop_w = np.array(target.link_pos_w[reference.patches.link_body])
    return State(0.0, np.array(robot.home), qvel, force_w, cop_w)


def test_torques_are_those_of_the_engine() -> None:
    """M q̈ + h at random states, less what the engine makes of wrenches at the same points."""
    robot = sf.load_robot("human25")
    rng = np.random.default_rng(3)
    model, tree = robot.model, read_tree(robot.model)
    data = mujoco.MjData(model)
    links = np.array([robot.link_id(name) for name in ("left_foot", "right_foot")])
    room = body.room_for(model.nbody, robot.nv)
    contact = sharing.room_for(8, np.array([0, 1]))
    J, torque = pressing.room_for(robot.nv)
    for _ in range(5):
        data.qpos[:] = robot.home
        data.qpos[7:] += rng.uniform(-0.3, 0.3, len(data.qpos) - 7)
        data.qvel[:] = rng.normal(size=robot.nv)
        data.qacc[:] = rng.normal(size=robot.nv)
        wrench, share = rng.normal(size=6) * 100.0, np.array([0.3, 0.7])
        mujoco.mj_forward(model, data)
        acc = rng.normal(size=robot.nv)
        wanted, pushed = np.zeros(robot.nv), np.zeros(robot.nv)
        mujoco.mj_mulM(model, data, wanted, acc)
        wanted += data.qfrc_bias
        for c in range(2):
            contact.cop[c] = data.xpos[links[c]] + rng.uniform(-0.1, 0.1, 3)
            contact.share[c] = share[c]
            force, moment = share[c] * wrench[:3], share[c] * wrench[3:]
            mujoco.mj_applyFT(model, data, force, moment, contact.cop[c], links[c], pushed)
        body.measure(tree, door(data.qpos), door(data.qvel), room)
        pressing.press(tree, room, acc, links, contact, wrench, J, torque)
        assert np.allclose(torque, wanted - pushed, atol=1e-8 * np.abs(wanted).max())


def test_at_rest_the_feet_carry_the_weight_and_the_root_lacks_nothing() -> None:
    """M q̈ + h − Σ Jᵀ f has no rows left at the root: the statics of standing."""
    robot, reference, driver = _at_rest()
    driver.command(_state(robot, reference, np.zeros(3)), reference.at(0))
    weight = robot.mass * 9.81
    assert np.abs(driver._torque[:6]).max() < 2e-3 * weight


def test_a_body_that_falls_forward_is_met_by_toes_that_press_down() -> None:
    """The pressure asked for moves forward, and the displaced targets turn both feet toe down."""
    robot, reference, driver = _at_rest()
    rest = driver.command(_state(robot, reference, np.zeros(3)), reference.at(0))
    falls = driver.command(_state(robot, reference, np.array([0.1, 0.0, 0.0])), reference.at(0))
    assert rest.cop_w is not None
    assert falls.cop_w is not None
    assert falls.cop_w[0] > rest.cop_w[0] + 0.02
    assert rest.torque is not None
    assert falls.torque is not None
    pose = np.array(robot.home)
    ankle = [robot.joint_names.index(f"{side}_ankle_pitch") for side in ("left", "right")]
    more = (falls.torque - rest.torque)[ankle] / driver.stiffness
    pose[robot.joint_qposadr[ankle]] += more
    data = mujoco.MjData(robot.model)
    data.qpos[:] = pose
    mujoco.mj_kinematics(robot.model, data)
    home = mujoco.MjData(robot.model)
    home.qpos[:] = robot.home
    mujoco.mj_kinematics(robot.model, home)
    for side in ("left", "right"):
        toe, foot = robot.link_id(f"{side}_toe"), robot.link_id(f"{side}_foot")
        drop = (data.xpos[toe] - data.xpos[foot])[2] - (home.xpos[toe] - home.xpos[foot])[2]
        assert drop < -1e-4


def test_a_foot_that_has_not_touched_is_given_no_load() -> None:
    robot, reference, driver = _at_rest()
    names = reference.patches.link_names
    at, bare = reference.at(0), _state(robot, reference, np.zeros(3), bare="left")
    right = np.array([names[c].startswith("right") for c in reference.patches.patch_link])
    driver.command(bare, replace(at, holds=right))  # the first step believes the schedule
    command = driver.command(bare, at)
    assert [n for n, c in zip(names, command.planned, strict=True) if c] == [
        n for n in names if n.startswith("right")
    ]
    assert command.cop_w is not None
    assert command.cop_w[1] < 0.0  # under the right foot


def test_a_root_that_is_tilted_is_turned_back() -> None:
    """Rolled by 0.02 rad about x: the moment is 2 m g h 0.02 about −x, and nothing else."""
    robot, reference, driver = _at_rest()
    state = _state(robot, reference, np.zeros(3))
    tilted = np.array(state.qpos)
    tilted[3:7] = rotation.multiply(rotation.from_rotvec(np.array([0.02, 0.0, 0.0])), tilted[3:7])
    state.qpos = tilted
    driver.command(state, reference.at(0))
    mgh = driver.stiffness / driver.options.stiffness_over_mgh
    assert driver._wrench[3] == pytest.approx(-0.02 * 2.0 * mgh, rel=1e-6)
    assert np.abs(driver._wrench[4:]).max() < 1e-9 * mgh


def test_options_that_hold_nothing_up_are_refused() -> None:
    with pytest.raises(BadOption, match="damping_s must be positive, got 0"):
        Options(damping_s=0.0)
    with pytest.raises(BadOption, match="foot_margin_m must be zero or more, got -1"):
        Options(foot_margin_m=-1.0)
    with pytest.raises(BadOption, match="three positive numbers"):
        Options(poles_over_omega=(1.0, 1.0, -1.0))


@pytest.mark.slow
def test_it_stands_where_servos_alone_fall_and_keeps_torque_limits() -> None:
    """A push forward of 0.7 of what a pendulum bears whose pressure goes to the toes, m ω d."""
    robot = sf.load_robot("human25")
    clip = still_clip(robot, seconds=3.0)
    home = Batch(robot, np.array(robot.home)[None])
    com = home.com_w[0]
    tips = [home.points_w(sole.link, sole.polygon_l)[0, :, 0].max() for sole in robot.soles]
    impulse = 0.7 * robot.mass * np.sqrt(9.81 / com[2]) * (max(tips) - com[0])
    push = Push(0.5, np.array([impulse / 0.1, 0.0, 0.0]), 0.1)
    alone = simulate(clip, robot, controller="pd", pushes=(push,))
    found = simulate(clip, robot, controller="position", pushes=(push,))
    assert not alone.stood
    assert found.stood
    assert np.all(np.abs(found.trace.torque) <= robot.joint_torque + 1e-9)
