"""What a report says and shows about an adaptation: a clip that was mended by new times."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

import numpy as np

from surefoot.adapters.adaptation import Adaptation, worst_n
from surefoot.dynamics.batch import Batch
from surefoot.index.index import Feasibility
from surefoot.motion.motion import Clip
from surefoot.reports import comparing, settings, staging
from surefoot.reports.changes import Segment, judged_in, segments_of, span_of
from surefoot.reports.feasibility import segments_block, worst_first
from surefoot.reports.parts import Block, Context, KeyFigure, Part, Rank
from surefoot.reports.phrases import moment, newtons, percent
from surefoot.reports.player import Actor, actor, stance_spans
from surefoot.reports.sections import provenance

NEAREST = 3  # joints that are listed although they keep their limits
MINUS = "\N{MINUS SIGN}"
SIGNED = re.compile(r"[+-][\d.]+ %")  # rounded to a naked zero where little is to spare
POLYGONS = 500  # moments at which the player is given the support of each of two


def adaptation_part(value: object, context: Context) -> Part:
    """A mended clip beside what it was: d, the warp, its choices, pictures, a player for both."""
    found = cast("Adaptation", value)  # the table of drawers chose this function by type
    before, after = found.before, found.after
    told = any(isinstance(other, Clip) for other in context.beside)
    opens = staging.moment_of(before, before.worst)
    return Part(
        sentences=_sentences(found),
        figures=_figures(found),
        blocks=(
            comparing.over_time_block(found, found.explain()),
            *comparing.warp_blocks(found),
            *_segment_table(found),
            *comparing.choice_blocks(found),
            *comparing.picture_blocks(found),
            *_why_not(found),
            *segments_block(after, worst_first(after), "What is still not feasible"),
            *_speeds(found),
            _settings(found),
        ),
        notices=(*found.notices, *after.notices, *before.robot.notices),
        provenance=() if told else provenance(found.clip, before.robot),
        actors=_actors(found),
        tracks=tuple(
            replace(staging.zmp_track(one), actor=i) for i, one in enumerate((after, before))
        ),
        polygons=tuple(
            replace(staging.polygon_of(one, POLYGONS), actor=i)
            for i, one in enumerate((after, before))
        ),
        arrows=tuple(
            replace(staging.arrow_of(one), actor=i) for i, one in enumerate((after, before))
        ),
        stances=stance_spans(after.clip.contacts, after.robot),
        worst_at=opens,
        terrain=before.clip.terrain,
        curve=staging.curve_of(after),
        compared=staging.curve_of(before),
        opens_at=opens,
        rank=_rank(found),
    )


def _actors(found: Adaptation) -> tuple[Actor, ...]:
    """The adapted robot, which the camera follows, and the original."""
    robot = found.before.robot
    made = []
    for one, label, style in (
        (found.after, "adapted", "solid"),
        (found.before, "original", "ghost"),
    ):
        batch = Batch(robot, robot.qpos(one.clip.motion))
        body = actor(batch, one.clip.motion.time)
        made.append(replace(body, label=label, style="solid" if style == "solid" else "ghost"))
    return tuple(made)


def _sentences(found: Adaptation) -> tuple[str, ...]:
    """What was done; why not, and what no timing can, stand apart."""
    said = found.explain()
    if found.why_not:
        said = said.removesuffix(f" {found.why_not}")
    if found.chosen != found.method:
        said = f"Asked for {found.method}; {found.chosen} gave the better clip. {said}"
    before = found.before
    i = before.worst
    reason = (
        (f"Before, it was worst at {moment(before.time[i])}. {before.limits.sentence(i)}",)
        if not before.all_feasible
        else ()
    )
    numbers = iter(percent_signed(worst_n(one) / one.weight_n) for one in (before, found.after))
    said = SIGNED.sub(lambda number: next(numbers, number.group()), said)
    return (said, *((found.why_not,) if found.why_not else ()), *reason)


def _figures(found: Adaptation) -> tuple[KeyFigure, ...]:
    before, after = found.before, found.after
    bad = not after.all_feasible
    left, was = len(after.segments()), len(before.segments())
    change = after.clip.motion.duration - before.clip.motion.duration
    figures = [
        KeyFigure(
            "Worst d over the weight",
            f"{_over(before).removesuffix(' %')} → {_over(after)}",
            f"{_signed(worst_n(before))} before, {_signed(worst_n(after))} after",
            bad,
        ),
        KeyFigure(
            "Feasible",
            f"{share(before).removesuffix(' %')} → {share(after)}",
            f"of the time; stretches that are not: {was} before, {left or 'none'} after"
            if was
            else "it was so before",
            bad,
        ),
    ]
    if found.lower_bound_n is not None:
        bound = found.lower_bound_n / before.weight_n
        figures.append(
            KeyFigure(
                "Lower bound",
                percent_signed(bound),
                "of the weight: no timing that is allowed has less"
                if bound > before.options.tolerance_over_weight
                else "of the weight: room for a feasible timing",
                bound > before.options.tolerance_over_weight,
            )
        )
    same = abs(change) < 5e-5
    figures += [
        KeyFigure(
            "Duration",
            "unchanged" if same else f"{change:+.3f} s".replace("-", MINUS),
            f"{after.clip.motion.duration:.2f} s",
        ),
        KeyFigure("Method", found.chosen, found.status),
    ]
    return tuple(figures)


def share(found: Feasibility) -> str:
    """The feasible share of the samples to a tenth of a percent; never 100 % where it is not."""
    if found.all_feasible:
        return "100 %"
    tenths = np.floor(1000.0 * float(found.feasible.mean())) / 10.0
    return f"{tenths:.1f} %"


def percent_signed(value: float) -> str:
    """A signed share to two or three digits, never a naked zero: `+3.2 %`, `−0.01 %`."""
    if not np.isfinite(value):
        return f"{MINUS}∞"
    size = abs(100.0 * value)
    if 0.0 < size < 0.005:
        return f"{'+' if value > 0.0 else MINUS}0.00… %"
    return f"{100.0 * value:+.{1 if size >= 1.0 else 2}f} %".replace("-", MINUS)


def _over(found: Feasibility) -> str:
    return percent_signed(worst_n(found) / found.weight_n)


def _signed(force: float) -> str:
    if not np.isfinite(force):
        return f"{MINUS}∞"
    return f"+{newtons(force)}" if force > 0.0 else newtons(force).replace("-", MINUS)


def _segment_table(found: Adaptation) -> tuple[Block, ...]:
    pieces = segments_of(found)
    if not pieces:
        return ()
    head = ("segment", "from–to", "what was done", "worst d before", "expected", "as written")
    rows = tuple(_segment_row(found, segment) for segment in pieces)
    text = (
        "In the original's time. Worst d over the weight: before, as the method expected of its"
        " answer, and of the clip as it was written, over the segment and what its warp reaches."
    )
    if any(segment.round > 1 for segment in pieces):
        text += " Later rounds mend what the ones before left or spoilt; their times are those of"
        text += " the clip as it was then."
    return (Block("Segments", text, head=head, rows=rows),)


def _segment_row(found: Adaptation, segment: Segment) -> tuple[str, ...]:
    judged = judged_in(found.after, *span_of(found, segment, segment.reach_s))
    return (
        f"{segment.number}" + (f", round {segment.round}" if segment.round > 1 else ""),
        f"{segment.start:.2f}–{moment(segment.end)}",
        _done(segment),
        "–" if segment.q_before is None else percent_signed(segment.q_before),
        "–" if segment.q is None else percent_signed(segment.q),
        percent_signed(judged),
    )


def _done(segment: Segment) -> str:
    """What was done to a segment, in words: shape, basis, floor, bound."""
    words = []
    if segment.details.get("warped") is False:
        words.append(str(segment.details.get("why_not") or "left as it is: nothing helped"))
    if segment.shape:
        words.append(segment.shape)
    if segment.basis:
        words.append(f"basis {segment.basis}")
    if segment.bound is not None:
        words.append(f"no warp below {percent_signed(segment.bound)}")
    if segment.details.get("floor_binds") is True:
        words.append("held by the floor of t′")
    if segment.details.get("by_hand") is True:
        words.append("chosen by hand")
    return ", ".join(words)


def _why_not(found: Adaptation) -> tuple[Block, ...]:
    if not found.why_not:
        return ()
    title = "Why it is not feasible everywhere"
    return (Block(title, found.why_not),) if not found.after.all_feasible else ()


def _speeds(found: Adaptation) -> tuple[Block, ...]:
    """Joint speeds over their limits, before and after."""
    old, new = (one.joints.speed_ratio.max(axis=0) for one in (found.before, found.after))
    order = np.argsort(-np.maximum(old, new), kind="stable")
    known = [int(j) for j in order if np.isfinite(new[j]) and np.isfinite(old[j])]
    shown = [j for k, j in enumerate(known) if k < NEAREST or max(old[j], new[j]) > 1.0]
    if not shown:
        return ()
    at = found.after.joints.speed_ratio.argmax(axis=0)
    rows = tuple(
        (
            found.after.joints.joint_names[j],
            percent(float(old[j])),
            percent(float(new[j])),
            moment(found.after.time[at[j]]),
            "beyond its limit now" if new[j] > 1.0 >= old[j]
            else "still beyond its limit" if new[j] > 1.0
            else "within its limit now" if old[j] > 1.0
            else "within its limit",
        )
        for j in shown
    )  # fmt: skip
    text = f"The largest speed of each joint over its limit; of {len(known)} joints the nearest."
    head = ("joint", "before", "after", "at", "")
    return (Block("Joint speeds", text, head=head, rows=rows),)


def _settings(found: Adaptation) -> Block:
    """How it was judged, and what the method says of itself."""
    block = settings.judged_with(found.after)
    own = tuple(
        (name.replace("_", " "), str(value))
        for name, value in found.details.items()
        if isinstance(value, int | float | str) and not isinstance(value, bool)
    )
    limits = found.details.get("limits")
    if isinstance(limits, dict):
        own += tuple((str(name).replace("_", " "), str(value)) for name, value in limits.items())
    return replace(block, title="Settings", rows=(("method", found.method), *own, *block.rows))


def _rank(found: Adaptation) -> Rank:
    cells = (
        ("status", found.status),
        ("method", found.chosen),
        ("feasible before", share(found.before)),
        ("after", share(found.after)),
        ("worst d before", _over(found.before)),
        ("after ", _over(found.after)),
    )
    return Rank(worst_n(found.after) / found.before.weight_n, cells)
