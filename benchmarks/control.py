"""Controllers: the time of one control step, standing, pushes, and how fast a simulation runs.

    python benchmarks/control.py [--controllers strict] [--parts speed,standing,pushes]
                                 [--robots human25,g1,t1] [--steps 2000]
                                 [--option com_weight=1000]

Everything in double support, on one thread. The time of a step is that of `command`: kinematics,
dynamics, assembly and solution, on states of a simulated run in which a push is answered. Times
are given twice: by the clock on the wall, and of the processor, which other jobs do not lengthen.
Beside them stand daqp's share and that of MuJoCo's two physics steps of a control step.

A push lasts 0.1 s and acts on the root's centre of mass after 0.5 s of standing. It is held when
the robot stands 4 s later with its centre of mass within 2 cm of where it was and no sole has moved
by more than 5 cm (no step). The impulse is given over m ω times the distance from the centre of
pressure to the edge of the support that way, ω = √(g / height of the centre of mass).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from surefoot.control.controllers import CONTROLLERS, make
from surefoot.control.reference import Reference, reference_of
from surefoot.control.target import Controller, State
from surefoot.motion.contact import ContactSchedule, Stance, Terrain
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot
from surefoot.simulation.disturbances import Push
from surefoot.simulation.loop import run
from surefoot.simulation.scene import scene_of
from surefoot.simulation.trace import Trace

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared"))) / "data"
ROBOTS = {
    "human25": "human25",
    "g1": SHARED / "robots" / "g1" / "g1_bm_no_mesh_box_feet.xml",
    "t1": SHARED / "robots" / "t1" / "t1.xml",
}
DIRECTIONS = {"forward": (1, 0), "back": (-1, 0), "left": (0, 1), "right": (0, -1)}
G_MPS2 = 9.81
PUSH_AT_S, PUSH_S, AFTER_S = 0.5, 0.1, 4.0
HELD_COM_M, HELD_SOLE_M = 0.02, 0.05  # a foot without load slides a little; a step is more
STEP = 0.05  # of the bound: to this the largest held push is found


def standing(robot: Robot, seconds: float) -> Clip:
    """The home pose on all soles."""
    moments = np.array([0.0, seconds])
    motion = robot.motion(np.repeat(np.array(robot.home)[None], 2, axis=0), moments)
    stances = [Stance(sole.link, 0.0, seconds, "face", sole.polygon_l) for sole in robot.soles]
    return Clip(motion, ContactSchedule(tuple(stances)), robot=robot.name)


def made(name: str, robot: Robot, reference: Reference, changes: dict[str, float]) -> Controller:
    """A controller of the table."""
    module = import_module(CONTROLLERS[name][0].partition(":")[0])
    options: Any = module.Options(**changes) if changes else None
    return make(name, robot, reference.patches, dt=reference.dt, options=options)


def simulated(
    robot: Robot, name: str, seconds: float, changes: dict[str, float], push: Push | None = None
) -> Trace:
    """A robot that stands, and may be pushed."""
    reference = reference_of(standing(robot, seconds), robot)
    controller = made(name, robot, reference, changes)
    gains = controller.servo_gains
    scene = scene_of(robot, Terrain(), drive=controller.drive, servo_gains=gains, friction=0.7)
    return run(scene, reference, controller, pushes=() if push is None else (push,), hold_s=0.0)


def step_times(
    robot: Robot, name: str, steps: int, changes: dict[str, float]
) -> tuple[list[float], list[float], list[float]]:
    """Seconds of each command by the wall and by the processor, and daqp's part of the former."""
    impulse = 0.5 * bound(robot, (1, 0))[0]
    push = Push(PUSH_AT_S, np.array([impulse / PUSH_S, 0.0, 0.0]), PUSH_S)
    trace = simulated(robot, name, 2.0, changes, push)
    reference = reference_of(standing(robot, 2.0), robot)
    controller = made(name, robot, reference, changes)
    solver = import_module("daqp")
    plain, spent = solver.solve, [0.0]

    def timed(*args: object, **options: object) -> object:
        begin = time.perf_counter()
        answer = plain(*args, **options)
        spent[0] += time.perf_counter() - begin
        return answer

    solver.solve = timed
    wall, processor, solving = [], [], []
    try:
        for i in range(steps + 100):
            k = i % len(trace.time)
            force_w, cop_w = trace.contact_force_w[k], trace.contact_cop_w[k]
            state = State(trace.time[k], trace.qpos[k], trace.qvel[k], force_w, cop_w)
            target, spent[0] = reference.at(k), 0.0
            begin, work = time.perf_counter(), time.thread_time()
            controller.command(state, target)
            processor.append(time.thread_time() - work)
            wall.append(time.perf_counter() - begin)
            solving.append(spent[0])
    finally:
        solver.solve = plain
    return wall[100:], processor[100:], solving[100:]


def bound(robot: Robot, direction: tuple[int, int]) -> tuple[float, float]:
    """M ω times the distance from the pressure to the support's edge (N s), and that distance."""
    reference = reference_of(standing(robot, 1.0), robot)
    target = reference.at(0)
    points = []
    for p, body in enumerate(reference.patches.patch_body):
        R = np.array(rotation_of(target.link_quat_w[body]))
        points.append(target.link_pos_w[body] + reference.patches.vertices_of(p) @ R.T)
    com, corners = target.com_w, np.concatenate(points)[:, :2]
    along = np.array(direction, dtype=np.float64)
    reach = edge_distance(corners, com[:2], along)
    omega = np.sqrt(G_MPS2 / com[2])
    return float(robot.mass * omega * reach), reach


