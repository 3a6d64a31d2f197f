"""Pictures and films by the engine's renderer, without a display, in a process of its own.

Whether GL is there, and of which kind, is found out by trying: a child process renders one small
picture with EGL, then with OSMesa. The process of the caller never loads a GL library.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from surefoot.arrays import Array, ByteArray, Float64, UInt8
from surefoot.errors import Defect, MissingPart
from surefoot.motion import rotation
from surefoot.motion.contact import Terrain
from surefoot.reports import gl_child
from surefoot.reports.figures import write_whole
from surefoot.reports.geometry import fillings
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot

Progress = Callable[[int, int, str], None]
Rgba = tuple[float, float, float, float]

HEADLESS = ("egl", "osmesa")  # in the order in which they are tried where no display is needed
INSTALL_GL = (
    "apt install libegl1 libegl-mesa0 libgl1-mesa-dri, or apt install libosmesa6"
    if sys.platform == "linux"
    else "update the driver of the graphics card"
)
INSTALL_AV = "pip install 'surefoot[video]'"
PROBE_S, FRAME_S = 60.0, 20.0  # longest times for a first picture, and for each one more


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """What is seen in n pictures; NaN where a thing is not there."""

    robot: Robot
    qpos: Float64[Array, "n nq"]
    ghosts: Float64[Array, "n nq"]
    """Transparent poses of the same robot."""
    lookat_w: Float64[Array, "n 3"]
    """The middle of the picture."""
    azimuth_deg: float = -40.0
    """Where the camera stands, about z from the x axis."""
    elevation_deg: float = 12.0
    distance_m: float = 3.2
    size_px: tuple[int, int] = (1280, 720)
    terrain: Terrain = field(default_factory=Terrain)
    tail_w: Float64[Array, "n a 3"] | None = None
    """Where arrows begin."""
    arrow_w: Float64[Array, "n a 3"] | None = None
    """From there to their tips."""
    arrow_rgba: tuple[Rgba, ...] = ()
    point_w: Float64[Array, "n p 3"] | None = None
    point_rgba: tuple[Rgba, ...] = ()


@cache
def find_gl() -> str | None:
    """The kind of GL that renders here without a display, or None."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        ball = mujoco.MjModel.from_xml_string(
            "<mujoco><worldbody><body><geom size='.1'/></body></worldbody></mujoco>"
        )
        _write(folder, ball, {**_empty(), "size_px": np.array([16, 16])})
        for kind in _kinds():
            done = _run(folder, kind, PROBE_S, None)
            if done == gl_child.DONE:
                return kind
    return None


def rendered(take: Take, *, progress: Progress | None = None) -> UInt8[ByteArray, "n h w 3"]:
    """The pictures of a take.

    Raises:
        MissingPart: no GL library renders here.
    """
    with tempfile.TemporaryDirectory() as place:
        _child(Path(place), take, {}, progress)
        frames: ByteArray = np.load(Path(place) / "frames.npy", allow_pickle=False)
    return frames


def film(take: Take, path: str | Path, *, fps: float, progress: Progress | None = None) -> None:
    """A take as an mp4 file, whole or not at all.

    Raises:
        MissingPart: no GL library renders here, or there is no encoder.
        NoFile: the file cannot be written.
    """
    refuse_film()
    with tempfile.TemporaryDirectory() as place:
        _child(Path(place), take, {"fps": np.array(fps)}, progress)
        write_whole(path, (Path(place) / "film.mp4").read_bytes())


def refuse_film() -> None:
    """Say what a film needs and is not there, before hours are spent on what would be filmed.

    Raises:
        MissingPart: no GL library renders here, or there is no encoder.
    """
    if importlib.util.find_spec("av") is None:
        raise MissingPart(what="a video needs the package 'av'", todo=f"Install it: {INSTALL_AV}")
    _kind()


def _kind() -> str:
    kind = find_gl()
    if kind is None:
        raise MissingPart(
            what="no GL library renders without a display here", todo=f"Install one: {INSTALL_GL}"
        )
    return kind


def _kinds() -> tuple[str, ...]:
    """Kinds of GL to try; the empty one is the engine's own choice."""
    asked = os.environ.get("MUJOCO_GL", "").lower()
    own = (asked,) if asked and asked not in ("disable", "disabled", "off", "0", "false") else ()
    return tuple(dict.fromkeys([*own, *(HEADLESS if sys.platform == "linux" else ("",))]))


def _child(folder: Path, take: Take, more: dict[str, Array], progress: Progress | None) -> None:
    """Let the child render a take into the folder."""
    kind = _kind()
    _write(folder, take.robot.model, {**_job(take), **more})
    done = _run(folder, kind, PROBE_S + FRAME_S * len(take.qpos), progress)
    if done == gl_child.DONE:
        return
    if done == gl_child.NO_ENCODER:
        raise MissingPart(what="this 'av' encodes no mp4", todo=f"Install another: {INSTALL_AV}")
    why = folder / "why.txt"
    said = why.read_text("utf-8") if why.exists() else f"exit status {done}"
    raise Defect(what=f"rendering failed: {said}", where=f"GL of kind '{kind}'")


