"""What the index says against what the simulation does, on some hundred clips.

    python benchmarks/index_vs_simulation.py [--controller strict] [--processes 2] [--only N]

Members of every bundled family, the shared robot motions, plain retargets of the shared human
clips, on human25 and the shared g1; each also warped, late or hurried in steps. Written are
docs/index-vs-simulation.md, and beside it the rows as .csv and the plot as .svg. Needs the shared
data (SUREFOOT_SHARED, default ../shared).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import multiprocessing
import os
import pathlib

import matplotlib

matplotlib.use("svg")
import numpy as np
from matplotlib.figure import Figure
from variants import FAMILIES, ROOT, SHARED, Case, human_files, load, robot_files

import surefoot as sf
from surefoot.errors import SurefootError
from surefoot.index.index import Options

SEEDS = 4
CHANGES = ("none", "warp", "late 0.02", "late 0.04", "late 0.1", "late 0.2", "late 0.3",
           "speed 1.15", "speed 1.3", "speed 1.6")  # fmt: skip
FILE_CHANGES = ("none", "smooth 6", "speed 0.7", "speed 1.3")
HUMAN_CHANGES = ("none", "speed 0.5")
RATE_HZ = 500.0  # at which d is taken: the control rate
TOLERANCE = 1e-9  # over the weight: feasible
OUT = ROOT / "docs" / "index-vs-simulation.md"
COLUMNS = ("robot", "source", "change", "worst_d_over_mg", "infeasible_s", "stood", "fell_at_s",
           "cause", "com_error_mm", "root_error_mm", "torque_saturated", "joints_ok")  # fmt: skip

Row = dict[str, object]


def cases() -> list[Case]:
    """Every clip of the study."""
    robots = ("human25", "g1")
    found = [Case(robot, f"family {family} {seed}", change) for robot in robots
             for family in FAMILIES for seed in range(SEEDS) for change in CHANGES]  # fmt: skip
    found += [Case("g1", source, change) for source in robot_files() for change in FILE_CHANGES]
    found += [Case(robot, source, change) for robot in robots for source in human_files()
              for change in HUMAN_CHANGES]  # fmt: skip
    return found


def measured(given: tuple[Case, str]) -> Row:
    """One clip judged and simulated."""
    case, controller = given
    try:
        clip, robot = load(case)
        index = sf.feasibility(clip, robot, Options(rate_hz=RATE_HZ, key_frames=True))
        found = sf.simulate(clip, robot, controller=controller, index=index)
    except SurefootError as error:
        return {"robot": case.robot, "source": case.source, "change": case.change,
                "cause": f"not done: {error}"}  # fmt: skip
    limits = index.joints
    kept = not (limits.position_beyond.any() or limits.speed_beyond.any())
    beyond = index.upper > TOLERANCE * index.weight_n
    once = index.samples.side <= 0
    step = np.diff(index.time[once], append=index.time[-1])
    return {
        "robot": case.robot,
        "source": case.source,
        "change": case.change,
        "worst_d_over_mg": float(index.upper.max()) / index.weight_n,
        "infeasible_s": float(step[beyond[once]].sum()),
        "stood": found.stood,
        "fell_at_s": found.fell_at,
        "cause": found.cause or "",
        "com_error_mm": 1e3 * found.tracking.com_error_max_m,
        "root_error_mm": 1e3 * found.tracking.root_error_max_m,
        "torque_saturated": found.tracking.torque_saturated_fraction,
        "joints_ok": kept,
    }


def area_under_roc(score: np.ndarray, fell: np.ndarray) -> float:
    """The chance that a clip that fell has the larger score of two (ties count half)."""
    above = score[fell][:, None] - score[~fell][None, :]
    return float(np.mean((above > 0.0) + 0.5 * (above == 0.0)))


def page(rows: list[Row], controller: str) -> str:
    """The document."""
    done = [row for row in rows if "stood" in row]
    worst = np.array([float(row["worst_d_over_mg"]) for row in done])  # type: ignore[arg-type]
    seconds = np.array([float(row["infeasible_s"]) for row in done])  # type: ignore[arg-type]
    fell = np.array([not row["stood"] for row in done])
    feasible = worst <= TOLERANCE
    lines = [HEAD.format(n=len(done), left=len(rows) - len(done), controller=controller)]
    lines += ["| | stood | fell |", "| --- | --- | --- |"]
    for name, which in (("feasible (d ≤ 0 everywhere)", feasible), ("infeasible", ~feasible)):
        lines.append(f"| {name} | {int((which & ~fell).sum())} | {int((which & fell).sum())} |")
    lines += [
        "",
        f"Area under the ROC curve: {area_under_roc(worst, fell):.3f} by the worst d,"
        f" {area_under_roc(seconds, fell):.3f} by the time with d > 0.",
        "",
        "![worst d against the largest error, falls marked](index-vs-simulation.svg)",
        "",
        "| worst d / mg | clips | fell | median CoM error of those that stood, mm |",
        "| --- | --- | --- | --- |",
    ]
    edges = (-np.inf, 1e-9, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, np.inf)
    error = np.array([float(row["com_error_mm"]) for row in done])  # type: ignore[arg-type]
    for low, high in itertools.pairwise(edges):
        which = (worst > low) & (worst <= high)
        if which.any():
            stood = which & ~fell
            middle = f"{np.median(error[stood]):.1f}" if stood.any() else "–"
            name = "0 or less" if low < 0 else f"{low:.2g} to {high:.2g}"
            lines.append(f"| {name} | {which.sum()} | {int((which & fell).sum())} | {middle} |")
    lines += ["", "| robot | clips of | stood, feasible | fell, feasible | stood, infeasible |"
              " fell, infeasible |", "| --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for robot in ("human25", "g1"):
        for kind in ("family", "robot", "human"):
            which = np.array([row["robot"] == robot and str(row["source"]).startswith(kind)
                              for row in done])  # fmt: skip
            if which.any():
                counts = [int((which & a & b).sum()) for a in (feasible, ~feasible)
                          for b in (~fell, fell)]  # fmt: skip
                lines.append(f"| {robot} | {kind} | " + " | ".join(map(str, counts)) + " |")
    exceptions = [row for row, f, ok in zip(done, fell, feasible, strict=True) if f and ok]
    lines += ["", "Feasible and fell, each one:" if exceptions else "No feasible clip fell.", ""]
    lines += [f"- {row['robot']}, {row['source']}, {row['change']}: {row['cause']} at"
              f" {row['fell_at_s']:.2f} s, torque limit reached in"
              f" {100 * float(row['torque_saturated']):.2f} % of the joint samples, joints within"  # type: ignore[arg-type]
              f" position and speed limits: {'yes' if row['joints_ok'] else 'no'}"
              for row in exceptions]  # fmt: skip
    return "\n".join(lines) + "\n"


HEAD = """# The index against the simulation

    python benchmarks/index_vs_simulation.py

