"""The families `stairs-up` and `stairs-down`: step over step, from quiet standing to standing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from surefoot.arrays import locked
from surefoot.motion.contact import Surface, Terrain
from surefoot.samples import smooth
from surefoot.samples.body import FOOT_LENGTH, HEEL_BEHIND_ANKLE
from surefoot.samples.family import Family, Parameter
from surefoot.samples.plan import Draft, Plan, Swing
from surefoot.samples.posing import Habit, Sway

CMU_UP = "CMU 83_27 and 111_27: docs/samples.md"
CMU_DOWN = "CMU 83_09 and 111_27: docs/samples.md"
OWN = "chosen"


def _parameters(
    cmu: str, step_time: float, share: float, late: float, early: float
) -> tuple[Parameter, ...]:
    """The table of both families, with the defaults in which going up and down differ."""
    return (
        Parameter("stature_m", 1.75, 1.50, 1.95, "height of the person", "most adults"),
        Parameter("level_steps", 1.0, 0.0, 3.0, "level steps before the stairs", OWN, whole=True),
        Parameter("steps", 4.0, 2.0, 6.0, "steps of the stairs", OWN, whole=True),
        Parameter("step_length_m", 0.32, 0.30, 0.42, "depth of a tread", "CMU 83_27, and the foot"),
        Parameter("riser_m", 0.083, 0.05, 0.14, "height of a step", "CMU: 0.11 to 0.14, and lower"),
        Parameter("clearance_m", 0.06, 0.04, 0.08, "rise of the ball over the upper tread", cmu),
        Parameter("step_time_s", step_time, 0.75, 1.15, "from one lift-off to the next", cmu),
        Parameter("double_support_share", share, 0.03, 0.18, "part of it on both feet", cmu),
        Parameter(
            "shift_lateness_s", late, 0.16, 0.34, "weight arrives so long after lift-off", cmu
        ),
        Parameter(
            "landing_lateness_s", early, 0.14, 0.32, "weight leaves so long before landing", cmu
        ),
        Parameter("stance_width_m", 0.16, 0.13, 0.22, "between the ankles", cmu),
        Parameter("sway_m", 0.004, 0.0, 0.010, "wander of the pressure, rms", "Prieto et al. 1996"),
        Parameter("variation", 1.0, 0.0, 2.0, "of steps and bearing, a factor", OWN),
        Parameter("stand_s", 0.8, 0.4, 3.0, "quiet standing before and after", OWN),
    )


FOOT_OUT_RAD = np.radians(6.0)  # each foot; people stand at 7° (McIlroy and Maki 1997)
PRESSURE_INSET_M = 0.010
FIRST_SHIFT_S = 0.60
LAST_SHIFT_S = 0.70
EDGE_SPARE_M = 0.004  # toes that end on an edge would touch it as soon as they move
LANDING_M = 1.2  # of floor at the top beyond the place where both feet stand
WIDTH_M = 1.2
FILE_DIGITS = 9  # of a metre in the terrain file; sums of floats have a tail

# The foot goes up before it goes forwards, and forwards before it goes down; the one is the other
# backwards in time. Checked against edges over the whole ranges by tests/samples/test_stairs.py.
TRAVEL_UP, CLIMB_UP = (0.23, 0.95), (0.0, 0.52)
TRAVEL_DOWN, CLIMB_DOWN = (0.05, 0.77), (0.48, 1.0)
# The heel leaves the ground before the other foot lands, going down earlier: the shank cannot lean
# further forwards. Pitch in the swings of 83_27, 111_27 and 83_09: 16 to 58 degrees.
HEEL_UP_RAD = {True: np.radians(42.0), False: np.radians(32.0)}
ROLL_BEFORE_S = {True: 0.06, False: 0.16}

# Largest deviation of one step at variation 1.
VARIED_TIME = 0.05
VARIED_HEIGHT = 0.08
VARIED_WIDTH_M = 0.006
VARIED_AHEAD_M = 0.012
VARIED_YAW_RAD = np.radians(1.5)

WANDER_DEG = {
    "chest_roll": 0.6, "chest_pitch": 0.8, "pelvis_yaw": 1.0, "head_yaw": 2.0, "head_pitch": 1.2,
    "Left_out": 1.0, "Left_forward": 2.0, "Left_elbow": 2.0,
    "Right_out": 1.0, "Right_forward": 2.0, "Right_elbow": 2.0,
}  # fmt: skip
"""Root mean square at variation 1."""


def up() -> Family:
    """The family of walks up the stairs."""
    return _family(True, _parameters(CMU_UP, 0.84, 0.06, 0.30, 0.27))


def down() -> Family:
    """The family of walks down the stairs."""
    return _family(False, _parameters(CMU_DOWN, 0.92, 0.10, 0.24, 0.28))


def _family(upwards: bool, parameters: tuple[Parameter, ...]) -> Family:
    return Family(
        parameters,
        partial(make_plan, upwards),
        partial(make_manner, upwards),
        partial(make_terrain, upwards),
    )


def level(upwards: bool, values: Mapping[str, float], station: int) -> float:
    """Height of the ground at the place of that number; the feet stand at 0 when all begins."""
    steps = int(values["steps"])
    climbed = min(max(station - int(values["level_steps"]), 0), steps)
    return (climbed if upwards else steps - climbed) * values["riser_m"]


def make_terrain(upwards: bool, values: Mapping[str, float]) -> Terrain:
    """A floor and a box for every tread; the foot's middle stands on the middle of its tread."""
    steps, before, depth = int(values["steps"]), int(values["level_steps"]), values["step_length_m"]
    middle = (0.5 * FOOT_LENGTH - HEEL_BEHIND_ANKLE) * values["stature_m"]
    edges = middle + (before + 0.5 + np.arange(steps + 1)) * depth
    if upwards:
        edges[-1] += LANDING_M
        tops = np.arange(1, steps + 1) * values["riser_m"]
    else:
        edges = np.r_[-LANDING_M, edges[:-1]]
        tops = np.arange(steps, 0, -1) * values["riser_m"]
    boxes = tuple(
        Surface(
            "box",
            locked(np.round((0.5 * (edges[i] + edges[i + 1]), 0.0, 0.5 * top), FILE_DIGITS)),
            size=locked(np.round((edges[i + 1] - edges[i], WIDTH_M, top), FILE_DIGITS)),
        )
        for i, top in enumerate(tops)
    )
    return Terrain((Surface("plane", locked((0.0, 0.0, 0.0))), *boxes))


