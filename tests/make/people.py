"""People made from robots: a human clip whose joints are the landmarks of a moving robot."""

from __future__ import annotations

import dataclasses

import numpy as np

from surefoot.dynamics.batch import Batch
from surefoot.motion import rotation
from surefoot.motion.human import HumanClip, Skeleton
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot

PARENTS = {
    "pelvis": None,
    "chest": "pelvis",
    **{
        f"{side}_{part}": parent if parent in ("pelvis", "chest") else f"{side}_{parent}"
        for side in ("left", "right")
        for part, parent in (
            ("shoulder", "chest"),
            ("elbow", "shoulder"),
            ("wrist", "elbow"),
            ("hip", "pelvis"),
            ("knee", "hip"),
            ("ankle", "knee"),
            ("toe", "ankle"),
        )
    },
}


def person_of(robot: Robot, motion: Motion) -> HumanClip:
    """A person with the robot's proportions who does what the robot does.

    Each joint sits at the robot's landmark and turns with its link; so the landmarks must be joint
    centres, which they are for human25.
    """
    names = [name for name in PARENTS if name in robot.landmarks]
    parents = tuple(-1 if PARENTS[n] is None else names.index(str(PARENTS[n])) for n in names)
    batch = Batch(robot, robot.qpos(motion))
    zero = dataclasses.replace(
        motion,
        root_quat=np.repeat([[1.0, 0.0, 0.0, 0.0]], motion.n, axis=0),
        joint_pos=np.zeros_like(motion.joint_pos),
    )
    rest = Batch(robot, robot.qpos(zero))
    turns, offsets = [], []
    for name, parent in zip(names, parents, strict=True):
        mark = robot.landmarks[name]
        # Joint frames are aligned with the world in the zero pose.
        k = robot.link_id(mark.link)
        turns.append(
            rotation.multiply(batch.link_quat_w[:, k], rotation.conjugate(rest.link_quat_w[:, k]))
        )
        place = rest.points_w(mark.link, mark.point_l[None])[0, 0]
        if parent < 0:
            offsets.append(np.zeros(3))
        else:
            above = robot.landmarks[names[parent]]
            offsets.append(place - rest.points_w(above.link, above.point_l[None])[0, 0])
    quat = np.stack(
        [
            turn if parent < 0 else rotation.multiply(rotation.conjugate(turns[parent]), turn)
            for turn, parent in zip(turns, parents, strict=True)
        ],
        axis=1,
    )
    pelvis = robot.landmarks["pelvis"]
    return HumanClip(
        skeleton=Skeleton(
            joint_names=tuple(names),
            parents=parents,
            offsets=np.array(offsets),
            scheme="",
            canonical={name: j for j, name in enumerate(names)},
            end_offsets={},
        ),
        time=motion.time,
        root_pos=batch.points_w(pelvis.link, pelvis.point_l[None])[:, 0],
        joint_quat=quat,
        source="made",
    )


def turned(human: HumanClip, yaw: float) -> HumanClip:
    """The same clip, turned about the vertical through the origin."""
    turn = rotation.from_euler("z", np.array([[yaw]]))
    quat = human.joint_quat.copy()
    quat[:, 0] = rotation.multiply(np.repeat(turn, human.n, axis=0), quat[:, 0])
    return dataclasses.replace(
        human, root_pos=rotation.rotate(turn, human.root_pos), joint_quat=quat
    )
