"""Which parts of a clip are warped: infeasible stretches, padded, and what happens in them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from surefoot.adapters.path import Path
from surefoot.adapters.timing import Timing
from surefoot.arrays import Array, BoolArray, Float64, Int64, IntArray
from surefoot.index.index import Feasibility
from surefoot.motion.contact import ContactSchedule

SLACK = 2e-3  # of the weight: an end of a segment has so much margin, or as much as is near
PENDULUM_TIMES = 1.5  # a weight shift takes about so many time constants of the pendulum
REACH = 1e-3  # of a shift: what is felt less of it is left out of Q
PER_FRAME = 0.268  # 2 − √3: what a cubic spline leaves of a shift one frame farther on
LOCAL_FRAMES = 3  # the six-frame curve ends there
THIN = 3  # of the samples that are neither frame nor contact change, so many stand for one in Q
MOMENT_S = 1e-8  # moments this near are one


@dataclass(frozen=True, slots=True)
class Stretch:
    """Infeasible samples that one warp is to mend, and how far it may reach."""

    first: float
    """First infeasible moment, s."""
    last: float
    earliest: float
    """A warp begins no sooner, s: others lie there, or the clip begins."""
    latest: float
    by_hand: bool = False
    """Whether a person chose it: then it is the segment as it is."""


def pendulum_s(before: Feasibility) -> float:
    """√(h / g) of the clip, with h the height of the centre of mass over the contacts, s."""
    batch, cones = before.samples.batch, before.samples.cones
    gravity = float(np.linalg.norm(before.robot.model.opt.gravity))
    if len(cones.vertex_pos) == 0:
        return 0.3  # of a person: nothing touches, so nothing depends on it
    height = float(np.median(batch.com_w[:, 2])) - float(np.median(cones.vertex_pos[:, 2]))
    return float(np.sqrt(max(height, 0.05) / gravity))


def stretches(before: Feasibility, wanted: BoolArray, pad_s: float) -> tuple[Stretch, ...]:
    """Runs of the wanted samples; those nearer than the pad are one.

    Between two of them the place with the most margin divides what their warps may use.
    """
    time, upper = before.time, before.upper
    rows = np.flatnonzero(wanted)
    if len(rows) == 0:
        return ()
    breaks = np.flatnonzero(np.diff(time[rows]) > max(pad_s, 0.0)) + 1
    breaks = breaks[np.diff(rows)[breaks - 1] > 1]
    runs = np.split(rows, breaks)
    limits = [float(time[0])]
    for one, other in pairwise(runs):
        between = np.arange(one[-1], other[0] + 1)
        limits.append(float(time[between[np.argmin(upper[between])]]))
    limits.append(float(time[-1]))
    return tuple(
        Stretch(float(time[run[0]]), float(time[run[-1]]), low, high)
        for run, low, high in zip(runs, limits[:-1], limits[1:], strict=True)
    )


def padded(
    before: Feasibility, stretch: Stretch, pad_s: float, *, slack: bool
) -> tuple[float, float]:
    """Start and end of the segment of a stretch, s.

    Args:
        pad_s: to each side.
        slack: whether an end moves on, by as much again at most, to where the clip has margin.
    """
    if stretch.by_hand:
        return stretch.first, stretch.last
    start, end = stretch.first - pad_s, stretch.last + pad_s
    if slack:
        start = -_with_slack(-before.time[::-1], before.upper[::-1], -start, pad_s, before.weight_n)
        end = _with_slack(before.time, before.upper, end, pad_s, before.weight_n)
    return max(start, stretch.earliest), min(end, stretch.latest)


def _with_slack(time: Array, upper: Array, end: float, most_s: float, weight_n: float) -> float:
    """The first moment from `end` on with margin; else the one with the largest on the way."""
    rows = np.flatnonzero((time >= end) & (time <= end + most_s))
    if len(rows) == 0:
        return end
    good = rows[upper[rows] <= -SLACK * weight_n]
    return float(time[good[0] if len(good) else rows[np.argmin(upper[rows])]])


def reach_s(path: Path, start: float, end: float, interpolation: str) -> float:
    """Δt: how far outside a segment its shifts are felt by more than 1e-3, s."""
    frames = LOCAL_FRAMES
    if interpolation == "spline":
        frames = int(np.ceil(np.log(REACH) / np.log(PER_FRAME)))
    time = path.frame_time
    low, high = int(np.searchsorted(time, start)), int(np.searchsorted(time, end))
    before = start - time[max(0, low - frames)] if low else 0.0
    after = time[min(len(time) - 1, high + frames - 1)] - end if high < len(time) else 0.0
    return float(max(before, after, 0.0))


def judged_samples(
    path: Path,
    upper: Float64[Array, " n"],
    samples: Int64[IntArray, " m"],
    *,
    segment: tuple[float, float],
    reach: float,
    tolerance_n: float,
) -> Int64[IntArray, " j"]:
    """Which of a window's samples Q is taken over: rows of `samples`.

    All frames, contact changes and infeasible samples, and every third of the others, as far as the
    warp reaches; not what is infeasible outside of the segment, which other warps mend.
    """
    time = path.s[samples]
    start, end = segment
    near = (time >= start - reach - MOMENT_S) & (time <= end + reach + MOMENT_S)
    inside = (time >= start) & (time <= end)
    bad = upper[samples] > tolerance_n
    place = np.clip(np.searchsorted(path.frame_time, time - MOMENT_S), 0, len(path.frame_time) - 1)
    frame = np.abs(path.frame_time[place] - time) <= MOMENT_S
    kept = frame | bad | (path.samples.side[samples] != 0) | (samples % THIN == 0)
    return np.flatnonzero(near & kept & (inside | ~bad))


def events(
    contacts: ContactSchedule, timing: Timing, start: float, end: float
) -> list[dict[str, object]]:
    """What lifts off or touches down within a segment: when, then when, and t' there."""
    found = [
        (moment, stance.link, what)
        for stance in contacts.stances
        for moment, what in ((stance.start, "touch-down"), (stance.end, "lift-off"))
        if start < moment < end
    ]
    found.sort()
    old = np.array([moment for moment, _, _ in found])
    new, slope = timing(old), timing.slope(old)
    return [
        {
            "link": link,
            "event": what,
            "old_s": moment,
            "new_s": float(new[i]),
            "slope": float(slope[i]),
        }
        for i, (moment, link, what) in enumerate(found)
    ]
