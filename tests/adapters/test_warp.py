"""The paper's method: segments, the search, the judgement, and what it says when it cannot help."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path as Folder

import numpy as np
import pytest

import surefoot
from make.pushes import sole
from make.standing import stiff
from surefoot.adapters import warp, warp_report
from surefoot.adapters.adaptation import Adaptation, adapt, judged, worst_n
from surefoot.adapters.bases import from_functions, named
from surefoot.adapters.oracle import Oracle
from surefoot.adapters.path import Path, Window
from surefoot.adapters.region import region_of
from surefoot.adapters.timing import retimed
from surefoot.adapters.warp_search import SHAPES, Found, Search, rule
from surefoot.errors import BadOption
from surefoot.index.index import Feasibility
from surefoot.index.limits import JointLimits
from surefoot.motion.contact import ContactSchedule
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

FAST = {"samples": 128, "polish": 3, "others": ()}


def standing(robot: Robot, *, pitch: float = 0.0, sway: float = 0.0) -> Clip:
    """Two seconds in the home pose on both soles, pitched about the ankles, swaying sideways."""
    time = np.arange(61) / 30.0
    shift = np.zeros((61, 3))
    shift[:, 1] = sway * np.sin(np.pi * time) ** 3
    feet = [replace(sole(robot, side), end=2.0) for side in ("left", "right")]
    motion = stiff(robot, time, shift, pitch=np.full(61, pitch))
    return Clip(motion=motion, contacts=ContactSchedule(tuple(feet)))


def test_the_bundled_side_step_becomes_feasible(warped: Adaptation) -> None:
    """As in figure 5 of the paper: infeasible at lift-offs and touch-downs, feasible after."""
    assert worst_n(warped.before) > 0.02 * warped.before.weight_n
    assert warped.status == "mended"
    assert warped.after.all_feasible
    assert warped.why_not is None


def test_every_pose_is_realised_at_its_new_time(warped: Adaptation) -> None:
    old, new = warped.before.clip.motion, warped.clip.motion
    assert warped.timing is not None
    np.testing.assert_array_equal(new.joint_pos, old.joint_pos)
    np.testing.assert_array_equal(new.root_quat, old.root_quat)
    np.testing.assert_allclose(new.time, warped.timing(old.time), atol=1e-9)
    assert np.all(np.diff(new.time) > 0.0)
    assert abs(new.duration - old.duration) < 1e-9


def test_contacts_are_retimed_with_the_frames(warped: Adaptation) -> None:
    assert warped.timing is not None
    stances = warped.before.clip.contacts.stances, warped.clip.contacts.stances
    old, new = (np.array([[s.start, s.end] for s in some]) for some in stances)
    np.testing.assert_allclose(new.ravel(), warped.timing(old.ravel()), atol=1e-12)
    assert np.abs(new - old).max() > 0.005


def test_the_predicted_q_is_the_judged_one(warped: Adaptation) -> None:
    """Of the judged clip around each segment; samples lie elsewhere, so within 0.2 % of mg."""
    time, upper = warped.after.time, warped.after.upper
    for row in warped.details["segments"]:
        near = (time > row["start_s"]) & (time < row["end_s"])
        found = upper[near].max() / warped.after.weight_n
        assert found == pytest.approx(row["q_over_weight"], abs=2e-3)


def test_segments_say_what_was_done(warped: Adaptation) -> None:
    rows = warped.details["segments"]
    assert json.loads(json.dumps(warped.details)) == warped.details
    assert len(rows) == 2
    for row in rows:
        assert row["start_s"] < row["infeasible_s"][0] <= row["infeasible_s"][1] < row["end_s"]
        assert row["q_over_weight"] < 0.0 < row["q_before_over_weight"]
        assert 0.1 < row["delta_t_s"] < 0.21
        assert row["increase"] == "proven"
        assert row["least_slope"] > 0.2
        assert row["candidates"] > 500
        assert row["exact_evaluations"] < 200
        assert {event["event"] for event in row["events"]} == {"lift-off", "touch-down"}


def test_both_ends_of_a_segment_have_slack(warped: Adaptation) -> None:
    before = warped.before
    for row in warped.details["segments"]:
        ends = np.interp([row["start_s"], row["end_s"]], before.time, before.upper)
        assert np.all(ends < -1e-3 * before.weight_n)


def test_the_same_seed_gives_the_same_clip(sidestep: Feasibility) -> None:
    options = warp.Options(**FAST, seed=4)
    one, other = (warp.adapt(sidestep.clip, sidestep.robot, sidestep, options) for _ in range(2))
    np.testing.assert_array_equal(one.clip.motion.time, other.clip.motion.time)
    assert one.details == other.details


def test_a_feasible_clip_is_left_alone(human25: Robot) -> None:
    found = adapt(standing(human25), human25, method="warp")
    assert found.status == "unchanged"
    assert found.after is found.before
    assert found.timing is None


def test_a_pose_that_falls_when_still_is_refused_with_its_frames(human25: Robot) -> None:
    """Pitched by 0.3 rad about the ankles and held: no timing moves its weight over the feet."""
    clip = standing(human25, pitch=0.3)
    found = adapt(clip, human25, method="warp")
    assert found.status == "refused"
    assert found.clip.motion.time is clip.motion.time
    assert found.lower_bound_n is not None
    assert found.lower_bound_n == pytest.approx(worst_n(found.before), rel=1e-4)
    assert found.why_not is not None
    assert found.why_not.startswith(
        "At frames 0 to 60 (0.000 to 2.000 s) no timing can help: whatever the speed, up to 5"
    )
    assert "held still, all of these poses fall as well" in found.why_not


@pytest.mark.slow
@pytest.mark.shared
def test_what_no_timing_mends_hides_nothing_and_grows_no_worse(
    shared: Folder, human25: Robot
) -> None:
    """A person who walks and turns: some poses fall whatever their timing, by up to 4 % of the
    weight, and warps that looked at all others only made those worse than the clip had been: it
    was refused at a worst d of 58 %."""
    clip = surefoot.retarget(surefoot.read(shared / "data/human/cmu/83_55.bvh"), human25)
    before = judged(clip, human25)
    found = warp.adapt(clip, human25, before)
    assert found.status == "better"
    assert found.lower_bound_n is not None
    assert worst_n(found.after) < 0.3 * worst_n(before)


def test_the_bound_is_never_above_what_a_warp_reaches(human25: Robot) -> None:
    """A sway too quick for its feet can be slowed: nothing there is without hope."""
    clip = standing(human25, sway=0.12)
    before = judged(clip, human25)
    assert not before.all_feasible
    found = warp.adapt(clip, human25, before, warp.Options(**FAST))
    bound = -np.inf if found.lower_bound_n is None else found.lower_bound_n
    assert worst_n(found.after) >= bound
    assert worst_n(found.after) <= worst_n(before)


@pytest.mark.parametrize(
    "options",
    [
        warp.Options(basis="poly3", others=(), pad_s=0.0, floor=0.0, polish=0, rounds=1),
        warp.Options(basis="poly3", others=(), pad_s=0.3, polish=0, rounds=2, samples=64),
        warp.Options(others=(), samples=3, polish=0, rounds=2),
        warp.Options(**FAST, segments=((1.0, 2.4),)),
    ],
    ids=["literal", "poly3", "few", "by hand"],
)
def test_a_clip_never_becomes_worse(sidestep: Feasibility, options: warp.Options) -> None:
    found = warp.adapt(sidestep.clip, sidestep.robot, sidestep, options)
    assert worst_n(found.after) <= worst_n(sidestep)
    assert found.after.feasible.mean() >= sidestep.feasible.mean() or (
        worst_n(found.after) < worst_n(sidestep)
    )
    if found.status != "mended":
        assert found.why_not


def test_segments_by_hand_are_taken_as_they_are(sidestep: Feasibility) -> None:
    options = warp.Options(**FAST, segments=((1.3, 2.7),))
    found = warp.adapt(sidestep.clip, sidestep.robot, sidestep, options)
    (row,) = found.details["segments"]
    assert (row["start_s"], row["end_s"], row["by_hand"]) == (1.3, 2.7, True)
    assert row["q_over_weight"] < 0.0
    assert found.status == "better"
    moved = np.flatnonzero(found.clip.motion.time != sidestep.clip.motion.time)
    assert sidestep.clip.motion.time[moved[0]] > 1.3
    assert sidestep.clip.motion.time[moved[-1]] < 2.7


def window_of(path: Path, sidestep: Feasibility, start: float, end: float) -> tuple[Window, Oracle]:
    window = path.window(start, end)
    oracle = Oracle(window)
    oracle.knows(sidestep.upper[window.samples], sidestep.dual[window.samples])
    return window, oracle


def test_a_kink_at_the_end_of_a_segment_is_seen(path: Path, sidestep: Feasibility) -> None:
    """Cubic with u = 1.5, v = 0.8 where the body moves: the formula alone sees no impulse.

    Notes, section 7: the difference is whole m g, in one frame at the ends.
    """
    start, end = 1.7, 2.3
    region = region_of(named("poly3"), 0.2)
    c = np.array([1.5, 3.0 - 3.0 - 0.8, 0.3])
    lam = (c - region.particular) @ np.linalg.pinv(region.null).T
    window, oracle = window_of(path, sidestep, start, end)
    found, value = Search(window, oracle, region, start, end).best(lam[None], most=1, below=np.inf)
    assert found is not None
    s = path.s[window.samples]
    inside = (s > start) & (s < end)
    tau = (s[inside] - start) / (end - start)
    speed, rate = np.ones(len(s)), np.zeros(len(s))
    speed[inside] = 1.0 / (region.basis.evaluate(tau, 1) @ c)
    rate[inside] = -(region.basis.evaluate(tau, 2) @ c) / (end - start) * speed[inside] ** 3
    formula, _ = oracle.worst_of(speed, rate)
    shift = Search(window, oracle, region, start, end).shift(lam[None])[0]
    clip = retimed(sidestep.clip, window.timing(shift), what="warp")
    true = worst_n(judged(clip, sidestep.robot))
    weight = sidestep.weight_n
    assert true > formula + 0.05 * weight
    assert value > formula + 0.05 * weight
    assert value == pytest.approx(true, rel=0.15)


@pytest.mark.slow
def test_what_a_warp_spoils_is_found_in_the_next_round(
    sidestep: Feasibility, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first warp is made three times as strong as it should be."""
    searched = warp.search
    calls = []

    def spoils(window: Window, *args: object, **known: object) -> Found:
        found = searched(window, *args, **known)  # type: ignore[arg-type]  # handed on
        calls.append(found)
        if len(calls) > 1:
            return found
        return replace(found, shift=3.0 * found.shift)

    monkeypatch.setattr(warp, "search", spoils)
    found = warp.adapt(sidestep.clip, sidestep.robot, sidestep)
    rows = found.details["segments"]
    later = [row for row in rows if row["round"] == 2]
    assert later
    new = np.array([row["infeasible_s"] for row in later])
    assert np.interp(new, sidestep.time, sidestep.upper).min() < 0.0
    assert found.status == "mended"


