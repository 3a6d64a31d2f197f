"""What BVH files mean, against scipy's rotations and the figures of the shared data's manifest."""

from __future__ import annotations

import dataclasses
import pathlib
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from make.clips import NAMES, OFFSETS_CM, PARENTS, STANDING, angles_deg, bvh_text, person
from surefoot.errors import BadFile, BadInput, BadMotion, BadOption, UnknownSkeleton
from surefoot.formats import bvh
from surefoot.motion import rotation
from surefoot.motion.human import HumanClip, has_t_pose_row

TO_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def _read(tmp_path: pathlib.Path, text: str, **options: object) -> HumanClip:
    path = tmp_path / "x.bvh"
    path.write_bytes(text.encode("utf-8"))
    return bvh.read(path, **options)  # type: ignore[arg-type]


def _notice(clip: HumanClip, part: str) -> str:
    found = [notice.sentence for notice in clip.notices if notice.part == part]
    assert len(found) == 1, (part, clip.notices)
    return found[0]


def _rows(n: int, seed: int = 0) -> np.ndarray:
    place = np.array(STANDING) + np.arange(n)[:, None] * [1.0, 0.1, 2.0]
    return np.concatenate([place, angles_deg(n, seed=seed).reshape(n, -1)], axis=1)


@pytest.mark.parametrize("order", ["ZYX", "XYZ", "YXZ", "XZY", "ZXY", "YZX"])
def test_joints_stand_where_scipys_rotations_put_them(tmp_path: pathlib.Path, order: str) -> None:
    """R is the product of the channels from left to right, as the notes checked on real feet."""
    rows = _rows(4)
    clip = _read(tmp_path, bvh_text(rows, order=order))
    for row, found in zip(rows, clip.joint_pos_w, strict=True):
        turn: list[Rotation] = []
        place: list[np.ndarray] = []
        for j, parent in enumerate(PARENTS):
            own = Rotation.from_euler(order, row[3 + 3 * j : 6 + 3 * j], degrees=True)
            turn.append(own if parent < 0 else turn[parent] * own)
            start = row[:3] if parent < 0 else place[parent] + turn[parent].apply(OFFSETS_CM[j])
            place.append(start)
        assert np.abs(found - 0.01 * np.array(place) @ TO_Z_UP.T).max() < 1e-13


def test_at_rest_all_orientations_are_the_identity_and_z_is_up(tmp_path: pathlib.Path) -> None:
    clip = _read(tmp_path, bvh_text())
    assert np.array_equal(clip.joint_quat, np.tile([1.0, 0, 0, 0], (3, 22, 1)))
    assert clip.part_pos_w("head")[0] == pytest.approx([0.0, 0.0, 1.53])
    assert clip.part_pos_w("left_hip")[0] == pytest.approx([0.09, 0.0, 0.91])
    assert clip.part_pos_w("left_toe")[0] == pytest.approx([0.09, -0.13, 0.0])
    assert clip.skeleton.end_offsets[NAMES.index("Head")] == pytest.approx([0.0, -0.06, 0.0])


@pytest.mark.parametrize(
    ("unit", "name", "metre"),
    [
        (1.0, "cm", 0.01),
        (0.01, "m", 1.0),
        (10.0, "mm", 0.001),
        (0.3937, "inch", 0.0254),
        (0.17717, "cmu", 0.0254 / 0.45),
    ],
)
def test_the_unit_is_told_by_the_legs(
    tmp_path: pathlib.Path, unit: float, name: str, metre: float
) -> None:
    clip = _read(tmp_path, bvh_text(unit=unit))
    assert clip.skeleton.leg_length == pytest.approx(0.85, rel=1e-3)
    assert _notice(clip, "unit") == (
        f"the unit is taken to be {name} ({metre:.6g} m): the legs are then 0.850 m long"
    )


def test_legs_of_no_human_length_are_refused_unless_the_unit_is_given(
    tmp_path: pathlib.Path,
) -> None:
    text = bvh_text(unit=3.0)
    with pytest.raises(UnknownSkeleton) as raised:
        _read(tmp_path, text)
    sentence = str(raised.value)
    assert (
        "the unit cannot be told: legs of 255 units are 0.6 to 1.1 m long in none of m," in sentence
    )
    assert "unit_m=" in sentence
    assert _read(tmp_path, text, unit_m=0.004).skeleton.leg_length == pytest.approx(1.02)


