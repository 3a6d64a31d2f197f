"""One self-contained HTML file from any values of surefoot: opens offline, in light and dark."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html import escape
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TypeVar, cast

from surefoot.errors import BadInput, Notice
from surefoot.motion.contact import Terrain
from surefoot.reports.chapters import Chapter, sorted_into, told_apart
from surefoot.reports.figures import without_prologue, write_whole
from surefoot.reports.parts import Block, Context, KeyFigure, Part, Rank
from surefoot.reports.phrases import without_folders
from surefoot.reports.player import Polygon, Scene, Track
from surefoot.reports.plots import own_ids
from surefoot.robots.robot import Robot
from surefoot.version import __version__

T = TypeVar("T")
Shown = TypeVar("Shown", Track, Polygon)
DRAWERS = {
    "surefoot.reports.trials:Trials": "surefoot.reports.trials:trials_part",
    "surefoot.simulation.verdict:Verdict": "surefoot.reports.simulation:verdict_part",
    "surefoot.adapters.adaptation:Adaptation": "surefoot.reports.adaptation:adaptation_part",
    "surefoot.index.index:Feasibility": "surefoot.reports.feasibility:feasibility_part",
    "surefoot.contacts.balance:Balance": "surefoot.reports.sections:balance_part",
    "surefoot.motion.motion:Clip": "surefoot.reports.sections:clip_part",
}
"""Which function draws which value, in the order in which they stand in a chapter.

