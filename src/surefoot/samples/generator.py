"""Families of human clips, made from a seed and parameters: the motion, and the truth about its contacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from surefoot.errors import UnknownName, nearest
from surefoot.motion.human import HumanClip, Skeleton, recognised
from surefoot.samples import body, parameters, plan, posing, sidestep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FPS = 30.0


@dataclass(frozen=True, slots=True)
class Family:
    """A sort of motion that the generator knows."""

    line: str
    """What happens, in one line."""
    parameters: tuple[parameters.Parameter, ...]
    make_plan: Callable[[np.random.Generator, Mapping[str, float]], plan.Plan]
    make_style: Callable[
        [np.random.Generator, Mapping[str, float]], tuple[posing.Habit, posing.Sway]
    ]


FAMILIES: Mapping[str, Family] = {
    "sidestep": Family(
        "side steps to the left and back, from quiet standing to quiet standing",
        sidestep.PARAMETERS,
        sidestep.make_plan,
        sidestep.make_style,
    ),
}

Spans = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """First and last moment, s, of every rest of each part of the feet on the ground."""

    left_heel: Spans
    left_toe: Spans
    right_heel: Spans
    right_toe: Spans


def make(
    name: str, *, seed: int = 0, parameters: Mapping[str, float] | None = None
) -> HumanClip:
    """The member of a family with that seed and those parameters, at 30 frames a second.

    Raises:
        UnknownName: a family or a parameter that does not exist.
        BadOption: a parameter outside its range.
    """
    values, steps, (habit, sway) = _planned(name, seed, parameters)
    person = body.body(values["stature_m"])
    pose = posing.pose(person, steps, habit, sway)
    every = round(posing.GRID_HZ / FPS)
    return HumanClip(
        skeleton=skeleton(person),
        time=pose.time[::every],
        root_pos=pose.root_pos[::every],
        joint_quat=pose.joint_quat[::every],
        source=f"sample {name}, seed {seed}",
    )


def truth(
    name: str, *, seed: int = 0, parameters: Mapping[str, float] | None = None
) -> Truth:
    """When each heel and toe of that member rests on the ground, as the generator planned it.

    Raises:
        UnknownName: a family or a parameter that does not exist.
        BadOption: a parameter outside its range.
    """
    _, steps, _ = _planned(name, seed, parameters)
    left = tuple((fall.start, fall.end) for fall in steps.left)
    right = tuple((fall.start, fall.end) for fall in steps.right)
    return Truth(left_heel=left, left_toe=left, right_heel=right, right_toe=right)


def family(name: str) -> Family:
    """The family of that name.

    Raises:
        UnknownName: no such family.
    """
    if name not in FAMILIES:
        raise UnknownName(what=f"no sample is called '{name}'", todo=nearest(name, FAMILIES))
    return FAMILIES[name]


def skeleton(person: body.Body) -> Skeleton:
    """The common 22-joint skeleton with that person's lengths."""
    return recognised(body.JOINT_NAMES, body.PARENTS, person.offsets, person.end_offsets)


def _planned(
    name: str, seed: int, asked: Mapping[str, float] | None
) -> tuple[dict[str, float], plan.Plan, tuple[posing.Habit, posing.Sway]]:
    """Parameters, plan and style; steps and style draw from streams of their own."""
    row = family(name)
    values = parameters.chosen(name, row.parameters, asked)
    for_steps, for_style = np.random.default_rng(seed).spawn(2)
    return values, row.make_plan(for_steps, values), row.make_style(for_style, values)
