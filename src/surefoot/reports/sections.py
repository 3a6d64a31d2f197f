"""What a report says and shows about clips and balances."""

from __future__ import annotations

from typing import cast

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.contacts.balance import Balance
from surefoot.contacts.cones import contact_cones
from surefoot.contacts.support import support
from surefoot.dynamics.batch import Batch
from surefoot.errors import Defect
from surefoot.motion import rotation
from surefoot.motion.contact import Stance
from surefoot.motion.motion import Clip, Motion
from surefoot.reports import figures, panels, plots
from surefoot.reports.parts import Block, Context, KeyFigure, Part
from surefoot.reports.phrases import foot_of, length, percent, role_of, without_folders
from surefoot.reports.player import Polygon, Track, actor, stance_spans
from surefoot.reports.projection import outline
from surefoot.robots.robot import Robot

STRIP_POSES = 8
MOST_JOINTS = 12  # in the plot of ranges; the ones closest to a limit
NEAR_LIMIT = 0.05  # of a joint's range
SOLE_MIDDLE_TOLERANCE_M = 1e-9  # a vertex in the very middle of the sole counts as heel and toe
G_MPS2 = 9.81  # m/s², as MuJoCo's default


def clip_part(value: object, context: Context) -> Part:
    """A clip: the robot in motion, its stances, its joints, where it came from."""
    clip = cast("Clip", value)  # the table of drawers chose this function by type
    robot, motion = context.robot, clip.motion
    if robot is None:
        raise Defect(what="a chapter with a clip has no robot", where=clip.meta.source)
    qpos = robot.qpos(motion)
    batch = Batch(robot, qpos)
    cones = contact_cones(batch, motion.time, clip.contacts, sliding="static")
    travelled = float(np.sum(np.linalg.norm(np.diff(motion.root_pos[:, :2], axis=0), axis=1)))
    ranges = _ranges(robot, motion)
    near = [r for r in ranges if _closeness(r) < NEAR_LIMIT]
    beyond = [r for r in near if _closeness(r) < 0.0]
    key_figures = (
        KeyFigure(
            "Duration", f"{motion.duration:.2f} s", f"{motion.n} frames, {motion.fps:.4g} a second"
        ),
        KeyFigure("Path of the root", f"{travelled:.2f} m"),
        KeyFigure("Stances", str(len(clip.contacts.stances)), _standing_note(clip)),
        KeyFigure(
            "Joints at a limit",
            f"{len(near)} of {len(ranges)}",
            f"{len(beyond)} beyond it" if beyond else f"within {percent(NEAR_LIMIT)} of the range",
            bool(beyond),
        ),
    )
    return Part(
        figures=key_figures,
        blocks=(*_strip(robot, motion, qpos), *_contacts(clip, robot), *_joints(ranges, near)),
        notices=(*clip.notices, *robot.notices),
        provenance=provenance(clip, robot),
        actors=(actor(batch, motion.time),),
        polygons=(Polygon("support", motion.time, support(cones)),),
        stances=stance_spans(clip.contacts, robot),
        terrain=clip.terrain,
    )


def balance_part(value: object, context: Context) -> Part:
    """A balance: where the ground would have to push, and whether the feet are there."""
    finding = cast("Balance", value)  # the table of drawers chose this function by type
    state = np.where(finding.judged, finding.outside.astype(np.int64), 2)
    tracks = (
        Track("ZMP", "judged", finding.time, finding.zmp_w, state, finding.outside_m),
        Track("CoM", "plumb", finding.time, finding.com_w, np.zeros_like(state)),
    )
    summary = finding.summary()
    worst_at = summary["worst_at_s"]
    return Part(
        sentences=_balance_sentences(finding),
        figures=_balance_figures(finding, context.robot),
        blocks=(_over_time(finding, context), _from_above(finding, context)),
        tracks=tracks,
        polygons=(Polygon("support", finding.time, finding.support),),
        worst_at=worst_at if isinstance(worst_at, float) else None,
    )


