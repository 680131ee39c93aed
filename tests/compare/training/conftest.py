"""Trainings that both frameworks really run, once for all tests: the library's pairs, and every optimizer."""

from collections.abc import Iterable
from typing import Any

import pytest

from explorer.model.training import Training
from tests.planted.trainings.library import MISTAKES, RIGHT
from tests.planted.trainings.plan import Plan
from tests.planted.trainings.run import trainings

Pairs = dict[str, tuple[Training, Training]]


def _torch(name: str, **settings: Any) -> Plan:
    return Plan(optimizer=name, settings=settings, jitter=0)


def _mindspore(name: str, **settings: Any) -> Plan:
    return Plan(framework="mindspore", optimizer=name, settings=settings, jitter=0)


OPTIMIZERS = {
    "torch SGD": _torch("SGD"),
    "torch SGD, momentum and decay": _torch("SGD", momentum=0.9, weight_decay=0.1),
    "torch SGD, dampening": _torch("SGD", momentum=0.9, dampening=0.5),
    "torch SGD, Nesterov": _torch("SGD", momentum=0.9, nesterov=True),
    "torch Adam": _torch("Adam", weight_decay=0.1, eps=1e-3),
    "torch Adam, AMSGrad": _torch("Adam", amsgrad=True),
    "torch AdamW": _torch("AdamW", weight_decay=0.1),
    "torch NAdam": _torch("NAdam", eps=1e-3),
    "torch RAdam": _torch("RAdam", betas=(0.9, 0.9)),
    "torch Adamax": _torch("Adamax", eps=1e-2),
    "torch Adagrad": _torch("Adagrad", initial_accumulator_value=0.1, lr_decay=0.1, eps=1e-2),
    "torch RMSprop": _torch("RMSprop", momentum=0.9, eps=1e-2),
    "torch RMSprop, centered": _torch("RMSprop", centered=True),
    "torch Adadelta": _torch("Adadelta"),
    "nn.SGD": _mindspore("nn.SGD"),
    "nn.SGD, dampening": _mindspore("nn.SGD", momentum=0.9, dampening=0.5),
    "nn.SGD, Nesterov": _mindspore("nn.SGD", momentum=0.9, nesterov=True),
    "nn.Momentum": _mindspore("nn.Momentum", momentum=0.9),
    "nn.Momentum, Nesterov": _mindspore("nn.Momentum", momentum=0.9, use_nesterov=True),
    "nn.Adam": _mindspore("nn.Adam", eps=1e-3),
    "nn.Adam, Nesterov": _mindspore("nn.Adam", use_nesterov=True),
    "nn.Adam, AMSGrad": _mindspore("nn.Adam", use_amsgrad=True),
    "nn.AdamWeightDecay": _mindspore("nn.AdamWeightDecay", eps=1e-3),
    "nn.AdaMax": _mindspore("nn.AdaMax", eps=1e-2),
    "nn.Adagrad": _mindspore("nn.Adagrad"),
    "nn.RMSProp": _mindspore("nn.RMSProp", momentum=0.9, epsilon=1e-2),
    "nn.RMSProp, centered": _mindspore("nn.RMSProp", centered=True),
    "nn.Adadelta": _mindspore("nn.Adadelta"),
    "optim.SGD": _mindspore("optim.SGD", momentum=0.9, dampening=0.5),
    "optim.Adam": _mindspore("optim.Adam", weight_decay=0.1, eps=1e-3),
    "optim.AdamW": _mindspore("optim.AdamW", weight_decay=0.1, eps=1e-3),
    "optim.NAdam": _mindspore("optim.NAdam", eps=1e-3),
    "optim.RAdam": _mindspore("optim.RAdam"),
    "optim.Adamax": _mindspore("optim.Adamax", eps=1e-2),
    "optim.RMSprop": _mindspore("optim.RMSprop", momentum=0.9, eps=1e-2),
    "optim.Adadelta": _mindspore("optim.Adadelta", eps=1e-6),
    "optim.Adagrad": _mindspore("optim.Adagrad", eps=1e-2),
}
"""Every optimizer with a formula, with settings that show its conventions."""

SAMPLE = (
    "no bias correction",
    "rows shuffled",
    "the rate late by one step",
    "plain descent",
    "momentum",
    "nn.Adam",
    "nn.RMSProp",
)
"""The pairs and the optimizers of MindSpore that are trained without --whole: each takes seconds."""


def sampled(names: Iterable[str]) -> list[Any]:
    """Names as parameters, of which those that are not in the sample are marked whole."""
    return [
        pytest.param(name, marks=() if _is_in_sample(name) else pytest.mark.whole) for name in names
    ]


def _is_in_sample(name: str) -> bool:
    return name in SAMPLE or name.startswith("torch ")


@pytest.fixture(scope="session")
def every_training(pytestconfig: pytest.Config) -> dict[str, Training]:
    """All trainings, or those of the sample, in one process a framework: "left", "right" of a pair."""
    is_whole = pytestconfig.getoption("--whole")
    plans = {name: it for name, it in OPTIMIZERS.items() if is_whole or _is_in_sample(name)}
    for pair in (*MISTAKES, *RIGHT):
        if is_whole or pair.name in SAMPLE:
            plans |= {f"left {pair.name}": pair.left, f"right {pair.name}": pair.right}
    return trainings(plans)


@pytest.fixture(scope="session")
def recorded(every_training: dict[str, Training]) -> dict[str, Training]:
    """A training by every optimizer, or by those of the sample."""
    return {name: every_training[name] for name in OPTIMIZERS if name in every_training}


@pytest.fixture(scope="session")
def pairs(every_training: dict[str, Training]) -> Pairs:
    """Both trainings of every pair of the library, or of those of the sample."""
    return {
        pair.name: (every_training[f"left {pair.name}"], every_training[f"right {pair.name}"])
        for pair in (*MISTAKES, *RIGHT)
        if f"left {pair.name}" in every_training
    }
