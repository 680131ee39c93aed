"""Verdicts on training: those of the recorded figures after a change."""

import copy
from typing import Any

import numpy as np

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
    UNMATCHED_UPDATES,
)
from explorer.topics.training.update_rules import NEAR
from tests.support.rulings import USUAL, Case, following
from tests.support.topics import (
    Change,
    World,
    borrowed,
    copied,
    edited,
    moved,
    put,
    together,
    unchanged,
)

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


def seconds_under_jit(seconds: float) -> Change:
    """A step by itself takes four milliseconds: a busy machine makes no difference."""

    def change(world: World) -> None:
        world.timings(SPEED, "mindspore").update({"by itself": 0.004, "ms.jit": seconds})

    return change


four_times_as_fast = seconds_under_jit(0.001)

clipped_otherwise = put(CLIPPING, ["mindspore"], "by norm", "5.0", value=[[3.0, 4.0], [5.0]])


def mean_not_divided(world: World) -> None:
    """The gradients of a mean add up to the whole batch's, and make a fourth of it once divided."""
    for framework in ("mindspore", "torch"):
        gradients = world[ACCUMULATION, framework]["mean"]
        gradients["added"] = gradients["whole"]
        fourth = {}
        for name, gradient in gradients["whole"].items():
            fourth[name] = (np.asarray(gradient) / 4).tolist()
        gradients["divided"] = fourth


no_batch_norm = together(
    *(borrowed(ACCUMULATION_BATCH_NORM, name, of=ACCUMULATION) for name in ("mindspore", "torch"))
)
"""Batch norm in training does as it does in inference."""

sum_is_off = moved(ACCUMULATION, ["torch"], "sum", "added", "fc.bias", 0, by=1.0)

LAST_BIAS = ("states", -1, "fc.bias", 0)
"""A weight that one route left after the last step."""


def three_graphs(world: World) -> None:
    graphs = world[GRAPHS, "mindspore"]
    both, update = graphs["graph"]
    graphs["graph"] = [{**both, "backward": 0}, {**both, "forward": 0}, update]


others_move = edited(FILTERED, ["torch"], lambda it: it["moved"].append("conv.weight"))


def grouped(place: str, setting: str, outcome: Any) -> Change:
    """What a setting for one group of an optimizer of MindSpore comes to."""
    return put(GROUPS, ["mindspore"], place, setting, value=outcome)


CENTRALIZED = "grad_centralization, rows of 16"
experimental_refuses_momentum = grouped("experimental", "momentum", UNKNOWN)
torch_cannot_grow = put(ADD_PARAM_GROUP, ["torch"], "torch", value={"SGD": UNKNOWN})
centralization_unknown = edited(
    GROUPS, ["mindspore"], lambda it: it.update({CENTRALIZED: it["anything"]}), "nn"
)
centralization_takes_groups = together(
    experimental_refuses_momentum, grouped("nn", CENTRALIZED, APART)
)

another_rate = put(OPTIMIZER_STATE, ["torch"], "scheduler.get_last_lr", value=[0.1])


def both_load(nn: Any, experimental: Any) -> Change:
    """Whether the optimizers of MindSpore load a state."""
    return together(
        put(OPTIMIZER_STATE, ["mindspore"], "nn", "load_state_dict", value=nn),
        put(OPTIMIZER_STATE, ["mindspore"], "experimental", "load_state_dict", value=experimental),
    )


def named_in_state(names: Any) -> Change:
    """Both places load a state, and nn's has these names."""
    names_in = put(OPTIMIZER_STATE, ["mindspore"], "nn", "state_dict", value=names)
    return together(both_load(True, True), names_in)


def added_later(outcome: Any) -> Change:
    """Experimental optimizers have a momentum for each group; what adding a group comes to."""
    return together(
        grouped("experimental", "momentum", APART),
        put(ADD_PARAM_GROUP, ["mindspore"], "experimental", "SGD", value=outcome),
    )


LOAD_INTO_NET = "ms.load_param_into_net(optimizer, state)"

