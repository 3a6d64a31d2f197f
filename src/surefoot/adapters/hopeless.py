"""What no timing mends: a bound of d at single poses, for every speed and every change of speed.

At a pose a timing chooses two numbers, x = ṡ² and y = s̈, and d(a y + b x + c) is convex in them.
Dual directions m give linear programs, min t with t ≥ m · (a y + b x + c), whose value no timing
can beat there.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from surefoot.adapters.path import Path
from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.index.distance import signed_distances

RATE_MOST = 1000.0  # 1/s²: a motion that doubles its speed within a millisecond
ROUNDS = 12  # of cuts; the bound holds after any of them
MOST_SAMPLES = 4000  # of very long infeasible stretches, evenly chosen ones stand for all


def least_distances(
    path: Path,
    upper: Float64[Array, " n"],
    dual: Float64[Array, "n 6"],
    rows: Int64[IntArray, " j"],
    *,
    tolerance_n: float,
    fastest: float,
) -> Float64[Array, " j"]:
    """Lower bounds of d at some samples under any timing, N; −inf where some timing mends it.

    Args:
        upper: of the clip as it is, N.
        dual: its dual directions.
        rows: the samples.
        tolerance_n: up to which d counts as feasible.
        fastest: the largest ṡ.
    """
    out = np.full(len(rows), -np.inf)
    if len(rows) == 0:
        return out
    count = min(len(rows), MOST_SAMPLES)
    chosen = np.unique(np.linspace(0, len(rows) - 1, count).round().astype(np.int64))
    open_, length = chosen, path.scales.length_m
    scale = np.array([1.0, 1.0, 1.0, *([1.0 / length] * 3)])
    k = path.coefficients
    parts = np.stack([k.a[rows] * RATE_MOST, k.b[rows] * fastest**2, k.c[rows]]) * scale
    owner, cuts = chosen, dual[rows[chosen]]
    for _ in range(ROUNDS):  # of cuts: all samples at once
        kept = np.isin(owner, open_)
        owner, cuts = owner[kept], cuts[kept]
        bound, point = _relaxed(parts, open_, owner, cuts, path.weight_n)
        hopeless = bound > tolerance_n
        out[open_] = np.where(hopeless, bound, -np.inf)
        w = np.einsum("jp,pjk->jk", np.pad(point, ((0, 0), (0, 1)), constant_values=1.0),
                      parts[:, open_])  # fmt: skip
        w[:, 3:] *= length
        which = rows[open_]
        found = signed_distances(
            path.samples.cones.picked(which), w, path.samples.ref_w[which], scales=path.scales
        )
        # Done: feasible somewhere, or as high as it gets.
        done = (found.upper <= tolerance_n) | (found.upper - bound <= 1e-6 * path.weight_n)
        out[open_[found.upper <= tolerance_n]] = -np.inf
        owner, cuts = np.append(owner, open_), np.concatenate([cuts, found.dual])
        open_ = open_[~done]
        if len(open_) == 0:
            break
    return out


def _relaxed(
    parts: Float64[Array, "3 n 6"],
    open_: IntArray,
    owner: IntArray,
    cuts: Array,
    weight_n: float,
) -> tuple[Float64[Array, " k"], Float64[Array, "k 2"]]:
    """The least t of each sample under its cuts, N, and where: y and x over their largest."""
    n = len(open_)
    place = np.searchsorted(open_, owner)
    along = np.einsum("pjk,jk->pj", parts[:, owner], cuts) / weight_n
    row = np.arange(len(owner))
    ones = np.ones(len(owner))
    matrix = coo_matrix(
        (
            np.concatenate([-ones, along[0], along[1]]),
            (np.tile(row, 3), np.concatenate([3 * place, 3 * place + 1, 3 * place + 2])),
        ),
        shape=(len(owner), 3 * n),
    ).tocsr()
    goal = np.tile([1.0, 0.0, 0.0], n)
    bounds = np.tile([[-1.0, np.inf], [-1.0, 1.0], [0.0, 1.0]], (n, 1))
    # The stubs of scipy know no sparse matrices here; its documentation does.
    answer = linprog(goal, A_ub=matrix, b_ub=-along[2], bounds=bounds, method="highs")  # type: ignore[call-overload]  # as said
    if answer.status != 0:  # nothing is proven then
        return np.full(n, -np.inf), np.tile([0.0, 0.0], (n, 1))
    x = np.asarray(answer.x, dtype=np.float64).reshape(n, 3)
    return x[:, 0] * weight_n, x[:, 1:]
