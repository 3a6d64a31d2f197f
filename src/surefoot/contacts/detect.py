"""Stances found in a robot's motion, by height, tilt and speed of the corners of its soles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray
from surefoot.contacts.ground import GROUNDS, Ground, level, over_terrain
from surefoot.contacts.runs import (
    Stretch,
    edge_times,
    held,
    painted,
    runs_of,
    stretches,
    without_short,
)
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, BadOption, BadRobot, nearest
from surefoot.motion.contact import ContactSchedule, Stance, Terrain, mode_of
from surefoot.motion.curves import resample, steady_times
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot, Sole

G_MPS2 = 9.81  # m/s², standard gravity to three digits, as MuJoCo's default
LEVEL_M = 0.01  # corners of a foot and of its toes nearly coincide: no angle between such
CARRY_WINDOW_S = 0.1  # over less, the noise of a clip's frames drowns the acceleration


@dataclass(frozen=True, slots=True)
class Options:
    """What counts as standing: seize below the first of two thresholds, let go above the second.

    The reasons for the defaults, with figures, are in docs/contacts.md.
    """

    height_m: tuple[float, float] = (0.04, 0.06)
    """Height of a sole's corner above the ground."""
    tilt_deg: tuple[float, float] = (10.0, 20.0)
    """Angle at which the corner lies above the lowest one of its foot: a heel that is up does not
    carry, however small the foot; above 90 it asks nothing."""
    speed_mps: tuple[float, float] = (0.15, 0.30)
    """Speed of the corner."""
    shortest_s: float = 0.08
    """Stances and gaps shorter than this are flickers: joined or dropped; 0 keeps all."""
    ground: Ground = "local"
    """Where the ground lies: `local` to each moment, one height for the `clip`, or the `terrain`
    as it is."""
    ground_window_s: float = 0.25
    """The local ground is the lowest corner within this time to either side."""
    carry_mps: float = 2.0
    """Where nothing stands although the body does not fall, corners that are low and slower than
    this carry it; 0 leaves such moments without contact."""
    speed_window_s: float = 0.05
    """Speed is the way over this time, divided by it; never less than from the frame before to the
    frame after."""
    rate_hz: float | None = None
    """Resample to this rate first; None: look at the motion's own frames."""

    def __post_init__(self) -> None:
        """Refuse thresholds that cannot work."""
        for name in ("height_m", "tilt_deg", "speed_mps"):
            low, high = getattr(self, name)
            if not 0.0 < low <= high < math.inf:
                raise BadOption(
                    what=f"{name} must be two rising positive numbers, got {low}, {high}"
                )
        if not (0.0 <= self.shortest_s < math.inf and 0.0 < self.ground_window_s < math.inf):
            raise BadOption(what="shortest_s must be 0 or more, ground_window_s more than 0")
        if not 0.0 <= self.speed_window_s < math.inf:
            raise BadOption(what=f"speed_window_s must be 0 or more, got {self.speed_window_s}")
        if not 0.0 <= self.carry_mps < math.inf:
            raise BadOption(what=f"carry_mps must be 0 or more, got {self.carry_mps}")
        if self.rate_hz is not None and not 0.0 < self.rate_hz < math.inf:
            raise BadOption(what=f"rate_hz must be positive, got {self.rate_hz}")
        if self.ground not in GROUNDS:
            raise BadOption(
                what=f"unknown ground '{self.ground}'", todo=nearest(self.ground, GROUNDS)
            )


def detect(
    motion: Motion,
    robot: Robot,
    *,
    terrain: Terrain | None = None,
    options: Options | None = None,
) -> ContactSchedule:
    """The stances of a motion: which corners of which sole are low and still, and when.

    A corner touches while its height above the ground and its speed are below the second of the
    two thresholds, if both were once below the first; and where nothing else carries a body that
    does not fall. Contacts change midway between two frames.
    Vertices are left where the motion has them; nothing is moved onto the surface.

    Raises:
        BadMotion: fewer than two frames: without a speed nothing can be said.
        BadRobot: the robot has no soles.
    """
    options = options or Options()
    terrain = terrain or Terrain()
    _refuse(motion, robot)
    if options.rate_hz is not None:
        first, last = float(motion.time[0]), float(motion.time[-1])
        motion = resample(motion, steady_times(first, last, options.rate_hz))
    time, edges = motion.time, edge_times(motion.time)
    batch = Batch(robot, robot.qpos(motion))
    corners = [batch.points_w(sole.link, sole.polygon_l) for sole in robot.soles]
    over = [over_terrain(corner, terrain) for corner in corners]
    lowest = np.asarray(np.min([h.min(axis=1) for h, _ in over], axis=0), dtype=np.float64)
    ground = level(time, lowest, options.ground, options.ground_window_s)
    heights = [height - ground[:, None] for height, _ in over]
    speeds = [_speeds(time, corner, options.speed_window_s) for corner in corners]
    tilts = _tilts_deg(robot.soles, corners, heights)
    tracks = [np.stack(track) for track in zip(heights, tilts, speeds, strict=True)]
    touching = [_touching(time, track, options) for track in tracks]
    if options.carry_mps > 0.0:
        touching = _carried(time, batch.com_w[:, 2], touching, tracks, options)
    stances = [
        _stance(sole, stretch, edges, surface, terrain)
        for sole, flags, (_, surface) in zip(robot.soles, touching, over, strict=True)
        for stretch in stretches(flags, edges, options.shortest_s)
    ]
    return ContactSchedule(tuple(stances))


