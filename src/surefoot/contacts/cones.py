"""From stances to contact vertices: what carries at each sample, where, and with which friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, locked, locked_int
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, BadOption, nearest
from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule, Stance, wrong_friction

Sliding = Literal["kinetic", "static", "frictionless"]
SLIDINGS: tuple[Sliding, ...] = ("kinetic", "static", "frictionless")
STILL_MPS = 1e-3  # a vertex of a moving stance that is slower turns on its place: friction holds it
FLAT_M = 1e-9  # vertices this near to a common plane lie in it: rounding of a file's digits


@dataclass(frozen=True, slots=True)
class Cones:
    """Contact vertices of n samples, ragged: the arrays of `index --dump`, and whose they are."""

    start: Int64[IntArray, " e"]
    """Row of the first vertex of each sample, and one more (n + 1)."""
    vertex_pos: Float64[Array, "k 3"]
    """World, m; where the motion has them, not moved onto the surface."""
    vertex_normal: Float64[Array, "k 3"]
    """Unit normals of the surfaces, out of the ground; of a vertex that slides, its only ray."""
    vertex_friction: Float64[Array, " k"]
    """0 where a vertex slides: its ray already leans."""
    vertex_stance: Int64[IntArray, " k"]
    """Index of the stance in the schedule."""
    vertex_l: Float64[Array, "k 3"]
    """The same vertices in the frame of their link, m."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no set of contacts."""
        for name in ("vertex_pos", "vertex_normal", "vertex_friction", "vertex_l"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        for name in ("start", "vertex_stance"):
            object.__setattr__(self, name, locked_int(getattr(self, name)))
        k = len(self.vertex_pos)
        if self.start[0] != 0 or self.start[-1] != k or np.any(np.diff(self.start) < 0):
            raise BadMotion(what=f"start must rise from 0 to {k}, the number of vertices")
        if not np.all(np.isfinite(self.vertex_pos)) or not np.all(self.vertex_friction >= 0.0):
            raise BadMotion(what="contact vertices must be finite, their friction 0 or more")
        if k and not np.abs(np.linalg.norm(self.vertex_normal, axis=1) - 1.0).max() < 1e-6:
            raise BadMotion(what="contact normals must be unit vectors")

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.start) - 1

    @property
    def count(self) -> Int64[IntArray, " n"]:
        """How many vertices carry at each sample; 0 in flight."""
        return np.diff(self.start)

    @property
    def vertex_sample(self) -> Int64[IntArray, " k"]:
        """The sample of each vertex, non-decreasing."""
        return np.repeat(np.arange(self.n), self.count)

    def picked(self, samples: Int64[IntArray, " s"]) -> Cones:
        """The cones of some samples."""
        count = self.count[samples]
        start = _first_rows(count)
        rows = np.arange(start[-1]) + np.repeat(self.start[samples] - start[:-1], count)
        return Cones(
            start=start,
            vertex_pos=self.vertex_pos[rows],
            vertex_normal=self.vertex_normal[rows],
            vertex_friction=self.vertex_friction[rows],
            vertex_stance=self.vertex_stance[rows],
            vertex_l=self.vertex_l[rows],
        )


def _first_rows(count: Int64[IntArray, " n"]) -> Int64[IntArray, " e"]:
    return np.concatenate([[0], np.cumsum(count)]).astype(np.int64)


def contact_cones(
    batch: Batch,
    time: Float64[Array, " n"],
    contacts: ContactSchedule,
    *,
    side: Int64[IntArray, " n"] | None = None,
    friction: float | None = None,
    sliding: Sliding = "kinetic",
) -> Cones:
    """The contact vertices of each sample of a batch, where the motion has them.

    Vertices of a stance that lie inside or on the edges of the polygon of the others carry nothing
    that these do not carry, and are left out; not where they slide, each in its own direction.

    Args:
        time: moments of the batch's frames, s.
        side: −1 for a sample just before its moment, 1 just after, 0 for both (the default):
            contacts that end and begin at one moment are judged apart.
        friction: instead of what each stance says.
        sliding: what a `moving` stance can give: the kinetic force against its way, static friction
            as if it stood, or none.

    Raises:
        UnknownName: a stance of a link that the robot has not.
        BadOption: another `sliding`, or friction outside its range.
    """
    if sliding not in SLIDINGS:
        raise BadOption(what=f"unknown sliding '{sliding}'", todo=nearest(sliding, SLIDINGS))
    if friction is not None and (wrong := wrong_friction(friction)):
        raise BadOption(what=wrong)
    sides = np.zeros(len(time), dtype=np.int64) if side is None else side
    rows = [_Rows.empty()]
    for number, stance in enumerate(contacts.stances):
        samples = _holding(stance, time, sides)
        if len(samples) == 0:
            continue
        held = replace(stance, friction=stance.friction if friction is None else friction)
        rows.append(_rows_of(batch, held, number, samples, sliding))
    return _joined(rows, len(time))


