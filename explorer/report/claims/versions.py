"""The board over versions as blocks and as one JSON document."""

from collections.abc import Iterator

from explorer.blocks.records import Block, Column, Paragraph, Row, Span, Table, Text, table
from explorer.model.claim import ClaimVerdict, VersionsBoard, VersionsFact, VersionsRow
from explorer.model.engines import FRAMEWORK_LABELS, NEEDED, Framework
from explorer.model.message import Text as Words
from explorer.report.claims.pages import TONES
from explorer.report.claims.wording import verdict_name
from explorer.report.json import Document, to_builtins
from explorer.report.wording import versions_text
from explorer.text.language import _, named, shipped
from explorer.words.messages import DOMAIN, as_text

NOT_RUN: frozenset[ClaimVerdict | None] = frozenset({None, "not_runnable_here"})
"""What a claim has in the place of a verdict where it was not run."""


def versions_blocks(board: VersionsBoard) -> Iterator[Block]:
    """What changed from version to version, framework by framework, and the verdicts on all."""
    for framework in NEEDED:
        places = [place for place, each in enumerate(board.tried) if each.framework == framework]
        if not places:
            continue
        changed = [row for row in board.rows if _changes(row, places)]
        yield Paragraph(_summary(board, framework, places, len(changed)))
        if changed:
            yield _table(board, changed, places)
        yield from _not_run(board, places)
        yield from _of_facts(board, framework, places)
    yield Paragraph(_measured(board), "faint")


def _of_facts(board: VersionsBoard, framework: Framework, places: list[int]) -> Iterator[Block]:
    """The gradients at kinks and what surprises print, where that changes, and how often it does not."""
    facts = [
        fact for fact in board.facts if any(fact.values[place] is not None for place in places)
    ]
    changed = [fact for fact in facts if _fact_changes(fact, places)]
    if len(places) > 1 and facts:
        text = _(
            "Gradients at kinks, and what the programs of surprises print: {changed} of {n} change between"
            " versions of {framework}."
        )
        label = FRAMEWORK_LABELS[framework]
        yield Paragraph(text.format(framework=label, changed=len(changed), n=len(facts)))
    if changed:
        yield _table_of_facts(board, changed, places)


def _fact_changes(fact: VersionsFact, places: list[int]) -> bool:
    """Whether a framework gives something else on some version; where it gives nothing is no change."""
    return (
        len({as_text(fact.values[place]) for place in places if fact.values[place] is not None}) > 1
    )


def _table_of_facts(board: VersionsBoard, facts: list[VersionsFact], places: list[int]) -> Table:
    heads = [_("at"), _("given by"), *(board.tried[place].version for place in places)]
    lines: list[Row] = []
    for fact in facts:
        cells = [_given(fact, fact.values[place]) for place in places]
        lines.append((_place(fact), _given(fact, fact.of), *cells))
    return table([Column(head) for head in heads], lines)


def _given(fact: VersionsFact, value: Words | None) -> Text:
    """What stands in a fact; what a program printed is code."""
    text = as_text(value or NOTHING)
    return (Span(text, "code"),) if value and fact.kind == "surprise" else text


def _place(fact: VersionsFact) -> str:
    """A kink by its name, or a surprise with the program that shows it."""
    if fact.kind == "kink":
        return str(as_text(fact.at))
    return _("surprise {name}").format(name=fact.at)


NOTHING = "–"
"""What stands for a version that gives nothing."""


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
        FRAMEWORK_LABELS[name]: board.beside[name] for name in NEEDED if name in board.beside
    }
    return text.format(date=board.date, versions=versions_text(default))


def claim_on_versions(board: VersionsBoard, number: int) -> Iterator[str]:
    """The verdicts on one claim on the versions of each framework, a line each; none for an unknown one."""
    row = next((row for row in board.rows if row.id == number), None)
    if row is None:
        return
    for framework in NEEDED:
        versions: dict[str, list[str]] = {}
        for tried, verdict in zip(board.tried, row.verdicts, strict=True):
            if tried.framework == framework:
                versions.setdefault(_(verdict_name(verdict)), []).append(tried.version)
        text = _("{verdict} ({versions})")
        verdicts = [text.format(verdict=name, versions=named(on)) for name, on in versions.items()]
        if verdicts:
            line = _("{what}: {values}")
            yield line.format(what=FRAMEWORK_LABELS[framework], values=_("; ").join(verdicts))


def versions_document(board: VersionsBoard) -> Document:
    """The board over versions as plain data."""
    return dict(to_builtins(board))
