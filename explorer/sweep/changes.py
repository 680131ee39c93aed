"""Changes between two sweeps, in English as they are recorded: verdicts, cases, pairs, findings."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from explorer.model.engines import AT
from explorer.model.errors import UsageError
from explorer.sweep.records import Change, PairRow, Sweep, SweepRow
from explorer.text.language import _
from explorer.text.program_name import program
from explorer.text.reasons import reason

ABSENT = "nothing"
"""The text for an entry that one of two sweeps lacks."""


def recorded_sweep(path: Path) -> Sweep:
    """A sweep that was recorded as JSON; raises UsageError for any other file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Sweep)
    except (OSError, msgspec.DecodeError) as error:
        text = _(
            "--against {file} cannot be read as a recorded sweep: {reason}; write one with"
            " `{program} sweep --out DIR`, as DIR/sweep.json"
        )
        text = text.format(file=repr(str(path)), reason=reason(error), program=program())
        raise UsageError(text) from error


def changes(before: Sweep, now: Sweep) -> list[Change]:
    """What differs in ``now``, row by row; a row that only one of them has is a change too.

    Times, machines and use of the store are not changes. What the new sweep did not finish
    is not compared. Engines are the same in any environment: one sweep may have been run in another.
    """
    old = {row.name: row for row in before.rows}
    new = {row.name: row for row in now.rows}
    found: list[Change] = []
    for name in dict.fromkeys([*old, *new]):
        if name in old and name in new:
            found.extend(_row(_anywhere(old[name]), _anywhere(new[name])))
        elif name in new:
            found.append(Change(name=name, what="row", before=ABSENT, now=new[name].verdict))
        elif name not in now.unfinished:
            found.append(Change(name=name, what="row", before=old[name].verdict, now=ABSENT))
    return found


def _anywhere(row: SweepRow) -> SweepRow:
    """A row whose engines are named without their environments."""

    def plain(text: str) -> str:
        for name in sorted(row.environments, key=len, reverse=True):
            text = text.replace(f"{AT}{name}", "")
        return text

    pairs: dict[str, PairRow] = {}
    for engines, pair in row.pairs.items():
        divergences = tuple(map(plain, pair.divergences))
        pairs[plain(engines)] = msgspec.structs.replace(pair, divergences=divergences)
    return msgspec.structs.replace(
        row,
        reason=plain(row.reason),
        pairs=pairs,
        findings=tuple(map(plain, row.findings)),
    )


def _row(old: SweepRow, new: SweepRow) -> Iterator[Change]:
    def change(what: str, before: str, now: str) -> Change:
        return Change(name=new.name, what=what, before=before, now=now)

    if old.verdict != new.verdict:
        yield change("verdict", _with_reason(old), _with_reason(new))
    if "lost" in (old.verdict, new.verdict):
        return  # incomplete results cannot be compared
    for before, now in ((old.cases, new.cases), (_pairs(old), _pairs(new))):
        for what in dict.fromkeys([*before, *now]):
            if before.get(what) != now.get(what):
                yield change(what, before.get(what, ABSENT), now.get(what, ABSENT))
    for sentence in old.findings:
        if sentence not in new.findings:
            yield change("finding", sentence, ABSENT)
    for sentence in new.findings:
        if sentence not in old.findings:
            yield change("finding", ABSENT, sentence)


def _with_reason(row: SweepRow) -> str:
    return f"{row.verdict}: {row.reason}" if row.reason else row.verdict


def _pairs(row: SweepRow) -> dict[str, str]:
    """How much of each two graphs is paired, and where they differ."""
    facts: dict[str, str] = {}
    for engines, pair in row.pairs.items():
        facts[f"{engines}: paired"] = f"{pair.left} and {pair.right}"
        if pair.divergences:
            facts[f"{engines}: divergences"] = "; ".join(pair.divergences)
    return facts
