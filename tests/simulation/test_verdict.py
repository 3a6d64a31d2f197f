"""Causes: on runs made by hand, and on falls provoked on purpose."""

from __future__ import annotations

import json
import math
import pathlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from make.posers import Holder, Posing
from make.robots import biped
from make.standing import only, stiff
from make.traces import standing_trace
from surefoot.control.target import patches_of
from surefoot.index.index import Feasibility, Options, feasibility
from surefoot.motion.contact import ContactSchedule, Stance, Surface, Terrain
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import Push
from surefoot.simulation.loop import run
from surefoot.simulation.scene import scene_of
from surefoot.simulation.trace import Trace
from surefoot.simulation.verdict import Verdict, judge


def _clip(robot: Robot, shift: Any = None, seconds: float = 2.0) -> Clip:
    """The biped stiff on both feet, shifted sideways by shift(t) m."""
    time = np.arange(round(seconds * 50) + 1) / 50.0
    sideways = np.zeros(len(time)) if shift is None else shift(time)
    motion = stiff(robot, time, only(len(time), 1, sideways))
    stances = tuple(Stance(s.link, 0.0, float(time[-1]), "face", s.polygon_l) for s in robot.soles)
    return Clip(motion, ContactSchedule(stances), robot=robot.name)


def _judged(trace: Trace, **options: Any) -> Verdict:
    robot = trace.scene.robot
    return judge(trace, clip=_clip(robot), robot=robot, **options)


def _with_slip(trace: Trace, at: float) -> Trace:
    """The left foot passes 10 mm at this moment."""
    place = np.array(trace.link_pos_w)
    place[:, 0, 0] += np.where(trace.time > at - 1e-9, 0.02, 0.0)
    return replace(trace, link_pos_w=place)


def _with_tip(trace: Trace, at: float) -> Trace:
    quat = np.array(trace.link_quat_w)
    half = math.radians(3.0) / 2.0
    quat[trace.time > at - 1e-9, 1] = [math.cos(half), math.sin(half), 0.0, 0.0]
    return replace(trace, link_quat_w=quat)


def _with_torque(trace: Trace, at: float) -> Trace:
    flags = np.array(trace.saturated)
    k = int(np.searchsorted(trace.time, at - 1e-9))
    flags[k - 4 : k + 1, 3] = True
    return replace(trace, saturated=flags)


def _fallen(folder: pathlib.Path) -> Trace:
    """Falls at 1.5 s; off by 3 cm from 0.7 s on, so that causes are sought from 0.2 s on."""
    trace = standing_trace(folder, end="fell", fell_at=1.5)
    com = np.array(trace.com_w)
    com[trace.time > 0.7 - 1e-9, 1] += 0.03
    return replace(trace, com_w=com)


def test_a_run_that_was_completed_stood(tmp_path: pathlib.Path) -> None:
    """Also one in which something slipped: that is said, but it is no fall."""
    verdict = _judged(_with_slip(standing_trace(tmp_path), 0.5))
    assert verdict.stood
    assert verdict.fell_at is verdict.cause is verdict.link is verdict.cause_at is None
    assert [event.kind for event in verdict.events] == ["slip"]
    assert verdict.sentence == "stood for 1.80 s and held the last frame"


@pytest.mark.parametrize(
    ("slip", "tip", "torque", "cause", "link"),
    [
        (0.5, 0.7, 0.9, "slip", "left_foot"),
        (0.9, 0.5, 0.7, "tip", "right_foot"),
        (0.7, 0.9, 0.5, "torque", "left_foot"),
    ],
)
def test_the_first_of_slip_tip_and_torque_is_the_cause(
    slip: float, tip: float, torque: float, cause: str, link: str, tmp_path: pathlib.Path
) -> None:
    """Joint 3 is left_ankle, which moves left_foot."""
    trace = _with_torque(_with_tip(_with_slip(_fallen(tmp_path), slip), tip), torque)
    verdict = _judged(trace)
    assert not verdict.stood
    assert (verdict.cause, verdict.link, verdict.fell_at) == (cause, link, 1.5)
    assert verdict.cause_at == pytest.approx(min(slip, tip, torque), abs=1e-9)
    assert verdict.sentence.startswith(f"fell at 1.50 s: {cause} at 0.50 s, ")


