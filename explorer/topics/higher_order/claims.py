"""Claims about higher orders: nested gradients, what they cost and where they are wrong (rows 26 and 84)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Text, message
from explorer.numeric.differences import relative_error
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.cells import NONE, sentences
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order import wave
from explorer.topics.higher_order.operators import by_outcome, name_of
from explorer.topics.higher_order.questions import (
    NODES_OF_WAVE,
    SECOND_DERIVATIVES,
    SMALL_HESSIANS,
    TOPIC,
)
from explorer.topics.higher_order.small_hessians import (
    HESSIAN,
    NESTED,
    closed_form,
    wrong_in_silence,
)
from explorer.topics.higher_order.transformations import NEAR
from explorer.topics.observations import SHORT_LABELS, by_style, observed
from explorer.topics.question import MINDSPORE_STYLES

CORRECTNESS = {True: message("higher_order.right"), False: message("higher_order.wrong_value")}
"""What a value is, by whether it is that of the closed form."""

BY_SHAPE = SECOND_DERIVATIVES["by shape"].by(*MINDSPORE_STYLES, "torch-tape")
"""The operators behind which terms get lost, and whose second derivatives of them are looked at."""


@TOPIC.claim(
    26,
    "Higher orders come from nesting `grad`, and the graph grows by each backward.",
    heading="gradients",
    guides=("000",),
    sections={"000": "High-order Derivatives"},
    would=(
        "Nested gradients are right at orders 1 to 4, and each order has more operators than "
        "the one before."
    ),
    asks=(NODES_OF_WAVE, BY_SHAPE),
    expects={"orders": [1, 2, 3, 4]},
)
def nesting(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore's nested gradients are right and grow with the order.

    None of its second derivatives may be wrong without a message.
    """
    counts: dict[str, list[int | str]] = {}
    right: dict[str, bool] = {}
    for engine, figures in evidence[NODES_OF_WAVE].items():
        counts[engine] = [_operators(figures, order) for order in expects["orders"]]
        right[engine] = all(_is_right(figures, order) for order in expects["orders"])
    wrong: dict[str, list[str]] = {}
    for engine, figures in evidence[BY_SHAPE].items():
        wrong[engine] = by_outcome(figures)["wrong"]
    rises = {engine: _rises(by_order) for engine, by_order in counts.items()}
    first, *_, last = expects["orders"]
    orders = {"first": first, "last": last}
    operators = message("higher_order.last_stage", formula=wave.FORMULA, **orders)
    against_closed_form = message("higher_order.against_closed_form", **orders)
    loses_nothing = {party: not names for party, names in wrong.items()}
    seen = (
        *observed(operators, counts, _listed, rises),
        *observed(against_closed_form, right, CORRECTNESS.__getitem__, right),
        *observed(message("higher_order.wrong_operators"), wrong, _operators_listed, loses_nothing),
    )

    # Wrong values or a graph that does not grow decide before operators that lose a term do.
    sound = {style: right[style] and rises[style] for style in MINDSPORE_STYLES}
    if by_style(sound) != "holds":
        return Ruling(by_style(sound), seen)
    verdict = by_style(loses_nothing)
    if verdict != "depends_on_style":
        return Ruling(verdict, seen)
    graph, tape = MINDSPORE_STYLES
    good = _style(graph) if loses_nothing[graph] else _style(tape)
    return Ruling(verdict, seen, message("higher_order.nest_in_one", style=good))


def _style(style: str) -> Text:
    return message(f"higher_order.{SHORT_LABELS[style]}")


def _operators(figures: Figures, order: int) -> int | str:
    """The operators of the last stage at an order, or the message of what was raised."""
    figure = figures["by order"][str(order)]
    if raised(figure):
        return said(figure)
    *_, count = figure.values()  # what the compiler has made of the stages before
    return int(count)


def _is_right(figures: Figures, order: int) -> bool:
    """Whether the wave's derivative of an order is that of the closed form."""
    figure = figures["values"][str(order)]
    if raised(figure):
        return False
    error: float = relative_error(figure["elements"], [wave.derivative(order)])
    return error <= NEAR


def _rises(counts: Sequence[int | str]) -> bool:
    """Whether each order has more operators than the one before; where one raises it does not."""
    numbers = [count for count in counts if isinstance(count, int)]
    return len(numbers) == len(counts) and all(fewer < more for fewer, more in pairwise(numbers))


