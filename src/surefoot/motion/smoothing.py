"""A low pass without phase for uneven frame times, gentle where contacts begin and end."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded

from surefoot.arrays import Array, Float64
from surefoot.errors import BadOption, Notice
from surefoot.motion import rotation
from surefoot.motion.contact import ContactSchedule
from surefoot.motion.motion import Motion

# Near a touch-down or lift-off the joints' own values count ten times. On a two-link leg that walks
# (smoothed at 6 Hz, 30 and 120 frames/s) the standing foot then moves by 0.5 mm instead of 1.5 mm;
# a hundred times gains nothing more, and on the root it lets the noise of forces through.
EDGE_WEIGHT = 10.0


def smooth(
    motion: Motion, cutoff_hz: float, contacts: ContactSchedule
) -> tuple[Motion, tuple[Notice, ...]]:
    """The motion without its quick parts, and what that changed.

    The smoothing spline through all frames: least Σ w (x − y)² + ∫ x''² / ω⁴ with ω = 2π cutoff and
    w the time that a frame stands for. It passes the share 1 / (1 + (f / cutoff)⁴) of a frequency,
    as a second-order Butterworth filter run forwards and backwards does, but takes uneven times,
    keeps straight lines straight up to the clip's ends and shifts nothing in time.

    One linear filter on root and joints leaves a standing foot in place to first order, since a
    mean of poses that hold it holds it. What would move it is the swing that bleeds in over the
    beginning and end of its stance; around these moments the joints are therefore held to their
    own values more strongly.

    Args:
        cutoff_hz: half of this frequency is left.

    Raises:
        BadOption: a cutoff that is not positive.
    """
    if not (np.isfinite(cutoff_hz) and cutoff_hz > 0.0):
        raise BadOption(what=f"the cutoff must be a positive number of hertz, got {cutoff_hz}")
    if motion.n < 3:
        return motion, ()
    even = np.ones(motion.n)
    held = 1.0 + (EDGE_WEIGHT - 1.0) * _nearness(motion.time, contacts.edges, cutoff_hz)
    quat = rotation.continuous(motion.root_quat)
    smoothed = Motion(
        time=motion.time,
        root_pos=_smoothing_spline(motion.time, motion.root_pos, cutoff_hz, even),
        root_quat=rotation.unit(_smoothing_spline(motion.time, quat, cutoff_hz, even)),
        joint_names=motion.joint_names,
        joint_pos=_smoothing_spline(motion.time, motion.joint_pos, cutoff_hz, held),
    )
    return smoothed, (_change(motion, smoothed, cutoff_hz),)


def _nearness(
    time: Float64[Array, " n"], edges: Float64[Array, " e"], cutoff_hz: float
) -> Float64[Array, " n"]:
    """How near each frame is to an edge of the contacts: 1 at one, 0 beyond the filter's reach.

    Where the clip begins or ends in a stance no swing bleeds in.
    """
    edges = edges[(edges > time[0]) & (edges < time[-1])]
    if len(edges) == 0:
        return np.zeros(len(time))
    after = np.searchsorted(edges, time)
    sides = edges[np.clip([after - 1, after], 0, len(edges) - 1)]
    distance = np.min(np.abs(sides - time), axis=0)
    return np.asarray(np.exp(-((np.pi * cutoff_hz * distance) ** 2)), dtype=np.float64)


def _smoothing_spline(
    time: Float64[Array, " n"],
    values: Float64[Array, "n c"],
    cutoff_hz: float,
    weight: Float64[Array, " n"],
) -> Float64[Array, "n c"]:
    """Values of the natural cubic smoothing spline at its frames, column by column.

    With second derivatives g at the inner frames: (R + λ Qᵀ W⁻¹ Q) g = Qᵀ y, x = y − λ W⁻¹ Q g
    (Reinsch); five diagonals, so the cost grows with the number of frames.
    """
    h = np.diff(time)
    share = np.concatenate([h[:1], h[:-1] + h[1:], h[-1:]]) / 2.0
    softness = 1.0 / (share * weight * (2.0 * np.pi * cutoff_hz) ** 4)  # λ W⁻¹
    before, after = 1.0 / h[:-1], 1.0 / h[1:]  # the three diagonals of Q
    middle = -(before + after)
    bands = np.zeros((3, len(time) - 2))
    bands[2] = (
        (h[:-1] + h[1:]) / 3.0
        + before**2 * softness[:-2]
        + middle**2 * softness[1:-1]
        + after**2 * softness[2:]
    )
    bands[1, 1:] = (
        h[1:-1] / 6.0
        + middle[:-1] * before[1:] * softness[1:-2]
        + after[:-1] * middle[1:] * softness[2:-1]
    )
    bands[0, 2:] = after[:-2] * before[2:] * softness[2:-2]
    b, m, a = before[:, None], middle[:, None], after[:, None]
    bend = solveh_banded(bands, b * values[:-2] + m * values[1:-1] + a * values[2:])
    spread = np.zeros_like(values)
    spread[:-2] += b * bend
    spread[1:-1] += m * bend
    spread[2:] += a * bend
    return np.asarray(values - softness[:, None] * spread, dtype=np.float64)


def _change(before: Motion, after: Motion, cutoff_hz: float) -> Notice:
    """The largest changes of root and joints, in one sentence."""
    moved = np.linalg.norm(after.root_pos - before.root_pos, axis=1)
    turn = rotation.multiply(rotation.conjugate(before.root_quat), after.root_quat)
    turned = np.degrees(np.linalg.norm(rotation.as_rotvec(turn), axis=1))
    bent = np.degrees(np.abs(after.joint_pos - before.joint_pos))
    sentence = (
        f"smoothing at {cutoff_hz:g} Hz moved the root by up to {1000.0 * moved.max():.2f} mm"
        f" and {turned.max():.3f}°"
    )
    if bent.size:
        i, j = np.unravel_index(int(np.argmax(bent)), bent.shape)
        sentence += (
            f", and joints by up to {bent[i, j]:.3f}°"
            f" ('{after.joint_names[j]}' at {after.time[i]:.3f} s)"
        )
    return Notice("smoothed", "motion", sentence, value=float(moved.max()))
