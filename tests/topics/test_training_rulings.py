"""Claims about optimizers and listings without a framework: every verdict, by figures that can occur."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from explorer.topics.training.questions import (
    ADD_PARAM_GROUP,
    EXPORTED_OPTIMIZERS,
    FILTERED,
    GROUPS,
    LISTED_FILTERS,
    LISTED_SHAPES,
    LOOKED_UP,
    LOSS_SCALE,
    MINIMIZED,
    OPTIMIZER_STATE,
    PARAM_GROUPS,
    STATEFUL,
    TAKES_GROUPS,
    THOR,
    TOPIC,
    UNMATCHED_UPDATES,
)
from explorer.topics.training.update_rules import NEAR
from tests.support.topics import Ruled, World, judge, put, unchanged, written

UNKNOWN = {"raised": "AttributeError", "message": "no such attribute"}
NO_KERNEL = {"raised": "RuntimeError", "message": "Kernel select failed: Unsupported op [X] on CPU"}
REFUSED = {"raised": "TypeError", "message": "got an unexpected keyword argument 'loss_scale'"}

STRAIGHT = [[0.9, -2.0], [0.8, -2.0]]
CURVED = [[0.9, -2.0], [0.7, -2.0]]
WAVY = [[0.5, -1.0], [0.7, -1.5]]
"""What three update rules leave of a weight after two gradients."""

GROUP = {"params": 1, "momentum": 0.9, "dampening": 0, "weight_decay": 0, "nesterov": False}
"""The settings that a group of SGD tells, but for its rate."""

TWO_GROUPS = [GROUP | {"lr": 0.5}, GROUP | {"lr": 0.1}]

APART = {"first": [0.5, 1.5], "second": [0.8, 2.4]}
"""What two steps leave of the weights of two groups, of which one has a setting that tells."""

CHOSEN = {"count": 6, "chosen": ["fc.bias"], "moved": ["fc.bias"]}

TRAINED = {
    "losses": [4.25, 1.4356],
    "weight": [1.5828, -0.1869],
    "moments": [[-1.6414, -2.6775]],
    "steps counted": [5],
}

EXPORTED = ["Adagrad", "Adam", "ASGD", "LBFGS", "SGD"]

WORLD = written(
    {
        (FILTERED, "mindspore"): {**CHOSEN, "type": "list", "again": True},
        (FILTERED, "torch"): {**CHOSEN, "type": "generator", "again": False},
        (GROUPS, "mindspore"): {
            "nn": {
                "lr": APART,
                "weight_decay": APART,
                "grad_centralization, rows of 16": NO_KERNEL,
                "momentum": UNKNOWN,
            },
            "experimental": {"lr": APART, "momentum": UNKNOWN},
        },
        (GROUPS, "torch"): {"torch": {"lr": APART, "weight_decay": APART, "momentum": APART}},
        (ADD_PARAM_GROUP, "mindspore"): {
            "nn": {"SGD": UNKNOWN},
            "experimental": {"SGD": UNKNOWN},
        },
        (ADD_PARAM_GROUP, "torch"): {"torch": {"SGD": APART}},
        (OPTIMIZER_STATE, "mindspore"): {
            "nn": {
                "has": {"state_dict": True},
                "state_dict": ["momentum", "weight"],
                "get_lr": 0.1,
            },
            "experimental": {"has": {"state_dict": True}, "state_dict": [], "get_lr": UNKNOWN},
            "scheduler.get_last_lr": [0.09],
        },
        (OPTIMIZER_STATE, "torch"): {
            "torch": {"has": {"state_dict": True}, "state_dict": ["param_groups", "state"]},
            "scheduler.get_last_lr": [0.09],
        },
        (EXPORTED_OPTIMIZERS, "mindspore"): {"nn": ["ASGD", "SGD"], "experimental": ["ASGD"]},
        (EXPORTED_OPTIMIZERS, "torch"): {"torch": EXPORTED},
        (LOOKED_UP, "mindspore"): {
            "ProximalAadagrad": UNKNOWN,
            "AdamOffload": "AdamOffload",
            "FTRL": "FTRL",
            "Lamb": "Lamb",
            "thor": "thor",
        },
        (LOOKED_UP, "torch"): {"ASGD": "ASGD", "LBFGS": "LBFGS"},
        (MINIMIZED, "mindspore"): {"ASGD": REFUSED, "LBFGS": REFUSED},
        (TAKES_GROUPS, "mindspore"): {"FTRL": REFUSED, "SGD": 2},
        (TAKES_GROUPS, "torch"): {"LBFGS": 1, "SGD": 2},
        (UNMATCHED_UPDATES, "nn"): {
            "ASGD": STRAIGHT,
            "ProximalAdagrad": CURVED,
            "AdamOffload": [[0.9, -2.0], [0.6, -2.0]],
            "FTRL": WAVY,
            "Lamb": NO_KERNEL,
        },
        (UNMATCHED_UPDATES, "experimental"): {"ASGD": STRAIGHT},
        (UNMATCHED_UPDATES, "torch"): {
            "ASGD": STRAIGHT,
            "Adagrad": CURVED,
            "Adam": [[0.9, -2.0], [0.6, -2.0]],
            "LBFGS": {"raised": "TypeError", "message": "missing argument: 'closure'"},
            "SGD": [[0.9, -2.0], [0.5, -2.0]],
        },
        (THOR, "mindspore"): {"step": NO_KERNEL},
        (LOSS_SCALE, "nn"): {
            "as printed": {"Optimizer": "Optimizer", "SGD": UNKNOWN},
            "scaled": 0.9,
            "whole": 0.6,
            "divided by hand": 0.9,
            "scaled, decayed": 0.89,
            "divided by hand, decayed": 0.89,
        },
        (LOSS_SCALE, "experimental"): {
            "as printed": {"Optimizer": REFUSED, "SGD": REFUSED},
            "scaled": REFUSED,
        },
        (LOSS_SCALE, "torch"): {
            "as printed": {"Optimizer": "Optimizer", "SGD": REFUSED},
            "scaled": REFUSED,
        },
        (PARAM_GROUPS, "nn"): {"groups": UNKNOWN},
        (PARAM_GROUPS, "experimental"): {"groups": TWO_GROUPS},
        (PARAM_GROUPS, "torch"): {"groups": TWO_GROUPS},
        (LISTED_FILTERS, "mindspore"): {
            "as printed": ["bn.moving_mean", "bn.moving_variance", "bn.gamma", "bn.beta"],
            "as meant": ["bn.gamma", "bn.beta"],
        },
        (LISTED_FILTERS, "torch"): {
            "as printed": ["conv.weight", "conv.bias"],
            "as meant": ["bn.weight", "bn.bias"],
        },
        (LISTED_SHAPES, "mindspore"): {
            "as printed": [1, 64, 64, 32],
            "with PyTorch's label": {"raised": "ValueError", "message": "need to broadcast. The"},
            "padded as in PyTorch": [1, 64, 62, 30],
        },
        (LISTED_SHAPES, "torch"): {
            "as printed": [1, 64, 62, 30],
            "with MindSpore's label": {"raised": "RuntimeError", "message": "must match: 30"},
            "padded as in MindSpore": [1, 64, 64, 32],
        },
        (STATEFUL, "mindspore-graph"): {"by itself": TRAINED, "ms.jit": copy.deepcopy(TRAINED)},
        (STATEFUL, "mindspore-tape"): {
            "by itself": {**TRAINED, "dispatched": 11},
            "ms.jit": {**copy.deepcopy(TRAINED), "dispatched": 0},
        },
    }
)


def judged(row: int, change: Callable[[World], None] = unchanged) -> Ruled:
    """The ruling on a row in WORLD, after ``change`` has been at it."""
    return judge(TOPIC.claims[row], WORLD, change)


@pytest.mark.parametrize(
    ("row", "verdict", "evidence", "advice"),
    [
        (62, "outdated", "nn.ASGD, experimental.ASGD; not in MindSpore: LBFGS", "only LBFGS must"),
        (
            64,
            "does_not_hold",
            "there leaves the same weights: FTRL",
            "write FTRL yourself",
        ),
        (
            66,
            "holds_with_changes",
            "with gradient 4: 0.6 (mindspore.nn)",
            "Leave weight_decay as it is",
        ),
        (
            67,
            "holds_with_changes",
            "nesterov, lr (PyTorch and mindspore.exp",
            "of mindspore.nn, group_lr",
        ),
        (68, "does_not_hold", "conv.weight, conv.bias (PyTorch)", 'Ask for `"conv" not in name`'),
        (69, "holds", "ValueError: need to broadcast", 'pad_mode="valid"'),
        (83, "holds", "weight under ms.jit: [1.5828, -0.1869", "Put the optimizer's call inside"),
    ],
)
def test_the_verdict_with_its_evidence_and_advice(
    row: int, verdict: str, evidence: str, advice: str
) -> None:
    ruling = judged(row)
    assert ruling.verdict == verdict
    assert evidence in ruling.evidence
    assert advice in ruling.advice
    assert ruling.advice.endswith(".")


def nn_alone_parts_by(difference: float) -> Callable[[World], None]:
    """ASGD in mindspore.nn alone, so far from PyTorch's."""

    def change(world: World) -> None:
        world[EXPORTED_OPTIMIZERS, "mindspore"]["experimental"] = ["SGD"]
        world[UNMATCHED_UPDATES, "nn"]["ASGD"] = [[0.9, -2.0], [0.8 + difference, -2.0]]

    return change


