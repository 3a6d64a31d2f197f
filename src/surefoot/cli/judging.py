"""Options of the commands that judge feasibility: how the index is taken."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import arg

from surefoot.cli.clip_commands import ClipOptions
from surefoot.cli.options import Number, Smooth, cutoff_hz
from surefoot.errors import BadOption

if TYPE_CHECKING:
    from surefoot.index.index import Options
    from surefoot.index.samples import Reference


@dataclass(frozen=True, kw_only=True)
class Judging(ClipOptions):
    """How the index is taken."""

    friction: Number = None
    """Instead of the friction of the terrain and contacts."""
    rate: float = 200.0
    """Samples a second, up to 1000; contact changes are sampled on both sides besides."""
    smooth: Smooth = "none"
    """Low pass before anything else."""
    interpolation: Literal["spline", "six-frame"] = "spline"
    """The curve between the frames."""
    reference: Annotated[str, arg(metavar="base|com|origin|X,Y,Z")] = "base"
    """The point about which moments are taken."""
    length_scale: float = 1.0
    """Metres by which a moment is divided to be compared with a force."""
    cone_sides: int = 0
    """0 for circular friction cones, else pyramids inside them with so many sides."""
    tolerance: float = 1e-4
    """Relative gap between the bounds of d inside; outside it is 1e-9 always."""
    tolerance_over_weight: float = 1e-9
    """Up to this a proven d counts as feasible, over the weight."""
    sliding: Literal["kinetic", "static", "frictionless"] = "kinetic"
    """What stances that slide on purpose can give."""
    threads: int = 1
    """They share the work; the numbers are the same."""

    def options(self) -> Options:
        """The options of the verb.

        Raises:
            BadOption: outside their ranges.
        """
        from surefoot.index.index import Options

        return Options(
            rate_hz=self.rate,
            friction=self.friction,
            reference=_reference(self.reference),
            length_scale_m=self.length_scale,
            cone_sides=self.cone_sides,
            tolerance=self.tolerance,
            tolerance_over_weight=self.tolerance_over_weight,
            smooth_hz=cutoff_hz(self.smooth),
            interpolation=self.interpolation,
            sliding=self.sliding,
            threads=self.threads,
        )


def _reference(text: str) -> Reference:
    if not re.match(r"^[-+.\d]", text):
        return text
    parts = text.split(",")
    try:
        x, y, z = (float(part) for part in parts)
    except ValueError:
        raise BadOption(
            what=f"expected base, com, origin or X,Y,Z, got '{text}'", where="--reference"
        ) from None
    return (x, y, z)
