"""What a dump of the index holds, read without trust."""

from __future__ import annotations

import pathlib
import zipfile
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_BYTES = 2**31  # unpacked; two million samples of a robot with 40 joints
FLAG_CONVERGED, FLAG_LOOSE, FLAG_EVERYTHING = 0, 1, 2

# Name and shape: letters are counts that must agree, figures are exact.
SHAPES: dict[str, tuple[str | int, ...]] = {
    "time": ("n",),
    "qpos": ("n", "nq"),
    "qvel": ("n", "nv"),
    "qacc": ("n", "nv"),
    "wrench": ("n", 6),
    "reference": ("n", 3),
    "vertex_sample": ("k",),
    "vertex_pos": ("k", 3),
    "vertex_normal": ("k", 3),
    "vertex_friction": ("k",),
    "d": ("n",),
    "d_lower": ("n",),
    "d_upper": ("n",),
    "dual": ("n", 6),
    "flag": ("n",),
    "length_scale": (),
    "cone_sides": (),
    "weight": (),
    "model_xml": (),
}
_WHOLE = ("vertex_sample", "flag", "cone_sides")


class Unusable(Exception):
    """A file that is no dump, or one that cannot be checked."""


@dataclass(frozen=True)
class Dump:
    """The arrays of a dump as they lie in the file (docs/verification.md, array by array)."""

    time: Floats
    qpos: Floats
    qvel: Floats
    qacc: Floats
    wrench: Floats
    reference: Floats
    vertex_sample: Integers
    vertex_pos: Floats
    vertex_normal: Floats
    vertex_friction: Floats
    d: Floats
    d_lower: Floats
    d_upper: Floats
    dual: Floats
    flag: Integers
    length_scale: float
    cone_sides: int
    weight: float
    model_xml: str
    tolerance: float | None
    """Relative width at which a bound counts as converged; None when the file does not say."""

    @property
    def n(self) -> int:
        """Samples."""
        return int(self.time.shape[0])

    def scaled_wrench(self) -> Floats:
        """Force and moment / length of every sample, newton."""
        return np.concatenate(
            (self.wrench[:, :3], self.wrench[:, 3:] / self.length_scale), axis=1, dtype=np.float64
        )


def read(path: str | pathlib.Path) -> Dump:
    """The dump of the index in a file.

    Raises:
        Unusable: no npz archive, arrays missing, of a wrong type or shape; all faults together.
    """
    return dump_of(arrays_in(path))


def dump_of(arrays: dict[str, NDArray[np.generic]]) -> Dump:
    """The dump of the index in the arrays of a file.

    Raises:
        Unusable: arrays missing, of a wrong type or shape; all faults together.
    """
    missing = [name for name in SHAPES if name not in arrays]
    if missing:
        raise Unusable(f"no dump of surefoot index: without {', '.join(missing)}")
    kinds = {
        name: "US" if name == "model_xml" else "iu" if name in _WHOLE else "fiu" for name in SHAPES
    }
    faults = faults_of(arrays, SHAPES, kinds)
    if not faults and arrays["time"].shape[0] == 0:
        faults = ["no sample in it"]
    if faults:
        raise Unusable("; ".join(faults))
    numbers = {
        name: np.ascontiguousarray(arrays[name], dtype=np.float64)
        for name, shape in SHAPES.items()
        if shape and name not in _WHOLE
    }
    tolerance = arrays.get("tolerance")
    return Dump(
        **numbers,
        vertex_sample=arrays["vertex_sample"].astype(np.int64),
        flag=arrays["flag"].astype(np.int64),
        length_scale=float(arrays["length_scale"]),
        cone_sides=int(arrays["cone_sides"]),
        weight=float(arrays["weight"]),
        model_xml=text(arrays["model_xml"]),
        tolerance=_single(tolerance),
    )


def arrays_in(path: str | pathlib.Path) -> dict[str, NDArray[np.generic]]:
    """The arrays of an npz archive, by name; nothing in it is run.

    Raises:
        Unusable: no archive, a damaged one, or one that would fill the memory.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MAX_BYTES:
            raise Unusable(f"{size} bytes when unpacked, more than the {MAX_BYTES} that are read")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, zlib.error) as error:
        raise Unusable("no npz archive, or a damaged one") from error
    except (
        ValueError,
        EOFError,
        KeyError,
        NotImplementedError,
        RuntimeError,
        MemoryError,
    ) as error:
        raise Unusable(f"arrays that cannot be read: {' '.join(str(error).split())}") from error


def faults_of(
    arrays: dict[str, NDArray[np.generic]],
    shapes: dict[str, tuple[str | int, ...]],
    kinds: dict[str, str],
) -> list[str]:
    """Arrays of a wrong type; where there are none, those whose shape contradicts the others.

    Args:
        shapes: letters are counts that must agree, figures are exact.
        kinds: numpy's letters for the types that each array may have.
    """
    words = {"US": "text", "iu": "whole numbers", "fiu": "numbers", "b": "yes or no"}
    faults = [
        f"expected {words[kinds[name]]} in {name}, got {arrays[name].dtype}"
        for name in shapes
        if arrays[name].dtype.kind not in kinds[name]
    ]
    return faults or _shape_faults(arrays, shapes)


def _shape_faults(
    arrays: dict[str, NDArray[np.generic]], shapes: dict[str, tuple[str | int, ...]]
) -> list[str]:
    """Arrays whose shape contradicts the table or the arrays before them."""
    counts: dict[str, int] = {}
    faults = []
    for name, shape in shapes.items():
        got = arrays[name].shape
        fits = len(got) == len(shape)
        for letter, count in zip(shape, got, strict=False):
            expected = counts.setdefault(letter, count) if isinstance(letter, str) else letter
            fits = fits and expected == count
        if not fits:
            wanted = ", ".join(str(counts.get(str(s), s)) for s in shape)
            faults.append(f"expected {name} ({wanted}), got ({', '.join(map(str, got))})")
    return faults


def text(array: NDArray[np.generic]) -> str:
    """The text in an array of one element."""
    value = array[()]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _single(array: NDArray[np.generic] | None) -> float | None:
    """The number of an array that may be absent; anything that is no positive number is absent."""
    if array is None or array.shape != () or array.dtype.kind not in "fiu":
        return None
    value = float(array)
    return value if np.isfinite(value) and value > 0.0 else None
