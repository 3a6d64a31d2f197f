"""Pickles: what numpy and joblib write is read, everything else refused, and nothing is run."""

from __future__ import annotations

import bz2
import collections
import gzip
import io
import lzma
import os
import pathlib
import pickle
import struct
import sys
import tracemalloc
import types
import zlib

import numpy as np
import pytest

from surefoot.errors import BadFile
from surefoot.formats import pickles, unpacked
from surefoot.formats.pickles import read_table

ARRAYS = {
    "c": np.arange(6.0).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "big_endian": np.arange(3, dtype=">i4"),
    "empty": np.zeros((0, 3)),
    "flags": np.array([True, False]),
    "scalar": np.array(2.5),
    "strided": np.arange(10.0)[::3],
    "words": np.array(["left", "right"]),
}


class _Wrapper:
    """What joblib pickles in place of an array; its bytes follow in the stream."""


class _Joblib(pickle._Pickler):
    """A writer of joblib's layout, made from its description in the notes on formats."""

    aligned = True

    def save(self, obj: object, save_persistent_id: bool = True) -> None:
        if type(obj) is not np.ndarray:
            super().save(obj, save_persistent_id)
            return
        wrapper = _Wrapper()
        fortran = obj.flags.f_contiguous and not obj.flags.c_contiguous
        wrapper.__dict__ |= {
            "subclass": np.ndarray,
            "shape": obj.shape,
            "order": "F" if fortran else "C",
            "dtype": obj.dtype,
            "allow_mmap": True,
        }
        if self.aligned:
            wrapper.__dict__["numpy_array_alignment_bytes"] = 16
        super().save(wrapper, save_persistent_id)
        if self.proto >= 4:
            self.framer.commit_frame(force=True)
        if self.aligned:
            count = 16 - (self.file.tell() + 1) % 16
            self.file.write(bytes([count]) + b"\xff" * count)
        self.file.write(obj.tobytes("F" if fortran else "C"))

    def __init__(self, file: io.BytesIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.file = file


def joblib_bytes(value: object, *, protocol: int = 4, aligned: bool = True) -> bytes:
    """A pickle in joblib's layout, as if joblib were installed."""
    module = types.ModuleType("joblib.numpy_pickle")
    module.NumpyArrayWrapper = _Wrapper  # type: ignore[attr-defined]
    kept = _Wrapper.__module__, _Wrapper.__name__, _Wrapper.__qualname__
    _Wrapper.__module__, _Wrapper.__qualname__ = module.__name__, "NumpyArrayWrapper"
    _Wrapper.__name__ = "NumpyArrayWrapper"
    sys.modules["joblib"] = types.ModuleType("joblib")
    sys.modules[module.__name__] = module
    try:
        stream = io.BytesIO()
        writer = _Joblib(stream, protocol)
        writer.aligned = aligned
        writer.dump(value)
        return stream.getvalue()
    finally:
        del sys.modules["joblib"], sys.modules[module.__name__]
        _Wrapper.__module__, _Wrapper.__name__, _Wrapper.__qualname__ = kept


def _refusal(data: bytes) -> str:
    with pytest.raises(BadFile) as raised:
        read_table(data, "x.pkl")
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_what_numpy_pickles_is_read(protocol: int) -> None:
    found = read_table(pickle.dumps(ARRAYS, protocol), "x.pkl")
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        value = found[name]
        assert isinstance(value, np.ndarray), name
        assert np.array_equal(value, array), name
        assert value.dtype == array.dtype, name


def test_the_old_names_of_numpy_are_read_as_well() -> None:
    data = pickle.dumps(ARRAYS, 4)
    old = data.replace(b"\x8c\x16numpy._core.multiarray", b"\x8c\x15numpy.core.multiarray")
    assert old != data
    # One byte less in the only frame: its length stands in bytes 3 to 10.
    (length,) = struct.unpack("<Q", old[3:11])
    old = old[:3] + struct.pack("<Q", length - (len(data) - len(old))) + old[11:]
    assert np.array_equal(read_table(old, "x.pkl")["c"], ARRAYS["c"])


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("aligned", [True, False])
def test_what_joblib_pickles_is_read(protocol: int, aligned: bool) -> None:
    arrays = {name: array.copy(order="A") for name, array in ARRAYS.items() if array.dtype != "U5"}
    found = read_table(joblib_bytes(arrays, protocol=protocol, aligned=aligned), "x.pkl")
    for name, array in arrays.items():
        assert np.array_equal(found[name], array), name


def test_numbers_texts_and_inner_dictionaries_are_kept_and_all_else_is_left_out() -> None:
    value = collections.OrderedDict(
        fps=np.float64(29.85),
        count=np.int64(3),
        whole=30,
        large=2**40,
        name="walk",
        nothing=None,
        yes=True,
        inner={"a": {"b": np.zeros(2)}},
        names=["left", ["right"]],
    )
    for protocol in (2, 3, 4, 5):
        found = read_table(pickle.dumps(value, protocol), "x.pkl")
        assert "names" not in found
        assert found.pop("inner")["a"]["b"].shape == (2,)  # type: ignore[index,union-attr]
        assert found == {
            "fps": 29.85, "count": 3, "whole": 30, "large": 2**40, "name": "walk", "nothing": None,
            "yes": True,
        }  # fmt: skip


class _Runs:
    """Makes a pickle that would call something."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[object, ...]:
        return self.call


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (_Runs(os.system, "touch ran"), ".system'"),
        (_Runs(eval, "open('ran', 'w')"), ".eval'"),
        (_Runs(exec, "open('ran', 'w')"), ".exec'"),
        (_Runs(getattr, "x", "upper"), ".getattr'"),
        (_Runs(bytearray, 2**40), ".bytearray'"),
        (_Runs(np.fromfile, "x"), "numpy.fromfile"),
        (pathlib.PurePosixPath("x"), ".PurePosixPath'"),
        ({1, 2}, "takes a step that is not allowed (0x8f)"),
        (np.ma.zeros(2), "numpy.ma"),
        (np.zeros(2, dtype=object), "holds the type 'O8', only numbers and text are read"),
        (np.zeros(2, dtype="M8[s]"), "holds the type 'M8', only numbers and text are read"),
        (np.zeros(2, dtype=[("x", "f8")]), "holds the type 'V8', only numbers and text are read"),
        (np.zeros(2, dtype=complex), "holds the type 'c16', only numbers and text are read"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_everything_else_is_refused_by_name_and_nothing_is_run(
    value: object, name: str, protocol: int, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sentence = _refusal(pickle.dumps({"a": value}, protocol))
    if protocol > 2 or "step" not in name:  # sets of protocol 2 are calls
        assert name in sentence
    assert sentence.startswith("a pickle that ")
    assert list(tmp_path.iterdir()) == []


def test_the_sentence_names_what_was_asked_for() -> None:
    assert _refusal(pickle.dumps({"a": _Runs(eval, "1")}, 4)) == (
        "a pickle that asks for 'builtins.eval', which is not on the allow-list (x.pkl)"
    )


def _global(name: str) -> bytes:
    module, _, word = name.rpartition(".")
    return b"c" + module.encode() + b"\n" + word.encode() + b"\n"


NDARRAY = _global("numpy.ndarray")


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (NDARRAY + b"K\x05\x85R.", "calls ndarray, which only stands for itself"),
        (_global("joblib.numpy_pickle.NumpyArrayWrapper") + b")R.", "calls wrapper, which only"),
        (NDARRAY + b")\x81.", "makes an object of a class that is not read"),
        (NDARRAY + b")}\x92.", "takes a step that is not allowed (0x92)"),
        (b"(c__main__\nx\no.", "asks for '__main__.x', which is not on the allow-list"),
        (b"(inumpy\nndarray\n.", "takes a step that is not allowed (0x69)"),
        (b"\x82\x01.", "takes a step that is not allowed (0x82)"),
        (b"X\x01\x00\x00\x00aQ.", "takes a step that is not allowed (0x51)"),
        (b"P1\n.", "takes a step that is not allowed (0x50)"),
        (b"}K\x01b.", "sets the contents of what is no array"),
        (NDARRAY + b"}b.", "sets the contents of what is no array"),
        (b"}K\x01a.", "appends to what is no list"),
        (b"]K\x01K\x02s.", "sets rows of what is no dictionary"),
        (b"}K\x01K\x02s.", "holds a dictionary whose keys are no texts"),
        (b"}(K\x01K\x02u.", "holds a dictionary whose keys are no texts"),
        (b"].", "holds no dictionary"),
        (b"\x96" + struct.pack("<Q", 2**31) + b"abc.", "claims 2147483648 bytes, more than"),
        (b"\x8b" + struct.pack("<i", 2**31 - 1) + b".", "holds a whole number of 2147483647 bytes"),
        (b"\x8b" + struct.pack("<i", -1) + b".", "holds a whole number of -1 bytes"),
        (b"\x8a\xff" + b"\x7f" * 255 + b".", "holds a whole number of 255 bytes"),
        (_global("_codecs.encode") + b"X\x01\0\0\0aX\x05\0\0\0utf-8\x86R.", "encodes what is no"),
        (_global("numpy.dtype") + b"X\x04\0\0\0U\xd9\xa3\xd9X\x85R.", ""),
        (_global("numpy.dtype") + b"X\x02\0\0\0V8\x85R.", "holds the type 'V8'"),
        (_global("numpy.dtype") + b")R.", "calls dtype as numpy does not"),
    ],
)  # fmt: skip
def test_single_steps_that_could_do_harm_are_refused(steps: bytes, sentence: str) -> None:
    assert sentence in _refusal(b"\x80\x04" + steps)


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04",
        b"\x80\x04.",
        b"\x80\x04}",
        b"\x80\x04}R.",
        b"\x80\x04u.",
        b"\x80\x04h\x05.",
        b"\x80\x04X\xff\xff\xff\x7fabc.",
        b"\x80\x04\x8e" + struct.pack("<Q", 2**63) + b".",
        b"\x80\x04" + b"\xff" * 10,
    ],
)
def test_damage_is_refused_in_one_line(data: bytes) -> None:
    _refusal(data)


@pytest.mark.slow
def test_every_truncation_and_many_flipped_bits_are_refused_or_harmless() -> None:
    for data in (
        pickle.dumps(ARRAYS, 5),
        pickle.dumps(ARRAYS, 2),
        joblib_bytes({"a": ARRAYS["c"]}),
    ):
        for cut in range(2, len(data) - 1, 3):
            _refusal(data[:cut])
        rng = np.random.default_rng(0)
        for _ in range(500):
            broken = bytearray(data)
            broken[rng.integers(2, len(data))] ^= 1 << rng.integers(8)
            try:
                read_table(bytes(broken), "x.pkl")
            except BadFile as error:
                assert "x.pkl" in str(error)  # noqa: PT017  # either outcome is right


def test_an_array_that_claims_more_than_is_there_is_refused() -> None:
    data = joblib_bytes({"a": np.zeros(1000)})[:-4000]
    assert "claims an array (1000,) of <f8, but" in _refusal(data)
    data = pickle.dumps({"a": np.zeros((4, 2))}, 4).replace(b"K\x04K\x02\x86", b"K\x09K\x02\x86")
    assert _refusal(data) == (
        "a pickle that claims an array (9, 2) of <f8, but 64 bytes are there (x.pkl)"
    )


def test_small_files_ask_for_no_memory() -> None:
    """An 11-byte file that claims 2 GB took 2 GB in Python's own reader."""
    hostile = [
        b"\x80\x05\x96" + struct.pack("<Q", 2**31) + b".",
        b"\x80\x04\x8e" + struct.pack("<Q", 2**31) + b".",
        b"\x80\x04B" + struct.pack("<I", 2**31) + b".",
        b"\x80\x04X" + struct.pack("<I", 2**31) + b".",
        b"\x80\x04}r" + struct.pack("<I", 2**32 - 1) + b".",
    ]
    tracemalloc.start()
    for data in hostile[:-1]:
        _refusal(data)
    assert read_table(hostile[-1], "x.pkl") == {}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_many_steps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickles, "MAX_STEPS", 100)
    assert "takes more than 100 steps" in _refusal(b"\x80\x04" + b"]" * 1000 + b".")


