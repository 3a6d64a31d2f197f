"""The first walk of a newcomer: on a bundled clip and a bundled robot."""

from __future__ import annotations

import os

from surefoot.journeys.compiling import Progress, compile_kernels
from surefoot.journeys.stations import Plan, Walk, retargeted, walked
from surefoot.robots.zoo import load_robot
from surefoot.samples import bundled


def demo(
    name: str = "sidestep",
    *,
    robot: str = "human25",
    folder: str | os.PathLike[str] = "surefoot-demo",
    plan: Plan | None = None,
    progress: Progress | None = None,
) -> Walk:
    """The first walk on bundled things, into a folder (`journeys.stations.walked`).

    Raises:
        UnknownName: no bundled clip or robot of that name.
        NoFile: the folder cannot be made.
    """
    human = bundled.load(name)
    body = load_robot(robot)
    compile_kernels(body, progress, control=True)
    ground = bundled.terrain(name)
    clip, figures = retargeted(human, body, terrain=ground, progress=progress)
    return walked(clip, body, folder, name=name, plan=plan, figures=figures, progress=progress)
