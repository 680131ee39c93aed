"""What may be written otherwise on a line: the small changes that people make when they mend one."""

import ast
from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.mending import calls, edits
from explorer.mending.edits import Hints, Line
from explorer.mending.source import Source

TABLE = msgspec.toml.decode(Path(__file__).with_name("edits.toml").read_bytes())
EACH = [(kind, *row) for kind, rows in TABLE.items() for row in rows]


def line(text: str, known: dict[str, Any] | None = None, names: tuple[str, ...] = ()) -> Line:
    source = Source(text)
    statement = source.statement_at(1)
    assert statement is not None
    parts = list(source.expressions(statement))
    hints = Hints(**{name: tuple(map(as_tuple, values)) for name, values in (known or {}).items()})
    return Line(source, statement, parts, hints, names)


def as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # TOML has no tuples


def call(text: str) -> tuple[Source, ast.Call]:
    source = Source(text)
    return source, next(source.calls())


@pytest.mark.parametrize("row", EACH, ids=[f"{kind}: {text}" for kind, text, *_ in EACH])
def test_a_line_is_changed_to_what_may_be_meant(row: tuple[Any, ...]) -> None:
    kind, text, changed, *known = row
    at = line(text, *known)
    assert changed in [at.source.changed(changes) for changes in getattr(edits, kind)(at)]


@pytest.mark.parametrize(
    ("text", "arguments", "changed"),
    [
        ("nn.LayerNorm(8)", {"eps": 1e-3}, "nn.LayerNorm(8, eps=0.001)"),
        ("nn.LayerNorm(8, eps=1e-5)", {"eps": 1e-3}, "nn.LayerNorm(8, eps=0.001)"),
        ("nn.GELU()", {"approximate": "tanh"}, "nn.GELU(approximate='tanh')"),
        ("f(\n    a,  # the input\n)", {"axis": (0, 1)}, "f(\n    a, axis=(0, 1),  # the input\n)"),
        ("f((a + b))", {"axis": 1}, "f((a + b), axis=1)"),
        ("f(a, é, axis=0)", {"axis": 1, "keepdims": True}, "f(a, é, axis=1, keepdims=True)"),
        ("x.mean(-1)", {"axis": 0}, "x.mean(-1, axis=0)"),
    ],
)
def test_a_call_gets_arguments_by_name_and_keeps_the_rest(
    text: str, arguments: dict[str, object], changed: str
) -> None:
    source, found = call(text)
    assert source.changed(next(calls.with_arguments(source, found, arguments))) == changed


def test_a_literal_without_a_name_is_what_the_argument_may_be() -> None:
    source, found = call("x.mean(-1)")
    changes = calls.with_arguments(source, found, {"axis": 0})
    assert "x.mean(0)" in [source.changed(it) for it in changes]


def test_one_more_operand_is_what_can_be_read_there() -> None:
    at = line("y = f(h)", names=("x", "h"))
    assert "y = x + f(h)" in [at.source.changed(it) for it in edits.added(at)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_change_keeps_line_ends_tabs_comments_and_letters(end: str) -> None:
    text = end.join(["def f(x):", "\t# größer\u2028", "\treturn 'ü' + g(x,\t1)  # eins", ""])
    source, found = call(text)
    changes = next(calls.with_arguments(source, found, {"axis": 1}))
    assert source.changed(changes) == text.replace("1)", "1, axis=1)")
