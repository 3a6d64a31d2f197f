"""How feet share a load: a centre of pressure for all of them, split into one for each.

Links that make one foot (a sole and its toes) form a group. The load of a group follows from where
the wanted pressure lies between the centres of the groups; within a group it is spread over the
vertices as evenly as the pressure of the group allows. Everything is seen from above.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

FLAT_M2 = 1e-8  # a hull of less area is a point or a line
STEPS = 30  # of Newton's method; 4 to 8 are usual
SPREAD_M2 = 1e-7  # against a singular bend where all vertices lie on a line: (0.3 mm)²
EVEN_M2 = 1e-8  # what evenness of shares is worth against (0.1 mm)² of distance


class Contact(NamedTuple):
    """Vertices v that carry now, with the rooms for what is found of them; contact links c."""

    vertex: np.ndarray  # (v, 3) world, m; the first `used` rows count
    link: np.ndarray  # (v) contact link of each vertex
    group: np.ndarray  # (c) the foot that a contact link belongs to
    weight: np.ndarray  # (v) share of the whole load on each vertex, sum 1
    hull: np.ndarray  # (v + 2, 2) corners of a hull, counter-clockwise
    inner: np.ndarray  # (2 v + 4, 2) corners of the same less a margin
    other: np.ndarray  # (2 v + 4, 2)
    mine: np.ndarray  # (v) vertices of one group
    centre: np.ndarray  # (c, 2) centre of each group
    part: np.ndarray  # (c) load of each group, sum 1
    share: np.ndarray  # (c) load of each contact link, sum 1
    cop: np.ndarray  # (c, 3) centre of pressure of each contact link, world, m
    used: np.ndarray  # (1) vertices that carry


def room_for(vertices: int, group: np.ndarray) -> Contact:
    """The arrays for so many vertices and the given groups of contact links."""
    v, c = max(vertices, 1), len(group)
    return Contact(
        vertex=np.zeros((v, 3)),
        link=np.zeros(v, dtype=np.int64),
        group=np.ascontiguousarray(group, dtype=np.int64),
        weight=np.zeros(v),
        hull=np.zeros((v + 2, 2)),
        inner=np.zeros((2 * v + 4, 2)),
        other=np.zeros((2 * v + 4, 2)),
        mine=np.zeros(v, dtype=np.int64),
        centre=np.zeros((c, 2)),
        part=np.zeros(c),
        share=np.zeros(c),
        cop=np.zeros((c, 3)),
        used=np.zeros(1, dtype=np.int64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def collect(pos, rot, patches, holds, contact):
    """The vertices of the patches that hold, in the world, and how many there are."""
    link_body, patch_link, vertex_start, vertex_l = patches
    count = 0
    for p in range(holds.shape[0]):
        if not holds[p]:
            continue
        c = patch_link[p]
        b = link_body[c]
        for k in range(vertex_start[p], vertex_start[p + 1]):
            x, y, z = vertex_l[k, 0], vertex_l[k, 1], vertex_l[k, 2]
            for e in range(3):
                contact.vertex[count, e] = (
                    pos[b, e] + rot[b, 3 * e] * x + rot[b, 3 * e + 1] * y + rot[b, 3 * e + 2] * z
                )
            contact.link[count] = c
            count += 1
    contact.used[0] = count


@njit(cache=True, nogil=True, error_model="numpy")
def share(contact, x, y, margin, foot_margin):
    """Split the wish (x, y); returns where the pressure of all feet together then lies (3).

    The wish is first brought into the hull of all vertices less `margin`, and the pressure of each
    foot into its own hull less `foot_margin`.
    """
    count = contact.used[0]
    for i in range(count):
        contact.mine[i] = i
    x, y = _into(contact, count, x, y, margin)
    groups = _centres(contact, count)
    _parts(contact.centre, contact.part, groups, x, y)
    dx, dy = x, y
    for g in range(groups):
        dx -= contact.part[g] * contact.centre[g, 0]
        dy -= contact.part[g] * contact.centre[g, 1]
    order = 0
    for c in range(contact.group.shape[0]):
        if not _first_of_group(contact, count, c):
            continue
        n = _members(contact, count, contact.group[c])
        px, py = contact.centre[order, 0] + dx, contact.centre[order, 1] + dy
        px, py = _into(contact, n, px, py, foot_margin)
        _spread(contact, n, px, py, contact.part[order])
        order += 1
    return _gather(contact, count)


@njit(cache=True, nogil=True, error_model="numpy")
def _first_of_group(contact, count, c):
    """Whether c is the lowest carrying link of its group."""
    for i in range(count):
        if contact.group[contact.link[i]] == contact.group[c] and contact.link[i] < c:
            return False
    for i in range(count):
        if contact.link[i] == c:
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _members(contact, count, group):
    """The vertices of a group into `mine`; returns how many."""
    n = 0
    for i in range(count):
        if contact.group[contact.link[i]] == group:
            contact.mine[n] = i
            n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _centres(contact, count):
    """The centre of area of each carrying group, in order of their first links."""
    groups = 0
    for c in range(contact.group.shape[0]):
        if _first_of_group(contact, count, c):
            n = _members(contact, count, contact.group[c])
            corners = _hull(contact, n)
            x, y = _centroid(contact.hull, corners)
            contact.centre[groups, 0], contact.centre[groups, 1] = x, y
            groups += 1
    return groups


@njit(cache=True, nogil=True, error_model="numpy")
def _parts(centre, part, groups, x, y):
    """Shares w ≥ 0, Σ w = 1, that bring Σ w centre nearest to (x, y), as even as that allows."""
    for g in range(groups):
        part[g] = 1.0
    for _ in range(groups):
        used, mx, my = 0, 0.0, 0.0
        for g in range(groups):
            if part[g] > 0.0:
                used, mx, my = used + 1, mx + centre[g, 0], my + centre[g, 1]
        mx, my = mx / used, my / used
        xx, xy, yy = EVEN_M2, 0.0, EVEN_M2
        for g in range(groups):
            if part[g] > 0.0:
                ax, ay = centre[g, 0] - mx, centre[g, 1] - my
                xx, xy, yy = xx + ax * ax, xy + ax * ay, yy + ay * ay
        det = xx * yy - xy * xy
        ux = (yy * (x - mx) - xy * (y - my)) / det
        uy = (xx * (y - my) - xy * (x - mx)) / det
        fits = True
        for g in range(groups):
            if part[g] > 0.0:
                w = 1.0 / used + (centre[g, 0] - mx) * ux + (centre[g, 1] - my) * uy
                part[g] = max(w, 0.0)
                fits = fits and w >= 0.0
        if fits:
            return
    total = 0.0
    for g in range(groups):
        total += part[g]
    for g in range(groups):
        part[g] /= total


@njit(cache=True, nogil=True, error_model="numpy")
def _spread(contact, n, x, y, part):
    """Shares of a group's vertices with the given mean: the most even ones (largest entropy)."""
    vertex, mine, weight = contact.vertex, contact.mine, contact.weight
    scale = 1e-3
    for k in range(n):
        i = mine[k]
        scale = max(scale, math.hypot(vertex[i, 0] - x, vertex[i, 1] - y))
    lx, ly, before = 0.0, 0.0, math.inf
    sx, sy = 0.0, 0.0
    for _ in range(STEPS):
        peak = -math.inf
        for k in range(n):
            i = mine[k]
            weight[i] = (lx * (vertex[i, 0] - x) + ly * (vertex[i, 1] - y)) / scale
            peak = max(peak, weight[i])
        total, gx, gy, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(n):
            i = mine[k]
            w = math.exp(weight[i] - peak)
            ax, ay = (vertex[i, 0] - x) / scale, (vertex[i, 1] - y) / scale
            total, gx, gy = total + w, gx + w * ax, gy + w * ay
            xx, xy, yy = xx + w * ax * ax, xy + w * ax * ay, yy + w * ay * ay
            weight[i] = w
        value = math.log(total) + peak
        gx, gy = gx / total, gy / total
        for k in range(n):
            weight[mine[k]] *= part / total
        if gx * gx + gy * gy < 1e-18:
            return
        if value > before + 1e-12:  # overshot: half the step
            sx, sy = 0.5 * sx, 0.5 * sy
            lx, ly = lx - sx, ly - sy
            continue
        before = value
        small = SPREAD_M2 / (scale * scale)
        xx = xx / total - gx * gx + small
        xy = xy / total - gx * gy
        yy = yy / total - gy * gy + small
        det = xx * yy - xy * xy
        sx, sy = -(yy * gx - xy * gy) / det, -(xx * gy - xy * gx) / det
        far = math.hypot(sx, sy)
        if far > 10.0:
            sx, sy = 10.0 * sx / far, 10.0 * sy / far
        lx, ly = lx + sx, ly + sy


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(contact, count):
    """Load and centre of pressure of each link from the shares of its vertices; and of all."""
    for c in range(contact.group.shape[0]):
        contact.share[c] = 0.0
        for e in range(3):
            contact.cop[c, e] = 0.0
    x, y, z = 0.0, 0.0, 0.0
    for i in range(count):
        c, w = contact.link[i], contact.weight[i]
        contact.share[c] += w
        for e in range(3):
            contact.cop[c, e] += w * contact.vertex[i, e]
        x, y, z = (
            x + w * contact.vertex[i, 0],
            y + w * contact.vertex[i, 1],
            z + w * contact.vertex[i, 2],
        )
    for c in range(contact.group.shape[0]):
        if contact.share[c] > 1e-9:
            for e in range(3):
                contact.cop[c, e] /= contact.share[c]
        else:
            _middle(contact, count, c, contact.cop[c])
    return x, y, z


