"""What joints have to give at their speeds, and commands cut down to it.

In the direction of motion a joint gives all its torque below a share of its speed limit, none above
the limit, linearly between; braking keeps all of it.
"""

import math

import numba

ALL_OF_IT = 1.0 - 1e-9  # whoever knows a limit asks for it up to rounding


@numba.njit(cache=True)
def bounded(wanted, speed, limit, speed_limit, taken_from):
    """The torque of one joint within its limits, and whether all there is, or more, was wanted."""
    bound = limit
    if wanted * speed > 0.0 and speed_limit < math.inf:
        left = (1.0 - abs(speed) / speed_limit) / (1.0 - taken_from)
        bound *= min(max(left, 0.0), 1.0)
    return min(max(wanted, -bound), bound), abs(wanted) >= bound * ALL_OF_IT


@numba.njit(cache=True)
def torques(wanted, speed, limit, speed_limit, taken_from, out, full):
    """Torques within the limits of torque and speed.

    Args:
        wanted: torques (m), N m; so is `out`, written.
        limit: of the torques, finite.
        speed_limit: infinite where there is none.
        taken_from: share of the speed limit from which on torque is taken away.
        full: written (m): all that there is, or more, was wanted.
    """
    for j in range(wanted.shape[0]):
        out[j], full[j] = bounded(wanted[j], speed[j], limit[j], speed_limit[j], taken_from)


@numba.njit(cache=True)
def servos(wanted, place, speed, stiffness, damping, limit, speed_limit, taken_from, out, full):
    """Positions for servos whose torque stays within the limits of torque and speed.

    A servo gives stiffness (position − place) − damping speed. The engine clamps it at the limit
    of the torque by itself while it integrates; only what the speed takes away is told to it.

    Args:
        wanted: positions (m), rad; so is `out`, written.
    """
    for j in range(wanted.shape[0]):
        asked = stiffness[j] * (wanted[j] - place[j]) - damping[j] * speed[j]
        given, full[j] = bounded(asked, speed[j], limit[j], speed_limit[j], taken_from)
        out[j] = wanted[j]
        if abs(given) < min(abs(asked), limit[j]) and stiffness[j] > 0.0:
            out[j] = place[j] + (given + damping[j] * speed[j]) / stiffness[j]
