"""A robot's motion, one moment of it, and the clip that carries it with its contacts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.errors import BadMotion, Notice, nearest
from surefoot.motion.contact import ContactSchedule, Terrain
from surefoot.motion.value import Value

QUATERNION_TOLERANCE = 1e-6  # readers normalise and say so; here only rounding is allowed


def checked(name: str, values: object, shape: tuple[int, ...], *, where: str) -> Array:
    """A locked array of the given shape (−1: any length), finite everywhere.

    Raises:
        BadMotion: another shape, or a value that is not finite, with its first place.
    """
    try:
        if np.asarray(values).dtype.kind == "c":  # numpy would drop the imaginary part
            raise TypeError("got complex numbers")
        array = locked(values)  # type: ignore[arg-type]  # whatever numpy takes, else its error
    except (TypeError, ValueError) as error:
        raise BadMotion(what=f"{name} is no array of numbers: {error}", where=where) from error
    if array.ndim != len(shape) or any(
        w not in (-1, g) for w, g in zip(shape, array.shape, strict=True)
    ):
        wanted = ", ".join("n" if w == -1 else str(w) for w in shape)
        raise BadMotion(what=f"expected {name} ({wanted}), got {array.shape}", where=where)
    if not np.all(np.isfinite(array)):
        first = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise BadMotion(
            what=f"{name} holds {array[first]} at {first}",
            where=where,
            todo="remove or fill it first",
        )
    return array


def checked_time(time: object, *, where: str) -> Array:
    """Locked frame times (n), s, strictly increasing.

    Raises:
        BadMotion: no frame, or times that do not increase.
    """
    array = checked("time", time, (-1,), where=where)
    if len(array) == 0:
        raise BadMotion(what="0 frames", where=where, todo="a motion needs at least one")
    steps = np.diff(array)
    if np.any(steps <= 0.0):
        i = int(np.argmax(steps <= 0.0))
        raise BadMotion(
            what=f"time must increase, but frame {i + 1} is at {array[i + 1]} s after {array[i]} s",
            where=where,
        )
    return array


def checked_unit_quat(name: str, quat: object, shape: tuple[int, ...], *, where: str) -> Array:
    """Locked unit quaternions (w, x, y, z) in the last axis.

    Raises:
        BadMotion: a norm that is not 1, with its first frame.
    """
    array = checked(name, quat, shape, where=where)
    off = np.abs(np.linalg.norm(array, axis=-1) - 1.0)
    if np.any(off > QUATERNION_TOLERANCE):
        first = tuple(int(i) for i in np.argwhere(off > QUATERNION_TOLERANCE)[0])
        raise BadMotion(
            what=f"{name} must hold unit quaternions, its norm at {first} is off by"
            f" {off[first]:.3g}",
            where=where,
        )
    return array


def nominal_fps(time: Float64[Array, " n"]) -> float:
    """Frames a second of evenly spread times: (n − 1) / duration; 0 for a single frame."""
    if len(time) < 2:
        return 0.0
    fps = (len(time) - 1) / float(time[-1] - time[0])
    return float(f"{fps:.14g}")  # times are sums of thirds of a tenth: 30 comes out as 30.000…004


@dataclass(frozen=True, slots=True, eq=False)
class Motion(Value):
    """Root pose and named joints over time; needs no engine."""

    time: Float64[Array, " n"]
    """Frame times, s, strictly increasing, not necessarily even."""
    root_pos: Float64[Array, "n 3"]
    """Position of the root link's frame in the world, m."""
    root_quat: Float64[Array, "n 4"]
    """Orientation of the root link in the world (w, x, y, z)."""
    joint_names: tuple[str, ...]
    joint_pos: Float64[Array, "n m"]
    """Joint positions, rad or m."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no motion."""
        where = "motion"
        time = checked_time(self.time, where=where)
        n, m = len(time), len(self.joint_names)
        object.__setattr__(self, "time", time)
        object.__setattr__(
            self, "root_pos", checked("root_pos", self.root_pos, (n, 3), where=where)
        )
        quat = checked_unit_quat("root_quat", self.root_quat, (n, 4), where=where)
        object.__setattr__(self, "root_quat", quat)
        object.__setattr__(self, "joint_names", tuple(self.joint_names))
        joint_pos = checked("joint_pos", self.joint_pos, (n, m), where=where)
        object.__setattr__(self, "joint_pos", joint_pos)
        if len(set(self.joint_names)) != m:
            doubled = next(name for name in self.joint_names if self.joint_names.count(name) > 1)
            raise BadMotion(what=f"joint '{doubled}' is named twice", where=where)

    @property
    def n(self) -> int:
        """Number of frames."""
        return len(self.time)

    @property
    def duration(self) -> float:
        """From the first to the last frame, s."""
        return float(self.time[-1] - self.time[0])

    @property
    def fps(self) -> float:
        """Mean frame rate, 1/s; 0 for a single frame."""
        return nominal_fps(self.time)

    def joint(self, name: str) -> Float64[Array, " n"]:
        """Positions of one joint over time.

        Raises:
            BadMotion: no joint of that name.
        """
        if name not in self.joint_names:
            raise BadMotion(
                what=f"joint '{name}' is not in the motion", todo=nearest(name, self.joint_names)
            )
        return self.joint_pos[:, self.joint_names.index(name)]

    def frame(self, i: int) -> Frame:
        """The moment of frame i."""
        return Frame(
            t=float(self.time[i]),
            root_pos=self.root_pos[i],
            root_quat=self.root_quat[i],
            joint_names=self.joint_names,
            joint_pos=self.joint_pos[i],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Frame(Value):
    """One moment of a motion."""

    t: float
    root_pos: Float64[Array, " 3"]
    root_quat: Float64[Array, " 4"]
    joint_names: tuple[str, ...]
    joint_pos: Float64[Array, " m"]
    contacts: tuple[str, ...] = ()
    """Names of the links that stand at this moment."""
    com_w: Float64[Array, " 3"] | None = None

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no moment of a motion."""
        where = f"frame at {self.t} s"
        checked("t", self.t, (), where=where)
        shapes = {"root_pos": (3,), "joint_pos": (len(self.joint_names),)}
        if self.com_w is not None:
            shapes["com_w"] = (3,)
        for name, shape in shapes.items():
            object.__setattr__(self, name, checked(name, getattr(self, name), shape, where=where))
        quat = checked_unit_quat("root_quat", self.root_quat, (4,), where=where)
        object.__setattr__(self, "root_quat", quat)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done to a clip, with its parameters."""

    what: str
    parameters: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Meta:
    """Where a clip comes from and what was done to it."""

    source: str = ""
    history: tuple[Step, ...] = ()

    def then(self, what: str, **parameters: object) -> Meta:
        """The same with one more step."""
        return Meta(self.source, (*self.history, Step(what, parameters)))


@dataclass(frozen=True, slots=True, eq=False)
class Clip(Value):
    """A robot's motion with its contacts and terrain: what every later step takes and gives."""

    motion: Motion
    contacts: ContactSchedule = field(default_factory=ContactSchedule)
    terrain: Terrain = field(default_factory=Terrain)
    robot: str = ""
    """Name of the robot that the joints belong to."""
    zmp_w: Float64[Array, "n 3"] | None = None
    """Reference for the zero-moment point, world, m."""
    com_w: Float64[Array, "n 3"] | None = None
    """Reference for the centre of mass, world, m."""
    meta: Meta = field(default_factory=Meta)
    notices: tuple[Notice, ...] = ()
    """What was found, assumed or repaired on the way to this clip."""
    extra: dict[str, Array] = field(default_factory=dict)
    """Arrays of a file that surefoot does not know, by key: kept, never used."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse stances on surfaces that the terrain does not have."""
        n = self.motion.n
        object.__setattr__(self, "extra", {k: _read_only(v) for k, v in self.extra.items()})
        for stance in self.contacts.stances:
            if stance.surface >= len(self.terrain.surfaces):
                raise BadMotion(
                    what=f"stance of '{stance.link}' from {stance.start} s is on surface"
                    f" {stance.surface}, but the terrain has {len(self.terrain.surfaces)}",
                    where="clip",
                )
        for name in ("zmp_w", "com_w"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checked(name, value, (n, 3), where="clip"))


def _read_only(values: Array) -> Array:
    """A read-only copy of an array of any type, or the array where it is that already."""
    if values.flags.owndata and not values.flags.writeable:
        return values
    array = values.copy()
    array.flags.writeable = False
    return array
