"""The commands that take a robot's clip, and the options they share: what the clip is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from surefoot.cli.options import (
    From,
    Number,
    OptionalFile,
    OptionalOutput,
    RobotName,
    Talk,
    To,
    clip_path,
)
from surefoot.cli.screen import Screen
from surefoot.errors import BadOption, Notice

if TYPE_CHECKING:
    from surefoot.contacts.detect import Options
    from surefoot.motion.contact import Stance, Terrain
    from surefoot.motion.motion import Clip
    from surefoot.robots.robot import Robot

Progress = Callable[[int, int, str], None]

TIMELINE_COLUMNS = 60
MARKS = {"point": ".", "edge": "=", "face": "#"}
MOVING_MARK = "~"
LEGEND = "# face   = edge   . point   ~ moving   (blank: in the air)"


@dataclass(frozen=True, kw_only=True)
class ClipOptions(Talk):
    """What a robot's clip is: its file, its ground, its contacts."""

    from_: From = None
    """Format of the clip; by default what its content says."""
    fps: Number = None
    """Frames a second, for files that do not say it."""
    terrain: OptionalFile = None
    """The ground (TOML); by default the file beside the clip, else flat at z = 0."""
    contacts: OptionalFile = None
    """Contacts corrected by hand (TOML), instead of those of the clip."""
    detect: bool = False
    """Find the contacts in the motion even where the clip carries some; so does any threshold."""
    contact_height_m: tuple[float, float] = (0.04, 0.06)
    """A corner of a sole seizes the ground below the first height and lets go above the second."""
    contact_tilt_deg: tuple[float, float] = (10.0, 20.0)
    """The same for its angle above the lowest corner of the foot."""
    contact_speed_mps: tuple[float, float] = (0.15, 0.30)
    """The same for its speed."""
    contact_carry_mps: float = 2.0
    """Where nothing stands and the body does not fall, low corners up to this speed carry it."""
    contact_shortest_s: float = 0.08
    """Stances and gaps that are shorter are joined or dropped."""
    contact_speed_window_s: float = 0.05
    """Time over which speeds are taken."""
    contact_rate_hz: Number = None
    """Samples a second at which contacts are found; by default the clip's frames."""
    ground: Literal["local", "clip", "terrain"] = "local"
    """Zero of the heights: the lowest corner around each moment, of the clip, or the terrain."""
    ground_window_s: float = 0.25
    """How far the local ground looks to either side."""

    @property
    def detection(self) -> Options:
        """How contacts are found.

        Raises:
            BadOption: thresholds that cannot work.
        """
        from surefoot.contacts.detect import Options

        return Options(
            height_m=self.contact_height_m,
            tilt_deg=self.contact_tilt_deg,
            speed_mps=self.contact_speed_mps,
            carry_mps=self.contact_carry_mps,
            shortest_s=self.contact_shortest_s,
            ground=self.ground,
            ground_window_s=self.ground_window_s,
            speed_window_s=self.contact_speed_window_s,
            rate_hz=self.contact_rate_hz,
        )


def terrain_of(path: Path, given: Path | None) -> tuple[Terrain | None, tuple[Notice, ...]]:
    """The ground of a person's clip: that of the file that was given, else of the one beside it."""
    from surefoot.formats.surroundings import terrain_beside

    beside = terrain_beside(path) if given is None else None
    if beside is None:
        return _terrain(given), ()
    sentence = f"the terrain is that of {beside.name}, the file beside the clip"
    return _terrain(beside), (Notice("assumption", "terrain", sentence),)


def clip_of(name: str, robot: Robot, options: ClipOptions, progress: Progress) -> Clip:
    """The robot's clip that is meant, with its terrain and contacts; how it came about is noticed.

    A person's clip is retargeted with the default options; a robot's clip without contacts gets
    them detected; a contacts file stands above both.

    Args:
        name: a file, or the name of a bundled clip.

    Raises:
        SurefootError: what is wrong with a file, its contents or the options.
    """
    from surefoot.formats.registry import read
    from surefoot.motion.human import HumanClip

    path, detection = clip_path(name), options.detection
    terrain = _terrain(options.terrain)
    if _holds_person(path, options.from_):
        value = read(path, fps=options.fps, format=options.from_)
    else:
        value = read(
            path,
            robot=robot,
            fps=options.fps,
            format=options.from_,
            terrain=terrain,
            detection=detection,
        )
    if isinstance(value, HumanClip):
        from surefoot.retargeting.retarget import retarget

        sentence = f"a person's motion, retargeted to {robot.name} with the default options"
        ground, said = terrain_of(path, options.terrain)
        value = retarget(value, robot, terrain=ground, progress=progress)
        for notice in (*said, Notice("assumption", name, sentence)):
            value = _noticed(value, notice)
    if options.detect or _chosen(options):
        value = _detected(value, robot, detection)
    return value if options.contacts is None else _corrected(value, robot, options.contacts)


