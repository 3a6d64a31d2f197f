"""What docs/samples.md says of recorded stairs, measured again; the same of generated ones.

The data used in this project was obtained from mocap.cs.cmu.edu. The database was created with
funding from NSF EIA-0196217.
"""

from __future__ import annotations

import itertools
import json
import pathlib

import numpy as np
import pytest
from scipy.signal import butter, filtfilt

from surefoot.formats import bvh
from surefoot.motion.human import HumanClip, without_first_row
from surefoot.samples import generator

pytestmark = pytest.mark.slow

CUTOFF_HZ = 4.0  # of the centre of mass before it is differentiated twice
FIGURES = ("swing", "step", "both", "com_lift", "zmp_lift", "com_land", "zmp_land")
# Clip and its frames with the T-pose row: 83_27 from the last step on the floor, 111_27 up, down.
UP = (("83_27", 440, 983), ("111_27", 190, 640))
DOWN = (("111_27", 870, 1330), ("83_09", 1, 451))
HEAVY = (("head", 0.0694), ("trunk", 0.4346))
LIMBS = (
    ("shoulder", "elbow", 0.0271, 0.5772), ("elbow", "wrist", 0.0223, 0.5774),
    ("hip", "knee", 0.1416, 0.4095), ("knee", "ankle", 0.0433, 0.4459),
    ("ankle", "toe", 0.0137, 0.4),
)  # fmt: skip

Rests = dict[str, list[tuple[int, int]]]


def mass_centre(clip: HumanClip) -> np.ndarray:
    """De Leva's masses at the joints, with nothing of the generator's own code."""

    def middle(part: str) -> np.ndarray:
        return 0.5 * (clip.part_pos_w(f"left_{part}") + clip.part_pos_w(f"right_{part}"))

    total = HEAVY[0][1] * clip.part_pos_w("head")
    total = total + HEAVY[1][1] * (0.5514 * middle("shoulder") + 0.4486 * middle("hip"))
    for side, (first, second, mass, share) in itertools.product(("left", "right"), LIMBS):
        a, b = clip.part_pos_w(f"{side}_{first}"), clip.part_pos_w(f"{side}_{second}")
        total = total + mass * (a + share * (b - a))
    return total


def steps_of(clip: HumanClip, rests: Rests) -> np.ndarray:
    """FIGURES of every swing between two rests, in order of lift-off; the last has no next one."""
    fps, found = clip.fps, []
    foot = {s: 0.5 * (clip.part_pos_w(f"{s}_ankle") + clip.part_pos_w(f"{s}_toe")) for s in rests}
    com = filtfilt(*butter(2, CUTOFF_HZ / (0.5 * fps)), mass_centre(clip), axis=0)
    acc = np.gradient(np.gradient(com, 1.0 / fps, axis=0), 1.0 / fps, axis=0)
    swings = sorted(
        (up, down, side)
        for side, spans in rests.items()
        for (_, up), (down, _) in itertools.pairwise(spans)
    )
    for i, (up, down, side) in enumerate(swings):
        other = "left" if side == "right" else "right"
        later = swings[i + 1][0] if i + 1 < len(swings) else down
        floor = clip.part_pos_w(f"{other}_toe")[up, 2]
        zmp = com - ((com[:, 2] - floor) / (9.81 + acc[:, 2]))[:, None] * acc
        shares = []
        for k, old, new in ((up, side, other), (down, other, side)):
            way = (foot[new][k] - foot[old][k]) * [1.0, 1.0, 0.0]
            shares += [(p[k] - foot[old][k]) @ way / (way @ way) for p in (com, zmp)]
        times = np.array([down - up, later - up, later - down]) / fps
        found.append([*times, *shares])
    return np.array(found)


def recorded(shared: pathlib.Path, parts: tuple[tuple[str, int, int], ...]) -> np.ndarray:
    """The steps of the recordings; times to the next lift-off only where there is one."""
    folder = shared / "data" / "human" / "cmu"
    marks = json.loads((folder / "measured.json").read_text("utf-8"))["clips"]
    found = []
    for name, first, last in parts:
        clip = without_first_row(bvh.read(folder / f"{name}.bvh"))
        still = marks[name]["toe_still"]
        rests: Rests = {
            side: [
                (r["from"] - 1, r["to"] - 1)
                for r in still[side]
                if r["to"] >= first and r["from"] <= last + 10
            ]
            for side in ("left", "right")
        }
        rows = steps_of(clip, rests)
        rows[-1, 1:3] = np.nan
        found.append(rows)
    return np.concatenate(found)


def generated(name: str) -> np.ndarray:
    found = []
    for seed in range(5):
        clip = generator.make(name, seed=seed, fps=120)
        told = generator.truth(name, seed=seed, speed_mps=0.25)
        rests: Rests = {
            side: [(int(a * 120.0), int(np.ceil(b * 120.0))) for a, b in spans]
            for side, spans in (("left", told.left_toe), ("right", told.right_toe))
        }
        rests = {s: [(a, min(b, clip.n - 1)) for a, b in spans] for s, spans in rests.items()}
        found.append(steps_of(clip, rests)[1:-1])
    return np.concatenate(found)


# Lowest and highest, as docs/samples.md has them.
RECORDED = {
    "stairs-up": {
        "swing": (0.633, 0.825),
        "step": (0.692, 0.983),
        "both": (0.058, 0.208),
        "com_lift": (0.380, 0.581),
        "zmp_lift": (0.338, 0.660),
        "com_land": (0.243, 0.394),
        "zmp_land": (0.151, 0.249),
    },
    "stairs-down": {
        "swing": (0.600, 0.783),
        "step": (0.808, 1.117),
        "both": (0.033, 0.383),
        "com_lift": (0.544, 0.764),
        "zmp_lift": (0.543, 0.865),
        "com_land": (0.357, 0.522),
        "zmp_land": (0.112, 0.551),
    },
}


@pytest.mark.shared
@pytest.mark.parametrize("name", ["stairs-up", "stairs-down"])
def test_recorded_stairs_have_the_quoted_figures(shared: pathlib.Path, name: str) -> None:
    rows = recorded(shared, UP if name == "stairs-up" else DOWN)
    for i, key in enumerate(FIGURES):
        low, high = RECORDED[name][key]
        assert np.nanmin(rows[:, i]) == pytest.approx(low, abs=0.006), key
        assert np.nanmax(rows[:, i]) == pytest.approx(high, abs=0.006), key


@pytest.mark.parametrize("name", ["stairs-up", "stairs-down"])
def test_generated_times_are_within_those_of_people(name: str) -> None:
    """Every step within the recorded spans, widened by a twelfth of a second."""
    rows = generated(name)
    for i, key in enumerate(("swing", "step", "both")):
        low, high = RECORDED[name][key]
        assert low - 0.08 < rows[:, i].min(), key
        assert rows[:, i].max() < high + 0.08, key


@pytest.mark.parametrize("name", ["stairs-up", "stairs-down"])
def test_weight_is_as_far_on_its_way_as_that_of_people(name: str) -> None:
    """At lift-off within the recorded spans, to 0.03; at landing less far than that of people.

    People fall onto the new foot; ours lands softly.
    """
    rows = generated(name)
    for i, key in enumerate(FIGURES):
        if key.endswith("_lift"):
            low, high = RECORDED[name][key]
            assert low - 0.03 < rows[:, i].min(), key
            assert rows[:, i].max() < high + 0.03, key
        if key == "com_land":
            assert 0.25 < rows[:, i].min() < rows[:, i].max() < 0.4
