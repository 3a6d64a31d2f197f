"""The loop: limits that hold, runs that repeat to the bit, falls that are seen and timed."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import mujoco
import numpy as np
import pytest

from make.posers import Holder, Posing, standing_patches
from make.robots import biped, planar
from surefoot.control.target import Command, State, Target
from surefoot.errors import BadOption, UnknownName
from surefoot.kernels.contact_forces import by_link
from surefoot.kernels.motors import servos, torques
from surefoot.motion.contact import Terrain
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import TYPICAL_NOISE, Noise, Push
from surefoot.simulation.loop import run, warm_up
from surefoot.simulation.scene import Settings, scene_of
from surefoot.simulation.trace import TIMES, Trace, arrays_of


def _ran(
    robot: Robot, controller: Holder | None = None, *, seconds: float = 0.5, **options: Any
) -> Trace:
    controller = controller or Holder(robot)
    source = options.pop("source", None) or Posing(robot, seconds=seconds)
    scene = scene_of(
        robot,
        options.pop("terrain", Terrain()),
        drive=controller.drive,
        servo_gains=controller.servo_gains,
        settings=options.pop("settings", None),
        **{key: options.pop(key) for key in ("shift_m", "mass_factor") if key in options},
    )
    return run(scene, source, controller, **{"hold_s": 0.1, **options})


@pytest.mark.parametrize("make", [biped, planar])
def test_a_robot_on_stiff_servos_stands(make: Any, tmp_path: pathlib.Path) -> None:
    robot = make(tmp_path)
    trace = _ran(robot)
    assert (trace.end, trace.fell_at, trace.failure) == ("completed", None, "")
    assert trace.steps == 100 + 251 + 50  # settling, the clip, the last frame held
    assert trace.time[0] == pytest.approx(-0.2)
    assert trace.time[-1] == pytest.approx(0.6)
    weight = robot.mass * 9.81
    pressing = trace.contact_force_w[-100:, :, 2].sum(axis=1)  # they still swing a little
    assert pressing.mean() == pytest.approx(weight, rel=0.02)
    assert np.all(trace.measured[-1])
    assert int(trace.in_clip.sum()) == 251
    assert not trace.stray_n.any()


def test_the_trace_repeats_in_plain_mujoco_to_the_bit(tmp_path: pathlib.Path) -> None:
    """Only ctrl and qfrc_applied are written between steps."""
    robot = biped(tmp_path)
    push = Push(0.1, np.array([30.0, 10.0, 0.0]))
    trace = _ran(robot, pushes=(push,), noise=TYPICAL_NOISE)
    model = mujoco.MjModel.from_xml_string(trace.scene.xml)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = trace.qpos[0], trace.qvel[0]
    for k in range(trace.steps):
        np.testing.assert_array_equal(data.qpos, trace.qpos[k])
        np.testing.assert_array_equal(data.qvel, trace.qvel[k])
        data.ctrl[:], data.qfrc_applied[:] = trace.ctrl[k], trace.applied[k]
        mujoco.mj_step(model, data, nstep=trace.scene.settings.steps_per_control)


def test_the_same_run_twice_is_the_same_to_the_bit(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    one, other = (
        _ran(robot, noise=TYPICAL_NOISE, rng=np.random.default_rng(3), seconds=0.2)
        for _ in range(2)
    )
    for name, values in arrays_of(one).items():
        if name not in TIMES:
            np.testing.assert_array_equal(values, getattr(other, name), err_msg=name)


@dataclasses.dataclass
class Strong(Holder):
    """Asks for a thousand newton-metres of every joint, one way and the other."""

    drive: Any = "torque"

    def command(self, state: State, target: Target) -> Command:
        self.step += 1
        size = 1000.0 * (-1.0) ** (self.step // 7)
        m = len(self.robot.joint_names)
        return Command(value=np.full(m, size), planned=np.ones(2, dtype=np.bool_))


def test_torque_limits_hold_at_every_step(tmp_path: pathlib.Path) -> None:
    robot = dataclasses.replace(biped(tmp_path), joint_torque=np.arange(1.0, 9.0))
    trace = _ran(robot, Strong(robot), after_fall_s=1.0)
    assert np.all(np.abs(trace.ctrl) <= robot.joint_torque)
    assert np.all(np.abs(trace.torque) <= robot.joint_torque)
    assert np.abs(trace.torque).max() == pytest.approx(8.0)
    assert trace.saturated.all()


def test_torque_limits_hold_for_servos(tmp_path: pathlib.Path) -> None:
    """Weak joints: with more the largest torque of these servos is 0.6 N m."""
    robot = dataclasses.replace(biped(tmp_path), joint_torque=np.full(8, 0.2))
    trace = _ran(robot, after_fall_s=1.0, seconds=1.0)
    assert np.abs(trace.torque).max() == pytest.approx(0.2)
    assert np.all(np.abs(trace.torque) <= 0.2)
    assert trace.saturated.any()


def test_near_its_speed_limit_a_joint_can_only_brake(tmp_path: pathlib.Path) -> None:
    """Torque of 10 N m, limit 2 rad/s: all below 1.8, (1 − v / 2) / 0.1 of it above, none at 2."""
    robot = dataclasses.replace(
        biped(tmp_path), joint_torque=np.full(8, 10.0), joint_speed=np.full(8, 2.0)
    )
    trace = _ran(robot, Strong(robot), after_fall_s=1.0)
    speed = trace.qvel[:, robot.joint_dofadr]
    size = np.abs(trace.ctrl)
    driving, braking = trace.ctrl * speed > 0.0, trace.ctrl * speed < 0.0
    left = np.clip((1.0 - np.abs(speed) / 2.0) / 0.1, 0.0, 1.0)
    np.testing.assert_allclose(size[driving], 10.0 * left[driving], rtol=1e-12)
    np.testing.assert_array_equal(size[braking], 10.0)
    assert (driving & (left < 1.0)).any()
    off = _ran(robot, Strong(robot), settings=Settings(speed_limits=False), after_fall_s=0.1)
    np.testing.assert_array_equal(np.abs(off.ctrl), 10.0)


def test_a_robot_without_torque_falls_and_is_seen_to(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    trace = _ran(robot, Holder(robot, "torque"), seconds=3.0)
    assert trace.end == "fell"
    assert trace.fell_at is not None
    assert trace.time[-1] == pytest.approx(trace.fell_at + 0.3)  # it goes on a little
    k = int(np.argmin(np.abs(trace.time - trace.fell_at)))
    low = trace.com_w[:, 2] < 0.6 * trace.target_com_w[:, 2]
    stray = np.concatenate([[False], trace.stray_n[:-1] > 0.01 * trace.weight_n])
    assert int(np.argmax(low | stray)) == k


def test_a_fall_on_the_knees_is_seen_by_what_touches(tmp_path: pathlib.Path) -> None:
    """Nothing but feet may touch the ground: this robot drops on its bent legs."""
    robot = biped(tmp_path)
    pose = np.array(robot.home)
    pose[robot.joint_qposadr[[2, 6]]] = 1.6  # knees
    pose[2] = 0.5
    trace = _ran(robot, source=Posing(robot, seconds=2.0, qpos=pose, holds=False))
    assert trace.end == "fell"
    touched = {robot.link_names[i - 1] for i in trace.stray_link[trace.stray_n > 0.0]}
    assert touched
    assert not touched & {"left_foot", "right_foot"}


@dataclasses.dataclass
class Broken(Holder):
    """Fails in one of three ways after 50 steps."""

    how: str = "nan"

    def command(self, state: State, target: Target) -> Command:
        command = super().command(state, target)
        if self.step > 50:
            if self.how == "solver":
                raise np.linalg.LinAlgError("Singular matrix")
            command.value[:] = np.nan if self.how == "nan" else np.inf
        return command


@pytest.mark.parametrize(
    ("how", "failure"),
    [
        ("nan", "the controller's command is not finite"),
        ("inf", "the controller's command is not finite"),
        ("solver", "the controller failed: Singular matrix"),
    ],
)
def test_no_command_is_a_fall_with_its_time(how: str, failure: str, tmp_path: pathlib.Path) -> None:
    """50 steps of 2 ms after −0.2 s."""
    robot = biped(tmp_path)
    trace = _ran(robot, Broken(robot, how=how))
    assert (trace.end, trace.failure) == ("no command", failure)
    assert trace.fell_at == pytest.approx(-0.1)
    assert trace.steps == 51
    assert all(np.isfinite(a).all() for a in arrays_of(trace).values())


def test_a_state_that_diverges_is_a_fall_with_its_time(tmp_path: pathlib.Path) -> None:
    """A push of 1e14 N: velocities beyond all bounds, and no restart of the engine."""
    robot = biped(tmp_path)
    trace = _ran(robot, pushes=(Push(0.1, np.array([0.0, 0.0, 1e14]), 0.002),))
    assert trace.end == "diverged"
    assert trace.fell_at == pytest.approx(0.102)
    assert trace.time[-1] == pytest.approx(0.1)
    assert all(np.isfinite(a).all() for a in arrays_of(trace).values())


def test_a_push_gives_the_impulse_that_was_asked_for(tmp_path: pathlib.Path) -> None:
    """In flight, 25 N for 0.013 s on the pelvis: 0.325 N s, whatever the control steps are."""
    robot = biped(tmp_path)
    pose = np.array(robot.home)
    pose[2] += 5.0
    source = Posing(robot, seconds=0.2, qpos=pose, holds=False)
    push = Push(0.0505, np.array([25.0, 0.0, 0.0]), 0.013, "pelvis")
    trace = _ran(robot, source=source, pushes=(push,))
    velocity = np.diff(trace.com_w[:, 0])[-1] / trace.dt
    assert robot.mass * velocity == pytest.approx(0.325, rel=1e-3)
    assert trace.time[0] == 0.0  # what flies is not settled
    with pytest.raises(UnknownName, match="link 'hip' is not in robot"):
        _ran(robot, pushes=(Push(0.0, np.ones(3), 0.1, "hip"),))


def test_a_delay_holds_commands_back(tmp_path: pathlib.Path) -> None:
    """Two steps of 2 ms; before, servos hold where the joints are."""
    robot = biped(tmp_path)
    counting = Holder(robot, change=lambda step, value: value + 1e-6 * step)
    trace = _ran(robot, counting, delay_s=0.004, seconds=0.1)
    first = trace.qpos[0, robot.joint_qposadr]
    np.testing.assert_allclose(
        trace.ctrl[2:], first + 1e-6 * np.arange(len(trace.ctrl) - 2)[:, None], atol=1e-12
    )
    np.testing.assert_array_equal(trace.ctrl[0], first)
    with pytest.raises(BadOption, match=r"a delay of 0\.003 s is no whole number of control steps"):
        _ran(robot, delay_s=0.003)


def test_noise_has_the_deviations_asked_for_and_stays_out_of_the_trace(
    tmp_path: pathlib.Path,
) -> None:
    robot = biped(tmp_path)
    seen: list[State] = []

    class Listening(Holder):
        def command(self, state: State, target: Target) -> Command:
            seen.append(state)
            return super().command(state, target)

    noise = Noise(
        joint_pos=1e-3, joint_vel=0.05, root_pos=2e-3, root_vel=0.02, root_spin=0.1, force_n=3.0
    )
    trace = _ran(robot, Listening(robot), noise=noise, seconds=2.0)
    joints = np.array([state.qpos[7:] for state in seen]) - trace.qpos[:, 7:]
    rates = np.array([state.qvel for state in seen]) - trace.qvel
    places = np.array([state.qpos[:3] for state in seen]) - trace.qpos[:, :3]
    assert joints.std() == pytest.approx(1e-3, rel=0.05)
    assert rates[:, 6:].std() == pytest.approx(0.05, rel=0.05)
    assert rates[:, :3].std() == pytest.approx(0.02, rel=0.05)
    assert rates[:, 3:6].std() == pytest.approx(0.1, rel=0.05)
    assert places.std() == pytest.approx(2e-3, rel=0.05)
    assert np.abs(np.mean(joints)) < 1e-4
    norms = [np.linalg.norm(state.qpos[3:7]) for state in seen]
    np.testing.assert_allclose(norms, 1.0, atol=1e-12)


def test_a_robot_is_set_down_on_ground_that_was_moved(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    trace = _ran(robot, shift_m=[0.03])
    assert trace.end == "completed"
    assert trace.qpos[0, 2] == pytest.approx(robot.home[2] + 0.03)
    assert trace.target_qpos[0, 2] == robot.home[2]


def test_what_does_not_fit_is_refused(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    scene = scene_of(robot, Terrain())
    holder = Holder(robot, "torque")
    with pytest.raises(BadOption, match=r"targets come every 0\.01 s, commands every 0\.002 s"):
        run(scene, Posing(robot, seconds=0.1, dt=0.01), holder)
    with pytest.raises(BadOption, match="the scene has torque drives, the controller needs servo"):
        run(scene, Posing(robot, seconds=0.1), Holder(robot))
    with pytest.raises(BadOption, match="hold_s must be 0 or more, got -1"):
        run(scene, Posing(robot, seconds=0.1), holder, hold_s=-1.0)
    with pytest.raises(BadOption, match="settle_s must be 0 or more"):
        run(scene, Posing(robot, seconds=0.1), holder, settle_s=-1.0)


def test_a_trace_survives_pickling_locked(tmp_path: pathlib.Path) -> None:
    import pickle

    trace = _ran(biped(tmp_path), seconds=0.01)
    copy = pickle.loads(pickle.dumps(trace))
    for name, values in arrays_of(trace).items():
        np.testing.assert_array_equal(values, getattr(copy, name))
        assert not getattr(copy, name).flags.writeable
    assert len(standing_patches(trace.scene.robot).link_names) == 2


def test_the_kernels_are_compiled_once_and_ahead(tmp_path: pathlib.Path) -> None:
    """Not once more by a run, whatever the drive."""
    robot = biped(tmp_path)
    warm_up(robot)
    kernels = (by_link, torques, servos)
    before = [len(kernel.signatures) for kernel in kernels]
    _ran(robot, seconds=0.01)
    _ran(robot, Holder(robot, "torque"), seconds=0.01)
    assert [len(kernel.signatures) for kernel in kernels] == before
