"""The bundled robot against the tables that it is made from (docs/robots.md)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from surefoot.arrays import Array
from surefoot.motion.human import CANONICAL_NAMES
from surefoot.robots import soles
from surefoot.robots.engine import mujoco
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

STATURE_M, MASS_KG = 1.70, 67.0
DE_LEVA_STATURE_MM = 1741.0  # of the men of the table: its lengths are scaled by ours over theirs

# de Leva (1996), table 4, men: mass in % of the body's; centre from the upper end in % of the
# length; radii of gyration about the front-back, the left-right and the long axis in % of it.
DE_LEVA = {
    "head": (6.94, 59.76, 36.2, 37.6, 31.2),  # vertex to mid-gonion
    "upper trunk": (15.96, 29.99, 71.6, 45.4, 65.9),  # suprasternale to xiphion
    "middle trunk": (16.33, 45.02, 48.2, 38.3, 46.8),  # xiphion to omphalion
    "lower trunk": (11.17, 61.15, 61.5, 55.1, 58.7),  # omphalion to mid-hip
    "upper_arm": (2.71, 57.72, 28.5, 26.9, 15.8),
    "forearm": (1.62, 45.74, 27.6, 26.5, 12.1),
    "hand": (0.61, 79.00, 62.8, 51.3, 40.1),  # wrist to third metacarpal
    "thigh": (14.16, 40.95, 32.9, 32.9, 14.9),
    "shank": (4.33, 44.59, 25.5, 24.9, 10.3),
    "foot": (1.37, 44.15, 25.7, 24.5, 12.4),  # heel to toe tip
}
DE_LEVA_MM = {"head": 203.3, "upper trunk": 170.7, "middle trunk": 215.5, "lower trunk": 145.7,
              "hand": 86.2, "head to cervicale": 242.9}  # fmt: skip
# Drillis and Contini (1966): fractions of the stature.
ANKLE, KNEE, HIP, SHOULDER = 0.039, 0.285, 0.530, 0.818
UPPER_ARM, FOREARM, FOOT_LENGTH, FOOT_WIDTH = 0.186, 0.146, 0.152, 0.055
LENGTH_M, HEEL, BALL, TOE_SHARE = 0.258, 0.25, 0.72, 0.15  # foot, docs/robots.md
WRITTEN_M, WRITTEN_KG, WRITTEN_KG_M2 = 6e-5, 6e-5, 6e-7  # half a unit of the last digit written

Part = tuple[float, Array, Array]  # mass, centre, principal moments


@pytest.fixture(scope="module")
def human() -> Robot:
    return load_robot("human25")


def _length(name: str) -> float:
    return DE_LEVA_MM[name] / DE_LEVA_STATURE_MM * STATURE_M


def _segment(name: str, length: float, top: float) -> Part:
    """A segment that hangs straight down from height `top` in its link's frame."""
    mass, center, *radii = DE_LEVA[name]
    mass *= MASS_KG / 100.0
    moments = mass * (np.array(radii) / 100.0 * length) ** 2
    return mass, np.array([0.0, 0.0, top - center / 100.0 * length]), moments


def _joined(*parts: Part) -> Part:
    """Parts as one body, by the parallel axis theorem (axes stay principal here)."""
    mass = sum(m for m, _, _ in parts)
    center = sum((m * c for m, c, _ in parts), np.zeros(3)) / mass
    moments = np.zeros(3)
    for m, c, own in parts:
        d = c - center
        moments = moments + own + m * (d @ d - d * d)
    return mass, center, moments


def _toe_and_foot() -> tuple[Part, Part]:
    """The toes as a box of 15 % of the foot's mass; the rest of the foot is what remains.

    In the frame of the ankle: x forward from it, the ground 0.039 of the stature below.
    """
    ankle = ANKLE * STATURE_M
    mass, center, r_up, r_across, r_long = DE_LEVA["foot"]
    mass *= MASS_KG / 100.0
    whole = mass * (np.array([r_long, r_across, r_up]) / 100.0 * LENGTH_M) ** 2
    middle = np.array([(center / 100.0 - HEEL) * LENGTH_M, 0.0, -ankle / 2.0])
    x, y, z = (1.0 - BALL) * LENGTH_M, 0.093, 0.025
    toe = TOE_SHARE * mass
    toe_center = np.array([(BALL - HEEL) * LENGTH_M + x / 2.0, 0.0, z / 2.0 - ankle])
    toe_moments = toe / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    rest = mass - toe
    rest_center = (mass * middle - toe * toe_center) / rest
    moments = whole - toe_moments
    for m, c in ((toe, toe_center), (rest, rest_center)):
        d = c - middle
        moments = moments - m * (d @ d - d * d)
    joint = np.array([(BALL - HEEL) * LENGTH_M, 0.0, 0.015 - ankle])
    return (toe, toe_center - joint, toe_moments), (rest, rest_center, moments)


