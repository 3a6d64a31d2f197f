"""The best warp of a clip: each infeasible stretch re-timed as well as it can be, with a proof.

For each stretch a convex program finds the smallest worst d over all speeds along it, and a bound
that none of them beats. Its answer is bang-bang, which frames cannot follow; so the bound of its
acceleration is scanned, and what counts is the clip as written.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import cast

import numpy as np

from surefoot.adapters.adaptation import Adaptation, Progress, judged, worst_n
from surefoot.adapters.methods import METHODS
from surefoot.adapters.path import Path, path_of
from surefoot.adapters.stretches import Stretch, padded_segments, refuse_disorder, refuse_outside
from surefoot.adapters.timing import KEY_STEP_S, Timing, key_frames, retimed
from surefoot.adapters.warp_choice import Tried, best_of
from surefoot.adapters.warp_duration import Best, best_warp
from surefoot.adapters.warp_fit import POLISHES, Fit
from surefoot.adapters.warp_program import Course, Freedom, Judge
from surefoot.arrays import Array, Float64, Int64, IntArray, locked
from surefoot.errors import BadOption
from surefoot.index.distance import Scales
from surefoot.index.index import Feasibility
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

BENDS = (100.0, 300.0, 1000.0, np.inf)  # 1/s²; what frames at 30 fps can follow lies among them
FEWEST_CELLS = 8
KNOWN = 0.01  # over the weight: how far under the bound distances of the frames' spline are asked
THIN = 3  # of the samples that are neither frame nor contact change, one in so many is a point
SAME = 1e-7  # over the weight: worst values closer than this are equal


@dataclass(frozen=True, slots=True)
class Options:
    """Which warps are allowed, and how hard they are sought."""

    slowest: float = 0.2
    """Smallest speed over the speed that the clip had."""
    fastest: float = 3.0
    """Largest."""
    bends: tuple[float, ...] = BENDS
    """Bounds of |d²(speed²)/ds²| that are tried, 1/s²; the loosest is what the bound is for."""
    longest: float = 1.0
    """Largest duration of a stretch over what it had; 1 keeps the duration."""
    joint_speeds: bool = True
    """Whether joints keep to their speed limits, or to what they had where that was more."""
    pad_s: float = 0.3
    """How far a stretch reaches beyond its infeasible samples, s, at least."""
    most_pad_s: float = 0.6
    """And at most, or `pad_s` where that is more: it ends where d is smallest between."""
    wider: float = 2.0
    """Where a bound says that nothing mends a stretch, pads so many times as wide are tried; 1:
    none."""
    segments: tuple[Stretch, ...] = ()
    """Stretches by hand, s, taken from key frame to key frame, in one round; none: what is
    infeasible is found, and padded."""
    step_s: float = 0.01
    """Grid of the program, s."""
    key_step_s: float = KEY_STEP_S
    """Distance of the frames that get new times, s; all frames where they lie farther apart."""
    tolerance: float = 1e-4
    """Gap between the bounds of a program, over the weight."""
    rounds: int = 3
    """How often the clip as written is mended again, the first time included."""
    polish: int = POLISHES
    """Steps at most by which the times of the frames are made better by themselves in the end."""
    tighten: bool = False
    """Whether the bound is tightened where D ≥ T binds, by two linear programs a node."""
    compare: bool = True
    """Whether the paper's method runs as well, and the better one of both is returned."""

    def __post_init__(self) -> None:
        """Refuse what the program cannot do."""
        if not self.bends or not all(bend > 0.0 for bend in self.bends):
            raise BadOption(what=f"expected positive rate bounds, got {self.bends}")
        if not 1e-3 <= self.step_s <= 0.1:
            raise BadOption(what=f"the grid must lie between 1 and 100 ms, got {self.step_s:g} s")
        if not self.key_step_s > 0.0:
            raise BadOption(what=f"key frames must lie apart, got {self.key_step_s:g} s")
        if not 0.0 <= self.pad_s < np.inf:
            raise BadOption(what=f"the pad must be 0 s or more, got {self.pad_s:g} s")
        if not 1.0 <= self.wider < np.inf:
            raise BadOption(what=f"wider must be 1 or more, got {self.wider:g}")
        if self.rounds < 1:
            raise BadOption(what=f"expected 1 round or more, got {self.rounds}")
        if self.polish < 0:
            raise BadOption(what=f"polish must be 0 or more, got {self.polish}")
        refuse_disorder(self.segments)
        self.freedom(np.inf)

    def freedom(self, bend: float) -> Freedom:
        """The same as the program takes it."""
        return Freedom(self.slowest, self.fastest, bend, self.longest, tolerance=self.tolerance)