def test_the_unit_and_the_axis_that_are_given_must_be_possible(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadOption, match="up must be x, y or z, got 'w'"):
        _read(tmp_path, bvh_text(), up="w")
    with pytest.raises(BadOption, match="unit_m must be a positive length in metres, got 0"):
        _read(tmp_path, bvh_text(), unit_m=0.0)


def test_the_family_says_which_axis_is_up(tmp_path: pathlib.Path) -> None:
    assert _notice(_read(tmp_path, bvh_text()), "up axis") == "y is up, as in files of 'lafan1'"


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_in_other_families_the_head_says_which_axis_is_up(
    tmp_path: pathlib.Path, axis: str
) -> None:
    """The toes renamed: a family with files of either kind. The person is turned by the root."""
    turn = {"y": (0.0, 0.0, 0.0), "x": (-90.0, 0.0, 0.0), "z": (0.0, 0.0, 90.0)}[axis]
    place = {"y": (0, 91, 0), "x": (91, 0, 0), "z": (0, 0, 91)}[axis]
    rows = np.tile(np.concatenate([place, turn, np.zeros(63)]), (3, 1))
    names = {"LeftToe": "LeftToeBase", "RightToe": "RightToeBase"}
    clip = _read(tmp_path, bvh_text(rows, names=names))
    assert f"{axis} is taken to be up: the head is 1.47 m along it" in _notice(clip, "up axis")
    assert clip.part_pos_w("head")[0] == pytest.approx([0.0, 0.0, 1.53])
    assert clip.part_pos_w("left_ankle")[0, 2] == pytest.approx(0.06)


def test_a_lying_person_of_such_a_family_is_asked_about(tmp_path: pathlib.Path) -> None:
    rows = np.tile(np.concatenate([(0, 10, 0), (0.0, 0.0, -45.0), np.zeros(63)]), (3, 1))
    text = bvh_text(rows, names={"LeftToe": "LeftToeBase", "RightToe": "RightToeBase"})
    with pytest.raises(BadFile, match=r"no axis points up: the way from ankles to head is.*up="):
        _read(tmp_path, text)
    assert _read(tmp_path, text, up="y").n == 3


@pytest.mark.parametrize(
    ("frame_time", "fps"),
    [
        (".0083333", 120.0),
        ("0.008333", 120.0),
        ("0.033333", 30.0),
        ("0.016667", 60.0),
        ("0.004167", 240.0),
        ("0.041667", 24.0),
        ("0.041708", 23.976),
        ("0.033367", 29.97),
    ],
)
def test_a_rounded_frame_time_is_put_onto_the_usual_rate(
    tmp_path: pathlib.Path, frame_time: str, fps: float
) -> None:
    clip = _read(tmp_path, bvh_text(frame_time=frame_time))
    assert clip.fps == pytest.approx(fps, rel=1e-12)
    assert _notice(clip, "Frame Time").endswith(f"is read as {fps:g} frames a second")


def test_an_odd_frame_time_is_kept(tmp_path: pathlib.Path) -> None:
    clip = _read(tmp_path, bvh_text(frame_time="0.0335"))
    assert clip.fps == pytest.approx(1.0 / 0.0335, rel=1e-12)
    assert not [notice for notice in clip.notices if notice.part == "Frame Time"]
    exact = _read(tmp_path, bvh_text(frame_time="0.02"))
    assert not [notice for notice in exact.notices if notice.part == "Frame Time"]


def test_position_channels_replace_the_offset(tmp_path: pathlib.Path) -> None:
    """Some files give the root an OFFSET that is not zero, and absolute positions."""
    text = bvh_text().replace("OFFSET 0 0 0", "OFFSET 11.27 35.42 -54.33", 1)
    clip = _read(tmp_path, text)
    assert clip.root_pos[0] == pytest.approx([0.0, 0.0, 0.91])


