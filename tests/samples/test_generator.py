"""Members of the families: the same from the same seed, human in reach, smooth, feet still."""

from __future__ import annotations

import importlib
import itertools
import pathlib

import numpy as np
import pytest

from surefoot.errors import BadOption, UnknownName
from surefoot.motion.human import HumanClip, has_t_pose_row
from surefoot.samples import body, generator
from surefoot.samples.family import Family

SIDES = ("left", "right")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FEW, MANY = range(8), range(8, 50)  # seeds, each with parameters drawn from the whole ranges


def drawn(seed: int) -> dict[str, float]:
    """Parameters from the whole range of each; few steps, so that the test stays short."""
    chance = np.random.default_rng([seed, 12])
    values = {}
    for row in generator.parameters_of("sidestep"):
        low, high = (row.low, min(row.high, 1)) if row.whole else (row.low, row.high)
        values[row.name] = (
            float(chance.integers(low, high + 1)) if row.whole else chance.uniform(low, high)
        )
    return values


@pytest.fixture(scope="module", params=[FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=str)
def members(request: pytest.FixtureRequest) -> list[tuple[int, dict[str, float], HumanClip]]:
    return [
        (seed, drawn(seed), generator.make("sidestep", seed=seed, parameters=drawn(seed), fps=120))
        for seed in request.param
    ]


def acceleration(values: np.ndarray, dt: float) -> np.ndarray:
    return np.diff(values, 2, axis=0) / dt**2


def test_same_seed_gives_the_same_clip_and_another_seed_another() -> None:
    first, again, other = (generator.make("sidestep", seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.joint_quat, again.joint_quat)
    np.testing.assert_array_equal(first.root_pos, again.root_pos)
    n = min(first.n, other.n)
    assert np.abs(first.joint_quat[:n] - other.joint_quat[:n]).max() > 0.01


def test_clip_is_on_the_common_skeleton_at_thirty_frames_a_second() -> None:
    clip = generator.make("sidestep")
    assert clip.skeleton.joint_names == body.JOINT_NAMES
    assert len(clip.skeleton.joint_names) == 22
    assert clip.skeleton.scheme == "lafan1"
    assert len(clip.skeleton.canonical) == 18
    np.testing.assert_allclose(clip.time, np.arange(clip.n) / 30.0, atol=1e-12)
    assert not has_t_pose_row(clip)
    assert clip.source == "sample 'sidestep', seed 0"


def test_motion_is_the_same_at_every_rate() -> None:
    slow, fast = generator.make("sidestep"), generator.make("sidestep", fps=120)
    np.testing.assert_array_equal(slow.joint_quat, fast.joint_quat[::4])
    np.testing.assert_array_equal(slow.root_pos, fast.root_pos[::4])


def test_person_steps_to_the_left_and_back() -> None:
    """Two steps of 0.35 m, each off by at most 4 %, and each foot by 8 mm."""
    pelvis = generator.make("sidestep").part_pos_w("pelvis")
    assert pelvis[:, 1].max() == pytest.approx(0.70, abs=0.07)
    assert pelvis[-1, 1] == pytest.approx(0.0, abs=0.08)
    assert np.abs(pelvis[:, 0]).max() < 0.1
    one_way = generator.make("sidestep", parameters={"steps": 1.0, "steps_back": 0.0})
    assert one_way.part_pos_w("pelvis")[-1, 1] == pytest.approx(0.35, abs=0.04)


def test_stature_scales_the_body() -> None:
    tall, small = (
        generator.make("sidestep", parameters={"stature_m": stature}) for stature in (1.9, 1.6)
    )
    assert tall.skeleton.leg_length / small.skeleton.leg_length == pytest.approx(1.9 / 1.6)


def test_no_leg_is_ever_stretched(members) -> None:
    """A leg of thigh and shank is shorter than 99.5 % of their sum: the knee is bent by 11°."""
    for seed, _, clip in members:
        for side in SIDES:
            reach = clip.part_pos_w(f"{side}_hip") - clip.part_pos_w(f"{side}_ankle")
            share = np.linalg.norm(reach, axis=1) / clip.skeleton.leg_length
            assert share.max() < 0.995, seed


def test_knees_bend_forwards_only(members) -> None:
    """Shank over thigh turns about the knee's own y axis, by 11° to 90°."""
    for seed, _, clip in members:
        for side in SIDES:
            quat = clip.joint_quat[:, clip.skeleton.canonical[f"{side}_knee"]]
            np.testing.assert_allclose(quat[:, [1, 3]], 0.0, atol=1e-12)
            bend = 2.0 * np.arctan2(quat[:, 2], quat[:, 0])
            assert np.radians(11.0) < bend.min() < bend.max() < np.radians(90.0), seed
            forwards = clip.part_pos_w(f"{side}_knee")[:, 0]
            line = clip.part_pos_w(f"{side}_hip") + clip.part_pos_w(f"{side}_ankle")
            assert np.all(forwards > 0.5 * line[:, 0]), seed


def test_feet_are_still_and_flat_in_their_rests(members) -> None:
    """In each rest ankle and toe stay within 0.1 mm, at the heights of a flat foot."""
    for seed, values, clip in members:
        told = generator.truth("sidestep", seed=seed, parameters=values)
        for side, spans in (("left", told.left_toe), ("right", told.right_toe)):
            for part, height in (("ankle", body.ANKLE_HEIGHT), ("toe", body.BALL_HEIGHT)):
                place = clip.part_pos_w(f"{side}_{part}")
                for start, end in spans:
                    rest = place[(clip.time >= start) & (clip.time <= end)]
                    assert np.ptp(rest, axis=0).max() < 1e-4, (seed, side, part)
                    assert np.abs(rest[:, 2] - height * values["stature_m"]).max() < 1e-9


def test_feet_are_off_the_ground_between_their_rests(members) -> None:
    for seed, values, clip in members:
        told = generator.truth("sidestep", seed=seed, parameters=values)
        for side, spans in (("left", told.left_toe), ("right", told.right_toe)):
            ball = clip.part_pos_w(f"{side}_toe")[:, 2] - body.BALL_HEIGHT * values["stature_m"]
            ankle = clip.part_pos_w(f"{side}_ankle")[:, 2] - body.ANKLE_HEIGHT * values["stature_m"]
            assert min(ball.min(), ankle.min()) > -1e-9, seed
            for (_, end), (start, _) in itertools.pairwise(spans):
                inside = (clip.time > end + 0.02) & (clip.time < start - 0.02)
                assert ball[inside].min() > 0.0, seed
                assert ball[inside].max() == pytest.approx(
                    values["step_height_m"], rel=0.08 * values["variation"] + 0.01
                )


def test_feet_never_cross(members) -> None:
    """Ankles stay a foot's breadth apart: 0.055 statures, turned out by the same angle."""
    for seed, values, clip in members:
        gap = clip.part_pos_w("left_ankle")[:, 1] - clip.part_pos_w("right_ankle")[:, 1]
        assert gap.min() > body.FOOT_BREADTH * values["stature_m"], seed


def test_acceleration_has_no_jump(members) -> None:
    """Where it is continuous, its largest change from frame to frame grows with the frame time.

    From 1/120 s to 1/40 s by up to 3; a jump would change by as much at every frame time.
    """
    for seed, _, clip in members:
        coarse, fine = (
            np.abs(np.diff(acceleration(clip.joint_pos_w[::every], every / 120.0), axis=0)).max()
            for every in (3, 1)
        )
        assert coarse > 1.3 * fine, seed


def test_accelerations_are_those_of_people(members) -> None:
    """Of the trunk at most a third more than in CMU 83_55 (pelvis 5.5, head 5.2 m/s², 8 Hz).

    Knees of nearly straight legs are quick when a foot is lifted high and fast: 15 there.
    """
    for seed, _, clip in members:
        for part, most in (
            ("pelvis", 7.3),
            ("head", 7.0),
            ("left_knee", 60.0),
            ("right_knee", 60.0),
        ):
            largest = np.linalg.norm(acceleration(clip.part_pos_w(part), 1.0 / 120.0), axis=1).max()
            assert largest < most, (seed, part)


def test_head_stays_upright(members) -> None:
    """Its up direction within 8° of the vertical, however the chest leans."""
    for seed, _, clip in members:
        _, x, y, _ = np.moveaxis(clip.part_quat_w("head"), -1, 0)
        assert (1.0 - 2.0 * (x**2 + y**2)).min() > np.cos(np.radians(8.0)), seed


def test_truth_alternates_and_somebody_always_stands() -> None:
    told = generator.truth("sidestep")
    assert told.left_heel == told.left_toe
    assert len(told.left_toe) == len(told.right_toe) == 5  # four swings each: two out, two back
    clip = generator.make("sidestep")
    stands = np.zeros((2, clip.n), dtype=bool)
    for row, spans in enumerate((told.left_toe, told.right_toe)):
        assert spans[0][0] == 0.0
        assert clip.time[-1] <= spans[-1][1] < clip.time[-1] + 1.0 / 30.0
        for start, end in spans:
            stands[row] |= (clip.time >= start) & (clip.time <= end)
    assert np.all(stands.any(axis=0))
    assert 0.5 < 1.0 - stands.all(axis=0).mean() < 0.75


def test_truth_by_speed_is_what_a_speed_threshold_finds() -> None:
    clip = generator.make("sidestep", fps=120)
    told = generator.truth("sidestep", speed_mps=0.2)
    toe = clip.part_pos_w("left_toe")
    speed = np.linalg.norm(np.gradient(toe, 1.0 / 120.0, axis=0), axis=1)
    rests = np.zeros(clip.n, dtype=bool)
    for start, end in told.left_toe:
        rests |= (clip.time >= start) & (clip.time <= end)
    # The toe joint is 1 cm of a foot's lever above the ball: frames next to an edge may differ.
    differ = np.flatnonzero(rests != (speed <= 0.2))
    edges = np.array(told.left_toe).ravel()
    assert np.abs(clip.time[differ, None] - edges).min(axis=1).max(initial=0.0) < 1.5 / 120.0


def test_unknown_family_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName) as error:
        generator.make("sidestpe")
    assert str(error.value) == "no family 'sidestpe' of samples. Did you mean 'sidestep'?"


def test_unknown_parameter_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName) as error:
        generator.make("sidestep", parameters={"step_lenght_m": 0.3})
    assert str(error.value) == (
        "no parameter 'step_lenght_m' (sample 'sidestep'). Did you mean 'step_length_m' or"
        " 'step_height_m' or 'step_time_s'?"
    )


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            {"step_length_m": 0.9},
            "step_length_m must be from 0.15 to 0.5, got 0.9 (sample 'sidestep')",
        ),
        ({"sway_m": float("nan")}, "sway_m must be from 0 to 0.01, got nan (sample 'sidestep')"),
        ({"steps": 1.5}, "steps must be a whole number, got 1.5 (sample 'sidestep')"),
    ],
)
def test_value_out_of_range_is_refused_with_the_range(
    asked: dict[str, float], sentence: str
) -> None:
    with pytest.raises(BadOption) as error:
        generator.truth("sidestep", parameters=asked)
    assert str(error.value) == sentence


