"""The answers to a case: every comparison of two, and the distinct answers and states with their engines."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, combinations, product

import numpy as np
from numpy.typing import NDArray

from explorer.compare.graphs.sameness import Sameness, in_tables, scale, within
from explorer.compare.results.comparison import (
    NOT_MEASURED,
    BesideOracle,
    Comparison,
    Elements,
    Movements,
    Noises,
    Parties,
    by_leaf,
    compare,
    moved,
    movements,
    worst,
)
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import Framework, engine_named
from explorer.model.report import ORACLE, AnswerGroup, Difference, NotFiniteAlike
from explorer.model.results import ANSWERED, OracleResult, Result, ResultNoise
from explorer.model.state import StateChange, StateGroup, StateRow
from explorer.model.trees import fill
from explorer.numeric.differences import Floats, are_equal, real_parts
from explorer.scenario.declaration import Tolerance
from explorer.text.messages import one_line
from explorer.text.numbers import FEW, digits

NO_NOISE: Mapping[str, ResultNoise] = {}
"""The noise of engines whose noise was not measured."""

READABLE = 10.0 ** (1 - FEW)
"""The share of a tensor's scale from which on a difference shows in FEW digits."""


def allowance(
    case: GradCase,
    left: Result,
    right: Result,
    tolerances: Sequence[Tolerance],
    noise: Noises,
    drawn: Collection[str] = (),
) -> str:
    """The reasons why two answers to a case may differ as they do, by a scenario's TOLERANCES.

    Empty where they may not: another structure, shape or dtype, or a leaf that differs by more than
    its ``noise`` and that no tolerance covers. The values of leaves in ``drawn``, which depend on
    random numbers, may be any.
    """
    if not tolerances or left.structure != right.structure:
        return ""
    reasons: dict[str, None] = {}
    compared = by_leaf(left.leaves, right.leaves, noise=noise, drawn=drawn)
    for leaf, other, comparison in zip(left.leaves, right.leaves, compared, strict=True):
        if comparison.verdict != "differs":
            continue
        if comparison.greatest is None or comparison.greatest.what != "value":
            return ""
        values = unpack(leaf.value), unpack(other.value)
        covering = (it for it in tolerances if it.applies(case, leaf.name))
        found = next((it for it in covering if within(*values, (it.rtol, it.atol))), None)
        if found is None:
            return ""
        reasons[found.reason] = None
    return "; ".join(reasons)


