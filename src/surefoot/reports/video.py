"""A run as an mp4 film: the robot, its reference as a ghost, contact forces, ZMP, CoP and CoM."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.reports import figures, gl
from surefoot.reports.filmstrip import FIELD_OF_VIEW, ROOM, STATURE
from surefoot.reports.projection import VIEW_ANGLES
from surefoot.simulation.trace import Trace
from surefoot.simulation.verdict import Verdict

Progress = Callable[[int, int, str], None]

FPS = 30.0
SIZE_PX = (1280, 720)
ARROW_HEIGHTS = 0.45  # of the robot's stature for each weight, as in the player
LEAST_SHARE = 0.01  # of the weight: smaller forces have no arrow
FOLLOW_S = 0.6  # the camera follows the mean of the root over so long, to each side
BELOW = 0.05  # of the stature: the camera looks at a point so far below the root
FORCE: gl.Rgba = (0.10, 0.50, 0.35, 1.0)
ZMP: gl.Rgba = (0.10, 0.50, 0.35, 1.0)
COP: gl.Rgba = (0.12, 0.37, 0.75, 1.0)
COM: gl.Rgba = (0.71, 0.40, 0.06, 1.0)
POINTS = (ZMP, COP, COM, COM)
"""Colours of the reference's ZMP, the measured CoP, the CoM, and its plumb on the ground."""


def write_video(
    found: Verdict,
    path: str | Path,
    *,
    fps: float = FPS,
    size_px: tuple[int, int] = SIZE_PX,
    progress: Progress | None = None,
) -> None:
    """A run as an mp4 file, whole or not at all.

    Raises:
        MissingPart: no GL library renders here, or there is no encoder: what to install.
        NoFile: the file cannot be written.
    """
    gl.film(take_of(found, fps=fps, size_px=size_px), path, fps=fps, progress=progress)


def take_of(found: Verdict, *, fps: float = FPS, size_px: tuple[int, int] = SIZE_PX) -> gl.Take:
    """What the film of a run shows, frame by frame."""
    trace, robot = found.trace, found.robot
    keep = _frames(trace, fps)
    stature = STATURE * robot.home_height
    azimuth, elevation = VIEW_ANGLES[figures.view_of(found.clip.motion)]
    facing = float(np.degrees(figures.heading(robot, trace.target_qpos[0])))
    force = trace.contact_force_w[keep] / trace.weight_n
    seen = np.linalg.norm(force, axis=2, keepdims=True) > LEAST_SHARE
    com = trace.com_w[keep]
    ground = trace.support_z[keep]
    plumb = np.column_stack([com[:, :2], ground])
    return gl.Take(
        robot,
        trace.qpos[keep],
        trace.target_qpos[keep],
        _followed(trace, keep, stature),
        azimuth_deg=facing + azimuth,
        elevation_deg=elevation + 4.0,
        distance_m=float(0.5 * ROOM * stature / np.tan(0.5 * FIELD_OF_VIEW)),
        size_px=size_px,
        terrain=trace.scene.terrain,
        tail_w=trace.contact_cop_w[keep],
        arrow_w=np.where(seen, ARROW_HEIGHTS * stature * force, np.nan),
        arrow_rgba=(FORCE,) * force.shape[1],
        point_w=np.stack([_zmp(trace, keep), _cop(trace, keep), com, plumb], axis=1),
        point_rgba=POINTS,
    )


def _frames(trace: Trace, fps: float) -> Int64[IntArray, " n"]:
    """The control step that is shown in each frame."""
    count = int(np.floor((trace.time[-1] - trace.time[0]) * fps)) + 1
    times = trace.time[0] + np.arange(count) / fps
    after: IntArray = np.searchsorted(trace.time, times - 0.5 * trace.dt)
    return np.clip(after, 0, trace.steps - 1)


def _followed(trace: Trace, keep: Int64[IntArray, " n"], stature: float) -> Float64[Array, "n 3"]:
    """What the camera looks at: the reference's root, smoothed, so that the picture is calm."""
    half = max(1, round(FOLLOW_S / trace.dt))
    padded = np.pad(trace.target_root_pos_w, ((half, half), (0, 0)), mode="edge")
    sums = np.cumsum(np.vstack([np.zeros((1, 3)), padded]), axis=0)
    mean = (sums[2 * half + 1 :] - sums[: -2 * half - 1]) / (2 * half + 1)
    return np.asarray(mean[keep] - [0.0, 0.0, BELOW * stature], dtype=np.float64)


def _zmp(trace: Trace, keep: Int64[IntArray, " n"]) -> Float64[Array, "n 3"]:
    there = trace.target_zmp_defined[keep, None]
    return np.where(there, trace.target_zmp_w[keep], np.nan)


def _cop(trace: Trace, keep: Int64[IntArray, " n"]) -> Float64[Array, "n 3"]:
    cop_w = np.column_stack([trace.cop_w[keep], trace.support_z[keep]])
    return np.where(trace.cop_valid[keep, None], cop_w, np.nan)
