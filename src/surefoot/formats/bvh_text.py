"""The grammar of BVH: text to joints and channel values, with the line of every fault.

It says nothing about what the numbers mean; formats.bvh does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.errors import BadFile, listed
from surefoot.formats.files import shown

MAX_JOINTS = 1000
MAX_FRAME_TIME_S = 1.0
MIN_FRAME_TIME_S = 1.0 / 2000.0
MAX_LINE = 10_000  # signs of a line of the hierarchy; real ones have a hundred
MAX_DIGITS = 12  # of a count
LARGEST = 1e9  # no length in any unit and no angle is larger; the arithmetic would overflow
CHUNK_LINES = 4096
MAX_FAULTS = 1000  # a file with more is something else

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


END_SITE = -1  # in the place of a joint's index


@dataclass(slots=True)
class _Text:
    """What was read so far, where in the tree that is, and what is wrong."""

    where: str
    joints: list[Joint] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    """Joint of each open brace, or END_SITE."""
    announced: int | None = None
    """What the next brace opens."""

    def fault(self, line: int, sentence: str) -> None:
        """Note what is wrong with a line; far too much wrong is refused at once."""
        self.faults.append(f"line {line}: {sentence}")
        if len(self.faults) > MAX_FAULTS:
            self.refuse()

    def refuse(self) -> None:
        """Raise all faults together, if there are any."""
        if self.faults:
            raise BadFile(what=listed(self.faults), where=self.where)

    def line(self, number: int, words: list[str]) -> None:
        """Take in one line before MOTION."""
        while words:
            word = words.pop(0)
            key = word.upper()
            if self.announced is not None and word != "{":
                self.fault(number, f"expected a brace, got '{shown(word)}'")
                self.announced = None
            if key in ("ROOT", "JOINT"):
                self._joint(number, key, words)
            elif key == "END":
                if not self.blocks or self.blocks[-1] == END_SITE:
                    self.fault(number, "End Site belongs to no joint")
                self.announced = END_SITE
                del words[: words.index("{") if "{" in words else len(words)]
            elif word == "{" and self.announced is not None:
                self.blocks.append(self.announced)
                self.announced = None
            elif word == "}" and self.blocks:
                self.blocks.pop()
            elif key == "OFFSET" and self.blocks:
                self._offset(number, words)
            elif key == "CHANNELS" and self.blocks:
                self._channels(number, words)
            elif key != "HIERARCHY":
                self.fault(number, f"'{shown(word)}' does not belong here")
                words.clear()

    def closed(self, number: int) -> None:
        """Say which braces are still open."""
        for block in self.blocks:
            name = "End Site" if block == END_SITE else self.joints[block].name
            self.fault(number, f"the brace of '{shown(name)}' is not closed before MOTION")
        for joint in self.joints:
            for name, value in (("OFFSET", joint.offset), ("CHANNELS", joint.channels)):
                if value is None:
                    self.fault(joint.line, f"joint '{shown(joint.name)}' has no {name}")
        if not self.joints:
            self.fault(number, "no ROOT before MOTION")

    def _joint(self, number: int, key: str, words: list[str]) -> None:
        """Names with blanks are joined; a prefix up to ':' is taken off."""
        cut = words.index("{") if "{" in words else len(words)
        name = "_".join(words[:cut]).rpartition(":")[2]
        del words[:cut]
        if not name or not name.isprintable():
            self.fault(number, f"{key} needs a name, got '{shown(name)}'")
        if any(joint.name == name for joint in self.joints):
            self.fault(number, f"joint '{shown(name)}' is named twice")
        parent = self.blocks[-1] if self.blocks else -1
        if key == "ROOT" and self.joints:
            self.fault(number, f"a second ROOT '{shown(name)}': one skeleton a file is read")
        elif key == "JOINT" and (not self.blocks or parent == END_SITE):
            self.fault(number, f"joint '{shown(name)}' has no parent")
        if len(self.joints) == MAX_JOINTS:
            self.fault(number, f"more than {MAX_JOINTS} joints")
            self.refuse()
        self.joints.append(Joint(name, parent, number))
        self.announced = len(self.joints) - 1

    def _offset(self, number: int, words: list[str]) -> None:
        """The place of the open joint in its parent, or of its tip."""
        offset = _numbers(words[:3])
        del words[:3]
        if offset is None or len(offset) != 3:
            self.fault(number, "OFFSET needs 3 numbers")
            words.clear()
        elif self.blocks[-1] != END_SITE:
            self.joints[self.blocks[-1]].offset = offset
        elif len(self.blocks) > 1:
            self.joints[self.blocks[-2]].end = offset

    def _channels(self, number: int, words: list[str]) -> None:
        """The channels of the open joint, in the order of their columns."""
        word = words.pop(0) if words else ""
        count = int(word) if word.isdecimal() and len(word) < MAX_DIGITS else -1
        channels = tuple(word.lower() for word in words)
        words.clear()
        unknown = [word for word in channels if word not in CHANNELS]
        if self.blocks[-1] == END_SITE:
            self.fault(number, "an End Site has no CHANNELS")
        elif not 0 <= count <= 6 or len(channels) != count:
            self.fault(number, "CHANNELS needs a count from 0 to 6 and as many names")
        elif unknown:
            self.fault(number, f"unknown channel '{shown(unknown[0])}'")
        elif len(set(channels)) != count:
            self.fault(number, "a channel is named twice")
        else:
            self.joints[self.blocks[-1]].channels = channels


def parsed(text: str, where: str) -> tuple[list[Joint], Float64[Array, "n c"], float]:
    """Joints in the file's order, channel values by frame, and the frame time in s.

    Raises:
        BadFile: every fault with its line.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = _Text(where)
    start = _hierarchy(lines, found)
    values, frame_time = _motion(lines, start, found)
    return found.joints, values, frame_time


