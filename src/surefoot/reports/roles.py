"""Colours of plots as roles: stand-ins that the page's style sheet gives a meaning."""

from __future__ import annotations

POINTS_AN_INCH = 72.0
ROLES = {
    "ink": "#010a01",
    "muted": "#010a02",
    "grid": "#010a03",
    "zmp": "#010a04",
    "com": "#010a05",
    "support": "#010a06",
    "bad": "#010a07",
    "left": "#010a08",
    "right": "#010a09",
    "paper": "#010a0a",
    "good": "#010a0b",
}
"""Stand-in of each colour; the style sheet has a `--name` for each."""
PLATE = {"boxstyle": "round,pad=0.15", "facecolor": ROLES["paper"], "alpha": 0.75, "linewidth": 0.0}
"""Behind words that lie over lines."""
