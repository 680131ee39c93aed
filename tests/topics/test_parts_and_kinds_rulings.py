"""Every verdict on parts of nets, kinds of data and a Variable's gradient, by figures that can occur."""

from typing import Any

import pytest

from explorer.topics.networks.questions import KINDS_OF_DATA, PARTS
from explorer.topics.networks.questions import TOPIC as NETWORKS
from explorer.topics.tape_life.questions import TOPIC as TAPE_LIFE
from explorer.topics.tape_life.questions import VARIABLE
from tests.support.topics import Ruled, ruled

# Parts of a net with a block of two layers and a layer after it

CHILDREN = ["block", "fc"]
ALL = ["", "block", "block.0", "block.1", "fc"]
ADDED = ["block", "fc", "head"]
TRAINED = ["weight", "bias"]
WITH_BUFFERS = [*TRAINED, "moving_mean"]


def parts(
    cells: Any = CHILDREN,
    children: Any = CHILDREN,
    added: Any = ADDED,
    parameters: Any = TRAINED,
    modules: Any = ALL,
) -> Ruled:
    """The ruling where MindSpore's calls list these parts; cells_and_names is named first."""
    return ruled(
        NETWORKS.claims[35],
        {
            (PARTS, "mindspore"): {
                "cells_and_names": cells,
                "name_cells": children,
                "after_insert_child_to_cell": added,
                "get_parameters": parameters,
            },
            (PARTS, "torch"): {
                "named_children": CHILDREN,
                "named_modules": modules,
                "after_add_module": ADDED,
                "parameters": TRAINED,
            },
        },
    )


@pytest.mark.row(35)
@pytest.mark.parametrize(
    ("ruling", "verdict", "advice"),
    [
        (parts(), "holds", "can be relied on"),
        # MindSpore calls batch norm's weight gamma: how many there are is what counts.
        (parts(parameters=["gamma", "bias"]), "holds", "can be relied on"),
        (parts(parameters=WITH_BUFFERS), "holds_with_changes", "has 3 where parameters() has 2"),
        (parts(ALL), "does_not_hold", "name_cells for named_children, cells_and_names for named_m"),
        (parts(ALL, modules=CHILDREN), "does_not_hold", "Use name_cells for named_children."),
        (parts(ALL, children=["fc"]), "does_not_hold", "Use cells_and_names for named_modules."),
        (parts(ALL, children=["fc"], modules=["fc"]), "does_not_hold", "no call of MindSpore"),
        (parts(added=CHILDREN), "does_not_hold", "not add_module's"),
    ],
)
def test_the_guides_pairs_are_judged_and_not_better_ones(
    ruling: Ruled, verdict: str, advice: str
) -> None:
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_only_pairs_that_were_seen_to_differ_are_advised_on() -> None:
    assert "trainable_params" not in parts(ALL).advice
    assert "name_cells" not in parts(parameters=WITH_BUFFERS).advice


# Kinds of data


def kinds(
    variable: str = "Variable",
    buffers: Any = (),
    tensor_has: Any = (),
    mindspore: Any = ("Tensor", "Parameter"),
    *,
    trains: bool = False,
) -> Ruled:
    """The ruling where a frozen weight is trained or not, and MindSpore has these kinds."""
    return ruled(
        NETWORKS.claims[36],
        {
            (KINDS_OF_DATA, "mindspore"): {
                "kinds": list(mindspore),
                "registered": buffers if isinstance(buffers, dict) else list(buffers),
                "tensor_has": list(tensor_has),
                "trainable_after_requires_grad_False": ["bias"],
            },
            (KINDS_OF_DATA, "torch"): {
                "kinds": ["Tensor", "Parameter", "Buffer"],
                "Variable_is": variable,
                "has_gradient": {"weight": trains},
            },
        },
    )


NO_BUFFERS = {"raised": "AttributeError", "message": "no register_buffer"}


@pytest.mark.row(36)
@pytest.mark.parametrize(
    ("ruling", "verdict", "advice"),
    [
        (kinds(), "holds", "can be relied on"),
        (kinds(buffers=NO_BUFFERS), "holds", "can be relied on"),
        (kinds("Tensor"), "holds_with_changes", "names and defaults"),
        (kinds("Tensor", buffers=["mean"]), "outdated", "becomes of a buffer and of a Tensor"),
        (kinds("Tensor", tensor_has=["requires_grad_"]), "outdated", "becomes of a Tensor"),
        (kinds(mindspore=("Tensor", "Variable", "Parameter")), "outdated", "becomes of a Tensor"),
        (kinds("Tensor", buffers=["mean"], trains=True), "does_not_hold", "Do not rely"),
    ],
)
def test_kinds_are_judged_as_they_are_on_both_sides(
    ruling: Ruled, verdict: str, advice: str
) -> None:
    assert ruling.verdict == verdict
    assert advice in ruling.advice


# A Variable that is overwritten

TWOS, FOURS = [[2.0, 2.0], [2.0, 2.0]], [[4.0, 4.0], [4.0, 4.0]]
NO_VARIABLE = {"raised": "ImportError", "message": "cannot import name 'Variable'"}


def variable(
    printed: Any, leaf: Any = FOURS, *, exists: bool = True, is_tensor: bool = True
) -> Ruled:
    figures = {
        "torch.autograd.Variable exists": exists,
        "type": "torch.Tensor",
        "is a Tensor": is_tensor,
        "x.grad as printed": printed,
        "warned": ["not a leaf"] if printed is None else [],
        "leaf.grad": leaf,
    }
    return ruled(TAPE_LIFE.claims[29], {(VARIABLE, "torch-tape"): figures})


@pytest.mark.row(29)
@pytest.mark.parametrize(
    ("ruling", "verdict", "advice"),
    [
        (variable(FOURS, is_tensor=False), "holds", ""),
        (variable(TWOS), "holds_with_changes", ""),
        (variable(None), "does_not_hold", "under a name of its own"),
        (variable(None, leaf=TWOS), "does_not_hold", ""),
        (variable([[1.0, 1.0], [1.0, 1.0]]), "does_not_hold", "under a name of its own"),
        (variable(NO_VARIABLE, exists=False), "outdated", ""),
    ],
)
def test_the_printed_chain_is_judged_by_the_gradient_of_the_name_that_it_keeps(
    ruling: Ruled, verdict: str, advice: str
) -> None:
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_the_warning_that_a_name_has_no_gradient_is_evidence() -> None:
    assert (
        "x.grad, as printed: None (PyTorch tape); warning, as printed: not a leaf"
        in variable(None).evidence
    )
    assert "warning, as printed: none" in variable(TWOS).evidence
