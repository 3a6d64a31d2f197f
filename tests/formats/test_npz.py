"""Archives of arrays: hostile ones are refused before memory is asked for, whole ones kept."""

from __future__ import annotations

import io
import pathlib
import zipfile

import numpy as np
import pytest

from surefoot.errors import BadFile
from surefoot.formats import npz
from surefoot.formats.npz import is_zip, member_names, packed_arrays, read_arrays


def _npz(**arrays: object) -> bytes:
    """As numpy writes it, pickles included."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def _zip(members: dict[str, bytes], packing: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _npy(shape: str, descr: str = "<f8", body: bytes = b"\0" * 80) -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}"
    text = header.encode("latin-1").ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


def _refusal(data: bytes) -> str:
    with pytest.raises(BadFile) as raised:
        read_arrays(data, "x.npz")
    return str(raised.value)


def test_numpys_own_archives_are_read() -> None:
    arrays = {
        "a": np.arange(6.0).reshape(2, 3),
        "b": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "c": np.array(["left", "right"]),
        "d": np.array(3, dtype=">i4"),
        "e": np.array([True, False]),
        "f": np.zeros((0, 3), dtype=np.float32),
        "g": np.array(b"male"),
    }
    for data in (_npz(**arrays), packed_arrays(arrays)):
        found = read_arrays(data, "x.npz")
        assert list(found) == list(arrays)
        for name, array in arrays.items():
            assert np.array_equal(found[name], array), name
            assert found[name].dtype == array.dtype
            assert not found[name].flags.writeable


def test_deflated_archives_are_read() -> None:
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.zeros(1000))
    assert read_arrays(stream.getvalue(), "x.npz")["a"].shape == (1000,)


def test_written_archives_are_read_by_numpy_and_are_the_same_to_the_byte() -> None:
    arrays = {"b": np.arange(3.0), "a": np.array("text")}
    data = packed_arrays(arrays)
    assert data == packed_arrays(arrays)
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        assert found.files == ["b", "a"]
        assert found["a"] == "text"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_names_are_told_without_reading() -> None:
    assert member_names(_npz(a=1, b=2)) == ("a", "b")
    assert member_names(b"PK\x03\x04 and nothing") == ()
    assert is_zip(_npz(a=1))
    assert not is_zip(b"HIERARCHY")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            _npz(a=np.array([{}, None], dtype=object)),
            "array 'a' holds Python objects (a pickle), only numbers and text are read (x.npz)",
        ),
        (
            _npz(a=np.zeros(2, dtype=[("x", "f8")])),
            "array 'a' holds the type |V8, only numbers and text are read (x.npz)",
        ),
        (_npz(a=np.zeros(2, dtype="M8[s]")), "array 'a' holds the type <M8[s]"),
        (_npz(a=np.zeros(2, dtype=complex)), "array 'a' holds the type <c16"),
        (
            _zip({"a.npy": _npy("(250000000,)")}),
            "array 'a' claims shape (250000000,) of <f8, but 80 bytes follow (x.npz)",
        ),
        (
            _zip({"a.npy": _npy("(10**12,)")}),
            "array 'a' has no npy header that can be read (x.npz)",
        ),
        (
            _zip({"a.npy": _npy("(4294967296, 4294967296)")}),
            "claims shape (4294967296, 4294967296) of <f8, but 80 bytes follow",
        ),
        (
            _zip({"a.npy": _npy("(-2, -5)")}),
            "claims shape (-2, -5) of <f8, but 80 bytes follow",
        ),
        (
            _zip({"a.npy": _npy("(5,)", "|V0")}),
            "array 'a' holds the type |V0",
        ),
        (_zip({"a.npy": b"no array"}), "array 'a' has no npy header that can be read"),
        (_zip({"a.npy": b""}), "array 'a' has no npy header that can be read"),
        (_zip({"a.txt": b"x"}), "member 'a.txt' is no array"),
        (_zip({"archive/data.pkl": b"x"}), "member 'archive/data.pkl' is no array"),
        (
            b"PK\x03\x04" + b"\0" * 100,
            "is damaged or cut short: File is not a zip file",
        ),
        (_npz(a=np.arange(100.0))[:400], "the archive is damaged or cut short"),
    ],
)
def test_hostile_archives_are_refused_in_a_sentence(data: bytes, sentence: str) -> None:
    assert sentence in _refusal(data)


def test_every_truncation_and_a_flipped_byte_are_refused_or_harmless() -> None:
    data = _npz(a=np.arange(20.0), b=np.array("text"))
    for cut in range(1, len(data), 7):
        with pytest.raises(BadFile, match="damaged or cut short"):
            read_arrays(data[:cut], "x.npz")
    rng = np.random.default_rng(0)
    for _ in range(300):
        broken = bytearray(data)
        broken[rng.integers(len(data))] ^= 1 << rng.integers(8)
        try:
            read_arrays(bytes(broken), "x.npz")
        except BadFile as error:
            assert "x.npz" in str(error)  # noqa: PT017  # either outcome is right


def test_a_member_that_is_there_twice_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.npy", b"1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.npy", b"2")
    assert "member 'a.npy' is there twice (x.npz)" in _refusal(stream.getvalue())


def test_a_bomb_is_refused_unopened() -> None:
    """32 MiB of zeros in 32 kB; a constant motion of a few megabytes packs as well and is read."""
    zeros = np.zeros(2**22)
    stream = io.BytesIO()
    np.savez_compressed(stream, a=zeros)
    assert "bytes that would unpack to 33554560 (x.npz)" in _refusal(stream.getvalue())
    stream = io.BytesIO()
    np.savez_compressed(stream, a=zeros[: 2**20])
    assert read_arrays(stream.getvalue(), "x.npz")["a"].shape == (2**20,)


def test_too_many_members_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "MAX_MEMBERS", 2)
    assert "3 members, more than the 2 that are read" in _refusal(_npz(a=1, b=2, c=3))


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(_npz(a=np.zeros(3)))
    data[6] |= 1  # the flag in the member's own head
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    assert "member 'a.npy' is encrypted (x.npz)" in _refusal(bytes(data))


def test_all_faulty_arrays_are_said_together() -> None:
    sentence = _refusal(_npz(a=np.array([None]), b=np.array([{}]), c=np.zeros(3)))
    assert "array 'a' holds" in sentence
    assert "array 'b' holds" in sentence
    assert "array 'c'" not in sentence


@pytest.mark.shared
def test_shared_archives_of_other_programs_are_read(shared: pathlib.Path) -> None:
    path = shared / "data" / "robot_motion" / "holosoma_npz" / "sub3_largebox_003_mj.npz"
    arrays = read_arrays(path.read_bytes(), path.name)
    assert arrays["joint_pos"].shape == (325, 36)
    assert arrays["joint_names"].shape == (29,)
