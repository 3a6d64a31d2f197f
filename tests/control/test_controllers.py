"""The table of controllers: every row can be made, drives a robot, and is documented."""

from __future__ import annotations

import numpy as np
import pytest

from make.walkers import swaying_clip, walker
from surefoot.control.controllers import CONTROLLERS, DEFAULT, make
from surefoot.control.reference import reference_of
from surefoot.control.target import Controller, State
from surefoot.errors import UnknownName


@pytest.mark.parametrize("name", CONTROLLERS)
def test_every_row_makes_a_controller_that_commands(name: str) -> None:
    robot = walker()
    reference = reference_of(swaying_clip(robot), robot)
    driver = make(name, robot, reference.patches, dt=reference.dt)
    assert isinstance(driver, Controller)
    nothing = np.zeros((2, 3))
    state = State(0.0, np.array(robot.home), np.zeros(robot.nv), nothing, nothing)
    command = driver.command(state, reference.at(0))
    assert command.value.shape == (len(robot.joint_names),)
    assert np.isfinite(command.value).all()
    assert (driver.servo_gains is None) == (driver.drive == "torque")


def test_an_unknown_name_offers_the_nearest() -> None:
    robot = walker()
    reference = reference_of(swaying_clip(robot), robot)
    with pytest.raises(UnknownName, match="Did you mean 'strict'"):
        make("stict", robot, reference.patches, dt=reference.dt)


def test_the_default_stands_in_the_table() -> None:
    assert DEFAULT in CONTROLLERS
