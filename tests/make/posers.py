"""Small sources of targets and controllers: a robot that is to stay as it is, and gets there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from surefoot.arrays import Array
from surefoot.control.target import Command, Patches, State, Target, patches_of
from surefoot.motion.contact import Stance
from surefoot.robots.robot import Robot


def standing_patches(robot: Robot, *, end: float = 1e3, friction: float = 0.7) -> Patches:
    """The robot's soles, standing from the beginning to the end, on z = 0."""
    stances = [
        Stance(sole.link, 0.0, end, "face", sole.polygon_l, friction=friction)
        for sole in robot.soles
    ]
    return patches_of(stances, robot, np.zeros((len(stances), 3)))


class Posing:
    """A source of targets: a pose that is held, over patches that all hold."""

    def __init__(
        self,
        robot: Robot,
        *,
        seconds: float,
        dt: float = 0.002,
        qpos: Array | None = None,
        patches: Patches | None = None,
        holds: bool = True,
    ) -> None:
        self.robot, self.dt, self.steps = robot, dt, round(seconds / dt) + 1
        self.patches = standing_patches(robot) if patches is None else patches
        self.qpos = np.array(robot.home if qpos is None else qpos)
        self.holds = np.full(len(self.patches.patch_link), holds)
        model = robot.model
        data = mujoco.MjData(model)
        data.qpos[:] = self.qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        self.link_pos_w, self.link_quat_w = np.array(data.xpos), np.array(data.xquat)
        self.com_w = np.array(data.subtree_com[0])

    def at(self, step: int, state: State | None) -> Target:
        nv, links = self.robot.nv, len(self.link_pos_w)
        count = len(self.patches.link_names)
        return Target(
            time=step * self.dt,
            qpos=self.qpos,
            qvel=np.zeros(nv),
            qacc=np.zeros(nv),
            com_w=self.com_w,
            com_vel_w=np.zeros(3),
            com_acc_w=np.zeros(3),
            spin_w=np.zeros(3),
            spin_rate_w=np.zeros(3),
            zmp_w=self.com_w * [1.0, 1.0, 0.0],
            zmp_defined=True,
            link_pos_w=self.link_pos_w,
            link_quat_w=self.link_quat_w,
            link_vel_w=np.zeros((links, 6)),
            link_acc_w=np.zeros((links, 6)),
            patches=self.patches,
            holds=self.holds,
            swing=np.zeros(count),
            coming=np.full(count, -1),
        )


@dataclass
class Holder:
    """Holds the target's joints: stiff servos of the engine, or torques of nothing."""

    robot: Robot
    drive: Literal["torque", "servo"] = "servo"
    stiffness: float = 3000.0
    damping: float = 100.0
    change: Callable[[int, Array], Array] | None = None
    """What becomes of each command: step, value."""
    step: int = 0

    @property
    def servo_gains(self) -> tuple[Array, Array] | None:
        m = len(self.robot.joint_names)
        if self.drive == "torque":
            return None
        return np.full(m, self.stiffness), np.full(m, self.damping)

    def reset(self) -> None:
        self.step = 0

    def command(self, state: State, target: Target) -> Command:
        value = target.qpos[self.robot.joint_qposadr]
        if self.drive == "torque":
            value = np.zeros(len(value))
        self.step += 1
        planned = np.ones(len(target.patches.link_names), dtype=np.bool_)
        if self.change is not None:
            value = self.change(self.step - 1, value)
        return Command(value=value, planned=planned)
