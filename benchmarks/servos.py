"""Joint servos, alone (`pd`) and with the stabiliser (`position`), on warped side steps.

    python benchmarks/servos.py [--robot human25] [--seeds 10] [--controllers position pd]

Members of the family, retargeted, warped, simulated: the worst error of the centre of mass, mm, or
when the robot fell and why.
"""

from __future__ import annotations

import argparse
import statistics

import surefoot as sf
from surefoot.adapters import warp
from surefoot.adapters.adaptation import judged
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.samples import generator
from surefoot.simulation.simulator import simulate
from surefoot.simulation.verdict import Verdict


def sidestep(robot: Robot, seed: int) -> Clip:
    """A member of the family, retargeted and warped."""
    human = generator.make("sidestep", seed=seed)
    clip = sf.retarget(human, robot, terrain=generator.terrain("sidestep"))
    return warp.adapt(clip, robot, judged(clip, robot), warp.Options()).clip


def cell(found: Verdict) -> str:
    """How far the centre of mass strayed, or when the robot fell."""
    if not found.stood:
        return f"fell at {found.fell_at:.1f} s, {found.cause}"
    return f"{1e3 * found.tracking.com_error_max_m:.1f}"


def sidesteps(robot: Robot, seeds: int, controllers: list[str]) -> None:
    """One row a seed."""
    print("| seed | " + " | ".join(controllers) + " |\n| --- |" + " --- |" * len(controllers))
    errors: dict[str, list[float]] = {name: [] for name in controllers}
    steps: list[float] = []
    for seed in range(seeds):
        clip = sidestep(robot, seed)
        cells = []
        for name in controllers:
            found = simulate(clip, robot, controller=name)
            cells.append(cell(found))
            if found.stood:
                errors[name].append(1e3 * found.tracking.com_error_max_m)
            if name == "position":
                steps.append(1e3 * statistics.median(found.trace.control_s))
        print(f"| {seed} | " + " | ".join(cells) + " |", flush=True)
    for name, those in errors.items():
        most = f"worst {max(those):.1f} mm" if those else "none"
        print(f"{name}: {len(those)} of {seeds} completed, {most}")
    if steps:
        print(f"position: median step {statistics.median(steps):.3f} ms")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="human25")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--controllers", nargs="+", default=["position", "pd"])
    given = parser.parse_args()
    robot = sf.load_robot(given.robot)
    sidesteps(robot, given.seeds, given.controllers)


if __name__ == "__main__":
    main()
