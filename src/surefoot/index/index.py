"""The feasibility index of a clip: can the contacts give what the motion needs, at every moment."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import PurePath

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, locked, locked_int
from surefoot.contacts.cones import SLIDINGS, Sliding
from surefoot.contacts.ground import over_own_surface
from surefoot.contacts.pressure import GroundFigures, ground_figures
from surefoot.errors import BadOption, Notice, nearest
from surefoot.index.distance import Scales, signed_distances
from surefoot.index.limits import JointLimits, joint_limits
from surefoot.index.reasons import Limits, find_limits
from surefoot.index.samples import (
    Reference,
    Samples,
    refuse_rate,
    refuse_reference,
    sampled,
    without_slivers,
)
from surefoot.index.segments import Segment, segments
from surefoot.index.speed import Speeds, feasible_speeds, spans
from surefoot.index.torque import Torques, joint_torques
from surefoot.motion import rotation
from surefoot.motion.contact import wrong_friction
from surefoot.motion.curves import Interpolation, as_interpolation
from surefoot.motion.motion import Clip
from surefoot.motion.smoothing import smooth
from surefoot.robots.robot import Robot

FEASIBLE = 1e-9  # of the weight: below it lies only the rounding of d itself
ASTRAY_M = 0.15  # clips made elsewhere float by up to 9 cm
TIGHTEST, LOOSEST = 1e-9, 0.1  # of the relative gap inside


@dataclass(frozen=True, slots=True)
class Options:
    """How the index is taken."""

    rate_hz: float = 200.0
    """Samples a second, up to 1,000; every contact change is sampled on both sides besides."""
    key_frames: bool = False
    """Whether every frame is sampled besides: accelerations of a re-timed clip peak there."""
    friction: float | None = None
    """Instead of the friction that each stance has."""
    reference: Reference = "base"
    """The point about which moments are taken: base, com, origin, or three coordinates, m."""
    length_scale_m: float = 1.0
    """What a moment is divided by to be compared with a force."""
    cone_sides: int = 0
    """0 for circular friction cones, else pyramids inside them with so many sides."""
    tolerance: float = 1e-4
    """Relative gap between the bounds of d inside; outside it is 1e-9 always."""
    tolerance_over_weight: float = FEASIBLE
    """Up to this a proven d counts as feasible, over the weight."""
    smooth_hz: float | None = None
    """Low pass before anything else; by default none: the clip is judged as it is."""
    interpolation: Interpolation = "spline"
    """The curve between the frames: spline, or six-frame, which is local."""
    sliding: Sliding = "kinetic"
    """What stances that slide on purpose can give: kinetic, static or frictionless."""
    torque: bool = False
    """Whether the smallest torque over its limit is sought over all forces that the cones allow."""
    threads: int = 1
    """They share the work; the numbers are the same to the bit."""

    def __post_init__(self) -> None:
        """Refuse what cannot be measured with."""
        refuse_rate(self.rate_hz)
        refuse_reference(self.reference)
        as_interpolation(self.interpolation)
        if self.sliding not in SLIDINGS:
            raise BadOption(
                what=f"unknown sliding '{self.sliding}'", todo=nearest(self.sliding, SLIDINGS)
            )
        if self.friction is not None and (wrong := wrong_friction(self.friction)):
            raise BadOption(what=wrong)
        if self.smooth_hz is not None and not 0.0 < self.smooth_hz < np.inf:
            raise BadOption(
                what=f"the smoothing must be a positive number of hertz, got {self.smooth_hz:g}",
                todo="None means none",
            )
        if not 0.0 < self.length_scale_m < np.inf:
            raise BadOption(what=f"the length scale must be positive, got {self.length_scale_m} m")
        if self.cone_sides != 0 and self.cone_sides < 3:
            raise BadOption(
                what=f"a friction pyramid has 3 sides or more, got {self.cone_sides}",
                todo="0 means circular cones",
            )
        if not TIGHTEST <= self.tolerance <= LOOSEST:
            raise BadOption(
                what=f"the tolerance must lie between {TIGHTEST:g} and {LOOSEST:g},"
                f" got {self.tolerance:g}"
            )
        if not 0.0 <= self.tolerance_over_weight < 1.0:
            raise BadOption(
                what=f"the feasible share of the weight must lie between 0 and 1,"
                f" got {self.tolerance_over_weight:g}"
            )
        if self.threads < 1:
            raise BadOption(what=f"threads must be at least 1, got {self.threads}")

    @property
    def scales(self) -> Scales:
        """How distances are measured."""
        return Scales(self.length_scale_m, self.cone_sides, self.tolerance)


@dataclass(frozen=True, slots=True)
class Budget:
    """How d changes when what went into it changes a little."""

    cases: tuple[tuple[str, float, float], ...]
    """What was changed, the worst d over the weight then, and the feasible share of the samples.

    −inf where the contacts can give every wrench at every sample."""
    low: Float64[Array, " n"]
    """The smallest d of all cases at each sample, N."""
    high: Float64[Array, " n"]
    """The largest."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("low", "high"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    def summary(self) -> dict[str, object]:
        """The cases as a JSON object."""
        return {
            "cases": [
                {
                    "change": name,
                    "worst_over_weight": worst if np.isfinite(worst) else None,
                    "feasible_fraction": share,
                }
                for name, worst, share in self.cases
            ]
        }


