"""The best of the clips that were tried, what is proven of it, and why it is not better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.adapters.adaptation import Adaptation, Status, worst_n
from surefoot.adapters.timing import Timing
from surefoot.adapters.warp_report import speed_notices
from surefoot.index.index import Feasibility
from surefoot.index.speed import spans
from surefoot.motion.motion import Clip

SAME = 1e-7  # over the weight: worst values closer than this are equal

Hope = tuple[float, float, float]  # start and end of a stretch, s, and its bound over the weight


@dataclass(frozen=True, eq=False)
class Tried:
    """One way to re-time a clip, judged as written."""

    name: str
    clip: Clip
    after: Feasibility
    timing: Timing | None


def best_of(
    still: Tried,
    tried: list[Tried],
    hopes: list[Hope],
    details: dict[str, object],
) -> Adaptation:
    """The clip with the smallest worst d of all that were tried, the given one among them.

    The curve through frames at new times is no warp of the program, so a clip as written may come
    to lie under its bound: then it is lowered to what was reached.
    """
    before = still.after
    least = SAME * before.weight_n
    details["tried"] = [
        {"method": one.name, "worst_over_weight": _finite(worst_n(one.after) / before.weight_n)}
        for one in tried
    ]
    best = still
    for one in tried:
        gain = worst_n(best.after) - worst_n(one.after)
        more = one.after.feasible.mean() - best.after.feasible.mean()
        rest = worst_n(before) - worst_n(one.after)
        if gain > least or (min(gain + least, rest + before.tolerance_n) >= 0.0 and more > 0.0):
            best = one
    bound = max((hope[2] for hope in hopes), default=-np.inf) * before.weight_n
    bound = min(bound, worst_n(best.after))
    status: Status = "unchanged"
    if best.after.all_feasible:
        status = "mended"
    elif best is not still:
        status = "better"
    elif bound > before.tolerance_n:
        status = "refused"
    why_not = None if best.after.all_feasible else _why_not(before, best.after, hopes)
    return Adaptation(
        method="warp-optimal",
        chosen=best.name,
        status=status,
        clip=best.clip,
        before=before,
        after=best.after,
        timing=best.timing,
        lower_bound_n=bound if np.isfinite(bound) else None,
        why_not=why_not,
        details=details,
        notices=speed_notices(before, best.after),
    )


def _why_not(before: Feasibility, after: Feasibility, hopes: list[Hope]) -> str:
    """Which stretches no warp mends, and by how much; poses that would fall if they were held."""
    share = before.tolerance_n / before.weight_n
    hopeless = [hope for hope in hopes if hope[2] > share]
    said = []
    for start, end, bound in hopeless:
        inside = (before.time >= start) & (before.time <= end)
        held = spans(before.time, inside & before.speeds.falls_when_still)
        where = ", ".join(f"{first:.2f} to {last:.2f} s" for first, last in held)
        poses = f"; its poses from {where} cannot be held still" if held else ""
        said.append(
            f"no warp of {start:.2f} to {end:.2f} s has a worst d below"
            f" {100.0 * bound:.2f} % of the weight{poses}"
        )
    worst = after.worst
    if said:
        under = max(hope[2] for hope in hopeless) - worst_n(after) / before.weight_n
        if under > 0.0:
            said.append(
                f"the clip as written lies {100.0 * under:.3f} % under that, since the curve"
                " through frames at new times is not quite the old one"
            )
        return ". ".join(sentence[0].upper() + sentence[1:] for sentence in said) + "."
    return (
        f"The bound leaves room, but the clip as written misses"
        f" {100.0 * float(after.upper[worst]) / before.weight_n:.2f} % of the weight at"
        f" {after.time[worst]:.2f} s."
    )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
