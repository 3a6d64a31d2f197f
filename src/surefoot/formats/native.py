"""The native robot clip, `*.clip.npz`: everything a clip holds, no pickles, a schema number.

The keys are those of docs/formats.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import BadFile, BadMotion, Notice
from surefoot.formats import Facts
from surefoot.formats.files import place, read_bytes, shown, write_whole
from surefoot.formats.keys import Keys
from surefoot.formats.npz import AnyArray, is_zip, member_names, packed_arrays, read_arrays
from surefoot.formats.quaternions import unit_quat
from surefoot.motion.contact import MODE_NUMBERS, ContactSchedule, Stance, Terrain
from surefoot.motion.motion import Clip, Meta, Motion, Step
from surefoot.version import __version__

SCHEMA = 1

_MOTION_KEYS = ("time", "root_pos", "root_quat", "joint_names", "joint_pos")
_CONTACT_KEYS = (
    "contact_links", "contact_start", "contact_end", "contact_link", "contact_mode",
    "contact_moving", "contact_vertices", "contact_vertex_stance", "contact_normal",
    "contact_friction",
)  # fmt: skip
_OTHER_KEYS = (
    "schema",
    "robot",
    "fps",
    "contact_surface",
    "terrain_toml",
    "zmp",
    "com",
    "meta_json",
)
KEYS = frozenset((*_MOTION_KEYS, *_CONTACT_KEYS, *_OTHER_KEYS))


def sniff(data: bytes) -> tuple[bool, str]:
    """Whether the bytes are a native clip, and why."""
    if not is_zip(data):
        return False, "is no zip archive"
    names = member_names(data)
    if not names:
        return False, "begins as a zip archive, but is damaged or cut short"
    missing = [key for key in ("schema", "root_pos", "joint_pos") if key not in names]
    if missing:
        return False, f"has no array {' or '.join(missing)}"
    return True, "is a zip archive with the arrays schema, root_pos and joint_pos"


def read(path: str | Path) -> Clip:
    """The robot clip of a native file.

    Raises:
        NoFile: not there, a folder, no permission.
        BadFile: damaged, a newer schema, or faulty keys; all faults together.
    """
    return read_with_facts(path)[0]


def read_with_facts(path: str | Path) -> tuple[Clip, Facts]:
    """As `read`, with what the clip does not say."""
    where = place(path)
    arrays = read_arrays(read_bytes(path), where)
    keys = Keys(arrays, where)
    _check_schema(keys, arrays)
    meta, notices = _meta(keys)
    motion = _motion(keys, notices)
    terrain = _terrain(keys)
    carried = [key for key in _CONTACT_KEYS if key in arrays]
    contacts = _contacts(keys, terrain) if carried else ContactSchedule()
    n = len(arrays["time"])
    zmp_w = keys.numbers("zmp", (n, 3)) if "zmp" in arrays else None
    com_w = keys.numbers("com", (n, 3)) if "com" in arrays else None
    robot = keys.text("robot") if "robot" in arrays else ""
    keys.refuse()
    clip = Clip(
        motion=motion,
        contacts=contacts,
        terrain=terrain,
        robot=robot,
        zmp_w=zmp_w,
        com_w=com_w,
        meta=meta,
        notices=tuple(notices),
        extra={key: array for key, array in arrays.items() if key not in KEYS},
    )
    return clip, Facts(quaternion="wxyz", has_contacts=bool(carried))


def _check_schema(keys: Keys, arrays: dict[str, AnyArray]) -> None:
    """Refuse newer schemas before anything else is said about the file."""
    found = keys.whole("schema", (), 1, np.iinfo(np.int64).max)
    keys.refuse()
    if found[0] > SCHEMA:
        writer = _writer(arrays)
        raise BadFile(
            what=f"schema {found[0]}{writer and f' of {writer}'}, but this is surefoot"
            f" {__version__}, which reads up to schema {SCHEMA}",
            where=keys.where,
            todo=f"Update to {writer or 'a newer surefoot'} or later: pip install -U surefoot",
        )


def _writer(arrays: dict[str, AnyArray]) -> str:
    """Name and version of the program that wrote a file of a newer schema, as far as it says."""
    probe = Keys(arrays, "")
    text = probe.text("meta_json")
    try:
        version = json.loads(text)["surefoot"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return f"surefoot {shown(version)}" if isinstance(version, str) else ""


def _motion(keys: Keys, notices: list[Notice]) -> Motion:
    names = keys.texts("joint_names")
    time = keys.numbers("time", (-1,))
    n = len(time)
    root_pos = keys.numbers("root_pos", (n, 3))
    root_quat = keys.numbers("root_quat", (n, 4))
    joint_pos = keys.numbers("joint_pos", (n, len(names)))
    if "fps" in keys.arrays and float(keys.numbers("fps", ())) < 0.0:
        keys.faults.append("'fps' must be 0 or more")
    keys.refuse()
    try:
        quat = unit_quat("root_quat", root_quat, notices)
        return Motion(time, root_pos, quat, names, joint_pos)
    except BadMotion as error:
        raise BadFile(what=error.what, where=keys.where, todo=error.todo) from error


def _contacts(keys: Keys, terrain: Terrain) -> ContactSchedule:
    links = keys.texts("contact_links")
    start = keys.numbers("contact_start", (-1,))
    s = len(start)
    end = keys.numbers("contact_end", (s,))
    link = keys.whole("contact_link", (s,), 0, len(links) - 1)
    mode = keys.whole("contact_mode", (s,), 1, 3)
    moving = keys.flags("contact_moving", (s,))
    vertices = keys.numbers("contact_vertices", (-1, 3))
    owner = np.array(keys.whole("contact_vertex_stance", (len(vertices),), 0, s - 1), dtype=int)
    normal = keys.numbers("contact_normal", (s, 3))
    friction = keys.numbers("contact_friction", (s,))
    surface = [0] * s
    if "contact_surface" in keys.arrays:
        surface = keys.whole("contact_surface", (s,), 0, len(terrain.surfaces) - 1)
    if keys.faults:
        return ContactSchedule()
    modes = {number: name for name, number in MODE_NUMBERS.items()}
    stances = []
    for i in range(s):
        try:
            stances.append(
                Stance(
                    link=links[link[i]],
                    start=float(start[i]),
                    end=float(end[i]),
                    mode=modes[mode[i]],
                    vertices=vertices[owner == i],
                    normal=normal[i],
                    friction=float(friction[i]),
                    moving=moving[i],
                    surface=surface[i],
                )
            )
        except BadMotion as error:
            keys.faults.append(f"{error.where}: {error.what}")
    return ContactSchedule(tuple(stances))


def _terrain(keys: Keys) -> Terrain:
    if "terrain_toml" not in keys.arrays:
        return Terrain()
    try:
        return Terrain.from_toml(keys.text("terrain_toml"), where="terrain_toml")
    except BadFile as error:
        keys.faults.append(f"terrain_toml: {error.what}")
        return Terrain()


def _meta(keys: Keys) -> tuple[Meta, list[Notice]]:
    """Source, history and notices; a fault where the text is not what `_meta_json` writes."""
    if "meta_json" not in keys.arrays:
        return Meta(), []
    try:
        table = json.loads(keys.text("meta_json"), parse_constant=_refused_constant)
        history = tuple(
            Step(_as_str(row["what"]), _as_dict(row.get("parameters", {})))
            for row in table.get("history", [])
        )
        notices = [_notice(row) for row in table.get("notices", [])]
        return Meta(_as_str(table.get("source", "")), history), notices
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        keys.faults.append(f"meta_json cannot be read: {shown(error)}")
        return Meta(), []


def _refused_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _as_str(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {type(value).__name__}")
    return value


def _as_dict(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"expected a table, got {type(value).__name__}")
    return value


def _number_or_none(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"expected a number, got {type(value).__name__}")
    return float(value)


def _notice(row: dict[str, object]) -> Notice:
    return Notice(
        _as_str(row["kind"]),
        _as_str(row["part"]),
        _as_str(row["sentence"]),
        *(_number_or_none(row[key]) for key in ("t0_s", "t1_s", "value", "limit")),
    )


def write(clip: Clip, path: str | Path) -> None:
    """Write a native clip: the same clip gives the same bytes.

    Raises:
        BadMotion: history or unknown arrays that cannot be written.
        NoFile: the path cannot be written.
    """
    write_whole(path, as_bytes(clip))


def as_bytes(clip: Clip) -> bytes:
    """The bytes of a native file.

    Raises:
        BadMotion: history or unknown arrays that cannot be written.
    """
    motion = clip.motion
    arrays: dict[str, AnyArray] = {
        "schema": np.array(SCHEMA, dtype=np.int64),
        "robot": np.array(clip.robot),
        "fps": np.array(motion.fps),
        "time": motion.time,
        "root_pos": motion.root_pos,
        "root_quat": motion.root_quat,
        "joint_names": _words(motion.joint_names),
        "joint_pos": motion.joint_pos,
        **_contact_arrays(clip.contacts),
        "terrain_toml": np.array(clip.terrain.as_toml()),
    }
    for key, value in (("zmp", clip.zmp_w), ("com", clip.com_w)):
        if value is not None:
            arrays[key] = value
    arrays["meta_json"] = np.array(_meta_json(clip))
    for key, value in clip.extra.items():
        if key in KEYS or np.asarray(value).dtype.kind not in "biufUS":
            raise BadMotion(
                what=f"unknown array '{shown(key)}' has a name of the schema or no plain type",
                where="clip.extra",
            )
        arrays[key] = value
    return packed_arrays(arrays)


def _words(words: tuple[str, ...]) -> AnyArray:
    return np.array(words) if words else np.zeros(0, dtype="<U1")


def _contact_arrays(contacts: ContactSchedule) -> dict[str, AnyArray]:
    stances, links = contacts.stances, contacts.links
    counts = [len(stance.vertices) for stance in stances]

    def column(value: Callable[[Stance], Any], dtype: type[np.generic]) -> AnyArray:
        return np.array([value(stance) for stance in stances], dtype=dtype)

    return {
        "contact_links": _words(links),
        "contact_start": column(lambda s: s.start, np.float64),
        "contact_end": column(lambda s: s.end, np.float64),
        "contact_link": column(lambda s: links.index(s.link), np.int64),
        "contact_mode": column(lambda s: MODE_NUMBERS[s.mode], np.int64),
        "contact_moving": column(lambda s: s.moving, np.bool_),
        "contact_vertices": np.concatenate([np.zeros((0, 3)), *(s.vertices for s in stances)]),
        "contact_vertex_stance": np.repeat(np.arange(len(stances), dtype=np.int64), counts),
        "contact_normal": column(lambda s: s.normal, np.float64).reshape(-1, 3),
        "contact_friction": column(lambda s: s.friction, np.float64),
        "contact_surface": column(lambda s: s.surface, np.int64),
    }


def _meta_json(clip: Clip) -> str:
    """Source, history and notices as JSON."""
    table = {
        "surefoot": __version__,
        "source": clip.meta.source,
        "history": [{"what": s.what, "parameters": s.parameters} for s in clip.meta.history],
        "notices": [notice.summary() for notice in clip.notices],
    }
    try:
        return json.dumps(table, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise BadMotion(
            what=f"history or notices are not plain data: {error}", where="clip.meta"
        ) from error


def _plain(value: object) -> object:
    """Numpy's numbers and arrays, and paths, as JSON knows them."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Path):
        return value.name
    raise TypeError(f"{type(value).__name__} {shown(value)}")
