"""Updates of one parameter computed again: how the step that a rule makes compares with the recorded one."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import CLEAR, TYPICAL
from explorer.compare.training.formulas import (
    CLASSES,
    MIXED,
    OPTIMIZERS,
    PLACES,
    RoundedPowers,
    State,
    rule_of_class,
    weight_after,
)
from explorer.compare.training.moments import Moment, distance
from explorer.model.arrays import AnyArray
from explorer.model.training_comparison import Rule
from explorer.numeric.differences import Floats, elementwise_difference
from explorer.numeric.summaries import UNIT, quantile

MOST_CHANGES = 2
"""A rule that is unlike the documented one in more settings and conventions is not looked for."""

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

# What is documented


def settings_of(moment: Moment, name: str) -> dict[str, Any]:
    """The settings of a parameter by the names that formulas have: betas one by one."""
    of_groups = (group.settings for group in moment.step.groups[::-1] if name in group.names)
    settings = dict(next(of_groups, {}))
    betas = settings.pop("betas", None)
    if isinstance(betas, str):
        with suppress(ValueError, SyntaxError):
            betas = ast.literal_eval(betas)
    if isinstance(betas, (tuple, list)):
        settings |= dict(zip(("beta1", "beta2"), betas, strict=False))
    is_decoupled = settings.pop("decoupled_weight_decay", False)
    # Of what a file says no more is taken than a formula can be computed with.
    numbers = {key: value for key, value in settings.items() if isinstance(value, (int, float))}
    return {**numbers, "decay": "decoupled"} if is_decoupled else numbers


def documented(moment: Moment, name: str) -> Rule | None:
    """What an optimizer should do to a parameter, by its class and its settings."""
    known = rule_of_class(moment.training.optimizer)
    return known and _with_settings(known, settings_of(moment, name))


def possible(moment: Moment, name: str) -> list[Rule]:
    """What an optimizer of no known class may do, by its settings and what it holds, if it holds anything."""
    given = settings_of(moment, name)
    rules = [_with_settings(CLASSES[kind], given) for kind in OPTIMIZERS]
    paths = (path.rpartition(".") for path in moment.state)
    held = {key for owner, _dot, key in paths if owner == name}
    return [rule for rule in rules if _kept(rule) <= held or held.isdisjoint(KEPT)]


def _with_settings(rule: Rule, given: Mapping[str, Any]) -> Rule:
    return Rule(rule.kind, {key: given.get(key, value) for key, value in rule.settings.items()})


# Steps computed again


class Fit(msgspec.Struct, frozen=True):
    """How a step that a formula computes compares with the recorded one.

    Of the differences of the weights, ``times`` is the greatest as a multiple of the noise of rounding,
    ``apart`` the greatest one, and ``length`` the Euclidean norm of all. ``rounding`` is the norm of what
    is between the recorded weights and those without any rounding.
    """

    times: float
    apart: float
    length: float
    rounding: float

    @property
    def holds(self) -> bool:
        """Whether only rounding is between the two."""
        return self.times <= CLEAR


def fit(rule: Rule, moment: Moment, name: str) -> Fit:
    """How a parameter's step by a rule compares with the recorded one."""
    tensors = moment.prior.weights, moment.given, moment.weights
    shapes = {arrays[name].shape if name in arrays else None for arrays in tensors}
    if None in shapes or len(shapes) > 1:
        return Fit(np.inf, np.inf, np.inf, np.inf)
    moment = _with_history(rule, moment, name)
    recorded = moment.weights[name]
    rules = [rule]
    if rule.settings.get("eps_place") == MIXED:
        rules = [replace(rule, settings={**rule.settings, "eps_place": it}) for it in PLACES]
    afters = [[_after(one, moment, name, *how)[0] for one in rules] for how in ROUNDED]
    nearest = np.argmin([elementwise_difference(recorded, one) for one in afters[0]], axis=0)
    exact, *computed = (np.choose(nearest, of_rules) for of_rules in afters)
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
    own = unit * np.maximum(np.abs(before), np.abs(exact))
    of_step = np.maximum(errors[0], typical * moved) + 2 * np.max(errors, axis=0) / CLEAR
    noise = np.nan_to_num(own + of_step)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(apart == 0, 0.0, apart / noise)
    return Fit(
        float(times.max(initial=0.0)),
        float(apart.max(initial=0.0)),
        float(np.linalg.norm(apart)),
        distance(recorded, exact),
    )


def is_state_kept(rule: Rule, moment: Moment, name: str, key: str) -> bool:
    """Whether what an optimizer holds after a step is what a rule makes of what it held before."""
    if rule.settings.get("eps_place") == MIXED:
        return True  # which element has which is known of the weights alone
    if key not in _kept(rule):
        return True  # such as the number of steps, which is counted and not computed
    moment = _with_history(rule, moment, name)
    recorded = moment.state[f"{name}.{key}"]
    exact, rounded = (
        np.asarray(_after(rule, moment, name, *how)[1][key], np.float64) for how in ROUNDED[:2]
    )
    if exact.shape != recorded.shape:
        return True
    unit = UNIT["float32"] * (np.abs(exact) + np.abs(exact).max(initial=0.0))
    # MindSpore rounds 1 - beta too, which leaves an error of UNIT / (1 - beta).
    betas = [rule.settings.get(beta, 0.0) for beta in ("beta1", "beta2", "alpha", "rho")]
    error = np.abs(rounded - exact) + unit / (1 - max(betas))
    return bool((elementwise_difference(recorded, exact) <= CLEAR * error).all())


