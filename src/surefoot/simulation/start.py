"""How a run begins: the first frame, set down on the ground as it is, at rest or in motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Float64, locked
from surefoot.control.target import Target, TargetSource
from surefoot.errors import BadOption, Notice
from surefoot.motion import rotation
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot
from surefoot.simulation.scene import Scene

STILL_MPS = 0.05  # a centre of mass that is faster cannot be started from rest
SAID_M = 0.001  # of setting down; less is not worth a sentence


@dataclass(frozen=True, slots=True)
class Start:
    """The first state of a run, and how long it settles."""

    qpos: Float64[Array, " nq"]
    qvel: Float64[Array, " nv"]
    settle_steps: int
    """Control steps on the first frame before the clip begins."""
    notices: tuple[Notice, ...]


def start_of(scene: Scene, source: TargetSource, *, settle_s: float) -> Start:
    """Where a run begins.

    A first frame that moves, or does not stand, is started with its own velocity and not settled.

    Raises:
        BadOption: a negative time to settle.
    """
    if not 0.0 <= settle_s < np.inf:
        raise BadOption(what=f"settle_s must be 0 or more, got {settle_s:g}")
    first = source.at(0, None)
    notices: list[Notice] = []
    speed = float(np.linalg.norm(first.com_vel_w))
    moving = speed > STILL_MPS or not first.holds.any()
    if moving and settle_s > 0.0:
        fast = f"its centre of mass moves at {speed:.2f} m/s"
        why = fast if first.holds.any() else "nothing stands"
        sentence = f"the first frame is not settled, because {why}: it starts with its own velocity"
        notices.append(Notice("assumption", "start", sentence, t0=first.time, value=speed))
    lift = _lift(scene, first)
    if abs(lift) > SAID_M:
        way = "up" if lift > 0.0 else "down"
        sentence = f"the first frame is moved {way} by {1e3 * abs(lift):.1f} mm, onto the ground"
        notices.append(Notice("repair", "start", sentence, t0=first.time, value=lift))
    return Start(
        qpos=locked(lifted(scene.robot, first.qpos, lift)),
        qvel=locked(first.qvel if moving else np.zeros(len(first.qvel))),
        settle_steps=0 if moving else round(settle_s / scene.settings.dt),
        notices=tuple(notices),
    )


def lifted(robot: Robot, qpos: Float64[Array, " nq"], dz: float) -> Float64[Array, " nq"]:
    """The same pose, higher."""
    out = np.array(qpos, dtype=np.float64)
    if robot.root_kind == "free":
        out[2] += dz
        return out
    model = robot.model
    for joint in range(3):  # the slide along z of a planar base
        along = float(model.jnt_axis[joint, 2])
        if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_SLIDE) and abs(along) > 0.5:
            out[int(model.jnt_qposadr[joint])] += np.sign(along) * dz
    return out


def _lift(scene: Scene, first: Target) -> float:
    """How far the first frame must go up so that the lowest scheduled vertex touches; else 0."""
    patches = first.patches
    gaps = [0.0] if not first.holds.any() else []
    for p in np.flatnonzero(first.holds):
        body, normal = int(patches.patch_body[p]), patches.normal_w[p]
        point = patches.point_w[p] + [0.0, 0.0, _shift_at(scene, patches.point_w[p])]
        vertices = first.link_pos_w[body] + rotation.rotate(
            first.link_quat_w[body], patches.vertices_of(int(p))
        )
        gaps.append(float(((vertices - point) @ normal).min() / normal[2]))
    return -min(gaps)


def _shift_at(scene: Scene, point_w: Float64[Array, " 3"]) -> float:
    """How far the surface that a point belongs to was moved up."""
    heights = [s.height(point_w[None, :2])[0] for s in scene.planned_terrain.surfaces]
    return float(scene.shift_m[int(np.argmin(np.abs(np.array(heights) - point_w[2])))])
