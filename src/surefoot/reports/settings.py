"""What stands beside the index: joints and torques, what small changes do, how it was judged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64
from surefoot.index.index import Feasibility
from surefoot.index.torque import Torques
from surefoot.reports.parts import Block
from surefoot.reports.phrases import counted, moment, newtons, percent

Row = tuple[str, ...]
ABOUT = {"base": "the robot's base", "com": "its centre of mass", "origin": "the world's origin"}
SLIDING = {
    "kinetic": "friction against their way, no more and no less",
    "static": "static friction, as if they stood",
    "frictionless": "no friction",
}


def joint_blocks(found: Feasibility) -> tuple[Block, ...]:
    """Joints beyond their limits of position and speed, and torques; nothing where there are none.

    Torques are there where they were asked for.
    """
    joints = found.joints
    rows = [
        *_beyond(found, "position", joints.position_excess, joints.position_beyond, _past),
        *_beyond(found, "speed", joints.speed_ratio, joints.speed_beyond, _times),
    ]
    blocks = []
    if rows:
        head = ("joint", "limit of", "at its worst", "at", "beyond for")
        text = "No matter what the contacts give, these joints cannot do it."
        blocks.append(Block("Joints beyond their limits", text, head=head, rows=tuple(rows)))
    if found.torques is not None:
        blocks.append(_torques(found.torques))
    return tuple(blocks)


def _beyond(
    found: Feasibility,
    what: str,
    values: Float64[Array, "n m"],
    beyond: Bool[BoolArray, "n m"],
    say: Callable[[float], str],
) -> list[Row]:
    """A row for each joint that is beyond a limit, the worst first."""
    at, worst = values.argmax(axis=0), values.max(axis=0)
    order = sorted(np.flatnonzero(beyond.any(axis=0)).tolist(), key=lambda j: -worst[j])
    return [
        (
            found.joints.joint_names[j],
            what,
            say(float(worst[j])),
            moment(found.time[at[j]]),
            f"{percent(float(beyond[:, j].mean()))} of the time",
        )
        for j in order
    ]


def _past(angle: float) -> str:
    return f"{angle:.2g} rad ({np.degrees(angle):.2g}°) past it"


def _times(ratio: float) -> str:
    return f"{ratio:.2f} times the limit"


def _torques(torques: Torques) -> Block:
    """The joints whose torque decides, each at its worst."""
    text = (
        "Over all forces that the contacts can give: the smallest possible largest torque over its"
        " limit, by the joint that decides."
    )
    if torques.reason is not None:
        return Block("Torques", f"{text} Here there is none: {torques.reason}.")
    ratio = np.where(torques.judged, torques.ratio, -np.inf)
    rows = []
    for j in np.unique(torques.limiting[torques.judged]).tolist():  # joints, not samples
        own = np.where(torques.limiting == j, ratio, -np.inf)
        i = int(np.argmax(own))
        rows.append((float(own[i]), torques.joint_names[j], i, int(np.isfinite(own).sum())))
    judged = int(torques.judged.sum())
    cells = tuple(
        (name, f"{worst:.2f}", moment(torques.time[i]), f"{percent(count / judged)} of the time")
        for worst, name, i, count in sorted(rows, reverse=True)
    )
    head = ("joint", "torque over its limit", "at", "decides for")
    return Block("Torques", text, head=head, rows=cells)


def budget_blocks(found: Feasibility) -> tuple[Block, ...]:
    """What small changes of the input do to the answer."""
    if found.budget is None:
        return ()
    head = ("what if", "worst d over the weight", "feasible")
    own = ("as judged", float(found.upper.max()) / found.weight_n, float(found.feasible.mean()))
    rows = tuple(
        (name, f"{worst:+.4f}" if np.isfinite(worst) else "−∞", f"{100.0 * share:.1f} %")
        for name, worst, share in (own, *found.budget.cases)
    )
    text = (
        "The number is only as good as its input: what d would be, if one thing at a time were a"
        " little different. The band in the plot lies around all of these."
    )
    return (Block("How sure this is", text, head=head, rows=rows),)


def judged_with(found: Feasibility) -> Block:
    """The settings that belong to every number of the index."""
    options = found.options
    changes = int((found.samples.side[1:-1] < 0).sum())
    sides = f", and both sides of {counted(changes, 'contact change')}" if changes else ""
    reference = options.reference
    about = (
        ABOUT[reference] if isinstance(reference, str) else ", ".join(f"{x:g} m" for x in reference)
    )
    smoothing = "none" if options.smooth_hz is None else f"low pass at {options.smooth_hz:g} Hz"
    cone = f"pyramids of {options.cone_sides} sides" if options.cone_sides else "circular cones"
    rows: list[Row] = [
        ("samples", f"{found.samples.n:,}: {options.rate_hz:g} a second{sides}"),
        ("between the frames", f"{options.interpolation} curve, smoothing: {smoothing}"),
        ("friction", f"{_friction(found)}, {cone}"),
        ("moments", f"about {about}, divided by {options.length_scale_m:g} m"),
        ("weight", f"{newtons(found.weight_n)} ({found.mass_kg:.2f} kg)"),
        (
            "feasible means",
            f"d is proven to be at most {options.tolerance_over_weight:g} of the weight",
        ),
        ("bounds", _bounds(found)),
        *_kinds(found),
    ]
    if any(stance.moving for stance in found.clip.contacts.stances):
        rows.insert(3, ("feet that slide on purpose", SLIDING[options.sliding]))
    return Block("Judged with", head=("", ""), rows=tuple(rows))


def smallest_friction(found: Feasibility) -> float:
    """What the clip was judged with, the smallest where stances differ; 0 without any."""
    if found.options.friction is not None:
        return found.options.friction
    return min((stance.friction for stance in found.clip.contacts.stances), default=0.0)


def _friction(found: Feasibility) -> str:
    if found.options.friction is not None:
        return f"{found.options.friction:g} for all contacts, instead of their own"
    values = sorted({stance.friction for stance in found.clip.contacts.stances})
    if not values:
        return "none, for there are no contacts"
    return f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g} to {values[-1]:g}"


def _bounds(found: Feasibility) -> str:
    """How well the numbers are proven."""
    finite = np.isfinite(found.upper) & np.isfinite(found.lower)
    gap = float(np.max(found.upper[finite] - found.lower[finite], initial=0.0))
    open_ = int((~found.converged).sum())
    text = (
        f"of d, apart by {found.options.tolerance:g} of it inside and 1e-09 outside at most; here"
        f" by {newtons(gap)} at most"
    )
    if open_:
        verb = "does" if open_ == 1 else "do"
        return f"{text}; {counted(open_, 'sample')} {verb} not reach that: their d is not certain"
    return f"{text}; every sample reaches that"


def _kinds(found: Feasibility) -> list[Row]:
    """Samples of another kind than feet flat on the ground, where there are any."""
    flight = int(found.in_flight.sum())
    flat = int((found.dimension < 6).sum()) - flight
    free = int(np.isneginf(found.upper).sum())
    rows = (
        ("in flight", flight, "nothing touches"),
        ("on a point or an edge", flat, "where d is never below zero"),
        ("without a limit", free, "the contacts can give every wrench"),
    )
    return [(what, f"{counted(count, 'sample')}: {note}") for what, count, note in rows if count]
