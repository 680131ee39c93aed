"""The ``claims`` command: the board of checked claims, and one claim in full."""

import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from explorer.blocks.terminal import show
from explorer.cli import exit_codes
from explorer.cli.options import ClaimsOptions, check_seconds
from explorer.cli.output import prepared, print_document, print_stored
from explorer.cli.terminal import console, progress
from explorer.environments import known
from explorer.model.claim import CLAIM_VERDICTS, HEADINGS, Board, ClaimRow, VersionsBoard
from explorer.model.environments import Homes
from explorer.model.errors import UsageError
from explorer.report.claims.pages import (
    board_blocks,
    board_html,
    board_markdown,
    board_pages,
    claim_blocks,
)
from explorer.report.claims.versions import versions_blocks, versions_document
from explorer.report.claims.wording import verdict_name
from explorer.report.files import put_file
from explorer.report.recorded.fallback import board_in_place, notice
from explorer.report.recorded.results import recorded_versions
from explorer.report.schemas import board_document
from explorer.report.wording import versions_text
from explorer.store.store import Store, to_stderr
from explorer.text.choices import choose, refusal
from explorer.text.language import LANGUAGES, _, later, said_in
from explorer.text.messages import one_line
from explorer.text.program_name import program
from explorer.text.reasons import reason
from explorer.topics import claims as every_claim
from explorer.topics.boards import board
from explorer.topics.topic import Claim
from explorer.topics.version_boards import version_board, versions_there
from explorer.words.claims import evidence_text
from explorer.workers.workers import Workers


class RecordedRow(msgspec.Struct, frozen=True):
    """One row of a recorded board."""

    id: int
    verdict: str | None  # the board may be of an explorer with other verdicts than these


class RecordedBoard(msgspec.Struct, frozen=True):
    """The part of a recorded board that is compared."""

    rows: tuple[RecordedRow, ...]
    versions: dict[str, str]


def check_claims(options: ClaimsOptions) -> int:
    """Measure and judge; print the board, and what has changed since the recorded one."""
    _check(options)
    claims = _chosen_claims(options)
    # The verdict filters what is shown: which claims have it is known only when all are judged.
    verdict = _chosen_verdict(options.verdict)
    homes = known.homes_of(options.on or ())
    if options.versions:
        return _show_versions(claims, options)
    recorded = _earlier_board(options.against, claims, options) if options.against else None
    folder = prepared(options.pages)
    whole = _whole_board(claims, homes, options)
    rows = tuple(row for row in whole.rows if verdict in (None, row.verdict))
    _show_board(msgspec.structs.replace(whole, rows=rows), folder, options)
    changes = _changes(whole.rows, recorded) if recorded else []
    # A document on stdout must stay one.
    stream = sys.stderr if _formats(options) else sys.stdout
    for change in changes:
        print(change, file=stream)
    return _exit_code(whole, changes)


def _whole_board(claims: list[Claim], homes: Homes, options: ClaimsOptions) -> Board:
    """The board of some claims: as it was recorded where nothing can be run."""
    in_place = None if options.fresh or homes else board_in_place(claims)
    if in_place is not None:
        to_stderr(notice())
        return in_place
    store = Store(fresh=options.fresh)
    whole = _measured(claims, homes, options, store)
    print_stored(store.used("measurement"), len(whole.measured))
    return whole


def _measured(claims: list[Claim], homes: Homes, options: ClaimsOptions, store: Store) -> Board:
    with Workers(options.request_timeout) as workers, progress() as step:
        return board(claims, workers, step, store, homes)


def _show_board(shown: Board, folder: Path | None, options: ClaimsOptions) -> None:
    """Write the pages where a folder is given; print the board where none is, or a document is wanted."""
    if folder:
        for name, page in board_pages(shown).items():
            put_file(folder / name, page.encode())
    if _formats(options) or not folder:
        _print(shown, options)


def _show_versions(claims: list[Claim], options: ClaimsOptions) -> int:
    """Judge the claims on every version that there is; print what changed between them."""
    tried = versions_there()
    recorded = recorded_versions()
    if recorded and not options.fresh and not any(each.environment for each in tried):
        to_stderr(
            _("recorded on {date}; `env add` other versions to run them").format(date=recorded.date)
        )
        return _print_versions(recorded, claims, options)
    store = Store(fresh=options.fresh)
    with progress() as step:
        found = version_board(claims, tried, options.request_timeout, step, store)
    return _print_versions(found, claims, options)


def _print_versions(found: VersionsBoard, claims: list[Claim], options: ClaimsOptions) -> int:
    numbers = {claim.id for claim in claims}
    rows = tuple(row for row in found.rows if row.id in numbers)
    shown = msgspec.structs.replace(found, rows=rows)
    if options.as_json:
        print_document(versions_document(shown))
    else:
        show(versions_blocks(shown), console())
    return exit_codes.AS_EXPECTED


