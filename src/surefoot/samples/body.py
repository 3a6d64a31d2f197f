"""A person of a given stature: the common 22-joint skeleton, its lengths and its masses.

The zero pose is a T-pose: upright, facing +x, left +y, arms straight out to the sides with the
palms down, feet pointing forwards, every joint's axes parallel to the world's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.motion import rotation

SIDES = ("left", "right")
G_MPS2 = 9.81

# Lengths over stature. Drillis and Contini (1966), as drawn by Winter, Biomechanics and Motor
# Control of Human Movement, figure 4.1, where no other source is named.
HIP_HEIGHT = 0.530
KNEE_HEIGHT = 0.285
ANKLE_HEIGHT = 0.039
SHOULDER_HEIGHT = 0.818
NECK_HEIGHT = 0.870
SHOULDER_WIDTH = 0.259
UPPER_ARM = 0.186
FOREARM = 0.146
HAND = 0.108
FOOT_LENGTH = 0.152
FOOT_BREADTH = 0.055
# Hip joint centres: 14 % of the distance between the front spines inside each (Bell, Pedersen and
# Brand 1990), 0.24 m for 1.74 m (Seidel et al. 1995): 0.72 · 0.24 / 1.74.
HIP_WIDTH = 0.100
# Own estimates, from the foot's outline: a quarter of it lies behind the ankle; the ball at 0.72.
HEEL_BEHIND_ANKLE = 0.25 * FOOT_LENGTH
BALL_BEFORE_ANKLE = 0.47 * FOOT_LENGTH
BALL_HEIGHT = 0.010
SKULL_BASE = 0.905  # where the joint "Head" sits; its tip is the crown

# Parts of the body: mass over the whole, and where between two joints the centre lies. De Leva
# (1996), table 4, men; the trunk's three parts are put where together they have its centre, 0.4486
# of the way from the shoulders to the hips. A part at a single joint has that joint twice.
_MIDDLE_PARTS = (
    (0.0694, "Head", "Head", 0.0),
    (0.1596, "Spine2", "Neck", 0.385),
    (0.1633, "Spine1", "Spine1", 0.0),
    (0.1117, "Hips", "Spine", 0.75),
)
_SIDE_PARTS = (
    (0.0271, "Arm", "ForeArm", 0.5772),
    (0.0162, "ForeArm", "Hand", 0.4574),
    (0.0061, "Hand", "Hand", 0.0),
    (0.1416, "UpLeg", "Leg", 0.4095),
    (0.0433, "Leg", "Foot", 0.4459),
    (0.0137, "Foot", "Toe", 0.4),
)
PARTS = _MIDDLE_PARTS + tuple(
    (mass, side + first, side + second, share)
    for side in ("Left", "Right")
    for mass, first, second, share in _SIDE_PARTS
)

_CHAIN = (
    ("Hips", ""),
    ("LeftUpLeg", "Hips"), ("LeftLeg", "LeftUpLeg"), ("LeftFoot", "LeftLeg"),
    ("LeftToe", "LeftFoot"),
    ("RightUpLeg", "Hips"), ("RightLeg", "RightUpLeg"), ("RightFoot", "RightLeg"),
    ("RightToe", "RightFoot"),
    ("Spine", "Hips"), ("Spine1", "Spine"), ("Spine2", "Spine1"), ("Neck", "Spine2"),
    ("Head", "Neck"),
    ("LeftShoulder", "Spine2"), ("LeftArm", "LeftShoulder"), ("LeftForeArm", "LeftArm"),
    ("LeftHand", "LeftForeArm"),
    ("RightShoulder", "Spine2"), ("RightArm", "RightShoulder"), ("RightForeArm", "RightArm"),
    ("RightHand", "RightForeArm"),
)  # fmt: skip
JOINT_NAMES = tuple(name for name, _ in _CHAIN)
PARENTS = tuple(JOINT_NAMES.index(parent) if parent else -1 for _, parent in _CHAIN)
INDEX: Mapping[str, int] = {name: i for i, name in enumerate(JOINT_NAMES)}


@dataclass(frozen=True, slots=True)
class Body:
    """Lengths of one person, m, and where each joint sits in its parent in the T-pose."""

    stature: float
    offsets: Float64[Array, "j 3"]
    end_offsets: dict[int, Float64[Array, " 3"]]
    """Tips of toes, head and hands in their joint's frame, by joint index."""

    @property
    def thigh(self) -> float:
        """Hip to knee."""
        return (HIP_HEIGHT - KNEE_HEIGHT) * self.stature

    @property
    def shank(self) -> float:
        """Knee to ankle."""
        return (KNEE_HEIGHT - ANKLE_HEIGHT) * self.stature

    @property
    def ankle_height(self) -> float:
        """The ankle above a flat sole."""
        return ANKLE_HEIGHT * self.stature

    @property
    def heel_f(self) -> Float64[Array, " 3"]:
        """The heel's lowest point in the foot's frame (that of the ankle joint)."""
        return self.stature * np.array([-HEEL_BEHIND_ANKLE, 0.0, -ANKLE_HEIGHT])

    @property
    def ball_f(self) -> Float64[Array, " 3"]:
        """The sole under the toe joint, in the foot's frame."""
        return self.stature * np.array([BALL_BEFORE_ANKLE, 0.0, -ANKLE_HEIGHT])


