"""The best warp of whole clips: what it mends, what it keeps, and what it says of the rest."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from make.standing import stiff
from make.verdicts import box, clip_of, sole_stance
from surefoot.adapters.adaptation import Adaptation, judged, worst_n
from surefoot.adapters.warp_choice import Tried, best_of
from surefoot.adapters.warp_optimal import Options, adapt
from surefoot.errors import BadOption
from surefoot.index.index import Feasibility
from surefoot.index.limits import JointLimits
from surefoot.retargeting.retarget import retarget
from surefoot.robots.zoo import load_robot
from surefoot.samples import generator

pytestmark = pytest.mark.slow

ALONE = Options(compare=False)


@pytest.fixture(scope="module")
def best(sidestep: Feasibility) -> Adaptation:
    return adapt(sidestep.clip, sidestep.robot, sidestep, ALONE)


def stretches(found: Adaptation) -> list[dict[str, Any]]:
    listed = found.details["stretches"]
    assert isinstance(listed, list)
    return listed


def bounds(found: Adaptation) -> np.ndarray:
    return np.array([one["bound_over_weight"] for one in stretches(found)])


def test_the_side_step_becomes_feasible_as_written(sidestep: Feasibility, best: Adaptation) -> None:
    assert not sidestep.all_feasible
    assert best.status == "mended"
    assert best.after.all_feasible
    assert best.chosen == "warp-optimal"
    assert best.why_not is None


def test_the_duration_and_every_pose_are_kept(sidestep: Feasibility, best: Adaptation) -> None:
    old, new = sidestep.clip.motion, best.clip.motion
    assert new.duration == pytest.approx(old.duration, abs=1e-9)
    assert best.timing is not None
    np.testing.assert_allclose(new.time, best.timing(old.time), atol=1e-9)
    assert np.array_equal(new.joint_pos, old.joint_pos)
    assert np.array_equal(new.root_pos, old.root_pos)
    assert np.all(np.diff(new.time) > 0.0)


def test_no_stretch_as_its_frames_make_it_is_below_its_bound(best: Adaptation) -> None:
    """A spline of the frames is no warp of the program's, so this is no theorem; 1e-3 of the
    weight is what a grid of 10 ms leaves between them."""
    for one in stretches(best):
        assert one["bound_over_weight"] <= one["optimum_over_weight"]
        assert one["bound_over_weight"] <= one["judged_over_weight"] + 1e-3
        assert one["judged_over_weight"] < one["before_over_weight"]
    assert best.lower_bound_n == pytest.approx(max(one["bound_n"] for one in stretches(best)))


@pytest.mark.slow
def test_where_nothing_mends_a_stretch_a_wider_one_is_tried() -> None:
    """Stairs down, seed 2: warps of 1.43 to 5.97 s cannot come under 0.73 % of the weight, those of
    0.90 to 6.87 s can; and the paper's method, over another stretch, came to 0.50 %."""
    robot = load_robot("human25")
    human = generator.make("stairs-down", seed=2)
    clip = retarget(human, robot, terrain=generator.terrain("stairs-down"))
    before = judged(clip, robot)
    narrow = adapt(clip, robot, before, Options(wider=1.0, rounds=1, polish=0, compare=False))
    found = adapt(clip, robot, before, Options())
    assert bounds(narrow).max() == pytest.approx(0.0073, abs=1e-4)
    assert bounds(found).max() < 0.005
    assert found.lower_bound_n is not None
    assert found.lower_bound_n <= worst_n(found.after) < 0.005 * before.weight_n


def test_the_bound_of_a_clip_that_lies_under_it_is_what_was_reached(
    sidestep: Feasibility, best: Adaptation
) -> None:
    """The curve through frames at new times is no warp of the program: made up here, by a bound of
    5 % of the weight, which the clip as written falls short of."""
    tried = [Tried("warp-optimal", best.clip, best.after, best.timing)]
    still = Tried("warp-optimal", sidestep.clip, sidestep, None)
    found = best_of(still, tried, [(1.0, 2.0, 0.05)], {})
    assert found.lower_bound_n == worst_n(best.after)
    worse = best_of(still, [], [(1.0, 2.0, 0.02)], {})
    assert worse.status == "refused"
    assert worse.lower_bound_n == pytest.approx(0.02 * sidestep.weight_n)


def test_outside_of_the_stretches_nothing_happens_at_another_time(best: Adaptation) -> None:
    assert best.timing is not None
    time = best.timing.key_time
    inside = np.zeros(len(time), dtype=np.bool_)
    for one in stretches(best):
        inside |= (time > one["start_s"]) & (time < one["end_s"])
    assert np.any(best.timing.shift[inside] != 0.0)
    assert np.all(best.timing.shift[~inside] == 0.0)


