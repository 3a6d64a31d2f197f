"""A robot: a compiled model that never changes, with names, limits, soles, limbs, a home pose."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray, locked
from surefoot.errors import BadMotion, BadOption, Notice, UnknownName, listed, nearest
from surefoot.motion import rotation
from surefoot.motion.curves import Rates
from surefoot.motion.motion import Motion
from surefoot.robots.engine import mujoco

Side = Literal["left", "right"]

OUT_OF_PLANE = (
    1e-6  # m and rad; what a planar robot's motion may stray: rounding of a file's digits
)


@dataclass(frozen=True, slots=True)
class Sole:
    """The convex polygon with which a link stands, in that link's frame."""

    link: str
    side: Side
    polygon_l: Float64[Array, "k 3"]
    """Corners, m, counter-clockwise seen from above."""

    def __post_init__(self) -> None:
        """Lock the polygon."""
        object.__setattr__(self, "polygon_l", locked(self.polygon_l))

    def __reduce__(self) -> tuple[type[Sole], tuple[object, ...]]:
        """Pickle by construction, so that the copy is locked too."""
        return Sole, (self.link, self.side, self.polygon_l)


@dataclass(frozen=True, slots=True)
class Landmark:
    """A point of a link that plays a part of the body (names: motion.human.CANONICAL_NAMES)."""

    link: str
    point_l: Float64[Array, " 3"]
    """Where in the link's frame, m."""

    def __post_init__(self) -> None:
        """Lock the point."""
        object.__setattr__(self, "point_l", locked(self.point_l))

    def __reduce__(self) -> tuple[type[Landmark], tuple[object, ...]]:
        """Pickle by construction, so that the copy is locked too."""
        return Landmark, (self.link, self.point_l)


