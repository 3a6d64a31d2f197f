"""Native clips: every value there and back, and a sentence for everything that cannot be read."""

from __future__ import annotations

import dataclasses
import io
import json
import pathlib
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot
from make.clips import robot_clip, robot_motion, uneven_time
from surefoot.errors import BadFile, BadMotion, Notice
from surefoot.formats import native
from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule, Mode, Stance, Terrain
from surefoot.motion.motion import Clip, Meta, Motion, Step


def _arrays(clip: Clip | None = None) -> dict[str, np.ndarray]:
    """The arrays of a native file, as numpy reads them."""
    with np.load(io.BytesIO(native.as_bytes(clip or robot_clip())), allow_pickle=False) as found:
        return dict(found)


def _saved(path: pathlib.Path, arrays: dict[str, np.ndarray]) -> pathlib.Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def _same(a: Clip, b: Clip) -> None:
    """Every value of two clips is equal to the last digit."""
    for name in ("time", "root_pos", "root_quat", "joint_pos"):
        assert np.array_equal(getattr(a.motion, name), getattr(b.motion, name)), name
    assert a.motion.joint_names == b.motion.joint_names
    assert (a.robot, a.meta, a.notices) == (b.robot, b.meta, b.notices)
    assert a.terrain.as_toml() == b.terrain.as_toml()
    for x, y in zip(a.contacts.stances, b.contacts.stances, strict=True):
        for field in dataclasses.fields(Stance):
            assert np.array_equal(getattr(x, field.name), getattr(y, field.name)), field.name
    for name in ("zmp_w", "com_w"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        assert x is None or np.array_equal(x, y)
    assert list(a.extra) == list(b.extra)
    for key, value in a.extra.items():
        assert np.array_equal(value, b.extra[key])
        assert value.dtype == b.extra[key].dtype


def test_a_clip_with_everything_is_read_back_as_written(tmp_path: pathlib.Path) -> None:
    clip = dataclasses.replace(
        robot_clip(uneven_time(30)),
        notices=(Notice("repair", "left_foot", "moved by 2 mm", 0.1, 0.2, 0.002, 0.001),),
        extra={"torque": np.ones((30, 3), dtype=np.float32), "who": np.array("someone")},
    )
    native.write(clip, tmp_path / "x.clip.npz")
    _same(clip, native.read(tmp_path / "x.clip.npz"))


def test_the_file_has_the_keys_and_types_of_the_interface() -> None:
    clip = robot_clip()
    found = _arrays(clip)
    assert (found["schema"].shape, int(found["schema"])) == ((), 1)
    assert str(found["robot"]) == "made"
    assert float(found["fps"]) == pytest.approx(30.0)
    assert found["joint_names"].tolist() == ["left_knee", "right_knee", "waist"]
    assert found["contact_links"].tolist() == ["left_foot", "right_foot"]
    assert found["contact_link"].tolist() == [0, 1, 0]
    assert found["contact_mode"].tolist() == [3, 2, 1]
    assert found["contact_moving"].tolist() == [False, False, True]
    assert found["contact_vertices"].shape == (6, 3)
    assert found["contact_vertex_stance"].tolist() == [0, 0, 0, 1, 1, 2]
    assert found["contact_normal"].shape == (3, 3)
    assert found["contact_friction"].tolist() == [0.7, 0.5, 0.7]
    assert Terrain.from_toml(str(found["terrain_toml"]), where="").friction == 0.6
    assert found["zmp"].shape == found["com"].shape == (60, 3)
    meta = json.loads(str(found["meta_json"]))
    assert meta["source"] == "made.bvh"
    assert meta["history"] == [
        {"what": "retarget", "parameters": {"scale": 0.8, "options": {"weights": [1.0, 2.0]}}}
    ]


def test_the_same_clip_gives_the_same_bytes(tmp_path: pathlib.Path) -> None:
    clip = robot_clip()
    data = native.as_bytes(clip)
    assert data == native.as_bytes(robot_clip())
    (tmp_path / "x.npz").write_bytes(data)
    assert native.as_bytes(native.read(tmp_path / "x.npz")) == data


words = st.text(st.characters(blacklist_categories=["C"]), min_size=1, max_size=12)
numbers = st.floats(-1e6, 1e6)
plain = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | numbers | words
data = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2)
)
# (link, mode, vertices, moving) of each stance; numbers come from the seed.
stances = st.tuples(words, st.sampled_from([("point", 1), ("edge", 2), ("face", 5)]), st.booleans())


