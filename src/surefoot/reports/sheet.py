"""A sheet on which poses are drawn: shapes as elements in metres, written as SVG in pixels."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.contacts.support import Support, signed_distance
from surefoot.reports.geometry import Shape
from surefoot.reports.projection import Camera, brightness, outline, painter_order, shaded

NAME_SPACE = ' xmlns="http://www.w3.org/2000/svg"'
EDGE = 0.42  # brightness of the outline of a shape
MARGIN, MOST_MARGIN_PX = 0.06, 16.0  # around everything: a share of the width, and its bound
LABEL_PX = 16.0
GHOST = 0.55  # opacity of a pose that another one is compared with
INSIDE, OUTSIDE, FLOOR = "#1a7f5a", "#c8402f", "#8a909c"
SUPPORT_FILL = "#3b78c4"
RING = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


@dataclass(frozen=True, slots=True)
class Piece:
    """A shape where a pose puts it."""

    shape: Shape
    pos_w: Array
    rot_ws: Array

    def points_w(self, points_s: Float64[Array, "k 3"]) -> Float64[Array, "k 3"]:
        """Points of the shape in the world, m."""
        return np.asarray(self.pos_w + points_s @ self.rot_ws.T, dtype=np.float64)

    def floor_points_w(self) -> Float64[Array, "k 3"]:
        """Points whose hull, seen from above, is the shape's shadow."""
        if self.shape.kind == "polyhedron":
            return self.points_w(self.shape.points_s)
        ends, radius = self.shape.spine
        ring = radius * np.column_stack([np.cos(RING), np.sin(RING), np.zeros_like(RING)])
        return np.vstack([end + ring for end in self.points_w(ends)])


