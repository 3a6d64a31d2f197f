"""How inverse kinematics is solved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.errors import BadOption


@dataclass(frozen=True, slots=True)
class Options:
    """How to solve."""

    iterations: int = 100
    """At most so many steps a frame; 3 to 5 are usual from a near start."""
    tolerance: float = 1e-6
    """A frame has converged when a step moves no coordinate by more, rad or m."""
    damping: float = 1e-6
    """Added to the normal matrix: keeps a step finite where nothing is asked of a coordinate."""
    step_cap: float = 0.7
    """Largest turn of one step, rad."""
    posture_weight: float = 0.03
    """1/rad (1/m for a slide): pull of every joint towards the posture."""
    posture_qpos: Float64[Array, " nq"] | None = None
    """The posture, in the engine's order; None: the robot's home pose."""
    start: Literal["warm", "fixed"] = "warm"
    """`warm`: from the frame before. `fixed`: every frame from its own start, independently."""
    limit_speed: bool = False
    """Keep each joint's change from frame to frame within its speed; needs `warm`."""
    joint_range: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Narrower limits by joint name, rad or m; they never widen the robot's own."""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if self.iterations < 1:
            raise BadOption(what=f"expected iterations of at least 1, got {self.iterations}")
        for name in ("tolerance", "damping", "step_cap"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise BadOption(what=f"expected {name} above 0, got {value}")
        if not (np.isfinite(self.posture_weight) and self.posture_weight >= 0.0):
            raise BadOption(
                what=f"expected posture_weight of at least 0, got {self.posture_weight}"
            )
        for name, (low, high) in self.joint_range.items():
            if not low <= high:
                raise BadOption(
                    what=f"expected joint_range of '{name}' to rise, got {low:g} to {high:g}"
                )
        if self.start not in ("warm", "fixed"):
            raise BadOption(what=f"expected start 'warm' or 'fixed', got '{self.start}'")
        if self.limit_speed and self.start == "fixed":
            raise BadOption(
                what="limit_speed ties frames together, start='fixed' keeps them apart",
                todo="Use start='warm'",
            )
        if self.posture_qpos is not None:
            object.__setattr__(self, "posture_qpos", locked(self.posture_qpos))