@dataclass(frozen=True, slots=True, eq=False)
class Robot:
    """Who moves: the compiled model and everything about it that the model does not say.

    `joint_*` arrays follow `joint_names`: the scalar joints in the model's order, without the root.
    """

    name: str
    source: str
    """Where the model came from: a path, or `zoo:NAME` for a bundled one."""
    model: mujoco.MjModel
    """Compiled, never changed; its actuators are torque motors in the order of `joint_names`."""
    root_link: str
    root_kind: Literal["free", "planar"]
    """Six degrees of freedom, or three in the x-z plane (x, z, pitch)."""
    joint_names: tuple[str, ...]
    joint_min: Float64[Array, " m"]
    """Lower position limit, rad or m; −inf where there is none."""
    joint_max: Float64[Array, " m"]
    joint_speed: Float64[Array, " m"]
    """Largest speed, rad/s or m/s; inf where nobody says."""
    joint_torque: Float64[Array, " m"]
    """Largest torque, N m or N; inf where nobody says."""
    soles: tuple[Sole, ...]
    """Left before right; a foot with toes has more than one."""
    landmarks: dict[str, Landmark]
    """Which point of which link plays each canonical part, as far as known."""
    home: Float64[Array, " nq"]
    """Standing pose in the engine's order, soles on z = 0."""
    notices: tuple[Notice, ...] = ()
    """What was repaired, dropped, overridden or assumed while loading."""
    mjcf: str = ""
    """The model as compiled, as MJCF without meshes."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("joint_min", "joint_max", "joint_speed", "joint_torque", "home"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    def __reduce__(self) -> tuple[type[Robot], tuple[object, ...]]:
        """Pickle by construction, so that the copy is locked too."""
        return Robot, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def mass(self) -> float:
        """Mass of all links, kg."""
        return math.fsum(self.model.body_mass)

    def with_link_mass(self, link: str, mass_kg: float) -> Robot:
        """The same robot with another mass of one link, its inertia scaled alike.

        Raises:
            UnknownName: no link of that name.
            BadOption: a mass that is not positive.
        """
        if not 0.0 < mass_kg < math.inf:
            raise BadOption(what=f"a link's mass must be positive, got {mass_kg} kg", where=link)
        k, model = self.link_id(link), copy.copy(self.model)
        model.body_inertia[k] *= mass_kg / model.body_mass[k]
        model.body_mass[k] = mass_kg
        return replace(self, model=model)

    @property
    def nq(self) -> int:
        """Length of `qpos`."""
        return int(self.model.nq)

    @property
    def nv(self) -> int:
        """Degrees of freedom: length of `qvel`."""
        return int(self.model.nv)

    @property
    def link_names(self) -> tuple[str, ...]:
        """All links in the model's order; the world is none."""
        return tuple(self.model.body(i).name for i in range(1, self.model.nbody))

    def link_id(self, name: str) -> int:
        """The engine's number of a link (0 would be the world).

        Raises:
            UnknownName: no link of that name.
        """
        found = int(mujoco.mj_name2id(self.model, int(mujoco.mjtObj.mjOBJ_BODY), name))
        if found < 1:
            raise UnknownName(
                what=f"link '{name}' is not in robot '{self.name}'",
                todo=nearest(name, self.link_names),
            )
        return found

    @property
    def joint_ids(self) -> Int64[IntArray, " m"]:
        """The engine's number of each joint, in the order of `joint_names`."""
        return np.array([self.model.joint(name).id for name in self.joint_names], dtype=np.int64)

    @property
    def joint_qposadr(self) -> Int64[IntArray, " m"]:
        """Place of each joint in `qpos`, in the order of `joint_names`."""
        return np.asarray(self.model.jnt_qposadr[self.joint_ids], dtype=np.int64)

    @property
    def joint_dofadr(self) -> Int64[IntArray, " m"]:
        """Place of each joint in `qvel`, in the order of `joint_names`."""
        return np.asarray(self.model.jnt_dofadr[self.joint_ids], dtype=np.int64)

    def qpos(self, motion: Motion) -> Float64[Array, "n nq"]:
        """The poses of a motion in the engine's order.

        Raises:
            BadMotion: joints that the robot has not, or lacks; a planar root out of its plane.
        """
        columns = self._columns(motion.joint_names)
        out = np.zeros((motion.n, self.nq))
        out[:, self.joint_qposadr] = motion.joint_pos[:, columns]
        if self.root_kind == "free":
            out[:, :3] = motion.root_pos
            out[:, 3:7] = motion.root_quat
            return out
        axis, sign, ref = self._plane()
        start = np.asarray(self.model.body(self.root_link).pos, dtype=np.float64)
        turn = rotation.continuous(motion.root_quat)
        stray = np.maximum(
            np.abs(motion.root_pos[:, 1] - start[1]), 2.0 * np.abs(turn[:, [1, 3]]).max(axis=1)
        )
        if np.any(stray > OUT_OF_PLANE):
            i = int(np.argmax(stray > OUT_OF_PLANE))
            raise BadMotion(
                what=f"robot '{self.name}' moves in the x-z plane, but the root leaves it by "
                f"{stray[i]:.3g} (m or rad)",
                where=f"frame {i}",
                todo="project the motion onto the plane first",
            )
        pitch = np.unwrap(2.0 * np.arctan2(turn[:, 2], turn[:, 0]))
        place = motion.root_pos - start
        for adr, value in zip(axis, (place[:, 0], place[:, 2], pitch), strict=True):
            out[:, adr] = ref[adr] + sign[adr] * value
        return out

    def qvel(self, rates: Rates) -> Float64[Array, "n nv"]:
        """The velocities of a motion in the engine's order.

        Raises:
            BadMotion: joints that the robot has not, or lacks.
        """
        return self._derivative(
            rates.joint_names, rates.lin_vel_w, rates.ang_vel_b, rates.joint_vel
        )

    def qacc(self, rates: Rates) -> Float64[Array, "n nv"]:
        """The accelerations of a motion in the engine's order.

        Raises:
            BadMotion: joints that the robot has not, or lacks.
        """
        return self._derivative(
            rates.joint_names, rates.lin_acc_w, rates.ang_acc_b, rates.joint_acc
        )

    def motion(self, qpos: Float64[Array, "n nq"], time: Float64[Array, " n"]) -> Motion:
        """The motion whose poses are given in the engine's order: the inverse of `qpos`.

        Raises:
            BadMotion: what is no motion, such as a quaternion that is not a unit.
        """
        joints = qpos[:, self.joint_qposadr]
        if self.root_kind == "free":
            return Motion(time, qpos[:, :3], qpos[:, 3:7], self.joint_names, joints)
        axis, sign, ref = self._plane()
        x, z, pitch = ((qpos[:, adr] - ref[adr]) * sign[adr] for adr in axis)
        start = np.asarray(self.model.body(self.root_link).pos, dtype=np.float64)
        place = start + np.stack([x, np.zeros_like(x), z], axis=-1)
        quat = rotation.from_rotvec(np.stack([np.zeros_like(x), pitch, np.zeros_like(x)], axis=-1))
        return Motion(time, place, quat, self.joint_names, joints)

    def summary(self) -> dict[str, object]:
        """The robot as a JSON object: the keys of `surefoot robots show --json`."""
        joints = [
            {
                "name": name,
                "min": _finite(self.joint_min[j]),
                "max": _finite(self.joint_max[j]),
                "speed": _finite(self.joint_speed[j]),
                "torque": _finite(self.joint_torque[j]),
            }
            for j, name in enumerate(self.joint_names)
        ]
        soles = [
            {"link": sole.link, "side": sole.side, "polygon_m": sole.polygon_l.tolist()}
            for sole in self.soles
        ]
        return {
            "name": self.name,
            "source": self.source,
            "mass_kg": self.mass,
            "dof": self.nv,
            "joints": joints,
            "soles": soles,
            "home_height_m": self.home_height,
            "notices": [notice.summary() for notice in self.notices],
        }

    @property
    def home_height(self) -> float:
        """Height of the root link's origin in the home pose, m."""
        return float(self.motion(self.home[None], np.zeros(1)).root_pos[0, 2])

    def _plane(self) -> tuple[tuple[int, int, int], Array, Array]:
        """Addresses of x, z and pitch, and the sign and zero of every coordinate."""
        ids = [j for j in range(self.model.njnt) if int(self.model.jnt_bodyid[j]) == 1]
        sign, ref = np.ones(self.nv), np.asarray(self.model.qpos0, dtype=np.float64)
        place = {}
        for j in ids[:3]:
            along = np.asarray(self.model.jnt_axis[j])
            k = int(np.argmax(np.abs(along)))
            adr = int(self.model.jnt_qposadr[j])
            sign[adr] = np.sign(along[k])
            place[k] = adr
        return (place[0], place[2], place[1]), sign, ref

    def _derivative(
        self,
        joint_names: tuple[str, ...],
        linear_w: Float64[Array, "n 3"],
        angular_b: Float64[Array, "n 3"],
        joints: Float64[Array, "n m"],
    ) -> Float64[Array, "n nv"]:
        columns = self._columns(joint_names)
        out = np.zeros((len(joints), self.nv))
        out[:, self.joint_dofadr] = joints[:, columns]
        if self.root_kind == "free":
            out[:, :3], out[:, 3:6] = linear_w, angular_b
            return out
        axis, sign, _ = self._plane()
        # In the plane the body's y axis is the world's, so the pitch rate is the same in both.
        values = (linear_w[:, 0], linear_w[:, 2], angular_b[:, 1])
        for adr, value in zip(axis, values, strict=True):
            out[:, adr] = sign[adr] * value
        return out

    def _columns(self, joint_names: tuple[str, ...]) -> list[int]:
        """Where each joint of the robot stands among the given names."""
        if joint_names == self.joint_names:
            return list(range(len(joint_names)))
        known = set(self.joint_names)
        faults = [
            f"joint '{name}' is not in robot '{self.name}'. {nearest(name, known)}"
            for name in joint_names
            if name not in known
        ]
        if not faults:
            given = set(joint_names)
            faults = [
                f"joint '{name}' of robot '{self.name}' is missing"
                for name in self.joint_names
                if name not in given
            ]
        if faults:
            raise BadMotion(what=listed(faults), where="motion")
        return [joint_names.index(name) for name in self.joint_names]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
