"""ZMP, centre of pressure and required friction of wrenches for which they are known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.contacts.cones import Cones
from surefoot.contacts.pressure import GroundFigures, ground_figures
from surefoot.contacts.support import support
from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule, Stance

WEIGHT_N = 700.0
SOLE = np.array([[-0.1, -0.05, 0.0], [0.1, -0.05, 0.0], [0.1, 0.05, 0.0], [-0.1, 0.05, 0.0]])
UP = np.array([0.0, 0.0, 1.0])


def stood(*feet: tuple[np.ndarray, np.ndarray]) -> tuple[Cones, ContactSchedule]:
    """One sample on feet given by vertices and normal, and its schedule."""
    stances = tuple(
        Stance(f"foot{i}", 0.0, 1.0, "face", vertices, normal=normal)
        for i, (vertices, normal) in enumerate(feet)
    )
    pos = np.vstack([np.zeros((0, 3)), *(vertices for vertices, _ in feet)])
    count = [len(vertices) for vertices, _ in feet]
    cones = Cones(
        start=np.array([0, len(pos)]),
        vertex_pos=pos,
        vertex_normal=np.repeat([normal for _, normal in feet], count, axis=0).reshape(-1, 3),
        vertex_friction=np.full(len(pos), 0.7),
        vertex_stance=np.repeat(np.arange(len(feet)), count),
        vertex_l=pos,
    )
    return cones, ContactSchedule(stances)


def figures(
    force: tuple[float, float, float],
    point_w: tuple[float, float, float],
    *feet: tuple[np.ndarray, np.ndarray],
) -> GroundFigures:
    """The figures of a pure force through a point."""
    cones, contacts = stood(*feet)
    wrench = np.concatenate([force, np.zeros(3)])[None]
    return ground_figures(cones, contacts, wrench, np.array([point_w]), weight_n=WEIGHT_N)


def test_a_force_through_a_point_has_its_zmp_where_its_line_meets_the_ground() -> None:
    """From (0, 0, 0.8) down along (−70, 35, 700): 0.8 · (0.1, −0.05); 0.01 inside the sides."""
    found = figures((-70.0, 35.0, 700.0), (0.0, 0.0, 0.8), (SOLE, UP))
    assert found.defined[0]
    assert np.abs(found.zmp_w[0] - [0.08, -0.04, 0.0]).max() < 1e-12
    assert found.outside_m[0] == pytest.approx(-0.01, abs=1e-12)
    assert np.array_equal(found.cop_w, found.zmp_w)
    assert found.required_friction[0] == pytest.approx(np.hypot(70.0, 35.0) / 700.0)


def test_outside_the_polygon_the_centre_of_pressure_stays_on_its_edge() -> None:
    """0.8 · 0.2 = 0.16 forward: 0.06 beyond the toe; the foot turns about it."""
    found = figures((-140.0, 0.0, 700.0), (0.0, 0.0, 0.8), (SOLE, UP))
    assert found.outside_m[0] == pytest.approx(0.06, abs=1e-12)
    assert np.abs(found.cop_w[0] - [0.1, 0.0, 0.0]).max() < 1e-12
    assert np.abs(found.foot_rotation_w[0] - [0.16, 0.0, 0.0]).max() < 1e-12
    assert found.outside[0]
    assert found.summary(np.zeros(1)) == {
        "outside_fraction": 1.0,
        "worst_outside_m": pytest.approx(0.06),
        "worst_at_s": 0.0,
    }


def test_past_a_corner_the_centre_of_pressure_is_the_corner() -> None:
    """0.03 and 0.04 beyond: 0.05 away."""
    found = figures((0.0, 0.0, 700.0), (0.13, 0.09, 0.8), (SOLE, UP))
    assert found.outside_m[0] == pytest.approx(0.05, abs=1e-12)
    assert np.abs(found.cop_w[0] - [0.1, 0.05, 0.0]).max() < 1e-12


@pytest.mark.parametrize("theta", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_block_at_rest_on_a_slope_needs_the_tangent_of_its_angle(theta: float, axis: str) -> None:
    """The ZMP is where the plumb line meets the plane: h tan θ downhill of the foot of the normal.

    With the centre of mass h = 0.05 over the plane; within it the margin is 0.1 or 0.05 less that.
    """
    turn = rotation.from_euler(axis, np.array([theta]))
    place = np.array([3.0, -2.0, 0.7])
    feet = place + rotation.rotate(turn, SOLE)
    normal = rotation.rotate(turn, UP)
    found = figures((0.0, 0.0, 700.0), tuple(place + 0.05 * normal), (feet, normal))
    below = place + 0.05 * (normal - UP / np.cos(theta))
    assert np.abs(found.zmp_w[0] - below).max() < 1e-12
    assert found.required_friction[0] == pytest.approx(np.tan(theta), rel=1e-12)
    half = 0.1 if axis == "y" else 0.05
    away = 0.05 * np.tan(theta)
    other = 0.05 if axis == "y" else 0.1
    assert found.outside_m[0] == pytest.approx(max(away - half, -other), abs=1e-12)


def test_turning_the_world_changes_no_length() -> None:
    rng = np.random.default_rng(5)  # 50 turns
    feet = [(SOLE + np.array([0.0, 0.2, 0.0]), UP), (SOLE - np.array([0.0, 0.2, 0.1]), UP)]
    force, point = np.array([60.0, 30.0, 600.0]), np.array([0.05, 0.02, 0.8])
    before = figures(tuple(force), tuple(point), *feet)
    for _ in range(50):
        quat = rotation.unit(rng.normal(size=4))
        turned = [(rotation.rotate(quat, v), rotation.rotate(quat, n)) for v, n in feet]
        after = figures(
            tuple(rotation.rotate(quat, force)), tuple(rotation.rotate(quat, point)), *turned
        )
        assert after.outside_m[0] == pytest.approx(before.outside_m[0], abs=1e-12)
        assert np.abs(rotation.rotate(quat, before.zmp_w[0]) - after.zmp_w[0]).max() < 1e-12
        assert np.abs(rotation.rotate(quat, before.cop_w[0]) - after.cop_w[0]).max() < 1e-12


def test_on_stairs_the_plane_lies_level_between_the_feet() -> None:
    """Treads at 0 and 0.2: the plane at 0.1, the polygon as seen from above, 0.4 by 0.1 around."""
    low, high = SOLE - np.array([0.2, 0.0, 0.0]), SOLE + np.array([0.2, 0.0, 0.2])
    found = figures((0.0, 0.0, 700.0), (0.0, 0.01, 0.9), (low, UP), (high, UP))
    assert np.abs(found.zmp_w[0] - [0.0, 0.01, 0.1]).max() < 1e-12
    assert found.outside_m[0] == pytest.approx(-0.04, abs=1e-12)


def test_a_valley_of_two_slopes_has_the_plane_of_their_mean_normal() -> None:
    """Slopes of ±0.3 rad: normals (±sin, 0, cos), mean up; a plumb force is no friction there."""
    left = rotation.from_euler("y", np.array([0.3]))
    right = rotation.from_euler("y", np.array([-0.3]))
    feet = [
        (rotation.rotate(q, SOLE) + np.array([x, 0.0, 0.0]), rotation.rotate(q, UP))
        for q, x in ((left, -0.3), (right, 0.3))
    ]
    found = figures((0.0, 0.0, 700.0), (0.0, 0.0, 0.8), *feet)
    assert np.abs(found.plane_normal_w[0] - UP).max() < 1e-12
    assert found.required_friction[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("force", "feet"),
    [
        ((0.0, 0.0, 700.0), ()),  # flight
        ((0.0, 0.0, -50.0), ((SOLE, UP),)),  # pulling
        ((0.0, 0.0, 0.0), ((SOLE, UP),)),  # falling with the feet said to stand
        ((0.0, 0.0, 700.0), ((SOLE, UP), (SOLE + UP, -UP))),  # floor and ceiling: no common plane
    ],
)
def test_where_nothing_presses_there_is_no_figure_and_no_nan(force, feet) -> None:
    found = figures(force, (0.3, 0.2, 0.8), *feet)
    assert not found.defined[0]
    assert found.outside_m[0] == np.inf
    assert found.required_friction[0] == np.inf
    assert np.isfinite(found.zmp_w).all()
    assert np.isfinite(found.cop_w).all()
    assert set(found.summary(np.zeros(1)).values()) == {None}
    assert found.largest_required_friction is None


def test_a_foot_that_slides_leans_its_ray_and_not_its_plane() -> None:
    cones, contacts = stood((SOLE, UP))
    ray = np.array([-0.7, 0.0, 1.0]) / np.hypot(0.7, 1.0)
    leaning = Cones(
        cones.start, cones.vertex_pos, np.tile(ray, (4, 1)), np.zeros(4), cones.vertex_stance, SOLE
    )
    wrench, ref = np.array([[70.0, 0.0, 700.0, 0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 0.8]])
    plain = ground_figures(cones, contacts, wrench, ref, weight_n=WEIGHT_N)
    found = ground_figures(leaning, contacts, wrench, ref, weight_n=WEIGHT_N)
    assert np.array_equal(found.zmp_w, plain.zmp_w)
    assert found.required_friction[0] == pytest.approx(0.1)


def test_support_pads_samples_with_their_first_vertex() -> None:
    cones, _ = stood((SOLE, UP))
    three = Cones(
        np.array([0, 4, 4, 5]),
        np.vstack([SOLE, SOLE[:1]]),
        np.tile(UP, (5, 1)),
        np.zeros(5),
        np.zeros(5, dtype=np.int64),
        np.zeros((5, 3)),
    )
    carried = support(three)
    assert carried.count.tolist() == [4, 0, 1]
    assert np.array_equal(carried.vertices_w[0], SOLE)
    assert np.all(carried.vertices_w[1] == 0.0)
    assert np.all(carried.vertices_w[2] == SOLE[0])
    assert np.array_equal(support(cones).height, [0.0])
