"""The small changes that people make when they mend a line: what is tried there, the likeliest first."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from explorer.mending.calls import literal, renamed, with_arguments
from explorer.mending.source import Change, Changes, Source, is_read, last_name

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.Tuple, ast.List)
"""Expressions that need no parentheses as an operand."""

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}
"""Operators as they are written."""

INSTEAD = {"+": "-", "-": "+", "*": "/", "/": "*", "&": "|", "|": "&"}
"""The operator that is most often meant by another one."""

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
"""The comparison that is most often meant by another one."""

MOST_ARGUMENTS = 5
"""Arguments are exchanged in calls of up to so many."""


class Hints(NamedTuple):
    """What is known of a line: what may be meant there.

    A wrap is a text in which ``{}`` is the expression. ``keywords`` are arguments with their names, and
    ``signs`` are operators between two operands.
    """

    numbers: tuple[Any, ...] = ()
    words: tuple[str, ...] = ()
    wraps: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    keywords: tuple[tuple[str, Any], ...] = ()
    signs: tuple[str, ...] = ()


class Line(NamedTuple):
    """A statement, its expressions with outer ones first, what is known of it, and what may be read there."""

    source: Source
    statement: ast.stmt
    parts: Sequence[ast.expr]
    hints: Hints
    names: Sequence[str] = ()


# Expressions of a statement


def numbers(line: Line) -> Iterator[Changes]:
    """Another number in the place of one that is written there, other numbers in that of several."""
    source, parts, hints = line.source, line.parts, line.hints
    signed = [it.operand for it in parts if isinstance(it, ast.UnaryOp)]
    written = [it for it in parts if is_number(it) and it not in signed]
    given = [
        it for node in parts if isinstance(node, ast.Call) for it in node.args if is_number(it)
    ]
    several = [it for it in parts if isinstance(it, ast.Tuple | ast.List) and is_read(it)]
    for value in hints.numbers:
        are_several = isinstance(value, tuple)
        alike = [it for it in several if are_several and len(it.elts) == len(value)]
        for node in (*alike, *given) if are_several else written:
            yield (source.put(node, _operand(literal(value), node)),)
    for node in written:
        own = ast.literal_eval(node)
        near = (-own, own + 1, own - 1) if isinstance(own, int) else (-own, 1 / own if own else 1.0)
        for value in near:
            yield (source.put(node, literal(value)),)
    for node in several:
        yield (source.put(node, f"({', '.join(source.says(it) for it in reversed(node.elts))})"),)


def _operand(text: str, node: ast.expr) -> str:
    return f"({text})" if text.startswith("-") and not is_negative(node) else text


def is_number(node: ast.expr) -> bool:
    """Whether a number is written there, with its sign or without."""
    return is_negative(node) or _is_positive(node)


def _is_positive(node: ast.expr) -> bool:
    is_constant = isinstance(node, ast.Constant)
    return is_constant and type(node.value) in (int, float)  # type: ignore[attr-defined]  # narrowed


def is_negative(node: ast.expr) -> bool:
    """Whether a number with a minus is written there."""
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and _is_positive(node.operand)
    )


def words(line: Line) -> Iterator[Changes]:
    """Another word between quotes, and True for False."""
    source, parts, hints = line.source, line.parts, line.hints
    for node in parts:
        if not isinstance(node, ast.Constant):
            continue
        if isinstance(node.value, bool):
            yield (source.put(node, literal(not node.value)),)
        elif isinstance(node.value, str):
            for word in hints.words:
                if word != node.value:
                    yield (source.put(node, literal(word)),)


def exchanged(line: Line) -> Iterator[Changes]:
    """Two operands, arguments or elements in each other's place."""
    source, parts = line.source, line.parts
    for node in parts:
        if isinstance(node, ast.BinOp):
            yield _exchange(source, node.left, node.right, are_operands=True)
        elif isinstance(node, ast.Call) and len(node.args) <= MOST_ARGUMENTS:
            for one, other in combinations(node.args, 2):
                yield _exchange(source, one, other)
        elif isinstance(node, ast.Tuple | ast.List) and is_read(node):
            for one, other in combinations(node.elts[:MOST_ARGUMENTS], 2):
                yield _exchange(source, one, other)
    read = [it for it in parts if isinstance(it, ast.Name | ast.Attribute) and is_read(it)]
    written = [it for it in parts if is_number(it)]
    for one, other in (*combinations(read, 2), *combinations(written, 2)):
        (a, b), (c, d) = source.span(one), source.span(other)
        if source.says(one) != source.says(other) and (b <= c or d <= a):
            yield _exchange(source, one, other)


