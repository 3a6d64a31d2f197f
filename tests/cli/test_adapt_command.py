"""`surefoot adapt` as a user runs it."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.samples.bundled import path as path_of

pytestmark = pytest.mark.slow


def adapted(*words: str) -> int:
    return run(["adapt", *words, "-r", "human25", "-q"])


def test_the_bundled_side_step_is_mended_and_says_so(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mended.clip.npz"
    assert adapted("sidestep", "-o", str(out), "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["status"] == "mended"
    assert not said["feasible_before"]
    assert said["feasible_after"]
    assert said["worst_before_over_weight"] > 0.0 >= said["worst_after_over_weight"]
    assert said["why_not"] is None
    assert abs(said["duration_change_s"]) < 1e-9
    wanted = {
        "method", "chosen", "segments_found", "joint_limits_before", "joint_limits_after",
        "lower_bound_over_weight", "seconds",
    }  # fmt: skip
    assert wanted <= set(said)
    again = sf.read(out)
    assert isinstance(again, sf.Clip)
    steps = np.diff(again.motion.time)
    assert steps.max() > 1.001 * steps.min()  # frames that were re-timed are not even
    robot = sf.load_robot("human25")
    assert sf.feasibility(again, robot).all_feasible


def test_a_table_of_one_rate_is_judged_as_it_is_written(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mended.csv"
    adapted("sidestep", "-o", str(out), "--output-fps", "60", "--json")
    said = json.loads(capsys.readouterr().out)
    assert len(out.read_text().splitlines()) == round(60 * 11.1) + 1
    assert any("the file holds an even rate" in sentence for sentence in said["warnings"])


def test_a_clip_that_an_even_rate_spoils_is_not_called_mended(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 8 frames a second little is left of what was re-timed."""
    words = ("sidestep", "-o", str(tmp_path / "mended.csv"), "--output-fps", "8", "--json")
    assert adapted(*words) == 1
    said = json.loads(capsys.readouterr().out)
    assert not said["feasible_after"]
    assert said["status"] in ("better", "unchanged")
    assert said["why_not"].startswith("At 8 even frames a second it is not: give a format")


def test_several_clips_go_to_a_folder_and_one_failure_stops_none(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert adapted("sidestep", "nobody.npz", "-o", str(folder), "--json") == 2
    said = json.loads(capsys.readouterr().out)
    assert [("error" in row) for row in said["clips"]] == [False, True]
    assert [path.name for path in folder.iterdir()] == ["sidestep.clip.npz"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["sidestep", "-o", "x.npz", "--method", "wrap"], "Did you mean 'warp'"),
        (["sidestep", "-o", "x.jpg"], "no format's files end like 'x.jpg'"),
        (["sidestep", "-o", "x.npz", "--report", "x.pdf"], "expected a file that ends in .html"),
        (["sidestep", "-o", "x.csv", "--output-fps", "0"], "expected a rate up to 1000"),
        (["-o", "x.npz"], "there is no clip to mend"),
    ],
)
def test_a_wrong_call_is_one_line_before_any_work(
    words: list[str],
    sentence: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert adapted(*words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert sentence in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["warp", "warp-optimal"])
def test_segments_by_hand_are_warped_and_no_others(
    method: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the places where the side step is infeasible, the first alone: the answer is no."""
    out = tmp_path / "mended.clip.npz"
    words = ("--method", method, "--segments", "1.4:2.6", "--json")
    assert adapted("sidestep", "-o", str(out), *words) == 1
    said = json.loads(capsys.readouterr().out)
    new, old = sf.read(out), sf.retarget(sf.read(path_of("sidestep")), sf.load_robot("human25"))
    assert isinstance(new, sf.Clip)
    moved = old.motion.time[np.abs(new.motion.time - old.motion.time) > 1e-9]
    assert len(moved) > 0
    assert 1.4 - 1e-9 <= moved.min() < moved.max() <= 2.6 + 1e-9
    assert said["feasible_fraction_before"] < said["feasible_fraction_after"] < 1.0


def test_the_choices_of_the_paper_can_be_given(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "--basis poly3 --pad 0.4 --floor 0 --polish 0 --rounds 1 --samples 64 --seed 3".split()
    adapted("sidestep", "-o", str(tmp_path / "x.npz"), *words, "--json")
    details = json.loads(capsys.readouterr().out)["details"]
    assert details["rounds"] == 1
    assert details["seed"] == 3
    assert {one["basis"] for one in details["segments"]} == {"poly3"}
    assert {one["floor"] for one in details["segments"]} == {0.0}
    assert {one["pad_s"] for one in details["segments"]} == {0.4}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--longest", "1.5"], "the method warp has no such option (--longest)"),
        (["--method", "warp-optimal", "--basis", "poly3"], "has no such option (--basis)"),
        (["--basis", "poly4"], "no basis is called 'poly4'. Did you mean 'poly3'"),
        (["--segments", "2"], "expected segments like 1.2:2.5,4:5.5 in seconds, got '2'"),
        (["--segments", "3:2"], "segments must have an end after their start"),
        (["--segments", "2:nan"], "segments must have an end after their start"),
        (["--pad", "-1"], "the pad must be 0 s or more, got -1 s"),
        (["--fastest", "0.5"], "the largest speed ratio must be above 1, got 0.5"),
        (["--method", "warp-optimal", "--polish", "-1"], "polish must be 0 or more, got -1"),
        (["--method", "warp-optimal", "--pad", "-1"], "the pad must be 0 s or more, got -1 s"),
    ],
)
def test_options_of_a_method_are_refused_before_any_work(
    words: list[str],
    sentence: str,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert adapted("sidestep", "-o", str(tmp_path / "x.npz"), *words) == 2
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 1
    assert sentence in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["warp", "warp-optimal"])
def test_a_segment_beyond_the_clip_is_refused(
    method: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--method", method, "--segments", "20:25")
    assert adapted("sidestep", "-o", str(tmp_path / "x.npz"), *words) == 2
    sentence = "the segment 20 to 25 s is not within the clip, which lasts from 0 to 11.1 s"
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
