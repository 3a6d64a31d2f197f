"""The signed distance of wrenches from what contacts can give.

V is the cone of all wrenches that the contacts of a sample can give, w the required one, both as
(force, moment / length scale) about the reference. Outside, d = min |w − v| over V; inside, −d is
the distance from the boundary of V. As one formula, d = max m · w over all unit directions m with
m · v ≤ 0 for every v in V.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray, door
from surefoot.contacts.cones import Cones
from surefoot.kernels import columns as shape_kernels
from surefoot.kernels.depth import depths
from surefoot.kernels.nearest import INSIDE, OPEN, nearest_points

CHUNK = 256  # samples; each chunk starts without memory, so threads change no bit of the result
CLEAR = 1e-9  # relative gap that tells rays which share a direction from rays which cancel
NEARLY = 1e-6  # of a ray: rays that leave less than this when they cancel do cancel
LINE = 1e-9  # of a column's length: the part of it across the lines of a cone is rounding
SHARE = 1e-9  # of the weights with which rays cancel: a ray with less is there by rounding
PARALLEL = 1e-7  # of the largest singular value: rays that cancel span no more than this


@dataclass(frozen=True, slots=True)
class Distances:
    """What is known of each sample."""

    lower: Float64[Array, " n"]
    """dual · w, N: no true d is smaller; −inf where the contacts can give every wrench."""
    upper: Float64[Array, " n"]
    """No true d is larger, N."""
    dual: Float64[Array, "n 6"]
    """Unit direction with dual · v ≤ 0 for all v in V; force, then moment over length."""
    margin: Float64[Array, " n"]
    """How far w lies from the boundary within the span of the cone, N; −d where it is outside."""
    dimension: Int64[IntArray, " n"]
    """Of the span of the cone: 6 for feet flat on the ground, 5 for an edge, 3 for a point."""
    converged: Bool[BoolArray, " n"]
    """Whether upper − lower reached its tolerance."""


@dataclass(frozen=True, slots=True)
class Scales:
    """How distances are measured."""

    length_m: float = 1.0
    """What a moment is divided by to be compared with a force."""
    cone_sides: int = 0
    """0 for circular friction cones; else pyramids inside them with so many sides."""
    tolerance: float = 1e-4
    """Relative gap between the bounds inside; pyramids are exact."""
    outside: float = 1e-9
    """Relative gap between the bounds outside."""
    depth: bool = True
    """Whether distances inside are asked for; else 0 stands for all of them."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What becomes known of some samples, in q coordinates; the same fields as `Distances`."""

    lower: Array
    upper: Array
    dual: Array  # (n, q)
    margin: Array
    dimension: IntArray
    converged: BoolArray


@dataclass(frozen=True, slots=True)
class _Group:
    """Cones of one dimension q in some coordinates, as the kernels take them."""

    first: IntArray
    a: Array  # (k, 3, q)
    friction: Array
    inward: Array  # (n, q)
    least: Array  # (k)
    common: BoolArray
    rank: IntArray
    rays: Array  # (n, q, q)


def signed_distances(
    cones: Cones,
    wrench: Float64[Array, "n 6"],
    ref_w: Float64[Array, "n 3"],
    *,
    scales: Scales | None = None,
    threads: int = 1,
) -> Distances:
    """The signed distance of each sample's wrench from its cone, with bounds and direction.

    Args:
        wrench: force and moment about ref_w, world axes, N and N m.
        ref_w: m; for one cone, distances about different points differ, their signs do not.
    """
    scales = scales or Scales()
    n = len(wrench)
    first, wrench, ref_w = cones.start, door(wrench), door(ref_w)
    pos, normal = door(cones.vertex_pos), door(cones.vertex_normal)
    friction = door(cones.vertex_friction)

    def piece(begin: int) -> _Part:
        end = min(begin + CHUNK, n)
        rows = slice(first[begin], first[end])
        contacts = (first[begin : end + 1] - first[begin], pos[rows], normal[rows], friction[rows])
        return _chunk(*contacts, wrench[begin:end], ref_w[begin:end], scales)

    begins = range(0, n, CHUNK)
    if threads < 2 or n <= CHUNK:
        parts = [piece(begin) for begin in begins]
    else:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(piece, begins))
    if not parts:
        parts = [_blank(0, 6)]
    names = [field.name for field in fields(Distances)]
    return Distances(**{k: np.concatenate([getattr(p, k) for p in parts]) for k in names})


