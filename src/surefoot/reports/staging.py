"""What plots and players show of an index: bars of contacts, and what moves at each sample."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array, Float64, Int64, IntArray
from surefoot.contacts.support import support
from surefoot.index.index import Feasibility
from surefoot.reports import panels
from surefoot.reports.phrases import foot_of, role_of
from surefoot.reports.player import Arrow, Curve, Polygon, Track

BESIDE_S = 1e-4  # off a jump, to its own side: a hundredth of a sample, and more than rounding
FAR_M = 0.5  # a ZMP farther outside says little; the arrow then starts at the reference
TOUCHES: tuple[panels.Touch, ...] = ("point", "edge", "face")


def contact_bars(
    found: Feasibility, *, by_foot: bool = False
) -> tuple[list[panels.Bar], list[str]]:
    """What of each link touches, as it was judged: by how many vertices carry, and if it slides."""
    cones, contacts, robot = found.samples.cones, found.clip.contacts, found.robot
    slides = np.array([stance.moving for stance in contacts.stances], dtype=np.bool_)
    links = np.array([stance.link for stance in contacts.stances])
    soles = {sole.link: sole.side for sole in robot.soles}
    order = sorted(dict.fromkeys(links.tolist()), key=lambda link: soles.get(link, "z"))
    feet = [foot_of(robot, link) for link in order]
    if by_foot:  # soles of several links are one row
        merged = np.array([foot_of(robot, link) or link for link in links])
        links = np.array([order[feet.index(name)] if name in feet else name for name in merged])
        order = list(dict.fromkeys(link for link in order if link in links))
        feet = [foot_of(robot, link) for link in order]
    bars, rows = [], []
    for link, foot in zip(order, feet, strict=True):
        name = foot if foot and feet.count(foot) == 1 else link
        mine = links[cones.vertex_stance] == link
        count = np.bincount(cones.vertex_sample[mine], minlength=cones.n)
        loose = mine & slides[cones.vertex_stance]
        moving = np.bincount(cones.vertex_sample[loose], minlength=cones.n) == count
        code = np.where(count == 0, 0, np.where(moving, 4, np.minimum(count, 3)))
        rows.append(name)
        for start, end, kind in _runs(found.time, code):
            touch = "moving" if kind == 4 else TOUCHES[kind - 1]
            bars.append(panels.Bar(name, start, end, role_of(robot, link), touch))
    return bars, rows


def _runs(
    time: Float64[Array, " n"], code: Int64[IntArray, " n"]
) -> list[tuple[float, float, int]]:
    """First and last moment of every run of the same code that is not 0."""
    heads = np.flatnonzero(np.concatenate([[True], np.diff(code) != 0]))
    tails = np.append(heads[1:], len(code)) - 1
    return [
        (float(time[a]), float(time[b]), int(code[a]))
        for a, b in zip(heads, tails, strict=True)
        if code[a]
    ]


def moment_of(found: Feasibility, i: int) -> float:
    """The moment of a sample; of one beside a contact change, a little to its side."""
    side = int(found.samples.side[i]) if 0 < i < found.samples.n - 1 else 0
    return float(found.time[i]) + BESIDE_S * side


def told(found: Feasibility, most: int = panels.MOST_POINTS) -> Int64[IntArray, " k"]:
    """The samples that the player is given: highs and lows, and both sides of every jump."""
    jumps = np.flatnonzero(found.samples.side != 0)
    keep = panels.kept(found.upper, most * 3 // 4)
    if len(jumps) <= most // 4:
        keep = np.union1d(keep, jumps)
    return np.union1d(keep, [found.worst])


def zmp_track(found: Feasibility) -> Track:
    """The ZMP, and whether it lies outside the support."""
    keep, ground = told(found), found.ground
    state = np.where(ground.defined, ground.outside.astype(np.int64), 2)
    points, distance = ground.zmp_w[keep], ground.outside_m[keep]
    return Track("ZMP", "judged", found.time[keep], points, state[keep], distance)


def polygon_of(found: Feasibility, most: int = panels.MOST_POINTS) -> Polygon:
    """The support polygon, at most so many times."""
    keep = told(found, most)
    return Polygon("support", found.time[keep], support(found.samples.cones.picked(keep)))


def arrow_of(found: Feasibility) -> Arrow:
    """The required force at the ZMP; where there is none nearby, at the reference."""
    keep, ground = told(found), found.ground
    near = ground.defined & (ground.outside_m < FAR_M)
    tail = np.where(near[:, None], ground.zmp_w, found.samples.ref_w)
    return Arrow(
        "required force at the ZMP, or at the reference where no ZMP is near",
        found.time[keep],
        tail[keep],
        found.samples.wrench[keep, :3] / found.weight_n,
        (~found.feasible[keep]).astype(np.int64),
    )


def curve_of(found: Feasibility) -> Curve:
    """D for the strip along the slider, and what limits at each of its samples, in words."""
    keep = told(found)
    words = [found.limits.phrase(i) for i in keep.tolist()]  # a bounded number
    phrases = tuple(dict.fromkeys(words))
    number = {phrase: k for k, phrase in enumerate(phrases)}
    state = np.where(found.feasible, 0, 1)
    return Curve(
        found.time[keep],
        found.upper[keep],
        np.where(np.isneginf(found.upper), 2, state)[keep],
        panels.shown_top(found.upper),
        found.weight_n,
        phrases,
        np.array([number[word] for word in words], dtype=np.int64),
    )
