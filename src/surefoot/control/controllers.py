"""The table of controllers; strings alone, so that listing them imports none."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

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
    "position": (
        "surefoot.control.stabiliser:make",
        "joint servos with a stabiliser that tracks a pendulum, as Kajita et al.",
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
