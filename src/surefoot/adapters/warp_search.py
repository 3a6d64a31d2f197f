"""The best warp of one segment: section V.C of Zheng and Yamane.

Q (15) of a warp is the worst d that the re-timed frames really make: their times lie on f, and the
clip's own curve runs through them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.optimize import linprog

from surefoot.adapters.oracle import Oracle
from surefoot.adapters.path import Window
from surefoot.adapters.region import Region
from surefoot.arrays import Array, BoolArray, Float64, locked

Shape = Literal["first slower", "first faster"]
SHAPES: tuple[Shape, Shape] = ("first slower", "first faster")

NEAR_WORST = 0.7  # of the worst d: samples that the first-order rule looks at
MOST_ASKED = 40  # timings of a crowd whose exact Q is asked at most
TRUST = 0.1  # of the region's box: the first step of the polish goes so far at most
SHRINKS, GROWS = 0.4, 1.5  # of that, after a step that failed, and after one that gained
LITTLE = 0.003  # of |Q|: a step that gains less is the last
SEEN = 0.1  # of the weight: bounds so far below Q are not looked at
MOST_SAMPLED = 6  # free coefficients: more cannot be sampled, and are found by the polish alone
BINDS = 0.02  # above its floor: a smallest f' below that counts as held by it
SLOWEST_SLOPE = 1e-3  # of t between the frames: below, time all but stands


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The best warp of a segment with one basis."""

    start: float
    """Of the segment, s."""
    end: float
    region: Region
    lam: Float64[Array, " q"]
    shift: Float64[Array, " k"]
    """How much later each frame of the window happens, s."""
    q_n: float
    """The worst d, N."""
    before_n: float
    """The same of the clip as it was."""
    rule: Shape | None
    """The shape that the first-order rule chose; None where it has nothing to go by."""
    shape: Shape | None
    """The shape of the warp; None where none is better than the clip as it was."""
    own_q_n: float | None
    """Best Q of the samples of the rule's shape, where both were searched, N."""
    other_q_n: float | None
    """The same of the other shape."""
    candidates: int
    asked: int
    """Timings whose exact d was asked for."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        object.__setattr__(self, "lam", locked(self.lam))
        object.__setattr__(self, "shift", locked(self.shift))

    @property
    def coefficients(self) -> Float64[Array, " k"]:
        """The c of f = Σ c_k f_k."""
        return np.asarray(self.region.coefficients(self.lam[None])[0], dtype=np.float64)

    @property
    def least_slope(self) -> float:
        """The smallest f′."""
        return self.region.least_slope(self.coefficients)

    @property
    def floor_binds(self) -> bool:
        """Whether f′ comes down to its floor, so that a lower floor might allow a better warp."""
        return self.region.floor > 0.0 and self.least_slope < self.region.floor + BINDS


class Search:
    """One segment and one region: timings as functions of λ, and the best of them."""

    def __init__(
        self, window: Window, oracle: Oracle, region: Region, start: float, end: float
    ) -> None:
        """Shifts of frames are linear in λ, and so are t' and t" of every sample."""
        self.window, self.oracle, self.region = window, oracle, region
        self.start, self.end = start, end
        length = end - start
        tau = (window.frame_time - start) / length
        values = region.basis.evaluate(tau, 0)
        self._shift0 = length * (values @ region.particular - tau)
        self._shift1 = length * (values @ region.null).T
        self._slope0 = 1.0 + window.slope @ self._shift0
        self._slope1 = self._shift1 @ window.slope.T
        self._bend0 = window.bend @ self._shift0
        self._bend1 = self._shift1 @ window.bend.T
        self._region_slopes = region.slopes()
        self.candidates = 0

    def shift(self, lam: Float64[Array, "c q"]) -> Float64[Array, "c k"]:
        """How much later each frame happens, s."""
        return np.asarray(self._shift0 + lam @ self._shift1, dtype=np.float64)

    def lean(self, lam: Float64[Array, "c q"]) -> Float64[Array, " c"]:
        """Mean shift of the frames: positive where f is above the diagonal, first slower."""
        return np.asarray(self.shift(lam).mean(axis=1), dtype=np.float64)

    def best(
        self, lam: Float64[Array, "c q"], *, most: int, below: float
    ) -> tuple[Float64[Array, " q"] | None, float]:
        """The λ with the smallest Q below a value, N; None where there is none."""
        slope = self._slope0 + lam @ self._slope1
        forward = slope.min(axis=1, initial=1.0) > SLOWEST_SLOPE
        lam, slope = lam[forward], slope[forward]
        speed = 1.0 / slope
        rate = -(self._bend0 + lam @ self._bend1) * speed**3
        self.candidates += len(lam)
        i, value = self.oracle.best_of(speed, rate, most=most, below=below)
        return (lam[i] if i >= 0 else None), value

    def polished(
        self, lam: Float64[Array, " q"], value: float, *, steps: int
    ) -> tuple[Float64[Array, " q"], float]:
        """A better λ near one, by linear programs within a trust region that follows their luck.

        Known bounds of d, to first order in λ, and f′ at sample points stand in for Q and for
        (13); exact Q and the proof of increase decide what is taken.
        """
        trust = TRUST * (self.region.high - self.region.low)
        for _ in range(steps):  # each one program and one exact Q
            step = self._step(lam, value, trust)
            if step is None:
                break
            found, better = None, value
            if self.region.increasing((lam + step)[None])[0]:
                found, better = self.best((lam + step)[None], most=1, below=value)
            if found is None:
                trust = trust * SHRINKS
                continue
            gain, lam, value = value - better, found, better
            trust = trust * GROWS
            if gain < LITTLE * abs(value):
                break
        return lam, value

    def result(
        self,
        lam: Float64[Array, " q"],
        q_n: float,
        before_n: float,
        *,
        rule: Shape | None,
        moved: bool,
        asked: int,
    ) -> Found:
        """What was found; without a better λ the frames stay where they are."""
        shift = self.shift(lam[None])[0] if moved else np.zeros(len(self.window.frames))
        shape = SHAPES[0 if self.lean(lam[None])[0] >= 0.0 else 1] if moved else None
        return Found(
            self.start, self.end, self.region, lam, shift, q_n, before_n, rule, shape,
            None, None, self.candidates, asked,
        )  # fmt: skip

    def _step(self, lam: Array, value: float, trust: Array) -> Array | None:
        """The change of λ that lowers the known bounds most; None where none does."""
        slope = self._slope0 + lam @ self._slope1
        bend = self._bend0 + lam @ self._bend1
        speed, rate = 1.0 / slope, -bend / slope**3
        weight = self.window.path.weight_n
        rows, bound, with_rate, with_square = self.oracle.slices(
            speed, rate, above=value - SEEN * weight
        )
        if len(rows) == 0:
            return None
        square1 = -2.0 * self._slope1[:, rows] * speed[rows] ** 3
        rate1 = -self._bend1[:, rows] * speed[rows] ** 3
        rate1 += 3.0 * self._slope1[:, rows] * bend[rows] * speed[rows] ** 4
        change = (with_rate * rate1 + with_square * square1).T
        forward, start = self._region_slopes
        room = start + forward @ lam - self.region.floor
        q = len(lam)
        matrix = np.zeros((len(rows) + len(room), q + 1))
        matrix[: len(rows), :q], matrix[: len(rows), q] = change / weight, -1.0
        matrix[len(rows) :, :q] = -forward
        right = np.concatenate([-bound / weight, np.maximum(room, 0.0)])
        bounds: list[tuple[float | None, float | None]] = [(-x, x) for x in trust.tolist()]
        bounds.append((None, None))
        answer = linprog(
            np.append(np.zeros(q), 1.0), A_ub=matrix, b_ub=right, bounds=bounds, method="highs"
        )
        if answer.status != 0:
            return None
        x = np.asarray(answer.x, dtype=np.float64)
        return x[:q] if x[q] * weight < value else None


