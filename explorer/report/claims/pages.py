"""The board of claims, and each claim in full, as blocks and as pages."""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from explorer.blocks import html, markdown
from explorer.blocks.records import (
    Aside,
    Block,
    Bullets,
    Code,
    Column,
    Fold,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    Text,
    Tone,
    columns,
    fill,
)
from explorer.model.claim import Board, ClaimRow, ClaimVerdict
from explorer.report import wording
from explorer.report.claims.measurements import measurements
from explorer.report.claims.programs import OF_GUIDE, WITH_GUIDES_CODE, programs
from explorer.report.claims.wording import (
    NOT_AS_STATED,
    PAGE_TITLE,
    against,
    board_as_read,
    counts,
    evidence_table,
    if_it_holds,
    row_as_read,
    rows_by_heading,
    source,
    title,
    verdict_name,
    verdict_with_reason,
)
from explorer.text.language import _, later
from explorer.text.messages import one_line, shortened, whole_line
from explorer.words.claims import GUIDES, MEANINGS, advice_text, evidence_text

INDEX = "index.md"
"""The page that leads to the others."""

TONES: dict[ClaimVerdict | None, Tone] = {
    "holds": "good",
    "holds_with_changes": "foreseen",
    "depends_on_style": "foreseen",
    "outdated": "alarm",
    "does_not_hold": "alarm",
    "not_checkable_here": "idle",
    "not_runnable_here": "idle",
    "not_judged": "alarm",
    None: "alarm",
}
"""The tone of each verdict; None is a claim that could not be run."""

RUN_AGAIN = later(
    "The programs are this project's own, not a guide's."
    " `python -m explorer claims {number} --fresh` runs everything again. Where the explorer is"
    " installed, each program can be pasted and run by itself."
)

RUN_BELOW = later(
    "The programs are this project's own; what is adapted from the guide keeps its statements, with"
    " their mistakes. Where the explorer is installed, each program runs by itself. Where one uses"
    " the code above it, paste that first. `python -m explorer claims {number} --fresh` runs"
    " everything again."
)
"""What is said instead of RUN_AGAIN where a program uses code that is adapted from a guide."""


def name_of(number: int) -> str:
    """The file of a claim's page."""
    return f"{number}.md"


def verdict_span(row: ClaimRow) -> Span:
    """The name of a verdict in its tone."""
    return Span(_(verdict_name(row.verdict)), tone=TONES[row.verdict])


def _evidence(row: ClaimRow) -> str:
    evidence = evidence_text(row)
    return whole_line(evidence)


def _sources(row: ClaimRow) -> str:
    return _("; ").join(source(name, row) for name in row.guides)


# A table's cell has no lines.
FIELDS: dict[str, tuple[str, Callable[[ClaimRow], Text]]] = {
    "id": (later("claim"), lambda row: str(row.id)),
    "link": (later("claim"), lambda row: (Span(str(row.id), link=name_of(row.id)),)),
    "statement": (later("statement"), lambda row: row.statement),
    "verdict": (later("verdict"), lambda row: (verdict_span(row),)),
    "evidence": (later("evidence"), _evidence),
    "advice": (later("what to do"), advice_text),
    "guides": (later("guide"), _sources),
}
"""What a table of claims can show of each: the name of the column, and the cell."""


IN_FULL = ("id", "statement", "verdict", "evidence", "advice", "guides")
"""The fields that the page with the whole board shows."""


def claims_table(rows: Iterable[ClaimRow], *fields: str) -> Table:
    """A row for each claim, with these fields."""
    shown = [FIELDS[field] for field in fields]
    cells = [tuple(cell(row) for _name, cell in shown) for row in rows]
    return Table(columns(_(name) for name, _cell in shown), tuple(cells))


def board_head(board: Board) -> Section:
    """What was measured with, the counts, and what each verdict means."""
    meanings = []
    for verdict, meaning in MEANINGS.items():
        name = (Span(_(verdict_name(verdict)), "strong"),)
        meanings.append(fill(_("{verdict}: {meaning}"), verdict=name, meaning=_(meaning)))
    blocks = (measured_with(board), Paragraph(counts(board), is_strong=True))
    return Section(_(PAGE_TITLE), (*blocks, Bullets(tuple(meanings))), level=1)


def measured_with(board: Board) -> Paragraph:
    """When the board was measured, and with which versions."""
    return Paragraph(wording.measured_with(board.date, board.versions), "faint")


def _guides() -> Bullets:
    text = _("{what}: {values}")
    guides = [text.format(what=number, values=_(guide)) for number, guide in GUIDES.items()]
    return Bullets(tuple(guides))


def board_markdown(board: Board) -> str:
    """The board as one page of Markdown, with the code that is adapted from guides."""
    return markdown.page(_tables(board_as_read(board)))


