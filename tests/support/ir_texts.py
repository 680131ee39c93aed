"""Small IR texts, written as MindSpore prints its IR, and the samples that it did print."""

from pathlib import Path
from typing import Any

import msgspec

from explorer.engines.mindspore.ir import IRNode, Module

SAMPLES = Path(__file__).resolve().parents[1] / "ir_samples"

HEADER = "# IR entry: @f\n# Total subgraphs: 1\n\n# Total params: 0\n\nsubgraph attr:"

RETURN = "  Return(%0)\n      : (<null>)"

FIRST_STATEMENT = HEADER.count("\n") + 3
"""The line on which the first statement of a text stands, from 1."""


def module_of(*statements: str, parameters: str = "") -> str:
    """An IR text with one subgraph of these statements, each with its types."""
    body = "\n".join(statements)
    return f"{HEADER}\nsubgraph @f({parameters}) {{\n{body}\n}}\n"


def statement(operands: str, count: int, head: str = "  %0(a) = Op", tail: str = "") -> str:
    """A statement on ``count`` operands, with its types."""
    types = ", ".join(["<null>"] * count)
    return f"{head}({operands}){tail}\n      : ({types}) -> (<null>)"


def node_of_type(text: str) -> str:
    """A statement without operands that yields a value of that type."""
    return f"  %0(a) = Op()\n      : () -> (<{text}>)"


def nodes_of(module: Module) -> list[IRNode]:
    """The statements of all subgraphs, with those that return."""
    nodes: list[IRNode] = []
    for graph in module.subgraphs:
        nodes += graph.nodes
        if graph.returned:
            nodes.append(graph.returned)
    return nodes


def without(record: msgspec.Struct, *fields: str) -> Any:
    """A record as plain data, without some fields and without the lines on which statements stand."""
    return _without(msgspec.to_builtins(record), set(fields))


def _without(data: Any, fields: set[str]) -> Any:
    if isinstance(data, list | tuple):
        return [_without(item, fields) for item in data]
    if not isinstance(data, dict):
        return data
    is_placed = "nodes" in data or "operands" in data
    left_out = fields | {"line"} if is_placed else fields
    # A default is left out where it is that very object: on Python 3.10 an empty tuple may be another.
    kept = {key: item for key, item in data.items() if key not in left_out and item not in ((), [])}
    return {key: _without(item, fields) for key, item in kept.items()}
