"""docs/command-line.md from the real help: `python tests/make/command_page.py` writes it anew."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
import re
import tempfile

from surefoot.cli.main import COMMANDS, run

# What an example reads that another command makes.
FIRST = {"verify": "surefoot index sidestep -r human25 --rate 25 --dump dump.npz"}
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "command-line.md"


def _printed(*args: str) -> tuple[int, str]:
    """The exit code of a call and what it printed, as wide as the page and without colours."""
    before = dict(os.environ)
    os.environ.update(COLUMNS="88", NO_COLOR="1")
    written = io.BytesIO()
    try:
        with contextlib.redirect_stdout(io.TextIOWrapper(written, encoding="utf-8")) as said:
            code = run(args)
            said.flush()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return code, written.getvalue().decode("utf-8")


def help_of(*words: str) -> str:
    """A help text as it is printed."""
    code, said = _printed(*words, "--help")
    assert code == 0, words
    return "\n".join(line.rstrip() for line in said.strip().splitlines())


def keys_of(name: str) -> tuple[int, list[str]]:
    """The exit code of a command's example, and the keys of what it prints with --json."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for example in filter(None, (FIRST.get(name), COMMANDS[name].example)):
            code, said = _printed(*example.split()[1:], "--json", "-q")
    return code, list(json.loads(said)) if code in (0, 1) else []


def section(name: str) -> str:
    """What the page says of one command, but for the keys."""
    return f"## surefoot {name}\n\n```\n{help_of(*name.split())}\n```"


def keys_line(keys: list[str]) -> str:
    """The line of the page that names the keys; empty where there are none."""
    return "\n\nKeys of `--json`: " + ", ".join(f"`{key}`" for key in keys) + "." if keys else ""


def head() -> str:
    """What the page says before the first command."""
    parts = (
        "# The command line\n\nWritten by `python tests/make/command_page.py` from the real help;"
        " a test compares.",
        "Results go to standard output, progress, notices and errors to standard error. With"
        " `--json` standard output holds one JSON object and nothing else. An error is one line,"
        " `surefoot: error: WHAT (WHERE). WHAT TO DO`. A file appears whole or not at all."
        " What once has a key keeps it; more may be added.",
        f"```\n{help_of()}\n```",
    )
    return "\n\n".join(parts)


def page() -> str:
    """The page: every help text as the command line prints it, with the keys of its example."""
    parts = [head(), *(section(name) + keys_line(keys_of(name)[1]) for name in COMMANDS)]
    return "\n\n".join(parts) + "\n"


def words(text: str) -> list[str]:
    """The words of a page, without frames, line breaks and usage lines: these differ by version.

    So does what is said of arguments that must be given at least once: required, or no default.
    """
    lines = [line for line in text.splitlines() if not line.startswith("usage: ")]
    plain = " ".join(re.sub(r"[╭╮╰╯│─]", " ", " ".join(lines)).split())
    return plain.replace("(default: )", "(required)").split()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
