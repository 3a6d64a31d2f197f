"""What the player is given, read back as the player reads it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from make.walkers import swaying_clip, walker
from surefoot.contacts.cones import contact_cones
from surefoot.contacts.support import support
from surefoot.dynamics.batch import Batch
from surefoot.motion import rotation
from surefoot.motion.contact import Surface, Terrain
from surefoot.reports import geometry, player
from surefoot.reports.player import Actor, Polygon, Scene, Track, packed, unpacked


def scene_of(n: int = 61) -> tuple[Scene, Batch]:
    robot = walker()
    clip = swaying_clip(robot, n=n)
    batch = Batch(robot, robot.qpos(clip.motion))
    shapes = geometry.shapes(robot)
    actor = Actor("walker", shapes, clip.motion.time, batch.link_pos_w, batch.link_quat_w, 1)
    carried = support(contact_cones(batch, clip.motion.time, clip.contacts, sliding="static"))
    return Scene((actor,), polygons=(Polygon("support", clip.motion.time, carried),)), batch


def test_sixteen_bits_keep_a_value_within_half_a_step():
    """The step is the range of the column over 65535."""
    rng = np.random.default_rng(11)  # 500 rows
    values = rng.normal(size=(500, 3)) * (0.1, 1.0, 10.0)
    half_step = 0.5 * np.ptp(values, axis=0) / 65535
    assert np.all(np.abs(unpacked(packed(values)) - values) <= half_step * (1.0 + 1e-9))


@pytest.mark.parametrize(
    ("values", "packing"),
    [
        (np.full((4, 2), 1.25), "u2"),  # no range to divide
        (np.array([0.0, 1.0, 2.0]), "u1"),
        (np.array([0.5, -2.25, 1e6]), "f4"),
        (np.zeros((0, 3)), "u2"),
    ],
)
def test_values_that_fit_come_back_exactly(values, packing):
    np.testing.assert_array_equal(unpacked(packed(values, packing)), values)


def test_link_poses_come_back_within_a_tenth_of_a_millimetre_and_of_a_milliradian():
    scene, batch = scene_of()
    entry = json.loads(json.dumps(scene.as_json()))["actors"][0]
    pos, quat = unpacked(entry["pos"]), rotation.unit(unpacked(entry["quat"]))
    links = sorted({shape.link for shape in scene.actors[0].shapes})
    np.testing.assert_allclose(pos, batch.link_pos_w[:, links], atol=1e-4)
    turn = rotation.multiply(rotation.conjugate(quat), batch.link_quat_w[:, links])
    assert np.abs(rotation.as_rotvec(turn)).max() < 1e-4


def test_the_corners_of_the_support_come_back_within_a_tenth_of_a_millimetre():
    scene, _ = scene_of()
    entry = json.loads(json.dumps(scene.as_json()))["polygons"][0]
    carried = scene.polygons[0].support
    np.testing.assert_allclose(unpacked(entry["vertices"]), carried.vertices_w, atol=1e-4)
    np.testing.assert_array_equal(unpacked(entry["count"]), carried.count)


def test_a_long_track_is_thinned_with_both_ends_kept():
    kept = player.thinned(100_000)
    assert len(kept) == player.MOST_SAMPLES
    assert (kept[0], kept[-1]) == (0, 99_999)
    np.testing.assert_array_equal(player.thinned(5), range(5))


def test_a_point_that_is_not_there_does_not_spoil_the_others():
    """A ZMP 1 km away in flight would leave steps of 15 mm to the others."""
    points = np.array([[0.01, 0.02, 0.0], [1000.0, 0.0, 0.0], [0.03, 0.02, 0.0]])
    track = Track(
        "ZMP",
        "judged",
        np.arange(3.0),
        points,
        np.array([0, 2, 1]),
        np.array([-0.01, np.inf, 0.02]),
    )
    scene, _ = scene_of()
    entry = Scene(scene.actors, (track,)).as_json()["tracks"][0]
    np.testing.assert_allclose(unpacked(entry["points"])[[0, 2]], points[[0, 2]], atol=1e-6)
    json.dumps(entry, allow_nan=False)


def test_boxes_of_the_terrain_stand_where_they_are():
    box = Surface("box", np.array([1.0, 2.0, 0.1]), size=np.array([0.4, 0.6, 0.2]), yaw=np.pi / 2)
    floor = Surface("plane", np.array([0.0, 0.0, -0.3]))
    scene, _ = scene_of()
    entry = Scene(scene.actors, terrain=Terrain((floor, box))).as_json()
    (solid,) = entry["terrain"]
    rot = np.array(solid["rot"]).reshape(3, 3)
    corners = np.array(solid["pos"]) + np.array(solid["points"]).reshape(-1, 3) @ rot.T
    np.testing.assert_allclose(corners.min(axis=0), (0.7, 1.8, 0.0), atol=1e-5)
    np.testing.assert_allclose(corners.max(axis=0), (1.3, 2.2, 0.2), atol=1e-5)
    assert entry["ground"] == -0.3


def test_an_eight_second_clip_stays_small():
    """240 frames of six links take 14 bytes a link and frame, a third more in base64: 27 kB."""
    scene, _ = scene_of(n=240)
    assert len(json.dumps(scene.as_json()["actors"][0]["pos"])) < 240 * 6 * 6 * 4 / 3 + 500