def test_an_offset_without_which_the_feet_hang_under_the_floor_is_added(
    tmp_path: pathlib.Path,
) -> None:
    text = bvh_text(np.zeros((3, 69))).replace("OFFSET 0 0 0", "OFFSET 0 91 0", 1)
    clip = _read(tmp_path, text)
    assert clip.root_pos[0] == pytest.approx([0.0, 0.0, 0.91])
    assert "without it the ankles are at -0.85 m" in _notice(clip, "root OFFSET")


def test_positions_of_an_inner_joint_give_its_median_place(tmp_path: pathlib.Path) -> None:
    six = "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation"
    text = bvh_text().replace(
        "OFFSET 9 0 0\n\t\tCHANNELS 3 Zrotation Yrotation Xrotation", f"OFFSET 5 0 0\n\t\t{six}"
    )
    rows = text.split("MOTION")[1].strip().split("\n")[2:]
    new = []
    for row, x in zip(rows, (9.0, 9.0, 10.7), strict=True):
        words = row.split()
        new.append(" ".join([*words[:6], str(x), "0", "0", *words[6:]]))
    clip = _read(tmp_path, text.split("0.033333")[0] + "0.033333\n" + "\n".join(new))
    assert clip.skeleton.offsets[1] == pytest.approx([0.09, 0.0, 0.0])
    assert _notice(clip, "LeftUpLeg") == (
        "joint 'LeftUpLeg' moves within its parent by up to 2.00 % of the leg's length;"
        " its median place is used"
    )


def test_joints_above_the_pelvis_give_it_their_motion(tmp_path: pathlib.Path) -> None:
    """Bandai-Namco: a root that stays, and hips with positions; here the root moves as well."""
    inner = bvh_text(_rows(3)).split("MOTION")
    body = inner[0].replace("HIERARCHY\n", "").replace("ROOT Hips", "JOINT Hips")
    head = (
        "HIERARCHY\nROOT Base\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition"
        " Zrotation Yrotation Xrotation\n"
    )
    lines = inner[1].strip().split("\n")
    rows = [f"100 0 0 0 90 0 {row}" for row in lines[2:]]
    whole = head + body + "}\nMOTION\n" + "\n".join(lines[:2] + rows) + "\n"
    clip, plain = _read(tmp_path, whole), _read(tmp_path, bvh_text(_rows(3)))
    # In the file 90 degrees about y and 1 m along x; with z up, about z and along x.
    turned = plain.joint_pos_w @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).T
    assert np.abs(clip.joint_pos_w - turned - [1.0, 0.0, 0.0]).max() < 1e-13
    assert clip.skeleton.joint_names == NAMES
    assert _notice(clip, "joints") == "joints above the pelvis dropped: 'Base'"


def test_a_t_pose_row_is_noticed_and_kept(tmp_path: pathlib.Path) -> None:
    rows = _rows(30)
    rows[0, 3:] = 0.0
    rows[0, 3 + 3 * NAMES.index("LeftArm")] = 120.0
    clip = _read(tmp_path, bvh_text(rows))
    assert clip.n == 30
    assert has_t_pose_row(clip)
    assert "T-pose" in _notice(clip, "frame 0")


@pytest.mark.parametrize("fps", [30.0, 29.850459, 120.0])
def test_a_written_clip_is_read_back_within_a_micrometre(
    tmp_path: pathlib.Path, fps: float
) -> None:
    clip = person(20, fps=fps)
    bvh.write(clip, tmp_path / "x.bvh")
    back = bvh.read(tmp_path / "x.bvh")
    assert back.skeleton.joint_names == clip.skeleton.joint_names
    assert back.skeleton.parents == clip.skeleton.parents
    assert np.abs(back.time - clip.time).max() < 1e-9
    assert np.abs(back.joint_pos_w - clip.joint_pos_w).max() < 1e-6
    aligned = np.abs(np.sum(back.joint_quat * clip.joint_quat, axis=-1))
    assert np.abs(aligned - 1.0).max() < 1e-12
    bvh.write(back, tmp_path / "y.bvh")
    again = bvh.read(tmp_path / "y.bvh")
    assert np.abs(again.joint_pos_w - back.joint_pos_w).max() < 1e-7


