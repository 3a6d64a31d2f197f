"""Human clips made from a seed and parameters, and the truth about their contacts."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.errors import BadOption, UnknownName, nearest
from surefoot.motion.contact import Terrain
from surefoot.motion.human import HumanClip, recognised
from surefoot.samples import body, plan, posing
from surefoot.samples.family import Family, Parameter, chosen

FPS = 30  # of the bundled clips

FAMILIES: dict[str, tuple[str, str]] = {
    "sidestep": (
        "surefoot.samples.gaits.sidestep:family",
        "side steps to the left and back, from standing to standing",
    ),
    "stairs-up": (
        "surefoot.samples.gaits.stairs:up",
        "up some low steps, one foot on each, from standing to standing",
    ),
    "stairs-down": (
        "surefoot.samples.gaits.stairs:down",
        "down some low steps, one foot on each, from standing to standing",
    ),
}
"""By name: where the family is made, as module:function, and what happens in it."""

Spans = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """First and last moment, s, of every rest of each part of the feet on the ground."""

    left_heel: Spans
    left_toe: Spans
    right_heel: Spans
    right_toe: Spans


def parameters_of(name: str) -> tuple[Parameter, ...]:
    """The parameters of a family, with ranges and sources.

    Raises:
        UnknownName: no such family.
    """
    return _family(name).parameters


def make(
    name: str,
    *,
    seed: int = 0,
    parameters: Mapping[str, float] | None = None,
    fps: int = FPS,
) -> HumanClip:
    """The member of a family with that seed and those parameters.

    Args:
        fps: frames a second, a divisor of 120; the motion is the same at every rate.

    Example:
        >>> from surefoot.samples import generator
        >>> generator.make("sidestep", seed=7, parameters={"steps": 1.0, "steps_back": 0.0}).fps
        30.0

    Raises:
        UnknownName: a family or a parameter that does not exist.
        BadOption: a parameter outside its range, or a rate that does not divide 120.
    """
    if fps < 1 or posing.GRID_HZ % fps:
        raise BadOption(what=f"fps must divide {posing.GRID_HZ}, got {fps}")
    family, values, footwork = _planned(name, seed, parameters)
    person = body.body(values["stature_m"])
    habit, sway = family.make_manner(_chance(seed, "manner"), values)
    pose = posing.pose(person, footwork, habit, sway)
    every = posing.GRID_HZ // fps
    return HumanClip(
        skeleton=recognised(body.JOINT_NAMES, body.PARENTS, person.offsets, person.end_offsets),
        time=np.arange(len(pose.root_pos[::every])) / fps,
        root_pos=pose.root_pos[::every],
        joint_quat=pose.joint_quat[::every],
        source=f"sample '{name}', seed {seed}",
    )


def truth(
    name: str,
    *,
    seed: int = 0,
    parameters: Mapping[str, float] | None = None,
    speed_mps: float = 0.0,
) -> Truth:
    """When each heel and toe of that member rests on the ground.

    Args:
        speed_mps: what moves no faster counts as resting. 0 gives the rests as planned; swings
            begin and end gently, so whoever judges by speed sees longer rests.

    Raises:
        UnknownName: a family or a parameter that does not exist.
        BadOption: a parameter outside its range, or a speed that is negative or no number.
    """
    if not 0.0 <= speed_mps < np.inf:
        raise BadOption(what=f"speed_mps must be 0 or more, got {speed_mps:g}")
    _, values, footwork = _planned(name, seed, parameters)
    person = body.body(values["stature_m"])
    left, right = (
        [plan.rests(person, *foot, point, speed_mps) for point in (person.heel_f, person.ball_f)]
        for foot in (
            (footwork.left, footwork.left_swings),
            (footwork.right, footwork.right_swings),
        )
    )
    return Truth(left_heel=left[0], left_toe=left[1], right_heel=right[0], right_toe=right[1])


def terrain(name: str, *, parameters: Mapping[str, float] | None = None) -> Terrain | None:
    """The ground of the members of a family, which no seed changes; None: a level floor at z = 0.

    Example:
        >>> from surefoot.samples import generator
        >>> len(generator.terrain("stairs-up", parameters={"steps": 3.0}).surfaces)
        4

    Raises:
        UnknownName: a family or a parameter that does not exist.
        BadOption: a parameter outside its range.
    """
    family = _family(name)
    values = chosen(name, family.parameters, parameters)
    return None if family.make_terrain is None else family.make_terrain(values)


def _family(name: str) -> Family:
    if name not in FAMILIES:
        raise UnknownName(what=f"no family '{name}' of samples", todo=nearest(name, FAMILIES))
    module, _, function = FAMILIES[name][0].partition(":")
    found: Family = getattr(importlib.import_module(module), function)()
    return found


def _planned(
    name: str, seed: int, asked: Mapping[str, float] | None
) -> tuple[Family, dict[str, float], plan.Plan]:
    if seed < 0:
        raise BadOption(what=f"a seed must be 0 or more, got {seed}", where="seed")
    family = _family(name)
    values = chosen(name, family.parameters, asked)
    return family, values, family.make_plan(_chance(seed, "plan"), values)


def _chance(seed: int, half: str) -> np.random.Generator:
    """A stream for each half of a member: a change of the one leaves the other as it was."""
    return np.random.default_rng([seed, ("plan", "manner").index(half)])