@njit(cache=True, nogil=True, error_model="numpy")
def middles(contact):
    """The centre of the vertices of each carrying link, as its centre of pressure."""
    for c in range(contact.group.shape[0]):
        _middle(contact, contact.used[0], c, contact.cop[c])


@njit(cache=True, nogil=True, error_model="numpy")
def _middle(contact, count, c, out):
    """The mean of a link's vertices."""
    n = 0
    for e in range(3):
        out[e] = 0.0
    for i in range(count):
        if contact.link[i] == c:
            n += 1
            for e in range(3):
                out[e] += contact.vertex[i, e]
    if n > 0:
        for e in range(3):
            out[e] /= n


@njit(cache=True, nogil=True, error_model="numpy")
def _into(contact, n, x, y, margin):
    """The point of the hull of the vertices in `mine`, less a margin, nearest to (x, y).

    A hull that is narrower than twice the margin loses a half, a quarter, ... of it.
    """
    corners = _hull(contact, n)
    if abs(_area(contact.hull, corners)) < FLAT_M2:
        return _nearest(contact.hull, corners, x, y)
    for _ in range(6):
        left = _shrunk(contact, corners, margin)
        if left >= 3:
            return _nearest(contact.inner, left, x, y)
        margin *= 0.5
    return _nearest(contact.hull, corners, x, y)


