"""Names of feet, edges, corners and directions, and the sentences of limits that use them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray, locked, locked_int
from surefoot.dynamics.batch import Batch
from surefoot.motion.contact import ContactSchedule
from surefoot.robots.robot import Robot

Limit = Literal["tipping", "sliding", "yaw", "pulling", "flight"]
LimitEdge = Literal["toe", "heel", "inner", "outer", "corner"]

LIMITS: tuple[Limit, ...] = ("tipping", "sliding", "yaw", "pulling", "flight")
NONE, TIPPING, SLIDING, YAW, PULLING, FLIGHT = range(6)  # codes: LIMITS counts from 1
LIMIT_EDGES: tuple[LimitEdge, ...] = ("toe", "heel", "inner", "outer", "corner")
CORNER = 5  # code of "corner": LIMIT_EDGES counts from 1, 0 is no edge

OF_SIDE = ("", "left foot", "right foot")
MIDDLE_SHARE = 0.15  # of the sole's size: a corner this near its middle line is on neither side
AT_EDGE_M = 0.02  # an edge this near the sole's own is called that edge; a shoe's rounding is less
STEEP = math.sin(math.radians(60.0))  # steeper than 60°, what moves goes up or down, not forward
LEVEL = 0.15  # rise of a unit step; below, about 9°, nobody would say downhill
ON_IT_M = 1e-4  # nearer than this, a point lies on a line: the last digit that lengths are given
COMPASS = (
    "forward",
    "forward and left",
    "left",
    "back and left",
    "back",
    "back and right",
    "right",
    "forward and right",
)


@dataclass(frozen=True, slots=True)
class Feet:
    """Which links of a schedule are feet, and where their points lie in the home pose."""

    links: tuple[str, ...]
    """Links of the schedule, in its order."""
    side: Int64[IntArray, " l"]
    """0 for a link without a sole, 1 for the left foot, 2 for the right."""
    turn: Float64[Array, "l 3 3"]
    """Orientation of each link at home, where robots face +x."""
    origin: Float64[Array, "l 3"]
    """Place of each link at home, m."""
    low: Float64[Array, "3 2"]
    """Smallest x and y of the soles of each side at home, m."""
    high: Float64[Array, "3 2"]
    """Largest x and y, m."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("turn", "origin", "low", "high"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        object.__setattr__(self, "side", locked_int(self.side))

    @property
    def middle(self) -> Float64[Array, "3 2"]:
        """Middle of the soles of each side at home, m."""
        return np.asarray((self.low + self.high) / 2.0)

    def seen_from_above(
        self, link: Int64[IntArray, " k"], vertex_l: Float64[Array, "k 3"]
    ) -> Float64[Array, "k 2"]:
        """Where points of links lie at home, x forward, y left, m."""
        at_home = np.einsum("kij,kj->ki", self.turn[link], vertex_l) + self.origin[link]
        return np.asarray(at_home[:, :2])

    def name(self, link: int) -> str:
        """A link as one says it: `the left foot`, or its own name."""
        side = int(self.side[link])
        return f"the {OF_SIDE[side]}" if side else self.links[link]


def find_feet(contacts: ContactSchedule, robot: Robot) -> Feet:
    """The links of a schedule as feet and others, by the robot's soles and home pose."""
    home = Batch(robot, robot.home[None])
    ids = np.array([robot.link_id(link) for link in contacts.links], dtype=np.int64)
    sides = {sole.link: 1 if sole.side == "left" else 2 for sole in robot.soles}
    low, high = np.zeros((3, 2)), np.zeros((3, 2))
    for side in (1, 2):
        corners = [
            home.points_w(sole.link, sole.polygon_l)[0, :, :2]
            for sole in robot.soles
            if sides[sole.link] == side
        ]
        if corners:
            every = np.concatenate(corners)
            low[side], high[side] = every.min(axis=0), every.max(axis=0)
    return Feet(
        links=contacts.links,
        side=np.array([sides.get(link, 0) for link in contacts.links], dtype=np.int64),
        turn=home.link_rot_wl[0, ids],
        origin=home.link_pos_w[0, ids],
        low=low,
        high=high,
    )


def edge_codes(
    outward: Float64[Array, "n 2"], side: Int64[IntArray, " n"]
) -> Int64[IntArray, " n"]:
    """Code of the sole's edge that faces each direction (x forward, y left) on a foot of a side."""
    x, y = outward.T
    inward = np.where(side == 1, -y, y)
    return np.asarray(1 + np.argmax(np.stack([x, -x, inward, -inward]), axis=0), dtype=np.int64)


