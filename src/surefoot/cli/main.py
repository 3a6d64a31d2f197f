"""The table of commands, the top-level help, exit codes, and errors as one line.

Nothing heavy is imported here: only the command that was asked for is loaded and given to tyro.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from surefoot.errors import BadOption, MissingPart, SurefootError, UnknownName, nearest
from surefoot.version import __version__

if TYPE_CHECKING:
    from surefoot.cli.screen import Screen

EXIT_YES, EXIT_NO, EXIT_INPUT, EXIT_DEFECT, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table of commands."""

    target: str
    """Where the dataclass of the command lives, as module:class."""
    help: str
    """What it does, in one line."""
    example: str
    """One line that runs on bundled data."""


COMMANDS: dict[str, Entry] = {
    "demo": Entry(
        "surefoot.cli.commands:Demo",
        "the whole walk on a bundled clip, with a report",
        "surefoot demo sidestep -o surefoot-demo",
    ),
    "robots list": Entry(
        "surefoot.cli.commands:RobotsList", "the robots that surefoot knows", "surefoot robots list"
    ),
    "robots show": Entry(
        "surefoot.cli.commands:RobotsShow",
        "one robot's joints, limits, mass and soles, with a picture",
        "surefoot robots show human25 -o human25.svg",
    ),
    "samples list": Entry(
        "surefoot.cli.commands:SamplesList",
        "the bundled human clips and their families",
        "surefoot samples list",
    ),
    "samples make": Entry(
        "surefoot.cli.commands:SamplesMake",
        "write a member of a family of human clips",
        "surefoot samples make sidestep --seed 7 -o sidestep7.bvh",
    ),
    "info": Entry(
        "surefoot.cli.commands:Info",
        "what a file is, why it is thought so, and what looks wrong",
        "surefoot info sidestep",
    ),
    "retarget": Entry(
        "surefoot.cli.commands:Retarget",
        "a human clip to a robot clip with contacts",
        "surefoot retarget sidestep -r human25 -o sidestep.npz",
    ),
    "doctor": Entry(
        "surefoot.cli.commands:Doctor",
        "versions, caches, GL, browser, known conflicts and their repair",
        "surefoot doctor",
    ),
}


@runtime_checkable
class Command(Protocol):
    """What every command is: a frozen dataclass of options that can run."""

    json: bool
    quiet: bool

    def run(self, screen: Screen) -> int:
        """Do it and give the exit code."""


