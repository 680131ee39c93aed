"""The board of claims as a page of the documentation."""

from collections.abc import Iterator

from explorer.model.claim import CLAIM_VERDICTS, GUIDES, Board, ClaimRow
from explorer.report.claims.programs import OF_GUIDE, programs
from explorer.report.claims.wording import (
    PAGE_TITLE,
    board_as_read,
    counts,
    rows_by_heading,
    source,
    title,
    verdict_name,
)
from explorer.report.markdown import code_block, escape, page, table
from explorer.report.wording import versions_text
from explorer.text.language import _, later
from explorer.text.messages import one_line
from explorer.words.claims import advice_text, evidence_text

COLUMNS = (
    later("row"),
    later("statement"),
    later("verdict"),
    later("evidence"),
    later("what to do"),
    later("guide"),
)


def board_markdown(board: Board) -> str:
    """The board as Markdown, with what each verdict means and the guides that are referred to."""
    return page(_parts(board_as_read(board)))


def board_head(board: Board) -> Iterator[str]:
    """What stands above the claims: what was measured with, the counts, and what each verdict means."""
    yield f"# {_(PAGE_TITLE)}"
    yield _("Measured on {date} with {versions}. **{counts}.**").format(
        date=board.date,
        versions=escape(versions_text(board.versions)),
        counts=escape(counts(board)),
    )
    meanings = []
    for verdict, meaning in CLAIM_VERDICTS.items():
        text = _("**{verdict}**: {meaning}")
        text = text.format(verdict=_(verdict_name(verdict)), meaning=_(meaning))
        meanings.append(f"- {text}")
    yield "\n".join(meanings)


def _parts(board: Board) -> Iterator[str]:
    yield from board_head(board)
    yield "\n".join(f"- {number}: {escape(_(guide))}" for number, guide in GUIDES.items())
    for heading, rows in rows_by_heading(board):
        yield f"## {title(_(heading))}"
        yield table([_(column) for column in COLUMNS], [_cells(row) for row in rows])
        for row in rows:
            yield from _code_of_guide(board, row)


def _code_of_guide(board: Board, row: ClaimRow) -> Iterator[str]:
    for program in programs(board, row):
        if program.title in OF_GUIDE:
            yield _("Row {n}, {program}:").format(n=row.id, program=program.heading)
            yield code_block(program.code)


def _cells(row: ClaimRow) -> tuple[str, ...]:
    return (
        str(row.id),
        row.statement,
        _(verdict_name(row.verdict)),
        one_line(evidence_text(row)),  # a table's cell has no lines
        advice_text(row),
        "; ".join(source(guide, row) for guide in row.guides),
    )
