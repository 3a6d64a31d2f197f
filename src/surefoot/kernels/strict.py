"""The assembly of the strict controller: a whole-body quadratic program as a least-distance one.

Unknown are the accelerations q̈ and the sizes λ ≥ 0 of forces along generators of friction cones:

    min ½ q̈ᵀ H q̈ + fᵀ q̈ + ½ w λᵀ λ    under    A q̈ + C λ = b,   low ≤ A' q̈ + C' λ ≤ high.

All objectives are told in q̈ (that of the centre of mass too, which the root's equations tie to the
forces), so that the two kinds of unknowns meet in the rows alone. With H = L Lᵀ, q̈ = q̈₀ + L⁻ᵀ u and
λ = v / √w this is min ½ |(v, u)|²: what a dual active-set solver would make of it by factorising
the whole, at a third of the cost. World axes everywhere; rows of twists are linear, then angular.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels import rotation
from surefoot.kernels.body import jacobian, measure

HUNG, POINT, EDGE, FACE = 0, 1, 2, 3
DEPENDENT = 0.02  # a row that turns no more than this out of the others' span says nothing new
RECOVERY = 0.5  # rad/s or m/s at which a joint beyond its limit is asked to come back
NEAR = 0.95  # share of a torque limit from which its row is kept in the program
KEPT = 25  # steps for which a row stays in the program after it was last needed
EXACT = 1e-7  # share of a limit by which it may be missed before its row is put in


class Spec(NamedTuple):
    """What never changes: joints j, degrees of freedom d, and the controller's settings."""

    root_dof: np.ndarray  # (d - j) degrees of freedom that nothing drives
    joint_dof: np.ndarray  # (j)
    joint_qpos: np.ndarray  # (j)
    joint_min: np.ndarray  # (j)
    joint_max: np.ndarray  # (j)
    joint_speed: np.ndarray  # (j) what the joint may be asked for, rad/s
    joint_torque: np.ndarray  # (j) N m
    joint_loss: np.ndarray  # (j) dry friction to be fed forward, N m
    dof_damping: np.ndarray  # (d) N m s/rad
    joint_stiffness: np.ndarray  # (j) N m/rad
    joint_spring: np.ndarray  # (j) where the spring is at rest, rad
    trunk: np.ndarray  # (1) link whose orientation is followed
    number: np.ndarray  # weights and gains, in the order of the constants below


(
    W_JOINTS, W_TURN, W_TRUNK, W_COM, W_SPIN, W_TRACK, W_FORCE, W_SOFT,
    KP_JOINTS, KD_JOINTS, KP_TRUNK, KD_TRUNK, KP_COM, KD_COM, KD_SPIN,
    KP_TRACK, KD_TRACK, KD_STANCE, K_LIMIT, K_SPEED, MARGIN, SLIDING, CREEPING,
) = range(23)  # fmt: skip


class Want(NamedTuple):
    """The target of one step."""

    qpos: np.ndarray
    qvel: np.ndarray
    qacc: np.ndarray
    com: np.ndarray  # (3, 3) position, velocity, acceleration
    spin: np.ndarray  # (2, 3) angular momentum about the centre of mass, and its rate
    link_pos: np.ndarray  # (b, 3)
    link_quat: np.ndarray  # (b, 4)
    link_vel: np.ndarray  # (b, 6)
    link_acc: np.ndarray  # (b, 6)


class Footing(NamedTuple):
    """What stands (s), on which vertices (v), and which links are tracked (t)."""

    link: np.ndarray  # (s)
    mode: np.ndarray  # (s) POINT, EDGE or FACE; HUNG where another stance holds it
    moving: np.ndarray  # (s) 1 where it slides on purpose
    point_l: np.ndarray  # (s, 3) the middle of what touches, in the link
    edge_l: np.ndarray  # (s, 3) unit direction of an edge, in the link
    normal_w: np.ndarray  # (s, 3)
    friction: np.ndarray  # (s)
    vertex_stance: np.ndarray  # (v)
    vertex_l: np.ndarray  # (v, 3)
    held_dof: np.ndarray  # (h) joints between a stance and what hangs on it
    tracked: np.ndarray  # (t) links
    down_w: np.ndarray  # (t, 3) velocity with which a late one looks for the ground, or zero


