"""`surefoot index`: answers, exit codes, files, ranks, and what a stranger does wrong."""

from __future__ import annotations

import csv
import json
import pathlib
import re
from dataclasses import fields, replace

import numpy as np
import pytest

import surefoot as sf
from make.robots import BIPED, PLANAR, written
from make.verdicts import G, lifting, pushed
from surefoot.cli import index_command
from surefoot.cli.index_command import Index
from surefoot.cli.main import run
from surefoot.index.index import Options, feasibility
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

STANDS, LIFTS = "stands.npz", "lifts.npz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A robot, and clips of it: one that can be, one that cannot."""
    folder = tmp_path_factory.mktemp("clips")
    robot = load_robot(written(BIPED, folder, "biped.xml"))
    sf.write(pushed(robot, (0.0, 0.0, 0.0), "left", "right"), folder / STANDS)
    sf.write(lifting(robot), folder / LIFTS)
    written(PLANAR, folder, "planar.xml")
    return folder


@pytest.fixture
def here(
    folder: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> pathlib.Path:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def robot(here: pathlib.Path) -> Robot:
    return load_robot("biped.xml")


def _index(*args: str) -> int:
    return run(["index", *args, "-r", "biped.xml", "--rate", "50", "-q"])


def _json(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, object]]:
    code = _index(*args, "--json")
    said = capsys.readouterr()
    assert said.err == ""
    found = json.loads(said.out)
    assert isinstance(found, dict)
    return code, found


