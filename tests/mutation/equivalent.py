"""Mutants that no test can notice, each with the reason: they do what the code does."""

from pathlib import Path

import msgspec

from tests.mutation.mutators import Mutant


class Equivalent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change that changes nothing: the lines before and after, and why."""

    before: str
    after: str
    why: str


TABLE = (Path(__file__).parent / "equivalent.toml").read_bytes()

EQUIVALENT = msgspec.toml.decode(TABLE, type=dict[str, list[Equivalent]])
"""Those of each file; a test keeps the lines as they are in the files."""


def why_equivalent(mutant: Mutant) -> str:
    """The reason why a mutant does what the code does; empty where nobody has said so."""
    for row in EQUIVALENT.get(str(mutant.path), ()):
        if (row.before, row.after) == (mutant.before, mutant.after):
            return row.why
    return ""
