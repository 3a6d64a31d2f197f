"""Interpolation and derivatives against closed forms and MuJoCo's own difference of poses."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from make.clips import robot_clip, robot_motion, uneven_time
from surefoot.errors import BadMotion, BadOption
from surefoot.motion import rotation
from surefoot.motion.curves import (
    INTERPOLATIONS,
    Interpolation,
    as_interpolation,
    even_times,
    rates,
    resample,
    resample_clip,
)
from surefoot.motion.motion import Motion

both = pytest.mark.parametrize("interpolation", INTERPOLATIONS)

FREE_BODY = """
<mujoco>
  <worldbody>
    <body><freejoint/><geom size="0.1"/>
      <body><joint type="hinge"/><geom size="0.1"/>
        <body><joint type="hinge"/><geom size="0.1"/>
          <body><joint type="slide"/><geom size="0.1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def _sine(frequency: float, fps: float) -> Motion:
    t = np.arange(round(2.0 * fps) + 1) / fps
    still = np.zeros((len(t), 3))
    quat = np.tile([1.0, 0.0, 0.0, 0.0], (len(t), 1))
    return Motion(t, still, quat, ("a",), np.sin(2.0 * np.pi * frequency * t)[:, None])


def _about_x(angle: np.ndarray, time: np.ndarray) -> Motion:
    quat = rotation.from_rotvec(angle[:, None] * [1.0, 0.0, 0.0])
    return Motion(time, np.zeros((len(time), 3)), quat, (), np.zeros((len(time), 0)))


@both
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 60])
def test_at_its_own_frames_a_motion_keeps_every_digit(n: int, interpolation: Interpolation) -> None:
    motion = robot_motion(uneven_time(n))
    same = resample(motion, motion.time, interpolation=interpolation)
    assert np.array_equal(same.root_pos, motion.root_pos)
    assert np.array_equal(same.root_quat, rotation.continuous(motion.root_quat))
    assert np.array_equal(same.joint_pos, motion.joint_pos)


@both
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 60])
def test_rates_equal_mujocos_difference_of_resampled_poses(
    n: int, interpolation: Interpolation
) -> None:
    """Central differences over 2e-5 s: truncation 1e-10 × third derivative, rounding 1e-11."""
    model = mujoco.MjModel.from_xml_string(FREE_BODY)
    motion = robot_motion(uneven_time(n, seed=n))
    t = np.linspace(motion.time[0], motion.time[-1], 23)[1:-1]
    h = 1e-5

    def qpos(moment: np.ndarray) -> np.ndarray:
        m = resample(motion, moment, interpolation=interpolation)
        return np.concatenate([m.root_pos, m.root_quat, m.joint_pos], axis=1)

    def qvel(moment: np.ndarray) -> np.ndarray:
        r = rates(motion, interpolation=interpolation, time=moment)
        return np.concatenate([r.lin_vel_w, r.ang_vel_b, r.joint_vel], axis=1)

    found = rates(motion, interpolation=interpolation, time=t)
    acc = np.concatenate([found.lin_acc_w, found.ang_acc_b, found.joint_acc], axis=1)
    expected = np.zeros((len(t), model.nv))
    for row, before, after in zip(expected, qpos(t - h), qpos(t + h), strict=True):
        mujoco.mj_differentiatePos(model, row, 2.0 * h, before, after)
    assert np.abs(qvel(t) - expected).max() < 1e-8
    assert np.abs(acc - (qvel(t + h) - qvel(t - h)) / (2.0 * h)).max() < 2e-7


def _tumbling_errors(fps: int, interpolation: Interpolation) -> tuple[float, float]:
    """Largest errors of ω_b and α_b over two seconds, both ends included.

    R = Rz(a) Rx(b) has ω_b = (b', a' sin b, a' cos b); here a = 2 sin t and b = 0.7 t.
    """
    t = np.arange(2 * fps + 1) / fps
    found = rates(robot_motion(t), interpolation=interpolation)
    a1, a2, b, b1 = 2.0 * np.cos(t), -2.0 * np.sin(t), 0.7 * t, 0.7
    c, s = np.cos(b), np.sin(b)
    vel = np.stack([b1 + 0.0 * t, a1 * s, a1 * c], axis=1)
    acc = np.stack([0.0 * t, a2 * s + a1 * b1 * c, a2 * c - a1 * b1 * s], axis=1)
    errors = np.abs(found.ang_vel_b - vel).max(), np.abs(found.ang_acc_b - acc).max()
    return float(errors[0]), float(errors[1])


