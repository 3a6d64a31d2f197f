"""The facets of a growing cone, as the extreme rays of its dual cone (double description).

The cone starts as a simplex of independent rays. Each further ray takes away the normals that it
violates and brings, for every adjacent pair of one that goes and one that stays, a new one between
them. Two normals are adjacent when the rays that touch both touch no third.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from surefoot.kernels.cone import dot

MOST_RAYS = 512
WORDS = MOST_RAYS // 64
MOST_NORMALS = 20000
NEW = -1.0  # in place of a product, which is that of the ray with another normal
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
    product: np.ndarray  # (MOST_NORMALS) with the last ray; NEW where the normal came after it
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
    """The cone grows by a unit ray; False where there is no room.

    Normals that stay keep their places, unless they fill what is left empty. `product` then holds
    products with the ray, and NEW for the normals that have come to their places.
    """
    count, index, dim = facets.size[0], facets.size[1], ray.shape[0]
    if index >= MOST_RAYS:
        return False
    gone = _multiply(facets, ray)
    made = np.int64(0)
    if gone > 0:
        ahead, some = _around(facets)
        for x in range(ahead, some):
            if facets.product[facets.near[x]] < -TOUCH:
                made = _between(facets, facets.near[x], ahead, some, made, dim)
                if made < 0 or count - gone + made > MOST_NORMALS:
                    return False
    word, bit = index // 64, ONE << np.uint64(index % 64)
    for k in range(count):
        if abs(facets.product[k]) <= TOUCH:
            facets.touch[k, word] |= bit
    if gone > 0:
        _exchange(facets, made, dim)
    facets.size[0], facets.size[1] = count - gone + made, index + 1
    return True


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _multiply(facets, ray):
    """The products of all normals with a ray; how many are negative."""
    gone = np.int64(0)
    for k in range(facets.size[0]):
        product = dot(facets.normal[k], ray)
        facets.product[k] = product
        if product < -TOUCH:
            gone += 1
    return gone


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _around(facets):
    """The normals that go and all that can be their neighbours, to `near`.

    Neighbours share dim − 2 rays: who shares fewer with all that go together needs no other look.
    Those that stay come first; how many these are, and how many all are.
    """
    count, enough = facets.size[0], facets.normal.shape[1] - 2
    touch, near = facets.touch, facets.near
    for k in range(count):
        near[k] = 0
    for i in range(facets.size[1] // 64 + 1):
        leaving = np.uint64(0)
        for k in range(count):
            if facets.product[k] < -TOUCH:
                leaving |= touch[k, i]
        for k in range(count):
            near[k] += _bits(leaving & touch[k, i])
    some = np.int64(0)
    for k in range(count):
        if near[k] >= enough:
            near[some] = k
            some += 1
    ahead = np.int64(0)
    for x in range(some):
        k = near[x]
        if facets.product[k] > TOUCH:
            near[x], near[ahead] = near[ahead], k
            ahead += 1
    return ahead, some


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _exchange(facets, made, dim):
    """New normals take the places of those that go; the last ones fill what is left empty."""
    count, product = facets.size[0], facets.product
    used, k = np.int64(0), np.int64(0)
    while k < count:
        if product[k] >= -TOUCH:
            k += 1
        elif used < made:
            _copy(facets.fresh, facets.fresh_touch, used, facets.normal, facets.touch, k, dim)
            product[k] = NEW
            used += 1
            k += 1
        else:
            count -= 1
            while count > k and product[count] < -TOUCH:
                count -= 1
            if count > k:
                _copy(facets.normal, facets.touch, count, facets.normal, facets.touch, k, dim)
                product[k] = NEW
                k += 1
    for n in range(used, made):
        _copy(facets.fresh, facets.fresh_touch, n, facets.normal, facets.touch, count, dim)
        product[count] = NEW
        count += 1


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _copy(normal, touch, k, to_normal, to_touch, to, dim):
    for i in range(dim):
        to_normal[to, i] = normal[k, i]
    for i in range(WORDS):
        to_touch[to, i] = touch[k, i]


@njit(cache=True, nogil=True, error_model="numpy")
def _between(facets, leaver, ahead, some, made, dim):
    """New normals between one that goes and its neighbours that stay; how many, −1 for no room.

    Of the first `some` of `near`, the first `ahead` stay. The neighbours are listed behind them.
    """
    index = facets.size[1]
    words = index // 64 + 1
    touch, product, near = facets.touch, facets.product, facets.near
    stay = _sharing(facets, leaver, 0, ahead, some, words)
    last, own = stay, np.int64(0)
    for i in range(words):
        own += _bits(touch[leaver, i])
    if stay > some and own >= dim:  # else any dim − 2 of its rays make one neighbour
        last = _sharing(facets, leaver, ahead, some, stay, words)
    if stay < 0 or last < 0:
        return np.int64(-1)
    for x in range(some, stay):
        stayer = near[x]
        if own >= dim and not _adjacent(facets, leaver, x, some, last, words):
            continue
        if made >= MOST_NORMALS:
            return np.int64(-1)
        size = 0.0
        for i in range(dim):
            value = product[stayer] * facets.normal[leaver, i]
            value -= product[leaver] * facets.normal[stayer, i]
            facets.fresh[made, i] = value
            size += value * value
        share = 1.0 / math.sqrt(size)
        for i in range(dim):
            facets.fresh[made, i] *= share
        for i in range(WORDS):
            facets.fresh_touch[made, i] = touch[leaver, i] & touch[stayer, i]
        facets.fresh_touch[made, index // 64] |= ONE << np.uint64(index % 64)
        made += 1
    return made


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _sharing(facets, leaver, begin, end, last, words):
    """Those of `near` from begin to end that share dim − 2 rays with a normal, put from last on."""
    touch, near, enough = facets.touch, facets.near, facets.normal.shape[1] - 2
    for x in range(begin, end):
        k = near[x]
        shared = np.int64(0)
        for i in range(words):
            shared += _bits(touch[leaver, i] & touch[k, i])
        if shared >= enough and k != leaver:
            if last >= MOST_NORMALS:
                return np.int64(-1)
            near[last] = k
            last += 1
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def _adjacent(facets, leaver, x, some, last, words):
    """Whether the rays that touch a normal and its neighbour number x touch no other neighbour."""
    touch, stayer = facets.touch, facets.near[x]
    for y in range(some, last):
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


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _bits(word):
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & EVERY_SECOND)
    word = (word & PAIRS) + ((word >> np.uint64(2)) & PAIRS)
    word = (word + (word >> np.uint64(4))) & FOURS
    return np.int64((word * BYTES) >> np.uint64(56))
