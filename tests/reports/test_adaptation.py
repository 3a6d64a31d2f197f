"""What a report says of a mended clip: numbers, events that moved, choices, pictures, player."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from make.walkers import SOLE, swaying_clip, walker
from surefoot.adapters.adaptation import Adaptation
from surefoot.adapters.bases import smooth
from surefoot.adapters.timing import Timing, retimed
from surefoot.arrays import Array, Float64
from surefoot.index.index import Feasibility, feasibility
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip
from surefoot.reports import plots
from surefoot.reports.adaptation import adaptation_part, percent_signed
from surefoot.reports.changes import events_of, moments_of, segments_of, standing, stretches_of
from surefoot.reports.choices import choice_of
from surefoot.reports.comparing import d_svg, warp_svg
from surefoot.reports.page import report
from surefoot.reports.parts import Context, Part
from surefoot.reports.plots import as_file
from surefoot.robots.robot import Robot

pytestmark = pytest.mark.slow

START, END = 0.5, 1.8
CHOSEN = (1.0, 0.05, -0.1)


def stepping_clip(robot: Robot) -> Clip:
    """The swaying clip with a right foot that stands to 1 s and again from 1.5 s on."""
    clip = swaying_clip(robot)
    stances = (
        Stance("left_foot", 0.0, 2.0, "face", SOLE),
        Stance("right_foot", 0.0, 1.0, "face", SOLE),
        Stance("right_foot", 1.5, 2.0, "face", SOLE),
    )
    return replace(clip, contacts=ContactSchedule(stances))


def shift_of(coefficients: tuple[float, ...], time: Float64[Array, " f"]) -> Float64[Array, " f"]:
    length = END - START
    tau = np.clip((time - START) / length, 0.0, 1.0)
    return length * (smooth().evaluate(tau, 0) @ np.array(coefficients) - tau)


@pytest.fixture(scope="module")
def before() -> Feasibility:
    robot = walker()
    return feasibility(stepping_clip(robot), robot)


@pytest.fixture(scope="module")
def found(before) -> Adaptation:
    clip, robot = before.clip, before.robot
    timing = Timing(clip.motion.time, shift_of(CHOSEN, clip.motion.time))
    written = retimed(clip, timing, what="warp")
    rng = np.random.default_rng(0)
    samples = np.column_stack([np.ones(40), rng.uniform(-0.15, 0.15, (40, 2))])
    segment = {
        "round": 1,
        "infeasible_s": [0.8, 1.4],
        "start_s": START,
        "end_s": END,
        "delta_t_s": 0.1,
        "q_before_over_weight": 0.5,
        "q_over_weight": 0.4,
        "warped": True,
        "basis": "smooth",
        "coefficients": list(CHOSEN),
        "shape": "first slower",
        "floor": 0.2,
    }
    regions = [{"basis": "smooth", "floor": 0.2, "free": 2, "samples": samples.tolist()}]
    details = {"segments": [segment], "regions": regions, "seed": 7}
    after = feasibility(written, robot)
    why = "Poses from 0.8 s to 1.2 s fall."
    return Adaptation(
        "warp-optimal", "warp", "better", written, before, after, timing, 12.0, why, details
    )


@pytest.fixture(scope="module")
def part(found) -> Part:
    return adaptation_part(found, Context(found.clip, found.before.robot))


@pytest.fixture(scope="module")
def page(found, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("adaptation") / "r.html"
    report([found], path, robot=found.before.robot)
    return path.read_text("utf-8")


def scene_of(text: str) -> dict:
    script = re.search(r'id="scene-\d+">(.*?)</script>', text)
    assert script is not None
    return json.loads(script.group(1))


def test_the_headline_is_what_the_adaptation_explains_and_which_method_was_better(found, part):
    first, why, reason = part.sentences
    assert first.startswith("Asked for warp-optimal; warp gave the better clip. warp: the worst d")
    assert "It is better, but not feasible everywhere." in first
    assert why == found.why_not
    assert reason.endswith(found.before.limits.sentence(found.before.worst))


def test_the_key_figures_are_of_both_clips(found, part):
    figures = {figure.label: figure for figure in part.figures}
    worst = [
        percent_signed(float(one.upper.max()) / one.weight_n) for one in (found.before, found.after)
    ]
    assert figures["Worst d over the weight"].value == f"{worst[0][:-2]} → {worst[1]}"
    assert figures["Lower bound"].bad
    assert figures["Duration"].value == "unchanged"
    assert figures["Method"].value == "warp"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0321, "+3.2 %"), (-0.00013, "−0.01 %"), (0.0061, "+0.61 %"), (1e-6, "+0.00… %"),
     (0.0, "+0.00 %"), (-np.inf, "−∞")],
)  # fmt: skip
def test_a_small_margin_never_reads_as_a_naked_zero(value, text):
    assert percent_signed(value) == text


def test_events_move_as_the_timing_says(found):
    lifted, touched = events_of(found)
    assert (lifted.lifts, lifted.was, lifted.foot) == (True, 1.0, "right foot")
    assert (touched.lifts, touched.was) == (False, 1.5)
    np.testing.assert_allclose(
        [lifted.t, touched.t], found.timing(np.array([1.0, 1.5])), rtol=0, atol=1e-12
    )
    assert lifted.t != 1.0


def test_stances_that_follow_each_other_are_one(before):
    stances = (
        Stance("left_foot", 0.0, 0.4, "face", SOLE),
        Stance("left_foot", 0.4, 1.0, "edge", SOLE[:2]),
        Stance("left_foot", 1.2, 2.0, "face", SOLE),
    )
    spans = standing(ContactSchedule(stances), before.robot)
    assert spans == {"left foot": [(0.0, 1.0), (1.2, 2.0)]}


def test_pictures_are_of_lift_off_mid_swing_and_touch_down(found, part):
    moments = moments_of(found, 12)
    assert [what for _, _, what in moments] == [
        "lift-off, right foot", "mid-swing, right foot", "touch-down, right foot"
    ]  # fmt: skip
    assert [was for _, was, _ in moments] == [1.0, 1.25, 1.5]
    assert moments_of(found, 2) == []
    block = next(block for block in part.blocks if block.title == "Adapted over original")
    (svg,) = block.svgs
    assert svg.count("<g opacity=") == 3
    assert svg.count(" apart</text>") == 3


def test_segments_that_touch_are_shaded_as_one_and_numbered_by_rounds(found):
    rows = [{"start_s": 1.0, "end_s": 1.6, "round": 1}, {"start_s": 0.5, "end_s": 1.1, "round": 2}]
    several = replace(found, details={"segments": rows})
    assert [(s.number, s.start, s.round) for s in segments_of(several)] == [
        (1, 1.0, 1), (2, 0.5, 2)
    ]  # fmt: skip
    assert len(stretches_of(several)) == 1


def test_the_stretches_of_the_best_warp_are_read_as_well(found):
    row = {"start_s": 0.5, "end_s": 1.1, "before_over_weight": 0.2, "judged_over_weight": 0.1,
           "bound_over_weight": 0.05, "case": "relaxed"}  # fmt: skip
    (segment,) = segments_of(replace(found, details={"stretches": [row]}))
    assert (segment.q_before, segment.q, segment.bound) == (0.2, 0.1, 0.05)
    part = adaptation_part(replace(found, details={"stretches": [row]}), Context())
    table = next(block for block in part.blocks if block.title == "Segments")
    assert "no warp below +5.0 %" in table.rows[0][2]


def test_the_value_of_a_choice_is_a_lower_bound_of_the_d_that_it_makes(found):
    """Of the chosen coefficients the clip as written is judged: its d over the segment."""
    choice = choice_of(found, segments_of(found)[0])
    assert choice is not None
    assert choice.names == ("c₂", "c₃")
    middle = choice.near_value[len(choice.near_value) // 2]  # the grid's middle is the chosen one
    np.testing.assert_allclose(choice.near[len(choice.near) // 2], CHOSEN[1:], rtol=0, atol=1e-9)
    time = found.after.time
    inside = (time >= START) & (time <= END)
    judged = found.after.upper[inside].max() / found.after.weight_n
    assert middle == pytest.approx(judged, rel=0.02)


def test_the_outline_is_the_edge_of_the_region_in_which_time_runs_forward(found):
    choice = choice_of(found, segments_of(found)[0])
    assert choice is not None
    t = np.linspace(0.0, 1.0, 4001)
    rows = np.column_stack([np.ones(len(choice.outline)), choice.outline])
    least = (smooth().evaluate(t, 1) @ rows.T).min(axis=0)
    np.testing.assert_allclose(least, 0.2, rtol=0, atol=2e-3)


def test_what_the_clip_does_in_the_end_is_drawn_where_it_is_not_the_chosen_function(found):
    segment = segments_of(found)[0]
    same = choice_of(found, segment)
    other = choice_of(found, replace(segment, coefficients=(1.0, 0.0, 0.05)))
    assert same is not None
    assert other is not None
    np.testing.assert_allclose(same.written, same.curve, rtol=0, atol=1e-3)
    assert "as written" not in plots.choice(same, label="x")
    assert "as written" in plots.choice(other, label="x")


def test_functions_of_the_user_have_no_picture_of_choices(found):
    own = replace(segments_of(found)[0], basis="my own")
    assert choice_of(found, own) is None


def test_both_curves_stand_in_the_plot_over_their_own_times(found):
    svg = d_svg(found, "x")
    assert ">before</text>" in svg or ">before<" in svg
    assert "right, before" in svg
    assert "t0" in svg
    assert "slower" in warp_svg(found)
    assert "sooner" in warp_svg(found)


def test_the_player_has_both_robots_and_opens_at_the_worst_moment_of_the_original(found, page):
    scene = scene_of(page)
    assert [actor["label"] for actor in scene["actors"]] == ["adapted", "original"]
    assert [actor["style"] for actor in scene["actors"]] == ["solid", "ghost"]
    assert scene["opens"] == pytest.approx(found.before.time[found.before.worst], abs=1e-3)
    assert scene["compared"] is not None
    assert {arrow["actor"] for arrow in scene["arrows"]} == {0, 1}
    assert {polygon["actor"] for polygon in scene["polygons"]} == {0, 1}


def test_beside_clip_and_index_the_adaptation_has_the_player_for_itself(found, tmp_path):
    before = found.before
    report([before.clip, before, found], tmp_path / "r.html", robot=before.robot)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert text.count("<article") == 1
    assert len(scene_of(text)["actors"]) == 2


def test_the_page_is_bounded_and_the_same_each_time(found, page, tmp_path):
    report([found], tmp_path / "r.html", robot=found.before.robot)
    assert (tmp_path / "r.html").read_text("utf-8") == page
    assert len(page) < 2_000_000
    assert not re.search(r"""(?:src|href)=["']?https?:""", page)


