"""Laws of the distance, and the cases in which cones are something else than usual."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest

from make import references
from make.stances import (
    FAMILIES,
    HOW_FAR,
    SOLE,
    WEIGHT,
    Problems,
    columns_of,
    cones_of,
    feasible,
    problems,
    soles,
)
from surefoot.arrays import Array
from surefoot.contacts.cones import Cones
from surefoot.index.distance import CHUNK, Distances, Scales, signed_distances
from surefoot.motion import rotation
from surefoot.motion.contact import MOST_FRICTION

UP = np.array([0.0, 0.0, 1.0])
FINE = Scales(tolerance=1e-6)
CERTIFIED = 1e-9  # of d+
ROUNDING = 1e-12  # of the wrench


def of(given: Problems, scales: Scales = FINE, threads: int = 1) -> Distances:
    return signed_distances(given.cones, given.wrench, given.ref, scales=scales, threads=threads)


def mixed(count: int = 20, seed: int = 5) -> list[Problems]:
    hows = (*HOW_FAR, "inside")
    return [problems(family, how, count, seed) for family in FAMILIES for how in hows]


def slack(out: Distances, wrench: Array) -> Array:
    """How far apart two runs may end: the certificates of both, and rounding."""
    size = np.linalg.norm(wrench, axis=1)
    return 2.0 * (out.upper - out.lower) + 1e-9 * np.abs(out.upper) + ROUNDING * size


def soles_at(*places: tuple[float, float, float]) -> Array:
    return np.concatenate([SOLE + np.array(place) for place in places])[None]


def one(pos: Array, w: Array, mu: float = 0.7, normal: Array = UP) -> Distances:
    ref = np.array([[0.0, 0.0, 0.8]])
    return signed_distances(cones_of(pos, normal, mu), np.array([w]), ref, scales=FINE)


# laws


@pytest.mark.parametrize("family", list(FAMILIES))
def test_the_distance_is_convex_along_segments(family: str) -> None:
    rng = np.random.default_rng(1)
    far, near = problems(family, "far", 50, 3), problems(family, "inside", 50, 3)
    cones = near.cones
    for share in (0.2, 0.5, 0.8):
        ends = [near.wrench, 0.3 * far.wrench + rng.normal(size=(50, 6))]
        a, b = (signed_distances(cones, w, near.ref, scales=FINE) for w in ends)
        middle = share * ends[0] + (1.0 - share) * ends[1]
        found = signed_distances(cones, middle, near.ref, scales=FINE)
        limit = share * a.upper + (1.0 - share) * b.upper
        assert np.all(found.lower <= limit + ROUNDING * np.linalg.norm(middle, axis=1))


def test_the_distance_of_two_wrenches_differs_by_no_more_than_they_do() -> None:
    rng = np.random.default_rng(2)
    for given in mixed():
        step = 10.0 * rng.normal(size=given.wrench.shape)
        a, b = of(given), signed_distances(given.cones, given.wrench + step, given.ref, scales=FINE)
        size = np.linalg.norm(step, axis=1) + ROUNDING * np.linalg.norm(given.wrench, axis=1)
        assert np.all(b.lower - a.upper <= size)
        assert np.all(a.lower - b.upper <= size)


@pytest.mark.parametrize("length", [0.2, 5.0])
def test_the_sign_does_not_depend_on_reference_and_length(length: float) -> None:
    rng = np.random.default_rng(3)
    for given in mixed():
        shift = rng.uniform(-1.0, 1.0, given.ref.shape)
        moved = given.wrench.copy()
        moved[:, 3:] -= np.cross(shift, given.wrench[:, :3])
        scales = Scales(length_m=length, tolerance=1e-6)
        a = of(given)
        b = signed_distances(given.cones, moved, given.ref + shift, scales=scales)
        size = np.linalg.norm(given.wrench, axis=1)
        clear = np.abs(a.lower) > 1e-9 * size
        np.testing.assert_array_equal(np.sign(a.lower[clear]), np.sign(b.lower[clear]))


def test_the_distance_does_not_change_when_everything_is_turned() -> None:
    rng = np.random.default_rng(4)
    for given in mixed():
        turn = rotation.from_euler("xyz", rng.uniform(-3.0, 3.0, (given.n, 3)))
        R = rotation.as_matrix(turn)
        turned = Problems(
            np.einsum("nij,nkj->nki", R, given.pos),
            np.einsum("nij,nkj->nki", R, given.normal),
            given.friction,
            np.concatenate(
                [np.einsum("nij,nj->ni", R, given.wrench[:, k : k + 3]) for k in (0, 3)], axis=1
            ),
            np.einsum("nij,nj->ni", R, given.ref),
        )
        a, b = of(given), of(turned)
        assert np.all(np.abs(a.lower - b.lower) <= slack(a, given.wrench) + slack(b, given.wrench))


def test_more_friction_and_more_contacts_never_raise_the_distance() -> None:
    for how in ("near", "inside"):
        given = problems("slopes and heights", how, 40, 6)
        less = signed_distances(
            cones_of(given.pos, given.normal, 0.4), given.wrench, given.ref, scales=FINE
        )
        fewer = signed_distances(
            cones_of(given.pos[:, :7], given.normal[:, :7], 0.7),
            given.wrench,
            given.ref,
            scales=FINE,
        )
        out = of(given)
        rounding = ROUNDING * np.linalg.norm(given.wrench, axis=1)
        assert np.all(out.lower <= less.upper + rounding)
        assert np.all(out.lower <= fewer.upper + rounding)


@pytest.mark.parametrize("scale", [1e-6 / WEIGHT, 1e6 / WEIGHT])
def test_a_wrench_of_a_millionth_and_of_a_million_newton_are_the_same_problem(scale: float) -> None:
    for given in mixed():
        a = of(given)
        scaled = Problems(given.pos, given.normal, given.friction, scale * given.wrench, given.ref)
        b = of(scaled)
        allowed = slack(a, given.wrench)
        assert np.all(np.abs(a.lower - b.lower / scale) <= allowed)
        np.testing.assert_array_equal(a.converged, b.converged)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_byte(threads: int) -> None:
    given = problems("two flat soles", "near", 2 * CHUNK + 77, 7)
    alone, shared = of(given, Scales()), of(given, Scales(), threads=threads)
    for name in ("lower", "upper", "dual", "margin", "dimension", "converged"):
        assert getattr(alone, name).tobytes() == getattr(shared, name).tobytes(), name


def test_what_came_before_changes_the_distance_within_its_bounds_only() -> None:
    """A sample starts from the rays and facets of the one before; alone it starts from nothing."""
    rng = np.random.default_rng(8)
    pos, normal = soles("flat", 1, rng)
    columns = columns_of(pos, normal, np.array([[0.0, 0.0, 0.8]]))
    for friction in (0.2, 0.7):
        share = np.repeat(columns, 40, axis=0)
        wrench = feasible(share, friction, 0.6, rng) + 40.0 * rng.normal(size=(40, 6))
        ref = np.tile([0.0, 0.0, 0.8], (40, 1))
        cones = cones_of(np.repeat(pos, 40, axis=0), normal, friction)
        row = signed_distances(cones, wrench, ref, scales=FINE)
        assert np.sum(row.upper < 0.0) > 5
        assert np.sum(row.lower > 0.0) > 5
        for i in range(40):
            lone = signed_distances(
                cones_of(pos, normal, friction), wrench[i : i + 1], ref[:1], scales=FINE
            )
            rounding = ROUNDING * np.linalg.norm(wrench[i])
            assert lone.lower[0] <= row.upper[i] + rounding
            assert row.lower[i] <= lone.upper[0] + rounding


def test_a_walk_far_from_the_origin_has_the_same_distances() -> None:
    """100 m away, positions are rounded to 1e-14 m, of which the weight makes 1e-11 N m."""
    for given in mixed():
        away = np.array([100.0, -50.0, 3.0])
        moved = Problems(
            given.pos + away, given.normal, given.friction, given.wrench, given.ref + away
        )
        a, b = of(given), of(moved)
        allowed = slack(a, given.wrench) + slack(b, given.wrench)
        allowed += 1e-10 * np.linalg.norm(given.wrench, axis=1)
        assert np.all(np.abs(a.lower - b.lower) <= allowed)


# bounds


def test_a_coarser_tolerance_gives_wider_bounds_around_the_same_distance() -> None:
    for family in FAMILIES:
        given = problems(family, "inside", 20, 9)
        fine = of(given)
        for tolerance in (1e-1, 1e-2, 1e-3):
            out = of(given, Scales(tolerance=tolerance))
            rounding = ROUNDING * np.linalg.norm(given.wrench, axis=1)
            assert np.all(out.lower <= fine.upper + rounding)
            assert np.all(fine.lower <= out.upper + rounding)
            assert np.all(out.upper - out.lower <= tolerance * np.abs(out.lower) + rounding)


def test_the_dual_supports_the_cone_and_gives_the_lower_bound() -> None:
    """max dual · g ≤ 1e-9 over rays of the circles, in closed form."""
    for given in mixed(50, 10):
        out = of(given, Scales())
        s = np.einsum("nkbd,nd->nkb", columns_of(given.pos, given.normal, given.ref), out.dual)
        most = s[..., 0] + given.friction * np.linalg.norm(s[..., 1:], axis=2)
        assert np.max(most) <= 1e-9
        product = np.einsum("nd,nd->n", out.dual, given.wrench)
        size = np.linalg.norm(given.wrench, axis=1)
        assert np.all(np.abs(product - out.lower) <= 1e-11 * size)


# unusual cones


def test_no_wrench_needs_nothing() -> None:
    out = one(soles_at((0, 0, 0)), np.zeros(6))
    assert out.lower[0] == out.upper[0] == 0.0
    assert out.converged[0]


def test_no_samples_have_no_distances() -> None:
    out = signed_distances(
        cones_of(np.zeros((0, 4, 3)), UP, 0.7), np.zeros((0, 6)), np.zeros((0, 3))
    )
    assert out.lower.shape == (0,)
    assert out.dual.shape == (0, 6)


def test_vertices_that_coincide_are_one() -> None:
    once, twice = SOLE[None], np.concatenate([SOLE, SOLE])[None]
    for w in ([30.0, 20, 700, 10, 5, 3], [400.0, 0, 700, 0, 0, 0]):
        a, b = one(once, np.array(w)), one(twice, np.array(w))
        assert b.lower[0] <= a.upper[0] + 1e-9
        assert a.lower[0] <= b.upper[0] + 1e-9


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7, 1e-9])
def test_rays_that_are_nearly_parallel_end_within_their_bounds(gap: float) -> None:
    """Two soles, the second `gap` beside the first: the same as one wider sole to that gap."""
    rng = np.random.default_rng(11)
    pair = soles_at((0, 0, 0), (gap, 0, 0))
    wide = (SOLE + np.where(SOLE[:, :1] > 0.0, gap, 0.0) * [1.0, 0.0, 0.0])[None]
    for _ in range(20):
        w = np.array([0, 0, WEIGHT, 0, 0, 0]) + rng.normal(size=6) * [200, 200, 1, 40, 40, 40]
        a, b = one(pair, w), one(wide, w)
        assert a.lower[0] <= a.upper[0]
        assert max(a.lower[0] - b.upper[0], b.lower[0] - a.upper[0]) <= 1e-9 * WEIGHT
        assert a.converged[0]


@pytest.mark.parametrize("feet", [3, 4])
def test_twelve_and_sixteen_vertices(feet: int) -> None:
    """Toes of their own: three or four soles; a reference by rays of pyramids on either side."""
    rng = np.random.default_rng(feet)
    places = [(0.0, 0.1, 0.0), (0.0, -0.1, 0.0), (0.2, 0.1, 0.02), (0.2, -0.1, 0.02)][:feet]
    pos = np.repeat(soles_at(*places), 30, axis=0)
    ref = np.tile([0.0, 0.0, 0.8], (30, 1))
    w = feasible(columns_of(pos, np.broadcast_to(UP, pos.shape), ref), 0.5, 0.4, rng)
    w += 30.0 * rng.normal(size=(30, 6))
    circle = signed_distances(cones_of(pos, UP, 0.5), w, ref, scales=FINE)
    inner = signed_distances(cones_of(pos, UP, 0.5), w, ref, scales=Scales(cone_sides=16))
    outer = signed_distances(
        cones_of(pos, UP, 0.5 / np.cos(np.pi / 16)), w, ref, scales=Scales(cone_sides=16)
    )
    assert np.all(circle.converged & inner.converged & outer.converged)
    assert np.all(outer.lower - 1e-9 * WEIGHT <= circle.upper)
    assert np.all(circle.lower <= inner.upper + 1e-9 * WEIGHT)


@pytest.mark.parametrize("friction", [0.0, 1e-3, 10.0, MOST_FRICTION])
def test_little_and_much_friction(friction: float) -> None:
    """A push sideways at the reference of 0.8 m: beyond friction it slides, beyond 87.5 N it tips.

    One sole, heel at −0.1 m: 700 · 0.1 / 0.8 = 87.5 N.
    """
    for push, falls in (
        (0.5, friction < 0.5 / WEIGHT),
        (50.0, friction < 50.0 / WEIGHT),
        (90.0, True),
    ):
        out = one(soles_at((0, 0, 0)), np.array([push, 0, WEIGHT, 0, 0, 0]), friction)
        assert (out.lower[0] > 0.0) == falls


def test_contacts_all_around_give_every_wrench() -> None:
    box = np.array([[x, y, z] for x in (-0.3, 0.3) for y in (-0.2, 0.2) for z in (-0.2, 0.2)])
    normal = np.stack([-np.sign(box[:, 0]), np.zeros(8), np.zeros(8)], axis=1)
    out = one(box[None], np.array([10.0, 20, -700, 15, 30, 5]), 0.9, normal[None])
    assert out.lower[0] == out.upper[0] == -np.inf
    assert out.margin[0] == np.inf
    assert out.dimension[0] == 6
    assert out.converged[0]
    assert not np.any(out.dual[0])


@pytest.mark.parametrize("seed", range(5))
def test_hands_on_opposite_walls_are_judged_across_their_line(seed: int) -> None:
    """Two points: what is missing is the moment about the line between them, wherever it lies."""
    rng = np.random.default_rng(seed)
    R = rotation.as_matrix(rotation.from_euler("xyz", rng.uniform(-3.0, 3.0, (1, 3))))[0]
    hands, normal = np.array([[-0.4, 0, 0], [0.4, 0, 0]]), np.array([[1.0, 0, 0], [-1.0, 0, 0]])
    middle, ref = rng.normal(size=3), rng.normal(size=3)
    w = 100.0 * rng.normal(size=6)
    pos = hands @ R.T + middle
    out = signed_distances(cones_of(pos[None], normal @ R.T, 0.7), w[None], ref[None], scales=FINE)
    line = R[:, 0]
    twist = np.concatenate([np.cross(ref - middle, line) * -1.0, line])
    twist[:3] = np.cross(line, ref - middle)  # velocity of the reference when turning about it
    assert out.lower[0] == pytest.approx(abs(twist @ w) / np.linalg.norm(twist), rel=1e-9)
    assert out.dimension[0] == 5
    assert abs(out.dual[0] @ w) == pytest.approx(out.lower[0], rel=1e-9)


def palms_on_walls() -> tuple[Array, Array]:
    """A sole and two palms on opposite walls: vertices and normals, (1, 12, 3)."""
    palms = np.array(
        [[s * 0.4, y, 1.0 + z] for s in (-1, 1) for y in (-0.04, 0.04) for z in (0, 0.1)]
    )
    normal = np.stack([-np.sign(palms[:, 0]), np.zeros(8), np.zeros(8)], axis=1)
    pos = np.concatenate([SOLE, palms])[None]
    return pos, np.concatenate([np.tile(UP, (4, 1)), normal])[None]


def test_smooth_palms_on_opposite_walls_leave_the_push_along_them() -> None:
    """Without friction the palms give any force along x and any moments about y and z.

    What is left is the sole: 300 N along y are 300 N away, while |20 N m| ≤ 700 N · 0.05 m.
    A sole's ray that was there by rounding counted as part of a line: no distance was found.
    """
    pos, normal = palms_on_walls()
    out = one(pos, np.array([10.0, 300.0, 700.0, 20.0, 10.0, 5.0]), 0.0, normal)
    assert out.lower[0] == pytest.approx(300.0, rel=1e-9)
    assert out.dimension[0] == 5
    assert out.converged[0]
    inside = one(pos, np.array([10.0, 0.0, 700.0, 20.0, 10.0, 5.0]), 0.0, normal)
    assert abs(inside.upper[0]) <= ROUNDING * WEIGHT
    margin = 700.0 * 0.05 - 20.0  # of the moment about x within the plane of it and the force
    assert inside.margin[0] == pytest.approx(margin / np.hypot(1.0, 0.05), rel=1e-9)


def test_rough_palms_on_opposite_walls_give_every_wrench() -> None:
    pos, normal = palms_on_walls()
    assert one(pos, np.array([10.0, 300.0, 700.0, 20.0, 10.0, 5.0]), 0.3, normal).lower == -np.inf


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
def test_contacts_in_any_direction_agree_with_a_cone_program(count: int, friction: float) -> None:
    """Random normals, every other one turned round: with lines, without, or everything.

    The cone program is right to some 1e-7 of the wrench, near a boundary less.
    """
    rng = np.random.default_rng([count, int(10 * friction)])
    pos, normal = rng.normal(size=(40, count, 3)), rng.normal(size=(40, count, 3))
    pos[::2, 1], normal[::2, 1] = pos[::2, 0] + normal[::2, 0], -normal[::2, 0]
    normal /= np.linalg.norm(normal, axis=2, keepdims=True)
    ref, w = np.zeros((40, 3)), rng.normal(size=(40, 6))
    out = signed_distances(cones_of(pos, normal, friction), w, ref, scales=FINE)
    columns = columns_of(pos, normal, ref)
    options, zero = references.settings(1e-11), np.zeros(3 * count)
    for i in range(40):
        rows = references.polar_rows(columns[i], friction)
        square, held, kinds = references.smallest_form(rows)
        found = clarabel.DefaultSolver(square, -w[i], held, zero, kinds, options).solve()
        d = np.linalg.norm(found.x)
        assert max(out.upper[i], 0.0) == pytest.approx(d, abs=2e-5 * np.linalg.norm(w[i]))
        if np.isfinite(out.lower[i]):
            s = columns[i] @ out.dual[i]
            assert np.max(s[:, 0] + friction * np.linalg.norm(s[:, 1:], axis=1)) <= 1e-9
            assert out.dual[i] @ w[i] == pytest.approx(out.lower[i], abs=1e-9)


def test_a_step_has_a_dimension_for_each_of_its_contacts() -> None:
    """None, a point, an edge, a sole in one row of samples, as a ragged array."""
    pos = np.concatenate([SOLE[:1], SOLE[:2], SOLE])
    cones = Cones(
        start=np.array([0, 0, 1, 3, 7, 7]),
        vertex_pos=pos,
        vertex_normal=np.tile(UP, (7, 1)),
        vertex_friction=np.full(7, 0.7),
        vertex_stance=np.zeros(7, dtype=np.int64),
        vertex_l=pos,
    )
    w = np.tile([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0], (5, 1))
    out = signed_distances(cones, w, np.tile([0.0, 0.0, 0.8], (5, 1)))
    np.testing.assert_array_equal(out.dimension, [0, 3, 5, 6, 0])
    assert out.lower[0] == out.lower[4] == WEIGHT
    assert out.lower[1] > out.lower[2] > 0.0 > out.lower[3]


def test_contacts_on_all_sides_give_a_number_or_everything() -> None:
    """Walls, floors and ceilings at round places: rays that cancel up to rounding do cancel.

    Two of these 3,000 problems once had a lower bound of −∞ under a finite upper one.
    """
    rng = np.random.default_rng(1)
    ways = np.vstack([np.eye(3), -np.eye(3)])
    start, pos, normal, friction = [0], [], [], []
    for _ in range(3000):
        m = int(rng.integers(2, 6))
        pos.append(np.round(rng.uniform(-0.4, 0.4, (m, 3)), int(rng.integers(1, 4))))
        normal.append(ways[rng.integers(0, 6, m)])
        friction.append(np.full(m, rng.choice([0.0, 0.3, 0.5, 0.7, 1.0])))
        start.append(start[-1] + m)
    places = np.concatenate(pos)
    cones = Cones(
        np.array(start),
        places,
        np.concatenate(normal),
        np.concatenate(friction),
        np.zeros(len(places), dtype=np.int64),
        places,
    )
    wrench = rng.normal(size=(3000, 6)) * [100, 100, 300, 20, 20, 20]
    found = signed_distances(cones, wrench, np.tile([0.0, 0.0, 0.8], (3000, 1)))
    everything = np.isneginf(found.upper)
    assert np.array_equal(everything, np.isneginf(found.lower))
    rest = ~everything & found.converged
    assert found.converged.mean() > 0.999
    assert np.all(found.lower[rest] <= found.upper[rest] + 1e-9)
    assert np.allclose(np.linalg.norm(found.dual[rest], axis=1), 1.0, atol=1e-9)
    product = np.einsum("nk,nk->n", found.dual, wrench)
    assert np.allclose(product[rest], found.lower[rest], rtol=1e-9, atol=1e-6)