def run(args: Sequence[str]) -> int:
    """The exit code of one call of the command line."""
    try:
        return _dispatch(list(args))
    except SurefootError as error:
        if "--debug" in args:
            raise
        word = "error" if error.exit_code == EXIT_INPUT else "defect"
        print(f"surefoot: {word}: {error.sentence}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("surefoot: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing is wrong, and nobody listens.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_YES
    except Exception as error:  # the one place where a defect becomes a line
        if "--debug" in args:
            raise
        text = " ".join(str(error).split())
        print(
            f"surefoot: defect: {type(error).__name__}: {text} (surefoot {__version__})."
            " Please report it with the output of the same call and --debug",
            file=sys.stderr,
        )
        return EXIT_DEFECT


def _dispatch(args: list[str]) -> int:
    if not args or args[0] in ("-h", "--help"):
        print(top_help())
        return EXIT_YES if args else EXIT_INPUT
    if args[0] == "--version":
        print(f"surefoot {__version__}")
        return EXIT_YES
    name, rest = _asked(args)
    entry = COMMANDS[name]
    module, _, attribute = entry.target.partition(":")
    kind = getattr(import_module(module), attribute)
    command = _parsed(kind, name, entry, rest)
    if command is None:
        return EXIT_YES
    from surefoot.cli.screen import Screen

    return command.run(Screen(json=command.json, quiet=command.quiet))


def _asked(args: list[str]) -> tuple[str, list[str]]:
    """The command that is asked for, of two words or of one, and what follows it."""
    for words in (2, 1):
        name = " ".join(args[:words])
        if len(args) >= words and name in COMMANDS:
            return name, args[words:]
    rooms = [name for name in COMMANDS if name.startswith(f"{args[0]} ")]
    if rooms:
        given = (
            f"'{args[1]}' is no command of '{args[0]}'" if len(args) > 1 else f"'{args[0]}' what"
        )
        if len(args) > 1 and args[1] in ("-h", "--help"):
            given = f"'{args[0]}' has several commands"
        raise BadOption(what=given, todo="There are: " + ", ".join(f"surefoot {n}" for n in rooms))
    if args[0].startswith("-"):
        raise BadOption(
            what=f"unknown option '{args[0]}'", todo="surefoot --help lists the commands"
        )
    raise UnknownName(what=f"unknown command '{args[0]}'", todo=nearest(args[0], COMMANDS))


def _parsed(kind: type, name: str, entry: Entry, rest: list[str]) -> Command | None:
    """The command with its options; None when its help was asked for and has been printed."""
    try:
        import tyro
    except ImportError as error:
        raise MissingPart(what="tyro is not installed", todo="pip install tyro") from error
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            command: Command = tyro.cli(
                kind,
                prog=f"surefoot {name}",
                args=rest,
                config=(tyro.conf.FlagCreatePairsOff, tyro.conf.HelptextFromCommentsOff),
            )
    except SystemExit as stop:
        if stop.code in (0, None):
            print(f"\nExample: {entry.example}")
            return None
        what, todo = _condensed(said.getvalue())
        raise BadOption(what=what, where=f"surefoot {name}", todo=todo) from None
    return command


def _condensed(box: str) -> tuple[str, str]:
    """What is wrong and what to do, from a framed message of the parser.

    The frame holds sections between rules; the first says what is wrong, one that begins with
    "Perhaps you meant" names a near option, and lines set in by eight are help texts.
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", box)
    rows = [row.strip("│").rstrip() for row in plain.splitlines() if not row.startswith(("╭", "╰"))]
    sections: list[list[str]] = [[]]
    for row in rows:
        if re.fullmatch(r" *(─+|-{5,}) *", row):
            sections.append([])
        elif row.strip() and not row.startswith(" " * 9):
            sections[-1].append(row.strip())
    if (
        "╭" not in plain and len(sections) > 1
    ):  # these signs cannot be printed here: the title is a section of its own
        del sections[0]
    first, *others = sections
    options = [found for row in first[1:] if (found := _option_name(row))]
    if first and first[0].startswith("Missing from") and options:
        what = f"missing {' and '.join(options)}"
    else:
        what = " ".join(first).rstrip(".").replace("('-o', '--output')", "-o/--output")
        what = what[:1].lower() + what[1:]
    for section in others:
        near = _option_name(section[1]) if len(section) > 1 else ""
        if section[:1] == ["Perhaps you meant:"] and near:
            return what, f"Did you mean {near}?"
    return what or "the options cannot be read", "--help lists the options"


def _option_name(row: str) -> str:
    """The long name of the option that a row of the parser shows; empty for a positional."""
    names = re.findall(r"--[a-z][a-z-]*", row)
    return names[-1] if names else re.sub(r"[\[\]]", "", row)


def top_help() -> str:
    """The help of `surefoot` itself, from the table alone."""
    width = max(map(len, COMMANDS)) + 2
    rows = "\n".join(f"  {name.ljust(width)}{entry.help}" for name, entry in COMMANDS.items())
    return (
        "usage: surefoot COMMAND ...\n\n"
        "Human motion, made to stand on a humanoid robot.\n\n"
        f"commands:\n{rows}\n\n"
        "options of every command:\n"
        "  --help    its options, with one line that runs\n"
        "  --json    one JSON object on standard output\n"
        "  -q        no progress\n"
        "  --debug   a traceback when something goes wrong\n\n"
        "exit codes: 0 yes or done, 1 the answer is no, 2 the call or the input is wrong,\n"
        "3 a defect of surefoot, 130 interrupted\n\n"
        "Example: surefoot demo"
    )
