"""Poses are what was asked: compared with MuJoCo, finite differences and scipy's minimiser."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest
from scipy.optimize import minimize

from make.targets import (
    all_frames,
    engine_cost,
    engine_poses,
    moved,
    random_poses,
    slopes,
    torn,
)
from make.trees import BRANCHED, PLANAR, robot_of
from surefoot.errors import BadMotion, UnknownName
from surefoot.kernels.reach import reach
from surefoot.kinematics import (
    DirectionTarget,
    Options,
    OrientationTarget,
    Pin,
    PointTarget,
    solve,
    warm_up,
)
from surefoot.motion import rotation
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

MADE = {"branched": BRANCHED, "planar": PLANAR}
EXACT = Options(iterations=3000, tolerance=1e-9, start="fixed")


@pytest.fixture(
    scope="module", params=[*MADE, "human25", pytest.param("g1", marks=pytest.mark.shared)]
)
def robot(request: pytest.FixtureRequest) -> Robot:
    """Two made trees, the bundled robot, and the shared g1 where it is."""
    name: str = request.param
    if name in MADE:
        return robot_of(MADE[name])
    if name == "g1":
        shared = request.getfixturevalue("shared")
        return load_robot(shared / "data" / "robots" / "g1" / "g1_bm_no_mesh_box_feet.xml")
    return load_robot(name)


@pytest.fixture(scope="module")
def tree() -> Robot:
    """A made robot with two branches, a slide and odd axes, without limits."""
    return robot_of(BRANCHED)


@pytest.fixture(scope="module")
def limited(tree: Robot) -> Robot:
    """The same with narrow limits and speeds: ±0.4 about zero, 2 rad/s."""
    m = len(tree.joint_names)
    return dataclasses.replace(
        tree, joint_min=np.full(m, -0.4), joint_max=np.full(m, 0.4), joint_speed=np.full(m, 2.0)
    )


@pytest.fixture(scope="module")
def planar() -> Robot:
    """A made robot in the x-z plane, without limits."""
    return robot_of(PLANAR)


def times(n: int) -> np.ndarray:
    """Even times, 30 frames a second."""
    return np.arange(n) / 30.0


def test_reachable_frames_are_met(robot: Robot) -> None:
    """1,000 random poses (seed 1), each sought from up to 0.3 rad and 0.3 m beside it (seed 2)."""
    wanted = random_poses(robot, 1000, 1)
    options = Options(start="fixed", posture_weight=0.0)

    solution = solve(
        robot,
        all_frames(robot, wanted),
        time=times(1000),
        start_qpos=moved(robot, wanted, 0.3, 2),
        options=options,
    )

    found, asked = (engine_poses(robot, qpos)[0] for qpos in (solution.qpos, wanted))
    assert np.max(np.abs(found - asked)) < 1e-6
    assert solution.converged.all()
    assert np.max(solution.residual) < 1e-6
    assert solution.notices == ()


def test_the_cost_has_no_slope_at_the_solution(robot: Robot) -> None:
    """Full cost by MuJoCo, slopes by central differences: all rows of all kinds of target count.

    Differences of a cost of 1 with steps of 1e-5 err by some 1e-10; slopes far away are about 1.
    """
    wanted = random_poses(robot, 5, 3)
    free = dataclasses.replace(
        robot,
        joint_min=np.full(len(robot.joint_names), -np.inf),
        joint_max=np.full(len(robot.joint_names), np.inf),
    )
    targets = torn(free, wanted, 4)

    solution = solve(free, targets, time=times(5), start_qpos=wanted, options=EXACT)

    assert solution.converged.all()
    steepest = [
        np.max(np.abs(slopes(free, targets, i, q, EXACT))) for i, q in enumerate(solution.qpos)
    ]
    before = [np.max(np.abs(slopes(free, targets, i, q, EXACT))) for i, q in enumerate(wanted)]
    assert min(before) > 0.1
    assert max(steepest) < 1e-6


def test_the_residual_is_the_root_of_the_weighted_squares(tree: Robot) -> None:
    wanted = random_poses(tree, 5, 5)
    targets = torn(tree, wanted, 6)

    solution = solve(
        tree, targets, time=times(5), start_qpos=wanted, options=Options(start="fixed")
    )

    bare = Options(posture_weight=0.0)
    for i, q in enumerate(solution.qpos):
        assert solution.residual[i] ** 2 == pytest.approx(
            engine_cost(tree, targets, i, q, bare), rel=1e-12
        )


def test_limits_are_kept_and_left_where_the_cost_falls_inwards(limited: Robot) -> None:
    """Kuhn and Tucker: no slope inside; at the lower limit it rises, at the upper one it falls."""
    wanted = random_poses(
        dataclasses.replace(limited, joint_min=-np.ones(6), joint_max=np.ones(6)), 200, 7
    )
    targets = torn(limited, wanted, 8)

    solution = solve(limited, targets, time=times(200), start_qpos=limited.home, options=EXACT)

    joints = solution.qpos[:, limited.joint_qposadr]
    low, high = joints == limited.joint_min, joints == limited.joint_max
    assert np.all(joints >= limited.joint_min)
    assert np.all(joints <= limited.joint_max)
    assert np.mean(low | high) > 0.2
    assert np.max(np.abs(np.linalg.norm(solution.qpos[:, 3:7], axis=1) - 1.0)) < 1e-12
    assert np.mean(solution.converged) > 0.95
    for i in np.flatnonzero(solution.converged)[:25]:
        slope = slopes(limited, targets, i, solution.qpos[i], EXACT)
        joint_slope = slope[limited.joint_dofadr]
        assert np.max(np.abs(slope[:6])) < 1e-6
        assert np.all(np.abs(joint_slope[~(low[i] | high[i])]) < 1e-6)
        assert np.all(joint_slope[low[i]] > -1e-6)
        assert np.all(joint_slope[high[i]] < 1e-6)


def test_scipy_finds_no_smaller_cost(planar: Robot) -> None:
    """L-BFGS-B with the same bounds from the same start, 6 poses (seeds 9 and 10)."""
    bounded = dataclasses.replace(planar, joint_min=np.full(2, -0.5), joint_max=np.full(2, 0.5))
    wanted = random_poses(bounded, 6, 9)
    targets = torn(bounded, wanted, 10)
    bounds = [(None, None)] * 3 + [(-0.5, 0.5)] * 2

    solution = solve(bounded, targets, time=times(6), start_qpos=wanted, options=EXACT)

    assert solution.converged.all()
    for i, q in enumerate(solution.qpos):
        other = minimize(
            lambda p, i=i: engine_cost(bounded, targets, i, p, EXACT),
            wanted[i],
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000},
        )
        assert engine_cost(bounded, targets, i, q, EXACT) <= other.fun + 1e-9


def test_speed_limits_are_kept_over_uneven_times(limited: Robot) -> None:
    rng = np.random.default_rng(11)
    time = np.cumsum(rng.uniform(0.005, 0.05, 150))
    wanted = random_poses(limited, 150, 12)

    solution = solve(
        limited,
        all_frames(limited, wanted),
        time=time,
        start_qpos=limited.home,
        options=Options(limit_speed=True),
    )

    joints = solution.qpos[:, limited.joint_qposadr]
    speed = np.abs(np.diff(joints, axis=0)) / np.diff(time)[:, None]
    assert np.max(speed) <= 2.0 * (1.0 + 1e-12)
    assert np.mean(speed > 1.999) > 0.3
    assert np.all(np.abs(joints) <= 0.4)


def test_pins_hold_while_targets_pull(tree: Robot) -> None:
    """Two pins on one link, targets that are 0.3 off; and no slope along the pinned poses.

    The pins' Jacobian is MuJoCo's mj_jac; slopes are taken in its null space.
    """
    wanted = random_poses(tree, 20, 13)
    targets = torn(tree, wanted, 14)
    pos, quat = engine_poses(tree, wanted)
    b = tree.link_id("plate")
    points = np.array([[0.05, 0.0, 0.0], [-0.05, 0.1, 0.0]])
    active = np.arange(20) % 4 != 3
    places = [pos[:, b] + rotation.rotate(quat[:, b], p) for p in points]
    pins = [Pin("plate", p, place, active) for p, place in zip(points, places, strict=True)]

    solution = solve(tree, targets, time=times(20), start_qpos=wanted, pins=pins, options=EXACT)

    found_pos, found_quat = engine_poses(tree, solution.qpos)
    found = [found_pos[:, b] + rotation.rotate(found_quat[:, b], p) for p in points]
    off = np.max(
        [np.linalg.norm(f - p, axis=1) for f, p in zip(found, places, strict=True)], axis=0
    )
    assert np.max(off[active]) < 1e-6
    assert np.min(off[~active]) > 1e-3
    np.testing.assert_allclose(solution.pin_error_m, np.where(active, off, 0.0), atol=1e-12)
    assert solution.converged.all()
    assert solution.notices == ()
    data = mujoco.MjData(tree.model)
    for i in np.flatnonzero(active):
        data.qpos[:] = solution.qpos[i]
        mujoco.mj_kinematics(tree.model, data)
        mujoco.mj_comPos(tree.model, data)
        J = np.zeros((6, tree.nv))
        for k in range(2):
            mujoco.mj_jac(tree.model, data, J[3 * k : 3 * k + 3], None, found[k][i], b)
        along = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-9) :]
        slope = slopes(tree, targets, i, solution.qpos[i], EXACT)
        assert np.max(np.abs(along @ slope)) < 1e-5
        assert np.max(np.abs(slope)) > 1e-2


def test_four_pins_hold_a_sole_though_three_would_do(robot: Robot) -> None:
    """Redundant pins at the corners of a plate of 0.1 m on the last link; the rest pulls."""
    wanted = random_poses(robot, 30, 15)
    pos, quat = engine_poses(robot, wanted)
    links = [name for name in robot.link_names if name != "rock"]
    last = links[-1]
    b = robot.link_id(last)
    corners = np.array([[x, y, 0.0] for x in (-0.05, 0.05) for y in (-0.05, 0.05)])
    active = np.ones(30, dtype=np.bool_)
    pins = [Pin(last, c, pos[:, b] + rotation.rotate(quat[:, b], c), active) for c in corners]
    pulled = PointTarget(links[0], np.zeros(3), pos[:, robot.link_id(links[0])] + 0.2, 10.0)

    solution = solve(
        robot,
        [pulled],
        time=times(30),
        start_qpos=moved(robot, wanted, 0.2, 16),
        pins=pins,
        options=Options(start="fixed", iterations=200),
    )

    assert np.max(solution.pin_error_m) < 1e-6


def test_a_pin_out_of_reach_is_said(planar: Robot) -> None:
    """Trunk and ankle come no farther apart than 0.1 m down to the hip and 0.4 m of leg.

    Two pins 3 m apart are missed by the rest, half each: (3 − 0.5) / 2 = 1.25 m.
    """
    place = np.zeros((2, 3))
    active = np.array([False, True])
    pins = [
        Pin("trunk", np.zeros(3), place, active),
        Pin("foot", np.zeros(3), place + np.array([3.0, 0.1, 0.0]), active),
    ]

    solution = solve(planar, [], time=times(2), start_qpos=planar.home, pins=pins)

    assert solution.pin_error_m[0] == 0.0
    assert solution.pin_error_m[1] == pytest.approx(1.25, abs=1e-4)
    sentence = next(n.sentence for n in solution.notices if n.kind == "pin")
    assert sentence.startswith("a pin is missed by up to 1.")
    assert sentence.endswith("m, most at 0.033 s: out of reach in 1 of 2 frames")


def test_frames_from_fixed_starts_do_not_know_each_other(limited: Robot) -> None:
    wanted = random_poses(limited, 40, 17)
    targets = torn(limited, wanted, 18)
    cut = [
        dataclasses.replace(
            t,
            **{
                name: getattr(t, name)[15:]
                for name in ("position_w", "direction_w", "quat_wl")
                if hasattr(t, name)
            },
            weight=t.weight[15:] if np.shape(t.weight) == (40, 3) else t.weight,
        )
        for t in targets
    ]
    options = Options(start="fixed")

    whole = solve(limited, targets, time=times(40), start_qpos=wanted, options=options)
    part = solve(limited, cut, time=times(40)[15:], start_qpos=wanted[15:], options=options)

    assert part.qpos.tobytes() == whole.qpos[15:].tobytes()


def test_the_same_problem_gives_the_same_bytes(robot: Robot) -> None:
    wanted = random_poses(robot, 20, 19)
    targets = torn(robot, wanted, 20)

    first, second = (solve(robot, targets, time=times(20), start_qpos=robot.home) for _ in range(2))

    assert first.qpos.tobytes() == second.qpos.tobytes()


def test_a_warm_start_follows_a_smooth_motion_in_few_steps(tree: Robot) -> None:
    """A pose that swings by ±0.5 at 0.5 Hz, 60 frames of 1/30 s: three steps a frame and exact."""
    time = times(60)
    wanted = np.tile(random_poses(tree, 1, 21), (60, 1))
    wanted[:, tree.joint_qposadr] += 0.5 * np.sin(np.pi * time)[:, None]

    solution = solve(
        tree,
        all_frames(tree, wanted),
        time=time,
        start_qpos=wanted[0],
        options=Options(posture_weight=0.0),
    )

    assert np.max(np.abs(solution.qpos - wanted)) < 1e-9
    assert np.mean(solution.iterations) <= 4.0


def test_without_targets_the_joints_take_the_posture_and_the_root_stays(robot: Robot) -> None:
    start = random_poses(robot, 1, 22)[0]
    posture = random_poses(robot, 1, 23)[0]

    solution = solve(
        robot,
        [],
        time=times(1),
        start_qpos=start,
        options=Options(posture_qpos=posture, iterations=100),
    )

    at = robot.joint_qposadr
    root = 7 if robot.root_kind == "free" else 3
    # the damping of 1e-6 beside 0.03² leaves a thousandth of the way after each step
    np.testing.assert_allclose(solution.qpos[0, at], posture[at], atol=1e-8)
    np.testing.assert_allclose(solution.qpos[0, :root], start[:root], atol=1e-12)


def test_weight_zero_switches_a_target_off_frame_by_frame(tree: Robot) -> None:
    wanted = random_poses(tree, 3, 24)
    pos, _ = engine_poses(tree, wanted)
    b = tree.link_id("hand")
    on = np.array([1.0, 0.0, 1.0])
    target = PointTarget("hand", np.zeros(3), pos[:, b], 5.0 * on)
    start = moved(tree, wanted, 0.2, 25)
    options = Options(start="fixed", posture_weight=0.0)

    solution = solve(tree, [target], time=times(3), start_qpos=start, options=options)

    found, _ = engine_poses(tree, solution.qpos)
    np.testing.assert_allclose(found[on > 0.0, b], pos[on > 0.0, b], atol=1e-8)
    np.testing.assert_array_equal(
        solution.qpos[1, tree.joint_qposadr], start[1, tree.joint_qposadr]
    )


def test_axis_weights_leave_the_turn_about_the_other_axes_free(tree: Robot) -> None:
    """Only the z axis of the hand is asked for: its x and y turns stay where the start had them."""
    wanted = np.tile(tree.home, (1, 1))
    quat = np.array([[np.cos(0.2), 0.0, 0.0, np.sin(0.2)]])
    target = OrientationTarget("base", quat, np.array([0.0, 0.0, 1.0]))
    start = wanted.copy()
    start[0, 3:7] = rotation.from_rotvec(np.array([0.1, -0.2, 0.0]))

    solution = solve(tree, [target], time=times(1), start_qpos=start)

    goal = rotation.conjugate(quat)
    off = rotation.as_rotvec(rotation.multiply(goal, solution.qpos[:, 3:7]))[0]
    assert abs(off[2]) < 1e-7
    assert np.hypot(off[0], off[1]) > 0.15


def test_a_frame_that_did_not_converge_is_said(tree: Robot) -> None:
    wanted = random_poses(tree, 4, 26)

    solution = solve(
        tree,
        all_frames(tree, wanted),
        time=times(4),
        start_qpos=tree.home,
        options=Options(iterations=1),
    )

    assert not solution.converged.any()
    assert [n.sentence for n in solution.notices] == [
        "4 of 4 frames did not converge in 1 iterations"
    ]


def test_joint_range_narrows_and_never_widens(limited: Robot) -> None:
    wanted = random_poses(limited, 50, 27)
    options = Options(joint_range={"hip": (-0.1, 5.0), "wrist": (0.2, 0.2)})

    solution = solve(
        limited, torn(limited, wanted, 28), time=times(50), start_qpos=wanted, options=options
    )

    joints = solution.qpos[:, limited.joint_qposadr]
    hip, wrist = (limited.joint_names.index(name) for name in ("hip", "wrist"))
    assert np.all((joints[:, hip] >= -0.1) & (joints[:, hip] <= 0.4))
    assert np.any(joints[:, hip] == -0.1)
    assert np.all(joints[:, wrist] == 0.2)


def test_a_straight_line_of_no_length_is_left_out(planar: Robot) -> None:
    """Hip and trunk point coincide in every pose: the direction between them means nothing."""
    target = DirectionTarget(
        "trunk", np.array([0.0, 0.1, -0.1]), "leg", np.zeros(3), np.array([[0.0, 0.0, 1.0]])
    )

    solution = solve(planar, [target], time=times(1), start_qpos=planar.home)

    np.testing.assert_array_equal(solution.qpos[0], planar.home)
    assert solution.residual[0] == 0.0


def test_all_calls_share_one_compilation(tree: Robot, planar: Robot) -> None:
    """Locked, writable and strided arrays, with pins and without, reach it as one flavour."""
    if not hasattr(reach, "signatures"):
        pytest.skip("numba is switched off (NUMBA_DISABLE_JIT)")
    warm_up(planar)
    wanted = random_poses(tree, 4, 29)
    spread = np.repeat(wanted, 2, axis=1)[:, ::2]
    active = np.array([True, False, True, True])
    pins = [Pin("hand", np.zeros(3), np.zeros((4, 3)), active)]

    solve(tree, torn(tree, wanted, 30), time=times(4), start_qpos=spread, pins=pins)
    solve(tree, [], time=np.arange(8.0)[::2], start_qpos=tree.home, options=Options(start="fixed"))

    assert len(reach.signatures) == 1


def point(tree: Robot, n: int = 2) -> PointTarget:
    """Some target."""
    return PointTarget("hand", np.zeros(3), np.zeros((n, 3)))


def test_an_unknown_link_is_answered_with_the_nearest(tree: Robot) -> None:
    target = PointTarget("hant", np.zeros(3), np.zeros((1, 3)))
    with pytest.raises(UnknownName, match=r"'hant' is not in robot 'made'.*'hand'"):
        solve(tree, [target], time=times(1), start_qpos=tree.home)


def test_another_number_of_frames_is_refused(tree: Robot) -> None:
    with pytest.raises(BadMotion) as error:
        solve(tree, [point(tree)], time=times(5), start_qpos=tree.home)
    assert str(error.value) == "expected 5 frames, as time has, got 2 (point target on 'hand')"


def test_a_start_of_another_shape_is_refused(tree: Robot) -> None:
    with pytest.raises(BadMotion) as error:
        solve(tree, [point(tree)], time=times(2), start_qpos=np.zeros((3, 13)))
    assert (
        str(error.value) == "expected start_qpos (13,) or (2, 13), got (3, 13) (inverse kinematics)"
    )


def test_a_start_that_is_not_finite_is_refused(tree: Robot) -> None:
    start = np.tile(tree.home, (2, 1))
    start[1, 8] = np.nan
    with pytest.raises(BadMotion) as error:
        solve(tree, [point(tree)], time=times(2), start_qpos=start)
    assert str(error.value) == "start_qpos is not finite in frame 1 (inverse kinematics)"
