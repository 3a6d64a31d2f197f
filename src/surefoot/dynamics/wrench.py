"""What the contacts must supply: required wrench, its point on the floor, its form along a path.

    F = dP/dt − m g,   M_r = dL_c/dt + (c − r) × F

with P the linear momentum, L_c the angular momentum about the centre of mass c, and r the point
about which the moment is taken; how r moves plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, locked
from surefoot.dynamics.batch import Batch

SMALLEST_PRESS = 1e-6  # over the weight: below, the ZMP lies a kilometre away or nowhere


@dataclass(frozen=True, slots=True)
class Zmp:
    """Zero-moment points of all frames, each on a plane."""

    point_w: Float64[Array, "n 3"]
    """Where the required wrench has no moment within the plane, m; where it is not defined a point
    of the plane stands in, for `zmp` the one under the centre of mass."""
    defined: Bool[BoolArray, " n"]
    """Whether the required force presses on the ground, so that there is such a point."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        object.__setattr__(self, "point_w", locked(self.point_w))
        defined = np.array(self.defined)
        defined.flags.writeable = False
        object.__setattr__(self, "defined", defined)


@dataclass(frozen=True, slots=True)
class PathCoefficients:
    """The required wrench at points of a path for any timing: w = a s̈ + b ṡ² + c."""

    a: Float64[Array, "n 6"]
    b: Float64[Array, "n 6"]
    c: Float64[Array, "n 6"]

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("a", "b", "c"):
            object.__setattr__(self, name, locked(getattr(self, name)))


def required_wrench(batch: Batch, ref_w: Float64[Array, "n 3"]) -> Float64[Array, "n 6"]:
    """Force, then moment about ref_w, that the contacts must supply: world axes, N and N m.

    The first six rows of inverse dynamics in world axes, as the sum of what every link takes; no
    passive force and no armature can enter.

    Raises:
        BadMotion: the batch has no velocities or no accelerations.
    """
    return locked(_about(batch.com_wrench, batch.com_w, ref_w))


def momentum_rate(batch: Batch) -> Float64[Array, "n 6"]:
    """Rate of linear momentum, N, and of angular momentum about the centre of mass, N m.

    Raises:
        BadMotion: the batch has no velocities or no accelerations.
    """
    rate = batch.com_wrench.copy()
    rate[:, :3] += weight_w(batch)
    return locked(rate)


def weight_w(batch: Batch) -> Float64[Array, " 3"]:
    """The force of gravity m g on the robot, N."""
    return np.asarray(np.sum(batch.tree.link_mass) * batch.tree.gravity, dtype=np.float64)


def zmp(batch: Batch, height: Float64[Array, " n"] | float) -> Zmp:
    """The points of the plane z = height about which the required wrench has no horizontal moment.

    Defined where the required vertical force is more than 1e-6 of the weight; elsewhere (in flight,
    or pulling) the point under the centre of mass stands in, marked as not defined.

    Args:
        height: m, one for all frames or one each.

    Raises:
        BadMotion: the batch has no velocities or no accelerations.
    """
    under = batch.com_w.copy()
    under[:, 2] = height
    up = np.zeros_like(under)
    up[:, 2] = 1.0
    smallest = SMALLEST_PRESS * float(np.linalg.norm(weight_w(batch)))
    return zmp_on_planes(batch.com_wrench, batch.com_w, under, up, smallest)


def zmp_on_planes(
    wrench: Float64[Array, "n 6"],
    ref_w: Float64[Array, "n 3"],
    point_w: Float64[Array, "n 3"],
    normal_w: Float64[Array, "n 3"],
    smallest_press: float,
) -> Zmp:
    """The point of each plane about which a wrench has no moment within the plane.

    With o a point of the plane, n its unit normal and M_o the moment about o:
    o + n × M_o / (F · n). About it only the moment along n is left.

    Args:
        wrench: force and moment about ref_w, world axes, N and N m.
        point_w: a point of each plane; it stands in where the point is not defined.
        smallest_press: F · n from which on it is defined, N.
    """
    force = wrench[:, :3]
    moment = wrench[:, 3:] + np.cross(ref_w - point_w, force)
    press = np.sum(force * normal_w, axis=1)
    defined = press > smallest_press
    shift = np.cross(normal_w, moment) / np.where(defined, press, 1.0)[:, None]
    return Zmp(point_w=point_w + np.where(defined[:, None], shift, 0.0), defined=defined)


def path_coefficients(path: Batch, ref_w: Float64[Array, "n 3"]) -> PathCoefficients:
    """Coefficients of the required wrench along a path q(s): w = a s̈ + b ṡ² + c.

    With V the velocity per unit of s and V′ its derivative, and W the required wrench,
    a = W(q, 0, V) − W(q, 0, 0), b = W(q, V, V′) − W(q, 0, 0), c = W(q, 0, 0): a is the momentum
    per unit of ṡ and c the weight, so one pass over the frames makes all three.

    Args:
        path: its qvel is V (angular rows in body axes, never differences of quaternions), its qacc
            V′ in the same components.
        ref_w: the point about which moments are taken, m.

    Raises:
        BadMotion: the batch has no velocities or no accelerations.
    """
    held = np.zeros((path.n, 6))
    held[:, :3] = -weight_w(path)
    return PathCoefficients(
        a=_about(path.momentum, path.com_w, ref_w),
        b=_about(path.com_wrench - held, path.com_w, ref_w),
        c=_about(held, path.com_w, ref_w),
    )


def _about(com_wrench: Array, com_w: Array, ref_w: Array) -> Array:
    """A wrench about the centre of mass, taken about another point."""
    moved = com_wrench.copy()
    moved[:, 3:] += np.cross(com_w - ref_w, com_wrench[:, :3])
    return moved
