"""The one verb that mends clips."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.adapters.adaptation import adapt
from surefoot.errors import UnknownName
from surefoot.index.index import Options
from surefoot.samples import bundled

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def robot() -> sf.Robot:
    return sf.load_robot("human25")


@pytest.fixture(scope="module")
def clip(robot: sf.Robot) -> sf.Clip:
    return sf.retarget(bundled.load("sidestep"), robot)


def test_smoothing_is_done_once_before_mending_and_never_again(
    robot: sf.Robot, clip: sf.Clip
) -> None:
    """The poses that are written are those that were judged: what smoothing left of the clip's."""
    found = adapt(clip, robot, index=Options(smooth_hz=4.0))
    assert np.array_equal(found.clip.motion.joint_pos, found.before.clip.motion.joint_pos)
    assert not np.array_equal(found.clip.motion.joint_pos, clip.motion.joint_pos)
    again = sf.feasibility(found.clip, robot, found.after.options)
    assert again.upper.max() == pytest.approx(found.after.upper.max(), rel=1e-12)
    assert found.after.options.smooth_hz is None
    assert any("4 Hz" in notice.sentence for notice in found.before.clip.notices)


def test_a_method_that_does_not_exist_is_refused_with_the_nearest(
    robot: sf.Robot, clip: sf.Clip
) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'warp'"):
        adapt(clip, robot, method="wrap")


def test_the_summary_says_what_became_of_the_clip(robot: sf.Robot, clip: sf.Clip) -> None:
    found = adapt(clip, robot)
    summary = found.summary()
    assert summary["status"] == "mended"
    assert summary["segments_found"] == len(found.before.segments()) > 0
    assert summary["segments_left"] == 0
    assert "Now every sample is feasible." in found.explain()
