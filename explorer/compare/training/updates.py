"""Which rule gives the updates of a training: formulas computed from what each step was given."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, Literal

import msgspec
import numpy as np

from explorer.compare.graphs.sameness import CLEAR, TYPICAL
from explorer.compare.training.formulas import (
    FAMILIES,
    MIXED,
    PLACES,
    RoundedPowers,
    Settings,
    State,
    convention_of,
)
from explorer.compare.training.values import Moment, distance
from explorer.model.arrays import AnyArray
from explorer.model.training_comparison import Rule
from explorer.numeric.differences import Floats, elementwise_difference
from explorer.numeric.summaries import UNIT, quantile

MOST_CHANGES = 2
"""A rule that is unlike the documented one in more settings and conventions is not looked for."""

MOST_COUNTED = 1_000_000
"""An update of a greater number is computed as that one: no power of a decay is left in it."""


Rounded = Literal["nothing", "tensors", "settings", "powers", "all"]
"""What is rounded to float32 where a formula is computed."""

ROUNDED: tuple[Rounded, ...] = ("tensors", "settings", "powers", "all")
"""How frameworks round: PyTorch tensors alone, MindSpore settings too, and what is computed of them.

optax (0.2) rounds the powers of a decay, and not the decay that its moments are computed with.

1 - 0.999 has a relative error of 1e-5 in float32, which is more than that of a step.
"""


class Hypothesis(msgspec.Struct, frozen=True):
    """A family of formulas with all its settings; ``lag`` is that of the step whose rate it takes."""

    family: str
    settings: dict[str, Any]
    lag: int = 0

    @property
    def rule(self) -> Rule:
        """The record of it."""
        return Rule(self.family, self.settings, self.lag)


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


# What is documented


def settings_of(moment: Moment, name: str) -> dict[str, Any]:
    """The settings of a parameter by the names that formulas have: betas one by one."""
    settings = dict(moment.settings.get(name, {}))
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


def documented(optimizer: str, moment: Moment, name: str) -> Hypothesis | None:
    """What an optimizer should do to a parameter, by its class and its settings."""
    convention = convention_of(optimizer)
    if convention is None:
        return None
    known = FAMILIES[convention.family].defaults | convention.unlike
    given = settings_of(moment, name)
    return Hypothesis(
        convention.family, {key: given.get(key, value) for key, value in known.items()}
    )


# Steps computed again


def fit(hypothesis: Hypothesis, moment: Moment, name: str) -> Fit:
    """How a parameter's step under a hypothesis compares with the recorded one."""
    shapes = [array.shape for array in _given(moment, name)]
    if name not in moment.weights or shapes != [moment.weights[name].shape] * 2:
        return Fit(np.inf, np.inf, np.inf, np.inf)
    moment = _with_history(hypothesis, moment, name)
    recorded = moment.weights[name]
    unit = UNIT.get(moment.dtypes[name], UNIT["float32"])
    places = [_at(hypothesis, place) for place in PLACES]
    chosen = places if hypothesis.settings.get("eps_place") == MIXED else [hypothesis]
    exacts = [_computed(one, moment, name, "nothing") for one in chosen]
    nearest = np.argmin([elementwise_difference(recorded, one) for one in exacts], axis=0)
    exact = np.choose(nearest, exacts)
    computed = [
        np.choose(nearest, [_computed(one, moment, name, rounded) for one in chosen])
        for rounded in ROUNDED
    ]
    apart = np.min([elementwise_difference(recorded, one) for one in (exact, *computed)], axis=0)
    noise = _noise(moment.weights_before[name], exact, computed, unit)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(apart == 0, 0.0, apart / noise)
    return Fit(
        float(times.max(initial=0.0)),
        float(apart.max(initial=0.0)),
        float(np.linalg.norm(apart)),
        distance(recorded, exact),
    )


def _at(hypothesis: Hypothesis, place: str) -> Hypothesis:
    """The hypothesis with epsilon at one place."""
    settings = {**hypothesis.settings, "eps_place": place}
    return msgspec.structs.replace(hypothesis, settings=settings)