def _after(
    rule: Rule, moment: Moment, name: str, dtype: type, rounded: Callable[[float], Any]
) -> tuple[Floats, State]:
    """The weight after a step, and what the optimizer holds then.

    What it holds before is recorded, or follows from the steps before by the rule.
    """
    state: State = {}
    if moment.before is not None and not _is_whole(rule, moment, name):
        for step in moment.steps.values():
            if step.step.number >= moment.step.number:
                break
            earlier = step.in_few if moment.is_few else step
            state |= _recorded_state(earlier, name, dtype)
            is_known = name in earlier.prior.weights and name in earlier.given
            if is_known and not earlier.step.skipped:
                _stepped(rule, earlier, name, state, rule.settings, dtype)
    state |= _recorded_state(moment, name, dtype)
    settings = {
        key: rounded(value) if isinstance(value, float) else value
        for key, value in rule.settings.items()
    }
    return _stepped(rule, moment, name, state, settings, dtype).astype(np.float64), state


def _stepped(
    rule: Rule, moment: Moment, name: str, state: State, settings: Mapping[str, Any], dtype: type
) -> AnyArray:
    """The weight after a step in which the optimizer begins with a state, which it changes."""
    weight: AnyArray = moment.prior.weights[name].astype(dtype)
    gradient: AnyArray = moment.given[name].astype(dtype)
    # The update has the number that the optimizer counts, or else that of those recorded.
    count = moment.state.get(f"{name}.step", np.zeros(0))
    is_counted = count.size and count[0] >= 1
    number = int(min(count[0], MOST_COUNTED)) if is_counted else max(moment.count, 1)
    return weight_after(rule.kind, weight, gradient, state, settings, number)


# What an optimizer holds


def _recorded_state(moment: Moment, name: str, dtype: type) -> State:
    weights = moment.prior.weights
    size = weights[name].size if name in weights else 1
    held = moment.held_before.get(name, {})
    return {key: array.astype(dtype) for key, array in held.items() if array.size in (1, size)}


def _with_history(rule: Rule, moment: Moment, name: str) -> Moment:
    """A step with as many elements as the steps have that its state follows from."""
    is_short = moment.is_behind_few and not moment.is_few
    return moment.in_few if is_short and not _is_whole(rule, moment, name) else moment


def _is_whole(rule: Rule, moment: Moment, name: str) -> bool:
    """Whether all that the formula keeps is recorded."""
    return all(f"{name}.{key}" in moment.prior.state for key in _kept(rule))


def _kept(rule: Rule) -> frozenset[str]:
    """What the formula keeps between steps, by its names."""
    state: State = {}
    weight_after(rule.kind, np.ones(1), np.ones(1), state, rule.settings, 1)
    return frozenset(state)


KEPT = frozenset(
    key
    for kind, optimizer in OPTIMIZERS.items()
    for key in _kept(Rule(kind, optimizer.defaults | {"momentum": 0.9, "amsgrad": True}))
)
"""What formulas keep between steps, by its names."""


# What may be otherwise


def changes(
    rule: Rule, moment: Moment, name: str, others: Sequence[Mapping[str, Any]]
) -> Iterator[Rule]:
    """Each setting or convention that is tried in place of the rule's own, as a rule that has it alone.

    ``others`` are settings that are worth a try: the other side's, and those of other parameters.
    """
    optimizer = OPTIMIZERS[rule.kind]
    choices = dict(optimizer.conventions)
    for key, value in optimizer.settings.items():
        if isinstance(value, bool):
            choices[key] = (False, True)
        elif key in ("weight_decay", "dampening", "momentum"):
            choices[key] = (0.0,)
    tried = [(key, choice, 0) for key, of_key in choices.items() for choice in of_key]
    rates = [(lag, rate_of(moment.beside(lag), name)) for lag in (-1, 1)]
    tried += [("lr", rate, lag) for lag, rate in rates if rate is not None]
    tried += [(key, it[key], 0) for it in others for key in optimizer.settings if key in it]
    for key, value, lag in tried:
        if value != rule.settings[key]:
            yield Rule(rule.kind, {key: value}, lag)


def rate_of(moment: Moment | None, name: str) -> float | None:
    """The recorded rate of a parameter at a step."""
    rate: float | None = settings_of(moment, name).get("lr") if moment else None
    return rate


def changed(rule: Rule, *unlike: Rule) -> Rule:
    """A rule with the settings of others of its kind that have some alone."""
    settings = dict(rule.settings)
    for one in unlike:
        settings.update(one.settings)
    return Rule(rule.kind, settings, next((one.lag for one in unlike if one.lag), 0))


def variations(rule: Rule, single: Sequence[Rule]) -> Iterator[Rule]:
    """The rule with one change, then with two and so on; none twice."""
    seen: list[dict[str, Any]] = []
    for count in range(1, MOST_CHANGES + 1):
        for chosen in combinations(single, count):
            names = {name for one in chosen for name in one.settings}
            variation = changed(rule, *chosen)
            if len(names) == count and variation.settings not in seen:
                seen.append(variation.settings)
                yield variation
