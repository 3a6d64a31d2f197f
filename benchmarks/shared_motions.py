"""The index of the shared robot motions: by the settings of a reference table, and by default.

    python benchmarks/shared_motions.py

Reference: the feasible shares and worst values of the notes on feasibility, section 10, column
*local 4 cm, 1.0*, measured by a prototype of its own. Needs the shared data (SUREFOOT_SHARED,
default ../shared).
"""

from __future__ import annotations

import os
import pathlib
from dataclasses import replace

import numpy as np

import surefoot as sf
from surefoot.contacts.detect import Options as Detection
from surefoot.contacts.detect import detect
from surefoot.index.index import Options
from surefoot.motion.motion import Clip

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared"))) / "data"
G1 = "robots/g1/g1_bm_no_mesh_box_feet.xml"

# name: (file, format, frames a second, share in %, worst d / mg, share and worst at 6 Hz)
MOTIONS: dict[str, tuple[str, str | None, float | None, float, float, float, float]] = {
    "M_ShortMove14.csv": ("unitree_csv/M_ShortMove14.csv", None, 60.0, 50.0, 5.27, 76.2, 0.56),
    "M_ShortMove14.npz": ("mjlab_npz/M_ShortMove14.npz", None, None, 49.8, 5.27, 76.2, 0.56),
    "output_walk.csv": ("wxyz_csv/output_walk.csv", "wxyz-csv", 30.0, 13.8, 1.50, 30.5, 0.46),
    "0807_yanjie_walk_008.pkl": ("gmr_pkl/0807_yanjie_walk_008.pkl", None, None, 9.2, 5.59, 18.8,
                                 1.23),
    "0807_yanjie_walk_010.pkl": ("gmr_pkl/0807_yanjie_walk_010.pkl", None, None, 16.2, 8.88, 30.9,
                                 1.71),
    "single_foot_balance_level1.pkl": ("asap_pkl/single_foot_balance_level1.pkl", None, None, 43.8,
                                       0.24, 61.1, 0.12),
    "squat_level1.pkl": ("asap_pkl/squat_level1.pkl", None, None, 46.4, 0.51, 50.9, 0.09),
    "walk_level4.pkl": ("asap_pkl/walk_level4.pkl", None, None, 44.1, 2.29, 47.4, 1.51),
    "sub3_largebox_003_mj.npz": ("holosoma_npz/sub3_largebox_003_mj.npz", None, None, 55.8, 1.80,
                                 70.4, 0.05),
}  # fmt: skip
NOTES = Detection(
    height_m=(0.04, 0.04),
    speed_mps=(1.0, 1.0),
    tilt_deg=(91.0, 91.0),
    carry_mps=0.0,
    shortest_s=0.0,
    speed_window_s=0.0,
    rate_hz=200.0,
)


def without_first_frame(clip: Clip) -> Clip:
    """The clip from its second frame on: the reference dropped a start-up frame of one motion."""
    m = clip.motion
    return replace(
        clip,
        motion=replace(
            m,
            time=m.time[1:],
            root_pos=m.root_pos[1:],
            root_quat=m.root_quat[1:],
            joint_pos=m.joint_pos[1:],
        ),
    )


def cell(found: sf.Feasibility, which: np.ndarray) -> str:
    """Feasible share in % and worst d over the weight of some samples."""
    worst = float(found.upper[which].max()) / found.weight_n
    return f"{100 * float(found.feasible[which].mean()):.1f} / {worst:.2f}"


def main() -> None:
    """Print the table."""
    if not SHARED.is_dir():
        print("the shared data are not here: set SUREFOOT_SHARED")
        return
    robot = sf.load_robot(SHARED / G1)
    print(
        "| motion | reference | its settings, even moments | both sides of contact changes"
        " | defaults | defaults, 6 Hz |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for name, (path, form, fps, share, worst, *_) in MOTIONS.items():
        clip = sf.read(SHARED / "robot_motion" / path, robot=robot, fps=fps, format=form)
        assert isinstance(clip, Clip)
        if name == "0807_yanjie_walk_010.pkl":
            clip = without_first_frame(clip)
        like_notes = replace(clip, contacts=detect(clip.motion, robot, options=NOTES))
        default = replace(clip, contacts=detect(clip.motion, robot))
        cells = [f"{share:.1f} / {worst:.2f}"]
        for one, options in (
            (like_notes, Options(friction=0.7)),
            (default, Options(friction=0.7)),
            (default, Options(friction=0.7, smooth_hz=6.0)),
        ):
            found = sf.feasibility(one, robot, options)
            if one is like_notes:
                even = found.samples.side == 0
                cells.append(cell(found, even))
            cells.append(cell(found, np.ones_like(found.feasible)))
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
