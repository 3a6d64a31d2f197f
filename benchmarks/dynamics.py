"""Inverse dynamics of many frames: surefoot's kernels against loops over MuJoCo's functions.

    python benchmarks/dynamics.py [--frames 10000] [--runs 9]

One run prints everything, so the ratios come from the same minutes of the same machine. The robot
is the shared g1 where the shared data are (SUREFOOT_SHARED, default ../shared), else human25.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np

from surefoot.dynamics.batch import Batch, warm_up
from surefoot.dynamics.wrench import path_coefficients, required_wrench
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

ROOT = pathlib.Path(__file__).resolve().parent.parent
G1 = "data/robots/g1/g1_bm_no_mesh_box_feet.xml"


def chosen_robot() -> tuple[Robot, str]:
    """The shared g1 where it is (its broken sensors are dropped in loading), else human25."""
    shared = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared")))
    if (shared / G1).is_file():
        return load_robot(shared / G1), "shared g1, sensors dropped"
    return load_robot("human25"), "bundled human25 (no shared g1 here)"


def random_states(robot: Robot, frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses around home, velocities and accelerations of a lively motion."""
    rng = np.random.default_rng(0)
    qpos = np.tile(robot.home, (frames, 1))
    qpos[:, robot.joint_qposadr] += rng.uniform(-0.5, 0.5, (frames, len(robot.joint_names)))
    qvel = rng.normal(size=(frames, robot.nv))
    return qpos, qvel, 5.0 * rng.normal(size=(frames, robot.nv))


def lean_loop(
    model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray, qacc: np.ndarray
) -> np.ndarray:
    """Only what the six rows need: kinematics, axes, velocities, recursion."""
    data = mujoco.MjData(model)
    out, row = np.empty((len(qpos), 6)), np.empty(model.nv)
    q, v, a = data.qpos, data.qvel, data.qacc
    for i in range(len(qpos)):
        q[:], v[:], a[:] = qpos[i], qvel[i], qacc[i]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, row)
        out[i] = row[:6]
    return out


def inverse_loop(
    model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray, qacc: np.ndarray
) -> np.ndarray:
    """What one writes first."""
    data = mujoco.MjData(model)
    out = np.empty((len(qpos), 6))
    for i in range(len(qpos)):
        data.qpos[:], data.qvel[:], data.qacc[:] = qpos[i], qvel[i], qacc[i]
        mujoco.mj_inverse(model, data)
        out[i] = data.qfrc_inverse[:6]
    return out


def timed(calls: dict[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    """Seconds of every call, the calls taking turns so that a busy minute hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def own_calls(
    robot: Robot, states: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> dict[str, Callable[[], object]]:
    """The quantities of a batch, each from a new batch."""
    qpos, qvel, qacc = states
    root = qpos[:, :3]

    def batch(threads: int = 1) -> Batch:
        return Batch(robot, qpos, qvel, qacc, threads=threads)

    return {
        "six rows, 1 thread": lambda: required_wrench(batch(), root),
        "six rows, 2 threads": lambda: required_wrench(batch(2), root),
        "all rows, 1 thread": lambda: batch().inverse_dynamics(),
        "all rows, 2 threads": lambda: batch(2).inverse_dynamics(),
        "path coefficients a, b, c": lambda: path_coefficients(batch(), root),
        "poses of all links": lambda: batch().link_pos_w,
        "Jacobian of one point": lambda: batch().jacobian(robot.root_link, np.zeros(3)),
        "mass matrix": lambda: batch().mass_matrix,
    }


def peak_of_the_machine(runs: int) -> float:
    """How much two threads gain here on work that shares nothing: the ceiling of the gain."""
    numbers = np.linspace(0.0, 1.0, 2_000_000)

    def work(_: int) -> None:
        np.sin(numbers)

    def both() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(work, range(2)))

    seconds = timed({"one": lambda: (work(0), work(1)), "two": both}, runs)
    return statistics.median(seconds["one"]) / statistics.median(seconds["two"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    robot, which = chosen_robot()
    start = time.perf_counter()
    warm_up(robot)
    warm = time.perf_counter() - start
    states = random_states(robot, options.frames)
    lean, inverse = "MuJoCo, lean loop", "MuJoCo, mj_inverse loop"
    calls: dict[str, Callable[[], object]] = {
        lean: lambda: lean_loop(robot.model, *states),
        inverse: lambda: inverse_loop(robot.model, *states),
        **own_calls(robot, states),
    }
    own, two = "six rows, 1 thread", "six rows, 2 threads"
    force = np.asarray(calls[own]())[:, :3]
    for name in (lean, inverse):  # the moments are in other axes
        np.testing.assert_allclose(force, np.asarray(calls[name]())[:, :3], rtol=0, atol=1e-8)
    seconds = timed(calls, options.runs)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    print(f"robot: {which}, nv {robot.nv}, {robot.mass:.1f} kg; {options.frames} frames;")
    print(f"MuJoCo {mujoco.__version__}; medians of {options.runs} runs, in turns")
    print(f"kernels ready after {warm:.2f} s (compiled, or loaded from the cache)")
    print(f"{'':28s} {'s':>8s} {'min':>8s} {'max':>8s} {'times faster than lean':>24s}")
    for name, median in medians.items():
        low, high = min(seconds[name]), max(seconds[name])
        print(f"{name:28s} {median:8.4f} {low:8.4f} {high:8.4f} {medians[lean] / median:24.2f}")
    print(f"six rows, one thread, against the lean loop:  {medians[lean] / medians[own]:.2f} (1.3)")
    print(
        f"six rows, one thread, against mj_inverse:     {medians[inverse] / medians[own]:.2f} (2)"
    )
    print(f"six rows, two threads against one:            {medians[own] / medians[two]:.2f} (1.6)")
    ceiling = peak_of_the_machine(options.runs)
    print(f"two threads against one on numpy's sine here: {ceiling:.2f} (the machine's ceiling)")
    print("in brackets: the targets")


if __name__ == "__main__":
    main()
