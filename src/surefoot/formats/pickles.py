"""Pickles read without trust: a list of what is allowed, and nothing of the file is ever called.

The one module that imports `pickle`, and of it only the slow unpickler in Python, whose steps can
be replaced one by one. Every name that a pickle asks for becomes an inert stand-in; only a few,
those with which numpy and joblib write arrays, mean anything, and what they mean is written here.
Numbers that the file claims (lengths, shapes) are compared with the bytes that are there.
"""

from __future__ import annotations

import io
import math
import pickle
import re
import struct
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from surefoot.errors import BadFile
from surefoot.formats.files import shown
from surefoot.formats.npz import AnyArray

MAX_STEPS = 500_000  # a motion takes some hundred; each step may make an object of 100 bytes
MAX_DIMENSIONS = 5
MAX_INT_BYTES = 16
MAX_TABLES = 100  # dictionaries of a result, and how deep they may stand in each other
MAX_DEPTH = 8
PADDING = 0xFF  # with which joblib fills up to an aligned address

Value = AnyArray | float | int | str | bool | None
Table = dict[str, "Value | Table"]

_NAMES = {
    "numpy.core.multiarray._reconstruct": "reconstruct",
    "numpy._core.multiarray._reconstruct": "reconstruct",
    "numpy.core.numeric._frombuffer": "frombuffer",
    "numpy._core.numeric._frombuffer": "frombuffer",
    "numpy.core.multiarray.scalar": "scalar",
    "numpy._core.multiarray.scalar": "scalar",
    "numpy.ndarray": "ndarray",
    "numpy.dtype": "dtype",
    "_codecs.encode": "encode",
    "__builtin__.bytes": "bytes",
    "collections.OrderedDict": "ordered",
    "joblib.numpy_pickle.NumpyArrayWrapper": "wrapper",
}
_NUMBERS = frozenset(("b1", *(f"{k}{n}" for k in "iu" for n in (1, 2, 4, 8)), "f2", "f4", "f8"))
_TEXTS = re.compile(r"[US][1-9]\d{0,4}")
_STEPS = (
    "PROTO FRAME MARK STOP POP POP_MARK NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 LONG4"
    " BINFLOAT BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8"
    " EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_LIST APPEND APPENDS EMPTY_DICT SETITEM SETITEMS"
    " BINGET LONG_BINGET BINPUT LONG_BINPUT MEMOIZE GLOBAL STACK_GLOBAL NEWOBJ REDUCE BUILD"
).split()


class _RefusedError(Exception):
    """Something that is not on the list; its text ends the sentence "a pickle that ..."."""


class _Name:
    """A name that the pickle asked for: what it means here, never the thing itself."""

    __slots__ = ("meaning",)

    def __init__(self, meaning: str) -> None:
        self.meaning = meaning


class _Type:
    """What the pickle says of an element type."""

    __slots__ = ("code", "order")

    def __init__(self, code: str) -> None:
        self.code = code
        self.order = "="

    def real(self) -> np.dtype[Any]:
        """The same for numpy."""
        return np.dtype(self.code if self.code == "b1" else self.order + self.code)


class _Array:
    """An array, or where joblib will put one; empty until its BUILD has come."""

    __slots__ = ("value", "wrapper")

    def __init__(self, *, wrapper: bool) -> None:
        self.wrapper = wrapper
        self.value: AnyArray | None = None


def is_pickle(data: bytes) -> bool:
    """Whether the bytes begin as a pickle of protocol 2 to 5 does."""
    return data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")


def read_table(data: bytes, where: str) -> Table:
    """The dictionary of a pickle, with arrays, numbers and texts in it; all else is left out.

    Raises:
        BadFile: not of protocol 2 to 5, damaged, or asking for what is not allowed.
    """
    if data[:2] == b"ZF":
        raise BadFile(
            what="written by joblib 0.9 or older, which is not read",
            where=where,
            todo="Write it again with a newer joblib",
        )
    if not is_pickle(data):
        raise BadFile(what="no pickle of protocol 2 to 5", where=where)
    try:
        found = _Reader(data).load()
        if not isinstance(found, dict):
            raise _RefusedError("holds no dictionary")
        return _plain(found, {}, 0)
    except _RefusedError as error:
        raise BadFile(what=f"a pickle that {error}", where=where) from error
    except (RecursionError, MemoryError, Exception) as error:
        # The unpickler trips over damage in many ways: KeyError, IndexError, struct.error ...
        raise BadFile(
            what=f"the pickle is damaged or cut short: {shown(error) or type(error).__name__}",
            where=where,
            todo="Fetch or write it again",
        ) from error


def _plain(table: dict[str, object], seen: dict[int, Table], depth: int) -> Table:
    """The dictionary without stand-ins; each is made once, however often it is referred to."""
    if id(table) in seen:
        return seen[id(table)]
    if depth > MAX_DEPTH or len(seen) >= MAX_TABLES:
        raise _RefusedError(f"holds more than {MAX_TABLES} dictionaries, or too deep ones")
    made: Table = {}
    seen[id(table)] = made
    for key, value in table.items():
        if isinstance(value, dict):
            made[key] = _plain(value, seen, depth + 1)
        elif isinstance(value, _Array) and value.value is not None:
            made[key] = value.value
        elif value is None or isinstance(value, (bool, int, float, str)):
            made[key] = value
    return made


