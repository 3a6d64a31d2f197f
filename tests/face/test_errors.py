"""The drawn tree of errors is the tree of classes; facts become sentences and survive pickling."""

from __future__ import annotations

import pickle
import re

import pytest

from surefoot import errors
from surefoot.errors import BadFile, Defect, Notice, SurefootError, listed, nearest


def _drawn() -> dict[str, tuple[str, str | None]]:
    """Parent and built-in by class, from the drawing at the head of the module."""
    tree: dict[str, tuple[str, str | None]] = {}
    path: list[str] = []
    for line in str(errors.__doc__).splitlines():
        found = re.match(r"^    ([│├└─ ]*)([A-Z]\w+)(?: \((\w+)\))?", line)
        if found:
            depth = len(found[1]) // 4
            path = [*path[:depth], found[2]]
            tree[found[2]] = (path[-2] if depth else "Exception", found[3])
    return tree


def _coded() -> dict[str, tuple[str, str | None]]:
    classes = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, SurefootError)
    ]
    tree = {}
    for kind in classes:
        own = [b for b in kind.__bases__ if issubclass(b, SurefootError)]
        foreign = [b for b in kind.__bases__ if not issubclass(b, SurefootError)]
        parent = own[0].__name__ if own else "Exception"
        tree[kind.__name__] = (parent, foreign[0].__name__ if own and foreign else None)
    return tree


def test_drawing_and_classes_agree() -> None:
    assert len(_coded()) == 12
    assert _drawn() == _coded()


@pytest.mark.parametrize("name", sorted(_coded()))
def test_every_error_survives_a_worker_process(name: str) -> None:
    error = getattr(errors, name)(what="w", where="h", todo="t")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error) == "w (h). t"


def test_every_error_but_a_defect_is_an_exit_code_of_two() -> None:
    codes = {name: getattr(errors, name).exit_code for name in _coded()}
    assert codes.pop("Defect") == 3
    assert set(codes.values()) == {2}


def test_a_sentence_is_one_line_even_when_its_facts_are_not() -> None:
    assert str(BadFile(what="a\nb", where="c\td")) == "a b (c d)"


def test_parts_that_are_not_given_leave_no_trace() -> None:
    assert str(Defect(what="broken")) == "broken"
    assert str(Defect(what="broken", todo="say so")) == "broken. say so"


def test_the_nearest_name_is_offered() -> None:
    assert nearest("left_kne", ["left_knee", "waist"]) == "Did you mean 'left_knee'?"
    assert nearest("zzz", ["b", "a"]) == "Known names: a, b"


def test_ten_faults_are_listed_and_the_rest_counted() -> None:
    assert listed(["x"] * 10) == "; ".join("x" * 10)
    assert listed(["x"] * 13).endswith("; and 3 more")


def test_a_notice_is_one_json_object_with_units() -> None:
    notice = Notice("repair", "frame 0", "dropped", t0=0.0, value=1.5)
    assert notice.summary() == {
        "kind": "repair",
        "part": "frame 0",
        "sentence": "dropped",
        "t0_s": 0.0,
        "t1_s": None,
        "value": 1.5,
        "limit": None,
    }
