"""Options that commands share, each with one name and one meaning."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from surefoot.errors import BadOption, NoFile, nearest

RobotName = Annotated[str, arg(aliases=["-r"], metavar="ROBOT")]
Output = Annotated[Path, arg(aliases=["-o"])]
OptionalOutput = Annotated[Path | None, arg(aliases=["-o"], metavar="PATH")]
OptionalFile = Annotated[Path | None, arg(metavar="FILE")]
From = Annotated[str | None, arg(name="from", metavar="FORMAT")]
To = Annotated[str | None, arg(metavar="FORMAT")]
Number = Annotated[float | None, arg(metavar="NUMBER")]
Smooth = Annotated[str, arg(metavar="HZ|none")]


@dataclass(frozen=True, kw_only=True)
class Talk:
    """Options of every command."""

    json: bool = False
    """Print one JSON object to standard output."""
    quiet: Annotated[bool, arg(aliases=["-q"])] = False
    """No progress and no notices."""
    debug: bool = False
    """Show a traceback when something goes wrong."""


def clip_path(name: str) -> Path:
    """The file that is meant: a bundled clip's by its name, else the path itself.

    Raises:
        NoFile: no file, and nearly the name of a bundled clip.
    """
    from surefoot.samples import bundled

    path = Path(name)
    if path.exists() or path.suffix or path.name != name:
        return path
    if name in bundled.names():
        return bundled.path(name)
    if get_close_matches(name, bundled.names()):
        todo = nearest(name, bundled.names())
        raise NoFile(what="neither a file nor a bundled clip", where=name, todo=todo)
    return path


def cutoff_hz(text: str) -> float | None:
    """The cut-off that --smooth names; None for `none`.

    Raises:
        BadOption: neither a number nor `none`.
    """
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise BadOption(
            what=f"expected a frequency in Hz or 'none', got '{text}'", where="--smooth"
        ) from None
