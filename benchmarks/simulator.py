"""Measures the simulated world: creep and sliding on a slope, and what a control step costs.

Usage: python benchmarks/simulator.py
"""

from __future__ import annotations

import math
import pathlib
import sys
import tempfile
import time
import types
from typing import Any

import mujoco
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

from make.posers import Holder, Posing
from make.robots import written
from surefoot.motion.contact import Surface, Terrain
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot
from surefoot.simulation import loop
from surefoot.simulation.scene import Settings, scene_of

G, SLOPE = 9.81, math.radians(20.0)
BLOCK = """<mujoco model="block"><worldbody><body name="block"><freejoint name="root"/>
<inertial pos="0 0 0" mass="30" diaginertia="0.5 0.5 0.5"/>{}</body></worldbody></mujoco>"""
SHAPES = {
    "box": '<geom type="box" size="0.15 0.1 0.1"/>',
    "two capsules": '<geom type="capsule" fromto="-0.15 0.1 -0.08 0.15 0.1 -0.08" size="0.02"/>'
    '<geom type="capsule" fromto="-0.15 -0.1 -0.08 0.15 -0.1 -0.08" size="0.02"/>',
    "four spheres": "".join(
        f'<geom type="sphere" pos="{x} {y} -0.08" size="0.02"/>'
        for x in (-0.15, 0.15)
        for y in (-0.1, 0.1)
    ),
    "cylinder": '<geom type="cylinder" size="0.12 0.1"/>',
}
SETTINGS = {
    "ours": Settings(),
    "impratio 1": Settings(impratio=1.0),
    "impratio 10": Settings(impratio=10.0),
    "2 ms": Settings(timestep_s=0.002),
    "Euler": Settings(integrator="Euler"),
}


def _on_slope(robot: Robot, friction: float, settings: Settings) -> tuple[Any, Any]:
    """Model and data of the block on the slope."""
    slope = Surface("plane", np.zeros(3), np.array([math.sin(SLOPE), 0.0, math.cos(SLOPE)]))
    model = scene_of(robot, Terrain((slope,)), friction=friction, settings=settings).model
    data = mujoco.MjData(model)
    half = SLOPE / 2.0
    data.qpos[:3] = [0.1 * math.sin(SLOPE), 0.0, 0.1 * math.cos(SLOPE)]
    data.qpos[3:] = [math.cos(half), 0.0, math.sin(half), 0.0]
    return model, data


def _run(model: Any, data: Any, seconds: float) -> float:
    """How far down the slope the block is after so long, m."""
    mujoco.mj_step(model, data, nstep=round(seconds / model.opt.timestep))
    return float(data.qpos[0] * math.cos(SLOPE) - data.qpos[2] * math.sin(SLOPE))


def slopes() -> None:
    """Creep at friction 0.7 from 1 to 10 s, and the distance at 0.3 over theory after 2 s."""
    print("| shape, settings | creep at 0.7 (mm/s) | distance at 0.3 after 2 s / theory |")
    print("| --- | --- | --- |")
    theory = 0.5 * G * (math.sin(SLOPE) - 0.3 * math.cos(SLOPE)) * 4.0
    for shape, text in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            robot = load_robot(written(BLOCK.format(text), pathlib.Path(folder), "block.xml"))
            for name, settings in SETTINGS.items() if shape == "box" else [("ours", Settings())]:
                model, data = _on_slope(robot, 0.7, settings)
                before = _run(model, data, 1.0)
                creep = (_run(model, data, 9.0) - before) / 9.0 * 1e3
                model, data = _on_slope(robot, 0.3, settings)
                start = _run(model, data, 0.0)
                slid = (_run(model, data, 2.0) - start) / theory
                print(f"| {shape}, {name} | {creep:.5f} | {slid:.5f} |")


def overhead() -> None:
    """Time of a control step outside of controller and mj_step, on human25 that stands."""
    robot = load_robot("human25")
    holder = Holder(robot, stiffness=1e4, damping=300.0)
    scene = scene_of(robot, Terrain(), drive="servo", servo_gains=holder.servo_gains)
    loop.warm_up(robot)
    # Processor time everywhere: other work on the machine does not count.
    loop.clock = types.SimpleNamespace(perf_counter=time.process_time)  # type: ignore[assignment]
    rest = []
    for _ in range(7):
        began = time.process_time()
        trace = loop.run(scene, Posing(robot, seconds=4.0), holder)
        whole = time.process_time() - began
        rest.append((whole - float(trace.control_s.sum() + trace.physics_s.sum())) / trace.steps)
    print("\n| outside of controller and mj_step, a control step of human25 | µs |")
    print("| --- | --- |")
    print(f"| median of 7 runs (least) | {1e6 * np.median(rest):.0f} ({1e6 * min(rest):.0f}) |")


if __name__ == "__main__":
    slopes()
    overhead()
