"""The rays that carry a wrench, as Q R, and their least-squares weights."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels.cone import write_ray

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
    r: np.ndarray  # (dim + 1, dim + 1) upper triangle
    row: np.ndarray  # (4, dim) wrench less its nearest point; unit direction; guess; work space
    square: np.ndarray  # (3, dim + 1, dim) work space


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def start(cone, w, warm, active):
    """As many of the rays carried before as still carry with positive weights."""
    m = np.int64(0)
    for k in range(warm):
        active.vertex[m] = active.vertex[k]
        c, s = active.number[k, COS], active.number[k, SIN]
        active.number[m, COS], active.number[m, SIN] = c, s
        write_ray(cone, active.vertex[m], c, s, active.ray[m])
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
    write_ray(cone, j, c, s, active.ray[m])
    if m >= w.shape[0] or not push(active, m):
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


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def push(active, m):
    """Q R of the first m rays and one more; False where that one depends on them."""
    ray, q, r, dim = active.ray, active.q, active.r, active.ray.shape[1]
    size = 0.0
    for i in range(dim):
        q[m, i] = ray[m, i]
        size += ray[m, i] * ray[m, i]
    for k in range(m):
        r[k, m] = 0.0
    left, before = 0.0, size
    for _ in range(2):
        for k in range(m):
            part = 0.0
            for i in range(dim):
                part += q[k, i] * q[m, i]
            r[k, m] += part
            for i in range(dim):
                q[m, i] -= part * q[k, i]
        left = 0.0
        for i in range(dim):
            left += q[m, i] * q[m, i]
        if left > KEPT * before:
            break
        before = left
    if not left > DEPENDENT * DEPENDENT * size:
        return False
    left = math.sqrt(left)
    r[m, m] = left
    share = 1.0 / left
    for i in range(dim):
        q[m, i] *= share
    return True


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _solve(active, w, m):
    """Least-squares weights of the first m rays, as trial."""
    for k in range(m - 1, -1, -1):
        total = 0.0
        for i in range(w.shape[0]):
            total += active.q[k, i] * w[i]
        for i in range(k + 1, m):
            total -= active.r[k, i] * active.number[i, TRIAL]
        active.number[k, TRIAL] = total / active.r[k, k]


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


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def make_rest(active, w, m):
    """What is left of w beside the span of the rays that carry; its length.

    Projected twice: else its products with the rays are rounding of w instead of its own, and a
    certificate is out of reach for distances below 3e-4 of w.
    """
    row, q, dim = active.row, active.q, w.shape[0]
    for i in range(dim):
        row[REST, i] = w[i]
    for _ in range(2):
        for k in range(m):
            part = 0.0
            for i in range(dim):
                part += q[k, i] * row[REST, i]
            for i in range(dim):
                row[REST, i] -= part * q[k, i]
    size = 0.0
    for i in range(dim):
        size += row[REST, i] * row[REST, i]
    return math.sqrt(size)
