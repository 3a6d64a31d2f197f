"""The bundled side step on human25: judged once, warped once.

Imports of surefoot wait until the fixture runs: this file is read before jaxtyping's hook is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from surefoot.adapters.adaptation import Adaptation
    from surefoot.adapters.path import Path
    from surefoot.index.index import Feasibility
    from surefoot.robots.robot import Robot


@pytest.fixture(scope="session")
def human25() -> Robot:
    """The bundled robot."""
    from surefoot.robots.zoo import load_robot

    return load_robot("human25")


@pytest.fixture(scope="session")
def sidestep(human25: Robot) -> Feasibility:
    """The first 5.5 s of the bundled side step, judged: two places where weight shifts too late."""
    import surefoot
    from surefoot.adapters.adaptation import judged
    from surefoot.motion.curves import resample_clip
    from surefoot.samples import bundled

    clip = surefoot.retarget(surefoot.read(bundled.path("sidestep")), human25)
    time = clip.motion.time
    return judged(resample_clip(clip, time[time <= 5.5]), human25)


@pytest.fixture(scope="session")
def warped(sidestep: Feasibility) -> Adaptation:
    """The same, warped."""
    from surefoot.adapters import warp

    return warp.adapt(sidestep.clip, sidestep.robot, sidestep)


@pytest.fixture(scope="session")
def path(sidestep: Feasibility) -> Path:
    """The same as a path."""
    from surefoot.adapters.path import path_of
    from surefoot.index.distance import Scales

    return path_of(
        sidestep.samples,
        sidestep.clip.motion.time,
        scales=Scales(),
        weight_n=sidestep.weight_n,
    )
