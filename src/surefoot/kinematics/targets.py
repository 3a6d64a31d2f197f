"""What can be asked of a pose: points, directions and orientations of links, and pins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, locked
from surefoot.errors import BadMotion
from surefoot.kernels.tasks import SHORTEST_M
from surefoot.motion.motion import checked, checked_unit_quat

UNIT = 1e-12  # vectors that near to unit length stay as they are: a cut clip keeps its bytes
FILL = "Fill the gap, and give the target weight 0 there"
Weight = float | Float64[Array, "..."]


@dataclass(frozen=True, slots=True)
class PointTarget:
    """A point of a link that should be somewhere."""

    link: str
    point_l: Float64[Array, " 3"]
    """Which point, in the link's frame, m."""
    position_w: Float64[Array, "n 3"]
    """Where it should be, m."""
    weight: Weight = 1.0
    """1/m, the same for all frames or per frame (n); 0 switches the target off."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no target."""
        where = _place("point target", self.link)
        _lock(self, "point_l", checked("point_l", self.point_l, (3,), where=where))
        _lock(self, "position_w", finite("position_w", self.position_w, 3, where=where))
        _lock(self, "weight", _checked_weight(self.weight, len(self.position_w), 1, where=where))


@dataclass(frozen=True, slots=True)
class DirectionTarget:
    """A line from one link's point to another's that should point somewhere."""

    link_a: str
    point_a_l: Float64[Array, " 3"]
    """Where the line begins, in the frame of link_a, m."""
    link_b: str
    point_b_l: Float64[Array, " 3"]
    """Where it ends, in the frame of link_b, m."""
    direction_w: Float64[Array, "n 3"]
    """Where it should point; brought to unit length here."""
    weight: Weight = 1.0
    """Over the chord between unit vectors, the same for all frames or per frame (n)."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no direction."""
        where = _place("direction target", f"{self.link_a}' to '{self.link_b}")
        _lock(self, "point_a_l", checked("point_a_l", self.point_a_l, (3,), where=where))
        _lock(self, "point_b_l", checked("point_b_l", self.point_b_l, (3,), where=where))
        direction = finite("direction_w", self.direction_w, 3, where=where)
        length = np.linalg.norm(direction, axis=1, keepdims=True)
        if np.any(length < SHORTEST_M):
            i = int(np.argmin(length[:, 0]))
            raise BadMotion(
                what=f"direction_w has no length in frame {i}",
                where=where,
                todo="Give any other vector and weight 0 there",
            )
        length[np.abs(length - 1.0) < UNIT] = 1.0
        _lock(self, "direction_w", locked(direction / length))
        _lock(self, "weight", _checked_weight(self.weight, len(direction), 1, where=where))
        apart = np.linalg.norm(self.point_b_l - self.point_a_l)
        if self.link_a == self.link_b and apart < SHORTEST_M:
            raise BadMotion(what="a direction from a point to itself", where=where)


@dataclass(frozen=True, slots=True)
class OrientationTarget:
    """A link that should be turned somehow."""

    link: str
    quat_wl: Float64[Array, "n 4"]
    """How it should be turned (w, x, y, z)."""
    weight: Weight = 1.0
    """1/rad: one for all, per axis of the link (3), per frame (n, 1), or both (n, 3)."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no orientation."""
        where = _place("orientation target", self.link)
        quat = finite("quat_wl", self.quat_wl, 4, where=where)
        _lock(self, "quat_wl", checked_unit_quat("quat_wl", quat, (-1, 4), where=where))
        _lock(self, "weight", _checked_weight(self.weight, len(quat), 3, where=where))


Target = PointTarget | DirectionTarget | OrientationTarget


@dataclass(frozen=True, slots=True)
class Pin:
    """A point of a link that must be somewhere, whatever the targets want."""

    link: str
    point_l: Float64[Array, " 3"]
    """Which point, in the link's frame, m."""
    position_w: Float64[Array, "n 3"]
    """Where it is held, m; of no effect in frames that are not active."""
    active: Bool[BoolArray, " frames"]
    """In which of the n frames."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no pin."""
        where = _place("pin", self.link)
        _lock(self, "point_l", checked("point_l", self.point_l, (3,), where=where))
        _lock(self, "position_w", finite("position_w", self.position_w, 3, where=where, todo=""))
        active = np.array(self.active, dtype=np.bool_)
        if active.shape != (len(self.position_w),):
            raise BadMotion(
                what=f"expected active ({len(self.position_w)},), got {active.shape}", where=where
            )
        active.flags.writeable = False
        _lock(self, "active", active)


def goal_of(item: Target | Pin) -> Array:
    """Positions (n, 3), directions (n, 3) or orientations (n, 4), whichever it asks for."""
    if isinstance(item, DirectionTarget):
        return item.direction_w
    return item.quat_wl if isinstance(item, OrientationTarget) else item.position_w


def label_of(item: Target | Pin) -> str:
    """What a sentence calls it."""
    if isinstance(item, DirectionTarget):
        return _place("direction target", f"{item.link_a}' to '{item.link_b}")
    kind = {PointTarget: "point target", OrientationTarget: "orientation target", Pin: "pin"}
    return _place(kind[type(item)], item.link)


def check_frames(item: Target | Pin, n: int) -> None:
    """Refuse a target of another number of frames.

    Raises:
        BadMotion: the numbers differ.
    """
    found = len(goal_of(item))
    if found != n:
        raise BadMotion(what=f"expected {n} frames, as time has, got {found}", where=label_of(item))


def _place(kind: str, link: str) -> str:
    return f"{kind} on '{link}'"


def _lock(value: object, name: str, array: object) -> None:
    object.__setattr__(value, name, array)


def finite(name: str, values: object, width: int, *, where: str, todo: str = FILL) -> Array:
    """A locked (n, width) array; a value that is not finite is refused with its frame.

    Raises:
        BadMotion: another shape, or a value that is not finite.
    """
    array = locked(values)  # type: ignore[arg-type]  # whatever numpy takes
    if array.ndim != 2 or array.shape[1] != width:
        raise BadMotion(what=f"expected {name} (n, {width}), got {array.shape}", where=where)
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        i = int(np.argmax(bad))
        raise BadMotion(
            what=f"{name} is not finite in frame {i}",
            where=where,
            todo=todo,
        )
    return array


def _checked_weight(weight: object, n: int, axes: int, *, where: str) -> float | Array:
    """The weight as a float or a locked array that broadcasts to (n, axes).

    Raises:
        BadMotion: a shape that says neither frame nor axis, or a value that is no weight.
    """
    array = locked(weight)  # type: ignore[arg-type]  # whatever numpy takes
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise BadMotion(what="expected weights that are finite and not negative", where=where)
    if array.ndim == 0:
        return float(array)
    allowed = [(n,)] if axes == 1 else [(3,), (n, 1), (n, 3)]
    if array.shape not in allowed:
        said = ", ".join(str(shape) for shape in allowed)
        raise BadMotion(
            what=f"expected a weight of shape (), {said}, got {array.shape}", where=where
        )
    return array
