"""Which rule gives an update: settings and conventions are tried, each by computing the step again."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, combinations, product
from typing import Any

import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training.formulas import (
    CLASSES,
    KEPT,
    OPTIMIZERS,
    Fit,
    fit,
    kept_by,
    rule_of_class,
)
from explorer.compare.training.moments import Answered, Moment, Pair, common
from explorer.model.training_comparison import Rule, SideName, TrainingDifference, Unlike
from explorer.numeric.summaries import UNIT

MOST_CHANGES = 2
"""A rule that is unlike the documented one in more settings and conventions is not looked for."""

LATEST = 3
"""A rate is looked for in so many steps before and behind."""

AGREEING = 2
"""Rates are other ones in the steps before alone if they are the same in so many steps behind."""

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


def rate_of(moment: Moment | None, name: str) -> float | None:
    """The recorded rate of a parameter at a step."""
    rate: float | None = settings_of(moment, name).get("lr") if moment else None
    return rate


def documented(moment: Moment, name: str) -> Rule | None:
    """What an optimizer should do to a parameter, by its class and its settings."""
    known = rule_of_class(moment.training.optimizer)
    return known and _with_settings(known, settings_of(moment, name))


def _with_settings(rule: Rule, given: Mapping[str, Any]) -> Rule:
    return Rule(rule.kind, {key: given.get(key, value) for key, value in rule.settings.items()})


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


def variations(rule: Rule, single: Sequence[Rule]) -> Iterator[Rule]:
    """The rule with one change, then with two and so on; none twice."""
    seen: list[dict[str, Any]] = []
    for count in range(1, MOST_CHANGES + 1):
        for chosen in combinations(single, count):
            unlike = dict(chain.from_iterable(one.settings.items() for one in chosen))
            settings = {**rule.settings, **unlike}
            if len(unlike) == count and settings not in seen:
                seen.append(settings)
                yield Rule(rule.kind, settings, next((one.lag for one in chosen if one.lag), 0))


def _unlike(rule: Rule, other: Rule | None) -> dict[str, Any]:
    """The settings of a rule that another one has not: none without one, all where it is of another kind."""
    if other is None:
        return {}
    others = other.settings if rule.kind == other.kind else {}
    return {key: it for key, it in rule.settings.items() if key not in others or it != others[key]}


# The rules of both sides


Rules = tuple[list[Rule], list[Rule], float]
"""The rules that give the update of a parameter on either side, and how far off they are on the other one."""


class Updates:
    """Tests the updates of two sides, step by step.

    A rule that was found to hold for a parameter is tried first at its next step, and at other parameters.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[SideName, str], dict[str, Any]] = {}
        self._found: dict[SideName, list[Rule]] = {"left": [], "right": []}
        self._shared: list[Rule] = []
        self._varying: set[str] = set()

    @property
    def rule(self) -> Rule | None:
        """The rule of the last updates of both sides, with the settings of all parameters and steps."""
        if len({one.kind for one in self._shared}) != 1:
            return None
        first = self._shared[0]
        settings = {
            key: value
            for key, value in first.settings.items()
            if key not in self._varying and all(one.settings[key] == value for one in self._shared)
        }
        return replace(first, settings=settings)

    def compare(self, pair: Pair) -> Answered:
        """Whether each parameter's step on one side is what the other side's rule makes there too."""
        left, right, _noise = pair
        if left.step.skipped or right.step.skipped:
            return "same"
        tensors = [
            it for one in (left, right) for it in (one.given, one.weights, one.prior.weights)
        ]
        names = [name for name in left.given if all(name in it for it in tensors)]
        if not names:
            return "not_recorded"
        apart: dict[str, Rules] = {}
        is_unknown = False
        earlier = self.rule
        self._shared.clear()
        for name in names:
            if self._is_same(name, pair):
                continue
            ones, others = (self._rules(name, *it) for it in pair.sides)
            if not ones and not others:
                is_unknown = True
            elif _fitting(ones, right, name) or _fitting(others, left, name):
                for (side, own, _), rules in zip(pair.sides, (ones, others), strict=True):
                    if rules:
                        self._known[side, name] = _unlike(rules[0], documented(own, name))
            else:
                # Rules may move the weights apart by less than rounding in the gradients does.
                noise = pair.noise.of("weights", left, name)
                crossed = [fit(rule, right, name) for rule in ones[:1]]
                crossed += [fit(rule, left, name) for rule in others[:1]]
                if noise is None or max(it.length for it in crossed) > CLEAR * noise:
                    apart[name] = ones, others, max(it.apart for it in crossed)
        now = self.rule
        if earlier and now:
            settings = now.settings.items()
            self._varying |= {key for key, it in settings if earlier.settings.get(key, it) != it}
        if apart:
            return _difference(apart, len(names), pair)
        return "no_rule" if is_unknown else "same"

    def states(self, pair: Pair) -> Answered:
        """Whether each side holds what its own rule makes, where both record it."""
        paths = common(pair.left.state, pair.right.state)
        is_tested = pair.left.step.skipped
        for side, moment, _other in pair.sides:
            fits: dict[str, list[Fit]] = {}
            for path in paths if not moment.step.skipped else ():
                name, _dot, key = path.rpartition(".")
                if name not in fits:
                    likely = self._likely(name, side, moment) if name in moment.given else []
                    fits[name] = [fit(rule, moment, name) for rule in likely]
                if any(found.holds for found in fits[name]):
                    is_tested = True
                    if all(key in found.unlike for found in fits[name]):
                        return pair.differ("state", "values", [path], of=len(paths), side=side)
        return "same" if is_tested else "not_recorded"

    def _is_same(self, name: str, pair: Pair) -> bool:
        """Whether the first rule to try of either side gives the updates of both."""
        for side, own, other in pair.sides:
            for rule in self._likely(name, side, own):
                fits = [fit(rule, moment, name) for moment in (own, other)]
                if all(found.holds for found in fits):
                    self._shared.append(rule)
                    pair.noise.widen(pair.left, name, sum(found.rounding for found in fits))
                    return True
        return False

    def _likely(self, name: str, side: SideName, moment: Moment) -> list[Rule]:
        """The documented rule and what was found to be unlike it.

        Of an unknown class it is any rule that keeps what the optimizer holds, if it holds anything.
        """
        rule = documented(moment, name)
        if rule is not None:
            known = self._known.get((side, name))
            return [Rule(rule.kind, {**rule.settings, **known}), rule] if known else [rule]
        given = settings_of(moment, name)
        rules = [_with_settings(CLASSES[kind], given) for kind in OPTIMIZERS]
        paths = (path.rpartition(".") for path in moment.state)
        held = {key for owner, _dot, key in paths if owner == name}
        return [rule for rule in rules if kept_by(rule) <= held or held.isdisjoint(KEPT)]

    def _rules(self, name: str, side: SideName, moment: Moment, other: Moment) -> list[Rule]:
        """The simplest rules that give the update of a parameter on a side."""
        likely = self._likely(name, side, moment)
        # What gives another parameter's update most often gives this one's too.
        found = [
            replace(unlike, settings={**rule.settings, **unlike.settings})
            for unlike in self._found[side]
            for rule in likely
            if rule.kind == unlike.kind
        ]
        fitting = _fitting(likely, moment, name) or _fitting(found, moment, name)
        if fitting:
            return fitting
        others = [settings_of(other, name)]
        others += [settings_of(moment, it.names[0]) for it in moment.step.groups if it.names]
        for rule in likely:
            single = list(changes(rule, moment, name, others))
            found = _fitting(variations(rule, single), moment, name)
            self._found[side] += [replace(one, settings=_unlike(one, rule)) for one in found]
            fitting += found
        return fitting


