"""Where the shared data lie, and the sentence with which a test skips when they are absent."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILE = """
from surefoot.journeys import compile_kernels
from surefoot.robots.zoo import load_robot
compile_kernels(load_robot("human25"), control=True)
"""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Kernels are compiled before xdist starts its workers: each would compile them for itself."""
    if getattr(session.config.option, "numprocesses", None):  # workers have none
        subprocess.run([sys.executable, "-c", COMPILE], check=True)


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The folder of shared data: robots, human clips, robot motions."""
    folder = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared")))
    if not (folder / "data").is_dir():
        pytest.skip("shared data absent: set SUREFOOT_SHARED to the folder that holds data/")
    return folder
