"""Finding robots, by name or by path, and putting model and profile together."""

from __future__ import annotations

import importlib.resources
import os
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import BadRobot, NoFile, UnknownName, listed, nearest
from surefoot.robots import load, soles
from surefoot.robots.engine import mujoco
from surefoot.robots.profile import ENDING, LIMITS, PASSIVE, SHORT_NAME, Profile, read_profile
from surefoot.robots.robot import Robot

MODELS_VARIABLE = "SUREFOOT_MODELS"
SPARE_SOLE_HALF_HEIGHT_M = 0.01  # of a box that stands in for lost foot meshes


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of `surefoot robots list`."""

    name: str
    title: str
    """What the robot is, in a line."""
    bundled: bool
    """Whether its model is part of surefoot; else it must be given by path."""

    def summary(self) -> dict[str, object]:
        """The row as a JSON object."""
        return {"name": self.name, "title": self.title, "bundled": self.bundled}


def entries() -> tuple[Entry, ...]:
    """The robots of the zoo, in the order of `names()`."""
    return tuple(Entry(p.name, p.description, bool(p.model)) for p in profiles())


def names() -> tuple[str, ...]:
    """Names of the robots in the zoo, sorted."""
    return tuple(sorted(p.name for p in _zoo().iterdir() if (p / SHORT_NAME).is_file()))


def profiles() -> tuple[Profile, ...]:
    """The profiles of the zoo, in the order of `names()`."""
    return tuple(read_profile(_zoo() / name / SHORT_NAME) for name in names())


def _zoo() -> pathlib.Path:
    return pathlib.Path(str(importlib.resources.files("surefoot.robots"))) / "zoo"


def load_robot(name_or_path: str | pathlib.Path) -> Robot:
    """A robot of the zoo by its name, or any robot by the path of its profile, MJCF or URDF.

    A model's profile is `<stem>.robot.toml` or `robot.toml` in its folder, else the zoo's one whose
    joints it has, else none: then limits, soles and home pose come from the model alone.

    Raises:
        UnknownName: no robot of that name, with the nearest ones.
        NoFile: no such file, or a profile without its model.
        BadFile: a file that is no model or no profile.
        BadRobot: a model or profile that cannot be used.
        MissingPart: MuJoCo cannot be imported.

    Example:
        >>> load_robot("human25").mass
        67.0
    """
    text = os.fspath(name_or_path)
    path = pathlib.Path(text).expanduser()
    if text in names():
        profile = read_profile(_zoo() / text / SHORT_NAME)
        return _assemble(_model_of(profile), profile, source=f"zoo:{text}")
    if path.suffix == ".toml" and path.is_file():
        profile = read_profile(path)
        model = _model_of(profile)
        return _assemble(model, profile, source=str(model))
    looks_like_path = path.suffix.lower() in (*load.ENDINGS, ".toml") or len(path.parts) > 1
    if not looks_like_path and not path.exists():
        near = nearest(text, names())
        raise UnknownName(
            what=f"no robot '{text}' in the zoo",
            todo=f"{near}{'' if near.endswith('?') else '.'} Or give the path of an MJCF, URDF "
            "or profile",
        )
    beside = _profile_beside(path)
    return _assemble(path, beside, source=str(path))


def _model_of(profile: Profile) -> pathlib.Path:
    """The model file of a profile: beside it, or below a folder of SUREFOOT_MODELS."""
    if profile.model:
        return profile.path.parent / profile.model
    for folder in filter(None, os.environ.get(MODELS_VARIABLE, "").split(os.pathsep)):
        for place in profile.find:
            if (pathlib.Path(folder) / place).is_file():
                return pathlib.Path(folder) / place
    example = profile.find[0] if profile.find else f"{profile.name}.xml"
    raise NoFile(
        what=f"surefoot has a profile of robot '{profile.name}', but its model is not part of it",
        where=str(profile.path.name),
        todo=f"Give the model by its path, as in: -r path/to/{example}; or set {MODELS_VARIABLE} "
        f"to the folder that holds {example}",
    )


def _profile_beside(model: pathlib.Path) -> Profile | None:
    for place in (model.parent / f"{model.stem}{ENDING}", model.parent / SHORT_NAME):
        if place.is_file():
            return read_profile(place)
    return None


def _matched(draft: load.Draft) -> Profile | None:
    """The profile of the zoo whose joints and links a model has; of several the largest one."""
    links = tuple(body.name for body in draft.spec.bodies[1:])
    fitting = [profile for profile in profiles() if profile.fits(draft.joint_names)]
    for profile in sorted(fitting, key=lambda profile: -len(profile.joints)):
        text = f"the joints are those of robot '{profile.name}'"
        try:
            profile.check(draft.joint_names, links)
        except BadRobot as error:
            draft.say("assumption", "profile", f"{text}, but not all else is: {error.what}")
            continue
        draft.say("assumption", "profile", f"{text}: its profile of the zoo is used")
        return profile
    return None


def _assemble(path: pathlib.Path, profile: Profile | None, *, source: str) -> Robot:
    """Model and profile put together, all that was decided said in the notices."""
    draft = load.read_model(path)
    if profile is None:
        profile = _matched(draft)
    known = profile or Profile(path=path, name=draft.name)
    known.check(draft.joint_names, tuple(body.name for body in draft.spec.bodies[1:]))
    torques = _mount_motors(draft)
    _set_passive(draft, known)
    _set_limits(draft, known, torques)
    _add_spare_soles(draft, known)
    model, mjcf = load.compiled(draft)
    ids = [model.joint(name).id for name in draft.joint_names]
    limited = model.jnt_limited[ids].astype(bool)
    bounded = model.jnt_actfrclimited[ids].astype(bool)
    minimum = np.where(limited, model.jnt_range[ids, 0], -np.inf)
    maximum = np.where(limited, model.jnt_range[ids, 1], np.inf)
    torque = np.where(bounded, np.abs(model.jnt_actfrcrange[ids]).min(axis=1), np.inf)
    speed = np.array([draft.speeds.get(name, np.inf) for name in draft.joint_names])
    home = _home(draft, known, model, minimum, maximum)
    try:
        feet, home, assumed = soles.stand(model, home, known.soles, str(path))
    except BadRobot as error:
        raise _without_meshes(error, draft) from error
    draft.notices.extend(assumed)
    return Robot(
        name=known.name,
        source=source,
        model=model,
        root_link=draft.root_link,
        root_kind=draft.root_kind,
        joint_names=draft.joint_names,
        joint_min=minimum,
        joint_max=maximum,
        joint_speed=speed,
        joint_torque=torque,
        soles=feet,
        landmarks=dict(known.landmarks),
        home=home,
        notices=tuple(draft.notices),
        mjcf=mjcf,
    )


def _without_meshes(error: BadRobot, draft: load.Draft) -> BadRobot:
    """The error of a robot that cannot stand, with the meshes that it may have stood on."""
    lost = [notice.sentence for notice in draft.notices if notice.part == "mesh"]
    if not lost:
        return error
    return BadRobot(
        what="; ".join([error.what, *lost]),
        where=error.where,
        todo=f"Put the meshes where they are looked for (docs/robots.md). {error.todo}",
    )


def _mount_motors(draft: load.Draft) -> dict[str, float]:
    """Put one torque motor on each joint for whatever drives it; the limits that the old ones had.

    Returns torque limits by joint, N m or N, for joints that have none of their own.
    """
    spec = draft.spec
    limits: dict[str, float] = {}
    kinds: dict[str, int] = {"servo": 0, "motor": 0}
    on_joint = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    others: list[str] = []
    plain = int(mujoco.mjtBias.mjBIAS_NONE)
    for old in list(spec.actuators):
        kinds["motor" if int(old.biastype) == plain else "servo"] += 1
        if int(old.trntype) not in on_joint or old.target not in draft.joint_names:
            others.append(f"'{old.name or old.target}'")
        elif (limit := _actuator_limit(old)) is not None:
            limits[old.target] = limit
        spec.delete(old)
    if kinds["servo"]:
        draft.say("repair", "actuators", f"{kinds['servo']} servos replaced by torque motors")
    if others:
        sentence = f"actuators that drive no joint of the robot dropped: {listed(others)}"
        draft.say("dropped", "actuators", sentence)
    for name in draft.joint_names:
        motor = spec.add_actuator(name=load.free_name(name, {a.name for a in spec.actuators}))
        motor.target, motor.trntype = name, mujoco.mjtTrn.mjTRN_JOINT
        motor.set_to_motor()
        motor.gear = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        for flag in ("ctrllimited", "forcelimited", "actlimited"):
            setattr(motor, flag, int(mujoco.mjtLimited.mjLIMITED_FALSE))
    for key in spec.keys:
        key.ctrl, key.act = [], []
    return limits


def _actuator_limit(actuator: mujoco.MjsActuator) -> float | None:
    """Largest torque of an actuator at its joint, the smaller of its limits; None without one."""
    gear = abs(float(actuator.gear[0]))
    found: list[float] = []
    off = int(mujoco.mjtLimited.mjLIMITED_FALSE)
    force = np.abs(np.asarray(actuator.forcerange, dtype=np.float64))
    if int(actuator.forcelimited) != off and force.max() > 0.0:
        found.append(float(force.min() or force.max()) * gear)
    ctrl = np.abs(np.asarray(actuator.ctrlrange, dtype=np.float64))
    direct = int(actuator.biastype) == int(mujoco.mjtBias.mjBIAS_NONE)
    if direct and int(actuator.ctrllimited) != off and ctrl.max() > 0.0:
        gain = abs(float(actuator.gainprm[0]))
        found.append(float(ctrl.min() or ctrl.max()) * gear * gain)
    return min(found) if found else None


def _set_passive(draft: load.Draft, profile: Profile) -> None:
    """Put the profile's springs, dampers, armature and friction loss into the joints."""
    for what in PASSIVE:
        changed: dict[str, list[str]] = {}
        for name, (value, source) in profile.values(
            profile.overrides, what, draft.joint_names
        ).items():
            joint = draft.spec.joint(name)
            old = np.atleast_1d(np.asarray(getattr(joint, what), dtype=np.float64))
            new = np.concatenate([[value], np.zeros(old.size - 1)])  # linear, then higher terms
            if np.any(old != new):
                setattr(joint, what, new if np.ndim(getattr(joint, what)) else value)
                changed.setdefault(f"{value:g} ({source})", []).append(name)
        for text, joints in changed.items():
            draft.say("override", what, f"{what} of {_joints(joints)} set to {text}")


