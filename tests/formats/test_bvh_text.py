"""The grammar of BVH: what is accepted, and one sentence with its line for every fault."""

from __future__ import annotations

import numpy as np
import pytest

from make.clips import NAMES, PARENTS, bvh_text
from surefoot.errors import BadFile
from surefoot.formats.bvh_text import parsed

SMALL = """HIERARCHY
ROOT Hips
{
\tOFFSET 0.00 1.00 0.00
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
\tJOINT Leg
\t{
\t\tOFFSET 0.00 -1.00 0.00
\t\tCHANNELS 3 Zrotation Yrotation Xrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0.00 0.00 0.25
\t\t}
\t}
}
MOTION
Frames: 2
Frame Time: 0.5
0 1 0 10 20 30 40 50 60
0 2 0 11 21 31 41 51 61
"""

TURNS = "CHANNELS 3 Zrotation Yrotation Xrotation"
COUNTED = "CHANNELS needs a count from 0 to 6 and as many names"


def _faults(text: str) -> str:
    with pytest.raises(BadFile) as raised:
        parsed(text, "x.bvh")
    return str(raised.value)


def test_the_small_file_is_read_as_written() -> None:
    joints, values, frame_time = parsed(SMALL, "x.bvh")
    assert [(j.name, j.parent, j.offset, j.end) for j in joints] == [
        ("Hips", -1, (0.0, 1.0, 0.0), None),
        ("Leg", 0, (0.0, -1.0, 0.0), (0.0, 0.0, 0.25)),
    ]
    assert values.tolist() == [[0, 1, 0, 10, 20, 30, 40, 50, 60], [0, 2, 0, 11, 21, 31, 41, 51, 61]]
    assert frame_time == 0.5


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("\n", "\r"),
        SMALL.replace("\n", "\r\n").replace("ROOT Hips\r\n", "ROOT Hips\n"),
        SMALL.replace("\t", " "),
        SMALL.replace("\t", ""),
        SMALL.replace("Hips\n{", "Hips {"),
        SMALL.replace("\n{", " {").replace("\n\t{", "{"),
        SMALL.replace("Frames: ", "Frames:\t").replace("Time: ", "Time:\t"),
        SMALL.replace("rotation\n", "rotation \n").replace("0 30 ", "0 30\t"),
        SMALL.rstrip("\n"),
        SMALL + "\n\n",
        SMALL.replace("HIERARCHY", "hierarchy").replace("JOINT", "joint").replace("ROOT", "Root"),
        SMALL.replace("End Site", "End Site  Toe tip"),
        SMALL.replace("ROOT Hips", "ROOT mixamorig:Hips"),
        SMALL.replace("1.00", "1.").replace("0.25", "2.5e-01").replace("-1.", "-1.0e+00"),
        SMALL.replace(" 30 40 ", " 30\n40 ").replace(" 31 41 ", "\n31 41 "),
        "\n" + SMALL,
    ],
    ids=[
        "crlf", "cr", "mixed ends", "blanks", "no indent", "brace on the line", "braces on lines",
        "tabs", "trailing blanks", "no last newline", "empty lines at the end", "lower case",
        "named end site", "prefix", "exponents", "wrapped rows", "empty first line",
    ],
)  # fmt: skip
def test_dialects_say_the_same(text: str) -> None:
    expected, values, _ = parsed(SMALL, "x.bvh")
    joints, found, _ = parsed(text, "x.bvh")
    assert [(j.name, j.parent, j.offset, j.channels, j.end) for j in joints] == [
        (j.name, j.parent, j.offset, j.channels, j.end) for j in expected
    ]
    assert np.array_equal(found, values)


def test_names_with_blanks_are_joined() -> None:
    joints, _, _ = parsed(SMALL.replace("JOINT Leg", "JOINT Left  Leg"), "x.bvh")
    assert joints[1].name == "Left_Leg"


def test_a_leaf_without_end_site_and_an_end_site_after_a_joint_are_read() -> None:
    """Xsens files have a prop and an end site below one wrist."""
    site = "\t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0.00 0.00 0.25\n\t\t}\n"
    prop = "\t\tJOINT Prop\n\t\t{\n\t\t\tOFFSET 1 0 0\n\t\t\tCHANNELS 0\n\t\t}\n"
    joints, _, _ = parsed(SMALL.replace(site, prop + site), "x.bvh")
    assert [(j.name, j.end) for j in joints[1:]] == [("Leg", (0.0, 0.0, 0.25)), ("Prop", None)]


