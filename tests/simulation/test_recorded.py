"""A run as a clip: its frames are the engine's states, its stances the contacts that carried."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip
from surefoot.simulation.disturbances import Push
from surefoot.simulation.recorded import recorded_clip
from surefoot.simulation.simulator import simulate
from surefoot.simulation.verdict import Verdict


def standing(*pushes: Push) -> Verdict:
    """A second at home, with servos."""
    robot = sf.load_robot("human25")
    time = np.array([0.0, 0.5, 1.0])
    motion = robot.motion(np.repeat(np.array(robot.home)[None], 3, axis=0), time)
    stances = tuple(Stance(s.link, 0.0, 1.0, "face", s.polygon_l) for s in robot.soles)
    clip = Clip(motion, ContactSchedule(stances), robot=robot.name)
    return simulate(clip, robot, controller="pd", pushes=pushes, hold_s=0.0)


def test_a_robot_that_stands_is_recorded_with_its_soles_on_the_ground() -> None:
    found = standing()
    clip = recorded_clip(found.trace, found.clip, found.robot)
    assert clip.motion.time[0] == pytest.approx(0.0)
    assert clip.motion.time[-1] == pytest.approx(1.0, abs=0.003)
    assert clip.motion.fps == pytest.approx(100.0, rel=0.01)
    i = int(np.argmin(np.abs(found.trace.time - clip.motion.time[40])))
    pose = found.robot.qpos(clip.motion)[40]
    assert np.allclose(pose, found.trace.qpos[i], atol=1e-12)
    assert {s.link for s in clip.contacts.stances} == {s.link for s in found.robot.soles}
    assert clip.meta.history[-1].what == "simulate"


def test_a_robot_in_the_air_stands_on_nothing() -> None:
    """Pulled up with twice its weight from 0.3 s on: no load after that."""
    found = standing(Push(0.3, np.array([0.0, 0.0, 2.0 * 67.0 * 9.81]), 0.7))
    clip = recorded_clip(found.trace, found.clip, found.robot)
    assert clip.contacts.stances
    assert max(s.end for s in clip.contacts.stances) < 0.45
