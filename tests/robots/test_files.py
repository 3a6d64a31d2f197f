"""Model files that open and those that do not: endings, included files, what is no model."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from make.robots import BIPED, URDF, written
from surefoot.errors import BadFile, NoFile
from surefoot.robots.zoo import load_robot


@pytest.mark.parametrize("name", ["robot.mjcf", "robot.XML", "robot"])
def test_model_is_read_whatever_its_ending(tmp_path: pathlib.Path, name: str) -> None:
    inside = BIPED.replace('<mujoco model="biped">', "<mujoco>")
    written(f'<mujoco><include file="{name}.inc"/></mujoco>', tmp_path, name)
    written(inside, tmp_path, f"{name}.inc")
    assert load_robot(tmp_path / name).mass == pytest.approx(16.0)


def test_file_that_is_not_there(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "nobody.xml"
    with pytest.raises(NoFile) as caught:
        load_robot(path)
    assert str(caught.value) == f"no such file ({path})"


def test_folder_is_answered_with_the_models_in_it(tmp_path: pathlib.Path) -> None:
    written(BIPED, tmp_path, "b.xml")
    written(URDF, tmp_path, "a.urdf")
    with pytest.raises(NoFile) as caught:
        load_robot(tmp_path)
    assert (
        str(caught.value) == f"this is a folder ({tmp_path}). Name the model in it: a.urdf, b.xml"
    )


@pytest.mark.parametrize("text", ["", "hello", "<mujoco>", "\x7fELF"])
def test_file_that_is_no_xml(tmp_path: pathlib.Path, text: str) -> None:
    with pytest.raises(BadFile, match=r"this is no XML: .* The model must be MJCF or URDF"):
        load_robot(written(text, tmp_path))


def test_other_xml_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadFile, match="expected <mujoco> or <robot>, got <svg>"):
        load_robot(written("<svg/>", tmp_path))


def test_included_file_that_is_missing_is_named(tmp_path: pathlib.Path) -> None:
    text = BIPED.replace("<worldbody>", '<include file="hands.xml"/><worldbody>')
    with pytest.raises(BadFile, match=r"MuJoCo refuses it: .*hands\.xml"):
        load_robot(written(text, tmp_path))


def test_included_file_beside_the_model_is_found(tmp_path: pathlib.Path) -> None:
    default = '<default><joint armature="0.01"/></default>'
    written(f"<mujoco>{default}</mujoco>", tmp_path, "parts/defaults.xml")
    text = BIPED.replace(default, '<include file="parts/defaults.xml"/>')
    robot = load_robot(written(text, tmp_path))
    np.testing.assert_array_equal(robot.model.dof_armature[6:], 0.01)
