"""New times: every pose at its new moment, contacts with them, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from make.clips import robot_clip
from surefoot.adapters.timing import Timing, key_frames, retimed
from surefoot.errors import BadMotion


def bump(time: np.ndarray, start: float, end: float, size: float) -> np.ndarray:
    tau = np.clip((time - start) / (end - start), 0.0, 1.0)
    return size * 64.0 * tau**3 * (1.0 - tau) ** 3


def test_every_pose_is_realised_at_its_new_time() -> None:
    clip = robot_clip()
    shift = bump(clip.motion.time, 0.4, 1.4, 0.1)
    new = retimed(clip, Timing(clip.motion.time, shift), what="warp")
    np.testing.assert_allclose(new.motion.time, clip.motion.time + shift, atol=1e-9)
    np.testing.assert_array_equal(new.motion.root_pos, clip.motion.root_pos)
    np.testing.assert_array_equal(new.motion.joint_pos, clip.motion.joint_pos)


def test_the_duration_stays() -> None:
    clip = robot_clip()
    new = retimed(clip, Timing(clip.motion.time, bump(clip.motion.time, 0.4, 1.4, 0.1)), what="w")
    assert abs(new.motion.duration - clip.motion.duration) < 1e-9


def test_contacts_follow_the_same_function() -> None:
    clip = robot_clip()
    timing = Timing(clip.motion.time, bump(clip.motion.time, 0.4, 1.4, 0.1))
    new = retimed(clip, timing, what="warp")
    for old, moved in zip(clip.contacts.stances, new.contacts.stances, strict=True):
        expected = timing(np.array([old.start, old.end]))
        np.testing.assert_allclose([moved.start, moved.end], expected, atol=1e-12)


def test_far_from_a_shift_nothing_moves() -> None:
    time = np.arange(100) / 30.0
    timing = Timing(time, bump(time, 1.0, 1.5, 0.05))
    far = np.array([0.0, 0.3, 0.55, 2.0, 3.2])
    np.testing.assert_array_equal(timing(far), far)
    np.testing.assert_array_equal(timing.slope(far), 1.0)


def test_the_slope_is_the_derivative() -> None:
    time = np.arange(100) / 30.0
    timing = Timing(time, bump(time, 1.0, 2.0, 0.1))
    s, step = np.linspace(0.9, 2.1, 301), 1e-6
    differences = (timing(s + step) - timing(s - step)) / (2.0 * step)
    np.testing.assert_allclose(timing.slope(s), differences, atol=1e-6)


def test_backward_times_are_refused() -> None:
    time = np.arange(10) / 30.0
    shift = np.zeros(10)
    shift[4] = 0.05
    with pytest.raises(BadMotion, match="new times must keep the order of the old ones"):
        Timing(time, shift)


def test_dense_clips_have_key_frames_a_thirtieth_apart() -> None:
    keys = key_frames(np.arange(501) / 500.0)
    assert keys[0] == 0
    assert keys[-1] == 500
    assert np.abs(np.diff(keys) / 500.0 - 1.0 / 30.0).max() <= 0.002 + 1e-9


def test_sparse_clips_keep_all_frames() -> None:
    np.testing.assert_array_equal(key_frames(np.arange(20) / 25.0), np.arange(20))


def test_frames_between_keys_follow() -> None:
    clip = robot_clip(np.arange(1001) / 500.0)
    keys = clip.motion.time[key_frames(clip.motion.time)]
    timing = Timing(keys, bump(keys, 0.4, 1.4, 0.1))
    new = retimed(clip, timing, what="warp")
    expected = clip.motion.time + bump(clip.motion.time, 0.4, 1.4, 0.1)
    np.testing.assert_allclose(new.motion.time, expected, atol=2e-5)