def test_the_details_are_json(best: Adaptation) -> None:
    told = json.loads(json.dumps(dict(best.details), allow_nan=False))
    assert {"stretches", "limits", "rounds_over_weight", "tried", "seconds"} <= set(told)
    assert {"case", "optimum_over_weight", "gap_over_weight", "bend_per_s2", "programs"} <= set(
        told["stretches"][0]
    )


def test_the_answer_is_the_same_to_the_bit(sidestep: Feasibility, best: Adaptation) -> None:
    again = adapt(sidestep.clip, sidestep.robot, sidestep, ALONE)
    assert again.clip.motion.time.tobytes() == best.clip.motion.time.tobytes()
    assert again.lower_bound_n == best.lower_bound_n


def test_a_feasible_clip_is_left_as_it_is(best: Adaptation) -> None:
    again = adapt(best.clip, best.before.robot, best.after)
    assert again.status == "unchanged"
    assert again.clip is best.clip


def test_the_better_one_of_both_methods_is_returned(
    sidestep: Feasibility, best: Adaptation
) -> None:
    both = adapt(sidestep.clip, sidestep.robot, sidestep)
    tried = both.details["tried"]
    assert isinstance(tried, list)
    assert {one["method"] for one in tried} == {"warp", "warp-optimal"}
    worst = worst_n(both.after) / sidestep.weight_n
    assert worst <= min(one["worst_over_weight"] for one in tried) + 1e-7
    assert worst_n(both.after) <= worst_n(best.after) + 1e-7 * sidestep.weight_n


def test_joints_keep_to_speed_limits_that_bind(sidestep: Feasibility, best: Adaptation) -> None:
    """Limits so low that the free answer breaks them: 1.05 times what the clip needs of each."""
    assert best.timing is not None
    time = sidestep.time
    free = sidestep.joints.speed_ratio.max(axis=1) / best.timing.slope(time)
    tight = sidestep.joints.speed_ratio / sidestep.joints.speed_ratio.max(axis=1, keepdims=True)
    joints = JointLimits(
        sidestep.joints.joint_names, time, sidestep.joints.position_excess, tight / 1.05
    )
    before = replace(sidestep, joints=joints)
    found = adapt(sidestep.clip, sidestep.robot, before, ALONE)
    assert free.max() > 0.0
    assert (1.0 / best.timing.slope(time)).max() > 1.06
    assert found.timing is not None
    assert (1.0 / found.timing.slope(time)).max() <= 1.05 + 1e-6


def test_speeds_keep_to_their_limits(sidestep: Feasibility) -> None:
    options = Options(slowest=0.9, fastest=1.1, compare=False)
    found = adapt(sidestep.clip, sidestep.robot, sidestep, options)
    assert found.timing is not None
    speed = 1.0 / found.timing.slope(sidestep.time)
    assert speed.min() >= 0.9 - 1e-3  # between the samples of a stretch and beside it
    assert speed.max() <= 1.1 + 1e-3


def test_a_longer_clip_is_allowed_where_it_was_asked_for(
    sidestep: Feasibility, best: Adaptation
) -> None:
    options = Options(longest=1.3, compare=False)
    found = adapt(sidestep.clip, sidestep.robot, sidestep, options)
    assert found.status == "mended"
    old, new = sidestep.clip.motion.duration, found.clip.motion.duration
    spans = sum(one["end_s"] - one["start_s"] for one in stretches(found))
    assert old - 1e-9 <= new <= old + 0.3 * spans + 1e-9


def test_a_pose_that_falls_is_refused_with_its_frames_and_its_bound(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """A stiff robot, pitched so far about its toes that its weight lies before them, and still."""
    robot = box(tmp_path_factory.mktemp("box"))
    time = np.arange(61) / 30.0
    pitch = np.full(61, 0.3)
    motion = stiff(robot, time, pitch=pitch, about_w=np.array([0.1, 0.0, 0.0]))
    clip = clip_of(motion, robot, *(sole_stance(robot, s, 0.0, 2.0) for s in ("left", "right")))
    before = judged(clip, robot)
    found = adapt(clip, robot, before, ALONE)
    assert found.status == "refused"
    assert found.clip is clip
    assert found.lower_bound_n == pytest.approx(worst_n(before), rel=1e-6)
    assert found.why_not is not None
    assert "No warp of 0.00 to 2.00 s has a worst d below" in found.why_not
    assert "its poses from 0.00 to 2.00 s cannot be held still" in found.why_not


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"bends": ()}, r"expected positive rate bounds, got \(\)"),
        ({"step_s": 1.0}, "the grid must lie between 1 and 100 ms, got 1 s"),
        ({"key_step_s": 0.0}, "key frames must lie apart, got 0 s"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        Options(**options)


def test_options_of_another_method_are_refused(sidestep: Feasibility) -> None:
    with pytest.raises(BadOption, match=r"expected warp_optimal\.Options, got str"):
        adapt(sidestep.clip, sidestep.robot, sidestep, "warp")
