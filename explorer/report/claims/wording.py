"""The words of a board of claims: verdicts, counts, headings, and evidence as a table."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import msgspec

from explorer.blocks.records import Column, Table, table
from explorer.model.claim import CLAIM_VERDICTS, HEADINGS, Board, ClaimRow, ClaimVerdict
from explorer.text.language import _, later, shipped
from explorer.text.messages import one_line, shortened
from explorer.words.claims import MEANINGS, observations_text, what_text
from explorer.words.messages import DOMAIN, text
from explorer.words.parties import party_names

NOT_RUN = later("not run")

COUNT_FORMS: dict[ClaimVerdict | None, tuple[str, str]] = {
    "holds": (later("{count} holds"), later("{count} hold")),
    "holds_with_changes": (
        later("{count} holds with changes"),
        later("{count} hold with changes"),
    ),
    "outdated": (later("{count} is outdated"), later("{count} are outdated")),
    "does_not_hold": (later("{count} does not hold"), later("{count} do not hold")),
    "depends_on_style": (
        later("{count} depends on the style"),
        later("{count} depend on the style"),
    ),
    "not_checkable_here": (
        later("{count} cannot be checked here"),
        later("{count} cannot be checked here"),
    ),
    "not_runnable_here": (
        later("{count} cannot be run here"),
        later("{count} cannot be run here"),
    ),
    "not_judged": (later("{count} is not judged"), later("{count} are not judged")),
    None: (later("{count} was not run"), later("{count} were not run")),
}
"""How many claims have a verdict: of one, and of several."""

PAGE_TITLE = later("What the migration guides say, checked")

COLUMNS = (
    later("what was measured"),
    later("who"),
    later("result"),
    later("as stated"),
)
"""The names of the columns."""

ANSWERS: dict[bool | None, str] = {True: later("yes"), False: later("no"), None: ""}
"""What the last column says: nothing where the statement says nothing."""

AS_STATED = later("every result that the statement speaks of is as stated")
"""Why a claim holds."""

NOT_AS_STATED = later("Not as stated: {what}")

LENGTH = 200
"""The number of characters of the first observation that is not as stated."""


def board_as_read(board: Board) -> Board:
    """The board with what its claims say in the reader's language."""
    return msgspec.structs.replace(board, rows=tuple(map(row_as_read, board.rows)))


def row_as_read(row: ClaimRow) -> ClaimRow:
    """A row with its statement in the reader's language."""
    return msgspec.structs.replace(
        row, statement=shipped(row.statement, DOMAIN), would=shipped(row.would, DOMAIN)
    )


def rows_by_heading(board: Board) -> Iterator[tuple[str, list[ClaimRow]]]:
    """The rows under their headings, in the order of HEADINGS."""
    # groupby joins neighbours alone, so the rows are sorted by what they are grouped by.
    ordered = sorted(board.rows, key=lambda row: (HEADINGS.index(row.heading), row.id))
    for heading, rows in groupby(ordered, key=lambda row: row.heading):
        yield heading, list(rows)


def title(heading: str) -> str:
    """A heading as a page has it, with a capital letter."""
    # Not str.capitalize, which would make small letters of all others: MindSpore, API.
    return heading[:1].upper() + heading[1:]


def verdict_name(verdict: str | None) -> str:
    """A verdict as a reader has it: "holds with changes", or "not run"."""
    return verdict.replace("_", " ") if verdict else NOT_RUN


def source(guide: str, row: ClaimRow) -> str:
    """A guide, and the section of it that the statement of a row stands in, where it is known."""
    section = row.sections.get(guide)
    text = _('{guide}, "{section}"')
    return text.format(guide=guide, section=section) if section else guide


def counts(board: Board) -> str:
    """The number of rows with each verdict: "61 claims: 40 hold, 9 hold with changes, …"."""
    by_verdict = Counter(row.verdict for row in board.rows)
    parts = []
    for verdict in (*CLAIM_VERDICTS, None):
        number = by_verdict[verdict]
        if number:
            parts.append(_(count_form(number, verdict)).format(count=number))
    text = _("1 claim: {counts}") if len(board.rows) == 1 else _("{n} claims: {counts}")
    return text.format(n=len(board.rows), counts=_(", ").join(parts))


def count_form(count: int, verdict: ClaimVerdict | None) -> str:
    """How many claims have a verdict, with a place for the ``count``: "{count} hold"."""
    one, several = COUNT_FORMS[verdict]
    return one if count == 1 else several


def if_it_holds(row: ClaimRow) -> str:
    """What is true if the statement of a row holds, as a sentence."""
    return _("If it holds: {would}.").format(would=row.would.rstrip(".。"))


def verdict_with_reason(row: ClaimRow) -> tuple[str, str]:
    """A template for a verdict and the word on why, and that word.

    Of a claim that does not hold it is the first result that is not as stated.
    """
    assert row.verdict is not None
    if row.verdict == "does_not_hold" and against(row):
        return _("{verdict}, as this result shows: {meaning}"), against(row)
    template = _("{verdict}: {meaning}")
    if row.verdict == "holds" and any(one.expected for one in row.observations):
        return template, _(AS_STATED)
    return template, _(MEANINGS[row.verdict])


def verdict_sentence(row: ClaimRow) -> str:
    """A claim's verdict with a word on why: "holds: true on the installed versions"."""
    name = _(verdict_name(row.verdict))
    if not row.verdict:
        return name
    template, reason = verdict_with_reason(row)
    return template.format(verdict=name, meaning=reason)


def evidence_table(row: ClaimRow) -> Table:
    """A claim's observations; without rows where the claim could not be run.

    What was measured is in the first of its rows alone.
    """
    rows = []
    previous = ""
    for observation in row.observations:
        what = what_text(observation)
        shown = "" if what == previous else what
        previous = what
        value = one_line(text(observation.value))
        is_as_stated = _(ANSWERS[observation.expected])
        rows.append((shown, party_names(observation.who), value, is_as_stated))
    return table([Column(_(name), may_be_empty=True) for name in COLUMNS], rows)


def against(row: ClaimRow) -> str:
    """The first observation that is not as stated, and how many more there are; "" for none."""
    found = [observation for observation in row.observations if observation.expected is False]
    if not found:
        return ""
    more = _("; and {n} more").format(n=len(found) - 1) if len(found) > 1 else ""
    return f"{shortened(observations_text(found[:1]), LENGTH)}{more}"
