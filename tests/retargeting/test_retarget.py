"""Plain retargeting: known answers from clips that the robot itself could have made."""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np
import pytest

import surefoot as sf
from make.people import person_of, turned
from surefoot.contacts.balance import balance
from surefoot.contacts.quality import judge
from surefoot.dynamics.batch import Batch
from surefoot.errors import BadMotion, BadOption, BadRobot, UnknownSkeleton
from surefoot.motion import rotation
from surefoot.motion.curves import rates
from surefoot.motion.human import HumanClip
from surefoot.motion.motion import Motion
from surefoot.retargeting.anatomy import anatomy
from surefoot.retargeting.retarget import Options, limb_errors, retarget
from surefoot.robots.robot import Robot


@pytest.fixture(scope="module")
def human25() -> Robot:
    return sf.load_robot("human25")


@pytest.fixture(scope="module")
def swaying(human25: Robot) -> Motion:
    """The robot sways with its joints well inside their limits, one foot forward of the other."""
    n = 60
    time = np.arange(n) / 30.0
    wave = np.sin(2.0 * np.pi * 0.5 * time)
    joint_pos = np.zeros((n, len(human25.joint_names)))
    bends = {
        "left_hip_pitch": -0.35 - 0.1 * wave,
        "left_knee": 0.6 + 0.1 * wave,
        "left_ankle_pitch": -0.25 + 0.0 * wave,
        "right_hip_pitch": -0.2 + 0.1 * wave,
        "right_knee": 0.3 - 0.1 * wave,
        "left_hip_roll": 0.08 + 0.04 * wave,
        "left_shoulder_pitch": -0.3 + 0.3 * wave,
        "left_shoulder_roll": 0.4 + 0.0 * wave,
        "left_elbow": -0.7 + 0.2 * wave,
        "right_shoulder_roll": -0.3 + 0.1 * wave,
        "right_elbow": -0.5 - 0.2 * wave,
        "torso_yaw": 0.2 * wave,
    }
    for name, values in bends.items():
        j = human25.joint_names.index(name)
        joint_pos[:, j] = np.clip(values, human25.joint_min[j] + 0.02, human25.joint_max[j] - 0.02)
    return Motion(
        time=time,
        root_pos=np.stack([0.1 * time, 0.03 * wave, 0.9 + 0.0 * time], axis=1),
        root_quat=np.repeat([[1.0, 0.0, 0.0, 0.0]], n, axis=0),
        joint_names=human25.joint_names,
        joint_pos=joint_pos,
    )


def test_a_person_with_the_robots_own_body_is_followed_limb_by_limb(
    human25: Robot, swaying: Motion
) -> None:
    """The person is the robot: scale 1, and a pose with no error exists at every frame.

    What remains is the pull of the posture term (0.03 against 1) and of the pelvis, which is set
    upright on average.
    """
    human = person_of(human25, swaying)
    clip = retarget(human, human25)
    error = np.degrees(limb_errors(clip.motion, human25, anatomy(human)))
    assert error.shape == (60, 8)
    assert error.mean() < 0.3
    assert clip.meta.history[0].parameters["scale"] == pytest.approx(1.0, abs=1e-9)


def test_turning_the_person_about_the_vertical_turns_the_robot_and_no_joint(
    human25: Robot, swaying: Motion
) -> None:
    human = person_of(human25, swaying)
    straight, turned_clip = retarget(human, human25), retarget(turned(human, 1.1), human25)
    gap = straight.motion.joint_pos - turned_clip.motion.joint_pos
    assert np.abs(gap).max() < 1e-5


def test_frames_do_not_depend_on_where_the_clip_begins(human25: Robot, swaying: Motion) -> None:
    """Calibrations look at the whole clip, so equality holds for a clip whose halves are alike.

    The low pass would reach across the seam of the halves.
    """
    human = person_of(human25, swaying)
    twice = dataclasses.replace(
        human,
        time=np.arange(120) / 30.0,
        root_pos=np.concatenate([human.root_pos, human.root_pos]),
        joint_quat=np.concatenate([human.joint_quat, human.joint_quat]),
    )
    clip = retarget(twice, human25, options=Options(smooth_hz=None))
    halves = clip.motion.joint_pos[:60], clip.motion.joint_pos[60:]
    assert np.abs(halves[0] - halves[1]).max() < 1e-9


