"""Many clips through the whole walk: each in its folder, none lost, none done twice."""

from __future__ import annotations

import csv
import json
import pathlib
import shutil

import pytest

import surefoot as sf
from surefoot.cli.main import run as command
from surefoot.errors import BadOption
from surefoot.journeys.several import Results, run
from surefoot.robots.robot import Robot
from surefoot.samples import generator

pytestmark = pytest.mark.slow
FILES = {"report.html", "summary.json", "clip.npz", "adapted.npz", "simulated.npz", "filmstrip.png"}


@pytest.fixture(scope="module")
def robot() -> Robot:
    return sf.load_robot("human25")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A short clip, and a file that is none."""
    place = tmp_path_factory.mktemp("clips")
    human = generator.make("sidestep", seed=3, parameters={"steps": 1.0, "steps_back": 0.0})
    sf.write(human, place / "one step.bvh")
    (place / "broken.bvh").write_text("HIERARCHY\nROOT Hips\n")
    return place


@pytest.fixture(scope="module")
def done(folder: pathlib.Path, robot: Robot, tmp_path_factory: pytest.TempPathFactory) -> Results:
    out = tmp_path_factory.mktemp("out")
    return run(sorted(folder.iterdir()), robot, out)


def test_each_clip_has_its_folder_with_all_files(done: Results) -> None:
    assert {path.name for path in (done.folder / "one step").iterdir()} == FILES


def test_a_failure_is_a_row_and_stops_nobody(done: Results) -> None:
    broken, good = done.rows
    assert "broken.bvh" in str(broken["error"])
    assert good["error"] is None
    assert good["stood"] in (True, False)
    assert done.failed
    assert not done.defects


def test_the_table_and_the_summary_hold_the_rows(done: Results) -> None:
    with (done.folder / "table.csv").open(encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    assert [row["clip"] for row in table] == [row["clip"] for row in done.rows]
    summary = json.loads((done.folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["clips"] == list(done.rows)


def test_what_is_done_is_not_done_again(
    done: Results, folder: pathlib.Path, robot: Robot, tmp_path: pathlib.Path
) -> None:
    shutil.copytree(done.folder, tmp_path / "again")
    report = tmp_path / "again" / "one step" / "report.html"
    report.write_text("kept")
    again = run(sorted(folder.iterdir()), robot, tmp_path / "again")
    assert again.resumed == 1
    assert again.rows[1] == done.rows[1]
    assert report.read_text() == "kept"


def test_an_unfinished_folder_is_done_again(
    done: Results, folder: pathlib.Path, robot: Robot, tmp_path: pathlib.Path
) -> None:
    shutil.copytree(done.folder, tmp_path / "again")
    (tmp_path / "again" / "one step" / "summary.json").unlink()
    again = run([folder / "one step.bvh"], robot, tmp_path / "again")
    assert again.resumed == 0
    assert (tmp_path / "again" / "one step" / "summary.json").exists()


def test_two_clips_of_one_name_are_refused(robot: Robot, tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadOption, match="two clips would share the folder 'walk'"):
        run(["a/walk.bvh", "b/walk.csv"], robot, tmp_path)


def test_no_clip_is_refused(robot: Robot, tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadOption, match="there is no clip to walk"):
        run([], robot, tmp_path)


def test_the_command_gives_two_when_an_input_failed(
    done: Results, folder: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command(["run", str(folder / "broken.bvh"), "-r", "human25", "-o", str(tmp_path / "o"),
                    "--json", "-q"])  # fmt: skip
    assert code == 2
    assert json.loads(capsys.readouterr().out)["clips"][0]["error"]
