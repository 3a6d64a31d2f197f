"""The one door to MuJoCo: what is wrong when it does not open, and models that it refuses.

`from surefoot.robots.engine import mujoco` gives the engine or raises `MissingPart` with the line
that repairs the environment. `conflicts()` works without the engine.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import pathlib
import warnings
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from surefoot.errors import BadRobot, MissingPart, Notice
from surefoot.robots.urdf import find_mesh, meshes_dropped

if TYPE_CHECKING:
    import mujoco as mujoco

WHEELS = ("mujoco", "mujoco-core", "mujoco-studio")
OLDEST = (3, 11)
TOO_NEW = 5  # the first major version that is not tried
REPAIR = (
    "pip uninstall -y mujoco mujoco-core mujoco-studio && "
    f"pip install 'mujoco>={OLDEST[0]}.{OLDEST[1]},<{TOO_NEW}'"
)

# Blocks that a motion on a robot does not need, in the order in which they are looked at.
SPARE_BLOCKS = (
    "sensors", "cameras", "lights", "keys", "tuples", "numerics", "texts", "skins", "flexes",
    "pairs", "excludes", "equalities", "tendons", "plugins",
)  # fmt: skip


def opened() -> ModuleType:
    """MuJoCo, imported and told to write no files.

    Raises:
        MissingPart: it cannot be imported, or only in part; with the line that repairs it.
    """
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
    """A list that holds the engine's and its Python side's warnings once the block is left."""
    said: list[str] = []
    mujoco.set_mju_user_warning(said.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield said
        said += [str(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(_unheard)


if not TYPE_CHECKING:
    with contextlib.suppress(MissingPart):
        mujoco = opened()

    def __getattr__(name: str) -> object:
        """Asked for `mujoco` when it did not open: try again, and say why not."""
        if name == "mujoco":
            return opened()
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


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


def in_one_line(error: Exception) -> str:
    """The engine's message in one line, without its own full stop."""
    return " ".join(str(error).split()).removeprefix("Error: ").rstrip(".")


def compile_mended(spec: mujoco.MjSpec, where: str) -> tuple[mujoco.MjModel, tuple[Notice, ...]]:
    """The compiled model; blocks that the engine refuses dropped, impossible inertias balanced.

    Raises:
        BadRobot: the engine refuses what a robot needs.
    """
    notices: list[Notice] = []
    with heard() as said:
        while True:
            try:
                model = spec.compile()
                break
            except ValueError as error:
                message = in_one_line(error)
            if "balanceinertia" in message and not spec.compiler.balanceinertia:
                spec.compiler.balanceinertia = True
                continue
            notice = _drop_spare_block(spec, message) or _drop_broken_meshes(spec, where)
            if notice is None:
                raise BadRobot(what=f"MuJoCo refuses the model: {message}", where=where)
            notices.append(notice)
    return model, (*notices, *warned(said))


def warned(said: list[str]) -> tuple[Notice, ...]:
    """One notice for each warning of the engine."""
    return tuple(
        Notice(kind="engine", part="model", sentence=f"MuJoCo warns: {' '.join(text.split())}")
        for text in said
    )


def _drop_spare_block(spec: mujoco.MjSpec, message: str) -> Notice | None:
    """Drop the first block that is not needed and that the engine's message is about.

    A copy of a specification lacks, without a word, the elements that refer to nobody.
    """
    copy = spec.copy()
    for block in SPARE_BLOCKS:
        elements = list(getattr(spec, block, []))
        lost = len(elements) - len(list(getattr(copy, block, [])))
        if lost == 0 and not (elements and block[:-1] in message.lower()):
            continue
        names = ", ".join(element.name or "without a name" for element in elements)
        for element in elements:
            spec.delete(element)
        return Notice(
            kind="dropped",
            part=block,
            sentence=f"{block} dropped ({names}), because MuJoCo refuses them: {message}",
            value=float(len(elements)),
        )
    return None


def _refusal(spec: mujoco.MjSpec) -> str:
    """What the engine says against a specification; empty when it takes it."""
    try:
        spec.compile()
    except ValueError as error:
        return in_one_line(error)
    return ""


def _drop_broken_meshes(spec: mujoco.MjSpec, where: str) -> Notice | None:
    """Drop the meshes that the engine cannot decode, each tried by itself."""
    broken: dict[str, str] = {}
    for mesh in spec.meshes:
        trial = mujoco.MjSpec()
        trial.add_mesh(name="mesh", file=mesh.file)
        trial.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
        if mesh.file and _refusal(trial):
            broken[_mesh_name(mesh)] = mesh.file
    return _drop_meshes(spec, broken, where) if broken else None


def drop_missing_meshes(spec: mujoco.MjSpec, path: pathlib.Path) -> tuple[Notice, ...]:
    """Give found meshes their full path, and drop the others after the shapes that use them.

    Raises:
        BadRobot: a link's mass would have come from such a shape.
    """
    missing: dict[str, str] = {}
    for mesh in spec.meshes:
        if mesh.file:
            below = find_mesh(mesh.file, path.parent / spec.meshdir)
            found = below or find_mesh(mesh.file, path.parent)
            if found is None:
                missing[_mesh_name(mesh)] = mesh.file
            else:
                mesh.file = str(found)
    return (_drop_meshes(spec, missing, str(path)),) if missing else ()


def _drop_meshes(spec: mujoco.MjSpec, files: Mapping[str, str], where: str) -> Notice:
    """Drop meshes, after the shapes that use them: the other way round the engine refuses."""
    from_shapes = int(spec.compiler.inertiafromgeom)  # 0 never, 1 always, 2 where not given
    users: dict[str, list[str]] = {file: [] for file in files.values()}
    for geom in list(spec.geoms):
        if geom.meshname not in files:
            continue
        body, file = geom.parent, files[geom.meshname]
        weighs = geom.mass > 0.0 if np.isfinite(geom.mass) else geom.density > 0.0
        if weighs and (from_shapes == 1 or (from_shapes == 2 and not body.explicitinertial)):
            raise BadRobot(
                what=f"link '{body.name}' has no inertia of its own, and the mesh '{file}' that "
                "would give it cannot be read",
                where=where,
                todo="Put the mesh beside the model or give the link an <inertial>",
            )
        users[file].append(body.name)
        spec.delete(geom)
    for mesh in list(spec.meshes):
        if _mesh_name(mesh) in files:
            spec.delete(mesh)
    return meshes_dropped(users)


def drop_missing_looks(spec: mujoco.MjSpec, path: pathlib.Path) -> tuple[Notice, ...]:
    """Drop textures and height fields that are not there, and materials that nobody defines."""
    gone: list[str] = []
    for element in (*spec.textures, *spec.hfields):
        file = str(getattr(element, "file", ""))
        if file and not any(
            (path.parent / below / file).is_file() for below in (spec.texturedir, spec.meshdir, "")
        ):
            gone.append(file)
            for material in spec.materials:
                kept = ["" if name == element.name else name for name in material.textures]
                material.textures = kept
            spec.delete(element)
    known = {material.name for material in spec.materials}
    for element in (*spec.geoms, *spec.sites):
        if element.material and element.material not in known:
            gone.append(element.material)
            element.material = ""
    if not gone:
        return ()
    names = ", ".join(f"'{name}'" for name in dict.fromkeys(gone))
    sentence = f"textures and materials dropped, because they are not there: {names}"
    return (Notice("dropped", "looks", sentence, value=float(len(gone))),)


def _mesh_name(mesh: mujoco.MjsMesh) -> str:
    return str(mesh.name or pathlib.PurePath(mesh.file).stem)
