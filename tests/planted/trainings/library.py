"""Pairs of trainings: those of which one has a mistake, what is to be named of it, and right ones."""

from typing import Any

import msgspec

from explorer.model.training_comparison import Question, Reason
from tests.planted.trainings.plan import Plan


class Pair(msgspec.Struct, frozen=True):
    """Two trainings, and where and in what they first differ, if they do.

    ``unlike`` are the settings in which the rules of an update differ.
    """

    name: str
    left: Plan
    right: Plan
    step: int = 0
    question: Question | None = None
    reason: Reason | None = None
    unlike: tuple[str, ...] = ()


def _torch(optimizer: str = "SGD", /, **settings: Any) -> Plan:
    return Plan(optimizer=optimizer, settings=settings)


def _mindspore(optimizer: str = "nn.SGD", /, **settings: Any) -> Plan:
    return Plan(framework="mindspore", optimizer=optimizer, settings=settings)


def _with(plan: Plan, **changes: Any) -> Plan:
    return msgspec.structs.replace(plan, **changes)


def _both(**changes: Any) -> tuple[Plan, Plan]:
    return _with(_torch(), **changes), _with(_mindspore(), **changes)


def _rule(setting: str, name: str, left: Plan, right: Plan, step: int = 1) -> Pair:
    """Two trainings whose rules of an update differ in one setting."""
    return Pair(name, left, right, step, "update", "rule", (setting,))


BIASES = ("fc1.bias", "norm.weight", "norm.bias", "fc2.bias")
NORM = ("norm.weight", "norm.bias")
FALLING = (0.1, 0.08, 0.06, 0.05, 0.04, 0.03)
SCALED, SCALED_MS = _both(scale=128.0, clip="norm")

