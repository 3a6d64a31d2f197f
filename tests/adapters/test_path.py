"""The affine form of the required wrench along a path, and the dynamics of the warped motion."""

from __future__ import annotations

import numpy as np

from surefoot.adapters.adaptation import judged
from surefoot.adapters.path import Path
from surefoot.adapters.timing import Timing, retimed
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.wrench import momentum_rate, required_wrench
from surefoot.index.index import Feasibility
from surefoot.motion.curves import resample_clip


def bump(time: np.ndarray, start: float, end: float, size: float) -> np.ndarray:
    tau = np.clip((time - start) / (end - start), 0.0, 1.0)
    return size * 64.0 * tau**3 * (1.0 - tau) ** 3


def test_the_form_is_the_inverse_dynamics_of_the_warped_motion(
    path: Path, sidestep: Feasibility
) -> None:
    """Velocities V ṡ and accelerations V s̈ + V' ṡ², through the rigid-body dynamics directly."""
    window = path.window(1.4, 2.6)
    shift = bump(window.frame_time, 1.4, 2.6, 0.05)[None]
    speed, rate = window.rates(shift)
    batch = path.samples.batch
    rows = window.samples
    direct = Batch(
        sidestep.robot,
        batch.qpos[rows],
        batch.qvel[rows] * speed[0][:, None],
        batch.qvel[rows] * rate[0][:, None] + batch.qacc[rows] * (speed[0] ** 2)[:, None],
    )
    expected = required_wrench(direct, path.samples.ref_w[rows])
    np.testing.assert_allclose(
        window.wrenches(speed, rate)[0], expected, atol=1e-9 * sidestep.weight_n
    )


def test_the_form_agrees_with_differences_of_momentum(sidestep: Feasibility) -> None:
    """Of the warped clip as written, at 500 frames a second, by central differences.

    The differences err by 2 (h²/6 of a third derivative: under 0.1 N), the re-interpolation of
    500 frames a second by less.
    """
    time = np.arange(1.0, 3.0, 0.002)
    clip = resample_clip(sidestep.clip, time)
    shift = bump(time, 1.4, 2.6, 0.05)
    warped = retimed(clip, Timing(time, shift), what="warp")
    before, after = judged(clip, sidestep.robot), judged(warped, sidestep.robot)
    momentum = after.samples.batch.momentum[:, :3]
    t = after.time
    inner = np.flatnonzero((t[1:-1] > t[:-2] + 5e-4) & (t[2:] > t[1:-1] + 5e-4)) + 1
    slow = (momentum[inner + 1] - momentum[inner - 1]) / (t[inner + 1] - t[inner - 1])[:, None]
    np.testing.assert_allclose(slow, momentum_rate(after.samples.batch)[inner, :3], atol=3.0)
    # The form, at the frames' own places: t(s) of frame i is time[i] + shift[i].
    at = np.searchsorted(before.time, time[250:-250])
    s = before.time[at]
    slope, step = np.gradient(time + shift, time), 0.002
    bend = np.gradient(slope, step)
    speed = 1.0 / np.interp(s, time, slope)
    rate = -np.interp(s, time, bend) * speed**3
    a = before.samples.batch.momentum[at, :3]
    b = momentum_rate(before.samples.batch)[at, :3]
    form = a * rate[:, None] + b * (speed**2)[:, None]
    place = np.searchsorted(after.time, (time + shift)[250:-250])
    found = momentum_rate(after.samples.batch)[np.minimum(place, len(after.time) - 1), :3]
    assert np.median(np.abs(form - found)) < 0.5


def test_uniform_speed_follows_the_square_law(path: Path, sidestep: Feasibility) -> None:
    """At speed k the wrench is c + k² (w − c): that of the same clip with all times over k."""
    k = 0.8
    window = path.window(0.5, 5.0)
    m = len(window.samples)
    form = window.wrenches(np.full((1, m), k), np.zeros((1, m)))[0]
    samples = path.samples
    still, moving = samples.still[window.samples], samples.wrench[window.samples]
    np.testing.assert_allclose(form, still + k**2 * (moving - still), atol=1e-6)
    slower = retimed_evenly(sidestep, k)
    frames = np.searchsorted(slower.time, sidestep.clip.motion.time[5:-5] / k - 1e-9)
    own = np.searchsorted(sidestep.time, sidestep.clip.motion.time[5:-5] - 1e-9)
    law = samples.still[own] + k**2 * (samples.wrench[own] - samples.still[own])
    np.testing.assert_allclose(slower.samples.wrench[frames], law, atol=1e-5)


def retimed_evenly(sidestep: Feasibility, k: float) -> Feasibility:
    time = sidestep.clip.motion.time
    whole = Timing(time, time * (1.0 / k - 1.0))
    return judged(retimed(sidestep.clip, whole, what="slower"), sidestep.robot)


def test_the_clip_as_it_is_has_its_own_wrenches(path: Path) -> None:
    window = path.window(1.4, 2.6)
    w = window.wrenches(*window.rates(np.zeros((1, len(window.frames)))))[0]
    np.testing.assert_allclose(w, path.samples.wrench[window.samples], atol=1e-8)


def test_rates_are_those_of_the_timing(path: Path) -> None:
    window = path.window(1.4, 2.6)
    shift = bump(window.frame_time, 1.4, 2.6, 0.05)
    slope = window.timing(shift).slope(path.s[window.samples])
    np.testing.assert_allclose(window.rates(shift[None])[0][0], 1.0 / slope, atol=1e-9)


def test_a_window_without_frames_moves_nothing(path: Path) -> None:
    window = path.window(1.8681, 1.8682)
    assert len(window.frames) == 0
    assert len(window.samples) == 0
