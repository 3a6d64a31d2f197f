"""The whole index of a clip: seconds, how they grow with samples, and where they go.

    python benchmarks/index.py [--runs 7]

The clip is the shared `sub3_largebox_003_mj`, looped to 10 s, on the shared g1 (SUREFOOT_SHARED,
default ../shared), else the bundled side step on human25. Reading the file and finding its contacts
are counted apart, as `surefoot index` does both.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import surefoot as sf
from surefoot.contacts.detect import detect
from surefoot.index.distance import Scales, signed_distances
from surefoot.index.index import Options
from surefoot.index.samples import sampled
from surefoot.motion.contact import ContactSchedule, Terrain
from surefoot.motion.motion import Clip, Motion
from surefoot.samples import bundled

ROOT = pathlib.Path(__file__).resolve().parent.parent
G1 = "data/robots/g1/g1_bm_no_mesh_box_feet.xml"
BOX = "data/robot_motion/holosoma_npz/sub3_largebox_003_mj.npz"
LENGTH_S = 10.0


def chosen() -> tuple[sf.Robot, Clip, str]:
    """The shared robot and clip where they are, else the bundled ones."""
    shared = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared")))
    if (shared / G1).is_file():
        robot = sf.load_robot(shared / G1)
        clip = sf.read(shared / BOX, robot=robot)
        assert isinstance(clip, Clip)
        return robot, clip, "sub3_largebox_003_mj on the shared g1"
    robot = sf.load_robot("human25")
    human = sf.read(bundled.path("sidestep"))
    assert isinstance(human, sf.HumanClip)
    return robot, sf.retarget(human, robot), "sidestep on human25 (no shared data here)"


def looped(clip: Clip, robot: sf.Robot, seconds: float) -> Clip:
    """The clip forwards and backwards again and again: no jump where it turns round."""
    motion = clip.motion
    step = motion.duration / (motion.n - 1)
    frames = round(seconds / step) + 1
    there = np.concatenate([np.arange(motion.n), np.arange(motion.n - 2, 0, -1)])
    rows = there[np.arange(frames) % len(there)]
    again = Motion(
        time=step * np.arange(frames),
        root_pos=motion.root_pos[rows],
        root_quat=motion.root_quat[rows],
        joint_names=motion.joint_names,
        joint_pos=motion.joint_pos[rows],
    )
    contacts = detect(again, robot, terrain=clip.terrain)
    return replace(clip, motion=again, contacts=contacts, zmp_w=None, com_w=None, extra={})


def medians(calls: dict[str, Callable[[], object]], runs: int) -> dict[str, tuple[float, float]]:
    """Median seconds and spread of every call, the calls taking turns."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - begin)
    return {n: (statistics.median(s), max(s) - min(s)) for n, s in seconds.items()}


def print_table(found: dict[str, tuple[float, float]], samples: dict[str, int]) -> None:
    """Rows of a Markdown table."""
    print("| what | samples | median s | spread s | µs a sample |")
    print("| --- | --- | --- | --- | --- |")
    for name, (median, spread) in found.items():
        n = samples[name]
        print(f"| {name} | {n} | {median:.3f} | {spread:.3f} | {1e6 * median / n:.1f} |")


def whole(robot: sf.Robot, clip: Clip, runs: int) -> None:
    """The verb with its options."""
    cases = {
        "200 Hz, μ 0.7": Options(friction=0.7),
        "200 Hz, μ 0.7, two threads": Options(friction=0.7, threads=2),
        "200 Hz, μ 0.7, bounds to 1e-6": Options(friction=0.7, tolerance=1e-6),
        "1 kHz, μ 0.7": Options(friction=0.7, rate_hz=1000.0),
        "200 Hz, μ 0.3": Options(friction=0.3),
        "1 kHz, μ 0.3": Options(friction=0.3, rate_hz=1000.0),
    }
    samples = {name: sf.feasibility(clip, robot, o).samples.n for name, o in cases.items()}
    calls = {name: lambda o=o: sf.feasibility(clip, robot, o) for name, o in cases.items()}
    print_table(medians(calls, runs), samples)


def parts(robot: sf.Robot, clip: Clip, runs: int) -> None:
    """Where the seconds go."""
    s = sampled(clip, robot, rate_hz=200.0, friction=0.7)
    calls: dict[str, Callable[[], object]] = {
        "contacts found": lambda: detect(clip.motion, robot),
        "sampled: curves, dynamics, cones": lambda: sampled(
            clip, robot, rate_hz=200.0, friction=0.7
        ),
        "d+ alone": lambda: signed_distances(
            s.cones, s.wrench, s.ref_w, scales=Scales(depth=False)
        ),
        "d+ and d−": lambda: signed_distances(s.cones, s.wrench, s.ref_w),
    }
    print_table(medians(calls, runs), dict.fromkeys(calls, s.n))


def growth(robot: sf.Robot, clip: Clip, runs: int) -> None:
    """Seconds and memory by length."""
    lengths = {f"{seconds:g} s": looped(clip, robot, seconds) for seconds in (1.0, 10.0, 100.0)}
    options = Options(friction=0.7)
    calls = {n: lambda c=c: sf.feasibility(c, robot, options) for n, c in lengths.items()}
    samples = {n: sf.feasibility(c, robot, options).samples.n for n, c in lengths.items()}
    print_table(medians(calls, max(3, runs // 2)), samples)
    for name, one in lengths.items():
        tracemalloc.start()
        kept = sf.feasibility(one, robot, options)
        now, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        n = kept.samples.n
        print(f"{name}: {now / n / 1e3:.1f} kB a sample kept, {peak / n / 1e3:.1f} kB at the peak")


def first_number() -> None:
    """From the start of a process to the first number, with a warm cache."""
    code = (
        "import surefoot as sf; from surefoot.samples import bundled; r = sf.load_robot('human25');"
        "c = sf.retarget(sf.read(bundled.path('sidestep')), r); print(sf.feasibility(c, r).d[0])"
    )
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        seconds.append(time.perf_counter() - begin)
    print(
        f"import to first number, person retargeted on the way: {statistics.median(seconds):.2f} s"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    robot, clip, name = chosen()
    flat = replace(clip, terrain=Terrain(), contacts=ContactSchedule())
    long = looped(flat, robot, LENGTH_S)
    print(f"{name}, {LENGTH_S:g} s\n")
    whole(robot, long, runs)
    print()
    parts(robot, long, runs)
    print()
    growth(robot, flat, runs)
    print()
    first_number()


if __name__ == "__main__":
    main()
