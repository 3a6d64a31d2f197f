"""Feet on their plan: still where they stand, over the ground where they do not."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.motion import rotation
from surefoot.samples import body, plan

PERSON = body.body(1.75)


def one_swing() -> tuple[tuple[plan.Footfall, ...], tuple[plan.Swing, ...]]:
    falls = (
        plan.Footfall(0.0, 1.0, np.array([0.0, 0.1, 0.0]), 0.1),
        plan.Footfall(1.8, 3.0, np.array([0.05, 0.5, 0.0]), 0.2),
    )
    return falls, (plan.Swing(height=0.08, heel_up=0.2),)


def test_foot_stands_where_the_footfall_says() -> None:
    falls, swings = one_swing()
    foot = plan.foot_path(PERSON, falls, swings, np.array([0.0, 1.0, 1.8, 3.0]))
    ankle = [0.0, 0.1, 0.039 * 1.75]
    np.testing.assert_allclose(foot.ankle_w[:2], [ankle, ankle], atol=1e-12)
    ankle = [0.05, 0.5, 0.039 * 1.75]
    np.testing.assert_allclose(foot.ankle_w[2:], [ankle, ankle], atol=1e-12)
    np.testing.assert_allclose(
        foot.quat_w[0], rotation.from_euler("z", np.array([0.1])), atol=1e-15
    )


@pytest.mark.parametrize("moment", [1.0, 1.08, 1.24, 1.56, 1.736, 1.8])
def test_foot_has_one_acceleration_at_every_moment(moment: float) -> None:
    """Where pieces meet, the accelerations just before and after differ by O(h).

    A jerk of 60 · 0.4 m / (0.656 s)³ on either side: at most 2 · 2 h · 150 m/s³.
    """
    falls, swings = one_swing()
    for h in (1e-2, 1e-3):
        around = moment + h * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
        ankle = plan.foot_path(PERSON, falls, swings, around).ankle_w
        acc = np.diff(ankle, 2, axis=0)[[0, 2]] / h**2
        assert np.abs(acc[1] - acc[0]).max() < 600.0 * h


def test_ball_rises_to_the_height_of_the_swing() -> None:
    falls, swings = one_swing()
    time = np.linspace(1.0, 1.8, 801)
    foot = plan.foot_path(PERSON, falls, swings, time)
    ball = foot.ankle_w + rotation.rotate(foot.quat_w, PERSON.ball_f)
    assert ball[:, 2].max() == pytest.approx(0.08, abs=1e-9)
    assert ball[:, 2].min() == pytest.approx(0.0, abs=1e-12)


def test_heel_is_never_lower_than_the_ball() -> None:
    falls, swings = one_swing()
    foot = plan.foot_path(PERSON, falls, swings, np.linspace(0.0, 3.0, 901))
    heel = foot.ankle_w + rotation.rotate(foot.quat_w, PERSON.heel_f)
    ball = foot.ankle_w + rotation.rotate(foot.quat_w, PERSON.ball_f)
    assert np.all(heel[:, 2] >= ball[:, 2] - 1e-12)


def test_pressure_goes_from_shift_to_shift() -> None:
    draft = plan.Draft(
        stature=1.75,
        inset=0.01,
        place={"left": np.array([0.0, 0.1, 0.0]), "right": np.array([0.0, -0.1, 0.0])},
        yaw={"left": 0.0, "right": 0.0},
    )
    draft.shift(1.0, 1.5, "right")
    draft.shift(2.0, 2.5, "left")
    draft.shift(3.0, 3.5, "both")
    path = plan.pressure_path(draft.plan(4.0), np.array([0.0, 1.0, 1.25, 1.7, 2.7, 4.0]))
    np.testing.assert_allclose(path[:, 1], [0.0, 0.0, -0.045, -0.09, 0.09, 0.0], atol=1e-12)
    np.testing.assert_allclose(path[:, 0], 0.026 * 1.75, atol=1e-12)


def test_rests_as_planned_are_the_footfalls() -> None:
    falls, swings = one_swing()
    assert plan.rests(PERSON, falls, swings, PERSON.ball_f, 0.0) == ((0.0, 1.0), (1.8, 3.0))


def test_rests_by_speed_end_where_that_speed_is_passed() -> None:
    falls, swings = one_swing()
    (_, end), (start, _) = plan.rests(PERSON, falls, swings, PERSON.ball_f, 0.2)
    h = 1e-4
    for moment in (end, start):
        foot = plan.foot_path(PERSON, falls, swings, np.array([moment - h, moment + h]))
        ball = foot.ankle_w + rotation.rotate(foot.quat_w, PERSON.ball_f)
        speed = np.linalg.norm(ball[1] - ball[0]) / (2.0 * h)
        # One sample of 0.8 ms at up to 7 m/s².
        assert speed == pytest.approx(0.2, abs=0.01)
    assert 1.0 < end < start < 1.8


def test_toes_stay_where_they_are_while_the_heel_rises_over_them() -> None:
    """The heel leaves 0.15 s before the ball; the joint of the toes does not move meanwhile."""
    falls, _ = one_swing()
    swings = (plan.Swing(height=0.08, heel_up=0.5, roll_s=0.15),)
    assert plan.rests(PERSON, falls, swings, PERSON.heel_f, 0.0) == ((0.0, 0.85), (1.8, 3.0))
    assert plan.rests(PERSON, falls, swings, PERSON.ball_f, 0.0) == ((0.0, 1.0), (1.8, 3.0))
    foot = plan.foot_path(PERSON, falls, swings, np.linspace(0.5, 1.0, 51))
    joint = foot.ankle_w + rotation.rotate(foot.quat_w, PERSON.offsets[body.INDEX["LeftToe"]])
    assert np.ptp(joint, axis=0).max() < 1e-12
    heel = foot.ankle_w + rotation.rotate(foot.quat_w, PERSON.heel_f)
    assert heel[0, 2] == pytest.approx(0.0, abs=1e-12)
    assert heel[-1, 2] > 0.02


def test_foot_climbs_before_it_travels_where_the_swing_says_so() -> None:
    falls = (
        plan.Footfall(0.0, 1.0, np.array([0.0, 0.1, 0.0]), 0.0),
        plan.Footfall(2.0, 3.0, np.array([0.6, 0.1, 0.2]), 0.0),
    )
    swings = (plan.Swing(0.0, 0.0, travel=(0.5, 1.0), climb=(0.0, 0.5)),)
    ankle = plan.foot_path(PERSON, falls, swings, np.array([1.5])).ankle_w[0]
    np.testing.assert_allclose(ankle, [0.0, 0.1, 0.2 + 0.039 * 1.75], atol=1e-12)
