"""The ground of a robot clip: the person's at the robot's scale, and the motion set down on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, BadRobot
from surefoot.motion.contact import Terrain
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot

GROUND_BAND_M = 0.04  # soles within this above their lowest level stand; higher ones climb or fly
LOWEST_SHARE = 0.05  # of the frames: one bad frame is not the ground


def scaled(terrain: Terrain, scale: float) -> Terrain:
    """The terrain with every length about the world's origin times that factor.

    A path over it that is scaled alike meets the same treads at the same moments.
    """
    surfaces = tuple(
        replace(s, point=locked(scale * s.point), size=locked(scale * s.size))
        for s in terrain.surfaces
    )
    return replace(terrain, surfaces=surfaces)


def on_ground(motion: Motion, robot: Robot, terrain: Terrain) -> Motion:
    """The motion lifted or lowered by one constant: the lowest level of its soles is the ground.

    A sole is as high as its lowest corner is above the ground under its middle: with a toe inside
    a riser the corner itself would be far under the tread above.

    Raises:
        BadRobot: the robot has no soles.
        BadMotion: no sole is ever above the terrain.
    """
    if not robot.soles:
        raise BadRobot(
            what=f"robot '{robot.name}' has no soles",
            where=robot.source,
            todo="give [[sole]] in its profile (docs/robots.md)",
        )
    batch = Batch(robot, robot.qpos(motion))
    heights: list[Array] = []
    for sole in robot.soles:  # two to four
        corners_w = batch.points_w(sole.link, sole.polygon_l)
        under = terrain.height(np.ascontiguousarray(corners_w[:, :, :2].mean(axis=1)))
        heights.append(corners_w[:, :, 2].min(axis=1) - under)
    lowest = np.min(heights, axis=0)
    lowest = lowest[np.isfinite(lowest)]
    if not len(lowest):
        raise BadMotion(
            what="no sole is ever above the terrain",
            where=f"robot '{robot.name}'",
            todo="give the terrain that the person walked on, in metres of the human clip",
        )
    return replace(motion, root_pos=motion.root_pos - np.array([0.0, 0.0, _level(lowest)]))


def _level(lowest: Float64[Array, " n"]) -> float:
    floor = float(np.quantile(lowest, LOWEST_SHARE))
    return float(np.median(lowest[np.abs(lowest - floor) <= GROUND_BAND_M]))
