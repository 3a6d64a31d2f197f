"""The bundled sidestep on human25 with the strict controller: it stands, until something is wrong.

Each cause of a fall is provoked on purpose and must be named.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from surefoot.formats.registry import read
from surefoot.motion.contact import ContactSchedule
from surefoot.motion.motion import Clip
from surefoot.retargeting.retarget import retarget
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot
from surefoot.samples import bundled
from surefoot.simulation.disturbances import TYPICAL_NOISE, Disturbances, Push
from surefoot.simulation.dump import dump_arrays
from surefoot.simulation.simulator import simulate
from surefoot.simulation.trace import TIMES, arrays_of
from surefoot.simulation.verdict import Verdict
from surefoot.verification.recheck import verify

pytestmark = pytest.mark.slow


@cache
def _robot() -> Robot:
    return load_robot("human25")


@cache
def _clip(seconds: float = 4.0) -> Clip:
    """The first steps of the sidestep."""
    whole = retarget(read(bundled.path("sidestep")), _robot())
    motion = whole.motion
    n = int(np.searchsorted(motion.time, seconds))
    end = float(motion.time[n - 1])
    cut = replace(
        motion,
        time=motion.time[:n],
        root_pos=motion.root_pos[:n],
        root_quat=motion.root_quat[:n],
        joint_pos=motion.joint_pos[:n],
    )
    stances = [s for s in whole.contacts.stances if s.start < end]
    stances = [replace(s, end=min(s.end, end)) for s in stances]
    return Clip(cut, ContactSchedule(tuple(stances)), whole.terrain, robot="human25")


def _hurried(speed: float) -> Clip:
    clip = _clip()
    return replace(
        clip,
        motion=replace(clip.motion, time=clip.motion.time / speed),
        contacts=clip.contacts.retimed(lambda t: t / speed),
    )


def _simulated(robot: Robot | None = None, clip: Clip | None = None, **options: Any) -> Verdict:
    return simulate(clip or _clip(), robot or _robot(), **options)


def test_it_stands_and_its_forces_carry_the_weight() -> None:
    verdict = _simulated()
    trace = verdict.trace
    assert verdict.stood, verdict.sentence
    assert verdict.tracking.root_error_max_m < 0.05
    assert verdict.tracking.contact_agreement is not None
    assert verdict.tracking.contact_agreement > 0.9
    settled = (trace.time > -0.1) & (trace.time < 0.0)
    vertical = trace.contact_force_w[settled, :, 2].sum(axis=1)
    np.testing.assert_allclose(vertical, trace.weight_n, rtol=0.01)
    corners = np.concatenate(
        [trace.link_pos_w[0, c, :2] + s.polygon_l[:, :2]
         for c, name in enumerate(trace.patches.link_names)
         for s in _robot().soles if s.link == name]
    )  # fmt: skip
    assert np.all(trace.cop_w[settled] > corners.min(axis=0))
    assert np.all(trace.cop_w[settled] < corners.max(axis=0))
    limit = _robot().joint_torque
    assert np.all(np.abs(trace.torque) <= limit * (1.0 + 1e-12))


def test_ice_is_a_slip() -> None:
    verdict = _simulated(disturbances=Disturbances(friction=0.05))
    assert (verdict.stood, verdict.cause) == (False, "slip"), verdict.sentence
    assert verdict.link in ("right_foot", "right_toe", "left_foot", "left_toe")


def test_weak_joints_are_torque() -> None:
    robot = replace(_robot(), joint_torque=0.15 * _robot().joint_torque)
    verdict = _simulated(robot)
    assert (verdict.stood, verdict.cause) == (False, "torque"), verdict.sentence


def test_a_strong_push_is_a_push() -> None:
    verdict = _simulated(pushes=(Push(1.0, np.array([0.0, 400.0, 0.0]), 0.1),))
    assert (verdict.stood, verdict.cause, verdict.link) == (False, "push", "pelvis")
    assert verdict.cause_at == 1.0


def test_a_clip_at_twice_its_speed_is_infeasible() -> None:
    """On a robot whose joints have all the torque and speed that they are asked for."""
    joints = len(_robot().joint_names)
    robot = replace(
        _robot(),
        joint_torque=4.0 * _robot().joint_torque,
        joint_speed=np.full(joints, np.inf),
    )
    verdict = _simulated(robot, _hurried(2.0))
    assert (verdict.stood, verdict.cause) == (False, "reference infeasible"), verdict.sentence


def test_a_disturbed_run_repeats_to_the_bit_and_its_dump_is_confirmed(tmp_path: Any) -> None:
    wrong = Disturbances(
        noise=TYPICAL_NOISE, delay_s=0.004, mass_error=0.1, ground_error_m=0.01, push_n=20.0
    )
    one, other = (_simulated(disturbances=wrong, seed=4) for _ in range(2))
    for name, values in arrays_of(one.trace).items():
        if name not in TIMES:
            np.testing.assert_array_equal(values, getattr(other.trace, name), err_msg=name)
    path = tmp_path / "dump.npz"
    np.savez(path, **dump_arrays(one))
    found = verify(path)
    assert found.ok, found.mismatches[:3]
    assert found.worst["states"].difference == 0.0
