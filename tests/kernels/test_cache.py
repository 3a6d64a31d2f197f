"""Where compiled kernels are kept, and that each is compiled once."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import numba
import numpy as np
import pytest

from make.trees import BRANCHED, PLANAR, random_states, robot_of
from surefoot import kernels
from surefoot.dynamics.batch import Batch, warm_up
from surefoot.kernels import rigid, tree

OWN = pathlib.Path(kernels.__file__).parent
CALLED = [tree.place, tree.flow, tree.load, rigid.composites]
KERNELS = [
    rigid.poses,
    rigid.velocities,
    rigid.jacobians,
    rigid.inertia,
    rigid.inverse_dynamics,
    rigid.balance,
]


def copied_sources(folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir()
    for path in OWN.glob("*.py"):
        shutil.copy(path, folder)
    return folder


@pytest.mark.parametrize("name", sorted(path.name for path in OWN.glob("*.py")))
def test_the_cache_folder_changes_with_the_content_of_any_kernel_source(
    name: str, tmp_path: pathlib.Path
) -> None:
    folder = copied_sources(tmp_path / "kernels")
    assert kernels.sources_hash(folder) == kernels.sources_hash(OWN)
    with (folder / name).open("a") as file:
        file.write("# one more line\n")
    assert kernels.sources_hash(folder) != kernels.sources_hash(OWN)


def test_the_cache_folder_changes_when_a_source_is_added_renamed_or_removed(
    tmp_path: pathlib.Path,
) -> None:
    folder = copied_sources(tmp_path / "kernels")
    seen = {kernels.sources_hash(folder)}
    (folder / "more.py").write_text("")
    seen.add(kernels.sources_hash(folder))
    (folder / "more.py").rename(folder / "most.py")
    seen.add(kernels.sources_hash(folder))
    (folder / "most.py").unlink()
    (folder / "rigid.py").unlink()
    seen.add(kernels.sources_hash(folder))
    assert len(seen) == 4


TWO_FILES = {
    "inner.py": "from numba import njit\n\n@njit(cache=True)\ndef inner(x):\n    return x + {}\n",
    "outer.py": "from numba import njit\nfrom pack.inner import inner\n\n@njit(cache=True)\n"
    "def outer(x):\n    return inner(x)\n",
}


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.slow
def test_a_kernel_sees_the_edit_of_another_file(tmp_path: pathlib.Path) -> None:
    """With numba's own folder the second run answers 1 again: it looks at one file only."""
    pack = tmp_path / "pack"
    pack.mkdir()
    shutil.copy(OWN / "__init__.py", pack)
    (pack / "outer.py").write_text(TWO_FILES["outer.py"])
    environment = {**os.environ, "SUREFOOT_CACHE": str(tmp_path / "cache")}
    answers = []
    for added in ("1.0", "2.0"):
        (pack / "inner.py").write_text(TWO_FILES["inner.py"].format(added))
        run = subprocess.run(
            [sys.executable, "-c", "from pack.outer import outer; print(outer(0.0))"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        answers.append(run.stdout.strip())
    assert answers == ["1.0", "2.0"]
    kept = [path.parent for path in (tmp_path / "cache" / "kernels").rglob("outer.outer-*.nbi")]
    assert len(kept) == 2, "each state of the sources has a folder of its own"


def test_a_cache_that_cannot_be_written_is_replaced_by_a_private_folder(
    tmp_path: pathlib.Path,
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file stands where the folder should be")
    run = subprocess.run(
        [sys.executable, "-c", "from surefoot import kernels; print(kernels.CACHE_FOLDER)"],
        env={**os.environ, "SUREFOOT_CACHE": str(blocked)},
        capture_output=True,
        text=True,
        check=True,
    )
    folder = pathlib.Path(run.stdout.strip())
    assert folder.is_dir()
    assert not folder.is_relative_to(tmp_path)
    shutil.rmtree(folder)


def test_a_warm_mark_holds_for_this_numba_processor_and_these_files_only(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "CACHE_FOLDER", tmp_path)
    assert not kernels.is_warm("judging")
    kernels.mark_warm("judging")
    assert kernels.is_warm("judging")
    with monkeypatch.context() as other:
        other.setattr(numba, "__version__", "0.0.1")
        assert not kernels.is_warm("judging")
    with monkeypatch.context() as other:
        other.setattr("llvmlite.binding.get_host_cpu_name", lambda: "abacus")
        assert not kernels.is_warm("judging")
    with monkeypatch.context() as other:
        other.setattr(kernels, "__file__", str(copied_sources(tmp_path / "kernels") / "a.py"))
        assert not kernels.is_warm("judging")
    assert kernels.is_warm("judging")


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_every_kernel_is_compiled_once_whatever_arrays_the_caller_has() -> None:
    """Locked, writable, strided and Fortran-ordered arrays are four types."""
    for xml in (BRANCHED, PLANAR):
        robot = robot_of(xml)
        states = random_states(robot.model, 200, seed=1)
        warm_up(robot)
        wide = np.repeat(states.qpos, 2, axis=1)[:, ::2]
        for qpos in (states.qpos, wide, np.asfortranarray(states.qpos)):
            batch = Batch(robot, qpos, states.qvel[::-1], states.qacc, threads=2)
            batch.jacobian(robot.root_link, np.arange(6.0)[::2])
            batch.inverse_dynamics()
            _ = batch.link_pos_w, batch.link_vel_w, batch.com_w, batch.com_jacobian
            _ = batch.mass_matrix, batch.bias
    times = {kernel.__name__: len(kernel.signatures) for kernel in KERNELS}
    assert times == {kernel.__name__: 1 for kernel in KERNELS}
    for kernel in CALLED:  # none when their callers came from the cache
        assert len(kernel.signatures) <= 1, kernel.__name__
