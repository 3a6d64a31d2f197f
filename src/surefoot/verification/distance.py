"""The index of every sample against other means: nearest wrench, support, and search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.verification.cone import Cone, cone, pool
from surefoot.verification.dump import FLAG_CONVERGED, FLAG_EVERYTHING, FLAG_LOOSE, Dump
from surefoot.verification.result import Ledger
from surefoot.verification.search import smallest_margin, tipping

Floats = NDArray[np.float64]

TOLERANCE = 1e-6  # of the larger of weight and |w|
IDENTITY = 1e-9  # the same, for numbers that are equal by definition
SUPPORT = 1e-9  # dual · g over |g|
WIDEST = 1e-3  # gap of a converged sample when the file names no tolerance; of weight or |w|
REACHED = 0.5e-9  # gap over d_upper below which every tolerance is reached
SEARCH_NOTE = (
    "inside, a smaller margin was searched for and none may be found where there is one:"
    " agreement there is no proof"
)


@dataclass(frozen=True)
class Sample:
    """One sample of a dump, in the scaled space of wrenches."""

    index: int
    target: Floats
    """(6,) force and moment / length, newton."""
    scale: float
    """The larger of weight and |w|, newton."""
    arm: Floats
    """(k, 3) from the reference to the vertices, m."""
    cone: Cone


def sample(dump: Dump, index: int, weight: float, rows: NDArray[np.intp]) -> Sample:
    """A sample with the cone of those rows of the vertices."""
    length = dump.length_scale
    target = np.concatenate((dump.wrench[index, :3], dump.wrench[index, 3:] / length))
    arm = dump.vertex_pos[rows] - dump.reference[index]
    made = cone(
        arm,
        dump.vertex_normal[rows],
        dump.vertex_friction[rows],
        length=length,
        sides=dump.cone_sides,
    )
    return Sample(index, target, max(weight, float(np.linalg.norm(target))), arm, made)


def check_everything(dump: Dump, here: Sample, ledger: Ledger) -> None:
    """Contacts that can give every wrench: seven directions that span all, each given exactly."""
    i = here.index
    for name in ("d", "d_lower", "d_upper"):
        value = float(getattr(dump, name)[i])
        if value != -np.inf:
            ledger.equal("flag", name, i, value, -np.inf, 0.0)
    ledger.equal("flag", "dual", i, float(np.abs(dump.dual[i]).max()), 0.0, 0.0)
    rays = pool(here.cone)
    for direction in (*np.eye(6), -np.ones(6)):
        rest = float(np.linalg.norm(rays.residual(direction)[0]))
        if not ledger.at_most("flag", "flag", i, rest, 0.0, TOLERANCE):
            return


def check_bounds(dump: Dump, here: Sample, ledger: Ledger) -> None:
    """Compare d = d_lower = dual · w ≤ d_upper, the gap of converged samples, and the unit dual."""
    i, exact = here.index, IDENTITY * here.scale
    d, lower, upper = (float(x[i]) for x in (dump.d, dump.d_lower, dump.d_upper))
    ledger.equal("dual is a unit", "dual", i, float(np.linalg.norm(dump.dual[i])), 1.0, IDENTITY)
    ledger.equal("d = dual · w", "d", i, d, float(dump.dual[i] @ here.target), exact)
    ledger.equal("d_lower = d", "d_lower", i, lower, d, exact)
    ledger.at_most("d_lower ≤ d_upper", "d_lower", i, lower, upper, exact)
    gap, size = upper - lower, max(abs(lower), abs(upper))
    if dump.flag[i] == FLAG_CONVERGED:
        if dump.tolerance is None:
            limit = WIDEST * here.scale
        else:
            limit = dump.tolerance * size + TOLERANCE * here.scale
        ledger.at_most("gap", "d_upper", i, upper, lower, limit)
    elif dump.flag[i] == FLAG_LOOSE:
        ledger.at_least("flag", "flag", i, gap, np.nextafter(REACHED * abs(upper), 1.0), 0.0)


def check_support(dump: Dump, here: Sample, ledger: Ledger) -> None:
    """No ray of the contacts has power on the dual direction."""
    values, _ = here.cone.missed(dump.dual[here.index])
    worst = float(values.max(initial=0.0))
    ledger.at_most("support", "dual", here.index, worst, 0.0, SUPPORT)


def check_distance(dump: Dump, here: Sample, ledger: Ledger) -> tuple[bool, bool]:
    """Outside by the nearest wrench, inside by search; whether it is outside, and was searched."""
    i, allowed = here.index, TOLERANCE * here.scale
    lower, upper = float(dump.d_lower[i]), float(dump.d_upper[i])
    rays = pool(here.cone)
    rest, slack = rays.residual(here.target)
    distance = float(np.linalg.norm(rest))
    low, high = distance - min(slack, distance), distance
    ledger.at_most("nearest wrench", "d_lower", i, lower, high, allowed)
    if low > allowed:
        ledger.at_least("nearest wrench", "d_upper", i, upper, low, allowed)
        return True, False
    if upper >= 0.0:
        return False, False
    edges = tipping(here.cone, here.arm, dump.length_scale)
    margin = smallest_margin(rays, here.target, -dump.dual[i], edges)
    ledger.at_least("nearer boundary", "d_upper", i, upper, -margin, allowed)
    ledger.say(SEARCH_NOTE)
    return False, True


def check_sample(dump: Dump, here: Sample, ledger: Ledger) -> tuple[bool, bool]:
    """All checks of one sample's index; whether it is outside, and whether it was searched."""
    if dump.flag[here.index] == FLAG_EVERYTHING:
        check_everything(dump, here, ledger)
        return False, False
    check_bounds(dump, here, ledger)
    check_support(dump, here, ledger)
    return check_distance(dump, here, ledger)
