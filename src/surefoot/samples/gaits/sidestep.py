"""The family `sidestep`: from quiet standing some side steps to the left, and some back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.samples import smooth
from surefoot.samples.family import Family, Parameter
from surefoot.samples.plan import Draft, Plan, Swing
from surefoot.samples.posing import Habit, Sway

CMU = "CMU 83_55 and 83_68: docs/samples.md"
OWN = "chosen"

PARAMETERS = (
    Parameter("stature_m", 1.75, 1.50, 1.95, "height of the person", "most adults"),
    Parameter("steps", 2.0, 1.0, 4.0, "side steps to the left", OWN, whole=True),
    Parameter("steps_back", 2.0, 0.0, 4.0, "side steps back to the right", OWN, whole=True),
    Parameter("step_length_m", 0.35, 0.15, 0.50, "sideways travel of one side step", OWN),
    Parameter("step_height_m", 0.08, 0.05, 0.12, "rise of the ball of the foot", CMU),
    Parameter("step_time_s", 0.95, 0.75, 1.25, "from one lift-off to the next", CMU),
    Parameter("double_support_share", 0.12, 0.08, 0.20, "part of it on both feet", CMU),
    Parameter("shift_lateness_s", 0.24, 0.14, 0.28, "weight arrives so long after lift-off", CMU),
    Parameter("landing_lateness_s", 0.22, 0.10, 0.26, "weight leaves so long before landing", CMU),
    Parameter("stance_width_m", 0.18, 0.14, 0.26, "between the ankles", "McIlroy and Maki 1997"),
    Parameter("sway_m", 0.004, 0.0, 0.010, "wander of the pressure, rms", "Prieto et al. 1996"),
    Parameter("variation", 1.0, 0.0, 2.0, "of steps and bearing, a factor", OWN),
    Parameter("stand_s", 0.8, 0.4, 3.0, "quiet standing before and after", OWN),
)  # fmt: skip

FOOT_OUT_RAD = np.radians(7.0)  # half the angle between the feet, McIlroy and Maki (1997)
PRESSURE_INSET_M = 0.015  # on one foot, from under the ankle inwards, as in CMU 83_55
PAUSE_S = 0.5
FIRST_SHIFT_S = 0.60
LAST_SHIFT_S = 0.70
HEEL_UP_RAD = np.radians(12.0)

# Largest deviation of one step at variation 1.
VARIED_LENGTH = 0.04
VARIED_TIME = 0.05
VARIED_HEIGHT = 0.08
VARIED_WIDTH_M = 0.008
VARIED_AHEAD_M = 0.012
VARIED_YAW_RAD = np.radians(1.5)

WANDER_DEG = {
    "chest_roll": 0.6, "chest_pitch": 0.6, "pelvis_yaw": 1.0, "head_yaw": 2.5, "head_pitch": 1.0,
    "Left_out": 1.0, "Left_forward": 2.0, "Left_elbow": 2.0,
    "Right_out": 1.0, "Right_forward": 2.0, "Right_elbow": 2.0,
}  # fmt: skip
"""Root mean square at variation 1."""


def family() -> Family:
    """The family of side steps."""
    return Family(PARAMETERS, make_plan, make_manner)


def make_plan(chance: np.random.Generator, values: Mapping[str, float]) -> Plan:
    """Footfalls, swings and shifts of weight."""
    half = 0.5 * values["stance_width_m"]
    draft = Draft(
        stature=values["stature_m"],
        inset=PRESSURE_INSET_M,
        place={"left": np.array([0.0, half, 0.0]), "right": np.array([0.0, -half, 0.0])},
        yaw={"left": FOOT_OUT_RAD, "right": -FOOT_OUT_RAD},
    )
    end = values["stand_s"]
    for lead, count in (("left", int(values["steps"])), ("right", int(values["steps_back"]))):
        if count > 0:
            start = end if lead == "left" else end + PAUSE_S
            end = _side_steps(draft, chance, values, lead, count, start)
    return draft.plan(end + values["stand_s"])


def _side_steps(
    draft: Draft,
    chance: np.random.Generator,
    values: Mapping[str, float],
    lead: str,
    count: int,
    start: float,
) -> float:
    """Side steps in one direction: from one standing to the next, whose begin is returned."""
    varied = values["variation"]
    both_feet = values["double_support_share"] * values["step_time_s"]
    trail = "right" if lead == "left" else "left"
    shift_start, lift = start, start + FIRST_SHIFT_S - values["shift_lateness_s"]
    for _ in range(count):
        length = values["step_length_m"] * (1.0 + VARIED_LENGTH * varied * chance.uniform(-1, 1))
        for side, other in ((lead, trail), (trail, lead)):
            deviation = varied * chance.uniform(-1.0, 1.0, 5)
            outwards = 1.0 if side == "left" else -1.0
            gap = values["stance_width_m"] + (length if side == lead else 0.0)
            gap += VARIED_WIDTH_M * deviation[0]
            ahead = VARIED_AHEAD_M * deviation[1]
            swing_s = values["step_time_s"] - both_feet
            land = lift + float(swing_s * (1.0 + VARIED_TIME * deviation[2]))
            how = Swing(
                height=float(values["step_height_m"] * (1.0 + VARIED_HEIGHT * deviation[3])),
                heel_up=HEEL_UP_RAD,
            )
            yaw = outwards * FOOT_OUT_RAD + float(VARIED_YAW_RAD * deviation[4])
            draft.shift(shift_start, lift + values["shift_lateness_s"], other)
            place = draft.place[other] + np.array([ahead, outwards * gap, 0.0])
            draft.swing(side, lift, land, place, yaw, how)
            shift_start, lift = land - values["landing_lateness_s"], land + both_feet
    draft.shift(shift_start, shift_start + LAST_SHIFT_S, "both")
    return shift_start + LAST_SHIFT_S


def make_manner(chance: np.random.Generator, values: Mapping[str, float]) -> tuple[Habit, Sway]:
    """How this person holds the upper body and sways."""
    varied = values["variation"]
    usual = Habit()
    sway = Sway(
        pressure=(smooth.wander(chance, values["sway_m"]), smooth.wander(chance, values["sway_m"])),
        angles={
            name: smooth.wander(chance, varied * np.radians(degrees), high_hz=0.8)
            for name, degrees in WANDER_DEG.items()
        },
    )
    deviation = varied * chance.uniform(-1.0, 1.0, 3)
    habit = Habit(
        elbow=float(usual.elbow * (1.0 + 0.2 * deviation[0])),
        arm_out=float(usual.arm_out * (1.0 + 0.2 * deviation[1])),
        trunk_lean=float(usual.trunk_lean * (1.0 + 0.15 * deviation[2])),
    )
    return habit, sway
