"""What a motion, a frame and a clip refuse, and what they say about themselves."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from make.clips import robot_clip, robot_motion, uneven_time
from surefoot.errors import BadMotion
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import (
    Clip,
    Frame,
    Meta,
    Motion,
    Step,
    checked,
    checked_time,
    nominal_fps,
)


def _changed(**fields: object) -> Motion:
    return dataclasses.replace(robot_motion(), **fields)  # type: ignore[arg-type]


def test_arrays_of_a_motion_are_locked_copies() -> None:
    values = np.zeros((2, 1))
    motion = Motion(
        np.array([0.0, 0.1]), np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)), ("a",), values
    )
    values[0, 0] = 5.0
    assert motion.joint_pos[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        motion.joint_pos[0, 0] = 1.0


def test_length_and_rate_of_a_motion_are_those_of_its_frames() -> None:
    motion = robot_motion()
    assert (motion.n, motion.duration) == (60, pytest.approx(59 / 30))
    assert motion.fps == pytest.approx(30.0)
    assert robot_motion(np.array([3.0])).fps == 0.0
    assert nominal_fps(np.array([0.0, 0.1, 0.4])) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"time": np.full(60, 0.5)},
            "time must increase, but frame 1 is at 0.5 s after 0.5 s (motion)",
        ),
        (
            {"root_quat": np.tile([0.9, 0, 0, 0], (60, 1))},
            "root_quat must hold unit quaternions, its norm at (0,) is off by 0.1 (motion)",
        ),
        ({"joint_names": ("a", "b", "a")}, "joint 'a' is named twice (motion)"),
        (
            {"joint_pos": np.where(np.arange(60)[:, None] == 7, np.nan, np.zeros((60, 3)))},
            "joint_pos holds nan at (7, 0) (motion). remove or fill it first",
        ),
    ],
)
def test_what_is_no_motion_is_refused(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadMotion) as raised:
        _changed(**fields)
    assert str(raised.value) == sentence


def test_a_wrong_shape_is_said_with_the_one_that_was_expected() -> None:
    """Called as the constructors do; in tests their signatures would already refuse the array."""
    with pytest.raises(BadMotion) as raised:
        checked("root_quat", np.zeros((240, 3)), (240, 4), where="jump.npz")
    assert str(raised.value) == "expected root_quat (240, 4), got (240, 3) (jump.npz)"
    with pytest.raises(BadMotion, match=r"expected time \(n\), got \(\) \(here\)"):
        checked("time", 1.0, (-1,), where="here")


def test_complex_numbers_are_refused_before_they_lose_their_imaginary_part() -> None:
    with pytest.raises(BadMotion, match="root_pos is no array of numbers: got complex numbers"):
        checked("root_pos", np.zeros((2, 3)) + 1j, (-1, 3), where="here")


def test_motions_are_equal_when_their_content_is() -> None:
    """The comparison of dataclasses asked an array for one truth and failed."""
    assert robot_motion() == robot_motion()
    assert Clip(robot_motion(), extra={"note": np.arange(2)}) == Clip(
        robot_motion(), extra={"note": np.arange(2)}
    )
    moved = dataclasses.replace(robot_motion(), root_pos=robot_motion().root_pos + 1.0)
    assert moved != robot_motion()
    assert Clip(robot_motion()) != Clip(moved)
    assert robot_motion().frame(0) == robot_motion().frame(0)
    assert robot_motion() != "a motion"


def test_a_frame_refuses_what_is_no_pose() -> None:
    frame = robot_motion().frame(0)
    with pytest.raises(BadMotion, match=r"root_pos holds nan at \(0,\) \(frame at 0.0 s\)"):
        dataclasses.replace(frame, root_pos=np.full(3, np.nan))
    with pytest.raises(BadMotion, match="root_quat must hold unit quaternions"):
        dataclasses.replace(frame, root_quat=np.zeros(4))


def test_a_stance_on_a_surface_that_the_terrain_lacks_is_refused() -> None:
    stance = Stance("left_foot", 0.0, 0.1, "point", np.zeros((1, 3)), surface=1)
    with pytest.raises(BadMotion, match="is on surface 1, but the terrain has 1"):
        Clip(robot_motion(), contacts=ContactSchedule((stance,)))


def test_unknown_arrays_of_a_clip_are_locked_copies() -> None:
    note = np.arange(2)
    clip = Clip(robot_motion(), extra={"note": note})
    note[0] = 7
    assert clip.extra["note"].tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        clip.extra["note"][0] = 7


def test_a_motion_needs_a_frame() -> None:
    with pytest.raises(BadMotion) as raised:
        checked_time(np.zeros(0), where="empty.csv")
    assert str(raised.value) == "0 frames (empty.csv). a motion needs at least one"


def test_words_are_no_array_of_numbers() -> None:
    with pytest.raises(BadMotion, match=r"root_pos is no array of numbers: could not convert"):
        checked("root_pos", [["a", "b", "c"]], (-1, 3), where="here")


def test_a_joint_is_found_by_name_and_the_nearest_is_offered() -> None:
    motion = robot_motion()
    assert np.array_equal(motion.joint("waist"), motion.joint_pos[:, 2])
    with pytest.raises(BadMotion, match=r"joint 'left_kne' is not in the motion.*'left_knee'"):
        motion.joint("left_kne")


def test_a_frame_is_one_moment_and_locked() -> None:
    motion = robot_motion(uneven_time(5))
    frame = motion.frame(3)
    assert frame.t == motion.time[3]
    assert np.array_equal(frame.joint_pos, motion.joint_pos[3])
    own = Frame(0.0, np.zeros(3), np.array([1.0, 0, 0, 0]), (), np.zeros(0), com_w=np.ones(3))
    assert own.com_w is not None
    assert not own.com_w.flags.writeable


def test_references_of_a_clip_have_one_row_a_frame() -> None:
    with pytest.raises(BadMotion, match=r"expected zmp_w \(60, 3\), got \(2, 3\) \(clip\)"):
        Clip(robot_motion(), zmp_w=np.zeros((2, 3)))
    clip = robot_clip()
    assert clip.zmp_w is not None
    assert not clip.zmp_w.flags.writeable


def test_history_grows_by_one_step_and_leaves_the_old_one() -> None:
    meta = Meta("a.bvh")
    later = meta.then("smooth", cutoff_hz=6.0)
    assert later.history == (Step("smooth", {"cutoff_hz": 6.0}),)
    assert meta.history == ()
