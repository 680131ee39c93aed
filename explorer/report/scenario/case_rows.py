"""The row of a case, what the engines say where they disagree, and an answer as a tree."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from explorer.model.report import ORACLE, CaseReport, CaseVerdict
from explorer.model.results import ANSWERED, Leaf, Result
from explorer.model.trees import Branch, Tree
from explorer.report.wording import NOTHING
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.numbers import counted
from explorer.words import answers, cases
from explorer.words.groups import WordedAnswer, worded_answers

State = Literal["good", "foreseen", "alarm", "idle"]
"""As it should be; different, and the scenario says why; not as expected; nothing to compare."""

COMPARED: tuple[CaseVerdict, ...] = ("match", "close", "differs")
"""Verdicts on cases whose values were compared."""

DIVIDED: tuple[CaseVerdict, ...] = ("differs", "some_raise")
"""Verdicts on cases in which engines say different things."""


BRANCH, LAST_BRANCH = "├─ ", "└─ "
"""What stands before a part that others follow, and before the last one."""

RUNG, GAP = "│  ", "   "
"""What stands before the lines below such a part."""


LONG = 100
"""The length above which an error is shown under one case, to which others refer."""


class Statement(msgspec.Struct, frozen=True):
    """The common answer of some engines, under the row of a case.

    ``who`` is empty for a remark on the whole row, and ``error`` the type of an exception.
    """

    who: str
    text: str
    error: str = ""


class CaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """One case; ``notes`` are numbers of ``Overview.notes``, counted from 1.

    ``greatest`` is the greatest difference with its ratio to the noise, ``size`` its figure alone.
    Where the row ``is_reference``, its value names the case in which the engines say the same.
    """

    call: str
    structure: str
    value: str
    ids: str
    verdict: str
    state: State
    size: str
    greatest: str
    oracle: str
    statements: tuple[Statement, ...] = ()
    notes: tuple[int, ...] = ()
    is_reference: bool = False


def case_row(report: CaseReport) -> CaseRow:
    """The row of a case that stands for itself."""
    return row_among(report, Footnotes())


class Footnotes:
    """Texts that a report shows once and refers to afterwards."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._first_cases: dict[tuple[Statement, ...], str] = {}
        self._errors: dict[str, str] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """The notes, in the order of their numbers."""
        return tuple(self._numbers)

    def number(self, text: str) -> int:
        """The number of a note, counted from 1."""
        return self._numbers.setdefault(text, len(self._numbers) + 1)

    def first_case(self, statements: tuple[Statement, ...], case: str) -> str:
        """The first case in which the engines say this: ``case``, or an earlier one."""
        return self._first_cases.setdefault(statements, case)

    def in_short(self, statement: Statement, case: str) -> Statement:
        """The statement, or of a long error that an earlier case has shown, a reference to that."""
        if not statement.error or len(statement.text) <= LONG:
            return statement
        first = self._errors.setdefault(statement.text, case)
        if first == case:
            return statement
        text = _("{error}, as in {case}").format(error=statement.error, case=first)
        return msgspec.structs.replace(statement, text=text)


def row_among(report: CaseReport, footnotes: Footnotes) -> CaseRow:
    """The row of a case among those of a whole report, whose ``footnotes`` it shares."""
    statements = tuple(_statements(report))
    value, structure = "", ""
    is_reference = False
    result = _first_value(report)
    if result:
        structure = clean(result.written)
        if report.verdict not in DIVIDED:
            value = answers.value(result, drawn=report.drawn)
    # Many cases fail or differ in one way: all but the first refer to it.
    if statements and not value:
        case = clean(report.case.short)
        first = footnotes.first_case(statements, case)
        if first != case:
            statements, value = (), _("as {case}").format(case=first)
            is_reference = True
    short = clean(report.case.short)
    statements = tuple(footnotes.in_short(statement, short) for statement in statements)

    size, greatest = cases.size(report.greatest), cases.greatest(report.greatest)
    if report.verdict not in COMPARED:
        size = greatest = NOTHING
    notes = {footnotes.number(remark) for remark in _remarks(report)}
    return CaseRow(
        call=clean(answers.call(report.case)),
        structure=structure,
        value=value,
        is_reference=is_reference,
        ids=clean(", ".join(_ids(report))),
        verdict=cases.verdict(report),
        state=_state(report),
        size=size,
        greatest=greatest,
        oracle=cases.oracle(report) or NOTHING,
        statements=statements,
        notes=tuple(sorted(notes)),
    )


