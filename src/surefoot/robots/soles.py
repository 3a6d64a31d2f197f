"""Soles: polygons of the lowest points of the feet's collision shapes, and the pose on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from surefoot.arrays import Array, Float64
from surefoot.errors import BadRobot, Notice
from surefoot.robots.engine import mujoco
from surefoot.robots.profile import SoleRule
from surefoot.robots.robot import Side, Sole

LOWEST_M = (
    0.002  # points this near to the lowest one belong to the sole: play of spheres and meshes
)
SAME_CORNER_M = 1e-6  # corners nearer than this are one corner
TILTED = 0.94  # cosine; a foot that leans more than 20 degrees in the home pose does not stand
LARGER = 1.02  # a polygon this much larger is another one, not the same with rounding
DIGITS = 9  # of corners in m: a nanometre, above the rounding of the turn into the link's frame
HIDDEN_FOOT_M = 0.03  # links this far below the lowest shape: the feet have lost their shapes
ROUND_CORNERS = 16  # of an upright cylinder's rim: the polygon loses 2 % of the disc's radius
UPRIGHT = 0.99  # cosine; a cylinder within 8 degrees of upright stands on its rim, not on a point
UPRIGHT_ROOT = 0.5  # cosine; a root whose z axis leans more says nothing about left: world's y does
GROUND_BAND_M = 0.01  # links whose shapes end this near to the lowest point of all are feet
LETTERS = (("l", "r"), ("r", "l"), ("L", "R"), ("R", "L"))
SIDES = (("left", "right"), ("right", "left"), ("Left", "Right"), ("Right", "Left"),
         ("LEFT", "RIGHT"), ("RIGHT", "LEFT"))  # fmt: skip
_CORNERS = np.array(
    [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64
)


def posed(model: mujoco.MjModel, qpos: Float64[Array, " nq"]) -> mujoco.MjData:
    """Engine data with the places of all links and shapes in one pose."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    return data


def low_points_w(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    geom: int,
    R_vw: Float64[Array, "3 3"] | None = None,
) -> Float64[Array, "k 3"]:
    """Points of a shape among which its lowest ones are, in the world, or turned by R_vw."""
    view = np.eye(3) if R_vw is None else R_vw
    kind = int(model.geom_type[geom])
    size = np.asarray(model.geom_size[geom], dtype=np.float64)
    center = view @ np.array(data.geom_xpos[geom], dtype=np.float64)
    turn = view @ np.array(data.geom_xmat[geom], dtype=np.float64).reshape(3, 3)
    types = mujoco.mjtGeom
    offsets = np.zeros((0, 3))
    if kind == int(types.mjGEOM_BOX):
        offsets = (_CORNERS * size) @ turn.T
    elif kind in (int(types.mjGEOM_SPHERE), int(types.mjGEOM_CAPSULE)):
        half = size[1] if kind == int(types.mjGEOM_CAPSULE) else 0.0
        offsets = np.outer([-half, half], turn[:, 2]) - [0.0, 0.0, size[0]]
    elif kind == int(types.mjGEOM_CYLINDER):
        offsets = _cylinder(float(size[0]), float(size[1]), turn) @ turn.T
    elif kind == int(types.mjGEOM_ELLIPSOID):
        down = -turn[2]
        offsets = (turn @ (size**2 * down / np.linalg.norm(size * down)))[None]
    elif kind == int(types.mjGEOM_MESH):
        mesh = int(model.geom_dataid[geom])
        first = int(model.mesh_vertadr[mesh])
        vertices = model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])]
        offsets = np.asarray(vertices, dtype=np.float64) @ turn.T
    return np.asarray(center + offsets, dtype=np.float64)


def _cylinder(radius: float, half: float, turn: Float64[Array, "3 3"]) -> Float64[Array, "k 3"]:
    """Rims of an upright cylinder, else the lowest point of each rim, in the shape's axes."""
    if abs(turn[2, 2]) > UPRIGHT:
        angle = np.arange(ROUND_CORNERS) * (2.0 * np.pi / ROUND_CORNERS)
        rim = radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    else:
        rim = -radius * turn[2, :2][None] / np.linalg.norm(turn[2, :2])
    return np.concatenate([np.hstack([rim, np.full((len(rim), 1), z)]) for z in (-half, half)])