@dataclass(frozen=True, eq=False)
class Feasibility:
    """The signed index d of a clip at every sample, with its bounds and its reasons.

    d > 0: infeasible, and by so many newtons; d < 0: feasible with that margin.
    """

    clip: Clip
    """As it was judged: smoothed, if that was asked for."""
    robot: Robot
    options: Options
    samples: Samples
    lower: Float64[Array, " n"]
    """dual · w, N: no true d is smaller; −inf where the contacts can give every wrench."""
    upper: Float64[Array, " n"]
    """No true d is larger, N."""
    dual: Float64[Array, "n 6"]
    """Unit direction with dual · v ≤ 0 for all that the contacts can give."""
    margin: Float64[Array, " n"]
    """Distance from the boundary within the span of the cone, N; −d where the wrench is outside."""
    dimension: Int64[IntArray, " n"]
    """Of the span of the cone; below 6 d is never negative."""
    converged: Bool[BoolArray, " n"]
    """Whether the bounds met within the tolerance."""
    limits: Limits
    ground: GroundFigures
    joints: JointLimits
    speeds: Speeds
    torques: Torques | None = None
    budget: Budget | None = None
    notices: tuple[Notice, ...] = ()
    seconds: float = 0.0
    mass_kg: float = field(init=False)
    weight_n: float = field(init=False)

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("lower", "upper", "dual", "margin"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        object.__setattr__(self, "dimension", locked_int(self.dimension))
        self.converged.flags.writeable = False
        gravity = float(np.linalg.norm(self.robot.model.opt.gravity))
        object.__setattr__(self, "mass_kg", self.robot.mass)
        object.__setattr__(self, "weight_n", self.robot.mass * gravity)

    @property
    def time(self) -> Float64[Array, " n"]:
        """Moments of the samples, s; a contact change stands twice, before and after."""
        return self.samples.time

    @property
    def d(self) -> Float64[Array, " n"]:
        """The signed index, N: the lower bound, which is the product with `dual`."""
        return self.lower

    @property
    def tolerance_n(self) -> float:
        """Up to which `upper` counts as feasible, N."""
        return self.options.tolerance_over_weight * self.weight_n

    @property
    def feasible(self) -> Bool[BoolArray, " n"]:
        """Whether each sample is proven feasible."""
        within: BoolArray = self.upper <= self.tolerance_n
        return within

    @property
    def all_feasible(self) -> bool:
        """Whether every sample is."""
        return bool(self.feasible.all())

    @property
    def worst(self) -> int:
        """The sample with the largest proven d."""
        return int(np.argmax(self.upper))

    @property
    def in_flight(self) -> Bool[BoolArray, " n"]:
        """Samples at which nothing touches."""
        return np.equal(self.samples.cones.count, 0)

    @cached_property
    def _segments(self) -> tuple[Segment, ...]:
        return segments(self.time, self.upper, self.tolerance_n, self.limits)

    def segments(self) -> tuple[Segment, ...]:
        """The infeasible stretches, with their worst values and what limits there."""
        return self._segments

    def summary(self) -> dict[str, object]:
        """The JSON object of `surefoot index`."""
        worst = float(self.upper[self.worst])
        finite = np.isfinite(worst)
        median = float(np.median(self.upper))
        bounded = np.isfinite(self.upper)
        gap = self.upper[bounded] - self.lower[bounded]
        torque = None if self.torques is None else self.torques.summary()
        return {
            "schema": 1,
            "robot": self.robot.name,
            "clip": PurePath(self.clip.meta.source).name,
            "mass_kg": self.mass_kg,
            "weight_n": self.weight_n,
            "rate_hz": float(self.options.rate_hz),
            "duration_s": self.clip.motion.duration,
            "samples": self.samples.n,
            "friction": self._friction(),
            "cone_sides": self.options.cone_sides,
            "length_scale_m": float(self.options.length_scale_m),
            "reference": self._reference(),
            "feasible": self.all_feasible,
            "feasible_fraction": float(self.feasible.mean()),
            "worst_n": worst if finite else None,
            "worst_over_weight": worst / self.weight_n if finite else None,
            "worst_at_s": float(self.time[self.worst]) if finite else None,
            "median_margin_n": median if np.isfinite(median) else None,
            "tolerance": float(self.options.tolerance),
            "tolerance_over_weight": float(self.options.tolerance_over_weight),
            "gap_max_n": float(gap.max(initial=0.0)),
            "unconverged": int((~self.converged).sum()),
            "flight_samples": int(self.in_flight.sum()),
            "degenerate_samples": int((self.dimension < 6).sum()),
            "unlimited_samples": int(np.isneginf(self.upper).sum()),
            "smoothing_hz": self.options.smooth_hz,
            "interpolation": self.options.interpolation,
            "sliding": self.options.sliding,
            "required_friction": self.ground.largest_required_friction,
            "feasible_speed": self.speeds.feasible_speed,
            "infeasible_when_still": int(self.speeds.falls_when_still.sum()),
            "infeasible_when_still_s": spans(self.time, self.speeds.falls_when_still),
            "infeasible_at_any_speed": int(self.speeds.never.sum()),
            "segments": [segment.summary() for segment in self.segments()],
            "zmp": self.ground.summary(self.time),
            "joints": {**self.joints.summary(), "torque": torque},
            "budget": None if self.budget is None else self.budget.summary(),
            "seconds": self.seconds,
            "warnings": [notice.sentence for notice in self.notices],
        }

    def _reference(self) -> str:
        reference = self.options.reference
        return reference if isinstance(reference, str) else ",".join(f"{x:g}" for x in reference)

    def _friction(self) -> float | None:
        """The friction of all stances, the smallest where they differ; None without any."""
        if self.options.friction is not None:
            return float(self.options.friction)
        found = [stance.friction for stance in self.clip.contacts.stances]
        return float(min(found)) if found else None


def feasibility(clip: Clip, robot: Robot, options: Options | None = None) -> Feasibility:
    """Whether the contacts of a clip can give what its motion needs, and by how much they miss it.

    At every sample the signed distance d between the wrench that the motion needs and the cone of
    wrenches that the contacts can give (Zheng and Yamane): positive where they cannot.

    Raises:
        BadMotion: fewer than two frames, or joints that are not the robot's.
        BadOption: options that cannot be used.
        UnknownName: a stance of a link that the robot has not.

    Example:
        >>> import surefoot as sf
        >>> from surefoot.samples import bundled
        >>> robot = sf.load_robot("human25")
        >>> clip = sf.retarget(sf.read(bundled.path("sidestep")), robot)
        >>> index = feasibility(clip, robot)
        >>> index.d.shape == index.time.shape
        True
    """
    begin = clock.perf_counter()
    options = options or Options()
    judged, said = without_slivers(clip), _doubts(clip, robot, options)
    if options.smooth_hz is not None:
        motion, changed = smooth(judged.motion, options.smooth_hz, judged.contacts)
        judged, said = replace(clip, motion=motion), (*said, *changed)
    found = _judged(judged, robot, options, said)
    return replace(found, seconds=clock.perf_counter() - begin)


def samples_of(clip: Clip, robot: Robot, options: Options) -> Samples:
    """What a clip asks of its contacts, at the moments and about the point that are asked for."""
    return sampled(
        clip,
        robot,
        rate_hz=options.rate_hz,
        key_frames=options.key_frames,
        interpolation=options.interpolation,
        reference=options.reference,
        friction=options.friction,
        sliding=options.sliding,
        threads=options.threads,
    )


def _judged(clip: Clip, robot: Robot, options: Options, said: tuple[Notice, ...]) -> Feasibility:
    samples, scales = samples_of(clip, robot, options), options.scales
    found = signed_distances(
        samples.cones, samples.wrench, samples.ref_w, scales=scales, threads=options.threads
    )
    weight_n = robot.mass * float(np.linalg.norm(robot.model.opt.gravity))
    tolerance_n = options.tolerance_over_weight * weight_n
    joints = joint_limits(samples.batch, samples.time)
    ground = ground_figures(
        samples.cones, clip.contacts, samples.wrench, samples.ref_w, weight_n=weight_n
    )
    torques = None
    if options.torque:
        torques = joint_torques(
            samples.batch, samples.cones, clip.contacts, found.upper, tolerance_n, samples.time
        )
    limits = find_limits(
        samples.cones,
        clip.contacts,
        robot,
        found,
        samples.wrench,
        samples.ref_w,
        options.length_scale_m,
        facing_w=facing(samples),
        tolerance_n=tolerance_n,
    )
    speeds = feasible_speeds(
        samples, found.upper, tolerance_n, scales=scales, threads=options.threads
    )
    return Feasibility(
        clip=clip,
        robot=robot,
        options=options,
        samples=samples,
        **{one.name: getattr(found, one.name) for one in fields(found)},
        limits=limits,
        ground=ground,
        joints=joints,
        speeds=speeds,
        torques=torques,
        notices=(
            *clip.notices,
            *said,
            *_astray(samples, clip),
            *_unknown(found.upper, ground),
            *joints.notices,
            *(torques.notices if torques else ()),
        ),
    )


def facing(samples: Samples) -> Float64[Array, "n 3"]:
    """Where the robot faces: the horizontal part of what points forward at home."""
    batch = samples.batch
    robot = batch.robot
    home_w = robot.motion(robot.home[None], np.zeros(1)).root_quat[0]
    ahead_l = rotation.rotate(rotation.conjugate(home_w), np.array([1.0, 0.0, 0.0]))
    forward = batch.link_rot_wl[:, robot.link_id(robot.root_link)] @ ahead_l
    forward[:, 2] = 0.0
    size = np.linalg.norm(forward, axis=1, keepdims=True)
    return np.where(size > 1e-9, forward / np.maximum(size, 1e-9), [1.0, 0.0, 0.0])


def _doubts(clip: Clip, robot: Robot, options: Options) -> tuple[Notice, ...]:
    """What the reader of a number should know about its input."""
    said = []
    moving = [stance for stance in clip.contacts.stances if stance.moving]
    for stance in moving:
        said.append(
            Notice(
                "assumption",
                stance.link,
                f"{stance.link} slides from {stance.start:.2f} to {stance.end:.2f} s: it gives "
                + {
                    "kinetic": "friction against its way, no more and no less",
                    "static": "static friction, as if it stood",
                    "frictionless": "no friction",
                }[options.sliding],
                t0=stance.start,
                t1=stance.end,
            )
        )
    if not clip.contacts.stances:
        said.append(Notice("missing", "contacts", "the clip has no contacts: everything is flight"))
    if robot.root_kind == "planar":
        sentence = (
            "the robot moves in a plane: what holds it there is left out, so the contacts are asked"
            " for the sideways force and for the moments of roll and yaw as well"
        )
        said.append(Notice("assumption", robot.root_link, sentence))
    return tuple(said)


def _astray(samples: Samples, clip: Clip) -> tuple[Notice, ...]:
    """Whether what stands is where its ground is: detected contacts follow a clip that floats."""
    cones = samples.cones
    above = over_own_surface(cones.vertex_pos, cones.vertex_stance, clip.contacts, clip.terrain)
    middle = float(np.median(above)) if len(above) else 0.0
    if abs(middle) <= ASTRAY_M:
        return ()
    sentence = (
        f"what stands is {abs(middle):.2f} m {'above' if middle > 0.0 else 'below'} its surface in"
        " the median: another terrain, another unit, or a root at another height"
    )
    return (Notice("doubt", "contacts", sentence, value=middle, limit=ASTRAY_M),)


def _unknown(upper: Float64[Array, " n"], ground: GroundFigures) -> tuple[Notice, ...]:
    """What has no number, and why."""
    said = []
    unlimited = int(np.isneginf(upper).sum())
    if unlimited:
        sentence = (
            f"at {unlimited} of {len(upper)} samples the contacts can give every wrench: d has no"
            " value there, and no margin is too large"
        )
        said.append(Notice("missing", "d", sentence, value=float(unlimited)))
    if not ground.defined.any():
        sentence = "nothing presses on a common plane: there is no ZMP and no required friction"
        said.append(Notice("missing", "zmp", sentence))
    return tuple(said)
