"""The facets of a growing cone, as the extreme rays of its dual cone (double description).

The cone starts as a simplex of independent rays. Each further ray takes away the normals that it
violates and brings, for every adjacent pair of one that goes and one that stays, a new one between
them. Two normals are adjacent when the rays that touch both touch no third.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

MOST_RAYS = 512
WORDS = MOST_RAYS // 64
MOST_NORMALS = 20000
TOUCH = 1e-11  # of products of unit vectors: many rays lie in one facet, up to rounding
EVERY_SECOND = np.uint64(0x5555555555555555)
PAIRS = np.uint64(0x3333333333333333)
FOURS = np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES = np.uint64(0x0101010101010101)
ONE = np.uint64(1)


class Facets(NamedTuple):
    """Unit normals, inwards, which rays touch each, and work space of the same kind."""

    normal: np.ndarray  # (MOST_NORMALS, dim)
    touch: np.ndarray  # (MOST_NORMALS, WORDS) a bit for each ray
    fresh: np.ndarray  # (MOST_NORMALS, dim)
    fresh_touch: np.ndarray  # (MOST_NORMALS, WORDS)
    product: np.ndarray  # (MOST_NORMALS)
    near: np.ndarray  # (MOST_NORMALS)
    size: np.ndarray  # (2) how many normals, how many rays


@njit(cache=True, nogil=True, error_model="numpy")
def begin(facets, rays, inverse):
    """The facets of the cone of independent rays (dim, dim), by Gauss and Jordan."""
    dim = rays.shape[0]
    for k in range(dim):
        for i in range(dim):
            inverse[k, i] = rays[k, i]
            inverse[k, dim + i] = 1.0 if i == k else 0.0
    for k in range(dim):
        pivot = k
        for n in range(k + 1, dim):
            if abs(inverse[n, k]) > abs(inverse[pivot, k]):
                pivot = n
        for i in range(2 * dim):
            inverse[k, i], inverse[pivot, i] = inverse[pivot, i], inverse[k, i]
        scale = 1.0 / inverse[k, k]
        for i in range(2 * dim):
            inverse[k, i] *= scale
        for n in range(dim):
            factor = inverse[n, k]
            if n != k and factor != 0.0:
                for i in range(2 * dim):
                    inverse[n, i] -= factor * inverse[k, i]
    for k in range(dim):  # column k of the inverse has product 1 with ray k and 0 with the others
        size = 0.0
        for i in range(dim):
            size += inverse[i, dim + k] * inverse[i, dim + k]
        size = math.sqrt(size)
        for i in range(dim):
            facets.normal[k, i] = inverse[i, dim + k] / size
        for i in range(WORDS):
            facets.touch[k, i] = np.uint64(0)
        facets.touch[k, 0] = ((ONE << np.uint64(dim)) - ONE) ^ (ONE << np.uint64(k))
    facets.size[0], facets.size[1] = dim, dim


@njit(cache=True, nogil=True, error_model="numpy")
def insert(facets, ray):
    """The cone grows by a unit ray; False where there is no room."""
    count, index, dim = facets.size[0], facets.size[1], ray.shape[0]
    if index >= MOST_RAYS:
        return False
    word, bit = index // 64, ONE << np.uint64(index % 64)
    gone = 0
    for k in range(count):
        product = 0.0
        for i in range(dim):
            product += facets.normal[k, i] * ray[i]
        facets.product[k] = product
        if product < -TOUCH:
            gone += 1
    made = np.int64(0)
    if gone > 0:
        for k in range(count):
            if facets.product[k] < -TOUCH:
                made = _between(facets, k, index, made, dim)
                if made < 0 or count - gone + made > MOST_NORMALS:
                    return False
    kept = np.int64(0)
    for k in range(count):
        if facets.product[k] >= -TOUCH:
            if facets.product[k] <= TOUCH:
                facets.touch[k, word] |= bit
            _copy(facets.normal, facets.touch, k, facets.normal, facets.touch, kept, dim)
            kept += 1
    for k in range(made):
        _copy(facets.fresh, facets.fresh_touch, k, facets.normal, facets.touch, kept + k, dim)
    facets.size[0], facets.size[1] = kept + made, index + 1
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _copy(normal, touch, k, to_normal, to_touch, to, dim):
    for i in range(dim):
        to_normal[to, i] = normal[k, i]
    for i in range(WORDS):
        to_touch[to, i] = touch[k, i]


@njit(cache=True, nogil=True, error_model="numpy")
def _between(facets, leaver, index, made, dim):
    """New normals between one that goes and its neighbours that stay; how many, −1 for no room."""
    words = index // 64 + 1
    touch, product = facets.touch, facets.product
    near = np.int64(0)
    for k in range(facets.size[0]):  # neighbours share dim − 2 rays: few others need a look
        shared = np.int64(0)
        for i in range(words):
            shared += _bits(touch[leaver, i] & touch[k, i])
        if shared >= dim - 2 and k != leaver:
            facets.near[near] = k
            near += 1
    for x in range(near):
        stayer = facets.near[x]
        if product[stayer] <= TOUCH or not _adjacent(facets, leaver, x, near, words):
            continue
        if made >= MOST_NORMALS:
            return np.int64(-1)
        size = 0.0
        for i in range(dim):
            value = product[stayer] * facets.normal[leaver, i]
            value -= product[leaver] * facets.normal[stayer, i]
            facets.fresh[made, i] = value
            size += value * value
        size = math.sqrt(size)
        for i in range(dim):
            facets.fresh[made, i] /= size
        for i in range(WORDS):
            facets.fresh_touch[made, i] = touch[leaver, i] & touch[stayer, i]
        facets.fresh_touch[made, index // 64] |= ONE << np.uint64(index % 64)
        made += 1
    return made


@njit(cache=True, nogil=True, error_model="numpy")
def _adjacent(facets, leaver, x, near, words):
    """Whether the rays that touch a normal and its neighbour number x touch no other neighbour."""
    touch, stayer = facets.touch, facets.near[x]
    for y in range(near):
        if y == x:
            continue
        held = True
        for i in range(words):
            both = touch[leaver, i] & touch[stayer, i]
            if both & touch[facets.near[y], i] != both:
                held = False
                break
        if held:
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _bits(word):
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & EVERY_SECOND)
    word = (word & PAIRS) + ((word >> np.uint64(2)) & PAIRS)
    word = (word + (word >> np.uint64(4))) & FOURS
    return np.int64((word * BYTES) >> np.uint64(56))