def shapes(model: mujoco.MjModel, link: int) -> list[int]:
    """Collision shapes of a link and of what is fixed to it; all its shapes if none collides."""
    bodies = {link}
    for body in range(link + 1, model.nbody):
        if int(model.body_parentid[body]) in bodies and int(model.body_jntnum[body]) == 0:
            bodies.add(body)
    own = [g for g in range(model.ngeom) if int(model.geom_bodyid[g]) in bodies]
    touching = [g for g in own if _collides(model, g)]
    return touching or own


def _collides(model: mujoco.MjModel, geom: int) -> bool:
    return bool(int(model.geom_contype[geom]) | int(model.geom_conaffinity[geom]))


def sole_polygon(model: mujoco.MjModel, data: mujoco.MjData, link: int) -> Float64[Array, "k 3"]:
    """Corners of the polygon on which a link stands, in its frame; none where it has no shape.

    The convex hull, seen from above, of the points within LOWEST_M of the lowest one. Two corners
    are a line (a lying capsule), one is a point. A foot that is somewhat tilted in this pose would
    lose an edge: of the polygon here and that of the foot put level the larger one is taken.
    """
    here = _polygon_seen(model, data, link, np.eye(3))
    level = _levelled(np.array(data.xmat[link], dtype=np.float64).reshape(3, 3))
    put_level = here if level is None else _polygon_seen(model, data, link, level)
    return put_level if _spread(put_level) > LARGER * _spread(here) else here


def _polygon_seen(
    model: mujoco.MjModel, data: mujoco.MjData, link: int, R_vw: Float64[Array, "3 3"]
) -> Float64[Array, "k 3"]:
    """The polygon of the lowest points where R_vw says what is low."""
    points = [low_points_w(model, data, geom, R_vw) for geom in shapes(model, link)]
    cloud = np.concatenate(points) if points else np.zeros((0, 3))
    if len(cloud) == 0:
        return cloud
    low = cloud[cloud[:, 2] <= cloud[:, 2].min() + LOWEST_M]
    corners = _hull(low)
    turn = R_vw @ np.array(data.xmat[link], dtype=np.float64).reshape(3, 3)
    origin = R_vw @ np.array(data.xpos[link], dtype=np.float64)
    return np.asarray(np.round((corners - origin) @ turn, DIGITS) + 0.0, dtype=np.float64)


def _levelled(R_wl: Float64[Array, "3 3"]) -> Float64[Array, "3 3"] | None:
    """The least turn that makes the link's steepest axis vertical; None if it leans too much."""
    k = int(np.argmax(np.abs(R_wl[2])))
    up = R_wl[:, k] * np.sign(R_wl[2, k])
    if up[2] < TILTED:
        return None
    x, y, z = up
    return np.array([[1.0 - x * x / (1.0 + z), -x * y / (1.0 + z), -x],
                     [-x * y / (1.0 + z), 1.0 - y * y / (1.0 + z), -y], [x, y, z]])  # fmt: skip


def _spread(polygon: Float64[Array, "k 3"]) -> float:
    """How large a polygon is, m²: twice its area, and a little for the length of a line."""
    if len(polygon) < 2:
        return 0.0
    edges = np.roll(polygon, -1, axis=0) - polygon
    area = np.linalg.norm(np.cross(polygon, np.roll(polygon, -1, axis=0)).sum(axis=0))
    return float(area + LOWEST_M * np.linalg.norm(edges, axis=1).max())


def _hull(points_w: Float64[Array, "k 3"]) -> Float64[Array, "c 3"]:
    """Corners of the convex hull seen from above, counter-clockwise, from the rear right one on."""
    order = np.lexsort((points_w[:, 1], points_w[:, 0]))
    kept: list[int] = []
    for i in order:
        apart = np.abs(points_w[kept, :2] - points_w[i, :2]).max(axis=1) if kept else np.ones(1)
        if apart.min() > SAME_CORNER_M:
            kept.append(int(i))
    single = points_w[kept]
    if len(single) < 3:
        return single
    try:
        return single[ConvexHull(single[:, :2]).vertices]
    except QhullError:  # all on one line: its ends
        return single[[0, -1]]


