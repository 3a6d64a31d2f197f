"""The commands: one frozen dataclass each, its fields are the options. Read, one verb, print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, UseAppendAction, arg

from surefoot.cli.options import (
    From,
    Number,
    OptionalFile,
    OptionalOutput,
    Output,
    RobotName,
    Smooth,
    Talk,
    To,
    clip_path,
    cutoff_hz,
)
from surefoot.cli.screen import Screen
from surefoot.errors import BadInput, BadOption


@dataclass(frozen=True, kw_only=True)
class Demo(Talk):
    """The whole walk on a bundled clip: retarget, judge, mend, simulate before and after."""

    name: Annotated[Positional[str], arg(metavar="[CLIP]")] = "sidestep"
    """Name of a bundled clip."""
    robot: RobotName = "human25"
    """A robot of the zoo, a profile, or a path to MJCF or URDF."""
    output: Output = Path("surefoot-demo")
    """Folder for report.html, summary.json, clip.npz, adapted.npz, simulated.npz, filmstrip.png."""

    def run(self, screen: Screen) -> int:
        """Walk it."""
        from surefoot.journeys import demo

        walk = demo(self.name, robot=self.robot, folder=self.output, progress=screen.progress)
        screen.notices((*walk.robot.notices, *walk.clip.notices))
        if screen.json:
            screen.result(walk.summary())
            return 0
        made, index = walk.figures["retarget"], walk.figures["index"]
        assert isinstance(made, dict)
        assert isinstance(index, dict)
        screen.table(
            f"{self.name} on {walk.clip.robot}",
            ("", "figure"),
            (
                ("frames", f"{made['frames']} at {made['fps']:.4g}/s"),
                ("limb directions, mean error", f"{made['limb_error_deg']:.2f} deg"),
                ("feet stand", _share(made["contact_fraction"]) + " of the time"),
                ("feet skate, mean", f"{made['skate_mean_mps'] * 100:.2f} cm/s"),
                ("feasible", _share(index["feasible_fraction"]) + " of the samples"),
                ("worst d", _worst(index)),
                ("ZMP outside the support", _share(index["zmp"]["outside_fraction"]) + " of them"),
                ("ZMP outside, at worst", _millimetres(index["zmp"])),
                ("with new times", walk.adaptation.explain()),
                ("in simulation, as it came", walk.before.sentence),
                ("in simulation, with new times", walk.after.sentence),
            ),
        )
        screen.say(f"report: {walk.folder / 'report.html'}")
        return 0


@dataclass(frozen=True, kw_only=True)
class RobotsList(Talk):
    """The robots that surefoot knows by name."""

    def run(self, screen: Screen) -> int:
        """List them."""
        from surefoot.robots.zoo import entries

        rows = entries()
        if screen.json:
            screen.result({"robots": [row.summary() for row in rows]})
            return 0
        screen.table(
            "",
            ("name", "model", "what it is"),
            [(r.name, "bundled" if r.bundled else "give its path", r.title) for r in rows],
        )
        screen.say("A path to MJCF or URDF is taken wherever a robot is asked for.")
        return 0


@dataclass(frozen=True, kw_only=True)
class RobotsShow(Talk):
    """One robot's joints, limits, mass and soles, with a picture."""

    robot: Annotated[Positional[str], arg(metavar="ROBOT")]
    """A robot of the zoo, a profile, or a path to MJCF or URDF."""
    output: OptionalOutput = None
    """Write a picture of its home pose there (.svg)."""

    def run(self, screen: Screen) -> int:
        """Show it."""
        from surefoot.robots.zoo import load_robot

        robot = load_robot(self.robot)
        if self.output is not None:
            _require_ending(self.output, ".svg")
            from surefoot.reports.figures import write_robot_svg

            write_robot_svg(robot, self.output)
        screen.notices(robot.notices)
        if screen.json:
            screen.result(robot.summary())
            return 0
        screen.say(
            f"{robot.name}: {robot.mass:.2f} kg, {robot.nv} degrees of freedom ({robot.source})"
        )
        screen.say(f"home: root at {robot.home_height:.3f} m")
        screen.table(
            "",
            ("joint", "min rad", "max rad", "speed rad/s", "torque N m"),
            [
                (name, _number(low), _number(high), _number(speed), _number(torque))
                for name, low, high, speed, torque in zip(
                    robot.joint_names,
                    robot.joint_min,
                    robot.joint_max,
                    robot.joint_speed,
                    robot.joint_torque,
                    strict=True,
                )
            ],
        )
        screen.table(
            "",
            ("sole on", "side", "corners in its frame, m"),
            [
                (
                    s.link,
                    s.side,
                    " ".join(f"({x:.3f}, {y:.3f}, {z:.3f})" for x, y, z in s.polygon_l),
                )
                for s in robot.soles
            ],
        )
        if self.output is not None:
            screen.say(f"picture: {self.output}")
        return 0


