"""What an outsider is given: the arrays of a dump, and the figures by sample as text."""

from __future__ import annotations

import csv
import io
import pathlib

import mujoco
import numpy as np
import pytest

from make.robots import biped
from make.verdicts import clip_of, lively, pushed, sole_stance
from surefoot.formats.npz import packed_arrays
from surefoot.index.dump import COLUMNS, csv_text, dump_arrays
from surefoot.index.index import Feasibility, Options, feasibility
from surefoot.robots.robot import Robot

EXTRA = {"schema", "side", "dimension", "flag", "cone_sides", "tolerance", "weight"}


@pytest.fixture(scope="module")
def two_legs(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return biped(tmp_path_factory.mktemp("biped"))


@pytest.fixture(scope="module")
def found(two_legs: Robot) -> Feasibility:
    """With one foot, two feet and flight."""
    motion = lively(two_legs)
    stances = (sole_stance(two_legs, "left", 0.0, 0.7), sole_stance(two_legs, "right", 0.3, 0.9))
    clip = clip_of(motion, two_legs, *stances)
    return feasibility(clip, two_legs, Options(rate_hz=100.0, length_scale_m=0.8))


@pytest.fixture(scope="module")
def dump(found: Feasibility, tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """As read from the file, without pickles."""
    path = tmp_path_factory.mktemp("dump") / "d.npz"
    path.write_bytes(packed_arrays(dump_arrays(found)))
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def test_a_dump_holds_the_arrays_of_the_public_face(
    dump: dict[str, np.ndarray], found: Feasibility, two_legs: Robot
) -> None:
    n, k = found.samples.n, int(found.samples.cones.count.sum())
    shapes = {
        "time": (n,), "qpos": (n, two_legs.nq), "qvel": (n, two_legs.nv), "qacc": (n, two_legs.nv),
        "wrench": (n, 6), "reference": (n, 3), "vertex_sample": (k,), "vertex_pos": (k, 3),
        "vertex_normal": (k, 3), "vertex_friction": (k,), "d": (n,), "d_lower": (n,),
        "d_upper": (n,), "dual": (n, 6), "length_scale": (), "model_xml": (),
    }  # fmt: skip
    assert set(dump) == set(shapes) | EXTRA
    for name, shape in shapes.items():
        assert dump[name].shape == shape, name
        if name not in ("model_xml", "vertex_sample"):
            assert dump[name].dtype == np.float64, name
            assert np.all(np.isfinite(dump[name])), name
    assert dump["model_xml"].dtype.kind == "U"
    assert dump["vertex_sample"].dtype.kind == "i"
    assert np.all(np.diff(dump["vertex_sample"]) >= 0)
    assert np.all(np.diff(dump["time"]) >= 0.0)


def test_every_extra_array_is_documented() -> None:
    root = pathlib.Path(__file__).resolve().parents[2]
    text = (root / "docs" / "verification.md").read_text(encoding="utf-8")
    for name in EXTRA:
        assert f"`{name}`" in text, name


def test_the_dual_gives_d_and_supports_every_ray(dump: dict[str, np.ndarray]) -> None:
    """From the file alone: m · w = d, and no force in a friction cone has a positive product."""
    scaled = dump["wrench"].copy()
    scaled[:, 3:] /= dump["length_scale"]
    m, weight = dump["dual"], float(dump["weight"])
    assert np.linalg.norm(m, axis=1) == pytest.approx(1.0, abs=1e-12)
    assert np.einsum("nk,nk->n", m, scaled) == pytest.approx(dump["d"], abs=1e-9 * weight)
    i = dump["vertex_sample"]
    arm = dump["vertex_pos"] - dump["reference"][i]
    velocity = m[i, :3] + np.cross(m[i, 3:] / dump["length_scale"], arm)
    up = np.sum(velocity * dump["vertex_normal"], axis=1)
    along = np.linalg.norm(velocity - up[:, None] * dump["vertex_normal"], axis=1)
    assert np.all(up + dump["vertex_friction"] * along <= 1e-9)
    assert np.all(dump["d"] == dump["d_lower"])
    assert np.all(dump["d_lower"] <= dump["d_upper"])


def test_the_model_in_the_dump_gives_the_wrenches(dump: dict[str, np.ndarray]) -> None:
    model = mujoco.MjModel.from_xml_string(str(dump["model_xml"]))
    data = mujoco.MjData(model)
    assert (model.nq, model.nv) == (dump["qpos"].shape[1], dump["qvel"].shape[1])
    for i in range(0, len(dump["time"]), 7):
        data.qpos[:], data.qvel[:], data.qacc[:] = (dump[k][i] for k in ("qpos", "qvel", "qacc"))
        mujoco.mj_inverse(model, data)
        assert data.qfrc_inverse[:3] == pytest.approx(dump["wrench"][i, :3], abs=1e-8)


def test_the_same_value_gives_the_same_bytes(found: Feasibility) -> None:
    assert packed_arrays(dump_arrays(found)) == packed_arrays(dump_arrays(found))


def test_what_did_not_reach_its_tolerance_is_flagged(found: Feasibility) -> None:
    flags = dump_arrays(found)["flag"]
    assert np.array_equal(flags == 1, ~found.converged)


def test_the_table_has_a_row_a_sample_and_no_text_for_what_is_missing(found: Feasibility) -> None:
    text = csv_text(found)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == found.samples.n == text.count("\n") - 1
    for word in ("nan", "inf", "NaN", "None"):
        assert f",{word}," not in text
        assert f",{word}\n" not in text
    for name, values in (("time_s", found.time), ("d_n", found.d), ("d_upper_n", found.upper)):
        read = np.array([float(row[name]) for row in rows])
        assert read == pytest.approx(values, rel=1e-8, abs=1e-12)
    assert [int(row["feasible"]) for row in rows] == found.feasible.astype(int).tolist()
    flight = [row for row, flies in zip(rows, found.in_flight, strict=True) if flies]
    assert flight
    assert {(row["limit"], row["zmp_x_m"], row["zmp_outside_m"]) for row in flight} == {
        ("flight", "", "")
    }


def test_the_zmp_of_the_table_is_that_of_the_required_wrench(found: Feasibility) -> None:
    """Level ground: x = −M_y / F_z about a point of the plane, y = M_x / F_z."""
    rows = list(csv.DictReader(io.StringIO(csv_text(found))))
    checked = 0
    for i, row in enumerate(rows):
        if row["zmp_x_m"] == "":
            continue
        point = np.array([float(row[f"zmp_{axis}_m"]) for axis in "xyz"])
        force, moment = found.samples.wrench[i, :3], found.samples.wrench[i, 3:]
        about = moment + np.cross(found.samples.ref_w[i] - point, force)
        assert np.abs(about[:2]).max() < 1e-5 * found.weight_n
        checked += 1
    assert checked > 50


def test_a_robot_that_is_pulled_up_has_no_zmp_in_the_table(two_legs: Robot) -> None:
    """Faster down than it falls: nothing presses, and the ground would have to pull."""
    found = feasibility(pushed(two_legs, (0.0, 0.0, -15.0), "left", "right"), two_legs)
    rows = list(csv.DictReader(io.StringIO(csv_text(found))))
    assert {row["zmp_x_m"] for row in rows} == {""}
    assert {row["required_friction"] for row in rows} == {""}
    assert {row["limit"] for row in rows} == {"pulling"}
