"""The clips that come with surefoot: files beside this module, seed 0 of their families."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path

from surefoot.errors import UnknownName, nearest
from surefoot.formats import bvh
from surefoot.formats.files import place, read_bytes
from surefoot.formats.surroundings import terrain_beside
from surefoot.motion.contact import Terrain
from surefoot.motion.human import HumanClip

_ENDING = ".bvh"


def names() -> tuple[str, ...]:
    """Names of the bundled clips, in order."""
    files = (file.name for file in resources.files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in files if name.endswith(_ENDING)))


def path(name: str) -> Path:
    """The file of a bundled clip.

    Raises:
        UnknownName: no bundled clip has that name.
    """
    if name not in names():
        raise UnknownName(what=f"no bundled clip is called '{name}'", todo=nearest(name, names()))
    return Path(str(resources.files(__package__).joinpath(name + _ENDING)))


def load(name: str) -> HumanClip:
    """A bundled clip.

    Raises:
        UnknownName: no bundled clip has that name.
    """
    # The reader's doubts about unit and axes are settled: the file is our own.
    return replace(bvh.read(path(name)), source=name + _ENDING, notices=())


def terrain(name: str) -> Terrain | None:
    """The ground of a bundled clip; None: a level floor at z = 0.

    Raises:
        UnknownName: no bundled clip has that name.
    """
    beside = terrain_beside(path(name))
    if beside is None:
        return None
    return Terrain.from_toml(read_bytes(beside).decode("utf-8"), where=place(beside.name))