def rule(
    window: Window,
    dual: Float64[Array, "m 6"],
    upper: Float64[Array, " m"],
    segment: tuple[float, float],
) -> Shape | None:
    """The shape that lowers the worst d to first order; None where nothing is infeasible.

    With t = s + ε h(s), h a bump over the segment, d changes by ε m · (a δs̈ + 2 b δṡ). Of the
    samples above 0.7 of the worst d, the sign of ε whose largest change is smaller.
    """
    worst = float(upper.max(initial=-np.inf))
    if not 0.0 < worst < np.inf:
        return None
    start, end = segment
    tau = (window.frame_time - start) / (end - start)
    shift = (end - start) * np.maximum(tau * (1.0 - tau), 0.0) ** 3
    k = window.path.coefficients
    along_a = np.sum(dual * window.scaled(k.a), axis=1)
    along_b = np.sum(dual * window.scaled(k.b), axis=1)
    change = -along_a * (window.bend @ shift) - 2.0 * along_b * (window.slope @ shift)
    near: BoolArray = upper >= NEAR_WORST * worst
    slower, faster = float(change[near].max()), float((-change[near]).max())
    return SHAPES[0] if slower < faster else SHAPES[1]


def search(
    window: Window,
    oracle: Oracle,
    region: Region,
    segment: tuple[float, float],
    *,
    before_n: float,
    shape: Shape | None,
    samples: int,
    steps: int,
    seed: int,
    enough_n: float,
    both: bool,
) -> Found:
    """The best warp of a segment.

    Args:
        shape: the one that the rule chose; the other is searched where Q stays above `enough_n`.
        samples: of the feasible region.
        steps: of the polish; 0 for none.
        both: whether the other shape is searched in any case, to see whether the rule was right.
    """
    task = Search(window, oracle, region, *segment)
    asked = oracle.asked
    many = region.free > MOST_SAMPLED
    crowd = np.zeros((1, region.free)) if many else region.drawn(samples, seed)
    lean = task.lean(crowd)
    sides = {SHAPES[0]: lean >= 0.0, SHAPES[1]: lean <= 0.0}
    order = SHAPES if shape is None else (shape, *(one for one in SHAPES if one != shape))
    lam, value, moved = np.zeros(region.free), before_n, False
    own: list[float] = []
    for one in order[:1] if many else order:  # two at most
        if own and shape is not None and value <= enough_n and not both:
            break
        found, q_n = task.best(
            crowd[sides[one]], most=MOST_ASKED, below=before_n if both else value
        )
        own.append(q_n)
        if many:
            found, q_n = crowd[0], before_n  # the clip as it is, from where the polish goes on
        if found is not None:
            found, q_n = task.polished(found, q_n, steps=steps)
        if found is not None and q_n < value:
            lam, value, moved = found, q_n, True
    result = task.result(lam, value, before_n, rule=shape, moved=moved, asked=oracle.asked - asked)
    return replace(result, own_q_n=own[0], other_q_n=own[1]) if both and len(own) > 1 else result
