"""The same call gives the same bytes: in another process, with another hash seed, two threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import surefoot as sf
from make.standing import only, stiff
from surefoot.contacts.balance import balance
from surefoot.motion.motion import Clip

WALK = """
import hashlib
import surefoot as sf
from surefoot.contacts.balance import balance
from surefoot.samples import bundled
robot = sf.load_robot("human25")
clip = sf.retarget(bundled.load("sidestep"), robot)
found = balance(clip, robot, threads=THREADS)
digest = hashlib.sha256()
for array in (clip.motion.root_pos, clip.motion.joint_pos, found.wrench_w, found.outside_m):
    digest.update(array.tobytes())
print(digest.hexdigest(), [(s.link, s.start) for s in clip.contacts.stances])
"""


def _walked(hash_seed: str, threads: int) -> str:
    code = WALK.replace("THREADS", str(threads))
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    return done.stdout


@pytest.mark.slow
def test_another_process_another_hash_seed_and_two_threads_change_no_bit() -> None:
    first = _walked("1", 1)
    assert len(first.split()[0]) == len(hashlib.sha256().hexdigest())
    assert _walked("2", 2) == first


@pytest.mark.slow
def test_memory_grows_with_the_samples_and_no_faster() -> None:
    """Peak of a balance, bytes a sample: twice the samples may cost twice the memory, not more."""
    import tracemalloc

    robot = sf.load_robot("human25")

    def peak(frames: int) -> float:
        time = np.arange(frames) / 200.0
        motion = stiff(robot, time, only(frames, 0, 0.02 * np.sin(time)))
        clip = Clip(motion, robot=robot.name)
        tracemalloc.start()
        balance(clip, robot)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / frames

    peak(400)
    assert peak(16_000) < 1.5 * peak(4_000)
