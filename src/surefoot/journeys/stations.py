"""The stations of a walk, one after the other: retarget, judge, mend, judge again, simulate."""

from __future__ import annotations

import json
import os
import time as clock
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from surefoot.adapters.adaptation import Adaptation, adapt
from surefoot.contacts.quality import judge
from surefoot.errors import NoFile
from surefoot.formats.files import write_whole
from surefoot.formats.native import write
from surefoot.index.index import Feasibility, feasibility
from surefoot.index.index import Options as IndexOptions
from surefoot.motion.contact import Terrain
from surefoot.motion.human import HumanClip
from surefoot.motion.motion import Clip
from surefoot.reports.filmstrip import simulated_strip, write_filmstrip
from surefoot.reports.page import report
from surefoot.retargeting.retarget import Options, retarget
from surefoot.robots.robot import Robot
from surefoot.simulation.recorded import recorded_clip
from surefoot.simulation.simulator import simulate
from surefoot.simulation.verdict import Verdict

Progress = Callable[[int, int, str], None]
SUMMARY = "summary.json"  # written last: a folder that has it is complete


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done with a clip on its way."""

    method: str = "warp"
    """How it is mended."""
    controller: str = "strict"
    """What drives the robot in the simulation."""
    index: IndexOptions | None = None
    """How feasibility is judged."""
    friction: float | None = None
    """Of the floor, instead of what the clip says."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Walk:
    """What came out of a walk, and where it lies."""

    folder: Path
    robot: Robot
    clip: Clip
    index: Feasibility
    adaptation: Adaptation
    before: Verdict
    """Of the clip as it came, in simulation."""
    after: Verdict
    """Of the mended clip."""
    figures: dict[str, object]
    """What summary.json holds."""

    @property
    def answer(self) -> bool:
        """Whether the final clip is feasible everywhere and the robot stands in simulation."""
        return self.adaptation.after.all_feasible and self.after.stood

    def summary(self) -> dict[str, object]:
        """The figures of every station, as summary.json has them."""
        return self.figures


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


def walked(
    clip: Clip,
    robot: Robot,
    folder: str | os.PathLike[str],
    *,
    name: str,
    plan: Plan | None = None,
    figures: dict[str, object] | None = None,
    made_of: str | None = None,
    progress: Progress | None = None,
) -> Walk:
    """A robot's clip judged, mended, judged again and simulated before and after, into a folder.

    Its files: report.html, summary.json, clip.npz as it came, adapted.npz as mended, simulated.npz
    as the mended one went in simulation, and filmstrip.png.

    Args:
        name: of the clip, for people.
        figures: those of its retargeting, if it was a person's.
        made_of: what tells this walk from others, kept in its summary.

    Raises:
        NoFile: the folder cannot be made.
    """
    say = progress or _silent
    begin = clock.perf_counter()
    plan = plan or Plan()
    place = _folder(folder)
    say(0, 5, "judging what the contacts can give")
    found = feasibility(clip, robot, plan.index)
    say(1, 5, "mending it by new times")
    mended = adapt(clip, robot, method=plan.method, index=plan.index, progress=progress)
    say(2, 5, "simulating it as it came")
    before = _simulated(mended.before.clip, robot, plan, mended.before, progress)
    say(3, 5, "simulating it as mended")
    after = _simulated(mended.clip, robot, plan, mended.after, progress)
    say(4, 5, "drawing the report")
    title = f"{name} on {robot.name}"
    report([clip, found, mended, before, after], place / "report.html", robot=robot, title=title)
    write(clip, place / "clip.npz")
    write(mended.clip, place / "adapted.npz")
    write(recorded_clip(after.trace, mended.clip, robot), place / "simulated.npz")
    if simulated_strip(after) is not None:  # else no foot swings: there is nothing to lay out
        write_filmstrip([mended, after], place / "filmstrip.png")
    summary: dict[str, object] = {
        "schema": 1,
        "clip": name,
        "robot": robot.name,
        **({} if figures is None else {"retarget": figures}),
        "index": found.summary(),
        "adapt": mended.summary(),
        "index_after": mended.after.summary(),
        "simulate_before": before.summary(),
        "simulate": after.summary(),
        "seconds": clock.perf_counter() - begin,
        **({} if made_of is None else {"made_of": made_of}),
    }
    text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
    write_whole(place / SUMMARY, text.encode())
    say(5, 5, "done")
    return Walk(place, robot, clip, found, mended, before, after, summary)


def _simulated(
    clip: Clip, robot: Robot, plan: Plan, index: Feasibility, progress: Progress | None
) -> Verdict:
    return simulate(
        clip,
        robot,
        controller=plan.controller,
        friction=plan.friction,
        seed=plan.seed,
        index=index,
        progress=progress,
    )


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
