"""All canonical time warps that a basis allows: section V.B of Zheng and Yamane.

f(t) = Σ c_k f_k(t) on [0, 1] with f(0) = 0, f(1) = 1 (10) is c = c₀ + N λ (11); the λ with
f′ > floor everywhere are a convex region (13). Here f′ > floor is proven between sample points too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import linprog
from scipy.special import comb

from surefoot.adapters.bases import Basis
from surefoot.arrays import Array, Bool, BoolArray, Float64, locked
from surefoot.errors import BadOption

POINTS = 65  # of all pieces together at least, where the outer bounds of the region are asked
FINE_POINTS = 513  # for functions of which only values are known
HALVINGS = 10  # of each piece, in the proof of strict increase
RANK = 1e-9  # of the largest singular value: what is below leaves a direction free
MISSED = 1e-8  # by which conditions may be missed before they count as contradicting
MOST_DRAWS = 64  # for each sample that is wanted: beyond, the region is too thin for its box
BOUNDLESS = 1e6  # half-width of a region that no condition bounds


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The coefficients of a basis with which time runs forward, as c = c₀ + N λ."""

    basis: Basis
    floor: float
    """f′ is above it everywhere."""
    particular: Float64[Array, " k"]
    """c₀: of all solutions the one that runs most evenly; f = t where the basis has it."""
    null: Float64[Array, "k q"]
    """N: each column changes f′ by 1 in the mean square."""
    low: Float64[Array, " q"]
    """A box around the region."""
    high: Float64[Array, " q"]

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("particular", "null", "low", "high"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    @property
    def free(self) -> int:
        """How many coefficients can be chosen."""
        return int(self.null.shape[1])

    def coefficients(self, lam: Float64[Array, "c q"]) -> Float64[Array, "c k"]:
        """The coefficients that each λ means."""
        return np.asarray(self.particular + lam @ self.null.T, dtype=np.float64)

    def increasing(self, lam: Float64[Array, "c q"]) -> Bool[BoolArray, " c"]:
        """Whether f′ > floor everywhere: proven, where the basis allows a proof."""
        c = self.coefficients(lam)
        if self.basis.degree is not None:
            return _proven_by_pieces(self.basis, c, self.floor)
        t = np.linspace(0.0, 1.0, FINE_POINTS)
        least = (c @ self.basis.evaluate(t, 1).T).min(axis=1)
        if self.basis.bend_bounds is not None:
            least -= np.abs(c) @ np.array(self.basis.bend_bounds) * (t[1] / 2.0)
        return np.asarray(least > self.floor)

    def slopes(self) -> tuple[Float64[Array, "p q"], Float64[Array, " p"]]:
        """A N and A c₀ of (13) at points of every piece: f′ = A N λ + A c₀ there."""
        rows = self.basis.evaluate(_points(self.basis), 1)
        return rows @ self.null, rows @ self.particular

    def least_slope(self, c: Float64[Array, " k"]) -> float:
        """The smallest f′ at a fine row of points."""
        t = np.linspace(0.0, 1.0, FINE_POINTS)
        return float((self.basis.evaluate(t, 1) @ c).min())

    def drawn(self, count: int, seed: int) -> Float64[Array, "c q"]:
        """Samples of the region, spread evenly: fewer where it fills too little of its box.

        The additive recurrence of Roberts, with a start that the seed chooses; the first sample is
        λ = 0 where that is inside.
        """
        found = [np.zeros((1, self.free))]
        wanted, drawn = count, 0
        start = np.random.default_rng(seed).random(self.free)
        while wanted > 0 and drawn < MOST_DRAWS * count:
            points = spread(2 * count, self.free, start, first=drawn)
            drawn += len(points)
            lam = self.low + points * (self.high - self.low)
            kept = lam[self.increasing(lam)][:wanted]
            wanted -= len(kept)
            found.append(kept)
        every = np.concatenate(found)
        return (every if self.increasing(every[:1])[0] else every[1:])[:count]


def spread(
    count: int, dimensions: int, start: Float64[Array, " q"], *, first: int = 0
) -> Float64[Array, "c q"]:
    """Points of the unit cube with low discrepancy: start + n (1/φ, 1/φ², …) modulo 1.

    φ is the positive root of φ^(q+1) = φ + 1 (Roberts).
    """
    phi = 2.0
    for _ in range(60):  # a contraction: 60 steps reach the last digit in any dimension
        phi = (1.0 + phi) ** (1.0 / (dimensions + 1))
    steps = phi ** -np.arange(1.0, dimensions + 1)
    return (start + (first + 1 + np.arange(count))[:, None] * steps) % 1.0


def region_of(basis: Basis, floor: float = 0.0) -> Region:
    """The region of a basis.

    Raises:
        BadOption: no coefficients meet the conditions, none are left to choose, or the floor is too
            high.
    """
    particular, null = _solved(basis)
    t = _points(basis)
    slopes = basis.evaluate(t, 1)
    scale = 1.0 / np.sqrt(len(t))
    _, values, rows = np.linalg.svd(slopes @ null * scale, full_matrices=False)
    kept = values > RANK * max(float(np.abs(slopes).max()), 1e-300)
    if not kept.any():
        raise BadOption(
            what=f"basis '{basis.name}' leaves nothing to choose: its conditions fix the function",
            todo="add functions",
        )
    # Columns that change no f′ are left out; the others change it by 1 each, at right angles.
    null = null @ (rows[kept].T / values[kept])
    null = null * np.where(null[np.abs(null).argmax(axis=0), np.arange(null.shape[1])] < 0, -1, 1)
    uneven = (1.0 - slopes @ particular) * scale
    particular = particular + null @ np.linalg.lstsq(slopes @ null * scale, uneven, rcond=None)[0]
    low, high = _box(basis, slopes @ null, slopes @ particular, floor)
    return Region(basis, floor, particular, null, low, high)


def _solved(basis: Basis) -> tuple[Array, Array]:
    """c₀ and N of (10), by singular values: rows that vanish or repeat do no harm."""
    ends = np.array([0.0, 1.0])
    rows, wanted = [basis.evaluate(ends, 0)], [0.0, 1.0]
    if basis.smooth_ends:
        rows += [basis.evaluate(ends, 1), basis.evaluate(ends, 2)]
        wanted += [1.0, 1.0, 0.0, 0.0]
    matrix, right = np.concatenate(rows), np.array(wanted)
    if not np.all(np.isfinite(matrix)):
        raise BadOption(what=f"basis '{basis.name}' is not finite at its ends")
    size = np.abs(matrix).max(axis=1)
    size[size <= RANK * max(float(size.max()), 1e-300)] = 1.0  # a row that vanishes stays so
    matrix, right = matrix / size[:, None], right / size
    particular = np.linalg.lstsq(matrix, right, rcond=RANK)[0]
    missed = np.abs(matrix @ particular - right)
    if missed.max() > MISSED:
        names = ("f(0) = 0", "f(1) = 1", "f′(0) = 1", "f′(1) = 1", "f″(0) = 0", "f″(1) = 0")
        broken = [names[i] for i in np.flatnonzero(missed > MISSED)]
        raise BadOption(
            what=f"no coefficients of basis '{basis.name}' give {' and '.join(broken)}",
            where=f"{basis.count} functions, {len(right)} conditions",
            todo="add functions, or functions that differ more at the ends",
        )
    return particular, np.asarray(null_space(matrix, rcond=RANK), dtype=np.float64)


def _points(basis: Basis) -> Float64[Array, " n"]:
    """Points in every piece, its ends among them."""
    ends = np.array(basis.breaks)
    inside = np.linspace(0.0, 1.0, max(5, -(-POINTS // (len(ends) - 1))))
    return np.unique(ends[:-1, None] + np.diff(ends)[:, None] * inside)


def _box(basis: Basis, change: Array, start: Array, floor: float) -> tuple[Array, Array]:
    """Bounds of each λ, by linear programs over the sample points: the region lies inside."""
    q = change.shape[1]
    found = np.empty((2, q))
    bounds = [(-BOUNDLESS, BOUNDLESS)] * q
    for k, sign in np.ndindex(q, 2):  # two programs for each free coefficient
        goal = np.zeros(q)
        goal[k] = 1.0 - 2.0 * sign
        out = linprog(goal, A_ub=-change, b_ub=start - floor, bounds=bounds, method="highs")
        if out.status != 0:
            raise BadOption(
                what=f"with basis '{basis.name}' no function has f′ > {floor:g} everywhere",
                todo="lower the floor, or choose another basis",
            )
        found[sign, k] = np.asarray(out.x)[k]
    if np.abs(found).max() > BOUNDLESS / 2.0:
        raise BadOption(what=f"nothing bounds the coefficients of basis '{basis.name}'")
    return found[0], found[1]


def _proven_by_pieces(basis: Basis, c: Array, floor: float) -> BoolArray:
    """f′ > floor where all Bernstein coefficients of f′ on some halving of the pieces are above it.

    A coefficient at the end of a part is a value of f′: one that is not above the floor disproves.
    """
    proven = np.zeros(len(c), dtype=np.bool_)
    open_ = np.arange(len(c))
    degree = max(0, (basis.degree or 1) - 1)
    for halvings in range(HALVINGS + 1):
        if len(open_) == 0:
            break
        parts = _parts(basis.breaks, halvings)
        nodes, to_bernstein = _bernstein(degree)
        t = parts[:-1, None] + np.diff(parts)[:, None] * nodes
        # Nodes at a break belong to the part on their right: values of a continuous f′ agree.
        slopes = basis.evaluate(t.ravel(), 1).reshape(len(parts) - 1, degree + 1, basis.count)
        rows = np.einsum("bd,pdk->pbk", to_bernstein, slopes)
        found = np.einsum("ck,pbk->cpb", c[open_], rows)
        good = found.min(axis=(1, 2)) > floor
        proven[open_[good]] = True
        bad = found[:, :, [0, -1]].min(axis=(1, 2)) <= floor
        open_ = open_[~good & ~bad]
    return proven


def _parts(breaks: tuple[float, ...], halvings: int) -> Array:
    """Ends of the pieces, each cut into 2^halvings equal parts."""
    inside = np.arange(2**halvings) / 2**halvings
    ends = np.array(breaks)
    return np.append((ends[:-1, None] + np.diff(ends)[:, None] * inside).ravel(), ends[-1])


@lru_cache(maxsize=16)
def _bernstein(degree: int) -> tuple[Array, Array]:
    """Points of [0, 1], and the matrix from values there to Bernstein coefficients."""
    nodes = (1.0 - np.cos(np.pi * np.arange(degree + 1) / max(degree, 1))) / 2.0
    k = np.arange(degree + 1)
    powers = comb(degree, k) * nodes[:, None] ** k * (1.0 - nodes[:, None]) ** (degree - k)
    return nodes, np.asarray(np.linalg.inv(powers), dtype=np.float64)
