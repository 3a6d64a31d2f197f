"""What a report says and shows about the feasibility index of a clip."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.contacts.balance import Balance
from surefoot.contacts.support import support
from surefoot.dynamics.batch import Batch
from surefoot.index.index import Feasibility
from surefoot.index.segments import Segment
from surefoot.motion.motion import Clip
from surefoot.reports import panels, plots, settings
from surefoot.reports.page import Block, Context, KeyFigure, Part, Rank
from surefoot.reports.phrases import (
    counted,
    feet_of,
    foot_of,
    length,
    moment,
    newtons,
    of_weight,
    percent,
    role_of,
)
from surefoot.reports.player import Arrow, Curve, Polygon, Track, actor, stance_spans
from surefoot.reports.sections import provenance

MOST_NAMED = 6  # worst points that are marked in the plot
OPEN_ROWS = 8  # stretches that are seen without unfolding the table
TALL_IN, NEAR_IN = 2.6, 1.15
FLAT = 6.0  # a top so many times the depth below zero leaves nothing to see there
JOINED = "\N{WORD JOINER}"
BESIDE_S = 1e-4  # off a jump, to its own side: a hundredth of a sample, and more than rounding
FAR_M = 0.5  # a ZMP farther outside says little; the arrow then starts at the reference
TOUCHES: tuple[panels.Touch, ...] = ("point", "edge", "face")


def feasibility_part(value: object, context: Context) -> Part:
    """The index: whether, how far, when and why not, and how slow it would have to be."""
    found = cast("Feasibility", value)  # the table of drawers chose this function by type
    batch = Batch(found.robot, found.robot.qpos(found.clip.motion))
    ranked = _worst_first(found)
    told = any(isinstance(other, Clip) for other in context.beside)
    return Part(
        sentences=_sentences(found),
        figures=_figures(found, context),
        blocks=(
            _over_time(found, ranked, context),
            *_segments(found, ranked),
            *settings.joint_blocks(found),
            *settings.budget_blocks(found),
            settings.judged_with(found),
        ),
        notices=(*found.notices, *(() if told else found.robot.notices)),
        provenance=() if told else provenance(found.clip, found.robot),
        actors=() if told else (actor(batch, found.clip.motion.time),),
        tracks=(_zmp_track(found),),
        polygons=(_polygon(found),),
        stances=() if told else stance_spans(found.clip.contacts, found.robot),
        worst_at=_moment(found, found.worst),
        terrain=None if told else found.clip.terrain,
        arrows=(_arrow(found),),
        curve=_curve(found),
        opens_at=_moment(found, found.worst),
        rank=_rank(found),
    )


def _worst_first(found: Feasibility) -> list[Segment]:
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
    bars, rows = _bars(found)
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


def _bars(found: Feasibility) -> tuple[list[panels.Bar], list[str]]:
    """What of each link touches, as it was judged: by how many vertices carry, and if it slides."""
    cones, contacts, robot = found.samples.cones, found.clip.contacts, found.robot
    slides = np.array([stance.moving for stance in contacts.stances], dtype=np.bool_)
    links = np.array([stance.link for stance in contacts.stances])
    soles = {sole.link: sole.side for sole in robot.soles}
    order = sorted(dict.fromkeys(links.tolist()), key=lambda link: soles.get(link, "z"))
    feet = [foot_of(robot, link) for link in order]
    bars, rows = [], []
    for link, foot in zip(order, feet, strict=True):
        name = foot if foot and feet.count(foot) == 1 else link
        mine = links[cones.vertex_stance] == link
        count = np.bincount(cones.vertex_sample[mine], minlength=cones.n)
        loose = mine & slides[cones.vertex_stance]
        moving = np.bincount(cones.vertex_sample[loose], minlength=cones.n) == count
        code = np.where(count == 0, 0, np.where(moving, 4, np.minimum(count, 3)))
        rows.append(name)
        for start, end, kind in _runs(found.time, code):
            touch = "moving" if kind == 4 else TOUCHES[kind - 1]
            bars.append(panels.Bar(name, start, end, role_of(robot, link), touch))
    return bars, rows


def _runs(
    time: Float64[Array, " n"], code: Int64[IntArray, " n"]
) -> list[tuple[float, float, int]]:
    """First and last moment of every run of the same code that is not 0."""
    heads = np.flatnonzero(np.concatenate([[True], np.diff(code) != 0]))
    tails = np.append(heads[1:], len(code)) - 1
    return [
        (float(time[a]), float(time[b]), int(code[a]))
        for a, b in zip(heads, tails, strict=True)
        if code[a]
    ]


def _segments(found: Feasibility, ranked: list[Segment]) -> tuple[Block, ...]:
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
    return (Block("What is not feasible", text, head=head, rows=rows, open_rows=OPEN_ROWS),)


def _moment(found: Feasibility, i: int) -> float:
    """The moment of a sample; of one beside a contact change, a little to its side."""
    side = int(found.samples.side[i]) if 0 < i < found.samples.n - 1 else 0
    return float(found.time[i]) + BESIDE_S * side


def _told(found: Feasibility) -> Int64[IntArray, " k"]:
    """The samples that the player is given: highs and lows, and both sides of every jump."""
    jumps = np.flatnonzero(found.samples.side != 0)
    keep = panels.kept(found.upper, panels.MOST_POINTS * 3 // 4)
    if len(jumps) <= panels.MOST_POINTS // 4:
        keep = np.union1d(keep, jumps)
    return np.union1d(keep, [found.worst])


def _zmp_track(found: Feasibility) -> Track:
    keep, ground = _told(found), found.ground
    state = np.where(ground.defined, ground.outside.astype(np.int64), 2)
    points, distance = ground.zmp_w[keep], ground.outside_m[keep]
    return Track("ZMP", "judged", found.time[keep], points, state[keep], distance)


def _polygon(found: Feasibility) -> Polygon:
    keep = _told(found)
    return Polygon("support", found.time[keep], support(found.samples.cones.picked(keep)))


def _arrow(found: Feasibility) -> Arrow:
    """The required force at the ZMP; where there is none nearby, at the reference."""
    keep, ground = _told(found), found.ground
    near = ground.defined & (ground.outside_m < FAR_M)
    tail = np.where(near[:, None], ground.zmp_w, found.samples.ref_w)
    return Arrow(
        "required force at the ZMP, or at the reference where no ZMP is near",
        found.time[keep],
        tail[keep],
        found.samples.wrench[keep, :3] / found.weight_n,
        (~found.feasible[keep]).astype(np.int64),
    )


def _curve(found: Feasibility) -> Curve:
    """D for the strip along the slider, and what limits at each of its samples, in words."""
    keep = _told(found)
    words = [found.limits.phrase(i) for i in keep.tolist()]  # a bounded number
    phrases = tuple(dict.fromkeys(words))
    number = {phrase: k for k, phrase in enumerate(phrases)}
    state = np.where(found.feasible, 0, 1)
    return Curve(
        found.time[keep],
        found.upper[keep],
        np.where(np.isneginf(found.upper), 2, state)[keep],
        panels.shown_top(found.upper),
        found.weight_n,
        phrases,
        np.array([number[word] for word in words], dtype=np.int64),
    )


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
