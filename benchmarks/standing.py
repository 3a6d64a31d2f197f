"""Does it stand: the paper's three motions, all controllers, and disturbances. Three tables.

    python benchmarks/standing.py motions [--seeds 20] [--processes 2]
    python benchmarks/standing.py controllers
    python benchmarks/standing.py robustness [--seeds 20]

`motions`: 20 members of each family on human25, unmended, warped, and warped as well as can be.
`controllers`: the same clips through all controllers. `robustness`: the warped side step under
disturbances that the controller does not know.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from variants import FAMILIES, ROBOTS, Case, load

import surefoot as sf
from surefoot.control.controllers import CONTROLLERS
from surefoot.index.index import Options
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import TYPICAL_NOISE, Disturbances

WELL_TRACKED_MM = 50.0  # root error of a clip that counts as completed
STANDING_S = 30.0

DISTURBANCES: dict[str, Disturbances] = {
    "none": Disturbances(),
    "masses ± 10 %": Disturbances(mass_error=0.1),
    "floor friction 0.4": Disturbances(friction=0.4),
    "delay 4 ms": Disturbances(delay_s=0.004),
    "sensor noise": Disturbances(noise=TYPICAL_NOISE),
    "ground ± 1 cm": Disturbances(ground_error_m=0.01),
    "pushes of 20 N": Disturbances(push_n=20.0),
    "all of them": Disturbances(mass_error=0.1, friction=0.4, delay_s=0.004, noise=TYPICAL_NOISE,
                                ground_error_m=0.01, push_n=20.0),
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """One run of a study."""

    case: Case
    controller: str = "strict"
    disturbance: str = "none"
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    task: Task
    worst_over_mg: float
    within_limits: bool
    """Joint positions and speeds, and torques with the best contact forces."""
    torque_ratio: float | None
    stood: bool
    fell_at: float | None
    cause: str
    root_mm: float
    com_mm: float


def outcome(task: Task) -> Outcome:
    """One run."""
    clip, robot = _made(task.case)
    index = sf.feasibility(clip, robot, Options(rate_hz=500.0, key_frames=True))
    ratio = None
    if index.all_feasible and task.disturbance == "none":
        torque = sf.feasibility(clip, robot, Options(torque=True)).torques
        found_ratio = None if torque is None else torque.summary()["worst_ratio"]
        ratio = found_ratio if isinstance(found_ratio, float) else None
    limits = index.joints
    kept = not (limits.position_beyond.any() or limits.speed_beyond.any())
    found = sf.simulate(
        clip,
        robot,
        controller=task.controller,
        disturbances=DISTURBANCES[task.disturbance],
        seed=task.seed,
        index=index,
    )
    where = f"{found.cause} ({found.link})" if found.link else found.cause or ""
    return Outcome(
        task=task,
        worst_over_mg=float(index.upper.max()) / index.weight_n,
        within_limits=kept and (ratio is None or ratio <= 1.0),
        torque_ratio=ratio,
        stood=found.stood,
        fell_at=found.fell_at,
        cause=where,
        root_mm=1e3 * found.tracking.root_error_max_m,
        com_mm=1e3 * found.tracking.com_error_max_m,
    )


def _made(case: Case) -> tuple[Clip, Robot]:
    if not case.source.startswith("made "):
        return load(case)
    robot = sf.load_robot(ROBOTS[case.robot])
    return home_clip(robot, case.source.removeprefix("made ")), robot


def home_clip(robot: Robot, what: str) -> Clip:
    """Standing at home, or swaying and squatting about it by moving the hips and knees."""
    end = STANDING_S if what == "standing" else 8.0
    time = np.linspace(0.0, end, round(30 * end) + 1)
    qpos = np.repeat(np.array(robot.home)[None], len(time), axis=0)
    stances = tuple(Stance(s.link, 0.0, end, "face", s.polygon_l) for s in robot.soles)
    clip = Clip(robot.motion(qpos, time), ContactSchedule(stances), robot=robot.name)
    return clip if what == "standing" else _moved(clip, robot, what)


def _moved(clip: Clip, robot: Robot, what: str) -> Clip:
    from dataclasses import replace

    from surefoot.dynamics.batch import Batch
    from surefoot.kinematics import OrientationTarget, Pin, PointTarget, solve

    time = clip.motion.time
    poses = robot.qpos(clip.motion)
    home = Batch(robot, poses)
    root = robot.link_id(robot.root_link)
    ease = 0.5 - 0.5 * np.cos(np.pi * np.clip(np.minimum(time, time[-1] - time), 0.0, 1.0))
    place = np.array(home.link_pos_w[:, root])
    if what == "sway":
        place[:, 1] += 0.04 * ease * np.sin(2.0 * np.pi * 0.5 * time)
    else:
        place[:, 2] -= 0.10 * ease * (0.5 - 0.5 * np.cos(2.0 * np.pi * 0.5 * time))
    targets = [
        PointTarget(robot.root_link, np.zeros(3), place, 10.0),
        OrientationTarget(robot.root_link, home.link_quat_w[:, root], 10.0),
    ]
    always = np.ones(len(time), dtype=np.bool_)
    pins = [Pin(sole.link, corner, np.repeat(home.points_w(sole.link, corner[None])[:1, 0],
                                             len(time), axis=0), always)
            for sole in robot.soles for corner in sole.polygon_l[:3]]  # fmt: skip
    found = solve(robot, targets, time=time, start_qpos=robot.home, pins=pins)
    return replace(clip, motion=robot.motion(np.array(found.qpos), time))


def over(tasks: list[Task], processes: int) -> Iterable[Outcome]:
    """All outcomes, in order."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, maxtasksperchild=20) as pool:
        yield from pool.imap(outcome, tasks)


