"""Nets of the tests as rows of ``nets/nets.toml``, of which the texts of scenarios are made."""

import ast
from pathlib import Path

import msgspec

from tests.support.scenario_files import Side, scenario_text

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
