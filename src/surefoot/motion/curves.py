"""The curve through the frames of a motion: resampling and derivatives.

Two interpolations, both exact at the frames, twice continuously differentiable, and for uneven
frame times as well:

- `spline`: cubic, not-a-knot. A natural spline has no acceleration at the clip's ends, so a
  motion that is cut out of a longer one would begin and end with wrong forces.
- `six-frame`: quintic pieces whose end velocities and accelerations are those of the quartic
  through five frames. Local: a frame moves only the three pieces to each side of it.

Orientations are interpolated as quaternions in the space of four numbers and then normalised: the
result turns with the world and with the root's frame, since both turns are linear there. scipy's
RotationSpline lets a clip begin and end with the mean turning of its outermost steps: on a tumbling
body at 30 frames/s its angular acceleration is wrong by 2.4 rad/s² there, this one by 0.005 (true
peak 2.0; inside, both are right to 0.001).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from surefoot.arrays import Array, Bool, BoolArray, Float64, Int64, IntArray
from surefoot.errors import BadMotion, BadOption, Notice, nearest
from surefoot.motion import rotation
from surefoot.motion.motion import Clip, Motion, checked
from surefoot.motion.value import Value

if TYPE_CHECKING:
    _Pieces = PPoly[np.float64]
else:
    _Pieces = PPoly

Interpolation = Literal["spline", "six-frame"]
INTERPOLATIONS: tuple[Interpolation, ...] = ("spline", "six-frame")

WINDOW = 5  # frames of the quartic that gives the six-frame form its end data
END_TOLERANCE_S = 1e-9  # rounding in sums of frame times; moments this far outside are at the end
SMALLEST_NORM = 0.3  # of an interpolated quaternion: below, neighbouring frames are near half turns


@dataclass(frozen=True, slots=True, eq=False)
class Rates(Value):
    """Velocities and accelerations of a motion's curve, in the engine's convention."""

    time: Float64[Array, " n"]
    """Moments, s."""
    lin_vel_w: Float64[Array, "n 3"]
    """Velocity of the root frame's origin, world axes, m/s."""
    ang_vel_b: Float64[Array, "n 3"]
    """Angular velocity of the root in its own axes, rad/s."""
    joint_vel: Float64[Array, "n m"]
    lin_acc_w: Float64[Array, "n 3"]
    ang_acc_b: Float64[Array, "n 3"]
    """Time derivative of the components of `ang_vel_b`, rad/s²."""
    joint_acc: Float64[Array, "n m"]
    joint_names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Lock the arrays and refuse what is not finite."""
        n, m = len(self.time), len(self.joint_names)
        for field in fields(self):
            if field.name == "joint_names":
                continue
            width = {"time": (), "joint_vel": (m,), "joint_acc": (m,)}.get(field.name, (3,))
            values = checked(field.name, getattr(self, field.name), (n, *width), where="rates")
            object.__setattr__(self, field.name, values)

    @property
    def n(self) -> int:
        """Number of moments."""
        return len(self.time)


def as_interpolation(name: str) -> Interpolation:
    """The interpolation of that name.

    Raises:
        BadOption: there is none.
    """
    for known in INTERPOLATIONS:
        if name == known:
            return known
    raise BadOption(what=f"unknown interpolation '{name}'", todo=nearest(name, INTERPOLATIONS))


def even_times(start: float, end: float, rate_hz: float) -> Float64[Array, " k"]:
    """Evenly spread moments from start to end, s, both in, as near to the rate as that allows.

    Raises:
        BadOption: a rate that is not positive, or an end before the start.
    """
    if not (np.isfinite(rate_hz) and rate_hz > 0.0):
        raise BadOption(
            what=f"the rate must be a positive number of frames a second, got {rate_hz}"
        )
    if not end >= start:
        raise BadOption(what=f"expected an end after the start, got {start} s to {end} s")
    if end == start:
        return np.array([start])
    return np.linspace(start, end, max(2, round((end - start) * rate_hz) + 1))


def steady_times(start: float, end: float, rate_hz: float) -> Float64[Array, " k"]:
    """Moments exactly 1 / rate apart from the start on, s, and the end, whatever is left to it.

    Raises:
        BadOption: a rate that is not positive, or an end before the start.
    """
    fitted = even_times(start, end, rate_hz)  # it refuses what makes no sense
    if len(fitted) < 2:
        return fitted
    steps = math.ceil((end - start) * rate_hz - END_TOLERANCE_S * rate_hz)
    return np.append(start + np.arange(steps) / rate_hz, end)


def resample(
    motion: Motion, time: Float64[Array, " k"], *, interpolation: Interpolation = "spline"
) -> Motion:
    """The motion at other moments; at its own frames exactly its own values.

    Raises:
        BadMotion: moments outside the motion or not increasing.
        BadOption: an unknown interpolation.
    """
    t = _inside(motion.time, time)
    i, own = _own_frames(motion.time, t)
    quat = rotation.continuous(motion.root_quat)
    turned = rotation.unit(_quaternions(motion.time, quat, t, interpolation)[0])
    turned[own] = quat[i[own]]
    return Motion(
        time=t,
        root_pos=_sampled(motion.time, motion.root_pos, t, interpolation),
        root_quat=turned,
        joint_names=motion.joint_names,
        joint_pos=_sampled(motion.time, motion.joint_pos, t, interpolation),
    )


def rates(
    motion: Motion,
    *,
    interpolation: Interpolation = "spline",
    time: Float64[Array, " k"] | None = None,
) -> Rates:
    """Velocities and accelerations of the motion's curve, by default at its frames.

    With the interpolated quaternion s before normalising: ω = 2 vec(s̄ s') / |s|², and
    α = (2 vec(s̄ s'') − 2 ω (s · s')) / |s|², since s̄' s' has no vector part.

    Raises:
        BadMotion: a single frame, or moments outside the motion.
        BadOption: an unknown interpolation.
    """
    if motion.n < 2:
        raise BadMotion(what="velocities need at least 2 frames, got 1", todo="give a longer clip")
    t = _inside(motion.time, motion.time if time is None else time)
    place = _curve(motion.time, motion.root_pos, interpolation)
    joints = _curve(motion.time, motion.joint_pos, interpolation)
    quat = rotation.continuous(motion.root_quat)
    s, s1, s2 = _quaternions(motion.time, quat, t, interpolation)
    square = np.sum(s * s, axis=1, keepdims=True)
    back = rotation.conjugate(s)
    ang_vel = 2.0 * rotation.multiply(back, s1)[:, 1:] / square
    stretch = np.sum(s * s1, axis=1, keepdims=True)
    ang_acc = (2.0 * rotation.multiply(back, s2)[:, 1:] - 2.0 * ang_vel * stretch) / square
    return Rates(
        time=t,
        lin_vel_w=place(t, 1),
        ang_vel_b=ang_vel,
        joint_vel=joints(t, 1),
        lin_acc_w=place(t, 2),
        ang_acc_b=ang_acc,
        joint_acc=joints(t, 2),
        joint_names=motion.joint_names,
    )


def resample_clip(
    clip: Clip, time: Float64[Array, " k"], *, interpolation: Interpolation = "spline"
) -> Clip:
    """The clip at other moments: motion and references resampled, contacts and terrain kept.

    Unknown arrays with one row a frame cannot follow; they are dropped with a notice.

    Raises:
        BadMotion: moments outside the clip or not increasing.
        BadOption: an unknown interpolation.
    """
    old = clip.motion
    motion = resample(old, time, interpolation=interpolation)
    references = {
        name: None if value is None else _sampled(old.time, value, motion.time, interpolation)
        for name, value in (("zmp_w", clip.zmp_w), ("com_w", clip.com_w))
    }
    by_frame = [key for key, value in clip.extra.items() if value.shape[:1] == (old.n,)]
    dropped = tuple(
        Notice("dropped", key, f"unknown array '{key}' has one row a frame and was not resampled")
        for key in by_frame
    )
    return replace(
        clip,
        motion=motion,
        zmp_w=references["zmp_w"],
        com_w=references["com_w"],
        meta=clip.meta.then(
            "resample", frames=motion.n, fps=motion.fps, interpolation=interpolation
        ),
        notices=(*clip.notices, *dropped),
        extra={key: value for key, value in clip.extra.items() if key not in by_frame},
    )


def _inside(frames: Float64[Array, " n"], time: Float64[Array, " k"]) -> Float64[Array, " k"]:
    """The moments, with rounding beyond the ends taken off; refused when farther outside."""
    t = checked("time", time, (-1,), where="moments asked for")
    first, last = frames[0] - END_TOLERANCE_S, frames[-1] + END_TOLERANCE_S
    if len(t) and (t.min() < first or t.max() > last):
        raise BadMotion(
            what=f"moments from {t.min():.6g} to {t.max():.6g} s lie outside the motion",
            where=f"{frames[0]:.6g} to {frames[-1]:.6g} s",
        )
    return np.clip(t, frames[0], frames[-1])


def _own_frames(
    frames: Float64[Array, " n"], t: Float64[Array, " k"]
) -> tuple[Int64[IntArray, " k"], Bool[BoolArray, " k"]]:
    """Index of the frame at or after each moment, and whether the moment is that frame's own."""
    i = np.searchsorted(frames, t)
    return i, frames[i] == t


def _sampled(
    frames: Float64[Array, " n"],
    values: Float64[Array, "n c"],
    t: Float64[Array, " k"],
    interpolation: Interpolation,
) -> Float64[Array, "k c"]:
    """Columns at the moments; at a frame its own values to the last digit."""
    i, own = _own_frames(frames, t)
    sampled = np.asarray(_curve(frames, values, interpolation)(t), dtype=np.float64)
    sampled[own] = values[i[own]]
    return sampled


def _quaternions(
    frames: Float64[Array, " n"],
    quat: Float64[Array, "n 4"],
    t: Float64[Array, " k"],
    interpolation: Interpolation,
) -> tuple[Float64[Array, "k 4"], Float64[Array, "k 4"], Float64[Array, "k 4"]]:
    """The interpolated quaternions before normalising, and their two derivatives by time."""
    if len(frames) == 2:
        return _geodesic(frames, quat, t)
    curve = _curve(frames, quat, interpolation)
    s = np.asarray(curve(t), dtype=np.float64)
    size = np.linalg.norm(s, axis=1)
    if np.any(size < SMALLEST_NORM):
        raise BadMotion(
            what="the root turns so far from frame to frame that its way cannot be told",
            where=f"at {t[int(np.argmin(size))]:.3f} s",
            todo="repair the jump or give more frames",
        )
    return s, np.asarray(curve(t, 1)), np.asarray(curve(t, 2))


def _geodesic(
    frames: Float64[Array, " n"], quat: Float64[Array, "n 4"], t: Float64[Array, " k"]
) -> tuple[Float64[Array, "k 4"], Float64[Array, "k 4"], Float64[Array, "k 4"]]:
    """The turn of two frames at constant rate, where four straight numbers would speed up."""
    half = rotation.as_rotvec(rotation.multiply(rotation.conjugate(quat[0]), quat[1])) / 2.0
    per_s = half / (frames[1] - frames[0])
    s = rotation.multiply(quat[0], rotation.from_rotvec(2.0 * per_s * (t - frames[0])[:, None]))
    s1 = rotation.multiply(s, np.concatenate([[0.0], per_s]))
    return s, s1, -float(per_s @ per_s) * s


def _curve(
    frames: Float64[Array, " n"], values: Float64[Array, "n c"], interpolation: Interpolation
) -> _Pieces:
    """Piecewise polynomials of time through the values, column by column."""
    if len(frames) == 1:
        return PPoly(values[None], np.array([frames[0], frames[0] + 1.0]))
    if as_interpolation(interpolation) == "spline":
        return CubicSpline(frames, values)
    return _quintics(frames, values)


def _quintics(frames: Float64[Array, " n"], values: Float64[Array, "n c"]) -> _Pieces:
    """Quintic pieces with velocities and accelerations from the quartics through five frames.

    Few frames have fewer in their windows, and polynomials of lower degree.
    """
    n = len(frames)
    width = min(WINDOW, n)
    window = np.clip(np.arange(n) - width // 2, 0, n - width)[:, None] + np.arange(width)
    distance = frames[window] - frames[:, None]
    scale = np.abs(distance).max(axis=1)
    powers = (distance / scale[:, None])[:, None, :] ** np.arange(width)[:, None]
    asked = np.zeros((width, 2))
    asked[1, 0] = 1.0
    asked[2:3, 1] = 2.0  # a line through two frames has no second derivative
    weights = np.linalg.solve(powers, np.broadcast_to(asked, (n, width, 2)))
    derivatives = np.einsum("iwd,iwc->dic", weights, values[window])
    vel = derivatives[0] / scale[:, None]
    acc = derivatives[1] / scale[:, None] ** 2

    h = np.diff(frames)[:, None]
    gap = np.diff(values, axis=0)
    v0, v1 = vel[:-1] * h, vel[1:] * h
    a0, a1 = acc[:-1] * h**2 / 2.0, acc[1:] * h**2 / 2.0
    rising = [
        values[:-1],
        v0,
        a0,
        10.0 * gap - 6.0 * v0 - 4.0 * v1 - 3.0 * a0 + a1,
        -15.0 * gap + 8.0 * v0 + 7.0 * v1 + 3.0 * a0 - 2.0 * a1,
        6.0 * gap - 3.0 * v0 - 3.0 * v1 - a0 + a1,
    ]
    return PPoly(np.stack([c / h**k for k, c in enumerate(rising)][::-1]), frames)
