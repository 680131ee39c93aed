"""What is found before a step: whether the gradients are finite, and how exactly they are unscaled."""

from collections.abc import Iterator
from typing import Any

from explorer.model.study import Cell, Table
from explorer.topics.attempts import raised, said
from explorer.topics.cells import EMPTY, why_empty
from explorer.topics.evidence import Evidence
from explorer.topics.loss_scale.finite_checks import answered, refusals, wrongly_answered
from explorer.topics.loss_scale.questions import FINITENESS, SCALING, TOPIC, UNSCALING
from explorer.topics.loss_scale.wording import by_name
from explorer.topics.question import PARTIES

# What is finite


@TOPIC.finding()
def check_for_finite_gradients(evidence: Evidence) -> Iterator[str]:
    """About what each check is wrong, and what it refuses."""
    for who, figures in by_name(evidence[FINITENESS]):
        wrong = wrongly_answered(figures)
        outcome = "right about zeros, the greatest float16, infinities and NaN"
        if wrong:
            outcome = f"wrong about {'; '.join(wrong)}"
        yield (
            f"The check for finite gradients, {who}, asked about {answered(figures)} pairs of "
            f"tensors: {outcome}."
        )
        for message in refusals(figures):
            yield f"float16 gradients are refused by the check, {who}: {message}"


@TOPIC.table()
def checks_case_by_case(evidence: Evidence) -> Iterator[Table]:
    """What every check says of every pair of tensors."""
    answers = evidence[FINITENESS]
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
    """Who gave them, and pairs of a scale and the greatest relative error, the least scale first."""
    answers = {party: figures["error"] for party, figures in evidence[UNSCALING].items()}
    for who, errors in by_name(answers):
        yield who, sorted((float(scale), error) for scale, error in errors.items())


@TOPIC.finding()
def exactness_of_unscaling(evidence: Evidence) -> Iterator[str]:
    """How far scaling and unscaling move a gradient."""
    for who, by_scale in errors_by_scale(evidence):
        errors = ", ".join(f"{error:.2g} at scale {scale:g}" for scale, error in by_scale)
        yield (
            f"Scaling and unscaling a float32 gradient moves an element, {who}, by a relative "
            f"{errors} at most."
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
