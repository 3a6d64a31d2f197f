"""Plots as inline SVG: matplotlib is imported here, and in `raster`, when something is drawn.

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
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray
from surefoot.reports.panels import (
    CLEARANCE_M,
    MOST_POINTS,
    Bar,
    Panel,
    draw_bars,
    draw_legend,
    draw_panel,
)
from surefoot.reports.roles import POINTS_AN_INCH, ROLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 9.6
SQUARE_IN, FUNCTIONS = 2.35, 12  # of plots side by side: their height, curves of each colour
DIFFERS = 2e-3  # of a segment: half the width of a line
Q_GRADES = (
    (0.2, np.inf, "Q over 20 % of the weight", 0.22),
    (0.05, 0.2, "5 to 20 %", 0.45),
    (0.01, 0.05, "1 to 5 %", 0.7),
    (0.0, 0.01, "up to 1 %", 1.0),
)
"""Above and up to which Q over the weight a colour goes, its name and its opacity."""
LEFT_IN, RIGHT_IN = 1.05, 0.15
SPANS_APART = 1200.0  # of the sheet's width: half a point
OTHER_IN = 0.68  # at the right, for a second axis
TOP_IN, GAP_IN, FOOT_IN = 0.12, 0.3, 0.35  # above the panels, between them, below them


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


@dataclass(frozen=True, slots=True)
class Use:
    """What a joint uses of its torque and of its speed, over the limits; 0 where there is none."""

    name: str
    torque: float
    speed: float


def over_time(
    time: Float64[Array, " n"],
    panels: Sequence[Panel],
    *,
    bars: Sequence[Bar] = (),
    rows: Sequence[str] = (),
    shaded: Sequence[tuple[float, float]] = (),
    tone: str = "bad",
    other: bool = False,
    label: str,
) -> str:
    """Panels over one time axis, with bars for contacts below and shaded spans behind.

    Args:
        rows: names of the rows of bars, from top to bottom.
        tone: role of the shaded spans' colour.
        other: whether room for a second axis is left without one, so that plots line up.
        label: what the plot shows, for those who do not see it.
    """
    heights = [panel.inches for panel in panels] + ([0.22 * len(rows)] if rows else [])
    above = [panel.labels_in for panel in panels] + ([0.0] if rows else [])
    right = OTHER_IN if other or any(panel.other for panel in panels) else RIGHT_IN
    total = sum(heights) + sum(above) + GAP_IN * len(heights) + FOOT_IN
    with _sheet(total) as figure:
        falls = np.cumsum(above) + np.cumsum([0.0, *(h + GAP_IN for h in heights[:-1])])
        tops = figure.get_figheight() - TOP_IN - falls
        axes = [
            _axes(figure, LEFT_IN, top - h, WIDTH_IN - LEFT_IN - right, h)
            for top, h in zip(tops, heights, strict=True)
        ]
        for ax in axes:
            ax.set_xlim(float(time[0]), float(time[-1]) if len(time) > 1 else float(time[0]) + 1.0)
            _shade(ax, shaded, tone)
            ax.tick_params(labelbottom=ax is axes[-1])
        for ax, panel in zip(axes, panels, strict=False):
            draw_panel(ax, time, panel)
        if rows:
            draw_bars(axes[-1], bars, rows)
        axes[-1].set_xlabel("time, s")
        figure.align_ylabels(axes[: len(panels)])
        box = {
            "t0": axes[0].get_xlim()[0],
            "t1": axes[0].get_xlim()[1],
            "x0": LEFT_IN * POINTS_AN_INCH,
            "x1": (WIDTH_IN - right) * POINTS_AN_INCH,
            "y0": (TOP_IN + above[0]) * POINTS_AN_INCH,
            "y1": (figure.get_figheight() - (tops[-1] - heights[-1])) * POINTS_AN_INCH,
        }
        return _svg(figure, label, {key: f"{value:.6g}" for key, value in box.items()})


def _shade(ax: Axes, spans: Sequence[tuple[float, float]], tone: str) -> None:
    """Spans of time, marked over the whole height behind everything."""
    ax.broken_barh(
        _long_enough(spans, ax.get_xlim()),
        (0.0, 1.0),
        transform=ax.get_xaxis_transform(),
        color=ROLES[tone],
        alpha=0.12,
        linewidth=1.0,
        zorder=0,
    )


def _long_enough(
    spans: Sequence[tuple[float, float]], limits: tuple[float, float]
) -> list[tuple[float, float]]:
    """Start and length of each span; those that the sheet cannot tell apart are one."""
    least = (limits[1] - limits[0]) / SPANS_APART
    joined: list[list[float]] = []
    for start, end in sorted(spans):
        if joined and start - joined[-1][1] < least:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return [(start, end - start) for start, end in joined]


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
        draw_legend(ax)
        return _svg(figure, label, {})


@dataclass(frozen=True, slots=True)
class Choice:
    """Coefficients that could be chosen, how good each is, and the ones that were."""

    names: tuple[str, str]
    """Of the two that are shown."""
    points: Float64[Array, "c 2"]
    chosen: Float64[Array, " 2"]
    outline: Float64[Array, "k 2"]
    """Of the region in which time runs forward."""
    value: Float64[Array, " c"]
    """Q over the weight of each; NaN where it is not known."""
    near: Float64[Array, "g 2"]
    """A grid around the chosen ones."""
    near_value: Float64[Array, " g"]
    tau: Float64[Array, " t"]
    curves: Float64[Array, "c t"]
    """The canonical function of each of the points at tau."""
    curve: Float64[Array, " t"]
    """Of the chosen one."""
    written: Float64[Array, " t"]
    """What the clip does in the end: polished frame by frame, or warped again."""


def choice(shown: Choice, *, label: str) -> str:
    """Two free coefficients with their samples, and the canonical functions that these make.

    As figure 4 of Zheng and Yamane, coloured by Q, with what lies near the chosen ones larger.
    """
    titles = ("(a) coefficients", "near the chosen ones", "(b) canonical functions")
    with _sheet(SQUARE_IN + 1.0) as figure:
        wide = (WIDTH_IN - LEFT_IN - RIGHT_IN - 1.7) / 3.0
        axes = [_axes(figure, LEFT_IN + i * (wide + 0.85), 0.5, wide, SQUARE_IN) for i in range(3)]
        whole, close, right = axes
        closed = np.vstack([shown.outline, shown.outline[:1]])
        whole.plot(*closed.T, color=ROLES["muted"], linewidth=1.0)
        for rows, _, colour, alpha in _grades(shown.value):
            whole.plot(*shown.points[rows].T, **_dots(colour, alpha, "o", 3.6))
            for curve in shown.curves[rows[_spread(len(rows), FUNCTIONS)]]:  # a few dozen
                right.plot(shown.tau, curve, color=colour, alpha=0.6 * alpha, linewidth=0.7)
        for rows, _, colour, alpha in _grades(shown.near_value):
            close.plot(*shown.near[rows].T, **_dots(colour, alpha, "s", 5.6))
        for name, colour, alpha in _named(shown):
            whole.plot([], [], label=name, **_dots(colour, alpha, "o", 5.0))
        found: dict[str, Any] = {"color": ROLES["ink"], "zorder": 8, "label": "chosen"}
        edge = ROLES["paper"]
        for ax in (whole, close):
            ax.plot(*shown.chosen[:, None], linestyle="none", marker="D", markersize=6.5,
                    markeredgecolor=edge, **found)  # fmt: skip
            ax.set(xlabel=shown.names[0], ylabel=shown.names[1])
        right.plot(shown.tau, shown.curve, linewidth=2.0, **found)
        if np.abs(shown.written - shown.curve).max() > DIFFERS:
            right.plot(shown.tau, shown.written, color=ROLES["zmp"], linewidth=1.6, zorder=9)
            whole.plot([], [], color=ROLES["zmp"], linewidth=1.6, label="as written")
        right.plot([0.0, 1.0], [0.0, 1.0], color=ROLES["muted"], linewidth=0.8, linestyle="--")
        right.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), xlabel="t", ylabel="f₀(t)")
        for ax, title in zip(axes, titles, strict=True):
            ax.set_title(title, fontsize=9.0, loc="left", color=ROLES["muted"], pad=5.0)
            ax.locator_params(nbins=6)
        whole.legend(loc="lower left", bbox_to_anchor=(0.0, 1.085), ncols=6, fontsize=8.5,
                     borderaxespad=0.0, borderpad=0.0, handlelength=1.0,
                     columnspacing=1.4)  # fmt: skip
        return _svg(figure, label, {})


def _dots(colour: str, alpha: float, marker: str, size: float) -> dict[str, Any]:
    return {"color": colour, "alpha": alpha, "linestyle": "none", "marker": marker,
            "markersize": size, "markeredgewidth": 0.0}  # fmt: skip


def _named(shown: Choice) -> list[tuple[str, str, float]]:
    """Name, colour and opacity of the grades that a picture has."""
    both = _grades(np.concatenate([shown.value, shown.near_value]))
    return [(name, colour, alpha) for _, name, colour, alpha in both]


def _grades(value: Float64[Array, " c"]) -> list[tuple[Int64[IntArray, " k"], str, str, float]]:
    """Samples by how good they are, the worst first: rows, name, colour, opacity."""
    known = np.isfinite(value)
    found = [(np.flatnonzero(~known), "not judged", ROLES["muted"], 0.6)]
    for low, high, name, alpha in Q_GRADES:
        rows = np.flatnonzero(known & (value > low) & (value <= high))
        found.append((rows, name, ROLES["bad"], alpha))
    found.append((np.flatnonzero(known & (value <= 0.0)), "Q ≤ 0: feasible", ROLES["good"], 1.0))
    return [row for row in found if len(row[0])]


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


def uses(rows: Sequence[Use], *, label: str) -> str:
    """For each joint two bars: its largest torque and its largest speed over their limits."""
    tall = 0.3 * len(rows)
    most = max((max(row.torque, row.speed) for row in rows), default=1.0)
    with _sheet(tall + 0.95) as figure:
        ax = _axes(figure, 2.2, 0.5, WIDTH_IN - 2.2 - RIGHT_IN, tall)
        for name, values, role, at in (
            ("torque", [row.torque for row in rows], "left", -0.19),
            ("speed", [row.speed for row in rows], "right", 0.19),
        ):
            places = [i + at for i in range(len(rows))]
            ax.barh(places, values, height=0.32, color=ROLES[role], label=name)
        ax.axvline(1.0, color=ROLES["bad"], linewidth=1.2)
        ax.set_yticks(range(len(rows)), [row.name for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0.0, max(1.1, 1.05 * most))
        ax.set_xlabel("over the limit")
        ax.grid(visible=False, axis="y")
        draw_legend(ax)
        return _svg(figure, label, {})


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
        figure = Figure(figsize=(WIDTH_IN, height_in), dpi=POINTS_AN_INCH)
        figure.patch.set_alpha(0.0)
        yield figure


def _axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place in inches: fixed, so that the page knows where time lies."""
    tall = figure.get_figheight()
    return figure.add_axes((left / WIDTH_IN, bottom / tall, width / WIDTH_IN, height / tall))


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


def as_file(svg: str, style: str) -> str:
    """A plot of a page as a file of its own: the colours of light pages, on paper, no scripts.

    Args:
        style: the page's style sheet, which says what the roles' colours are.
    """
    light = dict(re.findall(r"--([\w-]+): (#\w+);", style[: style.index("@media")]))
    svg = re.sub(r"var\(--([\w-]+)\)", lambda role: light[role.group(1)], svg)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    paper = f'<rect width="100%" height="100%" fill="{light["paper"]}"/>'
    size = f' width="{box.group(1)}" height="{box.group(2)}"' if box else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg"{size} font-family="sans-serif"'
    end = svg.index(">") + 1
    return svg[:end].replace("<svg", head, 1) + paper + svg[end:] + "\n"


def own_ids(svg: str, prefix: str) -> str:
    """The same SVG with every id made unique in the page it goes into."""
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    return svg.replace("url(#", f"url(#{prefix}-").replace('href="#', f'href="#{prefix}-')
