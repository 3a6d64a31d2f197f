"""Collision shapes of a robot in the simulated world, and soles for feet that have lost theirs.

Meshes are not part of a scene. A sole whose link keeps no simple shape that reaches as far as the
sole's polygon gets a prism over that polygon, on studs at its corners; a sole that is a line or a
point gets a thin capsule or a small sphere.
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
RAISED_M = 0.0005  # of a prism over its studs: more than they sink in
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
        turn = np.array(data.xmat[robot.link_id(sole.link)], dtype=np.float64).reshape(3, 3)
        shapes = _sole_shapes(sole.polygon_l, turn[2])
        for k, shape in enumerate(shapes):
            name = f"{sole.link}_sole{k}"
            while name in taken:
                name += "_"
            taken.add(name)
            if "vertex" in shape:
                _add_mesh(root, name, shape.pop("vertex"))
                shape["mesh"] = name
            ET.SubElement(bodies[sole.link], "geom", {**look, "name": name, **shape})
        sentence = (
            f"{sole.link} has no simple collision shape that reaches its sole: it stands on a"
            f" {shapes[0]['type'].replace('mesh', 'prism')} over the sole's polygon"
        )
        said.append(Notice("assumption", sole.link, sentence))
    return said


def _sole_shapes(
    polygon_l: Float64[Array, "k 3"], up_l: Float64[Array, " 3"]
) -> list[dict[str, str]]:
    """Attributes of the shapes over a polygon.

    A prism stands on studs at its corners, a little lower than itself: it may give the engine as
    few as three points, now these, now those, and would rock. Where an edge of the ground lies
    between the corners it carries by itself.
    """
    size = numbers([THIN_M])
    ends = polygon_l + THIN_M * up_l
    if len(polygon_l) == 2:
        return [{"type": "capsule", "size": size, "fromto": numbers(ends.ravel())}]
    if len(polygon_l) == 1:
        return [{"type": "sphere", "size": size, "pos": numbers(ends[0])}]
    middle = polygon_l.mean(axis=0)
    first = (polygon_l[0] - middle) / np.linalg.norm(polygon_l[0] - middle)
    around = np.outer(np.cos(_AROUND), first) + np.outer(np.sin(_AROUND), np.cross(up_l, first))
    outer = np.unique(np.argmax(around[::2] @ (polygon_l - middle).T, axis=1))
    corners = np.concatenate([polygon_l + RAISED_M * up_l, polygon_l + THICK_M * up_l])
    prism = {"type": "mesh", "vertex": numbers(corners.ravel())}
    return [prism, *({"type": "sphere", "size": size, "pos": numbers(ends[k])} for k in outer)]


def _add_mesh(root: ET.Element, name: str, vertex: str) -> None:
    """Put the corners of a convex body among the assets."""
    assets = root.find("asset")
    if assets is None:
        assets = ET.SubElement(root, "asset")
    ET.SubElement(assets, "mesh", {"name": name, "vertex": vertex})