def test_nesting_that_would_be_walked_or_hashed_without_end_is_harmless() -> None:
    """Tuples of the same two 60 deep have 2⁶⁰ leaves: never a key, never walked."""
    twins = b"N\x85" + b"q\x00h\x00\x86" * 60
    found = read_table(b"\x80\x04}X\x01\0\0\0a" + twins + b"s.", "x.pkl")
    assert found == {}
    assert "keys are no texts" in _refusal(b"\x80\x04}" + twins + b"Ns.")
    deep = b"\x80\x04}X\x01\0\0\0a" + b")" + b"\x85" * 100_000 + b"s."
    assert read_table(deep, "x.pkl") == {}
    table: dict[str, object] = {}
    for _ in range(60):
        table = {"a": table, "b": table}
    assert "holds more than 100 dictionaries, or too deep" in _refusal(pickle.dumps(table, 4))
    itself: dict[str, object] = {"fps": 30}
    itself["me"] = itself
    assert read_table(pickle.dumps(itself, 4), "x.pkl")["fps"] == 30


def test_text_that_is_encoded_over_and_over_is_refused() -> None:
    text = b"X\xe8\x03\0\0" + b"a" * 1000 + b"q\x01"
    again = _global("_codecs.encode") + b"h\x01X\x06\0\0\0latin1\x86R"
    assert "encodes the same text over and over" in _refusal(
        b"\x80\x02]" + text + again * 50 + b"."
    )


