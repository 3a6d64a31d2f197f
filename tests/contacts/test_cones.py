"""Contact vertices of samples: against a loop over samples and stances, and what pruning leaves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from make.trees import BRANCHED, random_states, robot_of
from surefoot.arrays import Array
from surefoot.contacts.cones import STILL_MPS, Cones, Sliding, contact_cones, outermost
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, BadOption, UnknownName
from surefoot.index.distance import Scales, signed_distances
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.robots.robot import Robot

UP = (0.0, 0.0, 1.0)
SOLE = np.array([[x, y, -0.03] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
INNER = np.array([[0.0, 0.0, -0.03], [0.1, 0.0, -0.03], [0.02, 0.01, -0.03]])
TIME = np.array([0.0, 0.1, 0.2, 0.2, 0.3, 0.4])
SIDE = np.array([0, 0, -1, 1, 0, 0])
EXACT = 1e-12  # metres: some roundings of a rotated point


@pytest.fixture(scope="module")
def robot() -> Robot:
    return robot_of(BRANCHED)


@pytest.fixture(scope="module")
def batch(robot: Robot) -> Batch:
    states = random_states(robot.model, len(TIME), seed=3)
    return Batch(robot, states.qpos, states.qvel, states.qacc)


def links(robot: Robot) -> list[str]:
    return list(robot.link_names)[-2:]


def stance(link: str, start: float, end: float, vertices: Array = SOLE, **more: object) -> Stance:
    mode = {1: "point", 2: "edge"}.get(len(vertices), "face")
    return Stance(link, start, end, mode, vertices, **more)  # type: ignore[arg-type]  # kept short


def slow_rows(
    batch: Batch, contacts: ContactSchedule, sliding: Sliding, friction: float | None
) -> list[tuple[int, int, Array, Array, float]]:
    """(sample, stance, position, normal, friction) of all vertices, one after the other."""
    rows = []
    for i, (t, side) in enumerate(zip(TIME, SIDE, strict=True)):
        for number, s in enumerate(contacts.stances):
            after = t > s.start or (t == s.start and side >= 0)
            before = t < s.end or (t == s.end and side <= 0)
            if not (after and before):
                continue
            link = batch.robot.link_id(s.link)
            R = Rotation.from_quat(np.roll(batch.link_quat_w[i, link], -1)).as_matrix()
            for vertex in s.vertices:
                arm, normal = R @ vertex, np.array(s.normal)
                mu = s.friction if friction is None else friction
                v = batch.link_vel_w[i, link]
                v = v[:3] + np.cross(v[3:], arm)
                v = v - (v @ normal) * normal
                if s.moving and sliding == "frictionless":
                    mu = 0.0
                if s.moving and sliding == "kinetic" and np.linalg.norm(v) > STILL_MPS:
                    normal = normal - mu * v / np.linalg.norm(v)
                    normal, mu = normal / np.linalg.norm(normal), 0.0
                rows.append((i, number, batch.link_pos_w[i, link] + arm, normal, mu))
    return rows


def schedule(robot: Robot) -> ContactSchedule:
    a, b = links(robot)
    tilted = np.array([0.6, 0.0, 0.8])
    return ContactSchedule(
        (
            stance(a, 0.0, 0.2, friction=0.5),
            stance(a, 0.2, 0.3, SOLE[:1], normal=tilted),
            stance(b, 0.1, 0.4, SOLE[:2], moving=True, friction=0.6),
            stance(b, 0.2, 0.25, SOLE, moving=True),
        )
    )


@pytest.mark.parametrize("sliding", ["kinetic", "static", "frictionless"])
@pytest.mark.parametrize("friction", [None, 0.2])
def test_the_vertices_are_those_of_a_slow_loop(
    batch: Batch, robot: Robot, sliding: Sliding, friction: float | None
) -> None:
    contacts = schedule(robot)
    out = contact_cones(batch, TIME, contacts, side=SIDE, sliding=sliding, friction=friction)
    rows = slow_rows(batch, contacts, sliding, friction)
    assert out.n == len(TIME)
    np.testing.assert_array_equal(out.vertex_sample, [row[0] for row in rows])
    np.testing.assert_array_equal(out.vertex_stance, [row[1] for row in rows])
    np.testing.assert_allclose(out.vertex_pos, [row[2] for row in rows], atol=EXACT)
    np.testing.assert_allclose(out.vertex_normal, [row[3] for row in rows], atol=EXACT)
    np.testing.assert_allclose(out.vertex_friction, [row[4] for row in rows], atol=0.0)


def test_before_and_after_a_change_of_contact_are_two_samples(batch: Batch, robot: Robot) -> None:
    """At 0.2 s a sole goes over into a point: 4 before, 1 after, 5 where no side is told."""
    a, _ = links(robot)
    contacts = ContactSchedule((stance(a, 0.0, 0.2), stance(a, 0.2, 0.4, SOLE[:1])))
    sides = contact_cones(batch, TIME, contacts, side=SIDE)
    np.testing.assert_array_equal(sides.count, [4, 4, 4, 1, 1, 1])
    both = contact_cones(batch, TIME, contacts)
    np.testing.assert_array_equal(both.count, [4, 4, 5, 5, 1, 1])


def test_in_flight_there_are_no_vertices(batch: Batch) -> None:
    out = contact_cones(batch, TIME, ContactSchedule())
    assert out.vertex_pos.shape == (0, 3)
    np.testing.assert_array_equal(out.count, 0)


def test_what_lies_between_corners_is_left_out(batch: Batch, robot: Robot) -> None:
    a, _ = links(robot)
    full = np.concatenate([SOLE, INNER])
    out = contact_cones(batch, TIME, ContactSchedule((stance(a, 0.0, 0.4, full),)))
    np.testing.assert_array_equal(out.count, 4)
    for corner in SOLE:
        assert np.min(np.abs(out.vertex_l[:4] - corner).max(axis=1)) == 0.0


@pytest.mark.parametrize(
    ("vertices", "kept"),
    [
        (SOLE[:2], [True, True]),
        (np.array([[0.0, 0, 0], [1.0, 1.0, 0], [3.0, 3.0, 0], [2.0, 2.0, 0]]), [1, 0, 1, 0]),
        (np.concatenate([SOLE, [[0.0, 0.0, 0.1]]]), [1, 1, 1, 1, 1]),  # not in one plane
        (np.concatenate([SOLE, INNER]), [1, 1, 1, 1, 0, 0, 0]),
    ],
)
def test_only_corners_of_a_common_plane_are_outermost(vertices: Array, kept: list[bool]) -> None:
    found = outermost(vertices)
    assert found.sum() == sum(kept)
    np.testing.assert_array_equal(found, np.array(kept, dtype=np.bool_))


def test_pruning_changes_no_distance() -> None:
    """The bounds with and without inner vertices meet, to 1e-9 N for the rounding of both."""
    rng = np.random.default_rng(5)
    full = np.concatenate([SOLE, INNER])
    w = np.array([0.0, 0.0, 700.0, 0.0, 0.0, 0.0]) + 30.0 * rng.normal(size=(30, 6))
    ref, answers = np.tile([0.0, 0.0, 0.8], (30, 1)), []
    for vertices in (full, full[outermost(full)]):
        k = len(vertices)
        cones = Cones(
            start=k * np.arange(31),
            vertex_pos=np.tile(vertices, (30, 1)),
            vertex_normal=np.tile(UP, (30 * k, 1)),
            vertex_friction=np.full(30 * k, 0.6),
            vertex_stance=np.zeros(30 * k, dtype=np.int64),
            vertex_l=np.tile(vertices, (30, 1)),
        )
        answers.append(signed_distances(cones, w, ref, scales=Scales(tolerance=1e-6)))
    a, b = answers
    assert np.all(np.maximum(a.lower - b.upper, b.lower - a.upper) <= 1e-9)


def test_a_foot_that_pivots_keeps_its_inner_vertices(batch: Batch, robot: Robot) -> None:
    """Its vertices slide in different directions: an inner ray is no mean of the outer ones."""
    a, _ = links(robot)
    full = np.concatenate([SOLE, INNER])
    contacts = ContactSchedule((stance(a, 0.0, 0.4, full, moving=True),))
    assert np.all(contact_cones(batch, TIME, contacts).count == 7)
    assert np.all(contact_cones(batch, TIME, contacts, sliding="static").count == 4)
    assert np.all(contact_cones(batch, TIME, contacts, sliding="frictionless").count == 4)


def test_a_moving_stance_that_stands_still_keeps_its_friction(robot: Robot) -> None:
    """Below 1 mm/s no direction of sliding is told from noise."""
    a, _ = links(robot)
    still = Batch(robot, np.repeat(robot.home[None], 6, axis=0), np.zeros((6, robot.nv)))
    contacts = ContactSchedule((stance(a, 0.0, 0.4, moving=True, friction=0.6),))
    out = contact_cones(still, TIME, contacts)
    np.testing.assert_array_equal(out.vertex_friction, 0.6)
    np.testing.assert_array_equal(out.vertex_normal, np.tile(UP, (24, 1)))


def test_what_cannot_be_is_said(batch: Batch, robot: Robot) -> None:
    a, _ = links(robot)
    contacts = ContactSchedule((stance(a, 0.0, 0.4),))
    with pytest.raises(BadOption, match=r"friction must be 0 or more, got -0\.1"):
        contact_cones(batch, TIME, contacts, friction=-0.1)
    with pytest.raises(UnknownName, match="'nose'"):
        contact_cones(batch, TIME, ContactSchedule((stance("nose", 0.0, 0.4),)))


def cones_with(**more: Array) -> Cones:
    parts = {
        "start": np.array([0, 4]),
        "vertex_pos": SOLE,
        "vertex_normal": np.tile(UP, (4, 1)),
        "vertex_friction": np.full(4, 0.7),
        "vertex_stance": np.zeros(4, dtype=np.int64),
        "vertex_l": SOLE,
    }
    return Cones(**(parts | more))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"start": np.array([0, 3])}, "start must rise from 0 to 4"),
        ({"start": np.array([0, 5, 4])}, "start must rise from 0 to 4"),
        ({"vertex_friction": np.full(4, -0.1)}, "friction 0 or more"),
        ({"vertex_pos": np.full((4, 3), np.nan)}, "must be finite"),
        ({"vertex_normal": np.full((4, 3), 1.0)}, "unit vectors"),
    ],
)
def test_arrays_that_are_no_contacts_are_refused(more: dict[str, Array], sentence: str) -> None:
    with pytest.raises(BadMotion, match=sentence):
        cones_with(**more)


def test_the_arrays_are_locked() -> None:
    out = cones_with()
    with pytest.raises(ValueError, match="read-only"):
        out.vertex_pos[0, 0] = 1.0
