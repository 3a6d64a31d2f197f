"""Figures on the ground that people know: ZMP, centre of pressure, required friction.

Each sample has one plane, through the mean of its contact vertices, with their mean normal. On flat
ground and on a slope it is the ground. Where feet stand at different heights, or on surfaces of
different slopes, it lies between them, the vertices are looked at along its normal, and the figures
are what people quote, no proof: the feasibility index is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, IntArray, locked
from surefoot.contacts.cones import Cones
from surefoot.contacts.support import from_hull, padded_rows
from surefoot.dynamics.wrench import SMALLEST_PRESS, zmp_on_planes
from surefoot.motion.contact import ContactSchedule

OUTSIDE_M = 1e-6  # rounding of positions of some metres stays a thousand times below
SMALLEST_MEAN = 0.1  # of unit normals: hands on opposite walls stand on no common plane


@dataclass(frozen=True, slots=True)
class GroundFigures:
    """Where and how the required wrench acts on the plane of the contacts."""

    plane_point_w: Float64[Array, "n 3"]
    """Mean contact vertex, m; in flight the point under the reference at z = 0."""
    plane_normal_w: Float64[Array, "n 3"]
    """Unit mean normal of the surfaces; up where there is none."""
    zmp_w: Float64[Array, "n 3"]
    """Where the required wrench has no moment within the plane, m; where it is not defined, a point
    of the plane nearest to the reference."""
    defined: Bool[BoolArray, " n"]
    """Whether something stands, on a common plane, and the required force presses on it."""
    cop_w: Float64[Array, "n 3"]
    """Centre of pressure: the point of the support polygon nearest to the ZMP, m."""
    outside_m: Float64[Array, " n"]
    """Distance of the ZMP from the edge of the support polygon within the plane, m: positive
    outside, negative inside, +inf where it is not defined."""
    required_friction: Float64[Array, " n"]
    """Tangential over normal part of the required force; +inf where it does not press."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        names = ("plane_point_w", "plane_normal_w", "zmp_w", "cop_w", "outside_m")
        for name in (*names, "required_friction"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        defined = np.array(self.defined)
        defined.flags.writeable = False
        object.__setattr__(self, "defined", defined)

    @property
    def foot_rotation_w(self) -> Float64[Array, "n 3"]:
        """Goswami's foot-rotation point for feet at rest, m: the ZMP of the required wrench.

        He asks where the ground would have to act so that the standing foot does not turn, and
        leaves the foot's own acceleration out; of a foot at rest it is nothing. Outside the
        polygon, the foot starts to turn over the edge it is beyond.
        """
        return self.zmp_w

    @property
    def outside(self) -> Bool[BoolArray, " n"]:
        """Whether the ZMP lies outside the support polygon."""
        return self.defined & (self.outside_m > OUTSIDE_M)

    def summary(self, time: Float64[Array, " n"]) -> dict[str, float | None]:
        """`zmp` of `surefoot index --json`; null where no sample has a ZMP.

        Args:
            time: moments of the samples, s.
        """
        if not self.defined.any():
            return {"outside_fraction": None, "worst_outside_m": None, "worst_at_s": None}
        i = int(np.argmax(np.where(self.defined, self.outside_m, -np.inf)))
        return {
            "outside_fraction": float(self.outside.sum() / self.defined.sum()),
            "worst_outside_m": max(float(self.outside_m[i]), 0.0),
            "worst_at_s": float(time[i]),
        }

    @property
    def largest_required_friction(self) -> float | None:
        """`required_friction` of `surefoot index --json`; null where no sample has one."""
        if not self.defined.any():
            return None
        return float(self.required_friction[self.defined].max())


def ground_figures(
    cones: Cones,
    contacts: ContactSchedule,
    wrench: Float64[Array, "n 6"],
    ref_w: Float64[Array, "n 3"],
    *,
    weight_n: float,
) -> GroundFigures:
    """ZMP, centre of pressure, margin and required friction of each sample.

    Required friction is that of the whole force about the mean normal: a yaw moment needs friction
    too, and feet on surfaces of different slopes need another one each; neither is in it.

    Args:
        contacts: what the cones were made of; a foot that slides leans its ray, not its surface.
        wrench: required force and moment about ref_w, world axes, N and N m.
        weight_n: of the robot; a millionth of it is no pressing.
    """
    rows = padded_rows(cones)
    point, normal, plane = _planes(cones, contacts, ref_w, rows)
    lift = np.sum((ref_w - point) * normal, axis=1, keepdims=True)
    below = ref_w - lift * normal
    found = zmp_on_planes(wrench, ref_w, below, normal, SMALLEST_PRESS * weight_n)
    defined = found.defined & plane
    zmp_w = np.where(defined[:, None], found.point_w, below)
    first, second = _axes(normal)
    flat_zmp = _within(zmp_w - point, first, second)
    if len(cones.vertex_pos):
        around = cones.vertex_pos[rows] - point[:, None]
        flat = _within(around, first[:, None], second[:, None])
        flat[cones.count == 0] = 0.0
        distance, nearest = from_hull(flat_zmp, flat)
    else:
        distance, nearest = np.zeros(len(rows)), np.zeros((len(rows), 2))
    cop_w = point + nearest[:, :1] * first + nearest[:, 1:] * second
    inside = defined & (distance <= 0.0)
    press = np.sum(wrench[:, :3] * normal, axis=1)
    tangential = np.linalg.norm(wrench[:, :3] - press[:, None] * normal, axis=1)
    friction = tangential / np.where(defined, press, 1.0)
    return GroundFigures(
        plane_point_w=point,
        plane_normal_w=normal,
        zmp_w=zmp_w,
        defined=defined,
        cop_w=np.where(inside[:, None], zmp_w, cop_w),
        outside_m=np.where(defined, distance, np.inf),
        required_friction=np.where(defined, friction, np.inf),
    )


def _planes(
    cones: Cones, contacts: ContactSchedule, ref_w: Array, rows: IntArray
) -> tuple[Array, Array, BoolArray]:
    """Mean vertex and mean normal of each sample, and whether there is such a plane."""
    point = ref_w * (1.0, 1.0, 0.0)
    normal = np.zeros_like(point)
    if len(cones.vertex_pos):
        carries = np.arange(rows.shape[1]) < cones.count[:, None]
        share = (carries / np.maximum(cones.count, 1)[:, None])[:, None, :]
        surface = np.array([stance.normal for stance in contacts.stances])
        mean = (share @ cones.vertex_pos[rows])[:, 0]
        point = np.where((cones.count > 0)[:, None], mean, point)
        normal = (share @ surface[cones.vertex_stance[rows]])[:, 0]
    size = np.linalg.norm(normal, axis=1)
    plane = size > SMALLEST_MEAN
    up = np.zeros_like(point)
    up[:, 2] = 1.0
    return point, np.where(plane[:, None], normal / np.maximum(size, 1e-300)[:, None], up), plane


def _axes(normal: Array) -> tuple[Array, Array]:
    """Two unit axes of each plane, right-handed with its normal; x and y on level ground."""
    start = np.zeros_like(normal)
    steep = np.abs(normal[:, 0]) > 0.8
    start[~steep, 0] = 1.0
    start[steep, 1] = 1.0
    first = start - np.sum(start * normal, axis=1, keepdims=True) * normal
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(normal, first)


def _within(vectors: Array, first: Array, second: Array) -> Array:
    """Components along two axes."""
    parts = np.sum(vectors * first, axis=-1), np.sum(vectors * second, axis=-1)
    return np.stack(parts, axis=-1)
