"""Verdicts on training: those of the recorded figures after a change."""

import copy
from typing import Any

import numpy as np
import pytest

from explorer.topics.question import Question
from explorer.topics.training.findings_routes import TAPE
from explorer.topics.training.questions import (
    ACCUMULATION,
    ACCUMULATION_BATCH_NORM,
    ADD_PARAM_GROUP,
    CLIPPING,
    EXPORTED_OPTIMIZERS,
    FILTERED,
    FUNCTIONAL,
    GRAPHS,
    GROUPS,
    JIT,
    LISTED_FILTERS,
    LISTED_SHAPES,
    LOOKED_UP,
    LOOP,
    LOSS_SCALE,
    MINIMIZED,
    OPTIMIZER_STATE,
    PARAM_GROUPS,
    SPEED,
    STATEFUL,
    TAKES_GROUPS,
    TOPIC,
    UNMATCHED_UPDATES,
)
from explorer.topics.training.update_rules import NEAR
from tests.support.topics import Change, Ruled, World, copied, judge, put, together, unchanged

UNKNOWN = {"raised": "AttributeError", "message": "no such attribute"}
NO_KERNEL = {"raised": "RuntimeError", "message": "Kernel select failed: Unsupported op [X] on CPU"}
REFUSED = {"raised": "TypeError", "message": "got an unexpected keyword argument 'loss_scale'"}

CURVED = [[0.9, -2.0], [0.7, -2.0]]
WAVY = [[0.5, -1.0], [0.7, -1.5]]
"""What three update rules leave of a weight after two gradients."""


GROUP = {"params": 1, "momentum": 0.9, "dampening": 0, "weight_decay": 0, "nesterov": False}
"""The settings that a group of SGD tells, but for its rate."""

TWO_GROUPS = [GROUP | {"lr": 0.5}, GROUP | {"lr": 0.1}]

APART = {"first": [0.5, 1.5], "second": [0.8, 2.4]}
"""What two steps leave of the weights of two groups, of which one has a setting that tells."""


def judged(row: int, change: Change = unchanged) -> Ruled:
    """The ruling on a row in the recorded world, after ``change`` has been at it."""
    return judge(TOPIC.claims[row], change)


def seconds_under_jit(seconds: float) -> Change:
    """A step by itself takes four milliseconds: a busy machine makes no difference."""

    def change(world: World) -> None:
        world.timings(SPEED, "mindspore").update({"by itself": 0.004, "ms.jit": seconds})

    return change


four_times_as_fast = seconds_under_jit(0.001)


def test_a_step_under_jit_is_told_by_the_factor_that_it_must_be_faster_by() -> None:
    # By no other number: times are never the same twice, and a board is.
    ruling = judged(20, four_times_as_fast)
    assert ruling.verdict == "holds"
    assert "as a multiple of that with it: at least 1.2 (MindSpore tape)" in ruling.evidence


def clipped_otherwise(world: World) -> None:
    world[CLIPPING, "mindspore"]["by norm"]["5.0"] = [[3.0, 4.0], [5.0]]


def mean_not_divided(world: World) -> None:
    """The gradients of a mean add up to the whole batch's, and make a fourth of it once divided."""
    for framework in ("mindspore", "torch"):
        gradients = world[ACCUMULATION, framework]["mean"]
        gradients["added"] = gradients["whole"]
        fourth = {}
        for name, gradient in gradients["whole"].items():
            fourth[name] = (np.asarray(gradient) / 4).tolist()
        gradients["divided"] = fourth


def no_batch_norm(world: World) -> None:
    """Batch norm in training does as it does in inference."""
    for framework in ("mindspore", "torch"):
        world[ACCUMULATION_BATCH_NORM, framework] = world[ACCUMULATION, framework]


def sum_is_off(world: World) -> None:
    world[ACCUMULATION, "torch"]["sum"]["added"]["fc.bias"][0] += 1.0


def moved(question: Question, party: str) -> Change:
    """Moves a weight that one route left after the last step."""

    def change(world: World) -> None:
        world[question, party]["states"][-1]["fc.bias"][0] += 0.01

    return change


def three_graphs(world: World) -> None:
    graphs = world[GRAPHS, "mindspore"]
    both, update = graphs["graph"]
    graphs["graph"] = [{**both, "backward": 0}, {**both, "forward": 0}, update]


def others_move(world: World) -> None:
    world[FILTERED, "torch"]["moved"].append("conv.weight")


def nn_takes_momentum(world: World) -> None:
    groups = world[GROUPS, "mindspore"]
    groups["nn"]["momentum"] = groups["experimental"]["momentum"]


def experimental_refuses_momentum(world: World) -> None:
    groups = world[GROUPS, "mindspore"]
    groups["experimental"]["momentum"] = groups["nn"]["momentum"]


def torch_cannot_grow(world: World) -> None:
    world[ADD_PARAM_GROUP, "torch"] = {"torch": world[ADD_PARAM_GROUP, "mindspore"]["nn"]}


def centralization_unknown(world: World) -> None:
    settings = world[GROUPS, "mindspore"]["nn"]
    settings["grad_centralization, rows of 16"] = settings["anything"]


