"""The catalogue of operators, with a column for each framework, and how a row is found by its names.

The rows are in ``catalogue/*.toml``. A framework's column of a row is its callable, or a table with the
names of its other callables and of its graphs' operators. An argument is written as in a signature,
``eps=1e-05``, without a default where it is required, for each framework or for ``all`` of the row's;
one that a framework lacks, and that acts as if it had a value, is ``=1e-05``. ``tried`` are MindSpore's
values with which the row was checked, ``way`` is how a framework's value becomes PyTorch's. A row may
name another one, by PyTorch's callable, whose arguments it has too. One without a family has the name of
PyTorch's callable as one; one without operands takes one tensor.
"""

from ast import literal_eval
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from explorer.model.engines import FRAMEWORKS, NEEDED, Framework
from explorer.model.graph import Arguments
from explorer.operators.records import (
    REQUIRED,
    Argument,
    Column,
    Compared,
    Kind,
    Mode,
    Operand,
    Row,
    Side,
)
from explorer.operators.ways import COMPANIONS, HUB, WAYS

FOLDER = Path(__file__).parent / "catalogue"

FILES = ("activations", "arithmetic", "shapes", "networks", "losses", "layers", "operators")
"""The files of rows, in the order in which these are listed."""

CHECKED = {"mindspore": "2.10.0", "torch": "2.13.0"}
"""The versions with which the rows were checked."""

Written = dict[str, Any]
"""A table of a file."""


class _Argument(msgspec.Struct, forbid_unknown_fields=True):
    """What an argument says beside its names and defaults."""

    tried: str = ""
    only_if: str = ""
    way: dict[Framework, str] = {}


PLAIN: dict[Kind, Written] = {
    "function": {"all": "input", "shape": "n c h"},
    "layer": {"all": "input", "mindspore": "x", "shape": "n c h"},
}
"""The operand of a row that has no operands of its own."""


@cache
def correspondences(kind: Kind | None = None) -> tuple[Row, ...]:
    """The rows that pair callables of the frameworks with which all are checked, or those of a kind.

    >>> correspondences("layer")[0].name("torch")
    'torch.nn.ReLU'
    """
    pairs = (row for row in catalogue() if row.columns.keys() >= set(NEEDED))
    return tuple(row for row in pairs if kind in (None, row.kind))


@cache
def catalogue() -> tuple[Row, ...]:
    """All rows, also those of one framework alone. ValueError names a row that is written wrongly."""
    text = b"\n".join((FOLDER / f"{name}.toml").read_bytes() for name in FILES)
    rows: list[Row] = []
    for kind, written in msgspec.toml.decode(text, type=dict[Kind, list[Written]]).items():
        for table in written:
            columns, rest = _split(table)
            try:
                if isinstance(rest.get("arguments"), str):
                    shared = {row.name(HUB): row.arguments for row in rows}
                    rest["arguments"] = shared[rest["arguments"]]
                rows.append(_row(kind, {name: _column(it) for name, it in columns.items()}, **rest))
            except (KeyError, SyntaxError, TypeError, ValueError) as error:
                raise ValueError(f"[[{kind}]] {columns}: {error}") from error
    return tuple(rows)


def _row(
    kind: Kind,
    columns: dict[Framework, Column],
    *,
    family: str = "",
    operands: Iterable[Written] = (),
    arguments: Iterable[str | Written | Argument] = (),
    unmatched: str = "",
    modes: str = "eval",
    compared: Compared = "gradients",
    facts: str = "",
) -> Row:
    return Row(
        kind,
        family or last_name(columns[HUB].call).lower(),
        columns,
        tuple(
            msgspec.convert({"names": names, **rest}, Operand)
            for names, rest in (_split(it, columns) for it in operands or [PLAIN[kind]])
        ),
        tuple(_argument(written, columns) for written in arguments),
        tuple(unmatched.split()),
        msgspec.convert(modes.split(), tuple[Mode, ...]),
        msgspec.convert(compared, Compared),
        tuple(facts.split()),
    )


def _split(
    table: Written, all_of: Iterable[Framework] = ()
) -> tuple[dict[Framework, Any], Written]:
    """What a table says of each framework, where "all" is for several, and the rest."""
    sides = dict.fromkeys(all_of, table["all"]) if "all" in table else {}
    sides |= {name: table[name] for name in FRAMEWORKS if name in table}
    return sides, {name: it for name, it in table.items() if name not in (*FRAMEWORKS, "all")}


def _column(written: str | Written) -> Column:
    table: Written = {"call": written} if isinstance(written, str) else dict(written)
    for name in table.keys() & {"alike", "graph", "weights"}:
        table[name] = table[name].split()
    return msgspec.convert({"writes": table["call"], **table}, Column)


def _argument(written: str | Written | Argument, columns: Iterable[Framework]) -> Argument:
    if isinstance(written, Argument):
        return written
    texts, rest = _split({"all": written} if isinstance(written, str) else written, columns)
    argument = msgspec.convert(rest, _Argument)
    for way in argument.way.values():
        if way not in WAYS.keys() | COMPANIONS:
            raise ValueError(f"unknown way: {way} (one of {', '.join(WAYS)})")
    name, _equals, value = argument.only_if.partition("=")
    sides = {}
    for framework, text in texts.items():
        own_name, equals, default = text.partition("=")
        sides[framework] = Side(own_name, _value(default) if equals else REQUIRED)
    return Argument(
        sides,
        argument.way,
        _value(f"({argument.tried},)" if argument.tried else "()"),
        (name, _value(value)) if name else None,
    )