def warm_up() -> None:
    """Compile every kernel of the index, or load it from the cache, on one stance."""
    corners = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
    up, rubber = np.tile([0.0, 0.0, 1.0], (4, 1)), np.full(4, 0.5)
    whose = np.zeros(4, dtype=np.int64)
    cones = Cones(np.array([0, 4]), corners, up, rubber, whose, corners)
    weight = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    for sideways in (0.0, 1.0):
        weight[0, 0] = sideways
        signed_distances(cones, weight, np.array([[0.0, 0.0, 0.8]]))


def _blank(n: int, q: int) -> _Part:
    return _Part(
        lower=np.zeros(n),
        upper=np.zeros(n),
        dual=np.zeros((n, q)),
        margin=np.zeros(n),
        dimension=np.zeros(n, dtype=np.int64),
        converged=np.ones(n, dtype=np.bool_),
    )


def _chunk(
    first: IntArray,
    pos: Array,
    normal: Array,
    friction: Array,
    wrench: Array,
    ref_w: Array,
    scales: Scales,
) -> _Part:
    """Some samples; without contacts, only no wrench at all is at hand."""
    n, count = len(wrench), np.diff(first)
    w = wrench.copy()
    w[:, 3:] /= scales.length_m
    out = _blank(n, 6)
    size = np.linalg.norm(w, axis=1)
    flies = count == 0
    out.lower[flies] = out.upper[flies] = size[flies]
    out.margin[flies] = -size[flies]
    out.dual[flies, 2] = -1.0
    lifted = flies & (size > 0.0)
    out.dual[lifted] = w[lifted] / size[lifted, None]

    origin = ref_w.copy()
    origin[~flies] = pos[first[:-1][~flies]]
    shift = (ref_w - origin) / scales.length_m
    near, a = np.empty((len(pos), 3, 6)), np.empty((len(pos), 3, 6))
    shape_kernels.columns(first, pos, normal, door(origin), scales.length_m, near)
    shape_kernels.columns(first, pos, normal, ref_w, scales.length_m, a)
    group = _shaped(first, near, friction, _mean_normals(first, normal, n), scales.cone_sides)
    usual = group.common & ~flies
    _pointed(usual, group, a, w, shift, scales, out)
    out.dimension[:] = group.rank
    lines = ~group.common & ~flies
    if lines.any():
        _across_lines(np.flatnonzero(lines), first, a, friction, w, scales, out)
    return out


def _mean_normals(first: IntArray, normal: Array, n: int) -> Array:
    """Unit mean normal of each sample as a pure force: the same direction about every point."""
    total = np.zeros((n, 6))
    np.add.at(total, np.repeat(np.arange(n), np.diff(first)), np.pad(normal, ((0, 0), (0, 3))))
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300))


def _shaped(first: IntArray, a: Array, friction: Array, inward: Array, sides: int) -> _Group:
    n, q = inward.shape
    group = _Group(
        first=first,
        a=a,
        friction=friction,
        inward=inward,
        least=np.zeros(len(a)),
        common=np.zeros(n, dtype=np.bool_),
        rank=np.zeros(n, dtype=np.int64),
        rays=np.zeros((n, q, q)),
    )
    shape_kernels.shapes(
        first,
        door(a),
        door(friction),
        sides,
        door(inward),
        group.least,
        group.common,
        group.rank,
        group.rays,
    )
    return group