def no_asgd(world: World) -> None:
    world[EXPORTED_OPTIMIZERS, "mindspore"].update(nn=["SGD"], experimental=["SGD"])


def lbfgs_unlike_pytorchs(world: World) -> None:
    no_asgd(world)
    world[EXPORTED_OPTIMIZERS, "mindspore"]["nn"].append("LBFGS")


def minimizes(*end: float) -> Callable[[World], None]:
    """LBFGS as a method ends there; the minimum is at (1, 2)."""
    return put(MINIMIZED, ["mindspore"], "LBFGS", value=list(end))


def every_group_taken(world: World) -> None:
    world[TAKES_GROUPS, "mindspore"]["FTRL"] = world[TAKES_GROUPS, "torch"]["LBFGS"] = 2


def only_names_differ(world: World) -> None:
    world[UNMATCHED_UPDATES, "torch"].update(Adagrad=WAVY[:1], Adam=REFUSED)


def none_is_there_any_more(world: World) -> None:
    world[LOOKED_UP, "mindspore"].update(dict.fromkeys(world[LOOKED_UP, "mindspore"], UNKNOWN))


def nothing_runs(world: World) -> None:
    world[UNMATCHED_UPDATES, "nn"] = dict.fromkeys(world[UNMATCHED_UPDATES, "nn"], NO_KERNEL)


