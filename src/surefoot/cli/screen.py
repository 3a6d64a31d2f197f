"""What people see: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table
from rich.text import Text

from surefoot.cli.streams import tell
from surefoot.errors import Notice

COLUMNS_WITHOUT_TERMINAL = 120  # wide enough that no row of ours breaks in a pipe or a log


class _Console(Console):
    """A console that leaves it to the caller what a reader who has gone means."""

    def on_broken_pipe(self) -> None:
        """Say so; the inherited one would end the process with the exit code of a no."""
        raise BrokenPipeError


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else COLUMNS_WITHOUT_TERMINAL
    return _Console(stderr=stderr, highlight=False, soft_wrap=not stream.isatty(), width=width)


@dataclass(slots=True)
class Screen:
    """Prints for one command: as JSON or for people, with or without progress."""

    json: bool
    quiet: bool
    _last: str = field(default="", init=False)

    def progress(self, done: int, total: int, text: str) -> None:
        """A line of progress on standard error: redrawn on a terminal, else one line a text."""
        if self.quiet:
            return
        if sys.stderr.isatty() or text != self._last:
            tell(f"surefoot: [{done}/{total}] {text}", redrawn=done < total)
        self._last = text

    def result(self, summary: dict[str, object]) -> None:
        """The one JSON object of the command."""
        print(json.dumps(summary, indent=2, allow_nan=False))

    def say(self, text: str) -> None:
        """A line of the result, for people; never broken, so that commands in it can be copied."""
        _console(stderr=False).print(text, markup=False, soft_wrap=True)

    def table(self, title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table of the result, for people."""
        heading = Text(title) if title else None  # names of files may look like markup
        drawn = Table(title=heading, title_justify="left", header_style="bold")
        for column in head:
            drawn.add_column(column)
        for row in rows:
            drawn.add_row(*map(Text, row))
        _console(stderr=False).print(drawn)

    def notices(self, notices: Iterable[Notice]) -> None:
        """What was found, assumed or repaired, on standard error, each sentence once."""
        if self.quiet:
            return
        for sentence in dict.fromkeys(f"{n.part}: {n.sentence}" for n in notices):
            tell(f"surefoot: notice: {sentence}")