def another_rate(world: World) -> None:
    world[OPTIMIZER_STATE, "torch"]["scheduler.get_last_lr"] = [0.1]


@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        (16, put(CLIPPING, ["mindspore"], "default", value=2.0), "holds_with_changes"),
        (16, clipped_otherwise, "does_not_hold"),
        (17, mean_not_divided, "does_not_hold"),
        (17, sum_is_off, "does_not_hold"),
        (19, moved(FUNCTIONAL, TAPE), "depends_on_style"),
        (19, moved(LOOP, "torch"), "does_not_hold"),
        (20, four_times_as_fast, "holds"),
        (20, together(four_times_as_fast, moved(JIT, TAPE)), "does_not_hold"),
        (20, seconds_under_jit(0.004), "does_not_hold"),
        (21, copied(GRAPHS, ["mindspore"], "ms.jit", of="graph"), "does_not_hold"),
        (21, three_graphs, "holds"),
        (53, put(FILTERED, ["mindspore"], "type", value="tuple"), "holds_with_changes"),
        (53, others_move, "does_not_hold"),
        (58, nn_takes_momentum, "outdated"),
        (58, experimental_refuses_momentum, "holds"),
        (58, torch_cannot_grow, "does_not_hold"),
        (58, centralization_unknown, "does_not_hold"),
        (59, put(OPTIMIZER_STATE, ["mindspore"], "nn", "has", "state_dict", value=False), "holds"),
        (59, another_rate, "does_not_hold"),
    ],
)
def test_a_wrong_world_gives_another_verdict(row: int, change: Change, verdict: str) -> None:
    assert judged(row, change).verdict == verdict


def test_the_advice_on_micro_batches_follows_what_adds_up() -> None:
    assert "batch norm in training sees each" in judged(17).advice
    assert "batch norm" not in judged(17, no_batch_norm).advice


def minimizes(*end: float) -> Change:
    """LBFGS as a method ends there; the minimum is at (1, 2)."""
    return put(MINIMIZED, ["mindspore"], "LBFGS", value=list(end))


no_minimum = put(MINIMIZED, ["mindspore"], "LBFGS", value=REFUSED)


def nn_alone_parts_by(difference: float) -> Change:
    """ASGD in mindspore.nn alone, so far from PyTorch's."""

    def change(world: World) -> None:
        no_minimum(world)
        world[EXPORTED_OPTIMIZERS, "mindspore"]["experimental"] = ["SGD"]
        path = copy.deepcopy(world[UNMATCHED_UPDATES, "torch"]["ASGD"])
        path[-1][0] += difference
        world[UNMATCHED_UPDATES, "nn"]["ASGD"] = path

    return change


def no_asgd(world: World) -> None:
    no_minimum(world)
    world[EXPORTED_OPTIMIZERS, "mindspore"].update(nn=["SGD"], experimental=["SGD"])


def lbfgs_unlike_pytorchs(world: World) -> None:
    no_asgd(world)
    world[EXPORTED_OPTIMIZERS, "mindspore"]["nn"].append("LBFGS")


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


def chosen(mindspore: list[str], torch: list[str]) -> Change:
    """Sets what the listings choose as printed."""

    def change(world: World) -> None:
        world[LISTED_FILTERS, "mindspore"]["as printed"] = mindspore
        world[LISTED_FILTERS, "torch"]["as printed"] = torch

    return change


def pads_no_more(world: World) -> None:
    world[LISTED_SHAPES, "mindspore"].update(
        {"as printed": UNKNOWN, "with PyTorch's label": [1, 64, 62, 30]}
    )


def jitted_off_by(difference: float, *styles: str) -> Change:
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
        (67, put(PARAM_GROUPS, ["nn"], "groups", value=TWO_GROUPS), "outdated", "what is true now"),
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
    row: int, change: Change, verdict: str, advice: str
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
    assert judged(58, experimental_refuses_momentum).verdict == "holds"
    setting = put(GROUPS, ["mindspore"], "nn", "grad_centralization, rows of 16", value=APART)
    supported = judged(58, together(experimental_refuses_momentum, setting))
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
    told = put(OPTIMIZER_STATE, ["mindspore"], "nn", "state_dict", value=names)
    ruling = judged(59, together(loads("nn", True), loads("experimental", True), told))
    assert ruling.verdict == "outdated"
    assert ruling.advice.endswith(advice)


def loads(place: str, outcome: Any) -> Change:
    """Whether an optimizer of MindSpore loads a state."""
    return put(OPTIMIZER_STATE, ["mindspore"], place, "load_state_dict", value=outcome)


@pytest.mark.parametrize(
    ("nn", "experimental", "advised"),
    [(True, True, False), (UNKNOWN, True, True), (True, UNKNOWN, True)],
)
def test_another_way_to_load_is_advised_where_a_state_is_refused(
    nn: Any, experimental: Any, advised: bool
) -> None:
    ruling = judged(59, together(loads("nn", nn), loads("experimental", experimental)))
    assert ruling.verdict == "outdated"
    assert ("ms.load_param_into_net(optimizer, state)" in ruling.advice) == advised
