"""What renders pictures and films: a process of its own, so that no trouble of GL is the caller's.

    MUJOCO_GL=egl python -m surefoot.reports.gl_child FOLDER

In the folder lie `robot.mjb`, a compiled model, and `job.npz` (`gl.Take`); what comes out are
`frames.npy` or `film.mp4` beside them. Lines on standard output count the frames. Exit status:
0 done, 4 no GL, 5 no encoder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import mujoco

DONE, NO_GL, NO_ENCODER = 0, 4, 5
TILE_M, TILES = 0.5, 7  # of the floor: how wide, how many to each side of the robot
ALPHA = 0.99  # of points and arrows: what is a little transparent throws no shadow
FAR_M = 30.0  # half the width of a plane
FLOOR = (0.86, 0.87, 0.89, 1.0)
TILE = (0.79, 0.81, 0.84, 1.0)
SKY = (0.96, 0.97, 0.98, 1.0)
STEP = (0.74, 0.72, 0.68, 1.0)
GHOST = (0.95, 0.60, 0.24)  # what transparent poses are tinted with
GHOST_ALPHA = 0.38
BEHIND_M = 0.03  # farther from the eye than it is: where both coincide, the solid one is seen
NEARER = 0.8  # points and arrows are drawn so much nearer to the eye, so that no leg hides them
SHAFT_M, TIP_M, DISCS = 0.013, 0.09, 12  # of an arrow: radius, length of its tip, discs of that
POINT_M = 0.022  # radius of a point
MOST_GEOMS = 20000
CODECS = ("libx264", "libopenh264", "mpeg4")  # the first that the encoder has


def main(folder: Path) -> int:
    """Render the job that lies in a folder."""
    try:
        import mujoco

        model = mujoco.MjModel.from_binary_path(str(folder / "robot.mjb"))
        with np.load(folder / "job.npz", allow_pickle=False) as archive:
            job = {name: archive[name] for name in archive.files}
        stage = _Stage(mujoco, model, job)
    except Exception as error:  # without its libraries GL raises whatever comes first
        (folder / "why.txt").write_text(" ".join(str(error).split()), encoding="utf-8")
        return NO_GL
    try:
        if "fps" in job:
            return _film(stage, folder / "film.mp4", float(job["fps"]))
        np.save(folder / "frames.npy", np.stack([stage.frame(i) for i in range(stage.count)]))
        return DONE
    finally:
        stage.renderer.close()


def _film(stage: _Stage, path: Path, fps: float) -> int:
    """All frames as a film."""
    import av

    name = next((codec for codec in CODECS if codec in av.codecs_available), None)
    if name is None:
        return NO_ENCODER
    from fractions import Fraction

    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream(name, rate=Fraction(fps).limit_denominator(1000))
        stream.width, stream.height = stage.width, stage.height
        stream.pix_fmt = "yuv420p"  # the one that every player shows
        if name == "libx264":
            stream.options = {"crf": "20", "preset": "veryfast"}
        for i in range(stage.count):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(stage.frame(i), format="rgb24")))
        out.mux(stream.encode())
    return DONE


class _Stage:
    """Model, data of solid and ghost, and the renderer."""

    def __init__(self, engine: Any, model: mujoco.MjModel, job: dict[str, Any]) -> None:
        self.mujoco, self.model, self.job = engine, model, job
        self.width, self.height = int(job["size_px"][0]), int(job["size_px"][1])
        self.count = len(job["qpos"])
        model.vis.global_.offwidth, model.vis.global_.offheight = self.width, self.height
        model.vis.quality.offsamples, model.vis.quality.shadowsize = 4, 2048
        model.vis.headlight.ambient[:] = 0.42
        model.vis.headlight.diffuse[:] = 0.38
        model.vis.headlight.specular[:] = 0.05
        model.vis.map.znear, model.vis.map.zfar = 0.1 / model.stat.extent, 60.0 / model.stat.extent
        model.vis.map.shadowclip = 3.0 / model.stat.extent
        self.solid, self.ghost = engine.MjData(model), engine.MjData(model)
        self.renderer = engine.Renderer(model, self.height, self.width, max_geom=MOST_GEOMS)
        self.option = engine.MjvOption()
        groups = model.geom_group[model.geom_bodyid > 0]
        if len(groups) and not np.any(groups < 3):  # a model that has nothing but hidden shapes
            self.option.geomgroup[:] = 1
        self.camera = engine.MjvCamera()
        self.camera.azimuth = float(job["azimuth_deg"]) + 180.0  # the engine's: where it looks to
        self.camera.elevation = -float(job["elevation_deg"])
        self.camera.distance = float(job["distance_m"])

    def frame(self, i: int) -> Any:
        """One picture, height × width × 3 bytes."""
        job = self.job
        self.solid.qpos[:] = job["qpos"][i]
        self.mujoco.mj_kinematics(self.model, self.solid)
        self.camera.lookat[:] = job["lookat_w"][i]
        self.renderer.update_scene(self.solid, camera=self.camera, scene_option=self.option)
        self._fill(self.solid)
        self._sky(job["lookat_w"][i])
        self._terrain(job["lookat_w"][i])
        if np.isfinite(job["ghosts"][i]).all():
            self._add_ghost(job["ghosts"][i])
        for tail, way, rgba in zip(
            job["tail_w"][i], job["arrow_w"][i], job["arrow_rgba"], strict=True
        ):
            if np.isfinite(way).all() and np.isfinite(tail).all() and np.linalg.norm(way) > 1e-3:
                clear = [*rgba[:3], ALPHA]
                self._arrow(self._near(tail), self._near(tail + way), clear)
        ball = self.mujoco.mjtGeom.mjGEOM_SPHERE
        for point, rgba in zip(job["point_w"][i], job["point_rgba"], strict=True):
            if np.isfinite(point).all():
                clear = [*rgba[:3], ALPHA]
                self._add(ball, [NEARER * POINT_M] * 3, self._near(point), np.eye(3), clear)
        self._light(job["lookat_w"][i])
        print(i + 1, self.count, flush=True)
        return self.renderer.render().copy()

    def _add(self, kind: Any, size: Any, pos: Any, rot: Any, rgba: Any) -> Any:
        scene = self.renderer.scene
        geom = scene.geoms[scene.ngeom]
        self.mujoco.mjv_initGeom(
            geom,
            int(kind),
            np.asarray(size, dtype=np.float64),
            np.asarray(pos, dtype=np.float64),
            np.asarray(rot, dtype=np.float64).ravel(),
            np.asarray(rgba, dtype=np.float32),
        )
        scene.ngeom += 1
        return geom

    def _sight(self) -> tuple[Any, Any]:
        """Level unit vectors towards the eye and to the right of whoever looks."""
        angle = np.radians(float(self.job["azimuth_deg"]))
        c, s = np.cos(angle), np.sin(angle)
        return np.array([c, s, 0.0]), np.array([-s, c, 0.0])

    def _near(self, point: Any) -> Any:
        """A point nearer to the eye on the same line of sight: it is seen at the same place."""
        up = np.radians(float(self.job["elevation_deg"]))
        toward, _ = self._sight()
        way = np.cos(up) * toward + np.array([0.0, 0.0, np.sin(up)])
        eye = self.camera.lookat + self.camera.distance * way
        return eye + NEARER * (point - eye)

    def _sky(self, lookat: Any) -> None:
        """A bright wall far behind everything: without one the sky is black."""
        toward, right = self._sight()
        at = np.asarray(lookat) - 0.8 * FAR_M * toward
        rot = np.column_stack([right, [0.0, 0.0, 1.0], toward])
        half = [2.0 * FAR_M, 2.0 * FAR_M, 0.01]
        wall = self._add(self.mujoco.mjtGeom.mjGEOM_PLANE, half, at, rot, SKY)
        wall.emission, wall.specular = 1.0, 0.0

    def _fill(self, data: mujoco.MjData) -> None:
        """Shapes that stand for meshes which the model has lost."""
        job, geoms = self.job, self.mujoco.mjtGeom
        kinds = (geoms.mjGEOM_CAPSULE, geoms.mjGEOM_ELLIPSOID, geoms.mjGEOM_BOX)
        for k, link in enumerate(job["fill_link"]):
            rot = data.xmat[link].reshape(3, 3)
            pos = data.xpos[link] + rot @ job["fill_pos"][k]
            size, kind = job["fill_size"][k], int(job["fill_kind"][k])
            own = [size[0], size[0], size[1]] if kind == 0 else size
            rgba = [*job["fill_rgb"][k], 1.0]
            self._add(kinds[kind], own, pos, rot @ job["fill_rot"][k], rgba)

    def _terrain(self, lookat: Any) -> None:
        """Planes with tiles, so that motion over them is seen, and boxes."""
        job, geoms = self.job, self.mujoco.mjtGeom
        for point, rot in zip(job["plane_point"], job["plane_rot"], strict=True):
            normal, under = rot[:, 2], np.asarray(lookat, dtype=np.float64)
            under = under - normal * float((under - point) @ normal)
            sunk = under - 0.004 * normal
            self._add(geoms.mjGEOM_PLANE, [FAR_M, FAR_M, 0.01], sunk, rot, FLOOR)
            x, y = np.round((rot.T @ (under - point))[:2] / TILE_M)
            for u in np.arange(x - TILES, x + TILES + 1):
                for v in np.arange(y - TILES, y + TILES + 1):
                    if (u + v) % 2 == 0:
                        at = point + rot @ np.array([u * TILE_M, v * TILE_M, -0.002])
                        half = [0.5 * TILE_M, 0.5 * TILE_M, 0.002]
                        self._add(geoms.mjGEOM_BOX, half, at, rot, TILE)
        rows = zip(job["box_pos"], job["box_rot"], job["box_half"], strict=True)
        for pos, rot, half in rows:
            self._add(geoms.mjGEOM_BOX, half, pos, rot, STEP)

    def _add_ghost(self, qpos: Any) -> None:
        """A transparent robot, tinted, so that it is seen where it looks out from behind."""
        engine, scene = self.mujoco, self.renderer.scene
        self.ghost.qpos[:] = qpos
        engine.mj_kinematics(self.model, self.ghost)
        up = np.radians(float(self.job["elevation_deg"]))
        toward, _ = self._sight()
        back = BEHIND_M * (np.cos(up) * toward + np.array([0.0, 0.0, np.sin(up)]))
        first = scene.ngeom
        engine.mjv_addGeoms(
            self.model,
            self.ghost,
            self.option,
            engine.MjvPerturb(),
            int(engine.mjtCatBit.mjCAT_DYNAMIC),
            scene,
        )
        self._fill(self.ghost)
        for k in range(first, scene.ngeom):
            geom = scene.geoms[k]
            geom.rgba[:3] = 0.35 * geom.rgba[:3] + 0.65 * np.array(GHOST, dtype=np.float32)
            geom.rgba[3] = GHOST_ALPHA
            geom.matid = -1
            geom.pos[:] = geom.pos - back

    def _arrow(self, tail: Any, head: Any, rgba: Any) -> None:
        """A shaft and a tip of discs: the engine's own arrows are half as long as they are told."""
        length = float(np.linalg.norm(head - tail))
        tip, shaft = min(NEARER * TIP_M, 0.5 * length), NEARER * SHAFT_M
        along = (head - tail) / length
        self._rod(tail, head - tip * along, shaft, rgba)
        for share in np.arange(DISCS) / DISCS:
            start = head - tip * (1.0 - share) * along
            radius = 2.4 * shaft * (1.0 - share)
            self._rod(start, start + tip / DISCS * along, radius, rgba)

    def _rod(self, start: Any, end: Any, radius: float, rgba: Any) -> None:
        kind = self.mujoco.mjtGeom.mjGEOM_CYLINDER
        geom = self._add(kind, np.zeros(3), start, np.eye(3), rgba)
        ends = [np.asarray(point, dtype=np.float64) for point in (start, end)]
        self.mujoco.mjv_connector(geom, int(kind), radius, *ends)

    def _light(self, lookat: Any) -> None:
        """A lamp over the left shoulder of whoever looks; without one there is no shadow."""
        scene = self.renderer.scene
        light = scene.lights[scene.nlight]
        toward, right = self._sight()
        way = -0.45 * toward + 0.35 * right + np.array([0.0, 0.0, -1.2])
        way /= np.linalg.norm(way)
        light.id = -1
        light.dir[:] = way
        light.pos[:] = np.asarray(lookat) - 6.0 * way
        light.type = int(self.mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
        light.headlight, light.castshadow = 0, 1
        light.ambient[:], light.diffuse[:], light.specular[:] = 0.0, 0.48, 0.1
        light.attenuation[:] = (1.0, 0.0, 0.0)
        scene.nlight += 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
