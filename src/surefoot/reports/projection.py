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
    first, second = np.triu_indices(k, 1)
    gap, depth, other = _closest(spines_c[first], spines_c[second])
    ahead = depth - other
    tied = np.abs(ahead) < TIE * np.minimum(radii[first], radii[second])
    ahead = np.where(tied, middle[first] - middle[second], ahead)
    for pair in np.flatnonzero(gap <= radii[first] + radii[second]):
        i, j = int(first[pair]), int(second[pair])
        near, far = (i, j) if ahead[pair] > 0.0 else (j, i)
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


def _closest(
    a: Float64[Array, "p 2 3"], b: Float64[Array, "p 2 3"]
) -> tuple[Float64[Array, " p"], Float64[Array, " p"], Float64[Array, " p"]]:
    """Smallest gap of each pair of segments on the sheet, and the nearness of both at that place.

    The closest points of two segments in a plane: an inner crossing, else one end of one of them;
    of several places that are equally close, the one that is farthest from the eye.
    """
    d, e, r = a[:, 1] - a[:, 0], b[:, 1] - b[:, 0], b[:, 0] - a[:, 0]
    cross = d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0]
    meet = np.abs(cross) > 1e-12
    s = (r[:, 0] * e[:, 1] - r[:, 1] * e[:, 0]) / np.where(meet, cross, 1.0)
    t = (r[:, 0] * d[:, 1] - r[:, 1] * d[:, 0]) / np.where(meet, cross, 1.0)
    meet &= (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    zero, one = np.zeros(len(a)), np.ones(len(a))
    # Shares along the first and the second segment: of the crossing, then of each of the four ends.
    along_a = np.stack([s, zero, one, _foot(b[:, 0], a), _foot(b[:, 1], a)])
    along_b = np.stack([t, _foot(a[:, 0], b), _foot(a[:, 1], b), zero, one])
    p = a[:, 0] + along_a[..., None] * d
    q = b[:, 0] + along_b[..., None] * e
    gap = np.hypot(p[..., 0] - q[..., 0], p[..., 1] - q[..., 1])
    gap[0] = np.where(meet, -1.0, np.inf)  # below any gap: a crossing is preferred
    best = np.lexsort((q[..., 2], p[..., 2], gap), axis=0)[0]
    pair = np.arange(len(a))
    return np.maximum(gap[best, pair], 0.0), p[best, pair, 2], q[best, pair, 2]


def _foot(point: Float64[Array, "p 3"], segment: Float64[Array, "p 2 3"]) -> Float64[Array, " p"]:
    """Share of each segment at which it comes closest to its point on the sheet."""
    along = segment[:, 1, :2] - segment[:, 0, :2]
    square = np.sum(along**2, axis=1)
    is_point = square < 1e-18
    share = np.sum((point - segment[:, 0])[:, :2] * along, axis=1) / np.where(is_point, 1.0, square)
    return np.where(is_point, 0.5, np.clip(share, 0.0, 1.0))