def _formats(options: ClaimsOptions) -> list[str]:
    """The options that are given for a document on standard output."""
    formats = {
        "--json": options.as_json,
        "--markdown": options.as_markdown,
        "--html": options.as_html,
    }
    return [option for option, is_given in formats.items() if is_given]


def _check(options: ClaimsOptions) -> None:
    """Raise UsageError for options that exclude each other, and for a wrong time limit."""
    formats = _formats(options)
    if len(formats) > 1:
        text = _("{options} exclude each other; give only one of them")
        raise UsageError(text.format(options=_(" and ").join(formats)))
    check_seconds("--request-timeout", options.request_timeout)
    if options.versions and (options.on or options.against or options.pages):
        raise UsageError(_("--versions runs every version; leave out --on, --against and --pages"))
    if options.row is not None:
        for option, value in (("--topic", options.topic), ("--verdict", options.verdict)):
            if value is not None:
                text = _("{option} selects among all claims; leave it out, or leave out {claim}")
                raise UsageError(text.format(option=option, claim=options.row))


def _exit_code(whole: Board, changes: list[str]) -> int:
    if any(row.verdict is None for row in whole.rows):
        return exit_codes.LOST
    return exit_codes.DIFFERENT if changes else exit_codes.AS_EXPECTED


def _chosen_claims(options: ClaimsOptions) -> list[Claim]:
    claims = every_claim()
    if options.row is not None:
        return [_claim_of_row(options.row, claims)]
    if options.topic is None:
        return list(claims.values())
    heading = _chosen(later("topic"), options.topic, HEADINGS)
    return [claim for claim in claims.values() if claim.heading == heading]


def _chosen_verdict(name: str | None) -> str | None:
    if name is None:
        return None
    names = {verdict_name(verdict): verdict for verdict in CLAIM_VERDICTS}
    return names[_chosen(later("verdict"), name.replace("_", " "), names)]


def _chosen(what: str, given: str, names: Iterable[str]) -> str:
    """The one of some names that is given in any language; raises UsageError for no such name."""
    by_name: dict[str, str] = {}
    for language in LANGUAGES:
        with said_in(language):
            by_name.update({_(name): name for name in names})
    if given in by_name:
        return by_name[given]
    return choose(what, given, map(_, names))


def _claim_of_row(row: str, claims: dict[int, Claim]) -> Claim:
    if row.isdecimal() and int(row) in claims:
        return claims[int(row)]
    fact = _("unknown claim {claim}").format(claim=repr(row))
    allowed = _("numbers from {first} to {last}").format(first=min(claims), last=max(claims))
    raise UsageError(refusal(fact, row, [allowed]))


def _earlier_board(given: str, claims: list[Claim], options: ClaimsOptions) -> RecordedBoard:
    """The board in a file, or measured in an environment of that name."""
    path = Path(given)
    if path.exists() or given not in known.known():
        return _recorded_board(path)
    measured = _measured(claims, known.homes_of([given]), options, Store(fresh=options.fresh))
    rows = tuple(RecordedRow(row.id, row.verdict) for row in measured.rows)
    return RecordedBoard(rows, measured.versions)


def _recorded_board(path: Path) -> RecordedBoard:
    try:
        return msgspec.json.decode(path.read_bytes(), type=RecordedBoard)
    except (OSError, msgspec.DecodeError) as error:
        text = _(
            "--against {file} cannot be read as a board of claims: {reason};"
            " write one with `{program} claims --json > FILE`"
        )
        text = text.format(file=repr(str(path)), reason=reason(error), program=program())
        raise UsageError(text) from error


def _print(shown: Board, options: ClaimsOptions) -> None:
    if options.as_json:
        print_document(board_document(shown))
    elif options.as_markdown:
        sys.stdout.buffer.write(board_markdown(shown).encode())
    elif options.as_html:
        sys.stdout.buffer.write(board_html(shown).encode())
    elif options.row and shown.rows:
        show(claim_blocks(shown, shown.rows[0]), console())
    else:
        show(board_blocks(shown), console())


def _changes(rows: tuple[ClaimRow, ...], recorded: RecordedBoard) -> list[str]:
    """A line for each row whose verdict has changed since the recorded board.

    Rows that the board lacks have not changed, nor have those that these versions cannot run.
    """
    verdicts = {row.id: row.verdict for row in recorded.rows}
    versions = one_line(versions_text(recorded.versions))
    text = _("changed: {claim} was {before} on {versions}, is {now}: {evidence}")
    changes: list[str] = []
    for row in rows:
        before = verdicts.get(row.id, row.verdict)
        if row.verdict not in (before, "not_runnable_here"):
            changes.append(
                text.format(
                    claim=row.id,
                    before=one_line(verdict_name(before)),
                    versions=versions,
                    now=verdict_name(row.verdict),
                    evidence=one_line(evidence_text(row)),
                )
            )
    return changes
