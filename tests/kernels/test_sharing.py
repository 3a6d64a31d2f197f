"""How feet share a load: laws of the split, and the most even shares against a numerical search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from surefoot.kernels import sharing

SOLE = np.array([[-0.06, -0.045], [0.12, -0.045], [0.12, 0.045], [-0.06, 0.045]])
TOE = np.array([[0.12, -0.045], [0.19, -0.045], [0.19, 0.045], [0.12, 0.045]])


UP = np.array([0.0, 0.1])


def contact_of(
    parts: list[np.ndarray], group: list[int], height: list[float] | None = None
) -> sharing.Contact:
    """Links with these vertices, seen from above."""
    contact = sharing.room_for(sum(len(p) for p in parts), np.array(group))
    n = 0
    for c, part in enumerate(parts):
        for x, y in part:
            contact.vertex[n] = (x, y, 0.0 if height is None else height[c])
            contact.link[n] = c
            n += 1
    contact.used[0] = n
    return contact


def two_feet(apart: float = 0.09) -> sharing.Contact:
    """Sole and toe of a left and a right foot."""
    left, right = np.array([0.0, apart]), np.array([0.0, -apart])
    return contact_of([SOLE + left, TOE + left, SOLE + right, TOE + right], [0, 0, 2, 2])


def test_loads_sum_to_one_and_act_where_it_is_said() -> None:
    contact = two_feet()
    rng = np.random.default_rng(0)
    for _ in range(50):
        wish = rng.uniform([-0.2, -0.2], [0.3, 0.2])
        found = np.array(sharing.share(contact, *wish, 0.01, 0.01))
        assert contact.share.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.all(contact.share >= 0.0)
        assert np.allclose(contact.share @ contact.cop, found, atol=1e-9)


def test_pressure_between_the_feet_comes_out_as_wished() -> None:
    contact = two_feet()
    for wish in ((0.06, 0.0), (0.1, 0.03), (0.0, -0.05)):
        found = sharing.share(contact, *wish, 0.01, 0.01)
        assert np.allclose(found[:2], wish, atol=1e-6)


def test_over_the_centre_of_one_foot_the_other_is_free() -> None:
    """The load of a foot that lifts off has to be gone before it does."""
    contact = two_feet()
    centre = float((SOLE[:2, 0].min() + TOE[:2, 0].max()) / 2.0)
    sharing.share(contact, centre, 0.09, 0.01, 0.01)
    assert contact.share[:2].sum() == pytest.approx(1.0, abs=1e-6)
    sharing.share(contact, centre, 0.0, 0.01, 0.01)
    assert contact.share[:2].sum() == pytest.approx(0.5, abs=1e-6)


def test_in_front_of_both_feet_the_pressure_of_each_is_moved_forward() -> None:
    """Not less load: that would let the body sink."""
    contact = two_feet()
    sharing.share(contact, 0.10, 0.0, 0.01, 0.01)
    left = contact.share[:2] @ contact.cop[:2, :2] / contact.share[:2].sum()
    assert np.allclose(left, [0.10, 0.09], atol=1e-6)


def test_outside_it_is_brought_to_the_nearest_point_inside_the_margin() -> None:
    """One sole, 18 x 9 cm, margin 1 cm."""
    contact = contact_of([SOLE], [0])
    assert np.allclose(sharing.share(contact, 0.5, 0.0, 0.01, 0.01)[:2], [0.11, 0.0], atol=1e-6)
    assert np.allclose(sharing.share(contact, 0.5, 0.5, 0.01, 0.0)[:2], [0.11, 0.035], atol=1e-6)
    assert np.allclose(sharing.share(contact, 0.0, -0.5, 0.0, 0.02)[:2], [0.0, -0.025], atol=1e-6)


def test_a_foot_narrower_than_its_margin_still_has_a_middle() -> None:
    thin = SOLE * [1.0, 0.1]
    contact = contact_of([thin], [0])
    found = sharing.share(contact, 0.0, 0.5, 0.0, 0.01)
    assert abs(found[1]) < 0.0045


def test_shares_of_vertices_are_the_most_even_ones() -> None:
    """Against a search over all shares with the same mean (SLSQP): largest entropy."""
    contact = contact_of([SOLE, TOE], [0, 0])
    wish = np.array([0.02, 0.015])
    sharing.share(contact, *wish, 0.01, 0.01)
    points = contact.vertex[:, :2]

    def disorder(w: np.ndarray) -> float:
        return float(np.sum(w * np.log(np.maximum(w, 1e-15))))

    rules = [
        {"type": "eq", "fun": lambda w: w.sum() - 1.0},
        {"type": "eq", "fun": lambda w: points.T @ w - wish},
    ]
    found = minimize(
        disorder,
        np.full(8, 0.125),
        bounds=[(1e-12, 1.0)] * 8,
        constraints=rules,
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert np.allclose(contact.weight[:8], found.x, atol=1e-4)


@pytest.mark.parametrize("count", [1, 2])
def test_points_and_edges_carry_too(count: int) -> None:
    contact = contact_of([SOLE[:count]], [0])
    found = np.array(sharing.share(contact, 0.0, 0.0, 0.01, 0.01))
    assert np.isfinite(contact.weight).all()
    want = SOLE[0] if count == 1 else [0.0, -0.045]
    assert np.allclose(found[:2], want, atol=1e-4)


def test_height_is_that_of_the_feet_by_their_load() -> None:
    """A foot on a step of 20 cm that carries a quarter."""
    contact = contact_of([SOLE + UP, SOLE - UP], [0, 1], height=[0.2, 0.0])
    found = sharing.share(contact, 0.03, -0.05, 0.01, 0.01)
    assert contact.share[0] == pytest.approx(0.25, abs=1e-6)
    assert found[2] == pytest.approx(0.05, abs=1e-6)


def test_three_places_carry_whatever_lies_between_them() -> None:
    """Two feet and a hand: shares are not negative, and the mean is the wish where it can be."""
    centres = [np.array(p) for p in ([0.0, 0.1], [0.0, -0.1], [0.5, 0.0])]
    contact = contact_of([0.2 * SOLE + p for p in centres], [0, 1, 2])
    rng = np.random.default_rng(1)
    middle = np.array([0.2 * 0.03, 0.0])
    for _ in range(30):
        wish = rng.uniform([-0.1, -0.15], [0.6, 0.15])
        sharing.share(contact, *wish, 0.0, 0.0)
        assert contact.share.sum() == pytest.approx(1.0, abs=1e-12)
        rows = np.vstack([np.array(centres).T + middle[:, None], np.ones(3)])
        inside = linprog(np.zeros(3), A_eq=rows, b_eq=[*wish, 1.0]).status == 0
        if inside:
            assert np.allclose(contact.share @ contact.cop[:, :2], wish, atol=1e-5)


def test_middles_are_means_of_vertices() -> None:
    contact = two_feet()
    sharing.middles(contact)
    assert np.allclose(contact.cop[0], [0.03, 0.09, 0.0])
    assert np.allclose(contact.cop[3], [0.155, -0.09, 0.0])
