"""What joints have to give at their speeds, and commands cut down to it."""

import math

import numba

FREE_OF_LIMIT = 1e-9  # relative: whoever knows the limit asks for it up to rounding


@numba.njit(cache=True)
def torques(wanted, speed, limit, speed_limit, taken_from, out, saturated):
    """Torques within the limits of torque and speed.

    In the direction of motion a joint gives all its torque below the share `taken_from` of its
    speed limit, none above the limit, linearly between; braking keeps all of it.

    Args:
        wanted: torques (m), N m; so is `out`, written.
        limit: of the torques, finite.
        speed_limit: infinite where there is none.
        saturated: written (m): all that there is, or more, was wanted.
    """
    for j in range(wanted.shape[0]):
        bound = limit[j]
        if wanted[j] * speed[j] > 0.0 and speed_limit[j] < math.inf:
            left = (1.0 - abs(speed[j]) / speed_limit[j]) / (1.0 - taken_from)
            bound *= min(max(left, 0.0), 1.0)
        saturated[j] = abs(wanted[j]) >= bound * (1.0 - FREE_OF_LIMIT)
        out[j] = min(max(wanted[j], -bound), bound)


@numba.njit(cache=True)
def servos(
    wanted, place, speed, stiffness, damping, limit, speed_limit, taken_from, out, saturated
):
    """Positions for servos whose torque stays within the limits of torque and speed.

    A servo gives stiffness (position − place) − damping speed. The engine clamps it at the limit
    of the torque by itself while it integrates; only what the speed takes away is told to it.

    Args:
        wanted: positions (m), rad; so is `out`, written.
    """
    torques(
        stiffness * (wanted - place) - damping * speed,
        speed, limit, speed_limit, taken_from, out, saturated,
    )  # fmt: skip
    for j in range(wanted.shape[0]):
        asked = stiffness[j] * (wanted[j] - place[j]) - damping[j] * speed[j]
        if abs(out[j]) < min(abs(asked), limit[j]) and stiffness[j] > 0.0:
            out[j] = place[j] + (out[j] + damping[j] * speed[j]) / stiffness[j]
        else:
            out[j] = wanted[j]
