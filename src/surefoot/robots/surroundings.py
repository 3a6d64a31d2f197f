"""What a file puts around its robot: floor, targets, hooks, air, gravity. A robot is given bare.

Terrain belongs to the clip, and nothing but contacts may carry a robot. Each function changes a
specification and returns what it did.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surefoot.errors import Notice
from surefoot.robots.engine import mujoco

G_MPS2 = 9.81  # m/s², the engine's default
WORLD = "world"
# Switches of the engine's option flags that would make another world of the simulated one.
SWITCHES = {
    "gravity": mujoco.mjtDisableBit.mjDSBL_GRAVITY,
    "contact": mujoco.mjtDisableBit.mjDSBL_CONTACT,
    "constraint": mujoco.mjtDisableBit.mjDSBL_CONSTRAINT,
    "actuation": mujoco.mjtDisableBit.mjDSBL_ACTUATION,
}


def emptied(spec: mujoco.MjSpec) -> Iterator[Notice]:
    """Take shapes, mocap bodies and things that stand still out of the world."""
    world = spec.worldbody
    shapes = list(world.geoms)
    if shapes:
        names = ", ".join(geom.name or "without a name" for geom in shapes)
        yield Notice("dropped", WORLD, f"shapes of the world dropped: {names}")
        for geom in shapes:
            spec.delete(geom)
    for body in list(world.bodies):
        if body.mocap:
            yield Notice("dropped", body.name, f"mocap body '{body.name}' dropped")
            spec.delete(body)
    roots = list(world.bodies)
    if sum(_moves(body) for body in roots) == 1:
        for body in [body for body in roots if not _moves(body)]:
            sentence = f"'{body.name}' stands still in the world beside the robot: dropped"
            yield Notice("dropped", body.name, sentence)
            spec.delete(body)


def _moves(body: mujoco.MjsBody) -> bool:
    """Whether a link or one above it has a joint."""
    waiting = [body]
    while waiting:
        link = waiting.pop()
        if list(link.joints):
            return True
        waiting.extend(link.bodies)
    return False


def unhooked(spec: mujoco.MjSpec) -> Iterator[Notice]:
    """Take away the constraints that tie a link to the world: they would carry the robot."""
    ties = (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD))
    for tie in list(spec.equalities):
        links = [_link(spec, int(tie.objtype), name) for name in (tie.name1, tie.name2)]
        if int(tie.type) in ties and WORLD in links:
            held = next((name for name in links if name != WORLD), WORLD)
            sentence = f"constraint that ties link '{held}' to the world dropped"
            yield Notice("dropped", held, sentence)
            spec.delete(tie)


def _link(spec: mujoco.MjSpec, kind: int, name: str) -> str:
    """The link that one end of a constraint names by itself or by a site; no name is the world."""
    if kind == int(mujoco.mjtObj.mjOBJ_SITE):
        site = spec.site(name)
        return str(site.parent.name) if site is not None else name
    return name or WORLD


def calmed(spec: mujoco.MjSpec) -> Iterator[Notice]:
    """Make gravity point down, and take away air, its compensation, and switched-off physics."""
    option = spec.option
    gravity = np.array(option.gravity, dtype=np.float64)  # a copy: the engine's is changed below
    if not (gravity[2] < 0.0 and np.all(gravity[:2] == 0.0) and np.isfinite(gravity[2])):
        option.gravity = np.array([0.0, 0.0, -G_MPS2])
        yield Notice("repair", "gravity", f"gravity {gravity} set to (0, 0, −{G_MPS2}) m/s²")
    off = [name for name, bit in SWITCHES.items() if int(option.disableflags) & int(bit)]
    if off:
        for name in off:
            option.disableflags = int(option.disableflags) & ~int(SWITCHES[name])
        sentence = f"switched on again what the file switches off: {', '.join(off)}"
        yield Notice("repair", "option", sentence)
    medium = [name for name in ("density", "viscosity", "wind") if np.any(getattr(option, name))]
    if medium:
        for name in medium:
            setattr(option, name, 0.0 * np.asarray(getattr(option, name)))
        yield Notice("dropped", "option", f"{', '.join(medium)} of the air set to 0")
    floating = [body for body in spec.bodies[1:] if body.gravcomp != 0.0]
    if floating:
        for body in floating:
            body.gravcomp = 0.0
        sentence = f"gravity compensation of links taken away ({len(floating)})"
        yield Notice("dropped", "gravcomp", sentence, value=float(len(floating)))