_value = cache(literal_eval)


# By names


def row_between(mindspore_op: str, torch_op: str) -> Row | None:
    """The row of two operators, each named as it is in graphs.

    >>> row_between("Conv2D", "aten.convolution.default").name("mindspore")
    'ops.Conv2D'
    """
    here = _rows_of("mindspore", mindspore_op)
    return next((row for row in _rows_of("torch", torch_op) if row in here), None)


def _rows_of(framework: Framework, op: str) -> list[Row]:
    by_name = _by_operator()[framework]
    plain = op.removeprefix("PrimFunc_").replace("aten::", "aten.")
    found = by_name.get(plain, [])
    while not found and "." in plain:
        # What follows the last dot may name the overload: default, Tensor.
        plain = plain.rpartition(".")[0]
        # An op in place does the same work: relu_.
        found = by_name.get(plain, []) or by_name.get(plain.rstrip("_"), [])
    return found


def function_of(framework: Framework, op: str) -> Row | None:
    """The row of the function that a user calls for an operator of a framework's graphs.

    >>> function_of("torch", "aten._softmax.default").name("torch")
    'torch.nn.functional.softmax'
    """
    by_name = _by_operator()[framework]
    # An overload goes by the name of its operator.
    found = by_name.get(op, []) + by_name.get(op.rpartition(".")[0], [])
    return next((row for row in found if row.kind == "function"), None)


@cache
def _by_operator() -> dict[Framework, dict[str, list[Row]]]:
    """The rows of operators and functions by their operators' names in graphs, and by their own."""
    by_name: dict[Framework, dict[str, list[Row]]] = {
        name: defaultdict(list) for name in FRAMEWORKS
    }
    for kind in ("operator", "function"):
        for row in (row for row in catalogue() if row.kind == kind):
            for framework, column in row.columns.items():
                own = (column.call, column.call.removeprefix("ops."))
                for name in dict.fromkeys((*own, *column.alike, *column.graph)):
                    by_name[framework][name].append(row)
    return {framework: dict(found) for framework, found in by_name.items()}


def layer_of(framework: Framework, class_name: str) -> Row | None:
    """The row of a layer by the name of its class: ``Dense``, ``nn.Dense``.

    >>> layer_of("mindspore", "Dense").name("torch")
    'torch.nn.Linear'
    """
    last = last_name(class_name)
    return next(
        (row for row in correspondences("layer") if last_name(row.name(framework)) == last), None
    )


def last_name(name: str) -> str:
    """What a callable is called in its module: ``Linear`` of ``torch.nn.Linear``."""
    return name.rpartition(".")[2]


@cache
def names() -> dict[str, tuple[Row, ...]]:
    """The rows by every name that a person may give."""
    by_name: dict[str, tuple[Row, ...]] = defaultdict(tuple)
    for row in correspondences():
        operators = [name for framework in NEEDED for name in row.columns[framework].graph]
        for name in dict.fromkeys((*_calls(row), *operators, row.family)):
            by_name[name] += (row,)
    return dict(by_name)


def _calls(row: Row) -> Iterator[str]:
    for framework in NEEDED:
        column = row.columns[framework]
        yield from (column.call, *column.alike)


def rows_named(given: str) -> tuple[Row, ...]:
    """The rows that a name means; those of its last part where the whole is none's.

    >>> [row.name("torch") for row in rows_named("nn.GELU")]
    ['torch.nn.GELU']
    """
    operators = tuple(
        row for row in correspondences("operator") if row.name("mindspore") == f"ops.{given}"
    )
    if operators:
        return operators
    for name in (given, given.removeprefix("mindspore."), f"torch.{given}"):
        if name in names():
            return names()[name]
    last = f".{given}"
    return tuple(
        row for row in correspondences() if any(name.endswith(last) for name in _calls(row))
    )


# What is tried of operators where two graphs differ


class Windowed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an operator calls the lengths of its windows, the steps between them, and those inside them."""

    strides: str
    steps: str
    sizes: str = ""
    number: float | None = None


class Tried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table of what is tried, which says itself what each of its entries is."""

    positions: frozenset[str]
    axes: frozenset[str]
    orders: frozenset[str]
    of_windows: frozenset[str]
    fixed: frozenset[str]
    linear: frozenset[str]
    of_weights: frozenset[str]
    placing: frozenset[str]
    reductions: frozenset[str]
    select: str
    stands_for: dict[str, str]
    said_by: dict[str, str]
    written_out: dict[str, frozenset[str]]
    few: dict[str, tuple[int | str, ...]]
    usual: dict[str, tuple[float, ...]]
    windows: dict[str, tuple[int, ...]]
    windowed: dict[str, Windowed]
    user_names: dict[str, str]
    settled: dict[str, Arguments]


TRIED = msgspec.toml.decode((FOLDER / "tried.toml").read_bytes(), type=Tried)

ALTERNATIVES = msgspec.toml.decode(
    (FOLDER / "alternatives.toml").read_bytes(), type=dict[str, dict[Framework, str]]
)


@cache
def alternatives(op: str) -> tuple[str, ...]:
    """The operators that may stand in the place of one, all named as in graphs.

    >>> alternatives("aten._softmax.default")
    ('aten._log_softmax.default',)
    """
    groups = [ops.split() for group in ALTERNATIVES.values() for ops in group.values()]
    others = (other for ops in groups if op in ops for other in ops if other != op)
    return tuple(other for other in others if other not in TRIED.said_by)
