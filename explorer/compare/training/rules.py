"""Whether both sides make the same update of the same gradient, and else which rules they follow."""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.training.bands import Bands
from explorer.compare.training.data import Answered
from explorer.compare.training.formulas import FAMILIES
from explorer.compare.training.updates import (
    Fit,
    Hypothesis,
    changes,
    documented,
    fit,
    found_rules,
    is_state_kept,
    may_hold,
    settings_of,
)
from explorer.compare.training.values import Moment
from explorer.model.training import Training
from explorer.model.training_comparison import SideName, TrainingDifference, Unlike
from explorer.numeric.summaries import UNIT

Moments = tuple[Moment, Moment]
"""A step of the left side and the same one of the right side."""

Rules = tuple[list[Hypothesis], list[Hypothesis]]
"""The rules that give the update of a parameter on either side."""

Unlikeness = tuple[str, dict[str, Any], int]
"""A family, and the settings in which a rule is unlike another one of it; the step whose rate it takes."""

LATEST = 3
"""A rate is looked for in so many steps before and behind."""

AGREEING = 2
"""Rates are other ones in the steps before alone if they are the same in so many steps behind."""


class Side(msgspec.Struct, frozen=True):
    """One training: its steps, and its optimizer's class."""

    training: Training
    moments: list[Moment]

    def beside(self, number: int, lag: int) -> Moment | None:
        """The step that is so many steps behind another one; before it where ``lag`` is negative."""
        return next((one for one in self.moments if one.step.number == number + lag), None)

    def rate(self, number: int, lag: int, name: str) -> float | None:
        """The recorded rate of a parameter at another step."""
        moment = self.beside(number, lag)
        rate = None if moment is None else settings_of(moment, name).get("lr")
        return rate if isinstance(rate, (int, float)) else None


