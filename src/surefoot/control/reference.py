"""A clip at the control rate: everything that controllers follow, made ahead for all steps."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray
from surefoot.contacts.cones import contact_cones
from surefoot.contacts.pressure import ground_figures
from surefoot.control.target import Patches, State, Target, patches_of
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.wrench import momentum_rate, required_wrench
from surefoot.errors import BadMotion, BadOption
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.curves import Interpolation, rates, resample
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

CONTROL_RATE_HZ = 500.0  # of the robots of the papers, and of most that are driven by torques
HIGHEST_RATE_HZ = 5000.0
STEP_ROUNDING = 1e-6  # steps; a clip of 8 s at 30 frames/s ends 1e-12 steps beside a whole one


@dataclass(frozen=True, eq=False)
class Reference:
    """n control steps of a clip; before the first and after the last it is held at rest.

    A `TargetSource` of `control.target`.
    """

    robot: Robot
    patches: Patches
    dt: float
    """Length of a control step, s."""
    time: Float64[Array, " n"]
    """Moments of the steps, s of the clip; the last is at its end or less than a step past it."""
    qpos: Float64[Array, "n nq"]
    qvel: Float64[Array, "n nv"]
    qacc: Float64[Array, "n nv"]
    com_w: Float64[Array, "n 3"]
    com_vel_w: Float64[Array, "n 3"]
    com_acc_w: Float64[Array, "n 3"]
    spin_w: Float64[Array, "n 3"]
    """Angular momentum about the centre of mass, N m s."""
    spin_rate_w: Float64[Array, "n 3"]
    zmp_w: Float64[Array, "n 3"]
    """On the plane of the contacts, m."""
    zmp_defined: Bool[BoolArray, " n"]
    link_pos_w: Float64[Array, "n b 3"]
    link_quat_w: Float64[Array, "n b 4"]
    link_vel_w: Float64[Array, "n b 6"]
    link_acc_w: Float64[Array, "n b 6"]
    holds: Bool[BoolArray, "n p"]
    """Which patches are scheduled: those that hold in the middle of a step."""
    swing: Float64[Array, "n c"]
    coming: Int64[IntArray, "n c"]

    def __post_init__(self) -> None:
        """Lock the arrays; no copies are made, for they were made by nobody else."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def steps(self) -> int:
        """Number of control steps, first and last moment of the clip both in."""
        return len(self.time)

    def at(self, step: int, state: State | None = None) -> Target:
        """The target of a step; before 0 the first frame at rest, past the end the last at rest."""
        i = min(max(step, 0), self.steps - 1)
        moving = i == step
        still = np.zeros(3)
        rest, rest_links = np.zeros(self.qvel.shape[1]), np.zeros(self.link_vel_w.shape[1:])
        return Target(
            time=float(self.time[0]) + step * self.dt,
            qpos=self.qpos[i],
            qvel=self.qvel[i] if moving else rest,
            qacc=self.qacc[i] if moving else rest,
            com_w=self.com_w[i],
            com_vel_w=self.com_vel_w[i] if moving else still,
            com_acc_w=self.com_acc_w[i] if moving else still,
            spin_w=self.spin_w[i] if moving else still,
            spin_rate_w=self.spin_rate_w[i] if moving else still,
            zmp_w=self.zmp_w[i] if moving else self._under_com(i),
            zmp_defined=bool(self.zmp_defined[i]),
            link_pos_w=self.link_pos_w[i],
            link_quat_w=self.link_quat_w[i],
            link_vel_w=self.link_vel_w[i] if moving else rest_links,
            link_acc_w=self.link_acc_w[i] if moving else rest_links,
            patches=self.patches,
            holds=self.holds[i],
            swing=self.swing[i],
            coming=self.coming[i],
        )

    def _under_com(self, i: int) -> Float64[Array, " 3"]:
        """The zero-moment point of a pose held still, at the height where it is in motion."""
        return np.array([self.com_w[i, 0], self.com_w[i, 1], self.zmp_w[i, 2]])


