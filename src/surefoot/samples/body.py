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

# Parts of body mass and where along the part (from the first to the second joint) its centre lies.
# De Leva (1996), table 4, men. The hand's centre is given beyond the wrist.
MASS_SHARE: Mapping[str, float] = {
    "head": 0.0694, "trunk": 0.4346, "upper_arm": 0.0271, "forearm": 0.0162, "hand": 0.0061,
    "thigh": 0.1416, "shank": 0.0433, "foot": 0.0137,
}  # fmt: skip
CENTRE_SHARE: Mapping[str, float] = {
    "trunk": 0.4486, "upper_arm": 0.5772, "forearm": 0.4574, "thigh": 0.4095, "shank": 0.4459,
}  # fmt: skip

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


def centre_of_mass(
    person: Body, pos_w: Float64[Array, "n j 3"], quat_w: Float64[Array, "n j 4"]
) -> Float64[Array, "n 3"]:
    """Centre of mass of the person, from the parts' masses: Σ share · centre."""

    def between(first: str, second: str, share: float) -> Array:
        return (1.0 - share) * pos_w[:, INDEX[first]] + share * pos_w[:, INDEX[second]]

    shoulders = 0.5 * (pos_w[:, INDEX["LeftArm"]] + pos_w[:, INDEX["RightArm"]])
    trunk = CENTRE_SHARE["trunk"]
    total = MASS_SHARE["head"] * pos_w[:, INDEX["Head"]]
    total = total + MASS_SHARE["trunk"] * (
        (1.0 - trunk) * shoulders + trunk * pos_w[:, INDEX["Hips"]]
    )
    foot_f = 0.5 * (person.heel_f + person.ball_f) * np.array([1.0, 1.0, 0.6])
    for side in ("Left", "Right"):
        for part, first, second in (
            ("upper_arm", "Arm", "ForeArm"),
            ("forearm", "ForeArm", "Hand"),
            ("thigh", "UpLeg", "Leg"),
            ("shank", "Leg", "Foot"),
        ):
            centre = between(side + first, side + second, CENTRE_SHARE[part])
            total = total + MASS_SHARE[part] * centre
        total = total + MASS_SHARE["hand"] * pos_w[:, INDEX[f"{side}Hand"]]
        ankle = INDEX[f"{side}Foot"]
        foot = pos_w[:, ankle] + rotation.rotate(quat_w[:, ankle], foot_f)
        total = total + MASS_SHARE["foot"] * foot
    return np.asarray(total, dtype=np.float64)
