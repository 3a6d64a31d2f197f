"""A model file to a compiled model: read, mended with a notice each, nothing lost silently.

Order: read into an editable specification; find or add the floating base; drop what cannot be read
and is not needed; put torque motors for servos; compile; prove that no mass and no joint is gone.
"""

from __future__ import annotations

import contextlib
import pathlib
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from surefoot.errors import BadFile, BadRobot, NoFile, Notice, listed
from surefoot.robots import inertia, surroundings
from surefoot.robots.engine import (
    compile_mended,
    drop_missing_looks,
    drop_missing_meshes,
    heard,
    in_one_line,
    mujoco,
    warned,
)
from surefoot.robots.mjcf import plain_mjcf
from surefoot.robots.urdf import read_urdf

ENDINGS = (".xml", ".mjcf", ".urdf")
MASS_TOLERANCE_KG = 1e-9  # a mass goes through text and back without loss; sums round
LEAST_MASS_KG = 1e-6  # of a robot; below, its file gives none
FINITE = ("body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat", "body_inertia",
          "jnt_pos", "jnt_axis", "jnt_range", "geom_pos", "geom_quat", "geom_size")  # fmt: skip
UPRIGHT_TOLERANCE = 1e-9  # of a quaternion's vector part; rounding only
UNNAMED_MODEL = "MuJoCo Model"  # the engine's name for a model without one
HOME_KEYS = ("home", "stand", "standing")  # keyframes that are a home pose by name


@dataclass(slots=True)
class Draft:
    """A robot while it is being loaded."""

    path: pathlib.Path
    spec: mujoco.MjSpec
    name: str
    masses: dict[str, float]
    """Mass by link as the file has it, kg; not of links whose mass comes from their shapes."""
    joint_names: tuple[str, ...]
    """Scalar joints of the file, in its order, without the root."""
    root_link: str
    root_kind: Literal["free", "planar"]
    speeds: dict[str, float] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

    def say(self, kind: str, part: str, sentence: str, **numbers: float) -> None:
        """Keep a notice."""
        self.notices.append(Notice(kind=kind, part=part, sentence=sentence, **numbers))

    def refuse(self, what: str, todo: str = "") -> BadRobot:
        """The error that says what is wrong with this file."""
        return BadRobot(what=what, where=str(self.path), todo=todo)


def read_model(path: pathlib.Path) -> Draft:
    """A model file as an editable specification with a floating or planar base.

    Raises:
        NoFile: nothing there, a folder, no permission.
        BadFile: neither MJCF nor URDF, or one that its reader refuses.
        BadRobot: no base, two bases, ball joints.
    """
    root = _parsed(path)
    if root.tag == "robot":
        urdf = read_urdf(root, path)
        draft = Draft(path, _spec(path, urdf.text), urdf.name, urdf.masses, urdf.joints, "", "free")
        for mesh in draft.spec.meshes:
            mesh.file = urdf.meshes.get(mesh.name, mesh.file)
        draft.speeds.update(urdf.speeds)
        draft.notices.extend(urdf.notices)
        for joint, (leader, factor, offset) in urdf.ties.items():
            tie = draft.spec.add_equality(name=f"{joint}_mimic", name1=joint, name2=leader)
            tie.type = mujoco.mjtEq.mjEQ_JOINT
            tie.data[:5] = [offset, factor, 0.0, 0.0, 0.0]
    elif root.tag == "mujoco":
        with heard() as said:
            spec = _spec(path, None)
        name = spec.modelname if spec.modelname != UNNAMED_MODEL else path.stem
        draft = Draft(path, spec, name, {}, (), "", "free")
        draft.notices.extend(warned(said))
        _name_all(draft)
        draft.notices.extend(surroundings.emptied(spec))
        draft.notices.extend(drop_missing_meshes(spec, path))
        _check_inertias(draft)
    else:
        raise BadFile(
            what=f"expected <mujoco> or <robot>, got <{root.tag}>",
            where=str(path),
            todo="The model must be MJCF or URDF",
        )
    draft.notices.extend(surroundings.emptied(draft.spec))
    draft.notices.extend(surroundings.unhooked(draft.spec))
    draft.notices.extend(surroundings.calmed(draft.spec))
    draft.notices.extend(drop_missing_looks(draft.spec, path))
    _settle_root(draft)
    draft.notices.extend(inertia.mended(draft.spec))
    _check_keyframes(draft)
    return draft