class Room(NamedTuple):
    """What is worked out: generators g = sides times v, at most r rows beside λ ≥ 0."""

    J: np.ndarray  # (6, d)
    L: np.ndarray  # (d, d) lower triangle, L Lᵀ = H
    f: np.ndarray  # (d) gradient, then q̈₀
    load: np.ndarray  # (d) M q̈ + load = τ + Gλ
    G: np.ndarray  # (d, g) generalized force of each generator
    generator_w: np.ndarray  # (g, 3)
    vertex_w: np.ndarray  # (v, 3)
    still: np.ndarray  # (6 s + h, d) rows of the stances that are independent
    right: np.ndarray  # (6 s + h) what they must give
    basis: np.ndarray  # (6 s + h, d) the same rows, orthonormal
    low: np.ndarray  # (2 j) bounds of torques, then of accelerations
    high: np.ndarray  # (2 j)
    kept: np.ndarray  # (2 j) for how many steps each row stays in the program
    rows: np.ndarray  # (r, g + d) of the least-distance problem
    lower: np.ndarray  # (g + r)
    upper: np.ndarray  # (g + r)
    fixed: np.ndarray  # (1) number of rows in `still`
    qacc: np.ndarray  # (d) answer
    force: np.ndarray  # (g) answer: λ, N
    torque: np.ndarray  # (j) answer, N m
    pressure_w: np.ndarray  # (4) answer: centre of pressure, m, and the vertical force, N


def room_for(dofs, joints, stances, held, vertices, sides):
    """Arrays for so many stances, held joints and vertices."""
    d, g, s = dofs, vertices * sides, 6 * stances + held
    r = dofs - joints + s + 2 * joints
    shapes = (
        (6, d), (d, d), (d,), (d,), (d, g), (g, 3), (vertices, 3), (s, d), (s,), (s, d),
        (2 * joints,), (2 * joints,), (2 * joints,), (r, g + d), (g + r,), (g + r,), (1,),
        (d,), (g,), (joints,), (4,),
    )  # fmt: skip
    return Room(*(np.zeros(shape) for shape in shapes))


@njit(cache=True, nogil=True)
def assemble(tree, body, spec, want, footing, qpos, qvel, soft, room):
    """The program of one state; returns the number of rows and how many of them are equalities.

    With `soft` = 1 the stances are objectives and the bounds of accelerations are left out: then
    there is always an answer.
    """
    measure(tree, qpos, qvel, body)
    _loads(tree, body, spec, want, qpos, qvel, room)
    room.L[:] = 0.0
    room.f[:] = 0.0
    _follow_joints(spec, want, qpos, qvel, room)
    _follow_momentum(tree, body, spec, want, room)
    _follow_links(tree, body, spec, want, footing, room)
    _generators(tree, body, spec, want, footing, room)
    _stances(tree, body, spec, footing, qvel, soft, room)
    _bounds(spec, qpos, qvel, soft, room)
    _factorise(room.L)
    _down(room.L, room.f)
    _up(room.L, room.f)
    room.f[:] = -room.f
    return select(spec, body, room)


@njit(cache=True, nogil=True)
def select(spec, body, room):
    """The rows of the least-distance problem: all equalities, and the bounds that are kept."""
    g = room.G.shape[1]
    count = 0
    for i in range(spec.root_dof.shape[0]):
        d = spec.root_dof[i]
        _row(body.mass_matrix[d], room.G[d], spec, room, count)
        value = -room.load[d] - _dot(body.mass_matrix[d], room.f)
        room.lower[g + count], room.upper[g + count] = value, value
        count += 1
    for i in range(int(room.fixed[0])):
        _row(room.still[i], room.G[0, :0], spec, room, count)
        value = room.right[i] - _dot(room.still[i], room.f)
        room.lower[g + count], room.upper[g + count] = value, value
        count += 1
    equal = count
    m = spec.joint_dof.shape[0]
    for j in range(m):
        d = spec.joint_dof[j]
        if room.kept[j] > 0.0:
            _row(body.mass_matrix[d], room.G[d], spec, room, count)
            shift = room.load[d] + _dot(body.mass_matrix[d], room.f)
            room.lower[g + count] = room.low[j] - shift
            room.upper[g + count] = room.high[j] - shift
            count += 1
        if room.kept[m + j] > 0.0:
            room.J[0, :] = 0.0
            room.J[0, d] = 1.0
            _row(room.J[0], room.G[0, :0], spec, room, count)
            room.lower[g + count] = room.low[m + j] - room.f[d]
            room.upper[g + count] = room.high[m + j] - room.f[d]
            count += 1
    return count, equal


