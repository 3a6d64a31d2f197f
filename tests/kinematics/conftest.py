"""The robots on which inverse kinematics is tried."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from make.trees import BRANCHED, PLANAR, robot_of
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

MADE = {"branched": BRANCHED, "planar": PLANAR}


@pytest.fixture(
    scope="module", params=[*MADE, "human25", pytest.param("g1", marks=pytest.mark.shared)]
)
def robot(request: pytest.FixtureRequest) -> Robot:
    """Two made trees, the bundled robot, and the shared g1 where it is."""
    name: str = request.param
    if name in MADE:
        return robot_of(MADE[name])
    if name == "g1":
        shared = request.getfixturevalue("shared")
        return load_robot(shared / "data" / "robots" / "g1" / "g1_bm_no_mesh_box_feet.xml")
    return load_robot(name)


@pytest.fixture(scope="module")
def tree() -> Robot:
    """A made robot with two branches, a slide and odd axes, without limits."""
    return robot_of(BRANCHED)


@pytest.fixture(scope="module")
def limited(tree: Robot) -> Robot:
    """The same with narrow limits and speeds: ±0.4 about zero, 2 rad/s."""
    m = len(tree.joint_names)
    return dataclasses.replace(
        tree, joint_min=np.full(m, -0.4), joint_max=np.full(m, 0.4), joint_speed=np.full(m, 2.0)
    )


@pytest.fixture(scope="module")
def planar() -> Robot:
    """A made robot in the x-z plane, without limits."""
    return robot_of(PLANAR)
