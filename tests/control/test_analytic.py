"""The analytic controller in closed loop: it stands, its pressure goes where it should, limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from make.posers import Posing
from surefoot.adapters.adaptation import adapt
from surefoot.arrays import Array
from surefoot.control.analytic import Analytic, Options, make, warm_up
from surefoot.control.balance import Balance, BalanceParameters
from surefoot.control.reference import reference_of
from surefoot.control.target import State
from surefoot.errors import BadOption, UnknownName
from surefoot.motion.contact import Terrain
from surefoot.retargeting.retarget import retarget
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot
from surefoot.samples import bundled
from surefoot.simulation.loop import run
from surefoot.simulation.scene import scene_of
from surefoot.simulation.trace import Trace

DT = 0.002


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("human25")


def stand(
    robot: Robot, controller: Analytic, *, seconds: float = 1.0, qpos: Array | None = None
) -> Trace:
    """Held in a pose over its soles, in MuJoCo."""
    source = Posing(robot, seconds=seconds, qpos=qpos)
    scene = scene_of(robot, Terrain(), drive="torque")
    return run(scene, source, controller, hold_s=0.0)


def controller_of(robot: Robot, options: Options | None = None) -> Analytic:
    return make(robot, Posing(robot, seconds=0.1).patches, dt=DT, options=options)


def state_of(robot: Robot, qpos: Array | None = None) -> State:
    pose = np.array(robot.home if qpos is None else qpos)
    return State(0.0, pose, np.zeros(robot.nv), np.zeros((4, 3)), np.zeros((4, 3)))


class Stepping(Balance):
    """A balance controller whose answer jumps aside after half a second."""

    def __init__(self, aside: tuple[float, float]) -> None:
        super().__init__("capture", BalanceParameters(), dt=DT)
        self.aside, self.steps = np.array(aside), 0
        self.place = np.zeros(2)

    def desired_cop(self, com_w: Array, *others: object, **options: object) -> Array:
        self.steps += 1
        if self.steps == 250:
            self.place = com_w[:2].copy()
        if self.steps < 250:
            return com_w[:2].copy()
        return self.place + self.aside


def pressure_after_20_ms(
    robot: Robot, options: Options, aside: tuple[float, float], qpos: Array | None = None
) -> Array:
    controller = controller_of(robot, options)
    controller.balance = Stepping(aside)
    trace = stand(robot, controller, seconds=0.4, qpos=qpos)
    return np.asarray(trace.cop_w[249 + 10])


@pytest.mark.parametrize("form", ["literal", "feedforward", "capture"])
def test_it_stands(robot: Robot, form: str) -> None:
    trace = stand(robot, controller_of(robot, replace(Options(), balance=form)))
    assert trace.fell_at is None
    off = np.linalg.norm(trace.com_w - trace.target_com_w, axis=1)
    assert off[-1] < 0.001
    pressing = trace.contact_force_w[-1, :, 2].sum()
    assert pressing == pytest.approx(robot.mass * 9.81, rel=0.01)


@pytest.mark.parametrize("aside", [(0.03, 0.0), (0.0, 0.03)])
def test_measured_pressure_follows_the_desired_one(
    robot: Robot, aside: tuple[float, float]
) -> None:
    """r_b moves by 3 cm; so does, within 20 ms, the pressure in MuJoCo: 26 to 34 mm."""
    options = Options()
    moved = pressure_after_20_ms(robot, options, aside) - pressure_after_20_ms(
        robot, options, (0.0, 0.0)
    )
    assert np.allclose(moved, aside, atol=0.004)


def test_with_the_printed_signs_it_goes_the_other_way(robot: Robot) -> None:
    """(11) as printed puts the pressure at the mirror image of r_b through the world's origin.

    So the robot stands with its centre of mass over the origin, and only Z_b speaks of pressure.
    """
    pose = np.array(robot.home)
    pose[0] -= Posing(robot, seconds=0.1).com_w[0]
    for printed, sign in ((False, 1.0), (True, -1.0)):
        options = Options(printed_signs=printed, zero_forces=True, foot_cop_weight=0.0)
        before, after = (
            pressure_after_20_ms(robot, options, aside, pose) for aside in ((0.0, 0.0), (0.03, 0.0))
        )
        assert np.allclose(before, 0.0, atol=0.001)
        assert np.allclose(after, [0.03 * sign, 0.0], atol=0.004)


def test_straight_knees_are_no_matter(robot: Robot) -> None:
    """All joints at zero: both legs are singular, and the knees lie on their limits."""
    pose = np.array(robot.home)
    pose[robot.joint_qposadr] = 0.0
    pose[2] = 0.901
    controller = controller_of(robot)
    source = Posing(robot, seconds=0.1, qpos=pose)
    found = controller.command(state_of(robot, pose), source.at(0, None))
    assert np.isfinite(found.value).all()
    assert np.all(np.abs(found.value) < robot.joint_torque)
    assert stand(robot, controller, qpos=pose).fell_at is None


def test_torques_keep_their_limits(robot: Robot) -> None:
    """Joints with a fifth of their strength cannot hold the body, and are not asked for more."""
    weak = replace(robot, joint_torque=0.02 * robot.joint_torque)
    controller = controller_of(weak)
    found = controller.command(state_of(weak), Posing(weak, seconds=0.1).at(0, None))
    assert np.all(np.abs(found.value) <= weak.joint_torque)
    assert found.softened


def test_in_flight_it_still_answers(robot: Robot) -> None:
    source = Posing(robot, seconds=0.1, holds=False)
    found = make(robot, source.patches, dt=DT).command(state_of(robot), source.at(0, None))
    assert np.isfinite(found.value).all()
    assert not found.planned.any()
    assert found.cop_w is None


def test_all_feet_are_counted_on_while_they_are_scheduled(robot: Robot) -> None:
    source = Posing(robot, seconds=0.1)
    source.holds[:2] = False
    found = make(robot, source.patches, dt=DT).command(state_of(robot), source.at(0, None))
    assert list(found.planned) == [False, False, True, True]
    assert found.cop_w is not None
    right = robot.link_id("right_foot")
    assert found.cop_w[1] < source.link_pos_w[right, 1] + 0.04  # inside the sole that carries


def test_a_state_that_is_not_a_number_gives_no_command(robot: Robot) -> None:
    state = state_of(robot)
    state.qpos[8] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="no positive matrix"):
        controller_of(robot).command(state, Posing(robot, seconds=0.1).at(0, None))


def test_the_same_steps_give_the_same_bits_after_reset(robot: Robot) -> None:
    controller = controller_of(robot)
    first = stand(robot, controller, seconds=0.1)
    again = stand(robot, controller, seconds=0.1)
    assert np.array_equal(first.ctrl, again.ctrl)


def test_gains_of_single_joints(robot: Robot) -> None:
    """A joint with no gains is not pulled back; the others are."""
    pose = np.array(robot.home)
    elbow = robot.joint_names.index("left_elbow")
    pose[robot.joint_qposadr[elbow]] += 0.2
    target = Posing(robot, seconds=0.1).at(0, None)
    pulled = controller_of(robot).command(state_of(robot, pose), target).value[elbow]
    loose = controller_of(robot, replace(Options(), joint_gains=(("*_elbow", 0.0, 0.0),)))
    free = loose.command(state_of(robot, pose), target).value[elbow]
    assert pulled < free - 0.1


def test_gains_of_unknown_joints_are_refused(robot: Robot) -> None:
    options = replace(Options(), joint_gains=(("left_elbo", 1.0, 1.0),))
    with pytest.raises(UnknownName, match=r"'left_elbo', which fits no joint .* 'left_elbow'"):
        controller_of(robot, options)


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(BadOption, match="analytic cop_weight must be zero or more, got -1"):
        Options(cop_weight=-1.0)
    with pytest.raises(BadOption, match="analytic force_weight must be positive, got 0"):
        Options(force_weight=0.0)


def test_warm_up_runs(robot: Robot) -> None:
    warm_up(robot)


@pytest.mark.slow
def test_the_warped_sidestep_is_completed(robot: Robot) -> None:
    """The bundled clip, retargeted and warped, all 11 s of it and 1 s held."""
    human = bundled.load("sidestep")
    clip = adapt(retarget(human, robot, terrain=bundled.terrain("sidestep")), robot).clip
    reference = reference_of(clip, robot)
    controller = make(robot, reference.patches, dt=DT)
    trace = run(scene_of(robot, clip.terrain, drive="torque"), reference, controller)
    assert trace.fell_at is None
    off = np.linalg.norm(trace.com_w - trace.target_com_w, axis=1)
    assert off.max() < 0.05  # what the project asks of clips that are feasible
    assert off[-1] < 0.002
    assert np.all(np.abs(trace.ctrl) <= robot.joint_torque)
