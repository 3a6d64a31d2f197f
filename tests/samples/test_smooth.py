"""Smooth functions against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.samples import smooth


@pytest.mark.parametrize("curve", [smooth.step, smooth.dome, lambda u: smooth.plateau(u, 0.3)])
def test_begins_and_ends_without_speed_or_acceleration(curve) -> None:
    """A cubic start: at distance h the value is at most 10 / 0.3³ h³, so value / h² vanishes."""
    for h in (1e-2, 1e-3, 1e-4):
        near = curve(np.array([0.0, h, 1.0 - h, 1.0]))
        assert abs(near[1] - near[0]) <= 400.0 * h**3
        assert abs(near[3] - near[2]) <= 400.0 * h**3


def test_step_goes_from_zero_to_one_and_stays() -> None:
    np.testing.assert_array_equal(
        smooth.step(np.array([-1.0, 0.0, 0.5, 1.0, 7.0])), [0.0, 0.0, 0.5, 1.0, 1.0]
    )


def test_pendulum_over_a_swaying_pressure_sways_less() -> None:
    """p = sin νt is followed by c = p / (1 + ν² h / g): insert into c − (h / g) c̈ = p."""
    dt, height, rate = 1.0 / 240.0, 0.95, 4.0
    time = dt * np.arange(24 * 240)
    pressure = np.sin(rate * time)[:, None]
    expected = pressure / (1.0 + rate**2 * height / 9.81)
    middle = slice(8 * 240, -8 * 240)  # the ends are felt as exp(−3.2 t): 1e-11 after 8 s
    found = smooth.pendulum(pressure, dt, height)
    # Differences err by (ν dt)² / 12 of the second derivative: 2.3e-5.
    np.testing.assert_allclose(found[middle], expected[middle], atol=3e-5)


def test_pendulum_moves_before_its_pressure_steps() -> None:
    """Over a step from 0 to 1 the bounded path is at 1/2 when the step comes, by symmetry."""
    pressure = np.repeat([0.0, 1.0], 2000)[:, None]
    pressure[2000] = 0.5
    found = smooth.pendulum(pressure[:-1] * 1.0, 0.005, 1.0)
    assert found[2000, 0] == pytest.approx(0.5, abs=1e-3)
    assert found[1900, 0] > 0.05
    assert found[100, 0] < 1e-6


def test_curve_under_another_is_nowhere_above_it_and_touches_where_that_is_flat() -> None:
    time = np.linspace(0.0, 4.0, 481)
    above = np.minimum(1.0, np.abs(time - 2.0) + 0.5)
    below = smooth.under(above, 48)
    assert np.all(below <= above + 1e-15)
    assert below[0] == pytest.approx(1.0, abs=1e-12)
    # The minimum over 48 frames keeps the value 0.5 for 0.4 s, all of which the average sees.
    assert below[240] == pytest.approx(0.5, abs=1e-12)


def test_curve_under_a_kink_has_no_kink() -> None:
    time = np.linspace(0.0, 4.0, 481)
    kinked = np.minimum(1.0, np.abs(time - 2.0) + 0.5)
    turn = np.abs(np.diff(smooth.under(kinked, 48), 2)).max()
    assert turn < 0.1 * np.abs(np.diff(kinked, 2)).max()


def test_wander_has_the_size_asked_for_and_stays_in_its_band() -> None:
    """Over a long time the mean square of Σ a sin(2π f t + φ) is Σ a² / 2."""
    path = smooth.wander(np.random.default_rng(5), 0.01, low_hz=0.1, high_hz=1.0)
    values = path(np.arange(0.0, 2000.0, 0.05))
    assert np.sqrt(np.mean(values**2)) == pytest.approx(0.01, rel=0.02)
    assert np.all((path.frequency >= 0.1) & (path.frequency <= 1.0))
    assert np.all(np.diff(path.amplitude) < 0.0)
