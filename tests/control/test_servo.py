"""Joint servos: what they are told, and that they hold a robot."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import surefoot as sf
from make.walkers import swaying_clip, walker
from surefoot.control.reference import reference_of
from surefoot.control.servo import Options, make_plain
from surefoot.control.target import State
from surefoot.errors import BadOption
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip
from surefoot.simulation.simulator import simulate


def test_targets_are_led_by_what_the_damping_takes() -> None:
    """τ = k_p (q_cmd − q) − k_d q̇ is zero on the reference: q_cmd = q + (k_d / k_p) q̇."""
    robot = walker()
    reference = reference_of(swaying_clip(robot), robot)
    driver = make_plain(robot, reference.patches, dt=reference.dt)
    target = reference.at(700)
    nothing = np.zeros((2, 3))
    state = State(target.time, target.qpos, target.qvel, nothing, nothing)
    command = driver.command(state, target)
    kp, kd = driver.servo_gains
    q, v = target.qpos[robot.joint_qposadr], target.qvel[robot.joint_dofadr]
    assert np.abs(v).max() > 0.1
    assert np.allclose(kp * (command.value - q) - kd * v, 0.0, atol=1e-9)


def test_stiffness_follows_weight_and_height() -> None:
    """m g h of the walker by the engine's own centre of mass."""
    robot = walker()
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.home
    mujoco.mj_fwdPosition(robot.model, data)
    mgh = robot.mass * 9.81 * float(data.subtree_com[0, 2])
    reference = reference_of(swaying_clip(robot), robot)
    driver = make_plain(robot, reference.patches, dt=0.002, options=Options(stiffness_over_mgh=2.0))
    assert driver.stiffness == pytest.approx(2.0 * mgh, rel=1e-9)


def test_negative_damping_is_refused() -> None:
    with pytest.raises(BadOption, match="damping_s must be positive, got -1"):
        Options(damping_s=-1.0)


@pytest.mark.slow
def test_servos_alone_hold_a_robot_that_stands_still() -> None:
    robot = sf.load_robot("human25")
    time = np.array([0.0, 1.0, 2.0])
    motion = robot.motion(np.repeat(np.array(robot.home)[None], 3, axis=0), time)
    stances = tuple(Stance(s.link, 0.0, 2.0, "face", s.polygon_l) for s in robot.soles)
    found = simulate(Clip(motion, ContactSchedule(stances)), robot, controller="pd")
    assert found.stood
    assert found.tracking.com_error_max_m < 0.02
