"""Standard output and error as they are found: closed, full, cut off, or short of signs."""

from __future__ import annotations

import contextlib
import io
import os
import sys

REDRAWN = 78  # columns of a terminal's line that are written anew: two fewer than the narrowest has


def prepare() -> None:
    """Make both streams safe to print on.

    A closed one swallows what it is given; signs that standard output cannot encode become `?`,
    as standard error already writes them in another way.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, or a program without a console
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def tell(text: str, *, redrawn: bool = False) -> None:
    """Write a line on standard error; work does not stop because nobody reads there any more.

    Args:
        redrawn: on a terminal the next line takes the place of this one.
    """
    if terminal := sys.stderr.isatty():
        text = text.ljust(REDRAWN)  # over what a redrawn line has left
    with contextlib.suppress(OSError):
        print(text, end="\r" if redrawn and terminal else "\n", file=sys.stderr, flush=True)


def cut_off() -> None:
    """Let standard output lead nowhere: else the interpreter complains in its last flush."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
