"""The closed loop: a controller follows targets in the simulated world, and all is written down.

`run(scene, source, controller)` takes any controller and any source of targets
(`control.target`) and gives a `Trace`:

    scene = scene_of(robot, clip.terrain, drive=controller.drive,
                     servo_gains=controller.servo_gains)
    trace = run(scene, reference_of(clip, robot), controller)
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray
from surefoot.control.target import Command, Controller, Patches, State, Target, TargetSource
from surefoot.errors import BadOption
from surefoot.motion.contact import Terrain
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import Disturbances, Noise, Push, Pusher, Sensors
from surefoot.simulation.forces import ContactForces
from surefoot.simulation.motors import Motors
from surefoot.simulation.scene import Scene, scene_of
from surefoot.simulation.shapes import fixed_to
from surefoot.simulation.start import Start, start_of
from surefoot.simulation.thresholds import Thresholds
from surefoot.simulation.trace import End, Tape, Trace

Progress = Callable[[int, int, str], None]
SAID_EVERY = 250  # control steps between two calls of progress
SAME_PERIOD = 1e-9  # relative difference of two control periods that are the same

BAD = [int(getattr(mujoco.mjtWarning, f"mjWARN_BAD{name}")) for name in ("QPOS", "QVEL", "QACC")]

# A failed solver, a singular matrix, an overflow: no command. Anything else is a defect.
NO_COMMAND = (ArithmeticError, np.linalg.LinAlgError)


def run(
    scene: Scene,
    source: TargetSource,
    controller: Controller,
    *,
    pushes: tuple[Push, ...] = (),
    delay_s: float = 0.0,
    noise: Noise | None = None,
    rng: np.random.Generator | None = None,
    settle_s: float = 0.2,
    hold_s: float = 1.0,
    after_fall_s: float = 0.3,
    thresholds: Thresholds | None = None,
    progress: Progress | None = None,
) -> Trace:
    """What happens when a controller follows targets in a scene.

    The robot settles on the first frame, follows the clip, holds its last frame. The run ends
    there, or shortly after a fall, or at once when no command comes or the state diverges.

    Args:
        delay_s: from measurement to torque; whole control steps.
        rng: where the noise comes from; by default seed 0.
        after_fall_s: so long a fall goes on.

    Raises:
        BadOption: a control period, drive or delay that do not fit each other; negative times.
        UnknownName: a push on a link that the robot has not.
    """
    dt = scene.settings.dt
    if abs(source.dt - dt) > SAME_PERIOD * dt:
        raise BadOption(
            what=f"targets come every {source.dt:g} s, commands every {dt:g} s",
            todo=f"make the reference at {scene.settings.control_hz:g} Hz",
        )
    if controller.drive != scene.drive:
        what = f"the scene has {scene.drive} drives, the controller needs {controller.drive} drives"
        raise BadOption(what=what)
    for name, value in (("hold_s", hold_s), ("after_fall_s", after_fall_s)):
        if not 0.0 <= value < math.inf:
            raise BadOption(what=f"{name} must be 0 or more, got {value:g}")
    delay = Disturbances(delay_s=delay_s).delay_steps(dt)
    start = start_of(scene, source, settle_s=settle_s)
    loop = _Loop(scene, source, controller, start, thresholds or Thresholds())
    loop.motors = Motors(scene, controller.servo_gains, delay_steps=delay)
    loop.pusher = Pusher(pushes, scene.robot, scene.model, dt)
    loop.sensors = Sensors(noise or Noise(), scene.robot, rng or np.random.default_rng(0))
    steps = start.settle_steps + source.steps + round(hold_s / dt)
    return loop.run(steps, round(after_fall_s / dt), progress or _silent)


def _silent(done: int, total: int, text: str) -> None:
    """Says nothing."""


class _Loop:
    """One run: the engine's data, a second copy for places, and the tape."""

    def __init__(
        self,
        scene: Scene,
        source: TargetSource,
        controller: Controller,
        start: Start,
        thresholds: Thresholds,
    ) -> None:
        self.scene, self.source, self.controller, self.begin = scene, source, controller, start
        self.thresholds, self.model, self.dt = thresholds, scene.model, scene.settings.dt
        self.start_s = float(source.at(0, None).time)
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:], self.data.qvel[:] = start.qpos, start.qvel
        # Places are taken from a second copy: nothing but ctrl and qfrc_applied is written between
        # two steps of the first, so whoever replays the run does the same to the last bit.
        self.places = mujoco.MjData(self.model)
        self.root = scene.robot.link_id(scene.robot.root_link)
        self.dofs = scene.robot.joint_dofadr
        self.patches = source.patches
        self.links = np.array(self.patches.link_body)
        self.carriers = np.array([fixed_to(self.model, int(b)) for b in self.links], dtype=np.int64)
        self.forces = ContactForces(scene, self.carriers)
        self.strays = stray_links(scene, self.patches)
        weight = float(self.model.body_subtreemass[0] * np.linalg.norm(self.model.opt.gravity))
        self.touch_n = thresholds.measured_over_weight * weight
        self.stray_n = thresholds.stray_over_weight * weight
        self._held = b""
        # Of a robot that begins in flight.
        under = scene.planned_terrain.height(start.qpos[None, :2])
        self._support_z = float(under[0]) if np.isfinite(under[0]) else 0.0
        self.motors: Motors
        self.pusher: Pusher
        self.sensors: Sensors
        self.tape: Tape

    def run(self, steps: int, after_fall: int, progress: Progress) -> Trace:
        """All control steps; each needs the one before it, so they are a loop."""
        started = clock.perf_counter()
        self.tape = Tape(self.scene, self.patches, steps)
        self.controller.reset()
        self._feel_the_ground()
        end: End = "completed"
        fell_at, failure, k = None, "", -1
        while k + 1 < steps:
            k += 1
            if k % SAID_EVERY == 0:
                progress(k, steps, "simulating")
            failure = self._control(k)
            if failure:
                fell_at, end = (self._time(k), "no command") if fell_at is None else (fell_at, end)
                break
            if fell_at is None and self._has_fallen(k):
                fell_at, end, steps = self._time(k), "fell", min(steps, k + 1 + after_fall)
            began = clock.perf_counter()
            mujoco.mj_step(self.model, self.data, nstep=self.scene.settings.steps_per_control)
            self.tape.rows["physics_s"][k] = clock.perf_counter() - began
            if self._has_diverged():
                failure = "the state diverged"
                after = self._time(k) + self.dt
                fell_at, end = (after, "diverged") if fell_at is None else (fell_at, end)
                break
            self.forces.read(self.data)
            self._note_forces(k)
        progress(steps, steps, "simulating")
        return self.tape.trace(
            k + 1,
            dt=self.dt,
            start=self.start_s,
            duration=(self.source.steps - 1) * self.dt,
            end=end,
            failure=failure,
            fell_at=fell_at,
            notices=self.begin.notices,
            seconds=clock.perf_counter() - started,
        )

    def _time(self, k: int) -> float:
        return self.start_s + (k - self.begin.settle_steps) * self.dt

    def _feel_the_ground(self) -> None:
        """The contact forces of the first state, which the first command may ask for."""
        copy = mujoco.MjData(self.model)
        copy.qpos[:], copy.qvel[:] = self.begin.qpos, self.begin.qvel
        mujoco.mj_forward(self.model, copy)
        self.forces.read(copy)

    def _control(self, k: int) -> str:
        """Measure, ask for target and command, and let it act; why not, where none came."""
        tape, data, time = self.tape, self.data, self._time(k)
        qpos, qvel = data.qpos.copy(), data.qvel.copy()
        self.places.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.places)
        mujoco.mj_comPos(self.model, self.places)
        self._note_state(k, time, qpos, qvel)
        force_w, cop_w = self.forces.carried_w.copy(), self.forces.cop_w.copy()
        if not self.sensors.is_silent:
            qpos, qvel = qpos.copy(), qvel.copy()
            self.sensors.measure(qpos, qvel, force_w)
        state = State(time=time, qpos=qpos, qvel=qvel, force_w=force_w, cop_w=cop_w)
        began = clock.perf_counter()
        target = self.source.at(k - self.begin.settle_steps, state)
        self._note_target(k, target)
        try:
            command = self.controller.command(state, target)
        except NO_COMMAND as error:
            return f"the controller failed: {' '.join(str(error).split()) or type(error).__name__}"
        tape.rows["control_s"][k] = clock.perf_counter() - began
        if not (_is_finite(command.value) and _is_finite(command.torque)):
            return "the controller's command is not finite"
        ctrl = self.motors.act(command, data.qpos, data.qvel)
        data.ctrl[:] = ctrl
        self.pusher.add(time, self.places, data.qfrc_applied)
        self._note_command(k, command, ctrl)
        return ""

    def _has_diverged(self) -> bool:
        """Whether numbers are no numbers any more, or the engine says that they are too large."""
        data = self.data
        qpos, qvel = data.qpos, data.qvel
        if not math.isfinite(qpos.dot(qpos) + qvel.dot(qvel)):
            return True
        counts = data.warning.number
        return bool(counts[BAD[0]] or counts[BAD[1]] or counts[BAD[2]])

    def _has_fallen(self, k: int) -> bool:
        """Whether the centre of mass is too low, or something lies on the ground that must not."""
        rows, limits = self.tape.rows, self.thresholds
        height = rows["com_w"][k, 2] - rows["support_z"][k]
        wanted = rows["target_com_w"][k, 2] - rows["support_z"][k]
        if height < limits.fallen_height * wanted:
            return True
        return k > 0 and bool(rows["stray_n"][k - 1] > self.stray_n)

    def _note_state(
        self, k: int, time: float, qpos: Float64[Array, " nq"], qvel: Float64[Array, " nv"]
    ) -> None:
        rows, places = self.tape.rows, self.places
        rows["time"][k] = time
        rows["qpos"][k] = qpos
        rows["qvel"][k] = qvel
        rows["com_w"][k] = places.subtree_com[0]
        rows["root_pos_w"][k] = places.xpos[self.root]
        rows["root_quat_w"][k] = places.xquat[self.root]
        rows["link_pos_w"][k] = places.xpos[self.links]
        rows["link_quat_w"][k] = places.xquat[self.links]

    def _note_target(self, k: int, target: Target) -> None:
        rows, flags = self.tape.rows, self.tape.flags
        rows["target_qpos"][k] = target.qpos
        rows["target_com_w"][k] = target.com_w
        rows["target_zmp_w"][k] = target.zmp_w
        rows["target_root_pos_w"][k] = target.link_pos_w[self.root]
        rows["target_root_quat_w"][k] = target.link_quat_w[self.root]
        rows["target_link_pos_w"][k] = target.link_pos_w[self.links]
        rows["target_link_quat_w"][k] = target.link_quat_w[self.links]
        flags["target_zmp_defined"][k] = target.zmp_defined
        flags["holds"][k] = target.holds
        if target.holds.tobytes() != self._held:  # means cost more than everything else here
            self._held = target.holds.tobytes()
            self._support_z = support_z(self.patches, target.holds, self._support_z)
        rows["support_z"][k] = self._support_z

    def _note_command(self, k: int, command: Command, ctrl: Float64[Array, " m"]) -> None:
        rows, flags = self.tape.rows, self.tape.flags
        rows["ctrl"][k] = ctrl
        rows["applied"][k] = self.data.qfrc_applied
        flags["saturated"][k] = self.motors.saturated
        flags["planned"][k] = command.planned
        flags["softened"][k] = command.softened
        if command.cop_w is not None and np.isfinite(command.cop_w).all():
            rows["planned_cop_w"][k] = command.cop_w
            flags["planned_cop_valid"][k] = True

    def _note_forces(self, k: int) -> None:
        """What the last physics step of this control step did."""
        rows, flags, forces = self.tape.rows, self.tape.flags, self.forces
        load = forces.carried_n
        rows["torque"][k] = self.data.qfrc_actuator[self.dofs]
        rows["contact_force_w"][k] = forces.carried_w
        rows["contact_load_n"][k] = load
        rows["contact_cop_w"][k] = forces.cop_w
        rows["cop_w"][k] = forces.total_cop_w
        flags["cop_valid"][k] = forces.vertical_n > self.touch_n
        flags["measured"][k] = load > self.touch_n
        if len(self.strays):
            loads = forces.load_n[self.strays]
            worst = int(loads.argmax())
            rows["stray_n"][k] = loads[worst]
            self.tape.stray_link[k] = self.strays[worst] if loads[worst] > 0.0 else 0