@njit(cache=True, nogil=True)
def finish(spec, body, footing, answer, room):
    """Accelerations, forces and torques of an answer; returns how many bounds it breaks.

    Broken ones are kept from now on, and those nearly reached too.
    """
    g, m = room.G.shape[1], spec.joint_dof.shape[0]
    scale = 1.0 / np.sqrt(spec.number[W_FORCE])
    for k in range(g):
        room.force[k] = max(answer[k] * scale, 0.0)
    room.qacc[:] = answer[g:]
    _up(room.L, room.qacc)
    room.qacc[:] += room.f
    broken = 0
    for j in range(m):
        d = spec.joint_dof[j]
        value = _dot(body.mass_matrix[d], room.qacc) + room.load[d]
        for k in range(g):
            value -= room.G[d, k] * room.force[k]
        limit = room.high[j]
        if abs(value) > limit * (1.0 + EXACT) and room.kept[j] <= 0.0:
            broken += 1
        _keep(room.kept, j, abs(value) >= NEAR * limit)
        room.torque[j] = min(max(value, -limit), limit)
        size = EXACT * max(1.0, abs(room.qacc[d]))
        over = room.qacc[d] > room.high[m + j] + size or room.qacc[d] < room.low[m + j] - size
        if over and room.kept[m + j] <= 0.0:
            broken += 1
        near = room.qacc[d] > room.high[m + j] - size or room.qacc[d] < room.low[m + j] + size
        _keep(room.kept, m + j, near)
    _press(footing, room)
    return broken


@njit(cache=True, nogil=True)
def _keep(kept, i, needed):
    if needed:
        kept[i] = KEPT
    elif kept[i] > 0.0:
        kept[i] -= 1.0