@both
def test_rates_of_a_tumbling_root_tend_to_the_closed_form(interpolation: Interpolation) -> None:
    """Order 3 for velocities and 2 for accelerations, up to the ends: 8 and 4 a doubling."""
    coarse, fine = (_tumbling_errors(fps, interpolation) for fps in (60, 120))
    assert fine[0] < 1e-6
    assert fine[1] < 3e-4
    assert fine[0] < coarse[0] / 6.5
    assert fine[1] < coarse[1] / 3.5


@pytest.mark.parametrize(
    ("interpolation", "frequency", "fps", "expected", "rounding"),
    [
        ("six-frame", 1.0, 30.0, 0.0017, 0.03),
        ("six-frame", 2.0, 30.0, 0.014, 0.04),
        ("six-frame", 1.0, 120.0, 0.00003, 0.17),
        ("spline", 1.0, 30.0, 0.0035, 0.05),
        ("spline", 2.0, 30.0, 0.014, 0.04),
        ("spline", 1.0, 120.0, 0.0002, 0.25),
    ],
)
def test_acceleration_of_a_sine_errs_as_the_notes_computed(
    interpolation: Interpolation, frequency: float, fps: float, expected: float, rounding: float
) -> None:
    """Peak error over peak acceleration inside the clip; the four-frame form has 0.05 to 0.39.

    The notes give two digits at most; `rounding` is half of the last one.
    """
    motion = _sine(frequency, fps)
    t = np.linspace(0.5, 1.5, 2001)
    omega = 2.0 * np.pi * frequency
    truth = -(omega**2) * np.sin(omega * t)
    error = rates(motion, interpolation=interpolation, time=t).joint_acc[:, 0] - truth
    digits = 10.0 ** np.floor(np.log10(expected))
    assert abs(np.abs(error).max() / omega**2 - expected) < 0.5 * digits / (
        10 if expected > 2e-3 else 1
    )


@both
def test_velocity_and_acceleration_are_continuous_across_frames(
    interpolation: Interpolation,
) -> None:
    motion = robot_motion(uneven_time(30))
    inner = motion.time[1:-1]
    left = rates(motion, interpolation=interpolation, time=inner - 1e-9)
    right = rates(motion, interpolation=interpolation, time=inner + 1e-9)
    for name in ("lin_vel_w", "ang_vel_b", "joint_vel", "lin_acc_w", "ang_acc_b", "joint_acc"):
        assert np.abs(getattr(left, name) - getattr(right, name)).max() < 1e-5


def test_a_frame_moves_the_six_frame_curve_only_three_frames_around() -> None:
    motion = robot_motion(uneven_time(30))
    nudged = motion.joint_pos.copy()
    nudged[15] += 0.1
    other = dataclasses.replace(motion, joint_pos=nudged)
    t = np.linspace(motion.time[0], motion.time[-1], 3001)
    differs = np.any(
        resample(motion, t, interpolation="six-frame").joint_pos
        != resample(other, t, interpolation="six-frame").joint_pos,
        axis=1,
    )
    assert motion.time[12] <= t[differs].min() < motion.time[13]
    assert motion.time[17] < t[differs].max() <= motion.time[18]


@both
def test_turning_world_and_root_frame_turns_the_curve(interpolation: Interpolation) -> None:
    motion = robot_motion(uneven_time(20))
    world = rotation.from_rotvec(np.array([0.3, -1.0, 2.0]))
    own = rotation.from_rotvec(np.array([-0.7, 0.2, 1.0]))
    turned = dataclasses.replace(
        motion, root_quat=rotation.multiply(rotation.multiply(world, motion.root_quat), own)
    )
    t = np.linspace(motion.time[0], motion.time[-1], 50)
    a = resample(motion, t, interpolation=interpolation).root_quat
    b = resample(turned, t, interpolation=interpolation).root_quat
    back = rotation.multiply(
        rotation.conjugate(world), rotation.multiply(b, rotation.conjugate(own))
    )
    assert np.abs(np.abs(np.sum(back * a, axis=1)) - 1.0).max() < 1e-14


@both
def test_the_sign_of_a_quaternion_means_nothing(interpolation: Interpolation) -> None:
    motion = robot_motion()
    flipped = dataclasses.replace(
        motion, root_quat=motion.root_quat * np.where(np.arange(motion.n) % 3, 1.0, -1.0)[:, None]
    )
    a = rates(motion, interpolation=interpolation)
    b = rates(flipped, interpolation=interpolation)
    assert np.abs(a.ang_acc_b - b.ang_acc_b).max() < 1e-10


@both
def test_constant_turning_stays_constant(interpolation: Interpolation) -> None:
    """One turn a second at 30 frames/s, 12 degrees a frame."""
    turn = 2.0 * np.pi
    t = np.arange(61) / 30.0
    found = rates(
        _about_x(turn * t, t), interpolation=interpolation, time=np.linspace(0.5, 1.5, 500)
    )
    assert np.abs(found.ang_vel_b - [turn, 0.0, 0.0]).max() < 1e-5 * turn
    assert np.abs(found.ang_acc_b).max() < 2e-4 * turn**2


