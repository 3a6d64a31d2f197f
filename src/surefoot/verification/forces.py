"""The required wrench by plain MuJoCo, and whether times, poses and velocities fit together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.verification.dump import Dump, Unusable
from surefoot.verification.result import Ledger

Floats = NDArray[np.float64]

TOLERANCE = 1e-6  # of the larger of weight and |w|
SAME_POSE = 1e-6  # m and rad, between samples of one time
CURVED = 2.5  # allowed |Δq/Δt − mean velocity| over Δt · acceleration; 1/4 if that were the largest
SHARE = 0.05  # of a coordinate's largest velocity, allowed on top
STILL = 1e-6  # m/s and rad/s, allowed on top
STILL_S = 1e-6  # s: shorter steps are two sides of one moment
LEAP = 10.0  # longest step of time over the second longest
SHORT_S = 0.05  # longer steps tell nothing about velocities
MOVING = "time, qpos or qvel"  # which of them is false cannot be told
STEP_ROUNDING = 1e-12  # m and rad: a difference of two poses
PLANAR_NOTE = (
    "the root is not free: mj_inverse gives only the rows of its joints; the other components of"
    " the wrench were compared with mj_rnePostConstraint's force between world and root"
)


@dataclass
class Engine:
    """A model made ready for inverse dynamics of the bodies alone."""

    model: Any
    data: Any
    root: int
    """Body of the first joint."""
    rows: NDArray[np.int64]
    """Its rows in qfrc_inverse."""

    @property
    def weight(self) -> float:
        """Weight of everything that hangs on the root, newton."""
        gravity = float(np.linalg.norm(self.model.opt.gravity))
        return float(self.model.body_subtreemass[self.root]) * gravity

    @property
    def is_free(self) -> bool:
        """Whether the root has a free joint."""
        joint = int(self.model.body_jntadr[self.root])
        return int(self.model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_FREE)


def engine(dump: Dump) -> Engine:
    """The dump's model without contacts, limits, springs, dampers, fluid and armature of the root.

    Raises:
        Unusable: the model cannot be compiled, or its sizes are not those of the arrays.
    """
    try:
        model: Any = mujoco.MjModel.from_xml_string(dump.model_xml)
    except (ValueError, mujoco.FatalError) as error:
        raise Unusable(f"model_xml does not compile: {' '.join(str(error).split())}") from error
    sizes = (dump.qpos.shape[1], dump.qvel.shape[1])
    if sizes != (model.nq, model.nv) or model.nv == 0:
        raise Unusable(
            f"expected nq {model.nq} and nv {model.nv} of model_xml, got {sizes[0]} and {sizes[1]}"
        )
    off = mujoco.mjtDisableBit
    for bit in ("CONSTRAINT", "CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS", "SPRING", "DAMPER"):
        model.opt.disableflags |= int(getattr(off, f"mjDSBL_{bit}"))
    model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)
    model.opt.density = model.opt.viscosity = 0.0
    model.body_gravcomp[:] = 0.0
    root = int(model.jnt_bodyid[0])
    rows = np.flatnonzero(np.asarray(model.dof_bodyid) == root)
    model.dof_armature[rows] = 0.0
    model.dof_damping[rows] = 0.0
    return Engine(model, mujoco.MjData(model), root, rows)


def required_wrench(engine: Engine, dump: Dump, sample: int) -> tuple[Floats, Floats, Floats]:
    """Rows of the root's joints, the wrench's power on them (rows, 6), and the whole wrench.

    Row i of inverse dynamics is the power of the wrench on a unit velocity of that joint:
    row_i = J_i · (F, M). For a free joint J turns moments from body axes to the world, so the
    wrench follows from the rows; for other roots it comes from the force between world and root.
    """
    model, data = engine.model, engine.data
    data.qpos[:] = dump.qpos[sample]
    data.qvel[:] = dump.qvel[sample]
    data.qacc[:] = dump.qacc[sample]
    mujoco.mj_inverse(model, data)
    reference = dump.reference[sample]
    rows = np.array(data.qfrc_inverse[engine.rows], dtype=np.float64)
    if engine.is_free:
        turn = np.array(data.xmat[engine.root], dtype=np.float64).reshape(3, 3)
        force, moment = rows[:3], turn @ rows[3:]
        shift = np.array(data.xpos[engine.root], dtype=np.float64) - reference
        whole = np.concatenate((force, moment + np.cross(shift, force)))
        return rows, np.zeros((0, 6)), whole
    mujoco.mj_rnePostConstraint(model, data)
    between = np.array(data.cfrc_int[engine.root], dtype=np.float64)  # moment, then force
    shift = np.array(data.subtree_com[engine.root], dtype=np.float64) - reference
    whole = np.concatenate((between[3:], between[:3] + np.cross(shift, between[3:])))
    return rows, _powers(engine, reference), whole


def _powers(engine: Engine, reference: Floats) -> Floats:
    """What a unit wrench about the reference does on each joint of a root that is not free."""
    model, data = engine.model, engine.data
    powers = []
    start = int(model.body_jntadr[engine.root])
    for joint in range(start, start + int(model.body_jntnum[engine.root])):
        axis = np.array(data.xaxis[joint], dtype=np.float64)
        anchor = np.array(data.xanchor[joint], dtype=np.float64)
        if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_SLIDE):
            powers.append(np.concatenate((axis, np.zeros(3))))
        elif int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_HINGE):
            powers.append(np.concatenate((np.cross(axis, reference - anchor), axis)))
        else:
            raise Unusable("the root has a ball joint beside others: its wrench is not checked")
    return np.asarray(powers, dtype=np.float64).reshape(-1, 6)


def check_wrenches(engine: Engine, dump: Dump, usable: NDArray[np.bool_], ledger: Ledger) -> None:
    """Compare every wrench, in the scaled space, with inverse dynamics of the dump's states."""
    ledger.equal("weight", "weight", 0, dump.weight, engine.weight, 1e-9 * engine.weight)
    if not engine.is_free:
        ledger.say(PLANAR_NOTE)
    scale = np.array([1.0] * 3 + [1.0 / dump.length_scale] * 3)
    for i in np.flatnonzero(usable):
        rows, powers, whole = required_wrench(engine, dump, int(i))
        allowed = TOLERANCE * max(engine.weight, float(np.linalg.norm(whole * scale)))
        found = dump.wrench[i]
        for row, power in zip(rows if len(powers) else (), powers, strict=True):
            unit = max(float(np.linalg.norm(power / scale)), 1.0)
            ledger.equal("wrench", "wrench", int(i), float(power @ found), row, allowed * unit)
        worst = int(np.argmax(np.abs((found - whole) * scale)))
        ledger.equal("wrench", "wrench", int(i), found[worst], whole[worst], allowed / scale[worst])


