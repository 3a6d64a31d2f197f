"""Limits of joints against a slow twin in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.kernels.motors import servos, torques

M, SHARE = 2000, 0.9


def _given(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    speed_limit = rng.uniform(1.0, 20.0, M)
    speed_limit[::7] = np.inf
    return {
        "speed": np.where(np.isfinite(speed_limit), speed_limit, 9.0) * rng.uniform(-1.3, 1.3, M),
        "limit": rng.uniform(1.0, 200.0, M),
        "speed_limit": speed_limit,
        "wanted": rng.uniform(-300.0, 300.0, M),
        "place": rng.uniform(-1.0, 1.0, M),
        "position": rng.uniform(-1.0, 1.0, M),
        "stiffness": np.where(rng.uniform(size=M) < 0.1, 0.0, rng.uniform(10.0, 1000.0, M)),
        "damping": rng.uniform(0.0, 30.0, M),
    }


def _available(x: dict[str, np.ndarray], wanted: np.ndarray) -> np.ndarray:
    """The twin: what is left of the torque."""
    left = np.clip((1.0 - np.abs(x["speed"]) / x["speed_limit"]) / (1.0 - SHARE), 0.0, 1.0)
    return np.where(wanted * x["speed"] > 0.0, x["limit"] * left, x["limit"])


@pytest.mark.parametrize("seed", [0, 1])
def test_torques_are_cut_as_the_twin_cuts_them(seed: int) -> None:
    x = _given(seed)
    out, full = np.zeros(M), np.zeros(M, dtype=np.bool_)
    torques(x["wanted"], x["speed"], x["limit"], x["speed_limit"], SHARE, out, full)
    room = _available(x, x["wanted"])
    np.testing.assert_allclose(out, np.clip(x["wanted"], -room, room), rtol=1e-13)
    np.testing.assert_array_equal(full, np.abs(x["wanted"]) >= room * (1.0 - 1e-9))
    assert 0.1 < full.mean() < 0.9


@pytest.mark.parametrize("seed", [0, 1])
def test_servos_give_what_is_there(seed: int) -> None:
    """With the position that comes out the servo's torque, clamped by the engine, is the twin's."""
    x = _given(seed)
    out, full = np.zeros(M), np.zeros(M, dtype=np.bool_)
    servos(
        x["position"], x["place"], x["speed"], x["stiffness"], x["damping"], x["limit"],
        x["speed_limit"], SHARE, out, full,
    )  # fmt: skip
    asked = x["stiffness"] * (x["position"] - x["place"]) - x["damping"] * x["speed"]
    room = _available(x, asked)
    given = x["stiffness"] * (out - x["place"]) - x["damping"] * x["speed"]
    given = np.clip(given, -x["limit"], x["limit"])
    can = x["stiffness"] > 0.0
    np.testing.assert_allclose(given[can], np.clip(asked, -room, room)[can], rtol=1e-9, atol=1e-9)
    untouched = np.abs(asked) <= room
    np.testing.assert_array_equal(out[untouched], x["position"][untouched])
    np.testing.assert_array_equal(full, np.abs(asked) >= room * (1.0 - 1e-9))
