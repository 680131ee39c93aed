"""The distinct answers to a case in words, each with the engines that give it, no two alike."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from explorer.model.arrays import Array, element
from explorer.model.engines import FRAMEWORK_LABELS, engine_named
from explorer.model.report import ORACLE, AnswerGroup, CaseReport, Difference
from explorer.model.results import OracleResult, Result
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.numbers import FEW, SHOWN, digits
from explorer.words import answers
from explorer.words.cases import judged_by_oracle, place, size

PRECISIONS = (FEW, answers.MANY, 17)
"""Significant digits of values, of which a report takes the fewest that tell answers apart.

17 tell any two float64 apart.
"""


MOST_TENSORS = 6
"""The greatest number of tensors whose elements are shown; of more, only what tells answers apart."""


class WordedAnswer(NamedTuple):
    """One answer in words, and who gives it."""

    engines: tuple[str, ...]
    text: str


def worded_answers(report: CaseReport) -> list[WordedAnswer]:
    """The distinct answers to a case that can be told apart, that of the oracle last where it disagrees.

    A tensor is shown by its first elements. Where these do not tell two answers apart, each also
    says what does: an element with its index, a shape or a dtype. Of many tensors that alone is
    shown.
    """
    marks = _marks(report.groups)
    worded: list[WordedAnswer] = []
    for precision in PRECISIONS:
        worded = [_worded(report, group, marks, precision) for group in report.groups]
        told = [answer.text for answer in worded if answer.text]
        if len(set(told)) == len(told):
            break
    if report.oracle_agrees is False:
        for oracle in _refuting(report):
            worded.append(WordedAnswer((ORACLE,), _estimates(report, oracle, marks)))
    return [answer for answer in worded if answer.text]


def _marks(groups: Sequence[AnswerGroup]) -> tuple[Difference, ...]:
    """The marks of all groups, each place once, those that differ from the oracle last."""
    marks: dict[tuple[str, str, tuple[int, ...]], Difference] = {}
    differences = [mark for group in groups for mark in group.marks]
    for mark in sorted(differences, key=lambda mark: ORACLE in mark.engines):
        marks.setdefault((mark.what, mark.leaf, mark.index), mark)
    return tuple(marks.values())


def _worded(
    report: CaseReport, group: AnswerGroup, marks: Sequence[Difference], precision: int
) -> WordedAnswer:
    result = report.results[group.engines[0]]
    if result.outcome != "ok":
        return WordedAnswer(group.engines, answers.answer(result))
    if len(result.leaves) <= MOST_TENSORS:
        text = answers.answer(result, precision, report.drawn) + _spread(group)
        details = _with([_marked(result, mark, precision, SHOWN) for mark in marks])
        return WordedAnswer(group.engines, text + details)
    details = _with([_marked(result, mark, precision, 0) for mark in marks])
    if not details and report.verdict != "some_raise":
        return WordedAnswer(group.engines, "")  # a number of tensors tells nothing apart
    text = _("{n} tensors").format(n=len(result.leaves)) + _spread(group)
    return WordedAnswer(group.engines, text + details)


def _spread(group: AnswerGroup) -> str:
    """How far the others of a group are from the values that are shown, where these do not read alike."""
    if group.spread is None:
        return ""
    text = _(" in {engine}, within the group up to {size} apart at {place}")
    where = place(group.spread.leaf, group.spread.index)
    return clean(text.format(engine=group.engines[0], size=size(group.spread), place=where))


def _with(details: Sequence[str]) -> str:
    """What is said behind the first elements of an answer."""
    known = list(dict.fromkeys(detail for detail in details if detail))
    return _(", with {details}").format(details=_(" and ").join(known)) if known else ""


def _marked(result: Result, mark: Difference, precision: int, shown: int) -> str:
    """What an answer has at the place of a difference; "" where all elements are ``shown``."""
    if mark.what == "structure":
        return clean(_("the structure {structure}").format(structure=result.written))
    for leaf in result.leaves:
        if leaf.name == mark.leaf and mark.what == "dtype":
            return clean(_("{leaf} in {dtype}").format(leaf=leaf.name, dtype=leaf.value.dtype))
        if leaf.name == mark.leaf and mark.what == "shape":
            return clean(
                _("{leaf} of shape {shape}").format(leaf=leaf.name, shape=leaf.value.shape)
            )
        if leaf.name == mark.leaf and mark.what == "value":
            return _element(leaf.name, leaf.value, mark, precision, shown)
    return ""


def _element(name: str, array: Array, mark: Difference, precision: int, shown: int) -> str:
    """The element of an array at the place of a difference; "" where all elements are ``shown``."""
    if array.size <= shown:
        return ""
    # A complex number has one index more, that of its part.
    index = mark.index[: len(array.shape)]
    number = element(array, index)
    if number is None:
        return ""
    return clean(f"{place(name, index)} = {digits(np.asarray(number), precision=precision)}")


def _refuting(report: CaseReport) -> list[OracleResult]:
    """The oracle's answers that judge an engine which is refuted: by its own net, else by the first."""
    own = {oracle.framework: oracle for oracle in (report.oracle, *report.oracle.beside)}
    found = {}
    for name in judged_by_oracle(report)[1]:
        oracle = own.get(engine_named(name).framework, report.oracle)
        found[oracle.framework] = oracle
    return list(found.values())


def _estimates(report: CaseReport, oracle: OracleResult, marks: Sequence[Difference]) -> str:
    whose = ""
    if report.oracle.beside:
        whose = _("of {framework}'s net: ").format(framework=FRAMEWORK_LABELS[oracle.framework])
    is_many = len(oracle.estimates) > MOST_TENSORS
    shown = 0 if is_many else SHOWN
    details = []
    for estimate in oracle.estimates:
        for mark in marks:
            is_there = mark.what == "value" and mark.leaf == estimate.name
            if is_there and not estimate.directions:
                details.append(_element(estimate.name, estimate.value, mark, FEW, shown))
    if is_many:
        text = _("{n} estimates").format(n=len(oracle.estimates))
        return whose + text + _with(details) if any(details) else ""
    return whose + answers.estimates(oracle) + _with(details)
