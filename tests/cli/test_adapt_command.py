"""`surefoot adapt` as a user runs it."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli.main import run

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
