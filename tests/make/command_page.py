"""docs/command-line.md from the real help: `python tests/make/command_page.py` writes it anew."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from surefoot.cli.main import COMMANDS

# What an example reads that another command makes.
FIRST = {"verify": "surefoot index sidestep -r human25 --rate 25 --dump dump.npz"}
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "command-line.md"


def _help(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", *words, "--help"],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "88", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def _keys(name: str) -> str:
    """The keys of what a command prints with --json; empty where its example cannot run."""
    with tempfile.TemporaryDirectory() as folder:
        for example in filter(None, (FIRST.get(name), COMMANDS[name].example)):
            done = subprocess.run(
                [sys.executable, "-m", *example.split(), "--json", "-q"],
                capture_output=True,
                check=False,  # an answer of no is an answer
                encoding="utf-8",
                cwd=folder,
            )
    if done.returncode not in (0, 1):
        return ""
    return "\n\nKeys of `--json`: " + ", ".join(f"`{key}`" for key in json.loads(done.stdout)) + "."


def page() -> str:
    """The page: every help text as the command line prints it."""
    parts = [
        "# The command line\n\nWritten by `python tests/make/command_page.py` from the real help;"
        " a test compares.",
        "Results go to standard output, progress, notices and errors to standard error. With"
        " `--json` standard output holds one JSON object and nothing else. An error is one line,"
        " `surefoot: error: WHAT (WHERE). WHAT TO DO`. A file appears whole or not at all."
        " What once has a key keeps it; more may be added.",
        f"```\n{_help()}\n```",
    ]
    parts += [
        f"## surefoot {name}\n\n```\n{_help(*name.split())}\n```{_keys(name)}" for name in COMMANDS
    ]
    return "\n\n".join(parts) + "\n"


def words(text: str) -> list[str]:
    """The words of a page, without frames, line breaks and usage lines: these differ by version."""
    lines = [line for line in text.splitlines() if not line.startswith("usage: ")]
    return re.sub(r"[╭╮╰╯│─]", " ", " ".join(lines)).split()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
