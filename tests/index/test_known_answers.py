"""The known answers of the index: closed forms, each with its arithmetic.

F = 700 N vertical, length 1 m, normals up, sole |x| ≤ 0.1 m, |y| ≤ 0.05 m, unless said. An edge
with outward horizontal normal k at the signed distance c from the point under the reference, which
is h above it, has the facet n = (h k, c, turning about the edge): |n|² = c² + h² + 1 m², and a
vertical force through the reference has d = −F c / |n|.
Outside, a value is exact to 1e-9 of itself, the certificate that is asked for. Inside, tipping is
one flat facet and as exact; where friction limits, the bounds stop within 1e-6 of each other.
"""

from __future__ import annotations

from math import atan, cos, hypot, radians, sin, sqrt
from typing import Any

import numpy as np
import pytest

from surefoot.contacts.cones import Cones
from surefoot.index.distance import Distances, Scales, signed_distances
from surefoot.motion import rotation

F = 700.0
A, B, H = 0.1, 0.05, 0.8  # half a sole, and the height of the reference, m
UP = (0.0, 0.0, 1.0)
HIGH = (0.0, 0.0, H)
REST = (0.0, 0.0, F, 0.0, 0.0, 0.0)
OUTSIDE = 1e-9  # relative: the certificate of d+
INSIDE = 1e-6  # relative: the tolerance that is asked for here


def sole(y: float = 0.0) -> list[tuple[float, float, float]]:
    return [(sx * A, y + sy * B, 0.0) for sx in (-1, 1) for sy in (-1, 1)]


def distance(
    vertices: Any, w: Any, *, mu: float = 0.7, ref: Any = HIGH, normal: Any = UP, sides: int = 0
) -> Distances:
    pos = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
    k = len(pos)
    cones = Cones(
        start=np.array([0, k]),
        vertex_pos=pos,
        vertex_normal=np.broadcast_to(np.asarray(normal, dtype=np.float64), (k, 3)),
        vertex_friction=np.full(k, mu),
        vertex_stance=np.zeros(k, dtype=np.int64),
        vertex_l=pos,
    )
    scales = Scales(cone_sides=sides, tolerance=INSIDE)
    wrench, about = np.array([w], dtype=np.float64), np.array([ref], dtype=np.float64)
    return signed_distances(cones, wrench, about, scales=scales)


def is_close(found: Distances, d: float, digits: float | None = None) -> None:
    """Both bounds agree with an answer; `digits`: half a unit of the last digit that is known."""
    rounding = (1e-12 * F) if digits is None else digits
    allowed = (OUTSIDE if d >= 0.0 else INSIDE) * abs(d) + rounding
    assert found.lower[0] == pytest.approx(d, rel=0.0, abs=allowed)
    assert found.upper[0] == pytest.approx(d, rel=0.0, abs=allowed)
    assert found.converged[0]


@pytest.mark.parametrize("mu", [0.05, 0.7, 10.0])
def test_1_a_vertex_beside_the_reference(mu: float) -> None:
    """F x₀ / √(L² + h² + x₀²): 70/√1.01 = 69.65 on the ground, 70/√1.65 = 54.49 from 0.8 m.

    The second needs μ ≥ h x₀/(L² + h²) = 0.0488.
    """
    is_close(distance([(0.1, 0, 0)], REST, mu=mu, ref=(0, 0, 0)), F * 0.1 / sqrt(1.01))
    is_close(distance([(0.1, 0, 0)], REST, mu=mu), F * 0.1 / sqrt(1.65))
    assert F * 0.1 / sqrt(1.01) == pytest.approx(69.6526033147, abs=1e-10)


def test_2_a_push_beyond_friction() -> None:
    """The side of a friction cone in its plane: (H − μ F)/√(1 + μ²) = 110/√1.49 = 90.1155."""
    found = distance([(0, 0, 0)], (600, 0, F, 0, 0, 0), ref=(0, 0, 0))
    is_close(found, (600 - 0.7 * F) / sqrt(1.49))
    np.testing.assert_allclose(
        found.dual[0], [1 / sqrt(1.49), 0, -0.7 / sqrt(1.49), 0, 0, 0], atol=1e-9
    )


@pytest.mark.parametrize(
    ("vertices", "w"),
    [
        ([(0, 0, 0)], (0, 0, -F, 0, 0, 0)),
        (sole(), (0, 0, -F, 0, 0, 0)),
        ([(0, 0, 0)], (900, 0, -F, 0, 0, 0)),  # μ H = 630 ≤ 700
    ],
)
def test_3_a_pull_has_the_distance_of_its_whole_length(vertices: Any, w: Any) -> None:
    """In the polar cone the nearest point is zero: d = |w|."""
    is_close(distance(vertices, w, ref=(0, 0, 0)), float(np.linalg.norm(w)))


