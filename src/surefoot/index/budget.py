"""How sure the index is: how d changes when what goes into it changes a little."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.index.distance import signed_distances
from surefoot.index.index import Budget, Feasibility, Options, samples_of
from surefoot.index.samples import without_slivers
from surefoot.motion.contact import MOST_FRICTION, ContactSchedule, Stance
from surefoot.motion.curves import INTERPOLATIONS
from surefoot.motion.motion import Clip
from surefoot.motion.smoothing import smooth
from surefoot.robots.robot import Robot

SOLE_M = 0.002  # how well the outline of a sole is known: rounding, wear, how far it bears
GROUND_M = 0.01  # how well the height of the ground under a clip made elsewhere is known
MASS = 0.05  # share of the robot's; batteries, covers and cables beside the model
MOST_OF_LINK = 0.5  # a robot of many light links has none that can lose so much
FRICTION = 0.1
CUTOFFS_HZ: tuple[float | None, ...] = (None, 10.0, 6.0)

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class _Case:
    """One change of the input."""

    name: str
    clip: Clip
    robot: Robot
    options: Options
    raised_m: float = 0.0
    """How much higher the contacts are than the clip has them, along their normals."""


def budgeted(found: Feasibility, original: Clip, progress: Progress | None = None) -> Feasibility:
    """The same index with the band that small changes of the input make, and its cases.

    Args:
        original: the clip before any smoothing.
    """
    cases = list(_cases(original, found.robot, found.options))
    low, high = np.array(found.lower), np.array(found.upper)
    rows, begin = [], clock.perf_counter()
    for number, case in enumerate(cases):
        if progress is not None:
            progress(number, len(cases), f"what if: {case.name}")
        upper, lower, weight_n = _bounds(case)
        low, high = np.minimum(low, lower), np.maximum(high, upper)
        feasible = upper <= case.options.tolerance_over_weight * weight_n
        rows.append((case.name, float(upper.max()) / weight_n, float(feasible.mean())))
    seconds = found.seconds + clock.perf_counter() - begin
    return replace(found, budget=Budget(tuple(rows), low, high), seconds=seconds)


def _bounds(case: _Case) -> tuple[Float64[Array, " n"], Float64[Array, " n"], float]:
    clip, options, robot = without_slivers(case.clip), case.options, case.robot
    if options.smooth_hz is not None:
        clip = replace(clip, motion=smooth(clip.motion, options.smooth_hz, clip.contacts)[0])
    samples = samples_of(clip, robot, options)
    cones = samples.cones
    raised = cones.vertex_pos + case.raised_m * cones.vertex_normal
    found = signed_distances(
        replace(cones, vertex_pos=raised),
        samples.wrench,
        samples.ref_w,
        scales=options.scales,
        threads=options.threads,
    )
    return found.upper, found.lower, robot.mass * float(np.linalg.norm(robot.model.opt.gravity))


def _cases(clip: Clip, robot: Robot, options: Options) -> Iterator[_Case]:
    """Every change, one at a time; the samples lie at the same moments in all."""
    mass = dict(zip(robot.link_names, robot.model.body_mass[1:], strict=True))
    trunk = max(mass, key=lambda link: mass[link])
    load = min(MASS * robot.mass, MOST_OF_LINK * mass[trunk])
    for interpolation in INTERPOLATIONS:
        if interpolation != options.interpolation:
            changed = replace(options, interpolation=interpolation)
            yield _Case(f"interpolation {interpolation}", clip, robot, changed)
    for cutoff in CUTOFFS_HZ:
        if cutoff != options.smooth_hz:
            name = "no smoothing" if cutoff is None else f"smoothed at {cutoff:g} Hz"
            yield _Case(name, clip, robot, replace(options, smooth_hz=cutoff))
    for way in (-1.0, 1.0):
        name = f"soles {1000 * way * SOLE_M:+.0f} mm"
        yield _Case(name, _with_stances(clip, partial(_grown, by_m=way * SOLE_M)), robot, options)
    for way in (-1.0, 1.0):
        name = f"ground {1000 * way * GROUND_M:+.0f} mm"
        yield _Case(name, clip, robot, options, raised_m=way * GROUND_M)
    for way in (-1.0, 1.0):
        name = f"mass of {trunk} {100 * way * load / robot.mass:+.0f} % of the robot's"
        heavier = robot.with_link_mass(trunk, mass[trunk] + way * load)
        yield _Case(name, clip, heavier, options)
    for way in (-1.0, 1.0):
        name = f"friction {way * FRICTION:+.1f}"
        yield _Case(
            name,
            _with_stances(clip, partial(_rubbed, by=way * FRICTION)),
            robot,
            _rubbed_options(options, way * FRICTION),
        )


def _with_stances(clip: Clip, change: Callable[[Stance], Stance]) -> Clip:
    return replace(clip, contacts=ContactSchedule(tuple(map(change, clip.contacts.stances))))


def _grown(stance: Stance, by_m: float) -> Stance:
    """The outline moved outwards along the axes of its link; a point stays where it is."""
    out = stance.vertices - stance.vertices.mean(axis=0)
    moved = np.where(np.abs(out) > abs(by_m), by_m * np.sign(out), 0.0)
    return replace(stance, vertices=stance.vertices + moved)


def _rubbed(stance: Stance, by: float) -> Stance:
    return replace(stance, friction=_friction(stance.friction, by))


def _friction(known: float, by: float) -> float:
    return min(max(0.0, known + by), MOST_FRICTION)


def _rubbed_options(options: Options, by: float) -> Options:
    if options.friction is None:
        return options
    return replace(options, friction=_friction(options.friction, by))
