"""Time warping as Zheng and Yamane do it: section V of their paper, made to hold for real clips.

Infeasible segments are found, each is warped by the best of many canonical functions, and the clip
is judged as it is written; then again, since a warp can spoil what lies beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.adapters import warp_report
from surefoot.adapters.adaptation import Adaptation, Progress, Status, judged, worst_n
from surefoot.adapters.bases import Basis, bspline, named
from surefoot.adapters.hopeless import least_distances
from surefoot.adapters.oracle import Oracle
from surefoot.adapters.path import Path, path_of
from surefoot.adapters.region import Region, region_of
from surefoot.adapters.stretches import refuse_disorder, refuse_outside
from surefoot.adapters.timing import KEY_STEP_S, Timing, key_frames, retimed
from surefoot.adapters.warp_report import Done
from surefoot.adapters.warp_search import Found, rule, search
from surefoot.adapters.warp_segments import (
    PENDULUM_TIMES,
    Stretch,
    judged_samples,
    padded,
    pendulum_s,
    reach_s,
    stretches,
)
from surefoot.arrays import Array, BoolArray, Float64
from surefoot.errors import BadOption
from surefoot.index.distance import Scales
from surefoot.index.index import Feasibility
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

ENOUGH = 1e-4  # of the weight: with so much margin Q, over some of the samples, holds for all
WIDER = (1.0, 1.5)  # of the pad: tried in turn
UNBOUNDED_SPEED = 10.0  # what no timing can exceed in the proof that none helps, without a floor
FINE_PIECES = (5, 60)  # of B-splines by their step
LITTLE = 0.02  # of the worst d: two rounds in a row that gain less are the last
WORTH = 1e-3  # of the weight above what no timing can take: such samples are worth a warp
GAIN = 1e-6  # of the weight: a warp or a round that gains less is none


@dataclass(frozen=True, slots=True)
class Options:
    """How warps are searched."""

    basis: str | Basis = "smooth"
    """The functions that warps are made of: a name of `bases.BASES`, or a basis of one's own."""
    others: tuple[str | Basis, ...] = ("smooth3", "bspline")
    """Bases that are tried in turn where the best Q stays positive; none: the paper's first."""
    fine_step_s: float | None = 0.1
    """What one round leaves infeasible is warped together with its neighbours by B-splines with
    knots so far apart, s; None: by the same bases again."""
    pad_s: float | None = None
    """Added to both sides of an infeasible stretch, s; 0 as in the paper. None: 1.5 time constants
    of the pendulum, and on to where the clip has margin."""
    floor: float = 0.2
    """No f′ is below it: at 0.2 no moment is more than five times as fast. 0 as in the paper."""
    max_speed_ratio: float | None = None
    """The same as a speed: no moment is more than so many times as fast as it was."""
    samples: int = 1024
    """Of the feasible region, for each segment and shape."""
    polish: int = 12
    """Steps of the local search from the best sample on; 0 for none, as in the paper."""
    rounds: int = 5
    """Times that segments are found, warped and judged, at most."""
    key_step_s: float = KEY_STEP_S
    """Key frames of a dense clip lie about so far apart; the frames between follow, s."""
    segments: tuple[tuple[float, float], ...] = ()
    """Segments by hand, s, taken as they are; none: what is infeasible is found, and padded."""
    check_rule: bool = False
    """Whether both shapes are searched everywhere, to see how often the rule is right."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be searched with."""
        for basis in (self.basis, *self.others):
            named(basis)
        if not 0.0 <= self.floor < 1.0:
            raise BadOption(what=f"the floor of f' must lie between 0 and 1, got {self.floor:g}")
        if self.max_speed_ratio is not None and not 1.0 < self.max_speed_ratio < np.inf:
            raise BadOption(
                what=f"the largest speed ratio must be above 1, got {self.max_speed_ratio:g}"
            )
        if self.pad_s is not None and not 0.0 <= self.pad_s < np.inf:
            raise BadOption(what=f"the pad must be 0 s or more, got {self.pad_s:g} s")
        for what, value in (("key", self.key_step_s), ("fine", self.fine_step_s)):
            if value is not None and not 0.0 < value < np.inf:
                raise BadOption(what=f"the {what} step must be positive, got {value:g} s")
        for what, number, least in (
            ("samples", self.samples, 1),
            ("polish", self.polish, 0),
            ("rounds", self.rounds, 1),
            ("seed", self.seed, 0),
        ):
            if number < least:
                raise BadOption(what=f"{what} must be {least} or more, got {number}")
        refuse_disorder(self.segments)

    @property
    def least_slope(self) -> float:
        """The floor of f′ that holds."""
        return max(self.floor, 0.0 if self.max_speed_ratio is None else 1.0 / self.max_speed_ratio)


