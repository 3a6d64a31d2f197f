"""Soles from shapes: corners computed by hand from sizes and places."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import BadRobot
from surefoot.robots import soles
from surefoot.robots.engine import mujoco


def _foot(geoms: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><compiler angle="degree"/><worldbody>
        <body name="foot" pos="1 2 3"><freejoint/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{geoms}</body></worldbody></mujoco>"""
    )
    return model, soles.posed(model, np.array(model.qpos0))


def _polygon(geoms: str) -> np.ndarray:
    return soles.sole_polygon(*_foot(geoms), 1)


def _area(polygon: np.ndarray) -> float:
    """Signed area by the shoelace formula: positive where the corners run counter-clockwise."""
    x, y = polygon[:, 0], polygon[:, 1]
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def test_box_stands_on_its_lower_face() -> None:
    """Centre (0.04, 0, −0.02), half sizes (0.1, 0.04, 0.01): x −0.06…0.14, y ±0.04, z −0.03."""
    polygon = _polygon('<geom type="box" pos="0.04 0 -0.02" size="0.1 0.04 0.01"/>')
    corners = {(-0.06, -0.04), (0.14, -0.04), (0.14, 0.04), (-0.06, 0.04)}
    assert {tuple(p) for p in polygon[:, :2].round(9)} == corners
    np.testing.assert_allclose(polygon[:, 2], -0.03, atol=1e-9)
    assert _area(polygon) == pytest.approx(0.2 * 0.08)


def test_four_spheres_stand_on_their_lowest_points() -> None:
    """Radius 5 mm at z −0.03: corners at the centres' x and y, z −0.035."""
    places = [(-0.05, 0.025), (-0.05, -0.025), (0.12, 0.03), (0.12, -0.03)]
    geoms = "".join(f'<geom size="0.005" pos="{x} {y} -0.03"/>' for x, y in places)
    polygon = _polygon(geoms)
    assert {tuple(p) for p in polygon.round(9)} == {(x, y, -0.035) for x, y in places}
    assert _area(polygon) > 0.0


def test_two_capsules_side_by_side_give_a_rectangle() -> None:
    """Lying along x from −0.05 to 0.15 at y ±0.03, radius 0.02, z 0: corners at z −0.02."""
    geoms = "".join(
        f'<geom type="capsule" size="0.02" fromto="-0.05 {y} 0 0.15 {y} 0"/>' for y in (-0.03, 0.03)
    )
    polygon = _polygon(geoms)
    corners = {
        (-0.05, -0.03, -0.02),
        (0.15, -0.03, -0.02),
        (0.15, 0.03, -0.02),
        (-0.05, 0.03, -0.02),
    }
    assert {tuple(p) for p in polygon.round(9)} == corners


def test_single_capsule_is_a_line_and_single_sphere_a_point() -> None:
    line = _polygon('<geom type="capsule" size="0.02" fromto="-0.05 0 0 0.15 0 0"/>')
    assert sorted(map(tuple, line.round(9))) == [(-0.05, 0.0, -0.02), (0.15, 0.0, -0.02)]
    np.testing.assert_allclose(_polygon('<geom size="0.03" pos="0 0 0.1"/>'), [[0, 0, 0.07]])


def test_upright_cylinder_stands_on_its_rim() -> None:
    polygon = _polygon('<geom type="cylinder" size="0.05 0.01" pos="0.01 0.02 0"/>')
    np.testing.assert_allclose(np.hypot(polygon[:, 0] - 0.01, polygon[:, 1] - 0.02), 0.05)
    np.testing.assert_allclose(polygon[:, 2], -0.01)
    assert len(polygon) == 16
    assert _area(polygon) > 0.0


def test_lying_cylinder_is_a_line() -> None:
    """Axis along y, radius 0.05, half length 0.1: lowest line z −0.05, y ±0.1."""
    polygon = _polygon('<geom type="cylinder" size="0.05 0.1" euler="90 0 0"/>')
    assert sorted(map(tuple, polygon.round(9))) == [(0.0, -0.1, -0.05), (0.0, 0.1, -0.05)]