def _parsed(path: pathlib.Path) -> ET.Element:
    if path.is_dir():
        inside = sorted(p.name for p in path.iterdir() if p.suffix.lower() in ENDINGS)
        raise NoFile(
            what="this is a folder",
            where=str(path),
            todo=f"Name the model in it: {', '.join(inside)}" if inside else "It holds no model",
        )
    try:
        return ET.fromstring(path.read_bytes())
    except FileNotFoundError as error:
        raise NoFile(what="no such file", where=str(path)) from error
    except OSError as error:
        raise NoFile(what=f"cannot be read: {error.strerror}", where=str(path)) from error
    except ET.ParseError as error:
        raise BadFile(
            what=f"this is no XML: {error}", where=str(path), todo="The model must be MJCF or URDF"
        ) from error


def _spec(path: pathlib.Path, text: str | None) -> mujoco.MjSpec:
    try:
        if text is not None:
            return mujoco.MjSpec.from_string(text)
        if path.suffix == ".xml":
            return mujoco.MjSpec.from_file(str(path))
        raw = path.read_bytes()  # the engine decodes other endings from text only
        spec = mujoco.MjSpec.from_string(raw.decode(), include=_included(raw, path.parent))
        spec.modelfiledir = str(path.parent)
        return spec
    except ValueError as error:
        raise BadFile(what=f"MuJoCo refuses it: {in_one_line(error)}", where=str(path)) from error


def _included(raw: bytes, folder: pathlib.Path) -> dict[str, bytes]:
    """The files that a text includes, and those that they include, by the names used there."""
    found: dict[str, bytes] = {}
    waiting = [raw]
    while waiting:
        with contextlib.suppress(ET.ParseError):  # the engine says what is wrong, and where
            for element in ET.fromstring(waiting.pop()).iter("include"):
                name = element.get("file", "")
                if name not in found and (folder / name).is_file():
                    found[name] = (folder / name).read_bytes()
                    waiting.append(found[name])
    return found


def _name_all(draft: Draft) -> None:
    """Give a name to links and joints that have none: everything later speaks of names."""
    taken = {b.name for b in draft.spec.bodies} | {j.name for j in draft.spec.joints}
    for k, body in enumerate(draft.spec.bodies[1:], 1):
        if not body.name:
            body.name = free_name(f"link{k}", taken)
            draft.say("repair", body.name, f"link number {k} has no name: called '{body.name}'")
        for joint in body.joints:
            if not joint.name:
                joint.name = free_name(f"{body.name}_joint", taken)
                if int(joint.type) != int(mujoco.mjtJoint.mjJNT_FREE):
                    draft.say(
                        "repair",
                        joint.name,
                        f"a joint of link '{body.name}' has no name: called '{joint.name}'",
                    )


def free_name(wanted: str, taken: set[str]) -> str:
    """The wanted name, with a number behind it if it is taken; then it is taken."""
    name, k = wanted, 2
    while name in taken:
        name, k = f"{wanted}{k}", k + 1
    taken.add(name)
    return name


def _check_inertias(draft: Draft) -> None:
    """Keep the masses that links give themselves, and refuse those that no link can have.

    Raises:
        BadRobot: a mass or an inertia that is negative or no number.
    """
    for body in draft.spec.bodies[1:]:
        if not body.explicitinertial:
            continue
        full = np.asarray(body.fullinertia, dtype=np.float64)
        moments = body.inertia if np.isnan(full[0]) else full  # the engine's mark for: not given
        numbers = np.concatenate([[body.mass], body.ipos, body.iquat, moments])
        if not np.all(np.isfinite(numbers)) or body.mass < 0.0:
            raise draft.refuse(
                f"link '{body.name}' has an inertia that no link can have: mass {body.mass:g} kg, "
                f"moments {np.asarray(moments)} kg m²"
            )
        draft.masses[body.name] = float(body.mass)
    compiler = draft.spec.compiler
    least = float(compiler.boundmass)
    lifted = [name for name, mass in draft.masses.items() if mass < least]
    draft.masses.update(dict.fromkeys(lifted, least))
    lifted += [body.name for body in draft.spec.bodies[1:]
               if least > 0.0 and not body.explicitinertial and not list(body.geoms)]  # fmt: skip
    if lifted:
        names = listed([f"'{name}'" for name in lifted])
        draft.say("repair", "boundmass", f"the file asks for at least {least:g} kg a link: {names}")
    if int(compiler.inertiafromgeom) == 1 or float(compiler.settotalmass) > 0.0:
        draft.masses.clear()  # the file asks for other masses than it writes


