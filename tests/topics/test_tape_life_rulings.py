"""Verdicts on tape and graph: those of the recorded figures after a change, and of figures written down."""

from typing import Any

import msgspec
import pytest

from explorer.model.measurement import Figures
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.tape_life.figures import Forward, left
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    ANSWERS,
    CALLED_AGAIN,
    EXTRA_OUTPUT,
    FORWARD_ALONE,
    LIFETIME,
    REUSED,
    SECOND_BACKWARD,
    SWITCHES,
    VARIABLE,
)
from explorer.words.messages import text
from tests.support.rulings import USUAL, Case, Written, following
from tests.support.topics import Change, borrowed, copied, edited, moved, put, together

GRAPH_STYLE, TAPE_STYLE = (MINDSPORE_STYLES[:1], MINDSPORE_STYLES[1:])


def no_shift(*styles: str) -> Change:
    return copied(EXTRA_OUTPUT, styles, "every output", of="first output alone")


no_remedy_on_the_tape = copied(EXTRA_OUTPUT, TAPE_STYLE, "has_aux", of="every output")
no_remedy = together(
    no_remedy_on_the_tape,
    copied(EXTRA_OUTPUT, GRAPH_STYLE, "extra output stopped", of="every output"),
)

wrong_on_reuse = moved(REUSED, GRAPH_STYLE, "gradients", 1, 0, by=0.001)
wrong_on_every_reuse = together(wrong_on_reuse, put(REUSED, TAPE_STYLE, "callable", value=False))
other_numbers_in_graphs = put(CALLED_AGAIN, GRAPH_STYLE, "gradients", 2, value=[[[4.0, 8.0, 12.0]]])

retaining_fails = edited(
    SECOND_BACKWARD,
    ["torch-tape"],
    lambda ways: ways["retain_graph"].update(second=ways["plain"]["second"]),
)
no_accumulation = put(
    ACCUMULATION, ["torch-tape"], ".grad after each backward", 1, value=[[2.0, 4.0, 6.0]]
)


def zero_grad_leaves(gradient: list[list[float]]) -> Change:
    return put(ACCUMULATION, ["torch-tape"], "zero_grad()", value=gradient)


mindspore_apart = borrowed(ANSWERS, "mindspore-tape", by="mindspore-graph")
split_by_framework = together(borrowed(ANSWERS, "torch-graph", by="torch-tape"), mindspore_apart)
all_apart = together(borrowed(ANSWERS, "torch-tape", by="mindspore-graph"), mindspore_apart)

half_of_each = edited(
    ANSWERS, ["torch-tape"], lambda it: it.update({next(iter(it)): [1.5, 3.0, 4.5]}), "by a"
)

RULINGS = [
    Case(18, no_shift(*MINDSPORE_STYLES), "outdated"),
    Case(18, no_shift(*GRAPH_STYLE), "depends_on_style"),
    Case(18, no_remedy_on_the_tape, "depends_on_style"),
    Case(18, no_remedy, "does_not_hold"),
    Case(22, wrong_on_reuse, "depends_on_style"),
    Case(22, wrong_on_every_reuse, "does_not_hold"),
    Case(25, put(SECOND_BACKWARD, ["torch-tape"], "plain", "second", value="ran"), "outdated"),
    Case(25, other_numbers_in_graphs, "depends_on_style"),
    Case(25, retaining_fails, "does_not_hold"),
    Case(30, no_accumulation, "does_not_hold"),
    Case(30, zero_grad_leaves([[4.0, 8.0, 12.0]]), "does_not_hold"),
    Case(30, other_numbers_in_graphs, "depends_on_style"),
    Case(30, put(CALLED_AGAIN, TAPE_STYLE, "weight.grad", value="None"), "holds_with_changes"),
    Case(31, split_by_framework, "holds"),
    Case(31, all_apart, "does_not_hold"),
    Case(31, half_of_each, "does_not_hold"),
    # Zeros are as good as None: as PyTorch left them until 2.0.
    Case(
        30,
        zero_grad_leaves([[0.0, 0.0, 0.0]]),
        "holds",
        "",
        ".grad after zero_grad(): [0, 0, 0] (PyTorch tape)",
    ),
    Case(30, zero_grad_leaves([[0.0, 0.0, 12.0]]), "does_not_hold"),
]

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


TAPE_IN_A_GRADIENT = forwards(NOTHING, TAPE, NOTHING)
TAPE_EVERYWHERE = forwards(TAPE, TAPE, NOTHING)
TAPE_THAT_NOTHING_STOPS = forwards(TAPE, TAPE, REFUSED)
NO_TAPE = forwards(NOTHING, NOTHING, NOTHING)
GRAPH = forwards(COMPILED, COMPILED, REFUSED)
GRAPH_ON_A_TAPE = forwards(COMPILED, COMPILED_ON_A_TAPE, REFUSED)


def recording(torch_nodes: list[str], tape: Figures, graph: Figures) -> Written:
    return {
        (LIFETIME, "torch-tape"): life(3, nodes=torch_nodes),
        (LIFETIME, "mindspore-tape"): life(4, nodes=["Mul"]),
        (LIFETIME, "torch-graph"): life(3),
        (LIFETIME, "mindspore-graph"): life(2),
        (FORWARD_ALONE, "mindspore-tape"): tape,
        (FORWARD_ALONE, "mindspore-graph"): graph,
    }


NODE = ["AddBackward0"]
# The graph's part is never a count of what was not looked at.
UNSEEN = "what it saves cannot be observed"
ONLY_THERE = "only where a gradi"

