"""Dumps of simulated runs: true ones are confirmed, and every array is caught when it is false."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest

from make.dumps import written
from make.posers import Holder, Posing
from make.robots import biped, planar
from make.standing import only, stiff
from surefoot.motion.contact import ContactSchedule, Stance, Terrain
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import TYPICAL_NOISE, Push
from surefoot.simulation.dump import dump_arrays
from surefoot.simulation.loop import run
from surefoot.simulation.scene import scene_of
from surefoot.simulation.verdict import judge
from surefoot.verification import Unusable, verify

Arrays = dict[str, Any]
_MADE: dict[str, Arrays] = {}


def _clip(robot: Robot) -> Clip:
    time = np.arange(26) / 50.0
    stances = tuple(Stance(s.link, 0.0, 0.5, "face", s.polygon_l) for s in robot.soles)
    motion = stiff(robot, time, only(26, 1, np.zeros(26)))
    return Clip(motion, ContactSchedule(stances), robot=robot.name)


def _dump(kind: str, folder: pathlib.Path) -> Arrays:
    """A run that stands while it is pushed and its sensors lie, or one of each kind of fall."""
    if kind not in _MADE:
        robot = planar(folder) if kind == "planar" else biped(folder)
        pushes = (Push(0.1, np.array([15.0, 0.0, 0.0])),)
        holder = Holder(robot)
        if kind == "fell":
            holder = Holder(robot, "torque")
        if kind == "diverged":
            pushes = (Push(0.1, np.array([0.0, 0.0, 1e14]), 0.002),)
        if kind == "no command":
            holder.change = lambda step, value: value if step < 120 else value * np.nan
        scene = scene_of(
            robot, Terrain(), drive=holder.drive, servo_gains=holder.servo_gains, friction=0.6
        )
        source = Posing(robot, seconds=3.0 if kind == "fell" else 0.5)
        noise = None if kind == "planar" else TYPICAL_NOISE
        trace = run(scene, source, holder, pushes=pushes, noise=noise)
        assert trace.end == (kind if kind in ("fell", "diverged", "no command") else "completed")
        _MADE[kind] = dump_arrays(judge(trace, clip=_clip(robot), robot=robot, pushes=pushes))
    return {name: np.array(array) for name, array in _MADE[kind].items()}


@pytest.mark.parametrize("kind", ["stood", "planar", "fell", "diverged", "no command"])
def test_a_true_dump_is_confirmed(kind: str, tmp_path: pathlib.Path) -> None:
    dump = _dump(kind, tmp_path)
    found = verify(written(dump, tmp_path))
    assert found.ok, found.mismatches[:3]
    assert found.kind == "simulation"
    assert found.checked == len(dump["time"])
    assert found.worst["states"].difference == 0.0  # the same engine: to the bit
    assert found.worst["contact forces"].difference < 1e-9
    assert {"states", "centre of mass", "torques", "pressure", "verdict"} <= set(found.worst)


def _add(at: Any, value: Any) -> Callable[[Any], Any]:
    def falsify(array: Any) -> Any:
        array[at] += value
        return array

    return falsify


def _flip(at: Any) -> Callable[[Any], Any]:
    def falsify(array: Any) -> Any:
        array[at] = ~array[at]
        return array

    return falsify


def _claim(**changes: Any) -> Callable[[Any], Any]:
    def falsify(array: Any) -> Any:
        return np.array(json.dumps({**json.loads(str(array)), **changes}))

    return falsify


def _heavier(array: Any) -> Any:
    text = str(array)
    assert 'mass="8.0"' in text
    return np.array(text.replace('mass="8.0"', 'mass="8.0001"', 1))


FALSE: list[tuple[str, Callable[[Any], Any], str]] = [
    ("model_xml", _heavier, "states"),
    ("timestep", lambda array: array * 2.0, "timestep"),
    ("steps_per_control", lambda array: array + 1, "states"),
    ("qpos0", _add(2, 1e-8), "first state"),
    ("qvel0", _add(2, 1e-8), "first state"),
    ("time", _add(7, 1e-6), "even times"),
    ("ctrl", _add((50, 3), 1e-3), "states"),
    ("applied", _add((50, 6), 1e-3), "states"),
    ("qpos", _add((200, 9), 1e-8), "states"),
    ("qvel", _add((200, 9), 1e-7), "states"),
    ("torque", _add((90, 2), 1e-6), "torques"),
    ("com", _add((150, 1), 1e-8), "centre of mass"),
    ("cop", _add((150, 0), 1e-6), "pressure"),
    ("cop_valid", _flip(150), "pressure"),
    ("contact_force", _add((150, 1, 2), 1e-4), "contact forces"),
    ("contact_load", _add((150, 1), 1e-4), "contact forces"),
    ("contact_measured", _flip((150, 1)), "touching links"),
    ("contact_scheduled", _flip((slice(100, 300), 1)), "figures"),
    ("reference_qpos", _add((slice(100, 300), 8), 1e-2), "figures"),
    ("reference_com", _add((150, 1), 0.2), "figures"),
    ("support_height", _add((150,), 0.8), "verdict"),
    ("verdict_json", _claim(stood=False, fell_at_s=0.3), "verdict"),
    ("verdict_json", _claim(root_error_max_m=0.5), "figures"),
    ("verdict_json", _claim(joint_error_rms_rad=0.5), "figures"),
    ("verdict_json", _claim(contact_agreement=0.5), "figures"),
    ("end", lambda array: np.array("fell"), "verdict"),
]


@pytest.mark.parametrize(
    ("name", "falsify", "check"), FALSE, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(FALSE)]
)
def test_a_falsified_array_is_caught(
    name: str, falsify: Callable[[Any], Any], check: str, tmp_path: pathlib.Path
) -> None:
    dump = _dump("stood", tmp_path)
    dump[name] = falsify(dump[name])
    found = verify(written(dump, tmp_path))
    assert not found.ok
    assert check in {mismatch.check for mismatch in found.mismatches}
    assert found.summary()["ok"] is False


def test_a_fall_that_is_kept_secret_is_caught(tmp_path: pathlib.Path) -> None:
    dump = _dump("fell", tmp_path)
    dump["verdict_json"] = _claim(stood=True, fell_at_s=None)(dump["verdict_json"])
    found = verify(written(dump, tmp_path))
    assert {m.array for m in found.mismatches} == {
        "verdict_json stood", "verdict_json fell_at_s"
    }  # fmt: skip
    dump = _dump("fell", tmp_path)
    claimed = json.loads(str(dump["verdict_json"]))["fell_at_s"]
    dump["verdict_json"] = _claim(fell_at_s=claimed + 0.002)(dump["verdict_json"])
    assert [m.array for m in verify(written(dump, tmp_path)).mismatches] == [
        "verdict_json fell_at_s"
    ]


def test_torque_beyond_the_limits_is_caught(tmp_path: pathlib.Path) -> None:
    """The knee has 90 N m."""
    dump = _dump("stood", tmp_path)
    dump["torque"][120, 2] = 91.0
    found = verify(written(dump, tmp_path))
    assert "torque limits" in {mismatch.check for mismatch in found.mismatches}


def test_after_the_first_state_that_differs_nothing_is_compared(tmp_path: pathlib.Path) -> None:
    dump = _dump("stood", tmp_path)
    dump["qpos"][100:, 0] += 1.0
    found = verify(written(dump, tmp_path))
    assert found.checked == 100
    assert len([m for m in found.mismatches if m.array == "qpos"]) == 1
    assert "the replay left the dump at step 100: later steps were not compared" in found.notes


def test_another_version_of_the_engine_is_said(tmp_path: pathlib.Path) -> None:
    dump = _dump("stood", tmp_path)
    dump["engine"] = np.array("mujoco 3.9.9")
    notes = verify(written(dump, tmp_path)).notes
    assert f"made with mujoco 3.9.9, replayed with mujoco {mujoco.__version__}" in notes


def test_nan_is_caught(tmp_path: pathlib.Path) -> None:
    dump = _dump("stood", tmp_path)
    dump["ctrl"][30, 1] = np.nan
    found = verify(written(dump, tmp_path))
    assert [(m.check, m.array, m.sample) for m in found.mismatches] == [
        ("finite numbers", "ctrl", 30)
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ctrl": None, "cop": None}, "without"),
        ({"ctrl": np.zeros((3, 8))}, r"expected ctrl \(401, 8\)|expected ctrl \("),
        ({"contact_links": np.array(["left_foot", "hat"])}, "model_xml has no links hat"),
        ({"model_xml": np.array("<mujoco>")}, "model_xml or verdict_json cannot be read"),
        ({"verdict_json": np.array("[1]")}, "expected an object in verdict_json"),
        ({"end": np.array("tired")}, "expected end completed, fell, diverged or no command"),
        ({"steps_per_control": np.array(0)}, "expected steps_per_control 1 or more, got 0"),
        ({"cop_valid": np.zeros(3)}, "expected yes or no in cop_valid, got float64"),
    ],
)
def test_what_is_no_dump_is_refused(change: Arrays, message: str, tmp_path: pathlib.Path) -> None:
    dump = _dump("stood", tmp_path)
    for name, value in change.items():
        if value is None and name != "ctrl":
            del dump[name]
        elif value is not None:
            dump[name] = value
    with pytest.raises(Unusable, match=message):
        verify(written(dump, tmp_path))
