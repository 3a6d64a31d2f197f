"""Rigid-body quantities of a tree over all frames: positions, Jacobians, inertia, inverse dynamics.

Each kernel takes the tree, states (n frames) and writes into arrays of the caller. Frames do not
touch each other, so any split over threads gives the same bytes.
"""

import numpy as np
from numba import njit

from surefoot.kernels import rotation
from surefoot.kernels.tree import flow, load, place

ROW, COLUMN = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)  # of xx, yy, zz, xy, xz, yz


@njit(cache=True, nogil=True)
def poses(tree, qpos, pos, quat):
    """Positions (n, b, 3) and orientations (n, b, 4) of all links."""
    rot = np.empty((pos.shape[1], 9))
    screw = np.empty((tree.dof_link.shape[0], 6))
    for i in range(qpos.shape[0]):
        place(tree, qpos[i], pos[i], quat[i], rot, screw)


@njit(cache=True, nogil=True)
def velocities(tree, qpos, qvel, out):
    """Velocities (n, b, 6) of all links: of the origin, then angular, world axes."""
    links, dofs = out.shape[1], qvel.shape[1]
    pos, quat, rot = np.empty((links, 3)), np.empty((links, 4)), np.empty((links, 9))
    screw, vel, acc = np.empty((dofs, 6)), np.empty((links, 6)), np.empty((links, 6))
    for i in range(qpos.shape[0]):
        place(tree, qpos[i], pos, quat, rot, screw)
        flow(tree, qvel[i], qvel[i], screw, vel, acc)  # the accelerations are not used
        for b in range(links):
            wx, wy, wz = vel[b, 0], vel[b, 1], vel[b, 2]
            tx, ty, tz = rotation.cross(
                wx, wy, wz, pos[b, 0] - pos[1, 0], pos[b, 1] - pos[1, 1], pos[b, 2] - pos[1, 2]
            )
            out[i, b, 0], out[i, b, 1], out[i, b, 2] = (
                vel[b, 3] + tx,
                vel[b, 4] + ty,
                vel[b, 5] + tz,
            )
            out[i, b, 3], out[i, b, 4], out[i, b, 5] = wx, wy, wz


@njit(cache=True, nogil=True)
def accelerations(tree, qpos, qvel, qacc, out):
    """Accelerations (n, b, 6) of all links: of the origin, then angular, world axes."""
    links, dofs = out.shape[1], qvel.shape[1]
    pos, quat, rot = np.empty((links, 3)), np.empty((links, 4)), np.empty((links, 9))
    screw, vel, acc = np.empty((dofs, 6)), np.empty((links, 6)), np.empty((links, 6))
    for i in range(qpos.shape[0]):
        place(tree, qpos[i], pos, quat, rot, screw)
        flow(tree, qvel[i], qacc[i], screw, vel, acc)
        for b in range(links):
            classical(pos, vel, acc, b, out[i, b])


@njit(cache=True, nogil=True)
def classical(pos, vel, acc, b, out):
    """Acceleration of the origin of link b, then angular, from spatial ones about pos[1].

    a + α × r + ω × (v + ω × r), with r from pos[1] to the origin.
    """
    rx, ry, rz = pos[b, 0] - pos[1, 0], pos[b, 1] - pos[1, 1], pos[b, 2] - pos[1, 2]
    wx, wy, wz = vel[b, 0], vel[b, 1], vel[b, 2]
    tx, ty, tz = rotation.cross(wx, wy, wz, rx, ry, rz)
    cx, cy, cz = rotation.cross(wx, wy, wz, vel[b, 3] + tx, vel[b, 4] + ty, vel[b, 5] + tz)
    tx, ty, tz = rotation.cross(acc[b, 0], acc[b, 1], acc[b, 2], rx, ry, rz)
    out[0], out[1], out[2] = acc[b, 3] + tx + cx, acc[b, 4] + ty + cy, acc[b, 5] + tz + cz
    out[3], out[4], out[5] = acc[b, 0], acc[b, 1], acc[b, 2]