def test_old_and_foreign_files_are_told() -> None:
    assert _refusal(b"ZF0x1234") == (
        "written by joblib 0.9 or older, which is not read (x.pkl)."
        " Write it again with a newer joblib"
    )
    assert _refusal(pickle.dumps({}, 0)) == "no pickle of protocol 2 to 5 (x.pkl)"


PACKERS = {
    "zlib": zlib.compress,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
}


@pytest.mark.parametrize("name", PACKERS)
def test_packed_files_are_unpacked(name: str) -> None:
    data = pickle.dumps(ARRAYS, 4)
    packed = PACKERS[name](data)
    assert unpacked.packing(packed) == name
    assert unpacked.unpacked(packed, "x.pkl") == data
    with pytest.raises(BadFile, match=rf"packed by {name}, but (cut short|damaged)"):
        unpacked.unpacked(packed[:-10], "x.pkl")


@pytest.mark.parametrize("name", PACKERS)
def test_a_bomb_is_not_unpacked(name: str) -> None:
    """40 MB of zeros: what is unpacked stays within 16 MiB."""
    bomb = PACKERS[name](bytes(40_000_000))
    tracemalloc.start()
    with pytest.raises(BadFile) as raised:
        unpacked.unpacked(bomb, "x.pkl")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert f"bytes packed by {name} that unpack to more than 16777216 (x.pkl)" in str(raised.value)
    assert peak < 60 * 2**20


