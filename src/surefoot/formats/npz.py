"""Zip archives of arrays, read without trust and written the same to the byte.

No pickle is ever opened; what a member claims about itself is compared with the bytes that are
there before memory is asked for.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadFile, listed
from surefoot.formats.files import shown

MAX_MEMBERS = 1000
MAX_UNPACKED_BYTES = 2**30
MAX_RATIO = 200  # of unpacked to packed bytes, for archives above the next figure
SMALL_BYTES = 16 * 2**20  # constant motions pack by 1 : 1000, but are small
MAX_HEADER_BYTES = 10_000
PLAIN_KINDS = "biufUS"  # numbers, truth values, text: nothing that could run or nest
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date of a zip archive: the same bytes every day

AnyArray = NDArray[Any]


def is_zip(data: bytes) -> bool:
    """Whether the bytes begin as a zip archive does."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def member_names(data: bytes) -> tuple[str, ...]:
    """Names of an archive's arrays, without `.npy`; empty when it is no archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return tuple(name.removesuffix(".npy") for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return ()


def read_arrays(data: bytes, where: str) -> dict[str, AnyArray]:
    """The arrays of an npz file by name, read-only.

    Raises:
        BadFile: no whole archive, or members that are no plain arrays; all faults together.
    """
    arrays: dict[str, AnyArray] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members, where)
            faults = []
            for member in members:
                name = member.filename.removesuffix(".npy")
                try:
                    arrays[name] = _array(archive.read(member))
                except ValueError as error:
                    faults.append(f"array '{shown(name)}' {error}")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
        # NotImplementedError, a kind of RuntimeError: packed in an unknown way
        if isinstance(error, BadFile):
            raise
        raise BadFile(
            what=f"the archive is damaged or cut short: {shown(error)}",
            where=where,
            todo="Fetch or write it again",
        ) from error
    if faults:
        raise BadFile(what=listed(faults), where=where)
    return arrays


def _check_members(members: list[zipfile.ZipInfo], where: str) -> None:
    """Refuse archives that are no npz, and those made to fill the memory."""
    faults = []
    names = [member.filename for member in members]
    if len(names) > MAX_MEMBERS:
        faults.append(f"{len(names)} members, more than the {MAX_MEMBERS} that are read")
    faults += [f"member '{shown(n)}' is no array" for n in names if not n.endswith(".npy")]
    faults += [f"member '{shown(m.filename)}' is encrypted" for m in members if m.flag_bits & 1]
    doubled = sorted({name for name in names if names.count(name) > 1})[:MAX_MEMBERS]
    faults += [f"member '{shown(name)}' is there twice" for name in doubled]
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    if unpacked > MAX_UNPACKED_BYTES or (
        unpacked > SMALL_BYTES and unpacked > MAX_RATIO * max(packed, 1)
    ):
        faults.append(f"{packed} bytes that would unpack to {unpacked}")
    if faults:
        raise BadFile(what=listed(faults), where=where)


def _array(data: bytes) -> AnyArray:
    """The array of one npy member. Its ValueErrors end the sentence "array X ..."."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran, dtype = reader(stream, max_header_size=MAX_HEADER_BYTES)
    except (ValueError, KeyError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError("has no npy header that can be read") from error
    if dtype.kind not in PLAIN_KINDS or dtype.hasobject or dtype.itemsize == 0:
        raise ValueError(f"holds {_kind(dtype)}, only numbers and text are read")
    count = math.prod(shape)
    left = len(data) - stream.tell()
    if min(shape, default=0) < 0 or count * dtype.itemsize != left:
        raise ValueError(f"claims shape {shape} of {dtype.str}, but {left} bytes follow")
    flat = np.frombuffer(data, dtype=dtype, offset=stream.tell(), count=count)
    array = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
    return np.asarray(array)


def _kind(dtype: np.dtype[Any]) -> str:
    return "Python objects (a pickle)" if dtype.hasobject else f"the type {shown(dtype.str)}"


def packed_arrays(arrays: Mapping[str, AnyArray]) -> bytes:
    """The bytes of an npz file: the same arrays in the same order give the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            member.create_system = 3  # not the system at hand: the bytes would differ
            member.external_attr = 0o644 << 16
            body = io.BytesIO()
            np.lib.format.write_array(body, np.asanyarray(array), (1, 0), allow_pickle=False)
            archive.writestr(member, body.getvalue())
    return stream.getvalue()
