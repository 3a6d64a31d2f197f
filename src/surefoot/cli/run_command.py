"""The command `run`: clips through the whole walk, each into a folder, one table of all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from surefoot.adapters.methods import METHODS
from surefoot.cli.clip_commands import clip_of
from surefoot.cli.index_command import expanded
from surefoot.cli.judging import Judging
from surefoot.cli.options import Output, RobotName, clip_path
from surefoot.cli.screen import Screen
from surefoot.control.controllers import CONTROLLERS
from surefoot.errors import BadOption, UnknownName, nearest

if TYPE_CHECKING:
    from surefoot.journeys.stations import Plan
    from surefoot.motion.motion import Clip
    from surefoot.robots.robot import Robot

NO, FAILED = 1, 2  # exit codes: the answer is no; an input could not be walked


@dataclass(frozen=True, kw_only=True)
class Run(Judging):
    """The whole walk: retarget, judge, mend, simulate, report; what is done is not done again."""

    clips: Annotated[Positional[tuple[str, ...]], arg(metavar="CLIP...")]
    """Clips of a robot or of a person, names of bundled ones, or folders of clips."""
    robot: RobotName
    """A robot of the zoo, a profile, or a path to MJCF or URDF."""
    output: Output
    """Folder for all results: one in it for each clip, and table.csv and summary.json of all."""
    method: Annotated[str, arg(metavar="|".join(METHODS))] = "warp"
    """How clips are mended."""
    controller: Annotated[str, arg(metavar="|".join(CONTROLLERS))] = "strict"
    """What drives the robot in simulation."""
    seed: int = 0
    """Of everything that is drawn."""

    def run(self, screen: Screen) -> int:
        """Walk one clip, or all of them."""
        from surefoot.journeys import run
        from surefoot.robots.zoo import load_robot

        plan = self._plan()
        names, left_out = expanded(self.clips)
        screen.notices(left_out)
        if self.output.is_file():
            raise BadOption(what=f"'{self.output}' is a file, not a folder", where="-o")
        robot = load_robot(self.robot)
        screen.notices(robot.notices)
        by_path = {str(clip_path(name)): name for name in names}

        def reader(path: str, robot: Robot) -> Clip:
            return clip_of(by_path[path], robot, self, screen.progress)

        found = run(
            list(by_path), robot, self.output, plan=plan, reader=reader, given=self._given(),
            progress=screen.progress,
        )  # fmt: skip
        if screen.json:
            screen.result(found.summary())
        else:
            screen.table(
                f"{len(found.rows)} clips on {robot.name}",
                ("clip", "worst d / mg before", "after", "stood before", "after", "why it fell"),
                [_row(row) for row in found.rows],
            )
            if found.resumed:
                screen.say(f"{found.resumed} of them were there already")
            screen.say(f"table: {self.output / 'table.csv'}")
        if found.defects:
            raise found.defects[0]
        if found.failed:
            return FAILED
        return 0 if found.answer else NO

    def _plan(self) -> Plan:
        """What is done with each clip.

        Raises:
            UnknownName: no method or no controller of that name.
        """
        from surefoot.journeys.stations import Plan

        for word, name, table in (
            ("method", self.method, METHODS),
            ("controller", self.controller, CONTROLLERS),
        ):
            if name not in table:
                raise UnknownName(what=f"no {word} is called '{name}'", todo=nearest(name, table))
        return Plan(
            method=self.method,
            controller=self.controller,
            index=self.options(),
            friction=self.friction,
            seed=self.seed,
        )

    def _given(self) -> str:
        """The options that say what a clip is, and the contents of the files among them."""
        own = asdict(self)
        for name in ("clips", "output", "json", "quiet", "debug"):
            own.pop(name)
        files = [path.read_bytes() for path in (self.terrain, self.contacts)
                 if path is not None and Path(path).is_file()]  # fmt: skip
        return repr((own, files))


def _row(row: dict[str, object]) -> tuple[str, ...]:
    if row["error"]:
        return (str(row["clip"]), "", "", "", "", str(row["error"]))
    return (
        str(row["clip"]),
        _signed(row["worst_before_over_weight"]),
        _signed(row["worst_after_over_weight"]),
        "yes" if row["stood_before"] else "no",
        "yes" if row["stood"] else "no",
        str(row["cause"] or ""),
    )


def _signed(value: object) -> str:
    return f"{value:+.4f}" if isinstance(value, float) else "–"
