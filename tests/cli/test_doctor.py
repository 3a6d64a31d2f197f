"""What the doctor finds in environments that are broken in known ways."""

from __future__ import annotations

import importlib.metadata
import pathlib
import sys
import tomllib

import pytest

from surefoot.cli import doctor
from surefoot.cli.doctor import Health, examine, requirements
from surefoot.cli.main import run
from surefoot.errors import MissingPart
from surefoot.robots import engine

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _conflict(health: Health, part: str) -> str:
    (found,) = [n.sentence for n in health.notices if n.kind == "conflict" and n.part == part]
    return found


def test_every_declared_dependency_is_looked_at() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(requirements()) == len(project["dependencies"])
    assert all(any(row.startswith(n) for row in project["dependencies"]) for n in requirements())
    assert set(examine().versions) == set(requirements())


def test_a_checkout_that_is_not_installed_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with PYTHONPATH=src: there is no list of what it needs."""

    def no_such(package: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(doctor.importlib.metadata, "requires", no_such)
    assert run(["doctor"]) == 0
    assert "missing: surefoot: on the path, but not installed" in capsys.readouterr().out


def test_a_sound_environment_has_no_conflict() -> None:
    """The environment of the tests is sound: otherwise they would not run."""
    assert not examine().conflicted


def test_wheels_of_one_version_that_do_not_open_are_a_conflict_with_the_repair(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`pip install mujoco==3.11.0`, then `pip install 'mujoco>=4'` in a fresh environment.

    Leaves mujoco, mujoco-core and mujoco-studio 4.0.0 installed, and `import mujoco` fails with
    this message: the removal of the old wheel took files of the new ones along.
    """

    def fails() -> None:
        raise MissingPart(
            what="MuJoCo cannot be imported",
            where="core bindings ('mujoco-core') are missing or corrupted",
            todo=f"Repair: {engine.REPAIR}",
        )

    monkeypatch.setattr(engine, "opened", fails)
    assert engine.conflicts({w: "4.0.0" for w in engine.WHEELS}) == ()
    assert "missing or corrupted" in _conflict(examine(), "mujoco")
    assert run(["doctor"]) == 1
    (line,) = [row for row in capsys.readouterr().out.splitlines() if row.startswith("conflict: ")]
    assert line.endswith(
        "Repair: pip uninstall -y mujoco mujoco-core mujoco-studio && pip install 'mujoco>=3.11,<5'"
    )


def test_wheels_of_two_versions_are_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"mujoco": "3.11.0", "mujoco-core": "4.0.0", "mujoco-studio": "4.0.0"}
    monkeypatch.setattr(engine, "installed", lambda: versions)
    assert "mixed" in _conflict(examine(), "mujoco")


@pytest.mark.parametrize("package", ["numba", "scipy", "jaxtyping", "matplotlib"])
def test_a_package_that_cannot_be_imported_is_a_conflict_with_the_repair(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # makes its import fail
    sentence = _conflict(examine(), package)
    assert sentence.startswith(f"{package} cannot be imported (")
    assert f"Repair: pip install --force-reinstall '{package}>=" in sentence


def test_what_is_missing_without_harm_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.setattr(doctor.ctypes.util, "find_library", lambda name: None)
    health = examine()
    said = {n.part: n.sentence for n in health.notices if n.kind == "missing"}
    assert "apt install libegl1" in said["GL"]
    assert "apt install chromium" in said["browser"]
    assert not health.conflicted


def test_libraries_that_need_a_display_make_no_videos(monkeypatch: pytest.MonkeyPatch) -> None:
    """libGL alone is for windows on a screen; without EGL or OSMesa nothing renders headless."""
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    said = {n.part: n.sentence for n in doctor._of_films(("GL",))}
    assert said["GL"].startswith("no GL library that renders without a display: no videos")
    assert said["av"] == "no encoder: no videos (pip install 'surefoot[video]')"
    assert {n.part for n in doctor._of_films(("EGL",))} == {"av"}
