"""Clips that are mended: the one verb, the table of methods, and what each gives."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Literal, Protocol, cast

import numpy as np

from surefoot.adapters.methods import METHODS
from surefoot.adapters.timing import Timing
from surefoot.errors import Notice, UnknownName, nearest
from surefoot.index.index import Feasibility, feasibility
from surefoot.index.index import Options as IndexOptions
from surefoot.motion.motion import Clip
from surefoot.motion.smoothing import smooth
from surefoot.robots.robot import Robot

Status = Literal["mended", "better", "unchanged", "refused"]
Progress = Callable[[int, int, str], None]

CONTROL_HZ = 500.0  # at which a mended clip is judged: a kink of its speed lives in 2 ms


@dataclass(frozen=True, eq=False)
class Adaptation:
    """A mended clip, and what mending it did."""

    method: str
    """The method that was asked for."""
    chosen: str
    """What was used: the method, or the better one of two that it compared."""
    status: Status
    """mended: feasible everywhere now; better; unchanged: it was feasible, or nothing helped;
    refused: no timing can help."""
    clip: Clip
    before: Feasibility
    after: Feasibility
    """Of the clip as it is written, at the control rate and at every frame besides."""
    timing: Timing | None = None
    lower_bound_n: float | None = None
    """No timing that the method looked among has a smaller worst d, up to what re-timed frames add
    to it (docs/warping.md); None where nothing is proven."""
    why_not: str | None = None
    """Why it is not mended; None where it is."""
    details: Mapping[str, object] = field(default_factory=dict)
    """What the method says of its own work, as JSON."""
    notices: tuple[Notice, ...] = ()
    seconds: float = 0.0

    def summary(self) -> dict[str, object]:
        """The JSON object of `surefoot adapt`."""
        weight = self.before.weight_n
        change = self.clip.motion.duration - self.before.clip.motion.duration
        return {
            "schema": 1,
            "robot": self.before.robot.name,
            "clip": self.before.summary()["clip"],
            "method": self.method,
            "chosen": self.chosen,
            "status": self.status,
            "feasible_before": self.before.all_feasible,
            "feasible_after": self.after.all_feasible,
            "feasible_fraction_before": float(self.before.feasible.mean()),
            "feasible_fraction_after": float(self.after.feasible.mean()),
            "worst_before_over_weight": _over(worst_n(self.before), weight),
            "worst_after_over_weight": _over(worst_n(self.after), weight),
            "lower_bound_over_weight": (
                None if self.lower_bound_n is None else _over(self.lower_bound_n, weight)
            ),
            "segments_found": len(self.before.segments()),
            "segments_left": len(self.after.segments()),
            "joint_limits_before": self.before.joints.summary(),
            "joint_limits_after": self.after.joints.summary(),
            "duration_change_s": float(change),
            "why_not": self.why_not,
            "details": dict(self.details),
            "seconds": self.seconds,
            "warnings": [notice.sentence for notice in self.notices],
        }

    def explain(self) -> str:
        """What was done, in words."""
        before, after = (100.0 * worst_n(f) / f.weight_n for f in (self.before, self.after))
        end = {
            "mended": "Now every sample is feasible.",
            "better": "It is better, but not feasible everywhere.",
            "unchanged": "Nothing was changed.",
            "refused": "Nothing was changed: no timing that the method allows can mend it.",
        }[self.status]
        why = f" {self.why_not}" if self.why_not else ""
        return (
            f"{self.chosen}: the worst d was {before:+.2f} % of the weight and is {after:+.2f} %."
            f" {end}{why}"
        )


class _Method(Protocol):
    def __call__(
        self,
        clip: Clip,
        robot: Robot,
        before: Feasibility,
        options: object | None,
        progress: Progress | None,
    ) -> Adaptation: ...


def adapt(
    clip: Clip,
    robot: Robot,
    *,
    method: str = "warp",
    options: object | None = None,
    index: IndexOptions | None = None,
    progress: Progress | None = None,
) -> Adaptation:
    """The clip, mended so that the contacts can give what its motion needs, as far as that goes.

    Args:
        method: a name of METHODS.
        options: the method's own, such as `surefoot.adapters.warp.Options`.
        index: how feasibility is judged.

    Raises:
        UnknownName: no such method.
        BadMotion: fewer than two frames, or joints that are not the robot's.
        BadOption: options that cannot be used.

    Example:
        >>> import surefoot as sf
        >>> from surefoot.samples import bundled
        >>> robot = sf.load_robot("human25")
        >>> clip = sf.retarget(sf.read(bundled.path("sidestep")), robot)
        >>> adapt(clip, robot, method="warp").status
        'mended'
    """
    if method not in METHODS:
        raise UnknownName(what=f"no method is called '{method}'", todo=nearest(method, METHODS))
    begin = clock.perf_counter()
    module, _, name = METHODS[method][0].partition(":")
    clip, index = _smoothed(clip, index or IndexOptions())
    before = judged(clip, robot, index)
    run = cast("_Method", getattr(import_module(module), name))
    found = run(before.clip, robot, before, options, progress)
    return replace(found, seconds=clock.perf_counter() - begin)


def _smoothed(clip: Clip, index: IndexOptions) -> tuple[Clip, IndexOptions]:
    """The clip smoothed once, before it is mended; what is written is judged as it is."""
    if index.smooth_hz is None:
        return clip, index
    motion, said = smooth(clip.motion, index.smooth_hz, clip.contacts)
    meta = clip.meta.then("smooth", cutoff_hz=index.smooth_hz)
    smoothed = replace(clip, motion=motion, meta=meta, notices=(*clip.notices, *said))
    return smoothed, replace(index, smooth_hz=None)


def judged(clip: Clip, robot: Robot, index: IndexOptions | None = None) -> Feasibility:
    """The index of a clip as written: at the control rate, and at every frame besides."""
    options = index or IndexOptions()
    rate = max(options.rate_hz, CONTROL_HZ)
    return feasibility(clip, robot, replace(options, rate_hz=rate, key_frames=True))


def worst_n(found: Feasibility) -> float:
    """The largest proven d, N."""
    return float(found.upper.max())


def _over(value: float, weight: float) -> float | None:
    return value / weight if np.isfinite(value) else None