class Updates:
    """Tests the updates of two sides, step by step.

    A rule that was found to hold for a parameter is tried first at its next step: it is remembered as what
    it has unlike the documented one.
    """

    def __init__(self, left: Side, right: Side, bands: Bands) -> None:
        self._sides = left, right
        self._bands = bands
        self._unlike: dict[tuple[int, str], dict[str, Any]] = {}
        self._found: tuple[list[Unlikeness], list[Unlikeness]] = ([], [])
        self._shared: list[Hypothesis] = []
        self._varying: set[str] = set()

    @property
    def rule(self) -> Hypothesis | None:
        """The rule of the last updates of both sides, with the settings of all parameters and steps."""
        if len({one.family for one in self._shared}) != 1:
            return None
        first = self._shared[0]
        settings = {
            key: value
            for key, value in first.settings.items()
            if key not in self._varying and all(one.settings[key] == value for one in self._shared)
        }
        return replace(first, settings=settings)

    def compare(self, left: Moment, right: Moment) -> Answered:
        """Whether each parameter's step on one side is what the other side's rule makes there too."""
        if left.step.skipped or right.step.skipped:
            return "same"
        moments = left, right
        names = [name for name in left.given if _is_tested(name, moments)]
        if not names:
            return "not_recorded"
        apart: dict[str, Rules] = {}
        is_unknown = False
        earlier = self.rule
        self._shared.clear()
        for name in names:
            if self._is_same(name, moments):
                continue
            rules = self._rules(name, moments)
            if not any(rules):
                is_unknown = True
            elif _is_shared(name, moments, rules):
                self._remember(name, moments, rules)
            elif not self._is_noise(name, moments, rules):
                apart[name] = rules
        if earlier and self.rule:
            now = self.rule.settings.items()
            self._varying |= {
                key for key, value in now if earlier.settings.get(key, value) != value
            }
        if apart:
            return self._difference(apart, len(names), moments)
        return "no_rule" if is_unknown else "same"

    def states(self, left: Moment, right: Moment) -> Answered:
        """Whether each side holds what its own rule makes, where both record it."""
        common = [key for key in left.state if key in right.state]
        moments = left, right
        tested = 0
        for side, moment in enumerate(moments):
            fitting: dict[str, list[Hypothesis]] = {}
            for path in common if not moment.step.skipped else ():
                name, _dot, key = path.rpartition(".")
                if name not in fitting:
                    known = self._hypotheses(side, name, moment) if name in moment.given else []
                    holds = any(fit(one, moment, name).holds for one in known)
                    fitting[name] = known if holds else []
                rules = fitting[name]
                if not rules:
                    continue
                tested += 1
                if not any(is_state_kept(one, moment, name, key) for one in rules):
                    return TrainingDifference(
                        question="state",
                        reason="values",
                        step=moment.step.number,
                        names=(path,),
                        of=len(common),
                        side="left" if side == 0 else "right",
                    )
        return "same" if tested or left.step.skipped else "not_recorded"

    def _hypotheses(self, side: int, name: str, moment: Moment) -> list[Hypothesis]:
        """The documented rule of a side and what was found to be unlike it; any rule of an unknown class."""
        optimizer = self._sides[side].training.optimizer
        known = documented(optimizer, moment, name)
        if known is not None:
            remembered = self._unlike.get((side, name))
            if not remembered:
                return [known]
            changed = Hypothesis(known.family, {**known.settings, **remembered})
            return [changed, known]
        given = settings_of(moment, name)
        every = [
            Hypothesis(
                family, {key: given.get(key, value) for key, value in table.defaults.items()}
            )
            for family, table in FAMILIES.items()
        ]
        return [one for one in every if may_hold(one, moment, name)]

    def _is_same(self, name: str, moments: Moments) -> bool:
        """Whether the first rule to try of either side gives the updates of both."""
        for side in (0, 1):
            for one in self._hypotheses(side, name, moments[side]):
                fits = [fit(one, moment, name) for moment in moments]
                if all(found.holds for found in fits):
                    self._shared.append(one)
                    self._bands.widen(moments[0], name, sum(found.rounding for found in fits))
                    return True
        return False

    def _is_noise(self, name: str, moments: Moments, rules: Rules) -> bool:
        """Whether the rules move the weights apart by less than rounding in the gradients does."""
        size = float(np.linalg.norm(moments[0].weights[name]))
        noise = self._bands.weights(moments[0], name, size)
        lengths = [one.length for one in _crossed(name, moments, rules)]
        return noise is not None and max(lengths, default=np.inf) <= CLEAR * noise

    def _rules(self, name: str, moments: Moments) -> Rules:
        """The simplest rules that give the update of each side."""
        found = [self._rules_of(side, name, moments) for side in (0, 1)]
        return found[0], found[1]

    def _rules_of(self, side: int, name: str, moments: Moments) -> list[Hypothesis]:
        moment, other = moments[side], moments[1 - side]
        hypotheses = self._hypotheses(side, name, moment)
        near = [self._sides[side].beside(moment.step.number, lag) for lag in (-1, 1)]
        fitting = [one for one in hypotheses if fit(one, moment, name).holds]
        if fitting:
            return fitting
        # What gives another parameter's update most often gives this one's too.
        for unlike in self._found[side]:
            fitting += [
                changed
                for one in hypotheses
                if (changed := _changed(one, unlike)) and fit(changed, moment, name).holds
            ]
        if fitting:
            return fitting
        others = [settings_of(other, name)]
        others += [
            settings_of(moment, group.names[0]) for group in moment.step.groups if group.names
        ]
        found: list[Hypothesis] = []
        for one in hypotheses:
            single = list(changes(one, near, others, name))
            fitting = found_rules([one], single, moment, name)
            self._found[side].extend(_unlike(one, other) for other in fitting)
            found += fitting
        return found

    def _remember(
        self,
        name: str,
        moments: Moments,
        rules: Rules,
    ) -> None:
        """Keep what a rule of each side has unlike the documented one."""
        for side in (0, 1):
            for one in rules[side][:1]:
                unlike = self._unlike_documented(side, one, name, moments[side])
                self._unlike[side, name] = unlike

    def _difference(
        self, rules: Mapping[str, Rules], of: int, moments: Moments
    ) -> TrainingDifference:
        """The difference of the rules of the parameter of which most is known."""
        name = max(rules, key=lambda one: (all(rules[one]), moments[0].weights[one].size))
        left, right = self._nearest(name, moments, rules[name])
        number = moments[0].step.number
        plain = TrainingDifference(
            question="update",
            reason="rule",
            step=number,
            names=tuple(rules),
            of=of,
            left=left.rule if left else None,
            right=right.rule if right else None,
            apart=max(_apart(one, moments, rules[one]) for one in rules),
        )
        if left is None or right is None:
            side = "left" if left is None else "right"
            return replace(plain, reason="unknown_rule", side=side)
        unlike = self._unlike_settings(name, moments, left, right)
        return replace(plain, unlike=unlike)

    def _nearest(
        self,
        name: str,
        moments: Moments,
        rules: Rules,
    ) -> tuple[Hypothesis | None, Hypothesis | None]:
        """The two rules that differ in the fewest settings."""
        lefts, rights = rules
        if not lefts or not rights:
            return next(iter(lefts), None), next(iter(rights), None)
        kept = [
            max(self._steps_of(side, one, name, moments[side]) for one in rules[side])
            for side in (0, 1)
        ]
        pairs = [
            (one, other)
            for one in lefts
            if self._steps_of(0, one, name, moments[0]) == kept[0]
            for other in rights
            if self._steps_of(1, other, name, moments[1]) == kept[1]
        ]
        return min(pairs, key=lambda pair: _count(*pair))

    def _steps_of(self, side: int, rule: Hypothesis, name: str, moment: Moment) -> int:
        """In how many steps from this one on a rule gives a side's updates, up to the first that it does not.

        Several rules may give one step: momentum shows from the second one on.
        """
        unlike = self._unlike_documented(side, rule, name, moment)
        steps = 0
        for later in self._sides[side].moments:
            if later.step.number < moment.step.number or later.step.skipped:
                continue
            known = documented(self._sides[side].training.optimizer, later, name)
            settings = {**(known.settings if known else rule.settings), **unlike}
            if rule.lag:
                rate = self._sides[side].rate(later.step.number, rule.lag, name)
                settings["lr"] = settings["lr"] if rate is None else rate
            one = Hypothesis(rule.family, settings, rule.lag)
            if name not in later.given or not fit(one, later, name).holds:
                break
            steps += 1
        return steps

    def _unlike_documented(
        self, side: int, rule: Hypothesis, name: str, moment: Moment
    ) -> dict[str, Any]:
        """What a rule has unlike the documented one of a side."""
        known = documented(self._sides[side].training.optimizer, moment, name)
        if known is None or known.family != rule.family:
            return {}
        return {key: value for key, value in rule.settings.items() if value != known.settings[key]}

    def _unlike_settings(
        self, name: str, moments: Moments, left: Hypothesis, right: Hypothesis
    ) -> tuple[Unlike, ...]:
        """The settings in which two rules differ, without those that change nothing in this step."""
        if left.family != right.family:
            return ()
        unlike = []
        for key, value in left.settings.items():
            other = right.settings[key]
            if value == other:
                continue
            swapped = [
                replace(own, settings={**own.settings, key: foreign})
                for own, foreign in ((left, other), (right, value))
            ]
            if all(
                fit(one, moment, name).holds for one, moment in zip(swapped, moments, strict=True)
            ):
                continue
            plain = Unlike(key, value, other)
            unlike.append(self._scheduled(plain, name) if key == "lr" else plain)
        return tuple(unlike)

    def _scheduled(self, unlike: Unlike, name: str) -> Unlike:
        """Two rates with what is known of their schedules: that one is late, or other in some steps alone."""
        for lag in (1, -1, 2, -2, LATEST, -LATEST):
            pairs = list(self._rates(name, lag).values())
            # A rate that does not change is like itself at any other step.
            if len({one for one, _other in pairs}) > 1 and all(_is_rate(*pair) for pair in pairs):
                return replace(unlike, steps=lag)
        rates = self._rates(name)
        others = [number for number, pair in rates.items() if not _is_rate(*pair)]
        agreeing = [number for number in rates if number > max(others, default=number)]
        if len(agreeing) < AGREEING:
            return unlike
        until = [pair for number, pair in rates.items() if number <= agreeing[0]]
        sides: tuple[SideName, SideName] = ("left", "right")
        rising = [
            side
            for side, of_side in zip(sides, np.array(until, float).T, strict=True)
            if (np.diff(of_side) > 0).all()
        ]
        warm = rising[0] if others[0] == next(iter(rates)) and len(rising) == 1 else None
        return replace(unlike, only=(others[0], others[-1]), warm=warm)

    def _rates(self, name: str, lag: int = 0) -> dict[int, tuple[Any, Any]]:
        """The known rates of both sides by the step, that of the left side ``lag`` steps before."""
        left, right = self._sides
        numbers = [moment.step.number for moment in left.moments]
        pairs = {one: (left.rate(one, -lag, name), right.rate(one, 0, name)) for one in numbers}
        return {number: pair for number, pair in pairs.items() if None not in pair}


