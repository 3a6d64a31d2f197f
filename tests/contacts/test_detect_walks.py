"""Detection on walks whose stances are known by construction, and on the notes' own settings."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from make.puppets import gap, joined, puppet, walk
from make.standing import only
from surefoot.arrays import Array
from surefoot.contacts.detect import Options, detect
from surefoot.dynamics.batch import Batch
from surefoot.motion.contact import ContactSchedule, Surface, Terrain
from surefoot.motion.curves import even_times, resample
from surefoot.motion.motion import Motion
from surefoot.robots.robot import Robot

# A swing of 0.4 m in 0.4 s reaches 0.30 m/s after 0.06 s and 0.15 m/s after 0.04 s.
SLOW_S = 0.07


@pytest.fixture(scope="module")
def robot() -> Robot:
    return puppet()


def spans(found: ContactSchedule, link: str) -> list[tuple[float, float]]:
    return joined([(s.start, s.end) for s in found.stances if s.link == link])


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("height", [-0.05, 0.0, 0.05])
def test_the_stances_of_a_walk_are_found(robot: Robot, fps: float, height: float) -> None:
    made = walk(robot, fps=fps, height=height)
    found = detect(made.motion, robot)
    assert found.links == ("left_foot", "right_foot")
    for link, meant in made.spans.items():
        assert gap(spans(found, link), meant) <= SLOW_S + 1.0 / fps


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_jitter_of_two_millimetres_makes_no_stance_and_ends_none(
    robot: Robot, fps: float, seed: int
) -> None:
    made = walk(robot, fps=fps, jitter=0.002, seed=seed)
    found = detect(made.motion, robot)
    for link, meant in made.spans.items():
        assert gap(spans(found, link), meant) <= SLOW_S + 1.5 / fps


def test_a_walk_that_skates_is_carried_and_is_not_said_to_move(robot: Robot) -> None:
    """All feet slide at 0.5 m/s: no corner is still, yet the body does not fall."""
    made = walk(robot, skate=0.5)
    found = detect(made.motion, robot)
    assert all(found.at(float(t)) for t in made.motion.time)
    assert not any(s.moving for s in found.stances)
    assert detect(made.motion, robot, options=Options(carry_mps=0.0)).stances == ()


def test_a_body_that_falls_is_carried_by_nobody(robot: Robot) -> None:
    """A jump of T = 0.5 s: z = v t − g t²/2 with v = g T/2; feet and pelvis as one."""
    time = np.arange(301) / 120.0
    s = np.clip(time - 1.0, 0.0, 0.5)
    z = 9.81 * s * (0.5 - s) / 2.0
    made = walk(robot, steps=0)
    still = replace(
        made.motion,
        time=time,
        root_pos=np.repeat(made.motion.root_pos[:1], 301, axis=0) + only(301, 2, z),
        root_quat=np.repeat(made.motion.root_quat[:1], 301, axis=0),
        joint_pos=np.repeat(made.motion.joint_pos[:1], 301, axis=0),
    )
    found = detect(still, robot)
    for link in found.links:
        assert gap(spans(found, link), [(0.0, 1.0), (1.5, 2.5)]) <= 0.03


def test_stairs_need_their_terrain(robot: Robot) -> None:
    """Each step is 0.12 m higher; against the lowest corner of both feet the upper one floats."""
    made = walk(robot, rise=0.12, lift=0.2, length=0.4)
    treads = [
        Surface("box", np.array([0.4, 0.1, 0.06]), size=np.array([0.3, 0.15, 0.12])),
        Surface("box", np.array([0.4, -0.1, 0.06]), size=np.array([0.3, 0.15, 0.12])),
        Surface("box", np.array([0.8, 0.1, 0.12]), size=np.array([0.3, 0.15, 0.24])),
        Surface("box", np.array([0.8, -0.1, 0.12]), size=np.array([0.3, 0.15, 0.24])),
    ]
    terrain = Terrain((Surface("plane", np.zeros(3)), *treads))
    for ground in ("local", "terrain"):
        found = detect(made.motion, robot, terrain=terrain, options=Options(ground=ground))
        for link, meant in made.spans.items():
            assert gap(spans(found, link), meant) <= SLOW_S + 1.0 / 120.0
        last = found.at(float(made.motion.time[-1]))
        assert sorted((s.link, s.surface) for s in last) == [("left_foot", 3), ("right_foot", 4)]
    flat = detect(made.motion, robot)
    upper = [s for s in flat.stances if s.link == "left_foot" and s.start < 0.9 < s.end]
    assert upper == []


def test_a_slope_gives_its_normal(robot: Robot) -> None:
    """Plane through the origin, 0.2 rad up along x; the swing of 0.4 m rises by 0.4 tan 0.2."""
    slope = 0.2
    made = walk(robot, rise=0.4 * math.tan(slope), pitch=-slope)
    normal = np.array([-math.sin(slope), 0.0, math.cos(slope)])
    terrain = Terrain((Surface("plane", np.zeros(3), normal),))
    found = detect(made.motion, robot, terrain=terrain, options=Options(ground="terrain"))
    assert all(s.mode == "face" and np.array_equal(s.normal, normal) for s in found.stances)
    for link, meant in made.spans.items():
        assert gap(spans(found, link), meant) <= SLOW_S + 1.0 / 120.0


def test_over_nothing_nothing_stands(robot: Robot) -> None:
    far = Terrain((Surface("box", np.array([9.0, 0.0, 0.0]), size=np.array([1.0, 1.0, 0.1])),))
    assert detect(walk(robot).motion, robot, terrain=far).stances == ()


@pytest.mark.parametrize("ground", ["clip", "terrain"])
def test_a_clip_that_floats_needs_another_ground_than_the_terrain(
    robot: Robot, ground: str
) -> None:
    motion = walk(robot, height=0.07).motion
    options = Options(ground=ground)  # type: ignore[arg-type]  # one of the two above
    assert bool(detect(motion, robot, options=options).stances) == (ground == "clip")


def test_a_heel_that_is_up_does_not_carry(robot: Robot) -> None:
    """Toes down by 0.3 rad: heels 0.2 sin 0.3 = 0.059 m up, below the height, above 10° and 20°."""
    found = detect(walk(robot, pitch=0.3).motion, robot)
    assert {s.mode for s in found.stances} == {"edge"}
    flat = detect(walk(robot, pitch=0.3).motion, robot, options=Options(tilt_deg=(91.0, 91.0)))
    assert all(np.all(s.vertices[:, 0] > 0.0) for s in found.stances)
    assert len(flat.stances) == len(found.stances)


def test_between_two_thresholds_counts_what_touches_before_or_after(robot: Robot) -> None:
    """0.2 m/s lies between 0.15 and 0.30: it belongs to the rest beside it, on either side."""
    time = np.arange(361) / 120.0
    fast = np.where((time > 1.0) & (time < 2.0), 0.2, np.where(time >= 2.0, 0.6, 0.0))
    still = walk(robot, steps=0).motion
    options = Options(carry_mps=0.0)
    alone = np.where((time > 1.0) & (time < 2.0), 0.2, 0.6)
    for speed, meant in ((fast, [(0.0, 2.0)]), (fast[::-1], [(1.0, 3.0)]), (alone, [])):
        x = np.concatenate([[0.0], np.cumsum(speed[:-1]) / 120.0])
        motion = replace(
            still,
            time=time,
            root_pos=np.repeat(still.root_pos[:1], 361, axis=0) + only(361, 0, x),
            root_quat=np.repeat(still.root_quat[:1], 361, axis=0),
            joint_pos=np.repeat(still.joint_pos[:1], 361, axis=0),
        )
        found = spans(detect(motion, robot, options=options), "left_foot")
        assert found == meant or gap(found, meant) <= 0.04


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    jitter=st.floats(0.0, 0.02),
    fps=st.sampled_from([30.0, 60.0, 120.0]),
    shortest=st.sampled_from([0.0, 0.05, 0.08, 0.2]),
)
def test_no_stance_is_shorter_than_said_except_at_the_ends(
    seed: int, jitter: float, fps: float, shortest: float
) -> None:
    robot = puppet()
    motion = walk(robot, fps=fps, jitter=jitter, seed=seed).motion
    found = detect(motion, robot, options=Options(shortest_s=shortest))
    inner = [s for s in found.stances if 0.0 < s.start and s.end < motion.time[-1]]
    assert all(s.end - s.start >= shortest - 1e-5 for s in inner)


def _by_the_rule(motion: Motion, robot: Robot, height: float, speed: float) -> list[Array]:
    """Lower than `height` above the lowest corner within ±0.25 s, and slower than `speed`."""
    points = [Batch(robot, robot.qpos(motion)).points_w(s.link, s.polygon_l) for s in robot.soles]
    lowest = np.min([p[:, :, 2].min(axis=1) for p in points], axis=0)
    rate = np.median(np.diff(motion.time))
    reach = round(0.25 / float(rate))
    ground = np.array([lowest[max(0, i - reach) : i + reach + 1].min() for i in range(motion.n)])
    return [
        (p[:, :, 2] - ground[:, None] < height)
        & (np.linalg.norm(np.gradient(p, motion.time, axis=0), axis=2) < speed)
        for p in points
    ]


@pytest.mark.parametrize(("height", "speed"), [(0.01, 0.2), (0.02, 0.4), (0.04, 1.0)])
def test_the_plain_rule_of_one_sample_can_be_had_exactly(
    robot: Robot, height: float, speed: float
) -> None:
    motion = walk(robot, fps=30.0, jitter=0.003, seed=7).motion
    options = Options(
        height_m=(height, height),
        tilt_deg=(91.0, 91.0),
        speed_mps=(speed, speed),
        carry_mps=0.0,
        shortest_s=0.0,
        speed_window_s=0.0,
        rate_hz=200.0,
    )
    found = detect(motion, robot, options=options)
    times = even_times(0.0, float(motion.time[-1]), 200.0)
    rule = _by_the_rule(resample(motion, times), robot, height, speed)
    for i, t in enumerate(times):
        held = {s.link: s for s in found.at(float(t))}
        for sole, flags in zip(robot.soles, rule, strict=True):
            meant = sole.polygon_l[flags[i]]
            has = held[sole.link].vertices if sole.link in held else np.zeros((0, 3))
            assert np.array_equal(has, meant)
