"""The arrays of a file, taken out by type and shape, with all that does not fit said together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import BadFile, listed
from surefoot.formats.npz import AnyArray

RATES_HZ = (1.0, 2000.0)  # frames a second that a motion may have
MAX_NUMBERS = 2**27  # of an array: 1 GiB once they are floats, however small the file
MAX_WORDS = 100_000  # of a list: each becomes an object of its own


class Keys:
    """The arrays of a file, taken out by type and shape; what does not fit is gathered."""

    def __init__(self, arrays: Mapping[str, AnyArray], where: str) -> None:
        """Nothing is looked at before it is asked for."""
        self.arrays = arrays
        self.where = where
        self.faults: list[str] = []

    def refuse(self) -> None:
        """Raise all faults together, if there are any."""
        if self.faults:
            raise BadFile(
                what=listed(self.faults), where=self.where, todo="docs/formats.md has every key"
            )

    def _taken(self, key: str, shape: tuple[int, ...], kinds: str, wanted: str) -> AnyArray | None:
        array = self.arrays.get(key)
        if array is None:
            self.faults.append(f"no array '{key}'")
            return None
        fits = len(shape) == array.ndim and all(
            w in (-1, g) for w, g in zip(shape, array.shape, strict=True)
        )
        if array.dtype.kind not in kinds or not fits:
            size = ", ".join("any" if w == -1 else str(w) for w in shape)
            self.faults.append(
                f"expected '{key}' as {wanted} ({size}), got {array.dtype.str} {array.shape}"
            )
            return None
        most = MAX_NUMBERS if kinds == "iuf" else MAX_WORDS
        if array.size > most:
            self.faults.append(f"'{key}' holds {array.size} values, at most {most} are read")
            return None
        return array

    def numbers(self, key: str, shape: tuple[int, ...]) -> Array:
        """A float array; of zeros where it is faulty."""
        array = self._taken(key, shape, "iuf", "numbers")
        if array is not None:
            values = array.astype(np.float64)
            if np.all(np.isfinite(values)):
                return values
            first = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
            self.faults.append(f"'{key}' holds {values[first]} at {first}")
        return np.zeros(tuple(max(w, 0) for w in shape))

    def frames(self, key: str, width: int) -> Array:
        """A float array (n, width), a row a frame, width −1 for any; of no frames where faulty."""
        array = self._taken(key, (-1, width), "iuf", "numbers")
        if array is not None:
            values = array.astype(np.float64)
            fault = first_not_finite(values)
            if not fault:
                return values
            self.faults.append(f"'{key}' holds {fault}")
        return np.zeros((0, max(width, 0)))

    def points(self, key: str) -> Array:
        """A float array (n, b, 3), points by frame; of none where it is faulty."""
        array = self._taken(key, (-1, -1, 3), "iuf", "numbers")
        if array is not None:
            values = array.astype(np.float64)
            fault = first_not_finite(values.reshape(len(values), -1))
            if not fault:
                return values
            self.faults.append(f"'{key}' holds {fault}")
        return np.zeros((0, 0, 3))

    def rate(self, key: str) -> float:
        """Frames a second, a single number; 1 where it is faulty."""
        array = self.arrays.get(key)
        shape = (1,) if array is not None and array.shape == (1,) else ()
        array = self._taken(key, shape, "iuf", "a number")
        if array is None:
            return RATES_HZ[0]
        value = float(array.reshape(()))
        if not RATES_HZ[0] <= value <= RATES_HZ[1]:  # not a number fails as well
            self.faults.append(
                f"'{key}' must be {RATES_HZ[0]:g} to {RATES_HZ[1]:g} frames a second, got {value:g}"
            )
        return value

    def refuse_unless_even(self, arrays: Mapping[str, Array]) -> None:
        """Raise all faults; among them arrays with different numbers of frames, or none."""
        self.refuse()  # a faulty array has no frames here: one fault would be said twice
        counts = {name: len(array) for name, array in arrays.items()}
        if len(set(counts.values())) > 1:
            said = ", ".join(f"'{name}' {count}" for name, count in counts.items())
            self.faults.append(f"different numbers of frames: {said}")
        elif 0 in counts.values():
            self.faults.append("0 frames, a motion needs at least one")
        self.refuse()

    def whole(self, key: str, shape: tuple[int, ...], low: int, high: int) -> list[int]:
        """Whole numbers from low to high; none where they are faulty."""
        array = self._taken(key, shape, "iu", "whole numbers")
        if array is None:
            return []
        values = [int(value) for value in np.atleast_1d(array)]
        wrong = [value for value in values if not low <= value <= high]
        if wrong:
            self.faults.append(f"'{key}' must hold {low} to {high}, got {wrong[0]}")
            return []
        return values

    def flags(self, key: str, shape: tuple[int, ...]) -> list[bool]:
        """Truth values; none where they are faulty."""
        array = self._taken(key, shape, "b", "truth values")
        return [] if array is None else [bool(value) for value in array]

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of words; none where they are faulty."""
        array = self._taken(key, (-1,), "US", "text")
        return () if array is None else tuple(_text(value) for value in array)

    def text(self, key: str) -> str:
        """One text; empty where it is faulty."""
        array = self._taken(key, (), "US", "text")
        return "" if array is None else _text(array[()])


def _text(value: object) -> str:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)


def first_not_finite(values: Array) -> str:
    """The first frame and column of a table that is not finite, in words; empty for none."""
    wrong = ~np.isfinite(values)
    if not np.any(wrong):
        return ""
    i, j = (int(k) for k in np.argwhere(wrong)[0])
    return f"{values[i, j]} at frame {i}, column {j}"
