"""What counts as an event, on runs made by hand: a biped that stands still but for one thing."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from make.traces import DT, standing_trace
from surefoot.motion import rotation
from surefoot.simulation.events import Event, events
from surefoot.simulation.thresholds import Thresholds
from surefoot.simulation.trace import Trace
from surefoot.simulation.tracking import tracking

LEFT = 0


def _found(trace: Trace) -> list[Event]:
    return list(events(trace, Thresholds()))


def _moved(trace: Trace, distance: Any, name: str = "link_pos_w") -> Trace:
    """The left foot moved along x by so much at each step."""
    place = np.array(getattr(trace, name))
    place[:, LEFT, 0] += distance
    return replace(trace, **{name: place})


def _ramp(trace: Trace, start: float, speed: float) -> Any:
    return np.maximum(trace.time - start, 0.0) * speed


def test_a_robot_that_stands_still_has_no_events(tmp_path: pathlib.Path) -> None:
    assert _found(standing_trace(tmp_path)) == []


def test_a_foot_that_moves_a_centimetre_slips(tmp_path: pathlib.Path) -> None:
    """20 mm/s from 0.1 s on: 10 mm are passed at 0.6 s."""
    trace = standing_trace(tmp_path)
    (event,) = _found(_moved(trace, _ramp(trace, 0.1, 0.02)))
    assert (event.kind, event.link, event.joint) == ("slip", "left_foot", None)
    assert event.time == pytest.approx(0.6, abs=DT + 1e-9)
    assert event.value == pytest.approx(0.02 * (1.798 - 0.1), rel=1e-3)


def test_less_than_a_centimetre_is_no_slip(tmp_path: pathlib.Path) -> None:
    trace = standing_trace(tmp_path)
    assert not _found(_moved(trace, np.minimum(_ramp(trace, 0.1, 0.02), 0.0099)))


def test_a_foot_without_load_does_not_slip(tmp_path: pathlib.Path) -> None:
    """5 % of 156.96 N are 7.85 N."""
    trace = standing_trace(tmp_path)
    load = np.array(trace.contact_load_n)
    load[:, LEFT] = 7.8
    light = replace(_moved(trace, _ramp(trace, 0.1, 0.02)), contact_load_n=load)
    assert not _found(light)
    load[:, LEFT] = 7.9
    assert _found(replace(light, contact_load_n=load))


def test_a_foot_that_is_not_scheduled_does_not_slip(tmp_path: pathlib.Path) -> None:
    trace = standing_trace(tmp_path)
    holds = np.array(trace.holds)
    holds[trace.time > 0.1, LEFT] = False
    assert not _found(replace(_moved(trace, _ramp(trace, 0.1, 0.02)), holds=holds))


def test_the_first_30_ms_after_touch_down_do_not_count(tmp_path: pathlib.Path) -> None:
    """The foot lands at 0.5 s and moves 30 mm in 28 ms, then stands."""
    trace = standing_trace(tmp_path)
    load = np.array(trace.contact_load_n)
    load[trace.time < 0.5 - 1e-9, LEFT] = 0.0
    way = np.clip(trace.time - 0.5, 0.0, 0.028) / 0.028 * 0.03
    assert not _found(replace(_moved(trace, way), contact_load_n=load))
    slow = np.clip(trace.time - 0.5, 0.0, 0.08) / 0.08 * 0.03
    assert [e.kind for e in _found(replace(_moved(trace, slow), contact_load_n=load))] == ["slip"]


def test_a_foot_that_slides_in_hops_slips_all_the_same(tmp_path: pathlib.Path) -> None:
    """The engine's sliding contacts lose their load for some milliseconds again and again."""
    trace = standing_trace(tmp_path)
    load = np.array(trace.contact_load_n)
    load[np.arange(trace.steps) % 10 < 5, LEFT] = 0.0
    hopping = replace(_moved(trace, _ramp(trace, 0.1, 0.02)), contact_load_n=load)
    assert [e.kind for e in _found(hopping)] == ["slip"]


def test_a_stance_that_slides_on_purpose_does_not_slip(tmp_path: pathlib.Path) -> None:
    trace = standing_trace(tmp_path)
    moving = np.array([True, False])
    trace = replace(trace, patches=replace(trace.patches, moving=moving))
    assert not _found(_moved(trace, _ramp(trace, 0.1, 0.02)))


def test_moving_away_from_the_surface_is_no_slip(tmp_path: pathlib.Path) -> None:
    trace = standing_trace(tmp_path)
    place = np.array(trace.link_pos_w)
    place[:, LEFT, 2] += _ramp(trace, 0.1, 0.02)
    assert not _found(replace(trace, link_pos_w=place))


def _turned(trace: Trace, angle: Any, name: str = "link_quat_w") -> Trace:
    """The left foot turned about its y axis, about the middle of its sole."""
    quat = np.array(getattr(trace, name))
    turn = rotation.from_euler("y", np.asarray(angle)[:, None])
    quat[:, LEFT] = rotation.multiply(turn, quat[:, LEFT])
    middle = trace.patches.vertices_of(LEFT).mean(axis=0)
    place = np.array(getattr(trace, name.replace("quat", "pos")))
    place[:, LEFT] += middle - rotation.rotate(turn, middle)
    return replace(trace, **{name: quat, name.replace("quat", "pos"): place})


