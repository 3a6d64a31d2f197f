"""Known answers (closed forms; F = 700 N, length 1 m, sole 0.2 by 0.1 m unless said)."""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt
from typing import Any

import numpy as np
import pytest

from make.dumps import sole, tiny
from surefoot.verification.distance import check_sample, sample
from surefoot.verification.dump import Dump
from surefoot.verification.result import Ledger

F = 700.0
HIGH = (0.0, 0.0, 0.8)
REST = (0.0, 0.0, F, 0.0, 0.0, 0.0)


def _checked(arrays: dict[str, Any]) -> Ledger:
    ledger = Ledger(arrays["time"])
    dump = Dump(**arrays)
    here = sample(dump, 0, F, np.arange(len(arrays["vertex_pos"])))
    check_sample(dump, here, ledger)
    return ledger


def _vertical(x: float, y: float) -> tuple[float, ...]:
    """A vertical force F through the point (x, y) of the ground, about the middle at any height."""
    return (0.0, 0.0, F, y * F, -x * F, 0.0)


# Number of the answer, wrench, vertices, options, d.
ANSWERS: list[tuple[str, Any, Any, dict[str, Any], float]] = [
    ("1 beside", REST, [(0.1, 0, 0)], {}, 69.6526033147),
    ("1 high", REST, [(0.1, 0, 0)], {"reference": HIGH}, 54.4949260913),
    ("2 sliding", (600, 0, F, 0, 0, 0), [(0, 0, 0)], {}, 90.1155112571),
    ("3 point", (0, 0, -F, 0, 0, 0), [(0, 0, 0)], {}, 700.0),
    ("3 sole", (0, 0, -F, 0, 0, 0), sole(), {}, 700.0),
    ("3 oblique", (900, 0, -F, 0, 0, 0), [(0, 0, 0)], {}, 1140.17542510),
    ("6 mu .35", REST, sole(), {"reference": HIGH, "friction": 0.35}, -27.3096010124),
    ("6 mu .7", REST, sole(), {"reference": HIGH}, -27.3096010124),
    ("6 mu 10", REST, sole(), {"reference": HIGH, "friction": 10.0}, -27.3096010124),
    ("7 mu .3", (0, 0, F, 0, 0, 40), sole(), {"friction": 0.3}, 16.5120008466),
    ("7 mu .7", (0, 0, F, 0, 0, 90), sole(), {}, 35.1089774474),
    ("7 inside", REST, sole(), {"reference": HIGH, "friction": 0.2}, -15.6485641903),
    ("8 toe", _vertical(0.12, 0), sole(), {"reference": HIGH}, 10.8989852183),
    ("8 side", _vertical(0, 0.07), sole(), {"reference": HIGH}, 10.9238404050),
    ("8 inside", _vertical(0.05, 0.03), sole(), {"reference": HIGH}, -10.9238404050),
    ("12 edge", REST, [(-0.1, 0.05, 0), (-0.1, -0.05, 0)], {"reference": HIGH}, 54.4949260913),
    ("13 flight", (3, 4, 0, 0, 0, 12), np.zeros((0, 3)), {}, 13.0),
    ("14 sideways", (50, 0, F, 0, 0, 0), sole(), {"friction": 0.0}, 50.0),
]


@pytest.mark.parametrize(
    ("w", "p", "options", "d"), [a[1:] for a in ANSWERS], ids=[a[0] for a in ANSWERS]
)
def test_known_answers_are_confirmed_and_others_are_not(
    w: Any, p: Any, options: dict[str, Any], d: float
) -> None:
    arrays = tiny(w, p, **options)
    assert arrays["d"][0] == pytest.approx(d, abs=1e-5)
    arrays["d_upper"][0] = max(d, arrays["d"][0])
    assert not _checked(arrays).mismatches

    larger = {**arrays, "d": arrays["d"] + 0.01, "d_lower": arrays["d"] + 0.01}
    larger["d_upper"] = larger["d"]
    assert _checked(larger).mismatches
    smaller = {**arrays, "d": arrays["d"] - 0.01, "d_lower": arrays["d"] - 0.01}
    smaller["d_upper"] = smaller["d"]
    assert _checked(smaller).mismatches


def test_a_worse_supporting_direction_is_caught_by_the_better_one() -> None:
    """Answer 6: tipping over the toe supports the cone, 0.1 m away; the side is 0.05 m away."""
    toe = -np.array([0.8, 0.0, 0.1, 0.0, 1.0, 0.0]) / sqrt(1.65)
    arrays = tiny(REST, sole(), reference=HIGH, dual=toe, d=float(toe @ REST))
    (mismatch,) = _checked(arrays).mismatches
    assert mismatch.array == "d_upper"
    assert mismatch.expected == pytest.approx(-27.3096010124, abs=1e-6)
    assert "sample 0 at 0 s: d_upper -54.494" in mismatch.sentence


def test_a_line_contact_under_the_reference_is_on_its_own_boundary() -> None:
    """Answer 12: with the reference above the edge d is 0, and any normal of the plane supports."""
    arrays = tiny(
        REST,
        [(0, 0.05, 0), (0, -0.05, 0)],
        reference=HIGH,
        dual=np.array([0.8, 0, 0, 0, 1.0, 0]) / sqrt(1.64),
        d=0.0,
    )
    assert not _checked(arrays).mismatches