def _is_rate(one: Any, other: Any) -> bool:
    """Whether two rates are the same: MindSpore rounds those of a schedule to float32."""
    return bool(abs(one - other) <= 2 * UNIT["float32"] * abs(one))


def _unlike(one: Hypothesis, other: Hypothesis) -> Unlikeness:
    """What the second of two rules of a family has unlike the first."""
    settings = {key: value for key, value in other.settings.items() if value != one.settings[key]}
    return one.family, settings, other.lag


def _changed(one: Hypothesis, unlike: Unlikeness) -> Hypothesis | None:
    """A rule with what another one has unlike its like; None where that is of another family."""
    family, settings, lag = unlike
    if one.family != family:
        return None
    return Hypothesis(family, {**one.settings, **settings}, lag)


def _is_shared(name: str, moments: Moments, rules: Rules) -> bool:
    """Whether a rule of one side gives the other side's update too."""
    left, right = moments
    of_left = any(fit(rule, right, name).holds for rule in rules[0])
    return of_left or any(fit(rule, left, name).holds for rule in rules[1])


def _is_tested(name: str, moments: Moments) -> bool:
    return all(
        name in tensors
        for moment in moments
        for tensors in (moment.given, moment.weights, moment.weights_before)
    )


def _count(left: Hypothesis, right: Hypothesis) -> int:
    if left.family != right.family:
        return len(left.settings)
    return sum(value != right.settings[key] for key, value in left.settings.items())


def _apart(name: str, moments: Moments, rules: Rules) -> float:
    """How far the rule of one side is from the update of the other, at the most."""
    return max((one.apart for one in _crossed(name, moments, rules)), default=0.0)


def _crossed(name: str, moments: Moments, rules: Rules) -> list[Fit]:
    """How the first rule of each side fits the update of the other."""
    fits = [fit(one, moments[1], name) for one in rules[0][:1]]
    return fits + [fit(one, moments[0], name) for one in rules[1][:1]]
