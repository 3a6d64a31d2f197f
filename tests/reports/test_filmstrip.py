"""Film strips: which moments they show, and that one is always there."""

from __future__ import annotations

import io
from dataclasses import replace

import matplotlib.image
import numpy as np
import pytest

from make.robots import biped
from make.runs import LIFT_S, TOUCH_S, fallen, stood
from surefoot.errors import BadInput, MissingPart
from surefoot.motion.contact import ContactSchedule
from surefoot.reports import gl
from surefoot.reports.filmstrip import (
    IN_A_ROW,
    simulated_strip,
    svgs_of,
    swings_of,
    write_filmstrip,
)
from surefoot.robots.robot import Robot
from surefoot.simulation.verdict import Verdict


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("robot"))


@pytest.fixture(scope="module")
def run(robot: Robot) -> Verdict:
    return stood(robot)


def test_a_swing_has_a_lift_off_a_middle_and_a_touch_down(run: Verdict, robot: Robot) -> None:
    """The right foot is away from 0.4 s to 0.6 s."""
    (swing,) = swings_of(run.clip.contacts, robot, np.inf)
    assert [what for _, what in swing] == [
        "lift-off, right foot", "mid-swing, right foot", "touch-down, right foot",
    ]  # fmt: skip
    middle = 0.5 * (LIFT_S + TOUCH_S)
    np.testing.assert_allclose([t for t, _ in swing], [LIFT_S, middle, TOUCH_S])


def test_the_strip_has_the_states_of_the_run_over_the_reference(run: Verdict) -> None:
    strip = simulated_strip(run)
    assert strip is not None
    rows = [int(np.argmin(np.abs(run.trace.time - t))) for t in (0.4, 0.5, 0.6)]
    np.testing.assert_array_equal(strip.qpos, run.trace.qpos[rows])
    np.testing.assert_array_equal(strip.ghosts, run.trace.target_qpos[rows])
    assert strip.labels[1].startswith("mid-swing, right foot\n0.50")
    (svg,) = svgs_of(strip)
    assert svg.count("<g opacity") == 3


def test_swings_that_end_after_the_fall_are_left_out(robot: Robot) -> None:
    run = fallen(robot)
    assert run.fell_at is not None
    early = replace(run.trace, fell_at=0.55)
    assert simulated_strip(replace(run, trace=early)) is None


@pytest.mark.parametrize("none", [False, True])
def test_without_gl_the_strip_is_painted(
    run: Verdict, tmp_path, monkeypatch: pytest.MonkeyPatch, none: bool
) -> None:
    if none:
        monkeypatch.setattr(gl, "find_gl", lambda: None)
    path = tmp_path / "filmstrip.png"
    assert write_filmstrip([run], path, drawn="auto" if none else "painted") == "painted"
    pixels = matplotlib.image.imread(io.BytesIO(path.read_bytes()))
    assert pixels.shape[1] == 1560
    assert pixels.shape[0] > 300
    np.testing.assert_allclose(pixels[0, 0, :3], 1.0)
    left = pixels[:, : 1560 // IN_A_ROW]
    assert (left[..., :3].min(axis=2) < 0.9).mean() > 0.05  # somebody is there


def test_gl_that_is_asked_for_and_not_there_is_missing(
    run: Verdict, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gl, "find_gl", lambda: None)
    with pytest.raises(MissingPart, match=r"no GL library renders without a display here"):
        write_filmstrip([run], tmp_path / "filmstrip.png", drawn="gl")
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_swings_has_no_strip(run: Verdict, tmp_path) -> None:
    still = replace(
        run, clip=replace(run.clip, contacts=ContactSchedule(run.clip.contacts.stances[:1]))
    )
    assert simulated_strip(still) is None
    with pytest.raises(BadInput, match="no foot swings: there is nothing for a film strip"):
        write_filmstrip([still], tmp_path / "filmstrip.png")
