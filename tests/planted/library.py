"""The planted mistakes by name, their sets, and which of them fit two engines: read from TOML files."""

from pathlib import Path
from typing import Any

import msgspec

from explorer.model.engines import Framework
from tests.planted.facts import Fact
from tests.planted.mistake import Mistake

TABLES = Path(__file__).parent


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mistake as the table ``[NET.NAME]`` of a file: in MindSpore's net unless ``in`` says another."""

    old: str
    new: str
    framework: Framework = msgspec.field(name="in", default="mindspore")
    told_at: tuple[str, ...] = ()
    finding: str = ""
    kind: str = ""
    facts: tuple[Fact, ...] = ()


def decoded(text: bytes) -> dict[str, Mistake]:
    """The mistakes of a TOML text, by the names of net and mistake.

    Raises msgspec.ValidationError where a row lacks a text, or has a key that none has.
    """
    mistakes = {}
    for net, rows in msgspec.toml.decode(text, type=dict[str, dict[str, _Row]]).items():
        for name, row in rows.items():
            fields = msgspec.structs.asdict(row)
            fields["facts"] = tuple(_frozen(fact) for fact in row.facts)
            mistakes[f"{net}-{name}"] = Mistake(name=name, scenario=net, **fields)
    return mistakes


def _frozen(fact: Fact) -> Fact:
    """A fact whose values are as in Python: TOML has no tuple and no None."""
    return msgspec.structs.replace(fact, values=tuple(map(_python, fact.values)))


def _python(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_python, value))
    return None if value == "None" else value


def _sets() -> dict[str, tuple[Mistake, ...]]:
    """The sets by name: the net, and the number of the set in it."""
    text = (TABLES / "sets.toml").read_bytes()
    sets = {}
    for net, sets_of_net in msgspec.toml.decode(text, type=dict[str, list[list[str]]]).items():
        for number, names in enumerate(sets_of_net, 1):
            sets[f"{net}-{number}"] = tuple(LIBRARY[f"{net}-{name}"] for name in names)
    return sets


LIBRARY = decoded((TABLES / "library.toml").read_bytes())
"""The mistakes in the nets of ``nets``, each with what is wrong as facts."""

SETS = _sets()
"""Those of LIBRARY that are planted together."""

MISTAKES = decoded((TABLES / "shipped.toml").read_bytes())
"""The mistakes in shipped nets of MindSpore and PyTorch."""

STRANGERS = decoded((TABLES / "strangers.toml").read_bytes())
"""Those beside JAX that were written before the search for causes was run on any of their nets."""

SHIPPED = {
    **decoded((TABLES / "beside_jax.toml").read_bytes()),
    **{f"{name}_in_mindspore": mistake for name, mistake in MISTAKES.items() if mistake.facts},
    **STRANGERS,
}
"""The mistakes in shipped nets that JAX runs too, in any of the frameworks, with facts."""

IN_PORTS = {
    f"{name}_in_flax": mistake
    for name, mistake in decoded((TABLES / "ports.toml").read_bytes()).items()
}
"""Those in the ports to flax of some of LIBRARY's nets."""


def fitting(engines: tuple[str, ...]) -> dict[str, Mistake]:
    """The mistakes in nets that all these engines run: the library's if it has any, else SHIPPED's."""
    for mistakes in (LIBRARY, SHIPPED):
        found = {name: it for name, it in mistakes.items() if it.is_between(engines)}
        if found:
            return found
    return {}