def test_ellipsoid_touches_at_its_lowest_point_however_it_is_turned() -> None:
    """Support of an ellipsoid against direction d: |diag(size) Rᵀ d| below its centre."""
    model, data = _foot('<geom type="ellipsoid" size="0.1 0.05 0.03" euler="20 30 40"/>')
    (point,) = soles.low_points_w(model, data, 0)
    turn = np.array(data.geom_xmat[0]).reshape(3, 3)
    depth = np.linalg.norm(np.array([0.1, 0.05, 0.03]) * turn[2])
    assert point[2] == pytest.approx(3.0 - depth, abs=1e-12)


def test_points_above_the_lowest_do_not_belong_to_the_sole() -> None:
    """A second box whose lower face lies 3 mm higher is no part of the sole; 1 mm higher is."""
    lower = '<geom type="box" size="0.05 0.05 0.01"/>'
    for lift, right_end in ((0.003, 0.05), (0.001, 0.15)):
        upper = f'<geom type="box" pos="0.1 0 {lift}" size="0.05 0.05 0.01"/>'
        assert _polygon(lower + upper)[:, 0].max() == pytest.approx(right_end)


def test_shapes_that_touch_nothing_are_left_out_when_others_touch() -> None:
    seen = '<geom type="box" pos="0 0 -0.1" size="0.2 0.2 0.01" contype="0" conaffinity="0"/>'
    touching = '<geom type="box" size="0.05 0.05 0.01"/>'
    assert _polygon(seen + touching)[:, 2].max() == pytest.approx(-0.01)


def test_shapes_of_fixed_children_belong_to_the_foot() -> None:
    polygon = _polygon(
        '<geom size="0.01"/><body pos="0.1 0 -0.05"><geom type="box" size="0.05 0.03 0.01"/></body>'
    )
    assert polygon[:, 0].min() == pytest.approx(0.05)
    assert polygon[:, 2].max() == pytest.approx(-0.06)


def test_polygon_is_in_the_frame_of_a_turned_link() -> None:
    """The whole foot yawed by 90 degrees in the world: the same corners in its own frame."""
    model, _ = _foot('<geom type="box" pos="0.04 0 -0.02" size="0.1 0.04 0.01"/>')
    qpos = np.array(model.qpos0)
    qpos[3:7] = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    polygon = soles.sole_polygon(model, soles.posed(model, qpos), 1)
    assert polygon[:, 0].max() == pytest.approx(0.14)
    assert polygon[:, 1].max() == pytest.approx(0.04)
    assert _area(polygon) > 0.0


def test_link_without_shapes_has_no_polygon() -> None:
    assert len(_polygon("")) == 0


@pytest.mark.parametrize(
    ("name", "y", "side"),
    [
        ("left_foot", -1.0, "left"),
        ("RightToe", 1.0, "right"),
        ("leg_r_6", 1.0, "right"),
        ("L_ANKLE", -1.0, "left"),
        ("foot_a", 0.1, "left"),
        ("foot_b", -0.1, "right"),
    ],
)
def test_side_is_read_from_the_name_and_else_from_the_place(name: str, y: float, side: str) -> None:
    assert soles.side_of(name, y) == side


def test_no_shape_at_all_is_refused() -> None:
    model, data = _foot("")
    with pytest.raises(BadRobot) as caught:
        soles.find_feet(model, data, "robot.xml")
    assert str(caught.value) == (
        "no feet found: no link has a shape (robot.xml). Give the soles in a profile "
        "beside the model (docs/robots.md)"
    )


def test_hands_are_not_taken_for_feet_when_the_feet_have_lost_their_shapes() -> None:
    model, data = _foot('<geom size="0.05"/><body name="ankle" pos="0 0 -0.5"/>')
    with pytest.raises(BadRobot, match="link 'ankle' hangs lower than any collision shape"):
        soles.find_feet(model, data, "robot.xml")


def test_side_is_read_from_the_twins_name() -> None:
    """`ltoes` and `rtoes`, `FL_calf` and `FR_calf`; without a twin the letter says nothing."""
    assert soles.side_of("ltoes", -1.0, ["ltoes", "rtoes"]) == "left"
    assert soles.side_of("FR_calf", 1.0, ["FL_calf", "FR_calf"]) == "right"
    assert soles.side_of("heel", -1.0, ["heel"]) == "right"


