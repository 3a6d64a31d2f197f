"""What a URDF says that the engine does not keep, and its text made ready for the engine.

The engine drops joint speeds, welds a root without a joint to the world and loses its mass, does
not know `package://`, and stops at the first mesh that is not there.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import pathlib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count

from surefoot.errors import BadFile, BadRobot, Notice, listed, nearest

MOVING = ("revolute", "continuous", "prismatic", "floating", "planar")
MESH_ENDINGS = (".stl", ".obj", ".msh")  # what the engine decodes
# Attributes that must hold finite numbers, by element.
NUMBERS = {
    "mass": {"value"},
    "inertia": {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "origin": {"xyz", "rpy"},
    "axis": {"xyz"},
    "dynamics": {"damping", "friction"},
    "mimic": {"multiplier", "offset"},
}
DEEPEST = 400  # joints in a row; the engine's reader of MJCF takes some 500 nested elements
WORLD = "world"  # a link of this name is the ground to the engine


@dataclass(frozen=True, slots=True)
class Urdf:
    """A URDF's facts, and its text as the engine should read it."""

    name: str
    text: str
    masses: dict[str, float]
    """Mass of every link, kg, as in the file; the link `world` only where it has a mass."""
    joints: tuple[str, ...]
    """Joints that move, without a floating root, in the file's order."""
    speeds: dict[str, float]
    """Largest speed by joint, rad/s or m/s, where the file gives one."""
    ties: dict[str, tuple[str, float, float]]
    """By a joint that mimics another: that one, factor, offset."""
    meshes: dict[str, str]
    """Full path by the name that the text gives a mesh."""
    notices: tuple[Notice, ...]


def read_urdf(root: ET.Element, path: pathlib.Path) -> Urdf:
    """The facts of a URDF, and its text with found meshes only, nothing fused, nothing discarded.

    Raises:
        BadFile: names twice, unknown links, loops, numbers that are none: all faults together.
        BadRobot: a root link called `world` with a mass.
    """
    notices: list[Notice] = []
    _check_structure(root, path)
    masses = {_name(link): _mass(link) for link in root.findall("link")}
    _call_ground_world(root, masses)
    _drop_world(root, masses, path, notices)
    joints = [j for j in root.findall("joint") if j.get("type") in MOVING[:3]]
    speeds: dict[str, float] = {}
    for joint in joints:
        limit = joint.find("limit")
        speed = None if limit is None else limit.get("velocity")
        if speed is not None and float(speed) > 0.0:
            speeds[_name(joint)] = float(speed)
    _drop_empty_ranges(joints, notices)
    _say_limits_of_zero(joints, notices)
    ties = _take_mimics(joints, notices)
    meshes = _resolve_meshes(root, path, notices)
    _unname_doubles(root)
    for block in root.findall("mujoco"):
        root.remove(block)
    own = ET.SubElement(root, "mujoco")
    ET.SubElement(
        own,
        "compiler",
        {
            "fusestatic": "false",
            "discardvisual": "false",
            "strippath": "false",
            "inertiafromgeom": "false",
        },
    )
    return Urdf(
        name=root.get("name") or path.stem,
        text=ET.tostring(root, encoding="unicode"),
        masses=masses,
        joints=tuple(_name(joint) for joint in joints),
        speeds=speeds,
        ties=ties,
        meshes=meshes,
        notices=tuple(notices),
    )


def _name(element: ET.Element) -> str:
    return element.get("name", "")


def _mass(link: ET.Element) -> float:
    mass = link.find("inertial/mass")
    return 0.0 if mass is None else float(mass.get("value", "0"))


