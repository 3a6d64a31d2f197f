"""Kernels, compiled once for a machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from surefoot import kernels, kinematics
from surefoot.control import strict
from surefoot.dynamics import batch as dynamics
from surefoot.index import distance
from surefoot.robots.robot import Robot
from surefoot.simulation import loop as simulation

Progress = Callable[[int, int, str], None]

INDEX = "from surefoot.index import distance; distance.warm_up()"
CONTROL = (
    "from surefoot.control import strict; from surefoot.robots.zoo import load_robot;"
    " strict.warm_up(load_robot('human25'))"
)


def compile_kernels(
    robot: Robot, progress: Progress | None = None, *, control: bool = False
) -> None:
    """Compiles what this machine has not compiled yet; at once done when the cache is warm.

    Those of the index, and those of the default controller, are compiled by processes of their own
    meanwhile: numba compiles one kernel at a time, whatever the threads.

    Args:
        control: whether something will be simulated.
    """
    judging = not kernels.is_warm("judging")
    control = control and not kernels.is_warm("control")
    if not judging and not control:
        return
    say = progress or _silent
    say(0, 2, "compiling the kernels, once")
    beside = [_started(code) for code, due in ((INDEX, judging), (CONTROL, control)) if due]
    try:
        dynamics.warm_up(robot)
        kinematics.warm_up(robot)
        if control:
            simulation.warm_up(robot)
        say(1, 2, "compiling the kernels, once")
        for process in beside:
            process.wait()
    finally:
        for process in beside:
            process.kill()
            process.wait()
    if judging:
        distance.warm_up()  # from the cache, or from scratch where the other process failed
        kernels.mark_warm("judging")
    if control:
        strict.warm_up(robot)
        kernels.mark_warm("control")
    say(2, 2, "compiled")


def _started(code: str) -> subprocess.Popen[bytes]:
    """Python that runs on its own, and says nothing."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _silent(done: int, total: int, text: str) -> None:
    """Says nothing."""
