"""The index of motions of other tools, against what an independent prototype measured of them."""

from __future__ import annotations

import pathlib
from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.contacts.detect import Options as Detection
from surefoot.contacts.detect import detect
from surefoot.index.index import Options, feasibility
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

pytestmark = [pytest.mark.shared, pytest.mark.slow]

# File, format, frames a second, feasible share in %, worst d / mg: the notes on feasibility,
# section 10, column "local 4 cm, 1.0"; g1 with box soles, friction 0.7, 200 Hz, no smoothing.
MOTIONS = [
    ("unitree_csv/M_ShortMove14.csv", None, 60.0, 50.0, 5.27),
    ("mjlab_npz/M_ShortMove14.npz", None, None, 49.8, 5.27),
    ("wxyz_csv/output_walk.csv", "wxyz-csv", 30.0, 13.8, 1.50),
    ("gmr_pkl/0807_yanjie_walk_008.pkl", None, None, 9.2, 5.59),
    ("gmr_pkl/0807_yanjie_walk_010.pkl", None, None, 16.2, 8.88),
    ("asap_pkl/single_foot_balance_level1.pkl", None, None, 43.8, 0.24),
    ("asap_pkl/squat_level1.pkl", None, None, 46.4, 0.51),
    ("asap_pkl/walk_level4.pkl", None, None, 44.1, 2.29),
    ("holosoma_npz/sub3_largebox_003_mj.npz", None, None, 55.8, 1.80),
]
# A corner is in contact if lower than 4 cm above the lowest within 0.25 s, and slower than 1 m/s.
LIKE_NOTES = Detection(
    height_m=(0.04, 0.04),
    speed_mps=(1.0, 1.0),
    tilt_deg=(91.0, 91.0),
    carry_mps=0.0,
    shortest_s=0.0,
    speed_window_s=0.0,
    rate_hz=200.0,
)
POINTS, RELATIVE = 2.0, 0.05


@pytest.fixture(scope="module")
def g1(shared: pathlib.Path) -> Robot:
    return sf.load_robot(shared / "data" / "robots" / "g1" / "g1_bm_no_mesh_box_feet.xml")


def _read(shared: pathlib.Path, g1: Robot, path: str, form: str | None, fps: float | None) -> Clip:
    file = shared / "data" / "robot_motion" / path
    clip = sf.read(file, robot=g1, fps=fps, format=form)
    assert isinstance(clip, Clip)
    if "walk_010" not in path:
        return clip
    m = clip.motion  # its first frame is the pose from which the recording started
    rest = replace(
        m,
        time=m.time[1:],
        root_pos=m.root_pos[1:],
        root_quat=m.root_quat[1:],
        joint_pos=m.joint_pos[1:],
    )
    return replace(clip, motion=rest)


@pytest.mark.parametrize(("path", "form", "fps", "share", "worst"), MOTIONS)
def test_share_and_worst_are_those_of_the_prototype(
    shared: pathlib.Path,
    g1: Robot,
    path: str,
    form: str | None,
    fps: float | None,
    share: float,
    worst: float,
) -> None:
    """At the even moments: the prototype did not judge both sides of contact changes."""
    clip = _read(shared, g1, path, form, fps)
    clip = replace(clip, contacts=detect(clip.motion, g1, options=LIKE_NOTES))
    found = feasibility(clip, g1, Options(friction=0.7))
    even = found.samples.side == 0
    assert 100.0 * float(found.feasible[even].mean()) == pytest.approx(share, abs=POINTS)
    assert float(found.upper[even].max()) / found.weight_n == pytest.approx(worst, rel=RELATIVE)
    assert np.all(found.lower <= found.upper)
