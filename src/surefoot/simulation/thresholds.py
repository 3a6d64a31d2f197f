"""Where the lines are drawn: what counts as a slip, a tip, a fall (docs/simulation.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from surefoot.errors import BadOption


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Limits of the verdict."""

    slip_m: float = 0.010
    """How far a standing link may move from where it was shortly after its touch-down."""
    tip_rad: float = math.radians(2.0)
    """How far a standing sole may tilt beyond what the reference does."""
    touch_down_s: float = 0.030
    """So long after touch-down slip and tip are not judged."""
    loaded_over_weight: float = 0.05
    """Load above which slip and tip are judged, and a contact has a centre of pressure."""
    measured_over_weight: float = 0.01
    """Load above which a link counts as touching."""
    torque_steps: int = 5
    """So many control steps in a row at its limit are an event of a joint."""
    com_error_m: float = 0.05
    """An event: the centre of mass is this far from the reference."""
    well: float = 0.5
    """The centre of mass is well again when it is off by less than this share of that."""
    prelude_s: float = 0.5
    """Causes of a fall are sought from so long before it was last well."""
    root_tilt_rad: float = math.radians(30.0)
    """An event: the root is turned this far from the reference."""
    fallen_height: float = 0.6
    """Fallen: centre of mass below this share of the reference's height over its support."""
    stray_over_weight: float = 0.01
    """Fallen: a link that neither schedule nor sole lets touch the ground carries this much."""
    infeasible_over_weight: float = 0.002
    """d above which a reference counts as infeasible: some 3 mm of ZMP beside the sole."""

    def __post_init__(self) -> None:
        """Refuse limits that are none."""
        for name in self.__slots__:
            value = getattr(self, name)
            if not 0.0 <= value < math.inf:
                raise BadOption(what=f"{name} must be 0 or more, got {value:g}")
        if self.torque_steps < 1:
            raise BadOption(what=f"torque_steps must be at least 1, got {self.torque_steps}")
