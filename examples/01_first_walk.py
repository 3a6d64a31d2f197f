"""A human clip on a robot, and whether its zero-moment point stays over its feet."""

from __future__ import annotations

import surefoot as sf
from surefoot.contacts.balance import balance
from surefoot.samples import bundled

robot = sf.load_robot("human25")
human = bundled.load("sidestep")  # or sf.read("walk.bvh")
clip = sf.retarget(human, robot)
found = balance(clip, robot)

print(f"{clip.motion.n} frames at {clip.motion.fps:.4g}/s, {len(clip.contacts.stances)} stances")
for key, value in found.summary().items():
    print(f"{key}: {value}")
sf.write(clip, "sidestep.npz")
sf.report([clip, found], "sidestep.html", robot=robot)
