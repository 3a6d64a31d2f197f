"""Rotations against scipy's, an independent implementation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from surefoot.motion import rotation


def _random(n: int = 200, seed: int = 0) -> np.ndarray:
    quat = np.random.default_rng(seed).normal(size=(n, 4))
    return quat / np.linalg.norm(quat, axis=1, keepdims=True)


def _scipy(quat: np.ndarray) -> Rotation:
    return Rotation.from_quat(quat, scalar_first=True)


def test_product_turns_as_the_two_turns_after_each_other() -> None:
    a, b = _random(seed=1), _random(seed=2)
    expected = (_scipy(a) * _scipy(b)).as_matrix()
    assert np.abs(rotation.as_matrix(rotation.multiply(a, b)) - expected).max() < 1e-14


def test_rotate_equals_the_matrix_product() -> None:
    quat, vec = _random(), np.random.default_rng(3).normal(size=(200, 3))
    assert np.abs(rotation.rotate(quat, vec) - _scipy(quat).apply(vec)).max() < 1e-14


def test_matrix_round_trip_loses_nothing_near_half_turns() -> None:
    axis = np.random.default_rng(4).normal(size=(300, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    angle = np.concatenate([np.full(150, np.pi), np.linspace(0.0, 1e-7, 150)])
    matrix = Rotation.from_rotvec(axis * angle[:, None]).as_matrix()
    assert np.abs(rotation.as_matrix(rotation.from_matrix(matrix)) - matrix).max() < 1e-14


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 0.99e-4, 1.01e-4, 0.3, 3.0])
def test_rotation_vectors_agree_with_scipy_at_every_size(angle: float) -> None:
    axis = np.random.default_rng(5).normal(size=(50, 3))
    rotvec = axis / np.linalg.norm(axis, axis=1, keepdims=True) * angle
    quat = rotation.from_rotvec(rotvec)
    assert np.abs(quat - Rotation.from_rotvec(rotvec).as_quat(scalar_first=True)).max() < 1e-15
    assert np.abs(rotation.as_rotvec(quat) - rotvec).max() < 2e-15 + 2e-15 * angle


@pytest.mark.parametrize("axes", ["zyx", "xyz", "zxy", "yxz", "xzy", "z"])
def test_euler_angles_turn_about_moving_axes(axes: str) -> None:
    angles = np.random.default_rng(6).uniform(-3.0, 3.0, size=(40, len(axes)))
    expected = Rotation.from_euler(axes.upper(), angles).as_matrix()
    assert np.abs(rotation.as_matrix(rotation.from_euler(axes, angles)) - expected).max() < 1e-14


def test_continuous_signs_keep_the_rotation_and_make_neighbours_near() -> None:
    quat = rotation.from_rotvec(np.linspace(0.0, 9.0, 100)[:, None] * np.array([0.0, 0.0, 1.0]))
    flipped = quat * np.where(np.arange(100) % 3 == 0, -1.0, 1.0)[:, None]
    smooth = rotation.continuous(flipped)
    assert np.all(np.sum(smooth[1:] * smooth[:-1], axis=1) > 0.9)
    assert np.abs(rotation.as_matrix(smooth) - rotation.as_matrix(quat)).max() < 1e-15
