"""What the player in the page is given: geometry once, poses and tracks packed as small numbers."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray
from surefoot.contacts.support import Support
from surefoot.dynamics.batch import Batch
from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule, Terrain
from surefoot.reports import geometry
from surefoot.reports.geometry import Shape
from surefoot.reports.phrases import foot_of
from surefoot.reports.projection import shaded
from surefoot.robots.robot import Robot

Packed = dict[str, object]
Packing = Literal["f4", "u2", "u1"]

STEPS = 65535  # of a u2: 10 m are told apart to 0.15 mm, a quaternion's part to 3e-5
MOST_SAMPLES = (
    2400  # 80 s at 30 frames a second; longer tracks are thinned, the player interpolates
)


@dataclass(frozen=True, slots=True)
class Actor:
    """A robot that moves in the player."""

    name: str
    shapes: tuple[Shape, ...]
    time: Float64[Array, " n"]
    link_pos_w: Float64[Array, "n b 3"]
    link_quat_w: Float64[Array, "n b 4"]
    follow: int
    """Link that the camera follows."""
    style: Literal["solid", "ghost"] = "solid"
    label: str = ""
    """What it is called where two are compared: a ghost stands beside, or behind, the other."""
    behind: int | None = None
    """Which actor it always stands behind, transparent, as what that one should do."""


@dataclass(frozen=True, slots=True)
class Track:
    """A point that moves over the ground, with a state at each sample."""

    name: str
    mark: Literal["judged", "plumb", "pressed"]
    """`judged`: a dot inside, a cross outside. `plumb`: a diamond under a point in the air.
    `pressed`: a square, where something was measured."""
    time: Float64[Array, " n"]
    points_w: Float64[Array, "n 3"]
    state: Int64[IntArray, " n"]
    """0 inside or neutral, 1 outside, 2 not there."""
    distance: Float64[Array, " n"] | None = None
    """What the readout says, m; finite where the state is not 2."""
    actor: int = 0
    """Whose it is, where there are several."""


@dataclass(frozen=True, slots=True)
class Polygon:
    """A polygon on the ground whose corners change over time."""

    name: str
    time: Float64[Array, " n"]
    support: Support
    actor: int = 0
    """Whose it is, where there are several."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time with a name, such as a stance."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Arrow:
    """A force: an arrow from a point, in another colour where the contacts cannot give it."""

    name: str
    time: Float64[Array, " n"]
    tail_w: Float64[Array, "n 3"]
    force: Float64[Array, "n 3"]
    """Over the weight, world axes: the player says how long that is."""
    state: Int64[IntArray, " n"]
    """0 can be given, 1 cannot."""
    actor: int = 0
    """Whose it is, where there are several."""
    judged: bool = True
    """Whether the state says anything: a force that was measured was given."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A signed force over time, drawn as a strip along the slider: above zero it is missing."""

    time: Float64[Array, " n"]
    """A moment at which it jumps stands twice."""
    values: Float64[Array, " n"]
    """N; not finite where nothing limits."""
    state: Int64[IntArray, " n"]
    """0 to spare, 1 missing, 2 nothing limits."""
    top: float
    """Where the strip ends, N; higher values are cut."""
    weight: float
    """N."""
    phrases: tuple[str, ...]
    """What limits, in a few words."""
    phrase: Int64[IntArray, " n"]
    """Which of them at each sample."""
    whose: str = ""
    """Said before what limits, where that is not clear."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that one player shows."""

    actors: tuple[Actor, ...]
    tracks: tuple[Track, ...] = ()
    polygons: tuple[Polygon, ...] = ()
    stances: tuple[Span, ...] = ()
    worst_at: float | None = None
    terrain: Terrain = field(default_factory=Terrain)
    arrows: tuple[Arrow, ...] = ()
    curve: Curve | None = None
    opens_at: float | None = None
    """The first frame where nothing is said."""
    compared: Curve | None = None
    """The curve of the second actor."""

    def as_json(self) -> dict[str, object]:
        """The scene as a JSON object with packed arrays."""
        return {
            "ground": _ground_height(self.terrain),
            "actors": [_actor_json(actor) for actor in self.actors],
            "terrain": [_shape_json(shape, 0) for shape in _terrain_shapes(self.terrain)],
            "tracks": [_track_json(track) for track in self.tracks],
            "polygons": [_polygon_json(polygon) for polygon in self.polygons],
            "stances": [[s.name, round(s.start, 4), round(s.end, 4)] for s in self.stances],
            "worst": self.worst_at,
            "arrows": [_arrow_json(arrow) for arrow in self.arrows],
            "curve": None if self.curve is None else _curve_json(self.curve),
            "opens": self.opens_at,
            "compared": None if self.compared is None else _curve_json(self.compared),
        }


