"""Runs in processes are the runs that one gets one by one."""

from __future__ import annotations

import pathlib
from dataclasses import replace

import numpy as np
import pytest

from make.posers import Holder
from make.robots import biped
from make.standing import only, stiff
from surefoot.errors import BadOption
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.motion.motion import Clip
from surefoot.simulation.disturbances import TYPICAL_NOISE, Disturbances, Push
from surefoot.simulation.roll_outs import RollOut, roll_outs
from surefoot.simulation.trace import TIMES, arrays_of
from surefoot.simulation.verdict import Verdict


def _runs(folder: pathlib.Path) -> list[RollOut]:
    """Four seeds; the last is pushed until it falls."""
    robot = biped(folder)
    time = np.arange(16) / 50.0
    stances = tuple(Stance(s.link, 0.0, 0.3, "face", s.polygon_l) for s in robot.soles)
    motion = stiff(robot, time, only(16, 1, np.zeros(16)))
    one = RollOut(
        Clip(motion, ContactSchedule(stances), robot=robot.name),
        robot,
        controller=Holder(robot),
        disturbances=Disturbances(noise=TYPICAL_NOISE, mass_error=0.1, push_n=10.0),
        hold_s=0.5,
    )
    runs = [replace(one, seed=seed) for seed in range(4)]
    runs[3] = replace(runs[3], pushes=(Push(0.0, np.array([800.0, 0.0, 0.0])),))
    return runs


def _assert_same(one: Verdict, other: Verdict) -> None:
    for name, values in arrays_of(one.trace).items():
        if name not in TIMES:
            np.testing.assert_array_equal(values, getattr(other.trace, name), err_msg=name)
    timed = ("seconds", "real_time_factor")
    told = [{k: v for k, v in x.summary().items() if k not in timed} for x in (one, other)]
    assert told[0] == told[1]
    assert one.trace.scene.xml == other.trace.scene.xml


def test_processes_give_the_same_bits_in_the_same_order(tmp_path: pathlib.Path) -> None:
    runs = _runs(tmp_path)
    said: list[tuple[int, int, str]] = []
    serial = roll_outs(runs, processes=1)
    spread = roll_outs(runs, processes=2, progress=lambda *words: said.append(words))
    assert [verdict.seed for verdict in spread] == [0, 1, 2, 3]
    for one, other in zip(serial, spread, strict=True):
        _assert_same(one, other)
    assert [verdict.stood for verdict in serial] == [True, True, True, False]
    assert serial[3].cause == "push"
    assert said[0] == (0, 4, "simulating")
    assert said[-1] == (4, 4, "simulating")


def test_arrays_from_another_process_are_locked(tmp_path: pathlib.Path) -> None:
    verdicts = roll_outs(_runs(tmp_path)[:2], processes=2)
    for values in arrays_of(verdicts[0].trace).values():
        assert not values.flags.writeable
    assert not verdicts[0].trace.scene.geom_link.flags.writeable
    assert not verdicts[0].tracking.torque_over_limit.flags.writeable


def test_no_runs_are_no_verdicts_and_no_process_is_refused(tmp_path: pathlib.Path) -> None:
    assert roll_outs([]) == []
    with pytest.raises(BadOption, match="processes must be at least 1, got 0"):
        roll_outs(_runs(tmp_path)[:1], processes=0)
