"""The nets of the tests by name: rows of a table, twins, and files of their own."""

import os
import tempfile
from pathlib import Path

from explorer.scenario.find import FOLDER
from tests.support.kept import PLACES
from tests.support.net_table import NETS as NETS
from tests.support.net_table import TABLE
from tests.support.twin_nets import TWINS


def net_file(name: str) -> Path:
    """The file of a net of the tests, or of a shipped scenario.

    That of a row or twin is at the same path in every run: replies on it are kept.
    """
    if text := TABLE[name].text if name in TABLE else TWINS.get(name):
        return _placed(name, text)
    own = NETS / f"{name}.py"
    return own if own.is_file() else FOLDER / f"{name}.py"


def _placed(name: str, text: str) -> Path:
    path = PLACES / "nets" / f"{name}.py"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=path.parent)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(unfinished, path)
    return path