def ftrl_refused(world: World) -> None:
    world[UNMATCHED_UPDATES, "nn"]["FTRL"] = NO_KERNEL


def both_as_in_pytorch(world: World) -> None:
    """MindSpore has LBFGS too, and both frameworks step it without a closure."""
    world[EXPORTED_OPTIMIZERS, "mindspore"]["nn"].append("LBFGS")
    for place in ("nn", "torch"):
        world[UNMATCHED_UPDATES, place]["LBFGS"] = CURVED


def experimental_divides(world: World) -> None:
    world[LOSS_SCALE, "experimental"] = copy.deepcopy(world[LOSS_SCALE, "nn"])


def nn_refuses(world: World) -> None:
    world[LOSS_SCALE, "nn"] = copy.deepcopy(world[LOSS_SCALE, "experimental"])


def nn_tells_groups(world: World) -> None:
    world[PARAM_GROUPS, "nn"]["groups"] = TWO_GROUPS


def chosen(mindspore: list[str], torch: list[str]) -> Callable[[World], None]:
    """Sets what the listings choose as printed."""

    def change(world: World) -> None:
        world[LISTED_FILTERS, "mindspore"]["as printed"] = mindspore
        world[LISTED_FILTERS, "torch"]["as printed"] = torch

    return change


def pads_no_more(world: World) -> None:
    world[LISTED_SHAPES, "mindspore"].update(
        {"as printed": UNKNOWN, "with PyTorch's label": [1, 64, 62, 30]}
    )


def jitted_off_by(difference: float, *styles: str) -> Callable[[World], None]:
    """Moves a moment that ms.jit leaves in some styles."""

    def change(world: World) -> None:
        for style in styles:
            moments = world[STATEFUL, f"mindspore-{style}"]["ms.jit"]["moments"]
            moments[0][0] += difference

    return change


NORM = ["bn.gamma", "bn.beta"]
TORCH_NORM = ["bn.weight", "bn.bias"]


