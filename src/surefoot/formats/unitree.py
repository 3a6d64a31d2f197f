"""Tables of numbers as Unitree gives robot motions: x y z, a quaternion, joints; a row a frame.

The same table goes round with quaternions in either order, and nothing in it says which. Neither
does it say its rate or its joints.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import BadFile, BadMotion, listed
from surefoot.formats import Facts
from surefoot.formats.files import place, read_bytes, shown, write_whole
from surefoot.formats.keys import MAX_NUMBERS, first_not_finite
from surefoot.formats.quaternions import WRONG_NORM, Order
from surefoot.formats.record import Record, made
from surefoot.motion import rotation
from surefoot.motion.motion import Clip

ROOT = 7  # columns of the root: x y z and the quaternion
DECIMALS = 9  # Unitree writes 6; nine keep a step of 1e-9 m at the same speed of reading
CHUNK = 4096  # rows that are put into text at once
EVEN_TOLERANCE = 1e-6  # of the step: as BVH is written
HEAD_BYTES = 65_536  # in which the first row must stand for a file to be told by its content
MAX_FAULTS = 1000  # after which a table is not looked at any further
BOM = b"\xef\xbb\xbf"
NAMES: dict[Order, str] = {"xyzw": "unitree-csv", "wxyz": "wxyz-csv"}


def sniff(data: bytes) -> tuple[bool, str]:
    """Whether the bytes are such a table, and why."""
    row = _first_row(data[:HEAD_BYTES])
    if row is None:
        return False, "does not begin with a row of numbers"
    if len(row) <= ROOT:
        return False, f"has {len(row)} columns, too few for a root and joints"
    norm = float(np.linalg.norm(row[3:ROOT]))
    if not WRONG_NORM[0] <= norm <= WRONG_NORM[1]:
        return False, f"has no quaternion in columns 4 to 7 (norm {norm:.3g})"
    return True, f"is a table of numbers: {ROOT} of the root and {len(row) - ROOT} joints"


def sniff_wxyz(data: bytes) -> tuple[bool, str]:
    """Never: nothing in the bytes tells the order of quaternions, so it has to be said."""
    fits, why = sniff(data)
    return False, "looks like unitree-csv, so it must be named with --from" if fits else why


def read_with_facts(path: str | Path) -> tuple[Record, Facts]:
    """The record of a table with quaternions (x, y, z, w)."""
    return _read(path, "xyzw")


def read_wxyz(path: str | Path) -> tuple[Record, Facts]:
    """The record of a table with quaternions (w, x, y, z)."""
    return _read(path, "wxyz")


def _read(path: str | Path, order: Order) -> tuple[Record, Facts]:
    where = place(path)
    table = _table(read_bytes(path), where)
    record = made(
        where,
        root_pos=np.ascontiguousarray(table[:, :3]),
        quat=table[:, 3:ROOT],
        quat_key="columns 4 to 7",
        order=order,
        joint_pos=np.ascontiguousarray(table[:, ROOT:]),
        fps=None,
    )
    other: Order = "wxyz" if order == "xyzw" else "xyzw"
    return replace(record, other_order=NAMES[other]), Facts(quaternion=order)


def _clean(data: bytes) -> bytes:
    """The text with line ends of one kind, without a mark of its coding."""
    return data.removeprefix(BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _first_row(data: bytes) -> Float64[Array, " c"] | None:
    """The numbers of the first line that is neither blank nor a remark."""
    for line in _clean(data).split(b"\n"):  # up to the first row
        words = line.split(b"#")[0].strip().removesuffix(b",")
        if words:
            try:
                return np.array([float(word) for word in words.split(b",")])
            except ValueError:
                return None
    return None


def _table(data: bytes, where: str) -> Float64[Array, "n c"]:
    """All rows of a table; of a faulty one all faults with their lines."""
    text = _clean(data)
    lines = text.find(b"\n")
    first = text[: lines if lines >= 0 else len(text)].rstrip()
    if first.endswith(b","):
        text = text.replace(b",\n", b"\n").removesuffix(b",")
    if b"\0" in text[:HEAD_BYTES]:
        raise BadFile(what="no text", where=where)
    if text.count(b",") > MAX_NUMBERS:
        raise BadFile(what=f"more than the {MAX_NUMBERS} numbers that are read", where=where)
    try:
        table = _numbers(text)
    except (ValueError, UserWarning):
        # Either rows are faulty, or there are lines of blanks, which numpy takes for rows.
        table = _numbers(b"\n".join(_rows(text, where)))
    if table.shape[1] <= ROOT:
        raise BadFile(
            what=f"expected {ROOT} columns of the root and those of the joints, got"
            f" {table.shape[1]} columns",
            where=where,
        )
    fault = first_not_finite(table)
    if fault:
        raise BadFile(what=f"the table holds {fault} (both counted from 0)", where=where)
    return table


def _numbers(text: bytes) -> Float64[Array, "n c"]:
    """The numbers of rows of equal length."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # of a text without rows
        return np.loadtxt(io.BytesIO(text), delimiter=",", ndmin=2, dtype=np.float64)


