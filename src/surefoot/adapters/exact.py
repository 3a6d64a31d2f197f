"""Exact distances of wrenches that change little from call to call, asked where they can matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.contacts.cones import Cones
from surefoot.index.distance import Scales, signed_distances


@dataclass(frozen=True, slots=True)
class Asked:
    """What one call found; forces and distances over the weight, moments over the length too."""

    upper: Float64[Array, " n"]
    """No true d of any point is larger; exact wherever it lies above what was enough."""
    rows: Int64[IntArray, " k"]
    """Points above what was enough."""
    dual: Float64[Array, "k 6"]
    """Their directions m: m · w ≤ d(w) for every wrench of the point."""

    @property
    def worst(self) -> float:
        """The largest upper bound."""
        return float(self.upper.max(initial=-np.inf))


class Exact:
    """Distances of n points, with a memory: |d(w) − d(v)| ≤ |w − v|, so old answers bound new ones.

    Where the old answer proves that d is not above what matters, nothing is asked.
    """

    def __init__(
        self, cones: Cones, ref_w: Float64[Array, "n 3"], scales: Scales, weight_n: float
    ) -> None:
        """Nothing is known yet."""
        self.cones, self.ref_w, self.scales, self.weight_n = cones, ref_w, scales, weight_n
        self.at: Array = np.zeros((cones.n, 6))
        """The wrench that was asked about last, over the weight."""
        self.upper: Array = np.full(cones.n, np.inf)
        self.asked = 0
        """Distances computed."""

    def over_weight(self, wrench: Float64[Array, "n 6"]) -> Float64[Array, "n 6"]:
        """Wrenches in N and N m as they are compared: over the weight, moments over the length."""
        w = wrench / self.weight_n
        w[:, 3:] /= self.scales.length_m
        return w

    def remember(self, wrench: Float64[Array, "n 6"], upper_n: Float64[Array, " n"]) -> None:
        """What is known already: proven upper bounds of d, N, of a wrench of each point."""
        self.at[:] = self.over_weight(wrench)
        self.upper[:] = upper_n / self.weight_n

    def ask(self, wrench: Float64[Array, "n 6"], enough: float) -> Asked:
        """Bounds of d for a wrench of each point.

        Args:
            wrench: N and N m, about the references.
            enough: over the weight; how far below it a distance lies is not asked.
        """
        w = self.over_weight(wrench)
        bound = self.upper + np.linalg.norm(w - self.at, axis=1)
        rows = np.flatnonzero(~(bound <= enough))
        if len(rows) == 0:
            return Asked(bound, rows, np.zeros((0, 6)))
        found = signed_distances(
            self.cones.picked(rows), wrench[rows], self.ref_w[rows], scales=self.scales
        )
        self.asked += len(rows)
        self.at[rows] = w[rows]
        bound[rows] = self.upper[rows] = found.upper / self.weight_n
        new = (bound[rows] > enough) & np.isfinite(found.lower)
        return Asked(bound, rows[new], found.dual[new])
