"""The support polygon and the signed distance from its edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from surefoot.contacts.support import Support, signed_distance

SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])


def _distance(point: tuple[float, float], vertices: np.ndarray) -> float:
    carried = Support(vertices[None], np.array([len(vertices)]))
    return float(signed_distance(np.array([[*point, 0.0]]), carried)[0])


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ((0.0, 0.0), -1.0),  # the centre is one from every edge
        ((0.5, 0.0), -0.5),
        ((1.0, 0.3), 0.0),  # on the edge
        ((3.0, 0.0), 2.0),  # straight out of an edge
        ((4.0, 5.0), 5.0),  # past a corner: 3, 4, 5
    ],
)
def test_distance_from_a_square(point: tuple[float, float], expected: float) -> None:
    assert _distance(point, SQUARE) == pytest.approx(expected, abs=1e-12)


def test_over_an_edge_nothing_is_inside() -> None:
    line = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    assert _distance((1.0, 0.0), line) == 0.0
    assert _distance((1.0, 0.5), line) == pytest.approx(0.5)
    assert _distance((5.0, 4.0), line) == pytest.approx(5.0)


def test_over_a_single_vertex_the_distance_is_the_gap() -> None:
    assert _distance((3.0, 4.0), np.zeros((1, 3))) == pytest.approx(5.0)


def test_in_flight_the_distance_is_infinite() -> None:
    carried = Support(np.zeros((1, 4, 3)), np.array([0]))
    assert signed_distance(np.zeros((1, 3)), carried)[0] == np.inf
    assert not carried.standing[0]


def test_vertices_inside_and_on_edges_change_nothing() -> None:
    more = np.vstack([SQUARE, [[0.2, 0.1, 0.0], [1.0, 0.5, 0.0], [1.0, 1.0, 0.0]]])
    for point in ((0.0, 0.0), (0.9, -0.2), (2.0, 3.0)):
        assert _distance(point, more) == pytest.approx(_distance(point, SQUARE), abs=1e-12)


def test_padding_rows_change_nothing() -> None:
    padded = np.concatenate([SQUARE, np.repeat(SQUARE[:1], 3, axis=0)])[None]
    carried = Support(padded, np.array([4]))
    assert signed_distance(np.array([[0.5, 0.0, 0.0]]), carried)[0] == pytest.approx(-0.5)


@given(
    seed=st.integers(0, 10_000), count=st.integers(3, 10), size=st.sampled_from([1e-2, 1.0, 100.0])
)
def test_distance_agrees_with_the_facets_of_scipys_hull(seed: int, count: int, size: float) -> None:
    """Inside, −distance is the smallest slack of the facets of Qhull; outside it is positive."""
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(count, 2)) * size
    hull = ConvexHull(corners)
    vertices = np.column_stack([corners, np.zeros(count)])
    for point in rng.normal(size=(5, 2)) * size:
        slack = float((hull.equations[:, :2] @ point + hull.equations[:, 2]).max())
        ours = _distance((float(point[0]), float(point[1])), vertices)
        if slack < 0.0:
            assert ours == pytest.approx(slack, abs=1e-9 * size)
        else:
            assert ours >= slack - 1e-9 * size


def test_distance_does_not_depend_on_where_and_how_the_feet_stand() -> None:
    rng = np.random.default_rng(3)
    vertices = rng.normal(size=(6, 3))
    point = rng.normal(size=2)
    before = _distance((float(point[0]), float(point[1])), vertices)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    moved = np.column_stack([vertices[:, :2] @ turn.T + [7.0, -3.0], vertices[:, 2]])
    x, y = turn @ point + [7.0, -3.0]
    assert _distance((float(x), float(y)), moved) == pytest.approx(before, abs=1e-12)


def test_corners_that_nearly_coincide_leave_the_inside_inside() -> None:
    """Heel and toe soles of one standing foot, padded by eight: −0.0386149 by scipy's hull.

    Edges that are found several times once cancelled in the area, and the inside was lost.
    """
    corners = [
        (-0.0685538291, 0.372906325),
        (0.115594245, 0.397324557),
        (0.103369356, 0.489517573),
        (-0.0807787181, 0.46509934),
        (0.115603563, 0.397325793),
        (0.187216718, 0.406821771),
        (0.174991829, 0.499014787),
        (0.103378674, 0.489518808),
    ]
    padded = np.array([(x, y, 0.0) for x, y in corners + corners[:1] * 8])
    carried = Support(padded[None], np.array([8]))
    point = np.array([[0.0360023521, 0.441631735, 0.0]])
    assert signed_distance(point, carried)[0] == pytest.approx(-0.0386149, abs=1e-7)
