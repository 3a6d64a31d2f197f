"""What was measured in a run, drawn: errors under d, contacts as scheduled and measured, effort."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64
from surefoot.contacts.runs import runs_of
from surefoot.index.index import Feasibility
from surefoot.reports import panels, plots
from surefoot.reports.parts import Block
from surefoot.reports.phrases import foot_of, role_of
from surefoot.simulation.events import Event
from surefoot.simulation.thresholds import Thresholds
from surefoot.simulation.trace import Trace
from surefoot.simulation.verdict import Verdict

D_IN, ERROR_IN, SMALL_IN = 1.6, 1.7, 1.15
MM = 1000.0
USUAL, ABOVE = 0.995, 1.15  # a panel of errors ends so far above what this share stays under
LEAST_MM = 5.0  # a panel of errors is no less high
FALLEN_MM = 2.0 * MM * Thresholds().com_error_m  # nor, where the robot falls, higher
MOST_JOINTS = 16  # in the plot of what joints use; the ones nearest to a limit
EVENT_WORDS = {
    "slip": "slip",
    "tip": "tip",
    "torque": "limit",
    "com": "CoM away",
    "root": "root turned",
}


def over_time_block(found: Verdict, index: Feasibility) -> Block:
    """D of the reference, and below it errors, effort and contacts, on one time axis."""
    text = (
        "Above: d of the reference; above zero its contacts cannot give what it asks for. Below:"
        " how far centre of mass and root are from the reference, and the measured centre of"
        " pressure from the reference's ZMP; the largest torque of any joint over its limit;"
        " contacts as scheduled, grey, and as measured. Before 0 the robot settles on the first"
        " frame; after the end it holds the last."
    )
    if found.fell_at is not None:
        text += f" Red: after the fall. Errors above {FALLEN_MM:.0f} mm are not shown."
    return Block("What happened", text, (over_time_svg(found, index),))


def over_time_svg(found: Verdict, index: Feasibility) -> str:
    """The plot of that block."""
    trace = found.trace
    bars, rows = contact_bars(trace)
    end = float(trace.time[-1])
    return plots.over_time(
        np.array([trace.time[0], max(end, float(index.time[-1]))]),
        [d_panel(index), error_panel(found), pressure_panel(found), effort_panel(trace)],
        bars=bars,
        rows=rows,
        shaded=[] if found.fell_at is None else [(found.fell_at, max(end, found.fell_at + 0.02))],
        label="The index d of the reference, errors of centre of mass, root and centre of"
        f" pressure, torque, and contacts over time. {found.sentence}",
    )


def d_panel(index: Feasibility) -> panels.Panel:
    """D of the reference over its own time."""
    return panels.Panel(
        "d, N",
        (panels.Line("", index.upper, "zmp", time=index.time),),
        zero=True,
        inches=D_IN,
        sides=("missing: not feasible", "to spare: feasible"),
        other=("over the weight", index.weight_n),
        top=panels.shown_top(index.upper),
    )


def error_panel(found: Verdict) -> panels.Panel:
    """How far centre of mass and root are from the reference, with what happened."""
    trace = found.trace
    com, root = com_error(trace), root_error(trace)
    before = trace.time <= (np.inf if found.fell_at is None else found.fell_at)
    values = np.concatenate([com[before], root[before]])
    top = shown_top(MM * values, found.fell_at is not None)
    return panels.Panel(
        "error, mm",
        (
            panels.Line("centre of mass", MM * com, "com", time=trace.time),
            panels.Line("root", MM * root, "zmp", time=trace.time),
        ),
        inches=ERROR_IN,
        limits=(0.0, top),
        marks=tuple(_mark(found, event, MM * com) for event in told(found)),
    )


def pressure_panel(found: Verdict) -> panels.Panel:
    """How far the measured centre of pressure is from the reference's zero-moment point."""
    trace = found.trace
    away = MM * pressure_error(trace)
    before = away[trace.time <= (np.inf if found.fell_at is None else found.fell_at)]
    return panels.Panel(
        "CoP, mm",
        (panels.Line("", away, "support", time=trace.time),),
        inches=SMALL_IN,
        limits=(0.0, shown_top(before[np.isfinite(before)], found.fell_at is not None)),
    )


def effort_panel(trace: Trace) -> panels.Panel:
    """The largest torque of any joint over its limit."""
    use = torque_use(trace).max(axis=1, initial=0.0)
    top = max(1.15, 1.1 * float(use.max(initial=0.0)))
    ones = np.ones(2)
    ends = trace.time[[0, -1]]
    return panels.Panel(
        "torque / limit",
        (
            panels.Line("most used joint", use, "left", time=trace.time),
            panels.Line("limit", ones, "bad", dashed=True, time=ends),
        ),
        inches=SMALL_IN,
        limits=(0.0, top),
    )


