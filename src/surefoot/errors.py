"""What can go wrong, in one tree, and the one form in which findings are said.

    SurefootError
    ├── BadInput (ValueError)          exit 2: what was given cannot be used
    │   ├── BadFile                    what a file holds: path, line or key, all faults together
    │   ├── UnknownFormat              nothing fits: what was tried and why not
    │   ├── UnknownSkeleton            joint names fit no scheme: a map template
    │   ├── UnknownName (LookupError)  robot, clip, joint, method: the nearest names
    │   ├── BadRobot                   no feet, impossible model, profile fault
    │   ├── BadMotion                  shapes, order of time, NaN, quaternions
    │   └── BadOption                  outside its range, or excluded by another option
    ├── NoFile (OSError)               exit 2: not there, a folder, no permission
    ├── MissingPart (ImportError)      exit 2: extra or system library absent: what to install
    └── Defect (RuntimeError)          exit 3: a promise broken inside surefoot

Every error is built from facts (`what`, `where`, `todo`) and writes the sentence
`WHAT (WHERE). WHAT TO DO` itself.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_FAULTS_SHOWN = 10  # more are counted, not listed: a file with 10,000 faults needs one sentence


class SurefootError(Exception):
    """Any error of surefoot, as a sentence built from what, where and what to do."""

    exit_code: ClassVar[int] = 2

    def __init__(self, *, what: str, where: str = "", todo: str = "") -> None:
        """Keep the facts and write the sentence.

        Args:
            what: the fault, with the expected and the found value.
            where: file, line, key, joint or frame.
            todo: what the reader can do about it.
        """
        self.what = what
        self.where = where
        self.todo = todo
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """WHAT (WHERE). WHAT TO DO, in one line."""
        place = f" ({self.where})" if self.where else ""
        advice = f". {self.todo}" if self.todo else ""
        return " ".join(f"{self.what}{place}{advice}".split())

    def __str__(self) -> str:
        """The sentence."""
        return self.sentence

    def __reduce__(self) -> tuple[object, tuple[type[SurefootError], dict[str, str]]]:
        """Pickle by facts: otherwise keyword-only constructors do not survive a worker process."""
        return _rebuilt, (type(self), {"what": self.what, "where": self.where, "todo": self.todo})


def _rebuilt(kind: type[SurefootError], facts: dict[str, str]) -> SurefootError:
    return kind(**facts)


class BadInput(SurefootError, ValueError):
    """What was given cannot be used."""


class BadFile(BadInput):
    """A file holds something that cannot be used."""


class UnknownFormat(BadInput):
    """No known format fits a file."""


class UnknownSkeleton(BadInput):
    """The joint names fit no known naming scheme."""


class UnknownName(BadInput, LookupError):
    """A robot, clip, joint or method that does not exist."""


class BadRobot(BadInput):
    """A robot model or profile that cannot be used."""


class BadMotion(BadInput):
    """Values that are no motion."""


class BadOption(BadInput):
    """An option outside its range, or options that exclude each other."""


class NoFile(SurefootError, OSError):
    """A file that is not there or cannot be opened."""


class MissingPart(SurefootError, ImportError):
    """An extra or a system library that is not installed."""


class Defect(SurefootError, RuntimeError):
    """A promise broken inside surefoot."""

    exit_code: ClassVar[int] = 3


def nearest(name: str, names: Iterable[str]) -> str:
    """A sentence that offers the most similar of the names, or all of them when none is near."""
    known = sorted(names)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "Did you mean " + " or ".join(f"'{n}'" for n in close) + "?"
    return "Known names: " + ", ".join(known)


def listed(faults: list[str]) -> str:
    """All faults of one file in one sentence: at most ten, then a count."""
    shown = "; ".join(faults[:MAX_FAULTS_SHOWN])
    rest = len(faults) - MAX_FAULTS_SHOWN
    return shown + (f"; and {rest} more" if rest > 0 else "")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something found, repaired or refused: the one form in which it is said.

    Printed alike by terminal, `--json` and reports.
    """

    kind: str
    """What sort of finding: `repair`, `assumption`, `limit`, `dropped`, ..."""
    part: str
    """The link, joint, file or row that is spoken of."""
    sentence: str
    """One sentence for a person, with numbers and units."""
    t0: float | None = None
    """Start of the time span, s; None where no time is meant."""
    t1: float | None = None
    """End of the time span, s."""
    value: float | None = None
    """The number found."""
    limit: float | None = None
    """The number that it is compared with."""

    def summary(self) -> dict[str, object]:
        """The notice as a JSON object."""
        return {
            "kind": self.kind,
            "part": self.part,
            "sentence": self.sentence,
            "t0_s": self.t0,
            "t1_s": self.t1,
            "value": self.value,
            "limit": self.limit,
        }
