"""Every fault that is planted by hand: a text of a file, what it is replaced by, and what must notice."""

from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]


class Fault(msgspec.Struct, frozen=True):
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


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault as the table ``[FILE.NAME]`` of ``faults.toml``."""

    text: str
    wrong: str
    noticed_by: str


def decoded(text: bytes) -> dict[str, Fault]:
    """The faults of a TOML text by their names. Raises ValueError where two have one name."""
    faults: dict[str, Fault] = {}
    for path, rows in msgspec.toml.decode(text, type=dict[str, dict[str, _Row]]).items():
        for name, row in rows.items():
            if name in faults:
                raise ValueError(f"{name} is a fault in {faults[name].path} and in {path}")
            faults[name] = Fault(name=name, path=path, **msgspec.structs.asdict(row))
    return faults


FAULTS = decoded((Path(__file__).parent / "faults.toml").read_bytes())
"""The faults of the table, by name."""
