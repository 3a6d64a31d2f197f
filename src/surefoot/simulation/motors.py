"""What a command becomes before it acts: delayed, within the limits of torque and speed.

Near its speed limit a joint loses its torque in the direction of motion: all of it from the limit
on, none of it below a share of the limit (`Settings.speed_limit_from`), linearly between; braking
keeps its torque. The speed is that at the beginning of the control step.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, door, locked
from surefoot.control.target import Command
from surefoot.kernels.motors import servos, torques
from surefoot.simulation.scene import Scene

UNBOUNDED = 1e9  # N m; stands for no torque limit: infinity times zero has no value
LEAST_STIFFNESS = 1e-12  # N m/rad; a servo without stiffness cannot be told a torque


class Motors:
    """Turns commands into what the engine's actuators are given, step by step."""

    def __init__(
        self,
        scene: Scene,
        gains: tuple[Float64[Array, " m"], Float64[Array, " m"]] | None,
        *,
        delay_steps: int = 0,
    ) -> None:
        """Keep limits and addresses by joint.

        Args:
            gains: stiffness and damping of the scene's servos; None for motors.
        """
        robot = scene.robot
        self._gains = None if gains is None else (locked(gains[0]), locked(gains[1]))
        self._qpos, self._dof = robot.joint_qposadr, robot.joint_dofadr
        limit, speed = robot.joint_torque, robot.joint_speed
        self._limit = locked(np.where(np.isfinite(limit), limit, UNBOUNDED))
        self._speed = speed if scene.settings.speed_limits else locked(np.full(len(speed), np.inf))
        self._from = scene.settings.speed_limit_from
        self._out = np.zeros(len(limit))
        self._waiting: deque[Array] = deque()
        self._delay = delay_steps
        self.saturated: Bool[BoolArray, " m"] = np.zeros(len(self._limit), dtype=np.bool_)
        """Whether the last command asked for more than there is."""

    def act(
        self, command: Command, qpos: Float64[Array, " nq"], qvel: Float64[Array, " nv"]
    ) -> Float64[Array, " m"]:
        """What the actuators are given in this step: the same array in every step.

        Until the first command has arrived, motors rest and servos hold where the joints are.
        """
        here, speed = qpos[self._qpos], qvel[self._dof]
        wanted = door(self._arrived(command, here))
        limits = (self._limit, self._speed, self._from)
        if self._gains is None:
            torques(wanted, speed, *limits, self._out, self.saturated)
        else:
            servos(wanted, here, speed, *self._gains, *limits, self._out, self.saturated)
        return self._out

    def _arrived(self, command: Command, here: Float64[Array, " m"]) -> Float64[Array, " m"]:
        """The value of the command that was given some steps ago."""
        value = command.value
        if self._gains is not None and command.torque is not None:
            value = value + command.torque / np.maximum(self._gains[0], LEAST_STIFFNESS)
        if self._delay == 0:
            return value
        self._waiting.append(value.copy())
        if len(self._waiting) > self._delay:
            return self._waiting.popleft()
        return np.zeros(len(value)) if self._gains is None else here
