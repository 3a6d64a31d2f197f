"""The index of whole clips: known values, laws, and what is said beside the number."""

from __future__ import annotations

import json
import pathlib
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import surefoot as sf
from make.robots import biped, planar
from make.standing import only, stiff
from make.verdicts import (
    HALF_X,
    HALF_Y,
    HEIGHT,
    WEIGHT,
    G,
    box,
    clip_of,
    lifting,
    lively,
    pushed,
    sole_stance,
)
from surefoot.errors import BadMotion, BadOption, UnknownName
from surefoot.index.index import Feasibility, Options, feasibility
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

KEYS = {
    "schema", "robot", "clip", "mass_kg", "weight_n", "rate_hz", "duration_s", "samples",
    "friction", "cone_sides", "length_scale_m", "reference", "feasible", "feasible_fraction",
    "worst_n", "worst_over_weight", "worst_at_s", "median_margin_n", "tolerance_over_weight",
    "gap_max_n", "unconverged", "flight_samples", "degenerate_samples", "smoothing_hz",
    "interpolation", "required_friction", "feasible_speed", "segments", "zmp", "joints", "budget",
    "seconds", "warnings",
}  # fmt: skip
SEGMENT_KEYS = {
    "start_s", "end_s", "worst_n", "worst_at_s", "limit", "link", "edge", "text",
}  # fmt: skip


@pytest.fixture(scope="module")
def two_legs(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("biped"))


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return box(tmp_path_factory.mktemp("box"))


@pytest.fixture(scope="module")
def walking(two_legs: Robot) -> Clip:
    """Random smooth motion with both feet on the ground by turns."""
    motion = lively(two_legs)
    end = float(motion.time[-1])
    stances = (
        sole_stance(two_legs, "left", 0.0, 0.6 * end),
        sole_stance(two_legs, "right", 0.4 * end, end),
    )
    return clip_of(motion, two_legs, *stances)


def test_rest_in_the_middle_of_a_sole_is_the_closed_form(pendulum: Robot) -> None:
    """d = −F c / √(c² + h² + L²) with c = 0.05, h = 0.8: −27.3096010124."""
    found = feasibility(pushed(pendulum, (0.0, 0.0, 0.0), "left"), pendulum)
    assert found.d == pytest.approx(-27.3096010124, abs=1e-7)
    assert found.upper == pytest.approx(-27.3096010124, abs=1e-7)
    assert found.all_feasible
    assert found.segments() == ()


def test_two_real_feet_at_rest_are_the_closed_form(two_legs: Robot) -> None:
    """The nearest edge is the heels': c = 0.06 + com_x; h = 0.85 about the pelvis."""
    t = np.arange(5) / 10.0
    both = (sole_stance(two_legs, "left", 0.0, 0.4), sole_stance(two_legs, "right", 0.0, 0.4))
    found = feasibility(clip_of(stiff(two_legs, t), two_legs, *both), two_legs)
    com_x = (2 * 1.5 * 0.01 + 2 * 0.5 * 0.03) / 16.0  # shanks and feet: 3.75 mm ahead
    d = -16.0 * G * (0.06 + com_x) / np.sqrt(0.06**2 + 0.85**2 + 1.0)
    assert found.d == pytest.approx(d, rel=1e-9)


@pytest.mark.parametrize(
    ("acc", "d"), [(-0.6, -27.3096010124), (-1.5, 12.1655339592), (-2.0, 34.3856873094)]
)
def test_an_accelerated_pendulum_is_the_closed_form(pendulum: Robot, acc: float, d: float) -> None:
    """Known answer 15: w = m (ax, 0, g) about the centre of mass, 0.8 m above the sole."""
    found = feasibility(pushed(pendulum, (acc, 0.0, 0.0), "left"), pendulum)
    assert found.d == pytest.approx(d, abs=1e-6)
    assert found.all_feasible == (d < 0)


def test_a_weight_outside_tips_over_the_edge_that_is_named(two_legs: Robot) -> None:
    """On the left foot alone the centre of mass lies 0.05 m inside of its inner edge's line."""
    index = feasibility(lifting(two_legs), two_legs)
    after = index.time > 0.5
    d = 16.0 * G * 0.05 / np.sqrt(0.05**2 + 0.85**2 + 1.0)
    assert index.d[after] == pytest.approx(d, rel=1e-9)
    (stretch,) = index.segments()
    assert (stretch.limit, stretch.link, stretch.edge) == ("tipping", ("left_foot",), "inner")
    assert (stretch.start_s, stretch.end_s) == (0.5, 1.0)
    assert "inner edge of the left foot" in stretch.text