def test_a_taller_person_walks_a_scaled_path(human25: Robot, swaying: Motion) -> None:
    """The same path to a millimetre. Joints may differ by some 0.1°: stillness is judged in m/s."""
    human = person_of(human25, swaying)
    skeleton = dataclasses.replace(human.skeleton, offsets=2.0 * human.skeleton.offsets)
    giant = dataclasses.replace(human, skeleton=skeleton, root_pos=2.0 * human.root_pos)
    clip = retarget(giant, human25)
    assert clip.meta.history[0].parameters["scale"] == pytest.approx(0.5, abs=1e-9)
    same = retarget(human, human25)
    assert np.abs(clip.motion.root_pos - same.motion.root_pos).max() < 1e-3


def test_the_lowest_level_of_the_soles_is_the_ground(human25: Robot, swaying: Motion) -> None:
    clip = retarget(person_of(human25, swaying), human25)
    batch = Batch(human25, human25.qpos(clip.motion))
    lowest = min(batch.points_w(s.link, s.polygon_l)[:, :, 2].min() for s in human25.soles)
    assert -0.04 < lowest < 0.005


def test_joints_stay_within_their_limits(human25: Robot) -> None:
    clip = retarget(sf.read(str(_bundled())), human25)
    assert judge(clip, human25).position_limit_violations == 0


def _bundled() -> pathlib.Path:
    from surefoot.samples import bundled

    return bundled.path("sidestep")


def test_the_rate_of_the_result_is_the_rate_asked_for(human25: Robot, swaying: Motion) -> None:
    human = person_of(human25, swaying)
    clip = retarget(human, human25, options=Options(rate_hz=50.0))
    assert clip.motion.fps == pytest.approx(50.0, rel=0.02)
    assert clip.motion.time[-1] == human.time[-1]


def _ending_at(human: HumanClip, ends: tuple[str, ...], *, tips: bool) -> HumanClip:
    """The person without toes and wrists as joints: with tips instead, or with nothing."""
    old = human.skeleton
    kept = [i for i, name in enumerate(old.joint_names) if not name.endswith(("_toe", "_wrist"))]
    new = {i: k for k, i in enumerate(kept)}
    names = tuple(old.joint_names[i] for i in kept)
    skeleton = dataclasses.replace(
        old,
        joint_names=names,
        parents=tuple(new.get(old.parents[i], -1) for i in kept),
        offsets=old.offsets[kept],
        canonical={name: k for k, name in enumerate(names)},
        end_offsets={
            new[old.parents[i]]: old.offsets[i] if tips else np.zeros(3)
            for i, name in enumerate(old.joint_names)
            if name in ends
        },
    )
    return dataclasses.replace(human, skeleton=skeleton, joint_quat=human.joint_quat[:, kept])


ENDS = ("left_toe", "right_toe", "left_wrist", "right_wrist")


def test_where_skeletons_end_in_elbows_and_ankles_the_tips_of_the_bones_are_followed(
    human25: Robot, swaying: Motion
) -> None:
    """The same points under another name; only the toes' own bend is not known."""
    human = person_of(human25, swaying)
    clip = retarget(_ending_at(human, ENDS, tips=True), human25)
    assert clip.notices[0].sentence == "left_wrist: no joint plays it, the tip of its bone is taken"
    same = retarget(human, human25).motion
    gap = np.abs(clip.motion.joint_pos - same.joint_pos).max(axis=0)
    assert {n for n, g in zip(same.joint_names, gap, strict=True) if g > 0.02} <= {
        "left_toe",
        "right_toe",
    }


def test_without_any_toes_standing_feet_are_flat_and_point_as_the_pelvis_does(
    human25: Robot, swaying: Motion
) -> None:
    human = _ending_at(person_of(human25, swaying), ENDS, tips=False)
    frames = anatomy(human).frames_wp
    for side in ("left", "right"):
        x_w = rotation.rotate(frames[f"{side}_ankle"], np.array([1.0, 0.0, 0.0]))
        mean = np.mean(x_w, axis=0)
        assert np.abs(mean[1:]).max() < 0.05
    assert retarget(human, human25).motion.n == 60


