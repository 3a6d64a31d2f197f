"""What a whole-body program follows, as objectives over accelerations: L gets H, f the gradient.

Joints, centre of mass, angular momentum, trunk, and links on their way. All are told in q̈, the
centre of mass too: the root's equations of motion tie it to the forces.
"""

import numpy as np

from surefoot.kernels import rotation
from surefoot.kernels.body import jacobian
from surefoot.kernels.whole_body import (
    KD_COM,
    KD_JOINTS,
    KD_SPIN,
    KD_TRACK,
    KD_TRUNK,
    KP_COM,
    KP_JOINTS,
    KP_TRACK,
    KP_TRUNK,
    W_COM,
    W_JOINTS,
    W_SPIN,
    W_TRACK,
    W_TRUNK,
    W_TURN,
    part,
)


@part
def follow_joints(spec, want, qpos, qvel, room):
    """Accelerations of the joints, towards places inside their limits."""
    w, kp, kd = spec.number[W_JOINTS], spec.number[KP_JOINTS], spec.number[KD_JOINTS]
    for j in range(spec.joint_dof.shape[0]):
        d, q = spec.joint_dof[j], spec.joint_qpos[j]
        there = min(max(want.qpos[q], spec.joint_min[j]), spec.joint_max[j])
        target = want.qacc[d] + kp * (there - qpos[q]) + kd * (want.qvel[d] - qvel[d])
        room.L[d, d] += w
        room.f[d] -= w * target


@part
def follow_momentum(tree, body, spec, want, room):
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
        objective(room.J[e], room.L, room.f, n[W_COM], drift - target)
        target = want.spin[1, e] + n[KD_SPIN] * (want.spin[0, e] - body.spin[e])
        objective(room.J[3 + e], room.L, room.f, n[W_SPIN], turning[e] - target)


@part
def follow_links(tree, body, spec, want, footing, room):
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
            objective(room.J[e], room.L, room.f, w, body.drift[b, e] - target)


@part
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
        objective(room.J[e], room.L, room.f, w_linear, body.drift[b, e] - target)
        target = want.link_acc[b, 3 + e] + kp * turn[e]
        target += kd * (want.link_vel[b, 3 + e] - body.vel[b, 3 + e])
        objective(room.J[3 + e], room.L, room.f, w_angular, body.drift[b, 3 + e] - target)


@part
def objective(row, L, f, weight, rest):
    """½ weight (row q̈ + rest)²: its lower triangle into L, its gradient into f."""
    if weight == 0.0:
        return
    for d in range(row.shape[0]):
        part = weight * row[d]
        if part != 0.0:
            f[d] += part * rest
            for e in range(d + 1):
                L[d, e] += part * row[e]


@part
def dot(a, b):
    """The scalar product, without a call to a library."""
    value = 0.0
    for i in range(a.shape[0]):
        value += a[i] * b[i]
    return value