def _balance_sentences(finding: Balance) -> tuple[str, ...]:
    judged = finding.judged
    if not judged.any():
        return ("The ZMP cannot be judged: nothing stands at any moment.",)
    summary = finding.summary()
    share, worst = float(str(summary["outside_fraction"])), float(str(summary["worst_outside_m"]))
    at, margin = float(str(summary["worst_at_s"])), float(str(summary["smallest_margin_m"]))
    if finding.outside.any():
        first = (
            f"For {percent(share)} of the time the ZMP lies outside the support;"
            f" worst {length(worst)} at {at:.2f} s."
        )
    else:
        first = (
            "The ZMP stays inside the support at all times;"
            f" the smallest margin is {length(margin)} at {at:.2f} s."
        )
    loose = float((~judged).mean())
    if loose == 0.0:
        return (first,)
    return (
        first,
        f"For {percent(loose)} of the clip nothing stands, or nothing presses: not counted.",
    )


def _balance_figures(finding: Balance, robot: Robot | None) -> tuple[KeyFigure, ...]:
    judged, outside = finding.judged, finding.outside
    if not judged.any():
        return (KeyFigure("ZMP outside the support", "not judged"),)
    summary = finding.summary()
    share, worst = float(str(summary["outside_fraction"])), float(str(summary["worst_outside_m"]))
    spans = len(finding.outside_spans)
    force = finding.wrench_w[judged, :3]
    pressing = force[:, 2] > 0.0
    found = [
        KeyFigure(
            "ZMP outside the support",
            percent(share),
            f"in {spans} stretch{'es' if spans != 1 else ''}",
            bool(outside.any()),
        ),
        KeyFigure(
            "Farthest outside" if outside.any() else "Smallest margin",
            length(worst if outside.any() else float(str(summary["smallest_margin_m"]))),
            f"at {summary['worst_at_s']:.2f} s",
            bool(outside.any()),
        ),
    ]
    if pressing.any():
        slope = np.linalg.norm(force[pressing, :2], axis=1) / force[pressing, 2]
        found.append(KeyFigure("Steepest force", f"{slope.max():.2f}", "horizontal over vertical"))
    if robot is not None:
        peak = float(force[:, 2].max()) / (robot.mass * G_MPS2)
        found.append(KeyFigure("Strongest press", f"{peak:.2f}", "times the weight"))
    return tuple(found)


def _over_time(finding: Balance, context: Context) -> Block:
    forward = _forward(context)
    left = np.array([-forward[1], forward[0]])
    drawn = [
        panels.Panel(
            "ZMP outside, mm",
            (panels.Line("distance", 1000.0 * finding.outside_m, "zmp"),),
            zero=True,
        )
    ]
    there = np.where(finding.judged, 1.0, np.nan)
    for name, axis in (("left", left), ("forward", forward)):
        lines = (
            panels.Line("ZMP", there * (finding.zmp_w[:, :2] @ axis), "zmp"),
            panels.Line("CoM", finding.com_w[:, :2] @ axis, "com", dashed=True),
        )
        reach = finding.support.vertices_w[:, :, :2] @ axis
        empty = np.where(finding.support.standing, 0.0, np.nan)
        band = (reach.min(axis=1) + empty, reach.max(axis=1) + empty)
        drawn.append(panels.Panel(f"{name}, m", lines, band))
    bars, rows = _bands(context)
    svg = plots.over_time(
        finding.time,
        drawn,
        bars=bars,
        rows=rows,
        shaded=finding.outside_spans,
        label="Distance of the ZMP from the support, ZMP and support to the left and forward, and"
        " which part of which foot stands, over time. " + " ".join(_balance_sentences(finding)),
    )
    text = (
        "Distance of the ZMP from the edge of the support polygon: above zero it lies outside"
        " (shaded). Below it, ZMP and centre of mass within the reach of the support, and what"
        " stands when; hatched: on the ground but moving."
    )
    return Block("ZMP against the support", text, (svg,))