@dataclass(frozen=True, kw_only=True)
class SamplesList(Talk):
    """The bundled human clips, and the families of which more can be made."""

    def run(self, screen: Screen) -> int:
        """List them."""
        from surefoot.samples import bundled
        from surefoot.samples.generator import FAMILIES, parameters_of

        clips = {name: bundled.load(name) for name in bundled.names()}
        if screen.json:
            screen.result(
                {
                    "clips": [
                        {"name": name, "frames": c.n, "fps": c.fps, "duration_s": c.duration}
                        for name, c in clips.items()
                    ],
                    "families": {
                        name: [p.summary() for p in parameters_of(name)] for name in FAMILIES
                    },
                }
            )
            return 0
        screen.table(
            "",
            ("clip", "frames", "rate", "length"),
            [(n, str(c.n), f"{c.fps:.4g}/s", f"{c.duration:.2f} s") for n, c in clips.items()],
        )
        for name in FAMILIES:
            screen.table(
                f"parameters of {name}",
                ("parameter", "default", "from", "to", "what"),
                [
                    (p.name, f"{p.default:g}", f"{p.low:g}", f"{p.high:g}", p.text)
                    for p in parameters_of(name)
                ],
            )
        return 0


@dataclass(frozen=True, kw_only=True)
class SamplesMake(Talk):
    """Write a member of a family of human clips as BVH, and its terrain file where it has one."""

    name: Annotated[Positional[str], arg(metavar="NAME")]
    """Name of the family."""
    output: Output
    """Where to write it (.bvh)."""
    seed: int = 0
    """Seed of the small differences from step to step."""
    parameter: Annotated[
        UseAppendAction[tuple[str, ...]], arg(aliases=["-p"], metavar="NAME=VALUE")
    ] = ()
    """As often as needed: `surefoot samples list` has the names and ranges."""

    def run(self, screen: Screen) -> int:
        """Make and write it."""
        _require_ending(self.output, ".bvh")
        if self.seed < 0:
            raise BadOption(what=f"expected a number from 0 up, got {self.seed}", where="--seed")
        from surefoot.formats.files import write_whole
        from surefoot.formats.registry import write
        from surefoot.formats.surroundings import TERRAIN_ENDING
        from surefoot.samples.generator import make, terrain

        values = _parameters(self.parameter)
        clip = make(self.name, seed=self.seed, parameters=values)
        ground = terrain(self.name, parameters=values)
        write(clip, self.output)
        beside = None if ground is None else self.output.with_suffix(TERRAIN_ENDING)
        if beside is not None and ground is not None:
            write_whole(beside, ground.as_toml().encode())
        if screen.json:
            screen.result(
                {
                    "name": self.name,
                    "seed": self.seed,
                    "file": str(self.output),
                    "terrain_file": None if beside is None else str(beside),
                    "frames": clip.n,
                    "fps": clip.fps,
                    "duration_s": clip.duration,
                }
            )
        else:
            screen.say(f"{self.output}: {clip.n} frames at {clip.fps:.4g}/s, {clip.duration:.2f} s")
            if beside is not None:
                screen.say(f"{beside}: the ground it stands on")
        return 0


@dataclass(frozen=True, kw_only=True)
class Info(Talk):
    """What a file is, why it is thought so, and what looks wrong."""

    file: Annotated[Positional[str], arg(metavar="FILE")]
    """A file, or the name of a bundled clip."""
    from_: From = None
    """Format of the file; by default what its content says."""

    def run(self, screen: Screen) -> int:
        """Say it."""
        from surefoot.formats.registry import describe

        found = describe(clip_path(self.file), format=self.from_)
        if screen.json:
            screen.result(found)
            return 0
        notices = found["notices"]
        assert isinstance(notices, list)
        rows = [(key, _text(value)) for key, value in found.items() if key != "notices"]
        screen.table("", ("", self.file), rows)
        for notice in notices:
            screen.say(f"{notice['part']}: {notice['sentence']}")
        return 0


