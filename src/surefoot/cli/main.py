"""The table of commands, the top-level help, exit codes, and errors as one line.

Nothing heavy is imported here: only the command that was asked for is loaded and given to tyro.
"""

from __future__ import annotations

import contextlib
import errno
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from surefoot.cli import streams
from surefoot.errors import (
    BadInput,
    BadOption,
    MissingPart,
    NoFile,
    SurefootError,
    UnknownName,
    nearest,
)
from surefoot.version import __version__

if TYPE_CHECKING:
    from surefoot.cli.screen import Screen

# What the system says when a disk, a quota or a permission ends the work: no defect of ours.
REFUSALS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)

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
    "index": Entry(
        "surefoot.cli.index_command:Index",
        "can the contacts give what the motion needs: exact, signed, with reasons",
        "surefoot index sidestep -r human25 -o sidestep.html",
    ),
    "adapt": Entry(
        "surefoot.cli.adapt_command:Adapt",
        "mend a clip by new times for its frames, and judge it again",
        "surefoot adapt sidestep -r human25 -o sidestep.clip.npz --report adapted.html",
    ),
    "simulate": Entry(
        "surefoot.cli.simulate_command:Simulate",
        "does it stand: the clip on the simulated robot, driven by a controller",
        "surefoot simulate sidestep -r human25 --push 3,0,40,0,0.1 -o simulated.html",
    ),
    "run": Entry(
        "surefoot.cli.run_command:Run",
        "clips through the whole walk, each into a folder, with one table; resumes",
        "surefoot run sidestep -r human25 -o walks",
    ),
    "verify": Entry(
        "surefoot.cli.verify_command:Verify",
        "re-check a dump of the index or of a simulation with other means",
        "surefoot verify dump.npz",
    ),
    "contacts": Entry(
        "surefoot.cli.clip_commands:Contacts",
        "which link stands where and when; a file that can be corrected",
        "surefoot contacts sidestep -r human25 -o sidestep.contacts.toml",
    ),
    "convert": Entry(
        "surefoot.cli.clip_commands:Convert",
        "a clip from one file format to another",
        "surefoot convert sidestep copy.bvh",
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
    streams.prepare()
    code = EXIT_YES
    try:
        code = _dispatch(list(args))
        sys.stdout.flush()  # here, where a full disk or a reader that has gone still has a word
        return code
    except KeyboardInterrupt:
        streams.tell("surefoot: interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader has gone (`| head`): nothing is wrong, and nobody listens
        streams.cut_off()
        return code
    except Exception as error:  # the one place where a defect becomes a line
        if "--debug" in args:
            raise
        return _failed(error)


def _failed(error: Exception) -> int:
    """The exit code of an error, after its one line."""
    if isinstance(error, SurefootError):
        pass  # says itself what it is
    elif isinstance(error, MemoryError):
        error = BadInput(
            what=f"this machine's memory does not suffice: {error}",
            todo="Give a shorter clip or a lower rate",
        )
    elif isinstance(error, OSError) and error.errno in REFUSALS:
        streams.cut_off()
        error = NoFile(
            what=f"the system refuses: {error.strerror}",
            where=str(error.filename or ""),
            todo="Make room, or name another place",
        )
    elif isinstance(error, ImportError) and not str(error.name).startswith("surefoot"):
        error = MissingPart(
            what=f"a package that surefoot needs cannot be imported: {error}",
            todo="`surefoot doctor` or `pip check` says which; install surefoot anew",
        )
    if isinstance(error, SurefootError):
        word = "error" if error.exit_code == EXIT_INPUT else "defect"
        streams.tell(f"surefoot: {word}: {error.sentence}")
        return error.exit_code
    text = " ".join(str(error).split())
    streams.tell(
        f"surefoot: defect: {type(error).__name__}: {text} (surefoot {__version__})."
        " Please report it with the output of the same call and --debug"
    )
    return EXIT_DEFECT


def _dispatch(args: list[str]) -> int:
    if not args or args[0] in ("-h", "--help"):
        print(top_help())
        return EXIT_YES if args else EXIT_INPUT
    if args[0] == "--version":
        print(f"surefoot {__version__}")
        return EXIT_YES
    rooms = _within(args[0])
    if rooms and args[1:2] in (["-h"], ["--help"]):
        print(_room_help(args[0], rooms))
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
    rooms = _within(args[0])
    if rooms:
        given = (
            f"'{args[1]}' is no command of '{args[0]}'" if len(args) > 1 else f"'{args[0]}' what"
        )
        raise BadOption(what=given, todo="There are: " + ", ".join(f"surefoot {n}" for n in rooms))
    if args[0].startswith("-"):
        raise BadOption(
            what=f"unknown option '{args[0]}'", todo="surefoot --help lists the commands"
        )
    raise UnknownName(what=f"unknown command '{args[0]}'", todo=nearest(args[0], COMMANDS))


def _within(word: str) -> list[str]:
    """The commands of two words that begin with this one."""
    return [name for name in COMMANDS if name.startswith(f"{word} ")]


def _parsed(kind: type, name: str, entry: Entry, rest: list[str]) -> Command | None:
    """The command with its options; None when its help was asked for and has been printed."""
    import tyro

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
    what = _plainly(what)
    for section in others:
        near = _option_name(section[1]) if len(section) > 1 else ""
        if section[:1] == ["Perhaps you meant:"] and near:
            return what, f"Did you mean {near}?"
    return what or "the options cannot be read", "--help lists the options"


def _plainly(what: str) -> str:
    """The parser's sentence about a value, without the names of its own types."""
    if found := re.match(r"error parsing ([^:]+):.*?'([^']*)'\]?(?:\.|$| Got errors)", what):
        return f"{found[1]} cannot be '{found[2]}'"
    if found := re.match(r"missing value for argument '([^']+)'", what):
        return f"missing value after {found[1]}"
    return what


def _option_name(row: str) -> str:
    """The long name of the option that a row of the parser shows; empty for a positional."""
    names = re.findall(r"--[a-z][a-z-]*", row)
    return names[-1] if names else re.sub(r"[\[\]]", "", row)


def _room_help(room: str, names: Sequence[str]) -> str:
    """The help of a word that several commands begin with."""
    return (
        f"usage: surefoot {room} COMMAND ...\n\ncommands:\n{_rows(names)}\n\n"
        f"Example: {COMMANDS[names[-1]].example}"
    )


def _rows(names: Sequence[str]) -> str:
    """One line for each command: its name and what it does."""
    width = max(map(len, COMMANDS)) + 2
    return "\n".join(f"  {name.ljust(width)}{COMMANDS[name].help}" for name in names)


def top_help() -> str:
    """The help of `surefoot` itself, from the table alone."""
    return (
        "usage: surefoot COMMAND ...\n\n"
        "Human motion, made to stand on a humanoid robot.\n\n"
        f"commands:\n{_rows(list(COMMANDS))}\n\n"
        "options of every command:\n"
        "  --help    its options, with one line that runs\n"
        "  --json    one JSON object on standard output\n"
        "  -q        no progress\n"
        "  --debug   a traceback when something goes wrong\n"
        "and alone: --version\n\n"
        "exit codes: 0 yes or done, 1 the answer is no, 2 the call or the input is wrong,\n"
        "3 a defect of surefoot, 130 interrupted\n\n"
        "Example: surefoot demo"
    )
