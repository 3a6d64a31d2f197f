"""Plots as inline SVG: the only place where matplotlib is imported, when a plot is drawn.

Colours are roles: matplotlib draws in stand-ins, and the page's style sheet says what they are, so
that one file serves light and dark pages.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 2000  # of a line: up to 150 kB of SVG; every peak is kept
WIDTH_IN = 9.6
LEFT_IN, RIGHT_IN = 1.05, 0.15
POINTS_AN_INCH = 72.0  # of matplotlib's SVG
CLEARANCE_M = 0.08  # shown beyond support and centre of mass; a ZMP farther away leaves the plot
CAPPED_ABOVE = 1.5  # times the usual top of a panel; lower peaks are simply shown
ROLES = {
    "ink": "#010a01",
    "muted": "#010a02",
    "grid": "#010a03",
    "zmp": "#010a04",
    "com": "#010a05",
    "support": "#010a06",
    "bad": "#010a07",
    "left": "#010a08",
    "right": "#010a09",
    "paper": "#010a0a",
}
"""Stand-in of each colour; the style sheet has a `--name` for each."""


@dataclass(frozen=True, slots=True)
class Line:
    """One quantity over time; not finite where it does not exist."""

    label: str
    values: Float64[Array, " n"]
    role: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot over the shared time axis."""

    title: str
    """Quantity and unit, written beside the axis."""
    lines: tuple[Line, ...]
    band: tuple[Float64[Array, " n"], Float64[Array, " n"]] | None = None
    """Lower and upper edge of the support; not finite where there is none."""
    zero: bool = False
    """Whether a line at zero divides good from bad."""
    inches: float = 1.75


@dataclass(frozen=True, slots=True)
class Bar:
    """A span in the strip of contacts."""

    row: str
    start: float
    end: float
    role: str
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Footprint:
    """The outline of a stance on the ground, in the plot's axes, m."""

    corners: Float64[Array, "k 2"]
    role: str


@dataclass(frozen=True, slots=True)
class Range:
    """What a joint uses of its range."""

    name: str
    low: float
    high: float
    used_low: float
    used_high: float


def over_time(
    time: Float64[Array, " n"],
    panels: Sequence[Panel],
    *,
    bars: Sequence[Bar] = (),
    rows: Sequence[str] = (),
    shaded: Sequence[tuple[float, float]] = (),
    label: str,
) -> str:
    """Panels over one time axis, with bars for contacts below and shaded spans behind.

    Args:
        rows: names of the rows of bars, from top to bottom.
        label: what the plot shows, for those who do not see it.
    """
    strip = 0.22 * len(rows)
    heights = [panel.inches for panel in panels] + ([strip] if rows else [])
    with _sheet(sum(heights) + 0.3 * len(heights) + 0.35) as figure:
        tops = figure.get_figheight() - 0.12 - np.cumsum([0.0, *(h + 0.3 for h in heights[:-1])])
        axes = [
            _axes(figure, LEFT_IN, top - h, WIDTH_IN - LEFT_IN - RIGHT_IN, h)
            for top, h in zip(tops, heights, strict=True)
        ]
        for ax, panel in zip(axes, panels, strict=False):
            _panel(ax, time, panel)
        if rows:
            _bars(axes[-1], bars, rows)
        for ax in axes:
            ax.set_xlim(float(time[0]), float(time[-1]) if len(time) > 1 else float(time[0]) + 1.0)
            for start, end in shaded:
                ax.axvspan(start, end, color=ROLES["bad"], alpha=0.12, linewidth=1.0, zorder=0)
            ax.tick_params(labelbottom=ax is axes[-1])
        axes[-1].set_xlabel("time, s")
        height = figure.get_figheight()
        box = {
            "t0": axes[0].get_xlim()[0],
            "t1": axes[0].get_xlim()[1],
            "x0": LEFT_IN * POINTS_AN_INCH,
            "x1": (WIDTH_IN - RIGHT_IN) * POINTS_AN_INCH,
            "y0": 0.12 * POINTS_AN_INCH,
            "y1": (height - (tops[-1] - heights[-1])) * POINTS_AN_INCH,
        }
        return _svg(figure, label, {key: f"{value:.6g}" for key, value in box.items()})


