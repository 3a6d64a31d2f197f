"""The one door to MuJoCo, and what is wrong with its wheels when it does not open.

`from surefoot.robots.engine import mujoco` gives the engine or raises `MissingPart` with the line
that repairs the environment. `conflicts()` works without the engine.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from surefoot.errors import MissingPart, Notice

if TYPE_CHECKING:
    import mujoco as mujoco

WHEELS = ("mujoco", "mujoco-core", "mujoco-studio")
OLDEST = (3, 11)
TOO_NEW = 5  # the first major version that is not tried
REPAIR = (
    "pip uninstall -y mujoco mujoco-core mujoco-studio && "
    f"pip install 'mujoco>={OLDEST[0]}.{OLDEST[1]},<{TOO_NEW}'"
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """The engine itself, imported when it is first asked for."""
        if name == "mujoco":
            return _engine()
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


@functools.cache
def _engine() -> ModuleType:
    try:
        engine = importlib.import_module("mujoco")
    except (ImportError, OSError) as error:
        raise MissingPart(
            what="MuJoCo cannot be imported", where=_first_line(error), todo=f"Repair: {REPAIR}"
        ) from error
    if not hasattr(engine, "MjModel"):
        raise MissingPart(
            what="MuJoCo is installed in part only", where="no MjModel", todo=f"Repair: {REPAIR}"
        )
    # Without a handler the engine appends its warnings to MUJOCO_LOG.TXT in the current folder.
    # They are counted in MjData.warning all the same.
    engine.set_mju_user_warning(_unheard)
    return engine


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]


def _unheard(text: str) -> None:
    """Takes a warning that somebody else counts."""


@contextlib.contextmanager
def heard() -> Iterator[list[str]]:
    """A list that fills with the warnings of the engine while the block runs."""
    said: list[str] = []
    engine = _engine()
    engine.set_mju_user_warning(said.append)
    try:
        yield said
    finally:
        engine.set_mju_user_warning(_unheard)


def conflicts(versions: Mapping[str, str] | None = None) -> tuple[Notice, ...]:
    """What is wrong with the installed wheels of MuJoCo, each with the line that repairs it.

    Args:
        versions: version by wheel; the default is what is installed here.
    """
    found = installed() if versions is None else dict(versions)
    sentences: list[str] = []
    if "mujoco" not in found:
        rest = " and ".join(f"{name} {found[name]}" for name in WHEELS if name in found)
        sentences.append(f"only {rest} is installed" if rest else "MuJoCo is not installed")
    else:
        meta = found["mujoco"]
        others = {name: found[name] for name in WHEELS[1:] if name in found}
        number = _number(meta)
        if not OLDEST <= number < (TOO_NEW,):
            sentences.append(
                f"MuJoCo {meta} is installed, but {OLDEST[0]}.{OLDEST[1]} or newer and below "
                f"{TOO_NEW} is needed"
            )
        # One wheel until 3.x, three of the same version from 4 on.
        mixed = {n: v for n, v in others.items() if number < (4,) or v != meta}
        if number >= (4,) and "mujoco-core" not in others:
            mixed["mujoco-core"] = "missing"
        if mixed:
            listed = ", ".join(f"{name} {version}" for name, version in mixed.items())
            sentences.append(f"MuJoCo wheels are mixed: mujoco {meta} beside {listed}")
    return tuple(
        Notice(kind="conflict", part="mujoco", sentence=f"{text}. Repair: {REPAIR}")
        for text in sentences
    )


def installed() -> dict[str, str]:
    """Version of each wheel of MuJoCo that is installed here."""
    found: dict[str, str] = {}
    for name in WHEELS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _number(version: str) -> tuple[int, ...]:
    parts: list[int] = []
    for part in version.split(".")[:3]:
        digits = "".join(c for c in part if c.isdigit())
        parts.append(int(digits) if digits else 0)
    return tuple(parts)