# Recording is judged by the nodes that each forward leaves.
RULINGS += [
    Case(23, recording(NODE, TAPE_EVERYWHERE, GRAPH), "holds", "", UNSEEN),
    # That PyTorch's tape has more nodes is no matter.
    Case(
        23,
        recording(NODE * 9, TAPE_EVERYWHERE, GRAPH),
        "holds",
        "",
        "2 tensors, 12 bytes (MindSpore graph)",
    ),
    Case(23, recording(NODE, TAPE_IN_A_GRADIENT, GRAPH), "holds_with_changes", ONLY_THERE, UNSEEN),
    Case(23, recording(NODE, NO_TAPE, GRAPH), "does_not_hold", "", UNSEEN),
    Case(23, recording(NODE, TAPE_EVERYWHERE, GRAPH_ON_A_TAPE), "does_not_hold", "", UNSEEN),
    Case(23, recording([], TAPE_EVERYWHERE, GRAPH), "does_not_hold", "", UNSEEN),
]


def switched(plain: int, no_grad: int, tape: Figures, graph: Figures) -> Written:
    """How many tensors a forward of PyTorch saves, and how many under its switch."""
    saves = {"plain": plain, "no_grad": no_grad}.items()
    return {
        (SWITCHES, "torch-tape"): {
            way: {"saved": saved, "nodes": saved, "gradient": [1.0]} for way, saved in saves
        },
        (FORWARD_ALONE, "mindspore-tape"): tape,
        (FORWARD_ALONE, "mindspore-graph"): graph,
    }


REFUSES = "TypeError: Only support jit_class instance (MindSpore"
OUTSIDE = "Evaluate outside the gradient"

# The switch is needed where a forward leaves a tape, and of no use where nothing is saved.
RULINGS += [
    Case(24, switched(4, 0, NO_TAPE, GRAPH), "holds", "", REFUSES),
    Case(24, switched(4, 0, TAPE_IN_A_GRADIENT, GRAPH), "depends_on_style", OUTSIDE, REFUSES),
    Case(24, switched(4, 0, TAPE_EVERYWHERE, GRAPH), "depends_on_style", USUAL, REFUSES),
    Case(24, switched(4, 0, TAPE_THAT_NOTHING_STOPS, GRAPH), "depends_on_style", USUAL, REFUSES),
    Case(24, switched(4, 0, NO_TAPE, GRAPH_ON_A_TAPE), "depends_on_style", OUTSIDE, REFUSES),
    Case(24, switched(4, 0, TAPE_IN_A_GRADIENT, GRAPH_ON_A_TAPE), "does_not_hold", "", REFUSES),
    Case(24, switched(4, 4, TAPE_IN_A_GRADIENT, GRAPH), "does_not_hold", "", REFUSES),
    Case(24, switched(0, 0, NO_TAPE, GRAPH), "does_not_hold"),
]


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


def kept(own_bytes: int, others: int = 12) -> Figures:
    """A graph that keeps some bytes of its own when its forward part has ended."""
    tensors = bool(own_bytes) + bool(others)
    forward = {"phase": "forward", "tensors": tensors, "bytes": own_bytes}
    return {"steps": [{**forward, "of inputs and parameters": others}]}


def called(third: Any) -> Figures:
    """The gradient function of x³, with what it gives of (1, 2) at its second call."""
    return {"callable": True, "inputs": [[2.0], [1.0, 2.0]], "gradients": [[12.0], third]}


AGAIN, STALE = called([3.0, 12.0]), called([12.0, 12.0])


def reused(life: Figures, gradients: Figures) -> Written:
    return {(LIFETIME, "mindspore-graph"): life, (REUSED, "mindspore-graph"): gradients}


# Results are kept where bytes are that are no input's.
RULINGS += [
    Case(70, reused(kept(4), AGAIN), "does_not_hold", "keeps them within a call"),
    Case(70, reused(kept(0), AGAIN), "holds"),
    Case(70, reused(kept(0, 0), AGAIN), "holds"),
    Case(70, reused(kept(0), STALE), "does_not_hold"),
]

# A Variable that is overwritten

TWOS, FOURS = [[2.0, 2.0], [2.0, 2.0]], [[4.0, 4.0], [4.0, 4.0]]
NO_VARIABLE = {"raised": "ImportError", "message": "cannot import name 'Variable'"}


def variable(
    printed: Any, leaf: Any = FOURS, *, exists: bool = True, is_tensor: bool = True
) -> Written:
    figures: Figures = {
        "torch.autograd.Variable exists": exists,
        "type": "torch.Tensor",
        "is a Tensor": is_tensor,
        "x.grad as printed": printed,
        "warned": ["not a leaf"] if printed is None else [],
        "leaf.grad": leaf,
    }
    return {(VARIABLE, "torch-tape"): figures}


NOT_A_LEAF = "x.grad, as printed: None (PyTorch tape); warning, as printed: not a leaf"

# The printed chain is judged by the gradient of the name that it keeps.
RULINGS += [
    Case(29, variable(FOURS, is_tensor=False), "holds"),
    Case(29, variable(TWOS), "holds_with_changes", "", "warning, as printed: none"),
    Case(29, variable(None), "does_not_hold", "under a name of its own", NOT_A_LEAF),
    Case(29, variable(None, leaf=TWOS), "does_not_hold"),
    Case(29, variable([[1.0, 1.0], [1.0, 1.0]]), "does_not_hold", "under a name of its own"),
    Case(29, variable(NO_VARIABLE, exists=False), "outdated"),
]

test_verdict_advice_and_evidence_follow_the_figures = following(RULINGS)