def from_above(
    paths: Sequence[tuple[str, Float64[Array, "n 2"], str]],
    footprints: Sequence[Footprint],
    *,
    names: tuple[str, str] = ("forward", "left"),
    outside: Bool[BoolArray, " n"] | None = None,
    label: str,
) -> str:
    """Paths and footprints seen from above, with equal scales.

    Args:
        paths: label, points and role of each path; not finite where there is none.
        names: directions of the points' two columns, to the right and upwards on the sheet.
        outside: samples of the first path that are marked.
        label: what the plot shows, for those who do not see it.
    """
    low, high = _window(paths, footprints)
    wide = WIDTH_IN - LEFT_IN - RIGHT_IN
    tall = float(np.clip(wide * (high[1] - low[1]) / (high[0] - low[0]), 1.6, 5.0))
    scale = max((high[0] - low[0]) / wide, (high[1] - low[1]) / tall)  # m/in, the same both ways
    middle, half = 0.5 * (low + high), 0.5 * scale * np.array([wide, tall])
    with _sheet(tall + 0.8) as figure:
        ax = _axes(figure, LEFT_IN, 0.5, wide, tall)
        for footprint in footprints:
            colour = ROLES[footprint.role]
            ax.fill(*footprint.corners.T, facecolor=colour, alpha=0.14, edgecolor="none")
            ax.fill(*footprint.corners.T, facecolor="none", edgecolor=colour, linewidth=1.0)
        for name, points, role in paths:
            keep = _spread(len(points))
            style = "--" if role == "com" else "-"
            ax.plot(*points[keep].T, color=ROLES[role], linestyle=style, linewidth=1.3, label=name)
        if outside is not None and outside.any():
            points = paths[0][1][outside]
            keep = _spread(len(points), MOST_POINTS // 4)
            ax.plot(
                *points[keep].T,
                color=ROLES["bad"],
                linestyle="none",
                marker="x",
                markersize=3.0,
                markeredgewidth=0.7,
                label="outside the support",
            )
        ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
        ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
        ax.set_xlabel(f"{names[0]}, m")
        ax.set_ylabel(f"{names[1]}, m")
        _legend(ax)
        return _svg(figure, label, {})


def joint_ranges(ranges: Sequence[Range], *, label: str) -> str:
    """For each joint a bar from its lowest to its highest position within its limits."""
    with _sheet(0.24 * len(ranges) + 0.65) as figure:
        ax = _axes(figure, 2.2, 0.5, WIDTH_IN - 2.2 - RIGHT_IN, 0.24 * len(ranges))
        for i, joint in enumerate(ranges):
            span = joint.high - joint.low
            low, high = (joint.used_low - joint.low) / span, (joint.used_high - joint.low) / span
            beyond = low < 0.0 or high > 1.0
            low, high = max(low, -0.09), min(high, 1.0 + 0.09)
            ax.plot([0.0, 1.0], [i, i], color=ROLES["grid"], linewidth=6.0, solid_capstyle="butt")
            colour = ROLES["bad" if beyond else "support"]
            ax.plot([low, high], [i, i], color=colour, linewidth=6.0, solid_capstyle="butt")
            if beyond:
                ax.text(max(high, 1.0) + 0.01, i, "beyond", color=colour, va="center", fontsize=8.0)
        ax.set_yticks(range(len(ranges)), [joint.name for joint in ranges])
        ax.set_ylim(len(ranges) - 0.5, -0.5)
        ax.set_xlim(-0.1, 1.25)
        ax.set_xticks([0.0, 0.5, 1.0], ["lower limit", "middle", "upper limit"])
        ax.grid(False)
        return _svg(figure, label, {})


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


def _gaps(values: Float64[Array, " n"]) -> Float64[Array, " n"]:
    """NaN where a value is not finite: a line leaves that out."""
    return np.where(np.isfinite(values), values, np.nan)


def _spread(n: int, most: int = MOST_POINTS) -> Int64[IntArray, " k"]:
    """Indices of at most `most` points, evenly spread, first and last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


@contextmanager
def _sheet(height_in: float) -> Iterator[Figure]:
    """A figure with the house's style; nothing of matplotlib's global state is changed."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style: dict[Any, object] = {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: widths are the same everywhere
        "font.size": 9.0,
        "svg.fonttype": "none",
        "svg.hashsalt": "surefoot",
        "text.color": ROLES["ink"],
        "text.parse_math": False,  # a joint may have a dollar in its name
        "axes.labelcolor": ROLES["muted"],
        "axes.edgecolor": ROLES["grid"],
        "axes.facecolor": "none",
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.unicode_minus": True,
        "grid.color": ROLES["grid"],
        "grid.linewidth": 0.6,
        "xtick.color": ROLES["grid"],
        "ytick.color": ROLES["grid"],
        "xtick.labelcolor": ROLES["muted"],
        "ytick.labelcolor": ROLES["muted"],
        "legend.frameon": False,
    }
    # The user's own style must not change the page; to ask for the backend would load one.
    defaults = {k: v for k, v in mpl.rcParamsDefault.items() if not k.startswith("backend")}
    with mpl.rc_context():
        mpl.rcParams.update(defaults)
        mpl.rcParams.update(style)
        figure = Figure(figsize=(WIDTH_IN, height_in))
        figure.patch.set_alpha(0.0)
        yield figure


