"""Every verdict on what a forward records, by figures of worlds that can occur."""

from typing import Any

import msgspec
import pytest

from explorer.model.measurement import Figures
from explorer.topics.question import Question
from explorer.topics.tape_life.figures import Forward, left
from explorer.topics.tape_life.questions import FORWARD_ALONE, LIFETIME, SWITCHES, TOPIC
from explorer.words.messages import text
from tests.support.topics import ruled

REFUSED = {"raised": "TypeError", "message": "Only support jit_class instance. Hint"}

NOTHING = {"nodes": 0, "saved": 0}
TAPE = {"nodes": 7, "saved": 4}
COMPILED = {"nodes": 0, "saved": None}
COMPILED_ON_A_TAPE = {"nodes": 1, "saved": None}


def life(tensors: int, **figures: Any) -> Figures:
    """An engine that keeps some tensors when its forward has ended."""
    step = {"phase": "forward", "tensors": tensors, "bytes": 4, "of inputs and parameters": 8}
    return {"steps": [step], **figures}


def forwards(by_itself: Any, inside: Any, unrecorded: Any, public: bool = False) -> Figures:
    """What the forwards of one style of MindSpore leave."""
    return {
        "by itself": by_itself,
        "inside a gradient": inside,
        "inside a gradient, under _no_grad": unrecorded,
        "mindspore._no_grad": True,
        "mindspore.no_grad": public,
    }


def switches(plain: int, no_grad: int) -> Figures:
    """How many tensors a forward of PyTorch saves, and how many under its switch."""
    ways = {"plain": plain, "no_grad": no_grad}
    return {way: {"saved": saved, "nodes": saved, "gradient": [1.0]} for way, saved in ways.items()}


TAPE_IN_A_GRADIENT = forwards(NOTHING, TAPE, NOTHING)
TAPE_EVERYWHERE = forwards(TAPE, TAPE, NOTHING)
TAPE_THAT_NOTHING_STOPS = forwards(TAPE, TAPE, REFUSED)
NO_TAPE = forwards(NOTHING, NOTHING, NOTHING)
GRAPH = forwards(COMPILED, COMPILED, REFUSED)
GRAPH_ON_A_TAPE = forwards(COMPILED, COMPILED_ON_A_TAPE, REFUSED)


@pytest.mark.row(23)
@pytest.mark.parametrize(
    ("torch_nodes", "tape", "graph", "verdict", "advice"),
    [
        (["AddBackward0"], TAPE_EVERYWHERE, GRAPH, "holds", ""),
        # That PyTorch's tape has more nodes is no matter.
        (["AddBackward0"] * 9, TAPE_EVERYWHERE, GRAPH, "holds", ""),
        (["AddBackward0"], TAPE_IN_A_GRADIENT, GRAPH, "holds_with_changes", "only where a gradi"),
        (["AddBackward0"], NO_TAPE, GRAPH, "does_not_hold", ""),
        (["AddBackward0"], TAPE_EVERYWHERE, GRAPH_ON_A_TAPE, "does_not_hold", ""),
        ([], TAPE_EVERYWHERE, GRAPH, "does_not_hold", ""),
    ],
)
def test_recording_is_judged_by_the_nodes_that_each_forward_leaves(
    torch_nodes: list[str], tape: Figures, graph: Figures, verdict: str, advice: str
) -> None:
    world: dict[tuple[Question, str], Figures] = {
        (LIFETIME, "torch-tape"): life(3, nodes=torch_nodes),
        (LIFETIME, "mindspore-tape"): life(4, nodes=["Mul"]),
        (LIFETIME, "torch-graph"): life(3),
        (LIFETIME, "mindspore-graph"): life(2),
        (FORWARD_ALONE, "mindspore-tape"): tape,
        (FORWARD_ALONE, "mindspore-graph"): graph,
    }
    ruling = ruled(TOPIC.claims[23], world)
    assert ruling.verdict == verdict
    assert advice in ruling.advice
    # The graph's part is never a count of what was not looked at.
    assert "what it saves cannot be observed" in ruling.evidence
    assert "2 tensors, 12 bytes (MindSpore graph)" in ruling.evidence


@pytest.mark.row(24)
@pytest.mark.parametrize(
    ("no_grad", "tape", "graph", "verdict", "advice"),
    [
        (0, NO_TAPE, GRAPH, "holds", ""),
        (0, TAPE_IN_A_GRADIENT, GRAPH, "depends_on_style", "Evaluate outside the gradient"),
        (0, TAPE_EVERYWHERE, GRAPH, "depends_on_style", "Check which style"),
        (0, TAPE_THAT_NOTHING_STOPS, GRAPH, "depends_on_style", "Check which style"),
        (0, NO_TAPE, GRAPH_ON_A_TAPE, "depends_on_style", "Evaluate outside the gradient"),
        (0, TAPE_IN_A_GRADIENT, GRAPH_ON_A_TAPE, "does_not_hold", ""),
        (4, TAPE_IN_A_GRADIENT, GRAPH, "does_not_hold", ""),
    ],
)
def test_the_switch_is_needed_where_a_forward_leaves_a_tape(
    no_grad: int, tape: Figures, graph: Figures, verdict: str, advice: str
) -> None:
    world: dict[tuple[Question, str], Figures] = {
        (SWITCHES, "torch-tape"): switches(4, no_grad),
        (FORWARD_ALONE, "mindspore-tape"): tape,
        (FORWARD_ALONE, "mindspore-graph"): graph,
    }
    ruling = ruled(TOPIC.claims[24], world)
    assert ruling.verdict == verdict
    assert advice in ruling.advice
    assert "TypeError: Only support jit_class instance (MindSpore" in ruling.evidence


def test_a_switch_is_of_no_use_where_nothing_is_saved_to_begin_with() -> None:
    world: dict[tuple[Question, str], Figures] = {
        (SWITCHES, "torch-tape"): switches(0, 0),
        (FORWARD_ALONE, "mindspore-tape"): NO_TAPE,
        (FORWARD_ALONE, "mindspore-graph"): GRAPH,
    }
    assert ruled(TOPIC.claims[24], world).verdict == "does_not_hold"


@pytest.mark.parametrize(
    ("forward", "words"),
    [
        (TAPE, "7 nodes and 4 saved tensors"),
        (COMPILED, "0 nodes, and what it saved cannot be observed"),
        (REFUSED, "TypeError: Only support jit_class instance"),
    ],
)
def test_what_cannot_be_observed_is_said_and_not_counted(forward: Any, words: str) -> None:
    assert text(left(msgspec.convert(forward, Forward))) == words
