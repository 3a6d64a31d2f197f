"""Labels above a plot: none on another, none on a line that leads to another."""

from __future__ import annotations

import numpy as np

from surefoot.reports.labels import placed


def test_a_lone_label_lies_to_the_right_of_its_line_next_to_the_plot():
    (place,) = placed([100.0], [[80.0]], width=600.0, rows=3)
    assert place is not None
    assert (place.row, place.left, place.leftward, place.form) == (0, 104.0, False, 0)


def test_a_label_at_the_right_edge_lies_to_the_left_of_its_line():
    (place,) = placed([590.0], [[80.0]], width=600.0, rows=3)
    assert place is not None
    assert place.leftward
    assert place.left == 590.0 - 4.0 - 80.0


def test_a_label_without_room_takes_its_short_form_and_then_none():
    """Two lines on the same spot leave one side each; the third finds both sides taken."""
    places = placed([50.0] * 3, [[90.0, 10.0]] * 3, width=100.0, rows=1)
    assert [place and place.form for place in places] == [1, 1, None]


def test_random_labels_never_touch_each_other_or_a_line_of_another():
    """Seed 3, 300 sheets of up to 12 labels."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        count = int(rng.integers(1, 13))
        at = rng.uniform(0.0, 600.0, count)
        widths = [[float(wide), 10.0] for wide in rng.uniform(20.0, 200.0, count)]
        places = placed(at.tolist(), widths, width=600.0, rows=3)
        lying = [
            (p.row, p.left, p.left + wide[p.form], x)
            for p, wide, x in zip(places, widths, at, strict=True)
            if p is not None
        ]
        for i, (row, left, right, _line) in enumerate(lying):
            assert 0.0 <= left
            assert right <= 600.0
            for j, (other_row, other_left, other_right, line) in enumerate(lying):
                if i == j:
                    continue
                assert row != other_row or right <= other_left or other_right <= left
                assert other_row < row or not left < line < right
