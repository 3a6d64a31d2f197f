"""Array types with shapes, the locking of values, and the door to the kernels.

The only importer of jaxtyping. In signatures: `Float64[Array, "n 3"]`; one symbol has a leading
blank, `Float64[Array, " n"]`. The symbols stand in docs/glossary.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64, Int64, UInt8

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]
    ByteArray = NDArray[np.uint8]
else:
    Array = BoolArray = IntArray = ByteArray = np.ndarray

__all__ = [
    "Array",
    "Bool",
    "BoolArray",
    "ByteArray",
    "Float64",
    "Int64",
    "IntArray",
    "UInt8",
    "door",
    "locked",
    "locked_int",
]


def locked(values: ArrayLike) -> Array:
    """A read-only C-contiguous float64 array that nobody else can change.

    A copy is made unless the array is locked already and owns its memory.
    """
    if (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.flags.c_contiguous
        and values.flags.owndata
        and not values.flags.writeable
    ):
        return values
    array = np.array(values, dtype=np.float64, order="C")
    array.flags.writeable = False
    return array


def locked_int(values: ArrayLike) -> IntArray:
    """A read-only C-contiguous int64 array that nobody else can change."""
    array = np.array(values, dtype=np.int64, order="C")
    array.flags.writeable = False
    return array


def door(values: ArrayLike) -> Array:
    """A contiguous float64 read-only view: the one flavour of array that kernels are given.

    To numba a locked, a writable and a strided array are three types, hence three compilations.
    """
    view = np.ascontiguousarray(values, dtype=np.float64).view()
    view.flags.writeable = False
    return view
