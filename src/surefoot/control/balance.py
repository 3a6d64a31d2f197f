"""The balance controller: where the centre of pressure should be, by a pendulum on a mobile base.

Section IV-A of Yamane and Hodgins. The whole body is a point mass on two joints (the tilts) above a
base that rolls on the ground; the base stands for the centre of pressure. In absolute coordinates
the two horizontal axes are independent and alike:

    x = (c, b, ċ, ḃ)    c̈ = ω² (c − b)    b̈ = u    ω² = g / height

with the centre of mass at c and the base at b, m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.linalg import expm, solve_continuous_are

from surefoot.arrays import Array, Float64, locked
from surefoot.errors import BadOption

Form = Literal["literal", "feedforward", "capture"]

LOWEST_M = 0.05  # of the centre of mass over its support; a body that lies down is no pendulum


@dataclass(frozen=True, slots=True)
class BalanceParameters:
    """The one parameter set of the balance controller and of every prediction of it.

    Times are in units of 1/ω and lengths in metres, so that a small robot needs no others.
    """

    com_weight: float = 4057.7
    """Of (c − r)² in the regulator's cost, 1/m²; σ² Ω⁴ with Ω = 7, σ = 1.3."""
    cop_weight: float = 2401.0
    """Of (b − r)², 1/m²; Ω⁴."""
    com_vel_weight: float = 0.0
    """Of (ċ/ω)², 1/m²."""
    cop_vel_weight: float = 0.0
    """Of (ḃ/ω)², 1/m²; the weight of (u/ω²)² is 1."""
    com_observer: float = 6.0
    """Both poles of the observer of c and ċ, over −ω."""
    cop_observer: float = 2.0
    """Both poles of the observer of b and ḃ, over −ω; a fast one bears little delay."""
    height_ratio: float = 1.0
    """Pendulum's height over that of the centre of mass: a body that swings its trunk and arms
    falls like a longer one."""
    capture_gain: float = 1.0
    """k of the capture-point law."""

    def __post_init__(self) -> None:
        """Refuse what makes no regulator.

        Raises:
            BadOption: a weight that is negative, or a parameter that must be positive and is not.
        """
        for name in ("com_weight", "com_vel_weight", "cop_vel_weight"):
            _refuse(name, getattr(self, name), lowest_in=True)
        for name in ("cop_weight", "com_observer", "cop_observer", "height_ratio", "capture_gain"):
            _refuse(name, getattr(self, name), lowest_in=False)


