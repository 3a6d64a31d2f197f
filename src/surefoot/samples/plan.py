"""What the feet do and where the weight goes: a gait makes the plan, the posing carries it out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.motion import rotation
from surefoot.samples import smooth
from surefoot.samples.body import INDEX, SIDES, Body

RISE_S = 0.24  # of the quick part of the lift: docs/samples.md, "Feet"
QUICK_SHARE = 0.7  # of the height is gained within RISE_S, the rest over the whole swing
TRAVEL = (0.10, 0.92)  # part of the swing in which the foot travels
ROLL = (0.20, 0.85)  # of a swing after a roll over the ball: heel highest, foot level again
PRESSURE_AHEAD = 0.026  # of the stature: standing people press 4 to 5 cm before the ankle
SWING_SAMPLES = 1001  # about a millisecond each


@dataclass(frozen=True, slots=True)
class Footfall:
    """A foot flat and still on the ground."""

    start: float
    """First moment of rest, s."""
    end: float
    """Last moment of rest, s."""
    place: Float64[Array, " 3"]
    """Where the ankle stands, at the height of the sole, m, world."""
    yaw: float
    """Direction of the foot, rad, positive to the left."""


@dataclass(frozen=True, slots=True)
class Swing:
    """How a foot goes from one footfall to the next."""

    height: float
    """Of the arc of the ball over the way between the two footfalls, m."""
    heel_up: float
    """Largest pitch, heel over toes, rad."""
    travel: tuple[float, float] = TRAVEL
    """Part of the swing in which the foot travels over the ground."""
    climb: tuple[float, float] = TRAVEL
    """Part of the swing in which it goes from the one height to the other, besides its arc."""
    roll_s: float = 0.0
    """The heel leaves the ground so long before the ball does; 0: with the ball."""

    def pitch(self, t: Float64[Array, " n"], duration: float) -> Float64[Array, " n"]:
        """Pitch of the foot at times after the ball left the ground, of a swing that lasts so."""
        u = t / duration
        if self.roll_s == 0.0:
            return self.heel_up * smooth.dome(u)
        rise = smooth.step((t + self.roll_s) / (self.roll_s + ROLL[0] * duration))
        return self.heel_up * rise * (1.0 - smooth.step((u - ROLL[0]) / (ROLL[1] - ROLL[0])))


@dataclass(frozen=True, slots=True)
class Shift:
    """The pressure point goes from where it is to another place."""

    start: float
    end: float
    to: Float64[Array, " 3"]
    """Place on the ground, m, world."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Footfalls of both feet, the swings between them, and the shifts of weight."""

    duration: float
    left: tuple[Footfall, ...]
    right: tuple[Footfall, ...]
    left_swings: tuple[Swing, ...]
    right_swings: tuple[Swing, ...]
    pressure_start: Float64[Array, " 3"]
    shifts: tuple[Shift, ...]


@dataclass(frozen=True, slots=True)
class FootPath:
    """One foot over time."""

    ankle_w: Float64[Array, "n 3"]
    quat_w: Float64[Array, "n 4"]
    yaw: Float64[Array, " n"]
    heel_up: Float64[Array, " n"]
    """Pitch of the foot, rad; the toes bend back by as much and stay level."""


@dataclass(slots=True)
class Draft:
    """A plan while it is being made, from the first moment on."""

    stature: float
    inset: float
    """How far from under the ankle, towards the other foot, the weight on one foot presses, m."""
    place: dict[str, Array]
    """Where each foot stands now."""
    yaw: dict[str, float]
    _start: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SIDES, 0.0))
    _falls: dict[str, list[Footfall]] = field(default_factory=lambda: {s: [] for s in SIDES})
    _swings: dict[str, list[Swing]] = field(default_factory=lambda: {s: [] for s in SIDES})
    _shifts: list[Shift] = field(default_factory=list)
    _pressure_start: Array | None = None

    def swing(
        self, side: str, start: float, end: float, place: Array, yaw: float, how: Swing
    ) -> None:
        """One foot leaves the ground, and rests again at another place."""
        self._rest(side, start)
        self._swings[side].append(how)
        self._start[side], self.place[side], self.yaw[side] = end, place, yaw

    def shift(self, start: float, end: float, onto: str) -> None:
        """The weight goes onto `left`, `right` or `both`, where the feet stand now."""
        if self._pressure_start is None:
            self._pressure_start = self._pressure("both")
        self._shifts.append(Shift(start, end, self._pressure(onto)))

    def plan(self, end: float) -> Plan:
        """The finished plan; both feet rest to the end."""
        for side in SIDES:
            self._rest(side, end)
        start = self._pressure("both") if self._pressure_start is None else self._pressure_start
        return Plan(
            duration=end,
            left=tuple(self._falls["left"]),
            right=tuple(self._falls["right"]),
            left_swings=tuple(self._swings["left"]),
            right_swings=tuple(self._swings["right"]),
            pressure_start=start,
            shifts=tuple(self._shifts),
        )

    def _rest(self, side: str, end: float) -> None:
        fall = Footfall(self._start[side], end, self.place[side], self.yaw[side])
        self._falls[side].append(fall)

    def _pressure(self, onto: str) -> Array:
        ahead = np.array([PRESSURE_AHEAD * self.stature, 0.0, 0.0])
        left, right = self.place["left"] + ahead, self.place["right"] + ahead
        way = (right - left) * [1.0, 1.0, 0.0]
        inwards = self.inset * way / np.linalg.norm(way)
        places = {"left": left + inwards, "right": right - inwards, "both": 0.5 * (left + right)}
        return np.asarray(places[onto], dtype=np.float64)


