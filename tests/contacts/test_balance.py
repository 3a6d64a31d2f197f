"""The ZMP of motions for which it is known by hand."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from make.standing import only, stiff
from surefoot.contacts.balance import balance
from surefoot.contacts.detect import detect
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, BadOption
from surefoot.motion.motion import Clip, Motion
from surefoot.robots.robot import Robot

G_MPS2 = 9.81  # of the bundled model, MuJoCo's default
TIME = np.arange(61) / 30.0


@pytest.fixture(scope="module")
def robot() -> Robot:
    return sf.load_robot("human25")


def _clip(robot: Robot, motion: Motion) -> Clip:
    return Clip(motion, detect(motion, robot), robot=robot.name)


def test_at_rest_the_zmp_lies_under_the_centre_of_mass(robot: Robot) -> None:
    found = balance(_clip(robot, stiff(robot, TIME)), robot)
    com_w = Batch(robot, robot.home[None]).com_w[0]
    assert len(found.time) == 401
    assert np.abs(found.zmp_w[:, :2] - com_w[:2]).max() < 1e-9
    assert np.abs(found.wrench_w[:, 2] - robot.mass * G_MPS2).max() < 1e-6
    assert found.judged.all()
    assert not found.outside.any()
    assert found.summary()["worst_outside_m"] == 0.0


@pytest.mark.parametrize(("axis", "accel"), [(0, 0.15), (1, -0.1)])
def test_the_zmp_lags_a_stiff_body_by_height_times_acceleration_over_g(
    robot: Robot, axis: int, accel: float
) -> None:
    """No rotation: x_zmp = x_com − z_com a / g. A cubic spline holds ½ a t² exactly."""
    motion = stiff(robot, TIME, only(61, axis, 0.5 * accel * (TIME - 1.0) ** 2))
    found = balance(_clip(robot, motion), robot)
    lag = (found.com_w - found.zmp_w)[:, axis]
    assert np.abs(lag - found.com_w[:, 2] * accel / G_MPS2).max() < 1e-8


def test_outside_is_measured_from_the_front_edge(robot: Robot) -> None:
    """With a braking of 3.5 m/s² the ZMP passes the toes by a length that is known by hand."""
    accel = -3.5
    motion = stiff(robot, TIME, only(61, 0, 0.5 * accel * (TIME - 1.0) ** 2))
    standing = detect(stiff(robot, TIME), robot)
    found = balance(Clip(motion, standing, robot=robot.name), robot)
    front = found.support.vertices_w[:, :, 0].max(axis=1)
    expected = found.com_w[:, 0] - found.com_w[:, 2] * accel / G_MPS2 - front
    assert (expected > 0.1).all()
    assert np.abs(found.outside_m - expected).max() < 1e-8
    assert found.summary()["outside_fraction"] == 1.0
    assert found.outside_spans == ((0.0, 2.0),)


def test_in_flight_nothing_is_judged_and_nothing_is_nan(robot: Robot) -> None:
    motion = stiff(robot, TIME, only(61, 2, 1.0 - 0.5 * G_MPS2 * (TIME - 1.0) ** 2))
    found = balance(Clip(motion, robot=robot.name), robot)
    assert not found.judged.any()
    assert np.isfinite(found.zmp_w).all()
    summary = found.summary()
    assert summary["outside_fraction"] is None
    assert summary["unsupported_samples"] == 401


def test_threads_change_no_bit(robot: Robot) -> None:
    clip = _clip(robot, stiff(robot, TIME, only(61, 0, 0.05 * np.sin(3.0 * TIME))))
    one, two = balance(clip, robot), balance(clip, robot, threads=2)
    assert np.array_equal(one.wrench_w, two.wrench_w)
    assert np.array_equal(one.outside_m, two.outside_m)


def test_one_frame_and_no_rate_are_refused(robot: Robot) -> None:
    with pytest.raises(BadMotion, match="the ZMP needs at least 2 frames, got 1"):
        balance(Clip(stiff(robot, np.zeros(1))), robot)
    with pytest.raises(BadOption, match="rate_hz must be positive, got 0"):
        balance(_clip(robot, stiff(robot, TIME)), robot, rate_hz=0.0)