@dataclass(frozen=True, kw_only=True)
class Contacts(ClipOptions):
    """Which link stands where and when, as a table and as a file that can be corrected."""

    clip: Annotated[Positional[str], arg(metavar="CLIP")]
    """A clip of a robot or of a person, or the name of a bundled one."""
    robot: RobotName
    """A robot of the zoo, a profile, or a path to MJCF or URDF."""
    output: OptionalOutput = None
    """Write them there: .toml to be corrected and given back with --contacts, .html to look at."""

    def run(self, screen: Screen) -> int:
        """Find, show and write them."""
        from surefoot.journeys import compile_kernels
        from surefoot.robots.zoo import load_robot

        if self.output is not None and self.output.suffix not in (".toml", ".html"):
            raise BadOption(
                what=f"expected a file that ends in .toml or .html, got '{self.output.name}'",
                where="-o",
            )
        robot = load_robot(self.robot)
        compile_kernels(robot, screen.progress)
        clip = clip_of(self.clip, robot, self, screen.progress)
        if self.output is not None:
            _write_contacts(clip, robot, self.output, f"{self.clip} on {robot.name}")
        screen.notices((*robot.notices, *clip.notices))
        if screen.json:
            screen.result(_summary(self.clip, clip, robot))
            return 0
        rows = [
            (s.link, f"{s.start:.3f}", f"{s.end:.3f}", what, str(s.surface))
            for s, what in zip(clip.contacts.stances, _touches(clip, robot), strict=True)
        ]
        screen.table(
            f"{self.clip} on {robot.name}",
            ("link", "from s", "to s", "what touches", "surface"),
            rows,
        )
        for line in (*timeline(clip), *_how_well(clip, robot)):
            screen.say(line)
        if self.output is not None:
            screen.say(f"written: {self.output}")
        return 0


@dataclass(frozen=True, kw_only=True)
class Convert(Talk):
    """A clip from one file format to another."""

    clip: Annotated[Positional[str], arg(metavar="IN")]
    """A file, or the name of a bundled clip."""
    output: Annotated[Positional[Path], arg(metavar="OUT")]
    """Where to write it; its ending says the format."""
    robot: Annotated[str | None, arg(aliases=["-r"], metavar="ROBOT")] = None
    """Whose joints a robot's file holds; needed where the file does not name them."""
    from_: From = None
    """Format of the input; by default what its content says."""
    to: To = None
    """Format of the output; by default what its name ends in."""
    fps: Number = None
    """Frames a second, for files that do not say it."""

    def run(self, screen: Screen) -> int:
        """Read and write."""
        from surefoot.formats.registry import read, write
        from surefoot.motion.motion import Clip

        robot = None
        if self.robot is not None:
            from surefoot.journeys import compile_kernels
            from surefoot.robots.zoo import load_robot

            robot = load_robot(self.robot)
            compile_kernels(robot, screen.progress)
        value = read(clip_path(self.clip), robot=robot, fps=self.fps, format=self.from_)
        write(value, self.output, format=self.to)
        timed = value.motion if isinstance(value, Clip) else value
        screen.notices(value.notices)
        if screen.json:
            screen.result(
                {
                    "input": self.clip,
                    "output": str(self.output),
                    "kind": "robot" if isinstance(value, Clip) else "human",
                    "frames": timed.n,
                    "fps": timed.fps,
                    "duration_s": timed.duration,
                    "notices": [notice.summary() for notice in value.notices],
                }
            )
        else:
            screen.say(f"{self.output}: {timed.n} frames at {timed.fps:.4g}/s")
        return 0


def timeline(clip: Clip, columns: int = TIMELINE_COLUMNS) -> list[str]:
    """One bar over time for each link that ever stands, with a scale and what the marks mean."""
    links = clip.contacts.links
    if not links:
        return ["nothing ever stands"]
    time = clip.motion.time
    width = max(map(len, links)) + 2
    step = max(clip.motion.duration / columns, 1e-9)
    lines = []
    for link in sorted(links):
        bar = [" "] * columns
        for stance in clip.contacts.stances:
            if stance.link == link:
                first = round((stance.start - float(time[0])) / step)
                last = round((stance.end - float(time[0])) / step)
                mark = MOVING_MARK if stance.moving else MARKS[stance.mode]
                bar[max(first, 0) : min(last, columns)] = mark * (
                    max(min(last, columns) - max(first, 0), 0)
                )
        lines.append(f"{link:<{width}}|{''.join(bar)}|")
    left, right = f"{time[0]:.2f} s", f"{time[-1]:.2f} s"
    lines.append(" " * (width + 1) + left + right.rjust(columns - len(left)))
    lines.append(" " * (width + 1) + LEGEND)
    return lines


