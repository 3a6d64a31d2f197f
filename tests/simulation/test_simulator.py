"""From a clip to a verdict."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from make.posers import Holder
from make.robots import biped, planar
from make.standing import only, stiff
from surefoot.errors import BadMotion, BadOption, UnknownName
from surefoot.motion.contact import ContactSchedule, Stance, Surface, Terrain
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import TYPICAL_NOISE, Disturbances, Push, drawn
from surefoot.simulation.simulator import ground_friction, simulate
from surefoot.simulation.trace import TIMES, arrays_of


def _clip(robot: Robot, *, seconds: float = 0.5, start: float = 0.0, shift: Any = None) -> Clip:
    """The robot stiff on both feet."""
    time = start + np.arange(round(seconds * 50) + 1) / 50.0
    motion = stiff(robot, time, shift)
    stances = tuple(
        Stance(s.link, start, float(time[-1]), "face", s.polygon_l) for s in robot.soles
    )
    return Clip(motion, ContactSchedule(stances), robot=robot.name)


@pytest.mark.parametrize("make", [biped, planar])
def test_a_robot_that_stands_still_stands(make: Any, tmp_path: pathlib.Path) -> None:
    robot = make(tmp_path)
    verdict = simulate(_clip(robot), robot, controller=Holder(robot))
    assert verdict.stood
    assert verdict.tracking.root_error_max_m < 0.01
    assert verdict.tracking.contact_agreement is not None
    assert verdict.tracking.contact_agreement > 0.85  # the planar one shakes
    assert verdict.controller == "holder"
    assert verdict.trace.time[-1] == pytest.approx(0.5 + 1.0)


def test_time_is_that_of_the_clip(tmp_path: pathlib.Path) -> None:
    """A clip from 10 s on, with a push at 10.2 s."""
    robot = biped(tmp_path)
    push = Push(10.2, np.array([0.0, 20.0, 0.0]), 0.1)
    verdict = simulate(_clip(robot, start=10.0), robot, controller=Holder(robot), pushes=(push,))
    trace = verdict.trace
    assert trace.time[0] == pytest.approx(9.8)
    pushed = trace.time[np.any(trace.applied != 0.0, axis=1)]
    np.testing.assert_allclose(pushed, 10.2 + 0.002 * np.arange(50), atol=1e-9)
    assert int(trace.in_clip.sum()) == 251


def test_a_clip_that_begins_in_motion_is_not_settled(tmp_path: pathlib.Path) -> None:
    """0.5 m/s sideways from the first frame on."""
    robot = biped(tmp_path)
    shift = only(26, 1, 0.5 * np.arange(26) / 50.0)
    verdict = simulate(_clip(robot, shift=shift), robot, controller=Holder(robot), hold_s=0.0)
    assert verdict.trace.time[0] == 0.0
    assert verdict.trace.qvel[0, 1] == pytest.approx(0.5, rel=1e-6)
    (notice,) = [n for n in verdict.notices if n.part == "start"]
    assert "its centre of mass moves at 0.50 m/s" in notice.sentence


def test_a_clip_that_floats_is_set_down_and_that_is_said(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    clip = _clip(robot, shift=only(26, 2, np.full(26, 0.02)))
    verdict = simulate(clip, robot, controller=Holder(robot))
    assert verdict.trace.qpos[0, 2] == pytest.approx(robot.home[2], abs=1e-6)
    assert any("moved down by 20.0 mm, onto the ground" in n.sentence for n in verdict.notices)
    assert verdict.stood


def _same(one: Any, other: Any) -> bool:
    return all(
        np.array_equal(values, getattr(other, name))
        for name, values in arrays_of(one).items()
        if name not in TIMES
    )


def test_the_same_seed_gives_the_same_bits_and_another_one_others(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    wrong = Disturbances(
        mass_error=0.1, noise=TYPICAL_NOISE, ground_error_m=0.01, push_n=20.0, delay_s=0.004
    )
    traces = [
        simulate(_clip(robot), robot, controller=Holder(robot), disturbances=wrong, seed=seed).trace
        for seed in (5, 5, 6)
    ]
    assert _same(traces[0], traces[1])
    assert not _same(traces[0], traces[2])


def test_friction_that_is_asked_for_is_known_to_the_controller_and_a_disturbance_is_not(
    tmp_path: pathlib.Path,
) -> None:
    robot = biped(tmp_path)
    asked = simulate(_clip(robot), robot, controller=Holder(robot), friction=0.3).trace
    np.testing.assert_array_equal(asked.patches.friction, 0.3)
    np.testing.assert_array_equal(asked.scene.friction, 0.3)
    wrong = Disturbances(friction=0.3)
    disturbed = simulate(_clip(robot), robot, controller=Holder(robot), disturbances=wrong).trace
    np.testing.assert_array_equal(disturbed.patches.friction, 0.7)
    np.testing.assert_array_equal(disturbed.scene.friction, 0.3)


def test_the_ground_has_the_friction_of_the_stances_on_it(tmp_path: pathlib.Path) -> None:
    clip = _clip(biped(tmp_path))
    one, other = clip.contacts.stances
    ground = Terrain(
        tuple(Surface("plane", np.array([0.0, 0.0, -z])) for z in (0.0, 1.0)), friction=0.45
    )
    mixed = replace(
        clip, terrain=ground, contacts=ContactSchedule((replace(one, friction=0.5), other))
    )
    found, said = ground_friction(mixed, None)
    assert found == [0.5, 0.45]
    assert [notice.part for notice in said] == ["surface 0"]
    assert "frictions from 0.5 to 0.7: the smallest is simulated" in said[0].sentence
    assert ground_friction(mixed, 0.2) == ([0.2, 0.2], ())


def test_disturbances_are_drawn_within_their_bounds(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    wrong = Disturbances(
        mass_error=0.1, mass_factor={"pelvis": 2.0}, ground_error_m=0.01, push_n=20.0,
        push_every_s=0.5,
    )  # fmt: skip
    chance = drawn(wrong, robot, surfaces=50, end_s=10.0, seed=1)
    others = [value for link, value in chance.mass_factor.items() if link != "pelvis"]
    assert len(others) == 6
    assert 0.9 <= min(others) < max(others) <= 1.1
    assert 1.8 <= chance.mass_factor["pelvis"] <= 2.2
    assert 0.009 < np.abs(chance.shift_m).max() <= 0.01
    times = np.array([push.time for push in chance.pushes])
    assert 0.0 <= times[0] < 0.5
    np.testing.assert_allclose(np.diff(times), 0.5)
    assert 9.5 <= times[-1] < 10.0
    for push in chance.pushes:
        assert push.force_w[2] == 0.0
        assert np.linalg.norm(push.force_w) == pytest.approx(20.0)
    quiet = drawn(
        Disturbances(push_n=20.0, push_every_s=0.5), robot, surfaces=1, end_s=10.0, seed=1
    )
    assert quiet.mass_factor == {}
    assert [p.time for p in quiet.pushes] == [p.time for p in chance.pushes]


def test_what_cannot_be_simulated_is_refused(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    clip = _clip(robot)
    with pytest.raises(BadOption, match="a seed must be 0 or more, got -1"):
        simulate(clip, robot, controller=Holder(robot), seed=-1)
    with pytest.raises(BadMotion):
        simulate(_clip(planar(tmp_path)), robot, controller=Holder(robot))
    wrong = Disturbances(mass_factor={"hat": 2.0})
    with pytest.raises(UnknownName, match="link 'hat' is not in robot"):
        simulate(clip, robot, controller=Holder(robot), disturbances=wrong)
    for faulty, message in (
        (lambda: Disturbances(mass_error=1.0), "mass_error must be below 1, got 1"),
        (lambda: Disturbances(friction=-1.0), "friction must be 0 or more, got -1"),
        (lambda: Disturbances(mass_factor={"a": 0.0}), "a mass factor must be positive, got 0"),
        (lambda: Disturbances(delay_s=float("nan")), "delay_s must be 0 or more, got nan"),
        (lambda: Disturbances(push_every_s=0.05), r"pushes of 0\.1 s every 0\.05 s overlap"),
        (lambda: Push(0.0, np.zeros(3), 0.0), "a push must last, got 0 s"),
        (lambda: Push(float("nan"), np.zeros(3)), "a push needs a finite time"),
    ):
        with pytest.raises(BadOption, match=message):
            faulty()
