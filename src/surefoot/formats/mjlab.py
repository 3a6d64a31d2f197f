"""Motions as mjlab trains on them: an npz archive without names, joints in the order of the MJCF.

BeyondMimic writes the same keys with joints and bodies in breadth-first order. Nothing in the file
says which it is; `doubts.check_bodies` tells it with the robot.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import Notice
from surefoot.formats import Facts
from surefoot.formats.files import place, read_bytes
from surefoot.formats.keys import Keys
from surefoot.formats.npz import is_zip, member_names, read_arrays
from surefoot.formats.record import Record, made

KEYS = ("fps", "joint_pos", "body_pos_w", "body_quat_w")
MIRRORED_M = 1e-3  # the two hips of a robot are each other's mirror image within this


def sniff(data: bytes) -> tuple[bool, str]:
    """Whether the bytes are such an archive, and why."""
    if not is_zip(data):
        return False, "is no zip archive"
    names = member_names(data)
    if not names:
        return False, "is a zip archive that is damaged or cut short"
    missing = [key for key in KEYS[1:] if key not in names]
    if missing:
        return False, f"has no array {' or '.join(missing)}"
    if "joint_names" in names:
        return False, "has joint_names"
    return True, "is a zip archive with joint_pos, body_pos_w and body_quat_w, without joint_names"


def read_with_facts(path: str | Path) -> tuple[Record, Facts]:
    """The record of a file; its root is body 0."""
    where = place(path)
    keys = Keys(read_arrays(read_bytes(path), where), where)
    fps = keys.rate("fps")
    joint_pos = keys.frames("joint_pos", -1)
    bodies = keys.points("body_pos_w")
    quats = keys.arrays.get("body_quat_w")
    if quats is None or quats.ndim != 3 or quats.shape[2] != 4 or quats.dtype.kind not in "iuf":
        got = "none" if quats is None else f"{quats.dtype.str} {quats.shape}"
        keys.faults.append(f"expected 'body_quat_w' as numbers (any, any, 4), got {got}")
        quat = np.zeros((0, 4))
    elif quats.shape[1] == 0:
        keys.faults.append("'body_quat_w' holds no body")
        quat = np.zeros((0, 4))
    else:
        quat = Keys({"body_quat_w": quats[:, 0]}, where).frames("body_quat_w", 4)
    if bodies.shape[1] == 0 and not keys.faults:
        keys.faults.append("'body_pos_w' holds no body")
    keys.refuse_unless_even({"joint_pos": joint_pos, "body_pos_w": bodies, "body_quat_w": quat})
    record = made(
        where,
        root_pos=bodies[:, 0],
        quat=quat,
        quat_key="body_quat_w",
        order="wxyz",
        joint_pos=joint_pos,
        fps=fps,
    )
    notices = (*record.notices, *_breadth_first(bodies))
    return replace(record, body_pos_w=bodies, notices=notices), Facts(quaternion="wxyz")


def _breadth_first(body_pos_w: Float64[Array, "n b 3"]) -> list[Notice]:
    """A notice where bodies 1 and 2 stand like a left and a right hip, not one below the other."""
    if body_pos_w.shape[1] < 3:
        return []
    arm = np.linalg.norm(body_pos_w[:, 1:3] - body_pos_w[:, :1], axis=2)
    apart = np.linalg.norm(body_pos_w[:, 1] - body_pos_w[:, 2], axis=1)
    rigid = max(float(np.ptp(arm[:, 0])), float(np.ptp(arm[:, 1])), float(np.ptp(apart)))
    alike = float(np.abs(arm[:, 0] - arm[:, 1]).max())
    if rigid > MIRRORED_M or alike > MIRRORED_M or float(apart.min()) < 10.0 * MIRRORED_M:
        return []
    return [
        Notice(
            "suspicious",
            "body_pos_w",
            "bodies 1 and 2 stand like two hips: joints and bodies seem to be in the breadth-first"
            " order of Isaac, as BeyondMimic writes them; with the robot (-r) this is checked",
        )
    ]
