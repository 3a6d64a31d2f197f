"""The torques with which a body moves as it is told while its feet press where they are told."""

import numpy as np
from numba import njit

from surefoot.kernels.body import jacobian


@njit(cache=True, nogil=True, error_model="numpy")
def press(tree, body, acc, link_body, contact, wrench, J, torque):
    """τ = M q̈ + h − Σ Jᵀ w f over the carrying links, each at its centre of pressure.

    Of the wrench f, force before moment, a link takes its share w of the load.

    The rows of all degrees of freedom, the root's too, where they say what is missing.
    """
    dofs = torque.shape[0]
    for d in range(dofs):
        value = body.bias[d]
        for e in range(dofs):
            value += body.mass_matrix[d, e] * acc[e]
        torque[d] = value
    for c in range(link_body.shape[0]):
        share = contact.share[c]
        if share <= 0.0:
            continue
        p = contact.cop[c]
        jacobian(tree, body, link_body[c], p[0], p[1], p[2], J)
        for d in range(dofs):
            value = 0.0
            for e in range(6):
                value += J[e, d] * wrench[e]
            torque[d] -= share * value


def room_for(dofs: int) -> tuple[np.ndarray, np.ndarray]:
    """A Jacobian and the torques, to be written."""
    return np.zeros((6, dofs)), np.zeros(dofs)