def _refuse(motion: Motion, robot: Robot) -> None:
    if motion.n < 2:
        raise BadMotion(what="contacts need at least 2 frames, got 1", todo="give a longer clip")
    if not robot.soles:
        raise BadRobot(
            what=f"robot '{robot.name}' has no soles",
            where=robot.source,
            todo="give [[sole]] in its profile",
        )


def _speeds(
    time: Float64[Array, " n"], points_w: Float64[Array, "n k 3"], window_s: float
) -> Float64[Array, "n k"]:
    """Speed of points over a window of time, m/s; over the neighbouring frames at least."""
    slope = np.gradient(points_w, time, axis=0)
    step = float(np.median(np.diff(time)))
    if window_s <= 2.0 * step:
        return np.asarray(np.linalg.norm(slope, axis=2), dtype=np.float64)
    before = np.maximum(time - window_s / 2.0, time[0])
    after = np.minimum(time + window_s / 2.0, time[-1])
    way = _between(time, points_w, after) - _between(time, points_w, before)
    return np.asarray(np.linalg.norm(way, axis=2) / (after - before)[:, None], dtype=np.float64)


def _between(
    time: Float64[Array, " n"], values: Float64[Array, "n k 3"], t: Float64[Array, " n"]
) -> Float64[Array, "n k 3"]:
    """Values at other moments, along straight lines between frames."""
    i = np.clip(np.searchsorted(time, t, side="right") - 1, 0, len(time) - 2)
    part = ((t - time[i]) / (time[i + 1] - time[i]))[:, None, None]
    return np.asarray(values[i] + part * (values[i + 1] - values[i]), dtype=np.float64)


def _tilts_deg(
    soles: tuple[Sole, ...],
    corners: list[Float64[Array, "n k 3"]],
    heights: list[Float64[Array, "n k"]],
) -> list[Float64[Array, "n k"]]:
    """Angle at which each corner lies above the lowest one of its foot, degrees."""
    found = []
    for sole, corner, height in zip(soles, corners, heights, strict=True):
        foot = [i for i, other in enumerate(soles) if other.side == sole.side]
        every = np.concatenate([heights[i] for i in foot], axis=1)
        place = np.concatenate([corners[i] for i in foot], axis=1)
        lowest = np.argmin(every, axis=1)[:, None]
        rise = height - np.take_along_axis(every, lowest, axis=1)
        way = corner - np.take_along_axis(place, lowest[:, :, None], axis=1)
        tilted = rise > LEVEL_M
        ratio = np.divide(rise, np.linalg.norm(way, axis=2), out=0.0 * rise, where=tilted)
        found.append(np.asarray(np.degrees(np.arcsin(np.minimum(ratio, 1.0))), dtype=np.float64))
    return found


def _touching(
    time: Float64[Array, " n"],
    track: Float64[Array, "3 n k"],
    options: Options,
) -> Bool[BoolArray, "n k"]:
    """Which corners touch at which frames, with hysteresis and without flickers.

    Args:
        track: height, tilt and speed of every corner.
    """
    limits = np.array([options.height_m, options.tilt_deg, options.speed_mps])[:, :, None, None]
    seize, keep = (np.all(track < limits[:, i], axis=0) for i in (0, 1))
    touching = np.zeros(keep.shape, dtype=np.bool_)
    for k in range(keep.shape[1]):  # a few corners; each column is done at once
        flags = held(seize[:, k], keep[:, k])
        flags = ~without_short(~flags, time, options.shortest_s)
        touching[:, k] = without_short(flags, time, options.shortest_s)
    return touching


def _carried(
    time: Float64[Array, " n"],
    com_height: Float64[Array, " n"],
    touching: list[Bool[BoolArray, "n k"]],
    tracks: list[Float64[Array, "3 n k"]],
    options: Options,
) -> list[Bool[BoolArray, "n k"]]:
    """The same with what carries the body where nothing stands and it does not fall.

    In flight the centre of mass falls with g. Over a gap without stance its mean acceleration is
    the change of its velocity by the time; above −g/2 more than half of the weight is carried.
    """
    start, stop = runs_of(~np.any([flags.any(axis=1) for flags in touching], axis=0))
    if not len(start):
        return touching
    middle, half = (time[start] + time[stop - 1]) / 2.0, (time[stop - 1] - time[start]) / 2.0
    half = np.maximum(half, CARRY_WINDOW_S / 2.0)
    rise = np.gradient(com_height, time)
    first = np.maximum(middle - half, time[0])
    last = np.minimum(middle + half, time[-1])
    change = np.interp(last, time, rise) - np.interp(first, time, rise)
    carried = change / (last - first) > -G_MPS2 / 2.0
    gap = painted(start[carried], stop[carried], len(time))[:, None]
    limits = np.array([options.height_m[1], options.tilt_deg[1], options.carry_mps])[:, None, None]
    return [
        flags | (gap & np.all(track < limits, axis=0))
        for flags, track in zip(touching, tracks, strict=True)
    ]


def _stance(
    sole: Sole,
    stretch: Stretch,
    edges: Float64[Array, " e"],
    surface: Int64[IntArray, "n k"],
    terrain: Terrain,
) -> Stance:
    """The stance of one stretch, on the surface nearest to its corners most of the time."""
    under = surface[stretch.first : stretch.stop, stretch.corners]
    carrier = int(np.argmax(np.bincount(under.reshape(-1))))
    return Stance(
        link=sole.link,
        start=float(edges[stretch.first]),
        end=float(edges[stretch.stop]),
        mode=mode_of(len(stretch.corners)),
        vertices=sole.polygon_l[stretch.corners],
        normal=terrain.surfaces[carrier].normal,
        friction=terrain.friction,
        surface=carrier,
    )
