"""The distinct answers to a case: the engines that give each, and what tells two of them apart."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from explorer.compare.noise import scale
from explorer.compare.results import compare
from explorer.model.arrays import AnyArray, unpack
from explorer.model.report import ORACLE, AnswerGroup, CaseReport, Difference
from explorer.model.results import ANSWERED, Estimate, Leaf, Result
from explorer.model.trees import Nested, fill
from explorer.numeric.complex_parts import real_parts
from explorer.numeric.differences import elementwise_difference
from explorer.text.messages import one_line
from explorer.text.numbers import FEW, SHOWN, digits

READABLE = 10.0 ** (1 - FEW)
"""The share of a tensor's scale from which on a difference shows in FEW digits."""


def with_groups(report: CaseReport, near_oracle: Mapping[str, bool]) -> CaseReport:
    """A case with its distinct answers, given which engines the oracle confirms."""
    members = _members(report)
    marks: list[list[Difference]] = [[] for _ in members]
    for (place, one), (_, other) in combinations(enumerate(members), 2):
        marks[place] += _between(report, one, other)
    refuted = _to_the_oracle(report, members)
    if refuted:
        place, difference = refuted
        marks[place].append(difference)

    groups = []
    for engines, differences in zip(members, marks, strict=True):
        near = [near_oracle[name] for name in engines if name in near_oracle]
        agrees = all(near) if near else None
        groups.append(AnswerGroup(tuple(engines), agrees, tuple(differences)))
    return msgspec.structs.replace(report, groups=tuple(groups))


# Who gives one answer


def _members(report: CaseReport) -> list[list[str]]:
    """The engines that answered, those with the same answer together."""
    groups: list[list[str]] = []
    for name, result in report.results.items():
        if result.outcome not in ANSWERED:
            continue
        # With each of the others, not with the first alone: nearness is not transitive.
        for group in groups:
            if all(_is_one_answer(report, other, name) for other in group):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def _is_one_answer(report: CaseReport, one: str, other: str) -> bool:
    """Whether two engines give what reads alike in every element, and do not differ."""
    if (one, other) in report.apart or (other, one) in report.apart:
        return False
    result, another = report.results[one], report.results[other]
    if not _begin_alike(result, another, report.drawn):
        return False
    for leaf, other_leaf in zip(result.leaves, another.leaves, strict=True):
        if leaf.name not in report.drawn and not _reads_alike(leaf, other_leaf):
            return False
    return True


def _begin_alike(result: Result, other: Result, drawn: Collection[str]) -> bool:
    """Whether two answers are one error, or nest alike and begin with the same digits."""
    if result.outcome != other.outcome:
        return False
    if result.outcome == "ok":
        return _beginnings(result, drawn) == _beginnings(other, drawn)
    return _error(result) == _error(other)


def _beginnings(result: Result, drawn: Collection[str]) -> "Nested[str]":
    """The first elements of each leaf, nested as the leaves are."""
    beginnings = []
    for leaf in result.leaves:
        beginnings.append("" if leaf.name in drawn else digits(unpack(leaf.value)))
    return fill(result.structure, tuple(beginnings))


def _error(result: Result) -> str:
    return one_line(result.error.text) if result.error else ""


def _reads_alike(leaf: Leaf, other: Leaf) -> bool:
    if (leaf.value.shape, leaf.value.dtype) != (other.value.shape, other.value.dtype):
        return False
    one, another = _floats(unpack(leaf.value)), _floats(unpack(other.value))
    room = READABLE * max(scale(one), scale(another))
    return bool((elementwise_difference(one, another) <= room).all())


def _floats(array: AnyArray) -> AnyArray:
    return real_parts(array).astype(np.float64)


# What tells answers apart that begin alike


def _between(report: CaseReport, one: Sequence[str], other: Sequence[str]) -> Iterator[Difference]:
    """The greatest difference between two groups whose answers begin alike."""
    result, another = report.results[one[0]], report.results[other[0]]
    if not _begin_alike(result, another, report.drawn):
        return
    difference = report.greatest
    if difference is None or not _is_between(difference, one, other):
        difference = compare(result, another, (one[0], other[0]), drawn=report.drawn).greatest
    if difference is not None:
        yield difference


def _is_between(difference: Difference, one: Sequence[str], other: Sequence[str]) -> bool:
    first, second = difference.engines
    return (first in one and second in other) or (first in other and second in one)


def _to_the_oracle(
    report: CaseReport, groups: Sequence[Sequence[str]]
) -> tuple[int, Difference] | None:
    """The element in which engines and oracle differ most, and the group's place.

    It is one of a leaf of which engine and oracle begin alike.
    """
    if report.oracle_agrees is not False:
        return None
    greatest: tuple[int, Difference] | None = None
    for estimate in report.oracle.estimates:
        for place, group in enumerate(groups):
            for leaf in report.results[group[0]].leaves:
                if leaf.name in report.drawn or not _is_estimate_of(estimate, leaf):
                    continue
                difference = _beside(estimate, leaf, group[0])
                if not difference or not difference.abs:
                    continue
                if greatest is None or difference.rel > greatest[1].rel:
                    greatest = place, difference
    return greatest


def _is_estimate_of(estimate: Estimate, leaf: Leaf) -> bool:
    """Whether an estimate is that of a leaf, element by element."""
    is_elementwise = not estimate.directions and not estimate.together
    return (
        is_elementwise and estimate.name == leaf.name and estimate.value.shape == leaf.value.shape
    )


def _beside(estimate: Estimate, leaf: Leaf, engine: str) -> Difference | None:
    """The greatest difference to an estimate that begins alike, ``rel`` a share of its scale."""
    estimated, gradient = unpack(estimate.value), unpack(leaf.value)
    if gradient.size <= SHOWN or digits(estimated) != digits(gradient):
        return None
    one, other = _floats(gradient), _floats(estimated)
    # What is not finite is no estimate.
    apart = np.where(np.isfinite(other), elementwise_difference(one, other), 0.0)
    if estimate.kinks is not None:
        apart = np.maximum(apart - unpack(estimate.kinks), 0.0)  # there both slopes are right
    index = tuple(int(place) for place in np.unravel_index(int(apart.argmax()), apart.shape))
    greatest = float(apart[index])
    share = greatest / (max(scale(one), scale(other)) or 1.0)
    return Difference("value", (engine, ORACLE), greatest, share, leaf.name, index)