def _shape(value: object) -> tuple[int, ...]:
    if (
        not isinstance(value, tuple)
        or len(value) > MAX_DIMENSIONS
        or not all(type(size) is int and 0 <= size < 2**48 for size in value)
    ):
        raise _RefusedError("holds an array whose shape cannot be read")
    return value


def _filled(shape: object, kind: object, raw: object, *, fortran: bool) -> AnyArray:
    """The array over the bytes; nothing is copied, and its size is that of the bytes."""
    sizes = _shape(shape)
    if not isinstance(kind, _Type) or not isinstance(raw, bytes):
        raise _RefusedError("holds an array of something else than numbers or text")
    dtype = kind.real()
    if math.prod(sizes) * dtype.itemsize != len(raw):
        raise _RefusedError(
            f"claims an array {sizes} of {dtype.str}, but {len(raw)} bytes are there"
        )
    flat = np.frombuffer(raw, dtype=dtype) if raw else np.zeros(0, dtype=dtype)
    return flat.reshape(sizes[::-1]).T if fortran else flat.reshape(sizes)


class _Reader(pickle._Unpickler):
    """The unpickler with every step counted, and those that could do harm replaced."""

    dispatch: ClassVar[dict[int, Callable[..., None]]]
    read: Callable[[int], bytes]
    append: Callable[[object], None]
    pop_mark: Callable[[], list[object]]
    stack: list[Any]
    _unframer: Any

    def __init__(self, data: bytes) -> None:
        self.stream = io.BytesIO(data)
        super().__init__(self.stream)
        self.steps = 0
        self.encoded = 0
        self.size = len(data)

    def find_class(self, module: object, name: object) -> _Name:
        """A stand-in for a name of the list, and for no other."""
        full = f"{module}.{name}"
        if full not in _NAMES:
            raise _RefusedError(f"asks for '{shown(full)}', which is not on the allow-list")
        return _Name(_NAMES[full])

    def load_long1(self) -> None:
        """A whole number of up to 255 bytes, if it is as short as real ones are."""
        self._long(self.read(1)[0])

    def load_long4(self) -> None:
        """A whole number of any length, likewise."""
        self._long(struct.unpack("<i", self.read(4))[0])

    def _long(self, length: int) -> None:
        if not 0 <= length <= MAX_INT_BYTES:
            raise _RefusedError(f"holds a whole number of {length} bytes")
        self.append(int.from_bytes(self.read(length), "little", signed=True))

    def load_bytearray8(self) -> None:
        """Bytes of an array of protocol 5, after a look at whether they are there."""
        (length,) = struct.unpack("<Q", self.read(8))
        raw = bytes(self.read(length)) if length <= self.size else b""
        if len(raw) != length:
            raise _RefusedError(f"claims {length} bytes, more than are there")
        self.append(raw)

    def load_append(self) -> None:
        """One thing to a list, and to nothing else."""
        value = self.stack.pop()
        self._list().append(value)

    def load_appends(self) -> None:
        """Some things to a list, and to nothing else."""
        values = self.pop_mark()
        self._list().extend(values)

    def _list(self) -> list[object]:
        target = self.stack[-1]
        if type(target) is not list:
            raise _RefusedError("appends to what is no list")
        return target

    def load_setitem(self) -> None:
        """One row of a dictionary."""
        value = self.stack.pop()
        self._set([self.stack.pop(), value])

    def load_setitems(self) -> None:
        """Some rows of a dictionary."""
        self._set(self.pop_mark())

    def _set(self, rows: list[object]) -> None:
        target = self.stack[-1]
        if type(target) is not dict or len(rows) % 2:
            raise _RefusedError("sets rows of what is no dictionary")
        for key, value in zip(rows[::2], rows[1::2], strict=True):
            if type(key) is not str:  # nested tuples as keys would be hashed without end
                raise _RefusedError("holds a dictionary whose keys are no texts")
            target[key] = value

    def load_newobj(self) -> None:
        """The wrapper that joblib puts around an array, and no other object."""
        arguments, kind = self.stack.pop(), self.stack.pop()
        if not isinstance(kind, _Name) or kind.meaning != "wrapper" or arguments != ():
            raise _RefusedError("makes an object of a class that is not read")
        self.append(_Array(wrapper=True))

    def load_reduce(self) -> None:
        """What the names of the list mean when they are called."""
        arguments, kind = self.stack.pop(), self.stack.pop()
        if not isinstance(kind, _Name) or type(arguments) is not tuple:
            raise _RefusedError("calls what is no name of the list")
        if kind.meaning not in _CALLS:
            raise _RefusedError(f"calls {kind.meaning}, which only stands for itself")
        try:
            made = _CALLS[kind.meaning](self, *arguments)
        except TypeError as error:
            raise _RefusedError(f"calls {kind.meaning} as numpy does not") from error
        self.append(made)

    def load_build(self) -> None:
        """The contents of an array, an element type, or joblib's wrapper."""
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, _Type):
            _set_type(target, state)
        elif isinstance(target, _Array) and target.wrapper:
            target.value = self._raw(state)
        elif isinstance(target, _Array):
            if type(state) is not tuple or len(state) != 5:
                raise _RefusedError("holds an array that numpy did not write")
            _, shape, kind, fortran, raw = state
            target.value = _filled(shape, kind, raw, fortran=bool(fortran))
        else:
            raise _RefusedError("sets the contents of what is no array")

    def _raw(self, state: object) -> AnyArray:
        """The array that joblib wrote straight into the stream, after its wrapper."""
        if type(state) is not dict:
            raise _RefusedError("holds an array that joblib did not write")
        kind, subclass = state.get("dtype"), state.get("subclass")
        shape = _shape(state.get("shape"))
        if not isinstance(subclass, _Name) or subclass.meaning != "ndarray":
            raise _RefusedError("holds an array of a class of its own")
        if not isinstance(kind, _Type):
            raise _RefusedError("holds an array without an element type")
        frame = self._unframer.current_frame
        if frame is not None and frame.read(1):
            raise _RefusedError("holds an array inside of a frame")
        self._unframer.current_frame = None
        if state.get("numpy_array_alignment_bytes") is not None:
            padding = self.stream.read(1)
            if not padding or self.stream.read(padding[0]) != bytes([PADDING]) * padding[0]:
                raise _RefusedError("holds an array without the padding that joblib writes")
        raw = self.stream.read(math.prod(shape) * kind.real().itemsize)
        return _filled(shape, kind, raw, fortran=state.get("order") == "F")


