"""People on stairs: the terrain at the robot's scale, its soles on the treads, contacts on them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import surefoot as sf
from make.people import person_of
from surefoot.arrays import locked
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion
from surefoot.motion.contact import Surface, Terrain
from surefoot.motion.motion import Clip
from surefoot.retargeting.ground import on_ground, scaled
from surefoot.retargeting.retarget import Options, retarget
from surefoot.robots.robot import Robot
from surefoot.samples import generator

pytestmark = pytest.mark.slow

STAIRS = ("stairs-up", "stairs-down")
LET_GO_MPS = 0.30  # contacts.detect: what is faster does not stand; a swing begins more gently


@pytest.fixture(scope="module")
def human25() -> Robot:
    return sf.load_robot("human25")


@pytest.fixture(scope="module")
def climbed(human25: Robot) -> dict[str, Clip]:
    return {
        name: retarget(generator.make(name), human25, terrain=generator.terrain(name))
        for name in STAIRS
    }


def box(top: float, first: float, last: float) -> Surface:
    centre = locked((0.5 * (first + last), 0.0, 0.5 * top))
    return Surface("box", centre, size=locked((last - first, 2.0, top)), yaw=0.3)


def test_scaled_terrain_is_as_high_at_scaled_places() -> None:
    """h(s x) s = s h(x), for boxes that are turned and planes that lean."""
    slope = np.array([0.1, 0.0, 1.0]) / np.linalg.norm([0.1, 0.0, 1.0])
    ground = Terrain(
        (Surface("plane", locked((0.1, 0.0, -0.2)), locked(slope)), box(0.4, 0.2, 0.7)),
        friction=0.5,
    )
    xy = np.random.default_rng(1).uniform(-1.0, 1.0, (200, 2))
    found = scaled(ground, 0.7)
    np.testing.assert_allclose(found.height(0.7 * xy), 0.7 * ground.height(xy), atol=1e-12)
    assert found.friction == 0.5


def test_without_terrain_the_floor_is_level(human25: Robot) -> None:
    clip = retarget(generator.make("sidestep"), human25)
    assert clip.terrain.as_toml() == Terrain().as_toml()


@pytest.mark.parametrize("name", STAIRS)
def test_terrain_is_scaled_as_the_path(human25: Robot, climbed: dict[str, Clip], name: str) -> None:
    """Leg over leg: human25's by that of the person; the top of the stairs is 4 · 0.083 m high."""
    scale = climbed[name].meta.history[0].parameters["scale"]
    tops = [s.point[2] + 0.5 * s.size[2] for s in climbed[name].terrain.surfaces[1:]]
    assert max(tops) == pytest.approx(scale * 4 * 0.083, abs=1e-9)
    assert scale != pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("name", STAIRS)
def test_every_foot_stands_on_its_own_tread_in_order(climbed: dict[str, Clip], name: str) -> None:
    """Right foot first: level step, then one tread each; surface 0 is the floor."""
    stances = sorted(climbed[name].contacts.stances, key=lambda s: s.start)
    met = {side: [s.surface for s in stances if s.link == f"{side}_toe"] for side in sides()}
    if name == "stairs-up":
        assert met == {"left": [0, 1, 3, 4], "right": [0, 0, 2, 4]}
    else:
        assert met == {"left": [1, 2, 4, 0], "right": [1, 1, 3, 0]}
    for stance in stances:
        np.testing.assert_array_equal(stance.normal, [0.0, 0.0, 1.0])


def sides() -> tuple[str, str]:
    return "left", "right"


@pytest.mark.parametrize("name", STAIRS)
def test_soles_rest_on_the_treads_within_millimetres(human25: Robot, name: str) -> None:
    """In the planned rests of heels and toes, away from their ends by 0.1 s: 3 mm, six seeds."""
    for seed in range(6):
        human, ground = generator.make(name, seed=seed), generator.terrain(name)
        clip = retarget(human, human25, terrain=ground)
        told = generator.truth(name, seed=seed)
        batch, time = Batch(human25, human25.qpos(clip.motion)), clip.motion.time
        for sole in human25.soles:
            part = "heel" if sole.link.endswith("foot") else "toe"
            corners = batch.points_w(sole.link, sole.polygon_l)
            flat = np.ascontiguousarray(corners[:, :, :2].reshape(-1, 2))
            above = corners[:, :, 2] - clip.terrain.height(flat).reshape(corners.shape[:2])
            for start, end in getattr(told, f"{sole.side}_{part}"):
                rest = (time > start + 0.1) & (time < end - 0.1)
                assert np.abs(above[rest]).max() < 3e-3, (name, seed, sole.link)


