"""Smooth functions of time: steps, bumps, wandering, and the pendulum over a pressure point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_banded
from scipy.ndimage import convolve1d, minimum_filter1d

from surefoot.arrays import Array, Float64
from surefoot.samples.body import G_MPS2


def step(u: Float64[Array, " n"]) -> Float64[Array, " n"]:
    """From 0 to 1 over u in [0, 1], twice differentiable: 10 u³ − 15 u⁴ + 6 u⁵."""
    u = np.clip(u, 0.0, 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


def plateau(u: Float64[Array, " n"], edge: float) -> Float64[Array, " n"]:
    """From 0 to 1 and back over u in [0, 1], each edge that long (at most 0.5)."""
    return step(u / edge) * step((1.0 - u) / edge)


def dome(u: Float64[Array, " n"]) -> Float64[Array, " n"]:
    """From 0 to 1 at the middle and back over u in [0, 1], twice differentiable: (4 u (1 − u))³."""
    u = np.clip(u, 0.0, 1.0)
    return (4.0 * u * (1.0 - u)) ** 3


@dataclass(frozen=True, slots=True)
class Wander:
    """A smooth random function of time: a sum of sines."""

    amplitude: Float64[Array, " k"]
    frequency: Float64[Array, " k"]
    """Hz."""
    phase: Float64[Array, " k"]

    def __call__(self, time: Float64[Array, " n"]) -> Float64[Array, " n"]:
        """Its values."""
        angle = 2.0 * np.pi * self.frequency[:, None] * time[None] + self.phase[:, None]
        return np.asarray(self.amplitude @ np.sin(angle), dtype=np.float64)


def wander(
    chance: np.random.Generator,
    rms: float,
    *,
    low_hz: float = 0.1,
    high_hz: float = 1.0,
    terms: int = 8,
) -> Wander:
    """A wander of the given root mean square, with amplitudes that fall as 1 / frequency."""
    edges = np.geomspace(low_hz, high_hz, terms + 1)
    frequency = chance.uniform(edges[:-1], edges[1:])
    share = 1.0 / frequency
    amplitude = rms * share * np.sqrt(2.0 / np.sum(share**2))
    return Wander(amplitude, frequency, chance.uniform(0.0, 2.0 * np.pi, terms))


def pendulum(pressure: Float64[Array, "n k"], dt: float, height: float) -> Float64[Array, "n k"]:
    """The bounded path of a linear inverted pendulum over a given path of its pressure point.

    c − (height / g) c̈ = p at evenly spread times, c = p at both ends: the model of Kajita et al.
    (2003), solved for the mass instead of the pressure point.
    """
    n = len(pressure)
    stiff = height / G_MPS2 / dt**2
    band = np.zeros((3, n))
    band[0, 2:] = band[2, :-2] = -stiff
    band[1] = 1.0 + 2.0 * stiff
    band[1, 0] = band[1, -1] = 1.0
    return np.asarray(solve_banded((1, 1), band, pressure), dtype=np.float64)


def under(values: Float64[Array, " n"], width: int) -> Float64[Array, " n"]:
    """A smooth curve nowhere above the given one: its minimum over `width` samples, averaged.

    The weights (1 − u²)³ make the average of a continuous curve three times differentiable.
    """
    half = max(1, width // 2)
    u = np.arange(-half, half + 1) / (half + 1)
    weight = (1.0 - u**2) ** 3
    lowest = minimum_filter1d(values, 2 * half + 1, mode="nearest")
    return np.asarray(convolve1d(lowest, weight / weight.sum(), mode="nearest"), dtype=np.float64)
