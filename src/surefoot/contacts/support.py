"""The support polygon under the feet, and how far a point lies from its edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, locked
from surefoot.contacts.cones import Cones
from surefoot.dynamics.batch import Batch
from surefoot.motion import rotation
from surefoot.motion.contact import Stance

AREA_FLOOR_M2 = 1e-10  # a hull below 0.1 mm by 1 mm is a line: nothing lies inside it
CHUNK_TRIPLES = 500_000  # of vertices: some megabytes at a time, and they stay in the cache


@dataclass(frozen=True, slots=True)
class Support:
    """Contact vertices of every sample, padded to the largest number."""

    vertices_w: Float64[Array, "n k 3"]
    """World, m; rows beyond `count` repeat the first vertex."""
    count: Int64[IntArray, " n"]
    """How many vertices carry at each sample; 0 in flight."""

    def __post_init__(self) -> None:
        """Lock the vertices."""
        object.__setattr__(self, "vertices_w", locked(self.vertices_w))

    @property
    def standing(self) -> Bool[BoolArray, " n"]:
        """Whether anything carries at each sample."""
        return self.count > 0

    @property
    def height(self) -> Float64[Array, " n"]:
        """Mean height of the vertices at each sample, m; 0 in flight."""
        used = np.arange(self.vertices_w.shape[1]) < self.count[:, None]
        total = np.sum(np.where(used, self.vertices_w[:, :, 2], 0.0), axis=1)
        return np.asarray(total / np.maximum(self.count, 1), dtype=np.float64)


def stance_points_w(
    batch: Batch, stance: Stance, samples: Int64[IntArray, " s"]
) -> Float64[Array, "s v 3"]:
    """The vertices of a stance at some samples of a batch, where the motion has them, world, m."""
    k = batch.robot.link_id(stance.link)
    turned = rotation.rotate(batch.link_quat_w[samples, None, k], stance.vertices)
    return np.asarray(batch.link_pos_w[samples, None, k] + turned, dtype=np.float64)


def support(cones: Cones) -> Support:
    """The contact vertices of each sample, padded to the largest number."""
    rows = padded_rows(cones)
    if len(cones.vertex_pos) == 0:
        return Support(np.zeros((*rows.shape, 3)), cones.count)
    standing = (cones.count > 0)[:, None, None]
    return Support(np.where(standing, cones.vertex_pos[rows], 0.0), cones.count)


def padded_rows(cones: Cones) -> Int64[IntArray, "n k"]:
    """Which vertices carry each sample; beyond `count` the first one again, in flight any."""
    first, count = cones.start[:-1, None], cones.count[:, None]
    column = np.arange(max(1, int(cones.count.max(initial=0))))
    rows = np.where(column < count, first + column, first)
    return np.minimum(rows, max(0, len(cones.vertex_pos) - 1))


def signed_distance(points_w: Float64[Array, "n 3"], carried: Support) -> Float64[Array, " n"]:
    """Horizontal distance of each point from the edge of the support polygon, m.

    Positive outside, negative inside; over a line or a single vertex never negative; +inf where
    nothing carries.
    """
    flat = np.ascontiguousarray(points_w[:, :2])
    distance, _ = from_hull(flat, np.ascontiguousarray(carried.vertices_w[:, :, :2]))
    return np.where(carried.standing, distance, np.inf)


def from_hull(
    point: Float64[Array, "n 2"], vertices: Float64[Array, "n k 2"]
) -> tuple[Float64[Array, " n"], Float64[Array, "n 2"]]:
    """Signed distance from the convex hull of each row of vertices, and the nearest point in it.

    Positive outside, negative inside; of a line or a single vertex never negative.
    """
    n, k = vertices.shape[:2]
    distance, nearest = np.empty(n), np.empty((n, 2))
    chunk = max(1, CHUNK_TRIPLES // k**3)
    for first in range(0, n, chunk):  # chunks of samples bound the memory
        part = slice(first, first + chunk)
        distance[part], nearest[part] = _from_hull(point[part], vertices[part])
    return distance, nearest


def _from_hull(point: Array, vertices: Array) -> tuple[Array, Array]:
    """An ordered pair of vertices is an edge of the hull when no vertex lies to its right.

    So the hull needs no sorting, and all samples are done at once. About the middle of the
    vertices, twice the area of a triangle is the sum of the cross products of its sides.
    """
    n, k = vertices.shape[:2]
    middle = vertices.mean(axis=1)
    x, y = np.moveaxis(vertices - middle[:, None], 2, 0)
    px, py = (point - middle).T[:, :, None, None]
    along_x, along_y = x[:, None, :] - x[:, :, None], y[:, None, :] - y[:, :, None]
    length = np.hypot(along_x, along_y)
    size = np.maximum(length.max(axis=(1, 2)), 1e-12)[:, None, None]
    cross = x[:, :, None] * y[:, None, :] - y[:, :, None] * x[:, None, :]
    side = np.min(cross[:, None, :, :] + np.swapaxes(cross, 1, 2)[:, :, None, :], axis=3) + cross
    short = length <= 1e-9 * size
    edge = ~short & (side >= -1e-12 * size**2)

    to_x, to_y = px - x[:, :, None], py - y[:, :, None]
    safe = np.maximum(length, 1e-150)  # its square is still a number
    left = (along_x * to_y - along_y * to_x) / safe
    outwards = np.where(edge, -left, -np.inf).max(axis=(1, 2))
    share = np.clip((along_x * to_x + along_y * to_y) / safe**2, 0.0, 1.0)
    gap = np.hypot(to_x - share * along_x, to_y - share * along_y)
    gap = np.where(edge | short, gap, np.inf).reshape(n, -1)
    row, best = np.arange(n), gap.argmin(axis=1)
    a, b = np.divmod(best, k)
    reach = share.reshape(n, -1)[row, best][:, None]
    nearest = vertices[row, a] + reach * (vertices[row, b] - vertices[row, a])
    # About the middle every edge adds its own triangle, so vertices that lie on one another, whose
    # edges are found several times, only make the sum larger.
    area = np.where(edge, cross, 0.0).sum(axis=(1, 2)) / 2.0
    inside = (outwards <= 0.0) & (area > AREA_FLOOR_M2)
    distance = np.where(inside, outwards, gap[row, best])
    return np.asarray(distance), np.where(inside[:, None], point, nearest)
