"""Inverse kinematics along a motion: surefoot's kernel beside mink.

    python benchmarks/kinematics.py [--frames 3000] [--peer-frames 300] [--runs 7]

One run prints everything, so the ratios come from the same minutes of the same machine. The robot
is the shared g1 where the shared data are (SUREFOOT_SHARED, default ../shared), else human25. Both
follow 14 links, position and orientation each, of a motion that the robot can make, frame after
frame from the pose before, inside the joint limits, on one thread. No posture is asked for, since
mink is given none. The error is the largest of the 14 links over all frames.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import time
from collections.abc import Callable

import numpy as np

from surefoot.dynamics.batch import Batch
from surefoot.kinematics import Options, OrientationTarget, PointTarget, Target, solve, warm_up
from surefoot.motion import rotation
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

ROOT = pathlib.Path(__file__).resolve().parent.parent
G1 = "data/robots/g1/g1_bm_no_mesh_box_feet.xml"
LINKS = 14
FPS = 30.0
TURN_WEIGHT = 0.3  # m/rad, of an orientation beside a position
DAMPING = 1e-6


def chosen_robot() -> tuple[Robot, str]:
    """The shared g1 where it is, else human25."""
    shared = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared")))
    if (shared / G1).is_file():
        return load_robot(shared / G1), "shared g1"
    return load_robot("human25"), "bundled human25 (no shared g1 here)"


def chosen_links(robot: Robot) -> list[str]:
    """Fourteen links: the root, those that play a part of the body, then others."""
    parts = [landmark.link for landmark in robot.landmarks.values()]
    return list(dict.fromkeys([robot.root_link, *parts, *robot.link_names]))[:LINKS]


def lively_motion(robot: Robot, frames: int) -> np.ndarray:
    """Every joint swings over half of its range at 0.1 to 0.6 Hz; the root walks and turns."""
    rng = np.random.default_rng(0)
    t = np.arange(frames) / FPS
    qpos = np.tile(robot.home, (frames, 1))
    low, high = np.maximum(robot.joint_min, -np.pi), np.minimum(robot.joint_max, np.pi)
    rate, phase = rng.uniform(0.1, 0.6, len(low)), rng.uniform(0.0, 2.0 * np.pi, len(low))
    swing = np.sin(2.0 * np.pi * rate * t[:, None] + phase)
    qpos[:, robot.joint_qposadr] = 0.5 * (low + high) + 0.25 * (high - low) * swing
    qpos[:, 0], qpos[:, 1] = np.sin(t), np.cos(0.5 * t)
    turns = np.stack([0.3 * np.sin(t), 0.2 * np.cos(t), 0.7 * np.sin(0.3 * t)], axis=1)
    qpos[:, 3:7] = rotation.from_rotvec(turns)
    return qpos


def targets_of(robot: Robot, batch: Batch, links: list[str]) -> list[Target]:
    """Position and orientation of each link along the motion."""
    targets: list[Target] = []
    for link in links:
        b = robot.link_id(link)
        targets.append(PointTarget(link, np.zeros(3), batch.link_pos_w[:, b]))
        targets.append(OrientationTarget(link, batch.link_quat_w[:, b], TURN_WEIGHT))
    return targets


def own(
    robot: Robot, links: list[str], wanted: np.ndarray, iterations: int
) -> Callable[[], object]:
    """A call that solves all frames."""
    targets = targets_of(robot, Batch(robot, wanted), links)
    options = Options(iterations=iterations, posture_weight=0.0, damping=DAMPING)
    frame_times = np.arange(len(wanted)) / FPS
    return lambda: (
        solve(robot, targets, time=frame_times, start_qpos=wanted[0], options=options).qpos
    )


def peer(
    robot: Robot, links: list[str], wanted: np.ndarray, iterations: int, solver: str
) -> Callable[[], object]:
    """The same by mink: frame tasks, configuration limit, a QP solver."""
    import mink

    batch = Batch(robot, wanted)
    tasks = [
        mink.FrameTask(link, "body", position_cost=1.0, orientation_cost=TURN_WEIGHT)
        for link in links
    ]
    ids = [robot.link_id(link) for link in links]
    goals = [
        [mink.SE3(np.concatenate([batch.link_quat_w[i, b], batch.link_pos_w[i, b]])) for b in ids]
        for i in range(len(wanted))
    ]
    limits = [mink.ConfigurationLimit(robot.model)]

    def run() -> np.ndarray:
        configuration = mink.Configuration(robot.model, np.array(wanted[0]))
        out = np.empty_like(wanted)
        for i, goal in enumerate(goals):
            for task, place in zip(tasks, goal, strict=True):
                task.set_target(place)
            for _ in range(iterations):
                velocity = mink.solve_ik(
                    configuration, tasks, 1.0 / FPS, solver, damping=DAMPING, limits=limits
                )
                configuration.integrate_inplace(velocity, 1.0 / FPS)
            out[i] = configuration.q
        return out

    return run


def peer_solvers() -> list[str]:
    """The solvers of mink that are installed, or a sentence that says what is missing."""
    try:
        import mink  # noqa: F401  # asked for only
        import qpsolvers
    except ImportError as error:
        print(f"mink left out: {error}. Install it with: pip install '.[test]'")
        return []
    found = [name for name in ("daqp", "quadprog") if name in qpsolvers.available_solvers]
    for name in ("daqp", "quadprog"):
        if name not in found:
            print(f"mink with {name} left out: the solver is not installed (pip install {name})")
    return found


def timed(calls: dict[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    """Seconds of every call, the calls taking turns so that a busy minute hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def worst_mm(robot: Robot, links: list[str], found: np.ndarray, wanted: np.ndarray) -> float:
    """Largest distance of an asked link from where it was asked to be, mm."""
    there, asked = Batch(robot, found).link_pos_w, Batch(robot, wanted).link_pos_w
    ids = [robot.link_id(link) for link in links]
    return float(1e3 * np.max(np.linalg.norm(there[:, ids] - asked[:, ids], axis=2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=3000)
    parser.add_argument("--peer-frames", type=int, default=300)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    robot, origin = chosen_robot()
    links = chosen_links(robot)
    wanted = lively_motion(robot, options.frames)
    few = wanted[: options.peer_frames]
    start = time.perf_counter()
    warm_up(robot)
    ready = time.perf_counter() - start
    calls = {f"surefoot, {k}": own(robot, links, wanted, k) for k in (1, 2, 3)}
    calls["surefoot, to convergence"] = own(robot, links, wanted, 50)
    frames = dict.fromkeys(calls, len(wanted))
    for solver in peer_solvers():
        for k in (1, 3):
            calls[f"mink with {solver}, {k}"] = peer(robot, links, few, k, solver)
            frames[f"mink with {solver}, {k}"] = len(few)
    seconds = timed(calls, options.runs)
    reference = "mink with daqp, 3" if "mink with daqp, 3" in calls else "surefoot, 3"
    rate = {name: frames[name] / statistics.median(seconds[name]) for name in calls}
    print(f"\n{origin}: {len(links)} links, limits, warm, one thread, {options.runs} runs in turn")
    print(f"kernel ready after {ready:.2f} s\n")
    print(f"| route, iterations a frame | frames/s | spread | over {reference} | worst error, mm |")
    print("| --- | --- | --- | --- | --- |")
    for name, call in calls.items():
        spread = (max(seconds[name]) - min(seconds[name])) / statistics.median(seconds[name])
        error = worst_mm(robot, links, np.asarray(call()), wanted[: frames[name]])
        ratio = rate[name] / rate[reference]
        print(f"| {name} | {rate[name]:,.0f} | {spread:.0%} | {ratio:.2f} | {error:.2g} |")


if __name__ == "__main__":
    main()
