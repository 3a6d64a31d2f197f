"""Contact detection by its thresholds, on the shared robot motions and on retargeted people.

    python benchmarks/contacts.py

Robot motions have no truth. What can be counted without one: moments at which nothing stands
although the body does not fall (certainly wrong), and how often contacts change. People have the
marks of the shared data (`measured.json`: when each toe is still) and, for the bundled family, the
truth of the generator; a foot that stands on its heel counts there as a false stance.
"""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import replace

import numpy as np

import surefoot as sf
from surefoot.contacts.detect import Options, detect
from surefoot.motion.human import HumanClip
from surefoot.motion.motion import Clip, Motion
from surefoot.robots.robot import Robot
from surefoot.samples.generator import make, truth

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared"))) / "data"
ROBOT_FILES = (
    "unitree_csv/M_ShortMove14.csv", "wxyz_csv/output_walk.csv",
    "gmr_pkl/0807_yanjie_walk_008.pkl", "gmr_pkl/0807_yanjie_walk_010.pkl",
    "asap_pkl/single_foot_balance_level1.pkl", "asap_pkl/squat_level1.pkl",
    "asap_pkl/walk_level4.pkl", "holosoma_npz/sub3_largebox_003_mj.npz",
)  # fmt: skip
FPS = {"unitree_csv": 60.0, "wxyz_csv": 30.0}  # these files do not say it
PEOPLE = ("07_01", "111_27", "69_16", "69_70", "77_02", "83_55", "83_68", "90_32")  # level floor
SEEDS = range(4)
NOTES = Options(
    height_m=(0.04, 0.04),
    tilt_deg=(91.0, 91.0),
    speed_mps=(1.0, 1.0),
    carry_mps=0.0,
    shortest_s=0.0,
    speed_window_s=0.0,
    rate_hz=200.0,
)  # no hysteresis, no shortest time
SETTINGS = {
    "defaults": Options(),
    "plain rule, 4 cm, 1.0 m/s": NOTES,
    "height 1.5 and 3.5 cm": Options(height_m=(0.015, 0.035)),
    "height 3 and 5 cm": Options(height_m=(0.03, 0.05)),
    "height 5 and 7 cm": Options(height_m=(0.05, 0.07)),
    "tilt 8 and 12 deg": Options(tilt_deg=(8.0, 12.0)),
    "any tilt": Options(tilt_deg=(91.0, 91.0)),
    "speed 0.10 and 0.20 m/s": Options(speed_mps=(0.1, 0.2)),
    "speed 0.20 and 0.40 m/s": Options(speed_mps=(0.2, 0.4)),
    "speed 0.30 and 0.80 m/s": Options(speed_mps=(0.3, 0.8)),
    "nobody carries": Options(carry_mps=0.0),
    "carries up to 1 m/s": Options(carry_mps=1.0),
    "speed between frames": Options(speed_window_s=0.0),
    "speed over 0.1 s": Options(speed_window_s=0.1),
    "shortest 0": Options(shortest_s=0.0),
    "shortest 0.15 s": Options(shortest_s=0.15),
    "ground of the clip": Options(ground="clip"),
    "ground as the terrain": Options(ground="terrain"),
}


def standing(motion: Motion, robot: Robot, options: Options, side: str = "") -> np.ndarray:
    """Frames at which any sole, or one of a side, stands."""
    found = detect(motion, robot, options=options)
    links = [sole.link for sole in robot.soles if side in ("", sole.side)]
    return np.any([found.standing(link, motion.time) for link in links], axis=0)


def marked(name: str, motion: Motion) -> dict[str, np.ndarray]:
    """Frames at which the toe of each side is still, by the shared marks."""
    row = json.loads((DATA / "human/cmu/measured.json").read_text())["clips"][name]
    dropped = row["frames_in_file"] - motion.n
    flags = {}
    for side in ("left", "right"):
        flags[side] = np.zeros(motion.n, dtype=bool)
        for span in row["toe_still"][side]:
            flags[side][max(0, span["from"] - dropped) : span["to"] - dropped + 1] = True
    return flags


def rested(seed: int, time: np.ndarray) -> dict[str, np.ndarray]:
    """Frames at which heel or toe of each side rests, by the generator."""
    known = truth("sidestep", seed=seed)
    flags = {}
    for side in ("left", "right"):
        spans = (*getattr(known, f"{side}_heel"), *getattr(known, f"{side}_toe"))
        flags[side] = np.any([(time >= a) & (time <= b) for a, b in spans], axis=0)
    return flags


