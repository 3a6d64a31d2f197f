"""Contacts that a file carries as flags by link and frame, and how far two schedules agree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64
from surefoot.contacts.ground import over_terrain
from surefoot.contacts.runs import edge_times, runs_of, stretches
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, listed
from surefoot.motion.contact import ContactSchedule, Stance, Terrain, mode_of
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot, Sole

LOW_M = 0.03  # a corner this little above the lowest of its sole: 10° on a sole of 0.18 m
SHORTEST_S = 0.08  # vertices that stay for less are those of the longer neighbour, as in detection


def from_flags(
    motion: Motion,
    robot: Robot,
    flags: Mapping[str, Bool[BoolArray, " n"]],
    *,
    terrain: Terrain | None = None,
) -> ContactSchedule:
    """The stances that a file's flags say: which links stand is taken as it is, to the frame.

    Vertices are the corners of the link's sole that are low, at least its lowest one. The flag says
    that the link stands, so low is meant above that link's own lowest corner. Links without a sole
    are left out: `without_sole` names them.

    Args:
        flags: by name of the link.

    Raises:
        UnknownName: a link that the robot has not.
        BadMotion: flags that are not one a frame.
    """
    terrain = terrain or Terrain()
    faults = [
        f"expected flags of '{link}' ({motion.n}), got {np.shape(values)}"
        for link, values in flags.items()
        if np.shape(values) != (motion.n,)
    ]
    if faults:
        raise BadMotion(what=listed(faults), where="contact flags")
    for link in flags:
        robot.link_id(link)
    edges = edge_times(motion.time)
    batch = Batch(robot, robot.qpos(motion))
    stances: list[Stance] = []
    for sole in robot.soles:
        if sole.link in flags:
            stands = np.asarray(flags[sole.link], dtype=np.bool_)
            points_w = batch.points_w(sole.link, sole.polygon_l)
            stances += _flagged(sole, stands, points_w, edges, terrain)
    return ContactSchedule(tuple(stances))


def without_sole(robot: Robot, flags: Mapping[str, Bool[BoolArray, " n"]]) -> tuple[str, ...]:
    """Links that stand at some frame by the flags, but have no sole that could say with what."""
    soled = {sole.link for sole in robot.soles}
    return tuple(link for link, values in flags.items() if link not in soled and np.any(values))


def agreement(a: ContactSchedule, b: ContactSchedule, time: Float64[Array, " n"]) -> float:
    """Share of pairs of link and moment at which both schedules say the same, standing or not.

    Links are those that ever stand in one of the two; 1 where there are none.
    """
    links = dict.fromkeys((*a.links, *b.links))
    same = [a.standing(link, time) == b.standing(link, time) for link in links]
    return float(np.mean(same)) if same and len(time) else 1.0


def _flagged(
    sole: Sole,
    stands: Bool[BoolArray, " n"],
    points_w: Float64[Array, "n k 3"],
    edges: Float64[Array, " e"],
    terrain: Terrain,
) -> list[Stance]:
    """The stances of one sole: flags decide when, heights decide with which corners."""
    height, surface = over_terrain(points_w, terrain)
    low = height <= height.min(axis=1, keepdims=True) + LOW_M
    found = []
    for first, stop in zip(*runs_of(stands), strict=True):  # a few for each step
        for stretch in stretches(low[first:stop], edges[first : stop + 1], SHORTEST_S):
            under = surface[first:stop][stretch.first : stretch.stop, stretch.corners]
            carrier = int(np.argmax(np.bincount(under.reshape(-1))))
            found.append(
                Stance(
                    link=sole.link,
                    start=float(edges[first + stretch.first]),
                    end=float(edges[first + stretch.stop]),
                    mode=mode_of(len(stretch.corners)),
                    vertices=sole.polygon_l[stretch.corners],
                    normal=terrain.surfaces[carrier].normal,
                    friction=terrain.friction,
                    surface=carrier,
                )
            )
    return found
