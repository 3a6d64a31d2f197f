"""From plan to joints: feet where they belong, the centre of mass on its pendulum."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.samples import body, plan, posing, smooth


def still() -> posing.Sway:
    nothing = smooth.Wander(np.zeros(1), np.ones(1), np.zeros(1))
    names = ["chest_roll", "chest_pitch", "pelvis_yaw", "head_yaw", "head_pitch"]
    names += [
        f"{side}_{what}" for side in ("Left", "Right") for what in ("out", "forward", "elbow")
    ]
    return posing.Sway((nothing, nothing), dict.fromkeys(names, nothing))


def stepping() -> tuple[body.Body, plan.Plan]:
    draft = plan.Draft(
        stature=1.75,
        inset=0.01,
        place={"left": np.array([0.0, 0.1, 0.0]), "right": np.array([0.0, -0.1, 0.0])},
        yaw={"left": 0.1, "right": -0.1},
    )
    draft.shift(1.0, 1.6, "right")
    draft.swing("left", 1.5, 2.3, np.array([0.0, 0.4, 0.0]), 0.1, plan.Swing(0.08, 0.2))
    draft.shift(2.2, 2.8, "both")
    return body.body(1.75), draft.plan(4.0)


def test_ankles_are_where_the_plan_has_them() -> None:
    person, footwork = stepping()
    pose = posing.pose(person, footwork, posing.Habit(), still())
    pos, quat = body.joint_places(person, pose.root_pos, pose.joint_quat)
    time = np.arange(len(pos)) / posing.GRID_HZ
    for side, falls, swings in (
        ("Left", footwork.left, footwork.left_swings),
        ("Right", footwork.right, footwork.right_swings),
    ):
        wanted = plan.foot_path(person, falls, swings, time)
        ankle = body.INDEX[f"{side}Foot"]
        np.testing.assert_allclose(pos[:, ankle], wanted.ankle_w, atol=1e-12)
        cosine = np.abs(np.sum(quat[:, ankle] * wanted.quat_w, axis=1))
        np.testing.assert_allclose(cosine, 1.0, atol=1e-12)


def test_toes_stay_level_while_the_heel_is_up() -> None:
    person, footwork = stepping()
    pose = posing.pose(person, footwork, posing.Habit(), still())
    _, quat = body.joint_places(person, pose.root_pos, pose.joint_quat)
    toe = quat[:, body.INDEX["LeftToe"]]
    # The z axis of a frame that is only turned about z: x and y of the quaternion vanish.
    np.testing.assert_allclose(toe[:, 1:3], 0.0, atol=1e-12)


def test_body_presses_where_the_plan_has_the_pressure() -> None:
    """The ZMP of the parts, with leg and trunk as they swing, within 1 mm of a path of 0.2 m."""
    person, footwork = stepping()
    pose = posing.pose(person, footwork, posing.Habit(), still())
    pos, _ = body.joint_places(person, pose.root_pos, pose.joint_quat)
    time = np.arange(len(pos)) / posing.GRID_HZ
    found = body.pressure_point(pos, 1.0 / posing.GRID_HZ)
    np.testing.assert_allclose(found, plan.pressure_path(footwork, time)[:, :2], atol=1e-3)


def test_body_leans_away_from_the_leg_that_reaches_out() -> None:
    """As in CMU 83_55: the feet's middle 0.19 m off the centre of mass, the chest 0.3 rad away."""
    habit = posing.Habit()
    zero, off = np.zeros(1), np.array([0.1])
    quat = posing.upper_body(habit, still(), zero, off, zero, zero)
    person = body.body(1.75)
    pos, turned = body.joint_places(person, np.zeros((1, 3)), quat)
    shoulders = 0.5 * (pos[0, body.INDEX["LeftArm"]] + pos[0, body.INDEX["RightArm"]])
    assert shoulders[1] < -0.05  # feet to the left of the centre, shoulders to its right
    assert pos[0, body.INDEX["LeftUpLeg"], 2] > pos[0, body.INDEX["RightUpLeg"], 2]
    chest = 2.0 * np.arcsin(turned[0, body.INDEX["Spine2"], 1])
    head = 2.0 * np.arcsin(turned[0, body.INDEX["Head"], 1])
    assert chest == pytest.approx(habit.trunk_lean * 0.1, rel=0.01)
    assert head == pytest.approx(0.1 * chest, abs=0.01)


def test_arms_hang_with_bent_elbows_and_palms_inwards() -> None:
    zero = np.zeros(1)
    quat = posing.upper_body(posing.Habit(), still(), zero, zero, zero, zero)
    person = body.body(1.75)
    pos, _ = body.joint_places(person, np.zeros((1, 3)), quat)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        shoulder, elbow, wrist = (
            pos[0, body.INDEX[f"{side}{part}"]] for part in ("Arm", "ForeArm", "Hand")
        )
        assert elbow[2] < shoulder[2] - 0.9 * 0.186 * 1.75
        assert wrist[2] < elbow[2] - 0.9 * 0.146 * 1.75
        assert sign * (elbow[1] - shoulder[1]) > 0.0
        upper, fore = elbow - shoulder, wrist - elbow
        bend = np.arccos(upper @ fore / np.linalg.norm(upper) / np.linalg.norm(fore))
        assert bend == pytest.approx(posing.Habit().elbow, abs=1e-6)
        assert fore[0] > upper[0]  # elbows bend forwards


def test_arms_swing_against_the_feet() -> None:
    """A left foot 0.3 m ahead brings the right arm forwards and the left side of the pelvis."""
    zero, ahead = np.zeros(1), np.array([0.3])
    habit = posing.Habit(arm_swing=0.6, pelvis_turn=0.2, arm_forward=0.0)
    quat = posing.upper_body(habit, still(), zero, zero, zero, ahead)
    pos, _ = body.joint_places(body.body(1.75), np.zeros((1, 3)), quat)
    left, right = pos[0, body.INDEX["LeftHand"]], pos[0, body.INDEX["RightHand"]]
    assert right[0] - left[0] > 0.15
    assert pos[0, body.INDEX["LeftUpLeg"], 0] > pos[0, body.INDEX["RightUpLeg"], 0]
