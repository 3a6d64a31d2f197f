"""What happened in a run, each with its moment: slips, tips, joints at their limits, deviations.

In a fall slips and tips always appear, late, as consequences: only the order of the events tells
what caused what (`verdict`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64
from surefoot.contacts.runs import painted, runs_of
from surefoot.motion import rotation
from surefoot.simulation.thresholds import Thresholds
from surefoot.simulation.trace import Trace

Kind = Literal["slip", "tip", "torque", "com", "root"]
FLAT = 1e-3  # of a patch's length: vertices that lie on a line have no plane


@dataclass(frozen=True, slots=True)
class Event:
    """The first time that something happened."""

    kind: Kind
    time: float
    """s of the clip."""
    link: str
    """Which link; of a joint the one that it moves; of the centre of mass the root."""
    joint: str | None
    value: float
    """How far: m or rad; of a torque the largest share of its limit."""
    sentence: str

    def summary(self) -> dict[str, object]:
        """The event as a JSON object."""
        return {
            "kind": self.kind,
            "time_s": self.time,
            "link": self.link,
            "joint": self.joint,
            "value": self.value,
            "text": self.sentence,
        }


def events(trace: Trace, thresholds: Thresholds, *, since: float = -np.inf) -> tuple[Event, ...]:
    """The first event of each kind and link or joint, in the order of their moments.

    Args:
        since: s of the clip; what happened before does not count.
    """
    begin = int(np.searchsorted(trace.time, since - 0.5 * trace.dt))
    found = [
        *_of_soles(trace, thresholds, begin),
        *_of_joints(trace, thresholds, begin),
        *_deviations(trace, thresholds, begin),
    ]
    return tuple(sorted(found, key=lambda event: event.time))


def last_well(trace: Trace, thresholds: Thresholds) -> float:
    """When, before a fall, the centre of mass was last where it should be; s of the clip.

    That is, off by less than a share of what is an event. What happened long before, the robot has
    recovered from.
    """
    away = np.linalg.norm(trace.com_w - trace.target_com_w, axis=1)
    well = away < thresholds.well * thresholds.com_error_m
    if trace.fell_at is not None:
        well &= trace.time <= trace.fell_at
    return float(trace.time[np.flatnonzero(well)[-1]]) if well.any() else float(trace.time[0])


def _of_soles(trace: Trace, limits: Thresholds, begin: int) -> list[Event]:
    """Slips and tips: the first of each by link."""
    patches = trace.patches
    first: dict[tuple[Kind, str], Event] = {}
    for p in range(len(patches.patch_link)):
        for event in _of_patch(trace, limits, p, begin):
            key = (event.kind, event.link)
            if key not in first or event.time < first[key].time:
                first[key] = event
    return list(first.values())


def _of_patch(trace: Trace, limits: Thresholds, p: int, begin: int) -> list[Event]:
    """The first slip and the first tip of one patch."""
    patches = trace.patches
    c = int(patches.patch_link[p])
    name = patches.link_names[c]
    standing = trace.holds[:, p] & (
        trace.contact_load_n[:, c] > limits.loaded_over_weight * trace.weight_n
    )
    wait = max(1, round(limits.touch_down_s / trace.dt))
    start, stop = runs_of(_closed(standing, wait))
    found = []
    for s, e in zip(start + wait, stop, strict=True):
        if s >= e:
            continue
        slip = _slipped(trace, p, int(s), int(e))
        tip = _tilted(trace, p, int(s), int(e))
        slips = f"{name} slips: {1e3 * slip.max():.0f} mm in this stance"
        tips = f"{name} tips: {np.degrees(tip.max()):.1f}° in this stance"
        rows: tuple[tuple[Kind, Array, float, str], ...] = (
            ("slip", slip, limits.slip_m, slips),
            ("tip", tip, limits.tip_rad, tips),
        )
        for kind, values, limit, sentence in rows[int(patches.moving[p]) :]:
            k = int(np.argmax(values > limit))
            if values[k] > limit and s + k >= begin:
                when = float(trace.time[s + k])
                found.append(Event(kind, when, name, None, float(values.max()), sentence))
    return found


def _closed(flags: Bool[BoolArray, " k"], gap: int) -> Bool[BoolArray, " k"]:
    """The flags with gaps of at most so many steps closed: a sliding foot hops."""
    start, stop = runs_of(~flags)
    short = (stop - start <= gap) & (start > 0) & (stop < len(flags))
    return flags | painted(start[short], stop[short], len(flags))


def _slipped(trace: Trace, p: int, start: int, stop: int) -> Float64[Array, " r"]:
    """How far the middle of a patch is from where it was, along its surface, m."""
    patches = trace.patches
    c = int(patches.patch_link[p])
    middle_l = patches.vertices_of(p).mean(axis=0)
    rows = slice(start, stop)
    place = trace.link_pos_w[rows, c] + rotation.rotate(trace.link_quat_w[rows, c], middle_l)
    way = place - place[0]
    normal = patches.normal_w[p]
    way = way - (way @ normal)[:, None] * normal
    return np.asarray(np.linalg.norm(way, axis=1), dtype=np.float64)


def _tilted(trace: Trace, p: int, start: int, stop: int) -> Float64[Array, " r"]:
    """How much more a face tilts against its surface than the reference's, rad; else zeros."""
    patches = trace.patches
    c = int(patches.patch_link[p])
    vertices = patches.vertices_of(p)
    rows = slice(start, stop)
    centred = vertices - vertices.mean(axis=0)
    _, size, axes = np.linalg.svd(centred, full_matrices=True)
    if len(vertices) < 3 or size[1] < FLAT * size[0]:
        return np.zeros(stop - start)
    tilts = []
    for quat in (trace.link_quat_w[rows, c], trace.target_link_quat_w[rows, c]):
        up = np.abs(rotation.rotate(quat, axes[2]) @ patches.normal_w[p])
        tilts.append(np.arccos(np.minimum(up, 1.0)))
    return np.asarray(np.maximum(tilts[0] - tilts[1], 0.0), dtype=np.float64)


