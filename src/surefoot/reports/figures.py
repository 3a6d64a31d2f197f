"""Pictures of a robot in a pose, as SVG drawn from poses and geometry: no graphics library."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadInput, BadOption, NoFile
from surefoot.motion import rotation
from surefoot.motion.contact import Terrain
from surefoot.motion.motion import Motion
from surefoot.reports import geometry
from surefoot.reports.geometry import Shape
from surefoot.reports.plots import own_ids
from surefoot.reports.projection import Camera, View
from surefoot.reports.sheet import NAME_SPACE, Piece, Sheet
from surefoot.robots.robot import Robot

GHOST_RGB = (0.95, 0.60, 0.24)
BESIDE_M = 0.28  # of a terrain is shown to each side of a robot in a picture


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
    sheet = Sheet(camera, _seed(robot, view, width_px, qpos))
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
    sheet = Sheet(camera, _seed(robot, view, width_px, qpos))
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


def pairs_svg(
    robot: Robot,
    qpos: Float64[Array, "n nq"],
    ghosts: Float64[Array, "n nq"],
    *,
    view: View = "three-quarter",
    width_px: float = 1040.0,
    labels: Sequence[str] = (),
    cells: int = 0,
    terrain: Terrain | None = None,
) -> str:
    """Poses side by side, each over a transparent one, as a self-contained SVG.

    Both of a pair are drawn where they are in the world: how far apart they stand is seen.

    Args:
        labels: one text under each pair, or none at all.
        cells: how many pairs there is room for at least; fewer leave it empty.
        terrain: boxes of it are drawn behind the robot, cut off a little beside it.

    Raises:
        BadInput: a pose of another robot, no pose, or another number of ghosts or labels.
        BadOption: no such view, or a width that is not positive.
    """
    sheet = pairs_sheet(
        robot,
        qpos,
        ghosts,
        view=view,
        width_px=width_px,
        labels=labels,
        cells=cells,
        terrain=terrain,
    )
    return sheet.svg(width_px, pairs_title(robot, len(qpos)))


def pairs_title(robot: Robot, n: int) -> str:
    """What a picture of pairs shows, for those who do not see it."""
    return f"{robot.name}, {n} poses over {n} transparent ones"


def pairs_sheet(
    robot: Robot,
    qpos: Float64[Array, "n nq"],
    ghosts: Float64[Array, "n nq"],
    *,
    view: View = "three-quarter",
    width_px: float = 1040.0,
    labels: Sequence[str] = (),
    cells: int = 0,
    terrain: Terrain | None = None,
) -> Sheet:
    """The sheet of `pairs_svg`, for whoever paints it otherwise."""
    for name, given in (("ghosts", len(ghosts)), ("labels", len(labels) or len(qpos))):
        if given != len(qpos):
            raise BadInput(what=f"expected {len(qpos)} {name}, got {given}", where="pictures")
    both = np.concatenate([qpos, ghosts])
    camera, pieces, ground = _posed(robot, both, view, width_px)
    sheet = Sheet(camera, _seed(robot, view, width_px, both))
    n = len(qpos)
    steps = [_steps(terrain, np.asarray(both[i][:3])) for i in range(n)]
    spread = [_spread(camera, [*pieces[i], *pieces[n + i], *steps[i]]) for i in range(n)]
    cell = 1.08 * max(high - low for low, high in spread)
    for i, (low, high) in enumerate(spread):  # a handful of pictures
        root = np.asarray(both[i][:3], dtype=np.float64)
        line = float(camera.seen((root * (1.0, 1.0, 0.0))[None])[0, 1])
        sheet.shift = (i * cell - 0.5 * (low + high), -line)
        if steps[i]:
            sheet.solids(steps[i])
        else:
            sheet.floor(pieces[i], ground)
        sheet.ghost([_tinted(piece) for piece in pieces[n + i]])
        sheet.solids(pieces[i])
        if labels:
            sheet.label(i * cell, labels[i])
    if cells > n:
        sheet.frame((-0.5 * cell, 0.0), ((cells - 0.5) * cell, 0.0))
    return sheet


def _tinted(piece: Piece) -> Piece:
    """The same in a warmer tone: where a ghost looks out from behind another, it is seen."""
    rgb = 0.35 * np.array(piece.shape.rgb) + 0.65 * np.array(GHOST_RGB)
    return replace(piece, shape=replace(piece.shape, rgb=(rgb[0], rgb[1], rgb[2])))


def _steps(terrain: Terrain | None, root_w: Float64[Array, " 3"]) -> list[Piece]:
    """The boxes of a terrain around a robot, cut off a little beside it."""
    found = []
    for surface in terrain.surfaces if terrain is not None else ():
        if surface.kind != "box":
            continue
        c, s = np.cos(surface.yaw), np.sin(surface.yaw)
        rot = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        half = 0.5 * surface.size
        at = (rot.T @ (root_w - surface.point))[:2]
        low = np.maximum(-half[:2], at - BESIDE_M)
        high = np.minimum(half[:2], at + BESIDE_M)
        if np.any(high - low < 1e-3):
            continue
        middle = surface.point + rot @ np.append(0.5 * (low + high), 0.0)
        size = np.append(0.5 * (high - low), half[2])
        shape = geometry.box(middle, rot, size, rgb=geometry.GROUND_RGB)
        found.append(Piece(shape, shape.pos_l, shape.rot_ls))
    return found


def view_of(motion: Motion) -> View:
    """From where a motion is seen best: from the front if it goes sideways."""
    facing = rotation.rotate(motion.root_quat[0], np.array([1.0, 0.0, 0.0]))[:2]
    left = np.array([-facing[1], facing[0]])
    ahead, aside = (float(np.ptp(motion.root_pos[:, :2] @ way)) for way in (facing, left))
    return "front" if aside > ahead else "three-quarter"


def heading(robot: Robot, qpos: Float64[Array, " nq"]) -> float:
    """Where the root of a pose faces, rad about z from the x axis."""
    root = robot.link_id(robot.root_link)
    quat = Batch(robot, np.asarray(qpos)[None]).link_quat_w[0, root]
    forward = rotation.rotate(quat, np.array([1.0, 0.0, 0.0]))
    return float(np.arctan2(forward[1], forward[0]))


def without_prologue(svg: str) -> str:
    """The same picture as an element for a page: the name space is a file's business."""
    return svg.replace(NAME_SPACE, "", 1)


