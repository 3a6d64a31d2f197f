"""How sure d is: what small changes of the input do, and which way."""

from __future__ import annotations

import json
import pathlib
from itertools import pairwise

import numpy as np
import pytest

from make.robots import biped, written
from make.verdicts import clip_of, lifting, lively, sole_stance
from surefoot.index.budget import budgeted
from surefoot.index.index import Budget, Feasibility, Options, feasibility
from surefoot.motion.contact import Stance
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot


@pytest.fixture(scope="module")
def two_legs(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("biped"))


def _clip(robot: Robot, friction: float = 0.4) -> Clip:
    motion = lively(robot)
    end = float(motion.time[-1])
    return clip_of(
        motion,
        robot,
        sole_stance(robot, "left", 0.0, 0.7 * end, friction=friction),
        sole_stance(robot, "right", 0.3 * end, end, friction=friction),
    )


@pytest.fixture(scope="module")
def found(two_legs: Robot) -> Feasibility:
    clip = _clip(two_legs)
    return budgeted(feasibility(clip, two_legs, Options(rate_hz=100.0)), clip)


def _budget(found: Feasibility) -> Budget:
    assert found.budget is not None
    return found.budget


def test_every_change_of_the_public_promise_is_a_case(found: Feasibility) -> None:
    names = [name for name, _, _ in _budget(found).cases]
    assert names == [
        "interpolation six-frame",
        "smoothed at 10 Hz",
        "smoothed at 6 Hz",
        "soles -2 mm",
        "soles +2 mm",
        "ground -10 mm",
        "ground +10 mm",
        "mass of pelvis -5 % of the robot's",
        "mass of pelvis +5 % of the robot's",
        "friction -0.1",
        "friction +0.1",
    ]


def test_the_band_holds_d_and_every_case(found: Feasibility) -> None:
    budget = _budget(found)
    assert np.all(budget.low <= found.lower)
    assert np.all(found.upper <= budget.high)
    assert np.any(budget.low < found.lower - 0.1)
    worst = max(worst for _, worst, _ in budget.cases) * found.weight_n
    assert budget.high.max() >= worst * (1.0 - 0.06)  # heavier robots weigh 5 % more
    assert not budget.low.flags.writeable


def _cases(robot: Robot, options: Options, clip: Clip) -> dict[str, tuple[float, float]]:
    cases = _budget(budgeted(feasibility(clip, robot, options), clip)).cases
    return {name: (worst, share) for name, worst, share in cases}


@pytest.mark.parametrize("override", [None, 0.15])
def test_each_case_moves_the_way_it_must(two_legs: Robot, override: float | None) -> None:
    """A larger sole holds all that a smaller one does, and so does more friction."""
    options = Options(rate_hz=50.0, friction=override, tolerance=1e-6)
    clip = _clip(two_legs, 0.15)
    own = feasibility(clip, two_legs, options)
    cases = _cases(two_legs, options, clip)
    for what in ("soles {}2 mm", "friction {}0.1"):
        rows = [cases[what.format("-")], (float(own.upper.max()) / own.weight_n,
                float(own.feasible.mean())), cases[what.format("+")]]  # fmt: skip
        for (worst, share), (then, more) in pairwise(rows):
            assert then <= worst + 1e-6
            assert more >= share
        assert rows[0] != rows[2], what


def test_the_bands_of_soles_and_friction_are_ordered_at_every_sample(two_legs: Robot) -> None:
    """By clips that are changed by hand instead."""
    options = Options(rate_hz=50.0, tolerance=1e-6)
    own = feasibility(_clip(two_legs, 0.4), two_legs, options)
    more = feasibility(_clip(two_legs, 0.5), two_legs, options)
    band = _budget(budgeted(own, _clip(two_legs, 0.4)))
    assert np.all(band.low <= more.lower)
    assert dict((n, w) for n, w, _ in band.cases)["friction +0.1"] == pytest.approx(
        more.upper.max() / more.weight_n, rel=1e-12
    )


def test_raised_ground_raises_the_vertices_and_lowered_ground_helps(two_legs: Robot) -> None:
    """At rest on two feet: d = −F c / √(c² + h² + L²), h from the pelvis to the ground."""
    clip = lifting(two_legs, lift=1.0)
    cases = _cases(two_legs, Options(rate_hz=20.0), clip)
    com_x = (2 * 1.5 * 0.01 + 2 * 0.5 * 0.03) / 16.0

    def d(height: float, sole: float = 0.0) -> float:
        """Every side of the outlines moves, by 2 mm."""
        c = 0.06 + sole
        return float(-(c + com_x) / np.sqrt(c**2 + height**2 + 1.0))

    assert cases["ground -10 mm"][0] == pytest.approx(d(0.86), rel=1e-9)
    assert cases["ground +10 mm"][0] == pytest.approx(d(0.84), rel=1e-9)
    assert cases["soles +2 mm"][0] == pytest.approx(d(0.85, 0.002), rel=1e-9)
    assert cases["soles -2 mm"][0] == pytest.approx(d(0.85, -0.002), rel=1e-9)