class Answers:
    """The answers of all parties of a case, and every comparison of two of them, made once.

    ``drawn`` are the leaves that depend on random numbers in every engine that answered. ``allowed`` are the
    reasons for which ``tolerances`` let some answers differ, by the two: their verdict is "close".
    ``forwards`` are what the net of each engine returns, with its noise, and ``judges`` what judges the
    engines of a framework; None where no net that is varied is its own. The oracle ``has_estimates`` where it
    has something to say.
    """

    def __init__(
        self,
        case: GradCase,
        results: Mapping[str, Result],
        oracle: OracleResult,
        noise: Mapping[str, ResultNoise],
        tolerances: Sequence[Tolerance],
        forwards: Mapping[str, ResultNoise],
    ) -> None:
        self.results = results
        self.oracle = oracle
        self.has_estimates = oracle.outcome == "ok" and len(oracle.estimates) > 0
        self.fine = {name: it for name, it in results.items() if it.outcome == "ok"}
        measured = {name: noise.get(name, ResultNoise()) for name in self.fine}
        self._noise = {name: movements(it) for name, it in measured.items()}
        self._drawn = {name: frozenset(it.drawn) for name, it in measured.items()}
        leaves = next((it.leaves for it in self.fine.values()), ())
        self.drawn = tuple(
            leaf.name for leaf in leaves if all(leaf.name in it for it in self._drawn.values())
        )
        self.comparisons: dict[Parties, Comparison] = {}
        self.allowed: dict[Parties, str] = {}
        for pair in combinations(self.fine, 2):
            left, right = (self.fine[name] for name in pair)
            both = self._noise[pair[0]], self._noise[pair[1]]
            drawn = self._drawn[pair[0]] & self._drawn[pair[1]]
            compared = compare(left, right, pair, both, drawn)
            if compared.verdict == "differs":
                reason = allowance(case, left, right, tolerances, both, drawn)
                if reason:
                    self.allowed[pair] = reason
                    compared = compared._replace(verdict="close")
            # Two are asked about in whichever order.
            self.comparisons[pair] = self.comparisons[pair[::-1]] = compared
        estimated = {leaf for part in oracle.estimates for leaf in part.leaves}
        self._not_finite = not_finite_alike(self.fine, estimated)
        # Where the nets differ already, the derivatives of one do not judge those of the other.
        self._forwards = forwards
        every = (oracle, *oracle.beside)
        # The oracle of a framework's own net; else of the first net that returns what its does.
        self.judges: dict[Framework, OracleResult | None] = {}
        for framework in dict.fromkeys(engine_named(name).framework for name in self.fine):
            own = (judge for judge in every if judge.framework == framework)
            alike = (judge for judge in every if self._is_net_of(framework, judge.framework))
            judge = next(chain(own, alike), None) if self.has_estimates else oracle
            self.judges[framework] = judge
        self.noise_alone: dict[Framework, dict[str, NDArray[np.bool_]]] = {}
        self._beside: dict[str, BesideOracle] = {}
        for name, result in self.fine.items():
            judge = self.judges[engine_named(name).framework]
            if judge is not None:
                # The oracle cannot estimate what depends on random numbers in an engine and in the net that
                # is varied. Where that net was not measured, what the engine draws stands for it.
                varied = (it for it in self._drawn if engine_named(it).framework == judge.framework)
                drawn = self._drawn[name] & self._drawn[next(varied, name)]
                of_net = self._widest_noise(judge)
                beside = BesideOracle(result, judge, of_net, drawn, self._not_finite)
                self._beside[name] = beside
                known = self.noise_alone.setdefault(judge.framework, {})
                self.noise_alone[judge.framework] = {**beside.noise_alone, **known}
        agreeing = {name: it.agrees for name, it in self._beside.items() if self.has_estimates}
        self.near_oracle = {name: it for name, it in agreeing.items() if it is not None}

    # Beside the oracle

    def refuted(self, name: str) -> Iterator[Difference]:
        """Where the oracle refutes an engine's gradients that begin like its own estimates, leaf by leaf."""
        own = self.judges[engine_named(name).framework] if name in self.fine else None
        if own is not None and not self.near_oracle.get(name, True):
            begins = {leaf.name: digits(unpack(leaf.value)) for leaf in self.fine[name].leaves}
            estimated = {part.name: digits(unpack(part.value)) for part in own.estimates}
            for found in self._beside[name].refuted(name):
                if begins[found.leaf] == estimated[found.leaf]:
                    yield found

    def not_finite_alike(self) -> Iterator[NotFiniteAlike]:
        """What is the same nan or infinity in every engine, as far as central differences are finite."""
        first = next(iter(self.fine.values()), None)
        values = {leaf.name: unpack(leaf.value) for leaf in first.leaves} if first else {}
        for estimate in self.oracle.estimates:
            estimated = unpack(estimate.value)
            for name in (it for it in estimate.leaves if it in self._not_finite):
                places = self._not_finite[name]
                if not estimate.directions:
                    places = places & np.isfinite(estimated)
                elif not np.isfinite(estimated).all():
                    continue
                elif estimate.smooth is not None:
                    places = places & unpack(estimate.smooth)
                if not places.any():
                    continue
                index = tuple(map(int, np.argwhere(places)[0]))
                count, own = int(places.sum()), float(values[name][index])
                finite = None if estimate.directions else float(estimated[index])
                kinks = None if finite is None else estimate.kinks
                is_kink = kinks is not None and bool(unpack(kinks)[index] > 0)
                yield NotFiniteAlike(name, index, count, own, finite, is_kink)

    def _is_net_of(self, framework: Framework, varied: Framework) -> bool:
        """Whether a framework's net computes what the net of another one does, as far as is known.

        Where some engine of the one gives what one of the other does, the nets are the same, and an engine
        whose outputs differ computes them wrong.
        """
        if framework not in apart_from(varied, self._forwards):
            return True
        return any(
            {engine_named(it).framework for it in pair} == {framework, varied}
            for pair, it in self.comparisons.items()
            if it.verdict != "differs"
        )

    def _widest_noise(self, judge: OracleResult) -> Movements:
        """The greatest movement of each element in any engine that computes the net of an oracle.

        What is ill-conditioned in one framework is so in the other, whose noise may not show it.
        """
        widest: dict[str, Floats] = {}
        for engine, noise in self._noise.items():
            if self._is_net_of(engine_named(engine).framework, judge.framework):
                for name, movement in noise.items():
                    known = widest.get(name, movement)
                    if known.shape == movement.shape:
                        widest[name] = np.maximum(known, movement)
        return widest

    # Beside each other

    def disagreements(self) -> dict[Parties, bool]:
        """Of every two parties that answered, whether they disagree."""
        parties = [name for name, result in self.results.items() if result.outcome in ANSWERED]
        disagree = {}
        for one, other in combinations([*parties, *[ORACLE] * self.has_estimates], 2):
            # The oracle is the last of the parties, so it is never the first of two. An error, which
            # has no value, does not contradict it, and of some values it says nothing.
            if other == ORACLE:
                if one in self.near_oracle or one not in self.fine:
                    disagree[one, other] = not self.near_oracle.get(one, True)
            elif (one, other) in self.comparisons:
                disagree[one, other] = self.comparisons[one, other].verdict == "differs"
            else:
                disagree[one, other] = self.results[one].outcome != self.results[other].outcome
        return disagree

    def are_one(self, one: str, other: str) -> bool:
        """Whether two parties give one answer: a report needs to show one of them.

        No element of theirs differs by more than its noise. What a scenario's tolerances allow to differ is
        one answer only where it reads alike. Errors are one answer where their texts are.
        """
        result, another = self.results[one], self.results[other]
        if result.outcome != another.outcome:
            return False
        if result.outcome != "ok":
            return _error(result) == _error(another)
        if self.comparisons[one, other].verdict == "differs":
            return False
        return (one, other) not in self.allowed or self.read_alike(one, other)

    def begin_alike(self, one: str, other: str) -> bool:
        """Whether two values nest alike, and their tensors begin with the same digits; but what is drawn."""
        if not self.fine.keys() >= {one, other}:
            return False
        read = []
        for result in (self.fine[one], self.fine[other]):
            arrays = [(leaf.name, unpack(leaf.value)) for leaf in result.leaves]
            shown = ["" if name in self.drawn else digits(it) for name, it in arrays]
            read.append(fill(result.structure, tuple(shown)))
        return read[0] == read[1]

    def read_alike(self, one: str, other: str) -> bool:
        """Whether two values differ in no digit that a report shows."""
        if not self.begin_alike(one, other):
            return False
        # Where the noise of one was not measured, that of another stands for it.
        measured = next(filter(None, self._noise.values()), NOT_MEASURED)
        noises = [self._noise[name] or measured for name in (one, other)]
        for leaves in zip(self.fine[one].leaves, self.fine[other].leaves, strict=True):
            if leaves[0].name in self.drawn:
                continue
            size, values = 0.0, []
            for leaf, noise in zip(leaves, noises, strict=True):
                array = real_parts(unpack(leaf.value)).astype("float64")
                size = max(size, scale(array, moved(noise, leaf.name, array)))
                values.append(array)
            if Sameness(READABLE * size, share=0.0).apart(*values) is None:
                return False
        return True


