"""The best warp of a stretch with its duration kept: which side of D = T binds, and what then.

D(x) = ∫ ds / √x is convex, so D ≤ T is a convex constraint and D ≥ T is none. Where the motion
wants to be slower, D ≤ T alone gives the optimum. Where it wants to be faster, its value is still
a lower bound, and the x of one worst d are a convex set: a blend of a fast and a slow one lasts T.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from surefoot.adapters.warp_program import Answer, Course, Freedom, Judge, Program, blend
from surefoot.arrays import Array, Float64, locked

Case = Literal["identity", "relaxed", "blended", "bisected"]

MOST_HALVINGS = 30  # of the worst d between two bounds
SOON = 1e-9  # of the duration: nearer is rounding
EXACT_S = 1e-12  # of a duration: where the search for a blend ends


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """The best warp that was found in one freedom, and what is proven of all."""

    x: Float64[Array, " e"]
    value: float
    """Its worst d over the weight."""
    bound: float
    """No x of this freedom has a smaller one."""
    case: Case
    """identity: nothing helps, or nothing is needed; relaxed: the convex program, D ≤ T instead of
    D = T, has an optimum that lasts T; blended: its optimum is too fast, and a slower warp with the
    same worst d makes up for it; bisected: none does, D ≥ T binds, which is not convex, and the
    bound may stay apart from the value."""
    programs: int
    """Linear programs solved."""

    @property
    def gap(self) -> float:
        """Value − bound."""
        return self.value - self.bound


def best_warp(
    judge: Judge,
    freedom: Freedom,
    *,
    start: Float64[Array, " e"] | None = None,
    secant: bool = True,
    tighten: bool = True,
) -> Best:
    """The x with the smallest worst d over all with T ≤ D ≤ longest · T, and a lower bound.

    Args:
        start: an x of this freedom, such as the best one of a smaller freedom; None for x = 1.
        secant: whether a bound better than that of D ≤ T is sought where D ≥ T binds.
        tighten: whether the ranges of x are tightened for it: two linear programs a node.
    """
    course = judge.course
    program = Program(judge, freedom)
    start = np.ones(course.count + 1) if start is None else start
    relaxed = program.lowest(start)
    if course.lasts(relaxed.x) < course.duration * (1.0 - SOON):
        return _slowed(program, start, relaxed, secant=secant, tighten=tighten)
    lasts = course.lasts(relaxed.x)
    x = _lasting(program, relaxed.x, min(max(lasts, course.duration), program.limit_s))
    value = judge.worst(x, relaxed.bound)
    case: Case = "identity" if bool(np.all(x == 1.0)) else "relaxed"
    return Best(locked(x), value, relaxed.bound, case, program.solved)


def _slowed(
    program: Program, start: Array, relaxed: Answer, *, secant: bool, tighten: bool
) -> Best:
    """A warp that lasts T, from one that is too fast."""
    judge, course, tolerance = program.judge, program.course, program.freedom.tolerance
    low = relaxed.value
    high, best = judge.worst(start, relaxed.bound), start
    case: Case = "blended"
    x = _slow_enough(program, low)
    if x is not None:
        best, high = x, low + tolerance
    else:
        case = "bisected"
        for _ in range(MOST_HALVINGS):
            if high - low <= tolerance:
                break
            middle = 0.5 * (low + high)
            x = _slow_enough(program, middle)
            if x is None:
                low = middle
            else:
                best, high = x, middle
    x = best if best is start else blend(course, best, relaxed.x, course.duration)
    value = judge.worst(x, relaxed.bound)
    bound = relaxed.bound
    if case == "bisected" and secant and value - bound > tolerance:
        bound = max(bound, _secant_bound(program, start, relaxed, value, tighten=tighten))
    return Best(locked(x), value, bound, case, program.solved)


def _slow_enough(program: Program, t: float) -> Array | None:
    """An x with d ≤ t that lasts T or longer, if the slowest by its sum is one."""
    weights = np.ones(program.course.count + 1)
    x = program.within(t, weights)
    if x is None or program.course.lasts(x) < program.course.duration:
        return None
    return x


def _lasting(program: Program, x: Array, target_s: float) -> Array:
    """An x that lasts target_s but for the rounding of a program, made to last it exactly."""
    lasts = program.course.lasts(x)
    if abs(lasts - target_s) <= EXACT_S * target_s:
        return x
    if lasts > target_s:
        return blend(program.course, x, program.extreme(-1.0), target_s)
    return blend(program.course, program.extreme(1.0), x, target_s)


def _secant_bound(
    program: Program, start: Array, relaxed: Answer, value: float, *, tighten: bool
) -> float:
    """A bound that knows of D ≥ T: the secants of 1/√x over the range of each x.

    D ≤ Σ w_i / √x_i with w_i = ds, half at the ends, and 1/√x lies below its secant, so
    "secants ≥ T" holds for every x that lasts T.
    """
    bound = relaxed.bound
    box = program.box.copy()
    for round_ in range(2 if tighten else 1):
        if round_ == 1:
            box = _ranges(program, value, box)
        narrow = Program(program.judge, program.freedom)
        narrow.box = box
        narrow.hold(*_secant_row(program.course, box))
        found = narrow.lowest(start)
        program.solved += narrow.solved
        bound = max(bound, min(found.bound, value))
        if value - bound <= program.freedom.tolerance:
            break
    return bound


def _secant_row(course: Course, box: Float64[Array, "e 2"]) -> tuple[Array, float]:
    """−secants(x) ≤ −T as a row, divided by the step."""
    low, high = box[:, 0], box[:, 1]
    weights = np.ones(len(low))
    weights[[0, -1]] = 0.5
    wide = high - low > 1e-12
    run = np.where(wide, high - low, 1.0)
    slope = np.where(wide, (1.0 / np.sqrt(high) - 1.0 / np.sqrt(low)) / run, 0.0)
    base = 1.0 / np.sqrt(low) - slope * low
    return -weights * slope, float(weights @ base) - course.duration / course.step


def _ranges(program: Program, t: float, box: Float64[Array, "e 2"]) -> Array:
    """Range of each x over all with the linear bounds of d ≤ t: two linear programs a node."""
    out = box.copy()
    narrow = Program(program.judge, replace(program.freedom))
    narrow.hold(*_secant_row(program.course, box))
    for i in np.flatnonzero(box[:, 1] > box[:, 0]):
        for side, sign in ((0, 1.0), (1, -1.0)):
            found = narrow.edge(t, int(i), sign)
            if found is not None:
                better = (max if side == 0 else min)(out[i, side], found)
                out[i, side] = better
    return out
