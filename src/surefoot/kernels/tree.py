"""A tree of links as plain arrays, and the passes along it for one frame.

Everything is in world axes. Spatial quantities (angular part, then linear part) are taken about one
point for the whole tree, the origin of link 1: then they add up along the tree without transforms,
and a robot far from the world origin loses no digits.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels import rotation

FREE, SLIDE, HINGE = 0, 2, 3  # MuJoCo's numbers; a ball joint would be 1


class Tree(NamedTuple):
    """Links `b` (0 is the world), joints `j` and degrees of freedom `d`; parents come first."""

    link_parent: np.ndarray  # (b)
    link_pos: np.ndarray  # (b, 3) origin in the parent, m
    link_quat: np.ndarray  # (b, 4) orientation in the parent
    link_mass: np.ndarray  # (b) kg; 0 for what is fixed to the world
    link_com: np.ndarray  # (b, 3) centre of mass in the link, m
    link_inertia: np.ndarray  # (b, 6) about the centre of mass: xx, yy, zz, xy, xz, yz, kg m²
    link_joint: np.ndarray  # (b) first joint
    link_joints: np.ndarray  # (b) number of joints
    link_dof: np.ndarray  # (b) first degree of freedom
    link_dofs: np.ndarray  # (b) number of degrees of freedom
    link_free: np.ndarray  # (b) 1 where the joint is a free one
    joint_kind: np.ndarray  # (j) FREE, SLIDE or HINGE
    joint_qpos: np.ndarray  # (j) first index into qpos
    joint_dof: np.ndarray  # (j) first index into qvel
    joint_axis: np.ndarray  # (j, 3) unit axis in the link
    joint_pos: np.ndarray  # (j, 3) a point of the axis in the link, m
    joint_zero: np.ndarray  # (j) position at which the link lies as in link_pos and link_quat
    dof_link: np.ndarray  # (d)
    dof_parent: np.ndarray  # (d) next degree of freedom towards the root, -1 at the end
    dof_turns: np.ndarray  # (d) 1 where it turns, 0 where it slides
    dof_armature: np.ndarray  # (d) rotor inertia at the joint, kg m² or kg
    gravity: np.ndarray  # (3) m/s²


@njit(cache=True, nogil=True)
def place(tree, q, pos, quat, rot, screw):
    """Poses of all links (rot: the nine entries of R_wl) and the screws of all degrees of freedom.

    A screw is the spatial velocity of the links above it per unit of qvel: about pos[1].
    """
    pos[0, :] = 0.0
    quat[0, 0], quat[0, 1], quat[0, 2], quat[0, 3] = 1.0, 0.0, 0.0, 0.0
    rot[0, :] = 0.0
    rot[0, 0], rot[0, 4], rot[0, 8] = 1.0, 1.0, 1.0
    for b in range(1, tree.link_parent.shape[0]):
        if tree.link_free[b] == 1:
            a = tree.joint_qpos[tree.link_joint[b]]
            px, py, pz = q[a], q[a + 1], q[a + 2]
            w, x, y, z = rotation.unit(q[a + 3], q[a + 4], q[a + 5], q[a + 6])
        else:
            up, turn = tree.link_parent[b], tree.link_quat[b]
            lx, ly, lz = tree.link_pos[b, 0], tree.link_pos[b, 1], tree.link_pos[b, 2]
            px = pos[up, 0] + rot[up, 0] * lx + rot[up, 1] * ly + rot[up, 2] * lz
            py = pos[up, 1] + rot[up, 3] * lx + rot[up, 4] * ly + rot[up, 5] * lz
            pz = pos[up, 2] + rot[up, 6] * lx + rot[up, 7] * ly + rot[up, 8] * lz
            w, x, y, z = quat[up, 0], quat[up, 1], quat[up, 2], quat[up, 3]
            if turn[1] != 0.0 or turn[2] != 0.0 or turn[3] != 0.0:
                w, x, y, z = rotation.multiply(w, x, y, z, turn[0], turn[1], turn[2], turn[3])
            for j in range(tree.link_joint[b], tree.link_joint[b] + tree.link_joints[b]):
                by = q[tree.joint_qpos[j]] - tree.joint_zero[j]
                px, py, pz, w, x, y, z = _moved(tree, j, by, px, py, pz, w, x, y, z, screw)
        pos[b, 0], pos[b, 1], pos[b, 2] = px, py, pz
        quat[b, 0], quat[b, 1], quat[b, 2], quat[b, 3] = w, x, y, z
        turned = rotation.as_matrix(w, x, y, z)
        for e in range(9):
            rot[b, e] = turned[e]
        if tree.link_free[b] == 1:
            d = tree.link_dof[b]
            screw[d : d + 3, :] = 0.0
            for e in range(3):
                screw[d + e, 3 + e] = 1.0
                for c in range(3):
                    screw[d + 3 + e, c] = turned[3 * c + e]
                    screw[d + 3 + e, 3 + c] = pos[b, c]
    for d in range(screw.shape[0]):
        if tree.dof_turns[d] == 1:  # the point of the axis becomes the velocity at pos[1]
            rx, ry, rz = screw[d, 3] - pos[1, 0], screw[d, 4] - pos[1, 1], screw[d, 5] - pos[1, 2]
            vx, vy, vz = rotation.cross(rx, ry, rz, screw[d, 0], screw[d, 1], screw[d, 2])
            screw[d, 3], screw[d, 4], screw[d, 5] = vx, vy, vz


@njit(cache=True, nogil=True)
def _moved(tree, j, by, px, py, pz, w, x, y, z, screw):
    """A pose moved by one scalar joint, whose axis (and a point of it) is put down in screw."""
    d = tree.joint_dof[j]
    ax, ay, az = tree.joint_axis[j, 0], tree.joint_axis[j, 1], tree.joint_axis[j, 2]
    ux, uy, uz = rotation.rotate(w, x, y, z, ax, ay, az)
    if tree.joint_kind[j] == SLIDE:
        screw[d, 0], screw[d, 1], screw[d, 2] = 0.0, 0.0, 0.0
        screw[d, 3], screw[d, 4], screw[d, 5] = ux, uy, uz
        return px + by * ux, py + by * uy, pz + by * uz, w, x, y, z
    cx, cy, cz = tree.joint_pos[j, 0], tree.joint_pos[j, 1], tree.joint_pos[j, 2]
    beside = cx != 0.0 or cy != 0.0 or cz != 0.0  # a tenth of the time is saved where it is not
    if beside:
        rx, ry, rz = rotation.rotate(w, x, y, z, cx, cy, cz)
        px, py, pz = px + rx, py + ry, pz + rz
    screw[d, 0], screw[d, 1], screw[d, 2] = ux, uy, uz
    screw[d, 3], screw[d, 4], screw[d, 5] = px, py, pz
    tw, tx, ty, tz = rotation.from_axis_angle(ax, ay, az, by)
    w, x, y, z = rotation.multiply(w, x, y, z, tw, tx, ty, tz)
    if beside:
        rx, ry, rz = rotation.rotate(w, x, y, z, cx, cy, cz)
        px, py, pz = px - rx, py - ry, pz - rz
    return px, py, pz, w, x, y, z


@njit(cache=True, nogil=True)
def flow(tree, v, a, screw, vel, acc):
    """Spatial velocities and accelerations of all links about pos[1], seen as a fixed point."""
    vel[0, :] = 0.0
    acc[0, :] = 0.0
    for b in range(1, tree.link_parent.shape[0]):
        up = tree.link_parent[b]
        wx, wy, wz = vel[up, 0], vel[up, 1], vel[up, 2]
        vx, vy, vz = vel[up, 3], vel[up, 4], vel[up, 5]
        for e in range(6):
            acc[b, e] = acc[up, e]
        start = tree.link_dof[b]
        if tree.link_free[b] == 1:
            for d in range(start, start + 6):
                for e in range(6):
                    acc[b, e] += screw[d, e] * a[d]
                wx += screw[d, 0] * v[d]
                wy += screw[d, 1] * v[d]
                wz += screw[d, 2] * v[d]
                vx += screw[d, 3] * v[d]
                vy += screw[d, 4] * v[d]
                vz += screw[d, 5] * v[d]
            # the turning axes move with the link's origin, the sliding ones stand still
            cx, cy, cz = rotation.cross(v[start], v[start + 1], v[start + 2], wx, wy, wz)
            acc[b, 3] += cx
            acc[b, 4] += cy
            acc[b, 5] += cz
        else:
            for d in range(start, start + tree.link_dofs[b]):
                sx, sy, sz = screw[d, 0] * v[d], screw[d, 1] * v[d], screw[d, 2] * v[d]
                tx, ty, tz = screw[d, 3] * v[d], screw[d, 4] * v[d], screw[d, 5] * v[d]
                acc[b, 0] += screw[d, 0] * a[d] + wy * sz - wz * sy
                acc[b, 1] += screw[d, 1] * a[d] + wz * sx - wx * sz
                acc[b, 2] += screw[d, 2] * a[d] + wx * sy - wy * sx
                acc[b, 3] += screw[d, 3] * a[d] + wy * tz - wz * ty + vy * sz - vz * sy
                acc[b, 4] += screw[d, 4] * a[d] + wz * tx - wx * tz + vz * sx - vx * sz
                acc[b, 5] += screw[d, 5] * a[d] + wx * ty - wy * tx + vx * sy - vy * sx
                wx, wy, wz = wx + sx, wy + sy, wz + sz
                vx, vy, vz = vx + tx, vy + ty, vz + tz
        vel[b, 0], vel[b, 1], vel[b, 2] = wx, wy, wz
        vel[b, 3], vel[b, 4], vel[b, 5] = vx, vy, vz


@njit(cache=True, nogil=True)
def load(tree, b, pos, rot, vel, acc):
    """What link b takes: its centre of mass about pos[1], momentum and required force.

    Returned are the centre (3), linear momentum (3), spin about the centre (3), force against
    inertia and gravity (3) and the rate of the spin (3).
    """
    mass = tree.link_mass[b]
    lx, ly, lz = tree.link_com[b, 0], tree.link_com[b, 1], tree.link_com[b, 2]
    r0, r1, r2, r3, r4 = rot[b, 0], rot[b, 1], rot[b, 2], rot[b, 3], rot[b, 4]
    r5, r6, r7, r8 = rot[b, 5], rot[b, 6], rot[b, 7], rot[b, 8]
    cx = pos[b, 0] - pos[1, 0] + r0 * lx + r1 * ly + r2 * lz
    cy = pos[b, 1] - pos[1, 1] + r3 * lx + r4 * ly + r5 * lz
    cz = pos[b, 2] - pos[1, 2] + r6 * lx + r7 * ly + r8 * lz
    wx, wy, wz = vel[b, 0], vel[b, 1], vel[b, 2]
    ax, ay, az = acc[b, 0], acc[b, 1], acc[b, 2]
    vx = vel[b, 3] + wy * cz - wz * cy
    vy = vel[b, 4] + wz * cx - wx * cz
    vz = vel[b, 5] + wx * cy - wy * cx
    fx = mass * (acc[b, 3] + ay * cz - az * cy + wy * vz - wz * vy - tree.gravity[0])
    fy = mass * (acc[b, 4] + az * cx - ax * cz + wz * vx - wx * vz - tree.gravity[1])
    fz = mass * (acc[b, 5] + ax * cy - ay * cx + wx * vy - wy * vx - tree.gravity[2])
    ux, uy, uz = (
        r0 * wx + r3 * wy + r6 * wz,
        r1 * wx + r4 * wy + r7 * wz,
        r2 * wx + r5 * wy + r8 * wz,
    )
    dx, dy, dz = (
        r0 * ax + r3 * ay + r6 * az,
        r1 * ax + r4 * ay + r7 * az,
        r2 * ax + r5 * ay + r8 * az,
    )
    xx, yy, zz = tree.link_inertia[b, 0], tree.link_inertia[b, 1], tree.link_inertia[b, 2]
    xy, xz, yz = tree.link_inertia[b, 3], tree.link_inertia[b, 4], tree.link_inertia[b, 5]
    sx, sy, sz = (
        xx * ux + xy * uy + xz * uz,
        xy * ux + yy * uy + yz * uz,
        xz * ux + yz * uy + zz * uz,
    )
    nx = xx * dx + xy * dy + xz * dz + uy * sz - uz * sy
    ny = xy * dx + yy * dy + yz * dz + uz * sx - ux * sz
    nz = xz * dx + yz * dy + zz * dz + ux * sy - uy * sx
    return (
        cx,
        cy,
        cz,
        mass * vx,
        mass * vy,
        mass * vz,
        r0 * sx + r1 * sy + r2 * sz,
        r3 * sx + r4 * sy + r5 * sz,
        r6 * sx + r7 * sy + r8 * sz,
        fx,
        fy,
        fz,
        r0 * nx + r1 * ny + r2 * nz,
        r3 * nx + r4 * ny + r5 * nz,
        r6 * nx + r7 * ny + r8 * nz,
    )
