"""Moments, wrenches and reference points of the index, against the engine and by hand."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from make.robots import biped
from make.verdicts import clip_of, lifting, lively, sole_stance
from surefoot.index.samples import Reference, Samples, sampled, without_slivers
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot


@pytest.fixture(scope="module")
def two_legs(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("biped"))


@pytest.fixture(scope="module")
def moving(two_legs: Robot) -> Clip:
    """Uneven frame times, and contacts that change between frames."""
    motion = lively(two_legs)
    end = float(motion.time[-1])
    return clip_of(
        motion,
        two_legs,
        sole_stance(two_legs, "left", 0.0, 0.4567),
        sole_stance(two_legs, "right", 0.3, end),
        sole_stance(two_legs, "left", 0.9001, end),
    )


def _both_sides(samples: Samples, t: float) -> list[int]:
    return [int(s) for s in samples.side[samples.time == t]]


@pytest.mark.parametrize("rate", [37.0, 200.0, 1000.0])
def test_moments_are_a_step_apart_and_every_change_stands_twice(
    moving: Clip, two_legs: Robot, rate: float
) -> None:
    samples = sampled(moving, two_legs, rate_hz=rate)
    end = float(moving.motion.time[-1])
    changes = {0.4567, 0.3, 0.9001}
    even = np.arange(int(np.floor(end * rate)) + 1) / rate
    assert np.allclose(
        np.unique(samples.time), np.unique([*even, *changes, end]), rtol=0.0, atol=1e-9
    )
    for t in changes:
        assert _both_sides(samples, t) == [-1, 1]
    twice = np.flatnonzero(np.diff(samples.time) == 0.0)
    assert set(samples.time[twice]) == changes
    assert np.all(np.diff(samples.time) >= 0.0)
    assert (samples.side[0], samples.side[-1]) == (1, -1)
    assert set(samples.side[1:-1][~np.isin(samples.time[1:-1], list(changes))]) == {0}


def test_a_change_takes_the_place_of_the_even_moment_it_falls_on(two_legs: Robot) -> None:
    """0.1 + 0.2 s is the moment 60 / 200 s but for rounding: it is judged twice, no more."""
    samples = sampled(lifting(two_legs, lift=0.1 + 0.2), two_legs, rate_hz=200.0)
    assert np.count_nonzero(np.abs(samples.time - 0.3) < 1e-6) == 2
    assert samples.n == 202


def test_contacts_hold_on_the_side_that_they_belong_to(moving: Clip, two_legs: Robot) -> None:
    samples = sampled(moving, two_legs, rate_hz=100.0)
    for t, before, after in ((0.3, 4, 8), (0.4567, 8, 4), (0.9001, 4, 8)):
        assert samples.cones.count[samples.time == t].tolist() == [before, after]
    counts = samples.cones.count
    assert np.all(counts[samples.time < 0.3] == 4)
    assert np.all(counts[(samples.time > 0.4567) & (samples.time < 0.9001)] == 4)
    assert np.all(counts[samples.time > 0.9001] == 8)


def test_a_contact_that_ends_where_the_clip_begins_carries_nothing(two_legs: Robot) -> None:
    clip = lifting(two_legs)
    over = sole_stance(two_legs, "right", -1.0, 0.0)
    late = sole_stance(two_legs, "right", 1.0, 2.0)
    left = sole_stance(two_legs, "left", 0.0, 1.0)
    samples = sampled(clip_of(clip.motion, two_legs, over, left, late), two_legs, rate_hz=50.0)
    assert set(samples.cones.count) == {4}
    assert samples.n == 51


def test_wrenches_are_the_engines_root_rows_in_world_axes(moving: Clip, two_legs: Robot) -> None:
    """mj_inverse gives the force in world axes and the moment about the root in the root's."""
    samples = sampled(moving, two_legs, rate_hz=100.0)
    model = two_legs.model
    data = mujoco.MjData(model)
    size = np.abs(samples.wrench).max()
    for i in range(samples.n):
        data.qpos[:], data.qvel[:] = samples.batch.qpos[i], samples.batch.qvel[i]
        data.qacc[:] = samples.batch.qacc[i]
        mujoco.mj_inverse(model, data)
        root = np.array(data.qfrc_inverse[:6])
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, samples.batch.qpos[i, 3:7])
        moment = turn.reshape(3, 3) @ root[3:]
        assert np.abs(samples.wrench[i, :3] - root[:3]).max() < 1e-9 * size
        assert np.abs(samples.wrench[i, 3:] - moment).max() < 1e-9 * size
        assert np.abs(samples.ref_w[i] - data.xpos[1]).max() < 1e-12


