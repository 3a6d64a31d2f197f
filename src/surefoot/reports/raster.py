"""Pictures as PNG without a graphics library: what a sheet holds, painted pixel by pixel.

The shapes of a sheet are few and convex, so coverage is a distance: a pixel's share of a shape is
how far its middle lies inside the edge, between 0 and 1 pixel. Words are set by matplotlib.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, ByteArray, Float64, UInt8
from surefoot.reports.sheet import GHOST, LABEL_PX, MARGIN, MOST_MARGIN_PX, Sheet

AROUND = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
INK = "#3c434b"
TEXT_PX = 12.0
DOTS_AN_INCH = 100.0
DOT_PX, CROSS_PX, CROSS_WIDTH_PX = 5.0, 6.0, 3.0  # as in the SVG


@dataclass(slots=True)
class _Canvas:
    """Pixels from 0 to 1, and where metres lie on them."""

    rgb: Float64[Array, "h w 3"]
    origin: Float64[Array, " 2"]
    scale: float
    unit: float
    """Pixels for each pixel of the SVG."""

    def px(self, flat: Float64[Array, "k 2"]) -> Float64[Array, "k 2"]:
        """Where points of the sheet lie."""
        return np.asarray(self.origin + self.scale * flat * np.array([1.0, -1.0]))

    def window(self, points: Float64[Array, "k 2"], beyond: float) -> tuple[slice, slice] | None:
        """The rows and columns around points, or nothing outside the picture."""
        tall, wide = self.rgb.shape[:2]
        low = np.floor(points.min(axis=0) - beyond - 1.0).astype(int)
        high = np.ceil(points.max(axis=0) + beyond + 1.0).astype(int)
        rows = slice(max(int(low[1]), 0), min(int(high[1]) + 1, tall))
        columns = slice(max(int(low[0]), 0), min(int(high[0]) + 1, wide))
        if rows.start >= rows.stop or columns.start >= columns.stop:
            return None
        return rows, columns

    def lay(
        self, where: tuple[slice, slice], cover: Float64[Array, "a b"], rgb: Array, alpha: float
    ) -> None:
        """A colour, or one for each pixel, over what is there."""
        share = (alpha * cover)[:, :, None]
        self.rgb[where] = self.rgb[where] * (1.0 - share) + rgb * share


def image(sheet: Sheet, width_px: float, *, fine: float = 2.0) -> UInt8[ByteArray, "h w 3"]:
    """What `sheet.svg(width_px, ...)` shows, without its words, on white.

    Args:
        fine: pixels for each pixel of the SVG.
    """
    canvas = _canvas(sheet, width_px, fine)
    fills = {f"url(#g{name})": (span, stops) for name, span, stops in sheet.gradients}
    starts = {first: stop for first, stop in sheet.ghosts}
    under: tuple[int, Array] | None = None
    for i, element in enumerate(sheet.elements):  # some hundred
        if i in starts:
            under = (starts[i], canvas.rgb.copy())
        _paint(canvas, element, fills)
        if under is not None and i + 1 == under[0]:  # a ghost is laid on as a whole
            canvas.rgb = (1.0 - GHOST) * under[1] + GHOST * canvas.rgb
            under = None
    return np.rint(255.0 * np.clip(canvas.rgb, 0.0, 1.0)).astype(np.uint8)


def labels(sheet: Sheet, width_px: float, *, fine: float = 2.0) -> list[tuple[float, str]]:
    """The words under the pictures, and where their middles lie across the image, px."""
    canvas = _canvas(sheet, width_px, fine)
    found = [(float(points[0, 0]), text) for kind, points, text in sheet.elements if kind == "text"]
    return [(float(canvas.origin[0] + canvas.scale * at), text) for at, text in found]


def png(
    rows: Sequence[tuple[UInt8[ByteArray, "_ _ 3"], Sequence[tuple[float, str]], str]],
    *,
    fine: float = 2.0,
) -> bytes:
    """Images one under the other, each with a heading above and words below, as a PNG file."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = [max((text.count("\n") + 1 for _, text in words), default=0) for _, words, _ in rows]
    line = LABEL_PX * fine
    heads = [1.6 * line * bool(head) for _, _, head in rows]
    heights = [
        head + len(pixels) + line * (count + 0.5)
        for (pixels, _, _), count, head in zip(rows, lines, heads, strict=True)
    ]
    wide, tall = max(pixels.shape[1] for pixels, _, _ in rows), int(np.ceil(sum(heights)))
    defaults = {k: v for k, v in mpl.rcParamsDefault.items() if not k.startswith("backend")}
    with mpl.rc_context():
        mpl.rcParams.update(defaults)
        mpl.rcParams["text.parse_math"] = False
        figure = Figure(figsize=(wide / DOTS_AN_INCH, tall / DOTS_AN_INCH), dpi=DOTS_AN_INCH)
        FigureCanvasAgg(figure)
        size = TEXT_PX * fine * 72.0 / DOTS_AN_INCH
        top = float(tall)
        for (pixels, words, heading), head, height in zip(rows, heads, heights, strict=True):
            below = top - head - len(pixels)
            figure.figimage(pixels, xo=0, yo=int(below), origin="upper")
            if heading:
                figure.text(
                    0.5 * line / wide, (top - 0.8 * line) / tall, heading, fontsize=1.15 * size,
                    color=INK, va="center", weight="bold", family="DejaVu Sans",
                )  # fmt: skip
            for at, text in words:
                figure.text(
                    at / wide, below / tall, text, fontsize=size, color=INK, ha="center", va="top",
                    linespacing=1.25, family="DejaVu Sans",
                )  # fmt: skip
            top -= height
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DOTS_AN_INCH, metadata={"Software": None})
    return buffer.getvalue()