def _set_type(target: _Type, state: object) -> None:
    """Byte order of an element type; fields, parts and dates are refused."""
    if type(state) is not tuple or len(state) < 8 or state[1] not in ("<", ">", "|", "="):
        raise _RefusedError("holds an element type that cannot be read")
    if any(part is not None for part in state[2:5]) or len(state) > 8:
        raise _RefusedError("holds arrays of structures, only numbers and text are read")
    target.order = "=" if state[1] == "|" else state[1]


def _dtype(reader: _Reader, code: object, *flags: object) -> _Type:
    if not isinstance(code, str) or not (code in _NUMBERS or _TEXTS.fullmatch(code)):
        raise _RefusedError(f"holds the type '{shown(code)}', only numbers and text are read")
    return _Type(code)


def _reconstruct(reader: _Reader, kind: object, shape: object, code: object) -> _Array:
    if not isinstance(kind, _Name) or kind.meaning != "ndarray":
        raise _RefusedError("holds an array of a class of its own")
    return _Array(wrapper=False)


def _frombuffer(reader: _Reader, raw: object, kind: object, shape: object, order: object) -> _Array:
    array = _Array(wrapper=False)
    array.value = _filled(shape, kind, raw, fortran=order == "F")
    return array


def _scalar(reader: _Reader, kind: object, raw: object) -> object:
    return _filled((), kind, raw, fortran=False).item()


def _encode(reader: _Reader, text: object, coding: object) -> bytes:
    """Bytes as protocol 2 writes them; all of them together are no longer than the file."""
    if not isinstance(text, str) or coding not in ("latin1", "latin-1"):
        raise _RefusedError("encodes what is no text in Latin-1")
    reader.encoded += len(text)
    if reader.encoded > reader.size:
        raise _RefusedError("encodes the same text over and over")
    return text.encode("latin-1")


def _nothing(reader: _Reader) -> bytes:
    return b""


def _ordered(reader: _Reader) -> dict[str, object]:
    return {}


_CALLS: dict[str, Callable[..., object]] = {
    "reconstruct": _reconstruct,
    "frombuffer": _frombuffer,
    "scalar": _scalar,
    "dtype": _dtype,
    "encode": _encode,
    "bytes": _nothing,
    "ordered": _ordered,
}


def _counted(step: Callable[[Any], None]) -> Callable[[Any], None]:
    def counted(reader: _Reader) -> None:
        reader.steps += 1
        if reader.steps > MAX_STEPS:
            raise _RefusedError(f"takes more than {MAX_STEPS} steps")
        step(reader)

    return counted


def _forbidden(code: int) -> Callable[[Any], None]:
    def forbidden(reader: _Reader) -> None:
        raise _RefusedError(f"takes a step that is not allowed (0x{code:02x})")

    return forbidden


def _step(code: int) -> Callable[[Any], None]:
    """The step of a code: ours where there is one, else the base class's."""
    base = pickle._Unpickler.dispatch[code]
    return _counted(getattr(_Reader, base.__name__, base))


_Reader.dispatch = {code: _forbidden(code) for code in range(256)} | {
    code: _step(code) for code in (getattr(pickle, name)[0] for name in _STEPS)
}
