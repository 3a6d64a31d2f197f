"""Damped least squares along a motion: the inner loop of inverse kinematics.

Per frame, the Gauss-Newton step d of the weighted squares is found inside its box,

    min ½ dᵀ (JᵀJ + δ I) d + gᵀ d,  low − q ≤ d ≤ high − q,

by an active set; it is refused, and δ raised, when it makes the squares larger (Levenberg). Pins
are rows of a weight far above all others; after each step they are put back onto their points with
the same factor, so that the step along them can be long.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels.rotation import from_rotvec, multiply, unit
from surefoot.kernels.tasks import GRADIENT, NORMAL, RESIDUAL, measure
from surefoot.kernels.tree import FREE, HINGE, SLIDE, place

PASSES = 12  # of the active set on one step; 2 to 4 are usual
RELEASING_PASSES = 6  # after these, limits are only added: a set that alternates must end
REPAIRS = 6  # of the pins after one step; each divides the error by ten to a thousand
PINNED_M = 1e-10  # a pin nearer than this is left alone
REFUSED_DAMPING = 1e-4  # of the mean diagonal: δ after the first refusal
DAMPING_RISE = 10.0
DAMPING_FALL = 0.1


class Course(NamedTuple):
    """How to walk over the frames."""

    soft: int
    """Number of tasks that are weighted; those after them are pins."""
    iterations: int
    warm: int
    """1: each frame starts from the solution before it; 0: from its own row of `start`."""
    tolerance: float
    """A frame has converged when no coordinate moves by more, rad or m."""
    damping: float
    step_cap: float
    """Largest turn of one step, rad."""


class Room(NamedTuple):
    """Scratch for one pose."""

    pos: np.ndarray
    quat: np.ndarray
    rot: np.ndarray
    screw: np.ndarray
    residual: np.ndarray
    rows: np.ndarray


@njit(cache=True, nogil=True)
def _factorise(matrix):
    """A = LᵀL in place of the lower triangle of A, last row first; False where A is not positive.

    From the leaves to the root nothing fills in that no task couples, and zeros are skipped.
    """
    for j in range(matrix.shape[0] - 1, -1, -1):
        line = matrix[j]
        if not line[j] > 0.0:
            return False
        share = 1.0 / math.sqrt(line[j])
        for k in range(j + 1):
            line[k] *= share
        for i in range(j):
            factor = line[i]
            if factor != 0.0:
                target = matrix[i]
                for k in range(i + 1):
                    target[k] -= factor * line[k]
    return True


@njit(cache=True, nogil=True)
def _solve(factor, x):
    """Solve LᵀL x = b in place of b."""
    size = x.shape[0]
    for j in range(size - 1, -1, -1):
        x[j] /= factor[j, j]
        value = x[j]
        for k in range(j):
            x[k] -= factor[j, k] * value
    for j in range(size):
        value = x[j]
        for k in range(j):
            value -= factor[j, k] * x[k]
        x[j] = value / factor[j, j]


@njit(cache=True, nogil=True)
def _held_system(normal, gradient, damping, low, high, held, factor, step):
    """The system of the degrees of freedom that are not held, the others at their bound."""
    size = step.shape[0]
    for i in range(size):
        step[i] = -gradient[i]
        for k in range(i + 1):
            factor[i, k] = normal[i, k]
        factor[i, i] += damping
    for j in range(size):
        if held[j] == 0:
            continue
        bound = low[j] if held[j] < 0 else high[j]
        for k in range(size):
            if k < j:
                step[k] -= factor[j, k] * bound
                factor[j, k] = 0.0
            elif k > j:
                step[k] -= factor[k, j] * bound
                factor[k, j] = 0.0
        factor[j, j] = 1.0
    for j in range(size):
        if held[j] != 0:
            step[j] = low[j] if held[j] < 0 else high[j]


@njit(cache=True, nogil=True)
def _pull(normal, gradient, damping, step, j):
    """Derivative of the quadratic model at the step along degree of freedom j."""
    value = gradient[j] + damping * step[j]
    for k in range(step.shape[0]):
        value += (normal[j, k] if k <= j else normal[k, j]) * step[k]
    return value


@njit(cache=True, nogil=True)
def _boxed_step(normal, gradient, damping, low, high, held, factor, step):
    """The best step inside low..high; `held` (−1 at low, 1 at high) is the active set."""
    for p in range(PASSES):
        _held_system(normal, gradient, damping, low, high, held, factor, step)
        if not _factorise(factor):
            return False
        _solve(factor, step)
        changed = False
        for j in range(step.shape[0]):
            if held[j] == 0:
                if step[j] < low[j]:
                    held[j] = -1
                    changed = True
                elif step[j] > high[j]:
                    held[j] = 1
                    changed = True
            elif p < RELEASING_PASSES and low[j] < high[j]:
                if held[j] * _pull(normal, gradient, damping, step, j) > 0.0:
                    held[j] = 0
                    changed = True
        if not changed:
            break
    for j in range(step.shape[0]):
        step[j] = min(max(step[j], low[j]), high[j])
    return True


@njit(cache=True, nogil=True)
def _shortened(tree, step, cap):
    """Scale the step so that nothing turns by more than the cap; True where that was needed."""
    largest = 0.0
    for j in range(step.shape[0]):
        if tree.dof_turns[j] == 1:
            largest = max(largest, abs(step[j]))
    if largest <= cap:
        return False
    for j in range(step.shape[0]):
        step[j] *= cap / largest
    return True


@njit(cache=True, nogil=True)
def _moved(tree, q, step, limits, out):
    """The pose q after a step in the tangent space (as mj_integratePos), inside the limits."""
    for j in range(tree.joint_kind.shape[0]):
        a, d = tree.joint_qpos[j], tree.joint_dof[j]
        if tree.joint_kind[j] == FREE:
            for e in range(3):
                out[a + e] = q[a + e] + step[d + e]
            w, x, y, z = from_rotvec(step[d + 3], step[d + 4], step[d + 5])
            w, x, y, z = multiply(q[a + 3], q[a + 4], q[a + 5], q[a + 6], w, x, y, z)
            out[a + 3], out[a + 4], out[a + 5], out[a + 6] = unit(w, x, y, z)
        else:
            out[a] = min(max(q[a] + step[d], limits[d, 0]), limits[d, 1])


@njit(cache=True, nogil=True)
def _room_left(tree, q, limits, low, high):
    """Bounds of the step: what is left of the limits."""
    for j in range(tree.joint_kind.shape[0]):
        a, d = tree.joint_qpos[j], tree.joint_dof[j]
        if tree.joint_kind[j] == FREE:
            low[d : d + 6] = -np.inf
            high[d : d + 6] = np.inf
        else:
            low[d] = min(limits[d, 0] - q[a], 0.0)
            high[d] = max(limits[d, 1] - q[a], 0.0)


@njit(cache=True, nogil=True)
def _posture(tree, posture, q, depth, gradient, normal):
    """Half the squares of w (q − reference) of the scalar joints; `posture` (nv, 2): those two."""
    total = 0.0
    for j in range(tree.joint_kind.shape[0]):
        d = tree.joint_dof[j]
        square = posture[d, 1] * posture[d, 1]
        if tree.joint_kind[j] == FREE or square == 0.0:
            continue
        off = q[tree.joint_qpos[j]] - posture[d, 0]
        total += square * off * off
        if depth == NORMAL:
            gradient[d] += square * off
            normal[d, d] += square
    return 0.5 * total


@njit(cache=True, nogil=True)
def _cost(tree, tasks, course, goal, weight, posture, q, depth, room, gradient, normal):
    """Half of all weighted squares at pose q; with depth NORMAL also their gradient and JᵀJ."""
    if depth == NORMAL:
        gradient[:] = 0.0
        normal[:] = 0.0
    else:
        place(tree, q, room.pos, room.quat, room.rot, room.screw)
    count = tasks.kind.shape[0]
    total = measure(
        tasks,
        0,
        count,
        goal,
        weight,
        room.pos,
        room.quat,
        room.rot,
        room.screw,
        depth,
        room.residual,
        room.rows,
        gradient,
        normal,
    )
    return total + _posture(tree, posture, q, depth, gradient, normal)


@njit(cache=True, nogil=True)
def _pin_cost(tree, tasks, course, goal, weight, q, room, gradient, normal):
    """Half the weighted squares of the pins at pose q, and their gradient."""
    place(tree, q, room.pos, room.quat, room.rot, room.screw)
    gradient[:] = 0.0
    return measure(
        tasks,
        course.soft,
        tasks.kind.shape[0],
        goal,
        weight,
        room.pos,
        room.quat,
        room.rot,
        room.screw,
        GRADIENT,
        room.residual,
        room.rows,
        gradient,
        normal,
    )


@njit(cache=True, nogil=True)
def _repinned(tree, tasks, course, goal, weight, limits, held, factor, room, scratch, q, step):
    """Bring the pins back onto their points with the factor at hand; adds the way to the step."""
    pull, trial, normal = scratch
    enough = 0.5 * (course.pin_weight * PINNED_M) ** 2
    error = _pin_cost(tree, tasks, course, goal, weight, q, room, pull, normal)
    for _ in range(REPAIRS):
        if error <= enough:
            return
        for j in range(pull.shape[0]):
            pull[j] = -pull[j] if held[j] == 0 else 0.0
        _solve(factor, pull)
        _moved(tree, q, pull, limits, trial)
        for j in range(pull.shape[0]):
            step[j] += pull[j]
        better = _pin_cost(tree, tasks, course, goal, weight, trial, room, pull, normal)
        ...
