"""A run as arrays: everything that was measured, wanted and done, by control step.

Step k begins at `time[k]` with the state `qpos[k], qvel[k]`; during it `ctrl[k]` and `applied[k]`
act; contact forces are those of its last physics step. Steps before time 0 settle the robot, steps
after the clip's end hold its last frame.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, locked
from surefoot.control.target import Patches
from surefoot.errors import Notice
from surefoot.simulation.scene import Scene

End = Literal["completed", "fell", "diverged", "no command"]
TIMES = ("control_s", "physics_s")  # the only arrays that differ from run to run


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One run; k control steps, c contact links, p patches, m joints."""

    scene: Scene
    patches: Patches
    dt: float
    """Length of a control step, s."""
    start: float
    """Time of the clip's first step, s."""
    duration: float
    """Of the clip, s."""
    end: End
    """How the run ended."""
    failure: str
    """What went wrong, where no command came or the state diverged; else empty."""
    fell_at: float | None
    """When the robot fell, s of the clip; None: it did not."""
    notices: tuple[Notice, ...]
    """How the run was begun."""
    time: Float64[Array, " k"]
    qpos: Float64[Array, "k nq"]
    qvel: Float64[Array, "k nv"]
    ctrl: Float64[Array, "k m"]
    """What the actuators were given: torques, N m, or positions of servos, rad."""
    torque: Float64[Array, "k m"]
    """What reached the joints at the last physics step, N m."""
    saturated: Bool[BoolArray, "k m"]
    """Whether more torque was wanted than there was."""
    applied: Float64[Array, "k nv"]
    """Generalised forces of pushes."""
    com_w: Float64[Array, "k 3"]
    cop_w: Float64[Array, "k 2"]
    """Centre of pressure of all contacts, m; zero where nothing presses."""
    cop_valid: Bool[BoolArray, " k"]
    root_pos_w: Float64[Array, "k 3"]
    root_quat_w: Float64[Array, "k 4"]
    link_pos_w: Float64[Array, "k c 3"]
    """Origins of the contact links."""
    link_quat_w: Float64[Array, "k c 4"]
    contact_force_w: Float64[Array, "k c 3"]
    contact_load_n: Float64[Array, "k c"]
    """Sum of the normal forces on each contact link."""
    contact_cop_w: Float64[Array, "k c 3"]
    stray_n: Float64[Array, " k"]
    """Largest load on a link that no schedule and no sole allows to touch, N."""
    stray_link: Int64[IntArray, " k"]
    """Which link that is; 0: none."""
    holds: Bool[BoolArray, "k p"]
    """Patches as scheduled."""
    planned: Bool[BoolArray, "k c"]
    """Links that the controller counted on."""
    measured: Bool[BoolArray, "k c"]
    """Links that carried load."""
    softened: Bool[BoolArray, " k"]
    """Whether the controller could not have all it asked for."""
    planned_cop_w: Float64[Array, "k 3"]
    planned_cop_valid: Bool[BoolArray, " k"]
    support_z: Float64[Array, " k"]
    """Height of the surfaces that carry the reference, m; the last one while it flies."""
    target_qpos: Float64[Array, "k nq"]
    target_com_w: Float64[Array, "k 3"]
    target_zmp_w: Float64[Array, "k 3"]
    target_zmp_defined: Bool[BoolArray, " k"]
    target_root_pos_w: Float64[Array, "k 3"]
    target_root_quat_w: Float64[Array, "k 4"]
    target_link_pos_w: Float64[Array, "k c 3"]
    target_link_quat_w: Float64[Array, "k c 4"]
    control_s: Float64[Array, " k"]
    """Time that target and command took, s."""
    physics_s: Float64[Array, " k"]
    """Time that the engine took, s."""
    seconds: float
    """Time that the whole loop took, s."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name, value in arrays_of(self).items():
            if value.dtype == np.float64:
                object.__setattr__(self, name, locked(value))
            else:
                value.flags.writeable = False

    def __reduce__(self) -> tuple[type[Trace], tuple[object, ...]]:
        """Pickle by construction, so that the copy is locked too."""
        return Trace, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def steps(self) -> int:
        """Control steps that were done."""
        return len(self.time)

    @property
    def weight_n(self) -> float:
        """Of the robot as simulated, N."""
        model = self.scene.model
        return float(model.body_subtreemass[0]) * float(np.linalg.norm(model.opt.gravity))

    @property
    def scheduled(self) -> Bool[BoolArray, "k c"]:
        """Links of which a patch is scheduled."""
        out = np.zeros((self.steps, len(self.patches.link_names)), dtype=np.bool_)
        for p, link in enumerate(self.patches.patch_link):
            out[:, link] |= self.holds[:, p]
        return out

    @property
    def in_clip(self) -> Bool[BoolArray, " k"]:
        """Steps between the first and the last frame of the clip, both in."""
        half = 0.5 * self.dt
        inside: BoolArray = np.abs(self.time - self.start - 0.5 * self.duration) < (
            0.5 * self.duration + half
        )
        return inside

    @property
    def real_time_factor(self) -> float:
        """Simulated time over the time that the loop took: control, physics, writing down."""
        return self.steps * self.dt / max(self.seconds, 1e-9)


def arrays_of(trace: Trace) -> dict[str, Array | BoolArray | IntArray]:
    """All arrays of a trace, by name."""
    found = ((field.name, getattr(trace, field.name)) for field in fields(trace))
    return {name: value for name, value in found if isinstance(value, np.ndarray)}


class Tape:
    """A trace while it is written: room for all steps, filled row by row."""

    def __init__(self, scene: Scene, patches: Patches, steps: int) -> None:
        """Make room for all steps of a run."""
        model, c, p = scene.model, len(patches.link_names), len(patches.patch_link)
        n, nq, nv, m = steps, int(model.nq), int(model.nv), int(model.nu)
        shapes: dict[str, tuple[int, ...]] = {
            "time": (n,), "qpos": (n, nq), "qvel": (n, nv), "ctrl": (n, m), "torque": (n, m),
            "applied": (n, nv), "com_w": (n, 3), "cop_w": (n, 2), "root_pos_w": (n, 3),
            "root_quat_w": (n, 4), "link_pos_w": (n, c, 3), "link_quat_w": (n, c, 4),
            "contact_force_w": (n, c, 3), "contact_load_n": (n, c), "contact_cop_w": (n, c, 3),
            "stray_n": (n,), "planned_cop_w": (n, 3), "support_z": (n,), "target_qpos": (n, nq),
            "target_com_w": (n, 3), "target_zmp_w": (n, 3), "target_root_pos_w": (n, 3),
            "target_root_quat_w": (n, 4), "target_link_pos_w": (n, c, 3),
            "target_link_quat_w": (n, c, 4), "control_s": (n,), "physics_s": (n,),
        }  # fmt: skip
        flags: dict[str, tuple[int, ...]] = {
            "saturated": (n, m), "cop_valid": (n,), "holds": (n, p), "planned": (n, c),
            "measured": (n, c), "softened": (n,), "planned_cop_valid": (n,),
            "target_zmp_defined": (n,),
        }  # fmt: skip
        self.rows: dict[str, Array] = {name: np.zeros(shape) for name, shape in shapes.items()}
        self.flags: dict[str, BoolArray] = {
            name: np.zeros(shape, dtype=np.bool_) for name, shape in flags.items()
        }
        self.stray_link: IntArray = np.zeros(n, dtype=np.int64)
        self._scene, self._patches = scene, patches

    def trace(
        self,
        steps: int,
        *,
        dt: float,
        start: float,
        duration: float,
        end: End,
        failure: str,
        fell_at: float | None,
        notices: tuple[Notice, ...],
        seconds: float,
    ) -> Trace:
        """The first steps as a value."""
        every = {**self.rows, **self.flags, "stray_link": self.stray_link}
        cut: dict[str, Any] = {name: rows[:steps].copy() for name, rows in every.items()}
        return Trace(
            scene=self._scene,
            patches=self._patches,
            dt=dt,
            start=start,
            duration=duration,
            end=end,
            failure=failure,
            fell_at=fell_at,
            notices=notices,
            seconds=seconds,
            **cut,
        )