def test_the_rule_names_the_shape_that_helps(path: Path, sidestep: Feasibility) -> None:
    """One lift-off alone: the best of each shape, by exact Q of 200 samples each."""
    start, end = 1.95, 2.6
    window, oracle = window_of(path, sidestep, start, end)
    region = region_of(named("smooth"), 0.2)
    task = Search(window, oracle, region, start, end)
    crowd = region.drawn(400, 0)
    lean = task.lean(crowd)
    best = [task.best(crowd[side], most=200, below=np.inf)[1] for side in (lean >= 0, lean <= 0)]
    rows = window.samples
    chosen = rule(window, sidestep.dual[rows], sidestep.upper[rows], (start, end))
    assert chosen == SHAPES[int(np.argmin(best))]


def test_speed_limits_are_said_before_and_after(warped: Adaptation) -> None:
    joints = warped.before.joints
    ratio = np.full((len(warped.after.time), len(joints.joint_names)), 0.5)
    ratio[7, 3] = 1.25
    beyond = JointLimits(joints.joint_names, warped.after.time, ratio - 9.0, ratio)
    said = warp_report.notices(warped.before, replace(warped.after, joints=beyond), [], 10**6)
    assert [notice.kind for notice in said] == ["limit"]
    name = joints.joint_names[3]
    assert said[0].sentence.startswith(f"{name} moves at 1.25 of its speed limit at")
    assert "before, the largest was 0.2" in said[0].sentence


