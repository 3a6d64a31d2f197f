"""Sides of a sole by name: toe, heel, inner, outer; and what touches, in words."""

from __future__ import annotations

from typing import Literal

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.dynamics.batch import Batch
from surefoot.robots.robot import Robot, Sole

Edge = Literal["toe", "heel", "inner", "outer"]
EDGES: tuple[Edge, ...] = ("toe", "heel", "inner", "outer")

SAME_M = 2e-6  # vertices from a file with six decimals are this far from the sole's corners


def edge_corners(robot: Robot, sole: Sole, edge: Edge) -> Int64[IntArray, " 2"]:
    """The two corners of the side of a sole that faces forward, back, inward or outward.

    The side whose normal is nearest to that direction in the home pose, where robots face +x.
    """
    corners = _home(robot, sole)
    following = np.roll(corners, -1, axis=0)
    along = following - corners
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1)  # outward: corners run counter-clockwise
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    inward = -1.0 if sole.side == "left" else 1.0
    direction = {"toe": (1.0, 0.0), "heel": (-1.0, 0.0), "inner": (0.0, inward)}.get(
        edge, (0.0, -inward)
    )
    first = int(np.argmax(normal @ np.array(direction)))
    return np.array([first, (first + 1) % len(corners)], dtype=np.int64)


def touching(robot: Robot, sole: Sole | None, vertices_l: Float64[Array, "v 3"]) -> str:
    """What touches, in words: `whole sole`, `toe edge`, `inner heel corner`, `3 corners`."""
    count = len(vertices_l)
    plain = {1: "point", 2: "edge"}.get(count, f"{count} points")
    if sole is None:
        return plain
    apart = np.linalg.norm(vertices_l[:, None] - sole.polygon_l[None], axis=2)
    if np.any(apart.min(axis=1) > SAME_M):
        return plain
    found = set(np.argmin(apart, axis=1).tolist())
    if len(found) == len(sole.polygon_l):
        return "whole sole"
    sides = {edge: set(edge_corners(robot, sole, edge).tolist()) for edge in EDGES}
    if len(found) == 1:
        named = [edge for edge in ("inner", "outer", "toe", "heel") if found <= sides[edge]]
        return " ".join([*named, "corner"])
    for edge in EDGES:
        if found == sides[edge]:
            return f"{edge} edge"
    return f"{count} corners"


def _home(robot: Robot, sole: Sole) -> Float64[Array, "k 2"]:
    """The sole's corners seen from above in the home pose, m."""
    flat: Array = Batch(robot, robot.home[None]).points_w(sole.link, sole.polygon_l)[0, :, :2]
    return flat