def test_the_tree_of_a_person_is_read_as_it_was_written() -> None:
    joints, _, _ = parsed(bvh_text(), "x.bvh")
    assert tuple(j.name for j in joints) == NAMES
    assert tuple(j.parent for j in joints) == PARENTS


def test_a_thousand_nested_joints_are_read_and_one_more_is_refused() -> None:
    def nested(depth: int) -> str:
        rows = [f"JOINT j{i} {{ OFFSET 0 1 0\nCHANNELS 1 Xrotation" for i in range(depth)]
        rows[0] = rows[0].replace("JOINT", "ROOT")
        numbers = " ".join(["0"] * depth)
        head = "HIERARCHY\n" + "\n".join(rows) + "\n" + "}\n" * depth
        return f"{head}MOTION\nFrames: 1\nFrame Time: 0.1\n{numbers}\n"

    assert len(parsed(nested(1000), "x.bvh")[0]) == 1000
    assert "line 2002: more than 1000 joints (x.bvh)" in _faults(nested(1001))
    assert "more than 1000 joints" in _faults(nested(100_000))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("{\n\tOFFSET", "\n\tOFFSET", "line 4: expected a brace, got 'OFFSET'"),
        ("\t}\n}\n", "\t}\n", "line 15: the brace of 'Hips' is not closed before MOTION"),
        ("\t\t}\n", "", "line 15: the brace of 'Hips' is not closed before MOTION"),
        ("}\nMOTION", "}\n}\nMOTION", "line 16: '}' does not belong here"),
        ("MOTION", "", "line 17: 'Frames:' does not belong here"),
        ("\tJOINT Leg", "\tROOT Leg", "line 6: a second ROOT 'Leg': one skeleton a file is read"),
        ("ROOT Hips", "JOINT Hips", "line 2: joint 'Hips' has no parent"),
        ("JOINT Leg", "JOINT Hips", "line 6: joint 'Hips' is named twice"),
        ("JOINT Leg", "JOINT", "line 6: JOINT needs a name, got ''"),
        ("JOINT Leg", "JOINT \x1b[31mLeg", "line 6: JOINT needs a name, got '?[31mLeg'"),
        ("-1.00 0.00", "-1.00", "line 8: OFFSET needs 3 numbers"),
        ("-1.00 0.00", "-1.00 nan", "line 8: OFFSET needs 3 numbers"),
        ("-1.00 0.00", "-1.00 1e300", "line 8: OFFSET needs 3 numbers"),
        ("\t\tOFFSET 0.00 -1.00 0.00\n", "", "line 6: joint 'Leg' has no OFFSET"),
        (
            "\t\tCHANNELS 3 Zrotation Yrotation Xrotation\n",
            "",
            "line 6: joint 'Leg' has no CHANNELS",
        ),
        (
            "CHANNELS 3",
            "CHANNELS 7",
            "line 9: CHANNELS needs a count from 0 to 6 and as many names",
        ),
        (
            "CHANNELS 3",
            "CHANNELS 2",
            "line 9: CHANNELS needs a count from 0 to 6 and as many names",
        ),
        ("CHANNELS 3 Z", "CHANNELS 3 W", "line 9: unknown channel 'wrotation'"),
        ("CHANNELS 3 Z", "CHANNELS 3 X", "line 9: a channel is named twice"),
        ("End Site", "Beginning Site", "line 10: 'Beginning' does not belong here"),
        ("Frames: 2", "Frames: 0", "line 17: Frames must be 1 or more, got '0'"),
        ("Frames: 2", "Frames: -2", "line 17: Frames must be 1 or more, got '-2'"),
        ("Frames: 2\n", "", "line 16: no line 'Frames:' follows MOTION"),
        ("Frames: 2", "Frames: 1000000000", "Frames promises 1000000000, the file holds 2: it is"),
        ("Frames: 2", "Frames: 1", "Frames promises 1, the file holds 2"),
        ("Frames: 2", "Frames: 3", "Frames promises 3, the file holds 2: it is truncated"),
        ("Time: 0.5", "Time: 0", "line 18: Frame Time must be 0.0005 to 1 s, got '0'"),
        ("Time: 0.5", "Time: -1", "line 18: Frame Time must be 0.0005 to 1 s, got '-1'"),
        ("Time: 0.5", "Time: nan", "line 18: Frame Time must be 0.0005 to 1 s, got 'nan'"),
        ("Time: 0.5", "Time: 1e9", "line 18: Frame Time must be 0.0005 to 1 s, got '1e9'"),
        ("Time: 0.5", "Time: 30 fps", "line 18: Frame Time must be 0.0005 to 1 s, got '30 fps'"),
        ("Frame Time: 0.5\n", "", "line 16: no line 'Frame Time:' follows MOTION"),
        (" 50 60", " 50", "line 19: frame 0 needs 9 numbers, this line has 8"),
        (" 51 61", " 51", "line 20: frame 1 needs 9 numbers, this line has 8"),
        (" 50 60", " 50 60 70", "line 19: frame 0 needs 9 numbers, this line has 10"),
        (" 50 60", " 50 6o", "line 19: '6o' is no number that fits here"),
        (" 50 60", " 50 inf", "line 19: 'inf' is no number that fits here"),
        (" 51 61", " nan 61", "line 20: 'nan' is no number that fits here"),
        (" 51 61", " 51,61", "line 20: '51,61' is no number that fits here"),
        ("Hips", "Hips " + 11_000 * "x", "line 2: a line of 11010 signs before MOTION"),
    ],
)
def test_a_fault_is_said_with_its_line(old: str, new: str, sentence: str) -> None:
    assert old in SMALL
    assert sentence in _faults(SMALL.replace(old, new, 1))


