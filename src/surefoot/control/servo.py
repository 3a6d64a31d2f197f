"""Joint servos: each follows its joint of the reference, and nothing looks after balance.

The servos themselves are the engine's, integrated with the motion: τ = k_p (q_cmd − q) − k_d q̇. As
torques computed at the control rate they would blow up at the stiffness that standing needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Bool, BoolArray, door, locked
from surefoot.control.target import Command, Drive, Patches, State, Target
from surefoot.dynamics.tree import read_tree
from surefoot.errors import BadOption
from surefoot.kernels import body
from surefoot.robots.robot import Robot


@dataclass(frozen=True, slots=True)
class Options:
    """What the servos are."""

    stiffness_over_mgh: float = 15.0
    """Stiffness of every servo over m g h, with h the height of the centre of mass at home. To
    stand at all, ankles, knees and hips in series must hold m g h."""
    stiffness_nm_rad: float | None = None
    """Stiffness of every servo, instead."""
    damping_s: float = 0.03
    """Damping over stiffness, s."""

    def __post_init__(self) -> None:
        """Refuse what is no servo.

        Raises:
            BadOption: stiffness or damping that is not positive.
        """
        for name in ("stiffness_over_mgh", "stiffness_nm_rad", "damping_s"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < np.inf:
                raise BadOption(what=f"{name} must be positive, got {value}")


class Servos:
    """Follows the reference's joints, each by itself. A `Controller` of `control.target`."""

    drive: Drive = "servo"

    def __init__(self, robot: Robot, patches: Patches, options: Options) -> None:
        """Choose the stiffness for the robot's weight and height."""
        self._joints = robot.joint_qposadr
        self._dofs = robot.joint_dofadr
        self._patches = patches
        tree = read_tree(robot.model)
        room = body.room_for(robot.model.nbody, robot.nv)
        body.measure(tree, door(robot.home), door(np.zeros(robot.nv)), room)
        self._gravity = float(np.linalg.norm(tree.gravity))
        mgh = float(room.mass[0]) * self._gravity * max(float(room.com[2]), 0.0)
        stiffness = options.stiffness_nm_rad or options.stiffness_over_mgh * mgh
        self.stiffness = stiffness
        self.servo_gains = (
            locked(np.full(len(robot.joint_names), stiffness)),
            locked(np.full(len(robot.joint_names), stiffness * options.damping_s)),
        )
        self._damping_s = options.damping_s

    def reset(self) -> None:
        """Nothing is remembered."""

    def command(self, state: State, target: Target) -> Command:
        """The joints of the target; the servos' damping acts on the error of speed."""
        value = target.qpos[self._joints] + self._damping_s * target.qvel[self._dofs]
        return Command(value=value, planned=self._planned(target))

    def _planned(self, target: Target) -> Bool[BoolArray, " c"]:
        links = np.zeros(len(self._patches.link_names), dtype=np.bool_)
        links[self._patches.patch_link[target.holds]] = True
        return links


def make_plain(
    robot: Robot, patches: Patches, *, dt: float, options: Options | None = None
) -> Servos:
    """Joint servos alone: `pd` of the table of controllers."""
    return Servos(robot, patches, options or Options())