def test_a_quarter_turn_about_the_middle_axis_is_written_without_loss(
    tmp_path: pathlib.Path,
) -> None:
    """At ±90° about y only one sum of the other two angles counts; six decimals of a degree."""
    clip = person(9)
    quat = clip.joint_quat.copy()
    file_y = np.linspace(np.pi / 2 - 4e-8, np.pi / 2 + 4e-8, 9)
    angles = np.stack([np.full(9, 0.7), file_y, np.full(9, -1.1)], axis=1)
    own = rotation.from_euler("zyx", angles)
    quat[:, 16] = np.concatenate([own[:, :1], own[:, 1:] @ TO_Z_UP.T], axis=1)
    clip = dataclasses.replace(clip, joint_quat=quat)
    bvh.write(clip, tmp_path / "x.bvh")
    assert np.abs(bvh.read(tmp_path / "x.bvh").joint_pos_w - clip.joint_pos_w).max() < 1e-7


def test_uneven_frame_times_cannot_be_written(tmp_path: pathlib.Path) -> None:
    clip = dataclasses.replace(person(4), time=np.array([0.0, 0.1, 0.2, 0.5]))
    with pytest.raises(BadMotion, match=r"frame times are not even.*Resample the clip first"):
        bvh.write(clip, tmp_path / "x.bvh")
    assert list(tmp_path.iterdir()) == []


def test_a_single_frame_is_written_and_read(tmp_path: pathlib.Path) -> None:
    bvh.write(person(1), tmp_path / "x.bvh")
    assert bvh.read(tmp_path / "x.bvh").n == 1


def test_joints_are_written_depth_first(tmp_path: pathlib.Path) -> None:
    """A skeleton may list its joints in another order."""
    clip = person(5)
    order = sorted(range(22), key=lambda j: (_depth(j), j))
    new = {old: i for i, old in enumerate(order)}
    skeleton = dataclasses.replace(
        clip.skeleton,
        joint_names=tuple(NAMES[j] for j in order),
        parents=tuple(new.get(PARENTS[j], -1) for j in order),
        offsets=clip.skeleton.offsets[order],
        canonical={part: new[j] for part, j in clip.skeleton.canonical.items()},
        end_offsets={new[j]: end for j, end in clip.skeleton.end_offsets.items()},
    )
    shuffled = dataclasses.replace(clip, skeleton=skeleton, joint_quat=clip.joint_quat[:, order])
    bvh.write(shuffled, tmp_path / "x.bvh")
    back = bvh.read(tmp_path / "x.bvh")
    assert back.skeleton.joint_names == NAMES
    assert np.abs(back.joint_pos_w - clip.joint_pos_w).max() < 1e-6


def _depth(j: int) -> int:
    return 0 if j == 0 else 1 + _depth(PARENTS[j])


# Frames, frames a second, joints, family, whether frame 0 is a T-pose, unit, upward axis: from the
# manifest of the shared data, which was made with another reader.
MANIFEST = [
    ("cmu/83_55", 737, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/83_27", 984, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/83_09", 452, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/111_27", 1453, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/07_01", 317, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/90_32", 724, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/49_19", 958, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/113_29", 4319, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/140_08", 899, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/83_68", 661, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/77_02", 938, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/69_16", 1129, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/22_14", 708, 120, 31, "cmu", True, "cmu", "y"),
    ("cmu/69_70", 1045, 120, 31, "cmu", True, "cmu", "y"),
    ("other/AV_8Walk_Meredith_HVHA_Rep1", 1064, 120, 23, "mixamo", False, "inch", "y"),
    ("other/jl_motionMatching_tpose", 9, 60, 23, "xsens", True, "cm", "y"),
    ("other/003_genuine", 918, 24, 19, "rigify", False, "m", "y"),
    ("other/pybvh_test1", 75, 30, 24, "mixamo", False, "inch", "z"),
]


@pytest.mark.shared
@pytest.mark.parametrize("row", MANIFEST, ids=[str(row[0]) for row in MANIFEST])
def test_shared_clips_have_the_figures_of_the_manifest(
    shared: pathlib.Path, row: tuple[str, int, int, int, str, bool, str, str]
) -> None:
    path, frames, fps, joints, scheme, t_pose, unit, up = row
    clip, facts = bvh.read_with_facts(shared / "data" / "human" / f"{path}.bvh")
    assert clip.n == frames
    assert clip.fps == pytest.approx(fps)
    assert len(clip.skeleton.joint_names) == joints
    assert clip.skeleton.scheme == scheme
    assert has_t_pose_row(clip) is t_pose
    assert (facts.unit, facts.up_axis) == (unit, up)


