"""One panel of a plot over time: lines, a band, marks with their labels, and bars of contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.reports.labels import Place, placed
from surefoot.reports.roles import PLATE, POINTS_AN_INCH, ROLES
from surefoot.reports.ticks import LEGEND_PT, TICKS_PT, Tick, draw_even, draw_ticks, draw_word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Edges = tuple[Float64[Array, " n"], Float64[Array, " n"]]
Touch = Literal["face", "edge", "point", "moving"]

MOST_POINTS = 2000  # of a line: up to 150 kB of SVG; every peak is kept
CLEARANCE_M = 0.08  # shown beyond support and centre of mass; a ZMP farther away leaves the plot
CAPPED_ABOVE = 1.5  # times the usual top of a panel; lower peaks are simply shown
SEEN = 0.004  # of a panel's height: about half a line's width; a narrower band is only the line
LABEL_ROWS = 3
ROW_PT = 12.5  # of labels above a panel
SIGN_PT = 5.0  # mean width of a sign of 8 pt; letters differ from reader to reader


@dataclass(frozen=True, slots=True)
class Line:
    """One quantity over time; not finite where it does not exist."""

    label: str
    values: Float64[Array, " n"]
    role: str
    dashed: bool = False
    time: Float64[Array, " n"] | None = None
    """Its own moments, s; None: those of the plot."""
    width: float = 1.3
    """pt."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of the first line that has a name."""

    t: float
    value: float
    label: str
    short: str = ""
    """What is written where there is no room for the label."""
    bad: bool = True


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot over the shared time axis."""

    title: str
    """Quantity and unit, written beside the axis."""
    lines: tuple[Line, ...]
    band: Edges | None = None
    """Lower and upper edge of the support; not finite where there is none."""
    zero: bool = False
    """Whether a line at zero divides good from bad."""
    inches: float = 1.75
    marks: tuple[Mark, ...] = ()
    """The first ones are named while there is room above the panel."""
    sides: tuple[str, str] | None = None
    """What lies above zero and below it, which is then shaded as good."""
    other: tuple[str, float] | None = None
    """A second axis at the right: its quantity, and how much of the first one is 1 there."""
    bounds: Edges | None = None
    """Between which the first line certainly lies; drawn where they are visibly apart."""
    spread: tuple[str, Edges] | None = None
    """A name, and what lies between two other lines."""
    top: float | None = None
    """Where a panel with a zero line ends, instead of above its usual values."""
    ticks: tuple[Tick, ...] = ()
    """Events above the panel: where they were, and below that where they are."""
    even: tuple[float, str, str] | None = None
    """A value from which one may differ to both sides, and what that means: above, below."""
    limits: tuple[float, float] | None = None
    """Lower and upper end, where neither follows from the values."""
    spans: tuple[tuple[float, float, str], ...] = ()
    """Stretches of time with a word each, said at the top of the panel."""

    @property
    def labels_in(self) -> float:
        """Height of what stands above the panel."""
        if self.ticks:
            return (TICKS_PT + LEGEND_PT * (len(self.lines) > 1)) / POINTS_AN_INCH
        return (LABEL_ROWS * ROW_PT + 4.0) / POINTS_AN_INCH if self.marks else 0.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A span in the strip of contacts."""

    row: str
    start: float
    end: float
    role: str
    touch: Touch = "face"


