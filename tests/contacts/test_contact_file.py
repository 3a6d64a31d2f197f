"""The contacts file: round trip, what may be left out, and every fault by its sentence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from make.puppets import SOLE, puppet, walk
from surefoot.contacts.contact_file import contacts_from_toml
from surefoot.contacts.detect import detect
from surefoot.contacts.edges import touching
from surefoot.errors import BadFile
from surefoot.motion.contact import ContactSchedule, Stance, Surface, Terrain
from surefoot.robots.robot import Robot

HEAD = "schema = 1\n[[stance]]\nlink = 'left_foot'\nstart_s = 0.5\nend_s = 1.0\n"


@pytest.fixture(scope="module")
def robot() -> Robot:
    return puppet()


def read(text: str, robot: Robot, **more: object) -> ContactSchedule:
    return contacts_from_toml(text, robot, where="walk.toml", **more)  # type: ignore[arg-type]  # terrain, motion


@pytest.mark.parametrize("fps", [30.0, 60.0, 29.97])
def test_what_was_detected_is_read_back_equal(robot: Robot, fps: float) -> None:
    motion = walk(robot, fps=fps, jitter=0.004, pitch=0.25).motion
    found = detect(motion, robot)
    assert read(found.as_toml(), robot, motion=motion) == found


def test_soles_with_more_digits_than_a_file_come_back_equal(robot: Robot) -> None:
    odd = SOLE + np.array([1.0 / 3e3, 0.0, 1.0 / 7e3])
    other = replace(robot, soles=tuple(replace(s, polygon_l=odd) for s in robot.soles))
    slope = np.array([-math.sin(0.2), 0.0, math.cos(0.2)])
    terrain = Terrain((Surface("plane", np.zeros(3), slope),), friction=1.0 / 3.0)
    schedule = ContactSchedule((Stance("left_foot", 0.0, 1.0, "face", odd, slope, 0.25),))
    assert read(schedule.as_toml(), other, terrain=terrain) == schedule


def test_a_written_file_is_written_the_same_again(robot: Robot) -> None:
    stances = (
        Stance("left_foot", 1.0 / 3.0, 4.0 / 3.0, "edge", SOLE[1:3], moving=True),
        Stance("pelvis", 0.1, 0.2 + 1e-9, "point", np.array([[0.1 / 3.0, -1e-9, 0.5]])),
    )
    text = ContactSchedule(stances).as_toml()
    assert read(text, robot).as_toml() == text
    assert "-0.0," not in text


def test_no_frame_falls_out_of_its_stance_by_rounding(robot: Robot) -> None:
    """4/3 s is written as 1.333334, and 1/3 s as 0.333333."""
    stance = Stance("left_foot", 1.0 / 3.0, 4.0 / 3.0, "face", SOLE)
    found = read(ContactSchedule((stance,)).as_toml(), robot)
    assert (found.stances[0].start, found.stances[0].end) == (0.333333, 1.333334)


def test_a_face_without_vertices_is_the_whole_sole(robot: Robot) -> None:
    (stance,) = read(HEAD + "mode = 'face'\n", robot).stances
    assert np.array_equal(stance.vertices, SOLE)
    assert (stance.friction, stance.moving, stance.surface) == (0.7, False, 0)


@pytest.mark.parametrize(
    ("link", "edge", "corners"),
    [
        ("left_foot", "toe", [1, 2]),
        ("left_foot", "heel", [0, 3]),
        ("left_foot", "inner", [0, 1]),
        ("left_foot", "outer", [2, 3]),
        ("right_foot", "inner", [2, 3]),
        ("right_foot", "outer", [0, 1]),
    ],
)
def test_an_edge_can_be_said_by_name(
    robot: Robot, link: str, edge: str, corners: list[int]
) -> None:
    text = HEAD.replace("left_foot", link) + f"mode = 'edge'\nedge = '{edge}'\n"
    (stance,) = read(text, robot).stances
    assert {tuple(v) for v in stance.vertices} == {tuple(v) for v in SOLE[corners]}
    sole = next(s for s in robot.soles if s.link == link)
    assert touching(robot, sole, stance.vertices) == f"{edge} edge"


@pytest.mark.parametrize(
    ("corners", "words"),
    [([1], "inner toe corner"), ([3], "outer heel corner"), ([0, 1, 2], "3 corners")],
)
def test_what_touches_is_said_in_words(robot: Robot, corners: list[int], words: str) -> None:
    assert touching(robot, robot.soles[0], SOLE[corners]) == words
    assert touching(robot, None, SOLE[:2]) == "edge"


def test_a_stance_without_surface_gets_the_one_under_it(robot: Robot) -> None:
    motion = walk(robot, height=0.2).motion
    box = Surface("box", np.array([0.0, 0.0, 0.1]), size=np.array([0.5, 1.0, 0.2]))
    terrain = Terrain((Surface("plane", np.zeros(3)), box))
    text = HEAD.replace("0.5", "0.0").replace("1.0", "0.2") + "mode = 'face'\n"
    assert read(text, robot, terrain=terrain, motion=motion).stances[0].surface == 1
    assert read(text, robot, terrain=terrain).stances[0].surface == 0


def _fault(text: str, robot: Robot, **more: object) -> str:
    with pytest.raises(BadFile) as caught:
        read(text, robot, **more)
    return caught.value.sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("schema = ", "not TOML: "),
        (
            "schema = 2",
            "expected schema = 1, got 2 (walk.toml). A newer schema needs a newer surefoot",
        ),
        ("", "expected schema = 1, got none (walk.toml). A contacts file begins with schema = 1"),
        ("schema = true", "expected schema = 1, got True (walk.toml)"),
        ("schema = 1\nstanse = 3", "unknown key 'stanse'. Did you mean 'stance'?"),
        ("schema = 1\nstance = 3", "stance must be a list of tables: [[stance]]"),
        ("schema = 1\nstance = [3]", "stance 1: is no table"),
        (HEAD, "stance 1 ('left_foot'): no key 'mode'"),
        (HEAD + "mode = 'flat'", "mode must be 'point', 'edge' or 'face', got 'flat'"),
        (HEAD + "mode = 'edge'", "mode edge needs vertices_m or edge = 'toe', 'heel'"),
        (HEAD + "mode = 'point'", "mode point needs vertices_m"),
        (HEAD + "mode = 'face'\nedge = 'toe'", "edge = 'toe' goes with mode = 'edge'"),
        (HEAD + "mode = 'edge'\nedge = 'toes'", "edge must be one of toe, heel, inner, outer"),
        (HEAD + "mode = 'face'\nmoveing = true", "unknown key 'moveing'. Did you mean 'moving'"),
        (HEAD + "mode = 'face'\nmoving = 1", "moving must be true or false, got 1"),
        (
            HEAD + "mode = 'face'\nfriction = -1",
            "friction must be a number from 0 to 10000, got -1",
        ),
        (HEAD + "mode = 'face'\nnormal = [0, 0, 2]", "normal must be a unit vector of 3 numbers"),
        (HEAD + "mode = 'face'\nsurface = 1", "surface must be 0 to 0, got 1"),
        (HEAD + "mode = 'face'\nvertices_m = [[0, 0]]", "vertices_m must be a list of [x, y, z]"),
        (
            HEAD + "mode = 'edge'\nvertices_m = [[0, 0, 0]]",
            "mode edge needs 2 vertices (v, 3), got (1, 3)",
        ),
        (
            HEAD + "mode = 'edge'\nedge = 'toe'\nvertices_m = [[0, 0, 0]]",
            "vertices_m and edge exclude each other",
        ),
        (
            HEAD.replace("end_s = 1.0", "end_s = 0.4") + "mode = 'face'",
            "end_s must not be before start_s, got 0.5 to 0.4",
        ),
        (HEAD.replace("0.5", "nan") + "mode = 'face'", "start_s must be a number, got nan"),
        (
            HEAD.replace("left_foot", "left_fot") + "mode = 'face'",
            "stance 1 ('left_fot'): link 'left_fot' is not in robot 'puppet'. Did you mean",
        ),
        (
            HEAD.replace("left_foot", "pelvis") + "mode = 'face'",
            "'pelvis' has no sole, so vertices_m must be given; soles are on left_foot, right_foot",
        ),
    ],
)
def test_every_fault_has_its_sentence(text: str, sentence: str, robot: Robot) -> None:
    assert sentence in _fault(text, robot)


def test_all_faults_are_said_together(robot: Robot) -> None:
    rows = HEAD + "mode = 'flat'\n" + HEAD.removeprefix("schema = 1\n") + "mode = 'edge'\nx = 1\n"
    said = _fault(rows, robot)
    for part in ("stance 1 ('left_foot'): mode must", "stance 2 ('left_foot'): unknown key 'x'"):
        assert part in said


def test_a_stance_outside_the_clip_is_refused(robot: Robot) -> None:
    motion = walk(robot, steps=0).motion
    said = _fault(HEAD + "mode = 'face'", robot, motion=motion)
    assert "stance 1 ('left_foot'): 0.5 s to 1 s lies outside the clip, 0 s to 0.3 s" in said
