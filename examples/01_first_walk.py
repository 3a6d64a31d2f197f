"""A human clip on a robot, and whether the robot can do it."""

from __future__ import annotations

import surefoot as sf
from surefoot.samples import bundled

robot = sf.load_robot("human25")
human = bundled.load("sidestep")  # or sf.read("walk.bvh")
clip = sf.retarget(human, robot)
index = sf.feasibility(clip, robot)

print(f"{clip.motion.n} frames at {clip.motion.fps:.4g}/s, {len(clip.contacts.stances)} stances")
print(f"feasible in {100 * index.feasible.mean():.1f} % of {index.samples.n} samples")
for segment in index.segments():
    print(f"{segment.start_s:6.3f} s to {segment.end_s:6.3f} s: {segment.text}")
sf.write(clip, "sidestep.npz")
sf.report([clip, index], "sidestep.html", robot=robot)
