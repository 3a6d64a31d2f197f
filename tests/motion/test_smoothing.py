"""The low pass against its transfer function, scipy's smoothing spline, and a leg that stands."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from scipy.interpolate import make_smoothing_spline

from make.clips import robot_motion, uneven_time
from surefoot.errors import BadOption
from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Motion
from surefoot.motion.smoothing import smooth

NOWHERE = ContactSchedule()


def _wave(frequency: float, fps: float = 120.0, seconds: float = 4.0) -> Motion:
    t = np.arange(round(fps * seconds) + 1) / fps
    wave = np.sin(2.0 * np.pi * frequency * t)
    quat = rotation.from_rotvec(0.1 * wave[:, None] * [0.0, 0.0, 1.0])
    return Motion(t, wave[:, None] * [1.0, 0.0, 0.0], quat, ("a",), wave[:, None])


@pytest.mark.parametrize("frequency", [2.0, 6.0, 12.0])
def test_a_wave_keeps_the_share_of_a_double_butterworth_without_delay(frequency: float) -> None:
    """1 / (1 + (f / 6 Hz)⁴) in the middle of the clip; frames of 120/s add under 1 %."""
    motion = _wave(frequency)
    share = 1.0 / (1.0 + (frequency / 6.0) ** 4)
    smoothed, _ = smooth(motion, 6.0, NOWHERE)
    middle = slice(120, -120)
    assert np.abs(smoothed.joint_pos - share * motion.joint_pos)[middle].max() < 0.01
    assert np.abs(smoothed.root_pos - share * motion.root_pos)[middle].max() < 0.01
    angle = rotation.as_rotvec(smoothed.root_quat)[:, 2]
    assert np.abs(angle - 0.1 * share * motion.joint_pos[:, 0])[middle].max() < 0.001


def test_on_uneven_times_it_is_the_smoothing_spline() -> None:
    t = uneven_time(200)
    noise = np.random.default_rng(0).normal(size=(200, 3))
    motion = dataclasses.replace(robot_motion(t), joint_pos=noise)
    smoothed, _ = smooth(motion, 4.0, NOWHERE)
    h = np.diff(t)
    weight = np.concatenate([h[:1], h[:-1] + h[1:], h[-1:]]) / 2.0
    for column in range(3):
        spline = make_smoothing_spline(t, noise[:, column], weight, (8.0 * np.pi) ** -4)
        assert np.abs(smoothed.joint_pos[:, column] - spline(t)).max() < 1e-12


def test_a_straight_even_motion_is_left_alone_up_to_its_ends() -> None:
    t = uneven_time(50)
    line = np.stack([2.0 * t - 1.0, 0.0 * t, -t], axis=1)
    motion = dataclasses.replace(robot_motion(t), root_pos=line, joint_pos=line)
    smoothed, _ = smooth(motion, 3.0, NOWHERE)
    assert np.abs(smoothed.root_pos - line).max() < 1e-11
    assert np.abs(smoothed.joint_pos - line).max() < 1e-11


def test_played_backwards_it_smooths_the_same() -> None:
    motion = robot_motion(uneven_time(80))
    back = Motion(
        time=motion.time[-1] - motion.time[::-1],
        root_pos=motion.root_pos[::-1],
        root_quat=motion.root_quat[::-1],
        joint_names=motion.joint_names,
        joint_pos=motion.joint_pos[::-1],
    )
    forwards, backwards = smooth(motion, 5.0, NOWHERE)[0], smooth(back, 5.0, NOWHERE)[0]
    assert np.abs(forwards.joint_pos - backwards.joint_pos[::-1]).max() < 1e-11
    assert np.abs(np.sum(forwards.root_quat * backwards.root_quat[::-1], axis=1)).min() > 1 - 1e-12


class _Leg:
    """A thigh and a shank of 0.4 m in the plane: hips travel, the foot stands 0.55 s, then swings.

    Root x and z, hip and knee: closed forms both ways.
    """

    length = 0.4

    def __init__(self, fps: float) -> None:
        self.time = np.arange(round(4.0 * fps) + 1) / fps
        turn = self.time % 1.0
        # At the clip's ends every filter knows one side only: 0.2 s are left out.
        self.standing = (turn < 0.55) & (self.time > 0.2) & (self.time < 3.8)
        swing = np.clip((turn - 0.55) / 0.45, 0.0, 1.0)
        self.place = 0.6 * np.floor(self.time) + 0.15
        foot_x = self.place + 0.6 * (swing - np.sin(2.0 * np.pi * swing) / (2.0 * np.pi))
        foot_z = 0.08 * np.sin(np.pi * swing) ** 2
        hip_x, hip_z = 0.6 * self.time - 0.05, 0.72 + 0.01 * np.cos(4.0 * np.pi * self.time)
        dx, dz = foot_x - hip_x, foot_z - hip_z
        knee = np.pi - np.arccos(1.0 - (dx**2 + dz**2) / (2.0 * self.length**2))
        hip = np.arctan2(dx, -dz) + knee / 2.0
        still = 0.0 * hip_x
        self.motion = Motion(
            time=self.time,
            root_pos=np.stack([hip_x, still, hip_z], axis=1),
            root_quat=np.tile([1.0, 0.0, 0.0, 0.0], (len(self.time), 1)),
            joint_names=("hip", "knee"),
            joint_pos=np.stack([hip, knee], axis=1),
        )
        starts = np.arange(4.0)
        self.contacts = ContactSchedule(
            tuple(Stance("foot", s, s + 0.55, "point", np.zeros((1, 3))) for s in starts)
        )

    def slip(self, motion: Motion) -> float:
        """Largest distance of the standing foot from where it stood, m."""
        hip, knee = motion.joint_pos.T
        x = motion.root_pos[:, 0] + self.length * (np.sin(hip) + np.sin(hip - knee))
        z = motion.root_pos[:, 2] - self.length * (np.cos(hip) + np.cos(hip - knee))
        return float(np.hypot(x - self.place, z)[self.standing].max())


@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_contacts_keep_a_standing_foot_in_place(fps: float) -> None:
    """The swing bleeds 1.5 mm into the stances where nobody says when they begin and end."""
    leg = _Leg(fps)
    assert leg.slip(leg.motion) < 1e-12
    known, _ = smooth(leg.motion, 6.0, leg.contacts)
    unknown, _ = smooth(leg.motion, 6.0, NOWHERE)
    assert leg.slip(known) < 0.5e-3
    assert leg.slip(unknown) > 3.0 * leg.slip(known)


def test_noise_of_a_standing_foot_is_not_made_worse() -> None:
    """Noise of 1 mm and 0.11 degrees a frame, seed 1."""
    leg = _Leg(120.0)
    rng = np.random.default_rng(1)
    noisy = dataclasses.replace(
        leg.motion,
        root_pos=leg.motion.root_pos + 0.001 * rng.normal(size=leg.motion.root_pos.shape),
        joint_pos=leg.motion.joint_pos + 0.002 * rng.normal(size=leg.motion.joint_pos.shape),
    )
    smoothed, _ = smooth(noisy, 6.0, leg.contacts)
    assert leg.slip(smoothed) < 0.6 * leg.slip(noisy)


def test_what_it_changed_is_said_in_millimetres_and_degrees() -> None:
    motion = _wave(20.0)
    smoothed, (notice,) = smooth(motion, 6.0, NOWHERE)
    moved = 1000.0 * np.linalg.norm(smoothed.root_pos - motion.root_pos, axis=1).max()
    bent = np.degrees(np.abs(smoothed.joint_pos - motion.joint_pos).max())
    found = re.fullmatch(
        r"smoothing at 6 Hz moved the root by up to (\S+) mm and (\S+)°,"
        r" and joints by up to (\S+)° \('a' at \S+ s\)",
        notice.sentence,
    )
    assert found is not None
    assert float(found[1]) == pytest.approx(moved, abs=0.005)
    assert float(found[3]) == pytest.approx(bent, abs=0.0005)
    assert notice.value == pytest.approx(moved / 1000.0)


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_frames_have_nothing_to_smooth(n: int) -> None:
    motion = robot_motion(uneven_time(n))
    smoothed, notices = smooth(motion, 6.0, NOWHERE)
    assert smoothed is motion
    assert notices == ()


@pytest.mark.parametrize("n", [3, 4, 5])
def test_few_frames_are_smoothed(n: int) -> None:
    motion = robot_motion(uneven_time(n))
    smoothed, _ = smooth(motion, 6.0, NOWHERE)
    assert 0.0 < np.abs(smoothed.joint_pos - motion.joint_pos).max() < 0.1


def test_a_cutoff_of_zero_is_refused() -> None:
    with pytest.raises(BadOption, match="the cutoff must be a positive number of hertz, got 0"):
        smooth(robot_motion(), 0.0, NOWHERE)