def _joints(names_: list[str]) -> str:
    return f"joint '{names_[0]}'" if len(names_) == 1 else f"{len(names_)} joints"


def _set_limits(draft: load.Draft, profile: Profile, torques: Mapping[str, float]) -> None:
    """Put limits into the joints: the profile's overrides, else the file's, else the rest.

    Args:
        torques: limits of the actuators that were there, by joint, N m or N.
    """
    spec, names_ = draft.spec, draft.joint_names
    over = {what: profile.values(profile.overrides, what, names_) for what in LIMITS}
    spare = {what: profile.values(profile.limits, what, names_) for what in LIMITS}
    used: dict[tuple[str, str, str], list[str]] = {}

    def chosen(what: str, name: str, *, given: bool) -> float | None:
        """The profile's number for a joint, if it is to be used, and kept for a notice."""
        kind, found = "override", over[what].get(name)
        if found is None and not given:
            kind, found = "limit", spare[what].get(name)
        if found is None:
            return None
        used.setdefault((kind, what, found[1]), []).append(name)
        return found[0]

    for name in names_:
        joint = spec.joint(name)
        speed = chosen("speed", name, given=name in draft.speeds)
        if speed is not None:
            draft.speeds[name] = speed
        own = _has_range(spec, joint.actfrcrange, joint.actfrclimited)
        if not own and name in torques:
            _bound(joint, torques[name])
        torque = chosen("torque", name, given=own or name in torques)
        if torque is not None:
            _bound(joint, torque)
        here = _has_range(spec, joint.range, joint.limited)
        turn = 180.0 / np.pi if spec.compiler.degree and _is_hinge(joint) else 1.0
        ends = [float(end) for end in joint.range] if here else [-np.inf, np.inf]
        for k, what in enumerate(("minimum", "maximum")):
            end = chosen(what, name, given=here)
            ends[k] = ends[k] if end is None else end * turn
        if np.all(np.isfinite(ends)):
            joint.range, joint.limited = np.array(ends), mujoco.mjtLimited.mjLIMITED_TRUE
    for (kind, what, source), joints in used.items():
        if kind == "limit" and profile.model:
            continue  # a profile that brings its model: nothing was decided for the user
        draft.say(kind, what, f"{what} of {_joints(joints)} by the profile ({source})")


