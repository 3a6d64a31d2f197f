"""The grammar of BVH: text to joints and channel values, with the line of every fault.

It says nothing about what the numbers mean; formats.bvh does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.errors import BadFile, listed
from surefoot.formats.files import shown

MAX_JOINTS = 1000
MAX_FRAME_TIME_S = 1.0
MIN_FRAME_TIME_S = 1.0 / 2000.0

CHANNELS = {
    "xposition": ("position", 0), "yposition": ("position", 1), "zposition": ("position", 2),
    "xrotation": ("rotation", 0), "yrotation": ("rotation", 1), "zrotation": ("rotation", 2),
}  # fmt: skip
"""What each channel moves, and along or about which axis."""


@dataclass(slots=True)
class Joint:
    """A joint as the text has it, while it is being read."""

    name: str
    parent: int
    line: int
    offset: tuple[float, ...] | None = None
    channels: tuple[str, ...] | None = None
    end: tuple[float, ...] | None = None


@dataclass(slots=True)
class _Text:
    """What was read from the text so far, and what is wrong with it."""

    where: str
    joints: list[Joint] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def fault(self, line: int, sentence: str) -> None:
        self.faults.append(f"line {line}: {sentence}")

    def refuse(self) -> None:
        """Raise all faults together, if there are any."""
        if self.faults:
            raise BadFile(what=listed(self.faults), where=self.where)


def parsed(text: str, where: str) -> tuple[list[Joint], Float64[Array, "n c"], float]:
    """Joints in the file's order, channel values by frame, and the frame time in s.

    Raises:
        BadFile: every fault with its line.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = _Text(where)
    start = _hierarchy(lines, found)
    values, frame_time = _motion(lines, start, found)
    found.refuse()
    return found.joints, values, frame_time


def _hierarchy(lines: list[str], text: _Text) -> int:
    """Fill the joints; the index of the line after MOTION."""
    open_blocks: list[int | None] = []  # joint of each open brace; None for an End Site
    announced: list[int | None] = []  # what the next brace opens
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        words = line.replace("{", " { ").replace("}", " } ").split()
        while words:
            word = words.pop(0)
            key = word.upper()
            if key == "MOTION":
                for block in open_blocks:
                    name = "End Site" if block is None else text.joints[block].name
                    text.fault(number, f"the brace of '{name}' is not closed before MOTION")
                return number
            if key in ("ROOT", "JOINT"):
                _open_joint(text, key, number, words, open_blocks, announced, seen)
            elif key == "END":
                announced.append(None)
                while words and words[0] != "{":
                    words.pop(0)
            elif word == "{":
                if announced:
                    open_blocks.append(announced.pop())
                else:
                    text.fault(number, "a brace opens without ROOT, JOINT or End Site")
            elif word == "}":
                if open_blocks:
                    open_blocks.pop()
                else:
                    text.fault(number, "a brace closes that was not opened")
            elif key in ("OFFSET", "CHANNELS") and open_blocks:
                _attribute(text, key, number, words, open_blocks)
            elif key != "HIERARCHY":
                text.fault(number, f"unknown word '{shown(word)}'")
                words.clear()
            if len(text.joints) > MAX_JOINTS or len(text.faults) > MAX_JOINTS:
                text.fault(number, f"more than {MAX_JOINTS} joints")
                text.refuse()
    text.fault(len(lines), "the file ends before MOTION")
    text.refuse()
    return len(lines)


def _open_joint(
    text: _Text,
    key: str,
    number: int,
    words: list[str],
    open_blocks: list[int | None],
    announced: list[int | None],
    seen: set[str],
) -> None:
    """A ROOT or JOINT line: names with blanks are joined, a prefix up to ':' is taken off."""
    cut = words.index("{") if "{" in words else len(words)
    name = "_".join(words[:cut]).rpartition(":")[2]
    del words[:cut]
    if not name:
        text.fault(number, f"{key} has no name")
    if name in seen:
        text.fault(number, f"joint '{shown(name)}' is named twice")
    seen.add(name)
    parent = next((block for block in reversed(open_blocks) if block is not None), -1)
    if key == "ROOT" and text.joints:
        text.fault(number, f"a second ROOT '{shown(name)}': one skeleton a file is read")
    if key == "JOINT" and (not open_blocks or open_blocks[-1] is None):
        text.fault(number, f"joint '{shown(name)}' has no parent")
    text.joints.append(Joint(name, parent, number))
    announced.append(len(text.joints) - 1)


