"""The update rules of optimizers as formulas, with the conventions in which frameworks differ as settings.

Sources: the pages of torch.optim (2.13) and of mindspore.nn's optimizers (2.10), and of Lion
https://arxiv.org/abs/2302.06675; what those leave open,
tests/compare/training/test_formulas.py pins by running the optimizers.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.training_comparison import Rule

Settings = Mapping[str, Any]
"""The settings of an optimizer by PyTorch's names, betas one by one, and its conventions."""

State = dict[str, AnyArray]
"""What an optimizer holds of one parameter, by PyTorch's names; a formula changes it."""

Formula = Callable[[AnyArray, State, Settings, int], Any]
"""What a step takes from a weight, of its gradient, state and settings, and the step's number from 1."""


def sgd(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Gradient descent, with momentum where that is not 0."""
    if not s["momentum"]:
        return s["lr"] * gradient
    fresh = (1 - s["dampening"]) * gradient
    if s["lr_in_buffer"]:
        fresh = s["lr"] * fresh
    buffer = state.get("momentum_buffer")
    if buffer is not None and buffer.any():
        buffer = s["momentum"] * buffer + fresh
    else:
        buffer = gradient if s["first_buffer"] == "gradient" else fresh
    state["momentum_buffer"] = buffer
    if s["lr_in_buffer"]:
        return buffer
    return s["lr"] * (gradient + s["momentum"] * buffer if s["nesterov"] else buffer)


def adam(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam and AdamW, with or without the maximum of AMSGrad."""
    first, second = _moments(gradient, state, s)
    if s["amsgrad"]:
        second = np.maximum(state.get("max_exp_avg_sq", 0 * second), second)
        state["max_exp_avg_sq"] = second
    if s["nesterov"]:
        first = s["beta1"] * first + (1 - s["beta1"]) * gradient
    correction1 = correction2 = 1
    if s["bias_correction"]:
        correction1, correction2 = 1 - _power(s["beta1"], step), 1 - _power(s["beta2"], step)
    if s["eps_place"] == "uncorrected":
        rate = s["lr"] * np.sqrt(correction2) / correction1
        return rate * first / (np.sqrt(second) + s["eps"])
    return s["lr"] / correction1 * first / _root(second / correction2, s)


def nadam(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam with Nesterov's momentum, which warms up."""
    first, second = _moments(gradient, state, s)
    here, after = (
        s["beta1"] * (1 - 0.5 * 0.96 ** (number * s["momentum_decay"]))
        for number in (step, step + 1)
    )
    product = state.get("mu_product", 1.0) * here
    state["mu_product"] = product
    root = _root(second / (1 - _power(s["beta2"], step)), s)
    now = (1 - here) / (1 - product) * gradient
    kept = after / (1 - product * after) * first
    return s["lr"] * (now + kept) / root


def radam(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam whose steps are rectified by the variance of the second moment."""
    first, second = _moments(gradient, state, s)
    beta2 = s["beta2"]
    moved = first / (1 - _power(s["beta1"], step))
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2**step / (1 - _power(beta2, step))
    if length > 5:
        above = (length - 4) * (length - 2) * longest
        rectified = np.sqrt(above / ((longest - 4) * (longest - 2) * length))
        moved = moved * rectified * np.sqrt(1 - _power(beta2, step)) / (np.sqrt(second) + s["eps"])
    return s["lr"] * moved


def adamax(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam with the greatest gradient so far in place of the second moment."""
    first = _mean(state, "exp_avg", gradient, s["beta1"])
    inside = s["eps"] if s["eps_place"] == "inside" else 0
    greatest = np.maximum(
        s["beta2"] * state.get("exp_inf", 0 * gradient), np.abs(gradient) + inside
    )
    state["exp_inf"] = greatest
    outside = s["eps"] if s["eps_place"] == "outside" else 0
    rate = s["lr"] / (1 - _power(s["beta1"], step)) if s["bias_correction"] else s["lr"]
    return rate * first / (greatest + outside)


def adagrad(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Each rate divided by the root of the sum of squared gradients."""
    start = s["initial_accumulator_value"] + 0 * gradient
    total = state.get("sum", start) + gradient * gradient
    state["sum"] = total
    rate = s["lr"] / (1 + (step - 1) * s["lr_decay"])
    return rate * gradient / _root(total, s)


def rmsprop(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Each rate divided by the root of a mean of squared gradients."""
    state.setdefault("square_avg", (1 if s["first_square"] == "one" else 0) + 0 * gradient)
    square = _mean(state, "square_avg", gradient, s["alpha"], gradient)
    if s["centered"]:
        mean = _mean(state, "grad_avg", gradient, s["alpha"])
        square = square - mean * mean
    moved = gradient / _root(square, s)
    if s["lr_in_buffer"]:
        moved = s["lr"] * moved
    if s["momentum"]:
        moved = s["momentum"] * state.get("momentum_buffer", 0 * gradient) + moved
        state["momentum_buffer"] = moved
    return moved if s["lr_in_buffer"] else s["lr"] * moved


def adadelta(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Steps as long as a mean of the last ones, divided by the root of that of squared gradients."""
    square = _mean(state, "square_avg", gradient, s["rho"], gradient)
    before = state.get("acc_delta", 0 * gradient)
    moved = np.sqrt(before + s["eps"]) / np.sqrt(square + s["eps"]) * gradient
    _mean(state, "acc_delta", moved, s["rho"], moved)
    return s["lr"] * moved


def lion(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Steps of one length, by the sign of the gradient and a mean of the last ones."""
    mean = state.get("exp_avg", 0 * gradient)
    moved = np.sign(s["beta1"] * mean + (1 - s["beta1"]) * gradient)
    _mean(state, "exp_avg", gradient, s["beta2"])
    return s["lr"] * moved


def _mean(state: State, key: str, values: AnyArray, decay: Any, times: Any = 1) -> AnyArray:
    """What is held as the mean of the last values, or of them ``times`` others, with the newest ones."""
    before = state.get(key, 0 * values)
    mean: AnyArray = decay * before + (1 - decay) * values * times
    state[key] = mean
    return mean


def _moments(gradient: AnyArray, state: State, s: Settings) -> tuple[AnyArray, AnyArray]:
    first = _mean(state, "exp_avg", gradient, s["beta1"])
    return first, _mean(state, "exp_avg_sq", gradient, s["beta2"], gradient)


MOST_FACTORS = 1 << 17
"""Behind so many steps next to nothing of a power is left, and no time is spent on its rounding."""


class RoundedPowers(float):
    """A decay of which the powers alone are rounded to float32."""


def _power(beta: Any, step: int) -> Any:
    """A power as MindSpore has it where beta is rounded to float32: one more factor at each step."""
    if isinstance(beta, RoundedPowers):
        return float(np.float32(beta) ** np.float32(step))
    if not isinstance(beta, np.ndarray) or step > MOST_FACTORS:
        return beta**step
    return np.cumprod(np.repeat(beta, step), dtype=beta.dtype)[-1:]


def _root(square: AnyArray, s: Settings) -> AnyArray:
    """The root of a mean of squares, with epsilon where the convention has it."""
    place, eps = s["eps_place"], s["eps"]
    root: AnyArray = np.sqrt(square + (eps if place == "inside" else 0))
    return root + eps if place == "outside" else root


# The table


class Optimizer(msgspec.Struct, frozen=True):
    """A formula, its settings with PyTorch's defaults, what each convention may be, and how classes differ.

    The first choice of a convention is PyTorch's. ``classes`` has what others than PyTorch's own class have
    unlike it, by what the names of their modules begin with and their own.
    """

    formula: Formula
    settings: dict[str, Any]
    conventions: dict[str, tuple[Any, ...]]
    classes: dict[str, dict[str, Any]] = {}

    @property
    def defaults(self) -> dict[str, Any]:
        """All settings, and PyTorch's conventions."""
        first = {name: choices[0] for name, choices in self.conventions.items()}
        return {**self.settings, **first}


MIXED = "mixed"
"""Epsilon outside of the root in some elements, and inside of it in others.

MindSpore's RMSProp does that on a CPU (2.10.0): outside in whole groups of eight elements as its threads
share them, inside in the rest, and everywhere where it is centered, as its page says.
"""

PLACES = ("inside", "outside")
"""The places of epsilon that are mixed."""

DECAY = {"decay": ("coupled", "decoupled", "direct")}
"""Where weight decay goes: into the gradient, beside it times the rate, or beside it as it is."""

ADAM = {"lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}

OPTIMIZERS: dict[str, Optimizer] = {
    "SGD": Optimizer(
        sgd,
        {"lr": 1e-3, "momentum": 0.0, "dampening": 0.0, "nesterov": False, "weight_decay": 0.0},
        {**DECAY, "first_buffer": ("gradient", "damped"), "lr_in_buffer": (False, True)},
        {"mindspore.nn.SGD": {}, "mindspore.nn.Momentum": {}, "optax.sgd": {}},
    ),
    "Adam": Optimizer(
        adam,
        {**ADAM, "amsgrad": False, "nesterov": False},
        {
            **DECAY,
            "bias_correction": (True, False),
            "eps_place": ("outside", "uncorrected", "inside"),
        },
        {
            "AdamW": {"decay": "decoupled", "weight_decay": 1e-2},
            "mindspore.nn.Adam": {"eps_place": "uncorrected"},
            "mindspore.nn.AdamWeightDecay": {
                "decay": "decoupled",
                "bias_correction": False,
                "eps": 1e-6,
            },
            "mindspore.experimental.Adam": {"eps_place": "uncorrected"},
            "optax.adam": {},
            "optax.adamw": {"decay": "decoupled", "weight_decay": 1e-4},
        },
    ),
    "NAdam": Optimizer(
        nadam,
        {**ADAM, "lr": 2e-3, "momentum_decay": 4e-3},
        {**DECAY, "eps_place": ("outside", "inside")},
    ),
    "RAdam": Optimizer(radam, ADAM, DECAY),
    "Adamax": Optimizer(
        adamax,
        {**ADAM, "lr": 2e-3},
        {**DECAY, "eps_place": ("inside", "outside"), "bias_correction": (True, False)},
        {"mindspore.nn.AdaMax": {"eps_place": "outside"}},
    ),
    "Adagrad": Optimizer(
        adagrad,
        {
            "lr": 1e-2,
            "lr_decay": 0.0,
            "weight_decay": 0.0,
            "initial_accumulator_value": 0.0,
            "eps": 1e-10,
        },
        {**DECAY, "eps_place": ("outside", "nowhere", "inside")},
        {
            "mindspore.nn.Adagrad": {"eps_place": "nowhere", "initial_accumulator_value": 0.1},
            "optax.adagrad": {"eps_place": "inside", "initial_accumulator_value": 0.1, "eps": 1e-7},
        },
    ),
    "RMSprop": Optimizer(
        rmsprop,
        {
            "lr": 1e-2,
            "alpha": 0.99,
            "eps": 1e-8,
            "weight_decay": 0.0,
            "momentum": 0.0,
            "centered": False,
        },
        {
            **DECAY,
            "eps_place": ("outside", "inside", MIXED),
            "lr_in_buffer": (False, True),
            "first_square": ("zero", "one"),
        },
        {
            "mindspore.nn.RMSProp": {
                "eps_place": "inside",
                "lr_in_buffer": True,
                "first_square": "one",
                "alpha": 0.9,
                "eps": 1e-10,
            },
            "optax.rmsprop": {"eps_place": "inside", "alpha": 0.9, "eps": 1e-8},
        },
    ),
    "Lion": Optimizer(
        lion,
        {"lr": 1e-4, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0},
        {"decay": ("decoupled", "coupled", "direct")},
    ),
    "Adadelta": Optimizer(
        adadelta,
        {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.0},
        DECAY,
        {"mindspore.nn.Adadelta": {}},
    ),
}
"""The optimizers by PyTorch's name, or that of programs that have them themselves.

Classes are those of torch.optim (2.13), mindspore.nn and mindspore.experimental.optim (2.10), and functions
of optax (0.2).
"""

LIKE_TORCH = "mindspore.experimental."
"""Classes of these modules are PyTorch's where nothing else is known of them."""

MODULES = ("mindspore.nn.", LIKE_TORCH, "optax.")
"""What the names of modules begin with; a program's own classes go by those of torch.optim."""

CLASSES = {
    **{name: Rule(name, optimizer.defaults) for name, optimizer in OPTIMIZERS.items()},
    **{
        name: Rule(kind, optimizer.defaults | unlike)
        for kind, optimizer in OPTIMIZERS.items()
        for name, unlike in optimizer.classes.items()
    },
}
"""What each class does by default."""


def rule_of_class(optimizer: str) -> Rule | None:
    """What an optimizer is documented to do, by its class with the module; None of an unknown one.

    Nor is it known which of several classes a parameter has.
    """
    if "," in optimizer:
        return None
    module = next((module for module in MODULES if optimizer.startswith(module)), "")
    name = optimizer.rpartition(".")[2]
    known = CLASSES.get(module + name)
    return CLASSES.get(name) if known is None and module == LIKE_TORCH else known


def weight_after(
    kind: str, weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int
) -> AnyArray:
    """The weight after a step of a kind of optimizer; NaN where its settings are such that there is none."""
    rate = s["lr"] if s["decay"] == "decoupled" else 1
    try:
        with np.errstate(all="ignore"):
            if s["decay"] == "coupled":
                gradient = gradient + s["weight_decay"] * weight
            else:
                weight = weight - rate * s["weight_decay"] * weight
            return np.asarray(weight - OPTIMIZERS[kind].formula(gradient, state, s, step))
    except ArithmeticError:  # divided by 1 minus a decay of 1, or by powers beyond all numbers
        return np.full(weight.shape, np.nan)