def _canvas(sheet: Sheet, width_px: float, fine: float) -> _Canvas:
    """A white canvas with the margins and the scale of the SVG."""
    points = np.vstack([points for _, points, _ in sheet.elements] or [np.zeros((1, 3))])
    low = np.nanmin(points[:, :2] - points[:, 2:], axis=0)
    high = np.nanmax(points[:, :2] + points[:, 2:], axis=0)
    pad = fine * min(MARGIN * width_px, MOST_MARGIN_PX)
    scale = (fine * width_px - 2.0 * pad) / max(float(high[0] - low[0]), 1e-3)
    tall = int(np.ceil(scale * float(high[1] - low[1]) + 2.0 * pad))
    origin = np.array([pad - scale * low[0], pad + scale * high[1]])
    return _Canvas(np.ones((tall, int(np.ceil(fine * width_px)), 3)), origin, scale, fine)


def _paint(
    canvas: _Canvas,
    element: tuple[str, Array, str],
    fills: dict[str, tuple[Array, list[tuple[float, str]]]],
) -> None:
    kind, points, rest = element
    if kind in ("text", "frame"):
        return
    style = dict(re.findall(r'([\w-]+)="([^"]*)"', rest))
    at = canvas.px(points[:, :2])
    if kind == "dot":
        style = {"fill": style["fill"], "stroke": "#ffffff", "stroke-width": "1.5"}
        _round(canvas, at[[0, 0]], canvas.unit * DOT_PX, style, fills)
    elif kind == "cross":
        arm = canvas.unit * CROSS_PX
        for way in (np.array([arm, arm]), np.array([arm, -arm])):
            ends = np.array([at[0] - way, at[0] + way])
            thick = 0.5 * canvas.unit * CROSS_WIDTH_PX
            _round(canvas, ends, thick, {"fill": style["stroke"]}, fills)
    elif kind == "stadium":
        _round(canvas, at, canvas.scale * float(points[0, 2]), style, fills)
    elif kind == "ellipse":
        one, other = at[1] - at[0], at[2] - at[0]
        ring = at[0] + np.cos(AROUND)[:, None] * one + np.sin(AROUND)[:, None] * other
        _convex(canvas, [ring], style, fills)
    else:
        gaps = np.flatnonzero(np.isnan(points[:, 0]))
        pieces = [piece[~np.isnan(piece[:, 0])] for piece in np.split(at, gaps)]
        _convex(canvas, [piece for piece in pieces if len(piece) > 2], style, fills)


