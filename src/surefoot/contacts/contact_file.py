"""The contacts file of docs/formats.md, read: which link stands where and when, by a person."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.contacts.edges import EDGES, SAME_M, edge_corners
from surefoot.contacts.ground import over_terrain
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadFile, BadMotion, listed, nearest
from surefoot.motion.contact import (
    CONTACT_SCHEMA,
    MODE_NUMBERS,
    MOST_FRICTION,
    ContactSchedule,
    Mode,
    Stance,
    Terrain,
    wrong_friction,
)
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot, Sole

SNAP_S = 2e-6  # files hold microseconds: what is this near to the clip's end is meant to be it
WRITTEN_UNIT = 1e-4  # a direction that a person wrote with four digits is this far from unit
RUBS = f"a number from 0 to {MOST_FRICTION:g}"
TOP_KEYS = ("schema", "stance")
KEYS = (
    "link", "start_s", "end_s", "mode", "moving", "vertices_m", "edge", "friction", "normal",
    "surface",
)  # fmt: skip


def contacts_from_toml(
    text: str,
    robot: Robot,
    *,
    where: str,
    terrain: Terrain | None = None,
    motion: Motion | None = None,
) -> ContactSchedule:
    """The contact schedule that a file describes, for the robot whose links it names.

    Args:
        terrain: what `surface` counts; its friction and normals are the defaults.
        motion: whose clip it is: moments are held against its ends, and a stance without `surface`
            gets the one that is nearest to it.

    Raises:
        BadFile: no TOML, another schema, or faulty keys; all faults together.
    """
    terrain = terrain or Terrain()
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadFile(what=f"not TOML: {error}", where=where) from error
    _check_schema(table.get("schema"), where)
    faults = [
        f"unknown key '{key}'. {nearest(key, TOP_KEYS)}" for key in table if key not in TOP_KEYS
    ]
    rows = table.get("stance", [])
    if not isinstance(rows, list):
        faults.append("stance must be a list of tables: [[stance]]")
        rows = []
    stances: list[Stance] = []
    for i, row in enumerate(rows, start=1):
        reader = _Row(row, robot, terrain)
        stance = reader.stance()
        if stance is not None and motion is not None:
            stance = reader.fitted(stance, motion)
        name = f"stance {i}" + (f" ('{row['link']}')" if reader.names_its_link() else "")
        faults += [f"{name}: {fault}" for fault in reader.faults]
        if stance is not None:
            stances.append(stance)
    if faults:
        raise BadFile(what=listed(faults), where=where, todo="docs/formats.md has every key")
    return ContactSchedule(tuple(stances))


def _check_schema(schema: object, where: str) -> None:
    if type(schema) is int and schema == CONTACT_SCHEMA:
        return
    newer = type(schema) is int and schema > CONTACT_SCHEMA
    raise BadFile(
        what=f"expected schema = {CONTACT_SCHEMA}, got {'none' if schema is None else schema}",
        where=where,
        todo="A newer schema needs a newer surefoot"
        if newer
        else f"A contacts file begins with schema = {CONTACT_SCHEMA}",
    )


class _Row:
    """One [[stance]] of a file, taken out key by key; what does not fit is gathered."""

    def __init__(self, row: object, robot: Robot, terrain: Terrain) -> None:
        self.row = row if isinstance(row, dict) else {}
        self.robot = robot
        self.terrain = terrain
        self.faults: list[str] = [] if isinstance(row, dict) else ["is no table"]
        self.faults += [f"unknown key '{k}'. {nearest(k, KEYS)}" for k in self.row if k not in KEYS]

    def names_its_link(self) -> bool:
        """Whether the row has a word for its link, so that faults can be told by it."""
        return isinstance(self.row.get("link"), str)

    def stance(self) -> Stance | None:
        """The stance, or None with at least one fault."""
        link = self._taken("link", _is_word, "the name of a link", "")
        if link and link not in self.robot.link_names:
            self.faults.append(
                f"link '{link}' is not in robot '{self.robot.name}'."
                f" {nearest(link, self.robot.link_names)}"
            )
            link = ""
        start = self._taken("start_s", _is_number, "a number", 0.0)
        end = self._taken("end_s", _is_number, "a number", start)
        if end < start:
            self.faults.append(f"end_s must not be before start_s, got {start} to {end}")
        mode: Mode = self._taken("mode", _is_mode, "'point', 'edge' or 'face'", "face")
        moving = self._taken("moving", _is_flag, "true or false", False, needed=False)
        count = len(self.terrain.surfaces)
        surface = self._taken(
            "surface", lambda v: _is_index(v, count), f"0 to {count - 1}", 0, needed=False
        )
        carrier = self.terrain.surfaces[surface]
        friction = self._taken("friction", _is_friction, RUBS, self.terrain.friction, needed=False)
        normal = self._taken(
            "normal", _is_unit, "a unit vector of 3 numbers", carrier.normal, needed=False
        )
        vertices = self._vertices(link, mode)
        if self.faults or vertices is None:
            return None
        direction = np.asarray(normal, dtype=np.float64)
        direction = direction / np.linalg.norm(direction)
        if np.max(np.abs(direction - carrier.normal)) <= SAME_M:
            direction = carrier.normal
        try:
            return Stance(
                link=link,
                start=float(start),
                end=float(end),
                mode=mode,
                vertices=vertices,
                normal=direction,
                friction=float(friction),
                moving=moving,
                surface=surface,
            )
        except BadMotion as error:
            self.faults.append(error.what)
            return None

    def fitted(self, stance: Stance, motion: Motion) -> Stance | None:
        """The same within the clip, on the surface nearest to it where none was named."""
        first, last = float(motion.time[0]), float(motion.time[-1])
        if stance.start > last + SNAP_S or stance.end < first - SNAP_S:
            self.faults.append(
                f"{stance.start:g} s to {stance.end:g} s lies outside the clip,"
                f" {first:g} s to {last:g} s"
            )
            return None
        start = first if stance.start < first + SNAP_S else stance.start
        end = last if stance.end > last - SNAP_S else stance.end
        surface, normal = stance.surface, stance.normal
        if "surface" not in self.row:
            surface = _nearest_surface(stance, self.robot, motion, self.terrain)
            if "normal" not in self.row:
                normal = self.terrain.surfaces[surface].normal
        return Stance(
            stance.link, start, end, stance.mode, stance.vertices, normal, stance.friction,
            stance.moving, surface,
        )  # fmt: skip

    def _taken(
        self,
        key: str,
        fits: Callable[[object], bool],
        wanted: str,
        default: object,
        *,
        needed: bool = True,
    ) -> Any:
        """The value of a key; the default where it is missing or faulty."""
        if key not in self.row:
            if needed:
                self.faults.append(f"no key '{key}'")
            return default
        value = self.row[key]
        if fits(value):
            return value
        self.faults.append(f"{key} must be {wanted}, got {value!r}")
        return default

    def _vertices(self, link: str, mode: Mode) -> Float64[Array, "v 3"] | None:
        """The contact vertices: as written, or those of the link's sole."""
        given = self._taken("vertices_m", _is_points, "a list of [x, y, z]", None, needed=False)
        edge = self._taken(
            "edge", lambda v: v in EDGES, f"one of {', '.join(EDGES)}", None, needed=False
        )
        if given is not None and edge is not None:
            self.faults.append("vertices_m and edge exclude each other")
        sole = next((sole for sole in self.robot.soles if sole.link == link), None)
        if given is not None:
            return locked(_on_corners(np.array(given, dtype=np.float64), sole))
        if "vertices_m" in self.row or not link:
            return None
        if sole is None:
            known = ", ".join(s.link for s in self.robot.soles) or "none"
            self.faults.append(
                f"'{link}' has no sole, so vertices_m must be given; soles are on {known}"
            )
            return None
        if edge is not None and mode == "edge":
            return locked(sole.polygon_l[edge_corners(self.robot, sole, edge)])
        if edge is not None:
            self.faults.append(f"edge = '{edge}' goes with mode = 'edge', got mode '{mode}'")
        elif mode != "face":
            which = " or edge = 'toe', 'heel', 'inner' or 'outer'" if mode == "edge" else ""
            self.faults.append(f"mode {mode} needs vertices_m{which}")
        else:
            return locked(sole.polygon_l)
        return None