def test_d_jumps_where_a_foot_lifts(two_legs: Robot) -> None:
    """The moment stands twice: with the right foot, and without."""
    index = feasibility(lifting(two_legs), two_legs)
    before, after = np.flatnonzero(index.time == 0.5)
    assert (index.samples.side[before], index.samples.side[after]) == (-1, 1)
    assert index.d[before] < 0.0 < index.d[after]
    assert index.samples.cones.count[[before, after]].tolist() == [8, 4]
    assert np.array_equal(index.samples.wrench[before], index.samples.wrench[after])


def test_a_flight_is_feasible_only_if_it_falls_freely(two_legs: Robot) -> None:
    """The spline through a parabola is the parabola: the required wrench vanishes."""
    falls = feasibility(pushed(two_legs, (0.0, 0.0, -G)), two_legs)
    assert falls.all_feasible
    assert np.abs(falls.d).max() < falls.tolerance_n
    assert falls.summary()["flight_samples"] == falls.samples.n
    hangs = feasibility(pushed(two_legs, (0.0, 0.0, -0.5 * G)), two_legs, Options(reference="com"))
    assert hangs.d == pytest.approx(0.5 * hangs.weight_n)
    assert {s.limit for s in hangs.segments()} == {"flight"}


@pytest.mark.parametrize("reference", ["base", "com", "origin", (0.3, -0.2, 1.0)])
def test_the_reference_changes_the_value_and_never_the_sign(
    walking: Clip, two_legs: Robot, reference: str | tuple[float, float, float]
) -> None:
    usual = feasibility(walking, two_legs)
    other = feasibility(walking, two_legs, Options(reference=reference, length_scale_m=0.7))
    clear = np.abs(usual.d) > 1e-6 * usual.weight_n
    assert clear.mean() > 0.9
    assert np.array_equal(usual.feasible[clear], other.feasible[clear])
    assert not np.allclose(usual.d, other.d)
    assert 0.05 < usual.feasible.mean() < 0.95


def test_more_friction_is_never_worse(walking: Clip, two_legs: Robot) -> None:
    values = [
        feasibility(walking, two_legs, Options(friction=mu)).upper for mu in (0.1, 0.3, 0.7, 2.0)
    ]
    for less, more in pairwise(values):
        assert np.all(more <= less + 1e-4 * np.abs(less) + 1e-9)
    assert np.any(values[-1] < values[0] - 1.0)


def test_finer_rates_hold_the_same_values_at_the_same_moments(
    walking: Clip, two_legs: Robot
) -> None:
    coarse = feasibility(walking, two_legs, Options(rate_hz=50.0))
    fine = feasibility(walking, two_legs, Options(rate_hz=200.0))
    keys = {(t, s): i for i, (t, s) in enumerate(zip(fine.time, fine.samples.side, strict=True))}
    pairs = [
        (i, keys[t, s])
        for i, (t, s) in enumerate(zip(coarse.time, coarse.samples.side, strict=True))
        if (t, s) in keys
    ]
    assert len(pairs) > 0.9 * coarse.samples.n
    one, other = np.array(pairs).T
    assert np.abs(coarse.upper[one] - fine.upper[other]).max() < 1e-3 * fine.weight_n