def test_toes_that_point_straight_down_tell_no_direction(human25: Robot, swaying: Motion) -> None:
    """As in files whose feet end under the ankle: there the way ahead is that of the pelvis."""
    human = _ending_at(person_of(human25, swaying), ENDS, tips=False)
    down = {i: np.array([0.0, 0.0, -0.1]) for i in human.skeleton.end_offsets}
    skeleton = dataclasses.replace(human.skeleton, end_offsets=down)
    frames = anatomy(dataclasses.replace(human, skeleton=skeleton)).frames_wp
    x_w = rotation.rotate(frames["left_ankle"], np.array([1.0, 0.0, 0.0]))
    assert np.mean(x_w, axis=0)[0] > 0.95


def test_a_limb_without_length_is_left_to_the_posture(human25: Robot, swaying: Motion) -> None:
    human = person_of(human25, swaying)
    offsets = human.skeleton.offsets.copy()
    offsets[human.skeleton.canonical["left_wrist"]] = 0.0
    skeleton = dataclasses.replace(human.skeleton, offsets=offsets)
    short = dataclasses.replace(human, skeleton=skeleton)
    clip = retarget(short, human25)
    assert limb_errors(clip.motion, human25, anatomy(short)).shape == (60, 7)


def test_one_frame_is_refused(human25: Robot, swaying: Motion) -> None:
    human = person_of(human25, swaying)
    still = dataclasses.replace(
        human, time=human.time[:1], root_pos=human.root_pos[:1], joint_quat=human.joint_quat[:1]
    )
    with pytest.raises(BadMotion, match="needs at least 2 frames"):
        retarget(still, human25)


def test_a_person_without_knees_is_refused(human25: Robot, swaying: Motion) -> None:
    human = person_of(human25, swaying)
    canonical = {k: v for k, v in human.skeleton.canonical.items() if k != "left_knee"}
    lame = dataclasses.replace(
        human, skeleton=dataclasses.replace(human.skeleton, canonical=canonical)
    )
    with pytest.raises(UnknownSkeleton, match="no joint is known as left_knee"):
        retarget(lame, human25)


def test_a_robot_without_landmarks_is_refused(human25: Robot, swaying: Motion) -> None:
    bare = dataclasses.replace(human25, landmarks={})
    with pytest.raises(BadRobot, match=r"nobody says which link is pelvis, left_hip"):
        retarget(person_of(human25, swaying), bare)


def test_a_scale_of_nothing_is_refused() -> None:
    with pytest.raises(BadOption, match="scale must be positive, got 0"):
        Options(scale=0.0)
    with pytest.raises(BadOption, match="smooth_hz must be positive, got -6"):
        Options(smooth_hz=-6.0)
    with pytest.raises(BadOption, match="rate_hz must be at most 1000 frames a second"):
        Options(rate_hz=1e9)


def _shaken(human: HumanClip, size_m: float) -> HumanClip:
    shake = np.random.default_rng(0).normal(0.0, size_m, human.root_pos.shape)
    return dataclasses.replace(human, root_pos=human.root_pos + shake)


def test_the_noise_of_markers_is_smoothed_at_six_hertz_and_said(
    human25: Robot, swaying: Motion
) -> None:
    """A millimetre of noise at 30 frames/s is 2 m/s² of acceleration: 0.001 √6 30²."""
    human = _shaken(person_of(human25, swaying), 0.001)
    clip = retarget(human, human25)
    raw = retarget(human, human25, options=Options(smooth_hz=None))
    spread = [np.std(rates(c.motion).lin_acc_w) for c in (raw, clip)]
    assert spread[0] > 1.0
    assert spread[1] < 0.2 * spread[0]
    assert "smoothing at 6 Hz moved the root by up to" in clip.notices[-1].sentence
    assert clip.meta.history[0].parameters["smooth_hz"] == 6.0
    assert raw.meta.history[0].parameters["smooth_hz"] is None


