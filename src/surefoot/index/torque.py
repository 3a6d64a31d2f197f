"""The smallest joint torques, over their limits, with which contacts can carry a motion.

At each sample: the smallest t with |τ_j| ≤ t · limit_j for all joints, over all contact forces f
inside their circular friction cones that give the required wrench; τ = ID − Σ J_kᵀ f_k. Torques are
those of M q̈ + bias with the rotors' inertia; springs, damping and friction of the joints stay out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, locked, locked_int
from surefoot.contacts.cones import Cones
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.wrench import weight_w
from surefoot.errors import Notice
from surefoot.index.conic import solve
from surefoot.index.limits import unknown_limits
from surefoot.motion.contact import ContactSchedule

GAP = 1e-4  # relative, between a ratio and its proof
CHUNK = 256  # samples: their matrices take some megabytes and stay in the cache
LEVER_M = 0.1  # a foot's size: moments over it are compared with forces
RANK = 1e-8  # of the largest singular value: below, a direction of wrenches cannot be given
MISSED = 1e-6  # of the weight: a wrench farther from what contacts can give is not carried
NO_TORQUE = 1e-12  # over its limit: such a joint takes nothing from any contact


@dataclass(frozen=True, slots=True)
class Torques:
    """What the motors must at least give at each sample."""

    joint_names: tuple[str, ...]
    unknown_joints: tuple[str, ...]
    """Joints without a known torque limit: not judged."""
    time: Float64[Array, " n"]
    """Moments of the samples, s."""
    ratio: Float64[Array, " n"]
    """Smallest largest torque over its limit; +inf where it was not found or nothing carries."""
    limiting: Int64[IntArray, " n"]
    """Index of the joint whose limit decides; −1 where there is none."""
    feasible: Bool[BoolArray, " n"]
    """Whether the contacts can give the required wrench, so that there is a ratio."""
    torque: Float64[Array, "n m"]
    """The torques with that ratio, N m (slides: N); 0 where there is none."""
    force_w: Float64[Array, "k 3"]
    """The force with that ratio at each vertex of the cones, N; 0 where there is none."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("time", "ratio", "torque", "force_w"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        object.__setattr__(self, "limiting", locked_int(self.limiting))
        feasible = np.array(self.feasible)
        feasible.flags.writeable = False
        object.__setattr__(self, "feasible", feasible)

    @property
    def judged(self) -> Bool[BoolArray, " n"]:
        """Samples with a ratio."""
        return np.isfinite(self.ratio)

    @property
    def joint(self) -> tuple[str | None, ...]:
        """Name of the joint whose limit decides at each sample."""
        return tuple(None if j < 0 else self.joint_names[j] for j in self.limiting.tolist())

    @property
    def unconverged(self) -> int:
        """How many feasible samples have no ratio because the search did not end."""
        if len(self.unknown_joints) == len(self.joint_names):
            return 0
        return int((self.feasible & ~self.judged).sum())

    @property
    def reason(self) -> str | None:
        """Why there is no figure at all."""
        if len(self.unknown_joints) == len(self.joint_names):
            return "no joint has a known torque limit"
        if not self.feasible.any():
            return "at no sample can the contacts give the required wrench"
        return None if self.judged.any() else "the search ended at no sample"

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was not judged."""
        said = []
        if self.unknown_joints:
            said.append(unknown_limits("torque", list(self.unknown_joints)))
        if self.unconverged:
            of = int(self.feasible.sum())
            said.append(
                Notice(
                    "unconverged",
                    "joint torques",
                    f"the smallest torques were not found at {self.unconverged} of {of} samples",
                    value=float(self.unconverged),
                )
            )
        return tuple(said)

    def summary(self) -> dict[str, object]:
        """`joints.torque` of `surefoot index --json`; null where nothing was found."""
        judged = self.judged
        i = int(np.argmax(np.where(judged, self.ratio, -np.inf)))
        any_ = bool(judged.any())
        return {
            "worst_ratio": float(self.ratio[i]) if any_ else None,
            "worst_joint": self.joint[i] if any_ else None,
            "worst_at_s": float(self.time[i]) if any_ else None,
            "violations": int((self.ratio[judged] > 1.0).sum()) if any_ else None,
            "fraction_beyond": float((self.ratio[judged] > 1.0).mean()) if any_ else None,
            "judged_samples": int(judged.sum()),
            "unconverged": self.unconverged,
            "unknown": len(self.unknown_joints),
            "unknown_joints": list(self.unknown_joints),
            "reason": self.reason,
        }


def joint_torques(
    batch: Batch,
    cones: Cones,
    contacts: ContactSchedule,
    distances_upper: Float64[Array, " n"],
    tolerance_n: float,
    time: Float64[Array, " n"],
) -> Torques:
    """The smallest largest torque over its limit at each sample that the contacts can carry.

    Each value is proven by a dual one to 1e-4 of itself, those below 0.01 to 1e-6; where that was
    not reached there is none.

    Args:
        contacts: what the cones were made of.
        distances_upper: proven signed distance of the required wrench from the cones, N.
        tolerance_n: up to which it counts as feasible, N.
        time: moments of the batch's frames, s.

    Raises:
        BadMotion: the batch has no velocities or no accelerations.
    """
    robot = batch.robot
    n, names = batch.n, robot.joint_names
    known = np.isfinite(robot.joint_torque) & (robot.joint_torque > 0.0)
    feasible = distances_upper <= tolerance_n
    found = _Found.blank(n, len(names), len(cones.vertex_pos))
    if known.any():
        carriers = _Carriers(batch, cones, contacts)
        need = batch.inverse_dynamics()[:, robot.joint_dofadr]
        limit = np.where(known, robot.joint_torque, np.inf)
        for count in np.unique(cones.count[feasible]):
            samples = np.flatnonzero(feasible & (cones.count == count))
            for first in range(0, len(samples), CHUNK):  # chunks bound the memory
                part = samples[first : first + CHUNK]
                _judge(carriers, part, need[part], limit, found)
    return Torques(
        joint_names=names,
        unknown_joints=tuple(name for name, has in zip(names, known, strict=True) if not has),
        time=time,
        ratio=found.ratio,
        limiting=found.limiting,
        feasible=feasible,
        torque=found.torque,
        force_w=found.force_w,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    ratio: Array
    limiting: IntArray
    torque: Array
    force_w: Array

    @classmethod
    def blank(cls, n: int, m: int, k: int) -> _Found:
        """Nothing found yet."""
        return cls(
            np.full(n, np.inf), np.full(n, -1, dtype=np.int64), np.zeros((n, m)), np.zeros((k, 3))
        )


class _Carriers:
    """What forces at the contact vertices give: wrenches, and torques of the joints.

    Unknowns in threes for each vertex, over the weight: the normal force, and two tangential ones
    over the friction, so that every friction cone is the same one.
    """

    def __init__(self, batch: Batch, cones: Cones, contacts: ContactSchedule) -> None:
        self.batch, self.cones = batch, cones
        self.weight = float(np.linalg.norm(weight_w(batch)))
        self.links = np.array([batch.robot.link_id(s.link) for s in contacts.stances], np.int64)

    def rows(self, samples: IntArray) -> IntArray:
        """The vertices of samples that have the same number of them, (s, k)."""
        start, count = self.cones.start[samples], self.cones.count[samples[0]]
        return np.asarray(start[:, None] + np.arange(count))

    def axes_w(self, rows: IntArray) -> Array:
        """Forces of the unknowns of each vertex, N: (s, k, 3 unknowns, 3)."""
        normal = self.cones.vertex_normal[rows]
        helper = np.where(np.abs(normal[:, :, :1]) > 0.8, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
        first = np.cross(normal, helper)
        first /= np.linalg.norm(first, axis=2, keepdims=True)
        slip = self.cones.vertex_friction[rows][:, :, None]
        axes = np.stack([normal, slip * first, slip * np.cross(normal, first)], axis=2)
        return np.asarray(self.weight * axes)

    def wrenches(self, samples: IntArray, rows: IntArray, axes: Array) -> tuple[Array, Array]:
        """Wrenches of the unknowns (s, 6, 3 k) about the middle of the vertices, and the required.

        Over the weight, moments over a foot's size besides.
        """
        pos = self.cones.vertex_pos[rows]
        batch = self.batch
        middle = pos.mean(axis=1) if pos.shape[1] else batch.com_w[samples]
        given = _columns(pos - middle[:, None], axes)
        needed = batch.com_wrench[samples].copy()
        needed[:, 3:] += np.cross(batch.com_w[samples] - middle, needed[:, :3])
        scale = self.weight * np.array([1.0] * 3 + [LEVER_M] * 3)
        return given / scale[:, None], needed / scale

    def torques(self, samples: IntArray, rows: IntArray, axes: Array) -> Array:
        """What the unknowns take off the joints, N m: (s, m, 3 k)."""
        batch, robot = self.batch, self.batch.robot
        out = np.zeros((len(samples), len(robot.joint_names), 3 * rows.shape[1]))
        link = self.links[self.cones.vertex_stance[rows]]
        posed = Batch(robot, batch.qpos[samples])
        for b in np.unique(link):
            arm = self.cones.vertex_pos[rows] - batch.link_pos_w[samples, None, b]
            columns = _columns(arm, np.where((link == b)[:, :, None, None], axes, 0.0))
            name = robot.link_names[int(b) - 1]
            jacobian = posed.jacobian(name, np.zeros(3))[:, :, robot.joint_dofadr]
            out += np.swapaxes(jacobian, 1, 2) @ columns
        return out


def _columns(arm: Array, axes: Array) -> Array:
    """Forces at the ends of arms (s, k, 3) as wrenches (s, 6, 3 k)."""
    s, k = arm.shape[:2]
    moment = np.cross(np.broadcast_to(arm[:, :, None], axes.shape), axes)
    wrench = np.concatenate([axes, moment], axis=3)
    return np.ascontiguousarray(np.swapaxes(wrench.reshape(s, 3 * k, 6), 1, 2))


def _judge(
    carriers: _Carriers, samples: IntArray, need: Array, limit: Array, found: _Found
) -> None:
    """Samples with one number of vertices: all forces that balance, then the best of them."""
    rows = carriers.rows(samples)
    axes = carriers.axes_w(rows)
    given, needed = carriers.wrenches(samples, rows, axes)
    takes = carriers.torques(samples, rows, axes)
    unknowns = given.shape[2]
    u, sizes, vt = np.linalg.svd(given)
    rank = np.sum(sizes > RANK * sizes[:, :1], axis=1) if unknowns else np.zeros(len(samples), int)
    for r in np.unique(rank):
        at = np.flatnonzero(rank == r)
        along = np.einsum("nij,ni->nj", u[at, :, :r], needed[at]) / sizes[at, :r]
        some = np.einsum("nr,nrx->nx", along, vt[at, :r])
        missed = np.linalg.norm((given[at] @ some[:, :, None])[:, :, 0] - needed[at], axis=1)
        free = np.swapaxes(vt[at, r:], 1, 2)
        best, joint, solved = _best(some, free, need[at], takes[at], limit)
        solved &= missed <= MISSED
        torque = need[at] - (takes[at] @ best[:, :, None])[:, :, 0]
        force = np.einsum("nkad,nka->nkd", axes[at], best.reshape(len(at), -1, 3))
        ok = np.flatnonzero(solved)
        into = samples[at[ok]]
        found.ratio[into] = np.max(np.abs(torque[ok]) / limit, axis=1)
        found.limiting[into] = joint[ok]
        found.torque[into] = torque[ok]
        found.force_w[rows[at[ok]]] = force[ok]


def _best(
    some: Array, free: Array, need: Array, takes: Array, limit: Array
) -> tuple[Array, IntArray, BoolArray]:
    """The unknowns with the smallest ratio, the joint that decides, and whether that is proven.

    Args:
        some: unknowns (n, x) that balance; with any sum of the columns of `free` (n, x, p) added
            they still do.
    """
    n, unknowns, p = free.shape
    still = (need - (takes @ some[:, :, None])[:, :, 0]) / limit
    if p == 0:
        cone = some.reshape(n, -1, 3)
        over = np.hypot(cone[:, :, 1], cone[:, :, 2]) - cone[:, :, 0]
        inside = np.all(over <= MISSED, axis=1)
        return some, np.argmax(np.abs(still), axis=1), inside
    turns = (takes @ free) / limit[:, None]
    moved = np.flatnonzero(np.abs(turns).max(axis=(0, 2)) > NO_TORQUE)
    held = np.setdiff1d(np.flatnonzero(np.isfinite(limit)), moved)
    floor = np.abs(still[:, held]).max(axis=1, initial=0.0)
    m = len(moved)
    q = 2 * m + 1
    A, h = np.zeros((n, q + unknowns, p + 1)), np.zeros((n, q + unknowns))
    A[:, :m, :p], A[:, m : 2 * m, :p], A[:, q:, :p] = turns[:, moved], -turns[:, moved], -free
    A[:, :q, p] = -1.0
    h[:, :m], h[:, m : 2 * m], h[:, 2 * m], h[:, q:] = (
        still[:, moved],
        -still[:, moved],
        -floor,
        some,
    )
    answer = solve(A, h, q, GAP)
    best = some + (free @ answer.x[:, :p, None])[:, :, 0]
    weigh = np.zeros((n, len(limit)))
    weigh[:, moved] = answer.z[:, :m] + answer.z[:, m : 2 * m]
    if len(held):
        heaviest = held[np.argmax(np.abs(still[:, held]), axis=1)]
        weigh[np.arange(n), heaviest] = answer.z[:, 2 * m]
    return best, np.argmax(weigh, axis=1), answer.converged