@pytest.mark.parametrize(
    ("row", "change", "verdict", "advice"),
    [
        (62, no_asgd, "holds", "can be relied on"),
        (62, minimizes(1.0, 2.0009), "does_not_hold", 'minimize(method="LBFGS") minimizes a func'),
        (62, minimizes(1.0, 2.0011), "outdated", "only LBFGS must be written"),
        (62, both_as_in_pytorch, "does_not_hold", "Use nn.ASGD, experimental.ASGD or nn.LBFGS."),
        (62, lbfgs_unlike_pytorchs, "holds_with_changes", "before you use nn.LBFGS"),
        (62, nn_alone_parts_by(0.9 * NEAR), "outdated", "Use nn.ASGD;"),
        (93, every_group_taken, "does_not_hold", "Do not rely"),
        (93, put(TAKES_GROUPS, ["mindspore"], "FTRL", value=2), "holds", "Give LBFGS one rate"),
        (93, unchanged, "holds", "Give FTRL, LBFGS one rate"),
        (62, nn_alone_parts_by(1.1 * NEAR), "holds_with_changes", "before you use nn.ASGD"),
        (64, only_names_differ, "holds", "can be relied on"),
        (64, nothing_runs, "not_checkable_here", "where the hardware is"),
        (64, ftrl_refused, "does_not_hold", "AdamOffload (torch.optim.Adam)."),
        (64, none_is_there_any_more, "outdated", "what is true now"),
        (
            64,
            put(EXPORTED_OPTIMIZERS, ["torch"], "torch", value=["Adam", "Lamb"]),
            "outdated",
            "Use torch.optim's Lamb",
        ),
        (66, experimental_divides, "holds", "; in PyTorch divide"),
        (66, nn_refuses, "outdated", "what is true now"),
        (66, put(LOSS_SCALE, ["torch"], "scaled", value=0.9), "outdated", "what is true now"),
        (66, put(LOSS_SCALE, ["nn"], "scaled", value=0.6), "does_not_hold", "Do not rely"),
        (
            66,
            put(LOSS_SCALE, ["nn"], "scaled, decayed", value=0.8975),
            "holds_with_changes",
            "as it is divided too",
        ),
        (
            67,
            put(PARAM_GROUPS, ["experimental"], "groups", value=UNKNOWN),
            "holds",
            "can be relied on",
        ),
        (67, nn_tells_groups, "outdated", "what is true now"),
        (67, put(PARAM_GROUPS, ["torch"], "groups", value=UNKNOWN), "does_not_hold", "Do not rely"),
        (68, chosen(NORM, TORCH_NORM), "holds", "can be relied on"),
        (
            68,
            chosen(["bn.moving_mean", *NORM], TORCH_NORM),
            "holds_with_changes",
            "names and defaults",
        ),
        (69, pads_no_more, "outdated", "what is true now"),
        (
            69,
            put(LISTED_SHAPES, ["torch"], "as printed", value=UNKNOWN),
            "does_not_hold",
            "Do not rely",
        ),
        (83, jitted_off_by(0.9 * NEAR, "tape", "graph"), "holds", "Put the"),
        (83, jitted_off_by(1.1 * NEAR, "tape"), "depends_on_style", "in graph style"),
        (
            83,
            put(STATEFUL, ["mindspore-tape"], "ms.jit", "dispatched", value=1),
            "depends_on_style",
            "in graph style",
        ),
        (83, jitted_off_by(1.1 * NEAR, "graph"), "depends_on_style", "in tape style"),
        (83, jitted_off_by(1.1 * NEAR, "tape", "graph"), "does_not_hold", "Do not rely"),
        (
            83,
            put(STATEFUL, ["mindspore-graph"], "ms.jit", value=NO_KERNEL),
            "depends_on_style",
            "in tape style",
        ),
    ],
)
def test_another_world_has_another_verdict_and_other_advice(
    row: int, change: Callable[[World], None], verdict: str, advice: str
) -> None:
    ruling = judged(row, change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param(list(reversed(TWO_GROUPS)), id="rates of other groups"),
        pytest.param(TWO_GROUPS[:1], id="one group"),
        pytest.param([{"params": 1, "lr": 0.5}, {"params": 1, "lr": 0.1}], id="rates alone"),
        pytest.param([group | {"momentum": 0.0} for group in TWO_GROUPS], id="another momentum"),
    ],
)
def test_groups_that_do_not_tell_what_was_set_are_no_param_groups(groups: Any) -> None:
    change = put(PARAM_GROUPS, ["experimental"], "groups", value=groups)
    assert judged(67, change).verdict == "holds"