MISTAKES = (
    _rule(
        "weight_decay",
        "weight decay on biases",
        _with(_torch("AdamW", weight_decay=0.1), undecayed=BIASES),
        _mindspore("optim.AdamW", weight_decay=0.1),
    ),
    Pair(
        "batch norm's momentum read the other way round",
        _torch(),
        _with(_mindspore(), norm_momentum=0.9),
        1,
        "buffers",
        "momentum",
    ),
    _rule(
        "lr",
        "the rate late by one step",
        _with(_torch("SGD", momentum=0.9), rates=FALLING),
        _with(_mindspore("nn.Momentum", momentum=0.9), rates=(0.1, *FALLING[:-1])),
        2,
    ),
    _rule(
        "lr",
        "the schedule counts epochs and not steps",
        _with(_torch(), rates=(0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125)),
        _with(_mindspore(), rates=(0.1, 0.1, 0.1, 0.05, 0.05, 0.05)),
        2,
    ),
    _rule(
        "eps_place",
        "eps beside the uncorrected root",
        _torch("Adam", eps=1e-2),
        _mindspore("nn.Adam", eps=1e-2),
    ),
    _rule(
        "first_square",
        "mean squares that begin at 1",
        _torch("RMSprop", alpha=0.9, eps=1e-2),
        _mindspore("nn.RMSProp", decay=0.9, epsilon=1e-2),
    ),
    _rule(
        "eps_place",
        "eps inside the root",
        _torch("Adam", eps=1e-3),
        _torch("AdamWithEpsInside", eps=1e-3),
    ),
    _rule(
        "bias_correction",
        "no bias correction",
        _with(_torch("AdamW", weight_decay=0.1, eps=1e-6), undecayed=NORM),
        _mindspore("nn.AdamWeightDecay", weight_decay=0.1),
    ),
    _rule(
        "decay",
        "coupled weight decay",
        _torch("AdamW", weight_decay=0.1),
        _mindspore("optim.Adam", weight_decay=0.1),
    ),
    _rule(
        "nesterov",
        "no Nesterov momentum",
        _torch("SGD", momentum=0.9, nesterov=True),
        _mindspore("nn.Momentum", momentum=0.9, use_nesterov=True),
    ),
    _rule(
        "dampening",
        "dampening",
        _torch("SGD", momentum=0.9),
        _mindspore("nn.SGD", momentum=0.9, dampening=0.5),
        2,
    ),
    _rule("beta2", "another beta", _torch("Adam"), _mindspore("nn.Adam", beta2=0.99), 2),
    Pair(
        "clipped before it is unscaled",
        SCALED,
        _with(SCALED_MS, clip="norm_before_unscale"),
        1,
        "given",
        "clipping",
    ),
    Pair(
        "clipped by value",
        _with(_torch(), clip="norm", limit=0.2),
        _with(_mindspore(), clip="value", limit=0.2),
        1,
        "given",
        "clipping",
    ),
    Pair(
        "each gradient clipped by its own norm",
        _with(_torch(), clip="norm", limit=0.2),
        _with(_torch(), clip="norm_each", limit=0.2),
        1,
        "given",
        "clipping",
    ),
    Pair(
        "a skipped update that is made",
        _with(SCALED, overflows_at=3),
        _with(SCALED_MS, overflows_at=3, skips=False),
        3,
        "skipped",
        "overflow_not_skipped",
    ),
    Pair(
        "passes of unlike sizes averaged alike",
        _with(_torch(), passes=(9, 3)),
        _with(_mindspore(), passes=(9, 3), averaged="plain"),
        1,
        "gradients",
        "passes_weighted",
    ),
    Pair(
        "no zero_grad",
        _torch(),
        _with(_torch(), keeps_gradients=True),
        2,
        "gradients",
        "kept",
    ),
    Pair(
        "rows shuffled",
        _torch(),
        _with(_mindspore(), order="rows"),
        1,
        "data",
        "rows_in_another_order",
    ),
    Pair(
        "batches in another order",
        _torch(),
        _with(_torch(), order="batches"),
        3,
        "data",
        "of_another_step",
    ),
    Pair(
        "a frozen layer",
        _torch(),
        _with(_mindspore(), frozen=("fc1.weight", "fc1.bias")),
        1,
        "trained",
        "frozen",
    ),
    Pair(
        "another decay of averages",
        _with(_torch(), average=0.99),
        _with(_mindspore(), average=0.9),
        1,
        "averages",
        "decay",
    ),
    Pair(
        "a sum as the loss",
        _torch(),
        _with(_mindspore(), reduction="sum"),
        1,
        "loss",
        "factor",
    ),
)

RIGHT = (
    Pair("plain descent", _torch(), _mindspore()),
    Pair(
        "momentum",
        _torch("SGD", momentum=0.9),
        _mindspore("nn.Momentum", momentum=0.9),
    ),
    Pair("Adam", _torch("Adam"), _mindspore("nn.Adam")),
    Pair(
        "AdamW",
        _torch("AdamW", weight_decay=0.1),
        _mindspore("optim.AdamW", weight_decay=0.1),
    ),
    Pair(
        "weight decay that spares batch norm",
        _with(_torch("SGD", momentum=0.9, weight_decay=0.1), undecayed=NORM),
        _mindspore("nn.SGD", momentum=0.9, weight_decay=0.1),
    ),
    Pair("Adamax", _torch("Adamax"), _mindspore("nn.AdaMax")),
    Pair("NAdam", _torch("NAdam"), _mindspore("optim.NAdam")),
    Pair(
        "scaled, clipped, and skipped",
        _with(SCALED, overflows_at=3),
        _with(SCALED_MS, overflows_at=3),
    ),
    Pair(
        "two passes, and a schedule",
        _with(_torch(), passes=(9, 3), rates=FALLING),
        _with(_mindspore(), passes=(9, 3), rates=FALLING),
    ),
    Pair("averages", _with(_torch(), average=0.9), _with(_mindspore(), average=0.9)),
    Pair("30 steps", _with(_torch(), steps=30), _with(_mindspore(), steps=30)),
)
