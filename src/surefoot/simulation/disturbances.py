"""What goes wrong in a run: pushes, and all that the controller does not know. One seed for all.

Every kind of chance has its own generator, drawn from the seed: more noise does not change pushes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.errors import BadOption
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot

WHOLE = 1e-6  # of a control step: less is rounding of times


@dataclass(frozen=True, slots=True)
class Push:
    """A constant force on a link for some time."""

    time: float
    """When it begins, s of the clip."""
    force_w: Float64[Array, " 3"]
    """N, world axes."""
    duration: float = 0.1
    """s."""
    link: str | None = None
    """On whose centre of mass; None: the root link's."""

    def __post_init__(self) -> None:
        """Lock the force and refuse what is no push."""
        object.__setattr__(self, "force_w", locked(self.force_w))
        numbers = (self.time, self.duration, *self.force_w.ravel())
        if self.force_w.shape != (3,) or not all(map(math.isfinite, numbers)):
            raise BadOption(what="a push needs a finite time, three finite forces and a duration")
        if self.duration <= 0.0:
            raise BadOption(what=f"a push must last, got {self.duration:g} s")

    def __reduce__(self) -> tuple[type[Push], tuple[object, ...]]:
        """Pickle by construction, so that the copy is locked too."""
        return Push, (self.time, self.force_w, self.duration, self.link)

    @property
    def impulse(self) -> float:
        """Force times duration, N s."""
        return float(np.linalg.norm(self.force_w)) * self.duration


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviations of what sensors add to each measurement, by control step."""

    joint_pos: float = 0.0
    """rad."""
    joint_vel: float = 0.0
    """rad/s."""
    root_pos: float = 0.0
    """m."""
    root_turn: float = 0.0
    """rad, about each axis of the root."""
    root_vel: float = 0.0
    """m/s."""
    root_spin: float = 0.0
    """rad/s."""
    force_n: float = 0.0
    """N, of each component of each contact force."""

    def __post_init__(self) -> None:
        """Refuse deviations that are none."""
        for name in self.__slots__:
            value = getattr(self, name)
            if not 0.0 <= value < math.inf:
                raise BadOption(what=f"noise {name} must be 0 or more, got {value:g}")

    @property
    def is_silent(self) -> bool:
        """Whether nothing is added."""
        return not any(getattr(self, name) for name in self.__slots__)


TYPICAL_NOISE = Noise(joint_pos=0.001, joint_vel=0.05, root_vel=0.02)  # the notes' prototype


@dataclass(frozen=True, slots=True)
class Disturbances:
    """How the simulated world differs from the one that the controller believes in."""

    friction: float | None = None
    """Of all surfaces, instead of what the clip says; the controller does not know."""
    mass_error: float = 0.0
    """Masses and inertias of links are multiplied with 1 + u, u drawn by link within ± this."""
    mass_factor: Mapping[str, float] = field(default_factory=dict)
    """Further factors by link."""
    delay_s: float = 0.0
    """From measurement to torque; whole control steps."""
    noise: Noise = Noise()
    """Of the sensors."""
    ground_error_m: float = 0.0
    """Each surface is moved up by a height drawn within ± this."""
    push_n: float = 0.0
    """Horizontal pushes of this force on the root, their directions drawn."""
    push_every_s: float = 1.0
    """From one to the next; the first is drawn within one such span."""
    push_duration_s: float = 0.1

    def __post_init__(self) -> None:
        """Refuse what is no disturbance."""
        for name in ("mass_error", "delay_s", "ground_error_m", "push_n"):
            value = getattr(self, name)
            if not 0.0 <= value < math.inf:
                raise BadOption(what=f"{name} must be 0 or more, got {value:g}")
        if self.mass_error >= 1.0:
            raise BadOption(what=f"mass_error must be below 1, got {self.mass_error:g}")
        if self.friction is not None and not 0.0 <= self.friction < math.inf:
            raise BadOption(what=f"friction must be 0 or more, got {self.friction:g}")
        for link, times in self.mass_factor.items():
            if not 0.0 < times < math.inf:
                raise BadOption(what=f"a mass factor must be positive, got {times:g}", where=link)
        if not 0.0 < self.push_duration_s <= self.push_every_s < math.inf:
            raise BadOption(
                what=f"pushes of {self.push_duration_s:g} s every {self.push_every_s:g} s overlap"
            )

    def delay_steps(self, dt: float) -> int:
        """The delay in control steps.

        Raises:
            BadOption: it is not a whole number of them.
        """
        steps = self.delay_s / dt
        if abs(steps - round(steps)) > WHOLE:
            raise BadOption(
                what=f"a delay of {self.delay_s:g} s is no whole number of control steps of"
                f" {dt:g} s"
            )
        return round(steps)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a seed made of disturbances."""

    mass_factor: dict[str, float]
    shift_m: Float64[Array, " surfaces"]
    pushes: tuple[Push, ...]
    noise: np.random.Generator
    """For the sensors."""


