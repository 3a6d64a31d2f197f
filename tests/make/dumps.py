"""Dumps of the index made without surefoot: plain MuJoCo, and Clarabel for the distances.

A dump is a dictionary of arrays as `surefoot index --dump` writes it (docs/verification.md).
"""

from __future__ import annotations

import pathlib
from typing import Any

import clarabel
import mujoco
import numpy as np
from scipy import sparse

import surefoot.robots

HUMAN25 = pathlib.Path(surefoot.robots.__file__).parent / "zoo" / "human25" / "model.xml"
UP = np.array([0.0, 0.0, 1.0])

# Soles of human25 in its home pose, m: x from heel to toe, y of the left foot and its mirror image.
SOLES = np.array([(x, s * y, 0.0) for s in (1, -1) for x in (-0.07, 0.18) for y in (0.04, 0.13)])


def columns(position: Any, normal: Any, reference: Any, length: float = 1.0) -> np.ndarray:
    """A_j of every vertex (k, 6, 3): wrench of a force along normal and two tangents."""
    made = []
    for p, n in zip(position, normal, strict=True):
        other = np.eye(3)[np.argmin(np.abs(n))]
        first = np.cross(n, other) / np.linalg.norm(np.cross(n, other))
        turn = np.column_stack((n, first, np.cross(n, first)))
        made.append(np.vstack((turn, np.cross(p - reference, turn.T).T / length)))
    return np.array(made).reshape(-1, 6, 3)


