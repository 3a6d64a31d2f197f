"""Compiled loops on plain arrays: C-contiguous float64 in, arrays of the caller out, status codes.

Imports numpy, numba and math only. Before the first kernel is imported, numba's cache is pointed
to a folder that is named by a hash of all kernel sources: numba does not notice that a kernel of
*another* file was edited, and an installed package may be read-only.
"""

import hashlib
import os
import pathlib
import sys
import tempfile


def _user_cache_folder() -> pathlib.Path:
    """The folder that keeps what can be made again; SUREFOOT_CACHE moves it."""
    moved = os.environ.get("SUREFOOT_CACHE")
    if moved:
        return pathlib.Path(moved)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(pathlib.Path.home() / "AppData" / "Local")
        return pathlib.Path(base) / "surefoot"
    if sys.platform == "darwin":
        return pathlib.Path.home() / "Library" / "Caches" / "surefoot"
    base = os.environ.get("XDG_CACHE_HOME") or str(pathlib.Path.home() / ".cache")
    return pathlib.Path(base) / "surefoot"


def sources_hash(folder: pathlib.Path) -> str:
    """A hash of the names and contents of all Python files of a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _writable_cache_folder() -> pathlib.Path:
    """The user's cache folder for these kernels, or a private temporary one."""
    try:
        own = pathlib.Path(__file__).parent
        folder = _user_cache_folder() / "kernels" / sources_hash(own)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        return pathlib.Path(tempfile.mkdtemp(prefix="surefoot-kernels-"))


CACHE_FOLDER = _writable_cache_folder()

import numba  # noqa: E402  # the cache folder must be chosen first

numba.config.CACHE_DIR = str(CACHE_FOLDER)  # type: ignore[attr-defined]  # made at run time


def is_warm(part: str) -> bool:
    """Whether the kernels of a part were compiled before, for these files, Python and processor."""
    return _marker(part).exists()


def mark_warm(part: str) -> None:
    """Say that the kernels of a part are compiled; the next process will find them in the cache."""
    _marker(part).touch()


def _marker(part: str) -> pathlib.Path:
    """The file that stands for a part with a warm cache, named by what numba's own key holds.

    That is Python, numba, the processor, and where and when each source file was written: an
    installation beside this one with the same sources compiles for itself.
    """
    from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]  # has no types

    places = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        places.update(f"{path} {path.stat().st_mtime_ns}".encode())
    python = f"{sys.implementation.name}{sys.version_info.major}.{sys.version_info.minor}"
    engine = f"numba{numba.__version__}-{get_host_cpu_name()}"
    return CACHE_FOLDER / f"warm-{part}-{python}-{engine}-{places.hexdigest()[:8]}"