def body(stature_m: float) -> Body:
    """The person of that stature."""
    up = {
        "Spine": 0.060,  # hips to the lowest lumbar joint; the spine's joints share the rest evenly
        "Spine1": 0.075,
        "Spine2": 0.075,
        "Neck": NECK_HEIGHT - HIP_HEIGHT - 0.210,
        "Head": SKULL_BASE - NECK_HEIGHT,
    }
    offset = {name: np.array([0.0, 0.0, rise]) for name, rise in up.items()}
    spine2_height = HIP_HEIGHT + 0.210
    offset["Hips"] = np.zeros(3)
    tips = {"Head": np.array([0.0, 0.0, 1.0 - SKULL_BASE])}
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        offset[f"{side}UpLeg"] = np.array([0.0, sign * HIP_WIDTH / 2.0, 0.0])
        offset[f"{side}Leg"] = np.array([0.0, 0.0, KNEE_HEIGHT - HIP_HEIGHT])
        offset[f"{side}Foot"] = np.array([0.0, 0.0, ANKLE_HEIGHT - KNEE_HEIGHT])
        offset[f"{side}Toe"] = np.array([BALL_BEFORE_ANKLE, 0.0, BALL_HEIGHT - ANKLE_HEIGHT])
        tips[f"{side}Toe"] = np.array(
            [FOOT_LENGTH - HEEL_BEHIND_ANKLE - BALL_BEFORE_ANKLE, 0.0, -0.5 * BALL_HEIGHT]
        )
        offset[f"{side}Shoulder"] = np.array([0.0, sign * 0.035, SHOULDER_HEIGHT - spine2_height])
        offset[f"{side}Arm"] = np.array([0.0, sign * (SHOULDER_WIDTH / 2.0 - 0.035), 0.0])
        offset[f"{side}ForeArm"] = np.array([0.0, sign * UPPER_ARM, 0.0])
        offset[f"{side}Hand"] = np.array([0.0, sign * FOREARM, 0.0])
        tips[f"{side}Hand"] = np.array([0.0, sign * HAND, 0.0])
    return Body(
        stature=stature_m,
        offsets=locked([stature_m * offset[name] for name in JOINT_NAMES]),
        end_offsets={INDEX[name]: locked(stature_m * tip) for name, tip in tips.items()},
    )


def joint_places(
    person: Body, root_pos: Float64[Array, "n 3"], joint_quat: Float64[Array, "n j 4"]
) -> tuple[Float64[Array, "n j 3"], Float64[Array, "n j 4"]]:
    """Positions and orientations of all joints in the world."""
    pos = np.empty((*joint_quat.shape[:2], 3))
    quat = np.empty_like(joint_quat)
    for j, parent in enumerate(PARENTS):
        if parent < 0:
            pos[:, j], quat[:, j] = root_pos, joint_quat[:, j]
            continue
        pos[:, j] = pos[:, parent] + rotation.rotate(quat[:, parent], person.offsets[j])
        quat[:, j] = rotation.multiply(quat[:, parent], joint_quat[:, j])
    return pos, quat


def part_centres(pos_w: Float64[Array, "n j 3"]) -> Float64[Array, "n k 3"]:
    """Centres of the body's PARTS in the world."""
    first = pos_w[:, [INDEX[part[1]] for part in PARTS]]
    second = pos_w[:, [INDEX[part[2]] for part in PARTS]]
    share = np.array([part[3] for part in PARTS])[:, None]
    return np.asarray(first + share * (second - first), dtype=np.float64)


def part_masses() -> Float64[Array, " k"]:
    """Masses of the body's PARTS over that of the whole."""
    return np.array([part[0] for part in PARTS], dtype=np.float64)


def centre_of_mass(pos_w: Float64[Array, "n j 3"]) -> Float64[Array, "n 3"]:
    """Centre of mass of the person."""
    return np.asarray(np.einsum("k,nkx->nx", part_masses(), part_centres(pos_w)), dtype=np.float64)


def pressure_point(
    pos_w: Float64[Array, "n j 3"], dt: float, ground: Float64[Array, " n"] | None = None
) -> Float64[Array, "n 2"]:
    """Where the ground must press for that motion: the ZMP of the parts as point masses.

    x = Σ m (x (z̈ + g) − z ẍ) / Σ m (z̈ + g) with z above the ground, y alike; the ends borrow the
    next accelerations.

    Args:
        dt: time between frames, s.
        ground: height of the ground at each frame, m; z = 0 if not given.
    """
    mass, centre = part_masses(), part_centres(pos_w)
    acc = np.zeros_like(centre)
    acc[1:-1] = np.diff(centre, 2, axis=0) / dt**2
    acc[[0, -1]] = acc[[1, -2]]
    push = mass * (acc[:, :, 2] + G_MPS2)
    moment = push[:, :, None] * centre[:, :, :2]
    above = centre[:, :, 2] - (0.0 if ground is None else ground[:, None])
    moment -= (mass * above)[:, :, None] * acc[:, :, :2]
    return np.asarray(moment.sum(axis=1) / push.sum(axis=1)[:, None], dtype=np.float64)