def _from_above(finding: Balance, context: Context) -> Block:
    forward = _forward(context)
    axes = np.column_stack([forward, [-forward[1], forward[0]]])
    names = ("forward", "left")
    ahead, aside = np.ptp(finding.com_w[:, :2] @ axes, axis=0)
    if aside > ahead:  # a sheet is wider than high
        axes, names = np.column_stack([-axes[:, 1], axes[:, 0]]), ("right", "forward")
    there = np.where(finding.judged, 1.0, np.nan)[:, None]
    svg = plots.from_above(
        (
            ("ZMP", there * (finding.zmp_w[:, :2] @ axes), "zmp"),
            ("CoM", finding.com_w[:, :2] @ axes, "com"),
        ),
        _footprints(context, axes),
        names=names,
        outside=finding.outside,
        label="Paths of ZMP and centre of mass over the footprints, from above",
    )
    text = "From above: footprints at the middle of each stance, and the paths over them."
    return Block("Paths over the footprints", text, (svg,))


def _forward(context: Context) -> Float64[Array, " 2"]:
    """Where the robot faces at the first frame, seen from above; world x without a clip."""
    if context.clip is None:
        return np.array([1.0, 0.0])
    facing = rotation.rotate(context.clip.motion.root_quat[0], np.array([1.0, 0.0, 0.0]))[:2]
    size = float(np.linalg.norm(facing))
    return np.asarray(facing / size) if size > 0.1 else np.array([1.0, 0.0])


def _footprints(context: Context, axes: Float64[Array, "2 2"]) -> list[plots.Footprint]:
    """The hull of the contact vertices of each stance, in the middle of its time."""
    clip, robot = context.clip, context.robot
    if clip is None or robot is None or not clip.contacts.stances:
        return []
    time, stances = clip.motion.time, clip.contacts.stances
    middle = np.array([0.5 * (stance.start + stance.end) for stance in stances])
    frames = np.clip(np.searchsorted(time, middle), 0, len(time) - 1)
    batch = Batch(robot, robot.qpos(clip.motion)[frames])
    found = []
    for i, stance in enumerate(stances):
        corners = outline(batch.points_w(stance.link, stance.vertices)[i, :, :2] @ axes)
        found.append(plots.Footprint(corners, role_of(robot, stance.link)))
    return found


def _ends(robot: Robot, stance: Stance) -> tuple[str, ...]:
    """`toe`, `heel` or both, for a foot that stands on one sole; else nothing.

    Forward is the robot's in its home pose, so that no link has to have a certain frame.
    """
    soles = [sole for sole in robot.soles if sole.link == stance.link]
    siblings = [sole for sole in robot.soles if soles and sole.side == soles[0].side]
    if len(soles) != 1 or len(siblings) != 1:
        return ()
    home = Batch(robot, robot.home[None])
    quat_wl = home.link_quat_w[0, robot.link_id(stance.link)]
    forward_l = rotation.rotate(rotation.conjugate(quat_wl), np.array([1.0, 0.0, 0.0]))
    reach = soles[0].polygon_l @ forward_l
    ahead = stance.vertices @ forward_l - 0.5 * (reach.min() + reach.max())
    ends = []
    if np.any(ahead >= -SOLE_MIDDLE_TOLERANCE_M):
        ends.append("toe")
    if np.any(ahead <= SOLE_MIDDLE_TOLERANCE_M):
        ends.append("heel")
    return tuple(ends)


def _bands(context: Context) -> tuple[list[panels.Bar], list[str]]:
    """Bars of the stances, and their rows: left before right, toe before heel."""
    clip, robot = context.clip, context.robot
    if clip is None or robot is None:
        return [], []
    bars: list[panels.Bar] = []
    for stance in clip.contacts.stances:
        side = foot_of(robot, stance.link).split(" ")[0]
        names = [f"{side} {end}" for end in _ends(robot, stance)] or [stance.link]
        role = role_of(robot, stance.link)
        bars += [
            panels.Bar(name, stance.start, stance.end, role, "moving" if stance.moving else "face")
            for name in names
        ]
    soles = (sole.link for sole in robot.soles)
    known = ("left toe", "left heel", "right toe", "right heel", *dict.fromkeys(soles))
    used = list(dict.fromkeys(bar.row for bar in bars))
    return bars, [row for row in known if row in used] + [row for row in used if row not in known]


