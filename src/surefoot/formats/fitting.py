"""A record put together with a robot: which column is which joint, and when each frame is.

Columns without names stand in the robot's order. Where there are fewer of them than joints, whole
groups of joints are left out, by the rule of `GROUPS`; where that is ambiguous, nothing is guessed.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.errors import MAX_FAULTS_SHOWN, BadFile, BadOption, Notice, listed, nearest
from surefoot.formats import doubts
from surefoot.formats.files import shown
from surefoot.formats.keys import RATES_HZ
from surefoot.formats.record import Record, strange
from surefoot.motion.motion import Clip, Meta, Motion
from surefoot.robots.robot import Robot

DEFAULT_FPS = 30.0  # what most tables have; some have 60, and none says it
GROUPS = {
    "wrists": ("wrist",),
    "hands": ("hand", "finger", "thumb", "index", "middle", "ring", "pinky", "gripper"),
    "head": ("head", "neck"),
}
"""Joints that tools leave out, by words in their names: always all of a group, on both sides."""
SAME_AXIS = 0.99  # cosine between a column's axis and its joint's


def rate(record: Record, fps: float | None) -> tuple[float, list[Notice]]:
    """Frames a second of a record, and what was assumed for it.

    Raises:
        BadOption: a rate out of range.
    """
    if record.fps is not None:
        return record.fps, []
    if fps is None:
        notice = Notice(
            "assumption",
            "fps",
            f"the file holds no frame rate; {DEFAULT_FPS:g} frames a second are assumed (--fps)",
            value=DEFAULT_FPS,
        )
        return DEFAULT_FPS, [notice]
    if not (math.isfinite(fps) and RATES_HZ[0] <= fps <= RATES_HZ[1]):
        raise BadOption(
            what=f"expected {RATES_HZ[0]:g} to {RATES_HZ[1]:g} frames a second, got {fps:g}",
            where="--fps",
        )
    return fps, []


def fitted(record: Record, robot: Robot | None, *, fps: float | None, where: str) -> Clip:
    """The clip of a record, without contacts.

    Raises:
        BadFile: joints that the robot has not, too many or too few of them, or contradictions
            between the file and the robot.
        BadOption: no robot for a file without joint names, or a rate out of range.
    """
    rate_hz, assumed = rate(record, fps)
    notices = [*record.notices, *assumed, *strange(record, rate_hz)]
    if robot is None:
        if record.joint_names is None:
            raise BadOption(
                what=f"the file names no joints ({record.joint_pos.shape[1]} columns), so that its"
                " robot must be given",
                where=where,
                todo="Say -r ROBOT, as in: -r path/to/g1.xml",
            )
        names, joints = record.joint_names, record.joint_pos
    else:
        columns, said = columns_of(record, robot, where)
        _check_axes(record, robot, columns, where)
        names, joints = robot.joint_names, np.zeros((record.n, len(columns)))
        present = columns >= 0
        joints[:, present] = record.joint_pos[:, columns[present]]
        notices += said
    time = np.arange(record.n) / rate_hz
    motion = Motion(time, record.root_pos, record.root_quat, names, joints)
    if robot is not None:
        notices += doubts.checked(record, motion, robot, where)
    return Clip(
        motion=motion,
        robot="" if robot is None else robot.name,
        meta=Meta(record.source),
        notices=tuple(notices),
    )


def columns_of(
    record: Record, robot: Robot, where: str
) -> tuple[Int64[IntArray, " m"], list[Notice]]:
    """The column of every joint of the robot, −1 where the file lacks it.

    Raises:
        BadFile: names or a number of columns that do not fit.
    """
    if record.joint_names is not None:
        return _by_name(record.joint_names, robot, where)
    got, m = record.joint_pos.shape[1], len(robot.joint_names)
    if got == m:
        return np.arange(m, dtype=np.int64), []
    ways = [way for way in _ways(robot.joint_names) if m - len(way[1]) == got]
    if len({left_out for _, left_out in ways}) != 1:
        why = ""
        if ways:
            why = "; it may lack " + " or ".join(f"the {words}" for words, _ in ways)
        raise BadFile(
            what=f"expected {m} joint columns for robot '{robot.name}', got {got}{why}",
            where=where,
            todo="Give the robot whose joints these are",
        )
    words, left_out = ways[0]
    columns = np.full(m, -1, dtype=np.int64)
    columns[[name not in left_out for name in robot.joint_names]] = np.arange(got)
    return columns, [_lacking(words, left_out, got, robot)]


def _ways(names: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Every choice of groups that could be left out: its words, and the joints in it."""
    found = {
        group: tuple(name for name in names if any(word in name.lower() for word in words))
        for group, words in GROUPS.items()
    }
    held = [group for group, joints in found.items() if joints]
    ways = []
    for count in range(1, len(held) + 1):
        for groups in combinations(held, count):
            gone = {name for group in groups for name in found[group]}
            ways.append((" and ".join(groups), tuple(n for n in names if n in gone)))
    return ways


def _lacking(words: str, left_out: tuple[str, ...], got: int, robot: Robot) -> Notice:
    return Notice(
        "assumption",
        "joints",
        f"{got} joint columns for the {len(robot.joint_names)} joints of robot '{robot.name}':"
        f" the {words} are taken to be missing and stay at 0 ({', '.join(left_out)}); if others"
        " are missing, give the robot without them",
        value=float(len(left_out)),
    )


def _by_name(
    names: tuple[str, ...], robot: Robot, where: str
) -> tuple[Int64[IntArray, " m"], list[Notice]]:
    """The column of every joint by its name; missing ones must be whole groups."""
    known = set(robot.joint_names)
    strangers = [shown(name) for name in names if name not in known]
    faults = [f"joint '{name}' is not in robot '{robot.name}'" for name in strangers]
    for k, name in enumerate(strangers[:MAX_FAULTS_SHOWN]):  # looking for the nearest takes time
        faults[k] += f". {nearest(name, known)}"
    missing = tuple(name for name in robot.joint_names if name not in names)
    ways = {left_out: words for words, left_out in _ways(robot.joint_names)}
    if missing and missing not in ways and not faults:
        faults += [f"joint '{name}' of robot '{robot.name}' is missing" for name in missing]
    if faults:
        raise BadFile(what=listed(faults), where=where)
    place = {name: k for k, name in enumerate(names)}
    columns = np.array([place.get(name, -1) for name in robot.joint_names], dtype=np.int64)
    said = [_lacking(ways[missing], missing, len(names), robot)] if missing else []
    return columns, said


def _check_axes(
    record: Record,
    robot: Robot,
    columns: Int64[IntArray, " m"],
    where: str,
) -> None:
    """Refuse columns that turn about another axis than their joints do."""
    if record.joint_axes is None:
        return
    present = np.flatnonzero(columns >= 0)
    file: Float64[Array, "c 3"] = record.joint_axes[columns[present]]
    axis: Float64[Array, "c 3"] = np.asarray(robot.model.jnt_axis)[robot.joint_ids[present]]
    known = np.any(file != 0.0, axis=1)
    wrong = np.flatnonzero(known & (np.sum(file * axis, axis=1) < SAME_AXIS))
    if len(wrong) == 0:
        return
    k = int(wrong[0])
    raise BadFile(
        what=f"{len(wrong)} joint columns turn about other axes than the joints of robot"
        f" '{robot.name}' in this order: column {columns[present[k]]} about"
        f" {np.round(file[k], 2).tolist()}, but '{robot.joint_names[present[k]]}' about"
        f" {np.round(axis[k], 2).tolist()}",
        where=where,
        todo="Give the robot whose joints these are",
    )
