"""Film strips: at each foot's lift-off, mid-swing and touch-down one robot over another.

As figures 6, 8 and 10 of Zheng and Yamane: adapted over original, simulated over adapted. As SVG
always; as PNG rendered where GL is there, else painted from the same projected geometry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from surefoot.adapters.adaptation import Adaptation
from surefoot.arrays import Array, ByteArray, Float64, UInt8
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadInput, MissingPart
from surefoot.motion.contact import ContactSchedule, Terrain
from surefoot.motion.curves import resample
from surefoot.reports import figures, gl, raster
from surefoot.reports.changes import MOMENT_S, moments_of, standing
from surefoot.reports.phrases import length, moment
from surefoot.reports.projection import VIEW_ANGLES, View
from surefoot.robots.robot import Robot
from surefoot.simulation.verdict import Verdict

PICTURES, IN_A_ROW = 12, 6
WIDTH_PX, FINE = 1040.0, 1.5
Drawn = Literal["auto", "gl", "painted"]
GL_CELL_PX, FIELD_OF_VIEW = (260, 360), np.radians(45.0)  # of the engine's free camera
ROOM = 1.25  # of the height of what is seen
STATURE = 1.75  # of the height of the root, which lies at the hip


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """Poses, each over a transparent one at the same moment."""

    title: str
    robot: Robot
    qpos: Float64[Array, "n nq"]
    ghosts: Float64[Array, "n nq"]
    labels: tuple[str, ...]
    terrain: Terrain
    view: View


def adapted_strip(found: Adaptation, most: int = PICTURES) -> Strip | None:
    """The adapted robot over the original, where an adaptation moved events; None where not."""
    moments = moments_of(found, most)
    if found.timing is None or not moments:
        return None
    robot, old, new = found.before.robot, found.before.clip.motion, found.after.clip.motion
    t = np.array([now for now, _, _ in moments])
    at, place = np.unique(t, return_inverse=True)
    solid, ghost = (
        robot.qpos(resample(motion, np.clip(at, motion.time[0], motion.time[-1])))[place]
        for motion in (new, old)
    )
    labels = tuple(f"{what}\n{now:.2f} s, was {was:.2f} s" for now, was, what in moments)
    terrain = found.before.clip.terrain
    view = figures.view_of(old)
    labels = _apart(robot, solid, ghost, labels)
    return Strip("Adapted over original", robot, solid, ghost, labels, terrain, view)


def simulated_strip(found: Verdict, most: int = PICTURES) -> Strip | None:
    """The simulated robot over its reference; None where no foot swings before the fall."""
    trace = found.trace
    until = float(trace.time[-1]) if trace.fell_at is None else trace.fell_at
    moments = swings_of(found.clip.contacts, found.robot, until)
    away = np.linalg.norm(trace.root_pos_w - trace.target_root_pos_w, axis=1)
    if len(moments) * 3 > most:  # those that were followed worst
        worst = [float(away[_rows(found, [t for t, _ in swing])].max()) for swing in moments]
        keep = np.sort(np.argsort(worst)[::-1][: max(most // 3, 1)])
        moments = [moments[i] for i in keep.tolist()]
    flat = sorted(one for swing in moments for one in swing)
    return run_strip(found, [t for t, _ in flat], [what for _, what in flat]) if flat else None


def run_strip(found: Verdict, times: Sequence[float], words: Sequence[str]) -> Strip:
    """The simulated robot over its reference at some moments of a run."""
    trace, rows = found.trace, _rows(found, times)
    solid, ghost = trace.qpos[rows], trace.target_qpos[rows]
    labels = tuple(
        f"{what}\n{moment(float(trace.time[k]))}" for what, k in zip(words, rows, strict=True)
    )
    labels = _apart(found.robot, solid, ghost, labels)
    title, view = "Simulated over reference", figures.view_of(found.clip.motion)
    return Strip(title, found.robot, solid, ghost, labels, trace.scene.terrain, view)


def swings_of(
    contacts: ContactSchedule, robot: Robot, until: float
) -> list[list[tuple[float, str]]]:
    """Of every swing of a foot that ends in time: lift-off, mid-swing and touch-down, in words."""
    found = []
    for foot, spans in standing(contacts, robot).items():
        for (_, lift), (touch, _) in pairwise(spans):
            if touch <= until + MOMENT_S:
                words = ("lift-off", "mid-swing", "touch-down")
                times = (lift, 0.5 * (lift + touch), touch)
                found.append([(t, f"{what}, {foot}") for t, what in zip(times, words, strict=True)])
    return sorted(found)


def svgs_of(strip: Strip, cells: int = IN_A_ROW) -> tuple[str, ...]:
    """A strip as pictures, a row each, with room for so many at least."""
    return tuple(
        figures.pairs_svg(
            strip.robot,
            strip.qpos[rows],
            strip.ghosts[rows],
            view=strip.view,
            width_px=WIDTH_PX,
            labels=strip.labels[rows],
            cells=cells,
            terrain=strip.terrain,
        )
        for rows in _in_rows(strip)
    )


def write_filmstrip(
    values: Sequence[Adaptation | Verdict], path: str | Path, *, drawn: Drawn = "auto"
) -> Drawn:
    """A PNG file with the strips of adaptations and runs; how it was drawn.

    Args:
        drawn: `gl` by the engine's renderer, `painted` from projected geometry, `auto` by GL where
            it is there.

    Raises:
        BadInput: there is nothing to see: no foot swings.
        MissingPart: `gl` was asked for and no GL library renders here.
        NoFile: the file cannot be written.
    """
    made = [
        adapted_strip(one) if isinstance(one, Adaptation) else simulated_strip(one)
        for one in values
    ]
    strips = [strip for strip in made if strip is not None]
    if not strips:
        raise BadInput(what="no foot swings: there is nothing for a film strip", where=str(path))
    paint: Drawn = "painted"
    if drawn == "gl" or (drawn == "auto" and gl.find_gl() is not None):
        try:
            rows = [row for strip in strips for row in _rendered(strip)]
            paint = "gl"
        except MissingPart:
            if drawn == "gl":
                raise
    if paint == "painted":
        rows = [row for strip in strips for row in _painted(strip)]
    figures.write_whole(path, raster.png(rows, fine=FINE))
    return paint


Row = tuple[UInt8[ByteArray, "_ _ 3"], Sequence[tuple[float, str]], str]


def _painted(strip: Strip) -> list[Row]:
    """Rows of pictures, painted."""
    out: list[Row] = []
    for rows in _in_rows(strip):
        sheet = figures.pairs_sheet(
            strip.robot,
            strip.qpos[rows],
            strip.ghosts[rows],
            view=strip.view,
            width_px=WIDTH_PX,
            labels=strip.labels[rows],
            cells=IN_A_ROW,
            terrain=strip.terrain,
        )
        words = raster.labels(sheet, WIDTH_PX, fine=FINE)
        head = strip.title if rows.start == 0 else ""
        out.append((raster.image(sheet, WIDTH_PX, fine=FINE), words, head))
    return out


def _rendered(strip: Strip) -> list[Row]:
    """Rows of pictures, rendered, each in a cell of its own."""
    tall = STATURE * strip.robot.home_height
    middle = 0.5 * (strip.qpos[:, :3] + strip.ghosts[:, :3])
    middle[:, 2] -= 0.07 * tall
    azimuth, elevation = VIEW_ANGLES[strip.view]
    take = gl.Take(
        strip.robot,
        strip.qpos,
        strip.ghosts,
        middle,
        azimuth_deg=float(np.degrees(figures.heading(strip.robot, strip.ghosts[0]))) + azimuth,
        elevation_deg=elevation + 4.0,
        distance_m=float(0.5 * ROOM * tall / np.tan(0.5 * FIELD_OF_VIEW)),
        size_px=(int(FINE * GL_CELL_PX[0] / 1.5), int(FINE * GL_CELL_PX[1] / 1.5)),
        terrain=strip.terrain,
    )
    frames = gl.rendered(take)
    wide = frames.shape[2]
    out: list[Row] = []
    for rows in _in_rows(strip):
        cells = list(frames[rows])
        blank = np.full_like(cells[0], 255)
        joined = np.concatenate([*cells, *[blank] * (IN_A_ROW - len(cells))], axis=1)
        words = [((i + 0.5) * wide, text) for i, text in enumerate(strip.labels[rows])]
        out.append((joined, words, strip.title if rows.start == 0 else ""))
    return out


def _in_rows(strip: Strip) -> list[slice]:
    return [slice(i, i + IN_A_ROW) for i in range(0, len(strip.qpos), IN_A_ROW)]


def _rows(found: Verdict, times: Sequence[float]) -> list[int]:
    """The control steps that are nearest to some moments."""
    time = found.trace.time
    return [int(np.argmin(np.abs(time - t))) for t in times]


def _apart(
    robot: Robot,
    solid: Float64[Array, "n nq"],
    ghost: Float64[Array, "n nq"],
    labels: tuple[str, ...],
) -> tuple[str, ...]:
    """The labels, each with how far apart the links lie that lie farthest apart."""
    far = np.linalg.norm(
        Batch(robot, solid).link_pos_w - Batch(robot, ghost).link_pos_w, axis=2
    ).max(axis=1)
    return tuple(f"{text}\n{length(float(x))} apart" for text, x in zip(labels, far, strict=True))
