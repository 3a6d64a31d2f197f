"""One self-contained HTML file from any values of surefoot: opens offline, in light and dark."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import cast

from surefoot.errors import BadInput, Notice, SurefootError
from surefoot.motion.contact import Terrain
from surefoot.motion.motion import Clip
from surefoot.reports.figures import without_prologue, write_whole
from surefoot.reports.player import Actor, Polygon, Scene, Span, Track
from surefoot.reports.plots import own_ids
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot
from surefoot.version import __version__

DRAWERS = {
    "surefoot.contacts.balance:Balance": "surefoot.reports.sections:balance_part",
    "surefoot.motion.motion:Clip": "surefoot.reports.sections:clip_part",
}
"""Which function draws which value; to draw another, write one and give it a row."""
MOST_ROWS = 200  # of a table; the rest is counted
FOLDED_ROWS = 14  # a longer table is folded away


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


@dataclass(frozen=True, slots=True)
class Context:
    """What the values of one chapter share."""

    clip: Clip | None = None
    robot: Robot | None = None


Drawer = Callable[[object, Context], Part]
"""Turns a value into its part of a chapter."""


@dataclass(slots=True)
class _Chapter:
    context: Context
    values: list[object] = field(default_factory=list)
    """Findings first, the clip that they are about last."""


def report(
    values: Sequence[object], path: str | Path, *, robot: Robot | None = None, title: str = ""
) -> None:
    """One HTML file that shows the values, whole or not at all.

    Each clip opens a chapter; what was found out about a clip stands in its chapter.

    Args:
        robot: who moves; without it the robots that the clips name are loaded from the zoo.
        title: the heading; without it the names of the clips.

    Raises:
        BadInput: nothing to show, a value that no report can show, or a clip without a robot.
        NoFile: the file cannot be written.

    Example:
        >>> import surefoot as sf
        >>> from surefoot.samples import bundled
        >>> robot = sf.load_robot("human25")
        >>> report([sf.retarget(bundled.load("sidestep"), robot)], "sidestep.html", robot=robot)
        >>> Path("sidestep.html").exists()
        True
    """
    if not values:
        raise BadInput(what="no value to report", todo="Give a list such as [clip, balance]")
    chapters = _chapters(values, robot)
    page = _page(chapters, title)
    write_whole(path, page)


def _chapters(values: Sequence[object], robot: Robot | None) -> list[_Chapter]:
    """The values sorted into chapters, each with its clip and robot."""
    for value in values:
        _drawer(value)
    chapters = [
        _Chapter(Context(value, _robot_of(value, robot)), [value])
        for value in values
        if isinstance(value, Clip)
    ]
    lone = _Chapter(Context(robot=robot))
    opened = 0
    for value in values:
        if isinstance(value, Clip):
            opened += 1
            continue
        # The nearest clip above it, else the nearest below, that it was computed from.
        near = [*reversed(chapters[:opened]), *chapters[opened:]]
        home = next((chapter for chapter in near if _is_about(value, chapter.context)), lone)
        home.values.insert(len(home.values) - (home is not lone), value)
    return chapters + ([lone] if lone.values else [])


def _is_about(value: object, context: Context) -> bool:
    """Whether a finding names this clip and this robot, and spans the same time."""
    clip, robot = context.clip, context.robot
    if clip is None or getattr(value, "clip", None) != clip.meta.source:
        return False
    if robot is not None and getattr(value, "robot", robot.name) != robot.name:
        return False
    time = getattr(value, "time", clip.motion.time)
    spans = (time[0] - clip.motion.time[0], time[-1] - clip.motion.time[-1])
    return bool(max(abs(spans[0]), abs(spans[1])) < 1e-6)


def _robot_of(clip: Clip, robot: Robot | None) -> Robot:
    if robot is not None:
        return robot
    if not clip.robot:
        raise BadInput(
            what="the clip names no robot",
            where=clip.meta.source or "report",
            todo="Give report(..., robot=surefoot.load_robot(NAME))",
        )
    try:
        return load_robot(clip.robot)
    except SurefootError as error:
        raise BadInput(
            what=f"robot '{clip.robot}' of the clip cannot be loaded: {error.what}",
            where=clip.meta.source or "report",
            todo="Give report(..., robot=surefoot.load_robot(PATH))",
        ) from error


def _drawer(value: object) -> Drawer:
    for kind in type(value).__mro__:
        row = DRAWERS.get(f"{kind.__module__}:{kind.__qualname__}")
        if row is not None:
            module, name = row.split(":")
            return cast("Drawer", getattr(import_module(module), name))
    known = ", ".join(sorted(row.split(":")[1] for row in DRAWERS))
    raise BadInput(
        what=f"no report can show a {type(value).__name__}",
        todo=f"It can show: {known}",
    )


def _page(chapters: Sequence[_Chapter], title: str) -> str:
    """The whole page."""
    names = [_name(chapter.context) for chapter in chapters]
    heading = title or ", ".join(dict.fromkeys(names))
    own = files("surefoot.reports")
    body = "".join(
        _article(chapter, name if len(chapters) > 1 else "", i)
        for i, (chapter, name) in enumerate(zip(chapters, names, strict=True))
    )
    return string.Template((own / "page.html").read_text("utf-8")).substitute(
        title=escape(heading),
        style=(own / "page.css").read_text("utf-8"),
        script=(own / "player.js").read_text("utf-8"),
        version=escape(__version__),
        body=body,
    )


def _name(context: Context) -> str:
    if context.clip is None:
        return "Findings"
    source = Path(context.clip.meta.source).name or "clip"
    return f"{source} on {context.robot.name}" if context.robot else source


def _article(chapter: _Chapter, name: str, number: int) -> str:
    """One chapter; a page's only one has no heading of its own."""
    parts = [_drawer(value)(value, chapter.context) for value in chapter.values]
    lede = "".join(f"<p>{escape(text)}</p>" for part in parts for text in part.sentences)
    head = f"<h2>{escape(name)}</h2>" if name else ""
    figures = "".join(_figure(item) for part in parts for item in part.figures)
    blocks = [block for part in parts for block in part.blocks]
    blocks += _closing(parts)
    sections = "".join(_block(block, f"c{number}s{i}") for i, block in enumerate(blocks))
    return (
        f'<article>{head}<div class="lede">{lede}</div>'
        f'<dl class="figures">{figures}</dl>{_player(parts, number)}{sections}</article>'
    )