@njit(cache=True, nogil=True)
def jacobians(tree, link, point, qpos, out):
    """Jacobians (n, 6, nv) of a point of a link: linear, then angular rows, world axes."""
    links, dofs = tree.link_parent.shape[0], out.shape[2]
    pos, quat, rot = np.empty((links, 3)), np.empty((links, 4)), np.empty((links, 9))
    screw = np.empty((dofs, 6))
    out[:] = 0.0
    last = link  # the nearest link towards the root that has a degree of freedom
    while last > 0 and tree.link_dofs[last] == 0:
        last = tree.link_parent[last]
    end = tree.link_dof[last] + tree.link_dofs[last] - 1
    for i in range(qpos.shape[0]):
        place(tree, qpos[i], pos, quat, rot, screw)
        rx, ry, rz = rotation.rotate(
            quat[link, 0], quat[link, 1], quat[link, 2], quat[link, 3], point[0], point[1], point[2]
        )
        rx += pos[link, 0] - pos[1, 0]
        ry += pos[link, 1] - pos[1, 1]
        rz += pos[link, 2] - pos[1, 2]
        d = end if last > 0 else -1
        while d >= 0:
            ux, uy, uz = screw[d, 0], screw[d, 1], screw[d, 2]
            tx, ty, tz = rotation.cross(ux, uy, uz, rx, ry, rz)
            out[i, 0, d], out[i, 1, d], out[i, 2, d] = (
                screw[d, 3] + tx,
                screw[d, 4] + ty,
                screw[d, 5] + tz,
            )
            out[i, 3, d], out[i, 4, d], out[i, 5, d] = ux, uy, uz
            d = tree.dof_parent[d]


@njit(cache=True, nogil=True)
def composites(tree, pos, rot, total):
    """Mass, first moment and inertia (10) about pos[1] of each link with all that hangs on it."""
    links = pos.shape[0]
    for b in range(links):
        r, mass = rot[b], tree.link_mass[b]
        lx, ly, lz = tree.link_com[b, 0], tree.link_com[b, 1], tree.link_com[b, 2]
        cx = pos[b, 0] - pos[1, 0] + r[0] * lx + r[1] * ly + r[2] * lz
        cy = pos[b, 1] - pos[1, 1] + r[3] * lx + r[4] * ly + r[5] * lz
        cz = pos[b, 2] - pos[1, 2] + r[6] * lx + r[7] * ly + r[8] * lz
        total[b, 0], total[b, 1], total[b, 2], total[b, 3] = mass, mass * cx, mass * cy, mass * cz
        inertia = tree.link_inertia[b]
        for e in range(6):
            k, m = 3 * ROW[e], 3 * COLUMN[e]
            total[b, 4 + e] = (
                inertia[0] * r[k] * r[m]
                + inertia[1] * r[k + 1] * r[m + 1]
                + inertia[2] * r[k + 2] * r[m + 2]
                + inertia[3] * (r[k] * r[m + 1] + r[k + 1] * r[m])
                + inertia[4] * (r[k] * r[m + 2] + r[k + 2] * r[m])
                + inertia[5] * (r[k + 1] * r[m + 2] + r[k + 2] * r[m + 1])
            )
        total[b, 4] += mass * (cy * cy + cz * cz)
        total[b, 5] += mass * (cx * cx + cz * cz)
        total[b, 6] += mass * (cx * cx + cy * cy)
        total[b, 7] -= mass * cx * cy
        total[b, 8] -= mass * cx * cz
        total[b, 9] -= mass * cy * cz
    for b in range(links - 1, 0, -1):
        up = tree.link_parent[b]
        if up > 0:
            for e in range(10):
                total[up, e] += total[b, e]


@njit(cache=True, nogil=True)
def inertia(tree, qpos, momentum, mass_matrix):
    """Momentum (n, 6, nv) per unit of each velocity, about link 1, and mass matrices (n, nv, nv).

    The momentum of the links above a joint that moves alone is h = I S, and M_de = S_e · h_d for
    all e between d and the root (composite rigid bodies: Walker and Orin 1982). Of the two, one
    that is given without frames is not made.
    """
    links, dofs = tree.link_parent.shape[0], tree.dof_link.shape[0]
    pos, quat, rot = np.empty((links, 3)), np.empty((links, 4)), np.empty((links, 9))
    screw, total = np.empty((dofs, 6)), np.empty((links, 10))
    mass_matrix[:] = 0.0
    for i in range(qpos.shape[0]):
        place(tree, qpos[i], pos, quat, rot, screw)
        composites(tree, pos, rot, total)
        for d in range(dofs):
            c = total[tree.dof_link[d]]
            ux, uy, uz = screw[d, 0], screw[d, 1], screw[d, 2]
            tx, ty, tz = screw[d, 3], screw[d, 4], screw[d, 5]
            px = c[0] * tx + uy * c[3] - uz * c[2]
            py = c[0] * ty + uz * c[1] - ux * c[3]
            pz = c[0] * tz + ux * c[2] - uy * c[1]
            lx = c[4] * ux + c[7] * uy + c[8] * uz + c[2] * tz - c[3] * ty
            ly = c[7] * ux + c[5] * uy + c[9] * uz + c[3] * tx - c[1] * tz
            lz = c[8] * ux + c[9] * uy + c[6] * uz + c[1] * ty - c[2] * tx
            if momentum.shape[0] > 0:
                momentum[i, 0, d], momentum[i, 1, d], momentum[i, 2, d] = px, py, pz
                momentum[i, 3, d], momentum[i, 4, d], momentum[i, 5, d] = lx, ly, lz
            if mass_matrix.shape[0] == 0:
                continue
            e = d
            while e >= 0:
                s = screw[e]
                value = s[0] * lx + s[1] * ly + s[2] * lz + s[3] * px + s[4] * py + s[5] * pz
                mass_matrix[i, d, e] = value
                mass_matrix[i, e, d] = value
                e = tree.dof_parent[e]
            mass_matrix[i, d, d] += tree.dof_armature[d]