def lowest_links(model: mujoco.MjModel, data: mujoco.MjData) -> list[int]:
    """Links whose shapes reach within GROUND_BAND_M of the lowest point of the robot.

    Collision shapes; of a robot that has none at all, the shapes that are drawn.
    """
    lows: dict[int, float] = {}
    own = [g for g in range(model.ngeom) if int(model.geom_bodyid[g]) != 0]
    for geom in [g for g in own if _collides(model, g)] or own:
        body = int(model.geom_bodyid[geom])
        points = low_points_w(model, data, geom)
        if len(points):
            moving = _moving(model, body)
            lows[moving] = min(lows.get(moving, np.inf), float(points[:, 2].min()))
    if not lows:
        return []
    ground = min(lows.values())
    return sorted(body for body, z in lows.items() if z <= ground + GROUND_BAND_M)


def _moving(model: mujoco.MjModel, body: int) -> int:
    """The link that a fixed one is fixed to."""
    while int(model.body_jntnum[body]) == 0 and int(model.body_parentid[body]) != 0:
        body = int(model.body_parentid[body])
    return body


def side_of(name: str, y: float, others: Iterable[str] = ()) -> Side:
    """Left or right: by the words of a link's name, else by its twin, else by where it is.

    Args:
        y: how far to the left of the root, m.
        others: all links; a twin's name differs by l or r, as `ltoes` and `rtoes`.
    """
    word = name.lower()
    tokens = word.replace("-", "_").replace(".", "_").split("_")
    if "left" in word or "l" in tokens:
        return "left"
    if "right" in word or "r" in tokens:
        return "right"
    twin = find_twin(name, others)
    if twin is not None:
        letter = next(a for a, b in zip(word, twin.lower(), strict=True) if a != b)
        return "left" if letter == "l" else "right"
    return "left" if y >= 0.0 else "right"


def find_twin(name: str, others: Iterable[str]) -> str | None:
    """The link of the other side: left and right, or one l and r, changed in the name."""
    known = set(others)
    swaps = [name.replace(old, new) for old, new in SIDES if old in name]
    for i, letter in enumerate(name):
        swaps += [name[:i] + new + name[i + 1 :] for old, new in LETTERS if letter == old]
    return next((swap for swap in swaps if swap in known), None)


def find_feet(model: mujoco.MjModel, data: mujoco.MjData, where: str) -> tuple[SoleRule, ...]:
    """The lowest links as feet, for a robot whose profile does not name them.

    Raises:
        BadRobot: no shape at all, or links that hang below all shapes: their shapes are lost.
    """
    advice = "Give the soles in a profile beside the model (docs/robots.md)"
    links = lowest_links(model, data)
    if not links:
        raise BadRobot(what="no feet found: no link has a shape", where=where, todo=advice)
    ground = min(sole_low(model, data, link) for link in links)
    known = [str(model.body(b).name) for b in range(1, model.nbody)]
    if len(links) == 1:  # a robot in mid-stride has its other foot in the air
        twin = find_twin(str(model.body(links[0]).name), known)
        links += [int(model.body(twin).id)] if twin and shapes(model, model.body(twin).id) else []
    bare = [b for b in range(1, model.nbody) if not shapes(model, b)]
    deepest = min(bare, key=lambda b: float(data.xpos[b, 2]), default=links[0])
    if bare and float(data.xpos[deepest, 2]) < ground - HIDDEN_FOOT_M:
        raise BadRobot(
            what=f"no feet found: link '{model.body(deepest).name}' hangs lower than any collision "
            "shape",
            where=where,
            todo=advice,
        )
    origin = np.asarray(data.xpos[1], dtype=np.float64)
    turn = np.asarray(data.xmat[1], dtype=np.float64).reshape(3, 3)
    left_w = turn[:, 1] if turn[2, 2] > UPRIGHT_ROOT else np.array([0.0, 1.0, 0.0])
    rules: list[SoleRule] = []
    for link in links:
        name = str(model.body(link).name)
        offset = float((np.asarray(data.xpos[link], dtype=np.float64) - origin) @ left_w)
        rules.append(SoleRule(name, side_of(name, offset, known), None, None, ""))
    if len(rules) == 1 or len({rule.side for rule in rules}) == 2:
        return tuple(rules)
    # All on one side: where a name does not tell, the place has erred.
    told = [side_of(r.link, 1.0, known) == side_of(r.link, -1.0, known) for r in rules]
    if all(told):
        named = ", ".join(f"'{rule.link}'" for rule in rules)
        raise BadRobot(
            what=f"no feet found: the lowest links are all on the {rules[0].side} side: {named}",
            where=where,
            todo=f"Does the robot stand in its home pose? {advice}",
        )
    other: Side = "right" if rules[0].side == "left" else "left"
    k = told.index(False)
    rules[k] = replace(rules[k], side=other)
    return tuple(rules)


