"""From a speed along a stretch to times of its key frames, and the times made better still.

A program's answer may change its acceleration at every node; frames some 30 ms apart cannot follow
that, so a warp is judged on the spline that its frames make, and polished there: each step is a
linear program in the shifts of the frames, within a radius in which that is close enough.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from surefoot.adapters.exact import Exact
from surefoot.adapters.linear import least
from surefoot.adapters.path import Path
from surefoot.adapters.warp_program import Course, Freedom
from surefoot.arrays import Array, Float64, IntArray

POLISHES = 8  # steps at most; 2 to 5 are usual
BESIDE = 2.0  # key frames beyond both ends that are judged with a stretch
NEAR = 0.01  # over the weight: a step is not expected to gain more
FIRST_STEP = 0.1  # of the distance of two key frames: how far a shift may move at first
LAST_STEP = 1e-4  # of it: where the polishing ends
SMALL = 1e-3  # of a row's largest entry: left out of a program whose step is tried anyway
LEAST_COST = 1e-6  # over the weight, of a step: what need not move stays
GAIN = 2e-5  # over the weight: less is none


class Fit:
    """A stretch of a path as its key frames move it; y are their shifts, s.

    The last entry of y is how much later all that follows happens, where durations may change.
    """

    def __init__(
        self,
        path: Path,
        start: float,
        end: float,
        freedom: Freedom,
        most_x: Float64[Array, " n"] | None = None,
    ) -> None:
        """Splines of unit shifts.

        Args:
            most_x: largest ṡ² at each sample of the path, 1 or more; None for no such limit.
        """
        longer = freedom.longest > 1.0
        self.path, self.freedom, self.start = path, freedom, start
        self.window = path.window(start, np.inf if longer else end)
        where = path.s[self.window.samples]
        beside = BESIDE * float(np.median(np.diff(path.frame_time)))
        judged = (where >= start - beside) & (where <= end + beside)
        time = self.window.frame_time
        self.inner = np.flatnonzero(time < end)
        basis = np.zeros((len(time), len(self.inner) + longer))
        basis[self.inner, np.arange(len(self.inner))] = 1.0
        if longer:
            basis[len(self.inner) :, -1] = 1.0
        self.basis: Array = basis
        self.slope: Array = self.window.slope[judged] @ basis
        self.bend: Array = self.window.bend[judged] @ basis
        self.samples: IntArray = self.window.samples[judged]
        samples = self.samples
        self.exact = Exact(
            path.samples.cones.picked(samples),
            path.samples.ref_w[samples],
            path.scales,
            path.weight_n,
        )
        k = path.coefficients
        self.a, self.b, self.c = (part[samples] for part in (k.a, k.b, k.c))
        ceiling = np.full(len(samples), freedom.fastest**2)
        if most_x is not None:
            ceiling = np.minimum(ceiling, most_x[samples])
        self.least_slope: Array = 1.0 / np.sqrt(ceiling)
        self.row: IntArray = np.zeros(0, dtype=np.int64)
        """Point of each direction that was found."""
        self.dual: Array = np.zeros((0, 6))

    def shifts(self, course: Course, x: Float64[Array, " e"]) -> Float64[Array, " k"]:
        """Of a warp whose x = ṡ² is linear between the nodes of a course that begins at start."""
        node = course.time(x)
        place = self.window.frame_time[self.inner] - self.start
        cell = np.clip((place / course.step).astype(np.int64), 0, course.count - 1)
        rest = place - cell * course.step
        here = x[cell] + (x[cell + 1] - x[cell]) * rest / course.step
        inner = node[cell] + 2.0 * rest / (np.sqrt(x[cell]) + np.sqrt(here)) - place
        tail = [course.lasts(x) - course.duration] * (self.basis.shape[1] - len(self.inner))
        return np.concatenate([inner, tail])

    def allowed(self, y: Float64[Array, " k"]) -> Float64[Array, " k"]:
        """The largest part of some shifts that keeps all limits of speed: t′ is linear in them."""
        bent = self.slope @ y
        room = np.where(bent < 0.0, self.least_slope - 1.0, 1.0 / self.freedom.slowest - 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(np.abs(bent) > np.abs(room), room / bent, 1.0)
        return y * float(share.min(initial=1.0))

    def wrenches(self, y: Float64[Array, " k"]) -> Float64[Array, "n 6"]:
        """What the contacts must give at each sample that the shifts reach, N and N m."""
        slope, bend = 1.0 + self.slope @ y, self.bend @ y
        rate, speed2 = -bend / slope**3, 1.0 / slope**2
        return rate[:, None] * self.a + speed2[:, None] * self.b + self.c

    def remember(self, upper_n: Float64[Array, " n"], dual: Float64[Array, "n 6"]) -> None:
        """Bounds and directions of d of the clip as it is, at all samples of the path."""
        upper_n, dual = upper_n[self.samples], dual[self.samples]
        self.exact.remember(self.wrenches(np.zeros(self.basis.shape[1])), upper_n)
        self.row = np.flatnonzero(np.isfinite(upper_n))
        self.dual = dual[self.row]

    def worst(self, y: Float64[Array, " k"], enough: float = -np.inf) -> float:
        """A proven upper bound of the worst d over the weight, exact above `enough`."""
        found = self.exact.ask(self.wrenches(y), enough)
        self.row = np.concatenate([self.row, found.rows])
        self.dual = np.concatenate([self.dual, found.dual])
        return found.worst

    def polished(
        self, y: Float64[Array, " k"], value: float, steps: int = POLISHES
    ) -> tuple[Array, float]:
        """Shifts with a smaller worst d than some others near by, and that d."""
        spacing = float(np.median(np.diff(self.path.frame_time)))
        radius, last = FIRST_STEP * spacing, LAST_STEP * FIRST_STEP * spacing
        for _ in range(steps):  # each is a linear program about the last
            if radius < last:
                break
            step, promise = self._step(y, value, radius)
            if step is None or value - promise < GAIN:
                break
            tried = self.allowed(y + step)
            found = self.worst(tried, promise)
            if found < value - 0.1 * (value - promise):
                y, value, radius = tried, found, 1.5 * radius
            else:
                radius *= 0.35
        return y, value

    def _step(
        self, y: Float64[Array, " k"], value: float, radius: float
    ) -> tuple[Array | None, float]:
        """The best step within a radius by all directions that are known, and the d it promises."""
        k = len(y)
        cuts, now = self._linear(y)
        reach = now + radius * np.abs(cuts).sum(axis=1)
        binding = reach > value - NEAR
        cuts, now = cuts[binding], now[binding]
        rows, room = self._speeds(y, radius)
        both = np.concatenate([cuts, rows])
        both[np.abs(both) < SMALL * np.abs(both).max(axis=1, initial=0.0, keepdims=True)] = 0.0
        up = np.zeros((len(both), 1))
        up[: len(cuts)] = -1.0
        matrix = csr_array(np.hstack([both, -both, up]))
        side = np.concatenate([-now, room])
        cost = np.concatenate([np.full(2 * k, LEAST_COST / (k * radius)), [1.0]])
        box = np.tile([0.0, radius], (2 * k + 1, 1))
        box[-1] = -np.inf, np.inf
        found = least(cost, matrix, side, box)
        if found is None:
            return None, value
        return found.x[:k] - found.x[k : 2 * k], float(found.x[-1])

    def _linear(self, y: Float64[Array, " k"]) -> tuple[Array, Array]:
        """Rows and values of all known directions: m · w = rows · step + values at first order."""
        now = np.einsum("kd,kd->k", self.dual, self.exact.over_weight(self.wrenches(y))[self.row])
        row, dual = self.row, self.dual
        a, b = (
            np.einsum("kd,kd->k", dual, self.exact.over_weight(part)[row])
            for part in (self.a, self.b)
        )
        slope, bend = 1.0 + (self.slope @ y)[row], (self.bend @ y)[row]
        by_slope = a * 3.0 * bend / slope**4 - b * 2.0 / slope**3
        by_bend = -a / slope**3
        rows = by_slope[:, None] * self.slope[row] + by_bend[:, None] * self.bend[row]
        return rows, now

    def _speeds(self, y: Float64[Array, " k"], radius: float) -> tuple[Array, Array]:
        """Limits of t′ that a step may reach, as rows · step ≤ room."""
        slope = 1.0 + self.slope @ y
        reach = radius * np.abs(self.slope).sum(axis=1)
        over = 1.0 / self.freedom.slowest - slope
        under = slope - self.least_slope
        high, low = over < reach, under < reach
        rows = np.concatenate([self.slope[high], -self.slope[low]])
        return rows, np.maximum(np.concatenate([over[high], under[low]]), 0.0)
