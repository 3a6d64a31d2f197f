"""What surefoot stands on here: versions, caches, GL, browser, and known conflicts."""

from __future__ import annotations

import ctypes.util
import platform
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from surefoot import kernels
from surefoot.errors import Notice
from surefoot.robots.engine import conflicts
from surefoot.version import __version__

PACKAGES = ("numpy", "scipy", "mujoco", "numba", "tyro", "rich", "jaxtyping", "matplotlib")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge", "firefox")
GL_LIBRARIES = ("EGL", "OSMesa", "GL", "opengl32", "OpenGL")


@dataclass(frozen=True, slots=True)
class Health:
    """Facts about this environment."""

    versions: dict[str, str | None]
    """By package; None where it is not installed."""
    cache: str
    """Folder of the compiled kernels."""
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
    gl = tuple(name for name in GL_LIBRARIES if ctypes.util.find_library(name))
    browser = next((name for name in BROWSERS if shutil.which(name)), None)
    notices = list(conflicts())
    if not gl:
        todo = "apt install libegl1 libgl1-mesa-dri" if sys.platform == "linux" else "none needed"
        notices.append(
            Notice(
                "missing", "GL", f"no GL library: pictures are drawn as SVG all the same ({todo})"
            )
        )
    if browser is None:
        notices.append(
            Notice(
                "missing", "browser", "no browser found on the path: copy the report to one that is"
            )
        )
    return Health(
        versions={name: _version(name) for name in PACKAGES},
        cache=str(kernels.CACHE_FOLDER),
        cache_warm=kernels.is_warm(),
        gl=gl,
        browser=browser,
        notices=tuple(notices),
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
