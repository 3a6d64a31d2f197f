"""Stretches for the best warp: pendulums whose optimum is known by hand, and random ones."""

from __future__ import annotations

from collections.abc import Callable

import clarabel
import numpy as np
from scipy import sparse

from make.references import settings
from make.stances import WEIGHT, columns_of, cones_of, problems
from surefoot.adapters.warp_program import Course, Freedom
from surefoot.arrays import Array

G = 9.81
HEIGHT = 0.9  # m, of the pendulum's mass
HALF_X = 1.0  # m, of its support: so long that it only tips sideways
FRICTION = 5.0  # and never slides

Path1d = Callable[[Array], Array]


def sway(
    y: Path1d, dy: Path1d, ddy: Path1d, *, n: int, length: float, low: Array, high: Array
) -> Course:
    """A point of 1 kg at HEIGHT that sways along y(s), m, over a support from low to high in y.

    The moment is about a fixed point at HEIGHT, so the edges' directions are the same at all s.
    """
    step = length / n
    s = (np.arange(n) + 0.5) * step
    a, b, c = np.zeros((3, n, 6))
    a[:, 1], b[:, 1] = dy(s), ddy(s)
    c[:, 2], c[:, 3] = G, G * y(s)
    corners = np.array([[x, side] for x in (-HALF_X, HALF_X) for side in (0, 1)])
    pos = np.zeros((n, 4, 3))
    pos[:, :, 0] = corners[:, 0]
    pos[:, :, 1] = np.where(corners[:, 1] == 0, low[:, None], high[:, None])
    return Course(
        step=step,
        count=n,
        cell=np.arange(n),
        fraction=np.full(n, 0.5),
        a=a,
        b=b,
        c=c,
        cones=cones_of(pos, np.array([0.0, 0.0, 1.0]), FRICTION),
        ref_w=np.tile([0.0, 0.0, HEIGHT], (n, 1)),
        weight_n=G,
    )


def straight(n: int, *, amplitude: float = 0.1, length: float = 1.0, half: float = 0.05) -> Course:
    """y = A (2 s / T − 1) over |y| ≤ half: the sway of the known optimum."""
    rate = 2.0 * amplitude / length
    return sway(
        lambda s: rate * s - amplitude,
        lambda s: np.full(len(s), rate),
        np.zeros_like,
        n=n,
        length=length,
        low=np.full(n, -half),
        high=np.full(n, half),
    )


def onto_a_foot(n: int, *, amplitude: float = 0.05, length: float = 1.6) -> Course:
    """y = A (1 − cos 2 π s / T) / 2, on a foot at 0.1 ± 0.04 m for s / T in 0.35 to 0.65."""
    k = 2.0 * np.pi / length
    s = (np.arange(n) + 0.5) / n
    single = (s >= 0.35) & (s <= 0.65)
    return sway(
        lambda s: 0.5 * amplitude * (1.0 - np.cos(k * s)),
        lambda s: 0.5 * amplitude * k * np.sin(k * s),
        lambda s: 0.5 * amplitude * k * k * np.cos(k * s),
        n=n,
        length=length,
        low=np.where(single, 0.06, -0.14),
        high=np.full(n, 0.14),
    )


def zmp_of(d: float, half: float) -> float:
    """|ZMP| of a worst d over the weight: d = (Z − half) / √(half² + h² + L²), L = 1 m."""
    return d * float(np.sqrt(half**2 + HEIGHT**2 + 1.0)) + half


