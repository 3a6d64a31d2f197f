"""The assembly of the strict controller: a whole-body quadratic program as a least-distance one.

Unknown are the accelerations q̈ and the sizes λ ≥ 0 of forces along generators of friction cones:

    min ½ q̈ᵀ H q̈ + fᵀ q̈ + ½ w λᵀ λ    under    A q̈ + C λ = b,   low ≤ A' q̈ + C' λ ≤ high.

All objectives are told in q̈ (that of the centre of mass too, which the root's equations tie to the
forces), so that the two kinds of unknowns meet in the rows alone. With H = L Lᵀ, q̈ = q̈₀ + L⁻ᵀ u and
λ = v / √w this is min ½ |(v, u)|²: what a dual active-set solver would make of it by factorising
the whole, at a third of the cost. World axes everywhere; rows of twists are linear, then angular.
"""

import numpy as np

from surefoot.kernels.body import measure
from surefoot.kernels.footholds import generators, stances
from surefoot.kernels.objectives import (
    dot,
    follow_joints,
    follow_links,
    follow_momentum,
)
from surefoot.kernels.whole_body import (
    CREEPING,
    K_LIMIT,
    K_SPEED,
    W_FORCE,
    entry,
    part,
)

RECOVERY = 0.5  # rad/s or m/s at which a joint beyond its limit is asked to come back
NEAR = 0.95  # share of a torque limit from which its row is kept in the program
KEPT = 25  # steps for which a row stays in the program after it was last needed
EXACT = 1e-7  # share of a limit by which it may be missed before its row is put in


@entry
def assemble(tree, body, spec, want, footing, qpos, qvel, soft, room):
    """The program of one state; returns the number of rows and how many of them are equalities.

    With `soft` = 1 the stances are objectives and the bounds of accelerations are left out: then
    there is always an answer.
    """
    measure(tree, qpos, qvel, body)
    _loads(body.bias, spec, want.qvel, qpos, qvel, room.load)
    room.L[:] = 0.0
    room.f[:] = 0.0
    follow_joints(spec, want, qpos, qvel, room)
    follow_momentum(tree, body, spec, want, room)
    follow_links(tree, body, spec, want, footing, room)
    generators(tree, body, spec, want, footing, room)
    stances(tree, body, spec, footing, qvel, soft, room)
    _bounds(spec, qpos, qvel, soft, room)
    _factorise(room.L)
    _down(room.L, room.f)
    _up(room.L, room.f)
    room.f[:] = -room.f
    return select(spec, body.mass_matrix, room)


@entry
def select(spec, mass_matrix, room):
    """The rows of the least-distance problem: all equalities, and the bounds that are kept."""
    g, scale = room.G.shape[1], 1.0 / np.sqrt(spec.number[W_FORCE])
    count = 0
    for i in range(spec.root_dof.shape[0]):
        d = spec.root_dof[i]
        _row(room.L, mass_matrix[d], room.rows[count], g)
        for k in range(g):
            room.rows[count, k] = -scale * room.G[d, k]
        value = -room.load[d] - dot(mass_matrix[d], room.f)
        room.lower[g + count], room.upper[g + count] = value, value
        count += 1
    for i in range(int(room.fixed[0])):
        _row(room.L, room.still[i], room.rows[count], g)
        value = room.right[i] - dot(room.still[i], room.f)
        room.lower[g + count], room.upper[g + count] = value, value
        count += 1
    equal = count
    m = spec.joint_dof.shape[0]
    for j in range(m):
        d = spec.joint_dof[j]
        if room.kept[j] > 0.0:
            _row(room.L, mass_matrix[d], room.rows[count], g)
            for k in range(g):
                room.rows[count, k] = -scale * room.G[d, k]
            shift = room.load[d] + dot(mass_matrix[d], room.f)
            room.lower[g + count] = room.low[j] - shift
            room.upper[g + count] = room.high[j] - shift
            count += 1
        if room.kept[m + j] > 0.0:
            room.J[0, :] = 0.0
            room.J[0, d] = 1.0
            _row(room.L, room.J[0], room.rows[count], g)
            room.lower[g + count] = room.low[m + j] - room.f[d]
            room.upper[g + count] = room.high[m + j] - room.f[d]
            count += 1
    return count, equal


@entry
def finish(spec, mass_matrix, answer, room):
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
        value = dot(mass_matrix[d], room.qacc) + room.load[d]
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
    _press(room.force, room.generator_w, room.vertex_w, room.pressure_w)
    return broken


@part
def _keep(kept, i, needed):
    if needed:
        kept[i] = KEPT
    elif kept[i] > 0.0:
        kept[i] -= 1.0


@part
def _press(force, generator_w, vertex_w, out):
    """Where the forces of an answer press, weighted by their vertical part."""
    sides = force.shape[0] // max(vertex_w.shape[0], 1)
    out[:] = 0.0
    for k in range(force.shape[0]):
        up = force[k] * generator_w[k, 2]
        for e in range(3):
            out[e] += up * vertex_w[k // sides, e]
        out[3] += up
    if out[3] > 0.0:
        for e in range(3):
            out[e] /= out[3]


@part
def _loads(bias, spec, ahead, qpos, qvel, load):
    """What the torques must carry beside M q̈: bias, springs, damping, dry friction foreseen."""
    for d in range(qvel.shape[0]):
        load[d] = bias[d] + spec.dof_damping[d] * qvel[d]
    for j in range(spec.joint_dof.shape[0]):
        d = spec.joint_dof[j]
        bent = qpos[spec.joint_qpos[j]] - spec.joint_spring[j]
        share = np.tanh(ahead[d] / spec.number[CREEPING])
        load[d] += spec.joint_stiffness[j] * bent + spec.joint_loss[j] * share


@part
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


@part
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


@part
def _down(L, x):
    """L⁻¹ x in place."""
    for i in range(x.shape[0]):
        value = x[i]
        for k in range(i):
            value -= L[i, k] * x[k]
        x[i] = value / L[i, i]


@part
def _up(L, x):
    """L⁻ᵀ x in place."""
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] /= L[i, i]
        value = x[i]
        for k in range(i):
            x[k] -= L[i, k] * value


@part
def _row(L, over_qacc, row, g):
    """The part of a row that belongs to q̈, in the new unknowns; the other is left at zero."""
    row[:g] = 0.0
    for d in range(over_qacc.shape[0]):
        row[g + d] = over_qacc[d]
    for i in range(L.shape[0]):
        value = row[g + i]
        for k in range(i):
            value -= L[i, k] * row[g + k]
        row[g + i] = value / L[i, i]