def scores(
    clips: list[tuple[Motion, dict[str, np.ndarray]]], robot: Robot, options: Options
) -> tuple[float, float, float]:
    """Precision and recall of standing by side and frame, and stances a second of one sole."""
    right = wrong = missed = 0
    changes, seconds = 0, 0.0
    for motion, meant in clips:
        changes += len(detect(motion, robot, options=options).stances)
        seconds += motion.duration * len(robot.soles)
        for side, flags in meant.items():
            found = standing(motion, robot, options, side)
            right += int(np.sum(found & flags))
            wrong += int(np.sum(found & ~flags))
            missed += int(np.sum(~found & flags))
    return right / (right + wrong), right / (right + missed), changes / seconds


def shaken(motion: Motion, size_m: float, seed: int) -> Motion:
    """The motion with noise: the root's place in m, joints by twice the number in rad."""
    rng = np.random.default_rng(seed)
    return replace(
        motion,
        root_pos=motion.root_pos + rng.normal(0.0, size_m, motion.root_pos.shape),
        joint_pos=motion.joint_pos + rng.normal(0.0, 2.0 * size_m, motion.joint_pos.shape),
    )


def robot_motions(robot: Robot) -> dict[str, Motion]:
    """The shared robot motions that can be read."""
    found = {}
    for name in ROBOT_FILES:
        path = DATA / "robot_motion" / name
        folder = path.parent.name
        format = "wxyz-csv" if folder == "wxyz_csv" else None  # its content does not tell it
        value = sf.read(path, robot=robot, fps=FPS.get(folder), format=format)
        assert isinstance(value, Clip)
        found[path.stem] = value.motion
    return found


def person(path: pathlib.Path, robot: Robot) -> Motion:
    """The shared person on the robot."""
    value = sf.read(path)
    assert isinstance(value, HumanClip)
    return sf.retarget(value, robot).motion


def main() -> None:
    """Print the tables."""
    robot = sf.load_robot(DATA / "robots/g1/g1_bm_no_mesh_box_feet.xml")
    small = sf.load_robot("human25")
    motions = robot_motions(robot)
    people = {name: person(DATA / f"human/cmu/{name}.bvh", robot) for name in PEOPLE}
    clips = [(motion, marked(name, motion)) for name, motion in people.items()]
    made = [sf.retarget(make("sidestep", seed=seed), small).motion for seed in SEEDS]
    steps = [(motion, rested(seed, motion.time)) for seed, motion in zip(SEEDS, made, strict=True)]
    print("| setting | nothing stands, % | stances a second | CMU precision, recall | ", end="")
    print("stances a second | sidestep precision, recall |\n| --- | --- | --- | --- | --- | --- |")
    for name, options in SETTINGS.items():
        nothing = [100.0 * np.mean(~standing(m, robot, options)) for m in motions.values()]
        count = [
            len(detect(m, robot, options=options).stances) / m.duration / 2.0
            for m in motions.values()
        ]
        cmu, side = scores(clips, robot, options), scores(steps, small, options)
        print(
            f"| {name} | {np.mean(nothing):.1f}, at most {np.max(nothing):.0f} |"
            f" {np.mean(count):.1f} | {cmu[0]:.3f}, {cmu[1]:.3f} | {cmu[2]:.1f} |"
            f" {side[0]:.3f}, {side[1]:.3f} |"
        )
    print("\n| robot motion | plain rule: nothing stands, % | defaults | ", end="")
    print("plain rule: stances a second | defaults |\n| --- | --- | --- | --- | --- |")
    for name, motion in motions.items():
        cells = []
        for options in (NOTES, Options()):
            cells.append(f"{100.0 * np.mean(~standing(motion, robot, options)):.0f}")
        for options in (NOTES, Options()):
            count = len(detect(motion, robot, options=options).stances) / motion.duration / 2.0
            cells.append(f"{count:.1f}")
        print(f"| {name} | {' | '.join(cells)} |")
    print("\n| noise, mm | speed between frames | over 0.05 s | over 0.1 s |")
    print("| --- | --- | --- | --- |")
    for size in (0.0, 0.001, 0.002, 0.004):
        cells = []
        for window in (0.0, 0.05, 0.1):
            noisy = [(shaken(m, size, i), flags) for i, (m, flags) in enumerate(clips)]
            got = scores(noisy, robot, Options(speed_window_s=window))
            cells.append(f"{got[0]:.3f}, {got[1]:.3f}, {got[2]:.1f}")
        print(f"| {1000.0 * size:g} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