def kept(values: Float64[Array, " n"], most: int = MOST_POINTS) -> Int64[IntArray, " k"]:
    """Samples of which a line is drawn: at most `most`, in order.

    Of every stretch the lowest and the highest value, and the first gap (a value that is not
    finite), so that neither a peak nor a gap is lost.
    """
    n = len(values)
    if n <= most:
        return np.arange(n)
    finite = np.isfinite(values)
    bounds = np.linspace(0, n, most // 3 + 1).astype(np.int64)
    chosen: list[int] = []
    for first, stop in pairwise(bounds):  # a bounded number of stretches
        inside = np.arange(first, stop)
        there, gaps = inside[finite[inside]], inside[~finite[inside]]
        picks = {int(gaps[0])} if len(gaps) else set()
        if len(there):
            picks |= {int(there[np.argmin(values[there])]), int(there[np.argmax(values[there])])}
        chosen += sorted(picks)
    return np.array(chosen, dtype=np.int64)


def draw_panel(ax: Axes, time: Float64[Array, " n"], panel: Panel) -> None:
    """A panel on axes whose limits of time are set already."""
    if panel.band is not None:
        _fill(ax, time, panel.band, "support", 0.22, "support")
    if panel.spread is not None:
        name, edges = panel.spread
        _fill(ax, time, edges, "com", 0.28, name)
    if panel.zero:
        ax.axhline(0.0, color=ROLES["ink"], linewidth=0.9)
    for line in panel.lines:
        keep = kept(line.values)
        ax.plot(
            (time if line.time is None else line.time)[keep],
            _gaps(line.values)[keep],
            color=ROLES[line.role],
            linestyle="--" if line.dashed else "-",
            linewidth=line.width,
            label=line.label,
        )
    limits = _limits(panel) if panel.limits is None else panel.limits
    if limits is not None:
        ax.set_ylim(*limits)
    if panel.zero and panel.limits is None:
        _cap(ax, time, panel)
    if panel.bounds is not None:
        _draw_bounds(ax, time, panel.bounds, panel.lines[0].role)
    ax.set_ylim(*ax.get_ylim())  # what is drawn from here on moves no limits
    if panel.sides is not None:
        _draw_sides(ax, panel.sides)
    if panel.marks:
        _draw_marks(ax, panel)
    if panel.even is not None:
        draw_even(ax, panel.even)
    if panel.ticks:
        draw_ticks(ax, panel.ticks, panel.inches)
    for start, end, word in panel.spans:  # a handful
        draw_word(ax, 0.5 * (start + end), word)
    if panel.other is not None:
        title, one = panel.other
        right = ax.secondary_yaxis(
            "right", functions=(lambda y: np.asarray(y) / one, lambda y: np.asarray(y) * one)
        )
        right.set_ylabel(title, color=ROLES["muted"])
        right.spines["right"].set_visible(False)
    ax.set_ylabel(panel.title)
    if panel.band is not None or panel.spread is not None or len(panel.lines) > 1:
        lift = TICKS_PT / POINTS_AN_INCH if panel.ticks else panel.labels_in
        draw_legend(ax, lift_in=lift, tall_in=panel.inches)


def shown_top(values: Float64[Array, " n"]) -> float:
    """Where a panel with a zero line ends: at the highest value, or where peaks would flatten it.

    The usual: three times what 97 of 100 values stay under, and no less than twice the depth.
    """
    found = values[np.isfinite(values)]
    if len(found) == 0:
        return 0.0
    lowest, highest = float(found.min()), float(found.max())
    top = max(3.0 * float(np.quantile(found, 0.97)), -2.0 * lowest)
    return highest if highest <= CAPPED_ABOVE * top else top


def draw_bars(ax: Axes, bars: Sequence[Bar], rows: Sequence[str]) -> None:
    """Rows of bars; what touches is told by tone and hatch, not by colour."""
    styles: dict[Touch, tuple[float, str | None]] = {
        "face": (1.0, None),
        "edge": (0.38, None),
        "point": (0.0, "|||"),  # dots would be 300 kB of circles
        "moving": (0.0, "////"),
    }
    for row, role, touch in dict.fromkeys((bar.row, bar.role, bar.touch) for bar in bars):
        spans = [(b.start, b.end - b.start) for b in bars if (b.row, b.touch) == (row, touch)]
        tone, hatch = styles[touch]
        y = rows.index(row)
        if tone:
            ax.broken_barh(spans, (y - 0.31, 0.62), facecolor=ROLES[role], alpha=tone, linewidth=0)
        ax.broken_barh(
            spans,
            (y - 0.31, 0.62),
            facecolor="none",
            edgecolor=ROLES[role],
            hatch=hatch,
            linewidth=0.8,
        )
    used = list(dict.fromkeys(bar.touch for bar in bars))
    if used and used != ["face"]:
        for touch in (touch for touch in styles if touch in used):
            tone, hatch = styles[touch]
            fill = {"facecolor": ROLES["muted"], "alpha": tone} if tone else {"facecolor": "none"}
            ax.fill_between([], [], label=touch, edgecolor=ROLES["muted"], hatch=hatch, **fill)
        ax.legend(
            loc="upper right",
            bbox_to_anchor=(1.0, -20.0 / (16.0 * max(len(rows), 1))),
            ncols=4,
            fontsize=8.5,
            borderaxespad=0.0,
            borderpad=0.0,
            handlelength=1.8,
        )
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0.0)
    ax.grid(False)


def draw_legend(ax: Axes, *, lift_in: float = 0.0, tall_in: float = 1.0) -> None:
    """Above the axes, where no line can run through it."""
    ax.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 0.99 + lift_in / tall_in),
        ncols=4,
        fontsize=8.5,
        borderaxespad=0.0,
        borderpad=0.2,
        handlelength=1.8,
    )


def _gaps(values: Float64[Array, " n"]) -> Float64[Array, " n"]:
    """NaN where a value is not finite: a line leaves that out."""
    return np.where(np.isfinite(values), values, np.nan)


def _fill(
    ax: Axes, time: Float64[Array, " n"], edges: Edges, role: str, alpha: float, label: str
) -> None:
    lower, upper = edges
    keep = np.union1d(kept(lower), kept(upper))
    ax.fill_between(
        time[keep],
        _gaps(lower)[keep],
        _gaps(upper)[keep],
        color=ROLES[role],
        alpha=alpha,
        linewidth=0.0,
        label=label,
    )


def _draw_bounds(ax: Axes, time: Float64[Array, " n"], bounds: Edges, role: str) -> None:
    low, high = ax.get_ylim()
    lower, upper = (_gaps(edge) for edge in bounds)
    apart = upper - lower > SEEN * (high - low)
    if apart.any():
        edges = (np.where(apart, lower, np.nan), np.where(apart, upper, np.nan))
        _fill(ax, time, edges, role, 0.35, "between its bounds")


