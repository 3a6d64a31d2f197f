"""Tables of robot motions: text in every variant that goes round, and written again."""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np
import pytest

from make.clips import robot_clip, uneven_time
from surefoot.errors import BadFile, BadMotion, BadOption
from surefoot.formats import unitree
from surefoot.formats.registry import FORMATS, describe, read, sniff, write
from surefoot.motion import rotation
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

ROW = "0.1,0,0.8,0,0,0,1,0.5,-0.5"


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("human25")


def _sentence(path: pathlib.Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadFile) as raised:
        unitree.read_with_facts(path)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        f"{ROW}\n{ROW}\n",
        f"{ROW}\n{ROW}",
        f"{ROW}\r\n{ROW}\r\n",
        f"{ROW}\r{ROW}\r",
        f"\ufeff{ROW}\n{ROW}\n",
        f"# made by something\n\n{ROW}\n  \n# more\n{ROW}\n\n",
        f"{ROW},\n{ROW},\n",
        f"{ROW},\r\n{ROW},",
        f"  {ROW.replace(',', ' , ')}\n{ROW}\t\n",
        f"{ROW.replace('0.1', '1e-1').replace('0.5', '.5')}\n{ROW}\n",
    ],
)
def test_variants_of_the_text_are_the_same_table(tmp_path: pathlib.Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode("utf-8"))
    assert sniff(path).format == "unitree-csv"
    record, facts = unitree.read_with_facts(path)
    assert record.n == 2
    assert record.root_pos[1].tolist() == [0.1, 0.0, 0.8]
    assert record.root_quat[0].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert record.joint_pos[1].tolist() == [0.5, -0.5]
    assert (record.fps, facts.quaternion, facts.has_contacts) == (None, "xyzw", False)


