"""A clip at the control rate: what it is at each step, and what it is beyond its ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from make.walkers import SOLE, swaying_clip, walker
from surefoot.control.reference import Reference, reference_of
from surefoot.errors import BadMotion, BadOption
from surefoot.motion.contact import Surface, Terrain
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return walker()


@pytest.fixture(scope="module")
def clip(robot: Robot) -> Clip:
    """On both feet until 1 s, on the left until 1.5 s, then the right foot's edge slides."""
    return swaying_clip(robot)


@pytest.fixture(scope="module")
def reference(clip: Clip, robot: Robot) -> Reference:
    return reference_of(clip, robot, rate_hz=100.0)


def test_first_and_last_frame_are_steps(reference: Reference, clip: Clip, robot: Robot) -> None:
    poses = robot.qpos(clip.motion)
    assert reference.steps == 201
    assert np.allclose(reference.qpos[[0, -1]], poses[[0, -1]], atol=1e-12)


def test_a_clip_that_ends_between_steps_is_held_at_its_end(clip: Clip, robot: Robot) -> None:
    """2 s at 30 steps a second and a bit: the last step stands for the end."""
    found = reference_of(clip, robot, rate_hz=30.3)
    assert found.steps == 62  # 60.6 steps are begun, and the first moment counts
    assert np.allclose(found.qpos[-1], robot.qpos(clip.motion)[-1], atol=1e-12)


def test_velocities_are_the_rates_of_positions(reference: Reference) -> None:
    """Centre of mass, momentum and links: central differences over 20 ms steps of a slow sway."""
    dt = reference.dt
    for position, rate in (
        (reference.com_w, reference.com_vel_w),
        (reference.com_vel_w, reference.com_acc_w),
        (reference.spin_w, reference.spin_rate_w),
        (reference.link_pos_w, reference.link_vel_w[..., :3]),
        (reference.link_vel_w, reference.link_acc_w),
    ):
        inside = slice(10, -10)  # the spline's ends bend more
        by_differences = (position[2:] - position[:-2]) / (2.0 * dt)
        scale = np.abs(rate).max()
        assert np.abs(by_differences - rate[1:-1])[inside].max() < 0.01 * scale


def test_before_the_first_step_the_first_frame_is_at_rest(reference: Reference) -> None:
    before = reference.at(-5)
    assert before.time == pytest.approx(-0.05)
    assert np.array_equal(before.qpos, reference.qpos[0])
    assert not before.qvel.any()
    assert not before.com_acc_w.any()
    assert not before.link_vel_w.any()
    assert np.allclose(before.zmp_w[:2], reference.com_w[0, :2])


def test_past_the_end_nothing_accelerates(reference: Reference) -> None:
    """A false acceleration a held for ever is a standing offset a / k_p."""
    past = reference.at(reference.steps + 3)
    assert np.array_equal(past.qpos, reference.qpos[-1])
    for name in ("qvel", "qacc", "com_vel_w", "com_acc_w", "spin_w", "spin_rate_w", "link_acc_w"):
        assert not getattr(past, name).any(), name


def test_patches_hold_as_the_schedule_says(reference: Reference) -> None:
    """The step that begins at 1 s belongs to what follows it."""
    first, left, second = 0, 1, 2  # in order of their start, then their end
    assert tuple(reference.patches.moving) == (False, False, True)
    assert reference.holds[:, left].all()
    assert reference.holds[:100, first].all()
    assert not reference.holds[100:, first].any()
    assert reference.holds[150:, second].all()
    assert not reference.holds[:150, second].any()
    assert np.array_equal(reference.patches.vertices_of(second), SOLE[1:3])


def test_swing_runs_from_lift_off_to_touch_down(reference: Reference) -> None:
    c = reference.patches.link_names.index("right_foot")
    swing = reference.swing[:, c]
    assert not swing[:100].any()
    assert not swing[150:].any()
    assert swing[125] == pytest.approx(0.51)  # the middle of the step from 1.25 s to 1.26 s
    assert set(reference.coming[100:150, c]) == {2}
    assert set(reference.coming[:100, c]) == {-1}


def test_zmp_at_rest_lies_under_the_centre_of_mass(robot: Robot) -> None:
    still = swaying_clip(robot, sway_m=0.0)
    motion = replace(still.motion, joint_pos=np.zeros_like(still.motion.joint_pos))
    found = reference_of(replace(still, motion=motion), robot)
    assert np.allclose(found.zmp_w[:, :2], found.com_w[:, :2], atol=1e-9)
    assert np.allclose(found.zmp_w[:, 2], 0.0, atol=1e-9)
    assert found.zmp_defined.all()


def test_a_box_carries_at_its_top(clip: Clip, robot: Robot) -> None:
    box = Surface("box", np.array([0.0, 0.0, 0.04]), size=np.array([1.0, 1.0, 0.1]))
    found = reference_of(replace(clip, terrain=Terrain((box,))), robot)
    assert np.allclose(found.patches.point_w, [0.0, 0.0, 0.09])


def test_friction_can_be_given(clip: Clip, robot: Robot) -> None:
    found = reference_of(clip, robot, friction=0.3)
    assert np.array_equal(found.patches.friction, [0.3, 0.3, 0.3])


def test_a_rate_of_zero_is_refused(clip: Clip, robot: Robot) -> None:
    with pytest.raises(BadOption, match="control rate must lie between 0 and 5000 Hz, got 0"):
        reference_of(clip, robot, rate_hz=0.0)


def test_a_single_frame_is_refused(clip: Clip, robot: Robot) -> None:
    one = clip.motion
    short = robot.motion(robot.qpos(one)[:1], one.time[:1])
    with pytest.raises(BadMotion, match="at least 2 frames, got 1"):
        reference_of(replace(clip, motion=short), robot)
