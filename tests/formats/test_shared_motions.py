"""The real robot motions of seven tools: what they hold, and that they agree."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from make.robot_files import saved
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadFile
from surefoot.formats import doubts
from surefoot.formats.pickles import read_table
from surefoot.formats.registry import read
from surefoot.motion import rotation
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot


def _sentence(path: pathlib.Path, robot: Robot | None = None) -> str:
    with pytest.raises(BadFile) as raised:
        read(path, robot=robot)
    assert "\n" not in str(raised.value)
    return str(raised.value)


# real files


@pytest.fixture(scope="module")
def g1(shared: pathlib.Path) -> Robot:
    return load_robot(shared / "data" / "robots" / "g1" / "g1_bm_no_mesh_box_feet.xml")


@pytest.fixture(scope="module")
def folder(shared: pathlib.Path) -> pathlib.Path:
    return shared / "data" / "robot_motion"


@pytest.mark.shared
def test_shared_csv_and_npz_of_one_motion_agree(g1: Robot, folder: pathlib.Path) -> None:
    """4.4e-6: six decimals of the table and single precision of the archive (MANIFEST)."""
    table = read(folder / "unitree_csv" / "M_ShortMove14.csv", robot=g1, fps=60.0)
    arrays = read(folder / "mjlab_npz" / "M_ShortMove14.npz", robot=g1)
    assert isinstance(table, Clip)
    assert isinstance(arrays, Clip)
    a, b = table.motion, arrays.motion
    assert (a.n, b.n) == (393, 392)
    assert a.fps == pytest.approx(b.fps)
    assert np.abs(a.joint_pos[:392] - b.joint_pos).max() < 4.4e-6
    assert np.abs(a.root_pos[:392] - b.root_pos).max() < 4.4e-6
    turn = rotation.multiply(rotation.conjugate(a.root_quat[:392]), b.root_quat)
    assert np.linalg.norm(rotation.as_rotvec(turn), axis=1).max() < 4.4e-6
    assert [n.kind for n in arrays.notices] == ["assumption"]


@pytest.mark.shared
def test_shared_files_in_the_wrong_order_are_refused(g1: Robot, folder: pathlib.Path) -> None:
    walk = folder / "wxyz_csv" / "output_walk.csv"
    with pytest.raises(BadFile, match=r"not in the order xyzw.*Say --from wxyz-csv$"):
        read(walk, robot=g1)
    clip = read(walk, robot=g1, format="wxyz-csv")
    assert isinstance(clip, Clip)
    assert clip.motion.root_pos[-1, 0] - clip.motion.root_pos[0, 0] != 0.0
    with pytest.raises(BadFile, match=r"not in the order wxyz.*Say --from unitree-csv$"):
        read(folder / "unitree_csv" / "M_ShortMove14.csv", robot=g1, format="wxyz-csv")


@pytest.mark.shared
def test_the_shared_npz_agrees_with_kinematics_and_in_isaacs_order_is_refused(
    g1: Robot, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Notes on formats: 2e-7 m in the right order."""
    with np.load(folder / "mjlab_npz" / "M_ShortMove14.npz") as found:
        arrays = dict(found)
    order = doubts.breadth_first(g1)
    short = [g1.joint_names[j].removesuffix("_joint") for j in order[:7]]
    assert short == [
        "left_hip_pitch", "right_hip_pitch", "waist_yaw", "left_hip_roll", "right_hip_roll",
        "waist_roll", "left_hip_yaw",
    ]  # fmt: skip
    arrays["joint_pos"] = arrays["joint_pos"][:, order]
    path = saved(tmp_path / "x.npz", arrays)
    assert "in the breadth-first order of Isaac" in _sentence(path, g1)


@pytest.mark.shared
def test_the_start_of_a_shared_walk_is_said_to_jump(g1: Robot, folder: pathlib.Path) -> None:
    """MANIFEST: frame 0 is a start-up frame, the root 1.38 m away; kept as it is."""
    clip = read(folder / "gmr_pkl" / "0807_yanjie_walk_010.pkl", robot=g1)
    assert isinstance(clip, Clip)
    (said,) = [n for n in clip.notices if n.kind == "suspicious"]
    assert (said.part, said.value) == ("frame 0", pytest.approx(1.38, abs=0.005))
    assert clip.motion.n == 170
    assert clip.motion.fps == pytest.approx(29.877749)
    clean = read(folder / "gmr_pkl" / "0807_yanjie_walk_008.pkl", robot=g1)
    assert all(n.kind != "suspicious" for n in clean.notices)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "n"),
    [("single_foot_balance_level1", 218), ("squat_level1", 158), ("walk_level4", 134)],
)
def test_shared_files_of_asap_lack_their_wrists(
    name: str, n: int, g1: Robot, folder: pathlib.Path
) -> None:
    path = folder / "asap_pkl" / f"{name}.pkl"
    clip = read(path, robot=g1)
    assert isinstance(clip, Clip)
    assert (clip.motion.n, clip.motion.fps) == (n, pytest.approx(30.0))
    wrists = [name for name in g1.joint_names if "wrist" in name]
    assert len(wrists) == 6
    assert clip.notices[0].sentence.startswith("23 joint columns for the 29 joints of robot 'g1'")
    (inner,) = read_table(path.read_bytes(), name).values()
    assert isinstance(inner, dict)
    others = [g1.joint_names.index(name) for name in g1.joint_names if name not in wrists]
    assert np.array_equal(clip.motion.joint_pos[:, others], inner["dof"])
    assert all(not np.any(clip.motion.joint(name)) for name in wrists)


@pytest.mark.shared
def test_the_shared_file_of_holosoma_is_read_by_names(g1: Robot, folder: pathlib.Path) -> None:
    clip = read(folder / "holosoma_npz" / "sub3_largebox_003_mj.npz", robot=g1)
    assert isinstance(clip, Clip)
    assert (clip.motion.n, clip.motion.fps) == (325, pytest.approx(50.0))
    height = clip.motion.root_pos[:, 2]
    assert (height.min(), height.max()) == (
        pytest.approx(0.45, abs=0.01),
        pytest.approx(0.75, abs=0.01),
    )
    with np.load(folder / "holosoma_npz" / "sub3_largebox_003_mj.npz") as found:
        places = found["body_pos_w"][:, list(found["body_names"]).index("left_ankle_roll_link")]
    batch = Batch(g1, g1.qpos(clip.motion))
    foot = batch.link_pos_w[:, g1.link_id("left_ankle_roll_link")]
    assert (
        np.linalg.norm(foot - places, axis=1).max() < 0.0104
    )  # models differ by 10.3 mm (MANIFEST)