def is_state_kept(hypothesis: Hypothesis, moment: Moment, name: str, key: str) -> bool:
    """Whether what an optimizer holds after a step is what a hypothesis makes of what it held before."""
    if hypothesis.settings.get("eps_place") == MIXED:
        return True  # which element has which is known of the weights alone
    if key not in _kept(hypothesis):
        return True  # such as the number of steps, which is counted and not computed
    moment = _with_history(hypothesis, moment, name)
    recorded = moment.state[f"{name}.{key}"]
    computed = [_state_after(hypothesis, moment, name, dtype) for dtype in (np.float64, np.float32)]
    exact, rounded = (np.asarray(one[key], np.float64) for one in computed)
    if exact.shape != recorded.shape:
        return True
    unit = UNIT["float32"] * (np.abs(exact) + np.abs(exact).max(initial=0.0))
    # MindSpore rounds 1 - beta too, which leaves an error of UNIT / (1 - beta).
    betas = [hypothesis.settings.get(beta, 0.0) for beta in ("beta1", "beta2", "alpha", "rho")]
    error = np.abs(rounded - exact) + unit / (1 - max(betas))
    return bool((elementwise_difference(recorded, exact) <= CLEAR * error).all())


def may_hold(hypothesis: Hypothesis, moment: Moment, name: str) -> bool:
    """Whether an optimizer of no known class holds what the formula needs, if it holds any such thing."""
    held = {key for path, key in map(_split, moment.state) if path == name}
    return _kept(hypothesis).keys() <= held or held.isdisjoint(KEPT)


def _split(path: str) -> tuple[str, str]:
    name, _dot, key = path.rpartition(".")
    return name, key


def _state_after(hypothesis: Hypothesis, moment: Moment, name: str, dtype: type) -> State:
    state = _state_before(hypothesis, moment, name, dtype)
    weight, gradient = moment.weights_before[name], moment.given[name]
    count = _count(moment, name)
    _stepped(
        hypothesis, weight.astype(dtype), gradient.astype(dtype), state, hypothesis.settings, count
    )
    return state


def _noise(before: Floats, exact: Floats, computed: Sequence[Floats], unit: float) -> Floats:
    """How far rounding moves each element: that of the weight itself, and that of the formula.

    A step of another order of operations lies at most twice as far away as those that were ``computed``.
    """
    moved = np.abs(exact - before)
    errors = [np.abs(one - exact) for one in computed]
    shares = errors[0][moved > 0] / moved[moved > 0]
    shares = shares[np.isfinite(shares)]
    typical = max(quantile(shares, TYPICAL) if shares.size else 0.0, unit)
    own = unit * np.maximum(np.abs(before), np.abs(exact))
    noise: Floats = (
        own + np.maximum(errors[0], typical * moved) + 2 * np.max(errors, axis=0) / CLEAR
    )
    return np.asarray(np.nan_to_num(noise))


def _given(moment: Moment, name: str) -> list[Floats]:
    """The weight and the gradient that a step begins with, as far as they are recorded."""
    tensors = moment.weights_before, moment.given
    return [arrays[name] for arrays in tensors if name in arrays]


def _computed(hypothesis: Hypothesis, moment: Moment, name: str, rounded: Rounded) -> Floats:
    """The weight after a step."""
    dtype = np.float64 if rounded == "nothing" else np.float32
    settings = {key: _rounded(value, rounded) for key, value in hypothesis.settings.items()}
    weight, gradient = (array.astype(dtype) for array in _given(moment, name))
    state = _state_before(hypothesis, moment, name, dtype)
    found = _stepped(hypothesis, weight, gradient, state, settings, _count(moment, name))
    return np.asarray(found, np.float64)


def _stepped(
    hypothesis: Hypothesis,
    weight: AnyArray,
    gradient: AnyArray,
    state: State,
    settings: Settings,
    count: int,
) -> Any:
    """The weight after a step; no number where the settings are such that there is none."""
    try:
        with np.errstate(all="ignore"):
            return FAMILIES[hypothesis.family].formula(weight, gradient, state, settings, count)
    except ArithmeticError:  # divided by 1 minus a decay of 1, or by powers beyond all numbers
        return np.full(weight.shape, np.nan)


def _count(moment: Moment, name: str) -> int:
    """The number of the update: as the optimizer counts it, or else that of those recorded."""
    counted = moment.state.get(f"{name}.step")
    if counted is None or not counted.size or not counted[0] >= 1:
        return max(moment.count, 1)
    return int(min(counted[0], MOST_COUNTED))


def _rounded(value: Any, rounded: Rounded) -> Any:
    """A setting; one that all is computed with in float32 is an array, which numpy (< 2) keeps so."""
    if not isinstance(value, float):
        return value
    if rounded == "settings":
        return float(np.float32(value))
    if rounded == "powers":
        return RoundedPowers(value)
    return np.array([value], np.float32) if rounded == "all" else value


