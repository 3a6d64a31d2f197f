"""What a family of clips is: parameters with ranges and sources, and how members are made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.errors import BadOption, UnknownName, nearest
from surefoot.motion.contact import Terrain
from surefoot.samples.plan import Plan
from surefoot.samples.posing import Habit, Sway


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number that shapes the members of a family."""

    name: str
    """With its unit."""
    default: float
    low: float
    high: float
    text: str
    """What it is, in a few words."""
    source: str
    """Where default and range come from."""
    whole: bool = False
    """Whether only whole numbers make sense."""

    def summary(self) -> dict[str, object]:
        """The parameter as a JSON object."""
        return {
            "name": self.name,
            "default": self.default,
            "low": self.low,
            "high": self.high,
            "whole": self.whole,
            "text": self.text,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class Family:
    """Parameters, and the two halves of a member: what feet and weight do, and in what manner."""

    parameters: tuple[Parameter, ...]
    make_plan: Callable[[np.random.Generator, Mapping[str, float]], Plan]
    make_manner: Callable[[np.random.Generator, Mapping[str, float]], tuple[Habit, Sway]]
    make_terrain: Callable[[Mapping[str, float]], Terrain] | None = None
    """The ground that the feet stand on; None: a level floor at z = 0."""


def chosen(
    name: str, table: tuple[Parameter, ...], asked: Mapping[str, float] | None
) -> dict[str, float]:
    """Every parameter of the family of that name, as asked or at its default.

    Raises:
        UnknownName: a parameter that the family does not have.
        BadOption: a value that is no number, outside the range, or not whole where it must be.
    """
    values = {row.name: float(row.default) for row in table}
    rows = {row.name: row for row in table}
    where = f"sample '{name}'"
    for key, value in (asked or {}).items():
        if key not in rows:
            raise UnknownName(what=f"no parameter '{key}'", where=where, todo=nearest(key, rows))
        row = rows[key]
        if not (math.isfinite(value) and row.low <= value <= row.high):
            raise BadOption(
                what=f"{key} must be from {row.low:g} to {row.high:g}, got {value:g}", where=where
            )
        if row.whole and value != round(value):
            raise BadOption(what=f"{key} must be a whole number, got {value:g}", where=where)
        values[key] = float(value)
    return values
