"""Finding robots, by name or by path, and putting model and profile together."""

from __future__ import annotations

import importlib.resources
import os
import pathlib
from collections.abc import Mapping

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import NoFile, Notice, UnknownName, nearest
from surefoot.robots import load, soles
from surefoot.robots.engine import mujoco
from surefoot.robots.profile import ENDING, SHORT_NAME, JointRule, Profile, SoleRule, read_profile
from surefoot.robots.robot import Robot, Sole

MODELS_VARIABLE = "SUREFOOT_MODELS"
SPARE_SOLE_HALF_HEIGHT_M = 0.01  # of a box that stands in for lost foot meshes


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
        return _assemble(_model_of(profile), profile, source=f"zoo:{text}", notices=[])
    if path.suffix == ".toml" and path.is_file():
        profile = read_profile(path)
        model = _model_of(profile)
        return _assemble(model, profile, source=str(model), notices=[])
    looks_like_path = path.suffix.lower() in (*load.ENDINGS, ".toml") or len(path.parts) > 1
    if not looks_like_path and not path.exists():
        raise UnknownName(
            what=f"no robot '{text}' in the zoo",
            todo=f"{nearest(text, names())} Or give the path of an MJCF, URDF or profile",
        )
    beside = _profile_beside(path)
    return _assemble(path, beside, source=str(path), notices=[])


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
        todo=f"Give the model by its path, as in: -r path/to/{example}; or set {MODELS_VARIABLE} to "
        f"the folder that holds {example}",
    )


def _profile_beside(model: pathlib.Path) -> Profile | None:
    for place in (model.parent / f"{model.stem}{ENDING}", model.parent / SHORT_NAME):
        if place.is_file():
            return read_profile(place)
    return None


def _matched(joint_names: tuple[str, ...]) -> Profile | None:
    """The profile of the zoo whose joints a model has; of several the one with the most."""
    fitting = [profile for profile in profiles() if profile.fits(joint_names)]
    return max(fitting, key=lambda profile: len(profile.joints)) if fitting else None


def _assemble(
    path: pathlib.Path, profile: Profile | None, *, source: str, notices: list[Notice]
) -> Robot:
    """Model and profile put together, all that was decided said in the notices."""
    draft = load.read_model(path)
    if profile is None:
        profile = _matched(draft.joint_names)
        if profile is not None:
            draft.say(
                "assumption",
                "profile",
                f"the joints are those of robot '{profile.name}': its profile of the zoo is used",
            )
    known = profile or Profile(path=path, name=draft.name)
    known.check(draft.joint_names, tuple(body.name for body in draft.spec.bodies[1:]))
    torques = load.mount_motors(draft)
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
    feet = _soles(draft, known, model, home)
    home = _on_ground(model, home, feet)
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
        notices=tuple([*notices, *draft.notices]),
        mjcf=mjcf,
    )


def _rules(draft: load.Draft, rules: tuple[JointRule, ...], kind: str) -> None:
    """Say what a profile's rules set, one notice a rule."""
    for rule in rules:
        numbers = ", ".join(f"{what} {value:g}" for what, value in rule.values.items())
        draft.say(
            kind, ", ".join(rule.patterns), f"{numbers} by the profile ({rule.source})"
        )


def _set_passive(draft: load.Draft, profile: Profile) -> None:
    """Put the profile's springs, dampers, armature and friction loss into the joints."""
    _rules(draft, profile.overrides, "override")
    for what in ("stiffness", "damping", "armature", "frictionloss"):
        for name, value in profile.values(profile.overrides, what, draft.joint_names).items():
            joint = draft.spec.joint(name)
            old = np.asarray(getattr(joint, what), dtype=np.float64)
            if old.ndim:  # polynomial coefficients: the first is the linear term
                setattr(joint, what, np.concatenate([[value], np.zeros(old.size - 1)]))
            else:
                setattr(joint, what, value)


def _set_limits(draft: load.Draft, profile: Profile, torques: Mapping[str, float]) -> None:
    """Put limits into the joints: the profile's overrides, else the file's, else the rest.

    Args:
        torques: limits of the actuators that were there, by joint, N m or N.
    """
    spec, names_ = draft.spec, draft.joint_names
    over = {what: profile.values(profile.overrides, what, names_) for what in _LIMITS}
    spare = {what: profile.values(profile.limits, what, names_) for what in _LIMITS}
    draft.speeds = {**spare["speed"], **draft.speeds, **over["speed"]}
    _rules(draft, profile.limits, "limit")
    for name in names_:
        joint = spec.joint(name)
        torque = over["torque"].get(name)
        if torque is None and not _has_range(spec, joint.actfrcrange, joint.actfrclimited):
            torque = torques.get(name, spare["torque"].get(name))
        if torque is not None:
            joint.actfrcrange, joint.actfrclimited = [-torque, torque], _TRUE
        here = _has_range(spec, joint.range, joint.limited)
        turn = 180.0 / np.pi if spec.compiler.degree and _is_hinge(joint) else 1.0
        ends = list(joint.range) if here else [-np.inf, np.inf]
        for k, what in enumerate(("minimum", "maximum")):
            new = over[what].get(name, None if here else spare[what].get(name))
            if new is not None:
                ends[k] = new * turn
        if ends != list(joint.range) and np.all(np.isfinite(ends)):
            joint.range, joint.limited = ends, _TRUE


