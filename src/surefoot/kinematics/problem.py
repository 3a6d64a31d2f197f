"""Targets, pins and options as the arrays that the kernel reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array, BoolArray, IntArray, door
from surefoot.errors import BadOption, UnknownName, nearest
from surefoot.kernels import tasks as kinds
from surefoot.kernels.reach import Course, Joints
from surefoot.kernels.tasks import Tasks
from surefoot.kernels.tree import HINGE, Tree
from surefoot.kinematics.options import Options
from surefoot.kinematics.targets import (
    DirectionTarget,
    OrientationTarget,
    Pin,
    Target,
    goal_of,
)
from surefoot.robots.robot import Robot


def goals_of(asked: Sequence[Target | Pin], n: int) -> Array:
    """Goals of all tasks and frames (n, t, 4); three numbers are followed by a 0."""
    goals = np.zeros((n, len(asked), 4))
    for t, item in enumerate(asked):
        goal = goal_of(item)
        goals[:, t, : goal.shape[1]] = goal
    return goals


def weights_of(asked: Sequence[Target | Pin], n: int, pin_weight: float = 0.0) -> Array:
    """Weights of all tasks (1 or n, t, 3): one row where none changes over the frames."""
    columns = []
    for item in asked:
        if isinstance(item, Pin):
            columns.append(pin_weight * item.active[:, None])
        else:
            weight = np.asarray(item.weight)
            per_frame = weight.ndim == 1 and not isinstance(item, OrientationTarget)
            columns.append(weight[:, None] if per_frame else np.atleast_2d(weight))
    rows = n if any(len(column) > 1 for column in columns) else 1
    weights = np.zeros((rows, len(asked), 3))
    for t, column in enumerate(columns):
        weights[:, t, :] = column
    return weights


def strongest(targets: Sequence[Target], options: Options) -> float:
    """The largest weight of all, at least 1."""
    return max([1.0, options.posture_weight, *(float(np.max(t.weight)) for t in targets)])


def course_of(options: Options) -> Course:
    """Options as the kernel reads them."""
    return Course(
        iterations=int(options.iterations),
        tolerance=float(options.tolerance),
        damping=float(options.damping),
        step_cap=float(options.step_cap),
        warm=options.start == "warm",
    )


def joints_of(robot: Robot, options: Options) -> Joints:
    """Place, limits and posture of each degree of freedom.

    A planar root is three scalar joints without limits and posture.
    """
    model = robot.model
    turns = np.array([int(model.jnt_type[j]) == HINGE for j in model.dof_jntid])
    at = np.array([model.jnt_qposadr[j] for j in model.dof_jntid])
    if robot.root_kind == "free":
        at[:6], turns[:6] = -1, (False, False, False, True, True, True)
    return Joints(
        at=_whole(at),
        turns=_whole(turns),
        limits=door(_limits(robot, options)),
        posture=door(_posture(robot, options)),
    )


def _limits(robot: Robot, options: Options) -> Array:
    """Lowest and highest position and largest speed of each degree of freedom (nv, 3).

    Raises:
        UnknownName: joint_range names a joint that is not there.
        BadOption: joint_range leaves a joint no room.
    """
    low, high = np.array(robot.joint_min), np.array(robot.joint_max)
    for name, (narrow_low, narrow_high) in options.joint_range.items():
        if name not in robot.joint_names:
            raise UnknownName(
                what=f"joint '{name}' is not in robot '{robot.name}'",
                where="joint_range",
                todo=nearest(name, robot.joint_names),
            )
        j = robot.joint_names.index(name)
        low_j, high_j = max(low[j], narrow_low), min(high[j], narrow_high)
        if not low_j <= high_j:
            raise BadOption(
                what=f"joint '{name}' has no room: {narrow_low:g} to {narrow_high:g} asked, "
                f"{low[j]:g} to {high[j]:g} in robot '{robot.name}'",
                where="joint_range",
            )
        low[j], high[j] = low_j, high_j
    limits = np.tile([-np.inf, np.inf, np.inf], (robot.nv, 1))
    dofs = robot.joint_dofadr
    limits[dofs, 0], limits[dofs, 1] = low, high
    if options.limit_speed:
        limits[dofs, 2] = robot.joint_speed
    return limits


def _posture(robot: Robot, options: Options) -> Array:
    """Reference position and weight of each degree of freedom (nv, 2); the root's weight is 0.

    Raises:
        BadOption: posture_qpos of another shape, or not finite.
    """
    reference = robot.home if options.posture_qpos is None else options.posture_qpos
    if reference.shape != (robot.nq,) or not np.all(np.isfinite(reference)):
        raise BadOption(what=f"expected posture_qpos ({robot.nq},), finite, got {reference.shape}")
    posture = np.zeros((robot.nv, 2))
    posture[robot.joint_dofadr, 0] = reference[robot.joint_qposadr]
    posture[robot.joint_dofadr, 1] = options.posture_weight
    return posture


def _chain(tree: Tree, link: int) -> set[int]:
    """Degrees of freedom that move a link."""
    while link > 0 and tree.link_dofs[link] == 0:
        link = int(tree.link_parent[link])
    dof = int(tree.link_dof[link] + tree.link_dofs[link] - 1) if link > 0 else -1
    chain = set()
    while dof >= 0:
        chain.add(dof)
        dof = int(tree.dof_parent[dof])
    return chain


def _moving(tree: Tree, item: Target | Pin, end: set[int], start: set[int]) -> list[int]:
    """Degrees of freedom that change a task: no slide turns a link or a line that it carries."""
    if isinstance(item, OrientationTarget):
        return sorted(d for d in end if tree.dof_turns[d])
    return sorted(d for d in end | start if tree.dof_turns[d] or not (d in end and d in start))


def tasks_of(robot: Robot, tree: Tree, asked: Sequence[Target | Pin]) -> Tasks:
    """Targets and pins as the kernel reads them."""
    kind, link, from_link = [], [], []
    point, from_point = np.zeros((len(asked), 3)), np.zeros((len(asked), 3))
    starts, dofs, end_share, from_share = [0], [], [], []
    for t, item in enumerate(asked):
        end, start = set[int](), set[int]()
        from_link.append(0)
        if isinstance(item, DirectionTarget):
            kind.append(kinds.DIRECTION)
            link.append(robot.link_id(item.link_b))
            from_link[t] = robot.link_id(item.link_a)
            point[t], from_point[t] = item.point_b_l, item.point_a_l
            start = _chain(tree, from_link[t])
        else:
            turned = isinstance(item, OrientationTarget)
            kind.append(kinds.ORIENTATION if turned else kinds.POINT)
            link.append(robot.link_id(item.link))
            if not isinstance(item, OrientationTarget):
                point[t] = item.point_l
        end = _chain(tree, link[t])
        for d in _moving(tree, item, end, start):
            dofs.append(d)
            end_share.append(float(d in end))
            from_share.append(float(d in start))
        starts.append(len(dofs))
    return Tasks(
        kind=_whole(kind),
        link=_whole(link),
        point=door(point),
        from_link=_whole(from_link),
        from_point=door(from_point),
        chain_start=_whole(starts),
        chain_dof=_whole(dofs),
        chain_end=door(end_share),
        chain_from=door(from_share),
    )


def _whole(values: Sequence[int] | IntArray | BoolArray) -> IntArray:
    array = np.array(values, dtype=np.int64)
    array.flags.writeable = False
    return array