def foot_path(
    person: Body,
    falls: tuple[Footfall, ...],
    swings: tuple[Swing, ...],
    time: Float64[Array, " n"],
) -> FootPath:
    """The foot at each time: still in its footfalls, on twice differentiable arcs between them."""
    ball = np.tile(falls[0].place, (len(time), 1))
    yaw = np.full(len(time), falls[0].yaw)
    heel_up = np.zeros(len(time))
    for before, after, swing in zip(falls[:-1], falls[1:], swings, strict=True):
        duration = after.start - before.end
        u = (time - before.end) / duration
        travel, climb = (
            smooth.step((u - first) / (last - first)) for first, last in (swing.travel, swing.climb)
        )
        quick = smooth.plateau(u, min(0.5, RISE_S / duration))
        arc = smooth.dome(u)
        way = after.place - before.place
        ball = ball + np.stack([travel * way[0], travel * way[1], climb * way[2]], axis=1)
        ball[:, 2] += swing.height * (QUICK_SHARE * quick + (1.0 - QUICK_SHARE) * arc)
        yaw = yaw + travel * (after.yaw - before.yaw)
        heel_up = heel_up + swing.pitch(time - before.end, duration)
    # The footfall names the ankle's place; the arc is that of the ball, about which the heel rises:
    # about the joint of the toes where they stay on the ground meanwhile, so that they do not move.
    rolls = any(swing.roll_s > 0.0 for swing in swings)
    pivot_f = person.offsets[INDEX["LeftToe"]] if rolls else person.ball_f
    turn = rotation.from_euler("zy", np.stack([yaw, heel_up], axis=1))
    flat = rotation.from_euler("z", yaw[:, None])
    lever = rotation.rotate(flat, pivot_f) - rotation.rotate(turn, pivot_f)
    ankle = ball + lever
    ankle[:, 2] += person.ankle_height
    return FootPath(ankle, turn, yaw, heel_up)


def rests(
    person: Body,
    falls: tuple[Footfall, ...],
    swings: tuple[Swing, ...],
    point_f: Float64[Array, " 3"],
    speed_mps: float,
) -> tuple[tuple[float, float], ...]:
    """First and last moment of each rest of a point of the foot: it moves no faster than that.

    Each footfall, made longer on both sides by the slow part of the swings beside it.
    """
    spans = [[fall.start, fall.end] for fall in falls]
    if point_f[0] < person.ball_f[0]:  # what lies behind the ball leaves the ground with the heel
        for i, swing in enumerate(swings):
            spans[i][1] -= swing.roll_s
    if speed_mps == 0.0:
        return tuple((start, end) for start, end in spans)
    for i, after in enumerate(falls[1:]):
        time = np.linspace(spans[i][1], after.start, SWING_SAMPLES)
        foot = foot_path(person, falls[i : i + 2], swings[i : i + 1], time)
        place = foot.ankle_w + rotation.rotate(foot.quat_w, point_f)
        fast = np.linalg.norm(np.gradient(place, time, axis=0), axis=1) > speed_mps
        if np.any(fast):
            spans[i][1] = float(time[np.argmax(fast)])
            spans[i + 1][0] = float(time[len(time) - 1 - np.argmax(fast[::-1])])
    return tuple((start, end) for start, end in spans)


def pressure_path(plan: Plan, time: Float64[Array, " n"]) -> Float64[Array, "n 3"]:
    """Where on the ground the weight is to be at each time; between two treads, on the way up."""
    path = np.tile(plan.pressure_start, (len(time), 1))
    now = plan.pressure_start
    for shift in plan.shifts:
        share = smooth.step((time - shift.start) / (shift.end - shift.start))
        path = path + share[:, None] * (shift.to - now)
        now = shift.to
    return path