def _of_joints(trace: Trace, limits: Thresholds, begin: int) -> list[Event]:
    """Joints that were at their limit in some steps in a row, each at the last of these steps."""
    n, robot = limits.torque_steps, trace.scene.robot
    flags = trace.saturated.astype(np.int64)
    if trace.steps < n:
        return []
    counts = np.cumsum(
        np.concatenate([np.zeros((1, flags.shape[1]), dtype=np.int64), flags]), axis=0
    )
    full = counts[n:] - counts[:-n] == n
    full[: max(begin - n + 1, 0)] = False
    found = []
    for j in np.flatnonzero(full.any(axis=0)):
        k = int(np.argmax(full[:, j])) + n - 1
        name = robot.joint_names[j]
        link = robot.link_names[int(robot.model.jnt_bodyid[robot.joint_ids[j]]) - 1]
        limit = float(robot.joint_torque[j])
        torque = abs(float(trace.torque[k, j]))
        what = f"{torque:.0f} of {limit:.0f} N m" if np.isfinite(limit) else "its speed limit"
        sentence = f"{name} is at its limit: {what}"
        share = torque / limit if np.isfinite(limit) else 1.0
        found.append(Event("torque", float(trace.time[k]), link, name, share, sentence))
    return found


def _deviations(trace: Trace, limits: Thresholds, begin: int) -> list[Event]:
    """When centre of mass and root first left the reference."""
    root = trace.scene.robot.root_link
    away = np.linalg.norm(trace.com_w - trace.target_com_w, axis=1)
    turn = root_turn(trace)
    found: list[Event] = []
    rows: tuple[tuple[Kind, Array, float, str], ...] = (
        (
            "com",
            away,
            limits.com_error_m,
            f"the centre of mass is {1e2 * limits.com_error_m:.0f} cm off",
        ),
        (
            "root",
            turn,
            limits.root_tilt_rad,
            f"{root} is turned by {np.degrees(limits.root_tilt_rad):.0f}°",
        ),
    )
    for kind, values, limit, sentence in rows:
        beyond = np.flatnonzero(values[begin:] > limit)
        if len(beyond):
            k = begin + int(beyond[0])
            when = float(trace.time[k])
            found.append(Event(kind, when, root, None, float(values.max()), sentence))
    return found


def root_turn(trace: Trace) -> Float64[Array, " k"]:
    """Angle between the root and its reference, rad."""
    between = rotation.multiply(rotation.conjugate(trace.target_root_quat_w), trace.root_quat_w)
    return np.asarray(np.linalg.norm(rotation.as_rotvec(between), axis=1), dtype=np.float64)