def test_a_floor_that_binds_is_said(sidestep: Feasibility) -> None:
    options = warp.Options(**FAST, max_speed_ratio=1.0 / 0.97, segments=((1.3, 2.7),))
    found = warp.adapt(sidestep.clip, sidestep.robot, sidestep, options)
    (row,) = found.details["segments"]
    assert row["floor_binds"]
    assert row["least_slope"] >= 0.97
    assert any("is held by the floor" in notice.sentence for notice in found.notices)


def test_functions_of_ones_own_are_taken_and_their_proof_is_said(sidestep: Feasibility) -> None:
    own = from_functions(
        [lambda t: t, lambda t: np.sin(np.pi * t) ** 4, lambda t: np.sin(2.0 * np.pi * t) ** 3]
    )
    options = warp.Options(basis=own, others=(), samples=128, polish=3, rounds=1)
    found = warp.adapt(sidestep.clip, sidestep.robot, sidestep, options)
    assert {row["increase"] for row in found.details["segments"]} == {"only at samples"}
    assert any("known only at samples" in notice.sentence for notice in found.notices)
    assert worst_n(found.after) < worst_n(sidestep)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"floor": 1.0}, "the floor of f' must lie between 0 and 1, got 1"),
        ({"pad_s": -0.1}, "the pad must be 0 s or more, got -0.1 s"),
        ({"samples": 0}, "samples must be 1 or more, got 0"),
        ({"rounds": 0}, "rounds must be 1 or more, got 0"),
        ({"max_speed_ratio": 1.0}, "the largest speed ratio must be above 1, got 1"),
        ({"key_step_s": 0.0}, "the key step must be positive, got 0 s"),
        ({"segments": ((1.0, 2.0), (1.5, 3.0))}, "segments must have an end after their start"),
        ({"segments": ((2.0, 1.0),)}, "segments must have an end after their start"),
    ],
)
def test_options_that_cannot_be_used_are_refused(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadOption) as found:
        warp.Options(**given)  # type: ignore[arg-type]  # as the test says
    assert found.value.sentence.startswith(sentence)


def test_options_of_another_method_are_refused(sidestep: Feasibility) -> None:
    with pytest.raises(BadOption, match="expected options of the method warp, got PosixPath"):
        warp.adapt(sidestep.clip, sidestep.robot, sidestep, Folder("x"))
