"""What a dump of a simulated run holds, read without trust."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.verification.dump import Unusable, faults_of, text

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# k control steps, c contact links, m actuators, s links that must not touch.
SHAPES: dict[str, tuple[str | int, ...]] = {
    "time": ("k",), "qpos": ("k", "nq"), "qvel": ("k", "nv"), "ctrl": ("k", "m"),
    "applied": ("k", "nv"), "torque": ("k", "m"), "qpos0": ("nq",), "qvel0": ("nv",),
    "com": ("k", 3), "cop": ("k", 2), "cop_valid": ("k",), "contact_links": ("c",),
    "contact_force": ("k", "c", 3), "contact_load": ("k", "c"), "contact_planned": ("k", "c"),
    "contact_scheduled": ("k", "c"), "contact_measured": ("k", "c"), "measured_share": (),
    "reference_qpos": ("k", "nq"), "reference_com": ("k", 3), "support_height": ("k",),
    "start": (), "duration": (), "fallen_share": (), "stray_share": (), "stray_links": ("s",),
    "end": (), "timestep": (), "steps_per_control": (), "model_xml": (), "verdict_json": (),
}  # fmt: skip
_TEXT = ("contact_links", "stray_links", "end", "model_xml", "verdict_json")
_YES_NO = ("cop_valid", "contact_planned", "contact_scheduled", "contact_measured")
KINDS = {
    name: "US" if name in _TEXT else "b" if name in _YES_NO else
    "iu" if name == "steps_per_control" else "fiu"
    for name in SHAPES
}  # fmt: skip


@dataclass(frozen=True)
class Run:
    """The arrays of a dump, the world they were made in, and what the verdict claims."""

    numbers: dict[str, Floats]
    flags: dict[str, Flags]
    links: list[str]
    strays: list[str]
    end: str
    steps_per_control: int
    model: Any
    verdict: dict[str, Any]

    @property
    def n(self) -> int:
        """Control steps."""
        return int(self.numbers["time"].shape[0])

    @property
    def weight(self) -> float:
        """Weight of the robot, newton."""
        gravity = float(np.linalg.norm(self.model.opt.gravity))
        return float(self.model.body_subtreemass[0]) * gravity

    def single(self, name: str) -> float:
        """A number that stands alone."""
        return float(self.numbers[name])


def is_run(arrays: dict[str, NDArray[np.generic]]) -> bool:
    """Whether these are the arrays of a simulated run, not of the index."""
    return "steps_per_control" in arrays and "ctrl" in arrays


def run_of(arrays: dict[str, NDArray[np.generic]]) -> Run:
    """The run in the arrays of a file.

    Raises:
        Unusable: arrays that are missing, of a wrong type or shape, or a model that they do not
            fit; all faults of one sort together.
    """
    missing = [name for name in SHAPES if name not in arrays]
    if missing:
        raise Unusable(f"no dump of surefoot simulate: without {', '.join(missing)}")
    faults = faults_of(arrays, SHAPES, KINDS)
    if not faults and arrays["time"].shape[0] == 0:
        faults = ["no control step in it"]
    if faults:
        raise Unusable("; ".join(faults))
    try:
        model: Any = mujoco.MjModel.from_xml_string(text(arrays["model_xml"]))
        verdict = json.loads(text(arrays["verdict_json"]))
    except (ValueError, mujoco.FatalError) as error:
        raise Unusable(
            f"model_xml or verdict_json cannot be read: {' '.join(str(error).split())}"
        ) from error
    if not isinstance(verdict, dict):
        raise Unusable("expected an object in verdict_json")
    run = Run(
        numbers={
            name: np.asarray(arrays[name], dtype=np.float64)
            for name, kind in KINDS.items()
            if kind == "fiu"
        },
        flags={name: np.asarray(arrays[name], dtype=np.bool_) for name in _YES_NO},
        links=[str(name) for name in arrays["contact_links"]],
        strays=[str(name) for name in arrays["stray_links"]],
        end=text(arrays["end"]),
        steps_per_control=int(arrays["steps_per_control"]),
        model=model,
        verdict=verdict,
    )
    _fit(run)
    return run


def _fit(run: Run) -> None:
    """Refuse arrays that are not this model's."""
    model = run.model
    for name, found, wanted in (
        ("qpos", run.numbers["qpos"].shape[1], model.nq),
        ("qvel", run.numbers["qvel"].shape[1], model.nv),
        ("ctrl", run.numbers["ctrl"].shape[1], model.nu),
    ):
        if found != wanted:
            raise Unusable(f"expected {name} with {wanted} columns for model_xml, got {found}")
    known = {model.body(i).name for i in range(model.nbody)}
    lost = [name for name in (*run.links, *run.strays) if name not in known]
    if lost:
        raise Unusable(f"model_xml has no links {', '.join(lost)}")
    if run.steps_per_control < 1:
        raise Unusable(f"expected steps_per_control 1 or more, got {run.steps_per_control}")