def test_still_wrenches_are_the_engines_of_a_robot_at_rest(moving: Clip, two_legs: Robot) -> None:
    samples = sampled(moving, two_legs, rate_hz=20.0, reference="origin")
    model = two_legs.model
    data = mujoco.MjData(model)
    for i in range(samples.n):
        data.qpos[:] = samples.batch.qpos[i]
        mujoco.mj_inverse(model, data)
        force = np.array(data.qfrc_inverse[:3])
        moment = np.cross(np.array(data.subtree_com[0]), force)
        assert samples.still[i] == pytest.approx(np.concatenate([force, moment]), abs=1e-9)


def test_velocities_and_accelerations_are_the_derivatives_of_the_poses(
    moving: Clip, two_legs: Robot
) -> None:
    """Central differences of the engine over 0.1 ms, on uneven frames; error below 1e-4 of size."""
    h = 1e-4
    samples = sampled(moving, two_legs, rate_hz=1.0 / h / 10.0)  # of 1 kHz: steps of 1 ms
    step = 10.0 * h
    inner = [i for i in range(1, samples.n - 1) if set(samples.side[i - 1 : i + 2]) == {0}]
    for i in inner[:: len(inner) // 40]:
        before, here, after = (samples.batch.qpos[k] for k in (i - 1, i, i + 1))
        if abs(samples.time[i + 1] - samples.time[i - 1] - 2 * step) > 1e-9:
            continue
        forward, backward = np.zeros(two_legs.nv), np.zeros(two_legs.nv)
        mujoco.mj_differentiatePos(two_legs.model, forward, step, here, after)
        mujoco.mj_differentiatePos(two_legs.model, backward, step, before, here)
        assert samples.batch.qvel[i] == pytest.approx((forward + backward) / 2.0, abs=1e-3)
        assert samples.batch.qacc[i] == pytest.approx((forward - backward) / step, abs=3e-2)


@pytest.mark.parametrize("reference", ["base", "com", "origin", (0.1, -2.0, 3.0)])
def test_moments_move_with_the_reference_as_statics_says(
    moving: Clip, two_legs: Robot, reference: Reference
) -> None:
    """M_r = M_o − r × F."""
    there = sampled(moving, two_legs, rate_hz=20.0, reference=reference)
    origin = sampled(moving, two_legs, rate_hz=20.0, reference="origin")
    assert np.array_equal(there.wrench[:, :3], origin.wrench[:, :3])
    moved = origin.wrench[:, 3:] - np.cross(there.ref_w, origin.wrench[:, :3])
    assert np.allclose(there.wrench[:, 3:], moved, rtol=0.0, atol=1e-9)
    if isinstance(reference, tuple):
        assert np.array_equal(there.ref_w, np.tile(reference, (there.n, 1)))


def test_frames_are_met_exactly_where_a_moment_falls_on_one(two_legs: Robot) -> None:
    motion = lively(two_legs)
    even = clip_of(motion, two_legs)
    samples = sampled(even, two_legs, rate_hz=200.0)
    assert np.array_equal(samples.batch.qpos[0], two_legs.qpos(motion)[0])
    assert np.array_equal(samples.batch.qpos[-1], two_legs.qpos(motion)[-1])


def test_a_clip_without_slivers_is_the_same_clip(moving: Clip) -> None:
    assert without_slivers(moving) is moving


def test_moments_of_contacts_that_files_cannot_tell_apart_become_one(two_legs: Robot) -> None:
    clip = clip_of(
        lifting(two_legs).motion,
        two_legs,
        sole_stance(two_legs, "left", 1e-7, 0.5),
        sole_stance(two_legs, "right", 0.500001, 0.9999999),
        sole_stance(two_legs, "left", 0.6, 2.0),
    )
    spans = {(s.link, s.start, s.end) for s in without_slivers(clip).contacts.stances}
    assert spans == {("left_foot", 0.0, 0.5), ("right_foot", 0.5, 1.0), ("left_foot", 0.6, 2.0)}