def motions(seeds: int, processes: int) -> None:
    """The paper's three motions: a table of families, and every exception."""
    changes = ("none", "warp", "warp-optimal")
    tasks = [Task(Case("human25", f"family {family} {seed}", change)) for family in FAMILIES
             for seed in range(seeds) for change in changes]  # fmt: skip
    found = list(over(tasks, processes))
    print("| family | mended by | worst d / mg, median | feasible | completed | root error, mm,"
          " median (most) of those | causes of the falls |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for family in FAMILIES:
        for change in changes:
            part = [o for o in found if o.task.case.source.startswith(f"family {family} ")
                    and o.task.case.change == change]  # fmt: skip
            stood = [o for o in part if o.stood]
            errors = [o.root_mm for o in stood]
            middle = f"{statistics.median(errors):.1f} ({max(errors):.1f})" if errors else "–"
            causes = sorted({o.cause for o in part if not o.stood})
            print(f"| {family} | {'nothing' if change == 'none' else change} |"
                  f" {statistics.median(o.worst_over_mg for o in part):+.4f} |"
                  f" {sum(o.worst_over_mg <= 1e-9 for o in part)} of {len(part)} |"
                  f" {len(stood)} of {len(part)} | {middle} |"
                  f" {'; '.join(causes) or '–'} |")  # fmt: skip
    print("\nFeasible, within all limits, and not completed with a root error of 5 cm or less:")
    for o in found:
        good = o.stood and o.root_mm <= WELL_TRACKED_MM
        if o.worst_over_mg <= 1e-9 and o.within_limits and not good:
            print(f"- {o.task.case.source}, {o.task.case.change}: stood {o.stood}, {o.cause},"
                  f" root {o.root_mm:.1f} mm, torque over its limit {o.torque_ratio}")  # fmt: skip
    checked = [o for o in found if o.worst_over_mg <= 1e-9 and o.within_limits]
    print(f"- {len(checked)} clips are feasible and within all limits")


def controllers(processes: int) -> None:
    """The same clips through all controllers."""
    clips = [Case(robot, f"made {what}") for robot in ROBOTS
             for what in ("standing", "sway", "squat")]  # fmt: skip
    clips += [Case("human25", f"family {family} {seed}", "warp") for family in FAMILIES
              for seed in range(3)]  # fmt: skip
    clips += [Case("g1", "family sidestep 0", "warp")]
    tasks = [Task(case, controller) for case in clips for controller in CONTROLLERS]
    found = iter(over(tasks, processes))
    print("| robot | clip | " + " | ".join(CONTROLLERS) + " |")
    print("| --- | --- |" + " --- |" * len(CONTROLLERS))
    for case in clips:
        cells = [_cell(next(found)) for _ in CONTROLLERS]
        what = case.source.removeprefix("made ").removeprefix("family ")
        print(f"| {case.robot} | {what}{'' if case.change == 'none' else ', ' + case.change} | "
              + " | ".join(cells) + " |", flush=True)  # fmt: skip
    print("\nLargest error of the centre of mass in mm, or when it fell and why.")


def _cell(o: Outcome) -> str:
    return f"{o.com_mm:.1f}" if o.stood else f"fell at {o.fell_at:.1f} s: {o.cause}"


def robustness(seeds: int, processes: int) -> None:
    """The warped side step under what the controller does not know."""
    tasks = [Task(Case("human25", "family sidestep 0", "warp"), "strict", name, seed)
             for name in DISTURBANCES for seed in range(seeds)]  # fmt: skip
    found = list(over(tasks, processes))
    print("| disturbance | stood | root error of those, mm, median (most) | causes of the falls |")
    print("| --- | --- | --- | --- |")
    for name in DISTURBANCES:
        part = [o for o in found if o.task.disturbance == name]
        errors = [o.root_mm for o in part if o.stood]
        middle = f"{statistics.median(errors):.1f} ({max(errors):.1f})" if errors else "–"
        causes = sorted({o.cause for o in part if not o.stood})
        print(f"| {name} | {len(errors)} of {len(part)} | {middle} | {'; '.join(causes) or '–'} |")


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=("motions", "controllers", "robustness"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    tables: dict[str, Callable[[], None]] = {
        "motions": lambda: motions(args.seeds, args.processes),
        "controllers": lambda: controllers(args.processes),
        "robustness": lambda: robustness(args.seeds, args.processes),
    }
    tables[args.table]()


if __name__ == "__main__":
    main()
