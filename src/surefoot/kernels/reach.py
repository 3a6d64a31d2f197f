"""Damped least squares along a motion: the inner loop of inverse kinematics.

Per frame, Gauss-Newton steps inside the limits; a step is refused, and the damping raised, when it
makes the weighted squares larger (Levenberg). Pins are rows of a weight far above all others; after
each step they are put back onto their points with the same factor, so that a step may be long.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels.box import back_substitute, boxed_step
from surefoot.kernels.rotation import from_rotvec, multiply, unit
from surefoot.kernels.tasks import GRADIENT, NORMAL, RESIDUAL, Tasks, measure
from surefoot.kernels.tree import FREE, Tree, place

REPAIRS = 8  # of the pins after one step; each divides their error by ten to a thousand
PINNED_M = 1e-9  # pins nearer than this are left alone
FIRST_RISE = 1e-4  # of the mean diagonal: damping after the first refusal
RISE, FALL = 10.0, 0.1  # of the damping, after a refusal and after an accepted step


class Problem(NamedTuple):
    """What is the same in all frames."""

    tree: Tree
    tasks: Tasks
    soft: int
    """Number of tasks that are weighted; those after them are pins."""
    pin_weight: float
    limits: np.ndarray
    """Per degree of freedom (nv, 3): lowest and highest position, largest speed; may be infinite."""
    posture: np.ndarray
    """Per degree of freedom (nv, 2): reference position and weight."""
    iterations: int
    tolerance: float
    """A frame has converged when a step moves no coordinate by more, rad or m."""
    damping: float
    step_cap: float
    """Largest turn in one step, rad."""
    warm: bool
    """Start each frame from the solution before it, else from its own row of `start`."""


class Room(NamedTuple):
    """Scratch for one frame."""

    pos: np.ndarray
    quat: np.ndarray
    rot: np.ndarray
    screw: np.ndarray
    residual: np.ndarray
    rows: np.ndarray
    gradient: np.ndarray
    normal: np.ndarray
    factor: np.ndarray
    held: np.ndarray
    low: np.ndarray
    high: np.ndarray
    step: np.ndarray
    pull: np.ndarray
    bounds: np.ndarray
    q: np.ndarray
    trial: np.ndarray


@njit(cache=True, nogil=True)
def _room(links, nv, nq):
    """Scratch of the right sizes."""
    return Room(
        np.zeros((links, 3)),
        np.zeros((links, 4)),
        np.zeros((links, 9)),
        np.zeros((nv, 6)),
        np.zeros(3),
        np.zeros((3, nv)),
        np.zeros(nv),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros(nv, dtype=np.int64),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros((nv, 2)),
        np.zeros(nq),
        np.zeros(nq),
    )


@njit(cache=True, nogil=True)
def _moved(tree, q, step, bounds, out):
    """The pose after a step in the tangent space, as mj_integratePos has it, inside the bounds."""
    for j in range(tree.joint_kind.shape[0]):
        a, d = tree.joint_qpos[j], tree.joint_dof[j]
        if tree.joint_kind[j] == FREE:
            for e in range(3):
                out[a + e] = q[a + e] + step[d + e]
            w, x, y, z = from_rotvec(step[d + 3], step[d + 4], step[d + 5])
            w, x, y, z = multiply(q[a + 3], q[a + 4], q[a + 5], q[a + 6], w, x, y, z)
            out[a + 3], out[a + 4], out[a + 5], out[a + 6] = unit(w, x, y, z)
        else:
            out[a] = min(max(q[a] + step[d], bounds[d, 0]), bounds[d, 1])


@njit(cache=True, nogil=True)
def _set_bounds(problem, before, dt, bounds):
    """What the joints may reach in this frame: their limits, and their speed times dt."""
    tree = problem.tree
    for j in range(tree.joint_kind.shape[0]):
        a, d = tree.joint_qpos[j], tree.joint_dof[j]
        low, high, speed = problem.limits[d]
        if speed < np.inf and dt > 0.0:
            low = max(low, before[a] - speed * dt)
            high = min(high, before[a] + speed * dt)
        bounds[d, 0], bounds[d, 1] = low, high


@njit(cache=True, nogil=True)
def _set_box(tree, q, bounds, low, high):
    """What is left of the bounds for a step from q."""
    for j in range(tree.joint_kind.shape[0]):
        a, d = tree.joint_qpos[j], tree.joint_dof[j]
        if tree.joint_kind[j] == FREE:
            low[d : d + 6] = -np.inf
            high[d : d + 6] = np.inf
        else:
            low[d] = bounds[d, 0] - q[a]
            high[d] = bounds[d, 1] - q[a]


@njit(cache=True, nogil=True)
def _squares(problem, first, last, goal, weight, depth, room):
    """Half the squares of tasks first to last − 1 at the pose last placed."""
    return measure(
        problem.tasks,
        first,
        last,
        goal,
        weight,
        room.pos,
        room.quat,
        room.rot,
        room.screw,
        depth,
        room.residual,
        room.rows,
        room.gradient if depth == NORMAL else room.pull,
        room.normal,
    )


@njit(cache=True, nogil=True)
def _posture(problem, q, depth, room):
    """Half the squares of weight times (q − reference) of the scalar joints."""
    tree, total = problem.tree, 0.0
    for j in range(tree.joint_kind.shape[0]):
        if tree.joint_kind[j] == FREE:
            continue
        d = tree.joint_dof[j]
        square = problem.posture[d, 1] ** 2
        off = q[tree.joint_qpos[j]] - problem.posture[d, 0]
        total += square * off * off
        if depth == NORMAL:
            room.gradient[d] += square * off
            room.normal[d, d] += square
    return 0.5 * total


@njit(cache=True, nogil=True)
def _place(problem, q, room):
    """Put the links where q has them."""
    place(problem.tree, q, room.pos, room.quat, room.rot, room.screw)


@njit(cache=True, nogil=True)
def _linearise(problem, q, goal, weight, room):
    """Write gradient and normal matrix at q, where the links have been placed."""
    room.gradient[:] = 0.0
    room.normal[:] = 0.0
    _squares(problem, 0, weight.shape[0], goal, weight, NORMAL, room)
    _posture(problem, q, NORMAL, room)


@njit(cache=True, nogil=True)
def _cost(problem, q, goal, weight, room):
    """Half of all weighted squares at q, where the links have been placed."""
    tasks = _squares(problem, 0, weight.shape[0], goal, weight, RESIDUAL, room)
    return tasks + _posture(problem, q, RESIDUAL, room)


@njit(cache=True, nogil=True)
def _repin(problem, goal, weight, room):
    """Bring the pins of room.trial back onto their points; the way there is added to room.step."""
    enough = 0.5 * (problem.pin_weight * PINNED_M) ** 2
    before = np.inf
    for _ in range(REPAIRS):
        _place(problem, room.trial, room)
        room.pull[:] = 0.0
        off = _squares(problem, problem.soft, weight.shape[0], goal, weight, GRADIENT, room)
        if off <= enough or not off < 0.5 * before:
            return
        before = off
        for j in range(room.pull.shape[0]):
            room.pull[j] = -room.pull[j] if room.held[j] == 0 else 0.0
        back_substitute(room.factor, room.pull)
        _moved(problem.tree, room.trial, room.pull, room.bounds, room.trial)
        for j in range(room.pull.shape[0]):
            room.step[j] += room.pull[j]


@njit(cache=True, nogil=True)
def _shorten(tree, step, cap):
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
def _is_short(step, tolerance):
    """True where no coordinate moves by as much as the tolerance."""
    for j in range(step.shape[0]):
        if not abs(step[j]) < tolerance:
            return False
    return True


@njit(cache=True, nogil=True)
def _mean_diagonal(matrix):
    """Mean of the diagonal."""
    total = 0.0
    for j in range(matrix.shape[0]):
        total += matrix[j, j]
    return total / matrix.shape[0]


@njit(cache=True, nogil=True)
def _hold_at_limits(room):
    """First guess of the active set: joints at a limit that the gradient drives outwards."""
    for j in range(room.held.shape[0]):
        room.held[j] = 0
        if room.low[j] >= 0.0 and room.gradient[j] > 0.0:
            room.held[j] = -1
        elif room.high[j] <= 0.0 and room.gradient[j] < 0.0:
            room.held[j] = 1


@njit(cache=True, nogil=True)
def _try_step(problem, goal, weight, pinned, damping, room):
    """Write room.trial; the cost there, infinite where there is no step."""
    if not boxed_step(
        room.normal,
        room.gradient,
        damping,
        room.low,
        room.high,
        room.held,
        room.factor,
        room.step,
    ):
        return np.inf
    cut = _shorten(problem.tree, room.step, problem.step_cap)
    _moved(problem.tree, room.q, room.step, room.bounds, room.trial)
    if pinned and not cut:
        _repin(problem, goal, weight, room)
    _place(problem, room.trial, room)
    return _cost(problem, room.trial, goal, weight, room)


@njit(cache=True, nogil=True)
def _solve_frame(problem, goal, weight, pinned, room):
    """Move room.q to the least squares of one frame; iterations made and whether it converged."""
    _place(problem, room.q, room)
    cost = _cost(problem, room.q, goal, weight, room)
    damping, fresh = problem.damping, True
    for i in range(problem.iterations):
        if fresh:
            _linearise(problem, room.q, goal, weight, room)
            _set_box(problem.tree, room.q, room.bounds, room.low, room.high)
            if i == 0:
                _hold_at_limits(room)
        new = _try_step(problem, goal, weight, pinned, damping, room)
        done = damping <= problem.damping and _is_short(room.step, problem.tolerance)
        fresh = new <= cost
        if fresh:
            room.q[:] = room.trial
            cost = new
            damping = max(damping * FALL, problem.damping)
        else:
            damping = max(damping * RISE, FIRST_RISE * _mean_diagonal(room.normal))
        if done:
            return i + 1, True
    return problem.iterations, False


@njit(cache=True, nogil=True)
def _largest_miss(problem, goal, weight, room):
    """Largest distance of an active pin from its point, m."""
    largest = 0.0
    for t in range(problem.soft, weight.shape[0]):
        off = _squares(problem, t, t + 1, goal, weight, RESIDUAL, room)
        largest = max(largest, np.sqrt(2.0 * off) / problem.pin_weight)
    return largest


@njit(cache=True, nogil=True)
def reach(problem, time, start, goals, weights, qpos, iterations, converged, residual, missed):
    """Solve all frames; everything after `weights` is written.

    Goals (n, t, 4): position, direction, or quaternion of each task. Weights (n or 1, t, 3). Start
    (n or 1, nq); with one row every frame that is not warm starts there.
    """
    tree = problem.tree
    tasks = problem.tasks.kind.shape[0]
    room = _room(tree.link_parent.shape[0], tree.dof_link.shape[0], qpos.shape[1])
    for i in range(qpos.shape[0]):
        goal = goals[i]
        weight = weights[min(i, weights.shape[0] - 1)]
        before = qpos[max(i - 1, 0)]
        dt = time[i] - time[max(i - 1, 0)]
        _set_bounds(problem, before, dt, room.bounds)
        given = start[min(i, start.shape[0] - 1)]
        room.step[:] = 0.0
        if problem.warm and i > 0:
            _moved(tree, before, room.step, room.bounds, room.q)
        else:
            _moved(tree, given, room.step, room.bounds, room.q)
        pinned = False
        for t in range(problem.soft, tasks):
            pinned = pinned or weight[t, 0] > 0.0
        count, met = _solve_frame(problem, goal, weight, pinned, room)
        qpos[i, :] = room.q
        iterations[i] = count
        converged[i] = met
        _place(problem, room.q, room)
        residual[i] = np.sqrt(2.0 * _squares(problem, 0, problem.soft, goal, weight, RESIDUAL, room))
        missed[i] = _largest_miss(problem, goal, weight, room)
