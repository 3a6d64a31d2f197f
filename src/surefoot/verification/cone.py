"""What the contacts of one sample can give: rays, their support, and the nearest point.

Wrench space is (force, moment / length) about the reference, in newton. A vertex at arm a with
normal n, friction μ and tangents t1, t2 gives the rays g(θ) = (f, a × f / length),
f = n + μ (cos θ t1 + sin θ t2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqrf, dorgqr
from scipy.optimize import nnls

Floats = NDArray[np.float64]

FIRST_ANGLES = 6  # rays a circular vertex starts with; more are added where they are missed
TILTED = 0.9  # |n_x| above which the first tangent comes from the world's y axis
TINY = 1e-300
MAX_ROUNDS = 200
MAX_STALLED = 3
VIOLATION = 1e-10  # of the residual: where no ray is missed any more
NOTHING = 1e-11  # of the target: a residual of rounding alone
MAX_RAYS = 120  # a pool is thinned above this many: non-negative least squares costs n² in it


@dataclass(frozen=True)
class Cone:
    """The wrenches that the contacts of one sample can give."""

    columns: Floats
    """(3, k, 6): wrench of a unit force along normal and tangents of each vertex."""
    friction: Floats
    """(k,)"""
    sides: int
    """0: circular; else rays of the pyramid inscribed in each vertex's cone."""
    fixed: Floats
    """(6, c) unit rays: all of a pyramid's, the first ones of a circular cone."""

    @cached_property
    def middle(self) -> Floats:
        """A unit direction that every ray should have power on: the mean of the normals' rays."""
        rays = self.columns[0] / np.linalg.norm(self.columns[0], axis=1, keepdims=True)
        mean = rays.sum(axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), TINY), dtype=np.float64)

    @cached_property
    def room(self) -> float:
        """Least power of a unit ray on `middle`; zero or less where it is no such direction."""
        return -float(self.missed(-self.middle)[0].max(initial=-1.0))

    def missed(self, direction: Floats) -> tuple[Floats, Floats]:
        """Largest direction · g / |g| of each vertex, and the unit rays (k, 6) where it is."""
        if self.sides:
            values = (direction @ self.fixed).reshape(self.friction.size, self.sides)
            best = np.argmax(values, axis=1)
            rows = np.arange(self.friction.size)
            return values[rows, best], self.fixed.T.reshape(*values.shape, 6)[rows, best]
        normal, first, second = self.columns @ direction
        slide = np.hypot(first, second)
        safe = np.where(slide > 0.0, slide, 1.0)
        along = (self.friction * first / safe)[:, None]
        across = (self.friction * second / safe)[:, None]
        rays = self.columns[0] + along * self.columns[1] + across * self.columns[2]
        length = np.sqrt(np.einsum("ki,ki->k", rays, rays))
        return (normal + self.friction * slide) / length, rays / length[:, None]


def cone(
    arm: Floats, normal: Floats, friction: Floats, *, length: float = 1.0, sides: int = 0
) -> Cone:
    """The cone of some vertices.

    Args:
        arm: (k, 3) from the reference to each vertex, m.
        normal: (k, 3) unit, out of the ground.
        friction: (k,)
        length: length scale, m.
        sides: 0 for circular friction cones, else the rays of the inscribed pyramid.
    """
    first, second = tangents(normal)
    columns = np.stack(
        [np.concatenate((f, np.cross(arm, f) / length), axis=1) for f in (normal, first, second)]
    )
    angle = 2.0 * np.pi * np.arange(sides or FIRST_ANGLES) / (sides or FIRST_ANGLES)
    rays = (
        columns[0][:, None]
        + (friction[:, None] * np.cos(angle))[..., None] * columns[1][:, None]
        + (friction[:, None] * np.sin(angle))[..., None] * columns[2][:, None]
    ).reshape(-1, 6)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    return Cone(columns, friction, sides, np.ascontiguousarray(rays.T))


def tangents(normal: Floats) -> tuple[Floats, Floats]:
    """First tangent along the projection of x (of y where the normal is near x), second n × t1."""
    axis = np.where(np.abs(normal[:, :1]) > TILTED, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])
    first = axis - np.sum(axis * normal, axis=1, keepdims=True) * normal
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(normal, first)


@dataclass
class Pool:
    """The rays that were needed so far in the cone of one sample."""

    cone: Cone
    rays: Floats

    def residual(self, target: Floats, accuracy: float = VIOLATION) -> tuple[Floats, float]:
        """Target minus the nearest wrench that the contacts can give, and what it may be off.

        Non-negative least squares over the rays of the pool; as long as a ray that is not in it
        would come nearer, the worst one of every vertex is added. The residual is zero when the
        target can be given. The second number, newton, bounds how much shorter the true residual
        may be.

        Args:
            target: (6,) a wrench, newton.
            accuracy: power of a missed unit ray on the unit residual that is let pass.
        """
        size = float(np.linalg.norm(target))
        if size == 0.0 or self.cone.friction.size == 0:
            return np.array(target), 0.0
        unit = target / size
        best, stalled = np.inf, 0
        for _ in range(MAX_ROUNDS):
            rest, total = self._fit(unit)
            length = float(np.linalg.norm(rest))
            if length <= NOTHING:
                return np.zeros(6), 0.0
            values, rays = self.cone.missed(rest)
            worst = float(values.max()) / length
            stalled = stalled + 1 if length > best * (1.0 - 1e-13) else 0
            best = min(best, length)
            if worst <= accuracy or self.cone.sides or stalled > MAX_STALLED:
                break
            fresh = rays[values > accuracy * length]
            self.rays = np.concatenate((self.rays, fresh.T), axis=1)
        return rest * size, max(worst, 0.0) * total * size

    def _fit(self, unit: Floats) -> tuple[Floats, float]:
        """Residual of the nearest combination of the pool's rays, and the sum of its weights."""
        weights = _weights(self.rays, unit)
        used = self.rays[:, weights > 0.0]
        if self.rays.shape[1] > MAX_RAYS and not self.cone.sides:
            self.rays = np.concatenate((self.cone.fixed, used), axis=1)
        basis = _basis(used)
        rest = unit - basis @ (basis.T @ unit)
        rest -= basis @ (basis.T @ rest)  # twice: else a short residual holds rounding of the unit
        return np.asarray(rest, dtype=np.float64), float(weights.sum())


def pool(cone: Cone) -> Pool:
    """A pool with the first rays of a cone."""
    return Pool(cone, cone.fixed)


def _basis(columns: Floats) -> Floats:
    """Orthonormal basis of at most six columns; LAPACK at once, since most time is spent here."""
    if columns.shape[1] == 0:
        return columns
    packed, tau, _, _ = dgeqrf(columns)
    return np.asarray(dorgqr(packed, tau)[0], dtype=np.float64)


def _weights(rays: Floats, unit: Floats) -> Floats:
    """Non-negative weights with which rays come nearest to a unit target."""
    try:
        return np.asarray(nnls(rays, unit)[0], dtype=np.float64)
    except RuntimeError:  # rays nearly parallel make it circle: more room helped in every case seen
        return np.asarray(nnls(rays, unit, maxiter=100 * rays.shape[1])[0], dtype=np.float64)
