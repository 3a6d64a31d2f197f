"""The simulated world: a robot and a terrain as one compiled model, with the engine's settings.

What is simulated is compiled from `Scene.xml`, and this text stands in every dump: whoever compiles
it has the same world to the last bit. Only robot and terrain touch each other; a robot's own links
do not. Measurements behind the settings: docs/simulation.md.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray, locked, locked_int
from surefoot.errors import BadOption, BadRobot, Notice
from surefoot.kernels.contact_forces import TERRAIN
from surefoot.motion.contact import Surface, Terrain
from surefoot.robots.engine import heard, in_one_line, mujoco
from surefoot.robots.robot import Robot
from surefoot.simulation.shapes import add_soles, fixed_to, numbers, touching

Drive = Literal["torque", "servo"]
Integrator = Literal["Euler", "RK4", "implicit", "implicitfast"]

GROUND, ROBOT = 1, 2  # bits of the engine's collision masks
ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder",
             "muscle", "adhesion", "dcmotor")  # fmt: skip
WHOLE = 1e-9  # how far the steps of a control period may be from a whole number


@dataclass(frozen=True, slots=True)
class Settings:
    """How the engine computes; the defaults are those that were measured (docs/simulation.md)."""

    timestep_s: float = 0.001
    """One step of the physics."""
    control_hz: float = 500.0
    """How often a controller is asked."""
    integrator: Integrator = "implicitfast"
    """The stiff part of servos is integrated by the engine."""
    impratio: float = 100.0
    """Of friction to normal stiffness: what stands on a slope creeps with 1 / impratio."""
    solref: tuple[float, float] = (0.01, 1.0)
    """Time constant, s, and damping ratio of contacts."""
    solimp: tuple[float, float, float, float, float] = (0.95, 0.99, 0.001, 0.5, 2.0)
    """Impedance of contacts by penetration."""
    iterations: int = 100
    """At most, of the engine's solver."""
    tolerance: float = 1e-8
    """Of the engine's solver."""
    speed_limits: bool = True
    """Whether a joint loses its torque in the direction of motion near its speed limit."""
    speed_limit_from: float = 0.9
    """Share of the speed limit from which on torque is taken away; at the limit none is left."""

    def __post_init__(self) -> None:
        """Refuse what cannot be computed with."""
        for name in ("timestep_s", "control_hz", "impratio", "tolerance"):
            value = getattr(self, name)
            if not 0.0 < value < math.inf:
                raise BadOption(what=f"{name} must be positive, got {value:g}")
        if not 0.0 <= self.speed_limit_from < 1.0:
            raise BadOption(
                what=f"speed_limit_from must lie between 0 and 1, got {self.speed_limit_from:g}"
            )
        ratio = 1.0 / (self.control_hz * self.timestep_s)
        if round(ratio) < 1 or abs(ratio - round(ratio)) > WHOLE * ratio:
            raise BadOption(
                what=f"a control step of {1.0 / self.control_hz:g} s is no whole number of physics"
                f" steps of {self.timestep_s:g} s",
                todo="500 Hz and 0.001 s fit",
            )

    @property
    def steps_per_control(self) -> int:
        """Physics steps between two commands."""
        return round(1.0 / (self.control_hz * self.timestep_s))

    @property
    def dt(self) -> float:
        """Length of a control step, s."""
        return self.steps_per_control * self.timestep_s


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A robot in its world, compiled; see `scene_of`."""

    robot: Robot
    """As everybody else knows it: without mass error."""
    model: mujoco.MjModel
    xml: str
    """What `model` was compiled from."""
    settings: Settings
    drive: Drive
    terrain: Terrain
    """The ground as simulated."""
    planned_terrain: Terrain
    """The ground as the clip knows it."""
    shift_m: Float64[Array, " surfaces"]
    """How far each surface was moved up."""
    friction: Float64[Array, " surfaces"]
    """Of each surface; whatever touches it has this one."""
    geom_link: Int64[IntArray, " geoms"]
    """The link that each shape moves with; −1 for terrain."""
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        """Lock the arrays."""
        for name in ("shift_m", "friction"):
            object.__setattr__(self, name, locked(getattr(self, name)))
        object.__setattr__(self, "geom_link", locked_int(self.geom_link))

    def __reduce__(self) -> tuple[type[Scene], tuple[object, ...]]:
        """Pickle by construction, so that the copy is locked too."""
        return Scene, tuple(getattr(self, field.name) for field in fields(self))


def scene_of(
    robot: Robot,
    terrain: Terrain,
    *,
    settings: Settings | None = None,
    drive: Drive = "torque",
    servo_gains: tuple[Float64[Array, " m"], Float64[Array, " m"]] | None = None,
    friction: float | Sequence[float] | None = None,
    mass_factor: Mapping[str, float] | None = None,
    shift_m: Sequence[float] | Float64[Array, " surfaces"] | None = None,
) -> Scene:
    """A robot on a terrain, ready to be simulated.

    Args:
        drive: motors, whose command is a torque, or servos, whose command is a position.
        servo_gains: stiffness, N m/rad, and damping, N m s/rad, of the servos by joint.
        friction: instead of the terrain's, for all surfaces or for each.
        mass_factor: what masses and inertias of links are multiplied with, by name.
        shift_m: how far each surface is moved up.

    Raises:
        BadOption: servos without gains, a friction below 0, or a shift for another number of
            surfaces.
        BadRobot: the engine refuses the model.
        UnknownName: a mass factor of a link that the robot has not.
    """
    settings = settings or Settings()
    surfaces = terrain.surfaces
    shift = np.zeros(len(surfaces)) if shift_m is None else np.asarray(shift_m, dtype=np.float64)
    slide = np.zeros(len(surfaces)) + (terrain.friction if friction is None else friction)
    if shift.shape != (len(surfaces),) or not np.all(np.isfinite(shift)):
        raise BadOption(what=f"expected {len(surfaces)} finite shifts of surfaces, got {shift_m}")
    if not (np.all(slide >= 0.0) and np.all(np.isfinite(slide))):
        raise BadOption(what=f"friction must be 0 or more, got {friction}")
    if drive == "servo" and servo_gains is None:
        raise BadOption(what="servos need gains", where="scene")
    pairs = zip(surfaces, shift, strict=True)
    moved = Terrain(
        tuple(replace(s, point=s.point + np.array([0.0, 0.0, h])) for s, h in pairs),
        terrain.friction,
    )
    root = ET.fromstring(robot.mjcf)
    plain = _compiled(robot.mjcf, robot)
    look = _contact_look(settings)
    _set_engine(root, robot, settings)
    _set_masses(root, robot, mass_factor or {})
    _set_shapes(root, plain, look)
    said = add_soles(root, robot, plain, {**look, **_masks(ROBOT, GROUND)})
    _add_ground(root, moved, slide, look)
    _set_drive(root, robot, drive, servo_gains)
    xml = ET.tostring(root, encoding="unicode")
    model = _compiled(xml, robot)
    return Scene(
        robot=robot,
        model=model,
        xml=xml,
        settings=settings,
        drive=drive,
        terrain=moved,
        planned_terrain=terrain,
        shift_m=shift,
        friction=slide,
        geom_link=_links_of_shapes(model),
        notices=tuple(said),
    )


def _compiled(xml: str, robot: Robot) -> mujoco.MjModel:
    """The model of a text.

    Raises:
        BadRobot: the engine refuses it.
    """
    try:
        with heard():
            return mujoco.MjModel.from_xml_string(xml)
    except ValueError as error:
        raise BadRobot(
            what=f"MuJoCo refuses the scene: {in_one_line(error)}", where=robot.name
        ) from error


def _set_engine(root: ET.Element, robot: Robot, settings: Settings) -> None:
    """Our own options, and nothing else that acts: no old actuators, sensors, poses, pairs."""
    for tag in ("option", "actuator", "sensor", "keyframe", "contact"):
        for element in root.findall(tag):
            root.remove(element)
    for size in root.findall("size"):
        size.attrib.pop("nkey", None)
    for default in root.iter("default"):
        for element in [child for child in default if child.tag in ACTUATORS]:
            default.remove(element)
    option = ET.SubElement(root, "option")
    option.attrib.update(
        timestep=repr(settings.timestep_s),
        gravity=numbers(robot.model.opt.gravity),
        integrator=settings.integrator,
        cone="elliptic",
        jacobian="dense",  # the sparse one of MuJoCo 4.0.0 errs
        solver="Newton",
        iterations=str(settings.iterations),
        tolerance=repr(settings.tolerance),
        impratio=repr(settings.impratio),
    )
    # By itself the engine starts anew after a NaN, and a fall would not be seen.
    ET.SubElement(option, "flag", {"autoreset": "disable"})


def _set_masses(root: ET.Element, robot: Robot, factor: Mapping[str, float]) -> None:
    """Masses and inertias as the robot has them, times the factors."""
    for named in factor:
        robot.link_id(named)
    for element in root.iter("body"):
        inertial = element.find("inertial")
        if inertial is None:
            continue
        name = element.get("name", "")
        link, times = robot.link_id(name), float(factor.get(name, 1.0))
        inertial.set("mass", numbers([robot.model.body_mass[link] * times]))
        inertial.set("diaginertia", numbers(robot.model.body_inertia[link] * times))


def _contact_look(settings: Settings) -> dict[str, str]:
    return {
        "condim": "3",
        "margin": "0",
        "gap": "0",
        "solref": numbers(settings.solref),
        "solimp": numbers(settings.solimp),
    }


def _masks(own: int, others: int) -> dict[str, str]:
    return {"contype": str(own), "conaffinity": str(others)}


def _set_shapes(root: ET.Element, plain: mujoco.MjModel, look: dict[str, str]) -> None:
    """What collides in the robot's file touches the ground, and only that."""
    collides = touching(plain)
    for element in root.findall("worldbody//geom"):
        geom = int(plain.geom(element.get("name", "")).id)
        masks = _masks(ROBOT, GROUND) if collides[geom] else _masks(0, 0)
        element.attrib.update(look, priority="0", **masks)


