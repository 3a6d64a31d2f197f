"""The shapes that are found in a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from make.trees import robot_of
from make.walkers import SOLE, walker, walker_xml
from surefoot.reports import geometry
from surefoot.robots.robot import Landmark, Sole


def found(xml: str) -> tuple[geometry.Shape, ...]:
    return geometry.shapes(robot_of(xml))


def body(inside: str, assets: str = "") -> str:
    return (
        f"<mujoco><asset>{assets}</asset><worldbody><body name='one'><freejoint/>"
        f"<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>{inside}</body></worldbody></mujoco>"
    )


def test_every_kind_of_geom_is_drawn_and_the_floor_is_not():
    kinds = sorted(shape.kind for shape in found(walker_xml()))
    assert kinds.count("ellipsoid") == 1
    assert kinds.count("polyhedron") == 4  # pelvis, neck, two feet
    assert all(shape.link > 0 for shape in found(walker_xml()))


@pytest.mark.parametrize(
    "geom",
    [
        "<geom type='box' size='0.1 0.2 0.3'/>",
        "<geom type='cylinder' size='0.1 0.2'/>",
        "<geom type='mesh' mesh='tetra'/>",
    ],
)
def test_the_faces_of_a_solid_look_outwards_and_close_it(geom):
    """Every edge runs once each way; the volume by the divergence theorem is positive."""
    tetra = "<mesh name='tetra' vertex='0 0 0 0.3 0 0 0 0.3 0 0 0 0.3'/>"
    (shape,) = found(body(geom, tetra))
    edges = [e for face in shape.faces for e in zip(face, (*face[1:], face[0]), strict=True)]
    assert len(edges) == len(set(edges))
    assert {(b, a) for a, b in edges} == set(edges)
    p = shape.points_s
    volume = sum(
        np.dot(p[face[0]], np.cross(p[face[i]], p[face[i + 1]])) / 6.0
        for face in shape.faces
        for i in range(1, len(face) - 1)
    )
    assert volume > 0.0


def test_a_box_has_six_faces_of_four_corners_and_its_volume():
    """0.2 m by 0.4 m by 0.6 m."""
    (shape,) = found(body("<geom type='box' size='0.1 0.2 0.3'/>"))
    assert sorted(len(face) for face in shape.faces) == [4] * 6
    np.testing.assert_allclose(np.ptp(shape.points_s, axis=0), (0.2, 0.4, 0.6))


def test_the_hull_of_a_mesh_lies_where_the_engine_puts_the_mesh():
    """The engine moves a mesh into its own inertial frame; the corners come out as written."""
    corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]])
    text = " ".join(str(v) for v in corners.ravel())
    (shape,) = found(body("<geom type='mesh' mesh='m'/>", f"<mesh name='m' vertex='{text}'/>"))
    placed = shape.pos_l + shape.points_s @ shape.rot_ls.T
    gaps = np.linalg.norm(placed[:, None] - corners[None], axis=2)
    # The engine stores vertices in single precision.
    np.testing.assert_allclose(gaps.min(axis=0), 0.0, atol=1e-6)


def test_visual_geoms_are_preferred_to_collision_geoms():
    seen = "<geom type='sphere' size='0.1' contype='0' conaffinity='0'/>"
    (shape,) = found(body(seen + "<geom type='box' size='1 1 1'/>"))
    assert (shape.kind, shape.size[0]) == ("capsule", 0.1)


def test_a_marker_that_nobody_can_see_is_left_out():
    inside = "<geom type='sphere' size='0.0001'/><geom type='sphere' size='0.1'/>"
    assert len(found(body(inside))) == 1


def test_a_colour_of_the_model_is_kept_and_the_default_is_replaced():
    inside = "<geom type='sphere' size='0.1' rgba='0.1 0.2 0.3 1'/><geom type='sphere' size='0.1'/>"
    own, default = found(body(inside))
    np.testing.assert_allclose(own.rgb, (0.1, 0.2, 0.3), atol=1e-6)
    assert default.rgb == geometry.BODY_RGB


def chain(upper: str, lower: str) -> str:
    mass = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
    return (
        f"<mujoco><worldbody><body name='a'><freejoint/>{mass}{upper}<body name='b' pos='0 0 -0.5'>"
        f"<joint type='hinge'/>{mass}{lower}</body></body></worldbody></mujoco>"
    )


def test_a_robot_without_shapes_is_drawn_as_bones_between_its_joints():
    (bone,) = found(chain("", ""))
    assert bone.kind == "capsule"
    ends = bone.pos_l + bone.spine[0] @ bone.rot_ls.T
    np.testing.assert_allclose(sorted(ends[:, 2]), (-0.5, 0.0), atol=1e-12)


def test_a_bone_bridges_only_the_gap_between_two_shapes():
    """Half a metre apart, a ball of 0.1 m at each end: 0.3 m are bare, sampled every 12.5 mm."""
    ball = "<geom type='sphere' size='0.1'/>"
    bones = [shape for shape in found(chain(ball, ball)) if shape.rgb == geometry.BONE_RGB]
    assert len(bones) == 1
    assert 2.0 * bones[0].size[1] == pytest.approx(0.3, abs=0.026)
    assert bones[0].pos_l[2] == pytest.approx(-0.25, abs=1e-9)


def test_shapes_that_meet_get_no_bone():
    upper = "<geom type='capsule' fromto='0 0 0 0 0 -0.5' size='0.05'/>"
    assert len(found(chain(upper, "<geom type='sphere' size='0.1'/>"))) == 2


def test_the_spine_of_a_box_runs_along_its_longest_side():
    (shape,) = found(body("<geom type='box' size='0.1 0.2 0.5'/>"))
    ends, radius = shape.spine
    np.testing.assert_allclose(ends, [[0.0, 0.0, -0.3], [0.0, 0.0, 0.3]])
    assert radius == pytest.approx(0.2)


BARE = """
<mujoco><worldbody><body name="pelvis" pos="0 0 1"><freejoint/>
  <inertial pos="0 0 0" mass="9" diaginertia="1 1 1"/>
  <body name="left_foot" pos="0 0.1 -0.95"><joint name="hip" type="hinge"/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</body></worldbody></mujoco>