def _pointed(
    wanted: BoolArray,
    group: _Group,
    a: Array,
    w: Array,
    shift: Array,
    scales: Scales,
    out: _Part,
) -> None:
    """Samples whose rays share a direction: d in the coordinates of w, its dual in the same.

    The group's columns are about a point near the contacts, `a` and w about the reference: inside,
    the same cone is then met again from sample to sample.
    """
    n, q = w.shape
    status = np.full(n, -1, dtype=np.int64)
    carriers = np.empty((n, 0, q))
    nearest_points(
        wanted, group.first, door(a), door(group.friction), scales.cone_sides,
        door(group.inward), door(group.least), door(w), scales.outside,
        out.lower, out.upper, out.dual, carriers, status,
    )  # fmt: skip
    out.margin[wanted] = -out.upper[wanted]
    out.converged[wanted] = status[wanted] != OPEN
    inside = (status == INSIDE) & scales.depth
    full = inside & (group.rank == q)
    if full.any():
        low, high = np.zeros(n), np.zeros(n)
        depths(
            full, group.first, door(group.a), door(group.friction), scales.cone_sides,
            door(group.inward), door(group.least), door(group.rays), door(_moved(w, -shift)),
            door(shift), _tolerance(scales),
            low, high, out.dual, status,
        )  # fmt: skip
        out.lower[full], out.upper[full] = -high[full], -low[full]
        out.margin[full] = high[full]
        out.converged[full] = status[full] != OPEN
    flat = inside & (group.rank < q)
    for rank in np.unique(group.rank[flat]):
        _flat(np.flatnonzero(flat & (group.rank == rank)), group, a, w, shift, scales, out)
    out.upper[wanted] = np.maximum(out.upper[wanted], out.lower[wanted])  # rounding of both


def _tolerance(scales: Scales) -> float:
    return scales.tolerance if scales.cone_sides == 0 else 0.0


def _moved(w: Array, shift: Array) -> Array:
    """Wrenches or rays about the point that lies `shift` away; other coordinates stay."""
    if w.shape[-1] != 6:
        return w
    moved = w.copy()
    moved[..., 3:] -= np.cross(shift, w[..., :3])
    return moved


def _flat(
    samples: IntArray,
    group: _Group,
    a: Array,
    w: Array,
    shift: Array,
    scales: Scales,
    out: _Part,
) -> None:
    """Samples of one rank inside flat cones: their boundary is everywhere, their margin within.

    The dual direction is at right angles to the span of the cone.
    """
    rank = int(group.rank[samples[0]])
    rays = _moved(group.rays[samples, :rank], shift[samples, None])
    basis, _ = np.linalg.qr(np.swapaxes(rays, 1, 2), mode="complete")
    across = basis[:, :, rank]
    product = np.einsum("nq,nq->n", across, w[samples])
    across = np.where(product[:, None] < 0.0, -across, across)
    out.dual[samples] = across
    out.lower[samples] = np.abs(product)
    if rank == 0:
        return
    first, rows = _picked(group.first, samples)
    owner = np.repeat(np.arange(len(samples)), np.diff(first))
    span = np.ascontiguousarray(basis[:, :, :rank])
    low, high = np.zeros(len(samples)), np.zeros(len(samples))
    depths(
        np.ones(len(samples), dtype=np.bool_), first,
        door(np.einsum("kbq,kqr->kbr", a[rows], span[owner])), door(group.friction[rows]),
        scales.cone_sides, door(np.einsum("nq,nqr->nr", group.inward[samples], span)),
        door(group.least[rows]), door(np.einsum("nsq,nqr->nsr", rays, span)),
        door(np.einsum("nq,nqr->nr", w[samples], span)),
        door(np.zeros((len(samples), 3))), _tolerance(scales), low, high,
        np.zeros((len(samples), rank)), np.zeros(len(samples), dtype=np.int64),
    )  # fmt: skip
    out.margin[samples] = high


def _picked(first: IntArray, samples: IntArray) -> tuple[IntArray, IntArray]:
    """First rows of the chosen samples among themselves, and which rows these are."""
    count = np.diff(first)[samples]
    new = np.concatenate([[0], np.cumsum(count)])
    rows = np.arange(new[-1]) + np.repeat(first[samples] - new[:-1], count)
    return new, rows


