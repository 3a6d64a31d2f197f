"""Two runs side by side: a clip as it was and as it was mended, or one clip done in two ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from surefoot.arrays import Array
from surefoot.index.index import Feasibility
from surefoot.motion.motion import Clip
from surefoot.reports import measured, panels, plots, staging
from surefoot.reports.parts import Block, Context, KeyFigure, Part
from surefoot.reports.phrases import length, moment, percent
from surefoot.reports.player import Actor
from surefoot.reports.sections import provenance
from surefoot.reports.simulation import (
    POLYGONS,
    actors,
    arrows,
    events_block,
    fall_block,
    figure_rows,
    index_of,
    measured_spans,
    opening,
    sentences,
    settings_block,
    strip_block,
    tracks,
)
from surefoot.robots.robot import Robot
from surefoot.simulation.trace import Trace
from surefoot.simulation.verdict import Verdict

STRONG, THIN = 1.7, 1.0  # pt


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """Two runs of one robot, and what they are called."""

    before: Verdict
    after: Verdict
    names: tuple[str, str]

    @property
    def clip(self) -> Clip:
        """What was simulated last."""
        return self.after.clip

    @property
    def robot(self) -> Robot:
        """Who moves."""
        return self.after.robot

    @property
    def both(self) -> tuple[tuple[str, Verdict], tuple[str, Verdict]]:
        """Name and run, the earlier first."""
        return (self.names[0], self.before), (self.names[1], self.after)


def paired(values: Sequence[object]) -> list[object]:
    """Two runs about one clip, mended or not, as one value; others as they are."""
    runs = [value for value in values if isinstance(value, Verdict)]
    if len(runs) != 2 or len(values) != 2:
        return list(values)
    before, after = runs
    same = before.clip.meta.source == after.clip.meta.source
    if not same or before.robot.name != after.robot.name:
        return list(values)
    return [Trials(before, after, _names(before, after))]


def _names(before: Verdict, after: Verdict) -> tuple[str, str]:
    """What tells two runs apart: their clips, else their controllers, else their seeds."""
    if before.clip != after.clip:
        return "before", "after"
    if before.controller != after.controller:
        return before.controller, after.controller
    if before.seed != after.seed:
        return f"seed {before.seed}", f"seed {after.seed}"
    return "first run", "second run"


def trials_part(value: object, context: Context) -> Part:
    """Both runs over one time axis, in one player, in one table, and each in pictures."""
    found = cast("Trials", value)  # the table of drawers chose this function by type
    indices = tuple(index_of(run, context) for _, run in found.both)
    before, after = indices
    pairs = ((0, found.after, after), (1, found.before, before))
    opens = opening(found.after if found.before.stood else found.before)
    return Part(
        sentences=tuple(
            f"{name.capitalize()}: {text}" if i == 0 else text
            for (name, run), index in zip(found.both, indices, strict=True)
            for i, text in enumerate(sentences(run, index))
        ),
        figures=_figures(found),
        blocks=(
            _over_time(found, before, after),
            _table(found),
            *(
                replace(block, title=f"{name.capitalize()}: {block.title}")
                for name, run in found.both
                for block in (
                    *fall_block(run),
                    *strip_block(run),
                    *measured.effort_block(run),
                    *events_block(run),
                    settings_block(run),
                )
            ),
        ),
        notices=(*found.before.notices, *found.after.notices, *found.robot.notices),
        provenance=provenance(found.clip, found.robot),
        actors=_actors(found),
        tracks=tuple(
            replace(track, actor=i) for i, run, one in pairs for track in tracks(run, one)
        ),
        polygons=tuple(replace(staging.polygon_of(one, POLYGONS), actor=i) for i, _, one in pairs),
        arrows=tuple(replace(arrow, actor=i) for i, run, _ in pairs for arrow in arrows(run)),
        stances=measured_spans(found.after),
        terrain=found.after.trace.scene.terrain,
        curve=replace(staging.curve_of(after), whose=f"reference, {found.names[1]}"),
        compared=replace(staging.curve_of(before), whose=f"reference, {found.names[0]}"),
        worst_at=opens,
        opens_at=opens,
    )


def _actors(found: Trials) -> tuple[Actor, ...]:
    """Both robots, the later run first, and their references behind them."""
    leads, ghosts = [], []
    for i, (name, run) in enumerate(reversed(found.both)):
        solid, ghost = actors(run)
        leads.append(replace(solid, label=name))
        ghosts.append(replace(ghost, behind=i))
    return (*leads, *ghosts)


def _figures(found: Trials) -> tuple[KeyFigure, ...]:
    before, after = found.before, found.after
    old, new = before.tracking, after.tracking
    rows = (
        ("Verdict", _state(before), _state(after), " and ".join(found.names)),
        ("Root from the reference", length(old.root_error_max_m), length(new.root_error_max_m),
         "largest"),
        ("CoM from the reference", length(old.com_error_max_m), length(new.com_error_max_m),
         "largest"),
        ("At a joint's limit", percent(old.torque_saturated_fraction),
         percent(new.torque_saturated_fraction), "of the control steps"),
    )  # fmt: skip
    return tuple(
        KeyFigure(name, f"{a} → {b}", note, name == "Verdict" and not after.stood)
        for name, a, b, note in rows
    )


def _state(run: Verdict) -> str:
    return "stood" if run.stood else f"fell at {moment(run.fell_at or 0.0)}"


def _over_time(found: Trials, before: Feasibility, after: Feasibility) -> Block:
    """D of both references, errors of both runs, contacts as measured."""
    (old_name, old), (new_name, new) = found.both
    text = (
        f"Grey: {old_name}; blue: {new_name}; each over its own time. Above: d of the references;"
        " below: how far root and centre of mass are from their reference, the largest torque of"
        " any joint over its limit, and what carried load."
    )
    fell = [run.fell_at for _, run in found.both if run.fell_at is not None]
    if fell:
        text += " A line that ends: the robot fell."
    time = np.concatenate([index.time[[0, -1]] for index in (before, after)])
    times = [time, *(run.trace.time for _, run in found.both)]
    ends = np.array([min(float(t.min()) for t in times), max(float(t.max()) for t in times)])
    shown = [
        panels.Panel(
            "d, N",
            (
                panels.Line(old_name, before.upper, "muted", time=before.time, width=THIN),
                panels.Line(new_name, after.upper, "zmp", time=after.time, width=STRONG),
            ),
            zero=True,
            inches=measured.D_IN,
            sides=("missing: not feasible", "to spare: feasible"),
            other=("over the weight", before.weight_n),
            top=max(panels.shown_top(one.upper) for one in (before, after)),
        ),
        _panel("root, mm", found, lambda trace: measured.MM * measured.root_error(trace)),
        _panel("CoM, mm", found, lambda trace: measured.MM * measured.com_error(trace)),
        _panel(
            "torque / limit",
            found,
            lambda trace: measured.torque_use(trace).max(axis=1, initial=0.0),
            least=1.15,
        ),
    ]
    bars, rows = _bars(found)
    label = f"d, errors and contacts over time. {old_name}: {old.sentence}; {new_name}: "
    svg = plots.over_time(ends, shown, bars=bars, rows=rows, label=label + new.sentence)
    return Block(f"{old_name.capitalize()} and {new_name}, over time", text, (svg,))


def _panel(
    title: str, found: Trials, quantity: Callable[[Trace], Array], *, least: float = 0.0
) -> panels.Panel:
    """One quantity of both runs, each up to its fall.

    Args:
        least: where a panel of shares ends at least; 0 for errors in mm.
    """
    lines, tops = [], []
    for (name, run), role, width in zip(found.both, ("muted", "zmp"), (THIN, STRONG), strict=True):
        until = np.inf if run.fell_at is None else run.fell_at
        values = np.where(run.trace.time <= until, quantity(run.trace), np.nan)
        known = values[np.isfinite(values)]
        highest = max(least, 1.1 * float(known.max(initial=0.0)))
        tops.append(highest if least else measured.shown_top(known, not run.stood))
        lines.append(panels.Line(name, values, role, time=run.trace.time, width=width))
    return panels.Panel(title, tuple(lines), inches=measured.SMALL_IN, limits=(0.0, max(tops)))


def _bars(found: Trials) -> tuple[list[panels.Bar], list[str]]:
    """What carried load, link by link, of the earlier run in grey."""
    bars, rows = [], []
    for (name, run), grey in zip(found.both, (True, False), strict=True):
        own, names = measured.contact_bars(run.trace)
        kept = [row for row in names if not row.endswith(", scheduled")]
        for row in kept:
            label = f"{row.removesuffix(' foot')}, {name}"
            rows.append((kept.index(row), grey, label))
            bars += [
                replace(bar, row=label, role="muted" if grey else bar.role)
                for bar in own
                if bar.row == row
            ]
    return bars, [label for _, _, label in sorted(rows, key=lambda row: (row[0], not row[1]))]


def _table(found: Trials) -> Block:
    """The figures of both."""
    rows = tuple(
        (name, a, b)
        for (name, a), (_, b) in zip(
            figure_rows(found.before), figure_rows(found.after), strict=False
        )
    )
    head = ("", *(name for name, _ in found.both))
    text = "Between the first frame and the last, or the fall."
    return Block("Figures", text, head=head, rows=rows, open_rows=len(rows))
