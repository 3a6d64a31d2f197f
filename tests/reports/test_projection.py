"""The camera, outlines and the order of painting, against answers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.reports.projection import (
    LIGHT,
    Camera,
    brightness,
    outline,
    painter_order,
    shaded,
)


@pytest.mark.parametrize(
    ("azimuth", "elevation", "seen"),
    [
        (0.0, 0.0, (2.0, 3.0, 1.0)),  # from the front: left of the robot is right, x comes nearer
        (-90.0, 0.0, (1.0, 3.0, -2.0)),  # from its right: forward is right, y goes away
        (90.0, 0.0, (-1.0, 3.0, 2.0)),  # from its left
        (0.0, 90.0, (2.0, -1.0, 3.0)),  # from above with the face downwards on the sheet
    ],
)
def test_a_point_is_seen_where_it_should_be(azimuth, elevation, seen):
    """The point (1, 2, 3), by the definition of each direction of sight."""
    camera = Camera.at(np.radians(azimuth), np.radians(elevation))
    np.testing.assert_allclose(camera.seen(np.array([[1.0, 2.0, 3.0]]))[0], seen, atol=1e-12)


def test_a_raised_camera_foreshortens_heights_by_the_cosine():
    """At 60 degrees up, z = 1 is seen cos 60 = 0.5 high and sin 60 = 0.8660254 nearer."""
    camera = Camera.at(0.0, np.radians(60.0))
    np.testing.assert_allclose(
        camera.seen(np.array([[0.0, 0.0, 1.0]]))[0], (0.0, 0.5, np.sqrt(0.75)), atol=1e-12
    )


def test_the_axes_of_a_camera_are_a_right_handed_frame():
    rng = np.random.default_rng(3)  # 50 directions
    for azimuth, elevation in rng.uniform(-1.5, 1.5, (50, 2)):
        rot = Camera.at(azimuth, elevation).rot_cw
        np.testing.assert_allclose(rot @ rot.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(rot) == pytest.approx(1.0, abs=1e-12)


def test_the_front_view_follows_the_heading():
    """A robot that faces +y is seen from +y: a point ahead of it is nearest."""
    camera = Camera.viewing("front", np.pi / 2)
    ahead, behind = camera.seen(np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]))[:, 2]
    assert ahead > behind


def test_the_outline_of_a_square_leaves_out_what_lies_inside_and_on_edges():
    square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    others = [(0.5, 0.5), (0.5, 0.0), (1.0, 0.25), (0.0, 0.0)]
    hull = outline(np.array(others + square))
    assert {tuple(p) for p in hull} == set(square)
    x, y = hull.T
    area = 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    assert area == pytest.approx(1.0)  # positive: counter-clockwise


def test_the_outline_of_fewer_than_three_points_is_these_points():
    assert len(outline(np.array([[1.0, 2.0], [1.0, 2.0]]))) == 1


def test_the_nearer_of_two_balls_is_painted_last():
    ball = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    shift = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.05, 0.0, 2.0]])
    spines = ball + shift[:, None]
    assert painter_order(spines, np.full(3, 0.1)) == (1, 0, 2)


def test_a_ball_before_the_far_end_of_a_bar_is_painted_over_it():
    """The bar runs from nearness 0 to 10, its middle at 5; the ball at 1 covers its far end.

    Sorting by middles would paint the bar over the ball.
    """
    bar = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 10.0]])
    ball = np.array([[0.0, 0.02, 1.0], [0.0, 0.02, 1.0]])
    assert painter_order(np.stack([bar, ball]), np.array([0.1, 0.1])) == (0, 1)
    assert painter_order(np.stack([ball, bar]), np.array([0.1, 0.1])) == (1, 0)


def test_crossing_bars_are_ordered_at_their_crossing():
    """Both cross at the middle of the sheet: there the first is at 1, the second at 1.5."""
    first = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
    second = np.array([[0.0, -0.2, 1.5], [0.0, 0.2, 1.5]])
    assert painter_order(np.stack([first, second]), np.full(2, 0.05)) == (0, 1)


def test_three_bars_that_cover_each_other_in_a_ring_are_each_painted_once():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
    spines = np.array([[[*corners[i], 0.0], [*corners[(i + 1) % 3], 1.0]] for i in range(3)])
    assert sorted(painter_order(spines, np.full(3, 0.05))) == [0, 1, 2]


def test_the_order_is_a_permutation_whatever_the_shapes():
    rng = np.random.default_rng(7)  # 20 scenes of 12 shapes
    for _ in range(20):
        spines, radii = rng.normal(size=(12, 2, 3)), rng.uniform(0.01, 0.5, 12)
        assert sorted(painter_order(spines, radii)) == list(range(12))


def test_a_surface_that_faces_the_light_is_the_brightest():
    rng = np.random.default_rng(5)  # 100 normals
    normals = rng.normal(size=(100, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    assert brightness(LIGHT[None])[0] >= brightness(normals).max()


@pytest.mark.parametrize(
    ("rgb", "bright", "colour"),
    [
        ((1.0, 0.5, 0.0), 1.0, "#ff8000"),
        ((1.0, 0.5, 0.2), 2.0, "#ffff66"),
        ((1.0, 1.0, 1.0), 0.0, "#000000"),
    ],
)
def test_a_shade_is_the_colour_times_the_brightness(rgb, bright, colour):
    """0.5 x 255 = 127.5 rounds to even 128 = 0x80; 0.2 x 2 x 255 = 102 = 0x66; above 1 is cut."""
    assert shaded(rgb, bright) == colour
