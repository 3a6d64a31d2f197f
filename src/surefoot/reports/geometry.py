"""The shapes that pictures of a robot are made of: what its links look like, in their frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from surefoot.arrays import Array, Bool, BoolArray, Float64, locked
from surefoot.motion import rotation
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot

Kind = Literal["capsule", "ellipsoid", "polyhedron"]
Rgb = tuple[float, float, float]

SMALLEST_M = 0.002  # marker spheres of some models have a radius of 0.1 mm: nothing to see
CYLINDER_SIDES = 24  # facets of 15 degrees differ too little in shade to be seen
MESH_DIRECTIONS = 96  # support points kept of a mesh: its hull within some millimetres
DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)  # the engine's colour of a geom that names none
BODY_RGB: Rgb = (0.80, 0.83, 0.87)
BONE_RGB: Rgb = (0.55, 0.60, 0.68)
GROUND_RGB: Rgb = (0.72, 0.70, 0.66)
SLAB_M = 0.02  # thickness of a sole that is drawn from its polygon alone
HEAD_SHARE = 0.11  # of the height of the root: a head's radius is some 6 % of the stature
BONE_RADIUS_M = 0.03
BONE_STEPS = 40
SMALLEST_BONE_M = 0.015  # a gap that no picture shows
BONE_SLENDERNESS = 5.0  # a short bone is no thicker than a fifth of its length


@dataclass(frozen=True, slots=True)
class Shape:
    """One convex solid that is fixed to a link."""

    link: int
    """Body of the model; 0 is the world."""
    kind: Kind
    pos_l: Float64[Array, " 3"]
    """Centre in the link's frame, m."""
    rot_ls: Float64[Array, "3 3"]
    """Turns the shape's own axes into the link's."""
    size: Float64[Array, " 3"]
    """Capsule: radius, half length along z, 0. Ellipsoid: half axes. Polyhedron: half extents."""
    rgb: Rgb
    points_s: Float64[Array, "k 3"] = field(default_factory=lambda: np.zeros((0, 3)))
    """Corners of a polyhedron in the shape's axes, m."""
    faces: tuple[tuple[int, ...], ...] = ()
    """Corners of each face, counter-clockwise seen from outside."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("pos_l", "rot_ls", "size", "points_s"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    @property
    def spine(self) -> tuple[Float64[Array, "2 3"], float]:
        """Ends of a segment in the shape's axes, and the radius with which it fills the shape, m.

        What the order of painting is decided with.
        """
        if self.kind == "capsule":
            axis, half, radius = 2, float(self.size[1]), float(self.size[0])
        else:
            axis = int(np.argmax(self.size))
            radius = float(np.sort(self.size)[1])
            half = float(self.size[axis]) - radius
        ends = np.zeros((2, 3))
        ends[:, axis] = (-half, half)
        return ends, radius


def shapes(robot: Robot) -> tuple[Shape, ...]:
    """What each link of a robot looks like.

    A link's visual geoms, else its collision geoms. So that a robot that lost its meshes is still
    seen whole: bones where nothing joins a link to its children, and soles and a head where no
    shape is.
    """
    found = _of_geoms(robot)
    return (*found, *_fillings(robot, found))


def fillings(robot: Robot) -> tuple[Shape, ...]:
    """The shapes among `shapes` that the model has not: what stands for lost meshes."""
    return tuple(_fillings(robot, _of_geoms(robot)))


def _of_geoms(robot: Robot) -> list[Shape]:
    """Of each link its visual geoms, else its collision geoms."""
    model = robot.model
    of_link: dict[int, list[int]] = {}
    for g in range(model.ngeom):
        link = int(model.geom_bodyid[g])
        if link > 0 and _drawable(model, g):
            of_link.setdefault(link, []).append(g)
    found: list[Shape] = []
    for link, geoms in of_link.items():
        visual = [g for g in geoms if _is_visual(model, g)]
        made = (_shape(model, g, link) for g in visual or geoms)
        found += [shape for shape in made if shape is not None]
    return found


def _fillings(robot: Robot, geoms: list[Shape]) -> list[Shape]:
    """A head, bones and soles where no shape is."""
    head = _head(robot, geoms)
    found = [*geoms, *head]
    return [*head, *_bones(robot.model, found), *_soles(robot, found)]


def box(
    center: Float64[Array, " 3"],
    rot: Float64[Array, "3 3"],
    half: Float64[Array, " 3"],
    *,
    link: int = 0,
    rgb: Rgb = BODY_RGB,
) -> Shape:
    """A box with the given half extents."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    return _polyhedron(corners, link, center, rot, rgb)


def _geom_kind(model: mujoco.MjModel, g: int) -> int:
    return int(model.geom_type[g])  # an int: enums of MuJoCo 4 compare equal in one direction only


def _drawable(model: mujoco.MjModel, g: int) -> bool:
    endless = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
    return _geom_kind(model, g) not in endless and float(model.geom_rbound[g]) > SMALLEST_M


