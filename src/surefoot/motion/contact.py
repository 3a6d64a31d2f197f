"""Where a motion touches the world: stances, their schedule, the terrain."""

from __future__ import annotations

import bisect
import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, locked
from surefoot.errors import BadFile, BadMotion, listed
from surefoot.motion.value import Value

Mode = Literal["point", "edge", "face"]
MODE_NUMBERS: dict[Mode, int] = {"point": 1, "edge": 2, "face": 3}
DEFAULT_FRICTION = 0.7  # rubber on dry indoor floors, lower half of the usual 0.6 to 1.0
MOST_FRICTION = 1e4  # at 1e6 rays of opposite sides of a cone cancel up to rounding: d is lost
CONTACT_SCHEMA = 1
FILE_DIGITS = 6  # microseconds and micrometres: more than any motion is good for
UNIT_TOLERANCE = 1e-6  # a direction read from a text file with six decimals is this far from unit


def wrong_friction(friction: float) -> str | None:
    """What is wrong with a friction coefficient; None where nothing is."""
    if not (math.isfinite(friction) and friction >= 0.0):
        return f"friction must be 0 or more, got {friction:g}"
    if friction > MOST_FRICTION:
        return f"friction must be {MOST_FRICTION:g} at most, got {friction:g}"
    return None


def mode_of(vertices: int) -> Mode:
    """What so many contact vertices make: a point, an edge or a face."""
    if vertices == 1:
        return "point"
    return "edge" if vertices == 2 else "face"


@dataclass(frozen=True, slots=True, eq=False)
class Stance(Value):
    """One link on one surface from one moment to another."""

    link: str
    """Name of the link in the robot."""
    start: float
    """First moment of contact, s; the span is closed."""
    end: float
    """Last moment of contact, s."""
    mode: Mode
    """What touches: a point, an edge or a face."""
    vertices: Float64[Array, "v 3"]
    """Contact vertices in the link's frame, m."""
    normal: Float64[Array, " 3"] = field(default_factory=lambda: locked((0.0, 0.0, 1.0)))
    """Unit normal of the surface in world axes, out of the ground."""
    friction: float = DEFAULT_FRICTION
    """Coulomb friction coefficient."""
    moving: bool = False
    """On its surface, but sliding or pivoting on it: kept on the surface, not pinned."""
    surface: int = 0
    """Index of the terrain's surface that carries it."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no stance."""
        object.__setattr__(self, "vertices", locked(self.vertices))
        object.__setattr__(self, "normal", locked(self.normal))
        where = f"stance of '{self.link}' from {self.start} s"
        if not (math.isfinite(self.start) and math.isfinite(self.end) and self.start <= self.end):
            raise BadMotion(
                what=f"a stance must end after it starts, got {self.start} s to {self.end} s",
                where=where,
            )
        if self.mode not in MODE_NUMBERS:
            raise BadMotion(
                what=f"expected mode point, edge or face, got '{self.mode}'", where=where
            )
        count = MODE_NUMBERS[self.mode]
        found = len(self.vertices) if self.vertices.ndim == 2 else 0
        if found < count or (count < 3 and found != count) or self.vertices.shape[1:] != (3,):
            raise BadMotion(
                what=f"mode {self.mode} needs {count}{' or more' if count == 3 else ''} vertices"
                f" (v, 3), got {self.vertices.shape}",
                where=where,
            )
        if not np.all(np.isfinite(self.vertices)):
            raise BadMotion(what="a contact vertex is not finite", where=where)
        if self.normal.shape != (3,) or not abs(np.linalg.norm(self.normal) - 1.0) < UNIT_TOLERANCE:
            raise BadMotion(what="the normal must be a unit vector of 3 numbers", where=where)
        if wrong := wrong_friction(self.friction):
            raise BadMotion(what=wrong, where=where)
        if self.surface < 0:
            raise BadMotion(what=f"surface must be 0 or more, got {self.surface}", where=where)

    def holds(self, t: float) -> bool:
        """Whether the stance holds at moment t, s (both ends are in)."""
        return self.start <= t <= self.end