def _listed(counts: Sequence[int | str]) -> str:
    return ", ".join(map(str, counts))


def _operators_listed(names: Sequence[str]) -> Text:
    if not names:
        return NONE
    return message("higher_order.operators_listed", operators=tuple(map(name_of, names)))


NOTHING_WRONG = Observation(message("higher_order.wrong_calls_found"), NONE, expected=False)

VECTOR, COLUMN = "product_with_vector", "product_with_column"

Wrong = Mapping[str, Mapping[str, Sequence[str]]]
"""The functions with wrong numbers, by style and call."""


@TOPIC.claim(
    84,
    "Nested gradients lose terms in silence on MindSpore's tape, and jacfwd of grad through a matrix"
    " product is wrong in both styles.",
    heading="gradients",
    guides=("ours",),
    would=(
        "grad of grad returns wrong numbers in tape style and right ones in graph style, and both"
        " styles return a wrong Hessian of |A·sin x|²"
    ),
    asks=(SMALL_HESSIANS,),
)
def silently_wrong(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when calls return numbers that are not the closed form's, just where it is said.

    It holds with changes when they do elsewhere, and is outdated when they do nowhere. PyTorch must
    be right, or the closed forms prove nothing.
    """
    answers = evidence[SMALL_HESSIANS]
    wrong = {party: wrong_in_silence(figures) for party, figures in answers.items()}
    seen = tuple(_shown(answers, wrong)) or (NOTHING_WRONG,)
    if any(wrong["torch-func"].values()):
        return Ruling("does_not_hold", seen)
    by_mindspore = {style: wrong[style] for style in MINDSPORE_STYLES}
    if not any(any(by_call.values()) for by_call in by_mindspore.values()):
        return Ruling("outdated", seen)
    loses = {style: bool(by_call[NESTED]) for style, by_call in by_mindspore.items()}
    misses = [VECTOR in by_mindspore[style][HESSIAN] for style in MINDSPORE_STYLES]
    as_said = loses["mindspore-tape"] and not loses["mindspore-graph"] and all(misses)
    advice = sentences(_of_nesting(by_mindspore), _of_hessians(by_mindspore, answers))
    if not as_said:
        return Ruling("holds_with_changes", seen, advice)
    return Ruling("holds", seen, advice)


def _shown(answers: Mapping[str, Any], wrong: Wrong) -> Iterator[Observation]:
    """What is wrong, each with what it should be; and what MindSpore refuses."""
    for party, by_call in wrong.items():
        for call, functions in by_call.items():
            for function in functions:
                value = message(
                    "higher_order.instead_of",
                    figure=digits(answers[party][function][call]),
                    truth=digits(closed_form(function, call)),
                )
                yield Observation(_call_of(call, function), value, (party,), expected=True)
        for function, figures in answers[party].items():
            for call, figure in figures.items():
                if raised(figure):
                    value = message("higher_order.raises", error=said(figure))
                    yield Observation(_call_of(call, function), value, (party,))


def _call_of(call: str, function: str) -> Text:
    name = message(f"higher_order.{call}")
    return message("higher_order.call_of", call=name, function=name_of(function))


def _of_nesting(wrong: Wrong) -> Text:
    """In which styles grad can be nested, by what was right."""
    right = tuple(_style(style) for style in wrong if not wrong[style][NESTED])
    if not right:
        return message("higher_order.nest_nowhere")
    return message("higher_order.nest_in", styles=right)


def _of_hessians(wrong: Wrong, answers: Mapping[str, Any]) -> Text:
    """How a Hessian can be had where it is wrong behind a product with a vector."""
    misses = [style for style in wrong if VECTOR in wrong[style][HESSIAN]]
    if not misses:
        return ""
    if all(_is_right_by_column(wrong, answers, style) for style in misses):
        return message("higher_order.by_column")
    return message("higher_order.check_hessians")


def _is_right_by_column(wrong: Wrong, answers: Mapping[str, Any], style: str) -> bool:
    """Whether the Hessian of the product with a column is right in a style."""
    figure = answers[style][COLUMN][HESSIAN]
    return not raised(figure) and COLUMN not in wrong[style][HESSIAN]