def _is_finite(torque: Float64[Array, " m"] | None) -> bool:
    """Whether all of it is; numbers whose squares overflow are as good as infinite."""
    return torque is None or math.isfinite(torque.dot(torque))


def support_z(patches: Patches, holds: Bool[BoolArray, " p"], before: float) -> float:
    """Mean height of the surfaces that carry now; what it was before while nothing does."""
    return float(patches.point_w[holds, 2].mean()) if holds.any() else before


def stray_links(scene: Scene, patches: Patches) -> Int64[IntArray, " s"]:
    """Links that must not touch the ground: neither contact links and soles, nor parts of them."""
    model, robot = scene.model, scene.robot
    roots = {int(b) for b in patches.link_body} | {robot.link_id(s.link) for s in robot.soles}
    allowed = {fixed_to(model, b) for b in roots}
    for body in range(1, model.nbody):  # parents come before their children
        if int(model.body_parentid[body]) in allowed:
            allowed.add(body)
    touching = {int(link) for link in scene.geom_link if link > 0}
    return np.array(sorted(touching - allowed), dtype=np.int64)


def warm_up(robot: Robot) -> None:
    """Compile every kernel of the simulation, or load it from the cache."""
    m = len(robot.joint_names)
    rest, gains = Command(np.zeros(m), np.zeros(0, dtype=np.bool_)), (np.ones(m), np.ones(m))
    scene = scene_of(robot, Terrain())
    data = mujoco.MjData(scene.model)
    mujoco.mj_forward(scene.model, data)
    ContactForces(scene).read(data)
    for each in (None, gains):
        Motors(scene, each).act(rest, data.qpos, data.qvel)
