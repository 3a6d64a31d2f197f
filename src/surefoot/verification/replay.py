"""A dump of a simulated run replayed in plain MuJoCo, step by step, and its verdict judged anew.

The model is compiled from the dump's text, set to the first state, and given what acted: the same
engine must walk through the same states, with the same contact forces, and fall when the verdict
says. What a controller planned cannot be seen in physics: `contact_planned` is only read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.verification.dump import Unusable, text
from surefoot.verification.result import Ledger, Verification
from surefoot.verification.run import Flags, Floats, Run, run_of

Progress = Callable[[int, int, str], None]

STATE = 1e-9  # m, rad and their rates: the same engine repeats a run to the last bit
SHARE = 1e-9  # of the weight, or of the torque limit
FIGURE = 1e-6  # of a figure of the verdict, relative: it went through text
SAID_EVERY = 250  # control steps between two calls of progress
LEFT = "the replay left the dump at step {}: later steps were not compared"


def replay(
    arrays: dict[str, NDArray[np.generic]], *, progress: Progress | None = None
) -> Verification:
    """Whether a run repeats, and its verdict is what its states say.

    Raises:
        Unusable: arrays that are missing, of a wrong type or shape, or a model that they do not
            fit.
    """
    began = time.perf_counter()
    run = run_of(arrays)
    ledger = Ledger(run.numbers["time"])
    compared = 0
    if _is_whole(run, ledger):
        _check_times(run, ledger)
        _check_limits(run, ledger)
        fell = _Fall(run)
        compared = _walk(run, ledger, fell, progress)
        if compared == run.n:
            _check_verdict(run, ledger, fell)
    version = text(arrays["engine"]) if "engine" in arrays else ""
    if version and version != f"mujoco {mujoco.__version__}":
        ledger.say(f"made with {version}, replayed with mujoco {mujoco.__version__}")
    ledger.say("contact_planned is what a controller meant: physics cannot confirm it")
    return Verification(
        checked=compared,
        outside=0,
        inside=0,
        mismatches=tuple(sorted(ledger.mismatches, key=lambda m: m.sample)),
        worst=ledger.worst,
        notes=tuple(ledger.notes),
        seconds=time.perf_counter() - began,
        kind="simulation",
    )


def _is_whole(run: Run, ledger: Ledger) -> bool:
    """Whether all numbers are finite: a run with others cannot be replayed."""
    whole = True
    for name, values in run.numbers.items():
        rows = values.reshape(run.n, -1) if values.shape[:1] == (run.n,) else values.reshape(1, -1)
        for k in np.flatnonzero(~np.isfinite(rows).all(axis=1)):
            ledger.equal("finite numbers", name, int(k), math.nan, 0.0, 0.0)
            whole = False
    return whole


def _check_times(run: Run, ledger: Ledger) -> None:
    """Even steps of the model's own length, from the state that is said to be the first."""
    numbers = run.numbers
    ledger.equal("timestep", "timestep", 0, run.single("timestep"), run.model.opt.timestep, 0.0)
    step = run.steps_per_control * run.model.opt.timestep
    for k in np.arange(run.n):
        expected = numbers["time"][0] + k * step
        ledger.equal("even times", "time", int(k), numbers["time"][k], expected, STATE)
    for name in ("qpos", "qvel"):
        _compare(ledger, "first state", f"{name}0", 0, numbers[f"{name}0"], numbers[name][0], 0.0)


def _check_limits(run: Run, ledger: Ledger) -> None:
    """No joint gets more than its model's limit, whatever way the torque takes."""
    model, torque = run.model, run.numbers["torque"]
    for j in range(model.nu):
        joint = int(model.actuator_trnid[j, 0])
        if int(model.jnt_actfrclimited[joint]):
            limit = float(model.jnt_actfrcrange[joint, 1])
            k = int(np.argmax(np.abs(torque[:, j])))
            found = abs(float(torque[k, j]))
            ledger.at_most("torque limits", "torque", k, found, limit, SHARE * limit)


def _compare(
    ledger: Ledger, check: str, name: str, k: int, found: Floats, expected: Floats, allowed: float
) -> bool:
    """Compare rows by their largest difference."""
    difference = np.abs(found - expected).ravel()
    if not difference.size:
        return True
    i = int(np.argmax(difference))
    pair = float(found.ravel()[i]), float(expected.ravel()[i])
    return ledger.equal(check, name, k, *pair, allowed)