def test_rate_that_does_not_divide_is_refused() -> None:
    with pytest.raises(BadOption) as error:
        generator.make("sidestep", fps=50)
    assert str(error.value) == "fps must divide 120, got 50"


def test_negative_speed_is_refused() -> None:
    with pytest.raises(BadOption) as error:
        generator.truth("sidestep", speed_mps=-1.0)
    assert str(error.value) == "speed_mps must be 0 or more, got -1"


@pytest.mark.parametrize("name", sorted(generator.FAMILIES))
def test_every_family_resolves_and_is_documented(name: str) -> None:
    place, line = generator.FAMILIES[name]
    module, _, function = place.partition(":")
    made = getattr(importlib.import_module(module), function)
    assert isinstance(made(), Family)
    assert made.__doc__
    assert line
    text = (ROOT / "docs" / "samples.md").read_text("utf-8")
    assert f"`{name}`" in text
    for row in made().parameters:
        shown = f"| `{row.name}` | {row.default:g} | {row.low:g} to {row.high:g} |"
        assert shown in text, shown
        assert row.low <= row.default <= row.high
        assert row.text
        assert row.source
        assert row.summary()["low"] == row.low


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(BadOption, match="a seed must be 0 or more, got -1"):
        generator.make("sidestep", seed=-1)
