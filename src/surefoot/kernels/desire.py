"""Accelerations that a tracking controller asks for: of all degrees of freedom, and of the feet.

Equations (2) to (5) of Yamane and Hodgins. A foot is a link that ever stands; its six rows are the
acceleration of a point of it, then its angular acceleration, world axes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels import rotation
from surefoot.kernels.body import jacobian
from surefoot.kernels.dense import factorise, solve_in_place
from surefoot.kernels.tree import FREE

SWINGS, STANDS, PIVOTS, LANDS, SLIDES = 0, 1, 2, 3, 4  # what a foot does


class Feet(NamedTuple):
    """Feet k, and six rows a foot."""

    link: np.ndarray  # (k) number of the link
    does: np.ndarray  # (k) SWINGS, STANDS, PIVOTS on a point or an edge, LANDS, SLIDES
    slot: np.ndarray  # (k) which of the carrying feet it is, -1 where it carries nothing
    normal: np.ndarray  # (k, 3) of the ground under it
    point: np.ndarray  # (k, 3) the point spoken of, world, m
    jac: np.ndarray  # (6 k, d)
    drift: np.ndarray  # (6 k) acceleration with q̈ = 0
    wanted: np.ndarray  # (6 k)
    weight: np.ndarray  # (6 k) W_c
    normal_matrix: np.ndarray  # (6 k, 6 k) J Jᵀ + damping, factorised
    rest: np.ndarray  # (6 k)


class Gains(NamedTuple):
    """Feedback by degree of freedom d, and of the feet."""

    kp: np.ndarray  # (d) 1/s²
    kd: np.ndarray  # (d) 1/s
    low: np.ndarray  # (d) position limits, −inf where none
    high: np.ndarray  # (d)
    limit_rate: float  # 1/s
    swing_kp: float
    swing_kd: float
    stance_kd: float
    landing: float  # m/s
    damping: float  # of the inverse in (5), squared
    stance_weight: float
    swing_weight: float


def feet_room(link: np.ndarray, dofs: int) -> Feet:
    """The arrays of the feet on these links of a tree."""
    k = len(link)
    return Feet(
        link=np.ascontiguousarray(link, dtype=np.int64),
        does=np.zeros(k, dtype=np.int64),
        slot=np.full(k, -1, dtype=np.int64),
        normal=np.zeros((k, 3)),
        point=np.zeros((k, 3)),
        jac=np.zeros((6 * k, dofs)),
        drift=np.zeros(6 * k),
        wanted=np.zeros(6 * k),
        weight=np.zeros(6 * k),
        normal_matrix=np.zeros((6 * k, 6 * k)),
        rest=np.zeros(6 * k),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def feedback(tree, state, target, gains, out):
    """(2): q̈̂ = q̈_ref + k_d (q̇_ref − q̇) + k_p (q_ref − q), for all degrees of freedom.

    State and target are qpos, qvel, and for the target qacc. Angular parts of a free joint are in
    the body's axes, as the engine's are.
    """
    q, v = state
    q_ref, v_ref, a_ref = target
    for j in range(tree.joint_kind.shape[0]):
        a, d = tree.joint_qpos[j], tree.joint_dof[j]
        if tree.joint_kind[j] != FREE:
            out[d] = a_ref[d] + gains.kd[d] * (v_ref[d] - v[d]) + gains.kp[d] * (q_ref[a] - q[a])
            continue
        for e in range(d, d + 3):
            error = q_ref[a + e - d] - q[a + e - d]
            out[e] = a_ref[e] + gains.kd[e] * (v_ref[e] - v[e]) + gains.kp[e] * error
        w, x, y, z = rotation.unit(q[a + 3], q[a + 4], q[a + 5], q[a + 6])
        rw, rx, ry, rz = rotation.unit(q_ref[a + 3], q_ref[a + 4], q_ref[a + 5], q_ref[a + 6])
        tw, tx, ty, tz = rotation.multiply(w, -x, -y, -z, rw, rx, ry, rz)
        error = rotation.as_rotvec(tw, tx, ty, tz)
        fast = rotation.rotate(tw, tx, ty, tz, v_ref[d + 3], v_ref[d + 4], v_ref[d + 5])
        push = rotation.rotate(tw, tx, ty, tz, a_ref[d + 3], a_ref[d + 4], a_ref[d + 5])
        for i in range(3):
            e = d + 3 + i
            out[e] = push[i] + gains.kd[e] * (fast[i] - v[e]) + gains.kp[e] * error[i]


@njit(cache=True, nogil=True, error_model="numpy")
def keep_limits(tree, state, gains, acc):
    """Bound accelerations so that no joint runs past its limits.

    With the rate r both bounds are critically damped: r² (limit − q) − 2 r q̇.
    """
    q, v = state
    rate = gains.limit_rate
    for j in range(tree.joint_kind.shape[0]):
        if tree.joint_kind[j] == FREE:
            continue
        d, value = tree.joint_dof[j], q[tree.joint_qpos[j]]
        high = rate * rate * (gains.high[d] - value) - 2.0 * rate * v[d]
        low = rate * rate * (gains.low[d] - value) - 2.0 * rate * v[d]
        acc[d] = min(max(acc[d], low), high)


@njit(cache=True, nogil=True, error_model="numpy")
def measure_feet(tree, body, target, gains, feet):
    """Jacobians, drifts, wanted accelerations and weights of all feet.

    The target is the poses, velocities and accelerations of all links, the last two of the origins.
    """
    for k in range(feet.link.shape[0]):
        b, does = feet.link[k], feet.does[k]
        row = 6 * k
        if does != PIVOTS:
            for e in range(3):
                feet.point[k, e] = body.pos[b, e]
        px, py, pz = feet.point[k, 0], feet.point[k, 1], feet.point[k, 2]
        jacobian(tree, body, b, px, py, pz, feet.jac[row : row + 6])
        _drift(body, b, px, py, pz, feet.drift[row : row + 6])
        _wish(body, target, gains, feet, k)


@njit(cache=True, nogil=True, error_model="numpy")
def _drift(body, b, px, py, pz, out):
    """J̇ q̇ of a point of a link."""
    a, v = body.drift[b], body.vel[b]
    rx, ry, rz = px - body.pos[b, 0], py - body.pos[b, 1], pz - body.pos[b, 2]
    tx, ty, tz = rotation.cross(v[3], v[4], v[5], rx, ry, rz)
    cx, cy, cz = rotation.cross(v[3], v[4], v[5], tx, ty, tz)
    ax, ay, az = rotation.cross(a[3], a[4], a[5], rx, ry, rz)
    out[0], out[1], out[2] = a[0] + ax + cx, a[1] + ay + cy, a[2] + az + cz
    out[3], out[4], out[5] = a[3], a[4], a[5]


@njit(cache=True, nogil=True, error_model="numpy")
def _wish(body, target, gains, feet, k):
    """r̈̂ of one foot: what stands is kept still, what swings follows its reference."""
    pos, quat, vel, acc = target
    b, does, row = feet.link[k], feet.does[k], 6 * k
    wanted, weight = feet.wanted[row : row + 6], feet.weight[row : row + 6]
    follows = does == SWINGS or does == SLIDES
    heavy = gains.swing_weight if does == SWINGS else gains.stance_weight
    w, x, y, z = body.quat[b, 0], body.quat[b, 1], body.quat[b, 2], body.quat[b, 3]
    tw, tx, ty, tz = rotation.multiply(
        quat[b, 0], quat[b, 1], quat[b, 2], quat[b, 3], w, -x, -y, -z
    )
    turn = rotation.as_rotvec(tw, tx, ty, tz)
    for e in range(3):
        if follows:
            error, slow = pos[b, e] - body.pos[b, e], vel[b, e] - body.vel[b, e]
            wanted[e] = acc[b, e] + gains.swing_kd * slow + gains.swing_kp * error
        else:
            wanted[e] = -gains.stance_kd * body.vel[b, e]
            if does == LANDS:
                wanted[e] -= gains.stance_kd * gains.landing * feet.normal[k, e]
        weight[e] = heavy
        if follows or does == PIVOTS:
            slow = vel[b, 3 + e] - body.vel[b, 3 + e]
            wanted[3 + e] = acc[b, 3 + e] + gains.swing_kd * slow + gains.swing_kp * turn[e]
        else:
            wanted[3 + e] = -gains.stance_kd * body.vel[b, 3 + e]
        weight[3 + e] = gains.swing_weight if does == PIVOTS else heavy
    if does == PIVOTS:  # the point, not the origin, is kept still
        v = body.vel[b]
        r = feet.point[k]
        sx, sy, sz = rotation.cross(
            v[3], v[4], v[5], r[0] - body.pos[b, 0], r[1] - body.pos[b, 1], r[2] - body.pos[b, 2]
        )
        wanted[0] -= gains.stance_kd * sx
        wanted[1] -= gains.stance_kd * sy
        wanted[2] -= gains.stance_kd * sz


@njit(cache=True, nogil=True, error_model="numpy")
def meet_feet(feet, damping, acc):
    """(5): q̈̂' = q̈̂ + J⁺ (r̈̂ − J q̈̂ − J̇ q̇), with J⁺ = Jᵀ (J Jᵀ + damping)⁻¹.

    The damping keeps it finite where a leg is straight, and where links of one foot repeat rows.
    """
    J, N, rest = feet.jac, feet.normal_matrix, feet.rest
    rows, dofs = J.shape
    for i in range(rows):
        value = feet.wanted[i] - feet.drift[i]
        for d in range(dofs):
            value -= J[i, d] * acc[d]
        rest[i] = value
        for j in range(i + 1):
            value = 0.0
            for d in range(dofs):
                value += J[i, d] * J[j, d]
            N[i, j] = value
        N[i, i] += damping
    if not factorise(N, rows):
        return
    solve_in_place(N, rows, rest)
    for i in range(rows):
        for d in range(dofs):
            acc[d] += J[i, d] * rest[i]


@njit(cache=True, nogil=True, error_model="numpy")
def classify(patches, moving, normal_w, holds, load, least, foot_contact, contact, airborne, feet):
    """What each foot does now; returns how many carry, and in `slot` in which order.

    A foot that comes down late goes on down until it is loaded with `least`; airborne (c) keeps in
    mind which contact links have not touched since they were last scheduled to be off.
    """
    _, patch_link, vertex_start, _ = patches
    carrying = 0
    for k in range(feet.link.shape[0]):
        c = foot_contact[k]
        feet.does[k], feet.slot[k] = SWINGS, -1
        if c < 0:
            continue
        vertices, slides = 0, False
        for p in range(holds.shape[0]):
            if holds[p] and patch_link[p] == c:
                vertices += vertex_start[p + 1] - vertex_start[p]
                slides = slides or moving[p]
                for e in range(3):
                    feet.normal[k, e] = normal_w[p, e]
        if vertices == 0:
            airborne[c] = 1
            continue
        press = 0.0
        for e in range(3):
            press += load[c, e] * feet.normal[k, e]
        if press > least:
            airborne[c] = 0
        feet.slot[k] = carrying
        carrying += 1
        if slides:
            feet.does[k] = SLIDES
        elif airborne[c] == 1:
            feet.does[k] = LANDS
        elif vertices < 3:
            feet.does[k] = PIVOTS
            _stand_at(contact, c, feet.point[k])
        else:
            feet.does[k] = STANDS
    return carrying


@njit(cache=True, nogil=True, error_model="numpy")
def _stand_at(contact, c, out):
    """The mean of the carrying vertices of a link: those that `collect` put down."""
    n = 0
    for e in range(3):
        out[e] = 0.0
    for i in range(contact.used[0]):
        if contact.link[i] == c:
            n += 1
            for e in range(3):
                out[e] += contact.vertex[i, e]
    if n > 0:
        for e in range(3):
            out[e] /= n