def _fitting(rules: Iterable[Rule], moment: Moment, name: str) -> list[Rule]:
    """Those of some rules that give the update of a parameter."""
    return [rule for rule in rules if fit(rule, moment, name).holds]


# How rules differ


def _difference(apart: Mapping[str, Rules], of: int, pair: Pair) -> TrainingDifference:
    """The difference of the rules of the parameter of which most is known."""
    name = max(apart, key=lambda one: (all(apart[one][:2]), pair.left.weights[one].size))
    lefts, rights, _apart = apart[name]
    plain = pair.differ(
        "update",
        "unknown_rule",
        list(apart),
        of=of,
        left=next(iter(lefts), None),
        right=next(iter(rights), None),
        apart=max(crossed for *_rules, crossed in apart.values()),
    )
    if not lefts or not rights:
        return replace(plain, side="right" if lefts else "left")
    # Several rules may give one step: momentum shows from the second one on.
    lasting = _longest(lefts, name, pair.left), _longest(rights, name, pair.right)
    left, right = min(product(*lasting), key=lambda rules: len(_unlike(*rules)))
    unlike = []
    for key, value in _unlike(left, right).items() if left.kind == right.kind else ():
        other = right.settings[key]
        swapped = (
            (replace(left, settings=left.settings | {key: other}), pair.left),
            (replace(right, settings=right.settings | {key: value}), pair.right),
        )
        # Some settings change nothing in this step.
        if not all(fit(rule, moment, name).holds for rule, moment in swapped):
            found = Unlike(key, value, other)
            unlike.append(_scheduled(found, name, pair) if key == "lr" else found)
    return replace(plain, reason="rule", left=left, right=right, unlike=tuple(unlike))