"""


def test_a_foot_without_shapes_is_drawn_as_its_sole():
    """2 cm thick, upwards from the polygon at z = -0.05."""
    robot = replace(robot_of(BARE), soles=(Sole("left_foot", "left", SOLE),))
    foot = [shape for shape in geometry.shapes(robot) if shape.link == robot.link_id("left_foot")]
    slab, ankle = foot
    assert ankle.kind == "capsule"  # from the origin down to the slab
    placed = slab.pos_l + slab.points_s @ slab.rot_ls.T
    np.testing.assert_allclose(placed.min(axis=0), [-0.1, -0.04, -0.05], atol=1e-12)
    np.testing.assert_allclose(placed.max(axis=0), [0.1, 0.04, -0.03], atol=1e-12)


@pytest.mark.parametrize(("count", "bones"), [(1, 1), (2, 2), (3, 2)])
def test_a_foot_that_stands_on_a_point_or_a_line_is_drawn_as_bones(count, bones):
    """One corner: the bone to it. A line: itself, and the bone to its middle."""
    line = np.column_stack([np.linspace(-0.1, 0.1, count), np.zeros(count), np.full(count, -0.05)])
    robot = replace(robot_of(BARE), soles=(Sole("left_foot", "left", line),))
    foot = [shape for shape in geometry.shapes(robot) if shape.link == robot.link_id("left_foot")]
    assert [shape.kind for shape in foot] == ["capsule"] * bones


def test_a_foot_with_a_box_gets_no_slab():
    robot = walker()
    feet = [shape for shape in geometry.shapes(robot) if shape.link == robot.link_id("left_foot")]
    assert len(feet) == 1


def test_a_head_without_shapes_is_a_ball_at_its_landmark_on_a_neck():
    """The root is 1 m high, so the radius is 0.11 m."""
    robot = replace(robot_of(BARE), landmarks={"head": Landmark("pelvis", np.array([0, 0, 0.6]))})
    ball, neck = (shape for shape in geometry.shapes(robot) if shape.pos_l[2] > 0.0)
    np.testing.assert_allclose(ball.pos_l, (0.0, 0.0, 0.6))
    assert ball.size[0] == pytest.approx(0.11)
    assert neck.pos_l[2] == pytest.approx(0.3)