def _cones(a: np.ndarray, friction: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Rows with which n of the dual cone is written: s = A^T n, s_n ≥ μ |s_t|."""
    rows = []
    for block, mu in zip(a, friction, strict=True):
        s = block.T.copy()
        s[1:] *= mu
        rows.append(-s)
    return np.vstack(rows), [clarabel.SecondOrderConeT(3)] * len(a)


def _solve(P: Any, q: Any, A: Any, b: Any, cones: Any) -> np.ndarray:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    found = clarabel.DefaultSolver(
        sparse.csc_matrix(P), np.asarray(q), sparse.csc_matrix(A), np.asarray(b), cones, settings
    ).solve()
    return np.array(found.x)


def pushed(n: np.ndarray, a: np.ndarray, friction: np.ndarray) -> np.ndarray:
    """A direction of the dual cone, moved in where the solver left it outside; unit."""
    lift = np.zeros(6)
    lift[:3] = a[:, :3, 0].sum(axis=0) / np.linalg.norm(a[:, :3, 0].sum(axis=0))

    def room(m: np.ndarray) -> np.ndarray:
        s = np.einsum("kij,i->kj", a, m)
        return s[:, 0] - friction * np.hypot(s[:, 1], s[:, 2])

    n = n / np.linalg.norm(n)
    n = n + max(0.0, float(np.max(-room(n) / room(lift)))) * lift
    return n / np.linalg.norm(n)


def outside(w: np.ndarray, a: np.ndarray, friction: np.ndarray) -> tuple[float, np.ndarray]:
    """d+ and the dual direction: the nearest r of the polar cone to w."""
    rows, cones = _cones(a, friction)
    size = np.linalg.norm(w)
    r = _solve(np.eye(6), -w / size, -rows, np.zeros(len(rows)), cones) * size
    return float(np.linalg.norm(r)), -pushed(-r, a, friction)


def margin(
    w: np.ndarray, a: np.ndarray, friction: np.ndarray, starts: int = 24
) -> tuple[float, np.ndarray]:
    """The smallest n · w of the dual cone that an ascent from some starts finds, and n."""
    rows, cones = _cones(a, friction)
    A = np.vstack((w / np.linalg.norm(w), rows))
    b = np.concatenate(([1.0], np.zeros(len(rows))))
    cones = [clarabel.ZeroConeT(1), *cones]
    chance = np.random.default_rng(3).standard_normal((starts, 6))
    best = (np.inf, np.zeros(6))
    for n in chance:
        for _ in range(30):
            new = _solve(np.zeros((6, 6)), -n / np.linalg.norm(n), A, b, cones)
            done = np.linalg.norm(new) <= np.linalg.norm(n) * (1 + 1e-12) and n is not chance[0]
            n = new
            if done:
                break
        n = pushed(n, a, friction)
        best = min(best, (float(n @ w), n), key=lambda pair: pair[0])
    return best


def index(w: np.ndarray, a: np.ndarray, friction: np.ndarray) -> tuple[float, float, np.ndarray]:
    """d_lower, d_upper and the dual direction."""
    size = float(np.linalg.norm(w))
    if not len(a):
        return size, size, w / size
    d, dual = outside(w, a, friction)
    if d > 1e-6 * size:
        return float(dual @ w), max(d, float(dual @ w)), dual
    d, n = margin(w, a, friction)
    return float(-n @ w), float(-n @ w), -n


def swaying(n: int, *, seed: int = 0, vigour: float = 1.0, rate: float = 200.0) -> dict[str, Any]:
    """States of human25 that moves all joints a little, with the wrench that this requires."""
    model = mujoco.MjModel.from_xml_path(str(HUMAN25))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    size = 0.01 * vigour * rng.uniform(0.3, 1.0, model.nv)
    omega, phase = rng.uniform(3.0, 9.0, model.nv), rng.uniform(0.0, 6.3, model.nv)
    axis = rng.standard_normal(3)
    axis /= np.linalg.norm(axis)
    time = np.arange(n) / rate
    angle = omega * time[:, None] + phase
    x = size * np.sin(angle)
    v, a = size * omega * np.cos(angle), -size * omega**2 * np.sin(angle)
    for y in (x, v, a):  # the base turns about one axis: rates are exact
        y[:, 3:6] = y[:, 3:4] * axis
    out = {"time": time, "qvel": v, "qacc": a, "qpos": np.zeros((n, model.nq))}
    wrench = np.zeros((n, 6))
    rows = np.zeros(model.nv)
    for i in range(n):
        out["qpos"][i] = model.qpos0
        out["qpos"][i, :3] += x[i, :3]
        turn = np.zeros(4)
        half = x[i, 3:6] @ axis / 2.0
        turn[0], turn[1:] = np.cos(half), np.sin(half) * axis
        out["qpos"][i, 3:7] = turn
        out["qpos"][i, 7:] += x[i, 6:]
        data.qpos[:], data.qvel[:], data.qacc[:] = out["qpos"][i], v[i], a[i]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, rows)
        wrench[i, :3] = rows[:3]
        wrench[i, 3:] = data.xmat[1].reshape(3, 3) @ rows[3:6]
    out["wrench"], out["reference"] = wrench, out["qpos"][:, :3].copy()
    out["weight"] = np.float64(model.body_subtreemass[1] * 9.81)
    out["model_xml"] = np.str_(HUMAN25.read_text(encoding="utf-8"))
    return out


def standing(
    n: int,
    *,
    seed: int = 0,
    vigour: float = 1.0,
    friction: float = 0.7,
    length: float = 1.0,
    vertices: np.ndarray = SOLES,
) -> dict[str, Any]:
    """A dump of human25 that sways on flat soles; with n ≥ 3 the last sample has no contact."""
    out = swaying(n, seed=seed, vigour=vigour)
    counts = [len(vertices)] * n
    if n >= 3:
        counts[-1] = 0
    k = sum(counts)
    out["vertex_sample"] = np.repeat(np.arange(n), counts)
    out["vertex_pos"] = np.tile(vertices, (n, 1))[:k]
    out["vertex_normal"] = np.tile(UP, (k, 1))
    out["vertex_friction"] = np.full(k, friction)
    out["length_scale"], out["cone_sides"] = np.float64(length), np.int64(0)
    lower, upper, dual = np.zeros(n), np.zeros(n), np.zeros((n, 6))
    for i in range(n):
        rows = out["vertex_sample"] == i
        a = columns(
            out["vertex_pos"][rows], out["vertex_normal"][rows], out["reference"][i], length
        )
        w = np.concatenate((out["wrench"][i, :3], out["wrench"][i, 3:] / length))
        lower[i], upper[i], dual[i] = index(w, a, out["vertex_friction"][rows])
    out.update(d=lower.copy(), d_lower=lower, d_upper=upper, dual=dual)
    out["flag"] = np.zeros(n, dtype=np.int8)
    return out


def written(dump: dict[str, Any], folder: pathlib.Path) -> pathlib.Path:
    """The path of a dump in a folder."""
    path = folder / "dump.npz"
    np.savez(path, **dump)
    return path


def sole(a: float = 0.1, b: float = 0.05, height: float = 0.0) -> np.ndarray:
    """Corners of a rectangle around the origin, |x| = a, |y| = b."""
    return np.array([(x * a, y * b, height) for x in (1, -1) for y in (1, -1)])


def tiny(
    wrench: Any,
    vertices: Any,
    *,
    reference: Any = (0.0, 0.0, 0.0),
    friction: float = 0.7,
    normals: Any = None,
    dual: Any = None,
    d: float | None = None,
) -> dict[str, Any]:
    """Arrays of one sample with given contacts and wrench; no robot in it.

    Args:
        dual: by default Clarabel's.
        d: d_upper; by default Clarabel's. d and d_lower are dual · w.
    """
    w, p = np.asarray(wrench, dtype=float), np.asarray(vertices, dtype=float).reshape(-1, 3)
    n = np.tile(UP, (len(p), 1)) if normals is None else np.asarray(normals, dtype=float)
    mu, r = np.full(len(p), friction), np.asarray(reference, dtype=float)
    upper = d
    if dual is None:
        _, best, dual = index(w, columns(p, n, r), mu)
        upper = best if d is None else d
    lower = float(np.dot(dual, w))
    return {
        "time": np.zeros(1),
        "qpos": np.zeros((1, 1)),
        "qvel": np.zeros((1, 1)),
        "qacc": np.zeros((1, 1)),
        "wrench": w[None],
        "reference": r[None],
        "vertex_sample": np.zeros(len(p), dtype=np.int64),
        "vertex_pos": p,
        "vertex_normal": n,
        "vertex_friction": mu,
        "d": np.array([lower]),
        "d_lower": np.array([lower]),
        "d_upper": np.array([upper]),
        "dual": np.asarray(dual, dtype=float)[None],
        "flag": np.zeros(1, dtype=np.int64),
        "length_scale": 1.0,
        "cone_sides": 0,
        "weight": 700.0,
        "model_xml": "",
        "tolerance": None,
    }