def check_times(engine: Engine, dump: Dump, usable: NDArray[np.bool_], ledger: Ledger) -> None:
    """Order of time, and loosely whether poses move on as the velocities say."""
    steps = np.diff(dump.time)
    for i in np.flatnonzero(~(steps >= 0.0)):
        before = float(dump.time[i])
        ledger.at_least("order of time", "time", int(i) + 1, float(dump.time[i + 1]), before, 0.0)
    if steps.size > 3 and np.all(steps >= 0.0):
        at, (second, longest) = int(np.argmax(steps)), np.sort(steps)[-2:]
        ledger.at_most("order of time", "time", at + 1, longest, LEAP * second, STILL)
    states = _States(
        np.where(usable[:, None], dump.qvel, 0.0), np.where(usable[:, None], dump.qacc, 0.0)
    )
    moved = np.zeros(engine.model.nv)
    for i in np.flatnonzero(usable[:-1] & usable[1:]):
        dt = float(steps[i])
        if not 0.0 <= dt <= SHORT_S:
            continue
        mujoco.mj_differentiatePos(engine.model, moved, 1.0, dump.qpos[i], dump.qpos[i + 1])
        if dt < STILL_S:
            at = int(np.argmax(np.abs(moved)))
            limit = SAME_POSE + dt * states.largest[at] * (1.0 + SHARE)
            ledger.equal("same time, same pose", "qpos", int(i) + 1, moved[at], 0.0, limit)
            continue
        mean, allowed = states.between(int(i), dt)
        at = int(np.argmax(np.abs(moved / dt - mean) / allowed))
        ledger.equal("velocities", MOVING, int(i) + 1, moved[at] / dt, mean[at], allowed[at])


class _States:
    """Velocities and accelerations of all samples; zero where they cannot be used."""

    def __init__(self, qvel: Floats, qacc: Floats) -> None:
        self.qvel, self.qacc = qvel, qacc
        self.largest = np.max(np.abs(qvel), axis=0)

    def between(self, i: int, dt: float) -> tuple[Floats, Floats]:
        """Mean velocity from sample i to the next, and how far Δq/Δt may lie from it.

        Over Δt they differ by at most Δt/4 times the largest acceleration in between. That is not
        known: ten times the largest one at the samples around stands for it, and a share of the
        coordinate's largest velocity is allowed on top.
        """
        mean = (self.qvel[i] + self.qvel[i + 1]) / 2.0
        bend = np.max(np.abs(self.qacc[max(i - 1, 0) : i + 3]), axis=0)
        bend = np.maximum(bend, np.abs(self.qvel[i + 1] - self.qvel[i]) / dt)
        return mean, CURVED * bend * dt + SHARE * self.largest + STILL + STEP_ROUNDING / dt
