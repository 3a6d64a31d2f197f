"""Options of the methods that mend a clip by new times for its frames."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import import_module
from typing import Annotated

from tyro.conf import arg

from surefoot.adapters.methods import METHODS
from surefoot.cli.judging import Judging
from surefoot.cli.options import Number
from surefoot.errors import BadOption

Count = Annotated[int | None, arg(metavar="INT")]
Spans = tuple[tuple[float, float], ...]

NAMED = {
    "basis": "basis",
    "segments": "segments",
    "pad": "pad_s",
    "key_step": "key_step_s",
    "floor": "floor",
    "samples": "samples",
    "polish": "polish",
    "rounds": "rounds",
    "seed": "seed",
    "slowest": "slowest",
    "fastest": "fastest",
    "longest": "longest",
}
"""Field of the command: field of a method's Options."""


@dataclass(frozen=True, kw_only=True)
class Warping(Judging):
    """How times are searched; what is not given is chosen by the method."""

    basis: Annotated[str | None, arg(metavar="NAME")] = None
    """warp: functions that warps are made of, and no others are tried: poly3 as in the paper,
    smooth, smooth3, smooth4, bspline."""
    segments: Annotated[str | None, arg(metavar="START:END,...")] = None
    """Segments by hand, s, taken as they are; by default what is infeasible, padded."""
    pad: Number = None
    """Added to both sides of an infeasible stretch, s; 0 as in the paper."""
    key_step: Number = None
    """Key frames of a dense clip lie about so far apart, s."""
    floor: Number = None
    """warp: no t′ is below it; 0 as in the paper."""
    samples: Count = None
    """warp: samples of the feasible region, for each segment and shape."""
    polish: Count = None
    """Steps of the local search from the best warp on; 0 for none, as in the paper."""
    rounds: Count = None
    """Times that segments are found, warped and judged, at most."""
    seed: Count = None
    """warp: of the samples; the same seed gives the same clip."""
    slowest: Number = None
    """warp-optimal: smallest speed over the speed that the clip had."""
    fastest: Number = None
    """Largest speed over the speed that the clip had."""
    longest: Number = None
    """warp-optimal: largest duration of a stretch over what it had; 1 keeps the duration."""

    def method_options(self, method: str) -> object | None:
        """The options of a method; None where none was given.

        Raises:
            BadOption: one that the method does not have, or outside its range.
        """
        given = {
            field: value
            for name, field in NAMED.items()
            if (value := getattr(self, name)) is not None
        }
        if not given:
            return None
        kind = import_module(METHODS[method][0].partition(":")[0]).Options
        if method == "warp" and "fastest" in given:
            given["max_speed_ratio"] = given.pop("fastest")
        known = {field.name for field in fields(kind)}
        for name, field in NAMED.items():
            if field in given and field not in known:
                raise BadOption(
                    what=f"the method {method} has no such option",
                    where=f"--{name.replace('_', '-')}",
                    todo="surefoot adapt --help says which method has which",
                )
        if "segments" in given:
            given["segments"] = _spans(str(given["segments"]))
        if "basis" in given:
            given["others"] = ()
        options: object = kind(**given)
        return options


def _spans(text: str) -> Spans:
    """Starts and ends, s."""
    spans = []
    for part in text.split(","):
        try:
            start, end = (float(word) for word in part.split(":"))
        except ValueError:
            raise BadOption(
                what=f"expected segments like 1.2:2.5,4:5.5 in seconds, got '{text}'",
                where="--segments",
            ) from None
        spans.append((start, end))
    return tuple(spans)
