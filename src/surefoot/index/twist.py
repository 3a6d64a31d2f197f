"""The virtual twist that the contacts of a sample cannot resist, and what its vertices do.

With m the dual direction, n = −m = (v, L ω) is a rigid motion under which every contact vertex
moves with s = v + ω × (p − r), so that s_n ≥ μ |s_t|; vertices that just meet this are active.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, BoolArray, IntArray
from surefoot.contacts.cones import Cones
from surefoot.index import words
from surefoot.index.distance import Distances
from surefoot.index.words import CORNER, SLIDING, TIPPING, YAW, Feet
from surefoot.motion.contact import ContactSchedule

ACTIVE = 1e-4  # of the fastest vertex: slack of s_n ≥ μ |s_t| that is rounding of the direction
ACTIVE_MOST = 0.02  # the same where the bounds have not met: inside, slack grows with their gap
REST = 0.05  # of the fastest vertex: slower ones are what the others turn about
EXTENT_M = 1e-3  # contacts smaller than this turn on their place: their speeds are rounding
FOOT_M = 0.1  # half a foot: what a point or an edge is given as size, to compare turning, sliding
SAME_M = 1e-3  # ends of a line nearer than this are one corner


@dataclass(frozen=True, slots=True)
class Twist:
    """How every contact vertex moves under the virtual twist."""

    owner: IntArray
    link: IntArray
    pos: Array
    normal: Array  # of the surface
    axis: Array  # (n, 3)
    velocity: Array
    speed: Array
    active: BoolArray
    still: BoolArray
    gripped: BoolArray  # (n): an active vertex has friction

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.axis)

    def mean(self, values: Array, rows: BoolArray) -> Array:
        """Mean over the chosen vertices of each sample; zero where there are none."""
        owner, chosen = self.owner[rows], values[rows]
        count = np.maximum(np.bincount(owner, minlength=self.n), 1)
        columns = [np.bincount(owner, x, minlength=self.n) / count for x in chosen.T]
        return np.stack(columns, axis=-1)

    def up(self, rows: BoolArray) -> Array:
        """Unit mean normal of the chosen vertices; up where it vanishes."""
        mean = self.mean(self.normal, rows)
        size = np.linalg.norm(mean, axis=1, keepdims=True)
        return np.where(size > 1e-6, mean / np.maximum(size, 1e-6), (0.0, 0.0, 1.0))

    def any(self, rows: BoolArray) -> BoolArray:
        """Which samples have one of the vertices."""
        return np.asarray(np.bincount(self.owner[rows], minlength=self.n) > 0)

    def first(self, rows: BoolArray) -> IntArray:
        """Row of the first of the vertices in each sample, or −1."""
        chosen = np.flatnonzero(rows)
        samples, place = np.unique(self.owner[chosen], return_index=True)
        out = np.full(self.n, -1, dtype=np.int64)
        out[samples] = chosen[place]
        return out


@dataclass(frozen=True, slots=True)
class Slip:
    """What the vertices that move along the ground do."""

    moving: BoolArray  # (k)
    along: Array  # mean velocity along the surface
    spin: Array  # (n): ω about the mean normal
    turns: BoolArray  # (n): more yaw than slide
    fastest: Array  # (n): the larger of both speeds
    pivot: IntArray


def virtual_twist(
    cones: Cones,
    contacts: ContactSchedule,
    feet: Feet,
    distances: Distances,
    ref_w: Array,
    length_m: float,
) -> Twist:
    """Vertices of all samples under n = −m."""
    owner, stance = cones.vertex_sample, cones.vertex_stance
    axis = -distances.dual[:, 3:] / length_m
    arm = cones.vertex_pos - ref_w[owner]
    velocity = np.cross(axis[owner], arm) - distances.dual[owner, :3]
    lift = np.sum(velocity * cones.vertex_normal, axis=1)
    along = np.linalg.norm(velocity - lift[:, None] * cones.vertex_normal, axis=1)
    speed = np.linalg.norm(velocity, axis=1)
    scale = np.maximum(_largest(cones, speed), EXTENT_M * np.linalg.norm(axis, axis=1))
    scale = np.maximum(scale, 1e-9)
    slack = (lift - cones.vertex_friction * along) / scale[owner]
    with np.errstate(invalid="ignore"):  # −inf twice: nothing limits
        gap = np.nan_to_num(distances.upper - distances.lower, nan=0.0, posinf=0.0)
    gap /= np.maximum(np.abs(np.nan_to_num(distances.lower, neginf=-1.0)), 1e-12)
    least = np.maximum(-_largest(cones, -slack), 0.0)
    active = slack <= (least + np.clip(gap, ACTIVE, ACTIVE_MOST))[owner]
    grips = cones.vertex_friction > 0.0
    gripped = np.bincount(owner[active & grips], minlength=cones.n) > 0
    counted = np.where(grips | ~gripped[owner], speed, np.abs(lift))
    numbers = {name: k for k, name in enumerate(feet.links)}
    of_stance = np.array([numbers[s.link] for s in contacts.stances], dtype=np.int64)
    normals = np.array([s.normal for s in contacts.stances]).reshape(-1, 3)
    return Twist(
        owner=owner,
        link=of_stance[stance],
        pos=cones.vertex_pos,
        normal=normals[stance],
        axis=axis,
        velocity=velocity,
        speed=speed,
        active=active,
        still=counted <= REST * scale[owner],
        gripped=gripped,
    )


def _largest(cones: Cones, values: Array) -> Array:
    """Largest value over the vertices of each sample; 0 where there are none."""
    out = np.zeros(cones.n)
    standing = cones.count > 0
    if standing.any():
        out[standing] = np.maximum.reduceat(values, cones.start[:-1][standing])
    return out


def find_slip(twist: Twist, distances: Distances, feet: Feet) -> Slip:
    """Slide and turn of the vertices that move; about a vertex of theirs that rests, if any."""
    moving = twist.active & ~(twist.still & twist.gripped[twist.owner])
    up = twist.up(moving)
    lift = np.sum(twist.velocity * twist.normal, axis=1, keepdims=True)
    along = twist.mean(twist.velocity - lift * twist.normal, moving)
    spin = np.sum(twist.axis * up, axis=1)
    resting = twist.active & twist.still & twist.gripped[twist.owner]
    resting &= twist.any(moving)[twist.owner]
    with_moving = np.zeros((twist.n, len(feet.links)), dtype=np.bool_)
    with_moving[twist.owner[moving], twist.link[moving]] = True
    own = twist.first(resting & with_moving[twist.owner, twist.link])
    pivot = np.where(own >= 0, own, twist.first(resting))
    middle = twist.mean(twist.pos, moving)
    centre = (
        np.where((own >= 0)[:, None], twist.pos[np.maximum(own, 0)], middle)
        if len(twist.pos)
        else middle
    )
    slide = along - spin[:, None] * np.cross(up, middle - centre)
    away = np.sum((twist.pos - centre[twist.owner]) ** 2, axis=1, keepdims=True)
    radius = np.sqrt(twist.mean(away, moving)[:, 0])
    radius = np.where(distances.dimension == 3, np.maximum(radius, FOOT_M), radius)
    yaw, straight = np.abs(spin) * radius, np.linalg.norm(slide, axis=1)
    return Slip(moving, along, spin, yaw > straight, np.maximum(yaw, straight), pivot)


def kinds(
    twist: Twist,
    slip: Slip,
    distances: Distances,
    wrench: Array,
    ref_w: Array,
    loose: BoolArray,
) -> IntArray:
    """Tipping, sliding or yaw."""
    slipping = np.where(slip.turns, YAW, SLIDING)
    kind = np.where(twist.any(slip.moving), slipping, TIPPING)
    up = twist.up(twist.active)
    spin = np.sum(twist.axis * up, axis=1)
    roll = np.linalg.norm(twist.axis - spin[:, None] * up, axis=1)
    thin = (distances.dimension < 6) & twist.gripped
    kind[thin & (loose | (roll * FOOT_M > slip.fastest))] = TIPPING
    ends = outermost(twist, twist.active & twist.still)
    alone = (ends[:, 0] >= 0) & (ends[:, 0] == ends[:, 1])
    kind[(kind == TIPPING) & alone & (np.abs(spin) > roll) & ~loose] = YAW
    free = ~twist.gripped
    kind[free] = np.where(loose, SLIDING, _largest_share(twist, wrench, ref_w, up))[free]
    return np.asarray(kind, dtype=np.int64)


def _largest_share(twist: Twist, wrench: Array, ref_w: Array, up: Array) -> IntArray:
    """Which part of the twist takes most of −n · w = d: along the ground, about its normal, rest.

    The parts are taken about the middle of the active vertices.
    """
    middle = twist.mean(twist.pos, twist.active)
    velocity = twist.mean(twist.velocity, twist.active)
    force = wrench[:, :3]
    moment = wrench[:, 3:] + np.cross(ref_w - middle, force)

    def split(a: Array, b: Array) -> tuple[Array, Array]:
        across = np.sum(a * up, axis=1) * np.sum(b * up, axis=1)
        return np.sum(a * b, axis=1) - across, across

    slide, lift = split(velocity, force)
    roll, yaw = split(twist.axis, moment)
    share = np.abs(np.stack([lift + roll, slide, yaw]))
    return np.asarray(np.array([TIPPING, SLIDING, YAW])[np.argmax(share, axis=0)])


def outermost(twist: Twist, rows: BoolArray) -> IntArray:
    """The outermost of the vertices along ω, nearest to its tail first; equal for a corner."""
    size = np.linalg.norm(twist.axis, axis=1, keepdims=True)
    along = np.sum(twist.pos * (twist.axis / np.maximum(size, 1e-12))[twist.owner], axis=1)
    chosen = np.flatnonzero(rows)
    order = chosen[np.lexsort((along[chosen], twist.owner[chosen]))]
    ends = np.full((twist.n, 2), -1, dtype=np.int64)
    owner = twist.owner[order]
    if len(owner) == 0:
        return ends
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    stops = np.append(starts[1:], len(owner)) - 1
    ends[owner[starts]] = np.stack([order[starts], order[stops]], axis=1)
    apart = np.linalg.norm(twist.pos[ends[:, 1]] - twist.pos[ends[:, 0]], axis=1)
    ends[:, 1] = np.where(apart < SAME_M, ends[:, 0], ends[:, 1])
    return ends


def edges(twist: Twist, cones: Cones, feet: Feet, ends: IntArray) -> IntArray:
    """Codes of the edges: of one foot by where they lie on it, a corner, or none."""
    code = np.zeros(twist.n, dtype=np.int64)
    if len(twist.pos) == 0:
        return code
    a, b = ends.T
    code[(a >= 0) & (a == b)] = CORNER
    side = feet.side[twist.link]
    line = np.flatnonzero((a >= 0) & (a != b) & (side[a] == side[b]) & (side[a] > 0))
    if len(line) == 0:
        return code
    seen = feet.seen_from_above(twist.link, cones.vertex_l)
    foot = side[a[line]]
    whole = np.zeros(twist.n, dtype=np.int64)
    whole[line] = foot
    standing = twist.mean(seen, side == whole[twist.owner])[line]
    start, along = seen[a[line]], seen[b[line]] - seen[a[line]]
    outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
    outward /= np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-12)
    inside = np.sum((standing - start) * outward, axis=1)
    of_sole = np.sum((feet.middle[foot] - start) * outward, axis=1)
    inside = np.where(np.abs(inside) > SAME_M, inside, of_sole)  # an edge alone: its place says
    outward = np.where(inside[:, None] > 0.0, -outward, outward)
    code[line] = words.edge_codes(outward, foot)
    return code