def _closing(parts: Sequence[Part]) -> list[Block]:
    """What every chapter ends with: notices and where things come from."""
    notices = list(dict.fromkeys(notice for part in parts for notice in part.notices))
    blocks = []
    if notices:
        rows = tuple((n.kind, n.part, n.sentence, _when(n)) for n in notices)
        text = "What was repaired, assumed or dropped on the way."
        blocks.append(Block("Notices", text, head=("kind", "part", "what", "when"), rows=rows))
    rows_of = tuple(dict.fromkeys(row for part in parts for row in part.provenance))
    version = ("made by", f"surefoot {__version__}")
    return [*blocks, Block("Provenance", head=("", ""), rows=(*rows_of, version))]


def _when(notice: Notice) -> str:
    if notice.t0 is None:
        return ""
    span = f"{notice.t0:.2f} s" + (f" to {notice.t1:.2f} s" if notice.t1 is not None else "")
    return span.replace(" s", "\N{NO-BREAK SPACE}s")


def _figure(item: KeyFigure) -> str:
    state = ' class="bad"' if item.bad else ""
    note = f"<small>{escape(item.note)}</small>" if item.note else ""
    return f"<div{state}><dt>{escape(item.label)}</dt><dd>{escape(item.value)}{note}</dd></div>"


def _block(block: Block, ids: str) -> str:
    text = f"<p>{escape(block.text)}</p>" if block.text else ""
    drawings = "".join(
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(block.title)}">'
        f"{own_ids(without_prologue(svg), f'{ids}d{i}')}</div>"
        for i, svg in enumerate(block.svgs)
    )
    return f"<section><h3>{escape(block.title)}</h3>{text}{drawings}{_table(block)}</section>"


def _table(block: Block) -> str:
    if not block.rows:
        return ""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in block.head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in block.rows[:MOST_ROWS]
    )
    top = f"<thead><tr>{head}</tr></thead>" if any(block.head) else ""
    table = f'<div class="scroll" tabindex="0"><table>{top}<tbody>{body}</tbody></table></div>'
    rest = len(block.rows) - MOST_ROWS
    if rest > 0:
        table += f"<p>and {rest} more</p>"
    if len(block.rows) > FOLDED_ROWS:
        return f"<details><summary>{len(block.rows)} rows</summary>{table}</details>"
    return table


def _legend(scene: Scene) -> str:
    """What each mark in the player means; a mark has a shape, not only a colour."""
    marks = {
        "judged": (("good", "●", "inside the support"), ("bad", "✕", "outside it")),
        "plumb": (("com", "◇", "above the ground"),),
    }
    rows = [(*row, track.name) for track in scene.tracks for row in marks[track.mark]]
    rows += [("support", "▱", "polygon", polygon.name) for polygon in scene.polygons]
    return " ".join(
        f'<span><b class="{tone}">{sign}</b> {escape(f"{name} {text}")}</span>'
        for tone, sign, text, name in rows
    )


def _player(parts: Sequence[Part], number: int) -> str:
    """The player with its data, where something moves."""
    actors = tuple(actor for part in parts for actor in part.actors)
    if not actors:
        return ""
    worst = [part.worst_at for part in parts if part.worst_at is not None]
    terrain = [part.terrain for part in parts if part.terrain is not None]
    scene = Scene(
        actors,
        tuple(track for part in parts for track in part.tracks),
        tuple(polygon for part in parts for polygon in part.polygons)[:1],
        tuple(span for part in parts for span in part.stances),
        worst[0] if worst else None,
        *terrain[:1],
    )
    data = json.dumps(scene.as_json(), separators=(",", ":"), allow_nan=False)
    own = files("surefoot.reports")
    return string.Template((own / "player.html").read_text("utf-8")).substitute(
        scene=f"scene-{number}",
        label=escape(f"{actors[0].name} in motion, drawn from its poses"),
        legend=_legend(scene),
        data=data.replace("<", "\\u003c"),
    )