def test_more_mass_in_the_trunk_moves_the_centre_of_mass(two_legs: Robot) -> None:
    """The pelvis' own lies at x = 0: 0.8 kg more of 16.8 kg draw the centre of mass back."""
    cases = _cases(two_legs, Options(rate_hz=20.0), lifting(two_legs, lift=1.0))
    for sign, mass in (("+", 16.8), ("-", 15.2)):
        com_x = (2 * 1.5 * 0.01 + 2 * 0.5 * 0.03) / mass
        d = -(0.06 + com_x) / np.sqrt(0.06**2 + 0.85**2 + 1.0)
        assert cases[f"mass of pelvis {sign}5 % of the robot's"][0] == pytest.approx(d, rel=1e-9)


def test_a_robot_of_many_light_links_is_budgeted_too(tmp_path: pathlib.Path) -> None:
    """Its heaviest link has less than 5 % of the mass: it loses half of its own."""
    chain = "".join(
        f'<body pos="0 0 0.01"><inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
        f'<joint name="spine{i}" axis="0 1 0" range="-0.1 0.1"/>'
        for i in range(30)
    )
    foot = (
        '<body name="{s}_foot" pos="0 {y} -0.5">'
        '<inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
        '<joint name="{s}_ankle" axis="0 1 0" range="-1 1"/>'
        '<geom type="box" pos="0 0 -0.02" size="0.1 0.05 0.02" density="0"/></body>'
    )
    feet = foot.format(s="left", y=0.1) + foot.format(s="right", y=-0.1)
    text = (
        '<mujoco model="worm"><worldbody><body name="trunk" pos="0 0 0.54"><freejoint/>'
        '<inertial pos="0 0 0" mass="1.2" diaginertia="0.01 0.01 0.01"/>'
        f"{feet}{chain}{'</body>' * 30}</body></worldbody></mujoco>"
    )
    worm = load_robot(written(text, tmp_path, "worm.xml"))
    cases = _cases(worm, Options(rate_hz=10.0), lifting(worm, lift=1.0))
    assert "mass of trunk -2 % of the robot's" in cases


def test_a_point_contact_stays_one(two_legs: Robot) -> None:
    motion = lifting(two_legs).motion
    tip = Stance("left_foot", 0.0, 1.0, "point", np.array([[0.14, 0.0, -0.03]]))
    cases = _cases(two_legs, Options(rate_hz=10.0), clip_of(motion, two_legs, tip))
    assert cases["soles -2 mm"] == cases["soles +2 mm"]


def test_own_smoothing_is_no_case_and_none_is_one(two_legs: Robot) -> None:
    clip = _clip(two_legs)
    options = Options(rate_hz=50.0, smooth_hz=6.0, interpolation="six-frame")
    names = list(_cases(two_legs, options, clip))
    assert names[:3] == ["interpolation spline", "no smoothing", "smoothed at 10 Hz"]
    plain = feasibility(clip, two_legs, Options(rate_hz=50.0, interpolation="six-frame"))
    assert _cases(two_legs, options, clip)["no smoothing"][0] == pytest.approx(
        plain.upper.max() / plain.weight_n, rel=1e-12
    )


def test_the_summary_has_the_cases_and_no_infinity(found: Feasibility) -> None:
    summary = found.summary()["budget"]
    assert isinstance(summary, dict)
    assert len(summary["cases"]) == 11
    assert set(summary["cases"][0]) == {"change", "worst_over_weight", "feasible_fraction"}
    json.dumps(summary, allow_nan=False)
    everything = Budget((("soles", -np.inf, 1.0),), np.zeros(1), np.zeros(1)).summary()
    assert '"worst_over_weight": null' in json.dumps(everything, allow_nan=False)


def test_progress_names_each_case(two_legs: Robot) -> None:
    clip, said = lifting(two_legs), []
    own = feasibility(clip, two_legs, Options(rate_hz=20.0))
    after = budgeted(own, clip, lambda done, total, text: said.append((done, total, text)))
    assert said[0] == (0, 11, "what if: interpolation six-frame")
    assert len(said) == 11
    assert after.seconds > own.seconds
