"""What may be written otherwise at a divergence, on the side that is mended: the likeliest first.

What a cause says is to be written comes first, at the constructor of the layer or at the call. Then come
the small changes of ``edits``: those that go with the cause, then all, at the lines of the op, at those
that make what it reads, and at the constructor of its layer.
"""

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from explorer.mending import calls, edits
from explorer.mending.edits import Hints, Line
from explorer.mending.hints import Net, hints_of, spelled
from explorer.mending.source import Changes, Source, is_read, last_name
from explorer.model.alignment import Seen
from explorer.model.causes import Cause, Form, Mend
from explorer.model.graph import Layer
from explorer.operators.records import Row
from explorer.operators.table import catalogue

DEEPEST = 2
"""So many steps back are the lines looked at that make what a line reads."""

MOST_LINES = 8
"""At so many lines of a step changes are tried."""

Kind = Callable[[Line], Iterator[Changes]]
"""A kind of changes of a line."""

GOING_WITH: dict[Form | None, tuple[Kind, ...]] = {
    "arguments": (edits.given_too, edits.numbers, edits.words, edits.taken_away),
    "operator": (edits.called_otherwise,),
    "order": (edits.nested_otherwise, edits.exchanged),
    "inputs": (edits.exchanged_targets, edits.exchanged, edits.numbers, edits.words),
    "value": (edits.numbers, edits.operators, edits.wrapped),
    "removed": (edits.unwrapped, edits.wrapped),
    "removed_op": (edits.unwrapped, edits.wrapped),
}
"""The kinds of changes that go with the form of a cause."""

EACH: tuple[Kind, ...] = (
    edits.given_too,
    edits.numbers,
    edits.words,
    edits.exchanged_targets,
    edits.exchanged,
    edits.operators,
    edits.wrapped,
    edits.unwrapped,
    edits.other_names,
    edits.called_otherwise,
    edits.nested_otherwise,
    edits.in_another_order,
    edits.taken_away,
    edits.added,
)
"""All kinds, in the order in which they are tried."""


class Spot(NamedTuple):
    """A divergence, as the net that is mended sees it.

    ``lines`` are those of its ops in a ``file``, the likeliest first, ``others`` the statements of the other
    net there; ``scope`` is the module in which the op runs.
    """

    net: Net
    file: str
    seen: Seen
    lines: tuple[int, ...]
    others: tuple[ast.stmt, ...]
    scope: str

    @property
    def source(self) -> Source:
        """The text that is mended."""
        return self.net.source

    @property
    def cause(self) -> Cause | None:
        """What explains the divergence."""
        return self.seen.cause

    @property
    def layer(self) -> Layer | None:
        """The layer in which the op of this side runs."""
        return self.cause.layers[self.net.side == "right"] if self.cause else None

    @property
    def mend(self) -> Mend | None:
        """What the cause says is to be written."""
        mends = self.cause.mends if self.cause else ()
        return next((it for it in mends if it.side == self.net.side), None)


def candidates(spot: Spot) -> Iterator[Changes]:
    """The changes that may mend a divergence, the likeliest first; one may come twice."""
    hints = hints_of(spot.net, spot.others, spot.cause)
    if spot.cause and spot.cause.form == "operator":
        for statement in _statements(spot, 0):
            yield from edits.operators(_line(spot.source, statement, hints))
    if spot.mend:
        yield from _as_written(spot, spot.mend)
    going_with = GOING_WITH.get(spot.cause.form if spot.cause else None, ())
    made_at = [it for call in constructors(spot) if (it := spot.source.statement_at(call.lineno))]
    for kinds, depths in ((going_with, 2), (EACH, DEEPEST + 1)):
        for depth in range(depths):
            for statement in [
                *_statements(spot, depth)[:MOST_LINES],
                *(made_at if depth == 0 else ()),
            ]:
                line = _line(spot.source, statement, hints)
                for kind in kinds:
                    yield from kind(line)


def _line(source: Source, statement: ast.stmt, hints: Hints) -> Line:
    names = list(_names_at(source, statement))
    return Line(source, statement, list(source.expressions(statement)), hints, names)


# What the cause says


def _as_written(spot: Spot, mend: Mend) -> Iterator[Changes]:
    """What is to be written, at the constructor of the layer, and at the calls of the op's line."""
    source = spot.source
    statements = _statements(spot, 0)
    if mend.call in edits.OPERATORS.values():
        for statement in statements:
            yield from _beside_operator(source, statement, mend)
        return
    at_line = [
        it
        for statement in statements
        for it in source.expressions(statement)
        if isinstance(it, ast.Call)
    ]
    found, arguments = [*constructors(spot), *at_line], dict(mend.arguments)
    names = _names_of(spot, mend.call)
    for call in found:
        given = {keyword.arg for keyword in call.keywords}
        if last_name(call.func) in names or (given and given >= arguments.keys()):
            yield from calls.with_arguments(source, call, arguments)
    for kind, ways in ((_layers_of(spot, mend.call), constructors(spot)), ((mend.call,), found)):
        for name in (it for one in kind for it in spelled(source, one)):
            for call in ways:
                yield from calls.renamed(source, call, name, arguments)


