"""The evidence of a claim as a table, and what of it speaks against the statement."""

from explorer.blocks.records import Column, Table, table
from explorer.model.claim import ClaimRow
from explorer.text.language import _, later
from explorer.text.messages import one_line
from explorer.words.claims import observations_text, what_text
from explorer.words.messages import text
from explorer.words.parties import party_names

COLUMNS = (
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


def evidence_table(row: ClaimRow) -> Table:
    """A claim's observations; without rows where the claim could not be run.

    What was measured is in the first of its rows alone.
    """
    rows = []
    previous = ""
    for observation in row.observations:
        what = what_text(observation)
        value = one_line(text(observation.value))
        is_as_stated = _(ANSWERS[observation.expected])
        shown = "" if what == previous else what
        rows.append((shown, party_names(observation.who), value, is_as_stated))
        previous = what
    return table([Column(_(name), may_be_empty=True) for name in COLUMNS], rows)


def against(row: ClaimRow) -> str:
    """The first observation that is not as stated, and how many more there are; "" for none."""
    found = [observation for observation in row.observations if observation.expected is False]
    if not found:
        return ""
    more = _("; and {n} more").format(n=len(found) - 1) if len(found) > 1 else ""
    return f"{one_line(observations_text(found[:1]), LENGTH)}{more}"
