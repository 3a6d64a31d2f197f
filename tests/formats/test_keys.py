"""Arrays of a file by type and shape: what does not fit is gathered and said together."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import BadFile
from surefoot.formats import keys as module
from surefoot.formats.keys import Keys, first_not_finite


def _refusal(keys: Keys) -> str:
    with pytest.raises(BadFile) as raised:
        keys.refuse()
    return str(raised.value)


def test_what_fits_is_given_as_floats() -> None:
    keys = Keys({"a": np.arange(6, dtype=np.int8).reshape(2, 3), "b": np.zeros((2, 1, 3))}, "x")
    assert keys.frames("a", 3).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert keys.frames("a", -1).dtype == np.float64
    assert keys.points("b").shape == (2, 1, 3)
    assert keys.rate("c") == 1.0
    assert _refusal(keys) == "no array 'c' (x). docs/formats.md has every key"


def test_more_values_than_are_read_are_refused_before_they_become_objects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_NUMBERS", 10)
    monkeypatch.setattr(module, "MAX_WORDS", 3)
    keys = Keys({"a": np.zeros((4, 3), dtype=np.int8), "b": np.array(["a"] * 4)}, "x")
    assert keys.frames("a", 3).shape == (0, 3)
    assert keys.texts("b") == ()
    assert _refusal(keys).startswith(
        "'a' holds 12 values, at most 10 are read; 'b' holds 4 values, at most 3 are read (x)."
    )


def test_the_first_number_that_is_none_is_named() -> None:
    assert first_not_finite(np.zeros((3, 2))) == ""
    assert first_not_finite(np.array([[0.0, 1.0], [np.inf, np.nan]])) == "inf at frame 1, column 0"


def test_numbers_of_frames_that_differ_are_said_once() -> None:
    keys = Keys({"a": np.zeros((2, 3))}, "x")
    with pytest.raises(BadFile, match=r"^different numbers of frames: 'a' 2, 'b' 3 \(x\)"):
        keys.refuse_unless_even({"a": np.zeros((2, 3)), "b": np.zeros((3, 1))})
