"""What the assembly of a whole-body program works on: settings, target, footing, and room.

The parts of the assembly (`objectives`, `footholds`, `strict`) pass these tuples of arrays on.
World axes everywhere; rows of twists are linear, then angular.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

entry = njit(cache=True, nogil=True, error_model="numpy")
# Parts are called by kernels alone: without wrappers for Python they compile in half the time.
_bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
part = njit(  # type: ignore[call-overload]  # numba's stubs lack both options
    cache=True, nogil=True, error_model="numpy", **_bare
)

HUNG, POINT, EDGE, FACE = 0, 1, 2, 3


class Spec(NamedTuple):
    """What never changes: joints j, degrees of freedom d, and the controller's settings."""

    root_dof: np.ndarray  # (d - j) degrees of freedom that nothing drives
    joint_dof: np.ndarray  # (j)
    joint_qpos: np.ndarray  # (j)
    joint_min: np.ndarray  # (j)
    joint_max: np.ndarray  # (j)
    joint_speed: np.ndarray  # (j) what the joint may be asked for, rad/s
    joint_torque: np.ndarray  # (j) N m
    joint_loss: np.ndarray  # (j) dry friction to be fed forward, N m
    dof_damping: np.ndarray  # (d) N m s/rad
    joint_stiffness: np.ndarray  # (j) N m/rad
    joint_spring: np.ndarray  # (j) where the spring is at rest, rad
    trunk: np.ndarray  # (1) link whose orientation is followed
    number: np.ndarray  # weights and gains, in the order of the constants below


(
    W_JOINTS, W_TURN, W_TRUNK, W_COM, W_SPIN, W_TRACK, W_FORCE, W_SOFT,
    KP_JOINTS, KD_JOINTS, KP_TRUNK, KD_TRUNK, KP_COM, KD_COM, KD_SPIN,
    KP_TRACK, KD_TRACK, KD_STANCE, K_LIMIT, K_SPEED, MARGIN, SLIDING, CREEPING,
) = range(23)  # fmt: skip


class Want(NamedTuple):
    """The target of one step."""

    qpos: np.ndarray
    qvel: np.ndarray
    qacc: np.ndarray
    com: np.ndarray  # (3, 3) position, velocity, acceleration
    spin: np.ndarray  # (2, 3) angular momentum about the centre of mass, and its rate
    link_pos: np.ndarray  # (b, 3)
    link_quat: np.ndarray  # (b, 4)
    link_vel: np.ndarray  # (b, 6)
    link_acc: np.ndarray  # (b, 6)


class Footing(NamedTuple):
    """What stands (s), on which vertices (v), and which links are tracked (t)."""

    link: np.ndarray  # (s)
    mode: np.ndarray  # (s) POINT, EDGE or FACE; HUNG where another stance holds it
    moving: np.ndarray  # (s) 1 where it slides on purpose
    point_l: np.ndarray  # (s, 3) the middle of what touches, in the link
    edge_l: np.ndarray  # (s, 3) unit direction of an edge, in the link
    normal_w: np.ndarray  # (s, 3)
    friction: np.ndarray  # (s)
    vertex_stance: np.ndarray  # (v)
    vertex_l: np.ndarray  # (v, 3)
    held_dof: np.ndarray  # (h) joints between a stance and what hangs on it
    tracked: np.ndarray  # (t) links
    down_w: np.ndarray  # (t, 3) velocity with which a late one looks for the ground, or zero


class Room(NamedTuple):
    """What is worked out: generators g = sides times v, at most r rows beside λ ≥ 0."""

    J: np.ndarray  # (6, d)
    L: np.ndarray  # (d, d) lower triangle, L Lᵀ = H
    f: np.ndarray  # (d) gradient, then q̈₀
    load: np.ndarray  # (d) M q̈ + load = τ + Gλ
    G: np.ndarray  # (d, g) generalized force of each generator
    generator_w: np.ndarray  # (g, 3)
    vertex_w: np.ndarray  # (v, 3)
    still: np.ndarray  # (6 s + h, d) rows of the stances that are independent
    right: np.ndarray  # (6 s + h) what they must give
    basis: np.ndarray  # (6 s + h, d) the same rows, orthonormal
    low: np.ndarray  # (2 j) bounds of torques, then of accelerations
    high: np.ndarray  # (2 j)
    kept: np.ndarray  # (2 j) for how many steps each row stays in the program
    rows: np.ndarray  # (r, g + d) of the least-distance problem
    lower: np.ndarray  # (g + r)
    upper: np.ndarray  # (g + r)
    fixed: np.ndarray  # (1) number of rows in `still`
    qacc: np.ndarray  # (d) answer
    force: np.ndarray  # (g) answer: λ, N
    torque: np.ndarray  # (j) answer, N m
    pressure_w: np.ndarray  # (4) answer: centre of pressure, m, and the vertical force, N


def room_for(dofs, joints, stances, held, vertices, sides):
    """Arrays for so many stances, held joints and vertices."""
    d, g, s = dofs, vertices * sides, 6 * stances + held
    r = dofs - joints + s + 2 * joints
    shapes = (
        (6, d), (d, d), (d,), (d,), (d, g), (g, 3), (vertices, 3), (s, d), (s,), (s, d),
        (2 * joints,), (2 * joints,), (2 * joints,), (r, g + d), (g + r,), (g + r,), (1,),
        (d,), (g,), (joints,), (4,),
    )  # fmt: skip
    return Room(*(np.zeros(shape) for shape in shapes))