def corner_name(feet: Feet, link: int, vertex_l: Float64[Array, " 3"]) -> str:
    """A contact vertex: `the outer toe corner of the left foot`, `a corner of left_hand`."""
    side = int(feet.side[link])
    if side == 0:
        return f"a corner of {feet.name(link)}"
    seen = feet.seen_from_above(np.array([link]), vertex_l[None])[0]
    size = np.maximum(feet.high[side] - feet.low[side], 1e-6)
    x, y = (seen - feet.middle[side]) / size
    outer = (y > 0.0) == (side == 1)
    words = [] if abs(y) < MIDDLE_SHARE else ["outer" if outer else "inner"]
    words += [] if abs(x) < MIDDLE_SHARE else ["toe" if x > 0.0 else "heel"]
    return f"the {' '.join([*words, 'corner'])} of {feet.name(link)}"


def edge_name(feet: Feet, link: int, edge: int, ends_l: Float64[Array, "2 3"]) -> str:
    """An edge of one link: `the outer edge of the left foot`, `an edge of left_hand`.

    A line inside the sole, where only a part of it stands, is an edge of what stands.
    """
    side = int(feet.side[link])
    if side == 0 or edge == 0:
        return f"an edge of {feet.name(link)}"
    seen = feet.seen_from_above(np.full(2, link), ends_l).mean(axis=0)
    left = side == 1
    bound = {
        1: feet.high[side, 0] - seen[0],
        2: seen[0] - feet.low[side, 0],
        3: seen[1] - feet.low[side, 1] if left else feet.high[side, 1] - seen[1],
        4: feet.high[side, 1] - seen[1] if left else seen[1] - feet.low[side, 1],
    }[edge]
    word = LIMIT_EDGES[edge - 1]
    if bound <= AT_EDGE_M:
        return f"the {word} edge of {feet.name(link)}"
    return f"the {word} side of the part of {feet.name(link)} that stands"


def direction_name(
    direction_w: Float64[Array, " 3"], facing_w: Float64[Array, " 3"], *, sloping: bool = False
) -> str:
    """Where a unit vector points to, for the robot: `forward`, `back and left`, `down`.

    Args:
        sloping: it lies in a slope that one walks on, so that there is uphill and downhill.
    """
    x, y, z = (float(value) for value in direction_w)
    if abs(z) >= STEEP:
        return "up" if z > 0.0 else "down"
    if not x and not y:
        return ""
    turn = math.atan2(y, x) - math.atan2(float(facing_w[1]), float(facing_w[0]))
    word = COMPASS[round(turn / (math.pi / 4.0)) % len(COMPASS)]
    if abs(z) < LEVEL:
        return word
    if sloping:
        return f"{word}, {'uphill' if z > 0.0 else 'downhill'}"
    return f"{word} and {'up' if z > 0.0 else 'down'}"


def joined(names: Sequence[str]) -> str:
    """Names in a row, each once: `the left foot`, `both feet`, `both feet and left_hand`."""
    once = list(dict.fromkeys(names))
    feet = [f"the {side}" for side in OF_SIDE[1:]]
    if all(foot in once for foot in feet):
        once = ["both feet", *(name for name in once if name not in feet)]
    if len(once) < 2:
        return "".join(once)
    return f"{', '.join(once[:-1])} and {once[-1]}"


def is_many(names: Sequence[str]) -> bool:
    """Whether a row of names takes the plural."""
    return len(set(names)) > 1


def length(value_m: float) -> str:
    """A length in the unit that one would say: `21 mm`, `3.4 mm`, `1.25 m`."""
    if value_m >= 1.0:
        return f"{value_m:.2f} m"
    return f"{1000.0 * value_m:.{0 if value_m >= 0.01 else 1}f} mm"


def amount(value: float, unit: str) -> str:
    """A force or moment to three digits: `38.2 N m`, `690 N`."""
    if value == 0.0:
        return f"0 {unit}"
    digits = 0 if abs(value) >= 100.0 else 1 if abs(value) >= 10.0 else 2
    return f"{value:.{digits}f} {unit}" if abs(value) >= 0.01 else f"{value:.2g} {unit}"


def capital(text: str) -> str:
    """A sentence with its first letter large; names of links stay as they are."""
    ours = text.startswith(("the ", "both ", "pivoting "))
    return text[:1].upper() + text[1:] if ours else text