@dataclass(frozen=True, slots=True)
class ContactSchedule:
    """All stances of a clip, in order of their start."""

    stances: tuple[Stance, ...] = ()

    def __post_init__(self) -> None:
        """Sort by start, then link."""
        ordered = tuple(sorted(self.stances, key=lambda s: (s.start, s.end, s.link)))
        object.__setattr__(self, "stances", ordered)

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links that ever stand, in order of their first stance."""
        return tuple(dict.fromkeys(stance.link for stance in self.stances))

    @property
    def edges(self) -> Float64[Array, " e"]:
        """All moments at which a contact begins or ends, s, strictly increasing."""
        return locked(sorted({t for stance in self.stances for t in (stance.start, stance.end)}))

    def at(self, t: float) -> tuple[Stance, ...]:
        """The stances that hold at moment t, s."""
        last = bisect.bisect_right(self.stances, t, key=lambda stance: stance.start)
        return tuple(stance for stance in self.stances[:last] if stance.holds(t))

    def standing(self, link: str, time: Float64[Array, " n"]) -> Bool[BoolArray, " n"]:
        """Whether the link stands at each moment, s."""
        spans = [(s.start, s.end) for s in self.stances if s.link == link]
        if not spans:
            return np.zeros(len(time), dtype=np.bool_)
        start, end = np.array(spans).T
        holding = (time >= start[:, None]) & (time <= end[:, None])
        return np.asarray(np.any(holding, axis=0), dtype=np.bool_)

    def as_toml(self) -> str:
        """The contacts file of docs/formats.md, to the microsecond and micrometre.

        Spans are rounded outwards, so that no frame falls out of its stance.
        """
        return "\n".join([CONTACT_HEAD, *map(_stance_toml, self.stances)])

    def retimed(self, new_time: Callable[[float], float]) -> ContactSchedule:
        """The same stances at new times: each start and end goes through `new_time`."""
        return ContactSchedule(
            tuple(replace(s, start=new_time(s.start), end=new_time(s.end)) for s in self.stances)
        )


CONTACT_HEAD = f"""\
# Which link stands where and when. Times are s, lengths m; both ends belong to a stance.
# mode: "point", "edge" or "face". moving: on the ground, but sliding on it on purpose.
# vertices_m: what touches, in the link's frame. Without it a face is the link's whole sole, and
# an edge may be said as edge = "toe", "heel", "inner" or "outer".
# surface: which [[surface]] of the terrain, from 0; normal and friction are its own if missing.
schema = {CONTACT_SCHEMA}
"""


def _stance_toml(stance: Stance) -> str:
    def plain(value: float) -> float:
        return round(float(value), FILE_DIGITS) + 0.0  # no negative zero

    unit = 10.0**FILE_DIGITS
    near = 1e-3  # of a unit: what is written already is not moved on by the rounding of floats
    rows = ", ".join(str([plain(x) for x in point]) for point in stance.vertices)
    lines = [
        "[[stance]]",
        f"link = {json.dumps(stance.link, ensure_ascii=False)}",
        f"start_s = {plain(math.floor(stance.start * unit + near) / unit)}",
        f"end_s = {plain(math.ceil(stance.end * unit - near) / unit)}",
        f'mode = "{stance.mode}"',
        f"moving = {str(stance.moving).lower()}",
        f"vertices_m = [{rows}]",
        f"friction = {plain(stance.friction)}",
        f"normal = {[plain(x) for x in stance.normal]}",
        f"surface = {stance.surface}",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, eq=False)
class Surface(Value):
    """One piece of the terrain: an infinite plane, or a box whose top carries."""

    kind: Literal["plane", "box"]
    point: Float64[Array, " 3"]
    """Plane: a point on it. Box: its centre. World, m."""
    normal: Float64[Array, " 3"] = field(default_factory=lambda: locked((0.0, 0.0, 1.0)))
    """Unit normal of the plane, world; a box stands upright."""
    size: Float64[Array, " 3"] = field(default_factory=lambda: locked((0.0, 0.0, 0.0)))
    """Full edge lengths of the box, m; zero for a plane."""
    yaw: float = 0.0
    """Turn of the box about z, rad."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no surface."""
        for name in ("point", "normal", "size"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        if self.kind not in ("plane", "box"):
            raise BadMotion(what=f"expected surface kind plane or box, got '{self.kind}'")
        numbers = (*self.point, *self.normal, *self.size, self.yaw)
        if len(numbers) != 10 or not all(math.isfinite(number) for number in numbers):
            raise BadMotion(what=f"a {self.kind} needs finite vectors of 3 numbers")
        if self.kind == "plane" and (
            abs(float(np.linalg.norm(self.normal)) - 1.0) > UNIT_TOLERANCE or self.normal[2] <= 0.0
        ):
            raise BadMotion(
                what=f"the normal of a plane must be a unit vector that points upwards,"
                f" got {self.normal.tolist()}"
            )
        if self.kind == "box" and min(self.size) <= 0.0:
            raise BadMotion(what=f"the size of a box must be positive, got {self.size.tolist()} m")

    def height(self, xy: Float64[Array, "n 2"]) -> Float64[Array, " n"]:
        """Height of the surface above each point, m; −inf where a box does not reach."""
        if self.kind == "plane":
            slope = self.normal[:2] / self.normal[2]
            return np.asarray(self.point[2] - (xy - self.point[:2]) @ slope, dtype=np.float64)
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        local = (xy - self.point[:2]) @ np.array([[c, -s], [s, c]])
        inside = np.all(np.abs(local) <= self.size[:2] / 2.0, axis=1)
        return np.where(inside, self.point[2] + self.size[2] / 2.0, -np.inf)


@dataclass(frozen=True, slots=True)
class Terrain:
    """The ground: planes and boxes with one friction coefficient; flat at z = 0 by default."""

    surfaces: tuple[Surface, ...] = (Surface("plane", locked((0.0, 0.0, 0.0))),)
    friction: float = DEFAULT_FRICTION

    def __post_init__(self) -> None:
        """Refuse a terrain that carries nothing."""
        if not self.surfaces:
            raise BadMotion(what="a terrain needs at least one surface")
        if wrong := wrong_friction(self.friction):
            raise BadMotion(what=wrong)

    def height(self, xy: Float64[Array, "n 2"]) -> Float64[Array, " n"]:
        """Height of the highest surface under each point, m; −inf over nothing."""
        return np.asarray(np.max([s.height(xy) for s in self.surfaces], axis=0), dtype=np.float64)

    def surface_at(self, xy: Float64[Array, "n 2"]) -> tuple[int, ...]:
        """Index of the highest surface under each point."""
        best = np.argmax([s.height(xy) for s in self.surfaces], axis=0)
        return tuple(int(i) for i in best)

    def normal(self, xy: Float64[Array, "n 2"]) -> Float64[Array, "n 3"]:
        """Unit normal of the highest surface under each point."""
        return np.array([self.surfaces[i].normal for i in self.surface_at(xy)]).reshape(-1, 3)

    def as_toml(self) -> str:
        """The terrain file of docs/formats.md."""
        lines = ["schema = 1", f"friction = {float(self.friction)!r}"]
        for s in self.surfaces:
            lines += ["", "[[surface]]", f'kind = "{s.kind}"']
            if s.kind == "box":
                lines += [f"center_m = {s.point.tolist()}", f"size_m = {s.size.tolist()}"]
                lines += [f"yaw_rad = {float(s.yaw)!r}"]
            else:
                lines += [f"point_m = {s.point.tolist()}", f"normal = {s.normal.tolist()}"]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str, *, where: str) -> Terrain:
        """The terrain that a file describes.

        Raises:
            BadFile: no TOML, a newer schema, or faulty keys; all faults together.
        """
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise BadFile(what=f"not TOML: {error}", where=where) from error
        return _terrain_from(table, where)


