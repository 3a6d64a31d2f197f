"""From a plan to the joints of a person: legs by closed-form inverse kinematics, the rest by habit.

The centre of mass follows a linear inverted pendulum over the plan's pressure path; the pelvis is
put where the body with its swinging leg and leaning trunk has its centre there. Pelvis height is
the highest that keeps both knees a little bent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.motion import rotation
from surefoot.samples import body, plan, smooth

GRID_HZ = 120  # everything is made at this rate; the pendulum errs by (ω dt)²/12, 6e-5 of a step
MARGIN_S = 3.0  # before and after the clip, so that the pendulum's ends are out of sight
COM_HEIGHT = 0.55  # of the stature: Winter gives 0.55 to 0.56 for men standing
REACH_MAX = 0.9945  # of the straight leg: a knee bent by 12°
# Rounds of leading the pendulum by that share of what its body lacks of the wanted ZMP: 0.2 mm are
# left. On stairs the height of the pelvis answers as well, and whole shares run away (seed 20 of
# the drawn members of tests/samples/test_stairs.py).
ROUNDS, SHARE = 6, 1.0
STAIRS_ROUNDS, STAIRS_SHARE = 14, 0.6
ELBOW_SHARE = 0.5  # of an arm's swing, by which its elbow bends more
CENTRINGS = 2  # of the pelvis on the centre of mass, in each of these rounds


@dataclass(frozen=True, slots=True)
class Habit:
    """How this person holds and moves the upper body, rad unless said otherwise."""

    pelvis_lean: float = 1.2
    """Roll of the pelvis per metre between the feet's middle and the centre of mass."""
    trunk_lean: float = 1.6
    """Roll of the chest per metre, as above."""
    head_level: float = 0.9
    """Share of the chest's roll that neck and head take back."""
    trunk_pitch: float = np.radians(2.0)
    """Of the chest forwards when standing."""
    trunk_pitch_speed: float = 0.25
    """More of it with the square of the sideways speed, per (m/s)²."""
    arm_out: float = np.radians(7.0)
    """Upper arms out from the vertical when standing."""
    arm_out_speed: float = 0.8
    """More of it with the square of the sideways speed, per (m/s)²."""
    arm_lag: float = 0.25
    """Arms trail behind the sideways speed, per m/s."""
    arm_forward: float = np.radians(-9.0)
    elbow: float = np.radians(22.0)
    elbow_speed: float = 0.5
    """More of it with the square of the sideways speed, per (m/s)²."""
    arm_swing: float = 0.0
    """Each arm forwards per metre that the other foot is ahead of its own, per m."""
    pelvis_turn: float = 0.0
    """Yaw of the pelvis after the foot that is ahead, per metre that it is, per m."""
    chest_turn: float = 1.5
    """Yaw of the chest against the pelvis, as a share of that of the pelvis."""
    dip_s: float = 0.40
    """Over so long the pelvis sinks before a leg gets too short; about as in CMU 83_55."""
    breath: float = np.radians(0.5)
    breath_hz: float = 0.25


@dataclass(frozen=True, slots=True)
class Sway:
    """The small random part: one wander each."""

    pressure: tuple[smooth.Wander, smooth.Wander]
    """Forward and sideways, m."""
    angles: Mapping[str, smooth.Wander]
    """By name of what wanders, rad."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Root and joints at GRID_HZ, each joint in its parent."""

    root_pos: Float64[Array, "n 3"]
    joint_quat: Float64[Array, "n j 4"]


def about(axis: str, angle: Float64[Array, " n"]) -> Float64[Array, "n 4"]:
    """Turns about one axis."""
    return rotation.from_euler(axis, angle[:, None])


