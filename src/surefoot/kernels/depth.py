"""How deep wrenches lie inside cones: their distances from the boundary, between two bounds.

The cone of some rays lies inside the whole one, so the distance from its facets is a lower bound.
The normal of the nearest facet, pushed until every ray is on its inner side, gives an upper bound;
and the ray that violates it most makes the inner cone grow just there.
"""

import math

import numpy as np
from numba import njit

from surefoot.kernels.cone import Cone, dot, support, write_ray
from surefoot.kernels.facets import (
    MOST_NORMALS,
    MOST_RAYS,
    NEW,
    TOUCH,
    WORDS,
    Facets,
    begin,
    insert,
)
from surefoot.kernels.nearest import OPEN, SETTLED

BOUNDARY = 1e-11  # of the wrench: on the boundary there is no relative certificate
SAME = 1e-12  # over the length scale: contacts that lie so to each other have the same cone
CROWDED = 800  # normals: with more of them a new start is cheaper than going on
RESERVE = 64  # rays that must still fit when a cone is used again


@njit(cache=True, nogil=True, error_model="numpy")
def depths(
    wanted,
    first,
    a,
    friction,
    sides,
    inward,
    least,
    rays,
    w,
    shift,
    tol,
    lower,
    upper,
    dual,
    status,
):
    """Bounds of the least product of wrenches w (n, dim) with the unit normals of their cones.

    Only of samples that are `wanted`, whose wrench is inside. Columns, `rays` (n, dim, dim; a
    simplex to start from) and w are taken about a point of the contacts; normals are units about
    another, which lies `shift` (n, 3; over the length scale) from it. `dual` becomes the outward
    unit direction of the upper bound, about that other point.
    """
    dim, before = w.shape[1], np.int64(-1)
    facets = Facets(
        np.empty((MOST_NORMALS, dim)),
        np.empty((MOST_NORMALS, WORDS), np.uint64),
        np.empty((MOST_NORMALS, dim)),
        np.empty((MOST_NORMALS, WORDS), np.uint64),
        np.empty(MOST_NORMALS),
        np.empty(MOST_NORMALS, np.int64),
        np.zeros(2, np.int64),
    )
    work, inverse, value = np.empty((3, dim)), np.empty((dim, 2 * dim)), np.empty(MOST_NORMALS)
    for i in range(w.shape[0]):
        if not wanted[i]:
            continue
        again = facets.size[0] < CROWDED and facets.size[1] < MOST_RAYS - RESERVE
        if before < 0 or not again or not _same(first, a, friction, i, before):
            begin(facets, rays[i], inverse)
        before = np.int64(i)
        rows = slice(first[i], first[i + 1])
        cone = Cone(a[rows], friction[rows], sides, inward[i], least[rows])
        status[i], lower[i], upper[i] = _depth(
            cone, w[i], shift[i], tol, facets, value, work, dual[i]
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _same(first, a, friction, i, before):
    """Whether two samples have the same cone, so that its facets can be used again."""
    count = first[i + 1] - first[i]
    if first[before + 1] - first[before] != count:
        return False
    for j in range(count):
        x, y = first[i] + j, first[before] + j
        if friction[x] != friction[y]:
            return False
        for b in range(3):
            for k in range(a.shape[2]):
                if abs(a[x, b, k] - a[y, b, k]) > SAME:
                    return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _depth(cone, w, shift, tol, facets, value, work, dual):
    """(status, lower, upper) of one sample; `facets` holds an inner cone, then a larger one."""
    for k in range(facets.size[0]):
        facets.product[k] = NEW
    dim, size = w.shape[0], math.sqrt(dot(w, w))
    normal, moved, ray = work[0], work[1], work[2]
    lower, upper = 0.0, np.inf
    for _ in range(MOST_RAYS):
        lower = _nearest_facet(facets, w, shift, value, normal, moved)
        pushed, worst, worst_j, turn_c, turn_s = 0.0, 0.0, 0, 1.0, 0.0
        for j in range(cone.a.shape[0]):
            product, c, s = support(cone, j, -1.0, normal)
            if product > 0.0:
                pushed = max(pushed, product / cone.least[j])
                over = product / write_ray(cone, j, c, s, ray)
                if over > worst:
                    worst, worst_j, turn_c, turn_s = over, j, c, s
        for i in range(dim):
            normal[i] += pushed * cone.inward[i]
        length = _length_about(shift, normal, moved)
        product = dot(normal, w) / length
        if product < upper:
            upper = product
            for i in range(dim):
                dual[i] = -moved[i] / length
        if upper - lower <= max(tol * upper, BOUNDARY * size):
            return SETTLED, max(0.0, min(lower, upper)), max(0.0, upper)
        if worst <= TOUCH:
            break
        length = write_ray(cone, worst_j, turn_c, turn_s, ray)
        for i in range(dim):
            ray[i] /= length
        if not insert(facets, ray):
            break
    return OPEN, max(0.0, min(lower, upper)), max(0.0, upper)


@njit(cache=True, nogil=True, error_model="numpy")
def _nearest_facet(facets, w, shift, value, normal, moved):
    """The distance of w from the nearest facet of the inner cone, whose normal is written.

    `value` keeps the distances from all facets; those of NEW ones are found.
    """
    best, least = 0, np.inf
    for k in range(facets.size[0]):
        if facets.product[k] == NEW:
            value[k] = dot(facets.normal[k], w) / _length_about(shift, facets.normal[k], moved)
        if value[k] < least:
            best, least = k, value[k]
    for i in range(w.shape[0]):
        normal[i] = facets.normal[best, i]
    return least


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _length_about(shift, normal, moved):
    """The length of a normal about the shifted point, as which it is written to `moved`.

    A normal is a virtual twist: the velocity of a point, then the turning.
    """
    if normal.shape[0] == 6:
        x, y, z, u, v, w = normal[0], normal[1], normal[2], normal[3], normal[4], normal[5]
        x += v * shift[2] - w * shift[1]
        y += w * shift[0] - u * shift[2]
        z += u * shift[1] - v * shift[0]
        moved[0], moved[1], moved[2], moved[3], moved[4], moved[5] = x, y, z, u, v, w
        return math.sqrt(x * x + y * y + z * z + u * u + v * v + w * w)
    for i in range(normal.shape[0]):
        moved[i] = normal[i]
    return math.sqrt(dot(moved, moved))
