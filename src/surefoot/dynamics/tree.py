"""The tree of links that the kernels are given, read from a compiled MuJoCo model."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array, Float64, IntArray, door
from surefoot.errors import BadRobot, listed
from surefoot.kernels.tree import FREE, HINGE, SLIDE, Tree
from surefoot.motion import rotation
from surefoot.robots.engine import mujoco


def read_tree(model: mujoco.MjModel) -> Tree:
    """The tree of a model with free, slide and hinge joints.

    Armature of a free joint is left out: it comes from a default of the file that was meant for
    the driven joints, and would add mass to the base that nobody can lift.

    Raises:
        BadRobot: a ball joint, a tendon with armature, or no link with mass that can move.
    """
    kind = np.array([int(k) for k in model.jnt_type], dtype=np.int64)
    _refuse_what_is_not_modelled(model, kind)
    dof_kind = kind[model.dof_jntid]
    dof_of_free = np.arange(model.nv) - model.jnt_dofadr[model.dof_jntid]
    moves = model.body_weldid != 0
    turns = (dof_kind == HINGE) | ((dof_kind == FREE) & (dof_of_free >= 3))
    return Tree(
        link_parent=_whole(model.body_parentid),
        link_pos=door(model.body_pos),
        link_quat=door(model.body_quat),
        link_mass=door(np.where(moves, model.body_mass, 0.0)),
        link_com=door(model.body_ipos),
        link_inertia=door(_inertia_in_link(model)),
        link_joint=_whole(model.body_jntadr),
        link_joints=_whole(model.body_jntnum),
        link_dof=_whole(model.body_dofadr),
        link_dofs=_whole(model.body_dofnum),
        link_free=_whole(np.isin(np.arange(model.nbody), model.jnt_bodyid[kind == FREE])),
        joint_kind=_whole(kind),
        joint_qpos=_whole(model.jnt_qposadr),
        joint_dof=_whole(model.jnt_dofadr),
        joint_axis=door(model.jnt_axis),
        joint_pos=door(model.jnt_pos),
        joint_zero=door(model.qpos0[model.jnt_qposadr]),
        dof_link=_whole(model.dof_bodyid),
        dof_parent=_whole(model.dof_parentid),
        dof_turns=_whole(turns),
        dof_armature=door(np.where(dof_kind == FREE, 0.0, model.dof_armature)),
        gravity=door(model.opt.gravity),
    )


def _whole(values: object) -> IntArray:
    """A copy as locked int64: the engine's own arrays are int32 and live in the model."""
    array = np.array(values, dtype=np.int64)
    array.flags.writeable = False
    return array


def _inertia_in_link(model: mujoco.MjModel) -> Float64[Array, "b 6"]:
    """Inertia about each centre of mass in the link's axes: xx, yy, zz, xy, xz, yz."""
    R_li = rotation.as_matrix(np.asarray(model.body_iquat, dtype=np.float64))
    full = np.einsum("bik,bk,bjk->bij", R_li, model.body_inertia, R_li)
    return np.stack(
        [full[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], -1
    )


def _refuse_what_is_not_modelled(model: mujoco.MjModel, kind: IntArray) -> None:
    faults = []
    for j in np.flatnonzero(~np.isin(kind, (FREE, SLIDE, HINGE))):
        faults.append(f"'{model.joint(int(j)).name}' is a ball joint, write three hinges instead")
    for t in range(model.ntendon):
        if float(model.tendon_armature[t]) != 0.0:
            faults.append(f"tendon '{model.tendon(t).name}' has armature, drop it")
    if not float(np.sum(model.body_mass[model.body_weldid != 0])) > 0.0:
        faults.append("no link with mass can move, add a floating base")
    if faults:
        raise BadRobot(what="the dynamics cannot follow this model: " + listed(faults))