@njit(cache=True, nogil=True)
def _press(footing, room):
    """Where the forces of an answer press, weighted by their vertical part."""
    sides = room.force.shape[0] // max(footing.vertex_stance.shape[0], 1)
    room.pressure_w[:] = 0.0
    for k in range(room.force.shape[0]):
        up = room.force[k] * room.generator_w[k, 2]
        for e in range(3):
            room.pressure_w[e] += up * room.vertex_w[k // sides, e]
        room.pressure_w[3] += up
    if room.pressure_w[3] > 0.0:
        for e in range(3):
            room.pressure_w[e] /= room.pressure_w[3]


@njit(cache=True, nogil=True)
def _loads(tree, body, spec, want, qpos, qvel, room):
    """What the torques must carry beside M q̈: bias, springs, damping, dry friction foreseen."""
    for d in range(qvel.shape[0]):
        room.load[d] = body.bias[d] + spec.dof_damping[d] * qvel[d]
    for j in range(spec.joint_dof.shape[0]):
        d = spec.joint_dof[j]
        bent = qpos[spec.joint_qpos[j]] - spec.joint_spring[j]
        ahead = np.tanh(want.qvel[d] / spec.number[CREEPING])
        room.load[d] += spec.joint_stiffness[j] * bent + spec.joint_loss[j] * ahead


@njit(cache=True, nogil=True)
def _follow_joints(spec, want, qpos, qvel, room):
    w, kp, kd = spec.number[W_JOINTS], spec.number[KP_JOINTS], spec.number[KD_JOINTS]
    for j in range(spec.joint_dof.shape[0]):
        d, q = spec.joint_dof[j], spec.joint_qpos[j]
        there = min(max(want.qpos[q], spec.joint_min[j]), spec.joint_max[j])
        target = want.qacc[d] + kp * (there - qpos[q]) + kd * (want.qvel[d] - qvel[d])
        room.L[d, d] += w
        room.f[d] -= w * target


@njit(cache=True, nogil=True)
def _follow_momentum(tree, body, spec, want, room):
    """Acceleration of the centre of mass, and rate of the angular momentum about it."""
    cx = body.com[0] - body.pos[1, 0]
    cy = body.com[1] - body.pos[1, 1]
    cz = body.com[2] - body.pos[1, 2]
    mass = body.mass[0]
    for d in range(room.f.shape[0]):
        c, u = body.total[tree.dof_link[d]], body.screw[d]
        ux, uy, uz, tx, ty, tz = u[0], u[1], u[2], u[3], u[4], u[5]
        px = c[0] * tx + uy * c[3] - uz * c[2]
        py = c[0] * ty + uz * c[1] - ux * c[3]
        pz = c[0] * tz + ux * c[2] - uy * c[1]
        sx, sy, sz = rotation.cross(cx, cy, cz, px, py, pz)
        lx = c[4] * ux + c[7] * uy + c[8] * uz + c[2] * tz - c[3] * ty
        ly = c[7] * ux + c[5] * uy + c[9] * uz + c[3] * tx - c[1] * tz
        lz = c[8] * ux + c[9] * uy + c[6] * uz + c[1] * ty - c[2] * tx
        room.J[0, d], room.J[1, d], room.J[2, d] = px / mass, py / mass, pz / mass
        room.J[3, d], room.J[4, d], room.J[5, d] = lx - sx, ly - sy, lz - sz
    total = body.force[0]
    sx, sy, sz = rotation.cross(cx, cy, cz, total[3], total[4], total[5])
    turning = (total[0] - sx, total[1] - sy, total[2] - sz)
    n = spec.number
    for e in range(3):
        drift = total[3 + e] / mass + tree.gravity[e]
        target = want.com[2, e]
        target += n[KP_COM] * (want.com[0, e] - body.com[e])
        target += n[KD_COM] * (want.com[1, e] - body.com_vel[e])
        _objective(room, e, n[W_COM], drift - target)
        target = want.spin[1, e] + n[KD_SPIN] * (want.spin[0, e] - body.spin[e])
        _objective(room, 3 + e, n[W_SPIN], turning[e] - target)


@njit(cache=True, nogil=True)
def _follow_links(tree, body, spec, want, footing, room):
    """The trunk, and all links that are on their way to a contact or slide along one."""
    n, b = spec.number, spec.trunk[0]
    _towards(tree, body, want, b, n[KP_TRUNK], n[KD_TRUNK], n[W_TRUNK], n[W_TURN], room)
    for t in range(footing.tracked.shape[0]):
        b, down = footing.tracked[t], footing.down_w[t]
        speed = np.sqrt(down[0] * down[0] + down[1] * down[1] + down[2] * down[2])
        if speed == 0.0:
            _towards(tree, body, want, b, n[KP_TRACK], n[KD_TRACK], n[W_TRACK], n[W_TRACK], room)
            continue
        # along the normal a velocity is followed and no place: nobody knows where the ground is
        w, kp, kd = n[W_TRACK], n[KP_TRACK], n[KD_TRACK]
        _towards(tree, body, want, b, kp, kd, 0.0, w, room)
        off = 0.0
        for e in range(3):
            off += down[e] / speed * (want.link_pos[b, e] - body.pos[b, e])
        for e in range(3):
            place = want.link_pos[b, e] - body.pos[b, e] - off * down[e] / speed
            target = kp * place + kd * (down[e] - body.vel[b, e])
            _objective(room, e, w, body.drift[b, e] - target)


@njit(cache=True, nogil=True)
def _towards(tree, body, want, b, kp, kd, w_linear, w_angular, room):
    """Objectives that bring a link to its pose; leaves the link's Jacobian in room.J."""
    jacobian(tree, body, b, body.pos[b, 0], body.pos[b, 1], body.pos[b, 2], room.J)
    q, p = want.link_quat[b], body.quat[b]
    aw, ax, ay, az = rotation.multiply(q[0], q[1], q[2], q[3], p[0], -p[1], -p[2], -p[3])
    turn = rotation.as_rotvec(aw, ax, ay, az)
    for e in range(3):
        target = want.link_acc[b, e]
        target += kp * (want.link_pos[b, e] - body.pos[b, e])
        target += kd * (want.link_vel[b, e] - body.vel[b, e])
        _objective(room, e, w_linear, body.drift[b, e] - target)
        target = want.link_acc[b, 3 + e] + kp * turn[e]
        target += kd * (want.link_vel[b, 3 + e] - body.vel[b, 3 + e])
        _objective(room, 3 + e, w_angular, body.drift[b, 3 + e] - target)


@njit(cache=True, nogil=True)
def _objective(room, row, weight, rest):
    """½ weight (J q̈ + rest)² for one row of room.J: its lower triangle into L, gradient into f."""
    if weight == 0.0:
        return
    J = room.J[row]
    for d in range(J.shape[0]):
        part = weight * J[d]
        if part != 0.0:
            room.f[d] += part * rest
            for e in range(d + 1):
                room.L[d, e] += part * J[e]


@njit(cache=True, nogil=True)
def _generators(tree, body, spec, want, footing, room):
    """Generators of an inner pyramid at each vertex, and what they do to each degree of freedom.

    On a stance that slides, friction is not chosen but points against the motion: the pyramid
    shrinks onto that direction as the reference slides faster.
    """
    room.G[:] = 0.0
    vertices = footing.vertex_stance.shape[0]
    sides = room.force.shape[0] // max(vertices, 1)
    for v in range(vertices):
        s = footing.vertex_stance[v]
        b, n = footing.link[s], footing.normal_w[s]
        rx, ry, rz = _turned(body.rot[b], footing.vertex_l[v])
        point = room.vertex_w[v]
        point[0], point[1], point[2] = (
            body.pos[b, 0] + rx,
            body.pos[b, 1] + ry,
            body.pos[b, 2] + rz,
        )
        t = _tangents(n)
        spread, ax, ay, az = spec.number[MARGIN] * footing.friction[s], 0.0, 0.0, 0.0
        if footing.moving[s] == 1:
            spread, ax, ay, az = _dragged(spec, want, b, n, rx, ry, rz, footing.friction[s], spread)
        for k in range(sides):
            angle = 2.0 * np.pi * (k + 0.5) / sides
            c, z = spread * np.cos(angle), spread * np.sin(angle)
            out = room.generator_w[sides * v + k]
            out[0] = n[0] + c * t[0] + z * t[3] + ax
            out[1] = n[1] + c * t[1] + z * t[4] + ay
            out[2] = n[2] + c * t[2] + z * t[5] + az
        _spread(tree, body, b, point, sides * v, sides, room)


@njit(cache=True, nogil=True)
def _spread(tree, body, b, point, first, sides, room):
    """Columns of G: the Jacobian of the point, transposed, times each generator."""
    last = b
    while last > 0 and tree.link_dofs[last] == 0:
        last = tree.link_parent[last]
    if last == 0:
        return
    rx, ry, rz = point[0] - body.pos[1, 0], point[1] - body.pos[1, 1], point[2] - body.pos[1, 2]
    d = tree.link_dof[last] + tree.link_dofs[last] - 1
    while d >= 0:
        u = body.screw[d]
        tx, ty, tz = rotation.cross(u[0], u[1], u[2], rx, ry, rz)
        tx, ty, tz = tx + u[3], ty + u[4], tz + u[5]
        for k in range(first, first + sides):
            g = room.generator_w[k]
            room.G[d, k] = tx * g[0] + ty * g[1] + tz * g[2]
        d = tree.dof_parent[d]


@njit(cache=True, nogil=True)
def _dragged(spec, want, b, n, rx, ry, rz, friction, spread):
    """How far a sliding point may choose its friction, and the part that it may not choose."""
    v = want.link_vel[b]
    tx, ty, tz = rotation.cross(v[3], v[4], v[5], rx, ry, rz)
    tx, ty, tz = tx + v[0], ty + v[1], tz + v[2]
    along = tx * n[0] + ty * n[1] + tz * n[2]
    tx, ty, tz = tx - along * n[0], ty - along * n[1], tz - along * n[2]
    speed = np.sqrt(tx * tx + ty * ty + tz * tz)
    share = min(speed / spec.number[SLIDING], 1.0)
    pull = -share * friction / max(speed, 1e-9)
    return (1.0 - share) * spread, pull * tx, pull * ty, pull * tz


@njit(cache=True, nogil=True)
def _stances(tree, body, spec, footing, qvel, soft, room):
    """Rows that keep still what stands; those that follow from others are left out."""
    count = 0
    twist = np.zeros(6)
    for s in range(footing.link.shape[0]):
        b = footing.link[s]
        rx, ry, rz = _turned(body.rot[b], footing.point_l[s])
        px, py, pz = body.pos[b, 0] + rx, body.pos[b, 1] + ry, body.pos[b, 2] + rz
        jacobian(tree, body, b, px, py, pz, room.J)
        vel, drift = _at(body.vel[b], body.drift[b], rx, ry, rz)
        axes, rows = _axes(body, footing, s)
        for i in range(rows):
            for e in range(6):
                twist[e] = axes[i, e]
            row = room.still[count]
            rest, speed = 0.0, 0.0
            for e in range(6):
                rest += twist[e] * drift[e]
                speed += twist[e] * vel[e]
            for d in range(row.shape[0]):
                row[d] = 0.0
                for e in range(6):
                    row[d] += twist[e] * room.J[e, d]
            target = -spec.number[KD_STANCE] * speed - rest
            count = _hold(room, row, target, spec.number[W_SOFT], soft, count)
    for h in range(footing.held_dof.shape[0]):
        d = footing.held_dof[h]
        row = room.still[count]
        row[:] = 0.0
        row[d] = 1.0
        target = -spec.number[KD_STANCE] * qvel[d]
        count = _hold(room, row, target, spec.number[W_SOFT], soft, count)
    room.fixed[0] = count


@njit(cache=True, nogil=True)
def _hold(room, row, target, weight, soft, count):
    """One row more that must be kept, or an objective of this weight; how many there are now."""
    if soft == 0:
        if _independent(room, row, count):
            room.right[count] = target
            return count + 1
        return count
    for d in range(row.shape[0]):
        part = weight * row[d]
        room.f[d] -= part * target
        for e in range(d + 1):
            room.L[d, e] += part * row[e]
    return count


@njit(cache=True, nogil=True)
def _at(vel, drift, rx, ry, rz):
    """Velocity of a point beside the origin, and its acceleration with q̈ = 0."""
    wx, wy, wz = vel[3], vel[4], vel[5]
    tx, ty, tz = rotation.cross(wx, wy, wz, rx, ry, rz)
    cx, cy, cz = rotation.cross(wx, wy, wz, tx, ty, tz)
    ax, ay, az = rotation.cross(drift[3], drift[4], drift[5], rx, ry, rz)
    return (
        (vel[0] + tx, vel[1] + ty, vel[2] + tz, wx, wy, wz),
        (
            drift[0] + ax + cx,
            drift[1] + ay + cy,
            drift[2] + az + cz,
            drift[3],
            drift[4],
            drift[5],
        ),
    )


@njit(cache=True, nogil=True)
def _axes(body, footing, s):
    """Which parts of the twist a stance holds: rows over (linear, angular)."""
    axes = np.zeros((6, 6))
    n = footing.normal_w[s]
    mode, moving = footing.mode[s], footing.moving[s] == 1
    t = _tangents(n)
    rows = 0
    if mode == HUNG:
        return axes, 0
    if mode == EDGE:
        ex, ey, ez = _turned(body.rot[footing.link[s]], footing.edge_l[s])
        tx, ty, tz = rotation.cross(n[0], n[1], n[2], ex, ey, ez)
        size = max(np.sqrt(tx * tx + ty * ty + tz * tz), 1e-9)
        axes[0, 3], axes[0, 4], axes[0, 5] = tx / size, ty / size, tz / size
        rows = 1
        if not moving:
            axes[1, 3:] = n
            rows = 2
    elif mode == FACE:
        axes[0, 3], axes[0, 4], axes[0, 5] = t[0], t[1], t[2]
        axes[1, 3], axes[1, 4], axes[1, 5] = t[3], t[4], t[5]
        rows = 2
        if not moving:
            axes[2, 3:] = n
            rows = 3
    axes[rows, :3] = n
    rows += 1
    if not moving:
        axes[rows, 0], axes[rows, 1], axes[rows, 2] = t[0], t[1], t[2]
        axes[rows + 1, 0], axes[rows + 1, 1], axes[rows + 1, 2] = t[3], t[4], t[5]
        rows += 2
    return axes, rows


@njit(cache=True, nogil=True)
def _independent(room, row, count):
    """Whether a row says anything that the first `count` do not; if so, extends their basis."""
    new = room.basis[count]
    whole = 0.0
    for d in range(row.shape[0]):
        new[d] = row[d]
        whole += row[d] * row[d]
    for _again in range(2):  # twice is enough: the second takes what rounding left
        for i in range(count):
            part = _dot(room.basis[i], new)
            for d in range(row.shape[0]):
                new[d] -= part * room.basis[i, d]
    rest = _dot(new, new)
    if rest <= DEPENDENT * DEPENDENT * whole:
        return False
    share = 1.0 / np.sqrt(rest)
    for d in range(row.shape[0]):
        new[d] *= share
    return True


@njit(cache=True, nogil=True)
def _bounds(spec, qpos, qvel, soft, room):
    """Limits of torques; limits of accelerations that brake before a limit of place or speed."""
    m = spec.joint_dof.shape[0]
    k, c = spec.number[K_LIMIT], spec.number[K_SPEED]
    for j in range(m):
        limit = spec.joint_torque[j]
        room.low[j], room.high[j] = -limit, limit
        room.low[m + j], room.high[m + j] = -np.inf, np.inf
        if soft == 1:
            room.kept[m + j] = 0.0
            continue
        q, v = qpos[spec.joint_qpos[j]], qvel[spec.joint_dof[j]]
        fastest = min(spec.joint_speed[j], max(k * (spec.joint_max[j] - q), -RECOVERY))
        slowest = max(-spec.joint_speed[j], min(k * (spec.joint_min[j] - q), RECOVERY))
        room.high[m + j] = c * (fastest - v)
        room.low[m + j] = min(c * (slowest - v), room.high[m + j])


@njit(cache=True, nogil=True)
def _factorise(L):
    """Cholesky's factor in place of the lower triangle."""
    for i in range(L.shape[0]):
        for j in range(i + 1):
            value = L[i, j]
            for k in range(j):
                value -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = np.sqrt(value)
            else:
                L[i, j] = value / L[j, j]


@njit(cache=True, nogil=True)
def _down(L, x):
    """L⁻¹ x in place."""
    for i in range(x.shape[0]):
        value = x[i]
        for k in range(i):
            value -= L[i, k] * x[k]
        x[i] = value / L[i, i]


@njit(cache=True, nogil=True)
def _up(L, x):
    """L⁻ᵀ x in place."""
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] /= L[i, i]
        value = x[i]
        for k in range(i):
            x[k] -= L[i, k] * value


