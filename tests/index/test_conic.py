"""Second-order cone programs, many at once, against known answers and another solver."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from scipy import sparse

from surefoot.index.conic import solve

TOLERANCE = 1e-6


def random_programs(n: int, p: int, m: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """min t with |u − B y| ≤ t, t ≥ 0.05 and f + N y inside k cones; y = 0 is feasible."""
    rng = np.random.default_rng(seed)
    q = 2 * m + 1
    A, h = np.zeros((n, q + 3 * k, p + 1)), np.zeros((n, q + 3 * k))
    A[:, :m, :p] = rng.normal(size=(n, m, p))
    A[:, m : 2 * m] = -A[:, :m]
    A[:, :q, p] = -1.0
    A[:, q:, :p] = -np.linalg.qr(rng.normal(size=(n, 3 * k, p)))[0]
    h[:, :m] = rng.normal(size=(n, m))
    h[:, m : 2 * m] = -h[:, :m]
    h[:, 2 * m] = -0.05
    h[:, q::3] = rng.uniform(0.1, 0.3, (n, k))
    h[:, q + 1 :: 3] = h[:, q::3] * rng.uniform(-0.9, 0.9, (n, k))
    return A, h


def test_the_lowest_point_of_a_disc_is_found() -> None:
    """min y with |(x, y)| ≤ 1, once as a cone with head 1: y = −1; and x ≥ −5 to spare."""
    A = np.array([[[-1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]])
    h = np.array([[5.0, 1.0, 0.0, 0.0]])
    found = solve(A, h, 1, TOLERANCE)
    assert found.x[0, 1] == pytest.approx(-1.0, abs=1e-6)
    assert found.lower[0] == pytest.approx(-1.0, abs=1e-4)


@pytest.mark.parametrize(("p", "m", "k"), [(18, 12, 8), (6, 6, 4), (1, 6, 2), (42, 14, 16)])
def test_random_programs_agree_with_another_solver(p: int, m: int, k: int) -> None:
    """Seed 7, 20 programs of each size."""
    A, h = random_programs(20, p, m, k, seed=7)
    q = 2 * m + 1
    found = solve(A, h, q, TOLERANCE)
    assert found.converged.all()
    options = clarabel.DefaultSettings()
    options.verbose = False
    kinds = [clarabel.NonnegativeConeT(q), *[clarabel.SecondOrderConeT(3)] * k]
    for i in range(20):
        cost = np.eye(p + 1)[p]
        rows, none = sparse.csc_matrix(A[i]), sparse.csc_matrix((p + 1, p + 1))
        value = clarabel.DefaultSolver(none, cost, rows, h[i], kinds, options).solve().obj_val
        assert found.x[i, p] == pytest.approx(value, rel=TOLERANCE, abs=1e-7)
        assert found.lower[i] <= value + 1e-7


def test_the_multipliers_prove_the_value() -> None:
    """Seed 8: they lie in the cone, Aᵀz = −c, and −hᵀz is the value."""
    A, h = random_programs(10, 6, 6, 4, seed=8)
    found = solve(A, h, 13, TOLERANCE)
    z = found.z[:, 13:].reshape(10, 4, 3)
    assert (found.z[:, :13] > 0.0).all()
    assert (z[:, :, 0] > np.hypot(z[:, :, 1], z[:, :, 2])).all()
    rest = np.einsum("nrd,nr->nd", A, found.z) + np.eye(7)[6]
    assert np.abs(rest).max() < 1e-7
    assert np.abs(-np.sum(h * found.z, axis=1) - found.x[:, 6]).max() < 1e-6


def test_a_program_that_nothing_satisfies_is_not_called_converged() -> None:
    """A head of −1 lies in no cone; its neighbour is solved all the same."""
    A, h = random_programs(2, 6, 6, 4, seed=9)
    A[0, 13:16], h[0, 13] = 0.0, -1.0
    found = solve(A, h, 13, TOLERANCE)
    assert found.converged.tolist() == [False, True]
