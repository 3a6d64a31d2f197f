"""The one door to files: what a file is, reading it, writing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from surefoot.errors import BadOption, Notice, UnknownFormat, UnknownName, nearest
from surefoot.formats import Facts
from surefoot.formats.files import place, read_bytes, shown
from surefoot.formats.record import Record, strange, touching
from surefoot.formats.surroundings import Given, with_contacts, with_terrain
from surefoot.motion.contact import ContactSchedule, Terrain
from surefoot.motion.human import HumanClip, has_t_pose_row
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

if TYPE_CHECKING:
    from surefoot.contacts.detect import Options

Kind = Literal["human", "robot"]
Sniff = Callable[[bytes], tuple[bool, str]]
Read = Callable[[str | Path], tuple[HumanClip | Clip | Record, Facts]]
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
    """module:function of a path, which gives the clip and `Facts`, or the record of a robot clip
    that is still to be fitted to its robot."""
    write: str = ""
    """module:function of a clip and a path; empty where it is only read."""
    ending_tells: bool = True
    """Whether a file is believed to be of this format by its ending alone."""
    holds_rate: bool = True
    """Whether its files say how many frames a second they hold."""
    uneven: bool = False
    """Whether its frames may lie unevenly in time, as those of a re-timed clip do."""


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
        uneven=True,
    ),
    "unitree-csv": Format(
        kind="robot",
        ending=".csv",
        help="a table: root x y z, quaternion x y z w, joints",
        sniff="surefoot.formats.unitree:sniff",
        read="surefoot.formats.unitree:read_with_facts",
        write="surefoot.formats.unitree:write",
        holds_rate=False,
    ),
    "wxyz-csv": Format(
        kind="robot",
        ending=".csv",
        help="the same table with quaternions w x y z",
        sniff="surefoot.formats.unitree:sniff_wxyz",
        read="surefoot.formats.unitree:read_wxyz",
        ending_tells=False,
        holds_rate=False,
    ),
    "holosoma": Format(
        kind="robot",
        ending=".npz",
        help="arrays of poses with joint names, as holosoma trains on",
        sniff="surefoot.formats.holosoma:sniff",
        read="surefoot.formats.holosoma:read_with_facts",
        ending_tells=False,
    ),
    "mjlab": Format(
        kind="robot",
        ending=".npz",
        help="arrays of joints and bodies without names, as mjlab trains on",
        sniff="surefoot.formats.mjlab:sniff",
        read="surefoot.formats.mjlab:read_with_facts",
        ending_tells=False,
    ),
    "gmr": Format(
        kind="robot",
        ending=".pkl",
        help="a pickle of root and joints, by GMR, TWIST and GMT",
        sniff="surefoot.formats.gmr:sniff",
        read="surefoot.formats.gmr:read_with_facts",
    ),
    "asap": Format(
        kind="robot",
        ending=".pkl",
        help="a joblib pickle of one motion, by ASAP and PBHC",
        sniff="surefoot.formats.asap:sniff",
        read="surefoot.formats.asap:read_with_facts",
        ending_tells=False,
    ),
}
"""All formats by name, in the order in which they are tried."""

ALIASES = {"unitree": "unitree-csv"}


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
    tried: dict[str, list[str]] = {}
    for name, row in FORMATS.items():
        fits, why = cast("Sniff", _function(row.sniff))(data)
        if fits:
            return Guess(name, row.kind, f"it {why}")
        tried.setdefault(why, []).append(name)
    for name, row in FORMATS.items():
        if row.ending_tells and Path(path).name.lower().endswith(row.ending):
            return Guess(name, row.kind, f"its name ends in {row.ending}; its content says nothing")
    raise UnknownFormat(
        what="the file fits no known format: "
        + "; ".join(f"{', '.join(names)}: it {why}" for why, names in tried.items()),
        where=place(path),
        todo="Say which it is with --from FORMAT",
    )


def read(
    path: str | Path,
    *,
    robot: Robot | None = None,
    fps: float | None = None,
    format: str | None = None,
    terrain: Terrain | None = None,
    contacts: ContactSchedule | None = None,
    detection: Options | None = None,
) -> HumanClip | Clip:
    """The human clip or robot clip of a file, whatever its format.

    A robot clip without contacts gets them detected where the robot is given, with a notice. Its
    ground is that of `<stem>.terrain.toml` beside it, where there is one.

    Args:
        robot: whose joints a robot file holds.
        fps: frames a second, for files that do not say it.
        format: a name of FORMATS, instead of a guess.
        terrain: the ground of a robot clip, instead of any other.
        contacts: the stances of a robot clip, instead of any other.
        detection: how contacts are found where they must be.

    Raises:
        NoFile: not there, a folder, no permission.
        BadFile: what it holds cannot be used, all faults together, or contradicts the robot.
        UnknownFormat: nothing fits, with what was tried.
        UnknownSkeleton: joint names of no known family.
        BadOption: a frame rate for a file that has its own, or out of range; no robot for a file
            without joint names.

    Example:
        >>> from surefoot.samples import bundled
        >>> human = read(bundled.path("sidestep"))
        >>> human.skeleton.scheme
        'lafan1'
    """
    name = _known(format) if format is not None else sniff(path).format
    value, facts = _read(path, name, fps)
    given = Given(terrain, contacts, detection)
    if isinstance(value, HumanClip):
        return _without_surroundings(value, given)
    feet = None
    if isinstance(value, Record):
        feet = value.feet
        value = _fitted(value, robot, fps, path)
    clip = with_terrain(value, path, terrain)
    return with_contacts(clip, robot, given, carried=facts.has_contacts, feet=feet)


def _read(
    path: str | Path, name: str, fps: float | None
) -> tuple[HumanClip | Clip | Record, Facts]:
    """What the format's reader makes of a file, unless a rate is given that it has."""
    if fps is not None and FORMATS[name].holds_rate:
        raise BadOption(
            what=f"the frame rate is in the file, but {fps:g} was given",
            where=f"{place(path)}, {name}",
            todo="Leave --fps away",
        )
    return cast("Read", _function(FORMATS[name].read))(path)


