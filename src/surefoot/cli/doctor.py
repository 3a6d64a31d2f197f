"""What surefoot stands on here: versions, caches, GL, browser, and known conflicts.

Works in a broken environment, too: whatever may fail to import is imported inside a try.
"""

from __future__ import annotations

import ctypes.util
import importlib
import importlib.metadata
import importlib.util
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from surefoot.errors import MissingPart, Notice
from surefoot.version import __version__

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge", "firefox")
HEADLESS = ("EGL", "OSMesa")
GL_LIBRARIES = ("EGL", "OSMesa", "GL", "opengl32", "OpenGL")


@dataclass(frozen=True, slots=True)
class Health:
    """Facts about this environment."""

    versions: dict[str, str | None]
    """By package; None where it is not installed."""
    cache: str | None
    """Folder of the compiled kernels; None where numba cannot be imported."""
    cache_warm: bool
    gl: tuple[str, ...]
    """GL libraries that are there."""
    browser: str | None
    notices: tuple[Notice, ...]
    """Conflicts, each with its repair, and what is missing without harm."""

    @property
    def conflicted(self) -> bool:
        """Whether anything is in conflict."""
        return any(notice.kind == "conflict" for notice in self.notices)

    def summary(self) -> dict[str, object]:
        """The facts as a JSON object."""
        return {
            "surefoot": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "versions": self.versions,
            "cache": self.cache,
            "cache_warm": self.cache_warm,
            "gl": list(self.gl),
            "browser": self.browser,
            "notices": [notice.summary() for notice in self.notices],
        }


def examine() -> Health:
    """The facts of the environment that runs this."""
    needed = requirements()
    gl = tuple(name for name in GL_LIBRARIES if ctypes.util.find_library(name))
    own = "the system's own" if sys.platform in ("win32", "darwin") else None
    browser = next((name for name in BROWSERS if shutil.which(name)), own)
    notices = [*_engine(), *_broken({k: v for k, v in needed.items() if k != "mujoco"})]
    if not needed:
        sentence = "on the path, but not installed: what it needs is not looked at (pip install .)"
        notices.append(Notice("missing", "surefoot", sentence))
    notices += _of_films(gl)
    if browser is None:
        todo = "apt install chromium, or open the report on another machine"
        notices.append(Notice("missing", "browser", f"no browser on the path: {todo}"))
    cache, warm = _cache()
    return Health(
        versions={name: _version(name) for name in needed},
        cache=cache,
        cache_warm=warm,
        gl=gl,
        browser=browser,
        notices=tuple(notices),
    )


def _of_films(gl: tuple[str, ...]) -> Iterator[Notice]:
    """What films need and is not there; everything else is drawn without it."""
    linux = sys.platform == "linux"
    if not set(gl) & (set(HEADLESS) if linux else set(GL_LIBRARIES)):
        todo = "apt install libegl1 libegl-mesa0 libgl1-mesa-dri, or libosmesa6"
        sentence = "no GL library that renders without a display: no videos; reports and film"
        sentence += f" strips are drawn all the same ({todo if linux else 'none needed'})"
        yield Notice("missing", "GL", sentence)
    if importlib.util.find_spec("av") is None:
        sentence = "no encoder: no videos (pip install 'surefoot[video]')"
        yield Notice("missing", "av", sentence)


def requirements() -> dict[str, str]:
    """What surefoot needs to run, by package, as its own installation says; none without one."""
    try:
        rows = importlib.metadata.requires("surefoot") or ()
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {re.split("[^A-Za-z0-9_-]", row)[0]: row for row in rows if "extra ==" not in row}


def _engine() -> Iterator[Notice]:
    """What is wrong with MuJoCo.

    Wheels can be broken though their versions agree: version 4 installed over 3 with plain pip
    loses the files that the old wheel's removal took along. Only opening it tells.
    """
    try:
        from surefoot.robots.engine import conflicts, opened
    except ImportError:  # numpy or jaxtyping, which are looked at by themselves
        return
    found = conflicts()
    yield from found
    if not found:
        try:
            opened()
        except MissingPart as error:
            yield Notice("conflict", "mujoco", error.sentence)


def _broken(needed: dict[str, str]) -> Iterator[Notice]:
    """The packages that cannot be imported, each with the line that repairs it."""
    for name, requirement in needed.items():
        try:
            importlib.import_module(name)
        except Exception as error:  # a broken package may raise anything
            reason = " ".join(str(error).split()) or type(error).__name__
            yield Notice(
                "conflict",
                name,
                f"{name} cannot be imported ({reason}). "
                f"Repair: pip install --force-reinstall '{requirement}'",
            )


def _cache() -> tuple[str | None, bool]:
    """Folder of the compiled kernels, and whether all are in it."""
    try:
        from surefoot import kernels
    except ImportError:
        return None, False
    return str(kernels.CACHE_FOLDER), kernels.is_warm("judging")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
