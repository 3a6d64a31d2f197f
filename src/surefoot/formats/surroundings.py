"""What belongs to a robot's motion and most files do not hold: its ground and its contacts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import BadOption, Notice
from surefoot.formats.files import place, read_bytes
from surefoot.motion.contact import ContactSchedule, Terrain
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

if TYPE_CHECKING:
    from surefoot.contacts.detect import Options

TERRAIN_ENDING = ".terrain.toml"
CLIP_ENDING = ".clip"  # walk.clip.npz has its ground in walk.terrain.toml
SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class Given:
    """What the caller says, and the file need not."""

    terrain: Terrain | None = None
    contacts: ContactSchedule | None = None
    detection: Options | None = None


def with_terrain(clip: Clip, path: str | Path, terrain: Terrain | None) -> Clip:
    """The clip on the terrain given, else on that of the file beside it, else as it is.

    Raises:
        NoFile: a terrain file that cannot be opened.
        BadFile: a terrain file that is none.
        BadOption: the clip's contacts stand on surfaces that the terrain lacks.
    """
    said: tuple[Notice, ...] = ()
    if terrain is None:
        beside = terrain_beside(path)
        if beside is None:
            return clip
        text = read_bytes(beside).decode("utf-8", errors="replace")
        terrain = Terrain.from_toml(text, where=place(beside))
        count = len(terrain.surfaces)
        sentence = f"the ground is that of {place(beside.name)} beside the clip: {count} surfaces"
        said = (Notice("assumption", "terrain", sentence, value=float(count)),)
    last = max((stance.surface for stance in clip.contacts.stances), default=0)
    if last >= len(terrain.surfaces):
        raise BadOption(
            what=f"the clip's contacts stand on surface {last}, but the terrain has"
            f" {len(terrain.surfaces)} surfaces, counted from 0",
            where=place(path),
            todo="Give contacts too, or the clip's own terrain",
        )
    return replace(clip, terrain=terrain, notices=(*clip.notices, *said))


def terrain_beside(path: str | Path) -> Path | None:
    """The terrain file of a clip's file: `<stem>.terrain.toml` in its folder."""
    file = Path(path)
    for stem in dict.fromkeys((file.stem, file.stem.removesuffix(CLIP_ENDING))):
        beside = file.with_name(stem + TERRAIN_ENDING)
        if beside.is_file():
            return beside
    return None


def with_contacts(
    clip: Clip,
    robot: Robot | None,
    given: Given,
    *,
    carried: bool,
    feet: Float64[Array, "n 2"] | None = None,
) -> Clip:
    """The clip with the contacts given, else those of its file, else those found in its motion.

    Args:
        carried: whether the clip has its file's contacts already, be it none.
        feet: what the file says of left and right foot, as in `record.Record`.
    """
    if given.contacts is not None:
        count = len(given.contacts.stances)
        notice = Notice("given", "contacts", f"{count} stances were given", value=float(count))
        return replace(clip, contacts=given.contacts, notices=(*clip.notices, notice))
    if carried and feet is None:
        return clip
    if robot is None:
        has = "contacts are left out without a robot" if feet is not None else ""
        has = has or "the file carries no contacts; none are assumed"
        return _noticed(clip, Notice("assumption", "contacts", has))
    if clip.motion.n < 2:
        alone = "a single frame shows no contacts; none are assumed"
        return _noticed(clip, Notice("assumption", "contacts", alone))
    # Imported here: it brings the compiled kernels, which reading a file does not need.
    from surefoot.contacts.detect import detect

    found = detect(clip.motion, robot, terrain=clip.terrain, options=given.detection)
    if feet is not None:
        return _by_flags(clip, robot, feet, found)
    count = len(found.stances)
    notice = Notice(
        "assumption",
        "contacts",
        f"the file carries no contacts; {count} stances were found in the motion",
        value=float(count),
    )
    meta = clip.meta.then("detect contacts", robot=robot.name)
    return replace(_noticed(clip, notice), contacts=found, meta=meta)


def _noticed(clip: Clip, notice: Notice) -> Clip:
    return replace(clip, notices=(*clip.notices, notice))


def _by_flags(
    clip: Clip, robot: Robot, feet: Float64[Array, "n 2"], found: ContactSchedule
) -> Clip:
    """The contacts that a file flags, with how far they agree with those found in the motion.

    Where the file says 0.5 it does not know, and what was found counts.
    """
    from surefoot.contacts.flags import agreement, from_flags

    flags = {}
    for sole in robot.soles:  # two to four
        said = feet[:, SIDES.index(sole.side)]
        seen = found.standing(sole.link, clip.motion.time)
        flags[sole.link] = np.asarray((said > 0.5) | ((said == 0.5) & seen), dtype=np.bool_)
    contacts = from_flags(clip.motion, robot, flags, terrain=clip.terrain)
    share = agreement(contacts, found, clip.motion.time)
    unknown = int(np.count_nonzero(np.any(feet == 0.5, axis=1)))
    gaps = f" ({unknown} frames on which it says 0.5 were filled from the motion)"
    notice = Notice(
        "contacts",
        "contacts",
        f"the {len(contacts.stances)} stances are those that the file flags"
        f"{gaps if unknown else ''}; they agree with what the motion shows in {100.0 * share:.0f} %"
        " of the frames",
        value=share,
    )
    meta = clip.meta.then("contacts of the file", robot=robot.name)
    return replace(_noticed(clip, notice), contacts=contacts, meta=meta)