def test_the_other_order_is_the_same_numbers_read_otherwise(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("0,0,1,0.5,-0.1,0.7,0.5,0\n")
    x, y, z, w = np.array([0.5, -0.1, 0.7, 0.5])
    assert np.allclose(unitree.read_with_facts(path)[0].root_quat[0], [w, x, y, z], atol=1e-12)
    record, facts = unitree.read_wxyz(path)
    assert np.allclose(record.root_quat[0], [x, y, z, w], atol=1e-12)
    assert facts.quaternion == "wxyz"


def test_one_row_is_one_frame(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.csv").write_text(ROW)
    assert unitree.read_with_facts(tmp_path / "x.csv")[0].n == 1


def test_a_header_is_refused_with_its_line(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.csv"
    assert _sentence(path, f"# a\nFrame,root_translateX\n{ROW}\n") == (
        f"line 2: 'Frame' in column 1 is no number; line 3: expected 2 numbers, got 9 ({path})."
        " One row a frame: x, y, z, quaternion, joints; commas between, no header"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{ROW}\n{ROW},1\n", "line 2: expected 9 numbers, got 10"),
        (f"{ROW}\n\n0,0\n", "line 3: expected 9 numbers, got 2"),
        (ROW.replace(",", ";"), "line 1: numbers are separated by ';', expected ','"),
        ("0,1;0,2;0,8;0;0;0;1;0,5", "line 1: numbers are separated by ';', expected ','"),
        (ROW.replace(",", " "), "line 1: '0.1 0 0.8 0 0 0 1 0.5 -0.5' in column 1 is no number"),
        (f"{ROW}\n{ROW.replace('0.8', 'x')}\n", "line 2: 'x' in column 3 is no number"),
        (f"{ROW}\n{ROW.replace('0.8', '1_0')}\n", "line 2: '1_0' in column 3 is no number"),
        (f"{ROW}\n{ROW.replace('0.8', '')}\n", "line 2: '' in column 3 is no number"),
        (f"{ROW}\n{ROW.replace('0.8', 'nan')}\n", "the table holds nan at frame 1, column 2"),
        (f"{ROW}\n{ROW.replace('-0.5', '-inf')}\n", "the table holds -inf at frame 1, column 8"),
        ("0,0,1,0,0,0,1\n", "expected 7 columns of the root and those of the joints, got 7"),
        ("1\n2\n", "expected 7 columns of the root and those of the joints, got 1 columns"),
        (f"{ROW}\n0,0,1,0,0,0,0,0,0\n", "'columns 4 to 7' has norm 0 at frame 1, expected 1"),
        (f"{ROW}\n0,0,1,0,0,0,3,0,0\n", "'columns 4 to 7' has norm 3 at frame 1, expected 1"),
        ("# nothing\n", "0 frames, a motion needs at least one"),
        ("\n \n", "0 frames, a motion needs at least one"),
        (ROW.encode("utf-16"), "no text"),
        (b"\xff\xd8\xff" * 20, "line 1: '"),
    ],
)
def test_faulty_tables_are_refused_in_a_sentence(
    tmp_path: pathlib.Path, text: str | bytes, sentence: str
) -> None:
    assert sentence in _sentence(tmp_path / "x.csv", text)


def test_all_faulty_lines_are_said_together(tmp_path: pathlib.Path) -> None:
    said = _sentence(tmp_path / "x.csv", "\n".join([ROW, *["a"] * 14]))
    assert "line 2: 'a' in column 1 is no number; line 3:" in said
    assert "; and 4 more" in said


def test_a_quaternion_off_by_little_is_mended_and_said(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{ROW}\n{ROW.replace(',1,', ',0.9,')}\n")
    record = unitree.read_with_facts(path)[0]
    assert np.allclose(np.linalg.norm(record.root_quat, axis=1), 1.0)
    assert [n.sentence for n in record.notices] == [
        "quaternions were divided by their norms, off by up to 0.1"
    ]
    path.write_text(f"{ROW.replace(',1,', ',0.9999,')}\n")
    assert unitree.read_with_facts(path)[0].notices == ()


def test_signs_of_quaternions_are_made_continuous(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{ROW}\n{ROW.replace('0,0,0,1', '0,0,0,-1')}\n")
    assert unitree.read_with_facts(path)[0].root_quat.tolist() == [[1.0, 0, 0, 0]] * 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("HIERARCHY", "does not begin with a row of numbers"),
        ("a,b,c", "does not begin with a row of numbers"),
        ("1,2,3", "has 3 columns, too few for a root and joints"),
        ("1,2,3,4,5,6,7,8", "has no quaternion in columns 4 to 7 (norm 11.2)"),
        ("", "does not begin with a row of numbers"),
    ],
)
def test_other_texts_are_told_with_a_reason(text: str, why: str) -> None:
    assert unitree.sniff(text.encode()) == (False, why)
    assert unitree.sniff_wxyz(text.encode()) == (False, why)


def test_the_order_of_quaternions_is_never_guessed() -> None:
    assert unitree.sniff(ROW.encode()) == (
        True,
        "is a table of numbers: 7 of the root and 2 joints",
    )
    said = unitree.sniff_wxyz(ROW.encode())
    assert said == (False, "looks like unitree-csv, so it must be named with --from")


def test_a_written_table_is_read_again(tmp_path: pathlib.Path) -> None:
    """Nine decimals: positions and joints to half of 1e-9, a quaternion's norm likewise."""
    clip = robot_clip()
    path = tmp_path / "x.csv"
    write(clip, path)
    data = path.read_bytes()
    assert data.count(b"\n") == clip.motion.n
    assert b"\r" not in data
    assert b"-0.000000000" not in data
    record, _ = unitree.read_with_facts(path)
    assert np.abs(record.root_pos - clip.motion.root_pos).max() < 1e-9
    assert np.abs(record.joint_pos - clip.motion.joint_pos).max() < 1e-9
    expected = rotation.continuous(clip.motion.root_quat)
    assert np.abs(record.root_quat - expected).max() < 2e-9
    assert path.read_text().split("\n")[0].split(",")[3:7] == [
        f"{value:.9f}" for value in (*expected[0, 1:] + 0.0, expected[0, 0])
    ]
    write(clip, tmp_path / "y.csv", format="unitree")
    assert (tmp_path / "y.csv").read_bytes() == data


def test_frame_times_that_are_not_even_cannot_be_written(tmp_path: pathlib.Path) -> None:
    clip = robot_clip(uneven_time(30))
    with pytest.raises(BadMotion, match=r"frame times are not even, but a table has one rate"):
        write(clip, tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_formats_that_are_only_read_say_so(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadOption) as raised:
        write(robot_clip(), tmp_path / "x.csv", format="wxyz-csv")
    assert str(raised.value) == (
        f"wxyz-csv files are read, but not written ({tmp_path / 'x.csv'})."
        " Choose one of native (*.clip.npz), unitree-csv (*.csv)"
    )
    assert not FORMATS["gmr"].write


def standing(robot: Robot, n: int = 60, *, yaw: float = 0.4) -> Clip:
    """A robot in its home pose that turns and wanders about on the spot: H is 0."""
    t = np.arange(n) / 30.0
    qpos = np.tile(robot.home, (n, 1))
    qpos[:, 0] = 0.05 * np.sin(t)
    turn = np.zeros((n, 3))
    turn[:, 2] = 0.3 + yaw * np.sin(2.0 * t)
    qpos[:, 3:7] = rotation.from_rotvec(turn)
    return Clip(robot.motion(qpos, t), robot=robot.name)


def test_the_feet_confirm_the_order_of_quaternions(robot: Robot, tmp_path: pathlib.Path) -> None:
    write(standing(robot), tmp_path / "x.csv")
    clip = read(tmp_path / "x.csv", robot=robot)
    assert isinstance(clip, Clip)
    assert clip.robot == "human25"
    assert clip.motion.joint_names == robot.joint_names
    assert [n.kind for n in clip.notices] == ["assumption", "assumption"]
    assert clip.notices[0].sentence == (
        "the file holds no frame rate; 30 frames a second are assumed (--fps)"
    )
    assert np.abs(clip.motion.root_quat - standing(robot).motion.root_quat).max() < 2e-9


def test_the_wrong_order_is_refused_and_the_way_out_named(
    robot: Robot, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "x.csv"
    write(standing(robot), path)
    with pytest.raises(BadFile) as raised:
        read(path, robot=robot, format="wxyz-csv")
    said = str(raised.value)
    assert said.startswith("the quaternions are not in the order wxyz: sliding times height spread")
    assert said.endswith(f"({path}). Say --from unitree-csv")
    rows = np.loadtxt(path, delimiter=",")
    np.savetxt(path, rows[:, [0, 1, 2, 6, 3, 4, 5, *range(7, rows.shape[1])]], delimiter=",")
    with pytest.raises(BadFile, match=r"not in the order xyzw.*Say --from wxyz-csv"):
        read(path, robot=robot)
    clip = read(path, robot=robot, format="wxyz-csv")
    assert np.abs(clip.motion.root_quat - standing(robot).motion.root_quat).max() < 2e-9  # type: ignore[union-attr]


def test_a_robot_that_stands_still_leaves_the_order_undecided(
    robot: Robot, tmp_path: pathlib.Path
) -> None:
    still = standing(robot, yaw=0.0)
    motion = dataclasses.replace(still.motion, root_pos=np.zeros((60, 3)) + robot.home[:3])
    write(dataclasses.replace(still, motion=motion), tmp_path / "x.csv")
    clip = read(tmp_path / "x.csv", robot=robot)
    (said,) = [n.sentence for n in clip.notices if n.kind == "undecided"]
    assert said == (
        "the motion does not show whether its quaternions are xyzw, as they are read, or wxyz:"
        " sliding times height spread of the soles is 0 m²/s as xyzw and 0 m²/s as wxyz;"
        " --from wxyz-csv reads the other order"
    )


@pytest.mark.parametrize("fps", [60.0, 29.97])
def test_a_rate_that_is_given_is_used(robot: Robot, tmp_path: pathlib.Path, fps: float) -> None:
    write(standing(robot), tmp_path / "x.csv")
    clip = read(tmp_path / "x.csv", robot=robot, fps=fps)
    assert isinstance(clip, Clip)
    assert clip.motion.fps == pytest.approx(fps)
    assert all("frame rate" not in n.sentence for n in clip.notices)
    assert describe(tmp_path / "x.csv", fps=fps)["fps"] == fps


@pytest.mark.parametrize("fps", [0.0, -30.0, float("nan"), float("inf"), 2001.0])
def test_a_rate_out_of_range_is_refused(robot: Robot, tmp_path: pathlib.Path, fps: float) -> None:
    write(standing(robot), tmp_path / "x.csv")
    with pytest.raises(BadOption, match=r"expected 1 to 2000 frames a second, got .* \(--fps\)"):
        read(tmp_path / "x.csv", robot=robot, fps=fps)


def test_without_a_robot_a_table_is_described_but_not_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{ROW}\n" * 31)
    with pytest.raises(BadOption) as raised:
        read(path)
    assert str(raised.value) == (
        f"the file names no joints (2 columns), so that its robot must be given ({path})."
        " Say -r ROBOT, as in: -r path/to/g1.xml"
    )
    found = describe(path)
    assert (found["format"], found["kind"], found["quaternion"]) == ("unitree-csv", "robot", "xyzw")
    assert (found["frames"], found["fps"], found["duration_s"]) == (31, 30.0, 1.0)
    assert (found["joints"], found["robot"], found["contacts"]) == (2, "", None)
    notices = found["notices"]
    assert isinstance(notices, list)
    assert [n["kind"] for n in notices] == ["assumption", "unknown"]


def test_a_root_upside_down_is_said_without_a_robot(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{ROW.replace('0,0,0,1', '1,0,0,0')}\n" * 3)
    notices = describe(path)["notices"]
    assert isinstance(notices, list)
    assert notices[1]["sentence"] == (
        "with quaternions in the order xyzw the root is not upright in most frames (its z axis"
        " points up by -1.00); were they wxyz, say --from wxyz-csv"
    )


def test_the_number_of_columns_must_be_that_of_the_joints(
    robot: Robot, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{ROW}\n" * 3)
    with pytest.raises(BadFile) as raised:
        read(path, robot=robot)
    assert str(raised.value) == (
        f"expected 25 joint columns for robot 'human25', got 2 ({path})."
        " Give the robot whose joints these are"
    )


def test_centimetres_and_degrees_are_said(robot: Robot, tmp_path: pathlib.Path) -> None:
    clip = standing(robot)
    motion = clip.motion
    odd = dataclasses.replace(
        motion, root_pos=100.0 * motion.root_pos, joint_pos=np.degrees(motion.joint_pos)
    )
    write(dataclasses.replace(clip, motion=odd), tmp_path / "x.csv")
    with pytest.raises(BadFile):  # the soles are centimetres off as well: an order is not told
        read(tmp_path / "x.csv", robot=robot, format="wxyz-csv")
    said = [n for n in read(tmp_path / "x.csv", robot=robot).notices if n.kind == "suspicious"]
    assert [n.part for n in said] == ["root_pos", "left_hip_pitch"]
    assert said[0].sentence.startswith("the root is at a height of 89.68 m (median), 0.90 m when")
    assert "degrees, or another order of joints" in said[1].sentence


def test_a_jump_of_the_root_is_said_and_kept(robot: Robot, tmp_path: pathlib.Path) -> None:
    clip = standing(robot)
    pos = clip.motion.root_pos.copy()
    pos[0, 0] -= 1.0
    write(
        dataclasses.replace(clip, motion=dataclasses.replace(clip.motion, root_pos=pos)),
        tmp_path / "x.csv",
    )
    found = read(tmp_path / "x.csv", robot=robot)
    assert isinstance(found, Clip)
    (said,) = [n for n in found.notices if n.kind == "suspicious"]
    assert said.part == "frame 0"
    assert said.sentence == (
        "the root jumps by 1.00 m from frame 0 to frame 1, as the first frame of a solver that"
        " starts elsewhere does; the frames are kept as they are"
    )
    assert found.motion.root_pos[0, 0] == pytest.approx(pos[0, 0])
