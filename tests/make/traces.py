"""Runs made by hand: a biped that stands still, of which a test changes what it needs."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from make.posers import Posing
from make.robots import biped
from surefoot.motion.contact import Terrain
from surefoot.robots.robot import Robot
from surefoot.simulation.scene import scene_of
from surefoot.simulation.trace import Tape, Trace

DT = 0.002


def standing_trace(folder: pathlib.Path, *, seconds: float = 2.0, **options: Any) -> Trace:
    """Two seconds from −0.2 s on: both feet carry half the weight, all is as it should be.

    Args:
        options: of the trace: end, failure, fell_at, duration.
    """
    return standing_trace_of(biped(folder), seconds=seconds, **options)


def standing_trace_of(robot: Robot, *, seconds: float = 2.0, **options: Any) -> Trace:
    """The same for any robot."""
    source = Posing(robot, seconds=seconds)
    scene = scene_of(robot, Terrain())
    n = round(seconds / DT)
    tape = Tape(scene, source.patches, n)
    rows, links = tape.rows, source.patches.link_body
    weight = robot.mass * 9.81
    c = len(links)
    rows["time"][:] = -0.2 + DT * np.arange(n)
    for name in ("qpos", "target_qpos"):
        rows[name][:] = source.qpos
    for name in ("com_w", "target_com_w"):
        rows[name][:] = source.com_w
    for lead in ("", "target_"):
        root = robot.link_id(robot.root_link)
        rows[f"{lead}root_pos_w"][:] = source.link_pos_w[root]
        rows[f"{lead}root_quat_w"][:] = source.link_quat_w[root]
        rows[f"{lead}link_pos_w"][:] = source.link_pos_w[links]
        rows[f"{lead}link_quat_w"][:] = source.link_quat_w[links]
    rows["contact_force_w"][:, :, 2] = weight / c
    rows["contact_load_n"][:] = weight / c
    rows["cop_w"][:] = source.com_w[:2]
    rows["target_zmp_w"][:, :2] = source.com_w[:2]
    for name in ("holds", "planned", "measured", "cop_valid", "target_zmp_defined"):
        tape.flags[name][:] = True
    facts: dict[str, Any] = {
        "dt": DT, "start": 0.0, "duration": seconds - 0.2, "end": "completed", "failure": "",
        "fell_at": None, "notices": (), "seconds": 1.0,
    }  # fmt: skip
    return tape.trace(n, **{**facts, **options})
