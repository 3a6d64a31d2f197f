"""How high points are above the ground: the terrain's, or what a clip itself stands on."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.ndimage import minimum_filter1d

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.motion.contact import ContactSchedule, Terrain

Ground = Literal["local", "clip", "terrain"]
GROUNDS: tuple[Ground, ...] = ("local", "clip", "terrain")

FAR_M = 1e3  # height over nothing: no clip is so high
SAME_WAY = 0.999  # cosine: a stance with another normal than its surface's is on something else
CLIP_QUANTILE = 0.05  # of the lowest corner over the clip: one bad frame is not the ground


def over_terrain(
    points_w: Float64[Array, "n k 3"], terrain: Terrain
) -> tuple[Float64[Array, "n k"], Int64[IntArray, "n k"]]:
    """Distance of each point from the surface nearest to it, m, and that surface's index.

    Along the surface's normal, negative below it, `FAR_M` over nothing. The nearest, not the
    highest: a toe that cuts the riser of a step is not far under the tread above.
    """
    flat = np.ascontiguousarray(points_w[:, :, :2].reshape(-1, 2))
    z = points_w[:, :, 2].reshape(-1)
    above = np.array([(z - s.height(flat)) * s.normal[2] for s in terrain.surfaces])
    nearest = np.argmin(np.abs(above), axis=0)
    height = np.take_along_axis(above, nearest[None], axis=0)[0]
    shape = points_w.shape[:2]
    return np.minimum(height, FAR_M).reshape(shape), nearest.reshape(shape)


def over_own_surface(
    points_w: Float64[Array, "k 3"],
    stance: Int64[IntArray, " k"],
    contacts: ContactSchedule,
    terrain: Terrain,
) -> Float64[Array, " m"]:
    """Distances of vertices from the surfaces that their stances name, m, negative below them.

    Left out: vertices that are over nothing, and those of stances with a normal of their own, as of
    a hand on a wall that the terrain does not have.

    Args:
        stance: whose each vertex is.
    """
    named = np.array([s.surface for s in contacts.stances], dtype=np.int64)
    own = [float(s.normal @ terrain.surfaces[s.surface].normal) for s in contacts.stances]
    other = np.array(own) < SAME_WAY
    found = [np.zeros(0)]
    for number, surface in enumerate(terrain.surfaces):
        at = points_w[(named[stance] == number) & ~other[stance]] if len(named) else points_w[:0]
        above = (at[:, 2] - surface.height(np.ascontiguousarray(at[:, :2]))) * surface.normal[2]
        found.append(above[np.isfinite(above)])
    return np.concatenate(found)


def level(
    time: Float64[Array, " n"],
    lowest: Float64[Array, " n"],
    ground: Ground,
    window_s: float,
) -> Float64[Array, " n"]:
    """Height over the terrain at which the clip stands at each frame, m.

    `local`: the lowest point within the window to either side; `clip`: its 5 % quantile over the
    clip; `terrain`: 0. Where nothing is over any surface the level is 0.

    Args:
        lowest: height of the lowest corner of all soles, m.
    """
    known = lowest < FAR_M
    if ground == "terrain" or not known.any():
        return np.zeros_like(lowest)
    if ground == "clip":
        return np.full_like(lowest, np.quantile(lowest[known], CLIP_QUANTILE))
    frames = 2 * max(1, round(window_s / float(np.median(np.diff(time))))) + 1
    found = minimum_filter1d(lowest, frames, mode="nearest")
    return np.asarray(np.where(found < FAR_M, found, 0.0), dtype=np.float64)
