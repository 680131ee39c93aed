"""The ``claims`` command: the board of checked claims, and one claim in full."""

import sys
from pathlib import Path
from typing import Literal

import msgspec

from explorer.blocks.terminal import show
from explorer.cli import exit_codes
from explorer.cli.options import check_seconds
from explorer.cli.output import print_document
from explorer.cli.terminal import console, progress
from explorer.model.claim import CLAIM_VERDICTS, HEADINGS, Board, ClaimRow
from explorer.model.errors import UsageError
from explorer.report.claims.pages import (
    board_blocks,
    board_html,
    board_markdown,
    board_pages,
    claim_blocks,
)
from explorer.report.claims.wording import verdict_name
from explorer.report.files import prepare_folder, put_file
from explorer.report.schemas import board_document
from explorer.report.wording import versions_text
from explorer.store.store import Store
from explorer.text.choices import choose, refusal
from explorer.text.messages import one_line
from explorer.topics import claims as every_claim
from explorer.topics.judging import board
from explorer.topics.topic import Claim
from explorer.words.claims import evidence_text
from explorer.workers.workers import Workers

DocumentFormat = Literal["json", "markdown", "html"]
"""A format in which the board can be printed in place of what a terminal shows."""


class ClaimsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the ``claims`` command, as typed."""

    row: str | None
    topic: str | None
    verdict: str | None
    against: Path | None
    formats: tuple[DocumentFormat, ...]
    pages: Path | None
    fresh: bool
    request_timeout: float


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
    if len(options.formats) > 1:
        flags = " and --".join(options.formats)
        raise UsageError(f"--{flags} exclude each other; give only one of them")
    check_seconds("--request-timeout", options.request_timeout)
    claims = _chosen_claims(options)
    # The verdict filters what is shown: which claims have it is known only when all are judged.
    verdict = None
    if options.verdict:
        verdict = choose("verdict", options.verdict.replace(" ", "_"), CLAIM_VERDICTS)
    recorded = _recorded_board(options.against) if options.against else None
    folder = prepare_folder(options.pages) if options.pages else None
    with Workers(options.request_timeout) as workers, progress() as step:
        whole = board(claims, workers, step, Store(fresh=options.fresh))

    rows = tuple(row for row in whole.rows if verdict in (None, row.verdict))
    _tell(msgspec.structs.replace(whole, rows=rows), options, folder)
    changes = _changes(whole.rows, recorded) if recorded else []
    for change in changes:
        # A document on stdout must stay one.
        print(change, file=sys.stderr if options.formats else sys.stdout)
    if any(row.verdict is None for row in whole.rows):
        return exit_codes.LOST
    return exit_codes.DIFFERENT if changes else exit_codes.AS_EXPECTED


def _tell(shown: Board, options: ClaimsOptions, folder: Path | None) -> None:
    """Write the pages if there is a folder for them, and print what the options request."""
    if folder:
        for name, text in board_pages(shown).items():
            put_file(folder / name, text.encode())
    if not folder or options.formats:
        _print(shown, options)


def _chosen_claims(options: ClaimsOptions) -> list[Claim]:
    claims = every_claim()
    if options.row is not None:
        return [_claim_of_row(options.row, claims)]
    if not options.topic:
        return list(claims.values())
    heading = choose("topic", options.topic, HEADINGS)
    return [claim for claim in claims.values() if claim.heading == heading]


def _claim_of_row(row: str, claims: dict[int, Claim]) -> Claim:
    if row.isdecimal() and int(row) in claims:
        return claims[int(row)]
    allowed = f"{min(claims)} to {max(claims)}"
    raise UsageError(refusal(f"unknown claim {row!r}", row, [f"numbers from {allowed}"]))


def _recorded_board(path: Path) -> RecordedBoard:
    try:
        return msgspec.json.decode(path.read_bytes(), type=RecordedBoard)
    except (OSError, msgspec.DecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"--against {str(path)!r} cannot be read as a board of claims: {reason}; "
            "write one with `python -m explorer claims --json > FILE`"
        ) from error


def _print(shown: Board, options: ClaimsOptions) -> None:
    if "json" in options.formats:
        print_document(board_document(shown))
    elif "markdown" in options.formats:
        sys.stdout.buffer.write(board_markdown(shown).encode())
    elif "html" in options.formats:
        sys.stdout.buffer.write(board_html(shown).encode())
    elif options.row and shown.rows:
        show(claim_blocks(shown, shown.rows[0]), console())
    else:
        show(board_blocks(shown), console())


def _changes(rows: tuple[ClaimRow, ...], recorded: RecordedBoard) -> list[str]:
    """A line for each row whose verdict is another one than in the recorded board.

    Rows that it lacks have not changed.
    """
    verdicts = {row.id: row.verdict for row in recorded.rows}
    versions = one_line(versions_text(recorded.versions))
    changes = []
    for row in rows:
        before = verdicts.get(row.id, row.verdict)
        if before != row.verdict:
            was = one_line(verdict_name(before))
            now = f"is {verdict_name(row.verdict)}: {one_line(evidence_text(row))}"
            changes.append(f"changed: {row.id} was {was} on {versions}, {now}")
    return changes
