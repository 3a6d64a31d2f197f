"""The stretches of a clip that are warped: infeasible segments, padded to where d is small."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import BadOption

Stretch = tuple[float, float]

MOMENT_S = 1e-6  # moments this near are one: ends of clips are printed with so many digits


def padded_segments(
    time: Float64[Array, " n"],
    upper: Float64[Array, " n"],
    segments: Sequence[Stretch],
    *,
    pad_s: float,
    most_s: float,
) -> list[Stretch]:
    """The segments, longer at both ends, in order of time; those that would overlap are one.

    An end moves to where d is smallest among all moments pad_s to most_s away: what the end of a
    stretch lacks, no warp of it can give. Where the pads of two segments overlap and both keep
    pad_s, they meet where d is smallest between.

    Args:
        time: moments of the samples, s, never falling.
        upper: proven d of each.
        segments: first and last moment of each, s.
        pad_s: least distance from a segment's end, s; less only at the ends of the clip.
        most_s: largest.

    Raises:
        BadOption: a negative pad, or a largest one below the least.
    """
    if not 0.0 <= pad_s <= most_s < np.inf:
        raise BadOption(what=f"expected 0 <= pad_s <= most_s, got {pad_s:g} and {most_s:g} s")
    joined: list[Stretch] = []
    for first, last in sorted(segments):
        if joined and first - joined[-1][1] <= 2.0 * pad_s:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    out = [
        (
            _surest(time, upper, first - most_s, first - pad_s),
            _surest(time, upper, last + pad_s, last + most_s),
        )
        for first, last in joined
    ]
    for i, (one, other) in enumerate(pairwise(joined)):
        if out[i][1] > out[i + 1][0]:
            meet = _surest(time, upper, one[1] + pad_s, other[0] - pad_s)
            out[i], out[i + 1] = (out[i][0], meet), (meet, out[i + 1][1])
    return out


def refuse_disorder(segments: Sequence[Stretch]) -> None:
    """Refuse segments by hand that are empty, out of order, or not apart.

    Raises:
        BadOption: as said.
    """
    ends = [moment for pair in segments for moment in pair]
    apart = all(one <= other for one, other in pairwise(ends))
    if not (np.all(np.isfinite(ends)) and apart and all(start < end for start, end in segments)):
        raise BadOption(
            what="segments must have an end after their start, in order and apart, got"
            f" {', '.join(f'{start:g} to {end:g} s' for start, end in segments)}"
        )


def refuse_outside(segments: Sequence[Stretch], time: Float64[Array, " f"]) -> None:
    """Refuse segments by hand that reach beyond a clip.

    Raises:
        BadOption: as said.
    """
    first, last = float(time[0]), float(time[-1])
    for start, end in segments:
        if start < first - MOMENT_S or end > last + MOMENT_S:
            raise BadOption(
                what=f"the segment {start:g} to {end:g} s is not within the clip, which lasts from"
                f" {first:g} to {last:g} s"
            )


def _surest(
    time: Float64[Array, " n"], upper: Float64[Array, " n"], low: float, high: float
) -> float:
    """The moment of a span with the smallest d; the clip's own end where the span lies beyond."""
    inside = np.flatnonzero((time >= low) & (time <= high))
    if len(inside) == 0:
        return float(np.clip(0.5 * (low + high), time[0], time[-1]))
    first = np.flatnonzero(np.diff(time[inside], prepend=-np.inf))
    both = np.maximum.reduceat(upper[inside], first)
    return float(time[inside][first][np.argmin(both)])