def _check_structure(root: ET.Element, path: pathlib.Path) -> None:
    """Refuse what is no tree of links with numbers."""
    where = str(path)
    if any(child.tag.startswith("{") and "xacro" in child.tag for child in root.iter()):
        raise BadFile(
            what="this is xacro, a template of a URDF, not a URDF",
            where=where,
            todo="Expand it first: xacro FILE.xacro > FILE.urdf",
        )
    links = [_name(link) for link in root.findall("link")]
    joints = root.findall("joint")
    faults = [f"{kind} without a name" for kind in ("link", "joint")
              for element in root.findall(kind) if not _name(element)]  # fmt: skip
    for kind, names in (("link", links), ("joint", [_name(j) for j in joints])):
        doubled = sorted({n for n in names if n and names.count(n) > 1})
        faults += [f"{kind} '{n}' is there {names.count(n)} times" for n in doubled]
    children: list[str] = []
    for joint in joints:
        if joint.get("type") not in (*MOVING, "fixed"):
            faults.append(f"joint '{_name(joint)}' has type '{joint.get('type')}'")
        for end in ("parent", "child"):
            element = joint.find(end)
            link = "" if element is None else element.get("link", "")
            if link not in links:
                faults.append(f"joint '{_name(joint)}' has {end} '{link}', which is no link. "
                              f"{nearest(link, set(links))}")  # fmt: skip
            if end == "child":
                children.append(link)
    faults += [f"link '{n}' has {children.count(n)} parents" for n in sorted(set(children))
               if children.count(n) > 1]  # fmt: skip
    roots = [n for n in links if n not in children]
    if links and len(roots) != 1 and not faults:
        faults.append(f"expected one root link, got {len(roots)}: {', '.join(roots) or 'a loop'}")
    if not links:
        faults.append("no link")
    if not faults:
        depths = _depths(roots[0], joints)
        faults += [f"link '{n}' hangs in a loop, not on '{roots[0]}'"
                   for n in links if n not in depths]  # fmt: skip
        if max(depths.values()) > DEEPEST:
            faults.append(f"more than {DEEPEST} joints in a row")
    faults += list(_bad_numbers(root))
    if faults:
        raise BadFile(what=listed(faults), where=where)


def _depths(root: str, joints: list[ET.Element]) -> dict[str, int]:
    """The links that hang on a link, itself included, and how many joints away from it."""
    children: dict[str, list[str]] = {}
    for joint in joints:
        children.setdefault(_end(joint, "parent"), []).append(_end(joint, "child"))
    depths, waiting = {root: 0}, [root]
    while waiting:
        link = waiting.pop()
        found = [child for child in children.get(link, []) if child not in depths]
        depths.update(dict.fromkeys(found, depths[link] + 1))
        waiting.extend(found)
    return depths


def _bad_numbers(root: ET.Element) -> Iterator[str]:
    """Inertias, limits and places that are not as many finite numbers as they must be."""
    for owner in (*root.findall("link"), *root.findall("joint")):
        for element in owner.iter():
            if element.tag not in NUMBERS:
                continue
            for key in sorted(NUMBERS[element.tag] & set(element.attrib)):
                text = element.attrib[key]
                try:
                    parts = [float(part) for part in text.split()]
                    wanted = 3 if key in ("xyz", "rpy") else 1
                    good = len(parts) == wanted and all(math.isfinite(part) for part in parts)
                except ValueError:
                    good = False
                if not good:
                    yield f"{owner.tag} '{_name(owner)}': {element.tag} {key}=\"{text}\""


def _call_ground_world(root: ET.Element, masses: dict[str, float]) -> None:
    """Give the name `world` to a root link without mass on which the robot floats or slides."""
    children = {_end(joint, "child") for joint in root.findall("joint")}
    ground = next(link for link in root.findall("link") if _name(link) not in children)
    ties = [joint for joint in root.findall("joint") if _end(joint, "parent") == _name(ground)]
    loose = len(ties) == 1 and ties[0].get("type") in MOVING[3:]
    parent = ties[0].find("parent") if ties else None
    if loose and parent is not None and masses[_name(ground)] == 0.0 and WORLD not in masses:
        masses[WORLD] = masses.pop(_name(ground))
        ground.set("name", WORLD)
        parent.set("link", WORLD)


