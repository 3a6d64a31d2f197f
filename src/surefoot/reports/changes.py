"""What an adaptation changed, taken apart for plots and tables: segments, and events that moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from surefoot.adapters.adaptation import Adaptation
from surefoot.arrays import Array, Float64
from surefoot.index.index import Feasibility
from surefoot.motion.contact import ContactSchedule
from surefoot.reports.phrases import foot_of, role_of
from surefoot.robots.robot import Robot

MOMENT_S = 1e-6  # moments this near are one
NEAR_S = 0.2  # around a lift-off or touch-down: how far it was from being feasible


@dataclass(frozen=True, slots=True)
class Event:
    """A lift-off or touch-down of a foot, before and after."""

    was: float
    """s"""
    t: float
    lifts: bool
    foot: str
    role: str

    @property
    def what(self) -> str:
        """`lift-off, left foot`."""
        return f"{'lift-off' if self.lifts else 'touch-down'}, {self.foot}"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch that a method worked on; None where it does not say."""

    number: int
    start: float
    """Of the original's time, s."""
    end: float
    round: int
    q_before: float | None
    """The worst d before, over the weight."""
    q: float | None
    """What the method expected of its answer."""
    bound: float | None
    """No timing of it has less."""
    shape: str
    basis: str
    coefficients: tuple[float, ...]
    infeasible: tuple[float, float] | None
    floor: float
    reach_s: float
    details: Mapping[str, object]


def segments_of(found: Adaptation) -> tuple[Segment, ...]:
    """The segments that the method names in its details, in order of rounds and time."""
    listed = found.details.get("segments", found.details.get("stretches"))
    rows = [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []
    rows.sort(key=lambda row: (_number(row, "round") or 1.0, _number(row, "start_s") or 0.0))
    return tuple(_segment(i, row) for i, row in enumerate(rows, start=1))


def _segment(number: int, row: Mapping[str, object]) -> Segment:
    span = row.get("infeasible_s")
    coefficients = row.get("coefficients")
    return Segment(
        number,
        _number(row, "start_s") or 0.0,
        _number(row, "end_s") or 0.0,
        int(_number(row, "round") or 1),
        _number(row, "q_before_over_weight", "before_over_weight"),
        _number(row, "q_over_weight", "judged_over_weight"),
        _number(row, "bound_over_weight"),
        str(row.get("shape") or row.get("case") or ""),
        str(row.get("basis") or ""),
        tuple(map(float, coefficients)) if isinstance(coefficients, list) else (),
        (float(span[0]), float(span[1])) if isinstance(span, list) and len(span) == 2 else None,
        _number(row, "floor") or 0.0,
        _number(row, "delta_t_s") or 0.0,
        row,
    )


def _number(row: Mapping[str, object], *names: str) -> float | None:
    """The first of some entries that is a number."""
    found = (row.get(name) for name in names)
    return next((float(x) for x in found if isinstance(x, int | float)), None)


def new_times(found: Adaptation, s: Float64[Array, " n"]) -> Float64[Array, " n"]:
    """When moments of the original happen now, s."""
    s = np.asarray(s, dtype=np.float64)
    return s.copy() if found.timing is None else found.timing(s)


def span_of(found: Adaptation, segment: Segment, beside: float = 0.0) -> tuple[float, float]:
    """A segment and so much beside it, in new times, s."""
    time = found.before.clip.motion.time
    ends = np.clip([segment.start - beside, segment.end + beside], time[0], time[-1])
    start, end = new_times(found, ends)
    return float(start), float(end)


def stretches_of(found: Adaptation) -> list[tuple[float, float]]:
    """What segments cover, in new times, s: those that touch are one."""
    out: list[tuple[float, float]] = []
    for start, end in sorted(span_of(found, segment) for segment in segments_of(found)):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def judged_in(feasibility: Feasibility, start: float, end: float) -> float:
    """The worst d between two moments, over the weight."""
    inside = (feasibility.time >= start - MOMENT_S) & (feasibility.time <= end + MOMENT_S)
    return float(np.max(feasibility.upper[inside], initial=-np.inf)) / feasibility.weight_n


def standing(contacts: ContactSchedule, robot: Robot) -> dict[str, list[tuple[float, float]]]:
    """When each foot (or link without one) touches: its stances joined, in order of time."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for stance in sorted(contacts.stances, key=lambda one: (one.start, one.end)):
        foot = foot_of(robot, stance.link) or stance.link
        own = spans.setdefault(foot, [])
        if own and stance.start <= own[-1][1] + MOMENT_S:
            own[-1] = (own[-1][0], max(own[-1][1], stance.end))
        else:
            own.append((stance.start, stance.end))
    return dict(sorted(spans.items()))


def events_of(found: Adaptation) -> tuple[Event, ...]:
    """Every lift-off and touch-down within the clip, in order of time."""
    before, robot = found.before.clip, found.before.robot
    roles = {
        foot_of(robot, stance.link) or stance.link: role_of(robot, stance.link)
        for stance in before.contacts.stances
    }
    first, last = float(before.motion.time[0]), float(before.motion.time[-1])
    rows = [
        (t, lifts, foot)
        for foot, spans in standing(before.contacts, robot).items()
        for start, end in spans
        for t, lifts in ((start, False), (end, True))
        if first + MOMENT_S < t < last - MOMENT_S
    ]
    rows.sort()
    new = new_times(found, np.array([t for t, _, _ in rows]))
    return tuple(
        Event(t, float(new[i]), lifts, foot, roles[foot]) for i, (t, lifts, foot) in enumerate(rows)
    )


def moments_of(found: Adaptation, most: int) -> list[tuple[float, float, str]]:
    """Lift-off, mid-swing and touch-down of the swings that segments touch: now, before, words.

    Where there are more than `most`, those of the swings that were farthest from feasible.
    """
    pieces = segments_of(found)
    events = events_of(found)
    swings = []
    for foot in dict.fromkeys(event.foot for event in events):
        own = [event for event in events if event.foot == foot]
        for a, b in pairwise(own):
            if (
                a.lifts
                and not b.lifts
                and any(piece.start <= e.was <= piece.end for piece in pieces for e in (a, b))
            ):
                worst = max(judged_in(found.before, e.was - NEAR_S, e.was + NEAR_S) for e in (a, b))
                swings.append((worst, a, b))
    swings.sort(key=lambda swing: -swing[0])
    moments: list[tuple[float, float, str]] = []
    for _, a, b in swings:
        was = 0.5 * (a.was + b.was)
        now = float(new_times(found, np.array([was]))[0])
        three = ((a.t, a.was, a.what), (now, was, f"mid-swing, {a.foot}"), (b.t, b.was, b.what))
        inside = [one for one in three if any(p.start <= one[1] <= p.end for p in pieces)]
        if len(moments) + len(inside) <= most:
            moments += inside
    return sorted(moments)
