"""Random stances of two soles and wrenches for them: the families on which distances are proven.

Lengths m, forces N. A stance has eight vertices; the reference lies some 0.8 m above them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.contacts.cones import Cones
from surefoot.motion import rotation

WEIGHT = 700.0
SOLE = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
FAMILIES: dict[str, tuple[str, float]] = {
    "two flat soles": ("flat", 0.7),
    "slopes and heights": ("slopes", 0.7),
    "soles 1 mm apart": ("near", 0.7),
    "soles of 2 mm": ("small", 0.7),
    "friction 0.001": ("flat", 1e-3),
    "friction 10": ("flat", 10.0),
}
HOW_FAR = ("far", "near", "close")
NOISE = {"near": 0.1, "close": 0.001}  # of the weight, added to a wrench that contacts can give


@dataclass(frozen=True)
class Problems:
    """n stances of k vertices each, and a wrench for each about its reference."""

    pos: Array
    normal: Array
    friction: float
    wrench: Array
    ref: Array

    @property
    def n(self) -> int:
        return len(self.pos)

    @property
    def cones(self) -> Cones:
        return cones_of(self.pos, self.normal, self.friction)

    def only(self, keep: Array) -> Problems:
        return Problems(
            self.pos[keep], self.normal[keep], self.friction, self.wrench[keep], self.ref[keep]
        )


def cones_of(pos: Array, normal: Array, friction: float | Array) -> Cones:
    """Cones of n samples with k vertices each, pos (n, k, 3)."""
    n, k = pos.shape[:2]
    flat = pos.reshape(-1, 3)
    return Cones(
        start=k * np.arange(n + 1),
        vertex_pos=flat,
        vertex_normal=np.broadcast_to(normal, pos.shape).reshape(-1, 3),
        vertex_friction=np.broadcast_to(friction, (n, k)).reshape(-1),
        vertex_stance=np.zeros(n * k, dtype=np.int64),
        vertex_l=flat,
    )


def columns_of(pos: Array, normal: Array, ref: Array) -> Array:
    """(n, k, 3, 6): unit forces along the normal and two tangents as wrenches, length 1 m."""
    helper = np.where(np.abs(normal[..., :1]) > 0.9, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    first = helper - normal * np.sum(helper * normal, axis=-1, keepdims=True)
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    axes = np.stack([normal, first, np.cross(normal, first)], axis=2)
    arm = (pos - ref[:, None])[:, :, None]
    return np.concatenate([axes, np.cross(np.broadcast_to(arm, axes.shape), axes)], axis=3)


def soles(kind: str, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Vertices and normals (count, 8, 3) of two soles."""
    zero = np.zeros(count)
    yaw = rng.uniform(-0.5, 0.5, (2, count))
    sole, side, ahead, tilt = SOLE, 0.1, rng.uniform(-0.2, 0.2, (2, count)), np.zeros((3, 2, count))
    if kind == "slopes":
        side, tilt = 0.12, rng.uniform(-1.0, 1.0, (3, 2, count)) * [[[0.4]], [[0.4]], [[0.1]]]
    if kind == "near":  # 0.1 m wide, unturned: 1 mm from edge to edge
        side, ahead, yaw = 0.0505, np.zeros((2, count)), np.zeros((2, count))
    if kind == "small":
        sole, ahead = 0.01 * SOLE * [1.0, 2.0, 1.0], np.zeros((2, count))
    pos, normal = [], []
    for k, y in enumerate((side, -side)):
        turn = rotation.from_euler("ZYX", np.stack([yaw[k], tilt[0, k], tilt[1, k]], axis=1))
        R = rotation.as_matrix(turn)
        middle = np.stack([ahead[k], zero + y, tilt[2, k]], axis=1)
        pos.append(middle[:, None] + np.einsum("nij,vj->nvi", R, sole))
        normal.append(np.repeat(R[:, None, :, 2], 4, axis=1))
    return np.concatenate(pos, axis=1), np.concatenate(normal, axis=1)


def feasible(columns: Array, friction: float, some: float, rng: np.random.Generator) -> Array:
    """Random sums of forces of about the weight; each vertex carries with the chance `some`.

    Half of the forces lie on the surface of their friction cone. Where few vertices carry, the
    wrench lies often on the boundary of what all of them can give.
    """
    n, k = columns.shape[:2]
    turn, size = rng.uniform(0.0, 2.0 * np.pi, (n, k)), rng.uniform(0.0, 2.0, (n, k))
    slip = friction * np.minimum(size, 1.0)
    force = np.stack([np.ones((n, k)), slip * np.cos(turn), slip * np.sin(turn)], axis=2)
    share = rng.exponential(size=(n, k))
    idle = rng.uniform(size=(n, k)) > some
    idle[np.arange(n), rng.integers(k, size=n)] = False
    share[idle] = 0.0
    share *= WEIGHT / np.sum(share, axis=1, keepdims=True)
    return np.einsum("nkb,nkbd->nd", share[..., None] * force, columns)


def problems(family: str, how: str, count: int, seed: int) -> Problems:
    """Random problems of a family: `far` from the cone, `near` it, `close` to it, or `inside`."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family), len(how)])
    kind, friction = FAMILIES[family]
    pos, normal = soles(kind, count, rng)
    ref = np.array([0.0, 0.0, 0.8]) + rng.uniform(-0.1, 0.1, (count, 3))
    if how == "far":
        wrench = WEIGHT * rng.normal(size=(count, 6))
    else:
        some = 1.0 if how == "inside" else 0.3
        wrench = feasible(columns_of(pos, normal, ref), friction, some, rng)
        if how != "inside":
            wrench += NOISE[how] * WEIGHT * rng.normal(size=(count, 6))
    return Problems(pos, normal, friction, wrench, ref)
