"""The zero-moment point of a clip against its support polygon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Bool, BoolArray, Float64, locked
from surefoot.contacts.cones import contact_cones
from surefoot.contacts.pressure import OUTSIDE_M, ground_figures
from surefoot.contacts.support import Support, support
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.wrench import required_wrench, weight_w
from surefoot.errors import BadMotion, BadOption
from surefoot.motion.curves import even_times, rates, resample
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot

DEFAULT_RATE_HZ = 200.0


@dataclass(frozen=True, slots=True)
class Balance:
    """What a clip demands of the ground, and where it demands it."""

    robot: str
    clip: str
    """Where the clip came from."""
    time: Float64[Array, " n"]
    """Moments of the samples, s."""
    wrench_w: Float64[Array, "n 6"]
    """Required force and moment about the world's origin, N and N m."""
    zmp_w: Float64[Array, "n 3"]
    """Zero-moment point on the plane of the contacts, m; below the com where undefined."""
    zmp_defined: Bool[BoolArray, " n"]
    """False in flight and where the required force does not press: no such point exists."""
    com_w: Float64[Array, "n 3"]
    support: Support
    outside_m: Float64[Array, " n"]
    """Distance of the ZMP from the edge of the support polygon, m: positive outside, negative
    inside, +inf in flight or where no ZMP exists."""

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("time", "wrench_w", "zmp_w", "com_w", "outside_m"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    @property
    def judged(self) -> Bool[BoolArray, " n"]:
        """Whether a ZMP and a support exist at each sample."""
        return np.isfinite(self.outside_m)

    @property
    def outside(self) -> Bool[BoolArray, " n"]:
        """Whether the ZMP lies outside the support polygon."""
        return self.judged & (self.outside_m > OUTSIDE_M)

    @property
    def outside_spans(self) -> tuple[tuple[float, float], ...]:
        """First and last moment of every stretch with the ZMP outside, s."""
        steps = np.diff(np.concatenate([[0], self.outside.astype(np.int64), [0]]))
        starts, stops = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
        return tuple(
            (float(self.time[a]), float(self.time[b])) for a, b in zip(starts, stops, strict=True)
        )

    def summary(self) -> dict[str, object]:
        """The ZMP figures as a JSON object; null where nothing could be judged."""
        judged = self.judged
        if not judged.any():
            worst: dict[str, object] = {
                "outside_fraction": None,
                "worst_outside_m": None,
                "worst_at_s": None,
                "smallest_margin_m": None,
            }
        else:
            i = int(np.argmax(np.where(judged, self.outside_m, -np.inf)))
            worst = {
                "outside_fraction": float(self.outside.sum() / judged.sum()),
                "worst_outside_m": float(max(self.outside_m[i], 0.0)),
                "worst_at_s": float(self.time[i]),
                "smallest_margin_m": float(-self.outside_m[i]),
            }
        return {**worst, "samples": len(self.time), "unsupported_samples": int((~judged).sum())}


def balance(
    clip: Clip, robot: Robot, *, rate_hz: float = DEFAULT_RATE_HZ, threads: int = 1
) -> Balance:
    """The required wrench of a clip, and its ZMP against the support polygon, at an even rate.

    The ZMP is taken on the plane through the vertices that carry (`contacts.pressure`); in flight
    and where the required force does not press on the ground there is none.

    Args:
        rate_hz: samples a second; the last frame is always a sample.

    Raises:
        BadMotion: fewer than two frames: without accelerations nothing can be said.
        BadOption: a rate that is not positive.
    """
    motion = clip.motion
    if motion.n < 2:
        raise BadMotion(what="the ZMP needs at least 2 frames, got 1", todo="give a longer clip")
    if not 0.0 < rate_hz < np.inf:
        raise BadOption(what=f"rate_hz must be positive, got {rate_hz}")
    time = even_times(float(motion.time[0]), float(motion.time[-1]), rate_hz)
    moving = rates(motion, time=time)
    batch = Batch(
        robot,
        robot.qpos(resample(motion, time)),
        robot.qvel(moving),
        robot.qacc(moving),
        threads=threads,
    )
    cones = contact_cones(batch, time, clip.contacts, sliding="static")
    weight = float(np.linalg.norm(weight_w(batch)))
    figures = ground_figures(cones, clip.contacts, batch.com_wrench, batch.com_w, weight_n=weight)
    return Balance(
        robot=robot.name,
        clip=clip.meta.source,
        time=time,
        wrench_w=required_wrench(batch, np.zeros((len(time), 3))),
        zmp_w=figures.zmp_w,
        zmp_defined=figures.defined,
        com_w=batch.com_w,
        support=support(cones),
        outside_m=figures.outside_m,
    )
