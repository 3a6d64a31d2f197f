"""A hand on a rail: any link can be in contact, in the index and in the warp.

The robot lifts its left foot before its weight is over the right one. A hand on a rail beside it
helps, by as much as the index says; other times for the same poses do the rest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import surefoot as sf
from surefoot.adapters.adaptation import adapt
from surefoot.dynamics.batch import Batch
from surefoot.kinematics import Pin, PointTarget, solve
from surefoot.motion.motion import Meta

LIFTED_S, LANDED_S = 1.25, 3.35  # the left foot is in the air between
RISE_M, SHIFT_M, LEAD_S = 0.05, 0.14, 0.35
RAIL_M = np.array([0.06, -0.46, 0.98])


def eased(time: np.ndarray, start: float, end: float) -> np.ndarray:
    """From 0 to 1 with no speed and no acceleration at the ends."""
    u = np.clip((time - start) / (end - start), 0.0, 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u**2)


def held(link: str, point_l: np.ndarray, path_w: np.ndarray) -> Pin:
    """A point of a link that follows a path."""
    return Pin(link, point_l, path_w, np.ones(len(path_w), dtype=bool))


robot = sf.load_robot("human25")
time = np.linspace(0.0, 4.6, 139)
home = Batch(robot, robot.home[None])
lift = np.zeros((len(time), 3))
lift[:, 2] = RISE_M * (
    eased(time, LIFTED_S, LIFTED_S + 0.4) - eased(time, LANDED_S - 0.4, LANDED_S)
)
pins = []
for sole in robot.soles:
    corners_w = home.points_w(sole.link, sole.polygon_l)[0]
    for corner_l, corner_w in zip(sole.polygon_l[:3], corners_w[:3], strict=True):
        moved = lift if sole.side == "left" else 0.0 * lift
        pins.append(held(sole.link, corner_l, corner_w + moved))
hand = robot.landmarks["right_wrist"]
pins.append(held(hand.link, hand.point_l, np.tile(RAIL_M, (len(time), 1))))

shift = eased(time, LIFTED_S - LEAD_S, LIFTED_S + 0.45)  # too late: half of it after the lift-off
shift -= eased(time, LANDED_S - 0.45, LANDED_S + LEAD_S)
body_w = home.link_pos_w[0, robot.link_id(robot.root_link)] + [0.0, 0.0, -0.04]
path_w = body_w + np.stack([0.0 * shift, -SHIFT_M * shift, 0.0 * shift], axis=1)
body = PointTarget(robot.root_link, np.zeros(3), path_w, 20.0)
poses = solve(robot, [body], time=time, start_qpos=robot.home, pins=pins)

stances = []
for sole in robot.soles:
    spans = [(0.0, LIFTED_S), (LANDED_S, 4.6)] if sole.side == "left" else [(0.0, 4.6)]
    stances += [sf.Stance(sole.link, a, b, "face", sole.polygon_l) for a, b in spans]
feet = sf.ContactSchedule(tuple(stances))
grip = sf.Stance(hand.link, 0.0, 4.6, "point", hand.point_l[None])  # normal up, on the rail
clip = sf.Clip(
    robot.motion(poses.qpos, time), feet, robot=robot.name, meta=Meta("a hand on a rail")
)
holding = replace(clip, contacts=sf.ContactSchedule((*stances, grip)))

alone, helped = sf.feasibility(clip, robot), sf.feasibility(holding, robot)
print(f"feet alone:      worst d {alone.upper.max() / alone.weight_n:+.3f} of the weight")
print(f"hand on a rail:  worst d {helped.upper.max() / helped.weight_n:+.3f} of the weight")
for segment in helped.segments():
    print(f"  {segment.start_s:.2f} to {segment.end_s:.2f} s: {segment.text}")
mended = adapt(holding, robot, method="warp")
print(mended.explain())
