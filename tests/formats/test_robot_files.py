"""Robot motions of other tools: npz and pickles, whole, faulty and hostile."""

from __future__ import annotations

import io
import os
import pathlib
import pickle
import zlib

import numpy as np
import pytest

from make.robot_files import N, asap, gmr, holosoma, mjlab, saved, turning
from surefoot.errors import BadFile, BadOption, UnknownFormat
from surefoot.formats.registry import describe, read, sniff
from surefoot.motion.motion import Clip, Motion
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("human25")


@pytest.fixture(scope="module")
def motion(robot: Robot) -> Motion:
    return turning(robot)


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