def pose(person: body.Body, footwork: plan.Plan, habit: Habit, sway: Sway) -> Pose:
    """The whole body from the plan's begin to its end, at GRID_HZ.

    Where the body's own ZMP is off the plan's pressure, the pendulum is led by the difference as
    well (as Kajita et al. 2003 do with the difference of two models).
    """
    frames = int(np.floor(footwork.duration * GRID_HZ + 1e-9)) + 1
    margin, dt = round(MARGIN_S * GRID_HZ), 1.0 / GRID_HZ
    grid = (np.arange(frames + 2 * margin) - margin) / GRID_HZ
    clip = slice(margin, margin + frames)
    path = plan.pressure_path(footwork, grid)
    ground = path[clip, 2]
    wanted = path[:, :2] + np.stack([wander(grid) for wander in sway.pressure], axis=1)
    feet = {
        "Left": plan.foot_path(person, footwork.left, footwork.left_swings, grid[clip]),
        "Right": plan.foot_path(person, footwork.right, footwork.right_swings, grid[clip]),
    }
    middle = 0.5 * (feet["Left"].ankle_w[:, 1] + feet["Right"].ankle_w[:, 1])
    ahead = feet["Left"].ankle_w[:, 0] - feet["Right"].ankle_w[:, 0]
    led_by = wanted.copy()
    root = np.zeros((frames, 3))
    rounds, share = (STAIRS_ROUNDS, STAIRS_SHARE) if np.ptp(ground) > 0.0 else (ROUNDS, SHARE)
    for _ in range(rounds):
        centre = smooth.pendulum(led_by, dt, COM_HEIGHT * person.stature)
        speed = np.gradient(centre, dt, axis=0)[clip]
        quat = upper_body(habit, sway, grid[clip], middle - centre[clip, 1], speed[:, 1], ahead)
        pos = stand(person, feet, centre[clip], root, quat, habit.dip_s)
        led_by[clip] += share * (wanted[clip] - body.pressure_point(pos, dt, ground))
    return Pose(root, quat)


def stand(
    person: body.Body,
    feet: Mapping[str, plan.FootPath],
    centre: Float64[Array, "n 2"],
    root_pos: Float64[Array, "n 3"],
    quat: Float64[Array, "n j 4"],
    dip_s: float,
) -> Float64[Array, "n j 3"]:
    """Put the pelvis where the centre of mass is on its path, and the legs under it.

    Writes into `root_pos`, which is begun from, and into the legs of `quat`; gives the joints'
    places.
    """
    if not np.any(root_pos):
        root_pos[:, :2] = centre
    for last in [False] * CENTRINGS + [True]:
        root_pos[:, 2] = pelvis_height(person, root_pos, quat[:, 0], feet, dip_s)
        for side, foot in feet.items():
            leg(person, side, foot, root_pos, quat)
        pos, _ = body.joint_places(person, root_pos, quat)
        if not last:
            root_pos[:, :2] += centre - body.centre_of_mass(pos)[:, :2]
    return pos


def upper_body(
    habit: Habit,
    sway: Sway,
    time: Float64[Array, " n"],
    off: Float64[Array, " n"],
    speed: Float64[Array, " n"],
    ahead: Float64[Array, " n"],
) -> Float64[Array, "n j 4"]:
    """Orientations of pelvis, spine, head and arms in their parents; legs are left at zero.

    Args:
        off: how far left of the centre of mass the middle of the feet is, m.
        speed: of the centre of mass to the left, m/s.
        ahead: how far the left ankle is ahead of the right one, m.
    """
    quat = np.zeros((len(time), len(body.JOINT_NAMES), 4))
    quat[:, :, 0] = 1.0
    angle = {name: wander(time) for name, wander in sway.angles.items()}
    breath = habit.breath * np.sin(2.0 * np.pi * habit.breath_hz * time)
    roll, chest = habit.pelvis_lean * off, habit.trunk_lean * off + angle["chest_roll"]
    pitch = habit.trunk_pitch + habit.trunk_pitch_speed * speed**2 + angle["chest_pitch"]

    def put(name: str, axes: str, *angles: Array) -> None:
        quat[:, body.INDEX[name]] = rotation.from_euler(axes, np.stack(angles, axis=1))

    turn = -habit.pelvis_turn * ahead
    put("Hips", "zx", angle["pelvis_yaw"] + turn, roll)
    for name in ("Spine", "Spine1", "Spine2"):
        third = breath if name == "Spine2" else 0.0 * breath
        back = -habit.chest_turn * turn / 3.0
        put(name, "zxy", back, (chest - roll) / 3.0, pitch / 3.0 - third)
    for name in ("Neck", "Head"):
        put(
            name, "zxy",
            0.5 * (angle["head_yaw"] - angle["pelvis_yaw"] + (habit.chest_turn - 1.0) * turn),
            -0.5 * habit.head_level * chest,
            0.5 * (angle["head_pitch"] - pitch),
        )  # fmt: skip
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        out = habit.arm_out + habit.arm_out_speed * speed**2 - sign * habit.arm_lag * speed
        out = out + angle[f"{side}_out"]
        # Arms hang: they keep most of their direction when the chest leans.
        fall = -sign * (0.5 * np.pi - out) - 0.6 * chest
        forwards = -sign * habit.arm_swing * ahead
        put(f"{side}Arm", "yx", -(habit.arm_forward + angle[f"{side}_forward"] + forwards), fall)
        bend = habit.elbow + habit.elbow_speed * speed**2 + angle[f"{side}_elbow"]
        bend = bend + ELBOW_SHARE * forwards
        put(f"{side}ForeArm", "z", -sign * bend)
    return quat