def _first_value(report: CaseReport) -> Result | None:
    for result in report.results.values():
        if result.outcome == "ok":
            return result
    return None


def _ids(report: CaseReport) -> tuple[str, ...]:
    for result in report.results.values():
        if result.ids:
            return result.ids
    return ()


def _state(report: CaseReport) -> State:
    if not report.expected:
        return "alarm"
    if report.verdict in ("not_compared", "drawn"):
        return "idle"
    if report.verdict in DIVIDED or report.oracle_agrees is False:
        return "foreseen"
    return "good"


def _statements(report: CaseReport) -> list[Statement]:
    """The answers of a case in which engines, or engines and the oracle, disagree."""
    statements: list[Statement] = []
    refuted = report.oracle_agrees is False
    if refuted or report.verdict in (*DIVIDED, "all_raise"):
        for answer in worded_answers(report):
            error = _error(report, answer.engines[0])
            statements.append(Statement(_who(report, answer), answer.text, error))

    difference = report.greatest
    if difference and report.verdict == "differs":
        # An expected difference of values shows in the values themselves.
        shows_itself = difference.what == "value" and report.expected
        if not shows_itself:
            statements.append(Statement("", cases.described(difference)))
    return statements


def _error(report: CaseReport, engine: str) -> str:
    """The type of the error that an engine raised; "" where it raised none."""
    result = report.results.get(engine)
    return result.error.type if result and result.error else ""


def _who(report: CaseReport, answer: WordedAnswer) -> str:
    """Those who give an answer, in few words."""
    if ORACLE in answer.engines:
        return _(ORACLE)
    outcomes = {name: result.outcome for name, result in report.results.items()}
    defined = tuple(name for name, outcome in outcomes.items() if outcome != "not_defined")
    return cases.who(answer.engines, defined)


def _remarks(report: CaseReport) -> Iterator[str]:
    """The footnotes of a case: why a difference is expected or not, and who could not answer."""
    reason = clean(cases.reason(report))
    if reason:
        yield reason if report.expected else _("not as expected: {reason}").format(reason=reason)
    if report.drawn:
        yield _(answers.ABOUT_DRAWS)
    # What a framework raised stands under the case; a footnote is for engines without an answer.
    for name, result in report.results.items():
        if result.outcome not in (*ANSWERED, "not_defined"):
            yield f"{name} {answers.answer(result)}"


def structure_tree(result: Result) -> str:
    """The tree of an answer with the shape and the dtype of each tensor.

    A tuple of one tensor and a bare tensor, which read alike in a hurry, look different in it.
    """
    leaves = iter(result.leaves)
    return "\n".join(_tree_lines(result.structure, leaves, "", ""))


def _tree_lines(tree: Tree, leaves: Iterator[Leaf], first: str, below: str) -> Iterator[str]:
    """The lines of a part: ``first`` stands before its own line, ``below`` before those under it."""
    if not isinstance(tree, Branch):
        yield first + _tensor(tree, leaves)
        return
    yield f"{first}{clean(tree.kind)} of {counted(len(tree.parts), 'part')}"
    for place, part in enumerate(tree.parts):
        is_last = place == len(tree.parts) - 1
        key = f"{clean(tree.keys[place])}: " if tree.keys else ""
        sign, further = (LAST_BRANCH, GAP) if is_last else (BRANCH, RUNG)
        yield from _tree_lines(part, leaves, below + sign + key, below + further)


def _tensor(name: str | None, leaves: Iterator[Leaf]) -> str:
    if name is None:
        return "None"
    leaf = next(leaves, None)
    if leaf is None:
        return clean(name)
    shape = "×".join(map(str, leaf.value.shape)) or "scalar"
    return f"{clean(name)}  {shape} {leaf.value.dtype}"
