"""Ground and contacts of a clip: given, beside it, carried by its file, or found in the motion."""

from __future__ import annotations

import pathlib
import pickle

import numpy as np
import pytest

from make.clips import person, robot_clip
from surefoot.contacts.detect import Options
from surefoot.errors import BadFile, BadOption
from surefoot.formats.registry import describe, read, write
from surefoot.formats.surroundings import terrain_beside
from surefoot.motion.contact import ContactSchedule, Stance, Surface, Terrain
from surefoot.motion.human import HumanClip
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.robots.zoo import load_robot

N = 60
SLOPE = Terrain((Surface("plane", np.zeros(3), np.array([0.0, -0.6, 0.8])),), friction=0.4)


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("human25")


@pytest.fixture
def still(robot: Robot, tmp_path: pathlib.Path) -> pathlib.Path:
    """A table of a robot that stands still, a millimetre above the ground."""
    qpos = np.tile(robot.home, (N, 1))
    write(Clip(robot.motion(qpos, np.arange(N) / 30.0)), tmp_path / "walk.csv")
    return tmp_path / "walk.csv"


def _read(path: pathlib.Path, robot: Robot, **options: object) -> Clip:
    clip = read(path, robot=robot, **options)  # type: ignore[arg-type]
    assert isinstance(clip, Clip)
    return clip


def _sentences(clip: Clip, kind: str) -> list[str]:
    return [n.sentence for n in clip.notices if n.kind == kind]


def test_a_terrain_file_beside_the_clip_is_read_and_said(still: pathlib.Path, robot: Robot) -> None:
    assert _read(still, robot).terrain.friction == Terrain().friction
    still.with_name("walk.terrain.toml").write_text(SLOPE.as_toml())
    clip = _read(still, robot)
    assert clip.terrain.friction == 0.4
    assert "the ground is that of walk.terrain.toml beside the clip: 1 surfaces" in _sentences(
        clip, "assumption"
    )
    assert all(stance.friction == 0.4 for stance in clip.contacts.stances)


def test_a_terrain_that_is_given_goes_before_the_file_beside(
    still: pathlib.Path, robot: Robot
) -> None:
    still.with_name("walk.terrain.toml").write_text("no terrain")
    clip = _read(still, robot, terrain=Terrain(friction=0.9))
    assert clip.terrain.friction == 0.9
    assert {stance.friction for stance in clip.contacts.stances} == {0.9}
    with pytest.raises(BadFile, match=r"not TOML.*walk\.terrain\.toml"):
        read(still, robot=robot)


