"""The person: lengths and masses against the published tables."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.motion import rotation
from surefoot.samples import body


def t_pose(stature: float) -> tuple[body.Body, np.ndarray, np.ndarray]:
    person = body.body(stature)
    quat = np.zeros((1, len(body.JOINT_NAMES), 4))
    quat[..., 0] = 1.0
    root = np.array([[0.0, 0.0, body.HIP_HEIGHT * stature]])
    return person, *body.joint_places(person, root, quat)


@pytest.mark.parametrize(
    ("joint", "height"),
    [
        ("LeftUpLeg", 0.530),
        ("LeftLeg", 0.285),
        ("LeftFoot", 0.039),
        ("Neck", 0.870),
        ("RightArm", 0.818),
        ("RightHand", 0.818),
    ],
)
def test_t_pose_has_the_heights_of_winters_figure(joint: str, height: float) -> None:
    """Winter, Biomechanics and Motor Control of Human Movement, figure 4.1, times 1.8 m."""
    _, pos, _ = t_pose(1.8)
    assert pos[0, body.INDEX[joint], 2] == pytest.approx(1.8 * height, abs=1e-12)


def test_crown_is_at_the_stature() -> None:
    person, pos, quat = t_pose(1.7)
    head = body.INDEX["Head"]
    crown = pos[0, head] + rotation.rotate(quat[0, head], person.end_offsets[head])
    assert crown == pytest.approx([0.0, 0.0, 1.7], abs=1e-12)


def test_arm_span_is_shoulders_and_both_arms() -> None:
    """0.259 + 2 (0.186 + 0.146 + 0.108) = 1.139 statures, by figure 4.1."""
    person, pos, _ = t_pose(1.0)
    left, right = (body.INDEX[f"{side}Hand"] for side in ("Left", "Right"))
    ends = [pos[0, hand] + person.end_offsets[hand] for hand in (left, right)]
    assert ends[0][1] - ends[1][1] == pytest.approx(1.139, abs=1e-12)


def test_foot_is_as_long_as_the_table_says() -> None:
    person, _, _ = t_pose(1.0)
    toe = body.INDEX["LeftToe"]
    tip = person.offsets[toe] + person.end_offsets[toe]
    assert tip[0] - person.heel_f[0] == pytest.approx(0.152, abs=1e-12)


def test_masses_add_up_to_the_whole_body() -> None:
    share = body.MASS_SHARE
    paired = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
    whole = share["head"] + share["trunk"] + 2.0 * sum(share[part] for part in paired)
    assert whole == pytest.approx(1.0, abs=1e-12)


def test_standing_centre_of_mass_is_where_people_have_it() -> None:
    """Winter: at 0.55 to 0.57 of the stature with hanging arms.

    Arms held out are higher by their centres' distances from the shoulder:
    2 (0.0271 · 0.577 · 0.186 + 0.0162 (0.186 + 0.457 · 0.146) + 0.0061 (0.186 + 0.146)) = 0.018.
    """
    person, pos, quat = t_pose(1.0)
    centre = body.centre_of_mass(person, pos, quat)[0]
    assert 0.55 < centre[2] - 0.018 < 0.57
    assert abs(centre[1]) < 1e-12
    assert 0.0 < centre[0] < 0.01  # only the feet reach forwards


def test_centre_of_mass_moves_with_the_body() -> None:
    person, pos, quat = t_pose(1.75)
    turn = rotation.from_rotvec(np.array([0.3, -0.5, 1.1]))
    shift = np.array([1.0, 2.0, 3.0])
    moved = rotation.rotate(turn, pos) + shift
    turned = rotation.multiply(turn, quat)
    expected = rotation.rotate(turn, body.centre_of_mass(person, pos, quat)) + shift
    np.testing.assert_allclose(body.centre_of_mass(person, moved, turned), expected, atol=1e-12)
