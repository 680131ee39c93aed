"""What a cause and the other net's lines say of a line: numbers, words and functions that may be meant."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from explorer.mending.edits import OPERATORS, Hints, is_number
from explorer.mending.source import Changes, Source, last_name
from explorer.model.causes import Cause, InsertOperator, RemoveOperator, SetArguments
from explorer.model.engines import FRAMEWORKS, Framework
from explorer.model.graph import SideName
from explorer.operators.table import catalogue, function_of

DEFINED = ("inputs", "parameters", "batches", *(f"{name}_net" for name in FRAMEWORKS))
"""The functions by which a file defines its nets, and what these start from."""


class Net(NamedTuple):
    """The net that is mended: its text, its framework and its side, and the framework of the other one."""

    source: Source
    framework: Framework
    other: Framework
    side: SideName

    def holds(self, changes: Changes) -> bool:
        """Whether changes touch nothing else that the file defines: the other net, what both start from."""
        own = f"{self.framework}_net"
        others = [span for name, span in self.source.functions() if name in DEFINED and name != own]
        return not any(start <= it.start < end for it in changes for start, end in others)


def hints_of(net: Net, others: Iterable[ast.stmt], cause: Cause | None) -> Hints:
    """What the cause says of a place, then what the statements of the other net there say."""
    nodes = [node for statement in others for node in ast.walk(statement)]
    calls = [last_name(node.func) for node in nodes if isinstance(node, ast.Call)]
    functions = [*_missing(net, cause), *(it for name in calls for it in _counterparts(net, name))]
    spelled_functions = [it for name in functions for it in spelled(net.source, name)]
    wraps = [*_wraps(net, cause), *(f"{it}({{}})" for it in spelled_functions)]
    wraps += [f"self.{it}({{}})" for it in _unread_layers(net.source)]
    literals = list(_literals(nodes))
    numbers = [*_numbers(net, cause), *(it for it in literals if not isinstance(it, str))]
    words = [it for it in (*_values(net, cause), *literals) if isinstance(it, str)]
    return Hints(
        tuple(dict.fromkeys(numbers)),
        tuple(dict.fromkeys(words)),
        tuple(dict.fromkeys(wraps)),
        tuple(dict.fromkeys(spelled_functions)),
        (*_given(net, cause), *_keywords(nodes)),
        tuple(
            dict.fromkeys(
                OPERATORS.get(type(it), "") for it in nodes if isinstance(it, ast.operator)
            )
        ),
    )


def spelled(source: Source, call: str) -> Iterator[str]:
    """A function as it is called, and as the file may write it by the modules that it imports."""
    root, _, name = call.rpartition(".")
    yield call
    yield from (f"{module}.{name}" for module in source.modules if module != root)


# Of the cause


def _values(net: Net, cause: Cause | None) -> Iterator[Any]:
    """The values of arguments that the op of this net should have."""
    for edit in cause.edits if cause else ():
        if isinstance(edit, SetArguments):
            yield from _wanted(net, cause, edit).values()


def _given(net: Net, cause: Cause | None) -> Iterator[tuple[str, Any]]:
    """The arguments that the op of this net should have, by each name that they have anywhere."""
    for edit in cause.edits if cause else ():
        if isinstance(edit, SetArguments):
            for name, value in _wanted(net, cause, edit).items():
                yield from ((it, value) for it in _names_of(name))


@cache
def _names_of(name: str) -> tuple[str, ...]:
    """What frameworks call an argument that one of them calls so."""
    sides = [
        {side.name for side in argument.sides.values() if side.name}
        for row in catalogue()
        for argument in row.arguments
    ]
    return tuple(dict.fromkeys(it for names in sides if name in names for it in sorted(names)))


def _wanted(net: Net, cause: Cause | None, edit: SetArguments) -> Mapping[str, Any]:
    return edit.arguments if cause and cause.side == net.side else edit.own


def _numbers(net: Net, cause: Cause | None) -> Iterator[Any]:
    """The numbers, and tuples of them, that a cause names."""
    for value in _values(net, cause):
        if isinstance(value, int | float | tuple) and not isinstance(value, bool):
            yield value
        if isinstance(value, tuple):
            yield from (it for it in value if isinstance(it, int | float))
    for edit in cause.edits if cause else ():
        if isinstance(edit, InsertOperator) and edit.factor:
            yield edit.number


def _wraps(net: Net, cause: Cause | None) -> Iterator[str]:
    """What undoes on this side what a cause does to a value."""
    for edit in cause.edits if cause else ():
        if not isinstance(edit, InsertOperator):
            continue
        # What is told of an op that one side alone has is what that does.
        is_lacking = bool(cause and cause.form == "removed_op")
        is_own = bool(cause and (cause.side == net.side) != is_lacking)
        if edit.op == "not":
            yield from ("~{}", "1 - {}")
        elif edit.factor and edit.op == "add":
            yield f"{{}} {'+' if is_own else '-'} {edit.number!r}"
        elif edit.factor and edit.number:
            yield f"{{}} {'*' if is_own else '/'} {edit.number!r}"


def _missing(net: Net, cause: Cause | None) -> Iterator[str]:
    """The function of this net's framework that does what the other net alone does."""
    for edit in cause.edits if cause else ():
        if isinstance(edit, RemoveOperator) and cause and cause.side != net.side:
            row = function_of(net.other, cause.op)
            column = row.columns.get(net.framework) if row else None
            if column:
                yield column.writes


# Of the other net


def _literals(nodes: Iterable[ast.AST]) -> Iterator[Any]:
    """The numbers, tuples of them and words that stand there; of a negative number the sign too."""
    for node in nodes:
        if isinstance(node, ast.Constant | ast.UnaryOp | ast.Tuple | ast.List):
            try:
                value = ast.literal_eval(node)
            except ValueError:
                continue
            if isinstance(value, int | float | str | tuple | list) and not isinstance(value, bool):
                yield tuple(value) if isinstance(value, list) else value
        # As methods take the numbers of axes.
        if isinstance(node, ast.Call) and len(node.args) > 1 and all(map(is_number, node.args)):
            yield tuple(ast.literal_eval(it) for it in node.args)


def _keywords(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, Any]]:
    """The arguments that are given by name there, with their values where these are literals."""
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg:
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                continue
            yield from ((it, value) for it in dict.fromkeys((node.arg, *_names_of(node.arg))))


def _counterparts(net: Net, name: str) -> Iterator[str]:
    """What this net's framework calls a function of the other one that has this name."""
    for row in catalogue():
        column, other = row.columns.get(net.framework), row.columns.get(net.other)
        if column and other and row.kind != "operator":
            names = (other.call, other.writes, *other.alike)
            if name in {it.rpartition(".")[2] for it in names}:
                yield column.writes


def _unread_layers(source: Source) -> list[str]:
    """The attributes that a net sets and nobody reads: layers that were forgotten."""
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.Attribute)]
    own = [node for node in nodes if last_name(node.value) == "self"]
    read = {node.attr for node in own if not isinstance(node.ctx, ast.Store)}
    stored = dict.fromkeys(node.attr for node in own if isinstance(node.ctx, ast.Store))
    return [name for name in stored if name not in read]