@njit(cache=True, nogil=True)
def inverse_dynamics(tree, qpos, qvel, qacc, out):
    """Generalised forces (n, nv) with gravity and armature, without passive forces."""
    links, dofs = tree.link_parent.shape[0], out.shape[1]
    pos, quat, rot = np.empty((links, 3)), np.empty((links, 4)), np.empty((links, 9))
    screw, vel, acc = np.empty((dofs, 6)), np.empty((links, 6)), np.empty((links, 6))
    force = np.empty((links, 6))
    for i in range(qpos.shape[0]):
        place(tree, qpos[i], pos, quat, rot, screw)
        flow(tree, qvel[i], qacc[i], screw, vel, acc)
        for b in range(links):
            one = load(tree, b, pos, rot, vel, acc)
            fx, fy, fz = one[9], one[10], one[11]
            mx, my, mz = rotation.cross(one[0], one[1], one[2], fx, fy, fz)
            force[b, 0], force[b, 1], force[b, 2] = one[12] + mx, one[13] + my, one[14] + mz
            force[b, 3], force[b, 4], force[b, 5] = fx, fy, fz
        for b in range(links - 1, 0, -1):
            for d in range(tree.link_dof[b], tree.link_dof[b] + tree.link_dofs[b]):
                value = tree.dof_armature[d] * qacc[i, d]
                for e in range(6):
                    value += screw[d, e] * force[b, e]
                out[i, d] = value
            up = tree.link_parent[b]
            for e in range(6):
                force[up, e] += force[b, e]


@njit(cache=True, nogil=True)
def balance(tree, qpos, qvel, qacc, com, momentum, wrench):
    """Centre of mass (n, 3), momentum (n, 6) and required wrench (n, 6), both about that centre.

    The sum over all links of what each takes: the first rows of inverse dynamics without the
    backward pass, hence free of armature.
    """
    links, dofs = tree.link_parent.shape[0], qvel.shape[1]
    pos, quat, rot = np.empty((links, 3)), np.empty((links, 4)), np.empty((links, 9))
    screw, vel, acc = np.empty((dofs, 6)), np.empty((links, 6)), np.empty((links, 6))
    whole = 0.0
    for b in range(1, links):
        whole += tree.link_mass[b]
    share = 1.0 / whole
    for i in range(qpos.shape[0]):
        place(tree, qpos[i], pos, quat, rot, screw)
        flow(tree, qvel[i], qacc[i], screw, vel, acc)
        cx, cy, cz = 0.0, 0.0, 0.0
        px, py, pz, lx, ly, lz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        fx, fy, fz, nx, ny, nz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for b in range(1, links):
            mass = tree.link_mass[b]
            if mass == 0.0 and tree.link_inertia[b, 0] == 0.0:
                continue
            one = load(tree, b, pos, rot, vel, acc)
            cx, cy, cz = cx + mass * one[0], cy + mass * one[1], cz + mass * one[2]
            px, py, pz = px + one[3], py + one[4], pz + one[5]
            fx, fy, fz = fx + one[9], fy + one[10], fz + one[11]
            sx, sy, sz = rotation.cross(one[0], one[1], one[2], one[3], one[4], one[5])
            lx, ly, lz = lx + one[6] + sx, ly + one[7] + sy, lz + one[8] + sz
            sx, sy, sz = rotation.cross(one[0], one[1], one[2], one[9], one[10], one[11])
            nx, ny, nz = nx + one[12] + sx, ny + one[13] + sy, nz + one[14] + sz
        cx, cy, cz = cx * share, cy * share, cz * share
        com[i, 0], com[i, 1], com[i, 2] = pos[1, 0] + cx, pos[1, 1] + cy, pos[1, 2] + cz
        sx, sy, sz = rotation.cross(cx, cy, cz, px, py, pz)
        momentum[i, 0], momentum[i, 1], momentum[i, 2] = px, py, pz
        momentum[i, 3], momentum[i, 4], momentum[i, 5] = lx - sx, ly - sy, lz - sz
        sx, sy, sz = rotation.cross(cx, cy, cz, fx, fy, fz)
        wrench[i, 0], wrench[i, 1], wrench[i, 2] = fx, fy, fz
        wrench[i, 3], wrench[i, 4], wrench[i, 5] = nx - sx, ny - sy, nz - sz
