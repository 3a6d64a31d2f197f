"""`surefoot contacts` and `surefoot convert`, and the options that say what a clip is."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli.clip_commands import ClipOptions, timeline
from surefoot.cli.main import run
from surefoot.contacts.detect import Options
from surefoot.motion.contact import ContactSchedule, Surface, Terrain
from surefoot.motion.motion import Clip
from surefoot.samples import bundled


@pytest.fixture(scope="module")
def clip() -> Clip:
    return sf.retarget(bundled.load("sidestep"), sf.load_robot("human25"))


@pytest.fixture
def here(clip: Clip, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    sf.write(clip, "walk.npz")
    return tmp_path


def _json(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, object]:
    assert run([*args, "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def _error(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert run([*args, "-q"]) == 2
    return capsys.readouterr().err


def test_the_defaults_of_the_options_are_those_of_the_detection() -> None:
    assert ClipOptions().detection == Options()


def test_contacts_of_a_clip_are_listed_and_drawn(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["contacts", "walk.npz", "-r", "human25"]) == 0
    said = capsys.readouterr()
    assert "whole sole" in said.out
    assert "left_foot   |####" in said.out
    assert "# face" in said.out
    assert "found in the motion" not in said.err  # the file carries its own


def test_contacts_written_corrected_and_given_back(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], clip: Clip
) -> None:
    assert run(["contacts", "walk.npz", "-r", "human25", "-o", "a.toml", "-q"]) == 0
    capsys.readouterr()
    text = pathlib.Path("a.toml").read_text(encoding="utf-8")
    assert text.startswith("# Which link stands where and when.")
    same = _json(capsys, "contacts", "walk.npz", "-r", "human25", "--contacts", "a.toml")
    stances = same["stances"]
    assert isinstance(stances, list)
    assert len(stances) == len(clip.contacts.stances)
    cut = text.split("[[stance]]")
    pathlib.Path("a.toml").write_text("[[stance]]".join(cut[:-1]), encoding="utf-8")
    assert run(["contacts", "walk.npz", "-r", "human25", "--contacts", "a.toml"]) == 0
    said = capsys.readouterr().err
    assert f"the {len(stances) - 1} stances are those of a.toml; they agree with those" in said


def test_the_json_says_what_touches(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _json(capsys, "contacts", "walk.npz", "-r", "human25")
    assert found["robot"] == "human25"
    assert found["contact_fraction"] == 1.0
    stances = found["stances"]
    assert isinstance(stances, list)
    assert set(stances[0]) == {
        "link", "start_s", "end_s", "mode", "moving", "touches", "surface", "friction", "normal",
        "vertices_m",
    }  # fmt: skip


def test_a_threshold_finds_the_contacts_anew_and_says_so(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["contacts", "walk.npz", "-r", "human25", "--contact-speed-mps", "0.01", "0.02"]
    assert run([*args, "--contact-carry-mps", "0"]) == 0
    said = capsys.readouterr().err
    assert "stances were found in the motion, as asked for" in said


def test_a_person_is_retargeted_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contacts", "sidestep", "-r", "human25"]) == 0
    sentence = "sidestep: a person's motion, retargeted to human25 with the default options"
    assert sentence in capsys.readouterr().err


def test_a_terrain_file_is_what_the_clip_stands_on(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = (np.array([0.0, 0.0, -0.5]), np.zeros(3))
    terrain = Terrain(tuple(Surface("plane", level) for level in levels))
    pathlib.Path("two.toml").write_text(terrain.as_toml(), encoding="utf-8")
    args = ("contacts", "sidestep", "-r", "human25", "--terrain", "two.toml")
    stances = _json(capsys, *args)["stances"]
    assert isinstance(stances, list)
    assert {s["surface"] for s in stances} == {1}


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["-o", "a.csv"], "expected a file that ends in .toml or .html, got 'a.csv' (-o)"),
        (["--contacts", "none.toml"], "no such file (none.toml)"),
        (["--terrain", "none.toml"], "no such file (none.toml)"),
        (["--contacts", "empty.toml"], "expected schema = 1, got none (empty.toml)"),
        (
            ["--contact-height-m", "0.05", "0.02"],
            "height_m must be two rising positive numbers, got 0.05, 0.02",
        ),
        (["--contact-carry-mps", "-1"], "carry_mps must be 0 or more, got -1"),
        (["--fps", "30"], "the frame rate is in the file, but 30 was given"),
        (["--from", "bhv"], "no format is called 'bhv'. Did you mean 'bvh'?"),
    ],
)
def test_a_wrong_call_is_one_line(
    args: list[str], sentence: str, here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pathlib.Path("empty.toml").write_text("# nothing\n", encoding="utf-8")
    said = _error(capsys, "contacts", "walk.npz", "-r", "human25", *args)
    assert sentence in said
    assert said.count("\n") == 1
    assert not pathlib.Path("a.csv").exists()


def test_a_report_of_the_contacts_can_be_written(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["contacts", "walk.npz", "-r", "human25", "-o", "a.html", "-q"]) == 0
    assert pathlib.Path("a.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_bars_cover_the_clip_and_nothing_standing_is_said(clip: Clip) -> None:
    lines = timeline(clip, 40)
    assert len({len(line) for line in lines[:4]}) == 1
    assert all(line.count("|") == 2 for line in lines[:4])
    bare = Clip(clip.motion, ContactSchedule(), robot=clip.robot)
    assert timeline(bare) == ["nothing ever stands"]


def test_convert_reads_one_format_and_writes_another(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = _json(capsys, "convert", "sidestep", "copy.bvh")
    assert (found["kind"], found["output"]) == ("human", "copy.bvh")
    assert sf.read("copy.bvh").n == found["frames"]  # type: ignore[union-attr]  # a person
    assert run(["convert", "walk.npz", "copy.npz"]) == 0
    assert sf.read("copy.npz") == sf.read("walk.npz")


def test_the_cut_off_of_retargeting_is_an_option(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], clip: Clip
) -> None:
    """The default is that of the verb; without a low pass nothing is said of one."""
    said = {
        smooth: _json(capsys, "retarget", "sidestep", "-r", "human25", "-o", f"{smooth}.npz",
                      "--smooth", smooth)["notices"]
        for smooth in ("none", "3", "6")
    }  # fmt: skip
    about = {smooth: [n["sentence"] for n in notices if n["kind"] == "smoothed"]
             for smooth, notices in said.items()}  # fmt: skip
    assert about["none"] == []
    assert about["3"][0].startswith("smoothing at 3 Hz moved the root by up to ")
    np.testing.assert_array_equal(sf.read("6.npz").motion.joint_pos, clip.motion.joint_pos)
    wrong = _error(capsys, "retarget", "sidestep", "-r", "human25", "-o", "a.npz", "--smooth", "x")
    assert wrong == ("surefoot: error: expected a frequency in Hz or 'none', got 'x' (--smooth)\n")
    wrong = _error(capsys, "retarget", "sidestep", "-r", "human25", "-o", "a.npz", "--smooth=-3")
    assert wrong == "surefoot: error: smooth_hz must be positive, got -3.0\n"
    assert not (here / "a.npz").exists()


def test_the_terrain_of_retargeting_is_an_option(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ground = Terrain((Surface("plane", np.array([0.0, 0.0, 0.25])),), friction=0.4)
    (here / "ice.toml").write_text(ground.as_toml())
    made = _json(
        capsys, "retarget", "sidestep", "-r", "human25", "-o", "a.npz", "--terrain", "ice.toml"
    )
    found = sf.read("a.npz")
    assert found.terrain.friction == 0.4
    # as the path is scaled, so is the height of the floor
    assert found.terrain.surfaces[0].point[2] == pytest.approx(0.25 * made["scale"])


def test_convert_does_not_retarget(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "this is a human clip" in _error(
        capsys, "convert", "sidestep", "a.npz", "--to", "native"
    )
