"""Position and speed limits of the joints, judged at the samples of the index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, locked
from surefoot.dynamics.batch import Batch
from surefoot.errors import Notice, listed

ROUNDING = 1e-9  # rad, and of a speed limit: a joint driven along its limit is not beyond it


@dataclass(frozen=True, slots=True)
class JointLimits:
    """How far each joint is beyond its limits, sample by sample."""

    joint_names: tuple[str, ...]
    time: Float64[Array, " n"]
    """Moments of the samples, s."""
    position_excess: Float64[Array, "n m"]
    """Beyond the nearer position limit, rad (slides: m); negative within, −inf without limits."""
    speed_ratio: Float64[Array, "n m"]
    """|speed| over its limit; −inf where no limit is known."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("time", "position_excess", "speed_ratio"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    @property
    def position_beyond(self) -> Bool[BoolArray, "n m"]:
        """Which joints are beyond a position limit."""
        return self.position_excess > ROUNDING

    @property
    def speed_beyond(self) -> Bool[BoolArray, "n m"]:
        """Which joints are faster than they can be."""
        return self.speed_ratio > 1.0 + ROUNDING

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Which limits are not known: of those joints nothing was judged."""
        found = (("position", self.position_excess), ("speed", self.speed_ratio))
        named = [(what, self._unknown(values)) for what, values in found]
        return tuple(unknown_limits(what, names) for what, names in named if names)

    def summary(self) -> dict[str, dict[str, object]]:
        """`joints.position` and `joints.speed` of `surefoot index --json`."""
        return {
            "position": self._judged(self.position_excess, self.position_beyond, "worst_rad"),
            "speed": self._judged(self.speed_ratio, self.speed_beyond, "worst_ratio"),
        }

    def _unknown(self, values: Array) -> list[str]:
        known = set(np.flatnonzero(np.isfinite(values).any(axis=0)).tolist())
        return [name for j, name in enumerate(self.joint_names) if j not in known]

    def _judged(self, values: Array, beyond: BoolArray, worst: str) -> dict[str, object]:
        unknown = self._unknown(values)
        known = len(unknown) < len(self.joint_names)
        i, j = (
            (int(x) for x in np.unravel_index(np.argmax(values), values.shape)) if known else (0, 0)
        )
        samples = beyond.any(axis=1)
        return {
            "violations": int(samples.sum()) if known else None,
            "fraction_beyond": float(samples.mean()) if known else None,
            worst: float(values[i, j]) if known else None,
            "worst_joint": self.joint_names[j] if known else None,
            "worst_at_s": float(self.time[i]) if known else None,
            "unknown": len(unknown),
            "unknown_joints": unknown,
            "beyond": [
                {
                    "joint": self.joint_names[j],
                    worst: float(values[:, j].max()),
                    "worst_at_s": float(self.time[int(np.argmax(values[:, j]))]),
                    "fraction_beyond": float(beyond[:, j].mean()),
                }
                for j in np.flatnonzero(beyond.any(axis=0))
            ],
        }


def joint_limits(batch: Batch, time: Float64[Array, " n"]) -> JointLimits:
    """Position and speed of every joint against its limits, at every frame of a batch.

    Args:
        time: moments of the frames, s.

    Raises:
        BadMotion: the batch has no velocities.
    """
    robot = batch.robot
    position = batch.qpos[:, robot.joint_qposadr]
    speed = np.abs(batch.qvel[:, robot.joint_dofadr])
    ratio = np.full_like(speed, -np.inf)
    known = np.isfinite(robot.joint_speed) & (robot.joint_speed > 0.0)  # 0 in a file: nobody knows
    ratio[:, known] = speed[:, known] / robot.joint_speed[known]
    excess = np.maximum(position - robot.joint_max, robot.joint_min - position)
    return JointLimits(robot.joint_names, time, excess, ratio)


def unknown_limits(what: str, names: list[str]) -> Notice:
    """The notice that joints have no known limit of some kind, and so are not judged."""
    one = len(names) == 1
    count = "1 joint has" if one else f"{len(names)} joints have"
    return Notice(
        "unknown",
        f"{what} limits",
        f"{count} no known {what} limit and {'was' if one else 'were'} not judged: {listed(names)}",
        value=float(len(names)),
    )
