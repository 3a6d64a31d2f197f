"""The command `verify`: what its re-check says, in lines and exit codes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from surefoot.cli.options import Talk
from surefoot.cli.screen import Screen
from surefoot.errors import BadFile, NoFile

if TYPE_CHECKING:
    from surefoot.verification import Verification

SHOWN = 10  # mismatches said to people; --json lists a hundred


@dataclass(frozen=True, kw_only=True)
class Verify(Talk):
    """Re-check a dump of the index or of a run with code that shares nothing with its maker."""

    dump: Annotated[Positional[Path], arg(metavar="DUMP")]
    """A file that `surefoot index --dump` or `surefoot simulate --dump` wrote."""

    def run(self, screen: Screen) -> int:
        """Check it; 1 when a number is not confirmed."""
        from surefoot.verification import Unusable, verify

        try:
            found = verify(self.dump, progress=screen.progress)
        except Unusable as error:
            raise BadFile(
                what=str(error), where=str(self.dump), todo="docs/verification.md lists the arrays"
            ) from error
        except OSError as error:
            why = error.strerror or "cannot be opened"
            raise NoFile(
                what=f"the dump cannot be read: {why}",
                where=str(self.dump),
                todo="surefoot index CLIP -r R --dump FILE.npz writes one",
            ) from error
        if screen.json:
            screen.result({"dump": str(self.dump), **found.summary()})
        else:
            _show(found, screen)
        return 0 if found.ok else 1


def _show(found: Verification, screen: Screen) -> None:
    """The checks as a table, then the mismatches, then the answer."""
    screen.table(
        "",
        ("check", "numbers", "largest difference", "allowed there", "sample"),
        [
            (name, str(w.count), f"{w.difference:.3g}", f"{w.allowed:.3g}", str(w.sample))
            for name, w in found.worst.items()
        ],
    )
    for mismatch in found.mismatches[:SHOWN]:
        screen.say(mismatch.sentence)
    if len(found.mismatches) > SHOWN:
        screen.say(f"and {len(found.mismatches) - SHOWN} more: --json lists a hundred")
    for note in found.notes:
        screen.say(f"note: {note}")
    answer = "all agree" if found.ok else f"{len(found.mismatches)} mismatches"
    if found.kind == "simulation":
        screen.say(f"{found.checked} control steps replayed: {answer} ({found.seconds:.1f} s)")
        return
    screen.say(
        f"{found.checked} samples, {found.outside} outside, {found.inside} searched inside:"
        f" {answer} ({found.seconds:.1f} s)"
    )
