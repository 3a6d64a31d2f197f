"""Words and numbers as reports say them: shares, lengths, forces, feet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from surefoot.robots.robot import Robot

NO_BREAK = "\N{NO-BREAK SPACE}"


def percent(share: float) -> str:
    """A share that is not nothing never reads as 0 %, nor one that is not all as 100 %."""
    if 0.0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1.0:
        return "more than 99 %"
    return f"{100.0 * share:.0f} %"


def length(metres: float) -> str:
    """A length in the unit that one would say: `3.4 mm`, `21 mm`, `1.25 m`, `170 m`."""
    if abs(metres) < 0.01:
        return f"{1000.0 * metres:.1f} mm"
    if abs(metres) < 1.0:
        return f"{1000.0 * metres:.0f} mm"
    return f"{metres:.2f} m" if abs(metres) < 10.0 else f"{metres:,.0f} m"


def newtons(force: float) -> str:
    """A force to two or three digits: `0.42 N`, `41 N`, `1,834 N`; what is not nothing is not 0."""
    size = abs(force)
    if 0.0 < size < 0.01:
        return f"{force:.1g}{NO_BREAK}N"
    digits = 0 if size >= 10.0 else 1 if size >= 1.0 else 2
    return f"{force:,.{digits}f}{NO_BREAK}N"


def moment(t: float, digits: int = 2) -> str:
    """A moment that does not part from its unit: `2.54 s`."""
    return f"{t:.{digits}f}{NO_BREAK}s"


def of_weight(share: float) -> str:
    """A force over the weight, in words: `12 % of the weight`, `2.4 times the weight`."""
    if share >= 2.0:
        return f"{share:,.{1 if share < 10.0 else 0}f} times the weight"
    if 0.0 < share < 0.001:
        return "less than 0.1 % of the weight"
    return f"{100.0 * share:.{1 if share < 0.1 else 0}f} % of the weight"


def foot_of(robot: Robot, link: str) -> str:
    """`left foot`, `right foot`, or nothing for a link without a sole."""
    return next((f"{sole.side} foot" for sole in robot.soles if sole.link == link), "")


def role_of(robot: Robot, link: str) -> str:
    """The colour in which a link's contacts are drawn."""
    side = foot_of(robot, link)
    return "left" if side.startswith("left") else "right" if side else "support"


def feet_of(robot: Robot, links: Sequence[str]) -> str:
    """Links as one says them: `left foot`, `both feet`, `left_hand`."""
    names = list(dict.fromkeys(foot_of(robot, link) or link for link in links))
    if "left foot" in names and "right foot" in names:
        names = ["both feet", *(name for name in names if not name.endswith(" foot"))]
    return ", ".join(names)


def without_folders(source: str) -> str:
    """A source without its folders where these say whose machine it was: reports are passed on."""
    path = PurePath(source)
    return path.name if path.is_absolute() else source


def counted(number: int, what: str) -> str:
    """`1 sample`, `2 samples`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