def _run(folder: Path, kind: str, most_s: float, progress: Progress | None) -> int | None:
    """Exit status of the child; None where it was too slow."""
    surroundings = {key: value for key, value in os.environ.items() if key != "MUJOCO_GL"}
    if kind:
        surroundings["MUJOCO_GL"] = kind
    command = [sys.executable, "-m", "surefoot.reports.gl_child", str(folder)]
    child = subprocess.Popen(
        command,
        env=surroundings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        if progress is not None and child.stdout is not None:
            for line in child.stdout:
                done, total = map(int, line.split())
                progress(done, total, "rendering")
        child.communicate(timeout=most_s)
        return child.returncode
    except subprocess.TimeoutExpired:
        return None
    finally:
        child.kill()
        child.communicate()


def _write(folder: Path, model: mujoco.MjModel, job: dict[str, Array]) -> None:
    mujoco.mj_saveModel(model, str(folder / "robot.mjb"))
    np.savez(folder / "job.npz", **job)  # type: ignore[arg-type]  # numpy's stub counts allow_pickle


def _empty() -> dict[str, Array]:
    """A job in which nothing but one pose without coordinates is seen."""
    return {
        "qpos": np.zeros((1, 0)), "ghosts": np.full((1, 1), np.nan),
        "lookat_w": np.zeros((1, 3)), "azimuth_deg": np.array(0.0),
        "elevation_deg": np.array(0.0), "distance_m": np.array(1.0),
        "tail_w": np.zeros((1, 0, 3)), "arrow_w": np.zeros((1, 0, 3)),
        "arrow_rgba": np.zeros((0, 4)), "point_w": np.zeros((1, 0, 3)),
        "point_rgba": np.zeros((0, 4)), "plane_point": np.zeros((0, 3)),
        "plane_rot": np.zeros((0, 3, 3)), "box_pos": np.zeros((0, 3)),
        "box_rot": np.zeros((0, 3, 3)), "box_half": np.zeros((0, 3)),
        "fill_link": np.zeros(0), "fill_kind": np.zeros(0), "fill_pos": np.zeros((0, 3)),
        "fill_rot": np.zeros((0, 3, 3)), "fill_size": np.zeros((0, 3)),
        "fill_rgb": np.zeros((0, 3)),
    }  # fmt: skip


def _job(take: Take) -> dict[str, Array]:
    """A take as arrays."""
    n = len(take.qpos)
    nothing = np.zeros((n, 0, 3))
    size = np.array([2 * (side // 2) for side in take.size_px])  # films want even sides
    return {
        **_empty(),
        "qpos": take.qpos,
        "ghosts": take.ghosts,
        "lookat_w": take.lookat_w,
        "azimuth_deg": np.array(take.azimuth_deg),
        "elevation_deg": np.array(take.elevation_deg),
        "distance_m": np.array(take.distance_m),
        "size_px": size,
        "tail_w": nothing if take.tail_w is None else take.tail_w,
        "arrow_w": nothing if take.arrow_w is None else take.arrow_w,
        "arrow_rgba": np.array(take.arrow_rgba).reshape(-1, 4),
        "point_w": nothing if take.point_w is None else take.point_w,
        "point_rgba": np.array(take.point_rgba).reshape(-1, 4),
        **_ground(take.terrain),
        **_filled(take.robot),
    }


def _ground(terrain: Terrain) -> dict[str, Array]:
    planes = [s for s in terrain.surfaces if s.kind == "plane"]
    boxes = [s for s in terrain.surfaces if s.kind == "box"]
    turns = np.array([rotation.from_rotvec(np.array([0.0, 0.0, box.yaw])) for box in boxes])
    return {
        "plane_point": np.array([s.point for s in planes]).reshape(-1, 3),
        "plane_rot": np.array([_upright(s.normal) for s in planes]).reshape(-1, 3, 3),
        "box_pos": np.array([s.point for s in boxes]).reshape(-1, 3),
        "box_rot": rotation.as_matrix(turns.reshape(-1, 4)),
        "box_half": 0.5 * np.array([s.size for s in boxes]).reshape(-1, 3),
    }


def _upright(normal: Float64[Array, " 3"]) -> Float64[Array, "3 3"]:
    """Axes of which z is the normal."""
    z = normal / np.linalg.norm(normal)
    x = np.array([1.0, 0.0, 0.0]) - z[0] * z
    if np.linalg.norm(x) < 0.1:
        x = np.array([0.0, 1.0, 0.0]) - z[1] * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _filled(robot: Robot) -> dict[str, Array]:
    """The shapes that stand for lost meshes."""
    kinds = ("capsule", "ellipsoid", "polyhedron")
    found = fillings(robot)
    return {
        "fill_link": np.array([shape.link for shape in found], dtype=np.int64),
        "fill_kind": np.array([kinds.index(shape.kind) for shape in found], dtype=np.int64),
        "fill_pos": np.array([shape.pos_l for shape in found]).reshape(-1, 3),
        "fill_rot": np.array([shape.rot_ls for shape in found]).reshape(-1, 3, 3),
        "fill_size": np.array([shape.size for shape in found]).reshape(-1, 3),
        "fill_rgb": np.array([shape.rgb for shape in found]).reshape(-1, 3),
    }