def _bound(joint: mujoco.MjsJoint, torque: float) -> None:
    joint.actfrcrange = np.array([-torque, torque])
    joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE


def _has_range(spec: mujoco.MjSpec, ends: Float64[Array, " 2"], flag: mujoco.mjtLimited) -> bool:
    if int(flag) == int(mujoco.mjtLimited.mjLIMITED_AUTO):
        return bool(spec.compiler.autolimits) and bool(np.any(ends != 0.0))
    return int(flag) == int(mujoco.mjtLimited.mjLIMITED_TRUE)


def _is_hinge(joint: mujoco.MjsJoint) -> bool:
    return int(joint.type) == int(mujoco.mjtJoint.mjJNT_HINGE)


def _add_spare_soles(draft: load.Draft, profile: Profile) -> None:
    """Give a box to a foot that has lost its shapes with its meshes."""
    for rule in profile.soles:
        body = draft.spec.body(rule.link)
        if rule.spare_polygon_l is None or _has_shape(body):
            continue
        low, high = rule.spare_polygon_l.min(axis=0), rule.spare_polygon_l.max(axis=0)
        center, half = 0.5 * (low + high), 0.5 * (high - low)
        half[2] += SPARE_SOLE_HALF_HEIGHT_M
        center[2] = low[2] + half[2]
        body.add_geom(
            name=f"{rule.link}_sole",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=center.tolist(),
            size=half.tolist(),
            mass=0.0,
        )
        draft.say(
            "repair",
            rule.link,
            f"foot '{rule.link}' has no collision shape: a box of {200 * half[0]:.3g} by "
            f"{200 * half[1]:.3g} cm put in its place ({rule.source})",
        )


