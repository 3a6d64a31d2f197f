"""Functions that canonical time warps are made of: f(t) = c₁ f₁(t) + … + c_K f_K(t) on [0, 1]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline

from surefoot.arrays import Array, Float64
from surefoot.errors import BadOption, UnknownName, nearest

Function = Callable[[Float64[Array, " n"]], Float64[Array, " n"]]

STEP = 1e-4  # of central differences, where a function comes without its derivative
MOST_FREE = 6  # coefficients of a smooth basis; more are hard to search and gain little
KNOTS = tuple(k / 7.0 for k in range(1, 7))  # of the B-splines by name: four free coefficients
EDGES = (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)  # a cubic spline's own ends


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """Some functions on [0, 1], and what is known of them."""

    name: str
    count: int
    """How many functions, K."""
    evaluate: Callable[[Float64[Array, " n"], int], Float64[Array, "n k"]]
    """Values at points, or derivatives of order 1 or 2."""
    smooth_ends: bool = False
    """Whether f′ = 1 and f″ = 0 are asked for at both ends, so that the speed has no kink there."""
    degree: int | None = None
    """Of piecewise polynomials: strict increase is proven from their coefficients; None: others."""
    breaks: tuple[float, ...] = (0.0, 1.0)
    """Ends of the pieces."""
    bend_bounds: tuple[float, ...] | None = None
    """No |f_k″| is larger; None where nobody knows, and then increase holds only at samples."""

    @property
    def proven(self) -> bool:
        """Whether strict increase can be proven between sample points."""
        return self.degree is not None or self.bend_bounds is not None


def polynomial(
    name: str, coefficients: Float64[Array, "k d"], *, smooth_ends: bool = False
) -> Basis:
    """A basis of polynomials.

    Args:
        coefficients: of each function, the constant first.
    """
    rows = np.asarray(coefficients, dtype=np.float64)
    degree = rows.shape[1] - 1
    by_order = [rows.T]
    for _ in range(2):
        last = by_order[-1]
        by_order.append(last[1:] * np.arange(1.0, len(last))[:, None])

    def evaluate(t: Array, order: int) -> Array:
        powers = t[:, None] ** np.arange(len(by_order[order]))
        return np.asarray(powers @ by_order[order], dtype=np.float64)

    return Basis(name, len(rows), evaluate, smooth_ends, degree=degree)


def poly3() -> Basis:
    """The paper's choice: t, t², t³."""
    return polynomial("poly3", np.eye(4)[1:])


def smooth(free: int = 2) -> Basis:
    """Functions with f′ = 1 and f″ = 0 at both ends: t + 64 t³ (1 − t)³ (A₀ + A₁ (2t − 1) + …).

    Args:
        free: how many coefficients A may be chosen, 1 to 6.

    Raises:
        BadOption: another number.
    """
    if not 1 <= free <= MOST_FREE:
        raise BadOption(what=f"a smooth basis has 1 to {MOST_FREE} free coefficients, got {free}")
    rows = np.zeros((free + 1, 7 + free))
    rows[0, 1] = 1.0
    bump = 64.0 * np.array([0.0, 0.0, 0.0, 1.0, -3.0, 3.0, -1.0])
    for k in range(free):
        rows[k + 1, : len(bump)] = bump
        bump = np.convolve(bump, [-1.0, 2.0])
    return polynomial("smooth" if free == 2 else f"smooth{free}", rows)


def bspline(knots: Sequence[float] = KNOTS, *, smooth_ends: bool = True) -> Basis:
    """Cubic B-splines.

    Args:
        knots: inside (0, 1), increasing.
        smooth_ends: whether f′ = 1 and f″ = 0 at both ends; it takes four of the coefficients.

    Raises:
        BadOption: knots outside, or not increasing.
    """
    inner = np.asarray(knots, dtype=np.float64)
    ends = np.concatenate([[0.0], inner, [1.0]])
    if inner.ndim != 1 or not np.all(np.diff(ends) > 0.0):
        raise BadOption(
            what=f"knots must increase inside 0 to 1, got {', '.join(f'{x:g}' for x in inner)}"
        )
    whole = np.concatenate([EDGES[0], inner, EDGES[1]])
    count = len(inner) + 4
    curves = BSpline(whole, np.eye(count), 3)

    def evaluate(t: Array, order: int) -> Array:
        return np.asarray(curves(t, order), dtype=np.float64)

    breaks = tuple(float(x) for x in ends)
    return Basis("bspline", count, evaluate, smooth_ends, degree=3, breaks=breaks)


def from_functions(
    functions: Sequence[Function],
    *,
    derivatives: Sequence[Function] | None = None,
    bend_bounds: Sequence[float] | None = None,
    name: str = "own",
    smooth_ends: bool = False,
) -> Basis:
    """A basis of any functions.

    Args:
        functions: each takes an array of points of [0, 1] and gives as many values.
        derivatives: of each; without them, differences stand in.
        bend_bounds: no |f″| is larger; with them and the derivatives, strict increase is proven
            between sample points as well, without them it holds only at samples.

    Raises:
        BadOption: no function, or not as many derivatives or bounds.
    """
    given = tuple(functions)
    if not given:
        raise BadOption(what="a basis needs at least one function, got none")
    for what, others in (("derivatives", derivatives), ("bend bounds", bend_bounds)):
        if others is not None and len(others) != len(given):
            raise BadOption(what=f"expected {len(given)} {what}, got {len(others)}")
    known = None if derivatives is None else tuple(derivatives)

    def evaluate(t: Array, order: int) -> Array:
        if order == 0:
            return np.stack([np.broadcast_to(f(t), t.shape) for f in given], axis=1)
        if order == 1 and known is not None:
            return np.stack([np.broadcast_to(f(t), t.shape) for f in known], axis=1)
        low, high = np.maximum(t - STEP, 0.0), np.minimum(t + STEP, 1.0)
        risen = evaluate(high, order - 1) - evaluate(low, order - 1)
        return np.asarray(risen / (high - low)[:, None], dtype=np.float64)

    bounds = None if bend_bounds is None or known is None else tuple(map(float, bend_bounds))
    return Basis(name, len(given), evaluate, smooth_ends, bend_bounds=bounds)


BASES: dict[str, Callable[[], Basis]] = {
    "poly3": poly3,
    "smooth": smooth,
    "smooth3": lambda: smooth(3),
    "smooth4": lambda: smooth(4),
    "bspline": bspline,
}
"""All bases by name."""


def named(basis: str | Basis) -> Basis:
    """The basis of that name; a basis is given back as it is.

    Raises:
        UnknownName: there is none.
    """
    if isinstance(basis, Basis):
        return basis
    if basis not in BASES:
        raise UnknownName(what=f"no basis is called '{basis}'", todo=nearest(basis, BASES))
    return BASES[basis]()
