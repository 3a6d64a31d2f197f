"""The analytic tracking controller: torques by a closed form, (2) to (19) of Yamane and Hodgins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray, door
from surefoot.control.balance import Balance, BalanceParameters, Form
from surefoot.control.target import Command, Patches, State, Target, patches_of
from surefoot.dynamics.tree import read_tree
from surefoot.errors import BadOption, UnknownName, nearest
from surefoot.kernels import analytic, body, desire, sharing
from surefoot.motion.contact import Stance
from surefoot.robots.robot import Robot

LOADED = 0.05  # over the weight: with less, a centre of pressure says nothing


@dataclass(frozen=True, slots=True)
class Options:
    """Weights, gains and switches of the analytic controller."""

    balance: Form = "capture"
    """Form of the balance controller."""
    parameters: BalanceParameters = field(default_factory=BalanceParameters)
    """Of the balance controller."""
    kp: float = 36.0
    """k_p of (2), 1/s²."""
    kd: float = 12.0
    """k_d of (2), 1/s."""
    joint_gains: tuple[tuple[str, float, float], ...] = ()
    """Other gains of some joints: name or pattern with `*`, k_p, k_d; the last that fits counts."""
    swing_kp: float = 400.0
    """k_p of feet in the air, 1/s²."""
    swing_kd: float = 40.0
    """k_d of feet in the air, 1/s."""
    stance_kd: float = 20.0
    """Damping of feet on the ground, 1/s; nothing pulls them to a place."""
    landing_mps: float = 0.15
    """How fast a foot goes on down that should stand and does not, m/s."""
    joint_weight: float = 1.0
    """W_q of joints, (rad/s²)^-2."""
    trunk_weight: float = 10.0
    """W_q of the root, (rad/s²)^-2 and (m/s²)^-2."""
    stance_weight: float = 1000.0
    """W_c of feet on the ground, (m/s²)^-2 and (rad/s²)^-2."""
    swing_weight: float = 100.0
    """W_c of feet in the air."""
    torque_weight: float = 1e-4
    """W_τ, (N m)^-2."""
    force_weight: float = 1e-2
    """W_f, N^-2, and of moments (N m)^-2."""
    cop_weight: float = 1.0
    """W_b, (N m)^-2."""
    foot_cop_weight: float = 1.0
    """W_p, (N m)^-2."""
    sharp_factor: float = 100.0
    """W_p of feet on a point or an edge, over that of others."""
    spin_weight: float = 1e-3
    """W_m, (N m)^-2."""
    meet_feet: bool = True
    """Whether (5) makes the wanted accelerations fit those of the feet."""
    damping: float = 0.05
    """Of the generalized inverse in (5)."""
    limit_rate: float = 20.0
    """How fast a joint may run into its position limit, 1/s: r² (limit − q) − 2 r q̇ at most."""
    raised_torque_weight: float = 1e3
    """W_τ of a joint whose torque was set to its limit, (N m)^-2."""
    rounds: int = 1
    """How often it is solved again with such joints."""
    margin_m: float = 0.0
    """How far inside the edge of all feet the centre of pressure is kept."""
    foot_margin_m: float = 0.01
    """How far inside the edge of each foot its own is kept."""
    printed_signs: bool = False
    """(11) and (16) as printed, which put the pressure at the mirror image of its place."""
    foot_centres: bool = False
    """Each foot's pressure in its middle, as the paper says, wherever r_b is."""
    zero_forces: bool = False
    """Reference forces of zero, as the paper says, instead of the weight shared by the feet."""

    def __post_init__(self) -> None:
        """Refuse what leaves nothing to solve.

        Raises:
            BadOption: a weight or gain that is negative or not finite, or the two that make A
                positive at zero.
        """
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, float) and not 0.0 <= value < np.inf:
                raise BadOption(what=f"analytic {name} must be zero or more, got {value:g}")
        for name in ("torque_weight", "force_weight", "damping", "limit_rate"):
            if getattr(self, name) <= 0.0:
                raise BadOption(
                    what=f"analytic {name} must be positive, got {getattr(self, name):g}"
                )
        if self.rounds < 0:
            raise BadOption(what=f"analytic rounds must be zero or more, got {self.rounds}")

    def as_printed(self) -> Options:
        """The same with what the paper prints: its signs, foot centres, and no reference forces."""
        return replace(
            self, balance="literal", printed_signs=True, foot_centres=True, zero_forces=True
        )


