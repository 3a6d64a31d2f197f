"""Distances by other means: cone programs by Clarabel, hulls by Qhull, in plain numpy around them.

Every reference brings its own error: a pair of bounds that its own answer proves.
"""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse
from scipy.spatial import ConvexHull

from surefoot.arrays import Array


def settings(tolerance: float = 1e-9) -> clarabel.DefaultSettings:
    chosen = clarabel.DefaultSettings()
    chosen.verbose = False
    chosen.max_threads = 1
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(chosen, name, tolerance)
    return chosen


def polar_rows(columns: Array, friction: float) -> Array:
    """(3 k, 6) rows: (−s_n, μ s_t) = −rows · r must lie in a second-order cone for every vertex."""
    return (columns * np.array([1.0, -friction, -friction])[:, None]).reshape(-1, 6)


def smallest_form(rows: Array) -> tuple[sparse.csc_matrix, sparse.csc_matrix, list[object]]:
    """min ½ |r − w|² over the polar cone: 6 variables and a cone of 3 for each vertex."""
    cones: list[object] = [clarabel.SecondOrderConeT(3) for _ in range(len(rows) // 3)]
    return sparse.csc_matrix(np.eye(6)), sparse.csc_matrix(rows), cones


def nearest(columns: Array, friction: float, w: Array) -> tuple[Array, Array]:
    """Bounds (lower, upper) of d+ for n problems, columns (n, k, 3, 6), w (n, 6)."""
    n, size = len(w), np.linalg.norm(w, axis=1, keepdims=True)
    rest, force = np.empty((n, 6)), np.empty((n, columns.shape[1], 3))
    options, zero = settings(1e-12), np.zeros(3 * columns.shape[1])
    square, _, cones = smallest_form(polar_rows(columns[0], friction))
    where, ends = np.tile(np.arange(len(zero)), 6), len(zero) * np.arange(7)
    for i in range(n):
        rows = polar_rows(columns[i], friction)
        held = sparse.csc_matrix((rows.T.ravel(), where, ends), shape=rows.shape)
        found = clarabel.DefaultSolver(square, -w[i] / size[i], held, zero, cones, options).solve()
        rest[i], force[i] = np.array(found.x), np.array(found.z).reshape(-1, 3)
    return bounds(columns, friction, w, size * rest, size[:, :, None] * force)


def bounds(
    columns: Array, friction: float, w: Array, rest: Array, force: Array
) -> tuple[Array, Array]:
    """What a residual and the multipliers (n, k, 3) of its cones prove of d+."""
    force[..., 0] = np.maximum(force[..., 0], np.linalg.norm(force[..., 1:], axis=2))
    given = np.einsum("nkb,nkbd->nd", force * [1.0, -friction, -friction], columns)
    pushed = -into_dual(columns, friction, -rest)
    length = np.maximum(np.linalg.norm(pushed, axis=1), 1e-300)
    lower = np.maximum(0.0, np.einsum("nd,nd->n", pushed, w) / length)
    return lower, np.linalg.norm(w - given, axis=1)


def into_dual(columns: Array, friction: float, n: Array) -> Array:
    """Directions pushed along the mean normal until no ray has a negative product with them."""
    inward = np.zeros((len(n), 6))
    inward[:, :3] = columns[:, :, 0, :3].mean(axis=1)
    inward /= np.linalg.norm(inward, axis=1, keepdims=True)
    least = _least(columns, friction, inward)
    assert np.all(least > 0.0)
    over = np.max(np.maximum(0.0, -_least(columns, friction, n)) / least, axis=1)
    return n + over[:, None] * inward


def _least(columns: Array, friction: float, x: Array) -> Array:
    s = np.einsum("nkbd,nd->nkb", columns, x)
    return s[..., 0] - friction * np.linalg.norm(s[..., 1:], axis=2)


def ascent(
    columns: Array, friction: float, w: Array, starts: Array, most: int = 30
) -> tuple[float, Array]:
    """The least n · w / |n| over the dual cone found by ascent from each start, and its n.

    n ← argmax {n_k · n : n in V*, n · w = 1}: |n| grows with every step.
    """
    size = float(np.linalg.norm(w))
    unit, k = w / size, len(columns)
    scaled = polar_rows(columns, -friction)
    held = sparse.csc_matrix(np.concatenate([unit[None], -scaled]))
    bound = np.concatenate([[1.0], np.zeros(3 * k)])
    cones = [clarabel.ZeroConeT(1), *(clarabel.SecondOrderConeT(3) for _ in range(k))]
    nothing, options = sparse.csc_matrix((6, 6)), settings(1e-11)
    best, best_n = np.inf, np.zeros(6)
    for start in starts:
        n, value = start / np.linalg.norm(start), np.inf
        for _ in range(most):
            found = clarabel.DefaultSolver(nothing, -n, held, bound, cones, options).solve()
            new = into_dual(columns[None], friction, np.array(found.x)[None])[0]
            if not np.all(np.isfinite(new)) or not np.linalg.norm(new) > 0.0:
                break
            n = new / np.linalg.norm(new)
            now = float(n @ w)
            if now < best:
                best, best_n = now, n
            if now > value - 1e-10 * abs(value):
                break
            value = now
    return best, best_n


def hull_margin(columns: Array, friction: float, w: Array, sides: int, options: str = "") -> float:
    """The least distance from a facet of the hull of pyramids of soles on level ground.

    All rays have vertical part 1, so the cone's facets are those of a polytope in five dimensions.
    """
    rays = pyramid_rays(columns, friction, sides)
    assert np.allclose(rays[:, 2], 1.0)
    others = [0, 1, 3, 4, 5]
    hull = ConvexHull(rays[:, others], qhull_options=options or None)
    normal = np.zeros((len(hull.equations), 6))
    normal[:, others], normal[:, 2] = -hull.equations[:, :5], -hull.equations[:, 5]
    return float(np.min(normal @ w / np.linalg.norm(normal, axis=1)))


def pyramid_rays(columns: Array, friction: float, sides: int) -> Array:
    turn = 2.0 * np.pi * np.arange(sides) / sides
    force = np.stack([np.ones(sides), friction * np.cos(turn), friction * np.sin(turn)], axis=1)
    return np.einsum("sb,kbd->ksd", force, columns).reshape(-1, 6)
