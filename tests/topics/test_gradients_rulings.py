"""Every verdict on rules of one's own and on grad's arguments, by figures that are written down."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.gradients.questions import (
    ARGUMENTS,
    ENGINES_BY_STYLE,
    FUNCTION,
    OUTPUTS,
    SAMPLER,
    TOLD_GRADIENT,
    TOPIC,
)
from explorer.topics.question import MINDSPORE_STYLES, Question, Target
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_once, put, written

CLAIMS = TOPIC.claims
GRAPH, TAPE = ("mindspore-graph",), ("mindspore-tape",)
Change = Callable[[World], None]


def refused(type_name: str) -> Figures:
    """An attempt that raised."""
    return {"raised": type_name, "message": "no"}


# Row 75: the guide prints [[0, 1, 0, 2, 0], [0, 2, 0, 0, 1]] for the places drawn here.

PLACES = [[3, 1, 3], [1, 4, 1]]
OF_THE_DRAW = {"places": PLACES, "gradient": [[0, 1, 0, 2, 0], [0, 2, 0, 0, 1]]}
OF_ANOTHER_DRAW = {"places": PLACES, "gradient": [[1, 1, 0, 1, 0], [0, 1, 0, 2, 0]]}
CUT_OFF = {"places": PLACES, "gradient": [[0] * 5, [0] * 5]}

STRAIGHT_THROUGH: Figures = {"structure": "dx", "values": [[0.0, 81.0, 81.0, 0.0]]}
FLAT: Figures = {"structure": "dx", "values": [[0.0, 0.0, 0.0, 0.0]]}

CUSTOM: dict[tuple[Question, str], Figures] = {
    **{(TOLD_GRADIENT, engine): STRAIGHT_THROUGH for engine in ENGINES_BY_STYLE},
    (SAMPLER, "mindspore-graph"): {
        "as printed": refused("TypeError"),
        "as meant": OF_ANOTHER_DRAW,
    },
    (SAMPLER, "mindspore-tape"): {
        "without": CUT_OFF,
        "as printed": OF_THE_DRAW,
        "as meant": OF_THE_DRAW,
    },
    (FUNCTION, "torch-graph"): {
        "without": refused("UserError"),
        "as meant": refused("UserError"),
    },
    (FUNCTION, "torch-tape"): {"without": refused("RuntimeError"), "as meant": OF_THE_DRAW},
}


def sampled(style: tuple[str, ...], rule: str, figure: Any) -> Change:
    return put(SAMPLER, style, rule, value=figure)


def together(*changes: Change) -> Change:
    """Several changes of one world."""

    def change_all(world: World) -> None:
        for change in changes:
            change(world)

    return change_all


def not_obeyed(world: World) -> None:
    for style in MINDSPORE_STYLES:
        world[TOLD_GRADIENT, style] = FLAT


def not_obeyed_in_graphs(world: World) -> None:
    world[TOLD_GRADIENT, "mindspore-graph"] = FLAT


@pytest.mark.row(75)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (together(), "depends_on_style", "tuple from bprop, one gradient an input. Draw before"),
        (
            sampled(GRAPH, "as meant", OF_THE_DRAW),
            "depends_on_style",
            "Return a tuple from bprop, one gradient an input.",
        ),
        (sampled(GRAPH, "as printed", OF_THE_DRAW), "holds", "The statement can be relied on."),
        (sampled(GRAPH, "as printed", OF_ANOTHER_DRAW), "holds", "The statement can be relied on."),
        (
            sampled(TAPE, "as printed", refused("TypeError")),
            "holds_with_changes",
            "Return a tuple from bprop",
        ),
        (sampled(GRAPH, "as meant", CUT_OFF), "depends_on_style", "Check which style you use"),
        (not_obeyed_in_graphs, "depends_on_style", "Check which style you use"),
        (
            together(
                sampled(GRAPH, "as meant", CUT_OFF), sampled(TAPE, "as meant", refused("KeyError"))
            ),
            "does_not_hold",
            "the evidence has what was measured",
        ),
        (not_obeyed, "does_not_hold", "the evidence has what was measured"),
    ],
)
def test_a_rule_is_free_where_the_styles_do_as_they_are_told(
    change: Change, verdict: str, advice: str
) -> None:
    ruling = judge(CLAIMS[75], written(CUSTOM), change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_a_gradient_of_another_draw_is_told_with_the_style_that_gives_it() -> None:
    assert "in graph the gradient belongs" in judge(CLAIMS[75], written(CUSTOM)).advice
    on_both = judge(
        CLAIMS[75], written(CUSTOM), sampled(TAPE, "as printed", OF_ANOTHER_DRAW)
    ).advice
    assert "in graph and tape the gradient belongs" in on_both
    of_the_draw = judge(CLAIMS[75], written(CUSTOM), sampled(GRAPH, "as meant", OF_THE_DRAW))
    assert "draw" not in of_the_draw.advice


# Rows 80 and 81: the sum of 9x² at (1, 2, 3) beside 3x.

LOSS, BOTH, LOGITS = [18.0, 36.0, 54.0], [21.0, 39.0, 57.0], [3.0, 6.0, 9.0]


def outputs(
    one: str, tuple_of_one: Any, with_aux: Any, too_early: Any = (0.0, 0.0, 0.0)
) -> Figures:
    """What one party does with outputs beside the loss."""
    return {
        "has_aux": {
            "one output": refused(one),
            "a tuple of one": tuple_of_one,
            "two outputs": with_aux,
        },
        "without": {
            "two outputs": BOTH,
            "stop_gradient": LOSS,
            "stop_gradient too early": list(too_early)
            if isinstance(too_early, tuple)
            else too_early,
        },
    }


BESIDE_THE_LOSS: dict[tuple[Question, str], Figures] = {
    (OUTPUTS, "mindspore-graph"): outputs("RuntimeError", [LOSS, []], [LOSS, [LOGITS]]),
    (OUTPUTS, "mindspore-tape"): outputs("ValueError", refused("ValueError"), [LOSS, [LOGITS]]),
    (OUTPUTS, "torch"): outputs(
        "RuntimeError", refused("RuntimeError"), [LOSS, LOGITS], refused("RuntimeError")
    ),
}


def aux(parties: tuple[str, ...], form: str, value: Any) -> Change:
    return put(OUTPUTS, parties, "has_aux", form, value=value)


@pytest.mark.row(80)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (together(), "depends_on_style", "Catch RuntimeError and ValueError"),
        (together(), "depends_on_style", "a tuple of one passes where it is not refused"),
        (
            aux(GRAPH, "a tuple of one", refused("RuntimeError")),
            "holds",
            "The statement can be relied on.",
        ),
        (
            together(
                aux(GRAPH, "one output", refused("ValueError")),
                aux(GRAPH, "a tuple of one", refused("ValueError")),
            ),
            "holds",
            "The statement can be relied on.",
        ),
        (
            aux(TAPE, "a tuple of one", [LOSS, []]),
            "does_not_hold",
            "the evidence has what was measured",
        ),
        (
            aux(MINDSPORE_STYLES, "one output", LOSS),
            "does_not_hold",
            "the evidence has what was measured",
        ),
        (
            aux(MINDSPORE_STYLES, "two outputs", refused("TypeError")),
            "does_not_hold",
            "the evidence has what was measured",
        ),
    ],
)
def test_has_aux_needs_more_than_one_output_where_one_is_refused(
    change: Change, verdict: str, advice: str
) -> None:
    ruling = judge(CLAIMS[80], written(BESIDE_THE_LOSS), change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def stopped(parties: tuple[str, ...], value: Any) -> Change:
    return put(OUTPUTS, parties, "without", "stop_gradient", value=value)


@pytest.mark.row(81)
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (together(), "holds"),
        (stopped(TAPE, BOTH), "depends_on_style"),
        (stopped(GRAPH, refused("TypeError")), "depends_on_style"),
        (stopped(MINDSPORE_STYLES, BOTH), "does_not_hold"),
        (aux(MINDSPORE_STYLES, "two outputs", [BOTH, [LOGITS]]), "does_not_hold"),
        # Were every output but the first left out anyway, neither way would be of use.
        (put(OUTPUTS, MINDSPORE_STYLES, "without", "two outputs", value=LOSS), "does_not_hold"),
        # PyTorch is evidence alone.
        (put(OUTPUTS, ["torch"], "without", "stop_gradient", value=BOTH), "holds"),
    ],
)
def test_stop_gradient_is_has_aux_where_both_leave_the_output_out(
    change: Change, verdict: str
) -> None:
    assert judge(CLAIMS[81], written(BESIDE_THE_LOSS), change).verdict == verdict


@pytest.mark.row(81)
def test_what_was_stopped_before_the_loss_is_shown_for_each_party() -> None:
    early = put(OUTPUTS, TAPE, "without", "stop_gradient too early", value=[9.0])
    evidence = judge(CLAIMS[81], written(BESIDE_THE_LOSS), early).evidence
    assert evidence.endswith(
        "gradient with stop_gradient on what the loss is made of:"
        " [0, 0, 0] (MindSpore graph), [9] (MindSpore tape), RuntimeError: no (PyTorch)"
    )


# Row 82: (w · x) y at x = (1, 2), y = 4, w = (2, 3).

DX, DY, DW = [[8.0, 12.0]], [[8.0]], [[4.0, 8.0]]


def positions(true: Any, negative: Any, out_of_range: str, wrong: str) -> Figures:
    """What one party gives for each position."""
    return {
        "0": DX,
        "1": DY,
        "(0, 1)": [DX, DY],
        "'0'": refused(wrong),
        "True": true,
        "[0, 1]": refused(wrong),
        "()": refused("RuntimeError"),
        "-1": negative,
        "(0, 0)": refused("RuntimeError" if wrong == "RuntimeError" else "ValueError"),
        "2": refused(out_of_range),
    }


OF_MINDSPORE = {
    "ParameterTuple": [DW],
    "Parameter": DW,
    "list": [DW],
    "tuple": [DW],
    "empty list": [],
    "one Parameter twice": [DW, DW],
    "another net's Parameter": [[0.0]],
}

TAKEN: dict[tuple[Question, str], Figures] = {
    (ARGUMENTS, "mindspore-graph"): {
        "positions": positions(
            refused("RuntimeError"), refused("ValueError"), "IndexError", "TypeError"
        ),
        "weights": {
            **OF_MINDSPORE,
            "string": refused("ValueError"),
            "Tensor": refused("RuntimeError"),
        },
    },
    (ARGUMENTS, "mindspore-tape"): {
        "positions": positions(DY, refused("ValueError"), "RuntimeError", "TypeError"),
        "weights": {**OF_MINDSPORE, "string": refused("TypeError"), "Tensor": [0.0]},
    },
    (ARGUMENTS, "torch"): {
        "positions": positions(DY, DY, "RuntimeError", "RuntimeError"),
        "weights": {
            "Parameter": [DW],
            "list": [DW],
            "tuple": [DW],
            "string": refused("RuntimeError"),
            "Tensor": refused("RuntimeError"),
            "empty list": refused("RuntimeError"),
            "one Parameter twice": [DW, DW],
            "another net's Parameter": refused("RuntimeError"),
        },
    },
}


def refuse_alike(world: World) -> None:
    for part, form in (("positions", "True"), ("weights", "Tensor")):
        world[ARGUMENTS, "mindspore-tape"][part][form] = refused("TypeError")


def refuse_everything_else(world: World) -> None:
    refuse_alike(world)
    for style in MINDSPORE_STYLES:
        for form in ("tuple", "empty list", "one Parameter twice", "another net's Parameter"):
            world[ARGUMENTS, style]["weights"][form] = refused("TypeError")


@pytest.mark.row(82)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (
            together(),
            "depends_on_style",
            "another net's Parameter, positions True, weights Tensor.",
        ),
        (refuse_alike, "holds_with_changes", "weights another net's Parameter."),
        (refuse_everything_else, "holds", "The statement can be relied on."),
        (
            put(ARGUMENTS, TAPE, "weights", "list", value=refused("TypeError")),
            "depends_on_style",
            "Check which style you use",
        ),
        (
            put(ARGUMENTS, MINDSPORE_STYLES, "positions", "(0, 1)", value=[DY, DX]),
            "does_not_hold",
            "the evidence has what was measured",
        ),
    ],
)
def test_arguments_are_judged_by_what_passes_and_what_is_refused(
    change: Change, verdict: str, advice: str
) -> None:
    ruling = judge(CLAIMS[82], written(TAKEN), change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_the_table_says_of_each_form_who_gives_and_who_raises_what() -> None:
    table = judge(CLAIMS[82], written(TAKEN)).evidence
    for cell in (
        "-1: ValueError (MindSpore graph and tape), [[8]] (PyTorch)",
        "2: IndexError (MindSpore graph), RuntimeError (MindSpore tape and PyTorch)",
        "weights Parameter: [[4, 8]] (MindSpore graph and tape), [[[4, 8]]] (PyTorch)",
        "ParameterTuple: [[[4, 8]]] (MindSpore graph and tape);",
        "another net's Parameter: [[0]] (MindSpore graph and tape), RuntimeError (PyTorch)",
    ):
        assert cell in table


def without_messages(figure: Any) -> Any:
    """Figures without the words of what was raised, which change from version to version."""
    if not isinstance(figure, dict):
        return figure
    if "raised" in figure:
        return refused(figure["raised"])
    return {name: without_messages(part) for name, part in figure.items()}


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("world", [CUSTOM, BESIDE_THE_LOSS, TAKEN], ids=["75", "80", "82"])
def test_the_installed_versions_are_the_worlds_that_are_written_down(
    workers: Workers, world: Mapping[tuple[Question, str], Figures]
) -> None:
    for (question, party), figures in world.items():
        (measurement,) = question.by(party).measurements(Target())
        found = measured_once(workers, [measurement])[measurement.name].figures
        seen = {name: found[name] for name in figures}  # some have their code beside them
        assert without_messages(seen) == figures, measurement.name