def test_a_sole_that_tilts_by_more_than_2_degrees_tips(tmp_path: pathlib.Path) -> None:
    """10°/s from 0.3 s on: 2° are passed at 0.5 s."""
    trace = standing_trace(tmp_path)
    angle = np.radians(10.0) * np.clip(trace.time - 0.3, 0.0, 0.5)
    (event,) = _found(_turned(trace, angle))
    assert (event.kind, event.link) == ("tip", "left_foot")
    assert event.time == pytest.approx(0.5, abs=DT + 1e-9)
    assert event.value == pytest.approx(np.radians(5.0), rel=1e-9)


def test_a_sole_that_tilts_with_its_reference_does_not_tip(tmp_path: pathlib.Path) -> None:
    trace = standing_trace(tmp_path)
    angle = np.radians(10.0) * np.clip(trace.time - 0.3, 0.0, 0.5)
    both = _turned(_turned(trace, angle), angle, "target_link_quat_w")
    assert not [e for e in _found(both) if e.kind == "tip"]


def test_turning_about_the_normal_is_no_tip(tmp_path: pathlib.Path) -> None:
    trace = standing_trace(tmp_path)
    quat = np.array(trace.link_quat_w)
    quat[:, LEFT] = rotation.from_euler("z", np.clip(trace.time, 0.0, 0.1)[:, None])
    assert not [e for e in _found(replace(trace, link_quat_w=quat)) if e.kind == "tip"]


@pytest.mark.parametrize(("steps", "expected"), [(4, []), (5, ["torque"])])
def test_five_steps_in_a_row_at_the_limit_are_an_event(
    steps: int, expected: list[str], tmp_path: pathlib.Path
) -> None:
    """Steps 300 to 304: the fifth begins at −0.2 + 0.608 s."""
    trace = standing_trace(tmp_path)
    flags = np.array(trace.saturated)
    flags[300 : 300 + steps, 2] = True
    flags[305 + steps, 2] = True
    found = _found(replace(trace, saturated=flags))
    assert [e.kind for e in found] == expected
    for event in found:
        assert (event.joint, event.link) == ("left_knee", "left_shank")
        assert event.time == pytest.approx(-0.2 + 304 * DT)


def test_deviations_of_centre_of_mass_and_root_are_events(tmp_path: pathlib.Path) -> None:
    trace = standing_trace(tmp_path)
    com, quat = np.array(trace.com_w), np.array(trace.root_quat_w)
    com[:, 0] += _ramp(trace, 0.0, 0.1)
    quat[:] = rotation.from_euler("x", _ramp(trace, 0.0, np.radians(40.0))[:, None])
    found = _found(replace(trace, com_w=com, root_quat_w=quat))
    assert [(e.kind, round(e.time, 3)) for e in found] == [("com", 0.502), ("root", 0.752)]


def test_figures_of_a_perfect_run_are_zero(tmp_path: pathlib.Path) -> None:
    found = tracking(standing_trace(tmp_path), Thresholds())
    assert found.root_error_max_m == found.com_error_rms_m == found.joint_error_rms_rad == 0.0
    assert found.foot_error_max_m == found.cop_error_rms_m == 0.0
    assert found.contact_agreement == 1.0
    assert found.torque_saturated_fraction == 0.0


def test_figures_are_what_they_say(tmp_path: pathlib.Path) -> None:
    """Every number by hand; 901 steps from 0 to 1.8 s are counted, those before settle."""
    trace = standing_trace(tmp_path)
    inside = trace.in_clip
    n = int(inside.sum())
    assert n == 900  # the trace ends at 1.798 s
    flags, measured = np.array(trace.saturated), np.array(trace.measured)
    flags[:100, 0] = flags[200:290, 0] = flags[250:299, 3] = True
    measured[:100, 0] = measured[500:545, 0] = False
    com, cop = np.array(trace.com_w), np.array(trace.cop_w)
    com[:100, 0] += 1.0
    com[600, 0] += 0.04
    cop[inside] += [0.003, 0.004]
    torque, rate = np.array(trace.torque), np.array(trace.qvel)
    torque[300, 2] = -45.0
    rate[300, 6 + 2] = 3.0
    robot = replace(trace.scene.robot, joint_speed=np.full(8, 6.0))
    found = tracking(
        replace(
            trace, saturated=flags, measured=measured, com_w=com, cop_w=cop, torque=torque,
            qvel=rate, scene=replace(trace.scene, robot=robot),
        ),
        Thresholds(),
    )  # fmt: skip
    assert found.torque_saturated_fraction == pytest.approx(99 / n)
    assert found.contact_agreement == pytest.approx(1.0 - 45 / (2 * n))
    assert found.com_error_max_m == pytest.approx(0.04)
    assert found.com_error_rms_m == pytest.approx(0.04 / np.sqrt(n))
    assert found.cop_error_rms_m == pytest.approx(0.005)
    limit = trace.scene.robot.joint_torque[2]
    assert found.torque_over_limit[2] == pytest.approx(45.0 / limit if np.isfinite(limit) else 0.0)
    assert found.speed_over_limit[2] == pytest.approx(0.5)


def test_what_comes_after_the_fall_does_not_count(tmp_path: pathlib.Path) -> None:
    trace = standing_trace(tmp_path, end="fell", fell_at=1.0)
    com = np.array(trace.com_w)
    com[trace.time > 1.001] += 1.0
    assert tracking(replace(trace, com_w=com), Thresholds()).com_error_max_m == 0.0
