"""What a report says and shows of a simulation: does it stand, and if not, when, why and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from surefoot.adapters.adaptation import Adaptation
from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.dynamics.batch import Batch
from surefoot.index.index import Feasibility, Options, feasibility
from surefoot.reports import filmstrip, measured, staging
from surefoot.reports.parts import Block, Context, KeyFigure, Part, Rank
from surefoot.reports.phrases import foot_of, length, moment, percent
from surefoot.reports.player import Actor, Arrow, Span, Track, actor
from surefoot.reports.sections import provenance
from surefoot.simulation.trace import Trace
from surefoot.simulation.verdict import Verdict

PLAYED_HZ = 60.0  # so often the player is given the state: more no screen shows
POLYGONS = 500  # moments at which it is given the support
FALL_PICTURES = 4
MM = 1000.0
UNIT = "\N{NO-BREAK SPACE}"
CAUSES = {
    "reference infeasible": "the reference asked for what its contacts cannot give",
    "push": "it was pushed",
    "slip": "a foot slipped",
    "tip": "a sole tipped",
    "torque": "a joint was at its limit",
    "no command": "the controller gave no command",
    "diverged": "the numbers diverged",
    "unknown": "nothing slipped, tipped or reached its limit before",
}


def verdict_part(value: object, context: Context) -> Part:
    """A run: the verdict, what happened over time, the fall in pictures, and a player."""
    found = cast("Verdict", value)  # the table of drawers chose this function by type
    index = index_of(found, context)
    opens = opening(found)
    return Part(
        sentences=sentences(found, index),
        figures=key_figures(found),
        blocks=(
            measured.over_time_block(found, index),
            *fall_block(found),
            *strip_block(found),
            *measured.effort_block(found),
            *events_block(found),
            figures_table(found),
            settings_block(found),
        ),
        notices=(*found.notices, *found.trace.scene.notices, *found.robot.notices),
        provenance=provenance(found.clip, found.robot),
        actors=actors(found),
        tracks=tracks(found, index),
        polygons=(staging.polygon_of(index, POLYGONS),),
        arrows=arrows(found),
        stances=measured_spans(found),
        worst_at=opens,
        terrain=found.trace.scene.terrain,
        curve=replace(staging.curve_of(index), whose="reference"),
        opens_at=opens,
        rank=_rank(found),
    )


def index_of(found: Verdict, context: Context) -> Feasibility:
    """The index of the clip that was simulated: from the same report, else taken now.

    With the friction of the simulated ground where that is another than the clip's.
    """
    ground = {float(x) for x in found.trace.scene.friction}
    told = {stance.friction for stance in found.clip.contacts.stances}
    if len(ground) == 1 and told and ground != told:
        return feasibility(found.clip, found.robot, Options(friction=ground.pop()))
    known: list[Feasibility] = []
    for value in context.all:
        if isinstance(value, Feasibility):
            known.append(value)
        elif isinstance(value, Adaptation):
            known += [value.before, value.after]
    same = (one for one in known if one.clip is found.clip or one.clip == found.clip)
    return next(same, None) or feasibility(found.clip, found.robot)


def opening(found: Verdict) -> float:
    """The moment at which the player opens: the fall, else where it was followed worst."""
    if found.fell_at is not None:
        return found.fell_at
    inside = found.trace.in_clip
    away = np.where(inside, measured.root_error(found.trace), -1.0)
    return float(found.trace.time[int(np.argmax(away))])


def sentences(found: Verdict, index: Feasibility) -> tuple[str, ...]:
    """Whether it stood; if not, why; and what the index says of the reference."""
    duration = found.trace.duration
    if found.stood:
        said = [
            f"The robot stood: it did all {moment(duration)} of the clip and held its last frame.",
            f"Its root was never farther than {length(found.tracking.root_error_max_m)} from the"
            " reference.",
        ]
    else:
        fell = 0.0 if found.fell_at is None else found.fell_at
        cause = CAUSES.get(str(found.cause), str(found.cause))
        said = [f"The robot fell at {moment(fell)} of {moment(duration)}: {cause}.", first(found)]
    return (*(text for text in said if text), of_the_index(index, found))


def first(found: Verdict) -> str:
    """What came first, in the words of the verdict."""
    _, _, reason = found.sentence.partition(": ")
    return f"What came first: {reason}." if reason else ""


def where_of(found: Verdict) -> str:
    """The link of the cause as one says it."""
    return "" if found.link is None else foot_of(found.robot, found.link) or found.link


def of_the_index(index: Feasibility, found: Verdict) -> str:
    """What the index says of the reference, beside what became of it."""
    if index.all_feasible:
        return "By the index the reference is feasible at every moment."
    share = float((~index.feasible).mean())
    worst = float(index.upper.max()) / index.weight_n
    text = (
        f"By the index the reference is not feasible for {percent(share)} of the time; worst"
        f" {100.0 * worst:.1f}{UNIT}% of the weight at {moment(float(index.time[index.worst]))}."
    )
    if found.stood:
        text += " What was missing was made up for by moving otherwise than the reference."
    return text


def key_figures(found: Verdict) -> tuple[KeyFigure, ...]:
    """The verdict, and how well the reference was followed."""
    t = found.tracking
    fell = not found.stood
    state = "stood" if found.stood else f"fell at {moment(found.fell_at or 0.0)}"
    figures = [KeyFigure("Verdict", state, f"controller {found.controller}", fell)]
    if fell:
        at = "" if found.cause_at is None else f" at {moment(found.cause_at)}"
        figures.append(KeyFigure("Cause", str(found.cause), f"{where_of(found)}{at}".strip(), True))
    rms = f"largest; rms {length(t.com_error_rms_m)}"
    figures += [
        KeyFigure("Root from the reference", length(t.root_error_max_m), "largest"),
        KeyFigure("CoM from the reference", length(t.com_error_max_m), rms),
    ]
    if t.cop_error_rms_m is not None:
        figures.append(KeyFigure("CoP from the ZMP", length(t.cop_error_rms_m), "rms"))
    saturated, blamed = percent(t.torque_saturated_fraction), found.cause == "torque"
    figures.append(KeyFigure("At a joint's limit", saturated, "of the control steps", blamed))
    if t.contact_agreement is not None:
        figures.append(
            KeyFigure(
                "Contacts as scheduled",
                percent(t.contact_agreement),
                "of links and control steps",
            )
        )
    return tuple(figures)


def fall_block(found: Verdict) -> tuple[Block, ...]:
    """Pictures from the cause to the end of the fall."""
    if found.fell_at is None or found.trace.steps == 0:
        return ()
    times = fall_times(found)
    words = []
    for t in times:
        at_cause = found.cause_at is not None and abs(t - found.cause_at) < found.trace.dt
        at_fall = abs(t - found.fell_at) < 0.5 * found.trace.dt
        words.append("the fall" if at_fall else str(found.cause) if at_cause else "on the way")
    words[-1] = "the end" if times[-1] > found.fell_at else words[-1]
    strip = filmstrip.run_strip(found, times, words)
    text = (
        "The robot over its reference, transparent, from what came first to the end of the run;"
        " the run ends shortly after the fall."
    )
    return (Block("The fall", text, filmstrip.svgs_of(strip, cells=0)),)


def fall_times(found: Verdict) -> list[float]:
    """Moments from what came first, or a second before the fall, to the end of the run."""
    time = found.trace.time
    assert found.fell_at is not None
    start = found.fell_at - 1.0 if found.cause_at is None else found.cause_at
    start = float(np.clip(start, time[0], found.fell_at))
    way = np.linspace(start, found.fell_at, FALL_PICTURES - 1)
    every = np.append(way, time[-1])
    return [float(t) for t in np.unique(np.clip(every, time[0], time[-1]))]


def strip_block(found: Verdict) -> tuple[Block, ...]:
    """The simulated robot over its reference at lift-offs, mid-swings and touch-downs."""
    strip = filmstrip.simulated_strip(found)
    if strip is None:
        return ()
    text = (
        "The simulated robot over its reference at the same moment, transparent: at each lift-off,"
        " mid-swing and touch-down. Apart: the links that lie farthest from where they should be."
    )
    swings = filmstrip.swings_of(found.clip.contacts, found.robot, np.inf)
    if len(swings) * 3 > len(strip.qpos):
        text += f" Of {len(swings)} swings those that were followed worst."
    return (Block("Simulated over reference", text, filmstrip.svgs_of(strip)),)


def events_block(found: Verdict) -> tuple[Block, ...]:
    """Slips, tips, limits and deviations in order of time."""
    if not found.events:
        return ()
    fell = np.inf if found.fell_at is None else found.fell_at
    rows = tuple(
        (
            moment(event.time),
            measured.event_words(found, event),
            event.sentence,
            "after the fall" if event.time > fell else "",
        )
        for event in found.events
    )
    text = "The first time that each thing happened"
    text += "; the robot stood all the same." if found.stood else "."
    if not found.stood:
        text += " What comes late in a fall is its consequence."
    return (Block("Events", text, head=("when", "what", "", ""), rows=rows, open_rows=6),)


def figures_table(found: Verdict) -> Block:
    """All figures of the run."""
    head = ("", found.controller)
    text = "Between the first frame and the last, or the fall."
    return Block("Figures", text, head=head, rows=tuple(figure_rows(found)))


def figure_rows(found: Verdict) -> list[tuple[str, str]]:
    """Name and value of every figure."""
    t = found.tracking
    rows = [
        ("verdict", "stood" if found.stood else f"fell at {moment(found.fell_at or 0.0)}"),
        ("cause", "–" if found.cause is None else f"{found.cause} {where_of(found)}".strip()),
        ("root from the reference, largest", length(t.root_error_max_m)),
        ("root turned from the reference, largest", _degrees(t.root_turn_max_rad)),
        ("centre of mass from the reference, largest", length(t.com_error_max_m)),
        ("centre of mass from the reference, rms", length(t.com_error_rms_m)),
        ("joints from the reference, rms", _degrees(t.joint_error_rms_rad)),
        ("joints from the reference, largest", _degrees(t.joint_error_max_rad)),
        ("standing links from the reference, largest", _maybe(t.foot_error_max_m)),
        ("centre of pressure from the ZMP, rms", _maybe(t.cop_error_rms_m)),
        ("centre of pressure from the ZMP, 99 of 100 below", _maybe(t.cop_error_p99_m)),
        ("most torque over its limit", _most(found, t.torque_over_limit)),
        ("most speed over its limit", _most(found, t.speed_over_limit)),
        ("control steps with a joint at its limit", percent(t.torque_saturated_fraction)),
        ("control steps with a relaxed command", percent(t.softened_fraction)),
    ]
    if t.contact_agreement is not None:
        rows.append(("contacts as scheduled", percent(t.contact_agreement)))
    return rows


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle):.2f}°"


def _maybe(metres: float | None) -> str:
    return "–" if metres is None else length(metres)


def _most(found: Verdict, use: Float64[Array, " m"]) -> str:
    if not np.any(use > 0.0):
        return "no limits known"
    j = int(np.argmax(use))
    return f"{percent(float(use[j]))}, {found.robot.joint_names[j]}"


def settings_block(found: Verdict) -> Block:
    """How it was simulated."""
    scene = found.trace.scene
    s = scene.settings
    friction = sorted({round(float(x), 4) for x in scene.friction})
    rows = (
        ("controller", f"{found.controller}, {scene.drive} drives"),
        ("control", f"{s.control_hz:g} Hz"),
        ("physics", f"{MM * s.timestep_s:g} ms a step, {s.integrator}, impratio {s.impratio:g}"),
        ("contacts", f"solref {_listed(s.solref)}; solimp {_listed(s.solimp)}"),
        ("friction of the ground", ", ".join(f"{x:g}" for x in friction)),
        (
            "speed limits",
            f"torque fades from {percent(s.speed_limit_from)} of the limit"
            if s.speed_limits
            else "not modelled",
        ),
        ("pushes", "yes" if np.any(found.trace.applied) else "none"),
        ("seed", str(found.seed)),
    )
    return Block("How it was simulated", head=("", ""), rows=rows)


def _listed(values: Sequence[float]) -> str:
    return " ".join(f"{value:g}" for value in values)


def played(trace: Trace) -> Int64[IntArray, " k"]:
    """The control steps that the player is given, the first and the last among them."""
    step = max(1, round(1.0 / (PLAYED_HZ * trace.dt)))
    return np.unique(np.append(np.arange(0, trace.steps, step), trace.steps - 1))


def actors(found: Verdict) -> tuple[Actor, Actor]:
    """The simulated robot, and its reference behind it."""
    trace, robot = found.trace, found.robot
    keep = played(trace)
    solid = actor(Batch(robot, trace.qpos[keep]), trace.time[keep])
    ghost = actor(Batch(robot, trace.target_qpos[keep]), trace.time[keep])
    return (
        replace(solid, label="simulated"),
        replace(ghost, label="reference", style="ghost", behind=0),
    )


def tracks(found: Verdict, index: Feasibility) -> tuple[Track, ...]:
    """The ZMP of the reference, the measured centre of pressure, and the centre of mass."""
    trace = found.trace
    keep = played(trace)
    there = trace.cop_valid[keep]
    height = trace.support_z[keep]
    cop_w = np.column_stack([trace.cop_w[keep], height])
    return (
        replace(staging.zmp_track(index), name="reference's ZMP"),
        Track("measured CoP", "pressed", trace.time[keep], cop_w, np.where(there, 0, 2)),
        Track("CoM", "plumb", trace.time[keep], trace.com_w[keep], np.zeros(len(keep), np.int64)),
    )


def arrows(found: Verdict) -> tuple[Arrow, ...]:
    """The measured contact force of every link."""
    trace = found.trace
    keep = played(trace)
    return tuple(
        Arrow(
            "measured contact forces",
            trace.time[keep],
            trace.contact_cop_w[keep, c],
            trace.contact_force_w[keep, c] / trace.weight_n,
            np.zeros(len(keep), dtype=np.int64),
            judged=False,
        )
        for c in range(len(trace.patches.link_names))
    )


def measured_spans(found: Verdict) -> tuple[Span, ...]:
    """When each foot carried load."""
    trace, names = found.trace, found.trace.patches.link_names
    return tuple(
        Span(foot_of(found.robot, name) or name, start, end)
        for c, name in enumerate(names)
        for start, end in measured.spans_of(trace, trace.measured[:, c])
    )


def _rank(found: Verdict) -> Rank:
    t = found.tracking
    score = t.root_error_max_m if found.stood else 1e9 - float(found.fell_at or 0.0)
    cells = (
        ("verdict", "stood" if found.stood else f"fell at {moment(found.fell_at or 0.0)}"),
        ("cause", f"{found.cause or ''} {where_of(found)}".strip()),
        ("controller", found.controller),
        ("root error", length(t.root_error_max_m)),
        ("CoM error", length(t.com_error_max_m)),
    )
    return Rank(score, cells)
