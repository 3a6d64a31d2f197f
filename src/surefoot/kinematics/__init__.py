"""The one inverse-kinematics front: weighted targets on any links, limits, pins, all frames."""

from surefoot.kinematics.options import Options
from surefoot.kinematics.solver import Solution, solve, warm_up
from surefoot.kinematics.targets import (
    DirectionTarget,
    OrientationTarget,
    Pin,
    PointTarget,
    Target,
)

__all__ = [
    "DirectionTarget",
    "Options",
    "OrientationTarget",
    "Pin",
    "PointTarget",
    "Solution",
    "Target",
    "solve",
    "warm_up",
]
