"""The ``claims`` command: the board of what the migration guides say, one claim in full, and what
changed since a board.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

import msgspec

from explorer.cli.asking import console, progress
from explorer.model.claim import CLAIM_VERDICTS, HEADINGS, Board, ClaimRow
from explorer.model.errors import UsageError
from explorer.report import board as pages
from explorer.report import json
from explorer.text.choices import choose, refusal
from explorer.text.messages import one_line
from explorer.topics import claims as all_claims
from explorer.topics.judging import board
from explorer.topics.topic import Claim
from explorer.workers.workers import Workers

Face = Literal["json", "markdown", "html"]
FACES: tuple[Face, ...] = get_args(Face)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks of the claims, as given."""

    row: str | None
    topic: str | None
    verdict: str | None
    against: Path | None
    faces: tuple[Face, ...]
    timeout: float


class Recorded(msgspec.Struct, frozen=True):
    """What is read of a recorded board: each row's verdict, and the versions that it was measured
    on.
    """

    rows: tuple["RecordedRow", ...]
    versions: dict[str, str]


class RecordedRow(msgspec.Struct, frozen=True):
    """One row of a recorded board."""

    id: int
    verdict: str | None


def claims(asked: Asked) -> int:
    """Measure and judge; print in the face asked for. 3 when a claim could not be run, else 1 when
    a verdict has changed.
    """
    if len(asked.faces) > 1:
        raise UsageError(
            f"--{' and --'.join(asked.faces)} exclude each other: one document is printed; give one of them"
        )
    chosen = _chosen(asked)
    verdict = (
        choose("verdict", asked.verdict.replace(" ", "_"), CLAIM_VERDICTS)
        if asked.verdict
        else None
    )
    before = _recorded(asked.against) if asked.against else None
    with Workers(asked.timeout) as workers, progress() as step:
        whole = board(chosen, workers, step)
    shown = msgspec.structs.replace(
        whole, rows=tuple(row for row in whole.rows if verdict in (None, row.verdict))
    )
    _print(shown, asked)
    changes = _changes(whole.rows, before) if before else []
    for line in changes:
        print(line, file=sys.stderr if asked.faces else sys.stdout)
    if any(row.verdict is None for row in whole.rows):
        return 3
    return 1 if changes else 0


def _chosen(asked: Asked) -> list[Claim]:
    known = all_claims()
    if asked.row is not None:
        if not asked.row.isdecimal() or int(asked.row) not in known:
            raise UsageError(
                refusal(
                    f"no claim has the number {asked.row!r}",
                    asked.row,
                    [f"{min(known)} to {max(known)}"],
                )
            )
        return [known[int(asked.row)]]
    topic = choose("topic", asked.topic, HEADINGS) if asked.topic else None
    return [claim for claim in known.values() if topic in (None, claim.heading)]


def _print(shown: Board, asked: Asked) -> None:
    if not asked.faces:
        if asked.row and shown.rows:
            return pages.show_one(shown, shown.rows[0], console())
        return pages.show(shown, console())
    make: dict[Face, Callable[[], bytes]] = {
        "json": lambda: json.encode(pages.document(shown)),
        "markdown": lambda: pages.markdown(shown).encode(),
        "html": lambda: pages.html(shown).encode(),
    }
    sys.stdout.buffer.write(make[asked.faces[0]]())
    return None


def _recorded(path: Path) -> Recorded:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Recorded)
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(
            f"--against {str(path)!r} is no board: {error}; write one with `python -m explorer claims --json > FILE`"
        ) from error


def _changes(rows: tuple[ClaimRow, ...], before: Recorded) -> list[str]:
    """A line for each row whose verdict is another one than in the recorded board; rows that it
    lacks have not changed.
    """
    then = {row.id: row.verdict for row in before.rows}
    was = ", ".join(f"{name} {version}" for name, version in before.versions.items())
    return [
        f"changed: {row.id} was {_name(then[row.id])} on {one_line(was)}, is {_name(row.verdict)}: {one_line(row.evidence)}"
        for row in rows
        if row.id in then and then[row.id] != row.verdict
    ]


def _name(verdict: str | None) -> str:
    return one_line((verdict or "not run").replace("_", " "))
