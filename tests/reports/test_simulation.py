"""What a report says of a run: the verdict in words, errors, contacts, effort, and the player."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from make.robots import biped
from make.runs import END_S, LIFT_S, TOUCH_S, fallen, moved, stood
from surefoot.index.index import feasibility
from surefoot.reports import measured, simulation
from surefoot.reports.page import report
from surefoot.reports.parts import Context, Part
from surefoot.reports.simulation import verdict_part
from surefoot.reports.trials import Trials, paired, trials_part
from surefoot.robots.robot import Robot
from surefoot.simulation.verdict import Verdict

GAP = "\N{NO-BREAK SPACE}"


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("robot"))


@pytest.fixture(scope="module")
def standing(robot: Robot) -> Verdict:
    return stood(robot)


@pytest.fixture(scope="module")
def falling(robot: Robot) -> Verdict:
    return fallen(robot)


@pytest.fixture(scope="module")
def fall(falling: Verdict) -> Part:
    return verdict_part(falling, Context(falling.clip, falling.robot))


def scene_of(text: str) -> dict:
    script = re.search(r'id="scene-\d+">(.*?)</script>', text)
    assert script is not None
    return json.loads(script.group(1))


def test_a_fall_says_when_why_and_where_before_anything_else(falling: Verdict, fall: Part) -> None:
    fell_at = falling.fell_at
    assert fell_at is not None
    head, reason, _ = fall.sentences
    assert head == f"The robot fell at {fell_at:.2f}{GAP}s of 1.00{GAP}s: it was pushed."
    assert reason == "What came first: push at 0.20 s, pelvis is pushed with 30.0 N s."
    figures = {figure.label: figure for figure in fall.figures}
    assert figures["Verdict"].bad
    assert figures["Cause"].value == "push"
    assert figures["Cause"].note.startswith("pelvis at 0.20")


def test_a_run_that_stands_says_so_and_has_no_cause(standing: Verdict) -> None:
    part = verdict_part(standing, Context(standing.clip, standing.robot))
    assert part.sentences[0].startswith("The robot stood: it did all 1.00")
    labels = {figure.label for figure in part.figures}
    assert "Cause" not in labels
    assert not any(figure.bad for figure in part.figures)
    assert "The fall" not in {block.title for block in part.blocks}


def test_the_fall_is_shown_in_pictures_from_its_cause_to_its_end(
    falling: Verdict, fall: Part
) -> None:
    (block,) = [block for block in fall.blocks if block.title == "The fall"]
    assert block.svgs[0].count("apart</text>") == len(simulation.fall_times(falling)) == 4
    assert ">push</text>" in block.svgs[0]
    assert ">the fall</text>" in block.svgs[0]


def test_the_blocks_stand_in_the_order_in_which_one_asks(fall: Part) -> None:
    titles = [block.title for block in fall.blocks]
    assert titles == [
        "What happened", "The fall", "Simulated over reference", "What the joints used", "Events",
        "Figures", "How it was simulated",
    ]  # fmt: skip


def test_errors_are_distances_from_the_reference(standing: Verdict) -> None:
    """3 cm ahead and 4 cm aside are 5 cm."""
    off = np.array([0.03, 0.04, 0.0])
    trace = moved(
        standing,
        target_root_pos_w=standing.trace.root_pos_w + off,
        target_com_w=standing.trace.com_w - off,
    ).trace
    np.testing.assert_allclose(measured.root_error(trace), 0.05, atol=1e-12)
    np.testing.assert_allclose(measured.com_error(trace), 0.05, atol=1e-12)


def test_the_pressure_has_no_error_where_nothing_presses(standing: Verdict) -> None:
    trace = standing.trace
    valid = np.array(trace.cop_valid)
    valid[:100] = False
    away = measured.pressure_error(moved(standing, cop_valid=valid).trace)
    assert np.isnan(away[:100]).all()
    assert np.isfinite(away[200:]).any()


def test_torque_without_a_limit_uses_nothing_of_it(standing: Verdict) -> None:
    """Of the eight joints of the biped two have a limit: 40 and 90 N m."""
    torque = np.full(standing.trace.torque.shape, -20.0)
    use = measured.torque_use(moved(standing, torque=torque).trace)
    np.testing.assert_allclose(use[0], [0.5, 0.0, 20.0 / 90.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_contact_bars_are_the_schedule_and_what_was_measured(standing: Verdict) -> None:
    """The schedule has the right foot away from 0.4 s to 0.6 s; the robot left it on the ground."""
    bars, rows = measured.contact_bars(standing.trace)
    assert rows == ["left, scheduled", "left foot", "right, scheduled", "right foot"]
    scheduled = [(bar.start, bar.end) for bar in bars if bar.row == "right, scheduled"]
    # Settling begins at −0.2 s, the last frame is held to 1.2 s; steps last 2 ms.
    expected = [(-0.2, LIFT_S), (TOUCH_S, END_S + 0.2)]
    np.testing.assert_allclose(scheduled, expected, atol=0.0041)
    longest = max(bar.end - bar.start for bar in bars if bar.row == "right foot")
    assert longest > TOUCH_S - LIFT_S


def test_a_panel_of_errors_ends_low_in_a_fall_and_above_all_else() -> None:
    """Errors of a fall grow to metres; what led to it happens within centimetres."""
    calm = np.linspace(0.0, 20.0, 1000)
    assert measured.shown_top(calm, False) == pytest.approx(1.15 * 20.0)
    peak = calm.copy()
    peak[500] = 400.0
    assert 20.0 < measured.shown_top(peak, False) < 25.0
    assert measured.shown_top(np.linspace(0.0, 900.0, 1000), True) == 100.0
    assert measured.shown_top(np.zeros(0), False) == 5.0


def test_the_player_has_the_reference_as_a_ghost_and_the_measured_forces(
    standing: Verdict,
) -> None:
    """While it stands the forces of both feet add up to the weight."""
    part = verdict_part(standing, Context(standing.clip, standing.robot))
    solid, ghost = part.actors
    assert (solid.style, solid.behind, ghost.style, ghost.behind) == ("solid", None, "ghost", 0)
    forces = sum(arrow.force for arrow in part.arrows)
    late = part.arrows[0].time > 0.9
    assert forces[late, 2].mean() == pytest.approx(1.0, rel=0.03)
    assert {track.name for track in part.tracks} == {"reference's ZMP", "measured CoP", "CoM"}
    assert len(solid.time) < 100  # 1.4 s at 60 Hz, not at 500


def test_the_player_opens_at_the_fall(falling: Verdict, fall: Part) -> None:
    assert fall.opens_at == falling.fell_at == fall.worst_at


def test_the_index_of_the_report_is_used_again(standing: Verdict) -> None:
    known = feasibility(standing.clip, standing.robot)
    assert simulation.index_of(standing, Context(all=(known, standing))) is known


def test_the_index_is_taken_with_the_friction_of_the_ground(robot: Robot) -> None:
    run = stood(robot, friction=0.4)
    index = simulation.index_of(run, Context(all=(feasibility(run.clip, robot),)))
    assert index.options.friction == 0.4


def test_the_report_of_a_run_does_not_depend_on_how_long_it_took(
    standing: Verdict, tmp_path
) -> None:
    slow = moved(
        replace(standing, seconds=99.0),
        control_s=7.0 * standing.trace.control_s,
        physics_s=np.ones(standing.trace.steps),
    )
    pages = []
    for i, run in enumerate((standing, slow)):
        report([run], tmp_path / f"{i}.html")
        pages.append((tmp_path / f"{i}.html").read_bytes())
    assert pages[0] == pages[1]
    assert b"NaN" not in pages[0]


def test_a_run_has_a_chapter_of_its_own_beside_its_clip(standing: Verdict, tmp_path) -> None:
    clip, robot = standing.clip, standing.robot
    report([clip, feasibility(clip, robot), standing], tmp_path / "r.html", robot=robot)
    text = (tmp_path / "r.html").read_text("utf-8")
    headings = re.findall(r"<h2>([^<]*)</h2>", text)
    assert headings == ["step.csv on biped", "step.csv on biped, in simulation"]
    assert text.count('class="player"') == 2


def test_two_runs_about_one_clip_are_shown_side_by_side(
    standing: Verdict, falling: Verdict, tmp_path
) -> None:
    report([falling, standing], tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text("utf-8")
    scene = scene_of(text)
    assert [actor["behind"] for actor in scene["actors"]] == [None, None, 0, 1]
    assert [actor["label"] for actor in scene["actors"][:2]] == ["second run", "first run"]
    assert "First run: The robot fell at" in text
    assert "Second run: The robot stood" in text
    assert text.count('class="player"') == 1


def test_what_tells_two_runs_apart_is_what_they_are_called(
    standing: Verdict, falling: Verdict
) -> None:
    clip = replace(standing.clip, meta=standing.clip.meta.then("warp"))
    for other, names in (
        (replace(standing, clip=clip), ("before", "after")),
        (replace(standing, controller="pd"), ("holder", "pd")),
        (replace(standing, seed=3), ("seed 0", "seed 3")),
    ):
        (pair,) = paired([standing, other])
        assert isinstance(pair, Trials)
        assert pair.names == names


def test_three_runs_or_two_clips_are_not_put_together(standing: Verdict, falling: Verdict) -> None:
    meta = replace(standing.clip.meta, source="other.csv")
    other = replace(standing, clip=replace(standing.clip, meta=meta))
    for runs in ([standing, falling, standing], [standing, other], [standing]):
        assert paired(runs) == runs


def test_several_runs_are_ranked_those_that_stood_first(
    standing: Verdict, falling: Verdict, tmp_path
) -> None:
    report([falling, standing, falling], tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text("utf-8")
    table = text[text.index('class="ranking"') :]
    assert re.findall(r"<td>(stood|fell)", table)[:3] == ["stood", "fell", "fell"]


def test_a_pair_shows_both_values_of_each_figure(standing: Verdict, falling: Verdict) -> None:
    part = trials_part(Trials(falling, standing, ("before", "after")), Context())
    (verdict, *_) = part.figures
    assert verdict.value == f"fell at {falling.fell_at:.2f}\N{NO-BREAK SPACE}s → stood"
    assert not verdict.bad
    (table,) = [block for block in part.blocks if block.title == "Figures"]
    assert table.head == ("", "before", "after")
    assert table.rows[0][1:] == (f"fell at {falling.fell_at:.2f}\N{NO-BREAK SPACE}s", "stood")


def test_events_of_a_run_that_stood_are_no_causes(falling: Verdict) -> None:
    (fell,) = simulation.events_block(falling)
    (stood_all_the_same,) = simulation.events_block(replace(falling, stood=True, fell_at=None))
    assert fell.text.endswith("What comes late in a fall is its consequence.")
    assert stood_all_the_same.text.endswith("the robot stood all the same.")
    assert {row[3] for row in stood_all_the_same.rows} == {""}
