"""Many frames of one robot with their rigid-body quantities, all frames at once, made on demand."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from itertools import pairwise

import numpy as np

from surefoot.arrays import Array, Float64, door, locked
from surefoot.dynamics.tree import read_tree
from surefoot.errors import BadMotion, BadOption
from surefoot.kernels import rigid
from surefoot.kernels.tree import FREE
from surefoot.motion import rotation
from surefoot.robots.robot import Robot

CHUNK = 1024  # frames: numpy's intermediate arrays stay within some megabytes
MIN_FRAMES_PER_THREAD = 64  # below, starting a thread costs more than its share of the work
PIECES_PER_THREAD = 4  # a thread whose core is shared with others leaves some to the next one
SMALLEST_QUAT = 1e-6  # norm; a shorter one is a row that nobody filled, not a rotation


class Batch:
    """n frames of one robot; every quantity is computed once, when it is first asked for.

    Positions, velocities and accelerations stand in the engine's order and convention: a free joint
    has linear velocity in world axes and angular velocity in body axes. Results are locked. World
    axes everywhere; links are counted as in the model, the world is link 0.
    """

    def __init__(
        self,
        robot: Robot,
        qpos: Float64[Array, "n nq"],
        qvel: Float64[Array, "n nv"] | None = None,
        qacc: Float64[Array, "n nv"] | None = None,
        *,
        threads: int = 1,
    ) -> None:
        """Keep locked copies of the states.

        Quaternions are normalised where they are used, as the engine does.

        Args:
            threads: frames are split over so many threads; the results are the same to the bit.

        Raises:
            BadMotion: shapes that do not fit the robot, numbers that are not finite, or a
                quaternion of length zero.
            BadOption: fewer than one thread.
            BadRobot: a model that the kernels cannot follow (`dynamics.tree`).
        """
        if threads < 1:
            raise BadOption(what=f"threads must be at least 1, got {threads}")
        self.robot = robot
        self.threads = threads
        self.tree = read_tree(robot.model)
        self.qpos = _checked("qpos", qpos, len(qpos), robot.model.nq)
        self._qvel = None if qvel is None else _checked("qvel", qvel, self.n, robot.model.nv)
        self._qacc = None if qacc is None else _checked("qacc", qacc, self.n, robot.model.nv)
        self._refuse_empty_quaternions()

    @property
    def n(self) -> int:
        """Number of frames."""
        return len(self.qpos)

    @property
    def qvel(self) -> Float64[Array, "n nv"]:
        """Velocities as given.

        Raises:
            BadMotion: none were given.
        """
        return _given("velocities", self._qvel)

    @property
    def qacc(self) -> Float64[Array, "n nv"]:
        """Accelerations as given.

        Raises:
            BadMotion: none were given.
        """
        return _given("accelerations", self._qacc)

    # positions

    @property
    def link_pos_w(self) -> Float64[Array, "n b 3"]:
        """Origins of all links, m."""
        return self._poses[0]

    @property
    def link_quat_w(self) -> Float64[Array, "n b 4"]:
        """Orientations of all links: quat_wl."""
        return self._poses[1]

    @cached_property
    def link_rot_wl(self) -> Float64[Array, "n b 3 3"]:
        """Rotation matrices of all links."""
        quat = self.link_quat_w
        out = np.empty((*quat.shape[:2], 3, 3))
        for start in range(0, self.n, CHUNK):
            out[start : start + CHUNK] = rotation.as_matrix(quat[start : start + CHUNK])
        return _lock(out)

    @property
    def com_w(self) -> Float64[Array, "n 3"]:
        """Centre of mass, m."""
        return self._sums[0]

    def points_w(self, link: str, points_l: Float64[Array, "k 3"]) -> Float64[Array, "n k 3"]:
        """Points of a link, m.

        Raises:
            UnknownName: no such link.
        """
        b = self.robot.link_id(link)
        turned = self._turned(b, points_l)
        turned += self.link_pos_w[:, b, None, :]
        return _lock(turned)

    # velocities

    @cached_property
    def link_vel_w(self) -> Float64[Array, "n b 6"]:
        """Velocities of all links: of the origin, m/s, then angular, rad/s."""
        out = np.empty((self.n, len(self.tree.link_parent), 6))
        self._over_frames(rigid.velocities, self.qpos, self.qvel, out)
        return _lock(out)

    @cached_property
    def link_acc_w(self) -> Float64[Array, "n b 6"]:
        """Accelerations of all links: of the origin, m/s², then angular, rad/s².

        Raises:
            BadMotion: the batch has no velocities or no accelerations.
        """
        out = np.empty((self.n, len(self.tree.link_parent), 6))
        self._over_frames(rigid.accelerations, self.qpos, self.qvel, self.qacc, out)
        return _lock(out)

    def point_velocities_w(
        self, link: str, points_l: Float64[Array, "k 3"]
    ) -> Float64[Array, "n k 3"]:
        """Velocities of points of a link, m/s.

        Raises:
            UnknownName: no such link.
            BadMotion: the batch has no velocities.
        """
        b = self.robot.link_id(link)
        linear, angular = self.link_vel_w[:, b, None, :3], self.link_vel_w[:, b, None, 3:]
        return _lock(linear + np.cross(angular, self._turned(b, points_l)))

    @property
    def momentum(self) -> Float64[Array, "n 6"]:
        """Linear momentum, N s, and angular momentum about the centre of mass, N m s.

        Raises:
            BadMotion: the batch has no velocities.
        """
        _given("velocities", self._qvel)
        return self._sums[1]

    # derivatives by the velocities

    def jacobian(self, link: str, point_l: Float64[Array, " 3"]) -> Float64[Array, "n 6 nv"]:
        """What turns qvel into the velocity of a point: linear rows, then angular rows.

        Raises:
            UnknownName: no such link.
        """
        b = self.robot.link_id(link)
        out = np.empty((self.n, 6, self.robot.model.nv))
        self._over_frames(rigid.jacobians, self.qpos, out, fixed=(b, door(point_l)))
        return _lock(out)

    @cached_property
    def com_jacobian(self) -> Float64[Array, "n 3 nv"]:
        """What turns qvel into the velocity of the centre of mass."""
        nv = self.robot.model.nv
        out = np.empty((self.n, 3, nv))
        mass = float(np.sum(self.tree.link_mass))
        for start in range(0, self.n, CHUNK):
            qpos = self.qpos[start : start + CHUNK]
            momentum = np.empty((len(qpos), 6, nv))
            self._over_frames(rigid.inertia, qpos, momentum, np.empty((0, nv, nv)))
            out[start : start + CHUNK] = momentum[:, :3] / mass
        return _lock(out)

    # dynamics

    @cached_property
    def mass_matrix(self) -> Float64[Array, "n nv nv"]:
        """Joint-space inertia M, armature of the joints included, that of a free root not."""
        nv = self.robot.model.nv
        out = np.empty((self.n, nv, nv))
        self._over_frames(rigid.inertia, self.qpos, np.empty((0, 6, nv)), out)
        return _lock(out)

    @cached_property
    def bias(self) -> Float64[Array, "n nv"]:
        """Forces against gravity and velocity products: inverse dynamics without acceleration.

        Raises:
            BadMotion: the batch has no velocities.
        """
        out = np.empty((self.n, self.robot.model.nv))
        self._over_frames(rigid.inverse_dynamics, self.qpos, self.qvel, self._still, out)
        return _lock(out)

    def inverse_dynamics(self) -> Float64[Array, "n nv"]:
        """Generalised forces M q̈ + bias; springs, damping and friction loss stay out.

        The rows of a free joint are force in world axes, then moment about its origin in *body*
        axes; `dynamics.wrench` has them in world axes.

        Raises:
            BadMotion: the batch has no velocities or no accelerations.
        """
        out = np.empty((self.n, self.robot.model.nv))
        self._over_frames(rigid.inverse_dynamics, self.qpos, self.qvel, self.qacc, out)
        return _lock(out)

    @property
    def com_wrench(self) -> Float64[Array, "n 6"]:
        """Force and moment about the centre of mass that the contacts must supply, N and N m.

        Raises:
            BadMotion: the batch has no velocities or no accelerations.
        """
        _given("velocities", self._qvel)
        _given("accelerations", self._qacc)
        return self._sums[2]

    # how it is computed

    @cached_property
    def _poses(self) -> tuple[Array, Array]:
        links = len(self.tree.link_parent)
        pos, quat = np.empty((self.n, links, 3)), np.empty((self.n, links, 4))
        self._over_frames(rigid.poses, self.qpos, pos, quat)
        return _lock(pos), _lock(quat)

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array]:
        """Centre of mass, momentum and required wrench, at rest where no rates were given."""
        qvel = self._still if self._qvel is None else self._qvel
        qacc = self._still if self._qacc is None else self._qacc
        com, momentum, wrench = (np.empty((self.n, k)) for k in (3, 6, 6))
        self._over_frames(rigid.balance, self.qpos, qvel, qacc, com, momentum, wrench)
        return _lock(com), _lock(momentum), _lock(wrench)

    @property
    def _still(self) -> Array:
        return door(np.zeros((self.n, self.robot.model.nv)))

    def _turned(self, b: int, points_l: Array) -> Array:
        R_wl = rotation.as_matrix(self.link_quat_w[:, b])
        return np.asarray(np.einsum("nij,kj->nki", R_wl, points_l), dtype=np.float64)

    def _over_frames(
        self, kernel: Callable[..., None], *arrays: Array, fixed: tuple[object, ...] = ()
    ) -> None:
        """Call a kernel with all frames, or with pieces of them in several threads."""
        call = partial(kernel, self.tree, *fixed)
        frames = len(arrays[0])
        threads = min(self.threads, frames // MIN_FRAMES_PER_THREAD)
        if threads < 2:
            call(*arrays)
            return
        pieces = threads * PIECES_PER_THREAD
        edges = [frames * k // pieces for k in range(pieces + 1)]
        with ThreadPoolExecutor(threads) as pool:
            parts = [
                pool.submit(call, *(array[a:b] for array in arrays)) for a, b in pairwise(edges)
            ]
        for part in parts:
            part.result()

    def _refuse_empty_quaternions(self) -> None:
        for j in np.flatnonzero(self.tree.joint_kind == FREE):
            start = int(self.tree.joint_qpos[j]) + 3
            norm = np.linalg.norm(self.qpos[:, start : start + 4], axis=1)
            if np.any(norm < SMALLEST_QUAT):
                i = int(np.argmin(norm))
                raise BadMotion(
                    what=f"expected a unit quaternion in qpos, got one of length {norm[i]:.3g}",
                    where=f"frame {i}",
                    todo="The frame was never filled?",
                )


def warm_up(robot: Robot) -> None:
    """Compile every kernel of dynamics, or load it from the cache, by one call on one frame."""
    still = np.zeros((1, robot.model.nv))
    batch = Batch(robot, np.array(robot.model.qpos0, dtype=np.float64)[None], still, still)
    batch.jacobian(robot.root_link, np.zeros(3))
    _ = (
        batch.link_pos_w,
        batch.link_vel_w,
        batch.link_acc_w,
        batch.com_w,
        batch.mass_matrix,
        batch.bias,
    )


def _checked(name: str, values: Array, frames: int, width: int) -> Array:
    array = locked(values)
    if array.shape != (frames, width):
        raise BadMotion(
            what=f"expected {name} ({frames}, {width}), got {array.shape}",
            todo="robot.qpos, robot.qvel and robot.qacc make them from a motion",
        )
    if not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        i, k = (int(x) for x in bad[0])
        raise BadMotion(
            what=f"{name} holds {array[i, k]} in {len(bad)} places",
            where=f"first in frame {i}, column {k}",
        )
    return array


def _given(what: str, array: Array | None) -> Array:
    if array is None:
        raise BadMotion(
            what=f"this quantity needs {what}, and the batch has none",
            todo="Make it as Batch(robot, qpos, qvel, qacc)",
        )
    return array


def _lock(array: Array) -> Array:
    array.flags.writeable = False
    return array
