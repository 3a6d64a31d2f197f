"""Signed distances of wrenches from contact cones: surefoot's kernels against Clarabel and Qhull.

    python benchmarks/distance.py [--samples 2000] [--runs 7]

One thread, 8 contact vertices, circular cones. One run prints everything, so the ratios come from
the same minutes of the same machine. Outside, Clarabel solves its smallest form: min ½ |r − w|²
over the polar cone, 6 variables and 8 second-order cones of 3; its matrices are prebuilt, set-up
and solve at 1e-9 are timed. Inside, Qhull makes the hull of the 512 rays of 64-sided pyramids, in
the five dimensions that are left on level ground.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import clarabel
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from surefoot.arrays import door
from surefoot.index.distance import Scales, signed_distances
from surefoot.kernels import columns as shape_kernels
from surefoot.kernels.nearest import nearest_points

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))

from make import references  # the families and references of the tests
from make.stances import SOLE, WEIGHT, Problems, columns_of, soles

MASS, GRAVITY = WEIGHT / 9.81, 9.81
TOLERANCE = 1e-9  # relative, of both
FRICTIONS = (0.7, 0.3, 0.2, 0.1)


def motion(samples: int, friction: float = 0.7) -> Problems:
    """10 s of swaying on two soles: sums of slow sines, the base 0.8 m high and moving."""
    time_s = np.linspace(0.0, 10.0, samples)
    hertz = np.array([[0.31, 0.83, 1.7], [0.43, 1.1, 1.9], [0.37, 0.97, 2.1]])
    size = np.array([[0.08, 0.012, 0.004], [0.10, 0.015, 0.003], [0.02, 0.01, 0.003]])  # m
    omega = 2.0 * np.pi * hertz[:, :, None]
    wave = np.sin(omega * time_s + np.arange(9.0).reshape(3, 3, 1))
    shift = np.sum(size[:, :, None] * wave, axis=1).T
    force = -MASS * np.sum(size[:, :, None] * omega**2 * wave, axis=1).T
    force[:, 2] += MASS * GRAVITY
    moment = 8.0 * np.sin(omega[:, 1] * time_s + np.arange(3.0)[:, None]).T
    side, height = np.array([0.0, 0.1, 0.0]), np.array([0.0, 0.0, 0.8])
    pos = np.tile(np.concatenate([SOLE + side, SOLE - side]), (samples, 1, 1))
    normal = np.broadcast_to(np.array([0.0, 0.0, 1.0]), pos.shape)
    return Problems(pos, normal, friction, np.concatenate([force, moment], axis=1), shift + height)


def kernel_call(given: Problems, cold: bool) -> Callable[[], np.ndarray]:
    """The search of nearest points alone, columns prebuilt, as Clarabel's matrices are.

    Cold: between any two samples lies one that is not wanted, after which nothing is remembered.
    """
    n, k = given.pos.shape[:2]
    step = 2 if cold else 1
    first = np.minimum(k * ((np.arange(step * n + 1) + step - 1) // step), k * n)
    wanted = np.arange(step * n) % step == 0
    rows = np.minimum(np.arange(step * n) // step, n - 1)
    a = columns_of(given.pos, given.normal, given.ref).reshape(-1, 3, 6)
    inward = np.zeros((step * n, 6))
    inward[:, 2] = 1.0
    least, friction = np.zeros(n * k), np.full(n * k, given.friction)
    shape_kernels.shapes(
        first, door(a), door(friction), 0, door(inward), least, np.zeros(step * n, dtype=np.bool_),
        np.zeros(step * n, dtype=np.int64), np.zeros((step * n, 6, 6)),
    )  # fmt: skip
    a, friction, inward, least = door(a), door(friction), door(inward), door(least)
    w = door(given.wrench[rows])
    lower, upper, dual = np.zeros(step * n), np.zeros(step * n), np.zeros((step * n, 6))
    carriers, status = np.empty((step * n, 0, 6)), np.zeros(step * n, dtype=np.int64)

    def call() -> np.ndarray:
        nearest_points(
            wanted, first, a, friction, 0, inward, least, w, TOLERANCE,
            lower, upper, dual, carriers, status,
        )  # fmt: skip
        return upper[wanted]

    return call


def clarabel_call(given: Problems) -> Callable[[], np.ndarray]:
    columns = columns_of(given.pos, given.normal, given.ref)
    programs = [references.smallest_form(references.polar_rows(c, given.friction)) for c in columns]
    options, zero = references.settings(1e-9), np.zeros(3 * given.pos.shape[1])
    linear = [-w for w in given.wrench]

    def call() -> np.ndarray:
        return np.array(
            [
                np.linalg.norm(clarabel.DefaultSolver(P, q, A, zero, cones, options).solve().x)
                for (P, A, cones), q in zip(programs, linear, strict=True)
            ]
        )

    return call


def timed(calls: dict[str, tuple[Callable[[], object], int]], runs: int) -> dict[str, list[float]]:
    """Microseconds per sample of every call, the calls taking turns."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, (call, samples) in calls.items():
            start = time.perf_counter()
            call()
            found[name].append(1e6 * (time.perf_counter() - start) / samples)
    return found


