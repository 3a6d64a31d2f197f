"""What a warp did, in words and as JSON."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.adapters.region import Region
from surefoot.adapters.timing import Timing
from surefoot.adapters.warp_search import Found
from surefoot.adapters.warp_segments import PER_FRAME, REACH, Stretch, events
from surefoot.arrays import Array, BoolArray, Float64, Int64, IntArray
from surefoot.errors import Notice
from surefoot.index.index import Feasibility
from surefoot.index.speed import spans

DRAWN = 256  # samples of a region for a picture
HARDLY = 0.02  # of the d before: shapes that differ by less are as good, gains of less are none
APART_S = 0.05  # runs that lie nearer are named as one
FASTER = 1e-9  # of a speed limit: rounding


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """What was tried on one stretch, and the best of it."""

    round: int
    stretch: Stretch
    start: float
    """Of the padded segment, s, in the times of that round."""
    end: float
    pad_s: float
    reach_s: float
    """Δt."""
    frames: Int64[IntArray, " k"]
    """Key frames within."""
    found: Found | None
    """None where no key frame lies within, so nothing can move."""
    before_n: float
    """The worst d of the segment before, N."""

    @property
    def q_n(self) -> float:
        """The worst d that the best warp is to have, N."""
        return self.before_n if self.found is None else self.found.q_n


def details(
    before: Feasibility,
    done: list[Done],
    regions: list[Region],
    timing: Timing | None,
    *,
    rounds: int,
    keys: int,
    seed: int,
) -> dict[str, object]:
    """What the method says of its own work, as JSON."""
    used = {one.found.region.basis.name for one in done if one.found is not None}
    right = [right for one in done if (right := _rule_was_right(one)) is not None]
    return {
        "rounds": rounds,
        "frames": before.clip.motion.n,
        "key_frames": keys,
        "seed": seed,
        "segments": [_segment(before, one, timing) for one in done],
        "rule_right": None if not right else [sum(right), len(right)],
        "regions": [_region(one, seed) for one in regions if one.basis.name in used],
    }


def why_not(
    before: Feasibility,
    after: Feasibility,
    timing: Timing | None,
    hopeless: Float64[Array, " n"],
    fastest: float,
) -> str | None:
    """Why a clip is not feasible everywhere; None where it is.

    Args:
        hopeless: lower bounds of d under any timing at the samples of `before`, N; −inf where a
            timing may help.
        fastest: the speed ratio up to which they hold.
    """
    if after.all_feasible:
        return None
    never, parts = np.isfinite(hopeless), []
    if never.any():
        worst = 100.0 * float(hopeless.max()) / before.weight_n
        still = int((never & before.speeds.falls_when_still).sum())
        fall = (
            "all of these poses"
            if still == never.sum()
            else f"{still} of these {never.sum()} poses"
        )
        parts.append(
            f"At {_frames(before, never)} no timing can help: whatever the speed, up to"
            f" {fastest:.3g} times its own, and whatever its change there, d stays {worst:.2f} % of"
            f" the weight or more at the worst; held still, {fall} fall as well."
        )
    rest = ~after.feasible & ~_moved(before, after, timing, never)
    if rest.any():
        worst = 100.0 * float(after.upper[rest].max()) / after.weight_n
        parts.append(
            f"At {_frames(after, rest)} the best warp that was found leaves d up to"
            f" {worst:+.2f} % of the weight; that no other does better is not proven."
        )
    return " ".join(parts)


def _moved(
    before: Feasibility, after: Feasibility, timing: Timing | None, flags: BoolArray
) -> BoolArray:
    """Flags of samples before, at the samples after: on either side of each, one is enough."""
    new = before.time if timing is None else timing(before.time)
    right = np.clip(np.searchsorted(new, after.time), 1, len(new) - 1)
    return np.asarray(flags[right] | flags[right - 1])


def notices(
    before: Feasibility, after: Feasibility, done: list[Done], keys: int
) -> tuple[Notice, ...]:
    """What the reader should know: speed limits broken, floors that bind, frames that follow."""
    said = list(speed_notices(before, after))
    for one in done:
        if one.found is not None and one.found.shape is not None and one.found.floor_binds:
            floor = one.found.region.floor
            sentence = (
                f"the warp from {one.start:.2f} to {one.end:.2f} s is held by the floor: f' comes"
                f" down to {one.found.least_slope:.3f}, and {floor:g} is allowed"
            )
            said.append(Notice("limit", "floor", sentence, one.start, one.end, floor))
    frames = before.clip.motion.n
    if keys < frames:
        sentence = f"{keys} of {frames} frames are key frames; those between follow them"
        said.append(Notice("assumption", "key frames", sentence, value=float(keys)))
    unproven = {
        one.found.region.basis.name
        for one in done
        if one.found is not None and not one.found.region.basis.proven
    }
    for name in sorted(unproven):
        sentence = (
            f"that basis '{name}' runs forward is known only at samples: nothing bounds the second"
            " derivatives of its functions"
        )
        said.append(Notice("assumption", "basis", sentence))
    return tuple(said)


def speed_notices(before: Feasibility, after: Feasibility) -> tuple[Notice, ...]:
    """Whether a joint is beyond its speed limit now, and what it was before."""
    old, new = (_fastest(one) for one in (before, after))
    if new is None or new[1] <= 1.0 + FASTER:
        return ()
    was = "" if old is None else f"; before, the largest was {old[1]:.2f} ({old[0]})"
    sentence = (
        f"{new[0]} moves at {new[1]:.2f} of its speed limit at {new[2]:.3f} s of the warped clip"
        f"{was}"
    )
    return (Notice("limit", new[0], sentence, t0=new[2], t1=new[2], value=new[1]),)


def _segment(before: Feasibility, one: Done, timing: Timing | None) -> dict[str, object]:
    """One segment as JSON."""
    weight = before.weight_n
    reach = (
        f"a shift is felt beyond its frame, {PER_FRAME:g} of it with each frame: less than"
        f" {REACH:g} from here on"
        if before.options.interpolation == "spline"
        else "the six-frame curve ends there"
    )
    out: dict[str, object] = {
        "round": one.round,
        "infeasible_s": [one.stretch.first, one.stretch.last],
        "start_s": one.start,
        "end_s": one.end,
        "pad_s": one.pad_s,
        "by_hand": one.stretch.by_hand,
        "delta_t_s": one.reach_s,
        "delta_t_reason": reach,
        "key_frames": len(one.frames),
        "q_before_over_weight": _finite(one.before_n / weight),
        "q_over_weight": _finite(one.q_n / weight),
        "warped": one.found is not None and one.found.shape is not None,
    }
    if one.found is None:
        return {**out, "why_not": "no key frame lies within, so nothing can move"}
    found = one.found
    other = found.other_q_n
    return {
        **out,
        "basis": found.region.basis.name,
        "coefficients": [float(c) for c in found.coefficients],
        "rule": found.rule,
        "shape": found.shape,
        "rule_right": _rule_was_right(one),
        "q_other_shape_over_weight": None if other is None else _finite(other / weight),
        "least_slope": found.least_slope,
        "floor": found.region.floor,
        "floor_binds": found.floor_binds,
        "increase": "proven" if found.region.basis.proven else "only at samples",
        "candidates": found.candidates,
        "exact_evaluations": found.asked,
        "events": (
            events(before.clip.contacts, timing, one.start, one.end)
            if timing is not None and one.round == 1
            else []
        ),
    }


def _rule_was_right(one: Done) -> bool | None:
    """Whether the rule's shape was as good; None where nobody looked or neither helped."""
    found = one.found
    if found is None or found.rule is None or found.other_q_n is None or found.own_q_n is None:
        return None
    if found.before_n - min(found.own_q_n, found.other_q_n) < HARDLY * found.before_n:
        return None
    return found.own_q_n - found.other_q_n <= HARDLY * found.before_n