def _add_ground(
    root: ET.Element, terrain: Terrain, friction: Float64[Array, " surfaces"], look: dict[str, str]
) -> None:
    """Planes and boxes whose friction is the one that counts: they have priority."""
    world = next(root.iter("worldbody"))
    taken = {geom.get("name") for geom in root.iter("geom")}
    for i, (surface, slide) in enumerate(zip(terrain.surfaces, friction, strict=True)):
        name = f"terrain{i}"
        while name in taken:
            name += "_"
        shape = {
            **look,
            **_masks(GROUND, ROBOT),
            **_ground_shape(surface),
            "name": name,
            "priority": "1",
            "friction": f"{float(slide)!r} 0.005 0.0001",
            "rgba": "0.75 0.75 0.75 1",
        }
        world.insert(i, ET.Element("geom", shape))


def _ground_shape(surface: Surface) -> dict[str, str]:
    if surface.kind == "box":
        half = surface.yaw / 2.0
        turn = np.array([math.cos(half), 0.0, 0.0, math.sin(half)])
        shape = {"type": "box", "size": numbers(surface.size / 2.0), "quat": numbers(turn)}
    else:
        x, y, z = surface.normal / np.linalg.norm(surface.normal)
        turn = np.array([1.0 + z, -y, x, 0.0])  # the least turn from z to the normal
        quat = numbers(turn / np.linalg.norm(turn))
        shape = {"type": "plane", "size": "0 0 1", "quat": quat}
    return {**shape, "pos": numbers(surface.point)}