@both
def test_two_frames_are_joined_by_one_steady_turn(interpolation: Interpolation) -> None:
    motion = _about_x(np.array([0.0, 2.0]), np.array([1.0, 1.5]))
    found = rates(motion, interpolation=interpolation, time=np.linspace(1.0, 1.5, 9))
    assert np.abs(found.ang_vel_b - [4.0, 0.0, 0.0]).max() < 1e-14
    assert np.abs(found.ang_acc_b).max() < 1e-14


@both
def test_a_parabola_keeps_its_acceleration_up_to_both_ends(interpolation: Interpolation) -> None:
    """A natural spline would begin with none."""
    t = uneven_time(12)
    motion = dataclasses.replace(robot_motion(t), root_pos=np.stack([t**2, -(t**2), 3 * t], axis=1))
    found = rates(motion, interpolation=interpolation)
    assert np.abs(found.lin_acc_w - [2.0, -2.0, 0.0]).max() < 1e-9


def test_even_times_hold_both_ends() -> None:
    assert even_times(0.0, 8.0, 200.0).shape == (1601,)
    odd = even_times(0.1, 1.137, 50.0)
    assert odd[0] == 0.1
    assert odd[-1] == 1.137
    assert np.ptp(np.diff(odd)) < 1e-15
    assert abs(np.diff(odd)[0] * 50.0 - 1.0) < 0.01
    assert even_times(2.0, 2.0, 50.0).tolist() == [2.0]
    assert even_times(0.0, 0.001, 50.0).tolist() == [0.0, 0.001]


def test_even_times_refuse_a_rate_of_zero_and_an_end_before_the_start() -> None:
    with pytest.raises(BadOption, match=r"the rate must be a positive number.*got 0"):
        even_times(0.0, 1.0, 0.0)
    with pytest.raises(BadOption, match=r"expected an end after the start, got 1.0 s to 0.5 s"):
        even_times(1.0, 0.5, 30.0)


def test_moments_outside_the_motion_are_refused_and_rounding_is_not() -> None:
    motion = robot_motion()
    with pytest.raises(BadMotion, match=r"moments from 0 to 5 s lie outside the motion \(0 to 1"):
        resample(motion, np.array([0.0, 5.0]))
    end = resample(motion, np.array([motion.time[-1] + 1e-12]))
    assert np.array_equal(end.joint_pos[0], motion.joint_pos[-1])


def test_one_frame_has_no_velocity() -> None:
    with pytest.raises(BadMotion, match="velocities need at least 2 frames, got 1"):
        rates(robot_motion(np.array([0.0])))


def test_arbitrary_turns_at_uneven_times_are_interpolated_or_refused_but_never_nan() -> None:
    """500 draws, seed 0; steps from 1 ms to 1 s make the spline overshoot."""
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(500):
        t = np.cumsum(10.0 ** rng.uniform(-3.0, 0.0, 5))
        quat = rotation.unit(rng.normal(size=(5, 4)))
        motion = Motion(t, np.zeros((5, 3)), quat, (), np.zeros((5, 0)))
        try:
            found = rates(motion, time=np.linspace(t[0], t[-1], 400))
            assert np.all(np.isfinite(found.ang_acc_b))
        except BadMotion as error:
            refused += 1
            assert error.what == (  # noqa: PT017  # both outcomes are right, the sentence is one
                "the root turns so far from frame to frame that its way cannot be told"
            )
    assert 0 < refused < 50


def test_an_unknown_interpolation_names_the_known_ones() -> None:
    with pytest.raises(BadOption, match=r"unknown interpolation 'cubic'.*six-frame, spline"):
        as_interpolation("cubic")


def test_a_resampled_clip_keeps_contacts_and_says_what_was_done() -> None:
    clip = robot_clip()
    clip = dataclasses.replace(clip, extra={"by_frame": np.zeros((60, 2)), "whole": np.zeros(3)})
    t = even_times(0.0, clip.motion.duration, 100.0)
    new = resample_clip(clip, t, interpolation="six-frame")
    assert new.contacts == clip.contacts
    assert new.motion.n == len(t)
    assert new.com_w is not None
    assert np.abs(new.com_w - new.motion.root_pos - [0.0, 0.0, 0.1]).max() < 1e-12
    assert new.meta.history[-1].what == "resample"
    assert new.meta.history[-1].parameters["interpolation"] == "six-frame"
    assert list(new.extra) == ["whole"]
    assert new.notices[-1].sentence == (
        "unknown array 'by_frame' has one row a frame and was not resampled"
    )
