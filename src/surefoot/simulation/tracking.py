"""How well a run followed its reference, in figures, until it ended or the robot fell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, BoolArray, Float64, locked
from surefoot.simulation.events import root_turn
from surefoot.simulation.thresholds import Thresholds
from surefoot.simulation.trace import Trace


@dataclass(frozen=True, slots=True)
class Tracking:
    """Errors and effort between the clip's first frame and its last, or the fall.

    None where there was nothing to measure.
    """

    root_error_max_m: float
    root_turn_max_rad: float
    com_error_max_m: float
    com_error_rms_m: float
    joint_error_rms_rad: float
    joint_error_max_rad: float
    foot_error_max_m: float | None
    """Of links while they are scheduled to stand."""
    cop_error_rms_m: float | None
    """Measured centre of pressure against the reference's zero-moment point."""
    cop_error_p99_m: float | None
    torque_over_limit: Float64[Array, " m"]
    """Largest torque of each joint over its limit; 0 where there is none."""
    speed_over_limit: Float64[Array, " m"]
    torque_saturated_fraction: float
    """Share of the control steps with at least one joint at its limit."""
    contact_agreement: float | None
    """Share of links and steps at which what carries load is what is scheduled."""
    softened_fraction: float
    """Share of the control steps at which the controller relaxed what was asked."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("torque_over_limit", "speed_over_limit"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    def __reduce__(self) -> tuple[type[Tracking], tuple[object, ...]]:
        """Pickle by construction, so that the copy is locked too."""
        return Tracking, tuple(getattr(self, name) for name in self.__slots__)


def tracking(trace: Trace, thresholds: Thresholds) -> Tracking:
    """The figures of a run."""
    robot = trace.scene.robot
    rows = _counted(trace)
    adr = robot.joint_qposadr
    joints = trace.qpos[rows][:, adr] - trace.target_qpos[rows][:, adr]
    com = np.linalg.norm(trace.com_w[rows] - trace.target_com_w[rows], axis=1)
    root = np.linalg.norm(trace.root_pos_w[rows] - trace.target_root_pos_w[rows], axis=1)
    feet = np.linalg.norm(trace.link_pos_w[rows] - trace.target_link_pos_w[rows], axis=2)
    scheduled = trace.scheduled[rows]
    loaded = trace.contact_force_w[:, :, 2].sum(axis=1) > (
        thresholds.loaded_over_weight * trace.weight_n
    )
    pressed = rows & trace.cop_valid & trace.target_zmp_defined & loaded
    cop = np.linalg.norm(trace.cop_w[pressed] - trace.target_zmp_w[pressed, :2], axis=1)
    agree = trace.measured[rows] == scheduled
    return Tracking(
        root_error_max_m=_largest(root),
        root_turn_max_rad=_largest(root_turn(trace)[rows]),
        com_error_max_m=_largest(com),
        com_error_rms_m=_rms(com),
        joint_error_rms_rad=_rms(joints),
        joint_error_max_rad=_largest(np.abs(joints)),
        foot_error_max_m=_largest(feet[scheduled]) if scheduled.any() else None,
        cop_error_rms_m=_rms(cop) if len(cop) else None,
        cop_error_p99_m=float(np.quantile(cop, 0.99)) if len(cop) else None,
        torque_over_limit=_use(trace.torque[rows], robot.joint_torque),
        speed_over_limit=_use(trace.qvel[rows][:, robot.joint_dofadr], robot.joint_speed),
        torque_saturated_fraction=_share(np.asarray(trace.saturated[rows].any(axis=1))),
        contact_agreement=_share(np.asarray(agree)) if scheduled.size else None,
        softened_fraction=_share(trace.softened[rows]),
    )


def _counted(trace: Trace) -> BoolArray:
    """Steps of the clip before the fall; the first one if the robot fell while it settled."""
    rows: BoolArray = trace.in_clip.copy()
    if trace.fell_at is not None:
        rows &= trace.time <= trace.fell_at
    if not rows.any():
        rows[-1] = True
    return rows


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0


def _largest(values: Array) -> float:
    return float(values.max()) if values.size else 0.0


def _share(flags: BoolArray) -> float:
    return float(flags.mean()) if flags.size else 0.0


def _use(values: Float64[Array, "n m"], limit: Float64[Array, " m"]) -> Float64[Array, " m"]:
    """Largest absolute value of each column over its limit; 0 where there is no limit."""
    known = np.isfinite(limit) & (limit > 0.0)
    largest = np.abs(values).max(axis=0, initial=0.0)
    return np.where(known, largest / np.where(known, limit, 1.0), 0.0)
