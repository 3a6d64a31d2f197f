"""Does a clip stand: reference, controller and scene made from it, simulated, judged."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import replace

from surefoot.control import controllers
from surefoot.control.reference import reference_of
from surefoot.control.target import Controller
from surefoot.errors import Notice
from surefoot.index.index import Feasibility, Options, feasibility
from surefoot.motion.motion import Clip
from surefoot.robots.robot import Robot
from surefoot.simulation.disturbances import Disturbances, Push, drawn
from surefoot.simulation.loop import run
from surefoot.simulation.scene import Settings, scene_of
from surefoot.simulation.thresholds import Thresholds
from surefoot.simulation.verdict import Verdict, judge

Progress = Callable[[int, int, str], None]


def simulate(
    clip: Clip,
    robot: Robot,
    *,
    controller: str | Controller = controllers.DEFAULT,
    friction: float | None = None,
    pushes: tuple[Push, ...] = (),
    disturbances: Disturbances | None = None,
    seed: int = 0,
    settings: Settings | None = None,
    controller_options: object = None,
    settle_s: float = 0.2,
    hold_s: float = 1.0,
    thresholds: Thresholds | None = None,
    index: Feasibility | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Whether a robot that tries to follow a clip stands, and if not, what came first.

    The physics is MuJoCo's and knows nothing of what the controller expects. The robot settles on
    the first frame, follows the clip, holds its last frame. The same seed gives the same run, to
    the last bit on one machine.

    Args:
        controller: a name of `control.controllers`, or a controller made for this robot.
        friction: of the whole ground, instead of the clip's; the controller is told.
        pushes: besides those that the disturbances draw.
        disturbances: what the controller is not told.
        controller_options: the `Options` of the controller's module.
        index: of the clip; it is taken when the robot falls, to see whether the reference was
            infeasible, unless it is given.

    Raises:
        BadMotion: fewer than two frames, or joints that are not the robot's.
        BadOption: options that cannot be used.
        UnknownName: a controller or a link that is not there.

    Example:
        >>> import surefoot as sf
        >>> from surefoot.samples import bundled
        >>> robot = sf.load_robot("human25")
        >>> clip = sf.retarget(sf.read(bundled.path("sidestep")), robot)
        >>> result = simulate(clip, robot)
        >>> result.stood == (result.fell_at is None)
        True
    """
    began = clock.perf_counter()
    settings, wrong = settings or Settings(), disturbances or Disturbances()
    reference = reference_of(clip, robot, rate_hz=settings.control_hz, friction=friction)
    if isinstance(controller, str):
        name = controller
        driver = controllers.make(
            name, robot, reference.patches, dt=reference.dt, options=controller_options
        )
    else:
        name, driver = type(controller).__name__.lower(), controller
    chance = drawn(
        wrong,
        robot,
        surfaces=len(clip.terrain.surfaces),
        end_s=float(clip.motion.time[-1]) + hold_s,
        seed=seed,
    )
    slide, said = ground_friction(clip, friction if wrong.friction is None else wrong.friction)
    scene = scene_of(
        robot,
        clip.terrain,
        settings=settings,
        drive=driver.drive,
        servo_gains=driver.servo_gains,
        friction=slide,
        mass_factor=chance.mass_factor,
        shift_m=chance.shift_m,
    )
    every = (*pushes, *chance.pushes)
    trace = run(
        scene,
        reference,
        driver,
        pushes=every,
        delay_s=wrong.delay_s,
        noise=wrong.noise,
        rng=chance.noise,
        settle_s=settle_s,
        hold_s=hold_s,
        thresholds=thresholds,
        progress=progress,
    )
    if trace.fell_at is not None and index is None:
        index = feasibility(clip, robot, Options(friction=friction))
    verdict = judge(
        trace,
        clip=clip,
        robot=robot,
        index=index,
        pushes=every,
        thresholds=thresholds,
        controller=name,
        seed=seed,
        notices=(*clip.notices, *said, *scene.notices, *trace.notices),
    )
    return replace(verdict, seconds=clock.perf_counter() - began)


def ground_friction(clip: Clip, friction: float | None) -> tuple[list[float], tuple[Notice, ...]]:
    """The friction of each surface of a clip, and what was assumed.

    What was asked for; else that of the stances on the surface, the smallest where they differ;
    else the terrain's.
    """
    terrain = clip.terrain
    if friction is not None:
        return [friction] * len(terrain.surfaces), ()
    out, said = [], []
    for i in range(len(terrain.surfaces)):
        told = sorted({s.friction for s in clip.contacts.stances if s.surface == i})
        out.append(told[0] if told else terrain.friction)
        if len(told) > 1:
            sentence = (
                f"stances on surface {i} have frictions from {told[0]:g} to {told[-1]:g}: the"
                f" smallest is simulated"
            )
            said.append(Notice("assumption", f"surface {i}", sentence, value=told[0]))
    return out, tuple(said)