class Analytic:
    """A `Controller` of `control.target` that knows the schedule, the state and a pendulum."""

    drive: Literal["torque"] = "torque"
    servo_gains = None

    def __init__(self, robot: Robot, patches: Patches, *, dt: float, options: Options) -> None:
        """Everything that does not change from step to step."""
        self.options = options
        self.balance = Balance(options.balance, options.parameters, dt=dt)
        self._tree = read_tree(robot.model)
        self._gravity = float(np.linalg.norm(self._tree.gravity))
        self._weight = robot.mass * self._gravity
        links, contact = _feet(robot, patches)
        self._foot_contact = contact
        self._moving, self._normal_w = patches.moving, door(patches.normal_w)
        self._patches = (
            _whole(patches.link_body),
            _whole(patches.patch_link),
            _whole(patches.vertex_start),
            door(patches.vertex_l),
        )
        dofs = robot.nv
        self._body = body.room_for(robot.model.nbody, dofs)
        self._feet = desire.feet_room(links, dofs)
        self._contact = sharing.room_for(len(patches.vertex_l), _groups(robot, patches))
        self._wish = analytic.wish_room(len(links))
        self._room = analytic.room_for(robot.joint_dofadr, robot.joint_torque, dofs, len(links))
        self._gains = _gains(robot, options)
        self._weights = _weights(robot, options)
        self._rule = (
            options.meet_feet,
            options.printed_signs,
            options.zero_forces,
            options.sharp_factor,
            options.raised_torque_weight,
            options.rounds,
        )
        self._acc = np.zeros(dofs)
        self._airborne = np.zeros(len(patches.link_names), dtype=np.int64)

    def reset(self) -> None:
        """Forget all steps: the next is the first."""
        self.balance.reset()
        self._airborne[:] = 0

    def command(self, state: State, target: Target) -> Command:
        """The torques of one step.

        Raises:
            LinAlgError: a state that is no state, so that the inertia is not positive.
        """
        qpos, qvel = door(state.qpos), door(state.qvel)
        body.measure(self._tree, qpos, qvel, self._body)
        sharing.collect(self._body.pos, self._body.rot, self._patches, target.holds, self._contact)
        carrying = desire.classify(
            self._patches,
            self._moving,
            self._normal_w,
            target.holds,
            door(state.force_w),
            LOADED * self._weight,
            self._foot_contact,
            self._contact,
            self._airborne,
            self._feet,
        )
        cop_w = self._spread(state, target) if carrying else None
        force = self._weight / self._gravity * (target.com_acc_w - self._tree.gravity)
        found = analytic.step(
            self._tree,
            self._body,
            (qpos, qvel),
            (door(target.qpos), door(target.qvel), door(target.qacc)),
            tuple(door(part) for part in _links(target)),
            self._gains,
            self._feet,
            (self._contact, self._foot_contact, carrying, force),
            self._weights,
            self._rule,
            self._wish,
            self._acc,
            self._room,
        )
        if found < 0:
            raise np.linalg.LinAlgError("the closed form has no positive matrix at this state")
        planned = np.zeros(len(self._airborne), dtype=np.bool_)
        planned[self._foot_contact[self._feet.slot >= 0]] = True
        torque = self._room.y[: len(self._room.joint_dof)].copy()
        return Command(torque, planned, cop_w, softened=found > 0)

    def _spread(self, state: State, target: Target) -> Float64[Array, " 3"]:
        """r_b by the balance controller, split among the feet; written into the wish."""
        options, contact = self.options, self._contact
        press = state.force_w[:, 2]
        total = float(press.sum())
        cop_w = None
        if total > LOADED * self._weight:
            cop_w = press @ state.cop_w[:, :2] / total
        wanted = self.balance.desired_cop(
            self._body.com,
            self._body.com_vel,
            cop_w,
            (target.com_w, target.com_vel_w, target.zmp_w),
            gravity=self._gravity,
        )
        r_b = np.array(
            sharing.share(contact, wanted[0], wanted[1], options.margin_m, options.foot_margin_m)
        )
        if options.foot_centres:
            r_b[:2] = wanted
            sharing.middles(contact)
        self._wish.cop[:] = r_b
        self._wish.com[:] = self._body.com
        return r_b