@pytest.mark.parametrize(
    ("w", "one", "both"),
    [
        ((30, 20, F, 10, 5, 3), 31.9912469, -31.9184567),
        (REST, F * B / sqrt(B**2 + H**2 + 1.0), -F * 0.1 / sqrt(1.65)),
    ],
)
def test_4_more_contacts_never_raise_the_distance(w: Any, one: float, both: float) -> None:
    """Soles at y = ±0.1; the first pair to the seven digits of the notes' prototype.

    At rest beside the left sole, c = −0.05; on both, toes and heels limit, c = 0.1.
    """
    left, two = distance(sole(0.1), w), distance(sole(0.1) + sole(-0.1), w)
    assert two.upper[0] <= left.lower[0]
    is_close(left, one, digits=1e-7)
    is_close(two, both, digits=1e-7)


@pytest.mark.parametrize("w", [(30, 20, F, 10, 5, 3), REST, (300, 0, F, 0, -60, 20)])
@pytest.mark.parametrize("scale", [1e-6 / F, 1e-3, 1e6 / F])
def test_5_the_distance_of_a_scaled_wrench_is_scaled(w: Any, scale: float) -> None:
    """d(λ w) = λ d(w), from 1e-6 N to 1e6 N; the certificates may stop one step apart."""
    unit, scaled = distance(sole(), w), distance(sole(), scale * np.array(w))
    for name in ("lower", "upper"):
        found, known = getattr(scaled, name)[0], scale * getattr(unit, name)[0]
        assert found == pytest.approx(known, rel=OUTSIDE)


@pytest.mark.parametrize("mu", [0.35, 0.4, 0.5, 0.7, 1.0, 3.0, 10.0])
def test_6_rest_in_the_middle_of_a_sole_is_limited_by_its_sides(mu: float) -> None:
    """−F c/√(c² + h² + L²), c = min(0.1, 0.05): −35/√1.6425 = −27.3096."""
    is_close(distance(sole(), REST, mu=mu), -F * B / sqrt(B**2 + H**2 + 1.0), digits=1e-9)


@pytest.mark.parametrize(("mu", "M"), [(0.3, 40.0), (0.7, 90.0)])
def test_7_yaw_beyond_friction(mu: float, M: float) -> None:
    """All corners slide around the middle at ρ = √(a² + b²): (M − μ ρ F)/√(L² + μ² ρ²)."""
    rho = hypot(A, B)
    is_close(
        distance(sole(), (0, 0, F, 0, 0, M), mu=mu, ref=(0, 0, 0)),
        (M - mu * rho * F) / hypot(1.0, mu * rho),
    )


def test_7_yaw_that_friction_just_holds_is_on_the_boundary() -> None:
    """M = μ ρ F: d = 0, up to the 1e-11 of |w| that counts as the boundary."""
    found = distance(sole(), (0, 0, F, 0, 0, 0.3 * hypot(A, B) * F), mu=0.3, ref=(0, 0, 0))
    assert -2e-11 * F <= found.lower[0] <= found.upper[0] <= 1e-12 * F


def test_7_rest_on_a_slippery_sole_is_limited_by_yaw() -> None:
    """−F μ ρ/√(L² + μ² ρ²) for μ = 0.2: −15.6485641903."""
    slip = 0.2 * hypot(A, B)
    is_close(distance(sole(), REST, mu=0.2), -F * slip / hypot(1.0, slip), digits=1e-9)


def test_7_between_yaw_and_tipping_both_mix() -> None:
    """μ = 0.34: −26.58993794 (notes' prototype), where yaw alone would say −26.59000459.

    The nearest facet is one of a family of two parameters: 4,000 normals left a gap of 2e-5.
    """
    found = distance(sole(), REST, mu=0.34)
    is_close(found, -26.58993794)
    assert found.lower[0] > -26.59000459


@pytest.mark.parametrize("mu", [0.7, 10.0])
@pytest.mark.parametrize(
    ("zmp", "d"),
    [
        ((A + 0.02, 0.0), F * 0.02 / sqrt(A**2 + H**2 + 1.0)),
        ((0.0, B + 0.02), F * 0.02 / sqrt(B**2 + H**2 + 1.0)),
        ((0.05, 0.03), -F * 0.02 / sqrt(B**2 + H**2 + 1.0)),  # side; the toe: 0.05/√1.65
        ((A, 0.0), 0.0),
        ((0.03, B), 0.0),
    ],
)
def test_8_the_sign_is_that_of_the_zmp(mu: float, zmp: tuple[float, float], d: float) -> None:
    """A vertical force at z: inside −F min (c − z·k)/√(c² + h² + L²); over an edge F δ over it."""
    w = (0, 0, F, zmp[1] * F, -zmp[0] * F, 0)
    found = distance(sole(), w, mu=mu)
    if d == 0.0:  # the wrench is known to 1e-16 F, its place to the rounding of a certificate
        assert max(abs(found.lower[0]), abs(found.upper[0])) <= 2e-11 * F
    else:
        is_close(found, d, digits=1e-9)


