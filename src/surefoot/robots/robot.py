"""A robot: a compiled model that never changes, with names, limits, soles, limbs and a home pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from surefoot.arrays import Array, Float64, IntArray, locked
from surefoot.errors import BadMotion, Notice, UnknownName, listed, nearest
from surefoot.motion.curves import Rates
from surefoot.motion.motion import Motion

Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Sole:
    """The convex polygon with which a link stands, in that link's frame."""

    link: str
    side: Side
    polygon_l: Float64[Array, "k 3"]
    """Corners, m, counter-clockwise seen from above."""

    def __post_init__(self) -> None:
        """Lock the polygon."""
        object.__setattr__(self, "polygon_l", locked(self.polygon_l))


@dataclass(frozen=True, slots=True)
class Landmark:
    """A point of a link that plays a part of the body (names: motion.human.CANONICAL_NAMES)."""

    link: str
    point_l: Float64[Array, " 3"]
    """Where in the link's frame, m."""

    def __post_init__(self) -> None:
        """Lock the point."""
        object.__setattr__(self, "point_l", locked(self.point_l))


@dataclass(frozen=True, slots=True, eq=False)
class Robot:
    """Who moves: the compiled model and everything about it that the model does not say.

    `joint_*` arrays follow `joint_names`: the scalar joints in the model's order, without the root.
    """

    name: str
    source: str
    """Where the model came from: a path, or `zoo:NAME` for a bundled one."""
    model: mujoco.MjModel
    """Compiled; torque motors only, one for each joint in the order of `joint_names`. Never changed."""
    root_link: str
    root_kind: Literal["free", "planar"]
    """Six degrees of freedom, or three in the x-z plane (x, z, pitch)."""
    joint_names: tuple[str, ...]
    joint_min: Float64[Array, " m"]
    """Lower position limit, rad or m; −inf where there is none."""
    joint_max: Float64[Array, " m"]
    joint_speed: Float64[Array, " m"]
    """Largest speed, rad/s or m/s; inf where nobody says."""
    joint_torque: Float64[Array, " m"]
    """Largest torque, N m or N; inf where nobody says."""
    soles: tuple[Sole, ...]
    """Left before right; a foot with toes has more than one."""
    landmarks: dict[str, Landmark]
    """Which point of which link plays each canonical part, as far as known."""
    home: Float64[Array, " nq"]
    """Standing pose in the engine's order, soles on z = 0."""
    notices: tuple[Notice, ...] = ()
    """What was repaired, dropped, overridden or assumed while loading."""
