"""Newton's method for the residual of a wrench beside a cone with curved sides."""

import math

import numpy as np
from numba import njit

from surefoot.kernels.active import COS, GUESS, REST, SIN, WEIGHT
from surefoot.kernels.cone import dot, write_ray

SURFACE = 0.95  # of its friction: a force nearer to its cone's surface is taken to lie on it


@njit(cache=True, nogil=True, error_model="numpy")
def guess_rest(cone, w, m, active):
    """A Newton step for the residual on the vertices that carry; how many lie on their surface.

    With λ the forces: x + Σ λ_j g_j(x) = w, g_j(x) · x = 0 for forces on the surface of their cone,
    and Aᵀ x = 0 for those inside. The point is written to the row GUESS, the vertices on their
    surface to square[2, :, 0]; 0 where there is no step.
    """
    fixed, surfaces = _linearise(cone, m, active)
    h, rows, dim = active.square[0], active.square[1], w.shape[0]
    if surfaces == 0 or not _factorise(h, dim):
        return 0
    rest, guess = active.row[REST], active.row[GUESS]
    for i in range(dim):
        guess[i] = w[i] - rest[i]
    _forward(h, guess)
    for i in range(dim):
        for k in range(i, dim):
            guess[i] += h[k, i] * rest[k]
    kept = np.int64(0)
    for n in range(fixed):
        row = rows[n]
        _forward(h, row)
        size = math.sqrt(dot(row, row))
        _take_away(rows, kept, row)
        left = math.sqrt(dot(row, row))
        if left > 1e-10 * size:
            for i in range(dim):
                rows[kept, i] = row[i] / left
            kept += 1
    _take_away(rows, kept, guess)
    for i in range(dim - 1, -1, -1):
        for k in range(i + 1, dim):
            guess[i] -= h[k, i] * guess[k]
        guess[i] /= h[i, i]
    return surfaces


@njit(cache=True, nogil=True, error_model="numpy")
def _linearise(cone, m, active):
    """(conditions, vertices on their surface): H = I + Σ λ μ / |s| q qᵀ, and the rows kept at 0."""
    h, rows, dim = active.square[0], active.square[1], active.ray.shape[1]
    for i in range(dim):
        for k in range(dim):
            h[i, k] = 1.0 if i == k else 0.0
    fixed, surfaces = 0, 0
    for k in range(m):
        j, seen = active.vertex[k], False
        press, along, across = 0.0, 0.0, 0.0
        for n in range(m):
            if active.vertex[n] == j:
                seen = seen or n < k
                press += active.number[n, WEIGHT]
                along += active.number[n, WEIGHT] * active.number[n, COS]
                across += active.number[n, WEIGHT] * active.number[n, SIN]
        if seen:
            continue
        if cone.friction[j] > 0.0 and math.sqrt(along * along + across * across) > SURFACE * press:
            if fixed + 1 > dim or not _bend(cone, j, press, rows[fixed], active):
                return 0, 0
            active.square[2, surfaces, 0] = j
            surfaces += 1
            fixed += 1
        else:
            if fixed + 3 > dim:
                return 0, 0
            for b in range(3):
                for i in range(dim):
                    rows[fixed + b, i] = cone.a[j, b, i]
            fixed += 3
    return fixed, surfaces


@njit(cache=True, nogil=True, error_model="numpy")
def _bend(cone, j, press, row, active):
    """The ray of a vertex on its surface, and how it turns with the residual, added to H."""
    h, rest, along, across = active.square[0], active.row[REST], 0.0, 0.0
    for i in range(row.shape[0]):
        along += cone.a[j, 1, i] * rest[i]
        across += cone.a[j, 2, i] * rest[i]
    size = math.sqrt(along * along + across * across)
    if size == 0.0:
        return False
    c, s = along / size, across / size
    write_ray(cone, j, c, s, row)
    share = press * cone.friction[j] / size
    for i in range(row.shape[0]):
        left = c * cone.a[j, 2, i] - s * cone.a[j, 1, i]
        for k in range(row.shape[0]):
            h[i, k] += share * left * (c * cone.a[j, 2, k] - s * cone.a[j, 1, k])
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _factorise(h, dim):
    """H = L Lᵀ in its lower triangle; False where it is not positive."""
    for j in range(dim):
        for k in range(j):
            h[j, j] -= h[j, k] * h[j, k]
        if not h[j, j] > 0.0:
            return False
        h[j, j] = math.sqrt(h[j, j])
        for i in range(j + 1, dim):
            for k in range(j):
                h[i, j] -= h[i, k] * h[j, k]
            h[i, j] /= h[j, j]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _forward(h, x):
    """Solve L y = x in place."""
    for i in range(x.shape[0]):
        for k in range(i):
            x[i] -= h[i, k] * x[k]
        x[i] /= h[i, i]


@njit(cache=True, nogil=True, error_model="numpy")
def _take_away(units, count, x):
    """What is left of x without its parts along unit vectors; twice, for rounding."""
    for _ in range(2):
        for n in range(count):
            part = dot(units[n], x)
            for i in range(x.shape[0]):
                x[i] -= part * units[n, i]