def pelvis_height(
    person: body.Body,
    root_pos: Float64[Array, "n 3"],
    root_quat: Float64[Array, "n 4"],
    feet: Mapping[str, plan.FootPath],
    dip_s: float,
) -> Float64[Array, " n"]:
    """Height of the pelvis at which neither leg is longer than REACH_MAX, smooth in time.

    A smooth floor under the lower of the two heights that the legs allow.
    """
    longest = REACH_MAX * (person.thigh + person.shank)
    heights = []
    for side, foot in feet.items():
        hip = rotation.rotate(root_quat, person.offsets[body.INDEX[f"{side}UpLeg"]])
        away = foot.ankle_w[:, :2] - root_pos[:, :2] - hip[:, :2]
        room = longest**2 - np.sum(away**2, axis=1)
        heights.append(foot.ankle_w[:, 2] - hip[:, 2] + np.sqrt(np.maximum(room, 0.0)))
    return smooth.under(np.minimum(*heights), round(dip_s * GRID_HZ))


def leg(
    person: body.Body,
    side: str,
    foot: plan.FootPath,
    root_pos: Float64[Array, "n 3"],
    quat: Float64[Array, "n j 4"],
) -> None:
    """Write hip, knee, ankle and toes of one leg into `quat`, knee forwards over the foot.

    The triangle of thigh, shank and the line from hip to ankle lies in the plane of that line and
    the direction half-way between pelvis and foot.
    """
    hips = quat[:, 0]
    hip = root_pos + rotation.rotate(hips, person.offsets[body.INDEX[f"{side}UpLeg"]])
    line = hip - foot.ankle_w
    length = np.linalg.norm(line, axis=1)
    up = line / length[:, None]
    ahead = np.stack([np.cos(0.5 * foot.yaw), np.sin(0.5 * foot.yaw), 0.0 * foot.yaw], axis=1)
    hinge = np.cross(up, ahead)
    hinge /= np.linalg.norm(hinge, axis=1)[:, None]
    a, b = person.thigh, person.shank
    at_hip = np.arccos((a**2 + length**2 - b**2) / (2.0 * a * length))
    at_ankle = np.arccos((b**2 + length**2 - a**2) / (2.0 * b * length))
    frame = rotation.from_matrix(np.stack([np.cross(hinge, up), hinge, up], axis=-1))
    thigh = rotation.multiply(frame, about("y", -at_hip))
    quat[:, body.INDEX[f"{side}UpLeg"]] = rotation.multiply(rotation.conjugate(hips), thigh)
    quat[:, body.INDEX[f"{side}Leg"]] = about("y", at_hip + at_ankle)
    shank = rotation.multiply(frame, about("y", at_ankle))
    quat[:, body.INDEX[f"{side}Foot"]] = rotation.multiply(rotation.conjugate(shank), foot.quat_w)
    quat[:, body.INDEX[f"{side}Toe"]] = about("y", -foot.heel_up)
