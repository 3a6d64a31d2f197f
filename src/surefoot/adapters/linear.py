"""Linear programs, solved by HiGHS through scipy, and bounds that hold whatever it rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from surefoot.arrays import Array, Float64

TIGHT = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


@dataclass(frozen=True, slots=True)
class Solved:
    """The answer of a linear program."""

    x: Float64[Array, " k"]
    multipliers: Float64[Array, " r"]
    """Of its rows, 0 or more but for rounding."""


def least(
    cost: Float64[Array, " k"],
    rows: csr_array | Float64[Array, "r k"],
    side: Float64[Array, " r"],
    box: Float64[Array, "k 2"],
) -> Solved | None:
    """The x in a box with the least cost · x and rows x ≤ side; None if there is none."""
    found = linprog(  # type: ignore[call-overload]  # the stubs know no array of bounds
        cost, rows, side, bounds=box, method="highs-ds", options=TIGHT
    )
    if found.x is None:
        return None
    x = np.clip(found.x, box[:, 0], box[:, 1])
    return Solved(x, -np.asarray(found.ineqlin.marginals, dtype=np.float64))


def proven(
    multipliers: Float64[Array, " r"],
    rows: csr_array,
    side: Float64[Array, " r"],
    cuts: int,
    box: Float64[Array, "e 2"],
) -> float:
    """The least t that multipliers prove where rows x − side ≤ t for the first `cuts` rows, else 0.

    Any y ≥ 0 whose first `cuts` entries sum to 1 gives t ≥ min over the box of y · (rows x − side),
    however roughly y was solved for.
    """
    y = np.maximum(multipliers, 0.0)
    total = float(y[:cuts].sum())
    if not total > 0.0:
        return -np.inf
    y = y / total
    slope = rows.T @ y
    return float(np.minimum(slope * box[:, 0], slope * box[:, 1]).sum() - y @ side)
