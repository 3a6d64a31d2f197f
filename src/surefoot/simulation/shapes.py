"""Collision shapes of a robot in the simulated world, and soles for feet that have lost theirs.

Meshes are not part of a scene. A sole whose link keeps no simple shape that reaches as far as the
sole's polygon gets a prism over that polygon; a sole that is a line or a point gets a thin capsule
or a small sphere.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable

import numpy as np

from surefoot.arrays import Array, BoolArray, Float64
from surefoot.errors import Notice
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot, Sole
from surefoot.robots.soles import low_points_w, posed

THICK_M = 0.02  # of a prism: thinner ones are pressed through by a landing foot
THIN_M = 0.005  # radius of a sole that is a line or a point
LEVEL_M = 0.003  # simple shapes that end further above the polygon are not the sole
INSIDE_M = 0.01  # how far the polygon may reach beyond the simple shapes
_AROUND = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


def numbers(values: Iterable[float]) -> str:
    """Numbers as MJCF writes them, to the last bit."""
    return " ".join(repr(float(value)) for value in values)


def fixed_to(model: mujoco.MjModel, link: int) -> int:
    """The link with joints, or the topmost one, that moves as one with this link."""
    while int(model.body_jntnum[link]) == 0 and int(model.body_parentid[link]) != 0:
        link = int(model.body_parentid[link])
    return link


def touching(model: mujoco.MjModel) -> BoolArray:
    """Which shapes collide with anything, as the robot's file says."""
    return np.asarray((model.geom_contype != 0) | (model.geom_conaffinity != 0), dtype=np.bool_)


def missing_soles(robot: Robot, plain: mujoco.MjModel) -> list[Sole]:
    """The soles that the model without meshes cannot stand on.

    Args:
        plain: the model without meshes; its links are those of the robot.
    """
    data = posed(plain, robot.home)
    collides = touching(plain)
    group = np.array([fixed_to(plain, b) for b in range(plain.nbody)])
    found = []
    for sole in robot.soles:
        own = group[plain.geom_bodyid] == group[robot.link_id(sole.link)]
        shapes = np.flatnonzero(own & collides)
        points = [low_points_w(plain, data, int(shape)) for shape in shapes]
        cloud = np.concatenate(points) if points else np.zeros((0, 3))
        if not _reach(cloud, _in_world(data, robot.link_id(sole.link), sole.polygon_l)):
            found.append(sole)
    return found


def _in_world(
    data: mujoco.MjData, link: int, points_l: Float64[Array, "k 3"]
) -> Float64[Array, "k 3"]:
    turn = np.array(data.xmat[link], dtype=np.float64).reshape(3, 3)
    return np.asarray(data.xpos[link] + points_l @ turn.T, dtype=np.float64)


def _reach(cloud_w: Float64[Array, "n 3"], polygon_w: Float64[Array, "k 3"]) -> bool:
    """Whether low points of shapes reach as low and as far out as a polygon."""
    low = polygon_w[:, 2].min()
    near = cloud_w[cloud_w[:, 2] <= low + LEVEL_M]
    if not len(near):
        return False
    ways = np.stack([np.cos(_AROUND), np.sin(_AROUND)])
    lack = (polygon_w[:, :2] @ ways).max(axis=0) - (near[:, :2] @ ways).max(axis=0)
    return bool(lack.max() <= INSIDE_M)


def add_soles(
    root: ET.Element, robot: Robot, plain: mujoco.MjModel, look: dict[str, str]
) -> list[Notice]:
    """Give shapes to the soles that have none, and say so.

    Args:
        root: the robot's MJCF, changed in place.
        look: attributes of every shape that collides.
    """
    said = []
    bodies = {element.get("name"): element for element in root.iter("body")}
    taken = {geom.get("name") for geom in root.iter("geom")}
    data = posed(plain, robot.home)
    for sole in missing_soles(robot, plain):
        name = f"{sole.link}_sole"
        while name in taken:
            name += "_"
        taken.add(name)
        turn = np.array(data.xmat[robot.link_id(sole.link)], dtype=np.float64).reshape(3, 3)
        shape = _sole_shape(root, name, sole.polygon_l, turn[2])
        ET.SubElement(bodies[sole.link], "geom", {**look, "name": name, **shape})
        sentence = (
            f"{sole.link} has no simple collision shape that reaches its sole: it stands on a"
            f" {shape['type'].replace('mesh', 'prism')} over the sole's polygon"
        )
        said.append(Notice("assumption", sole.link, sentence))
    return said


def _sole_shape(
    root: ET.Element, name: str, polygon_l: Float64[Array, "k 3"], up_l: Float64[Array, " 3"]
) -> dict[str, str]:
    """Attributes of the shape over a polygon; the mesh of a prism goes into the assets."""
    size = numbers([THIN_M])
    if len(polygon_l) < 3:
        ends = polygon_l + THIN_M * up_l
        if len(ends) == 1:
            return {"type": "sphere", "size": size, "pos": numbers(ends[0])}
        return {"type": "capsule", "size": size, "fromto": numbers(ends.ravel())}
    assets = root.find("asset")
    if assets is None:
        assets = ET.SubElement(root, "asset")
    corners = np.concatenate([polygon_l, polygon_l + THICK_M * up_l])
    ET.SubElement(assets, "mesh", {"name": name, "vertex": numbers(corners.ravel())})
    return {"type": "mesh", "mesh": name}
