"""Motions as holosoma trains on them: an npz archive with joint names and the whole pose in one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot.formats import Facts
from surefoot.formats.files import place, read_bytes, shown
from surefoot.formats.keys import Keys
from surefoot.formats.npz import is_zip, member_names, read_arrays
from surefoot.formats.record import Record, made

KEYS = ("fps", "joint_pos", "joint_names")
ROOT = 7  # columns of the root before those of the joints: x y z, qw qx qy qz


def sniff(data: bytes) -> tuple[bool, str]:
    """Whether the bytes are such an archive, and why."""
    if not is_zip(data):
        return False, "is no zip archive"
    names = member_names(data)
    missing = [key for key in KEYS[1:] if key not in names]
    if missing:
        return False, f"has no array {' or '.join(missing)}"
    if "schema" in names:
        return False, "has an array schema"
    return True, "is a zip archive with the arrays joint_pos and joint_names"


def read_with_facts(path: str | Path) -> tuple[Record, Facts]:
    """The record of a file; what it says of an object is left out."""
    where = place(path)
    keys = Keys(read_arrays(read_bytes(path), where), where)
    fps = keys.rate("fps")
    names = keys.texts("joint_names")
    pose = keys.frames("joint_pos", ROOT + len(names))
    doubled = sorted(name for name, count in Counter(names).items() if count > 1)
    keys.faults += [f"joint '{shown(name)}' is named twice" for name in doubled]
    keys.refuse_unless_even({"joint_pos": pose})
    record = made(
        where,
        root_pos=np.ascontiguousarray(pose[:, :3]),
        quat=pose[:, 3:ROOT],
        quat_key="joint_pos",
        order="wxyz",
        joint_pos=np.ascontiguousarray(pose[:, ROOT:]),
        fps=fps,
    )
    return replace(record, joint_names=names), Facts(quaternion="wxyz")