def test_the_height_found_does_not_depend_on_where_the_person_floats(human25: Robot) -> None:
    human, ground = generator.make("stairs-up"), generator.terrain("stairs-up")
    floating = dataclasses.replace(human, root_pos=human.root_pos + np.array([0.0, 0.0, 0.03]))
    clips = [retarget(who, human25, terrain=ground) for who in (human, floating)]
    gap = clips[0].motion.root_pos - clips[1].motion.root_pos
    assert np.abs(gap).max() < 2e-3


def test_a_terrain_that_nobody_is_above_is_refused(human25: Robot) -> None:
    motion = retarget(generator.make("sidestep"), human25).motion
    with pytest.raises(BadMotion) as error:
        on_ground(motion, human25, Terrain((box(0.1, 50.0, 51.0),)))
    assert str(error.value) == (
        "no sole is ever above the terrain (robot 'human25'). give the terrain that the person"
        " walked on, in metres of the human clip"
    )


def test_a_person_with_the_robots_own_body_stands_on_the_terrain_as_given(human25: Robot) -> None:
    """Scale 1: the terrain comes back as it was."""
    clip = retarget(generator.make("stairs-up"), human25, terrain=generator.terrain("stairs-up"))
    human = person_of(human25, clip.motion)
    again = retarget(human, human25, terrain=clip.terrain, options=Options(smooth_hz=None))
    assert again.meta.history[0].parameters["scale"] == pytest.approx(1.0, abs=1e-9)
    for a, b in zip(again.terrain.surfaces, clip.terrain.surfaces, strict=True):
        np.testing.assert_allclose(a.point, b.point, atol=1e-9)
    assert np.abs(again.motion.root_pos - clip.motion.root_pos).max() < 5e-3


def changes(spans: list[tuple[float, float]], end: float) -> list[float]:
    return sorted(t for span in spans for t in span if 1e-6 < t < end - 1e-6)


def stands(clip: Clip, robot: Robot, link: str) -> list[tuple[float, float]]:
    """When the rear corners of a sole stand: spans that meet are one."""
    rear = next(s.polygon_l[:, 0].min() for s in robot.soles if s.link == link)
    spans: list[tuple[float, float]] = []
    for stance in sorted(clip.contacts.stances, key=lambda s: s.start):
        if stance.link != link or not np.any(stance.vertices[:, 0] < rear + 0.01):
            continue
        if spans and abs(stance.start - spans[-1][1]) < 1e-9:
            spans[-1] = (spans[-1][0], stance.end)
        else:
            spans.append((stance.start, stance.end))
    return spans


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sidestep", *STAIRS])
def test_detected_contacts_are_those_of_the_generator(human25: Robot, name: str) -> None:
    """Twenty seeds; as many contacts, and as long as parts of the foot stay below 0.30 m/s.

    Every change within one frame of 1/30 s for sidestep and stairs-down; of stairs-up 98.75 %, all
    within 1.2 frames.
    """
    off = []
    for seed in range(20):
        ground = generator.terrain(name)
        clip = retarget(generator.make(name, seed=seed), human25, terrain=ground)
        told = generator.truth(name, seed=seed, speed_mps=LET_GO_MPS)
        end = float(clip.motion.time[-1])
        for side in sides():
            for part, link in (("heel", f"{side}_foot"), ("toe", f"{side}_toe")):
                wanted = changes(list(getattr(told, f"{side}_{part}")), end)
                found = changes(stands(clip, human25, link), end)
                assert len(found) == len(wanted), (seed, link)
                off += [30.0 * abs(a - b) for a, b in zip(found, wanted, strict=True)]
    assert max(off) < 1.2
    assert np.mean(np.array(off) <= 1.0) >= (0.98 if name == "stairs-up" else 1.0)
