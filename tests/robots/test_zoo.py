"""Finding robots: by name, by path, by profile, and what is said when there is none."""

from __future__ import annotations

import pathlib

import pytest

from make.robots import BIPED, written
from surefoot.errors import BadFile, NoFile, UnknownName
from surefoot.robots.profile import read_profile
from surefoot.robots.zoo import entries, load_robot, names, profiles


def test_zoo_holds_the_folders() -> None:
    assert names() == ("g1", "human25", "t1", "talos")


def test_only_our_own_robot_has_its_model_in_the_package() -> None:
    assert {entry.name for entry in entries() if entry.bundled} == {"human25"}
    assert all(entry.title for entry in entries())
    assert [entry.summary()["name"] for entry in entries()] == list(names())


def test_profiles_of_the_zoo_name_feet_landmarks_and_sources() -> None:
    for profile in profiles():
        assert len(profile.soles) in (2, 4)
        assert {"pelvis", "chest", "left_hip", "right_toe", "left_wrist"} <= set(profile.landmarks)
        assert len(profile.landmarks) == 18
        assert len(set(profile.joints)) == len(profile.joints)


@pytest.mark.parametrize("name", ["g1", "t1", "talos"])
def test_robot_without_its_model_says_what_to_type(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUREFOOT_MODELS", raising=False)
    with pytest.raises(NoFile) as caught:
        load_robot(name)
    said = str(caught.value)
    assert said.startswith(
        f"surefoot has a profile of robot '{name}', but its model is not part of it"
    )
    assert "Give the model by its path, as in: -r path/to/" in said
    assert "or set SUREFOOT_MODELS to the folder that holds " in said


def test_model_below_a_folder_of_the_variable_is_found(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any model with the right place is taken; this one lacks the joints, and that is said."""
    written(BIPED, tmp_path, "unitree_g1/g1.xml")
    monkeypatch.setenv("SUREFOOT_MODELS", str(tmp_path))
    with pytest.raises(ValueError, match=r"no joint '\*_hip_yaw_joint'"):
        load_robot("g1")


def test_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        load_robot("humann25")
    assert str(caught.value) == (
        "no robot 'humann25' in the zoo. Did you mean 'human25'? Or give the path of an MJCF, URDF "
        "or profile"
    )
    with pytest.raises(UnknownName, match=r"g1, human25, t1, talos\. Or give the path"):
        load_robot("xyz")


def test_profile_beside_the_model_is_used(tmp_path: pathlib.Path) -> None:
    model = written(BIPED, tmp_path, "a.xml")
    assert load_robot(model).name == "biped"
    written('schema = 1\nname = "shared"', tmp_path, "robot.toml")
    assert load_robot(model).name == "shared"
    written('schema = 1\nname = "own"', tmp_path, "a.robot.toml")
    assert load_robot(model).name == "own"


def test_profile_can_be_given_itself(tmp_path: pathlib.Path) -> None:
    written(BIPED, tmp_path, "models/a.xml")
    profile = written('schema = 1\nname = "tom"\nmodel = "models/a.xml"', tmp_path, "t.robot.toml")
    robot = load_robot(profile)
    assert robot.name == "tom"
    assert robot.source == str(tmp_path / "models" / "a.xml")
    assert load_robot(str(profile)).name == "tom"


def test_given_profile_without_model_says_so(tmp_path: pathlib.Path) -> None:
    profile = written('schema = 1\nname = "tom"', tmp_path, "tom.robot.toml")
    with pytest.raises(NoFile, match="profile of robot 'tom', but its model is not part of it"):
        load_robot(profile)


def test_profile_whose_model_is_gone(tmp_path: pathlib.Path) -> None:
    profile = written('schema = 1\nmodel = "gone.xml"', tmp_path, "tom.robot.toml")
    with pytest.raises(NoFile, match=r"no such file .*gone\.xml"):
        load_robot(profile)


def test_name_of_a_profile_without_one_is_its_files(tmp_path: pathlib.Path) -> None:
    assert read_profile(written("schema = 1", tmp_path, "tom.robot.toml")).name == "tom"
    assert read_profile(written("schema = 1", tmp_path, "jerry/robot.toml")).name == "jerry"


def test_model_is_recognised_by_its_joints(tmp_path: pathlib.Path) -> None:
    """A copy of the bundled model elsewhere: the zoo's profile is used, and that is said."""
    (profile,) = (p for p in profiles() if p.name == "human25")
    text = (profile.path.parent / "model.xml").read_text(encoding="utf-8")
    robot = load_robot(written(text, tmp_path, "copy.xml"))
    assert robot.name == "human25"
    assert robot.source == str(tmp_path / "copy.xml")
    assert len(robot.soles) == 4
    assert any(
        n.sentence == "the joints are those of robot 'human25': its profile of the zoo is used"
        for n in robot.notices
    )


def test_model_with_the_joints_of_a_robot_and_other_links_is_taken_as_it_is(
    tmp_path: pathlib.Path,
) -> None:
    """A profile that was found and not asked for must not stand in a model's way."""
    (profile,) = (p for p in profiles() if p.name == "human25")
    text = (profile.path.parent / "model.xml").read_text(encoding="utf-8")
    other = text.replace('"left_foot"', '"fuss"').replace('model="human25"', 'model="mensch"')
    robot = load_robot(written(other, tmp_path, "mensch.xml"))
    assert robot.name == "mensch"
    assert any(
        "the joints are those of robot 'human25', but not all else is: sole of 'left_foot': no "
        "link 'left_foot'" in n.sentence
        for n in robot.notices
    )


def test_model_that_nobody_knows_is_taken_as_it_is(tmp_path: pathlib.Path) -> None:
    robot = load_robot(written(BIPED, tmp_path))
    assert robot.landmarks == {}
    assert [(s.link, s.side) for s in robot.soles] == [
        ("left_foot", "left"),
        ("right_foot", "right"),
    ]
    assert any("feet taken to be the lowest links" in n.sentence for n in robot.notices)


def test_toml_that_is_no_profile_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadFile, match="expected schema = 1, got None"):
        load_robot(written("[tool]", tmp_path, "pyproject.toml"))


def test_missing_profile_is_a_missing_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NoFile, match="no such file"):
        load_robot(tmp_path / "none.robot.toml")
