"""The best warp on a family of human clips: what is proven, and what the frames make of it.

    python benchmarks/warping_optimal.py [--family sidestep] [--seeds 20] [--robot human25]

Figures of d are in per cent of the weight. Bound and optimum are those of the program, the worst
over the stretches of a clip; "after" is the worst d of the whole clip as written, at the control
rate, on both sides of every contact change and at every frame. Seconds are those that one core
works for the method by itself, without the judgement of the clip as it came, which every method
needs; the paper's method is left out, so that one thing is measured.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import surefoot as sf
from surefoot.adapters.adaptation import judged, worst_n
from surefoot.adapters.warp_optimal import Options, adapt
from surefoot.index.distance import warm_up
from surefoot.samples import generator

HEAD = "| seed | duration s | stretches | before | optimum | bound | after | case | status | s |"


def share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f", {100.0 * part / whole:.0f} %" if whole else "")


def row(seed: int, family: str, robot: sf.Robot, options: Options) -> tuple[float, bool, float]:
    """Bound over the weight, whether every sample is feasible now, and the seconds."""
    human = generator.make(family, seed=seed)
    clip = sf.retarget(human, robot, terrain=generator.terrain(family))
    before = judged(clip, robot)
    weight = before.weight_n
    begin = time.process_time()
    found = adapt(clip, robot, before, options)
    seconds = time.process_time() - begin
    stretches = found.details.get("stretches", [])
    best = max((one["optimum_over_weight"] for one in stretches), default=np.nan)
    cases = ",".join(sorted({one["case"] for one in stretches})) or "-"
    bound = -np.inf if found.lower_bound_n is None else found.lower_bound_n / weight
    cells = [
        f"{seed}",
        f"{clip.motion.duration:.1f}",
        f"{len(stretches)}",
        f"{100.0 * worst_n(before) / weight:.2f}",
        f"{100.0 * best:.2f}",
        f"{100.0 * bound:.2f}",
        f"{100.0 * worst_n(found.after) / weight:.3f}",
        cases,
        found.status,
        f"{seconds:.2f}",
    ]
    print("| " + " | ".join(cells) + " |", flush=True)
    return bound, found.after.all_feasible, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", default="sidestep")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--robot", default="human25")
    asked = parser.parse_args()
    warm_up()
    robot = sf.load_robot(asked.robot)
    print(HEAD)
    print("| --- " * (HEAD.count("|") - 1) + "|")
    options = Options(compare=False)
    rows = [row(seed, asked.family, robot, options) for seed in range(asked.seeds)]
    possible = [feasible for bound, feasible, _ in rows if bound <= 0.0]
    seconds = [s for _, _, s in rows]
    print(
        "\nfeasible after, of those whose bound is 0 or less: "
        + share(sum(possible), len(possible))
    )
    print(f"median {np.median(seconds):.2f} s, most {max(seconds):.2f} s")


if __name__ == "__main__":
    main()