SLOPE = atan(0.7)  # μ = tan φ, φ = 34.992°


@pytest.mark.parametrize("theta", [40.0, 36.0])
@pytest.mark.parametrize("vertices", [[(0, 0, 0)], sole()])
def test_9_a_slope_steeper_than_friction(theta: float, vertices: Any) -> None:
    """In the axes of the slope: weight F through r leans by θ > φ: d = F sin(θ − φ)."""
    w = (F * sin(radians(theta)), 0, F * cos(radians(theta)), 0, 0, 0)
    ref = (0, 0, 0.05 if len(vertices) > 1 else 0.0)
    is_close(distance(vertices, w, ref=ref), F * sin(radians(theta) - SLOPE))


@pytest.mark.parametrize(
    ("theta", "d"), [(34.9, -1.12423832692), (34.5, -5.37232143), (30.0, -20.97077355)]
)
def test_9_a_slope_that_friction_holds(theta: float, d: float) -> None:
    """−F sin(φ − θ) only bounds d from below: at 34.9° it is d, then slide and yaw mix.

    The reference lies in the middle of the sole. The last two by ascent with cone programs (make/
    references); the notes' −5.3723213 and −20.9707597 are within 1e-6 of themselves, as they say.
    """
    w = (F * sin(radians(theta)), 0, F * cos(radians(theta)), 0, 0, 0)
    found = distance(sole(), w, ref=(0, 0, 0))
    is_close(found, d, digits=5e-8)
    assert found.upper[0] >= -F * sin(SLOPE - radians(theta)) * (1.0 + INSIDE)


def test_9_the_world_may_be_turned() -> None:
    """Contacts, reference and wrench turned together: d stays, to the certificate's 1e-9."""
    rng = np.random.default_rng(9)
    pos, ref, w = np.array(sole(0.1) + sole(-0.1)), np.array(HIGH), np.array((300, 0, F, 0, -60, 2))
    for _ in range(20):
        R = rotation.as_matrix(rotation.from_euler("xyz", rng.uniform(-3, 3, 3)[None]))[0]
        turned = np.concatenate([R @ w[:3], R @ w[3:]])
        found = distance(pos @ R.T, turned, ref=R @ ref, normal=R[:, 2])
        is_close(found, float(distance(pos, w).upper[0]))


STAIRS = [(-0.25, 0.05, 0.0), (-0.25, -0.05, 0.0), (0.25, 0.05, 0.2), (0.25, -0.05, 0.2)]


def test_10_two_edges_at_different_heights_tip_over_their_sides() -> None:
    """A side line of slope β, D from r: −F b cos β/√(L² + D²) = −26.0664701983.

    tan β = 0.4; D² = b² + (0.8 cos β)²: r is 0.9 − 0.1 over the line's middle.
    """
    slope = atan(0.4)
    D = hypot(0.05, 0.8 * cos(slope))
    assert pytest.approx(0.744462315, abs=1e-9) == D
    for mu in (0.5, 0.7, 1.0):
        d = -F * 0.05 * cos(slope) / hypot(1.0, D)
        is_close(distance(STAIRS, REST, mu=mu, ref=(0, 0, 0.9)), d, digits=1e-9)


def test_10_with_much_friction_the_feet_wedge() -> None:
    """μ tan β > 1: no such facet; −31.1214623643 by the notes' prototype."""
    is_close(distance(STAIRS, REST, mu=3.0, ref=(0, 0, 0.9)), -31.1214623643, digits=1e-8)


@pytest.mark.parametrize("x", [0.24, 0.26])
def test_10_over_the_upper_edge(x: float) -> None:
    """F (x − 0.25)/√((0.25 − x)² + 0.7² + 1) = ±5.7344310163."""
    d = F * (x - 0.25) / sqrt((0.25 - x) ** 2 + 0.49 + 1.0)
    is_close(distance(STAIRS, REST, ref=(x, 0, 0.9)), d, digits=1e-9)


BY_FRICTION_INSIDE = {
    0.05: -3.913057820,
    0.1: -7.825748827,
    0.2: -15.648564190,
    0.3: -23.465518120,
    0.34: -26.58993794,
    0.35: -27.309601012,
    1.0: -27.309601012,
}
BY_FRICTION_OUTSIDE = {
    0.05: 265.420631,
    0.1: 229.718058,
    0.2: 158.105681,
    0.3: 97.376224,
    0.4: 87.218308,
    0.5: 86.565704,
    0.7: 85.832549,
    1.0: 85.634884,
    3.0: 85.634884,
}