def test_two_threads_change_no_bit(walking: Clip, two_legs: Robot) -> None:
    one, two = (
        feasibility(walking, two_legs, Options(rate_hz=500.0, threads=k, torque=True))
        for k in (1, 2)
    )
    for name in ("lower", "upper", "dual", "margin", "dimension", "converged"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    assert np.array_equal(one.speeds.fastest, two.speeds.fastest)
    assert np.array_equal(one.samples.wrench, two.samples.wrench)


def test_smoothing_is_said_with_what_it_changed(walking: Clip, two_legs: Robot) -> None:
    found = feasibility(walking, two_legs, Options(smooth_hz=6.0))
    assert any("smoothing at 6 Hz moved the root by up to" in n.sentence for n in found.notices)
    assert found.summary()["smoothing_hz"] == 6.0
    assert not np.array_equal(found.clip.motion.joint_pos, walking.motion.joint_pos)
    plain = feasibility(walking, two_legs)
    assert not any("smoothing" in n.sentence for n in plain.notices)
    assert plain.summary()["smoothing_hz"] is None


def test_the_summary_is_the_object_of_the_public_face(walking: Clip, two_legs: Robot) -> None:
    found = feasibility(walking, two_legs, Options(torque=True))
    summary = found.summary()
    assert set(summary) >= KEYS
    text = json.dumps(summary, allow_nan=False)
    assert json.loads(text) == summary
    assert summary["worst_n"] == found.upper.max()
    assert summary["worst_at_s"] == found.time[np.argmax(found.upper)]
    assert summary["worst_over_weight"] == pytest.approx(found.upper.max() / (16.0 * G))
    assert summary["feasible_fraction"] == np.mean(found.upper <= 1e-9 * 16.0 * G)
    assert summary["median_margin_n"] == np.median(found.upper)
    assert summary["samples"] == len(found.d) == len(found.time)
    segments, zmp, joints = summary["segments"], summary["zmp"], summary["joints"]
    assert isinstance(segments, list)
    assert segments
    assert all(set(segment) >= SEGMENT_KEYS for segment in segments)
    assert isinstance(zmp, dict)
    assert set(zmp) >= {"outside_fraction", "worst_outside_m"}
    assert isinstance(joints, dict)
    assert set(joints) >= {"position", "speed", "torque"}


def test_no_contacts_is_flight_and_what_is_unknown_is_null_with_a_warning(two_legs: Robot) -> None:
    summary = feasibility(pushed(two_legs, (0.0, 0.0, 0.0)), two_legs).summary()
    assert (summary["friction"], summary["required_friction"]) == (None, None)
    warnings = summary["warnings"]
    assert isinstance(warnings, list)
    assert "the clip has no contacts: everything is flight" in warnings
    sentence = "nothing presses on a common plane: there is no ZMP and no required friction"
    assert sentence in warnings
    json.dumps(summary, allow_nan=False)


def test_contacts_that_give_every_wrench_have_no_number_and_that_is_said(two_legs: Robot) -> None:
    """Four points that span space, each held from above and below: nothing is out of reach."""
    t = np.arange(5) / 10.0
    spots = np.array([[0.2, 0.0, 0.0], [-0.2, 0.1, 0.1], [0.0, -0.2, 0.2], [0.1, 0.1, -0.2]])
    stances = tuple(
        Stance("pelvis", 0.0, 0.4, "face", spots, normal=np.array([0.0, 0.0, sign]), friction=0.5)
        for sign in (-1.0, 1.0)
    )
    found = feasibility(clip_of(stiff(two_legs, t), two_legs, *stances), two_legs)
    assert np.all(np.isneginf(found.upper))
    summary = found.summary()
    assert (summary["worst_n"], summary["worst_at_s"], summary["median_margin_n"]) == (None,) * 3
    assert summary["feasible"]
    assert summary["unlimited_samples"] == found.samples.n
    assert any("the contacts can give every wrench" in n.sentence for n in found.notices)
    json.dumps(summary, allow_nan=False)


def test_what_rounding_leaves_between_two_contacts_is_no_flight(two_legs: Robot) -> None:
    """0.1 + 0.2 is not 0.3: the sliver between leaves no sample without a foot."""
    t = np.arange(11) / 20.0
    for gap in (0.1 + 0.2 - 0.3, 1e-6, -1e-6):
        both = (
            sole_stance(two_legs, "left", abs(gap), 0.3),
            sole_stance(two_legs, "right", 0.3 + gap, 0.5 - abs(gap)),
        )
        found = feasibility(clip_of(stiff(two_legs, t), two_legs, *both), two_legs)
        assert not found.in_flight.any(), gap
        assert np.count_nonzero(found.samples.side) == 4, "the ends, and one change twice"
        assert set(found.samples.cones.count) == {4}


def test_a_robot_in_a_plane_is_told_what_d_asks_of_it(tmp_path: pathlib.Path) -> None:
    flat = planar(tmp_path)
    found = feasibility(pushed(flat, (0.0, 0.0, 0.0), "left", "right"), flat)
    assert any("the robot moves in a plane" in notice.sentence for notice in found.notices)
    heel = 0.06 + 2.0 * 0.5 * 0.03 / 6.4  # the masses of the feet lie 0.03 m ahead
    height = float(found.samples.ref_w[0, 2])
    across = 0.05  # both feet stand in one line: the sides are nearer than the heels
    assert heel > across
    d = -6.4 * G * across / np.sqrt(across**2 + height**2 + 1.0)
    assert found.d == pytest.approx(d, rel=1e-6)


@pytest.mark.parametrize(("up", "where"), [(0.3, "above"), (-0.3, "below"), (0.1, None)])
def test_feet_that_stand_far_from_their_ground_are_doubted(
    two_legs: Robot, up: float, where: str | None
) -> None:
    """Contacts are detected over the clip's own ground: so a robot in the air may stand."""
    clip = pushed(two_legs, (0.0, 0.0, 0.0), "left", "right")
    motion = clip.motion
    lifted = replace(motion, root_pos=motion.root_pos + np.array([0.0, 0.0, up]))
    found = feasibility(replace(clip, motion=lifted), two_legs)
    said = [notice.sentence for notice in found.notices if "its surface" in notice.sentence]
    assert [s.split(" its surface")[0] for s in said] == (
        [f"what stands is 0.30 m {where}"] if where else []
    )


def test_a_hand_on_a_wall_is_not_looked_for_on_the_floor(two_legs: Robot) -> None:
    clip = pushed(two_legs, (0.0, 0.0, 0.0), "left", "right")
    aside = np.array([1.0, 0.0, 0.0])
    walls = tuple(replace(stance, normal=aside) for stance in clip.contacts.stances)
    motion = replace(clip.motion, root_pos=clip.motion.root_pos + np.array([0.0, 0.0, 0.5]))
    found = feasibility(replace(clip, motion=motion, contacts=ContactSchedule(walls)), two_legs)
    assert not [notice for notice in found.notices if "its surface" in notice.sentence]


def test_a_foot_that_slides_on_purpose_is_said(two_legs: Robot) -> None:
    clip = pushed(two_legs, (0.0, 0.0, 0.0), "left", "right")
    stances = (replace(clip.contacts.stances[0], moving=True), clip.contacts.stances[1])
    moving = replace(clip, contacts=ContactSchedule(stances))
    for sliding, words in {
        "kinetic": "friction against its way",
        "static": "as if it stood",
        "frictionless": "no friction",
    }.items():
        found = feasibility(moving, two_legs, Options(sliding=sliding))  # type: ignore[arg-type]
        assert any(words in n.sentence and n.part == "left_foot" for n in found.notices), sliding


def test_a_value_survives_pickling(walking: Clip, two_legs: Robot) -> None:
    found = feasibility(walking, two_legs, Options(rate_hz=50.0))
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, Feasibility)
    assert np.array_equal(again.d, found.d)
    assert again.summary() == found.summary()


