"""What the index says of the bundled clip is confirmed by code that shares nothing with it."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from surefoot.cli.main import run

pytestmark = pytest.mark.slow


def _verified(folder: pathlib.Path, capsys: pytest.CaptureFixture[str], *options: str) -> int:
    path = folder / "dump.npz"
    code = run(["index", "sidestep", "-r", "human25", "--dump", str(path), "-q", *options])
    assert code in (0, 1)
    capsys.readouterr()
    assert run(["verify", str(path), "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"]
    assert found["mismatch_count"] == 0
    checked = found["checked"]
    assert isinstance(checked, int)
    return checked


@pytest.mark.parametrize(
    "options",
    [(), ("--friction", "0.15", "--reference", "com"), ("--cone-sides", "8", "--smooth", "6")],
    ids=["as it is", "slippery", "pyramids"],
)
def test_a_dump_of_the_bundled_clip_is_verified(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    checked = _verified(tmp_path, capsys, "--rate", "10", *options)
    with np.load(tmp_path / "dump.npz", allow_pickle=False) as dump:
        assert checked == len(dump["time"])


@pytest.mark.slow
def test_a_dump_at_the_default_rate_is_verified(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _verified(tmp_path, capsys) > 2000


def test_one_falsified_number_is_found(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _verified(tmp_path, capsys, "--rate", "5")
    with np.load(tmp_path / "dump.npz", allow_pickle=False) as dump:
        arrays = dict(dump)
    arrays["d_upper"] = arrays["d_upper"].copy()
    arrays["d_upper"][7] += 1.0
    np.savez(tmp_path / "false.npz", **arrays)
    assert run(["verify", str(tmp_path / "false.npz"), "-q"]) == 1
    assert "sample 7" in capsys.readouterr().out