def _drop_world(
    root: ET.Element, masses: dict[str, float], path: pathlib.Path, notices: list[Notice]
) -> None:
    """Take out a root link called `world` that only says that the robot is fixed to the ground."""
    world = next((link for link in root.findall("link") if _name(link) == WORLD), None)
    if world is None:
        return
    if masses[WORLD] > 0.0:
        raise BadRobot(
            what=f"link '{WORLD}' has a mass of {masses[WORLD]:g} kg, but a link of that name is "
            "the ground to the engine: its mass would be lost",
            where=str(path),
            todo="Rename the link",
        )
    if any(_end(joint, "child") == WORLD for joint in root.findall("joint")):
        raise BadRobot(
            what=f"link '{WORLD}' hangs on another, but a link of that name is the ground to the "
            "engine: it would be lost",
            where=str(path),
            todo="Rename the link",
        )
    del masses[WORLD]
    ties = [j for j in root.findall("joint") if _end(j, "parent") == WORLD]
    if len(ties) == 1 and ties[0].get("type") == "fixed":
        root.remove(world)
        root.remove(ties[0])
        notices.append(
            Notice(
                kind="assumption",
                part=_end(ties[0], "child"),
                sentence=f"joint '{_name(ties[0])}' fixes the robot to the link 'world': dropped, "
                "so that the base floats",
            )
        )


def _end(joint: ET.Element, end: str) -> str:
    element = joint.find(end)
    return "" if element is None else element.get("link", "")


def _drop_empty_ranges(joints: list[ET.Element], notices: list[Notice]) -> None:
    """Say which position limits the engine takes for none: the lower end is not below the upper."""
    empty: list[str] = []
    for joint in joints:
        limit = joint.find("limit")
        if limit is None or joint.get("type") == "continuous":
            continue
        ends = [limit.attrib.pop(key, None) for key in ("lower", "upper")]
        low, high = (float(end or "0") for end in ends)
        if low < high:
            limit.attrib.update({"lower": repr(low), "upper": repr(high)})
        else:
            empty.append(f"'{_name(joint)}' ({low:g} … {high:g})")
    if empty:
        notices.append(
            Notice(
                kind="dropped",
                part="limit",
                sentence="position limits dropped, because the lower end is not below the upper "
                f"one: {listed(empty)}",
                value=float(len(empty)),
            )
        )


def _say_limits_of_zero(joints: list[ET.Element], notices: list[Notice]) -> None:
    """Say which speeds and torques are taken for unknown: exporters write 0 where nobody said."""
    for key, what in (("velocity", "speed"), ("effort", "torque")):
        limits = ((_name(joint), joint.find("limit")) for joint in joints)
        zero = [f"'{name}'" for name, limit in limits
                if limit is not None and float(limit.get(key, "1")) == 0.0]  # fmt: skip
        if zero:
            sentence = f"{what} limits of 0 taken for none: {listed(zero)}"
            notices.append(Notice("assumption", "limit", sentence, value=float(len(zero))))


def _take_mimics(
    joints: list[ET.Element], notices: list[Notice]
) -> dict[str, tuple[str, float, float]]:
    """Take out which joints the file ties to others: engines before 4 drop it without a word."""
    names = {_name(joint) for joint in joints}
    ties: dict[str, tuple[str, float, float]] = {}
    broken: list[str] = []
    for joint in joints:
        mimic = joint.find("mimic")
        if mimic is None:
            continue
        joint.remove(mimic)
        leader = mimic.get("joint", "")
        if leader not in names - {_name(joint)}:
            broken.append(f"'{_name(joint)}' mimics '{leader}'")
            continue
        factor, offset = mimic.get("multiplier", "1"), mimic.get("offset", "0")
        ties[_name(joint)] = (leader, float(factor), float(offset))
    if broken:
        sentence = f"ties to what is no other joint that moves dropped: {listed(broken)}"
        notices.append(Notice("dropped", "mimic", sentence, value=float(len(broken))))
    if ties:
        notices.append(
            Notice(
                kind="assumption",
                part="mimic",
                sentence=f"joints that mimic others ({', '.join(ties)}) are kept as joints of "
                "their own, tied by the engine in simulation only",
                value=float(len(ties)),
            )
        )
    return ties


