"""BVH text in and out: a person's skeleton and motion.

The file says neither its unit nor which axis is up. Both are told from the body: the unit from the
length of the legs, the axis from the family of joint names or from the way from ankles to head.
What was assumed is said in notices. docs/formats.md has the grammar.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import BadFile, BadMotion, BadOption, Notice, UnknownSkeleton
from surefoot.formats import Facts
from surefoot.formats.bvh_text import CHANNELS, Joint, parsed
from surefoot.formats.files import place, read_bytes, shown, write_whole
from surefoot.motion import rotation
from surefoot.motion.human import (
    HumanClip,
    Skeleton,
    find_scheme,
    has_t_pose_row,
    leaps,
    recognised,
)

USUAL_RATES_HZ = (
    23.976, 24.0, 25.0, 29.97, 30.0, 48.0, 50.0, 59.94, 60.0, 90.0, 100.0, 119.88, 120.0, 180.0,
    200.0, 240.0,
)  # fmt: skip
RATE_TOLERANCE = 2e-4  # `Frame Time` has six decimals: 0.008333 is 0.004 % off; 24 and 23.976 0.1 %
UNITS_M = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "cmu": 0.0254 / 0.45}
LEG_M = (
    0.6,
    1.1,
)  # length of people's legs, hip to knee to ankle; the units' ranges do not overlap
UPRIGHT_SHARE = 0.8  # of the way from ankles to head that must lie along one axis
OFFSET_SLACK = 1e-3  # of the leg: a joint that strays less from its place only shows rounding
EVEN_TOLERANCE = 1e-6  # of the step; sums of frame times are this even, rounded ones are not
ROUNDING = 1e-12
CM = 100.0
GIMBAL = 1e-8  # rad from ±90°: nearer, two angles cannot be told apart in double precision


# Components of a vector of the file that become x, y, z with z up, and their signs.
_TURNS: dict[str, tuple[tuple[int, int, int], tuple[float, float, float]]] = {
    "z": ((0, 1, 2), (1.0, 1.0, 1.0)),
    "y": ((0, 2, 1), (1.0, -1.0, 1.0)),
    "x": ((1, 2, 0), (1.0, 1.0, 1.0)),
}


def sniff(data: bytes) -> tuple[bool, str]:
    """Whether the bytes are BVH text, and why."""
    words = _decoded(data[:1000]).split(maxsplit=1)
    if words and words[0].upper() == "HIERARCHY":
        return True, "begins with HIERARCHY"
    return False, "does not begin with HIERARCHY"


def read(path: str | Path, *, unit_m: float | None = None, up: str | None = None) -> HumanClip:
    """The human clip of a BVH file, in metres with z up; what was assumed is in its notices.

    Args:
        unit_m: length of the file's unit in metres; told from the legs when not given.
        up: `x`, `y` or `z`, the file's upward axis; told from names or poses when not given.

    Raises:
        NoFile: not there, a folder, no permission.
        BadFile: no BVH, with every fault and its line.
        UnknownSkeleton: joint names of no known family, or legs of no human length.
    """
    return read_with_facts(path, unit_m=unit_m, up=up)[0]


def read_with_facts(
    path: str | Path, *, unit_m: float | None = None, up: str | None = None
) -> tuple[HumanClip, Facts]:
    """As `read`, with the unit and the axis that were found."""
    if up is not None and up not in _TURNS:
        raise BadOption(what=f"up must be x, y or z, got '{up}'")
    if unit_m is not None and not (math.isfinite(unit_m) and unit_m > 0.0):
        raise BadOption(what=f"unit_m must be a positive length in metres, got {unit_m}")
    where = place(path)
    joints, values, frame_time = parsed(_decoded(read_bytes(path)), where)
    notices: list[Notice] = []
    fps = _snapped_rate(frame_time, notices)
    raw, root_offset = _as_in_file(joints, values, fps, where, notices)
    unit = "given" if unit_m is not None else _unit(raw, notices)
    metre = unit_m if unit_m is not None else UNITS_M[unit]
    up = up or _up_axis(raw, metre, notices)
    clip = _in_metres(raw, metre, up)
    clip = _with_root_offset(clip, _turn_vectors(root_offset * metre, up), notices)
    if has_t_pose_row(clip):
        notices.append(
            Notice("assumption", "frame 0", "the first frame is a T-pose, not part of the motion")
        )
    notices += leaps(clip)
    return replace(clip, notices=tuple(notices)), Facts(unit=unit, up_axis=up)


def _decoded(data: bytes) -> str:
    """The text: UTF-16 where it says so, as files do that went through a Windows shell."""
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if wide else "utf-8-sig", errors="replace")


def _snapped_rate(frame_time: float, notices: list[Notice]) -> float:
    """Frames a second, put onto the usual rate that a rounded frame time stands for."""
    rate = 1.0 / frame_time
    usual = min(USUAL_RATES_HZ, key=lambda hz: abs(hz / rate - 1.0))
    if abs(usual / rate - 1.0) > RATE_TOLERANCE:
        return rate
    if abs(usual / rate - 1.0) > ROUNDING:
        notices.append(
            Notice(
                "assumption",
                "Frame Time",
                f"frame time {frame_time:.9g} s is read as {usual:g} frames a second",
                value=rate,
                limit=usual,
            )
        )
    return usual


def _as_in_file(
    joints: list[Joint],
    values: Float64[Array, "n c"],
    fps: float,
    where: str,
    notices: list[Notice],
) -> tuple[HumanClip, Float64[Array, " 3"]]:
    """The clip from the pelvis downwards in the file's own unit and axes, and the root's OFFSET."""
    names = tuple(joint.name for joint in joints)
    offsets = np.array([joint.offset for joint in joints], dtype=np.float64)
    ends = {i: np.array(joint.end) for i, joint in enumerate(joints) if joint.end is not None}
    parents = tuple(joint.parent for joint in joints)
    skeleton = recognised(names, parents, offsets, ends, where=where)
    positions, quats = _transforms(joints, values)

    pelvis = skeleton.canonical["pelvis"]
    way = [pelvis]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    place, quat = np.zeros((len(values), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(values), 1))
    for i in reversed(way):  # the joints above the pelvis, which few families have
        place = place + rotation.rotate(quat, positions.pop(i, offsets[i][None]))
        quat = rotation.multiply(quat, quats[:, i])
    quats[:, pelvis] = quat
    for i, position in positions.items():
        offsets[i] = _constant_offset(names[i], position, skeleton.leg_length, notices)

    kept = [i for i in range(len(names)) if skeleton.descends(i, pelvis)]
    new = {old: i for i, old in enumerate(kept)}
    if len(kept) < len(names):
        dropped = ", ".join(f"'{shown(names[i])}'" for i in range(len(names)) if i not in new)
        notices.append(Notice("dropped", "joints", f"joints above the pelvis dropped: {dropped}"))
    below = recognised(
        tuple(names[i] for i in kept),
        tuple(new.get(parents[i], -1) for i in kept),
        offsets[kept],
        {new[i]: end for i, end in ends.items() if i in new},
        where=where,
    )
    orientation = rotation.continuous(rotation.unit(quats[:, kept]))
    clip = HumanClip(below, np.arange(len(values)) / fps, place, orientation, where)
    return clip, offsets[way[-1]]


def _transforms(
    joints: list[Joint], values: Float64[Array, "n c"]
) -> tuple[dict[int, Array], Float64[Array, "n j 4"]]:
    """Positions of the joints that have position channels, and the orientations of all."""
    quats = np.zeros((len(values), len(joints), 4))
    quats[..., 0] = 1.0
    positions: dict[int, Array] = {}
    groups: dict[str, tuple[list[int], list[list[int]]]] = {}
    column = 0
    for i, joint in enumerate(joints):
        turns: dict[str, int] = {}
        for word in joint.channels or ():
            kind, axis = CHANNELS[word]
            if kind == "rotation":
                turns["xyz"[axis]] = column
            else:
                # A position channel replaces its component of OFFSET; it is not added to it.
                if i not in positions:
                    positions[i] = np.tile(np.array(joint.offset), (len(values), 1))
                positions[i][:, axis] = values[:, column]
            column += 1
        if turns:
            members, columns = groups.setdefault("".join(turns), ([], []))
            members.append(i)
            columns.append(list(turns.values()))
    for axes, (members, columns) in groups.items():  # joints with one order of axes at once
        angles = np.radians(values[:, np.array(columns)])
        quats[:, members] = rotation.from_euler(axes, angles)
    return positions, quats


def _constant_offset(
    name: str, position: Float64[Array, "n 3"], leg: float, notices: list[Notice]
) -> Float64[Array, " 3"]:
    """The offset of a joint below the pelvis that has position channels: their median."""
    offset = np.median(position, axis=0)
    largest = float(np.linalg.norm(position - offset, axis=1).max()) / leg
    if largest > OFFSET_SLACK:
        notices.append(
            Notice(
                "repair",
                name,
                f"joint '{shown(name)}' moves within its parent by up to {100 * largest:.2f} % of"
                " the leg's length; its median place is used",
                value=largest,
                limit=OFFSET_SLACK,
            )
        )
    return np.asarray(offset, dtype=np.float64)


def _unit(clip: HumanClip, notices: list[Notice]) -> str:
    """The name of the unit that makes the legs a person's."""
    leg = clip.skeleton.leg_length
    fits = [name for name, metre in UNITS_M.items() if LEG_M[0] <= leg * metre <= LEG_M[1]]
    if len(fits) != 1:
        raise UnknownSkeleton(
            what=f"the unit cannot be told: legs of {leg:.4g} units are {LEG_M[0]} to {LEG_M[1]} m"
            f" long in none of {', '.join(UNITS_M)}",
            where=clip.source,
            todo="Give it: surefoot.formats.bvh.read(path, unit_m=...)",
        )
    metre = UNITS_M[fits[0]]
    notices.append(
        Notice(
            "assumption",
            "unit",
            f"the unit is taken to be {fits[0]} ({metre:.6g} m): the legs are then"
            f" {leg * metre:.3f} m long",
            value=leg * metre,
        )
    )
    return fits[0]


