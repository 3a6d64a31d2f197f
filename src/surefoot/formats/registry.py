"""The one door to files: what a file is, reading it, writing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Literal, cast

from surefoot.errors import BadOption, Notice, UnknownFormat, UnknownName, nearest
from surefoot.formats import Facts
from surefoot.formats.files import place, read_bytes, shown
from surefoot.motion.human import HumanClip, has_t_pose_row
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

Kind = Literal["human", "robot"]
Sniff = Callable[[bytes], tuple[bool, str]]
Read = Callable[[str | Path], tuple[HumanClip | Clip, Facts]]
Write = Callable[[HumanClip | Clip, str | Path], None]


@dataclass(frozen=True, slots=True)
class Format:
    """One row of the table; strings only, so that listing formats imports none."""

    kind: Kind
    """Whose motion its files hold."""
    ending: str
    """How names of its files end; decides only where the content does not."""
    help: str
    sniff: str
    """module:function of bytes, which gives whether they fit, and why: the rest of "it ..."."""
    read: str
    """module:function of a path, which gives the clip and `Facts`."""
    write: str
    """module:function of a clip and a path."""


FORMATS: dict[str, Format] = {
    "bvh": Format(
        kind="human",
        ending=".bvh",
        help="a person's skeleton and Euler angles, as text",
        sniff="surefoot.formats.bvh:sniff",
        read="surefoot.formats.bvh:read_with_facts",
        write="surefoot.formats.bvh:write",
    ),
    "native": Format(
        kind="robot",
        ending=".clip.npz",
        help="everything that a robot clip holds",
        sniff="surefoot.formats.native:sniff",
        read="surefoot.formats.native:read_with_facts",
        write="surefoot.formats.native:write",
    ),
}
"""All formats by name, in the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a file is thought to be."""

    format: str
    kind: Kind
    why: str


def sniff(path: str | Path) -> Guess:
    """What a file is, told by its content, and by its ending only where that says nothing.

    Raises:
        NoFile: not there, a folder, no permission.
        BadFile: empty, or a Git LFS pointer.
        UnknownFormat: nothing fits, with what was tried.
    """
    data = read_bytes(path)
    tried = []
    for name, row in FORMATS.items():
        fits, why = cast("Sniff", _function(row.sniff))(data)
        if fits:
            return Guess(name, row.kind, f"it {why}")
        tried.append(f"{name}: it {why}")
    for name, row in FORMATS.items():
        if Path(path).name.lower().endswith(row.ending):
            return Guess(name, row.kind, f"its name ends in {row.ending}; its content says nothing")
    raise UnknownFormat(
        what="the file fits no known format: " + "; ".join(tried),
        where=place(path),
        todo="Say which it is with --from FORMAT",
    )


def read(
    path: str | Path,
    *,
    robot: Robot | None = None,
    fps: float | None = None,
    format: str | None = None,
) -> HumanClip | Clip:
    """The human clip or robot clip of a file, whatever its format.

    A robot clip without contacts gets them detected where the robot is given, with a notice.

    Args:
        robot: whose joints a robot file holds.
        fps: frames a second, for files that do not say it.
        format: a name of FORMATS, instead of a guess.

    Raises:
        NoFile: not there, a folder, no permission.
        BadFile: what it holds cannot be used, all faults together.
        UnknownFormat: nothing fits, with what was tried.
        UnknownSkeleton: joint names of no known family.
        BadOption: a frame rate for a file that has its own.

    Example:
        >>> from surefoot.samples import bundled
        >>> human = read(bundled.path("sidestep"))
        >>> human.skeleton.scheme
        'lafan1'
    """
    name = _known(format) if format is not None else sniff(path).format
    if fps is not None:
        raise BadOption(
            what=f"the frame rate is in the file, but {fps:g} was given",
            where=f"{place(path)}, {name}",
            todo="Leave --fps away",
        )
    value, facts = cast("Read", _function(FORMATS[name].read))(path)
    if isinstance(value, Clip) and not facts.has_contacts:
        return _with_contacts(value, robot)
    return value


def write(value: HumanClip | Clip, path: str | Path, *, format: str | None = None) -> None:
    """Write a clip in the format that the name ends in, or in the one named.

    Raises:
        BadOption: the format does not hold clips of this kind.
        UnknownFormat: no format's files end so.
        BadMotion: the format cannot hold this clip.
        NoFile: the path cannot be written.

    Example:
        >>> from surefoot.samples.generator import make
        >>> write(make("sidestep", seed=3), "sidestep3.bvh")
        >>> sniff("sidestep3.bvh").format
        'bvh'
    """
    kind: Kind = "robot" if isinstance(value, Clip) else "human"
    if format is not None:
        name = _known(format)
    else:
        name = _by_ending(path, kind)
    if FORMATS[name].kind != kind:
        raise BadOption(
            what=f"{name} files hold {FORMATS[name].kind} clips, and this is a {kind} clip",
            where=place(path),
            todo="Retarget it first" if kind == "human" else "Choose one of " + _names_of(kind),
        )
    cast("Write", _function(FORMATS[name].write))(value, path)


def describe(path: str | Path, *, format: str | None = None) -> dict[str, object]:
    """What `surefoot info --json` says about a file.

    Raises:
        NoFile: not there, a folder, no permission.
        BadFile: what it holds cannot be used, all faults together.
        UnknownFormat: nothing fits, with what was tried.
        UnknownSkeleton: joint names of no known family.
    """
    if format is not None:
        guess = Guess(_known(format), FORMATS[format].kind, "it was said to be")
    else:
        guess = sniff(path)
    value, facts = cast("Read", _function(FORMATS[guess.format].read))(path)
    table: dict[str, object] = {"format": guess.format, "why": guess.why, "kind": guess.kind}
    timed = value.motion if isinstance(value, Clip) else value
    table |= {"frames": timed.n, "fps": timed.fps, "duration_s": timed.duration}
    table |= {"unit": facts.unit, "up_axis": facts.up_axis, "quaternion": facts.quaternion}
    if isinstance(value, Clip):
        names = value.motion.joint_names
        stances = len(value.contacts.stances) if facts.has_contacts else None
        table |= {"robot": value.robot, "contacts": stances, "t_pose_first": False}
    else:
        names = value.skeleton.joint_names
        scheme = value.skeleton.scheme
        table |= {"skeleton": scheme, "contacts": None, "t_pose_first": has_t_pose_row(value)}
    notices = [notice.summary() for notice in value.notices]
    return table | {"joints": len(names), "notices": notices}


def _function(target: str) -> object:
    """What a `module:function` of the table names, imported when it is first needed."""
    module, _, name = target.partition(":")
    found: object = getattr(import_module(module), name)
    return found


def _known(name: str) -> str:
    if name not in FORMATS:
        raise UnknownName(what=f"no format is called '{shown(name)}'", todo=nearest(name, FORMATS))
    return name


def _names_of(kind: Kind) -> str:
    return ", ".join(f"{name} (*{row.ending})" for name, row in FORMATS.items() if row.kind == kind)


def _by_ending(path: str | Path, kind: Kind) -> str:
    """The format whose files end as the path does; `.npz` alone is enough for the native one."""
    end = Path(path).name.lower()
    fitting = [name for name, row in FORMATS.items() if end.endswith(row.ending)]
    if not fitting and end.endswith(".npz"):
        return "native"
    if not fitting:
        raise UnknownFormat(
            what=f"no format's files end like '{place(Path(path).name)}'",
            where=place(path),
            todo=f"A {kind} clip can be written as {_names_of(kind)}, or say --to FORMAT",
        )
    return fitting[0]


def _with_contacts(clip: Clip, robot: Robot | None) -> Clip:
    """The clip with contacts found in its motion, and a notice of it."""
    if robot is None:
        notice = Notice("assumption", "contacts", "the file carries no contacts; none are assumed")
        return replace(clip, notices=(*clip.notices, notice))
    # Imported here: it brings the compiled kernels, which reading a file does not need.
    from surefoot.contacts.detect import detect

    contacts = detect(clip.motion, robot, terrain=clip.terrain)
    notice = Notice(
        "assumption",
        "contacts",
        f"the file carries no contacts; {len(contacts.stances)} stances were found in the motion",
        value=float(len(contacts.stances)),
    )
    return replace(
        clip,
        contacts=contacts,
        meta=clip.meta.then("detect contacts", robot=robot.name),
        notices=(*clip.notices, notice),
    )
