"""Robot motions of other tools: npz and pickles, fitted to a robot."""

from __future__ import annotations

import dataclasses
import io
import pathlib
import pickle
from typing import Any

import numpy as np
import pytest

from surefoot.dynamics.batch import Batch
from surefoot.errors import BadFile, BadOption, UnknownFormat
from surefoot.formats import doubts
from surefoot.formats.fitting import columns_of
from surefoot.formats.pickles import read_table
from surefoot.formats.record import Record
from surefoot.formats.registry import describe, read, sniff
from surefoot.motion import rotation
from surefoot.motion.motion import Clip, Motion
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

N = 40
XYZW = [1, 2, 3, 0]


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("human25")


@pytest.fixture(scope="module")
def motion(robot: Robot) -> Motion:
    """A robot that stands, turns on the spot and waves its arms: its feet keep their height."""
    t = np.arange(N) / 50.0
    qpos = np.tile(robot.home, (N, 1))
    turn = np.zeros((N, 3))
    turn[:, 2] = 0.5 * np.sin(4.0 * t)
    qpos[:, 3:7] = rotation.from_rotvec(turn)
    arms = robot.joint_qposadr[[robot.joint_names.index(f"{s}_elbow") for s in ("left", "right")]]
    qpos[:, arms] += np.stack([-0.5 * t, -0.8 * t], axis=1)
    twist = robot.joint_qposadr[robot.joint_names.index("torso_yaw")]
    qpos[:, twist] += 0.4 * t
    return robot.motion(qpos, t)


def gmr(motion: Motion, **more: object) -> dict[str, object]:
    table = {
        "fps": np.float64(50.0),
        "root_pos": motion.root_pos,
        "root_rot": motion.root_quat[:, XYZW],
        "dof_pos": motion.joint_pos,
        "local_body_pos": None,
        "link_body_list": ["pelvis"],
    }
    return table | more


def asap(motion: Motion, robot: Robot, **more: object) -> dict[str, object]:
    axes = np.asarray(robot.model.jnt_axis)[robot.joint_ids]
    turns = np.zeros((motion.n, 1 + len(axes) + 3, 3))
    turns[:, 1:-3] = motion.joint_pos[:, :, None] * axes
    inner = {
        "root_trans_offset": motion.root_pos.astype(np.float32),
        "pose_aa": turns,
        "dof": np.asfortranarray(motion.joint_pos.astype(np.float32)),
        "root_rot": motion.root_quat[:, XYZW],
        "smpl_joints": np.zeros((motion.n, 24, 3), dtype=np.float32),
        "fps": 50,
    }
    return {"/home/somebody/\x1b[31mwalk": inner | more}


def mjlab(motion: Motion, robot: Robot, *, isaac: bool = False) -> dict[str, Any]:
    batch = Batch(robot, robot.qpos(motion))
    bodies, order = np.arange(1, robot.model.nbody), np.arange(len(robot.joint_names))
    if isaac:
        order = doubts.breadth_first(robot)
        parent = np.asarray(robot.model.body_parentid)
        depth = [0] * robot.model.nbody
        for b in range(1, robot.model.nbody):
            depth[b] = depth[parent[b]] + 1
        bodies = np.array(sorted(bodies, key=lambda b: depth[b]))
    return {
        "fps": np.array([50.0]),
        "joint_pos": motion.joint_pos[:, order].astype(np.float32),
        "joint_vel": np.full((motion.n, len(order)), np.nan),
        "body_pos_w": batch.link_pos_w[:, bodies].astype(np.float32),
        "body_quat_w": batch.link_quat_w[:, bodies],
        "body_lin_vel_w": np.full((motion.n, len(bodies), 3), np.inf),
    }


def holosoma(motion: Motion) -> dict[str, Any]:
    order = np.arange(len(motion.joint_names))[::-1]
    pose = [motion.root_pos, motion.root_quat, motion.joint_pos[:, order]]
    return {
        "fps": np.array([50]),
        "joint_pos": np.concatenate(pose, axis=1),
        "joint_vel": np.full((motion.n, 6 + len(order)), np.nan),
        "joint_names": np.array(motion.joint_names)[order],
        "body_names": np.array(["world", "pelvis"]),
    }


def saved(path: pathlib.Path, value: dict[str, Any]) -> pathlib.Path:
    if path.suffix == ".npz":
        np.savez(path, **value)
    else:
        path.write_bytes(pickle.dumps(value, 4))
    return path