@dataclass(frozen=True, eq=False)
class Mended:
    """What was found for one stretch; d over the weight."""

    start: float
    end: float
    before: float
    optimum: Best
    """Of the loosest freedom: its bound is the bound of the stretch."""
    bend: float | None
    """The freedom whose warp was the best one of the frames."""
    fitted: float
    """Worst d of the frames' spline before it was polished."""
    value: float
    """And after: worst d of the stretch as its frames make it."""
    shift: Float64[Array, " k"]
    """New times less old ones of all key frames of the clip, s."""
    programs: int
    """Linear programs solved."""
    seconds: float

    def summary(self, weight_n: float) -> dict[str, object]:
        """The stretch as a JSON object."""
        return {
            "start_s": self.start,
            "end_s": self.end,
            "before_over_weight": self.before,
            "optimum_over_weight": self.optimum.value,
            "bound_over_weight": _finite(self.optimum.bound),
            "bound_n": _finite(self.optimum.bound * weight_n),
            "gap_over_weight": _finite(self.optimum.gap),
            "case": self.optimum.case,
            "bend_per_s2": None if self.bend is None else str(self.bend),
            "fitted_over_weight": self.fitted,
            "judged_over_weight": self.value,
            "programs": self.programs,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, eq=False)
class Work:
    """What all stretches of a clip share."""

    path: Path
    before: Feasibility
    options: Options
    most_x: Float64[Array, " n"] | None
    """Largest ṡ² of each sample by the speed limits of joints; 1 where the clip was faster."""


def adapt(
    clip: Clip,
    robot: Robot,
    before: Feasibility,
    options: object | None = None,
    progress: Progress | None = None,
) -> Adaptation:
    """The clip with the best times that were found for its frames, and a bound of all warps.

    The bound is one of the program's warps: ṡ² linear between nodes `step_s` apart, within the
    limits of `options`, speed 1 and acceleration 0 at the ends of each stretch, its duration kept;
    d is taken at the samples of `before` in each stretch. It is the largest over the stretches.

    Raises:
        BadOption: options that are not this method's, or cannot be used.
    """
    options = _own(options)
    begin = clock.perf_counter()
    refuse_outside(options.segments, clip.motion.time)
    if before.all_feasible and not options.segments:
        return Adaptation("warp-optimal", "warp-optimal", "unchanged", clip, before, before)
    still = Tried("warp-optimal", clip, before, None)
    found, tried = _rounds(still, options, progress)
    wide, more = _wider(still, options, found, progress)
    tried += more
    if wide and _bound(wide) < _bound(found):
        found = wide
    details: dict[str, object] = {
        "stretches": [one.summary(before.weight_n) for one in found],
        "program_bound_over_weight": _finite(_bound(found)),
        "limits": {"slowest": options.slowest, "fastest": options.fastest,
                   "longest": options.longest, "joint_speeds": options.joint_speeds},
        "rounds_over_weight": [worst_n(one.after) / before.weight_n for one in tried],
        "seconds": clock.perf_counter() - begin,
    }  # fmt: skip
    if options.compare:
        tried += _paper(still, options, progress)
    hopes = [(one.start, one.end, one.optimum.bound) for one in found]
    return best_of(still, tried, hopes, details)