def shown_top(values: Float64[Array, " k"], fell: bool) -> float:
    """Where a panel of errors ends, mm: above all but single peaks; in a fall at a fixed height."""
    if len(values) == 0:
        return LEAST_MM
    usual = ABOVE * float(np.quantile(values, USUAL))
    top = ABOVE * float(values.max()) if values.max() < 2.0 * usual else usual
    return max(min(top, FALLEN_MM) if fell else top, LEAST_MM)


def com_error(trace: Trace) -> Float64[Array, " k"]:
    """Distance of the centre of mass from the reference's, m."""
    return np.asarray(np.linalg.norm(trace.com_w - trace.target_com_w, axis=1))


def root_error(trace: Trace) -> Float64[Array, " k"]:
    """Distance of the root from the reference's, m."""
    return np.asarray(np.linalg.norm(trace.root_pos_w - trace.target_root_pos_w, axis=1))


def pressure_error(trace: Trace) -> Float64[Array, " k"]:
    """Distance of the centre of pressure from the reference's ZMP, m; NaN where one is missing."""
    load = trace.contact_force_w[:, :, 2].sum(axis=1)
    loaded = load > Thresholds().loaded_over_weight * trace.weight_n
    there = loaded & trace.cop_valid & trace.target_zmp_defined
    away = np.linalg.norm(trace.cop_w - trace.target_zmp_w[:, :2], axis=1)
    return np.where(there, away, np.nan)


def torque_use(trace: Trace) -> Float64[Array, "k m"]:
    """Torque of every joint over its limit; 0 where there is no limit."""
    limit = trace.scene.robot.joint_torque
    known = np.isfinite(limit) & (limit > 0.0)
    return np.where(known, np.abs(trace.torque) / np.where(known, limit, 1.0), 0.0)


def told(found: Verdict) -> tuple[Event, ...]:
    """The events that a plot names: the first of each kind up to the fall."""
    until = np.inf if found.fell_at is None else found.fell_at
    first = {event.kind: event for event in reversed(found.events) if event.time <= until}
    return tuple(sorted(first.values(), key=lambda event: event.time))


def event_words(found: Verdict, event: Event) -> str:
    """An event in two or three words: `slip, left foot`."""
    where = event.joint or foot_of(found.robot, event.link) or event.link
    return f"{EVENT_WORDS[event.kind]}, {where}" if event.kind != "com" else EVENT_WORDS["com"]


def _mark(found: Verdict, event: Event, values: Float64[Array, " k"]) -> panels.Mark:
    k = int(np.argmin(np.abs(found.trace.time - event.time)))
    words = event_words(found, event)
    return panels.Mark(event.time, float(values[k]), words, words.split(",")[0])


def contact_bars(trace: Trace) -> tuple[list[panels.Bar], list[str]]:
    """When each foot should carry, in grey, and when it does; links of one foot are one row."""
    robot, names = trace.scene.robot, trace.patches.link_names
    feet = [foot_of(robot, name) or name for name in names]
    bars, rows = [], []
    for foot in sorted(set(feet), key=lambda foot: (not foot.endswith(" foot"), foot)):
        own = [c for c, name in enumerate(feet) if name == foot]
        for flags, label, role in (
            (trace.scheduled, f"{foot.removesuffix(' foot')}, scheduled", "muted"),
            (trace.measured, foot, role_of(robot, names[own[0]])),
        ):
            rows.append(label)
            spans = spans_of(trace, np.asarray(flags[:, own].any(axis=1), dtype=np.bool_))
            bars += [panels.Bar(label, a, b, role) for a, b in spans]
    return bars, rows


def spans_of(trace: Trace, flags: Bool[BoolArray, " k"]) -> list[tuple[float, float]]:
    """First and last moment of every stretch of steps that have a flag."""
    start, stop = runs_of(flags)
    return [
        (float(trace.time[a]), float(trace.time[b - 1]) + trace.dt)
        for a, b in zip(start.tolist(), stop.tolist(), strict=True)
    ]


def effort_block(found: Verdict) -> tuple[Block, ...]:
    """What each joint used of its torque and its speed."""
    robot, t = found.robot, found.tracking
    both = np.maximum(t.torque_over_limit, t.speed_over_limit)
    order = np.argsort(-both, kind="stable")
    known = [int(j) for j in order if both[j] > 0.0]
    if not known:
        return ()
    shown = known[:MOST_JOINTS]
    uses = [
        plots.Use(robot.joint_names[j], float(t.torque_over_limit[j]), float(t.speed_over_limit[j]))
        for j in shown
    ]
    text = "The largest torque and the largest speed of each joint over its limit, before the fall."
    if len(known) < len(robot.joint_names) or len(shown) < len(known):
        text += f" Of {len(robot.joint_names)} joints those nearest to a limit."
    if found.fell_at is None:
        text = text.replace(", before the fall", "")
    label = f"Torque and speed over their limits; most used: {uses[0].name}"
    return (Block("What the joints used", text, (plots.uses(uses, label=label),)),)
