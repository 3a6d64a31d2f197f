"""A person's motion: skeleton, frames, and the recognition of joint naming schemes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Float64, IntArray
from surefoot.errors import BadMotion, Notice
from surefoot.motion.motion import checked, checked_time, checked_unit_quat, nominal_fps

CANONICAL_NAMES = (
    "pelvis", "chest", "neck", "head",
    "left_shoulder", "left_elbow", "left_wrist", "right_shoulder", "right_elbow", "right_wrist",
    "left_hip", "left_knee", "left_ankle", "left_toe",
    "right_hip", "right_knee", "right_ankle", "right_toe",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Joints of a person: names, parents, and where each sits in its parent."""

    joint_names: tuple[str, ...]
    parents: tuple[int, ...]
    """Index of each joint's parent, −1 for the root; a parent comes before its children."""
    offsets: Float64[Array, "j 3"]
    """Position of each joint in its parent's frame, m."""
    scheme: str
    """Name of the naming scheme that fits, as in schemes.toml; empty when none does."""
    canonical: dict[str, int]
    """Index of the joint that plays each canonical part (CANONICAL_NAMES), as far as there is one."""
    end_offsets: dict[int, Float64[Array, " 3"]]
    """Tip of a leaf in its own frame, m (BVH End Site), by joint index."""


@dataclass(frozen=True, slots=True)
class HumanClip:
    """A person's motion: world with z up, metres, (w, x, y, z)."""

    skeleton: Skeleton
    time: Float64[Array, " n"]
    root_pos: Float64[Array, "n 3"]
    """Position of the root joint in the world, m."""
    joint_quat: Float64[Array, "n j 4"]
    """Orientation of each joint in its parent; of the root in the world."""
    source: str = ""
    notices: tuple[Notice, ...] = ()
    """What the reader assumed or repaired."""
