"""A clip before and after, drawn: d over time, the warp, what could be chosen, and pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.adapters.adaptation import Adaptation
from surefoot.arrays import Array, Float64
from surefoot.index.index import Feasibility
from surefoot.reports import panels, plots, staging
from surefoot.reports.changes import (
    Event,
    Segment,
    events_of,
    segments_of,
    span_of,
    stretches_of,
)
from surefoot.reports.choices import choice_of
from surefoot.reports.filmstrip import PICTURES, adapted_strip, svgs_of
from surefoot.reports.parts import Block
from surefoot.reports.phrases import moment
from surefoot.reports.ticks import Tick

D_IN, NEAR_IN, WARP_IN, SLOPE_IN = 2.6, 1.3, 1.25, 1.25
FINE = 1200  # moments at which the warp is drawn
SMALL = 0.15  # of the whole height: lower peaks are shown once more, near zero
MOST_CHOICES = 4  # segments whose choices are drawn
STRONG, THIN = 1.7, 1.0  # pt


def over_time_block(found: Adaptation, label: str) -> Block:
    """Block of d before and after, each over its own time, with events and contacts."""
    text = (
        "Above zero the wrench d newtons away is missing, below it is to spare. Grey: the original,"
        " over its own time; blue: the adapted clip, over the new one. ▲ lift-off, ▼ touch-down,"
        " blue of the left foot, brown of the right: hollow where they were, full where they are."
        " Grey stretches: the segments that were worked on."
    )
    return Block("Feasibility before and after", text, (d_svg(found, label),))


def d_svg(found: Adaptation, label: str) -> str:
    """The plot of d before and after, as figures 5, 7 and 9 of Zheng and Yamane."""
    before, after = found.before, found.after
    bars, rows = _bars(found)
    return plots.over_time(
        _whole(found),
        _d_panels(before, after, events_of(found)),
        bars=bars,
        rows=rows,
        shaded=stretches_of(found),
        tone="muted",
        label=f"The index d over time before and after, and what touches. {label}",
    )


def _whole(found: Adaptation) -> Float64[Array, " 2"]:
    """The first and the last moment of both clips, s."""
    ends = [one.clip.motion.time[[0, -1]] for one in (found.before, found.after)]
    return np.array([min(a for a, _ in ends), max(b for _, b in ends)])


def _d_panels(
    before: Feasibility, after: Feasibility, events: Sequence[Event]
) -> list[panels.Panel]:
    """Both lines, and once more near zero where they cross it by little."""
    lines = (
        panels.Line("before", before.upper, "muted", time=before.time, width=THIN),
        panels.Line("after", after.upper, "zmp", time=after.time, width=STRONG),
    )
    finite = [one.upper[np.isfinite(one.upper)] for one in (before, after)]
    low = min((float(values.min()) for values in finite if len(values)), default=-1.0)
    top = max(panels.shown_top(values) for values in finite)
    whole = panels.Panel(
        "d, N",
        lines,
        zero=True,
        inches=D_IN,
        sides=("missing: not feasible", "to spare: feasible"),
        other=("over the weight", before.weight_n),
        top=top,
        ticks=tuple(Tick(e.t, e.was, e.lifts, e.role) for e in events),
    )
    if not 0.0 < top < SMALL * (top - low):
        return [whole]
    near = panels.Panel(
        "near zero",
        lines,
        zero=True,
        inches=NEAR_IN,
        sides=("missing", "to spare"),
        other=("", before.weight_n),
        limits=(-1.25 * top, 1.25 * top),
    )
    return [whole, near]


def _bars(found: Adaptation) -> tuple[list[panels.Bar], list[str]]:
    """Contacts before, in grey, and after, link by link."""
    old, rows = staging.contact_bars(found.before, by_foot=True)
    new, _ = staging.contact_bars(found.after, by_foot=True)
    if found.timing is None:
        return new, rows
    grey = {row: f"{row.removesuffix(' foot')}, before" for row in rows}
    bars = [panels.Bar(grey[bar.row], bar.start, bar.end, "muted", bar.touch) for bar in old]
    return [*bars, *new], [name for row in rows for name in (grey[row], row)]


def warp_blocks(found: Adaptation) -> tuple[Block, ...]:
    """How much later each moment happens, and how much slower; nothing without a timing."""
    if found.timing is None:
        return ()
    text = (
        "Every pose is kept and happens at another moment: above, by how much later; below, t′:"
        " above 1 slower than the original, below 1 faster. Over the new time, as the plot before;"
        " numbers: the segments of the table."
    )
    return (Block("The time warp", text, (warp_svg(found),)),)


def warp_svg(found: Adaptation) -> str:
    """The plot of t − s and t′ over the new time."""
    timing, time = found.timing, found.before.clip.motion.time
    assert timing is not None
    s = np.union1d(np.linspace(time[0], time[-1], FINE), time)
    t = timing(s)
    words = tuple(
        (*span_of(found, segment), str(segment.number))
        for segment in segments_of(found)
        if segment.round == 1
    )
    ticks = tuple(Tick(e.t, e.was, e.lifts, e.role) for e in events_of(found))
    later = panels.Panel(
        "t − s, ms",
        (panels.Line("", 1000.0 * (t - s), "zmp", time=t, width=STRONG),),
        inches=WARP_IN,
        even=(0.0, "later", "sooner"),
        spans=words,
        ticks=ticks,
    )
    slower = panels.Panel(
        "t′",
        (panels.Line("", timing.slope(s), "com", time=t, width=STRONG),),
        inches=SLOPE_IN,
        even=(1.0, "slower", "faster"),
    )
    label = (
        f"The time warp: moments happen up to {1000.0 * np.abs(t - s).max():.0f} ms sooner or"
        f" later, t′ lies between {timing.slope(s).min():.2f} and {timing.slope(s).max():.2f}"
    )
    return plots.over_time(
        _whole(found),
        [later, slower],
        shaded=stretches_of(found),
        tone="muted",
        other=True,
        label=label,
    )


def choice_blocks(found: Adaptation) -> tuple[Block, ...]:
    """The coefficients that could be chosen, and the functions that they make, by segment."""
    drawn = [
        (segment, choice)
        for segment in segments_of(found)
        if segment.coefficients
        and segment.round == 1
        and (choice := choice_of(found, segment)) is not None
    ]
    if not drawn:
        return ()
    shown = sorted(drawn, key=lambda pair: -(pair[0].q_before or 0.0))[:MOST_CHOICES]
    shown.sort(key=lambda pair: pair[0].number)
    basis = shown[0][0].basis
    text = (
        f"Each point is a warp of basis ‘{basis}’ in which time runs forward (inside the line),"
        " coloured by Q, the worst d of the segment over the weight, of which the points show a"
        " lower bound. Diamond and strong line: what was chosen;"
        " blue: what the clip does in the end, where that was moved on, frame by frame or by later"
        " rounds."
        " As figure 4 of Zheng and Yamane."
    )
    if any(len(segment.coefficients) > basis_shown(segment) for segment, _ in shown):
        text += " There are more coefficients than two: a projection."
    return tuple(
        Block(
            f"What could be chosen: segment {segment.number},"
            f" {moment(segment.start)} to {moment(segment.end)}",
            text if i == 0 else "",
            (plots.choice(choice, label=_choice_label(segment)),),
        )
        for i, (segment, choice) in enumerate(shown)
    )


def basis_shown(segment: Segment) -> int:
    """How many coefficients a picture of two free ones holds: poly3 and smooth have three."""
    return 3 if segment.basis in ("poly3", "smooth") else 2


def _choice_label(segment: Segment) -> str:
    return (
        f"Samples of the region of segment {segment.number} coloured by Q, the chosen"
        " coefficients, and the canonical functions that they make"
    )


def picture_blocks(found: Adaptation) -> tuple[Block, ...]:
    """The adapted robot over the original at lift-offs, mid-swings and touch-downs."""
    svgs = picture_svgs(found)
    if not svgs:
        return ()
    text = (
        "The adapted robot over the original at the same moment, transparent: at each lift-off,"
        " mid-swing and touch-down of the adapted clip. Apart: the links that lie farthest from"
        " where they were at that moment."
    )
    return (Block("Adapted over original", text, svgs),)


def picture_svgs(found: Adaptation, most: int = PICTURES) -> tuple[str, ...]:
    """Those pictures in rows, as figures 6a, 8a and 10a of Zheng and Yamane."""
    strip = adapted_strip(found, most)
    return () if strip is None else svgs_of(strip)