def _clip(
    seed: int,
    n: int,
    names: list[str],
    touching: list[tuple[str, tuple[Mode, int], bool]],
    robot: str,
    steps: list[tuple[str, dict[str, object]]],
) -> Clip:
    """A clip of random numbers. Built outside hypothesis: signature checks draw chance, too."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=3)
    made = [
        Stance(
            link=link,
            start=start,
            end=start + float(rng.uniform(0.0, 2.0)),
            mode=mode,
            vertices=rng.normal(size=(count, 3)),
            normal=normal / np.linalg.norm(normal),
            friction=float(rng.uniform(0.0, 2.0)),
            moving=moving,
        )
        for link, (mode, count), moving in touching
        for start in [float(rng.uniform(-1.0, 1.0))]
    ]
    motion = Motion(
        time=np.cumsum(rng.uniform(0.001, 1.0, n)) - rng.uniform(0.0, 5.0),
        root_pos=rng.normal(size=(n, 3)),
        root_quat=rotation.unit(rng.normal(size=(n, 4))),
        joint_names=tuple(names),
        joint_pos=rng.normal(size=(n, len(names))),
    )
    return Clip(
        motion=motion,
        contacts=ContactSchedule(tuple(made)),
        robot=robot,
        zmp_w=rng.normal(size=(n, 3)) if seed % 2 else None,
        meta=Meta("made", tuple(Step(what, parameters) for what, parameters in steps)),
    )


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.lists(words, max_size=3, unique=True),
    st.lists(stances, max_size=3),
    words | st.just(""),
    st.lists(st.tuples(words, st.dictionaries(words, data, max_size=2)), max_size=2),
)
def test_any_clip_is_read_back_as_written(
    seed: int,
    n: int,
    names: list[str],
    touching: list[tuple[str, tuple[Mode, int], bool]],
    robot: str,
    steps: list[tuple[str, dict[str, object]]],
) -> None:
    clip = _clip(seed, n, names, touching, robot, steps)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.clip.npz"
        native.write(clip, path)
        back = native.read(path)
    _same(clip, back)
    assert native.as_bytes(back) == native.as_bytes(clip)


def test_a_file_without_contacts_differs_from_one_that_never_touches(
    tmp_path: pathlib.Path,
) -> None:
    flying = dataclasses.replace(robot_clip(), contacts=ContactSchedule())
    native.write(flying, tmp_path / "flying.npz")
    assert native.read_with_facts(tmp_path / "flying.npz")[1].has_contacts
    bare = {k: v for k, v in _arrays(flying).items() if not k.startswith("contact_")}
    clip, facts = native.read_with_facts(_saved(tmp_path / "bare.npz", bare))
    assert not facts.has_contacts
    assert clip.contacts.stances == ()


def test_the_least_file_is_read(tmp_path: pathlib.Path) -> None:
    keys = ("schema", "time", "root_pos", "root_quat", "joint_names", "joint_pos")
    clip = native.read(_saved(tmp_path / "x.npz", {k: _arrays()[k] for k in keys}))
    assert clip.motion.n == 60
    assert clip.terrain.as_toml() == Terrain().as_toml()
    assert clip.robot == ""


def test_single_precision_and_bytes_are_read(tmp_path: pathlib.Path) -> None:
    arrays = _arrays()
    arrays["joint_pos"] = arrays["joint_pos"].astype(np.float32)
    arrays["robot"] = np.array(b"made")
    clip = native.read(_saved(tmp_path / "x.npz", arrays))
    assert clip.robot == "made"
    assert clip.motion.joint_pos.dtype == np.float64


def test_a_newer_schema_is_refused_with_the_version_that_is_needed(tmp_path: pathlib.Path) -> None:
    arrays = _arrays()
    arrays["schema"] = np.array(2)
    arrays["meta_json"] = np.array('{"surefoot": "7.1.0", "other": []}')
    arrays["joint_pos"] = np.array("all is different")
    with pytest.raises(BadFile) as raised:
        native.read(_saved(tmp_path / "x.npz", arrays))
    sentence = str(raised.value)
    assert sentence.startswith(
        f"schema 2 of surefoot 7.1.0, but this is surefoot {surefoot.__version__},"
        " which reads up to schema 1 ("
    )
    assert sentence.endswith("Update to surefoot 7.1.0 or later: pip install -U surefoot")
    arrays["meta_json"] = np.array("[]")
    with pytest.raises(BadFile, match=r"schema 2, but this is .*Update to a newer surefoot"):
        native.read(_saved(tmp_path / "x.npz", arrays))


def _nan_at(array: np.ndarray, place: tuple[int, ...]) -> np.ndarray:
    array = array.copy()
    array[place] = np.nan
    return array


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"schema": None}, "no array 'schema'"),
        ({"schema": np.array(0)}, "'schema' must hold 1 to 9223372036854775807, got 0"),
        ({"schema": np.array("one")}, "expected 'schema' as whole numbers (), got <U3 ()"),
        ({"time": None}, "no array 'time'"),
        (
            {"root_pos": np.zeros((59, 3))},
            "'root_pos' as numbers (60, 3), got <f8 (59, 3)",
        ),
        ({"root_pos": np.zeros((60, 3), dtype="U1")}, "expected 'root_pos' as numbers (60, 3)"),
        (
            {"joint_pos": np.zeros((60, 4))},
            "'joint_pos' as numbers (60, 3), got <f8 (60, 4)",
        ),
        ({"joint_names": np.zeros(3)}, "expected 'joint_names' as text (any), got <f8 (3,)"),
        ({"joint_names": np.array(["a", "a", "b"])}, "joint 'a' is named twice"),
        ({"time": np.zeros(60)}, "time must increase, but frame 1 is at 0.0 s after 0.0 s"),
        (
            {
                k: np.zeros((0, *v))
                for k, v in {"time": (), "root_pos": (3,), "root_quat": (4,)}.items()
            }
            | {"joint_pos": np.zeros((0, 3))},
            "0 frames",
        ),
        ({"joint_pos": _nan_at(np.zeros((60, 3)), (7, 1))}, "'joint_pos' holds nan at (7, 1)"),
        ({"root_quat": np.zeros((60, 4))}, "'root_quat' has norm 0 at frame 0, expected 1"),
        ({"fps": np.array(-1.0)}, "'fps' must be 0 or more"),
        ({"fps": np.array(np.nan)}, "'fps' holds nan at ()"),
        ({"contact_normal": None}, "no array 'contact_normal'"),
        ({"contact_end": np.zeros(2)}, "expected 'contact_end' as numbers (3), got <f8 (2,)"),
        ({"contact_link": np.array([0, 1, 2])}, "'contact_link' must hold 0 to 1, got 2"),
        ({"contact_mode": np.array([3, 2, 7])}, "'contact_mode' must hold 1 to 3, got 7"),
        (
            {"contact_mode": np.array([3, 3, 1])},
            "mode face needs 3 or more vertices (v, 3)",
        ),
        ({"contact_moving": np.zeros(3)}, "expected 'contact_moving' as truth values (3)"),
        ({"contact_vertex_stance": np.array([0, 0, 0, 1, 1, 3])}, "must hold 0 to 2, got 3"),
        ({"contact_surface": np.array([0, 2, 0])}, "'contact_surface' must hold 0 to 1, got 2"),
        ({"contact_friction": np.full(3, -1.0)}, "friction must be 0 or more, got -1"),
        ({"terrain_toml": np.array("schema = 9")}, "terrain_toml: expected schema = 1, got 9"),
        ({"zmp": np.zeros((60, 2))}, "expected 'zmp' as numbers (60, 3), got <f8 (60, 2)"),
        ({"meta_json": np.array("{")}, "meta_json cannot be read: Expecting property name"),
        ({"meta_json": np.array("[" * 100_000)}, "meta_json cannot be read: "),
        ({"meta_json": np.array('{"source": NaN, "history": []}')}, "NaN is no number"),
        ({"meta_json": np.array('{"source": 3, "history": []}')}, "expected text, got int"),
        ({"meta_json": np.array('{"history": [{}]}')}, "meta_json cannot be read: 'what'"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(
    tmp_path: pathlib.Path, changes: dict[str, np.ndarray | None], sentence: str
) -> None:
    arrays = _arrays() | changes
    kept = {key: value for key, value in arrays.items() if value is not None}
    with pytest.raises(BadFile) as raised:
        native.read(_saved(tmp_path / "x.npz", kept))
    assert sentence in str(raised.value)
    assert "x.npz" in str(raised.value)


def test_faults_are_said_together(tmp_path: pathlib.Path) -> None:
    arrays = _arrays() | {"root_pos": np.zeros(3), "joint_pos": np.zeros(3), "fps": np.zeros(2)}
    with pytest.raises(BadFile) as raised:
        native.read(_saved(tmp_path / "x.npz", arrays))
    for key in ("'root_pos'", "'joint_pos'", "'fps'"):
        assert key in str(raised.value)


@pytest.mark.parametrize(("factor", "said"), [(1.0 + 5e-4, False), (0.9, True)])
def test_quaternions_off_the_unit_are_normalised_and_far_ones_said(
    tmp_path: pathlib.Path, factor: float, said: bool
) -> None:
    arrays = _arrays()
    arrays["root_quat"] = factor * arrays["root_quat"]
    clip = native.read(_saved(tmp_path / "x.npz", arrays))
    assert np.abs(clip.motion.root_quat - robot_motion().root_quat).max() < 1e-15
    sentences = [notice.sentence for notice in clip.notices]
    assert sentences == (
        ["quaternions were divided by their norms, off by up to 0.1"] if said else []
    )


def test_history_that_is_no_plain_data_cannot_be_written() -> None:
    clip = dataclasses.replace(robot_clip(), meta=Meta().then("do", robot=object()))
    with pytest.raises(BadMotion, match="history or notices are not plain data: object"):
        native.as_bytes(clip)
    clip = dataclasses.replace(robot_clip(), meta=Meta().then("do", value=float("nan")))
    with pytest.raises(BadMotion, match="history or notices are not plain data: Out of range"):
        native.as_bytes(clip)


def test_numbers_of_numpy_in_the_history_are_written(tmp_path: pathlib.Path) -> None:
    meta = Meta().then("do", a=np.float64(0.5), b=np.arange(2), c=pathlib.Path("/x/y.toml"))
    native.write(dataclasses.replace(robot_clip(), meta=meta), tmp_path / "x.npz")
    step = native.read(tmp_path / "x.npz").meta.history[0]
    assert step.parameters == {"a": 0.5, "b": [0, 1], "c": "y.toml"}


@pytest.mark.parametrize("extra", [{"time": np.zeros(3)}, {"x": np.array([None])}])
def test_unknown_arrays_must_be_plain_and_have_other_names(extra: dict[str, np.ndarray]) -> None:
    with pytest.raises(BadMotion, match="has a name of the schema or no plain type"):
        native.as_bytes(dataclasses.replace(robot_clip(), extra=extra))


@pytest.mark.slow
def test_damaged_files_are_read_or_refused_but_never_crash(tmp_path: pathlib.Path) -> None:
    """400 files in which one array is cut, cast, or lost; seed 0. Warnings are errors."""
    rng = np.random.default_rng(0)
    whole = _arrays()
    casts = ["f4", "i8", "u1", "b", "U3", "S3"]
    for _ in range(400):
        arrays = dict(whole)
        key = str(rng.choice(list(arrays)))
        kind = rng.integers(4)
        if kind == 0:
            del arrays[key]
        elif kind == 1:
            arrays[key] = np.atleast_1d(arrays[key])[: rng.integers(0, 3)]
        elif kind == 2:
            arrays[key] = arrays[key][..., None]
        else:
            arrays[key] = np.zeros(arrays[key].shape, dtype=casts[rng.integers(len(casts))])
        path = _saved(tmp_path / "x.npz", arrays)
        try:
            assert np.all(np.isfinite(native.read(path).motion.joint_pos))
        except BadFile as error:
            assert "x.npz" in str(error)  # noqa: PT017  # either outcome is right


@pytest.mark.parametrize("text", ["{}", '{"made by": "another program"}', '{"history": []}'])
def test_a_meta_that_says_little_is_read(tmp_path: pathlib.Path, text: str) -> None:
    """Other programs write clips too, and need not know our history."""
    path = tmp_path / "x.npz"
    native.write(robot_clip(), path)
    with np.load(path) as arrays:
        np.savez(path, **{**dict(arrays), "meta_json": np.array(text)})
    assert native.read(path).meta == Meta()


def test_an_archive_cut_short_is_called_so(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.npz"
    native.write(robot_clip(), path)
    assert native.sniff(path.read_bytes()[:4000]) == (
        False,
        "begins as a zip archive, but is damaged or cut short",
    )