def _on_corners(vertices: Float64[Array, "v 3"], sole: Sole | None) -> Float64[Array, "v 3"]:
    """The vertices, each one on the sole's corner that it was before its digits were cut."""
    if sole is None:
        return vertices
    apart = np.linalg.norm(vertices[:, None] - sole.polygon_l[None], axis=2)
    near = np.argmin(apart, axis=1)
    same = (apart.min(axis=1) <= SAME_M)[:, None]
    return np.where(same, sole.polygon_l[near], vertices)


def _nearest_surface(stance: Stance, robot: Robot, motion: Motion, terrain: Terrain) -> int:
    """The surface nearest to the stance's vertices most of the time."""
    if len(terrain.surfaces) == 1:
        return 0
    inside = np.flatnonzero((motion.time >= stance.start) & (motion.time <= stance.end))
    if not len(inside):
        inside = np.array([np.argmin(np.abs(motion.time - stance.start))])
    batch = Batch(robot, robot.qpos(motion)[inside])
    _, under = over_terrain(batch.points_w(stance.link, stance.vertices), terrain)
    return int(np.argmax(np.bincount(under.reshape(-1))))


def _is_number(value: object) -> bool:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return plain and math.isfinite(value)  # type: ignore[arg-type]  # a number by the line above


def _is_friction(value: object) -> bool:
    return _is_number(value) and not wrong_friction(float(value))  # type: ignore[arg-type]  # a number


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_mode(value: object) -> bool:
    return value in list(MODE_NUMBERS)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_index(value: object, count: int) -> bool:
    return type(value) is int and 0 <= value < count


def _is_vector(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))


def _is_unit(value: object) -> bool:
    length = float(np.linalg.norm(np.array(value, dtype=np.float64))) if _is_vector(value) else 0.0
    return abs(length - 1.0) < WRITTEN_UNIT


def _is_points(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_vector, value))
