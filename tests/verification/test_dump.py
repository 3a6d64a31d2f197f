"""Files that are no dumps are refused with one sentence."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from make.dumps import standing, written
from surefoot.verification import Unusable
from surefoot.verification.dump import SHAPES, read


@pytest.fixture(scope="module")
def dump() -> dict[str, Any]:
    return standing(3)


def test_a_dump_is_read_as_it_was_written(dump: dict[str, Any], tmp_path: pathlib.Path) -> None:
    found = read(written(dump, tmp_path))
    assert found.n == 3
    assert found.tolerance is None
    assert found.vertex_sample.tolist() == [0] * 8 + [1] * 8
    for name in SHAPES:
        assert np.array_equal(getattr(found, name), dump[name])
    assert read(written({**dump, "tolerance": 1e-4}, tmp_path)).tolerance == 1e-4


@pytest.mark.parametrize("name", SHAPES)
def test_a_missing_array_is_named(name: str, dump: dict[str, Any], tmp_path: pathlib.Path) -> None:
    rest = {key: array for key, array in dump.items() if key != name}
    with pytest.raises(Unusable, match=f"^no dump of surefoot index: without {name}$"):
        read(written(rest, tmp_path))


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("qvel", np.zeros((2, 31)), r"expected qvel \(3, 31\), got \(2, 31\)"),
        ("dual", np.zeros((3, 5)), r"expected dual \(3, 6\), got \(3, 5\)"),
        ("weight", np.zeros(1), r"expected weight \(\), got \(1\)"),
        ("d", np.array(["a", "b", "c"]), "expected numbers in d, got <U1"),
        ("flag", np.zeros(3), "expected whole numbers in flag, got float64"),
        ("model_xml", np.zeros(()), "expected text in model_xml, got float64"),
        ("d", np.array([{}, {}, {}]), "arrays that cannot be read"),
    ],
)
def test_a_wrong_array_is_said(
    name: str, array: Any, sentence: str, dump: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    with pytest.raises(Unusable, match=sentence):
        read(written({**dump, name: array}, tmp_path))


def test_a_dump_without_samples_is_refused(tmp_path: pathlib.Path) -> None:
    empty = {name: array[:0] if np.ndim(array) else array for name, array in standing(2).items()}
    with pytest.raises(Unusable, match="no sample in it"):
        read(written(empty, tmp_path))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no archive", b"\x93NUMPY\x01\x00"])
def test_other_files_are_refused(data: bytes, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "dump.npz"
    path.write_bytes(data)
    with pytest.raises(Unusable, match="no npz archive"):
        read(path)


def test_damaged_archives_never_end_in_another_error(
    dump: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    """200 files with one byte changed, and 20 cut short; seed 1."""
    path = written(dump, tmp_path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    files = [whole[: int(at)] for at in rng.integers(0, len(whole), 20)]
    for at in rng.integers(0, len(whole), 200):
        files.append(whole[:at] + bytes([rng.integers(0, 256)]) + whole[at + 1 :])
    refused = 0
    for data in files:
        path.write_bytes(data)
        try:
            read(path)
        except Unusable:
            refused += 1
    assert refused > 20