def exchanged_targets(line: Line) -> Iterator[Changes]:
    """What is unpacked under other names: ``q, v, k`` for ``q, k, v``."""
    source, statement = line.source, line.statement
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
        for one, other in combinations(statement.targets[0].elts, 2):
            yield _exchange(source, one, other)


def _exchange(
    source: Source, one: ast.expr, other: ast.expr, *, are_operands: bool = False
) -> Changes:
    text, other_text = source.says(one), source.says(other)
    if are_operands:
        text, other_text = _closed(source, one), _closed(source, other)
    return source.put(one, other_text), source.put(other, text)


def _closed(source: Source, node: ast.expr) -> str:
    """The text of an expression as an operand."""
    text = source.says(node)
    return text if isinstance(node, ATOMS) else f"({text})"


def operators(line: Line) -> Iterator[Changes]:
    """Another operator between two operands, another comparison, the opposite of an argument."""
    source, parts = line.source, line.parts
    for node in parts:
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            written = OPERATORS[type(node.op)]
            yield from _between(source, node.left, node.right, written, INSTEAD.get(written, ""))
        elif isinstance(node, ast.Compare):
            left = node.left
            for right in node.comparators:
                for written, instead in COMPARISONS.items():
                    yield from _between(source, left, right, written, instead)
                left = right
        elif isinstance(node, ast.Call):
            for argument in node.args:
                if isinstance(argument, ast.Name | ast.Attribute):
                    yield (source.put(argument, f"-{source.says(argument)}"),)


def _between(
    source: Source, left: ast.expr, right: ast.expr, written: str, instead: str
) -> Iterator[Changes]:
    start, end = source.span(left)[1], source.span(right)[0]
    between = source.text[start:end]
    if instead and between.strip("() \t\r\n\\") == written:
        at = start + between.index(written)
        yield (Change(at, at + len(written), instead),)


def unwrapped(line: Line) -> Iterator[Changes]:
    """Without a call, a method, a sign or an operand."""
    source, parts = line.source, line.parts
    for node in parts:
        kept: list[ast.expr] = []
        if isinstance(node, ast.Call):
            kept = [it for it in node.args[:2] if not isinstance(it, ast.Starred)]
            if isinstance(node.func, ast.Attribute):
                kept.append(node.func.value)
        elif isinstance(node, ast.UnaryOp):
            kept = [node.operand]
        elif isinstance(node, ast.BinOp):
            kept = [node.left, node.right]
        elif isinstance(node, ast.Subscript) and is_read(node):
            kept = [node.value]
        for inner in kept:
            yield (source.put(node, _closed(source, inner)),)


def wrapped(line: Line) -> Iterator[Changes]:
    """With a call, a factor or the like around an expression."""
    source, parts, hints = line.source, line.parts, line.hints
    for wrap in hints.wraps:
        for node in parts:
            if isinstance(
                node, ast.Constant | ast.Lambda | ast.Starred | ast.Slice
            ) or not _has_value(node):
                continue
            text = source.says(node) if wrap.endswith("({})") else _closed(source, node)
            yield (source.put(node, wrap.replace("{}", text)),)


def _has_value(node: ast.expr) -> bool:
    return not hasattr(node, "ctx") or is_read(node)


def taken_away(line: Line) -> Iterator[Changes]:
    """Without an argument that is given by its name."""
    source, parts = line.source, line.parts
    for node in parts:
        if isinstance(node, ast.Call):
            given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
            for before, keyword in zip([None, *given], given, strict=False):
                if isinstance(keyword, ast.keyword):
                    start = source.span(before)[1] if before else source.span(keyword)[0]
                    yield (Change(start, source.span(keyword)[1], ""),)