def _expected() -> dict[str, Part]:
    lower, middle, upper = (_length(f"{n} trunk") for n in ("lower", "middle", "upper"))
    head = _segment("head", _length("head"), _length("head to cervicale"))
    toe, foot = _toe_and_foot()
    return {
        "pelvis": _segment("lower trunk", lower, lower),
        "chest": _joined(
            _segment("middle trunk", middle, middle),
            _segment("upper trunk", upper, middle + upper),
        ),
        "head": head,
        "thigh": _segment("thigh", (HIP - KNEE) * STATURE_M, 0.0),
        "shank": _segment("shank", (KNEE - ANKLE) * STATURE_M, 0.0),
        "upper_arm": _segment("upper_arm", UPPER_ARM * STATURE_M, 0.0),
        "forearm": _segment("forearm", FOREARM * STATURE_M, 0.0),
        "hand": _segment("hand", _length("hand"), 0.0),
        "foot": foot,
        "toe": toe,
    }


def test_table_sums_to_the_whole_body() -> None:
    """6.94 + 15.96 + 16.33 + 11.17 + 2 (2.71 + 1.62 + 0.61 + 14.16 + 4.33 + 1.37) = 100 %."""
    once = {"head", "upper trunk", "middle trunk", "lower trunk"}
    total = sum(row[0] * (1 if name in once else 2) for name, row in DE_LEVA.items())
    assert total == pytest.approx(100.0, abs=1e-9)


@pytest.mark.parametrize("part", list(_expected()))
def test_inertia_of_each_link_is_the_tables(human: Robot, part: str) -> None:
    mass, center, moments = _expected()[part]
    sides = ("",) if part in ("pelvis", "chest", "head") else ("left_", "right_")
    for side in sides:
        body = human.model.body(side + part)
        assert float(body.mass[0]) == pytest.approx(mass, abs=WRITTEN_KG)
        np.testing.assert_allclose(body.ipos, center, atol=WRITTEN_M)
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, np.array(body.iquat, dtype=np.float64))
        axes = turn.reshape(3, 3)
        tensor = axes @ np.diag(body.inertia) @ axes.T
        np.testing.assert_allclose(tensor, np.diag(moments), atol=WRITTEN_KG_M2)


def test_mass_and_stature(human: Robot) -> None:
    """Top of the skull: 0.901 (hip) + 0.1423 (waist) + 0.4196 (neck) + 0.1267 + 0.1105 = 1.70."""
    assert human.mass == pytest.approx(MASS_KG, abs=1e-9)
    data = soles.posed(human.model, np.array(human.model.qpos0))
    skull = human.model.geom("skull")
    top = float(data.geom_xpos[skull.id, 2]) + float(skull.size[2])
    assert top == pytest.approx(STATURE_M, abs=2e-4)


def test_segment_lengths_are_drillis_and_continis(human: Robot) -> None:
    data = soles.posed(human.model, np.array(human.model.qpos0))

    def height(link: str) -> float:
        return float(data.xpos[human.link_id(link), 2])

    for side in ("left", "right"):
        assert height(f"{side}_thigh") == pytest.approx(HIP * STATURE_M, abs=WRITTEN_M)
        assert height(f"{side}_shank") == pytest.approx(KNEE * STATURE_M, abs=WRITTEN_M)
        assert height(f"{side}_foot") == pytest.approx(ANKLE * STATURE_M, abs=2 * WRITTEN_M)
        shoulder, elbow, wrist = (height(f"{side}_{n}") for n in ("upper_arm", "forearm", "hand"))
        assert shoulder == pytest.approx(SHOULDER * STATURE_M, abs=2 * WRITTEN_M)
        assert shoulder - elbow == pytest.approx(UPPER_ARM * STATURE_M, abs=WRITTEN_M)
        assert elbow - wrist == pytest.approx(FOREARM * STATURE_M, abs=WRITTEN_M)


def test_layout_is_the_papers() -> None:
    """25 joints, 7 a leg, 4 an arm, 3 in the torso, 31 degrees of freedom (Zheng and Yamane)."""
    human = load_robot("human25")
    names = human.joint_names
    assert len(names) == 25
    assert human.nv == 31
    leg = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll", "toe")
    arm = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow")
    for side in ("left", "right"):
        assert [n for n in names if n in {f"{side}_{part}" for part in leg}] == [
            f"{side}_{part}" for part in leg
        ]
        assert {f"{side}_{part}" for part in arm} <= set(names)
    assert {"torso_yaw", "torso_roll", "torso_pitch"} <= set(names)


