"""The model as text: the same model to the last bit, without meshes and frames."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

from make.robots import BIPED, written
from surefoot.robots.engine import mujoco
from surefoot.robots.zoo import load_robot


@pytest.mark.parametrize("wish", ['settotalmass="20"', 'inertiafromgeom="true"'])
def test_masses_that_the_file_asks_the_engine_for_are_written_out(
    tmp_path: pathlib.Path, wish: str
) -> None:
    text = BIPED.replace("<compiler", f"<compiler {wish}").replace('density="0"', "")
    robot = load_robot(written(text, tmp_path))
    assert robot.mass != pytest.approx(16.0)
    again = mujoco.MjModel.from_xml_string(robot.mjcf)
    np.testing.assert_array_equal(again.body_mass, robot.model.body_mass)
    np.testing.assert_array_equal(again.body_inertia, robot.model.body_inertia)


def test_mjcf_of_the_model_gives_the_same_model_to_the_last_bit(tmp_path: pathlib.Path) -> None:
    """The engine alone writes six digits: a mass of 1.23456789 kg would come back as 1.23457."""
    changes = (
        ('mass="2"', 'mass="1.23456789" euler="0.1 0.2 0.3"'),
        ('pos="0 0 -0.4"', 'pos="0 0 -0.4" euler="0 0.01 0"'),
        (
            "<worldbody>",
            '<asset><mesh name="box" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>',
        ),
        (
            '<geom type="box" size="0.08',
            '<geom type="mesh" mesh="box" density="0"/><geom type="box" size="0.08',
        ),
    )
    text = BIPED
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    robot = load_robot(written(text, tmp_path))
    again = mujoco.MjModel.from_xml_string(robot.mjcf)
    for name in ("body_mass", "body_inertia", "body_ipos", "body_iquat", "body_pos", "body_quat",
                 "jnt_range", "jnt_axis", "jnt_pos", "dof_armature", "qpos0"):  # fmt: skip
        np.testing.assert_array_equal(
            getattr(again, name), getattr(robot.model, name), err_msg=name
        )
    assert robot.model.nmesh == 1
    assert again.nmesh == 0
    assert not re.search(r"<mesh|file=", robot.mjcf)


FRAMES = """
<mujoco>
  <default><default class="stiff"><joint damping="3.123456789" armature="0.0123456789"/></default>
  </default>
  <worldbody><frame pos="0 0 0.1"><body name="trunk" pos="0 0 0.5"><freejoint/>
    <geom size="0.1"/>
    <frame pos="0 0 -0.1234567890123" euler="0 30 0" childclass="stiff"><frame pos="0.1 0 0">
      <geom type="capsule" fromto="0 0 0 0.123456789 0 0" size="0.02"/>
      <body name="leg" pos="0 0 -0.2"><joint name="hip" stiffness="1.123456789" axis="0 1 0"/>
        <geom size="0.0512345678"/></body>
    </frame></frame>
  </body></frame></worldbody>
</mujoco>"""


def test_places_in_frames_are_not_added_twice(tmp_path: pathlib.Path) -> None:
    """The engine writes a frame and places relative to it; the model's places are in the link."""
    robot = load_robot(written(FRAMES, tmp_path))
    again = mujoco.MjModel.from_xml_string(robot.mjcf)
    for name in ("body_mass", "body_inertia", "body_pos", "body_quat", "qpos0", "jnt_axis",
                 "dof_damping", "dof_armature", "jnt_stiffness"):  # fmt: skip
        np.testing.assert_array_equal(
            getattr(again, name), getattr(robot.model, name), err_msg=name
        )
    order = [np.lexsort(model.geom_pos.T) for model in (again, robot.model)]
    for name in ("geom_pos", "geom_quat", "geom_size", "geom_bodyid"):
        got, want = getattr(again, name)[order[0]], getattr(robot.model, name)[order[1]]
        np.testing.assert_array_equal(got, want, err_msg=name)


def test_torque_limits_are_written_to_the_last_bit(tmp_path: pathlib.Path) -> None:
    text = BIPED.replace('range="0 2.4"', 'range="0 2.4" actuatorfrcrange="-77.123456789 80"')
    robot = load_robot(written(text, tmp_path))
    again = mujoco.MjModel.from_xml_string(robot.mjcf)
    np.testing.assert_array_equal(again.jnt_actfrcrange, robot.model.jnt_actfrcrange)
