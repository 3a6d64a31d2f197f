"""A run as a clip: what the simulated robot did, with the contacts that it really had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.arrays import Int64, IntArray
from surefoot.contacts.runs import edge_times, runs_of, without_short
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.simulation.trace import Trace

RECORDED_HZ = 100.0  # of the frames; the engine's own steps would make files of some megabytes
SHORTEST_S = 0.02  # of a contact or a gap: less is a bounce of a stiff sole


def recorded_clip(trace: Trace, clip: Clip, robot: Robot) -> Clip:
    """What the robot did from the clip's first to its last frame, or until it had fallen.

    A link's stance has the vertices that its schedule has there, or next: what exactly touched is
    not kept.

    Args:
        clip: what it followed, for terrain and vertices.
    """
    rows = np.flatnonzero(trace.in_clip)
    if len(rows) < 2:  # it fell before the clip began
        rows = np.arange(trace.steps)
    stride = max(1, round(1.0 / (RECORDED_HZ * trace.dt)))
    frames = np.unique(np.append(rows[::stride], rows[-1]))
    motion = robot.motion(trace.qpos[frames], trace.time[frames])
    stances = [
        stance
        for c, link in enumerate(trace.patches.link_names)
        for stance in _stances(trace, clip, c, link, rows)
    ]
    return replace(
        clip,
        motion=motion,
        contacts=ContactSchedule(tuple(stances)),
        zmp_w=None,
        com_w=None,
        meta=clip.meta.then("simulate", rate_hz=RECORDED_HZ),
        extra={},
    )


def _stances(
    trace: Trace, clip: Clip, c: int, link: str, rows: Int64[IntArray, " n"]
) -> list[Stance]:
    """The stances of one contact link, where it carried load."""
    own = [stance for stance in clip.contacts.stances if stance.link == link]
    time = trace.time[rows]
    touching = ~without_short(~trace.measured[rows, c], time, SHORTEST_S)
    first, stop = runs_of(without_short(touching, time, SHORTEST_S))
    edges = edge_times(time)
    return [
        replace(_nearest(own, edges[a], edges[b]), start=float(edges[a]), end=float(edges[b]))
        for a, b in zip(first, stop, strict=True)
    ]


def _nearest(own: list[Stance], start: float, end: float) -> Stance:
    """The stance that shares most time with a span, or is nearest to it."""

    def shared(stance: Stance) -> float:
        return min(end, stance.end) - max(start, stance.start)

    return max(own, key=shared)
