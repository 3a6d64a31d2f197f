"""Every kernel of the rigid bodies against a slow twin in numpy, on a few frames.

The twins walk the tree link by link with matrices, origins and rates of single links; the kernels
add up screws about one point. Small enough to run with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from make.trees import BRANCHED, PLANAR, SIX, States, random_states, robot_of, worst
from surefoot.arrays import door
from surefoot.dynamics.tree import read_tree
from surefoot.kernels import rigid
from surefoot.kernels.tree import FREE, HINGE, Tree

FRAMES = 5
EXACT = 1e-12  # some hundred roundings between two orders of summation


class Links(NamedTuple):
    """Matrices, origins, angular and linear rates, Jacobians (6 rows) of all links."""

    R: np.ndarray
    p: np.ndarray
    w: np.ndarray
    v: np.ndarray
    alpha: np.ndarray
    a: np.ndarray
    J: np.ndarray


def walked(tree: Tree, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Links:
    """The links of one frame: each joint moves its link about the axis where that stands."""
    count = len(tree.link_parent)
    out = Links(
        np.tile(np.eye(3), (count, 1, 1)),
        *(np.zeros((count, 3)) for _ in range(5)),
        np.zeros((count, 6, len(v))),
    )
    for b in range(1, count):
        up = tree.link_parent[b]
        _carry(out, up, b, out.R[up] @ tree.link_pos[b])
        turn = Rotation.from_quat(np.roll(tree.link_quat[b], -1)).as_matrix()
        out.R[b] = out.R[up] @ turn
        for j in range(tree.link_joint[b], tree.link_joint[b] + tree.link_joints[b]):
            k, d = tree.joint_qpos[j], tree.joint_dof[j]
            if tree.joint_kind[j] == FREE:
                out.R[b] = Rotation.from_quat(np.roll(q[k + 3 : k + 7], -1)).as_matrix()
                out.p[b], out.v[b], out.a[b] = q[k : k + 3], v[d : d + 3], a[d : d + 3]
                out.w[b], out.alpha[b] = out.R[b] @ v[d + 3 : d + 6], out.R[b] @ a[d + 3 : d + 6]
                out.J[b, :3, d : d + 3], out.J[b, 3:, d + 3 : d + 6] = np.eye(3), out.R[b]
                continue
            axis, by = out.R[b] @ tree.joint_axis[j], q[k] - tree.joint_zero[j]
            if tree.joint_kind[j] == HINGE:
                _carry(out, b, b, out.R[b] @ tree.joint_pos[j])
                out.R[b] = Rotation.from_rotvec(by * axis).as_matrix() @ out.R[b]
                out.alpha[b] += a[d] * axis + v[d] * np.cross(out.w[b], axis)
                out.w[b] += v[d] * axis
                out.J[b, 3:, d] += axis
                _carry(out, b, b, -out.R[b] @ tree.joint_pos[j])
            else:
                _carry(out, b, b, by * axis)
                out.v[b] += v[d] * axis
                out.a[b] += a[d] * axis + 2.0 * v[d] * np.cross(out.w[b], axis)
                out.J[b, :3, d] += axis
    return out


def _carry(out: Links, link: int, b: int, arm: np.ndarray) -> None:
    """The rates of a point at `arm` (world axes) from the origin of `link`, given to b."""
    w, alpha = out.w[link], out.alpha[link]
    out.p[b] = out.p[link] + arm
    out.v[b] = out.v[link] + np.cross(w, arm)
    out.a[b] = out.a[link] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    out.w[b], out.alpha[b] = w, alpha
    out.J[b] = out.J[link]
    out.J[b, :3] += np.cross(out.J[link, 3:].T, arm).T


def centre(links: Links, tree: Tree, b: int) -> tuple[Links, np.ndarray]:
    """The rates of the centre of mass of link b, and its inertia in world axes."""
    moved = Links(*(values[[b, b]].copy() for values in links))
    _carry(moved, 0, 1, links.R[b] @ tree.link_com[b])
    xx, yy, zz, xy, xz, yz = tree.link_inertia[b]
    local = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Links(*(values[1] for values in moved)), links.R[b] @ local @ links.R[b].T


@pytest.fixture(scope="module", params=[BRANCHED, PLANAR, SIX], ids=["branched", "planar", "six"])
def case(request: pytest.FixtureRequest) -> tuple[Tree, States, list[Links]]:
    model = robot_of(request.param).model
    tree, states = read_tree(model), random_states(model, FRAMES, seed=11)
    locked = States(door(states.qpos), door(states.qvel), door(states.qacc))
    frames = zip(states.qpos, states.qvel, states.qacc, strict=True)
    return tree, locked, [walked(tree, q, v, a) for q, v, a in frames]


def test_poses_are_those_of_links_turned_one_after_the_other(case) -> None:
    tree, states, slow = case
    count = len(tree.link_parent)
    pos, quat = np.empty((FRAMES, count, 3)), np.empty((FRAMES, count, 4))
    rigid.poses(tree, states.qpos, pos, quat)
    R = Rotation.from_quat(np.roll(quat, -1, axis=2).reshape(-1, 4)).as_matrix()
    assert worst(pos, np.stack([links.p for links in slow])) < EXACT
    assert worst(R.reshape(FRAMES, count, 3, 3), np.stack([links.R for links in slow])) < EXACT


def test_velocities_are_those_of_links_carried_one_by_the_other(case) -> None:
    tree, states, slow = case
    out = np.empty((FRAMES, len(tree.link_parent), 6))
    rigid.velocities(tree, states.qpos, states.qvel, out)
    assert worst(out, np.stack([np.hstack([links.v, links.w]) for links in slow])) < EXACT


def test_jacobians_are_the_sums_of_joint_axes_and_their_arms(case) -> None:
    tree, states, slow = case
    point = np.array([0.1, -0.2, 0.3])
    for b in range(1, len(tree.link_parent)):
        out = np.full((FRAMES, 6, states.qvel.shape[1]), np.inf)
        rigid.jacobians(tree, b, door(point), states.qpos, out)
        for i, links in enumerate(slow):
            want = links.J[b].copy()
            want[:3] += np.cross(want[3:].T, links.R[b] @ point).T
            assert np.abs(out[i] - want).max() < EXACT


def test_mass_matrix_and_momentum_are_sums_over_centres_of_mass(case) -> None:
    tree, states, slow = case
    nv = states.qvel.shape[1]
    momentum, mass_matrix = np.empty((FRAMES, 6, nv)), np.empty((FRAMES, nv, nv))
    rigid.inertia(tree, states.qpos, momentum, mass_matrix)
    for i, links in enumerate(slow):
        M, h = np.diag(tree.dof_armature), np.zeros((6, nv))
        for b in range(1, len(tree.link_parent)):
            c, inertia = centre(links, tree, b)
            M = M + tree.link_mass[b] * c.J[:3].T @ c.J[:3] + c.J[3:].T @ inertia @ c.J[3:]
            h[:3] += tree.link_mass[b] * c.J[:3]
            h[3:] += np.cross(c.p - links.p[1], tree.link_mass[b] * c.J[:3].T).T + inertia @ c.J[3:]
        assert np.abs(mass_matrix[i] - M).max() < EXACT * np.abs(M).max()
        assert np.abs(momentum[i] - h).max() < EXACT * np.abs(h).max()


def test_of_momentum_and_mass_matrix_one_can_be_left_out(case) -> None:
    tree, states, _ = case
    nv = states.qvel.shape[1]
    both = np.empty((FRAMES, 6, nv)), np.empty((FRAMES, nv, nv))
    rigid.inertia(tree, states.qpos, *both)
    momentum, mass_matrix = np.empty((FRAMES, 6, nv)), np.empty((FRAMES, nv, nv))
    rigid.inertia(tree, states.qpos, momentum, np.empty((0, nv, nv)))
    rigid.inertia(tree, states.qpos, np.empty((0, 6, nv)), mass_matrix)
    assert np.array_equal(momentum, both[0])
    assert np.array_equal(mass_matrix, both[1])


def test_inverse_dynamics_is_the_virtual_work_of_all_links(case) -> None:
    """Jourdain: tau = sum of J^T (m (a − g), I alpha + w × I w), plus the armature."""
    tree, states, slow = case
    out = np.empty(states.qvel.shape)
    rigid.inverse_dynamics(tree, states.qpos, states.qvel, states.qacc, out)
    for i, links in enumerate(slow):
        want = tree.dof_armature * states.qacc[i]
        for b in range(1, len(tree.link_parent)):
            c, inertia = centre(links, tree, b)
            want = want + c.J[:3].T @ (tree.link_mass[b] * (c.a - tree.gravity))
            want += c.J[3:].T @ (inertia @ c.alpha + np.cross(c.w, inertia @ c.w))
        assert np.abs(out[i] - want).max() < EXACT * np.abs(want).max()


def test_balance_is_the_sum_of_what_all_links_take(case) -> None:
    tree, states, slow = case
    com, momentum, wrench = (np.empty((FRAMES, k)) for k in (3, 6, 6))
    rigid.balance(tree, states.qpos, states.qvel, states.qacc, com, momentum, wrench)
    for i, links in enumerate(slow):
        parts = [centre(links, tree, b) for b in range(len(tree.link_parent))]
        masses = list(zip(tree.link_mass, parts, strict=True))
        c_w = sum(m * c.p for m, (c, _) in masses) / tree.link_mass.sum()
        P = sum(m * c.v for m, (c, _) in masses)
        L = sum(np.cross(c.p - c_w, m * c.v) + J @ c.w for m, (c, J) in masses)
        F = sum(m * (c.a - tree.gravity) for m, (c, _) in masses)
        N = sum(
            np.cross(c.p - c_w, m * (c.a - tree.gravity)) + J @ c.alpha + np.cross(c.w, J @ c.w)
            for m, (c, J) in masses
        )
        assert np.abs(com[i] - c_w).max() < EXACT
        assert np.abs(momentum[i] - np.concatenate([P, L])).max() < EXACT * np.abs(P).max()
        assert np.abs(wrench[i] - np.concatenate([F, N])).max() < EXACT * np.abs(F).max()
