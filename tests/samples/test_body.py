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
    assert body.part_masses().sum() == pytest.approx(1.0, abs=1e-12)


def test_trunk_is_as_heavy_and_its_centre_where_the_table_says() -> None:
    """0.4346 of the body, centred 0.4486 of the way from the shoulders down to the hips."""
    _, pos, _ = t_pose(1.0)
    trunk = [i for i, part in enumerate(body.PARTS) if part[1] in ("Spine2", "Spine1", "Hips")]
    mass, height = body.part_masses()[trunk], body.part_centres(pos)[0, trunk, 2]
    assert mass.sum() == pytest.approx(0.4346, abs=1e-12)
    expected = 0.818 - 0.4486 * (0.818 - 0.530)
    assert mass @ height / mass.sum() == pytest.approx(expected, abs=0.002)


def test_standing_centre_of_mass_is_where_people_have_it() -> None:
    """Winter: at 0.55 to 0.57 of the stature with hanging arms.

    Arms held out are higher by their centres' distances from the shoulder:
    2 (0.0271 · 0.577 · 0.186 + 0.0162 (0.186 + 0.457 · 0.146) + 0.0061 (0.186 + 0.146)) = 0.018.
    """
    _, pos, _ = t_pose(1.0)
    centre = body.centre_of_mass(pos)[0]
    assert 0.55 < centre[2] - 0.018 < 0.57
    assert abs(centre[1]) < 1e-12
    assert 0.0 < centre[0] < 0.01  # only the feet reach forwards


def test_centre_of_mass_moves_with_the_body() -> None:
    _, pos, _ = t_pose(1.75)
    turn = rotation.from_rotvec(np.array([0.3, -0.5, 1.1]))
    shift = np.array([1.0, 2.0, 3.0])
    expected = rotation.rotate(turn, body.centre_of_mass(pos)) + shift
    found = body.centre_of_mass(rotation.rotate(turn, pos) + shift)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_pressure_of_a_still_body_is_under_its_centre() -> None:
    _, pos, _ = t_pose(1.75)
    found = body.pressure_point(np.repeat(pos, 5, axis=0), 1.0 / 120.0)
    np.testing.assert_allclose(
        found, np.repeat(body.centre_of_mass(pos)[:, :2], 5, axis=0), atol=1e-12
    )


def test_pressure_of_a_body_that_is_pushed_lies_behind_it() -> None:
    """All parts with the same acceleration, a sideways and b upwards: c − z a / (g + b)."""
    _, pos, _ = t_pose(1.75)
    time = np.arange(7) / 120.0
    push = np.array([0.5, -2.0, 1.0])
    moved = pos + 0.5 * push * time[:, None, None] ** 2
    centre = body.centre_of_mass(moved)
    expected = centre[:, :2] - centre[:, 2:] * push[:2] / (9.81 + push[2])
    found = body.pressure_point(moved, 1.0 / 120.0)
    np.testing.assert_allclose(found[1:-1], expected[1:-1], atol=1e-9)


def test_pressure_balances_the_momentum_of_parts_that_turn() -> None:
    """About the found point the horizontal moments of all m (a + g) vanish, by the definition."""
    _, pos, _ = t_pose(1.75)
    time = np.arange(-3, 4) / 120.0
    turn = rotation.from_rotvec(np.array([1.0, 0.4, 0.2]) * (2.0 * time**2 + time)[:, None])
    moved = rotation.rotate(turn[:, None], np.repeat(pos, 7, axis=0))
    x, y = body.pressure_point(moved, 1.0 / 120.0)[3]
    centre = body.part_centres(moved)
    acc = (centre[4] - 2.0 * centre[3] + centre[2]) * 120.0**2
    force = body.part_masses()[:, None] * (acc + np.array([0.0, 0.0, 9.81]))
    moment = np.cross(centre[3] - np.array([x, y, 0.0]), force).sum(axis=0)
    np.testing.assert_allclose(moment[:2], 0.0, atol=1e-9)
