"""From the world to the sheet: the camera, outlines, shading, and the order of painting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.reports.geometry import Rgb

View = Literal["front", "side", "three-quarter"]

VIEW_ANGLES: dict[View, tuple[float, float]] = {
    "front": (0.0, 4.0),
    "side": (-90.0, 4.0),
    "three-quarter": (-40.0, 12.0),
}
"""Where the camera stands: degrees to the left of the robot's facing, and degrees up."""
LIGHT = np.array([-0.35, 0.62, 0.70]) / np.linalg.norm([-0.35, 0.62, 0.70])
"""Towards the light, in the camera's axes: over the left shoulder of whoever looks."""
AMBIENT, DIFFUSE = 0.54, 0.52
TIE = 0.25  # depths closer than this share of a radius say nothing: such shapes run into each other


@dataclass(frozen=True, slots=True)
class Camera:
    """A parallel projection: no vanishing point, so lengths across the sight stay comparable."""

    right_w: Float64[Array, " 3"]
    up_w: Float64[Array, " 3"]
    toward_w: Float64[Array, " 3"]
    """From what is seen towards the eye."""

    def __post_init__(self) -> None:
        """Lock the axes."""
        for name in ("right_w", "up_w", "toward_w"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    @classmethod
    def at(cls, azimuth: float, elevation: float) -> Camera:
        """A camera that stands at the given angles, rad, and has the world's z upright."""
        ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
        toward = np.array([ce * ca, ce * sa, se])
        right = np.array([-sa, ca, 0.0])
        return cls(right, np.cross(toward, right), toward)

    @classmethod
    def viewing(cls, view: View, heading: float) -> Camera:
        """The camera of a named view of a robot that faces `heading`, rad about z."""
        azimuth, elevation = VIEW_ANGLES[view]
        return cls.at(heading + np.radians(azimuth), np.radians(elevation))

    @property
    def rot_cw(self) -> Float64[Array, "3 3"]:
        """World axes to camera axes: right, up, towards the eye."""
        return np.stack([self.right_w, self.up_w, self.toward_w])

    def seen(self, points_w: Float64[Array, "k 3"]) -> Float64[Array, "k 3"]:
        """Right, up, and nearness of world points, m."""
        return np.asarray(points_w @ self.rot_cw.T, dtype=np.float64)


def outline(points: Float64[Array, "k 2"]) -> Float64[Array, "c 2"]:
    """The corners of the convex hull, counter-clockwise, without those on a straight edge.

    Andrew's monotone chain.
    """
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    chains: list[Array] = []
    for side in (ordered, ordered[::-1]):
        chain: list[Array] = []
        for p in side:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        chains += chain[:-1]
    return np.array(chains)


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def brightness(normal_c: Float64[Array, "k 3"]) -> Float64[Array, " k"]:
    """How bright a surface with this normal (camera axes) is; 1 keeps its colour.

    Lambert's cosine law wrapped around the body: no side falls into black.
    """
    return np.asarray(AMBIENT + DIFFUSE * 0.5 * (1.0 + normal_c @ LIGHT), dtype=np.float64)


def shaded(rgb: Rgb, bright: float) -> str:
    """The colour at a brightness, as `#rrggbb`."""
    return "#" + "".join(f"{round(255 * min(max(c * bright, 0.0), 1.0)):02x}" for c in rgb)


def painter_order(
    spines_c: Float64[Array, "k 2 3"], radii: Float64[Array, " k"]
) -> tuple[int, ...]:
    """Shapes from the farthest to the nearest, so that each is painted over those behind it.

    Where two shapes overlap on the sheet, the one that is nearer at the place where their spines
    come closest there is painted later; the others go by the nearness of their middles.
    """
    k = len(radii)
    middle = spines_c.mean(axis=1)[:, 2]
    behind: list[list[int]] = [[] for _ in range(k)]
    for i in range(k):
        for j in range(i + 1, k):
            gap, depth_i, depth_j = _closest(spines_c[i], spines_c[j])
            if gap > radii[i] + radii[j]:
                continue
            ahead = depth_i - depth_j
            if abs(ahead) < TIE * min(radii[i], radii[j]):
                ahead = middle[i] - middle[j]
            near, far = (i, j) if ahead > 0.0 else (j, i)
            behind[near].append(far)
    order: list[int] = []
    seen = [False] * k

    def paint(i: int) -> None:
        if not seen[i]:
            seen[i] = True  # before its background: three shapes in a ring must not call for ever
            for j in sorted(behind[i], key=lambda j: middle[j]):
                paint(j)
            order.append(i)

    for i in np.argsort(middle, kind="stable"):
        paint(int(i))
    return tuple(order)


def _closest(a: Float64[Array, "2 3"], b: Float64[Array, "2 3"]) -> tuple[float, float, float]:
    """Smallest gap of two segments on the sheet, and the nearness of both at that place.

    The closest points of two segments in a plane: an inner crossing, else one end of one of them.
    """
    d, e, r = a[1] - a[0], b[1] - b[0], b[0] - a[0]
    cross = d[0] * e[1] - d[1] * e[0]
    if abs(cross) > 1e-12:
        s = (r[0] * e[1] - r[1] * e[0]) / cross
        t = (r[0] * d[1] - r[1] * d[0]) / cross
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            return 0.0, float(a[0, 2] + s * d[2]), float(b[0, 2] + t * e[2])
    best = (np.inf, 0.0, 0.0)
    for s in (0.0, 1.0):
        t = _foot(a[0] + s * d, b[0], e)
        best = min(best, _gap(a[0] + s * d, b[0] + t * e))
    for t in (0.0, 1.0):
        s = _foot(b[0] + t * e, a[0], d)
        best = min(best, _gap(a[0] + s * d, b[0] + t * e))
    return best


def _foot(point: Array, start: Array, along: Array) -> float:
    """Share of the segment at which it comes closest to the point on the sheet."""
    square = float(along[:2] @ along[:2])
    if square < 1e-18:
        return 0.5
    return float(np.clip((point - start)[:2] @ along[:2] / square, 0.0, 1.0))


def _gap(p: Array, q: Array) -> tuple[float, float, float]:
    return float(np.hypot(p[0] - q[0], p[1] - q[1])), float(p[2]), float(q[2])
