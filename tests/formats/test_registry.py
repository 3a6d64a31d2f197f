"""The door to files: told by content, read, written and described."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from importlib import import_module

import numpy as np
import pytest

from make.clips import bvh_text, person, robot_clip
from surefoot.errors import BadFile, BadOption, NoFile, UnknownFormat, UnknownName
from surefoot.formats import native, registry
from surefoot.formats.registry import FORMATS, describe, read, sniff, write
from surefoot.motion.human import HumanClip
from surefoot.motion.motion import Clip

OTHERS = "test_robot_files.py"  # one test file for the readers of other tools' motions


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with one file of each format, under names that tell nothing."""
    (tmp_path / "human").write_text(bvh_text())
    write(robot_clip(), tmp_path / "robot", format="native")
    return tmp_path


@pytest.mark.parametrize("name", FORMATS)
def test_every_row_of_the_table_resolves_and_says_what_it_is(name: str) -> None:
    row = FORMATS[name]
    assert row.help
    assert row.ending.startswith(".")
    for target in filter(None, (row.sniff, row.read, row.write)):
        module, _, function = target.partition(":")
        assert getattr(import_module(module), function).__doc__
    root = pathlib.Path(__file__).resolve().parents[2]
    own = f"test_{row.read.partition(':')[0].rpartition('.')[2]}.py"
    assert any((root / "tests" / "formats" / file).is_file() for file in (own, OTHERS))
    assert f"`{name}`" in (root / "docs" / "formats.md").read_text(encoding="utf-8")


def test_files_are_told_by_their_content(folder: pathlib.Path) -> None:
    human, robot = sniff(folder / "human"), sniff(folder / "robot")
    assert (human.format, human.kind, human.why) == ("bvh", "human", "it begins with HIERARCHY")
    assert (robot.format, robot.kind) == ("native", "robot")
    assert robot.why == "it is a zip archive with the arrays schema, root_pos and joint_pos"


def test_the_content_counts_more_than_the_ending(folder: pathlib.Path) -> None:
    (folder / "human").rename(folder / "lies.clip.npz")
    assert sniff(folder / "lies.clip.npz").format == "bvh"


