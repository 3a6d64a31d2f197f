"""Parameters of a family of clips: default, range and source of each, and the check of what is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot.errors import BadOption, UnknownName, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number that shapes the members of a family."""

    name: str
    """With its unit."""
    default: float
    low: float
    high: float
    meaning: str
    source: str
    """Where default and range come from."""
    whole: bool = False
    """Whether only whole numbers make sense."""


def chosen(
    family: str, table: tuple[Parameter, ...], asked: Mapping[str, float] | None
) -> dict[str, float]:
    """Every parameter of the family, as asked or at its default.

    Raises:
        UnknownName: a parameter that the family does not have.
        BadOption: a value that is no number, outside the range, or not whole where it must be.
    """
    values = {parameter.name: parameter.default for parameter in table}
    ranges = {parameter.name: parameter for parameter in table}
    for name, value in (asked or {}).items():
        if name not in ranges:
            raise UnknownName(
                what=f"sample '{family}' has no parameter '{name}'", todo=nearest(name, values)
            )
        parameter = ranges[name]
        if not (math.isfinite(value) and parameter.low <= value <= parameter.high):
            raise BadOption(
                what=f"{name} must be from {parameter.low:g} to {parameter.high:g}, got {value:g}",
                where=f"sample '{family}'",
            )
        if parameter.whole and value != round(value):
            raise BadOption(
                what=f"{name} must be a whole number, got {value:g}", where=f"sample '{family}'"
            )
        values[name] = float(value)
    return values
