"""Verdicts on calls of grad: those of the recorded figures after a change, and of figures written down."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from explorer.model.measurement import Figures
from explorer.topics.gradients.questions import (
    ALL_OUTPUTS,
    ARGUMENTS,
    DEFAULTS,
    FUNCTIONAL,
    GUIDE_CALLS,
    NOTHING,
    OLDER_FORMS,
    OUTPUTS,
    SAMPLER,
    SUM_OF_OUTPUTS,
    TOLD_GRADIENT,
)
from explorer.topics.question import MINDSPORE_STYLES, Question, Target
from tests.support.rulings import USUAL, Case, following
from tests.support.topics import Change, copied, edited, put, together, unchanged

RULINGS: list[Case] = []
GRAPH, TAPE = ("mindspore-graph",), ("mindspore-tape",)


def test_a_measurement_is_named_by_the_call_and_the_net() -> None:
    names = [measurement.name for measurement in ALL_OUTPUTS.measurements(Target())]
    call = "gradients.grad(dense_mse, grad_position=0, weights=None, has_aux=False)"
    assert names == [f"{call}.mindspore-graph", f"{call}.mindspore-tape", f"{call}.torch-tape"]
    (of_the_sum, *_) = SUM_OF_OUTPUTS.measurements(Target())
    assert of_the_sum.name.startswith("gradients.grad(loss + logits, ")


# Other worlds


def change_answers(
    questions: Iterable[Question], parties: Sequence[str], change: Callable[[Figures], None]
) -> Change:
    """A change of what some parties answer to some questions."""
    return together(*(edited(question, parties, change) for question in questions))


def answering(**answer: Any) -> Callable[[Figures], None]:
    """An edit that leaves this answer alone."""

    def replace(figures: Figures) -> None:
        figures.clear()
        figures.update(answer)

    return replace


def other_number(answer: Figures) -> None:
    answer["values"][0] = [[1, 1, 1]]


def other_nesting(answer: Figures) -> None:
    answer["structure"] = f"({answer['structure']},)"


accepted = answering(structure="()", values=[])
refused = answering(raised="TypeError", message="wrong arguments")
gone = answering(
    raised="AttributeError", message="module 'mindspore.ops' has no attribute 'GradOperation'"
)
reworded = put(NOTHING, MINDSPORE_STYLES, "message", value="give something to differentiate by")

SECOND_INPUT = [GUIDE_CALLS[1].value_and_grad]
OLDER = [form.older for form in OLDER_FORMS]
NEWER = [form.newer for form in OLDER_FORMS]

for row, call in enumerate(GUIDE_CALLS, start=1):
    RULINGS += [
        Case(row, change_answers([call.grad], TAPE, other_number), "depends_on_style"),
        Case(row, change_answers([call.grad], MINDSPORE_STYLES, other_number), "does_not_hold"),
        Case(
            row, change_answers([call.grad], MINDSPORE_STYLES, other_nesting), "holds_with_changes"
        ),
    ]

RULINGS += [
    Case(1, change_answers([GUIDE_CALLS[0].grad], TAPE, refused), "depends_on_style"),
    Case(8, change_answers([SUM_OF_OUTPUTS], GRAPH, other_number), "depends_on_style"),
    Case(8, change_answers([ALL_OUTPUTS], MINDSPORE_STYLES, other_number), "does_not_hold"),
    Case(9, change_answers([NOTHING], TAPE, accepted), "depends_on_style"),
    Case(9, change_answers([NOTHING], MINDSPORE_STYLES, accepted), "does_not_hold"),
    Case(9, reworded, "holds_with_changes"),
    Case(10, change_answers(SECOND_INPUT, TAPE, other_nesting), "depends_on_style"),
    Case(10, change_answers(SECOND_INPUT, MINDSPORE_STYLES, other_number), "does_not_hold"),
    Case(11, change_answers(OLDER, GRAPH, other_number), "depends_on_style"),
    Case(11, change_answers(OLDER, MINDSPORE_STYLES, other_number), "does_not_hold"),
    Case(11, change_answers(OLDER, GRAPH, refused), "depends_on_style"),
    Case(11, change_answers(NEWER, MINDSPORE_STYLES, refused), "does_not_hold"),
    Case(11, change_answers(OLDER, MINDSPORE_STYLES, gone), "outdated"),
]


def raising(type_name: str) -> Figures:
    """An attempt that raised."""
    return {"raised": type_name, "message": "no"}


# Row 75: the guide prints [[0, 1, 0, 2, 0], [0, 2, 0, 0, 1]] for the places drawn here.

PLACES = [[3, 1, 3], [1, 4, 1]]
OF_THE_DRAW = {"places": PLACES, "gradient": [[0, 1, 0, 2, 0], [0, 2, 0, 0, 1]]}
OF_ANOTHER_DRAW = {"places": PLACES, "gradient": [[1, 1, 0, 1, 0], [0, 1, 0, 2, 0]]}
CUT_OFF = {"places": PLACES, "gradient": [[0] * 5, [0] * 5]}

FLAT: Figures = {"structure": "dx", "values": [[0.0, 0.0, 0.0, 0.0]]}


def sampled(style: tuple[str, ...], rule: str, figure: Any) -> Change:
    return put(SAMPLER, style, rule, value=figure)


drawn_again = sampled(GRAPH, "as meant", OF_THE_DRAW)

# A rule is free where the styles do as they are told.
RULINGS += [
    Case(75, unchanged, "depends_on_style", "tuple from bprop, one gradient an input. Draw before"),
    Case(75, drawn_again, "depends_on_style", "Return a tuple from bprop, one gradient an input."),
    Case(75, sampled(GRAPH, "as printed", OF_THE_DRAW), "holds", USUAL),
    Case(75, sampled(GRAPH, "as printed", OF_ANOTHER_DRAW), "holds", USUAL),
    Case(
        75,
        sampled(TAPE, "as printed", raising("TypeError")),
        "holds_with_changes",
        "Return a tuple from bprop",
    ),
    Case(75, sampled(GRAPH, "as meant", CUT_OFF), "depends_on_style", USUAL),
    Case(75, put(TOLD_GRADIENT, GRAPH, value=FLAT), "depends_on_style", USUAL),
    Case(
        75,
        together(
            sampled(GRAPH, "as meant", CUT_OFF), sampled(TAPE, "as meant", raising("KeyError"))
        ),
        "does_not_hold",
        USUAL,
    ),
    Case(75, put(TOLD_GRADIENT, MINDSPORE_STYLES, value=FLAT), "does_not_hold", USUAL),
]


# A gradient of another draw is told with the style that gives it.
RULINGS += [
    Case(75, unchanged, "depends_on_style", "in graph the gradient belongs"),
    Case(
        75,
        sampled(TAPE, "as printed", OF_ANOTHER_DRAW),
        "depends_on_style",
        "in graph and tape the gradient belongs",
    ),
    Case(75, drawn_again, "depends_on_style", unsaid="draw"),
]


# Rows 80 and 81: the sum of 9x² at (1, 2, 3) beside 3x.

LOSS, BOTH, LOGITS = [18.0, 36.0, 54.0], [21.0, 39.0, 57.0], [3.0, 6.0, 9.0]


def aux(parties: tuple[str, ...], form: str, value: Any) -> Change:
    return put(OUTPUTS, parties, "has_aux", form, value=value)


# Has aux needs more than one output where one is refused.
RULINGS += [
    Case(80, unchanged, "depends_on_style", "Catch RuntimeError and ValueError"),
    Case(80, unchanged, "depends_on_style", "a tuple of one passes where it is not refused"),
    Case(80, aux(GRAPH, "a tuple of one", raising("RuntimeError")), "holds", USUAL),
    Case(
        80,
        together(
            aux(GRAPH, "one output", raising("ValueError")),
            aux(GRAPH, "a tuple of one", raising("ValueError")),
        ),
        "holds",
        USUAL,
    ),
    Case(80, aux(TAPE, "a tuple of one", [LOSS, []]), "does_not_hold", USUAL),
    Case(80, aux(MINDSPORE_STYLES, "one output", LOSS), "does_not_hold", USUAL),
    Case(80, aux(MINDSPORE_STYLES, "two outputs", raising("TypeError")), "does_not_hold", USUAL),
]


def stopped(parties: tuple[str, ...], value: Any) -> Change:
    return put(OUTPUTS, parties, "without", "stop_gradient", value=value)


stopped_early = put(OUTPUTS, TAPE, "without", "stop_gradient too early", value=[9.0])
OF_EACH = "[0, 0, 0] (MindSpore graph), [9] (MindSpore tape)"

# Stop gradient is has aux where both leave the output out.
RULINGS += [
    Case(81, unchanged, "holds"),
    Case(81, stopped(TAPE, BOTH), "depends_on_style"),
    Case(81, stopped(GRAPH, raising("TypeError")), "depends_on_style"),
    Case(81, stopped(MINDSPORE_STYLES, BOTH), "does_not_hold"),
    Case(81, aux(MINDSPORE_STYLES, "two outputs", [BOTH, [LOGITS]]), "does_not_hold"),
    # Were every output but the first left out anyway, neither way would be of use.
    Case(81, put(OUTPUTS, MINDSPORE_STYLES, "without", "two outputs", value=LOSS), "does_not_hold"),
    # PyTorch is evidence alone.
    Case(81, put(OUTPUTS, ["torch"], "without", "stop_gradient", value=BOTH), "holds"),
    # What was stopped before the loss is shown for each party.
    Case(81, stopped_early, "holds", "", f"on what the loss is made of: {OF_EACH}, RuntimeError"),
]


# Row 82: (w · x) y at x = (1, 2), y = 4, w = (2, 3).

DX, DY = [[8.0, 12.0]], [[8.0]]


def refuse(styles: tuple[str, ...], part: str, *forms: str) -> Change:
    return together(
        *(put(ARGUMENTS, styles, part, form, value=raising("TypeError")) for form in forms)
    )


OTHER_FORMS = ("tuple", "empty list", "one Parameter twice", "another net's Parameter")
refuse_alike = together(refuse(TAPE, "positions", "True"), refuse(TAPE, "weights", "Tensor"))
refuse_everything_else = together(refuse_alike, refuse(MINDSPORE_STYLES, "weights", *OTHER_FORMS))

# Arguments are judged by what passes and what is refused.
RULINGS += [
    Case(
        82,
        unchanged,
        "depends_on_style",
        "another net's Parameter, positions True, weights Tensor.",
    ),
    Case(82, refuse_alike, "holds_with_changes", "weights another net's Parameter."),
    Case(82, refuse_everything_else, "holds", USUAL),
    Case(82, refuse(TAPE, "weights", "list"), "depends_on_style", USUAL),
    Case(
        82,
        put(ARGUMENTS, MINDSPORE_STYLES, "positions", "(0, 1)", value=[DY, DX]),
        "does_not_hold",
        USUAL,
    ),
]


ZEROS = [[0.0, 0.0, 0.0, 0.0]]

RULINGS += [
    # What PyTorch does too is nobody's own way.
    Case(89, put(FUNCTIONAL, GRAPH, "value", value=13.0), "depends_on_style"),
    Case(89, put(FUNCTIONAL, ["torch"], "value", value=15.0), "holds"),
    # Grad must return output and weights by default.
    Case(90, copied(DEFAULTS, MINDSPORE_STYLES, "grad", of="value_and_grad"), "holds"),
    Case(90, copied(DEFAULTS, GRAPH, "grad", of="value_and_grad"), "depends_on_style"),
    Case(90, copied(DEFAULTS, MINDSPORE_STYLES, "value_and_grad", of="grad"), "does_not_hold"),
    # A bprop that is no derivative is used.
    Case(91, put(TOLD_GRADIENT, GRAPH, "values", value=ZEROS), "depends_on_style"),
    Case(91, put(TOLD_GRADIENT, MINDSPORE_STYLES, "values", value=ZEROS), "holds"),
]

test_verdict_advice_and_evidence_follow_the_figures = following(RULINGS)
