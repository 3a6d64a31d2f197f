"""`surefoot simulate` as a user runs it."""

from __future__ import annotations

import json
import pathlib

import pytest

from surefoot.cli.main import run


def simulated(*words: str) -> int:
    return run(["simulate", *words, "-r", "human25", "-q"])


@pytest.mark.slow
def test_a_push_that_topples_the_robot_gives_one_and_names_itself(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """600 N for 0.2 s on 67 kg make 1.8 m/s: four times what a stance of some 10 cm holds."""
    dump = tmp_path / "run.npz"
    assert simulated("sidestep", "--push", "0.5,600,0,0,0.2", "--dump", str(dump), "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert not said["stood"]
    assert said["cause"] == "push"
    assert said["link"] == "pelvis"
    assert 0.5 < said["fell_at_s"] < 3.0
    wanted = {
        "stood", "fell_at_s", "cause", "link", "root_error_max_m", "joint_error_rms_rad",
        "torque_saturated_fraction", "contact_agreement", "real_time_factor", "controller", "seed",
        "seconds",
    }  # fmt: skip
    assert wanted <= set(said)
    assert run(["verify", str(dump), "-q"]) == 0


@pytest.mark.slow
def test_several_runs_are_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    code = simulated("sidestep", "--runs", "2", "--noise", "1", "--json")
    said = json.loads(capsys.readouterr().out)
    assert [row["seed"] for row in said["runs"]] == [0, 1]
    assert code == (0 if said["stood_fraction"] == 1.0 else 1)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--controller", "stict"], "no controller is called 'stict'. Did you mean 'strict'?"),
        (["--push", "1,2,3"], "expected T,FX,FY,FZ,DT[,LINK], got '1,2,3' (--push)"),
        (["--push", "0,1,2,x,1"], "expected T,FX,FY,FZ,DT[,LINK], got '0,1,2,x,1' (--push)"),
        (["--runs", "0"], "expected 1 or more, got 0 (--runs)"),
        (["--noise", "-1"], "expected 0 or more, got -1 (--noise)"),
        (["-o", "a.pdf"], "expected a file that ends in .html, got 'a.pdf' (-o)"),
        (["--dump", "nowhere/a.npz"], "there is no such folder (--dump nowhere)"),
        (["--runs", "2", "--dump", "a.npz"], "one file cannot hold several runs (--dump)"),
    ],
)
def test_a_wrong_call_is_one_line_before_any_work(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulated("sidestep", *words) == 2
    said = capsys.readouterr().err
    assert said.startswith("surefoot: error: ")
    assert sentence in said
    assert said.count("\n") == 1