def reference_of(
    clip: Clip,
    robot: Robot,
    *,
    rate_hz: float = CONTROL_RATE_HZ,
    interpolation: Interpolation = "spline",
    friction: float | None = None,
) -> Reference:
    """Everything of a clip that controllers follow, at the control rate.

    Args:
        rate_hz: of the control steps.
        friction: of all contacts, instead of what each stance says.

    Raises:
        BadMotion: fewer than two frames, or joints that are not the robot's.
        BadOption: a rate that is not positive, or above 5 kHz; negative friction.
        UnknownName: a stance of a link that the robot has not.
    """
    if not 0.0 < rate_hz <= HIGHEST_RATE_HZ:
        raise BadOption(
            what=f"the control rate must lie between 0 and {HIGHEST_RATE_HZ:g} Hz, got {rate_hz:g}"
        )
    motion = clip.motion
    if motion.n < 2:
        raise BadMotion(what="control needs at least 2 frames, got 1", where=clip.meta.source)
    steps = int(np.ceil(motion.duration * rate_hz - STEP_ROUNDING)) + 1
    time = float(motion.time[0]) + np.arange(steps) / rate_hz
    inside = np.minimum(time, motion.time[-1])
    moving = rates(motion, interpolation=interpolation, time=inside)
    poses = robot.qpos(resample(motion, inside, interpolation=interpolation))
    batch = Batch(robot, poses, robot.qvel(moving), robot.qacc(moving))
    middle = np.minimum(time + 0.5 / rate_hz, motion.time[-1])
    stances = clip.contacts.stances
    point_w = np.array([clip.terrain.surfaces[s.surface].point for s in stances]).reshape(-1, 3)
    swing, coming = _swings(clip.contacts, middle)
    zmp_w, defined = _pressed(batch, middle, clip.contacts)
    mass = robot.mass
    rate = momentum_rate(batch)
    return Reference(
        robot=robot,
        patches=patches_of(stances, robot, _tops(clip, stances, point_w), friction=friction),
        dt=1.0 / rate_hz,
        time=time,
        qpos=batch.qpos,
        qvel=batch.qvel,
        qacc=batch.qacc,
        com_w=batch.com_w,
        com_vel_w=batch.momentum[:, :3] / mass,
        com_acc_w=rate[:, :3] / mass,
        spin_w=np.array(batch.momentum[:, 3:]),
        spin_rate_w=np.array(rate[:, 3:]),
        zmp_w=zmp_w,
        zmp_defined=defined,
        link_pos_w=batch.link_pos_w,
        link_quat_w=batch.link_quat_w,
        link_vel_w=batch.link_vel_w,
        link_acc_w=batch.link_acc_w,
        holds=_holding(stances, middle),
        swing=swing,
        coming=coming,
    )


def _tops(
    clip: Clip, stances: tuple[Stance, ...], point_w: Float64[Array, "p 3"]
) -> Float64[Array, "p 3"]:
    """A point of the surface of each stance: of a box, its top."""
    top = point_w.copy()
    for i, stance in enumerate(stances):
        surface = clip.terrain.surfaces[stance.surface]
        if surface.kind == "box":
            top[i, 2] += surface.size[2] / 2.0
    return top


def _holding(stances: tuple[Stance, ...], time: Float64[Array, " n"]) -> Bool[BoolArray, "n p"]:
    start = np.array([stance.start for stance in stances])
    end = np.array([stance.end for stance in stances])
    return np.asarray((time[:, None] >= start) & (time[:, None] <= end), dtype=np.bool_)


def _swings(
    contacts: ContactSchedule, time: Float64[Array, " n"]
) -> tuple[Float64[Array, "n c"], Int64[IntArray, "n c"]]:
    """How much of its present swing each link has behind it, and the patch that ends it."""
    links, stances = contacts.links, contacts.stances
    swing = np.zeros((len(time), len(links)))
    coming = np.full((len(time), len(links)), -1, dtype=np.int64)
    for c, link in enumerate(links):
        own = [p for p, stance in enumerate(stances) if stance.link == link]
        standing = contacts.standing(link, time)
        ends = np.maximum.accumulate([stances[p].end for p in own])
        for last, p in enumerate(own):
            begin = float(ends[last - 1]) if last else float(time[0])
            finish = stances[p].start
            flying = (time >= begin) & (time < finish) & ~standing
            swing[flying, c] = (time[flying] - begin) / max(finish - begin, 1e-9)
            coming[flying, c] = p
    return swing, coming


def _pressed(
    batch: Batch, time: Float64[Array, " n"], contacts: ContactSchedule
) -> tuple[Float64[Array, "n 3"], Bool[BoolArray, " n"]]:
    """The zero-moment point of each step on the plane of its contacts."""
    ref_w = np.array(batch.com_w)
    wrench = required_wrench(batch, ref_w)
    cones = contact_cones(batch, time, contacts)
    weight = float(np.linalg.norm(batch.tree.gravity)) * batch.robot.mass
    figures = ground_figures(cones, contacts, wrench, ref_w, weight_n=weight)
    return np.array(figures.zmp_w), np.array(figures.defined)