def _how_well(clip: Clip, robot: Robot) -> list[str]:
    """How well the feet keep to the ground in these stances, for people."""
    from surefoot.contacts.quality import judge

    if not clip.contacts.stances:
        return []
    quality = judge(clip, robot)
    return [
        f"something stands at {100.0 * quality.contact_fraction:.1f} % of the frames;"
        f" standing feet skate by {100.0 * quality.skate_mean_mps:.1f} cm/s in the mean,",
        f"reach {1000.0 * quality.penetration_max_m:.0f} mm into the ground at most and float"
        f" {1000.0 * quality.float_median_m:.0f} mm above it in the median",
    ]


def _summary(name: str, clip: Clip, robot: Robot) -> dict[str, object]:
    """The JSON object of `surefoot contacts`."""
    from surefoot.contacts.quality import judge

    time, contacts, quality = clip.motion.time, clip.contacts, judge(clip, robot)
    return {
        "schema": 1,
        "clip": name,
        "robot": robot.name,
        "frames": clip.motion.n,
        "fps": clip.motion.fps,
        "duration_s": clip.motion.duration,
        "contact_fraction": quality.contact_fraction,
        "skate_mean_mps": quality.skate_mean_mps,
        "penetration_max_m": quality.penetration_max_m,
        "float_median_m": quality.float_median_m,
        "links": {link: float(contacts.standing(link, time).mean()) for link in contacts.links},
        "stances": [
            {
                "link": s.link,
                "start_s": s.start,
                "end_s": s.end,
                "mode": s.mode,
                "moving": s.moving,
                "touches": what,
                "surface": s.surface,
                "friction": s.friction,
                "normal": s.normal.tolist(),
                "vertices_m": s.vertices.tolist(),
            }
            for s, what in zip(contacts.stances, _touches(clip, robot), strict=True)
        ],
        "notices": [notice.summary() for notice in (*robot.notices, *clip.notices)],
    }


def _touches(clip: Clip, robot: Robot) -> list[str]:
    """What touches in each stance, in words."""
    from surefoot.contacts.edges import touching

    soles = {sole.link: sole for sole in robot.soles}

    def words(stance: Stance) -> str:
        said = touching(robot, soles.get(stance.link), stance.vertices)
        return f"{said}, moving" if stance.moving else said

    return [words(stance) for stance in clip.contacts.stances]


def _write_contacts(clip: Clip, robot: Robot, path: Path, title: str) -> None:
    if path.suffix == ".html":
        from surefoot.reports.page import report

        report([clip], path, robot=robot, title=title)
        return
    from surefoot.formats.files import write_whole

    write_whole(path, clip.contacts.as_toml().encode("utf-8"))


def _text(path: Path) -> str:
    """The text of a file that a person wrote.

    Raises:
        NoFile: not there, a folder, no permission.
        BadFile: empty.
    """
    from surefoot.formats.files import read_bytes

    return read_bytes(path).decode("utf-8-sig", errors="replace")


def _terrain(path: Path | None) -> Terrain | None:
    from surefoot.motion.contact import Terrain

    return None if path is None else Terrain.from_toml(_text(path), where=str(path))


def _holds_person(path: Path, format: str | None) -> bool:
    """Whether a file holds a person's motion; an unknown format is left to the reader to refuse."""
    from surefoot.formats.registry import FORMATS, sniff

    row = FORMATS.get(format or sniff(path).format)
    return row is not None and row.kind == "human"


def _chosen(options: ClipOptions) -> bool:
    """Whether any threshold of the detection is not the default."""
    from surefoot.contacts.detect import Options

    return options.detection != Options()


def _detected(clip: Clip, robot: Robot, detection: Options) -> Clip:
    """The clip with contacts found anew, whatever it carried."""
    from surefoot.contacts.detect import detect

    found = detect(clip.motion, robot, terrain=clip.terrain, options=detection)
    kept = tuple(notice for notice in clip.notices if notice.part != "contacts")
    sentence = f"{len(found.stances)} stances were found in the motion, as asked for"
    return _noticed(
        replace(
            clip,
            contacts=found,
            notices=kept,
            meta=clip.meta.then("detect contacts", robot=robot.name),
        ),
        Notice("assumption", "contacts", sentence, value=float(len(found.stances))),
    )


def _corrected(clip: Clip, robot: Robot, path: Path) -> Clip:
    """The clip with the contacts of a file, and how far they agree with those it had."""
    from surefoot.contacts.contact_file import contacts_from_toml
    from surefoot.contacts.flags import agreement

    given = contacts_from_toml(
        _text(path), robot, where=str(path), terrain=clip.terrain, motion=clip.motion
    )
    share = agreement(given, clip.contacts, clip.motion.time)
    sentence = (
        f"the {len(given.stances)} stances are those of {path.name}; they agree with those"
        f" of the clip in {100.0 * share:.1f} % of the frames"
    )
    return _noticed(
        replace(clip, contacts=given, meta=clip.meta.then("contacts given", file=path.name)),
        Notice("given", "contacts", sentence, value=share),
    )


def _noticed(clip: Clip, notice: Notice) -> Clip:
    return replace(clip, notices=(*clip.notices, notice))
