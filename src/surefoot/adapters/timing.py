"""New times for a clip: every pose stays as it is and is realised at another moment."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline

from surefoot.arrays import Array, Float64, Int64, IntArray, locked
from surefoot.errors import BadMotion
from surefoot.motion import rotation
from surefoot.motion.curves import even_times, resample, resample_clip
from surefoot.motion.motion import Clip

KEY_STEP_S = 1.0 / 30.0  # of the paper: key frames of a motion typically lie so far apart
REACH_FRAMES = 12  # a shifted frame moves a cubic spline by 0.268 for each frame away: 1e-7 here


@dataclass(frozen=True, slots=True)
class Timing:
    """When each moment of a clip happens: t(s) = s + a cubic spline through shifts of key times."""

    key_time: Float64[Array, " k"]
    """Key times along the clip, s, increasing."""
    shift: Float64[Array, " k"]
    """How much later each happens, s; zero where nothing changes."""

    def __post_init__(self) -> None:
        """Lock the arrays and refuse a time that runs backwards at the keys."""
        for name in ("key_time", "shift"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        if len(self.key_time) > 1 and np.any(np.diff(self.key_time + self.shift) <= 0.0):
            raise BadMotion(what="new times must keep the order of the old ones", where="timing")

    def __call__(self, s: Float64[Array, " n"]) -> Float64[Array, " n"]:
        """New times of old ones, s."""
        return s + self._bent(s, 0)

    def slope(self, s: Float64[Array, " n"]) -> Float64[Array, " n"]:
        """t': above 1 slower than the clip, below 1 faster."""
        return 1.0 + self._bent(s, 1)

    def _bent(self, s: Float64[Array, " n"], order: int) -> Float64[Array, " n"]:
        """The spline of the shifts, or a derivative; exactly zero where none reaches."""
        out = np.zeros(len(s))
        for first, last in _stretches(self.shift):
            knots = self.key_time[first : last + 1]
            inside = (s >= knots[0]) & (s <= knots[-1])
            spline = CubicSpline(knots, self.shift[first : last + 1], bc_type="natural")
            out[inside] = spline(s[inside], order)
        if order == 0:  # a key frame is realised at its new time to the last digit
            place = np.clip(np.searchsorted(self.key_time, s), 0, len(self.key_time) - 1)
            own = self.key_time[place] == s
            out[own] = self.shift[place[own]]
        return out


def _stretches(shift: Float64[Array, " k"]) -> list[tuple[int, int]]:
    """First and last key of each stretch that shifts reach, their neighbours included."""
    moved = np.flatnonzero(shift != 0.0)
    found: list[tuple[int, int]] = []
    for k in moved:
        first = max(0, int(k) - REACH_FRAMES)
        last = min(len(shift) - 1, int(k) + REACH_FRAMES)
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def key_frames(time: Float64[Array, " f"], step_s: float = KEY_STEP_S) -> Int64[IntArray, " k"]:
    """Frames about step_s apart, the first and the last among them; all where frames lie farther.

    A dense clip has more frames than a timing needs: the frames between follow the keys.
    """
    count = max(1, round((float(time[-1]) - float(time[0])) / step_s))
    wanted = np.linspace(float(time[0]), float(time[-1]), count + 1)
    after = np.clip(np.searchsorted(time, wanted), 1, max(1, len(time) - 1))
    nearer = wanted - time[after - 1] < time[np.minimum(after, len(time) - 1)] - wanted
    return np.unique(np.where(nearer, after - 1, np.minimum(after, len(time) - 1)))


def evened(clip: Clip, fps: float) -> tuple[Clip, tuple[float, float]]:
    """The clip at an even rate, and how far its poses then lie beside the uneven ones at most.

    The distances are of the root, m, and of root and joints, °, at the frames of the clip; contacts
    stay where they are.

    Raises:
        BadOption: a rate that is not positive.
    """
    motion = clip.motion
    start, end = float(motion.time[0]), float(motion.time[-1])
    even = resample_clip(clip, even_times(start, end, fps))
    back = resample(even.motion, motion.time)
    place = float(np.linalg.norm(back.root_pos - motion.root_pos, axis=1).max())
    between = rotation.multiply(rotation.conjugate(back.root_quat), motion.root_quat)
    turn = float(np.linalg.norm(rotation.as_rotvec(between), axis=1).max())
    joints = float(np.abs(back.joint_pos - motion.joint_pos).max(initial=0.0))
    return even, (place, float(np.degrees(max(turn, joints))))


def retimed(clip: Clip, timing: Timing, *, what: str, **parameters: object) -> Clip:
    """The clip with every frame and every contact change at its new time; poses are untouched.

    Raises:
        BadMotion: a timing that runs backwards between its keys.
    """
    time = timing(clip.motion.time)
    edges = clip.contacts.edges
    moved = dict(zip(edges.tolist(), timing(edges).tolist(), strict=True))
    return replace(
        clip,
        motion=replace(clip.motion, time=time),
        contacts=clip.contacts.retimed(lambda t: moved[t]),
        meta=clip.meta.then(what, **parameters),
    )
