"""A film of a run: what each frame shows, and what is said where it cannot be made."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from make.robots import biped
from make.runs import fallen, stood
from surefoot.errors import MissingPart
from surefoot.reports import gl
from surefoot.reports.video import ARROW_HEIGHTS, take_of, write_video
from surefoot.robots.robot import Robot
from surefoot.simulation.verdict import Verdict


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("robot"))


@pytest.fixture(scope="module")
def run(robot: Robot) -> Verdict:
    return stood(robot)


def test_frames_are_the_states_at_their_moments(run: Verdict) -> None:
    """From −0.2 s to 1.2 s at 10 frames a second: 15 frames, every 50th control step."""
    take = take_of(run, fps=10.0)
    np.testing.assert_array_equal(take.qpos, run.trace.qpos[::50])
    np.testing.assert_array_equal(take.ghosts, run.trace.target_qpos[::50])


def test_arrows_are_the_forces_over_the_weight(run: Verdict, robot: Robot) -> None:
    take = take_of(run, fps=10.0)
    assert take.arrow_w is not None
    up = np.nansum(take.arrow_w[-3:, :, 2], axis=1)
    stature = 1.75 * robot.home_height
    np.testing.assert_allclose(up, ARROW_HEIGHTS * stature, rtol=0.05)


def test_what_is_not_there_is_not_shown(robot: Robot) -> None:
    """After the fall feet press on nothing."""
    run = fallen(robot)
    take = take_of(run, fps=50.0)
    assert take.arrow_w is not None
    assert take.point_w is not None
    loads = np.linalg.norm(run.trace.contact_force_w[::10], axis=2) / run.trace.weight_n
    np.testing.assert_array_equal(np.isnan(take.arrow_w[..., 0]), loads[: len(take.qpos)] <= 0.01)
    assert np.isfinite(take.lookat_w).all()


def test_a_film_is_written_whole_with_all_its_frames(run: Verdict, tmp_path) -> None:
    av = pytest.importorskip("av", reason=f"no encoder: {gl.INSTALL_AV}")
    if gl.find_gl() is None:
        pytest.skip(f"no GL library renders here: {gl.INSTALL_GL}")
    path = tmp_path / "run.mp4"
    write_video(run, path, fps=5.0, size_px=(161, 121))
    with av.open(str(path)) as film:
        frames = list(film.decode(video=0))
    assert len(frames) == 8  # 1.4 s, both ends in
    assert (frames[0].width, frames[0].height) == (160, 120)  # even sides
    first, last = (frames[i].to_ndarray(format="rgb24").astype(int) for i in (0, -1))
    assert first.std() > 10.0
    assert np.abs(first - last).max() > 10
    assert [p.name for p in tmp_path.iterdir()] == ["run.mp4"]


def test_without_an_encoder_it_is_said_what_to_install_and_nothing_is_written(
    run: Verdict, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPart) as caught:
        write_video(run, tmp_path / "run.mp4")
    assert caught.value.sentence == (
        "a video needs the package 'av'. Install it: pip install 'surefoot[video]'"
    )
    assert list(tmp_path.iterdir()) == []


def test_without_gl_it_is_said_what_to_install_and_nothing_is_written(
    run: Verdict, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(gl, "find_gl", lambda: None)
    with pytest.raises(MissingPart, match="Install one: "):
        write_video(run, tmp_path / "run.mp4")
    assert list(tmp_path.iterdir()) == []
