"""Profiles: what a robot's model does not say, as a TOML file (docs/robots.md, field by field)."""

from __future__ import annotations

import fnmatch
import pathlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.errors import BadFile, BadRobot, NoFile, listed, nearest
from surefoot.motion.human import CANONICAL_NAMES
from surefoot.robots.robot import Landmark, Side

SCHEMA = 1
ENDING = ".robot.toml"
SHORT_NAME = "robot.toml"

_TOP = ("schema", "name", "description", "model", "find", "joints", "home", "sole", "landmarks",
        "limits", "override")  # fmt: skip
_HOME = ("joint_pos_rad", "source")
_SOLE = ("link", "side", "polygon_m", "polygon_if_none_m", "source")
_LANDMARK = ("link", "point_m")
# Key of a file, and the field of the rule that it fills.
_LIMITS = {
    "min_rad": "minimum",
    "max_rad": "maximum",
    "speed_rad_s": "speed",
    "torque_nm": "torque",
}
_PASSIVE = {
    "stiffness_nm_rad": "stiffness",
    "damping_nms_rad": "damping",
    "armature_kg_m2": "armature",
    "friction_loss_nm": "frictionloss",
}
KEYS = frozenset((*_TOP, *_HOME, *_SOLE, *_LANDMARK, *_LIMITS, *_PASSIVE))
LIMITS = tuple(_LIMITS.values())
PASSIVE = tuple(_PASSIVE.values())


@dataclass(frozen=True, slots=True)
class SoleRule:
    """Which link stands on which side, and its polygon where the geometry is not to be asked."""

    link: str
    side: Side
    polygon_l: Float64[Array, "k 3"] | None
    """Always this polygon, m; None: from the link's shapes."""
    spare_polygon_l: Float64[Array, "k 3"] | None
    """This polygon only if the link has no shape left, m."""
    source: str


@dataclass(frozen=True, slots=True)
class JointRule:
    """Numbers for some joints, with their source."""

    patterns: tuple[str, ...]
    """Joint names; `*` and `?` stand for any letters."""
    values: dict[str, float]
    """By what they are: one of LIMITS or PASSIVE."""
    source: str


@dataclass(frozen=True, slots=True)
class Profile:
    """A robot's name, soles, limb map, limits and home pose, as its file gives them."""

    path: pathlib.Path
    name: str
    description: str = ""
    model: str = ""
    """Model file beside the profile; empty where the model must be given by path."""
    find: tuple[str, ...] = ()
    """Where the model lies below the folders of SUREFOOT_MODELS."""
    joints: tuple[str, ...] = ()
    """Joints by which a model is recognised as this robot."""
    home: dict[str, float] | None = None
    """Joint positions of the home pose, rad; None: the model's keyframe, else zero."""
    soles: tuple[SoleRule, ...] = ()
    landmarks: dict[str, Landmark] = field(default_factory=dict)
    limits: tuple[JointRule, ...] = ()
    """Used where the model says nothing."""
    overrides: tuple[JointRule, ...] = ()
    """Used whatever the model says."""

    def fits(self, joint_names: Iterable[str]) -> bool:
        """Whether a model with these joints is this robot."""
        return bool(self.joints) and set(self.joints) <= set(joint_names)

    def check(self, joint_names: tuple[str, ...], link_names: tuple[str, ...]) -> None:
        """Refuse names that the model does not have.

        Raises:
            BadRobot: with all of them and the nearest right ones.
        """
        faults: list[str] = []
        for name in self.home or {}:
            if name not in joint_names:
                faults.append(f"home: no joint '{name}'. {nearest(name, joint_names)}")
        for rule in (*self.limits, *self.overrides):
            for pattern in rule.patterns:
                if not fnmatch.filter(joint_names, pattern):
                    faults.append(f"no joint '{pattern}'. {nearest(pattern, joint_names)}")
        links = {f"sole of '{s.link}'": s.link for s in self.soles}
        links |= {f"landmark {part}": mark.link for part, mark in self.landmarks.items()}
        for what, link in links.items():
            if link not in link_names:
                faults.append(f"{what}: no link '{link}'. {nearest(link, link_names)}")
        if faults:
            raise BadRobot(what=listed(faults), where=str(self.path))

    def values(
        self, rules: tuple[JointRule, ...], what: str, joint_names: tuple[str, ...]
    ) -> dict[str, tuple[float, str]]:
        """What the rules say of each joint, with the source; the last rule that matches wins."""
        found: dict[str, tuple[float, str]] = {}
        for rule in rules:
            if what in rule.values:
                for pattern in rule.patterns:
                    for name in fnmatch.filter(joint_names, pattern):
                        found[name] = (rule.values[what], rule.source)
        return found


