"""Stretches of a motion that are not feasible: when, how bad, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, BoolArray, Float64
from surefoot.errors import BadOption
from surefoot.index.reasons import Limits
from surefoot.index.words import Limit, LimitEdge, amount

MOST_CHANGES = 3  # limits named one after another; more is a list that nobody reads


@dataclass(frozen=True, slots=True)
class Segment:
    """One infeasible stretch."""

    start_s: float
    end_s: float
    """Last infeasible sample; equal to the start for a single one."""
    worst_n: float
    """Largest signed distance, N."""
    worst_at_s: float
    worst_sample: int
    """Index of the worst sample."""
    limit: Limit | None
    """Of the worst sample."""
    link: tuple[str, ...]
    """Links that tip, slide, turn or pull at the worst sample."""
    edge: LimitEdge | None
    text: str

    def summary(self) -> dict[str, object]:
        """The stretch as a JSON object."""
        return {
            "start_s": self.start_s,
            "end_s": self.end_s,
            "worst_n": self.worst_n,
            "worst_at_s": self.worst_at_s,
            "limit": self.limit,
            "link": list(self.link),
            "edge": self.edge,
            "text": self.text,
        }


def segments(
    time: Float64[Array, " n"],
    upper: Float64[Array, " n"],
    tolerance_n: float,
    limits: Limits,
    *,
    gap_s: float = 0.0,
) -> tuple[Segment, ...]:
    """The stretches of samples with upper > tolerance_n, in order of time.

    Args:
        time: moments of the samples, s, never falling; a contact change may have two samples.
        upper: no true signed distance is larger, N.
        gap_s: stretches that lie less than this apart are one; 0 joins none.

    Raises:
        BadOption: a negative gap.
    """
    if not 0.0 <= gap_s < np.inf:
        raise BadOption(what=f"gap_s must be 0 or more, got {gap_s}")
    infeasible = upper > tolerance_n
    found = []
    for first, last in _stretches(time, infeasible, gap_s):
        samples = first + np.flatnonzero(infeasible[first : last + 1])
        worst = int(samples[np.argmax(upper[samples])])
        found.append(
            Segment(
                start_s=float(time[first]),
                end_s=float(time[last]),
                worst_n=float(upper[worst]),
                worst_at_s=float(time[worst]),
                worst_sample=worst,
                limit=limits.limit(worst),
                link=limits.links(worst),
                edge=limits.edge_word(worst),
                text=_text(limits, [int(i) for i in samples], worst, float(upper[worst])),
            )
        )
    return tuple(found)


def _stretches(
    time: Float64[Array, " n"], infeasible: BoolArray, gap_s: float
) -> list[tuple[int, int]]:
    """First and last sample of each stretch."""
    steps = np.diff(np.concatenate([[0], infeasible.astype(np.int64), [0]]))
    out: list[tuple[int, int]] = []
    for first, last in zip(
        np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1, strict=True
    ):
        if out and time[first] - time[out[-1][1]] < gap_s:
            out[-1] = (out[-1][0], int(last))
        else:
            out.append((int(first), int(last)))
    return out


def _text(limits: Limits, samples: list[int], worst: int, worst_n: float) -> str:
    """What limits at the worst sample, by how much, and what else limits in the stretch."""
    sentence = f"{limits.sentence(worst)} d is {amount(worst_n, 'N')} there."
    codes = zip(limits.kind[samples].tolist(), limits.edge[samples].tolist(),
                map(bytes, limits.involved[samples]), strict=True)  # fmt: skip
    heads: dict[tuple[int, int, bytes], int] = {}
    for code, i in zip(codes, samples, strict=True):  # words: each limit once, where it comes first
        heads.setdefault(code, i)
    if len(heads) < 2:
        return sentence
    names = [limits.phrase(i) for i in [*heads.values()][:MOST_CHANGES]]
    rest = len(heads) - len(names)
    more = f"; and {rest} more" if rest else ""
    return f"{sentence} Limits on the way: {'; '.join(names)}{more}."
