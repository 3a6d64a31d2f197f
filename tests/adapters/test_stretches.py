"""Infeasible segments, padded: where their ends lie, and when two are one."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.adapters.stretches import padded_segments
from surefoot.errors import BadOption

TIME = np.linspace(0.0, 4.0, 401)
FLAT = np.full(401, -1.0)


def test_an_end_moves_to_where_d_is_smallest() -> None:
    upper = FLAT.copy()
    upper[150], upper[245] = -3.0, -2.0
    found = padded_segments(TIME, upper, [(1.9, 2.1)], pad_s=0.3, most_s=0.6)
    assert found == [pytest.approx((1.5, 2.45))]


def test_both_sides_of_a_contact_change_count() -> None:
    """At 1.5 s d is small before the change alone, at 1.4 s on both sides."""
    time = np.sort(np.concatenate([TIME, [1.5]]))
    upper = np.full(402, -1.0)
    upper[150] = -3.0
    upper[140] = -2.0
    found = padded_segments(time, upper, [(1.9, 2.1)], pad_s=0.3, most_s=0.6)
    assert found[0][0] == pytest.approx(1.4)


def test_segments_nearer_than_their_pads_are_one() -> None:
    found = padded_segments(TIME, FLAT, [(1.0, 1.1), (1.5, 1.6)], pad_s=0.3, most_s=0.3)
    assert found == [pytest.approx((0.7, 1.9))]


def test_pads_that_overlap_meet_where_d_is_smallest() -> None:
    upper = FLAT.copy()
    upper[200] = -2.0
    found = padded_segments(TIME, upper, [(1.4, 1.5), (2.4, 2.5)], pad_s=0.3, most_s=0.6)
    assert found[0][1] == found[1][0] == pytest.approx(2.0)


def test_a_stretch_ends_with_its_clip() -> None:
    found = padded_segments(TIME, FLAT, [(0.0, 0.2), (3.9, 4.0)], pad_s=0.3, most_s=0.6)
    assert (found[0][0], found[-1][1]) == (0.0, 4.0)


def test_a_negative_pad_is_refused() -> None:
    with pytest.raises(BadOption, match=r"expected 0 <= pad_s <= most_s, got -1 and 0\.6 s"):
        padded_segments(TIME, FLAT, [], pad_s=-1.0, most_s=0.6)