def _fitted(record: Record, robot: Robot | None, fps: float | None, path: str | Path) -> Clip:
    # Imported here: it brings the compiled kernels, which reading a human clip does not need.
    from surefoot.formats.fitting import fitted

    return fitted(record, robot, fps=fps, where=place(path))


def _without_surroundings(human: HumanClip, given: Given) -> HumanClip:
    """The human clip; what was given for a robot clip is said to be unused."""
    names = [name for name in ("terrain", "contacts", "detection") if getattr(given, name)]
    if not names:
        return human
    sentence = f"{' and '.join(names)} belong to a robot clip and are not used in reading a person"
    return replace(human, notices=(*human.notices, Notice("dropped", names[0], sentence)))


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
    if not FORMATS[name].write:
        raise BadOption(
            what=f"{name} files are read, but not written",
            where=place(path),
            todo="Choose one of " + _names_of(kind),
        )
    cast("Write", _function(FORMATS[name].write))(value, path)


def format_of(path: str | Path, name: str | None = None) -> Format:
    """The format in which a robot clip would be written to a path.

    Args:
        name: the format that was named; else the path's ending says it.

    Raises:
        UnknownFormat: no format's files end so.
        UnknownName: no format of that name.
    """
    return FORMATS[_known(name) if name is not None else _by_ending(path, "robot")]