RULINGS = [
    Case(16, put(CLIPPING, ["mindspore"], "default", value=2.0), "holds_with_changes"),
    Case(16, clipped_otherwise, "does_not_hold"),
    Case(17, unchanged, "holds", "batch norm in training sees each"),
    Case(17, no_batch_norm, "holds", unsaid="batch norm"),
    Case(17, mean_not_divided, "does_not_hold"),
    Case(17, sum_is_off, "does_not_hold"),
    Case(19, moved(FUNCTIONAL, [TAPE], *LAST_BIAS, by=0.01), "depends_on_style"),
    Case(19, moved(LOOP, ["torch"], *LAST_BIAS, by=0.01), "does_not_hold"),
    # By no other number: times are never the same twice, and a board is.
    Case(
        20,
        four_times_as_fast,
        "holds",
        "",
        "as a multiple of that with it: at least 1.2 (MindSpore tape)",
    ),
    Case(
        20, together(four_times_as_fast, moved(JIT, [TAPE], *LAST_BIAS, by=0.01)), "does_not_hold"
    ),
    Case(20, seconds_under_jit(0.004), "does_not_hold"),
    Case(21, copied(GRAPHS, ["mindspore"], "ms.jit", of="graph"), "does_not_hold"),
    Case(21, three_graphs, "holds"),
    Case(53, unchanged, "holds", "make a list of parameters()"),
    Case(53, put(FILTERED, ["torch"], "again", value=True), "holds", unsaid="make a list"),
    Case(53, put(FILTERED, ["mindspore"], "type", value="tuple"), "holds_with_changes"),
    Case(53, others_move, "does_not_hold"),
    Case(58, grouped("nn", "momentum", APART), "outdated"),
    Case(58, experimental_refuses_momentum, "holds"),
    Case(58, torch_cannot_grow, "does_not_hold"),
    Case(58, centralization_unknown, "does_not_hold"),
    # A setting without a kernel is no unknown one.
    Case(58, centralization_takes_groups, "holds", unseen="grad_centralization for a group"),
    # Groups are named at the start only where none can be added.
    Case(
        58,
        added_later(UNKNOWN),
        "holds_with_changes",
        "name all groups at the start: none can be added later.",
    ),
    Case(
        58,
        added_later(APART),
        "holds_with_changes",
        "Use mindspore.experimental.optim for a group's own momentum.",
    ),
    Case(59, put(OPTIMIZER_STATE, ["mindspore"], "nn", "has", "state_dict", value=False), "holds"),
    Case(59, another_rate, "does_not_hold"),
    # What is said of a state dict is read off its names.
    Case(
        59,
        named_in_state(["momentum", "weight"]),
        "outdated",
        "flat, by the names of parameters, with the weights in it.",
    ),
    Case(59, named_in_state(["momentum"]), "outdated", USUAL),
    Case(59, named_in_state(["param_groups", "state", "weight"]), "outdated", USUAL),
    Case(59, named_in_state(UNKNOWN), "outdated", USUAL),
    # Another way to load is advised where a state is refused.
    Case(59, both_load(True, True), "outdated", unsaid=LOAD_INTO_NET),
    Case(59, both_load(UNKNOWN, True), "outdated", LOAD_INTO_NET),
    Case(59, both_load(True, UNKNOWN), "outdated", LOAD_INTO_NET),
]


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


lbfgs_exported = edited(EXPORTED_OPTIMIZERS, ["mindspore"], lambda it: it["nn"].append("LBFGS"))

ftrl_takes_groups = put(TAKES_GROUPS, ["mindspore"], "FTRL", value=2)
every_group_taken = together(ftrl_takes_groups, put(TAKES_GROUPS, ["torch"], "LBFGS", value=2))
only_names_differ = together(
    put(UNMATCHED_UPDATES, ["torch"], "Adagrad", value=WAVY[:1]),
    put(UNMATCHED_UPDATES, ["torch"], "Adam", value=REFUSED),
)

none_is_there_any_more = edited(
    LOOKED_UP, ["mindspore"], lambda it: it.update(dict.fromkeys(it, UNKNOWN))
)
nothing_runs = edited(UNMATCHED_UPDATES, ["nn"], lambda it: it.update(dict.fromkeys(it, NO_KERNEL)))
ftrl_refused = put(UNMATCHED_UPDATES, ["nn"], "FTRL", value=NO_KERNEL)

both_as_in_pytorch = together(
    lbfgs_exported, put(UNMATCHED_UPDATES, ["nn", "torch"], "LBFGS", value=CURVED)
)
"""MindSpore has LBFGS too, and both frameworks step it without a closure."""


def chosen(mindspore: Any, torch: Any) -> Change:
    """Sets what the listings choose as printed."""
    return together(
        put(LISTED_FILTERS, ["mindspore"], "as printed", value=mindspore),
        put(LISTED_FILTERS, ["torch"], "as printed", value=torch),
    )


pads_no_more = together(
    put(LISTED_SHAPES, ["mindspore"], "as printed", value=UNKNOWN),
    put(LISTED_SHAPES, ["mindspore"], "with PyTorch's label", value=[1, 64, 62, 30]),
)


def jitted_off_by(difference: float, *styles: str) -> Change:
    """Moves a moment that ms.jit leaves in some styles."""
    parties = [f"mindspore-{style}" for style in styles]
    return moved(STATEFUL, parties, "ms.jit", "moments", 0, 0, by=difference)


NORM = ["bn.gamma", "bn.beta"]
TORCH_NORM = ["bn.weight", "bn.bias"]


