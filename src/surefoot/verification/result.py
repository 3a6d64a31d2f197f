"""What a re-check found: where the numbers of a dump and the other means differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MAX_LISTED = 100  # mismatches in JSON; the count is always whole


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One number of a dump that other means do not give."""

    check: str
    """Which check found it."""
    sample: int
    """Sample, counted from 0."""
    time: float
    """Its time, s; NaN when the file holds none."""
    array: str
    """Array of the dump in which the number stands."""
    found: float
    """What the dump says."""
    expected: float
    """What the check says: a value, or the bound that was passed."""
    allowed: float
    """How far the two may lie apart."""

    @property
    def sentence(self) -> str:
        """The mismatch in one line."""
        return (
            f"sample {self.sample} at {self.time:.6g} s: {self.array} {self.found:.9g}, expected"
            f" {self.expected:.9g}, allowed {self.allowed:.2g} ({self.check})"
        )

    def summary(self) -> dict[str, object]:
        """The mismatch as a JSON object; a number that is not finite is null."""
        return {
            "check": self.check,
            "sample": self.sample,
            "time_s": _finite(self.time),
            "array": self.array,
            "found": _finite(self.found),
            "expected": _finite(self.expected),
            "allowed": _finite(self.allowed),
            "text": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Worst:
    """How near one check came to a mismatch."""

    sample: int
    """Where."""
    difference: float
    """Largest difference, relative to what is allowed there the largest one too."""
    allowed: float
    """What is allowed there."""
    count: int
    """Numbers compared."""

    @property
    def ratio(self) -> float:
        """Difference over allowed; above 1 is a mismatch."""
        if self.allowed > 0.0:
            return self.difference / self.allowed
        return 0.0 if self.difference == 0.0 else math.inf


@dataclass(frozen=True)
class Verification:
    """What `verify` found out about one dump."""

    checked: int
    """Samples."""
    outside: int
    """Samples whose wrench lies outside of what the contacts can give."""
    inside: int
    """Samples whose margin was searched for a nearer boundary."""
    mismatches: tuple[Mismatch, ...]
    """All of them, in order of sample."""
    worst: dict[str, Worst]
    """By check: how near it came."""
    notes: tuple[str, ...]
    """What this dump did not allow to check, and what a check does not prove."""
    seconds: float
    """Time taken."""
    kind: str = "index"
    """Of what the dump is: index, or simulation, whose samples are control steps."""

    @property
    def ok(self) -> bool:
        """Whether all numbers agree."""
        return not self.mismatches

    def summary(self) -> dict[str, object]:
        """All of it as a JSON object; at most 100 mismatches are listed."""
        return {
            "schema": 1,
            "kind": self.kind,
            "ok": self.ok,
            "checked": self.checked,
            "outside": self.outside,
            "inside": self.inside,
            "mismatch_count": len(self.mismatches),
            "mismatches": [m.summary() for m in self.mismatches[:MAX_LISTED]],
            "worst": {
                name: {
                    "sample": w.sample,
                    "difference": _finite(w.difference),
                    "allowed": _finite(w.allowed),
                    "compared": w.count,
                }
                for name, w in self.worst.items()
            },
            "notes": list(self.notes),
            "seconds": self.seconds,
        }


@dataclass
class Ledger:
    """Collects comparisons: each is counted, the worst is kept, what is too far is a mismatch."""

    time: Floats
    mismatches: list[Mismatch] = field(default_factory=list)
    worst: dict[str, Worst] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def equal(
        self, check: str, array: str, sample: int, found: float, expected: float, allowed: float
    ) -> bool:
        """Note that found and expected should lie within `allowed`; whether they do."""
        return self._note(check, array, sample, (found, expected, allowed), abs(found - expected))

    def at_most(
        self, check: str, array: str, sample: int, found: float, limit: float, allowed: float
    ) -> bool:
        """Note that found should not exceed limit + allowed; whether it does not."""
        return self._note(check, array, sample, (found, limit, allowed), max(found - limit, 0.0))

    def at_least(
        self, check: str, array: str, sample: int, found: float, limit: float, allowed: float
    ) -> bool:
        """Note that found should not fall below limit − allowed; whether it does not."""
        return self._note(check, array, sample, (found, limit, allowed), max(limit - found, 0.0))

    def say(self, note: str) -> None:
        """Keep a note, once."""
        if note not in self.notes:
            self.notes.append(note)

    def _note(
        self,
        check: str,
        array: str,
        sample: int,
        numbers: tuple[float, float, float],
        difference: float,
    ) -> bool:
        found, expected, allowed = (float(x) for x in numbers)
        here = Worst(sample, float(difference), allowed, 1)
        last = self.worst.get(check)
        kept = here if last is None or not here.ratio <= last.ratio else last
        count = 1 if last is None else last.count + 1
        self.worst[check] = Worst(kept.sample, kept.difference, kept.allowed, count)
        if difference <= allowed:  # false for NaN
            return True
        when = float(self.time[sample])
        self.mismatches.append(Mismatch(check, sample, when, array, found, expected, allowed))
        return False


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