{n} clips ({left} more could not be done): every bundled family, the shared robot motions, plain
retargets of the shared human clips, on human25 and the shared g1, each also warped, late (the body
follows so many seconds behind its feet), hurried or slowed. Judged at 500 Hz, simulated with the
controller `{controller}` and no disturbance; a clip longer than 12 s is cut. Rows:
[index-vs-simulation.csv](index-vs-simulation.csv).
"""


def plot(rows: list[Row], path: pathlib.Path) -> None:
    """Worst d against the largest error of the centre of mass; falls as crosses."""
    done = [row for row in rows if "stood" in row]
    figure = Figure(figsize=(7.0, 4.0))
    axes = figure.add_subplot()
    for robot, colour in (("human25", "#2563eb"), ("g1", "#d97706")):
        for stood, mark in ((True, "o"), (False, "x")):
            part = [row for row in done if row["robot"] == robot and row["stood"] is stood]
            x = [100.0 * float(row["worst_d_over_mg"]) for row in part]  # type: ignore[arg-type]
            y = [float(row["com_error_mm"]) for row in part]  # type: ignore[arg-type]
            axes.scatter(x, y, s=14, marker=mark, c=colour, alpha=0.6, linewidths=1.0,
                         label=f"{robot}, {'stood' if stood else 'fell'}")  # fmt: skip
    axes.set_xscale("symlog", linthresh=1.0)
    axes.set_yscale("log")
    axes.axvline(0.0, color="#6b7280", linewidth=0.8)
    axes.set_xlabel("worst d, % of the weight")
    axes.set_ylabel("largest error of the centre of mass, mm")
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})


def main() -> None:
    """Run all, write the page, the rows and the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--controller", default="strict")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int, default=None, help="every Nth clip")
    args = parser.parse_args()
    if not SHARED.is_dir():
        print("the shared data are not here: set SUREFOOT_SHARED")
        return
    every = cases()[:: args.only or 1]
    rows: list[Row] = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(args.processes, maxtasksperchild=40) as pool:
        given = [(case, args.controller) for case in every]
        for k, row in enumerate(pool.imap(measured, given), 1):
            rows.append(row)
            print(f"{k}/{len(every)}", *(f"{row.get(key)}" for key in COLUMNS[:9]), flush=True)
    OUT.write_text(page(rows, args.controller), encoding="utf-8")
    with OUT.with_suffix(".csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: round(value, 5) if isinstance(value, float) else value
             for key, value in row.items()} for row in rows
        )  # fmt: skip
    plot(rows, OUT.with_suffix(".svg"))


if __name__ == "__main__":
    main()