def _rounds(
    still: Tried, options: Options, progress: Progress | None
) -> tuple[list[Mended], list[Tried]]:
    """What was found in the clip itself, and the clip as written after each round.

    The curve through frames at new times is not quite the old one, so what was written is judged
    and mended again, while that helps. Speeds of all rounds together keep to their limits.
    """
    clip, before = still.clip, still.after
    keys = key_frames(clip.motion.time, options.key_step_s)
    first: list[Mended] = []
    tried: list[Tried] = []
    now, shift, left = before, np.zeros(len(keys)), options
    for _ in range(options.rounds):  # of the whole clip
        work = prepared(now, left, keys)
        places = stretches(work)
        found = []
        for i, place in enumerate(places):  # stretches, not samples
            if progress:
                progress(i, len(places), f"stretch from {place[0]:.2f} to {place[1]:.2f} s")
            found.append(mended_stretch(work, place))
        first = first or found
        step = np.sum([one.shift for one in found], axis=0)
        if not np.any(step != 0.0):
            break
        shift = shift + step
        timing = Timing(clip.motion.time[keys], shift)
        written = retimed(clip, timing, what="warp-optimal", longest=options.longest)
        after = judged(written, before.robot, before.options)
        tried.append(Tried("warp-optimal", written, after, timing))
        if options.segments or after.all_feasible or worst_n(after) >= worst_n(now):
            break
        speed = 1.0 / timing.slope(before.time)
        now, left = (
            after,
            replace(
                options,
                slowest=min(1.0, options.slowest / float(speed.min())),
                fastest=max(1.0, options.fastest / float(speed.max())),
                bends=options.bends[:1],
                longest=1.0,
            ),
        )
    return first, tried


def _wider(
    still: Tried, options: Options, found: list[Mended], progress: Progress | None
) -> tuple[list[Mended], list[Tried]]:
    """The same over wider stretches, where a bound is positive and there are any; else nothing."""
    before = still.after
    least = before.tolerance_n / before.weight_n
    if options.segments or options.wider <= 1.0 or _bound(found) <= least:
        return [], []
    pad_s, most_s = options.wider * options.pad_s, options.wider * options.most_pad_s
    wide = replace(options, pad_s=pad_s, most_pad_s=most_s)
    keys = key_frames(still.clip.motion.time, options.key_step_s)
    if stretches(prepared(before, wide, keys)) == [(one.start, one.end) for one in found]:
        return [], []
    return _rounds(still, wide, progress)


def mended_stretch(work: Work, place: Stretch) -> Mended:
    """The best times for the frames of one stretch, and the bound of the program."""
    begin = clock.perf_counter()
    path, options = work.path, work.options
    course, points = _course(work, place)
    judge = Judge(course)
    judge.remember(work.before.upper[points], work.before.dual[points])
    fit = Fit(path, *place, options.freedom(np.inf), work.most_x)
    fit.remember(work.before.upper, work.before.dual)
    still = np.zeros(fit.basis.shape[1])
    before = fit.worst(still, 0.0)
    bends = sorted(options.bends)
    bests: list[Best] = []
    for bend in bends:  # freedoms, not samples: each begins where a stiffer one ended
        bests.append(
            best_warp(
                judge,
                options.freedom(bend),
                start=bests[-1].x if bests else None,
                secant=bend == bends[-1],
                tighten=options.tighten,
            )
        )
    optimum = bests[-1]
    shifts = [still, *(fit.allowed(fit.shifts(course, best.x)) for best in bests)]
    values = [before, *(fit.worst(y, optimum.bound - KNOWN) for y in shifts[1:])]
    chosen = int(np.argmin(values))
    y, value = shifts[chosen], values[chosen]
    if options.polish:
        y, value = fit.polished(y, value, options.polish)
    whole = np.zeros(len(path.frame_time))
    whole[fit.window.frames] = fit.basis @ y
    return Mended(
        start=place[0],
        end=place[1],
        before=before,
        optimum=optimum,
        bend=bends[chosen - 1] if chosen else None,
        fitted=values[chosen],
        value=value,
        shift=locked(whole),
        programs=sum(best.programs for best in bests),
        seconds=clock.perf_counter() - begin,
    )