def _up_axis(clip: HumanClip, metre: float, notices: list[Notice]) -> str:
    """The file's upward axis: that of the family, else that of the way from ankles to head."""
    scheme = find_scheme(clip.skeleton.joint_names)
    if scheme is not None and scheme.up:
        notices.append(
            Notice("assumption", "up axis", f"{scheme.up} is up, as in files of '{scheme.name}'")
        )
        return scheme.up
    ankles = (clip.part_pos_w("left_ankle") + clip.part_pos_w("right_ankle")) / 2.0
    way = np.median(clip.part_pos_w("head") - ankles, axis=0)
    axis = int(np.argmax(np.abs(way)))
    share = float(way[axis] / max(float(np.linalg.norm(way)), np.finfo(float).tiny))
    if share < UPRIGHT_SHARE:
        raise BadFile(
            what="no axis points up: the way from ankles to head is"
            f" {np.round(way * metre, 2).tolist()} m",
            where=clip.source,
            todo="Give it: surefoot.formats.bvh.read(path, up=...)",
        )
    notices.append(
        Notice(
            "assumption",
            "up axis",
            f"{'xyz'[axis]} is taken to be up: the head is {way[axis] * metre:.2f} m along it"
            " above the ankles",
            value=share,
            limit=UPRIGHT_SHARE,
        )
    )
    return "xyz"[axis]


