"""Stances found in a robot's motion, by height and speed of the corners of its soles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import minimum_filter1d

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, BadOption, BadRobot
from surefoot.motion.contact import ContactSchedule, Mode, Stance, Terrain
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot, Sole


@dataclass(frozen=True, slots=True)
class Options:
    """What counts as standing: seize below the first of two thresholds, let go above the second."""

    height_m: tuple[float, float] = (0.015, 0.035)
    """Height of a sole's corner above the local ground; the feet of plainly retargeted clips rise
    by 1 to 2 cm within a stance."""
    speed_mps: tuple[float, float] = (0.20, 0.40)
    """Speed of the corner; still feet of the CMU clips stay below 0.13 m/s in 99 % of frames."""
    shortest_s: float = 0.08
    """Stances and gaps shorter than this are flickers: joined or dropped."""
    ground_window_s: float = 0.25
    """The local ground is the lowest corner within this time to either side: clips made elsewhere
    float or sink by some centimetres."""

    def __post_init__(self) -> None:
        """Refuse thresholds that cannot work."""
        for name in ("height_m", "speed_mps"):
            low, high = getattr(self, name)
            if not 0.0 < low <= high:
                raise BadOption(
                    what=f"{name} must be two rising positive numbers, got {low}, {high}"
                )
        if self.shortest_s < 0.0 or self.ground_window_s <= 0.0:
            raise BadOption(what="shortest_s must be 0 or more, ground_window_s more than 0")


def detect(
    motion: Motion,
    robot: Robot,
    *,
    terrain: Terrain | None = None,
    options: Options | None = None,
) -> ContactSchedule:
    """The stances of a motion: which corners of which sole are low and still, and when.

    Vertices are left where the motion has them; nothing is moved onto the surface.

    Raises:
        BadMotion: fewer than two frames: without a speed nothing can be said.
        BadRobot: the robot has no soles.
    """
    options = options or Options()
    terrain = terrain or Terrain()
    if motion.n < 2:
        raise BadMotion(what="contacts need at least 2 frames, got 1", todo="give a longer clip")
    if not robot.soles:
        raise BadRobot(
            what=f"robot '{robot.name}' has no soles",
            where=robot.source,
            todo="give [[sole]] in its profile",
        )
    batch = Batch(robot, robot.qpos(motion))
    corners = [batch.points_w(sole.link, sole.polygon_l) for sole in robot.soles]
    ground = _local_ground(motion.time, corners, options.ground_window_s)
    stances: list[Stance] = []
    for sole, corner in zip(robot.soles, corners, strict=True):
        height = corner[:, :, 2] - ground[:, None]
        speed = np.linalg.norm(np.gradient(corner, motion.time, axis=0), axis=2)
        touching = _touching(motion.time, height, speed, options)
        stances += _stances(sole, motion.time, touching, terrain, corner, options.shortest_s)
    return ContactSchedule(tuple(stances))


def _local_ground(
    time: Float64[Array, " n"], corners: list[Array], window_s: float
) -> Float64[Array, " n"]:
    """Height of the lowest corner of any sole within the window around each frame, m."""
    lowest = np.min([corner[:, :, 2].min(axis=1) for corner in corners], axis=0)
    frames = 2 * max(1, round(window_s / float(np.median(np.diff(time))))) + 1
    return np.asarray(minimum_filter1d(lowest, frames, mode="nearest"), dtype=np.float64)


def _touching(
    time: Float64[Array, " n"],
    height: Float64[Array, "n k"],
    speed: Float64[Array, "n k"],
    options: Options,
) -> Bool[BoolArray, "n k"]:
    """Which corners touch at which frames, with hysteresis and without flickers."""
    seize = (height < options.height_m[0]) & (speed < options.speed_mps[0])
    keep = (height < options.height_m[1]) & (speed < options.speed_mps[1])
    touching = np.zeros_like(keep)
    for k in range(height.shape[1]):  # a few corners; each column is done at once
        start, stop = _runs(keep[:, k])
        seized = np.add.reduceat(np.append(seize[:, k], 0), start) > 0 if len(start) else start
        held = _painted(start[seized > 0], stop[seized > 0], len(time))
        held = ~_without_short(~held, time, options.shortest_s, keep_ends=True)
        touching[:, k] = _without_short(held, time, options.shortest_s, keep_ends=False)
    return touching


def _runs(flags: Bool[BoolArray, " n"]) -> tuple[Int64[IntArray, " r"], Int64[IntArray, " r"]]:
    """First index and one past the last index of each run of true."""
    steps = np.diff(np.concatenate([[0], flags.astype(np.int64), [0]]))
    return np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)


def _painted(
    start: Int64[IntArray, " r"], stop: Int64[IntArray, " r"], n: int
) -> Bool[BoolArray, " n"]:
    """Flags that are true inside the runs: the inverse of `_runs`."""
    steps = np.zeros(n + 1, dtype=np.int64)
    np.add.at(steps, start, 1)
    np.add.at(steps, stop, -1)
    return np.cumsum(steps[:-1]) > 0


def _without_short(
    flags: Bool[BoolArray, " n"], time: Float64[Array, " n"], shortest_s: float, *, keep_ends: bool
) -> Bool[BoolArray, " n"]:
    """The flags without runs shorter than the given time; at the clip's ends they may stay."""
    start, stop = _runs(flags)
    long_enough = time[stop - 1] - time[start] >= shortest_s
    if keep_ends:
        long_enough |= (start == 0) | (stop == len(time))
    return _painted(start[long_enough], stop[long_enough], len(time))