def actor(batch: Batch, time: Float64[Array, " n"]) -> Actor:
    """The robot of a batch in its poses, followed by its root."""
    robot = batch.robot
    return Actor(
        robot.name,
        geometry.shapes(robot),
        time,
        batch.link_pos_w,
        batch.link_quat_w,
        robot.link_id(robot.root_link),
    )


def stance_spans(contacts: ContactSchedule, robot: Robot) -> tuple[Span, ...]:
    """When what stands, by the names of feet."""
    return tuple(
        Span(foot_of(robot, stance.link) or stance.link, stance.start, stance.end)
        for stance in contacts.stances
    )


def packed(values: Float64[Array, "*n"] | Int64[IntArray, "*n"], packing: Packing = "u2") -> Packed:
    """An array as base64 of small numbers, with what is needed to read it back.

    `u2` stores (value − low) / step in 16 bits, low and step by the last axis of a matrix.
    """
    array = np.asarray(values, dtype=np.float64)
    entry: Packed = {"type": packing, "shape": list(array.shape)}
    if packing == "u2":
        columns = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array.reshape(-1, 1)
        low = columns.min(axis=0, initial=np.inf) if len(columns) else np.zeros(columns.shape[1])
        step = (columns.max(axis=0) - low) / STEPS if len(columns) else np.zeros_like(low)
        scaled = np.divide(columns - low, step, out=np.zeros_like(columns), where=step > 0.0)
        array = np.rint(scaled)
        entry |= {"low": [float(v) for v in low], "step": [float(v) for v in step]}
    data = np.ascontiguousarray(array, dtype="<" + packing).tobytes()
    return {**entry, "data": base64.b64encode(data).decode("ascii")}


def unpacked(entry: Mapping[str, object]) -> Float64[Array, "*n"]:
    """What the player reads from a packed array."""
    raw = base64.b64decode(str(entry["data"]))
    array = np.frombuffer(raw, dtype=f"<{entry['type']}").astype(np.float64)
    shape: list[int] = entry["shape"]  # type: ignore[assignment]  # written by packed()
    if entry["type"] == "u2":
        columns = shape[-1] if len(shape) > 1 else 1
        array = (
            np.array(entry["low"]) + array.reshape(-1, columns) * np.array(entry["step"])
        ).ravel()
    return np.asarray(array.reshape(shape), dtype=np.float64)


def thinned(n: int) -> Int64[IntArray, " k"]:
    """Indices of at most `MOST_SAMPLES` samples, evenly spread, first and last among them."""
    return np.unique(np.rint(np.linspace(0, n - 1, min(n, MOST_SAMPLES))).astype(np.int64))


def _actor_json(actor: Actor) -> dict[str, object]:
    keep = thinned(len(actor.time))
    links = sorted({shape.link for shape in actor.shapes} | {actor.follow})
    slot = {link: i for i, link in enumerate(links)}
    return {
        "name": actor.name,
        "style": actor.style,
        "label": actor.label,
        "behind": actor.behind,
        "time": packed(actor.time[keep], "f4"),
        "pos": packed(actor.link_pos_w[keep][:, links]),
        "quat": packed(rotation.continuous(actor.link_quat_w[keep][:, links])),
        "follow": slot[actor.follow],
        "shapes": [_shape_json(shape, slot[shape.link]) for shape in actor.shapes],
    }


