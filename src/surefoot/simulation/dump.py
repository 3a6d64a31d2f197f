"""What an outsider needs to replay a run in plain MuJoCo, array by array (docs/verification.md)."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from surefoot.robots.engine import mujoco
from surefoot.simulation.loop import stray_links
from surefoot.simulation.thresholds import Thresholds
from surefoot.simulation.verdict import Verdict


def dump_arrays(
    verdict: Verdict, thresholds: Thresholds | None = None
) -> dict[str, NDArray[np.generic]]:
    """The arrays of `surefoot simulate --dump`, by name.

    Args:
        thresholds: those of the run.
    """
    limits, trace = thresholds or Thresholds(), verdict.trace
    scene, patches = trace.scene, trace.patches
    names = ("", *scene.robot.link_names)
    strays = [names[int(b)] for b in stray_links(scene, patches)]
    return {
        "schema": np.array(1),
        "kind": np.array("simulation"),
        "engine": np.array(f"mujoco {mujoco.__version__}"),
        "model_xml": np.array(scene.xml),
        "timestep": np.array(scene.settings.timestep_s),
        "steps_per_control": np.array(scene.settings.steps_per_control),
        "qpos0": trace.qpos[0],
        "qvel0": trace.qvel[0],
        "time": trace.time,
        "ctrl": trace.ctrl,
        "applied": trace.applied,
        "qpos": trace.qpos,
        "qvel": trace.qvel,
        "torque": trace.torque,
        "com": trace.com_w,
        "cop": trace.cop_w,
        "cop_valid": trace.cop_valid,
        "contact_links": np.array(patches.link_names, dtype=np.str_),
        "contact_force": trace.contact_force_w,
        "contact_load": trace.contact_load_n,
        "contact_planned": trace.planned,
        "contact_scheduled": trace.scheduled,
        "contact_measured": trace.measured,
        "measured_share": np.array(float(limits.measured_over_weight)),
        "reference_qpos": trace.target_qpos,
        "reference_com": trace.target_com_w,
        "support_height": trace.support_z,
        "start": np.array(trace.start),
        "duration": np.array(trace.duration),
        "fallen_share": np.array(float(limits.fallen_height)),
        "stray_share": np.array(float(limits.stray_over_weight)),
        "stray_links": np.array(strays, dtype=np.str_),
        "end": np.array(trace.end),
        "verdict_json": np.array(json.dumps(verdict.summary(), allow_nan=False)),
    }
