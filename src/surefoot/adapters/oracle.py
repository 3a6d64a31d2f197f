"""What is known of d along a path: directions that bound it from below, found on the way.

d(w) = max m · w over the dual directions m of a sample's cone, so every direction that was ever
found bounds d of every wrench of that sample from below. Whole crowds of timings are sorted by
these bounds; exact distances are asked only of the most promising one, and tighten the bounds of
all.
"""

from __future__ import annotations

import numpy as np

from surefoot.adapters.path import Window
from surefoot.arrays import Array, Float64, Int64, IntArray

MOST_CUTS = 32  # directions kept for each sample; the oldest go
SAME = 1.0 - 1e-12  # product of two directions that are one
CHUNK_NUMBERS = 4_000_000  # bounds the memory of a crowd to some 100 MB
FEW = 48  # samples whose distances are asked at once: most timings fail at a few


class Oracle:
    """Bounds of d for any timing within a window; they grow tighter with every exact answer."""

    def __init__(self, window: Window, allowed: Float64[Array, " m"] | None = None) -> None:
        """Nothing is known yet.

        Args:
            allowed: of each sample, N: what its d exceeds of it counts as its d; none: 0.
        """
        m = len(window.samples)
        self.window = window
        self.allowed: Array = np.zeros(m) if allowed is None else allowed
        self.cuts: Array = np.zeros((m, MOST_CUTS, 6))
        """Dual directions, zero where none was found yet."""
        self.count: IntArray = np.zeros(m, dtype=np.int64)
        """How many were ever found for each sample."""
        self.asked = 0
        """Timings whose distances were asked for."""
        self.samples_asked = 0
        """Samples whose distances were asked for."""
        k = window.path.coefficients
        self._a, self._b, self._c = window.scaled(k.a), window.scaled(k.b), window.scaled(k.c)
        self._at: Array = np.zeros((m, 6))  # the wrench of each sample that was asked last
        self._d: Array = np.full(m, np.inf)  # its proven d

    def lower(self, w: Float64[Array, "c m 6"]) -> Float64[Array, "c m"]:
        """Lower bounds of d, N; −inf where nothing is known.

        Args:
            w: wrenches of every timing and sample, moments over the length scale.
        """
        used = min(int(self.count.max(initial=0)), MOST_CUTS)
        out = np.full(w.shape[:2], -np.inf)
        if used == 0 or w.size == 0:
            return out
        cuts = np.ascontiguousarray(np.swapaxes(self.cuts[:, :used], 1, 2))
        empty = np.arange(used) >= np.minimum(self.count, used)[:, None]
        chunk = max(1, CHUNK_NUMBERS // (w.shape[1] * used))
        for first in range(0, len(w), chunk):  # chunks of timings bound the memory
            rows = slice(first, first + chunk)
            found = np.matmul(np.swapaxes(w[rows], 0, 1), cuts)  # (m, c, used)
            found[np.broadcast_to(empty[:, None], found.shape)] = -np.inf
            out[rows] = found.max(axis=2).T
        return out

    def exact(self, w: Float64[Array, "m 6"]) -> Float64[Array, " m"]:
        """Proven upper bounds of d of one timing, N; its directions join what is known."""
        found = self.window.distances(w, np.arange(len(w)))
        self.asked += 1
        self.learn(np.arange(len(w)), found.dual)
        return found.upper

    def worst(self, w: Float64[Array, "m 6"]) -> float:
        """The largest proven d of one timing, N."""
        return float(self.exact(w).max(initial=-np.inf))

    def best(
        self, w: Float64[Array, "c m 6"], *, most: int, below: float = np.inf
    ) -> tuple[int, float]:
        """The timing with the smallest worst d, and that value, N; −1 where none is under `below`.

        The most promising timing is asked, and again, until no other one can be better: the answer
        is then the best of the crowd, unless `most` were asked before.
        """
        best, value = -1, below
        promise = self.lower(w).max(axis=1, initial=-np.inf)
        for _ in range(min(most, len(w))):
            i = int(np.argmin(promise))
            if promise[i] >= value:
                break
            found = self.worst(w[i])
            if found < value:
                best, value = i, found
            promise = np.maximum(promise, self.lower(w).max(axis=1, initial=-np.inf))
            promise[i] = max(found, promise[i]) if i != best else np.inf
        return best, value

    def learn(self, which: Int64[IntArray, " j"], dual: Float64[Array, "j 6"]) -> None:
        """Directions join, each once."""
        near = np.einsum("jkd,jd->jk", self.cuts[which], dual).max(axis=1, initial=0.0)
        new = (near < SAME) & np.any(dual != 0.0, axis=1)  # no direction where d is −inf
        rows = which[new]
        self.cuts[rows, self.count[rows] % MOST_CUTS] = dual[new]
        self.count[rows] += 1

    def knows(self, upper: Float64[Array, " m"], dual: Float64[Array, "m 6"]) -> None:
        """Distances of the clip as it is, known from before, and their directions join."""
        self.learn(np.arange(len(upper)), dual)
        self._at, self._d = self._b + self._c, upper.copy()

    def bounds(
        self, speed: Float64[Array, "c m"], rate: Float64[Array, "c m"]
    ) -> Float64[Array, " c"]:
        """Lower bounds of the worst d of timings, N, from ṡ and s̈ without making a wrench.

        m · w = (m · a) s̈ + (m · b) ṡ² + m · c
        """
        out = np.full(len(speed), -np.inf)
        rows, place = np.nonzero(np.arange(MOST_CUTS) < self.count[:, None])
        if len(rows) == 0:
            return out
        chunk = max(1, CHUNK_NUMBERS // len(rows))
        for first in range(0, len(speed), chunk):  # chunks of timings bound the memory
            some = slice(first, first + chunk)
            out[some] = self._along(rows, self.cuts[rows, place], speed[some], rate[some])
        return out

    def worst_of(
        self, speed: Float64[Array, " m"], rate: Float64[Array, " m"], *, below: float = np.inf
    ) -> tuple[float, Int64[IntArray, " j"]]:
        """The largest proven d of one timing, N, or some d of it that is not below `below`.

        d changes by no more than its wrench, so samples near what was asked before need not be
        asked again: a few with the largest lower bounds are, and a few more, until none of the rest
        can be the largest.

        Returns:
            the value, and the samples that were asked.
        """
        w = self._a * rate[:, None] + self._b * (speed**2)[:, None] + self._c
        used = min(int(self.count.max(initial=0)), MOST_CUTS)
        products = np.einsum("juk,jk->ju", self.cuts[:, :used], w)
        known = np.arange(used) < self.count[:, None]
        lower = np.max(products, axis=1, initial=-np.inf, where=known)
        lower -= self.allowed
        upper = self._d + np.linalg.norm(w - self._at, axis=1) - self.allowed
        self.asked += 1
        worst, few, asked = -np.inf, FEW, np.zeros(len(w), dtype=np.bool_)
        while worst < below:  # each round asks more samples: at most a handful of rounds
            rest = np.flatnonzero(~asked & (upper > worst))
            if len(rest) == 0:
                break
            rows = np.sort(rest[np.argsort(-lower[rest], kind="stable")[:few]])
            found = self.window.distances(w, rows)
            self.learn(rows, found.dual)
            self._at[rows], self._d[rows] = w[rows], found.upper
            asked[rows], few = True, 2 * few
            worst = max(worst, float((found.upper - self.allowed[rows]).max()))
        self.samples_asked += int(asked.sum())
        return worst, np.flatnonzero(asked)

    def best_of(
        self,
        speed: Float64[Array, "c m"],
        rate: Float64[Array, "c m"],
        *,
        most: int,
        below: float = np.inf,
    ) -> tuple[int, float]:
        """As `best`, from ṡ and s̈: the same answer, without a wrench of every timing."""
        best, value = -1, below
        promise = self.bounds(speed, rate)
        for _ in range(min(most, len(speed))):  # each asks one timing; the answer sharpens all
            i = int(np.argmin(promise))
            if promise[i] >= value:
                break
            found, rows = self.worst_of(speed[i], rate[i], below=value)
            if found < value:
                best, value = i, found
            open_ = np.flatnonzero(promise < value)
            newest = self.cuts[rows, (self.count[rows] - 1) % MOST_CUTS]
            sharper = self._along(rows, newest, speed[open_], rate[open_])
            promise[open_] = np.maximum(promise[open_], sharper)
            promise[i] = np.inf
        return best, value

    def slices(
        self,
        speed: Float64[Array, " m"],
        rate: Float64[Array, " m"],
        *,
        above: float,
    ) -> tuple[Int64[IntArray, " j"], Array, Array, Array]:
        """Every known bound m · w of one timing that is above a value.

        Returns:
            the sample of each, the bound, and its change with s̈ and with ṡ²: m · a and m · b.
        """
        rows, place = np.nonzero(np.arange(MOST_CUTS) < self.count[:, None])
        dual = self.cuts[rows, place]
        products = (np.einsum("jk,jk->j", dual, part[rows]) for part in (self._a, self._b, self._c))
        along_a, along_b, along_c = products
        bound = along_a * rate[rows] + along_b * speed[rows] ** 2 + along_c - self.allowed[rows]
        kept = bound > above
        return rows[kept], bound[kept], along_a[kept], along_b[kept]

    def _along(
        self, rows: IntArray, dual: Array, speed: Array, rate: Array
    ) -> Float64[Array, " c"]:
        """The largest m · w of timings (c, m) over some samples, each with a direction."""
        products = (np.einsum("jk,jk->j", dual, part[rows]) for part in (self._a, self._b, self._c))
        along_a, along_b, along_c = products
        along_c = along_c - self.allowed[rows]
        found = rate[:, rows] * along_a + speed[:, rows] ** 2 * along_b + along_c
        return np.asarray(found.max(axis=1, initial=-np.inf), dtype=np.float64)