def _shape_json(shape: Shape, slot: int) -> dict[str, object]:
    ends, radius = shape.spine
    entry: dict[str, object] = {
        "kind": shape.kind,
        "link": slot,
        "pos": _short(shape.pos_l),
        "rot": _short(shape.rot_ls),
        "size": _short(shape.size),
        "spine": [_short(ends[0]), _short(ends[1])],
        "radius": round(radius, 5),
        "rgb": [int(shaded(shape.rgb, 1.0)[i : i + 2], 16) for i in (1, 3, 5)],
    }
    if shape.kind == "polyhedron":
        entry |= {"points": _short(shape.points_s), "faces": [list(face) for face in shape.faces]}
    return entry


def _short(values: Float64[Array, "*n"]) -> list[float]:
    return [round(float(v), 5) + 0.0 for v in values.ravel()]


def _track_json(track: Track) -> dict[str, object]:
    keep = thinned(len(track.time))
    there = track.state != 2
    entry: dict[str, object] = {
        "name": track.name,
        "actor": track.actor,
        "mark": track.mark,
        "time": packed(track.time[keep], "f4"),
        "points": packed(_near(track.points_w, there)[keep]),
        "state": packed(track.state[keep], "u1"),
    }
    if track.distance is not None:
        entry["distance"] = packed(np.where(there, track.distance, 0.0)[keep], "f4")
    return entry


def _arrow_json(arrow: Arrow) -> dict[str, object]:
    keep = thinned(len(arrow.time))
    return {
        "name": arrow.name,
        "actor": arrow.actor,
        "time": packed(arrow.time[keep], "f4"),
        "tail": packed(arrow.tail_w[keep]),
        "force": packed(arrow.force[keep], "f4"),
        "state": packed(arrow.state[keep], "u1"),
    }


def _curve_json(curve: Curve) -> dict[str, object]:
    keep = thinned(len(curve.time))
    return {
        "time": packed(curve.time[keep], "f4"),
        "values": packed(np.where(curve.state == 2, 0.0, curve.values)[keep], "f4"),
        "state": packed(curve.state[keep], "u1"),
        "top": round(curve.top, 3),
        "weight": round(curve.weight, 3),
        "phrases": list(curve.phrases),
        "whose": curve.whose,
        "phrase": packed(curve.phrase[keep], "f4"),
    }


def _near(points_w: Float64[Array, "n 3"], there: Bool[BoolArray, " n"]) -> Float64[Array, "n 3"]:
    """The points, with those that are not there moved onto one that is.

    A ZMP far away at the edge of flight would otherwise spoil the resolution of all others.
    """
    if not there.any():
        return np.zeros_like(points_w)
    return np.where(there[:, None], points_w, points_w[np.argmax(there)])


def _polygon_json(polygon: Polygon) -> dict[str, object]:
    keep = thinned(len(polygon.time))
    count = polygon.support.count[keep]
    vertices = polygon.support.vertices_w[keep]
    filled = count > 0
    first = vertices[np.argmax(filled)] if filled.any() else np.zeros_like(vertices[0])
    return {
        "name": polygon.name,
        "actor": polygon.actor,
        "time": packed(polygon.time[keep], "f4"),
        "vertices": packed(np.where(filled[:, None, None], vertices, first)),
        "count": packed(count, "u1"),
    }


def _ground_height(terrain: Terrain) -> float:
    planes = [float(surface.point[2]) for surface in terrain.surfaces if surface.kind == "plane"]
    return min(planes, default=0.0)


def _terrain_shapes(terrain: Terrain) -> Sequence[Shape]:
    found = []
    for surface in terrain.surfaces:
        if surface.kind == "box":
            c, s = np.cos(surface.yaw), np.sin(surface.yaw)
            rot = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
            found.append(
                geometry.box(surface.point, rot, 0.5 * surface.size, rgb=geometry.GROUND_RGB)
            )
    return found