@pytest.mark.shared
def test_shared_stairs_rise_as_the_manifest_measured(shared: pathlib.Path) -> None:
    """83_27, 0-based with the T-pose: treads of 0.126 m (left, 530-648) and 0.356 m (left, 740-).

    The notes found the same levels within 2.5 mm from both joints; the ankle alone within 10 mm.
    """
    clip = bvh.read(shared / "data" / "human" / "cmu" / "83_27.bvh")
    ankle = clip.part_pos_w("left_ankle")[:, 2]
    floor = np.percentile(ankle[1:500], 5)
    assert np.median(ankle[560:620]) - floor == pytest.approx(0.126, abs=0.02)
    assert np.median(ankle[800:]) - floor == pytest.approx(0.356, abs=0.02)


@pytest.mark.shared
def test_shared_root_offset_is_added_only_where_it_mends(shared: pathlib.Path) -> None:
    folder = shared / "data" / "human" / "other"
    added = bvh.read(folder / "003_genuine.bvh")
    assert "-0.67 m" in _notice(added, "root OFFSET")
    assert 0.0 < float(np.median(added.part_pos_w("left_ankle")[:, 2])) < 0.15
    kept = bvh.read(folder / "AV_8Walk_Meredith_HVHA_Rep1.bvh")
    assert not [notice for notice in kept.notices if notice.part == "root OFFSET"]


@pytest.mark.shared
def test_shared_clips_are_told_from_their_turned_selves(shared: pathlib.Path) -> None:
    """Reading the channels in reverse order makes the standing foot of 83_27 ten times faster."""
    clip = bvh.read(shared / "data" / "human" / "cmu" / "83_27.bvh")
    feet = [clip.part_pos_w(f"{side}_ankle")[1:] for side in ("left", "right")]
    speed = np.min([np.linalg.norm(np.diff(f, axis=0), axis=1) * 120.0 for f in feet], axis=0)
    assert np.median(speed) < 0.1


def test_reading_warns_of_nothing(tmp_path: pathlib.Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _read(tmp_path, bvh_text(_rows(20))).n == 20


@pytest.mark.slow
def test_damaged_files_are_read_or_refused_but_never_crash(tmp_path: pathlib.Path) -> None:
    """600 files with words swapped, dropped, doubled or replaced; seed 0. Warnings are errors."""
    rng = np.random.default_rng(0)
    text = bvh_text(_rows(3))
    foreign = [
        "{",
        "}",
        "MOTION",
        "JOINT x",
        "End Site",
        "-1",
        "1e9",
        "nan",
        "CHANNELS 6",
        "\x00",
        ":",
    ]
    refused = 0
    for _ in range(600):
        words = text.replace("\n", " \n ").split(" ")
        for _ in range(rng.integers(1, 4)):
            i, k = rng.integers(len(words) - 1, size=2)
            kind = rng.integers(4)
            if kind == 0:
                words[i], words[k] = words[k], words[i]
            elif kind == 1:
                del words[i]
            elif kind == 2:
                words.insert(i, words[k])
            else:
                words[i] = foreign[rng.integers(len(foreign))]
        try:
            assert np.all(np.isfinite(_read(tmp_path, " ".join(words)).joint_pos_w))
        except BadInput as error:
            refused += 1
            assert "x.bvh" in str(error)  # noqa: PT017  # either outcome is right
    assert 300 < refused < 600


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_texts_with_a_byte_order_mark_are_read(tmp_path: pathlib.Path, encoding: str) -> None:
    """Windows shells write UTF-16 when a file goes through them."""
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    data = mark + bvh_text().encode(encoding)
    (tmp_path / "x.bvh").write_bytes(data)
    assert bvh.sniff(data) == (True, "begins with HIERARCHY")
    assert np.array_equal(bvh.read(tmp_path / "x.bvh").time, _read(tmp_path, bvh_text()).time)
