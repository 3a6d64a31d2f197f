"""Signed distances of random problems by family: how many are wrong, how many uncertified.

    python benchmarks/index_families.py [--count 1000000] [--inside 20000] [--seed 1] [--jobs 2]

Outside, the reference is a cone program (Clarabel) with the bounds that its own answer proves;
inside, an ascent by cone programs from four random starts, each end of which is a proven bound.
Wrong: the two pairs of bounds do not meet by more than 1e-13 of the wrench, or a ray goes along
with the dual direction by more than 1e-9. Families and references are those of the tests.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from surefoot.index.distance import Distances, signed_distances

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))

from make import references  # the families and references of the tests
from make.stances import FAMILIES, HOW_FAR, Problems, columns_of, problems

BLOCK = 2000
ROUNDING = 1e-13  # of the wrench
Task = tuple[str, str, int, int]
Row = tuple[int, int, int, int, float, float]


def leaning(out: Distances, columns: np.ndarray, friction: float) -> np.ndarray:
    """Whether some ray goes along with the dual direction."""
    s = np.einsum("nkbd,nd->nkb", columns, out.dual)
    return np.max(s[..., 0] + friction * np.linalg.norm(s[..., 1:], axis=2), axis=1) > 1e-9


def outside(given: Problems, columns: np.ndarray, out: Distances) -> Row:
    """Problems, judged, wrong, uncertified, worst gap over d, worst gap of the reference."""
    size = np.linalg.norm(given.wrench, axis=1)
    low, high = references.nearest(columns, given.friction, given.wrench)
    wrong = np.maximum(out.lower, 0.0) > high + ROUNDING * size
    wrong |= np.maximum(out.upper, 0.0) < low - ROUNDING * size
    wrong |= leaning(out, columns, given.friction)
    judged = out.lower > 0.0
    gap = (out.upper - out.lower)[judged] / out.upper[judged]
    uncertified = int(np.sum(~out.converged[judged]))
    error = float(np.quantile((high - low) / size, 0.99))
    return given.n, int(judged.sum()), int(wrong.sum()), uncertified, gap.max(initial=0.0), error


def inside(given: Problems, columns: np.ndarray, out: Distances, seed: int) -> Row:
    """The same; the last figure is the share of samples whose least margin the ascent met."""
    rng = np.random.default_rng(seed)
    judged = out.upper < 0.0
    wrong, met = leaning(out, columns, given.friction), 0
    for i in np.flatnonzero(judged):
        w = given.wrench[i]
        found, _ = references.ascent(columns[i], given.friction, w, rng.normal(size=(4, 6)))
        wrong[i] |= found < -out.upper[i] - ROUNDING * np.linalg.norm(w)
        met += found <= -out.lower[i] * (1.0 + 1e-9)
    gap = (out.upper - out.lower)[judged] / -out.upper[judged]
    uncertified = int(np.sum(~out.converged[judged]))
    share = met / max(int(judged.sum()), 1)
    return given.n, int(judged.sum()), int(wrong.sum()), uncertified, gap.max(initial=0.0), share


def block(task: Task) -> Row:
    family, how, count, seed = task
    given = problems(family, how, count, seed)
    columns = columns_of(given.pos, given.normal, given.ref)
    out = signed_distances(given.cones, given.wrench, given.ref)
    if how == "inside":
        return inside(given, columns, out, seed)
    return outside(given, columns, out)


def tasks(count: int, hows: tuple[str, ...], seed: int) -> list[Task]:
    """Blocks of all families; each has its own seed."""
    each = -(-count // (len(FAMILIES) * len(hows)))
    return [
        (family, how, min(BLOCK, each - begin), 1_000_000 * seed + begin)
        for family in FAMILIES
        for how in hows
        for begin in range(0, each, BLOCK)
    ]


def table(all_tasks: list[Task], rows: list[Row], last: str, worst: bool) -> None:
    print(f"| family | problems | judged | wrong | uncertified | worst gap | {last} |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    total = np.zeros(4, dtype=np.int64)
    for family, how in dict.fromkeys((task[0], task[1]) for task in all_tasks):
        own = [r for t, r in zip(all_tasks, rows, strict=True) if t[:2] == (family, how)]
        sums = np.array([r[:4] for r in own]).sum(axis=0)
        total += sums
        gap = max(r[4] for r in own)
        ends = [r[5] for r in own]
        end = f"{max(ends):.0e}" if worst else f"{100.0 * float(np.mean(ends)):.0f} %"
        numbers = " | ".join(f"{int(x):,}" for x in sums)
        print(f"| {family}, {how} | {numbers} | {gap:.1e} | {end} |")
    print(f"| all | {' | '.join(f'{int(x):,}' for x in total)} | | |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--inside", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    parts = [
        (tasks(options.inside, ("inside",), options.seed), "ascent met it", False),
        (tasks(options.count, HOW_FAR, options.seed), "reference, 99 %", True),
    ]
    with ProcessPoolExecutor(options.jobs, initializer=os.nice, initargs=(10,)) as pool:
        for all_tasks, last, worst in parts:
            start = time.perf_counter()
            table(all_tasks, list(pool.map(block, all_tasks)), last, worst)
            print(f"{time.perf_counter() - start:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