def sole_low(model: mujoco.MjModel, data: mujoco.MjData, link: int) -> float:
    """Height of the lowest point of a link's collision shapes in the world, m."""
    points = [low_points_w(model, data, geom) for geom in shapes(model, link)]
    return float(np.concatenate(points)[:, 2].min())


def stand(
    model: mujoco.MjModel, home: Float64[Array, " nq"], rules: tuple[SoleRule, ...], where: str
) -> tuple[tuple[Sole, ...], Float64[Array, " nq"], tuple[Notice, ...]]:
    """The soles, the home pose put down on them, and what was assumed.

    Args:
        rules: the profile's feet; none: the lowest links are taken.

    Raises:
        BadRobot: no feet, or a foot without a shape.
    """
    data = posed(model, home)
    notices: list[Notice] = []
    if not rules:
        rules = find_feet(model, data, where)
        feet = ", ".join(f"'{rule.link}' ({rule.side})" for rule in rules)
        notices.append(Notice("assumption", "soles", f"feet taken to be the lowest links: {feet}"))
    soles: list[Sole] = []
    for rule in rules:
        polygon = rule.polygon_l
        if polygon is None:
            polygon = sole_polygon(model, data, int(model.body(rule.link).id))
        if len(polygon) == 0:
            raise BadRobot(
                what=f"foot '{rule.link}' has no shape to stand on",
                where=where,
                todo="Give its sole as polygon_m in a profile beside the model (docs/robots.md)",
            )
        if len(polygon) < 3:
            kind = "a point" if len(polygon) == 1 else "a line"
            notices.append(
                Notice("assumption", rule.link, f"the sole of link '{rule.link}' is {kind}")
            )
        soles.append(Sole(rule.link, rule.side, polygon))
    soles.sort(key=lambda sole: sole.side != "left")
    return tuple(soles), _put_down(model, data, home, soles), tuple(notices)


def _put_down(
    model: mujoco.MjModel, data: mujoco.MjData, home: Float64[Array, " nq"], soles: list[Sole]
) -> Float64[Array, " nq"]:
    """The home pose with the lowest corner of the soles on z = 0."""
    heights: list[float] = []
    for sole in soles:
        link = int(model.body(sole.link).id)
        turn = np.array(data.xmat[link], dtype=np.float64).reshape(3, 3)
        heights.append(float((data.xpos[link] + sole.polygon_l @ turn.T)[:, 2].min()))
    out = home.copy()
    if int(model.jnt_type[0]) == int(mujoco.mjtJoint.mjJNT_FREE):
        out[2] -= min(heights)
        return out
    for joint in range(3):  # the slide along z of a planar base
        axis = np.asarray(model.jnt_axis[joint], dtype=np.float64)
        if abs(axis[2]) > 0.5:
            out[int(model.jnt_qposadr[joint])] -= np.sign(axis[2]) * min(heights)
    return out