def _axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place in inches: fixed, so that the page knows where time lies."""
    tall = figure.get_figheight()
    return figure.add_axes((left / WIDTH_IN, bottom / tall, width / WIDTH_IN, height / tall))


def _panel(ax: Axes, time: Float64[Array, " n"], panel: Panel) -> None:
    if panel.band is not None:
        lower, upper = panel.band
        keep = np.union1d(kept(lower), kept(upper))
        ax.fill_between(
            time[keep],
            _gaps(lower)[keep],
            _gaps(upper)[keep],
            color=ROLES["support"],
            alpha=0.22,
            linewidth=0.0,
            label="support",
        )
    if panel.zero:
        ax.axhline(0.0, color=ROLES["ink"], linewidth=0.9)
    for line in panel.lines:
        keep = kept(line.values)
        ax.plot(
            time[keep],
            _gaps(line.values)[keep],
            color=ROLES[line.role],
            linestyle="--" if line.dashed else "-",
            linewidth=1.3,
            label=line.label,
        )
    limits = _limits(panel)
    if limits is not None:
        ax.set_ylim(*limits)
    if panel.zero:
        _cap(ax, time, panel)
    ax.set_ylabel(panel.title)
    if panel.band is not None or len(panel.lines) > 1:
        _legend(ax)


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

    The usual: three times what 97 of 100 values stay under, and no less than twice the depth.
    """
    values = panel.lines[0].values
    found = values[np.isfinite(values)]
    if len(found) == 0:
        return
    lowest, highest = float(found.min()), float(found.max())
    top = max(3.0 * float(np.quantile(found, 0.97)), -2.0 * lowest)
    if highest <= CAPPED_ABOVE * top:
        return
    ax.set_ylim(lowest - 0.05 * (top - lowest), top)
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
    )


def _bars(ax: Axes, bars: Sequence[Bar], rows: Sequence[str]) -> None:
    for bar in bars:
        y = rows.index(bar.row)
        ax.barh(
            y,
            bar.end - bar.start,
            left=bar.start,
            height=0.62,
            facecolor="none" if bar.faint else ROLES[bar.role],
            hatch="////" if bar.faint else None,
            edgecolor=ROLES[bar.role],
            linewidth=0.8,
        )
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0.0)
    ax.grid(False)


def _legend(ax: Axes) -> None:
    """Above the axes, where no line can run through it."""
    ax.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 0.99),
        ncols=4,
        fontsize=8.5,
        borderaxespad=0.0,
        borderpad=0.2,
        handlelength=1.8,
    )


def _window(
    paths: Sequence[tuple[str, Float64[Array, "n 2"], str]], footprints: Sequence[Footprint]
) -> tuple[Float64[Array, " 2"], Float64[Array, " 2"]]:
    """Footprints and the path of the centre of mass; a ZMP far away leaves the plot."""
    shown = [print_.corners for print_ in footprints]
    shown += [points for _, points, role in paths if role == "com" or not footprints]
    points = np.vstack(shown)
    points = points[np.all(np.isfinite(points), axis=1)]
    if len(points) == 0:
        return np.array([-0.5, -0.5]), np.array([0.5, 0.5])
    return points.min(axis=0) - CLEARANCE_M, points.max(axis=0) + CLEARANCE_M


def _svg(figure: Figure, label: str, data: dict[str, str]) -> str:
    """The figure as an element for a page: no prologue, own ids, roles for colours."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        # Letters that matplotlib's font lacks are only measured here: the reader's fonts draw them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    # The style element would rule the whole page; what it says stands in the page's own sheet.
    svg = re.sub(r"<(metadata|style)\b.*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number.group()):.2f}", svg)
    svg = re.sub(r"\s+xmlns(:\w+)?=\"[^\"]*\"", "", svg).replace("xlink:href", "href")
    for name, stand_in in ROLES.items():
        svg = svg.replace(stand_in, f"var(--{name})")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    view = re.search(r'viewBox="[^"]*"', svg)
    attributes = "".join(f' data-{key}="{value}"' for key, value in data.items())
    head = (
        f'<svg class="plot" {view.group(0) if view else ""} role="img"'
        f" aria-label={quoteattr(label)}{attributes}>"
    )
    return head + svg[svg.index(">") + 1 :].strip()


def own_ids(svg: str, prefix: str) -> str:
    """The same SVG with every id made unique in the page it goes into."""
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    return svg.replace("url(#", f"url(#{prefix}-").replace('href="#', f'href="#{prefix}-')