def test_what_comes_after_the_fall_is_no_cause(tmp_path: pathlib.Path) -> None:
    verdict = _judged(_with_slip(_fallen(tmp_path), 1.6))
    assert verdict.cause == "unknown"
    assert verdict.cause_at == 1.5


def test_what_the_robot_recovered_from_is_no_cause(tmp_path: pathlib.Path) -> None:
    """Well until 0.698 s; causes are sought from 0.198 s on."""
    trace = _with_slip(_fallen(tmp_path), 1.0)
    verdict = _judged(_with_torque(trace, 0.196))
    assert verdict.cause == "slip"
    assert [event.kind for event in verdict.events] == ["torque", "slip"]
    assert _judged(_with_torque(trace, 0.2)).cause == "torque"


def _hurried(robot: Robot) -> Feasibility:
    """Swaying with up to 1.2 g sideways, that soles 0.15 m from the middle cannot give, from 0.6 s.

    y = A sin³ for t > 0.6: still before.
    """

    def sway(t: Any) -> Any:
        return np.where(t > 0.6, 0.3 * np.sin(6.0 * (t - 0.6)) ** 3, 0.0)

    index = feasibility(_clip(robot, sway), robot, Options(rate_hz=100.0))
    assert not index.all_feasible
    return index


def test_a_reference_that_was_infeasible_before_is_the_cause(tmp_path: pathlib.Path) -> None:
    trace = _fallen(tmp_path)
    index = _hurried(trace.scene.robot)
    verdict = _judged(_with_slip(trace, 1.0), index=index)
    assert verdict.cause == "reference infeasible"
    beyond = index.upper > 0.002 * index.weight_n
    assert verdict.cause_at == index.time[np.argmax(beyond)]
    assert 0.55 < verdict.cause_at < 1.0
    before = _judged(_with_slip(trace, 0.3), index=index)
    assert (before.cause, before.link) == ("slip", "left_foot")
    assert _judged(trace, index=index).cause == "reference infeasible"


def test_a_push_shortly_before_is_the_cause(tmp_path: pathlib.Path) -> None:
    trace = _with_slip(_fallen(tmp_path), 1.3)
    push = Push(0.9, np.array([0.0, 80.0, 0.0]), 0.1)
    verdict = _judged(trace, pushes=(push,))
    assert (verdict.cause, verdict.link, verdict.cause_at) == ("push", "pelvis", 0.9)
    assert "pelvis is pushed with 8.0 N s" in verdict.sentence
    assert _judged(trace, pushes=(replace(push, time=1.31),)).cause == "slip"
    assert _judged(trace, pushes=(replace(push, time=-0.4),)).cause == "slip"  # long over
    index = _hurried(trace.scene.robot)
    assert _judged(trace, pushes=(push,), index=index).cause == "reference infeasible"


@pytest.mark.parametrize("end", ["no command", "diverged"])
def test_a_run_that_broke_off_says_why(end: str, tmp_path: pathlib.Path) -> None:
    trace = standing_trace(tmp_path, end=end, fell_at=1.8, failure="it did not work")
    verdict = _judged(_with_slip(trace, 1.0))
    assert (verdict.stood, verdict.cause, verdict.fell_at) == (False, end, 1.8)
    assert "it did not work" in verdict.sentence


def test_the_summary_is_json_without_nan(tmp_path: pathlib.Path) -> None:
    verdict = _judged(_with_tip(_fallen(tmp_path), 0.8), controller="strict", seed=3)
    text = json.loads(json.dumps(verdict.summary(), allow_nan=False))
    assert set(text) >= {
        "stood", "fell_at_s", "cause", "link", "root_error_max_m", "joint_error_rms_rad",
        "torque_saturated_fraction", "contact_agreement", "real_time_factor", "controller", "seed",
        "seconds",
    }  # fmt: skip
    assert (text["cause"], text["controller"], text["seed"]) == ("tip", "strict", 3)


# Falls provoked on purpose, with servos that hold a pose.


