"""The table of controllers; strings alone, so that listing them imports none."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

import numpy as np

from surefoot.errors import UnknownName, nearest

if TYPE_CHECKING:
    from surefoot.control.target import Controller, Patches
    from surefoot.robots.robot import Robot

CONTROLLERS: dict[str, tuple[str, str]] = {
    "strict": (
        "surefoot.control.strict:make",
        "torques by a quadratic program: contacts inside their cones, limits kept",
    ),
    "analytic": (
        "surefoot.control.analytic:make",
        "torques in closed form, as Yamane and Hodgins, with a balance controller",
    ),
    "pd": ("surefoot.control.servo:make_plain", "joint servos alone"),
}
"""All controllers by name: module:function, and one line of help."""
DEFAULT = "strict"


def make(
    name: str, robot: Robot, patches: Patches, *, dt: float, options: object = None
) -> Controller:
    """The controller of a name, for a robot and the contacts that may come.

    Args:
        dt: length of a control step, s.
        options: the `Options` of the controller's module; its defaults if None.

    Raises:
        UnknownName: no controller of that name.
    """
    if name not in CONTROLLERS:
        raise UnknownName(what=f"no controller is called '{name}'", todo=nearest(name, CONTROLLERS))
    module, _, function = CONTROLLERS[name][0].partition(":")
    maker = cast("Callable[..., Controller]", getattr(import_module(module), function))
    return maker(robot, patches, dt=dt, options=options)


def warm_up(robot: Robot) -> None:
    """Compile the kernels of the default controller, or load them from the cache, by one step.

    The others are compiled when they are first used: few ask for them.
    """
    from surefoot.control.reference import reference_of
    from surefoot.control.target import State
    from surefoot.motion.contact import ContactSchedule, Stance
    from surefoot.motion.motion import Clip

    time = np.array([0.0, 0.1])
    stances = tuple(Stance(s.link, 0.0, 0.1, "face", s.polygon_l) for s in robot.soles)
    motion = robot.motion(np.repeat(np.array(robot.home)[None], 2, axis=0), time)
    reference = reference_of(Clip(motion, ContactSchedule(stances)), robot)
    links = len(reference.patches.link_names)
    still = State(0.0, robot.home, np.zeros(robot.nv), np.zeros((links, 3)), np.zeros((links, 3)))
    driver = make(DEFAULT, robot, reference.patches, dt=reference.dt)
    driver.command(still, reference.at(0))
