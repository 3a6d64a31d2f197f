"""What an outsider needs to check the index with other tools, and its figures by sample as text."""

from __future__ import annotations

import csv
import io

import numpy as np

from surefoot.arrays import Array, BoolArray, IntArray
from surefoot.index.index import Feasibility

COLUMNS = (
    "time_s",
    "side",
    "d_n",
    "d_lower_n",
    "d_upper_n",
    "d_over_weight",
    "feasible",
    "converged",
    "dimension",
    "limit",
    "why",
    "zmp_x_m",
    "zmp_y_m",
    "zmp_z_m",
    "zmp_outside_m",
    "required_friction",
)
SETTLED, UNSETTLED, EVERYTHING = 0, 1, 2  # of `flag`; the last: d = −inf


def dump_arrays(found: Feasibility) -> dict[str, Array | BoolArray | IntArray]:
    """The arrays of `surefoot index --dump`, by name."""
    samples, cones = found.samples, found.samples.cones
    everything = np.isneginf(found.upper)
    flag = np.where(everything, EVERYTHING, np.where(found.converged, SETTLED, UNSETTLED))
    return {
        "schema": np.array(1),
        "time": samples.time,
        "side": samples.side,
        "qpos": samples.batch.qpos,
        "qvel": samples.batch.qvel,
        "qacc": samples.batch.qacc,
        "wrench": samples.wrench,
        "reference": samples.ref_w,
        "vertex_sample": cones.vertex_sample,
        "vertex_pos": cones.vertex_pos,
        "vertex_normal": cones.vertex_normal,
        "vertex_friction": cones.vertex_friction,
        "d": found.d,
        "d_lower": found.lower,
        "d_upper": found.upper,
        "dual": found.dual,
        "dimension": found.dimension,
        "flag": flag.astype(np.int8),
        "length_scale": np.array(float(found.options.length_scale_m)),
        "cone_sides": np.array(found.options.cone_sides),
        "tolerance": np.array(float(found.options.tolerance)),
        "weight": np.array(found.weight_n),
        "model_xml": np.array(found.robot.mjcf),
    }


def csv_text(found: Feasibility) -> str:
    """One row a sample: d with its bounds, the limit in words, ZMP and support."""
    ground = found.ground
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    zmp = np.where(ground.defined[:, None], ground.zmp_w, np.nan)
    for i in range(found.samples.n):  # text: one row each
        numbers = [found.d[i], found.lower[i], found.upper[i], found.d[i] / found.weight_n]
        points = [*zmp[i], ground.outside_m[i], ground.required_friction[i]]
        table.writerow(
            [f"{found.time[i]:.9g}", int(found.samples.side[i]), *map(_cell, numbers),
             int(found.feasible[i]), int(found.converged[i]), int(found.dimension[i]),
             found.limits.limit(i), found.limits.sentence(i), *map(_cell, points)]
        )  # fmt: skip
    return out.getvalue()


def _cell(value: float) -> str:
    """A number, or nothing where there is none."""
    return f"{value:.9g}" if np.isfinite(value) else ""
