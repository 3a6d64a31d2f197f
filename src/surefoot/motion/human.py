"""A person's motion: skeleton, frames, and the recognition of joint naming schemes."""

from __future__ import annotations

import functools
import itertools
import tomllib
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.errors import BadMotion, Notice, UnknownSkeleton, listed
from surefoot.motion import rotation
from surefoot.motion.motion import checked, checked_time, checked_unit_quat, nominal_fps
from surefoot.motion.value import Value

CANONICAL_NAMES = (
    "pelvis", "chest", "neck", "head",
    "left_shoulder", "left_elbow", "left_wrist", "right_shoulder", "right_elbow", "right_wrist",
    "left_hip", "left_knee", "left_ankle", "left_toe",
    "right_hip", "right_knee", "right_ankle", "right_toe",
)  # fmt: skip

_CHAINS = (
    ("left_shoulder", "left_elbow", "left_wrist"),
    ("right_shoulder", "right_elbow", "right_wrist"),
    ("pelvis", "left_hip", "left_knee", "left_ankle", "left_toe"),
    ("pelvis", "right_hip", "right_knee", "right_ankle", "right_toe"),
    ("pelvis", "chest", "neck", "head"),
)

_SIDES = ("", "left_", "right_")

# Of 38 clips the 15 with a T-pose row turn a joint by 73 to 121 degrees after it, 22 to 212 times
# the median step; the 23 without by 7.9 degrees at most.
T_POSE_TURN_RAD = np.radians(40.0)
T_POSE_OVER_MEDIAN = 10.0

# Kicks and cartwheels at 120 frames/s turn a joint by up to 14 degrees a frame; the glitch of CMU
# 83_68 by 111. No sprinter runs faster than 12.5 m/s.
LEAP_DEG = 40.0
LEAP_MPS = 13.0
LEAP_OVER_MEDIAN = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton(Value):
    """Joints of a person: names, parents, and where each sits in its parent.

    In the rest pose all joint orientations are the identity and z is up.
    """

    joint_names: tuple[str, ...]
    parents: tuple[int, ...]
    """Index of each joint's parent, −1 for the root; a parent comes before its children."""
    offsets: Float64[Array, "j 3"]
    """Position of each joint in its parent's frame, m; not used for the root."""
    scheme: str
    """Name of the naming scheme that fits, as in schemes.toml; empty when none does."""
    canonical: dict[str, int]
    """Index of the joint that plays each canonical part (CANONICAL_NAMES), where there is one."""
    end_offsets: dict[int, Float64[Array, " 3"]]
    """Tip of a leaf in its own frame, m (BVH End Site), by joint index."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no tree."""
        names, parents, where = self.joint_names, self.parents, "skeleton"
        offsets = checked("offsets", self.offsets, (len(names), 3), where=where)
        object.__setattr__(self, "offsets", offsets)
        ends = {
            i: checked("end offset", end, (3,), where=where) for i, end in self.end_offsets.items()
        }
        object.__setattr__(self, "end_offsets", ends)
        if len(names) == 0 or len(parents) != len(names):
            raise BadMotion(
                what=f"expected one parent for each joint, got {len(parents)} for {len(names)}",
                where=where,
            )
        if len(set(names)) != len(names):
            doubled = next(name for name in names if names.count(name) > 1)
            raise BadMotion(what=f"joint '{doubled}' is named twice", where=where)
        for i, parent in enumerate(parents):
            if not (parent == -1 if i == 0 else 0 <= parent < i):
                raise BadMotion(
                    what=f"the parent of joint '{names[i]}' must come before it, got {parent}",
                    where=where,
                )

    def descends(self, joint: int, ancestor: int) -> bool:
        """Whether the joint hangs below the ancestor."""
        while joint > ancestor:
            joint = self.parents[joint]
        return joint == ancestor

    def length(self, upper: str, lower: str) -> float:
        """Length along the bones between two canonical parts, m."""
        joint, top, total = self.canonical[lower], self.canonical[upper], 0.0
        while joint != top and joint >= 0:
            total += float(np.linalg.norm(self.offsets[joint]))
            joint = self.parents[joint]
        return total

    @property
    def leg_length(self) -> float:
        """Hip to knee to ankle, mean of both sides, m."""
        return sum(self.length(f"{s}_hip", f"{s}_ankle") for s in ("left", "right")) / 2.0