def test_soles_are_no_larger_than_a_human_foot(human: Robot) -> None:
    """Heel to toe tip at most 0.152 of the stature, width at most 0.055."""
    data = soles.posed(human.model, np.array(human.model.qpos0))
    assert [(s.link, s.side) for s in human.soles] == [
        ("left_foot", "left"),
        ("left_toe", "left"),
        ("right_foot", "right"),
        ("right_toe", "right"),
    ]
    for side in ("left", "right"):
        corners = np.concatenate(
            [
                data.xpos[human.link_id(sole.link)] + sole.polygon_l
                for sole in human.soles
                if sole.side == side
            ]
        )
        size = np.ptp(corners, axis=0)
        assert 0.99 * FOOT_LENGTH * STATURE_M < size[0] <= FOOT_LENGTH * STATURE_M
        assert 0.99 * FOOT_WIDTH * STATURE_M < size[1] <= FOOT_WIDTH * STATURE_M
        assert size[2] < 1e-9
        assert np.abs(corners[:, 2]).max() < 2 * WRITTEN_M


def test_home_pose_stands_level_with_the_centre_of_mass_over_the_feet(human: Robot) -> None:
    data = soles.posed(human.model, np.array(human.home))
    mujoco.mj_comPos(human.model, data)
    lows = []
    for sole in human.soles:
        link = human.link_id(sole.link)
        turn = data.xmat[link].reshape(3, 3)
        lows.append((data.xpos[link] + sole.polygon_l @ turn.T)[:, 2])
    np.testing.assert_allclose(np.concatenate(lows), 0.0, atol=1e-9)
    ankle = float(data.xpos[human.link_id("left_foot"), 0])
    assert ankle - HEEL * LENGTH_M < float(data.subtree_com[1, 0]) < ankle + 0.5 * LENGTH_M
    assert abs(float(data.subtree_com[1, 1])) < 1e-12


def test_left_and_right_mirror_each_other(human: Robot) -> None:
    """Pitch axes keep their limits, roll and yaw axes swap and negate them; masses agree."""
    for j, name in enumerate(human.joint_names):
        if not name.startswith("left"):
            continue
        k = human.joint_names.index(name.replace("left", "right"))
        low, high = human.joint_min[k], human.joint_max[k]
        if name.endswith(("roll", "yaw")):
            low, high = -high, -low
        assert (human.joint_min[j], human.joint_max[j]) == (low, high)
        assert human.joint_torque[j] == human.joint_torque[k]
        assert human.joint_speed[j] == human.joint_speed[k]


def test_every_joint_has_all_its_limits(human: Robot) -> None:
    for limit in (human.joint_min, human.joint_max, human.joint_speed, human.joint_torque):
        assert np.all(np.isfinite(limit))
    assert np.all(human.joint_min <= 0.0)
    assert np.all(human.joint_max >= 0.0)


def test_bundled_robot_needs_no_notice(human: Robot) -> None:
    assert human.notices == ()
    assert human.source == "zoo:human25"


def test_signs_of_the_joints() -> None:
    """Hips and elbows flex forward, knees backward, toes bend up, the torso bows forward."""
    human = load_robot("human25")
    limits = dict(
        zip(human.joint_names, zip(human.joint_min, human.joint_max, strict=True), strict=True)
    )
    degrees = {name: tuple(round(math.degrees(x)) for x in ends) for name, ends in limits.items()}
    assert degrees["left_hip_pitch"] == (-120, 30)
    assert degrees["left_knee"] == (0, 135)
    assert degrees["left_elbow"] == (-150, 0)
    assert degrees["left_toe"] == (-70, 40)
    assert degrees["torso_pitch"] == (-30, 80)

    def moved(joint: str, angle: float, link: str) -> Array:
        qpos = np.array(human.model.qpos0)
        before = np.array(soles.posed(human.model, qpos).xpos[human.link_id(link)])
        qpos[human.joint_qposadr[human.joint_names.index(joint)]] = angle
        after = soles.posed(human.model, qpos).xpos[human.link_id(link)]
        return np.asarray(after - before, dtype=np.float64)

    assert moved("left_hip_pitch", -0.3, "left_shank")[0] > 0.1
    assert moved("left_hip_roll", 0.3, "left_shank")[1] > 0.1
    assert moved("left_knee", 0.3, "left_foot")[0] < -0.1
    assert moved("left_elbow", -0.3, "left_hand")[0] > 0.05
    assert moved("left_shoulder_roll", 0.3, "left_forearm")[1] > 0.05
    assert moved("torso_pitch", 0.3, "head")[0] > 0.1
    assert moved("left_ankle_pitch", 0.3, "left_toe")[2] < -0.02


def test_every_part_of_the_body_has_its_landmark(human: Robot) -> None:
    assert set(human.landmarks) == set(CANONICAL_NAMES)
    for part, mark in human.landmarks.items():
        human.link_id(mark.link)
        for side in ("left", "right"):
            if part.startswith(side):
                assert mark.link.startswith(side)


def test_model_stands_in_no_ones_way(human: Robot) -> None:
    """No spring, no damper, no friction in the joints; shapes touch the ground, not each other."""
    model = human.model
    assert not np.any(model.dof_damping)
    assert not np.any(model.jnt_stiffness)
    assert not np.any(model.dof_frictionloss)
    assert not np.any(model.geom_contype)
    assert np.all(model.geom_conaffinity == 1)