def read_profile(path: pathlib.Path) -> Profile:
    """The profile in a TOML file.

    Raises:
        NoFile: nothing there.
        BadFile: no TOML, or a schema that this version does not know.
        BadRobot: unknown keys, wrong kinds of values: all of them, with the nearest right keys.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise NoFile(what=f"cannot be read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise BadFile(what="this is no text in UTF-8", where=str(path)) from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadFile(what=f"this is no TOML: {error}", where=str(path)) from error
    schema = data.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise BadFile(
            what=f"expected schema = {SCHEMA}, got {schema!r}",
            where=str(path),
            todo="Write it in the first line of the profile",
        )
    if schema > SCHEMA:
        raise BadFile(
            what=f"the profile has schema {schema}, but this surefoot knows {SCHEMA} only",
            where=str(path),
            todo="Update surefoot",
        )
    reader = _Reader(path)
    profile = reader.profile(data)
    if reader.faults:
        raise BadRobot(what=listed(reader.faults), where=str(path))
    return profile


class _Reader:
    """Turns tables into values and keeps a list of all that is wrong."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.faults: list[str] = []

    def profile(self, data: Mapping[str, Any]) -> Profile:
        """The profile in a file's tables."""
        self.keys("", data, _TOP)
        stem = self.path.name.removesuffix(ENDING)
        name = self.text("", data, "name") or (
            self.path.resolve().parent.name if self.path.name == SHORT_NAME else stem
        )
        home = self.table("home", data)
        if home is not None:
            self.keys("home", home, _HOME)
        marks = self.table("landmarks", data) or {}
        self.keys("landmarks", marks, CANONICAL_NAMES)
        return Profile(
            path=self.path,
            name=name,
            description=self.text("", data, "description"),
            model=self.text("", data, "model"),
            find=self.texts("", data, "find"),
            joints=self.texts("", data, "joints"),
            home=None if home is None else self.numbers("home", home, "joint_pos_rad"),
            soles=tuple(self.sole(f"sole {k}", s) for k, s in enumerate(self.tables(data, "sole"))),
            landmarks={
                part: self.landmark(f"landmarks.{part}", mark) for part, mark in marks.items()
            },
            limits=tuple(
                self.rule(f"limits {k}", rule, _LIMITS)
                for k, rule in enumerate(self.tables(data, "limits"))
            ),
            overrides=tuple(
                self.rule(f"override {k}", rule, _LIMITS | _PASSIVE)
                for k, rule in enumerate(self.tables(data, "override"))
            ),
        )

    def sole(self, where: str, table: Mapping[str, Any]) -> SoleRule:
        """One row of [[sole]]."""
        self.keys(where, table, _SOLE)
        side: Side = "right" if table.get("side") == "right" else "left"
        if table.get("side") not in ("left", "right"):
            self.faults.append(f"{where}: side must be 'left' or 'right'")
        return SoleRule(
            link=self.text(where, table, "link", needed=True),
            side=side,
            polygon_l=self.points(where, table, "polygon_m"),
            spare_polygon_l=self.points(where, table, "polygon_if_none_m"),
            source=self.text(where, table, "source"),
        )

    def landmark(self, where: str, value: object) -> Landmark:
        """One point of [landmarks]."""
        table = value if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            self.faults.append(f"{where}: expected a table with link and point_m")
        self.keys(where, table, _LANDMARK)
        point = self.points(where, {"point_m": [table.get("point_m", [0.0, 0.0, 0.0])]}, "point_m")
        link = self.text(where, table, "link", needed=True)
        return Landmark(link, np.zeros(3) if point is None else point[0])

    def rule(self, where: str, table: Mapping[str, Any], known: Mapping[str, str]) -> JointRule:
        """One row of [[limits]] or [[override]]."""
        self.keys(where, table, ("joints", "source", *known))
        values: dict[str, float] = {}
        for key, what in known.items():
            if key in table:
                number = table[key]
                if not _is_number(number) or (number < 0.0 and what not in ("minimum", "maximum")):
                    self.faults.append(f"{where}: {key} = {number!r}")
                else:
                    values[what] = float(number)
        if not values:
            self.faults.append(f"{where}: none of {', '.join(known)}")
        if not self.text(where, table, "source"):
            self.faults.append(f"{where}: source is missing: say where the numbers come from")
        return JointRule(
            self.texts(where, table, "joints"), values, self.text(where, table, "source")
        )

    def keys(self, where: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
        """Report keys that are not known."""
        place = f"{where}: " if where else ""
        for key in table:
            if key not in known:
                self.faults.append(f"{place}unknown key '{key}'. {nearest(key, known)}")

    def text(self, where: str, table: Mapping[str, Any], key: str, *, needed: bool = False) -> str:
        """A text; empty where there is none."""
        value = table.get(key, "")
        if not isinstance(value, str) or (needed and not value):
            self.faults.append(f"{where}: {key} must be a text".removeprefix(": "))
            return ""
        return value

    def texts(self, where: str, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self.faults.append(f"{where}: {key} must be a list of texts".removeprefix(": "))
            return ()
        return tuple(value)

    def table(self, key: str, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """A table; None where there is none."""
        value = data.get(key)
        if value is not None and not isinstance(value, dict):
            self.faults.append(f"{key} must be a table")
            return None
        return value

    def tables(self, data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """A list of tables."""
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self.faults.append(f"{key} must be a list of tables: [[{key}]]")
            return []
        return value

    def numbers(self, where: str, table: Mapping[str, Any], key: str) -> dict[str, float]:
        """A table of numbers by name."""
        value = table.get(key, {})
        if not isinstance(value, dict) or not all(_is_number(v) for v in value.values()):
            self.faults.append(f"{where}: {key} must be a table of numbers")
            return {}
        return {name: float(v) for name, v in value.items()}

    def points(
        self, where: str, table: Mapping[str, Any], key: str
    ) -> Float64[Array, "k 3"] | None:
        """A list of points; None where there is none."""
        if key not in table:
            return None
        value = table[key]
        good = isinstance(value, list) and all(
            isinstance(p, list) and len(p) == 3 and all(_is_number(c) for c in p) for p in value
        )
        if not good or not value:
            self.faults.append(f"{where}: {key} must be a list of points [x, y, z]")
            return None
        return locked(value)


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))
    )
