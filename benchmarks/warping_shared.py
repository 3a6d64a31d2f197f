"""Both warps on real motions: those of robots in the shared data, and plain retargets of people.

    python benchmarks/warping_shared.py [--only NAME ...] [--smooth 6]

On the shared g1: the robot motions that are read, contacts by the defaults. On human25 and the
shared g1: 83_55, 49_19 and 69_16 of CMU, retargeted plainly. Columns as in warping_families.py;
under each line the reason, where the better warp falls short. Needs the shared data
(SUREFOOT_SHARED, default ../shared).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace

from shared_motions import G1, MOTIONS, SHARED, without_first_frame
from warping_families import HEAD, Row, warped

import surefoot as sf
from surefoot.index.distance import warm_up
from surefoot.motion.motion import Clip
from surefoot.motion.smoothing import smooth

PEOPLE = ("83_55", "49_19", "69_16")


def clips(only: list[str]) -> Iterator[tuple[str, Clip, sf.Robot]]:
    """Name, clip and robot of each."""
    g1, human25 = sf.load_robot(SHARED / G1), sf.load_robot("human25")
    for name, (path, form, fps, *_) in MOTIONS.items():
        if not only or name in only:
            clip = sf.read(SHARED / "robot_motion" / path, robot=g1, fps=fps, format=form)
            assert isinstance(clip, Clip)
            yield name, without_first_frame(clip) if "walk_010" in name else clip, g1
    for name in PEOPLE:
        for robot in (human25, g1):
            if not only or name in only:
                human = sf.read(SHARED / "human/cmu" / f"{name}.bvh")
                yield f"{name} on {robot.name}", sf.retarget(human, robot), robot


def show(name: str, row: Row) -> None:
    """One line, and the reason why it is not mended."""
    cells = row.cells()
    before = row.warp.before
    cells[0] = name
    cells.insert(2, f"{len(before.segments())}")
    print("| " + " | ".join(cells) + " |", flush=True)
    if row.better.why_not:
        still = int(before.speeds.falls_when_still.sum())
        print(f"    infeasible samples {100 * (1 - before.feasible.mean()):.1f} % before,"
              f" {100 * (1 - row.better.after.feasible.mean()):.1f} % after; poses that fall when"
              f" held still {100 * still / before.samples.n:.1f} %; flight"
              f" {100 * float((before.samples.cones.count == 0).mean()):.1f} %")  # fmt: skip
        for found in (row.warp, row.optimal):
            print(f"    {found.method} ({found.status}): {found.why_not}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--smooth", type=float, default=math.inf)
    asked = parser.parse_args()
    if not SHARED.is_dir():
        print("the shared data are not here: set SUREFOOT_SHARED")
        return
    warm_up()
    head = ["motion", HEAD[1], "segments", *HEAD[2:]]
    print("| " + " | ".join(head) + " |")
    print("| --- " * len(head) + "|")
    for name, clip, robot in clips(asked.only):
        if asked.smooth < math.inf:
            motion, _ = smooth(clip.motion, asked.smooth, clip.contacts)
            clip = replace(clip, motion=motion)
        show(name, warped(clip, robot))


if __name__ == "__main__":
    main()