def test_smoothing_leaves_joints_inside_their_limits(human25: Robot, swaying: Motion) -> None:
    """A knee that rests straight and bends at once: the low pass would bend it backwards."""
    joint_pos = np.zeros_like(swaying.joint_pos)
    joint_pos[30:, human25.joint_names.index("left_knee")] = 0.5
    motion = dataclasses.replace(swaying, joint_pos=joint_pos)
    clip = retarget(person_of(human25, motion), human25)
    assert judge(clip, human25).position_limit_violations == 0


def _speed_excess(motion: Motion, robot: Robot) -> float:
    """Largest change of a joint from frame to frame over what its speed allows, minus 1."""
    allowed = np.diff(motion.time)[:, None] * robot.joint_speed
    return float(np.max(np.abs(np.diff(motion.joint_pos, axis=0)) / allowed)) - 1.0


def _raised_arm(motion: Motion, robot: Robot, pitch: float, turned: float, yaw: float) -> Motion:
    """The left arm, its elbow bent, goes up sideways through the shoulder's singularity at 90°."""
    u = np.linspace(0.0, 1.0, motion.n)
    joint_pos = np.zeros((motion.n, len(robot.joint_names)))
    for name, values in {
        "left_shoulder_roll": 0.7 + 1.8 * u,
        "left_shoulder_pitch": pitch + turned * u,
        "left_shoulder_yaw": 1.2 + yaw * u,
        "left_elbow": np.full(motion.n, -2.0),
    }.items():
        joint_pos[:, robot.joint_names.index(name)] = values
    return dataclasses.replace(motion, joint_pos=joint_pos)


@pytest.mark.parametrize(("pitch", "turned", "yaw"), [(-1.0, -2.0, -2.2), (-2.0, 2.0, 0.0)])
def test_an_arm_through_its_shoulders_singularity_is_followed_at_the_joints_speeds(
    human25: Robot, swaying: Motion, pitch: float, turned: float, yaw: float
) -> None:
    """The robot itself made the clip, so a pose without error exists at every frame.

    Frame by frame from the home joints, the first flips at four times the joints' speed and is
    off by 9.8°; the second, from its first frame on, begins in a wrong branch and is off by 6.7°.
    """
    human = person_of(human25, _raised_arm(swaying, human25, pitch, turned, yaw))
    clip = retarget(human, human25, options=Options(smooth_hz=None))
    assert np.degrees(limb_errors(clip.motion, human25, anatomy(human))).mean() < 0.1
    assert _speed_excess(clip.motion, human25) < 1e-6


CMU = ("83_55", "49_19", "69_16", "83_27")


@pytest.mark.slow
@pytest.mark.parametrize("name", CMU)
@pytest.mark.parametrize("body", ["human25", "g1"])
def test_cmu_clips_keep_the_directions_of_the_limbs(
    name: str, body: str, shared: pathlib.Path, human25: Robot
) -> None:
    """The notes measured 0.4° to 1.6° for directions on every clip with G1, and 12° for positions.

    On the stairs of 83_27 a foot on the upper tread is high above the local ground while the other
    still stands on the lower one: contacts know no terrain yet.
    """
    path = shared / "data/robots/g1/g1_bm_no_mesh_box_feet.xml"
    robot = human25 if body == "human25" else sf.load_robot(path)
    human = sf.read(shared / f"data/human/cmu/{name}.bvh")
    assert isinstance(human, sf.HumanClip)
    clip = retarget(human, robot)
    assert clip.motion.n == human.n - 1  # the T-pose row is gone, and said to be
    assert [n for n in clip.notices if n.kind == "repair" and "T-pose" in n.sentence]
    error = clip.meta.history[0].parameters["limb_error_deg"]
    assert isinstance(error, float)
    assert error < 2.0
    quality = judge(clip, robot)
    assert quality.position_limit_violations == 0
    assert _speed_excess(clip.motion, robot) < 1e-6  # 49_19: was 2.8 rad in one frame
    zmp = balance(clip, robot).summary()
    assert isinstance(zmp["worst_outside_m"], float)
    assert zmp["worst_outside_m"] < 2.0  # 83_55 on human25: 1,900 m when it was not smoothed
    assert quality.contact_fraction > (0.8 if name == "83_27" else 0.95)
