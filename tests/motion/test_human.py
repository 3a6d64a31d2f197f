"""Skeletons, naming schemes, and the positions of a person's joints."""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from make.clips import NAMES, OFFSETS_CM, PARENTS, person
from surefoot.errors import BadMotion, UnknownSkeleton
from surefoot.formats import bvh
from surefoot.motion import rotation
from surefoot.motion.human import (
    CANONICAL_NAMES,
    HumanClip,
    Skeleton,
    find_scheme,
    has_t_pose_row,
    leaps,
    recognised,
    schemes,
    without_first_row,
)

CMU = (
    "Hips LHipJoint LeftUpLeg LeftLeg LeftFoot LeftToeBase RHipJoint RightUpLeg RightLeg RightFoot"
    " RightToeBase LowerBack Spine Spine1 Neck Neck1 Head LeftShoulder LeftArm LeftForeArm LeftHand"
    " LeftFingerBase LeftHandIndex1 LThumb RightShoulder RightArm RightForeArm RightHand"
    " RightFingerBase RightHandIndex1 RThumb"
)
XSENS = (
    "Hips Chest Chest2 Chest3 Chest4 Neck Head RightCollar RightShoulder RightElbow RightWrist"
    " LeftCollar LeftShoulder LeftElbow LeftWrist RightHip RightKnee RightAnkle RightToe LeftHip"
    " LeftKnee LeftAnkle LeftToe"
)
BANDAI = (
    "joint_Root Hips Spine Chest Neck Head Shoulder_L UpperArm_L LowerArm_L Hand_L Shoulder_R"
    " UpperArm_R LowerArm_R Hand_R UpperLeg_L LowerLeg_L Foot_L Toes_L UpperLeg_R LowerLeg_R"
    " Foot_R Toes_R"
)
MIXAMO = (
    "Hips Spine Spine1 Spine2 Neck Head LeftShoulder LeftArm LeftForeArm LeftHand RightShoulder"
    " RightArm RightForeArm RightHand LeftUpLeg LeftLeg LeftFoot LeftToeBase RightUpLeg RightLeg"
    " RightFoot RightToeBase"
)
ROKOKO = (
    "Hips Spine1 Spine2 Spine3 Spine4 Neck Head LeftShoulder LeftArm LeftForeArm LeftHand"
    " RightShoulder RightArm RightForeArm RightHand LeftThigh LeftShin LeftFoot LeftToe LeftToeTip"
    " RightThigh RightShin RightFoot RightToe RightToeTip"
)
RIGIFY = (
    "pelvis spine spine.001 neck face shoulder.L upper_arm.L forearm.L shoulder.R upper_arm.R"
    " forearm.R thigh.L shin.L foot.L thigh.R shin.R foot.R"
)
BIOVISION = (
    "Hips Chest Neck Head LeftCollar LeftUpArm LeftLowArm LeftHand RightCollar RightUpArm"
    " RightLowArm RightHand LeftHip LeftKnee LeftAnkle RightHip RightKnee RightAnkle"
)
SMPL = (
    "pelvis left_hip right_hip spine1 left_knee right_knee spine2 left_ankle right_ankle spine3"
    " left_foot right_foot neck left_collar right_collar head left_shoulder right_shoulder"
    " left_elbow right_elbow left_wrist right_wrist left_hand right_hand"
)


@pytest.mark.parametrize(
    ("names", "scheme", "chest", "left_shoulder", "left_toe"),
    [
        (CMU, "cmu", "Spine1", "LeftArm", "LeftToeBase"),
        (" ".join(NAMES), "lafan1", "Spine2", "LeftArm", "LeftToe"),
        (XSENS, "xsens", "Chest4", "LeftShoulder", "LeftToe"),
        (BANDAI, "bandai", "Chest", "UpperArm_L", "Toes_L"),
        (MIXAMO, "mixamo", "Spine2", "LeftArm", "LeftToeBase"),
        (ROKOKO, "rokoko", "Spine4", "LeftArm", "LeftToe"),
        (RIGIFY, "rigify", "spine.001", "upper_arm.L", None),
        (BIOVISION, "biovision", "Chest", "LeftUpArm", None),
        (SMPL, "smpl", "spine3", "left_shoulder", "left_foot"),
    ],
)
def test_each_family_is_told_by_all_its_names(
    names: str, scheme: str, chest: str, left_shoulder: str, left_toe: str | None
) -> None:
    """`LeftShoulder` is a clavicle in four families and the shoulder in Xsens."""
    words = tuple(names.split())
    found = find_scheme(words)
    assert found is not None
    assert found.name == scheme
    canonical = found.canonical(words)
    assert words[canonical["chest"]] == chest
    assert words[canonical["left_shoulder"]] == left_shoulder
    assert canonical.get("left_toe") == (words.index(left_toe) if left_toe else None)


