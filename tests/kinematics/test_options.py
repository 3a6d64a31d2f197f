"""Options outside their range are refused."""

from __future__ import annotations

import pytest

from surefoot.errors import BadOption
from surefoot.kinematics import Options


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"iterations": 0}, "expected iterations of at least 1, got 0"),
        ({"tolerance": 0.0}, "expected tolerance above 0, got 0.0"),
        ({"damping": -1e-6}, "expected damping above 0, got -1e-06"),
        ({"step_cap": float("nan")}, "expected step_cap above 0, got nan"),
        ({"posture_weight": -0.1}, "expected posture_weight of at least 0, got -0.1"),
        ({"joint_range": {"hip": (1.0, 0.0)}}, "expected joint_range of 'hip' to rise, got 1 to 0"),
        (
            {"joint_range": {"hip": (float("nan"), 0.0)}},
            "expected joint_range of 'hip' to rise, got nan to 0",
        ),
        (
            {"limit_speed": True, "start": "fixed"},
            "limit_speed ties frames together, start='fixed' keeps them apart. Use start='warm'",
        ),
    ],
)
def test_an_option_out_of_range_is_refused(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadOption) as error:
        Options(**given)  # type: ignore[arg-type]  # wrong on purpose
    assert str(error.value) == sentence
