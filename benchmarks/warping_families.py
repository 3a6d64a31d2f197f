"""Both warps on families of human clips: what they mend, what no warp can, and how long they take.

    python benchmarks/warping_families.py [--family sidestep stairs-up stairs-down] [--seeds 20]
        [--first 0] [--wider 2] [--robot human25]

d in per cent of the weight, of the whole clip as written: at 500 Hz, at every frame and on both
sides of every contact change. "bound": no warp of the program has a smaller worst d. "uniform": the
largest uniform speed that is feasible. Seconds are those of one core for the method alone; the
judgement of the clip as it came has its own column. `warp-optimal` is run without the paper's
method beside it; as a user runs it, it returns the better one of both, which is "better".
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np

import surefoot as sf
from surefoot.adapters import warp, warp_optimal
from surefoot.adapters.adaptation import Adaptation, judged, worst_n
from surefoot.index.distance import warm_up
from surefoot.samples import generator

FAMILIES = ("sidestep", "stairs-up", "stairs-down")
TARGETS = {"warp": 0.9, "better": 0.97}  # of those whose bound is 0 or less
ALONE = warp_optimal.Options(compare=False)
HEAD = ("seed", "duration s", "before", "uniform", "warp", "warp-optimal", "better", "bound",
        "judging s", "warp s", "warp-optimal s")  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One member of a family, under both methods."""

    seed: int
    bound: float
    warp: Adaptation
    optimal: Adaptation
    seconds: tuple[float, float, float]

    @property
    def better(self) -> Adaptation:
        """What a user of warp-optimal gets."""
        return min(self.optimal, self.warp, key=lambda one: worst_n(one.after))

    def cells(self) -> list[str]:
        """As the table shows it."""
        before = self.warp.before
        speed = before.speeds.feasible_speed
        numbers = [share(one) for one in (self.warp, self.optimal, self.better)]
        return [
            f"{self.seed}",
            f"{before.clip.motion.duration:.2f}",
            f"{100.0 * worst_n(before) / before.weight_n:+.2f}",
            "none" if speed is None else f"{speed:.2f}",
            *(f"{number:+.3f}" for number in numbers),
            f"{100.0 * self.bound:+.2f}",
            *(f"{second:.2f}" for second in self.seconds),
        ]


def share(found: Adaptation) -> float:
    """The worst d after, per cent of the weight."""
    return 100.0 * worst_n(found.after) / found.after.weight_n


def row(family: str, seed: int, robot: sf.Robot, options: warp_optimal.Options) -> Row:
    """A member of a family, warped by both methods."""
    human = generator.make(family, seed=seed)
    return warped(
        sf.retarget(human, robot, terrain=generator.terrain(family)), robot, seed, options
    )


def warped(
    clip: sf.Clip, robot: sf.Robot, seed: int = 0, options: warp_optimal.Options = ALONE
) -> Row:
    """A clip, warped by both methods."""
    moments = [time.process_time()]
    before = judged(clip, robot)
    moments.append(time.process_time())
    paper = warp.adapt(clip, robot, before)
    moments.append(time.process_time())
    best = warp_optimal.adapt(clip, robot, before, options)
    moments.append(time.process_time())
    program = best.details.get("program_bound_over_weight")
    bound = program if isinstance(program, float) else -np.inf
    first, second, third = np.diff(moments).tolist()
    return Row(seed, bound, paper, best, (first, second, third))


def table(family: str, seeds: range, robot: sf.Robot, options: warp_optimal.Options) -> None:
    """One line for each seed, what they come to, and the reason where one falls short."""
    print(f"\n{family} on {robot.name}\n\n| " + " | ".join(HEAD) + " |")
    print("| --- " * len(HEAD) + "|")
    rows = []
    for seed in seeds:
        rows.append(row(family, seed, robot, options))
        print("| " + " | ".join(rows[-1].cells()) + " |", flush=True)
    possible = [one for one in rows if one.bound <= 0.0]
    print(f"\nbound 0 or less: {len(possible)} of {len(rows)}; of these feasible after:")
    for name, target in TARGETS.items():
        good = [one.seed for one in possible if getattr(one, name).after.all_feasible]
        words = f"{len(good)} of {len(possible)} (target {target:.0%})"
        print(f"  {name}: {words}")
        for one in possible:
            if one.seed not in good:
                found = getattr(one, name)
                print(f"    seed {one.seed}: {share(found):+.3f} %, bound {100 * one.bound:+.2f} %:"
                      f" {found.why_not}")  # fmt: skip
    for column, name in enumerate(HEAD[-3:]):
        seconds = [one.seconds[column] for one in rows]
        print(f"{name}: median {np.median(seconds):.2f}, most {max(seconds):.2f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", nargs="+", default=FAMILIES)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--wider", type=float, default=ALONE.wider)
    parser.add_argument("--robot", default="human25")
    asked = parser.parse_args()
    warm_up()
    robot = sf.load_robot(asked.robot)
    options = replace(ALONE, wider=asked.wider)
    for family in asked.family:
        table(family, range(asked.first, asked.first + asked.seeds), robot, options)


if __name__ == "__main__":
    main()
