"""A controller in plain MuJoCo on level ground: nothing of the simulation room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import mujoco
import numpy as np

from surefoot.arrays import Array
from surefoot.control.reference import Reference
from surefoot.control.target import Command, Controller, State
from surefoot.robots.robot import Robot

PHYSICS_S, STEPS = 0.001, 2  # the control step is 2 ms
SETTLE, HOLD = 100, 250  # control steps before the first frame and after the last


@dataclass
class Run:
    """What came of it, by control step."""

    com_error: list[float] = field(default_factory=list)
    force_w: list[Array] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    fell: bool = False

    @property
    def softened(self) -> int:
        return sum(command.softened for command in self.commands)


def scene(robot: Robot, friction: float = 0.7) -> mujoco.MjModel:
    """The robot on a level floor of this friction, with a motor at every joint."""
    spec = mujoco.MjSpec.from_string(robot.mjcf)
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 0, 1
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1])
    floor.friction, floor.priority, floor.condim = [friction, 0.005, 1e-4], 1, 3
    floor.solref, floor.solimp = [0.01, 1.0], [0.95, 0.99, 0.001, 0.5, 2.0]
    floor.contype, floor.conaffinity, floor.name = 1, 0, "the_floor"
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for name in robot.joint_names:
        joint = mujoco.mjtTrn.mjTRN_JOINT
        spec.add_actuator(name=f"motor_{name}", target=name, trntype=joint)
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.timestep, spec.option.jacobian = PHYSICS_S, mujoco.mjtJacobian.mjJAC_DENSE
    return spec.compile()


def run(
    robot: Robot,
    reference: Reference,
    controller: Controller,
    *,
    friction: float = 0.7,
    push: Callable[[float], Array] | None = None,
    hold: int = HOLD,
) -> Run:
    """Simulate a clip; `push` gives the force on the root's centre of mass at a time, N."""
    model = scene(robot, friction)
    data = mujoco.MjData(model)
    data.qpos = reference.qpos[0]
    mujoco.mj_forward(model, data)
    links = reference.patches.link_body
    found = Run()
    force_w = contact_forces(model, data, links)
    for k in range(-SETTLE, reference.steps + hold):
        target = reference.at(k)
        time = k * reference.dt
        state = State(time, data.qpos.copy(), data.qvel.copy(), force_w, np.zeros_like(force_w))
        command = controller.command(state, target)
        data.ctrl = command.value
        data.xfrc_applied[1, :3] = 0.0 if push is None else push(time)
        mujoco.mj_step(model, data)
        force_w = contact_forces(model, data, links)
        mujoco.mj_step(model, data, STEPS - 1)
        found.commands.append(command)
        found.force_w.append(force_w)
        found.com_error.append(float(np.linalg.norm(data.subtree_com[1] - target.com_w)))
        if not data.subtree_com[1, 2] > 0.6 * target.com_w[2]:
            found.fell = True
            break
    return found


def contact_forces(model: mujoco.MjModel, data: mujoco.MjData, links: Array) -> Array:
    """World force of the ground on each of these links, N."""
    total, wrench = np.zeros((len(links), 3)), np.zeros(6)
    for i in range(data.ncon):
        contact = data.contact[i]
        mujoco.mj_contactForce(model, data, i, wrench)
        force = contact.frame.reshape(3, 3).T @ wrench[:3]
        first, second = (int(model.geom_bodyid[g]) for g in (contact.geom1, contact.geom2))
        if second == 0:
            first, second, force = second, first, -force
        for c in np.flatnonzero(links == second):
            total[c] += force
    return total
