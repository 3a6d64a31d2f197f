"""Runs made for tests: a small biped on stiff servos that stands on a clip, or falls over it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from make.posers import Holder
from make.standing import stiff
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip, Meta
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import Push
from surefoot.simulation.simulator import simulate
from surefoot.simulation.verdict import Verdict

LIFT_S, TOUCH_S, END_S = 0.4, 0.6, 1.0


def stepping(robot: Robot, *, source: str = "step.csv") -> Clip:
    """A second on both feet; the schedule has the right one away from 0.4 s to 0.6 s."""
    time = np.arange(51) / 50.0
    motion = stiff(robot, time)
    stances = []
    for sole in robot.soles:
        spans = ((0.0, LIFT_S), (TOUCH_S, END_S)) if sole.side == "right" else ((0.0, END_S),)
        stances += [Stance(sole.link, a, b, "face", sole.polygon_l) for a, b in spans]
    return Clip(motion, ContactSchedule(tuple(stances)), robot=robot.name, meta=Meta(source))


def stood(robot: Robot, **options: Any) -> Verdict:
    """A run that stands."""
    return simulate(stepping(robot), robot, controller=Holder(robot), hold_s=0.2, **options)


def fallen(robot: Robot, **options: Any) -> Verdict:
    """A run that falls to the left: it is pushed there at 0.2 s."""
    pushes = (Push(0.2, np.array([0.0, 300.0, 0.0]), 0.1),)
    return simulate(
        stepping(robot), robot, controller=Holder(robot), hold_s=1.0, pushes=pushes, **options
    )


def moved(found: Verdict, **arrays: Any) -> Verdict:
    """The same run with other numbers in its trace."""
    return replace(found, trace=replace(found.trace, **arrays))
