"""A dump re-checked from beginning to end."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from surefoot.verification.distance import check_sample, sample
from surefoot.verification.dump import FLAG_EVERYTHING, Dump, Unusable, arrays_in, dump_of
from surefoot.verification.forces import Engine, check_times, check_wrenches, engine
from surefoot.verification.replay import replay
from surefoot.verification.result import Ledger, Verification
from surefoot.verification.run import is_run

Progress = Callable[[int, int, str], None]

UNIT = 1e-9  # | |n| − 1 | of a normal
SAID_EVERY = 20  # samples between two calls of progress
_BY_SAMPLE = ("time", "qpos", "qvel", "qacc", "wrench", "reference", "d", "d_lower", "d_upper")
_BY_VERTEX = ("vertex_pos", "vertex_normal", "vertex_friction")


def verify(path: str | pathlib.Path, *, progress: Progress | None = None) -> Verification:
    """Whether the numbers of a dump are confirmed by means that share nothing with their maker.

    Args:
        path: a file that `surefoot index --dump` or `surefoot simulate --dump` wrote.
        progress: called with samples done, samples in all, and what is going on.

    Raises:
        Unusable: the file is no dump, or its model and arrays do not belong together.
        OSError: the file cannot be opened.
    """
    began = time.perf_counter()
    arrays = arrays_in(path)
    if is_run(arrays):
        return replay(arrays, progress=progress)
    dump = dump_of(arrays)
    _check_scalars(dump)
    machine = engine(dump)
    ledger = Ledger(dump.time)
    usable = _check_values(dump, ledger)
    check_times(machine, dump, usable, ledger)
    if progress is not None:
        progress(0, dump.n, "checking the required wrenches")
    check_wrenches(machine, dump, usable, ledger)
    outside, inside = _check_index(dump, machine, usable, ledger, progress)
    return Verification(
        checked=dump.n,
        outside=outside,
        inside=inside,
        mismatches=tuple(sorted(ledger.mismatches, key=lambda m: m.sample)),
        worst=ledger.worst,
        notes=tuple(ledger.notes),
        seconds=time.perf_counter() - began,
    )


def _check_scalars(dump: Dump) -> None:
    """Single numbers without which nothing can be checked."""
    if not (np.isfinite(dump.length_scale) and dump.length_scale > 0.0):
        raise Unusable(f"expected a positive length_scale, got {dump.length_scale}")
    if dump.cone_sides != 0 and dump.cone_sides < 3:
        raise Unusable(f"expected cone_sides 0 or at least 3, got {dump.cone_sides}")


def _check_values(dump: Dump, ledger: Ledger) -> NDArray[np.bool_]:
    """Compare values with what they must be by themselves; which samples can be used further."""
    usable = np.ones(dump.n, dtype=np.bool_)
    everything = dump.flag == FLAG_EVERYTHING
    for name in (*_BY_SAMPLE, "dual"):
        wrong = ~_finite(getattr(dump, name))
        if name in ("d", "d_lower", "d_upper"):
            wrong &= ~everything
        _refuse(ledger, "finite numbers", name, np.flatnonzero(wrong), np.nan, 0.0)
        usable &= ~wrong
    strange = np.flatnonzero((dump.flag < 0) | (dump.flag > FLAG_EVERYTHING))
    for i in strange:
        ledger.equal("flag", "flag", int(i), float(dump.flag[i]), 0.0, 0.0)
    usable[strange] = False
    owner = dump.vertex_sample
    lost = np.flatnonzero((owner < 0) | (owner >= dump.n))
    back = np.flatnonzero(np.diff(owner) < 0) + 1
    for row in np.union1d(lost, back):
        here = int(np.clip(owner[row], 0, dump.n - 1))
        before = float(owner[row - 1]) if row else 0.0
        ledger.equal("order of vertices", "vertex_sample", here, float(owner[row]), before, 0.0)
    _check_vertices(dump, ledger, usable)
    return usable


def _check_vertices(dump: Dump, ledger: Ledger, usable: NDArray[np.bool_]) -> None:
    """Finite positions, unit normals, friction that is not negative; others spoil their sample."""
    owner = np.clip(dump.vertex_sample, 0, dump.n - 1)
    for name in _BY_VERTEX:
        wrong = np.unique(owner[~_finite(getattr(dump, name))])
        _refuse(ledger, "finite numbers", name, wrong, np.nan, 0.0)
        usable[wrong] = False
    length = np.linalg.norm(dump.vertex_normal, axis=1)
    for row in np.flatnonzero(np.abs(length - 1.0) > UNIT):
        ledger.equal("unit normals", "vertex_normal", int(owner[row]), length[row], 1.0, UNIT)
        usable[owner[row]] &= length[row] > 0.0
    for row in np.flatnonzero(dump.vertex_friction < 0.0):
        value = float(dump.vertex_friction[row])
        ledger.at_least("friction", "vertex_friction", int(owner[row]), value, 0.0, 0.0)
        usable[owner[row]] = False


def _finite(array: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Rows without NaN and infinities."""
    return np.asarray(np.isfinite(array).all(axis=tuple(range(1, array.ndim))), dtype=np.bool_)


def _refuse(
    ledger: Ledger,
    check: str,
    name: str,
    samples: NDArray[np.intp] | NDArray[np.int64],
    found: float,
    expected: float,
) -> None:
    for i in samples:
        ledger.equal(check, name, int(i), found, expected, 0.0)


def _check_index(
    dump: Dump,
    machine: Engine,
    usable: NDArray[np.bool_],
    ledger: Ledger,
    progress: Progress | None,
) -> tuple[int, int]:
    """The checks of the index at every sample; how many are outside, and how many were searched."""
    order = np.argsort(dump.vertex_sample, kind="stable")
    bounds = np.searchsorted(dump.vertex_sample[order], np.arange(dump.n + 1))
    outside = inside = 0
    for i in range(dump.n):  # every sample is a small problem of its own size
        if progress is not None and i % SAID_EVERY == 0:
            progress(i, dump.n, "checking the index")
        if not usable[i]:
            continue
        here = sample(dump, i, machine.weight, order[bounds[i] : bounds[i + 1]])
        was_outside, was_searched = check_sample(dump, here, ledger)
        outside += was_outside
        inside += was_searched
    if progress is not None:
        progress(dump.n, dump.n, "checking the index")
    return outside, inside
