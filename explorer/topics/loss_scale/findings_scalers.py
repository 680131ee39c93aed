"""Findings about scalers: their life, their limits, their checks, and how exactly they unscale."""

from collections.abc import Iterator
from typing import Any

from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import number
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import EMPTY, Evidence, why_empty
from explorer.topics.loss_scale.inputs import BATCHES, FACTOR, NOT_FINITE, WINDOW
from explorer.topics.loss_scale.life import counts, same_scales
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    LIFE,
    LIMITS,
    OVERFLOWED_STEP,
    SCALING,
    TOPIC,
    UNSCALING,
)
from explorer.topics.loss_scale.wording import SCALER_NAMES, by_name, said_of_routes, shown
from explorer.topics.question import PARTIES

# The scale through a training


def lives(evidence: Evidence) -> list[tuple[str, list[dict[str, Any]]]]:
    """The steps of each scaler, GradScaler always alone.

    MindSpore's styles stand together where they agree.
    """
    # The two classes are what is compared, so they are told apart even where they agree.
    turns = {party: figures["turns"] for party, figures in evidence[LIFE].items()}
    gradscaler = turns.pop("torch", None)
    lives = by_name(turns, SCALER_NAMES)
    if gradscaler is not None:
        lives.append((SCALER_NAMES.of(["torch"]), gradscaler))
    return lives


@TOPIC.finding()
def steps_of_life(evidence: Evidence) -> Iterator[str]:
    """The life of each scaler in a sentence, each clause counted; and where their scales agree."""
    scalers = lives(evidence)
    for scaler, turns in scalers:
        count = counts(turns)
        yield (
            f"{scaler} skips {count['skipped']} of {count['overflows']} steps that overflow, and "
            f"divides its scale by {FACTOR} after {count['shrunk']}; it grows {count['grown']} "
            f"times, {count['on time']} of them after {WINDOW} finite steps in a row "
            f"({len(turns)} steps)."
        )

    if len(scalers) > 1:
        names = " and ".join(scaler for scaler, _ in scalers)
        same = same_scales(turns for _, turns in scalers)
        yield (
            f"With the same settings {names} have the same scale at {same} of {len(BATCHES)} steps."
        )


@TOPIC.finding(OVERFLOWED_STEP)
def who_skips(evidence: Evidence) -> Iterator[str]:
    """What MindSpore's own routes make of a step whose gradients overflowed."""
    routes = evidence[OVERFLOWED_STEP]
    for party, sentence in by_name({style: said_of_routes(routes[style]) for style in routes}):
        yield (
            f"After an overflow a caller of {party} asks all_finite and skips the step, as above;"
            f" left to themselves, {sentence.rstrip('.')}."
        )


@TOPIC.table()
def life_step_by_step(evidence: Evidence) -> Iterator[Table]:
    """Scale, overflow and step of every scaler at every step."""
    scalers = lives(evidence)
    columns = ["step", "slope"]
    for scaler, _ in scalers:
        columns += [f"scale, {scaler}", f"overflow, {scaler}", f"stepped, {scaler}"]

    rows: list[tuple[Cell, ...]] = []
    if scalers:
        for step, slope in enumerate(BATCHES):
            row: list[Cell] = [step, slope]
            for _, turns in scalers:
                turn = turns[step]
                row += [turn["scale"], not turn["finite"], turn["stepped"]]
            rows.append(tuple(row))

    note = (
        f"Factor {FACTOR}, window {WINDOW}: the scalers are given the same settings and the same "
        "slopes."
    )
    yield Table(
        title="The life of a dynamic scaler, step by step",
        columns=tuple(columns),
        rows=tuple(rows),
        note=f"{note} {why_empty(evidence, LIFE)}".strip(),
    )


@TOPIC.chart()
def scale_through_training(evidence: Evidence) -> Iterator[Chart]:
    """The scale of every scaler at every step."""
    steps = tuple(map(float, range(len(BATCHES))))
    series = []
    for scaler, turns in lives(evidence):
        series.append(Series(scaler, steps, tuple(turn["scale"] for turn in turns)))
    steepest = max(BATCHES)
    calm = BATCHES.index(min(BATCHES))
    if series:
        yield Chart(
            name="life",
            title="The scale through training",
            kind="steps",
            x="step",
            y="loss scale",
            series=tuple(series),
            log=("y",),
            note=(
                f"A batch {steepest:g} times as steep comes at step {BATCHES.index(steepest)}, "
                f"calm ones from step {calm} on."
            ),
        )


# How low and how high


def limits(evidence: Evidence) -> list[tuple[str, tuple[list[Any], list[Any]]]]:
    """The scales of each scaler with an overflow at every step, and with a growth at every step."""
    answers = {}
    for party, figures in evidence[LIMITS].items():
        answers[party] = (figures["down"], figures["up"])
    return by_name(answers, SCALER_NAMES)


