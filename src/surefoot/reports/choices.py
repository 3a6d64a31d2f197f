"""Coefficients that a warp could choose: their region, their samples, and what each is worth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.adapters.adaptation import Adaptation
from surefoot.adapters.bases import Basis, named
from surefoot.adapters.oracle import Oracle
from surefoot.adapters.path import Window, path_of
from surefoot.adapters.region import Region, region_of
from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.errors import BadOption, UnknownName
from surefoot.index.distance import Scales
from surefoot.index.index import Feasibility
from surefoot.reports.changes import Segment, new_times
from surefoot.reports.plots import Choice
from surefoot.reports.projection import outline

ASKED = 24  # samples whose distances are asked: the bounds of all others follow from theirs
RAYS, HALVINGS = 72, 24  # of the region's outline, and steps to find each of its points
TAU = np.linspace(0.0, 1.0, 33)
GRID, NEAR = 15, 0.1  # points along the sides of the grid around the chosen ones; of the region


def choice_of(found: Adaptation, segment: Segment) -> Choice | None:
    """What figure 4 of the paper shows, of one segment; None where its details do not say.

    Q is that of the first round: a later one begins from a clip that is not kept.
    """
    samples = _samples(found, segment.basis)
    try:
        basis = named(segment.basis)
        region = region_of(basis, segment.floor)
    except (UnknownName, BadOption):  # the user's own functions
        return None
    chosen = np.array(segment.coefficients)
    if len(samples) < 3 or samples.shape[1] != basis.count or len(chosen) != basis.count:
        return None
    free = np.flatnonzero(np.ptp(samples, axis=0) > 1e-9)[:2]
    if len(free) < 2:
        return None
    edge = _outline(region, samples)[:, free] if region.free == 2 else outline(samples[:, free])
    near = _near(region, chosen, free)
    every = np.concatenate([samples, near])
    if segment.round == 1:
        value = _values(found, segment, basis, every)
    else:
        value = np.full(len(every), np.nan)
    functions = basis.evaluate(TAU, 0)
    return Choice(
        (f"c{_lowered(int(free[0]) + 1)}", f"c{_lowered(int(free[1]) + 1)}"),
        samples[:, free],
        chosen[free],
        edge,
        value[: len(samples)],
        near[:, free],
        value[len(samples) :],
        TAU,
        samples @ functions.T,
        functions @ chosen,
        _written(found, segment),
    )


def _written(found: Adaptation, segment: Segment) -> Float64[Array, " t"]:
    """The timing over a segment, from 0 to 1, as the clip has it in the end."""
    s = segment.start + TAU * (segment.end - segment.start)
    t = new_times(found, s)
    return np.asarray((t - t[0]) / (t[-1] - t[0]), dtype=np.float64)


def _near(
    region: Region, chosen: Float64[Array, " k"], free: Int64[IntArray, " 2"]
) -> Float64[Array, "g k"]:
    """Coefficients on a grid around the chosen ones in the plane of the two that are shown."""
    null = region.null[free]
    across, *_ = np.linalg.lstsq(null, np.eye(2), rcond=None)
    half = NEAR * np.abs(null) @ (region.high - region.low)
    side = np.linspace(-1.0, 1.0, GRID)
    steps = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2) * half
    return np.asarray(chosen + steps @ (region.null @ across).T, dtype=np.float64)


def _lowered(number: int) -> str:
    return "".join(chr(0x2080 + int(digit)) for digit in str(number))


def _samples(found: Adaptation, basis: str) -> Float64[Array, "c k"]:
    regions = found.details.get("regions", ())
    for region in regions if isinstance(regions, list) else ():
        if isinstance(region, Mapping) and region.get("basis") == basis:
            return np.array(region.get("samples", ()), dtype=np.float64).reshape(
                len(region.get("samples", ())), -1
            )
    return np.zeros((0, 0))


def _outline(region: Region, samples: Float64[Array, "c k"]) -> Float64[Array, "r k"]:
    """The edge of a region of two free coefficients, along rays from its middle, by halving."""
    inner = np.linalg.lstsq(region.null, (samples - region.particular).T, rcond=None)[0].T
    middle = inner.mean(axis=0)
    angle = np.linspace(0.0, 2.0 * np.pi, RAYS, endpoint=False)
    far = float(np.linalg.norm(region.high - region.low))
    ways = far * np.column_stack([np.cos(angle), np.sin(angle)])
    low, high = np.zeros(RAYS), np.ones(RAYS)
    for _ in range(HALVINGS):
        share = 0.5 * (low + high)
        inside = region.increasing(middle + share[:, None] * ways)
        low, high = np.where(inside, share, low), np.where(inside, high, share)
    return region.coefficients(middle + low[:, None] * ways)


def _values(
    found: Adaptation, segment: Segment, basis: Basis, samples: Float64[Array, "c k"]
) -> Float64[Array, " c"]:
    """Q of each sample over the weight: exact of some, of the others from their directions."""
    before, timing = found.before, found.timing
    time = before.clip.motion.time if timing is None else timing.key_time
    options = before.options
    scales = Scales(options.length_scale_m, options.cone_sides, options.tolerance)
    path = path_of(before.samples, time, scales=scales, weight_n=before.weight_n)
    window = path.window(segment.start, segment.end)
    window = window.picked(_within(found.before, window, segment))
    if len(window.frames) == 0 or len(window.samples) == 0:
        return np.full(len(samples), np.nan)
    length = segment.end - segment.start
    tau = (window.frame_time - segment.start) / length
    shift = length * (samples @ basis.evaluate(tau, 0).T - tau)
    speed, rate = window.rates(shift)
    oracle = Oracle(window)
    oracle.knows(before.upper[window.samples], before.dual[window.samples])
    for i in np.unique(np.linspace(0, len(samples) - 1, ASKED).astype(np.int64)):  # a few
        oracle.worst_of(speed[i], rate[i])
    value = oracle.bounds(speed, rate) / before.weight_n
    return np.where((speed > 0.0).all(axis=1), value, np.nan)


def _within(before: Feasibility, window: Window, segment: Segment) -> Int64[IntArray, " j"]:
    """Samples of the segment and of what its warp reaches beside it, as far as that was feasible.

    What is infeasible beside it other warps mend.
    """
    s, reach = window.path.s[window.samples], segment.reach_s
    inside = (s >= segment.start) & (s <= segment.end)
    near = (s >= segment.start - reach) & (s <= segment.end + reach)
    return np.flatnonzero(inside | (near & before.feasible[window.samples]))