def make_plan(upwards: bool, chance: np.random.Generator, values: Mapping[str, float]) -> Plan:
    """Footfalls, swings and shifts of weight: one foot on each tread, both on the last place."""
    half, outwards = 0.5 * values["stance_width_m"], {"left": 1.0, "right": -1.0}
    start = level(upwards, values, 0)
    draft = Draft(
        stature=values["stature_m"],
        inset=PRESSURE_INSET_M,
        place={side: np.array([0.0, sign * half, start]) for side, sign in outwards.items()},
        yaw={side: sign * FOOT_OUT_RAD for side, sign in outwards.items()},
    )
    last = int(values["level_steps"]) + int(values["steps"])
    both_feet = values["double_support_share"] * values["step_time_s"]
    shift_start = values["stand_s"]
    lift = shift_start + FIRST_SHIFT_S - values["shift_lateness_s"]
    for i in range(last + 1):
        side, other = ("right", "left") if i % 2 == 0 else ("left", "right")
        deviation = values["variation"] * chance.uniform(-1.0, 1.0, 5)
        swing_s = (values["step_time_s"] - both_feet) * (1.0 + VARIED_TIME * deviation[0])
        land = lift + float(swing_s)
        draft.shift(shift_start, lift + values["shift_lateness_s"], other)
        place = _place(upwards, values, min(i + 1, last), deviation)
        place[1] *= outwards[side]
        yaw = outwards[side] * FOOT_OUT_RAD + float(VARIED_YAW_RAD * deviation[4])
        draft.swing(side, lift, land, place, yaw, _swing(upwards, values, float(deviation[3])))
        shift_start, lift = land - values["landing_lateness_s"], land + both_feet
    draft.shift(shift_start, shift_start + LAST_SHIFT_S, "both")
    return draft.plan(shift_start + LAST_SHIFT_S + values["stand_s"])


def _place(
    upwards: bool, values: Mapping[str, float], station: int, deviation: np.ndarray
) -> np.ndarray:
    """Where a foot is set down, as if it were the left one; never over an edge of its tread."""
    spare = values["step_length_m"] - FOOT_LENGTH * values["stature_m"]
    room = max(0.0, 0.5 * spare - EDGE_SPARE_M)
    ahead = min(max(VARIED_AHEAD_M * deviation[1], -room), room)
    aside = 0.5 * values["stance_width_m"] + VARIED_WIDTH_M * deviation[2]
    return np.array(
        [station * values["step_length_m"] + ahead, aside, level(upwards, values, station)]
    )


def _swing(upwards: bool, values: Mapping[str, float], deviation: float) -> Swing:
    return Swing(
        height=values["clearance_m"] * (1.0 + VARIED_HEIGHT * deviation),
        heel_up=HEEL_UP_RAD[upwards],
        roll_s=values["double_support_share"] * values["step_time_s"] + ROLL_BEFORE_S[upwards],
        travel=TRAVEL_UP if upwards else TRAVEL_DOWN,
        climb=CLIMB_UP if upwards else CLIMB_DOWN,
    )


def make_manner(
    upwards: bool, chance: np.random.Generator, values: Mapping[str, float]
) -> tuple[Habit, Sway]:
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
    deviation = varied * chance.uniform(-1.0, 1.0, 4)
    habit = Habit(
        elbow=float(usual.elbow * (1.0 + 0.2 * deviation[0])),
        arm_out=float(usual.arm_out * (1.0 + 0.2 * deviation[1])),
        arm_swing=float(ARM_SWING * (1.0 + 0.25 * deviation[2])),
        trunk_pitch=float((PITCH_UP_RAD if upwards else PITCH_DOWN_RAD) + PITCH_RAD * deviation[3]),
        pelvis_turn=PELVIS_TURN,
        dip_s=DIP_S,
    )
    return habit, sway


ARM_SWING = 0.6  # per m: 11° for feet a tread of 0.32 m apart
DIP_S = 0.60  # a tread is climbed over about 0.6 s; over 0.4 s the pelvis would jerk
PELVIS_TURN = 0.2  # per m: 4° for the same
PITCH_UP_RAD, PITCH_DOWN_RAD = np.radians(6.0), np.radians(3.0)
PITCH_RAD = np.radians(1.5)
