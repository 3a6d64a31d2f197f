"""The best warp of a stretch as a convex program in x = ṡ².

With x linear between the nodes of a grid in s, s̈ = x′/2, so the required wrench is affine in x:

    w = a x′/2 + b x + c

and d(w) is convex. The worst d over all points of the stretch is minimised with cutting planes:
d(w) ≥ m · w for every dual direction m that was ever found, so each linear program bounds it from
below, and the exact d of its answer bounds it from above.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from surefoot.adapters.exact import Exact
from surefoot.adapters.linear import least, proven
from surefoot.arrays import Array, Float64, Int64, IntArray, locked, locked_int
from surefoot.contacts.cones import Cones
from surefoot.errors import BadOption
from surefoot.index.distance import Scales

MOST_ROUNDS = 60  # of cuts; 5 to 20 are usual
ROUNDING = 1e-9  # of a duration
SOON = 1e-5  # of a duration: tangents do the rest
HOPELESS = 100.0  # tolerances of the bound itself: enough where no warp mends a stretch
FAR = 0.1  # over the weight: cuts so far under the best value are left out


@dataclass(frozen=True, slots=True)
class Freedom:
    """Which warps are allowed."""

    slowest: float = 0.2
    """Smallest ṡ: the speed over the speed that the clip had."""
    fastest: float = 3.0
    """Largest ṡ."""
    bend: float = np.inf
    """Largest |x″|, 1/s²."""
    longest: float = 1.0
    """Largest duration over the duration that the stretch had."""
    smooth_ends: bool = True
    """Whether s̈ is 0 at both ends, where ṡ is 1 always."""
    tolerance: float = 1e-4
    """Gap between the bounds, over the weight, at which a program ends."""

    def __post_init__(self) -> None:
        """Refuse what allows no warp, not even the clip as it is."""
        if not 0.0 < self.slowest <= 1.0 <= self.fastest < np.inf:
            raise BadOption(
                what="speeds over the clip's own must allow 1 and be positive,"
                f" got {self.slowest:g} to {self.fastest:g}"
            )
        if not self.bend > 0.0:
            raise BadOption(what=f"the rate bound must be positive, got {self.bend:g} 1/s²")
        if not 1.0 <= self.longest < np.inf:
            raise BadOption(what=f"the longest duration must be 1 or more, got {self.longest:g}")
        if not 1e-7 <= self.tolerance < 1.0:
            raise BadOption(
                what=f"the tolerance must lie between 1e-7 and 1, got {self.tolerance:g}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """A stretch of a path as the program sees it: a grid in s, and points between its nodes."""

    step: float
    """Between two nodes, s."""
    count: int
    """Number of cells; one node more."""
    cell: Int64[IntArray, " n"]
    """In which cell each point lies."""
    fraction: Float64[Array, " n"]
    """Where in it, 0 to 1."""
    a: Float64[Array, "n 6"]
    """w = a s̈ + b ṡ² + c, force and moment about ref_w, N and N m."""
    b: Float64[Array, "n 6"]
    c: Float64[Array, "n 6"]
    cones: Cones
    ref_w: Float64[Array, "n 3"]
    weight_n: float
    scales: Scales = field(default_factory=Scales)
    ceiling: Float64[Array, " e"] | None = None
    """Largest x at each node besides, 1 or more; None for no such limit."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse a grid without a node that may move."""
        for name in ("fraction", "a", "b", "c", "ref_w"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        object.__setattr__(self, "cell", locked_int(self.cell))
        if self.count < 4 or not self.step > 0.0:
            raise BadOption(what=f"expected 4 cells or more, got {self.count} of {self.step:g} s")

    @property
    def duration(self) -> float:
        """Of the stretch at its own speed, s."""
        return self.step * self.count

    def time(self, x: Float64[Array, " e"]) -> Float64[Array, " e"]:
        """The moment of each node, from 0; exact for x that is linear between the nodes."""
        root = np.sqrt(x)
        return np.concatenate([[0.0], np.cumsum(2.0 * self.step / (root[:-1] + root[1:]))])

    def lasts(self, x: Float64[Array, " e"]) -> float:
        """D = ∫ ds / √x, s."""
        return float(self.time(x)[-1])

    def wrenches(self, x: Float64[Array, " e"]) -> Float64[Array, "n 6"]:
        """What a warp asks of each point, N and N m."""
        rate = (x[self.cell + 1] - x[self.cell]) / (2.0 * self.step)
        speed2 = (1.0 - self.fraction) * x[self.cell] + self.fraction * x[self.cell + 1]
        return rate[:, None] * self.a + speed2[:, None] * self.b + self.c

    def bounds(self, freedom: Freedom) -> Float64[Array, "e 2"]:
        """Smallest and largest x of each node; both 1 where the ends are held."""
        out = np.tile([freedom.slowest**2, freedom.fastest**2], (self.count + 1, 1))
        if self.ceiling is not None:
            out[:, 1] = np.minimum(out[:, 1], self.ceiling)
        out[[0, -1]] = 1.0
        if freedom.smooth_ends:
            out[[1, -2]] = 1.0
        return out


class Judge:
    """Exact distances of a course, and the cuts that they left.

    A cut holds for every warp of the course, whatever its freedom.
    """

    def __init__(self, course: Course) -> None:
        """Nothing is known yet."""
        self.course = course
        self.exact = Exact(course.cones, course.ref_w, course.scales, course.weight_n)
        parts = (course.a, course.b, course.c)
        self._parts = tuple(self.exact.over_weight(part) for part in parts)
        self.cell: IntArray = np.zeros(0, dtype=np.int64)
        """Of each cut: left x_cell + right x_(cell + 1) + rest ≤ t, over the weight."""
        self.left: Array = np.zeros(0)
        self.right: Array = np.zeros(0)
        self.rest: Array = np.zeros(0)

    def remember(self, upper_n: Float64[Array, " n"], dual: Float64[Array, "n 6"]) -> None:
        """What is known of the motion as it is, x = 1: upper bounds of d, N, and directions."""
        self.exact.remember(self.course.wrenches(np.ones(self.course.count + 1)), upper_n)
        rows = np.flatnonzero(np.isfinite(upper_n))
        near = rows[upper_n[rows] > upper_n[rows].max(initial=0.0) - FAR * self.course.weight_n]
        self._learn(near, dual[near])

    def worst(self, x: Float64[Array, " e"], enough: float) -> float:
        """A proven upper bound of the worst d over the weight, exact above `enough`."""
        found = self.exact.ask(self.course.wrenches(x), enough)
        self._learn(found.rows, found.dual)
        return found.worst

    def _learn(self, rows: Int64[IntArray, " k"], dual: Float64[Array, "k 6"]) -> None:
        a, b, c = (np.einsum("kd,kd->k", dual, part[rows]) for part in self._parts)
        rate, share = a / (2.0 * self.course.step), self.course.fraction[rows]
        self.cell = np.concatenate([self.cell, self.course.cell[rows]])
        self.left = np.concatenate([self.left, (1.0 - share) * b - rate])
        self.right = np.concatenate([self.right, share * b + rate])
        self.rest = np.concatenate([self.rest, c])

    def forget(self, x: Float64[Array, " e"], below: float) -> None:
        """Cuts that lie below a value at x go; they are found again where they come to matter."""
        near = self.left * x[self.cell] + self.right * x[self.cell + 1] + self.rest >= below
        self.cell, self.left = self.cell[near], self.left[near]
        self.right, self.rest = self.right[near], self.rest[near]

    def cuts(self) -> csr_array:
        """Left and right as rows over all nodes."""
        n = len(self.cell)
        place = np.stack([self.cell, self.cell + 1], axis=1).ravel()
        values = np.stack([self.left, self.right], axis=1).ravel()
        start = 2 * np.arange(n + 1)
        return csr_array((values, place, start), shape=(n, self.course.count + 1))


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a program came to."""

    x: Float64[Array, " e"]
    value: float
    """Its proven worst d, over the weight."""
    bound: float
    """No x that the program allows has a smaller one; −inf where nothing was proven."""


class Program:
    """All linear programs of one course and one freedom."""

    def __init__(self, judge: Judge, freedom: Freedom) -> None:
        """The rows that hold always."""
        self.judge, self.freedom, self.course = judge, freedom, judge.course
        self.box: Array = self.course.bounds(freedom)
        self.limit_s = freedom.longest * self.course.duration
        self.rows, self.sides = self._bends()
        self.solved = 0
        """Linear programs solved."""

    def lowest(self, start: Float64[Array, " e"]) -> Answer:
        """The smallest worst d over all x with D ≤ limit: a convex program.

        Args:
            start: an x that is allowed.
        """
        tolerance, judge = self.freedom.tolerance, self.judge
        best, value, bound, quick = start, np.inf, -np.inf, self.extreme(-1.0)
        if len(judge.cell) == 0:
            judge.worst(start, -np.inf)
        for round_ in range(MOST_ROUNDS):  # each adds cuts; rounds, not samples
            x, low = self._least_t()
            bound = max(bound, low)
            if round_ == 0:
                value = judge.worst(start, bound)
            x = self._in_time(x, bound + 0.5 * tolerance, quick)
            found = judge.worst(x, bound + 0.25 * tolerance)
            if found < value:
                best, value = x, found
            if value - bound <= tolerance * max(1.0, HOPELESS * bound):
                break
        judge.forget(best, value - FAR)
        return Answer(locked(best), value, bound)

    def _in_time(self, x: Array, t: float, quick: Array) -> Array:
        """An x that keeps to the duration: a blend with the quickest of the same t if that does."""
        self._hold_duration(x)
        if self.course.lasts(x) <= self.limit_s:
            return x
        if self.course.lasts(x) > self.limit_s * (1.0 + SOON):
            faster = self._solve(np.full(len(x), -1.0), t, len(self.sides))
            if faster is not None and self.course.lasts(faster) <= self.limit_s:
                return blend(self.course, x, faster, self.limit_s)
        x = blend(self.course, x, quick, self.limit_s)
        self._hold_duration(x)
        return x

    def within(self, t: float, objective: Float64[Array, " e"]) -> Array | None:
        """The x with d ≤ t and the least objective, whatever its duration; None if none is."""
        for _ in range(MOST_ROUNDS):  # each adds cuts
            x = self._solve(objective, t, self._steady)
            if x is None:
                return None
            if self.judge.worst(x, t + 0.5 * self.freedom.tolerance) <= t + self.freedom.tolerance:
                return x
        return None

    def extreme(self, sign: float) -> Array:
        """The x with the least (1) or largest (−1) sum, whatever its d and its duration."""
        x = self._solve(np.full(len(self.box), sign), np.inf, self._steady)
        return np.ones(len(self.box)) if x is None else x

    def edge(self, t: float, node: int, sign: float) -> float | None:
        """A bound of x of a node over all with d ≤ t: the least (1) or the largest (−1)."""
        objective = np.zeros(len(self.box))
        objective[node] = sign
        x = self._solve(objective, t, len(self.sides))
        return None if x is None else float(x[node])

    def hold(self, row: Float64[Array, " e"], side: float) -> None:
        """One more row · x ≤ side for all programs of the smallest worst d."""
        self.rows = vstack([self.rows, csr_array(row[None])], format="csr")
        self.sides = np.append(self.sides, side)

    def _bends(self) -> tuple[csr_array, Array]:
        """|x_(i−1) − 2 x_i + x_(i+1)| ≤ J ds²."""
        inner = self.course.count - 1
        if not np.isfinite(self.freedom.bend):
            self._steady = 0
            return csr_array((0, self.course.count + 1)), np.zeros(0)
        place = (np.arange(inner)[:, None] + np.arange(3)).ravel()
        values = np.tile([1.0, -2.0, 1.0], inner)
        rows = csr_array(
            (values, place, 3 * np.arange(inner + 1)), shape=(inner, self.course.count + 1)
        )
        most = self.freedom.bend * self.course.step**2
        self._steady = 2 * inner
        return vstack([rows, -rows], format="csr"), np.full(2 * inner, most)

    def _hold_duration(self, x: Float64[Array, " e"]) -> None:
        """D is convex: its tangent at an x that lasts too long cuts it off."""
        lasts = self.course.lasts(x)
        if lasts < self.limit_s * (1.0 - ROUNDING):
            return
        root = np.sqrt(x)
        each = self.course.step / (root[:-1] + root[1:]) ** 2
        slope = np.zeros(len(x))
        slope[:-1] -= each / root[:-1]
        slope[1:] -= each / root[1:]
        scale = 1.0 / self.course.step
        self.hold(scale * slope, scale * (self.limit_s - lasts + float(slope @ x)))

    def _least_t(self) -> tuple[Array, float]:
        """The x with the smallest t under all cuts, and a t that is proven."""
        cuts = self.judge.cuts()
        k = cuts.shape[0]
        column = csr_array(np.concatenate([np.full(k, -1.0), np.zeros(len(self.sides))])[:, None])
        rows = vstack([cuts, self.rows], format="csr")
        side = np.concatenate([-self.judge.rest, self.sides])
        matrix = hstack([rows, column], format="csr")
        objective = np.zeros(len(self.box) + 1)
        objective[-1] = 1.0
        bounds = np.vstack([self.box, [-np.inf, np.inf]])
        self.solved += 1
        found = least(objective, matrix, side, bounds)
        if found is None:
            return np.ones(len(self.box)), -np.inf
        return found.x[:-1], proven(found.multipliers, rows, side, k, self.box)

    def _solve(self, objective: Float64[Array, " e"], t: float, held: int) -> Array | None:
        """The least objective under the cuts at t and the first `held` rows; None if infeasible."""
        rows, side = self.rows[:held], self.sides[:held]
        if np.isfinite(t):
            rows = vstack([self.judge.cuts(), rows], format="csr")
            side = np.concatenate([t - self.judge.rest, side])
        self.solved += 1
        found = least(objective, rows, side, self.box)
        return None if found is None else found.x


def blend(course: Course, slow: Array, fast: Array, target_s: float) -> Array:
    """(1 − l) fast + l slow that lasts target_s.

    D is convex along the line, under the target at one end and not at the other: it passes once.
    """
    low, high = 0.0, 1.0
    for _ in range(200):  # halvings of one number
        middle = 0.5 * (low + high)
        if course.lasts((1.0 - middle) * fast + middle * slow) < target_s:
            low = middle
        else:
            high = middle
        if high - low <= 1e-16:
            break
    return np.asarray((1.0 - high) * fast + high * slow, dtype=np.float64)
