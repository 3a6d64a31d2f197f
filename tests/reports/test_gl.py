"""Pictures by the engine's renderer: where things are seen, and what is said where no GL is."""

from __future__ import annotations

import os

import numpy as np
import pytest

from make.robots import biped
from surefoot.errors import MissingPart
from surefoot.motion.contact import Surface, Terrain
from surefoot.reports import gl, gl_child
from surefoot.reports.gl import Take
from surefoot.robots.robot import Robot

RED = (1.0, 0.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("robot"))


@pytest.fixture(scope="module")
def some_gl() -> str:
    kind = gl.find_gl()
    if kind is None:
        pytest.skip(f"no GL library renders here: {gl.INSTALL_GL}")
    return kind


def take(robot: Robot, **more) -> Take:
    home = np.array(robot.home)[None]
    given = {
        "ghosts": np.full_like(home, np.nan),
        "lookat_w": np.array([[0.0, 0.0, 0.5]]),
        "azimuth_deg": 0.0,
        "elevation_deg": 0.0,
        "distance_m": 2.0,
        "size_px": (240, 240),
    }
    return Take(robot, home, **{**given, **more})


def red(frame: np.ndarray) -> np.ndarray:
    r, g, b = (frame[..., k].astype(int) for k in range(3))
    return np.argwhere((r > 90) & (r > 2 * g) & (r > 2 * b))


def test_a_point_is_seen_where_perspective_puts_it_and_nothing_hides_it(
    some_gl: str, robot: Robot
) -> None:
    """From 2 m ahead at 45° of view, 240 px are 2 · 2 · tan 22.5° = 1.657 m where the robot stands.

    The point lies inside the torso, 0.3 m to the left and 0.2 m up from the middle of the picture.
    """
    point = np.array([[[0.0, 0.3, 0.7], [np.nan] * 3]])
    frames = gl.rendered(take(robot, point_w=point, point_rgba=(RED, RED)))
    assert frames.shape == (1, 240, 240, 3)
    scale = 240.0 / (4.0 * np.tan(np.radians(22.5)))
    row, column = red(frames[0]).mean(axis=0)
    assert column == pytest.approx(119.5 + 0.3 * scale, abs=1.5)
    assert row == pytest.approx(119.5 - 0.2 * scale, abs=1.5)


def test_an_arrow_is_as_long_as_it_is(some_gl: str, robot: Robot) -> None:
    """0.4 m across the sight; the tip is a cone, whose last pixel is thin."""
    frames = gl.rendered(
        take(
            robot,
            tail_w=np.array([[[0.0, -0.2, 0.9]]]),
            arrow_w=np.array([[[0.0, 0.4, 0.0]]]),
            arrow_rgba=(RED,),
        )
    )
    scale = 240.0 / (4.0 * np.tan(np.radians(22.5)))
    assert np.ptp(red(frames[0])[:, 1]) == pytest.approx(0.4 * scale, abs=3.0)


def test_a_ghost_and_a_terrain_are_seen(some_gl: str, robot: Robot) -> None:
    alone = gl.rendered(take(robot))[0].astype(int)
    aside = np.array(robot.home)[None]
    aside[0, 1] += 0.5
    haunted = gl.rendered(take(robot, ghosts=aside))[0].astype(int)
    changed = np.abs(haunted - alone).max(axis=2) > 20
    columns = np.flatnonzero(changed.any(axis=0))
    assert columns.min() > 120  # to the left of the robot is to the right of who looks at it
    step = Surface("box", np.array([0.0, -0.5, 0.1]), size=np.array([0.2, 0.3, 0.2]))
    stairs = Terrain((*Terrain().surfaces, step))
    grounded = gl.rendered(take(robot, terrain=stairs))[0].astype(int)
    rows, columns = np.nonzero(np.abs(grounded - alone).max(axis=2) > 20)
    assert columns.max() < 120
    assert rows.min() > 120


def test_progress_is_told_frame_by_frame(some_gl: str, robot: Robot) -> None:
    told: list[tuple[int, int, str]] = []
    home = np.repeat(np.array(robot.home)[None], 3, axis=0)
    ghosts = np.full_like(home, np.nan)
    many = Take(robot, home, ghosts, np.zeros((3, 3)), size_px=(16, 16))
    gl.rendered(many, progress=lambda *line: told.append(line))
    assert told == [(1, 3, "rendering"), (2, 3, "rendering"), (3, 3, "rendering")]


def test_where_no_kind_of_gl_works_it_is_said_what_to_install(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gl.find_gl.cache_clear()
    monkeypatch.setattr(gl, "_run", lambda *_: gl_child.NO_GL)
    try:
        assert gl.find_gl() is None
        with pytest.raises(MissingPart) as caught:
            gl.rendered(take(robot))
    finally:
        gl.find_gl.cache_clear()
    assert caught.value.sentence == (
        f"no GL library renders without a display here. Install one: {gl.INSTALL_GL}"
    )


def test_a_kind_that_has_no_library_is_told_by_the_exit_status(tmp_path) -> None:
    """A kind that does not exist is refused by MuJoCo when it is imported, like a lost library."""
    (tmp_path / "job.npz").write_bytes(b"")
    assert gl._run(tmp_path, "no-such-gl", 60.0, None) == gl_child.NO_GL
    assert (tmp_path / "why.txt").exists()


def test_what_the_user_asks_for_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    assert gl._kinds()[0] == "osmesa"
    monkeypatch.setenv("MUJOCO_GL", "disabled")
    assert "disabled" not in gl._kinds()
    assert os.environ["MUJOCO_GL"] == "disabled"  # nobody changes it
