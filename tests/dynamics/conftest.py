"""The robots on which the dynamics are compared with the engine.

Imports of surefoot wait until the fixture runs: this file is read before jaxtyping's hook is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from surefoot.robots.robot import Robot

MADE = ("branched", "planar", "six")
SHARED = {
    "g1": "g1/g1_bm_no_mesh_box_feet.xml",
    "t1": "t1/t1.xml",
    "talos": "talos/talos_reduced_box.urdf",
    "g1_menagerie": "variants/g1_menagerie/g1.xml",
    "g1_urdf": "variants/g1_urdf/g1_29dof_rev_1_0.urdf",
    "t1_urdf": "variants/t1_urdf/T1_serial.urdf",
    "talos_full": "variants/talos_full/talos_full_v2.urdf",
}


@pytest.fixture(
    scope="module",
    params=[*MADE, "human25", *(pytest.param(name, marks=pytest.mark.shared) for name in SHARED)],
)
def robot(request: pytest.FixtureRequest) -> Robot:
    """Each robot at hand: three made trees, the bundled one, and the shared ones where they are."""
    from make import trees
    from surefoot.robots.zoo import load_robot

    name: str = request.param
    if name in MADE:
        return trees.robot_of(getattr(trees, name.upper()))
    if name in SHARED:
        return load_robot(request.getfixturevalue("shared") / "data" / "robots" / SHARED[name])
    return load_robot(name)
