"""Mutants that no test can notice, each with the reason: they do what the code does."""

from typing import NamedTuple

from tests.mutation.mutators import Mutant


class Equivalent(NamedTuple):
    """A change that changes nothing: the file, the lines before and after, and why."""

    path: str
    before: str
    after: str
    why: str


EQUIVALENT: tuple[Equivalent, ...] = ()
"""Looked at one by one; a test keeps the lines as they are in the files."""


def why_equivalent(mutant: Mutant) -> str:
    """The reason why a mutant does what the code does; empty where nobody has said so."""
    for row in EQUIVALENT:
        if (row.path, row.before, row.after) == (str(mutant.path), mutant.before, mutant.after):
            return row.why
    return ""
