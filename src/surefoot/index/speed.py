"""How slow a motion would have to be: at a uniform speed k the required wrench is c + k² (w − c).

With c the wrench of the pose held still, d(c + κ (w − c)) is convex in κ = k², so the feasible κ of
a sample are one interval, and Newton's method with the dual direction comes to its ends from
outside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, locked
from surefoot.index.distance import Scales, signed_distances
from surefoot.index.samples import Samples

ROUGH = 0.05  # relative gap outside: any proven direction makes a step that goes not too far
AIM = 0.9  # of what counts as feasible: whoever aims at all of it never quite comes there
MOST_STEPS = 60  # of Newton's method; 3 to 6 are usual, more where a ray touches a curved side


@dataclass(frozen=True, slots=True)
class Speeds:
    """The uniform speeds that each sample allows: ratios from 0 (held still) to 1 (as it is)."""

    slowest: Float64[Array, " n"]
    """Lowest feasible ratio; inf where no ratio up to 1 is."""
    fastest: Float64[Array, " n"]
    """Highest feasible ratio up to 1; −inf where none is."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("slowest", "fastest"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    @property
    def feasible_speed(self) -> float | None:
        """The largest ratio up to 1 at which every sample is feasible; None where there is none."""
        low, high = float(self.slowest.max()), float(self.fastest.min())
        return high if low <= high else None

    @property
    def never(self) -> Bool[BoolArray, " n"]:
        """Samples that are feasible at no ratio up to 1."""
        return self.slowest > self.fastest

    @property
    def falls_when_still(self) -> Bool[BoolArray, " n"]:
        """Samples whose pose, held still, is infeasible."""
        return self.slowest > 0.0

    def words(self, time: Float64[Array, " n"]) -> str:
        """How slow the motion would have to be, or why no speed helps.

        Args:
            time: moments of the samples, s.
        """
        speed = self.feasible_speed
        if speed is not None:
            return f"{speed:.3f} of its own"
        if self.never.any():
            first = float(time[np.argmax(self.never)])
            return (
                f"none: {int(self.never.sum())} samples are infeasible at any speed up to its own,"
                f" the first at {first:.3f} s"
            )
        quick, slow = int(np.argmax(self.slowest)), int(np.argmin(self.fastest))
        return (
            f"none: {self.slowest[quick]:.3f} or more is needed at {time[quick]:.3f} s,"
            f" {self.fastest[slow]:.3f} or less at {time[slow]:.3f} s"
        )


def feasible_speeds(
    samples: Samples,
    upper: Float64[Array, " n"],
    tolerance_n: float,
    *,
    scales: Scales,
    threads: int = 1,
) -> Speeds:
    """The feasible uniform speeds of each sample.

    Args:
        upper: upper bounds of d as the motion is, N.
        tolerance_n: up to which an upper bound counts as feasible.
    """
    n = samples.n
    still = _distances(samples, np.arange(n), np.zeros(n), scales, threads)[1]
    low, high = np.zeros(n), np.ones(n)
    held = still > tolerance_n
    low[held] = _end(samples, np.flatnonzero(held), 0.0, tolerance_n, scales, threads)
    wild = upper > tolerance_n
    high[wild] = _end(samples, np.flatnonzero(wild), 1.0, tolerance_n, scales, threads)
    # A sample may be infeasible at both ends and feasible between.
    none = ~(np.isfinite(low) & np.isfinite(high)) | (low > high)
    return Speeds(
        slowest=np.where(none, np.inf, np.sqrt(np.maximum(low, 0.0))),
        fastest=np.where(none, -np.inf, np.sqrt(np.maximum(high, 0.0))),
    )


def spans(time: Float64[Array, " n"], flags: Bool[BoolArray, " n"]) -> list[list[float]]:
    """First and last moment of each run of flagged samples, s."""
    steps = np.diff(np.concatenate([[0], flags.astype(np.int64), [0]]))
    first, last = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
    return [[float(time[i]), float(time[j])] for i, j in zip(first, last, strict=True)]


def _end(
    samples: Samples,
    which: Int64[IntArray, " k"],
    start: float,
    tolerance_n: float,
    scales: Scales,
    threads: int,
) -> Float64[Array, " k"]:
    """The end of the feasible interval on the side of `start`; inf where there is none."""
    ratio = np.full(len(which), start)
    found = np.full(len(which), np.inf)
    w, c = samples.wrench[which].copy(), samples.still[which].copy()
    for part in (w, c):
        part[:, 3:] /= scales.length_m
    open_ = np.arange(len(which))
    for _ in range(MOST_STEPS):
        if len(open_) == 0:
            break
        dual, upper = _distances(samples, which[open_], ratio[open_], scales, threads)
        done = upper <= tolerance_n
        found[open_[done]] = ratio[open_[done]]
        open_, dual = open_[~done], dual[~done]
        slope = np.einsum("nk,nk->n", dual, w[open_] - c[open_])
        base = np.einsum("nk,nk->n", dual, c[open_])
        goes = slope > 0.0 if start == 1.0 else slope < 0.0
        open_, step = open_[goes], (AIM * tolerance_n - base[goes]) / slope[goes]
        step = np.clip(step, 0.0, 1.0)  # a fall meets 1 but for rounding: the far end is tried too
        moves = step != ratio[open_]
        open_ = open_[moves]
        ratio[open_] = step[moves]
    return found


def _distances(
    samples: Samples,
    which: Int64[IntArray, " k"],
    ratio: Float64[Array, " k"],
    scales: Scales,
    threads: int,
) -> tuple[Float64[Array, "k 6"], Float64[Array, " k"]]:
    """Duals and upper bounds at some ratios κ; inside, 0 stands for any depth."""
    still = samples.still[which]
    wrench = still + ratio[:, None] * (samples.wrench[which] - still)
    found = signed_distances(
        samples.cones.picked(which),
        wrench,
        samples.ref_w[which],
        scales=replace(scales, outside=ROUGH, depth=False),
        threads=threads,
    )
    return found.dual, found.upper
