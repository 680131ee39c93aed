"""The board over versions as blocks and as one JSON document."""

from collections.abc import Iterator

from explorer.blocks.records import Block, Column, Paragraph, Row, Span, Table, table
from explorer.model.claim import ClaimVerdict, VersionsBoard, VersionsRow
from explorer.model.engines import FRAMEWORK_LABELS, FRAMEWORKS, Framework
from explorer.report.claims.pages import TONES
from explorer.report.claims.wording import verdict_name
from explorer.report.json import Document, to_builtins
from explorer.report.wording import versions_text
from explorer.text.language import _, named, shipped
from explorer.words.messages import DOMAIN

NOT_RUN: frozenset[ClaimVerdict | None] = frozenset({None, "not_runnable_here"})
"""What a claim has in the place of a verdict where it was not run."""


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
        yield from _not_run(board, places)
    yield Paragraph(_measured(board), "faint")


def _changes(row: VersionsRow, places: list[int]) -> bool:
    """Whether a claim has different verdicts on some versions; where it was not run it has none."""
    return len({row.verdicts[place] for place in places} - NOT_RUN) > 1


def _is_missing(row: VersionsRow, places: list[int]) -> bool:
    """Whether a claim was not run on some version."""
    return not NOT_RUN.isdisjoint(row.verdicts[place] for place in places)


def _summary(board: VersionsBoard, framework: Framework, places: list[int], changed: int) -> str:
    label = FRAMEWORK_LABELS[framework]
    versions = [board.tried[place].version for place in places]
    if len(versions) == 1:
        text = _("{framework}: {version} is the only version here; `env add` adds others.")
        return text.format(framework=label, version=versions[0])
    text = _("{framework} {versions}: the verdicts are the same on all versions (claims: {n}).")
    if changed:
        text = _(
            "{framework} {versions}: verdicts change between versions (claims: {changed} of {n})."
        )
    return text.format(
        framework=label, versions=named(versions), n=len(board.rows), changed=changed
    )


def _not_run(board: VersionsBoard, places: list[int]) -> Iterator[Block]:
    """Which claims could not be run on some version: of those a change may be unknown."""
    rows = [row for row in board.rows if _is_missing(row, places)]
    numbers = [str(row.id) for row in rows]
    if numbers:
        text = _("Could not be run on every version: {claims}.")
        yield Paragraph(text.format(claims=named(numbers)), "faint")


def _table(board: VersionsBoard, rows: list[VersionsRow], places: list[int]) -> Table:
    heads = [_("claim"), _("statement"), *(board.tried[place].version for place in places)]
    lines: list[Row] = []
    for row in rows:
        cells = [(_cell(row.verdicts[place]),) for place in places]
        lines.append((str(row.id), shipped(row.statement, DOMAIN), *cells))
    return table([Column(head) for head in heads], lines)


def _cell(verdict: ClaimVerdict | None) -> Span:
    return Span(_(verdict_name(verdict)), tone=TONES[verdict])


def _measured(board: VersionsBoard) -> str:
    text = _(
        "Measured on {date}. Each version of one framework was run with the default version of the"
        " other: {versions}."
    )
    default = {
        FRAMEWORK_LABELS[name]: board.beside[name] for name in FRAMEWORKS if name in board.beside
    }
    return text.format(date=board.date, versions=versions_text(default))


def versions_document(board: VersionsBoard) -> Document:
    """The board over versions as plain data."""
    return dict(to_builtins(board))
