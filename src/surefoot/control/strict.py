"""The strict controller: accelerations and contact forces of one step by a quadratic program.

What the contacts can give is not weighed against anything: forces lie inside the cones, feet that
stand stay, torques keep their limits. Only when this cannot be had, the feet are held by a weight
instead, and the command says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import daqp
import numpy as np

from surefoot.arrays import Array, Float64, door
from surefoot.control import contact_set
from surefoot.control.contact_set import ContactSet
from surefoot.control.footing import footing_of
from surefoot.control.target import Command, Drive, Patches, State, Target, patches_of
from surefoot.dynamics.tree import read_tree
from surefoot.errors import BadOption
from surefoot.kernels import body as bodies
from surefoot.kernels import strict as kernel
from surefoot.kernels import whole_body
from surefoot.robots.robot import Robot

ROUNDS = 4  # of putting in bounds that the last answer broke; then all are put in
OPTIMAL = 1  # daqp's flag


@dataclass(frozen=True, slots=True)
class Options:
    """Weights and gains of the strict controller.

    A weight is the inverse square of what counts as one: an acceleration missed by 1 rad/s² costs
    as much as one of the centre of mass missed by 0.1 m/s². Gains are 1/s² (stiffness) and 1/s.
    """

    joint_weight: float = 1.0
    """Of joint accelerations, (rad/s²)⁻²."""
    trunk_turn_weight: float = 20.0
    """Of the angular acceleration of the root link, (rad/s²)⁻²."""
    trunk_weight: float = 1e-3
    """Of its linear acceleration, (m/s²)⁻²; the centre of mass has its own."""
    com_weight: float = 100.0
    """Of the acceleration of the centre of mass, (m/s²)⁻²."""
    spin_weight: float = 0.05
    """Of the rate of angular momentum about the centre of mass, (N m)⁻²."""
    swing_weight: float = 1000.0
    """Of the acceleration of links on their way to a contact, (m/s²)⁻² and (rad/s²)⁻²."""
    force_weight: float = 1e-5
    """Of the force along each generator of a cone, N⁻²; it spreads the load evenly."""
    softened_weight: float = 1e4
    """Of the acceleration of feet that stand, in the softened problem, (m/s²)⁻²."""
    joint_stiffness: float = 36.0
    """1/s²."""
    joint_damping: float = 12.0
    """1/s."""
    trunk_stiffness: float = 100.0
    """1/s²."""
    trunk_damping: float = 20.0
    """1/s."""
    com_stiffness: float = 36.0
    """1/s²; what a push may be depends on this one."""
    com_damping: float = 12.0
    """1/s."""
    spin_damping: float = 5.0
    """1/s."""
    swing_stiffness: float = 400.0
    """1/s²."""
    swing_damping: float = 40.0
    """1/s."""
    stance_damping: float = 20.0
    """1/s; feet that stand are damped and not pulled to any place: that would fight the ground."""
    limit_rate: float = 20.0
    """1/s; a joint comes no nearer to its position limit than at this rate times the distance."""
    speed_rate: float = 50.0
    """1/s; how soon a speed above what is allowed is taken back."""
    speed_share: float = 0.9
    """Share of the joints' speed limits that is used; from there on motors are weaker."""
    friction_share: float = 0.9
    """Share of the friction that is counted on where a foot stands still."""
    cone_sides: int = 4
    """Sides of the pyramid inside each friction cone."""
    sliding_speed_mps: float = 0.05
    """m/s; from here on the friction of a stance that moves points against its motion."""
    loss_speed_rad_s: float = 0.05
    """rad/s; joint speed of the reference at which 3/4 of the dry friction are fed forward."""
    feed_loss: bool = True
    """Whether the joints' dry friction is fed forward in the direction of the reference."""
    lowering_mps: float = 0.15
    """m/s; how fast a foot goes on downwards that has not found the ground in time."""
    contacts: contact_set.Options = field(default_factory=contact_set.Options)
    """When a link counts as standing."""