def _stretches(
    time: Float64[Array, " n"], touching: Bool[BoolArray, "n k"], shortest_s: float
) -> list[tuple[int, int, Int64[IntArray, " c"]]]:
    """First frame, last frame and touching corners of each stretch over which these stay the same.

    A foot that lands or leaves passes through an edge for a frame or two; such short stretches take
    the corners of the longer neighbour that touches.
    """
    changes = np.flatnonzero(np.any(touching[1:] != touching[:-1], axis=1)) + 1
    first = np.concatenate([[0], changes])
    last = np.concatenate([changes, [len(time)]]) - 1
    lasting = time[np.minimum(last + 1, len(time) - 1)] - time[first]
    rows = touching[first]
    for s in np.flatnonzero((lasting < shortest_s) & rows.any(axis=1)):  # a few for each step
        near = [i for i in (s - 1, s + 1) if 0 <= i < len(first) and rows[i].any()]
        rows[s] = rows[max(near, key=lambda i: lasting[i])] if near else False
    found: list[tuple[int, int, Int64[IntArray, " c"]]] = []
    for i, row in enumerate(rows):
        if not row.any():
            continue
        corners = np.flatnonzero(row)
        if found and found[-1][1] == first[i] - 1 and np.array_equal(found[-1][2], corners):
            found[-1] = (found[-1][0], int(last[i]), corners)
        else:
            found.append((int(first[i]), int(last[i]), corners))
    return found


def _stances(
    sole: Sole,
    time: Float64[Array, " n"],
    touching: Bool[BoolArray, "n k"],
    terrain: Terrain,
    corner_w: Float64[Array, "n k 3"],
    shortest_s: float,
) -> list[Stance]:
    """One stance for each stretch over which the same corners of a sole touch."""
    stretches = _stretches(time, touching, shortest_s)
    begins = {first for first, _, _ in stretches}
    stances = []
    for first, last, corners in stretches:
        place = corner_w[first : last + 1, corners, :2].mean(axis=(0, 1))[None]
        surface = terrain.surface_at(place)[0]
        # A stretch lasts until the next one begins, so that no moment between frames is lost.
        end = last + 1 if last + 1 in begins else last
        stances.append(
            Stance(
                link=sole.link,
                start=float(time[first]),
                end=float(time[end]),
                mode=_mode(len(corners)),
                vertices=sole.polygon_l[corners],
                normal=terrain.surfaces[surface].normal,
                friction=terrain.friction,
                surface=surface,
            )
        )
    return stances


def _mode(corners: int) -> Mode:
    if corners == 1:
        return "point"
    return "edge" if corners == 2 else "face"
