"""The board of claims as pages of Markdown: one to find a claim on, and one for each claim."""

from collections.abc import Iterator

from explorer.model.claim import CLAIM_VERDICTS, GUIDES, Board, ClaimRow
from explorer.report.claims.evidence import NOT_AS_STATED, against, evidence_table
from explorer.report.claims.markdown import board_head
from explorer.report.claims.programs import programs
from explorer.report.claims.wording import (
    board_as_read,
    if_it_holds,
    rows_by_heading,
    source,
    title,
    verdict_name,
)
from explorer.report.markdown import escape, fenced, page, table
from explorer.text.language import _, later
from explorer.words.claims import advice_text, evidence_text

INDEX = "index.md"
"""The page that leads to the others."""


RUN_AGAIN = later(
    "`python -m explorer claims {number}` runs everything again. Where the explorer is installed, each"
    " program can be pasted and run by itself; one that says *after the code above* continues it."
)


def board_pages(board: Board) -> dict[str, str]:
    """The pages by the names of their files: INDEX, and the number of each claim."""
    read = board_as_read(board)
    pages = {INDEX: page(_index(read))}
    for row in read.rows:
        pages[name_of(row.id)] = page(_claim(read, row))
    return pages


def name_of(number: int) -> str:
    """The file of a claim's page."""
    return f"{number}.md"


def _index(board: Board) -> Iterator[str]:
    yield from board_head(board)
    for heading, rows in rows_by_heading(board):
        yield f"## {title(_(heading))}"
        columns = (_("claim"), _("statement"), _("verdict"))
        lines = [f"| {' | '.join(columns)} |", "| --- | --- | --- |"]
        for row in rows:
            link = f"[{row.id}]({name_of(row.id)})"
            lines.append(f"| {link} | {escape(row.statement)} | {_(verdict_name(row.verdict))} |")
        yield "\n".join(lines)
    yield f"## {_('The guides')}"
    yield "\n".join(f"- {number}: {escape(_(guide))}" for number, guide in GUIDES.items())


def _claim(board: Board, row: ClaimRow) -> Iterator[str]:
    yield f"# {row.id}. {escape(row.statement)}"
    verdict = _(verdict_name(row.verdict))
    if row.verdict:
        meaning = _(CLAIM_VERDICTS[row.verdict])
        yield _("**{verdict}**: {meaning}.").format(verdict=verdict, meaning=meaning)
    else:
        yield f"**{verdict}**"
    contrary = against(row)
    if contrary:
        yield _("{text}.").format(text=f"{_(NOT_AS_STATED)} {escape(contrary)}")
    yield f"## {_('Evidence')}"
    yield escape(if_it_holds(row))
    evidence = evidence_table(row)
    yield table(evidence.columns, evidence.rows) if evidence.rows else escape(evidence_text(row))
    yield f"## {_('What to do')}"
    yield escape(advice_text(row))
    yield f"## {_('Sources')}"
    yield "\n".join(
        f"- {escape(f'{source(guide, row)}: {_(GUIDES[guide])}')}" for guide in row.guides
    )
    yield f"## {_('Programs')}"
    yield _(RUN_AGAIN).format(number=row.id)
    for program in programs(board, row):
        yield f"### {escape(title(program.heading))}"
        yield fenced(program.code)
    yield f"[{_('All claims')}]({INDEX})"
