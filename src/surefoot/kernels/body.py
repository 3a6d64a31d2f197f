"""One frame of a tree, all that a controller asks of it: motion of links, inertia, bias, momentum.

What `rigid` makes for many frames is made here for one, in one walk along the tree and into arrays
that live as long as the controller: at five hundred steps a second nothing is allocated.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels import rotation
from surefoot.kernels.rigid import classical, composites
from surefoot.kernels.tree import flow, load, place


class Body(NamedTuple):
    """The arrays of one frame: links b, degrees of freedom d. World axes everywhere."""

    pos: np.ndarray  # (b, 3) origins, m
    quat: np.ndarray  # (b, 4)
    rot: np.ndarray  # (b, 9) rows of R_wl
    screw: np.ndarray  # (d, 6) angular, then linear velocity about pos[1] per unit of qvel
    spatial_vel: np.ndarray  # (b, 6) angular, then linear, about pos[1]
    spatial_acc: np.ndarray  # (b, 6) the same of the acceleration that velocities alone make
    vel: np.ndarray  # (b, 6) of the origins, then angular
    drift: np.ndarray  # (b, 6) J̇ q̇: acceleration of the origins, then angular, with q̈ = 0
    total: np.ndarray  # (b, 10) composite masses, first moments and inertias
    force: np.ndarray  # (b, 6) moment and force that each link takes with q̈ = 0
    mass_matrix: np.ndarray  # (d, d)
    bias: np.ndarray  # (d) against gravity and velocity products
    com: np.ndarray  # (3) m
    com_vel: np.ndarray  # (3) m/s
    spin: np.ndarray  # (3) angular momentum about the centre of mass, N m s
    mass: np.ndarray  # (1) of the whole tree, kg


def room_for(links: int, dofs: int) -> Body:
    """The arrays of one frame of a tree of so many links and degrees of freedom."""
    b, d = links, dofs
    return Body(
        pos=np.zeros((b, 3)),
        quat=np.zeros((b, 4)),
        rot=np.zeros((b, 9)),
        screw=np.zeros((d, 6)),
        spatial_vel=np.zeros((b, 6)),
        spatial_acc=np.zeros((b, 6)),
        vel=np.zeros((b, 6)),
        drift=np.zeros((b, 6)),
        total=np.zeros((b, 10)),
        force=np.zeros((b, 6)),
        mass_matrix=np.zeros((d, d)),
        bias=np.zeros(d),
        com=np.zeros(3),
        com_vel=np.zeros(3),
        spin=np.zeros(3),
        mass=np.zeros(1),
    )


@njit(cache=True, nogil=True)
def measure(tree, qpos, qvel, body):
    """Everything in `body` at one state."""
    place(tree, qpos, body.pos, body.quat, body.rot, body.screw)
    body.bias[:] = 0.0  # stands in for q̈ = 0 until the bias is known
    flow(tree, qvel, body.bias, body.screw, body.spatial_vel, body.spatial_acc)
    _points(body)
    _inertia(tree, body)
    _loads(tree, body)


@njit(cache=True, nogil=True)
def jacobian(tree, body, link, px, py, pz, out):
    """The Jacobian (6, d) of the point p (world) of a link: linear, then angular rows."""
    out[:] = 0.0
    last = link
    while last > 0 and tree.link_dofs[last] == 0:
        last = tree.link_parent[last]
    if last == 0:
        return
    rx, ry, rz = px - body.pos[1, 0], py - body.pos[1, 1], pz - body.pos[1, 2]
    d = tree.link_dof[last] + tree.link_dofs[last] - 1
    while d >= 0:
        s = body.screw[d]
        tx, ty, tz = rotation.cross(s[0], s[1], s[2], rx, ry, rz)
        out[0, d], out[1, d], out[2, d] = s[3] + tx, s[4] + ty, s[5] + tz
        out[3, d], out[4, d], out[5, d] = s[0], s[1], s[2]
        d = tree.dof_parent[d]


@njit(cache=True, nogil=True)
def _points(body):
    """Velocities and drifts of the origins from those about pos[1]."""
    for b in range(body.pos.shape[0]):
        rx = body.pos[b, 0] - body.pos[1, 0]
        ry = body.pos[b, 1] - body.pos[1, 1]
        rz = body.pos[b, 2] - body.pos[1, 2]
        v = body.spatial_vel[b]
        tx, ty, tz = rotation.cross(v[0], v[1], v[2], rx, ry, rz)
        body.vel[b, 0], body.vel[b, 1], body.vel[b, 2] = v[3] + tx, v[4] + ty, v[5] + tz
        body.vel[b, 3], body.vel[b, 4], body.vel[b, 5] = v[0], v[1], v[2]
        classical(body.pos, body.spatial_vel, body.spatial_acc, b, body.drift[b])


@njit(cache=True, nogil=True)
def _inertia(tree, body):
    """The mass matrix by composite bodies, as `rigid.inertia` makes it."""
    composites(tree, body.pos, body.rot, body.total)
    body.mass_matrix[:] = 0.0
    for d in range(body.screw.shape[0]):
        c, u = body.total[tree.dof_link[d]], body.screw[d]
        ux, uy, uz, tx, ty, tz = u[0], u[1], u[2], u[3], u[4], u[5]
        px = c[0] * tx + uy * c[3] - uz * c[2]
        py = c[0] * ty + uz * c[1] - ux * c[3]
        pz = c[0] * tz + ux * c[2] - uy * c[1]
        lx = c[4] * ux + c[7] * uy + c[8] * uz + c[2] * tz - c[3] * ty
        ly = c[7] * ux + c[5] * uy + c[9] * uz + c[3] * tx - c[1] * tz
        lz = c[8] * ux + c[9] * uy + c[6] * uz + c[1] * ty - c[2] * tx
        e = d
        while e >= 0:
            s = body.screw[e]
            value = s[0] * lx + s[1] * ly + s[2] * lz + s[3] * px + s[4] * py + s[5] * pz
            body.mass_matrix[d, e] = value
            body.mass_matrix[e, d] = value
            e = tree.dof_parent[e]
        body.mass_matrix[d, d] += tree.dof_armature[d]


@njit(cache=True, nogil=True)
def _loads(tree, body):
    """Centre of mass, momentum, and the bias by one pass towards the root."""
    links = body.pos.shape[0]
    mass, cx, cy, cz = 0.0, 0.0, 0.0, 0.0
    px, py, pz, lx, ly, lz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    force = body.force
    force[0, :] = 0.0
    for b in range(1, links):
        one = load(tree, b, body.pos, body.rot, body.spatial_vel, body.spatial_acc)
        own = tree.link_mass[b]
        mass += own
        cx, cy, cz = cx + own * one[0], cy + own * one[1], cz + own * one[2]
        px, py, pz = px + one[3], py + one[4], pz + one[5]
        sx, sy, sz = rotation.cross(one[0], one[1], one[2], one[3], one[4], one[5])
        lx, ly, lz = lx + one[6] + sx, ly + one[7] + sy, lz + one[8] + sz
        sx, sy, sz = rotation.cross(one[0], one[1], one[2], one[9], one[10], one[11])
        force[b, 0], force[b, 1], force[b, 2] = one[12] + sx, one[13] + sy, one[14] + sz
        force[b, 3], force[b, 4], force[b, 5] = one[9], one[10], one[11]
    for b in range(links - 1, 0, -1):
        for d in range(tree.link_dof[b], tree.link_dof[b] + tree.link_dofs[b]):
            value = 0.0
            for e in range(6):
                value += body.screw[d, e] * force[b, e]
            body.bias[d] = value
        up = tree.link_parent[b]
        for e in range(6):
            force[up, e] += force[b, e]
    cx, cy, cz = cx / mass, cy / mass, cz / mass
    body.mass[0] = mass
    body.com[0] = body.pos[1, 0] + cx
    body.com[1] = body.pos[1, 1] + cy
    body.com[2] = body.pos[1, 2] + cz
    body.com_vel[0], body.com_vel[1], body.com_vel[2] = px / mass, py / mass, pz / mass
    sx, sy, sz = rotation.cross(cx, cy, cz, px, py, pz)
    body.spin[0], body.spin[1], body.spin[2] = lx - sx, ly - sy, lz - sz
