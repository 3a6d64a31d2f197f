"""Does it stand: whether the robot fell, when, and what came first.

The cause is what happened first: a slip, a tip, a joint at its limit; or, before any of them, a
push, or a reference that its contacts cannot give. Later events are consequences of the fall;
earlier ones, after which the centre of mass was where it should be, the robot has recovered from.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from surefoot.errors import Notice
from surefoot.index.index import Feasibility
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import Push
from surefoot.simulation.events import Event, events, last_well
from surefoot.simulation.thresholds import Thresholds
from surefoot.simulation.trace import Trace
from surefoot.simulation.tracking import Tracking, tracking

Cause = Literal[
    "reference infeasible", "push", "slip", "tip", "torque", "no command", "diverged", "unknown"
]
CAUSES = ("slip", "tip", "torque")  # events that can name the cause of a fall
PUSH_LASTS_S = 1.5  # some five time constants of a body of human height: then a push is over


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What became of one run."""

    clip: Clip
    robot: Robot
    trace: Trace
    stood: bool
    """Whether the robot did the clip and held its last frame."""
    fell_at: float | None
    """When it fell, s of the clip; before 0 while it settled, past the end while it held."""
    cause: Cause | None
    """Why, if it fell."""
    link: str | None
    """Where the cause was."""
    cause_at: float | None
    """When the cause was, s of the clip."""
    sentence: str
    """All of it in words."""
    events: tuple[Event, ...]
    """In order of time, also those of runs that stood."""
    tracking: Tracking
    controller: str
    seed: int
    notices: tuple[Notice, ...]
    seconds: float
    """Time that all of it took."""

    def summary(self) -> dict[str, object]:
        """The JSON object of `surefoot simulate`."""
        t = self.tracking
        names = self.robot.joint_names
        return {
            "schema": 1,
            "robot": self.robot.name,
            "clip": PurePath(self.clip.meta.source).name,
            "controller": self.controller,
            "seed": self.seed,
            "stood": self.stood,
            "fell_at_s": self.fell_at,
            "cause": self.cause,
            "link": self.link,
            "cause_at_s": self.cause_at,
            "text": self.sentence,
            "duration_s": self.trace.duration,
            "root_error_max_m": t.root_error_max_m,
            "root_turn_max_rad": t.root_turn_max_rad,
            "com_error_max_m": t.com_error_max_m,
            "com_error_rms_m": t.com_error_rms_m,
            "joint_error_rms_rad": t.joint_error_rms_rad,
            "joint_error_max_rad": t.joint_error_max_rad,
            "foot_error_max_m": t.foot_error_max_m,
            "cop_error_rms_m": t.cop_error_rms_m,
            "cop_error_p99_m": t.cop_error_p99_m,
            "torque_saturated_fraction": t.torque_saturated_fraction,
            "torque_over_limit": dict(zip(names, t.torque_over_limit.tolist(), strict=True)),
            "speed_over_limit": dict(zip(names, t.speed_over_limit.tolist(), strict=True)),
            "contact_agreement": t.contact_agreement,
            "softened_fraction": t.softened_fraction,
            "events": [event.summary() for event in self.events],
            "real_time_factor": self.trace.real_time_factor,
            "seconds": self.seconds,
            "warnings": [notice.sentence for notice in self.notices],
        }


@dataclass(frozen=True, slots=True)
class Reason:
    """What came first."""

    cause: Cause
    link: str | None
    time: float
    sentence: str


def judge(
    trace: Trace,
    *,
    clip: Clip,
    robot: Robot,
    index: Feasibility | None = None,
    pushes: tuple[Push, ...] = (),
    thresholds: Thresholds | None = None,
    controller: str = "",
    seed: int = 0,
    notices: tuple[Notice, ...] = (),
    seconds: float = 0.0,
) -> Verdict:
    """The verdict on a run.

    Args:
        index: of the clip, to tell whether its reference was infeasible; None: not considered.
        pushes: those of the run, drawn ones included.
    """
    limits = thresholds or Thresholds()
    happened = events(trace, limits)
    reason = None
    if trace.fell_at is not None:
        late = events(trace, limits, since=last_well(trace, limits) - limits.prelude_s)
        infeasible_at = _infeasible_at(trace, index, limits)
        reason = _reason(trace, late, trace.fell_at, infeasible_at, pushes)
    return Verdict(
        clip=clip,
        robot=robot,
        trace=trace,
        stood=reason is None,
        fell_at=trace.fell_at,
        cause=None if reason is None else reason.cause,
        link=None if reason is None else reason.link,
        cause_at=None if reason is None else reason.time,
        sentence=_sentence(trace, reason),
        events=happened,
        tracking=tracking(trace, limits),
        controller=controller,
        seed=seed,
        notices=notices,
        seconds=seconds,
    )


def _infeasible_at(trace: Trace, index: Feasibility | None, limits: Thresholds) -> float | None:
    """The first moment at which the reference asks for clearly more than its contacts can give.

    A first frame that is infeasible is so from the beginning of settling on.
    """
    if index is None:
        return None
    beyond = index.upper > limits.infeasible_over_weight * index.weight_n
    if not beyond.any():
        return None
    i = int(beyond.argmax())
    return float(min(index.time[0], trace.time[0]) if i == 0 else index.time[i])


def _reason(
    trace: Trace,
    happened: tuple[Event, ...],
    fell_at: float,
    infeasible_at: float | None,
    pushes: tuple[Push, ...],
) -> Reason:
    """What came first, of what can make a robot fall."""
    if trace.end in ("no command", "diverged"):
        cause: Cause = "no command" if trace.end == "no command" else "diverged"
        return Reason(cause, None, fell_at, trace.failure)
    first = next((e for e in happened if e.kind in CAUSES and e.time <= fell_at), None)
    moment = fell_at if first is None else first.time
    found: list[Reason] = []
    if infeasible_at is not None and infeasible_at <= moment:
        sentence = "from here on the contacts cannot give what the reference asks for"
        found.append(Reason("reference infeasible", None, infeasible_at, sentence))
    for push in pushes:
        if push.time <= moment <= push.time + push.duration + PUSH_LASTS_S:
            link = push.link or trace.scene.robot.root_link
            sentence = f"{link} is pushed with {push.impulse:.1f} N s"
            found.append(Reason("push", link, push.time, sentence))
    if found:
        return min(found, key=lambda reason: reason.time)
    if first is None:
        return Reason(
            "unknown",
            _lowest_touch(trace),
            fell_at,
            "nothing slipped, tipped or reached its limit before",
        )
    kind: Cause = "slip" if first.kind == "slip" else "tip" if first.kind == "tip" else "torque"
    return Reason(kind, first.link, first.time, first.sentence)


def _lowest_touch(trace: Trace) -> str | None:
    """The first link that touched the ground and should not have."""
    touched = trace.stray_link[trace.stray_n > 0.0]
    return trace.scene.robot.link_names[int(touched[0]) - 1] if len(touched) else None


def _sentence(trace: Trace, reason: Reason | None) -> str:
    fell_at = trace.fell_at
    if reason is None or fell_at is None:
        return f"stood for {trace.duration:.2f} s and held the last frame"
    return f"fell at {fell_at:.2f} s: {reason.cause} at {reason.time:.2f} s, {reason.sentence}"