def test_the_order_of_the_names_does_not_matter() -> None:
    words = tuple(CMU.split())
    found = find_scheme(words[::-1])
    assert found is not None
    assert found.name == "cmu"


def test_every_scheme_names_every_part_and_says_whose_it_is() -> None:
    assert len({scheme.name for scheme in schemes()}) == len(schemes()) >= 9
    for scheme in schemes():
        assert set(scheme.parts) == set(CANONICAL_NAMES), scheme.name
        assert scheme.about
        assert scheme.up in ("", "x", "y", "z")
        assert scheme.optional <= set(CANONICAL_NAMES)


def test_an_unknown_skeleton_is_told_the_nearest_family_and_what_is_missing() -> None:
    names = tuple("Foot" if name == "LeftFoot" else name for name in NAMES)
    with pytest.raises(UnknownSkeleton) as raised:
        recognised(names, PARENTS, OFFSETS_CM, where="x.bvh")
    sentence = str(raised.value)
    assert "the 22 joint names fit no known skeleton; nearest is 'lafan1'" in sentence
    assert "which also has left_ankle (LeftFoot) (x.bvh). Rename the joints" in sentence


def test_right_names_on_a_wrong_tree_are_refused() -> None:
    parents = list(PARENTS)
    parents[NAMES.index("LeftFoot")] = NAMES.index("Hips")
    with pytest.raises(UnknownSkeleton) as raised:
        recognised(NAMES, tuple(parents), OFFSETS_CM, where="x.bvh")
    assert str(raised.value) == (
        "the joint names are those of 'lafan1', but 'LeftFoot' does not hang below 'LeftLeg'"
        " (x.bvh)"
    )


@pytest.mark.parametrize(
    ("names", "parents", "sentence"),
    [
        (("a", "a"), (-1, 0), "joint 'a' is named twice (skeleton)"),
        (("a", "b"), (-1, 1), "the parent of joint 'b' must come before it, got 1 (skeleton)"),
        (("a", "b"), (0, 0), "the parent of joint 'a' must come before it, got 0 (skeleton)"),
        (("a", "b"), (-1,), "expected one parent for each joint, got 1 for 2 (skeleton)"),
    ],
)
def test_what_is_no_tree_is_refused(
    names: tuple[str, ...], parents: tuple[int, ...], sentence: str
) -> None:
    with pytest.raises(BadMotion) as raised:
        Skeleton(names, parents, np.zeros((2, 3)), "", {}, {})
    assert str(raised.value) == sentence


def test_bones_add_up_to_the_length_of_a_leg() -> None:
    skeleton = person().skeleton
    assert skeleton.leg_length == pytest.approx(0.85)
    assert skeleton.length("left_shoulder", "left_wrist") == pytest.approx(0.53)


def test_joints_stand_where_the_product_of_all_turns_puts_them() -> None:
    """Against scipy's rotations, frame by frame and joint by joint."""
    clip = person(6)
    for i in range(clip.n):
        turn: list[Rotation] = []
        place: list[np.ndarray] = []
        for j, parent in enumerate(PARENTS):
            own = Rotation.from_quat(clip.joint_quat[i, j], scalar_first=True)
            if parent < 0:
                turn.append(own)
                place.append(clip.root_pos[i])
            else:
                place.append(place[parent] + turn[parent].apply(np.array(clip.skeleton.offsets[j])))
                turn.append(turn[parent] * own)
        assert np.abs(clip.joint_pos_w[i] - place).max() < 1e-14
        matrices = rotation.as_matrix(clip.joint_quat_w[i])
        assert np.abs(matrices - [r.as_matrix() for r in turn]).max() < 1e-14


def test_positions_are_computed_once_and_locked() -> None:
    clip = person()
    assert clip.joint_pos_w is clip.joint_pos_w
    assert not clip.joint_pos_w.flags.writeable
    assert np.array_equal(clip.part_pos_w("pelvis"), clip.root_pos)
    assert np.array_equal(clip.part_quat_w("pelvis"), clip.joint_quat[:, 0])


