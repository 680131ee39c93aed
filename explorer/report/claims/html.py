"""The board of claims as one HTML file, with the programs that were run folded under each claim."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from explorer.model.claim import Board, ClaimRow, ClaimVerdict
from explorer.report.claims.evidence import NOT_AS_STATED, against, evidence_table
from explorer.report.claims.programs import OF_GUIDE, ClaimProgram, programs
from explorer.report.claims.wording import (
    PAGE_TITLE,
    board_as_read,
    counts,
    if_it_holds,
    rows_by_heading,
    source,
    title,
    verdict_name,
    verdict_sentence,
)
from explorer.report.html import page, table
from explorer.report.html import row as html_row
from explorer.report.wording import versions_text
from explorer.text.language import _
from explorer.words.claims import advice_text, evidence_text

STYLE = Path(__file__).with_name("claims.css").read_text(encoding="utf-8")

CLASSES: dict[ClaimVerdict | None, str] = {
    "holds": "good",
    "holds_with_changes": "foreseen",
    "depends_on_style": "foreseen",
    "outdated": "alarm",
    "does_not_hold": "alarm",
    "not_checkable_here": "idle",
    None: "alarm",
}
"""The class that gives each verdict its colour; None is a claim that could not be run."""


def board_html(board: Board) -> str:
    """The board as an HTML document."""
    return page(_(PAGE_TITLE), _parts(board_as_read(board)), STYLE)


def _parts(board: Board) -> Iterator[str]:
    yield f"<h1>{_(PAGE_TITLE)}</h1>"
    measured = _("Measured on {date} with {versions}").format(
        date=board.date, versions=versions_text(board.versions)
    )
    yield f'<p class="faint">{escape(measured)}</p>'
    yield f'<p class="summary">{escape(counts(board))}</p>'
    for heading, rows in rows_by_heading(board):
        yield f"<h2>{escape(title(_(heading)))}</h2>"
        for row in rows:
            yield _claim(board, row)


def _claim(board: Board, row: ClaimRow) -> str:
    name = escape(_(verdict_name(row.verdict)))
    badge = f'<span class="badge {CLASSES[row.verdict]}">{name}</span>'
    sentence = escape(verdict_sentence(row)).replace(name, badge, 1)
    sources = escape("; ".join(source(guide, row) for guide in row.guides))
    # What was run is folded: the programs are several times as long as all claims together.
    printed = run = ""
    for program in programs(board, row):
        if program.title in OF_GUIDE:
            printed += _program(program)
        else:
            run += _program(program)
    return (
        f'<section class="claim" id="claim-{row.id}">'
        f"<h3>{row.id}. {escape(row.statement)}</h3>"
        f"<p>{sentence}</p>"
        f"<p>{escape(if_it_holds(row))}</p>"
        f"{_evidence(row)}"
        f"<p><b>{_('What to do:')}</b> {escape(advice_text(row))}</p>"
        f'<p class="faint">{sources}</p>{printed}'
        f"<details><summary>{_('What was run')}</summary>{run}</details></section>"
    )


def _evidence(row: ClaimRow) -> str:
    """What is not as stated, and all that was measured."""
    evidence = evidence_table(row)
    if not evidence.rows:
        return f"<p>{escape(evidence_text(row))}</p>"
    contrary = against(row)
    begin = f"<p>{_(NOT_AS_STATED)} {escape(contrary)}</p>" if contrary else ""
    return begin + table(evidence.columns, map(html_row, evidence.rows))


def _program(program: ClaimProgram) -> str:
    heading = f'<p class="faint">{escape(title(program.heading))}</p>'
    return f"{heading}<pre><code>{escape(program.code)}</code></pre>"
