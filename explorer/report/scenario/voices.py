"""The distinct answers to a case, each with the engines that give it, told so that no two read alike."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from explorer.compare.noise import scale
from explorer.compare.results import compare
from explorer.model.arrays import AnyArray, unpack
from explorer.model.report import ORACLE, CaseReport, Difference
from explorer.model.results import ANSWERED, Estimate, Leaf, Result
from explorer.numeric.complex_parts import real_parts
from explorer.numeric.differences import elementwise_difference
from explorer.report.scenario import wording
from explorer.text.clean import clean
from explorer.text.numbers import SHOWN, digits
from explorer.words.cases import place

PRECISIONS = (wording.FEW, wording.MANY, 17)
"""Significant digits of values, of which a report takes the fewest that tell answers apart.

17 tell any two float64 apart.
"""

READABLE = 10.0 ** (1 - wording.FEW)
"""The share of a tensor's scale from which on a difference shows in FEW digits."""

Group = list[str]
"""The engines that give one answer."""


class Voice(NamedTuple):
    """One answer in words, and who gives it."""

    engines: tuple[str, ...]
    text: str


def voices(report: CaseReport) -> list[Voice]:
    """The distinct answers to a case, that of the oracle last where it disagrees.

    A tensor is shown by its first elements. Where these do not tell two answers apart, each also
    says what does: an element with its index, a shape or a dtype.
    """
    groups = _groups(report)
    marks = _marks(report, groups)
    told: list[Voice] = []
    for precision in PRECISIONS:
        told = [_told(report, group, marks, precision) for group in groups]
        if len({voice.text for voice in told}) == len(told):
            break
    if report.oracle_agrees is False:
        told.append(Voice((ORACLE,), _estimates(report, marks)))
    return told


def _told(report: CaseReport, group: Group, marks: Sequence[Difference], precision: int) -> Voice:
    result = report.results[group[0]]
    text = wording.answer(result, precision, report.drawn)
    if result.outcome == "ok":
        text += _with([_marked(result, mark, precision) for mark in marks])
    return Voice(tuple(group), text)


def _with(details: Sequence[str]) -> str:
    """What is said behind the first elements of an answer."""
    known = list(dict.fromkeys(detail for detail in details if detail))
    return f", with {' and '.join(known)}" if known else ""


# Who gives one answer


def _groups(report: CaseReport) -> list[Group]:
    """The engines that answered, those with the same answer together."""
    groups: list[Group] = []
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
    """Whether two engines give what reads alike in every element, and no verdict parts them."""
    if (one, other) in report.apart or (other, one) in report.apart:
        return False
    result, another = report.results[one], report.results[other]
    if wording.answer(result, drawn=report.drawn) != wording.answer(another, drawn=report.drawn):
        return False
    for leaf, other_leaf in zip(result.leaves, another.leaves, strict=True):
        if leaf.name not in report.drawn and not _reads_alike(leaf, other_leaf):
            return False
    return True


def _reads_alike(leaf: Leaf, other: Leaf) -> bool:
    if (leaf.value.shape, leaf.value.dtype) != (other.value.shape, other.value.dtype):
        return False
    one, another = _floats(unpack(leaf.value)), _floats(unpack(other.value))
    room = READABLE * max(scale(one), scale(another))
    return bool((elementwise_difference(one, another) <= room).all())


def _floats(array: AnyArray) -> AnyArray:
    return real_parts(array).astype(np.float64)


# What tells answers apart that read alike


def _marks(report: CaseReport, groups: Sequence[Group]) -> tuple[Difference, ...]:
    """The differences that the first elements of answers do not show."""
    marks: dict[tuple[str, str, tuple[int, ...]], Difference] = {}
    for difference in (*_between_groups(report, groups), *_to_the_oracle(report, groups)):
        marks.setdefault((difference.what, difference.leaf, difference.index), difference)
    return tuple(marks.values())


def _between_groups(report: CaseReport, groups: Sequence[Group]) -> Iterator[Difference]:
    for one, other in combinations(groups, 2):
        result, another = report.results[one[0]], report.results[other[0]]
        if wording.answer(result, drawn=report.drawn) != wording.answer(
            another, drawn=report.drawn
        ):
            continue
        difference = report.greatest
        if difference is None or not _is_between(difference, one, other):
            difference = compare(result, another, drawn=report.drawn).greatest
        if difference is not None:
            yield difference


def _is_between(difference: Difference, one: Group, other: Group) -> bool:
    first, second = difference.engines
    return (first in one and second in other) or (first in other and second in one)


def _to_the_oracle(report: CaseReport, groups: Sequence[Group]) -> Iterator[Difference]:
    """The element in which engines and oracle differ most, where the first ones read alike."""
    if report.oracle_agrees is not False:
        return
    greatest: Difference | None = None
    for estimate in report.oracle.estimates:
        for group in groups:
            for leaf in report.results[group[0]].leaves:
                if leaf.name in report.drawn or not _is_estimate_of(estimate, leaf):
                    continue
                difference = _beside(estimate, leaf, group[0])
                if not difference or not difference.abs:
                    continue
                if greatest is None or difference.rel > greatest.rel:
                    greatest = difference
    if greatest:
        yield greatest


def _is_estimate_of(estimate: Estimate, leaf: Leaf) -> bool:
    """Whether an estimate is that of a leaf, element by element."""
    is_elementwise = not estimate.directions and not estimate.together
    return (
        is_elementwise and estimate.name == leaf.name and estimate.value.shape == leaf.value.shape
    )


def _beside(estimate: Estimate, leaf: Leaf, engine: str) -> Difference | None:
    """The greatest difference to an estimate that reads alike, ``rel`` a share of its scale."""
    estimated, gradient = unpack(estimate.value), unpack(leaf.value)
    if not _is_cut(leaf) or digits(estimated) != digits(gradient):
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


def _marked(result: Result, mark: Difference, precision: int) -> str:
    """What an answer has at the place of a difference; "" where its elements are all shown."""
    if mark.what == "structure":
        return clean(f"the structure {result.written}")
    for leaf in result.leaves:
        if leaf.name == mark.leaf and mark.what == "dtype":
            return clean(f"{leaf.name} in {leaf.value.dtype}")
        if leaf.name == mark.leaf and mark.what == "shape":
            return clean(f"{leaf.name} of shape {leaf.value.shape}")
        if leaf.name == mark.leaf and mark.what == "value" and _is_cut(leaf):
            return _element(leaf.name, unpack(leaf.value), mark, precision)
    return ""


def _is_cut(leaf: Leaf) -> bool:
    return unpack(leaf.value).size > SHOWN


def _element(name: str, array: AnyArray, mark: Difference, precision: int) -> str:
    # A complex number has one index more, that of its part.
    index = mark.index[: array.ndim]
    element = digits(np.asarray(array[index]), precision=precision)
    return clean(f"{place(name, index)} = {element}")


def _estimates(report: CaseReport, marks: Sequence[Difference]) -> str:
    details = []
    for estimate in report.oracle.estimates:
        for mark in marks:
            is_there = mark.what == "value" and mark.leaf == estimate.name
            array = unpack(estimate.value)
            if is_there and not estimate.directions and array.size > SHOWN:
                details.append(_element(estimate.name, array, mark, wording.FEW))
    return wording.estimates(report.oracle) + _with(details)
