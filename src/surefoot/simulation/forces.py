"""Contact forces of the last physics step, by link.

They come from the engine's own constraint forces and know nothing of what a controller expected.
They belong to the state before the last physics step; the engine keeps them until the next one.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray, locked_int
from surefoot.kernels.contact_forces import by_link
from surefoot.robots.engine import mujoco
from surefoot.simulation.scene import Scene


class ContactForces:
    """Reads the forces between terrain and links into arrays of its own, again and again."""

    def __init__(self, scene: Scene, carriers: Int64[IntArray, " c"] | None = None) -> None:
        """Make room for the forces of all links; the world is link 0 and has none.

        Args:
            carriers: links whose forces are wanted by themselves; by default none.
        """
        links = int(scene.model.nbody)
        self._carriers = locked_int([] if carriers is None else carriers)
        count = len(self._carriers)
        self.carried_w: Float64[Array, "c 3"] = np.zeros((count, 3))
        """Force on each carrier, N."""
        self.carried_n: Float64[Array, " c"] = np.zeros(count)
        """Sum of its normal forces, N."""
        self.cop_w: Float64[Array, "c 3"] = np.zeros((count, 3))
        """Where the normal forces on each carrier act, m; zero where there is no load."""
        self.force_w: Float64[Array, "b 3"] = np.zeros((links, 3))
        """Force on each link that moves by itself, with all that is fixed to it, N."""
        self.load_n: Float64[Array, " b"] = np.zeros(links)
        """Sum of its normal forces, N."""
        self._pressed_w = np.zeros((links, 3))
        self._total = np.zeros(3)
        self._geom_link = np.ascontiguousarray(scene.geom_link)

    def read(self, data: mujoco.MjData) -> None:
        """Take the forces that the last step, or `mj_forward`, left behind."""
        contact = data.contact
        by_link(
            np.ascontiguousarray(contact.frame),
            np.ascontiguousarray(contact.pos),
            np.ascontiguousarray(contact.geom),
            np.ascontiguousarray(contact.efc_address),
            data.efc_force,
            self._geom_link,
            self._carriers,
            self.force_w,
            self.load_n,
            self._pressed_w,
            self._total,
            self.carried_w,
            self.carried_n,
            self.cop_w,
        )

    @property
    def vertical_n(self) -> float:
        """Vertical force of all contacts, N."""
        return float(self._total[0])

    @property
    def total_cop_w(self) -> tuple[float, float]:
        """Σ f_z p / Σ f_z of all contacts, x and y, m; zeros where nothing presses."""
        vertical = float(self._total[0])
        if vertical <= 0.0:
            return 0.0, 0.0
        return float(self._total[1]) / vertical, float(self._total[2]) / vertical
