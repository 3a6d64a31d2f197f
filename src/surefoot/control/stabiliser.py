"""Joint servos with a stabiliser of the zero-moment point: `position` of the table of controllers.

After the linear inverted pendulum tracking of Kajita et al. (Biped walking stabilization based on
linear inverted pendulum tracking, IROS 2010), in its simplest form: a state feedback of the
pendulum asks for a zero-moment point, the feet share it, the trunk is kept upright by a moment from
the feet. What the paper does by turning and lowering feet until sensors agree is done here ahead,
by the robot's model: each servo's target is displaced by the torque it has to give over its
stiffness. So it is joint positions that go out, five hundred times a second, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray, door
from surefoot.control.contact_set import ContactSet
from surefoot.control.servo import Options as ServoOptions
from surefoot.control.servo import Servos
from surefoot.control.target import Command, Patches, State, Target
from surefoot.dynamics.tree import read_tree
from surefoot.errors import BadOption
from surefoot.kernels import body, pressing, sharing
from surefoot.motion import rotation
from surefoot.robots.robot import Robot

LOADED = 0.05  # over the weight: with less, a centre of pressure says nothing
LEAST_HEIGHT_M = 0.1  # of the pendulum: a fallen robot must not divide by nothing
LEAST_GRAVITY = 0.1  # of the gravity that the pendulum feels, over g: the same of one that drops


@dataclass(frozen=True, slots=True)
class Options:
    """What the servos are, and how balance is fed back. Everything scales with the robot."""

    stiffness_over_mgh: float = 3.0
    """Stiffness of every servo over m g h, with h the height of the centre of mass at home."""
    damping_s: float = 0.03
    """Damping of every servo over its stiffness, s."""
    poles_over_omega: tuple[float, float, float] = (4.0, 1.0, 1.0)
    """Of the tracked pendulum, on the negative real axis, over its natural frequency ω = √(g/h).
    Kajita et al. have −13, −3 and −ω rad/s with ω about 3.5 rad/s."""
    pressure_lag_s: float = 0.05
    """How late the pressure point follows the one asked for, s (Kajita et al.: 0.05)."""
    posture_over_mgh: float = 2.0
    """Moment that turns the root link back to its reference, N m/rad over m g h."""
    posture_damping_s: float = 0.1
    """The same against its angular velocity, over the former, s."""
    foot_margin_m: float = 0.01
    """How far inside the edge of each foot its centre of pressure is kept, m."""

    def __post_init__(self) -> None:
        """Refuse what cannot hold a pendulum up.

        Raises:
            BadOption: poles that are not stable, a lag or servo that is not positive, others below
                zero.
        """
        for name in ("stiffness_over_mgh", "damping_s", "pressure_lag_s"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise BadOption(what=f"{name} must be positive, got {getattr(self, name):g}")
        for name in ("posture_over_mgh", "posture_damping_s", "foot_margin_m"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise BadOption(what=f"{name} must be zero or more, got {getattr(self, name):g}")
        poles = self.poles_over_omega
        if len(poles) != 3 or not all(0.0 < pole < np.inf for pole in poles):
            raise BadOption(what=f"poles_over_omega must be three positive numbers, got {poles}")


def feedback(omega: float, options: Options) -> tuple[float, float, float]:
    """Gains k of position, velocity and pressure point of a pendulum with a lagging pressure.

    c̈ = ω² (c − p), ṗ = (p* − p)/T, p* = −k · (c, ċ, p), all about the reference. The closed loop
    s³ + (1 + k₃)/T s² − ω² (1 + k₂/T) s − ω² (1 + k₁ + k₃)/T has the poles of the options.
    """
    a, b, c = (omega * p for p in options.poles_over_omega)
    lag = options.pressure_lag_s
    k3 = lag * (a + b + c) - 1.0
    k2 = -lag * ((a * b + b * c + c * a) / omega**2 + 1.0)
    k1 = -lag * a * b * c / omega**2 - 1.0 - k3
    return k1, k2, k3


class StabilisedServos(Servos):
    """Follows the reference's joints and balances. A `Controller` of `control.target`."""

    def __init__(self, robot: Robot, patches: Patches, options: Options) -> None:
        """Everything that does not change from step to step."""
        super().__init__(
            robot,
            patches,
            ServoOptions(
                stiffness_over_mgh=options.stiffness_over_mgh, damping_s=options.damping_s
            ),
        )
        self.options = options
        self._tree = read_tree(robot.model)
        self._root = robot.link_id(robot.root_link)
        self._set = ContactSet(robot, patches)
        self._weight = robot.mass * self._gravity
        self._posture = options.posture_over_mgh * self.stiffness / options.stiffness_over_mgh
        self._body = body.room_for(robot.model.nbody, robot.nv)
        self._arrays = (
            _whole(patches.link_body),
            _whole(patches.patch_link),
            _whole(patches.vertex_start),
            door(patches.vertex_l),
        )
        self._contact = sharing.room_for(len(patches.vertex_l), _groups(robot, patches))
        self._holds = np.zeros(len(patches.patch_link), dtype=np.bool_)
        self._wrench = np.zeros(6)
        self._J, self._torque = pressing.room_for(robot.nv)

    def reset(self) -> None:
        """Forget all steps: the next is the first."""
        self._set.reset()

    def command(self, state: State, target: Target) -> Command:
        """The joints of the target, and what the servos must give so that the feet press right."""
        b = self._body
        body.measure(self._tree, door(state.qpos), door(state.qvel), b)
        self._set.update(state, target)
        carrying = self._set.carrying
        self._holds[:] = False
        self._holds[carrying[carrying >= 0]] = True
        sharing.collect(b.pos, b.rot, self._arrays, self._holds, self._contact)
        acc, cop_w = target.com_acc_w.copy(), None
        self._contact.share[:] = 0.0
        if self._contact.used[0] > 0:
            acc[:2], cop_w = self._balance(state, target)
        self._wrench[:3] = b.mass[0] * (acc - self._tree.gravity)
        self._wrench[3:] = self._moment(target)
        root_acc = target.qacc.copy()
        root_acc[:3] += acc - target.com_acc_w
        pressing.press(
            self._tree, b, root_acc, self._arrays[0], self._contact, self._wrench, self._J,
            self._torque,
        )  # fmt: skip
        plain = super().command(state, target)
        return Command(
            plain.value, self._set.planned, cop_w, torque=self._torque[self._dofs].copy()
        )

    def _balance(
        self, state: State, target: Target
    ) -> tuple[Float64[Array, " 2"], Float64[Array, " 3"]]:
        """Acceleration of the centre of mass, and where the pressure should be; shared."""
        b, options, contact = self._body, self.options, self._contact
        zmp = target.zmp_w[:2]
        lift = max(self._gravity + float(target.com_acc_w[2]), LEAST_GRAVITY * self._gravity)
        omega = sqrt(lift / max(float(b.com[2] - target.zmp_w[2]), LEAST_HEIGHT_M))
        load = state.force_w[:, 2]
        total = float(load.sum())
        off = b.com[:2] - target.com_w[:2]
        speed = b.com_vel[:2] - target.com_vel_w[:2]
        pressed = np.zeros(2)
        if total > LOADED * self._weight:
            pressed = load @ state.cop_w[:, :2] / total - zmp
        k = feedback(omega, options)
        asked = zmp - k[0] * off - k[1] * speed - k[2] * pressed
        asked = np.array(sharing.share(contact, asked[0], asked[1], 0.0, options.foot_margin_m))
        acc = target.com_acc_w[:2] + omega**2 * (off - asked[:2] + zmp)
        return acc, asked

    def _moment(self, target: Target) -> Float64[Array, " 3"]:
        """The moment that turns the root back to its reference, world axes, N m."""
        root, b = self._root, self._body
        error = rotation.as_rotvec(
            rotation.multiply(target.link_quat_w[root], rotation.conjugate(b.quat[root]))
        )
        speed = target.link_vel_w[root, 3:] - b.vel[root, 3:]
        out = self._posture * (error + self.options.posture_damping_s * speed)
        return np.asarray(out, dtype=np.float64)


def make(
    robot: Robot, patches: Patches, *, dt: float, options: Options | None = None
) -> StabilisedServos:
    """Joint servos with a stabiliser: `position` of the table of controllers."""
    return StabilisedServos(robot, patches, options or Options())


def _groups(robot: Robot, patches: Patches) -> Int64[IntArray, " c"]:
    """Which contact links make one foot: soles of one side; anything else stands for itself."""
    side = {sole.link: sole.side for sole in robot.soles}
    keys = [side.get(name) or f"link {name}" for name in patches.link_names]
    return _whole([keys.index(key) for key in keys])


def _whole(values: object) -> Int64[IntArray, " k"]:
    """A writable int64 array: one flavour for the kernels."""
    return np.array(values, dtype=np.int64)