def stacked(svgs: Sequence[str]) -> str:
    """Pictures one under the other, as one picture.

    Raises:
        BadInput: none, or one without its size.
    """
    sizes = [re.search(r'width="([\d.]+)" height="([\d.]+)"', svg) for svg in svgs]
    if not svgs or not all(sizes):
        raise BadInput(what="expected pictures with a width and a height", where="pictures")
    wide = max(float(size.group(1)) for size in sizes if size)
    rows, tall = [], 0.0
    for i, (svg, size) in enumerate(zip(svgs, sizes, strict=True)):
        placed = without_prologue(svg).replace("<svg", f'<svg y="{tall:.0f}"', 1)
        rows.append(own_ids(placed, f"r{i}"))
        tall += float(size.group(2)) if size else 0.0
    box = f'width="{wide:.0f}" height="{tall:.0f}" viewBox="0 0 {wide:.0f} {tall:.0f}"'
    return f'<svg{NAME_SPACE} {box} role="img">{"".join(rows)}</svg>\n'


def write_robot_svg(robot: Robot, path: str | Path) -> None:
    """A file with the robot in its home pose, its soles on the ground.

    Raises:
        NoFile: the file cannot be written.
    """
    batch = Batch(robot, robot.home[None])
    corners = [batch.points_w(sole.link, sole.polygon_l)[0] for sole in robot.soles]
    support = np.vstack(corners) if corners else None
    write_whole(path, robot_svg(robot, robot.home, support=support))


def write_whole(path: str | Path, content: str | bytes) -> None:
    """A file that appears whole or not at all: written beside, then renamed.

    A link stays and what it points to is replaced; a device or a pipe is written into.

    Raises:
        NoFile: the file cannot be written.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    beside = target.with_name(f".{target.name[:100]}.{os.getpid()}.part")
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            path.write_bytes(data)
            return
        beside.write_bytes(data)
        os.replace(beside, target)
    except BaseException as error:  # an interrupt leaves nothing beside, either
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise NoFile(
            what=f"the file cannot be written: {error.strerror or error}",
            where=str(path),
            todo="Name a file in a folder that exists and can be written to",
        ) from error


def _posed(
    robot: Robot, qpos: Float64[Array, "n nq"], view: View, width_px: float
) -> tuple[Camera, list[list[Piece]], float]:
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
    camera = Camera.viewing(view, heading(robot, qpos[0]))
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
) -> Piece:
    rot_wl = rotation.as_matrix(link_quat_w[shape.link])
    return Piece(shape, link_pos_w[shape.link] + rot_wl @ shape.pos_l, rot_wl @ shape.rot_ls)


def _spread(camera: Camera, pieces: Sequence[Piece]) -> tuple[float, float]:
    """How far a pose reaches to the left and right on the sheet."""
    across = [
        (float(c) - radius, float(c) + radius)
        for piece in pieces
        for ends, radius in [piece.shape.spine]
        for c in camera.seen(piece.points_w(ends))[:, 0]
    ]
    return min((low for low, _ in across), default=0.0), max((h for _, h in across), default=0.0)
