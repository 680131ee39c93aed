"""Every verdict on the limits of graph style, by constructs that it may take, refuse or change."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.networks.claims_porting import SLICING
from explorer.topics.networks.inputs import CODE, INDEXING, while_below_tensor
from explorer.topics.networks.questions import COMPILATIONS, SLICES, TOPIC
from tests.support.topics import Ruled, ruled

LOOPS = ("while_below_tensor", "loop_to_tensor")

RIGHT = {"value": [2.0, 3.0], "gradient": [0.0, 1.0, 1.0]}
NO_SLICE = {"raised": "TypeError", "message": "no such slice"}
NO_VALUE = {"value": NO_SLICE, "gradient": NO_SLICE}
NO_GRADIENT = {"value": [2.0, 3.0], "gradient": {"raised": "ValueError", "message": "shape -1"}}
ANOTHER_GRADIENT = {"value": [2.0, 3.0], "gradient": [0.0, 0.0, 1.0]}

ONCE = {"gradient": 1, "gradient_in_a_cell": 1, "lengths": 3}
DECLARED = {"fixed": 3, "dynamic": 1, **ONCE}
NOT_DECLARED = {"fixed": 3, "dynamic": {"raised": "ValueError", "message": "no -1"}, **ONCE}
COMPILED_ANEW = {"fixed": 3, "dynamic": 3, **ONCE}
NEVER_ANEW = {"fixed": 1, "dynamic": 1, **ONCE}
NOT_FOR_GRADIENTS = {**DECLARED, "gradient": 3}


def ruling(compiled: Figures, refused_on_the_tape: str = "", **in_graph: Any) -> Ruled:
    """The ruling where graph style takes every construct but those that are named.

    The tape takes all but one, if that is named.
    """
    slices: Figures = {}
    for construct in (*SLICING, *LOOPS):
        slices[f"{construct}.graph"] = in_graph.get(construct, RIGHT)
        slices[f"{construct}.tape"] = NO_VALUE if construct == refused_on_the_tape else RIGHT
    # PyTorch is asked beside it, and has no say.
    world = {
        (SLICES, "mindspore"): slices,
        (SLICES, "torch"): {},
        (COMPILATIONS, "mindspore"): compiled,
    }
    return ruled(TOPIC.claims[39], world)


def test_what_graph_style_takes_is_not_restricted_any_more() -> None:
    taken = ruling(NEVER_ANEW)
    assert taken.verdict == "outdated"
    assert taken.advice == "Read and write by tensors and masks in graph style as on the tape."


def test_a_length_that_can_be_declared_is_no_restriction() -> None:
    declared = ruling(DECLARED)
    assert declared.verdict == "outdated"
    assert "set_inputs" in declared.advice


@pytest.mark.parametrize(
    ("while_loop", "instead"),
    [(RIGHT, "write a while loop"), (NO_VALUE, "loop over a number known beforehand")],
)
def test_a_loop_that_is_refused_is_no_slice_and_has_advice_of_its_own(
    while_loop: Any, instead: str
) -> None:
    refused = ruling(DECLARED, loop_to_tensor=NO_VALUE, while_below_tensor=while_loop)
    assert refused.verdict == "outdated"
    assert f"In place of range(tensor) {instead}" in refused.advice
    assert "the value is refused (TypeError: no such slice)" in refused.evidence
    assert "for index in range(at)" in refused.evidence


@pytest.mark.parametrize("restricted", [NO_VALUE, NO_GRADIENT, ANOTHER_GRADIENT])
def test_one_construct_that_is_refused_or_wrong_is_a_restriction_and_the_advice_names_it(
    restricted: Any,
) -> None:
    partly = ruling(DECLARED, by_mask=restricted)
    assert partly.verdict == "holds_with_changes"
    assert "Run x[x > 1] on the tape" in partly.advice
    assert "masks in graph style as on the tape" not in partly.advice


@pytest.mark.parametrize("compiled", [NOT_DECLARED, COMPILED_ANEW])
def test_a_length_that_cannot_be_declared_is_a_restriction(compiled: Figures) -> None:
    shapes = ruling(compiled)
    assert shapes.verdict == "holds_with_changes"
    assert "Pad to one length" in shapes.advice
    assert "set_inputs" not in shapes.advice


def test_a_length_that_does_not_reach_the_gradient_is_a_restriction() -> None:
    shapes = ruling(NOT_FOR_GRADIENTS)
    assert shapes.verdict == "holds_with_changes"
    assert "Declare them to a Cell that calls ms.grad" in shapes.advice
    assert "compilations of ms.grad of a cell declared so: 3" in shapes.evidence
    nowhere = ruling({**NOT_FOR_GRADIENTS, "gradient_in_a_cell": 3})
    assert nowhere.verdict == "holds_with_changes"
    assert "to a Cell that calls ms.grad" not in nowhere.advice


REFUSED: dict[str, Any] = dict.fromkeys(SLICING, NO_VALUE)


@pytest.mark.row(39)
@pytest.mark.parametrize(
    ("by_both", "verdict", "advice"),
    [
        (ruling(NOT_DECLARED, **REFUSED), "holds", "Index by constants in graph style"),
        (ruling(COMPILED_ANEW, **REFUSED), "holds", "Pad to one length"),
        (ruling(DECLARED, **REFUSED), "holds_with_changes", "Index by constants in graph style"),
        (ruling(NOT_DECLARED, by_mask=NO_VALUE), "holds_with_changes", "Run x[x > 1] on the tape"),
        (ruling(DECLARED), "outdated", "Declare varying dimensions"),
    ],
)
def test_everything_is_restricted_where_no_slice_and_no_length_is_taken(
    by_both: Ruled, verdict: str, advice: str
) -> None:
    assert by_both.verdict == verdict
    assert advice in by_both.advice


def test_what_the_tape_refuses_too_is_no_limit_of_graph_style() -> None:
    nowhere = ruling(DECLARED, refused_on_the_tape="by_mask", by_mask=NO_VALUE)
    assert nowhere.verdict == "outdated"
    assert "x[x > 1], where at is a tensor: refused, on the tape too" in nowhere.evidence
    assert "x[x > 1] on the tape" not in nowhere.advice


def test_constructs_are_shown_by_code_that_the_functions_have() -> None:
    sources = {function.__name__: inspect.getsource(function) for function in INDEXING}
    sources["while_below_tensor"] = inspect.getsource(while_below_tensor)
    in_mindspore = Path(inspect.getfile(INDEXING[0])).with_name("in_mindspore.py")
    sources["loop_to_tensor"] = in_mindspore.read_text(encoding="utf-8")
    assert sources.keys() == CODE.keys()
    for name, code in CODE.items():
        assert code in sources[name]
