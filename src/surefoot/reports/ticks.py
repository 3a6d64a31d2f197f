"""Events above a panel, before and after; and words for what lies above and below a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot.reports.roles import PLATE, POINTS_AN_INCH, ROLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICKS_PT, WAS_PT, NOW_PT = 25.0, 19.0, 6.0  # above a panel: their room, and their two rows
LEGEND_PT = 14.0  # above that, where lines have names


@dataclass(frozen=True, slots=True)
class Tick:
    """A lift-off or touch-down above a panel, and where it was before."""

    t: float
    was: float
    up: bool
    """Whether something lifts off."""
    role: str


def draw_ticks(ax: Axes, ticks: Sequence[Tick], inches: float) -> None:
    """Each event twice, hollow where it was and full where it is, with a line from one to other."""
    low, high = ax.get_ylim()
    point = (high - low) / (inches * POINTS_AN_INCH)  # one point of the sheet, in values
    was, now = high + WAS_PT * point, high + NOW_PT * point
    style: dict[str, Any] = {"clip_on": False, "scaley": False, "scalex": False, "zorder": 6}
    for tick in ticks:
        colour, marker = ROLES[tick.role], "^" if tick.up else "v"
        ax.plot([tick.was, tick.t], [was, now], color=ROLES["muted"], linewidth=0.7, **style)
        ax.plot([tick.t, tick.t], [low, now], color=colour, linewidth=0.7, alpha=0.45, **style)
        for t, y, fill in ((tick.was, was, ROLES["paper"]), (tick.t, now, colour)):
            ax.plot([t], [y], marker=marker, markersize=5.0, markerfacecolor=fill,
                    markeredgecolor=colour, markeredgewidth=0.8, **style)  # fmt: skip
    for y, word in ((was, "before"), (now, "after")):
        ax.annotate(word, (0.0, y), xycoords=("axes fraction", "data"), xytext=(-6.0, 0.0),
                    textcoords="offset points", ha="right", va="center", fontsize=8.0,
                    color=ROLES["muted"], annotation_clip=False)  # fmt: skip
    ax.set_ylim(low, high)


def draw_even(ax: Axes, even: tuple[float, str, str]) -> None:
    """The line of what does not differ, and what lies above and below it."""
    value, above, below = even
    low, high = ax.get_ylim()
    room = max(abs(high - value), abs(value - low), 1e-6)
    ax.set_ylim(value - 1.12 * room, value + 1.12 * room)
    ax.axhline(value, color=ROLES["ink"], linewidth=0.9, zorder=1)
    for text, y, side in ((above, 1.0, "top"), (below, 0.0, "bottom")):
        ax.annotate(
            text,
            (0.0, y),
            xycoords="axes fraction",
            xytext=(4.0, -3.0 if y else 3.0),
            textcoords="offset points",
            va=side,
            fontsize=8.0,
            color=ROLES["muted"],
            bbox=PLATE,
            zorder=5,
        )


def draw_word(ax: Axes, t: float, word: str) -> None:
    """A word at the top of a panel."""
    ax.annotate(
        word,
        (t, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0.0, -3.0),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=8.0,
        color=ROLES["muted"],
        bbox=PLATE,
        zorder=5,
    )
