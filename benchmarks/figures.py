"""The paper's figures 4 to 10 on bundled clips, and what is claimed of them, measured.

    python benchmarks/figures.py [--out docs/figures] [--method warp]

Zheng and Yamane, Adapting Human Motions to Humanoid Robots Through Time Warping: 4 the region of
the coefficients; 5, 7 and 9 the index over time of side stepping, walking upstairs and downstairs;
6, 8 and 10 (a) the poses. Robot human25, friction 0.7, no smoothing. Written are figure-4.svg to
figure-10.svg and claims.json: a list of {figure, claim, measured, criterion, holds, note}.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from importlib.resources import files
from typing import Any

import numpy as np

from surefoot.adapters.adaptation import Adaptation, adapt, worst_n
from surefoot.adapters.bases import poly3
from surefoot.adapters.region import region_of
from surefoot.adapters.warp import Options
from surefoot.dynamics.batch import Batch
from surefoot.motion.curves import resample
from surefoot.reports.changes import Event, events_of, segments_of
from surefoot.reports.choices import choice_of
from surefoot.reports.comparing import d_svg, picture_svgs
from surefoot.reports.figures import stacked, write_whole
from surefoot.reports.plots import as_file, choice
from surefoot.retargeting.retarget import retarget
from surefoot.robots.zoo import load_robot
from surefoot.samples import bundled

ROBOT = "human25"
CLIPS = {"sidestep": ("side stepping", 5), "stairs-up": ("upstairs", 7),
         "stairs-down": ("downstairs", 9)}  # fmt: skip
AROUND_S = 0.15  # of a lift-off or touch-down
PICTURES = 12
NEARLY = 0.01  # of the weight: what "slightly above zero" means, since the paper gives no number
OUT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures"

Claim = dict[str, Any]


def said(figure: str, claim: str, measured: float, how: str, limit: float, note: str = "") -> Claim:
    """One claim, and whether what was measured meets its criterion."""
    holds = {">=": measured >= limit, ">": measured > limit, "<=": measured <= limit}[how]
    return {"figure": figure, "claim": claim, "measured": round(float(measured), 6),
            "criterion": [how, limit], "holds": bool(holds), "note": note}  # fmt: skip


def mended(name: str, method: str = "warp", options: object | None = None) -> Adaptation:
    """A bundled clip on the robot, warped."""
    robot = load_robot(ROBOT)
    clip = retarget(bundled.load(name), robot, terrain=bundled.terrain(name))
    return adapt(clip, robot, method=method, options=options)


def region_claims() -> list[Claim]:
    """Of figure 4, which needs no clip."""
    region = region_of(poly3(), 0.0)
    samples = region.coefficients(region.drawn(256, 0))
    slopes = poly3().evaluate(np.linspace(0.0, 1.0, 2001), 1) @ samples.T
    ends = poly3().evaluate(np.array([0.0, 1.0]), 0) @ samples.T - np.array([[0.0], [1.0]])
    return [
        said("4a", "poly3 leaves a two-dimensional region of coefficients: more than one free",
             region.free, ">=", 2),
        said("4a", "poly3 leaves a two-dimensional region of coefficients: no more than two free",
             region.free, "<=", 2),
        said("4b", "every sampled function is strictly increasing: smallest f′ of 256 samples",
             float(slopes.min()), ">", 0.0),
        said("4b", "every sampled function keeps both ends: largest error", float(abs(ends).max()),
             "<=", 1e-9),
    ]  # fmt: skip


def index_claims(found: Adaptation, words: str, figure: int) -> list[Claim]:
    """Of figures 5, 7 and 9: when it is infeasible before, and what is left after."""
    before, after = found.before, found.after
    bad = before.time[~before.feasible]
    moments = np.array([event.was for event in events_of(found)])
    near = np.abs(bad[:, None] - moments).min(axis=1, initial=np.inf) <= AROUND_S
    rows = [
        said(str(figure), f"{words}: infeasible before (share of samples)",
             float((~before.feasible).mean()), ">", 0.0),
        said(str(figure), f"{words}: infeasible around lift-offs and touch-downs before (share of"
             f" the infeasible samples within {AROUND_S:g} s of one)",
             float(near.mean()) if len(bad) else 1.0, ">=", 0.9),
    ]  # fmt: skip
    if figure != 9:
        rows.append(
            said(str(figure), f"{words}: feasible everywhere after (share of samples)",
                 float(after.feasible.mean()), ">=", 1.0)
        )  # fmt: skip
    worst = worst_n(after) / after.weight_n
    rows.append(
        said(str(figure), f"{words}: worst d over the weight after", worst, "<=",
             NEARLY if figure == 9 else after.options.tolerance_over_weight)
    )  # fmt: skip
    return rows


def pose_claims(found: Adaptation, words: str, figure: int) -> list[Claim]:
    """Of the text to figures 6, 8 and 10: hurried before a lift-off, slowed before a touch-down."""
    pieces = segments_of(found)
    inside = [
        event
        for event in events_of(found)
        if any(piece.start <= event.was <= piece.end for piece in pieces)
    ]
    rows = []
    for lifts, change, towards in ((True, "hurried", "<"), (False, "slowed", ">")):
        events = [event for event in inside if event.lifts is lifts]
        if not events or found.timing is None:
            continue
        slopes = np.array([mean_slope(found, event.was) for event in events])
        met = slopes < 1.0 if lifts else slopes > 1.0
        what = "lift-off" if lifts else "touch-down"
        count = f"{len(events)} in warped segments"
        rows.append(
            said(f"{figure}a", f"{words}: the body is {change} in the {AROUND_S:g} s before a"
                 f" {what} (share with mean t′ {towards} 1, more than half)",
                 float(met.mean()), ">", 0.5, count)
        )  # fmt: skip
        if lifts:
            old, new = (np.array([sideways(found, e, after=x) for e in events]) for x in (0, 1))
            rows.append(
                said(f"{figure}a", f"{words}: the CoM moves faster towards the supporting side"
                     " before a lift-off (mean speed after less before, m/s)",
                     float((new - old).mean()), ">", 0.0, f"{count}; before {old.mean():.3f} m/s")
            )  # fmt: skip
        else:
            later = np.array([event.t > event.was for event in events])
            rows.append(
                said(f"{figure}a", f"{words}: time is won: a touch-down comes later than before"
                     " (share, more than half)", float(later.mean()), ">", 0.5, count)
            )  # fmt: skip
    return rows


def mean_slope(found: Adaptation, s: float) -> float:
    """Mean t′ over the moments before an event."""
    assert found.timing is not None
    t = found.timing(np.array([s - AROUND_S, s]))
    return float((t[1] - t[0]) / AROUND_S)


def sideways(found: Adaptation, event: Event, *, after: int) -> float:
    """Speed of the CoM towards the feet that go on standing, over the poses before a lift-off."""
    one = found.after if after else found.before
    clip, robot = one.clip, one.robot
    ends = np.array([event.was - AROUND_S, event.was])
    times = found.timing(ends) if after and found.timing is not None else ends
    batch = Batch(robot, robot.qpos(resample(clip.motion, times)))
    standing = [
        batch.points_w(stance.link, stance.vertices)[1].mean(axis=0)
        for stance in clip.contacts.at(float(times[1]) + 1e-4)
    ]
    lifted = [batch.link_pos_w[1, robot.link_id(sole.link)] for sole in robot.soles
              if f"{sole.side} foot" == event.foot]  # fmt: skip
    if not standing or not lifted:
        return 0.0
    way = (np.mean(standing, axis=0) - np.mean(lifted, axis=0))[:2]
    moved = (batch.com_w[1] - batch.com_w[0])[:2] / (times[1] - times[0])
    return float(moved @ way / max(float(np.linalg.norm(way)), 1e-9))


def claims_of(found: Adaptation, name: str) -> list[Claim]:
    """All that is claimed of a clip."""
    words, figure = CLIPS[name]
    return [*index_claims(found, words, figure), *pose_claims(found, words, figure + 1)]


def draw_region(out: pathlib.Path, style: str) -> None:
    """Figure 4, on the first segment of side stepping."""
    found = mended("sidestep", options=Options(basis="poly3", others=(), floor=0.0))
    for segment in segments_of(found):
        shown = choice_of(found, segment) if segment.round == 1 else None
        if shown is not None:
            write_whole(out / "figure-4.svg", as_file(choice(shown, label="Figure 4"), style))
            return
    print("figure 4: no segment of side stepping has a region")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    parser.add_argument("--method", default="warp")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    style = files("surefoot.reports").joinpath("page.css").read_text("utf-8")
    claims = region_claims()
    draw_region(options.out, style)
    for name, (_, figure) in CLIPS.items():
        if name not in bundled.names():
            print(f"{name}: no such bundled clip, so no figures {figure} and {figure + 1}")
            continue
        found = mended(name, options.method)
        print(f"{name}: {found.explain()}")
        plot = as_file(d_svg(found, found.explain()), style)
        write_whole(options.out / f"figure-{figure}.svg", plot)
        pictures = picture_svgs(found, PICTURES)
        if pictures:
            write_whole(options.out / f"figure-{figure + 1}.svg", stacked(pictures))
        claims += claims_of(found, name)
    text = json.dumps(claims, indent=1, ensure_ascii=False) + "\n"
    write_whole(options.out / "claims.json", text)
    for claim in claims:
        print("holds " if claim["holds"] else "DOES NOT HOLD ", claim["figure"], claim["claim"],
              claim["measured"], claim["note"])  # fmt: skip
    size = sum(file.stat().st_size for file in options.out.iterdir())
    print(f"{options.out.name}: {size / 1e6:.2f} MB in all")


if __name__ == "__main__":
    main()
