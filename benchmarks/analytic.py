"""The analytic controller: what its forms, switches and weights are worth, and what it costs.

    python benchmarks/analytic.py [--part speed forms printed pushes] [--robots human25 g1]

Parts: `speed` is one control step in double support; `forms` compares the forms of the balance
controller; `printed` turns on what the paper prints, one by one; `pushes` bisects the impulse that
is withstood in four directions. `g1` is the shared one (SUREFOOT_SHARED, default ../shared).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import time
from dataclasses import replace

import numpy as np

import surefoot as sf
from surefoot.control.analytic import Options, make
from surefoot.control.reference import Reference, reference_of
from surefoot.control.target import State
from surefoot.dynamics.batch import Batch
from surefoot.journeys import retargeted
from surefoot.kinematics.solver import solve
from surefoot.kinematics.targets import OrientationTarget, PointTarget
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.samples import bundled
from surefoot.simulation.disturbances import Push
from surefoot.simulation.loop import run
from surefoot.simulation.scene import scene_of
from surefoot.simulation.trace import Trace

ROOT = pathlib.Path(__file__).resolve().parent.parent
G1 = "data/robots/g1/g1_bm_no_mesh_box_feet.xml"
RATE_HZ = 100.0  # of the clips that are made here
PUSH_S = 0.1
DIRECTIONS = {"forward": (1.0, 0.0), "back": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
BACK_M = 0.02  # who withstood a push is back within this


def robot_of(name: str) -> Robot:
    if name == "g1":
        shared = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared")))
        return sf.load_robot(shared / G1)
    return sf.load_robot(name)


def on_its_soles(robot: Robot, qpos: np.ndarray, t: np.ndarray) -> Clip:
    """A clip of these poses that stands on all soles all the time."""
    stances = tuple(Stance(s.link, t[0], t[-1], "face", s.polygon_l) for s in robot.soles)
    return Clip(robot.motion(qpos, t), ContactSchedule(stances), robot=robot.name)


def standing(robot: Robot, seconds: float = 5.0) -> Clip:
    t = np.arange(round(seconds * RATE_HZ) + 1) / RATE_HZ
    return on_its_soles(robot, np.repeat(np.array(robot.home)[None], len(t), axis=0), t)


def moved(robot: Robot, shift_w: np.ndarray, t: np.ndarray) -> Clip:
    """The home pose with its root shifted, soles kept, by inverse kinematics."""
    n = len(t)
    rest = Batch(robot, np.array(robot.home)[None], np.zeros((1, robot.nv)))
    targets: list[PointTarget | OrientationTarget] = []
    for sole in robot.soles:
        for point in sole.polygon_l[[0, 1, 2]]:
            place = rest.points_w(sole.link, point[None])[0, 0]
            targets.append(PointTarget(sole.link, point, np.tile(place, (n, 1)), 100.0))
    root = robot.link_id(robot.root_link)
    turn = np.tile(rest.link_quat_w[0, root], (n, 1))
    targets.append(OrientationTarget(robot.root_link, turn, 10.0))
    place = rest.link_pos_w[0, root] + shift_w
    targets.append(PointTarget(robot.root_link, np.zeros(3), place, 10.0))
    found = solve(robot, targets, time=t, start_qpos=robot.home)
    return on_its_soles(robot, np.array(found.qpos), t)


def fading(t: np.ndarray, seconds: float = 1.0) -> np.ndarray:
    """0 at both ends, 1 between, with a smooth rise."""
    share = np.clip(np.minimum(t, t[-1] - t) / seconds, 0.0, 1.0)
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)


def sway(robot: Robot) -> Clip:
    """5 cm to both sides at 0.5 Hz, 6 s; in proportion to the root's height on small robots."""
    t = np.arange(round(6.0 * RATE_HZ) + 1) / RATE_HZ
    reach = 0.05 * float(robot.home[2]) / 0.9
    side = reach * fading(t) * np.sin(2.0 * np.pi * 0.5 * t)
    return moved(robot, side[:, None] * [0.0, 1.0, 0.0], t)


def squat(robot: Robot) -> Clip:
    """12 cm down and up again in 2 s, twice."""
    t = np.arange(round(4.0 * RATE_HZ) + 1) / RATE_HZ
    down = 0.12 * float(robot.home[2]) / 0.9 * 0.5 * (1.0 - np.cos(np.pi * t)) * fading(t, 0.5)
    return moved(robot, down[:, None] * [0.0, 0.0, -1.0], t)


def sidestep(robot: Robot) -> Clip:
    """The bundled person's, retargeted and warped."""
    human = bundled.load("sidestep")
    clip, _ = retargeted(human, robot, terrain=bundled.terrain("sidestep"))
    return sf.adapt(clip, robot, method="warp").clip


MOTIONS = {"standing": standing, "sway": sway, "squat": squat, "sidestep": sidestep}


def followed(
    clip: Clip,
    robot: Robot,
    reference: Reference,
    options: Options,
    pushes: tuple[Push, ...] = (),
    hold_s: float = 1.0,
) -> Trace:
    controller = make(robot, reference.patches, dt=reference.dt, options=options)
    scene = scene_of(robot, clip.terrain, drive="torque")
    return run(scene, reference, controller, pushes=pushes, hold_s=hold_s)


