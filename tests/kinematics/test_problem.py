"""Options that do not fit the robot are refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from make.trees import BRANCHED, robot_of
from surefoot.errors import BadOption, UnknownName
from surefoot.kinematics import Options, PointTarget, solve
from surefoot.robots.robot import Robot


@pytest.fixture(scope="module")
def tree() -> Robot:
    """A made robot without limits."""
    return robot_of(BRANCHED)


@pytest.fixture(scope="module")
def limited(tree: Robot) -> Robot:
    """The same with limits of ±0.4."""
    m = len(tree.joint_names)
    return dataclasses.replace(tree, joint_min=np.full(m, -0.4), joint_max=np.full(m, 0.4))


def refused(robot: Robot, options: Options) -> None:
    """A call that must not get as far as the kernel."""
    target = PointTarget("hand", np.zeros(3), np.zeros((2, 3)))
    solve(robot, [target], time=np.arange(2.0), start_qpos=robot.home, options=options)


def test_a_joint_range_for_no_joint_is_refused(tree: Robot) -> None:
    options = Options(joint_range={"hipp": (0.0, 1.0)})
    with pytest.raises(UnknownName) as error:
        refused(tree, options)
    assert str(error.value) == (
        "joint 'hipp' is not in robot 'made' (joint_range). Did you mean 'hip'?"
    )


def test_a_joint_range_without_room_is_refused(limited: Robot) -> None:
    options = Options(joint_range={"hip": (0.5, 1.0)})
    with pytest.raises(BadOption) as error:
        refused(limited, options)
    assert str(error.value) == (
        "joint 'hip' has no room: 0.5 to 1 asked, -0.4 to 0.4 in robot 'made' (joint_range)"
    )


def test_a_posture_of_another_shape_is_refused(tree: Robot) -> None:
    options = Options(posture_qpos=np.zeros(4))
    with pytest.raises(BadOption) as error:
        refused(tree, options)
    assert str(error.value) == "expected posture_qpos (13,), finite, got (4,)"