@dataclass(slots=True)
class Sheet:
    """Collects elements in metres (y up) and writes them in pixels (y down)."""

    camera: Camera
    seed: str
    shift: tuple[float, float] = (0.0, 0.0)
    """Moves what is drawn next to the right and up, m."""
    elements: list[tuple[str, Array, str]] = field(default_factory=list)
    """Kind of element, its points (k, 3: right, up, radius), its attributes or text."""
    gradients: list[tuple[str, Array, list[tuple[float, str]]]] = field(default_factory=list)
    ghosts: list[tuple[int, int]] = field(default_factory=list)
    """First element of each transparent pose, and the one after its last."""
    plain: bool = False
    """Whether round shapes have one tone only: a ghost needs no more."""

    def _seen(self, points_w: Float64[Array, "k 3"]) -> Float64[Array, "k 3"]:
        seen = self.camera.seen(points_w)
        seen[:, :2] += self.shift
        return seen

    def _add(self, kind: str, flat: Float64[Array, "k 2"], radius: float, attributes: str) -> None:
        points = np.column_stack([flat, np.full(len(flat), radius)])
        self.elements.append((kind, points, attributes))

    def pose(
        self,
        pieces: Sequence[Piece],
        ground: float,
        support: Float64[Array, "k 3"] | None,
        zmp: Float64[Array, " 3"] | None,
    ) -> None:
        """One pose on its ground, with support and ZMP where they are given."""
        self.floor(pieces, ground)
        hull = np.zeros((0, 2))
        if support is not None and len(support) > 0:
            hull = outline(self._seen(support)[:, :2])
            self._add("path", hull, 0.0, f'fill="{SUPPORT_FILL}" fill-opacity="0.22"')
        self.solids(pieces)
        if len(hull) > 0:  # once more, as a line: the feet hide the ground that they stand on
            self._add("path", hull, 0.0, f'fill="none" stroke="{SUPPORT_FILL}" stroke-width="1.5"')
        if zmp is not None:
            self.point(zmp, support)

    def floor(self, pieces: Sequence[Piece], height: float) -> None:
        """The shadow that a pose throws straight down, all shapes in one element."""
        shadows: list[Array] = []
        for piece in pieces:
            points = piece.floor_points_w()
            points[:, 2] = height
            hull = outline(self._seen(points)[:, :2])
            if len(hull) > 2:
                shadows += [hull, np.full((1, 2), np.nan)]
        if shadows:
            self._add("path", np.vstack(shadows), 0.0, f'fill="{FLOOR}" fill-opacity="0.28"')

    def point(self, point_w: Float64[Array, " 3"], support: Float64[Array, "k 3"] | None) -> None:
        """A dot inside the support, a cross outside it or where there is none."""
        flat = self._seen(point_w[None])[:, :2]
        carried = np.zeros((0, 3)) if support is None else support
        if len(carried) > 0:
            around = Support(carried[None], np.array([len(carried)]))
            if float(signed_distance(point_w[None], around)[0]) <= 0.0:
                self._add("dot", flat, 0.0, f'fill="{INSIDE}"')
                return
        self._add("cross", flat, 0.0, f'stroke="{OUTSIDE}"')

    def ghost(self, pieces: Sequence[Piece]) -> None:
        """A pose through which one can see: transparent as a whole, not shape by shape."""
        first = len(self.elements)
        self.plain = True
        self.solids(pieces)
        self.plain = False
        if len(self.elements) > first:
            self.ghosts.append((first, len(self.elements)))

    def frame(self, low: tuple[float, float], high: tuple[float, float]) -> None:
        """Room that the sheet has at least, from corner to corner, m; nothing is drawn."""
        self._add("frame", np.array([low, high]), 0.0, "")

    def label(self, at: float, text: str) -> None:
        """A text under the picture, centred at a place across the sheet, m; lines may break."""
        self._add("text", np.array([[at, np.nan]]), 0.0, escape(text))

    def solids(self, pieces: Sequence[Piece]) -> None:
        """All shapes of a pose, from the farthest to the nearest."""
        if not pieces:
            return
        spines = [piece.shape.spine for piece in pieces]
        seen = np.array(
            [self._seen(p.points_w(ends)) for p, (ends, _) in zip(pieces, spines, strict=True)]
        )
        for i in painter_order(seen, np.array([radius for _, radius in spines])):
            if pieces[i].shape.kind == "capsule":
                self._capsule(pieces[i], seen[i])
            elif pieces[i].shape.kind == "ellipsoid":
                self._ellipsoid(pieces[i])
            else:
                self._polyhedron(pieces[i])

    def _capsule(self, piece: Piece, ends: Float64[Array, "2 3"]) -> None:
        """A thick line: its outline in a dark tone, its fill brightest where it faces the light."""
        rgb, radius = piece.shape.rgb, float(piece.shape.size[0])
        edge = shaded(rgb, EDGE)
        along = ends[1] - ends[0]
        flat = float(np.hypot(along[0], along[1]))
        across = np.array([-along[1], along[0], 0.0]) / flat if flat > 0.5 * radius else None
        if across is None:  # seen along its axis, or a ball
            across = np.array([0.0, -1.0, 0.0])
            front = np.array([0.0, 0.0, 1.0])
        else:
            front = np.cross(along / np.linalg.norm(along), across)
            front *= np.sign(front[2])
        shares = np.array([-1.0, -0.6, -0.2, 0.2, 0.6, 1.0])
        normals = shares[:, None] * across + np.sqrt(1.0 - shares**2)[:, None] * front
        stops = [
            (float(0.5 + 0.5 * share), shaded(rgb, bright))
            for share, bright in zip(shares, brightness(normals), strict=True)
        ]
        middle = ends.mean(axis=0)[:2]
        span = np.array([middle - radius * across[:2], middle + radius * across[:2]])
        fill = self._gradient(span, stops)
        self._add("stadium", ends[:, :2], radius, f'fill="{fill}" stroke="{edge}"')

    def _ellipsoid(self, piece: Piece) -> None:
        """Its outline is the ellipse of the projected half axes."""
        axes = (self.camera.rot_cw @ piece.rot_ws)[:2] * piece.shape.size
        values, vectors = np.linalg.eigh(axes @ axes.T)
        half = vectors * np.sqrt(np.maximum(values, 0.0))
        centre = self._seen(piece.pos_w[None])[0, :2]
        ring = centre + np.cos(RING)[:, None] * half[:, 0] + np.sin(RING)[:, None] * half[:, 1]
        shares = np.linspace(-1.0, 1.0, 6)
        normals = np.column_stack([0.0 * shares, -shares, np.sqrt(1.0 - shares**2)])
        reach = np.array([0.0, float(np.max(np.abs(ring[:, 1] - centre[1])))])
        stops = [
            (float(0.5 + 0.5 * share), shaded(piece.shape.rgb, bright))
            for share, bright in zip(shares, brightness(normals), strict=True)
        ]
        fill = self._gradient(np.array([centre + reach, centre - reach]), stops)
        edge = shaded(piece.shape.rgb, EDGE)
        corners = np.vstack([centre, centre + half[:, 1], centre + half[:, 0]])
        self._add("ellipse", corners, 0.0, f'fill="{fill}" stroke="{edge}"')

    def _polyhedron(self, piece: Piece) -> None:
        """The faces that look at the eye, each in one tone, and the outline around them."""
        points = self._seen(piece.points_w(piece.shape.points_s))
        for face in piece.shape.faces:
            a, b, c = points[face[0]], points[face[1]], points[face[2]]
            normal = np.cross(b - a, c - b)
            normal /= max(float(np.linalg.norm(normal)), 1e-300)
            if normal[2] > 0.0:
                tone = shaded(piece.shape.rgb, float(brightness(normal[None])[0]))
                self._add("path", points[list(face), :2], 0.0, f'fill="{tone}" stroke="{tone}"')
        edge = shaded(piece.shape.rgb, EDGE)
        self._add("path", outline(points[:, :2]), 0.0, f'fill="none" stroke="{edge}"')

    def _gradient(self, span: Float64[Array, "2 2"], stops: list[tuple[float, str]]) -> str:
        if self.plain:
            return stops[len(stops) // 2][1]
        name = hashlib.sha256(f"{self.seed}{len(self.gradients)}".encode()).hexdigest()[:8]
        self.gradients.append((name, span, stops))
        return f"url(#g{name})"

    def svg(self, width_px: float, title: str) -> str:
        """Everything collected so far, fitted to the width."""
        points = np.vstack([points for _, points, _ in self.elements] or [np.zeros((1, 3))])
        low = np.nanmin(points[:, :2] - points[:, 2:], axis=0)
        high = np.nanmax(points[:, :2] + points[:, 2:], axis=0)
        pad = min(MARGIN * width_px, MOST_MARGIN_PX)
        scale = (width_px - 2.0 * pad) / max(float(high[0] - low[0]), 1e-3)
        texts = [rest for kind, _, rest in self.elements if kind == "text"]
        lines = max((text.count("\n") + 1 for text in texts), default=0)
        height_px = scale * float(high[1] - low[1]) + 2.0 * pad + LABEL_PX * lines
        origin = np.array([pad - scale * low[0], pad + scale * high[1]])

        def px(flat: Float64[Array, "k 2"]) -> Float64[Array, "k 2"]:
            at = origin + scale * flat * np.array([1.0, -1.0])
            return np.where(np.isnan(at), [0.0, height_px - (lines - 0.5) * LABEL_PX], at)

        gradients = "".join(
            _gradient_svg(name, px(span), stops) for name, span, stops in self.gradients
        )
        drawn = [
            _element_svg(kind, points[:, :2], px(points[:, :2]), scale * float(points[0, 2]), rest)
            for kind, points, rest in self.elements
        ]
        for first, stop in self.ghosts:
            drawn[first] = f'<g opacity="{GHOST}">{drawn[first]}'
            drawn[stop - 1] += "</g>"
        body = "".join(drawn)
        return (
            f'<svg{NAME_SPACE} width="{width_px:.0f}" height="{height_px:.0f}"'
            f' viewBox="0 0 {width_px:.0f} {height_px:.0f}" role="img"'
            f' stroke-width="1" stroke-linejoin="round"><title>{escape(title)}</title>'
            f"<defs>{gradients}</defs>{body}</svg>"
        )


def _gradient_svg(name: str, span: Float64[Array, "2 2"], stops: list[tuple[float, str]]) -> str:
    (x1, y1), (x2, y2) = span
    return (
        f'<linearGradient id="g{name}" gradientUnits="userSpaceOnUse"'
        f' x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}">'
        + "".join(f'<stop offset="{at:.2f}" stop-color="{tone}"/>' for at, tone in stops)
        + "</linearGradient>"
    )


def _element_svg(
    kind: str, flat: Float64[Array, "k 2"], px: Float64[Array, "k 2"], radius: float, rest: str
) -> str:
    """One element; `flat` tells by NaN where a path lifts its pen."""
    x, y = float(px[0, 0]), float(px[0, 1])
    if kind == "frame":
        return ""
    if kind == "text":
        return "".join(
            f'<text x="{x:.1f}" y="{y + i * LABEL_PX:.1f}" text-anchor="middle"'
            f' dominant-baseline="middle" font-family="system-ui, sans-serif" font-size="12"'
            f' fill="{FLOOR}">{line}</text>'
            for i, line in enumerate(rest.split("\n"))
        )
    if kind == "dot":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" stroke="#fff" stroke-width="1.5" {rest}/>'
    if kind == "cross":
        arms = f"M{x - 6:.1f} {y - 6:.1f}l12 12M{x - 6:.1f} {y + 6:.1f}l12-12"
        return f'<path d="{arms}" fill="none" stroke-width="3" stroke-linecap="round" {rest}/>'
    if kind == "stadium":
        return f'<path d="{_stadium(px, radius)}" {rest}/>'
    if kind == "ellipse":
        arms = px[1:] - px[0]
        rx, ry = np.linalg.norm(arms, axis=1)
        turn = np.degrees(np.arctan2(arms[0, 1], arms[0, 0]))
        # The gradient is upright; turning the element would turn it too, so the path is turned.
        dx, dy = arms[0]
        arc = f"A{rx:.1f} {ry:.1f} {turn:.1f} 1 1"
        return (
            f'<path d="M{x - dx:.1f} {y - dy:.1f}{arc} {x + dx:.1f} {y + dy:.1f}'
            f'{arc} {x - dx:.1f} {y - dy:.1f}Z" {rest}/>'
        )
    strokes = np.split(px, np.flatnonzero(np.isnan(flat[:, 0])))
    closed = [stroke[np.arange(len(stroke)) >= (i > 0)] for i, stroke in enumerate(strokes)]
    d = "".join(
        "M" + "L".join(f"{u:.1f} {v:.1f}" for u, v in stroke) + "Z"
        for stroke in closed
        if len(stroke)
    )
    return f'<path d="{d}" {rest}/>'


def _stadium(ends_px: Float64[Array, "2 2"], radius: float) -> str:
    """A thick line with round ends; a circle where both ends coincide."""
    (ax, ay), (bx, by) = ends_px
    length = float(np.hypot(bx - ax, by - ay))
    nx, ny = ((by - ay) / length, (ax - bx) / length) if length > 1e-6 else (0.0, 1.0)
    nx, ny = radius * nx, radius * ny
    return (
        f"M{ax + nx:.1f} {ay + ny:.1f}L{bx + nx:.1f} {by + ny:.1f}"
        f"A{radius:.1f} {radius:.1f} 0 0 1 {bx - nx:.1f} {by - ny:.1f}"
        f"L{ax - nx:.1f} {ay - ny:.1f}"
        f"A{radius:.1f} {radius:.1f} 0 0 1 {ax + nx:.1f} {ay + ny:.1f}Z"
    )
