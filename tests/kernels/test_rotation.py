"""Scalar quaternion functions of the kernels against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from surefoot.kernels import rotation

EXACT = 1e-14  # a handful of roundings of numbers of order one


@pytest.fixture(scope="module")
def turns() -> Rotation:
    return Rotation.random(50, random_state=3)


def wxyz(turn: Rotation) -> np.ndarray:
    return np.roll(turn.as_quat(), 1, axis=-1)


def same_turn(a: np.ndarray, b: np.ndarray) -> bool:
    return min(np.abs(a - b).max(), np.abs(a + b).max()) < EXACT


def test_a_product_turns_by_the_second_factor_first(turns: Rotation) -> None:
    for a, b in zip(turns[:25], turns[25:], strict=True):
        assert same_turn(np.array(rotation.multiply(*wxyz(a), *wxyz(b))), wxyz(a * b))


def test_a_vector_is_turned_as_by_the_matrix(turns: Rotation) -> None:
    vector = np.array([0.3, -1.2, 0.7])
    for turn in turns:
        assert np.abs(rotation.rotate(*wxyz(turn), *vector) - turn.apply(vector)).max() < EXACT
        matrix = np.array(rotation.as_matrix(*wxyz(turn))).reshape(3, 3)
        assert np.abs(matrix - turn.as_matrix()).max() < EXACT


def test_unit_divides_by_the_norm_and_makes_zero_the_identity() -> None:
    assert rotation.unit(0.0, 3.0, 0.0, -4.0) == pytest.approx((0.0, 0.6, 0.0, -0.8), abs=EXACT)
    assert rotation.unit(0.0, 0.0, 0.0, 0.0) == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.99e-4, 1.01e-4, 0.5, 3.0, np.pi - 1e-9])
def test_rotation_vectors_go_there_and_back_on_both_sides_of_the_series(angle: float) -> None:
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    quat = np.array(rotation.from_rotvec(*(angle * axis)))
    assert same_turn(quat, wxyz(Rotation.from_rotvec(angle * axis)))
    assert same_turn(quat, np.array(rotation.from_axis_angle(*axis, angle)))
    for sign in (1.0, -1.0):
        back = np.array(rotation.as_rotvec(*(sign * quat)))
        assert np.abs(back - angle * axis).max() < EXACT


def test_a_vector_product_is_that_of_numpy() -> None:
    a, b = np.array([1.0, 2.0, -0.5]), np.array([-0.3, 0.2, 4.0])
    assert np.array_equal(rotation.cross(*a, *b), np.cross(a, b))
