"""The words of a board of claims: its verdicts, its counts, its rows by heading."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from explorer.model.claim import CLAIM_VERDICTS, HEADINGS, Board, ClaimRow, ClaimVerdict
from explorer.text.numbers import counted

NOT_RUN = "not run"

COUNT_FORMS: dict[ClaimVerdict | None, tuple[str, str]] = {
    "holds": ("{count} holds", "{count} hold"),
    "holds_with_changes": ("{count} holds with changes", "{count} hold with changes"),
    "outdated": ("{count} is outdated", "{count} are outdated"),
    "does_not_hold": ("{count} does not hold", "{count} do not hold"),
    "depends_on_style": ("{count} depends on the style", "{count} depend on the style"),
    "not_checkable_here": ("{count} cannot be checked here", "{count} cannot be checked here"),
    None: ("{count} was not run", "{count} were not run"),
}
"""How many claims have a verdict: of one, and of several."""

PAGE_TITLE = "What the migration guides say, checked"


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
    return f'{guide}, "{section}"' if section else guide


def counts(board: Board) -> str:
    """The number of rows with each verdict: "61 claims: 40 hold, 9 hold with changes, …"."""
    by_verdict = Counter(row.verdict for row in board.rows)
    parts = []
    for verdict in (*CLAIM_VERDICTS, None):
        number = by_verdict[verdict]
        if number:
            parts.append(count_form(number, verdict).format(count=number))
    return f"{counted(len(board.rows), 'claim')}: {', '.join(parts)}"


def count_form(count: int, verdict: ClaimVerdict | None) -> str:
    """How many claims have a verdict, with a place for the ``count``: "{count} hold"."""
    one, several = COUNT_FORMS[verdict]
    return one if count == 1 else several


def if_it_holds(row: ClaimRow) -> str:
    """What is true if the statement of a row holds, as a sentence."""
    return f"If it holds: {row.would.rstrip('.')}."


def verdict_sentence(row: ClaimRow) -> str:
    """A claim's verdict, and what it means: "outdated: was true, and is not any more"."""
    name = verdict_name(row.verdict)
    return f"{name}: {CLAIM_VERDICTS[row.verdict]}" if row.verdict else name