@pytest.fixture
def files(motion: Motion, robot: Robot, tmp_path: pathlib.Path) -> dict[str, pathlib.Path]:
    """One file of each format under a name without meaning."""
    made = {
        "gmr": saved(tmp_path / "a.pkl", gmr(motion)),
        "asap": saved(tmp_path / "b.pkl", asap(motion, robot)),
        "mjlab": saved(tmp_path / "c.npz", mjlab(motion, robot)),
        "holosoma": saved(tmp_path / "d.npz", holosoma(motion)),
    }
    return {name: path.rename(tmp_path / f"file{k}") for k, (name, path) in enumerate(made.items())}


FORMATS = ("gmr", "asap", "mjlab", "holosoma")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_told_by_content_and_read(
    name: str, files: dict[str, pathlib.Path], robot: Robot, motion: Motion
) -> None:
    guess = sniff(files[name])
    assert (guess.format, guess.kind) == (name, "robot")
    clip = read(files[name], robot=robot)
    assert isinstance(clip, Clip)
    assert clip.robot == robot.name
    assert clip.motion.joint_names == robot.joint_names
    assert clip.motion.fps == pytest.approx(50.0)
    assert clip.motion.time[0] == 0.0
    # Single precision in some of the files: half a unit in its last place at 1 is 6e-8.
    assert np.abs(clip.motion.root_pos - motion.root_pos).max() < 1e-7
    assert np.abs(clip.motion.joint_pos - motion.joint_pos).max() < 1e-7
    assert np.abs(clip.motion.root_quat - motion.root_quat).max() < 1e-7
    assert [n.kind for n in clip.notices] == ["assumption"]
    assert clip.meta.source == files[name].name


def test_the_reasons_name_what_was_seen(files: dict[str, pathlib.Path]) -> None:
    why = {name: sniff(path).why for name, path in files.items()}
    assert why == {
        "gmr": "it is a pickle with fps, root_pos, root_rot and dof_pos",
        "asap": "it is a pickle with root_trans_offset and root_rot",
        "mjlab": "it is a zip archive with joint_pos, body_pos_w and body_quat_w, without"
        " joint_names",
        "holosoma": "it is a zip archive with the arrays joint_pos and joint_names",
    }