def test_what_is_not_packed_stays_and_lz4_is_refused() -> None:
    assert unpacked.unpacked(b"xy, no zlib", "x") == b"xy, no zlib"
    with pytest.raises(BadFile, match=r"packed by lz4, which is not read \(x\). Unpack it first"):
        unpacked.unpacked(b"\x04\x22\x4d\x18abc", "x")


class _Witness(pickle._Unpickler):
    """Reads joblib's layout with the real numpy: an independent witness for files that we trust."""

    dispatch = pickle._Unpickler.dispatch.copy()

    def find_class(self, module: str, name: str) -> object:
        if name == "NumpyArrayWrapper":
            return _Wrapper
        return super().find_class(module, name)

    def load_build(self) -> None:
        state, target = self.stack.pop(), self.stack[-1]
        if not isinstance(target, _Wrapper):
            self.stack.append(state)
            super().load_build()
            return
        stream = self._file_read
        stream(stream(1)[0])
        count = int(np.prod(state["shape"]))
        flat = np.frombuffer(stream(count * state["dtype"].itemsize), state["dtype"])
        self.stack[-1] = flat.reshape(state["shape"], order=state["order"])

    dispatch[pickle.BUILD[0]] = load_build


@pytest.mark.shared
def test_shared_files_are_read_as_a_permissive_reader_reads_them(shared: pathlib.Path) -> None:
    folder = shared / "data" / "robot_motion"
    paths = sorted([*(folder / "gmr_pkl").iterdir(), *(folder / "asap_pkl").iterdir()])
    assert len(paths) == 5
    for path in paths:
        found = read_table(path.read_bytes(), path.name)
        with path.open("rb") as stream:
            truth = _Witness(stream).load()
        if "gmr" not in str(path.parent):
            (found,), (truth,) = found.values(), truth.values()
        assert isinstance(found, dict)
        for key, value in truth.items():
            if isinstance(value, list):
                assert key not in found
            else:
                assert np.array_equal(found[key], value), key
