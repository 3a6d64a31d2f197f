"""The page of a report: whole, offline, escaped, the same bytes again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import numpy as np
import pytest

import surefoot
from make.walkers import swaying_clip, walker
from surefoot.contacts.balance import Balance, balance
from surefoot.contacts.support import Support
from surefoot.errors import BadInput, NoFile, Notice
from surefoot.motion.contact import ContactSchedule
from surefoot.motion.motion import Meta
from surefoot.reports import page
from surefoot.reports.page import report

OUTSIDE = "of the time the ZMP lies outside the support"
INSIDE = "The ZMP stays inside the support at all times"
VOID = {"meta", "input", "br", "link", "img", "hr"}


class Reader(HTMLParser):
    """Reads a page, minds that elements close, and keeps what tests ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [str(value) for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def finding(outside_m: list[float], *, at: float = 3.2) -> Balance:
    """A balance with the given distances, the first of them at `at` s."""
    n = len(outside_m)
    corners = np.array([[-0.1, -0.1, 0.0], [0.1, -0.1, 0.0], [0.1, 0.1, 0.0], [-0.1, 0.1, 0.0]])
    judged = np.isfinite(outside_m)
    return Balance(
        robot="walker",
        clip="made",
        time=at + 0.01 * np.arange(n),
        wrench_w=np.tile((10.0, 0.0, 100.0, 0.0, 0.0, 0.0), (n, 1)),
        zmp_w=np.zeros((n, 3)),
        zmp_defined=judged,
        com_w=np.tile((0.0, 0.0, 0.9), (n, 1)),
        support=Support(np.tile(corners, (n, 1, 1)), 4 * judged.astype(np.int64)),
        outside_m=np.array(outside_m),
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The text of a report on a clip and its balance."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    robot = walker()
    clip = swaying_clip(robot)
    report([clip, balance(clip, robot)], path, robot=robot)
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
    return path.read_text("utf-8")


def test_a_page_is_well_formed_with_unique_ids(written):
    reader = read(written)
    assert len(reader.ids) == len(set(reader.ids))
    assert reader.tags.count("figure") == 1


def test_a_page_asks_for_nothing_from_the_network(written):
    assert re.findall(r"https?://|//cdn|@import|src=", written.replace("www.w3.org", "")) == [
        "http://"  # the name of the SVG name space, in the player's script
    ]
    assert "content=\"default-src 'none';" in written


def test_a_page_says_what_was_found_first(written):
    text = " ".join(read(written).text.split())
    assert re.search(
        r"For \d+ % of the time the ZMP lies outside the support; worst \d+ mm at \d\.\d\d s\.",
        text,
    )
    for words in ("sway.bvh on walker", "right_foot", "edge (toe), moving", "frame 3 was filled"):
        assert words in text
    for words in (
        "0.10 s to 0.20 s",
        "retarget, scale 0.9",
        f"surefoot {surefoot.__version__}",
    ):
        assert words in text


@pytest.mark.slow
def test_the_same_values_give_the_same_bytes(written, tmp_path):
    robot = walker()
    clip = swaying_clip(robot)
    report([clip, balance(clip, robot)], tmp_path / "again.html", robot=robot)
    assert (tmp_path / "again.html").read_text("utf-8") == written


def test_the_players_data_are_json_without_a_way_out_of_the_script(written):
    found = re.search(r'<script type="application/json" id="scene-0">(.*?)</script>', written, re.S)
    assert found is not None
    data = json.loads(found.group(1))
    assert [actor["name"] for actor in data["actors"]] == ["walker"]
    assert [track["name"] for track in data["tracks"]] == ["ZMP", "CoM"]
    assert "<" not in found.group(1)


def test_hostile_names_stay_text(tmp_path):
    evil = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    robot = replace(walker(), name=evil)
    clip = swaying_clip(robot, source=evil)
    report([clip, balance(clip, robot)], tmp_path / "r.html", robot=robot, title=evil)
    text = (tmp_path / "r.html").read_text("utf-8")
    reader = read(text)
    assert "img" not in reader.tags
    assert reader.tags.count("script") == 2  # data and player
    assert evil in reader.text


def test_dollars_in_names_are_not_placeholders(tmp_path):
    robot = walker()
    report([swaying_clip(robot)], tmp_path / "r.html", robot=robot, title="$body ${style} $$")
    assert "<h1>$body ${style} $$</h1>" in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("outside_m", "sentence"),
    [
        # one of four judged samples is outside, by 46 mm, at 3.2 s
        ([0.046, -0.01, -0.02, -0.03], f"For 25 % {OUTSIDE}; worst 46 mm at 3.20 s."),
        ([0.0012] + [-0.1] * 999, f"For less than 1 % {OUTSIDE}; worst 1.2 mm at 3.20 s."),
        ([-0.046, -0.012], f"{INSIDE}; the smallest margin is 12 mm at 3.21 s."),
        ([np.inf, np.inf], "The ZMP cannot be judged: nothing stands at any moment."),
        (
            [-0.0462, np.inf],
            "For 50 % of the clip nothing stands, or nothing presses: not counted.",
        ),
    ],
)
def test_a_balance_is_said_in_a_sentence(outside_m, sentence, tmp_path):
    report([finding(outside_m)], tmp_path / "r.html")
    assert sentence in read((tmp_path / "r.html").read_text("utf-8")).text


def test_a_balance_of_another_clip_gets_a_chapter_of_its_own(tmp_path):
    robot = walker()
    report([swaying_clip(robot), finding([0.1, 0.2])], tmp_path / "r.html", robot=robot)
    assert read((tmp_path / "r.html").read_text("utf-8")).tags.count("article") == 2


@pytest.mark.slow
def test_two_clips_are_two_chapters_with_their_own_players(tmp_path):
    robot = walker()
    clips = [swaying_clip(robot), swaying_clip(robot, source="second.bvh")]
    values = [clips[0], clips[1], balance(clips[1], robot), balance(clips[0], robot)]
    report(values, tmp_path / "r.html", robot=robot)
    reader = read((tmp_path / "r.html").read_text("utf-8"))
    assert (reader.tags.count("article"), reader.tags.count("figure")) == (2, 2)
    assert len(reader.ids) == len(set(reader.ids))
    text = reader.text
    assert text.index("second.bvh on walker", 60) < text.rindex("ZMP lies outside")


@pytest.mark.slow
def test_a_balance_goes_to_the_clip_of_its_robot(tmp_path):
    """Two robots made the same clip: the names tell them apart, whatever the order."""
    robot = walker()
    clip = swaying_clip(robot)
    own = balance(clip, robot)
    report([clip, replace(own, robot="other")], tmp_path / "r.html", robot=robot)
    assert read((tmp_path / "r.html").read_text("utf-8")).tags.count("article") == 2
    report([own, clip], tmp_path / "r.html", robot=robot)
    assert read((tmp_path / "r.html").read_text("utf-8")).tags.count("article") == 1


def test_a_clip_of_one_frame_without_stances_is_shown(tmp_path):
    robot = walker()
    clip = replace(swaying_clip(robot), contacts=ContactSchedule())
    still = replace(clip, motion=robot.motion(np.array(robot.home)[None], np.zeros(1)))
    report([still], tmp_path / "r.html", robot=robot)
    assert "Nothing stands at any moment" in (tmp_path / "r.html").read_text("utf-8")


def test_nothing_to_show_is_refused(tmp_path):
    with pytest.raises(BadInput) as caught:
        report([], tmp_path / "r.html")
    assert caught.value.sentence == "no value to report. Give a list such as [clip, balance]"


def test_a_value_that_no_report_knows_is_refused(tmp_path):
    @dataclass
    class Weather:
        rain: bool = True

    with pytest.raises(BadInput) as caught:
        report([Weather()], tmp_path / "r.html")
    assert caught.value.sentence == (
        "no report can show a Weather. It can show: Adaptation, Balance, Clip, Feasibility, Verdict"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_clip_without_a_robot_is_refused(tmp_path):
    clip = replace(swaying_clip(walker()), robot="")
    with pytest.raises(BadInput) as caught:
        report([clip], tmp_path / "r.html")
    assert caught.value.sentence == (
        "the clip names no robot (sway.bvh). Give report(..., robot=surefoot.load_robot(NAME))"
    )


def test_a_robot_that_the_zoo_does_not_know_is_refused(tmp_path):
    clip = replace(swaying_clip(walker()), robot="walker", meta=Meta())
    with pytest.raises(BadInput) as caught:
        report([clip], tmp_path / "r.html")
    assert caught.value.what.startswith("robot 'walker' of the clip cannot be loaded: ")
    assert caught.value.sentence.endswith(
        "(report). Give report(..., robot=surefoot.load_robot(PATH))"
    )


def test_a_report_that_cannot_be_written_leaves_nothing(tmp_path):
    robot = walker()
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(NoFile, match="the file cannot be written"):
        report([swaying_clip(robot)], tmp_path / "folder.html", robot=robot)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


def test_a_long_table_is_folded_and_cut_with_a_count(tmp_path):
    robot = walker()
    notices = tuple(Notice("repair", "made", f"fault number {i}") for i in range(250))
    clip = replace(swaying_clip(robot), notices=notices)
    report([clip], tmp_path / "r.html", robot=robot)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert text.count("fault number ") == 200
    assert "<summary>250 rows</summary>" in text
    assert "<p>and 50 more</p>" in text


def test_every_row_of_the_table_of_drawers_resolves_and_is_documented():
    from importlib import import_module

    for value, drawer in page.DRAWERS.items():
        for row in (value, drawer):
            module, name = row.split(":")
            assert getattr(import_module(module), name).__doc__
