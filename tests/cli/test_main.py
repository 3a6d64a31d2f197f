"""How the command line talks: help, exit codes, one line an error."""

from __future__ import annotations

import errno
import json
import os
import pathlib
import subprocess
import sys

import pytest

from make.command_page import PAGE, keys_line, keys_of
from surefoot.cli import main
from surefoot.cli.main import COMMANDS, run
from surefoot.errors import Defect

ASKS = ("index", "adapt")  # whether the motion is feasible: no is an answer


def _error(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert run(args) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err.strip()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_the_one_line_that_runs(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*name.split(), "--help"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == f"Example: {COMMANDS[name].example}"
    assert COMMANDS[name].example.startswith(f"surefoot {name}")
    for option in ("--json", "-q", "--debug"):
        assert option in said.out


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_every_command_runs_and_prints_the_keys_of_its_page(name: str) -> None:
    code, keys = keys_of(name)
    assert code in (0, 1) if name in ASKS else code == 0
    page = PAGE.read_text(encoding="utf-8")
    (of_command,) = [part for part in page.split("\n## ") if part.startswith(f"surefoot {name}\n")]
    assert of_command.rstrip().endswith(keys_line(keys))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_top_level_help_and_in_the_docs(name: str) -> None:
    assert f"  {name} " in main.top_help()
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
    assert f"## surefoot {name}\n" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("room", ["robots", "samples"])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_of_a_word_that_several_commands_begin_with_lists_them(
    room: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([room, option]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for name in COMMANDS:
        assert (f"  {name} " in said.out) == name.startswith(f"{room} ")
    assert said.out.splitlines()[-1].startswith(f"Example: surefoot {room} ")


def test_no_command_at_all_prints_the_help_and_is_a_wrong_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([]) == 2
    assert "commands:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["dmo"], "unknown command 'dmo'. Did you mean 'demo'?"),
        (["--fast"], "unknown option '--fast'. surefoot --help lists the commands"),
        (
            ["robots"],
            "'robots' what. There are: surefoot robots list, surefoot robots show",
        ),
        (
            ["robots", "shw"],
            "'shw' is no command of 'robots'."
            " There are: surefoot robots list, surefoot robots show",
        ),
        (
            ["retarget", "x"],
            "missing --robot and --output (surefoot retarget). --help lists the options",
        ),
        (
            ["retarget", "x", "-r", "a", "-o", "b", "--sclae", "3"],
            "unrecognized options: --sclae, 3 (surefoot retarget). Did you mean --scale?",
        ),
        (
            ["retarget", "sidestep", "-r", "human25", "-o", "walk.csv"],
            "expected a file that ends in .npz or .html, got 'walk.csv' (-o)",
        ),
        (
            ["samples", "make", "sidestep", "-o", "a.bvh", "-p", "step_length_m=long"],
            "expected NAME=NUMBER, got 'step_length_m=long' (--parameter)",
        ),
        (
            ["samples", "make", "sidestep", "-o", "a.bvh", "--seed", "-1"],
            "expected a number from 0 up, got -1 (--seed)",
        ),
        (
            ["samples", "make", "sidestep", "-o", "a.bvh", "--seed", "x"],
            "--seed cannot be 'x' (surefoot samples make). --help lists the options",
        ),
        (
            ["retarget", "sidestep", "-r", "human25", "-o", "a.npz", "--rate", "abc"],
            "--rate cannot be 'abc' (surefoot retarget). --help lists the options",
        ),
        (
            ["demo", "-o"],
            "missing value after -o/--output (surefoot demo). --help lists the options",
        ),
        (
            ["info", "sidestep", "--from", "bhv"],
            "no format is called 'bhv'. Did you mean 'bvh'?",
        ),
    ],
)
def test_a_wrong_call_is_one_line_that_says_what_to_do(
    args: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _error(capsys, *args) == f"surefoot: error: {sentence}"


def test_a_file_that_is_not_there_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    said = _error(capsys, "info", str(tmp_path / "walk.bvh"))
    assert "walk.bvh" in said


def test_a_defect_is_exit_code_three_and_asks_for_a_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(args: list[str]) -> int:
        raise RuntimeError("boom\nbang")

    monkeypatch.setattr(main, "_dispatch", broken)
    assert run(["demo"]) == 3
    assert capsys.readouterr().err.startswith(
        "surefoot: defect: RuntimeError: boom bang (surefoot "
    )


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (MemoryError("Unable to allocate 82.7 GiB"), "this machine's memory does not suffice"),
        (
            OSError(errno.ENOSPC, "No space left on device", "a.npz"),
            "the system refuses: No space left on device (a.npz). Make room",
        ),
        (
            ModuleNotFoundError("No module named 'numba'", name="numba"),
            "a package that surefoot needs cannot be imported: No module named 'numba'",
        ),
    ],
)
def test_what_the_machine_lacks_is_no_defect(
    error: Exception,
    start: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(args: list[str]) -> int:
        raise error

    monkeypatch.setattr(main, "_dispatch", refused)
    monkeypatch.setattr(main.streams, "cut_off", lambda: None)  # the test's own output stays
    assert _error(capsys, "demo").startswith(f"surefoot: error: {start}")


def test_a_module_of_our_own_that_is_not_there_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(args: list[str]) -> int:
        raise ModuleNotFoundError("No module named 'surefoot.x'", name="surefoot.x")

    monkeypatch.setattr(main, "_dispatch", broken)
    assert run(["demo"]) == 3


def test_a_promise_that_surefoot_broke_is_exit_code_three(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(args: list[str]) -> int:
        raise Defect(what="a kernel gave status 7")

    monkeypatch.setattr(main, "_dispatch", broken)
    assert run(["demo"]) == 3
    assert capsys.readouterr().err == "surefoot: defect: a kernel gave status 7\n"


def test_an_interrupt_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(args: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_dispatch", interrupted)
    assert run(["demo"]) == 130


def test_debug_shows_the_traceback() -> None:
    with pytest.raises(LookupError):
        run(["dem", "--debug"])


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("surefoot 0.")


@pytest.mark.parametrize(
    "args", [["robots", "list"], ["samples", "list"], ["doctor"], ["info", "sidestep"]]
)
def test_json_is_one_object_and_nothing_else(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = run([*args, "--json"])
    assert code in (0, 1)
    assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_output_without_a_terminal_has_no_colours_and_no_redrawing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "robots", "list"],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert "\x1b" not in done.stdout + done.stderr
    assert "\r" not in done.stderr
    assert "human25" in done.stdout