def test_a_row_that_gives_what_the_next_lacks_is_refused() -> None:
    """The sum is right, the columns are not."""
    text = SMALL.replace(" 50 60", " 50").replace("0 2 0", "60 0 2 0")
    assert "line 19: frame 0 needs 9 numbers, this line has 8" in _faults(text)


def test_all_faults_of_a_file_are_said_together() -> None:
    text = SMALL.replace("CHANNELS 3 Z", "CHANNELS 3 W").replace("0.5", "0").replace("61", "x")
    sentence = _faults(text)
    for line in ("line 9:", "line 18:", "line 20:"):
        assert line in sentence


def test_many_faults_are_counted() -> None:
    sentence = _faults(SMALL.replace("0 1 0 10", "x " * 30))
    assert sentence.count("is no number") == 10
    assert "; and 20 more (x.bvh)" in sentence


@pytest.mark.parametrize("text", ["", "HIERARCHY", "HIERARCHY\nROOT Hips\n{"])
def test_what_ends_before_motion_is_refused(text: str) -> None:
    assert "the file ends before MOTION" in _faults(text)


def test_no_root_is_refused() -> None:
    assert "no ROOT before MOTION" in _faults("HIERARCHY\nMOTION\nFrames: 1\nFrame Time: 0.1\n\n")


def test_end_sites_do_not_nest() -> None:
    text = SMALL.replace("\t\t\tOFFSET 0.00 0.00 0.25", "End Site { OFFSET 0 0 1 }")
    assert "line 12: End Site belongs to no joint" in _faults(text)
    assert "line 2: End Site belongs to no joint" in _faults("HIERARCHY\nEnd Site {\nOFFSET 0 0 0")


def test_a_long_foreign_text_is_given_up_early() -> None:
    assert "and 991 more" in _faults("HIERARCHY\n" + "lorem ipsum\n" * 100_000)


@pytest.mark.parametrize("text", ["hello\nworld\n" * 50, "\n# made by hand\n" + SMALL])
def test_what_does_not_begin_with_hierarchy_is_refused_by_its_first_word(text: str) -> None:
    """Fifty faults of a file that is something else said nothing."""
    word, line = ("hello", 1) if text.startswith("hello") else ("#", 2)
    assert _faults(text) == (
        f"line {line}: '{word}' does not belong here: BVH begins with HIERARCHY (x.bvh)"
    )
