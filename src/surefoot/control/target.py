"""What a controller is told and what it answers: contacts as arrays, target, state, command.

These pass a border five hundred times a second: their arrays are views that nobody writes to, and
nothing is checked here that was checked when the reference was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, locked, locked_int
from surefoot.motion.contact import Stance
from surefoot.robots.robot import Robot

Drive = Literal["torque", "servo"]


@dataclass(frozen=True, eq=False)
class Patches:
    """The stances of a schedule as arrays: each is a patch p of a contact link c."""

    link_names: tuple[str, ...]
    """The links that ever stand, in order of their first stance."""
    link_body: Int64[IntArray, " c"]
    """The engine's number of each of them."""
    patch_link: Int64[IntArray, " p"]
    """Which of these links a patch belongs to."""
    vertex_start: Int64[IntArray, " q"]
    """Row of the first vertex of each patch, and one more (p + 1)."""
    vertex_l: Float64[Array, "v 3"]
    """Contact vertices in the frame of their link, m."""
    normal_w: Float64[Array, "p 3"]
    """Unit normals of the surfaces, out of the ground."""
    friction: Float64[Array, " p"]
    moving: Bool[BoolArray, " p"]
    """On its surface, but sliding or pivoting on purpose."""
    point_w: Float64[Array, "p 3"]
    """A point of the surface below or beside each patch, m."""

    @cached_property
    def patch_body(self) -> Int64[IntArray, " p"]:
        """The engine's number of the link of each patch."""
        return locked_int(self.link_body[self.patch_link])

    def vertices_of(self, patch: int) -> Float64[Array, "v 3"]:
        """The contact vertices of one patch, in the frame of its link, m."""
        return self.vertex_l[self.vertex_start[patch] : self.vertex_start[patch + 1]]


def patches_of(
    stances: Sequence[Stance],
    robot: Robot,
    point_w: Float64[Array, "p 3"],
    *,
    friction: float | None = None,
) -> Patches:
    """The stances, in their order, as arrays.

    Args:
        point_w: a point of the surface of each stance, m.
        friction: instead of what each stance says.

    Raises:
        UnknownName: a stance of a link that the robot has not.
    """
    names = tuple(dict.fromkeys(stance.link for stance in stances))
    counts = [len(stance.vertices) for stance in stances]
    moving = np.array([stance.moving for stance in stances], dtype=np.bool_)
    moving.flags.writeable = False
    return Patches(
        link_names=names,
        link_body=locked_int([robot.link_id(name) for name in names]),
        patch_link=locked_int([names.index(stance.link) for stance in stances]),
        vertex_start=locked_int(np.concatenate([[0], np.cumsum(counts)])),
        vertex_l=locked(np.concatenate([np.zeros((0, 3)), *(s.vertices for s in stances)])),
        normal_w=locked(np.array([s.normal for s in stances]).reshape(-1, 3)),
        friction=locked([s.friction if friction is None else friction for s in stances]),
        moving=moving,
        point_w=locked(point_w),
    )


@dataclass(slots=True, eq=False)
class Target:
    """What should be reached at one control step."""

    time: float
    """s of the clip; before its beginning while the robot settles."""
    qpos: Float64[Array, " nq"]
    qvel: Float64[Array, " nv"]
    qacc: Float64[Array, " nv"]
    com_w: Float64[Array, " 3"]
    com_vel_w: Float64[Array, " 3"]
    com_acc_w: Float64[Array, " 3"]
    spin_w: Float64[Array, " 3"]
    """Angular momentum about the centre of mass, N m s."""
    spin_rate_w: Float64[Array, " 3"]
    zmp_w: Float64[Array, " 3"]
    """Zero-moment point on the plane of the contacts, m."""
    zmp_defined: bool
    """Whether there is one: something stands, and the motion presses on it."""
    link_pos_w: Float64[Array, "b 3"]
    """Origins of all links of the model, the world first, m."""
    link_quat_w: Float64[Array, "b 4"]
    link_vel_w: Float64[Array, "b 6"]
    """Of the origins, then angular, world axes."""
    link_acc_w: Float64[Array, "b 6"]
    patches: Patches
    holds: Bool[BoolArray, " p"]
    """Which patches are scheduled now."""
    swing: Float64[Array, " c"]
    """How much of its present swing each contact link has behind it, 0 to 1; 0 where it stands or
    never stands again."""
    coming: Int64[IntArray, " c"]
    """The patch that ends the present swing; −1 where there is none."""


@dataclass(slots=True, eq=False)
class State:
    """What was measured at one control step."""

    time: float
    qpos: Float64[Array, " nq"]
    qvel: Float64[Array, " nv"]
    force_w: Float64[Array, "c 3"]
    """Contact force on each contact link, N."""
    cop_w: Float64[Array, "c 3"]
    """Where it acts, m; zero where there is no load."""


@dataclass(slots=True, eq=False)
class Command:
    """What a controller wants done."""

    value: Float64[Array, " m"]
    """Torques of the joints, N m, or positions for their servos, rad."""
    planned: Bool[BoolArray, " c"]
    """The contact links that it counts on."""
    cop_w: Float64[Array, " 3"] | None = None
    """Where it wants the pressure under the robot, m; None: it does not say."""
    softened: bool = False
    """Whether what was asked could not be had at once, and was relaxed."""
    torque: Float64[Array, " m"] | None = None
    """What servos add to what they give by themselves, N m."""


@runtime_checkable
class Controller(Protocol):
    """Turns a measured state and a target into a command, step by step."""

    @property
    def drive(self) -> Drive:
        """Whether commands are torques or positions for servos."""
        ...

    @property
    def servo_gains(self) -> tuple[Float64[Array, " m"], Float64[Array, " m"]] | None:
        """Stiffness, N m/rad, and damping, N m s/rad, of the servos; None for torques."""
        ...

    def reset(self) -> None:
        """Forget all steps: the next is the first."""
        ...

    def command(self, state: State, target: Target) -> Command:
        """The command of one step."""
        ...


@runtime_checkable
class TargetSource(Protocol):
    """Whatever says at each step what should be reached: a clip, or a mapper that runs along."""

    @property
    def patches(self) -> Patches:
        """All contacts that may come."""
        ...

    @property
    def steps(self) -> int:
        """Control steps from the first to the last frame, both in."""
        ...

    @property
    def dt(self) -> float:
        """Length of a control step, s."""
        ...

    def at(self, step: int, state: State | None) -> Target:
        """The target of a step; before 0 the first frame at rest, past the end the last at rest."""
        ...
