"""Changes between two sweeps, in English as they are recorded: verdicts, cases, pairs, findings."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from explorer.model.errors import UsageError
from explorer.sweep.records import Change, PairRow, Sweep, SweepRow
from explorer.text.language import _

Item = TypeVar("Item")

ABSENT = "nothing"
"""The text for an entry that one of two sweeps lacks."""


def recorded_sweep(path: Path) -> Sweep:
    """A sweep that was recorded as JSON; raises UsageError for any other file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Sweep)
    except (OSError, msgspec.DecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        text = _(
            "--against {file} cannot be read as a recorded sweep: {reason}; write one with"
            " `python -m explorer sweep --out DIR`, as DIR/sweep.json"
        )
        raise UsageError(text.format(file=repr(str(path)), reason=reason)) from error


def changes(before: Sweep, now: Sweep) -> list[Change]:
    """What differs in ``now``, row by row; a row that only one of them has is a change too.

    Times, machines and use of the store are not changes. What the new sweep did not finish
    is not compared.
    """
    old = {row.name: row for row in before.rows}
    new = {row.name: row for row in now.rows}
    found: list[Change] = []
    for name in dict.fromkeys([*old, *new]):
        if name in old and name in new:
            found.extend(_row(old[name], new[name]))
        elif name not in now.unfinished:
            verdicts = [rows[name].verdict if name in rows else ABSENT for rows in (old, new)]
            found.append(Change(name=name, what="row", before=verdicts[0], now=verdicts[1]))
    return found


def _row(old: SweepRow, new: SweepRow) -> Iterator[Change]:
    def change(what: str, before: str, now: str) -> Change:
        return Change(name=new.name, what=what, before=before, now=now)

    if old.verdict != new.verdict:
        before, now = (_with_reason(row) for row in (old, new))
        yield change("verdict", before, now)
    if "lost" in (old.verdict, new.verdict):
        return  # incomplete results cannot be compared
    for label, verdict, new_verdict in _different(old.cases, new.cases):
        yield change(label, verdict or ABSENT, new_verdict or ABSENT)
    for engines, pair, new_pair in _different(old.pairs, new.pairs):
        for what, before, now in _pair(pair, new_pair):
            yield change(f"{engines}: {what}", before, now)
    for sentence in _lacking(old.findings, new.findings):
        yield change("finding", sentence, ABSENT)
    for sentence in _lacking(new.findings, old.findings):
        yield change("finding", ABSENT, sentence)


def _with_reason(row: SweepRow) -> str:
    return f"{row.verdict}: {row.reason}" if row.reason else row.verdict


def _different(
    old: Mapping[str, Item], new: Mapping[str, Item]
) -> Iterator[tuple[str, Item | None, Item | None]]:
    """The keys under which two tables differ, with what each has there, None for nothing."""
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def _pair(was: PairRow | None, is_now: PairRow | None) -> Iterator[tuple[str, str, str]]:
    """What has changed in an alignment: how much is paired, and where the graphs differ."""
    before, now = (_coverage(pair) for pair in (was, is_now))
    if before != now:
        yield "paired", before, now
    before, now = (_divergences(pair) for pair in (was, is_now))
    if before != now:
        yield "divergences", before, now


def _coverage(pair: PairRow | None) -> str:
    return f"{pair.left} and {pair.right}" if pair else ABSENT


def _divergences(pair: PairRow | None) -> str:
    return "; ".join(pair.divergences) if pair and pair.divergences else ABSENT


def _lacking(sentences: Iterable[str], others: Iterable[str]) -> list[str]:
    known = set(others)
    return [sentence for sentence in sentences if sentence not in known]
