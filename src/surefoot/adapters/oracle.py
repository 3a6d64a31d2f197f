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


class Oracle:
    """Bounds of d for any timing within a window; they grow tighter with every exact answer."""

    def __init__(self, window: Window) -> None:
        """Nothing is known yet."""
        m = len(window.samples)
        self.window = window
        self.cuts: Array = np.zeros((m, MOST_CUTS, 6))
        """Dual directions, zero where none was found yet."""
        self.count: IntArray = np.zeros(m, dtype=np.int64)
        """How many were ever found for each sample."""
        self.asked = 0
        """Timings whose distances were asked for."""

    def lower(self, w: Float64[Array, "c m 6"]) -> Float64[Array, "c m"]:
        """Lower bounds of d, N; −inf where nothing is known.

        Args:
            w: wrenches of every timing and sample, moments over the length scale.
        """
        used = int(min(self.count.max(initial=0), MOST_CUTS))
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
        new = near < SAME
        rows = which[new]
        self.cuts[rows, self.count[rows] % MOST_CUTS] = dual[new]
        self.count[rows] += 1