RULINGS += [
    Case(62, no_asgd, "holds", USUAL),
    Case(62, minimizes(1.0, 2.0009), "does_not_hold", 'minimize(method="LBFGS") minimizes a func'),
    Case(62, minimizes(1.0, 2.0011), "outdated", "only LBFGS must be written"),
    Case(62, both_as_in_pytorch, "does_not_hold", "Use nn.ASGD, experimental.ASGD or nn.LBFGS."),
    Case(62, together(no_asgd, lbfgs_exported), "holds_with_changes", "before you use nn.LBFGS"),
    Case(62, nn_alone_parts_by(0.9 * NEAR), "outdated", "Use nn.ASGD;"),
    Case(93, every_group_taken, "does_not_hold", USUAL),
    Case(93, ftrl_takes_groups, "holds", "Give LBFGS one rate"),
    Case(93, unchanged, "holds", "Give FTRL, LBFGS one rate"),
    Case(62, nn_alone_parts_by(1.1 * NEAR), "holds_with_changes", "before you use nn.ASGD"),
    Case(64, only_names_differ, "holds", USUAL),
    Case(64, nothing_runs, "not_checkable_here", "where the hardware is"),
    Case(64, ftrl_refused, "does_not_hold", "AdamOffload (torch.optim.Adam)."),
    Case(64, none_is_there_any_more, "outdated", USUAL),
    Case(
        64,
        put(EXPORTED_OPTIMIZERS, ["torch"], "torch", value=["Adam", "Lamb"]),
        "outdated",
        "Use torch.optim's Lamb",
    ),
    Case(66, borrowed(LOSS_SCALE, "experimental", by="nn"), "holds", "; in PyTorch divide"),
    Case(66, borrowed(LOSS_SCALE, "nn", by="experimental"), "outdated", USUAL),
    Case(66, put(LOSS_SCALE, ["torch"], "scaled", value=0.9), "outdated", USUAL),
    Case(66, put(LOSS_SCALE, ["nn"], "scaled", value=0.6), "does_not_hold", USUAL),
    Case(
        66,
        put(LOSS_SCALE, ["nn"], "scaled, decayed", value=0.8975),
        "holds_with_changes",
        "as it is divided too",
    ),
    Case(67, put(PARAM_GROUPS, ["experimental"], "groups", value=UNKNOWN), "holds", USUAL),
    Case(67, put(PARAM_GROUPS, ["nn"], "groups", value=TWO_GROUPS), "outdated", USUAL),
    Case(67, put(PARAM_GROUPS, ["torch"], "groups", value=UNKNOWN), "does_not_hold", USUAL),
    Case(68, chosen(NORM, TORCH_NORM), "holds", USUAL),
    Case(68, chosen(["bn.moving_mean", *NORM], TORCH_NORM), "holds_with_changes", USUAL),
    Case(69, pads_no_more, "outdated", USUAL),
    Case(69, put(LISTED_SHAPES, ["torch"], "as printed", value=UNKNOWN), "does_not_hold", USUAL),
    Case(83, jitted_off_by(0.9 * NEAR, "tape", "graph"), "holds", "Put the"),
    Case(83, jitted_off_by(1.1 * NEAR, "tape"), "depends_on_style", "in graph style"),
    Case(
        83,
        put(STATEFUL, ["mindspore-tape"], "ms.jit", "dispatched", value=1),
        "depends_on_style",
        "in graph style",
    ),
    Case(83, jitted_off_by(1.1 * NEAR, "graph"), "depends_on_style", "in tape style"),
    Case(83, jitted_off_by(1.1 * NEAR, "tape", "graph"), "does_not_hold", USUAL),
    Case(
        83,
        put(STATEFUL, ["mindspore-graph"], "ms.jit", value=NO_KERNEL),
        "depends_on_style",
        "in tape style",
    ),
    Case(
        69,
        put(LISTED_SHAPES, ["mindspore"], "padded as in PyTorch", value=UNKNOWN),
        "holds",
        unsaid="pad_mode",
    ),
    Case(66, unchanged, "holds_with_changes", "another order"),
    Case(
        66,
        put(LOSS_SCALE, ["nn"], "as printed", "SGD", value="SGD"),
        "holds_with_changes",
        unsaid="another order",
    ),
    Case(
        68,
        put(LISTED_FILTERS, ["torch"], "as meant", value=["conv.bias"]),
        "does_not_hold",
        unsaid="not in name",
    ),
    # A listing that raises chooses nothing that could be the same.
    Case(
        68,
        chosen(UNKNOWN, UNKNOWN),
        "does_not_hold",
        "",
        "as printed: AttributeError: no such attribute (MindSpore",
    ),
]

# Groups that do not tell what was set are no param_groups.
RULINGS += [
    Case(67, put(PARAM_GROUPS, ["experimental"], "groups", value=groups), "holds")
    for groups in (
        TWO_GROUPS[::-1],
        TWO_GROUPS[:1],
        [{"params": 1, "lr": 0.5}, {"params": 1, "lr": 0.1}],
        [group | {"momentum": 0.0} for group in TWO_GROUPS],
    )
]


test_verdict_advice_and_evidence_follow_the_figures = following(RULINGS)