def _tables(board: Board) -> Iterator[Block]:
    yield board_head(board)
    yield _guides()
    for heading, rows in rows_by_heading(board):
        code: list[Block] = []
        for row in rows:
            code += _code_of_guides(board, row)
        yield Section(title(_(heading)), (claims_table(rows, *IN_FULL), *code))


def _code_of_guides(board: Board, row: ClaimRow) -> Iterator[Block]:
    for program in programs(board, row):
        if program.title in OF_GUIDE:
            text = _("Row {n}, {program}:")
            yield Paragraph(text.format(n=row.id, program=program.heading))
            yield Code(program.code, "python")


def board_html(board: Board) -> str:
    """The board as an HTML page, with the programs folded under each claim."""
    return html.page(_(PAGE_TITLE), _in_full(board_as_read(board)))


def _in_full(board: Board) -> Iterator[Block]:
    yield board_head(board)
    for heading, rows in rows_by_heading(board):
        # Programs are folded: they are several times as long as all claims.
        claims = [claim_section(board, row, 3, is_folded=True) for row in rows]
        yield Section(title(_(heading)), tuple(claims))


def board_pages(board: Board) -> dict[str, str]:
    """Pages of Markdown by their files: INDEX, and one for each claim."""
    read = board_as_read(board)
    pages = {INDEX: markdown.page(_index(read))}
    back = Paragraph((Span(_("All claims"), link=INDEX),))
    for row in read.rows:
        pages[name_of(row.id)] = markdown.page((claim_section(read, row), back))
    return pages


def _index(board: Board) -> Iterator[Block]:
    yield board_head(board)
    for heading, rows in rows_by_heading(board):
        shown = claims_table(rows, "link", "statement", "verdict")
        yield Section(title(_(heading)), (shown,))
    yield Section(_("The guides"), (_guides(),))


def claim_section(board: Board, row: ClaimRow, level: int = 1, is_folded: bool = False) -> Section:
    """A claim in full, of a board in the reader's language."""
    evidence = evidence_table(row)
    measured = evidence if evidence.rows else Paragraph(one_line(evidence_text(row)))
    sources = []
    for guide in row.guides:
        text = _("{what}: {values}")
        sources.append(text.format(what=source(guide, row), values=_(GUIDES[guide])))
    inner = level + 1
    blocks: list[Block] = list(_verdict(row))
    blocks.append(Section(_("Evidence"), (Paragraph(if_it_holds(row)), measured), inner))
    blocks.append(Section(_("What to do"), (Paragraph(advice_text(row)),), inner))
    blocks.append(Section(_("Sources"), (Bullets(tuple(sources)),), inner))
    fold: Fold = "closed" if is_folded else ""
    blocks.append(Section(_("Programs"), tuple(_programs(board, row, inner)), inner, fold))
    return Section(f"{row.id}. {row.statement}", tuple(blocks), level, anchor=f"claim-{row.id}")


def _verdict(row: ClaimRow) -> Iterator[Paragraph]:
    name = (msgspec.structs.replace(verdict_span(row), style="strong"),)
    if row.verdict is None:
        yield Paragraph(name)
        return
    template, reason = verdict_with_reason(row)
    whole = fill(template, verdict=name, meaning=reason)
    yield Paragraph(fill(_("{text}."), text=whole))
    contrary = against(row)
    if contrary and contrary != reason:
        yield Paragraph(_("{text}.").format(text=_(NOT_AS_STATED).format(what=contrary)))


def _programs(board: Board, row: ClaimRow, level: int) -> Iterator[Block]:
    shown = programs(board, row)
    uses_guide = any(program.title == WITH_GUIDES_CODE for program in shown)
    text = RUN_BELOW if uses_guide else RUN_AGAIN
    yield Paragraph(_(text).format(number=row.id))
    for program in shown:
        code = Code(program.code, "python")
        yield Section(title(program.heading), (code,), level + 1)


def claim_blocks(board: Board, row: ClaimRow) -> Iterator[Block]:
    """A claim in full with its figures, as a terminal shows it."""
    yield claim_section(board, row_as_read(row))
    figures = (measured_with(board), *measurements(board, row))
    yield Section(_("Measurements"), figures)


def board_blocks(board: Board) -> Iterator[Block]:
    """Every claim in short, as a terminal shows it."""
    read = board_as_read(board)
    yield measured_with(board)
    for heading, claims in rows_by_heading(read):
        rows: list[Row] = []
        for claim in claims:
            statement = one_line(claim.statement)
            rows.append((str(claim.id), (verdict_span(claim), "  ", statement)))
            # Below the statement, and as wide: a column of its own would be too narrow.
            rows.append(Aside("", shortened(evidence_text(claim))))
        shape = (Column("", is_numeric=True), Column(""))
        shown = Table(shape, tuple(rows), has_head=False)
        yield Section(_(heading), (shown,))
    yield Paragraph(counts(board), is_strong=True)