def _turn_vectors(vectors: Float64[Array, "*n 3"], up: str) -> Float64[Array, "*n 3"]:
    """Vectors of a file with that upward axis in axes with z up."""
    order, signs = _TURNS[up]
    return np.asarray(vectors[..., list(order)] * np.array(signs), dtype=np.float64)


def _in_metres(clip: HumanClip, metre: float, up: str) -> HumanClip:
    """The clip in metres with z up, in the world and in every joint: at rest all stays identity."""
    quat = clip.joint_quat.copy()
    quat[..., 1:] = _turn_vectors(quat[..., 1:], up)
    old = clip.skeleton
    skeleton = replace(
        old,
        offsets=_turn_vectors(old.offsets * metre, up),
        end_offsets={i: _turn_vectors(end * metre, up) for i, end in old.end_offsets.items()},
    )
    return replace(
        clip, skeleton=skeleton, root_pos=_turn_vectors(clip.root_pos * metre, up), joint_quat=quat
    )


def _with_root_offset(
    clip: HumanClip, offset: Float64[Array, " 3"], notices: list[Notice]
) -> HumanClip:
    """The clip with the root's OFFSET added where only that brings the feet near the ground."""
    feet = [clip.part_pos_w(f"{side}_ankle")[:, 2] for side in ("left", "right")]
    height = float(np.median(np.min(feet, axis=0)))
    reach = clip.skeleton.leg_length / 2.0
    if abs(height) <= reach or abs(height + offset[2]) > reach:
        return clip
    notices.append(
        Notice(
            "repair",
            "root OFFSET",
            f"the root's OFFSET was added to its positions: without it the ankles are at"
            f" {height:.2f} m",
            value=height,
            limit=reach,
        )
    )
    return replace(clip, root_pos=clip.root_pos + offset)