def _draw_sides(ax: Axes, sides: tuple[str, str]) -> None:
    low, high = ax.get_ylim()
    ax.axhspan(min(low, 0.0), 0.0, color=ROLES["good"], alpha=0.13, linewidth=0.0, zorder=0)
    places = ((sides[0], "bad", 1.0, "top", high), (sides[1], "good", 0.0, "bottom", -low))
    for text, role, y, side, room in places:
        if room > 0.15 * (high - low):
            ax.annotate(
                text,
                (0.0, y),
                xycoords="axes fraction",
                xytext=(4.0, -3.0 if y else 3.0),
                textcoords="offset points",
                va=side,
                fontsize=8.0,
                color=ROLES[role],
                bbox=PLATE,
                zorder=5,
            )


def _draw_marks(ax: Axes, panel: Panel) -> None:
    """Points on the line, and names above the panel, each beside the line that leads to it."""
    (start, end), (low, high) = ax.get_xlim(), ax.get_ylim()
    box = ax.get_window_extent().width  # at one dot a point
    texts = [
        (f"{mark.label}, {mark.value:,.0f} ▲" if mark.value > high else mark.label, mark.short)
        for mark in panel.marks
    ]
    places = placed(
        [(mark.t - start) / (end - start) * box for mark in panel.marks],
        [[SIGN_PT * len(text) for text in forms if text] for forms in texts],
        width=box,
        rows=LABEL_ROWS,
    )
    point = (high - low) / (panel.inches * POINTS_AN_INCH)  # one point of the sheet, in values
    for mark, forms, place in zip(panel.marks, texts, places, strict=True):
        cut, colour = mark.value > high, ROLES["bad" if mark.bad else "good"]
        y = min(mark.value, high)
        ax.plot(
            [mark.t],
            [y],
            marker="^" if cut else "o",
            markersize=5.5,
            markerfacecolor=colour,
            markeredgecolor=ROLES["paper"],
            markeredgewidth=0.8,
            clip_on=False,
            zorder=6,
            scaley=False,
        )
        _draw_name(ax, mark, forms, place, y, point)
    ax.set_ylim(low, high)


def _draw_name(
    ax: Axes, mark: Mark, forms: tuple[str, str], place: Place | None, y: float, point: float
) -> None:
    """The name of a mark above the panel with its line; its short form beside it without a place.

    Args:
        y: where the mark is drawn.
        point: one point of the sheet, in values.
    """
    if place is None:
        ax.annotate(
            mark.short,
            (mark.t, y),
            xytext=(5.0, -1.0),
            textcoords="offset points",
            fontsize=8.0,
            bbox=PLATE,
            zorder=7,
        )
        return
    middle = ax.get_ylim()[1] + point * (4.0 + ROW_PT * (place.row + 0.5))
    ax.plot(
        [mark.t, mark.t],
        [y, middle + 3.0 * point],
        color=ROLES["muted"],
        linewidth=0.6,
        clip_on=False,
        zorder=4,
        scaley=False,
    )
    ax.annotate(
        forms[place.form],
        (mark.t, middle),
        xytext=(-4.0 if place.leftward else 4.0, 0.0),
        textcoords="offset points",
        ha="right" if place.leftward else "left",
        va="center",
        fontsize=8.0,
        annotation_clip=False,
    )


def _limits(panel: Panel) -> tuple[float, float] | None:
    """What a panel with a support shows: support and dashed lines, and a margin around them."""
    if panel.band is None:
        return None
    shown = [*panel.band, *(line.values for line in panel.lines if line.dashed)]
    values = np.concatenate(shown)
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return None
    return float(values.min()) - CLEARANCE_M, float(values.max()) + CLEARANCE_M


def _cap(ax: Axes, time: Float64[Array, " n"], panel: Panel) -> None:
    """End a panel above its usual values where a few peaks would flatten all else, and name them.

    Marks name their peaks themselves.
    """
    values = np.concatenate([line.values for line in panel.lines])
    found = values[np.isfinite(values)]
    if len(found) == 0:
        return
    top = shown_top(values) if panel.top is None else panel.top
    highest = float(found.max())
    if highest <= top:
        return
    lowest = float(found.min())
    ax.set_ylim(lowest - 0.05 * (top - lowest), top)
    if panel.marks or panel.sides is not None:
        return
    at = float(time[np.nanargmax(np.where(np.isfinite(values), values, np.nan))])
    late = at > 0.5 * float(time[0] + time[-1])
    ax.annotate(
        f"peak {highest:,.0f} ▸" if late else f"◂ peak {highest:,.0f}",
        (at, top),
        xytext=(-6 if late else 6, -3),
        textcoords="offset points",
        ha="right" if late else "left",
        va="top",
        color=ROLES["bad"],
        bbox=PLATE,
    )
