"""docs/command-line.md from the real help: `python tests/make/command_page.py` writes it anew."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

from surefoot.cli.main import COMMANDS

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


def page() -> str:
    """The page: every help text as the command line prints it."""
    parts = [
        "# The command line\n\nWritten by `python tests/make/command_page.py` from the real help;"
        " a test compares. Exit codes and JSON keys are the promise of each command's page below"
        " and of the README.",
        f"```\n{_help()}\n```",
    ]
    parts += [f"## surefoot {name}\n\n```\n{_help(*name.split())}\n```" for name in COMMANDS]
    return "\n\n".join(parts) + "\n"


def words(text: str) -> list[str]:
    """The words of a page, without frames, line breaks and usage lines: these differ by version."""
    lines = [line for line in text.splitlines() if not line.startswith("usage: ")]
    return re.sub(r"[╭╮╰╯│─]", " ", " ".join(lines)).split()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