def _error(result: Result) -> tuple[str | int | None, ...]:
    """What an error says, without the user's line."""
    error = result.error
    if error is None:
        return ()
    if error.loss:
        return (error.type, error.loss.kind, error.loss.code, one_line(error.loss.output))
    if error.kind:
        # A framework words it differently on a tape and in a graph.
        return (error.type, error.kind, *error.details)
    return (error.type, one_line(error.message), error.left_out)


# Whom central differences of a net can judge


def apart_from(framework: Framework, forwards: Mapping[str, ResultNoise]) -> frozenset[Framework]:
    """The frameworks whose nets return other values than that of one, by more than their noise."""
    by_framework = {engine_named(name).framework: noise for name, noise in forwards.items()}
    own = by_framework.pop(framework, ResultNoise())
    apart = set()
    for name, other in by_framework.items():
        if len(own.outputs) == len(other.outputs):
            noise = movements(own), movements(other)
            compared = by_leaf(own.outputs, other.outputs, noise=noise)
            for one, another, it in zip(own.outputs, other.outputs, compared, strict=True):
                is_drawn = one.name in own.drawn or another.name in other.drawn
                if it.verdict == "differs" and not is_drawn:
                    apart.add(name)
    return frozenset(apart)


def not_finite_alike(fine: Mapping[str, Result], names: Collection[str]) -> Elements:
    """The elements of gradients that are the same infinity or nan in every engine, by gradient.

    Of ``names`` alone; none where fewer than two engines answered.
    """
    if len(fine) < 2:
        return {}
    alike = {}
    first, *others = ({leaf.name: unpack(leaf.value) for leaf in it.leaves} for it in fine.values())
    for name in (it for it in first if it in names):
        values = first[name]
        counted = ~np.isfinite(values)
        for other in (it.get(name) for it in others):
            if other is None or other.shape != values.shape:
                counted = np.zeros(values.shape, bool)
            else:
                counted = counted & are_equal(values, other)
        if counted.any():
            alike[name] = counted
    return alike


