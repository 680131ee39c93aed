"""What the measurements of a claim gave, as short tables."""

import math
from collections.abc import Iterator, Mapping
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
    for (outcome, rows), names in names_by_rows.items():
        shown = rows[:MOST_ROWS]
        blocks: list[Block] = []
        if shown:
            blocks.append(Table(columns(("", "")), shown, has_head=False))
        if len(rows) > len(shown):
            text = _("and {n} more")
            blocks.append(Paragraph(text.format(n=len(rows) - len(shown)), "faint"))
        title = _heading(names)
        if outcome != "ok":
            title = _("{what}: {values}").format(what=title, values=_(OUTCOMES[outcome]))
        yield Section(title, tuple(blocks), 3)


def _heading(names: list[str]) -> str:
    """Names of measurements, and those that were measured: "training.loop (PyTorch)"."""
    questions: dict[str, None] = {}
    parties: dict[str, None] = {}
    for name in names:
        question, _dot, party = name.rpartition(".")
        questions[question or name] = None
        parties[party] = None
    what = listed(list(questions), ",")
    who = party_names(party for party in parties if party in PARTIES)
    return _("{title} ({who})").format(title=what, who=who) if who else what


def _rows(measured: Measured) -> Iterator[tuple[str, str]]:
    """Each figure by its path, in short."""
    figures = {name: value for name, value in measured.figures.items() if name != PROGRAM}
    # Not by recursion on lists: those that hold records are summed up in one row.
    waiting = list(figures.items())
    while waiting:
        name, value = waiting.pop(0)
        if isinstance(value, Mapping) and value:
            inner = [(f"{name}, {key}", part) for key, part in value.items()]
            waiting = inner + waiting
        else:
            yield name, shortened(_value(value), WIDTH)


def _value(value: Any) -> str:
    """A figure in short: an array as its shape and first numbers."""
    if isinstance(value, Mapping):
        return ", ".join(map(str, value)) or "—"
    if not isinstance(value, list):
        return _scalar(value)
    if any(isinstance(part, Mapping) for part in value):
        text = _("{n} records of {names}")
        return text.format(n=len(value), names=_value(value[0]))
    elements = list(_elements(value))
    shown = ", ".join(map(_scalar, elements[:FIRST_NUMBERS]))
    if len(elements) <= FIRST_NUMBERS and len(elements) == len(value):
        return f"[{shown}]"
    more = ", …" if len(elements) > FIRST_NUMBERS else ""
    lengths = _shape(value)
    if math.prod(lengths) != len(elements):
        lengths = [len(elements)]
    shape = " × ".join(map(str, lengths))
    return _("{shape} values: {values}").format(shape=shape, values=shown + more)


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
