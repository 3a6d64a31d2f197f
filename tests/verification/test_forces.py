"""The wrench by plain MuJoCo, on models that try to add what bodies do not require."""

from __future__ import annotations

import pathlib
from typing import Any

import mujoco
import numpy as np
import pytest

from make.dumps import HUMAN25, standing, written
from make.robots import PLANAR
from surefoot.verification import Unusable, verify
from surefoot.verification.dump import read
from surefoot.verification.forces import engine, required_wrench


def _momentum_wrench(model: Any, q: Any, v: Any, a: Any, reference: Any) -> np.ndarray:
    """F = dP/dt − m g, M = dL/dt + (c − r) × F, by central differences of MuJoCo's momentum."""
    data = mujoco.MjData(model)
    h, found = 1e-5, []
    for dt in (-h, h, 0.0):
        data.qpos[:] = q
        mujoco.mj_integratePos(model, data.qpos, v + a * dt / 2.0, dt)
        data.qvel[:] = v + a * dt
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_subtreeVel(model, data)
        found.append(
            (data.subtree_linvel[1] * model.body_subtreemass[1], data.subtree_angmom[1].copy())
        )
    force = (found[1][0] - found[0][0]) / (2 * h)
    force[2] += 9.81 * model.body_subtreemass[1]
    moment = (found[1][1] - found[0][1]) / (2 * h)
    return np.concatenate((force, moment + np.cross(data.subtree_com[1] - reference, force)))


def _states(model: Any, n: int, seed: int) -> dict[str, Any]:
    """Random states with their wrenches about the root's origin, in flight."""
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    q = np.zeros((n, model.nq))
    v, a = rng.standard_normal((2, n, model.nv))
    w, r = np.zeros((n, 6)), np.zeros((n, 3))
    for i in range(n):
        q[i] = model.qpos0
        mujoco.mj_integratePos(model, q[i], 0.3 * rng.standard_normal(model.nv), 1.0)
        data.qpos[:] = q[i]
        mujoco.mj_kinematics(model, data)
        r[i] = data.xpos[1] + 0.1 * rng.standard_normal(3)
        w[i] = _momentum_wrench(model, q[i], v[i], a[i], r[i])
    return {"qpos": q, "qvel": v, "qacc": a, "wrench": w, "reference": r}


def _flying(xml: str, tmp_path: pathlib.Path) -> pathlib.Path:
    """A dump of random states without contacts."""
    model = mujoco.MjModel.from_xml_string(xml)
    n = 5
    dump = _states(model, n, seed=4)
    d = np.linalg.norm(dump["wrench"], axis=1)
    dump.update(
        time=np.arange(n) * 1.0,
        vertex_sample=np.zeros(0, dtype=np.int64),
        vertex_pos=np.zeros((0, 3)),
        vertex_normal=np.zeros((0, 3)),
        vertex_friction=np.zeros(0),
        d=d,
        d_lower=d,
        d_upper=d,
        dual=dump["wrench"] / d[:, None],
        flag=np.zeros(n, dtype=np.int8),
        length_scale=np.float64(1.0),
        cone_sides=np.int64(0),
        weight=np.float64(model.body_subtreemass[1] * 9.81),
        model_xml=np.str_(xml),
    )
    return written(dump, tmp_path)


# Everything that MuJoCo would subtract or add, and the required wrench does not know.
_BURDENS = {
    "plain": lambda text: text,
    "damped, armoured free joint": lambda text: text.replace(
        '<freejoint name="root"/>', '<joint name="root" type="free" damping="3" armature="0.1"/>'
    ),
    "springs and friction loss": lambda text: text.replace(
        'armature="0.01"', 'armature="0.01" damping="4" stiffness="50" frictionloss="2"'
    ),
    "wind and gravity compensation": lambda text: text.replace(
        '<body name="pelvis"', '<body name="pelvis" gravcomp="1"'
    ).replace("<worldbody>", '<option density="1.2" viscosity="1" wind="9 0 0"/><worldbody>', 1),
    "a floor that the feet are in": lambda text: text.replace(
        "<worldbody>", '<worldbody><geom type="plane" size="9 9 1" pos="0 0 0.5"/>', 1
    ),
}


@pytest.mark.parametrize("burden", _BURDENS)
def test_the_wrench_is_that_of_the_bodies_alone(burden: str, tmp_path: pathlib.Path) -> None:
    """Against finite differences of momentum: their own error is about 1e-4 N here."""
    text = HUMAN25.read_text(encoding="utf-8")
    changed = _BURDENS[burden](text)
    assert (changed == text) == (burden == "plain")
    dump = read(_flying(changed, tmp_path))
    machine = engine(dump)
    for i in range(dump.n):
        rows, _, whole = required_wrench(machine, dump, i)
        assert np.abs(whole - dump.wrench[i]).max() < 2e-3
        assert rows.shape == (6,)


def test_all_six_components_are_compared_for_a_planar_root(tmp_path: pathlib.Path) -> None:
    path = _flying(PLANAR, tmp_path)
    dump = read(path)
    machine = engine(dump)
    for i in range(dump.n):
        rows, powers, whole = required_wrench(machine, dump, i)
        assert np.abs(whole - dump.wrench[i]).max() < 1e-4
        assert np.abs(powers @ whole - rows).max() < 1e-10
    arrays = dict(np.load(path))
    for i in range(dump.n):
        arrays["wrench"][i] = required_wrench(machine, dump, i)[2]
    arrays["d"] = arrays["d_lower"] = arrays["d_upper"] = np.linalg.norm(arrays["wrench"], axis=1)
    arrays["dual"] = arrays["wrench"] / arrays["d"][:, None]
    found = verify(written(arrays, tmp_path))
    assert found.ok
    assert "the root is not free" in found.notes[0]
    for row in range(6):
        false = {name: array.copy() for name, array in arrays.items()}
        false["wrench"][2, row] += 1e-3
        assert "wrench" in {m.check for m in verify(written(false, tmp_path)).mismatches}


@pytest.mark.parametrize(
    ("xml", "sentence"),
    [
        ("<mujoco", "model_xml does not compile"),
        (PLANAR, "expected nq 7 and nv 7 of model_xml, got 32 and 31"),
    ],
)
def test_a_model_that_does_not_fit_is_said(xml: str, sentence: str, tmp_path: pathlib.Path) -> None:
    dump = standing(2)
    dump["model_xml"] = np.str_(xml)
    with pytest.raises(Unusable, match=sentence):
        verify(written(dump, tmp_path))
