"""Findings about loss scaling: what it saves, and how scalers live, check and unscale."""

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from explorer.model.message import Message, Text
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import number
from explorer.topics import cells
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.loss_scale.figures import (
    SCALER_NAMES,
    GuideExample,
    Losses,
    OverflowedStep,
    ScaleLimits,
    TinyGradient,
    Turn,
    by_name,
    case_name,
    counts,
    percent,
    same_scales,
    say,
    shown,
    turns_of,
)
from explorer.topics.loss_scale.inputs import (
    BATCHES,
    DTYPES,
    EXPONENTS,
    FACTOR,
    NOT_FINITE,
    WINDOW,
)
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    GUIDE_EXAMPLE,
    LIFE,
    LIMITS,
    OVERFLOWED_STEP,
    SCALING,
    SWEEP,
    TOPIC,
    UNDERFLOW,
    UNSCALING,
)
from explorer.topics.observations import of_each, outcome
from explorer.topics.question import Question

Record = TypeVar("Record")

SCALES = tuple(2.0**exponent for exponent in EXPONENTS)

EVERY = 4
"""The table has every fourth scale of the sweep; the charts have all."""


def by_float(
    evidence: Evidence, question: Question, kind: type[Record]
) -> Iterator[tuple[str, Text, Record]]:
    """The figures of each float, with the float's name and the name of those who gave them."""
    answers = evidence[question]
    for dtype in DTYPES:
        for who, figures in by_name(of_each(answers, dtype)):
            yield dtype, who, msgspec.convert(figures, kind)


# The sweep over scales


@TOPIC.finding()
def lost_by_scale(evidence: Evidence) -> Iterator[Text]:
    """How much of the gradients is lost at the least scale, at the best and at the greatest."""
    for dtype, who, losses in by_float(evidence, SWEEP, Losses):
        underflow, overflow, error = losses.underflow, losses.overflow, losses.error
        if losses.is_lossless:
            yield say("lossless", dtype=dtype, who=who, error=error[0])
            continue
        best = error.index(min(error))
        yield say(
            "lost_by_scale",
            dtype=dtype,
            who=who,
            first=EXPONENTS[0],
            best=EXPONENTS[best],
            last=EXPONENTS[-1],
            zero_at_first=percent(underflow[0]),
            zero=percent(underflow[best]),
            overflow=percent(overflow[best]),
            overflow_at_last=percent(overflow[-1]),
            error=error[best],
        )


@TOPIC.table()
def losses_by_scale(evidence: Evidence) -> Iterator[Table[Text]]:
    """The shares that underflow and overflow, and the error, at every fourth scale."""
    rows: list[tuple[Cell | Text, ...]] = []
    for dtype, who, losses in by_float(evidence, SWEEP, Losses):
        for index in range(0, len(EXPONENTS), EVERY):
            shares = (losses.underflow[index], losses.overflow[index])
            rows.append((dtype, who, f"2^{EXPONENTS[index]}", *shares, losses.error[index]))
    yield Table(
        title=say("losses_title"),
        columns=say.row("float", "where", "scale", "underflow_to_0", "overflow", "mean_error"),
        rows=tuple(rows),
        note=cells.sentences(say("losses_note"), cells.missing(evidence, SWEEP)),
    )


