"""What a file does not say and the robot can tell: order of quaternions, order of joints, units.

Nothing is changed here. A contradiction is refused; what stays open is said.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadFile, Notice
from surefoot.formats.quaternions import misread
from surefoot.formats.record import Record
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot

ORDER_RATIO = 1.5  # 79 files of 9 tools: the wrong order has at least 2.28 times the product
PAIRS = 2000  # of neighbouring frames at which soles are looked at; a median needs no more
POSES = 64  # at which bodies are looked at
CLEARLY = 0.5  # of the distance in the other order; a robot that stands still shows no order
SAME_BODY_M = 0.05  # models of one robot differ by 1 cm; a wrong order of joints misses by 29 cm
ROOT_HEIGHTS = (0.3, 1.6)  # of the standing height, within which the median root is
WHOLE_TURN = 6.5  # rad; more is no joint of a humanoid, but may be degrees
BEYOND_LIMIT = 1.0  # rad or m


def checked(record: Record, motion: Motion, robot: Robot, where: str) -> list[Notice]:
    """What looks wrong with a motion on its robot.

    Raises:
        BadFile: the file contradicts the robot.
    """
    return [
        *check_bodies(record, motion, robot, where),
        *check_order(record, motion, robot, where),
        *_units(motion, robot),
    ]


def check_order(record: Record, motion: Motion, robot: Robot, where: str) -> list[Notice]:
    """What the feet say of the order of quaternions.

    Read in the wrong order, a robot's soles slide more and keep no height. The figure is the
    product of S, the median over frames of the slower foot's fastest corner, and H, the standard
    deviation of the lowest corner's height.

    Raises:
        BadFile: the other order fits better, and the format leaves the choice.
    """
    if motion.n < 3 or robot.root_kind != "free" or not robot.soles:
        return []
    declared = _unrest(motion, robot)
    other = _unrest(replace(motion, root_quat=misread(record.order, motion.root_quat)), robot)
    if other > ORDER_RATIO * declared:
        return []
    swapped = "wxyz" if record.order == "xyzw" else "xyzw"
    figures = (
        f"sliding times height spread of the soles is {_short(declared)} m²/s as {record.order} and"
        f" {_short(other)} m²/s as {swapped}"
    )
    if declared > ORDER_RATIO * other and record.other_order:
        raise BadFile(
            what=f"the quaternions are not in the order {record.order}: {figures}",
            where=where,
            todo=f"Say --from {record.other_order}",
        )
    if declared > ORDER_RATIO * other:
        sentence = f"the quaternions do not look like {record.order}: {figures}"
        return [Notice("suspicious", "root_quat", sentence, value=declared, limit=other)]
    if not record.other_order:
        return []
    sentence = (
        f"the motion does not show whether its quaternions are {record.order}, as they are read, or"
        f" {swapped}: {figures}; --from {record.other_order} reads the other order"
    )
    return [Notice("undecided", "root_quat", sentence, value=declared, limit=other)]


def _short(value: float) -> str:
    return f"{value:.3g}"


def _unrest(motion: Motion, robot: Robot) -> float:
    """S times H, m²/s, over at most `PAIRS` pairs of neighbouring frames."""
    first = np.unique(np.linspace(0, motion.n - 2, min(PAIRS, motion.n - 1)).astype(np.int64))
    now, then = _poses(motion, robot, first), _poses(motion, robot, first + 1)
    dt = (motion.time[first + 1] - motion.time[first])[:, None]
    speeds, heights = [], []
    for sole in robot.soles:
        place, later = (b.points_w(sole.link, sole.polygon_l) for b in (now, then))
        speeds.append((np.linalg.norm(later - place, axis=2) / dt).max(axis=1))
        heights.append(place[:, :, 2].min(axis=1))
    slower = np.min(speeds, axis=0)
    return float(np.median(slower) * np.std(np.min(heights, axis=0)))


def _poses(motion: Motion, robot: Robot, frames: Int64[IntArray, " f"]) -> Batch:
    part = replace(
        motion,
        time=motion.time[frames],
        root_pos=motion.root_pos[frames],
        root_quat=motion.root_quat[frames],
        joint_pos=motion.joint_pos[frames],
    )
    return Batch(robot, robot.qpos(part))


def check_bodies(record: Record, motion: Motion, robot: Robot, where: str) -> list[Notice]:
    """Compare the places of bodies in the file with the robot's links, in both orders of joints.

    Bodies have no names; each is compared with the nearest link at all frames.

    Raises:
        BadFile: joints in breadth-first order, or bodies that are not the robot's.
    """
    bodies = record.body_pos_w
    if bodies is None or robot.root_kind != "free":
        return []
    frames = np.unique(np.linspace(0, motion.n - 1, min(POSES, motion.n)).astype(np.int64))
    miss = _miss(bodies[frames], _poses(motion, robot, frames))
    isaac = replace(motion, joint_pos=_unshuffled(motion.joint_pos, breadth_first(robot)))
    other = _miss(bodies[frames], _poses(isaac, robot, frames))
    if other < SAME_BODY_M and other < CLEARLY * miss:
        raise BadFile(
            what="joints and bodies are in the breadth-first order of Isaac, as BeyondMimic writes"
            f" them: bodies lie {other:.3f} m from the robot's links so, {miss:.3f} m in the order"
            " of the model",
            where=where,
            todo="That format is not read yet",
        )
    if miss < SAME_BODY_M:
        return []
    raise BadFile(
        what=f"the bodies lie {miss:.3f} m (median) from the links of robot '{robot.name}', at"
        f" most {SAME_BODY_M:g} m are expected",
        where=where,
        todo="Give the robot that moves here; or the order of joints is not that of its model",
    )


def _miss(bodies_w: Float64[Array, "n b 3"], poses: Batch) -> float:
    """Median over bodies of the mean distance to the link that is nearest to it, m."""
    links = poses.link_pos_w[:, 1:]
    apart = [
        np.linalg.norm(bodies_w - links[:, k, None], axis=2).mean(axis=0)
        for k in range(links.shape[1])
    ]
    return float(np.median(np.min(apart, axis=0)))


def breadth_first(robot: Robot) -> Int64[IntArray, " m"]:
    """The robot's joints level by level of its tree, as Isaac numbers them."""
    parent = np.asarray(robot.model.body_parentid)
    level = np.zeros(len(parent), dtype=np.int64)
    for body in range(1, len(parent)):  # links, parents first
        level[body] = level[parent[body]] + 1
    depth = level[np.asarray(robot.model.jnt_bodyid)[robot.joint_ids]]
    return np.asarray(np.argsort(depth, kind="stable"), dtype=np.int64)


