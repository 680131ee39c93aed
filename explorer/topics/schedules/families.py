"""The table of learning-rate schedules: one family a row, with the settings that should give its
forms one sequence.
"""

import math
from typing import Any

import msgspec

from explorer.topics.schedules.factors import DECAY, DECAY_STEPS, END_RATE, RATE, WARM_UP_STEPS

STEPS = 20
Settings = dict[str, Any]
Form = tuple[str, Settings]
"""A schedule's name and keyword arguments; ``lr_lambda`` names an entry of FACTORS, ``schedulers``
holds forms.
"""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One shape of schedule. ``list`` gives the sequence as a list, ``cell`` is a
    LearningRateSchedule, ``hand`` and ``torch`` are stepped by hand
    (mindspore.experimental.optim.lr_scheduler and torch.optim.lr_scheduler).

    ``formula`` is the rate at step t, for reading.
    """

    name: str
    formula: str
    list: Form | None = None
    cell: Form | None = None
    hand: Form | None = None
    torch: Form | None = None


def _decay(
    name: str,
    formula: str,
    function: str,
    cell: str,
    stepped: Form,
    decay: float,
    every: int,
    stairs: bool,
) -> Family:
    """A decay that MindSpore has as a list and as a Cell, beside what gives its sequence when
    stepped by hand.
    """
    start = {"learning_rate": RATE, "decay_rate": decay}
    lists = {"total_step": STEPS, "step_per_epoch": 1, "decay_epoch": every}
    return Family(
        name=name,
        formula=formula,
        list=(function, {**start, **lists, "is_stair": stairs}),
        cell=(cell, {**start, "decay_steps": every, "is_stair": stairs}),
        hand=stepped,
        torch=stepped,
    )


def _same(name: str, formula: str, schedule: str, **settings: Any) -> Family:
    """A schedule that both frameworks have under one name, to be stepped by hand."""
    return Family(name=name, formula=formula, hand=(schedule, settings), torch=(schedule, settings))


def _cosine(name: str, formula: str, stepped: Form) -> Family:
    ends = {"min_lr": END_RATE, "max_lr": RATE}
    lists = {"total_step": STEPS, "step_per_epoch": 1, "decay_epoch": DECAY_STEPS}
    return Family(
        name=name,
        formula=formula,
        list=("cosine_decay_lr", {**ends, **lists}),
        cell=("CosineDecayLR", {**ends, "decay_steps": DECAY_STEPS}),
        hand=stepped,
        torch=stepped,
    )


def _polynomial(name: str, formula: str, end: float, longer: bool, stepped: Form) -> Family:
    start = {"learning_rate": RATE, "end_learning_rate": end, "power": 2.0}
    lists = {
        "total_step": STEPS,
        "step_per_epoch": 1,
        "decay_epoch": DECAY_STEPS,
        "update_decay_epoch": longer,
    }
    return Family(
        name=name,
        formula=formula,
        list=("polynomial_decay_lr", {**start, **lists}),
        cell=(
            "PolynomialDecayLR",
            {**start, "decay_steps": DECAY_STEPS, "update_decay_steps": longer},
        ),
        hand=stepped,
        torch=stepped,
    )


def _by(factor: str) -> Form:
    return "LambdaLR", {"lr_lambda": factor}


DECAYS: tuple[Family, ...] = (
    _decay(
        "exponential",
        "0.1 · 0.9^t",
        "exponential_decay_lr",
        "ExponentialDecayLR",
        ("ExponentialLR", {"gamma": 0.9}),
        0.9,
        1,
        False,
    ),
    _decay(
        "exponential in stairs",
        "0.1 · 0.5^⌊t/5⌋",
        "exponential_decay_lr",
        "ExponentialDecayLR",
        ("StepLR", {"step_size": WARM_UP_STEPS, "gamma": DECAY}),
        DECAY,
        WARM_UP_STEPS,
        True,
    ),
    _decay(
        "natural exponential",
        "0.1 · e^(-0.5 t)",
        "natural_exp_decay_lr",
        "NaturalExpDecayLR",
        ("ExponentialLR", {"gamma": math.exp(-DECAY)}),
        DECAY,
        1,
        False,
    ),
    _decay(
        "natural exponential in stairs",
        "0.1 · e^(-0.5 · 5 · ⌊t/5⌋)",
        "natural_exp_decay_lr",
        "NaturalExpDecayLR",
        ("StepLR", {"step_size": WARM_UP_STEPS, "gamma": math.exp(-DECAY * WARM_UP_STEPS)}),
        DECAY,
        WARM_UP_STEPS,
        True,
    ),
    _decay(
        "inverse",
        "0.1 / (1 + 0.5 t)",
        "inverse_decay_lr",
        "InverseDecayLR",
        _by("inverse"),
        DECAY,
        1,
        False,
    ),
    _decay(
        "inverse in stairs",
        "0.1 / (1 + 0.5 ⌊t/5⌋)",
        "inverse_decay_lr",
        "InverseDecayLR",
        _by("inverse_stairs"),
        DECAY,
        WARM_UP_STEPS,
        True,
    ),
    _cosine(
        "cosine",
        "half a cosine from 0.1 to 0.01 in 10 steps, and what comes after it",
        ("CosineAnnealingLR", {"T_max": DECAY_STEPS, "eta_min": END_RATE}),
    ),
    _cosine(
        "cosine, then flat",
        "half a cosine from 0.1 to 0.01 in 10 steps, then 0.01",
        _by("cosine_then_flat"),
    ),
    _polynomial(
        "polynomial",
        "0.1 · (1 - t/10)², then 0",
        0.0,
        False,
        ("PolynomialLR", {"total_iters": DECAY_STEPS, "power": 2.0}),
    ),
    _polynomial(
        "polynomial to an end",
        "0.09 · (1 - t/10)² + 0.01, then 0.01",
        END_RATE,
        False,
        _by("polynomial_to_an_end"),
    ),
    _polynomial(
        "polynomial over longer spans",
        "0.09 · (1 - t/T)² + 0.01 with T = 10 · ⌈t/10⌉",
        END_RATE,
        True,
        _by("polynomial_over_longer_spans"),
    ),
    Family(
        name="warm-up",
        formula="0.1 · min(t, 5)/5",
        list=(
            "warmup_lr",
            {
                "learning_rate": RATE,
                "total_step": STEPS,
                "step_per_epoch": 1,
                "warmup_epoch": WARM_UP_STEPS,
            },
        ),
        cell=("WarmUpLR", {"learning_rate": RATE, "warmup_steps": WARM_UP_STEPS}),
        hand=_by("warm_up"),
        torch=_by("warm_up"),
    ),
    _same(
        "warm-up from 0 by LinearLR",
        "0.1 · min(t, 5)/5",
        "LinearLR",
        start_factor=0.0,
        total_iters=WARM_UP_STEPS,
    ),
    Family(
        name="piecewise constant",
        formula="0.1 up to step 5, 0.05 up to step 10, then 0.025",
        list=(
            "piecewise_constant_lr",
            {"milestone": [5, 10, STEPS], "learning_rates": [0.1, 0.05, 0.025]},
        ),
        hand=("MultiStepLR", {"milestones": [5, 10], "gamma": 0.5}),
        torch=("MultiStepLR", {"milestones": [5, 10], "gamma": 0.5}),
    ),
)
"""What MindSpore has as a list or as a Cell."""

BY_HAND: tuple[Family, ...] = (
    _same("linear", "from a third of the rate to the whole in 5 steps", "LinearLR"),
    _same(
        "constant, then whole",
        "half the rate for 5 steps, then the whole",
        "ConstantLR",
        factor=0.5,
        total_iters=5,
    ),
    _same("multiplied", "0.1 · 0.9^t", "MultiplicativeLR", lr_lambda="nine_tenths"),
    _same(
        "one after another",
        "a tenth for 5 steps, then 0.9^t from there",
        "SequentialLR",
        schedulers=[
            ("ConstantLR", {"factor": 0.1, "total_iters": 5}),
            ("ExponentialLR", {"gamma": 0.9}),
        ],
        milestones=[5],
    ),
    _same(
        "one after another, cut short",
        "a tenth meant for 2 steps and followed for 5, then 0.9^t from there",
        "SequentialLR",
        schedulers=[
            ("ConstantLR", {"factor": 0.1, "total_iters": 2}),
            ("ExponentialLR", {"gamma": 0.9}),
        ],
        milestones=[5],
    ),
    _same(
        "on a plateau", "a tenth after 3 losses that are no better", "ReduceLROnPlateau", patience=2
    ),
    _same(
        "cyclic",
        "up and down between 0.01 and 0.1 in 5 and 5 steps",
        "CyclicLR",
        base_lr=0.01,
        max_lr=0.1,
        step_size_up=5,
    ),
    _same(
        "cyclic, halving",
        "up and down, half as high each time",
        "CyclicLR",
        base_lr=0.01,
        max_lr=0.1,
        step_size_up=5,
        mode="triangular2",
    ),
    _same(
        "cosine with restarts",
        "half a cosine in 5 steps, then in 10",
        "CosineAnnealingWarmRestarts",
        T_0=5,
        T_mult=2,
    ),
    Family(
        name="one cycle",
        formula="up to 0.1 and down to nearly nothing in 20 steps",
        torch=("OneCycleLR", {"max_lr": RATE, "total_steps": STEPS + 1}),
    ),
    Family(
        name="chained",
        formula="two schedules multiplied",
        torch=(
            "ChainedScheduler",
            {
                "schedulers": [
                    ("ConstantLR", {"factor": 0.5, "total_iters": 5}),
                    ("ExponentialLR", {"gamma": 0.9}),
                ]
            },
        ),
    ),
    Family(
        name="averaging",
        formula="to 0.05 in 5 steps, then flat",
        torch=("SWALR", {"swa_lr": 0.05, "anneal_epochs": 5}),
    ),
)
"""What is stepped by hand in both frameworks, or in PyTorch alone."""

FAMILIES = (*DECAYS, *BY_HAND)


def forms(form: str, families: tuple[Family, ...] = FAMILIES) -> dict[str, Form]:
    """The settings of one form ("list", "cell", "hand", "torch") by family."""
    return {each.name: found for each in families if (found := getattr(each, form))}
