"""Dumps re-checked with other means: numpy, scipy and plain MuJoCo, nothing else of surefoot."""

from __future__ import annotations

from surefoot.verification.dump import Unusable
from surefoot.verification.recheck import verify
from surefoot.verification.result import Mismatch, Verification, Worst

__all__ = ["Mismatch", "Unusable", "Verification", "Worst", "verify"]
