"""`surefoot verify`: exit codes and lines."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from make.dumps import standing, written
from surefoot.cli.main import run


def test_a_true_dump_is_yes(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(standing(3), tmp_path)
    assert run(["verify", str(path), "-q"]) == 0
    said = capsys.readouterr()
    assert "3 samples, 1 outside, 2 searched inside: all agree" in said.out
    assert "agreement there is no proof" in said.out
    assert said.err == ""


def test_a_false_number_is_no_and_its_sample_is_named(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = standing(3)
    dump["wrench"][1, 0] += 1.0
    path = written(dump, tmp_path)
    assert run(["verify", str(path)]) == 1
    assert "sample 1 at 0.005 s: wrench" in capsys.readouterr().out
    assert run(["verify", str(path), "--json", "-q"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["checked"], found["schema"]) == (False, 3, 1)
    assert found["mismatches"][0]["sample"] == 1
    assert found["mismatch_count"] == len(found["mismatches"]) >= 1


def test_what_cannot_be_used_is_one_line(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dump.npz"
    assert run(["verify", str(path)]) == 2
    missing = capsys.readouterr().err
    assert missing.startswith("surefoot: error: the dump cannot be read: No such file")
    np.savez(path, time=np.zeros(3))
    assert run(["verify", str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "surefoot: error: no dump of surefoot index: without qpos, qvel" in said.err
    assert "docs/verification.md lists the arrays" in said.err
