"""Stances of motions whose contacts are known by hand: the robot moves as one stiff body."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import surefoot as sf
from make.standing import only, stiff
from surefoot.contacts.detect import Options, detect
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, BadOption, BadRobot
from surefoot.robots.robot import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return sf.load_robot("human25")


def test_a_robot_that_stands_has_one_stance_a_sole_from_first_to_last_frame(robot: Robot) -> None:
    time = np.arange(61) / 30.0
    found = detect(stiff(robot, time), robot).stances
    assert [s.link for s in found] == sorted(sole.link for sole in robot.soles)
    assert all((s.start, s.end, s.mode) == (0.0, 2.0, "face") for s in found)
    for stance in found:
        sole = next(s for s in robot.soles if s.link == stance.link)
        assert np.array_equal(stance.vertices, sole.polygon_l)


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_a_hop_ends_and_begins_stances_within_a_frame(robot: Robot, fps: float) -> None:
    """z = 0.3 sin²(π (t − 1)) for 1 ≤ t ≤ 2: ż = 0.3 π sin(2 π (t − 1)) passes 0.3 m/s, where
    sin = 1/π, at 1.052 s and again at 1.948 s; the body hardly falls, so carrying is left out."""
    time = np.arange(round(3.0 * fps) + 1) / fps
    z = np.where((time > 1.0) & (time < 2.0), 0.3 * np.sin(np.pi * (time - 1.0)) ** 2, 0.0)
    motion = stiff(robot, time, only(len(time), 2, z))
    found = detect(motion, robot, options=Options(carry_mps=0.0))
    frame = 1.5 / fps
    assert len(found.stances) == 2 * len(robot.soles)
    for stance in found.stances:
        if stance.start == 0.0:
            assert 1.0 - frame <= stance.end <= 1.052 + frame
        else:
            assert 1.948 - frame <= stance.start <= 2.0 + frame
            assert stance.end == time[-1]
    assert found.at(1.5) == ()


def test_heels_up_leaves_the_front_edge(robot: Robot) -> None:
    """Pitched by 0.6 rad about the front edge of the soles, only the front corners stay low."""
    home = Batch(robot, robot.home[None])
    corners = {s.link: home.points_w(s.link, s.polygon_l)[0] for s in robot.soles}
    front = max(float(c[:, 0].max()) for c in corners.values())
    time = np.arange(91) / 30.0
    pitch = 0.6 * np.clip(time - 1.0, 0.0, 1.0) ** 2 * (3.0 - 2.0 * np.clip(time - 1.0, 0.0, 1.0))
    motion = stiff(robot, time, pitch=pitch, about_w=np.array([front, 0.0, 0.0]))
    late = detect(motion, robot).at(2.9)
    assert late
    for stance in late:
        assert stance.mode == "edge"
        held = home.points_w(stance.link, stance.vertices)[0]
        assert held[:, 0] == pytest.approx(front, abs=1e-9)


def test_a_constant_height_error_changes_nothing(robot: Robot) -> None:
    """Clips made elsewhere float or sink: the local ground is taken from the feet themselves."""
    time = np.arange(61) / 30.0
    for height in (-0.05, 0.08):
        found = detect(stiff(robot, time, only(61, 2, np.full(61, height))), robot)
        assert len(found.stances) == len(robot.soles)


def test_a_foot_that_slides_fast_does_not_stand(robot: Robot) -> None:
    time = np.arange(61) / 30.0
    motion = stiff(robot, time, only(61, 0, 0.6 * time))
    assert detect(motion, robot, options=Options(carry_mps=0.0)).stances == ()


def test_a_flicker_of_one_frame_is_no_gap(robot: Robot) -> None:
    time = np.arange(61) / 30.0
    z = np.zeros(61)
    z[30] = 0.05
    found = detect(stiff(robot, time, only(61, 2, z)), robot)
    assert len(found.stances) == len(robot.soles)


def test_uneven_frame_times_are_taken_as_they_are(robot: Robot) -> None:
    rng = np.random.default_rng(5)
    time = np.cumsum(rng.uniform(0.01, 0.05, 120))
    found = detect(stiff(robot, time), robot)
    assert {(s.start, s.end) for s in found.stances} == {(time[0], time[-1])}


def test_thresholds_can_be_chosen(robot: Robot) -> None:
    time = np.arange(61) / 30.0
    motion = stiff(robot, time, only(61, 0, 0.1 * time))
    assert len(detect(motion, robot).stances) == len(robot.soles)
    strict = Options(speed_mps=(0.05, 0.08), carry_mps=0.0)
    assert detect(motion, robot, options=strict).stances == ()


def test_one_frame_is_refused(robot: Robot) -> None:
    with pytest.raises(BadMotion, match="contacts need at least 2 frames, got 1"):
        detect(stiff(robot, np.zeros(1)), robot)


def test_a_robot_without_soles_is_refused(robot: Robot) -> None:
    bare = dataclasses.replace(robot, soles=())
    with pytest.raises(BadRobot, match="has no soles"):
        detect(stiff(robot, np.arange(3.0)), bare)


def test_thresholds_that_fall_are_refused() -> None:
    with pytest.raises(
        BadOption, match=r"height_m must be two rising positive numbers, got 0.02, 0.01"
    ):
        Options(height_m=(0.02, 0.01))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"tilt_deg": (20.0, 10.0)},
            "tilt_deg must be two rising positive numbers, got 20.0, 10.0",
        ),
        ({"speed_mps": (0.1, np.nan)}, "speed_mps must be two rising positive numbers, got 0.1, n"),
        ({"shortest_s": -0.1}, "shortest_s must be 0 or more, ground_window_s more than 0"),
        ({"ground_window_s": 0.0}, "shortest_s must be 0 or more, ground_window_s more than 0"),
        ({"carry_mps": -1.0}, "carry_mps must be 0 or more, got -1.0"),
        ({"speed_window_s": np.inf}, "speed_window_s must be 0 or more, got inf"),
        ({"rate_hz": 0.0}, "rate_hz must be positive, got 0.0"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        Options(**options)  # type: ignore[arg-type]  # one option each


def test_the_shortest_clip_of_two_frames_is_looked_at(robot: Robot) -> None:
    found = detect(stiff(robot, np.array([0.0, 0.01])), robot)
    assert {(s.start, s.end) for s in found.stances} == {(0.0, 0.01)}