def prepared(before: Feasibility, options: Options, frames: Int64[IntArray, " k"]) -> Work:
    """The path of a clip, with what joints can do along it.

    Args:
        frames: those that get new times of their own.
    """
    settings = before.options
    scales = Scales(settings.length_scale_m, settings.cone_sides, settings.tolerance)
    keys = before.clip.motion.time[frames]
    path = path_of(before.samples, keys, scales=scales, weight_n=before.weight_n)
    most_x = None
    if options.joint_speeds:
        ratio = before.joints.speed_ratio.max(axis=1, initial=0.0)
        most_x = 1.0 / np.clip(ratio, 1e-6, 1.0) ** 2
    return Work(path, before, options, most_x)


def stretches(work: Work) -> list[Stretch]:
    """The infeasible segments, padded, or those by hand, from key frame to key frame."""
    before, options, keys = work.before, work.options, work.path.frame_time
    found = list(options.segments) or padded_segments(
        before.time,
        before.upper,
        [(segment.start_s, segment.end_s) for segment in before.segments()],
        pad_s=options.pad_s,
        most_s=max(options.pad_s, options.most_pad_s),
    )
    out: list[Stretch] = []
    for start, end in found:  # stretches, not samples
        first = keys[max(0, int(np.searchsorted(keys, start, side="right")) - 1)]
        last = keys[min(len(keys) - 1, int(np.searchsorted(keys, end)))]
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], float(last))
        else:
            out.append((float(first), float(last)))
    return out


def _course(work: Work, place: Stretch) -> tuple[Course, Int64[IntArray, " n"]]:
    """A stretch as the program takes it, and the samples that are its points."""
    path = work.path
    s, keys = path.s, path.frame_time
    inside = (s >= place[0]) & (s <= place[1])
    beside = np.abs(keys[np.clip(np.searchsorted(keys, s), 0, len(keys) - 1)] - s) < 1e-9
    wanted = beside | (path.samples.side != 0) | (np.arange(len(s)) % THIN == 0)
    rows = np.flatnonzero(inside & wanted)
    length = place[1] - place[0]
    count = max(FEWEST_CELLS, round(length / work.options.step_s))
    step = length / count
    along = (path.s[rows] - place[0]) / step
    cell = np.clip(along.astype(np.int64), 0, count - 1)
    ceiling = None
    if work.most_x is not None:
        ceiling = np.full(count + 1, np.inf)
        np.minimum.at(ceiling, cell, work.most_x[rows])
        np.minimum.at(ceiling, cell + 1, work.most_x[rows])
    k = path.coefficients
    course = Course(
        step=step,
        count=count,
        cell=cell,
        fraction=np.clip(along - cell, 0.0, 1.0),
        a=k.a[rows],
        b=k.b[rows],
        c=k.c[rows],
        cones=path.samples.cones.picked(rows),
        ref_w=path.samples.ref_w[rows],
        weight_n=path.weight_n,
        scales=path.scales,
        ceiling=ceiling,
    )
    return course, rows


def _paper(still: Tried, options: Options, progress: Progress | None) -> list[Tried]:
    """What the paper's method makes of the clip; nothing where it is not there.

    It keeps to the same segments, and to the largest speed where one was asked for.
    """
    module, _, name = METHODS["warp"][0].partition(":")
    if find_spec(module) is None or options.fastest <= 1.0:
        return []
    there = import_module(module)
    run = cast("Callable[..., Adaptation]", getattr(there, name))
    fastest = None if options.fastest == Options().fastest else options.fastest
    own = there.Options(segments=options.segments, max_speed_ratio=fastest)
    found = run(still.clip, still.after.robot, still.after, own, progress)
    return [Tried(found.chosen, found.clip, found.after, found.timing)]


def _bound(found: list[Mended]) -> float:
    """The largest bound of some stretches, over the weight."""
    return max(one.optimum.bound for one in found)


def _own(options: object | None) -> Options:
    if options is None:
        return Options()
    if not isinstance(options, Options):
        raise BadOption(
            what=f"expected warp_optimal.Options, got {type(options).__name__}",
            where="warp-optimal",
        )
    return options


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
