"""Files to values and back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """How a file says what it says: what the clip read from it no longer shows."""

    unit: str = "m"
    """Unit of length in the file."""
    up_axis: str = "z"
    """Axis that points up in the file."""
    quaternion: str | None = None
    """Order of its quaternions, `wxyz` or `xyzw`; None where it has none."""
    has_contacts: bool = False
    """Whether it carries contacts, be it none at all times."""
