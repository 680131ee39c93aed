"""A fault: a text of a file, what it is replaced by, and what must notice."""

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Fault(NamedTuple):
    """One mistake that somebody could make.

    ``text`` stands once in the file at ``path``, under the root; ``wrong`` takes its place.
    ``noticed_by`` is what pytest is given: a file of tests, or one test of it.
    """

    name: str
    path: str
    text: str
    wrong: str
    noticed_by: str

    def planted(self, source: str) -> str:
        """A file's text with the fault in it. Raises ValueError where the row is stale."""
        times = source.count(self.text)
        if times != 1:
            raise ValueError(
                f"{self.name}: its text stands {times} times in {self.path}, and must stand once;"
                " bring the row up to date"
            )
        return source.replace(self.text, self.wrong)