def _beside_operator(source: Source, statement: ast.stmt, mend: Mend) -> Iterator[Changes]:
    """A number beside an operator, where one is written."""
    values = tuple(it for it in mend.arguments.values() if isinstance(it, int | float))
    sums = [it for it in source.expressions(statement) if isinstance(it, ast.BinOp)]
    sums = [it for it in sums if edits.OPERATORS.get(type(it.op)) == mend.call]
    operands = [it for node in sums for it in (node.left, node.right)]
    yield from edits.numbers(Line(source, statement, operands, Hints(numbers=values)))


def _layers_of(spot: Spot, call: str) -> tuple[str, ...]:
    """The layers that do what a function does, as their class is called."""
    families = {row.family for row in catalogue() if call in _calls(row, spot)}
    rows = [row for row in catalogue() if row.kind == "layer" and row.family in families]
    return tuple(dict.fromkeys(it for row in rows for it in _calls(row, spot)[-1:]))


def _calls(row: Row, spot: Spot) -> tuple[str, ...]:
    column = row.columns.get(spot.net.framework)
    return (column.call, *column.alike, column.writes) if column else ()


def _names_of(spot: Spot, call: str) -> set[str]:
    """What a function may be called: its own name, and those of methods and other modules alike."""
    names = {call.rpartition(".")[2]}
    for row in catalogue():
        column = row.columns.get(spot.net.framework)
        if column and call in (column.call, column.writes):
            names |= {it.rpartition(".")[2] for it in (column.call, *column.alike)}
    return names


def constructors(spot: Spot) -> list[ast.Call]:
    """The calls that may have made the layer of a spot: of its class, the one with its name first."""
    if spot.layer is None:
        return []
    kind = spot.layer.name.rpartition(".")[2]

    def is_another(call: ast.Call) -> bool:
        statement = spot.source.statement_at(call.lineno)
        return not (statement and _has_name(spot.source, statement, spot.scope))

    return sorted((it for it in spot.source.calls() if last_name(it.func) == kind), key=is_another)


# Where it may be


def _statements(spot: Spot, depth: int) -> list[ast.stmt]:
    """The statements at the lines of a spot, or so many steps before: those that make what is read there."""
    source = spot.source
    found = list(dict.fromkeys(it for it in map(source.statement_at, spot.lines) if it is not None))
    every = set(found)
    for step in range(depth):
        made = [it for statement in found for it in _makers(source, statement)]
        made.sort(key=lambda it: not _has_name(source, it, spot.scope))
        if step == 0:
            made += [it for statement in found for it in _readers(source, statement)[:1]]
        found = [it for it in dict.fromkeys(made) if it not in every]
        every.update(found)
    return found


def _has_name(source: Source, statement: ast.stmt, scope: str) -> bool:
    """Whether a statement has the name of a module, the last one in its path that is no number."""
    names = [it for it in scope.split(".") if it and not it.isdigit()]
    return (
        bool(names)
        and re.search(rf"\b{re.escape(names[-1])}\b", source.says(statement)) is not None
    )


def _makers(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statements that give values to what another one reads, the nearest first."""
    read = {last_name(it) for it in source.expressions(statement)} - {""}
    found: list[ast.stmt] = []
    for node in ast.walk(source.tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, ast.Return) and node.value:
            function = source.function_at(node.lineno)
            targets = [ast.Name(function.name)] if function else []
        names = {last_name(it) for at in targets for it in ast.walk(at) if isinstance(it, ast.expr)}
        if names & read and isinstance(node, ast.stmt) and node is not statement:
            found.append(node)
    return sorted(found, key=lambda it: abs(it.lineno - statement.lineno))


def layers_made_for(source: Source, statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements that make the layers which a statement calls, the nearest of each name."""
    nodes = [it for it in ast.walk(statement) if isinstance(it, ast.Attribute)]
    names = {it.attr for it in nodes if last_name(it.value) == "self"}
    for node in _makers(source, statement):
        targets = node.targets if isinstance(node, ast.Assign) else []
        # Both nets may have a layer of one name: that of the same one is nearer.
        made = names & {it.attr for it in targets if isinstance(it, ast.Attribute)}
        if made:
            names -= made
            yield node


def _readers(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of its function that read what a statement makes, the next one first."""
    made = {it.id for it in ast.walk(statement) if isinstance(it, ast.Name) and not is_read(it)}
    function = source.function_at(statement.lineno)
    found = []
    for node in ast.walk(function) if function else ():
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Return | ast.Expr):
            read = {last_name(it) for it in source.expressions(node) if is_read(it)}
            if read & made and node.lineno > statement.lineno:
                found.append(node)
    return sorted(found, key=lambda it: it.lineno)


def _names_at(source: Source, statement: ast.stmt) -> Iterator[str]:
    """What may be read at a statement: names of its function, attributes of its class, and keys."""
    function = source.function_at(statement.lineno)
    if function is None:
        return
    nodes = list(ast.walk(function))
    stored = [it for it in nodes if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store)]
    names = [it.arg for it in function.args.args]
    names += [it.id for it in stored if it.lineno <= statement.lineno]
    if "self" in names:
        attributes = (it for it in ast.walk(source.tree) if isinstance(it, ast.Attribute))
        names += [
            f"self.{it.attr}"
            for it in attributes
            if isinstance(it.ctx, ast.Store) and last_name(it.value) == "self"
        ]
    keys = [it.slice for it in nodes if isinstance(it, ast.Subscript)]
    names += sorted(source.says(it) for it in keys if _is_word(it))
    yield from (it for it in dict.fromkeys(names) if it != "self")


def _is_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
