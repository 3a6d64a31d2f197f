"""The strict controller: its program against another solver, its answers, and robots that stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from make.bare_loop import run
from make.standing_clips import still_clip
from make.whole_body import problem_of
from surefoot.control import strict
from surefoot.control.reference import Reference, reference_of
from surefoot.control.strict import Options, Strict
from surefoot.control.target import Command, State, Target
from surefoot.errors import BadOption
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("human25")


@pytest.fixture(scope="module")
def reference(robot: Robot) -> Reference:
    return reference_of(still_clip(robot), robot)


def asked(
    robot: Robot, reference: Reference, rng: np.random.Generator, *, hardness: float = 1.0
) -> tuple[State, Target]:
    """A state some way off the reference, and a target that accelerates."""
    target = reference.at(0)
    qpos = np.array(target.qpos)
    qpos[robot.joint_qposadr] += rng.normal(0.0, 0.05, len(robot.joint_names))
    qpos[:3] += rng.normal(0.0, 0.01, 3)
    qpos[3:7] += rng.normal(0.0, 0.02, 4)
    qpos[3:7] /= np.linalg.norm(qpos[3:7])
    qvel = rng.normal(0.0, 0.2, robot.nv)
    target.qacc = hardness * rng.normal(0.0, 5.0, robot.nv)
    target.com_acc_w = hardness * rng.normal(0.0, 1.0, 3)
    target.spin_rate_w = hardness * rng.normal(0.0, 10.0, 3)
    links = len(reference.patches.link_names)
    return State(0.0, qpos, qvel, np.zeros((links, 3)), np.zeros((links, 3))), target


def answered(
    robot: Robot, reference: Reference, state: State, target: Target, options: Options
) -> tuple[Strict, Command]:
    controller = strict.make(robot, reference.patches, dt=reference.dt, options=options)
    return controller, controller.command(state, target)


@pytest.mark.parametrize("hardness", [1.0, 8.0], ids=["mild", "limits reached"])
def test_answer_is_the_optimum_of_the_dense_program(
    robot: Robot, reference: Reference, hardness: float
) -> None:
    """Ten random steps; all quantities from MuJoCo, the optimum from Clarabel.

    Costs agree to a millionth and torques to 0.01 N m: Clarabel stops at gaps of 1e-11 of costs
    of some 1e4, and forces weigh 1e-5.
    """
    rng, options = np.random.default_rng(5), Options()
    for _ in range(10):
        state, target = asked(robot, reference, rng, hardness=hardness)
        controller, command = answered(robot, reference, state, target, options)
        problem = problem_of(robot, state, target, controller.footing, options)
        best = problem.by_clarabel()
        found = np.concatenate([controller.qacc, controller.generator_force])
        assert not command.softened
        assert abs(problem.cost(found) - problem.cost(best)) < 1e-6 * abs(problem.cost(best))
        assert np.abs(problem.A @ found - problem.b).max() < 1e-5
        assert np.abs(command.value - problem.torque(best)).max() < 1e-2


def test_hard_targets_reach_limits(robot: Robot, reference: Reference) -> None:
    """The test above would prove little if no limit of a torque were ever reached."""
    rng = np.random.default_rng(5)
    reached = 0
    for _ in range(10):
        state, target = asked(robot, reference, rng, hardness=8.0)
        _, command = answered(robot, reference, state, target, Options())
        assert np.all(np.abs(command.value) <= robot.joint_torque)
        reached += int(np.sum(np.abs(command.value) > 0.999 * robot.joint_torque))
    assert reached >= 5


@pytest.mark.parametrize("sides", [3, 4, 8])
def test_forces_lie_inside_the_circular_cone(
    robot: Robot, reference: Reference, sides: int
) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        state, target = asked(robot, reference, rng, hardness=8.0)
        controller, _ = answered(robot, reference, state, target, Options(cone_sides=sides))
        force_w = controller.vertex_force_w
        sideways = np.linalg.norm(force_w[:, :2], axis=1)
        assert np.all(force_w[:, 2] >= 0.0)
        assert np.all(sideways <= 0.9 * 0.7 * force_w[:, 2] + 1e-9)


def test_standing_forces_carry_the_weight_inside_the_soles(
    robot: Robot, reference: Reference
) -> None:
    """Σ f = m g to 0.1 N, and the centre of pressure under the centre of mass to 0.1 mm.

    Not exactly: λ has a weight, so the optimum gives some 1e-4 of m g for an even spread.
    """
    target = reference.at(-1)
    links = len(reference.patches.link_names)
    state = State(0.0, target.qpos, np.zeros(robot.nv), np.zeros((links, 3)), np.zeros((links, 3)))
    controller, command = answered(robot, reference, state, target, Options())
    weight = robot.mass * 9.81
    assert np.allclose(controller.vertex_force_w.sum(axis=0), [0.0, 0.0, weight], atol=0.1)
    assert command.cop_w is not None
    assert np.allclose(command.cop_w[:2], target.com_w[:2], atol=1e-4)
    assert command.planned.all()


def test_a_foot_with_its_toe_has_six_vertices(robot: Robot, reference: Reference) -> None:
    """The toe's rear corners lie on the foot's front ones."""
    state, target = asked(robot, reference, np.random.default_rng(0))
    controller, _ = answered(robot, reference, state, target, Options())
    assert len(controller.footing.vertex_l) == 12


def test_impossible_stances_are_softened(robot: Robot, reference: Reference) -> None:
    """Knees that may not move cannot stop feet that fly apart: the hard program has no answer."""
    speed = np.full(len(robot.joint_names), 1e-3)
    slow = replace(robot, joint_speed=speed)
    target = reference.at(0)
    qvel = np.zeros(robot.nv)
    for name in ("left_knee", "right_knee", "left_hip_roll"):
        qvel[robot.joint_dofadr[robot.joint_names.index(name)]] = 8.0
    state = State(0.0, target.qpos, qvel, np.zeros((4, 3)), np.zeros((4, 3)))
    _, command = answered(slow, reference, state, target, Options(stance_damping=0.0))
    assert command.softened
    assert np.isfinite(command.value).all()
    assert np.all(np.abs(command.value) <= robot.joint_torque)


def test_a_state_that_is_no_number_gives_no_torque(robot: Robot, reference: Reference) -> None:
    state, target = asked(robot, reference, np.random.default_rng(0))
    state.qvel[3] = np.nan
    _, command = answered(robot, reference, state, target, Options())
    assert command.softened
    assert np.array_equal(command.value, np.zeros(len(robot.joint_names)))


def test_the_same_steps_give_the_same_bits(robot: Robot, reference: Reference) -> None:
    """After a reset nothing of the first run is left."""
    controller = strict.make(robot, reference.patches, dt=reference.dt)
    runs = []
    for _ in range(2):
        rng = np.random.default_rng(3)
        controller.reset()
        steps = [asked(robot, reference, rng, hardness=8.0) for _ in range(5)]
        runs.append([controller.command(*step).value for step in steps])
    assert np.array_equal(runs[0], runs[1])


def test_two_sides_are_refused(robot: Robot, reference: Reference) -> None:
    with pytest.raises(BadOption, match="at least 3 sides, got 2"):
        strict.make(robot, reference.patches, dt=0.002, options=Options(cone_sides=2))


def test_a_weight_of_zero_is_refused(robot: Robot, reference: Reference) -> None:
    with pytest.raises(BadOption, match="must be positive"):
        strict.make(robot, reference.patches, dt=0.002, options=Options(force_weight=0.0))


def test_human25_stands(robot: Robot, reference: Reference) -> None:
    """1.7 s with settling and holding, within 1 mm; forces of the ground sum to m g to 1 %."""
    controller = strict.make(robot, reference.patches, dt=reference.dt)
    found = run(robot, reference, controller)
    assert not found.fell
    assert found.softened == 0
    assert max(found.com_error) < 1e-3
    total = np.array(found.force_w)[-200:].sum(axis=1)
    assert np.allclose(total, [0.0, 0.0, robot.mass * 9.81], atol=0.01 * robot.mass * 9.81)
