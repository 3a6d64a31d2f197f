"""What stands and what is on its way, as the arrays that the assembly of the QP reads."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.control.contact_set import ContactSet, joints_between
from surefoot.control.target import Patches, Target
from surefoot.kernels.whole_body import EDGE, FACE, HUNG, POINT, Footing
from surefoot.motion import rotation
from surefoot.robots.robot import Robot

SAME_M = 0.003  # of a foot and its toe, whose corners lie on one hinge
FLAT_M = 0.001  # a corner that juts out no further adds nothing to a face
ROWS = {POINT: 3, EDGE: 5, FACE: 6}  # accelerations that a stance holds
LARGEST = 8  # corners of a face; a finer outline is cut to so many, on the inside


def footing_of(
    robot: Robot, contacts: ContactSet, target: Target, *, lowering_mps: float
) -> Footing:
    """The contact links that carry, and those that do not as links to be tracked.

    Faces come first, links before what hangs on them. Of two vertices at one place the first stays.
    A link that hangs on one that stands by fewer joints than the accelerations it would hold (a toe
    on its foot) has these joints held instead; one that a face hangs on so (a foot that rolls over
    its toe) is left to what it presses on.
    """
    patches = contacts.patches
    stands = [int(p) for p in contacts.carrying if p >= 0]
    stands.sort(key=lambda p: (-_mode(patches, p), int(patches.patch_body[p])))
    hung, held = _hung(robot, patches, stands)
    slides = [int(patches.patch_body[p]) for p in stands if patches.moving[p]]
    off = [c for c in range(len(contacts.carrying)) if contacts.carrying[c] < 0]
    down = [
        -lowering_mps * patches.normal_w[contacts.late[c]] if contacts.late[c] >= 0 else np.zeros(3)
        for c in off
    ]
    stance, vertices = _vertices(patches, stands, target)
    corners = [patches.vertices_of(p) for p in stands]
    return Footing(
        link=_whole(patches.patch_body[p] for p in stands),
        mode=_whole(HUNG if p in hung else _mode(patches, p) for p in stands),
        moving=_whole(bool(patches.moving[p]) for p in stands),
        point_l=np.array([c.mean(axis=0) for c in corners]).reshape(-1, 3),
        edge_l=np.array([_along(c) for c in corners]).reshape(-1, 3),
        normal_w=np.array([patches.normal_w[p] for p in stands]).reshape(-1, 3),
        friction=np.array([float(patches.friction[p]) for p in stands]),
        vertex_stance=_whole(stance),
        vertex_l=vertices,
        held_dof=_whole(held),
        tracked=_whole([*(patches.link_body[c] for c in off), *slides]),
        down_w=np.array([*down, *(np.zeros(3) for _ in slides)]).reshape(-1, 3),
    )


def _hung(robot: Robot, patches: Patches, stands: list[int]) -> tuple[list[int], list[int]]:
    """Patches that are held through others, and the degrees of freedom that hold them."""
    hung: list[int] = []
    held: list[int] = []
    for i, p in enumerate(stands):
        own, rows = int(patches.patch_body[p]), ROWS[_mode(patches, p)]
        for other in stands[:i]:
            if other in hung or patches.moving[other]:
                continue
            to = int(patches.patch_body[other])
            out, back = joints_between(robot, to, own), joints_between(robot, own, to)
            if out is not None and out < rows:
                held += dofs_between(robot, to, own)
            elif back is None or back >= rows:
                continue
            elif rows == ROWS[FACE]:
                held += dofs_between(robot, own, to)
            hung.append(p)
            break
    return hung, held


def dofs_between(robot: Robot, upper: int, lower: int) -> list[int]:
    """The degrees of freedom from one link out to another that hangs on it."""
    found: list[int] = []
    while lower != upper:
        first = int(robot.model.body_dofadr[lower])
        found += range(first, first + int(robot.model.body_dofnum[lower]))
        lower = int(robot.model.body_parentid[lower])
    return found


def _whole(values: object) -> Int64[IntArray, " n"]:
    return np.array(list(values), dtype=np.int64)  # type: ignore[call-overload]  # any iterable


def _mode(patches: Patches, patch: int) -> int:
    count = int(patches.vertex_start[patch + 1] - patches.vertex_start[patch])
    return FACE if count > 2 else EDGE if count == 2 else POINT


def _along(corners: Float64[Array, "v 3"]) -> Float64[Array, " 3"]:
    """The direction of an edge; of others, nothing."""
    if len(corners) != 2:
        return np.zeros(3)
    step = corners[1] - corners[0]
    return np.asarray(step / max(float(np.linalg.norm(step)), 1e-9), dtype=np.float64)


def _vertices(
    patches: Patches, stands: list[int], target: Target
) -> tuple[list[int], Float64[Array, "v 3"]]:
    """The stance and place of each vertex that is kept."""
    by_link = sorted(range(len(stands)), key=lambda s: int(patches.patch_body[stands[s]]))
    taken_w = np.zeros((0, 3))
    kept: dict[int, Float64[Array, "v 3"]] = {}
    for s in by_link:
        p = stands[s]
        body, corners = int(patches.patch_body[p]), patches.vertices_of(p)
        corners = corners[outline(corners)]
        place_w = target.link_pos_w[body] + rotation.rotate(target.link_quat_w[body], corners)
        gap = np.linalg.norm(place_w[:, None] - taken_w[None], axis=2)
        new = np.all(gap > SAME_M, axis=1)
        kept[s] = corners[new]
        taken_w = np.concatenate([taken_w, place_w[new]])
    stance = [s for s in range(len(stands)) for _ in kept[s]]
    return stance, np.concatenate([np.zeros((0, 3)), *(kept[s] for s in range(len(stands)))])


def outline(corners: Float64[Array, "v 3"]) -> list[int]:
    """The corners that span a face: those of its hull, the most telling where there are many."""
    if len(corners) <= 3:
        return list(range(len(corners)))
    middle = corners - corners.mean(axis=0)
    flat = middle @ np.linalg.svd(middle, full_matrices=False)[2][:2].T
    hull = _hull(flat)
    while len(hull) > 3:
        last, here, following = (flat[np.roll(hull, k)] for k in (1, 0, -1))
        base = following - last
        size = np.maximum(np.linalg.norm(base, axis=1), 1e-9)
        out = np.abs(base[:, 0] * (here - last)[:, 1] - base[:, 1] * (here - last)[:, 0]) / size
        least = int(np.argmin(out))
        if out[least] > FLAT_M and len(hull) <= LARGEST:
            break
        hull = hull[:least] + hull[least + 1 :]
    return sorted(hull)


def _hull(flat: Float64[Array, "v 2"]) -> list[int]:
    """The convex hull of points in a plane, counter-clockwise (Andrew's monotone chain)."""
    order = [int(i) for i in np.lexsort((flat[:, 1], flat[:, 0]))]
    halves = []
    for run in (order, order[::-1]):
        half: list[int] = []
        for i in run:
            while len(half) > 1 and _turn(flat[half[-2]], flat[half[-1]], flat[i]) <= 0.0:
                half.pop()
            half.append(i)
        halves.append(half[:-1])
    return halves[0] + halves[1]


def _turn(a: Float64[Array, " 2"], b: Float64[Array, " 2"], c: Float64[Array, " 2"]) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
