"""The moments at which a clip is judged, and what it asks of its contacts there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray, locked, locked_int
from surefoot.contacts.cones import Cones, Sliding, contact_cones
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.wrench import required_wrench, weight_w
from surefoot.errors import BadMotion, BadOption
from surefoot.motion.curves import Interpolation, rates, resample, steady_times
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

HIGHEST_RATE_HZ = 1000.0
TOGETHER_S = 1e-9  # rounding in sums of frame times: moments this near are one
SLIVER_S = 1.5e-6  # contacts files are written to the microsecond: what they cannot tell apart
REFERENCES = ("base", "com", "origin")

Reference = str | tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """A clip at the moments at which it is judged."""

    time: Float64[Array, " n"]
    """Moments, s; those of a contact change stand twice."""
    side: Int64[IntArray, " n"]
    """−1 just before the moment, 1 just after, 0 where nothing changes."""
    batch: Batch
    cones: Cones
    ref_w: Float64[Array, "n 3"]
    """The point about which moments are taken, m."""
    wrench: Float64[Array, "n 6"]
    """Required force and moment about ref_w, world axes, N and N m."""
    still: Float64[Array, "n 6"]
    """The same of the pose held still."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("time", "ref_w", "wrench", "still"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        object.__setattr__(self, "side", locked_int(self.side))

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.time)


def sampled(
    clip: Clip,
    robot: Robot,
    *,
    rate_hz: float,
    key_frames: bool = False,
    interpolation: Interpolation = "spline",
    reference: Reference = "base",
    friction: float | None = None,
    sliding: Sliding = "kinetic",
    threads: int = 1,
) -> Samples:
    """What a clip asks of its contacts, at an even rate and on both sides of every contact change.

    Args:
        key_frames: whether every frame is a moment besides: a spline's accelerations peak there.

    Raises:
        BadMotion: fewer than two frames, or joints that are not the robot's.
        BadOption: a rate, reference or sliding that does not exist.
        UnknownName: a stance of a link that the robot has not.
    """
    motion = clip.motion
    _refuse_single_frame(clip)
    refuse_rate(rate_hz)
    time, side, place = _moments(motion.time, clip.contacts.edges, rate_hz, key_frames)
    moments = time[np.concatenate([[True], np.diff(place) > 0])]
    moving = rates(motion, interpolation=interpolation, time=moments)
    poses = robot.qpos(resample(motion, moments, interpolation=interpolation))
    batch = Batch(
        robot,
        poses[place],
        robot.qvel(moving)[place],
        robot.qacc(moving)[place],
        threads=threads,
    )
    ref_w = reference_points(batch, reference)
    return Samples(
        time=time,
        side=side,
        batch=batch,
        cones=contact_cones(
            batch, time, clip.contacts, side=side, friction=friction, sliding=sliding
        ),
        ref_w=ref_w,
        wrench=required_wrench(batch, ref_w),
        still=_still(batch, ref_w),
    )


def reference_points(batch: Batch, reference: Reference) -> Float64[Array, "n 3"]:
    """The point about which moments are taken, at each sample, m.

    Raises:
        BadOption: neither a known word nor three finite numbers.
    """
    refuse_reference(reference)
    if reference == "base":
        return np.array(batch.link_pos_w[:, batch.robot.link_id(batch.robot.root_link)])
    if reference == "com":
        return np.array(batch.com_w)
    if reference == "origin":
        return np.zeros((batch.n, 3))
    return np.tile(np.array(reference, dtype=np.float64), (batch.n, 1))


def refuse_rate(rate_hz: float) -> None:
    """Refuse what is no rate.

    Raises:
        BadOption: not positive, or above 1 kHz.
    """
    if not 0.0 < rate_hz <= HIGHEST_RATE_HZ:
        raise BadOption(
            what=f"the rate must lie between 0 and {HIGHEST_RATE_HZ:g} samples a second,"
            f" got {rate_hz:g}"
        )


def refuse_reference(reference: Reference) -> None:
    """Refuse what is no reference.

    Raises:
        BadOption: neither a known word nor three finite numbers.
    """
    known = isinstance(reference, str) and reference in REFERENCES
    point = not isinstance(reference, str) and len(reference) == 3
    if not known and not (point and np.all(np.isfinite(reference))):
        raise BadOption(
            what=f"expected a reference of {', '.join(REFERENCES)} or X,Y,Z, got {reference!r}"
        )


def without_slivers(clip: Clip) -> Clip:
    """The clip with moments of its contacts made one where files cannot tell them apart.

    A foot that lands at 0.1 + 0.2 s when the other lifts at 0.3 s would leave 6e-17 s of flight
    between, whose samples miss the whole weight.
    """
    first, last = float(clip.motion.time[0]), float(clip.motion.time[-1])
    known = np.sort(np.concatenate([clip.contacts.edges, [first, last]]))
    begins = np.concatenate([[True], np.diff(known) > SLIVER_S])
    one = known[begins][np.cumsum(begins) - 1]
    for end in (first, last):
        one[one == one[np.searchsorted(known, end)]] = end
    place = dict(zip(known.tolist(), one.tolist(), strict=True))
    if all(old == new for old, new in place.items()):
        return clip
    return replace(clip, contacts=clip.contacts.retimed(lambda t: place[t]))


def _refuse_single_frame(clip: Clip) -> None:
    if clip.motion.n < 2:
        raise BadMotion(
            what="the index needs at least 2 frames, got 1",
            where=clip.meta.source,
            todo="give a longer clip: without accelerations nothing can be said",
        )


def _moments(
    frames: Float64[Array, " f"], edges: Float64[Array, " e"], rate_hz: float, key_frames: bool
) -> tuple[Float64[Array, " n"], Int64[IntArray, " n"], Int64[IntArray, " n"]]:
    """Moments, their sides, and which different moment each is.

    A contact change takes the place of an even moment beside it.
    """
    start, end = float(frames[0]), float(frames[-1])
    even = steady_times(start, end, rate_hz)
    if key_frames:
        even = np.sort(np.concatenate([frames, even]))
        even = even[np.concatenate([[True], np.diff(even) > TOGETHER_S])]
    edges = edges[(edges > start + TOGETHER_S) & (edges < end - TOGETHER_S)]
    if len(edges):
        after = np.clip(np.searchsorted(edges, even), 1, len(edges)) - 1
        near = np.minimum(
            np.abs(edges[after] - even),
            np.abs(edges[np.minimum(after + 1, len(edges) - 1)] - even),
        )
        even = even[near > TOGETHER_S]
    time = np.concatenate([even, edges, edges])
    side = np.concatenate([np.zeros(len(even)), -np.ones(len(edges)), np.ones(len(edges))])
    order = np.lexsort((side, time))
    time, side = time[order], side[order].astype(np.int64)
    side[0], side[-1] = 1, -1  # what ends at the beginning, or begins at the end, carries nothing
    place = np.cumsum(np.concatenate([[0], np.diff(time) > 0.0])).astype(np.int64)
    return time, side, place


def _still(batch: Batch, ref_w: Float64[Array, "n 3"]) -> Float64[Array, "n 6"]:
    """The wrench that holds each pose: the weight under the centre of mass."""
    force = np.tile(-weight_w(batch), (batch.n, 1))
    return np.concatenate([force, np.cross(batch.com_w - ref_w, force)], axis=1)
