"""Quaternions of files: norms checked, any order turned into (w, x, y, z)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import BadMotion, Notice
from surefoot.motion import rotation
from surefoot.motion.motion import QUATERNION_TOLERANCE

Order = Literal["wxyz", "xyzw"]

FAR_FROM_UNIT = 1e-3  # a quaternion's norm off by more than rounding to three digits: said
WRONG_NORM = (0.5, 2.0)  # outside, the four numbers are no quaternion


def from_order(order: Order, quat: Float64[Array, "n 4"]) -> Float64[Array, "n 4"]:
    """Quaternions of a file as (w, x, y, z)."""
    return quat if order == "wxyz" else quat[:, [3, 0, 1, 2]]


def misread(declared: Order, quat: Float64[Array, "n 4"]) -> Float64[Array, "n 4"]:
    """What (w, x, y, z) would have been, had the file's columns stood in the other order."""
    return quat[:, [1, 2, 3, 0]] if declared == "xyzw" else quat[:, [3, 0, 1, 2]]


def unit_quat(
    name: str, quat: Float64[Array, "n 4"], notices: list[Notice]
) -> Float64[Array, "n 4"]:
    """Quaternions of norm 1; untouched where they are so up to rounding.

    Raises:
        BadMotion: a norm so far from 1 that the numbers are no quaternion.
    """
    norm = np.linalg.norm(quat, axis=1)
    wrong = (norm < WRONG_NORM[0]) | (norm > WRONG_NORM[1])
    if np.any(wrong):
        i = int(np.argmax(wrong))
        raise BadMotion(what=f"'{name}' has norm {norm[i]:.3g} at frame {i}, expected 1")
    off = np.abs(norm - 1.0)
    worst = float(off.max(initial=0.0))
    if worst <= QUATERNION_TOLERANCE:
        return quat
    if worst > FAR_FROM_UNIT:
        notices.append(
            Notice(
                "repair",
                name,
                f"quaternions were divided by their norms, off by up to {worst:.3g}",
                value=worst,
                limit=FAR_FROM_UNIT,
            )
        )
    return rotation.unit(quat)