@njit(cache=True, nogil=True)
def _row(over_qacc, over_force, spec, room, at):
    """One row a q̈ − c λ in the new unknowns."""
    g = room.G.shape[1]
    row = room.rows[at]
    scale = 1.0 / np.sqrt(spec.number[W_FORCE])
    row[:g] = 0.0
    for k in range(over_force.shape[0]):
        row[k] = -over_force[k] * scale
    row[g:] = over_qacc
    _down(room.L, row[g:])


@njit(cache=True, nogil=True)
def _dot(a, b):
    value = 0.0
    for i in range(a.shape[0]):
        value += a[i] * b[i]
    return value


@njit(cache=True, nogil=True)
def _turned(rot, p):
    """A vector of a link in world axes."""
    return (
        rot[0] * p[0] + rot[1] * p[1] + rot[2] * p[2],
        rot[3] * p[0] + rot[4] * p[1] + rot[5] * p[2],
        rot[6] * p[0] + rot[7] * p[1] + rot[8] * p[2],
    )


@njit(cache=True, nogil=True)
def _tangents(n):
    """Two unit vectors across a unit normal; x and y for a level floor."""
    if abs(n[0]) < 0.9:
        tx, ty, tz = 1.0 - n[0] * n[0], -n[0] * n[1], -n[0] * n[2]
    else:
        tx, ty, tz = -n[1] * n[0], 1.0 - n[1] * n[1], -n[1] * n[2]
    size = np.sqrt(tx * tx + ty * ty + tz * tz)
    tx, ty, tz = tx / size, ty / size, tz / size
    ux, uy, uz = rotation.cross(n[0], n[1], n[2], tx, ty, tz)
    return tx, ty, tz, ux, uy, uz