@njit(cache=True, nogil=True, error_model="numpy")
def _hull(contact, n):
    """The convex hull of the vertices in `mine`, counter-clockwise (Jarvis); returns corners."""
    vertex, mine, hull = contact.vertex, contact.mine, contact.hull
    first = 0
    for k in range(1, n):
        a, b = vertex[mine[k]], vertex[mine[first]]
        if a[0] < b[0] or (a[0] == b[0] and a[1] < b[1]):
            first = k
    corners, now = 0, first
    while corners <= n:
        hull[corners, 0], hull[corners, 1] = vertex[mine[now], 0], vertex[mine[now], 1]
        corners += 1
        px, py = vertex[mine[now], 0], vertex[mine[now], 1]
        best, bx, by = -1, 0.0, 0.0
        for k in range(n):
            ax, ay = vertex[mine[k], 0] - px, vertex[mine[k], 1] - py
            if ax * ax + ay * ay < 1e-12:  # the same point: a micrometre
                continue
            turn = bx * ay - by * ax
            if (
                best < 0
                or turn < -1e-12
                or (turn < 1e-12 and ax * ax + ay * ay > bx * bx + by * by)
            ):
                best, bx, by = k, ax, ay
        if best < 0:
            return corners
        now = best
        ax, ay = vertex[mine[now], 0] - hull[0, 0], vertex[mine[now], 1] - hull[0, 1]
        if ax * ax + ay * ay < 1e-12:
            return corners
    return corners - 1


