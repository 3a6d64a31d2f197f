"""What a report says about the index: of a clip that sways too far, and of one that stands."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from make.walkers import SOLE, swaying_clip, walker
from surefoot.contacts.balance import balance
from surefoot.index.index import Budget, Feasibility, Options, feasibility
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip
from surefoot.reports.feasibility import feasibility_part
from surefoot.reports.page import report
from surefoot.reports.parts import Context, Part
from surefoot.robots.robot import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return walker()


@pytest.fixture(scope="module")
def swaying(robot) -> Feasibility:
    return feasibility(swaying_clip(robot), robot)


def standing_clip(robot: Robot, *, n: int = 31) -> Clip:
    clip = swaying_clip(robot, n=n)
    still = robot.motion(np.repeat(np.array(robot.home)[None], n, 0), clip.motion.time)
    both = [Stance(f"{side}_foot", 0.0, 2.0, "face", SOLE) for side in ("left", "right")]
    return replace(clip, motion=still, contacts=ContactSchedule(tuple(both)), notices=())


@pytest.fixture(scope="module")
def standing(robot) -> Feasibility:
    return feasibility(standing_clip(robot), robot)


def part_of(found: Feasibility, *beside: object) -> Part:
    return feasibility_part(found, Context(found.clip, found.robot, beside))


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "")


def titles(part: Part) -> list[str]:
    return [block.title for block in part.blocks]


def page_of(tmp_path, *values: object) -> str:
    report(values, tmp_path / "r.html")
    return (tmp_path / "r.html").read_text("utf-8")


def scenes_of(text: str) -> list[dict]:
    return [json.loads(found) for found in re.findall(r'id="scene-\d+">(.*?)</script>', text)]


def test_an_infeasible_clip_is_said_with_its_worst_moment_and_its_reason(swaying):
    first, second, *_ = map(plain, part_of(swaying).sentences)
    worst = swaying.worst
    share = 100.0 * float((~swaying.feasible).mean())
    assert first.startswith(f"Not feasible: for {share:.0f} % of the time the contacts cannot give")
    assert f"Worst at {swaying.time[worst]:.2f} s, where {swaying.upper[worst]:.0f} N" in first
    assert second == swaying.limits.sentence(worst)


def test_a_robot_that_stands_is_feasible_and_how_far_it_is_from_a_limit_is_said(standing):
    """The com stands 100 mm from the nearest edge: the margin is what d says."""
    part = part_of(standing)
    first, second, *_ = map(plain, part.sentences)
    assert first.startswith("Feasible: at every moment")
    assert f"with {-standing.upper[standing.worst]:.0f} N, " in first
    assert second.startswith("The nearest limit is ")
    assert not any(item.bad for item in part.figures)
    assert "What is not feasible" not in titles(part)
    assert ">closest: " in part.blocks[0].svgs[0]


def test_contacts_that_can_give_everything_have_no_number_but_a_sentence(standing):
    endless = np.full(standing.samples.n, -np.inf)
    found = replace(standing, lower=endless, upper=endless, margin=-endless)
    part = part_of(found)
    assert part.sentences == ("Feasible: the contacts can give every wrench, at every moment.",)
    assert "nan" not in json.dumps([part.figures[1].value, part.figures[1].note])
    assert dict(part.rank.cells)["worst d over the weight"] == "−∞"


@pytest.mark.parametrize(
    ("slowest", "fastest", "sentence"),
    [
        (0.0, 0.8761, "Played throughout at 87.6 % of its speed, it would be feasible."),
        (0.9, 0.8, "No uniform speed mends it: 100 % of the moments allow none"),
    ],
)
def test_the_uniform_speed_that_mends_a_clip_is_said_and_never_rounded_up(
    swaying, slowest, fastest, sentence
):
    n = swaying.samples.n
    speeds = replace(swaying.speeds, slowest=np.full(n, slowest), fastest=np.full(n, fastest))
    assert any(sentence in said for said in part_of(replace(swaying, speeds=speeds)).sentences)


def test_moments_that_need_different_speeds_are_told_from_moments_that_allow_none(swaying):
    """Half of the samples must be slower than 0.5, half faster than 0.9."""
    n = swaying.samples.n
    early = np.arange(n) < n // 2
    slowest, fastest = np.where(early, 0.0, 0.9), np.where(early, 0.5, 1.0)
    speeds = replace(swaying.speeds, slowest=slowest, fastest=fastest)
    assert any(
        "some moments allow only slower ones, others faster (at " in said
        for said in part_of(replace(swaying, speeds=speeds)).sentences
    )


def test_the_worst_stretches_are_marked_in_the_plot_by_their_limits(swaying):
    svg = part_of(swaying).blocks[0].svgs[0]
    first = max(swaying.segments(), key=lambda segment: segment.worst_n)
    assert re.search(rf">1 {first.limit}, ", svg)
    assert ">over the weight<" in svg
    assert ">missing: not feasible<" in svg


def test_the_table_of_stretches_begins_with_the_worst(swaying):
    (block,) = [b for b in part_of(swaying).blocks if b.title == "What is not feasible"]
    ranked = sorted(swaying.segments(), key=lambda segment: -segment.worst_n)
    assert [row[-1] for row in block.rows] == [segment.text for segment in ranked]
    assert plain(block.rows[0][1]) == f"{ranked[0].start_s:.3f}–{ranked[0].end_s:.3f} s"


def test_contacts_are_drawn_by_what_touches(swaying):
    """The right foot slides on an edge from 1.5 s; both stand on faces before."""
    svg = part_of(swaying).blocks[0].svgs[0]
    assert re.findall(r">((?:left|right) foot)<", svg) == ["left foot", "right foot"]
    assert [word for word in ("face", "edge", "point", "moving") if f">{word}<" in svg] == [
        "face",
        "moving",
    ]


def test_the_band_of_small_changes_is_drawn_and_listed_where_there_is_one(swaying):
    assert "How sure this is" not in titles(part_of(swaying))
    cases = (("smoothed at 6 Hz", 0.05, 0.97), ("friction -0.1", float("-inf"), 1.0))
    budget = Budget(cases, np.array(swaying.lower) - 5.0, np.array(swaying.upper) + 5.0)
    part = part_of(replace(swaying, budget=budget))
    assert ">what if (see how sure)<" in part.blocks[0].svgs[0]
    (block,) = [b for b in part.blocks if b.title == "How sure this is"]
    assert block.rows[1:] == (
        ("smoothed at 6 Hz", "+0.0500", "97.0 %"),
        ("friction -0.1", "−∞", "100.0 %"),
    )


def test_bounds_are_drawn_where_they_are_visibly_apart(standing):
    upper = np.array(standing.upper)
    upper[40:60] += 20.0
    assert "fill-opacity: 0.35" not in part_of(standing).blocks[0].svgs[0]
    wide = replace(standing, upper=upper)
    assert re.search(r"(fill-)?opacity: 0.35", part_of(wide).blocks[0].svgs[0])


def test_what_did_not_converge_is_said(swaying):
    converged = np.ones(swaying.samples.n, dtype=np.bool_)
    converged[:3] = False
    rows = dict(part_of(replace(swaying, converged=converged)).blocks[-1].rows)
    assert rows["bounds"].endswith("3 samples do not reach that: their d is not certain")


def test_the_settings_that_belong_to_the_number_are_listed(robot):
    options = Options(rate_hz=50.0, friction=0.4, reference="com", smooth_hz=8.0, cone_sides=8)
    rows = dict(part_of(feasibility(swaying_clip(robot), robot, options)).blocks[-1].rows)
    assert rows["samples"].endswith(": 50 a second, and both sides of 2 contact changes")
    assert rows["between the frames"] == "spline curve, smoothing: low pass at 8 Hz"
    assert rows["friction"] == "0.4 for all contacts, instead of their own, pyramids of 8 sides"
    assert rows["moments"] == "about its centre of mass, divided by 1 m"
    assert "feet that slide on purpose" in rows


def test_joints_beyond_their_limits_are_listed_the_worst_first(swaying):
    excess = np.array(swaying.joints.position_excess)
    excess[7, 1], excess[9, 2] = 0.1, 0.3
    joints = replace(swaying.joints, position_excess=excess)
    part = part_of(replace(swaying, joints=joints))
    (block,) = [b for b in part.blocks if b.title == "Joints beyond their limits"]
    assert [row[0] for row in block.rows] == [joints.joint_names[2], joints.joint_names[1]]
    assert plain(block.rows[0][2]) == "0.3 rad (17°) past it"


def test_torques_stand_in_the_report_where_they_were_asked_for(robot):
    strong = replace(robot, joint_torque=np.full(len(robot.joint_names), 200.0))
    found = feasibility(standing_clip(strong, n=5), strong, Options(torque=True, rate_hz=20.0))
    (block,) = [b for b in part_of(found).blocks if b.title == "Torques"]
    worst = found.torques.summary()
    assert block.rows[0][:2] == (worst["worst_joint"], f"{worst['worst_ratio']:.2f}")


def test_a_feasibility_alone_has_a_player_that_opens_at_its_worst_moment(swaying, tmp_path):
    """What the player finds nearest to the moment is the worst sample, also beside a jump."""
    (scene,) = scenes_of(page_of(tmp_path, swaying))
    from surefoot.reports.player import unpacked

    time, values = (unpacked(scene["curve"][key]) for key in ("time", "values"))
    near = int(np.argmin(np.abs(time - scene["opens"])))
    same = np.flatnonzero(np.abs(time - time[near]) < 1e-9)
    before = scene["opens"] < time[near]
    assert values[same[0] if before else same[-1]] == pytest.approx(values.max(), rel=1e-6)
    assert scene["worst"] == scene["opens"]


@pytest.mark.parametrize("side", [-1, 1])
def test_a_worst_sample_beside_a_contact_change_is_met_from_its_own_side(swaying, side):
    i = int(np.flatnonzero(swaying.samples.side[1:-1] == side)[0]) + 1
    upper = np.array(swaying.upper)
    upper[i] = upper.max() + 100.0
    found = replace(swaying, upper=upper)
    assert np.sign(part_of(found).opens_at - found.time[i]) == side


def test_the_force_arrow_of_a_robot_that_stands_is_its_weight_at_the_zmp(standing):
    (arrow,) = part_of(standing).arrows
    np.testing.assert_allclose(
        arrow.force, np.tile((0.0, 0.0, 1.0), (len(arrow.time), 1)), atol=1e-9
    )
    np.testing.assert_allclose(arrow.tail_w[:, 2], 0.0, atol=1e-9)
    assert not arrow.state.any()


@pytest.mark.slow
def test_beside_its_clip_and_balance_nothing_is_shown_twice(robot, tmp_path):
    clip = swaying_clip(robot)
    found = feasibility(clip, robot)
    report([clip, balance(clip, robot), found], tmp_path / "r.html", robot=robot)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert text.count("<article") == text.count("<figure ") == 1
    assert text.count("frame 3 was filled") == 1
    assert text.count(">ZMP outside, mm<") == 1
    (scene,) = scenes_of(text)
    assert [track["name"] for track in scene["tracks"]] == ["ZMP", "CoM"]
    assert len(scene["actors"]) == 1
    assert text.index("Not feasible: ") < text.index("the ZMP lies outside the support")


def test_several_clips_are_ranked_on_top_and_have_a_chapter_each(swaying, standing, tmp_path):
    text = page_of(tmp_path, swaying, standing)
    table = re.search(r'<section class="ranking">(.*?)</section>', text, re.DOTALL).group(1)
    assert re.findall(r'<a href="#(c\d)">([^<]*)</a>', table) == [
        ("c1", "sway.bvh on walker (2)"),
        ("c0", "sway.bvh on walker"),
    ]
    assert text.count("<article") == 2
    assert '<article id="c1">' in text
    assert '<section class="ranking">' not in page_of(tmp_path, standing)


@pytest.mark.slow
def test_a_second_index_of_the_same_clip_gets_a_chapter_of_its_own(robot, swaying, tmp_path):
    other = feasibility(swaying.clip, robot, Options(friction=0.2))
    report([swaying.clip, swaying, other], tmp_path / "r.html", robot=robot)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert text.count("<article") == text.count("<figure ") == 2


@pytest.mark.slow
def test_a_long_clip_makes_no_long_page(robot, tmp_path):
    """100 s are 20,000 samples; every part of the page keeps some thousands of them."""
    short, n = swaying_clip(robot), 3001
    motion = robot.motion(
        np.repeat(np.array(robot.home)[None], n, axis=0), np.linspace(0.0, 100.0, n)
    )
    root = np.array(motion.root_pos)
    root[:, 1] += 0.02 * np.random.default_rng(5).normal(size=n)  # noise: peaks at every frame
    feet = [Stance(f"{side}_foot", 0.0, 100.0, "face", SOLE) for side in ("left", "right")]
    motion = replace(motion, root_pos=root)
    clip = replace(short, motion=motion, contacts=ContactSchedule(tuple(feet)))
    text = page_of(tmp_path, feasibility(clip, robot))
    assert len(text) < 1_500_000