TERRAIN_SCHEMA = 1
_SURFACE_KEYS = {
    "plane": ({"point_m": 3, "normal": 3}, {"kind", "point_m", "normal"}),
    "box": ({"center_m": 3, "size_m": 3}, {"kind", "center_m", "size_m", "yaw_rad"}),
}


def _terrain_from(table: dict[str, object], where: str) -> Terrain:
    schema = table.get("schema")
    if schema != TERRAIN_SCHEMA:
        raise BadFile(
            what=f"expected schema = {TERRAIN_SCHEMA}, got {schema}",
            where=where,
            todo="a newer schema needs a newer surefoot" if isinstance(schema, int) else "",
        )
    faults = [
        f"unknown key '{key}'" for key in table if key not in {"schema", "friction", "surface"}
    ]
    rows = table.get("surface", [])
    friction = table.get("friction", DEFAULT_FRICTION)
    if not _is_number(friction):
        faults.append(f"friction must be a number, got {friction!r}")
    surfaces: list[Surface] = []
    for i, row in enumerate(rows if isinstance(rows, list) else [rows]):
        try:
            surfaces.append(_surface_from(row))
        except BadMotion as error:
            faults.append(f"surface {i}: {error.what}")
    if not surfaces and not faults:
        faults.append("no [[surface]] in the file")
    if faults:
        raise BadFile(what=listed(faults), where=where, todo="docs/formats.md has every key")
    try:
        return Terrain(tuple(surfaces), float(friction))  # type: ignore[arg-type]  # checked above
    except BadMotion as error:
        raise BadFile(what=error.what, where=where) from error


def _surface_from(row: object) -> Surface:
    if not isinstance(row, dict) or row.get("kind") not in list(_SURFACE_KEYS):
        raise BadMotion(what="kind must be 'plane' or 'box'")
    kind: Literal["plane", "box"] = row["kind"]
    vectors, known = _SURFACE_KEYS[kind]
    for key in row:
        if key not in known:
            raise BadMotion(what=f"unknown key '{key}' of a {kind}")
    for key, length in vectors.items():
        value = row.get(key)
        if not (isinstance(value, list) and len(value) == length and all(map(_is_number, value))):
            raise BadMotion(what=f"{key} must be {length} numbers, got {value!r}")
    yaw = row.get("yaw_rad", 0.0)
    if not _is_number(yaw):
        raise BadMotion(what=f"yaw_rad must be a number, got {yaw!r}")
    if kind == "plane":
        return Surface("plane", locked(row["point_m"]), locked(row["normal"]))
    return Surface("box", locked(row["center_m"]), size=locked(row["size_m"]), yaw=float(yaw))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