def rotation_of(quat: np.ndarray) -> np.ndarray:
    """The matrix of a quaternion."""
    w, v = quat[0], quat[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def edge_distance(corners: np.ndarray, start: np.ndarray, along: np.ndarray) -> float:
    """How far it is from a point to the edge of the hull of some corners."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(corners)
    speed = hull.equations[:, :2] @ along
    gap = -(hull.equations[:, :2] @ start + hull.equations[:, 2])
    return float(np.min(gap[speed > 1e-9] / speed[speed > 1e-9]))


def is_held(trace: Trace) -> bool:
    """Whether the robot stands where it stood, on soles that have not moved."""
    if trace.fell_at is not None:
        return False
    away = np.linalg.norm(trace.com_w[-1] - trace.target_com_w[-1])
    moved = np.linalg.norm(trace.link_pos_w[-1] - trace.link_pos_w[0], axis=1).max()
    return bool(away < HELD_COM_M and moved < HELD_SOLE_M)


def largest_push(
    robot: Robot, name: str, direction: tuple[int, int], changes: dict[str, float]
) -> tuple[float, float]:
    """The largest impulse held, over its bound and in N s, to a twentieth of the bound."""
    unit, _ = bound(robot, direction)

    def holds(steps: int) -> bool:
        force = steps * STEP * unit / PUSH_S * np.array([*direction, 0.0])
        push = Push(PUSH_AT_S, force, PUSH_S)
        return is_held(simulated(robot, name, PUSH_AT_S + PUSH_S + AFTER_S, changes, push))

    low, high = 0, 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low * STEP, low * STEP * unit


def show_speed(robots: list[str], names: list[str], steps: int, changes: dict[str, float]) -> None:
    """One control step: median and 99th percentile."""
    print(f"one control step, microseconds, {steps} steps; load {os.getloadavg()[0]:.1f}\n")
    print(
        "| robot | controller | median | p99 | processor: median | p99 | daqp | two physics steps |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for robot_name in robots:
        robot = load_robot(ROBOTS[robot_name])
        for name in names:
            wall, processor, solving = step_times(robot, name, steps, changes)
            engine = statistics.median(simulated(robot, name, 1.0, changes).physics_s)
            figures = [statistics.median(wall), np.percentile(wall, 99)]
            figures += [statistics.median(processor), np.percentile(processor, 99)]
            figures += [statistics.median(solving), engine]
            print(
                f"| {robot_name} | {name} | " + " | ".join(f"{1e6 * x:.0f}" for x in figures), "|"
            )
    print()


def show_standing(
    robots: list[str], names: list[str], _steps: int, changes: dict[str, float]
) -> None:
    """30 s in the home pose."""
    print("30 s of standing\n")
    head = ("robot", "controller", "stood", "CoM drifted, mm", "worst, mm", "softened")
    head += ("x real time", "of the processor")
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for robot_name in robots:
        robot = load_robot(ROBOTS[robot_name])
        for name in names:
            simulated(robot, name, 0.1, changes)
            begin, work = time.perf_counter(), time.process_time()
            trace = simulated(robot, name, 30.0, changes)
            seconds = len(trace.time) * trace.dt
            wall, processor = time.perf_counter() - begin, time.process_time() - work
            away = 1e3 * np.linalg.norm(trace.com_w - trace.target_com_w, axis=1)
            drift = 1e3 * np.linalg.norm(trace.com_w[-1] - trace.com_w[len(away) // 10])
            stood = "yes" if trace.fell_at is None else f"fell at {trace.fell_at:.1f} s"
            print(
                f"| {robot_name} | {name} | {stood} | {drift:.3f} | {away.max():.2f} |"
                f" {int(trace.softened.sum())} | {seconds / wall:.1f} | {seconds / processor:.1f} |"
            )
    print()


def show_pushes(
    robots: list[str], names: list[str], _steps: int, changes: dict[str, float]
) -> None:
    """The largest push held in four directions."""
    print("largest impulse held, over m ω (distance to the edge), and N s\n")
    print("| robot | controller | " + " | ".join(DIRECTIONS) + " |")
    print("| --- | --- |" + " --- |" * len(DIRECTIONS))
    for robot_name in robots:
        robot = load_robot(ROBOTS[robot_name])
        for name in names:
            cells = []
            for direction in DIRECTIONS.values():
                ratio, impulse = largest_push(robot, name, direction, changes)
                cells.append(f"{ratio:.2f} ({impulse:.1f})")
            print(f"| {robot_name} | {name} | " + " | ".join(cells) + " |", flush=True)
    print()


PARTS: dict[str, Callable[[list[str], list[str], int, dict[str, float]], None]] = {
    "speed": show_speed,
    "standing": show_standing,
    "pushes": show_pushes,
}


def main() -> None:
    """Print the parts that were asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--controllers", default="strict")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--robots", default="human25,g1,t1")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=NUMBER")
    given = parser.parse_args()
    robots = [
        name
        for name in given.robots.split(",")
        if name == "human25" or pathlib.Path(ROBOTS[name]).is_file()
    ]
    changes = {name: float(value) for name, value in (o.split("=") for o in given.option)}
    for part in given.parts.split(","):
        PARTS[part](robots, given.controllers.split(","), given.steps, changes)


if __name__ == "__main__":
    main()
