"""Pictures of a robot as SVG."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from make.trees import BALL, robot_of
from make.walkers import SOLE, walker
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadInput, BadOption, NoFile
from surefoot.reports.figures import robot_svg, strip_svg, without_prologue, write_robot_svg
from surefoot.reports.geometry import shapes
from surefoot.robots.zoo import load_robot

SVG = "{http://www.w3.org/2000/svg}"


def elements(svg: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(SVG + tag))


def test_a_ball_fills_the_sheet_but_for_the_margins():
    """0.2 m across is all there is: 100 px less 6 px on both sides are 88 px, a radius of 44."""
    robot = robot_of(BALL)
    svg = robot_svg(robot, robot.home, view="front", width_px=100.0)
    assert "A44.0 44.0" in svg
    assert ElementTree.fromstring(svg).get("width") == "100"


def test_a_picture_is_well_formed_and_names_the_robot():
    robot = replace(walker(), name="<b>R&D</b>")
    svg = robot_svg(robot, robot.home)
    assert elements(svg, "title")[0].text == "<b>R&D</b>, three-quarter view"


def test_every_solid_is_painted():
    """Round ones have a gradient: legs, chest, head, and the bone of 40 mm under the chest.

    Solids with faces have one outline without a filling: pelvis, neck and feet.
    """
    robot = walker()
    svg = robot_svg(robot, robot.home)
    assert len(elements(svg, "linearGradient")) == 5
    outlines = [path for path in elements(svg, "path") if path.get("fill") == "none"]
    assert len(outlines) == 4


def test_the_same_pose_gives_the_same_bytes():
    robot = walker()
    assert robot_svg(robot, robot.home) == robot_svg(robot, robot.home)


def test_a_zmp_inside_the_support_is_a_dot_and_outside_a_cross():
    robot = walker()
    square = np.array([[-0.1, -0.1, 0.0], [0.1, -0.1, 0.0], [0.1, 0.1, 0.0], [-0.1, 0.1, 0.0]])
    inside = robot_svg(robot, robot.home, support=square, zmp=np.array([0.05, 0.0, 0.0]))
    outside = robot_svg(robot, robot.home, support=square, zmp=np.array([0.2, 0.0, 0.0]))
    alone = robot_svg(robot, robot.home, zmp=np.array([0.0, 0.0, 0.0]))
    assert [len(elements(svg, "circle")) for svg in (inside, outside, alone)] == [1, 0, 0]


def test_no_number_of_a_picture_is_nan():
    robot = walker()
    posed = robot_svg(robot, robot.home, support=SOLE, zmp=np.zeros(3))
    strip = strip_svg(robot, np.array([robot.home] * 3), labels=("a", "b", "c"))
    assert not re.findall(r"\b(?:nan|inf)\b", posed + strip)


def test_the_poses_of_a_strip_stand_at_equal_distances():
    robot = walker()
    poses = np.repeat(np.array(robot.home)[None], 4, axis=0)
    poses[:, 0] = (0.0, 1.0, 1.5, 9.0)  # where they stand in the world does not matter
    texts = elements(strip_svg(robot, poses, labels=("0 s", "1 s", "2 s", "3 < 4")), "text")
    x = np.array([float(str(text.get("x"))) for text in texts])
    assert [text.text for text in texts] == ["0 s", "1 s", "2 s", "3 < 4"]
    np.testing.assert_allclose(np.diff(x, 2), 0.0, atol=0.21)  # rounded to tenths of a pixel
    assert np.all(np.diff(x) > 0.0)


def test_the_poses_of_a_strip_stand_on_one_line():
    """The same pose 3 m farther away from the camera, which looks down, is painted as high."""
    robot = walker()
    poses = np.repeat(np.array(robot.home)[None], 2, axis=0)
    poses[1, :2] = (-3.0, 1.0)
    paths = [path.get("d") for path in elements(strip_svg(robot, poses), "path")]
    tops = [float(d.split()[1].split("L")[0]) for d in paths if "A" in d and "L" in d]
    half = len(tops) // 2
    np.testing.assert_allclose(tops[:half], tops[half:], atol=0.11)  # tenths of a pixel


def test_an_inlined_picture_has_no_address_in_it():
    robot = walker()
    assert "http" not in without_prologue(robot_svg(robot, robot.home))


@pytest.mark.shared
@pytest.mark.parametrize(
    "model",
    ["g1/g1_bm_no_mesh_box_feet.xml", "t1/t1.xml", "talos/talos_reduced_box.urdf"],
)
def test_a_robot_that_lost_its_meshes_is_seen_at_every_joint(shared, model):
    """Within 5 cm of each link that a joint moves there is a shape, in the home pose."""
    robot = load_robot(shared / "data" / "robots" / model)
    ElementTree.fromstring(robot_svg(robot, robot.home))
    batch = Batch(robot, robot.home[None])
    pos, rot = batch.link_pos_w[0], batch.link_rot_wl[0]
    nearest = np.full(robot.model.nbody, np.inf)
    for shape in shapes(robot):
        ends, radius = shape.spine
        a, b = pos[shape.link] + (shape.pos_l + ends @ shape.rot_ls.T) @ rot[shape.link].T
        share = np.clip((pos - a) @ (b - a) / max((b - a) @ (b - a), 1e-12), 0.0, 1.0)
        gap = np.linalg.norm(pos - a - share[:, None] * (b - a), axis=1) - radius
        nearest = np.minimum(nearest, gap)
    assert nearest[robot.model.body_jntnum > 0].max() < 0.05


def test_a_pose_of_another_robot_is_refused():
    robot = walker()
    with pytest.raises(BadInput) as caught:
        robot_svg(robot, np.zeros(3))
    assert caught.value.sentence == (
        "expected poses (n, 12) with n > 0, got (1, 3) (picture of robot 'walker')"
    )


def test_an_unknown_view_is_refused():
    robot = walker()
    with pytest.raises(BadOption) as caught:
        strip_svg(robot, robot.home[None], width_px=0.0)
    assert caught.value.sentence == "width_px must be positive, got 0.0"


def test_each_pose_of_a_strip_has_its_own_support_and_zmp():
    """The second pose's ZMP lies 1 m ahead of its support: one dot and one cross."""
    robot = walker()
    square = np.array([[-0.1, -0.1, 0.0], [0.1, -0.1, 0.0], [0.1, 0.1, 0.0], [-0.1, 0.1, 0.0]])
    zmp_w = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    poses = np.array([robot.home] * 2)
    svg = strip_svg(robot, poses, supports=(square, square), zmp_w=zmp_w)
    assert len(elements(svg, "circle")) == 1
    assert len(re.findall(r'stroke-linecap="round"', svg)) == 1
    assert svg.count('fill-opacity="0.22"') == 2


def test_labels_that_do_not_fit_the_poses_are_refused():
    robot = walker()
    with pytest.raises(BadInput) as caught:
        strip_svg(robot, robot.home[None], labels=("a", "b"))
    assert caught.value.sentence == "expected 1 labels, got 2 (film strip)"


def test_a_robot_is_written_to_a_file_with_its_feet_on_their_support(tmp_path):
    robot = walker()
    write_robot_svg(robot, tmp_path / "walker.svg")
    ElementTree.parse(tmp_path / "walker.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["walker.svg"]


def test_a_file_in_no_folder_is_refused_and_leaves_nothing(tmp_path):
    robot = walker()
    path = tmp_path / "nowhere" / "walker.svg"
    with pytest.raises(NoFile) as caught:
        write_robot_svg(robot, path)
    assert caught.value.sentence == (
        f"the file cannot be written: No such file or directory ({path})."
        " Name a file in a folder that exists and can be written to"
    )
    assert list(tmp_path.iterdir()) == []
