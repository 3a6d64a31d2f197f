"""Motions as ASAP and PBHC write them with joblib: a dictionary of one motion under its name.

Their G1 has 23 joints: which ones, the file shows by `pose_aa`, where every joint is a rotation
vector, hence an axis.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import BadFile
from surefoot.formats import Facts
from surefoot.formats.files import place, read_bytes
from surefoot.formats.gmr import arrays_of, sniffed
from surefoot.formats.keys import Keys
from surefoot.formats.npz import AnyArray
from surefoot.formats.pickles import Table, read_table
from surefoot.formats.record import Record, made
from surefoot.formats.unpacked import unpacked

KEYS = ("fps", "root_trans_offset", "root_rot", "dof")
JOINTS, PARTS = 23, 27  # of ASAP's G1; `pose_aa` has the root before them, hands and head after
UNKNOWN = 0.5  # contact of the frames that PBHC adds at both ends
SMALL_ANGLE = 1e-3  # rad; below, single precision leaves no three digits of an axis


def sniff(data: bytes) -> tuple[bool, str]:
    """Whether the bytes are such a pickle, and why."""
    return sniffed(data, ("root_trans_offset", "root_rot"))


def read_with_facts(path: str | Path) -> tuple[Record, Facts]:
    """The record of a file."""
    where = place(path)
    table = _one_motion(read_table(unpacked(read_bytes(path), where), where), where)
    keys = Keys(arrays_of(table), where)
    fps = keys.rate("fps")
    root_pos = keys.frames("root_trans_offset", 3)
    quat = keys.frames("root_rot", 4)
    turns = _turns(keys.arrays.get("pose_aa"))
    if "dof" in keys.arrays or turns.shape[1] != PARTS:
        joint_pos = keys.frames("dof", -1)
    else:
        # Axes are along x, y or z, so that of the three numbers two are zero.
        joint_pos = turns[:, 1 : 1 + JOINTS].sum(axis=2)
    counted = {"root_trans_offset": root_pos, "root_rot": quat, "dof": joint_pos}
    feet = None
    if "contact_mask" in keys.arrays:
        feet = keys.frames("contact_mask", 2)
        counted["contact_mask"] = feet
        if np.any((feet < 0.0) | (feet > 1.0)):
            keys.faults.append("'contact_mask' must hold 0 to 1")
    keys.refuse_unless_even(counted)
    record = made(
        where,
        root_pos=root_pos,
        quat=quat,
        quat_key="root_rot",
        order="xyzw",
        joint_pos=joint_pos,
        fps=fps,
    )
    known = feet is not None and bool(np.any(feet != UNKNOWN))
    axes = _axes(turns, joint_pos)
    facts = Facts(quaternion="xyzw", has_contacts=known)
    return replace(record, joint_axes=axes, feet=feet if known else None), facts


def _one_motion(table: Table, where: str) -> Table:
    """The motion under its name; the name is a path at times and never used."""
    if "root_trans_offset" in table:
        return table
    motions = [value for value in table.values() if isinstance(value, dict)]
    if len(motions) != 1:
        raise BadFile(
            what=f"expected one motion, got {len(motions)}",
            where=where,
            todo="Write each motion to a file of its own",
        )
    return motions[0]


def _turns(array: AnyArray | None) -> Float64[Array, "t b 3"]:
    """Rotation vectors of root and joints; none where they cannot be used, for `dof` says more."""
    if array is None or array.ndim != 3 or array.shape[2] != 3 or array.dtype.kind != "f":
        return np.zeros((0, 0, 3))
    return array.astype(np.float64) if np.all(np.isfinite(array)) else np.zeros((0, 0, 3))


def _axes(turns: Float64[Array, "t b 3"], joint_pos: Float64[Array, "n c"]) -> Array | None:
    """Axis of every column, at the frame where it turns most; zero where it never turns."""
    n, c = joint_pos.shape
    if len(turns) != n or turns.shape[1] < 1 + c:
        return None
    i, j = np.abs(joint_pos).argmax(axis=0), np.arange(c)
    angle = joint_pos[i, j]
    moves = np.abs(angle) > SMALL_ANGLE
    axes = turns[i, 1 + j] / np.where(moves, angle, 1.0)[:, None]
    known = moves & (np.abs(np.linalg.norm(axes, axis=1) - 1.0) < SMALL_ANGLE)
    return np.asarray(np.where(known[:, None], axes, 0.0), dtype=np.float64)
