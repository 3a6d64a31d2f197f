"""Quaternions (w, x, y, z) and rotation vectors for compiled loops: scalars in, tuples out.

Meant to be called from kernels; tuples of scalars stay in registers, so nothing is allocated.
Quaternions are taken to be of unit length; only `unit` accepts others. Pass floats, not integer
literals: to numba they are another type, hence another compilation.
"""

import math

from numba import njit

SMALL_ANGLE = 1e-4  # rad; below, series: sin(x)/x to the fourth power errs by 1e-19


@njit(cache=True, nogil=True)
def multiply(aw, ax, ay, az, bw, bx, by, bz):
    """The product a b: first turned by b, then by a."""
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@njit(cache=True, nogil=True)
def unit(w, x, y, z):
    """The quaternion divided by its norm; the identity where that is zero, as MuJoCo has it."""
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if norm == 0.0:
        return 1.0, 0.0, 0.0, 0.0
    share = 1.0 / norm
    return w * share, x * share, y * share, z * share


@njit(cache=True, nogil=True)
def rotate(w, x, y, z, vx, vy, vz):
    """A vector of frame b in the axes of frame a, for the quaternion ab; for ba, negate x, y, z."""
    cx = 2.0 * (y * vz - z * vy)
    cy = 2.0 * (z * vx - x * vz)
    cz = 2.0 * (x * vy - y * vx)
    return (
        vx + w * cx + y * cz - z * cy,
        vy + w * cy + z * cx - x * cz,
        vz + w * cz + x * cy - y * cx,
    )


@njit(cache=True, nogil=True)
def from_axis_angle(x, y, z, angle):
    """The quaternion of a turn by `angle` about a unit axis."""
    sine = math.sin(0.5 * angle)
    return math.cos(0.5 * angle), sine * x, sine * y, sine * z


@njit(cache=True, nogil=True)
def from_rotvec(x, y, z):
    """The quaternion of a rotation vector (axis times angle, rad)."""
    angle = math.sqrt(x * x + y * y + z * z)
    share = 0.5 - angle * angle / 48.0
    if angle >= SMALL_ANGLE:
        share = math.sin(0.5 * angle) / angle
    return math.cos(0.5 * angle), share * x, share * y, share * z


@njit(cache=True, nogil=True)
def as_rotvec(w, x, y, z):
    """The rotation vector of a quaternion, of at most π."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    share = 2.0 + sine * sine / 3.0
    if sine >= SMALL_ANGLE:
        share = 2.0 * math.atan2(sine, w) / sine
    return share * x, share * y, share * z


@njit(cache=True, nogil=True)
def as_matrix(w, x, y, z):
    """The nine entries of the rotation matrix, row after row."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@njit(cache=True, nogil=True)
def cross(ax, ay, az, bx, by, bz):
    """The vector product a × b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