def _is_visual(model: mujoco.MjModel, g: int) -> bool:
    return int(model.geom_contype[g]) == 0 and int(model.geom_conaffinity[g]) == 0


def _rgb(model: mujoco.MjModel, g: int) -> Rgb:
    material = int(model.geom_matid[g])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[g]
    if material < 0 and np.allclose(rgba, DEFAULT_RGBA):
        return BODY_RGB
    return (float(rgba[0]), float(rgba[1]), float(rgba[2]))


def _shape(model: mujoco.MjModel, g: int, link: int) -> Shape | None:
    kind, size = _geom_kind(model, g), np.array(model.geom_size[g], dtype=np.float64)
    pos = np.array(model.geom_pos[g], dtype=np.float64)
    rot = rotation.as_matrix(np.array(model.geom_quat[g], dtype=np.float64))
    rgb = _rgb(model, g)
    if kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        return Shape(link, "capsule", pos, rot, np.array([size[0], 0.0, 0.0]), rgb)
    if kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
        return Shape(link, "capsule", pos, rot, np.array([size[0], size[1], 0.0]), rgb)
    if kind == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID):
        return Shape(link, "ellipsoid", pos, rot, size, rgb)
    if kind == int(mujoco.mjtGeom.mjGEOM_BOX):
        return box(pos, rot, size, link=link, rgb=rgb)
    if kind == int(mujoco.mjtGeom.mjGEOM_CYLINDER):
        angle = np.arange(CYLINDER_SIDES) * (2.0 * np.pi / CYLINDER_SIDES)
        ring = np.column_stack([np.cos(angle), np.sin(angle)]) * size[0]
        rings = [np.column_stack([ring, np.full(len(ring), z)]) for z in (-size[1], size[1])]
        return _polyhedron(np.vstack(rings), link, pos, rot, rgb)
    if kind == int(mujoco.mjtGeom.mjGEOM_MESH):
        first = int(model.mesh_vertadr[model.geom_dataid[g]])
        count = int(model.mesh_vertnum[model.geom_dataid[g]])
        corners = _outermost(np.array(model.mesh_vert[first : first + count], dtype=np.float64))
        try:
            return _polyhedron(corners, link, pos, rot, rgb)
        except QhullError:  # a flat mesh has no inside to draw
            return None
    return None


def _outermost(points: Float64[Array, "k 3"]) -> Float64[Array, "d 3"]:
    """The points that lie farthest in directions spread evenly over the sphere."""
    i = np.arange(MESH_DIRECTIONS) + 0.5
    z = 1.0 - 2.0 * i / MESH_DIRECTIONS
    around = i * np.pi * (3.0 - np.sqrt(5.0))  # golden angle: even without clusters at the poles
    flat = np.sqrt(1.0 - z**2)
    towards = np.column_stack([flat * np.cos(around), flat * np.sin(around), z])
    farthest = np.unique(np.argmax(points @ towards.T, axis=0))
    return np.asarray(points[farthest], dtype=np.float64)


def _polyhedron(
    corners: Float64[Array, "k 3"],
    link: int,
    pos: Float64[Array, " 3"],
    rot: Float64[Array, "3 3"],
    rgb: Rgb,
) -> Shape:
    """The convex hull of the corners, with triangles of one plane joined to one face.

    Raises:
        QhullError: the corners lie in one plane.
    """
    hull = ConvexHull(corners)
    planes: dict[tuple[float, ...], set[int]] = {}
    scale = np.array([1.0, 1.0, 1.0, 1.0 / max(float(np.ptp(corners)), 1e-9)])
    for corner_ids, equation in zip(hull.simplices, hull.equations, strict=True):
        key = tuple(float(v) + 0.0 for v in np.round(equation * scale, 4))
        planes.setdefault(key, set()).update(int(i) for i in corner_ids)
    faces = tuple(_around(corners, sorted(ids), np.array(key[:3])) for key, ids in planes.items())
    half = np.max(np.abs(corners), axis=0)
    return Shape(link, "polyhedron", pos, rot, half, rgb, corners, faces)


def _around(
    corners: Float64[Array, "k 3"], ids: list[int], normal: Float64[Array, " 3"]
) -> tuple[int, ...]:
    """The corners of a face in order, counter-clockwise about its normal."""
    arms = corners[ids] - np.mean(corners[ids], axis=0)
    across = np.cross(normal, arms[0])
    angle = np.arctan2(arms @ across, arms @ np.cross(across, normal))
    return tuple(ids[i] for i in np.argsort(angle, kind="stable"))


def _bones(model: mujoco.MjModel, found: list[Shape]) -> list[Shape]:
    """Capsules from each link's origin to those of its children, where no shape covers the way.

    They join what would hang in the air: links without any shape, and gaps between shapes.
    """
    counts = np.zeros(model.nbody, dtype=bool)
    for link in range(model.nbody - 1, 0, -1):  # children come after their parents
        counts[link] |= any(shape.link == link for shape in found) or model.body_jntnum[link] > 0
        counts[int(model.body_parentid[link])] |= counts[link]
    bones: list[Shape] = []
    for link in range(2, model.nbody):
        parent = int(model.body_parentid[link])
        if parent == 0 or not counts[link]:
            continue
        reach = np.array(model.body_pos[link], dtype=np.float64)
        rot = rotation.as_matrix(np.array(model.body_quat[link], dtype=np.float64))
        way = _way(reach)
        covered = _filled(found, parent, way)
        covered |= _filled(found, link, (way - reach) @ rot)  # as it is before any joint moves
        bones += _bridge(parent, way[~covered])
    return bones


