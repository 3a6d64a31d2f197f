"""surefoot: human motion, made to stand on a humanoid robot.

The public face. Nothing heavy is imported here: each name is loaded from its room when it is
first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.version import __version__ as __version__

_FACE = {
    "Adaptation": "surefoot.adapters.adaptation",
    "BadInput": "surefoot.errors",
    "Clip": "surefoot.motion.motion",
    "ContactSchedule": "surefoot.motion.contact",
    "Feasibility": "surefoot.index.index",
    "HumanClip": "surefoot.motion.human",
    "Motion": "surefoot.motion.motion",
    "Notice": "surefoot.errors",
    "Robot": "surefoot.robots.robot",
    "Stance": "surefoot.motion.contact",
    "SurefootError": "surefoot.errors",
    "Terrain": "surefoot.motion.contact",
    "Verdict": "surefoot.simulation.verdict",
    "adapt": "surefoot.adapters.adaptation",
    "feasibility": "surefoot.index.index",
    "load_robot": "surefoot.robots.zoo",
    "read": "surefoot.formats.registry",
    "report": "surefoot.reports.page",
    "retarget": "surefoot.retargeting.retarget",
    "run": "surefoot.journeys.several",
    "simulate": "surefoot.simulation.simulator",
    "write": "surefoot.formats.registry",
}

__all__ = [
    "Adaptation",
    "BadInput",
    "Clip",
    "ContactSchedule",
    "Feasibility",
    "HumanClip",
    "Motion",
    "Notice",
    "Robot",
    "Stance",
    "SurefootError",
    "Terrain",
    "Verdict",
    "adapt",
    "feasibility",
    "load_robot",
    "read",
    "report",
    "retarget",
    "run",
    "simulate",
    "write",
]

if TYPE_CHECKING:
    from surefoot.adapters.adaptation import Adaptation, adapt
    from surefoot.errors import BadInput, Notice, SurefootError
    from surefoot.formats.registry import read, write
    from surefoot.index.index import Feasibility, feasibility
    from surefoot.journeys.several import run
    from surefoot.motion.contact import ContactSchedule, Stance, Terrain
    from surefoot.motion.human import HumanClip
    from surefoot.motion.motion import Clip, Motion
    from surefoot.reports.page import report
    from surefoot.retargeting.retarget import retarget
    from surefoot.robots.robot import Robot
    from surefoot.robots.zoo import load_robot
    from surefoot.simulation.simulator import simulate
    from surefoot.simulation.verdict import Verdict
else:

    def __getattr__(name: str) -> object:
        """Load a public name from its room when it is first used."""
        if name not in _FACE:
            raise AttributeError(f"module 'surefoot' has no attribute '{name}'")
        from importlib import import_module

        value = getattr(import_module(_FACE[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """The public names."""
        return sorted([*__all__, "__version__"])
