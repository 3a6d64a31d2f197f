"""The first walk, as a newcomer takes it."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import surefoot as sf
from surefoot import journeys
from surefoot.cli.main import run
from surefoot.errors import NoFile, UnknownName
from surefoot.journeys import Walk, demo

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    return demo(folder=tmp_path_factory.mktemp("walk") / "a" / "b")


def test_the_folder_holds_the_files_of_the_public_face(walk: Walk) -> None:
    assert {path.name for path in walk.folder.iterdir()} == {
        "report.html",
        "summary.json",
        "clip.npz",
        "adapted.npz",
        "simulated.npz",
        "filmstrip.png",
    }


def test_the_summary_nests_the_figures_of_each_station(walk: Walk) -> None:
    summary = json.loads((walk.folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["robot"] == "human25"
    assert {"outside_fraction", "worst_outside_m"} <= set(summary["index"]["zmp"])
    assert not summary["index"]["feasible"]
    assert summary["adapt"]["status"] == "mended"
    assert summary["index_after"]["feasible"]
    assert summary["simulate"]["stood"]
    assert summary["simulate"]["root_error_max_m"] < 0.05  # feasible, so tracked
    assert summary["simulate"]["root_error_max_m"] < summary["simulate_before"]["root_error_max_m"]
    wanted = {
        "frames", "fps", "robot", "scale", "skate_mean_mps", "penetration_max_m", "float_median_m",
        "joint_jumps", "position_limit_violations", "limb_error_deg", "contact_fraction", "terrain",
        "repaired", "seconds", "frames_per_second",
    }  # fmt: skip
    assert wanted <= set(summary["retarget"])


def test_the_clip_that_was_written_is_the_clip_that_was_judged(walk: Walk) -> None:
    again = sf.read(walk.folder / "clip.npz")
    assert isinstance(again, sf.Clip)
    assert again.robot == "human25"
    assert np.array_equal(again.motion.joint_pos, walk.clip.motion.joint_pos)
    assert len(again.contacts.stances) == len(walk.clip.contacts.stances)


def test_a_person_shifts_the_weight_too_late_for_a_robot(walk: Walk) -> None:
    """The bundled clip is human: at some moments it is infeasible, mostly it is not."""
    found = walk.index
    assert 0.4 < found.feasible.mean() < 0.99
    assert found.converged.all()
    for segment in found.segments():
        assert segment.limit == "tipping"
        assert walk.clip.motion.time[0] <= segment.start_s <= segment.end_s
        assert segment.end_s <= walk.clip.motion.time[-1]


def test_mean_vertical_force_is_the_weight(walk: Walk) -> None:
    """Momentum balance: from rest to rest the mean force is 9.81 m/s² times the mass."""
    robot = sf.load_robot("human25")
    once = walk.index.samples.side <= 0  # a contact change stands twice
    mean = walk.index.samples.wrench[once, 2].mean()
    assert mean == pytest.approx(9.81 * robot.mass, rel=0.01)


def test_feet_keep_to_the_ground_where_the_person_stands(walk: Walk) -> None:
    links = walk.clip.contacts.links
    assert any("left" in link for link in links)
    assert any("right" in link for link in links)
    figures = walk.figures["retarget"]
    assert isinstance(figures, dict)
    assert figures["contact_fraction"] > 0.95
    assert figures["limb_error_deg"] < 2.0
    assert figures["joint_jumps"] == 0


def test_the_command_walks_the_same_to_the_last_byte_and_prints_a_table(
    walk: Walk, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "-o", str(tmp_path / "d"), "-q"]) == 0
    said = capsys.readouterr()
    assert "ZMP outside the support" in said.out
    assert "report.html" in said.out
    assert said.err == ""
    for name in ("clip.npz", "adapted.npz", "simulated.npz", "filmstrip.png", "report.html"):
        assert (tmp_path / "d" / name).read_bytes() == (walk.folder / name).read_bytes(), name


def test_the_command_gives_the_summary_as_json(
    walk: Walk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a walk that was walked before: what is printed is what lies in the folder."""
    monkeypatch.setattr(journeys, "demo", lambda *args, **options: walk)
    assert run(["demo", "-o", str(walk.folder), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((walk.folder / "summary.json").read_text(encoding="utf-8"))


def test_an_unknown_clip_is_refused_before_anything_is_made(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "out"
    with pytest.raises(UnknownName, match="Did you mean 'sidestep'"):
        demo("sidestp", folder=folder)
    assert not folder.exists()


def test_a_folder_that_is_a_file_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(NoFile, match="cannot make the folder"):
        demo(folder=tmp_path / "out")