def _longest(rules: list[Rule], name: str, moment: Moment) -> list[Rule]:
    """Those of some rules that give the updates of the most steps from this one on."""
    counts = []
    for rule in rules:
        unlike = _unlike(rule, documented(moment, name))
        count = 0
        for later in moment.steps.values():
            if later.step.number < moment.step.number or later.step.skipped:
                continue
            settings = {**(documented(later, name) or rule).settings, **unlike}
            rate = rate_of(later.beside(rule.lag), name) if rule.lag else None
            if rate is not None:
                settings["lr"] = rate
            of_step = replace(rule, settings=settings)
            if name not in later.given or not fit(of_step, later, name).holds:
                break
            count += 1
        counts.append(count)
    return [rule for rule, count in zip(rules, counts, strict=True) if count == max(counts)]


def _scheduled(unlike: Unlike, name: str, pair: Pair) -> Unlike:
    """Two rates with what is known of their schedules: that one is late, or other in some steps alone."""
    lefts, rights = (
        {number: rate_of(moment, name) for number, moment in of_side.steps.items()}
        for of_side in (pair.left, pair.right)
    )

    def rates_at(lag: int) -> dict[int, tuple[float, float]]:
        """The known rates of both sides by the step, that of the left side ``lag`` steps before."""
        pairs = ((number, lefts.get(number - lag), rights.get(number)) for number in lefts)
        return {
            number: (one, it) for number, one, it in pairs if one is not None and it is not None
        }

    for lag in (1, -1, 2, -2, LATEST, -LATEST):
        pairs = list(rates_at(lag).values())
        # A rate that does not change is like itself at any other step.
        if len({one for one, _other in pairs}) > 1 and all(_is_rate(*pair) for pair in pairs):
            return replace(unlike, steps=lag)
    rates = rates_at(0)
    others = [number for number, both in rates.items() if not _is_rate(*both)]
    agreeing = [number for number in rates if number > max(others, default=number)]
    if len(agreeing) < AGREEING:
        return unlike
    until = [both for number, both in rates.items() if number <= agreeing[0]]
    of_sides = zip(pair.sides, np.array(until, float).T, strict=True)
    rising = [side for (side, *_), of_side in of_sides if (np.diff(of_side) > 0).all()]
    warm = rising[0] if others[0] == next(iter(rates)) and len(rising) == 1 else None
    return replace(unlike, only=(others[0], others[-1]), warm=warm)


def _is_rate(one: float, other: float) -> bool:
    """Whether two rates are the same: MindSpore rounds those of a schedule to float32."""
    return bool(abs(one - other) <= 2 * UNIT["float32"] * abs(one))