def test_a_part_that_the_skeleton_lacks_is_said() -> None:
    with pytest.raises(UnknownSkeleton, match=r"no joint plays 'left_thumb' \(made\)"):
        person().part_pos_w("left_thumb")


def _with_first_row(clip: HumanClip, turn_deg: float) -> HumanClip:
    """The clip with the left arm of frame 0 turned further."""
    quat = clip.joint_quat.copy()
    arm = NAMES.index("LeftArm")
    more = rotation.from_rotvec(np.array([0.0, np.radians(turn_deg), 0.0]))
    quat[0, arm] = rotation.multiply(quat[1, arm], more)
    return dataclasses.replace(clip, joint_quat=quat)


def test_a_t_pose_row_is_told_by_the_jump_after_it() -> None:
    clip = person(60)
    assert not has_t_pose_row(clip)
    assert has_t_pose_row(_with_first_row(clip, 73.0))
    assert not has_t_pose_row(_with_first_row(clip, 39.0))


def test_a_quick_beginning_of_a_quick_clip_is_no_t_pose() -> None:
    """The jump must be ten times the usual step, too."""
    clip = person(60)
    turn = rotation.from_rotvec(np.radians(9.0 * np.arange(60))[:, None] * [1.0, 0.0, 0.0])
    quat = clip.joint_quat.copy()
    quat[:, NAMES.index("RightArm")] = turn
    assert not has_t_pose_row(_with_first_row(dataclasses.replace(clip, joint_quat=quat), 73.0))


def test_a_t_pose_in_the_middle_or_of_the_root_is_none() -> None:
    clip = person(60)
    quat = clip.joint_quat.copy()
    quat[0, 0] = rotation.multiply(quat[0, 0], rotation.from_rotvec(np.array([0.0, 0.0, 2.0])))
    assert not has_t_pose_row(dataclasses.replace(clip, joint_quat=quat))
    later = _with_first_row(clip, 73.0).joint_quat[::-1]
    assert not has_t_pose_row(dataclasses.replace(clip, joint_quat=later))


def test_dropping_the_first_row_begins_at_zero_and_says_so() -> None:
    clip = person(10)
    rest = without_first_row(clip)
    assert rest.time[0] == 0.0
    assert rest.fps == pytest.approx(clip.fps)
    assert np.array_equal(rest.joint_quat, clip.joint_quat[1:])
    assert rest.notices[-1].kind == "dropped"
    assert "T-pose" in rest.notices[-1].sentence
    with pytest.raises(BadMotion, match=r"0 frames are left without the first \(made\)"):
        without_first_row(person(1))


def test_a_joint_that_turns_round_in_one_frame_is_doubted() -> None:
    """Elbow by 90° and back: two steps. Toes do so in many recordings and are left out."""
    clip = person(n=40)
    assert leaps(clip) == ()
    turn = rotation.from_rotvec(np.array([np.pi / 2.0, 0.0, 0.0]))
    for part, found in (("left_elbow", 1), ("left_toe", 0)):
        quat = clip.joint_quat.copy()
        j = clip.skeleton.canonical[part]
        quat[20, j] = rotation.multiply(quat[20, j], turn)
        doubts = leaps(dataclasses.replace(clip, joint_quat=quat))
        assert len(doubts) == found
        if doubts:
            assert doubts[0].sentence.startswith("'left_elbow' turns by ")
            assert doubts[0].sentence.endswith("to the next: a fault of the file? (2 such steps)")


def test_a_root_that_runs_faster_than_people_is_doubted() -> None:
    clip = person(n=40)
    place = clip.root_pos.copy()
    place[25:] += np.array([3.0, 0.0, 0.0])
    doubts = leaps(dataclasses.replace(clip, root_pos=place))
    assert len(doubts) == 1
    assert "m/s from frame 24 to the next: a fault of the file? (1 such steps)" in (
        doubts[0].sentence
    )
    assert doubts[0].t0 == clip.time[24]


def test_the_glitch_of_a_recording_is_found_and_quick_movements_are_not(
    shared: pathlib.Path,
) -> None:
    """83_68 turns by 111° between frames 349 and 350 (the data's manifest); 22_14 swings arms."""
    folder = shared / "data/human/cmu"
    doubts = [n for n in bvh.read(folder / "83_68.bvh").notices if n.kind == "doubt"]
    assert [n.sentence for n in doubts] == [
        "'right_hip' turns by 111° from frame 349 to the next: a fault of the file? (1 such steps)"
    ]
    assert not [n for n in bvh.read(folder / "22_14.bvh").notices if n.kind == "doubt"]