def _hierarchy(lines: list[str], text: _Text) -> int:
    """Fill the joints; the index of the line after MOTION."""
    first = next((i for i, line in enumerate(lines, start=1) if line.split()), len(lines))
    word = next(iter(lines[first - 1].split()), "HIERARCHY")
    if word.upper() != "HIERARCHY":
        text.fault(first, f"'{shown(word)}' does not belong here: BVH begins with HIERARCHY")
        text.refuse()
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE:
            text.fault(number, f"a line of {len(line)} signs before MOTION")
            text.refuse()
        if line.split()[:1] and line.split()[0].upper() == "MOTION":
            text.closed(number)
            return number
        text.line(number, line.replace("{", " { ").replace("}", " } ").split())
    text.fault(len(lines), "the file ends before MOTION")
    text.refuse()
    return len(lines)


def _numbers(words: list[str]) -> tuple[float, ...] | None:
    """The words as numbers, or None where one is none, not finite or absurdly large."""
    try:
        values = tuple(float(word) for word in words)
    except ValueError:
        return None
    return values if all(abs(value) <= LARGEST for value in values) else None


def _motion(lines: list[str], start: int, text: _Text) -> tuple[Float64[Array, "n c"], float]:
    """Channel values by frame, and the frame time, s."""
    frames, frame_time, first = _motion_head(lines, start, text)
    values, counts = _values(lines, first, text)
    text.refuse()
    width = sum(len(joint.channels or ()) for joint in text.joints)
    _check_rows(counts, first, width, frames, text)
    text.refuse()
    return values.reshape(frames, width), frame_time


def _motion_head(lines: list[str], start: int, text: _Text) -> tuple[int, float, int]:
    """Number of frames, frame time and the index of the first line with values."""
    frames, frame_time = None, None
    first = start
    for first, line in enumerate(lines[start:], start=start):
        key, _, value = line.partition(":")
        key, value = "".join(key.split()).lower(), value.strip()
        if key == "frames":
            frames = int(value) if value.isdecimal() and len(value) < MAX_DIGITS else 0
            if frames < 1:
                text.fault(first + 1, f"Frames must be 1 or more, got '{shown(value)}'")
        elif key == "frametime":
            numbers = _numbers(value.split())
            frame_time = numbers[0] if numbers and len(numbers) == 1 else 0.0
            if not MIN_FRAME_TIME_S <= frame_time <= MAX_FRAME_TIME_S:
                text.fault(
                    first + 1,
                    f"Frame Time must be {MIN_FRAME_TIME_S} to {MAX_FRAME_TIME_S:g} s,"
                    f" got '{shown(value)}'",
                )
        elif key:
            break
    else:
        first = len(lines)
    if frames is None:
        text.fault(start, "no line 'Frames:' follows MOTION")
    if frame_time is None:
        text.fault(start, "no line 'Frame Time:' follows MOTION")
    return frames or 0, frame_time or 0.0, first


def _values(
    lines: list[str], first: int, text: _Text
) -> tuple[Float64[Array, " v"], Int64[IntArray, " r"]]:
    """All numbers after the head, and how many stand on each line."""
    parts, counts = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for start in range(first, len(lines), CHUNK_LINES):  # chunks: words take ten times their text
        rows = [line.split() for line in lines[start : start + CHUNK_LINES]]
        counts.append(np.array([len(row) for row in rows], dtype=np.int64))
        try:
            part = np.array([float(word) for row in rows for word in row])
        except ValueError:
            part = np.array([np.nan])
        if not np.all(np.abs(part) <= LARGEST):
            for number, row in enumerate(rows, start=start + 1):
                for word in row:
                    if _numbers([word]) is None:
                        text.fault(number, f"'{shown(word)}' is no number that fits here")
        parts.append(part)
    return np.concatenate(parts), np.concatenate(counts)


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
