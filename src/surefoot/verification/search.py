"""How near is the boundary: a search over directions for a wrench that the contacts can give.

The margin is the smallest n · w over unit n with n · g ≥ 0 for all rays g. The least of a linear
function on a piece of a sphere has many local minima, so the search starts from many directions
and what it finds is a bound: the margin is at most that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.verification.cone import VIOLATION, Cone, Pool

Floats = NDArray[np.float64]

MAX_STEPS = 60
RANDOM_STARTS = 8
ROUGH = 1e-3  # accuracy of the first step, which only finds where to start
MIDDLING = 1e-5  # accuracy on the way; only the best one goes on to the end
SAME = 1e-8  # 1 − cosine: two directions that are one
CLOSE_ENOUGH = 1e-9  # of |w|
CLOSE_ROOM = 1e-2  # room taken for cones in which none is proven
TURNS = 1e-9  # m: vertices nearer than this have no line through them
_SEED = 20240713

_AXES = np.concatenate((np.eye(6), -np.eye(6)))[[0, 1, 5, 6, 7, 11]]  # sliding, turning about z


def tipping(cone: Cone, arm: Floats, length: float) -> Floats:
    """Unit directions (q, 6) of tipping over lines through two vertices, both ways.

    Such a motion rests at two vertices; it counts where every other vertex lifts at least μ times
    as fast as it slides. These are exact facets, whatever the friction.
    """
    first, second = np.triu_indices(arm.shape[0], 1)
    line = arm[second] - arm[first]
    distance = np.linalg.norm(line, axis=1)
    apart = distance > TURNS
    axis = line[apart] / distance[apart, None]
    origin = arm[first[apart]]
    turn = np.concatenate((np.cross(origin, axis), axis * length), axis=1)
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    both = np.concatenate((turn, -turn))
    if cone.sides:
        lift = (both @ cone.fixed).min(axis=1, initial=np.inf)
    else:
        speed = both @ cone.columns.transpose(0, 2, 1)  # (3, q, k)
        slide = np.hypot(speed[1], speed[2])
        lift = (speed[0] - cone.friction * slide).min(axis=1, initial=np.inf)
    return np.asarray(both[lift >= -CLOSE_ENOUGH], dtype=np.float64)


def smallest_margin(pool: Pool, target: Floats, known: Floats, edges: Floats) -> float:
    """The smallest n · w found, n in the dual cone: at least the true margin, newton.

    Args:
        pool: rays of the contacts.
        target: (6,) the wrench w.
        known: (6,) the direction n that the dump gives.
        edges: (q, 6) tipping directions.
    """
    size = float(np.linalg.norm(target))
    found: list[tuple[float, Floats]] = [(float(n @ target), n) for n in edges]
    found.sort(key=lambda pair: pair[0])
    starts = [known, *(n for _, n in found[:2])]
    for direction in _directions():
        shot = _step(pool, target, direction, size, ROUGH)
        if shot is not None:
            starts.append(shot)
    starts.sort(key=lambda n: float(n @ target))
    ends: list[Floats] = [n for _, n in found[:1]]
    for start in starts:
        ends.append(_descend(pool, target, start, MIDDLING, ends))
    ends.sort(key=lambda n: float(n @ target))
    ends.append(_descend(pool, target, ends[0], VIOLATION, []))
    return min(_proven(pool.cone, n, target) for n in ends)


def _directions() -> Floats:
    """Directions to set out in: sliding both ways along x and y, turning about z, and by chance."""
    chance = np.random.default_rng(_SEED).standard_normal((RANDOM_STARTS, 6))
    chance /= np.linalg.norm(chance, axis=1, keepdims=True)
    return np.concatenate((_AXES, chance))


def _step(
    pool: Pool, target: Floats, direction: Floats, distance: float, accuracy: float = VIOLATION
) -> Floats | None:
    """Go from the target against a direction; out of the cone, the normal at the nearest point.

    The normal is the n of the dual cone with the largest (distance · direction − target) · n. None
    when the point reached can still be given.
    """
    rest, _ = pool.residual(target - distance * direction, accuracy)
    length = float(np.linalg.norm(rest))
    if length <= CLOSE_ENOUGH * float(np.linalg.norm(target)):
        return None
    return _pushed(pool.cone, -rest / length)


def _descend(
    pool: Pool, target: Floats, start: Floats, accuracy: float, ends: list[Floats]
) -> Floats:
    """Follow smaller and smaller n · w to a local minimum, or to one of those found before.

    From w the point w − (n · w) n is reached: when the contacts can give it, the boundary is
    there and n stays; else its normal n' has n' · w < n · w, by as much as the point is outside.
    """
    least = max(accuracy, CLOSE_ENOUGH) * float(np.linalg.norm(target))
    here = start
    for _ in range(MAX_STEPS):
        if any(1.0 - float(here @ end) < SAME for end in ends):
            break
        margin = float(here @ target)
        there = _step(pool, target, here, margin, accuracy)
        if there is None or float(there @ target) > margin - least:
            break
        here = there
    return here


def _pushed(cone: Cone, direction: Floats) -> Floats:
    """A unit direction pushed into the dual cone, where limited accuracy left it just outside."""
    missing = max(float(cone.missed(-direction)[0].max(initial=0.0)), 0.0)
    if missing == 0.0 or cone.room <= 0.0:  # a cone with a line in it: no push helps
        return direction
    pushed = direction + missing / cone.room * cone.middle
    return np.asarray(pushed / np.linalg.norm(pushed), dtype=np.float64)


def _proven(cone: Cone, direction: Floats, target: Floats) -> float:
    """The n · w of a direction in the dual cone; where it is not quite in it, a little more."""
    inside = _pushed(cone, direction)
    missing = max(float(cone.missed(-inside)[0].max(initial=0.0)), 0.0)
    return float(inside @ target) + missing * float(np.linalg.norm(target)) / CLOSE_ROOM
