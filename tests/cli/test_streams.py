"""Output that is closed, full, cut off or short of signs: an exit code as ever, no traceback."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from surefoot.cli.screen import Screen
from surefoot.cli.streams import tell

FULL = pathlib.Path("/dev/full")  # a file on which nothing can be written; Linux has it
PRINTING = (
    ["--help"],
    ["demo", "--help"],
    ["robots", "list"],
    ["robots", "show", "human25"],
    ["robots", "show", "human25", "--json"],
)


def _surefoot(
    *args: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE, code: str = ""
) -> subprocess.CompletedProcess[bytes]:
    start = f"{code}\nfrom surefoot.__main__ import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", start, *args],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        check=False,
        env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    )


def _cut_pipe() -> int:
    """The end for writing of a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.parametrize("args", PRINTING, ids=" ".join)
@pytest.mark.slow
def test_a_reader_that_has_gone_is_no_failure(args: list[str]) -> None:
    done = _surefoot(*args, stdout=_cut_pipe())
    assert done.returncode == 0
    assert done.stderr == b""


def test_an_error_that_nobody_reads_is_an_exit_code_all_the_same() -> None:
    assert _surefoot("dem", stderr=_cut_pipe()).returncode == 2


def test_work_goes_on_when_nobody_reads_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(_cut_pipe(), "w", encoding="utf-8", closefd=True, buffering=1) as cut:
        monkeypatch.setattr(sys, "stderr", cut)
        Screen(json=False, quiet=False).progress(0, 2, "reading")
        monkeypatch.undo()
        os.dup2(os.open(os.devnull, os.O_WRONLY), cut.fileno())  # what it still holds goes there


def test_an_error_takes_the_place_of_an_unfinished_line_of_progress(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    Screen(json=False, quiet=False).progress(1, 2, "compiling the kinematics, once")
    tell("surefoot: interrupted")
    unfinished, error = capsys.readouterr().err.split("\r")
    assert unfinished.rstrip() == "surefoot: [1/2] compiling the kinematics, once"
    assert error.rstrip() == "surefoot: interrupted"
    assert len(error.rstrip("\n")) >= len(unfinished.rstrip())


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("args", PRINTING, ids=" ".join)
@pytest.mark.slow
def test_a_full_disk_is_one_line_and_no_defect(args: list[str]) -> None:
    with FULL.open("wb") as full:
        done = _surefoot(*args, stdout=full.fileno())
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"surefoot: error: the system refuses: ")


@pytest.mark.parametrize("args", PRINTING, ids=" ".join)
@pytest.mark.slow
def test_closed_output_swallows_the_result(args: list[str]) -> None:
    assert _surefoot(*args, code="import sys; sys.stdout = None").returncode == 0


def test_with_both_streams_closed_an_error_is_an_exit_code() -> None:
    done = _surefoot("dem", code="import sys; sys.stdout = sys.stderr = None")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


@pytest.mark.parametrize("args", [*PRINTING, ["info", "sidestep"], ["samples", "list"]])
@pytest.mark.slow
def test_a_terminal_of_few_signs_is_enough(args: list[str]) -> None:
    done = _surefoot(*args)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert done.stdout


def test_a_line_with_a_command_to_copy_is_never_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    Screen(json=False, quiet=False).say("word " * 20)
    assert capsys.readouterr().out.count("\n") == 1