def adapt(
    clip: Clip,
    robot: Robot,
    before: Feasibility,
    options: object | None = None,
    progress: Progress | None = None,
) -> Adaptation:
    """The clip at other times: every infeasible segment is warped by its best function.

    Args:
        before: the clip as it is, judged by `adaptation.judged`.
        options: `Options` of this module.

    Raises:
        BadOption: options of another method, or a basis that cannot be used.
    """
    if options is not None and not isinstance(options, Options):
        raise BadOption(what=f"expected options of the method warp, got {type(options).__name__}")
    chosen = options if isinstance(options, Options) else Options()
    refuse_outside(chosen.segments, clip.motion.time)
    if before.all_feasible and not chosen.segments:
        return Adaptation("warp", "warp", "unchanged", clip, before, before, details={"rounds": 0})
    work = _Work(clip, robot, before, chosen, progress)
    while work.goes_on():
        work.round()
    return work.adaptation()


class _Work:
    """A clip on its way: what it is now, and the best that it was."""

    def __init__(
        self,
        clip: Clip,
        robot: Robot,
        before: Feasibility,
        options: Options,
        progress: Progress | None,
    ) -> None:
        self.clip, self.robot, self.before = clip, robot, before
        self.options, self.progress = options, progress
        self.bases = [named(basis) for basis in (options.basis, *options.others)]
        self.regions: dict[int, Region] = {}
        self.keys = clip.motion.time[key_frames(clip.motion.time, options.key_step_s)]
        self.times = self.keys
        self.now = self.best = before
        self.timing: Timing | None = None
        self.rounds = self.idle = 0
        self.done: list[Done] = []
        self.hopeless: Array | None = None

    def goes_on(self) -> bool:
        """Whether there is something left to mend, and hope."""
        if self.options.segments:
            return self.rounds == 0
        return self.rounds < self.options.rounds and self.idle < 2 and not self.now.all_feasible

    def round(self) -> None:
        """Find, warp, judge."""
        self.rounds += 1
        path = self.path()
        self.hopeless = self.without_hope(path, self.fastest()) if self.rounds > 1 else None
        shift = np.zeros(len(self.keys))
        found = self.stretches()
        for i, stretch in enumerate(found):  # of the clip: a handful
            if self.progress is not None:
                self.progress(i, len(found), f"round {self.rounds}, {stretch.first:.2f} s")
            done = self.warped(path, stretch)
            self.done.append(done)
            if done.found is not None and done.found.shape is not None:
                shift[done.frames] += done.found.shift
        if not shift.any():
            self.idle = 2
            return
        self.times = self.times + shift
        timing = Timing(self.keys, self.times - self.keys)
        changed = retimed(self.clip, timing, what="warp", basis=self.bases[0].name,
                          round=self.rounds, seed=self.options.seed)  # fmt: skip
        self.now = judged(changed, self.robot, self.before.options)
        gain = worst_n(self.best) - worst_n(self.now)
        self.idle = 0 if gain > LITTLE * abs(worst_n(self.best)) else self.idle + 1
        if self.better():
            self.best, self.timing = self.now, timing

    def path(self) -> Path:
        """The clip as it is now, with what any timing of it asks."""
        chosen = self.before.options
        scales = Scales(chosen.length_scale_m, chosen.cone_sides, chosen.tolerance)
        return path_of(self.now.samples, self.times, scales=scales, weight_n=self.now.weight_n)

    def better(self) -> bool:
        """Whether the clip as it is now is the best so far, and no worse than before."""
        new, old = self.now, self.best
        gain = worst_n(old) - worst_n(new)
        if gain > GAIN * new.weight_n:
            return True
        rest = worst_n(self.before) - worst_n(new)
        even = min(gain, rest) >= -new.tolerance_n
        return even and bool(np.mean(new.feasible) > np.mean(old.feasible))

    def fastest(self) -> float:
        """The largest speed ratio that the floor allows, or that several rounds made of it."""
        slope = self.options.least_slope
        allowed = 1.0 / slope if slope > 0.0 else UNBOUNDED_SPEED
        if self.timing is None:
            return allowed
        return max(allowed, float(1.0 / self.timing.slope(self.before.time).min()))

    def without_hope(self, path: Path, fastest: float) -> Float64[Array, " n"]:
        """Lower bounds of d under any timing up to a speed, N; −inf where some timing may help."""
        rows = np.flatnonzero(self.now.upper > self.now.tolerance_n)
        out = np.full(self.now.samples.n, -np.inf)
        out[rows] = least_distances(
            path,
            self.now.upper,
            self.now.dual,
            rows,
            tolerance_n=self.now.tolerance_n,
            fastest=fastest,
        )
        return out

    def allowed(self) -> Float64[Array, " n"]:
        """What no timing can take from d of each sample, N, as far as that was asked.

        Of such samples Q counts the rest alone: else they would hide all others.
        """
        if self.hopeless is None:
            return np.zeros(self.now.samples.n)
        return np.maximum(self.hopeless, 0.0)

    def stretches(self) -> tuple[Stretch, ...]:
        """What is to be warped in this round."""
        if self.options.segments:
            first, last = float(self.times[0]), float(self.times[-1])
            return tuple(Stretch(a, b, first, last, by_hand=True) for a, b in self.options.segments)
        allowed = self.allowed()
        least = np.where(allowed > 0.0, WORTH * self.now.weight_n, self.now.tolerance_n)
        bad: BoolArray = self.now.upper - allowed > least
        # At first each for itself; what is left then is tied to its neighbours, and goes together.
        together = 1.0 if self.rounds == 1 else 2.0
        return stretches(self.now, bad, together * self.pad_s())

    def pad_s(self) -> float:
        """The pad that was asked for, or the one that suits the robot."""
        if self.options.pad_s is not None:
            return self.options.pad_s
        return PENDULUM_TIMES * pendulum_s(self.before)

    def warped(self, path: Path, stretch: Stretch) -> Done:
        """The best warp of one stretch: bases and pads in turn while Q stays positive."""
        own = self.options.pad_s is None and not stretch.by_hand
        ways: list[tuple[int | None, float]] = [
            (i, wider) for i in range(len(self.bases)) for wider in (WIDER if own else (1.0,))
        ]
        if self.rounds > 1 and self.options.fine_step_s is not None:
            ways.insert(0, (None, 1.0))
        best = self.tried(path, stretch, *ways[0], own)
        if self.hopeless is None and best.q_n > 0.0:  # a first warp that fails asks for the reason
            self.hopeless = self.without_hope(path, self.fastest())
            near = (self.now.time >= best.start) & (self.now.time <= best.end)
            if np.any(self.allowed()[near] > 0.0):
                best = self.tried(path, stretch, *ways[0], own)
        for i, wider in ways[1:]:  # a few
            if best.q_n <= -ENOUGH * self.now.weight_n:
                break
            done = self.tried(path, stretch, i, wider, own)
            if done.q_n < best.q_n:
                best = done
        return best

    def fine(self, length_s: float) -> Region:
        """The region of B-splines with knots a fine step apart."""
        step = self.options.fine_step_s or length_s
        count = int(np.clip(round(length_s / step), *FINE_PIECES))
        if -count not in self.regions:
            basis = bspline([k / count for k in range(1, count)])
            self.regions[-count] = region_of(basis, self.options.least_slope)
        return self.regions[-count]

    def region(self, i: int) -> Region:
        """The region of a basis, made when it is first needed."""
        if i not in self.regions:
            self.regions[i] = region_of(self.bases[i], self.options.least_slope)
        return self.regions[i]

    def tried(
        self, path: Path, stretch: Stretch, basis: int | None, wider: float, slack: bool
    ) -> Done:
        """The best warp of one stretch with one basis and one pad; None: fine B-splines."""
        pad_s = wider * self.pad_s()
        start, end = padded(self.now, stretch, pad_s, slack=slack)
        region = self.fine(end - start) if basis is None else self.region(basis)
        window = path.window(start, end)
        reach = reach_s(path, start, end, self.before.options.interpolation)
        kept = judged_samples(
            path,
            self.now.upper,
            window.samples,
            segment=(start, end),
            reach=reach,
            tolerance_n=self.now.tolerance_n,
        )
        window = window.picked(kept)
        upper, dual = self.now.upper[window.samples], self.now.dual[window.samples]
        allowed = self.allowed()[window.samples]
        before_n = float((upper - allowed).max(initial=-np.inf))
        found: Found | None = None
        if len(window.frames) and len(kept):
            oracle = Oracle(window, allowed)
            oracle.knows(upper, dual)
            found = search(
                window,
                oracle,
                region,
                (start, end),
                before_n=before_n,
                shape=rule(window, dual, upper - allowed, (start, end)),
                samples=self.options.samples,
                steps=self.options.polish,
                seed=self.options.seed,
                enough_n=-ENOUGH * self.now.weight_n,
                both=self.options.check_rule,
            )
        return Done(self.rounds, stretch, start, end, pad_s, reach, window.frames, found, before_n)

    def adaptation(self) -> Adaptation:
        """What became of the clip, in figures and words."""
        kept = self.timing is not None
        status: Status = "better" if kept else "unchanged"
        hopeless = np.full(self.before.samples.n, -np.inf)
        fastest = self.fastest()
        if self.best.all_feasible:
            status = "mended"
        else:
            self.now, self.times = self.before, self.keys
            hopeless = self.without_hope(self.path(), fastest)
        bound = float(hopeless.max(initial=-np.inf))
        if not kept and np.isfinite(bound):
            status = "refused"
        return Adaptation(
            method="warp",
            chosen="warp",
            status=status,
            clip=self.best.clip if kept else self.clip,
            before=self.before,
            after=self.best,
            timing=self.timing,
            lower_bound_n=bound if np.isfinite(bound) else None,
            why_not=warp_report.why_not(self.before, self.best, self.timing, hopeless, fastest),
            details=warp_report.details(
                self.before,
                self.done,
                list(self.regions.values()),
                self.timing,
                rounds=self.rounds,
                keys=len(self.keys),
                seed=self.options.seed,
            ),
            notices=warp_report.notices(self.before, self.best, self.done, len(self.keys)),
        )