@TOPIC.chart()
def shares_lost(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The shares of gradients that underflow and overflow over the scales.

    What is never lost is left out.
    """
    series: list[Series[Text]] = []
    lossless: list[Message] = []
    for dtype, who, losses in by_float(evidence, SWEEP, Losses):
        if losses.is_lossless:
            lossless.append(say("float_of", dtype=dtype, who=who))
        lines = {"underflow_line": losses.underflow, "overflow_line": losses.overflow}
        for line, shares in lines.items():
            if any(shares):  # a line at zero says nothing
                name = say(line, dtype=dtype, who=who)
                series.append(Series(name, SCALES, tuple(shares)))
    if evidence[SWEEP]:
        yield Chart(
            name="shares",
            title=say("shares_title"),
            kind="line",
            x=say("loss_scale"),
            y=say("share"),
            series=tuple(series),
            log=("x",),
            note=say("shares_note", floats=tuple(lossless)) if lossless else "",
        )


@TOPIC.chart()
def error_of_unscaled_gradients(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The mean relative error over the scales, a line a float."""
    series: list[Series[Text]] = []
    for dtype, who, losses in by_float(evidence, SWEEP, Losses):
        if any(losses.error):
            name = say("error_line", dtype=dtype, who=who)
            series.append(Series(name, SCALES, tuple(losses.error)))
    if evidence[SWEEP]:
        yield Chart(
            name="error",
            title=say("error_title"),
            kind="line",
            x=say("loss_scale"),
            y=say("mean_error"),
            series=tuple(series),
            log=("x", "y"),
        )


# One tiny gradient


@TOPIC.finding()
def tiny_gradient(evidence: Evidence) -> Iterator[Text]:
    """What becomes of a gradient of 1e-8, in the floats that cannot hold it."""
    for dtype, who, tiny in by_float(evidence, UNDERFLOW, TinyGradient):
        if number(tiny.without) != 0:  # the float holds it, so there is nothing to save
            continue
        yield say(
            "tiny",
            dtype=dtype,
            who=who,
            scaled=shown(tiny.scaled),
            in_float32=shown(tiny.unscaled_in_float32),
            # Of an attempt that raised this is a message, which may end with a full stop.
            in_dtype=shown(tiny.unscaled_there).rstrip("."),
        )


@TOPIC.table()
def tiny_gradient_by_float(evidence: Evidence) -> Iterator[Table[Text]]:
    """The gradient of 1e-8 in every float, with and without scaling."""
    rows: list[tuple[Cell | Text, ...]] = []
    for dtype, who, tiny in by_float(evidence, UNDERFLOW, TinyGradient):
        rows.append((dtype, who, *map(shown, msgspec.structs.astuple(tiny))))
    yield Table(
        title=say("tiny_title"),
        columns=say.row(
            "float",
            "where",
            "without_scaling",
            "scaled_by_65536",
            "unscaled_in_that_float",
            "unscaled_in_float32",
        ),
        rows=tuple(rows),
        note=cells.missing(evidence, UNDERFLOW),
    )


# The guide's example


def examples(evidence: Evidence) -> list[tuple[Text, GuideExample]]:
    """Each different example beside those who gave it."""
    return by_name(evidence.records(GUIDE_EXAMPLE, GuideExample))


@TOPIC.finding()
def guide_example(evidence: Evidence) -> Iterator[Text]:
    """The guide's net, scaled and unscaled."""
    for who, example in examples(evidence):
        yield say(
            "example_finite" if example.all_finite else "example_not_finite",
            who=who,
            loss=shown(example.unscaled.loss),
            gradient=shown(example.unscaled.gradient),
            scaled_loss=shown(example.scaled.loss),
            scaled_gradient=shown(example.scaled.gradient),
        )


@TOPIC.table()
def guide_example_in_numbers(evidence: Evidence) -> Iterator[Table[Text]]:
    """Loss and gradient of the guide's net, scaled and unscaled."""
    rows: list[tuple[Cell | Text, ...]] = []
    for who, example in examples(evidence):
        scaled, unscaled = example.scaled, example.unscaled
        numbers = (scaled.loss, scaled.gradient, unscaled.loss, unscaled.gradient)
        rows.append((who, *map(shown, numbers), example.all_finite))
    yield Table(
        title=say("example_title"),
        columns=say.row(
            "where",
            "scaled_loss",
            "scaled_gradient",
            "unscaled_loss",
            "unscaled_gradient",
            "all_finite",
        ),
        rows=tuple(rows),
        note=cells.missing(evidence, GUIDE_EXAMPLE),
    )


# The scale through a training


def lives(evidence: Evidence) -> list[tuple[Text, tuple[Turn, ...]]]:
    """The steps of each scaler, GradScaler always alone.

    MindSpore's styles come together where they agree.
    """
    # The two classes are what is compared, so each has its own life even where they agree.
    turns = turns_of(evidence)
    gradscaler = turns.pop("torch", None)
    lives = by_name(turns, SCALER_NAMES)
    if gradscaler is not None:
        lives.append((SCALER_NAMES.of(["torch"]), gradscaler))
    return lives


@TOPIC.finding()
def steps_of_life(evidence: Evidence) -> Iterator[Text]:
    """The life of each scaler in a sentence, each clause counted; and where their scales agree."""
    scalers = lives(evidence)
    for scaler, turns in scalers:
        count = counts(turns)
        yield say(
            "life",
            scaler=scaler,
            skipped=count.skipped,
            overflows=count.overflows,
            factor=FACTOR,
            shrunk=count.shrunk,
            grown=count.grown,
            on_time=count.on_time,
            window=WINDOW,
            steps=len(turns),
        )

    if len(scalers) > 1:
        yield say(
            "same_scales",
            scalers=tuple(scaler for scaler, _ in scalers),
            same=same_scales(turns for _, turns in scalers),
            steps=len(BATCHES),
        )


@TOPIC.finding(OVERFLOWED_STEP)
def who_skips(evidence: Evidence) -> Iterator[Text]:
    """What MindSpore's own routes make of a step whose gradients overflowed."""
    for who, routes in by_name(evidence.records(OVERFLOWED_STEP, dict[str, OverflowedStep])):
        outcomes = tuple(route_outcome(route, step) for route, step in routes.items())
        yield say("after_overflow", who=who, routes=outcomes)


def route_outcome(route: str, step: OverflowedStep) -> Message:
    """What one of MindSpore's routes makes of a step after an overflow."""
    name = say.named(route)
    if step.raised:
        return say("route_raises", route=name, error=step.error.rstrip("."))
    if step.stepped:
        return say("route_steps", route=name, weight=shown(step.weight))
    return say("route_skips", route=name)


@TOPIC.table()
def life_step_by_step(evidence: Evidence) -> Iterator[Table[Text]]:
    """Scale, overflow and step of every scaler at every step."""
    scalers = lives(evidence)
    columns = [*say.row("step", "slope")]
    for scaler, _ in scalers:
        columns.append(say("scale_of", scaler=scaler))
        columns.append(say("overflow_of", scaler=scaler))
        columns.append(say("stepped_of", scaler=scaler))

    rows: list[tuple[Cell, ...]] = []
    if scalers:
        for step, slope in enumerate(BATCHES):
            row: list[Cell] = [step, slope]
            for _, turns in scalers:
                turn = turns[step]
                row += [turn.scale, not turn.finite, turn.stepped]
            rows.append(tuple(row))

    note = say("life_note", factor=FACTOR, window=WINDOW)
    yield Table(
        title=say("life_title"),
        columns=tuple(columns),
        rows=tuple(rows),
        note=cells.sentences(note, cells.missing(evidence, LIFE)),
    )


@TOPIC.chart()
def scale_through_training(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The scale of every scaler at every step."""
    steps = tuple(map(float, range(len(BATCHES))))
    series = []
    for scaler, turns in lives(evidence):
        series.append(Series(scaler, steps, tuple(turn.scale for turn in turns)))
    steepest = max(BATCHES)
    if series:
        yield Chart(
            name="life",
            title=say("life_chart"),
            kind="steps",
            x=say("step"),
            y=say("loss_scale"),
            series=tuple(series),
            log=("y",),
            note=say(
                "life_chart_note",
                steepest=steepest,
                steep_step=BATCHES.index(steepest),
                calm_step=BATCHES.index(min(BATCHES)),
            ),
        )


# How low and how high


def limits(evidence: Evidence) -> list[tuple[Text, ScaleLimits]]:
    """The scales of each scaler with an overflow at every step, and with a growth at every step."""
    return by_name(evidence.records(LIMITS, ScaleLimits), SCALER_NAMES)


@TOPIC.finding()
def lowest_and_highest_scale(evidence: Evidence) -> Iterator[Text]:
    """From where to where overflows and growths take each scaler."""
    for scaler, scales in limits(evidence):
        down, up = scales.down, scales.up
        is_reached = down[-1] == down[-2]
        ceiling = max(map(number, up))  # an infinite scale is spelt in words
        yield say(
            "limit_reached" if is_reached else "limit_not_reached",
            scaler=scaler,
            high=shown(down[0]),
            low=shown(down[-1]),
            steps=len(down) - 1,
            start=shown(up[0]),
            ceiling=shown(ceiling),
        )


@TOPIC.table()
def scales_on_the_way(evidence: Evidence) -> Iterator[Table[Text]]:
    """All scales on the way down and on the way up."""
    rows: list[tuple[Cell | Text, ...]] = []
    for scaler, scales in limits(evidence):
        rows.append((scaler, say("overflow_at_every_step"), shown(scales.down)))
        rows.append((scaler, say("growth_at_every_step"), shown(scales.up)))
    yield Table(
        title=say("limits_title"),
        columns=say.row("scaler", "what_happens", "scales"),
        rows=tuple(rows),
        note=cells.missing(evidence, LIMITS),
    )


@TOPIC.chart()
def overflow_at_every_step(evidence: Evidence) -> Iterator[Chart[Text]]:
    """The scale on the way down."""
    series = []
    for scaler, scales in limits(evidence):
        steps = tuple(map(float, range(len(scales.down))))
        series.append(Series(scaler, steps, tuple(map(number, scales.down))))
    if series:
        yield Chart(
            name="floor",
            title=say("limits_chart"),
            kind="steps",
            x=say("step"),
            y=say("loss_scale"),
            series=tuple(series),
            log=("y",),
        )


# What is finite


def is_finite(case: str) -> bool:
    """Whether all gradients are finite in a case whose name begins with one of FINITE_CASES."""
    return not any(mark in case for mark in NOT_FINITE)


def wrongly_answered(figures: dict[str, Any]) -> list[str]:
    """The cases in which a check called finite what is not, or the other way round."""
    wrong = []
    for case, answer in figures.items():
        if not raised(answer) and answer != is_finite(case):
            wrong.append(case)
    return wrong


def refusals(figures: dict[str, Any]) -> list[str]:
    """What a check raised, each message once."""
    return sorted({said(answer) for answer in figures.values() if raised(answer)})


def answered(figures: dict[str, Any]) -> int:
    """How many cases a check did not refuse."""
    return sum(not raised(answer) for answer in figures.values())


@TOPIC.finding()
def check_for_finite_gradients(evidence: Evidence) -> Iterator[Text]:
    """About what each check is wrong, and what it refuses."""
    for who, figures in by_name(evidence[FINITENESS]):
        wrong = tuple(map(case_name, wrongly_answered(figures)))
        # That a check is right is what it is there for: the table has it.
        if wrong:
            yield say("check_wrong", cases=wrong, who=who)
        for error in refusals(figures):
            yield say(
                "check_refuses",
                refused=len(figures) - answered(figures),
                pairs=len(figures),
                who=who,
                error=error.rstrip("."),
            )


@TOPIC.table()
def checks_case_by_case(evidence: Evidence) -> Iterator[Table[Text]]:
    """What every check says of every pair of tensors."""
    answers = evidence[FINITENESS]
    # Parties that did not answer must not cost the others' cases.
    cases: set[str] = set()
    for figures in answers.values():
        cases |= figures.keys()
    rows: list[tuple[Cell | Text, ...]] = []
    for case in sorted(cases):
        entries = [_cell(answers.get(party, {}).get(case)) for party in SCALING]
        rows.append((case_name(case), *entries))
    yield Table(
        title=say("checks_title"),
        columns=(say("gradients"), *map(cells.party, SCALING)),
        rows=tuple(rows),
        note=cells.missing(evidence, FINITENESS),
    )


def _cell(answer: Any) -> Cell:
    if answer is None:
        return EMPTY
    return said(answer) if raised(answer) else bool(answer)


# Unscaling


def errors_by_scale(evidence: Evidence) -> Iterator[tuple[Text, list[tuple[float, float]]]]:
    """Who measured it, and pairs of a scale and the greatest relative error, by rising scale."""
    for who, errors in by_name(of_each(evidence[UNSCALING], "error")):
        yield who, sorted((float(scale), error) for scale, error in errors.items())


@TOPIC.finding()
def exactness_of_unscaling(evidence: Evidence) -> Iterator[Text]:
    """How far scaling and unscaling move a gradient."""
    for who, by_scale in errors_by_scale(evidence):
        errors = []
        for scale, error in by_scale:
            errors.append(say("error_at_scale", error=error, scale=scale))
        yield say("unscaling", errors=tuple(errors), who=who)


@TOPIC.table()
def unscaling_and_refusals(evidence: Evidence) -> Iterator[Table[Text]]:
    """The error of unscaling at each scale, and what each scaler refuses."""
    rows: list[tuple[Cell | Text, ...]] = []
    for who, by_scale in errors_by_scale(evidence):
        for scale, error in by_scale:
            rows.append((who, say("greatest_error", scale=scale), error))
    for who, refused in by_name(of_each(evidence[UNSCALING], "refused")):
        for what, figure in refused.items():
            cell = outcome(figure, lambda _: say("accepted"))
            rows.append((who, say.named(what), cell))
    yield Table(
        title=say("unscaling_title"),
        columns=say.row("where", "what", "found"),
        rows=tuple(rows),
        note=cells.missing(evidence, UNSCALING),
    )
