"""The update rules of optimizers as formulas, and how the steps that these give compare with recorded ones.

The conventions in which frameworks differ are settings.

Sources: the pages of torch.optim (2.13) and of mindspore.nn's optimizers (2.10), and of Lion
https://arxiv.org/abs/2302.06675; what those leave open,
tests/compare/training/test_formulas.py pins by running the optimizers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import CLEAR, TYPICAL
from explorer.compare.training.moments import Moment, distance
from explorer.model.arrays import AnyArray
from explorer.model.training_comparison import Rule
from explorer.numeric.differences import Floats, elementwise_difference
from explorer.numeric.summaries import UNIT, quantile
from explorer.operators.table import FOLDER

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
    buffer = state.get("momentum_buffer", 0 * gradient)
    if buffer.any():
        buffer = s["momentum"] * buffer + fresh
    else:
        buffer = gradient if s["first_buffer"] == "gradient" else fresh
    state["momentum_buffer"] = buffer
    if s["lr_in_buffer"]:
        return buffer
    return s["lr"] * (gradient + s["momentum"] * buffer if s["nesterov"] else buffer)


def adam(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam and AdamW, with or without the maximum of AMSGrad."""
    first = _mean(state, "exp_avg", gradient, s["beta1"])
    second = _mean(state, "exp_avg_sq", gradient, s["beta2"], gradient)
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
    first = _mean(state, "exp_avg", gradient, s["beta1"])
    second = _mean(state, "exp_avg_sq", gradient, s["beta2"], gradient)
    here, after = (
        s["beta1"] * (1 - 0.5 * 0.96 ** (number * s["momentum_decay"]))
        for number in (step, step + 1)
    )
    state["mu_product"] = product = state.get("mu_product", 1.0) * here
    now = (1 - here) / (1 - product) * gradient
    kept = after / (1 - product * after) * first
    return s["lr"] * (now + kept) / _root(second / (1 - _power(s["beta2"], step)), s)


