"""A biped in its home pose with contacts and a wrench whose limit is known by construction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from make.robots import BIPED, written
from surefoot.contacts.cones import Cones, contact_cones
from surefoot.dynamics.batch import Batch
from surefoot.index.distance import Distances, Scales, signed_distances
from surefoot.index.reasons import Limits, find_limits
from surefoot.motion.contact import ContactSchedule, Stance
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

WEIGHT = 700.0
# The biped's soles at home reach over x −0.06 to 0.14 m, y ±0.05 to ±0.15 m.

MIDDLE = (0.04, 0.1, 0.0)  # of the left sole
# The feet's frames are turned by 90° about z: their x axis points to the left.
TURNED = (
    BIPED.replace('_foot" pos="0 0 -0.37"', '_foot" pos="0 0 -0.37" quat="1 0 0 1"')
    .replace('<inertial pos="0.03 0 -0.02"', '<inertial pos="0 -0.03 -0.02"')
    .replace('_ankle" axis="0 1 0"', '_ankle" axis="1 0 0"')
    .replace(
        'pos="0.04 0 -0.015" size="0.1 0.05 0.015"', 'pos="0 -0.04 -0.015" size="0.05 0.1 0.015"'
    )
)


def turned_biped(folder: Path) -> Robot:
    """The biped with other foot axes; its soles are the same at home."""
    return load_robot(written(TURNED, folder, "turned.xml"))


def sole(robot: Robot, side: str, *, friction: float = 0.7, moving: bool = False) -> Stance:
    """A foot on its whole sole."""
    found = next(s for s in robot.soles if s.side == side)
    return Stance(found.link, 0.0, 1.0, "face", found.polygon_l, friction=friction, moving=moving)


def touching(
    robot: Robot,
    link: str,
    points_w: list[tuple[float, float, float]],
    *,
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0),
    friction: float = 0.7,
) -> Stance:
    """A link that touches at points of the world, given in the home pose."""
    home = Batch(robot, robot.home[None])
    k = robot.link_id(link)
    local = (np.array(points_w) - home.link_pos_w[0, k]) @ home.link_rot_wl[0, k]
    mode = {1: "point", 2: "edge"}.get(len(points_w), "face")
    return Stance(
        link, 0.0, 1.0, mode, local, normal=np.array(normal, dtype=np.float64), friction=friction
    )  # type: ignore[arg-type]  # one of three


@dataclass(frozen=True)
class Case:
    """One sample."""

    stances: tuple[Stance, ...]
    force: tuple[float, float, float] = (0.0, 0.0, WEIGHT)
    through: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """A point on the line of the force."""
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Free moment besides."""
    shift: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """Where links stand, from where they stand at home."""
    rays: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """Links that slide already, and their only ray."""
    facing: tuple[float, float, float] = (1.0, 0.0, 0.0)
    ref: tuple[float, float, float] = (0.0, 0.0, 0.85)
    length: float = 1.0
    tolerance: float = 1e-6


def placed(robot: Robot, case: Case) -> tuple[Cones, ContactSchedule]:
    """The contact vertices of a case."""
    schedule = ContactSchedule(case.stances)
    cones = contact_cones(Batch(robot, robot.home[None]), np.zeros(1), schedule)
    links = np.array([schedule.stances[s].link for s in cones.vertex_stance])
    pos, normal = np.array(cones.vertex_pos), np.array(cones.vertex_normal)
    friction = np.array(cones.vertex_friction)
    for link, way in case.shift.items():
        pos[links == link] += way
    for link, ray in case.rays.items():
        normal[links == link] = np.array(ray) / np.linalg.norm(ray)
        friction[links == link] = 0.0
    return replace(cones, vertex_pos=pos, vertex_normal=normal, vertex_friction=friction), schedule


def required(case: Case) -> np.ndarray:
    """The wrench of a case about its reference."""
    arm = np.subtract(case.through, case.ref)
    return np.concatenate([case.force, np.cross(arm, case.force) + case.moment])


def limits_of(robot: Robot, case: Case) -> tuple[Limits, Distances]:
    """What limits the one sample of a case, and its distance."""
    cones, schedule = placed(robot, case)
    wrench, ref = required(case)[None], np.array([case.ref])
    scales = Scales(length_m=case.length, tolerance=case.tolerance)
    found = signed_distances(cones, wrench, ref, scales=scales)
    limits = find_limits(
        cones, schedule, robot, found, wrench, ref, case.length, facing_w=np.array([case.facing])
    )
    return limits, found


def stances(robot: Robot, *sides: str, friction: float = 0.7) -> tuple[Stance, ...]:
    """Feet on their whole soles."""
    return tuple(sole(robot, side, friction=friction) for side in sides)


def together(
    robot: Robot, cases: list[Case]
) -> tuple[Cones, ContactSchedule, np.ndarray, np.ndarray, np.ndarray]:
    """The cases as samples of one motion."""
    parts = [placed(robot, case) for case in cases]
    every = tuple(s for _, schedule in parts for s in schedule.stances)
    joint = ContactSchedule(every)
    numbers = {id(s): k for k, s in enumerate(joint.stances)}
    cones = Cones(
        start=np.concatenate([[0], np.cumsum([len(c.vertex_pos) for c, _ in parts])]),
        vertex_pos=np.concatenate([c.vertex_pos for c, _ in parts]),
        vertex_normal=np.concatenate([c.vertex_normal for c, _ in parts]),
        vertex_friction=np.concatenate([c.vertex_friction for c, _ in parts]),
        vertex_stance=np.concatenate(
            [[numbers[id(s.stances[k])] for k in c.vertex_stance] for c, s in parts]
        ).astype(np.int64),
        vertex_l=np.concatenate([c.vertex_l for c, _ in parts]),
    )
    wrench = np.array([required(case) for case in cases])
    ref, facing = (np.array([getattr(c, name) for c in cases]) for name in ("ref", "facing"))
    return cones, joint, wrench, ref, facing