@pytest.mark.parametrize(
    ("known", "w", "digits"),
    [
        (BY_FRICTION_INSIDE, REST, 5e-9),
        (BY_FRICTION_OUTSIDE, (300, 0, F, 0, -60, 20), 5e-7),
    ],
)
def test_11_more_friction_never_raises_the_distance(
    known: dict[float, float], w: Any, digits: float
) -> None:
    """Case 6, and a push at the hip: the table of the notes, to its digits."""
    before = np.inf
    for mu, d in known.items():
        found = distance(sole(), w, mu=mu)
        allowed = digits + (INSIDE * abs(d) if d < 0.0 else 0.0)
        assert found.lower[0] - allowed <= d <= found.upper[0] + allowed
        assert found.lower[0] <= before + OUTSIDE * abs(before)
        before = min(before, found.upper[0])


def test_12_an_edge_has_five_dimensions() -> None:
    """Beside it F 0.1/√(1 + 0.64 + 0.01) = 54.4949260913; above it 0."""
    edge = [(-0.1, 0.05, 0), (-0.1, -0.05, 0)]
    beside, above = distance(edge, REST), distance(edge, REST, ref=(-0.1, 0, H))
    is_close(beside, F * 0.1 / sqrt(1.65))
    assert beside.dimension[0] == above.dimension[0] == 5
    assert 0.0 <= above.upper[0] <= 1e-12 * F
    assert above.margin[0] > 1.0


def test_13_in_flight_the_distance_is_the_wrench() -> None:
    found, ballistic = distance([], (3, 4, 0, 0, 0, 12)), distance([], (0, 0, 0, 0, 0, 0))
    assert found.lower[0] == found.upper[0] == 13.0
    assert found.dual[0] @ (3, 4, 0, 0, 0, 12) == pytest.approx(13.0, rel=1e-15)
    assert ballistic.lower[0] == ballistic.upper[0] == 0.0
    assert np.linalg.norm(ballistic.dual[0]) == 1.0


def test_14_a_sole_without_friction_has_three_dimensions() -> None:
    """Margin in its span F c/√(c² + L²) = 34.9563318607 from any height; 50 N sideways: 50."""
    for h in (0.0, 0.8, 3.0):
        found = distance(sole(), REST, mu=0.0, ref=(0, 0, h))
        assert found.dimension[0] == 3
        assert found.margin[0] == pytest.approx(F * B / hypot(B, 1.0), rel=1e-9)
        assert abs(found.upper[0]) <= 1e-12 * F
    is_close(distance(sole(), (50, 0, F, 0, 0, 0), mu=0.0), 50.0)


def test_14_a_point_has_three_dimensions() -> None:
    """Margin F μ k/√(1 + μ² k²), k = √(1 + h²): 467.248472985."""
    found, k = distance([(0, 0, 0)], REST), sqrt(1.0 + H**2)
    assert found.dimension[0] == 3
    assert found.margin[0] == pytest.approx(F * 0.7 * k / hypot(1.0, 0.7 * k), rel=INSIDE)


@pytest.mark.parametrize("ax", [-0.6, -1.5, -2.0])
def test_15_an_inverted_pendulum(ax: float) -> None:
    """r = CoM, m = F/g: the larger of −m (g a − h |ax|)/√(a² + h² + L²) and the sides' value.

    −0.6: −27.3096010124 (sides); −1.5: 12.1655339592; −2: 34.3856873094.
    """
    m = F / 9.81
    toe = -m * (9.81 * A - H * abs(ax)) / sqrt(A**2 + H**2 + 1.0)
    side = -F * B / sqrt(B**2 + H**2 + 1.0)
    is_close(distance(sole(), (m * ax, 0, F, 0, 0, 0)), max(toe, side), digits=1e-9)


def test_15_a_pendulum_tips_just_when_its_force_leaves_the_sole() -> None:
    """At |ax| = g a/h the line of the force meets the edge of the toe: d = 0."""
    m, ax = F / 9.81, -9.81 * A / H
    found = distance(sole(), (m * ax, 0, F, 0, 0, 0))
    assert max(abs(found.lower[0]), abs(found.upper[0])) <= 2e-11 * F


def test_16_hands_on_opposite_walls() -> None:
    """The cone holds lines: all but the moment about the line between the hands, 9/√1.09."""
    walls, normals = [(-0.4, 0, 0), (0.4, 0, 0)], [(1, 0, 0), (-1, 0, 0)]
    found = distance(walls, (10, 20, -F, 15, 30, 5), ref=(0, 0, 0.3), normal=normals)
    assert found.dimension[0] == 5
    is_close(found, 9.0 / sqrt(1.09))


def test_pyramids_tip_as_circular_cones_do() -> None:
    is_close(distance(sole(), REST, sides=4), -F * B / sqrt(B**2 + H**2 + 1.0), digits=1e-9)
