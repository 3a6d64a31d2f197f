"""Small motions made for tests: robot clips, human clips, and BVH as text."""

from __future__ import annotations

import numpy as np

from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule, Stance, Surface, Terrain
from surefoot.motion.human import HumanClip, recognised
from surefoot.motion.motion import Clip, Meta, Motion

JOINTS = ("left_knee", "right_knee", "waist")

# Name, parent, offset in cm with y up and the left side at +x, as in files of people.
PERSON = (
    ("Hips", "", (0, 0, 0)),
    ("LeftUpLeg", "Hips", (9, 0, 0)),
    ("LeftLeg", "LeftUpLeg", (0, -42, 0)),
    ("LeftFoot", "LeftLeg", (0, -43, 0)),
    ("LeftToe", "LeftFoot", (0, -6, 13)),
    ("RightUpLeg", "Hips", (-9, 0, 0)),
    ("RightLeg", "RightUpLeg", (0, -42, 0)),
    ("RightFoot", "RightLeg", (0, -43, 0)),
    ("RightToe", "RightFoot", (0, -6, 13)),
    ("Spine", "Hips", (0, 9, 0)),
    ("Spine1", "Spine", (0, 12, 0)),
    ("Spine2", "Spine1", (0, 12, 0)),
    ("Neck", "Spine2", (0, 20, 0)),
    ("Head", "Neck", (0, 9, 0)),
    ("LeftShoulder", "Spine2", (4, 15, 0)),
    ("LeftArm", "LeftShoulder", (13, 0, 0)),
    ("LeftForeArm", "LeftArm", (28, 0, 0)),
    ("LeftHand", "LeftForeArm", (25, 0, 0)),
    ("RightShoulder", "Spine2", (-4, 15, 0)),
    ("RightArm", "RightShoulder", (-13, 0, 0)),
    ("RightForeArm", "RightArm", (-28, 0, 0)),
    ("RightHand", "RightForeArm", (-25, 0, 0)),
)
NAMES = tuple(row[0] for row in PERSON)
PARENTS = tuple(NAMES.index(row[1]) if row[1] else -1 for row in PERSON)
OFFSETS_CM = np.array([row[2] for row in PERSON], dtype=np.float64)
STANDING = (0.0, 91.0, 0.0)  # cm, where the hips are


def uneven_time(n: int, *, seed: int = 0) -> np.ndarray:
    """Frame times from 0 with steps of 0.02 to 0.05 s."""
    return np.concatenate(
        [[0.0], np.cumsum(np.random.default_rng(seed).uniform(0.02, 0.05, n - 1))]
    )


def robot_motion(time: np.ndarray | None = None) -> Motion:
    """A robot that wanders, tumbles gently and bends its joints: closed forms of time."""
    t = np.arange(60) / 30.0 if time is None else time
    return Motion(
        time=t,
        root_pos=np.stack([0.5 * t, 0.1 * np.sin(2.0 * t), 0.8 + 0.02 * np.cos(5.0 * t)], axis=1),
        root_quat=rotation.from_euler("zx", np.stack([2.0 * np.sin(t), 0.7 * t], axis=1)),
        joint_names=JOINTS,
        joint_pos=np.stack([np.sin(3.0 * t), np.cos(2.0 * t), 0.1 * t], axis=1),
    )


def robot_clip(time: np.ndarray | None = None) -> Clip:
    """A clip with everything a clip can hold."""
    motion = robot_motion(time)
    end = float(motion.time[-1])
    corners = np.array([[0.1, 0.05, -0.03], [0.1, -0.05, -0.03], [-0.1, -0.05, -0.03]])
    return Clip(
        motion=motion,
        contacts=ContactSchedule(
            (
                Stance("left_foot", 0.0, 0.6 * end, "face", corners),
                Stance("right_foot", 0.4 * end, end, "edge", corners[:2], friction=0.5, surface=1),
                Stance("left_foot", 0.7 * end, end, "point", corners[:1], moving=True),
            )
        ),
        terrain=Terrain(
            (
                Surface("plane", np.zeros(3)),
                Surface(
                    "box", np.array([1.2, 0.0, 0.04]), size=np.array([0.3, 1.0, 0.08]), yaw=0.1
                ),
            ),
            friction=0.6,
        ),
        robot="made",
        zmp_w=motion.root_pos * [1.0, 1.0, 0.0],
        com_w=motion.root_pos + np.array([0.0, 0.0, 0.1]),
        meta=Meta("made.bvh").then("retarget", scale=0.8, options={"weights": [1.0, 2.0]}),
    )


def angles_deg(n: int, *, seed: int = 0, size: float = 20.0) -> np.ndarray:
    """Smooth Euler angles (n, 22, 3) of a person who moves all joints."""
    rng = np.random.default_rng(seed)
    phase, rate = rng.uniform(0.0, 6.0, (2, 22, 3))
    t = np.arange(n)[:, None, None] / 30.0
    return size * np.sin(phase + rate * t)


def person(n: int = 40, *, fps: float = 30.0, seed: int = 0) -> HumanClip:
    """A person of 22 joints who moves all of them."""
    turned = OFFSETS_CM[:, [0, 2, 1]] * [1.0, -1.0, 1.0] / 100.0
    ends = {NAMES.index(f"{side}Toe"): np.array([0.0, -0.06, 0.0]) for side in ("Left", "Right")}
    t = np.arange(n) / fps
    return HumanClip(
        skeleton=recognised(NAMES, PARENTS, turned, ends),
        time=t,
        root_pos=np.stack([0.3 * t, 0.05 * np.sin(t), 0.91 + 0.0 * t], axis=1),
        joint_quat=rotation.from_euler("zyx", np.radians(angles_deg(n, seed=seed))),
        source="made",
    )


def bvh_text(
    rows: np.ndarray | None = None,
    *,
    frame_time: str = "0.033333",
    order: str = "ZYX",
    names: dict[str, str] | None = None,
    unit: float = 1.0,
) -> str:
    """A BVH file of the person, by default of three frames standing in the rest pose.

    Args:
        rows: channel values (n, 69): root position, then three angles a joint.
        order: of the rotation channels.
        names: other names for some joints.
        unit: number that every offset in cm is multiplied with.
    """
    if rows is None:
        rows = np.tile(np.concatenate([np.array(STANDING) * unit, np.zeros(66)]), (3, 1))
    turns = " ".join(f"{axis}rotation" for axis in order)
    lines = ["HIERARCHY"]

    def block(i: int, tab: str) -> None:
        name = (names or {}).get(NAMES[i], NAMES[i])
        place = " ".join(f"{number:g}" for number in OFFSETS_CM[i] * unit)
        spot = "6 Xposition Yposition Zposition" if i == 0 else "3"
        lines.append(f"{tab}{'ROOT' if i == 0 else 'JOINT'} {name}")
        lines.append(f"{tab}{{")
        lines.append(f"{tab}\tOFFSET {place}")
        lines.append(f"{tab}\tCHANNELS {spot} {turns}")
        children = [k for k, parent in enumerate(PARENTS) if parent == i]
        for child in children:
            block(child, tab + "\t")
        if not children:
            lines.extend([f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\tOFFSET 0 0 {6 * unit:g}"])
            lines.append(f"{tab}\t}}")
        lines.append(f"{tab}}}")

    block(0, "")
    lines += ["MOTION", f"Frames: {len(rows)}", f"Frame Time: {frame_time}"]
    lines += [" ".join(repr(float(number)) for number in row) for row in rows]
    return "\n".join(lines) + "\n"
