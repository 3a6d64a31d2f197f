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

COMPILE_BESIDE = "from surefoot.index import distance; distance.warm_up()"


def compile_kernels(robot: Robot, progress: Progress | None = None) -> None:
    """Compiles what this machine has not compiled yet; at once done when the cache is warm.

    Those of the index, half of the work, are compiled by a second process meanwhile: numba compiles
    one kernel at a time, whatever the threads.
    """
    if kernels.is_warm():
        return
    say = progress or _silent
    say(0, 2, "compiling the kernels, once")
    beside = subprocess.Popen(
        [sys.executable, "-c", COMPILE_BESIDE],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        dynamics.warm_up(robot)
        kinematics.warm_up(robot)
        simulation.warm_up(robot)
        strict.warm_up(robot)
        say(1, 2, "compiling the kernels, once")
        beside.wait()
    finally:
        beside.kill()
        beside.wait()
    distance.warm_up()  # from the cache, or from scratch where the other process failed
    kernels.mark_warm()
    say(2, 2, "compiled")


def _silent(done: int, total: int, text: str) -> None:
    """Says nothing."""
