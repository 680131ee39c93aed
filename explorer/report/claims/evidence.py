"""The evidence of a claim as a table, and what of it speaks against the statement."""

import msgspec

from explorer.model.claim import ClaimRow, Observation
from explorer.text.language import _, later
from explorer.text.messages import one_line
from explorer.words.claims import observations_text, what_text
from explorer.words.messages import text
from explorer.words.parties import party_names

WHAT, WHO, RESULT, AS_STATED = COLUMNS = (
    later("what was measured"),
    later("who"),
    later("result"),
    later("as stated"),
)
"""The names of the columns."""

ANSWERS: dict[bool | None, str] = {True: later("yes"), False: later("no"), None: ""}
"""What the last column says: nothing where the statement says nothing."""

NOT_AS_STATED = later("Not as stated:")

LENGTH = 200
"""The number of characters of the first observation that is not as stated."""


class EvidenceTable(msgspec.Struct, frozen=True):
    """The names of the columns that are not empty, and the rows of these."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def evidence_table(row: ClaimRow) -> EvidenceTable:
    """A claim's observations as a table; without rows where the claim could not be run.

    What was measured stands in the first of its rows alone.
    """
    rows = []
    previous = ""
    for observation in row.observations:
        what = what_text(observation)
        rows.append(("" if what == previous else what, *_cells(observation)))
        previous = what
    filled = [place for place in range(len(COLUMNS)) if any(cells[place] for cells in rows)]
    return EvidenceTable(
        tuple(_(COLUMNS[place]) for place in filled),
        tuple(tuple(cells[place] for place in filled) for cells in rows),
    )


def _cells(observation: Observation) -> tuple[str, ...]:
    return (
        party_names(observation.who),
        one_line(text(observation.value)),
        _(ANSWERS[observation.expected]),
    )


def against(row: ClaimRow) -> str:
    """The first observation that is not as stated, and how many more there are; "" for none."""
    found = [observation for observation in row.observations if observation.expected is False]
    if not found:
        return ""
    more = _("; and {n} more").format(n=len(found) - 1) if len(found) > 1 else ""
    return f"{one_line(observations_text(found[:1]), LENGTH)}{more}"