def show(found: dict[str, list[float]], base: str) -> dict[str, float]:
    medians = {name: statistics.median(values) for name, values in found.items()}
    for name, values in found.items():
        ratio = medians[base] / medians[name]
        low, high = min(values), max(values)
        print(f"{name:44s} {medians[name]:12.2f} {low:12.2f} {high:12.2f} {ratio:12.1f}")
    return medians


def outside(samples: int, runs: int) -> None:
    given = motion(samples)
    n = given.n
    whole = signed_distances(given.cones, given.wrench, given.ref)
    given = given.only(whole.lower > 0.0)
    few = given.only(np.linspace(0, given.n - 1, 300).astype(np.int64))
    peer = clarabel_call(few)
    np.testing.assert_allclose(kernel_call(few, True)(), peer(), rtol=0.0, atol=1e-7 * WEIGHT)
    cones = given.cones
    calls: dict[str, tuple[Callable[[], object], int]] = {
        "Clarabel, smallest form, set-up + solve": (peer, few.n),
        "nearest points, cold": (kernel_call(given, True), given.n),
        "nearest points, warm": (kernel_call(given, False), given.n),
        "signed_distances, warm, columns and all": (
            lambda: signed_distances(cones, given.wrench, given.ref),
            given.n,
        ),
    }
    print(f"outside: {given.n} of {n} samples of one motion of 10 s, friction 0.7")
    medians = show(timed(calls, runs), "Clarabel, smallest form, set-up + solve")
    base = medians["Clarabel, smallest form, set-up + solve"]
    print(f"cold: {base / medians['nearest points, cold']:.0f} times faster (25)")
    print(f"warm: {base / medians['nearest points, warm']:.0f} times faster (100)")


def qhull_call(columns: np.ndarray, friction: float, options: str | None) -> Callable[[], int]:
    """Hulls of all stances; how many Qhull gave up on."""
    rays = [references.pyramid_rays(c, friction, 64)[:, [0, 1, 3, 4, 5]] for c in columns]

    def call() -> int:
        failed = 0
        for points in rays:
            try:
                ConvexHull(points, qhull_options=options)
            except QhullError:
                failed += 1
        return failed

    return call


def inside(stances: int, runs: int) -> None:
    rng = np.random.default_rng(0)
    pos, normal = soles("flat", stances, rng)
    ref = pos.mean(axis=1) + np.array([0.0, 0.0, 0.8])
    columns = columns_of(pos, normal, ref)
    wrench = np.tile([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0], (stances, 1))
    wrench[:, 3:5] += 5.0 * rng.normal(size=(stances, 2))
    print(f"inside: {stances} stances of two turned soles, each alone, to 1e-6")
    for friction in FRICTIONS:
        given = Problems(pos, normal, friction, wrench, ref)
        cones, fine = given.cones, Scales(tolerance=1e-6)
        out = signed_distances(cones, wrench, ref, scales=fine)
        assert np.all(out.upper < 0.0)
        assert np.all(out.converged)
        default, joggled = qhull_call(columns, friction, None), qhull_call(columns, friction, "QJ")
        start = time.perf_counter()
        failed = default()
        hull = 1e6 * (time.perf_counter() - start) / stances
        start = time.perf_counter()
        failed_too = joggled()
        joggle = 1e6 * (time.perf_counter() - start) / stances
        call = partial(signed_distances, cones, wrench, ref, scales=fine)
        own = timed({"own": (call, stances)}, max(runs, 3))["own"]
        median, wanted = statistics.median(own), 2000 if friction == 0.7 else 150
        print(
            f"friction {friction}: {median:8.0f} us ({min(own):.0f} to {max(own):.0f});"
            f" Qhull {hull:9.0f} us, gave up on {failed};"
            f" QJ {joggle:9.0f} us, gave up on {failed_too};"
            f" {hull / median:6.0f} times faster ({wanted}), QJ {joggle / median:.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--stances", type=int, default=20)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    print(f"{'us per sample':44s} {'median':>12s} {'min':>12s} {'max':>12s} {'times faster':>12s}")
    outside(options.samples, options.runs)
    inside(options.stances, options.runs)
    print("in brackets: the targets")


if __name__ == "__main__":
    main()