def given_too(line: Line) -> Iterator[Changes]:
    """With an argument that the other net gives by its name."""
    source, parts, hints = line.source, line.parts, line.hints
    for name, value in hints.keywords:
        for node in parts:
            if isinstance(node, ast.Call):
                yield from with_arguments(source, node, {name: value})


def added(line: Line) -> Iterator[Changes]:
    """With one more operand: ``x + f(x)`` for ``f(x)``, at the whole value first."""
    source, statement, parts, hints, names = (
        line.source,
        line.statement,
        line.parts,
        line.hints,
        line.names,
    )
    value = getattr(statement, "value", None)
    wholes = [value, *(it for node in parts if isinstance(node, ast.Call) for it in node.args)]
    for node in wholes:
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant | ast.Starred):
            for sign in dict.fromkeys((*hints.signs, "+", "*")):
                for name in names:
                    if name[:1] not in "\"'" and source.says(node) != name:
                        yield (source.put(node, f"{name} {sign} {_closed(source, node)}"),)


def other_names(line: Line) -> Iterator[Changes]:
    """What is called otherwise in the place of a name, an attribute, a key."""
    source, parts, names = line.source, line.parts, line.names
    read = [it for it in parts if isinstance(it, ast.Name | ast.Attribute) and is_read(it)]
    keys = [it for it in parts if isinstance(it, ast.Constant) and isinstance(it.value, str)]
    for name in names:
        for node in read:
            is_own = isinstance(node, ast.Attribute) == ("." in name)
            if is_own and source.says(node) != name:
                yield (source.put(node, name),)
        for key in keys:
            if name[:1] in "\"'" and source.says(key) != name:
                yield (source.put(key, name),)


def called_otherwise(line: Line) -> Iterator[Changes]:
    """Another function in the place of each that is called."""
    source, parts, hints = line.source, line.parts, line.hints
    for name in hints.functions:
        for node in parts:
            if isinstance(node, ast.Call) and last_name(node.func) != name.rpartition(".")[2]:
                yield from renamed(source, node, name, {})


def in_another_order(line: Line) -> Iterator[Changes]:
    """The statement behind the next one, or ahead of the one before."""
    source, statement = line.source, line.statement
    for node in ast.walk(source.tree):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(body, list) and statement in body:
                place = body.index(statement)
                for other in body[max(place - 1, 0) : place] + body[place + 1 : place + 2]:
                    yield (
                        source.put(statement, source.says(other)),
                        source.put(other, source.says(statement)),
                    )
                if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr) and len(body) > 1:
                    yield (source.put(statement, "pass"),)


def nested_otherwise(line: Line) -> Iterator[Changes]:
    """Two calls inside of each other in the opposite order: ``g(f(x))`` for ``f(g(x))``."""
    source, parts = line.source, line.parts
    for node in parts:
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Call):
            inner = node.args[0]
            yield (
                source.put(node.func, source.says(inner.func)),
                source.put(inner.func, source.says(node.func)),
            )
        # A sum or product of a call, for the call of that.
        if isinstance(node, ast.BinOp):
            for call, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(call, ast.Call) and call.args:
                    inside = source.put(call.args[0], "")
                    sign = OPERATORS.get(type(node.op), "")
                    argument, rest = source.says(call.args[0]), source.says(other)
                    start, end = source.span(call)
                    text = source.text[start : inside.start] + f"{argument} {sign} {rest}"
                    if sign:
                        yield (source.put(node, text + source.text[inside.end : end]),)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.BinOp):
            inner_sum = node.args[0]
            sign = OPERATORS.get(type(inner_sum.op), "")
            start, end = source.span(node)
            (a, b), kept = source.span(inner_sum), inner_sum
            for one, rest_of in ((kept.left, kept.right), (kept.right, kept.left)):
                call_text = source.text[start:a] + source.says(one) + source.text[b:end]
                if sign:
                    yield (source.put(node, f"({call_text} {sign} {source.says(rest_of)})"),)
