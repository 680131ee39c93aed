"""Whether both sides make the same update of the same gradient, and else which rules they follow."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training.moments import Answered, Moment, Pair, common
from explorer.compare.training.updates import (
    Fit,
    changed,
    changes,
    documented,
    fit,
    is_state_kept,
    possible,
    rate_of,
    settings_of,
    variations,
)
from explorer.model.training_comparison import Rule, TrainingDifference, Unlike
from explorer.numeric.summaries import UNIT

Rules = tuple[list[Rule], list[Rule]]
"""The rules that give the update of a parameter on either side."""

LATEST = 3
"""A rate is looked for in so many steps before and behind."""

AGREEING = 2
"""Rates are other ones in the steps before alone if they are the same in so many steps behind."""


class Side:
    """What was found of the rules of one side.

    A rule that was found to hold for a parameter is tried first at its next step, and at other parameters.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Any]] = {}
        self._found: list[Rule] = []

    def remember(self, name: str, moment: Moment, rules: list[Rule]) -> None:
        """Keep what the first of the rules of a parameter has unlike the documented one."""
        if rules:
            self._known[name] = _unlike_documented(rules[0], name, moment)

    def likely(self, name: str, moment: Moment) -> list[Rule]:
        """The documented rule and what was found to be unlike it; any rule of an unknown class."""
        rule = documented(moment, name)
        if rule is None:
            return possible(moment, name)
        known = self._known.get(name)
        return [Rule(rule.kind, {**rule.settings, **known}), rule] if known else [rule]

    def rules(self, name: str, moment: Moment, other: Moment) -> list[Rule]:
        """The simplest rules that give the update of a parameter."""
        likely = self.likely(name, moment)
        # What gives another parameter's update most often gives this one's too.
        kinds = ((rule, unlike) for unlike in self._found for rule in likely)
        found = [changed(rule, unlike) for rule, unlike in kinds if rule.kind == unlike.kind]
        for tried in (likely, found):
            fitting = [rule for rule in tried if fit(rule, moment, name).holds]
            if fitting:
                return fitting
        others = [settings_of(other, name)]
        others += [settings_of(moment, it.names[0]) for it in moment.step.groups if it.names]
        for rule in likely:
            single = list(changes(rule, moment, name, others))
            found = [one for one in variations(rule, single) if fit(one, moment, name).holds]
            self._found += [replace(one, settings=_unlike(one, rule)) for one in found]
            fitting += found
        return fitting


class Updates:
    """Tests the updates of two sides, step by step."""

    def __init__(self) -> None:
        self._sides = Side(), Side()
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
        recorded = [
            it for one in (left, right) for it in (one.given, one.weights, one.prior.weights)
        ]
        names = [name for name in left.given if all(name in tensors for tensors in recorded)]
        if not names:
            return "not_recorded"
        apart: dict[str, Rules] = {}
        is_unknown = False
        earlier = self.rule
        self._shared.clear()
        for name in names:
            if self._is_same(name, pair):
                continue
            ones, others = self._sides
            rules = ones.rules(name, left, right), others.rules(name, right, left)
            if not any(rules):
                is_unknown = True
            elif _do_any_hold(rules[0], right, name) or _do_any_hold(rules[1], left, name):
                ones.remember(name, left, rules[0])
                others.remember(name, right, rules[1])
            else:
                # Rules may move the weights apart by less than rounding in the gradients does.
                noise = pair.noise.of("weights", left, name)
                lengths = [one.length for one in _crossed(name, pair, rules)]
                if noise is None or max(lengths, default=np.inf) > CLEAR * noise:
                    apart[name] = rules
        if earlier and self.rule:
            now = self.rule.settings.items()
            self._varying |= {
                key for key, value in now if earlier.settings.get(key, value) != value
            }
        if apart:
            return _difference(apart, len(names), pair)
        return "no_rule" if is_unknown else "same"

    def states(self, pair: Pair) -> Answered:
        """Whether each side holds what its own rule makes, where both record it."""
        paths = common(pair.left.state, pair.right.state)
        tested = 0
        for of_side, (side, moment, _other) in zip(self._sides, pair.sides, strict=True):
            fitting: dict[str, list[Rule]] = {}
            for path in paths if not moment.step.skipped else ():
                name, _dot, key = path.rpartition(".")
                if name not in fitting:
                    likely = of_side.likely(name, moment) if name in moment.given else []
                    fitting[name] = likely if _do_any_hold(likely, moment, name) else []
                if not fitting[name]:
                    continue
                tested += 1
                if not any(is_state_kept(rule, moment, name, key) for rule in fitting[name]):
                    return pair.differ("state", "values", [path], of=len(paths), side=side)
        return "same" if tested or pair.left.step.skipped else "not_recorded"

    def _is_same(self, name: str, pair: Pair) -> bool:
        """Whether the first rule to try of either side gives the updates of both."""
        moments = pair.left, pair.right
        for side, own in zip(self._sides, moments, strict=True):
            for rule in side.likely(name, own):
                fits = [fit(rule, moment, name) for moment in moments]
                if all(found.holds for found in fits):
                    self._shared.append(rule)
                    pair.noise.widen(pair.left, name, sum(found.rounding for found in fits))
                    return True
        return False


