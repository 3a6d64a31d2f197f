"""Put the hands and feet of a robot where one wants them, over many frames in one call."""

from __future__ import annotations

import numpy as np

import surefoot as sf
from surefoot.dynamics.batch import Batch
from surefoot.kinematics import Pin, PointTarget, solve

robot = sf.load_robot("human25")
time = np.linspace(0.0, 2.0, 121)
home = Batch(robot, robot.home[None])

hand = robot.landmarks["left_wrist"]
start_w = home.points_w(hand.link, hand.point_l[None])[0, 0]
circle_w = start_w + 0.1 * np.stack(
    [np.sin(np.pi * time), 0.0 * time, 1.0 - np.cos(np.pi * time)], axis=1
)
targets = [PointTarget(hand.link, hand.point_l, circle_w, 5.0)]
pins = [
    Pin(
        sole.link,
        corner,
        np.repeat(corner_w[None], len(time), axis=0),
        np.ones(len(time), dtype=bool),
    )
    for sole in robot.soles
    for corner, corner_w in zip(
        sole.polygon_l[:3], home.points_w(sole.link, sole.polygon_l[:3])[0], strict=True
    )
]
solution = solve(robot, targets, time=time, start_qpos=robot.home, pins=pins)

reached_w = Batch(robot, solution.qpos).points_w(hand.link, hand.point_l[None])[:, 0]
print(
    f"the hand is {1000.0 * np.linalg.norm(reached_w - circle_w, axis=1).max():.2f} mm off at most"
)
print(f"the feet move by {1000.0 * solution.pin_error_m.max():.3f} mm at most")
