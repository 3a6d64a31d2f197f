"""Double description against a slow twin: every facet of a cone found from all sets of rays."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from surefoot.arrays import Array
from surefoot.kernels.facets import MOST_NORMALS, MOST_RAYS, WORDS, Facets, begin, insert

EXACT = 1e-9  # of unit normals: a facet of nearly parallel rays turns by more than rounding


def workspace(dim: int) -> Facets:
    return Facets(
        np.empty((MOST_NORMALS, dim)),
        np.empty((MOST_NORMALS, WORDS), np.uint64),
        np.empty((MOST_NORMALS, dim)),
        np.empty((MOST_NORMALS, WORDS), np.uint64),
        np.empty(MOST_NORMALS),
        np.empty(MOST_NORMALS, np.int64),
        np.zeros(2, np.int64),
    )


def grown(rays: Array) -> Facets:
    """The facets of unit rays, of which the first `dim` are independent."""
    dim = rays.shape[1]
    facets = workspace(dim)
    begin(facets, np.ascontiguousarray(rays[:dim]), np.empty((dim, 2 * dim)))
    for ray in rays[dim:]:
        assert insert(facets, np.ascontiguousarray(ray))
    return facets


def slow_facets(rays: Array) -> Array:
    """Unit normals n with n · g ≥ 0 for all rays and equality for dim − 1 independent ones."""
    dim, found = rays.shape[1], []
    for chosen in combinations(range(len(rays)), dim - 1):
        _, size, axes = np.linalg.svd(rays[list(chosen)])
        if size[-1] < 1e-9:
            continue
        for n in (axes[-1], -axes[-1]):
            held = np.min(rays @ n) >= -1e-10
            if held and not any(np.abs(n - other).max() < EXACT for other in found):
                found.append(n)
    return np.array(found)


def same_sets(a: Array, b: Array) -> None:
    assert len(a) == len(b)
    for n in a:
        assert np.min(np.abs(b - n).max(axis=1)) < EXACT


def random_rays(dim: int, count: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    rays = 0.6 * rng.normal(size=(count, dim))
    rays[:, 0] = 1.0
    return rays / np.linalg.norm(rays, axis=1, keepdims=True)


@pytest.mark.parametrize(("dim", "count"), [(2, 7), (3, 10), (4, 10), (5, 9), (6, 9)])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_facets_of_random_rays(dim: int, count: int, seed: int) -> None:
    rays = random_rays(dim, count, seed)
    facets = grown(rays)
    same_sets(facets.normal[: facets.size[0]], slow_facets(rays))


def sole_rays(turns: int) -> Array:
    """Rays of a level sole about its middle: many of them lie in each tipping facet."""
    angle = 2.0 * np.pi * np.arange(turns) / turns
    rays = []
    for x, y in ((0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)):
        for t in angle:
            force = np.array([0.7 * np.cos(t), 0.7 * np.sin(t), 1.0])
            rays.append(np.concatenate([force, np.cross([x, y, 0.0], force)]))
    return np.array(rays) / np.linalg.norm(rays, axis=1, keepdims=True)


def independent_first(rays: Array) -> Array:
    chosen: list[int] = []
    for k in range(len(rays)):
        if np.linalg.matrix_rank(rays[[*chosen, k]], tol=1e-9) > len(chosen):
            chosen.append(k)
    return rays[chosen + [k for k in range(len(rays)) if k not in chosen]]


def test_facets_that_many_rays_touch_are_found_once() -> None:
    """Four turns at four corners: 16 rays, up to 8 of them in one facet."""
    rays = independent_first(sole_rays(4))
    facets = grown(rays)
    normals = facets.normal[: facets.size[0]]
    same_sets(normals, slow_facets(rays))
    for k, n in enumerate(normals):
        touching = {i for i in range(len(rays)) if abs(rays[i] @ n) <= 1e-11}
        marked = {i for i in range(len(rays)) if int(facets.touch[k, i // 64]) >> (i % 64) & 1}
        assert marked == touching


def test_the_order_of_the_rays_does_not_matter() -> None:
    rays, rng = sole_rays(6), np.random.default_rng(0)
    first = grown(independent_first(rays))
    second = grown(independent_first(rays[rng.permutation(len(rays))]))
    same_sets(first.normal[: first.size[0]], second.normal[: second.size[0]])


def test_a_ray_of_the_cone_itself_changes_nothing() -> None:
    rays = random_rays(6, 9, 3)
    facets = grown(rays)
    before = facets.normal[: facets.size[0]].copy()
    middle = rays.sum(axis=0)
    assert insert(facets, middle / np.linalg.norm(middle))
    same_sets(facets.normal[: facets.size[0]], before)


def test_growing_only_takes_away_from_the_dual_cone() -> None:
    """A cone that grows has a smaller dual: new normals are sums of old ones."""
    rays = random_rays(4, 14, 5)
    for k in range(5, 14):
        old, new = grown(rays[:k]), grown(rays[: k + 1])
        normals = new.normal[: new.size[0]]
        assert np.min(rays[:k] @ normals.T) >= -1e-10
        assert old.size[1] + 1 == new.size[1]


def test_there_is_room_for_so_many_rays_and_no_more() -> None:
    rays = random_rays(2, MOST_RAYS + 1, 7)
    order = np.argsort(rays[:, 1])
    rays = rays[np.concatenate([order[[0, -1]], order[1:-1]])]
    facets = grown(rays[:MOST_RAYS])
    assert facets.size[1] == MOST_RAYS
    assert not insert(facets, np.ascontiguousarray(rays[-1]))
