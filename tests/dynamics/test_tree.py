"""What is read from a model, and what is refused."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from make.trees import BRANCHED, SIX, robot_of
from surefoot.dynamics.tree import read_tree
from surefoot.errors import BadRobot

LEAKY = """
<mujoco><default><joint damping="3" armature="0.1" frictionloss="2" stiffness="5"/></default>
<worldbody><body name="base" pos="0 0 1">{root}<geom type="box" size="0.1 0.2 0.3" mass="10"/>
<body name="arm"><joint name="elbow" axis="0 1 0"/><geom type="sphere" size="0.1" mass="1"/></body>
</body></worldbody></mujoco>
"""


def test_joint_kinds_are_the_numbers_of_the_engine() -> None:
    tree = read_tree(robot_of(BRANCHED).model)
    assert tree.joint_kind.tolist() == [0, 3, 3, 2, 3, 3, 3]
    assert tree.dof_turns.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1]
    assert tree.link_free.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0]


def test_six_scalar_joints_of_a_base_are_no_free_joint() -> None:
    tree = read_tree(robot_of(SIX).model)
    assert tree.link_free.tolist() == [0, 0, 0]
    assert tree.link_dofs.tolist() == [0, 6, 1]


def test_all_arrays_are_locked_copies_that_do_not_follow_the_model() -> None:
    model = robot_of(BRANCHED).model
    tree = read_tree(model)
    for name, values in tree._asdict().items():
        assert not values.flags.writeable, name
        assert values.flags.c_contiguous, name
        assert values.dtype in (np.float64, np.int64), name
    before = tree.link_mass.copy()
    model.body_mass[:] = 1.0
    assert np.array_equal(tree.link_mass, before)


def test_a_mass_that_is_part_of_the_world_is_not_carried() -> None:
    tree = read_tree(robot_of(BRANCHED).model)
    assert tree.link_mass.sum() == pytest.approx(14.0, abs=1e-12)


def test_armature_of_a_free_joint_from_a_default_is_left_out() -> None:
    inheriting = read_tree(robot_of(LEAKY.format(root='<joint type="free"/>')).model)
    plain = read_tree(robot_of(LEAKY.format(root="<freejoint/>")).model)
    assert inheriting.dof_armature.tolist() == [0.0] * 6 + [0.1]
    for name, values in inheriting._asdict().items():
        assert np.array_equal(values, getattr(plain, name)), name


@pytest.mark.parametrize(
    ("xml", "sentence"),
    [
        (
            '<mujoco><worldbody><body><freejoint/><geom size="0.1" mass="1"/><body>'
            '<joint name="hip" type="ball"/><geom size="0.1" mass="1"/></body></body></worldbody>'
            "</mujoco>",
            "the dynamics cannot follow this model: 'hip' is a ball joint, write three hinges "
            "instead",
        ),
        (
            '<mujoco><worldbody><body><freejoint/><geom size="0.1" mass="1"/><body>'
            '<joint name="hip"/><geom size="0.1" mass="1"/></body></body></worldbody>'
            '<tendon><fixed name="cable" armature="0.2"><joint joint="hip" coef="1"/></fixed>'
            "</tendon></mujoco>",
            "the dynamics cannot follow this model: tendon 'cable' has armature, drop it",
        ),
        (
            '<mujoco><worldbody><body><geom size="0.1" mass="1"/></body></worldbody></mujoco>',
            "the dynamics cannot follow this model: no link with mass can move, add a floating "
            "base",
        ),
    ],
)
def test_what_the_kernels_cannot_follow_is_refused_by_name(xml: str, sentence: str) -> None:
    with pytest.raises(BadRobot) as caught:
        read_tree(mujoco.MjModel.from_xml_string(xml))
    assert caught.value.sentence == sentence
