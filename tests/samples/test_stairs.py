"""Stairs: every sole on its tread and over every edge, whatever the seed and the parameters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from surefoot.motion import rotation
from surefoot.motion.contact import Terrain
from surefoot.motion.human import HumanClip
from surefoot.samples import body, generator, plan, posing
from surefoot.samples.gaits import stairs

pytestmark = pytest.mark.slow

NAMES = ("stairs-up", "stairs-down")
SIDES = ("left", "right")
# 3 and 20: the pendulum that follows in whole shares runs away there.
FEW, MANY = range(21), range(21, 80)
FLAT_M = 1e-8  # the terrain's numbers have nine decimals, a rise is a sum of several


def drawn(name: str, seed: int) -> dict[str, float]:
    """Parameters from the whole range of each; few steps, so that the test stays short."""
    chance = np.random.default_rng([seed, 12])
    values = {}
    for row in generator.parameters_of(name):
        low, high = (row.low, max(row.low, 1)) if row.whole else (row.low, row.high)
        values[row.name] = (
            float(chance.integers(low, high + 1)) if row.whole else chance.uniform(low, high)
        )
    return values


Member = tuple[str, int, dict[str, float], HumanClip, Terrain]


def member(name: str, seed: int, values: dict[str, float]) -> Member:
    ground = generator.terrain(name, parameters=values)
    assert ground is not None
    return name, seed, values, generator.make(name, seed=seed, parameters=values, fps=120), ground


@pytest.fixture(scope="module", params=[FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=str)
def members(request: pytest.FixtureRequest) -> list[Member]:
    """Drawn from the ranges, the first five seeds of the defaults, the shortest and the tallest."""
    found = []
    for name in NAMES:
        found += [member(name, seed, drawn(name, seed)) for seed in request.param]
        if request.param is FEW:
            found += [member(name, seed, {}) for seed in range(5)]
            found += [member(name, 1, {"stature_m": stature}) for stature in (1.5, 1.95)]
    return found


def sole_points(clip: HumanClip, side: str, stature: float) -> dict[str, np.ndarray]:
    """Heel, sole under the toe joint, and the tip of the toes at the height of the sole."""
    person = body.body(stature)
    ankle, foot = clip.part_pos_w(f"{side}_ankle"), clip.part_quat_w(f"{side}_ankle")
    joint, toe = clip.part_pos_w(f"{side}_toe"), clip.part_quat_w(f"{side}_toe")
    under = stature * np.array([0.0, 0.0, -body.BALL_HEIGHT])
    ahead = body.FOOT_LENGTH - body.HEEL_BEHIND_ANKLE - body.BALL_BEFORE_ANKLE
    return {
        "heel": ankle + rotation.rotate(foot, person.heel_f),
        "ball": joint + rotation.rotate(toe, under),
        "tip": joint + rotation.rotate(toe, under + stature * np.array([ahead, 0.0, 0.0])),
    }


def spans_of(told: generator.Truth, side: str, point: str) -> generator.Spans:
    part = "heel" if point == "heel" else "toe"
    return {
        ("left", "heel"): told.left_heel,
        ("left", "toe"): told.left_toe,
        ("right", "heel"): told.right_heel,
        ("right", "toe"): told.right_toe,
    }[side, part]


def test_soles_rest_exactly_on_the_treads(members: list[Member]) -> None:
    for name, seed, values, clip, ground in members:
        told = generator.truth(name, seed=seed, parameters=values)
        for side in SIDES:
            points = sole_points(clip, side, values.get("stature_m", 1.75))
            for point, place in points.items():
                above = place[:, 2] - ground.height(place[:, :2])
                for start, end in spans_of(told, side, point):
                    rest = (clip.time >= start) & (clip.time <= end)
                    assert np.abs(above[rest]).max() < FLAT_M, (name, seed, side, point)
                    assert np.ptp(place[rest], axis=0).max() < 1e-4, (name, seed, side, point)


def test_no_foot_passes_through_a_tread_or_an_edge(members: list[Member]) -> None:
    """Off the ground by 5 mm between an eighth and seven eighths of every swing."""
    for name, seed, values, clip, ground in members:
        told = generator.truth(name, seed=seed, parameters=values)
        for side in SIDES:
            swings = list(itertools.pairwise(spans_of(told, side, "tip")))
            points = sole_points(clip, side, values.get("stature_m", 1.75))
            for point, place in points.items():
                above = place[:, 2] - ground.height(place[:, :2])
                assert above.min() > -FLAT_M, (name, seed, side, point)
                for (_, end), (start, _) in swings:
                    share = (clip.time - end) / (start - end)
                    inside = above[(share > 0.125) & (share < 0.875)]
                    assert inside.min() > 0.005, (name, seed, side, point)


def test_no_leg_is_ever_stretched_and_knees_bend_forwards_only(members: list[Member]) -> None:
    """Shorter than 99.5 % of thigh and shank; bent by 11° to 120°, most in the swing up."""
    for name, seed, _, clip, _ in members:
        for side in SIDES:
            reach = clip.part_pos_w(f"{side}_hip") - clip.part_pos_w(f"{side}_ankle")
            share = np.linalg.norm(reach, axis=1) / clip.skeleton.leg_length
            assert share.max() < 0.995, (name, seed)
            quat = clip.joint_quat[:, clip.skeleton.canonical[f"{side}_knee"]]
            bend = 2.0 * np.arctan2(quat[:, 2], quat[:, 0])
            assert np.radians(11.0) < bend.min() < bend.max() < np.radians(120.0), (name, seed)


def test_ankles_bend_no_further_than_those_of_people() -> None:
    """Shank forwards over the foot: 36° by default, and 50° for the highest steps.

    32° in CMU 83_09; people who stand lean it over a flat foot by 35° to 50° (from memory).
    """
    for name, seed in itertools.product(NAMES, range(30)):
        for values, most in (({}, 40.0), (drawn(name, seed), 50.0)):
            clip = generator.make(name, seed=seed, parameters=values)
            for side in SIDES:
                shank = clip.part_pos_w(f"{side}_knee") - clip.part_pos_w(f"{side}_ankle")
                foot = rotation.conjugate(clip.part_quat_w(f"{side}_ankle"))
                x, _, z = np.moveaxis(rotation.rotate(foot, shank), -1, 0)
                assert np.degrees(np.arctan2(x, z)).max() < most, (name, seed)


def test_accelerations_are_those_of_people(members: list[Member]) -> None:
    """Of the trunk at most a third more than in CMU 83_27, 111_27 and 83_09 (3.3; 4.3; 8 Hz)."""
    for name, seed, _, clip, _ in members:
        for part, most in (("pelvis", 4.4), ("head", 5.7), ("left_knee", 60.0)):
            acc = np.diff(clip.part_pos_w(part), 2, axis=0) * 120.0**2
            assert np.linalg.norm(acc, axis=1).max() < most, (name, seed, part)


def test_accelerations_have_no_jump(members: list[Member]) -> None:
    """As in test_generator: the largest change from frame to frame grows with the frame time.

    Least in seed 47, where the acceleration of a knee that gets straight ends within five frames:
    7.9 and 6.4 m/s², a jerk of 770 m/s³. A jump would be as large at every frame time.
    """
    for name, seed, _, clip, _ in members:
        changes = []
        for every in (3, 1):
            place = clip.joint_pos_w[::every]
            acc = np.diff(place, 2, axis=0) / (every / 120.0) ** 2
            changes.append(np.abs(np.diff(acc, axis=0)).max())
        assert changes[0] > 1.15 * changes[1], (name, seed)


def test_feet_never_touch_each_other(members: list[Member]) -> None:
    for name, seed, values, clip, _ in members:
        gap = clip.part_pos_w("left_ankle")[:, 1] - clip.part_pos_w("right_ankle")[:, 1]
        assert gap.min() > body.FOOT_BREADTH * values.get("stature_m", 1.75), (name, seed)


@pytest.mark.parametrize("name", NAMES)
def test_body_presses_where_the_plan_has_the_pressure(name: str) -> None:
    """Within 1 mm, on ground that goes up from tread to tread."""
    for seed in range(10):
        values = drawn(name, seed)
        family, chosen, footwork = generator._planned(name, seed, values)
        person = body.body(chosen["stature_m"])
        habit, sway = family.make_manner(generator._chance(seed, "manner"), chosen)
        made = posing.pose(person, footwork, habit, sway)
        pos, _ = body.joint_places(person, made.root_pos, made.joint_quat)
        time = np.arange(len(pos)) / posing.GRID_HZ
        path = plan.pressure_path(footwork, time)
        wanted = path[:, :2] + np.stack([wander(time) for wander in sway.pressure], axis=1)
        found = body.pressure_point(pos, 1.0 / posing.GRID_HZ, path[:, 2])
        assert np.abs(found - wanted)[2:-2].max() < 1e-3, seed


def test_treads_rise_by_the_riser_and_lie_a_step_apart() -> None:
    """One level step, then four treads of 0.32 m by 0.083 m; the feet end on the last one."""
    ground, clip = generator.terrain("stairs-up"), generator.make("stairs-up")
    assert ground is not None
    person = body.body(1.75)
    ankles = np.array([[k * 0.32, 0.0] for k in range(6)])
    np.testing.assert_allclose(
        ground.height(ankles), 0.083 * np.array([0, 0, 1, 2, 3, 4]), atol=1e-9
    )
    middle = 1.75 * (0.5 * 0.152 - 0.038)  # of the foot, before the ankle
    edge = middle + 1.5 * 0.32
    np.testing.assert_allclose(
        ground.height(np.array([[edge - 1e-6, 0.0], [edge + 1e-6, 0.0]])), [0.0, 0.083], atol=1e-9
    )
    end = clip.part_pos_w("left_ankle")[-1]
    assert end[2] == pytest.approx(4 * 0.083 + person.ankle_height, abs=1e-9)
    assert end[0] == pytest.approx(5 * 0.32, abs=0.013)


def test_down_is_up_seen_from_the_other_end() -> None:
    up, down = generator.terrain("stairs-up"), generator.terrain("stairs-down")
    assert up is not None
    assert down is not None
    x = np.linspace(-0.5, 1.6, 300)
    middle = 1.75 * (0.5 * 0.152 - 0.038)
    mirrored = 2.0 * (middle + 0.32 * 3.0) - x  # about the middle of the stairs
    xy, back = (np.stack([along, 0.0 * along], axis=1) for along in (x, mirrored))
    np.testing.assert_allclose(up.height(xy), down.height(back), atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_one_foot_stands_on_each_tread_and_somebody_always_stands(name: str) -> None:
    told, clip = generator.truth(name), generator.make(name)
    assert [len(told.left_toe), len(told.right_toe)] == [4, 4]
    stands = np.zeros((2, clip.n), dtype=bool)
    for row, spans in enumerate((told.left_toe, told.right_toe)):
        for start, end in spans:
            stands[row] |= (clip.time >= start) & (clip.time <= end)
    assert np.all(stands.any(axis=0))
    order = sorted([(s, "left") for s, _ in told.left_toe[1:]])
    order = sorted(order + [(s, "right") for s, _ in told.right_toe[1:]])
    assert [side for _, side in order] == ["right", "left"] * 3


@pytest.mark.parametrize("name", NAMES)
def test_heels_leave_the_ground_before_the_toes_and_land_with_them(name: str) -> None:
    """By the double support, and 0.06 s going up, 0.16 s going down."""
    told = generator.truth(name)
    values = {row.name: row.default for row in generator.parameters_of(name)}
    roll = values["double_support_share"] * values["step_time_s"]
    roll += 0.06 if name == "stairs-up" else 0.16
    for heels, toes in ((told.left_heel, told.left_toe), (told.right_heel, told.right_toe)):
        assert [start for start, _ in heels] == [start for start, _ in toes]
        for (_, heel), (_, toe) in list(zip(heels, toes, strict=True))[:-1]:
            assert toe - heel == pytest.approx(roll, abs=1e-12)


def test_planned_times_are_those_of_the_parameters() -> None:
    told = generator.truth("stairs-up", parameters={"variation": 0.0, "step_time_s": 1.0})
    lifts = sorted([end for _, end in (*told.left_toe[:-1], *told.right_toe[:-1])])
    np.testing.assert_allclose(np.diff(lifts), 1.0, atol=1e-12)
    assert told.right_toe[1][0] - told.right_toe[0][1] == pytest.approx(0.94)  # 6 % on both feet


def test_no_seed_changes_the_terrain_and_every_seed_the_steps() -> None:
    assert generator.terrain("sidestep") is None
    first, other = (generator.make("stairs-down", seed=seed) for seed in (0, 1))
    n = min(first.n, other.n)
    assert np.abs(first.joint_quat[:n] - other.joint_quat[:n]).max() > 0.01
    again = generator.make("stairs-down", seed=1)
    np.testing.assert_array_equal(again.joint_quat, other.joint_quat)


def test_terrain_survives_its_file() -> None:
    ground = generator.terrain("stairs-up", parameters={"riser_m": 0.1234, "step_length_m": 0.31})
    assert ground is not None
    read = Terrain.from_toml(ground.as_toml(), where="x.terrain.toml")
    assert read.as_toml() == ground.as_toml()
    assert len(read.surfaces) == 5


def test_level_is_kept_before_and_after_the_stairs() -> None:
    values = {"level_steps": 2.0, "steps": 3.0, "riser_m": 0.1}
    up = [stairs.level(True, values, k) for k in range(8)]
    np.testing.assert_allclose(up, [0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.3, 0.3], atol=1e-12)
    down = [stairs.level(False, values, k) for k in range(8)]
    np.testing.assert_allclose(down, [0.3, 0.3, 0.3, 0.2, 0.1, 0.0, 0.0, 0.0], atol=1e-12)