def outcome(trace: Trace) -> str:
    """Fell when, or the worst distance of the centre of mass, and that at the end, mm."""
    if trace.fell_at is not None:
        return f"fell {trace.fell_at:5.2f} s"
    off = 1e3 * np.linalg.norm(trace.com_w - trace.target_com_w, axis=1)
    return f"{off.max():.1f} / {off[-1]:.1f}"


def table(robots: list[str], rows: dict[str, Options]) -> None:
    for name in robots:
        robot = robot_of(name)
        made = {title: motion(robot) for title, motion in MOTIONS.items()}
        references = {title: reference_of(clip, robot) for title, clip in made.items()}
        print(f"\n{name}: centre of mass off its reference, worst / at the end, mm")
        print(f"| {'':22s} | " + " | ".join(f"{title:14s}" for title in made) + " |")
        print("| --- |" + " --- |" * len(made))
        for title, options in rows.items():
            cells = [
                outcome(followed(clip, robot, references[motion], options))
                for motion, clip in made.items()
            ]
            print(f"| {title:22s} | " + " | ".join(f"{c:14s}" for c in cells) + " |", flush=True)


def forms() -> dict[str, Options]:
    return {form: Options(balance=form) for form in ("literal", "feedforward", "capture")}


def printed() -> dict[str, Options]:
    own = Options()
    return {
        "as it is": own,
        "printed signs": replace(own, printed_signs=True),
        "foot centres": replace(own, foot_centres=True),
        "zero reference forces": replace(own, zero_forces=True),
        "all three": replace(own, printed_signs=True, foot_centres=True, zero_forces=True),
        "without (5)": replace(own, meet_feet=False),
    }


def edges(robot: Robot, com_w: np.ndarray) -> dict[str, float]:
    """Distance from under the centre of mass to the edge of the soles, m."""
    rest = Batch(robot, np.array(robot.home)[None], np.zeros((1, robot.nv)))
    points = np.concatenate([rest.points_w(s.link, s.polygon_l)[0] for s in robot.soles])
    return {k: float(np.max((points[:, :2] - com_w[:2]) @ d)) for k, d in DIRECTIONS.items()}


def withstood(robot: Robot, options: Options) -> dict[str, float]:
    """Largest impulse over m ω (distance to the edge), to 0.05, in four directions."""
    clip = standing(robot, 4.0)
    reference = reference_of(clip, robot)
    com = reference.com_w[0]
    bound = robot.mass * np.sqrt(9.81 / com[2])
    found = {}
    for name, reach in edges(robot, com).items():
        low, high = 0.0, 2.0
        while high - low > 0.05:
            ratio = 0.5 * (low + high)
            force = np.array([*DIRECTIONS[name], 0.0]) * ratio * bound * reach / PUSH_S
            push = Push(0.5, force, PUSH_S)
            trace = followed(clip, robot, reference, options, (push,), hold_s=0.0)
            off = np.linalg.norm(trace.com_w[-1] - trace.target_com_w[-1])
            if trace.fell_at is None and off < BACK_M:
                low = ratio
            else:
                high = ratio
        found[name] = low
    return found


def pushes(robots: list[str]) -> None:
    own = Options()
    rows = {**forms()}
    for margin in (0.01, 0.02):
        rows[f"capture, margin {100 * margin:.0f} cm"] = replace(
            own, balance="capture", margin_m=margin
        )
    for name in robots:
        robot = robot_of(name)
        print(f"\n{name}: impulse withstood over m ω (distance to the sole's edge)")
        print(f"| {'':22s} | " + " | ".join(f"{d:8s}" for d in DIRECTIONS) + " |")
        print("| --- |" + " --- |" * len(DIRECTIONS))
        for title, options in rows.items():
            cells = withstood(robot, options)
            print(
                f"| {title:22s} | " + " | ".join(f"{c:8.2f}" for c in cells.values()) + " |",
                flush=True,
            )


def speed(robots: list[str], steps: int = 3000) -> None:
    print("one control step in double support, µs: median, 10 %, 99 %")
    for name in robots:
        robot = robot_of(name)
        reference = reference_of(standing(robot), robot)
        controller = make(robot, reference.patches, dt=reference.dt)
        c = len(reference.patches.link_names)
        load = np.tile([0.0, 0.0, robot.mass * 9.81 / c], (c, 1))
        cop = np.array(reference.link_pos_w[0, reference.patches.link_body])
        state = State(0.0, reference.qpos[0], np.zeros(robot.nv), load, cop)
        target = reference.at(0)
        controller.command(state, target)
        taken = []
        for _ in range(steps):
            start = time.perf_counter()
            controller.command(state, target)
            taken.append(1e6 * (time.perf_counter() - start))
        low, high = np.percentile(taken, [10, 99])
        print(f"{name:10s} {statistics.median(taken):7.0f} {low:7.0f} {high:7.0f}")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ["speed", "forms", "printed", "pushes"]
    parser.add_argument("--part", nargs="+", choices=parts, default=parts)
    parser.add_argument("--robots", nargs="+", default=["human25", "g1"])
    options = parser.parse_args()
    if "speed" in options.part:
        speed(options.robots)
    if "forms" in options.part:
        table(options.robots, forms())
    if "printed" in options.part:
        table(options.robots, printed())
    if "pushes" in options.part:
        pushes(options.robots)


if __name__ == "__main__":
    main()
