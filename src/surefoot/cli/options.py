"""Options that commands share, each with one name and one meaning."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

RobotName = Annotated[str, arg(aliases=["-r"], metavar="ROBOT")]
Output = Annotated[Path, arg(aliases=["-o"])]
OptionalOutput = Annotated[Path | None, arg(aliases=["-o"], metavar="PATH")]
OptionalFile = Annotated[Path | None, arg(metavar="FILE")]
From = Annotated[str | None, arg(name="from", metavar="FORMAT")]
To = Annotated[str | None, arg(metavar="FORMAT")]
Number = Annotated[float | None, arg(metavar="NUMBER")]


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
    """The file that is meant: a bundled clip's by its name, else the path itself."""
    from surefoot.samples import bundled

    if not Path(name).exists() and name in bundled.names():
        return bundled.path(name)
    return Path(name)
