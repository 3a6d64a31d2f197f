"""Quaternions (w, x, y, z), rotation vectors and matrices over any leading axes, in plain numpy.

`quat_wb` turns what is given in b into w: x_w = rotate(quat_wb, x_b). The compiled loops have their
own scalar forms in kernels.rotation; these here need no compilation and serve readers and curves.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array, Float64

SMALL_ANGLE = 1e-4  # rad; below, series: sin(x)/x to the fourth power errs by 1e-19
_AXES = {"x": 0, "y": 1, "z": 2}


def multiply(a: Float64[Array, "*n 4"], b: Float64[Array, "*m 4"]) -> Float64[Array, "*k 4"]:
    """The product a b: first turned by b, then by a."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def conjugate(quat: Float64[Array, "*n 4"]) -> Float64[Array, "*n 4"]:
    """The inverse of unit quaternions."""
    return np.asarray(quat * np.array([1.0, -1.0, -1.0, -1.0]), dtype=np.float64)


def unit(quat: Float64[Array, "*n 4"]) -> Float64[Array, "*n 4"]:
    """The quaternions divided by their norms, which the caller has found not to be zero."""
    return np.asarray(quat / np.linalg.norm(quat, axis=-1, keepdims=True), dtype=np.float64)


def rotate(
    quat_ab: Float64[Array, "*n 4"], vec_b: Float64[Array, "*m 3"]
) -> Float64[Array, "*k 3"]:
    """Vectors of frame b in the axes of frame a."""
    w, xyz = quat_ab[..., :1], quat_ab[..., 1:]
    across = 2.0 * np.cross(xyz, vec_b)
    return np.asarray(vec_b + w * across + np.cross(xyz, across), dtype=np.float64)


def from_rotvec(rotvec: Float64[Array, "*n 3"]) -> Float64[Array, "*n 4"]:
    """Unit quaternions of rotation vectors (axis times angle, rad)."""
    angle = np.linalg.norm(rotvec, axis=-1, keepdims=True)
    half = 0.5 * angle
    safe = np.where(angle < SMALL_ANGLE, 1.0, angle)
    share = np.where(angle < SMALL_ANGLE, 0.5 - angle**2 / 48.0, np.sin(half) / safe)
    return np.concatenate([np.cos(half), share * rotvec], axis=-1)


def as_rotvec(quat: Float64[Array, "*n 4"]) -> Float64[Array, "*n 3"]:
    """Rotation vectors of unit quaternions, of at most π."""
    near = np.where(quat[..., :1] < 0.0, -quat, quat)
    sine = np.linalg.norm(near[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, near[..., :1])
    safe = np.where(sine < SMALL_ANGLE, 1.0, sine)
    share = np.where(sine < SMALL_ANGLE, 2.0 + sine**2 / 3.0, angle / safe)
    return np.asarray(share * near[..., 1:], dtype=np.float64)


def as_matrix(quat_ab: Float64[Array, "*n 4"]) -> Float64[Array, "*n 3 3"]:
    """Matrices R_ab of unit quaternions."""
    w, x, y, z = np.moveaxis(quat_ab, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(R_ab: Float64[Array, "*n 3 3"]) -> Float64[Array, "*n 4"]:
    """Unit quaternions of rotation matrices, with w ≥ 0.

    The largest of the four squares is divided by, so no case loses digits (Shepperd's method).
    """
    r = R_ab
    trace = r[..., 0, 0] + r[..., 1, 1] + r[..., 2, 2]
    squares = np.stack([trace, r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]], axis=-1)
    best = np.argmax(squares, axis=-1)
    a = r[..., 2, 1] - r[..., 1, 2]
    b = r[..., 0, 2] - r[..., 2, 0]
    c = r[..., 1, 0] - r[..., 0, 1]
    d = r[..., 0, 1] + r[..., 1, 0]
    e = r[..., 0, 2] + r[..., 2, 0]
    f = r[..., 1, 2] + r[..., 2, 1]
    diagonal = 1.0 + 2.0 * squares - trace[..., None]
    diagonal[..., 0] = 1.0 + trace
    candidates = np.stack(
        [
            np.stack([diagonal[..., 0], a, b, c], axis=-1),
            np.stack([a, diagonal[..., 1], d, e], axis=-1),
            np.stack([b, d, diagonal[..., 2], f], axis=-1),
            np.stack([c, e, f, diagonal[..., 3]], axis=-1),
        ],
        axis=-2,
    )
    quat = np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]
    return unit(np.where(quat[..., :1] < 0.0, -quat, quat))


def from_euler(axes: str, angles: Float64[Array, "*n a"]) -> Float64[Array, "*n 4"]:
    """Unit quaternions of turns about moving axes, one after the other: 'zyx' is Rz Ry Rx."""
    quat = np.zeros((*angles.shape[:-1], 4))
    quat[..., 0] = 1.0
    for i, axis in enumerate(axes.lower()):
        turn = np.zeros((*angles.shape[:-1], 4))
        turn[..., 0] = np.cos(0.5 * angles[..., i])
        turn[..., 1 + _AXES[axis]] = np.sin(0.5 * angles[..., i])
        quat = multiply(quat, turn)
    return quat


def continuous(quat: Float64[Array, "n *j 4"]) -> Float64[Array, "n *j 4"]:
    """The same rotations with signs chosen so that neighbours along the first axis are near."""
    flips = np.sum(quat[1:] * quat[:-1], axis=-1, keepdims=True) < 0.0
    sign = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    return np.concatenate([quat[:1], quat[1:] * sign])
