"""What the measurements of a claim gave, as short tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.blocks.records import Block, Paragraph, Section, Table, columns
from explorer.model.claim import Board, ClaimRow
from explorer.model.measurement import Measured
from explorer.text.language import _
from explorer.text.messages import shortened
from explorer.topics.question import PARTIES
from explorer.words.answers import OUTCOMES
from explorer.words.lists import listed
from explorer.words.parties import party_names

FIRST_NUMBERS = 4
"""The number of elements that are shown of an array."""

MOST_ROWS = 12
"""The greatest number of rows of one measurement."""

MOST_SECTIONS = 12
"""The greatest number of measurements that differ."""

WIDTH = 100
"""The greatest number of characters of one value."""

PROGRAM = "code"
"""The figure that is a program: it is shown among the programs."""


def measurements(board: Board, row: ClaimRow) -> Iterator[Block]:
    """The figures of each measurement of a claim; those with the same figures once."""
    text = _("In short; `python -m explorer claims {number} --json` prints all figures.")
    yield Paragraph(text.format(number=row.id), "faint")
    names_by_rows: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for name in row.measured:
        measured = board.measured[name]
        result = (measured.outcome, tuple(_rows(measured)))
        names_by_rows.setdefault(result, []).append(name)
    results = list(names_by_rows.items())
    for (outcome, rows), names in results[:MOST_SECTIONS]:
        shown = rows[:MOST_ROWS]
        blocks: list[Block] = []
        if shown:
            blocks.append(Table(columns(("", "")), shown, has_head=False))
        blocks += _others(rows, MOST_ROWS)
        title = _heading(names)
        if outcome != "ok":
            title = _("{what}: {values}").format(what=title, values=_(OUTCOMES[outcome]))
        yield Section(title, tuple(blocks), 3)

    yield from _others(results, MOST_SECTIONS)


def _others(all_of_them: Sequence[object], shown: int) -> Iterator[Paragraph]:
    """How many are not shown, where there are any."""
    if len(all_of_them) > shown:
        text = _("and {n} more")
        yield Paragraph(text.format(n=len(all_of_them) - shown), "faint")


def _heading(names: list[str]) -> str:
    """Names of measurements, and those that were measured: "training.loop (PyTorch)"."""
    questions: dict[str, None] = {}
    parties: dict[str, None] = {}
    for name in names:
        question, _dot, party = name.rpartition(".")
        questions[question or name] = None
        if party in PARTIES:
            parties[party] = None
    what = listed(list(questions), ",")
    if not parties:
        return what
    return _("{title} ({who})").format(title=what, who=party_names(parties))


def _rows(measured: Measured) -> Iterator[tuple[str, str]]:
    """Each figure by its path, in short."""
    for name, value in measured.figures.items():
        if name != PROGRAM:
            yield from _rows_of(name, value)


def _rows_of(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping) or not value:
        yield name, shortened(_value(value), WIDTH)
        return
    for key, part in value.items():
        yield from _rows_of(f"{name}, {key}", part)


def _value(value: Any) -> str:
    """A figure in short: an array as its shape and first numbers."""
    if isinstance(value, Mapping):
        return ", ".join(map(str, value)) or "—"
    if not isinstance(value, list):
        return _scalar(value)
    if value and isinstance(value[0], Mapping):
        text = _("{n} records of {names}")
        return text.format(n=len(value), names=_value(value[0]))
    elements = list(_elements(value))
    shown = ", ".join(map(_scalar, elements[:FIRST_NUMBERS]))
    if len(elements) <= FIRST_NUMBERS and len(elements) == len(value):
        return f"[{shown}]"
    if len(elements) > FIRST_NUMBERS:
        shown += ", …"
    lengths = _shape(value)
    if math.prod(lengths) != len(elements):
        lengths = [len(elements)]
    shape = " × ".join(map(str, lengths))
    return _("{shape} values: {values}").format(shape=shape, values=shown)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None:
        return "—"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _elements(value: list[Any]) -> Iterator[Any]:
    """The elements of a nested list, in order."""
    for part in value:
        if isinstance(part, list):
            yield from _elements(part)
        else:
            yield part


def _shape(value: Any) -> list[int]:
    """The lengths of nested lists, of which each first one stands for the others."""
    shape: list[int] = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0] if value else None
    return shape
