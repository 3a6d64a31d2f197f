"""What stands in a whole-body program: generators of its forces, and rows that keep it still."""

import numpy as np

from surefoot.kernels import rotation
from surefoot.kernels.body import jacobian
from surefoot.kernels.objectives import dot, objective
from surefoot.kernels.whole_body import (
    EDGE,
    FACE,
    HUNG,
    KD_STANCE,
    MARGIN,
    SLIDING,
    W_SOFT,
    part,
)

DEPENDENT = 0.02  # a row that turns no more than this out of the others' span says nothing new


@part
def generators(tree, body, spec, want, footing, room):
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
            spread, ax, ay, az = _dragged(
                want.link_vel[b], n, rx, ry, rz, spec.number[SLIDING], footing.friction[s], spread
            )
        for k in range(sides):
            angle = 2.0 * np.pi * (k + 0.5) / sides
            c, z = spread * np.cos(angle), spread * np.sin(angle)
            out = room.generator_w[sides * v + k]
            out[0] = n[0] + c * t[0] + z * t[3] + ax
            out[1] = n[1] + c * t[1] + z * t[4] + ay
            out[2] = n[2] + c * t[2] + z * t[5] + az
        _spread(tree, body, b, point, sides * v, sides, room.generator_w, room.G)


@part
def _spread(tree, body, b, point, first, sides, generator_w, G):
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
            g = generator_w[k]
            G[d, k] = tx * g[0] + ty * g[1] + tz * g[2]
        d = tree.dof_parent[d]


@part
def _dragged(v, n, rx, ry, rz, sliding, friction, spread):
    """How far a sliding point may choose its friction, and the part that it may not choose."""
    tx, ty, tz = rotation.cross(v[3], v[4], v[5], rx, ry, rz)
    tx, ty, tz = tx + v[0], ty + v[1], tz + v[2]
    along = tx * n[0] + ty * n[1] + tz * n[2]
    tx, ty, tz = tx - along * n[0], ty - along * n[1], tz - along * n[2]
    speed = np.sqrt(tx * tx + ty * ty + tz * tz)
    share = min(speed / sliding, 1.0)
    pull = -share * friction / max(speed, 1e-9)
    return (1.0 - share) * spread, pull * tx, pull * ty, pull * tz


@part
def stances(tree, body, spec, footing, qvel, soft, room):
    """Rows that keep still what stands; those that follow from others are left out."""
    count = 0
    twist = np.zeros(6)
    for s in range(footing.link.shape[0]):
        b = footing.link[s]
        rx, ry, rz = _turned(body.rot[b], footing.point_l[s])
        px, py, pz = body.pos[b, 0] + rx, body.pos[b, 1] + ry, body.pos[b, 2] + rz
        jacobian(tree, body, b, px, py, pz, room.J)
        vel, drift = _at(body.vel[b], body.drift[b], rx, ry, rz)
        axes, rows = _axes(
            body.rot[b], footing.edge_l[s], footing.normal_w[s], footing.mode[s], footing.moving[s]
        )
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
            if soft == 1:
                objective(row, room.L, room.f, spec.number[W_SOFT], -target)
            elif _independent(room.basis, row, count):
                room.right[count] = target
                count += 1
    for h in range(footing.held_dof.shape[0]):
        d = footing.held_dof[h]
        row = room.still[count]
        row[:] = 0.0
        row[d] = 1.0
        target = -spec.number[KD_STANCE] * qvel[d]
        if soft == 1:
            objective(row, room.L, room.f, spec.number[W_SOFT], -target)
        elif _independent(room.basis, row, count):
            room.right[count] = target
            count += 1
    room.fixed[0] = count


@part
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


@part
def _axes(rot, edge_l, n, mode, slides):
    """Which parts of the twist a stance holds: rows over (linear, angular)."""
    axes = np.zeros((6, 6))
    moving = slides == 1
    t = _tangents(n)
    rows = 0
    if mode == HUNG:
        return axes, 0
    if mode == EDGE:
        ex, ey, ez = _turned(rot, edge_l)
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


@part
def _independent(basis, row, count):
    """Whether a row says anything that the first `count` do not; if so, extends their basis."""
    new = basis[count]
    whole = 0.0
    for d in range(row.shape[0]):
        new[d] = row[d]
        whole += row[d] * row[d]
    for _again in range(2):  # twice is enough: the second takes what rounding left
        for i in range(count):
            part = dot(basis[i], new)
            for d in range(row.shape[0]):
                new[d] -= part * basis[i, d]
    rest = dot(new, new)
    if rest <= DEPENDENT * DEPENDENT * whole:
        return False
    share = 1.0 / np.sqrt(rest)
    for d in range(row.shape[0]):
        new[d] *= share
    return True


@part
def _turned(rot, p):
    """A vector of a link in world axes."""
    return (
        rot[0] * p[0] + rot[1] * p[1] + rot[2] * p[2],
        rot[3] * p[0] + rot[4] * p[1] + rot[5] * p[2],
        rot[6] * p[0] + rot[7] * p[1] + rot[8] * p[2],
    )


@part
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
