"""Whole dumps of human25 that sways on its feet, made by plain MuJoCo and Clarabel."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from make.dumps import HUMAN25, standing, swaying, written
from surefoot.verification import Verification, verify

N, HERE, CORNER = 12, 5, 5 * 8 + 1  # samples; the falsified one; its outer left heel

Arrays = dict[str, Any]
_MADE: dict[str, Arrays] = {}


def _dump(kind: str) -> Arrays:
    """Limited by friction, inside or sliding; the last sample of both is in flight."""
    if kind not in _MADE:
        inside = kind == "inside"
        _MADE[kind] = standing(
            N,
            seed=30 if inside else 51,
            vigour=1 if inside else 4,
            friction=0.1 if inside else 0.03,
        )
    return {name: np.array(array) for name, array in _MADE[kind].items()}


def _verified(dump: Arrays, folder: pathlib.Path) -> Verification:
    return verify(written(dump, folder))


@pytest.mark.parametrize("kind", ["inside", "outside"])
def test_a_true_dump_is_confirmed(kind: str, tmp_path: pathlib.Path) -> None:
    dump = _dump(kind)
    found = _verified(dump, tmp_path)
    assert found.ok, found.mismatches
    assert found.checked == N
    assert found.outside == int(np.sum(dump["d"] > 0.0))
    assert found.inside == int(np.sum(dump["d"] < 0.0))
    assert (found.inside > N / 2) == (kind == "inside")
    assert found.summary()["ok"] is True


@pytest.mark.parametrize("length", [0.3, 2.0])
@pytest.mark.parametrize("friction", [0.05, 0.7])
def test_length_scale_and_friction_enter_as_in_the_dump(
    friction: float, length: float, tmp_path: pathlib.Path
) -> None:
    dump = standing(6, seed=7, friction=friction, length=length)
    assert _verified(dump, tmp_path).ok


def _add(name: str, at: Any, value: float) -> Callable[[Arrays], None]:
    def falsify(dump: Arrays) -> None:
        dump[name][at] += value

    return falsify


def _put(name: str, at: Any, value: Any) -> Callable[[Arrays], None]:
    def falsify(dump: Arrays) -> None:
        dump[name][at] = value

    return falsify


def _lighter(dump: Arrays) -> None:
    text = str(dump["model_xml"])
    assert 'mass="7.4839"' in text
    dump["model_xml"] = np.str_(text.replace('mass="7.4839"', 'mass="7.4838"'))


def _turned(dump: Arrays) -> None:
    a = 1e-3
    turn = np.eye(6)
    turn[0, 0] = turn[4, 4] = np.cos(a)
    turn[0, 4], turn[4, 0] = -np.sin(a), np.sin(a)
    dump["dual"][HERE] = turn @ dump["dual"][HERE]


def _tilted(dump: Arrays) -> None:
    dump["vertex_normal"][CORNER] = [np.sin(0.3), 0.0, np.cos(0.3)]


FALSE: dict[str, tuple[Callable[[Arrays], None], str]] = {
    "time backwards": (_add("time", HERE, -0.02), "time"),
    "time by half a step": (_add("time", HERE, 0.0025), "time, qpos or qvel"),
    "time of the first": (_add("time", 0, -0.2), "time"),
    "qpos of the root": (_add("qpos", (HERE, 0), 1e-4), "wrench"),
    "qpos of a joint": (_add("qpos", (HERE, 23), 1e-4), "wrench"),
    "qvel": (_add("qvel", (HERE, 22), 1e-2), "wrench"),
    "qacc": (_add("qacc", (HERE, 22), 1e-2), "wrench"),
    "wrench force": (_add("wrench", (HERE, 1), 1e-3), "wrench"),
    "wrench moment": (_add("wrench", (HERE, 4), 1e-3), "wrench"),
    "wrench in flight": (_add("wrench", (N - 1, 4), 1e-3), "wrench"),
    "reference": (_add("reference", (HERE, 0), 1e-5), "wrench"),
    "d": (_add("d", HERE, 1e-3), "d"),
    "d_lower": (_add("d_lower", HERE, -1e-3), "d_lower"),
    "d_upper down": (_add("d_upper", HERE, -1e-3), "d_lower"),
    "d_upper up": (_add("d_upper", HERE, 1.0), "d_upper"),
    "dual": (_add("dual", (HERE, 2), 1e-4), "dual"),
    "dual turned": (_turned, "dual"),
    "dual of nothing": (_put("dual", HERE, 0.0), "dual"),
    "flag everything": (_put("flag", HERE, 2), "flag"),
    "flag unknown": (_put("flag", HERE, 7), "flag"),
    "length_scale": (_put("length_scale", (), 1.01), "d"),
    "cone_sides": (_put("cone_sides", (), 6), "d_upper"),
    "weight": (_add("weight", (), 1e-3), "weight"),
    "model_xml": (_lighter, "wrench"),
    "normal of wrong length": (_put("vertex_normal", (CORNER, 2), 1.001), "vertex_normal"),
    "negative friction": (_put("vertex_friction", CORNER, -0.7), "vertex_friction"),
    "vertex_sample out of range": (_put("vertex_sample", CORNER, 99), "vertex_sample"),
    "vertex_sample backwards": (_put("vertex_sample", CORNER, 1), "vertex_sample"),
    "qpos not a number": (_put("qpos", (HERE, 3), np.nan), "qpos"),
    "vertex infinite": (_put("vertex_pos", (CORNER, 1), np.inf), "vertex_pos"),
    "d without bound": (_put("d", HERE, -np.inf), "d"),
}


@pytest.mark.parametrize("kind", ["inside", "outside"])
@pytest.mark.parametrize("name", FALSE)
def test_one_false_number_in_any_array_is_named(
    name: str, kind: str, tmp_path: pathlib.Path
) -> None:
    falsify, array = FALSE[name]
    dump = _dump(kind)
    falsify(dump)
    found = _verified(dump, tmp_path)
    assert array in {m.array for m in found.mismatches}
    samples = {m.sample for m in found.mismatches if m.array == array}
    if np.ndim(dump[name.split()[0]] if name.split()[0] in dump else 0):
        assert samples & {HERE, HERE + 1, 0, 1, N - 1}
    assert found.summary()["ok"] is False


# What a changed contact does to a margin limited by friction: less room or more.
@pytest.mark.parametrize(
    ("name", "falsify", "array"),
    [
        ("less friction", _put("vertex_friction", CORNER, 0.05), "d_upper"),
        ("more friction", _put("vertex_friction", CORNER, 0.2), "dual"),
        ("nearer", _add("vertex_pos", (CORNER, 1), -0.05), "d_upper"),
        ("farther", _add("vertex_pos", (CORNER, 1), 0.05), "dual"),
        ("tilted", _tilted, "d_upper"),
        ("in the sample before", _put("vertex_sample", slice(40, 42), HERE - 1), "d_upper"),
    ],
)
def test_a_false_contact_that_matters_is_caught(
    name: str, falsify: Callable[[Arrays], None], array: str, tmp_path: pathlib.Path
) -> None:
    dump = _dump("inside")
    falsify(dump)
    found = _verified(dump, tmp_path)
    assert (HERE, array) in {(m.sample, m.array) for m in found.mismatches}


def test_a_contact_that_does_not_matter_cannot_be_seen(tmp_path: pathlib.Path) -> None:
    """A vertex between two others with the same normal and friction adds nothing to the cone."""
    dump = _dump("inside")
    dump["vertex_pos"][CORNER - 1, 1] -= 0.01
    assert _verified(dump, tmp_path).ok


def test_two_samples_may_share_a_time_if_they_share_the_pose(tmp_path: pathlib.Path) -> None:
    dump = _dump("inside")
    for array in dump.values():
        if np.ndim(array) and array.shape[0] == N:
            array[HERE + 1] = array[HERE]
    assert _verified(dump, tmp_path).ok
    dump["qpos"][HERE + 1, 9] += 1e-3
    assert "qpos" in {m.array for m in _verified(dump, tmp_path).mismatches}


def test_progress_counts_all_samples(tmp_path: pathlib.Path) -> None:
    said: list[tuple[int, int, str]] = []
    verify(written(_dump("inside"), tmp_path), progress=lambda *args: said.append(args))
    assert said[0][:2] == (0, N)
    assert said[-1] == (N, N, "checking the index")


def test_the_model_of_the_tests_is_the_bundled_one() -> None:
    assert swaying(1)["model_xml"] == HUMAN25.read_text(encoding="utf-8")
