"""The nearest points of cones to wrenches outside them, between two bounds.

Non-negative least squares over infinitely many columns: the ray that the residual violates most is
known in closed form, at most `dim` independent rays carry, and their weights stay positive (Lawson
and Hanson). Where friction limits, rays gather around the best one; then Newton's method says where
to look, and the safe method stays in charge.
"""

import math

import numpy as np
from numba import njit

from surefoot.kernels.active import (
    COS,
    DUAL,
    GUESS,
    RAY,
    REST,
    SIN,
    Active,
    add,
    make_rest,
    start,
)
from surefoot.kernels.cone import Cone, best_turn, dot, feel, row_dot, support, write_row
from surefoot.kernels.newton import guess_rest

NEWTON_FROM = 8  # steps before Newton's method is asked, then every second time
MOST_STEPS = 300  # rays that are tried
MOST_GATHERED = 8  # times; Newton's method doubles the digits, so a few are enough
TOUCHING = 1e-12  # of the wrench: rounding of a wrench moves it by 1e-16

INSIDE, SETTLED, OPEN = 0, 1, 2


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_points(
    wanted, first, a, friction, sides, inward, least, w, tol, lower, upper, dual, carriers, status
):
    """Bounds of the distance of wrenches w (n, dim) from the cones of their samples.

    Only of samples that are `wanted`. Sample i has the vertices first[i] to first[i + 1] of `a`
    (k, 3, dim). `inward` (n, dim) is a direction that all its rays share, `least` (k) by how much.
    `dual` becomes the unit direction of the lower bound: no ray has a positive product with it; of
    INSIDE samples, what is left of w.
    `carriers` (n, dim + 1, dim) are the rays that carry, zero where fewer do.
    """
    dim = w.shape[1]
    active = Active(
        np.zeros(dim + 1, np.int64),
        np.zeros((dim + 1, 4)),
        np.zeros((dim + 1, dim)),
        np.zeros((dim + 1, dim)),
        np.zeros((dim + 1, dim + 1)),
        np.zeros((4, dim)),
        np.zeros((3, dim + 1, dim)),
    )
    m, before = np.int64(0), np.int64(0)
    for i in range(w.shape[0]):
        if not wanted[i]:
            before = np.int64(0)
            continue
        rows = slice(first[i], first[i + 1])
        cone = Cone(a[rows], friction[rows], sides, inward[i], least[rows])
        if first[i + 1] - first[i] != before:
            m = np.int64(0)
        before, warm = first[i + 1] - first[i], bool(m > 0)
        while True:  # at most twice: what could not be ended from a memory is begun anew
            status[i], lower[i], upper[i], m = _nearest(cone, w[i], tol, m, active)
            if status[i] != OPEN or not warm:
                break
            m, warm = np.int64(0), False
        found = REST if status[i] == INSIDE else DUAL
        for k in range(dim):
            dual[i, k] = active.row[found, k]
        for k in range(carriers.shape[1]):
            for n in range(dim):
                carriers[i, k, n] = active.ray[k, n] if k < m else 0.0


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _nearest(cone, w, tol, warm, active):
    """(status, lower, upper, rays that carry); `warm` rays carried before and are tried first."""
    row = active.row
    size = math.sqrt(dot(w, w))
    lower, upper, guess = 0.0, size, False
    for i in range(row.shape[1]):
        active.row[DUAL, i] = 0.0
    m, kept, step, gathered = np.int64(0), warm, 0, 0
    while step < MOST_STEPS:
        if kept >= 0:
            m, kept = start(cone, w, kept, active), np.int64(-1)
        upper = min(upper, make_rest(active, w, m))
        if upper <= TOUCHING * size:
            return INSIDE, 0.0, upper, m
        lower, j, c, s = _judge(cone, w, row[REST], lower, active)
        if upper - lower <= tol * upper:
            return SETTLED, min(lower, upper), upper, m
        if j < 0:
            break
        due = step >= NEWTON_FROM and (step - NEWTON_FROM) % 2 == 0
        guess = cone.sides == 0 and due and not guess
        if not guess:
            grown = add(cone, w, j, c, s, m, active)
            if grown >= 0:
                m = grown
                step += 1
                continue
            if cone.sides > 0 or gathered == MOST_GATHERED:
                break
        found = guess_rest(cone, w, m, active)
        if found == 0:
            if guess:
                continue
            break
        lower, _, _, _ = _judge(cone, w, row[GUESS], lower, active)
        if guess:
            m = _take_guess(cone, w, m, found, active)
        else:
            kept = _gather(cone, m, found, active)
            gathered += 1
    return OPEN, min(lower, upper), upper, m


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _judge(cone, w, rest, lower, active):
    """(lower bound, vertex, cos, sin): a residual pushed into the polar cone, and its worst ray."""
    row, friction = active.row, cone.friction
    best, best_size, best_j, best_c, best_s, pushed = 0.0, 1.0, -1, 1.0, 0.0, 0.0
    for j in range(friction.shape[0]):
        normal, along, across = feel(cone, j, rest)
        if normal + friction[j] * math.sqrt(along * along + across * across) <= 0.0:
            continue  # nor has a pyramid inside the circular cone such a ray
        c, s = best_turn(along, across, cone.sides)
        over = normal + friction[j] * (c * along + s * across)
        if over <= 0.0:
            continue
        pushed = max(pushed, over / cone.least[j])
        size = write_row(cone, j, c, s, row, RAY)
        if over * over * best_size > best * best * size:  # by its length
            best, best_size, best_j, best_c, best_s = over, size, j, c, s
    size, product = 0.0, 0.0
    for i in range(row.shape[1]):
        x = rest[i] - pushed * cone.inward[i]
        size += x * x
        product += x * w[i]
    size = math.sqrt(size)
    if size > 0.0 and product / size > lower:
        lower, share = product / size, 1.0 / size
        for i in range(row.shape[1]):
            row[DUAL, i] = (rest[i] - pushed * cone.inward[i]) * share
    return lower, best_j, best_c, best_s


@njit(cache=True, nogil=True, error_model="numpy")
def _take_guess(cone, w, m, found, active):
    """The rays where Newton's point is steepest join, as far as the residual asks for them."""
    row = active.row
    for k in range(found):
        j = int(active.square[2, k, 0])
        _, c, s = support(cone, j, 1.0, row[GUESS])
        write_row(cone, j, c, s, row, RAY)
        if m < row.shape[1] and row_dot(row, RAY, row, REST) > 0.0:
            grown = add(cone, w, j, c, s, m, active)
            if grown >= 0:
                m = grown
            make_rest(active, w, m)
    return m


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(cone, m, found, active):
    """One ray for each vertex on its surface, where Newton's point is steepest; how many are left.

    Two rays around the best one leave no room for it once they are so near that it depends on them.
    Without this, every 30th wrench close to a cone of friction 0.001 was left with gaps of 1e-9 to
    1e-7.
    """
    left = np.int64(0)
    for k in range(m):
        j, surface, again = active.vertex[k], False, False
        for n in range(found):
            surface = surface or int(active.square[2, n, 0]) == j
        for n in range(left):
            again = again or active.vertex[n] == j
        if surface and again:
            continue
        active.vertex[left] = j
        active.number[left, COS], active.number[left, SIN] = (
            active.number[k, COS],
            active.number[k, SIN],
        )
        if surface:
            _, c, s = support(cone, j, 1.0, active.row[GUESS])
            active.number[left, COS], active.number[left, SIN] = c, s
        left += 1
    return left
