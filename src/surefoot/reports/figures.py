"""Pictures of a robot in a pose, as SVG drawn from poses and geometry: no graphics library."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args
from xml.sax.saxutils import escape

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.contacts.support import Support, signed_distance
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadInput, BadOption, NoFile
from surefoot.motion import rotation
from surefoot.reports import geometry
from surefoot.reports.geometry import Shape
from surefoot.reports.projection import (
    Camera,
    View,
    brightness,
    outline,
    painter_order,
    shaded,
)
from surefoot.robots.robot import Robot

NAME_SPACE = ' xmlns="http://www.w3.org/2000/svg"'
EDGE = 0.42  # brightness of the outline of a shape
MARGIN, MOST_MARGIN_PX = 0.06, 16.0  # around everything: a share of the width, and its bound
LABEL_PX = 16.0
INSIDE, OUTSIDE, FLOOR = "#1a7f5a", "#c8402f", "#8a909c"
SUPPORT_FILL = "#3b78c4"
RING = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


def robot_svg(
    robot: Robot,
    qpos: Float64[Array, " nq"],
    *,
    view: View = "three-quarter",
    width_px: float = 360.0,
    support: Float64[Array, "k 3"] | None = None,
    zmp: Float64[Array, " 3"] | None = None,
) -> str:
    """A picture of one pose as a self-contained SVG.

    Args:
        qpos: the pose in the engine's order.
        support: contact vertices in the world, m; their hull is drawn on the ground.
        zmp: a point on the ground, m: a dot inside the support, a cross outside it.

    Raises:
        BadInput: a pose of another robot.
        BadOption: no such view, or a width that is not positive.
    """
    camera, pieces, ground = _posed(robot, np.asarray(qpos)[None], view, width_px)
    sheet = _Sheet(camera, _seed(robot, view, width_px, qpos))
    sheet.pose(pieces[0], ground, support, zmp)
    return sheet.svg(width_px, f"{robot.name}, {view} view")


def strip_svg(
    robot: Robot,
    qpos: Float64[Array, "n nq"],
    *,
    view: View = "three-quarter",
    width_px: float = 960.0,
    labels: Sequence[str] = (),
    supports: Sequence[Float64[Array, "_ 3"]] = (),
    zmp_w: Float64[Array, "n 3"] | None = None,
) -> str:
    """Several poses side by side on one ground line, from left to right, as a self-contained SVG.

    All poses are seen from the same direction; each stands in a cell of its own.

    Args:
        labels: one text under each pose, or none at all.
        supports: contact vertices of each pose in the world, m, or none at all.

    Raises:
        BadInput: a pose of another robot, no pose, or another number of labels or supports.
        BadOption: no such view, or a width that is not positive.
    """
    for name, given in (("labels", labels), ("supports", supports)):
        if len(given) not in (0, len(qpos)):
            raise BadInput(
                what=f"expected {len(qpos)} {name}, got {len(given)}", where="film strip"
            )
    camera, pieces, ground = _posed(robot, qpos, view, width_px)
    sheet = _Sheet(camera, _seed(robot, view, width_px, qpos))
    spread = [_spread(camera, posed) for posed in pieces]
    cell = 1.06 * max(high - low for low, high in spread)
    for i, (posed, (low, high)) in enumerate(zip(pieces, spread, strict=True)):
        under = np.mean([piece.pos_w for piece in posed], axis=0) * (1.0, 1.0, 0.0)
        line = float(camera.seen(under[None])[0, 1])
        sheet.shift = (i * cell - 0.5 * (low + high), -line)
        carried = supports[i] if len(supports) else None
        sheet.pose(posed, ground, carried, None if zmp_w is None else zmp_w[i])
        if labels:
            sheet.label(i * cell, labels[i])
    return sheet.svg(width_px, f"{robot.name}, {len(qpos)} poses from left to right")


def without_prologue(svg: str) -> str:
    """The same picture as an element for a page: the name space is a file's business."""
    return svg.replace(NAME_SPACE, "", 1)


def write_robot_svg(robot: Robot, path: str | Path) -> None:
    """A file with the robot in its home pose, its soles on the ground.

    Raises:
        NoFile: the file cannot be written.
    """
    batch = Batch(robot, robot.home[None])
    corners = [batch.points_w(sole.link, sole.polygon_l)[0] for sole in robot.soles]
    support = np.vstack(corners) if corners else None
    write_whole(path, robot_svg(robot, robot.home, support=support))


