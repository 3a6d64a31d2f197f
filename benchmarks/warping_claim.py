"""The paper's claim, tested: is the body hurried before lift-offs and slowed before touch-downs.

    python benchmarks/warping_claim.py [--family sidestep stairs-up stairs-down] [--seeds 20]
        [--method warp] [--robot human25]

Zheng and Yamane, section VI.A. Events are the lift-offs and touch-downs within the warped segments;
t' is its mean over the 0.15 s before (below 1: hurried), the CoM's speed is that of the same poses,
along the ground, towards the feet that go on standing before a lift-off, towards the foot that
lands before a touch-down. Of the first seed every event is listed.
"""

from __future__ import annotations

import argparse

import numpy as np
from figures import AROUND_S, mean_slope

import surefoot as sf
from surefoot.adapters.adaptation import Adaptation, adapt
from surefoot.dynamics.batch import Batch
from surefoot.motion.curves import resample
from surefoot.reports.changes import Event, events_of, segments_of
from surefoot.samples import generator

INSTANT_S = 1e-4  # before a touch-down or after a lift-off: who stands then
SAME = 1e-3  # of t′ and of m/s: less is no change


def towards(found: Adaptation, event: Event, *, after: bool) -> float:
    """Speed of the CoM over the poses before an event: to the standing feet, or to the landing."""
    one = found.after if after else found.before
    clip, robot = one.clip, one.robot
    ends = np.array([event.was - AROUND_S, event.was])
    times = found.timing(ends) if after and found.timing is not None else ends
    batch = Batch(robot, robot.qpos(resample(clip.motion, times)))
    aside = INSTANT_S if event.lifts else -INSTANT_S
    standing = [
        batch.points_w(stance.link, stance.vertices)[1].mean(axis=0)
        for stance in clip.contacts.at(float(times[1]) + aside)
    ]
    moving = [batch.link_pos_w[1, robot.link_id(sole.link)] for sole in robot.soles
              if f"{sole.side} foot" == event.foot]  # fmt: skip
    if not standing or not moving:
        return 0.0
    way = (np.mean(standing, axis=0) - np.mean(moving, axis=0))[:2]
    way *= 1.0 if event.lifts else -1.0
    moved = (batch.com_w[1] - batch.com_w[0])[:2] / (times[1] - times[0])
    return float(moved @ way / max(float(np.linalg.norm(way)), 1e-9))


def rows(found: Adaptation) -> list[tuple[int, Event, float, float, float]]:
    """Segment, event, t' before it, and the CoM's speed before and after, of every event."""
    out = []
    if found.timing is None:
        return out
    for event in events_of(found):
        inside = [s.number for s in segments_of(found) if s.start <= event.was <= s.end]
        if inside and event.was > AROUND_S:
            old, new = (towards(found, event, after=after) for after in (False, True))
            out.append((inside[0], event, mean_slope(found, event.was), old, new))
    return out


def counted(family: str, found: list[tuple[int, Event, float, float, float]]) -> None:
    """How often the claim is so, of lift-offs and of touch-downs."""
    for lifts, what, change in ((True, "lift-off", "hurried"), (False, "touch-down", "slowed")):
        some = [row for row in found if row[1].lifts is lifts]
        if not some:
            continue
        slope, old, new = np.array([row[2:] for row in some]).T
        as_said = slope < 1.0 - SAME if lifts else slope > 1.0 + SAME
        moved = new > old + SAME if lifts else new < old - SAME
        print(f"| {family} | {what} | {len(some)} | {change}: {as_said.sum()} |"
              f" {slope.mean():.3f} | {old.mean():+.3f} to {new.mean():+.3f} |"
              f" {moved.sum()} |", flush=True)  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", nargs="+", default=["sidestep", "stairs-up", "stairs-down"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--method", default="warp")
    parser.add_argument("--robot", default="human25")
    asked = parser.parse_args()
    robot = sf.load_robot(asked.robot)
    print("| family | event | events | t' as said | mean t' | CoM m/s | speed as said |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    listed = []
    for family in asked.family:
        every = []
        for seed in range(asked.seeds):
            human = generator.make(family, seed=seed)
            clip = sf.retarget(human, robot, terrain=generator.terrain(family))
            found = rows(adapt(clip, robot, method=asked.method))
            every += found
            listed += [(family, *row) for row in found if seed == 0]
        counted(family, every)
    print("\n| clip | segment | event | at s | t' | CoM m/s before | after |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for family, number, event, slope, old, new in listed:
        print(f"| {family} | {number} | {event.what} | {event.was:.2f} | {slope:.3f} |"
              f" {old:+.3f} | {new:+.3f} |")  # fmt: skip


if __name__ == "__main__":
    main()