@dataclass(frozen=True, slots=True, eq=False)
class Pendulum:
    """State equation, regulator and observer of one horizontal axis; both axes share them.

    u = −K (x − s r) with s = (1, 1, 0, 0) for the reference r of the centre of mass; the observer
    is x̂̇ = A0 x̂ + B0 u + L (y − H x̂) with y = (c, b) as measured.
    """

    frequency: float
    """ω, rad/s."""
    A0: Float64[Array, "4 4"]
    B0: Float64[Array, " 4"]
    H: Float64[Array, "2 4"]
    K: Float64[Array, " 4"]
    L: Float64[Array, "4 2"]

    def __post_init__(self) -> None:
        """Lock the matrices."""
        for name in ("A0", "B0", "H", "K", "L"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    @property
    def observed(self) -> tuple[Float64[Array, "4 4"], Float64[Array, "4 3"]]:
        """A_b and B_b of (1), x̂̇ = A_b x̂ + B_b u_b with u_b = (r, c measured, b measured)."""
        A = self.A0 - np.outer(self.B0, self.K) - self.L @ self.H
        return A, np.column_stack([self._from_reference(), self.L])

    @property
    def regulated(self) -> tuple[Float64[Array, "4 4"], Float64[Array, "4 1"]]:
        """The same without observer, for prediction: the input is the reference alone."""
        return self.A0 - np.outer(self.B0, self.K), self._from_reference()[:, None]

    def _from_reference(self) -> Float64[Array, " 4"]:
        return np.asarray(self.B0 * (self.K[0] + self.K[1]), dtype=np.float64)


def pendulum(height_m: float, gravity: float, parameters: BalanceParameters) -> Pendulum:
    """The pendulum of a robot, regulated as the parameters say.

    Args:
        height_m: of the centre of mass over the support; at least 5 cm are taken.
        gravity: m/s², positive.
    """
    omega = float(np.sqrt(gravity / (max(height_m, LOWEST_M) * parameters.height_ratio)))
    A = np.zeros((4, 4))  # time in 1/ω: (c, b, ċ/ω, ḃ/ω)
    A[0, 2] = A[1, 3] = A[2, 0] = 1.0
    A[2, 1] = -1.0
    B = np.array([0.0, 0.0, 0.0, 1.0])
    Q = np.diag(
        [
            parameters.com_weight,
            parameters.cop_weight,
            parameters.com_vel_weight,
            parameters.cop_vel_weight,
        ]
    )
    P = solve_continuous_are(A, B[:, None], Q, np.eye(1))
    a, e = parameters.com_observer, parameters.cop_observer
    L = np.array([[2.0 * a, 0.0], [0.0, 2.0 * e], [a * a + 1.0, 0.0], [0.0, e * e]])
    units = np.array([1.0, 1.0, omega, omega])  # of the state, against the scaled one
    return Pendulum(
        frequency=omega,
        A0=omega * (units[:, None] * A / units),
        B0=B,
        H=np.eye(2, 4),
        K=omega**2 * (B @ P) / units,
        L=omega * units[:, None] * L,
    )


def discretised(
    A: Float64[Array, "k k"], B: Float64[Array, "k u"], dt: float
) -> tuple[Float64[Array, "k k"], Float64[Array, "k u"]]:
    """The exact step of ẋ = A x + B u over dt with the input held: (25) from (1)."""
    k, u = B.shape
    both = np.zeros((k + u, k + u))
    both[:k, :k], both[:k, k:] = A, B
    step = expm(both * dt)
    return np.ascontiguousarray(step[:k, :k]), np.ascontiguousarray(step[:k, k:])


class Balance:
    """The balance controller step by step, in one of three forms.

    `literal`: (1), input are the reference of the centre of mass and what was measured.
    `feedforward`: the same regulator and observer about the reference instead of about its place:
    u_b = (0, c − c_ref, b − p_ref), and p_ref is added to the result. So velocity, acceleration and
    every higher rate of the reference are fed forward without a difference being taken.
    `capture`: p_ref + (1 + k) (ξ − ξ_ref) with the capture point ξ = c + ċ/ω.
    """

    def __init__(self, form: str, parameters: BalanceParameters, *, dt: float) -> None:
        """Nothing is known before the first step.

        Raises:
            BadOption: a form that there is not.
        """
        if form not in get_args(Form):
            raise BadOption(
                what=f"no balance form '{form}', there are: {', '.join(get_args(Form))}"
            )
        self.form = form
        self.parameters = parameters
        self._dt = dt
        self._omega = 0.0
        self._A, self._B = np.zeros((4, 4)), np.zeros((4, 3))
        self._x: Float64[Array, "4 2"] | None = None

    @property
    def state(self) -> Float64[Array, "4 2"] | None:
        """The observed (c, b, ċ, ḃ) of both axes, world; None before the first step.

        About the reference in the form `feedforward`; the form `capture` has none.
        """
        return None if self._x is None else self._x.copy()

    def reset(self) -> None:
        """Forget all steps; the height of the pendulum is taken anew."""
        self._omega, self._x = 0.0, None

    def desired_cop(
        self,
        com_w: Float64[Array, " 3"],
        com_vel_w: Float64[Array, " 3"],
        cop_w: Float64[Array, " 2"] | None,
        reference: tuple[Float64[Array, " 3"], Float64[Array, " 3"], Float64[Array, " 3"]],
        *,
        gravity: float,
    ) -> Float64[Array, " 2"]:
        """r_b, where the centre of pressure should be, before the ground's edges are known.

        Args:
            cop_w: as measured; None while nothing carries, and the observer believes itself.
            reference: position and velocity of the centre of mass, and zero-moment point.
            gravity: m/s², positive.
        """
        com_ref, vel_ref, zmp_ref = (part[:2] for part in reference)
        if self._omega == 0.0:
            self._begin(float(reference[0][2] - reference[2][2]), gravity)
        if self.form == "capture":
            off = com_w[:2] - com_ref + (com_vel_w[:2] - vel_ref) / self._omega
            return np.asarray(zmp_ref + (1.0 + self.parameters.capture_gain) * off)
        about = self.form == "feedforward"
        com = com_w[:2] - com_ref if about else com_w[:2]
        shift = zmp_ref if about else np.zeros(2)
        if self._x is None:
            cop = shift + com if cop_w is None else cop_w
            self._x = np.array([com, cop - shift, np.zeros(2), np.zeros(2)])
        pressed = self._x[1] if cop_w is None else cop_w - shift
        wanted = np.zeros(2) if about else com_ref
        self._x = self._A @ self._x + self._B @ np.array([wanted, com, pressed])
        return np.asarray(shift + self._x[1])

    def _begin(self, height: float, gravity: float) -> None:
        model = pendulum(height, gravity, self.parameters)
        self._omega = model.frequency
        self._A, self._B = discretised(*model.observed, self._dt)


def _refuse(name: str, value: float, *, lowest_in: bool) -> None:
    fits = value >= 0.0 if lowest_in else value > 0.0
    if not (fits and np.isfinite(value)):
        kind = "zero or more" if lowest_in else "positive"
        raise BadOption(what=f"balance {name} must be {kind}, got {value:g}")
