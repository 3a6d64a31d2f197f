"""What a report says and shows about the feasibility index of a clip."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.contacts.balance import Balance
from surefoot.dynamics.batch import Batch
from surefoot.index.index import Feasibility
from surefoot.index.segments import Segment
from surefoot.motion.motion import Clip
from surefoot.reports import panels, plots, settings, staging
from surefoot.reports.parts import Block, Context, KeyFigure, Part, Rank
from surefoot.reports.phrases import (
    counted,
    feet_of,
    length,
    moment,
    newtons,
    of_weight,
    percent,
)
from surefoot.reports.player import actor, stance_spans
from surefoot.reports.sections import provenance

MOST_NAMED = 6  # worst points that are marked in the plot
OPEN_ROWS = 8  # stretches that are seen without unfolding the table
TALL_IN, NEAR_IN = 2.6, 1.15
FLAT = 6.0  # a top so many times the depth below zero leaves nothing to see there
JOINED = "\N{WORD JOINER}"


def feasibility_part(value: object, context: Context) -> Part:
    """The index: whether, how far, when and why not, and how slow it would have to be."""
    found = cast("Feasibility", value)  # the table of drawers chose this function by type
    batch = Batch(found.robot, found.robot.qpos(found.clip.motion))
    ranked = worst_first(found)
    told = any(isinstance(other, Clip) for other in context.beside)
    return Part(
        sentences=_sentences(found),
        figures=_figures(found, context),
        blocks=(
            _over_time(found, ranked, context),
            *segments_block(found, ranked),
            *settings.joint_blocks(found),
            *settings.budget_blocks(found),
            settings.judged_with(found),
        ),
        notices=(*found.notices, *(() if told else found.robot.notices)),
        provenance=() if told else provenance(found.clip, found.robot),
        actors=() if told else (actor(batch, found.clip.motion.time),),
        tracks=(staging.zmp_track(found),),
        polygons=(staging.polygon_of(found),),
        stances=() if told else stance_spans(found.clip.contacts, found.robot),
        worst_at=staging.moment_of(found, found.worst),
        terrain=None if told else found.clip.terrain,
        arrows=(staging.arrow_of(found),),
        curve=staging.curve_of(found),
        opens_at=staging.moment_of(found, found.worst),
        rank=_rank(found),
    )


def worst_first(found: Feasibility) -> list[Segment]:
    """The infeasible stretches, the worst first."""
    return sorted(found.segments(), key=lambda segment: -segment.worst_n)


def _sentences(found: Feasibility) -> tuple[str, ...]:
    """The answer, the worst moment and its reason, and what slowing down would do."""
    i = found.worst
    upper, at = float(found.upper[i]), moment(found.time[i])
    if not np.isfinite(upper):
        return ("Feasible: the contacts can give every wrench, at every moment.",)
    share = of_weight(abs(upper) / found.weight_n)
    if found.all_feasible:
        spare = f"{newtons(abs(upper))}, {share}" if upper < 0.0 else "nothing"
        return (
            "Feasible: at every moment the contacts can give what the motion needs."
            f" It is closest to a limit at {at}, with {spare} to spare.",
            *_nearest(found, i),
            _meaning(),
        )
    missing = float((~found.feasible).mean())
    return (
        f"Not feasible: for {percent(missing)} of the time the contacts cannot give what the motion"
        f" needs. Worst at {at}, where {newtons(upper)} are missing, {share}.",
        found.limits.sentence(i),
        _slower(found),
        _meaning(),
    )


def _nearest(found: Feasibility, i: int) -> tuple[str, ...]:
    return () if found.limits.limit(i) is None else (found.limits.sentence(i),)


def _slower(found: Feasibility) -> str:
    """At which uniform speed it would be feasible, or why at none."""
    speed = found.speeds.feasible_speed
    if speed is not None and speed > 0.0:
        return f"Played throughout at {_floored(speed)} of its speed, it would be feasible."
    never, still = (
        float(np.mean(flags)) for flags in (found.speeds.never, found.speeds.falls_when_still)
    )
    held = f" (at {percent(still)} the pose held still falls)" if still else ""
    if never:
        return f"No uniform speed mends it: {percent(never)} of the moments allow none{held}."
    return f"No uniform speed mends it: some moments allow only slower ones, others faster{held}."


def _floored(speed: float) -> str:
    """A speed ratio that is never said higher than it is."""
    if speed >= 1.0:
        return "100 %"
    tenths = np.floor(1000.0 * speed) / 10.0
    return f"{tenths:.1f} %" if tenths > 0.0 else "less than 0.1 %"


def _meaning() -> str:
    return (
        "The index d is the distance between what the motion needs from the ground and what the"
        " contacts can give: above zero it is missing, below zero it is to spare."
    )


def _figures(found: Feasibility, context: Context) -> tuple[KeyFigure, ...]:
    feasible = int(found.feasible.sum())
    bad = not found.all_feasible
    worst, at = float(found.upper[found.worst]), f"at {moment(found.time[found.worst])}"
    speed, friction = found.speeds.feasible_speed, found.ground.largest_required_friction
    figures = [
        KeyFigure(
            "Feasible",
            percent(feasible / found.samples.n),
            f"{feasible:,} of {counted(found.samples.n, 'sample')}",
            bad,
        ),
        KeyFigure(
            "Worst d" if bad else "Closest d",
            _signed(worst),
            f"{of_weight(abs(worst) / found.weight_n)}, {at}" if np.isfinite(worst) else "no limit",
            bad,
        ),
        KeyFigure(
            "Feasible speed",
            "none" if speed is None else _floored(speed),
            "no uniform speed will do"
            if speed is None
            else "of its own, throughout"
            if speed < 1.0
            else "it need not be slower",
            speed is None or speed < 1.0,
        ),
    ]
    if friction is not None:
        given = settings.smallest_friction(found)
        figures.append(
            KeyFigure(
                "Friction required",
                _ratio(friction),
                f"{given:.2g} given",
                friction > given,
            )
        )
    if not any(isinstance(other, Balance) for other in context.beside):
        figures += _zmp_figure(found)
    return tuple(figures)


def _zmp_figure(found: Feasibility) -> list[KeyFigure]:
    ground = found.ground
    if not ground.defined.any():
        return []
    farthest = float(ground.outside_m[ground.defined].max())
    share = float(ground.outside.sum() / ground.defined.sum())
    note = f"up to {length(farthest)}" if farthest > 0.0 else f"{length(-farthest)} inside"
    return [KeyFigure("ZMP outside", percent(share), note, bool(ground.outside.any()))]


def _ratio(friction: float) -> str:
    return f"{friction:.2f}" if friction < 10.0 else f"{min(friction, 1e3):.0f}"


def _over_weight(found: Feasibility) -> str:
    worst = float(found.upper[found.worst]) / found.weight_n
    return f"{worst:+.3f}".replace("-", "−") if np.isfinite(worst) else "−∞"


def _signed(force: float) -> str:
    if not np.isfinite(force):
        return "−∞"
    return f"+{newtons(force)}" if force > 0.0 else newtons(force).replace("-", "−")


def _over_time(found: Feasibility, ranked: list[Segment], context: Context) -> Block:
    told = any(isinstance(other, Balance) for other in context.beside)
    drawn = [*_d_panels(found, ranked), *(() if told else _zmp_panel(found))]
    bars, rows = staging.contact_bars(found)
    svg = plots.over_time(
        found.time,
        drawn,
        bars=bars,
        rows=rows,
        shaded=[(segment.start_s, segment.end_s) for segment in ranked],
        label="The feasibility index d over time, and which contacts there are. "
        + " ".join(_sentences(found)),
    )
    text = _plot_text(ranked, drawn[-1].title.startswith("ZMP"), bool(bars))
    return Block("Feasibility over time", text, (svg,))


def _d_panels(found: Feasibility, ranked: list[Segment]) -> list[panels.Panel]:
    """The line of d, and once more near zero where peaks leave nothing to see there."""
    spread = None
    if found.budget is not None:
        spread = ("what if (see how sure)", (found.budget.low, found.budget.high))
    whole = panels.Panel(
        "d, N",
        (panels.Line("d", found.lower, "zmp"),),
        zero=True,
        inches=TALL_IN,
        marks=_marks(found, ranked),
        sides=("missing: not feasible", "to spare: feasible"),
        other=("over the weight", found.weight_n),
        bounds=(found.lower, found.upper),
        spread=spread,
    )
    near = _near_zero(found.upper)
    if near is None:
        return [whole]
    close = replace(
        whole,
        title="the same, near zero",
        inches=NEAR_IN,
        marks=(),
        sides=("", "to spare"),
        other=("", found.weight_n),
        spread=None if spread is None else ("what if", spread[1]),
        top=near,
    )
    return [whole, close]


def _zmp_panel(found: Feasibility) -> tuple[panels.Panel, ...]:
    """How far the ZMP lies outside the support; nothing where there is no ZMP."""
    ground = found.ground
    if not ground.defined.any():
        return ()
    outside = np.where(ground.defined, 1000.0 * ground.outside_m, np.nan)
    line, top = panels.Line("ZMP outside", outside, "com"), _near_zero(outside)
    return (panels.Panel("ZMP outside, mm", (line,), zero=True, inches=NEAR_IN, top=top),)


def _near_zero(values: Float64[Array, " n"]) -> float | None:
    """Where a panel ends that shows what lies below zero; None where the usual one does already."""
    found = values[np.isfinite(values)]
    depth = -float(np.min(found, initial=0.0))
    if depth == 0.0 or panels.shown_top(values) <= FLAT * depth:
        return None
    return 2.0 * depth


def _plot_text(ranked: list[Segment], zmp: bool, stands: bool) -> str:
    text = "Above zero the wrench d newtons away is missing (shaded red); below, it is to spare."
    if len(ranked) > 1:
        named = min(MOST_NAMED, len(ranked))
        text += f" Numbered: the {named} worst of {len(ranked)} stretches, as listed below."
    if zmp:
        text += (
            " Under it, how far the ZMP lies outside the support: on flat ground with enough"
            " friction it has the sign of d."
        )
    if stands:
        text += " At the bottom, what touches the ground, and how."
    return text


def _marks(found: Feasibility, ranked: list[Segment]) -> tuple[panels.Mark, ...]:
    """The worst point of the worst stretches; where all is feasible, the closest one."""
    named = [
        panels.Mark(
            segment.worst_at_s,
            segment.worst_n,
            f"{i} {_short(found, segment.limit, segment.link, segment.edge)}",
            short=str(i),
        )
        for i, segment in enumerate(ranked[:MOST_NAMED], start=1)
    ]
    i, limits = found.worst, found.limits
    if not named and np.isfinite(found.upper[i]):
        short = _short(found, limits.limit(i), limits.links(i), limits.edge_word(i))
        label = f"closest: {short}"
        named = [panels.Mark(float(found.time[i]), float(found.upper[i]), label, bad=False)]
    return tuple(named)


def _short(found: Feasibility, limit: str | None, links: tuple[str, ...], edge: str | None) -> str:
    """A limit in a few words: `tipping, outer edge, left foot`."""
    where = feet_of(found.robot, links)
    if limit == "tipping" and edge is None and len(links) > 1:
        where = f"between {where}"
    side = edge if edge in (None, "corner") else f"{edge} edge"
    return ", ".join(part for part in (limit or "no limit", side, where) if part)


def segments_block(
    found: Feasibility, ranked: list[Segment], title: str = "What is not feasible"
) -> tuple[Block, ...]:
    """A table of the infeasible stretches, worst first; nothing where there are none."""
    if not ranked:
        return ()
    head = ("limit", "from–to", "at", "worst d", "of the weight", "why")
    rows = tuple(
        (
            f"{i} {segment.limit or 'no limit'}",
            f"{segment.start_s:.3f}–{JOINED}{moment(segment.end_s, 3)}",
            moment(segment.worst_at_s, 3),
            _signed(segment.worst_n),
            f"{segment.worst_n / found.weight_n:.3g}",
            segment.text,
        )
        for i, segment in enumerate(ranked, start=1)
    )
    text = "The worst first; the numbers are those of the plot."
    return (Block(title, text, head=head, rows=rows, open_rows=OPEN_ROWS),)


def _rank(found: Feasibility) -> Rank:
    worst = float(found.upper[found.worst])
    speed = found.speeds.feasible_speed
    cells = (
        ("feasible", "yes" if found.all_feasible else "no"),
        ("of the samples", percent(float(found.feasible.mean()))),
        ("worst d over the weight", _over_weight(found)),
        ("at", moment(found.time[found.worst])),
        ("feasible speed", "none" if speed is None else _floored(speed)),
        ("stretches", str(len(found.segments()))),
    )
    return Rank(worst, cells)
