"""Many clips, each into a folder of its own: failures stop nobody, and what is done stays done."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import BadOption, SurefootError
from surefoot.formats.files import write_whole
from surefoot.formats.registry import read
from surefoot.formats.surroundings import terrain_beside
from surefoot.journeys.compiling import Progress, compile_kernels
from surefoot.journeys.stations import SUMMARY, Plan, Walk, retarget_figures, walked
from surefoot.motion.human import HumanClip
from surefoot.motion.motion import Clip
from surefoot.retargeting.retarget import retarget
from surefoot.robots.robot import Robot
from surefoot.version import __version__

Reader = Callable[[str, Robot], Clip]
INPUT_FAULT = 2  # exit code of errors that are the input's

COLUMNS = (
    "clip", "feasible_before", "worst_before_over_weight", "status", "feasible_after",
    "worst_after_over_weight", "stood_before", "stood", "fell_at_s", "cause", "root_error_max_m",
    "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Results:
    """What became of many clips."""

    folder: Path
    rows: tuple[dict[str, object], ...]
    """One for each clip: the columns of table.csv; with `error` where it failed."""
    walks: tuple[dict[str, object], ...]
    """The summary of each clip that was walked, in the same order."""
    resumed: int
    """How many of them were there already."""
    defects: tuple[Exception, ...] = ()
    """What failed and was not the input's fault."""

    @property
    def failed(self) -> bool:
        """Whether any clip could not be walked."""
        return any(row["error"] for row in self.rows)

    @property
    def answer(self) -> bool:
        """Whether every clip is feasible in the end, and its robot stands."""
        return all(bool(row["feasible_after"]) and bool(row["stood"]) for row in self.rows)

    def summary(self) -> dict[str, object]:
        """The JSON object of `surefoot run` with several clips."""
        return {"schema": 1, "clips": list(self.rows), "resumed": self.resumed}


def run(
    clips: Sequence[str | os.PathLike[str]],
    robot: Robot,
    folder: str | os.PathLike[str],
    *,
    plan: Plan | None = None,
    reader: Reader | None = None,
    given: str = "",
    progress: Progress | None = None,
) -> Results:
    """Each clip through the whole walk, into a folder of its name; then one table of all.

    A clip whose folder is complete, made of the same file with the same options by the same
    version, is not done again.

    Args:
        reader: what makes a robot's clip of a path; by default `sf.read`, and a person's clip is
            retargeted.
        given: other options that went into it, as text: another text is another result.

    Raises:
        BadOption: no clip, or two of one name.
    """
    paths = [os.fspath(clip) for clip in clips]
    if not paths:
        raise BadOption(what="there is no clip to walk", todo="Give files, or a folder of clips")
    names = _names(paths)
    place, plan = Path(folder), plan or Plan()
    say = progress or _silent
    compile_kernels(robot, progress, control=True)
    rows: list[dict[str, object]] = []
    walks: list[dict[str, object]] = []
    defects: list[Exception] = []
    resumed = 0
    for number, (path, name) in enumerate(zip(paths, names, strict=True)):
        say(number, len(paths), path)
        try:
            made_of = _digest(path, robot, plan, given)
            found = _finished(place / name, made_of)
            if found is None:
                read_clip = reader or _read
                found = _walked(read_clip, path, robot, place / name, plan, made_of).summary()
            else:
                resumed += 1
        except Exception as error:  # of one clip: the others are walked all the same
            if not isinstance(error, SurefootError) or error.exit_code != INPUT_FAULT:
                defects.append(error)
            rows.append(_failure(path, error))
        else:
            walks.append(found)
            rows.append(_row(path, found))
    results = Results(place, tuple(rows), tuple(walks), resumed, tuple(defects))
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / "table.csv", _table(rows).encode())
    text = json.dumps(results.summary(), indent=2, allow_nan=False) + "\n"
    write_whole(place / SUMMARY, text.encode())
    say(len(paths), len(paths), "done")
    return results


def _walked(reader: Reader, path: str, robot: Robot, place: Path, plan: Plan, made_of: str) -> Walk:
    begin = clock.perf_counter()
    clip = reader(path, robot)
    history = clip.meta.history
    figures = None
    if history and history[0].what == "retarget":  # here, or by an earlier call
        figures = retarget_figures(clip, robot, clock.perf_counter() - begin)
    return walked(clip, robot, place, name=place.name, plan=plan, figures=figures, made_of=made_of)


def _read(path: str, robot: Robot) -> Clip:
    value = read(path, robot=robot)
    return retarget(value, robot) if isinstance(value, HumanClip) else value


def _names(paths: list[str]) -> list[str]:
    """A folder for each clip: its name without what follows the first dot.

    Raises:
        BadOption: two clips would share one.
    """
    names = [Path(path).name.split(".")[0] or Path(path).name for path in paths]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise BadOption(
                what=f"two clips would share the folder '{name}'",
                where=f"{paths[names.index(name)]} and {paths[i]}",
                todo="Rename one, or walk them into different folders",
            )
    return names


def _digest(path: str, robot: Robot, plan: Plan, given: str) -> str:
    """A hash of everything that a walk is made of: files, robot, options, version."""
    digest = hashlib.sha256(repr((plan, given, __version__)).encode())
    digest.update(robot.mjcf.encode())
    digest.update(repr((robot.name, robot.joint_speed.tolist(), robot.soles)).encode())
    file = Path(path)
    for part in (file, terrain_beside(file)):
        if part is not None and part.is_file():
            digest.update(part.read_bytes())
    return digest.hexdigest()


def _finished(folder: Path, made_of: str) -> dict[str, object] | None:
    """The summary of a folder that is complete and made of the same; else None."""
    try:
        found = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("made_of") == made_of else None


def _row(path: str, found: dict[str, object]) -> dict[str, object]:
    parts = {key: part for key, part in found.items() if isinstance(part, dict)}
    adapt, before, after = parts["adapt"], parts["simulate_before"], parts["simulate"]
    values = {
        "clip": path,
        **{key: adapt[key] for key in COLUMNS if key in adapt and key != "clip"},
        "stood_before": before["stood"],
        **{key: after[key] for key in ("stood", "fell_at_s", "cause", "root_error_max_m")},
    }
    return {key: values.get(key) for key in COLUMNS}


def _failure(path: str, error: Exception) -> dict[str, object]:
    said = " ".join(str(error).split()) or type(error).__name__
    return {**dict.fromkeys(COLUMNS), "clip": path, "error": said}


def _table(rows: list[dict[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _silent(done: int, total: int, text: str) -> None:
    """Says nothing."""
