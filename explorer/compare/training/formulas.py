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

Settings = Mapping[str, Any]
"""The settings of an optimizer by PyTorch's names, betas one by one, and its conventions."""

State = dict[str, AnyArray]
"""What an optimizer holds of one parameter, by PyTorch's names; a formula changes it."""

Formula = Callable[[AnyArray, AnyArray, State, Settings, int], Any]
"""The weight after a step, of the weight, its gradient, state and settings, and the step's number from 1."""


def sgd(weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Gradient descent, with momentum where that is not 0."""
    weight, gradient = _decayed(weight, gradient, s)
    if not s["momentum"]:
        return weight - s["lr"] * gradient
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
        return weight - buffer
    moved = gradient + s["momentum"] * buffer if s["nesterov"] else buffer
    return weight - s["lr"] * moved


def adam(weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam and AdamW, with or without the maximum of AMSGrad."""
    weight, gradient = _decayed(weight, gradient, s)
    beta1, beta2 = s["beta1"], s["beta2"]
    first, second = _moments(gradient, state, beta1, beta2)
    if s["amsgrad"]:
        second = np.maximum(state.get("max_exp_avg_sq", 0 * second), second)
        state["max_exp_avg_sq"] = second
    if s["nesterov"]:
        first = beta1 * first + (1 - beta1) * gradient
    correction1 = correction2 = 1
    if s["bias_correction"]:
        correction1, correction2 = 1 - _power(beta1, step), 1 - _power(beta2, step)
    if s["eps_place"] == "uncorrected":
        rate = s["lr"] * np.sqrt(correction2) / correction1
        return weight - rate * first / (np.sqrt(second) + s["eps"])
    return weight - s["lr"] / correction1 * first / _root(second / correction2, s)


def nadam(weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam with Nesterov's momentum, which warms up."""
    weight, gradient = _decayed(weight, gradient, s)
    beta1, beta2 = s["beta1"], s["beta2"]
    first, second = _moments(gradient, state, beta1, beta2)
    here, after = (
        beta1 * (1 - 0.5 * 0.96 ** (number * s["momentum_decay"])) for number in (step, step + 1)
    )
    product = state.get("mu_product", 1.0) * here
    state["mu_product"] = product
    root = _root(second / (1 - _power(beta2, step)), s)
    now = (1 - here) / (1 - product) * gradient
    kept = after / (1 - product * after) * first
    return weight - s["lr"] * (now + kept) / root


def radam(weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam whose steps are rectified by the variance of the second moment."""
    weight, gradient = _decayed(weight, gradient, s)
    beta1, beta2 = s["beta1"], s["beta2"]
    first, second = _moments(gradient, state, beta1, beta2)
    moved = first / (1 - _power(beta1, step))
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2**step / (1 - _power(beta2, step))
    if length > 5:
        above = (length - 4) * (length - 2) * longest
        rectified = np.sqrt(above / ((longest - 4) * (longest - 2) * length))
        moved = moved * rectified * np.sqrt(1 - _power(beta2, step)) / (np.sqrt(second) + s["eps"])
    return weight - s["lr"] * moved


def adamax(weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam with the greatest gradient so far in place of the second moment."""
    weight, gradient = _decayed(weight, gradient, s)
    beta1, beta2 = s["beta1"], s["beta2"]
    first = beta1 * state.get("exp_avg", 0 * gradient) + (1 - beta1) * gradient
    inside = s["eps"] if s["eps_place"] == "inside" else 0
    greatest = np.maximum(beta2 * state.get("exp_inf", 0 * gradient), np.abs(gradient) + inside)
    state["exp_avg"], state["exp_inf"] = first, greatest
    outside = s["eps"] if s["eps_place"] == "outside" else 0
    rate = s["lr"] / (1 - _power(beta1, step)) if s["bias_correction"] else s["lr"]
    return weight - rate * first / (greatest + outside)


def adagrad(weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Each rate divided by the root of the sum of squared gradients."""
    weight, gradient = _decayed(weight, gradient, s)
    start = s["initial_accumulator_value"] + 0 * gradient
    total = state.get("sum", start) + gradient * gradient
    state["sum"] = total
    rate = s["lr"] / (1 + (step - 1) * s["lr_decay"])
    return weight - rate * gradient / _root(total, s)


def rmsprop(weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Each rate divided by the root of a mean of squared gradients."""
    weight, gradient = _decayed(weight, gradient, s)
    alpha = s["alpha"]
    start = (1 if s["first_square"] == "one" else 0) + 0 * gradient
    square = alpha * state.get("square_avg", start) + (1 - alpha) * gradient * gradient
    state["square_avg"] = square
    if s["centered"]:
        mean = alpha * state.get("grad_avg", 0 * gradient) + (1 - alpha) * gradient
        state["grad_avg"] = mean
        square = square - mean * mean
    moved = gradient / _root(square, s)
    if s["lr_in_buffer"]:
        moved = s["lr"] * moved
    if s["momentum"]:
        moved = s["momentum"] * state.get("momentum_buffer", 0 * gradient) + moved
        state["momentum_buffer"] = moved
    return weight - moved if s["lr_in_buffer"] else weight - s["lr"] * moved


def adadelta(weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Steps as long as a mean of the last ones, divided by the root of that of squared gradients."""
    weight, gradient = _decayed(weight, gradient, s)
    rho, eps = s["rho"], s["eps"]
    square = rho * state.get("square_avg", 0 * gradient) + (1 - rho) * gradient * gradient
    before = state.get("acc_delta", 0 * gradient)
    moved = np.sqrt(before + eps) / np.sqrt(square + eps) * gradient
    state["square_avg"] = square
    state["acc_delta"] = rho * before + (1 - rho) * moved * moved
    return weight - s["lr"] * moved


def lion(weight: AnyArray, gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Steps of one length, by the sign of the gradient and a mean of the last ones."""
    weight, gradient = _decayed(weight, gradient, s)
    mean = state.get("exp_avg", 0 * gradient)
    moved = np.sign(s["beta1"] * mean + (1 - s["beta1"]) * gradient)
    state["exp_avg"] = s["beta2"] * mean + (1 - s["beta2"]) * gradient
    return weight - s["lr"] * moved


def _decayed(weight: AnyArray, gradient: AnyArray, s: Settings) -> tuple[AnyArray, AnyArray]:
    """The weight and its gradient with the decay in one of them."""
    decay = s["weight_decay"]
    if s["decay"] == "coupled":
        return weight, gradient + decay * weight
    rate = s["lr"] if s["decay"] == "decoupled" else 1
    return weight - rate * decay * weight, gradient


def _moments(gradient: AnyArray, state: State, beta1: Any, beta2: Any) -> tuple[AnyArray, AnyArray]:
    zero = 0 * gradient
    first = beta1 * state.get("exp_avg", zero) + (1 - beta1) * gradient
    second = beta2 * state.get("exp_avg_sq", zero) + (1 - beta2) * gradient * gradient
    state["exp_avg"], state["exp_avg_sq"] = first, second
    return first, second


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


# Tables


class Family(msgspec.Struct, frozen=True):
    """A formula, its settings with PyTorch's defaults, and what each convention may be.

    The first choice of a convention is PyTorch's.
    """

    formula: Formula
    settings: dict[str, Any]
    conventions: dict[str, tuple[Any, ...]]

    @property
    def defaults(self) -> dict[str, Any]:
        """All settings, and PyTorch's conventions."""
        return {
            **self.settings,
            **{name: choices[0] for name, choices in self.conventions.items()},
        }


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

FAMILIES: dict[str, Family] = {
    "SGD": Family(
        sgd,
        {"lr": 1e-3, "momentum": 0.0, "dampening": 0.0, "nesterov": False, "weight_decay": 0.0},
        {**DECAY, "first_buffer": ("gradient", "damped"), "lr_in_buffer": (False, True)},
    ),
    "Adam": Family(
        adam,
        {**ADAM, "amsgrad": False, "nesterov": False},
        {
            **DECAY,
            "bias_correction": (True, False),
            "eps_place": ("outside", "uncorrected", "inside"),
        },
    ),
    "NAdam": Family(
        nadam,
        {**ADAM, "lr": 2e-3, "momentum_decay": 4e-3},
        {**DECAY, "eps_place": ("outside", "inside")},
    ),
    "RAdam": Family(radam, ADAM, DECAY),
    "Adamax": Family(
        adamax,
        {**ADAM, "lr": 2e-3},
        {**DECAY, "eps_place": ("inside", "outside"), "bias_correction": (True, False)},
    ),
    "Adagrad": Family(
        adagrad,
        {
            "lr": 1e-2,
            "lr_decay": 0.0,
            "weight_decay": 0.0,
            "initial_accumulator_value": 0.0,
            "eps": 1e-10,
        },
        {**DECAY, "eps_place": ("outside", "nowhere", "inside")},
    ),
    "RMSprop": Family(
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
    ),
    "Lion": Family(
        lion,
        {"lr": 1e-4, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0},
        {"decay": ("decoupled", "coupled", "direct")},
    ),
    "Adadelta": Family(adadelta, {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.0}, DECAY),
}
"""The formulas by the name that PyTorch has for the rule, or programs that have it themselves."""


class Convention(msgspec.Struct, frozen=True):
    """What a class of optimizers does: a formula, and where it is unlike PyTorch's."""

    family: str
    unlike: dict[str, Any] = {}


OF_TORCH: dict[str, Convention] = {
    **{name: Convention(name) for name in FAMILIES},
    "AdamW": Convention("Adam", {"decay": "decoupled", "weight_decay": 1e-2}),
}
"""Classes of torch.optim, and those of packages and programs that are called as the rule is."""

OF_EXPERIMENTAL: dict[str, Convention] = {
    **OF_TORCH,
    "Adam": Convention("Adam", {"eps_place": "uncorrected"}),
}
"""Classes of mindspore.experimental.optim (2.10)."""

OF_MINDSPORE: dict[str, Convention] = {
    "SGD": Convention("SGD"),
    "Momentum": Convention("SGD"),
    "Adam": Convention("Adam", {"eps_place": "uncorrected"}),
    "AdamWeightDecay": Convention(
        "Adam", {"decay": "decoupled", "bias_correction": False, "eps": 1e-6}
    ),
    "AdaMax": Convention("Adamax", {"eps_place": "outside"}),
    "Adagrad": Convention("Adagrad", {"eps_place": "nowhere", "initial_accumulator_value": 0.1}),
    "RMSProp": Convention(
        "RMSprop",
        {
            "eps_place": "inside",
            "lr_in_buffer": True,
            "first_square": "one",
            "alpha": 0.9,
            "eps": 1e-10,
        },
    ),
    "Adadelta": Convention("Adadelta"),
}
"""Classes of mindspore.nn (2.10)."""

OF_OPTAX: dict[str, Convention] = {
    "sgd": Convention("SGD"),
    "adam": Convention("Adam"),
    "adamw": Convention("Adam", {"decay": "decoupled", "weight_decay": 1e-4}),
    "rmsprop": Convention("RMSprop", {"eps_place": "inside", "alpha": 0.9, "eps": 1e-8}),
    "adagrad": Convention(
        "Adagrad", {"eps_place": "inside", "initial_accumulator_value": 0.1, "eps": 1e-7}
    ),
}
"""Functions of optax (0.2)."""

MODULES: dict[str, dict[str, Convention]] = {
    "mindspore.nn.": OF_MINDSPORE,
    "mindspore.experimental.": OF_EXPERIMENTAL,
    "optax.": OF_OPTAX,
    "": OF_TORCH,
}
"""The classes by what their modules' names begin with; a program's own go by those of torch.optim."""


def convention_of(optimizer: str) -> Convention | None:
    """What an optimizer is documented to do, by its class with the module; None of an unknown one.

    Nor is it known which of several classes a parameter has.
    """
    if "," in optimizer:
        return None
    table = next(table for module, table in MODULES.items() if optimizer.startswith(module))
    return table.get(optimizer.rpartition(".")[2])