def _has_shape(body: mujoco.MjsBody) -> bool:
    fixed = (child for child in body.bodies if not list(child.joints))
    return bool(list(body.geoms)) or any(_has_shape(child) for child in fixed)


def _home(
    draft: load.Draft,
    profile: Profile,
    model: mujoco.MjModel,
    minimum: Float64[Array, " m"],
    maximum: Float64[Array, " m"],
) -> Float64[Array, " nq"]:
    """The home pose before it is put on the ground: profile, else keyframe, else zero.

    Raises:
        BadRobot: the profile's pose is outside the joints' limits.
    """
    qpos = np.array(model.qpos0, dtype=np.float64)
    adr = np.array([model.joint(name).qposadr[0] for name in draft.joint_names], dtype=np.int64)
    keys = [key.name for key in draft.spec.keys if len(key.qpos)]  # the others are mere room
    if profile.home is not None:
        for name, value in profile.home.items():
            qpos[adr[draft.joint_names.index(name)]] = value
    elif keys:
        chosen = next((key for key in load.HOME_KEYS if key in keys), keys[0])
        qpos = np.array(model.key_qpos[keys.index(chosen)], dtype=np.float64)
        draft.say("assumption", "home", f"home pose from keyframe '{chosen or 'number 0'}'")
    inside = np.clip(qpos[adr], minimum, maximum)
    for j in np.flatnonzero(inside != qpos[adr]):
        name, value = draft.joint_names[j], float(qpos[adr[j]])
        if profile.home is not None and name in profile.home:
            raise draft.refuse(
                f"home position {value:g} of joint '{name}' is outside its limits "
                f"{minimum[j]:g} … {maximum[j]:g}",
                f"Mend {profile.path}",
            )
        draft.say(
            "repair",
            name,
            f"joint '{name}' is at {value:g} in the home pose, outside its limits: "
            f"moved to {inside[j]:g}",
            value=value,
            limit=float(inside[j]),
        )
    qpos[adr] = inside
    return qpos
