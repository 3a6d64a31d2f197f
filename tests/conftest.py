"""Where the shared data lie, and the sentence with which a test skips when they are absent."""

from __future__ import annotations

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The folder of shared data: robots, human clips, robot motions."""
    folder = pathlib.Path(os.environ.get("SUREFOOT_SHARED", str(ROOT.parent / "shared")))
    if not (folder / "data").is_dir():
        pytest.skip("shared data absent: set SUREFOOT_SHARED to the folder that holds data/")
    return folder