def test_the_ending_counts_where_the_content_says_nothing(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.BVH"
    path.write_text("# exported by something\n" + bvh_text())
    guess = sniff(path)
    assert guess.format == "bvh"
    assert guess.why == "its name ends in .bvh; its content says nothing"
    with pytest.raises(BadFile, match="line 1: '#' does not belong here"):
        read(path)


def test_nothing_that_fits_says_what_was_tried(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.dat"
    path.write_bytes(b"\x80\x04 a pickle")
    with pytest.raises(UnknownFormat) as raised:
        sniff(path)
    assert str(raised.value) == (
        "the file fits no known format: bvh: it does not begin with HIERARCHY;"
        " native, holosoma, mjlab: it is no zip archive; unitree-csv, wxyz-csv: it does not begin"
        " with a row of numbers; gmr: it is a pickle without fps or root_pos or root_rot or"
        " dof_pos; asap: it is a pickle without root_trans_offset or root_rot"
        f" ({path}). Say which it is with --from FORMAT"
    )
    np.savez(tmp_path / "y.npz", joint_pos=np.zeros(3))
    with pytest.raises(UnknownFormat) as raised:
        sniff(tmp_path / "y.npz")
    assert "native: it has no array schema or root_pos" in str(raised.value)
    assert "mjlab: it has no array body_pos_w or body_quat_w" in str(raised.value)


def test_a_file_that_is_not_there_is_said_by_every_verb(tmp_path: pathlib.Path) -> None:
    for verb in (sniff, read, describe):
        with pytest.raises(NoFile, match="no such file"):
            verb(tmp_path / "gone")


def test_clips_are_read_whatever_their_format(folder: pathlib.Path) -> None:
    human, robot = read(folder / "human"), read(str(folder / "robot"))
    assert isinstance(human, HumanClip)
    assert isinstance(robot, Clip)
    assert len(robot.contacts.stances) == 3


def test_a_rate_for_a_file_that_has_its_own_is_refused(folder: pathlib.Path) -> None:
    with pytest.raises(BadOption, match=r"the frame rate is in the file, but 60 was given"):
        read(folder / "human", fps=60.0)


def test_a_format_that_is_named_is_believed(folder: pathlib.Path) -> None:
    with pytest.raises(BadFile, match="the archive is damaged"):
        read(folder / "human", format="native")
    with pytest.raises(UnknownName, match=r"no format is called 'bhv'. Did you mean 'bvh'\?"):
        read(folder / "human", format="bhv")


def _without_contacts(path: pathlib.Path) -> pathlib.Path:
    native.write(robot_clip(), path)
    with np.load(path) as found:
        bare = {key: found[key] for key in found.files if not key.startswith("contact_")}
    np.savez(path, **bare)
    return path


def test_a_clip_without_contacts_and_robot_has_none_and_says_so(tmp_path: pathlib.Path) -> None:
    clip = read(_without_contacts(tmp_path / "x.npz"))
    assert isinstance(clip, Clip)
    assert clip.contacts.stances == ()
    assert clip.notices[-1].sentence == "the file carries no contacts; none are assumed"


def test_a_clip_without_contacts_gets_them_found_where_the_robot_is_given(
    tmp_path: pathlib.Path,
) -> None:
    from surefoot.motion.motion import Motion
    from surefoot.robots.zoo import load_robot

    robot = load_robot("human25")
    n = 20
    qpos = np.tile(robot.home, (n, 1))
    motion: Motion = robot.motion(qpos, np.arange(n) / 30.0)
    native.write(Clip(motion, robot=robot.name), tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as found:
        bare = {key: found[key] for key in found.files if not key.startswith("contact_")}
    np.savez(tmp_path / "x.npz", **bare)
    clip = read(tmp_path / "x.npz", robot=robot)
    assert isinstance(clip, Clip)
    assert len(clip.contacts.stances) == len(robot.soles)
    assert clip.notices[-1].sentence == (
        f"the file carries no contacts; {len(robot.soles)} stances were found in the motion"
    )
    assert clip.meta.history[-1].what == "detect contacts"


@pytest.mark.parametrize("name", ["x.bvh", "X.BVH"])
def test_the_ending_of_an_output_says_its_format(tmp_path: pathlib.Path, name: str) -> None:
    write(person(5), tmp_path / name)
    assert sniff(tmp_path / name).format == "bvh"


@pytest.mark.parametrize("name", ["x.clip.npz", "x.npz"])
def test_a_robot_clip_is_native_under_any_npz_name(tmp_path: pathlib.Path, name: str) -> None:
    write(robot_clip(), tmp_path / name)
    assert sniff(tmp_path / name).format == "native"


def test_a_clip_of_the_other_kind_cannot_be_written(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadOption) as raised:
        write(robot_clip(), tmp_path / "x.bvh")
    assert str(raised.value) == (
        f"bvh files hold human clips, and this is a robot clip ({tmp_path / 'x.bvh'})."
        " Choose one of native (*.clip.npz), unitree-csv (*.csv)"
    )
    with pytest.raises(BadOption, match=r"native files hold robot clips.*Retarget it first"):
        write(person(3), tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []


def test_an_ending_that_no_format_has_is_said(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UnknownFormat) as raised:
        write(person(3), tmp_path / "x.fbx")
    assert str(raised.value) == (
        f"no format's files end like 'x.fbx' ({tmp_path / 'x.fbx'})."
        " A human clip can be written as bvh (*.bvh), or say --to FORMAT"
    )


def test_info_of_a_human_file_has_the_keys_of_the_interface(folder: pathlib.Path) -> None:
    found = describe(folder / "human")
    assert json.loads(json.dumps(found)) == found
    assert found["format"] == "bvh"
    assert found["kind"] == "human"
    assert (found["frames"], found["joints"]) == (3, 22)
    assert found["fps"] == pytest.approx(30.0)
    assert found["duration_s"] == pytest.approx(2 / 30)
    assert (found["unit"], found["up_axis"], found["t_pose_first"]) == ("cm", "y", False)
    assert found["quaternion"] is None
    assert found["contacts"] is None
    assert found["skeleton"] == "lafan1"
    assert isinstance(found["notices"], list)


def test_info_of_a_robot_file_has_the_keys_of_the_interface(folder: pathlib.Path) -> None:
    found = describe(folder / "robot")
    assert json.loads(json.dumps(found)) == found
    assert (found["format"], found["kind"]) == ("native", "robot")
    assert (found["frames"], found["joints"], found["contacts"]) == (60, 3, 3)
    assert (found["unit"], found["up_axis"], found["quaternion"]) == ("m", "z", "wxyz")
    assert found["t_pose_first"] is False
    assert found["robot"] == "made"
    bare = describe(_without_contacts(folder / "bare.npz"))
    assert bare["contacts"] is None


def test_info_with_a_named_format_says_so(folder: pathlib.Path) -> None:
    assert describe(folder / "human", format="bvh")["why"] == "it was said to be"


def test_the_guess_is_a_frozen_value(folder: pathlib.Path) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        sniff(folder / "human").format = "x"  # type: ignore[misc]


@pytest.mark.shared
def test_shared_files_of_other_formats_are_refused_in_a_sentence(shared: pathlib.Path) -> None:
    """They come with the doors; until then each says what was tried."""
    files = sorted((shared / "data" / "robot_motion" / "protomotions").iterdir())
    files += sorted((shared / "data" / "human" / "smpl").glob("*.npz"))
    assert len(files) >= 3
    for path in files:
        with pytest.raises(UnknownFormat, match="fits no known format: bvh: it does not begin"):
            read(path)


def test_the_registry_imports_no_format_before_it_is_needed() -> None:
    source = pathlib.Path(str(registry.__file__)).read_text(encoding="utf-8")
    assert "from surefoot.formats.bvh" not in source
    assert "from surefoot.formats.native" not in source


def test_the_document_names_every_key_and_every_family() -> None:
    from surefoot.motion.human import schemes

    root = pathlib.Path(__file__).resolve().parents[2]
    text = (root / "docs" / "formats.md").read_text(encoding="utf-8")
    for name in (*sorted(native.KEYS), *(scheme.name for scheme in schemes())):
        assert f"`{name}`" in text, name


def test_the_terrain_of_the_document_is_read() -> None:
    from surefoot.motion.contact import Terrain

    root = pathlib.Path(__file__).resolve().parents[2]
    text = (root / "docs" / "formats.md").read_text(encoding="utf-8")
    terrain = Terrain.from_toml(text.split("```toml\n")[1].split("```")[0], where="formats.md")
    assert [surface.kind for surface in terrain.surfaces] == ["plane", "box"]