def test_arrays_of_the_value_are_read_only(walking: Clip, two_legs: Robot) -> None:
    found = feasibility(walking, two_legs, Options(rate_hz=50.0))
    for array in (found.d, found.upper, found.dual, found.margin, found.dimension, found.converged):
        assert not array.flags.writeable


def test_the_face_is_the_verb(walking: Clip, two_legs: Robot) -> None:
    assert np.array_equal(sf.feasibility(walking, two_legs).d, feasibility(walking, two_legs).d)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rate_hz": 0.0}, "between 0 and 1000 samples a second, got 0"),
        ({"rate_hz": 1000.1}, "between 0 and 1000 samples a second, got 1000.1"),
        ({"rate_hz": float("nan")}, "between 0 and 1000 samples a second, got nan"),
        ({"friction": -0.1}, "friction must be 0 or more, got -0.1"),
        ({"friction": float("nan")}, "friction must be 0 or more, got nan"),
        ({"friction": 1e6}, "friction must be 10000 at most, got 1e+06"),
        ({"reference": "bse"}, "expected a reference of base, com, origin or X,Y,Z, got 'bse'"),
        ({"reference": (0.0, 0.0, float("inf"))}, "expected a reference"),
        ({"length_scale_m": 0.0}, "the length scale must be positive"),
        ({"cone_sides": 2}, "3 sides or more, got 2. 0 means circular cones"),
        ({"cone_sides": -4}, "3 sides or more, got -4"),
        ({"tolerance": 1e-12}, "between 1e-09 and 0.1, got 1e-12"),
        ({"tolerance_over_weight": -1.0}, "must lie between 0 and 1, got -1"),
        ({"smooth_hz": 0.0}, "a positive number of hertz, got 0. None means none"),
        ({"threads": 0}, "threads must be at least 1, got 0"),
    ],
)
def test_options_that_cannot_be_used_are_refused_before_any_work(
    options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadOption) as error:
        Options(**options)  # type: ignore[arg-type]  # wrong on purpose
    assert sentence in str(error.value)


def test_what_cannot_be_judged_is_refused(two_legs: Robot) -> None:
    t = np.zeros(1)
    with pytest.raises(BadMotion, match="at least 2 frames, got 1"):
        feasibility(clip_of(stiff(two_legs, t), two_legs), two_legs)
    elsewhere = Stance("hand", 0.0, 1.0, "point", np.zeros((1, 3)))
    moving = stiff(two_legs, np.arange(3) / 10.0, only(3, 0, np.zeros(3)))
    with pytest.raises(UnknownName, match="hand"):
        feasibility(clip_of(moving, two_legs, elsewhere), two_legs)


def test_the_known_sizes_are_those_of_the_made_robot(pendulum: Robot) -> None:
    (left, _) = pendulum.soles
    assert np.abs(left.polygon_l[:, :2]).max(axis=0) == pytest.approx([HALF_X, HALF_Y])
    assert pendulum.mass * G == pytest.approx(WEIGHT, rel=1e-12)
    assert pendulum.home[2] == pytest.approx(HEIGHT)