def _holding(
    stance: Stance, time: Float64[Array, " n"], side: Int64[IntArray, " n"]
) -> Int64[IntArray, " s"]:
    """The samples at which a stance holds; the time is sorted."""
    first = int(np.searchsorted(time, stance.start, side="left"))
    last = int(np.searchsorted(time, stance.end, side="right"))
    t, s = time[first:last], side[first:last]
    holds = ~((t == stance.start) & (s < 0)) & ~((t == stance.end) & (s > 0))
    return first + np.flatnonzero(holds)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Vertices of one stance over its samples, sample after sample."""

    sample: IntArray
    stance: IntArray
    pos: Array
    normal: Array
    friction: Array
    local: Array

    @classmethod
    def empty(cls) -> _Rows:
        """No vertex at all."""
        none, vectors = np.zeros(0, dtype=np.int64), np.zeros((0, 3))
        return cls(none, none, vectors, vectors, np.zeros(0), vectors)


def _rows_of(
    batch: Batch, stance: Stance, number: int, samples: Int64[IntArray, " s"], sliding: Sliding
) -> _Rows:
    slides = stance.moving and sliding == "kinetic"
    vertices = stance.vertices if slides else stance.vertices[outermost(stance.vertices)]
    link = batch.robot.link_id(stance.link)
    R_wl = rotation.as_matrix(batch.link_quat_w[samples, link])
    turned = np.einsum("sij,vj->svi", R_wl, vertices)
    pos = (batch.link_pos_w[samples, None, link] + turned).reshape(-1, 3)
    normal = np.tile(stance.normal, (len(pos), 1))
    friction = np.full(len(pos), stance.friction)
    if stance.moving and sliding == "frictionless":
        friction[:] = 0.0
    if slides:
        velocity = batch.link_vel_w[samples, link]
        speed = velocity[:, None, :3] + np.cross(velocity[:, None, 3:], turned)
        normal, friction = _leaning(normal, friction, speed.reshape(-1, 3))
    return _Rows(
        sample=np.repeat(samples, len(vertices)),
        stance=np.full(len(pos), number),
        pos=pos,
        normal=normal,
        friction=friction,
        local=np.tile(vertices, (len(samples), 1)),
    )


def _leaning(normal: Array, friction: Array, velocity: Array) -> tuple[Array, Array]:
    """The one ray n − μ v/|v| of each vertex that slides; those that stand keep their cones."""
    along = velocity - np.sum(velocity * normal, axis=1, keepdims=True) * normal
    speed = np.linalg.norm(along, axis=1, keepdims=True)
    ray = normal - friction[:, None] * along / np.maximum(speed, STILL_MPS)
    ray /= np.linalg.norm(ray, axis=1, keepdims=True)
    slides = speed[:, 0] > STILL_MPS
    return np.where(slides[:, None], ray, normal), np.where(slides, 0.0, friction)


def outermost(vertices: Float64[Array, "v 3"]) -> Bool[BoolArray, " v"]:
    """Which vertices of one link carry on their own: those in a common plane only at its corners.

    Exact: with one normal and one friction, what an inner vertex can give is a mean of what the
    corners around it can give.
    """
    keep = np.ones(len(vertices), dtype=np.bool_)
    if len(vertices) < 3:
        return keep
    middle = vertices.mean(axis=0)
    _, size, axes = np.linalg.svd(vertices - middle)
    if len(size) > 2 and size[2] > FLAT_M:
        return keep
    flat = (vertices - middle) @ axes[:2].T
    if size[1] <= FLAT_M:
        keep[:] = False
        keep[[np.argmin(flat[:, 0]), np.argmax(flat[:, 0])]] = True
        return keep
    try:
        corners = ConvexHull(flat).vertices
    except QhullError:  # too narrow for Qhull: every vertex stays, which is right, only slower
        return keep
    keep[:] = False
    keep[corners] = True
    return keep


def _joined(rows: Sequence[_Rows], n: int) -> Cones:
    """All rows in the order of the samples."""
    sample = np.concatenate([row.sample for row in rows])
    order = np.argsort(sample, kind="stable")
    count = np.bincount(sample, minlength=n)
    return Cones(
        start=_first_rows(count),
        vertex_pos=np.concatenate([row.pos for row in rows])[order],
        vertex_normal=np.concatenate([row.normal for row in rows])[order],
        vertex_friction=np.concatenate([row.friction for row in rows])[order],
        vertex_stance=np.concatenate([row.stance for row in rows])[order],
        vertex_l=np.concatenate([row.local for row in rows])[order],
    )