class Strict:
    """Turns a measured state and a target into torques. A `Controller` of `control.target`."""

    drive: Drive = "torque"
    servo_gains = None

    def __init__(
        self, robot: Robot, patches: Patches, *, dt: float, options: Options | None = None
    ) -> None:
        """Read the robot, and make room for all steps.

        Raises:
            BadOption: fewer than three sides, or a weight that is not positive.
            BadRobot: a model that the kernels cannot follow (`dynamics.tree`).
        """
        self.robot = robot
        self.dt = dt
        self.options = options or Options()
        self.contacts = ContactSet(robot, patches, self.options.contacts)
        self._tree = read_tree(robot.model)
        self._body = bodies.room_for(robot.model.nbody, robot.nv)
        self._spec = spec_of(robot, self.options)
        b, three = robot.model.nbody, np.zeros
        self._want = whole_body.Want(
            three(robot.nq), three(robot.nv), three(robot.nv), three((3, 3)), three((2, 3)),
            three((b, 3)), three((b, 4)), three((b, 6)), three((b, 6)),
        )  # fmt: skip
        self._qpos, self._qvel = np.zeros(robot.nq), np.zeros(robot.nv)
        self._kept = np.zeros(2 * len(robot.joint_names))

    def reset(self) -> None:
        """Forget all steps: the next is the first."""
        self.contacts.reset()
        self._kept[:] = 0.0

    def command(self, state: State, target: Target) -> Command:
        """The torques of one step; zero where the state is no number, for then nothing is known."""
        if self.contacts.update(state, target):
            self._stand(target)
        self._read(state, target)
        planned = self.contacts.planned
        if not np.isfinite(self._qpos.sum() + self._qvel.sum()):
            return Command(np.zeros(len(self.robot.joint_names)), planned, softened=True)
        soft = not self._solved(soft=False)
        if soft and not self._solved(soft=True):
            torque = self._falling_back()
            return Command(torque, planned, softened=True)
        pressed = self._room.pressure_w
        cop_w = pressed[:3].copy() if pressed[3] > 0.0 else None
        return Command(self._room.torque.copy(), planned, cop_w, soft)

    @property
    def footing(self) -> whole_body.Footing:
        """What stood, on which vertices, in the last command."""
        return self._footing

    @property
    def generator_force(self) -> Float64[Array, " g"]:
        """The forces of the last command along the generators of the cones, N."""
        return np.array(self._room.force, dtype=np.float64)

    @property
    def qacc(self) -> Float64[Array, " nv"]:
        """The accelerations of the last command, in the engine's convention."""
        return np.array(self._room.qacc, dtype=np.float64)

    @property
    def vertex_force_w(self) -> Float64[Array, "v 3"]:
        """The forces of the last command at the vertices that carry, N."""
        sides = self.options.cone_sides
        along = self._room.force[:, None] * self._room.generator_w
        return np.asarray(along.reshape(-1, sides, 3).sum(axis=1), dtype=np.float64)

    def _stand(self, target: Target) -> None:
        """Make room for another set of contacts."""
        self._footing = footing_of(
            self.robot, self.contacts, target, lowering_mps=self.options.lowering_mps
        )
        joints = len(self.robot.joint_names)
        stances, vertices = len(self._footing.link), len(self._footing.vertex_l)
        sides, held = self.options.cone_sides, len(self._footing.held_dof)
        room = whole_body.room_for(  # type: ignore[no-untyped-call]  # kernels have no annotations
            self.robot.nv, joints, stances, held, vertices, sides
        )
        self._room = room = room._replace(kept=self._kept)
        self._generators = vertices * sides
        room.upper[: self._generators] = np.inf
        self._unit = np.eye(self._generators + self.robot.nv)
        self._none = np.zeros(self._generators + self.robot.nv)
        self._sense = np.zeros(len(room.lower), dtype=np.int32)

    def _read(self, state: State, target: Target) -> None:
        """Copies: kernels are compiled for one flavour of arrays; the caller's may be locked."""
        want = self._want
        np.copyto(self._qpos, state.qpos)
        np.copyto(self._qvel, state.qvel)
        np.copyto(want.qpos, target.qpos)
        np.copyto(want.qvel, target.qvel)
        np.copyto(want.qacc, target.qacc)
        want.com[0], want.com[1], want.com[2] = target.com_w, target.com_vel_w, target.com_acc_w
        want.spin[0], want.spin[1] = target.spin_w, target.spin_rate_w
        np.copyto(want.link_pos, target.link_pos_w)
        np.copyto(want.link_quat, target.link_quat_w)
        np.copyto(want.link_vel, target.link_vel_w)
        np.copyto(want.link_acc, target.link_acc_w)

    def _solved(self, *, soft: bool) -> bool:
        """Solve, putting in bounds as they are broken; whether there is an optimum."""
        spec, body, room = self._spec, self._body, self._room
        rows, equal = kernel.assemble(
            self._tree, body, spec, self._want, self._footing, self._qpos, self._qvel,
            int(soft), room,
        )  # fmt: skip
        for _ in range(ROUNDS):
            answer = self._answer(rows, equal)
            if answer is None:
                return False
            if not kernel.finish(spec, body.mass_matrix, answer, room):
                return True
            rows, equal = kernel.select(spec, body.mass_matrix, room)
        room.kept[:] = kernel.KEPT
        rows, equal = kernel.select(spec, body.mass_matrix, room)
        answer = self._answer(rows, equal)
        if answer is None:
            return False
        kernel.finish(spec, body.mass_matrix, answer, room)
        return True

    def _answer(self, rows: int, equal: int) -> Float64[Array, " n"] | None:
        """The solver's answer, if it is a finite optimum; it calls NaN optimal."""
        first = self._generators
        end = first + rows
        self._sense[first : first + equal] = 5
        self._sense[first + equal : end] = 0
        room = self._room
        answer, _, flag, _ = daqp.solve(
            self._unit, self._none, room.rows[:rows], room.upper[:end], room.lower[:end],
            self._sense[:end], eq_reduction=-1,
        )  # fmt: skip
        if flag != OPTIMAL or not np.isfinite(answer.sum()):
            return None
        return np.asarray(answer, dtype=np.float64)

    def _falling_back(self) -> Float64[Array, " m"]:
        """Torques against gravity and motion alone, where no program could be solved."""
        load = self._room.load[self._spec.joint_dof]
        limit = self._spec.joint_torque
        return np.asarray(np.clip(np.nan_to_num(load), -limit, limit), dtype=np.float64)


