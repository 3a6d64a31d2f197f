"""The values of a report sorted into chapters, each about one clip on one robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from surefoot.errors import BadInput, SurefootError
from surefoot.motion.motion import Clip
from surefoot.reports.parts import Context
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot


@dataclass(slots=True)
class Chapter:
    """A clip on a robot, and what is shown of it."""

    context: Context
    values: list[object] = field(default_factory=list)
    what: str = ""
    """Said after the name of the clip."""

    @property
    def name(self) -> str:
        """The clip and its robot."""
        clip, robot = self.context.clip, self.context.robot
        if clip is None:
            return "Findings"
        source = Path(clip.meta.source).name or "clip"
        return (f"{source} on {robot.name}" if robot else source) + self.what


def sorted_into(
    values: Sequence[object], robot: Robot | None, apart: Callable[[object], str]
) -> list[Chapter]:
    """The values sorted into chapters, each with its clip and robot.

    Args:
        apart: of a value that stands in a chapter of its own, what that is called after its clip.
    """
    chapters = [
        Chapter(Context(value, _robot_of(value, robot)), [value])
        for value in values
        if isinstance(value, Clip)
    ]
    own: list[Chapter] = []
    lone = Chapter(Context(robot=robot))
    opened = 0
    for value in values:
        if isinstance(value, Clip):
            opened += 1
            continue
        # The nearest clip above it, else the nearest below, that it was computed from.
        near = [*reversed(chapters[:opened]), *chapters[opened:]]
        what = apart(value)
        home = None if what else _home(value, near)
        if home is not None:
            home.values.append(value)
        elif isinstance(clip := getattr(value, "clip", None), Clip):
            body = _robot_of(clip, getattr(value, "robot", robot))
            own.append(Chapter(Context(clip, body), [value], what))
        else:
            lone.values.append(value)
    return [*chapters, *own] + ([lone] if lone.values else [])


def _home(value: object, chapters: Sequence[Chapter]) -> Chapter | None:
    """The first chapter about the value's clip: of that very clip, else of one of its name.

    A chapter holds one finding of a kind; the next one about the same clip stands by itself.
    """
    about = [chapter for chapter in chapters if _is_about(value, chapter.context)]
    same = [c for c in about if c.context.clip is getattr(value, "clip", None)]
    free = (c for c in [*same, *about] if all(type(v) is not type(value) for v in c.values))
    return next(free, None)


def _is_about(value: object, context: Context) -> bool:
    """Whether a finding names or holds this clip and this robot, and spans the same time."""
    clip, robot = context.clip, context.robot
    if clip is None or _named(getattr(value, "clip", None)) != clip.meta.source:
        return False
    if robot is not None and _named(getattr(value, "robot", robot)) != robot.name:
        return False
    time = getattr(value, "time", clip.motion.time)
    spans = (time[0] - clip.motion.time[0], time[-1] - clip.motion.time[-1])
    return bool(max(abs(spans[0]), abs(spans[1])) < 1e-6)


def _named(thing: object) -> object:
    """What a clip or a robot is called, held or named."""
    if isinstance(thing, Clip):
        return thing.meta.source
    return thing.name if isinstance(thing, Robot) else thing


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


def told_apart(names: Sequence[str]) -> list[str]:
    """The names, with a number where one has been there before."""
    before = [names[:i].count(name) for i, name in enumerate(names)]
    return [
        f"{name} ({count + 1})" if count else name
        for name, count in zip(names, before, strict=True)
    ]
