"""The family `sidestep`: from quiet standing so many side steps to the left, and so many back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Array
from surefoot.samples import body, plan, posing, smooth
from surefoot.samples.family import Family, Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

MEASURED = "CMU 83_55, 83_68"

PARAMETERS = (
    Parameter("stature_m", 1.75, 1.50, 1.95, "height of the person", "5th to 95th percentile of adults"),
    Parameter("steps", 2, 1, 4, "side steps to the left", "chosen", whole=True),
    Parameter("steps_back", 2, 0, 4, "side steps back to the right", "chosen", whole=True),
    Parameter("step_length_m", 0.35, 0.15, 0.50, "sideways travel of one side step", "chosen"),
    Parameter("step_height_m", 0.08, 0.05, 0.14, "rise of the ball of the foot", MEASURED),
    Parameter("step_time_s", 0.95, 0.75, 1.25, "from one lift-off to the next", MEASURED),
    Parameter("double_support_share", 0.12, 0.08, 0.20, "part of it on both feet", MEASURED),
    Parameter("shift_lateness_s", 0.20, 0.12, 0.26, "weight arrives after lift-off by", MEASURED),
    Parameter("landing_lateness_s", 0.16, 0.08, 0.22, "weight leaves before touch-down by", MEASURED),
    Parameter("stance_width_m", 0.18, 0.12, 0.26, "between the ankles when standing", "McIlroy"),
    Parameter("sway_m", 0.004, 0.0, 0.010, "root mean square of the pressure's wander", "Prieto"),
    Parameter("variation", 1.0, 0.0, 2.0, "of steps and posture, as a factor", "chosen"),
    Parameter("stand_s", 0.8, 0.4, 3.0, "quiet standing before and after", "chosen"),
)  # fmt: skip

FOOT_OUT = np.radians(7.0)  # McIlroy and Maki (1997): 14° between the feet in preferred stance
PRESSURE_AHEAD = 0.026  # of the stature: standing people press 4 to 5 cm before the ankle
PRESSURE_INSET_M = 0.015  # on one foot, from under the ankle inwards, as in CMU 83_55
PAUSE_S = 0.5
FIRST_SHIFT_S = 0.55
LAST_SHIFT_S = 0.70


@dataclass(slots=True)
class _Draft:
    """A plan while it is being made."""

    place: dict[str, Array]
    yaw: dict[str, float]
    start: dict[str, float] = field(default_factory=lambda: {"left": 0.0, "right": 0.0})
    falls: dict[str, list[plan.Footfall]] = field(default_factory=lambda: {"left": [], "right": []})
    swings: dict[str, list[plan.Swing]] = field(default_factory=lambda: {"left": [], "right": []})
    shifts: list[plan.Shift] = field(default_factory=list)

    def swing(
        self, side: str, start: float, end: float, place: Array, yaw: float, how: plan.Swing
    ) -> None:
        """One foot leaves the ground, and rests again at another place."""
        self.falls[side].append(
            plan.Footfall(self.start[side], start, self.place[side], self.yaw[side])
        )
        self.swings[side].append(how)
        self.start[side], self.place[side], self.yaw[side] = end, place, yaw

    def close(self, end: float) -> None:
        """Both feet rest to the end."""
        for side in body.SIDES:
            self.falls[side].append(
                plan.Footfall(self.start[side], end, self.place[side], self.yaw[side])
            )

    def pressure(self, stature: float, load: float) -> Array:
        """Where the weight presses: on the left foot (−1), between the feet (0) or on the right (1)."""
        ahead = np.array([PRESSURE_AHEAD * stature, 0.0])
        if load == 0.0:
            return 0.5 * (self.place["left"] + self.place["right"])[:2] + ahead
        side, sign = ("left", -1.0) if load < 0.0 else ("right", 1.0)
        return self.place[side][:2] + ahead + np.array([0.0, sign * PRESSURE_INSET_M])


def make_plan(rng: np.random.Generator, values: Mapping[str, float]) -> plan.Plan:
    """Footfalls, swings and shifts of weight for these parameters, with this person's variation."""
    half = 0.5 * values["stance_width_m"]
    draft = _Draft(
        place={"left": np.array([0.0, half, 0.0]), "right": np.array([0.0, -half, 0.0])},
        yaw={"left": FOOT_OUT, "right": -FOOT_OUT},
    )
    pressure_start = draft.pressure(values["stature_m"], 0.0)
    t = values["stand_s"]
    for lead, count in (("left", values["steps"]), ("right", values["steps_back"])):
        if count > 0:
            t = _group(draft, rng, values, lead, int(count), t) + PAUSE_S
    end = t - PAUSE_S + values["stand_s"]
    draft.close(end)
    return plan.Plan(
        duration=end,
        left=tuple(draft.falls["left"]),
        right=tuple(draft.falls["right"]),
        left_swings=tuple(draft.swings["left"]),
        right_swings=tuple(draft.swings["right"]),
        pressure_start=pressure_start,
        shifts=tuple(draft.shifts),
    )