def test_packed_pickles_are_told_and_read(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    import zlib

    path = tmp_path / "x"
    path.write_bytes(zlib.compress(pickle.dumps(gmr(motion), 4), 3))
    guess = sniff(path)
    assert guess.why == ("it is a pickle, packed by zlib, with fps, root_pos, root_rot and dof_pos")
    assert read(path, robot=robot).motion.n == N  # type: ignore[union-attr]


@pytest.mark.parametrize("name", FORMATS)
def test_info_works_with_and_without_the_robot(
    name: str, files: dict[str, pathlib.Path], robot: Robot
) -> None:
    alone, fitted = describe(files[name]), describe(files[name], robot=robot)
    for found in (alone, fitted):
        assert (found["format"], found["frames"], found["fps"]) == (name, N, 50.0)
        assert (found["unit"], found["up_axis"], found["t_pose_first"]) == ("m", "z", False)
        assert (found["joints"], found["contacts"]) == (25, None)
    assert fitted["robot"] == robot.name
    assert alone["robot"] == ""
    assert fitted["quaternion"] == ("xyzw" if name in ("gmr", "asap") else "wxyz")
    parts = [n["part"] for n in alone["notices"]]  # type: ignore[attr-defined]
    assert parts == ([] if name == "holosoma" else ["joints"])


@pytest.mark.parametrize("name", ["gmr", "asap", "mjlab"])
def test_without_names_the_robot_must_be_given(name: str, files: dict[str, pathlib.Path]) -> None:
    with pytest.raises(BadOption, match=r"names no joints \(25 columns\), so that its robot must"):
        read(files[name])


def test_with_names_the_robot_may_be_missing(
    files: dict[str, pathlib.Path], motion: Motion
) -> None:
    clip = read(files["holosoma"])
    assert isinstance(clip, Clip)
    assert clip.robot == ""
    assert clip.motion.joint_names == motion.joint_names[::-1]
    assert clip.notices[-1].sentence == "the file carries no contacts; none are assumed"


@pytest.mark.parametrize("name", FORMATS)
def test_a_rate_is_refused_where_the_file_has_one(
    name: str, files: dict[str, pathlib.Path], robot: Robot
) -> None:
    with pytest.raises(BadOption, match=r"the frame rate is in the file, but 60 was given"):
        read(files[name], robot=robot, fps=60.0)


def _sentence(path: pathlib.Path, robot: Robot | None = None) -> str:
    with pytest.raises(BadFile) as raised:
        read(path, robot=robot)
    assert "\n" not in str(raised.value)
    return str(raised.value)


RATES = (0, -30, float("nan"), float("inf"), 2001, np.float64(0.5), np.array([0.0]))


@pytest.mark.parametrize("fps", RATES)
def test_rates_out_of_range_are_refused(
    fps: object, motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    said = _sentence(saved(tmp_path / "x.pkl", gmr(motion, fps=fps)), robot)
    assert said.startswith("'fps' must be 1 to 2000 frames a second, got ")
    table = mjlab(motion, robot) | {"fps": np.asarray(fps)}
    assert "'fps' must be 1 to 2000" in _sentence(saved(tmp_path / "x.npz", table), robot)


@pytest.mark.parametrize("fps", [30, 29.85, np.float64(50), np.int64(50), np.array([50.0])])
def test_rates_of_any_number_type_are_read(
    fps: object, motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    clip = read(saved(tmp_path / "x.pkl", gmr(motion, fps=fps)), robot=robot)
    assert clip.motion.fps == pytest.approx(float(np.asarray(fps).reshape(())))  # type: ignore[union-attr]


def _nan(array: np.ndarray, *place: int) -> np.ndarray:
    out = np.array(array, dtype=np.float64)
    out[place] = np.nan
    return out


def test_numbers_that_are_none_are_named_by_frame_and_column(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    table = gmr(motion, dof_pos=_nan(motion.joint_pos, 3, 7), root_pos=_nan(motion.root_pos, 1, 2))
    path = saved(tmp_path / "x.pkl", table)
    assert _sentence(path, robot) == (
        "'root_pos' holds nan at frame 1, column 2; 'dof_pos' holds nan at frame 3, column 7"
        f" ({path}). docs/formats.md has every key"
    )
    made = mjlab(motion, robot)
    made["body_pos_w"] = _nan(made["body_pos_w"], 5, 2, 1)
    said = _sentence(saved(tmp_path / "x.npz", made), robot)
    assert "'body_pos_w' holds nan at frame 5, column 7" in said


def test_all_faults_of_a_file_are_said_together(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    table = gmr(motion, root_pos=np.zeros((N, 2)), fps=0)
    del table["dof_pos"]
    path = saved(tmp_path / "x.pkl", table)
    assert _sentence(path, robot) == (
        "'fps' must be 1 to 2000 frames a second, got 0; expected 'root_pos' as numbers (any, 3),"
        f" got <f8 ({N}, 2); no array 'dof_pos' ({path}). docs/formats.md has every key"
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"root_rot": np.zeros((N, 4))}, "'root_rot' has norm 0 at frame 0, expected 1"),
        ({"root_rot": np.full((N, 4), 2.0)}, "'root_rot' has norm 4 at frame 0, expected 1"),
        ({"root_rot": np.ones((N - 1, 4))}, "different numbers of frames: 'root_pos' 40, 'root_r"),
        ({"dof_pos": np.zeros(N)}, "expected 'dof_pos' as numbers (any, any), got <f8 (40,)"),
        ({"dof_pos": np.full((N, 25), "a")}, "expected 'dof_pos' as numbers (any, any), got <U1"),
        ({"fps": "30"}, "no array 'fps'"),
        ({"fps": np.zeros(2)}, "expected 'fps' as a number (), got <f8 (2,)"),
        (
            {
                "root_pos": np.zeros((0, 3)),
                "root_rot": np.zeros((0, 4)),
                "dof_pos": np.ones((0, 9)),
            },
            "0 frames, a motion needs at least one",
        ),
    ],
)
def test_faulty_fields_are_refused_in_a_sentence(
    change: dict[str, object], sentence: str, motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    assert sentence in _sentence(saved(tmp_path / "x.pkl", gmr(motion, **change)), robot)


def test_a_single_frame_is_read_without_contacts(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    one = {k: v[:1] for k, v in gmr(motion).items() if isinstance(v, np.ndarray) and v.ndim}
    clip = read(saved(tmp_path / "x.pkl", gmr(motion, **one)), robot=robot)
    assert clip.motion.n == 1  # type: ignore[union-attr]
    assert clip.notices[-1].sentence == "a single frame shows no contacts; none are assumed"


def test_a_pickle_that_would_run_something_is_refused_by_name(tmp_path: pathlib.Path) -> None:
    import os

    class Runs:
        def __reduce__(self) -> tuple[object, ...]:
            return os.system, (f"touch {tmp_path / 'ran'}",)

    path = saved(tmp_path / "x.pkl", {"a": Runs()})
    assert _sentence(path) == (
        f"a pickle that asks for '{os.system.__module__}.system', which is not on the allow-list"
        f" ({path})"
    )
    assert not (tmp_path / "ran").exists()


def test_several_motions_in_a_file_are_refused(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    (inner,) = asap(motion, robot).values()
    path = saved(tmp_path / "x.pkl", {"a": inner, "b": inner})
    assert _sentence(path, robot) == (
        f"expected one motion, got 2 ({path}). Write each motion to a file of its own"
    )
    assert isinstance(inner, dict)
    assert read(saved(path, inner), robot=robot).motion.n == N  # type: ignore[union-attr]


def test_joints_of_asap_are_found_in_its_rotation_vectors(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    """`dof` may be missing where `pose_aa` has ASAP's 27 rows; 23 columns do not fit 25 joints."""
    (inner,) = asap(motion, robot).values()
    assert isinstance(inner, dict)
    turns = inner["pose_aa"][:, :27]
    del inner["dof"]
    found = describe(saved(tmp_path / "x.pkl", {"a": inner | {"pose_aa": turns}}))
    assert found["joints"] == 23
    assert "no array 'dof'" in _sentence(saved(tmp_path / "x.pkl", {"a": inner}), robot)


def test_columns_that_turn_about_other_axes_are_refused(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    (inner,) = asap(motion, robot).values()
    assert isinstance(inner, dict)
    swapped = [*range(14), 16, 15, 14, *range(17, 25)]  # the trunk's yaw and pitch
    turns = inner["pose_aa"].copy()
    turns[:, 1:26] = turns[:, [1 + j for j in swapped]]
    wrong = inner | {"dof": inner["dof"][:, swapped], "pose_aa": turns}
    said = _sentence(saved(tmp_path / "x.pkl", {"a": wrong}), robot)
    assert "joint columns turn about other axes than the joints of robot 'human25'" in said


# joints without names


def _columns(names: tuple[str, ...], got: int, robot: Robot) -> tuple[list[int], list[str]]:
    record = Record("x", 30.0, np.zeros((2, 3)), np.zeros((2, 4)), np.zeros((2, got)), "xyzw")
    columns, said = columns_of(record, dataclasses.replace(robot, joint_names=names), "x.csv")
    return columns.tolist(), [n.sentence for n in said]


ARM = ("shoulder", "elbow", "wrist_roll", "wrist_yaw")
NAMES = ("hip", "waist", *(f"left_{j}" for j in ARM), *(f"right_{j}" for j in ARM))


def test_missing_wrists_stay_at_zero_and_are_named(robot: Robot) -> None:
    columns, (said,) = _columns(NAMES, 6, robot)
    assert columns == [0, 1, 2, 3, -1, -1, 4, 5, -1, -1]
    assert said == (
        "6 joint columns for the 10 joints of robot 'human25': the wrists are taken to be missing"
        " and stay at 0 (left_wrist_roll, left_wrist_yaw, right_wrist_roll, right_wrist_yaw); if"
        " others are missing, give the robot without them"
    )


def test_missing_groups_may_come_together(robot: Robot) -> None:
    names = (*NAMES, "left_thumb", "right_thumb", "head_yaw")
    assert _columns(names, 11, robot)[0] == [*range(10), -1, -1, 10]
    assert _columns(names, 6, robot)[0] == [0, 1, 2, 3, -1, -1, 4, 5, -1, -1, -1, -1, -1]


def test_a_choice_of_groups_that_is_ambiguous_is_refused(robot: Robot) -> None:
    names = (*NAMES, *(f"finger{k}" for k in range(4)))
    with pytest.raises(BadFile) as raised:
        _columns(names, 10, robot)
    assert str(raised.value) == (
        "expected 14 joint columns for robot 'human25', got 10; it may lack the wrists or the"
        " hands (x.csv). Give the robot whose joints these are"
    )
    for got in (1, 9, 13, 15):
        with pytest.raises(BadFile, match=f"expected 14 joint columns .*, got {got} "):
            _columns(names, got, robot)


def test_names_that_the_robot_has_not_are_refused_with_the_nearest(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    table = holosoma(motion)
    table["joint_names"] = np.array(
        [name.replace("left_knee", "left_kne") for name in table["joint_names"]]
    )
    said = _sentence(saved(tmp_path / "x.npz", table), robot)
    assert said.startswith("joint 'left_kne' is not in robot 'human25'. Did you mean 'left_knee'")
    table["joint_names"][0] = table["joint_names"][1]
    said = _sentence(saved(tmp_path / "x.npz", table), robot)
    assert said.startswith(f"joint '{table['joint_names'][1]}' is named twice")
    short = holosoma(motion)
    short["joint_names"] = short["joint_names"][1:]
    short["joint_pos"] = np.delete(short["joint_pos"], 7, axis=1)
    said = _sentence(saved(tmp_path / "x.npz", short), robot)
    assert said.startswith("joint 'right_elbow' of robot 'human25' is missing")


# the order of joints


def test_a_file_in_the_order_of_isaac_is_refused(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    path = saved(tmp_path / "x.npz", mjlab(motion, robot, isaac=True))
    said = _sentence(path, robot)
    assert said.startswith(
        "joints and bodies are in the breadth-first order of Isaac, as BeyondMimic writes them:"
        " bodies lie 0.000 m from the robot's links so, "
    )
    assert said.endswith(f"in the order of the model ({path}). That format is not read yet")
    notices = describe(path)["notices"]
    assert isinstance(notices, list)
    assert "seem to be in the breadth-first order of Isaac" in notices[0]["sentence"]
    with pytest.raises(BadFile):
        describe(path, robot=robot)


def test_bodies_of_another_robot_are_refused(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    table = mjlab(motion, robot)
    root = table["body_pos_w"][:, :1]
    table["body_pos_w"] = root + 0.5 * (table["body_pos_w"] - root)
    said = _sentence(saved(tmp_path / "x.npz", table), robot)
    assert "m (median) from the links of robot 'human25', at most 0.05 m are expected" in said


def test_a_robot_that_keeps_still_hides_the_order_of_its_joints(
    robot: Robot, tmp_path: pathlib.Path
) -> None:
    """All joints at zero: both orders are right."""
    qpos = np.tile(robot.home, (5, 1))
    qpos[:, 7:] = 0.0
    still = robot.motion(qpos, np.arange(5) / 50.0)
    table = mjlab(still, robot, isaac=True)
    assert read(saved(tmp_path / "x.npz", table), robot=robot).motion.n == 5  # type: ignore[union-attr]


def test_a_fixed_order_of_quaternions_that_the_feet_contradict_is_said(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    clip = read(saved(tmp_path / "x.pkl", gmr(motion, root_rot=motion.root_quat)), robot=robot)
    said = [n.sentence for n in clip.notices if n.kind == "suspicious"]
    assert any(s.startswith("the quaternions do not look like xyzw: sliding times") for s in said)


# archives


def test_hostile_archives_are_refused_before_memory_is_asked_for(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "x.npz"
    table = mjlab(motion, robot)
    np.savez(path, **table | {"fps": np.array([None])})
    assert "array 'fps' holds Python objects (a pickle)" in _sentence(path, robot)
    np.savez_compressed(path, **table | {"zeros": np.zeros(2**22)})
    assert "bytes that would unpack to" in _sentence(path, robot)
    stream = io.BytesIO()
    np.savez(stream, **table)
    data = stream.getvalue()
    shape = f"({N}, 25)".encode()
    path.write_bytes(data.replace(shape, b"(9" + shape[2:]))
    with pytest.raises(BadFile):  # the check sum is wrong; were it right, the claim would be
        read(path, robot=robot)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(UnknownFormat, match="damaged or cut short"):
        read(path, robot=robot)
    del table["body_quat_w"]
    np.savez(path, **table)
    with pytest.raises(UnknownFormat, match="mjlab: it has no array body_quat_w"):
        read(path, robot=robot)
    with pytest.raises(BadFile, match=r"expected 'body_quat_w' as numbers \(any, any, 4\), got no"):
        read(path, robot=robot, format="mjlab")


def test_arrays_of_no_bodies_are_refused(
    motion: Motion, robot: Robot, tmp_path: pathlib.Path
) -> None:
    table = mjlab(motion, robot)
    table["body_pos_w"] = np.zeros((N, 0, 3))
    assert "'body_pos_w' holds no body" in _sentence(saved(tmp_path / "x.npz", table), robot)
    table["body_quat_w"] = np.zeros((N, 0, 4))
    assert "'body_quat_w' holds no body" in _sentence(saved(tmp_path / "x.npz", table), robot)


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
