"""What the figures of stages say: sizes of programs, passes to show, and both signs."""

from collections.abc import Mapping
from typing import Any

from explorer.model.measurement import Figures
from explorer.text.messages import first_statement
from explorer.topics.attempts import said
from explorer.topics.evidence import Evidence
from explorer.topics.stages.nets import SIGNS
from explorer.topics.stages.programs import PHASES
from explorer.topics.stages.questions import LOOPS

FORM_LABELS = {
    "torch": "PyTorch's tape",
    "mindspore-tape": "MindSpore's tape",
    "mindspore-graph": "MindSpore's graph",
}
"""What a program's form is called of each party, in the order of findings and tables."""


def for_both_signs(figures: Mapping[str, Any]) -> tuple[Any, Any]:
    """What was measured for the inputs, and what for their negatives."""
    as_they_are, negated = (figures[name] for name in SIGNS)
    return as_they_are, negated


def total(counts: Mapping[str, Any]) -> int:
    """All nodes of a program."""
    return sum(counts[phase] for phase in PHASES)


def computing(counts: Mapping[str, Any]) -> int:
    """The nodes of a program that compute something."""
    return total(counts) - int(counts["bookkeeping"])


def changed_operators(step: Figures) -> bool:
    """Whether a pass changed the operators of a program."""
    return bool(step["appeared"] or step["vanished"])


def shown_passes(passes: list[Figures]) -> list[Figures]:
    """The passes that changed the operators, and the first and last whether or not they did."""
    ends = (passes[0], passes[-1])
    return [step for step in passes if changed_operators(step) or step in ends]


def size_of_loop(program: Any) -> int:
    """The nodes of a tape, or the operators of a graph that compute something."""
    return len(program) if isinstance(program, list) else computing(program)


def sizes_by_length(evidence: Evidence) -> dict[str, dict[str, int | None]]:
    """How many nodes the loop has for every length, by the form's label.

    None where nobody knows. A length for which nothing was compiled is served by the graph of the
    length before.
    """
    sizes: dict[str, dict[str, int | None]] = {}
    for party, figures in evidence[LOOPS.by(*FORM_LABELS)].items():
        size: int | None = None
        by_length: dict[str, int | None] = {}
        for length, program in figures["while"].items():
            if isinstance(program, list) or program["compiled"]:
                size = size_of_loop(program)
            by_length[length] = size
        sizes[FORM_LABELS[party]] = by_length
    return sizes


def refusal(figure: Mapping[str, Any]) -> str:
    """The type of what an attempt raised and the first statement of why."""
    return first_statement(said(figure))