def _round(
    canvas: _Canvas,
    ends: Float64[Array, "2 2"],
    radius: float,
    style: dict[str, str],
    fills: dict[str, tuple[Array, list[tuple[float, str]]]],
) -> None:
    """A thick line with round ends."""
    where = canvas.window(ends, radius)
    if where is None:
        return
    inside = radius - _gap(_grid(where), ends[0], ends[1])
    _finish(canvas, where, inside, style, fills)


def _convex(
    canvas: _Canvas,
    pieces: Sequence[Float64[Array, "_ 2"]],
    style: dict[str, str],
    fills: dict[str, tuple[Array, list[tuple[float, str]]]],
) -> None:
    """Convex polygons as one shape."""
    where = canvas.window(np.vstack(pieces), canvas.unit) if pieces else None
    if where is None:
        return
    grid = _grid(where)
    inside = np.full(grid.shape[:2], -np.inf)
    for piece in pieces:
        ahead = np.roll(piece, -1, axis=0)
        turn = np.sign(np.sum(piece[:, 0] * ahead[:, 1] - piece[:, 1] * ahead[:, 0])) or 1.0
        own = np.full(grid.shape[:2], np.inf)
        for a, b in zip(piece, ahead, strict=True):
            along = b - a
            length = float(np.hypot(*along))
            if length > 1e-9:
                side = along[0] * (grid[..., 1] - a[1]) - along[1] * (grid[..., 0] - a[0])
                own = np.minimum(own, turn * side / length)
        inside = np.maximum(inside, own)
    _finish(canvas, where, inside, style, fills)


def _finish(
    canvas: _Canvas,
    where: tuple[slice, slice],
    inside: Float64[Array, "a b"],
    style: dict[str, str],
    fills: dict[str, tuple[Array, list[tuple[float, str]]]],
) -> None:
    """Fill and edge of a shape of which it is known how far inside each pixel lies, px."""
    fill, stroke = style.get("fill", "none"), style.get("stroke", "none")
    if fill != "none":
        rgb = _shades(canvas, where, *fills[fill]) if fill in fills else _rgb(fill)
        alpha = float(style.get("fill-opacity", 1.0))
        canvas.lay(where, np.clip(inside + 0.5, 0.0, 1.0), rgb, alpha)
    if stroke != "none":
        half = 0.5 * canvas.unit * float(style.get("stroke-width", 1.0))
        canvas.lay(where, np.clip(half - np.abs(inside) + 0.5, 0.0, 1.0), _rgb(stroke), 1.0)


def _grid(where: tuple[slice, slice]) -> Float64[Array, "a b 2"]:
    """Middles of the pixels, to the right and down."""
    y, x = np.mgrid[where]
    return np.stack([x, y], axis=-1) + 0.5


def _gap(
    grid: Float64[Array, "a b 2"], start: Float64[Array, " 2"], end: Float64[Array, " 2"]
) -> Float64[Array, "a b"]:
    """Distance of pixels from a segment, px."""
    along = end - start
    square = float(along @ along)
    share = np.clip((grid - start) @ along / square, 0.0, 1.0) if square > 1e-9 else 0.0
    nearest = start + np.multiply.outer(np.asarray(share), along)
    return np.asarray(np.linalg.norm(grid - nearest, axis=-1), dtype=np.float64)


def _shades(
    canvas: _Canvas,
    where: tuple[slice, slice],
    span: Float64[Array, "2 2"],
    stops: list[tuple[float, str]],
) -> Float64[Array, "a b 3"]:
    """The colours of a gradient at pixels."""
    start, end = canvas.px(span)
    along = end - start
    share = (_grid(where) - start) @ along / max(float(along @ along), 1e-9)
    at = [stop for stop, _ in stops]
    tones = np.array([_rgb(tone) for _, tone in stops])
    return np.stack([np.interp(share, at, tones[:, k]) for k in range(3)], axis=-1)


def _rgb(tone: str) -> Float64[Array, " 3"]:
    if len(tone) == 4:
        tone = "#" + "".join(2 * sign for sign in tone[1:])
    return np.array([int(tone[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
