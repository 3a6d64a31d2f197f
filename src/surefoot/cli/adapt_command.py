"""The command `adapt`: a clip mended, and what mending it did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from surefoot.adapters.methods import METHODS
from surefoot.cli.clip_commands import clip_of
from surefoot.cli.options import OptionalFile, Output, RobotName, To
from surefoot.cli.screen import Screen
from surefoot.cli.warping import Warping
from surefoot.errors import BadOption, Notice, SurefootError, UnknownName, nearest

if TYPE_CHECKING:
    from surefoot.adapters.adaptation import Adaptation
    from surefoot.robots.robot import Robot

NO, FAILED = 1, 2  # exit codes: the final clip is not feasible; an input could not be used
HIGHEST_FPS = 1000.0  # of the files that are written
FIXED_RATE_HZ = 50.0  # of files that hold an even rate: the frames of a re-timed clip are not even


@dataclass(frozen=True, kw_only=True)
class Adapt(Warping):
    """Mend a clip so that the contacts can give what its motion needs."""

    clips: Annotated[Positional[tuple[str, ...]], arg(metavar="CLIP...")]
    """Clips of a robot or of a person, or names of bundled ones."""
    robot: RobotName
    """A robot of the zoo, a profile, or a path to MJCF or URDF."""
    output: Output
    """Where to write the mended clip; several clips: a folder."""
    method: Annotated[str, arg(metavar="|".join(METHODS))] = "warp"
    """How it is mended."""
    to: To = None
    """Format of the output; by default what its name ends in, in a folder the native one."""
    output_fps: float = FIXED_RATE_HZ
    """Frames a second of formats that hold an even rate."""
    report: OptionalFile = None
    """Write a report there (.html)."""

    def run(self, screen: Screen) -> int:
        """Mend one clip, or several; one that fails does not stop the others."""
        from surefoot.journeys import compile_kernels
        from surefoot.robots.zoo import load_robot

        several = len(self.clips) > 1
        self._refuse_before_the_work(several)
        _ = self.options(), self.method_options(self.method)  # refused once, not once a clip
        robot = load_robot(self.robot)
        compile_kernels(robot, screen.progress)
        found: list[Adaptation] = []
        rows: list[dict[str, object]] = []
        for name in self.clips:
            try:
                found.append(self._mend(name, robot, several, screen))
                rows.append({**found[-1].summary(), "clip": Path(name).name})
            except SurefootError as error:
                if error.exit_code != FAILED or not several:
                    raise
                rows.append({"clip": name, "error": error.sentence})
        if self.report is not None and found:
            from surefoot.reports.page import report

            title = f"{self.method} on {robot.name}"
            report(list(found), self.report, robot=robot, title=title)
        if screen.json:
            screen.result({"schema": 1, "clips": rows} if several else rows[0])
        else:
            _show(rows, found, screen, self.report)
        if any("error" in row for row in rows):
            return FAILED
        return 0 if all(one.after.all_feasible for one in found) else NO

    def _refuse_before_the_work(self, several: bool) -> None:
        from surefoot.formats.registry import format_of

        if not self.clips:
            raise BadOption(what="there is no clip to mend", todo="Give a file or a bundled name")
        if self.method not in METHODS:
            raise UnknownName(
                what=f"no method is called '{self.method}'", todo=nearest(self.method, METHODS)
            )
        if self.report is not None and self.report.suffix != ".html":
            raise BadOption(
                what=f"expected a file that ends in .html, got '{self.report.name}'",
                where="--report",
            )
        if not 0.0 < self.output_fps <= HIGHEST_FPS:
            raise BadOption(
                what=f"expected a rate up to {HIGHEST_FPS:g} frames a second,"
                f" got {self.output_fps:g}",
                where="--output-fps",
            )
        if several and self.output.is_file():
            raise BadOption(what="several clips need a folder, not a file", where="-o")
        if not several:
            format_of(self.output, self.to)

    def _mend(self, name: str, robot: Robot, several: bool, screen: Screen) -> Adaptation:
        from surefoot.adapters.adaptation import adapt

        clip = clip_of(name, robot, self, screen.progress)
        found = adapt(
            clip,
            robot,
            method=self.method,
            options=self.method_options(self.method),
            index=self.options(),
            progress=screen.progress,
        )
        path = self.output / f"{Path(name).stem}.clip.npz" if several else self.output
        if several:
            self.output.mkdir(parents=True, exist_ok=True)
        found = self._written(found, path)
        screen.notices((*robot.notices, *found.notices))
        return found

    def _written(self, found: Adaptation, path: Path) -> Adaptation:
        """The adaptation, judged again where its file can hold even frames alone."""
        from surefoot.formats.registry import format_of, write

        if format_of(path, self.to).uneven:
            write(found.clip, path, format=self.to)
            return found
        from surefoot.adapters.adaptation import judged
        from surefoot.adapters.timing import evened

        clip, moved = evened(found.clip, self.output_fps)
        after = judged(clip, found.after.robot, found.after.options)
        write(clip, path, format=self.to)
        worst, weight = float(after.upper.max()), after.weight_n
        notice = Notice(
            "resampled",
            path.name,
            f"the file holds an even rate: {clip.motion.n} frames at {self.output_fps:g}/s; they"
            f" lie up to {1000 * moved[0]:.2f} mm and {moved[1]:.3f}° beside the motion between"
            f" the frames that were re-timed, and their worst d is {worst / weight:+.4f} of the"
            " weight",
            value=worst / weight,
        )
        found = replace(found, clip=clip, after=after, notices=(*found.notices, notice))
        if found.status != "mended" or after.all_feasible:
            return found
        better = worst < float(found.before.upper.max())
        why = f"At {self.output_fps:g} even frames a second it is not: give a format that holds the"
        why += " frames' own times, such as .clip.npz, or a higher --output-fps."
        return replace(found, status="better" if better else "unchanged", why_not=why)


def _show(
    rows: list[dict[str, object]], found: list[Adaptation], screen: Screen, report: Path | None
) -> None:
    """What became of each clip."""
    screen.table(
        "",
        ("clip", "method", "status", "feasible", "worst d / mg before", "after", "seconds"),
        [_row(row) for row in rows],
    )
    for row in rows:
        if "error" in row:
            screen.say(f"{row['clip']}: {row['error']}")
    for one in found:
        screen.say(one.explain())
    if report is not None:
        screen.say(f"report: {report}")


def _row(row: dict[str, object]) -> tuple[str, ...]:
    if "error" in row:
        return (str(row["clip"]), "", "not judged", "", "", "", "")
    seconds = row["seconds"]
    return (
        str(row["clip"]),
        str(row["chosen"]),
        str(row["status"]),
        "yes" if row["feasible_after"] else "no",
        _signed(row["worst_before_over_weight"]),
        _signed(row["worst_after_over_weight"]),
        f"{seconds:.2f}" if isinstance(seconds, float) else "",
    )


def _signed(value: object) -> str:
    return f"{value:+.4f}" if isinstance(value, float) else "–"
