"""Many small second-order cone programs at once: a primal-dual interior-point method.

    min x_last   with   s = h − A x in C = R+^q × Q³ × … × Q³,   Q³ = {s_0 ≥ |(s_1, s_2)|}

Mehrotra's predictor and corrector in the scaling of Nesterov and Todd, as Vandenberghe describes it
for CVXOPT ("The CVXOPT linear and quadratic cone program solvers", 2010); every step is taken for
all programs together, those that are done drop out. Any z in C with Aᵀz = −c proves that no value
is smaller than −hᵀz: so each answer comes with its own proof, and needs no trust in the method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, IntArray

MOST_STEPS = 60  # 12 are usual; a program without an interior may take twice as many
NEARLY_ALL = 0.99  # of the way to the boundary of the cone
OUTSIDE = 1e-7  # how far an answer may lie outside the cone; its size is about 1
SMALLEST_VALUE = 1e-2  # the relative gap is taken of no less: where forces can spare all, t is 0
ROUNDS = 3  # of each direction: one solves, the others mend what squaring the matrix lost
RIDGE = 1e-14  # of the diagonal: keeps the matrix invertible where two rows say the same


@dataclass(frozen=True, slots=True)
class Answers:
    """What was found for each program."""

    x: Float64[Array, "n d"]
    z: Float64[Array, "n r"]
    """Multipliers of the rows."""
    lower: Float64[Array, " n"]
    """No value of the program is smaller."""
    outside: Float64[Array, " n"]
    """How far h − A x lies outside the cone."""
    converged: Bool[BoolArray, " n"]


@dataclass(slots=True)
class _State:
    """The programs that are still open."""

    which: IntArray
    A: Array
    h: Array
    x: Array
    s: Array
    z: Array

    def only(self, keep: BoolArray) -> _State:
        """The state of some problems."""
        return _State(*(getattr(self, name)[keep] for name in self.__slots__))


def solve(
    A: Float64[Array, "n r d"], h: Float64[Array, "n r"], q: int, tolerance: float
) -> Answers:
    """The smallest last unknown of each program, up to a relative gap.

    Args:
        q: so many rows are inequalities; the others, in threes, are cones.
    """
    n, r, d = A.shape
    found = Answers(
        np.zeros((n, d)), np.zeros((n, r)), np.full(n, -np.inf), np.full(n, np.inf),
        np.zeros(n, dtype=np.bool_),
    )  # fmt: skip
    with np.errstate(all="ignore"):  # a program that fails turns into NaN and is given up
        state = _started(A, h, q)
        for _ in range(MOST_STEPS):
            state = state.only(~_noted(found, state, q, tolerance))
            if len(state.which) == 0:
                break
            _step(state, q)
    return found


def _started(A: Array, h: Array, q: int) -> _State:
    """Least squares, moved into the cone."""
    n, _, d = A.shape
    At = np.swapaxes(A, 1, 2)
    gram = _ridged(At @ A)
    both = np.zeros((n, d, 2))
    both[:, :, 0] = (At @ h[:, :, None])[:, :, 0]
    both[:, d - 1, 1] = 1.0
    solved = np.asarray(np.linalg.solve(gram, both), dtype=np.float64)
    x: Array = solved[:, :, 0]
    s: Array = h - (A @ x[:, :, None])[:, :, 0]
    z: Array = -(A @ solved[:, :, 1:])[:, :, 0]
    for values in (s, z):
        _lift(values, q)
    return _State(np.arange(n), A, h, x, s, z)


def _lift(values: Array, q: int) -> None:
    """Add the middle of the cone where a point is not well inside."""
    depth = -_outside(values, q)
    lift = np.where(depth < 1e-2, 1.0 - depth, 0.0)[:, None]
    values[:, :q] += lift
    values[:, q::3] += lift


def _outside(values: Array, q: int) -> Array:
    """How far a point lies outside the cone; negative inside."""
    out = -values[:, :q].min(axis=1)
    f = values[:, q:].reshape(len(values), -1, 3)
    if f.shape[1]:
        out = np.maximum(out, (np.hypot(f[:, :, 1], f[:, :, 2]) - f[:, :, 0]).max(axis=1))
    return np.asarray(out)


def _noted(found: Answers, state: _State, q: int, tolerance: float) -> BoolArray:
    """Write down the best answers so far; which programs are done.

    What is left of Aᵀz + c is charged to the bound, for a best x up to twice as large as this one.
    """
    at, x = state.which, state.x
    rest = np.einsum("nrd,nr->nd", state.A, state.z)
    rest[:, -1] += 1.0
    reach = 2.0 * (1.0 + np.linalg.norm(x, axis=1))
    lower = -np.sum(state.h * state.z, axis=1) - reach * np.linalg.norm(rest, axis=1)
    slack = state.h - np.einsum("nrd,nd->nr", state.A, x)
    outside = _outside(slack, q)
    value = x[:, -1] + np.maximum(outside, 0.0)
    gap = np.abs(value - lower)  # outside the cone a value may be too small to be one
    before = found.x[at, -1] + np.maximum(found.outside[at], 0.0) - found.lower[at]
    better = np.isfinite(gap) & ~(gap >= np.abs(before))
    rows = at[better]
    found.x[rows], found.z[rows] = x[better], state.z[better]
    found.lower[rows], found.outside[rows] = lower[better], outside[better]
    size = np.maximum(value, SMALLEST_VALUE)
    found.converged[rows] = ((gap <= tolerance * size) & (outside <= OUTSIDE))[better]
    done = (gap <= 0.1 * tolerance * size) & (outside <= OUTSIDE)
    return np.asarray(done | ~np.isfinite(gap))


def _step(state: _State, q: int) -> None:
    """One step of predictor and corrector for all open programs."""
    n, r, _ = state.A.shape
    scaling = _Scaling.at(state.s, state.z, q)
    lam = scaling.times(state.z)
    scaled = scaling.inverse_rows(state.A)
    rx = -np.einsum("nrd,nr->nd", state.A, state.z)
    rx[:, -1] -= 1.0
    rz = state.h - state.s - np.einsum("nrd,nd->nr", state.A, state.x)
    rz = scaling.inverse(rz)
    inverse = np.linalg.inv(_ridged(np.swapaxes(scaled, 1, 2) @ scaled))

    def direction(share: Array, quotient: Array) -> tuple[Array, Array, Array]:
        """Steps of x, and of z and s in the scaled frame."""
        want = share * rz - quotient
        dx, dz = np.zeros_like(rx), -want
        for _ in range(ROUNDS):
            left = share * rx - np.einsum("nrd,nr->nd", scaled, dz)
            dx += np.einsum("nde,ne->nd", inverse, left)
            dz = np.einsum("nrd,nd->nr", scaled, dx) - want
        return dx, dz, quotient - dz

    one = np.ones((n, 1))
    _, dz, ds = direction(one, -lam)
    alpha = np.minimum(_reach(lam, ds, q), _reach(lam, dz, q)).clip(0.0, 1.0)
    sigma = ((1.0 - alpha) ** 3)[:, None]
    cones = q + (r - q) // 3
    mu = np.sum(lam * lam, axis=1, keepdims=True) / cones
    middle = np.zeros((n, r))
    middle[:, :q] = middle[:, q::3] = 1.0
    target = sigma * mu * middle - _product(ds, dz, q)
    quotient = _quotient(lam, target, q) - lam
    dx, dz, ds = direction(1.0 - sigma, quotient)
    far = np.minimum(_reach(lam, ds, q), _reach(lam, dz, q))
    alpha = np.minimum(1.0, NEARLY_ALL * far)[:, None]
    state.x = state.x + alpha * dx
    state.s = state.s + alpha * scaling.times(ds)
    state.z = state.z + alpha * scaling.inverse(dz)


def _ridged(gram: Array) -> Array:
    """The matrix with a diagonal a little larger, so that it has an inverse."""
    diagonal = np.arange(gram.shape[1])
    out = gram.copy()
    out[:, diagonal, diagonal] *= 1.0 + RIDGE
    out[:, diagonal, diagonal] += 1e-300
    return out


@dataclass(frozen=True, slots=True)
class _Scaling:
    """W with W z = W⁻¹ s: a diagonal, and β (2 v vᵀ − J) for each cone."""

    q: int
    linear: Array
    beta: Array  # (n, k, 1)
    v: Array  # (n, k, 3)

    @classmethod
    def at(cls, s: Array, z: Array, q: int) -> _Scaling:
        """The scaling that makes slacks and multipliers of each problem one point."""
        n = len(s)
        linear = np.sqrt(s[:, :q] / z[:, :q])
        sc, zc = s[:, q:].reshape(n, -1, 3), z[:, q:].reshape(n, -1, 3)
        s_size, z_size = _size(sc), _size(zc)
        s_bar, z_bar = sc / s_size, zc / z_size
        gamma = np.sqrt((1.0 + np.sum(s_bar * z_bar, axis=2, keepdims=True)) / 2.0)
        w = (s_bar + z_bar * _J) / (2.0 * gamma)
        w[:, :, 0] += 1.0
        v = w / np.sqrt(2.0 * w[:, :, :1])
        return cls(q, linear, np.sqrt(s_size / z_size), v)

    def times(self, values: Array) -> Array:
        """W times vectors."""
        out = np.empty_like(values)
        out[:, : self.q] = self.linear * values[:, : self.q]
        cones = values[:, self.q :].reshape(len(values), -1, 3)
        along = np.sum(self.v * cones, axis=2, keepdims=True)
        turned = self.beta * (2.0 * along * self.v - cones * _J)
        out[:, self.q :] = turned.reshape(len(values), -1)
        return out

    def inverse(self, values: Array) -> Array:
        """W⁻¹ times vectors."""
        return self.inverse_rows(values[:, :, None])[:, :, 0]

    def inverse_rows(self, A: Array) -> Array:
        """W⁻¹ times matrices."""
        n, _, d = A.shape
        out = np.empty_like(A)
        out[:, : self.q] = A[:, : self.q] / self.linear[:, :, None]
        cones = A[:, self.q :].reshape(n, -1, 3, d)
        v = self.v * _J
        inverse = 2.0 * v[:, :, :, None] * v[:, :, None, :]
        inverse[:, :, (0, 1, 2), (0, 1, 2)] -= _J
        inverse /= self.beta[:, :, :, None]
        out[:, self.q :] = (inverse @ cones).reshape(n, -1, d)
        return out


_J = np.array([1.0, -1.0, -1.0])


def _size(cones: Array) -> Array:
    """√(s_0² − s_1² − s_2²), without losing digits near the boundary."""
    side = np.hypot(cones[:, :, 1], cones[:, :, 2])
    square = (cones[:, :, 0] - side) * (cones[:, :, 0] + side)
    return np.asarray(np.sqrt(np.maximum(square, 1e-300))[:, :, None])


def _product(a: Array, b: Array, q: int) -> Array:
    """The product a ∘ b: elementwise, and (aᵀb, a_0 b_1 + b_0 a_1) for each cone."""
    out = a * b
    n = len(a)
    ac, bc = a[:, q:].reshape(n, -1, 3), b[:, q:].reshape(n, -1, 3)
    cones = ac[:, :, :1] * bc + bc[:, :, :1] * ac
    cones[:, :, 0] = np.sum(ac * bc, axis=2)
    out[:, q:] = cones.reshape(n, -1)
    return np.asarray(out)


def _quotient(lam: Array, b: Array, q: int) -> Array:
    """The y with lam ∘ y = b."""
    out = np.empty_like(b)
    n = len(b)
    out[:, :q] = b[:, :q] / lam[:, :q]
    lc, bc = lam[:, q:].reshape(n, -1, 3), b[:, q:].reshape(n, -1, 3)
    square = _size(lc)[:, :, 0] ** 2
    first = (2.0 * lc[:, :, 0] * bc[:, :, 0] - np.sum(lc * bc, axis=2)) / square
    cones = (bc - first[:, :, None] * lc) / lc[:, :, :1]
    cones[:, :, 0] = first
    out[:, q:] = cones.reshape(n, -1)
    return out


def _reach(lam: Array, step: Array, q: int) -> Array:
    """How many such steps lead from lam to the boundary of the cone."""
    worst = np.max(-step[:, :q] / lam[:, :q], axis=1)
    n = len(lam)
    lc, dc = lam[:, q:].reshape(n, -1, 3), step[:, q:].reshape(n, -1, 3)
    if lc.shape[1]:
        size = _size(lc)
        bar = lc / size
        head = np.sum(bar * dc * _J, axis=2, keepdims=True)
        tail = dc[:, :, 1:] - (head + dc[:, :, :1]) / (bar[:, :, :1] + 1.0) * bar[:, :, 1:]
        turned = np.hypot(tail[:, :, 0], tail[:, :, 1]) - head[:, :, 0]
        worst = np.maximum(worst, (turned / size[:, :, 0]).max(axis=1))
    return np.asarray(1.0 / np.maximum(worst, 1e-12))