def _across_lines(
    samples: IntArray,
    first: IntArray,
    a: Array,
    friction: Array,
    w: Array,
    scales: Scales,
    out: _Part,
) -> None:
    """Samples without a common normal: their cones may contain lines, and are judged across them.

    Rays with a vanishing positive sum span lines of the cone. Each round takes them away, until
    what is left has a direction that all rays share, or is nothing.
    """
    unsure: list[int] = []  # neither a direction that is shared nor rays that cancel: nearly lines
    waiting = [(samples, np.tile(np.eye(6), (len(samples), 1, 1)))]
    while waiting:  # at most six rounds a group, one for each dimension of the lines
        which, basis = waiting.pop()
        q = basis.shape[2]
        if q == 0:
            out.lower[which] = out.upper[which] = -np.inf
            out.margin[which], out.dimension[which] = np.inf, 6
            continue
        new, rows = _picked(first, which)
        owner = np.repeat(np.arange(len(which)), np.diff(new))
        part = np.einsum("kbd,kdq->kbq", a[rows], basis[owner])
        size = np.linalg.norm(a[rows], axis=2)
        part[np.linalg.norm(part, axis=2) <= LINE * size] = 0.0
        part = np.ascontiguousarray(part)
        inward, lines, cancels = _common_direction(new, part, friction[rows], scales.cone_sides)
        group = _shaped(new, part, friction[rows], inward, scales.cone_sides)
        pointed = group.common & ~cancels
        unsure += which[~group.common & ~cancels].tolist()
        for count in np.unique([len(lines[i]) for i in np.flatnonzero(~pointed)]):
            some = np.array([i for i in np.flatnonzero(~pointed) if len(lines[i]) == count])
            gone = np.stack([lines[i] for i in some])
            waiting += _without(which[some], basis[some], gone)
        if pointed.any():
            _judge_across(which, pointed, group, basis, w, scales, out)
    out.converged[unsure] = False


def _common_direction(
    first: IntArray, part: Array, friction: Array, sides: int
) -> tuple[Array, list[Array], BoolArray]:
    """For each sample a direction that its rays share (n, q), lines, and whether rays cancel.

    The direction is what is left of (0, 1) beside its nearest point in the cone of the rays (g, 1).
    """
    n, q = len(first) - 1, part.shape[2]
    longer = np.zeros((len(part), 3, q + 1))
    longer[:, :, :q] = part
    rubs = np.where(friction > 0.0, np.any(part[:, 1:] != 0.0, axis=(1, 2)), False)
    longer[:, 0, q] = np.any(part[:, 0] != 0.0, axis=1) | rubs
    up = np.zeros((n, q + 1))
    up[:, q] = 1.0
    dual, carriers = np.zeros((n, q + 1)), np.zeros((n, q + 2, q + 1))
    status, gap = np.zeros(n, dtype=np.int64), np.zeros(n)
    nearest_points(
        np.ones(n, dtype=np.bool_), first, door(longer), door(friction), sides, door(up),
        door(longer[:, 0, q]), door(up),
        CLEAR, np.zeros(n), gap, dual, carriers, status,
    )  # fmt: skip
    inward = -dual[:, :q]
    inward /= np.maximum(np.linalg.norm(inward, axis=1, keepdims=True), 1e-300)
    lines = []
    for i in range(n):  # samples between opposite surfaces alone
        share, *_ = np.linalg.lstsq(carriers[i].T, up[i])
        rays = carriers[i, share > SHARE, :q]
        if not np.any(rays):
            rays = np.eye(q)[:1]  # of use to nobody: without rays nothing cancels
        _, values, rows = np.linalg.svd(rays)
        lines.append(rows[: max(1, int(np.sum(values > PARALLEL * values[0])))])
    some = np.any(carriers != 0.0, axis=(1, 2))
    return inward, lines, some & ((status == INSIDE) | (gap <= NEARLY))


def _without(which: IntArray, basis: Array, gone: Array) -> list[tuple[IntArray, Array]]:
    """The samples with bases that leave some lines (n, l, q) out."""
    complete, _ = np.linalg.qr(np.swapaxes(gone, 1, 2), mode="complete")
    return [(which, basis @ complete[:, :, gone.shape[1] :])]


def _judge_across(
    which: IntArray,
    pointed: BoolArray,
    group: _Group,
    basis: Array,
    w: Array,
    scales: Scales,
    out: _Part,
) -> None:
    """Distances across the lines, where the cone is pointed; back into six dimensions."""
    n, q = len(which), basis.shape[2]
    found = _blank(n, q)
    across = np.einsum("nd,ndq->nq", w[which], basis)
    _pointed(pointed, group, group.a, across, np.zeros((n, 3)), scales, found)
    kept = which[pointed]
    for name in ("lower", "upper", "margin", "converged"):
        getattr(out, name)[kept] = getattr(found, name)[pointed]
    out.dimension[kept] = 6 - q + group.rank[pointed]
    out.dual[kept] = np.einsum("nq,ndq->nd", found.dual, basis)[pointed]
