"""Residuals of inverse kinematics at one pose: points, directions and orientations of links.

With the screw S_j of degree of freedom j about pos[1] (kernels.tree), a point p of a link above it
moves by S_j[3:] + S_j[:3] × (p − pos[1]).
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels.rotation import SMALL_ANGLE, as_rotvec, cross, multiply

POINT, DIRECTION, ORIENTATION = 0, 1, 2
SHORTEST_M = 1e-9  # two points nearer than this have no direction: the task is left out


class Tasks(NamedTuple):
    """What is asked of the links, one row a task (t); goals and weights come frame by frame."""

    kind: np.ndarray  # (t) POINT, DIRECTION or ORIENTATION
    link: np.ndarray  # (t) link that is spoken of; for a direction where it ends
    point: np.ndarray  # (t, 3) point of that link, in its frame, m
    from_link: np.ndarray  # (t) link where a direction begins; else 0, the world
    from_point: np.ndarray  # (t, 3) point of that link, in its frame, m
    chain_start: np.ndarray  # (t + 1) where the degrees of freedom of each task begin in chain_dof
    chain_dof: np.ndarray  # (c) degrees of freedom that change the task, rising
    chain_end: np.ndarray  # (c) 1 where the degree of freedom moves `link`, else 0
    chain_from: np.ndarray  # (c) 1 where it moves `from_link`, else 0


class Pose(NamedTuple):
    """Where the links of a tree are: the arrays that kernels.tree.place writes."""

    pos: np.ndarray  # (b, 3)
    quat: np.ndarray  # (b, 4)
    rot: np.ndarray  # (b, 9)
    screw: np.ndarray  # (nv, 6)


@njit(cache=True, nogil=True, error_model="numpy")
def point_about(pos, rot, link, x, y, z):
    """A point of a link in the world, about pos[1]."""
    return (
        pos[link, 0] - pos[1, 0] + rot[link, 0] * x + rot[link, 1] * y + rot[link, 2] * z,
        pos[link, 1] - pos[1, 1] + rot[link, 3] * x + rot[link, 4] * y + rot[link, 5] * z,
        pos[link, 2] - pos[1, 2] + rot[link, 6] * x + rot[link, 7] * y + rot[link, 8] * z,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _point_rows(tasks, t, pos, rot, screw, gx, gy, gz, first, last, rows):
    """Point minus goal, and its derivatives."""
    x, y, z = point_about(
        pos, rot, tasks.link[t], tasks.point[t, 0], tasks.point[t, 1], tasks.point[t, 2]
    )
    for c in range(first, last):
        j = tasks.chain_dof[c]
        dx, dy, dz = cross(screw[j, 0], screw[j, 1], screw[j, 2], x, y, z)
        rows[0, c - first] = screw[j, 3] + dx
        rows[1, c - first] = screw[j, 4] + dy
        rows[2, c - first] = screw[j, 5] + dz
    return x + pos[1, 0] - gx, y + pos[1, 1] - gy, z + pos[1, 2] - gz


@njit(cache=True, nogil=True, error_model="numpy")
def _direction_rows(tasks, t, pos, rot, screw, gx, gy, gz, first, last, rows):
    """Chord u − goal of the unit vector between two points; du = (I − uuᵀ)(J_b − J_a)/length."""
    ax, ay, az = point_about(
        pos,
        rot,
        tasks.from_link[t],
        tasks.from_point[t, 0],
        tasks.from_point[t, 1],
        tasks.from_point[t, 2],
    )
    bx, by, bz = point_about(
        pos, rot, tasks.link[t], tasks.point[t, 0], tasks.point[t, 1], tasks.point[t, 2]
    )
    ux, uy, uz = bx - ax, by - ay, bz - az
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    if length < SHORTEST_M:
        rows[:, : last - first] = 0.0
        return 0.0, 0.0, 0.0
    ux, uy, uz = ux / length, uy / length, uz / length
    for c in range(first, last):
        j = tasks.chain_dof[c]
        end, start = tasks.chain_end[c] / length, tasks.chain_from[c] / length
        dx, dy, dz = cross(
            screw[j, 0],
            screw[j, 1],
            screw[j, 2],
            end * bx - start * ax,
            end * by - start * ay,
            end * bz - start * az,
        )
        dx += (end - start) * screw[j, 3]
        dy += (end - start) * screw[j, 4]
        dz += (end - start) * screw[j, 5]
        along = ux * dx + uy * dy + uz * dz
        rows[0, c - first] = dx - along * ux
        rows[1, c - first] = dy - along * uy
        rows[2, c - first] = dz - along * uz
    return ux - gx, uy - gy, uz - gz


@njit(cache=True, nogil=True, error_model="numpy")
def _orientation_rows(tasks, t, quat, rot, screw, gw, gx, gy, gz, first, last, rows):
    """Rotation vector φ from the goal to the link, in the link's axes; dφ = J_r⁻¹(φ) Rᵀ ω.

    J_r⁻¹(φ) = c I + (1 − c)/θ² φφᵀ + ½ [φ]×, with θ = |φ| and c = θ/2 cot(θ/2).
    """
    link = tasks.link[t]
    w, x, y, z = multiply(
        gw, -gx, -gy, -gz, quat[link, 0], quat[link, 1], quat[link, 2], quat[link, 3]
    )
    a, b, c = as_rotvec(w, x, y, z)
    half = 0.5 * math.sqrt(a * a + b * b + c * c)
    even, outer = 1.0 - half * half / 3.0, 1.0 / 12.0
    if half >= SMALL_ANGLE and last > first:
        even = half / math.tan(half)
        outer = (1.0 - even) / (4.0 * half * half)
    for k in range(first, last):
        j = tasks.chain_dof[k]
        sx, sy, sz = screw[j, 0], screw[j, 1], screw[j, 2]
        ox = rot[link, 0] * sx + rot[link, 3] * sy + rot[link, 6] * sz
        oy = rot[link, 1] * sx + rot[link, 4] * sy + rot[link, 7] * sz
        oz = rot[link, 2] * sx + rot[link, 5] * sy + rot[link, 8] * sz
        along = outer * (a * ox + b * oy + c * oz)
        px, py, pz = cross(a, b, c, ox, oy, oz)
        rows[0, k - first] = even * ox + along * a + 0.5 * px
        rows[1, k - first] = even * oy + along * b + 0.5 * py
        rows[2, k - first] = even * oz + along * c + 0.5 * pz
    return a, b, c


@njit(cache=True, nogil=True, error_model="numpy")
def _add_rows(dofs, first, last, rows, x, y, z, gradient, normal):
    """Add Jᵀr to the gradient and, where it has rows, JᵀJ to the lower triangle of `normal`."""
    for c in range(last - first):
        i = dofs[first + c]
        a, b, d = rows[0, c], rows[1, c], rows[2, c]
        gradient[i] += a * x + b * y + d * z
        if normal.shape[0] > 0:
            for m in range(c + 1):
                k = dofs[first + m]
                normal[i, k] += a * rows[0, m] + b * rows[1, m] + d * rows[2, m]


@njit(cache=True, nogil=True, error_model="numpy")
def measure(tasks, goal, weight, pose, rows, gradient, normal):
    """Half the sum of the weighted squares of all tasks at a pose.

    Their gradient is added to `gradient` (nv) and JᵀJ to the lower triangle of `normal` (nv, nv);
    where one is given with no length, it is left out. `rows` (3, nv) is scratch.
    """
    total = 0.0
    pos, quat, rot, screw = pose
    for t in range(tasks.kind.shape[0]):
        wx, wy, wz = weight[t, 0], weight[t, 1], weight[t, 2]
        if wx == 0.0 and wy == 0.0 and wz == 0.0:
            continue
        kind, first = tasks.kind[t], tasks.chain_start[t]
        last = tasks.chain_start[t + 1] if gradient.shape[0] > 0 else first
        ga, gb, gc = goal[t, 0], goal[t, 1], goal[t, 2]
        if kind == POINT:
            x, y, z = _point_rows(tasks, t, pos, rot, screw, ga, gb, gc, first, last, rows)
        elif kind == DIRECTION:
            x, y, z = _direction_rows(tasks, t, pos, rot, screw, ga, gb, gc, first, last, rows)
        else:
            x, y, z = _orientation_rows(
                tasks, t, quat, rot, screw, ga, gb, gc, goal[t, 3], first, last, rows
            )
        x, y, z = wx * x, wy * y, wz * z
        total += x * x + y * y + z * z
        for c in range(last - first):
            rows[0, c] *= wx
            rows[1, c] *= wy
            rows[2, c] *= wz
        _add_rows(tasks.chain_dof, first, last, rows, x, y, z, gradient, normal)
    return 0.5 * total


@njit(cache=True, nogil=True, error_model="numpy")
def farthest(tasks, goal, weight, pose):
    """Largest distance of a point task of any weight from its goal, m."""
    largest = 0.0
    pos = pose.pos
    for t in range(tasks.kind.shape[0]):
        if weight[t, 0] > 0.0:
            x, y, z = point_about(
                pos,
                pose.rot,
                tasks.link[t],
                tasks.point[t, 0],
                tasks.point[t, 1],
                tasks.point[t, 2],
            )
            x += pos[1, 0] - goal[t, 0]
            y += pos[1, 1] - goal[t, 1]
            z += pos[1, 2] - goal[t, 2]
            largest = max(largest, math.sqrt(x * x + y * y + z * z))
    return largest
