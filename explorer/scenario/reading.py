"""The worker's side of reading a scenario's file: runs its text, and sends what it declares."""

import msgspec

from explorer.scenario.declaration import encoded
from explorer.scenario.load import load
from explorer.text.language import said_in


class File(msgspec.Struct, frozen=True):
    """The path of a scenario's file, and the language in which its errors are written."""

    path: str
    language: str


class Reading(msgspec.Struct, frozen=True):
    """What came of reading a file: an encoded declaration."""

    declaration: bytes


def in_this_process(file: File) -> Reading:
    """Run a scenario file and return what it declares. Raises what load() raises."""
    with said_in(file.language):
        return Reading(encoded(load(file.path)))
