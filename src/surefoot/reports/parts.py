"""What values add to a page: sentences, figures, blocks, and things for a player."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.errors import Notice
from surefoot.motion.contact import Terrain
from surefoot.motion.motion import Clip
from surefoot.reports.player import Actor, Arrow, Curve, Polygon, Span, Track
from surefoot.robots.robot import Robot


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One number that is worth a large type."""

    label: str
    value: str
    note: str = ""
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """One section of a chapter: a heading, a sentence, plots or pictures or a table."""

    title: str
    text: str = ""
    svgs: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    open_rows: int = 0
    """How many rows of a long table are seen before it is unfolded."""


@dataclass(frozen=True, slots=True)
class Rank:
    """A line of the table that stands on top where a report has several of them."""

    score: float
    """The smaller, the higher it stands."""
    cells: tuple[tuple[str, str], ...]
    """What each column is called, and what stands there."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one value adds to its chapter."""

    sentences: tuple[str, ...] = ()
    figures: tuple[KeyFigure, ...] = ()
    blocks: tuple[Block, ...] = ()
    notices: tuple[Notice, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
    actors: tuple[Actor, ...] = ()
    tracks: tuple[Track, ...] = ()
    polygons: tuple[Polygon, ...] = ()
    stances: tuple[Span, ...] = ()
    worst_at: float | None = None
    terrain: Terrain | None = None
    arrows: tuple[Arrow, ...] = ()
    curve: Curve | None = None
    opens_at: float | None = None
    """Where the player begins; else at the first frame."""
    compared: Curve | None = None
    """The curve of the second actor. A part with two actors has the player for itself."""
    rank: Rank | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What the values of one chapter share."""

    clip: Clip | None = None
    robot: Robot | None = None
    beside: tuple[object, ...] = ()
    """The other values of the chapter: what they show need not be shown twice."""
    all: tuple[object, ...] = ()
    """All values of the report."""
