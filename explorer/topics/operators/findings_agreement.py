"""What the study finds with equal settings: whether all engines' gradients and outputs agree."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Table
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence, why_empty
from explorer.topics.operators.inputs import OPERANDS
from explorer.topics.operators.questions import (
    FOUR_ENGINES,
    INFERENCE,
    OPERATOR_GRADIENTS,
    TOPIC,
)
from explorer.topics.operators.readings import ROUNDING, farthest, reproducible
from explorer.topics.operators.wording import LABELS, by_answer, joint_label, message

REFERENCE = "torch-tape"
"""The engine that the others are compared with: it has a second order of every operator."""

ORDERS = ("first", "second")


@dataclass
class Agreement:
    """How the gradients of one order compare with the reference's, as pairs of engine and operator.

    ``agreeing`` ones are equal but for rounding, ``differing`` ones are not, ``undefined`` ones
    raised.
    """

    agreeing: list[tuple[str, str]] = field(default_factory=list)
    differing: list[tuple[str, str]] = field(default_factory=list)
    undefined: list[tuple[str, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many gradients were looked at."""
        return len(self.agreeing) + len(self.differing) + len(self.undefined)


def compared(answers: Mapping[str, Figures], order: str) -> Agreement:
    """The gradients of an order, "first" or "second", compared with the reference's."""
    agreement = Agreement()
    references = answers.get(REFERENCE, {})
    for engine, operators in answers.items():
        for operator, gradients in operators.items():
            gradient = gradients[order]
            reference = references.get(operator, {}).get(order)
            # What the reference itself does not define is said of it, and not held against others.
            if raised(gradient):
                agreement.undefined.append((engine, operator))
            elif engine == REFERENCE or reference is None or raised(reference):
                continue
            elif farthest(gradient, reference) <= ROUNDING:
                agreement.agreeing.append((engine, operator))
            else:
                agreement.differing.append((engine, operator))
    return agreement


def by_operator(pairs: list[tuple[str, str]]) -> str:
    """ "max pool, same (MindSpore); layer norm (MindSpore tape)" of engines and operators."""
    engines: dict[str, list[str]] = {}
    for engine, operator in pairs:
        engines.setdefault(operator, []).append(engine)
    return "; ".join(f"{operator} ({joint_label(names)})" for operator, names in engines.items())


@TOPIC.finding()
def gradients_that_agree(evidence: Evidence) -> Iterator[str]:
    """How many gradients agree, and which do not or are not defined, first and second order."""
    for order in ORDERS:
        gradients = compared(evidence[OPERATOR_GRADIENTS], order)
        if not gradients.total:
            continue
        compared_gradients = len(gradients.agreeing) + len(gradients.differing)
        sentence = (
            f"With equal settings {len(gradients.agreeing)} of {compared_gradients} {order}"
            f" derivatives agree with {LABELS[REFERENCE]}'s"
        )
        if gradients.differing:
            sentence += f", but not those of {by_operator(gradients.differing)}"
        if gradients.undefined:
            sentence += f"; there are none of {by_operator(gradients.undefined)}"
        yield f"{sentence}."


@TOPIC.finding()
def outputs_that_agree(evidence: Evidence) -> Iterator[str]:
    """Whether one net gives the same outputs at every call, and the reference's."""
    answers = evidence[INFERENCE]
    reference = answers.get(REFERENCE)
    sentences: dict[str, str] = {}
    for engine, figures in answers.items():
        inference = "the same" if reproducible(figures["inference"]) else "different"
        training = "the same" if reproducible(figures["training"]) else "different"
        distance = ""
        if reference:
            difference = first_call_difference(figures, reference, "inference")
            distance = f", {difference:.1g} from {LABELS[REFERENCE]}"
        sentences[engine] = (
            f"gives {inference} outputs at every call in inference{distance}, and {training} ones in"
            " training"
        )
    for engines, sentence in by_answer(sentences, str).items():
        yield f"One net with given weights {sentence} ({engines})."


def first_call_difference(figures: Figures, reference: Figures, mode: str) -> float:
    """How far the outputs of the first call lie from the reference's.

    ``mode`` is "inference" or "training".
    """
    return farthest(figures[mode][0], reference[mode][0])


@TOPIC.table()
def table_of_gradients(evidence: Evidence) -> Iterator[Table]:
    """How far each engine's gradients are from the reference's."""
    answers = evidence[OPERATOR_GRADIENTS]
    references = answers.get(REFERENCE, {})
    rows: list[tuple[Cell, ...]] = []
    for operator in OPERANDS:
        for order in ORDERS:
            reference = references.get(operator, {}).get(order)
            cells = []
            for engine in FOUR_ENGINES:
                gradient = answers.get(engine, {}).get(operator, {}).get(order)
                cells.append(_distance(gradient, reference))
            rows.append((operator, order, *cells))
    if answers:
        note = (
            f"Of the sum of the squared output. Greatest difference from {LABELS[REFERENCE]},"
            " relative to the greatest number."
        )
        yield Table(
            title="Gradients with equal settings",
            columns=("operator", "order", *(LABELS[engine] for engine in FOUR_ENGINES)),
            rows=tuple(rows),
            note=f"{note} {why_empty(evidence, OPERATOR_GRADIENTS, labels=LABELS)}".strip(),
        )


def _distance(gradient: Any, reference: Any) -> str:
    """How far a gradient is from the reference's, or why there is none."""
    if gradient is None or reference is None:
        return EMPTY
    if raised(gradient):
        return message(gradient)
    if raised(reference):
        return EMPTY
    difference = farthest(gradient, reference)
    return f"{difference:.1e}" if difference else "0"  # equal to the last bit


@TOPIC.table()
def table_of_outputs(evidence: Evidence) -> Iterator[Table]:
    """Whether outputs repeat from call to call, and how far they are from the reference's."""
    answers = evidence[INFERENCE]
    reference = answers.get(REFERENCE)
    rows: list[tuple[Cell, ...]] = []
    for engine, figures in answers.items():
        cells: list[Cell] = []
        for mode in ("inference", "training"):
            cells.append(reproducible(figures[mode]))
            cells.append(first_call_difference(figures, reference, mode) if reference else None)
        rows.append((LABELS[engine], *cells))
    if rows:
        yield Table(
            title="One net, given weights: outputs of repeated calls",
            columns=(
                "engine",
                "inference repeats",
                f"inference from {LABELS[REFERENCE]}",
                "training repeats",
                f"training from {LABELS[REFERENCE]}",
            ),
            rows=tuple(rows),
            note=why_empty(evidence, INFERENCE, labels=LABELS),
        )