def _do_any_hold(rules: list[Rule], moment: Moment, name: str) -> bool:
    return any(fit(rule, moment, name).holds for rule in rules)


def _crossed(name: str, pair: Pair, rules: Rules) -> list[Fit]:
    """How the first rule of each side fits the update of the other."""
    of_others = zip(rules, (pair.right, pair.left), strict=True)
    return [fit(rule, other, name) for of_side, other in of_others for rule in of_side[:1]]


def _unlike(rule: Rule, other: Rule) -> dict[str, Any]:
    """The settings of a rule that another one has not: all of them where that is of another kind."""
    others = other.settings if rule.kind == other.kind else {}
    return {key: it for key, it in rule.settings.items() if key not in others or it != others[key]}


def _unlike_documented(rule: Rule, name: str, moment: Moment) -> dict[str, Any]:
    """The settings of a rule in which it is not the documented one."""
    known = documented(moment, name)
    return _unlike(rule, known) if known else {}


# How rules differ


def _difference(apart: Mapping[str, Rules], of: int, pair: Pair) -> TrainingDifference:
    """The difference of the rules of the parameter of which most is known."""
    name = max(apart, key=lambda one: (all(apart[one]), pair.left.weights[one].size))
    lefts, rights = apart[name]
    crossed = [it.apart for one, rules in apart.items() for it in _crossed(one, pair, rules)]
    plain = pair.differ(
        "update",
        "unknown_rule",
        list(apart),
        of=of,
        left=next(iter(lefts), None),
        right=next(iter(rights), None),
        apart=max(crossed, default=0.0),
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
        unlike = _unlike_documented(rule, name, moment)
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
    for lag in (1, -1, 2, -2, LATEST, -LATEST):
        pairs = list(_rates(name, pair, lag).values())
        # A rate that does not change is like itself at any other step.
        if len({one for one, _other in pairs}) > 1 and all(_is_rate(*pair) for pair in pairs):
            return replace(unlike, steps=lag)
    rates = _rates(name, pair)
    others = [number for number, both in rates.items() if not _is_rate(*both)]
    agreeing = [number for number in rates if number > max(others, default=number)]
    if len(agreeing) < AGREEING:
        return unlike
    until = [both for number, both in rates.items() if number <= agreeing[0]]
    of_sides = zip(pair.sides, np.array(until, float).T, strict=True)
    rising = [side for (side, *_), of_side in of_sides if (np.diff(of_side) > 0).all()]
    warm = rising[0] if others[0] == next(iter(rates)) and len(rising) == 1 else None
    return replace(unlike, only=(others[0], others[-1]), warm=warm)


def _rates(name: str, pair: Pair, lag: int = 0) -> dict[int, tuple[Any, Any]]:
    """The known rates of both sides by the step, that of the left side ``lag`` steps before."""
    pairs = {
        number: (rate_of(moment.beside(-lag), name), rate_of(pair.right.steps.get(number), name))
        for number, moment in pair.left.steps.items()
    }
    return {number: both for number, both in pairs.items() if None not in both}


def _is_rate(one: Any, other: Any) -> bool:
    """Whether two rates are the same: MindSpore rounds those of a schedule to float32."""
    return bool(abs(one - other) <= 2 * UNIT["float32"] * abs(one))
