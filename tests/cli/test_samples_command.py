"""`surefoot samples make`: the clip, and beside it the ground that it stands on."""

from __future__ import annotations

import json
import pathlib

import pytest

from surefoot.cli.main import run
from surefoot.formats.surroundings import terrain_beside
from surefoot.motion.contact import Terrain
from surefoot.samples import generator


def test_stairs_are_written_with_their_terrain_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["samples", "make", "stairs-up", "--seed", "3", "-p", "riser_m=0.1", "-o", "x.bvh"]
    assert run([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["terrain_file"] == "x.terrain.toml"
    beside = terrain_beside("x.bvh")
    assert beside is not None
    made = generator.terrain("stairs-up", parameters={"riser_m": 0.1})
    assert made is not None
    assert Terrain.from_toml(beside.read_text("utf-8"), where="x").as_toml() == made.as_toml()


def test_side_steps_on_a_level_floor_have_no_terrain_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["samples", "make", "sidestep", "-o", "y.bvh", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["terrain_file"] is None
    assert [file.name for file in tmp_path.iterdir()] == ["y.bvh"]
