"""The command `index`: the feasibility of one clip, or of several as a ranked table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from surefoot.cli.clip_commands import clip_of
from surefoot.cli.judging import Judging
from surefoot.cli.options import OptionalFile, OptionalOutput, RobotName, clip_path
from surefoot.cli.screen import Screen
from surefoot.errors import BadOption, NoFile, Notice, SurefootError, UnknownFormat, listed

if TYPE_CHECKING:
    from surefoot.index.index import Feasibility, Options
    from surefoot.robots.robot import Robot

NO, FAILED = 1, 2  # exit codes: the answer is no; an input could not be judged
SHOWN_SEGMENTS = 12


@dataclass(frozen=True, kw_only=True)
class Index(Judging):
    """The motion feasibility index: can the contacts give what the motion needs, by how much."""

    clips: Annotated[Positional[tuple[str, ...]], arg(metavar="CLIP...")]
    """Clips of a robot or of a person, names of bundled ones, or folders of clips."""
    robot: RobotName
    """A robot of the zoo, a profile, or a path to MJCF or URDF."""
    output: OptionalOutput = None
    """Write a report there (.html)."""
    csv: OptionalFile = None
    """Write d, its limit and the ZMP by sample."""
    dump: OptionalFile = None
    """Write all that an outsider needs to check the numbers (.npz): surefoot verify reads it."""
    torque: bool = False
    """Find the smallest torque over its limit, over all forces that the contacts can give."""
    budget: bool = False
    """Say how d changes when what goes into it changes a little."""

    def run(self, screen: Screen) -> int:
        """Judge one clip, or rank several."""
        from surefoot.journeys import compile_kernels
        from surefoot.robots.zoo import load_robot

        options = replace(self.options(), torque=self.torque)
        _ = self.detection  # refused once, not once a clip
        names, left_out = expanded(self.clips)
        screen.notices(left_out)
        self._refuse_outputs(names)
        if self.contacts is not None and len(names) > 1:
            what = "one file of contacts cannot be that of several clips"
            raise BadOption(what=what, where="--contacts", todo="Give one clip")
        robot = load_robot(self.robot)
        compile_kernels(robot, screen.progress)
        if len(names) == 1 and names[0] == self.clips[0]:
            name = names[0]
            found = self._judge(name, robot, options, screen)
            self._write([found], robot, name)
            screen.notices((*robot.notices, *found.notices))
            if screen.json:
                warnings = [n.sentence for n in (*robot.notices, *found.notices)]
                screen.result({**found.summary(), "clip": Path(name).name, "warnings": warnings})
            else:
                _show(found, name, screen, self.output)
            return 0 if found.all_feasible else NO
        return self._rank(names, robot, options, screen, left_out)

    def _judge(self, name: str, robot: Robot, options: Options, screen: Screen) -> Feasibility:
        from surefoot.index.budget import budgeted
        from surefoot.index.index import feasibility

        clip = clip_of(name, robot, self, screen.progress)
        found = feasibility(clip, robot, options)
        return budgeted(found, clip, screen.progress) if self.budget else found

    def _write(self, found: list[Feasibility], robot: Robot, title: str) -> None:
        from surefoot.formats.files import write_whole
        from surefoot.formats.npz import packed_arrays
        from surefoot.index.dump import csv_text, dump_arrays

        if self.csv is not None:
            write_whole(self.csv, csv_text(found[0]).encode("utf-8"))
        if self.dump is not None:
            write_whole(self.dump, packed_arrays(dump_arrays(found[0])))
        if self.output is not None:
            from surefoot.reports.page import report

            report(list(found), self.output, robot=robot, title=f"{title} on {robot.name}")

    def _refuse_outputs(self, names: list[str]) -> None:
        """Refuse before the work what could not be written after it, or would destroy an input."""
        if self.output is not None and self.output.suffix != ".html":
            raise BadOption(
                what=f"expected a file that ends in .html, got '{self.output.name}'", where="-o"
            )
        taken = {Path(name).resolve() for name in names}
        for option, path in (("--csv", self.csv), ("--dump", self.dump), ("-o", self.output)):
            if path is None:
                continue
            if len(names) > 1 and option != "-o":
                raise BadOption(
                    what="one file cannot hold several clips", where=option, todo="Give one clip"
                )
            if path.is_dir() or not path.parent.is_dir():
                what = "this is a folder" if path.is_dir() else "there is no such folder"
                where = str(path if path.is_dir() else path.parent)
                raise NoFile(what=what, where=f"{option} {where}", todo="Name a file in a folder")
            if path.resolve() in taken:
                raise BadOption(
                    what=f"'{path}' is a clip or another output", where=option, todo="Name another"
                )
            taken.add(path.resolve())

    def _one_of_several(self, name: str, screen: Screen) -> Index:
        """These options for one of several clips: a rate is for those that do not hold one."""
        from surefoot.formats.registry import FORMATS, sniff

        if self.fps is None:
            return self
        form = FORMATS.get(self.from_ or sniff(clip_path(name)).format)
        if form is None or not form.holds_rate:
            return self
        sentence = f"{name} holds its own frame rate: --fps {self.fps:g} is not used"
        screen.notices([Notice("dropped", name, sentence)])
        return replace(self, fps=None)

    def _rank(
        self,
        names: list[str],
        robot: Robot,
        options: Options,
        screen: Screen,
        left_out: list[Notice],
    ) -> int:
        """All clips, the best first; one that cannot be judged does not stop the others."""
        kept: list[Feasibility] = []  # for what is written alone: a folder may hold thousands
        rows: list[dict[str, object]] = []
        defects: list[Exception] = []
        screen.notices(robot.notices)
        for number, name in enumerate(names):
            screen.progress(number, len(names), name)
            try:
                one = self._one_of_several(name, screen)
                found = one._judge(name, robot, options, screen)
                rows.append({**found.summary(), "clip": name})
            except Exception as error:  # of one clip: the others are judged all the same
                if not isinstance(error, SurefootError) or error.exit_code != FAILED:
                    defects.append(error)
                said = " ".join(str(error).split()) or type(error).__name__
                rows.append({"clip": name, "error": said})
            else:
                screen.notices(_of_clip(name, notice) for notice in found.notices)
                if (self.csv, self.dump, self.output) != (None, None, None):
                    kept.append(found)
        screen.progress(len(names), len(names), "done")
        rows.sort(key=_rank_key)
        if kept:
            self._write(kept, robot, f"{len(kept)} clips")
        if screen.json:
            warnings = [notice.sentence for notice in (*left_out, *robot.notices)]
            screen.result({"schema": 1, "clips": rows, "warnings": warnings})
        else:
            screen.table(
                f"{len(names)} clips on {robot.name}",
                ("clip", "feasible", "of the samples", "worst d / mg", "at", "feasible speed"),
                [_ranked(row) for row in rows],
            )
            for row in rows:
                if "error" in row:
                    screen.say(f"{row['clip']}: {row['error']}")
            if self.output is not None:
                screen.say(f"report: {self.output}")
        if defects:
            raise defects[0]
        if any("error" in row for row in rows):
            return FAILED
        return 0 if all(row["feasible"] for row in rows) else NO


def _of_clip(name: str, notice: Notice) -> Notice:
    """A notice that says which clip it speaks of."""
    return notice if notice.part == name else replace(notice, part=f"{name}: {notice.part}")


def expanded(clips: tuple[str, ...]) -> tuple[list[str], list[Notice]]:
    """The clips, with all files of folders in their place; files of no known format stay out.

    Raises:
        NoFile: no clip at all.
    """
    from surefoot.formats.registry import sniff

    names: list[str] = []
    left_out: list[Notice] = []
    for clip in clips:
        if not Path(clip).is_dir():
            names.append(clip)
            continue
        before, unknown = len(names), []
        for path in sorted(Path(clip).rglob("*")):
            if path.name.startswith(".") or not path.is_file():
                continue
            try:
                sniff(path)
            except UnknownFormat:
                unknown.append(path.name)
                continue
            except SurefootError:
                pass  # it is listed, and its row says what is wrong
            names.append(str(path))
        if unknown:
            sentence = f"{len(unknown)} files of no known format are left out: {listed(unknown)}"
            left_out.append(Notice("dropped", clip, sentence))
        if len(names) == before and len(clips) > 1:
            names.append(clip)  # its row says that there is nothing to read
    if not names:
        raise NoFile(
            what="there is no clip to judge",
            where=", ".join(clips) or "no CLIP was given",
            todo="Give files, folders, or the name of a bundled clip",
        )
    return names, left_out


def _rank_key(row: dict[str, object]) -> tuple[bool, float]:
    worst = row.get("worst_over_weight")
    return "error" in row, float(worst) if isinstance(worst, float) else float("-inf")


def _ranked(row: dict[str, object]) -> tuple[str, ...]:
    name = str(row["clip"])
    if "error" in row:
        return (name, "not judged", "", "", "", "")
    return (
        name,
        "yes" if row["feasible"] else "no",
        f"{100.0 * _number(row['feasible_fraction']):.1f} %",
        _signed(row["worst_over_weight"]),
        f"{_number(row['worst_at_s']):.3f} s" if row["worst_at_s"] is not None else "–",
        _speed(row["feasible_speed"]),
    )


def _show(found: Feasibility, name: str, screen: Screen, report: Path | None) -> None:
    """The figures, then what is infeasible and why."""
    summary = found.summary()
    smoothing = f"{found.options.smooth_hz:g} Hz" if found.options.smooth_hz else "none"
    sides = found.options.cone_sides
    cones = f"{sides}-sided" if sides else "circular"
    rows = [
        ("answer", "feasible" if found.all_feasible else "not feasible"),
        ("feasible samples", f"{100.0 * float(found.feasible.mean()):.1f} % of {found.samples.n}"),
        ("worst d / mg", f"{_signed(summary['worst_over_weight'])} at {_at(summary)}"),
        ("median d", f"{_number(summary['median_margin_n']):.1f} N"),
        ("feasible at a uniform speed of", found.speeds.words(found.time)),
        ("friction required", _plain(summary["required_friction"])),
        ("in flight", f"{summary['flight_samples']} samples"),
        ("judged with", f"{found.options.rate_hz:g} Hz, {found.options.interpolation}, smoothing"
         f" {smoothing}, friction {_plain(summary['friction'])} in {cones} cones, moments about"
         f" {summary['reference']} over {found.options.length_scale_m:g} m"),
        ("bounds", f"{summary['unconverged']} samples did not reach their tolerance; largest gap"
         f" {_number(summary['gap_max_n']):.2g} N"),
    ]  # fmt: skip
    if found.torques is not None:
        rows.insert(6, ("torque over its limit, at least", _torque(found.torques.summary())))
    screen.table(f"{Path(name).name} on {found.robot.name}", ("", "index"), rows)
    segments = found.segments()
    if segments:
        screen.table(
            "not feasible",
            ("from s", "to s", "worst N", "at s", "limit", "why"),
            [
                (f"{s.start_s:.3f}", f"{s.end_s:.3f}", f"{s.worst_n:.1f}", f"{s.worst_at_s:.3f}",
                 s.limit or "–", found.limits.sentence(s.worst_sample))
                for s in sorted(segments, key=lambda s: -s.worst_n)[:SHOWN_SEGMENTS]
            ],
        )  # fmt: skip
    if len(segments) > SHOWN_SEGMENTS:
        screen.say(f"and {len(segments) - SHOWN_SEGMENTS} more: --json lists all")
    if found.budget is not None:
        screen.table(
            "how sure",
            ("what if", "worst d / mg", "feasible"),
            [(name, _signed(worst), f"{100.0 * share:.1f} %")
             for name, worst, share in found.budget.cases],
        )  # fmt: skip
    if report is not None:
        screen.say(f"report: {report}")


def _torque(summary: dict[str, object]) -> str:
    if not isinstance(summary["worst_ratio"], float):
        return "nothing could be judged"
    return (
        f"{summary['worst_ratio']:.3f} ({summary['worst_joint']} at"
        f" {_number(summary['worst_at_s']):.3f} s); {summary['unconverged']} samples not found"
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")


def _plain(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "–"


def _signed(value: object) -> str:
    return f"{value:+.4f}" if isinstance(value, float) else "–"


def _at(summary: dict[str, object]) -> str:
    return f"{_number(summary['worst_at_s']):.3f} s" if summary["worst_at_s"] is not None else "–"


def _speed(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "none"
