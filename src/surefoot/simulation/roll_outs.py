"""Several runs at once, each in a process of its own: threads would only hand the lock around.

A process takes its runs one after another; what comes out is the same to the bit as one by one.
"""

from __future__ import annotations

import copy
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from surefoot.control.controllers import DEFAULT
from surefoot.control.target import Controller
from surefoot.errors import BadOption
from surefoot.index.index import Feasibility
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import Disturbances, Push
from surefoot.simulation.scene import Settings
from surefoot.simulation.simulator import simulate
from surefoot.simulation.thresholds import Thresholds
from surefoot.simulation.verdict import Verdict

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class RollOut:
    """What `simulate` is asked, as a value that travels to another process."""

    clip: Clip
    robot: Robot
    controller: str | Controller = DEFAULT
    """A name, or a controller that can be pickled; every run gets a copy of its own."""
    friction: float | None = None
    pushes: tuple[Push, ...] = ()
    disturbances: Disturbances | None = None
    seed: int = 0
    settings: Settings | None = None
    controller_options: object = None
    settle_s: float = 0.2
    hold_s: float = 1.0
    thresholds: Thresholds | None = None
    index: Feasibility | None = None

    def simulated(self) -> Verdict:
        """The verdict on this run."""
        return simulate(
            self.clip,
            self.robot,
            controller=copy.deepcopy(self.controller),
            friction=self.friction,
            pushes=self.pushes,
            disturbances=self.disturbances,
            seed=self.seed,
            settings=self.settings,
            controller_options=self.controller_options,
            settle_s=self.settle_s,
            hold_s=self.hold_s,
            thresholds=self.thresholds,
            index=self.index,
        )


def roll_outs(
    runs: Sequence[RollOut], *, processes: int | None = None, progress: Progress | None = None
) -> list[Verdict]:
    """The verdicts on many runs, in their order.

    On systems that start processes anew (all do here) a script that calls this must guard its own
    start with `if __name__ == "__main__":`.

    Args:
        processes: at most so many at once; by default one for each processor.

    Raises:
        BadOption: fewer than one process.
    """
    if processes is not None and processes < 1:
        raise BadOption(what=f"processes must be at least 1, got {processes}")
    count = min(processes or os.cpu_count() or 1, len(runs))
    say = progress or _silent
    say(0, len(runs), "simulating")
    found = []
    if count <= 1:
        for run in runs:
            found.append(run.simulated())
            say(len(found), len(runs), "simulating")
        return found
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        for verdict in pool.map(RollOut.simulated, runs):
            found.append(verdict)
            say(len(found), len(runs), "simulating")
    return found


def _silent(done: int, total: int, text: str) -> None:
    """Says nothing."""