To draw another, write one and give it a row.
"""
PAIRERS = {"surefoot.simulation.verdict:Verdict": "surefoot.reports.trials:paired"}
"""Which function puts values of a kind together that are shown as one, such as before and after."""
APART = {
    "surefoot.reports.trials:Trials": ", in simulation, before and after",
    "surefoot.simulation.verdict:Verdict": ", in simulation",
}
"""Values that stand in a chapter of their own, and what it is called after its clip."""
SCRIPTS = ("player_geometry.js", "player_stage.js", "player.js")
"""The player, in the order in which its files need one another."""
MOST_NAMES = 2  # of clips in a heading
MOST_ROWS = 200  # of a table; the rest is counted
LONG_CELL = 60  # signs; a column of such cells does not get narrower than a phone
FOLDED_ROWS = 14  # a longer table is folded away


Drawer = Callable[[object, Context], Part]
"""Turns a value into its part of a chapter."""


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
    shown = _put_together(values)
    chapters = sorted_into(shown, robot, lambda value: APART.get(_row(value), ""))
    for chapter in chapters:
        chapter.context = replace(chapter.context, all=tuple(shown))
    page = _page(chapters, title)
    write_whole(path, page)


def _drawer(value: object) -> Drawer:
    return cast("Drawer", _named(DRAWERS[_row(value)]))


def _named(path: str) -> object:
    """What a `module:name` of a table names."""
    module, name = path.split(":")
    return getattr(import_module(module), name)


def _put_together(values: Sequence[object]) -> list[object]:
    """The values, with those as one that are shown as one, where the first of them stood."""
    shown = list(values)
    for kind in dict.fromkeys(_row(value) for value in values):
        if kind in PAIRERS:
            pair = cast("Callable[[Sequence[object]], list[object]]", _named(PAIRERS[kind]))
            places = [i for i, value in enumerate(shown) if _row(value) == kind]
            made = pair([shown[i] for i in places])
            rest = [value for value in shown if _row(value) != kind]
            shown = [*rest[: places[0]], *made, *rest[places[0] :]]
    return shown


def _row(value: object) -> str:
    """Row of a value in the table of drawers.

    Raises:
        BadInput: it has none.
    """
    for kind in type(value).__mro__:
        row = f"{kind.__module__}:{kind.__qualname__}"
        if row in DRAWERS:
            return row
    given = (row for row in DRAWERS if not row.startswith("surefoot.reports."))
    known = ", ".join(sorted(row.split(":")[1] for row in given))
    raise BadInput(
        what=f"no report can show a {type(value).__name__}",
        todo=f"It can show: {known}",
    )


def _page(chapters: Sequence[Chapter], title: str) -> str:
    """The whole page."""
    names = told_apart([chapter.name for chapter in chapters])
    listed = list(dict.fromkeys(names))
    more = [f"and {len(listed) - MOST_NAMES} more"] if len(listed) > MOST_NAMES + 1 else []
    heading = _without_folders(title) or ", ".join(
        [*listed[:MOST_NAMES], *more] if more else listed
    )
    own = files("surefoot.reports")
    parts = [_parts(chapter) for chapter in chapters]
    body = "".join(
        _article(found, name if len(chapters) > 1 else "", i)
        for i, (found, name) in enumerate(zip(parts, names, strict=True))
    )
    scripts = "\n".join((own / name).read_text("utf-8") for name in SCRIPTS)
    return string.Template((own / "page.html").read_text("utf-8")).substitute(
        title=escape(heading),
        style=(own / "page.css").read_text("utf-8"),
        script=f'"use strict";\n(() => {{\n{scripts}}})();',
        version=escape(__version__),
        body=_ranking(parts, names) + body,
    )


def _without_folders(title: str) -> str:
    """A title with the names of files instead of where they lie: reports are passed on."""
    return " ".join(map(without_folders, title.split(" ")))


def _parts(chapter: Chapter) -> list[Part]:
    """What the values of a chapter add to it, each knowing of the others."""
    found = []
    rows = list(DRAWERS)
    for value in sorted(chapter.values, key=lambda value: rows.index(_row(value))):
        beside = tuple(other for other in chapter.values if other is not value)
        found.append(_drawer(value)(value, replace(chapter.context, beside=beside)))
    return found


def _ranking(chapters: Sequence[Sequence[Part]], names: Sequence[str]) -> str:
    """A table of the chapters that can be ranked, the best first, where there are several."""
    kinds: dict[tuple[str, ...], list[tuple[Rank, int]]] = {}
    for i, parts in enumerate(chapters):
        for rank in (part.rank for part in parts if part.rank is not None):
            kinds.setdefault(tuple(dict(rank.cells)), []).append((rank, i))
    return "".join(_ranked(rows, names) for rows in kinds.values() if len(rows) > 1)


def _ranked(rows: list[tuple[Rank, int]], names: Sequence[str]) -> str:
    """One table of ranks with the same columns."""
    rows.sort(key=lambda row: row[0].score)
    head = "".join(
        f'<th scope="col">{escape(text)}</th>' for text in ("", "clip", *dict(rows[0][0].cells))
    )
    body = "".join(
        f'<tr><td>{place}</td><td><a href="#c{i}">{escape(names[i])}</a></td>'
        + "".join(f"<td>{escape(text)}</td>" for _, text in rank.cells)
        + "</tr>"
        for place, (rank, i) in enumerate(rows, start=1)
    )
    return (
        '<section class="ranking"><h2>Ranking</h2><p>The best first.</p>'
        '<div class="scroll" tabindex="0"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></section>"
    )


def _article(parts: Sequence[Part], name: str, number: int) -> str:
    """One chapter; a page's only one has no heading of its own."""
    lede = "".join(f"<p>{escape(text)}</p>" for part in parts for text in part.sentences)
    head = f"<h2>{escape(name)}</h2>" if name else ""
    figures = "".join(_figure(item) for part in parts for item in part.figures)
    blocks = [block for part in parts for block in part.blocks]
    blocks += _closing(parts)
    sections = "".join(_block(block, f"c{number}s{i}") for i, block in enumerate(blocks))
    return (
        f'<article id="c{number}">{head}<div class="lede">{lede}</div>'
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
    if len(block.rows) <= max(FOLDED_ROWS, block.open_rows):
        return _rows(block, 0, len(block.rows))
    seen = block.open_rows
    folded = _rows(block, seen, MOST_ROWS)
    if len(block.rows) > MOST_ROWS:
        folded += f"<p>and {len(block.rows) - MOST_ROWS} more</p>"
    count = f"{len(block.rows) - seen} {'more' if seen else 'rows'}"
    details = f"<details><summary>{count}</summary>{folded}</details>"
    return (_rows(block, 0, seen) if seen else "") + details


def _rows(block: Block, first: int, stop: int) -> str:
    rows = block.rows[first:stop]
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in block.head)
    heads = block.head or ("",) * len(rows[0])
    body = "".join(f"<tr>{''.join(map(_cell, row, heads))}</tr>" for row in rows)
    top = f"<thead><tr>{head}</tr></thead>" if any(block.head) else ""
    worded = any(block.head) and any(len(cell) > LONG_CELL for row in rows for cell in row)
    kind = ' class="worded"' if worded else ""  # on a phone each row is a card
    return f'<div class="scroll" tabindex="0"><table{kind}>{top}<tbody>{body}</tbody></table></div>'


