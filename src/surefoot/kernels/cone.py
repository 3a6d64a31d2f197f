"""Cones of contact forces as plain arrays.

A contact vertex gives wrenches a_n + μ (cos θ a_1 + sin θ a_2), its rays, and their positive sums;
`a` (k, 3, dim) holds the three columns of every vertex. The dimension is 6 for wrenches, less in
the coordinates of a subspace, 7 where a row is added. All vertices together span the cone V.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit


class Cone(NamedTuple):
    """The cone of one sample."""

    a: np.ndarray  # (k, 3, dim) columns: normal, first and second tangent
    friction: np.ndarray  # (k)
    sides: int  # 0: circular; else rays at so many even angles from the first tangent
    inward: np.ndarray  # (dim) a direction with a positive product with every ray
    least: np.ndarray  # (k) the least product of it with a ray of the vertex


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def dot(x, y):
    """The product x · y."""
    if x.shape[0] == 6:
        return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def best_turn(along, across, sides):
    """The turn (cos θ, sin θ) of the ray that goes farthest along a tangential direction."""
    if sides == 0:
        size = math.sqrt(along * along + across * across)
        if size == 0.0:
            return 1.0, 0.0
        return along / size, across / size
    step = 2.0 * math.pi / sides
    angle = step * math.floor(math.atan2(across, along) / step + 0.5)
    return math.cos(angle), math.sin(angle)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def support(cone, j, sign, x):
    """(product, cos, sin): the largest product of ±x with a ray of vertex j, and its turn."""
    normal, along, across = 0.0, 0.0, 0.0
    for i in range(x.shape[0]):
        normal += cone.a[j, 0, i] * x[i]
        along += cone.a[j, 1, i] * x[i]
        across += cone.a[j, 2, i] * x[i]
    c, s = best_turn(sign * along, sign * across, cone.sides)
    return sign * (normal + cone.friction[j] * (c * along + s * across)), c, s


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def reach(cone, j, x):
    """The largest product of x with a ray of vertex j: `support` without the turn, in less time."""
    normal, along, across = 0.0, 0.0, 0.0
    for i in range(x.shape[0]):
        normal += cone.a[j, 0, i] * x[i]
        along += cone.a[j, 1, i] * x[i]
        across += cone.a[j, 2, i] * x[i]
    if cone.sides == 0:
        return normal + cone.friction[j] * math.sqrt(along * along + across * across)
    c, s = best_turn(along, across, cone.sides)
    return normal + cone.friction[j] * (c * along + s * across)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def feel(cone, j, x):
    """The products of the columns of vertex j with x: normal, first and second tangent."""
    a = cone.a
    if x.shape[0] == 6:
        p, q, r, u, v, w = x[0], x[1], x[2], x[3], x[4], x[5]
        return (
            (a[j, 0, 0] * p + a[j, 0, 1] * q + a[j, 0, 2] * r)
            + (a[j, 0, 3] * u + a[j, 0, 4] * v + a[j, 0, 5] * w),
            (a[j, 1, 0] * p + a[j, 1, 1] * q + a[j, 1, 2] * r)
            + (a[j, 1, 3] * u + a[j, 1, 4] * v + a[j, 1, 5] * w),
            (a[j, 2, 0] * p + a[j, 2, 1] * q + a[j, 2, 2] * r)
            + (a[j, 2, 3] * u + a[j, 2, 4] * v + a[j, 2, 5] * w),
        )
    normal, along, across = 0.0, 0.0, 0.0
    for i in range(x.shape[0]):
        normal += a[j, 0, i] * x[i]
        along += a[j, 1, i] * x[i]
        across += a[j, 2, i] * x[i]
    return normal, along, across


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def write_ray(cone, j, c, s, out):
    """The ray of vertex j at a turn; its length."""
    size = 0.0
    for i in range(out.shape[0]):
        out[i] = cone.a[j, 0, i] + cone.friction[j] * (c * cone.a[j, 1, i] + s * cone.a[j, 2, i])
        size += out[i] * out[i]
    return math.sqrt(size)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def write_row(cone, j, c, s, out, k):
    """The ray of vertex j at a turn, to row k of `out`; its squared length."""
    a, p, q = cone.a, cone.friction[j] * c, cone.friction[j] * s
    if out.shape[1] == 6:
        for i in range(6):
            out[k, i] = a[j, 0, i] + (p * a[j, 1, i] + q * a[j, 2, i])
    else:
        for i in range(out.shape[1]):
            out[k, i] = a[j, 0, i] + (p * a[j, 1, i] + q * a[j, 2, i])
    return row_dot(out, k, out, k)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def row_dot(x, i, y, k):
    """The product of row i of x with row k of y: `dot` without the cost of taking rows out."""
    if x.shape[1] == 6:
        return (x[i, 0] * y[k, 0] + x[i, 1] * y[k, 1] + x[i, 2] * y[k, 2]) + (
            x[i, 3] * y[k, 3] + x[i, 4] * y[k, 4] + x[i, 5] * y[k, 5]
        )
    total = 0.0
    for n in range(x.shape[1]):
        total += x[i, n] * y[k, n]
    return total


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def row_times(x, i, w):
    """The product of row i of x with w."""
    if w.shape[0] == 6:
        return (x[i, 0] * w[0] + x[i, 1] * w[1] + x[i, 2] * w[2]) + (
            x[i, 3] * w[3] + x[i, 4] * w[4] + x[i, 5] * w[5]
        )
    total = 0.0
    for n in range(w.shape[0]):
        total += x[i, n] * w[n]
    return total


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def take_row(part, y, k, x, i):
    """Row i of x becomes less by so much of row k of y."""
    if x.shape[1] == 6:
        for n in range(6):
            x[i, n] -= part * y[k, n]
    else:
        for n in range(x.shape[1]):
            x[i, n] -= part * y[k, n]
