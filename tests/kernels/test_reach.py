"""The pieces of inverse kinematics against slow twins: residual rows, boxed step, factor."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from make.targets import engine_poses, random_poses
from make.trees import BRANCHED, robot_of
from surefoot.arrays import door
from surefoot.dynamics.tree import read_tree
from surefoot.kernels.box import NOT_POSITIVE, SETTLED, back_substitute, boxed_step, factorise
from surefoot.kernels.reach import scratch
from surefoot.kernels.tasks import farthest, measure
from surefoot.kernels.tree import place
from surefoot.kinematics import DirectionTarget, OrientationTarget, PointTarget, Target
from surefoot.kinematics.problem import goals_of, tasks_of, weights_of
from surefoot.motion import rotation
from surefoot.robots.robot import Robot

DOWN = np.array([0.0, 0.0, -0.3])
OFF = np.array([0.1, -0.2, 0.05])
ASKED: dict[str, list[Target]] = {
    "point": [PointTarget("rail", OFF, np.array([[0.3, -0.4, 1.0]]), 2.0)],
    "point of a link without joints": [PointTarget("mark", OFF, np.array([[1.0, 0.0, 1.0]]))],
    "direction along a limb": [
        DirectionTarget("thigh", OFF, "rail", DOWN, np.array([[0.2, 0.3, -1.0]]), 1.5)
    ],
    "direction between branches": [
        DirectionTarget("hand", DOWN, "rail", OFF, np.array([[1.0, 0.3, 0.2]]), 0.7)
    ],
    "direction of one link": [
        DirectionTarget("arm", OFF, "arm", DOWN, np.array([[-1.0, 0.0, 0.4]]))
    ],
    "orientation": [
        OrientationTarget("rail", rotation.unit(np.array([[0.4, -0.7, 0.2, 0.5]])), 1.3)
    ],
    "orientation with weights per axis": [
        OrientationTarget(
            "hand", rotation.unit(np.array([[0.9, 0.1, 0.2, -0.3]])), np.array([0.2, 0.0, 2.0])
        )
    ],
}
ASKED["all at once"] = [target for targets in list(ASKED.values()) for target in targets]


def residuals(robot: Robot, targets: list[Target], q: np.ndarray) -> np.ndarray:
    """The twin: all weighted residuals at a pose, by MuJoCo and numpy."""
    pos, quat = (value[0] for value in engine_poses(robot, q[None]))
    rows = []
    for t in targets:
        if isinstance(t, OrientationTarget):
            goal = rotation.conjugate(t.quat_wl[0])
            off = rotation.as_rotvec(rotation.multiply(goal, quat[robot.link_id(t.link)]))
        elif isinstance(t, DirectionTarget):
            a, b = robot.link_id(t.link_a), robot.link_id(t.link_b)
            line = pos[b] + rotation.rotate(quat[b], t.point_b_l)
            line = line - pos[a] - rotation.rotate(quat[a], t.point_a_l)
            off = line / np.linalg.norm(line) - t.direction_w[0]
        else:
            b = robot.link_id(t.link)
            off = pos[b] + rotation.rotate(quat[b], t.point_l) - t.position_w[0]
        rows.append(np.asarray(t.weight) * off)
    return np.concatenate(rows)


def differences(robot: Robot, targets: list[Target], q: np.ndarray) -> np.ndarray:
    """Derivatives of all residuals along the degrees of freedom, by central differences."""
    columns = []
    for d in range(robot.nv):
        ends = []
        for step in (1e-6, -1e-6):
            moved = np.array(q)
            mujoco.mj_integratePos(robot.model, moved, np.eye(robot.nv)[d], step)
            ends.append(residuals(robot, targets, moved))
        columns.append((ends[0] - ends[1]) / 2e-6)
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("kind", list(ASKED))
def test_squares_gradient_and_normal_matrix_are_those_of_the_twin(kind: str) -> None:
    """20 random poses (seed 1); central differences with 1e-6 err by some 1e-9."""
    robot, targets = robot_of(BRANCHED), ASKED[kind]
    tree = read_tree(robot.model)
    tasks = tasks_of(robot, tree, targets)
    pose, room = scratch(len(tree.link_parent), robot.nv, robot.nq)
    goal, weight = door(goals_of(targets, 1)), door(weights_of(targets, 1))
    for q in random_poses(robot, 20, 1):
        room.gradient[:], room.normal[:] = 0.0, 0.0
        place(tree, np.array(q), pose.pos, pose.quat, pose.rot, pose.screw)

        half = measure(tasks, goal[0], weight[0], pose, room.rows, room.gradient, room.normal)

        r, J = residuals(robot, targets, q), differences(robot, targets, q)
        assert half == pytest.approx(0.5 * r @ r, rel=1e-12)
        np.testing.assert_allclose(room.gradient, J.T @ r, atol=1e-7)
        np.testing.assert_allclose(np.tril(room.normal), np.tril(J.T @ J), atol=1e-7)


def test_the_farthest_point_is_found_among_those_that_weigh() -> None:
    robot = robot_of(BRANCHED)
    tree = read_tree(robot.model)
    q = random_poses(robot, 1, 2)
    b = robot.link_id("hand")
    at = engine_poses(robot, q)[0][:, b]
    offs = (0.3, 5.0, 0.7)
    targets = [
        PointTarget("hand", np.zeros(3), at + off * np.eye(3)[1], float(off < 1.0)) for off in offs
    ]
    pose, _ = scratch(len(tree.link_parent), robot.nv, robot.nq)
    place(tree, q[0], pose.pos, pose.quat, pose.rot, pose.screw)

    far = farthest(
        tasks_of(robot, tree, targets),
        door(goals_of(targets, 1))[0],
        door(weights_of(targets, 1))[0],
        pose,
    )

    assert far == pytest.approx(0.7, rel=1e-12)


def test_the_factor_solves_as_numpy_does() -> None:
    """Random positive matrices of 1 to 40 rows (seed 3)."""
    rng = np.random.default_rng(3)
    for size in range(1, 41):
        root = rng.normal(size=(size, size))
        matrix = root @ root.T + 0.1 * np.eye(size)
        b = rng.normal(size=size)
        factor, x = np.tril(matrix), np.array(b)

        assert factorise(factor)
        back_substitute(factor, x)

        np.testing.assert_allclose(
            np.tril(factor).T @ np.tril(factor), matrix, rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(matrix @ x, b, atol=1e-8)


def test_a_matrix_that_is_not_positive_is_refused() -> None:
    size = 3
    box = np.tile([[-np.inf], [np.inf]], (1, size))
    held, step = np.zeros(size, dtype=np.int64), np.zeros(size)
    matrix = np.diag([1.0, -1.0, 1.0])

    status = boxed_step(matrix, np.ones(size), 1e-6, box, held, np.zeros((size, size)), step)

    assert status == NOT_POSITIVE


def test_the_boxed_step_is_the_best_one_in_the_box() -> None:
    """300 random problems of 2 to 35 unknowns (seed 4) against scipy's bounded least squares.

    A third of the bounds is at zero, as for joints at their limit, and a third is infinite.
    """
    rng = np.random.default_rng(4)
    settled = 0
    for _ in range(300):
        size = int(rng.integers(2, 36))
        A = rng.normal(size=(int(rng.integers(max(1, size - 8), 3 * size)), size))
        b = 3.0 * rng.normal(size=len(A))
        low = -rng.uniform(0.01, 1.0, size) * (rng.random(size) > 0.33)
        high = rng.uniform(0.01, 1.0, size)
        free = rng.random(size) < 0.33
        low[free], high[free] = -np.inf, np.inf
        damping = 1e-3
        held, step = np.zeros(size, dtype=np.int64), np.zeros(size)

        status = boxed_step(
            A.T @ A, -A.T @ b, damping, np.stack([low, high]), held, np.zeros((size, size)), step
        )

        assert np.all((step >= low) & (step <= high))
        if status == SETTLED:
            settled += 1
            tall = np.vstack([A, np.sqrt(damping) * np.eye(size)])
            wide = np.concatenate([b, np.zeros(size)])
            best = lsq_linear(tall, wide, (low, high), method="bvls", tol=1e-14).x
            np.testing.assert_allclose(step, best, atol=1e-7)
    assert settled >= 295


def test_a_coordinate_without_room_stays_and_the_others_know_it() -> None:
    """½ (x + y − 1)² with x in [0.25, 0.25]: y = 0.75 but for the damping."""
    box = np.array([[0.25, -np.inf], [0.25, np.inf]])
    held, step = np.zeros(2, dtype=np.int64), np.zeros(2)

    status = boxed_step(np.ones((2, 2)), -np.ones(2), 1e-9, box, held, np.zeros((2, 2)), step)

    assert status == SETTLED
    np.testing.assert_allclose(step, [0.25, 0.75], atol=1e-8)