def make(robot: Robot, patches: Patches, *, dt: float, options: Options | None = None) -> Analytic:
    """The analytic controller of a robot for these contacts.

    Args:
        dt: length of a control step, s.

    Raises:
        UnknownName: gains of a joint that the robot has not.
    """
    return Analytic(robot, patches, dt=dt, options=options or Options())


def warm_up(robot: Robot) -> None:
    """Compile every kernel of this controller, or load it from the cache, by one step."""
    soles = [Stance(sole.link, 0.0, 1.0, "face", sole.polygon_l) for sole in robot.soles]
    patches = patches_of(soles, robot, np.zeros((len(soles), 3)))
    links, c = robot.model.nbody, len(patches.link_names)
    rest, feet = np.zeros(robot.nv), np.zeros((c, 3))
    still, at_rest = np.zeros(3), np.zeros((links, 6))
    target = Target(
        time=0.0,
        qpos=robot.home,
        qvel=rest,
        qacc=rest,
        com_w=still,
        com_vel_w=still,
        com_acc_w=still,
        spin_w=still,
        spin_rate_w=still,
        zmp_w=still,
        zmp_defined=True,
        link_pos_w=np.zeros((links, 3)),
        link_quat_w=np.tile([1.0, 0.0, 0.0, 0.0], (links, 1)),
        link_vel_w=at_rest,
        link_acc_w=at_rest,
        patches=patches,
        holds=~patches.moving,
        swing=np.zeros(c),
        coming=np.full(c, -1),
    )
    controller = make(robot, patches, dt=0.002, options=Options(foot_centres=True))
    controller.command(State(0.0, robot.home, rest, feet, feet), target)


def _feet(robot: Robot, patches: Patches) -> tuple[Int64[IntArray, " k"], Int64[IntArray, " k"]]:
    """Links that are feet, and which contact link each is, −1 for soles that never stand."""
    links = list(patches.link_body)
    links += [k for k in (robot.link_id(s.link) for s in robot.soles) if k not in links]
    contact = [c if c < len(patches.link_body) else -1 for c in range(len(links))]
    return _whole(links), _whole(contact)


def _groups(robot: Robot, patches: Patches) -> Int64[IntArray, " c"]:
    """Which contact links make one foot: soles of one side; anything else stands for itself."""
    side = {sole.link: sole.side for sole in robot.soles}
    keys = [side.get(name) or f"link {name}" for name in patches.link_names]
    return _whole([keys.index(key) for key in keys])


def _gains(robot: Robot, options: Options) -> desire.Gains:
    kp, kd = np.full(robot.nv, options.kp), np.full(robot.nv, options.kd)
    for pattern, p, d in options.joint_gains:
        fits = [fnmatchcase(name, pattern) for name in robot.joint_names]
        if not any(fits):
            raise UnknownName(
                what=f"joint gains for '{pattern}', which fits no joint of robot '{robot.name}'",
                todo=nearest(pattern, robot.joint_names),
            )
        kp[robot.joint_dofadr[fits]], kd[robot.joint_dofadr[fits]] = p, d
    low, high = np.full(robot.nv, -np.inf), np.full(robot.nv, np.inf)
    low[robot.joint_dofadr], high[robot.joint_dofadr] = robot.joint_min, robot.joint_max
    return desire.Gains(
        kp,
        kd,
        low,
        high,
        options.limit_rate,
        options.swing_kp,
        options.swing_kd,
        options.stance_kd,
        options.landing_mps,
        options.damping**2,
        options.stance_weight,
        options.swing_weight,
    )


def _weights(robot: Robot, options: Options) -> analytic.Weights:
    q = np.full(robot.nv, options.trunk_weight)
    q[robot.joint_dofadr] = options.joint_weight
    return analytic.Weights(
        q,
        np.full(len(robot.joint_names), options.torque_weight),
        options.force_weight,
        options.force_weight,
        options.cop_weight,
        options.foot_cop_weight,
        options.spin_weight,
    )


def _links(target: Target) -> tuple[Array, Array, Array, Array]:
    """Poses, velocities and accelerations of all links."""
    return target.link_pos_w, target.link_quat_w, target.link_vel_w, target.link_acc_w


def _whole(values: object) -> Int64[IntArray, " k"]:
    """A writable int64 array: one flavour for the kernels."""
    return np.array(values, dtype=np.int64)
