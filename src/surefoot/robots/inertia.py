"""Masses and inertias of links: those of the file, and impossible ones made possible with a notice.

The engine refuses a moment of inertia that is not positive, one that exceeds the sum of the two
others, and a link that moves without any inertia. Files of real robots have all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from surefoot.arrays import Array, Float64
from surefoot.errors import Notice, listed
from surefoot.robots.engine import mujoco

ROUNDING = 1e-9  # of the largest moment; a thin rod's smallest one may be this far below zero
POINT_M2 = 1e-12  # moment over mass, m²; below, a link is a point: a radius of a micrometre
LEAST = 1e-12  # kg and kg m² of a link that moves and has none; the engine takes more than 1e-15


def moments(body: mujoco.MjsBody) -> Float64[Array, " 3"]:
    """Principal moments of a link as its file gives them, rising, kg m²; NaN where one is NaN."""
    full = np.asarray(body.fullinertia, dtype=np.float64)
    if np.isnan(full[0]):  # the engine's mark for: not given
        return np.sort(np.asarray(body.inertia, dtype=np.float64))
    if not np.all(np.isfinite(full)):
        return np.full(3, np.nan)
    return np.asarray(np.linalg.eigvalsh(_matrix(full)), dtype=np.float64)


def _matrix(full: Float64[Array, " 6"]) -> Float64[Array, "3 3"]:
    xx, yy, zz, xy, xz, yz = full
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def mended(spec: mujoco.MjSpec) -> Iterator[Notice]:
    """Make every inertia that is given positive, and give a least one to links that move without.

    What is zero but for rounding becomes zero, a thin rod stays one; moments that are negative in
    earnest are replaced as the engine balances those that break A + B ≥ C.
    """
    for body in spec.bodies[1:]:
        given = moments(body)
        full = np.asarray(body.fullinertia, dtype=np.float64)
        if not body.explicitinertial or not np.all(np.isfinite(full)):
            continue
        if np.abs(given).max() <= POINT_M2 * abs(body.mass):
            _put(body, np.zeros(3))
        elif given[0] > ROUNDING * given[2]:
            continue
        elif given[0] >= -ROUNDING * given[2] and given[1] >= (1.0 - ROUNDING) * given[2]:
            _, axes = np.linalg.eigh(_matrix(full))
            lifted = (axes * np.maximum(given, 2.0 * ROUNDING * given[2])) @ axes.T
            body.fullinertia = lifted[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        elif given.sum() > 0.0:
            _put(body, np.full(3, given.mean()))
            yield replaced(str(body.name), given, float(given.mean()))
    light = [body for body in spec.bodies[1:] if list(body.joints) and not _weighs(spec, body)]
    for body in light:
        if not body.explicitinertial:
            body.ipos, body.iquat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        body.explicitinertial, body.mass = True, max(float(body.mass), LEAST)
        _put(body, np.maximum(moments(body), LEAST))
    if light:
        names = listed([f"'{body.name}'" for body in light])
        sentence = (
            f"links that move without inertia given {LEAST:g} kg m² and at least {LEAST:g} kg"
        )
        yield Notice("repair", "inertia", f"{sentence}: {names}", value=float(len(light)))


def _put(body: mujoco.MjsBody, values: Float64[Array, " 3"]) -> None:
    body.fullinertia, body.inertia = np.full(6, np.nan), values


def _weighs(spec: mujoco.MjSpec, body: mujoco.MjsBody) -> bool:
    """Whether a link, or one that is fixed to it, has mass and moments of its own or by shapes."""
    from_shapes = int(spec.compiler.inertiafromgeom)  # 0 never, 1 always, 2 where not given
    waiting = [body]
    while waiting:
        link = waiting.pop()
        waiting.extend(child for child in link.bodies if not list(child.joints))
        if from_shapes == 1 or (from_shapes == 2 and not link.explicitinertial):
            own = any(geom.mass > 0.0 if np.isfinite(geom.mass) else geom.density > 0.0
                      for geom in link.geoms)  # fmt: skip
        else:
            own = link.mass > LEAST and bool(moments(link)[0] > 0.0)
        wrong = (  # left to the engine to refuse
            link.mass < 0.0
            or not moments(link)[0] >= 0.0
            or any(geom.mass < 0.0 or geom.density < 0.0 for geom in link.geoms)
        )
        if own or wrong or spec.compiler.boundmass > 0.0:
            return True
    return False


def principal_moments(spec: mujoco.MjSpec) -> dict[str, Float64[Array, " 3"]]:
    """Principal moments by link as the file has them, rising, kg m²."""
    return {str(body.name): moments(body) for body in spec.bodies[1:] if body.explicitinertial}


def balanced(given: Mapping[str, Float64[Array, " 3"]], model: mujoco.MjModel) -> Iterator[Notice]:
    """One notice for each link whose inertia the engine has replaced."""
    for name, old in given.items():
        now = np.asarray(model.body(name).inertia, dtype=np.float64)
        if np.ptp(now) == 0.0 < np.ptp(old) and old[2] > old[0] + old[1]:
            yield replaced(name, old, float(now[0]))


def replaced(link: str, old: Float64[Array, " 3"], mean: float) -> Notice:
    """The notice of a link whose three moments have become their mean."""
    return Notice(
        kind="repair",
        part=link,
        sentence=f"inertia of link '{link}' is impossible ({old[0]:.3g}, {old[1]:.3g}, "
        f"{old[2]:.3g} kg m²: the largest exceeds the sum of the others): replaced by the mean "
        f"{mean:.3g} for all three",
        value=mean,
    )