def _set_drive(
    root: ET.Element,
    robot: Robot,
    drive: Drive,
    gains: tuple[Float64[Array, " m"], Float64[Array, " m"]] | None,
) -> None:
    """One actuator a joint, and the joint's own limit of what reaches it."""
    actuators = ET.SubElement(root, "actuator")
    stiff, damp = gains if gains is not None else np.zeros((2, len(robot.joint_names)))
    joints = {joint.get("name"): joint for joint in root.findall("worldbody//joint")}
    for j, name in enumerate(robot.joint_names):
        limit = float(robot.joint_torque[j])
        bounded = math.isfinite(limit)
        span = numbers([-limit, limit])
        joints[name].set("actuatorfrclimited", str(bounded).lower())
        if bounded:
            joints[name].set("actuatorfrcrange", span)
        row = {"name": name, "joint": name, "gear": "1", "ctrllimited": "false"}
        row["forcelimited"] = str(bounded).lower()
        if bounded:
            row["forcerange"] = span
        if drive == "servo":
            row.update(biastype="affine", gainprm=numbers([stiff[j]]))
            row["biasprm"] = numbers(np.array([0.0, -stiff[j], -damp[j]]))
        ET.SubElement(actuators, "general", row)


def _links_of_shapes(model: mujoco.MjModel) -> Int64[IntArray, " geoms"]:
    """By shape: the link that it moves with; terrain for what belongs to the world."""
    link = np.array([fixed_to(model, int(b)) for b in model.geom_bodyid], dtype=np.int64)
    return np.where(link == 0, TERRAIN, link)
