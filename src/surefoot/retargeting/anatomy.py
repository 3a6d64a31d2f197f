"""What a robot follows of a person: joint points, and frames of trunk and feet, x forward, z up.

The joint frames of a clip point wherever its skeleton was drawn; each is turned by one constant
rotation into an anatomical frame. The T-pose row gives that rotation where there is one, the joint
positions where there is none. Two corrections were measured to be needed on the CMU clips: the
pelvis of standing people is upright, and a foot that is still is flat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import Notice, UnknownSkeleton
from surefoot.motion import rotation
from surefoot.motion.human import HumanClip, has_t_pose_row, without_first_row

LEGS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("hip", "knee", "ankle"))
STILL_MPS = 0.10  # toes of standing CMU feet are slower in 95 % of their frames
FLAT_PITCH_RAD = np.radians(15.0)  # a still foot that is further from the T-pose stands on its toes
EXTENDED = 0.95  # hip to ankle over thigh and shank, of a standing leg
UPRIGHT_RAD = np.radians(20.0)  # hips to chest from the vertical, of a person who stands
SHORTEST_TIP_M = 0.02  # an End Site nearer to its joint tells no direction; many files have 0
TOES_AHEAD = 0.5  # of ankle to toe that is level in a standing foot; some skeletons point it down
TINY = 1e-9
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True)
class Anatomy:
    """Points and frames of a person over time, world axes."""

    time: Float64[Array, " n"]
    points_w: dict[str, Float64[Array, "n 3"]]
    """Joint positions by canonical name, m."""
    frames_wp: dict[str, Float64[Array, "n 4"]]
    """Orientation of pelvis, chest, ankles and toes, by canonical name; x forward and z up when the
    person stands."""
    leg_m: float
    """Thigh and shank at rest, mean of both sides."""
    notices: tuple[Notice, ...] = ()

    def backwards(self) -> Anatomy:
        """The same person, played from the end to the beginning."""
        return replace(
            self,
            time=self.time[-1] - self.time[::-1],
            points_w={part: points[::-1] for part, points in self.points_w.items()},
            frames_wp={part: frames[::-1] for part, frames in self.frames_wp.items()},
        )


def anatomy(human: HumanClip) -> Anatomy:
    """The points and frames of a clip, without its T-pose row.

    Raises:
        UnknownSkeleton: the hips, knees or ankles are not known.
    """
    index = human.skeleton.canonical
    missing = [part for part in ("pelvis", *LEGS) if part not in index]
    if missing:
        raise UnknownSkeleton(
            what=f"no joint is known as {', '.join(missing)}",
            where=human.source or "human clip",
            todo="the naming schemes are listed in docs/formats.md",
        )
    notices: list[Notice] = []
    t_pose: HumanClip | None = None
    if has_t_pose_row(human) and human.n > 1:
        t_pose, human = human, without_first_row(human)
        notices.append(
            Notice(
                "repair",
                "frame 0",
                "the first frame is a T-pose: used for the rest pose and dropped",
                t0=float(t_pose.time[0]),
            )
        )
    points = {part: human.joint_pos_w[:, j] for part, j in index.items()}
    tips = _tips(human, points)
    points |= tips
    notices += [
        Notice("assumption", part, f"{part}: no joint plays it, the tip of its bone is taken")
        for part in tips
    ]
    turns = {part: rotation.as_matrix(human.joint_quat_w[:, j]) for part, j in index.items()}
    rest = None if t_pose is None else _rest(t_pose)
    frames = {"pelvis": _trunk("pelvis", points, turns, rest)}
    frames["pelvis"] = _upright(frames["pelvis"], points)
    if "chest" in index and "left_shoulder" in index and "right_shoulder" in index:
        frames["chest"] = _trunk("chest", points, turns, rest)
    for side in ("left", "right"):
        for part in (f"{side}_ankle", f"{side}_toe"):
            if part in index:
                frames[part] = _foot(part, side, human.time, points, turns, rest, frames["pelvis"])
    lengths = [
        np.linalg.norm(points[f"{side}_{a}"] - points[f"{side}_{b}"], axis=1).mean()
        for side in ("left", "right")
        for a, b in (("hip", "knee"), ("knee", "ankle"))
    ]
    return Anatomy(
        time=human.time,
        points_w=points,
        frames_wp={part: rotation.from_matrix(matrix) for part, matrix in frames.items()},
        leg_m=float(np.sum(lengths) / 2.0),
        notices=tuple(notices),
    )


def _tips(human: HumanClip, points: dict[str, Array]) -> dict[str, Array]:
    """Wrists and toes of skeletons that end in elbows or ankles: where those bones end."""
    index, found = human.skeleton.canonical, {}
    for side in ("left", "right"):
        for part, above in ((f"{side}_wrist", f"{side}_elbow"), (f"{side}_toe", f"{side}_ankle")):
            if part in index or above not in index:
                continue
            tip = human.skeleton.end_offsets.get(index[above], np.zeros(3))
            if np.linalg.norm(tip) > SHORTEST_TIP_M:
                found[part] = points[above] + rotation.rotate(
                    human.joint_quat_w[:, index[above]], tip
                )
    return found


def _rest(t_pose: HumanClip) -> dict[str, Float64[Array, "3 3"]]:
    """For each part, what turns its joint frame into the heading of the T-pose: R_jp."""
    index = t_pose.skeleton.canonical
    left = t_pose.joint_pos_w[0, index["left_hip"]] - t_pose.joint_pos_w[0, index["right_hip"]]
    heading = _frames(left[None], UP[None])[0]
    return {
        part: rotation.as_matrix(t_pose.joint_quat_w[0, j]).T @ heading for part, j in index.items()
    }


def _frames(left: Float64[Array, "n 3"], up: Float64[Array, "n 3"]) -> Float64[Array, "n 3 3"]:
    """Frames with z along `up` and y as near to `left` as that allows."""
    z = up / np.linalg.norm(up, axis=1, keepdims=True)
    x = np.cross(left, z)
    none = np.linalg.norm(x, axis=1) < TINY  # `left` lies along `up`: any direction is as good
    x[none] = np.cross(np.eye(3)[np.argmin(np.abs(z[none]), axis=1)], z[none])
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=2)


def _mean_rotation(
    matrices: Float64[Array, "n 3 3"], weight: Float64[Array, " n"] | None = None
) -> Float64[Array, "3 3"]:
    """The rotation nearest to the weighted mean of the matrices (chordal mean)."""
    u, _, vt = np.linalg.svd(np.average(matrices, axis=0, weights=weight))
    sign = np.diag([1.0, 1.0, float(np.sign(np.linalg.det(u @ vt)))])
    return np.asarray(u @ sign @ vt, dtype=np.float64)


def _trunk(
    part: str,
    points: dict[str, Array],
    turns: dict[str, Array],
    rest: dict[str, Array] | None,
) -> Float64[Array, "n 3 3"]:
    """Frames of pelvis or chest: rest turn from the T-pose, else from hips, shoulders and spine."""
    if rest is not None:
        return np.asarray(turns[part] @ rest[part], dtype=np.float64)
    ends = ("left_hip", "right_hip") if part == "pelvis" else ("left_shoulder", "right_shoulder")
    hips = (points["left_hip"] + points["right_hip"]) / 2.0
    top = "chest" if part == "pelvis" else "neck"
    spine = points[top if top in points else "chest" if "chest" in points else "pelvis"] - hips
    if np.min(np.linalg.norm(spine, axis=1)) < 1e-6:
        spine = np.broadcast_to(UP, hips.shape)
    drawn = _frames(points[ends[0]] - points[ends[1]], spine)
    return np.asarray(
        turns[part] @ _mean_rotation(np.swapaxes(turns[part], 1, 2) @ drawn), dtype=np.float64
    )


def _upright(frames: Float64[Array, "n 3 3"], points: dict[str, Array]) -> Float64[Array, "n 3 3"]:
    """The pelvis frames, turned so that its mean over standing frames is upright.

    The pelvis of CMU subjects leans 22° to 27° forward against its T-pose in ordinary standing,
    an artefact of how the skeleton was fitted.
    """
    standing = np.zeros(len(frames), dtype=bool)
    for side in ("left", "right"):
        hip, knee, ankle = (points[f"{side}_{part}"] for part in ("hip", "knee", "ankle"))
        straight = np.linalg.norm(hip - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1)
        standing |= np.linalg.norm(hip - ankle, axis=1) > EXTENDED * straight
    if "chest" in points:
        spine = points["chest"] - (points["left_hip"] + points["right_hip"]) / 2.0
        lean = np.arccos(np.clip(spine[:, 2] / np.linalg.norm(spine, axis=1), -1.0, 1.0))
        standing &= lean < UPRIGHT_RAD
    if not standing.any():
        return frames
    up_p = np.mean(frames[standing, 2, :], axis=0)  # the vertical, seen from the pelvis
    up_p = up_p / np.linalg.norm(up_p)
    axis = np.cross(UP, up_p)
    sine, cosine = float(np.linalg.norm(axis)), float(up_p[2])
    if sine < 1e-9:
        return frames
    turn = rotation.as_matrix(rotation.from_rotvec(axis / sine * np.arctan2(sine, cosine)))
    return np.asarray(frames @ turn, dtype=np.float64)


def _stillness(time: Float64[Array, " n"], *points: Array) -> Float64[Array, " n"]:
    """Weight of each frame: 1 where the points are stillest, falling as they move.

    A threshold would let rounding decide which frames count.
    """
    if len(time) < 2:
        return np.ones(len(time))
    speed = np.max(
        [np.linalg.norm(np.gradient(point, time, axis=0), axis=1) for point in points], axis=0
    )
    return np.asarray(np.exp((speed.min() ** 2 - speed**2) / STILL_MPS**2), dtype=np.float64)


def _foot(
    part: str,
    side: str,
    time: Float64[Array, " n"],
    points: dict[str, Array],
    turns: dict[str, Array],
    rest: dict[str, Array] | None,
    pelvis: Float64[Array, "n 3 3"],
) -> Float64[Array, "n 3 3"]:
    """Frames of a foot or its toes: level while it is still and nearly flat."""
    ankle, toe = points[f"{side}_ankle"], points.get(f"{side}_toe")
    still = _stillness(time, ankle, ankle if toe is None else toe)
    if rest is not None:
        constant = rest[part]
    else:
        forward = _ahead(toe, ankle, still, pelvis)
        flat = _frames(np.cross(np.broadcast_to(UP, forward.shape), forward), UP + 0.0 * forward)
        constant = _mean_rotation(np.swapaxes(turns[part], 1, 2) @ flat, still)
    frames = turns[part] @ constant
    pitch = np.arcsin(np.clip(frames[:, 2, 0], -1.0, 1.0))  # of the x axis, up is positive
    order = np.argsort(pitch)
    share = np.cumsum(still[order]) / still.sum()
    median = float(np.interp(0.5, share, pitch[order]))
    if abs(median) > FLAT_PITCH_RAD:
        return np.asarray(frames, dtype=np.float64)
    level = rotation.as_matrix(rotation.from_rotvec(np.array([0.0, median, 0.0])))
    return np.asarray(frames @ level, dtype=np.float64)


def _ahead(
    toe: Float64[Array, "n 3"] | None,
    ankle: Float64[Array, "n 3"],
    still: Float64[Array, " n"],
    pelvis: Float64[Array, "n 3 3"],
) -> Float64[Array, "n 3"]:
    """Where a foot points, level: towards its toes; where they tell nothing, as the pelvis does."""
    level = np.array([1.0, 1.0, 0.0])
    if toe is not None:
        forward, length = (toe - ankle) * level, np.linalg.norm(toe - ankle, axis=1)
        share = np.linalg.norm(forward, axis=1) / np.maximum(length, SHORTEST_TIP_M)
        if np.average(share, weights=still) > TOES_AHEAD:
            return np.asarray(forward, dtype=np.float64)
    return np.asarray(pelvis[:, :, 0] * level, dtype=np.float64)