def test_a_frictionless_sole_at_rest_is_on_its_own_boundary() -> None:
    """Answer 14: dimension 3; a push sideways is missed entirely."""
    assert not _checked(tiny(REST, sole(), friction=0.0, dual=np.eye(6)[0], d=0.0)).mismatches


def test_hands_on_opposite_walls_leave_one_direction_free() -> None:
    """Answer 16: moment about the line 15 − 0.3 · 20 = 9; d = 9 / √1.09."""
    arrays = tiny(
        (10, 20, -700, 15, 30, 5),
        [(-0.4, 0, 0), (0.4, 0, 0)],
        reference=(0, 0, 0.3),
        normals=[(1, 0, 0), (-1, 0, 0)],
        dual=np.array([0, -0.3, 0, 1, 0, 0]) / sqrt(1.09),
        d=9 / sqrt(1.09),
    )
    assert arrays["d"][0] == pytest.approx(8.62043656699, abs=1e-9)
    assert not _checked(arrays).mismatches


def test_no_force_in_flight_is_nothing_missing() -> None:
    """Answer 13: ballistic flight, w = 0, d = 0."""
    arrays = tiny(np.zeros(6), np.zeros((0, 3)), dual=np.eye(6)[2], d=0.0)
    assert not _checked(arrays).mismatches


def _box() -> tuple[np.ndarray, np.ndarray]:
    """Hands and feet on all six sides of a room: every wrench can be given."""
    p, n = [], []
    for axis in range(3):
        for side in (1.0, -1.0):
            for a in (0.2, -0.2):
                point = np.roll([side, a, 0.1], axis)
                p.append(point)
                n.append(-side * np.roll([1.0, 0.0, 0.0], axis))
    return np.array(p), np.array(n)


def _everything(arrays: dict[str, Any]) -> dict[str, Any]:
    minus = np.array([-np.inf])
    return {
        **arrays,
        "flag": np.array([2]),
        "dual": np.zeros((1, 6)),
        "d": minus,
        "d_lower": minus,
        "d_upper": minus,
    }


def test_contacts_on_all_sides_give_every_wrench() -> None:
    p, n = _box()
    arrays = tiny(REST, p, normals=n, dual=np.eye(6)[0], d=0.0)
    assert not _checked(_everything(arrays)).mismatches
    assert _checked(arrays).mismatches


def test_a_sole_does_not_give_every_wrench() -> None:
    ledger = _checked(_everything(tiny(REST, sole(), reference=HIGH)))
    assert {m.array for m in ledger.mismatches} == {"flag"}


@pytest.mark.parametrize("sides", [4, 8, 64])
def test_a_pyramid_has_its_rays_at_the_angles_from_the_first_tangent(sides: int) -> None:
    """One vertex below the force, pushed along the middle of a face: μ cos(π/N) is all it holds."""
    angle = pi / sides
    push = np.array([cos(angle), sin(angle)]) * 600.0
    mu = 0.7 * cos(angle)
    d = (600.0 - mu * F) / sqrt(1 + mu**2)
    dual = np.array([cos(angle), sin(angle), -mu, 0, 0, 0]) / sqrt(1 + mu**2)
    arrays = tiny((*push, F, 0, 0, 0), [(0, 0, 0)], dual=dual, d=d)
    assert not _checked({**arrays, "cone_sides": sides}).mismatches
    assert _checked(arrays).mismatches
    assert _checked({**arrays, "cone_sides": sides + 1}).mismatches


def test_turning_everything_changes_nothing() -> None:
    """Inside on a slope of 30°: contacts, normals, wrench and dual turned about the y axis."""
    c, s = cos(radians(30)), sin(radians(30))
    turn = np.array([(c, 0, s), (0, 1, 0), (-s, 0, c)])
    arrays = tiny((20, 10, F, 0, 0, 3), sole(), reference=HIGH, friction=0.3)
    both = np.kron(np.eye(2), turn)
    turned = {
        **arrays,
        "wrench": arrays["wrench"] @ both.T,
        "dual": arrays["dual"] @ both.T,
        "reference": arrays["reference"] @ turn.T,
        "vertex_pos": arrays["vertex_pos"] @ turn.T,
        "vertex_normal": arrays["vertex_normal"] @ turn.T,
    }
    assert arrays["d"][0] < 0
    assert not _checked(turned).mismatches


def test_a_wide_gap_is_a_mismatch_unless_it_is_confessed() -> None:
    arrays = tiny(REST, sole(), reference=HIGH)
    arrays["d_upper"] = arrays["d"] + 1.0
    (mismatch,) = _checked(arrays).mismatches
    assert (mismatch.check, mismatch.array) == ("gap", "d_upper")
    assert not _checked({**arrays, "flag": np.array([1])}).mismatches
    assert not _checked({**arrays, "tolerance": 0.1}).mismatches
    arrays["d_upper"] = arrays["d"] + 0.1
    assert not _checked(arrays).mismatches
    assert _checked({**arrays, "tolerance": 1e-4}).mismatches


def test_a_sample_that_confesses_without_need_is_caught() -> None:
    arrays = tiny(REST, sole(), reference=HIGH)
    (mismatch,) = _checked({**arrays, "flag": np.array([1])}).mismatches
    assert mismatch.array == "flag"
