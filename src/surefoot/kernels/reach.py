"""Damped least squares along a motion: the inner loop of inverse kinematics.

Per frame, Gauss-Newton steps inside the limits; a step is refused, and the damping raised, when it
makes the weighted squares larger (Levenberg). Pins are tasks with a weight far above all others;
after each step they are put back onto their points, so that it may be long.

Scalar joints are spoken of by degree of freedom: `at[d]` is their place in qpos, −1 for the six of
a free root, which then come first in qvel and qpos.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels.box import NOT_POSITIVE, SETTLED, boxed_step
from surefoot.kernels.rotation import from_rotvec, multiply, unit
from surefoot.kernels.tasks import Pose, farthest, measure
from surefoot.kernels.tree import place

REPAIRS = 6  # of the pins after one step; 1 to 3 are usual
PINNED_M = 1e-10  # pins nearer than this need no repair
MET_M = 1e-6  # pins nearer than this are met
WORTHWHILE = 0.7  # of the error before: a repair that leaves more is the last
FIRST_RISE = 1e-4  # of the mean diagonal: damping after the first refusal
RISE, FALL = 10.0, 0.1  # of the damping, where the model promised far too much, and where it held
POOR, GOOD = 0.25, 0.75  # share of the promised decrease that was found
NOISE = 1e-14  # of the squares: a smaller change says nothing


class Joints(NamedTuple):
    """What is known of each degree of freedom."""

    at: np.ndarray  # (nv) place in qpos; −1 for those of a free root
    turns: np.ndarray  # (nv) 1 where it turns, 0 where it slides
    limits: np.ndarray  # (nv, 3) lowest, highest position, largest speed; may be infinite
    posture: np.ndarray  # (nv, 2) position that it is drawn to, and the weight


class Course(NamedTuple):
    """How to walk."""

    iterations: int
    tolerance: float  # converged: no coordinate moves by more, rad or m
    damping: float
    step_cap: float  # largest turn in one step, rad
    warm: bool  # start each frame from the solution before it, else from its own row of `start`


class Room(NamedTuple):
    """Scratch of one frame."""

    rows: np.ndarray
    gradient: np.ndarray  # of the tasks and the posture
    normal: np.ndarray
    drive: np.ndarray  # the same with the pins
    stiff: np.ndarray
    factor: np.ndarray
    held: np.ndarray
    box: np.ndarray  # (2, nv) bounds of the step
    step: np.ndarray
    spare: np.ndarray  # system of a repair, its gradient and its step
    pull: np.ndarray
    way: np.ndarray
    bounds: np.ndarray  # (2, nv) bounds of the positions
    q: np.ndarray
    trial: np.ndarray


def scratch(links: int, nv: int, nq: int) -> tuple[Pose, Room]:
    """Pose and Room of the right sizes: made outside, since numba takes long over allocations."""
    pose = Pose(np.zeros((links, 3)), np.zeros((links, 4)), np.zeros((links, 9)), np.zeros((nv, 6)))
    room = Room(
        rows=np.zeros((3, nv)),
        gradient=np.zeros(nv),
        normal=np.zeros((nv, nv)),
        drive=np.zeros(nv),
        stiff=np.zeros((nv, nv)),
        factor=np.zeros((nv, nv)),
        held=np.zeros(nv, dtype=np.int64),
        box=np.zeros((2, nv)),
        step=np.zeros(nv),
        spare=np.zeros((nv, nv)),
        pull=np.zeros(nv),
        way=np.zeros(nv),
        bounds=np.zeros((2, nv)),
        q=np.zeros(nq),
        trial=np.zeros(nq),
    )
    return pose, room


@njit(cache=True, nogil=True, error_model="numpy")
def _move(at, q, step, bounds, out):
    """The pose after a step in the tangent space, as mj_integratePos has it, inside the bounds."""
    if at[0] < 0:
        for e in range(3):
            out[e] = q[e] + step[e]
        w, x, y, z = from_rotvec(step[3], step[4], step[5])
        w, x, y, z = multiply(q[3], q[4], q[5], q[6], w, x, y, z)
        out[3], out[4], out[5], out[6] = unit(w, x, y, z)
    for d in range(at.shape[0]):
        if at[d] >= 0:
            out[at[d]] = min(max(q[at[d]] + step[d], bounds[0, d]), bounds[1, d])


@njit(cache=True, nogil=True, error_model="numpy")
def _bound(joints, before, dt, bounds):
    """What the joints may reach in a frame: their limits, and their speed for the time dt."""
    for d in range(joints.at.shape[0]):
        low, high, speed = joints.limits[d, 0], joints.limits[d, 1], joints.limits[d, 2]
        if joints.at[d] >= 0 and speed < math.inf and dt > 0.0:
            low = max(low, before[joints.at[d]] - speed * dt)
            high = min(high, before[joints.at[d]] + speed * dt)
        bounds[0, d], bounds[1, d] = low, high


@njit(cache=True, nogil=True, error_model="numpy")
def _lean(joints, q, gradient, normal):
    """Half the squares of the distance to the posture, added to gradient and normal if given."""
    total = 0.0
    for d in range(joints.at.shape[0]):
        if joints.at[d] < 0:
            continue
        square = joints.posture[d, 1] * joints.posture[d, 1]
        off = q[joints.at[d]] - joints.posture[d, 0]
        total += square * off * off
        if gradient.shape[0] > 0:
            gradient[d] += square * off
            normal[d, d] += square
    return 0.5 * total


@njit(cache=True, nogil=True, error_model="numpy")
def _set_box(at, bounds, q, box):
    """What the bounds leave for a step from q."""
    for d in range(at.shape[0]):
        box[0, d], box[1, d] = -math.inf, math.inf
        if at[d] >= 0:
            box[0, d] = bounds[0, d] - q[at[d]]
            box[1, d] = bounds[1, d] - q[at[d]]


@njit(cache=True, nogil=True, error_model="numpy")
def _guess_held(box, gradient, held):
    """First guess of the active set: at a bound, and drawn outwards."""
    for d in range(held.shape[0]):
        held[d] = 0
        if box[0, d] >= 0.0 and gradient[d] > 0.0:
            held[d] = -1
        elif box[1, d] <= 0.0 and gradient[d] < 0.0:
            held[d] = 1


@njit(cache=True, nogil=True, error_model="numpy")
def _repin(tree, pins, joints, goal, weight, damping, pose, room):
    """Bring the pins of room.trial back onto their points; how far they are from them then, m.

    The way there is added to room.step. Newton steps on the pins alone, the shortest in the measure
    of the tasks. The pins' rows are made anew for each: with the old factor, their turn since then
    would be taken for a pull along the free ways.
    """
    before = math.inf
    for _ in range(REPAIRS):
        far = farthest(pins, goal, weight, pose)
        if far < PINNED_M or not far < WORTHWHILE * before:
            return far
        before = far
        for d in range(room.drive.shape[0]):
            room.pull[d] = 0.0
            for k in range(d + 1):
                room.spare[d, k] = room.normal[d, k]
        measure(pins, goal, weight, pose, room.rows, room.pull, room.spare)
        _set_box(joints.at, room.bounds, room.trial, room.box)
        status = boxed_step(
            room.spare, room.pull, damping, room.box, room.held, room.factor, room.way
        )
        if status == NOT_POSITIVE:
            return far
        _move(joints.at, room.trial, room.way, room.bounds, room.trial)
        for d in range(room.step.shape[0]):
            room.step[d] += room.way[d]
        place(tree, room.trial, pose.pos, pose.quat, pose.rot, pose.screw)
    return farthest(pins, goal, weight, pose)


@njit(cache=True, nogil=True, error_model="numpy")
def _shorten(turns, step, cap):
    """Scale the step so that nothing turns by more than the cap; True where that was needed."""
    largest = 0.0
    for d in range(step.shape[0]):
        if turns[d] == 1:
            largest = max(largest, abs(step[d]))
    if largest > cap:
        for d in range(step.shape[0]):
            step[d] *= cap / largest
    return largest > cap


@njit(cache=True, nogil=True, error_model="numpy")
def _is_short(step, tolerance):
    """True where no coordinate moves by more than the tolerance."""
    for d in range(step.shape[0]):
        if abs(step[d]) > tolerance:
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _mean_diagonal(matrix):
    """Mean of the diagonal: how stiff the problem is."""
    total = 0.0
    for d in range(matrix.shape[0]):
        total += matrix[d, d]
    return total / matrix.shape[0]


@njit(cache=True, nogil=True, error_model="numpy")
def _promised(gradient, normal, step):
    """Decrease of half the squares by the step, if all residuals were linear."""
    total = 0.0
    for d in range(step.shape[0]):
        across = gradient[d] + 0.5 * normal[d, d] * step[d]
        for k in range(d):
            across += normal[d, k] * step[k]
        total -= step[d] * across
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _next_damping(damping, share, stiffness, least):
    """Damping of the next step: up where less than promised was found, down where it was."""
    if share < POOR:
        return max(RISE * damping, FIRST_RISE * stiffness)
    return max(FALL * damping, least) if share > GOOD else damping


@njit(cache=True, nogil=True, error_model="numpy")
def _linearise(tasks, pins, joints, goal, weight, spot, hold, pose, room):
    """Write the systems without and with the pins at room.q; the halved squares of both."""
    gradient, normal, drive, stiff = room.gradient, room.normal, room.drive, room.stiff
    gradient[:] = 0.0
    normal[:] = 0.0
    soft = measure(tasks, goal, weight, pose, room.rows, gradient, normal)
    soft += _lean(joints, room.q, gradient, normal)
    for d in range(gradient.shape[0]):
        drive[d] = gradient[d]
        for k in range(d + 1):
            stiff[d, k] = normal[d, k]
    return soft, measure(pins, spot, hold, pose, room.rows, drive, stiff)


@njit(cache=True, nogil=True, error_model="numpy")
def _solve_frame(tree, tasks, pins, joints, course, goal, weight, spot, hold, pose, room):
    """Move room.q to the least squares of one frame; steps tried, and whether they converged."""
    damping, soft, hard, stiffness, fresh = course.damping, 0.0, 0.0, 0.0, True
    step, q, trial = room.step, room.q, room.trial
    nothing, no_matrix = room.gradient[:0], room.normal[:0]
    place(tree, q, pose.pos, pose.quat, pose.rot, pose.screw)
    for i in range(course.iterations):
        if fresh:
            soft, hard = _linearise(tasks, pins, joints, goal, weight, spot, hold, pose, room)
        _set_box(joints.at, room.bounds, q, room.box)
        if i == 0:
            _guess_held(room.box, room.drive, room.held)
        status = boxed_step(room.stiff, room.drive, damping, room.box, room.held, room.factor, step)
        if status == NOT_POSITIVE:
            damping = _next_damping(damping, -1.0, stiffness, course.damping)
            fresh = False
            continue
        cut = _shorten(joints.turns, step, course.step_cap)
        _move(joints.at, q, step, room.bounds, trial)
        place(tree, trial, pose.pos, pose.quat, pose.rot, pose.screw)
        promised = _promised(room.drive, room.stiff, step)
        met = not cut and _repin(tree, pins, joints, spot, hold, damping, pose, room) < MET_M
        soft_there = measure(tasks, goal, weight, pose, room.rows, nothing, no_matrix)
        soft_there += _lean(joints, trial, nothing, no_matrix)
        hard_there = measure(pins, spot, hold, pose, room.rows, nothing, no_matrix)
        found = soft - soft_there + hard - hard_there
        stiffness = _mean_diagonal(room.stiff)
        if met and pins.kind.shape[0] > 0:  # the model knows no repairs: only the tasks judge it
            promised = _promised(room.gradient, room.normal, step) + hard - hard_there
            stiffness = _mean_diagonal(room.normal)
        noise = NOISE * (soft + hard)
        fresh = found >= -noise
        if fresh:
            for a in range(q.shape[0]):
                q[a] = trial[a]
        gentle = damping <= max(stiffness, course.damping)  # else any step is short
        if status == SETTLED and gentle and _is_short(step, course.tolerance):
            return i + 1, True
        if not fresh or promised > noise:
            share = found / promised if fresh else -1.0
            damping = _next_damping(damping, share, stiffness, course.damping)
    return course.iterations, False


@njit(cache=True, nogil=True, error_model="numpy")
def reach(
    tree,
    tasks,
    pins,
    joints,
    course,
    time,
    start,
    goals,
    weights,
    spots,
    holds,
    pose,
    room,
    qpos,
    iterations,
    converged,
    residual,
    missed,
):
    """Solve all frames (n); the last five arrays are written, pose and room are scratch.

    Goals (n, t, 4) and spots (n, p, 4) of tasks and pins: position, direction or quaternion.
    Weights (n or 1, t, 3) and holds (n or 1, p, 3). Start (n or 1, nq).
    """
    for i in range(qpos.shape[0]):
        last = max(i - 1, 0)
        weight = weights[min(i, weights.shape[0] - 1)]
        hold = holds[min(i, holds.shape[0] - 1)]
        _bound(joints, qpos[last], time[i] - time[last], room.bounds)
        room.step[:] = 0.0
        if course.warm and i > 0:
            _move(joints.at, qpos[last], room.step, room.bounds, room.q)
        else:
            given = start[min(i, start.shape[0] - 1)]
            for a in range(given.shape[0]):
                room.q[a] = given[a]
            _move(joints.at, room.q, room.step, room.bounds, room.q)
        iterations[i], converged[i] = _solve_frame(
            tree, tasks, pins, joints, course, goals[i], weight, spots[i], hold, pose, room
        )
        for a in range(room.q.shape[0]):
            qpos[i, a] = room.q[a]
        place(tree, room.q, pose.pos, pose.quat, pose.rot, pose.screw)
        squares = measure(
            tasks, goals[i], weight, pose, room.rows, room.gradient[:0], room.normal[:0]
        )
        residual[i] = math.sqrt(2.0 * squares)
        missed[i] = farthest(pins, spots[i], hold, pose)