def _rows(text: bytes, where: str) -> list[bytes]:
    """The lines that are rows of numbers, looked at one by one, since numpy names no lines.

    Raises:
        BadFile: all faulty lines, or no row at all.
    """
    faults, rows, columns = [], [], 0
    for number, line in enumerate(text.split(b"\n"), start=1):
        row = line.split(b"#")[0].strip()
        if not row:
            continue
        words = row.split(b",")
        fault = _fault(words)
        if fault:
            faults.append(f"line {number}: {fault}")
        elif columns and len(words) != columns:
            faults.append(f"line {number}: expected {columns} numbers, got {len(words)}")
        columns = columns or len(words)
        rows.append(row)
        if len(faults) > MAX_FAULTS:
            break
    if not rows:
        faults = ["0 frames, a motion needs at least one"]
    if faults:
        todo = "One row a frame: x, y, z, quaternion, joints; commas between, no header"
        raise BadFile(what=listed(faults), where=where, todo=todo)
    return rows


def _fault(words: list[bytes]) -> str:
    """What is wrong with the words of one line; empty where they are numbers."""
    for k, word in enumerate(words, start=1):
        try:
            if b"_" in word:  # Python reads 1_0 as ten, numpy and everybody else does not
                raise ValueError
            float(word)
        except ValueError:
            if b";" in word:
                return "numbers are separated by ';', expected ','"
            text = shown(word.strip().decode("utf-8", errors="replace"))
            return f"'{text}' in column {k} is no number"
    return ""


def write(clip: Clip, path: str | Path) -> None:
    """Write root and joints as a table with quaternions (x, y, z, w); the rate is not in it.

    Joints stand in the order of the motion, which is the robot's for clips that surefoot made.

    Raises:
        BadMotion: frame times that are not even: a table has one rate.
        NoFile: the path cannot be written.
    """
    motion = clip.motion
    if motion.n > 1 and np.abs(np.diff(motion.time) * motion.fps - 1.0).max() > EVEN_TOLERANCE:
        raise BadMotion(
            what="frame times are not even, but a table has one rate",
            where=clip.meta.source,
            todo="Resample the clip first",
        )
    quat = rotation.continuous(motion.root_quat)[:, [1, 2, 3, 0]]
    table = np.concatenate([motion.root_pos, quat, motion.joint_pos], axis=1)
    table = np.round(table, DECIMALS) + 0.0  # no −0
    row = ",".join([f"%.{DECIMALS}f"] * table.shape[1]) + "\n"
    parts = [
        (row * len(rows)) % tuple(rows.ravel().tolist())
        for rows in (table[i : i + CHUNK] for i in range(0, len(table), CHUNK))
    ]
    write_whole(path, "".join(parts).encode("ascii"))