def _resolve_meshes(root: ET.Element, path: pathlib.Path, notices: list[Notice]) -> dict[str, str]:
    """Drop the shapes whose mesh cannot be read, and give the others' meshes names of their own.

    Returns the path by name. Engines before 4 take two files of one name in different folders for
    one: a foot's drawing for its collision shape.
    """
    dropped: dict[str, list[str]] = {}
    names: dict[tuple[str, str], str] = {}
    for link in root.findall("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            mesh = shape.find("geometry/mesh")
            if mesh is None:
                continue
            file = mesh.get("filename", "")
            found = find_mesh(file, path.parent)
            if found is None:
                link.remove(shape)
                dropped.setdefault(file, []).append(_name(link))
                continue
            key = (str(found), mesh.get("scale", ""))
            if key not in names:
                names[key] = _free(found.stem, set(names.values()))
            mesh.set("filename", f"{names[key]}{found.suffix}")
    if dropped:
        notices.append(meshes_dropped(dropped))
    return {name: place for (place, _), name in names.items()}


def _unname_doubles(root: ET.Element) -> None:
    """Take away names of shapes that another shape has: the engine would complain on its own."""
    seen: set[str] = set()
    for shape in [*root.findall("link/visual"), *root.findall("link/collision")]:
        if _name(shape) in seen:
            del shape.attrib["name"]
        elif _name(shape):
            seen.add(_name(shape))


def _free(wanted: str, taken: set[str]) -> str:
    """The wanted name, with a number behind it if it is taken."""
    numbered = (f"{wanted}_{k}" for k in count(2))
    return next(name for name in chain([wanted], numbered) if name not in taken)


def meshes_dropped(users: dict[str, list[str]]) -> Notice:
    """The notice for meshes that are not there or cannot be read.

    Args:
        users: names of the links whose shapes went with it, by mesh file.
    """
    count = sum(len(links) for links in users.values())
    files = listed([f"'{name}'" for name in users])
    return Notice(
        kind="dropped",
        part="mesh",
        sentence=f"shapes dropped ({count}), because their meshes are not there or cannot be read: "
        f"{files}",
        value=float(count),
    )


def find_mesh(name: str, folder: pathlib.Path) -> pathlib.Path | None:
    """The file that a mesh's name means, if it is there and the engine can decode its kind.

    `package://PKG/…` and `model://PKG/…` are looked up in ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, the
    folders above the model and the installed Python packages, in this order.
    """
    scheme, _, rest = name.partition(":/")
    if scheme in ("package", "model"):
        places = list(_in_packages(rest.lstrip("/"), folder))
    elif name.startswith("file://"):
        places = [pathlib.Path(name.removeprefix("file://"))]
    else:
        places = [folder / name]
    for place in places:
        if place.suffix.lower() in MESH_ENDINGS and place.is_file() and os.access(place, os.R_OK):
            return place.resolve()
    return None


def _in_packages(name: str, folder: pathlib.Path) -> Iterator[pathlib.Path]:
    package, _, rest = name.partition("/")
    for root in filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)):
        yield pathlib.Path(root) / name
        if pathlib.Path(root).name == package:
            yield pathlib.Path(root) / rest
    for root in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield pathlib.Path(root) / "share" / name
    for parent in (folder.resolve(), *folder.resolve().parents):
        yield parent / name
        if package in (parent.name, _declared(parent / "package.xml")):
            yield parent / rest
    module = package.replace("-", "_")
    spec = None
    with contextlib.suppress(ValueError):  # a module of that name that was made without a file
        spec = importlib.util.find_spec(module) if module.isidentifier() else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        yield pathlib.Path(place) / rest
        yield pathlib.Path(place) / name
        yield pathlib.Path(place).parent / "share" / name


def _declared(manifest: pathlib.Path) -> str:
    """The name that a ROS package gives itself; empty where there is no manifest."""
    try:
        return (ET.fromstring(manifest.read_bytes()).findtext("name") or "").strip()
    except (OSError, ET.ParseError):
        return ""