def _cell(text: str, head: str) -> str:
    if len(text) > LONG_CELL:
        return f'<td class="long">{escape(text)}</td>'
    return f'<td data-head="{escape(head)}">{escape(text)}</td>'


def _legend(scene: Scene) -> str:
    """What each mark in the player means; a mark has a shape, not only a colour."""
    marks = {
        "judged": (("good", "●", "inside the support"), ("bad", "✕", "outside it")),
        "plumb": (("com", "◇", "above the ground"),),
        "pressed": (("zmp", "■", ""),),
    }
    rows = [
        (*row, track.name)
        for track in scene.tracks
        if track.actor == 0  # the other one's look the same
        for row in marks[track.mark]
    ]
    rows += [
        ("support", "▱", "polygon", polygon.name)
        for polygon in scene.polygons
        if polygon.actor == 0
    ]
    shown = " ".join(
        f'<span><b class="{tone}">{sign}</b> {escape(f"{name} {text}".strip())}</span>'
        for tone, sign, text, name in rows
    )
    judged = '<b class="good">↑</b><b class="bad">↑</b>'
    arrows = {
        f"{judged} {escape(arrow.name)}, red and broken where it cannot be given"
        if arrow.judged
        else f'<b class="good">↑</b> {escape(arrow.name)}'
        for arrow in scene.arrows
        if arrow.actor == 0
    }
    return shown + "".join(f" <span>{text}</span>" for text in sorted(arrows))


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)


def _first_of_each(things: Iterable[Shown]) -> tuple[Shown, ...]:
    """Tracks or polygons, without those of an actor whose name another one has already."""
    found: dict[tuple[str, int], Shown] = {}
    for thing in things:
        found.setdefault((thing.name, thing.actor), thing)
    return tuple(found.values())


def _player(parts: Sequence[Part], number: int) -> str:
    """The player with its data, where something moves."""
    parts = [part for part in parts if len(part.actors) > 1][:1] or parts
    actors = max((part.actors for part in parts), key=len, default=())
    if not actors:
        return ""
    scene = Scene(
        actors,
        _first_of_each(track for part in parts for track in part.tracks),
        _first_of_each(polygon for part in parts for polygon in part.polygons),
        max((part.stances for part in parts), key=len),
        _first(part.worst_at for part in parts),
        _first(part.terrain for part in parts) or Terrain(),
        tuple(arrow for part in parts for arrow in part.arrows),
        _first(part.curve for part in parts),
        _first(part.opens_at for part in parts),
        _first(part.compared for part in parts),
    )
    data = json.dumps(scene.as_json(), separators=(",", ":"), allow_nan=False)
    own = files("surefoot.reports")
    return string.Template((own / "player.html").read_text("utf-8")).substitute(
        scene=f"scene-{number}",
        label=escape(f"{actors[0].name} in motion, drawn from its poses"),
        legend=_legend(scene),
        data=data.replace("<", "\\u003c"),
    )