def _settle_root(draft: Draft) -> None:
    """Find the floating or planar base, or add a floating one.

    Raises:
        BadRobot: several links in the world, a free joint that is not the root's only one, a base
            that is neither, ball joints.
    """
    spec = draft.spec
    roots = list(spec.worldbody.bodies)
    if len(roots) != 1:
        names = ", ".join(f"'{b.name}'" for b in roots) or "none"
        raise draft.refuse(
            f"expected one robot in the world, got {len(roots)} links: {names}",
            "Keep the robot's own root link only",
        )
    root = roots[0]
    draft.root_link = root.name
    joints = list(root.joints)
    free = [j for j in spec.joints if int(j.type) == int(mujoco.mjtJoint.mjJNT_FREE)]
    if len(free) > 1 or (free and len(joints) > 1):
        names = ", ".join(f"'{j.name}'" for j in (free if len(free) > 1 else joints))
        raise draft.refuse(
            f"the base of a robot has one free joint and no other, got {names}",
            "Keep the free joint of the root link only",
        )
    planar = False
    if free and not joints:
        raise draft.refuse(
            f"free joint '{free[0].name}' is not on the root link '{root.name}'", "Put it there"
        )
    if not joints:
        _add_floating_base(draft, root)
    elif not free:
        planar = _settle_plane(draft, joints)
        if not planar:
            names = ", ".join(f"'{j.name}'" for j in joints)
            raise draft.refuse(
                f"link '{root.name}' moves against the world by {names}: neither a floating base "
                "nor a planar one (slides along x and z, then a hinge about y)",
            )
    draft.root_kind = "planar" if planar else "free"
    for joint in free:
        _clean_free_joint(draft, joint)
    _find_joints(draft, root)


def _find_joints(draft: Draft, root: mujoco.MjsBody) -> None:
    """Keep the names of the joints above the base.

    Raises:
        BadRobot: a ball joint, or one of the file that is not there.
    """
    own = {j.name for j in root.joints}
    rest = [j for body in draft.spec.bodies[1:] for j in body.joints if j.name not in own]
    ball = [j.name for j in rest if int(j.type) == int(mujoco.mjtJoint.mjJNT_BALL)]
    if ball:
        raise draft.refuse(f"joint '{ball[0]}' is a ball joint", "Write it as three hinges")
    found = tuple(j.name for j in rest)
    lost = [name for name in draft.joint_names if name not in found]
    if lost:
        raise draft.refuse(f"joint '{lost[0]}' of the file was lost while reading")
    draft.joint_names = found


def _add_floating_base(draft: Draft, root: mujoco.MjsBody) -> None:
    before = len(draft.spec.keys[0].qpos) if draft.spec.keys else 0
    root.add_freejoint(name=free_name("root", {j.name for j in draft.spec.joints}))
    draft.say(
        "assumption", root.name, f"link '{root.name}' is fixed in the file: floating base added"
    )
    for key in draft.spec.keys:
        if before and len(key.qpos) == before:
            key.qpos = [*root.pos, *root.quat, *key.qpos]


def _check_keyframes(draft: Draft) -> None:
    """Drop keyframes that are no pose: the engine would fill them up without a word."""
    wanted = len(draft.joint_names) + (7 if draft.root_kind == "free" else 3)
    for key in list(draft.spec.keys):
        fault, qpos = "", np.array(key.qpos, dtype=np.float64)
        if len(qpos) != wanted:
            fault = f"expected {wanted} positions, got {len(qpos)}"
        elif not np.all(np.isfinite(qpos)):
            fault = "it holds a position that is no finite number"
        elif draft.root_kind == "free" and not np.any(qpos[3:7]):
            fault = "its quaternion is zero"
        if fault:
            draft.say("dropped", "keyframe", f"keyframe '{key.name}' dropped: {fault}")
            draft.spec.delete(key)


