"""Where labels above a plot go, so that none lies on another or on the line that leads to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

GAP = 4.0  # between a label and its neighbour or a line, in the units of the sheet


@dataclass(frozen=True, slots=True)
class Place:
    """Where one label lies."""

    row: int
    """0 is next to the plot."""
    left: float
    """Where it begins."""
    leftward: bool
    """Whether it lies to the left of its line."""
    form: int
    """Which of its forms there is room for."""


@dataclass(frozen=True, slots=True)
class _Taken:
    row: int
    left: float
    right: float
    line: float


def placed(
    at: Sequence[float], widths: Sequence[Sequence[float]], *, width: float, rows: int
) -> list[Place | None]:
    """A place for each label beside the line that leads up to it, the first ones first.

    A line ends at its label, so it passes the rows below. None where there is no room.

    Args:
        at: where the line of each label stands.
        widths: of the forms of each label, the best one first.
        width: of the sheet.
        rows: how many rows there are.
    """
    taken: list[_Taken] = []
    found: list[Place | None] = []
    for x, forms in zip(at, widths, strict=True):
        place = next(_offers(x, forms, taken, width, rows), None)
        found.append(place)
        if place is not None:
            right = place.left + forms[place.form]
            taken.append(_Taken(place.row, place.left, right, x))
    return found


def _offers(
    x: float, forms: Sequence[float], taken: Sequence[_Taken], width: float, rows: int
) -> Iterator[Place]:
    """The free places of one label, the best first."""
    for form, wide in enumerate(forms):
        for row in range(rows):
            for leftward in (False, True):
                left = x - GAP - wide if leftward else x + GAP
                new = _Taken(row, left, left + wide, x)
                if left >= 0.0 and new.right <= width and _is_free(new, taken):
                    yield Place(row, left, leftward, form)


def _is_free(new: _Taken, taken: Sequence[_Taken]) -> bool:
    return not any(
        (new.row == old.row and new.left < old.right + GAP and old.left < new.right + GAP)
        or (old.row >= new.row and new.left - GAP / 2 < old.line < new.right + GAP / 2)
        or (new.row >= old.row and old.left - GAP / 2 < new.line < old.right + GAP / 2)
        for old in taken
    )