def test_a_clip_that_nothing_was_done_to_has_no_warp_and_no_pictures(before):
    still = Adaptation("warp", "warp", "unchanged", before.clip, before, before)
    titles = [block.title for block in adaptation_part(still, Context()).blocks]
    assert "The time warp" not in titles
    assert "Adapted over original" not in titles
    assert titles[0] == "Feasibility before and after"


def test_several_adaptations_are_ranked_apart_from_indices(found, tmp_path):
    before = found.before
    other = replace(found, method="warp")
    report([found, other, before, feasibility(before.clip, before.robot)], tmp_path / "r.html",
           robot=before.robot)  # fmt: skip
    text = (tmp_path / "r.html").read_text("utf-8")
    assert text.count('class="ranking"') == 2


def test_a_title_never_says_where_a_file_lies(found, tmp_path):
    report([found], tmp_path / "r.html", robot=found.before.robot, title="/home/me/x.bvh on g1")
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "<h1>x.bvh on g1</h1>" in text
    assert "/home/me" not in text


def test_a_plot_as_a_file_has_colours_and_no_roles(found):
    svg = as_file(d_svg(found, "x"), ":root { --paper: #ffffff; " + " ".join(
        f"--{name}: #123456;" for name in re.findall(r"var\(--([\w-]+)\)", d_svg(found, "x"))
    ) + "} @media")  # fmt: skip
    assert "var(" not in svg
    assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
