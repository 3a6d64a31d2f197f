"""What a file of another tool says of a robot's motion, before it is fitted to a robot.

Most of these files name neither robot nor joints, some not even their rate. A `Record` holds what
is there; `fitting` puts it together with a robot. Velocities are never read: some tools write them
of another point or in other axes than they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64
from surefoot.errors import BadFile, BadMotion, Notice
from surefoot.formats.files import place
from surefoot.formats.quaternions import Order, from_order, unit_quat
from surefoot.motion import rotation

FAST_ROOT_MPS = 8.0  # no humanoid's trunk is so fast
JUMP_RATIO = 10.0  # of a step to the median step, for it to be a jump and no fast motion
UPRIGHT = 0.5  # of the root's z axis along the world's: 60° from upright


@dataclass(frozen=True, slots=True)
class Record:
    """Root, joint columns and whatever else a file holds; n frames, c columns."""

    source: str
    """The file's name, as it may be printed."""
    fps: float | None
    """Frames a second; None where the file does not say it."""
    root_pos: Float64[Array, "n 3"]
    root_quat: Float64[Array, "n 4"]
    """(w, x, y, z), of norm 1, neighbours of like sign."""
    joint_pos: Float64[Array, "n c"]
    order: Order
    """How the file holds its quaternions."""
    notices: tuple[Notice, ...] = ()
    joint_names: tuple[str, ...] | None = None
    """None where the columns have no names: then they stand in the robot's order."""
    joint_axes: Float64[Array, "c 3"] | None = None
    """Axis about which each column turns, as far as the file tells it; else zeros."""
    body_pos_w: Float64[Array, "n b 3"] | None = None
    """Origins of links, m: told from each other by their places alone."""
    feet: Float64[Array, "n 2"] | None = None
    """Contact of left and right foot: 1 yes, 0 no, 0.5 not known."""
    other_order: str = ""
    """The format that reads the same columns with quaternions in the other order; empty where the
    order is part of the format."""

    @property
    def n(self) -> int:
        """Number of frames."""
        return len(self.root_pos)


def made(
    where: str,
    *,
    root_pos: Float64[Array, "n 3"],
    quat: Float64[Array, "n 4"],
    quat_key: str,
    order: Order,
    joint_pos: Float64[Array, "n c"],
    fps: float | None,
) -> Record:
    """The record of arrays that were taken from a file.

    Args:
        quat: in the file's order.
        quat_key: what the file calls them.

    Raises:
        BadFile: four numbers that are no quaternion.
    """
    notices: list[Notice] = []
    try:
        unit = unit_quat(quat_key, from_order(order, quat), notices)
    except BadMotion as error:
        raise BadFile(what=error.what, where=where, todo=error.todo) from error
    return Record(
        source=place(Path(where).name),
        fps=fps,
        root_pos=root_pos,
        root_quat=rotation.continuous(unit),
        joint_pos=joint_pos,
        order=order,
        notices=tuple(notices),
    )


def strange(record: Record, fps: float) -> list[Notice]:
    """What looks wrong with a motion, whoever moves: jumps of the root, a root upside down."""
    return [*_jumps(record.root_pos, fps), *_upside_down(record)]


def _jumps(root_pos: Float64[Array, "n 3"], fps: float) -> list[Notice]:
    step = np.linalg.norm(np.diff(root_pos, axis=0), axis=1)
    if len(step) < 2:
        return []
    limit = max(FAST_ROOT_MPS / fps, JUMP_RATIO * float(np.median(step)))
    found = np.flatnonzero(step > limit)
    if len(found) == 0:
        return []
    i = int(found[np.argmax(step[found])])
    more = f", and {len(found) - 1} more such jumps" if len(found) > 1 else ""
    start = ", as the first frame of a solver that starts elsewhere does" if i == 0 else ""
    return [
        Notice(
            "suspicious",
            f"frame {i}",
            f"the root jumps by {step[i]:.2f} m from frame {i} to frame {i + 1}{start}{more};"
            " the frames are kept as they are",
            t0=i / fps,
            t1=(i + 1) / fps,
            value=float(step[i]),
            limit=limit,
        )
    ]


def _upside_down(record: Record) -> list[Notice]:
    up = rotation.rotate(record.root_quat, np.array([0.0, 0.0, 1.0]))[:, 2]
    median = float(np.median(up))
    if median > UPRIGHT:
        return []
    advice = f"; were they {_swapped(record.order)}, say --from {record.other_order}"
    return [
        Notice(
            "suspicious",
            "root_quat",
            f"with quaternions in the order {record.order} the root is not upright in most frames"
            f" (its z axis points up by {median:.2f}){advice if record.other_order else ''}",
            value=median,
            limit=UPRIGHT,
        )
    ]


def _swapped(order: Order) -> Order:
    return "wxyz" if order == "xyzw" else "xyzw"


def touching(record: Record) -> Bool[BoolArray, "n 2"]:
    """Frames at which the file says that the left and the right foot touch."""
    if record.feet is None:
        return np.zeros((record.n, 2), dtype=np.bool_)
    return np.asarray(record.feet > 0.5, dtype=np.bool_)
