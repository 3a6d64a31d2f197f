"""Runs of frames over which flags stay the same: hysteresis, and what is too short to be meant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray

EDGE_DIGITS = 6  # moments are microseconds, as the contacts file writes them


@dataclass(frozen=True, slots=True)
class Stretch:
    """Frames over which the same corners of a sole touch."""

    first: int
    """First frame."""
    stop: int
    """One past the last frame."""
    corners: Int64[IntArray, " c"]
    """Which corners touch; at least one."""


def edge_times(time: Float64[Array, " n"]) -> Float64[Array, " e"]:
    """Where each frame begins and the last one ends, s: midway between frames, n + 1 moments.

    A change between two frames lies somewhere between them; midway, every frame belongs to one
    stretch alone, and rounding moves no frame to the other side.
    """
    middle = (time[1:] + time[:-1]) / 2.0
    plain = np.round(middle, EDGE_DIGITS)
    middle = np.where((plain > time[:-1]) & (plain < time[1:]), plain, middle)
    return np.concatenate([time[:1], middle, time[-1:]])


def runs_of(flags: Bool[BoolArray, " n"]) -> tuple[Int64[IntArray, " r"], Int64[IntArray, " r"]]:
    """First index and one past the last index of each run of true."""
    steps = np.diff(np.concatenate([[0], flags.astype(np.int64), [0]]))
    return np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)


def painted(
    start: Int64[IntArray, " r"], stop: Int64[IntArray, " r"], n: int
) -> Bool[BoolArray, " n"]:
    """Flags that are true inside the runs: the inverse of `runs_of`."""
    steps = np.zeros(n + 1, dtype=np.int64)
    np.add.at(steps, start, 1)
    np.add.at(steps, stop, -1)
    return np.cumsum(steps[:-1]) > 0


def held(seize: Bool[BoolArray, " n"], keep: Bool[BoolArray, " n"]) -> Bool[BoolArray, " n"]:
    """Hysteresis: the runs of `keep` in which `seize` is true at least once."""
    start, stop = runs_of(keep)
    if not len(start):
        return np.zeros_like(keep)
    count = np.concatenate([[0], np.cumsum(seize & keep)])
    seized = count[stop] > count[start]
    return painted(start[seized], stop[seized], len(keep))


def without_short(
    flags: Bool[BoolArray, " n"], time: Float64[Array, " n"], shortest_s: float
) -> Bool[BoolArray, " n"]:
    """The flags without runs that are shorter than the given time from first to last frame.

    So counted, since one bad frame spoils the speeds of its two neighbours: at 30 frames a second
    it costs 67 ms. A run at an end of the clip stays: what lies beyond is not known.
    """
    start, stop = runs_of(flags)
    lasting = time[stop - 1] - time[start] >= shortest_s
    lasting |= (start == 0) | (stop == len(flags))
    return painted(start[lasting], stop[lasting], len(flags))


def stretches(
    touching: Bool[BoolArray, "n k"], edges: Float64[Array, " e"], shortest_s: float
) -> list[Stretch]:
    """Stretches over which the same corners touch, none shorter than the given time.

    A foot that lands or leaves passes through an edge for a frame or two. The shortest stretch
    becomes a part of its longer neighbour that touches, or of the air where none does, until every
    one lasts; stretches at the clip's ends stay.
    """
    changes = np.flatnonzero(np.any(touching[1:] != touching[:-1], axis=1)) + 1
    bounds = [0, *changes.tolist(), len(touching)]
    rows = [touching[first] for first in bounds[:-1]]
    while len(rows) > 2:  # over stretches, some a step; each pass leaves at least one less
        lasting = np.diff(edges[bounds])
        i = 1 + int(np.argmin(lasting[1:-1]))
        if lasting[i] >= shortest_s:
            break
        near = [j for j in (i - 1, i + 1) if rows[j].any()]
        rows[i] = rows[max(near, key=lambda j: lasting[j])] if near else np.zeros_like(rows[i])
        for j in (i, i - 1):
            if np.array_equal(rows[j], rows[j + 1]):
                del rows[j + 1], bounds[j + 1]
    return [
        Stretch(bounds[i], bounds[i + 1], np.flatnonzero(row))
        for i, row in enumerate(rows)
        if row.any()
    ]
