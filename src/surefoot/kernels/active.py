"""The rays that carry a wrench, as Q R, and their least-squares weights."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels.cone import row_dot, row_times, take_row, write_row

DEPENDENT = 1e-12  # of a ray's length: what is left of it beside the others is rounding
KEPT = 0.01  # of a squared length: where less is left, what rounding left is taken away again
WEIGHT, TRIAL, COS, SIN = 0, 1, 2, 3  # columns of `number`
REST, DUAL, GUESS, RAY = 0, 1, 2, 3  # rows of `row`


class Active(NamedTuple):
    """At most as many rays as dimensions, one more that is tried, and work space."""

    vertex: np.ndarray  # (dim + 1)
    number: np.ndarray  # (dim + 1, 4) weight, next weight, cos θ and sin θ of each ray
    ray: np.ndarray  # (dim + 1, dim)
    q: np.ndarray  # (dim + 1, dim) orthonormal rows
    r: np.ndarray  # (dim + 1, dim + 1) upper triangle, of its diagonal the inverse
    row: np.ndarray  # (4, dim) wrench less its nearest point; unit direction; guess; work space
    square: np.ndarray  # (3, dim + 1, dim) work space


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def start(cone, w, warm, active):
    """As many of the rays carried before as still carry with positive weights."""
    m = np.int64(0)
    for k in range(warm):
        active.vertex[m] = active.vertex[k]
        c, s = active.number[k, COS], active.number[k, SIN]
        active.number[m, COS], active.number[m, SIN] = c, s
        write_row(cone, active.vertex[m], c, s, active.ray, m)
        if push(active, m):
            m += 1
    while m > 0:
        _solve(active, w, m)
        low = np.int64(0)
        for k in range(m):
            active.number[k, WEIGHT] = active.number[k, TRIAL]
            if active.number[k, TRIAL] < active.number[low, TRIAL]:
                low = np.int64(k)
        if active.number[low, TRIAL] > 0.0:
            break
        m = _drop(active, m, low)
    return m


@njit(cache=True, nogil=True, error_model="numpy")
def add(cone, w, j, c, s, m, active):
    """One more ray and the weights that follow; how many carry, −1 where it depends on them."""
    active.vertex[m] = j
    active.number[m, COS], active.number[m, SIN], active.number[m, WEIGHT] = c, s, 0.0
    write_row(cone, j, c, s, active.ray, m)
    if m >= active.ray.shape[1] or not push(active, m):
        return -1
    m += 1
    while m > 0:
        _solve(active, w, m)
        share, worst = 1.0, np.int64(-1)
        for k in range(m):
            weight, trial = active.number[k, WEIGHT], active.number[k, TRIAL]
            if trial <= 0.0:
                part = weight / (weight - trial) if weight > trial else 0.0
                if worst < 0 or part < share:
                    share, worst = part, np.int64(k)
        for k in range(m):
            gap = active.number[k, TRIAL] - active.number[k, WEIGHT]
            active.number[k, WEIGHT] += share * gap
        if worst < 0:
            break
        m = _drop(active, m, worst)
    return m


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def push(active, m):
    """Q R of the first m rays and one more; False where that one depends on them."""
    ray, q, r = active.ray, active.q, active.r
    size = row_dot(ray, m, ray, m)
    for i in range(ray.shape[1]):
        q[m, i] = ray[m, i]
    for k in range(m):
        r[k, m] = row_dot(q, k, ray, m)
    for k in range(m):
        take_row(r[k, m], q, k, q, m)
    left = row_dot(q, m, q, m)
    if left <= KEPT * size:
        for k in range(m):
            part = row_dot(q, k, q, m)
            r[k, m] += part
            take_row(part, q, k, q, m)
        left = row_dot(q, m, q, m)
    if not left > DEPENDENT * DEPENDENT * size:
        return False
    share = 1.0 / math.sqrt(left)
    r[m, m] = share
    for i in range(ray.shape[1]):
        q[m, i] *= share
    return True


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _solve(active, w, m):
    """Least-squares weights of the first m rays, as trial."""
    number, r = active.number, active.r
    for k in range(m - 1, -1, -1):
        total = row_times(active.q, k, w)
        for i in range(k + 1, m):
            total -= r[k, i] * number[i, TRIAL]
        number[k, TRIAL] = total * r[k, k]


@njit(cache=True, nogil=True, error_model="numpy")
def _drop(active, m, gone):
    """One ray leaves; how many are left."""
    for k in range(gone, m - 1):
        active.vertex[k] = active.vertex[k + 1]
        for i in range(4):
            active.number[k, i] = active.number[k + 1, i]
        for i in range(active.ray.shape[1]):
            active.ray[k, i] = active.ray[k + 1, i]
        push(active, k)
    return m - 1


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def make_rest(active, w, m):
    """What is left of w beside the span of the rays that carry; its length.

    Projected twice: else its products with the rays are rounding of w instead of its own, and a
    certificate is out of reach for distances below 3e-4 of w.
    """
    row, q = active.row, active.q
    for i in range(row.shape[1]):
        row[REST, i] = w[i]
    for k in range(m):
        take_row(row_times(q, k, w), q, k, row, REST)
    for k in range(m):
        take_row(row_dot(q, k, row, REST), q, k, row, REST)
    return math.sqrt(row_dot(row, REST, row, REST))
