"""The whole walk, composed: from a human clip to a report in a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time as clock
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from surefoot import kernels, kinematics
from surefoot.adapters.adaptation import Adaptation, adapt
from surefoot.contacts.quality import judge
from surefoot.control import strict
from surefoot.dynamics import batch as dynamics
from surefoot.errors import NoFile
from surefoot.formats.files import write_whole
from surefoot.formats.native import write
from surefoot.index import distance
from surefoot.index.index import Feasibility, feasibility
from surefoot.motion.contact import Terrain
from surefoot.motion.human import HumanClip
from surefoot.motion.motion import Clip
from surefoot.reports.page import report
from surefoot.retargeting.retarget import Options, retarget
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot
from surefoot.samples import bundled
from surefoot.simulation import loop as simulation

Progress = Callable[[int, int, str], None]

COMPILE_BESIDE = "from surefoot.index import distance; distance.warm_up()"


@dataclass(frozen=True, slots=True)
class Walk:
    """What came out of a walk, and where it lies."""

    folder: Path
    robot: Robot
    clip: Clip
    index: Feasibility
    adaptation: Adaptation
    figures: dict[str, object]
    """What summary.json holds."""

    def summary(self) -> dict[str, object]:
        """The figures of every station, as summary.json has them."""
        return self.figures


def compile_kernels(robot: Robot, progress: Progress | None = None) -> None:
    """Compiles what this machine has not compiled yet; at once done when the cache is warm.

    Those of the index, half of the work, are compiled by a second process meanwhile: numba compiles
    one kernel at a time, whatever the threads.
    """
    if kernels.is_warm():
        return
    say = progress or _silent
    say(0, 2, "compiling the kernels, once")
    beside = subprocess.Popen(
        [sys.executable, "-c", COMPILE_BESIDE],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        dynamics.warm_up(robot)
        kinematics.warm_up(robot)
        simulation.warm_up(robot)
        strict.warm_up(robot)
        say(1, 2, "compiling the kernels, once")
        beside.wait()
    finally:
        beside.kill()
        beside.wait()
    distance.warm_up()  # from the cache, or from scratch where the other process failed
    kernels.mark_warm()
    say(2, 2, "compiled")


def retargeted(
    human: HumanClip,
    robot: Robot,
    *,
    terrain: Terrain | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> tuple[Clip, dict[str, object]]:
    """A human clip as robot clip, with the figures that `surefoot retarget --json` prints.

    Args:
        terrain: the ground of the person, in the human clip's world.
    """
    begin = clock.perf_counter()
    clip = retarget(human, robot, terrain=terrain, options=options, progress=progress)
    seconds = clock.perf_counter() - begin
    return clip, retarget_figures(clip, robot, seconds)


def retarget_figures(clip: Clip, robot: Robot, seconds: float) -> dict[str, object]:
    """The figures of a retargeted clip, keys as in the public face."""
    quality = judge(clip, robot)
    parameters = clip.meta.history[0].parameters
    return {
        "frames": clip.motion.n,
        "fps": clip.motion.fps,
        "robot": robot.name,
        "scale": parameters["scale"],
        "skate_mean_mps": quality.skate_mean_mps,
        "penetration_max_m": quality.penetration_max_m,
        "float_median_m": quality.float_median_m,
        "joint_jumps": quality.joint_jumps,
        "position_limit_violations": quality.position_limit_violations,
        "limb_error_deg": parameters["limb_error_deg"],
        "contact_fraction": quality.contact_fraction,
        "terrain": tomllib.loads(clip.terrain.as_toml()),
        "repaired": [
            {"frame": round(notice.t0 * clip.motion.fps), "what": notice.sentence}
            for notice in clip.notices
            if notice.kind == "repair" and notice.t0 is not None
        ],
        "notices": [notice.summary() for notice in clip.notices],
        "seconds": seconds,
        "frames_per_second": clip.motion.n / max(seconds, 1e-9),
    }


def demo(
    name: str = "sidestep",
    *,
    robot: str = "human25",
    folder: str | os.PathLike[str] = "surefoot-demo",
    progress: Progress | None = None,
) -> Walk:
    """The first walk on bundled things, into a folder.

    Its files: report.html, summary.json, clip.npz as retargeted, and adapted.npz as mended.

    Raises:
        UnknownName: no bundled clip or robot of that name.
        NoFile: the folder cannot be made.
    """
    say = progress or _silent
    begin = clock.perf_counter()
    human = bundled.load(name)
    body = load_robot(robot)
    place = _folder(folder)
    compile_kernels(body, progress)
    ground = bundled.terrain(name)
    clip, figures = retargeted(human, body, terrain=ground, progress=progress)
    say(0, 3, "judging what the contacts can give")
    found = feasibility(clip, body)
    say(1, 3, "mending it by new times")
    mended = adapt(clip, body, method="warp", progress=progress)
    say(2, 3, "drawing the report")
    title = f"{name} on {body.name}"
    report([clip, found, mended], place / "report.html", robot=body, title=title)
    write(clip, place / "clip.npz")
    write(mended.clip, place / "adapted.npz")
    summary: dict[str, object] = {
        "schema": 1,
        "clip": name,
        "robot": body.name,
        "retarget": figures,
        "index": found.summary(),
        "adapt": mended.summary(),
        "index_after": mended.after.summary(),
        "seconds": clock.perf_counter() - begin,
    }
    text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
    write_whole(place / "summary.json", text.encode())
    say(3, 3, "done")
    return Walk(place, body, clip, found, mended, summary)


def _silent(done: int, total: int, text: str) -> None:
    """Says nothing."""


def _folder(path: str | os.PathLike[str]) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NoFile(
            what=f"cannot make the folder: {error.strerror}",
            where=str(path),
            todo="name another with -o",
        ) from error
    return folder