def _standing_note(clip: Clip) -> str:
    moving = sum(stance.moving for stance in clip.contacts.stances)
    return f"{moving} of them moving" if moving else ""


def _strip(robot: Robot, motion: Motion, qpos: Float64[Array, "n nq"]) -> tuple[Block, ...]:
    moments = np.linspace(motion.time[0], motion.time[-1], min(STRIP_POSES, motion.n))
    frames = np.unique(np.clip(np.searchsorted(motion.time, moments), 0, motion.n - 1))
    labels = [f"{motion.time[i]:.2f} s" for i in frames]
    svg = figures.strip_svg(robot, qpos[frames], labels=labels, width_px=1040.0)
    return (Block("Film strip", svgs=(svg,)),)


def _contacts(clip: Clip, robot: Robot) -> tuple[Block, ...]:
    """The table of stances."""
    head = ("link", "foot", "from", "to", "lasts", "stands on", "friction")
    rows = []
    for stance in clip.contacts.stances:
        ends = _ends(robot, stance)
        whole = " and ".join(ends)
        touches = f"{stance.mode} ({whole})" if ends else stance.mode
        rows.append(
            (
                stance.link,
                foot_of(robot, stance.link).split(" ")[0],
                f"{stance.start:.2f} s",
                f"{stance.end:.2f} s",
                f"{stance.end - stance.start:.2f} s",
                touches + (", moving" if stance.moving else ""),
                f"{stance.friction:.2f}",
            )
        )
    if not rows:
        return (Block("Contacts", "Nothing stands at any moment of this clip."),)
    return (Block("Contacts", head=head, rows=tuple(rows)),)


def _ranges(robot: Robot, motion: Motion) -> list[plots.Range]:
    """What each joint with limits uses of its range, the closest to a limit first."""
    limits = dict(
        zip(robot.joint_names, zip(robot.joint_min, robot.joint_max, strict=True), strict=True)
    )
    found = []
    for name in motion.joint_names:
        low, high = (float(v) for v in limits.get(name, (-np.inf, np.inf)))
        if np.isfinite(low) and np.isfinite(high) and low < high:
            used = motion.joint(name)
            found.append(plots.Range(name, low, high, float(used.min()), float(used.max())))
    return sorted(found, key=_closeness)


def _closeness(joint: plots.Range) -> float:
    """Smallest distance from a limit as a share of the range; negative beyond it."""
    distance = min(joint.used_low - joint.low, joint.high - joint.used_high)
    return distance / (joint.high - joint.low)


def _joints(ranges: list[plots.Range], near: list[plots.Range]) -> tuple[Block, ...]:
    if not ranges:
        return ()
    shown = ranges[:MOST_JOINTS]
    label = f"Ranges of the {len(shown)} joints that come closest to a limit"
    count = f"{len(near)} come" if len(near) > 1 else "One comes" if near else "None comes"
    text = f"{label}, of {len(ranges)}. {count} within {percent(NEAR_LIMIT)} of the range."
    return (Block("Joints near their limits", text, (plots.joint_ranges(shown, label=label),)),)


def provenance(clip: Clip, robot: Robot) -> tuple[tuple[str, str], ...]:
    """Where a clip and its robot come from, and what was done to the clip."""
    steps = tuple(
        (f"step {i}", ", ".join((step.what, *map(_parameter, step.parameters.items()))))
        for i, step in enumerate(clip.meta.history, start=1)
    )
    return (
        ("robot", f"{robot.name}, {robot.mass:.2f} kg, from {without_folders(robot.source)}"),
        ("clip", without_folders(clip.meta.source) or "made in Python"),
        *steps,
    )


def _parameter(item: tuple[str, object]) -> str:
    name, value = item
    return f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
