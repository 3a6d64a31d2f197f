"""The door to MuJoCo: what is said when it does not open, and about mixed wheels."""

from __future__ import annotations

import importlib
import pathlib
import types

import mujoco
import pytest

from surefoot.errors import MissingPart
from surefoot.robots import engine
from surefoot.robots.engine import REPAIR, conflicts


def test_repair_line_is_the_one_that_was_tried_on_all_kinds_of_breakage() -> None:
    """Line of the dependency notes, 1.1: it mended each of the four broken environments there."""
    assert REPAIR == (
        "pip uninstall -y mujoco mujoco-core mujoco-studio && pip install 'mujoco>=3.11,<5'"
    )


@pytest.mark.parametrize(
    "versions",
    [
        {"mujoco": "3.11.0"},
        {"mujoco": "3.17.0"},
        {"mujoco": "4.0.0", "mujoco-core": "4.0.0", "mujoco-studio": "4.0.0"},
        {"mujoco": "4.0.0", "mujoco-core": "4.0.0"},
    ],
)
def test_wheels_of_one_version_are_no_conflict(versions: dict[str, str]) -> None:
    assert conflicts(versions) == ()


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ({}, "MuJoCo is not installed"),
        ({"mujoco-core": "4.0.1"}, "only mujoco-core 4.0.1 is installed"),
        (
            {"mujoco": "4.0.0", "mujoco-core": "4.0.1", "mujoco-studio": "4.0.0"},
            "MuJoCo wheels are mixed: mujoco 4.0.0 beside mujoco-core 4.0.1",
        ),
        (
            {"mujoco": "3.17.0", "mujoco-core": "4.0.0", "mujoco-studio": "4.0.0"},
            "MuJoCo wheels are mixed: mujoco 3.17.0 beside mujoco-core 4.0.0, mujoco-studio 4.0.0",
        ),
        ({"mujoco": "4.0.0"}, "MuJoCo wheels are mixed: mujoco 4.0.0 beside mujoco-core missing"),
        (
            {"mujoco": "3.10.0"},
            "MuJoCo 3.10.0 is installed, but 3.11 or newer and below 5 is needed",
        ),
        (
            {"mujoco": "5.0.0", "mujoco-core": "5.0.0"},
            "MuJoCo 5.0.0 is installed, but 3.11 or newer and below 5 is needed",
        ),
    ],
)
def test_conflict_is_said_with_the_repair_line(versions: dict[str, str], sentence: str) -> None:
    (notice,) = conflicts(versions)
    assert notice.kind == "conflict"
    assert notice.sentence == f"{sentence}. Repair: {REPAIR}"


def test_what_is_installed_here_is_read() -> None:
    assert engine.installed()["mujoco"] == mujoco.__version__


@pytest.mark.parametrize("error", [ImportError, OSError])
def test_engine_that_cannot_be_imported_is_answered_with_the_repair_line(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def refuse(name: str) -> types.ModuleType:
        raise error("libmujoco.so.3.17.0: cannot open\nsecond line")

    monkeypatch.setattr(importlib, "import_module", refuse)
    monkeypatch.delattr(engine, "mujoco")
    with pytest.raises(MissingPart) as caught:
        _ = engine.mujoco
    assert str(caught.value) == (
        f"MuJoCo cannot be imported (libmujoco.so.3.17.0: cannot open). Repair: {REPAIR}"
    )


def test_engine_without_models_is_answered_with_the_repair_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib, "import_module", lambda name: types.ModuleType(name))
    with pytest.raises(MissingPart, match=r"installed in part only \(no MjModel\). Repair: pip"):
        engine.opened()


def test_other_names_are_not_made_up() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'muyoco'"):
        _ = engine.muyoco  # type: ignore[attr-defined]  # that is the point


def test_engine_warnings_write_no_log_into_the_current_folder(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state of 1e20 makes the engine warn; without a handler it writes MUJOCO_LOG.TXT."""
    monkeypatch.chdir(tmp_path)
    model = engine.mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
    )
    data = engine.mujoco.MjData(model)
    data.qvel[0] = 1e20
    engine.mujoco.mj_step(model, data)
    assert sum(int(w.number) for w in data.warning) > 0
    assert list(tmp_path.iterdir()) == []


def test_warnings_are_heard_while_asked_for() -> None:
    model = engine.mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
    )
    data = engine.mujoco.MjData(model)
    data.qvel[0] = 1e20
    with engine.heard() as said:
        engine.mujoco.mj_step(model, data)
    assert said
