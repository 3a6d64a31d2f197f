"""Contact vertices made into columns: what the search of nearest points and depths is given."""

import math

import numpy as np
from numba import njit

from surefoot.kernels.cone import Cone, dot, support, write_ray

INWARD = 1e-6  # of a ray's length: a direction that a ray hardly shares proves nothing
UPRIGHT = 0.9  # of a normal's x part: above, the first tangent is taken along y instead of x
RANK = 1e-10  # of a ray's length: a ray with less of it beside the others adds no dimension


@njit(cache=True, nogil=True, error_model="numpy")
def columns(first, pos, normal, origin, length, a):
    """Columns (k, 3, 6) of n samples about their origins (n, 3): force, then moment / length.

    They are the wrenches of unit forces along the normal and two tangents. The first tangent is the
    world's x axis, laid into the plane of contact (y where the normal is nearly along x).
    """
    for i in range(origin.shape[0]):
        for j in range(first[i], first[i + 1]):
            n0, n1, n2 = normal[j, 0], normal[j, 1], normal[j, 2]
            if abs(n0) <= UPRIGHT:
                t0, t1, t2 = 1.0 - n0 * n0, -n0 * n1, -n0 * n2
            else:
                t0, t1, t2 = -n1 * n0, 1.0 - n1 * n1, -n1 * n2
            size = math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
            t0, t1, t2 = t0 / size, t1 / size, t2 / size
            u0, u1, u2 = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2, n0 * t1 - n1 * t0
            _write_column(pos[j], origin[i], length, n0, n1, n2, a[j, 0])
            _write_column(pos[j], origin[i], length, t0, t1, t2, a[j, 1])
            _write_column(pos[j], origin[i], length, u0, u1, u2, a[j, 2])


@njit(cache=True, nogil=True, error_model="numpy")
def _write_column(pos, origin, length, x, y, z, out):
    """A unit force at a point, as a wrench about the origin."""
    px, py, pz = pos[0] - origin[0], pos[1] - origin[1], pos[2] - origin[2]
    out[0], out[1], out[2] = x, y, z
    out[3] = (py * z - pz * y) / length
    out[4] = (pz * x - px * z) / length
    out[5] = (px * y - py * x) / length


@njit(cache=True, nogil=True, error_model="numpy")
def shapes(first, a, friction, sides, inward, least, common, rank, rays):
    """What kind of cone each sample has.

    `common` (n): whether every ray goes along with `inward` (n, dim); by how much is written to
    `least` (k). `rays` (n, dim, dim): independent unit rays that span what all rays span; `rank`
    (n): how many.
    """
    dim, most = a.shape[2], 1
    for i in range(rank.shape[0]):
        most = max(most, first[i + 1] - first[i])
    rest = np.empty((4 * most, dim))
    for i in range(rank.shape[0]):
        rows = slice(first[i], first[i + 1])
        cone = Cone(a[rows], friction[rows], sides, inward[i], friction[rows])  # no `least` yet
        common[i] = _shared(cone, least[rows], rest[0])
        rank[i] = _independent(cone, rest, rays[i])


@njit(cache=True, nogil=True, error_model="numpy")
def _shared(cone, least, ray):
    """Whether all rays go along with the inward direction; a vertex without rays does not count."""
    every = True
    for j in range(cone.a.shape[0]):
        product, c, s = support(cone, j, -1.0, cone.inward)
        least[j] = -product
        size = write_ray(cone, j, c, s, ray)
        if size > 0.0 and not least[j] > INWARD * size:
            every = False
    return every


@njit(cache=True, nogil=True, error_model="numpy")
def _independent(cone, rest, rays):
    """Independent unit rays, chosen among four of each vertex by what each adds; how many."""
    dim, total = rays.shape[1], 4 * cone.a.shape[0]
    for k in range(total):
        c, s = _corner(k % 4, cone.sides)
        size = write_ray(cone, k // 4, c, s, rest[k])
        for i in range(dim):
            rest[k, i] = rest[k, i] / size if size > 0.0 else 0.0
    found = np.int64(0)
    while found < dim:
        best, most = 0, 0.0
        for k in range(total):
            left = dot(rest[k], rest[k])
            if left > most:
                best, most = k, left
        if most <= RANK * RANK:
            break
        c, s = _corner(best % 4, cone.sides)
        size = write_ray(cone, best // 4, c, s, rays[found])
        for i in range(dim):
            rays[found, i] /= size
        for k in range(total):
            if k != best:
                part = dot(rest[best], rest[k]) / most
                for i in range(dim):
                    rest[k, i] -= part * rest[best, i]
        for i in range(dim):
            rest[best, i] = 0.0
        found += 1
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _corner(n, sides):
    """The turn of the n-th of four rays around a vertex: cos θ, sin θ."""
    angle = 0.5 * math.pi * n
    if sides > 0:
        angle = 2.0 * math.pi * ((n * sides) // 4) / sides
    return math.cos(angle), math.sin(angle)
