"""The board over versions as blocks and as one JSON document."""

from collections.abc import Iterator

from explorer.blocks.records import Block, Column, Paragraph, Row, Span, Table, table
from explorer.model.claim import ClaimVerdict, VersionsBoard, VersionsRow
from explorer.model.engines import FRAMEWORK_LABELS, FRAMEWORKS, Framework
from explorer.report.claims.pages import TONES
from explorer.report.claims.wording import verdict_name
from explorer.report.json import Document, to_builtins
from explorer.report.wording import versions_text
from explorer.text.language import _, named


def versions_blocks(board: VersionsBoard) -> Iterator[Block]:
    """What changed from version to version, framework by framework, and the verdicts on all."""
    for framework in FRAMEWORKS:
        places = [place for place, each in enumerate(board.tried) if each.framework == framework]
        if not places:
            continue
        changed = [row for row in board.rows if _changes(row, places)]
        yield Paragraph(_summary(board, framework, places, len(changed)))
        if changed:
            yield _table(board, changed, places)
    yield Paragraph(_measured(board), "faint")


def _changes(row: VersionsRow, places: list[int]) -> bool:
    """Whether a claim has different verdicts on some versions; where it was not run it has none."""
    return len({row.verdicts[place] for place in places} - {None}) > 1


def _summary(board: VersionsBoard, framework: Framework, places: list[int], changed: int) -> str:
    text = _(
        "{framework} {versions}: claims with another verdict on some version: {changed} of {n}."
    )
    return text.format(
        framework=FRAMEWORK_LABELS[framework],
        versions=named([board.tried[place].version for place in places]),
        n=len(board.rows),
        changed=changed,
    )


def _table(board: VersionsBoard, rows: list[VersionsRow], places: list[int]) -> Table:
    heads = [_("claim"), _("statement"), *(board.tried[place].version for place in places)]
    lines: list[Row] = []
    for row in rows:
        cells = [(_cell(row.verdicts[place]),) for place in places]
        lines.append((str(row.id), row.statement, *cells))
    return table([Column(head) for head in heads], lines)


def _cell(verdict: ClaimVerdict | None) -> Span:
    return Span(_(verdict_name(verdict)), tone=TONES[verdict])


def _measured(board: VersionsBoard) -> str:
    text = _(
        "Measured on {date}; each version of one framework stood beside the other one here:"
        " {versions}."
    )
    return text.format(date=board.date, versions=versions_text(board.beside))


def versions_document(board: VersionsBoard) -> Document:
    """The board over versions as plain data."""
    return dict(to_builtins(board))