@njit(cache=True, nogil=True, error_model="numpy")
def _shrunk(contact, corners, margin):
    """The hull cut by each of its edges moved inwards; returns the corners that are left."""
    hull, now, then = contact.hull, contact.inner, contact.other
    left = corners
    for k in range(corners):
        now[k, 0], now[k, 1] = hull[k, 0], hull[k, 1]
    for k in range(corners):
        ax, ay = hull[k, 0], hull[k, 1]
        ex, ey = hull[(k + 1) % corners, 0] - ax, hull[(k + 1) % corners, 1] - ay
        far = math.hypot(ex, ey)
        nx, ny = -ey / far, ex / far
        kept = 0
        for i in range(left):
            j = (i + 1) % left
            di = nx * (now[i, 0] - ax) + ny * (now[i, 1] - ay) - margin
            dj = nx * (now[j, 0] - ax) + ny * (now[j, 1] - ay) - margin
            if di >= 0.0:
                then[kept, 0], then[kept, 1] = now[i, 0], now[i, 1]
                kept += 1
            if (di > 0.0 and dj < 0.0) or (di < 0.0 and dj > 0.0):
                t = di / (di - dj)
                then[kept, 0] = now[i, 0] + t * (now[j, 0] - now[i, 0])
                then[kept, 1] = now[i, 1] + t * (now[j, 1] - now[i, 1])
                kept += 1
        for i in range(kept):
            now[i, 0], now[i, 1] = then[i, 0], then[i, 1]
        left = kept
        if left < 3:
            return 0
    return left


@njit(cache=True, nogil=True, error_model="numpy")
def _nearest(corner, corners, x, y):
    """The point of a convex polygon nearest to (x, y)."""
    inside, best, bx, by = corners >= 3, math.inf, x, y
    for k in range(corners):
        ax, ay = corner[k, 0], corner[k, 1]
        ex, ey = corner[(k + 1) % corners, 0] - ax, corner[(k + 1) % corners, 1] - ay
        if ex * (y - ay) - ey * (x - ax) < 0.0:
            inside = False
        along = ex * ex + ey * ey
        t = 0.0
        if along > 0.0:
            t = min(max((ex * (x - ax) + ey * (y - ay)) / along, 0.0), 1.0)
        px, py = ax + t * ex, ay + t * ey
        far = (px - x) ** 2 + (py - y) ** 2
        if far < best:
            best, bx, by = far, px, py
    if inside:
        return x, y
    return bx, by


@njit(cache=True, nogil=True, error_model="numpy")
def _area(corner, corners):
    total = 0.0
    for k in range(1, corners - 1):
        ax, ay = corner[k, 0] - corner[0, 0], corner[k, 1] - corner[0, 1]
        bx, by = corner[k + 1, 0] - corner[0, 0], corner[k + 1, 1] - corner[0, 1]
        total += 0.5 * (ax * by - ay * bx)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _centroid(corner, corners):
    """The centre of area; the mean of the corners where there is none."""
    total, x, y, mx, my = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(corners):
        mx, my = mx + corner[k, 0] / corners, my + corner[k, 1] / corners
    for k in range(1, corners - 1):
        ax, ay = corner[k, 0] - corner[0, 0], corner[k, 1] - corner[0, 1]
        bx, by = corner[k + 1, 0] - corner[0, 0], corner[k + 1, 1] - corner[0, 1]
        part = 0.5 * (ax * by - ay * bx)
        total += part
        x += part * (corner[0, 0] + (ax + bx) / 3.0)
        y += part * (corner[0, 1] + (ay + by) / 3.0)
    if abs(total) < FLAT_M2:
        return mx, my
    return x / total, y / total
