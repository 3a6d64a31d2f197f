"""Time warping as the paper does it: how many clips of a family become feasible, and how fast.

    python benchmarks/warping.py [--family sidestep] [--seeds 20] [--robot human25]
        [--basis smooth] [--rule] [--literal] [--repeats 7]

Members of a family of made clips, retargeted plainly. Worst d over the weight, before and after;
the largest uniform speed that is feasible; rounds; segments found and left; processor seconds of
the method alone (find, warp, judge the result) and with the judgement of the clip before.
`--rule` searches both shapes of every segment and says how often the first-order rule was right;
`--literal` takes the paper's own choices: no pad, t, t² and t³, no polish, one round.

Then one clip of about 8 s with four infeasible segments, several times: the seconds of `warp`, and
of `warp-optimal` by itself. Both methods on all families: warping_families.py.
"""

from __future__ import annotations

import argparse
import statistics
import time

import surefoot
from surefoot.adapters import warp, warp_optimal
from surefoot.adapters.adaptation import Adaptation, judged, worst_n
from surefoot.motion.curves import resample_clip
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.samples import bundled, generator

TIMED_FROM_S, TIMED_S = 1.4, 8.0


def made(family: str, seed: int, robot: Robot) -> Clip:
    """A member of a family as a clip of the robot."""
    human = generator.make(family, seed=seed)
    return surefoot.retarget(human, robot, terrain=generator.terrain(family))


def row(clip: Clip, robot: Robot, options: warp.Options) -> tuple[Adaptation, float, float]:
    """The clip warped, and processor seconds: of the method, and with the judgement before."""
    begin = time.process_time()
    before = judged(clip, robot)
    middle = time.process_time()
    found = warp.adapt(clip, robot, before, options)
    end = time.process_time()
    return found, end - middle, end - begin


def table(family: str, seeds: int, robot: Robot, options: warp.Options) -> None:
    """One line for each seed, and what they come to."""
    print("| seed | duration s | worst before | after | uniform speed | rounds | segments |"
          " method s | with judging s | status |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    mended, hopeless, times = 0, 0, []
    right: list[bool] = []
    for seed in range(seeds):
        clip = made(family, seed, robot)
        found, alone, whole = row(clip, robot, options)
        mended += found.after.all_feasible
        hopeless += found.lower_bound_n is not None
        times.append(alone)
        rule = found.details.get("rule_right")
        if isinstance(rule, list):
            right += [True] * rule[0] + [False] * (rule[1] - rule[0])
        before, after = (worst_n(f) / f.weight_n for f in (found.before, found.after))
        speed = found.before.speeds.feasible_speed
        left = len(found.after.segments())
        print(f"| {seed} | {clip.motion.duration:.2f} | {before:+.4f} | {after:+.4f} |"
              f" {'none' if speed is None else f'{speed:.3f}'} | {found.details['rounds']} |"
              f" {len(found.before.segments())} to {left} | {alone:.2f} | {whole:.2f} |"
              f" {found.status} |", flush=True)  # fmt: skip
        if found.why_not:
            print(f"    {found.why_not}", flush=True)
    if not times:
        return
    print(f"feasible: {mended} of {seeds}; no timing can mend: {hopeless};"
          f" method: median {statistics.median(times):.2f} s, most {max(times):.2f} s")  # fmt: skip
    if right:
        print(f"the rule was right in {sum(right)} of {len(right)} segments")


def four_stretches(robot: Robot) -> Clip:
    """The bundled side step from 1.4 s on for 8 s: four places where the weight shifts too late."""
    clip = surefoot.retarget(surefoot.read(bundled.path("sidestep")), robot)
    time = clip.motion.time
    return resample_clip(clip, time[(time >= TIMED_FROM_S) & (time <= TIMED_FROM_S + TIMED_S)])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--family", default="sidestep")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--robot", default="human25")
    parser.add_argument("--basis", default="smooth")
    parser.add_argument("--rule", action="store_true")
    parser.add_argument("--literal", action="store_true")
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    robot = surefoot.load_robot(given.robot)
    options = warp.Options(basis=given.basis, check_rule=given.rule)
    if given.literal:
        options = warp.Options(
            basis="poly3", others=(), pad_s=0.0, floor=0.0, polish=0, rounds=1,
            check_rule=given.rule,
        )  # fmt: skip
    table(given.family, given.seeds, robot, options)
    timed(four_stretches(robot), robot, options, given.repeats)


def timed(clip: Clip, robot: Robot, options: warp.Options, repeats: int) -> None:
    """One line for each method: medians of its processor seconds."""
    before = judged(clip, robot)
    alone = warp_optimal.Options(compare=False)
    for name, method, chosen in (("warp", warp, options), ("warp-optimal", warp_optimal, alone)):
        seconds = []
        for _ in range(repeats + 1):  # the first one warms up
            begin = time.process_time()
            found = method.adapt(clip, robot, before, chosen)
            seconds.append(time.process_time() - begin)
        rows = found.details.get("segments", found.details.get("stretches"))
        count = len({(one["start_s"], one["end_s"]) for one in rows})
        print(f"{name}: {clip.motion.duration:.1f} s, {count} stretches, {found.status}:"
              f" {statistics.median(seconds[1:]):.2f} s, most {max(seconds[1:]):.2f} s"
              f" (of {repeats})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