def describe(
    path: str | Path,
    *,
    format: str | None = None,
    robot: Robot | None = None,
    fps: float | None = None,
) -> dict[str, object]:
    """What `surefoot info --json` says about a file; with its robot, whether it fits.

    Raises:
        NoFile: not there, a folder, no permission.
        BadFile: what it holds cannot be used, all faults together, or contradicts the robot.
        UnknownFormat: nothing fits, with what was tried.
        UnknownSkeleton: joint names of no known family.
        BadOption: a frame rate for a file that has its own, or out of range.
    """
    if format is not None:
        name = _known(format)
        guess = Guess(name, FORMATS[name].kind, "it was said to be")
    else:
        guess = sniff(path)
    value, facts = _read(path, guess.format, fps)
    table: dict[str, object] = {"format": guess.format, "why": guess.why, "kind": guess.kind}
    stances = None
    if isinstance(value, Record):
        flags = touching(value)
        stances = int(np.count_nonzero(flags[0]) + np.count_nonzero(flags[1:] & ~flags[:-1]))
        if robot is None and value.joint_names is None:
            return table | _of_record(value, facts, fps, stances)
        value = _fitted(value, robot, fps, path)
    timed = value.motion if isinstance(value, Clip) else value
    table |= {"frames": timed.n, "fps": timed.fps, "duration_s": timed.duration}
    table |= {"unit": facts.unit, "up_axis": facts.up_axis, "quaternion": facts.quaternion}
    if isinstance(value, Clip):
        names = value.motion.joint_names
        count = len(value.contacts.stances) if stances is None else stances
        count_known = count if facts.has_contacts else None
        table |= {"robot": value.robot, "contacts": count_known, "t_pose_first": False}
    else:
        names = value.skeleton.joint_names
        scheme = value.skeleton.scheme
        table |= {"skeleton": scheme, "contacts": None, "t_pose_first": has_t_pose_row(value)}
    notices = [notice.summary() for notice in value.notices]
    return table | {"joints": len(names), "notices": notices}


def _of_record(record: Record, facts: Facts, fps: float | None, stances: int) -> dict[str, object]:
    """What can be said of a file without joint names while its robot is not known."""
    from surefoot.formats.fitting import rate

    rate_hz, assumed = rate(record, fps)
    columns = record.joint_pos.shape[1]
    unnamed = Notice(
        "unknown",
        "joints",
        f"the file names none of its {columns} joints; with the robot (-r) they are named, and"
        " joints, quaternions and lengths checked",
        value=float(columns),
    )
    notices = [*record.notices, *assumed, *strange(record, rate_hz), unnamed]
    return {
        "frames": record.n,
        "fps": rate_hz,
        "duration_s": (record.n - 1) / rate_hz,
        "unit": facts.unit,
        "up_axis": facts.up_axis,
        "quaternion": facts.quaternion,
        "robot": "",
        "contacts": stances if facts.has_contacts else None,
        "t_pose_first": False,
        "joints": columns,
        "notices": [notice.summary() for notice in notices],
    }


def _function(target: str) -> object:
    """What a `module:function` of the table names, imported when it is first needed."""
    module, _, name = target.partition(":")
    found: object = getattr(import_module(module), name)
    return found


def _known(name: str) -> str:
    name = ALIASES.get(name, name)
    if name not in FORMATS:
        raise UnknownName(what=f"no format is called '{shown(name)}'", todo=nearest(name, FORMATS))
    return name


def _names_of(kind: Kind) -> str:
    rows = ((name, row) for name, row in FORMATS.items() if row.kind == kind and row.write)
    return ", ".join(f"{name} (*{row.ending})" for name, row in rows)


def _by_ending(path: str | Path, kind: Kind) -> str:
    """The format whose files end as the path does; `.npz` alone is enough for the native one."""
    end = Path(path).name.lower()
    fitting = [name for name, row in FORMATS.items() if row.write and end.endswith(row.ending)]
    if not fitting and end.endswith(".npz"):
        return "native"
    if not fitting:
        raise UnknownFormat(
            what=f"no format's files end like '{place(Path(path).name)}'",
            where=place(path),
            todo=f"A {kind} clip can be written as {_names_of(kind)}, or say --to FORMAT",
        )
    return fitting[0]