def _group(
    draft: _Draft,
    rng: np.random.Generator,
    values: Mapping[str, float],
    lead: str,
    count: int,
    start: float,
) -> float:
    """Side steps in one direction, from standing to standing; when the weight is between the feet again."""
    late, landing = values["shift_lateness_s"], values["landing_lateness_s"]
    double = values["double_support_share"] * values["step_time_s"]
    stature, varied = values["stature_m"], values["variation"]
    trail = "right" if lead == "left" else "left"
    sign = 1.0 if lead == "left" else -1.0
    lift = start + FIRST_SHIFT_S - late
    shift_start = start
    for _ in range(count):
        length = values["step_length_m"] * (1.0 + 0.04 * varied * rng.uniform(-1.0, 1.0))
        for side in (lead, trail):
            other = trail if side == lead else lead
            load = -1.0 if other == "left" else 1.0
            draft.shifts.append(
                plan.Shift(shift_start, lift + late, draft.pressure(stature, load), load)
            )
            jitter = varied * rng.uniform(-1.0, 1.0, 5)
            duration = float((values["step_time_s"] - double) * (1.0 + 0.05 * jitter[0]))
            place = draft.place[other].copy()
            gap = length + values["stance_width_m"] if side == lead else values["stance_width_m"]
            place[1] += gap * (sign if side == lead else -sign) + 0.008 * jitter[1]
            place[0] += 0.012 * jitter[2]
            out = FOOT_OUT if side == "left" else -FOOT_OUT
            how = plan.Swing(
                height=values["step_height_m"] * (1.0 + 0.08 * jitter[3]),
                heel_up=np.radians(12.0),
            )
            yaw = out + np.radians(1.5) * jitter[4]
            draft.swing(side, lift, lift + duration, place, yaw, how)
            shift_start = lift + duration - landing
            lift += duration + double
    draft.shifts.append(
        plan.Shift(shift_start, shift_start + LAST_SHIFT_S, draft.pressure(stature, 0.0), 0.0)
    )
    return shift_start + LAST_SHIFT_S


def make_manner(
    rng: np.random.Generator, values: Mapping[str, float]
) -> tuple[posing.Habit, posing.Sway]:
    """How this person holds the upper body and sways."""
    varied = values["variation"]
    sway = posing.Sway(
        pressure=(smooth.wander(rng, values["sway_m"]), smooth.wander(rng, values["sway_m"])),
        angles={
            name: smooth.wander(rng, varied * np.radians(degrees), high_hz=0.8)
            for name, degrees in (
                ("chest_roll", 0.6), ("chest_pitch", 0.6), ("pelvis_yaw", 1.0),
                ("head_yaw", 2.5), ("head_pitch", 1.0),
                ("Left_out", 1.0), ("Left_forward", 2.0), ("Left_elbow", 2.0),
                ("Right_out", 1.0), ("Right_forward", 2.0), ("Right_elbow", 2.0),
            )
        },
    )  # fmt: skip
    habit = posing.Habit(
        elbow=np.radians(22.0) * (1.0 + 0.2 * varied * rng.uniform(-1.0, 1.0)),
        arm_out=np.radians(10.0) * (1.0 + 0.2 * varied * rng.uniform(-1.0, 1.0)),
        trunk_lean=1.6 * (1.0 + 0.15 * varied * rng.uniform(-1.0, 1.0)),
    )
    return habit, sway
