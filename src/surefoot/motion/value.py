"""Equality by content for values that hold arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


class Value:
    """Base of frozen dataclasses with arrays: equal when every field is, to the last digit.

    The comparison that dataclasses write asks an array for one truth and fails. Not hashable.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether the other is of the same class with the same content."""
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _same(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)  # type: ignore[arg-type]  # only dataclasses derive from it
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have none


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other)
