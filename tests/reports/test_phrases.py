"""Words and numbers as reports say them."""

from __future__ import annotations

import pytest

from make.walkers import walker
from surefoot.reports import phrases


@pytest.mark.parametrize(
    ("force", "text"),
    [(0.0, "0.00 N"), (0.0041, "0.004 N"), (0.42, "0.42 N"), (6.77, "6.8 N"), (-41.2, "-41 N"),
     (1834.4, "1,834 N")],
)  # fmt: skip
def test_a_force_has_two_or_three_digits_and_does_not_part_from_its_unit(force, text):
    assert phrases.newtons(force) == text.replace(" ", "\N{NO-BREAK SPACE}")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (327.3, "327 times the weight"),
        (5.62, "5.6 times the weight"),
        (0.5, "50 % of the weight"),
        (0.0321, "3.2 % of the weight"),
        (0.0002, "less than 0.1 % of the weight"),
    ],
)
def test_a_force_over_the_weight_is_said_in_words(share, text):
    assert phrases.of_weight(share) == text


@pytest.mark.parametrize(
    ("metres", "text"), [(0.0034, "3.4 mm"), (0.021, "21 mm"), (1.25, "1.25 m"), (170.1, "170 m")]
)
def test_a_length_is_said_in_the_unit_that_one_would_say(metres, text):
    assert phrases.length(metres) == text


@pytest.mark.parametrize(
    ("links", "text"),
    [
        (("left_foot",), "left foot"),
        (("left_foot", "right_foot", "chest"), "both feet, chest"),
        (("chest",), "chest"),
    ],
)
def test_links_are_called_by_their_feet(links, text):
    assert phrases.feet_of(walker(), links) == text