@dataclass(frozen=True, eq=False)
class HumanClip(Value):
    """A person's motion: world with z up, metres, (w, x, y, z)."""

    skeleton: Skeleton
    time: Float64[Array, " n"]
    root_pos: Float64[Array, "n 3"]
    """Position of the root joint in the world, m."""
    joint_quat: Float64[Array, "n j 4"]
    """Orientation of each joint in its parent; of the root in the world."""
    source: str = ""
    notices: tuple[Notice, ...] = ()
    """What the reader assumed or repaired."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is no motion."""
        where = self.source or "human clip"
        time = checked_time(self.time, where=where)
        n, j = len(time), len(self.skeleton.joint_names)
        root_pos = checked("root_pos", self.root_pos, (n, 3), where=where)
        joint_quat = checked_unit_quat("joint_quat", self.joint_quat, (n, j, 4), where=where)
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "root_pos", root_pos)
        object.__setattr__(self, "joint_quat", joint_quat)

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

    @functools.cached_property
    def joint_quat_w(self) -> Float64[Array, "n j 4"]:
        """Orientation of each joint in the world."""
        quat_w = np.empty_like(self.joint_quat)
        for j, parent in enumerate(self.skeleton.parents):  # joints; all frames at once
            own = self.joint_quat[:, j]
            quat_w[:, j] = own if parent < 0 else rotation.multiply(quat_w[:, parent], own)
        return locked(quat_w)

    @functools.cached_property
    def joint_pos_w(self) -> Float64[Array, "n j 3"]:
        """Position of each joint in the world, m."""
        pos_w = np.empty((self.n, len(self.skeleton.parents), 3))
        for j, parent in enumerate(self.skeleton.parents):  # joints; all frames at once
            if parent < 0:
                pos_w[:, j] = self.root_pos
            else:
                arm = rotation.rotate(self.joint_quat_w[:, parent], self.skeleton.offsets[j])
                pos_w[:, j] = pos_w[:, parent] + arm
        return locked(pos_w)

    def part_pos_w(self, part: str) -> Float64[Array, "n 3"]:
        """Position of a canonical part in the world, m.

        Raises:
            UnknownSkeleton: the skeleton has no joint for it.
        """
        return self.joint_pos_w[:, self._part(part)]

    def part_quat_w(self, part: str) -> Float64[Array, "n 4"]:
        """Orientation of a canonical part in the world.

        Raises:
            UnknownSkeleton: the skeleton has no joint for it.
        """
        return self.joint_quat_w[:, self._part(part)]

    def _part(self, part: str) -> int:
        if part not in self.skeleton.canonical:
            raise UnknownSkeleton(
                what=f"no joint plays '{part}'", where=self.source or self.skeleton.scheme
            )
        return self.skeleton.canonical[part]


def has_t_pose_row(clip: HumanClip) -> bool:
    """Whether the first frame is a T-pose that was put before the motion.

    Told by the largest turn of any joint but the root from the first frame to the second, against
    40 degrees and against ten times the median of the same measure over the clip.
    """
    if clip.n < 3:
        return False
    below_root = clip.joint_quat[:, 1:]
    cosine = np.abs(np.sum(below_root[1:] * below_root[:-1], axis=-1))
    turn = 2.0 * np.arccos(np.minimum(cosine, 1.0)).max(axis=-1, initial=0.0)
    usual = float(np.median(turn[1:]))
    return bool(turn[0] > max(T_POSE_TURN_RAD, T_POSE_OVER_MEDIAN * usual))


def leaps(clip: HumanClip) -> tuple[Notice, ...]:
    """What no person does from one frame to the next: turns and ways that are faults of the file.

    A T-pose row is left out, and so are toes and fingers, which flip in many recordings.
    """
    first = 1 if has_t_pose_row(clip) else 0
    time = clip.time[first:]
    if len(time) < 3:
        return ()
    names = [part for part in clip.skeleton.canonical if not part.endswith("_toe")]
    quat = clip.joint_quat[first:, [clip.skeleton.canonical[part] for part in names]]
    cosine = np.abs(np.sum(quat[1:] * quat[:-1], axis=-1))
    turn = np.degrees(2.0 * np.arccos(np.minimum(cosine, 1.0)))
    way = np.linalg.norm(np.diff(clip.root_pos[first:], axis=0), axis=1) / np.diff(time)
    largest = turn.max(axis=1)
    usual = np.median(largest), np.median(way)
    torn = (largest > LEAP_DEG) & (largest > LEAP_OVER_MEDIAN * usual[0])
    gone = (way > LEAP_MPS) & (way > LEAP_OVER_MEDIAN * usual[1])
    found = []
    for flags, size, text in (
        (torn, largest, f"'{names[int(turn.max(axis=0).argmax())]}' turns by {{:.0f}}°"),
        (gone, way, "the root moves at {:.0f} m/s"),
    ):
        if flags.any():
            i = int(np.argmax(np.where(flags, size, 0.0)))
            sentence = (
                f"{text.format(size[i])} from frame {first + i} to the next: a fault of the file?"
                f" ({int(flags.sum())} such steps)"
            )
            found.append(Notice("doubt", "motion", sentence, float(time[i]), value=float(size[i])))
    return tuple(found)


