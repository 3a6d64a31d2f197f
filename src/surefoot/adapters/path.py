"""A clip as a path that any timing may follow: what each timing asks of the contacts.

The poses are those of the clip, Q(s), with s its own time. A timing is t(s), and s(t) its inverse:

    w = a(s) s̈ + b(s) ṡ² + c(s),   ṡ = 1 / t',   s̈ = −t'' / t'³

Coefficients and cones belong to s, so they are made once, and a timing costs only its distances.
Frames at new times make a smooth t(s): the cubic spline through the shifts of the frames, which is
linear in them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline

from surefoot.adapters.timing import REACH_FRAMES, Timing
from surefoot.arrays import Array, Float64, Int64, IntArray, locked, locked_int
from surefoot.dynamics.wrench import PathCoefficients, path_coefficients
from surefoot.index.distance import Distances, Scales, signed_distances
from surefoot.index.samples import Samples


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """The poses of a clip with what any timing of them asks."""

    samples: Samples
    coefficients: PathCoefficients
    frame_time: Float64[Array, " f"]
    """Times of the key frames, s; the other frames follow them."""
    scales: Scales
    weight_n: float

    def __post_init__(self) -> None:
        """Lock the frame times."""
        object.__setattr__(self, "frame_time", locked(self.frame_time))

    @property
    def s(self) -> Float64[Array, " n"]:
        """Where along the path each sample lies, as time of the clip, s."""
        return self.samples.time

    def window(self, start: float, end: float) -> Window:
        """The part of the path that frames between two moments can move.

        Args:
            start: s; frames at or before it keep their times.
            end: s; so do frames at or after it.
        """
        frames = np.flatnonzero((self.frame_time > start) & (self.frame_time < end))
        if len(frames) == 0:
            around = np.zeros(0, dtype=np.int64)
            samples = np.zeros(0, dtype=np.int64)
            none = np.zeros((0, 0))
            return Window(self, frames, around, samples, none, none)
        first = max(0, int(frames[0]) - REACH_FRAMES)
        last = min(len(self.frame_time) - 1, int(frames[-1]) + REACH_FRAMES)
        around = np.arange(first, last + 1)
        knots = self.frame_time[around]
        samples = np.flatnonzero((self.s >= knots[0]) & (self.s <= knots[-1]))
        unit = np.zeros((len(around), len(frames)))
        unit[frames - first, np.arange(len(frames))] = 1.0
        bent = CubicSpline(knots, unit, bc_type="natural")
        where = self.s[samples]
        return Window(self, frames, around, samples, bent(where, 1), bent(where, 2))


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Some samples of a path, and how the times of some frames move them."""

    path: Path
    frames: Int64[IntArray, " k"]
    """Frames whose times may change."""
    around: Int64[IntArray, " r"]
    """Those and the frames beside them that the spline reaches."""
    samples: Int64[IntArray, " m"]
    """Samples that the shifts reach."""
    slope: Float64[Array, "m k"]
    """t' − 1 of each sample for a unit shift of each frame."""
    bend: Float64[Array, "m k"]
    """t'' for the same."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("slope", "bend"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        for name in ("frames", "around", "samples"):
            object.__setattr__(self, name, locked_int(getattr(self, name)))

    def picked(self, rows: Int64[IntArray, " j"]) -> Window:
        """The same frames with some of the samples only."""
        return replace(
            self, samples=self.samples[rows], slope=self.slope[rows], bend=self.bend[rows]
        )

    @property
    def frame_time(self) -> Float64[Array, " k"]:
        """Times of the frames that may change, s."""
        return self.path.frame_time[self.frames]

    def timing(self, shift: Float64[Array, " k"]) -> Timing:
        """The timing of the whole clip with these shifts of the window's frames."""
        whole = np.zeros(len(self.path.frame_time))
        whole[self.frames] = shift
        return Timing(self.path.frame_time, whole)

    def rates(self, shift: Float64[Array, "c k"]) -> tuple[Array, Array]:
        """ṡ and s̈ of every sample (c, m) for shifts of the frames; ṡ ≤ 0 where t runs backwards."""
        slope = 1.0 + shift @ self.slope.T
        forward = np.maximum(slope, 1e-9)
        return np.where(slope > 0.0, 1.0 / forward, 0.0), -(shift @ self.bend.T) / forward**3

    def wrenches(self, speed: Float64[Array, "c m"], rate: Float64[Array, "c m"]) -> Array:
        """Required wrenches (c, m, 6), moments over the length scale, for ṡ and s̈."""
        k = self.path.coefficients
        a, b, c = self.scaled(k.a), self.scaled(k.b), self.scaled(k.c)
        w = rate[:, :, None] * a + (speed**2)[:, :, None] * b + c
        return np.asarray(w, dtype=np.float64)

    def scaled(self, wrench: Float64[Array, "n 6"]) -> Float64[Array, "m 6"]:
        """Wrenches of the window's samples out of all, with moments over the length scale."""
        length = np.array([1.0, 1.0, 1.0, *([1.0 / self.path.scales.length_m] * 3)])
        return np.asarray(wrench[self.samples] * length, dtype=np.float64)

    def distances(self, w: Float64[Array, "m 6"], which: Int64[IntArray, " j"]) -> Distances:
        """Exact signed distances of some of the samples.

        Args:
            w: wrenches of all samples of the window, moments over the length scale.
            which: rows of them.
        """
        samples = self.samples[which]
        wrench = w[which].copy()
        wrench[:, 3:] *= self.path.scales.length_m
        whole = self.path.samples
        return signed_distances(
            whole.cones.picked(samples), wrench, whole.ref_w[samples], scales=self.path.scales
        )


def path_of(
    samples: Samples, frame_time: Float64[Array, " f"], *, scales: Scales, weight_n: float
) -> Path:
    """The path of a clip that was sampled at its own speed.

    Args:
        samples: their velocities are those per unit of s, since t = s here.
        frame_time: times of the key frames, s.
    """
    coefficients = path_coefficients(samples.batch, samples.ref_w)
    return Path(samples, coefficients, frame_time, scales, weight_n)
