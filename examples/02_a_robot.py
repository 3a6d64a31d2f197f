"""What surefoot knows about a robot: joints, limits, soles, landmarks, and what was repaired."""

from __future__ import annotations

import surefoot as sf

robot = sf.load_robot("human25")  # or a path to MJCF or URDF
print(f"{robot.name}: {robot.mass:.1f} kg, {robot.nv} degrees of freedom")
for name, low, high in zip(robot.joint_names, robot.joint_min, robot.joint_max, strict=True):
    print(f"  {name:24s} {low:7.3f} to {high:6.3f} rad")
for sole in robot.soles:
    print(f"  stands on {sole.link} ({sole.side}) with {len(sole.polygon_l)} corners")
for notice in robot.notices:
    print(f"  {notice.part}: {notice.sentence}")