def test_the_filters_advice_is_not_what_was_meant_where_that_differs_too() -> None:
    ruling = judged(68, put(LISTED_FILTERS, ["torch"], "as meant", value=["conv.bias"]))
    assert ruling.verdict == "does_not_hold"
    assert "not in name" not in ruling.advice


def test_a_listing_that_raises_chooses_nothing_that_could_be_the_same() -> None:
    def both_raise(world: World) -> None:
        for framework in ("mindspore", "torch"):
            world[LISTED_FILTERS, framework]["as printed"] = UNKNOWN

    ruling = judged(68, both_raise)
    assert ruling.verdict == "does_not_hold"
    assert "as printed: AttributeError: no such attribute (MindSpore" in ruling.evidence


def test_padding_is_advised_only_where_it_was_seen_to_help() -> None:
    ruling = judged(69, put(LISTED_SHAPES, ["mindspore"], "padded as in PyTorch", value=UNKNOWN))
    assert ruling.verdict == "holds"
    assert "pad_mode" not in ruling.advice


def test_the_order_of_arguments_is_named_only_where_the_printed_call_fails() -> None:
    assert "another order" in judged(66).advice
    accepted = put(LOSS_SCALE, ["nn"], "as printed", "SGD", value="SGD")
    assert "another order" not in judged(66, accepted).advice


def test_a_list_of_parameters_is_advised_where_they_are_used_up() -> None:
    assert "make a list of parameters()" in judged(53).advice
    assert "make a list" not in judged(53, put(FILTERED, ["torch"], "again", value=True)).advice


def test_a_setting_without_a_kernel_is_no_unknown_setting() -> None:
    assert judged(58).verdict == "holds"
    setting = "grad_centralization, rows of 16"
    supported = judged(58, put(GROUPS, ["mindspore"], "nn", setting, value=APART))
    assert supported.verdict == "holds"
    assert "grad_centralization for a group" not in supported.evidence


@pytest.mark.parametrize(
    ("added_later", "advice"),
    [
        (UNKNOWN, "name all groups at the start: none can be added later."),
        (APART, "Use mindspore.experimental.optim for a group's own momentum."),
    ],
)
def test_groups_are_named_at_the_start_only_where_none_can_be_added(
    added_later: Any, advice: str
) -> None:
    def own_momentum(world: World) -> None:
        world[GROUPS, "mindspore"]["experimental"]["momentum"] = APART
        world[ADD_PARAM_GROUP, "mindspore"]["experimental"]["SGD"] = added_later

    ruling = judged(58, own_momentum)
    assert ruling.verdict == "holds_with_changes"
    assert ruling.advice.endswith(advice)


@pytest.mark.parametrize(
    ("names", "advice"),
    [
        (["momentum", "weight"], "flat, by the names of parameters, with the weights in it."),
        (["momentum"], "what is true now."),
        (["param_groups", "state", "weight"], "what is true now."),
        (UNKNOWN, "what is true now."),
    ],
)
def test_what_is_said_of_a_state_dict_is_read_off_its_names(names: Any, advice: str) -> None:
    ruling = judged(59, put(OPTIMIZER_STATE, ["mindspore"], "nn", "state_dict", value=names))
    assert ruling.verdict == "outdated"
    assert ruling.advice.endswith(advice)


@pytest.mark.parametrize("place", ["nn", "experimental"])
def test_another_way_to_load_is_advised_where_a_state_is_refused(place: str) -> None:
    assert "load_param_into_net" not in judged(59, unchanged).advice
    refused = put(OPTIMIZER_STATE, ["mindspore"], place, "load_state_dict", value=UNKNOWN)
    ruling = judged(59, refused)
    assert ruling.verdict == "outdated"
    assert "ms.load_param_into_net(optimizer, state)" in ruling.advice
    loaded = put(OPTIMIZER_STATE, ["mindspore"], place, "load_state_dict", value=True)
    assert "load_param_into_net" not in judged(59, loaded).advice