def test_a_native_clip_finds_its_terrain_under_either_stem(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "walk.clip.npz"
    assert terrain_beside(path) is None
    (tmp_path / "walk.terrain.toml").touch()
    assert terrain_beside(path) == tmp_path / "walk.terrain.toml"
    (tmp_path / "walk.clip.terrain.toml").touch()
    assert terrain_beside(str(path)) == tmp_path / "walk.clip.terrain.toml"


def test_contacts_that_stand_on_no_surface_are_refused(tmp_path: pathlib.Path) -> None:
    clip = robot_clip()
    last = max(stance.surface for stance in clip.contacts.stances)
    write(clip, tmp_path / "x.clip.npz")
    if last == 0:
        pytest.fail("the made clip has but one surface")
    with pytest.raises(BadOption, match=f"contacts stand on surface {last}, but the terrain has 1"):
        read(tmp_path / "x.clip.npz", terrain=Terrain())


def test_contacts_that_are_given_are_used(still: pathlib.Path, robot: Robot) -> None:
    sole = robot.soles[0]
    given = ContactSchedule((Stance(sole.link, 0.0, 0.5, "face", sole.polygon_l),))
    clip = _read(still, robot, contacts=given)
    assert clip.contacts is given
    assert _sentences(clip, "given") == ["1 stances were given"]
    none = _read(still, robot, contacts=ContactSchedule())
    assert none.contacts.stances == ()
    assert _sentences(none, "given") == ["0 stances were given"]


def test_options_of_the_detection_are_passed_on(still: pathlib.Path, robot: Robot) -> None:
    assert len(_read(still, robot).contacts.stances) == len(robot.soles)
    patient = _read(still, robot, detection=Options(shortest_s=100.0))
    assert isinstance(patient.contacts, ContactSchedule)


def test_a_person_has_no_surroundings_and_that_is_said(tmp_path: pathlib.Path) -> None:
    write(person(5), tmp_path / "x.bvh")
    human = read(tmp_path / "x.bvh", terrain=Terrain(), contacts=ContactSchedule())
    assert isinstance(human, HumanClip)
    assert human.notices[-1].sentence == (
        "terrain and contacts belong to a robot clip and are not used in reading a person"
    )


# flags of a file


def _pbhc(robot: Robot, path: pathlib.Path, mask: np.ndarray, *, lift: float = 0.0) -> pathlib.Path:
    """A file of PBHC; the right leg is lifted from frame 20 to 39 when asked for."""
    qpos = np.tile(robot.home, (N, 1))
    knee, hip = (
        robot.joint_qposadr[robot.joint_names.index(f"right_{j}")] for j in ("knee", "hip_pitch")
    )
    qpos[20:40, knee] += lift
    qpos[20:40, hip] -= 0.5 * lift
    motion = robot.motion(qpos, np.arange(N) / 30.0)
    inner = {
        "root_trans_offset": motion.root_pos,
        "root_rot": motion.root_quat[:, [1, 2, 3, 0]],
        "dof": motion.joint_pos,
        "fps": 30,
        "contact_mask": mask,
    }
    path.write_bytes(pickle.dumps({"x": inner}, 4))
    return path


def _stands(clip: Clip, robot: Robot, side: str) -> list[bool]:
    (link, *_) = [sole.link for sole in robot.soles if sole.side == side]
    return clip.contacts.standing(link, clip.motion.time).tolist()


def test_flags_of_a_file_are_used_and_compared(robot: Robot, tmp_path: pathlib.Path) -> None:
    mask = np.ones((N, 2))
    mask[20:40, 1] = 0.0
    clip = _read(_pbhc(robot, tmp_path / "x.pkl", mask, lift=1.0), robot)
    assert all(_stands(clip, robot, "left"))
    right = _stands(clip, robot, "right")
    assert not any(right[21:39])
    assert all(right[:20])
    assert all(right[40:])
    (said,) = _sentences(clip, "contacts")
    assert said.startswith(
        f"the {len(clip.contacts.stances)} stances are those that the file flags;"
    )
    (notice,) = [n for n in clip.notices if n.kind == "contacts"]
    assert notice.value is not None
    assert 0.9 < notice.value <= 1.0
    assert clip.meta.history[-1].what == "contacts of the file"


def test_flags_that_contradict_the_motion_are_used_all_the_same(
    robot: Robot, tmp_path: pathlib.Path
) -> None:
    mask = np.tile([1.0, 0.0], (N, 1))
    clip = _read(_pbhc(robot, tmp_path / "x.pkl", mask), robot)
    assert all(_stands(clip, robot, "left"))
    assert not any(_stands(clip, robot, "right"))
    (notice,) = [n for n in clip.notices if n.kind == "contacts"]
    assert notice.value == pytest.approx(0.5)  # left agrees, right does not
    assert notice.sentence.endswith("they agree with what the motion shows in 50 % of the frames")


def test_half_means_not_known_and_is_filled_from_the_motion(
    robot: Robot, tmp_path: pathlib.Path
) -> None:
    mask = np.full((N, 2), 0.5)
    mask[30:, :] = [0.0, 1.0]
    clip = _read(_pbhc(robot, tmp_path / "x.pkl", mask), robot)
    left = _stands(clip, robot, "left")
    assert all(left[:30])
    assert not any(left[31:])
    (said,) = _sentences(clip, "contacts")
    assert "(30 frames on which it says 0.5 were filled from the motion)" in said


def test_a_file_that_knows_nothing_of_contacts_carries_none(
    robot: Robot, tmp_path: pathlib.Path
) -> None:
    path = _pbhc(robot, tmp_path / "x.pkl", np.full((N, 2), 0.5))
    clip = _read(path, robot)
    assert _sentences(clip, "assumption")[-1].startswith("the file carries no contacts; ")
    assert describe(path)["contacts"] is None


def test_info_counts_the_stances_that_a_file_flags(robot: Robot, tmp_path: pathlib.Path) -> None:
    mask = np.ones((N, 2))
    mask[20:40, 1] = 0.0
    path = _pbhc(robot, tmp_path / "x.pkl", mask)
    assert describe(path)["contacts"] == 3
    assert describe(path, robot=robot)["contacts"] == 3


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        (np.full((N, 2), 2.0), "'contact_mask' must hold 0 to 1"),
        (np.ones((N, 3)), "expected 'contact_mask' as numbers (any, 2), got <f8 (60, 3)"),
        (np.ones((N - 1, 2)), "different numbers of frames"),
        (np.full((N, 2), np.nan), "'contact_mask' holds nan at frame 0, column 0"),
    ],
)
def test_faulty_flags_are_refused(
    mask: np.ndarray, sentence: str, robot: Robot, tmp_path: pathlib.Path
) -> None:
    path = _pbhc(robot, tmp_path / "x.pkl", mask)
    with pytest.raises(BadFile) as raised:
        read(path, robot=robot)
    assert sentence in str(raised.value)
