"""The robots on which the dynamics are compared with the engine."""

from __future__ import annotations

import pytest
from make.trees import BRANCHED, PLANAR, robot_of

from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

MADE = {"branched": BRANCHED, "planar": PLANAR}
SHARED = {
    "g1": "g1/g1_bm_no_mesh_box_feet.xml",
    "t1": "t1/t1.xml",
    "talos": "talos/talos_reduced_box.urdf",
}


@pytest.fixture(
    scope="module",
    params=[*MADE, "human25", *(pytest.param(name, marks=pytest.mark.shared) for name in SHARED)],
)
def robot(request: pytest.FixtureRequest) -> Robot:
    """Each robot at hand: two made trees, the bundled one, and the shared ones where they are."""
    name: str = request.param
    if name in MADE:
        return robot_of(MADE[name])
    if name in SHARED:
        return load_robot(request.getfixturevalue("shared") / "data" / "robots" / SHARED[name])
    return load_robot(name)
