"""Cholesky's factors of small dense matrices, in place, and what is solved with them.

Loops run along rows, so that the compiler makes vector instructions of them without being allowed
to reorder sums: results are the same on every machine that rounds alike.
"""

import math

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def factorise(A, n):
    """A = L Lᵀ of the first n rows; reads the lower half, leaves L there and Lᵀ above.

    Returns whether all pivots were positive.
    """
    for i in range(n):
        for j in range(i):
            A[j, i] = A[i, j]
    for k in range(n):  # U = Lᵀ row by row
        pivot = A[k, k]
        if not pivot > 0.0:
            return False
        pivot = math.sqrt(pivot)
        A[k, k] = pivot
        for j in range(k + 1, n):
            A[k, j] /= pivot
        for i in range(k + 1, n):
            u = A[k, i]
            for j in range(i, n):
                A[i, j] -= u * A[k, j]
    for i in range(n):
        for j in range(i):
            A[i, j] = A[j, i]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def solve_in_place(A, n, x):
    """Turn x into (L Lᵀ)⁻¹ x, with both halves as `factorise` leaves them."""
    for i in range(n):  # by rows of U: after x_i is known it is taken from all below
        x[i] /= A[i, i]
        for j in range(i + 1, n):
            x[j] -= A[i, j] * x[i]
    for i in range(n - 1, -1, -1):
        x[i] /= A[i, i]
        for j in range(i):
            x[j] -= A[i, j] * x[i]


@njit(cache=True, nogil=True, error_model="numpy")
def solve_columns(A, n, X, columns):
    """The same for the first columns of X (n rows), all at once."""
    for i in range(n):
        for c in range(columns):
            X[i, c] /= A[i, i]
        for j in range(i + 1, n):
            u = A[i, j]
            if u != 0.0:  # limbs do not know each other: a third of an inertia is zero
                for c in range(columns):
                    X[j, c] -= u * X[i, c]
    for i in range(n - 1, -1, -1):
        for c in range(columns):
            X[i, c] /= A[i, i]
        for j in range(i):
            u = A[i, j]
            if u != 0.0:
                for c in range(columns):
                    X[j, c] -= u * X[i, c]