def _clean_free_joint(draft: Draft, joint: mujoco.MjsJoint) -> None:
    """Take away what a free joint inherits from defaults: it would push the base."""
    for name in ("damping", "stiffness", "armature", "frictionloss"):
        value = np.array(getattr(joint, name), dtype=np.float64, ndmin=1)
        if np.any(value != 0.0):
            setattr(joint, name, 0.0 * getattr(joint, name))
            draft.say(
                "repair",
                joint.name,
                f"{name} {value[0]:g} of the free joint '{joint.name}' set to 0: nothing holds the "
                "base but contacts",
                value=float(value[0]),
            )


def _settle_plane(draft: Draft, joints: list[Any]) -> bool:
    """Whether the joints are slides along x and z followed by a hinge about y."""
    kinds = [int(j.type) for j in joints]
    slide, hinge = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)
    if kinds != [slide, slide, hinge]:
        return False
    axes = [np.abs(np.asarray(j.axis, dtype=np.float64)) for j in joints]
    axes = [axis / np.linalg.norm(axis) for axis in axes]
    along = [int(np.argmax(axis)) for axis in axes]
    pure = all(axis.max() > 1.0 - 1e-9 for axis in axes)
    if not (pure and sorted(along[:2]) == [0, 2] and along[2] == 1):
        return False
    if np.any(np.asarray(joints[2].pos) != 0.0):
        joints[2].pos = [0.0, 0.0, 0.0]
        draft.say("repair", joints[2].name, "pivot of the planar base moved to the link's origin")
    for joint in joints:
        _clean_free_joint(draft, joint)
        joint.limited = int(mujoco.mjtLimited.mjLIMITED_FALSE)
    return True


def compiled(draft: Draft) -> tuple[mujoco.MjModel, str]:
    """The model and its MJCF without meshes, after proving that nothing of the file is lost.

    Raises:
        BadRobot: the engine refuses the model, or mass or joints are missing, with the link.
    """
    spec = draft.spec
    spec.compiler.fusestatic = False
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # the sparse one of MuJoCo 4.0.0 errs
    given = inertia.principal_moments(spec)
    model, notices = compile_mended(spec, str(draft.path))
    draft.notices.extend(notices)
    if spec.compiler.balanceinertia:
        draft.notices.extend(inertia.balanced(given, model))
    _prove_complete(draft, model)
    return model, plain_mjcf(spec, model)


def _prove_complete(draft: Draft, model: mujoco.MjModel) -> None:
    """Compare the compiled model with the file, link by link and joint by joint.

    Raises:
        BadRobot: with the first link or joint that is not as in the file.
    """
    names = {model.body(i).name: i for i in range(1, model.nbody)}
    tilt = np.abs(np.asarray(model.body_quat[1, 1:], dtype=np.float64)).max()
    if draft.root_kind == "planar" and tilt > UPRIGHT_TOLERANCE:
        raise draft.refuse(
            f"the planar base of link '{draft.root_link}' is turned in the world",
            "Its slides must run along the world's x and z",
        )
    for link, mass in draft.masses.items():
        if link not in names:
            raise draft.refuse(f"link '{link}' ({mass:g} kg) was lost while loading")
        got = float(model.body_mass[names[link]])
        if abs(got - mass) > MASS_TOLERANCE_KG:
            raise draft.refuse(
                f"link '{link}' has {mass:g} kg in the file, but {got:g} kg as loaded"
            )
    if not float(model.body_subtreemass[0]) > LEAST_MASS_KG:
        raise draft.refuse("no link has a mass", "Give the links an <inertial>")
    joints = {model.joint(j).name for j in range(model.njnt)}
    for name in draft.joint_names:
        if name not in joints:
            raise draft.refuse(f"joint '{name}' was lost while loading")
    wanted = len(draft.joint_names) + (6 if draft.root_kind == "free" else 3)
    if int(model.nv) != wanted:
        raise draft.refuse(f"expected {wanted} degrees of freedom, got {model.nv}")
    for field_ in FINITE:
        if not np.all(np.isfinite(getattr(model, field_))):
            row = int(np.argwhere(~np.isfinite(getattr(model, field_)))[0][0])
            kinds = {"body": "body", "jnt": "joint", "geom": "geom"}
            name = getattr(model, kinds[field_.partition("_")[0]])(row).name
            raise draft.refuse(f"{field_} of '{name}' of the compiled model is not finite")
