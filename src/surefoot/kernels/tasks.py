"""Residuals of inverse kinematics at one pose: points, directions and orientations of links.

With the screw S_j of degree of freedom j about pos[1] (kernels.tree), a point p of a link above it
moves by S_j[3:] + S_j[:3] × (p − pos[1]).
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels.rotation import SMALL_ANGLE, as_rotvec, cross, multiply

POINT = 0
DIRECTION = 1
ORIENTATION = 2

RESIDUAL = 0  # how far `measure` goes: only the sum of squares,
GRADIENT = 1  # its gradient too,
NORMAL = 2  # and the normal matrix

SHORTEST_M = 1e-9  # two points nearer than this have no direction: the row is left out


class Tasks(NamedTuple):
    """What is asked of the links, one row a task; goals and weights come frame by frame."""

    kind: np.ndarray
    """POINT, DIRECTION or ORIENTATION."""
    link: np.ndarray
    """Body that is spoken of, and for a direction where it ends."""
    point: np.ndarray
    """Point of that body, in its frame, m."""
    from_link: np.ndarray
    """Body where a direction begins; else 0, the world."""
    from_point: np.ndarray
    """Point of that body, in its frame, m."""
    chain_start: np.ndarray
    """Where the degrees of freedom of each task begin in `chain_dof`; one more entry than tasks."""
    chain_dof: np.ndarray
    """Degrees of freedom that move the task, rising."""
    chain_end_share: np.ndarray
    """1 where the degree of freedom moves `link`, else 0."""
    chain_from_share: np.ndarray
    """1 where it moves `from_link`, else 0."""


@njit(cache=True, nogil=True)
def _point(pos, rot, link, point):
    """A point of a link in the world."""
    r = rot[link]
    return (
        pos[link, 0] + r[0] * point[0] + r[1] * point[1] + r[2] * point[2],
        pos[link, 1] + r[3] * point[0] + r[4] * point[1] + r[5] * point[2],
        pos[link, 2] + r[6] * point[0] + r[7] * point[1] + r[8] * point[2],
    )


@njit(cache=True, nogil=True)
def _moved(pos, screw, j, x, y, z):
    """Velocity of the world point (x, y, z) for unit speed of degree of freedom j."""
    s = screw[j]
    a, b, c = cross(s[0], s[1], s[2], x - pos[1, 0], y - pos[1, 1], z - pos[1, 2])
    return s[3] + a, s[4] + b, s[5] + c


@njit(cache=True, nogil=True)
def _point_rows(tasks, t, pos, rot, screw, goal, weight, residual, rows):
    """Point minus goal and its derivatives."""
    x, y, z = _point(pos, rot, tasks.link[t], tasks.point[t])
    residual[0] = weight[0] * (x - goal[0])
    residual[1] = weight[1] * (y - goal[1])
    residual[2] = weight[2] * (z - goal[2])
    begin = tasks.chain_start[t]
    for k in range(rows.shape[1]):
        a, b, c = _moved(pos, screw, tasks.chain_dof[begin + k], x, y, z)
        rows[0, k] = weight[0] * a
        rows[1, k] = weight[1] * b
        rows[2, k] = weight[2] * c


@njit(cache=True, nogil=True)
def _direction_rows(tasks, t, pos, rot, screw, goal, weight, residual, rows):
    """Chord u − goal of the unit vector between two points; du = (I − uuᵀ)(J_b − J_a)/length."""
    ax, ay, az = _point(pos, rot, tasks.from_link[t], tasks.from_point[t])
    bx, by, bz = _point(pos, rot, tasks.link[t], tasks.point[t])
    length = math.sqrt((bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2)
    if length < SHORTEST_M:
        residual[:] = 0.0
        rows[:] = 0.0
        return
    ux, uy, uz = (bx - ax) / length, (by - ay) / length, (bz - az) / length
    residual[0] = weight[0] * (ux - goal[0])
    residual[1] = weight[1] * (uy - goal[1])
    residual[2] = weight[2] * (uz - goal[2])
    begin = tasks.chain_start[t]
    for k in range(rows.shape[1]):
        j = tasks.chain_dof[begin + k]
        end = tasks.chain_end_share[begin + k] / length
        start = tasks.chain_from_share[begin + k] / length
        px, py, pz = _moved(pos, screw, j, bx, by, bz)
        qx, qy, qz = _moved(pos, screw, j, ax, ay, az)
        dx, dy, dz = end * px - start * qx, end * py - start * qy, end * pz - start * qz
        along = ux * dx + uy * dy + uz * dz
        rows[0, k] = weight[0] * (dx - along * ux)
        rows[1, k] = weight[1] * (dy - along * uy)
        rows[2, k] = weight[2] * (dz - along * uz)


@njit(cache=True, nogil=True)
def _orientation_rows(tasks, t, quat, rot, screw, goal, weight, residual, rows):
    """Rotation vector φ from the goal to the link, in the link's axes; dφ = J_r⁻¹(φ) Rᵀ ω.

    J_r⁻¹(φ) = c I + (1 − c)/θ² φφᵀ + ½ [φ]×, with θ = |φ| and c = θ/2 cot(θ/2).
    """
    link = tasks.link[t]
    w, x, y, z = quat[link, 0], quat[link, 1], quat[link, 2], quat[link, 3]
    ew, ex, ey, ez = multiply(goal[0], -goal[1], -goal[2], -goal[3], w, x, y, z)
    a, b, c = as_rotvec(ew, ex, ey, ez)
    residual[0] = weight[0] * a
    residual[1] = weight[1] * b
    residual[2] = weight[2] * c
    if rows.shape[1] == 0:
        return
    half = 0.5 * math.sqrt(a * a + b * b + c * c)
    even, outer = 1.0 - half * half / 3.0, 1.0 / 12.0
    if half >= SMALL_ANGLE:
        even = half / math.tan(half)
        outer = (1.0 - even) / (4.0 * half * half)
    r = rot[link]
    begin = tasks.chain_start[t]
    for k in range(rows.shape[1]):
        j = tasks.chain_dof[begin + k]
        u, v, s = screw[j, 0], screw[j, 1], screw[j, 2]
        ox = r[0] * u + r[3] * v + r[6] * s
        oy = r[1] * u + r[4] * v + r[7] * s
        oz = r[2] * u + r[5] * v + r[8] * s
        along = outer * (a * ox + b * oy + c * oz)
        px, py, pz = cross(a, b, c, ox, oy, oz)
        rows[0, k] = weight[0] * (even * ox + along * a + 0.5 * px)
        rows[1, k] = weight[1] * (even * oy + along * b + 0.5 * py)
        rows[2, k] = weight[2] * (even * oz + along * c + 0.5 * pz)


@njit(cache=True, nogil=True)
def _rows(tasks, t, pos, quat, rot, screw, goal, weight, residual, rows):
    """The three weighted residuals of a task and as many of their columns as `rows` has."""
    if tasks.kind[t] == POINT:
        _point_rows(tasks, t, pos, rot, screw, goal, weight, residual, rows)
    elif tasks.kind[t] == DIRECTION:
        _direction_rows(tasks, t, pos, rot, screw, goal, weight, residual, rows)
    else:
        _orientation_rows(tasks, t, quat, rot, screw, goal, weight, residual, rows)


@njit(cache=True, nogil=True)
def measure(
    tasks, first, last, goal, weight, pos, quat, rot, screw, depth, residual, rows, gradient, normal
):
    """Sum of the weighted squares of tasks first to last − 1, halved.

    Their gradient is added to `gradient` (nv) and their JᵀJ to the lower triangle of `normal`
    (nv, nv), as far as `depth` asks. `residual` (3) and `rows` (3, nv) are scratch.
    """
    total = 0.0
    for t in range(first, last):
        if weight[t, 0] == 0.0 and weight[t, 1] == 0.0 and weight[t, 2] == 0.0:
            continue
        begin = tasks.chain_start[t]
        size = tasks.chain_start[t + 1] - begin
        wanted = size if depth > RESIDUAL else 0
        _rows(tasks, t, pos, quat, rot, screw, goal[t], weight[t], residual, rows[:, :wanted])
        x, y, z = residual[0], residual[1], residual[2]
        total += x * x + y * y + z * z
        for k in range(wanted):
            i = tasks.chain_dof[begin + k]
            a, b, c = rows[0, k], rows[1, k], rows[2, k]
            gradient[i] += a * x + b * y + c * z
            if depth == NORMAL:
                line = normal[i]
                for m in range(k + 1):
                    line[tasks.chain_dof[begin + m]] += (
                        a * rows[0, m] + b * rows[1, m] + c * rows[2, m]
                    )
    return 0.5 * total