def random_course(seed: int) -> Course:
    """A short stretch on a random stance: a wrench near its cone, and one that speeds change."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 17))
    given = problems("slopes and heights", "near", 1, seed)
    k = given.pos.shape[1]
    s = (np.arange(n) + 0.5) / n
    waves = np.stack([np.sin(2 * np.pi * s), np.cos(2 * np.pi * s), np.sin(4 * np.pi * s)], axis=1)
    size = WEIGHT * np.array([0.05, 0.05, 0.02])
    a = 0.04 * WEIGHT * rng.normal(size=6) + waves @ (size[:, None] * rng.normal(size=6))
    b = waves @ (2.0 * size[:, None] * rng.normal(size=(3, 6)))
    still = np.tile(given.wrench[0], (n, 1))
    pos = np.broadcast_to(given.pos, (n, k, 3))
    return Course(
        step=float(rng.uniform(0.5, 1.0)) / n,
        count=n,
        cell=np.arange(n),
        fraction=np.full(n, 0.5),
        a=a,
        b=b,
        c=still - 0.3 * b,
        cones=cones_of(pos, np.broadcast_to(given.normal, (n, k, 3)), given.friction),
        ref_w=np.tile(given.ref[0], (n, 1)),
        weight_n=WEIGHT,
    )


def socp(course: Course, freedom: Freedom) -> float:
    """The least t ≥ 0 over all x with D ≤ T as one cone program, by Clarabel; over the weight.

    |w_i − G_i f_i| ≤ t with forces f in their cones; c² ≤ x and e (c + c') ≥ 1 make Σ 2 ds e ≥ D.
    """
    n, k = course.count, int(course.cones.count[0])
    pos = course.cones.vertex_pos.reshape(n, k, 3)
    normal = course.cones.vertex_normal.reshape(n, k, 3)
    columns = columns_of(pos, normal, np.asarray(course.ref_w))  # forces over the weight
    mu = float(course.cones.vertex_friction[0])
    x0, t, f0 = 0, n + 1, n + 2
    c0 = f0 + 3 * n * k
    e0 = c0 + n + 1
    size = e0 + n
    rows: list[tuple[Array, float]] = []
    cones: list[object] = []

    def put(row: dict[int, float], side: float) -> None:
        """One row: side + row · z lies in the cone."""
        line = np.zeros(size)
        for place, value in row.items():
            line[place] = -value
        rows.append((line, side))

    for i, (low, high) in enumerate(course.bounds(freedom)):
        put({x0 + i: 1.0}, -low)
        put({x0 + i: -1.0}, high)
    for i in range(1, n if np.isfinite(freedom.bend) else 0):
        for sign in (1.0, -1.0):
            most = freedom.bend * course.step**2
            put({x0 + i - 1: sign, x0 + i: -2.0 * sign, x0 + i + 1: sign}, most)
    put({e0 + i: -2.0 * course.step for i in range(n)}, course.duration)
    put({t: 1.0}, 0.0)
    cones.append(clarabel.NonnegativeConeT(len(rows)))
    for i in range(n):
        put({t: 1.0}, 0.0)
        for j in range(6):
            rate, mean = course.a[i, j] / (2.0 * course.step), 0.5 * course.b[i, j]
            left, right = (mean - rate) / course.weight_n, (mean + rate) / course.weight_n
            row = {x0 + i: left, x0 + i + 1: right}
            for v in range(k):
                for axis in range(3):
                    row[f0 + 3 * (i * k + v) + axis] = -columns[i, v, axis, j]
            put(row, course.c[i, j] / course.weight_n)
        cones.append(clarabel.SecondOrderConeT(7))
        for v in range(k):
            at = f0 + 3 * (i * k + v)
            put({at: mu}, 0.0)
            put({at + 1: 1.0}, 0.0)
            put({at + 2: 1.0}, 0.0)
            cones.append(clarabel.SecondOrderConeT(3))
        put({e0 + i: 1.0, c0 + i: 1.0, c0 + i + 1: 1.0}, 0.0)
        put({e0 + i: 1.0, c0 + i: -1.0, c0 + i + 1: -1.0}, 0.0)
        put({}, 2.0)
        cones.append(clarabel.SecondOrderConeT(3))
    for i in range(n + 1):
        put({x0 + i: 1.0}, 1.0)
        put({x0 + i: 1.0}, -1.0)
        put({c0 + i: 2.0}, 0.0)
        cones.append(clarabel.SecondOrderConeT(3))
    cost = np.zeros(size)
    cost[t] = 1.0
    matrix = sparse.csc_matrix(np.array([line for line, _ in rows]))
    side = np.array([value for _, value in rows])
    nothing = sparse.csc_matrix((size, size))
    found = clarabel.DefaultSolver(nothing, cost, matrix, side, cones, settings(1e-8)).solve()
    return float(found.x[t])