@dataclass(frozen=True, kw_only=True)
class Retarget(Talk):
    """A human clip to a robot clip with contacts, by the directions of the limbs."""

    clip: Annotated[Positional[str], arg(metavar="CLIP")]
    """A human clip (BVH), or the name of a bundled one."""
    robot: RobotName
    """A robot of the zoo, a profile, or a path to MJCF or URDF."""
    output: Output
    """Where to write the clip (.npz), or a report of it (.html)."""
    from_: From = None
    """Format of the clip; by default what its content says."""
    to: To = None
    """Format of the result; by default what its name ends in."""
    scale: Number = None
    """Robot's path over the person's; by default the ratio of their legs."""
    rate: Number = None
    """Frames a second of the result; by default those of the human clip."""
    smooth: Smooth = "6"
    """Low pass of the robot's motion, without phase; what it changed is said."""
    terrain: OptionalFile = None
    """The person's ground (TOML); by default the file beside the clip, else a level floor."""

    def run(self, screen: Screen) -> int:
        """Retarget and write."""
        if self.to is None:
            _require_ending(self.output, ".npz", ".html")
        from surefoot.cli.clip_commands import terrain_of
        from surefoot.formats.registry import read, write
        from surefoot.journeys import compile_kernels, retargeted
        from surefoot.motion.human import HumanClip
        from surefoot.retargeting.retarget import Options
        from surefoot.robots.zoo import load_robot

        options = Options(scale=self.scale, rate_hz=self.rate, smooth_hz=cutoff_hz(self.smooth))
        human = read(clip_path(self.clip), format=self.from_)
        if not isinstance(human, HumanClip):
            raise BadInput(what="a robot clip needs no retargeting", where=self.clip)
        robot = load_robot(self.robot)
        compile_kernels(robot, screen.progress)
        ground, said = terrain_of(clip_path(self.clip), self.terrain)
        made, figures = retargeted(
            human, robot, terrain=ground, options=options, progress=screen.progress
        )
        made = replace(made, notices=(*made.notices, *said))
        if self.to is None and self.output.suffix == ".html":
            from surefoot.reports.page import report

            report([made], self.output, robot=robot, title=f"{self.clip} on {robot.name}")
        else:
            write(made, self.output, format=self.to)
        screen.notices((*robot.notices, *made.notices))
        if screen.json:
            screen.result(figures)
            return 0
        screen.table(
            f"{self.clip} on {robot.name}",
            ("", "figure"),
            [(key, _text(v)) for key, v in figures.items() if not isinstance(v, (list, dict))],
        )
        screen.say(f"written: {self.output}")
        return 0


@dataclass(frozen=True, kw_only=True)
class Doctor(Talk):
    """Versions, caches, GL, browser, and known conflicts with their repair."""

    def run(self, screen: Screen) -> int:
        """Examine; 1 when there is a conflict."""
        from surefoot.cli.doctor import examine

        health = examine()
        if screen.json:
            screen.result(health.summary())
        else:
            facts = health.summary()
            facts.update(health.versions)
            rows = [(k, _text(v)) for k, v in facts.items() if k not in ("versions", "notices")]
            screen.table("", ("", "here"), rows)
            for notice in health.notices:
                screen.say(f"{notice.kind}: {notice.part}: {notice.sentence}")
            if not health.conflicted:
                screen.say("no known conflict")
        return 1 if health.conflicted else 0


def _require_ending(path: Path, *endings: str) -> None:
    if path.suffix not in endings:
        raise BadOption(
            what=f"expected a file that ends in {' or '.join(endings)}, got '{path.name}'",
            where="-o",
        )


def _parameters(pairs: tuple[str, ...]) -> Mapping[str, float]:
    """NAME=VALUE pairs as numbers."""
    found: dict[str, float] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            raise BadOption(
                what=f"expected NAME=NUMBER, got '{pair}'", where="--parameter"
            ) from None
        if not equals:
            raise BadOption(what=f"expected NAME=NUMBER, got '{pair}'", where="--parameter")
    return found


def _number(value: float) -> str:
    """A limit for people; a dash where nobody says."""
    return "-" if abs(value) == float("inf") else f"{value:.4g}"


def _share(value: object) -> str:
    return f"{100.0 * value:.1f} %" if isinstance(value, float) else "none"


def _millimetres(zmp: Mapping[str, object]) -> str:
    value, t = zmp["worst_outside_m"], zmp["worst_at_s"]
    if not isinstance(value, float) or not isinstance(t, float):
        return "nothing to judge"
    return f"{1000.0 * value:.0f} mm at {t:.2f} s" if value > 0.0 else "never"


def _worst(index: Mapping[str, object]) -> str:
    value, t = index["worst_over_weight"], index["worst_at_s"]
    if not isinstance(value, float) or not isinstance(t, float):
        return "nothing to judge"
    return f"{100.0 * value:+.1f} % of the weight at {t:.2f} s (above 0: infeasible)"


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)