def drawn(
    disturbances: Disturbances, robot: Robot, *, surfaces: int, end_s: float, seed: int
) -> Drawn:
    """The disturbances of one run.

    Args:
        surfaces: how many the terrain has.
        end_s: until when pushes come.

    Raises:
        BadOption: a seed below 0.
    """
    if seed < 0:
        raise BadOption(what=f"a seed must be 0 or more, got {seed}")
    mass, ground, push, noise = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)
    )
    links = robot.link_names
    factor = 1.0 + disturbances.mass_error * mass.uniform(-1.0, 1.0, len(links))
    factors = dict(zip(links, factor.tolist(), strict=True)) if disturbances.mass_error else {}
    for link, times in disturbances.mass_factor.items():
        factors[link] = factors.get(link, 1.0) * times
    start = push.uniform(0.0, disturbances.push_every_s)
    count = max(0, math.ceil((end_s - start) / disturbances.push_every_s))
    angle = push.uniform(0.0, 2.0 * np.pi, count if disturbances.push_n else 0)
    pushes = tuple(
        Push(
            start + k * disturbances.push_every_s,
            disturbances.push_n * np.array([math.cos(a), math.sin(a), 0.0]),
            disturbances.push_duration_s,
        )
        for k, a in enumerate(angle)
    )
    shift = disturbances.ground_error_m * ground.uniform(-1.0, 1.0, surfaces)
    return Drawn(factors, locked(shift), pushes, noise)


class Pusher:
    """Turns pushes into generalised forces, control step by control step.

    A step that a push covers in part gets that share of its force: the impulse is as given.
    """

    def __init__(
        self, pushes: tuple[Push, ...], robot: Robot, model: mujoco.MjModel, dt: float
    ) -> None:
        """Keep the pushes and the engine's numbers of their links.

        Raises:
            UnknownName: a push on a link that the robot has not.
        """
        self._model, self._dt = model, dt
        self._rows = [(p, robot.link_id(p.link or robot.root_link)) for p in pushes]
        self._first = min((p.time for p in pushes), default=math.inf)
        self._last = max((p.time + p.duration for p in pushes), default=-math.inf)

    def add(self, time: float, data: mujoco.MjData, out: Float64[Array, " nv"]) -> bool:
        """Write the generalised forces of the step that begins now; whether there are any.

        Args:
            data: with the links where they are now.
        """
        out[:] = 0.0
        if time + self._dt <= self._first or time >= self._last:
            return False
        pushed = False
        for push, link in self._rows:
            share = min(time + self._dt, push.time + push.duration) - max(time, push.time)
            if share > WHOLE * self._dt:
                force = push.force_w * (share / self._dt)
                mujoco.mj_applyFT(
                    self._model, data, force, np.zeros(3), data.xipos[link], link, out
                )
                pushed = True
        return pushed


class Sensors:
    """Adds noise to poses, velocities and forces."""

    def __init__(self, noise: Noise, robot: Robot, rng: np.random.Generator) -> None:
        """Keep one deviation by degree of freedom."""
        self._model, self._rng, self._force = robot.model, rng, noise.force_n
        self.is_silent = noise.is_silent
        self._pos, self._vel = np.zeros((2, robot.nv))
        self._pos[robot.joint_dofadr] = noise.joint_pos
        self._vel[robot.joint_dofadr] = noise.joint_vel
        root = np.setdiff1d(np.arange(robot.nv), robot.joint_dofadr)
        slides = len(root) // 2 if robot.root_kind == "free" else len(root) - 1
        for rows, place, rate in (
            (root[:slides], noise.root_pos, noise.root_vel),
            (root[slides:], noise.root_turn, noise.root_spin),
        ):
            self._pos[rows], self._vel[rows] = place, rate

    def measure(
        self,
        qpos: Float64[Array, " nq"],
        qvel: Float64[Array, " nv"],
        force_w: Float64[Array, "c 3"],
    ) -> None:
        """Add noise to all three, in place."""
        draw = self._rng.standard_normal
        mujoco.mj_integratePos(self._model, qpos, self._pos * draw(len(qvel)), 1.0)
        qvel += self._vel * draw(len(qvel))
        if self._force > 0.0:
            force_w += self._force * draw(force_w.shape)