def write_whole(path: str | Path, text: str) -> None:
    """A text file that appears whole or not at all: written beside, then renamed.

    Raises:
        NoFile: the file cannot be written.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise NoFile(
            what=f"the file cannot be written: {error.strerror or error}",
            where=str(path),
            todo="Name a file in a folder that exists and can be written to",
        ) from error


@dataclass(frozen=True, slots=True)
class _Piece:
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


def _posed(
    robot: Robot, qpos: Float64[Array, "n nq"], view: View, width_px: float
) -> tuple[Camera, list[list[_Piece]], float]:
    """The camera, every shape of every pose, and the height of the ground."""
    if view not in get_args(View):
        raise BadOption(what=f"expected view {', '.join(get_args(View))}, got '{view}'")
    if not 0.0 < width_px < np.inf:
        raise BadOption(what=f"width_px must be positive, got {width_px}")
    qpos = np.asarray(qpos, dtype=np.float64)
    if qpos.ndim != 2 or qpos.shape[1] != robot.nq or len(qpos) == 0:
        raise BadInput(
            what=f"expected poses (n, {robot.nq}) with n > 0, got {qpos.shape}",
            where=f"picture of robot '{robot.name}'",
        )
    batch = Batch(robot, qpos)
    root = robot.link_id(robot.root_link)
    forward = rotation.rotate(batch.link_quat_w[0, root], np.array([1.0, 0.0, 0.0]))
    camera = Camera.viewing(view, float(np.arctan2(forward[1], forward[0])))
    shapes = geometry.shapes(robot)
    pieces = [
        [_placed(shape, batch.link_pos_w[i], batch.link_quat_w[i]) for shape in shapes]
        for i in range(len(qpos))  # a handful of pictures
    ]
    lowest = min(
        (float(batch.points_w(sole.link, sole.polygon_l)[:, :, 2].min()) for sole in robot.soles),
        default=0.0,
    )
    return camera, pieces, lowest


def _seed(robot: Robot, view: View, width_px: float, qpos: Float64[Array, "*n nq"]) -> str:
    """What makes a picture's ids its own: two pictures in one page must not share gradients."""
    return f"{robot.name}{view}{width_px}{np.asarray(qpos, dtype='<f8').tobytes().hex()}"


def _placed(
    shape: Shape, link_pos_w: Float64[Array, "b 3"], link_quat_w: Float64[Array, "b 4"]
) -> _Piece:
    rot_wl = rotation.as_matrix(link_quat_w[shape.link])
    return _Piece(shape, link_pos_w[shape.link] + rot_wl @ shape.pos_l, rot_wl @ shape.rot_ls)


def _spread(camera: Camera, pieces: Sequence[_Piece]) -> tuple[float, float]:
    """How far a pose reaches to the left and right on the sheet."""
    across = [
        (float(c) - radius, float(c) + radius)
        for piece in pieces
        for ends, radius in [piece.shape.spine]
        for c in camera.seen(piece.points_w(ends))[:, 0]
    ]
    return min((low for low, _ in across), default=0.0), max((h for _, h in across), default=0.0)


@dataclass(slots=True)
class _Sheet:
    """Collects elements in metres (y up) and writes them in pixels (y down)."""

    camera: Camera
    seed: str
    shift: tuple[float, float] = (0.0, 0.0)
    """Moves what is drawn next to the right and up, m."""
    elements: list[tuple[str, Array, str]] = field(default_factory=list)
    """Kind of element, its points (k, 3: right, up, radius), its attributes or text."""
    gradients: list[tuple[str, Array, list[tuple[float, str]]]] = field(default_factory=list)

    def _seen(self, points_w: Float64[Array, "k 3"]) -> Float64[Array, "k 3"]:
        seen = self.camera.seen(points_w)
        seen[:, :2] += self.shift
        return seen

    def _add(self, kind: str, flat: Float64[Array, "k 2"], radius: float, attributes: str) -> None:
        points = np.column_stack([flat, np.full(len(flat), radius)])
        self.elements.append((kind, points, attributes))

    def pose(
        self,
        pieces: Sequence[_Piece],
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

    def floor(self, pieces: Sequence[_Piece], height: float) -> None:
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

    def label(self, at: float, text: str) -> None:
        """A text under the picture, centred at a place across the sheet, m."""
        self._add("text", np.array([[at, np.nan]]), 0.0, escape(text))

    def solids(self, pieces: Sequence[_Piece]) -> None:
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

    def _capsule(self, piece: _Piece, ends: Float64[Array, "2 3"]) -> None:
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

    def _ellipsoid(self, piece: _Piece) -> None:
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

    def _polyhedron(self, piece: _Piece) -> None:
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
        labelled = any(kind == "text" for kind, _, _ in self.elements)
        height_px = scale * float(high[1] - low[1]) + 2.0 * pad + LABEL_PX * labelled
        origin = np.array([pad - scale * low[0], pad + scale * high[1]])

        def px(flat: Float64[Array, "k 2"]) -> Float64[Array, "k 2"]:
            at = origin + scale * flat * np.array([1.0, -1.0])
            return np.where(np.isnan(at), [0.0, height_px - 0.5 * LABEL_PX], at)

        gradients = "".join(
            _gradient_svg(name, px(span), stops) for name, span, stops in self.gradients
        )
        body = "".join(
            _element_svg(kind, points[:, :2], px(points[:, :2]), scale * float(points[0, 2]), rest)
            for kind, points, rest in self.elements
        )
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
    if kind == "text":
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" dominant-baseline="middle"'
            f' font-family="system-ui, sans-serif" font-size="12" fill="{FLOOR}">{rest}</text>'
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
