"""The support polygon under the feet, and how far a point lies from its edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, locked
from surefoot.dynamics.batch import Batch
from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule, Stance

AREA_FLOOR_M2 = 1e-10  # a hull below 0.1 mm by 1 mm is a line: nothing lies inside it
CHUNK_PAIRS = 4_000_000  # bounds the memory of the pairwise step to some 100 MB


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


def support(batch: Batch, time: Float64[Array, " n"], contacts: ContactSchedule) -> Support:
    """The contact vertices of each sample of a batch, where the motion has them.

    Args:
        time: moments of the batch's frames, s.
    """
    n = len(time)
    holding = [
        np.flatnonzero((time >= stance.start) & (time <= stance.end)) for stance in contacts.stances
    ]
    count = np.zeros(n, dtype=np.int64)
    for stance, samples in zip(contacts.stances, holding, strict=True):
        count[samples] += len(stance.vertices)
    vertices = np.zeros((n, max(1, int(count.max(initial=0))), 3))
    filled = np.zeros(n, dtype=np.int64)
    for stance, samples in zip(contacts.stances, holding, strict=True):
        columns = filled[samples, None] + np.arange(len(stance.vertices))
        vertices[samples[:, None], columns] = stance_points_w(batch, stance, samples)
        filled[samples] += len(stance.vertices)
    unused = np.arange(vertices.shape[1]) >= count[:, None]
    vertices = np.where(unused[:, :, None], vertices[:, :1], vertices)
    return Support(vertices, count)


def signed_distance(points_w: Float64[Array, "n 3"], carried: Support) -> Float64[Array, " n"]:
    """Horizontal distance of each point from the edge of the support polygon, m.

    Positive outside, negative inside; over a line or a single vertex never negative; +inf where
    nothing carries.
    """
    n, k = carried.vertices_w.shape[:2]
    distance = np.full(n, np.inf)
    chunk = max(1, CHUNK_PAIRS // k**3)
    for first in range(0, n, chunk):  # chunks of samples bound the memory
        part = slice(first, first + chunk)
        distance[part] = _hull_distance(points_w[part, :2], carried.vertices_w[part, :, :2])
    return np.where(carried.standing, distance, np.inf)


def _hull_distance(
    point: Float64[Array, "n 2"], vertices: Float64[Array, "n k 2"]
) -> Float64[Array, " n"]:
    """Signed distance to the convex hull of the vertices of each sample.

    An ordered pair of vertices is an edge of the hull when no vertex lies to its right; so the
    hull needs no sorting, and all samples are done at once.
    """
    a, b = vertices[:, :, None, :], vertices[:, None, :, :]
    along = b - a
    length = np.linalg.norm(along, axis=-1)
    size = np.maximum(np.max(length, axis=(1, 2)), 1e-12)
    reach = vertices[:, None, None, :, :] - a[:, :, :, None, :]
    side = along[..., None, 0] * reach[..., 1] - along[..., None, 1] * reach[..., 0]
    tolerance = (1e-12 * size**2)[:, None, None]
    edge = (length > 1e-9 * size[:, None, None]) & (side.min(axis=-1) >= -tolerance)

    to_point = point[:, None, None, :] - a
    cross = along[..., 0] * to_point[..., 1] - along[..., 1] * to_point[..., 0]
    safe = np.maximum(length, 1e-150)  # its square is still a number
    outwards = np.where(edge, -cross / safe, -np.inf).max(axis=(1, 2))
    share = np.clip(np.sum(along * to_point, axis=-1) / safe**2, 0.0, 1.0)
    gap = np.linalg.norm(to_point - share[..., None] * along, axis=-1)
    nearest = np.where(edge | (length <= 1e-9 * size[:, None, None]), gap, np.inf).min(axis=(1, 2))
    # About the middle every edge adds its own triangle, so vertices that lie on one another, whose
    # edges are found several times, only make the sum larger.
    from_middle = vertices - vertices.mean(axis=1, keepdims=True)
    u, v = from_middle[:, :, None, :], from_middle[:, None, :, :]
    area = np.where(edge, u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0], 0.0).sum(axis=(1, 2)) / 2.0
    inside = (outwards <= 0.0) & (area > AREA_FLOOR_M2)
    return np.asarray(np.where(inside, outwards, nearest), dtype=np.float64)