def _walk(run: Run, ledger: Ledger, fell: _Fall, progress: Progress | None) -> int:
    """Step through the run; how many steps agreed with the dump."""
    numbers, model = run.numbers, run.model
    data: Any = mujoco.MjData(model)
    places: Any = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = numbers["qpos0"], numbers["qvel0"]
    dofs = model.jnt_dofadr[model.actuator_trnid[:, 0]]
    contacts = _Contacts(run)
    for k in range(run.n):
        if progress is not None and k % SAID_EVERY == 0:
            progress(k, run.n, "replaying the run")
        same = _compare(ledger, "states", "qpos", k, numbers["qpos"][k], data.qpos, STATE)
        same &= _compare(ledger, "states", "qvel", k, numbers["qvel"][k], data.qvel, STATE)
        if not same:
            ledger.say(LEFT.format(k))
            return k
        places.qpos[:] = data.qpos
        mujoco.mj_kinematics(model, places)
        mujoco.mj_comPos(model, places)
        com = np.array(places.subtree_com[0], dtype=np.float64)
        _compare(ledger, "centre of mass", "com", k, numbers["com"][k], com, STATE)
        fell.look(k, com, contacts.stray_n)
        data.ctrl[:], data.qfrc_applied[:] = numbers["ctrl"][k], numbers["applied"][k]
        mujoco.mj_step(model, data, nstep=run.steps_per_control)
        fell.diverged = not bool(np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all())
        fell.diverged |= bool(np.any(np.array(data.warning.number)[_BAD]))
        if k + 1 == run.n and (fell.diverged or run.end == "no command"):
            break  # nothing was measured in this step
        torque = np.array(data.qfrc_actuator[dofs], dtype=np.float64)
        _compare(ledger, "torques", "torque", k, numbers["torque"][k], torque, STATE)
        contacts.read(data)
        contacts.check(k, ledger)
    return run.n


_BAD = [int(getattr(mujoco.mjtWarning, f"mjWARN_BAD{name}")) for name in ("QPOS", "QVEL", "QACC")]


class _Contacts:
    """Contact forces of the last physics step by the engine's own function, contact by contact."""

    def __init__(self, run: Run) -> None:
        self.run, model = run, run.model
        self.force: Floats = np.zeros((model.nbody, 3))
        self.load: Floats = np.zeros(model.nbody)
        self.pressed: Floats = np.zeros(3)
        self.weld = np.array(model.body_weldid)
        self.links = [int(self.weld[model.body(name).id]) for name in run.links]
        self.strays = [int(self.weld[model.body(name).id]) for name in run.strays]
        self.stray_n = 0.0

    def read(self, data: Any) -> None:
        """Sum up the forces on the links of the robot; the ground is welded to the world."""
        model, one = self.run.model, np.zeros(6)
        self.force[:], self.load[:], self.pressed[:] = 0.0, 0.0, 0.0
        for i in range(data.ncon):
            contact = data.contact[i]
            first, second = (int(self.weld[model.geom_bodyid[int(geom)]]) for geom in contact.geom)
            mujoco.mj_contactForce(model, data, i, one)
            world = np.array(contact.frame).reshape(3, 3).T @ one[:3]
            link, sign = (second, 1.0) if first == 0 else (first, -1.0)
            self.force[link] += sign * world
            self.load[link] += one[0]
            self.pressed += sign * world[2] * np.array([1.0, contact.pos[0], contact.pos[1]])
        self.stray_n = max((float(self.load[link]) for link in self.strays), default=0.0)

    def check(self, k: int, ledger: Ledger) -> None:
        """Compare with what the dump says of this step."""
        run, numbers, flags = self.run, self.run.numbers, self.run.flags
        allowed = SHARE * run.weight
        force, load = self.force[self.links], self.load[self.links]
        _compare(ledger, "contact forces", "contact_force", k, numbers["contact_force"][k], force,
                 allowed)  # fmt: skip
        _compare(ledger, "contact forces", "contact_load", k, numbers["contact_load"][k], load,
                 allowed)  # fmt: skip
        touch = run.single("measured_share") * run.weight
        measured = flags["contact_measured"][k]
        for c in np.flatnonzero(np.abs(load - touch) > allowed):
            pair = float(measured[c]), float(load[c] > touch)
            ledger.equal("touching links", "contact_measured", k, *pair, 0.0)
        vertical = float(self.pressed[0])
        if abs(vertical - touch) > allowed:
            found = float(flags["cop_valid"][k])
            ledger.equal("pressure", "cop_valid", k, found, float(vertical > touch), 0.0)
        cop = self.pressed[1:] / vertical if vertical > 0.0 else np.zeros(2)
        _compare(ledger, "pressure", "cop", k, numbers["cop"][k], cop, STATE)


