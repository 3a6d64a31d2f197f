"""Runs of flags: edges between frames, hysteresis, and what is too short."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.contacts.runs import edge_times, held, painted, runs_of, stretches, without_short

FLAGS = st.lists(st.booleans(), min_size=1, max_size=60).map(lambda row: np.array(row, dtype=bool))


@given(FLAGS)
def test_runs_painted_again_are_the_flags(flags: np.ndarray) -> None:
    assert np.array_equal(painted(*runs_of(flags), len(flags)), flags)


@given(FLAGS, FLAGS)
def test_hysteresis_keeps_whole_runs_and_only_seized_ones(a: np.ndarray, b: np.ndarray) -> None:
    n = min(len(a), len(b))
    keep, seize = a[:n], b[:n]
    found = held(seize, keep)
    for first, stop in zip(*runs_of(keep), strict=True):
        assert np.all(found[first:stop] == np.any(seize[first:stop]))
    assert not np.any(found & ~keep)


def test_every_frame_lies_within_its_own_edges() -> None:
    time = np.cumsum(np.random.default_rng(2).uniform(1e-4, 0.05, 200))
    edges = edge_times(time)
    assert np.all((edges[:-1] <= time) & (time <= edges[1:]))
    assert (edges[0], edges[-1]) == (time[0], time[-1])
    assert np.all(np.diff(edges) > 0.0)


def test_frames_closer_than_the_digits_of_a_file_keep_their_order() -> None:
    time = 1.0 + np.arange(5) * 1e-7
    assert np.all(np.diff(edge_times(time)) > 0.0)


def test_a_short_run_stays_at_the_ends_only() -> None:
    flags = np.array([1, 0, 0, 0, 1, 0, 0, 0, 1], dtype=bool)
    found = without_short(flags, np.arange(9) / 10.0, 0.1)
    assert np.flatnonzero(found).tolist() == [0, 8]


@settings(max_examples=200)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.05, 0.1, 0.3]))
def test_inner_stretches_last_and_do_not_meet_their_like(seed: int, shortest: float) -> None:
    rng = np.random.default_rng(seed)
    touching = rng.random((80, 4)) < rng.random()
    time = np.arange(80) / 60.0
    edges = edge_times(time)
    found = stretches(touching, edges, shortest)
    for one in found:
        inner = one.first > 0 and one.stop < 80
        assert not inner or edges[one.stop] - edges[one.first] >= shortest
    for one, other in pairwise(found):
        assert one.stop <= other.first
        assert one.stop < other.first or not np.array_equal(one.corners, other.corners)


def test_without_a_shortest_time_stretches_are_the_flags() -> None:
    touching = np.random.default_rng(4).random((60, 3)) < 0.5
    back = np.zeros_like(touching)
    for one in stretches(touching, edge_times(np.arange(60) / 30.0), 0.0):
        back[one.first : one.stop, one.corners] = True
    assert np.array_equal(back, touching)