def _region(region: Region, seed: int) -> dict[str, object]:
    """Samples of a feasible region, to be drawn."""
    lam = region.drawn(DRAWN, seed)
    return {
        "basis": region.basis.name,
        "floor": region.floor,
        "free": region.free,
        "samples": region.coefficients(lam).round(6).tolist(),
    }


def _frames(found: Feasibility, flags: BoolArray) -> str:
    """Frames and moments of flagged samples, in words: the longest three runs, then a count."""
    runs = spans(found.time, flags)
    near = [i for i, run in enumerate(runs) if i == 0 or run[0] - runs[i - 1][1] > APART_S]
    ends = [*(i - 1 for i in near[1:]), len(runs) - 1]
    runs = [[runs[i][0], runs[j][1]] for i, j in zip(near, ends, strict=True)]
    shown = sorted(sorted(runs, key=lambda run: run[0] - run[1])[:3])
    frames = found.clip.motion.time
    words = []
    for start, end in shown:
        first = int(np.clip(np.searchsorted(frames, start, side="right") - 1, 0, len(frames) - 1))
        last = int(np.clip(np.searchsorted(frames, end), 0, len(frames) - 1))
        words.append(f"frames {first} to {last} ({start:.3f} to {end:.3f} s)")
    more = f" and {len(runs) - len(shown)} more places" if len(runs) > len(shown) else ""
    return ", ".join(words) + more


def _fastest(found: Feasibility) -> tuple[str, float, float] | None:
    """The joint that comes nearest to its speed limit: name, share of it, moment."""
    ratio = found.joints.speed_ratio
    if ratio.size == 0 or not np.isfinite(ratio).any():
        return None
    i, j = (int(x) for x in np.unravel_index(np.argmax(ratio), ratio.shape))
    return found.joints.joint_names[j], float(ratio[i, j]), float(found.time[i])


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
