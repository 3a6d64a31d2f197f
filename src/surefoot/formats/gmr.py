"""Motions as GMR, TWIST and GMT write them: a pickle of root, joints and rate, without names."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.errors import BadFile
from surefoot.formats import Facts
from surefoot.formats.files import place, read_bytes
from surefoot.formats.keys import Keys
from surefoot.formats.npz import AnyArray
from surefoot.formats.pickles import Table, is_pickle, read_table
from surefoot.formats.record import Record, made
from surefoot.formats.unpacked import packing, unpacked

KEYS = ("fps", "root_pos", "root_rot", "dof_pos")


def sniff(data: bytes) -> tuple[bool, str]:
    """Whether the bytes are such a pickle, and why."""
    return sniffed(data, KEYS)


def sniffed(data: bytes, keys: tuple[str, ...]) -> tuple[bool, str]:
    """Whether the bytes are a pickle, packed or not, in which all these words stand; and why."""
    packed = packing(data)
    try:
        data = unpacked(data, "")
    except BadFile as error:
        return False, f"is {error.what}"
    if not is_pickle(data):
        return False, "is no pickle"
    missing = [key for key in keys if key.encode() not in data]
    if missing:
        return False, f"is a pickle without {' or '.join(missing)}"
    by = f", packed by {packed}," if packed else ""
    return True, f"is a pickle{by} with {', '.join(keys[:-1])} and {keys[-1]}"


def read_with_facts(path: str | Path) -> tuple[Record, Facts]:
    """The record of a file."""
    where = place(path)
    keys = Keys(arrays_of(read_table(unpacked(read_bytes(path), where), where)), where)
    fps = keys.rate("fps")
    root_pos = keys.frames("root_pos", 3)
    quat = keys.frames("root_rot", 4)
    joint_pos = keys.frames("dof_pos", -1)
    keys.refuse_unless_even({"root_pos": root_pos, "root_rot": quat, "dof_pos": joint_pos})
    record = made(
        where,
        root_pos=root_pos,
        quat=quat,
        quat_key="root_rot",
        order="xyzw",
        joint_pos=joint_pos,
        fps=fps,
    )
    return record, Facts(quaternion="xyzw")


def arrays_of(table: Table) -> dict[str, AnyArray]:
    """The arrays and numbers of a dictionary."""
    return {
        key: np.asarray(value)
        for key, value in table.items()
        if isinstance(value, (np.ndarray, int, float)) and not isinstance(value, bool)
    }