def write(clip: HumanClip, path: str | Path) -> None:
    """Write a clip as BVH text: centimetres, y up, rotations in the order Z, Y, X.

    Raises:
        BadMotion: frame times that are not even: BVH has one frame time.
        NoFile: the path cannot be written.
    """
    write_whole(path, as_text(clip).encode("utf-8"))


def as_text(clip: HumanClip) -> str:
    """The clip as the text of a BVH file; joints stand in depth-first order.

    Raises:
        BadMotion: frame times that are not even: BVH has one frame time.
    """
    rate = clip.fps if clip.n > 1 else 30.0  # a single frame has no rate; 30 is what most expect
    if clip.n > 1 and np.abs(np.diff(clip.time) * rate - 1.0).max() > EVEN_TOLERANCE:
        raise BadMotion(
            what="frame times are not even, but BVH has one frame time",
            where=clip.source,
            todo="Resample the clip first",
        )
    lines, order = _hierarchy_text(clip.skeleton)
    usual = min(abs(hz / rate - 1.0) for hz in USUAL_RATES_HZ) < EVEN_TOLERANCE
    lines += ["MOTION", f"Frames: {clip.n}", f"Frame Time: {1.0 / rate:.{6 if usual else 12}f}"]
    quat = clip.joint_quat[:, order].copy()
    quat[..., 1:] = _file_axes(quat[..., 1:])
    angles = np.degrees(_zyx(quat)).reshape(clip.n, -1)
    columns = np.concatenate([CM * _file_axes(clip.root_pos), angles], axis=1)
    lines += [_words(row) for row in columns]  # text has no other way than row by row
    return "\n".join(lines) + "\n"


def _hierarchy_text(skeleton: Skeleton) -> tuple[list[str], list[int]]:
    """The lines of HIERARCHY, and the joints in the order in which they stand there."""
    offsets = CM * _file_axes(skeleton.offsets)
    children: list[list[int]] = [[] for _ in offsets]
    for child, parent in enumerate(skeleton.parents[1:], start=1):
        children[parent].append(child)
    lines, order = ["HIERARCHY"], []
    waiting: list[tuple[int, int | None]] = [(0, 0)]  # depth and joint; None closes a block
    while waiting:
        depth, i = waiting.pop()
        tab = "\t" * depth
        if i is None:
            lines.append(tab + "}")
            continue
        order.append(i)
        head, channels = "JOINT", "CHANNELS 3"
        if i == 0:
            head, channels = "ROOT", "CHANNELS 6 Xposition Yposition Zposition"
        lines += [
            f"{tab}{head} {skeleton.joint_names[i]}",
            f"{tab}{{",
            f"{tab}\tOFFSET {_words(offsets[i] if i else np.zeros(3))}",
            f"{tab}\t{channels} Zrotation Yrotation Xrotation",
        ]
        if not children[i]:
            tip = CM * _file_axes(skeleton.end_offsets.get(i, np.zeros(3)))
            inner = tab + "\t"
            block = ["End Site", "{", f"\tOFFSET {_words(tip)}", "}"]
            lines += [inner + line for line in block]
        waiting += [(depth, None), *((depth + 1, child) for child in reversed(children[i]))]
    return lines, order


def _file_axes(vectors: Float64[Array, "*n 3"]) -> Float64[Array, "*n 3"]:
    """Vectors with z up as vectors with y up: the inverse of `_turn_vectors`."""
    return np.stack([vectors[..., 0], vectors[..., 2], -vectors[..., 1]], axis=-1)


def _words(numbers: Float64[Array, " c"]) -> str:
    """Numbers with six decimals; a rounded −0 loses its sign."""
    return " ".join(f"{number:.6f}" for number in np.round(numbers, 6) + 0.0)


def _zyx(quat: Float64[Array, "*n 4"]) -> Float64[Array, "*n 3"]:
    """Angles of turns about z, then y, then x (moving axes), rad: R = Rz Ry Rx."""
    w, x, y, z = np.moveaxis(quat, -1, 0)
    r00, r10 = 1.0 - 2.0 * (y * y + z * z), 2.0 * (w * z + x * y)
    r21, r22 = 2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)
    cosine = np.hypot(r00, r10)
    about_y = np.arctan2(2.0 * (w * y - z * x), cosine)
    # At ±90° about y only one sum of the other two angles counts; x is then 0.
    locked = cosine < GIMBAL
    about_x = np.where(locked, 0.0, np.arctan2(r21, r22))
    about_z = np.where(locked, 2.0 * np.arctan2(z, w), np.arctan2(r10, r00))
    return np.stack([about_z, about_y, about_x], axis=-1)
