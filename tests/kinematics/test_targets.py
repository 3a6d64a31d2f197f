"""What is no target is refused, with the frame."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import BadMotion
from surefoot.kinematics import DirectionTarget, OrientationTarget, Pin, PointTarget
from surefoot.kinematics.targets import finite


def test_a_position_that_is_not_finite_is_refused_with_its_frame() -> None:
    position = np.zeros((4, 3))
    position[2, 1] = np.nan
    with pytest.raises(BadMotion) as error:
        PointTarget("foot", np.zeros(3), position)
    assert str(error.value) == (
        "position_w is not finite in frame 2 (point target on 'foot'). "
        "Fill the gap, and give the target weight 0 there"
    )


def test_a_direction_that_is_not_finite_is_refused_with_both_links() -> None:
    direction = np.array([[0.0, 0.0, 1.0], [0.0, np.inf, 0.0]])
    with pytest.raises(BadMotion) as error:
        DirectionTarget("hip", np.zeros(3), "knee", np.zeros(3), direction)
    assert str(error.value).startswith(
        "direction_w is not finite in frame 1 (direction target on 'hip' to 'knee')"
    )


def test_a_direction_without_length_is_refused() -> None:
    direction = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    with pytest.raises(BadMotion) as error:
        DirectionTarget("hip", np.zeros(3), "knee", np.zeros(3), direction)
    assert str(error.value) == (
        "direction_w has no length in frame 1 (direction target on 'hip' to 'knee'). "
        "Give any other vector and weight 0 there"
    )


def test_a_direction_from_a_point_to_itself_is_refused() -> None:
    with pytest.raises(BadMotion, match="a direction from a point to itself"):
        DirectionTarget("hip", np.zeros(3), "hip", np.zeros(3), np.array([[0.0, 0.0, 1.0]]))


def test_directions_are_brought_to_unit_length() -> None:
    target = DirectionTarget("a", np.zeros(3), "b", np.zeros(3), np.array([[0.0, 3.0, 4.0]]))
    np.testing.assert_allclose(target.direction_w, [[0.0, 0.6, 0.8]])


def test_an_orientation_that_is_no_unit_quaternion_is_refused() -> None:
    with pytest.raises(BadMotion, match=r"quat_wl must hold unit quaternions.*on 'foot'"):
        OrientationTarget("foot", np.array([[1.0, 0.1, 0.0, 0.0]]))


def test_positions_of_another_width_are_refused() -> None:
    """By the check that all targets share: in tests the types of a target's fields speak first."""
    with pytest.raises(BadMotion) as error:
        finite("position_w", np.zeros((4, 2)), 3, where="pin on 'foot'")
    assert str(error.value) == "expected position_w (n, 3), got (4, 2) (pin on 'foot')"


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.array([1.0, -0.1])])
def test_a_weight_that_is_negative_or_not_finite_is_refused(weight: float) -> None:
    with pytest.raises(BadMotion) as error:
        PointTarget("foot", np.zeros(3), np.zeros((2, 3)), weight)
    assert str(error.value) == (
        "expected weights that are finite and not negative (point target on 'foot')"
    )


def test_a_point_weight_is_one_number_or_one_per_frame() -> None:
    with pytest.raises(BadMotion) as error:
        PointTarget("foot", np.zeros(3), np.zeros((2, 3)), np.ones(3))
    assert str(error.value) == (
        "expected a weight of shape (), (2,), got (3,) (point target on 'foot')"
    )


def test_an_orientation_weight_of_one_dimension_speaks_of_axes_never_of_frames() -> None:
    quat = np.tile([1.0, 0.0, 0.0, 0.0], (5, 1))
    with pytest.raises(BadMotion) as error:
        OrientationTarget("foot", quat, np.ones(5))
    assert str(error.value) == (
        "expected a weight of shape (), (3,), (5, 1), (5, 3), got (5,) "
        "(orientation target on 'foot')"
    )


def test_a_pin_says_for_every_frame_whether_it_is_active() -> None:
    with pytest.raises(BadMotion) as error:
        Pin("foot", np.zeros(3), np.zeros((4, 3)), np.ones(3, dtype=np.bool_))
    assert str(error.value) == "expected active (4,), got (3,) (pin on 'foot')"


def test_targets_keep_their_own_locked_arrays() -> None:
    position = np.zeros((2, 3))
    target = PointTarget("foot", np.zeros(3), position)
    position[0, 0] = 5.0
    assert target.position_w[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        target.position_w[0, 0] = 1.0