_LIMITS = ("minimum", "maximum", "speed", "torque")
_TRUE = 1  # mjLIMITED_TRUE; 0 is false, 2 is "where a range is given"


def _has_range(spec: mujoco.MjSpec, ends: Float64[Array, " 2"], flag: int) -> bool:
    if int(flag) == 2:
        return bool(spec.compiler.autolimits) and bool(np.any(np.asarray(ends) != 0.0))
    return int(flag) == _TRUE


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
            pos=center,
            size=half,
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
    keys = [model.key(k).name for k in range(model.nkey)]
    if profile.home is not None:
        for name, value in profile.home.items():
            qpos[adr[draft.joint_names.index(name)]] = value
    elif keys:
        chosen = next((key for key in load.HOME_KEYS if key in keys), keys[0])
        qpos = np.array(model.key_qpos[keys.index(chosen)], dtype=np.float64)
        draft.say("assumption", "home", f"home pose from keyframe '{chosen}'")
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


def _soles(
    draft: load.Draft, profile: Profile, model: mujoco.MjModel, home: Float64[Array, " nq"]
) -> tuple[Sole, ...]:
    """The soles: from the profile's polygons or links, else from the lowest links of the home pose.

    Raises:
        BadRobot: no link reaches the ground, or a foot has no shape.
    """
    data = soles.posed(model, home)
    rules = profile.soles
    if not rules:
        origin = np.asarray(data.xpos[1], dtype=np.float64)
        left_w = np.asarray(data.xmat[1], dtype=np.float64).reshape(3, 3)[:, 1]
        found: list[SoleRule] = []
        for link in soles.lowest_links(model, data):
            name = model.body(link).name
            offset = float((np.asarray(data.xpos[link]) - origin) @ left_w)
            found.append(SoleRule(name, soles.side_of(name, offset), None, None, ""))
        rules = tuple(found)
        feet = ", ".join(f"'{rule.link}' ({rule.side})" for rule in rules)
        draft.say("assumption", "soles", f"feet taken to be the lowest links: {feet or 'none'}")
    out: list[Sole] = []
    for rule in rules:
        given = rule.polygon_l if rule.polygon_l is not None else None
        polygon = given
        if polygon is None:
            polygon = soles.sole_polygon(model, data, int(model.body(rule.link).id))
        if len(polygon) == 0:
            raise draft.refuse(
                f"foot '{rule.link}' has no shape to stand on",
                "Give its sole as polygon_m in a profile beside the model (docs/robots.md)",
            )
        if len(polygon) < 3:
            what = "a point" if len(polygon) == 1 else "a line"
            draft.say("assumption", rule.link, f"sole of '{rule.link}' is {what}")
        out.append(Sole(rule.link, rule.side, polygon))
    if not out:
        raise draft.refuse(
            "no feet found: no link has a collision shape",
            "Give the soles in a profile beside the model (docs/robots.md)",
        )
    return tuple(sorted(out, key=lambda sole: sole.side != "left"))


def _on_ground(
    model: mujoco.MjModel, home: Float64[Array, " nq"], feet: tuple[Sole, ...]
) -> Float64[Array, " nq"]:
    """The home pose with the lowest corner of the soles on z = 0."""
    data = soles.posed(model, home)
    heights: list[float] = []
    for sole in feet:
        link = int(model.body(sole.link).id)
        turn = np.array(data.xmat[link], dtype=np.float64).reshape(3, 3)
        heights.append(float((data.xpos[link] + sole.polygon_l @ turn.T)[:, 2].min()))
    out = home.copy()
    if int(model.jnt_type[0]) == int(mujoco.mjtJoint.mjJNT_FREE):
        out[2] -= min(heights)
        return out
    for j in range(3):
        axis = np.asarray(model.jnt_axis[j], dtype=np.float64)
        if int(np.argmax(np.abs(axis))) == 2:
            out[int(model.jnt_qposadr[j])] -= np.sign(axis[2]) * min(heights)
    return out