def _posed(robot: Robot, qpos: Any) -> Clip:
    """Three seconds in a pose, on both feet."""
    clip = _clip(robot, seconds=3.0)
    time = clip.motion.time
    return replace(clip, motion=robot.motion(np.repeat(qpos[None], len(time), axis=0), time))


def _provoked(robot: Robot, clip: Clip, **options: Any) -> Verdict:
    pushes = options.pop("pushes", ())
    holder = Holder(robot, stiffness=options.pop("stiffness", 3000.0))
    stances, n = clip.contacts.stances, len(clip.contacts.stances)
    source = Posing(
        robot,
        seconds=clip.motion.duration,
        qpos=robot.qpos(clip.motion)[0],
        patches=patches_of(stances, robot, np.zeros((n, 3))),
    )
    scene = scene_of(
        options.pop("weak", robot),
        options.pop("terrain", Terrain()),
        drive="servo",
        servo_gains=holder.servo_gains,
        **options,
    )
    trace = run(scene, source, holder, pushes=pushes)
    index = feasibility(clip, robot, Options(rate_hz=50.0))
    return judge(trace, clip=clip, robot=robot, index=index, pushes=pushes)


def test_a_ground_too_slippery_is_a_slip(tmp_path: pathlib.Path) -> None:
    """On a slope of 0.05 rad friction 0.02 holds nothing; the robot slides down and away."""
    robot = biped(tmp_path)
    time = np.arange(0.0, 6.0, 0.02)
    motion = stiff(robot, time, pitch=np.full(len(time), 0.05))
    normal = np.array([math.sin(0.05), 0.0, math.cos(0.05)])
    stances = tuple(replace(s, normal=normal) for s in _clip(robot, seconds=6.0).contacts.stances)
    clip = Clip(motion, ContactSchedule(stances), robot=robot.name)
    slope = Terrain((Surface("plane", np.zeros(3), normal),))
    assert _provoked(robot, clip, terrain=slope).stood
    verdict = _provoked(robot, clip, terrain=slope, friction=0.02)
    assert (verdict.stood, verdict.cause) == (False, "slip")
    assert verdict.link in ("left_foot", "right_foot")


def test_joints_too_weak_are_torque(tmp_path: pathlib.Path) -> None:
    """Bent knees need some 8 N m; they have 2."""
    robot = biped(tmp_path)
    qpos = np.array(robot.home)
    for name, angle in (("hip_pitch", -0.5), ("knee", 1.0), ("ankle", -0.5)):
        for side in ("left", "right"):
            j = robot.joint_names.index(f"{side}_{name}")
            qpos[robot.joint_qposadr[j]] = angle
    qpos[2] -= (0.4 + 0.37) * (1.0 - math.cos(0.5))
    weak = replace(robot, joint_torque=np.full(8, 2.0))
    verdict = _provoked(robot, _posed(robot, qpos), weak=weak)
    assert (verdict.stood, verdict.cause) == (False, "torque")
    assert next(e for e in verdict.events if e.kind == "torque").joint is not None


def test_a_push_too_strong_is_a_push(tmp_path: pathlib.Path) -> None:
    robot = biped(tmp_path)
    push = Push(0.3, np.array([400.0, 0.0, 0.0]), 0.1)
    verdict = _provoked(robot, _clip(robot, seconds=3.0), pushes=(push,))
    assert (verdict.stood, verdict.cause, verdict.cause_at) == (False, "push", 0.3)
    assert _provoked(robot, _clip(robot, seconds=1.0)).stood


def test_a_pose_outside_its_feet_is_an_infeasible_reference(tmp_path: pathlib.Path) -> None:
    """Both ankles lean the robot forward by 0.35 rad: its mass is 0.2 m before the ankles."""
    robot = biped(tmp_path)
    qpos = np.array(robot.home)
    for side in ("left", "right"):
        qpos[robot.joint_qposadr[robot.joint_names.index(f"{side}_ankle")]] = -0.35
    half = 0.35 / 2.0
    qpos[3:7] = [math.cos(half), 0.0, math.sin(half), 0.0]
    verdict = _provoked(robot, _posed(robot, qpos))
    assert (verdict.stood, verdict.cause) == (False, "reference infeasible")