class _Fall:
    """Sees a fall in the states as they are replayed."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.step: int | None = None
        self.diverged = False

    def look(self, k: int, com: Floats, stray_n: float) -> None:
        """Keep the first step at which the robot has fallen.

        Args:
            stray_n: largest load, in the step before, on a link that must not touch.
        """
        numbers, run = self.run.numbers, self.run
        if self.step is not None:
            return
        height = com[2] - numbers["support_height"][k]
        wanted = numbers["reference_com"][k, 2] - numbers["support_height"][k]
        low = height < run.single("fallen_share") * wanted
        if low or stray_n > run.single("stray_share") * run.weight:
            self.step = k


def _check_verdict(run: Run, ledger: Ledger, fell: _Fall) -> None:
    """Whether the robot stood or fell when the verdict says, and some of its figures."""
    last, verdict, dt = run.n - 1, run.verdict, run.steps_per_control * run.model.opt.timestep
    numbers = run.numbers
    when: float | None = None
    if fell.step is not None:
        when = float(numbers["time"][fell.step])
    elif run.end == "no command":
        when = float(numbers["time"][last])
    elif fell.diverged:
        when = float(numbers["time"][last]) + dt
    claimed = verdict.get("fell_at_s")
    stood = 1.0 if verdict.get("stood") is True else 0.0
    ledger.equal("verdict", "verdict_json stood", last, stood, float(when is None), 0.0)
    if when is not None or claimed is not None:
        found = _number(claimed)
        ledger.equal("verdict", "verdict_json fell_at_s", fell.step or last, found,
                     math.nan if when is None else when, STATE)  # fmt: skip
    ends = {"fell": fell.step is not None, "diverged": fell.diverged, "completed": when is None}
    if run.end in ends and not ends[run.end]:
        ledger.equal("verdict", f"end '{run.end}'", last, 1.0, 0.0, 0.0)
    elif run.end not in (*ends, "no command"):
        raise Unusable(f"expected end completed, fell, diverged or no command, got '{run.end}'")
    _check_figures(run, ledger, when)


def _check_figures(run: Run, ledger: Ledger, fell_at: float | None) -> None:
    """Tracking errors and contact agreement from the arrays."""
    numbers, verdict, model = run.numbers, run.verdict, run.model
    half = 0.5 * run.steps_per_control * model.opt.timestep
    time_s = numbers["time"]
    inside = (time_s > run.single("start") - half) & (
        time_s < run.single("start") + run.single("duration") + half
    )
    if fell_at is not None:
        inside &= time_s <= fell_at
    if not inside.any():
        inside[-1] = True
    adr = model.jnt_qposadr[model.actuator_trnid[:, 0]]
    joints = (numbers["qpos"] - numbers["reference_qpos"])[inside][:, adr]
    com = np.linalg.norm((numbers["com"] - numbers["reference_com"])[inside], axis=1)
    agree = run.flags["contact_measured"] == run.flags["contact_scheduled"]
    expected = {
        "joint_error_rms_rad": float(np.sqrt(np.mean(joints**2))) if joints.size else 0.0,
        "com_error_max_m": float(com.max()),
        "root_error_max_m": _root_error(run, inside),
    }
    if agree.size:
        expected["contact_agreement"] = float(agree[inside].mean())
    for name, value in expected.items():
        found = _number(verdict.get(name))
        allowed = FIGURE * max(abs(value), 1e-3)
        ledger.equal("figures", f"verdict_json {name}", run.n - 1, found, value, allowed)


def _root_error(run: Run, inside: Flags) -> float:
    """Largest distance of the root from the reference's."""
    if int(run.model.jnt_type[0]) == int(mujoco.mjtJoint.mjJNT_FREE):
        away = (run.numbers["qpos"] - run.numbers["reference_qpos"])[inside, :3]
    else:
        away = np.stack([_root(run, name)[inside] for name in ("qpos", "reference_qpos")])
        away = away[0] - away[1]
    return float(np.linalg.norm(away, axis=1).max())


def _root(run: Run, name: str) -> Floats:
    """Places of the root link at all steps; each needs the engine, so they are a loop."""
    data: Any = mujoco.MjData(run.model)
    out = np.zeros((run.n, 3))
    for k, qpos in enumerate(run.numbers[name]):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(run.model, data)
        out[k] = data.xpos[1]
    return out


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
