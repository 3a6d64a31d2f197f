"""Joints against their position and speed limits, on motions whose excess is known by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.dynamics.batch import Batch
from surefoot.index.limits import JointLimits, joint_limits
from surefoot.robots.robot import Robot

TIME = np.array([0.0, 0.5, 1.0, 1.5])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return sf.load_robot("human25")


def judged(robot: Robot, joint: int, places: list[float], speeds: list[float]) -> JointLimits:
    """Four samples of the home pose, with one joint at given places and speeds."""
    n = len(places)
    qpos, qvel = np.repeat(robot.home[None], n, axis=0), np.zeros((n, robot.nv))
    qpos[:, robot.joint_qposadr[joint]] = places
    qvel[:, robot.joint_dofadr[joint]] = speeds
    return joint_limits(Batch(robot, qpos, qvel), TIME)


def test_a_joint_beyond_its_upper_limit_is_named_with_its_excess_and_moment(robot: Robot) -> None:
    high = float(robot.joint_max[3])
    found = judged(robot, 3, [high - 0.1, high + 0.05, high + 0.2, high], [0.0] * 4)
    summary = found.summary()["position"]
    assert summary["violations"] == 2
    assert summary["fraction_beyond"] == 0.5
    assert summary["worst_rad"] == pytest.approx(0.2, abs=1e-12)
    assert summary["worst_joint"] == robot.joint_names[3]
    assert summary["worst_at_s"] == 1.0
    assert [row["joint"] for row in summary["beyond"]] == [robot.joint_names[3]]


def test_below_the_lower_limit_counts_alike(robot: Robot) -> None:
    low = float(robot.joint_min[5])
    found = judged(robot, 5, [low - 0.3, low, low, low], [0.0] * 4)
    assert found.summary()["position"]["worst_rad"] == pytest.approx(0.3, abs=1e-12)


def test_at_the_very_limit_nothing_is_beyond(robot: Robot) -> None:
    high, fast = float(robot.joint_max[3]), float(robot.joint_speed[3])
    found = judged(robot, 3, [high] * 4, [fast, -fast, fast, fast])
    assert found.summary()["position"]["violations"] == 0
    assert found.summary()["speed"]["violations"] == 0
    assert found.summary()["speed"]["worst_ratio"] == 1.0


def test_speed_counts_in_both_directions_over_its_limit(robot: Robot) -> None:
    fast = float(robot.joint_speed[2])
    found = judged(robot, 2, [float(robot.home[9])] * 4, [0.0, fast, -1.5 * fast, 0.5 * fast])
    summary = found.summary()["speed"]
    assert summary["violations"] == 1
    assert summary["worst_ratio"] == pytest.approx(1.5)
    assert summary["worst_joint"] == robot.joint_names[2]
    assert summary["worst_at_s"] == 1.0


def test_unknown_limits_are_counted_and_never_kept(robot: Robot) -> None:
    speed = robot.joint_speed.copy()
    speed[:2] = np.inf
    found = judged(replace(robot, joint_speed=speed), 0, [0.0] * 4, [1000.0] * 4)
    summary = found.summary()["speed"]
    assert summary["unknown"] == 2
    assert summary["unknown_joints"] == list(robot.joint_names[:2])
    assert summary["violations"] == 0
    assert [notice.sentence for notice in found.notices] == [
        "2 joints have no known speed limit and were not judged: "
        f"{robot.joint_names[0]}; {robot.joint_names[1]}"
    ]


def test_without_any_known_limit_every_figure_is_null(robot: Robot) -> None:
    none = np.full(len(robot.joint_names), np.inf)
    found = judged(replace(robot, joint_speed=none), 0, [0.0] * 4, [1.0] * 4)
    summary = found.summary()["speed"]
    assert summary["violations"] is None
    assert summary["worst_ratio"] is None
    assert summary["worst_joint"] is None
    assert summary["unknown"] == 25
    assert not np.isnan(found.speed_ratio).any()


def test_a_joint_with_one_limit_is_judged_by_it(robot: Robot) -> None:
    low = robot.joint_min.copy()
    low[3] = -np.inf
    found = judged(replace(robot, joint_min=low), 3, [-50.0] * 4, [0.0] * 4)
    assert found.summary()["position"]["violations"] == 0
    assert found.summary()["position"]["unknown"] == 0
