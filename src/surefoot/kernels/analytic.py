"""The closed form of the tracking controller: Z of (7) as ½ yᵀ A y + yᵀ b, and y = −A⁻¹ b.

Equations (6) to (19) of Yamane and Hodgins. The unknowns y are the joint torques, then six numbers
for each carrying foot: force, and moment about the foot's point, world axes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels.dense import factorise, solve_columns, solve_in_place
from surefoot.kernels.desire import PIVOTS, feedback, keep_limits, measure_feet, meet_feet
from surefoot.kernels.rotation import cross


class Weights(NamedTuple):
    """What each term of Z is worth."""

    q: np.ndarray  # (d) W_q
    torque: np.ndarray  # (m) W_τ, (N m)^-2
    force: float  # W_f, N^-2
    moment: float  # W_f, (N m)^-2
    cop: float  # W_b, (N m)^-2
    foot_cop: float  # W_p
    spin: float  # W_m


class Wish(NamedTuple):
    """Where pressure and forces should be; one row a carrying foot (s)."""

    point: np.ndarray  # (s, 3) where its six numbers are taken, r_i, m
    foot: np.ndarray  # (s) which of the feet it is
    cop: np.ndarray  # (3) r_b
    foot_cop: np.ndarray  # (s, 3) r_pi
    sharp: np.ndarray  # (s) factor of W_p
    force: np.ndarray  # (s, 6) reference of the force and moment
    com: np.ndarray  # (3) r_m


class Room(NamedTuple):
    """Degrees of freedom d, joints m, unknowns u at most."""

    joint_dof: np.ndarray  # (m)
    limit: np.ndarray  # (m) largest torques, inf where none
    factor: np.ndarray  # (d, d) of the mass matrix
    G: np.ndarray  # (d, u) q̈ = G y + g
    g: np.ndarray  # (d)
    A: np.ndarray  # (u, u)
    b: np.ndarray  # (u)
    A_factor: np.ndarray  # (u, u)
    y: np.ndarray  # (u)
    row: np.ndarray  # (u)
    raised: np.ndarray  # (m) 1 where the torque was set to its limit


def wish_room(feet: int) -> Wish:
    """The arrays for so many feet."""
    s = feet
    return Wish(
        np.zeros((s, 3)),
        np.zeros(s, dtype=np.int64),
        np.zeros(3),
        np.zeros((s, 3)),
        np.ones(s),
        np.zeros((s, 6)),
        np.zeros(3),
    )


def room_for(joint_dof: np.ndarray, limit: np.ndarray, dofs: int, feet: int) -> Room:
    """The arrays for these joints and so many feet."""
    m = len(joint_dof)
    u = m + 6 * feet
    return Room(
        joint_dof=np.ascontiguousarray(joint_dof, dtype=np.int64),
        limit=np.ascontiguousarray(limit, dtype=np.float64),
        factor=np.zeros((dofs, dofs)),
        G=np.zeros((dofs, u)),
        g=np.zeros(dofs),
        A=np.zeros((u, u)),
        b=np.zeros(u),
        A_factor=np.zeros((u, u)),
        y=np.zeros(u),
        row=np.zeros(u),
        raised=np.zeros(m),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def respond(body, feet, carrying, wish, room):
    """(6): q̈ = G y + g of the unknowns y; False where the inertia is not positive."""
    dofs, joints = room.G.shape[0], room.joint_dof.shape[0]
    n = joints + 6 * carrying
    for d in range(dofs):
        for e in range(dofs):
            room.factor[d, e] = body.mass_matrix[d, e]
    if not factorise(room.factor, dofs):
        return False
    for d in range(dofs):
        for k in range(n):
            room.G[d, k] = 0.0
    for j in range(joints):
        room.G[room.joint_dof[j], j] = 1.0
    for s in range(carrying):
        row, column = 6 * wish.foot[s], joints + 6 * s
        for i in range(6):
            for d in range(dofs):
                room.G[d, column + i] = feet.jac[row + i, d]
    solve_columns(room.factor, dofs, room.G, n)
    for d in range(dofs):
        room.g[d] = -body.bias[d]
    solve_in_place(room.factor, dofs, room.g)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def assemble(acc, feet, carrying, wish, weights, room):
    """A and b of (18): the lower half of A."""
    joints = room.joint_dof.shape[0]
    n = joints + 6 * carrying
    A, b = room.A, room.b
    for i in range(n):
        b[i] = 0.0
        for k in range(n):
            A[i, k] = 0.0
    _accelerations(acc, feet, n, weights, room)
    for j in range(joints):  # (14), with τ̂ = 0
        A[j, j] += weights.torque[j]
    for s in range(carrying):  # (15)
        for i in range(6):
            k, w = joints + 6 * s + i, weights.force if i < 3 else weights.moment
            A[k, k] += w
            b[k] -= w * wish.force[s, i]
    _moments(carrying, wish, weights, joints, room)


@njit(cache=True, nogil=True, error_model="numpy")
def _accelerations(acc, feet, n, weights, room):
    """(12) and (13)."""
    G, A, b, row = room.G, room.A, room.b, room.row
    dofs = G.shape[0]
    for d in range(dofs):
        w = weights.q[d]
        if w > 0.0:
            _add(A, b, G[d], n, w, acc[d] - room.g[d])
    for r in range(feet.jac.shape[0]):
        for k in range(n):
            row[k] = 0.0
        still = feet.wanted[r] - feet.drift[r]
        for d in range(dofs):
            u = feet.jac[r, d]
            if u != 0.0:
                still -= u * room.g[d]
                for k in range(n):
                    row[k] += u * G[d, k]
        _add(A, b, row, n, feet.weight[r], still)


@njit(cache=True, nogil=True, error_model="numpy")
def _add(A, b, row, n, w, goal):
    """½ w (row · y − goal)² to the lower half of A, and to b."""
    for i in range(n):
        u = w * row[i]
        if u != 0.0:
            for k in range(i + 1):
                A[i, k] += u * row[k]
            b[i] -= u * goal


@njit(cache=True, nogil=True, error_model="numpy")
def _moments(carrying, wish, weights, joints, room):
    """(8), (16) and (17): moments about r_b, about each r_pi, and about the centre of mass."""
    A, row = room.A, room.row
    n = joints + 6 * carrying
    for k in range(n):
        row[k] = 0.0
    for i in range(3):
        for s in range(carrying):
            _moment_row(wish.point[s], wish.com, i, row[joints + 6 * s : joints + 6 * s + 6])
        _add_block(A, row, joints, n, weights.spin)
    for i in range(2):
        for s in range(carrying):
            _moment_row(wish.point[s], wish.cop, i, row[joints + 6 * s : joints + 6 * s + 6])
        _add_block(A, row, joints, n, weights.cop)
    for s in range(carrying):
        first = joints + 6 * s
        for i in range(2):
            _moment_row(wish.point[s], wish.foot_cop[s], i, row[first : first + 6])
            _add_block(A, row, first, first + 6, weights.foot_cop * wish.sharp[s])


@njit(cache=True, nogil=True, error_model="numpy")
def _moment_row(point, about, i, out):
    """Row i of the moment of (f, n) at a point about another: n + (point − about) × f.

    For i = 0, 1 and about = r_b these are the rows of C T, with C as corrected.
    """
    j, k = (i + 1) % 3, (i + 2) % 3
    for e in range(6):
        out[e] = 0.0
    out[k] = point[j] - about[j]
    out[j] = -(point[k] - about[k])
    out[3 + i] = 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def _add_block(A, row, first, last, w):
    for i in range(first, last):
        u = w * row[i]
        for k in range(first, i + 1):
            A[i, k] += u * row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def solve(n, raised_weight, rounds, room):
    """(19), again with torques beyond their limits set to them; -1 where A is not positive.

    Returns how many torques were set to their limit.
    """
    joints = room.joint_dof.shape[0]
    A, F, b, y = room.A, room.A_factor, room.b, room.y
    for j in range(joints):
        room.raised[j] = 0.0
    count = 0
    for again in range(rounds + 1):
        for i in range(n):
            for k in range(i + 1):
                F[i, k] = A[i, k]
            y[i] = -b[i]
        for j in range(joints):
            if room.raised[j] != 0.0:
                F[j, j] += raised_weight
                y[j] += raised_weight * room.raised[j] * room.limit[j]
        if not factorise(F, n):
            return -1
        solve_in_place(F, n, y)
        if again == rounds:
            break
        more = 0
        for j in range(joints):
            if room.raised[j] == 0.0 and abs(y[j]) > room.limit[j]:
                room.raised[j] = 1.0 if y[j] > 0.0 else -1.0
                more += 1
        if more == 0:
            break
        count += more
    for j in range(joints):
        y[j] = min(max(y[j], -room.limit[j]), room.limit[j])
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def aim(contact, foot_contact, feet, force, printed, zero_forces, sharp, wish):
    """What the feet should give: their centres of pressure, and reference forces at those.

    `printed` moves the points of (11) and (16) to where the printed signs put them: the mirror
    image, at height 0.
    """
    if printed:
        wish.cop[0], wish.cop[1], wish.cop[2] = -wish.cop[0], -wish.cop[1], 0.0
    for k in range(feet.link.shape[0]):
        s = feet.slot[k]
        if s < 0:
            continue
        c = foot_contact[k]
        wish.foot[s] = k
        wish.sharp[s] = sharp if feet.does[k] == PIVOTS else 1.0
        p, o, f = contact.cop[c], feet.point[k], wish.force[s]
        wish.point[s, 0], wish.point[s, 1], wish.point[s, 2] = o[0], o[1], o[2]
        for e in range(6):
            f[e] = 0.0
        if not zero_forces:
            w = contact.share[c]
            f[0], f[1], f[2] = w * force[0], w * force[1], w * force[2]
            f[3], f[4], f[5] = cross(p[0] - o[0], p[1] - o[1], p[2] - o[2], f[0], f[1], f[2])
        for e in range(3):
            wish.foot_cop[s, e] = p[e]
        if printed:
            wish.foot_cop[s, 0], wish.foot_cop[s, 1], wish.foot_cop[s, 2] = -p[0], -p[1], 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def step(tree, body, state, target, links, gains, feet, load, weights, rule, wish, acc, room):
    """One step from a measured body to torques in room.y; returns what `solve` does.

    Args: target is qpos, qvel, qacc; links are positions, quaternions, velocities and accelerations
    of all links; load is what `aim` is told before its switches; rule is whether (5) is used, the
    printed signs, reference forces of zero, the factor of pivots, the raised weight and the rounds.
    """
    meets, printed, zero_forces, sharp, raised_weight, rounds = rule
    contact, foot_contact, carrying, force = load
    feedback(tree, state, target, gains, acc)
    measure_feet(tree, body, links, gains, feet)
    if meets:
        meet_feet(feet, gains.damping, acc)
    keep_limits(tree, state, gains, acc)
    aim(contact, foot_contact, feet, force, printed, zero_forces, sharp, wish)
    if not respond(body, feet, carrying, wish, room):
        return -1
    assemble(acc, feet, carrying, wish, weights, room)
    return solve(room.joint_dof.shape[0] + 6 * carrying, raised_weight, rounds, room)
