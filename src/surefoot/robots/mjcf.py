"""The compiled model as MJCF text without meshes, links, joints and shapes to the last bit.

The engine alone writes six digits, and places relative to the frames of the file.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.robots.engine import heard, mujoco

PLACED = ("body", "joint", "freejoint", "geom")  # what is written with its place in its link
OTHER_PLACES = ("fromto", "euler", "axisangle", "xyaxes", "zaxis")
DOF = ("armature", "frictionloss", "damping", "stiffness")


def plain_mjcf(spec: mujoco.MjSpec, model: mujoco.MjModel) -> str:
    """The compiled model as MJCF that needs no other file: inertias written out, meshes gone.

    Args:
        spec: what the model was compiled from; it is left as it is.
    """
    spec = spec.copy()
    spec.compiler.settotalmass, spec.compiler.inertiafromgeom = -1.0, 2  # what is written counts
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    for body in spec.bodies[1:]:
        i = int(model.body(body.name).id)
        body.explicitinertial = True
        body.mass = float(model.body_mass[i])
        body.ipos, body.iquat = model.body_ipos[i], model.body_iquat[i]
        body.inertia = model.body_inertia[i]
        body.fullinertia = np.full(6, np.nan)
    for geom in list(spec.geoms):
        if geom.meshname:
            spec.delete(geom)
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for block in ("meshes", "textures", "hfields", "skins"):
        for element in list(getattr(spec, block)):
            spec.delete(element)
    _name_shapes(spec)
    with heard():  # what the engine says was said when the whole model was compiled
        plain = spec.compile()
        root = ET.fromstring(str(spec.to_xml()))
    _unframe(root)
    _write_links(root, model)
    _write_joints(root, spec, model)
    _write_shapes(root, plain)
    return ET.tostring(root, encoding="unicode")


def _name_shapes(spec: mujoco.MjSpec) -> None:
    """Give a name to shapes without one, by which they are found again in the text."""
    taken = {geom.name for geom in spec.geoms}
    for k, geom in enumerate(spec.geoms):
        if not geom.name:
            name = f"shape{k}"
            while name in taken:
                name += "_"
            geom.name = name


def _unframe(root: ET.Element) -> None:
    """Take links, joints and shapes out of frames, whose places would be added to theirs."""
    found = True
    while found:
        found = False
        for parent in list(root.iter()):
            for frame in parent.findall("frame"):
                at, default = list(parent).index(frame), frame.get("childclass")
                for child in [c for c in frame if c.tag in PLACED]:
                    key = "childclass" if child.tag == "body" else "class"
                    if default and child.tag != "freejoint":
                        child.attrib.setdefault(key, default)
                    frame.remove(child)
                    parent.insert(at, child)
                    at, found = at + 1, True


def _write_links(root: ET.Element, model: mujoco.MjModel) -> None:
    for element in root.iter("body"):
        body = model.body(element.get("name", ""))
        _write(element, "pos", body.pos)
        _write(element, "quat", body.quat)
        inertial = element.find("inertial")
        if inertial is not None:
            for key, values in (("pos", body.ipos), ("quat", body.iquat), ("mass", body.mass),
                                ("diaginertia", body.inertia)):  # fmt: skip
                _write(inertial, key, values)


def _write_joints(root: ET.Element, spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    for element in root.findall("worldbody//joint"):
        name = element.get("name", "")
        if not name or element.get("type") == "free":
            continue
        joint, given = model.joint(name), spec.joint(name)
        _write(element, "axis", joint.axis)
        _write(element, "pos", joint.pos)
        if int(model.jnt_limited[joint.id]):
            _write(element, "range", joint.range)
        if int(model.jnt_actfrclimited[joint.id]):
            _write(element, "actuatorfrcrange", model.jnt_actfrcrange[joint.id])
        for key in DOF:
            if not np.any(np.atleast_1d(getattr(given, key))[1:]):  # higher terms stay as they are
                _write(element, key, getattr(joint, key)[:1])


def _write_shapes(root: ET.Element, model: mujoco.MjModel) -> None:
    for element in root.findall("worldbody//geom"):
        geom = model.geom(element.get("name", ""))
        sizes = len(element.get("size", "0 0 0").split())
        for key in OTHER_PLACES:
            element.attrib.pop(key, None)
        for key, values in (("pos", geom.pos), ("quat", geom.quat), ("size", geom.size[:sizes]),
                            ("friction", geom.friction)):  # fmt: skip
            _write(element, key, values)


def _write(element: ET.Element, key: str, values: Float64[Array, " n"]) -> None:
    element.set(key, " ".join(repr(float(value)) for value in np.atleast_1d(values)))
