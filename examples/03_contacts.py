"""Which foot stands where and when, as found in a motion, and how to be stricter about it."""

from __future__ import annotations

import surefoot as sf
from surefoot.contacts.detect import Options, detect
from surefoot.samples import bundled

robot = sf.load_robot("human25")
clip = sf.retarget(bundled.load("sidestep"), robot)
for stance in clip.contacts.stances:
    print(f"{stance.link:12s} {stance.mode:5s} {stance.start:6.3f} s to {stance.end:6.3f} s")

strict = detect(clip.motion, robot, options=Options(speed_mps=(0.05, 0.10)))
print(f"{len(clip.contacts.stances)} stances by default, {len(strict.stances)} with a stricter eye")