@TOPIC.finding()
def lowest_and_highest_scale(evidence: Evidence) -> Iterator[str]:
    """From where to where overflows and growths take each scaler."""
    for scaler, (down, up) in limits(evidence):
        ceiling = max(map(number, up))  # an infinite scale is spelt in words
        end = "stays there" if down[-1] == down[-2] else "is still falling"
        yield (
            f"Overflow at every step takes the scale of {scaler} from {shown(down[0])} to "
            f"{shown(down[-1])} in {len(down) - 1} steps, and it {end}; growth at every step takes "
            f"it from {shown(up[0])} to {shown(ceiling)}."
        )


@TOPIC.table()
def scales_on_the_way(evidence: Evidence) -> Iterator[Table]:
    """All scales on the way down and on the way up."""
    rows: list[tuple[Cell, ...]] = []
    for scaler, (down, up) in limits(evidence):
        rows.append((scaler, "overflow at every step", shown(down)))
        rows.append((scaler, "growth at every step", shown(up)))
    yield Table(
        title="How low and how high a scale goes",
        columns=("scaler", "what happens", "scales"),
        rows=tuple(rows),
        note=why_empty(evidence, LIMITS),
    )


@TOPIC.chart()
def overflow_at_every_step(evidence: Evidence) -> Iterator[Chart]:
    """The scale on the way down."""
    series = []
    for scaler, (down, _) in limits(evidence):
        steps = tuple(map(float, range(len(down))))
        series.append(Series(scaler, steps, tuple(map(number, down))))
    if series:
        yield Chart(
            name="floor",
            title="Overflow at every step",
            kind="steps",
            x="step",
            y="loss scale",
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
def check_for_finite_gradients(evidence: Evidence) -> Iterator[str]:
    """About what each check is wrong, and what it refuses."""
    for who, figures in by_name(evidence[FINITENESS]):
        wrong = wrongly_answered(figures)
        # That a check is right is what it is there for: the table has it.
        if wrong:
            yield f"The check for finite gradients is wrong about {'; '.join(wrong)} ({who})."
        refused = len(figures) - answered(figures)
        for message in refusals(figures):
            yield (
                f"The check for finite gradients refuses {refused} of {len(figures)} pairs of "
                f"tensors ({who}): {message.rstrip('.')}."
            )


@TOPIC.table()
def checks_case_by_case(evidence: Evidence) -> Iterator[Table]:
    """What every check says of every pair of tensors."""
    answers = evidence[FINITENESS]
    # Parties that did not answer must not cost the others' cases.
    cases: set[str] = set()
    for figures in answers.values():
        cases |= figures.keys()
    rows: list[tuple[Cell, ...]] = []
    for case in sorted(cases):
        cells = [_cell(answers.get(party, {}).get(case)) for party in SCALING]
        rows.append((case, *cells))
    yield Table(
        title="all_finite, and what GradScaler finds",
        columns=("gradients", *(PARTIES[party].label for party in SCALING)),
        rows=tuple(rows),
        note=why_empty(evidence, FINITENESS),
    )


def _cell(answer: Any) -> Cell:
    if answer is None:
        return EMPTY
    return said(answer) if raised(answer) else bool(answer)


# Unscaling


def errors_by_scale(evidence: Evidence) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Who measured it, and pairs of a scale and the greatest relative error, by rising scale."""
    answers = {party: figures["error"] for party, figures in evidence[UNSCALING].items()}
    for who, errors in by_name(answers):
        yield who, sorted((float(scale), error) for scale, error in errors.items())


@TOPIC.finding()
def exactness_of_unscaling(evidence: Evidence) -> Iterator[str]:
    """How far scaling and unscaling move a gradient."""
    for who, by_scale in errors_by_scale(evidence):
        errors = ", ".join(f"{error:.2g} at scale {scale:g}" for scale, error in by_scale)
        yield (
            f"Scaling and unscaling moves an element of a float32 gradient at most by a relative "
            f"{errors} ({who})."
        )


@TOPIC.table()
def unscaling_and_refusals(evidence: Evidence) -> Iterator[Table]:
    """The error of unscaling at each scale, and what each scaler refuses."""
    rows: list[tuple[Cell, ...]] = []
    for who, by_scale in errors_by_scale(evidence):
        for scale, error in by_scale:
            rows.append((who, f"greatest relative error at scale {scale:g}", error))
    attempts = {party: figures["refused"] for party, figures in evidence[UNSCALING].items()}
    for who, refused in by_name(attempts):
        for what, outcome in refused.items():
            rows.append((who, what, said(outcome) if raised(outcome) else "accepted"))
    yield Table(
        title="Unscaling, and what is refused",
        columns=("where", "what", "found"),
        rows=tuple(rows),
        note=why_empty(evidence, UNSCALING),
    )