def make(robot: Robot, patches: Patches, *, dt: float, options: Options | None = None) -> Strict:
    """The strict controller of a robot; what the table of controllers names."""
    return Strict(robot, patches, dt=dt, options=options)


def spec_of(robot: Robot, options: Options) -> whole_body.Spec:
    """What of robot and options never changes, as the kernel reads it."""
    if options.cone_sides < 3:
        raise BadOption(what=f"a cone needs at least 3 sides, got {options.cone_sides}")
    o, model, dofs = options, robot.model, robot.joint_dofadr
    number = np.array([
        o.joint_weight, o.trunk_turn_weight, o.trunk_weight, o.com_weight, o.spin_weight,
        o.swing_weight, o.force_weight, o.softened_weight, o.joint_stiffness, o.joint_damping,
        o.trunk_stiffness, o.trunk_damping, o.com_stiffness, o.com_damping, o.spin_damping,
        o.swing_stiffness, o.swing_damping, o.stance_damping, o.limit_rate, o.speed_rate,
        o.friction_share, o.sliding_speed_mps,
        o.loss_speed_rad_s,
    ])  # fmt: skip
    if not np.all(number[:8] > 0.0):
        raise BadOption(what="weights of the strict controller must be positive")
    loss = np.asarray(model.dof_frictionloss, dtype=np.float64)[dofs]
    return whole_body.Spec(
        root_dof=np.setdiff1d(np.arange(robot.nv), dofs).astype(np.int64),
        joint_dof=np.array(dofs, dtype=np.int64),
        joint_qpos=np.array(robot.joint_qposadr, dtype=np.int64),
        joint_min=door(robot.joint_min).copy(),
        joint_max=door(robot.joint_max).copy(),
        joint_speed=o.speed_share * robot.joint_speed,
        joint_torque=door(robot.joint_torque).copy(),
        joint_loss=loss * float(o.feed_loss),
        dof_damping=np.array(model.dof_damping, dtype=np.float64)
        .reshape(robot.nv, -1)[:, 0]
        .copy(),
        joint_stiffness=np.array(model.jnt_stiffness, dtype=np.float64)[robot.joint_ids],
        joint_spring=np.array(model.qpos_spring, dtype=np.float64)[robot.joint_qposadr],
        trunk=np.array([robot.link_id(robot.root_link)], dtype=np.int64),
        number=number,
    )


def warm_up(robot: Robot) -> None:
    """Compile every kernel of the controller, or load it from the cache, by two steps at rest."""
    nothing = patches_of((), robot, np.zeros((0, 3)))
    controller = make(robot, nothing, dt=1.0)
    b, rest, still = robot.model.nbody, np.zeros(robot.nv), np.zeros(3)
    target = Target(
        time=0.0, qpos=robot.home, qvel=rest, qacc=rest, com_w=still, com_vel_w=still,
        com_acc_w=still, spin_w=still, spin_rate_w=still, zmp_w=still, zmp_defined=False,
        link_pos_w=np.zeros((b, 3)), link_quat_w=np.tile([1.0, 0.0, 0.0, 0.0], (b, 1)),
        link_vel_w=np.zeros((b, 6)), link_acc_w=np.zeros((b, 6)), patches=nothing,
        holds=np.zeros(0, dtype=np.bool_), swing=np.zeros(0), coming=np.zeros(0, dtype=np.int64),
    )  # fmt: skip
    none = np.zeros((0, 3))
    controller.command(State(0.0, np.array(robot.home), rest, none, none), target)
