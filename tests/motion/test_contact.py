"""Stances, schedules and terrain: laws, sentences, and terrain files both ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.arrays import locked
from surefoot.errors import BadFile, BadMotion
from surefoot.motion.contact import ContactSchedule, Stance, Surface, Terrain

SQUARE = np.array([[0.1, 0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0], [0.1, -0.05, 0.0]])


def _stance(start: float = 0.0, end: float = 1.0, link: str = "foot") -> Stance:
    return Stance(link, start, end, "face", SQUARE)


def test_both_ends_of_a_stance_belong_to_it() -> None:
    stance = _stance(0.5, 1.0)
    assert stance.holds(0.5)
    assert stance.holds(1.0)
    assert not stance.holds(1.0 + 1e-12)
    assert not stance.vertices.flags.writeable


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"end": -1.0},
            "a stance must end after it starts, got 0.0 s to -1.0 s (stance of 'foot' from 0.0 s)",
        ),
        (
            {"mode": "edge"},
            "mode edge needs 2 vertices (v, 3), got (4, 3) (stance of 'foot' from 0.0 s)",
        ),
        (
            {"vertices": SQUARE[:2]},
            "mode face needs 3 or more vertices (v, 3), got (2, 3) (stance of 'foot' from 0.0 s)",
        ),
        (
            {"vertices": SQUARE + np.inf},
            "a contact vertex is not finite (stance of 'foot' from 0.0 s)",
        ),
        (
            {"normal": np.array([0.0, 0.0, 2.0])},
            "the normal must be a unit vector of 3 numbers (stance of 'foot' from 0.0 s)",
        ),
        (
            {"friction": -0.1},
            "friction must be 0 or more, got -0.1 (stance of 'foot' from 0.0 s)",
        ),
    ],
)
def test_what_is_no_stance_is_refused(changes: dict[str, object], sentence: str) -> None:
    fields: dict[str, object] = {"start": 0.0, "end": 1.0, "mode": "face", "vertices": SQUARE}
    with pytest.raises(BadMotion) as raised:
        Stance("foot", **(fields | changes))  # type: ignore[arg-type]
    assert str(raised.value) == sentence


def test_a_schedule_is_sorted_and_knows_its_links_edges_and_moments() -> None:
    late, early, other = _stance(2.0, 3.0), _stance(0.0, 1.0), _stance(0.5, 2.0, "hand")
    schedule = ContactSchedule((late, other, early))
    assert schedule.stances == (early, other, late)
    assert schedule.links == ("foot", "hand")
    assert schedule.edges.tolist() == [0.0, 0.5, 1.0, 2.0, 3.0]
    assert schedule.at(0.75) == (early, other)
    assert schedule.at(2.0) == (other, late)
    assert schedule.at(3.5) == ()
    assert ContactSchedule().edges.shape == (0,)


def test_retiming_moves_every_start_and_end() -> None:
    schedule = ContactSchedule((_stance(0.0, 1.0), _stance(2.0, 3.0))).retimed(lambda t: 2.0 * t)
    assert schedule.edges.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_the_top_of_a_turned_box_carries_within_its_edges() -> None:
    """A box of 2 × 1 m turned by 90 degrees reaches 0.5 m along x and 1 m along y."""
    box = Surface("box", locked((3.0, 0.0, 0.1)), size=locked((2.0, 1.0, 0.2)), yaw=np.pi / 2)
    points = np.array([[3.4, 0.9], [3.6, 0.0], [3.0, -0.99], [3.0, 1.1]])
    assert box.height(points) == pytest.approx([0.2, -np.inf, 0.2, -np.inf])


def test_a_slope_rises_as_its_normal_says() -> None:
    """Normal turned by 30 degrees about y: the plane falls along +x by tan 30 degrees."""
    slope = Surface(
        "plane", locked((0.0, 0.0, 1.0)), locked((np.sin(np.pi / 6), 0.0, np.cos(np.pi / 6)))
    )
    assert slope.height(np.array([[1.0, 5.0]]))[0] == pytest.approx(1.0 - np.tan(np.pi / 6))


def test_the_highest_surface_carries() -> None:
    step = Surface("box", locked((1.0, 0.0, 0.05)), size=locked((0.4, 1.0, 0.1)))
    terrain = Terrain((Surface("plane", locked((0.0, 0.0, 0.0))), step))
    points = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert terrain.height(points).tolist() == [0.0, pytest.approx(0.1)]
    assert terrain.surface_at(points) == (0, 1)
    assert terrain.normal(points).tolist() == [[0.0, 0.0, 1.0]] * 2


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: Surface("plane", locked((0, 0, 0)), locked((1.0, 0.0, 0.0))),
            "the normal of a plane must be a unit vector that points upwards, got [1.0, 0.0, 0.0]",
        ),
        (
            lambda: Surface("box", locked((0, 0, 0)), size=locked((1.0, 0.0, 1.0))),
            "the size of a box must be positive, got [1.0, 0.0, 1.0] m",
        ),
        (
            lambda: Surface("plane", locked((np.nan, 0, 0))),
            "a plane needs finite vectors of 3 numbers",
        ),
        (lambda: Terrain(()), "a terrain needs at least one surface"),
        (lambda: Terrain(friction=-1.0), "friction must be 0 or more, got -1"),
        (lambda: Terrain(friction=1e6), "friction must be 10000 at most, got 1e+06"),
    ],
)
def test_what_is_no_terrain_is_refused(make: object, sentence: str) -> None:
    with pytest.raises(BadMotion) as raised:
        make()  # type: ignore[operator]
    assert str(raised.value) == sentence


number = st.floats(-1e3, 1e3)
length = st.floats(1e-3, 1e3)
planes = st.builds(
    lambda x, y, z, tilt: Surface(
        "plane", locked((x, y, z)), locked((np.sin(tilt), 0.0, np.cos(tilt)))
    ),
    number, number, number, st.floats(-1.5, 1.5),
)  # fmt: skip
boxes = st.builds(
    lambda x, y, z, a, b, c, yaw: Surface(
        "box", locked((x, y, z)), size=locked((a, b, c)), yaw=yaw
    ),
    number, number, number, length, length, length, st.floats(-7, 7),
)  # fmt: skip


@given(st.lists(planes | boxes, min_size=1, max_size=4), st.floats(0.0, 5.0))
def test_a_terrain_file_gives_back_every_digit(surfaces: list[Surface], friction: float) -> None:
    terrain = Terrain(tuple(surfaces), np.float64(friction))
    back = Terrain.from_toml(terrain.as_toml(), where="made")
    assert back.friction == friction
    for old, new in zip(terrain.surfaces, back.surfaces, strict=True):
        assert (old.kind, old.yaw) == (new.kind, new.yaw)
        for name in ("point", "normal", "size"):
            assert np.array_equal(getattr(old, name), getattr(new, name))


BOX = '[[surface]]\nkind = "box"\ncenter_m = [1.2, 0, 0.04]\nsize_m = [0.3, 1.0, 0.083]\n'


def test_the_example_of_the_documents_is_read() -> None:
    terrain = Terrain.from_toml(f"schema = 1\nfriction = 0.7\n{BOX}yaw_rad = 0.0\n", where="made")
    assert terrain.friction == 0.7
    assert terrain.surfaces[0].size.tolist() == [0.3, 1.0, 0.083]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("schema = [", "not TOML: "),
        ("schema = 2", "expected schema = 1, got 2 (t). a newer schema needs a newer surefoot"),
        ("friction = 0.5", "expected schema = 1, got None (t)"),
        ("schema = 1", "no [[surface]] in the file (t). docs/formats.md has every key"),
        ("schema = 1\nfriction = 'much'\n" + BOX, "friction must be a number, got 'much'"),
        ("schema = 1\nfriction = nan\n" + BOX, "friction must be 0 or more, got nan"),
        ("schema = 1\nmue = 1\n" + BOX, "unknown key 'mue'"),
        ("schema = 1\nsurface = 3", "surface 0: kind must be 'plane' or 'box'"),
        ("schema = 1\n[[surface]]\nkind = ['box']", "surface 0: kind must be 'plane' or 'box'"),
        (
            'schema = 1\n[[surface]]\nkind = "plane"\npoint_m = [0, 0]\nnormal = [0, 0, 1]',
            "surface 0: point_m must be 3 numbers, got [0, 0]",
        ),
        ("schema = 1\n" + BOX + "yaw_rad = true", "surface 0: yaw_rad must be a number, got True"),
        ("schema = 1\n" + BOX + "yaw_deg = 3", "surface 0: unknown key 'yaw_deg' of a box"),
        (
            "schema = 1\n" + BOX.replace("0.083", "inf"),
            "surface 0: a box needs finite vectors of 3 numbers",
        ),
    ],
)
def test_a_faulty_terrain_file_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadFile) as raised:
        Terrain.from_toml(text, where="t")
    assert sentence in str(raised.value)
    assert "(t)" in str(raised.value)


def test_all_faults_of_a_terrain_file_are_said_together() -> None:
    text = "schema = 1\nmue = 1\nfriction = 'x'\n" + BOX + 'colour = "red"\n'
    with pytest.raises(BadFile) as raised:
        Terrain.from_toml(text, where="t")
    for fault in ("unknown key 'mue'", "friction must be a number", "unknown key 'colour'"):
        assert fault in str(raised.value)


def test_no_surface_is_below_the_first() -> None:
    with pytest.raises(BadMotion, match="surface must be 0 or more, got -1"):
        Stance("left_foot", 0.0, 1.0, "point", np.zeros((1, 3)), surface=-1)


def test_stances_terrains_and_schedules_are_equal_when_their_content_is() -> None:
    def stance() -> Stance:
        return Stance("left_foot", 0.0, 1.0, "point", np.zeros((1, 3)))

    assert ContactSchedule((stance(),)) == ContactSchedule((stance(),))
    assert Surface("plane", np.zeros(3)) == Surface("plane", np.zeros(3))
    assert Terrain((Surface("plane", np.zeros(3)),)) != Terrain(
        (Surface("plane", np.array([0.0, 0.0, 0.1])),)
    )