def without_first_row(clip: HumanClip) -> HumanClip:
    """The clip from its second frame on, beginning at time 0, with a notice.

    Raises:
        BadMotion: there is no second frame.
    """
    if clip.n < 2:
        raise BadMotion(what="0 frames are left without the first", where=clip.source)
    notice = Notice("dropped", "frame 0", "the first frame was dropped: it is a T-pose, not motion")
    return replace(
        clip,
        time=clip.time[1:] - clip.time[1],
        root_pos=clip.root_pos[1:],
        joint_quat=clip.joint_quat[1:],
        notices=(*clip.notices, notice),
    )


@dataclass(frozen=True, slots=True)
class Scheme:
    """One row of schemes.toml: how a family of files names its joints."""

    name: str
    about: str
    up: str
    """`x`, `y` or `z`; empty where the poses have to tell."""
    marks: tuple[str, ...]
    parts: dict[str, tuple[str, ...]]
    """Names of each canonical part, in order of preference."""
    optional: frozenset[str]

    def faults(self, joint_names: tuple[str, ...]) -> list[str]:
        """What these joint names lack to be of this scheme."""
        known = set(joint_names)
        missing = [
            f"{part} ({' or '.join(names)})"
            for part, names in self.parts.items()
            if part not in self.optional and not known.intersection(names)
        ]
        return missing + [f"'{mark}'" for mark in self.marks if mark not in known]

    def canonical(self, joint_names: tuple[str, ...]) -> dict[str, int]:
        """Index of the joint that plays each part, as far as present."""
        index = {name: i for i, name in enumerate(joint_names)}
        found = {
            part: next((index[name] for name in names if name in index), -1)
            for part, names in self.parts.items()
        }
        return {part: i for part, i in found.items() if i >= 0}


@functools.cache
def schemes() -> tuple[Scheme, ...]:
    """The naming schemes of schemes.toml, in order."""
    text = resources.files("surefoot.motion").joinpath("schemes.toml").read_text("utf-8")
    return tuple(_scheme(row) for row in tomllib.loads(text)["scheme"])


def _scheme(row: dict[str, Any]) -> Scheme:
    """A row with its sides written out."""
    parts: dict[str, tuple[str, ...]] = {}
    for part, value in row["parts"].items():
        names = value if isinstance(value, list) else [value]
        if part in CANONICAL_NAMES:
            parts[part] = tuple(names)
        for side, word in zip(("left", "right"), row["sides"], strict=True):
            parts[f"{side}_{part}"] = tuple(name.replace("*", word) for name in names)
    optional = {f"{prefix}{part}" for part in row.get("optional", []) for prefix in _SIDES}
    return Scheme(
        name=row["name"],
        about=row["about"],
        up=row.get("up", ""),
        marks=tuple(row.get("marks", [])),
        parts={name: parts[name] for name in CANONICAL_NAMES},
        optional=frozenset(optional.intersection(CANONICAL_NAMES)),
    )


def find_scheme(joint_names: tuple[str, ...]) -> Scheme | None:
    """The first naming scheme that these joints fit."""
    return next((scheme for scheme in schemes() if not scheme.faults(joint_names)), None)


def recognised(
    joint_names: tuple[str, ...],
    parents: tuple[int, ...],
    offsets: Float64[Array, "j 3"],
    end_offsets: dict[int, Float64[Array, " 3"]] | None = None,
    *,
    where: str = "",
) -> Skeleton:
    """A skeleton with its naming scheme and canonical parts.

    Args:
        where: the file, for error sentences.

    Raises:
        UnknownSkeleton: no scheme fits, with the nearest one and what is missing; or the names
            fit but a limb does not hang together.
        BadMotion: no tree.
    """
    scheme = find_scheme(joint_names)
    if scheme is None:
        close = min(schemes(), key=lambda row: len(row.faults(joint_names)))
        raise UnknownSkeleton(
            what=f"the {len(joint_names)} joint names fit no known skeleton; nearest is"
            f" '{close.name}' ({close.about}), which also has {listed(close.faults(joint_names))}",
            where=where,
            todo="Rename the joints, or add a row to motion/schemes.toml",
        )
    canonical = scheme.canonical(joint_names)
    skeleton = Skeleton(joint_names, parents, offsets, scheme.name, canonical, end_offsets or {})
    faults = [
        f"'{joint_names[canonical[lower]]}' does not hang below '{joint_names[canonical[upper]]}'"
        for chain in _CHAINS
        for present in [[part for part in chain if part in canonical]]
        for upper, lower in itertools.pairwise(present)
        if not skeleton.descends(canonical[lower], canonical[upper])
    ]
    if faults:
        raise UnknownSkeleton(
            what=f"the joint names are those of '{scheme.name}', but {listed(faults)}", where=where
        )
    return skeleton