def _error(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert run(["index", *args]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    lines = [line for line in said.err.splitlines() if not line.startswith("surefoot: [")]
    assert len(lines) == 1, said.err
    return lines[0].removeprefix("surefoot: error: ")


def test_the_defaults_of_the_options_are_those_of_the_verb() -> None:
    assert Index(clips=("a",), robot="b").options() == Options()


def test_every_option_of_the_verb_can_be_given() -> None:
    names = {field.name for field in fields(Index)} | {"key_frames"}  # for code that moves frames
    for field in fields(Options):
        assert {field.name, re.sub("_(hz|m)$", "", field.name)} & names, field.name


def test_a_feasible_clip_is_yes_and_an_infeasible_one_no(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _index(STANDS) == 0
    said = capsys.readouterr()
    assert "answer" in said.out
    assert "stands.npz on biped" in said.out
    assert said.err == ""
    assert _index(LIFTS) == 1
    said = capsys.readouterr().out
    assert "not feasible" in said
    assert "tips over the inner edge of the left foot" in " ".join(
        re.sub("[│┃]", " ", said).split()
    )


def test_the_json_is_the_summary_of_the_verb(
    here: pathlib.Path, robot: Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = _json(capsys, LIFTS)
    clip = sf.read(LIFTS)
    assert isinstance(clip, sf.Clip)
    own = json.loads(json.dumps(feasibility(clip, robot, Options(rate_hz=50.0)).summary()))
    for summary in (own, found):
        summary.pop("seconds")
    of_robot = [notice.sentence for notice in robot.notices]
    assert any("feet taken to be" in sentence for sentence in of_robot)
    assert found == own | {"clip": LIFTS, "warnings": of_robot + own["warnings"]}
    assert code == 1


def test_the_clip_is_named_as_it_was_given(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not as the file that it once was made of."""
    (here / "sub").mkdir()
    (here / LIFTS).rename(here / "sub" / "jump.npz")
    assert _json(capsys, "sub/jump.npz")[1]["clip"] == "jump.npz"


def test_all_options_arrive(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = _json(
        capsys, LIFTS, "--friction", "0.3", "--smooth", "8", "--interpolation", "six-frame",
        "--reference", "-1,0,0.5", "--length-scale", "0.5", "--cone-sides", "8", "--sliding",
        "static", "--tolerance-over-weight", "0.5", "--tolerance", "1e-5", "--threads", "2",
        "--torque", "--budget",
    )  # fmt: skip
    wanted = {
        "friction": 0.3, "smoothing_hz": 8.0, "interpolation": "six-frame",
        "reference": "-1,0,0.5", "length_scale_m": 0.5, "cone_sides": 8, "sliding": "static",
        "tolerance_over_weight": 0.5, "tolerance": 1e-5, "rate_hz": 50.0,
    }  # fmt: skip
    assert {key: found[key] for key in wanted} == wanted
    assert code == 0, "half of the weight may be missing"
    assert found["budget"] is not None
    joints = found["joints"]
    assert isinstance(joints, dict)
    assert joints["torque"] is not None


def test_people_are_told_how_it_was_judged(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _index(STANDS, "--cone-sides", "6", "--smooth", "6", "--budget", "--torque") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "50 Hz, spline, smoothing 6 Hz, friction 0.7 in 6-sided cones, moments about base" in said
    )
    assert "how sure" in said
    assert "soles -2 mm" in said
    assert "torque over its limit, at least" in said


def test_the_same_call_gives_the_same_files_with_one_thread_and_with_two(
    here: pathlib.Path,
) -> None:
    for threads in ("1", "2"):
        _index(LIFTS, "--csv", f"{threads}.csv", "--dump", f"{threads}.npz", "--threads", threads)
    for ending in ("csv", "npz"):
        assert (here / f"1.{ending}").read_bytes() == (here / f"2.{ending}").read_bytes()


def test_csv_dump_and_report_are_written(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = _json(capsys, LIFTS, "--csv", "d.csv", "--dump", "d.npz", "-o", "d.html")
    assert code == 1
    with open("d.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == found["samples"]
    with np.load("d.npz", allow_pickle=False) as dump:
        assert dump["d"].shape == (found["samples"],)
        assert float(dump["d_upper"].max()) == found["worst_n"]
    assert pathlib.Path("d.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    left = {path.name for path in here.iterdir()}
    assert not [name for name in left if name.endswith(".part")]


def test_several_clips_are_ranked_best_first(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = _json(capsys, LIFTS, STANDS)
    clips = found["clips"]
    assert isinstance(clips, list)
    assert (code, found["schema"]) == (1, 1)
    assert [row["clip"] for row in clips] == [STANDS, LIFTS]
    assert [row["feasible"] for row in clips] == [True, False]
    assert _json(capsys, STANDS, STANDS)[0] == 0
    assert _index(LIFTS, STANDS) == 1
    said = capsys.readouterr().out
    assert "2 clips on biped" in said
    assert said.index(STANDS) < said.index(LIFTS)


def test_a_clip_that_cannot_be_judged_does_not_stop_the_others(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pathlib.Path("bad.csv").write_text("1,2,3\n4,5,6\n", encoding="utf-8")
    code, found = _json(capsys, "bad.csv", STANDS, "nowhere.npz")
    clips = found["clips"]
    assert isinstance(clips, list)
    assert code == 2
    assert [row["clip"] for row in clips] == [STANDS, "bad.csv", "nowhere.npz"]
    assert clips[0]["feasible"]
    assert set(clips[1]) == {"clip", "error"}
    assert "no such file" in clips[2]["error"]
    assert _index("bad.csv", STANDS) == 2
    said = capsys.readouterr()
    assert "not judged" in said.out
    assert said.err == ""


def test_a_defect_in_one_clip_does_not_lose_the_others(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = index_command.clip_of

    def broken(name: str, *others: object) -> object:
        if name == LIFTS:
            raise RuntimeError("boom")
        return usual(name, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(index_command, "clip_of", broken)
    assert _index(LIFTS, STANDS) == 3
    said = capsys.readouterr()
    assert "yes" in said.out
    assert "lifts.npz: boom" in said.out
    assert said.err.startswith("surefoot: defect: RuntimeError: boom")


def test_a_folder_is_judged_as_a_whole_and_what_is_no_clip_is_said(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "all" / "deeper").mkdir(parents=True)
    (here / STANDS).rename(here / "all" / STANDS)
    (here / LIFTS).rename(here / "all" / "deeper" / LIFTS)
    (here / "all" / "readme.txt").write_text("hello", encoding="utf-8")
    (here / "all" / "cut.npz").write_bytes((here / "all" / STANDS).read_bytes()[:900])
    code, found = _json(capsys, "all")
    warnings = found["warnings"]
    assert isinstance(warnings, list)
    assert warnings[0] == "2 files of no known format are left out: cut.npz; readme.txt"
    assert any("feet taken to be" in sentence for sentence in warnings[1:])
    clips = found["clips"]
    assert isinstance(clips, list)
    names = [pathlib.PurePath(row["clip"]).as_posix() for row in clips]
    assert names == ["all/stands.npz", "all/deeper/lifts.npz"]
    assert code == 1
    run(["index", "all", "-r", "biped.xml", "--rate", "50"])
    said = capsys.readouterr().err
    sentence = "all: 2 files of no known format are left out: cut.npz; readme.txt"
    assert f"surefoot: notice: {sentence}" in said


def test_a_rate_is_for_those_of_several_clips_that_hold_none(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table has no rate, the native clip has one: given alone, that is a contradiction."""
    clip = sf.read(STANDS)
    assert isinstance(clip, Clip)
    sf.write(clip, "stands.csv", format="unitree")
    code, found = _json(capsys, STANDS, "stands.csv", "--fps", f"{clip.motion.fps:g}")
    assert code == 0
    clips = found["clips"]
    assert isinstance(clips, list)
    assert [row["feasible"] for row in clips] == [True, True]
    assert [row["duration_s"] for row in clips] == pytest.approx([clip.motion.duration] * 2)
    run(["index", STANDS, "stands.csv", "-r", "biped.xml", "--fps", "10"])
    assert f"{STANDS} holds its own frame rate: --fps 10 is not used" in capsys.readouterr().err
    assert "the frame rate is in the file" in _error(
        capsys, STANDS, "-r", "biped.xml", "--fps", "10", "-q"
    )


def test_one_file_of_contacts_is_not_that_of_several_clips(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _error(capsys, STANDS, LIFTS, "-r", "biped.xml", "--contacts", "any.toml")
    assert said == (
        "one file of contacts cannot be that of several clips (--contacts). Give one clip"
    )


def test_what_was_assumed_about_each_of_several_clips_is_said(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["index", STANDS, LIFTS, "-r", "biped.xml", "--rate", "50", "--smooth", "6"])
    said = capsys.readouterr().err
    for name in (STANDS, LIFTS):
        assert f"surefoot: notice: {name}: motion: smoothing at 6 Hz moved the root" in said
    assert "feet taken to be" in said


def test_one_report_holds_several_clips(here: pathlib.Path) -> None:
    assert _index(LIFTS, STANDS, "-o", "both.html") == 1
    assert "2 clips on biped" in pathlib.Path("both.html").read_text(encoding="utf-8")


def test_names_that_look_like_markup_are_printed_as_they_are(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a[").mkdir()
    names = ["[bold]a.npz", "a[/b].npz"]
    for name in names:
        pathlib.Path(name).write_bytes((here / STANDS).read_bytes())
        assert _index(name) == 0
        assert name.rpartition("/")[2] in capsys.readouterr().out
    assert _index(*names) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in names)


def test_a_person_is_retargeted_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["index", "sidestep", "-r", "human25", "--rate", "10"]) in (0, 1)
    said = capsys.readouterr()
    sentence = "sidestep: a person's motion, retargeted to human25 with the default options"
    assert sentence in said.err
    assert "sidestep on human25" in said.out


def test_contacts_that_were_found_are_said_and_can_be_given(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clip = sf.read(STANDS)
    assert isinstance(clip, sf.Clip)
    m = clip.motion
    table = np.concatenate([m.root_pos, m.root_quat[:, [1, 2, 3, 0]], m.joint_pos], axis=1)
    np.savetxt("bare.csv", table, delimiter=",")
    run(["index", "bare.csv", "-r", "biped.xml", "--fps", "20"])
    assert "contacts: the file carries no contacts; 2 stances were found" in capsys.readouterr().err
    pathlib.Path("left.toml").write_text(
        'schema = 1\n[[stance]]\nlink = "left_foot"\nstart_s = 0.0\nend_s = 0.5\nmode = "face"\n',
        encoding="utf-8",
    )
    given = ["bare.csv", "--fps", "20", "--contacts", "left.toml"]
    code, found = _json(capsys, *given)
    assert (code, found["feasible_fraction"]) == (1, 0.0)
    worst = 0.05 / np.sqrt(0.05**2 + 0.85**2 + 1.0)
    assert found["worst_over_weight"] == pytest.approx(worst, rel=1e-6)
    assert found["weight_n"] == pytest.approx(16.0 * G)


def test_a_planar_robot_is_told_what_is_asked_of_it(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flat = load_robot("planar.xml")
    sf.write(pushed(flat, (0.0, 0.0, 0.0), "left", "right"), "flat.npz")
    capsys.readouterr()
    assert run(["index", "flat.npz", "-r", "planar.xml", "--rate", "20", "--dump", "d.npz"]) == 0
    assert "the robot moves in a plane" in capsys.readouterr().err
    assert run(["verify", "d.npz", "-q"]) == 0


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--rate", "0"], "the rate must lie between 0 and 1000 samples a second, got 0"),
        (["--rate", "5000"], "the rate must lie between 0 and 1000 samples a second, got 5000"),
        (["--cone-sides", "2"], "a friction pyramid has 3 sides or more, got 2. 0 means circular"),
        (["--tolerance", "2"], "the tolerance must lie between 1e-09 and 0.1, got 2"),
        (["--smooth", "abc"], "expected a frequency in Hz or 'none', got 'abc' (--smooth)"),
        (["--smooth", "-3"], "the smoothing must be a positive number of hertz, got -3"),
        (["--reference", "1,2"], "expected base, com, origin or X,Y,Z, got '1,2' (--reference)"),
        (["--reference", "bse"], "expected a reference of base, com, origin or X,Y,Z, got 'bse'"),
        (["--reference", "1,2,nan"], "expected a reference of base, com, origin or X,Y,Z"),
        (["--friction", "-1"], "friction must be 0 or more, got -1"),
        (["--friction", "some"], "--friction cannot be 'some'"),
        (["--length-scale", "0"], "the length scale must be positive, got 0.0 m"),
        (["--threads", "0"], "threads must be at least 1, got 0"),
        (["--contact-carry-mps", "-1"], "carry_mps must be 0 or more, got -1"),
        (["-o", "a.pdf"], "expected a file that ends in .html, got 'a.pdf' (-o)"),
        (["--csv", "none/a.csv"], "there is no such folder (--csv none). Name a file in a folder"),
        (["--dump", "."], "this is a folder (--dump .). Name a file in a folder"),
        (["--csv", STANDS], "'stands.npz' is a clip or another output (--csv). Name another"),
        (["--csv", "a", "--dump", "a"], "'a' is a clip or another output (--dump)"),
        (["--contacts", "none.toml"], "no such file (none.toml)"),
        (["--terrain", "none.toml"], "no such file (none.toml)"),
        (["--frictoin", "1"], "Did you mean --friction?"),
    ],
)
def test_a_wrong_call_is_one_line_and_writes_nothing(
    args: list[str], sentence: str, here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    said = _error(capsys, STANDS, "-r", "biped.xml", "-q", *args)
    assert sentence in said
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


def test_options_are_refused_once_and_not_once_a_clip(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for args in (["--rate", "0"], ["--contact-carry-mps", "-1"], ["--reference", "bse"]):
        _error(capsys, STANDS, LIFTS, "-r", "biped.xml", *args)


@pytest.mark.parametrize("option", ["--csv", "--dump"])
def test_one_file_cannot_hold_several_clips(
    option: str, here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _error(capsys, STANDS, LIFTS, "-r", "biped.xml", option, "d")
    assert said == f"one file cannot hold several clips ({option}). Give one clip"


def test_a_folder_that_cannot_be_written_leaves_nothing_behind(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object) -> None:
        raise PermissionError(13, "Permission denied")

    before = {path.name for path in here.iterdir()}
    monkeypatch.setattr("os.replace", refused)
    said = _error(capsys, STANDS, "-r", "biped.xml", "--rate", "20", "--dump", "d.npz", "-q")
    assert said.startswith("cannot be written: Permission denied")
    assert {path.name for path in here.iterdir()} == before


def test_nothing_to_judge_is_a_wrong_call(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "empty").mkdir()
    todo = "Give files, folders, or the name of a bundled clip"
    said = _error(capsys, "-r", "biped.xml")
    assert said == f"there is no clip to judge (no CLIP was given). {todo}"
    said = _error(capsys, "empty", "-r", "biped.xml")
    assert said == f"there is no clip to judge (empty). {todo}"
    assert _error(capsys, STANDS).startswith("missing --robot (surefoot index)")


def test_an_empty_folder_beside_clips_is_a_row(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "empty").mkdir()
    code, found = _json(capsys, "empty", STANDS)
    clips = found["clips"]
    assert isinstance(clips, list)
    assert code == 2
    assert [row["clip"] for row in clips] == [STANDS, "empty"]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (
            ["sidestp", "-r", "biped.xml"],
            "neither a file nor a bundled clip (sidestp). Did you mean 'sidestep'?",
        ),
        (["walk.npz", "-r", "biped.xml"], "no such file (walk.npz). Check the path"),
        ([STANDS, "-r", "human5"], "no robot 'human5' in the zoo. Did you mean 'human25'?"),
    ],
)
def test_misspelt_names_are_answered_with_the_nearest(
    args: list[str], sentence: str, here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _error(capsys, *args).startswith(sentence)


def test_a_table_with_another_number_of_columns_is_refused(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savetxt("wide.csv", np.ones((5, 9)), delimiter=",")
    said = _error(capsys, "wide.csv", "-r", "biped.xml", "-q")
    assert said.startswith("expected 8 joint columns for robot 'biped', got 2 (wide.csv)")


def test_a_slow_robot_is_given_in_words(
    here: pathlib.Path, robot: Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    clip = pushed(robot, (4.0, 0.0, 0.0), "left", "right", friction=1.0)
    sf.write(replace(clip, notices=()), "push.npz")
    assert _index("push.npz") == 1
    assert re.search(r"at a uniform speed of +│ 0\.\d{3} of its own", capsys.readouterr().out)
    _index("push.npz", STANDS)
    said = capsys.readouterr().out
    assert "0.466" in said or re.search(r"0\.\d{3} +│", said)


def test_narrow_plain_terminals_are_served(
    here: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("COLUMNS", "20"), ("TERM", "dumb"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    assert _index(LIFTS) == 1
    assert "\x1b" not in capsys.readouterr().out