def _feet(*bodies: str, root: str = "") -> list[tuple[str, str]]:
    """Links and sides of feet of a trunk with these links on it."""
    joint, tail = '<joint axis="0 1 0"/>', '<geom size="0.05"/></body>'
    links = "".join(f"<body {body}>{joint}{tail}" for body in bodies)
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body name="trunk" pos="0 0 1" {root}><freejoint/>
        <geom size="0.1"/>{links}</body></worldbody></mujoco>"""
    )
    rules = soles.find_feet(model, soles.posed(model, np.array(model.qpos0)), "robot.xml")
    return [(rule.link, rule.side) for rule in rules]


def test_of_two_feet_on_one_side_the_one_whose_name_does_not_tell_is_the_other() -> None:
    """The walker of gymnasium: both feet in the plane y = 0, called `foot` and `foot_left`."""
    feet = _feet('name="foot" pos="0 0 -1"', 'name="foot_left" pos="0 0 -1"')
    assert feet == [("foot", "right"), ("foot_left", "left")]


def test_left_of_a_root_that_lies_is_left_in_the_world() -> None:
    """The root's z axis points forward, its y axis up (turned by 90° about x, then about z)."""
    feet = _feet('name="a" pos="0.1 -1 0"', 'name="b" pos="-0.1 -1 0"',
                 root='quat="0.5 0.5 0.5 0.5"')  # fmt: skip
    assert feet == [("a", "left"), ("b", "right")]


def test_foot_whose_shape_is_above_its_origin_has_not_lost_it() -> None:
    """The link's origin is 0.1 m below its shape, as in the walker of gymnasium."""
    model, data = _foot('<geom size="0.02" pos="0 0 0.1"/>')
    (rule,) = soles.find_feet(model, data, "robot.xml")
    assert rule.link == "foot"


def test_robot_that_is_only_drawn_stands_on_what_is_drawn() -> None:
    model, data = _foot('<geom size="0.02" contype="0" conaffinity="0"/>')
    (rule,) = soles.find_feet(model, data, "robot.xml")
    assert rule.link == "foot"


def test_robot_that_lies_on_its_side_has_no_feet() -> None:
    with pytest.raises(BadRobot, match="all on the left side: 'left_arm', 'left_hand'"):
        _feet('name="left_arm" pos="0 0 -1"', 'name="left_hand" pos="1 0 -1"')


def test_foot_that_is_tilted_in_the_home_pose_keeps_its_heel() -> None:
    """3° about y: the heel of a foot of 0.2 m hangs 10 mm above the toes. Two corners before."""
    box = '<geom type="box" size="0.1 0.05 0.01" pos="0.03 0 -0.02"/>'
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><compiler angle="degree"/><worldbody><body name="foot" euler="0 3 0">
        <freejoint/>{box}</body></worldbody></mujoco>"""
    )
    polygon = soles.sole_polygon(model, soles.posed(model, np.array(model.qpos0)), 1)
    want = [[-0.07, -0.05, -0.03], [0.13, -0.05, -0.03], [0.13, 0.05, -0.03], [-0.07, 0.05, -0.03]]
    np.testing.assert_allclose(polygon, want, atol=1e-9)


def test_foot_whose_frame_leans_stands_on_what_is_level() -> None:
    """The frame leans by 10°, the sole does not: the box is turned back in the frame."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><compiler angle="degree"/><worldbody><body name="foot" euler="0 10 0">
        <freejoint/><geom type="box" size="0.1 0.05 0.01" euler="0 -10 0"/></body></worldbody>
        </mujoco>"""
    )
    polygon = soles.sole_polygon(model, soles.posed(model, np.array(model.qpos0)), 1)
    assert _area(polygon) == pytest.approx(0.2 * 0.1 * np.cos(np.radians(10)), rel=1e-6)


def test_foot_in_the_air_is_found_by_its_twin() -> None:
    feet = _feet('name="l_foot" pos="0 0.1 -1"', 'name="r_foot" pos="0.2 -0.1 -0.9"')
    assert feet == [("l_foot", "left"), ("r_foot", "right")]
    assert soles.find_twin("LEFT_FOOT", ["RIGHT_FOOT"]) == "RIGHT_FOOT"
    assert soles.find_twin("foot", ["foot", "shin"]) is None