def _state_before(hypothesis: Hypothesis, moment: Moment, name: str, dtype: type) -> State:
    """What the optimizer holds before a step: as recorded, or from the steps before under the hypothesis."""
    recorded = _recorded_state(moment, name, dtype)
    if moment.before is None or _is_whole(hypothesis, moment, name):
        return recorded
    state: State = {}
    for step in _up_to(moment.before):
        earlier = step.in_few if moment.is_few else step
        state |= _recorded_state(earlier, name, dtype)
        if earlier.step.skipped or len(_given(earlier, name)) < 2:
            continue
        weight, gradient = earlier.weights_before[name], earlier.given[name]
        count = _count(earlier, name)
        weight, gradient = weight.astype(dtype), gradient.astype(dtype)
        _stepped(hypothesis, weight, gradient, state, hypothesis.settings, count)
    return state | recorded


def _with_history(hypothesis: Hypothesis, moment: Moment, name: str) -> Moment:
    """A step with as many elements as the steps have that its state follows from."""
    is_short = moment.is_behind_few and not moment.is_few
    return moment.in_few if is_short and not _is_whole(hypothesis, moment, name) else moment


def _is_whole(hypothesis: Hypothesis, moment: Moment, name: str) -> bool:
    """Whether all that the formula keeps is recorded."""
    return all(f"{name}.{key}" in moment.state_before for key in _kept(hypothesis))


def _kept(hypothesis: Hypothesis) -> State:
    """What the formula keeps between steps, by its names."""
    keeps: State = {}
    one = np.ones(1)
    _stepped(hypothesis, one, one, keeps, hypothesis.settings, 1)
    return keeps


KEPT = frozenset(
    key
    for family, table in FAMILIES.items()
    for key in _kept(Hypothesis(family, table.defaults | {"momentum": 0.9, "amsgrad": True}))
)
"""What formulas keep between steps, by its names."""


def _recorded_state(moment: Moment, name: str, dtype: type) -> State:
    size = moment.weights_before[name].size if name in moment.weights_before else 1
    held = moment.held_before.get(name, {})
    return {key: array.astype(dtype) for key, array in held.items() if array.size in (1, size)}


def _up_to(moment: Moment) -> list[Moment]:
    earlier = [moment]
    while earlier[-1].before is not None:
        earlier.append(earlier[-1].before)
    return earlier[::-1]


# What may be otherwise


class Change(msgspec.Struct, frozen=True):
    """A setting or convention that is another one; ``lag`` is that of the step whose rate it is."""

    name: str
    value: Any
    lag: int = 0


def changes(
    hypothesis: Hypothesis,
    own: Sequence[Moment | None],
    others: Sequence[Mapping[str, Any]],
    name: str,
) -> Iterator[Change]:
    """Each single change of a hypothesis that is tried.

    ``own`` are the steps before and behind, as far as there are any; ``others`` are settings that are
    worth a try: the other side's, and those of other parameters.
    """
    family = FAMILIES[hypothesis.family]
    for convention, choices in family.conventions.items():
        for choice in choices:
            if choice != hypothesis.settings[convention]:
                yield Change(convention, choice)
    for key, value in family.settings.items():
        if isinstance(value, bool):
            yield Change(key, not hypothesis.settings[key])
        elif key in ("weight_decay", "dampening", "momentum") and hypothesis.settings[key]:
            yield Change(key, 0.0)
    rate = hypothesis.settings["lr"]
    for lag, moment in zip((-1, 1), own, strict=False):
        near = settings_of(moment, name).get("lr") if moment else None
        if near is not None and near != rate:
            yield Change("lr", near, lag)
    for settings in others:
        for key in family.settings:
            if key in settings and settings[key] != hypothesis.settings[key]:
                yield Change(key, settings[key])


def variations(hypothesis: Hypothesis, single: Sequence[Change]) -> Iterator[Hypothesis]:
    """The hypothesis with one change, then with two and so on; none twice."""
    seen: list[dict[str, Any]] = []
    for count in range(1, MOST_CHANGES + 1):
        for chosen in combinations(single, count):
            if len({change.name for change in chosen}) < count:
                continue
            values = {change.name: change.value for change in chosen}
            settings = hypothesis.settings | values
            if settings not in seen:
                seen.append(settings)
                lag = next((change.lag for change in chosen if change.lag), 0)
                yield Hypothesis(hypothesis.family, settings, lag)


def found_rules(
    hypotheses: Sequence[Hypothesis], single: Sequence[Change], moment: Moment, name: str
) -> list[Hypothesis]:
    """All of the hypotheses that give the step, with as few changes as any; none where none does."""
    fitting = [one for one in hypotheses if fit(one, moment, name).holds]
    if fitting:
        return fitting
    return [
        one
        for hypothesis in hypotheses
        for one in variations(hypothesis, single)
        if fit(one, moment, name).holds
    ]