def radam(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Adam whose steps are rectified by the variance of the second moment."""
    first = _mean(state, "exp_avg", gradient, s["beta1"])
    second = _mean(state, "exp_avg_sq", gradient, s["beta2"], gradient)
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
    before = s["beta2"] * state.get("exp_inf", 0 * gradient)
    state["exp_inf"] = greatest = np.maximum(before, np.abs(gradient) + inside)
    outside = s["eps"] if s["eps_place"] == "outside" else 0
    rate = s["lr"] / (1 - _power(s["beta1"], step)) if s["bias_correction"] else s["lr"]
    return rate * first / (greatest + outside)


def adagrad(gradient: AnyArray, state: State, s: Settings, step: int) -> Any:
    """Each rate divided by the root of the sum of squared gradients."""
    start = s["initial_accumulator_value"] + 0 * gradient
    state["sum"] = total = state.get("sum", start) + gradient * gradient
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
    state[key] = decay * state.get(key, 0 * values) + (1 - decay) * values * times
    return state[key]


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
    """The settings of a formula, what its conventions may be, and what classes have unlike PyTorch's own."""

    settings: dict[str, Any]
    conventions: dict[str, tuple[Any, ...]]
    classes: dict[str, dict[str, Any]] = {}


OPTIMIZERS = msgspec.toml.decode(
    (FOLDER / "optimizers.toml").read_bytes(), type=dict[str, Optimizer]
)
"""The optimizers of the catalogue by their names."""

FORMULAS: dict[str, Formula] = {
    it.__name__: it for it in (sgd, adam, nadam, radam, adamax, adagrad, rmsprop, lion, adadelta)
}
"""The formulas by the names of the optimizers in small letters."""

MOST_COUNTED = 1_000_000
"""An update of a greater number is computed as that one: no power of a decay is left in it."""

ROUNDED: tuple[tuple[type, Callable[[float], Any]], ...] = (
    (np.float64, float),
    (np.float32, float),
    (np.float32, lambda value: float(np.float32(value))),
    (np.float32, RoundedPowers),
    (np.float32, lambda value: np.array([value], np.float32)),  # numpy (< 2) keeps an array so
)
"""The dtype of tensors and what settings are computed with: nothing rounded, and as frameworks round.

PyTorch rounds tensors alone, MindSpore settings too, and what is computed of them. optax (0.2) rounds the
powers of a decay, and not the decay that its moments are computed with. 1 - 0.999 has a relative error of
1e-5 in float32, which is more than that of a step.
"""

LIKE_TORCH = "mindspore.experimental."
"""Classes of these modules are PyTorch's where nothing else is known of them."""

MODULES = ("mindspore.nn.", LIKE_TORCH, "optax.")
"""What the names of modules begin with; a program's own classes go by those of torch.optim."""

CLASSES = {
    name: Rule(
        kind, {**it.settings, **{key: own[0] for key, own in it.conventions.items()}, **unlike}
    )
    for kind, it in OPTIMIZERS.items()
    for name, unlike in {kind: {}, **it.classes}.items()
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
    return CLASSES.get(module + name, CLASSES.get(name) if module == LIKE_TORCH else None)


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
            return np.asarray(weight - FORMULAS[kind.lower()](gradient, state, s, step))
    except ArithmeticError:  # divided by 1 minus a decay of 1, or by powers beyond all numbers
        return np.full(weight.shape, np.nan)


def kept_by(rule: Rule) -> frozenset[str]:
    """What the formula keeps between steps, by its names."""
    state: State = {}
    weight_after(rule.kind, np.ones(1), np.ones(1), state, rule.settings, 1)
    return frozenset(state)


KEPT = frozenset(
    key
    for kind in OPTIMIZERS
    for key in kept_by(Rule(kind, CLASSES[kind].settings | {"momentum": 0.9, "amsgrad": True}))
)
"""What formulas keep between steps, by its names."""


# Steps computed again


class Fit(msgspec.Struct, frozen=True):
    """How a step that a formula computes compares with the recorded one.

    Of the differences of the weights, ``times`` is the greatest as a multiple of the noise of rounding,
    ``apart`` the greatest one, and ``length`` the Euclidean norm of all. ``rounding`` is the norm of what
    is between the recorded weights and those without any rounding. ``unlike`` is what the optimizer holds
    otherwise than the formula after the step.
    """

    times: float = np.inf
    apart: float = np.inf
    length: float = np.inf
    rounding: float = np.inf
    unlike: frozenset[str] = frozenset()

    @property
    def holds(self) -> bool:
        """Whether only rounding is between the two."""
        return self.times <= CLEAR


def fit(rule: Rule, moment: Moment, name: str) -> Fit:
    """How a parameter's step by a rule compares with the recorded one."""
    tensors = moment.prior.weights, moment.given, moment.weights
    shapes = {arrays[name].shape if name in arrays else None for arrays in tensors}
    if None in shapes or len(shapes) > 1:
        return Fit()
    kept, earlier = kept_by(rule), []
    if moment.before and not all(f"{name}.{key}" in moment.prior.state for key in kept):
        # What is not recorded follows from the steps before, all with equally many elements.
        moment = moment.in_few if moment.is_behind_few else moment
        steps = [it for number, it in moment.steps.items() if number < moment.step.number]
        earlier = [it.in_few for it in steps] if moment.is_few else steps
    recorded = moment.weights[name]
    is_mixed = rule.settings.get("eps_place") == "mixed"
    places = [{"eps_place": it} for it in ("inside", "outside")] if is_mixed else [{}]
    rules = [replace(rule, settings=rule.settings | place) for place in places]
    made = [[_after(one, kept, [*earlier, moment], name, *how) for one in rules] for how in ROUNDED]
    nearest = np.argmin([elementwise_difference(recorded, one) for one, _ in made[0]], axis=0)
    exact, *computed = (np.choose(nearest, [one for one, _ in of_rules]) for of_rules in made)
    apart = np.min([elementwise_difference(recorded, one) for one in (exact, *computed)], axis=0)
    # Rounding moves the weight itself, and what the formula computes: a step of another order of operations
    # lies at most twice as far away as those that were computed.
    unit = UNIT.get(moment.dtypes[name], UNIT["float32"])
    before = moment.prior.weights[name]
    moved = np.abs(exact - before)
    errors = [np.abs(one - exact) for one in computed]
    shares = errors[0][moved > 0] / moved[moved > 0]
    shares = shares[np.isfinite(shares)]
    typical = max(quantile(shares, TYPICAL) if shares.size else 0.0, unit)
    of_step = np.maximum(errors[0], typical * moved) + 2 * np.max(errors, axis=0) / CLEAR
    noise = np.nan_to_num(unit * np.maximum(np.abs(before), np.abs(exact)) + of_step)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(apart == 0, 0.0, apart / noise)
    return Fit(
        float(times.max(initial=0.0)),
        float(apart.max(initial=0.0)),
        float(np.linalg.norm(apart)),
        distance(recorded, exact),
        # Of mixed places which element has which is known of the weights alone.
        frozenset() if is_mixed else frozenset(_held_otherwise(rule, kept, moment, name, made)),
    )


def _held_otherwise(
    rule: Rule,
    kept: Iterable[str],
    moment: Moment,
    name: str,
    made: Sequence[Sequence[tuple[Floats, State]]],
) -> Iterator[str]:
    """What an optimizer holds after a step that is not what the rule makes of what it held before."""
    # MindSpore rounds 1 - beta too, which leaves an error of UNIT / (1 - beta).
    rest = 1 - max(rule.settings.get(beta, 0.0) for beta in ("beta1", "beta2", "alpha", "rho"))
    for key in kept:
        recorded = moment.state.get(f"{name}.{key}")
        exact, rounded = (np.asarray(of_rule[0][1][key], np.float64) for of_rule in made[:2])
        if recorded is not None and exact.shape == recorded.shape:
            unit = UNIT["float32"] * (np.abs(exact) + np.abs(exact).max(initial=0.0))
            error = np.abs(rounded - exact) + unit / rest
            if not (elementwise_difference(recorded, exact) <= CLEAR * error).all():
                yield key


def _after(
    rule: Rule,
    kept: Iterable[str],
    steps: Sequence[Moment],
    name: str,
    dtype: type,
    rounded: Callable[[float], Any],
) -> tuple[Floats, State]:
    """The weight after the last one of some steps, and what the optimizer holds then.

    What of it is ``kept`` is recorded, or follows from the steps before by the rule.
    """
    state: State = {}
    after = np.zeros(0)
    settings = rule.settings
    for step in steps:
        weights = step.prior.weights
        size = weights[name].size if name in weights else 1
        for key in kept:
            held = step.prior.state.get(f"{name}.{key}")
            if held is not None and held.size in (1, size):
                state[key] = held.astype(dtype)
        if step is steps[-1]:
            items = settings.items()
            settings = {key: rounded(it) if isinstance(it, float) else it for key, it in items}
        elif step.step.skipped or name not in weights or name not in step.given:
            continue
        # The update has the number that the optimizer counts, or else that of those recorded.
        count = step.state.get(f"{name}.step", np.zeros(0))
        is_counted = count.size and count[0] >= 1
        number = int(min(count[0], MOST_COUNTED)) if is_counted else max(step.count, 1)
        weight: AnyArray = weights[name].astype(dtype)
        gradient: AnyArray = step.given[name].astype(dtype)
        after = weight_after(rule.kind, weight, gradient, state, settings, number)
    return after.astype(np.float64), state