# Groups of equal answers


def answer_groups(answers: Answers) -> tuple[AnswerGroup, ...]:
    """The distinct answers to a case, in the order of the engines."""
    members: list[list[str]] = []
    for name, result in answers.results.items():
        if result.outcome in ANSWERED:
            # With each of the others, not with the first alone: nearness is not transitive.
            alike = (it for it in members if all(answers.are_one(other, name) for other in it))
            group = next(alike, None)
            if group is None:
                group = []
                members.append(group)
            group.append(name)

    marks: list[list[Difference]] = [[] for _ in members]
    for (place, one), (_, other) in combinations(enumerate(members), 2):
        if answers.begin_alike(one[0], other[0]):
            compared = worst(answers.comparisons[pair] for pair in product(one, other))
            marks[place] += [compared.greatest] if compared.greatest else []
    # Where the oracle refutes a group most.
    refuted = [(it, place) for place, one in enumerate(members) for it in answers.refuted(one[0])]
    if refuted:
        mark, place = max(refuted, key=lambda found: found[0].ratio)
        marks[place].append(mark)

    groups = []
    for engines, own_marks in zip(members, marks, strict=True):
        # None where the oracle judges none of them; it agrees where it confirms each that it judges.
        verdicts = {name: answers.near_oracle.get(name) for name in engines}
        judged = [it for it in verdicts.values() if it is not None]
        is_refuted = not all(judged)
        confirmed = tuple(name for name, it in verdicts.items() if is_refuted and it)
        unjudged = tuple(name for name, it in verdicts.items() if is_refuted and it is None)
        spread = None
        if engines[0] in answers.fine:
            pairs = [pair for pair in combinations(engines, 2) if not answers.read_alike(*pair)]
            spread = worst(answers.comparisons[pair] for pair in pairs).greatest
        agrees, marked = not is_refuted if judged else None, tuple(own_marks)
        groups.append(AnswerGroup(tuple(engines), agrees, marked, confirmed, spread, unjudged))
    return tuple(groups)


# What calls leave in the state of a net


def state_rows(state: Mapping[str, Sequence[StateChange]]) -> tuple[StateRow, ...]:
    """A row for each tensor that some engine changes; ``state`` has the changes by engine."""
    by_name: dict[str, dict[str, StateChange]] = {}
    for engine, changes in state.items():
        for change in changes:
            by_name.setdefault(change.name, {})[engine] = change
    rows = []
    for name, of_engines in by_name.items():
        before = next(iter(of_engines.values())).before
        frameworks = {engine_named(engine).framework for engine in of_engines}
        absent = tuple(it for it in state if engine_named(it).framework not in frameworks)
        groups: list[StateGroup] = []
        for engine in (it for it in state if it not in absent):
            after = of_engines[engine].after if engine in of_engines else before
            # The group of engines that leave the same, or one of its own.
            for place, group in enumerate(groups):
                arrays = unpack(group.after), unpack(after)
                is_shaped = arrays[0].shape == arrays[1].shape
                if is_shaped and any(in_tables(*arrays, group.after.dtype)):
                    groups[place] = StateGroup((*group.engines, engine), group.after)
                    break
            else:
                groups.append(StateGroup((engine,), after))
        rows.append(StateRow(name, before, tuple(groups), absent))
    return tuple(rows)