def _unshuffled(joint_pos: Float64[Array, "n m"], order: Int64[IntArray, " m"]) -> Array:
    """Columns that stood breadth first, in the model's order."""
    out = np.empty_like(joint_pos)
    out[:, order] = joint_pos
    return out


def _units(motion: Motion, robot: Robot) -> list[Notice]:
    """Lengths that are no metres, angles that are no radians."""
    notices = []
    height, home = float(np.median(motion.root_pos[:, 2])), robot.home_height
    if home > 0.0 and not ROOT_HEIGHTS[0] * home <= height <= ROOT_HEIGHTS[1] * home:
        notices.append(
            Notice(
                "suspicious",
                "root_pos",
                f"the root is at a height of {height:.2f} m (median), {home:.2f} m when robot"
                f" '{robot.name}' stands: another unit than metres, another robot, or high ground",
                value=height,
                limit=home,
            )
        )
    over = np.maximum(robot.joint_min - motion.joint_pos, motion.joint_pos - robot.joint_max)
    share = np.mean(over > BEYOND_LIMIT, axis=0)
    j = int(np.argmax(share)) if len(share) else 0
    largest = float(np.abs(motion.joint_pos).max(initial=0.0))
    if len(share) and (share[j] > 0.5 or largest > WHOLE_TURN):
        notices.append(
            Notice(
                "suspicious",
                robot.joint_names[j],
                f"joint positions reach {largest:.3g} rad, '{robot.joint_names[j]}' is beyond its"
                f" limits by more than {BEYOND_LIMIT:g} rad in {100.0 * share[j]:.0f} % of the"
                " frames: degrees, or another order of joints",
                value=largest,
                limit=WHOLE_TURN,
            )
        )
    return notices
