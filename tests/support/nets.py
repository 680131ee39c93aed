"""The nets of the tests by name: rows of ``nets/nets.toml``, twins, and files of their own."""

import ast
import os
import tempfile
from pathlib import Path

import msgspec

from explorer.scenario.find import FOLDER
from tests.support.kept import PLACES
from tests.support.scenario_files import Side, scenario_text
from tests.support.twin_nets import TWINS

NETS = Path(__file__).resolve().parents[1] / "nets"
"""The folder of the table, and of nets with a file of their own."""


class Net(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The inputs as arguments of a dict, the start, what else a scenario says, and each framework's net."""

    inputs: str
    parameters: str = ""
    head: str = ""
    mindspore: Side | None = None
    torch: Side | None = None
    jax: Side | None = None

    @property
    def text(self) -> str:
        """The text of the scenario."""
        made = ast.parse(f"dict({self.inputs})", mode="eval").body
        assert isinstance(made, ast.Call)
        names = ", ".join(str(keyword.arg) for keyword in made.keywords)
        head = self.head
        if self.parameters:
            head += f"\n\n\ndef parameters():\n    return {self.parameters}"
        inputs = f"random = np.random.default_rng(0)\nreturn dict({self.inputs})"
        return scenario_text(inputs, self.mindspore, self.torch, names, head, self.jax)


TABLE = msgspec.toml.decode((NETS / "nets.toml").read_bytes(), type=dict[str, Net])


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
