"""The command `simulate`: does the robot stand, once or under many seeds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, UseAppendAction, arg

from surefoot.cli.clip_commands import ClipOptions, Progress, clip_of
from surefoot.cli.options import Number, OptionalFile, OptionalOutput, RobotName
from surefoot.cli.screen import Screen
from surefoot.control.controllers import CONTROLLERS
from surefoot.errors import BadOption, NoFile, UnknownName, nearest

if TYPE_CHECKING:
    from surefoot.motion.motion import Clip
    from surefoot.robots.robot import Robot
    from surefoot.simulation.disturbances import Disturbances, Push
    from surefoot.simulation.verdict import Verdict

NO = 1  # exit code: the robot fell
PUSH_FORM = "T,FX,FY,FZ,DT[,LINK]"


@dataclass(frozen=True, kw_only=True)
class Simulate(ClipOptions):
    """Does it stand: the clip on the simulated robot, driven by a controller."""

    clip: Annotated[Positional[str], arg(metavar="CLIP")]
    """A clip of a robot or of a person, or the name of a bundled one."""
    robot: RobotName
    """A robot of the zoo, a profile, or a path to MJCF or URDF."""
    output: OptionalOutput = None
    """Write a report there (.html)."""
    controller: Annotated[str, arg(metavar="|".join(CONTROLLERS))] = "strict"
    """What drives the robot."""
    friction: Number = None
    """Instead of the friction of the terrain and contacts; the controller knows it."""
    push: UseAppendAction[Annotated[tuple[str, ...], arg(metavar=PUSH_FORM)]] = ()
    """A force from T on for DT seconds, N in world axes, on the root link or LINK; may be given
    several times."""
    seed: int = 0
    """Of everything that is drawn."""
    runs: int = 1
    """So many runs, with the seed and those after it."""
    processes: int = 1
    """They share the runs."""
    floor_friction: Number = None
    """What the floor really has; the controller does not know."""
    mass_error: float = 0.0
    """Masses of links differ by up to this share from what the controller believes."""
    delay: float = 0.0
    """From measurement to torque, s; whole control steps."""
    noise: float = 0.0
    """Sensor noise; 1: 1 mrad, 0.05 rad/s, and 0.02 m/s of the root."""
    ground_error: float = 0.0
    """Surfaces lie up to so many metres higher or lower than the controller believes."""
    settle: float = 0.2
    """Seconds on the first frame before the clip begins."""
    hold: float = 1.0
    """Seconds on the last frame after its end."""
    dump: OptionalFile = None
    """Write all that an outsider needs to replay the run (.npz): surefoot verify reads it."""
    video: OptionalFile = None
    """Write a film of it (.mp4)."""

    def run(self, screen: Screen) -> int:
        """Simulate it."""
        from surefoot.journeys import compile_kernels
        from surefoot.robots.zoo import load_robot

        self._refuse_before_the_work()
        pushes = tuple(_push(text) for text in self.push)
        disturbances = self._disturbances()
        robot = load_robot(self.robot)
        compile_kernels(robot, screen.progress, control=True)
        clip = clip_of(self.clip, robot, self, screen.progress)
        if self.runs > 1:
            return self._many(clip, robot, pushes, disturbances, screen)
        found = self._once(clip, robot, pushes, disturbances, screen)
        screen.notices((*robot.notices, *clip.notices, *found.notices))
        self._write(found, robot, screen.progress)
        if screen.json:
            screen.result({**found.summary(), "clip": Path(self.clip).name})
        else:
            _show(found, self, screen)
        return 0 if found.stood else NO

    def _once(
        self,
        clip: Clip,
        robot: Robot,
        pushes: tuple[Push, ...],
        disturbances: Disturbances,
        screen: Screen,
    ) -> Verdict:
        from surefoot.simulation.simulator import simulate

        return simulate(
            clip,
            robot,
            controller=self.controller,
            friction=self.friction,
            pushes=pushes,
            disturbances=disturbances,
            seed=self.seed,
            settle_s=self.settle,
            hold_s=self.hold,
            progress=screen.progress,
        )

    def _many(
        self,
        clip: Clip,
        robot: Robot,
        pushes: tuple[Push, ...],
        disturbances: Disturbances,
        screen: Screen,
    ) -> int:
        from surefoot.simulation.roll_outs import RollOut, roll_outs

        runs = [
            RollOut(
                clip,
                robot,
                controller=self.controller,
                friction=self.friction,
                pushes=pushes,
                disturbances=disturbances,
                seed=seed,
                settle_s=self.settle,
                hold_s=self.hold,
            )
            for seed in range(self.seed, self.seed + self.runs)
        ]
        found = roll_outs(runs, processes=self.processes, progress=screen.progress)
        stood = sum(one.stood for one in found)
        rows = [{**one.summary(), "clip": Path(self.clip).name} for one in found]
        if screen.json:
            share = stood / len(found)
            screen.result({"schema": 1, "runs": rows, "stood_fraction": share})
        else:
            screen.table(
                f"{Path(self.clip).name} on {robot.name}, {self.controller}",
                ("seed", "stood", "fell at", "cause", "root error, mm"),
                [_row(row) for row in rows],
            )
            screen.say(f"{stood} of {len(found)} stood")
        return 0 if stood == len(found) else NO

    def _disturbances(self) -> Disturbances:
        from dataclasses import fields, replace

        from surefoot.simulation.disturbances import TYPICAL_NOISE, Disturbances

        if not 0.0 <= self.noise < float("inf"):
            raise BadOption(what=f"expected 0 or more, got {self.noise:g}", where="--noise")
        scaled = {
            f.name: self.noise * getattr(TYPICAL_NOISE, f.name) for f in fields(TYPICAL_NOISE)
        }
        return Disturbances(
            friction=self.floor_friction,
            mass_error=self.mass_error,
            delay_s=self.delay,
            noise=replace(TYPICAL_NOISE, **scaled),
            ground_error_m=self.ground_error,
        )

    def _write(self, found: Verdict, robot: Robot, progress: Progress) -> None:
        from surefoot.formats.files import write_whole
        from surefoot.formats.npz import packed_arrays
        from surefoot.simulation.dump import dump_arrays

        if self.dump is not None:
            write_whole(self.dump, packed_arrays(dump_arrays(found)))
        if self.video is not None:
            from surefoot.reports.video import write_video

            write_video(found, self.video, progress=progress)
        if self.output is not None:
            from surefoot.reports.page import report

            title = f"{Path(self.clip).name} on {robot.name}"
            report([found], self.output, robot=robot, title=title)

    def _refuse_before_the_work(self) -> None:
        """Refuse before the work what could not be written after it.

        Raises:
            UnknownName: no controller of that name.
            BadOption: endings, counts, or one file for several runs.
            NoFile: a folder that is not there.
        """
        if self.controller not in CONTROLLERS:
            raise UnknownName(
                what=f"no controller is called '{self.controller}'",
                todo=nearest(self.controller, CONTROLLERS),
            )
        for option, count in (("--runs", self.runs), ("--processes", self.processes)):
            if count < 1:
                raise BadOption(what=f"expected 1 or more, got {count}", where=option)
        wanted = (("-o", self.output, ".html"), ("--dump", self.dump, ".npz"),
                  ("--video", self.video, ".mp4"))  # fmt: skip
        for option, path, ending in wanted:
            if path is None:
                continue
            if self.runs > 1:
                raise BadOption(what="one file cannot hold several runs", where=option)
            if path.suffix != ending:
                what = f"expected a file that ends in {ending}, got '{path.name}'"
                raise BadOption(what=what, where=option)
            if not path.parent.is_dir():
                raise NoFile(
                    what="there is no such folder",
                    where=f"{option} {path.parent}",
                    todo="Name a file in a folder that is there",
                )
        if self.video is not None:
            from surefoot.reports.gl import refuse_film

            refuse_film()


def _push(text: str) -> Push:
    """The push that an option describes.

    Raises:
        BadOption: not of the form T,FX,FY,FZ,DT[,LINK].
    """
    from surefoot.simulation.disturbances import Push

    parts = [part.strip() for part in text.split(",")]
    try:
        time, *force, duration = (float(part) for part in parts[:5])
        if len(force) != 3 or len(parts) > 6:
            raise ValueError
    except ValueError:
        raise BadOption(what=f"expected {PUSH_FORM}, got '{text}'", where="--push") from None
    import numpy as np

    return Push(time, np.array(force), duration, parts[5] if len(parts) == 6 else None)


def _show(found: Verdict, command: Simulate, screen: Screen) -> None:
    """The verdict, then its figures."""
    s = found.summary()
    screen.table(
        f"{Path(command.clip).name} on {found.robot.name}, {found.controller}",
        ("", "simulation"),
        [
            ("answer", "stood" if found.stood else "fell"),
            ("what happened", found.sentence),
            ("root, largest error", _millimetres(s["root_error_max_m"])),
            ("centre of mass, largest error", _millimetres(s["com_error_max_m"])),
            ("pressure beside the ZMP of the reference, rms", _millimetres(s["cop_error_rms_m"])),
            ("joints, rms error", _degrees(s["joint_error_rms_rad"])),
            ("joints at their torque limit", _share(s["torque_saturated_fraction"])),
            ("contacts as scheduled", _share(s["contact_agreement"])),
            ("faster than real time", f"{_number(s['real_time_factor']):.1f} times"),
        ],
    )
    for path in (command.output, command.video, command.dump):
        if path is not None:
            screen.say(f"written: {os.fspath(path)}")


def _row(row: dict[str, object]) -> tuple[str, ...]:
    fell = row["fell_at_s"]
    return (
        str(row["seed"]),
        "yes" if row["stood"] else "no",
        f"{fell:.2f} s" if isinstance(fell, float) else "",
        str(row["cause"] or ""),
        _millimetres(row["root_error_max_m"]),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")


def _millimetres(value: object) -> str:
    return f"{1e3 * value:.1f} mm" if isinstance(value, float) else "–"


def _degrees(value: object) -> str:
    return f"{57.29578 * value:.2f}°" if isinstance(value, float) else "–"


def _share(value: object) -> str:
    return f"{100.0 * value:.1f} %" if isinstance(value, float) else "–"
