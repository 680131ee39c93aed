"""The table of update rules, and how far the optimizers that should follow one differ.

A rule has the settings with which three optimizers should follow it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised
from explorer.topics.training.inputs import RATE

NEAR = 2e-6
"""Weights that differ by no more than this after some float32 steps are the same.

The order of sums alone makes 1e-7 a step.
"""

States = list[dict[str, Any]]
"""The weights and running statistics after every step, by PyTorch's names."""


def step_differences(states: States, reference: States) -> list[float]:
    """The greatest difference of two routes after every step, over all weights and statistics."""
    pairs = zip(states, reference, strict=True)
    return [greatest_by_name(state, expected) for state, expected in pairs]


def greatest_by_name(tensors: dict[str, Any], expected: dict[str, Any]) -> float:
    """The greatest difference of any tensor from the expected one of its name."""
    return max(greatest_difference(tensor, expected[name]) for name, tensor in tensors.items())


def farthest(states: States, reference: States) -> str:
    """The name of the weight or statistic that is farthest apart after the last step."""
    # After the last step, when differences have added up.
    last, expected = states[-1], reference[-1]
    return max(last, key=lambda name: greatest_difference(last[name], expected[name]))


def moved_weights(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The names of the weights that a step changed, running statistics aside; sorted."""
    # Batch norm's statistics are updated by the forward, whatever the optimizer was given.
    moved = []
    for name, values in before.items():
        if "running" not in name and values != after[name]:
            moved.append(name)
    return sorted(moved)


def list_difference(gradients: list[Any], expected: list[Any]) -> float:
    """The greatest difference of two lists of gradients, each of a length of its own."""
    pairs = zip(gradients, expected, strict=True)
    return max(greatest_difference(gradient, other) for gradient, other in pairs)


def accumulation_difference(figures: Figures, reduction: str, how: str) -> float:
    """How far gradients accumulated over micro-batches lie from the whole batch's.

    ``reduction`` is that of the loss, "mean" or "sum"; ``how`` is "added", or "divided" by the
    number of micro-batches.
    """
    return greatest_by_name(figures[reduction]["whole"], figures[reduction][how])


# Ways to write momentum


PRINTED = ("small operators, as printed", "ApplyMomentum, as printed")
MEANT = ("small operators, as meant", "ApplyMomentum, as meant")
FUSED = "nn.Momentum"


def styles_that_agree(styles: Figures, ways: tuple[str, ...]) -> list[str]:
    """The styles in which each of ``ways`` leaves nn.Momentum's weight after every step."""
    agreeing = []
    for style, paths in styles.items():
        if all(_same(paths[way], paths[FUSED]) for way in ways):
            agreeing.append(style)
    return agreeing


def _same(path: Any, reference: Any) -> bool:
    if raised(path) or raised(reference):
        return False
    return bool(greatest_difference(path, reference) <= NEAR)


def left(path: Any) -> Any:
    """The weight after the last step, or the attempt that raised."""
    return path if raised(path) else path[-1]


MINDSPORE_PLACES = ("nn", "experimental")
PLACES = (*MINDSPORE_PLACES, "torch")
"""Where optimizers are: mindspore.nn, mindspore.experimental.optim, torch.optim."""

Optimizer = tuple[str, dict[str, Any]]
"""The name of an optimizer and its settings, learning rate included."""


class UpdateRule(msgspec.Struct, frozen=True):
    """One update rule, and the optimizers that should follow it, by place."""

    name: str
    optimizers: dict[str, Optimizer]


def _nn(name: str, **settings: Any) -> Optimizer:
    return name, {"learning_rate": RATE, **settings}


def _optim(name: str, **settings: Any) -> Optimizer:
    return name, {"lr": RATE, **settings}


def _rule(name: str, nn: Optimizer) -> UpdateRule:
    """A rule that mindspore.nn alone has."""
    return UpdateRule(name, {"nn": nn})


def _shared(name: str, nn: Optimizer | None, optim: Optimizer) -> UpdateRule:
    """A rule for which mindspore.experimental.optim takes the settings of torch.optim."""
    both = {"experimental": optim, "torch": optim}
    return UpdateRule(name, both if nn is None else {"nn": nn, **both})


# mindspore.experimental.optim has torch.optim's signatures. Settings are written out where
# mindspore.nn and torch.optim have different defaults (2.10.0, 2.13.0).
UPDATE_RULES: tuple[UpdateRule, ...] = (
    _shared("SGD", _nn("SGD"), _optim("SGD")),
    _shared("SGD with momentum", _nn("SGD", momentum=0.9), _optim("SGD", momentum=0.9)),
    # nn.Momentum is one fused operator; PyTorch's SGD has its momentum among its settings.
    UpdateRule(
        "momentum, fused",
        {"nn": _nn("Momentum", momentum=0.9), "torch": _optim("SGD", momentum=0.9)},
    ),
    _shared(
        "momentum with dampening",
        _nn("SGD", momentum=0.9, dampening=0.5),
        _optim("SGD", momentum=0.9, dampening=0.5),
    ),
    _shared(
        "Nesterov momentum",
        _nn("SGD", momentum=0.9, nesterov=True),
        _optim("SGD", momentum=0.9, nesterov=True),
    ),
    _shared("SGD with weight decay", _nn("SGD", weight_decay=0.1), _optim("SGD", weight_decay=0.1)),
    _shared("Adam", _nn("Adam"), _optim("Adam")),
    _shared(
        "Adam with weight decay", _nn("Adam", weight_decay=0.1), _optim("Adam", weight_decay=0.1)
    ),
    _shared("Adam, AMSGrad", _nn("Adam", use_amsgrad=True), _optim("Adam", amsgrad=True)),
    _shared(
        "AdamW",
        _nn("AdamWeightDecay", eps=1e-8, weight_decay=0.1),  # eps is 1e-6 by default
        _optim("AdamW", weight_decay=0.1),
    ),
    _shared("Adamax", _nn("AdaMax"), _optim("Adamax")),
    # mindspore.nn has neither of these two.
    _shared("NAdam", None, _optim("NAdam")),
    _shared("RAdam", None, _optim("RAdam")),
    _shared("Adagrad", _nn("Adagrad", accum=0.1), _optim("Adagrad", initial_accumulator_value=0.1)),
    _shared("Adadelta", _nn("Adadelta"), _optim("Adadelta", eps=1e-6)),
    # mindspore.nn decays by 0.9 with epsilon 1e-10 by default, torch.optim by 0.99 with 1e-8.
    _shared("RMSprop", _nn("RMSProp", decay=0.9, epsilon=1e-8), _optim("RMSprop", alpha=0.9)),
    _shared(
        "Rprop", _nn("Rprop", step_sizes=(1e-6, 50.0)), _optim("Rprop", step_sizes=(1e-6, 50.0))
    ),
    _shared("ASGD", _nn("ASGD"), _optim("ASGD")),
    # PyTorch has none of the following.
    _rule("FTRL", _nn("FTRL")),
    _rule("Lamb", _nn("Lamb")),
    _rule("proximal Adagrad", _nn("ProximalAdagrad")),
    # It computes a rate of its own unless relative_step is off.
    _rule("AdaFactor", _nn("AdaFactor", scale_parameter=False, relative_step=False)),
)


def optimizers_of(place: str) -> dict[str, Optimizer]:
    """The optimizers of one of PLACES, by the rule that they should follow."""
    optimizers = {}
    for rule in UPDATE_RULES:
        if place in rule.optimizers:
            optimizers[rule.name] = rule.optimizers[place]
    return optimizers


class RuleComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One update rule as it was measured.

    ``differences`` holds the greatest difference from PyTorch's weights over all given gradients,
    ``refused`` the message of an optimizer that raised, both by place.
    """

    rule: UpdateRule
    differences: dict[str, float]
    refused: dict[str, str]

    @property
    def name(self) -> str:
        """What the rule is called."""
        return self.rule.name

    @property
    def same(self) -> bool:
        """Whether every place that has the rule gives PyTorch's weights."""
        return bool(self.differences) and max(self.differences.values()) <= NEAR

    def optimizer(self, place: str) -> str | None:
        """The name of the optimizer in one place, None where the place has none."""
        optimizer = self.rule.optimizers.get(place)
        return optimizer[0] if optimizer else None


def compare_rules(updates: Mapping[str, Figures]) -> list[RuleComparison]:
    """Every rule that was measured, as a comparison with PyTorch's weights.

    ``updates`` holds the weights after each gradient by place and rule.
    """
    comparisons = []
    for rule in UPDATE_RULES:
        ran, refused = {}, {}
        for place in PLACES:
            weights: Any = updates.get(place, {}).get(rule.name)
            if raised(weights):
                refused[place] = weights["message"]
            elif weights is not None:
                ran[place] = weights
        if not ran and not refused:
            continue

        # Without PyTorch's weights, or without anybody else's, there is nothing to compare.
        differences = {}
        reference = ran.pop("torch", None)
        if reference is not None:
            for place, weights in ran.items():
                differences[place] = greatest_difference(weights, reference)
        comparisons.append(RuleComparison(rule=rule, differences=differences, refused=refused))
    return comparisons
