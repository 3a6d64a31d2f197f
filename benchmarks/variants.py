"""Clips that are late or hurried on purpose, and where the clips of the studies come from."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import surefoot as sf
from surefoot.adapters.adaptation import adapt
from surefoot.dynamics.batch import Batch
from surefoot.kinematics import OrientationTarget, PointTarget, solve
from surefoot.kinematics.options import Options
from surefoot.motion.curves import resample, resample_clip
from surefoot.motion.motion import Clip
from surefoot.motion.smoothing import smooth
from surefoot.robots.robot import Robot
from surefoot.samples import generator

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared"))) / "data"
FAMILIES = ("sidestep", "stairs-up", "stairs-down")
ROBOTS = {"human25": "human25", "g1": str(SHARED / "robots/g1/g1_bm_no_mesh_box_feet.xml"),
          "t1": str(SHARED / "robots/t1/t1.xml")}  # fmt: skip
LONGEST_S = 12.0  # of a clip in a study; longer ones are cut
FOLLOW_HZ = 50.0  # of clips that are made late: as dense as a robot's files
FOLLOW_SMOOTH_HZ = 6.0  # of the same: a leg that is stretched to its end bends with a jerk


@dataclass(frozen=True)
class Case:
    """One clip of a study, made where it is needed: values are cheap to send, clips are not."""

    robot: str
    source: str
    """`family NAME SEED`, `robot FILE`, or `human FILE`."""
    change: str = "none"
    """`none`, `warp`, `warp-optimal`, `late S`, `speed K`, `smooth HZ`."""


def load(case: Case) -> tuple[Clip, Robot]:
    """The clip of a case and its robot."""
    robot = sf.load_robot(ROBOTS[case.robot])
    clip = shortened(_source(case.source, robot))
    word, _, value = case.change.partition(" ")
    if word in ("warp", "warp-optimal"):
        clip = adapt(clip, robot, method=word).clip
    elif word == "late":
        clip = late(clip, robot, float(value))
    elif word == "speed":
        clip = hurried(clip, float(value))
    elif word == "smooth":
        clip = replace(clip, motion=smooth(clip.motion, float(value), clip.contacts)[0])
    return clip, robot


def _source(source: str, robot: Robot) -> Clip:
    kind, _, rest = source.partition(" ")
    if kind == "family":
        name, seed = rest.split()
        human = generator.make(name, seed=int(seed))
        return sf.retarget(human, robot, terrain=generator.terrain(name))
    path = SHARED / rest
    if kind == "human":
        human = sf.read(path)
        assert isinstance(human, sf.HumanClip)
        return sf.retarget(human, robot)
    fps = {".csv": 60.0 if "ShortMove" in path.name else 30.0}.get(path.suffix)
    form = "wxyz-csv" if "wxyz" in rest else None
    clip = sf.read(path, robot=robot, fps=fps, format=form)
    assert isinstance(clip, Clip)
    return clip


def shortened(clip: Clip) -> Clip:
    """The first seconds of a clip."""
    start, end = float(clip.motion.time[0]), float(clip.motion.time[-1])
    if end - start <= LONGEST_S:
        return clip
    time = clip.motion.time[clip.motion.time <= start + LONGEST_S]
    return resample_clip(clip, time)


def hurried(clip: Clip, k: float) -> Clip:
    """The same poses k times as fast."""
    start = float(clip.motion.time[0])

    def new(t: float) -> float:
        return start + (t - start) / k

    motion = replace(clip.motion, time=start + (clip.motion.time - start) / k)
    return replace(clip, motion=motion, contacts=clip.contacts.retimed(new), zmp_w=None, com_w=None)


def late(clip: Clip, robot: Robot, seconds: float) -> Clip:
    """Feet and contacts as they are, while the body follows so many seconds behind."""
    start, end = float(clip.motion.time[0]), float(clip.motion.time[-1])
    time = np.linspace(start, end, max(2, round((end - start) * FOLLOW_HZ) + 1))
    feet = [sole.link for sole in robot.soles if "toe" not in sole.link]
    now = Batch(robot, robot.qpos(resample(clip.motion, time)))
    behind = np.maximum(np.arange(len(time)) - round(seconds * FOLLOW_HZ), 0)
    before = np.array(now.qpos[behind])
    targets: list[PointTarget | OrientationTarget] = []
    for link in feet:
        k = robot.link_id(link)
        targets += [
            PointTarget(link, np.zeros(3), now.link_pos_w[:, k], 100.0),
            OrientationTarget(link, now.link_quat_w[:, k], 30.0),
        ]
    root = robot.link_id(robot.root_link)
    then = Batch(robot, before)
    targets += [
        PointTarget(robot.root_link, np.zeros(3), then.link_pos_w[:, root], 10.0),
        OrientationTarget(robot.root_link, then.link_quat_w[:, root], 10.0),
    ]
    found = solve(robot, targets, time=time, start_qpos=before, options=Options(
        start="fixed", posture_qpos=robot.home, posture_weight=1e-3))  # fmt: skip
    # joints that no foot hangs on keep to the body they belong to
    qpos = np.array(found.qpos)
    legs = _above(robot, feet)
    keep = robot.joint_qposadr[~np.isin(robot.joint_dofadr, legs)]
    qpos[:, keep] = before[:, keep]
    motion, _ = smooth(robot.motion(qpos, time), FOLLOW_SMOOTH_HZ, clip.contacts)
    return replace(clip, motion=motion, zmp_w=None, com_w=None)


def _above(robot: Robot, links: list[str]) -> np.ndarray:
    """Degrees of freedom between the root and some links."""
    model, found = robot.model, set()
    for link in links:
        body = robot.link_id(link)
        while body > 0:
            first = int(model.body_dofadr[body])
            found |= set(range(first, first + int(model.body_dofnum[body])))
            body = int(model.body_parentid[body])
    return np.array(sorted(found))


def robot_files() -> Iterator[str]:
    """The shared robot motions that can be read."""
    for folder in ("asap_pkl", "gmr_pkl", "holosoma_npz", "mjlab_npz", "unitree_csv", "wxyz_csv"):
        for path in sorted((SHARED / "robot_motion" / folder).iterdir()):
            yield f"robot robot_motion/{folder}/{path.name}"


def human_files() -> Iterator[str]:
    """The shared human clips."""
    for folder in ("cmu", "other"):
        for path in sorted((SHARED / "human" / folder).glob("*.bvh")):
            yield f"human human/{folder}/{path.name}"