def _attribute(
    text: _Text, key: str, number: int, words: list[str], open_blocks: list[int | None]
) -> None:
    """An OFFSET or CHANNELS line of the innermost open block."""
    block = open_blocks[-1]
    if key == "OFFSET":
        offset = _numbers(words[:3])
        del words[:3]
        if offset is None or len(offset) != 3:
            text.fault(number, "OFFSET needs 3 finite numbers")
            words.clear()
        elif block is not None:
            text.joints[block].offset = offset
        else:
            owner = next(b for b in reversed(open_blocks) if b is not None)
            text.joints[owner].end = offset
        return
    count = int(words.pop(0)) if words and words[0].isdecimal() and len(words[0]) < 4 else -1
    channels = tuple(word.lower() for word in words[: max(count, 0)])
    unknown = [word for word in channels if word not in CHANNELS]
    if block is None:
        text.fault(number, "an End Site has no CHANNELS")
    elif not 0 <= count <= 6 or len(channels) != count or len(words) != count:
        text.fault(number, "CHANNELS needs a count from 0 to 6 and as many names")
    elif unknown:
        text.fault(number, f"unknown channel '{shown(unknown[0])}'")
    elif len(set(channels)) != count:
        text.fault(number, "a channel is named twice")
    else:
        text.joints[block].channels = channels
    words.clear()


def _numbers(words: list[str]) -> tuple[float, ...] | None:
    """The words as finite numbers, or None."""
    try:
        values = tuple(float(word) for word in words)
    except ValueError:
        return None
    return values if all(map(math.isfinite, values)) else None


def _motion(lines: list[str], start: int, text: _Text) -> tuple[Float64[Array, "n c"], float]:
    """Channel values by frame, and the frame time, s."""
    for joint in text.joints:
        for name, value in (("OFFSET", joint.offset), ("CHANNELS", joint.channels)):
            if value is None:
                text.fault(joint.line, f"joint '{shown(joint.name)}' has no {name}")
    if not text.joints:
        text.fault(1, "no ROOT")
    frames, frame_time, first = _motion_head(lines, start, text)
    text.refuse()
    width = sum(len(joint.channels or ()) for joint in text.joints)
    rows = [line.split() for line in lines[first:]]
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    _check_rows(counts, first, width, frames, text)
    text.refuse()
    try:
        values = np.array([float(word) for row in rows for word in row])
    except ValueError:
        values = np.zeros(0)
        for number, row in enumerate(rows, start=first + 1):
            bad = next((word for word in row if _numbers([word]) is None), None)
            if bad is not None:
                text.fault(number, f"'{shown(bad)}' is no finite number")
        text.refuse()
    values = values.reshape(frames, width)
    if not np.all(np.isfinite(values)):
        lines_of = np.repeat(np.arange(first + 1, first + 1 + len(rows)), counts)
        for i in np.flatnonzero(~np.isfinite(values.ravel())):
            text.fault(int(lines_of[i]), f"frame {i // width} holds {values.flat[i]}")
    return values, frame_time


def _motion_head(lines: list[str], start: int, text: _Text) -> tuple[int, float, int]:
    """Number of frames, frame time and the index of the first line with values."""
    frames, frame_time, number = 0, 0.0, start
    for number in range(start, len(lines)):
        line = lines[number]
        key, _, value = line.partition(":")
        key = "".join(key.split()).lower()
        if key == "frames":
            word = value.strip()
            frames = int(word) if word.isdecimal() and len(word) < 12 else -1
            if frames < 1:
                text.fault(number + 1, f"Frames must be 1 or more, got '{shown(word)}'")
        elif key == "frametime":
            numbers = _numbers(value.split())
            frame_time = numbers[0] if numbers and len(numbers) == 1 else math.nan
            if not MIN_FRAME_TIME_S <= frame_time <= MAX_FRAME_TIME_S:
                text.fault(
                    number + 1,
                    f"Frame Time must be a number of seconds from 0.0005 to 1,"
                    f" got '{shown(value.strip())}'",
                )
        elif line.strip():
            break
    else:
        number = len(lines)
    if frames == 0:
        text.fault(start, "no line 'Frames:' follows MOTION")
    if frame_time == 0.0 and not any("Frame Time" in fault for fault in text.faults):
        text.fault(start, "no line 'Frame Time:' follows MOTION")
    return frames, frame_time, number


def _check_rows(
    counts: Int64[IntArray, " r"], first: int, width: int, frames: int, text: _Text
) -> None:
    """Refuse rows that are too short, too long, too few or too many.

    A frame may be wrapped over several lines, but each must end where a line ends.
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    if width == 0:
        text.fault(first, "no joint has channels")
        return
    wanted = np.arange(1, total // width + 1) * width
    at = np.searchsorted(ends, wanted)
    torn = np.flatnonzero(ends[at] != wanted)
    if len(torn) or total % width:
        whole = int(torn[0]) if len(torn) else total // width
        before = whole * width
        line = int(np.searchsorted(ends, before, side="right"))
        text.fault(
            first + line + 1, f"frame {whole} needs {width} numbers, this line has {counts[line]}"
        )
    if total // width < frames and not len(torn):
        text.fault(
            first + len(counts),
            f"Frames promises {frames}, the file holds {total // width}: it is truncated",
        )
    elif total // width > frames:
        text.fault(
            first + len(counts), f"Frames promises {frames}, the file holds {total // width}"
        )
