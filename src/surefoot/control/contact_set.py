"""Which contacts a controller counts on: those of the schedule, as the measured load allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Bool, BoolArray, Int64, IntArray, door
from surefoot.control.target import Patches, State, Target
from surefoot.kernels import switching
from surefoot.robots.robot import Robot

ONE_FOOT = 3  # joints; links of which one hangs on the other by fewer are parts of one foot


@dataclass(frozen=True, slots=True)
class Options:
    """When a link counts as standing."""

    touch_load_n: float = 20.0
    """Load along the normal from which a link has touched down, N."""
    early_share: float = 0.6
    """Share of its swing after which a link that bears this load has landed, early."""
    rising_mps: float = 0.05
    """Speed off its surface from which the reference of a link has left it, m/s."""


class ContactSet:
    """The contacts that carry, step by step.

    Lift-off is by schedule and reference, not by load: a foot that still touches would else be kept
    on the ground by the controller itself. A schedule ends on a frame, and the reference rises up
    to a frame before: a foot without load goes with it. A touch-down needs schedule and load; one
    with load but before its time counts in the last part of a swing. At the first step the schedule
    is believed.
    """

    def __init__(self, robot: Robot, patches: Patches, options: Options | None = None) -> None:
        """Start with nothing known."""
        self.patches = patches
        self.options = options or Options()
        links = len(patches.link_names)
        self.carrying: Int64[IntArray, " c"] = np.full(links, -1, dtype=np.int64)
        """The patch on which each contact link stands; −1 where it does not."""
        self.late: Int64[IntArray, " c"] = np.full(links, -1, dtype=np.int64)
        """The scheduled patch that a link has not found yet; −1 where there is none."""
        self._near = _near(robot, patches)
        self._normal_w = door(patches.normal_w)
        self._holds = np.zeros(len(patches.patch_link), dtype=np.bool_)
        self._swing, self._coming = np.zeros(links), np.zeros(links, dtype=np.int64)
        self._force_w = np.zeros((links, 3))
        self._begun = False

    def reset(self) -> None:
        """Forget all steps: the next is the first."""
        self.carrying[:] = -1
        self.late[:] = -1
        self._begun = False

    def update(self, state: State, target: Target) -> bool:
        """Take in one step; whether the set is another than before."""
        np.copyto(self._holds, target.holds)
        np.copyto(self._swing, target.swing)
        np.copyto(self._coming, target.coming)
        np.copyto(self._force_w, state.force_w)
        speed = np.sum(target.link_vel_w[self.patches.patch_body, :3] * self._normal_w, axis=1)
        rising = speed > self.options.rising_mps
        load = self.options.touch_load_n if self._begun else -np.inf
        share = self.options.early_share if self._begun else np.inf
        changed = switching.switch(
            self.patches.patch_link, self._normal_w, self._near, self._holds, self._swing,
            self._coming, self._force_w, rising, load, share, self.carrying, self.late,
        )  # fmt: skip
        first, self._begun = not self._begun, True
        return bool(changed) or first

    @property
    def planned(self) -> Bool[BoolArray, " c"]:
        """The contact links that are counted on."""
        return self.carrying >= 0


def _near(robot: Robot, patches: Patches) -> Int64[IntArray, "c c"]:
    """Which contact links are parts of one foot: one hangs on the other by few joints."""
    links = [int(b) for b in patches.link_body]
    near = np.zeros((len(links), len(links)), dtype=np.int64)
    for i, upper in enumerate(links):
        for k, lower in enumerate(links):
            between = joints_between(robot, upper, lower)
            if between is not None and between < ONE_FOOT:
                near[i, k] = near[k, i] = 1
    return near


def joints_between(robot: Robot, upper: int, lower: int) -> int | None:
    """Degrees of freedom from one link out to another; None where it does not lie on the way."""
    count = 0
    while lower != upper:
        if lower == 0:
            return None
        count += int(robot.model.body_dofnum[lower])
        lower = int(robot.model.body_parentid[lower])
    return count