def _way(end: Float64[Array, " 3"]) -> Float64[Array, "k 3"]:
    return np.asarray(np.linspace(0.0, 1.0, BONE_STEPS + 1)[:, None] * end, dtype=np.float64)


def _bridge(link: int, bare: Float64[Array, "k 3"]) -> list[Shape]:
    """A bone over the points that nothing covers, if they are far enough apart to be seen."""
    if len(bare) < 2 or float(np.linalg.norm(bare[-1] - bare[0])) < SMALLEST_BONE_M:
        return []
    return [_bone(link, bare[0], bare[-1])]


def _soles(robot: Robot, found: list[Shape]) -> list[Shape]:
    """Slabs on the polygons of soles that no shape fills, and bones from the ankle to the sole."""
    made: list[Shape] = []
    for sole in robot.soles:
        link, corners = robot.link_id(sole.link), sole.polygon_l
        middle = np.mean(corners, axis=0)
        up = _upwards(corners)
        if up is None:  # a foot that stands on a line or a point: bones alone show it
            along = corners[0] + _way(corners[-1] - corners[0])
            made += _bridge(link, along[~_filled([*found, *made], link, along)])
        elif not _filled(found, link, (middle + 0.5 * SLAB_M * up)[None])[0]:
            both = np.vstack([corners, corners + SLAB_M * up]) - middle
            made.append(_polyhedron(both, link, middle, np.eye(3), BODY_RGB))
        way = _way(middle)
        made += _bridge(link, way[~_filled([*found, *made], link, way)])
    return made


def _upwards(corners: Float64[Array, "k 3"]) -> Float64[Array, " 3"] | None:
    """Unit normal of a polygon whose corners run counter-clockwise; None where it has no area."""
    arms = corners - corners[0]
    area = np.sum(np.cross(arms[:-1], arms[1:]), axis=0)
    size = float(np.linalg.norm(area))
    return None if size < SMALLEST_M**2 else np.asarray(area / size, dtype=np.float64)


def _head(robot: Robot, found: list[Shape]) -> list[Shape]:
    """A ball at the landmark of the head, and its neck, where no shape is."""
    mark = robot.landmarks.get("head")
    if mark is None:
        return []
    link = robot.link_id(mark.link)
    if _filled(found, link, mark.point_l[None])[0]:
        return []
    size = np.array([HEAD_SHARE * robot.home_height, 0.0, 0.0])
    ball = Shape(link, "capsule", mark.point_l, np.eye(3), size, BODY_RGB)
    reach = float(np.linalg.norm(mark.point_l))
    return [ball, _bone(link, np.zeros(3), mark.point_l)] if reach > size[0] else [ball]


def _bone(link: int, start: Float64[Array, " 3"], end: Float64[Array, " 3"]) -> Shape:
    length = float(np.linalg.norm(end - start))
    radius = min(BONE_RADIUS_M, length / BONE_SLENDERNESS)
    size = np.array([radius, length / 2.0, 0.0])
    axis = (end - start) / length
    return Shape(link, "capsule", 0.5 * (start + end), _along(axis), size, BONE_RGB)


def _filled(
    found: list[Shape], link: int, points_l: Float64[Array, "k 3"]
) -> Bool[BoolArray, " k"]:
    """Which points of a link lie inside any of its shapes."""
    inside = np.zeros(len(points_l), dtype=bool)
    for shape in found:
        if shape.link == link:
            inside |= _covers(shape, points_l)
    return inside


def _covers(shape: Shape, points_l: Float64[Array, "k 3"]) -> Bool[BoolArray, " k"]:
    """Which points lie inside a shape of their link."""
    points = (points_l - shape.pos_l) @ shape.rot_ls
    if shape.kind == "capsule":
        beyond = points - np.clip(points, [0, 0, -shape.size[1]], [0, 0, shape.size[1]])
        return np.asarray(np.linalg.norm(beyond, axis=1) <= shape.size[0])
    if shape.kind == "ellipsoid":
        return np.asarray(np.linalg.norm(points / shape.size, axis=1) <= 1.0)
    inside = np.ones(len(points), dtype=bool)
    for face in shape.faces:
        a, b, c = shape.points_s[list(face[:3])]
        inside &= (points - a) @ np.cross(b - a, c - b) <= 0.0
    return inside


def _along(axis: Float64[Array, " 3"]) -> Float64[Array, "3 3"]:
    """A rotation that turns z into the axis."""
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    side /= np.linalg.norm(side)
    return np.column_stack([side, np.cross(axis, side), axis])
