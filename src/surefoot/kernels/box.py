"""The best step inside a box: min ½ dᵀ (H + δ I) d + gᵀ d, low ≤ d ≤ high, by an active set."""

import math

from numba import njit

PASSES = 60  # of the active set; 1 to 3 are usual
CHANCES = 3  # passes without fewer faults, after which one fault is mended at a time
ROUNDING = 1e-12  # rad or m; a step nearer than this to its bound would be held and freed forever

NOT_POSITIVE, UNSETTLED, SETTLED = 0, 1, 2


@njit(cache=True, nogil=True, error_model="numpy")
def factorise(matrix):
    """A = LᵀL in place of the lower triangle of A, last row first; False where A is not positive.

    From the leaves of a tree to its root nothing fills in that no task couples; zeros are skipped.
    """
    for j in range(matrix.shape[0] - 1, -1, -1):
        line = matrix[j]
        if not line[j] > 0.0:
            return False
        share = 1.0 / math.sqrt(line[j])
        for k in range(j + 1):
            line[k] *= share
        for i in range(j):
            factor = line[i]
            if factor != 0.0:
                target = matrix[i]
                for k in range(i + 1):
                    target[k] -= factor * line[k]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def back_substitute(factor, x):
    """Solve LᵀL x = b in place of b."""
    size = x.shape[0]
    for j in range(size - 1, -1, -1):
        x[j] /= factor[j, j]
        value = x[j]
        for k in range(j):
            x[k] -= factor[j, k] * value
    for j in range(size):
        value = x[j]
        for k in range(j):
            value -= factor[j, k] * x[k]
        x[j] = value / factor[j, j]


@njit(cache=True, nogil=True, error_model="numpy")
def _write_system(normal, gradient, damping, low, high, held, factor, step):
    """The system of all that is not held; what is held gets a row of its own with its bound."""
    size = step.shape[0]
    for i in range(size):
        step[i] = -gradient[i]
        for k in range(i + 1):
            factor[i, k] = normal[i, k]
        factor[i, i] += damping
    for j in range(size):
        if held[j] == 0:
            continue
        bound = low[j] if held[j] < 0 else high[j]
        for k in range(j):
            step[k] -= factor[j, k] * bound
            factor[j, k] = 0.0
        for k in range(j + 1, size):
            step[k] -= factor[k, j] * bound
            factor[k, j] = 0.0
        factor[j, j] = 1.0
    for j in range(size):
        if held[j] != 0:
            step[j] = low[j] if held[j] < 0 else high[j]


@njit(cache=True, nogil=True, error_model="numpy")
def _pull(normal, gradient, damping, step, j):
    """Slope of the quadratic model at the step along coordinate j."""
    value = gradient[j] + damping * step[j]
    for k in range(j + 1):
        value += normal[j, k] * step[k]
    for k in range(j + 1, step.shape[0]):
        value += normal[k, j] * step[k]
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _wanted(normal, gradient, damping, low, high, held, step, j):
    """How coordinate j should be held: where it left the box, and no more where it is pulled in."""
    if held[j] == 0:
        if step[j] < low[j] - ROUNDING:
            return -1
        return 1 if step[j] > high[j] + ROUNDING else 0
    pull = held[j] * _pull(normal, gradient, damping, step, j)
    if low[j] < high[j] and pull > ROUNDING * (normal[j, j] + damping):
        return 0
    return held[j]


@njit(cache=True, nogil=True, error_model="numpy")
def boxed_step(normal, gradient, damping, box, held, factor, step):
    """Write the step and its factor; SETTLED where it is the best one inside the box.

    `normal`, lower triangle, is kept. `held` is the active set, first guess in and result out:
    −1 at low, 1 at high, 0 free. `box` (2, size): low and high, which may be infinite. All faults
    of the set are mended at once, and one at a time, by the last index, where that leads nowhere
    (Júdice and Pires 1994, Murty's rule).
    """
    low, high = box[0], box[1]
    fewest, chances, status = step.shape[0] + 1, CHANCES, UNSETTLED
    for _ in range(PASSES):
        _write_system(normal, gradient, damping, low, high, held, factor, step)
        if not factorise(factor):
            return NOT_POSITIVE
        back_substitute(factor, step)
        faults, last = 0, 0
        for j in range(step.shape[0]):
            if _wanted(normal, gradient, damping, low, high, held, step, j) != held[j]:
                faults, last = faults + 1, j
        if faults == 0:
            status = SETTLED
            break
        chances = CHANCES if faults < fewest else chances - 1
        fewest = min(faults, fewest)
        for j in range(last if chances <= 0 else 0, last + 1):
            held[j] = _wanted(normal, gradient, damping, low, high, held, step, j)
    for j in range(step.shape[0]):
        step[j] = min(max(step[j], low[j]), high[j])
    return status
