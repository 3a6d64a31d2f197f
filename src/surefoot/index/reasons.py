"""Why a sample is infeasible, or what limits it next: the dual direction, turned into words.

The dual direction m says more than a number: n = −m is a virtual twist of the whole robot that the
contacts cannot resist. With n = (v, L ω), every contact vertex would move with s = v + ω × (p − r),
so that s_n ≥ μ |s_t|; those that just meet this are active. Vertices at rest are what the robot
tips over; vertices that move along the ground slide or turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, locked, locked_int
from surefoot.contacts.cones import Cones
from surefoot.index import words
from surefoot.index.distance import Distances
from surefoot.index.twist import Slip, Twist, edges, find_slip, kinds, outermost, virtual_twist
from surefoot.index.words import (
    CORNER,
    FLIGHT,
    LIMIT_EDGES,
    LIMITS,
    NONE,
    PULLING,
    SLIDING,
    TIPPING,
    YAW,
    Feet,
    Limit,
    LimitEdge,
    find_feet,
)
from surefoot.motion.contact import ContactSchedule
from surefoot.robots.robot import Robot

TOLERANCE_N = 1e-6  # 1e-9 of a weight of 1,000 N, the default of the index
ALL_FORCE = 2e-9  # relative: nothing of w can be given where d = |w|; twice the tolerance of d+
SAME_NORMAL = 1.0 - 1e-9  # cosine; one plane has one normal, to the rounding of a file
PRESSING = 0.05  # of the force: with less of it into the ground, the ZMP says nothing
LEVEL_NORMAL = 0.5  # z of a normal; below, at more than 60°, it is a wall and no ground
LEVEL_M = 5e-3  # rise of a line of tipping; the ZMP beside it is then right to some millimetres


@dataclass(frozen=True, slots=True)
class Limits:
    """What limits each of n samples: nearest where it is feasible, exceeded where it is not."""

    kind: Int64[IntArray, " n"]
    """0 where the contacts can give every wrench; else 1 + index in words.LIMITS."""
    edge: Int64[IntArray, " n"]
    """1 + index in words.LIMIT_EDGES; 0 where no edge of one sole is meant."""
    ends: Int64[IntArray, "n 2"]
    """Rows of the contact vertices between which the line of tipping runs; equal for a corner, −1
    where nothing tips."""
    direction_w: Float64[Array, "n 3"]
    """Unit vector: where the feet slide, or to where the robot tips (level); else zero."""
    sense: Int64[IntArray, " n"]
    """1 where feet turn counter-clockwise seen from above, −1 clockwise, 0 where none turn."""
    pivot: Int64[IntArray, " n"]
    """Row of a contact vertex that stays while others slide or turn; −1 where none does."""
    involved: Bool[BoolArray, "n l"]
    """Which links of `feet` tip, slide, turn or pull."""
    infeasible: Bool[BoolArray, " n"]
    """Whether the limit is exceeded: upper > tolerance."""
    feet: Feet
    cones: Cones
    link: Int64[IntArray, " k"]
    """Link of each contact vertex, an index in `feet`."""
    normal: Float64[Array, "k 3"]
    """Unit normal of the surface under each contact vertex."""
    axis_w: Float64[Array, "n 3"]
    """Angular velocity ω of the virtual twist."""
    wrench: Float64[Array, "n 6"]
    ref_w: Float64[Array, "n 3"]
    facing_w: Float64[Array, "n 3"]

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("direction_w", "normal", "axis_w", "wrench", "ref_w", "facing_w"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        for name in ("kind", "edge", "ends", "sense", "pivot", "link"):
            object.__setattr__(self, name, locked_int(getattr(self, name)))
        self.involved.flags.writeable = self.infeasible.flags.writeable = False

    def limit(self, i: int) -> Limit | None:
        """The word of a sample; None where the contacts can give every wrench."""
        return LIMITS[self.kind[i] - 1] if self.kind[i] else None

    def edge_word(self, i: int) -> LimitEdge | None:
        """The edge of a sample; None for a line between two links, and where nothing tips."""
        return LIMIT_EDGES[self.edge[i] - 1] if self.edge[i] else None

    def links(self, i: int) -> tuple[str, ...]:
        """The links that tip, slide, turn or pull."""
        return tuple(self.feet.links[k] for k in np.flatnonzero(self.involved[i]))

    def phrase(self, i: int) -> str:
        """The limit in a few words: `tipping over the outer edge of the left foot`."""
        names = [self.feet.name(int(k)) for k in np.flatnonzero(self.involved[i])]
        who = words.joined(names)
        kind = int(self.kind[i])
        if kind == TIPPING:
            return f"tipping {self._over(i)}"
        if kind == SLIDING:
            return f"{self._pivoting(i)}{who} sliding {self._direction(i)}".rstrip()
        if kind == YAW:
            return f"{self._pivoting(i)}{who} turning {self._sense(i)}"
        return {PULLING: f"pulling on {self._surface(i)}", FLIGHT: "flight"}.get(kind, "nothing")

    def sentence(self, i: int) -> str:
        """What limits a sample, with a number where there is one that is certain."""
        kind = int(self.kind[i])
        if kind == NONE:
            return "The contacts can give every wrench: nothing limits."
        if kind == FLIGHT:
            if self.infeasible[i]:
                return f"The robot touches nothing, but its motion needs {self._needs(i)}."
            return "The robot touches nothing and needs nothing: it falls freely."
        if not self.infeasible[i]:
            return f"The nearest limit is {self.phrase(i)}{self._number(i)}."
        names = [self.feet.name(int(k)) for k in np.flatnonzero(self.involved[i])]
        who = words.joined(names)
        if self.pivot[i] >= 0 and names == [self.feet.name(int(self.link[self.pivot[i]]))]:
            who = "it"
        start = words.capital(f"{self._pivoting(i)}{who}")
        verb = {SLIDING: "slide", YAW: "turn"}.get(kind, "")
        verb += "" if words.is_many(names) else "s"
        if kind == SLIDING:
            return f"{start} {verb} {self._direction(i)}".rstrip() + f"{self._number(i)}."
        if kind == YAW:
            return f"{start} {verb} {self._sense(i)}{self._number(i)}."
        if kind == PULLING:
            return f"The robot would have to pull on {self._surface(i)}{self._number(i)}."
        return f"The robot tips {self._over(i)}{self._number(i)}."

    def _needs(self, i: int) -> str:
        """Force and moment about the reference, as far as they are not rounding."""
        parts = zip(np.split(self.wrench[i], 2), ("N", "N m"), strict=True)
        sizes = [(float(np.linalg.norm(part)), unit) for part, unit in parts]
        least = 1e-6 * max(size for size, _ in sizes)
        return " and ".join(words.amount(size, unit) for size, unit in sizes if size > least)

    def _over(self, i: int) -> str:
        a, b = (int(row) for row in self.ends[i])
        if a < 0:
            return "over its contacts"
        first, second = int(self.link[a]), int(self.link[b])
        ends_l = self.cones.vertex_l[[a, b]]
        if self.edge[i] == CORNER:
            only = np.sum(self.link[self._rows(i)] == first) == 1 and not self.feet.side[first]
            if only:
                return f"over the point on which {self.feet.name(first)} rests"
            return f"over {words.corner_name(self.feet, first, ends_l[0])}"
        if first == second:
            return f"over {words.edge_name(self.feet, first, int(self.edge[i]), ends_l)}"
        if self.edge[i]:  # one foot of several links: its toes and the rest
            word = LIMIT_EDGES[self.edge[i] - 1]
            return f"over the {word} edge of {self.feet.name(first)}"
        left_first = sorted(((first, a), (second, b)), key=lambda end: self.feet.side[end[0]])
        from_name, to_name = (
            words.corner_name(self.feet, link, self.cones.vertex_l[row]) for link, row in left_first
        )
        to = words.direction_name(self.direction_w[i], self.facing_w[i])
        return f"{to} over the line from {from_name} to {to_name}".lstrip()

    def _pivoting(self, i: int) -> str:
        row = int(self.pivot[i])
        if row < 0:
            return ""
        return (
            "pivoting on "
            f"{words.corner_name(self.feet, int(self.link[row]), self.cones.vertex_l[row])}, "
        )

    def _direction(self, i: int) -> str:
        normal = self.normal[self._rows(i)]
        sloping = bool(np.all(normal @ normal[0] > SAME_NORMAL) and normal[0, 2] > LEVEL_NORMAL)
        return words.direction_name(self.direction_w[i], self.facing_w[i], sloping=sloping)

    def _sense(self, i: int) -> str:
        sense = "counter-clockwise" if self.sense[i] > 0 else "clockwise"
        rows = self._rows(i)
        level = self.normal[rows][self.involved[i, self.link[rows]], 2].mean() > LEVEL_NORMAL
        return f"{sense} seen {'from above' if level else 'from the robot'}"

    def _surface(self, i: int) -> str:
        level = bool(np.all(self.normal[self._rows(i), 2] > LEVEL_NORMAL))
        return "the ground" if level else "what it touches"

    def _rows(self, i: int) -> slice:
        return slice(int(self.cones.start[i]), int(self.cones.start[i + 1]))

    def _number(self, i: int) -> str:
        """`: ...` with the number that shows the limit; empty where none is certain."""
        kind, rows = int(self.kind[i]), self._rows(i)
        force, moment = np.split(self.wrench[i], 2)
        pos, normal = self.cones.vertex_pos[rows], self.normal[rows]
        if len(pos) == 0:
            return ""
        up = normal.mean(axis=0)
        up /= max(float(np.linalg.norm(up)), 1e-12)
        press = float(force @ up)
        if kind == PULLING:
            return f" with {words.amount(-press, 'N')}" if press < 0.0 else ""
        flat = bool(np.all(normal @ up > SAME_NORMAL))
        pressing = press > PRESSING * float(np.linalg.norm(force)) and press > 0.0
        if kind == TIPPING and self.ends[i, 0] >= 0:
            a, b = self.cones.vertex_pos[self.ends[i]]
            about = moment + np.cross(self.ref_w[i] - a, force)
            if not (flat and pressing and abs(float((b - a) @ up)) < LEVEL_M):
                return self._about_line(i, about)
            return self._beyond(i, np.cross(up, about) / press, b - a, up)
        if kind == SLIDING and flat and pressing:
            return self._friction(i, float(np.linalg.norm(force - press * up)) / press)
        if kind == YAW and flat and pressing and self.infeasible[i]:
            about = moment + np.cross(self.ref_w[i] - pos[0], force)
            turning = float(up @ (about - np.cross(np.cross(up, about) / press, force)))
            if turning * self.sense[i] < 0.0:  # what the ground should give is against the turn
                needs = words.amount(abs(turning), "N m")
                ground = "ground" if up[2] > LEVEL_NORMAL else "surface"
                return f": the motion needs {needs} about the normal of the {ground}"
        return ""

    def _beyond(self, i: int, zmp: Array, line: Array, up: Array) -> str:
        """How far the zero-moment point, given from one end of the line, lies beyond it."""
        if self.edge[i] == CORNER:
            far = float(np.linalg.norm(zmp))
            if far < words.ON_IT_M:
                return ": the zero-moment point lies on it"
            return f": the zero-moment point lies {words.length(far)} from it"
        out = np.cross(line, up)
        out *= np.sign(out @ np.cross(self.axis_w[i], up)) / np.linalg.norm(out)
        gap = float(zmp @ out)
        if abs(gap) < words.ON_IT_M:
            return f": the zero-moment point lies on {self._it(i)}"
        if self.infeasible[i] != (gap > 0.0):
            return ""  # friction or another edge has its part in the limit
        where = "beyond" if gap > 0.0 else "inside"
        return f": the zero-moment point lies {words.length(abs(gap))} {where} {self._it(i)}"

    def _it(self, i: int) -> str:
        return "it" if self.edge[i] else "that line"

    def _about_line(self, i: int, about: Array) -> str:
        """Moment that turns the robot over the line; what is left of it where that is feasible."""
        axis = self.axis_w[i] / max(float(np.linalg.norm(self.axis_w[i])), 1e-12)
        over = -float(axis @ about)
        if self.infeasible[i] != (over > 0.0) or self.edge[i] == CORNER:
            return ""
        if over > 0.0:
            return f": {words.amount(over, 'N m')} turn it over"
        return f": {words.amount(-over, 'N m')} keep it from that"

    def _friction(self, i: int, ratio: float) -> str:
        rows = self._rows(i)
        given = float(self.cones.vertex_friction[rows].max())
        leans = np.any(np.abs(self.cones.vertex_normal[rows] - self.normal[rows]) > 1e-6)
        if leans or ratio <= given or not self.infeasible[i]:
            return ""
        return (
            f": {ratio:.2f} of the pressing force is needed along the surface,"
            f" friction gives {given:.2f}"
        )


def find_limits(
    cones: Cones,
    contacts: ContactSchedule,
    robot: Robot,
    distances: Distances,
    wrench: Float64[Array, "n 6"],
    ref_w: Float64[Array, "n 3"],
    length_m: float,
    *,
    facing_w: Float64[Array, "n 3"],
    tolerance_n: float = TOLERANCE_N,
) -> Limits:
    """The limit of every sample, by the motion that the contacts cannot resist.

    In this order: nothing touches, flight; nothing of the wrench can be given, pulling; all active
    vertices rest, tipping over the line through the outermost of them along ω; else the vertices
    that move slide, or turn, whichever is faster. Where no vertex grips (frictionless, or sliding
    already), the part of the dual direction that takes most of d decides.

    Args:
        wrench: force and moment about ref_w, world axes, N and N m.
        length_m: the length scale with which the distances were taken.
        facing_w: level direction in which the robot faces, for forward, back, left and right.
        tolerance_n: samples with a larger upper bound are infeasible.
    """
    feet = find_feet(contacts, robot)
    twist = virtual_twist(cones, contacts, feet, distances, ref_w, length_m)
    infeasible = distances.upper > tolerance_n
    loose = (distances.dimension < 6) & ~infeasible  # any direction across the span is its dual
    slip = find_slip(twist, distances, feet)
    kind = kinds(twist, slip, distances, wrench, ref_w, loose)
    size = np.linalg.norm(np.hstack([wrench[:, :3], wrench[:, 3:] / length_m]), axis=1)
    kind[(size > 0.0) & (distances.lower >= (1.0 - ALL_FORCE) * size)] = PULLING
    kind[~np.any(distances.dual, axis=1)] = NONE
    kind[cones.count == 0] = FLIGHT
    turns = kind == YAW
    ends = _line(twist, kind)
    return Limits(
        kind=kind,
        edge=edges(twist, cones, feet, ends),
        ends=ends,
        direction_w=_directions(twist, slip, kind, loose & (distances.dimension < 5)),
        sense=np.where(turns, np.where(slip.spin >= 0.0, 1, -1), 0),
        pivot=np.where(turns | (kind == SLIDING), slip.pivot, -1),
        involved=_involved(twist, slip, kind, ends, len(feet.links)),
        infeasible=infeasible,
        feet=feet,
        cones=cones,
        link=twist.link,
        normal=twist.normal,
        axis_w=twist.axis,
        wrench=wrench,
        ref_w=ref_w,
        facing_w=facing_w,
    )


def _line(twist: Twist, kind: IntArray) -> IntArray:
    """Ends of the line of tipping: between active vertices at rest, or any where none rests."""
    tipping = (kind == TIPPING)[twist.owner] & twist.active
    tipping &= twist.still | ~twist.any(twist.active & twist.still)[twist.owner]
    return outermost(twist, tipping)


def _directions(twist: Twist, slip: Slip, kind: IntArray, unknown: BoolArray) -> Array:
    """Unit vectors: to where the robot tips, or its feet slide; zero where there is none."""
    falling = np.cross(twist.axis, (0.0, 0.0, 1.0))
    out = np.where((kind == SLIDING)[:, None], slip.along, 0.0)
    out = np.where((kind == TIPPING)[:, None], falling, out)
    out[unknown] = 0.0
    length = np.linalg.norm(out, axis=1, keepdims=True)
    return np.where(length > 1e-9, out / np.maximum(length, 1e-9), 0.0)


def _involved(twist: Twist, slip: Slip, kind: IntArray, ends: IntArray, links: int) -> BoolArray:
    """Links at the ends of the line of tipping, of vertices that move, or of all that pull."""
    slipping = (kind == SLIDING) | (kind == YAW)
    on_a_point = slipping & ~twist.any(slip.moving)
    chosen = slipping[twist.owner] & slip.moving
    chosen |= on_a_point[twist.owner] & twist.active
    chosen |= (kind == PULLING)[twist.owner]
    chosen[ends[ends >= 0]] = True
    out = np.zeros((twist.n, links), dtype=np.bool_)
    out[twist.owner[chosen], twist.link[chosen]] = True
    return out
